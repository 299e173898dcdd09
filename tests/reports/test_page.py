"""Reports are self-contained, the same every time, and show hostile text as text."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from otherminds.files.text import printable
from otherminds.reports import plots
from otherminds.reports.page import (
    Html,
    Section,
    asset,
    block,
    embedded,
    inline,
    interval,
    number,
    page,
    safe,
    side_by_side,
    stack,
    table,
)

HOSTILE = "</title></script><img src=x onerror=alert(1)>\"'& $x^{ \x00\x1b\u202e\u2028\ud800"
DRAWINGS = [plots.posterior_over_time, plots.calibration]


class Outline(HTMLParser):
    """The tags and attribute names of a page, in order, and where it would fetch something from."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.sources: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        fetching = {"src", "srcset", "data", "action", "poster", "href", "xlink:href"}
        self.sources += [value or "" for name, value in attrs if name in fetching]


def example(words: str) -> str:
    figure = Figure(figsize=(2, 1))
    figure.subplots().set_title(printable(words))
    body = stack(words, table([words, "n"], [[words, 3]], words), side_by_side(words), inline(figure, words))
    return page(words, words, [Section(words, words), Section(words, body)])


@pytest.mark.slow
def test_hostile_words_change_no_tag_anywhere() -> None:
    tame, wild = Outline(example("tame")), Outline(example(HOSTILE))
    assert len(tame.tags) > 30
    assert wild.tags == tame.tags


def test_pages_can_be_written_as_utf8_without_control_characters() -> None:
    written = example(HOSTILE).encode("utf-8").decode()
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", written)


def test_nothing_is_fetched_from_outside() -> None:
    assert all(source.startswith("#") for source in Outline(example("x")).sources)
    assert "@import" not in asset("page.css")
    assert "url(" not in asset("page.css")


@pytest.mark.slow
def test_the_policy_allows_no_script_in_a_page_without_viewer() -> None:
    assert "script-src 'none'" in example("x")
    assert "<script" not in example("x")


def test_the_policy_allows_exactly_the_viewer_by_its_hash() -> None:
    markup = page("x", "", [Section("x", Html("<div data-replay></div>"))])
    (script,) = re.findall(r"<script>(.*?)</script>", markup, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in markup
    assert "innerHTML" not in script
    assert "eval(" not in script


def test_contents_name_every_section() -> None:
    markup = page("x", "", [Section("One", "a"), Section("Two", "b")])
    assert re.findall(r'<a href="#(.*?)">(.*?)</a>', markup) == [("section-1", "One"), ("section-2", "Two")]
    assert 'id="section-2"' in markup
    assert "<nav" not in page("x", "", [Section("One", "a")])


def test_only_html_is_markup() -> None:
    assert safe("<b>") == "&lt;b&gt;"
    assert safe(Html("<b>")) == "<b>"
    assert block("<b>") == "<p>&lt;b&gt;</p>"
    assert safe(Html("<b>") + "<i>") == "&lt;b&gt;&lt;i&gt;"


@pytest.mark.parametrize("value", ["</script><!--", "a & b", "\u2028\u2029", {"<k>": [1.5, None, "\ud800"]}])
def test_embedded_json_cannot_end_its_script_and_reads_back(value: object) -> None:
    text = embedded(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


def test_embedded_numbers_that_json_lacks_are_null() -> None:
    assert json.loads(embedded({"a": [math.nan, math.inf, 1.0]})) == {"a": [None, None, 1.0]}


def test_numbers_are_aligned_and_formatted() -> None:
    markup = table(["name", "value"], [["a", -1234.567], ["b", None], ["c", 12], ["d", "0.70 [0.57, 0.83]"]])
    cells = re.findall(r"<td( class=number)?>(.*?)</td>", markup)
    assert [text for right, text in cells if right] == ["−1,234.57", "–", "12", "0.70 [0.57, 0.83]"]
    assert [text for right, text in cells if not right] == ["a", "b", "c", "d"]


def test_a_table_that_is_too_wide_for_a_phone_stacks_its_rows() -> None:
    columns = ("Person", "Choices", "Value", "SE")
    assert "stacks" not in table(columns[:3], [["a", 100, "0.7"]])
    assert "stacks" not in table(columns[:2], [["words that can be broken wherever a line ends", 1]])
    assert "stacks" in table(columns, [["a", 100, "0.70 [0.57, 0.83]", "0.10"]])
    assert "stacks" in table(columns[:2], [["a_name_that_nobody_can_break_in_two_parts_anywhere", 1]])
    assert "stacks" not in table(columns, [])


def test_numbers_for_people() -> None:
    assert number(math.nan) == "–"
    assert number(-0.5, 1) == "−0.5"
    assert interval(0.7, 0.57, 0.83) == "0.70 [0.57, 0.83]"
    assert interval(0.7, None, 0.83) == "0.70"


def test_rows_must_fit_their_columns() -> None:
    with pytest.raises(ValueError, match="3 cells"):
        table(["a", "b"], [[1, 2, 3]])


def line(colour: str = "black") -> Figure:
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], [0, 1], "o-", color=colour)
    return figure


def ids(markup: str) -> set[str]:
    return set(re.findall(r'\bid="(.*?)"', markup))


@pytest.mark.slow
def test_figures_are_the_same_bytes_every_time_and_carry_no_date() -> None:
    assert inline(line()) == inline(line())
    assert "<metadata" not in inline(line())


def test_figures_in_one_page_share_no_ids_and_refer_to_their_own() -> None:
    one, two = inline(line()), inline(line("red"))
    assert ids(one)
    assert not ids(one) & ids(two)
    references = re.findall(r'(?:url\(|href=")#([^")]+)', one)
    assert references
    assert set(references) <= ids(one)


def test_figures_use_the_ink_and_the_font_of_the_page() -> None:
    markup = inline(line())
    assert "currentColor" in markup
    assert "#000000" not in markup
    assert "DejaVu" not in markup
    assert "<style" not in markup
    ElementTree.fromstring(markup)


def summary_row(condition: str, subject: str, **more: Any) -> dict[str, Any]:
    row = {"condition": condition, "subject": subject, "metric": "success"}
    return {**row, "value": 0.5, "low": 0.25, "high": 0.75, "n": 4, **more}


def texts(figure: Figure) -> str:
    return " ".join(ElementTree.fromstring(inline(figure)).itertext())


@pytest.mark.slow
def test_bars_name_classes_facilitators_and_what_is_published() -> None:
    rows = [summary_row("useful", "protom"), summary_row("all", "lm:<x>$_{$"), summary_row("heldout/all", "none")]
    assert "as published" not in texts(plots.class_bars(rows, "success"))
    rows.append(summary_row("all", "protom", published=0.9, published_low=0.8, published_high=1.0))
    shown = texts(plots.class_bars(rows, "success"))
    for words in ("Help useful", "All", "ProToM", "<x>$_{$", "as published"):
        assert words in shown
    assert "No facilitator" not in shown
    assert "a-very-long-model…" in texts(plots.class_bars([summary_row("all", "lm:a-very-long-model-name")], "success"))
    assert "No facilitator" in texts(plots.class_bars(rows, "success", {"heldout/all": "Held out"}))


def belief_row(t: int, p: float, **more: Any) -> Mapping[str, Any]:
    row = {"condition": "useful", "subject": "protom", "seed": 1, "episode": "e", "agent": "Ana", "t": t}
    return {**row, "goal": "red", "p_true": p, "posterior": {"red": p, "blue": 1 - p}, **more}


def test_posterior_is_drawn_over_shares_of_the_episode() -> None:
    rows = [belief_row(0, 0.5), belief_row(1, 0.75), belief_row(2, 1.0), belief_row(0, 0.0, condition="heldout/useful")]
    axes = plots.posterior_over_time(rows, points=3).axes[0]
    assert list(axes.lines[0].get_ydata()) == [0.5, 0.75, 1.0]  # type: ignore[arg-type]


@pytest.mark.slow
def test_calibration_compares_stated_with_true_shares() -> None:
    rows = [belief_row(t, 0.75, goal="red" if t % 4 else "blue", episode=f"e{t}") for t in range(8)]
    figure = plots.calibration(rows)
    offsets = np.array([c.get_offsets() for c in figure.axes[0].collections])
    marks = {(round(float(x), 3), round(float(y), 3)) for ((x, y),) in offsets}
    assert marks == {(0.75, 0.75), (0.25, 0.25)}
    assert f"{0.75 * 0.25**2 + 0.25 * 0.75**2:.3f}" in texts(figure)


def test_calibration_intervals_are_clustered_by_episode() -> None:
    sizes, true = (8, 10, 12), (5, 6, 7)
    rows = [
        belief_row(t, 0.75, goal="red" if t < true[e] else "blue", episode=f"e{e}")
        for e in range(3)
        for t in range(sizes[e])
    ]
    bar = plots.calibration(rows).axes[0].lines[-1]
    share, student = sum(true) / sum(sizes), 4.302653
    left_over = [successes - share * size for successes, size in zip(true, sizes, strict=True)]
    half = student * np.std(left_over, ddof=1) / np.sqrt(3) / np.mean(sizes)
    assert 0 < share - half < share + half < 1
    assert np.allclose(np.asarray(bar.get_ydata(), float), [share - half, share + half])


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWINGS)
def test_figures_of_nothing_can_be_drawn(draw: Any) -> None:
    assert inline(draw([])).startswith("<figure>")
    assert inline(plots.class_bars([], "success")).startswith("<figure>")

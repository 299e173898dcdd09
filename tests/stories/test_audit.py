"""Wrong labels among right ones: all found, none invented, and nothing said of what was not read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from epistemic_checker import check
from false_belief_stories import Example, Style, generate_beliefs
from otherminds.stories.audit import Judged, audit, family
from otherminds.stories.beliefs.belief_files import Item, read_items
from otherminds.stories.beliefs.nested_beliefs import answer_where
from otherminds.stories.beliefs.perspectives import EVERYDAY, HI_TOM, SALLY_ANNE, TOMI, Conventions
from otherminds.stories.model import Answer, Event

CLEAN, PLANTED = 60, 20
MOVED = "Anna is in the kitchen. Ben is in the kitchen. The keys are in the drawer. Anna leaves the kitchen. "
BACK = MOVED + "Ben moves the keys to the box. Anna enters the kitchen."


@cache
def examples(style: Style) -> tuple[Example, ...]:
    """Stories with labels from possible worlds, not from the minds that the audit uses."""
    found = []
    for number in range(CLEAN + PLANTED):
        rng = np.random.default_rng([11, number])
        example = generate_beliefs(rng, number % 4, people=2 + number % 3, moves=1 + number % 4, style=style)
        thing = next(entity.id for entity in example.episode.entities if entity.kind == "object")
        assert check(example.episode, example.chain, thing) == example.answer
        found.append(example)
    return tuple(found)


def labels(style: Style) -> tuple[str, ...]:
    """The right labels; then those of which each is another container of its story."""
    given = []
    for number, example in enumerate(examples(style)):
        others = [label for label in example.question.labels if label != example.answer]
        given.append(example.answer if number < CLEAN else others[number % len(others)])
    return tuple(given)


def items(style: Style) -> list[Item]:
    return [
        Item(str(n), example.story, example.asks, example.question.labels, label, n, "")
        for n, (example, label) in enumerate(zip(examples(style), labels(style), strict=True))
    ]


def from_data(item: Item, conventions: Conventions) -> Judged:
    """The answer from the drawn story itself, without reading its text."""
    example = examples("plain")[int(item.id)]
    return Judged(answer_where(example.episode, example.question, conventions), example.question.labels)


def expect_the_planted(found: list[str]) -> None:
    assert found == ["agrees"] * CLEAN + ["contradicts"] * PLANTED


@pytest.mark.slow
def test_finds_all_wrong_labels_and_no_others_in_data() -> None:
    found = audit(items("plain"), answer=from_data)
    expect_the_planted([verdict.outcome for verdict in found.verdicts])
    assert found.counts == {"agrees": CLEAN, "contradicts": PLANTED, "abstains": 0, "unread": 0}


@pytest.mark.slow
def test_finds_all_wrong_labels_and_no_others_in_plain_english() -> None:
    found = audit(items("plain"))
    expect_the_planted([verdict.outcome for verdict in found.verdicts])
    assert [verdict.ours for verdict in found.contradicted] == [x.answer for x in examples("plain")[CLEAN:]]
    assert [verdict.item.line for verdict in found.contradicted] == list(range(CLEAN, CLEAN + PLANTED))


@pytest.mark.slow
def test_finds_all_wrong_labels_and_no_others_in_a_file_of_numbered_lines(tmp_path: Path) -> None:
    path = tmp_path / "stories.txt"
    rows = zip(examples("tomi"), labels("tomi"), strict=True)
    path.write_text("".join(f"{x.story}\n{x.story.count(chr(10)) + 2} {x.asks}\t{gold}\t1\n" for x, gold in rows))
    found = audit(read_items(path))
    expect_the_planted([verdict.outcome for verdict in found.verdicts])
    assert found.followed == {"ToMi": (TOMI,)}


def item(story: str, gold: str, question: str = "Where will Anna look for the keys?", group: str = "") -> Item:
    return Item("", story, question, (), gold, 1, group)


def test_says_what_decides_a_contradiction() -> None:
    (verdict,) = audit([item(MOVED + "Ben moves the keys to the box.", "box")]).verdicts
    assert verdict.outcome == "contradicts"
    assert verdict.ours.endswith("drawer")
    assert [(e.agent, e.verb) for e in verdict.because if isinstance(e, Event)] == [("Anna", "leave"), ("Ben", "move")]


def test_without_options_the_label_may_name_a_place_in_other_words() -> None:
    for gold in ("drawer", "the drawer", "in the drawer", "The kitchen drawer."):
        assert audit([item(MOVED + "Ben moves the keys to the box.", gold)]).verdicts[0].outcome == "agrees"


@pytest.mark.parametrize("sentence", ["Anna jizzled the keys.", "Then Ben frobbed.", "He blimmed it."])
def test_nothing_is_said_of_a_story_that_was_not_read(sentence: str) -> None:
    (verdict,) = audit([item(f"{MOVED}{sentence} Ben moves the keys to the box.", "box")]).verdicts
    assert verdict.outcome == "unread"
    assert sentence.rstrip(".") in verdict.why


def test_what_has_nothing_to_do_with_the_story_need_not_be_read() -> None:
    (verdict,) = audit([item(f"Gleeping grobbles frumbled. {MOVED}Ben moves the keys to the box.", "box")]).verdicts
    assert verdict.outcome == "contradicts"


def test_other_questions_are_not_read_and_open_ones_not_answered() -> None:
    asked = item(MOVED, "drawer", question="Why does Anna frob the keys?")
    unknown = item(MOVED + "Clara enters the garden.", "drawer", question="Where will Clara look for the keys?")
    endless = item(MOVED * 2000, "drawer")
    assert [verdict.outcome for verdict in audit([asked, unknown, endless]).verdicts] == [
        "unread",
        "abstains",
        "unread",
    ]


def test_the_conventions_are_those_that_most_labels_follow() -> None:
    """People who come back see what was moved, or do not: one label out of line with the others is wrong."""
    for usual, odd, followed in (("box", "drawer", EVERYDAY), ("drawer", "box", SALLY_ANNE)):
        rows = [item(BACK, usual)] * 3 + [item(BACK, odd)]
        found = audit(rows)
        assert [verdict.outcome for verdict in found.verdicts] == ["agrees"] * 3 + ["contradicts"]
        assert found.followed == {"others": (followed,)}
    undecided = audit([item(BACK, "box"), item(BACK, "drawer")])
    assert [verdict.outcome for verdict in undecided.verdicts] == ["agrees"] * 2
    assert undecided.followed == {"others": (EVERYDAY, SALLY_ANNE)}
    told = audit([item(BACK, "box")] * 3, [SALLY_ANNE])
    assert {verdict.outcome for verdict in told.verdicts} == {"contradicts"}


def test_benchmarks_have_their_own_conventions() -> None:
    seen: list[tuple[str, Conventions]] = []

    def listen(row: Item, conventions: Conventions) -> Judged:
        seen.append((row.id, conventions))
        return Judged(Answer(0, (1.0,)), ("box",))

    rows = [
        replace(item("", "box", group=group), id=group) for group in ("Hi-ToM order 2", "", "ToMi memory", "BigToM x")
    ]
    found = audit(rows, answer=listen)
    assert [verdict.item for verdict in found.verdicts] == rows
    assert {(one, HI_TOM) for one in ["Hi-ToM order 2"]} | {("ToMi memory", TOMI)} <= set(seen)
    assert (("Hi-ToM order 2", TOMI) in seen, ("", EVERYDAY) in seen, ("", SALLY_ANNE) in seen) == (False, True, True)
    assert [family(row) for row in rows] == ["Hi-ToM", "others", "ToMi", "BigToM"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda: Judged(Answer(0, (0.89, 0.11)), ("a", "box")), "abstains"),
        (lambda: Judged(Answer(0, (0.91, 0.09)), ("a", "box")), "contradicts"),
        (lambda: Judged(Answer(1, (0.0, 1.0)), ("a", "the box")), "agrees"),
        (lambda: Judged(Answer(None, (0.5, 0.5), abstained="why"), ("a", "box")), "abstains"),
        (lambda: Judged(Answer(0, (1.0, 0.0)), ("a", "box"), unread=("Ben frobs.",)), "unread"),
    ],
)
def test_only_a_sure_answer_contradicts(answer: Callable[[], Judged], outcome: str) -> None:
    assert audit([item("", "box")], answer=lambda *_: answer()).verdicts[0].outcome == outcome

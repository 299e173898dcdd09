"""Building blocks of a report: one self-contained HTML page of paragraphs, tables and figures.

A plain string is text and is escaped everywhere; only `Html`, which these functions return, is markup.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from otherminds.files.html import Html as Html
from otherminds.files.html import safe as safe
from otherminds.files.text import printable
from otherminds.files.toml import packaged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "otherminds",
    "text.parse_math": False,
    "axes.unicode_minus": True,
}
FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
PHONE, FIRST = 351.0, 144.0  # pixels: of a text on a phone, and of the first column of a table there
MOST_STACKED = 12  # rows of a table that is stacked without being told to, which makes it several times as long; chosen
GAP, LETTER = 24.0, 8.6  # pixels between the columns of a table, and of a letter in it
NARROW = 3.6  # inches; the width of a text on a phone of 390 px
MINUS = "\N{MINUS SIGN}"
WORDS = packaged("otherminds.reports", "words.toml")
NOTHING = "\N{EN DASH}"
NUMERIC = re.compile(rf"{NOTHING}?$|[-+{MINUS}]?\d")  # a cell that is aligned to the right: empty, a dash, or a number


class Section(NamedTuple):
    """A part of a page, listed in its contents. A body that is not Html is shown as a paragraph of text."""

    title: str
    body: str


class Page(str):
    """A whole HTML page with the sections it was made of, so that a combined report can include it."""

    heading: str
    lead: str
    sections: tuple[Section, ...]


# Pages


def page(title: str, lead: str, sections: Sequence[Section]) -> Page:
    """A whole HTML page that loads nothing and runs no script but the library's own."""
    body = Html("\n".join(_section(f"section-{i}", section) for i, section in enumerate(sections, 1)))
    document = Page(_document(title, lead, _contents("section", sections), body))
    document.heading, document.lead, document.sections = title, lead, tuple(sections)
    return document


def combined_page(title: str, lead: str, front: Sequence[Section], chapters: Sequence[Page]) -> str:
    """One HTML page: sections of its own, then whole other pages as its chapters, folded until they are opened."""
    parts = [_section(f"section-{i}", section) for i, section in enumerate(front, 1)]
    for n, chapter in enumerate(chapters, 1):
        name = f"chapter-{n}"
        inside = "\n".join(_section(f"{name}-{i}", section, "h3") for i, section in enumerate(chapter.sections, 1))
        head = f"{block(chapter.lead)}\n{_contents(name, chapter.sections)}"
        parts.append(f'<article id="{name}">\n{folded(chapter.heading, Html(head + inside), "h2")}\n</article>')
    contents = _contents("section", front) + _links("chapter", [chapter.heading for chapter in chapters])
    return _document(title, lead, contents, Html("\n".join(parts)))


def folded(title: str, inside: str, heading: str = "h3") -> Html:
    """Something that is shown when its title is opened, or when a link leads into it."""
    return Html(f"<details>\n<summary><{heading}>{safe(title)}</{heading}></summary>\n{block(inside)}\n</details>")


def folded_all(bodies: Mapping[str, str]) -> Html:
    """Each of these by its title, shown when that is opened; nothing for those that are empty."""
    return stack(*(folded(title, body) for title, body in bodies.items() if body))


def chapter_link(number: int, title: str) -> Html:
    """A link to a chapter of the same combined page."""
    return Html(f'<a href="#chapter-{number}">{safe(title)}</a>')


def framed_replay(title: str, replay: Html, height: int) -> Html:
    """A replay in a frame of its own, as a document that loads nothing: for a notebook."""
    document = html.escape(_document(title, "", "", replay))
    return Html(f'<iframe srcdoc="{document}" width="100%" height="{height}" style="border:0"></iframe>')


def _document(title: str, lead: str, contents: str, body: Html) -> str:
    """The text of a whole page from the template. Its policy forbids all requests, and all scripts but the viewer's."""
    has_replay = "data-replay" in body  # an episode viewer
    script = asset("replay.js") if has_replay else ""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    # no requests at all, and no script but this one
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    styles = ["palette.css", "page.css", *(["replay.css"] if has_replay else [])]
    return Template(asset("page.html")).substitute(
        title=safe(title),
        lead=block(lead) if lead else "",
        contents=contents,
        body=body,
        style="\n".join(map(asset, styles)),
        script=f"<script>{script}</script>" if script else "",
        policy=policy,
    )


def _section(name: str, section: Section, heading: str = "h2") -> str:
    titled = f"<{heading}>{safe(section.title)}</{heading}>"
    return f'<section id="{name}">\n{titled}\n{block(section.body)}\n</section>'


def _contents(name: str, sections: Sequence[Section]) -> str:
    """Links to the sections of a page or a chapter, if there are several."""
    return _links(name, [section.title for section in sections]) if len(sections) > 1 else ""


def _links(name: str, titles: Sequence[str]) -> str:
    links = (f'<li><a href="#{name}-{i}">{safe(title)}</a></li>' for i, title in enumerate(titles, 1))
    return f'<nav aria-label="Contents"><ol>{"".join(links)}</ol></nav>'


def asset(name: str) -> str:
    """The text of a file of this package."""
    return resources.files("otherminds.reports").joinpath(name).read_text("utf-8")


# Text


def block(content: str) -> Html:
    """Html unchanged, text as a paragraph."""
    return content if isinstance(content, Html) else Html(f"<p>{safe(content)}</p>")


def with_code(text: str) -> Html:
    """A paragraph of text in which backticks mark code."""
    return block(Html(re.sub(r"`([^`]+)`", r"<code>\1</code>", safe(text))))


def stack(*contents: str) -> Html:
    """Blocks one below the other."""
    return Html("\n".join(block(content) for content in contents))


def prose(*paragraphs: str) -> Html:
    """Paragraphs that make room for what is beside them."""
    return Html(f'<div class="prose">{stack(*paragraphs)}</div>')


def side_by_side(*contents: str) -> Html:
    """Blocks next to each other where there is room, else one below the other."""
    return Html(f'<div class="abreast">{"".join(block(content) for content in contents)}</div>')


def embedded(value: object) -> Html:
    """A value as JSON for a script element, escaped so that it cannot end the element."""
    text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(text)


def _finite(value: Any) -> Any:
    """The value with None for numbers that are not finite, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


# Tables


def number(value: float | None, digits: int = 2) -> str:
    """A number with `digits` decimals and a true minus sign; a dash if it is None or not finite."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", MINUS)  # + 0.0 turns −0 into 0


def interval(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """A number with the bounds of its interval, `0.70 [0.57, 0.83]`; alone if both are the same in print."""
    text = number(value, digits)
    if low is None or high is None or text == number(low, digits) == number(high, digits):
        return text
    return f"{text} [{number(low, digits)}, {number(high, digits)}]"


def agent_name(agent: str) -> str:
    """An agent by what it does, not by its id."""
    name: str = WORDS["agents"].get(agent, agent.replace("_", " "))
    return name


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "", *, stacks: bool = False) -> Html:
    """A table; columns of numbers are aligned to the right.

    If it `stacks`, or is short and too wide for a phone, a row is a block of lines there; a long one scrolls sideways.

    Raises ValueError if a row does not have one cell for each column.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    for row in cells:
        if len(row) != len(columns):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(columns)} columns")
    numeric = [bool(cells) and all(NUMERIC.match(row[i]) for row in cells) for i in range(len(columns))]
    heads = [safe(column) for column in columns]
    stacks = stacks or (len(cells) <= MOST_STACKED and _least_width(heads, cells, numeric) > PHONE)
    head = _row("th", heads, numeric)
    body = "".join(_row("td", row, numeric, heads if stacks else ()) for row in cells)
    css = " class=stacks" if stacks else ""
    title = f"<caption>{safe(caption)}</caption>" if caption else ""
    return Html(f'<div class="table"><table{css}>{title}<thead>{head}</thead><tbody>{body}</tbody></table></div>')


def _least_width(heads: Sequence[Html], cells: Sequence[Sequence[Html]], numeric: Sequence[bool]) -> float:
    """About how narrow a table can be, in pixels: only text can be broken, between words."""
    widths = []
    for head, column, is_numeric in zip(heads, zip(*cells, strict=True), numeric, strict=True) if cells else ():
        parts = [*head.split(), *(part for cell in column for part in ([cell] if is_numeric else cell.split()))]
        longest = max((len(html.unescape(re.sub("<[^>]*>", "", part))) for part in parts), default=0)
        widths.append(GAP + LETTER * longest)
    if widths and not numeric[0]:
        widths[0] = max(widths[0], FIRST)
    return sum(widths) - GAP


def _row(tag: str, cells: Sequence[Html], numeric: Sequence[bool], names: Sequence[Html] = ()) -> str:
    """A row of cells with the tag `td` or `th`; `heads` name the cells where rows are stacked."""
    scope = ' scope="col"' if tag == "th" else ""
    attributes = [f' data-head="{head}"' for head in names] or [""] * len(cells)
    styled = zip(cells, numeric, attributes, strict=True)
    parts = (f"<{tag}{scope}{head}{' class=number' if right else ''}>{cell}</{tag}>" for cell, right, head in styled)
    return f"<tr>{''.join(parts)}</tr>"


def _cell(value: object) -> Html:
    """A value as a cell: a dash for None, yes or no for a truth value, numbers with separators, else escaped text."""
    if value is None:
        return Html(NOTHING)
    if isinstance(value, bool):
        return Html("yes" if value else "no")
    if isinstance(value, float):
        return Html(number(value))
    return Html(f"{value:,}".replace("-", MINUS)) if isinstance(value, int) else safe(value)


# Figures


def inline(figure: Figure, caption: str = "") -> Html:
    """The figure as SVG: the same bytes for the same figure, legible on light and dark pages."""
    return framed(_svg(figure, caption), caption)


def at_two_widths(draw: Callable[[float], Figure], wide: float, caption: str = "") -> Html:
    """A figure that is drawn `wide` inches wide, and again for a phone; the page shows the one that fits."""
    drawn = _svg(draw(wide), caption, "wide") + _svg(draw(NARROW), caption, "narrow")
    return framed(drawn, caption)


def _svg(figure: Figure, caption: str, css_class: str = "") -> str:
    """A figure as an SVG element for a page, with its caption as label; `kind` is its class, `wide` or `narrow`."""
    import matplotlib  # slow to import, and not needed for a server or a page without figures

    file = io.StringIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # the browser's fonts count, not those that matplotlib would have drawn with
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = _cleaned(file.getvalue())
    root.set("role", "img")
    root.set("aria-label", printable(caption) or "figure")
    if css_class:
        root.set("class", css_class)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def framed(svg: str, caption: str) -> Html:
    """A picture with its caption, if it has one."""
    return Html(f"<figure>{svg}{f'<figcaption>{safe(caption)}</figcaption>' if caption else ''}</figure>")


def _cleaned(drawing: str) -> ElementTree.Element:
    """Matplotlib's SVG in the reader's font and ink, with ids that are unique in the page."""
    drawing = "".join(c if c.isprintable() or c in "\n\t" else " " for c in drawing)
    root = ElementTree.fromstring(drawing)  # noqa: S314 (matplotlib wrote it a moment ago)
    prefix = "f" + hashlib.sha256(drawing.encode()).hexdigest()[:8] + "-"
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
        for name, value in parent.attrib.items():
            if name == "id":
                new = prefix + value
            elif name == f"{{{XLINK}}}href":
                new = "#" + prefix + value.removeprefix("#")
            elif name == "style":
                new = re.sub(r"'DejaVu Sans'[^;]*", FONTS, value).replace("#000000", "currentColor")
            else:
                new = value.replace("url(#", f"url(#{prefix}")
            parent.set(name, new)
    width, height = (float(root.attrib.pop(dimension).removesuffix("pt")) for dimension in ("width", "height"))
    root.set("style", f"width:{width * 4 / 3:.0f}px;aspect-ratio:{width:g}/{height:g}")
    root.set("fill", "currentColor")
    root.set("stroke-linejoin", "round")
    return root

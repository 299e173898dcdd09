"""Text in drawings: measured, so that it fits where it is to stand, and drawn as SVG or with Pillow."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import matplotlib
from PIL import ImageFont

from otherminds.files.text import printable
from otherminds.worlds.canvas import Brush, svg_shape, svg_text
from otherminds.worlds.sprites import Shape

ELLIPSIS = "…"
LONGEST = 400  # characters of a text that are measured or shown; chosen, as hostile texts are endless
MEASURED = 20.0  # size of letters at which texts are measured


class TextLine(NamedTuple):
    """A line of text with its baseline at y: it starts, is centred or ends at x."""

    x: float
    y: float
    size: float
    text: str
    fill: str
    anchor: Literal["start", "middle", "end"] = "middle"
    bold: bool = False


Drawn = Shape | TextLine


def width_of(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text; most fonts that a browser would take are narrower."""
    return _measured(printable(text)[:LONGEST], bold) * size / MEASURED


@lru_cache(maxsize=1 << 12)
def _measured(text: str, bold: bool) -> float:
    return float(font(MEASURED, bold).getlength(text))


@cache
def font(size: float, bold: bool = False) -> ImageFont.FreeTypeFont:
    """The font that matplotlib brings along."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts/ttf" / name, size)


def cut(text: str, width: float, size: float, bold: bool = False) -> str:
    """As much of the text as fits, with an ellipsis if that is not all."""
    text = " ".join(printable(text[: LONGEST + 1]).split())
    if len(text) <= LONGEST and width_of(text, size, bold) <= width:
        return text
    low, high = 0, min(len(text), LONGEST)
    while low < high:
        middle = (low + high + 1) // 2
        fits = width_of(text[:middle].rstrip() + ELLIPSIS, size, bold) <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[:low].rstrip() + ELLIPSIS


def lines(text: str, width: float, size: float, most: int, bold: bool = False) -> tuple[str, ...]:
    """The text broken at blanks into at most so many lines; what does not fit is cut off with an ellipsis."""
    left = printable(text[: LONGEST + 1]).split()
    found: list[str] = []
    while left and len(found) < most - 1:
        taken = 1
        while taken < len(left) and width_of(" ".join(left[: taken + 1]), size, bold) <= width:
            taken += 1
        found.append(cut(" ".join(left[:taken]), width, size, bold))
        left = left[taken:]
    if left:
        found.append(cut(" ".join(left), width, size, bold))
    return tuple(found)


def snug(text: str, width: float, size: float, most: int, bold: bool = False) -> tuple[float, tuple[str, ...]]:
    """A size of letters and the lines in it; the size is reduced, to 0.7 at least, if the text fits then."""
    for smaller in (size, 0.9 * size, 0.8 * size, 0.7 * size):
        found = lines(text, width, smaller, most, bold)
        if not any(line.endswith(ELLIPSIS) for line in found):
            return smaller, found
    return size, lines(text, width, size, most, bold)


def svg_of(drawn: Iterable[Drawn]) -> str:
    """The shapes and the text as SVG elements; all text is escaped."""
    found = []
    for one in drawn:
        if isinstance(one, TextLine):
            weight = ' font-weight="700"' if one.bold else ""
            at = f'x="{one.x:.5g}" y="{one.y:.5g}" font-size="{one.size:.3g}" text-anchor="{one.anchor}"'
            found.append(f'<text {at}{weight} fill="{one.fill}">{svg_text(one.text)}</text>')
        else:
            found.append(svg_shape(one))
    return "".join(found)


def paint(brush: Brush, drawn: Iterable[Drawn]) -> None:
    """Paint shapes and text one over the other."""
    anchors = {"start": "ls", "middle": "ms", "end": "rs"}
    for one in drawn:
        if isinstance(one, TextLine):
            at = brush.origin[0] + one.x * brush.unit, brush.origin[1] + one.y * brush.unit
            face = font(round(one.size * brush.unit, 1), one.bold)
            brush.draw.text(at, printable(one.text), one.fill, face, anchor=anchors[one.anchor])
        else:
            brush.paint((one,))

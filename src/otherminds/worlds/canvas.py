"""Drawings of grid worlds as SVG, PNG and GIF, and the coloured characters of maps in a terminal."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

from PIL import Image, ImageDraw, ImageFont

from otherminds.errors import InputError
from otherminds.files.text import printable, write_whole
from otherminds.worlds import sprites
from otherminds.worlds.grid import Grid
from otherminds.worlds.sprites import CELL, Box, Disc, Letters, MovingPart, Place, Shape, Shapes, TextLine

MANY_PIXELS = 2_000_000  # pixels above which a PNG is painted twice, not four times as large, to save memory; chosen
FILM_STEP = 100  # milliseconds for which a film shows each state; chosen

Area = tuple[float, float, float, float]
"""x, y, width and height."""

Tile = tuple[str, str]
"""Some characters of a map in a terminal, and their style in the syntax of rich."""

ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
DIM = "grey35"
PERSON = "bold reverse"


class Drawing(NamedTuple):
    """A picture of a state: what never changes, the parts that may move, and the area that is shown.

    `label` is the text for screen readers. `crisp` turns off the smoothing of the background's edges. `overlay` is SVG
    between the background and the parts.
    """

    label: str
    background: Shapes
    parts: Sequence[MovingPart]
    area: Area
    crisp: bool = False
    overlay: str = ""

    def svg(self) -> str:
        """An SVG element in which every part is a `<g data-part="agent-0">` that a script can move, hide or replace."""
        box = " ".join(f"{value:g}" for value in self.area)
        parts = ""
        for part in self.parts:
            x, y = part.place or (0.0, 0.0)
            hidden = "" if part.place else ' display="none"'
            parts += f'<g data-part="{part.name}" transform="translate({x:g} {y:g})"{hidden}>{svg_look(part)}</g>'
        rendering = ' shape-rendering="crispEdges"' if self.crisp else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" aria-label="{svg_text(self.label)}" '
            f'viewBox="{box}" preserveAspectRatio="xMinYMid" '
            f'font-family="system-ui, sans-serif" font-weight="700" text-anchor="middle">'
            f"<g{rendering}>{''.join(map(svg_shape, self.background))}</g>"
            f"{self.overlay}{parts}</svg>"
        )

    def image(self, cell: int = CELL) -> Image.Image:
        """An image of `cell` pixels a cell. Raises InputError for a drawing that is SVG of the user's."""
        if any(part.svg for part in self.parts):
            raise InputError("a world that draws SVG has no pictures of pixels", hint="write .svg")
        left, top, width, height = (value * cell / CELL for value in self.area)
        size = round(width), round(height)
        finer = 4 if size[0] * size[1] < MANY_PIXELS else 2
        image = Image.new("RGB", (size[0] * finer, size[1] * finer), sprites.FLOOR)
        brush = Brush(ImageDraw.Draw(image), finer * cell / CELL, (-left * finer, -top * finer))
        brush.paint(self.background)
        for part in self.parts:
            if part.place:
                brush.at(part.place, part.scale).paint(part.shapes)
        return image.resize(size, Image.Resampling.LANCZOS)

    def png(self, file: Path | str | IO[bytes], *, cell: int = CELL) -> None:
        """Write a PNG image of `cell` pixels a cell to a path or a binary file.

        Raises InputError if it cannot be written.
        """
        save(file, lambda drawn: self.image(cell).save(drawn, format="PNG"))


def film(drawings: Iterable[Drawing], path: Path | str, *, cell: int = 24) -> None:
    """Write drawings one after the other as an animated GIF of `cell` pixels a cell.

    Raises InputError if there are none or the file cannot be written.
    """
    images = (drawing.image(cell) for drawing in drawings)
    first = next(images, None)
    if first is None:
        raise InputError("a film needs a state at least", path=str(path))
    rest = {"append_images": images, "duration": FILM_STEP, "loop": 0}
    save(path, lambda drawn: first.save(drawn, format="GIF", save_all=True, **rest))


def save(file: Path | str | IO[bytes], draw: Callable[[IO[bytes]], None]) -> None:
    """Write what is drawn to a file that is open, or to a path in a folder that exists, whole or not at all.

    Raises InputError if it cannot be written.
    """
    drawn = BytesIO()
    draw(drawn)
    if not isinstance(file, Path | str):
        file.write(drawn.getvalue())
    elif not Path(file).parent.is_dir():
        raise InputError("cannot be written: No such file or directory", path=str(file))
    else:
        write_whole(Path(file), [drawn.getvalue()])


# Grids


def centre(grid: Grid, cell: int) -> Place:
    """The middle of a cell."""
    x, y = grid.xy(cell)
    return x * CELL + CELL / 2, y * CELL + CELL / 2


def ground(grid: Grid) -> Shapes:
    """The floor and the walls of a grid, each run of walls in one piece, darker in front where there is floor below."""
    width, height = grid.width * CELL, grid.height * CELL
    shapes = [
        Box(0, 0, width, height, sprites.FLOOR),
        *(Box(x * CELL - 1, 0, 2, height, sprites.LINES) for x in range(1, grid.width)),
        *(Box(0, y * CELL - 1, width, 2, sprites.LINES) for y in range(1, grid.height)),
    ]
    for y in range(grid.height):
        solid = [not grid.is_floor(grid.cell(x, y)) for x in range(grid.width)]
        fronts = [wall and grid.is_floor(grid.cell(x, y + 1)) for x, wall in enumerate(solid)]
        shapes += [Box(i * CELL, y * CELL, (j - i) * CELL, CELL, sprites.WALL) for i, j in runs(solid)]
        shapes += [Box(i * CELL, y * CELL + CELL - 9, (j - i) * CELL, 9, sprites.FRONT) for i, j in runs(fronts)]
    return tuple(shapes)


def runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The runs of flags that are set, each as the index of its first flag and the index after its last."""
    start = 0
    for x, flag in enumerate((*flags, False)):
        if not flag:
            if start < x:
                yield start, x
            start = x + 1


# SVG


def svg_look(part: MovingPart) -> str:
    """The title and the shapes of a part, without its place, to stand inside a group."""
    inner = part.svg + "".join(map(svg_shape, part.shapes))
    if part.scale != 1.0:
        inner = f'<g transform="scale({part.scale:g})">{inner}</g>'
    return f"<title>{svg_text(part.title)}</title>{inner}"


def svg_shape(shape: Shape) -> str:
    """A shape as an SVG element."""
    if isinstance(shape, Letters):
        at = f'x="{shape.x:g}" y="{shape.y + 0.36 * shape.size:g}" font-size="{shape.size:g}"'
        return f'<text {at} fill="{shape.fill}">{svg_text(shape.text)}</text>'
    if isinstance(shape, TextLine):
        weight = ' font-weight="700"' if shape.bold else ""
        at = f'x="{shape.x:.5g}" y="{shape.y:.5g}" font-size="{shape.size:.3g}" text-anchor="{shape.anchor}"'
        return f'<text {at}{weight} fill="{shape.fill}">{svg_text(shape.text)}</text>'
    paint = f'fill="{shape.fill}"'
    paint += f' class="{sprites.THEMED[shape.fill]}"' if shape.fill in sprites.THEMED else ""
    paint += f' stroke="{shape.outline}" stroke-width="{sprites.EDGE:g}"' if shape.outline != "none" else ""
    if isinstance(shape, Box):
        rounded = f' rx="{shape.radius:g}"' if shape.radius else ""
        size = f'width="{shape.width:g}" height="{shape.height:g}"{rounded}'
        return f'<rect x="{shape.x:g}" y="{shape.y:g}" {size} {paint}/>'
    if isinstance(shape, Disc):
        return f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.radius:g}" {paint}/>'
    points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
    return f'<polygon points="{points}" stroke-linejoin="round" {paint}/>'


def svg_text(text: str) -> str:
    """Text escaped for SVG, without characters that are not printable."""
    return html.escape(printable(text))


# Pixels


class Brush(NamedTuple):
    """Paints shapes on an image in which one of their units is `unit` pixels and (0, 0) is at `origin`."""

    draw: ImageDraw.ImageDraw
    unit: float
    origin: Place = (0.0, 0.0)

    def at(self, place: Place, scale: float) -> Brush:
        """The same brush with another origin and scale."""
        return Brush(self.draw, self.unit * scale, self._at(*place))

    def paint(self, shapes: Iterable[Shape]) -> None:
        """Paint shapes one over the other."""
        for shape in shapes:
            if isinstance(shape, Letters | TextLine):
                y, bold, anchor = shape.y + 0.36 * shape.size, True, "ms"
                if isinstance(shape, TextLine):
                    y, bold, anchor = shape.y, shape.bold, ANCHORS[shape.anchor]
                face = font(round(shape.size * self.unit, 1), bold)
                self.draw.text(self._at(shape.x, y), printable(shape.text), shape.fill, face, anchor=anchor)
                continue
            fill = None if shape.fill == "none" else shape.fill
            outline, width = None, 0
            if shape.outline != "none":
                outline, width = shape.outline, max(1, round(sprites.EDGE * self.unit))
            if isinstance(shape, Box):
                x, y = self._at(shape.x, shape.y)
                right, bottom = self._at(shape.x + shape.width, shape.y + shape.height)
                # Pillow's rectangles include their last pixel
                area = (x - width / 2, y - width / 2, right + width / 2 - 1, bottom + width / 2 - 1)
                self.draw.rounded_rectangle(area, shape.radius * self.unit, fill, outline, width)
            elif isinstance(shape, Disc):
                radius = shape.radius * self.unit + width / 2
                self.draw.circle(self._at(shape.x, shape.y), radius, fill, outline, width)
            else:
                points = [self._at(x, y) for x, y in shape.points]
                if fill:
                    self.draw.polygon(points, fill)
                if outline:
                    self.draw.line([*points, *points[:2]], outline, width, joint="curve")

    def _at(self, x: float, y: float) -> Place:
        return self.origin[0] + x * self.unit, self.origin[1] + y * self.unit


@cache
def font(size: float, bold: bool = False) -> ImageFont.FreeTypeFont:
    """The font that matplotlib brings along."""
    import matplotlib  # slow to import, and not needed for text or SVG

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts/ttf" / name, size)

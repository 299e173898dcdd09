"""What can be seen of a square past walls: exact areas of convex polygons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Point = tuple[float, float]
Polygon = tuple[Point, ...]
Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom."""
HalfPlane = tuple[float, float, float]
"""(a, b, c): the points with a · x + b · y ≥ c."""


def visible_share(eye: Point, target: Rectangle, walls: Iterable[Rectangle]) -> float:
    """The share of the target's area that is joined to the eye by a line that no wall cuts.

    The eye must be outside the walls. A wall hides what lies in its shadow, a convex set, so that what is left is
    again a union of convex polygons, and their areas are exact.
    """
    left, top, right, bottom = target
    pieces: list[Polygon] = [((left, top), (right, top), (right, bottom), (left, bottom))]
    for wall in walls:
        shadow = list(_shadow(eye, wall))
        pieces = [lit for piece in pieces for lit in _outside(piece, shadow)]
    return sum(map(_area, pieces)) / ((right - left) * (bottom - top))


def _shadow(eye: Point, wall: Rectangle) -> Iterator[HalfPlane]:
    """The half-planes whose intersection is the wall and all that is behind it."""
    x, y = eye
    left, top, right, bottom = wall
    if x <= left:
        yield 1.0, 0.0, left
    if x >= right:
        yield -1.0, 0.0, -right
    if y <= top:
        yield 0.0, 1.0, top
    if y >= bottom:
        yield 0.0, -1.0, -bottom
    sides = [(a - x, b - y) for a in (left, right) for b in (top, bottom)]
    for dx, dy in sides:  # of the lines from the eye through a corner, the two that leave the wall on one side
        for sign in (1.0, -1.0):
            if all(sign * (dx * b - dy * a) >= 0.0 for a, b in sides):
                yield -sign * dy, sign * dx, sign * (dx * y - dy * x)


def _outside(piece: Polygon, shadow: Sequence[HalfPlane]) -> Iterator[Polygon]:
    """The parts of a convex polygon outside an intersection of half-planes."""
    for a, b, c in shadow:
        if lit := _cut(piece, (-a, -b, -c)):
            yield lit
        piece = _cut(piece, (a, b, c))


def _cut(polygon: Polygon, half: HalfPlane) -> Polygon:
    """The part of a convex polygon in a half-plane; empty if there is none."""
    a, b, c = half
    heights = [a * x + b * y - c for x, y in polygon]
    vertices: list[Point] = []
    for i, (point, height) in enumerate(zip(polygon, heights, strict=True)):
        before, height_before = polygon[i - 1], heights[i - 1]
        if height_before * height < 0.0:  # the edge crosses the line
            t = height_before / (height_before - height)
            vertices.append((before[0] + t * (point[0] - before[0]), before[1] + t * (point[1] - before[1])))
        if height >= 0.0:
            vertices.append(point)
    return tuple(vertices) if len(vertices) > 2 else ()


def _area(polygon: Polygon) -> float:
    """The shoelace formula."""
    return abs(sum(polygon[i - 1][0] * y - x * polygon[i - 1][1] for i, (x, y) in enumerate(polygon))) / 2

"""The little drawings of the worlds with avatars: avatars, resources, and what there is in kitchens that make soup.

Kinds of resources differ in shape, colour and letter; avatars carry a number and point to where they face.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from otherminds.worlds.collaborative_cooking import things
from otherminds.worlds.in_the_matrix.world import FROZEN, READY
from otherminds.worlds.overcooked import drawing as kitchen_picture
from otherminds.worlds.overcooked import kitchen
from otherminds.worlds.overcooked.drawing import thing_shapes
from otherminds.worlds.sprites import (
    GREY,
    HUES,
    INK,
    PAPER,
    PEOPLE,
    RIM,
    STEEL,
    WOOD,
    Box,
    Disc,
    Letters,
    Place,
    Polygon,
    Shape,
    Shapes,
    block,
    ink_on,
    labels,
    mix,
    moved,
)

BODIES = (*PEOPLE, "#5b3a8e", "#0b4f6c", "#8a3b12", "#3c5a14")
GOLD, ICE, EMBER = "#f2c230", "#c9e8fb", "#f08a24"
IRON = "#4a5058"
STARS = ((3, 0.5), (4, 0.71), (5, 0.6), (6, 0.87), (4, 0.5), (6, 0.6), (5, 0.81), (8, 0.75), (12, 0.85))
Outline = tuple[Place, ...]


# Avatars

_BLOCK: Shapes = (
    Box(-22.5, -22.5, 45, 45, ICE, 7, HUES["blue"]),
    Polygon(((-18, -9), (-9, -18), (-4, -18), (-18, -4)), PAPER),
)


def turned(points: Outline, facing: int) -> Outline:
    """An outline that points north, turned to where somebody faces."""
    for _ in range(facing):
        points = tuple((-y, x) for x, y in points)
    return points


def avatar_shapes(number: int, label: str, facing: int, look: int) -> Shapes:
    """An avatar with its number, pointing ahead: in a golden ring if it is READY, in a block of ice if FROZEN."""
    colour = BODIES[number % len(BODIES)]
    rings = (*_drop(19.5, 25.5, mix(GOLD, INK, 0.6), facing), *_drop(18, 24, GOLD, facing)) if look == READY else ()
    return (
        *(_BLOCK if look == FROZEN else ()),
        *(rings or _drop(16, 24.5, PAPER, facing)),
        *_drop(14, 21.5, colour, facing),
        Letters(0, 0, 18 if len(label) == 1 else 13, label, PAPER),
    )


def _drop(radius: float, tip: float, fill: str, facing: int) -> Shapes:
    """A disc with a point so far from its middle."""
    angle = math.acos(radius / tip)
    x, y = round(radius * math.sin(angle), 1), round(radius * math.cos(angle), 1)
    return Polygon(turned(((-x, -y), (0, -tip), (x, -y)), facing), fill), Disc(0, 0, radius, fill)


def at_hand(facing: int) -> Place:
    """Where a thing is drawn that somebody holds: in the right hand, behind what points ahead."""
    return turned(((14, 12),), facing)[0]


# Resources


@cache
def kind_shapes(kinds: tuple[str, ...]) -> tuple[Shapes, ...]:
    """A sprite for each kind of resource: the known ones look like what they are called, others are stars."""
    letters, stars = labels(kinds), iter(STARS)
    looks = [_OWN[kind][1] if kind in _OWN else _star(*next(stars)) for kind in kinds]
    named = zip(kinds, kind_hues(kinds), looks, strict=True)
    return tuple(_kind(hue, look, letters[kind]) for kind, hue, look in named)


def kind_hues(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """A colour for each kind of resource, no two alike."""
    taken = {_OWN[kind][0] for kind in kinds if kind in _OWN}
    free = (hue for hue in HUES.values() if hue not in taken)
    return tuple(_OWN[kind][0] if kind in _OWN else next(free) for kind in kinds)


def _kind(colour: str, look: Callable[[str, str], Shapes], letter: str) -> Shapes:
    size = 17 if len(letter) == 1 else 12
    return (*look(colour, mix(colour, INK, 0.5)), Letters(0, 1, size, letter, ink_on(colour)))


def _star(corners: int, inner: float) -> Callable[[str, str], Shapes]:
    """A look with so many corners; `inner` is how far in the outline comes between them."""
    radii = ((18, 18 * inner)[n % 2] for n in range(2 * corners))
    angles = (math.pi * n / corners for n in range(2 * corners))
    points = tuple((round(r * math.sin(a), 1), round(-r * math.cos(a), 1)) for r, a in zip(radii, angles, strict=True))
    return lambda colour, edge: (Polygon(points, colour, edge),)


def _rock(colour: str, edge: str) -> Shapes:
    points = ((-17, 6), (-14, -8), (-4, -16), (8, -14), (17, -3), (15, 11), (5, 16), (-11, 15))
    light = ((-14, -8), (-4, -16), (8, -14), (2, -9), (-9, -5), (-15, 4))
    return Polygon(points, colour, edge), Polygon(light, mix(colour, PAPER, 0.3))


def _paper(colour: str, edge: str) -> Shapes:
    sheet = ((-13, -18), (5, -18), (13, -10), (13, 18), (-13, 18))
    return Polygon(sheet, colour, edge), Polygon(((5, -18), (13, -10), (5, -10)), mix(colour, PAPER, 0.6), edge)


def _scissors(colour: str, edge: str) -> Shapes:
    blade = ((-4, 4), (4, 4), (14, -20), (9, -20))
    steel = mix(GREY, PAPER, 0.45)
    return (
        Polygon(blade, steel, edge),
        Polygon(tuple((-x, y) for x, y in blade), steel, edge),
        *(Disc(x, 13, 7.5, colour, edge) for x in (-9.5, 9.5)),
        *(Disc(x, 14, 3, PAPER, edge) for x in (-10.5, 10.5)),
        Disc(0, 1, 10, colour, edge),
    )


def _heart(colour: str, edge: str) -> Shapes:
    points = []
    for n in range(36):
        a = math.tau * n / 36
        y = 13 * math.cos(a) - 5 * math.cos(2 * a) - 2 * math.cos(3 * a) - math.cos(4 * a)
        points.append((round(1.12 * 16 * math.sin(a) ** 3, 1), round(-1.12 * y - 1, 1)))
    return (Polygon(tuple(points), colour, edge),)


_OWN: dict[str, tuple[str, Callable[[str, str], Shapes]]] = {
    "rock": (HUES["brown"], _rock),
    "paper": (HUES["cyan"], _paper),
    "scissors": (HUES["magenta"], _scissors),
    "cooperate": (HUES["green"], _heart),
    "defect": (HUES["red"], _star(9, 0.72)),
}


# Kitchens

RED = kitchen_picture.HUES["tomato"]
BOWL: Shapes = (
    Disc(0, 0, 18, PAPER, GREY),
    Disc(0, 0, 13.5, RED, mix(RED, INK, 0.45)),
    Disc(-4, -5, 2.5, mix(RED, PAPER, 0.45)),
    Letters(0, 0, 16, "S", PAPER),
)
HELD_THINGS: dict[int, Shapes] = {
    things.TOMATO: thing_shapes(kitchen.FRESH["tomato"]),
    things.DISH: thing_shapes(kitchen.PLATE),
    things.SOUP: BOWL,
}
_CRATE: Shapes = (*block(WOOD, RIM), Box(-19, -18, 38, 32, mix(RIM, INK, 0.3), 3, mix(RIM, INK, 0.55)))


def _small(x: float, y: float, radius: float) -> Shapes:
    """A tomato among others."""
    return Disc(x, y, radius, RED, mix(RED, INK, 0.45)), Disc(x - 1.5, y - 2, radius / 4, mix(RED, PAPER, 0.5))


SITES: dict[str, Shapes] = {
    things.FLOOR: kitchen_picture.SQUARES[kitchen.FLOOR],
    things.START: kitchen_picture.SQUARES[kitchen.FLOOR],
    things.VOID: (Box(-24, -24, 48, 48, IRON),),
    things.COUNTER: kitchen_picture.SQUARES[kitchen.COUNTER],
    things.DELIVERY: kitchen_picture.SQUARES[kitchen.DELIVERY],
    things.TOMATOES: (*_CRATE, *(s for x, y in ((-9, -9), (9, -9), (-9, 5), (9, 5), (0, -2)) for s in _small(x, y, 8))),
    things.DISHES: (*_CRATE, *(s for y in (6, 1, -4) for s in moved((Disc(0, 0, 13, PAPER, GREY),), 0, y))),
    things.POT: (
        *block("#6d747d", IRON),
        *(Box(x, -6, 8, 8, INK, 3) for x in (-23, 15)),
        Disc(0, -2, 19, STEEL, INK),
        Disc(0, -2, 15.5, "#2f3338"),
    ),
}


def pot_shapes(pot: things.Pot, cook: int) -> Shapes:
    """What is in a pot: tomatoes, over a bar that grows while they are cooked, or a soup."""
    if pot.cooked:
        return Disc(0, -2, 15.5, RED, GOLD), Disc(-5, -8, 3, mix(RED, PAPER, 0.4)), Letters(0, -2, 18, "S", PAPER)
    places = ((0, -9), (-7, 3), (7, 3))[: pot.tomatoes]
    drawn: list[Shape] = [shape for x, y in places for shape in _small(x, y, 7)]
    if pot.timer:
        share = min(1.0, pot.timer / (cook + 1))
        drawn += (Box(-20, 17, 40, 5, INK, 2), Box(-19, 18, round(38 * share, 1), 3, EMBER, 1))
    return tuple(drawn)

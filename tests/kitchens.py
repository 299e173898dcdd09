"""Small kitchens for tests, by hand and at random, play in them, and a slow second implementation of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from hypothesis import strategies as st

from otherminds.worlds.overcooked.kitchen import (
    CHOPPED,
    COUNTER,
    FRESH,
    NOTHING,
    NOWHERE,
    PARTS,
    PLATE,
    RECIPES,
    KitchenLayout,
    parts,
)
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked, State

NAMES = ("Ana", "Ben", "Cem", "Dia")
THINGS = {"t": FRESH["tomato"], "l": FRESH["lettuce"], "o": FRESH["onion"], "p": PLATE}
THINGS |= {"T": CHOPPED["tomato"], "L": CHOPPED["lettuce"], "O": CHOPPED["onion"]}
VARIED = (*THINGS.values(), RECIPES["SimpleTomato"], RECIPES["Salad"], 2 * CHOPPED["tomato"])
MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0), "stay": (0, 0)}

Xy = tuple[int, int]


# By hand


def thing(words: str) -> int:
    """A thing from its parts: `chopped tomato, plate`."""
    return sum(PARTS[part] for part in words.split(", ")) if words else NOTHING


def kitchen(*rows: str, recipes: Sequence[str | None] = ("SimpleTomato",)) -> Overcooked:
    """A kitchen from rows of squares; digits are agents on floor, `t l o p` as in files, `T L O` chopped foods."""
    tiles = {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row)}
    plain = ["".join(" " if c.isdigit() else COUNTER if c in THINGS else c for c in row) for row in rows]
    layout = KitchenLayout(tuple(plain))
    starts = sorted((tile, layout.grid.cell(*at)) for at, tile in tiles.items() if tile.isdigit())
    return Overcooked(
        layout=layout,
        agents=NAMES[: len(starts)],
        cells=tuple(cell for _, cell in starts),
        recipes=(*recipes, *(None,) * len(starts))[: len(starts)],
        on=tuple(THINGS.get(tiles[layout.grid.xy(cell)], NOTHING) for cell in layout.counters),
    )


def holding(world: Overcooked, *hands: str, state: State | None = None) -> State:
    """The state, by default the first, with these things in people's hands."""
    return (state or world.initial)._replace(hands=tuple(map(thing, hands)))


def lying(world: Overcooked, state: State) -> dict[Xy, tuple[str, ...]]:
    """What lies where, by column and row."""
    places = map(world.layout.grid.xy, world.layout.counters)
    return {at: parts(there) for at, there in zip(places, state.on, strict=True) if there}


# At random


@st.composite
def kitchens(draw: st.DrawFn, *, sides: tuple[int, int] = (2, 5), agents: tuple[int, int] = (1, 4)) -> Overcooked:
    """A kitchen with squares of all kinds anywhere, all kinds of things on some counters, and somebody who cooks."""
    n = draw(st.integers(*agents))
    width, height = draw(st.integers(*sides)), draw(st.integers(*sides))
    tiles = draw(st.lists(st.sampled_from("     ---/*D#"), min_size=width * height, max_size=width * height))
    spots = draw(st.permutations(range(width * height)))[:n]
    rows = [draw(st.sampled_from("  D")) if k in spots else tile for k, tile in enumerate(tiles)]
    layout = KitchenLayout(tuple("".join(rows[y * width : (y + 1) * width]) for y in range(height)))
    things = draw(st.lists(st.sampled_from((NOTHING, *VARIED)), max_size=7))
    on = (*things, *(NOTHING,) * len(layout.counters))[: len(layout.counters)]
    recipes = [draw(st.sampled_from((*RECIPES, None))) for _ in spots]
    return Overcooked(
        layout=layout,
        agents=NAMES[:n],
        cells=tuple(layout.grid.cell(k % width, k // width) for k in spots),
        recipes=tuple(recipes) if any(recipes) else ("Salad", *recipes[1:]),
        on=tuple(draw(st.permutations(on))),
    )


@st.composite
def kitchen_plays(
    draw: st.DrawFn, *, agents: tuple[int, int] = (1, 4), steps: int = 15
) -> tuple[Overcooked, list[State], list[tuple[str, ...]]]:
    """A kitchen, the states of a random play in it, and what was done between them; people may begin with full hands.

    Whoever can change something by using a place does so half of the time.
    """
    world = draw(kitchens(agents=agents))
    hands = [draw(st.sampled_from((NOTHING, *VARIED))) for _ in world.agents]
    states, deeds = [world.initial._replace(hands=tuple(hands))], []
    for _ in range(draw(st.integers(0, steps))):
        actions = tuple(draw(st.sampled_from(_tempting(world, states[-1], i))) for i in range(len(hands)))
        states.append(world.advance(states[-1], actions))
        deeds.append(actions)
    return world, states, deeds


def _tempting(world: Overcooked, state: State, i: int) -> tuple[str, ...]:
    uses = [a for a in ACTIONS if world.layout.ahead[state.cells[i]][a][1] != NOWHERE]
    alone = [tuple(a if j == i else "stay" for j in range(len(state.cells))) for a in uses]
    deeds = [a for a, joint in zip(uses, alone, strict=True) if world.advance(state, joint) != state]
    return (*deeds, *deeds, *ACTIONS)


# The rules once more


@dataclass(frozen=True)
class Plain:
    """A state in plain words: places are columns and rows, things are lists of their parts."""

    people: list[Xy]
    hands: list[list[str]]
    lying: dict[Xy, list[str]]
    delivered: dict[Xy, list[list[str]]]
    served: list[bool]


def plain(world: Overcooked, state: State) -> Plain:
    """What a state says."""
    xy, layout = world.layout.grid.xy, world.layout
    return Plain(
        [xy(cell) for cell in state.cells],
        [list(parts(hand)) for hand in state.hands],
        {xy(cell): list(parts(there)) for cell, there in zip(layout.counters, state.on, strict=True) if there},
        {xy(c): sorted(map(list, map(parts, d))) for c, d in zip(layout.deliveries, state.delivered, strict=True)},
        [bool(state.served >> i & 1) for i in range(len(state.cells))],
    )


def slow_step(world: Overcooked, before: Plain, actions: Sequence[str]) -> Plain:
    """The rules of gym-cooking as its code goes through them, with recipes for each agent."""
    after = replace(before, people=[*before.people], hands=[*before.hands], served=[*before.served])
    after = replace(after, lying=dict(before.lying), delivered={at: [*d] for at, d in before.delivered.items()})
    stopped = [False] * len(actions)
    for i, j in combinations(range(len(actions)), 2):
        for k, free in zip((i, j), _free(world, before.people, actions, i, j), strict=True):
            stopped[k] |= not free
    for i, action in enumerate(actions):
        if not stopped[i] and action != "stay":
            _act(world, after, i, _next(before.people[i], action))
    return after


def _next(at: Xy, action: str) -> Xy:
    return at[0] + MOVES[action][0], at[1] + MOVES[action][1]


def _tile(world: Overcooked, at: Xy) -> str:
    rows = world.layout.rows
    return rows[at[1]][at[0]] if 0 <= at[1] < len(rows) and 0 <= at[0] < len(rows[0]) else "#"


def _free(world: Overcooked, people: list[Xy], actions: Sequence[str], i: int, j: int) -> tuple[bool, bool]:
    """Whether each of two agents can do what it intends."""
    intended = [_next(people[k], actions[k]) for k in (i, j)]
    ends = [to if _tile(world, to) in " D" else people[k] for k, to in zip((i, j), intended, strict=True)]
    if ends[0] == ends[1]:
        if ends[0] == people[i] and actions[i] != "stay":
            return True, False
        return (False, True) if ends[1] == people[j] and actions[j] != "stay" else (False, False)
    swap = ends == [people[j], people[i]]
    return not swap, not swap


def _act(world: Overcooked, now: Plain, i: int, at: Xy) -> None:
    tile, held = _tile(world, at), now.hands[i]
    there = now.lying.get(at, [])
    if tile in " D":
        now.people[i] = at
    elif tile == "*" and len(held) > 1 and not any("fresh" in part for part in held):
        now.delivered[at] = sorted([*now.delivered[at], held])
        now.hands[i] = []
        _serve(world, now, i, held)
    elif tile in "-/" and not held:
        now.hands[i] = now.lying.pop(at, [])
    elif tile in "-/" and there:
        both = sorted(held + there, key=[*PARTS].index)
        if both.count("plate") < 2 and not any("fresh" in part for part in both):
            now.hands[i] = both
            del now.lying[at]
    elif tile == "/" and "fresh" in held[0]:
        now.hands[i] = [held[0].replace("fresh", "chopped")]
    elif tile in "-/":
        now.lying[at], now.hands[i] = held, []


def _serve(world: Overcooked, now: Plain, i: int, dish: list[str]) -> None:
    wanting = [
        j
        for j, recipe in enumerate(world.recipes)
        if recipe and not now.served[j] and list(parts(RECIPES[recipe])) == dish
    ]
    if wanting:
        now.served[i if i in wanting else wanting[0]] = True

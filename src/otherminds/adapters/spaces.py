"""What agents do and see in each world, as spaces of Gymnasium.

An action is its place in a fixed list. What is seen keeps its fields, each written in one of these ways:

- one of a list of values: Discrete, its place in the list; the first is None where there may be nothing to see
- numbers: Box of integers, or of float32 for payoffs; −1 where something is not seen, unless `interface` says otherwise
- a cell of a grid: Box, its column and row, both from 0
- a thing in a kitchen: Box, how many it has of each of `kitchen.PARTS`
- a set of names: Box of 0 and 1; pairs of a name and a value: Dict, a member for every name
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space

from otherminds.errors import InputError
from otherminds.worlds import avatars
from otherminds.worlds.collaborative_cooking import things as cooking_things
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.doors_keys_gems.rules import USED, DoorsKeysGems
from otherminds.worlds.grid import Grid
from otherminds.worlds.household.rules import Household
from otherminds.worlds.in_the_matrix import world as in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.overcooked import rules as overcooked
from otherminds.worlds.overcooked.kitchen import MANY, PARTS
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.repeated_games.rules import RepeatedGame

UNSEEN = -1
Bound = int | Sequence[int]


class Code(NamedTuple):
    """A space, and how a value is written as a member of it."""

    space: Space[Any]
    write: Callable[[Any], Any]


class Interface(NamedTuple):
    """One agent's side of a world: all it could ever do, whether it always can, and how what it sees is written."""

    actions: tuple[Hashable, ...]
    always: bool
    seen: Code


@runtime_checkable
class SelfDescribing(Protocol):
    """A world that lists an agent's actions, and the possible values of each field of its observations."""

    def all_actions(self, agent: str) -> tuple[Hashable, ...]:
        """Every action of an agent in any state."""
        ...

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """A mapping of fields, the values of one field, or a list of ranges with a number from each."""
        ...


@singledispatch
def interface(world: object, agent: str) -> Interface:
    """The interface of an agent. Raises InputError for a world of a kind that is not known here.

    A world that has `all_actions` and `observation_values` describes itself; `interface.register` adds others.
    """
    if isinstance(world, SelfDescribing):
        return Interface(world.all_actions(agent), False, described(world.observation_values(agent)))
    name = type(world).__name__
    raise InputError(f"there are no spaces for worlds of type {name}", hint="add them with `interface.register`")


# Ways to write


def among(values: Iterable[Hashable]) -> Code:
    """One of some values."""
    places = {value: np.int64(place) for place, value in enumerate(values)}
    return Code(Discrete(len(places)), places.__getitem__)


def maybe(values: Iterable[Hashable]) -> Code:
    """One of some values, or None."""
    return among((None, *values))


def numbers(low: Bound, high: Bound, *shape: int, kind: type[np.integer[Any]] = np.int32) -> Code:
    """As many numbers as the shape says, within bounds; nothing at all, or None, is written as the lower bound."""
    lower, upper = (np.broadcast_to(np.array(bound, kind), shape).copy() for bound in (low, high))

    def write(value: Any) -> Any:
        return lower.copy() if value is None or value == () else np.array(value, kind).reshape(shape)

    return Code(Box(lower, upper, dtype=kind), write)


def one(low: float, high: float) -> Code:
    """One number, such as a payoff; 0 for None."""
    lower, upper = np.array([min(low, 0)], np.float32), np.array([max(high, 0)], np.float32)
    return Code(Box(lower, upper, dtype=np.float32), lambda value: np.array([value or 0], np.float32))


def subset(names: Sequence[str]) -> Code:
    """A set of names."""
    return after(numbers(0, 1, len(names), kind=np.int8), lambda value: [name in value for name in names])


def record(**fields: Code) -> Code:
    """Something with these fields; if there may be none, all its fields may be None."""

    def write(value: Any) -> dict[str, Any]:
        if value is None:
            return {name: code.write(None) for name, code in fields.items()}
        return {name: code.write(getattr(value, name)) for name, code in fields.items()}

    return Code(Dict({name: code.space for name, code in fields.items()}), write)


def table(names: Iterable[str], code: Code) -> Code:
    """Pairs of a name and a value; None for names that are not there."""
    spaces = dict.fromkeys(names, code.space)

    def write(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(pairs)
        return {name: code.write(known.get(name)) for name in spaces}

    return Code(Dict(spaces), write)


def after(code: Code, change: Callable[[Any], Any]) -> Code:
    """A value that is changed before it is written."""
    return Code(code.space, lambda value: code.write(change(value)))


def described(values: Any) -> Code:
    """The code of a mapping of fields, of a list of ranges (a number from each), or of one of some values."""
    if isinstance(values, Mapping):
        return record(**{name: described(field) for name, field in values.items()})
    if isinstance(values, list):
        return numbers(UNSEEN, [numbers_of.stop - 1 for numbers_of in values], len(values))
    return among(values)


def place(grid: Grid) -> Code:
    """A cell of a grid, or none."""
    return after(numbers(UNSEEN, (grid.width - 1, grid.height - 1), 2), lambda cell: _xy(grid, cell))


def places(grid: Grid, count: int) -> Code:
    """Cells of a grid, some of them not seen perhaps."""
    code = numbers(UNSEEN, (grid.width - 1, grid.height - 1), count, 2)
    return after(code, lambda cells: [_xy(grid, cell) for cell in cells])


def _xy(grid: Grid, cell: int) -> tuple[int, int]:
    return grid.xy(cell) if cell >= 0 else (UNSEEN, UNSEEN)


def _parts(thing: int) -> tuple[int, ...]:
    if thing == overcooked.UNSEEN:
        return (UNSEEN,) * len(PARTS)
    return tuple(thing // part & MANY for part in PARTS.values())


# The worlds


@interface.register
def _(world: DoorsKeysGems, agent: str) -> Interface:
    """The order of the actions is that of `vocabulary`. An item: who holds it, or GROUND (−1) or USED (−2)."""
    people, doors = len(world.agents), range(len(world.doors))
    seen = record(
        cells=places(world.grid, people),
        items=numbers(USED, people - 1, len(world.items)),
        locked=after(numbers(0, 1, len(doors), kind=np.int8), lambda bits: [bits >> door & 1 for door in doors]),
        turn=among(range(people)),
    )
    return Interface(tuple(world.vocabulary.values()), False, seen)


@interface.register
def _(world: Overcooked, agent: str) -> Interface:
    """`delivered` has room at each delivery for all the dishes there can be, of two parts each or more."""
    grid, people, stations = world.layout.grid, len(world.agents), len(world.layout.deliveries)
    dishes = sum(world.stock.values()) // 2

    def things(count: int) -> Code:
        return after(numbers(UNSEEN, MANY, count, len(PARTS)), lambda seen: [_parts(thing) for thing in seen])

    def delivered(heaps: Iterable[tuple[int, ...] | None]) -> list[list[tuple[int, ...]]]:
        full = [(overcooked.UNSEEN,) * dishes if heap is None else heap for heap in heaps]
        return [[_parts(dish) for dish in (*heap, *(0,) * (dishes - len(heap)))] for heap in full]

    seen = record(
        cells=places(grid, people),
        hands=things(people),
        on=things(len(world.on)),
        delivered=after(numbers(UNSEEN, MANY, stations, dishes, len(PARTS)), delivered),
    )
    return Interface(overcooked.ACTIONS, True, seen)


@interface.register
def _(world: RepeatedGame, agent: str) -> Interface:
    """The actions are their numbers in the game. Before the first round there is nothing to see."""
    i = world.agents.index(agent)
    payoff = world.game.payoff(i)
    own, theirs = payoff.shape
    seen = record(own=maybe(range(own)), theirs=maybe(range(theirs)), payoff=one(payoff.min(), payoff.max()))
    return Interface(tuple(range(own)), True, seen)


@interface.register
def _(world: Household, agent: str) -> Interface:
    """The order of the actions is that of `acts`; `last` has the last act of everybody, `things` the place of each."""
    acts = world.acts
    spots = [place.name for place in world.home.places]
    things = list(dict.fromkeys(act.thing for act in acts if act.thing is not None))
    me = record(room=among(world.home.rooms), at=maybe(spots), holds=subset(things))
    seen = record(
        me=me,
        places=subset(spots),
        things=table(things, maybe(spots)),
        opened=subset(spots),
        last=table(world.agents, maybe(acts)),
    )
    return Interface(acts, False, seen)


@interface.register
def _(world: InTheMatrix, agent: str) -> Interface:
    """The eight actions of avatars. The dead see a window that is all OUTSIDE, as in Melting Pot, and have no cell."""
    rules = world.rules
    grid, most, kinds = rules.field.grid, 1 + rules.ends.limit, len(rules.resources)
    shape = (grid.height, grid.width) if agent in world.all_seeing else rules.field.shape
    codes = in_the_matrix.PLAYER + 16 * rules.players
    pays = [pay for matrix in rules.payoffs for row in matrix for pay in row]
    seen = record(
        t=numbers(0, most, 1),
        cell=place(grid),
        facing=among(range(4)),
        window=numbers(avatars.OUTSIDE, codes - 1, *shape, kind=np.int16),
        inventory=numbers(0, most, kinds),
        ready_to_shoot=one(0, 1),
        met=numbers(UNSEEN, most, 2, kinds),
        reward=one(min(pays), max(pays)),
        frozen=among((False, True)),
    )
    return Interface(avatars.ACTIONS, True, seen)


@interface.register
def _(world: CollaborativeCooking, agent: str) -> Interface:
    """The eight actions of avatars."""
    codes = cooking_things.SEES_PLAYER + 16 * len(world.agents)
    most = world.pay * len(world.agents)
    seen = record(
        window=numbers(avatars.OUTSIDE, codes - 1, *world.field.shape, kind=np.int16),
        cell=place(world.grid),
        facing=among(range(4)),
        hand=among(range(len(cooking_things.THINGS))),
        ready=among((False, True)),
        reward=one(most, most),
    )
    return Interface(avatars.ACTIONS, True, seen)

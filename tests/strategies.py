"""Small random worlds of Doors-Keys-Gems, play in them, and slow answers to compare with: shared by tests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State, Thing, Turns
from otherminds.worlds.grid import Grid

COLOURS = ("red", "blue", "yellow")
NAMES = ("Ana", "Ben", "Cem")
SIMULTANEOUS: tuple[Turns, ...] = ("simultaneous",)
BOTH: tuple[Turns, ...] = ("simultaneous", "alternating")

Xy = tuple[int, int]


# Worlds by hand


def world_of(*rows: str, turns: Turns = "simultaneous", goals: tuple[int, ...] = ()) -> DoorsKeysGems:
    """A world from rows of tiles as in level files; agent i is after gem i unless `goals` says otherwise."""
    tiles = {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row.split())}
    grid = Grid.of(len(rows[0].split()), len(rows), [at for at, tile in tiles.items() if tile == "##"])
    colours = {colour[0]: colour for colour in ("red", "blue", "yellow", "green")}

    def things(kind: str, word: str) -> tuple[Thing, ...]:
        found = [(colours[tile[1]], grid.cell(*at)) for at, tile in tiles.items() if tile[0] == kind]
        return tuple(Thing(f"{word}{n}", *thing) for n, thing in enumerate(found, 1))

    starts = sorted((tile, grid.cell(*at)) for at, tile in tiles.items() if tile[0] == "a")
    return DoorsKeysGems(
        grid=grid,
        agents=NAMES[: len(starts)],
        cells=tuple(cell for _, cell in starts),
        keys=things("k", "key"),
        doors=things("d", "door"),
        gems=things("g", "gem"),
        goals=goals or tuple(range(len(starts))),
        turns=turns,
    )


# Random worlds


@st.composite
def worlds(
    draw: st.DrawFn,
    *,
    sides: tuple[int, int] = (2, 5),
    agents: tuple[int, int] = (1, 3),
    keys: tuple[int, int] = (0, 3),
    doors: tuple[int, int] = (0, 3),
    gems: tuple[int, int] = (1, 3),
    colours: int = 2,
    turns: tuple[Turns, ...] = SIMULTANEOUS,
    apart: bool = False,
    forbid: bool = False,
) -> DoorsKeysGems:
    """A world with things in random places; agents start on floor, on things and on each other unless `apart`."""
    n = draw(st.integers(*agents))
    sizes = [draw(st.integers(*bounds)) for bounds in (gems, keys, doors)]
    width, height = draw(st.integers(*sides)), draw(st.integers(*sides))
    room = sum(sizes) + (n if apart else 1)
    height = max(height, -(-room // width))
    places = draw(st.permutations([(x, y) for y in range(height) for x in range(width)]))
    walls = draw(st.integers(0, (len(places) - room) // 2))
    grid = Grid.of(width, height, places[:walls])
    free = iter([grid.cell(*at) for at in places[walls:]])
    gem_cells, key_cells, door_cells = (sorted(next(free) for _ in range(size)) for size in sizes)
    rest = list(free)
    paint = st.sampled_from(COLOURS[:colours])
    starts = rest[:n] if apart else draw(st.lists(st.sampled_from(rest + key_cells), min_size=n, max_size=n))
    world = DoorsKeysGems(
        grid=grid,
        agents=NAMES[:n],
        cells=tuple(starts),
        keys=tuple(Thing(f"key{k}", draw(paint), cell) for k, cell in enumerate(key_cells, 1)),
        doors=tuple(Thing(f"door{d}", draw(paint), cell) for d, cell in enumerate(door_cells, 1)),
        gems=tuple(
            Thing(f"gem{g}", colour, cell) for g, (colour, cell) in enumerate(zip(COLOURS, gem_cells, strict=False), 1)
        ),
        goals=_goals(draw, n, sizes[0]),
        turns=draw(st.sampled_from(turns)),
    )
    pairs = [(i, item) for i in range(n) for item in range(len(world.items))]
    return replace(world, forbidden=draw(st.frozensets(st.sampled_from(pairs), max_size=2))) if forbid else world


def _goals(draw: st.DrawFn, agents: int, gems: int) -> tuple[int, ...]:
    if gems >= agents:
        return tuple(draw(st.permutations(range(gems)))[:agents])
    return tuple(i % gems for i in range(agents))


@st.composite
def plays(
    draw: st.DrawFn, some: st.SearchStrategy[DoorsKeysGems], *, steps: int = 12
) -> tuple[DoorsKeysGems, tuple[Step[State, Action], ...]]:
    """A world, and what happened in it while everybody did things at random, more often deeds than steps."""
    world = draw(some)
    state, happened = world.initial, []
    for _ in range(draw(st.integers(0, steps))):
        joint = {name: draw(st.sampled_from(_tempting(world.actions(state, name)))) for name in world.agents}
        after = world.step(state, joint)
        happened.append(Step(state, joint, after))
        state = after
    return world, tuple(happened)


def _tempting(options: tuple[Action, ...]) -> list[Action]:
    """The options, those that change more than a place first and twice."""
    deeds = [action for action in options if action.item >= 0]
    return [*deeds, *options]


@st.composite
def moments(draw: st.DrawFn, some: st.SearchStrategy[DoorsKeysGems], *, steps: int = 12) -> tuple[DoorsKeysGems, State]:
    """A world and a state that random play leads to."""
    world, happened = draw(plays(some, steps=steps))
    return world, happened[-1].after if happened else world.initial


# The same world seen otherwise


class Picture(NamedTuple):
    """A world mapped to an equivalent one, and how states and actions are mapped along."""

    world: DoorsKeysGems
    cells: Mapping[int, int]
    directions: Mapping[str, str]

    def state(self, state: State) -> State:
        """Where everybody stands in the mapped world."""
        return state._replace(cells=tuple(self.cells[cell] for cell in state.cells))

    def action(self, action: Action) -> Action:
        """What the deed is called in the mapped world."""
        return action._replace(verb=self.directions.get(action.verb, action.verb))


def mirrored(world: DoorsKeysGems) -> Picture:
    """Left and right exchanged."""
    swap = {"left": "right", "right": "left", "up": "up", "down": "down"}
    return _mapped(world, lambda x, y: (world.grid.width - 1 - x, y), swap)


def transposed(world: DoorsKeysGems) -> Picture:
    """Rows and columns exchanged."""
    swap = {"left": "up", "up": "left", "right": "down", "down": "right"}
    return _mapped(world, lambda x, y: (y, x), swap)


def recoloured(world: DoorsKeysGems) -> Picture:
    """Every colour replaced by another one."""
    paint = dict(zip(COLOURS, ("white", "aqua", "black"), strict=True))

    def repaint(things: Iterable[Thing]) -> tuple[Thing, ...]:
        return tuple(thing._replace(colour=paint[thing.colour]) for thing in things)

    same = replace(world, keys=repaint(world.keys), doors=repaint(world.doors), gems=repaint(world.gems))
    return Picture(same, {cell: cell for cell in world.grid.cells()}, {})


def _mapped(world: DoorsKeysGems, f: Callable[[int, int], Xy], directions: Mapping[str, str]) -> Picture:
    old = world.grid
    corner = f(old.width - 1, old.height - 1), f(0, 0)
    width, height = (max(axis) + 1 for axis in zip(*corner, strict=True))
    walls = [f(x, y) for y in range(old.height) for x in range(old.width) if not old.is_floor(old.cell(x, y))]
    grid = Grid.of(width, height, walls)
    cells = {cell: grid.cell(*f(*old.xy(cell))) for cell in old.cells()}

    def move(things: Iterable[Thing]) -> tuple[Thing, ...]:
        return tuple(thing._replace(cell=cells[thing.cell]) for thing in things)

    mapped = replace(
        world,
        grid=grid,
        cells=tuple(cells[cell] for cell in world.cells),
        keys=move(world.keys),
        doors=move(world.doors),
        gems=move(world.gems),
    )
    return Picture(mapped, cells, directions)


PICTURES = (mirrored, transposed, recoloured)


# Slow answers


def goals_of(world: DoorsKeysGems) -> Iterator[Goal]:
    """Every gem, key and door that somebody could be after."""
    for kind, things in (("gem", world.gems), ("key", world.keys), ("door", world.doors)):
        yield from (Goal(kind, index) for index in range(len(things)))


def holds(world: DoorsKeysGems, state: State, i: int, goal: Goal) -> bool:
    """Whether agent i has what it is after."""
    if goal.kind == "door":
        return not state.locked & 1 << goal.thing
    return state.items[goal.thing + {"key": 0, "gem": len(world.keys)}[goal.kind]] == i


class Alone:
    """All that agent i can bring about from a state while the others stand still, by trying everything."""

    def __init__(self, world: DoorsKeysGems, i: int, start: State) -> None:
        """Explore forwards, by the rules of the world itself."""
        self.world, self.i = world, i
        self.before: dict[State, list[State]] = {start: []}
        queue = deque([start])
        while queue:
            state = queue.popleft()
            for action in world.options(state, i):
                after = world.apply(state, i, action)
                if after not in self.before:
                    self.before[after] = []
                    queue.append(after)
                self.before[after].append(state)

    def costs(self, goal: Goal) -> dict[State, int]:
        """Steps to the goal from every state from which it can be reached."""
        found = {state: 0 for state in self.before if holds(self.world, state, self.i, goal)}
        queue = deque(found)
        while queue:
            state = queue.popleft()
            for earlier in self.before[state]:
                if earlier not in found:
                    found[earlier] = found[state] + 1
                    queue.append(earlier)
        return found


def generator(seed: int = 0) -> np.random.Generator:
    """A stream of random numbers for tests that sample."""
    return np.random.default_rng(seed)


def deed(world: DoorsKeysGems, state: State, i: int, head: int | Action) -> Action:
    """The action by which agent i goes where it is heading, or does what it is to do there with any fitting key."""
    if isinstance(head, int):
        moves = {offset: name for name, offset in world.grid.offsets.items()}
        return Action(moves.get(head - state.cells[i], "stay"))
    if head.verb != "unlock":
        return head
    colour = world.doors[head.target].colour
    mine = [k for k, key in enumerate(world.keys) if state.items[k] == i and key.colour == colour]
    return Action("unlock", mine[0], head.target)

"""Doors-Keys-Gems levels with certificates: random maps, their class by exact planning, and perfect cooperation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from otherminds.errors import InputError
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.levels.level_sets import Design, least_hash
from otherminds.planning.joint import ContextAction, JointPositions, joint_makespan
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.level_files import COLOURS, LEVELS, Level, draw_text, parse_level, write_level
from otherminds.worlds.doors_keys_gems.planner import Goal, LockedMap
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, Thing
from otherminds.worlds.grid import Grid

SEEDS = 5  # runs per claim; chosen, so that ties are broken in several ways
SHORTEST = 8  # steps of perfect cooperation below which a level is too short to watch anybody; chosen
# Savings that a class needs: one message saves WITH_MESSAGE of the steps, perfect cooperation WITH_COOPERATION and
# at least LEAST steps; in a necessary level the steps with a message are a share IN_TIME of the horizon. Chosen.
WITH_MESSAGE, WITH_COOPERATION, LEAST, IN_TIME = 0.85, 0.8, 4, 0.75
SPREAD = 2  # steps by which runs without help may differ because of ties; chosen
FAILED = "-"


# Random maps. All probabilities below were chosen so that levels of every class turn up, resembling the paper's.

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo")
MOST = 4  # doors, and keys, of a map: joint planning takes time exponential in both
Cell = tuple[int, int]


class _FloorPlan:
    """A floor plan under construction: walls that divide rooms, and the gaps and doors in them."""

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        """An empty room of this size, divided at once by random walls."""
        self.rng = rng
        self.walls: set[Cell] = set()
        self.gaps: set[Cell] = set()
        self.doors: list[Cell] = []
        self._divide(0, 0, width, height)

    def _divide(self, x: int, y: int, width: int, height: int) -> None:
        """Divide the room by a wall that ends at no opening, then divide both halves."""
        across = self.rng.random() < (0.8 if width > height else 0.2)
        length, breadth = (width, height) if across else (height, width)
        offsets = [k for k in range(1, length - 1) if not self._ends_at_opening(x, y, k, breadth, across)]
        if not offsets or width * height < 9 or (width * height < 18 and self.rng.random() < 0.4):
            return
        offset = offsets[int(self.rng.integers(len(offsets)))]
        wall_cells = [(x + offset, y + i) if across else (x + i, y + offset) for i in range(breadth)]
        count = 1 + int(len(wall_cells) > 2 and self.rng.random() < 0.4)
        openings = {wall_cells[int(i)] for i in self.rng.choice(len(wall_cells), size=count, replace=False)}
        self.walls.update(set(wall_cells) - openings)
        for cell in sorted(openings):
            if self.rng.random() < 0.55:
                self.doors.append(cell)
            else:
                self.gaps.add(cell)
        if across:
            self._divide(x, y, offset, height)
            self._divide(x + offset + 1, y, width - offset - 1, height)
        else:
            self._divide(x, y, width, offset)
            self._divide(x, y + offset + 1, width, height - offset - 1)

    def _ends_at_opening(self, x: int, y: int, k: int, breadth: int, across: bool) -> bool:
        """Whether a wall here would end at a gap or door in the walls around the room."""
        ends = ((x + k, y - 1), (x + k, y + breadth)) if across else ((x - 1, y + k), (x + breadth, y + k))
        return any(end in self.gaps or end in self.doors for end in ends)


def random_level(rng: np.random.Generator, people: int = 2) -> Level:
    """A random level of 6 to 10 columns and 6 to 9 rows; most belong to no class, and some cannot be solved."""
    width, height = int(rng.integers(6, 11)), int(rng.integers(6, 10))
    plan = _FloorPlan(width, height, rng)
    grid = Grid.of(width, height, plan.walls)
    colours = [str(c) for c in rng.permutation(list(COLOURS.values())[:5])]
    palette = colours[: int(rng.integers(1, 4))]
    door_colours = [palette[int(rng.integers(len(palette)))] for _ in plan.doors]
    key_colours = [c for c in door_colours if rng.random() < 0.85]
    key_colours += [palette[int(rng.integers(len(palette)))] for _ in range(int(rng.integers(0, 2)))]
    free = [(x, y) for y in range(height) for x in range(width) if (x, y) not in plan.walls | set(plan.doors)]
    gems = min(int(rng.integers(people, people + 3)), len(COLOURS))
    spot_count = len(key_colours) + gems + people
    if spot_count > len(free) or not 1 <= len(plan.doors) <= MOST or not 1 <= len(key_colours) <= MOST:
        return random_level(rng, people)
    spots = [grid.cell(*free[int(i)]) for i in rng.choice(len(free), size=spot_count, replace=False)]
    gem_colours = [str(c) for c in rng.permutation(list(COLOURS.values())[:gems])]
    gem_spots = spots[len(key_colours) : len(key_colours) + gems]
    world = DoorsKeysGems(
        grid=grid,
        agents=NAMES[:people],
        cells=tuple(spots[len(key_colours) + gems :]),
        keys=_numbered_things("key", key_colours, spots),
        doors=_numbered_things("door", door_colours, [grid.cell(*cell) for cell in plan.doors]),
        gems=_numbered_things("gem", gem_colours, gem_spots),
        goals=(),
    )
    goals = [gem_spots[int(g)] for g in rng.choice(gems, size=people, replace=False)]
    cells = [gem.cell for gem in world.gems]
    return Level("random", replace(world, goals=tuple(cells.index(spot) for spot in goals)))


def _numbered_things(word: str, colours: Sequence[str], cells: Sequence[int]) -> tuple[Thing, ...]:
    """Things numbered in reading order, as in level files."""
    ordered = sorted(zip(cells, colours, strict=False))
    return tuple(Thing(f"{word}{n}", colour, cell) for n, (cell, colour) in enumerate(ordered, 1))


# Classes and their proofs


def alone(level: Level, advice: DoorsKeysGemsAdvice, seed: int) -> int | None:
    """L0: the steps that people take without help; None if one of them fails."""
    rng = np.random.default_rng(seed)
    steps = list(rollout(level.world, DOORS_KEYS_GEMS.people(level, advice, seed), steps=level.horizon, rng=rng))
    return len(steps) if level.world.done(steps[-1].after if steps else level.world.initial) else None


def prove(level: Level) -> dict[str, str] | None:
    """Classify a level by exact planning: its certificate, or None if it belongs to no class.

    `alone`: L0 of SEEDS runs without help, ties broken at random (-: an agent fails). `told`: Lf, the shortest that one
    message at the start achieves, and `message`, that message. `together`: L*, perfect cooperation.

    necessary: an agent fails in every run, but with one message all agents succeed. useful: all succeed, and a message
    saves at least 15 %, perfect cooperation 20 % and four steps. not_needed: nothing can make it shorter. Where help
    counts, a facilitator that knows the goals must make all agents succeed however ties are broken.
    Raises InputError for alternating turns.
    """
    if level.world.turns != "simultaneous":
        raise InputError("certificates are about simultaneous turns")
    world, horizon, state = level.world, level.horizon, level.world.initial
    advice = DoorsKeysGemsAdvice(world)
    goals = tuple(Goal("gem", gem) for gem in world.goals)
    expected = advice.steps(state, goals, None, horizon)
    steps_with = {f: advice.steps(state, goals, f, horizon) for f in advice.candidates(state)}
    best = min(steps_with, key=lambda f: steps_with[f], default=None)
    shortest = horizon if best is None else steps_with[best]
    # the expected lengths are quick to compute: go on only if they leave a class possible
    if expected >= horizon:
        possible = shortest <= IN_TIME * horizon
    else:
        possible = shortest >= expected or shortest <= WITH_MESSAGE * expected
    if not possible:
        return None
    runs = tuple(alone(level, advice, seed) for seed in range(SEEDS))
    together = JointPlanner(world, advice.planner.map).makespan(min(expected, shortest))
    if together is None or together < SHORTEST:
        return None
    kind = _kind(runs, shortest, together, horizon)
    if kind is None:
        return None
    proof_level = replace(level, name="proof")  # the name of a level names its random streams
    if kind != "not_needed" and not all(
        world.done([m.after for m in DOORS_KEYS_GEMS.episode(PlannedEpisode(proof_level, "oracle", kind, seed))][-1])
        for seed in range(SEEDS)
    ):
        return None
    helping = None if kind == "not_needed" else best
    return {
        "class": kind,
        "alone": " ".join(FAILED if n is None else str(n) for n in runs),
        "told": FAILED if helping is None else str(shortest),
        "together": str(together),
        "message": "none" if helping is None else advice.address(helping),
    }


def _kind(runs: tuple[int | None, ...], shortest: int, together: int, horizon: int) -> str | None:
    """The class that follows from L0, Lf and L*; None if none does."""
    lengths = [n for n in runs if n is not None]
    if not lengths:
        return "necessary" if shortest <= IN_TIME * horizon else None
    if len(lengths) < len(runs) or max(lengths) - min(lengths) > SPREAD:
        return None
    least = min(lengths)
    if together == least <= shortest:
        return "not_needed"
    saves = together <= WITH_COOPERATION * least and least - together >= LEAST and shortest <= WITH_MESSAGE * least
    return "useful" if saves else None


class JointContext(NamedTuple):
    """Everything that changes in a joint plan except the positions: keys on the ground, held keys, doors, gems got."""

    ground: int
    held: tuple[tuple[int, ...], ...]
    locked: int
    have: int


class JointPlanner:
    """The rules of a level as `joint_makespan` needs them; no agent takes a gem that another one wants."""

    def __init__(self, world: DoorsKeysGems, locked_map: LockedMap | None = None) -> None:
        """Keys of a colour are interchangeable, and count only while a door of their colour is locked.

        `locked_map`: what a planner has found out about the world, whose states are counted together with these.
        """
        self.world = world
        self.map = locked_map or LockedMap(world)
        self.floor = cache(self.map.floor)
        self.actions_of = cache(lambda context, i: tuple(self._actions(context, i)))

    def makespan(self, limit: int) -> int | None:
        """L*: the fewest steps until each agent has its gem; None if more than `limit`.

        Raises InputError if that takes too many states.
        """
        world, n = self.world, len(self.world.agents)
        keys, locked = (1 << len(world.keys)) - 1, (1 << len(world.doors)) - 1
        no_keys = (0,) * len(self.map.doors_of)
        return joint_makespan(
            JointPositions(world.grid.stride, world.grid.height, n),
            world.cells,
            self._tidy(JointContext(ground=keys, held=(no_keys,) * n, locked=locked, have=0)),
            floor=lambda context: self.floor(context.locked),
            actions=self.actions_of,
            done=lambda context: context.have == (1 << n) - 1,
            limit=limit,
            expansion=self.map.expansion,
        )

    def _actions(self, context: JointContext, i: int) -> Iterator[ContextAction[JointContext]]:
        """What agent i can do for good: take its gem or a key, open a door, or hand a key to another agent."""
        gem = self.world.gems[self.world.goals[i]]
        if not context.have >> i & 1:
            yield ContextAction(1 << gem.cell, context._replace(have=context.have | 1 << i))
        for k, key in enumerate(self.world.keys):
            if context.ground >> k & 1:
                taken = context._replace(ground=context.ground & ~(1 << k))
                yield ContextAction(1 << key.cell, self._tidy(_with_key_count(taken, i, self.map.key_colour[k], 1)))
        for d, colour in enumerate(self.map.door_colour):
            if context.locked >> d & 1 and context.held[i][colour]:
                opened = context._replace(locked=context.locked & ~(1 << d))
                sides = sum(1 << side for side in self.map.sides[d])
                yield ContextAction(sides, self._tidy(_with_key_count(opened, i, colour, -1)))
        for colour, count in enumerate(context.held[i]):
            if count:
                for j in range(len(context.held)):
                    if j != i:
                        passed = _with_key_count(_with_key_count(context, i, colour, -1), j, colour, 1)
                        yield ContextAction(0, self._tidy(passed), beside=j)

    def _tidy(self, context: JointContext) -> JointContext:
        """Forget keys that no locked door needs, so that equivalent contexts are equal."""
        needed = [(context.locked & doors).bit_count() for doors in self.map.doors_of]
        ground = context.ground & sum(keys for keys, doors in zip(self.map.keys_of, needed, strict=True) if doors)
        inventories = tuple(tuple(map(min, counts, needed)) for counts in context.held)
        return context._replace(ground=ground, held=inventories)


def _with_key_count(context: JointContext, i: int, colour: int, change: int) -> JointContext:
    """The context in which agent i holds `change` keys of this colour more (or fewer)."""
    counts = list(context.held[i])
    counts[colour] += change
    return context._replace(held=(*context.held[:i], tuple(counts), *context.held[i + 1 :]))


def symmetry_hash(level: Level) -> str:
    """A hash that is equal for rotated, reflected and recoloured versions of a level."""
    marks = {gem: f"w{i}" for i, gem in enumerate(level.world.goals)}
    rows = [line.split(" ") for line in draw_text(level.world, level.world.initial).split("\n")]
    for n, gem in enumerate(level.world.gems):
        x, y = level.world.grid.xy(gem.cell)
        rows[y][x] = marks.get(n, "g")
    return least_hash(rows, _relabelled)


def _relabelled(rows: Sequence[Sequence[str]]) -> str:
    """The map as text, with colours and people numbered in order of appearance."""
    colours: dict[str, str] = {}
    people: dict[int, str] = {}
    tiles = []
    for kind, label in ((tile[0], tile[1:]) for row in rows for tile in row):
        if kind in "kd":
            label = colours.setdefault(label, str(len(colours)))
        elif kind in "aw":  # agents are numbered from 1, the gems that they want from 0
            label = people.setdefault(int(label) - (kind == "a"), str(len(people)))
        tiles.append(kind + label)
    return f"{len(rows)}:" + " ".join(tiles)


DESIGN = Design(random_level, prove, symmetry_hash, parse_level, write_level, LEVELS, "twenty")


def design_for(people: int) -> Design[Level]:
    """The same for more people than two, whose perfect cooperation may take minutes to work out."""
    return replace(DESIGN, random=partial(random_level, people=people))

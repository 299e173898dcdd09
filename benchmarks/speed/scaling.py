"""How costs grow with the size of what is planned and inferred: CPU time and memory, and how both grow.

    python -m benchmarks.speed.scaling --json docs/stored/scaling.json --picture docs/pictures/scaling.svg

Each size is measured once from scratch after the smallest one has warmed up; memory is the peak of Python's own
allocations (tracemalloc) in a run of its own. Exponents are slopes of least squares on logarithms; where costs grow
exponentially, it is the factor for each one more.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from otherminds.distribution import Categorical
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import exact, summary_row
from otherminds.evaluation.store import Row
from otherminds.observer import Observer
from otherminds.papers.hypothetical_minds.programs import Programs
from otherminds.papers.protom import overcooked
from otherminds.papers.protom.facilitator import ProToM, with_none_of_these
from otherminds.planning.array_minds import ArrayObserver, rational_minds
from otherminds.reports.plots import BLUE, styled
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, Thing
from otherminds.worlds.grid import Grid
from otherminds.worlds.in_the_matrix.hypotheses import library
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.kitchen import FRESH, NOTHING, NOWHERE, PLATE, KitchenLayout
from otherminds.worlds.overcooked.rules import Overcooked

COLOURS = ("red", "blue", "yellow", "green", "purple", "orange", "cyan", "magenta")
PEOPLE = ("Ana", "Ben", "Cleo", "Dan")
ROOMS = ("-------/---", "-    -    -", "-    -    -", "/    -    *", "-    -    -", "-    -    -", "----*------")
STARTS = ((2, 3), (8, 3), (3, 4), (7, 4))  # in turns in the room on the left and in that on the right
STOCK = {(0, 1): "tomato", (10, 2): "lettuce", (10, 4): "onion"}
PLATES = ((0, 5), (10, 1), (1, 6), (2, 0))
NAME = "scaling"


class Scale(NamedTuple):
    """What grows, its sizes, and what is timed: `prepare` of a size gives the function whose cost is measured."""

    title: str
    grows: str
    sizes: Sequence[int]
    prepare: Callable[[int], Callable[[], object]]
    exponential: bool = False  # whether costs grow by a factor for each one more


def level(side: int, colours: int, people: int) -> DoorsKeysGems:
    """A map with 20 % walls, and a key, a door and a gem of each colour."""
    rng = np.random.default_rng(0)
    walls = {(int(c) % side, int(c) // side) for c in rng.choice(side * side, size=side * side // 5, replace=False)}
    grid = Grid.of(side, side, walls)
    cells = [int(c) for c in rng.choice(list(grid.cells()), size=3 * colours + people, replace=False)]
    keys, doors, gems = (
        tuple(Thing(f"{word}{i + 1}", COLOURS[i], cells[n * colours + i]) for i in range(colours))
        for n, word in enumerate(("key", "door", "gem"))
    )
    wanted = tuple(range(people)) if people <= colours else (0,) * people
    return DoorsKeysGems(grid, PEOPLE[:people], tuple(cells[3 * colours :]), keys, doors, gems, wanted)


def first_decision(side: int, colours: int, people: int) -> Callable[[], object]:
    """ProToM's first decision, with all plans from scratch."""
    world = level(side, colours, people)

    def decide() -> object:
        planner = DoorsKeysGemsPlanner(world)
        goals = [Goal("gem", gem) for gem in range(colours)]
        watchers = {
            agent: with_none_of_these([Seeker(planner, i, goal) for goal in goals])
            for i, agent in enumerate(world.agents)
        }
        helper = ProToM.initial(world, DoorsKeysGemsAdvice(world, planner), watchers, world.initial)
        return helper.decide(world.initial, 80, np.random.default_rng(0))

    return decide


def kitchen(people: int) -> Overcooked:
    """Two rooms with a counter between them, food for three recipes, and a plate for each person."""
    layout = KitchenLayout(ROOMS)
    lying = {layout.grid.cell(*at): FRESH[food] for at, food in STOCK.items()}
    lying |= {layout.grid.cell(*at): PLATE for at in PLATES}
    cells = tuple(layout.grid.cell(*at) for at in STARTS[:people])
    recipes = ("SimpleTomato", "SimpleLettuce", "SimpleOnion", None)[:people]
    on = tuple(lying.get(cell, NOTHING) for cell in layout.counters)
    return Overcooked(layout, PEOPLE[:people], cells, recipes, on)


def kitchen_helper(particles: int, people: int) -> Any:
    """ProToM in a kitchen, with so many beliefs an agent and recipe, and no plans."""
    world = kitchen(people)
    advice, recipes = OvercookedAdvice(world), overcooked.possible_recipes(world)
    minds = {
        agent: [overcooked.cook(advice, i, recipe, particle=k) for k, recipe in product(range(particles), recipes)]
        for i, agent in enumerate(world.agents)
    }
    return overcooked.protom(particles=particles).facilitator(world, advice, minds)


def first_kitchen_decision(particles: int, people: int) -> Callable[[], object]:
    """The first decision in a kitchen, with all plans from scratch."""
    return lambda: kitchen_helper(particles, people).decide(kitchen(people).initial, 80, np.random.default_rng(0))


def step_after(steps: int) -> Callable[[], object]:
    """A step that is watched in a kitchen after so many others, in which two people walk about."""
    helper, world, rng = kitchen_helper(5, 2), kitchen(2), np.random.default_rng(0)
    state = world.initial
    for _ in range(steps + 1):
        ahead = [world.layout.ahead[cell] for cell in state.cells]
        walks = [[action for action, (_, place) in ways.items() if place == NOWHERE] for ways in ahead]
        joint = {agent: str(rng.choice(ways)) for agent, ways in zip(world.agents, walks, strict=True)}
        before, state = helper, world.step(state, joint, rng)
        helper = before.watch(joint, state)
    return lambda: before.watch(joint, state)


def meeting(strategies: int) -> Callable[[], object]:
    """What Hypothetical Minds learns from a meeting about so many strategies, and its choice for the next one."""
    all_strategies = library(in_the_matrix("rws_repeated").rules)
    machines, prior = all_strategies.machines[:strategies], all_strategies.prior[:strategies]
    theory = Programs.of(replace(all_strategies, machines=machines, prior=prior))
    theory.act()
    return lambda: theory.update((5, 1, 1), 1, 0.0).act()


class Coin(NamedTuple):
    """A mind that says heads with a probability of its own: nothing to plan, so that inference alone is timed."""

    number: int

    def observe(self, _obs: object) -> Coin:
        """The same mind."""
        return self

    def act(self) -> Categorical[str]:
        """π(heads) = 1 / (number + 2)."""
        return Categorical.of({"heads": 1.0, "tails": self.number + 1.0})


@dataclass(frozen=True)
class Field:
    """A world of one agent on a square without walls, whose state is its cell."""

    side: int
    agents: tuple[str, ...] = ("walker",)

    def start(self, _rng: object) -> tuple[int, int]:
        """A corner."""
        return (0, 0)

    def actions(self, state: tuple[int, int], _agent: str) -> tuple[str, ...]:
        """All ways that do not leave the square."""
        x, y = state
        ways = {"left": x > 0, "right": x + 1 < self.side, "up": y > 0, "down": y + 1 < self.side}
        return tuple(way for way, free in ways.items() if free)

    def step(self, state: tuple[int, int], joint: Mapping[str, str], _rng: object) -> tuple[int, int]:
        """The cell that way."""
        x, y = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}[joint["walker"]]
        return state[0] + x, state[1] + y

    def observe(self, state: tuple[int, int], _agent: str) -> tuple[int, int]:
        """The state."""
        return state

    def reward(self, _state: object, _joint: object, _after: object) -> dict[str, float]:
        """Each step costs 1."""
        return {"walker": -1.0}

    def done(self, _state: object) -> bool:
        """Never."""
        return False


def watching(minds: int) -> Callable[[], object]:
    """An action watched by so many minds."""
    observer = Observer.over(map(Coin, range(minds)))
    return lambda: observer.watch("heads", None)


def watching_goals(side: int) -> Callable[[], object]:
    """An action watched by an array of minds, one for each cell of a square of this side as its goal."""
    world: Any = Field(side)
    cells = {(x, y): [(x, y)] for x in range(side) for y in range(side)}
    observer = ArrayObserver.over(rational_minds(world, "walker", cells)).see((0, 0))
    return lambda: observer.watch("right", (1, 0)).posterior


def first_field(side: int) -> Callable[[], object]:
    """The costs-to-go of three gems, from scratch."""
    world = level(side, 3, 1)

    def fill() -> object:
        planner = DoorsKeysGemsPlanner(world)
        return planner.fields([Goal("gem", gem) for gem in range(3)], planner.map.stage(world.initial, 0))

    return fill


SCALES = (
    Scale("fields, three keys", "cells", (64, 256, 1024, 4096), lambda n: first_field(round(n**0.5))),
    Scale("first decision, 32 × 32, two people", "colours", (1, 2, 4, 6, 8), lambda n: first_decision(32, n, 2), True),
    Scale("first decision, 16 × 16, three colours", "people", (1, 2, 3, 4), lambda n: first_decision(16, 3, n), True),
    Scale(
        "first decision in a kitchen, two people",
        "particles",
        (1, 2, 5, 10, 20),
        lambda n: first_kitchen_decision(n, 2),
    ),
    Scale(
        "first decision in a kitchen, 5 particles", "people", (2, 3, 4), lambda n: first_kitchen_decision(5, n), True
    ),
    Scale("an action, minds one by one", "hypotheses", (10, 100, 1000, 10000), watching),
    Scale("an action, an array of minds", "goals", (100, 400, 1600, 6400), lambda n: watching_goals(round(n**0.5))),
    Scale("a meeting, Hypothetical Minds", "strategies", (10, 20, 40, 80), meeting),
    Scale("a step in a kitchen, late in an episode", "steps before", (10, 40, 160, 640), step_after),
)


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of three runs."""
    best = float("inf")
    for _ in range(3):
        gc.collect()
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def megabytes(work: Callable[[], object]) -> float:
    """The peak of what Python allocates on the way."""
    gc.collect()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def rows() -> Iterator[Row]:
    """Milliseconds and megabytes of each size, and how they grow: the exponent, or the factor for each one more."""
    for scale in shown(SCALES, len(SCALES), "Measuring"):
        found: dict[str, list[float]] = {"ms": [], "MB": []}
        scale.prepare(scale.sizes[0])()
        for size in scale.sizes:
            work = scale.prepare(size)
            found["ms"].append(1e3 * seconds(work))
            found["MB"].append(megabytes(work))
            for metric, values in found.items():
                yield summary_row(NAME, scale.title, str(size), metric, exact(values[-1], 3))
        for metric, values in found.items():
            sizes = np.array(scale.sizes, float)
            slope = float(np.polyfit(sizes if scale.exponential else np.log(sizes), np.log(values), 1)[0])
            growth = float(np.exp(slope)) if scale.exponential else slope
            yield summary_row(NAME, scale.title, "growth", metric, exact(growth, len(values)))


@styled
def picture(table: Sequence[Row]) -> Figure:
    """Milliseconds over sizes, on logarithmic axes, a panel for each scale, two in a row to be read on a telephone."""
    figure = Figure(figsize=(5.6, 9.4), layout="constrained")
    panels = figure.subplots(-(-len(SCALES) // 2), 2).ravel()
    values = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in table}
    for axes, scale in zip(panels, SCALES, strict=False):
        times = [values[scale.title, str(n), "ms"] for n in scale.sizes]
        draw, growth = axes.semilogy if scale.exponential else axes.loglog, values[scale.title, "growth", "ms"]
        draw(scale.sizes, times, "o-", color=BLUE, markersize=4)
        middle = float(np.sqrt(min(times) * max(times)))
        axes.set_ylim(
            min(middle / 4, min(times) / 1.3), max(middle * 4, max(times) * 1.3)
        )  # noise is not to look large
        axes.set_xticks(scale.sizes, [f"{n:,}" for n in scale.sizes])
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=5))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.minorticks_off()
        grows = f"× {growth:.1f} for each" if scale.exponential else f"exponent {growth:.1f}"
        axes.set_title(f"{scale.title}\n{grows}", fontsize=8)
        axes.set(xlabel=scale.grows, ylabel="ms")
    for axes in panels[len(SCALES) :]:
        axes.set_axis_off()
    return figure


def main() -> None:
    """Measure and print; write the figures and the picture if files are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    table = [{key: float(f"{v:.4g}") if isinstance(v, float) else v for key, v in row.items()} for row in rows()]
    lines = [json.dumps(row, separators=(",", ":")) for row in table]
    print(*lines, sep="\n")
    if options.json:
        options.json.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    if options.picture:
        picture(table).savefig(options.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()

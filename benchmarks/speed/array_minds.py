"""Time of an action with thousands of hypotheses as an array, and with an Observer of the same minds one by one.

    python -m benchmarks.speed.array_minds
    python -m benchmarks.speed.array_minds --goals 400     # single minds of the second part, each with a plan

Both watch the same walk in an open room. First 300 goals × 10 betas × 10 lapses, all of which the Observer watches;
then a goal in each cell of 100 × 100, of which it watches some, and its time is also multiplied to all of them. The
posteriors, of the minds that both have, are compared. Exits with 1 if an action takes the array more than 5 ms.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from benchmarks.speed.large_world import Cell, Room
from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.planning.array_minds import ArrayObserver, rational_minds
from otherminds.planning.rational import RationalAgent

MOST_MS = 5.0  # CPU time of an action with array minds
SAME = 1e-12  # probabilities that differ by less are the same
BETAS = tuple(np.geomspace(0.1, 10.0, 10).tolist())
LAPSES = tuple(np.linspace(0.0, 0.5, 11)[1:].tolist())
STEPS = 40


class Walked(NamedTuple):
    """The CPU time to begin, to watch each action, and to be asked for the goal after it; and the last observer."""

    setup_s: float
    watch_ms: Sequence[float]
    ask_ms: Sequence[float]
    observer: Any


def walk(side: int) -> list[tuple[str, Cell]]:
    """The cells of a walk from the middle of a room to its lower right, each with the action that led there."""
    rng, cells, actions = np.random.default_rng(0), [(side // 2, side // 2)], [""]
    for _ in range(STEPS):
        actions.append(str(rng.choice(["right", "down", "down", "up", "wait"])))
        cells.append(Room(side).moved(cells[-1], {"Mia": actions[-1]}))
    return list(zip(actions, cells, strict=True))


def watched(make: Callable[[], Any], side: int, steps: int) -> Walked:
    """Watch the first steps of the walk, and ask for the posterior of the goal after each of them."""
    way = walk(side)[: steps + 1]
    began = time.process_time()
    observer = make().see(way[0][1])
    observer.predict()
    instants = [time.process_time()]
    for action, cell in way[1:]:
        observer = observer.watch(action, cell)
        instants.append(time.process_time())
        posterior(observer)
        instants.append(time.process_time())
    times = 1e3 * np.diff(instants)
    return Walked(instants[0] - began, times[::2].tolist(), times[1::2].tolist(), observer)


def posterior(observer: Any) -> Categorical[Cell]:
    """P(goal | everything watched)."""
    question: Any = "goal" if isinstance(observer, ArrayObserver) else lambda mind: mind.goal
    return cast("Categorical[Cell]", observer.ask(question))


def report(name: str, minds: int, done: Walked, size: int) -> None:
    """Print what it took."""
    watch, ask = done.watch_ms, done.ask_ms
    print(
        f"{name}: {minds:,} minds, {size:,} states, {len(watch)} actions: {done.setup_s:.2f} s to begin; "
        f"an action {np.mean(watch):.2f} ms (at most {max(watch):.2f}), P(goal) {np.mean(ask):.2f} ms"
    )


class Measured(NamedTuple):
    """Mean milliseconds of an action with array minds, how many times an Observer takes that, and P(m) apart."""

    ms: float
    times: float
    apart: float

    @property
    def met(self) -> bool:
        """Whether it is fast enough, and the posterior the same."""
        return self.ms <= MOST_MS and self.apart < SAME


def settings(goals: int, side: int) -> Measured:
    """Goals × betas × lapses."""
    world, rng = Room(side), np.random.default_rng(1)
    wanted = [(int(k) % side, int(k) // side) for k in rng.choice(side * side, goals, replace=False)]
    minds = rational_minds(world, "Mia", wanted, BETAS, LAPSES)
    array = watched(lambda: ArrayObserver.over(minds), side, STEPS)
    count = goals * len(BETAS) * len(LAPSES)
    report("array", count, array, side * side)
    agents = (RationalAgent(world, "Mia", goal, b, lapse=p) for goal, b, p in product(wanted, BETAS, LAPSES))
    steps = 4
    single = watched(lambda: Observer.over(agents), side, steps)
    report("Observer", count, single, side * side)
    early = watched(lambda: ArrayObserver.over(minds), side, steps)
    weights = np.exp(np.array(single.observer.weights))
    apart = float(np.abs(early.observer.shares.ravel() - weights / weights.sum()).max())
    times = float(np.mean(single.watch_ms) / np.mean(array.watch_ms))
    print(f"{times:.0f}× as fast; the posteriors differ by at most {apart:.0e}")
    return Measured(float(np.mean(array.watch_ms)), times, apart)


def cells(goals: int, side: int) -> Measured:
    """A goal in each cell."""
    world = Room(side)
    wanted = list(product(range(side), repeat=2))
    array = watched(
        lambda: ArrayObserver.over(rational_minds(world, "Mia", {cell: [cell] for cell in wanted}, [1.0], [0.02])),
        side, STEPS,
    )  # fmt: skip
    report("array", len(wanted), array, side * side)
    some = [wanted[int(k)] for k in np.random.default_rng(1).choice(len(wanted), goals, replace=False)]
    single = watched(
        lambda: Observer.over(RationalAgent(world, "Mia", cell, 1.0, lapse=0.02) for cell in some), side, STEPS
    )
    report("Observer", goals, single, side * side)
    scale = len(wanted) / goals
    left = array.observer.condition("goal", set(some).__contains__)
    apart = max(abs(posterior(left).prob(cell) - p) for cell, p in posterior(single.observer))
    times = float(np.mean(single.watch_ms) * scale / np.mean(array.watch_ms))
    print(
        f"{times:.0f}× as fast as {scale:g} times the Observer's time ({scale * single.setup_s:.0f} s to begin); "
        f"the posteriors differ by at most {apart:.0e}"
    )
    return Measured(float(np.mean(array.watch_ms)), times, apart)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goals", type=int, default=100, help="goals of the second part that the Observer watches")
    options = parser.parse_args()
    met = [settings(300, 40), cells(options.goals, 100)]
    sys.exit(0 if all(measured.met for measured in met) else 1)


if __name__ == "__main__":
    main()

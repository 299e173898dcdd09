"""Speed-up of two workers on every engine, over one worker of that engine and over no engine.

    python -m benchmarks.speed.engines

Episodes that sleep show the overhead of engines even on a busy machine. Episodes that compute show the real speed-up,
but need two idle processors. Exits with 1 if a floor is missed: 1.8 times one worker for processes at
10 ms, 1.7 for clusters at 100 ms, where episodes sleep.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.keeping import keep, option
from otherminds.errors import InputError
from otherminds.evaluation.engines import Engine, opened, run

ROUNDS = 2
FLOORS = {("processes", "sleep 10 ms"): 1.8, ("ray", "sleep 100 ms"): 1.7, ("dask", "sleep 100 ms"): 1.7}
COUNTS = {1: 500, 10: 80, 100: 12}
LENGTHS = {"processes": (1, 10), "ray": (10, 100), "dask": (10, 100)}
NULLS, MANY = 200, 20_000


class Times(NamedTuple):
    """Seconds of an engine: until its first result, for an empty task by itself and in a chunk, and for every work."""

    start: float
    null: float
    chunked: float
    works: dict[str, float]


def loop(turns: int) -> int:
    """Real work."""
    found = 0
    for turn in range(turns):
        found ^= turn * turn
    return found


def turns(ms: int) -> int:
    """How many turns of the loop take so many milliseconds of a processor of this machine."""
    best = float("inf")
    for _ in range(20):
        began = time.process_time()
        loop(20_000)
        best = min(best, time.process_time() - began)
    return int(20_000 * ms / 1000 / best)


def wall(engine: Engine, task: Callable[[int | float], object], plan: Sequence[int | float], seconds: float) -> float:
    """The seconds that a plan takes."""
    began = time.perf_counter()
    assert sum(len(chunk) for chunk in run(task, plan, engine=engine, seconds=seconds)) == len(plan)
    return time.perf_counter() - began


def measure(name: str | None, jobs: int, works: dict[str, tuple[Callable[..., object], list[int | float]]]) -> Times:
    """An engine with so many workers; of a few rounds the best counts, as others only ever take time away."""
    began = time.perf_counter()
    with opened(name, jobs) as engine:
        wall(engine, abs, range(1), 0.0)
        start = time.perf_counter() - began
        wall(engine, abs, range(NULLS), 0.0)  # all workers are there by now
        null = min(wall(engine, abs, range(NULLS), 0.0) for _ in range(ROUNDS)) / NULLS
        chunked = min(wall(engine, abs, range(MANY), 0.1) for _ in range(ROUNDS)) / MANY
        best = {what: min(wall(engine, *work, 0.1) for _ in range(ROUNDS)) for what, work in works.items()}
        return Times(start, null, chunked, best)


def report(name: str, two: Times, one: Times, here: Times) -> bool:
    """Print the lines of an engine; says whether it holds its floors."""
    held = True
    for what, seconds in two.works.items():
        gain, floor = one.works[what] / seconds, FLOORS.get((name, what))
        held &= floor is None or gain >= floor
        verdict = "" if floor is None else f"≥ {floor}: {'met' if gain >= floor else 'MISSED'}"
        print(f"{name:10} {what:13} {gain:11.2f} × {here.works[what] / seconds:11.2f} ×   {verdict}")
    costs = f"start {two.start:.2f} s, empty task {1e6 * two.null:,.0f} µs alone, {1e6 * two.chunked:.1f} µs in chunks"
    print(f"{name:10} {costs}")
    return held


def kept(name: str, two: Times, one: Times) -> dict[tuple[str, str], float]:
    """What two workers bring, and what the engine costs."""
    found = {(name, what): one.works[what] / seconds for what, seconds in two.works.items()}
    costs = {"start, s": two.start, "alone, ms": 1e3 * two.null, "in chunks, µs": 1e6 * two.chunked}
    return found | {(name, what): cost for what, cost in costs.items()}


def main() -> None:
    """Measure, print one table, and exit with 1 if a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option(parser)
    chosen = parser.parse_args()
    units = {ms: turns(ms) for ms in COUNTS}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{os.cpu_count()} processors, load {load:.1f}; best of {ROUNDS} rounds")
    print(f"{'engine':10} {'episodes':13} {'/ one worker':>13} {'/ no engine':>13}   floor")
    held = True
    for name, lengths in LENGTHS.items():
        works: dict[str, tuple[Callable[..., object], list[int | float]]] = {}
        works |= {f"sleep {ms} ms": (time.sleep, [ms / 1000] * COUNTS[ms]) for ms in lengths}
        works |= {f"compute {ms} ms": (loop, [units[ms]] * COUNTS[ms]) for ms in lengths}
        try:
            one, two = (measure(name, jobs, works) for jobs in (1, 2))
        except InputError as error:
            print(f"{name:10} not measured: {error}")
            continue
        held &= report(name, two, one, measure(None, 1, works))
        keep(chosen.json, "engines", kept(name, two, one))
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()

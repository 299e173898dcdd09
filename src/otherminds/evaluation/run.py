"""Running many episodes: each is a pure function of its plan entry, so the engine does not matter."""

from __future__ import annotations

import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation.engines import SERIAL, Engine

P = TypeVar("P")
R = TypeVar("R")
AHEAD = 2
"""Chunks for every worker: one that it does, and one that waits, so that it need not."""
SECONDS = 0.1
GROWTH = 4
"""A chunk may be so many times larger than any that has been measured."""


def stream(seed: int, *names: str) -> np.random.Generator:
    """An independent random stream for anything that has a name; adding names never shifts other streams."""
    return np.random.default_rng(np.random.SeedSequence([seed, *(zlib.crc32(name.encode()) for name in names)]))


def run(
    task: Callable[[P], R], plan: Sequence[P], *, engine: Engine = SERIAL, seconds: float = SECONDS
) -> Iterator[list[tuple[P, R]]]:
    """Every entry of the plan with its result, in chunks of about so many seconds, in the order in which they end.

    What a task raises is raised here, after what was done before it in its chunk; what is queued is then given up.
    Raises InputError if a worker was lost.
    """
    for start, results in _played(task, plan, engine, seconds):
        yield list(zip(plan[start : start + len(results)], results, strict=True))


def in_order(task: Callable[[P], R], plan: Sequence[P], *, engine: Engine = SERIAL) -> Iterator[R]:
    """The results of all plan entries in their order, each as soon as it and all before it are there, as by `run`."""
    early: dict[int, list[R]] = {}
    reached = 0
    for start, results in _played(task, plan, engine, SECONDS if engine.executor else 0.0):
        early[start] = results
        while reached in early:
            ready = early.pop(reached)
            reached += len(ready)
            yield from ready


def _played(task: Callable[[P], R], plan: Sequence[P], engine: Engine, seconds: float) -> Iterator[tuple[int, list[R]]]:
    """Where in the plan chunks begin, and their results."""
    if engine.executor is None:
        return _in_turn(task, plan, seconds)
    return _spread(task, plan, engine, engine.executor, Pace(seconds, engine.workers))


def _in_turn(task: Callable[[P], R], plan: Sequence[P], seconds: float) -> Iterator[tuple[int, list[R]]]:
    start, results, began = 0, list[R](), time.monotonic()
    for entry in plan:
        try:
            results.append(task(entry))
        except Exception:
            if results:
                yield start, results
            raise
        if time.monotonic() - began >= seconds:
            yield start, results
            start, results, began = start + len(results), [], time.monotonic()
    if results:
        yield start, results


def _spread(
    task: Callable[[P], R], plan: Sequence[P], engine: Engine, executor: Executor, pace: Pace
) -> Iterator[tuple[int, list[R]]]:
    """Keep every worker busy with chunks; only a few are under way, so that nobody waits long for what was given up."""
    ended: SimpleQueue[Future[Played[R]]] = SimpleQueue()
    under_way: dict[Future[Played[R]], int] = {}
    begun = 0

    def begin() -> None:
        nonlocal begun
        while begun < len(plan) and len(under_way) < AHEAD * engine.workers:
            entries = plan[begun : begun + pace.size(len(plan) - begun)]
            future = executor.submit(play, task, entries)
            under_way[future], begun = begun, begun + len(entries)
            future.add_done_callback(ended.put)

    try:
        begin()
        while under_way:
            future = ended.get()
            start, played = under_way.pop(future), future.result()
            pace.learn(len(played.results), played.seconds)
            if played.error is None:
                begin()
            if played.results:
                yield start, played.results
            if played.error is not None:
                raise played.error
    except engine.lost as error:
        raise InputError("a worker was lost: has it run out of memory?", hint="what is done is kept") from error
    finally:
        for future in under_way:
            future.cancel()


@dataclass
class Pace:
    """How many entries make a chunk of about so many seconds, by how long those before it took."""

    seconds: float
    workers: int
    each: float = 0.0
    largest: int = 0

    def size(self, left: int) -> int:
        """How many of those that are left; never so many that some workers would wait for others at the end."""
        shared = left / (AHEAD * self.workers)
        wanted = self.seconds / self.each if self.each else shared
        return max(1, int(min(wanted, shared, GROWTH * self.largest)))

    def learn(self, count: int, seconds: float) -> None:
        """So many took so long: what came before counts half, as the first may have had much to prepare."""
        each = seconds / max(1, count)
        self.each = (self.each + each) / 2 if self.largest else each
        self.largest = max(self.largest, count)


class Played(NamedTuple, Generic[R]):
    """What came of a chunk: results up to the first entry that went wrong, and how that did."""

    results: list[R]
    seconds: float
    error: Exception | None = None


def play(task: Callable[[P], R], entries: Sequence[P]) -> Played[R]:
    """What a worker does with a chunk."""
    results, began = list[R](), time.perf_counter()
    try:
        for entry in entries:
            results.append(task(entry))
    except Exception as error:
        return Played(results, time.perf_counter() - began, _movable(error))
    return Played(results, time.perf_counter() - began)


def _movable(error: Exception) -> Exception:
    """An error as it can reach another process, with where it was raised."""
    try:
        found = type(error)(*error.args)  # as it is made again there; not all can be
        vars(found).update(vars(error))
    except Exception:
        found = RuntimeError(f"{type(error).__name__}: {error}")
    found.add_note("".join(traceback.format_exception(error)))
    return found

"""Random streams that have names, and plans that give the same results on any engine, in chunks by time."""

from __future__ import annotations

import math
import operator
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.evaluation.engines import (
    AHEAD,
    GROWTH,
    SERIAL,
    ChunkResult,
    Engine,
    _play_chunk,
    in_order,
    opened,
    run,
    stream,
)

NAMES = ("people", "oracle", "protom")


def draws(seed: int, *names: str) -> list[float]:
    rng = stream(seed, *names)
    return [rng.random() for _ in range(8)]


def test_the_same_name_gives_the_same_stream() -> None:
    assert draws(42, "people", "locked-in") == draws(42, "people", "locked-in")


def test_different_names_give_different_streams() -> None:
    paths = [(), ("a",), ("b",), ("a", "b"), ("b", "a"), ("ab",)]
    streams = [draws(seed, *path) for seed in (1, 2) for path in paths]
    assert len({number for numbers in streams for number in numbers}) == 8 * len(streams)


def test_streams_are_uncorrelated() -> None:
    one, two = (stream(42, name).normal(size=10_000) for name in ("people", "protom"))
    assert abs((one * two).mean()) < 4 / math.sqrt(10_000)


def test_streams_do_not_change_from_release_to_release() -> None:
    words = stream(42, "people", "locked-in").bit_generator.random_raw(2)
    assert words.tolist() == [3484415193418194809, 1887080689928175742]


@pytest.fixture(params=["here", "threads", "processes"], scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "threads":
        with ThreadPoolExecutor(2) as executor:
            yield Engine(executor, 2)
    else:
        with opened(None, 1 if request.param == "here" else 2) as found:
            yield found


def test_another_name_in_the_plan_shifts_no_other_stream(engine: Engine) -> None:
    alone = dict(zip(NAMES, in_order(partial(stream, 42), NAMES), strict=True))
    among = dict(run_all(partial(stream, 42), ("new", *NAMES), engine))
    assert {name: among[name].random() for name in NAMES} == {name: alone[name].random() for name in NAMES}


def run_all(task: Callable[[Any], Any], plan: Sequence[Any], engine: Engine, **more: Any) -> list[tuple[Any, Any]]:
    return [pair for chunk in run(task, plan, engine=engine, **more) for pair in chunk]


def test_results_come_in_the_order_of_the_plan_whoever_is_ready_first(engine: Engine) -> None:
    plan = [3_000_000, *range(40)]  # the first takes longest
    expected = [(1 << n).bit_length() for n in plan]
    assert [n.bit_length() for n in in_order(partial(operator.lshift, 1), plan, engine=engine)] == expected


def test_who_is_ready_first_is_told_first() -> None:
    with ThreadPoolExecutor(2) as executor:
        entries = [entry for entry, _ in run_all(time.sleep, [0.5, *[0.001] * 40], Engine(executor, 2))]
    assert len(entries) == 41
    assert entries.index(0.5) > 1


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([0.0, 0.0002, 0.001, 0.004]), max_size=60),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.001, 0.01, 1.0]),
)
@settings(max_examples=30, deadline=None)
def test_every_entry_is_played_exactly_once(plan: list[float], workers: int, seconds: float) -> None:
    played: list[float] = []

    def task(entry: float) -> float:
        played.append(entry)
        time.sleep(entry)
        return -entry

    expected = Counter((entry, -entry) for entry in plan)
    with ThreadPoolExecutor(workers) as executor:
        for engine in (SERIAL, Engine(executor, workers)):
            played.clear()
            assert Counter(run_all(task, plan, engine, seconds=seconds)) == expected
            assert Counter(played) == Counter(plan)
            assert list(in_order(task, plan, engine=engine)) == [-entry for entry in plan]


def test_here_results_are_there_as_soon_as_they_are_ready() -> None:
    played: list[int] = []
    results = in_order(played.append, [1, 2, 3])
    next(results)
    assert played == [1]


def test_what_goes_wrong_in_an_episode_is_not_hidden_nor_what_was_done_before(engine: Engine) -> None:
    chunks = run(math.sqrt, [*[4.0] * 50, -1.0, *[9.0] * 50], engine=engine, seconds=60.0)
    done: list[tuple[float, float]] = []
    with pytest.raises(ValueError, match=r"math domain error|nonnegative") as caught:
        done.extend(pair for chunk in chunks for pair in chunk)
    assert done.count((4.0, 2.0)) == 50
    assert engine is SERIAL or "math" in "".join(caught.value.__notes__)
    assert run_all(math.sqrt, [1.0], engine) == [(1.0, 1.0)]  # the engine is as good as before


class OddError(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def test_what_no_other_process_could_read_is_told_in_words() -> None:
    def odd(entry: int) -> int:
        raise OddError("o", "dd")

    error = _play_chunk(odd, [1]).error
    assert (type(error), str(error)) == (RuntimeError, "OddError: odd")


def test_an_empty_plan_has_no_results(engine: Engine) -> None:
    assert list(run(math.sqrt, [], engine=engine)) == []
    assert list(in_order(math.sqrt, [], engine=engine)) == []


class Clock:
    """Time that passes only when an episode is played."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    monotonic = perf_counter

    def play(self, seconds: float) -> float:
        self.now += seconds
        return seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("otherminds.evaluation.engines.time", found)
    return found


class Lazy(Executor):
    """It does what was submitted first when it is told to, or `at_once`."""

    def __init__(self, at_once: bool = False) -> None:
        self.at_once = at_once
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.futures.append(Future())
        self.waiting.append((self.futures[-1], partial(fn, *args)))
        if self.at_once:
            self.do()
        return self.futures[-1]

    def do(self) -> None:
        future, call = self.waiting.pop(0)
        future.set_result(call())


def sizes(clock: Clock, plan: Sequence[float], workers: int) -> list[int]:
    return [len(chunk) for chunk in run(clock.play, plan, engine=Engine(Lazy(at_once=True), workers))]


def test_chunks_grow_until_they_take_so_many_seconds(clock: Clock) -> None:
    found = sizes(clock, [0.001] * 20_000, workers=2)
    assert found[:4] == [1] * 4
    assert all(later <= GROWTH * max(found[: k + 1]) for k, later in enumerate(found[1:]))
    assert 99 <= max(found[:20]) <= max(found) <= 101
    assert sum(found) == 20_000
    assert len(found) < 235


def test_chunks_shrink_where_episodes_take_longer(clock: Clock) -> None:
    plan = [0.001] * 5_000 + [0.02] * 1_000
    chunks = list(run(clock.play, plan, engine=Engine(Lazy(at_once=True), 1)))
    slow = [len(chunk) for chunk in chunks if chunk[0][0] == 0.02]
    assert slow.count(5) > 150
    assert max(slow[4:]) <= 7


def test_one_slow_start_is_soon_forgotten(clock: Clock) -> None:
    found = sizes(clock, [5.0, *[0.001] * 5_000], workers=1)
    assert 90 <= max(found[:20]) <= 101


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_at_the_end_nobody_waits_long_for_others(clock: Clock, workers: int) -> None:
    found = sizes(clock, [0.0001] * 5_000, workers)
    left = 5_000
    for size in found:
        assert size <= max(1, left / (AHEAD * workers))
        left -= size
    assert found[-1] == 1


def test_long_episodes_are_told_one_by_one(clock: Clock) -> None:
    assert sizes(clock, [3.0] * 20, workers=2) == [1] * 20
    assert [len(chunk) for chunk in run(clock.play, [3.0] * 5)] == [1] * 5


def test_here_a_chunk_ends_when_so_many_seconds_have_passed(clock: Clock) -> None:
    plan = [0.25, 0.25, 0.25, 0.25, 5.0, 0.25, 0.25]
    assert [len(chunk) for chunk in run(clock.play, plan, seconds=0.5)] == [2, 2, 1, 2]


@pytest.mark.parametrize("workers", [1, 3])
def test_only_a_few_chunks_are_under_way_whatever_the_consumer_does(workers: int) -> None:
    executor = Lazy(at_once=True)
    for taken, _ in enumerate(run(abs, range(10**12), engine=Engine(executor, workers), seconds=0.0), start=1):
        assert len(executor.futures) - taken == AHEAD * workers
        if taken == 50:
            break


def test_workers_go_on_while_the_consumer_is_busy() -> None:
    executor = Lazy()
    chunks = run(abs, range(100), engine=Engine(executor, 1))
    executor.submit(print)  # so that the first look does not wait
    executor.waiting.clear()
    with ThreadPoolExecutor(1) as consumer:
        first = consumer.submit(next, chunks)
        while not executor.waiting:
            time.sleep(0.001)
        executor.do()
        first.result()
    assert len(executor.waiting) == AHEAD


@pytest.mark.slow
@pytest.mark.parametrize("how", ["error", "close"])
def test_what_is_queued_is_given_up_with_the_rest(how: str) -> None:
    executor = Lazy()
    chunks = run(abs, range(100), engine=Engine(executor, 2))
    with ThreadPoolExecutor(1) as consumer:
        first = consumer.submit(next, chunks)
        while len(executor.futures) < 4:
            time.sleep(0.001)
        error = OSError() if how == "error" else None
        executor.futures[0].set_result(ChunkResult([0], 0.1, error))
        assert first.result() == [(0, 0)]
    if how == "error":
        with pytest.raises(OSError):
            next(chunks)
    else:
        chunks.close()  # type: ignore[attr-defined]
    assert all(future.cancelled() for future in executor.futures[1:])
    assert len(executor.futures) == (4 if how == "error" else 5)

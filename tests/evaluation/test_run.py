"""Random streams that have names, and plans that give the same results on any number of processes."""

from __future__ import annotations

import math
import operator
import time
from functools import partial

import pytest

from otherminds.evaluation.run import run, stream

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


@pytest.mark.parametrize("jobs", [1, 2])
def test_another_name_in_the_plan_shifts_no_other_stream(jobs: int) -> None:
    alone = dict(zip(NAMES, run(partial(stream, 42), NAMES, jobs=1), strict=True))
    among = dict(zip(("new", *NAMES), run(partial(stream, 42), ("new", *NAMES), jobs=jobs), strict=True))
    assert {name: among[name].random() for name in NAMES} == {name: alone[name].random() for name in NAMES}


def test_results_come_in_the_order_of_the_plan_whoever_is_ready_first() -> None:
    plan = [3_000_000, *range(40)]  # the first takes longest
    expected = [(1 << n).bit_length() for n in plan]
    task = partial(operator.lshift, 1)
    for jobs in (1, 2):
        assert [n.bit_length() for n in run(task, plan, jobs=jobs, chunk=1)] == expected


def test_on_one_process_results_are_there_as_soon_as_they_are_ready() -> None:
    played: list[int] = []
    results = run(played.append, [1, 2, 3])
    next(results)
    assert played == [1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_goes_wrong_in_an_episode_is_not_hidden(jobs: int) -> None:
    results = run(math.sqrt, [4.0, -1.0], jobs=jobs, chunk=1)
    assert next(results) == 2.0
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        next(results)


def test_a_plan_that_is_given_up_is_not_played_to_its_end() -> None:
    results = run(time.sleep, [0.01] * 2000, jobs=2, chunk=1)
    next(results)
    began = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 5.0


def test_an_empty_plan_has_no_results() -> None:
    assert list(run(math.sqrt, [], jobs=2)) == []

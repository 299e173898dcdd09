"""Engines by their names: the same results on all of them, and no process that stays behind or dies unnoticed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from otherminds.errors import InputError
from otherminds.evaluation.engines import SERIAL, Engine, in_order, opened, run
from otherminds.papers.functional import experiment as functional

SUBJECTS = ("rmax", "tft", "fictitious_play", "rmax_exact_ties")


@cache
def episodes() -> Sequence[functional.GameEntry]:
    """Some that are played quickly."""
    plan = functional.plan("quick", 42, "")
    return [entry for entry in plan if entry.subject in SUBJECTS and entry.condition in functional.CELLS][::12]


def told(engine: Engine) -> list[str]:
    """What is played, by its rows: where there are nan, words are compared."""
    return [repr(rows) for rows in in_order(functional.rows, episodes(), engine=engine)]


@pytest.fixture(scope="module")
def expected() -> list[str]:
    return [repr(functional.rows(entry)) for entry in episodes()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "jobs"), [(None, 1), ("serial", 1), ("processes", 2)])
def test_results_are_the_same_on_any_engine(name: str | None, jobs: int, expected: list[str]) -> None:
    with opened(name, jobs) as engine:
        assert engine.workers == jobs
        assert (engine is SERIAL) == (name in (None, "serial") and jobs == 1)
        assert len(expected) > 30
        assert told(engine) == expected


@pytest.mark.slow
def test_any_executor_is_an_engine(expected: list[str]) -> None:
    with ThreadPoolExecutor(2) as executor:
        assert told(Engine(executor, 2)) == expected


@pytest.mark.parametrize("name", ["", "slurm", "serial=x", "processes=", "ray=", "dask=", "Ray", "=ray"])
def test_an_engine_that_there_is_not(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"no engine `{name}` (serial, processes, ray, ")):
        opened(name, 1)


def test_serial_is_one_at_a_time() -> None:
    with pytest.raises(InputError, match=r"one job at a time, not 3 \(--engine processes\)"):
        opened("serial", 3)


@pytest.mark.parametrize(("name", "package"), [("ray", "ray"), ("dask", "distributed"), ("ray=here:1", "ray")])
def test_clusters_are_extras(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"needs an extra \(.*pip install -e '\.\[(ray|dask)\]'\)"), opened(name, 2):
        pass


def test_an_open_engine_stays_open() -> None:
    with opened(None, 2) as engine:
        for _ in range(2):
            with opened(engine) as again:
                assert again is engine
            assert next(run(abs, [-1], engine=engine)) == [(-1, 1)]


@pytest.mark.slow
def test_an_engine_runs_one_plan_after_another_and_ends_at_once() -> None:
    with opened(None, 2) as engine:
        for _ in range(2):
            next(run(time.sleep, [0.001] * 1000, engine=engine))
        began = time.monotonic()
        next(run(time.sleep, [*[0.001] * 4, *[60.0] * 100], engine=engine))
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_a_worker_that_is_lost_is_told_in_one_line() -> None:
    done: list[tuple[int, None]] = []
    with (
        pytest.raises(InputError, match=r"worker died.*memory") as caught,
        opened(None, 2) as e,
    ):
        done.extend(pair for chunk in run(signal.raise_signal, [*[0] * 20, 9, *[0] * 20], engine=e) for pair in chunk)
    assert "\n" not in str(caught.value)
    assert {entry for entry, _ in done} == {0}


PROGRAM = """
import time
from otherminds.evaluation.engines import opened
from otherminds.evaluation.engines import run
if __name__ == "__main__":
    with opened(None, 2) as engine:
        print("open", flush=True)
        for chunk in run(time.sleep, [0.05, 0.05, *[60.0] * 100], engine=engine):
            print(len(chunk), flush=True)
"""


def start() -> subprocess.Popen[str]:
    """A program that has begun to play for long, in a process group of its own."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PROGRAM]
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 0.2, 1.0])
def test_interrupted_from_the_keyboard_only_the_program_says_so(after: float) -> None:
    with start() as process:
        time.sleep(after)  # before, while, or after the workers begin
        os.killpg(process.pid, signal.SIGINT)  # to all processes of the group, as a terminal does
        _, err = process.communicate(timeout=20)
    assert err.count("Traceback") == err.count("KeyboardInterrupt") == 1
    assert process.returncode == -signal.SIGINT
    assert ended(process.pid)


@pytest.mark.slow
def test_workers_end_with_a_program_that_is_killed() -> None:
    with start() as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        process.kill()
        process.wait()
        assert ended(process.pid)


def ended(group: int) -> bool:
    """Whether a group of processes is soon no longer there."""
    for _ in range(400):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False

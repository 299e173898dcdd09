"""Ray and Dask as engines, where they are installed: clusters that are begun here, or are there already."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from otherminds.errors import InputError
from otherminds.evaluation import engines as clusters
from otherminds.evaluation.engines import Engine, in_order, opened, run
from otherminds.papers.functional import experiment as functional

PACKAGES = {"ray": "ray", "dask": "distributed"}


@pytest.fixture(params=PACKAGES, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    """An engine whose package is installed."""
    pytest.importorskip(PACKAGES[request.param])
    return str(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["127.0.0.1:1", "nowhere", "127.0.0.1:70000", "http://127.0.0.1:1"])
def test_a_cluster_that_does_not_answer(name: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    with pytest.raises(InputError, match=f"cluster answers at {where}"), opened(f"{name}={where}", 1):
        pass


@pytest.fixture(scope="module")
def engine(name: str) -> Iterator[Engine]:
    with opened(name, 2) as found:
        yield found


@pytest.mark.slow
def test_results_are_the_same_as_here(engine: Engine) -> None:
    plan = [entry for entry in functional.plan("quick", 42, "") if entry.subject in ("rmax", "tft")][::80]
    assert engine.workers == 2
    assert len(plan) > 5
    expected = [repr(functional.rows(entry)) for entry in plan]
    assert [repr(rows) for rows in in_order(functional.rows, plan, engine=engine)] == expected


@pytest.mark.slow
def test_what_goes_wrong_in_an_episode_is_not_hidden(engine: Engine) -> None:
    done: list[tuple[float, float]] = []
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        done.extend(pair for chunk in run(math.sqrt, [*[4.0] * 9, -1.0], engine=engine) for pair in chunk)
    assert (4.0, 2.0) in done


def test_what_is_given_up_is_not_waited_for(engine: Engine) -> None:
    began = time.monotonic()
    chunks = run(time.sleep, [*[0.2] * 3, *[0.5] * 1000], engine=engine)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]
    assert list(in_order(abs, [-1, 1], engine=engine)) == [1, 1]
    assert time.monotonic() - began < 60


@pytest.mark.slow
def test_the_same_entry_twice_is_played_twice(engine: Engine) -> None:
    began = time.monotonic()
    assert len(list(in_order(time.sleep, [0.2] * 10, engine=engine))) == 10
    assert time.monotonic() - began > 0.9


ELSEWHERE = """
import sys
from otherminds.evaluation import engines as clusters
from otherminds.evaluation.engines import opened
from otherminds.evaluation.engines import in_order
if __name__ == "__main__":
    with opened(sys.argv[1], 1) as engine:
        print(engine.workers, *in_order(abs, [-1, -2, 3], engine=engine))
"""


@pytest.mark.slow
def test_a_cluster_that_is_there_already_is_used_and_left_alone(name: str, engine: Engine) -> None:
    command = [sys.executable, "-c", ELSEWHERE, f"{name}={address(name)}"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (found.stdout, found.stderr) == ("2 1 2 3\n", "")
    assert list(in_order(abs, [-1], engine=engine)) == [1]


def address(name: str) -> str:
    """Where the cluster is that was begun here."""
    package = pytest.importorskip(PACKAGES[name])
    if name == "ray":
        return str(package.get_runtime_context().gcs_address)
    return str(package.default_client().scheduler.address)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ray"], indirect=True, scope="module")
def test_a_program_has_one_ray_cluster_at_a_time(engine: Engine) -> None:
    with opened("ray", 3) as second:
        assert second.workers == 2
        with pytest.raises(InputError, match="already"), opened("ray=127.0.0.1:1", 1):
            pass
    assert list(in_order(abs, [-1], engine=engine)) == [1]

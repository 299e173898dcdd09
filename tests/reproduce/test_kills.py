"""An experiment that is killed again and again, and resumed, ends as if it had never been stopped."""

from __future__ import annotations

import signal
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from commands import Run
from endpoint_server import Fault, Heard, serve
from killing import AT_ONCE, COMMAND, Killing, kill_and_resume, planned, provider, results
from otherminds.evaluation.runs import look

SIZE = ("--game", "rps", "--rounds", "14", "--passes", "3")
KILLS = Counter(anywhere=1, calling=1, reporting=1)


@pytest.mark.slow
def test_killed_and_resumed_is_as_good_as_never_stopped(tmp_path: Path, run: Run) -> None:
    with serve(provider()) as calm:
        never = Killing(calm, tmp_path / "never", SIZE)
        assert run(*never.command()[len(COMMAND) :]).code == 1
        assert never.check_served(0) == {"calls": len(calm.heard), "repeated": 0, "uncertain": 0}
    with serve(provider()) as server:
        killed = kill_and_resume(server, tmp_path / "killed", SIZE, KILLS, most=10, seed=20)
        assert killed.killed == KILLS
        found = killed.check_served(KILLS.total())
    assert found["calls"] == len(calm.heard)
    assert found["uncertain"] >= KILLS["calling"]
    episodes, finished = planned(killed.folder)
    assert episodes == finished == planned(never.folder)[0]
    assert results(killed.folder) == results(never.folder)


@pytest.mark.slow
def test_who_interrupts_need_not_wait_for_answers_and_hears_what_was_spent(tmp_path: Path) -> None:
    served = count()

    def hang(_heard: Heard) -> Fault | None:
        return Fault(kind="hang") if next(served) >= 40 else None

    with serve(provider(), fault=hang) as server:
        run = Killing(server, tmp_path / "run", SIZE)
        with run.start() as program:
            while len(server.heard) < 40 + AT_ONCE:  # so many are asked at once, and none is answered
                time.sleep(0.01)
            began = time.monotonic()
            program.send_signal(signal.SIGINT)
            _, said = program.communicate()
    assert time.monotonic() - began < 5.0
    assert program.returncode == 3
    *_ahead, spent, interrupted = said.decode().splitlines()
    assert "40 calls made" in spent
    assert "$" in spent
    assert interrupted.startswith("otherminds: interrupted; `otherminds resume")
    assert len(look(tmp_path / "run").uncertain) == AT_ONCE

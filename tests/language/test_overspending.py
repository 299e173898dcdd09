"""A budget is exceeded by one bill at the most, whatever a server bills, and the run says why it stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.attacks.overspending import TOLD, UNTOLD, runs

RUNS = 32


@pytest.mark.slow
def test_a_budget_is_exceeded_by_one_bill_at_the_most_and_the_run_says_why(tmp_path: Path) -> None:
    servers = runs(RUNS, tmp_path)
    assert sum(server.deaths for server in servers) > RUNS / 16
    assert sum(server.most_at_once > 1 for server in servers) > RUNS / 8
    assert {way for server in servers for way in server.ways} == {*TOLD, *UNTOLD, "late"}

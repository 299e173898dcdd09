"""The answers to the exercises of the seminar, each computed with the library and once more by hand."""

from __future__ import annotations

import math
import runpy
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import otherminds as om
from paths import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    plt.close("all")


def classic(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All that a classic defines."""
    monkeypatch.setattr(sys, "argv", [name, str(folder)])
    return runpy.run_path(str(ROOT / "examples" / "classics" / f"{name}.py"))


def test_sally_may_have_peeped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    believed_place = classic("sally_anne", tmp_path, monkeypatch)["believed_place"]
    looks = om.Categorical.of({"nothing": 0.8, "it move": 0.2}).bind(believed_place)
    assert looks["box"] == pytest.approx(0.8 * 0.99 + 0.2 * 0.0)


def test_going_back_tells_least() -> None:
    """Going down undoes the only step there was: nothing is known then."""
    world = om.find_level("pass-it-on").world
    planner, stay = om.DoorsKeysGemsPlanner(world), world.vocabulary["stay"]
    ana = om.Observer.over(om.Seeker(planner, 0, om.Goal("gem", gem)) for gem in range(4)).see(world.initial)
    up = world.vocabulary["up"]
    state = world.step(world.initial, {"Ana": up, "Ben": stay})
    ana = ana.watch(up, state)
    unsure = {
        world.spell(way): ana.watch(way, world.step(state, {"Ana": way, "Ben": stay})).ask(lambda mind: mind.goal)
        for way in world.actions(state, "Ana")
    }
    assert max(unsure, key=lambda way: unsure[way].entropy) == "down"
    assert unsure["down"].entropy == pytest.approx(math.log(4), abs=0.01)


def test_some_hardly_ever_means_all_from_six_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = classic("scalar_implicature", tmp_path, monkeypatch)["listener"]
    p_all = {}
    for alpha in range(1, 8):
        monkeypatch.setitem(listener.__globals__, "ALPHA", float(alpha))
        p_all[alpha] = listener("some")[3]
        says_some = 3.0**-alpha / (3.0**-alpha + 1.0)  # of a speaker who sees three of three
        assert p_all[alpha] == pytest.approx(says_some / (2.0 + says_some))
    assert min(alpha for alpha, p in p_all.items() if p < 0.001) == 6


def test_alice_thinks_eight_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = classic("schelling", tmp_path, monkeypatch)["alice"]
    assert min(depth for depth in range(1, 20) if alice(depth)["Alibi"] >= 0.95) == 8
    odds = (0.55 / 0.45) ** np.arange(1, 20)  # each follows the other twice a depth, after the popularity itself
    assert [alice(depth)["Alibi"] for depth in range(1, 9)] == pytest.approx([o / (1 + o) for o in odds[1::2][:8]])


def test_defection_loses_what_the_myopic_player_loses() -> None:
    game = om.find_game("ipd")
    task = om.Task(game, om.partner("tft", game), 100)
    earned = {}
    for name in ("always-defect", "counts_myopic"):
        rng = np.random.default_rng(1)
        earned[name] = sum(row["reward"] for row in om.play(task, om.player(name, game, horizon=100, rng=rng), rng=rng))
    assert earned["always-defect"] == 10 + 99 * 5
    assert task.optimum == 99 * 8 + 10
    for total in earned.values():
        assert (task.optimum - total) / 100 == pytest.approx(2.97)

import importlib.util
import os
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benchmarks.evidence.melting_pot_engine import FOLDER, SUBSTRATES, MeltingPotEngine, upstream
from benchmarks.evidence.melting_pot_traces import SOURCE, RestlessHunter, SeenMatrix, record
from benchmarks.speed.melting_pot import api_steps
from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS, AHEAD, STEPS, TURNS
from trace_files import read_trace, write_trace


def _why_not() -> str:
    if importlib.util.find_spec("dmlab2d") is None:
        return "dmlab2d is not installed"
    if not os.environ.get(FOLDER) and importlib.util.find_spec("meltingpot") is None:
        return f"dm-meltingpot is not installed and {FOLDER} is not set"
    return ""


needs_engine = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "the engine is here")


@pytest.fixture
def nothing_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that has not imported any of dm-meltingpot, and forgets afterwards what it did."""
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "meltingpot"}
    for name in before:
        del sys.modules[name]
    monkeypatch.delenv(FOLDER, raising=False)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "meltingpot"]:
        del sys.modules[name]
    sys.modules.update(before)


def _copy(folder: Path, mark: str) -> Path:
    """A package that looks like dm-meltingpot and must not be imported as a whole."""
    root = folder / "meltingpot"
    (root / "lua" / "levels").mkdir(parents=True)
    (root / "__init__.py").write_text("raise RuntimeError('this would import TensorFlow')")
    (root / "bots.py").write_text(f"MARK = {mark!r}\n")
    (root / "needy.py").write_text("import a_library_nobody_has\n")
    return folder


@pytest.mark.usefixtures("nothing_imported")
def test_modules_come_from_the_folder_given_or_named_in_the_environment_or_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = {mark: _copy(tmp_path / mark, mark) for mark in ("given", "named", "installed")}
    monkeypatch.syspath_prepend(str(copies["installed"]))  # type: ignore[no-untyped-call, unused-ignore]

    def found(folder: Path | None) -> str:
        for name in ("meltingpot", "meltingpot.bots"):
            sys.modules.pop(name, None)
        return str(upstream("bots", folder).MARK)

    assert found(None) == "installed"
    monkeypatch.setenv(FOLDER, str(copies["named"]))
    assert found(None) == "named"
    assert found(copies["given"]) == "given"
    assert upstream("bots").MARK == upstream("bots", copies["given"]).MARK == "given"
    with pytest.raises(InputError, match="named: another copy of dm-meltingpot is in use"):
        upstream("bots", copies["named"])


@pytest.mark.usefixtures("nothing_imported")
def test_a_library_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`a_library_nobody_has`.*pip install -e '\.\[meltingpot\]'") as error:
        upstream("needy", _copy(tmp_path, ""))
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("nothing_imported")
def test_without_the_levels_it_is_said_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not (Path(entry) / "meltingpot").exists()])
    advice = r"pip install -e '\.\[meltingpot\]'.*pip download --no-deps --no-binary :all: dm-meltingpot==2.4.1"
    with pytest.raises(InputError, match="the levels of dm-meltingpot are not here.*" + advice):
        MeltingPotEngine("rws_arena", seed=0)
    with pytest.raises(InputError, match="has no levels of dm-meltingpot.*" + advice):
        MeltingPotEngine("rws_arena", folder=tmp_path, seed=0)
    monkeypatch.setenv(FOLDER, str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere: has no levels"):
        MeltingPotEngine("rws_arena", seed=0)
    assert "meltingpot" not in sys.modules


def test_an_unknown_substrate_is_refused() -> None:
    with pytest.raises(InputError, match=r"there is no substrate `rws`.*there is rws_repeated, "):
        MeltingPotEngine("rws", seed=0)


@needs_engine
@pytest.mark.parametrize("substrate", list(SUBSTRATES))
def test_a_recording_of_the_engine_reads_back(substrate: str, tmp_path: Path) -> None:
    engine = MeltingPotEngine(substrate, seed=5)
    (trace,) = record(engine, 150, np.random.default_rng(5))
    assert (trace.substrate, trace.source) == (substrate, SOURCE)
    write_trace(trace, tmp_path / "trace")
    assert read_trace(tmp_path / "trace") == trace


@needs_engine
@pytest.mark.parametrize("substrate", list(SUBSTRATES))
def test_bodies_turn_and_step_as_the_actions_say(substrate: str) -> None:
    rng = np.random.default_rng(2)
    engine = MeltingPotEngine(substrate, seed=2)
    before = engine.reset()
    moved = 0
    for _ in range(80):
        joint = rng.integers(1, 7, size=engine.players).tolist()
        after = engine.step(joint)
        for k, (old, new) in enumerate(zip(before.bodies, after.bodies, strict=True)):
            if old is None or new is None:
                continue
            action = ACTIONS[joint[k]]
            assert new[2] == (old[2] + TURNS.get(action, 0)) % 4
            ahead = AHEAD[(old[2] + STEPS[action]) % 4] if action in STEPS else (0, 0)
            assert new[:2] in {old[:2], (old[0] + ahead[0], old[1] + ahead[1])}
            moved += new[:2] != old[:2]
        before = after
    assert moved > 20


@needs_engine
@pytest.mark.parametrize(("substrate", "kinds", "resources"), [("rws_repeated", 3, 33), ("pd_repeated", 2, 36)])
def test_the_engine_shows_how_an_episode_starts(substrate: str, kinds: int, resources: int) -> None:
    seen = MeltingPotEngine(substrate, seed=1).reset()
    assert isinstance(seen, SeenMatrix)
    assert seen.resources is not None
    assert len(seen.resources) == resources
    assert {kind for _, _, kind in seen.resources} == set(range(kinds))
    assert seen.resources[0] == (7, 3, 0)
    assert seen.inventory == ((1,) * kinds,) * 2
    assert seen.met == (((0.0,) * kinds,) * 2,) * 2
    assert seen.ready == (1.0, 1.0)


@needs_engine
def test_the_dead_are_not_seen_and_see_nothing_and_come_back() -> None:
    """Two hunters with little noise meet every fifty steps or so, and both die of it for six steps."""
    engine = MeltingPotEngine("rws_repeated", seed=4)
    policy = [RestlessHunter(player, 0.05, np.random.default_rng(player)) for player in range(2)]
    (trace,) = record(engine, 1000, np.random.default_rng(4), lambda *_: [hunter.act for hunter in policy])
    dead = [moment for moment in trace.shown if isinstance(moment, SeenMatrix) and None in moment.bodies]
    assert dead
    assert all(moment.bodies == (None, None) and moment.resources is None for moment in dead)
    back = [after for before, after in pairwise(trace.shown) if before in dead and after not in dead]
    assert len(dead) - 6 < 6 * len(back) <= len(dead)


@needs_engine
def test_an_ended_episode_is_not_stepped_into_the_next_one(capfd: pytest.CaptureFixture[str]) -> None:
    engine = MeltingPotEngine("cooking_asymmetric", seed=3)
    with pytest.raises(ValueError, match="reset the engine first"):
        engine.step([0, 0])
    start = engine.reset()
    with pytest.raises(ValueError, match="3 actions for 2 players"):
        engine.step([0, 0, 0])
    moments = [engine.step([0, 0]) for _ in range(1000)]
    assert [moment.ended for moment in moments] == [False] * 999 + [True]
    assert moments[0] == start
    with pytest.raises(ValueError, match="reset the engine first"):
        engine.step([0, 0])
    assert not engine.reset().ended
    assert capfd.readouterr() == ("", "")


@needs_engine
def test_the_bots_strategies_are_at_hand() -> None:
    assert upstream("utils.puppeteers.in_the_matrix").TitForTat
    assert upstream("utils.puppeteers.running_with_scissors_in_the_matrix").CounterPrevious


@needs_engine
@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(importlib.util.find_spec("chex") is None, reason="chex, which only this needs, is not installed")
def test_the_usual_interface_can_be_timed() -> None:
    assert 0 < api_steps("pd_repeated", 20, np.random.default_rng(0)) < 60

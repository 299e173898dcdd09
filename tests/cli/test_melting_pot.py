"""`otherminds verify melting-pot` with our own worlds in the place of the engine: agreement, mismatches, complaints."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from commands import Run, complaint, fine
from otherminds.adapters import rule_checks
from otherminds.adapters.melting_pot import FOLDER, SUBSTRATES
from otherminds.adapters.rule_checks import TraceComparison, summed
from otherminds.adapters.traces import SeenKitchen, SeenMatrix
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix

COMMAND = ("verify", "melting-pot", "--seed", "3")
Moment = SeenMatrix | SeenKitchen


class Itself:
    """Our own rules in the place of the engine; it pays somebody too much in the step that is told."""

    wrong: ClassVar[tuple[int, int]] = (0, 0)
    begun: ClassVar[list[tuple[str, Path | None, int]]] = []

    def __init__(self, substrate: str, *, folder: Path | None = None, seed: int) -> None:
        self.begun.append((substrate, folder, seed))
        self.world: Any = in_the_matrix(substrate) if substrate in matrix_worlds() else cooking_asymmetric()
        self.substrate, self.players = substrate, len(self.world.agents)
        self.rng, self.episode = np.random.default_rng(seed), 0

    def reset(self) -> Moment:
        self.state, self.t = self.world.start(self.rng), 0
        self.episode += 1
        shown = self._shown(self.state)
        return shown._replace(met=(zeros(self.world),) * self.players) if isinstance(shown, SeenMatrix) else shown

    def step(self, joint: Sequence[int]) -> Moment:
        before, acts = self.state, dict(zip(self.world.agents, (ACTIONS[k] for k in joint), strict=True))
        self.state, self.t = self.world.step(before, acts, self.rng), self.t + 1
        shown = self._shown(before)
        if (self.episode, self.t) == self.wrong:
            return shown._replace(rewards=(99.0, *shown.rewards[1:]))
        return shown

    def _shown(self, before: Any) -> Moment:
        if isinstance(self.world, InTheMatrix):
            return rule_checks.shown_matrix(self.world.rules, before, self.state)
        return rule_checks.shown_kitchen(self.world, self.state)


def matrix_worlds() -> list[str]:
    return [name for name in SUBSTRATES if not name.startswith("cooking")]


def zeros(world: InTheMatrix) -> tuple[tuple[float, ...], tuple[float, ...]]:
    nothing = (0.0,) * len(world.rules.resources)
    return nothing, nothing


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[Itself]:
    monkeypatch.setattr("otherminds.adapters.melting_pot.MeltingPotEngine", Itself)
    monkeypatch.setattr(Itself, "begun", [])
    return Itself


def lines_of(out: str) -> dict[str, list[str]]:
    """The words of each line of the table, by the first of them."""
    return {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}


@pytest.mark.slow
def test_worlds_that_agree_are_shown_in_a_table(engine: type[Itself], run: Run) -> None:
    lines = lines_of(fine(run(*COMMAND, "--steps", "300")))
    assert lines["world"] == ["episodes", "steps", "mismatches", "in", "which"]
    assert [name for name in lines if name in SUBSTRATES] == [*SUBSTRATES]
    for name in SUBSTRATES:
        assert lines[name][:3] == ["1", "300", "0"]
    for name in matrix_worlds():
        assert " ".join(lines[name][3:]).replace(",", "").split()[1::2][:2] in (
            ["meetings", "picked"],
            ["picked", "up"],
        )
    assert lines["cooking_asymmetric"][-1] == "deliveries"
    assert engine.begun == [(name, None, 3) for name in SUBSTRATES]


@pytest.mark.slow
def test_worlds_can_be_chosen_and_episodes_are_counted(engine: type[Itself], run: Run) -> None:
    out = fine(run(*COMMAND, "--steps", "1200", "--world", "cooking_asymmetric", "--world", "pd_repeated"))
    lines = lines_of(out)
    assert [name for name in lines if name in SUBSTRATES] == ["cooking_asymmetric", "pd_repeated"]
    assert lines["cooking_asymmetric"][:3] == ["2", "1,200", "0"]
    assert int(lines["cooking_asymmetric"][3]) > 3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("rws_repeated", 40), ("rws_arena", 7), ("cooking_asymmetric", 25)])
def test_a_mismatch_is_told_where_it_is_and_the_command_fails(
    engine: type[Itself], run: Run, monkeypatch: pytest.MonkeyPatch, name: str, step: int
) -> None:
    monkeypatch.setattr(engine, "wrong", (1, step))
    found = run(*COMMAND, "--steps", "60", "--world", name, "--world", "pd_repeated")
    assert (found.code, found.err) == (1, "")
    told = [line for line in found.out.splitlines() if line.startswith(f"{name}, ")]
    assert len(told) == 1
    assert told[0].startswith(f"{name}, episode 1, step {step}: ")
    assert "rewards" in told[0]
    assert lines_of(found.out)[name][2] == "1"


@pytest.mark.slow
def test_a_mismatch_in_a_later_episode_has_its_number_and_the_episodes_after_it_count(
    engine: type[Itself], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "wrong", (2, 10))
    found = run(*COMMAND, "--steps", "2100", "--world", "cooking_asymmetric")
    assert found.code == 1
    assert lines_of(found.out)["cooking_asymmetric"][:3] == ["3", "1,110", "1"]
    assert "cooking_asymmetric, episode 2, step 10: rewards (99.0, " in found.out


def test_nothing_of_a_mismatch_is_cut_or_taken_for_markup(
    engine: type[Itself], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"step 1: [bold]{'x' * 400}[/nonsense]"
    monkeypatch.setattr("otherminds.adapters.rule_checks.check", lambda trace: TraceComparison(1, (long,), {}))
    found = run(*COMMAND, "--steps", "1", "--world", "pd_repeated")
    assert f"pd_repeated, episode 1, {long}\n" in found.out
    assert found.code == 1


@pytest.mark.slow
def test_a_seed_fixes_what_is_played_and_without_one_the_clock_decides(engine: type[Itself], run: Run) -> None:
    once = ("verify", "melting-pot", "--steps", "150", "--world", "rws_repeated")
    assert fine(run(*once, "--seed", "5")) == fine(run(*once, "--seed", "5"))
    fine(run(*once, "--folder", "somewhere"))
    fine(run(*once))
    seeds = [seed for _, _, seed in engine.begun]
    assert [folder for _, folder, _ in engine.begun] == [None, None, Path("somewhere"), None]
    assert seeds[:2] == [5, 5]
    assert len({*seeds}) == 3
    assert all(0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize("wrong", [("--steps", "0"), ("--seed", "-1"), ("--steps", "many")])
def test_nonsense_is_refused(engine: type[Itself], run: Run, wrong: tuple[str, str]) -> None:
    complaint(run("verify", "melting-pot", *wrong), wrong[0])
    assert engine.begun == []


def test_sums_of_comparisons_add_up() -> None:
    one = TraceComparison(10, (), {"meetings": 2, "picked up": 1})
    two = TraceComparison(5, ("step 5: a", "step 5: b"), {"meetings": 1})
    found = summed(iter([one, two]))
    assert (found.steps, found.mismatches) == (15, ("episode 2, step 5: a", "episode 2, step 5: b"))
    assert found.counts == {"meetings": 3, "picked up": 1, "episodes": 2}
    assert summed([]) == TraceComparison(0, (), {})


# Without the engine


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which neither the engine nor its levels can be imported; it forgets afterwards what it did."""
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "meltingpot"}
    for name in before:
        del sys.modules[name]
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setitem(sys.modules, "dmlab2d", None)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not (Path(entry) / "meltingpot").exists()])
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "meltingpot"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.usefixtures("nothing_installed")
def test_without_the_levels_one_line_says_how_to_get_them(run: Run, tmp_path: Path) -> None:
    advice = r"pip install \"otherminds\[meltingpot\]\".*pip download"
    complaint(run("verify", "melting-pot"), "the levels of dm-meltingpot are not here.*" + advice)
    complaint(run("verify", "melting-pot", "--folder", str(tmp_path)), "has no levels of dm-meltingpot.*" + advice)


@pytest.mark.usefixtures("nothing_installed")
def test_without_the_engine_one_line_says_how_to_get_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "meltingpot" / "lua" / "levels").mkdir(parents=True)
    for name in SUBSTRATES.values():
        config = tmp_path / "meltingpot" / "configs" / "substrates" / f"{name}.py"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("import dmlab2d\n")
    found = run("verify", "melting-pot", "--folder", str(tmp_path), "--world", "pd_repeated")
    complaint(found, r"`dmlab2d`, which Melting Pot needs, cannot be imported.*\"otherminds\[meltingpot\]\"")


def test_an_unknown_world_is_refused_with_those_there_are(run: Run) -> None:
    complaint(run("verify", "melting-pot", "--world", "rws"), r"no substrate `rws`.*rws_repeated, ")

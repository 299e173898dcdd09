"""A run that was damaged anywhere reads as it was written or is refused, and all rows that are whole are salvaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.attacks import damage
from fake_models import fails
from otherminds.evaluation.runs import digest, look, salvage
from run_files import damage as changed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A finished run, and a copy of it from before, killed."""
    return damage.begin(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("which", [0, 1])
def test_a_flipped_byte_is_harmless_or_told(runs: tuple[Path, Path], tmp_path: Path, which: int) -> None:
    found = damage.flips(runs[which], tmp_path, range(11), which)
    assert found["the same"] + found["refused"] == 11
    assert found["refused"] > 1
    assert found["intact rows lost"] == 0


@pytest.mark.parametrize("which", [0, 1])
def test_an_edit_is_harmless_or_told(
    runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    # all kinds of edits of both runs; benchmarks/attacks/damage.py edits every table
    monkeypatch.setattr(damage, "TABLES", (("about", "episodes"), ("plan", "calls"))[which])
    found = damage.edits(runs[which], runs[1], tmp_path)
    assert found["wrong"] == 0
    assert found["refused"] > 60
    shortened = 24 if which else 12  # a finished run has no log
    assert found.total() == 2 * len(damage.EDITS) + len(damage.MORE) + shortened + 1


def test_what_is_salvaged_from_a_whole_run_is_the_run(runs: tuple[Path, Path], tmp_path: Path) -> None:
    for number, run in enumerate(runs):
        folder = damage.copied(run, tmp_path / f"run {number}")
        assert salvage(folder, tmp_path / f"saved {number}") == []
        assert digest(tmp_path / f"saved {number}") == digest(folder)
        with fails([f"{tmp_path}/saved {number}: holds a run already"]):
            salvage(folder, tmp_path / f"saved {number}")


def test_a_run_is_salvaged_without_its_first_page(runs: tuple[Path, Path], tmp_path: Path) -> None:
    folder = damage.copied(runs[0], tmp_path / "run")
    data = (folder / "run.db").read_bytes()
    (folder / "run.db").write_bytes(bytes(4096) + data[4096:])
    assert salvage(folder, tmp_path / "saved") == []
    assert digest(tmp_path / "saved") == digest(runs[0])


def test_what_is_not_saved_is_told(runs: tuple[Path, Path], tmp_path: Path) -> None:
    folder = damage.copied(runs[0], tmp_path / "run")
    changed(folder / "run.db", "update calls set cost = cost + 1 where n = 3")
    told = salvage(folder, tmp_path / "saved")
    assert any("a row does not verify: " in line for line in told)
    assert f"calls: {look(runs[0]).answered.calls - 1} rows verify, of" in told[-1]

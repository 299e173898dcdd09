"""`otherminds bench`: what is missing is said in one line, before anything is written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commands import Run, complaint, fine


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own_bench.py").write_text(
        "def answer(prompt):\n    return 'A'\n\n\ndef mind(game, rounds, rng): ...\n"
    )
    return tmp_path


def test_help_fits_the_terminal_and_shows_an_example(run: Run) -> None:
    text = fine(run("bench", "--help"))
    assert "Example: otherminds bench --model embedded" in text
    for option in ("--model", "--data", "--out", "--seed", "--budget", "--most-calls", "--price", "--replay", "--json"):
        assert option in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--model"),
        (("--model", "nonsense"), "names no language model"),
        (("--model", "own_bench:nothing"), "has no `nothing`"),
        (("--model", "own_bench:mind"), "otherminds check --agent own_bench:mind"),
        (("--model", "any@http://127.0.0.1:9/v1"), "no server answers"),
        (("--model", "own_bench:answer", "--budget", "5"), "a budget in dollars cannot be kept"),
        (("--model", "own_bench:answer", "--strategy", "magic"), "no prompting strategy `magic`"),
        (("--model", "own_bench:answer", "--strategy", "qa", "--strategy", "cot"), "one strategy"),
        (("--model", "own_bench:answer", "--data", "."), "holds none of the public sets"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_no_folder(
    run: Run, here: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = sorted(here.iterdir())
    complaint(run("bench", *arguments), said)
    assert [path for path in sorted(here.iterdir()) if path.name != "__pycache__"] == before

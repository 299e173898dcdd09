"""An experiment that is killed again and again, and resumed, ends as if it had never been stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import play_driver
from otherminds.experiments.results import ENDS
from play_driver import RECORD, ROUNDS, THREADS, digest, entries

FIRST = ("serving",) * 10 + ("writing",) * 4 + ("loading",) * 2
LAST = (("rows", 2), ("renewing", 1), ("rows", 1), ("loading", -1))
"""The first deaths are in any order. Rows end with episodes, which takes longer than is left before the others."""
STEP = 3


def play(folder: Path, *death: str) -> int:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, play_driver.__file__, str(folder), *death]
    return subprocess.run(command, check=False).returncode


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def whole(path: Path) -> list[dict[str, Any]]:
    """The lines that were written to their end."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []


def recorded(folder: Path) -> set[str]:
    """The calls that are on record with an answer."""
    answered = [line["request"] for line in whole(folder / RECORD) if "key" in line]
    found = [
        digest(asked["prompt"]) if asked["kind"] == "score" else digest(asked["prompt"][0]["text"], asked["draw"])
        for asked in answered
    ]
    assert len(set(found)) == len(found)
    return set(found)


def finished(folder: Path) -> int:
    return sum(any(end in row for end in ENDS) for row in whole(folder / "rows.jsonl"))


def deaths(folder: Path, rng: np.random.Generator) -> Iterator[tuple[str, int]]:
    """Twenty ways to die, of which the first loads nothing, and the last dies while rows are loaded."""
    for kind in ("serving", *rng.permutation(FIRST[1:])):
        there = len(whole(folder / RECORD))
        yield kind, int(rng.integers(1, there + 1 if kind == "loading" else STEP + 1))
    for kind, number in LAST:
        there = len(whole(folder / RECORD))
        yield kind, int(rng.integers(there + 1, there + ROUNDS + 1)) if kind == "loading" else number


def resume(folder: Path, *death: str) -> int:
    """Go on; what is recorded, and what is finished, stays so, and is not asked for again."""
    before, served, rows = recorded(folder), len(lines(folder / "served")), finished(folder)
    code = play(folder, *death)
    assert before <= recorded(folder)
    assert rows <= finished(folder)
    assert not before & set(lines(folder / "served")[served:])
    return code


def test_killed_and_resumed_is_as_good_as_never_stopped(tmp_path: Path) -> None:
    never, killed, died = tmp_path / "never", tmp_path / "killed", Counter[str]()
    assert play(never) == 0
    for kind, number in deaths(killed, np.random.default_rng(20)):
        assert resume(killed, kind, str(number)) == -signal.SIGKILL
        died[kind] += 1
    assert died.total() == 20
    assert 0 < finished(killed) < len(entries())
    assert resume(killed) == 0
    assert finished(killed) == len(entries())
    assert (killed / "rows.jsonl").read_bytes() == (never / "rows.jsonl").read_bytes()
    check_calls(killed, never, died)


def check_calls(killed: Path, never: Path, died: Counter[str]) -> None:
    """They are those of a run that was never stopped; twice were served only those that were under way at a death."""
    assert recorded(killed) == recorded(never) == set(lines(never / "served"))
    assert len(lines(never / "served")) == len(recorded(never))
    served = Counter(lines(killed / "served"))
    assert served.keys() == recorded(never)
    assert died["serving"] + died["writing"] <= served.total() - len(served) <= died.total() * THREADS

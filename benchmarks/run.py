"""Speed as ratios against reference implementations in the same run; exits with 1 if a floor is missed."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import decisions
import fields
import matches
from otherminds.evaluation.matches import expected_score, score, scores
from otherminds.minds.favours import Favours
from otherminds.planning.search import UNREACHABLE
from otherminds.worlds.level_files import bundled_levels
from timing import Ratio, ratio

Line = tuple[str, str, str, bool | None]


def field_lines() -> Iterator[Line]:
    """Exact cost-to-go fields, 16 × 16, 3 goals, 3 keys, 27 stages; the answers are checked to be the same."""
    level = fields.world()
    floor = fields.floors(level)
    answer = fields.ours(level)
    for name, other, least in (
        ("NumPy value iteration", fields.value_iteration, 2.0),
        ("plain breadth-first search", fields.breadth_first, 4.0),
    ):
        reference = other(level)
        same = bool((np.minimum(answer, UNREACHABLE) == reference)[:, floor].all())
        found = max((ratio(lambda: fields.ours(level), lambda: other(level)) for _ in range(2)), key=lambda r: r.ratio)  # noqa: B023
        yield f"Fields: {name} / ours", _times(found), f"≥ {least:g}×, same numbers", same and found.ratio >= least


def _times(found: Ratio) -> str:
    return f"{found.ratio:.1f}×  ({found.theirs_ms:.2f} / {found.ours_ms:.2f} ms)"


def decision_lines() -> Iterator[Line]:
    """Time to infer and decide on the twenty levels; the first decision of an episode fills the fields."""
    levels = bundled_levels()
    for name, warm, mean, tail in (("cold plans", False, 15.0, 50.0), ("warm plans", True, 1.0, 50.0)):
        times = decisions.milliseconds(levels, warm=warm)
        found = f"mean {np.mean(times):.2f}, 95 % {np.quantile(times, 0.95):.2f}, most {max(times):.2f} ms"
        fine = bool(np.mean(times) <= mean and np.quantile(times, 0.95) <= tail)
        yield f"Decision, {name}", found, f"mean ≤ {mean:g}, 95 % ≤ {tail:g} ms", fine
    level = next(level for level in levels if level.name == "garden-gate")
    plain = decisions.pricing(level, lambda level: decisions.PlainFavours(level.world))
    ours = decisions.pricing(level, lambda level: Favours(level.world))
    found_ratio = ratio(ours, plain, rounds=5)
    yield "First decision: stepwise rollouts of minds / ours", _times(found_ratio), "≥ 3×", found_ratio.ratio >= 3


def process_lines() -> Iterator[Line]:
    """Whole processes: importing, and the memory of the main experiment."""
    loaded = "import sys, otherminds; sys.exit(bool({'scipy','matplotlib','numba','jax','ray'} & set(sys.modules)))"
    light = subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0
    times = {name: min(_cpu(f"import {name}") for _ in range(5)) for name in ("numpy", "otherminds")}
    found = f"{times['otherminds']:.3f} s CPU, {times['otherminds'] / times['numpy']:.1f} × NumPy's"
    yield "import otherminds", found, "≤ 0.3 s, nothing heavier than NumPy", light and times["otherminds"] <= 0.3
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [sys.executable, "-m", "otherminds", "reproduce", "protom-dkg", "--out", str(Path(folder) / "run")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    yield "reproduce protom-dkg", f"{wall:.1f} s, peak {peak:.0f} MB", "≤ 20 s, ≤ 400 MB", wall <= 20 and peak <= 400


def match_lines() -> Iterator[Line]:
    """Matches of 100 rounds between 11 deterministic strategies that other libraries have too; scores must be equal."""
    pairs = matches.pairs()
    rounds = matches.ROUNDS * len(pairs)

    def one_by_one() -> list[tuple[float, float]]:
        return [score(matches.GAME, first, second, matches.ROUNDS) for first, second in pairs]

    def at_once() -> np.ndarray:
        return scores(matches.GAME, pairs * matches.MANY, matches.ROUNDS)

    for library, load, package, floors in (
        ("Axelrod", matches.axelrod, "axelrod", (50.0, 200.0)),
        ("OpenSpiel", matches.open_spiel, "open-spiel", (None, None)),
    ):
        ...


def _cpu(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print every figure with its floor, and the machine they were measured on."""
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, load {load}\n")
    missed = 0
    for lines in (field_lines, decision_lines, process_lines):
        for name, found, floor, fine in lines():
            print(f"{name:<52} {found:<46} {floor:<38} {'met' if fine else 'MISSED'}", flush=True)
            missed += not fine
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())

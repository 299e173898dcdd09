"""Speed as ratios against reference implementations in the same run; exits with 1 if a floor is missed."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sized
from pathlib import Path

import numpy as np

import decisions
import fields
import kitchen_decisions
import matches
import matrix_batch
import melting_pot
import speaking
import stories
from otherminds.adapters.melting_pot import SUBSTRATES
from otherminds.errors import InputError
from otherminds.experiments import kitchen_design
from otherminds.minds.favours import Favours
from otherminds.minds.requests import Requests
from otherminds.planning.search import UNREACHABLE
from otherminds.worlds.level_files import bundled_levels
from otherminds.worlds.matrix_files import in_the_matrix
from timing import Ratio, ratio

Line = tuple[str, str, str, bool | None]
MET = {True: "met", False: "MISSED", None: "–"}


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


def kitchen_lines() -> Iterator[Line]:
    """Time to infer and decide in the twenty-one kitchens, with five particles an agent and plans from scratch."""
    levels = kitchen_design.DESIGN.bundled()
    for subject, mean, tail in (("protom", 50.0, 150.0), ("protom_fast", 15.0, 150.0)):
        times = kitchen_decisions.milliseconds(levels, subject)
        found = f"mean {np.mean(times):.1f}, 95 % {np.quantile(times, 0.95):.1f}, most {max(times):.0f} ms"
        fine = bool(np.mean(times) <= mean and np.quantile(times, 0.95) <= tail)
        yield f"Decision in a kitchen, {subject}", found, f"mean ≤ {mean:g}, 95 % ≤ {tail:g} ms", fine
    level = next(level for level in levels if level.kind == "useful")
    plain = kitchen_decisions.pricing(level, lambda level: kitchen_decisions.PlainRequests(level.world))
    ours = kitchen_decisions.pricing(level, lambda level: Requests(level.world))
    found_ratio = ratio(ours, plain, rounds=3)
    yield "First decision in a kitchen: minds run stepwise / ours", _times(found_ratio), "≥ 3×", found_ratio.ratio >= 3


def speaking_lines() -> Iterator[Line]:
    """A language model within the process, 100 rounds by LM prompting; and with every prompt read from the start."""
    try:
        played = speaking.episode(100)
    except InputError as error:
        yield "Language model, 100 rounds", f"not here: {error}"[:46], "", None
        return
    yield "Language model, 100 rounds", f"{played.seconds:.0f} s", "≤ 60 s", played.seconds <= 60
    found = f"{played.tokens / played.evaluated:.0f}×  ({played.tokens:,} / {played.evaluated:,})"
    yield "… tokens of all prompts / evaluated", found, "≥ 50×", played.tokens >= 50 * played.evaluated
    short, whole = (speaking.episode(speaking.NAIVE_ROUNDS, reuse=reuse) for reuse in (True, False))
    seconds = f"{whole.seconds / short.seconds:.1f}×  ({whole.seconds:.1f} / {short.seconds:.1f} s)"
    yield f"… {speaking.NAIVE_ROUNDS} rounds: prompts read anew / ours", seconds, "", None


def avatar_lines() -> Iterator[Line]:
    """Matrix and cooking worlds beside the API of Melting Pot, where that is installed, and many of them at once."""
    for name in SUBSTRATES:
        found = melting_pot.rates(name)
        ours = f"{found.step:,.0f} steps a CPU second, {found.seen:,.0f} seen"
        if found.api is None:
            yield f"{name}: Melting Pot's API / ours", f"{ours}; API not installed", "", None
        else:
            times = f"{found.step / found.api:.0f}×  ({found.step:,.0f} / {found.api:,.0f} steps a CPU second)"
            yield f"{name}: Melting Pot's API / ours", times, "≥ 10×", found.step >= 10 * found.api
            seen = f"{found.seen / found.api:.1f}×  ({found.seen:,.0f} steps a CPU second)"
            yield "… and with what everybody sees", seen, "", None
    for name, least in (("rws_repeated", 300_000), ("pd_repeated", 300_000), ("rws_arena", 80_000)):
        try:
            rate = matrix_batch.rates(in_the_matrix(name)).batch_seen
        except InputError as error:
            yield f"{name}: {matrix_batch.ENVIRONMENTS:,} at once, seen", f"not here: {error}"[:46], "", None
            continue
        rates = f"{rate:,.0f} steps a CPU second"
        yield f"{name}: {matrix_batch.ENVIRONMENTS:,} at once, seen", rates, f"≥ {least:,}", rate >= least


def story_lines() -> Iterator[Line]:
    """Stories invented with exact answers, without words or pictures."""
    found = stories.rate()
    per_process = f"{found.one:,.0f} a CPU second, {found.all:,.0f} a second on {found.processes}"
    yield "Stories with questions and exact answers", per_process, "≥ 2,000 a second", found.all >= 2000


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


def _cpu(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def match_lines() -> Iterator[Line]:
    """Matches of 100 rounds between simple deterministic strategies, and what stochastic ones can expect."""
    many = f"{matches.MANY * len(matches.pairs()):,} at once"
    for library, package, load, floors in (
        ("Axelrod", "axelrod", matches.axelrod, (50, 200)),
        ("OpenSpiel", "open-spiel", matches.open_spiel, (None, None)),
    ):
        if (peer := load()) is None:
            yield f"Matches: {library} / ours", f"not installed: pip install {package}", "", None
            continue
        yield _against(f"Matches: {library} / ours, one by one", matches.one_by_one, peer, floors[0])
        yield _against(f"Matches: {library} / ours, {many}", matches.at_once, peer, floors[1])
    same = np.allclose(matches.expectations(), matches.followed())
    found = ratio(matches.expectations, matches.followed, rounds=5)
    yield "Expected scores of 25 pairs: following minds / ours", _times(found), "same numbers", None if same else False


def _against(name: str, ours: Callable[[], Sized], peer: matches.Peer, floor: int | None) -> Line:
    times = len(ours()) // len(peer.scores)
    same = np.array_equal(np.array(ours()), np.tile(peer.scores, (times, 1)))
    found = max((ratio(ours, peer.play) for _ in range(2)), key=lambda r: r.ratio)
    faster, rounds = times * found.ratio, 1e-3 * matches.ROUNDS * len(peer.scores)
    rates = f"{times * rounds / found.ours_ms:.1f} / {rounds / found.theirs_ms:.2f} M rounds/s"
    fine = same and (None if floor is None else faster >= floor)
    return name, f"{faster:.0f}×  ({rates})", f"≥ {floor}×, same scores" if floor else "same scores", fine


def main() -> int:
    """Print every figure with its floor, and the machine they were measured on."""
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, load {load}\n")
    missed = 0
    # matches come last: a child's peak memory begins with that of its parent, and other libraries take a lot
    for lines in (
        field_lines,
        decision_lines,
        kitchen_lines,
        story_lines,
        avatar_lines,
        process_lines,
        speaking_lines,
        match_lines,
    ):
        for name, found, floor, fine in lines():
            print(f"{name:<52} {found:<46} {floor:<38} {MET[fine]}", flush=True)
            missed += fine is False
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())

"""Speed as ratios against reference implementations in the same run; exits with 1 if a floor is missed.

Each part has a process of its own, as what a user runs has: of what others leave, Python's garbage collector would
search all again and again, which took a quarter of the time of the decisions in kitchens.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.evidence.melting_pot_engine import SUBSTRATES
from benchmarks.keeping import keep, option
from benchmarks.speed import (
    array_minds,
    decisions,
    fields,
    kitchen_decisions,
    matches,
    matrix_batch,
    melting_pot,
    people_fits,
    speaking,
    startup,
    stories,
)
from benchmarks.speed.timing import Ratio, ratio
from otherminds.errors import InputError
from otherminds.papers.protom.levels import kitchens
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.overcooked.advice import OvercookedAdvice


class Line(NamedTuple):
    """A name, what was found, what is the least, whether that is met, and the figures to be kept."""

    name: str
    found: str
    least: str
    met: bool | None
    figures: Mapping[str, float] = {}


MET = {True: "met", False: "MISSED", None: "–"}


def field_lines() -> Iterator[Line]:
    """Exact cost-to-go fields, 3 goals, 3 keys, 27 stages; the answers are checked to be the same."""
    level = fields.world()
    floor = fields.floors(level)
    answer = fields.ordered(fields.ours(level))
    for name, other, least in (
        ("NumPy value iteration", fields.value_iteration, 2.0),
        ("plain breadth-first search", fields.breadth_first, 4.0),
    ):
        reference = other(level)
        same = bool((answer == reference)[:, floor].all())
        found = max((ratio(lambda: fields.ours(level), lambda: other(level)) for _ in range(2)), key=lambda r: r.ratio)  # noqa: B023
        fine = same and found.ratio >= least
        yield _times(f"Fields: {name} / ours", found, f"≥ {least:g}×, same numbers", fine)
    for side, maze, most in ((16, False, 4.0), (16, True, None), (64, False, 5.0), (64, True, None)):
        name = f"Fields, {side} × {side}{', maze' if maze else ''}: ours / queue in C"
        yield _beside_queue(name, fields.world(side, maze=maze), most)


def _beside_queue(name: str, level: DoorsKeysGems, most: float | None) -> Line:
    """Our fields, from the level on, and a search by a queue in C that is given all stages and what leads to which."""
    if (queue := fields.queue_in_c(level)) is None:
        return Line(name, "no C compiler", "", None)
    same = np.array_equal(fields.ordered(fields.ours(level)), queue())
    rounds = 200 if level.grid.width < 32 else 40
    found = min((ratio(queue, lambda: fields.ours(level), rounds=rounds) for _ in range(2)), key=lambda r: r.ratio)
    fine = same and (None if most is None else found.ratio <= most)
    told = f"{found.ratio:.1f}×  ({found.theirs_ms:.2f} / {found.ours_ms:.2f} ms)"
    least = f"≤ {most:g}×, same numbers" if most else "same numbers"
    return Line(name, told, least, fine, {"times": found.ratio, "ms": found.theirs_ms})


def _times(name: str, found: Ratio, least: str, fine: bool | None) -> Line:
    told = f"{found.ratio:.1f}×  ({found.theirs_ms:.2f} / {found.ours_ms:.2f} ms)"
    return Line(name, told, least, fine, {"times": found.ratio, "ms": found.ours_ms})


def _decisions(name: str, times: Sequence[float], mean: float, tail: float, most: float = math.inf) -> Line:
    figures = {"mean, ms": float(np.mean(times)), "95 %, ms": float(np.quantile(times, 0.95)), "most, ms": max(times)}
    told = "mean {:.2f}, 95 % {:.2f}, most {:.1f} ms".format(*figures.values())
    limits = {"mean": mean, "95 %": tail, "most": most}
    fine = all(figures[f"{name}, ms"] <= limit for name, limit in limits.items())
    wanted = ", ".join(f"{name} ≤ {limit:g}" for name, limit in limits.items() if limit < math.inf)
    return Line(name, told, f"{wanted} ms", fine, figures)


def decision_lines() -> Iterator[Line]:
    """Time to infer and decide on the twenty levels; the first decision of an episode fills the fields."""
    levels = bundled_levels()
    for name, warm, mean, tail in (("cold plans", False, 15.0, 50.0), ("warm plans", True, 8.0, 50.0)):
        times = decisions.milliseconds(levels, warm=warm)
        yield _decisions(f"Decision, {name}", times, mean, tail)
    level = next(level for level in levels if level.name == "garden-gate")
    plain = decisions.pricing(level, lambda level: decisions.StepwiseAdvice(level.world))
    ours = decisions.pricing(level, lambda level: DoorsKeysGemsAdvice(level.world))
    found = ratio(ours, plain, rounds=5)
    yield _times("First decision: stepwise rollouts of minds / ours", found, "≥ 3×", found.ratio >= 3)


def kitchen_lines() -> Iterator[Line]:
    """CPU time to act, infer and decide in the twenty-one kitchens, five particles an agent, plans from scratch."""
    levels = kitchens.DESIGN.bundled()
    for subject in ("protom", "protom_fast"):
        times = min((kitchen_decisions.milliseconds(levels, subject) for _ in range(2)), key=sum)
        yield _decisions(f"Decision in a kitchen, {subject}", times, mean=8.0, tail=30.0, most=150.0)
    level = next(level for level in levels if level.kind == "useful")
    plain = kitchen_decisions.pricing(level, lambda level: kitchen_decisions.StepwiseKitchenAdvice(level.world))
    ours = kitchen_decisions.pricing(level, lambda level: OvercookedAdvice(level.world))
    found = ratio(ours, plain, rounds=3)
    yield _times("First decision in a kitchen: minds run stepwise / ours", found, "≥ 3×", found.ratio >= 3)


def array_lines() -> Iterator[Line]:
    """CPU time of an action with thousands of minds as an array, beside an Observer of them."""
    for name, found in (
        ("An action, 30,000 minds: one by one / array", array_minds.settings(300, 40)),
        ("An action, 10,000 goals: one by one / array", array_minds.cells(100, 100)),
    ):
        least = f"≤ {array_minds.MOST_MS:g} ms, same posterior"
        yield Line(
            name, f"{found.times:.0f}×  ({found.ms:.2f} ms)", least, found.met, {"times": found.times, "ms": found.ms}
        )


def speaking_lines() -> Iterator[Line]:
    """A language model within the process, 100 rounds by LM prompting; and with every prompt read from the start."""
    try:
        played = speaking.episode(100)
    except InputError as error:
        yield Line("Language model, 100 rounds", f"not here: {error}"[:46], "", None)
        return
    seconds, tokens, evaluated = played
    yield Line("Language model, 100 rounds", f"{seconds:.0f} s", "≤ 60 s", seconds <= 60, {"s": seconds})
    found, counts = f"{tokens / evaluated:.0f}×  ({tokens:,} / {evaluated:,})", {"all": tokens, "evaluated": evaluated}
    yield Line("… tokens of all prompts / evaluated", found, "≥ 50×", tokens >= 50 * evaluated, counts)
    short, whole = (speaking.episode(speaking.NAIVE_ROUNDS, reuse=reuse) for reuse in (True, False))
    told = f"{whole.seconds / short.seconds:.1f}×  ({whole.seconds:.1f} / {short.seconds:.1f} s)"
    figures = {"anew, s": whole.seconds, "ours, s": short.seconds}
    yield Line(f"… {speaking.NAIVE_ROUNDS} rounds: prompts read anew / ours", told, "", None, figures)


def avatar_lines() -> Iterator[Line]:
    """Matrix and cooking worlds beside the API of Melting Pot, where that is installed, and many of them at once."""
    for name in SUBSTRATES:
        yield from _beside_api(name, melting_pot.rates(name))
    for name, least in (("rws_repeated", 300_000), ("pd_repeated", 300_000), ("rws_arena", 80_000)):
        told = f"{name}: {matrix_batch.ENVIRONMENTS:,} at once, seen"
        try:
            rate = matrix_batch.rates(in_the_matrix(name)).batch_seen
        except InputError as error:
            yield Line(told, f"not here: {error}"[:46], "", None)
            continue
        found = f"{rate:,.0f} steps a CPU second"
        yield Line(told, found, f"≥ {least:,}", rate >= least, {"steps a CPU second": rate})
    yield _environment_line("rws_arena")


def _environment_line(name: str) -> Line:
    """The PettingZoo environment of a world: all observations in one pass, and one after the other."""
    told = f"{name}: PettingZoo, one by one / ours"
    try:
        found = melting_pot.environment_rates(name)
    except InputError as error:
        return Line(told, f"not here: {error}"[:46], "", None)
    times = found.all_at_once / found.one_by_one
    rate = f"{times:.1f}×  ({found.all_at_once:,.0f} / {found.one_by_one:,.0f} steps a CPU second)"
    fine = found.all_at_once >= 6_000
    return Line(told, rate, "≥ 6,000", fine, {"times": times, "steps a CPU second": found.all_at_once})


def _beside_api(name: str, found: melting_pot.Rates) -> Iterator[Line]:
    told, seen_too = f"{name}: Melting Pot's API / ours", f"{name}, with what everybody sees"
    rates = {"steps a CPU second": found.step}, {"steps a CPU second": found.seen}
    if found.api is None:
        yield Line(told, f"{found.step:,.0f} steps a CPU second; API not installed", "", None, rates[0])
        yield Line(seen_too, f"{found.seen:,.0f} steps a CPU second", "", None, rates[1])
        return
    times, seen = found.step / found.api, found.seen / found.api
    rate = f"{times:.0f}×  ({found.step:,.0f} / {found.api:,.0f} steps a CPU second)"
    yield Line(told, rate, "≥ 10×", times >= 10, {"times": times, **rates[0]})
    yield Line(seen_too, f"{seen:.1f}×  ({found.seen:,.0f} steps a CPU second)", "", None, {"times": seen, **rates[1]})


def story_lines() -> Iterator[Line]:
    """Stories invented with exact answers, without words or pictures."""
    found = stories.rate()
    per_process = f"{found.one:,.0f} a CPU second, {found.all:,.0f} a second on {found.processes}"
    figures = {"a CPU second": found.one, "a second": found.all}
    name = "Stories with questions and exact answers"
    yield Line(name, per_process, "≥ 2,000 a second", found.all >= 2000, figures)


def people_lines() -> Iterator[Line]:
    """Probabilities of people's choices on a grid of parameters, beside minds asked one by one; and all fits."""
    wall, cpu = people_fits.all_fitted()
    told, figures = f"{wall:.0f} s on two processes, {cpu:.0f} s CPU", {"s": wall, "CPU s": cpu}
    yield Line("All minds fitted to 217 people", told, "≤ 300 s", wall <= 300, figures)
    for name in people_fits.NAMES:
        ours, plain = people_fits.ours(name), people_fits.plain(name)
        same = bool(np.allclose(ours(), plain(), rtol=0.0, atol=1e-8))
        found = ratio(ours, plain, rounds=2)
        told = f"People's choices, {name}: minds one by one / ours"
        yield _times(told, found, "≥ 20×, same numbers", same and found.ratio >= 20)


def process_lines() -> Iterator[Line]:
    """Whole processes: importing, and the memory of the main experiment."""
    loaded = "import sys, otherminds; sys.exit(bool({'scipy','matplotlib','numba','jax','ray'} & set(sys.modules)))"
    light = subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0
    times = {name: min(_cpu(f"import {name}") for _ in range(5)) for name in ("numpy", "otherminds")}
    found = f"{times['otherminds']:.3f} s CPU, {times['otherminds'] / times['numpy']:.1f} × NumPy's"
    fine = light and times["otherminds"] <= 0.3
    yield Line("import otherminds", found, "≤ 0.3 s, nothing heavier than NumPy", fine, {"s": times["otherminds"]})
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [sys.executable, "-m", "otherminds", "reproduce", "protom-dkg", "--out", str(Path(folder) / "run")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    found, fine = f"{wall:.1f} s, peak {peak:.0f} MB", wall <= 20 and peak <= 400
    yield Line("reproduce protom-dkg", found, "≤ 20 s, ≤ 400 MB", fine, {"s": wall, "MB": peak})


def waiting_lines() -> Iterator[Line]:
    """Times of the first commands, as whole processes."""
    for name, seconds, most in startup.lines():
        found = f"{min(seconds):.2f} s, median {np.median(seconds):.2f} s"
        yield Line(f"{name} (process)", found, f"≤ {most:g} s", min(seconds) <= most, {"s": min(seconds)})


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
            yield Line(f"Matches: {library} / ours", f"not installed: pip install {package}", "", None)
            continue
        yield _against(f"Matches: {library} / ours, one by one", matches.one_by_one, peer, floors[0])
        yield _against(f"Matches: {library} / ours, {many}", matches.at_once, peer, floors[1])
    same = np.allclose(matches.expectations(), matches.followed())
    found = ratio(matches.expectations, matches.followed, rounds=5)
    fine = None if same else False
    yield _times("Expected scores of 25 pairs: following minds / ours", found, "same numbers", fine)


def _against(name: str, ours: Callable[[], Sized], peer: matches.Peer, floor: int | None) -> Line:
    times = len(ours()) // len(peer.scores)
    same = np.array_equal(np.array(ours()), np.tile(peer.scores, (times, 1)))
    found = max((ratio(ours, peer.play) for _ in range(2)), key=lambda r: r.ratio)
    faster, rounds = times * found.ratio, 1e-3 * matches.ROUNDS * len(peer.scores)
    rate = times * rounds / found.ours_ms
    rates = f"{rate:.1f} / {rounds / found.theirs_ms:.2f} M rounds/s"
    fine = same and (None if floor is None else faster >= floor)
    least, figures = f"≥ {floor}×, same scores" if floor else "same scores", {"times": faster, "M rounds/s": rate}
    return Line(name, f"{faster:.0f}×  ({rates})", least, fine, figures)


PARTS = (
    field_lines,
    decision_lines,
    kitchen_lines,
    array_lines,
    story_lines,
    people_lines,
    process_lines,
    waiting_lines,
    avatar_lines,
    speaking_lines,
    match_lines,
)


def measured(part: Callable[[], Iterator[Line]], file: Path | None) -> int:
    """Print the figures of a part, and keep them in the file if there is one; how many floors are missed."""
    gc.freeze()  # as the web app's processes do for facilitators
    missed = 0
    for line in part():
        print(f"{line.name:<52} {line.found:<46} {line.least:<38} {MET[line.met]}", flush=True)
        missed += line.met is False
        keep(file, "bench", {(line.name, what): value for what, value in line.figures.items()})
    return missed


def main() -> int:
    """Print every figure with its floor, and the machine they were measured on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option(parser)
    chosen = parser.parse_args()
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}, {platform.machine()}, load {load}\n", flush=True)
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        return any(list(processes.map(partial(measured, file=chosen.json), PARTS)))


if __name__ == "__main__":
    sys.exit(main())

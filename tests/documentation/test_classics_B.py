"""Classics of planning, choice and games: what they print is what was published, and what plain loops give."""

from __future__ import annotations

import ast
import contextlib
import io
import math
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from otherminds.worlds.food_trucks.inference import Hypotheses, JointInference
from otherminds.worlds.food_trucks.planner import FoodTruckPlanner
from paths import ROOT

PRINTED = {
    "beauty_contest": ("50.00", "33.33", "22.22", "14.81", "9.88", "33.32", "22.20", "9.89"),
    "cognitive_hierarchy": ("0.22 0.33 0.25 0.13 0.05", "hierarchy: 20 19 18 17 17 16", "level-k:   20 19 18 17 16 15"),
    "cost_and_reward": ("28.41", "21.79"),
    "crying_baby": ("0.9072 0.0000 0.0241 0.0299 0.5376", "14/49"),
    "food_trucks": ("Mexican 1.00",),
    "help_or_hinder_2009": ("helps 0.37  hinders 0.37",),
    "iterated_dilemma": ("both cooperate: 600 ", "behind joss by 5.0 "),
    "k_tom": (
        "0-ToM: 0.5000 0.5951 0.6616 0.5491 0.6213",
        "1-ToM: 0.5000 0.6879 0.5573 0.6874 0.7985",
        "2-ToM: 0.5000 0.5884 0.4750 0.6596 0.6982",
    ),
    "maze_subgoals": ("(0, 4)",),
    "naive_utility": ("takes the far one",),
    "preference_from_choice": ("0.5642", "0.8463", "1.0294", "1.1630"),
    "ultimatum": ("mode 0.081, mean 0.087", "takes 0.250", "takes 0.333", "takes 0.444"),
}
"""What has to be printed by each; figures of the papers, of memo, of tomsup, or of the closed forms."""


class Run(NamedTuple):
    """The names that an example defines, what it prints, and the pictures that it draws."""

    names: dict[str, Any]
    printed: str
    pictures: list[str]

    @property
    def ours(self) -> str:
        """What is printed but for what is published."""
        return re.sub(r"\(?(published|integral)\b.*?(\)|$)", "", self.printed, flags=re.MULTILINE)


@cache
def classic(name: str) -> Run:
    """The example, run once for all tests."""
    path, before, out = ROOT / "examples" / "classics" / f"{name}.py", sys.argv, io.StringIO()
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(out), matplotlib.rc_context():
        sys.argv = [str(path), folder]
        try:
            names = runpy.run_path(str(path))
        finally:
            sys.argv = before
            plt.close("all")
        return Run(names, out.getvalue(), sorted(picture.name for picture in Path(folder).iterdir()))


def code_lines(text: str) -> int:
    """Lines that are not blank, not only a comment and not part of a docstring."""
    documented = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            documented |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and number not in documented for number, line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_short_and_prints_what_was_published(name: str) -> None:
    text = (ROOT / "examples" / "classics" / f"{name}.py").read_text("utf-8")
    title, *_, hint = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert re.fullmatch(r".+ \(.+\)", title)
    assert hint.startswith("Try: ")
    assert code_lines(text) <= 30
    run = classic(name)
    assert [figure for figure in PRINTED[name] if figure not in run.ours] == []
    assert run.pictures == [f"{name}.svg"]


# Oracles


@pytest.mark.slow
def test_level_k_goes_down_by_two_thirds() -> None:
    names = classic("beauty_contest").names
    mean = 50.0
    for k in range(5):
        assert names["guess"](k).expect(float) == pytest.approx(float(50 * Fraction(2, 3) ** k))
        assert names["noisy_guess"](k).expect(float) == pytest.approx(mean)
        weights = [math.exp(-abs(n - mean * 2 / 3)) for n in range(101)]
        mean = sum(n * w for n, w in enumerate(weights)) / sum(weights)


@pytest.mark.slow
def test_hierarchy_by_plain_loops() -> None:
    names, requests = classic("cognitive_hierarchy").names, [20]
    for level in range(1, 6):
        share = [2.36**k / math.factorial(k) for k in range(level)]
        worth = {
            n: n * sum(share) + sum(20 * s for s, r in zip(share, requests, strict=True) if n == r - 1)
            for n in range(11, 21)
        }
        requests.append(max(worth, key=worth.__getitem__))
    assert [names["request"](k) for k in range(6)] == requests
    assert [names["request"](k, hierarchy=False) for k in range(6)] == [20, 19, 18, 17, 16, 15]
    assert names["people"].prob(2) == pytest.approx(math.exp(-1.5) * 1.5**2 / 2)


@pytest.mark.slow
def test_offers_by_plain_loops_and_thresholds_by_the_equation() -> None:
    names = classic("ultimatum").names
    for envy in (0.0, 0.5, 1.0, 4.0):
        least = envy / (1 + 2 * envy)
        assert names["p_accept"](least, envy) == pytest.approx(0.5)
        assert names["p_accept"](least + 0.05, envy) > 0.9
        value = [(1 - s) / (1 + math.exp(-50 * (s - envy * max(1 - 2 * s, 0)))) for s in (k / 99 for k in range(100))]
        weights = [math.exp(50 * (v - max(value))) for v in value]
        expected = sum(k / 99 * w for k, w in enumerate(weights)) / sum(weights)
        assert names["proposal"](envy, 0.0).expect(float) == pytest.approx(expected)
    assert 1 / 3 < names["proposal"](1.0, 0.0).mode < names["proposal"](1.0, 0.6).mode <= 0.5


def believed_hungry(p: Fraction, action: str, cries: bool) -> tuple[Fraction, Fraction]:
    """P(hungry | what is heard) and P(what is heard), by Bayes' rule."""
    hungry = Fraction(0) if action == "feed" else p + (1 - p) / 10
    if_hungry, if_sated = (Fraction(9, 10), Fraction(0)) if action == "sing" else (Fraction(8, 10), Fraction(1, 10))
    heard = [q if cries else 1 - q for q in (if_hungry, if_sated)]
    total = hungry * heard[0] + (1 - hungry) * heard[1]
    return hungry * heard[0] / total if total else Fraction(0), total


def best(p: Fraction, steps: int) -> tuple[float, str]:
    """The best action and its value, by looking at everything that may be heard."""
    values = {}
    for action, reward in (("feed", -5.0), ("sing", -0.5), ("ignore", 0.0)):
        values[action] = reward - 10 * float(p)
        for cries in (True, False) if steps else ():
            after, chance = believed_hungry(p, action, cries)
            values[action] += 0.9 * float(chance) * best(after, steps - 1)[0] if chance else 0.0
    action = max(values, key=values.__getitem__)
    return values[action], action


@pytest.mark.slow
def test_beliefs_and_plans_about_the_baby_by_fractions() -> None:
    names, p = classic("crying_baby").names, Fraction(1, 2)
    for heard, ours in zip(
        (("ignore", True), ("feed", False), ("ignore", False), ("ignore", False), ("ignore", True)),
        names["beliefs"][1:],
        strict=True,
    ):
        p, _ = believed_hungry(p, *heard)
        assert ours == pytest.approx(float(p))
    for k in (0, 10, 13, 14, 40):
        value, action = names["plan"](k / 49, 3)
        expected, expected_action = best(Fraction(k, 49), 3)
        assert (value, action) == (pytest.approx(expected, abs=0.02), expected_action)


def played(first: str, second: str) -> list[int]:
    """Both totals of two deterministic rules over 200 rounds."""
    rules: dict[str, Callable[[list[int], list[int]], int]] = {
        "tft": lambda own, other: other[-1] if other else 0,
        "grofman": lambda own, other: 0,  # as long as nobody defects
        "friedman": lambda own, other: int(any(other)),
        "davis": lambda own, other: int(len(own) >= 10 and any(other)),
    }
    moves: tuple[list[int], list[int]] = ([], [])
    totals = [0, 0]
    for _ in range(200):
        a, b = rules[first](*moves), rules[second](*moves[::-1])
        totals = [total + (3, 0, 5, 1)[2 * x + y] for total, (x, y) in zip(totals, ((a, b), (b, a)), strict=True)]
        moves[0].append(a)
        moves[1].append(b)
    return totals


@pytest.mark.slow
def test_tournament_by_playing_and_by_a_chain() -> None:
    names = classic("iterated_dilemma").names
    rules, scores = list(names["RULES"]), names["scores"]
    for (i, first), (j, second) in product(enumerate(rules[:4]), repeat=2):
        assert scores[i, j].tolist() == pytest.approx(played(first, second))
    # tit for tat with JOSS: the state is what either did last, and both cooperate first
    chances, totals = {(0, 0): 1.0}, [3.0, 3.0]
    for _ in range(199):
        joint: dict[tuple[int, int], float] = {}
        for (tft, joss), p in chances.items():
            for defects, q in ((0, 0.0 if tft else 0.9), (1, 1.0 if tft else 0.1)):
                joint[joss, defects] = joint.get((joss, defects), 0.0) + p * q
        for (a, b), p in joint.items():
            totals = [totals[0] + p * (3, 0, 5, 1)[2 * a + b], totals[1] + p * (3, 0, 5, 1)[2 * b + a]]
        chances = joint
    assert scores[0, 4].tolist() == pytest.approx(totals)
    # with RANDOM, Grofman's rule cooperates with probability 9/14, and Davis's defects after ten rounds
    assert scores[1, 5, 0] == pytest.approx(1.5 + 199 * (9 / 14 * 1.5 + 5 / 14 * 3))
    assert scores[3, 5, 0] == pytest.approx(10 * 1.5 + 190 * 3, abs=0.01)
    means = dict(zip(rules, scores[:, :, 0].mean(axis=1), strict=True))
    assert min(means[name] for name in rules[:4]) > max(means["joss"], means["random"])


@pytest.mark.slow
def test_a_0_tom_is_a_kalman_filter() -> None:
    mean, variance, predicted = 0.0, 1.0, [0.5]
    for theirs in (1, 1, 0, 1):
        p = 1 / (1 + math.exp(-mean))
        variance = 1 / (1 / (variance + math.exp(-2)) + p * (1 - p))
        mean += variance * (theirs - p)
        predicted.append(1 / (1 + math.exp(-mean / math.sqrt(1 + 0.36 * variance))))
    assert " ".join(f"{p:.4f}" for p in predicted) in classic("k_tom").ours
    assert classic("k_tom").names["posteriors"][-1].mode == "1-ToM"


@pytest.mark.slow
def test_food_trucks_in_vectors() -> None:
    names = classic("food_trucks").names
    level, last = names["level"], names["observers"][-1].posterior
    hypotheses = Hypotheses(FoodTruckPlanner(level.world), levels=(-20.0, 40.0, 100.0), intervals=2)
    posterior = JointInference(hypotheses).posteriors(level.parked, level.cells, level.actions)[-1]
    expected = posterior.sum(axis=1) @ hypotheses.desires
    assert [last.expect(lambda mind, k=k: mind.desire[k]) for k in range(3)] == pytest.approx(expected.tolist())
    assert expected[2] > expected[0] > expected[1]  # Mexican, Korean, Lebanese


@pytest.mark.slow
def test_a_straight_walk_rules_out_no_subgoal_and_a_detour_has_one() -> None:
    names = classic("maze_subgoals").names
    a, straight, detour = names["A"], names["straight"], names["detour"]
    plans = names["posterior"](straight)
    chances = [plans.prob((cell, a)) for cell in straight[:-1]]
    assert chances == pytest.approx([chances[0]] * len(chances))
    # without a subgoal it is as probable as with all cells of the way at first
    assert plans.prob((a,)) == pytest.approx(45 * chances[0])
    plans = names["posterior"](detour)
    assert plans.mode == ((0, 4), a)
    assert plans.expect(lambda plan: len(plan) == 2) > 0.99
    # the first step of the detour by hand: up for the corner or B, not for A
    left = {cell: abs(cell[0] - 8) + abs(cell[1]) for cell in ((1, 0), (0, 1))}
    weights = {cell: math.exp(-2.5 * steps) for cell, steps in left.items()}
    assert names["policy"]((0, 0), (a,)).prob((0, 1)) == pytest.approx(weights[0, 1] / sum(weights.values()))


def shares(taken: str) -> Iterator[tuple[int, int, int, Fraction]]:
    """The worth of the near and the far fruit, the effort, and P(takes this one), for every agent."""
    for near, far, effort in product(range(10), range(10), range(3)):
        gain = (near - effort) - (far - 4 * effort)
        p_near = Fraction(1, 2) if gain == 0 else Fraction(int(gain > 0))
        yield near, far, effort, p_near if taken == "near" else 1 - p_near


@pytest.mark.slow
def test_utilities_are_counted() -> None:
    run = classic("naive_utility")
    for taken, sign in (("near", 1), ("far", -1)):
        agents = list(shares(taken))
        likes = sum(p for near, far, _, p in agents if sign * (near - far) > 0) / sum(p for *_, p in agents)
        assert run.names["likes"](taken).prob(taken) == pytest.approx(float(likes))
        assert f"takes the {taken} one: P(likes it more) = {float(likes):.3f}" in run.printed
    fond = [agent for agent in shares("near") if agent[1] > agent[0] + 2]
    tired = sum(p for _, _, effort, p in fond if effort == 2) / sum(p for *_, p in fond)
    assert f"likes the far one much more: P(tired) = {float(tired):.3f}" in run.printed


@pytest.mark.slow
def test_utility_of_a_choice_is_the_expected_maximum() -> None:
    after_choice = classic("preference_from_choice").names["after_choice"]
    for n in range(1, 6):
        integral, _ = quad(lambda u, n=n: u * n * norm.pdf(u) * norm.cdf(u) ** (n - 1), -8, 8)
        assert after_choice(n).expect(float) == pytest.approx(integral, abs=1e-4)
    assert after_choice(2).expect(float) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-4)
    assert after_choice(3).expect(float) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-4)


@pytest.mark.slow
def test_rewards_by_sampling_costs_and_rewards() -> None:
    names, rng, n = classic("cost_and_reward").names, np.random.default_rng(0), 200_000
    first, second = rng.random((2, n))
    low, medium, high = (rng.uniform(base, base + 0.2, n) for base in (0.0, 0.4, 0.8))
    betas = np.linspace(0.01, 20, 400)
    gains = np.linspace(-1, 1, 201)
    weights = betas * np.exp(-betas)
    act = (1 / (1 + np.exp(-np.outer(gains, betas)))) @ weights / weights.sum()

    def p(gain: Any) -> Any:
        return np.interp(gain, gains, act)

    likelihood = (p(first - low) * (1 - p(first - medium)) * p(second - medium) * (1 - p(second - high))) ** 4
    for k, reward in enumerate((first, second)):
        ours = names["worth"].expect(lambda rewards, k=k: rewards[k])
        assert ours == pytest.approx((reward * likelihood).sum() / likelihood.sum(), abs=0.01)
    # what is less probable is looked at for longer
    assert names["choice"].prob("first") < names["choice"].prob("second")
    assert names["LOOKING"]["first"] > names["LOOKING"]["second"]


@pytest.mark.slow
def test_help_and_hindrance_by_plain_loops() -> None:
    names, cell, odds = classic("help_or_hinder_2009").names, 0, dict.fromkeys(product((-4, 4), (2, -2, 0)), 1.0)
    for step, (agent, move) in enumerate((("big", -1), ("small", 1), ("big", -1), ("small", 1), ("big", -1)), 1):
        for end, rho in odds:
            value = {dx: -abs(end - cell - dx) * (rho if agent == "big" else 1) for dx in (-1, 0, 1)}
            weights = {dx: math.exp(v - 0.5 * abs(dx) * (agent == "big")) for dx, v in value.items()}
            odds[end, rho] *= weights[move] / sum(weights.values())
        cell += move
        ours = names["beliefs"][step].map(lambda minds: minds[1])
        for rho, name in ((2, "helps"), (-2, "hinders"), (0, "does not care")):
            expected = sum(w for (_, r), w in odds.items() if r == rho) / sum(odds.values())
            assert ours.prob(name) == pytest.approx(expected)
    # the first push says nothing of the goal, and as much for help as for hindrance
    pushed = names["beliefs"][1]
    assert pushed.map(lambda minds: minds[0]).prob("flower") == pytest.approx(0.5)
    assert pushed.map(lambda minds: minds[1]).prob("helps") == pytest.approx(
        pushed.map(lambda minds: minds[1]).prob("hinders")
    )

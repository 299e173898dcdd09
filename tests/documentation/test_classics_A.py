"""Classics of Theory of Mind in examples/classics: they give the published figures, and what plain loops give."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import math
import re
import runpy
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from paths import ROOT

CLASSICS = ROOT / "examples" / "classics"
NAMES = (
    "sally_anne",
    "unexpected_contents",
    "ice_cream_van",
    "cheryls_birthday",
    "muddy_children",
    "scalar_implicature",
    "politeness",
    "hyperbole",
    "pedagogical_sampling",
    "persuasion",
    "schelling",
    "monty_hall",
)
LINES = 30  # of code, at most
FIGURE = re.compile(r"(\d+(?:\.\d+)?) \((?:published|by hand) (\d+(?:\.\d+)?)\)")

pytestmark = pytest.mark.slow


class Run(NamedTuple):
    names: SimpleNamespace
    printed: str
    files: list[str]


@cache
def run(name: str) -> Run:
    """What a classic defines, prints and draws; run once for all tests."""
    printed = io.StringIO()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, matplotlib.rc_context():
        patch.chdir(folder)
        patch.setattr(sys, "argv", [name, folder])
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(str(CLASSICS / f"{name}.py"), run_name="__main__")
        plt.close("all")
        return Run(SimpleNamespace(**names), printed.getvalue(), sorted(path.name for path in Path(folder).iterdir()))


def code_lines(text: str) -> int:
    """Lines that are not blank, not only a comment, and not part of a docstring."""
    defined = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docs = [node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, defined) and ast.get_docstring(node)]
    inside = {line for doc in docs for line in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and n not in inside for n, line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_classic_is_short_says_its_source_and_draws_one_picture(name: str) -> None:
    text = (CLASSICS / f"{name}.py").read_text("utf-8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    assert code_lines(text) <= LINES
    assert "Published: " in doc
    assert doc.splitlines()[-1].startswith("Try: ")
    assert run(name).files == [f"{name}.svg"]


@pytest.mark.parametrize("name", sorted({*NAMES} - {"unexpected_contents", "ice_cream_van", "cheryls_birthday"}))
def test_what_is_printed_agrees_to_the_digits_published(name: str) -> None:
    pairs = FIGURE.findall(run(name).printed)
    assert pairs
    for ours, published in pairs:
        assert f"{float(ours):.{len(published.partition('.')[2])}f}" == published


def exactly(belief: Any) -> dict[Any, float]:
    return dict(zip(belief.support, belief.probs, strict=True))


# False beliefs


def test_sally_looks_where_memo_says_that_she_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    classic = run("sally_anne").names
    memo = {"nothing": (0.99, 0.01), "it stay": (1.0, 0.0), "it move": (0.0, 1.0)}  # demo-sally-anne.ipynb
    for saw, figures in memo.items():
        belief = classic.believed_place(saw)
        assert (belief.prob("box"), belief.prob("basket")) == pytest.approx(figures)
    coin = type(classic.anne).uniform(("it stay", "it move"))
    monkeypatch.setitem(classic.believed_place.__globals__, "anne", coin)
    assert classic.believed_place("nothing").prob("box") == pytest.approx(0.5)


def test_whoever_has_not_looked_expects_what_the_label_says() -> None:
    classic, printed = run("unexpected_contents").names, run("unexpected_contents").printed
    answers = re.findall(r"^(.+): (\w+) .* published (\w+); from own knowledge: (\w+)$", printed, re.MULTILINE)
    assert answers == [
        ("the child now", "pencils", "pencils", "pencils"),
        ("the child before", "Smarties", "Smarties", "pencils"),
        ("the friend", "Smarties", "Smarties", "pencils"),
    ]
    assert exactly(classic.belief(False)) == pytest.approx({"Smarties": 0.95, "pencils": 0.05})
    assert exactly(classic.belief(True)) == {"pencils": 1.0}


def test_john_thinks_of_the_park_unless_he_overhears(monkeypatch: pytest.MonkeyPatch) -> None:
    classic = run("ice_cream_van").names
    answers = {("John",): "church", ("Mary",): "church", ("John", "Mary"): "park", ("Mary", "John"): "park"}
    assert {chain: classic.believed_place(chain).mode for chain in answers} == answers
    assert classic.believed_place(("John", "Mary")).prob("park") == pytest.approx(0.9)
    overheard = (*classic.EVENTS[:2], ("church", {"John", "Mary"}))
    monkeypatch.setitem(classic.believed_place.__globals__, "EVENTS", overheard)
    assert exactly(classic.believed_place(("John", "Mary"))) == pytest.approx({"church": 1.0})


# Knowledge about knowledge


def talk(dates: set[tuple[str, int]], month: int = 0, day: int = 1) -> set[tuple[str, int]]:
    """What Albert, who is told the month, and Bernard, told the day, leave possible: by counting."""

    def alone(part: int, date: tuple[str, int], among: set[tuple[str, int]]) -> bool:
        return [other[part] for other in among].count(date[part]) == 1

    certain = {date for date in dates if alone(day, date, dates)}
    said = {d for d in dates if not alone(month, d, dates) and d[month] not in {other[month] for other in certain}}
    heard = {d for d in said if d not in certain and alone(day, d, said)}
    return {d for d in heard if alone(month, d, heard)}


def test_cheryl_is_born_on_july_16_and_frank_on_april_30() -> None:
    classic = run("cheryls_birthday").names
    assert exactly(classic.conversation(classic.CHERYL)[-1]) == {("July", 16): 1.0}
    assert exactly(classic.conversation(classic.SPRING)[-1]) == {("April", 30): 1.0}
    left = [len(belief) for belief in classic.conversation(classic.CHERYL)]
    assert left == [10, 10, 5, 3, 1]
    dates = {(month, day) for month, days in classic.CHERYL.items() for day in days}
    assert talk(dates) == {("July", 16)}
    assert talk(dates, month=1, day=0) == {("June", 17)}


def test_any_conversation_leaves_what_counting_leaves() -> None:
    conversation, rng = run("cheryls_birthday").names.conversation, np.random.default_rng(16)
    sizes = []
    for _ in range(60):
        months = {month: tuple(np.flatnonzero(rng.random(5) < 0.5)) for month in ("May", "June", "July", "August")}
        left = talk({(month, int(day)) for month, days in months.items() for day in days})
        sizes.append(len(left))
        if left:
            assert set(conversation(months)[-1].support) == left
        else:
            with pytest.raises(ValueError, match="at least one outcome"):
                conversation(months)
    assert {0, 1} <= set(sizes)


def test_muddy_children_know_at_the_question_of_their_number() -> None:
    classic = run("muddy_children").names
    for others in itertools.product((False, True), repeat=4):
        faces = (True, *others)
        told = [belief.prob(True) for belief in classic.beliefs(faces, classic.start)]
        assert told == pytest.approx([0.5] * (sum(faces) - 1) + [1.0])


# Talking and teaching


def test_some_means_all_with_probability_one_over_n_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    classic = run("scalar_implicature").names
    assert classic.listener("some").probs == pytest.approx((0, 4 / 9, 4 / 9, 1 / 9))
    for n in range(1, 8):
        monkeypatch.setitem(classic.listener.__globals__, "N", n)
        said = {k: (Fraction(1, n), Fraction(1 if k == n else 0)) for k in range(1, n + 1)}  # L0 of "some", of "all"
        some = {k: p / (p + all_of_them) for k, (p, all_of_them) in said.items()}
        assert some[n] / sum(some.values()) == Fraction(1, n * n)
        assert classic.listener("some").prob(n) == pytest.approx(1 / (n * n))


def test_polite_words_are_those_of_memo_and_of_plain_loops() -> None:
    classic = run("politeness").names
    memo = {  # its demo-politeness, run: hearts × words
        0.9: ((0.815, 0.185, 0, 0), (0.219, 0.324, 0.458, 0), (0, 0.262, 0.371, 0.367), (0, 0, 0.134, 0.866)),
        0.1: ((0.177, 0.823, 0, 0), (0.007, 0.042, 0.950, 0), (0, 0.007, 0.154, 0.840), (0, 0, 0.129, 0.871)),
    }
    truth = np.array([[1, 0.5, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 0.5, 1]])
    said = truth / truth.sum(axis=0)
    heard = said / said.sum(axis=1, keepdims=True)
    for phi, hearts in itertools.product((0.1, 0.3, 0.5, 0.9), range(4)):
        weights = [heard[w, hearts] ** (3 * phi) * math.exp(3 * (1 - phi) * (heard[w] @ range(4))) for w in range(4)]
        probs = classic.speaker(hearts, phi).probs
        assert probs == pytest.approx(np.array(weights) / sum(weights))
        if phi in memo:
            assert probs == pytest.approx(memo[phi][hearts], abs=5.1e-4)


def test_ten_thousand_dollars_mean_a_feeling_more_than_a_price() -> None:
    """As memo's model in problang-v2 says, and a sum over goals, prices and feelings."""
    classic = run("hyperbole").names
    prices = (50, 51, 500, 501, 1000, 1001, 5000, 5001, 10000, 10001)
    p_price = (0.4205, 0.3865, 0.0533, 0.0538, 0.0223, 0.0211, 0.0112, 0.0111, 0.0083, 0.0120)
    p_upset = dict(zip(prices, np.repeat((0.3173, 0.7920, 0.8933, 0.9524, 0.9864), 2), strict=True))
    states = list(itertools.product(prices, (True, False)))
    literal = {(price, upset): p_upset[price] if upset else 1 - p_upset[price] for price, upset in states}
    goals = (
        lambda p, a: (p, None),
        lambda p, a: (None, a),
        lambda p, a: (p, a),
        lambda p, a: (p // 10, None),
        lambda p, a: (p // 10, a),
    )
    joint = dict.fromkeys(itertools.product(prices, states), 0.0)
    for goal, (price, upset) in itertools.product(goals, states):
        weights = []
        for said in prices:
            likeness = sum(literal[said, a] for a in (True, False) if goal(said, a) == goal(price, upset))
            weights.append(likeness * (1 if said % 10 == 0 else math.exp(-1)))
        for said, weight in zip(prices, weights, strict=True):
            prior = dict(zip(prices, p_price, strict=True))[price] * literal[price, upset]
            joint[said, (price, upset)] += prior * weight / sum(weights)
    for said in (50, 501, 10000):
        total = sum(joint[said, state] for state in states)
        posterior = {state: joint[said, state] / total for state in states}
        assert exactly(classic.listener(said)) == pytest.approx(posterior)
    dear = classic.listener(10000)
    memo = {(50, True): 0.190, (51, True): 0.174, (10000, True): 0.232, (10001, True): 0.151, (50, False): 0.021}
    assert {state: dear.prob(state) for state in memo} == pytest.approx(memo, abs=5.1e-4)


def test_green_is_taught_for_a_and_rolled_by_b() -> None:
    classic = run("pedagogical_sampling").names
    dice = {"A": {"red": 0, "green": 2, "blue": 8}, "B": {"red": 1, "green": 3, "blue": 6}}
    shown = {die: {side: Fraction(n, 10) for side, n in sides.items()} for die, sides in dice.items()}
    p_b = []
    for depth in range(6):
        learnt = {
            side: {die: shown[die][side] / sum(d[side] for d in shown.values()) for die in dice} for side in dice["B"]
        }
        p_b.append(learnt["green"]["B"])
        assert classic.learner("green", depth).prob("B") == pytest.approx(float(p_b[-1]))
        totals = {die: sum(learnt[side][die] for side in learnt) for die in dice}
        shown = {die: {side: learnt[side][die] / totals[die] for side in learnt} for die in dice}
    assert p_b[0] == Fraction(3, 5)  # "about 60 %"
    assert round(float(p_b[1]), 1) == 0.4  # "about 40 %"
    assert p_b == sorted(p_b, reverse=True)
    assert classic.learner("green", 20).prob("A") < 0.7


# Games


def test_the_prosecutor_gets_twice_as_many_convicted_as_are_guilty(monkeypatch: pytest.MonkeyPatch) -> None:
    classic = run("persuasion").names
    assert classic.best == pytest.approx((0.575, 1.0))  # demo-persuasion.ipynb
    assert classic.convicted((4 / 7, 1.0)) == pytest.approx(0.6)  # Kamenica and Gentzkow
    assert classic.convicted(classic.best) == pytest.approx(0.3 + 0.7 * 0.425)
    rng = np.random.default_rng(60)
    for required in (0.5, 0.9):
        monkeypatch.setitem(classic.convicted.__globals__, "REQUIRED", required)
        for exonerated, incriminated in rng.uniform(0.5, 1.0, size=(60, 2)).tolist():
            results = ((0.3 * incriminated, 0.7 * (1 - exonerated)), (0.3 * (1 - incriminated), 0.7 * exonerated))
            p = sum(guilty + innocent for guilty, innocent in results if guilty >= required * (guilty + innocent))
            assert classic.convicted((exonerated, incriminated)) == pytest.approx(p)
            assert p <= 0.3 / required  # no test does better: the posterior is the prior on average


def test_thinking_on_leads_to_the_popular_bar() -> None:
    """The odds are those of popularity, to the power of twice the depth for Alice, and one more for Bob."""
    classic = run("schelling").names
    memo = {1: (0.599, 0.510, 0.529), 2: (0.691, 0.556, 0.588), 3: (0.769, 0.625, 0.663), 4: (0.833, 0.702, 0.739)}
    memo |= {5: (0.881, 0.774, 0.806), 6: (0.917, 0.835, 0.860), 7: (0.943, 0.882, 0.902), 8: (0.961, 0.918, 0.932)}
    for depth, figures in memo.items():
        alice, bob, simpler = (Fraction(11, 9) ** power for power in (2 * depth, 2 * depth + 1, 2 * depth - 1))
        meet = [(alice * other + 1) / (alice + 1) / (other + 1) for other in (simpler, bob)]
        exact = [float(p) for p in (alice / (alice + 1), *meet)]
        goes = classic.alice(depth)
        ours = [goes.prob("Alibi"), *(goes.expect(classic.bob(level).prob) for level in (depth - 1, depth))]
        assert ours == pytest.approx(exact)
        assert ours == pytest.approx(figures, abs=5.1e-4)


def test_switch_if_monty_knows() -> None:
    classic = run("monty_hall").names
    assert classic.alice(True).prob(2) == pytest.approx(2 / 3)
    for knows in (True, False):
        cases = dict.fromkeys(range(3), Fraction(0))
        for prize in range(3):
            doors = [door for door in (1, 2) if not (knows and door == prize)]
            if 1 in doors and prize != 1:
                cases[prize] = Fraction(1, len(doors))
        posterior = [float(p / sum(cases.values())) for p in cases.values()]
        assert [classic.alice(knows).prob(door) for door in range(3)] == pytest.approx(posterior)

"""Particles against exact enumeration of an agent's possible beliefs, weighted by Bayes' rule and evenly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooks import cook, random_steps, small_kitchen
from kitchens import kitchen
from otherminds.observer import Observer
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.kitchen import NOTHING
from otherminds.worlds.overcooked.planner import OvercookedPlanner
from otherminds.worlds.overcooked.rules import UNSEEN, KitchenView, Overcooked, State

GOALS = ("SimpleTomato", "SimpleLettuce", "SimpleOnion")
MANNERS = {"beta": 1.0, "lapse": 0.1}
SIZES = (5, 25, 125)
TRIALS = 6


class Case(NamedTuple):
    """A kitchen in which every part exists once, and what its only cook does."""

    world: Overcooked
    deeds: tuple[str, ...]


# What is missing may lie in the room to the left or in the one to the right; whoever goes there knows, and if it is not
# there, imagines it anew.
CASES = {
    "one thing out of sight": Case(kitchen("#-#-#-#-#", "- D 1 D -", "#-#/*p#t#"), ("stay", "left")),
    "two out of sight": Case(kitchen("#-#-#-#l#", "- D 1 D -", "#-#/*p#t#"), ("right", "left", "left")),
    "three out of sight": Case(kitchen("#-#-#-#l#", "p D 1 D -", "#-#/*-#t#"), ("right", "left", "left")),
    "one imagined anew": Case(
        kitchen("#-#-#-#-#", "- D 1 D -", "#-#/*p#t#"), ("left", "left", "right", "right", "right", "stay", "left")
    ),
    "two imagined anew": Case(
        kitchen("#-#-#-#-#", "l D 1 D -", "#-#/*p#t#"), ("left", "left", "right", "right", "right", "left", "left")
    ),
}


# Exactly


Path = tuple[State, tuple[float, ...]]


def exact(case: Case) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """P(goal | deeds) after every deed: by Bayes' rule, and with all paths of beliefs counting alike."""
    world = case.world
    state, planner = world.initial, OvercookedPlanner(world.layout)
    view = world.observe(state, "Ana")
    start = beliefs(world, None, view)
    paths: dict[Path, float] = {(b, (1.0,) * len(GOALS)): p for b, p in start}
    bayes, even = [], []
    for deed in case.deeds:
        state = world.advance(state, (deed,))
        view = world.observe(state, "Ana")
        found: dict[Path, float] = defaultdict(float)
        for (belief, likelihoods), p in paths.items():
            now = tuple(q * chance(world, planner, belief, g, deed) for q, g in zip(likelihoods, GOALS, strict=True))
            for after, share in beliefs(world, belief, view):
                found[after, now] += p * share
        paths = dict(found)
        weights = np.array([[p * q for q in likelihoods] for (_, likelihoods), p in paths.items()])
        chances = np.array(list(paths.values()))
        bayes.append(weights.sum(axis=0) / weights.sum())
        even.append(chances @ (weights / weights.sum(axis=1, keepdims=True)))
    return bayes, even


def chance(world: Overcooked, planner: OvercookedPlanner, belief: State, goal: str, deed: str) -> float:
    """π(deed | belief, goal), by the definition."""
    costs = np.array(planner.action_costs(goal, belief.cells[0], belief.hands[0], belief.on), dtype=float)
    weights = np.exp(-MANNERS["beta"] * (costs - costs.min()))
    p = (1 - MANNERS["lapse"]) * weights / weights.sum() + MANNERS["lapse"] / len(costs)
    return float(p[["up", "down", "left", "right", "stay"].index(deed)])


def beliefs(world: Overcooked, before: State | None, view: KitchenView) -> list[tuple[State, float]]:
    """All kitchens that may be imagined after a view, with their probabilities; things are not worked on here."""
    seen = {*view.on, *view.hands} - {UNSEEN, NOTHING}
    old = before.on if before else (NOTHING,) * len(view.on)
    on = [(NOTHING if was in seen else was) if sees == UNSEEN else sees for was, sees in zip(old, view.on, strict=True)]
    missing = [item for item in world.items if item not in (*on, *view.hands)]
    usable = {k for k in range(len(on)) if world.layout.beside[k] and view.on[k] == UNSEEN and not on[k]}
    free = sorted(usable if before else usable - world.layout.boards)
    ways = [dict(zip(ks, missing, strict=True)) for ks in permutations(free, len(missing))]
    found = [tuple(way.get(k, there) for k, there in enumerate(on)) for way in ways]
    return [(State(view.cells, view.hands, each, ((),) * len(view.delivered)), 1 / len(found)) for each in found]


# With particles


def watched(case: Case, particles: Sequence[int], even: bool) -> Iterator[list[float]]:
    """P(goal) after every deed, from minds with one kitchen in mind each."""
    world = case.world
    shared = OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items)
    minds = [cook(world, goal, 0, shared, particle=n, **MANNERS) for n in particles for goal in GOALS]
    state = world.initial
    observer = Observer.over(minds).see(world.observe(state, "Ana"))
    for deed in case.deeds:
        state = world.advance(state, (deed,))
        observer = observer.watch(deed, world.observe(state, "Ana"))
        observer = observer.equalise(lambda mind: mind.particle) if even else observer
        belief = observer.ask(lambda mind: mind.goal)
        yield [belief.prob(goal) for goal in GOALS]


@pytest.mark.slow
@pytest.mark.parametrize("even", [False, True], ids=["Bayes", "even"])
@pytest.mark.parametrize("name", CASES)
def test_the_more_particles_the_nearer_to_exact(name: str, even: bool) -> None:
    case = CASES[name]
    truth = exact(case)[even]
    errors = {n: mean_distance(case, truth, n, even) for n in SIZES}
    assert errors[5] > errors[25] > errors[125]
    assert errors[125] < 0.06
    assert errors[125] < 0.4 * errors[5]


def mean_distance(case: Case, truth: Sequence[np.ndarray], n: int, even: bool) -> float:
    """The total variation distance, over all steps and some trials with particles of their own."""
    trials = [watched(case, range(1000 * t, 1000 * t + n), even) for t in range(TRIALS)]
    distances = [abs(np.array(p) - q).sum() / 2 for trial in trials for p, q in zip(trial, truth, strict=True)]
    return float(np.mean(distances))


@pytest.mark.parametrize("name", ["one imagined anew", "two imagined anew"])
def test_the_two_weightings_are_not_the_same(name: str) -> None:
    bayes, even = exact(CASES[name])
    assert [sum(p) for p in (*bayes, *even)] == pytest.approx([1.0] * 2 * len(bayes))
    assert max(abs(p - q).max() for p, q in zip(bayes, even, strict=True)) > 0.1


@pytest.mark.slow
def test_what_is_out_of_sight_matters() -> None:
    """Otherwise one particle would be as good as many."""
    for case in CASES.values():
        found = {tuple(round(p, 6) for p in list(watched(case, [n], even=False))[-1]) for n in range(40)}
        assert len(found) > 1


def test_a_thing_that_is_not_where_it_was_thought_to_be_is_imagined_in_all_other_places() -> None:
    case = CASES["one imagined anew"]
    world, state = case.world, case.world.initial
    view = world.observe(state, "Ana")
    first = beliefs(world, None, view)
    state = world.advance(world.advance(state, ("left",)), ("left",))
    counts = [len(beliefs(world, b, world.observe(state, "Ana"))) for b, _ in first]
    assert min(counts) == 1
    assert max(counts) > 1


# Nobody is lost


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_no_mind_is_ever_lost_whatever_is_done_and_seen(seed: int) -> None:
    world = small_kitchen(seed, ("SimpleTomato", "SimpleOnion"), "l", walls="-", rooms=2)
    minds = [cook(world, goal, lapse=0.05, beta=3.0, particle=n) for n in range(3) for goal in GOALS]
    bayes = even = Observer.over(minds).see(world.observe(world.initial, "Ana"))
    for step in random_steps(world, seed, 15):
        view = world.observe(step.after, "Ana")
        bayes, even = bayes.watch(step.joint["Ana"], view), even.watch(step.joint["Ana"], view).equalise(particle)
        assert len(bayes.minds) == len(even.minds) == len(minds)
        assert min(bayes.posterior.probs) > 0
        shares = [sum(p for mind, p in even.posterior if mind.particle == n) for n in range(3)]
        assert shares == pytest.approx([1 / 3] * 3)


def particle(mind: Cook) -> int:
    return mind.particle


def test_without_lapses_a_particle_that_explains_nothing_is_out() -> None:
    world = kitchen("######", "t1  2#", "#/*po#")
    minds = [cook(world, goal, beta=np.inf) for goal in ("SimpleTomato", "SimpleOnion")]
    observer = Observer.over(minds).see(world.observe(world.initial, "Ana"))
    after = world.advance(world.initial, ("left", "stay"))
    assert observer.watch("left", world.observe(after, "Ana")).ask(lambda m: m.goal).prob("SimpleTomato") == 1
    with pytest.raises(ValueError, match="none of the 2 minds"):
        observer.watch("down", world.observe(world.initial, "Ana"))
    assert replace(minds[0], lapse=0.1) != minds[0]

"""Minds with social preferences against plain loops over their equations, and recovery of their parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from otherminds.evaluation.choices import Choices, simulated
from otherminds.evaluation.fitting import weakly
from otherminds.evaluation.likelihoods import Likelihood, one_by_one
from otherminds.worlds.offers.preferences import PREFERENCES
from otherminds.worlds.offers.rules import (
    ULTIMATUM_RESPONDER,
    Division,
    Floats,
    dictator_gifts,
    in_amounts,
    trust_investments,
    trust_returns,
    ultimatum_offers,
    ultimatum_responses,
)

ACCEPTED = 1.0 / (1.0 + np.exp(-(np.arange(11) - 2.5)))  # chances of offers of 0 to 10
TASKS: dict[str, tuple[Division, list[Floats]]] = {
    "responder": (ULTIMATUM_RESPONDER, [ultimatum_responses(offer, 10) for offer in range(11)]),
    "proposer": (
        in_amounts("ultimatum:proposer", range(11)),
        [ultimatum_offers(pie, ACCEPTED, largest=10) for pie in (10, 8, 6, 4)],
    ),
    "dictator": (in_amounts("dictator:dictator", range(11)), [dictator_gifts(10), dictator_gifts(7, largest=10)]),
    "investor": (
        in_amounts("trust:investor", range(11)),
        [trust_investments(10, [low, low + 0.4]) for low in (0.0, 0.2, 0.4)],
    ),
    "trustee": (
        in_amounts("trust:trustee", range(31)),
        [trust_returns(sent, 10, trustee_has=10) for sent in range(11)],
    ),
}


def faced(task: str, people: int, trials: int) -> Choices:
    """What people face who meet all divisions of a task in turn, with no choices made."""
    division, divisions = TASKS[task]
    every = np.stack([divisions[t % len(divisions)] for t in range(trials)])
    names, nothing = tuple(f"p{n}" for n in range(people)), np.zeros((people, trials), dtype=np.intp)
    return Choices(
        names,
        ("all",) * people,
        np.arange(people),
        (division,) * people,
        nothing,
        nothing,
        np.tile(np.arange(trials), (people, 1)),
        divisions=np.tile(every, (people, 1, 1, 1, 1)),
    )


def chooser(name: str, task: Division, **values: float) -> Any:
    """A mind with these parameters, others in the middle of their plausible values."""
    mind = PREFERENCES[name]
    return mind.mind(task, **{p.name: values.get(p.name, sum(p.typical) / 2) for p in mind.parameters})


def utility(name: str, own: float, other: float, values: dict[str, float]) -> float:
    if name == "inequity_aversion":
        return own - values["envy"] * max(other - own, 0) - values["guilt"] * max(own - other, 0)
    if name == "altruism":
        return own + values["weight"] * other
    if name == "maximin_efficiency":
        return own + values["maximin"] * min(own, other) + values["efficiency"] * (own + other)
    if name == "ratio_fairness":
        share = own / (own + other) if own + other > 0 else 0.5
        return own - values["fairness"] * (share - 0.5) ** 2
    return own


def oracle(name: str, divisions: Floats, values: dict[str, float]) -> list[float]:
    """π by loops over options and responses."""
    possible = [a for a, responses in enumerate(divisions) if sum(p for p, _, _ in responses) > 0]
    scale = max(own + other for responses in divisions for _, own, other in responses)
    weights = [0.0] * len(divisions)
    for a in possible:
        expected = sum(p * utility(name, own / scale, other / scale, values) for p, own, other in divisions[a])
        weights[a] = math.exp(values.get("beta", 0.0) * expected)
    return [weight / sum(weights) for weight in weights]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", PREFERENCES)
def test_policies_are_those_of_plain_loops(name: str, task: str) -> None:
    mind, like, rng = PREFERENCES[name], faced(task, 3, 11), np.random.default_rng(0)
    values = {p.name: rng.uniform(*p.typical, size=(3, 2)) for p in mind.parameters}
    shape = (3, 2 if values else 1, 11, like.games[0].shape[0])
    crowd = np.broadcast_to(Likelihood.of(mind, like).probabilities(values), shape)
    plain = one_by_one(mind, like, values)
    assert like.divisions is not None
    for n, k, t in np.ndindex(shape[:3]):
        expected = oracle(name, like.divisions[n, t], {key: float(value[n, k]) for key, value in values.items()})
        assert crowd[n, k, t] == pytest.approx(expected, abs=1e-8)
        assert plain[n, k, t] == pytest.approx(expected, abs=1e-8)


def test_an_envious_responder_rejects_two_of_ten() -> None:
    mind = chooser("inequity_aversion", ULTIMATUM_RESPONDER, envy=1.0, guilt=0.3, beta=10.0)
    facing = mind.observe(ultimatum_responses(2, 10))
    # U(accept) = 0.2 − 1 · 0.6 = −0.4 and U(reject) = 0, as shares of the pie
    assert facing.act().prob(1) == pytest.approx(1.0 / (1.0 + math.exp(4.0)))
    # U(accept) = 0.7 − 0.3 · 0.4
    assert mind.observe(ultimatum_responses(7, 10)).act().prob(1) == pytest.approx(1.0 / (1.0 + math.exp(-5.8)))
    assert chooser("selfish", ULTIMATUM_RESPONDER).observe(ultimatum_responses(2, 10)).act().mode == 1


def test_stakes_do_not_matter() -> None:
    for name in PREFERENCES:
        one = chooser(name, ULTIMATUM_RESPONDER)
        small, large = (one.observe(ultimatum_responses(0.3 * pie, pie)).act().probs for pie in (1, 1000))
        assert small == pytest.approx(large), name


def test_the_response_is_averaged_over_in_utility_not_in_money() -> None:
    # money is even on average, and never is: aversion to inequity sees the difference
    risky = np.array([[[0.5, 10.0, 0.0], [0.5, 0.0, 10.0]], [[0.5, 5.0, 5.0], [0.5, 5.0, 5.0]]])
    task = Division("choice", ("risky", "even"))
    averse = chooser("inequity_aversion", task, envy=0.5, guilt=0.5, beta=4.0)
    assert averse.observe(risky).act().prob(1) == pytest.approx(1.0 / (1.0 + math.exp(-2.0)))
    assert chooser("selfish", task).observe(risky).act().probs == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("name", PREFERENCES)
def test_impossible_options_are_never_chosen(name: str) -> None:
    plain = chooser(name, in_amounts("trust:trustee", range(7)))
    assert plain.act().probs == pytest.approx((1 / 7,) * 7), "it does not know yet"
    facing = plain.observe(trust_returns(1, 2))
    assert facing == plain.observe(None).observe(trust_returns(2, 2)).observe(trust_returns(1, 2))
    assert hash(facing) == hash(plain.observe(trust_returns(1, 2)))
    assert facing.act().probs[4:] == (0.0,) * 3
    assert sum(facing.act().probs[:4]) == pytest.approx(1.0)
    assert plain.observe(np.zeros((7, 1, 3))).act().probs == pytest.approx((1 / 7,) * 7), "there is nothing to choose"
    missing = trust_returns(1, 2)
    missing[4:, :, 1:] = np.nan
    assert plain.observe(missing).act() == facing.act(), "money of what is impossible does not matter"


@pytest.mark.parametrize("name", PREFERENCES)
def test_parameters_at_their_bounds_give_probabilities(name: str) -> None:
    mind = PREFERENCES[name]
    bounds = np.array(list(product(*((p.low, p.high) for p in mind.parameters))))
    values = {p.name: bounds[None, :, i] for i, p in enumerate(mind.parameters)}
    assert mind.many is not None
    for division, divisions in TASKS.values():
        crowd = mind.many(np.array([divisions[:2]]), values)
        policy = crowd.observe(np.zeros(1), np.zeros(1)).act()
        assert policy.shape == (1, len(bounds), len(division.options))
        assert np.isfinite(policy).all()
        assert policy.sum(axis=2) == pytest.approx(1.0)


def test_only_divisions_are_faced() -> None:
    assert all(mind.fits(ULTIMATUM_RESPONDER) and not mind.fits(None) for mind in PREFERENCES.values())


# What choices show of parameters


@pytest.mark.parametrize(
    ("name", "task", "one", "same"),
    [
        ("altruism", "dictator", {"weight": 0.5, "beta": 10.0}, {"weight": 0.0, "beta": 5.0}),
        ("altruism", "trustee", {"weight": 0.5, "beta": 10.0}, {"weight": 0.0, "beta": 5.0}),
        ("maximin_efficiency", "dictator", {"efficiency": 0.0}, {"efficiency": 1.0}),
        ("maximin_efficiency", "trustee", {"efficiency": 0.0}, {"efficiency": 1.0}),
        (  # beta (1 − 2 guilt) and beta (1 + 2 envy) are the same
            "inequity_aversion",
            "dictator",
            {"beta": 10.0, "guilt": 0.2, "envy": 1.0},
            {"beta": 12.0, "guilt": 0.25, "envy": 0.75},
        ),
        (
            "inequity_aversion",
            "trustee",
            {"beta": 10.0, "guilt": 0.2, "envy": 1.0},
            {"beta": 12.0, "guilt": 0.25, "envy": 0.75},
        ),
    ],
)
def test_what_choices_among_divisions_of_one_sum_cannot_tell_apart(
    name: str, task: str, one: dict[str, float], same: dict[str, float]
) -> None:
    division, divisions = TASKS[task]
    for faced_now in divisions:
        first, second = (chooser(name, division, **values).observe(faced_now).act().probs for values in (one, same))
        assert first == pytest.approx(second, abs=1e-9)


def test_those_who_never_get_more_than_half_do_not_show_guilt() -> None:
    for offer in range(6):
        facing = ultimatum_responses(offer, 10)
        minds = (chooser("inequity_aversion", ULTIMATUM_RESPONDER, guilt=guilt) for guilt in (0.1, 0.9))
        first, second = (mind.observe(facing).act() for mind in minds)
        assert first == second


def recovered(name: str, task: str, people: int = 60, trials: int = 40) -> dict[str, float]:
    """Correlations of the parameters of simulated people with those fitted to their choices."""
    mind, like, rng = PREFERENCES[name], faced(task, people, trials), np.random.default_rng(4)
    true = {p.name: rng.uniform(*p.typical, size=people) for p in mind.parameters}
    played = replace(like, own=simulated(mind, like, true, rng).own)
    found = weakly(Likelihood.of(mind, played)).values
    return {key: float(np.corrcoef(true[key], found[key])[0, 1]) for key in true}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task", "parameter", "least"),
    [
        ("inequity_aversion", "responder", "envy", 0.8),
        ("altruism", "proposer", "weight", 0.9),
        ("ratio_fairness", "responder", "fairness", 0.9),
        ("ratio_fairness", "dictator", "fairness", 0.9),
        ("ratio_fairness", "trustee", "fairness", 0.9),
    ],
)
def test_preferences_are_recovered_in_the_roles_that_show_them(
    name: str, task: str, parameter: str, least: float
) -> None:
    assert recovered(name, task)[parameter] > least

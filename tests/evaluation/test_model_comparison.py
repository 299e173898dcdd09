"""Comparison over people, shares of strategies beside an independent implementation, and checks by simulation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from otherminds.evaluation import model_comparison
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import weakly
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.model_comparison import (
    Mixture,
    behaviour,
    compare,
    power,
    predicted_behaviour,
    random_effects,
    recover,
    strategy_shares,
)
from otherminds.papers.people.datasets import STRATEGIES, bots, dataset, dilemma, strategies
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.players.parametric import MINDS

Floats = NDArray[np.float64]


def test_people_who_agree_leave_no_doubt() -> None:
    found = random_effects(np.tile([0.0, -20.0, -20.0], (30, 1)))
    assert found.shares[0] == pytest.approx(31 / 33, abs=2e-3)
    assert found.exceedance[0] > 0.999
    assert found.risk < 1e-6
    assert found.protected == pytest.approx(found.exceedance, abs=1e-4)


def test_without_evidence_all_models_are_alike() -> None:
    found = random_effects(np.zeros((20, 4)))
    assert found.shares == pytest.approx([0.25] * 4, abs=0.01)
    assert found.risk > 0.5
    assert found.protected == pytest.approx([0.25] * 4, abs=0.01)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_shares_are_those_of_numerical_integration(scale: float, seed: int) -> None:
    log_evidence = np.random.default_rng(seed).normal(0.0, scale, (3, 2))
    share = (np.arange(10_000) + 0.5) / 10_000
    by_person = np.exp(log_evidence[:, :1]) * share + np.exp(log_evidence[:, 1:]) * (1.0 - share)
    weights = by_person.prod(axis=0) / by_person.prod(axis=0).sum()
    of_first = (weights * np.exp(log_evidence[:, :1]) * share / by_person).sum(axis=1)
    found = random_effects(log_evidence)
    assert found.shares[0] == pytest.approx((weights * share).sum(), abs=0.01)
    assert found.exceedance[0] == pytest.approx(weights[share > 0.5].sum(), abs=0.01)
    assert found.responsibilities[:, 0] == pytest.approx(of_first, abs=0.01)
    assert [found.exceedance.sum(), found.shares.sum()] == pytest.approx([1.0, 1.0])


@cache
def shares(treatment: str) -> Mixture:
    return strategy_shares(strategies(), dataset("human-ipd").of_group(treatment))


@pytest.mark.slow
def test_shares_are_those_of_a_plain_finite_mixture() -> None:
    """An independent implementation: counts of matching choices by hand, and a general optimiser."""
    choices = dataset("human-ipd").of_group("D75R40")
    wrong, total = np.zeros((len(choices.people), 6)), np.zeros(len(choices.people))
    for s, n in enumerate(choices.person):
        hurt, mine, punish, own_last, their_last = False, False, 0, None, None
        for own, theirs in zip(choices.own[s][choices.played[s]], choices.theirs[s][choices.played[s]], strict=True):
            copy = 0 if their_last is None else their_last
            pavlov = 0 if their_last is None else int(own_last != their_last)
            expected = (1, 0, int(hurt or mine), copy, pavlov, int(punish > 0))
            wrong[n] += [own != one for one in expected]
            total[n] += 1
            hurt, mine = hurt or theirs == 1, mine or own == 1
            punish = punish - 1 if punish else 2 * int(own == 1 or theirs == 1)
            own_last, their_last = own, theirs

    def cost(x: Floats) -> float:
        share = np.exp(x[:6] - np.logaddexp.reduce(x[:6]))
        slip = 0.5 / (1.0 + np.exp(-x[6]))
        logs = wrong * np.log(slip) + (total[:, None] - wrong) * np.log(1.0 - slip)
        return -float(np.logaddexp.reduce(logs + np.log(share), axis=1).sum())

    best = min((minimize(cost, np.r_[np.zeros(6), start], method="BFGS") for start in (-2.0, 0.0)), key=lambda r: r.fun)
    found = shares("D75R40")
    expected = np.exp(best.x[:6] - np.logaddexp.reduce(best.x[:6]))
    assert found.shares == pytest.approx(expected, abs=0.01)
    assert (np.abs(found.shares - expected) <= np.maximum(found.errors, 0.01)).all()
    assert found.tremble == pytest.approx(1.0 / (1.0 + np.exp(-best.x[6])), abs=0.002)
    assert found.log_likelihood >= -best.fun - 0.01


@pytest.mark.slow
def test_every_person_has_a_strategy() -> None:
    found = shares("D75R40")
    assert found.responsibilities.sum(axis=1) == pytest.approx(1.0)
    assert found.responsibilities.mean(axis=0) == pytest.approx(found.shares, abs=1e-3)
    assert len(found.shares) == len(STRATEGIES)


@cache
def few() -> Choices:
    every = dataset("human-rps").subset(range(0, 217, 18))
    own, theirs, number = (part[:, :120] for part in (every.own, every.theirs, every.number))
    return Choices(every.people, every.groups, every.person, every.games, own, theirs, number)


@pytest.mark.slow
def test_minds_are_compared_on_what_they_were_not_fitted_to() -> None:
    minds = [MINDS[name] for name in ("chance", "wsls")]
    found = compare(minds, few())
    assert found.held_out[:, 0] == pytest.approx(-np.log(3) * found.held_out_choices)
    assert found.over().shares[1] > 0.5
    assert [round(one.value, 3) for one in found.per_choice()] == pytest.approx([-1.099, -0.96], abs=0.15)
    assert found.fits[1].bic.sum() < found.fits[0].bic.sum()
    assert compare(minds, replace(few(), groups=("all",) * 13), "person").held_out.shape == found.held_out.shape


@pytest.mark.slow
def test_simulated_people_are_recognised() -> None:
    minds = [MINDS[name] for name in ("chance", "own_transitions", "reply_transitions")]
    for m, mind in enumerate(minds):
        _, found = recover(mind, minds, few(), np.random.default_rng(0), bots())
        assert found.by_person[m] >= 0.8
        assert found.by_person.sum() == found.by_group.sum() == pytest.approx(1.0)
        assert found.ahead > 0.0
        assert found.nearest != mind.name
    wsls = MINDS["wsls"]
    (win_stay, _), _ = recover(wsls, [wsls], few(), np.random.default_rng(0), bots())
    assert win_stay.r > 0.9
    assert win_stay.rival == "lose_shift"
    assert win_stay.error < 0.5


def with_cooperators(people: int, rounds: int) -> Choices:
    """People in a dilemma, who cooperate now and then, with partners who always do."""
    own = np.random.default_rng(0).integers(2, size=(people, rounds))
    names, number = tuple(map(str, range(people))), np.tile(np.arange(1, rounds + 1), (people, 1))
    games = (dilemma(40.0),) * people
    return Choices(names, ("g",) * people, np.arange(people), games, own, np.zeros_like(own), number)


@pytest.mark.slow
def test_partners_that_react_teach_more_than_moves_played_again() -> None:
    """Whoever copies a partner that always cooperates may as well always cooperate."""
    like = with_cooperators(8, 40)
    forgiving, copier = (mind for mind in strategies() if mind.name in ("TFT", "ALLC"))
    assert copier.name == "TFT"
    (_, replayed), (_, reacting) = (
        recover(copier, [forgiving, copier], like, np.random.default_rng(0), partners)
        for partners in (None, {"g": partner("tft", dilemma(40.0).seen_by(1))})
    )
    assert replayed.ahead == pytest.approx(0.0, abs=1e-6)
    assert reacting.ahead > 1.0
    assert reacting.by_person[1] > 0.5


@pytest.mark.slow
def test_effects_are_looked_for_in_simulated_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_comparison, "SIMULATIONS", 3)
    choices = replace(with_cooperators(9, 20), covariates={"third": tuple("abcabcabc")})
    (copier,) = (mind for mind in strategies() if mind.name == "TFT")
    found = power(copier, choices, "third", np.random.default_rng(0))
    assert [(one.parameter, one.of) for one in found] == [("tremble", "b against a"), ("tremble", "c against a")]
    for one in found:
        assert abs(one.size) >= model_comparison.LEAST_EFFECT
        assert one.simulations == 3
        for chance in (one.found, one.covered, one.found_without):
            assert 0.0 <= chance <= 1.0
            assert 3.0 * chance == pytest.approx(round(3.0 * chance))


@pytest.mark.slow
def test_fitted_people_behave_as_the_real_ones() -> None:
    choices = few()
    found = weakly(Likelihood.of(MINDS["wsls"], choices))
    real, ours = behaviour(choices, 3), predicted_behaviour(found, choices, 3, np.random.default_rng(0), bots())
    assert ours.switches == pytest.approx(real.switches, abs=0.1)
    assert ours.earned.shape == (3,)

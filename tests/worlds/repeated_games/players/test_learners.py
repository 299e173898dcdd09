"""Players that learn from nothing: optimism, frequencies, and best responses to these, by hand and on any history."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.worlds.repeated_games.machines import Machine, Partner, all_memory_one, constant
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.players.learners import Counts, FictitiousPlay, RMax, SplitPlayer, tabular
from otherminds.worlds.repeated_games.rules import Game, Outcome

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
PENNIES = Game("pennies", ("you", "partner"), (("0", "1"),) * 2, ((-1, 1), (1, -1), (1, -1), (-1, 1)))
WIDE = Game("wide", ("you", "partner"), (("0", "1"), ("0", "1", "2")), ((0, 1), (3, 0), (1, 1), (2, 0), (0, 2), (1, 0)))

Rounds = list[tuple[int, int]]
games = st.sampled_from([RPS, IBS, IPD, WIDE])


def seen(game: Game, played: Rounds) -> list[Outcome]:
    payoff = game.payoff()
    return [Outcome(own, theirs, float(payoff[own, theirs])) for own, theirs in played]


def after(mind: RMax, game: Game, played: Rounds) -> RMax:
    for outcome in seen(game, played):
        mind = mind.observe(outcome)
    return mind


def counted(counts: Counts, played: Rounds) -> Counts:
    for own, theirs in played:
        counts = counts.observe(Outcome(own, theirs, 0.0))
    return counts


@st.composite
def histories(draw: st.DrawFn) -> tuple[Game, Rounds]:
    game = draw(games)
    own, theirs = game.payoff().shape
    pairs = st.tuples(st.integers(0, own - 1), st.integers(0, theirs - 1))
    return game, draw(st.lists(pairs, max_size=20))


# RMax


@pytest.mark.parametrize("game", [RPS, IBS, IPD])
def test_all_actions_are_alike_before_anything_is_known(game: Game) -> None:
    options = len(game.payoff())
    assert RMax.of(game).act().probs == pytest.approx([1 / options] * options)


def test_what_was_not_tried_is_tried_before_what_was() -> None:
    mind = after(RMax.of(IPD), IPD, [(0, 0), (0, 0)])
    assert mind.act().support == (1,)


def test_a_loop_of_the_largest_payoff_is_no_better_than_the_unknown() -> None:
    for exact_ties in (False, True):
        mind = after(RMax.of(IBS, exact_ties=exact_ties), IBS, [(0, 0), (0, 0)])
        assert mind.act().probs == pytest.approx((0.5, 0.5))


def test_what_leads_to_the_unknown_beats_a_closed_loop_of_equal_payoff_unless_ties_are_exact() -> None:
    """After (0, 1), action 0 leads to a loop that pays 1 for ever, and action 1, for 1, to where 1 was not tried."""
    game = Game("loops", ("you", "partner"), (("0", "1"),) * 2, ((1, 0), (1, 0), (0, 0), (1, 0)))
    played = [(0, 1), (0, 0), (0, 0), (1, 0), (0, 1), (1, 1), (0, 1)]
    assert after(RMax.of(game), game, played).act().support == (1,)
    assert after(RMax.of(game, exact_ties=True), game, played).act().probs == pytest.approx((0.5, 0.5))


def test_a_loop_that_pays_less_is_left_for_good() -> None:
    """Against a partner who always fights, all is known after four rounds, and fighting is better."""
    played = [(0, 0), (0, 0), (1, 0), (1, 0), (0, 0)]
    for exact_ties in (False, True):
        assert after(RMax.of(IBS, exact_ties=exact_ties), IBS, played).act().support == (0,)


def test_the_first_visit_counts() -> None:
    once = after(RMax.of(IPD), IPD, [(0, 0), (0, 0)])
    again = once.observe(Outcome(0, 1, 0.0)).observe(Outcome(0, 0, 8.0)).observe(Outcome(0, 1, 0.0))
    assert again.model[1] == once.model[1]


def test_it_knows_of_payoffs_no_more_than_the_largest() -> None:
    other = Game("other", IPD.agents, IPD.actions, ((0, 0), (10, 1), (3, 2), (7, 7)))
    assert RMax.of(other) == RMax.of(IPD)


@pytest.mark.parametrize("machine", list(all_memory_one(IPD)), ids=lambda machine: machine.name)
def test_once_all_is_known_it_maximises_discounted_payoffs(machine: Machine) -> None:
    rng = np.random.default_rng(5)
    mind, partner = RMax.of(IPD), machine.start
    for _ in range(60):
        outcome = outcome_of(int(rng.integers(2)), partner, rng)
        mind, partner = mind.observe(outcome), partner.observe(mirrored(IPD, outcome))
    worth = discounted(machine)
    for _ in range(12):
        best = worth[partner.state].max()
        assert all(worth[partner.state, a] > best - 2e-3 for a in mind.act().support)
        outcome = outcome_of(mind.act().sample(rng), partner, rng)
        mind, partner = mind.observe(outcome), partner.observe(mirrored(IPD, outcome))


def outcome_of(own: int, partner: Partner, rng: np.random.Generator) -> Outcome:
    theirs = partner.act().sample(rng)
    return Outcome(own, theirs, float(IPD.payoff()[own, theirs]))


def discounted(machine: Machine, discount: float = 0.9) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Q(q, a) of a deterministic partner's states, by very many sweeps."""
    states = range(len(machine.outputs))
    does = [law.index(1.0) for law in machine.outputs]
    worth = np.zeros((len(does), 2))
    for _ in range(500):
        value = worth.max(axis=1)
        for q, a in product(states, range(2)):
            worth[q, a] = IPD.payoff()[a, does[q]] + discount * value[machine.moves[q][does[q]][a]]
    return worth


@pytest.mark.slow
@given(histories(), st.booleans())
def test_the_same_history_makes_an_equal_mind(history: tuple[Game, Rounds], exact_ties: bool) -> None:
    game, played = history
    first, second = (after(RMax.of(game, exact_ties=exact_ties), game, played) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first.act() == second.act()


# Counts


def test_frequencies_are_those_of_the_same_context() -> None:
    counts = counted(Counts.of(IPD), [(0, 1), (0, 0), (0, 1), (0, 0), (0, 1), (1, 0), (0, 1)])
    assert counts.predict().probs == pytest.approx((4 / 5, 1 / 5))  # after (0, 1) came 0 thrice
    assert counted(counts, [(0, 0)]).predict().probs == pytest.approx((1 / 4, 3 / 4))  # after (0, 0) came 1 twice
    assert counted(counts, [(1, 1)]).predict().probs == pytest.approx((1 / 2, 1 / 2))


def test_frequencies_without_context_are_those_of_all_rounds() -> None:
    played = [(0, 2), (1, 2), (2, 0), (0, 2)]
    assert counted(Counts.of(RPS, context=False), played).predict().probs == pytest.approx((2 / 7, 1 / 7, 4 / 7))


def test_the_prior_is_what_every_count_starts_at() -> None:
    counts = counted(Counts.of(IPD, context=False, prior=0.5), [(0, 1)] * 3)
    assert counts.predict().probs == pytest.approx((0.125, 0.875))


def test_ties_are_broken_to_the_lowest_action() -> None:
    assert Counts.of(RPS).predict().mode == 0
    assert counted(Counts.of(RPS, context=False), [(0, 2), (0, 1), (0, 2), (0, 1)]).predict().mode == 1


@pytest.mark.slow
@given(histories())
def test_frequencies_are_those_that_one_counts_oneself(history: tuple[Game, Rounds]) -> None:
    game, played = history
    expected = counted(Counts.of(game), played).predict()
    *before, now = [None, *played]
    here = [theirs for context, (_, theirs) in zip(before, played, strict=True) if context == now]
    others = game.payoff().shape[1]
    assert expected.probs == pytest.approx([(here.count(b) + 1) / (len(here) + others) for b in range(others)])


@pytest.mark.slow
@given(histories(), st.booleans(), st.floats(0.01, 10))
def test_frequencies_are_a_distribution_over_all_actions(
    history: tuple[Game, Rounds], context: bool, prior: float
) -> None:
    game, played = history
    expected = counted(Counts.of(game, context=context, prior=prior), played).predict()
    assert expected.support == tuple(range(game.payoff().shape[1]))
    assert sum(expected.probs) == pytest.approx(1.0)
    assert min(expected.probs) > 0


# Two minds in one


def test_a_split_mind_acts_with_one_and_predicts_with_the_other() -> None:
    mind = SplitPlayer(constant(IPD, 1, agent=0).start, Counts.of(IPD, context=False))
    for outcome in seen(IPD, [(1, 0)] * 3):
        mind = mind.observe(outcome)
    assert mind.act().prob(1) == 1.0
    assert mind.predict().prob(0) == pytest.approx(4 / 5)


def test_the_tabular_baseline_is_both_of_its_parts() -> None:
    mind, actor, reader = tabular(IBS), RMax.of(IBS), Counts.of(IBS)
    for outcome in seen(IBS, [(0, 0), (1, 0), (0, 1), (0, 0), (0, 0)]):
        mind, actor, reader = mind.observe(outcome), actor.observe(outcome), reader.observe(outcome)
        assert mind.act() == actor.act()
        assert mind.predict() == reader.predict()


# Fictitious play


def test_fictitious_play_responds_to_frequencies() -> None:
    mind = FictitiousPlay.of(RPS)
    assert mind.act().probs == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    mind = mind.observe(Outcome(0, 1, -1.0))
    assert mind.predict().probs == pytest.approx((1 / 4, 1 / 2, 1 / 4))
    assert mind.act().support == (2,)
    mind = mind.observe(Outcome(2, 0, -1.0))
    assert mind.act().support == (1,)  # rock and paper are as frequent, and paper loses to neither


def test_fictitious_play_does_what_is_best_on_average() -> None:
    """In the Battle of the Sexes one expects 5 of fighting and 3.5 of the ballet if anything is as likely."""
    assert FictitiousPlay.of(IBS).act().support == (0,)
    mind = FictitiousPlay.of(IBS)
    for outcome in seen(IBS, [(0, 1), (0, 1)]):
        mind = mind.observe(outcome)
    assert mind.act().support == (1,)


@pytest.mark.slow
def test_fictitious_play_against_itself_comes_to_the_equilibrium_of_matching_pennies() -> None:
    mine, theirs, rng = FictitiousPlay.of(PENNIES), FictitiousPlay.of(PENNIES.seen_by(1)), np.random.default_rng(0)
    for _ in range(2000):
        own, other = mine.act().sample(rng), theirs.act().sample(rng)
        outcome = Outcome(own, other, float(PENNIES.payoff()[own, other]))
        mine, theirs = mine.observe(outcome), theirs.observe(mirrored(PENNIES, outcome))
    assert mine.predict().prob(0) == pytest.approx(0.5, abs=0.05)
    assert theirs.predict().prob(0) == pytest.approx(0.5, abs=0.05)


# All of them


@pytest.mark.parametrize("mind", [RMax.of(IPD), Counts.of(IPD), tabular(IPD), FictitiousPlay.of(IPD)])
def test_nothing_is_learnt_from_nothing(mind: RMax | Counts | SplitPlayer | FictitiousPlay) -> None:
    assert mind.observe(None) == mind
    before = hash(mind)
    assert mind.observe(Outcome(0, 1, 0.0)) != mind
    assert hash(mind) == before

"""Signallers and listeners: exact values, Bayes' rule by hand, and who loses what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.observer import Observer
from otherminds.worlds.clue_games.hanabi_players import (
    Listener,
    Signaller,
    bayesian,
    best,
    blind,
    earned,
    egocentric,
    informed,
    signallers,
)
from otherminds.worlds.clue_games.tiny_hanabi import PASS, Deal, HanabiView, TinyHanabi

WORLD = TinyHanabi()
PARTNERS = tuple(signallers(WORLD))

Subject = Callable[[Signaller], Listener]
SUBJECTS: dict[str, Subject] = {
    "informed": lambda partner: informed(WORLD, partner),
    "bayesian": lambda _: bayesian(WORLD),
    "egocentric": lambda _: egocentric(WORLD),
    "blind": lambda _: blind(WORLD),
}

cards = st.integers(0, 1)
deals = st.lists(st.tuples(cards, st.integers(0, 2)), max_size=5)


def after(listener: Listener, history: Sequence[tuple[int, int]]) -> Listener:
    """The listener after deals with these cards of the partner and these signals."""
    listener = listener.observe(HanabiView(0, None, None))
    for card, signal in history:
        listener = heard(listener, 0, signal).observe(HanabiView(0, None, Deal((card, 0), signal, 0)))
    return listener


def heard(listener: Listener, card: int, signal: int) -> Listener:
    """The listener with its own card and the signal; the deal before is still to be seen."""
    return listener.observe(HanabiView(card, signal, listener.view.last if listener.view else None))


def brute_force(world: TinyHanabi, strategy: Sequence[int]) -> float:
    """The highest expected payoff of any deterministic way to answer."""
    first, second, signals, actions = world.table.shape

    def worth(policy: Sequence[int]) -> float:
        deals = ((c, d, strategy[c]) for c, d in np.ndindex(first, second))
        total = sum(float(world.table[c, d, m, policy[d * signals + m]]) for c, d, m in deals)
        return float(total / (first * second))

    return max(worth(policy) for policy in product(range(actions), repeat=second * signals))


def test_there_are_nine_deterministic_conventions() -> None:
    assert [partner.strategy for partner in PARTNERS] == list(product(range(3), repeat=2))
    for partner, card in product(PARTNERS, (0, 1)):
        seen = partner.observe(HanabiView(card, None, None))
        assert seen.act().prob(partner.strategy[card]) == 1.0
        assert seen.observe(HanabiView(card, 1, None)).act().mode == PASS


def test_lapses_are_spread_over_all_signals() -> None:
    law = Signaller((2, 0), lapse=0.3).observe(HanabiView(0, None, None)).act()
    assert [law.prob(m) for m in range(3)] == pytest.approx([0.1, 0.1, 0.8])


# Exact values


def test_what_knowing_the_partner_is_worth() -> None:
    found = [earned(WORLD, partner, partner) for partner in PARTNERS]
    assert found == pytest.approx([brute_force(WORLD, partner.strategy) for partner in PARTNERS])
    assert (min(found), max(found)) == (5.0, 10.0)


@pytest.mark.slow
@given(st.lists(st.integers(-3, 9), min_size=16, max_size=16), st.tuples(cards, cards), st.tuples(cards, cards))
def test_best_responses_in_other_games(numbers: list[int], held: tuple[int, int], true: tuple[int, int]) -> None:
    table = np.array(numbers, dtype=float).reshape(2, 2, 2, 2)
    world = TinyHanabi(payoffs=tuple(tuple(tuple(map(tuple, m)) for m in d) for d in table.tolist()))
    optimum = brute_force(world, true)
    assert earned(world, Signaller(true, 2), Signaller(true, 2)) == pytest.approx(optimum)
    assert earned(world, Signaller(held, 2), Signaller(true, 2)) <= optimum + 1e-9


@pytest.mark.parametrize(("lapse", "published"), [(0.0, 61 / 27), (1e-9, 5 / 3)])
def test_interestingness_and_how_ties_matter(lapse: float, published: float) -> None:
    # 2.259 with the lowest action on signals that the partner one has in mind never gives, 1.667 if one makes
    # nothing of them
    pool = list(signallers(WORLD, lapse=lapse))
    lost = [earned(WORLD, true, true) - earned(WORLD, held, true) for held in pool for true in pool]
    assert np.mean(lost) == pytest.approx(published, abs=1e-6)
    assert min(lost) >= -1e-9


@pytest.mark.parametrize("partner", PARTNERS, ids=lambda partner: partner.name)
def test_the_optimum_of_deals_adds_up_to_the_optimum(partner: Signaller) -> None:
    by_deal = [best(WORLD, partner, d, partner.strategy[c]) for c in (0, 1) for d in (0, 1)]
    assert np.mean(by_deal) == pytest.approx(earned(WORLD, partner, partner))


# Literal


@pytest.mark.slow
@given(deals, st.integers(0, 2), st.sampled_from([0.1, 0.5]))
def test_the_posterior_is_bayes_rule_by_hand(history: list[tuple[int, int]], signal: int, lapse: float) -> None:
    def chance(strategy: tuple[int, ...], card: int, m: int) -> float:
        return (1 - lapse) * (strategy[card] == m) + lapse / 3

    joint = np.zeros(2)
    for strategy in product(range(3), repeat=2):
        weight = np.prod([chance(strategy, card, m) for card, m in history])
        joint += [weight * chance(strategy, card, signal) for card in (0, 1)]
    listener = heard(after(bayesian(WORLD, lapse=lapse), history), 1, signal)
    assert [listener.predict().prob(card) for card in (0, 1)] == pytest.approx(list(joint / joint.sum()))


def test_one_deal_shows_half_of_a_convention_and_two_may_show_all() -> None:
    once = after(bayesian(WORLD), [(0, 2)])
    assert {partner.strategy for partner, p in once.partners.posterior if p > 0} == {(2, 0), (2, 1), (2, 2)}
    assert once.observe(HanabiView(0, 1, None)).predict().prob(1) == 1.0
    # P(c₁ = 0 | signal 2) = 1 / (1 + 1/3)
    assert once.observe(HanabiView(0, 2, None)).predict().prob(0) == pytest.approx(0.75)
    twice = after(once, [(1, 1)])
    assert twice.partners.ask(lambda partner: partner.strategy).prob((2, 1)) == 1.0


def test_before_the_signal_nothing_is_known_and_nothing_done() -> None:
    for subject in SUBJECTS.values():
        for listener in (subject(PARTNERS[1]), after(subject(PARTNERS[1]), [(0, 0)])):
            assert listener.predict().probs == pytest.approx((0.5, 0.5))
            assert listener.act().mode == PASS


def test_who_learns_and_who_does_not() -> None:
    history = [(0, 0), (1, 2)] * 3
    signal = HanabiView(1, 0, None)
    assert after(bayesian(WORLD), history).observe(signal).predict().prob(0) == 1.0
    assert after(egocentric(WORLD), history).observe(signal).predict().prob(1) > 0.99
    assert after(blind(WORLD), history).observe(signal).predict().prob(0) == pytest.approx(0.5)


def test_egocentric_listeners_have_the_best_pair_of_policies_in_mind() -> None:
    (held,) = egocentric(WORLD).partners.minds
    assert held.strategy == (2, 0)
    assert egocentric(WORLD).observe(HanabiView(0, 1, None)).act().mode == 1


def test_impossible_signals_are_an_error_for_those_without_lapse() -> None:
    listener = informed(WORLD, Signaller((2, 0)))
    with pytest.raises(ValueError, match="finite"):
        listener.observe(HanabiView(0, 1, None)).predict()
    with pytest.raises(ValueError, match="none of the 1 minds"):
        after(listener, [(0, 1)])


# Functional


def expected_regrets(subject: Subject, partner: Signaller, rounds: int) -> list[float]:
    """The exact expected regret of each deal: every deal is followed, equal posteriors are merged."""
    reached = {(): (1.0, after(subject(partner), []))}
    found = []
    for _ in range(rounds):
        onward: dict[tuple[object, ...], tuple[float, Listener]] = {}
        lost = 0.0
        for (weight, listener), c, d in product(reached.values(), (0, 1), (0, 1)):
            signal = partner.strategy[c]
            action = heard(listener, d, signal).act().mode
            lost += weight / 4 * (best(WORLD, partner, d, signal) - WORLD.table[c, d, signal, action])
            later = after(listener, [(c, signal)])
            key = tuple(round(p, 9) for p in later.partners.posterior.probs)
            onward[key] = (onward.get(key, (0.0,))[0] + weight / 4, later)
        reached = onward  # type: ignore[assignment]
        found.append(lost)
    return found


def test_exact_regret_of_every_subject_with_every_partner() -> None:
    table = {
        name: np.array([expected_regrets(subject, partner, 4) for partner in PARTNERS])
        for name, subject in SUBJECTS.items()
    }
    for regrets in table.values():
        assert regrets.min() >= -1e-9
    assert np.abs(table["informed"]).max() < 1e-9
    assert table["bayesian"].mean(axis=0) == pytest.approx([5 / 3, 0, 0, 0])
    assert table["egocentric"].mean(axis=0) == pytest.approx([5 / 3] * 4)
    assert table["blind"].mean(axis=0) == pytest.approx([5 / 3] * 4)
    assert table["egocentric"][PARTNERS.index(Signaller((2, 0)))] == pytest.approx(0)
    assert table["egocentric"][PARTNERS.index(Signaller((0, 2)))] == pytest.approx(7.5)


@pytest.mark.slow
@given(deals, cards, st.integers(0, 2))
def test_actions_are_best_under_the_prediction(history: list[tuple[int, int]], card: int, signal: int) -> None:
    listener = heard(after(bayesian(WORLD, lapse=0.2), history), card, signal)
    worth = [listener.predict().expect(lambda c, a=a: WORLD.table[c, card, signal, a]) for a in range(3)]  # type: ignore[misc]
    assert worth[listener.act().mode] == pytest.approx(max(worth))


def test_minds_are_values() -> None:
    one, other = (after(bayesian(WORLD), [(0, 1)]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert isinstance(one.partners, Observer)

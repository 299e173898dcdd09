"""Kinds of partners against Bayes' rule over every single table of each kind, written out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import Machine, Partner, all_memory_one, all_reactive, constant
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.partner_hypotheses import (
    MINIMAL_NOISE,
    SIMPLICITY_PRIOR,
    ReactivePartner,
    reactive_observer,
)
from otherminds.worlds.repeated_games.rules import Game, Outcome
from strategies import generator

RPS, IPD = find_game("rps"), find_game("ipd")
WIDE = Game("wide", ("you", "partner"), (("a", "b"), ("x", "y", "z")), ((0, 0),) * 6)
TALL = Game("tall", ("you", "partner"), (("a", "b", "c"), ("x", "y")), ((0, 0),) * 6)
NAMES = ("constant", "reactive", "memory_one")

Pair = tuple[int, int]
Rounds = Sequence[Pair]
"""What the focal agent and the partner did, round by round."""


class Table:
    """A partner written out: its first action, and its reply to what the focal agent and it did last."""

    def __init__(self, first: int, replies: dict[Pair, int], options: int) -> None:
        self.first, self.replies, self.options = first, replies, options

    def law(self, last: Pair | None, noise: float) -> list[float]:
        """The probability of every action after a round, or before the first."""
        meant = self.first if last is None else self.replies[last]
        return [noise / self.options + (1 - noise) * (b == meant) for b in range(self.options)]

    def likelihood(self, rounds: Rounds, noise: float) -> float:
        """The probability that it does what the partner did."""
        lasts = [None, *rounds]
        return math.prod(self.law(last, noise)[b] for last, (_, b) in zip(lasts, rounds, strict=False))

    @property
    def values(self) -> tuple[int, ...]:
        return (self.first, *(self.replies[pair] for pair in sorted(self.replies)))


def tables(kind: str, game: Game) -> Iterator[Table]:
    """Every table of a kind."""
    own, theirs = game.shape
    pairs = list(product(range(own), range(theirs)))
    for first in range(theirs):
        if kind == "constant":
            yield Table(first, dict.fromkeys(pairs, first), theirs)
        elif kind == "reactive":
            for answers in product(range(theirs), repeat=own):
                yield Table(first, {(a, b): answers[a] for a, b in pairs}, theirs)
        else:
            for answers in product(range(theirs), repeat=len(pairs)):
                yield Table(first, dict(zip(pairs, answers, strict=True)), theirs)


def rounds_in(game: Game, most: int = 8) -> st.SearchStrategy[list[Pair]]:
    own, theirs = game.shape
    return st.lists(st.tuples(st.integers(0, own - 1), st.integers(0, theirs - 1)), max_size=most)


def seen_by_partner(pair: Pair) -> Outcome:
    a, b = pair
    return Outcome(b, a, 0.0)


def shown(mind: ReactivePartner, rounds: Rounds) -> ReactivePartner:
    mind = mind.observe(None)
    for pair in rounds:
        mind = mind.observe(seen_by_partner(pair))
    return mind


noises = st.sampled_from([MINIMAL_NOISE, 0.03, 0.3, 1.0])


# Expectations


@pytest.mark.slow
@settings(max_examples=12)
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("game", [IPD, WIDE, TALL])
@given(data=st.data(), noise=noises)
def test_what_it_does_next_is_bayes_rule_over_all_tables(
    kind: str, game: Game, data: st.DataObject, noise: float
) -> None:
    rounds = data.draw(rounds_in(game))
    last = rounds[-1] if rounds else None
    weighted = [(table.likelihood(rounds, noise), table.law(last, noise)) for table in tables(kind, game)]
    policy = shown(ReactivePartner.of(kind, game, noise), rounds).act()
    for b in range(game.shape[1]):
        expected = sum(w * law[b] for w, law in weighted) / sum(w for w, _ in weighted)
        assert policy.prob(b) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("constant", (0.9 / 57 + 0.1 / 3, 0.9 * 28 / 57 + 0.1 / 3, 0.9 * 28 / 57 + 0.1 / 3)),
        ("reactive", (0.9 / 30 + 0.1 / 3, 0.9 * 28 / 30 + 0.1 / 3, 0.9 / 30 + 0.1 / 3)),
        ("memory_one", (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_what_one_reply_says_of_another_context(kind: str, expected: tuple[float, ...]) -> None:
    """It did 2, then 1 after (0, 2); what after (0, 1), if its reply is 28 times as probable as a given slip?"""
    policy = shown(ReactivePartner.of(kind, RPS, 0.1), [(0, 2), (0, 1)]).act()
    assert [policy.prob(b) for b in range(3)] == pytest.approx(expected)


def test_kinds_can_be_compared_and_looked_up() -> None:
    one, other = (shown(ReactivePartner.of("reactive", IPD), [(0, 1), (1, 1)]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != shown(ReactivePartner.of("reactive", IPD), [(1, 1), (0, 1)])


# Drawn partners


def table_of(machine: Machine, game: Game) -> tuple[int, ...]:
    """What a machine does first, then after each pair, by asking it."""
    pairs = product(range(game.shape[0]), range(game.shape[1]))
    after = (machine.start.observe(seen_by_partner(pair)).act().mode for pair in pairs)
    return (machine.start.act().mode, *after)


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("game", "noise"), [(IPD, MINIMAL_NOISE), (IPD, 0.3), (WIDE, 0.3)])
def test_partners_are_drawn_as_often_as_they_are_probable(kind: str, game: Game, noise: float) -> None:
    rounds = [(0, 1), (1, 1), (0, 1), (1, 0)] if noise > MINIMAL_NOISE else [(0, 1), (1, 1)]
    held = list(tables(kind, game))
    weights = [table.likelihood(rounds, noise) for table in held]
    mind, rng, draws = shown(ReactivePartner.of(kind, game, noise), rounds), generator(3), 1500
    found = Counter(table_of(mind.sample_machine(rng).machine, game) for _ in range(draws))
    for table, weight in zip(held, weights, strict=True):
        p = weight / sum(weights)
        spread = math.sqrt(draws * p * (1 - p))
        assert abs(found[table.values] - draws * p) <= 5 * spread + 3


@settings(max_examples=12)
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("game", [IPD, WIDE, TALL, RPS])
@given(data=st.data(), noise=st.sampled_from([MINIMAL_NOISE, 0.2]), seed=st.integers(0, 1000))
def test_a_drawn_partner_stands_where_it_would_and_goes_on_as_its_table_says(
    kind: str, game: Game, data: st.DataObject, noise: float, seed: int
) -> None:
    rounds, later = data.draw(rounds_in(game, 5)), data.draw(rounds_in(game, 5))
    partner = shown(ReactivePartner.of(kind, game, noise), rounds).sample_machine(generator(seed))
    first, *replies = table_of(partner.machine, game)
    pairs = product(range(game.shape[0]), range(game.shape[1]))
    table = Table(first, dict(zip(pairs, replies, strict=True)), game.shape[1])
    last = rounds[-1] if rounds else None
    for pair in [*later, None]:
        law = [partner.act().prob(b) for b in range(game.shape[1])]
        assert law == pytest.approx(table.law(last, noise), abs=1e-12)
        if pair:
            partner, last = partner.observe(seen_by_partner(pair)), pair


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("game", [IPD, WIDE, TALL])
def test_partners_of_a_kind_are_drawn(kind: str, game: Game) -> None:
    possible = {table.values for table in tables(kind, game)}
    drawn = {
        table_of(ReactivePartner.of(kind, game).sample_machine(generator(seed)).machine, game) for seed in range(60)
    }
    assert drawn <= possible
    assert len(drawn) > min(len(possible), 60) / 2


@pytest.mark.slow
@given(st.sampled_from(NAMES), st.integers(0, 31), st.lists(st.integers(0, 1), min_size=1, max_size=9))
def test_who_never_slipped_is_drawn_as_what_was_seen(kind: str, number: int, deeds: list[int]) -> None:
    held = list(tables(kind, IPD))
    true, last, rounds = held[number % len(held)], None, list[Pair]()
    for a in deeds:
        last = (a, true.law(last, 0.0).index(1.0))
        rounds.append(last)
    partner = shown(ReactivePartner.of(kind, IPD), rounds).sample_machine(generator(number))
    retold = partner.machine.start
    for pair in rounds:
        assert retold.act().mode == pair[1]
        retold = retold.observe(seen_by_partner(pair))
    assert retold == partner


# Observers of kinds


def explicit(noise: float, prior: dict[str, float]) -> Observer[Partner]:
    """An observer over every machine of every kind, in a 2 × 2 game."""
    groups = {
        "constant": [constant(IPD, action) for action in range(2)],
        "reactive": list(all_reactive(IPD)),
        "memory_one": list(all_memory_one(IPD)),
    }
    held = [(prior[kind] / len(group), machine) for kind, group in groups.items() for machine in group]
    watched = Observer.over(machine.trembling(noise).start for _, machine in held)
    return replace(watched, weights=tuple(math.log(w) for w, _ in held))


@pytest.mark.slow
@settings(max_examples=25)
@given(
    rounds_in(IPD),
    st.sampled_from([MINIMAL_NOISE, 0.1]),
    st.sampled_from([dict(SIMPLICITY_PRIOR), {"constant": 0.2, "reactive": 0.7, "memory_one": 0.1}]),
)
def test_an_observer_of_kinds_is_one_of_all_machines(rounds: list[Pair], noise: float, prior: dict[str, float]) -> None:
    kinds, machines = reactive_observer(IPD, prior, noise), explicit(noise, prior)
    for pair in [*rounds, None]:
        for b in range(2):
            assert kinds.predict().prob(b) == pytest.approx(machines.predict().prob(b), abs=1e-9)
        by_kind = dict(kinds.ask(lambda kind: kind.name))
        sizes = [("constant", 2), ("reactive", 8), ("memory_one", 32)]
        names = [name for name, size in sizes for _ in range(size)]
        ps = [math.exp(w) for w in machines.weights]
        summed = {name: sum(p for n, p in zip(names, ps, strict=True) if n == name) / sum(ps) for name in NAMES}
        assert by_kind == pytest.approx(summed, abs=1e-7)
        if pair:
            outcome = seen_by_partner(pair)
            kinds, machines = kinds.watch(outcome.own, outcome), machines.watch(outcome.own, outcome)


def test_a_kind_with_no_share_is_out_of_the_question() -> None:
    observer = reactive_observer(IPD, {"constant": 0.5, "reactive": 0.0, "memory_one": 0.5})
    for pair in [(0, 1), (1, 1), (0, 0), (0, 1)]:
        assert observer.ask(lambda kind: kind.name).prob("reactive") == 0.0
        observer = observer.watch(pair[1], seen_by_partner(pair))
    assert observer.ask(lambda kind: kind.name).prob("memory_one") > 0.99


def test_any_deed_can_be_explained() -> None:
    observer = reactive_observer(IPD)
    for t in range(200):
        observer = observer.watch(t // 3 % 2, Outcome(t // 3 % 2, t % 2, 0.0))
    assert sum(observer.predict().probs) == pytest.approx(1.0)

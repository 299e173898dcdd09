"""Hypotheses about partners: all of them, all different, the simpler the likelier, and the right one is found."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest

from otherminds.planning.best_response import clairvoyant, commitment
from otherminds.worlds.in_the_matrix.hypotheses import (
    DEPTH,
    HORIZON,
    MARGIN,
    MOSTLY,
    NOISE,
    TIMES,
    TREMBLE,
    library,
    machine_of,
    meeting_game,
    named_strategies,
)
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.scenarios import bot, scenarios
from otherminds.worlds.in_the_matrix.strategies import Strategy
from otherminds.worlds.repeated_games.machines import Machine, equivalent
from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead
from otherminds.worlds.repeated_games.rules import Outcome
from random_machines import random_machines

RULES = {name: in_the_matrix(name).rules for name in SUBSTRATES}
RWS, PD = RULES["rws_repeated"], RULES["pd_repeated"]
BOTS = sorted({name for found in scenarios() for name in found.bots if bot(name).strategy is not None})
STRATEGIES = {name: {n for n, _ in named_strategies(rules)} for name, rules in RULES.items()}
MEETINGS = 16


def rules_of(bot: str) -> Rules:
    return RULES[bot.split("__")[0]]


def strategy_for(name: str) -> Strategy:
    strategy = bot(name).strategy
    assert strategy is not None
    return strategy


# The yardstick


def plays(machine: Machine, history: Sequence[Sequence[int]]) -> tuple[float, ...] | None:
    """What a machine does after a history of own and others' actions; None if it would not have come to that."""
    state = 0
    for own, theirs in history:
        if machine.outputs[state][own] == 0.0:
            return None
        state = machine.moves[state][own][theirs]
    return machine.outputs[state]


def test_machines_are_alike_if_no_history_tells_them_apart() -> None:
    held = list(random_machines(meeting_game(PD), 30, 3, np.random.default_rng(3)))
    histories = [h for n in range(6) for h in product(product(range(2), repeat=2), repeat=n)]
    pairs = list(combinations(held, 2))
    told = [all(plays(a, h) == plays(b, h) for h in histories) for a, b in pairs]
    assert [equivalent(a, b) for a, b in pairs] == told
    assert {True, False} == set(told)


def test_machines_are_alike_whatever_their_states() -> None:
    """One state or two for the same, what would follow a slip that never happens, and a difference that shows late."""
    still = Machine("one", ((1.0, 0.0),), (((0, 0), (0, 0)),))
    twice = Machine("two", ((1.0, 0.0), (1.0, 0.0)), (((1, 1), (1, 1)), ((0, 0), (0, 0))))
    steady = Machine("steady", ((1.0, 0.0), (0.0, 1.0)), (((0, 0), (1, 1)), ((0, 0), (1, 1))))
    late = Machine("late", ((1.0, 0.0), (0.0, 1.0)), (((0, 1), (0, 0)), ((1, 1), (1, 1))))
    assert equivalent(still, twice)
    assert equivalent(still, steady)
    assert not equivalent(twice, late)


# What there is


@pytest.mark.parametrize(
    ("rules", "sizes"),
    [
        (RWS, {"Script": 3 + 18, "CounterPrevious": 3, "FollowUp": 6}),
        (PD, {"Script": 2 + 6, "CounterPrevious": 2, "FollowUp": 2, "TitForTat": 2, "Grim": 3, "Corrigible": 8}),
    ],
)
def test_there_are_so_many_of_each_kind(rules: Rules, sizes: dict[str, int]) -> None:
    found = list(named_strategies(rules))
    assert Counter(type(strategy).__name__ for _, strategy in found) == sizes
    assert len(dict(found)) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBSTRATES)
def test_no_two_hypotheses_play_alike(name: str) -> None:
    machines = library(RULES[name]).machines
    assert [(a.name, b.name) for a, b in combinations(machines, 2) if equivalent(a, b)] == []


@pytest.mark.parametrize("bot", BOTS)
def test_every_bot_with_a_strategy_plays_like_one_hypothesis(bot: str) -> None:
    found = machine_of(bot, strategy_for(bot), meeting_game(rules_of(bot)))
    assert sum(equivalent(found, held) for held in library(rules_of(bot)).machines) == 1


@pytest.mark.parametrize(
    ("rules", "name", "first", "then"),
    [
        (RWS, "always paper", "1", {"0": "1", "1": "1", "2": "1"}),
        (RWS, "rock once, then paper", "0", {"0": "1", "1": "1", "2": "1"}),
        (RWS, "answers the last play: copies", "?", {"0": "0", "1": "1", "2": "2"}),
        (RWS, "answers the last play: rock→paper paper→scissors scissors→rock", "?", {"0": "1", "1": "2", "2": "0"}),
        (RWS, "answers the last play: rock→scissors paper→rock scissors→paper", "?", {"0": "2", "1": "0", "2": "1"}),
        (RWS, "goes on from paper: rock→paper paper→scissors scissors→rock", "1", {"0": "2", "1": "2", "2": "2"}),
        (PD, "tit for tat", "0", {"0": "0", "1": "1"}),
        (PD, "grim after 1", "0", {"0": "0", "1": "1"}),
        (PD, "grim after 2", "0", {"0": "0", "1": "0"}),
        (PD, "tit for tat once punished 1 times", "1", {"0": "1", "1": "0"}),
        (PD, "defect once, then cooperate", "1", {"0": "0", "1": "0"}),
    ],
)
def test_a_hypothesis_plays_what_its_name_says(rules: Rules, name: str, first: str, then: dict[str, str]) -> None:
    (found,) = [held for held in library(rules).machines if held.name == name]
    plays = ["?" if max(law) < 1.0 else str(law.index(1.0)) for law in found.outputs]
    own = 0 if first == "?" else int(first)
    assert plays[0] == first
    assert {str(theirs): plays[found.moves[0][own][theirs]] for theirs in range(len(then))} == then


@pytest.mark.parametrize("strikes", [1, 2, 3])
def test_patience_is_as_long_as_its_name_says(strikes: int) -> None:
    held = {found.name: found for found in library(PD).machines}
    grim, flip = held[f"grim after {strikes}"].start, held[f"cooperate {TIMES[strikes]}, then defect"].start
    corrigible = held[f"tit for tat once punished {strikes} times"].start
    for _ in range(strikes):
        assert (grim.act().mode, flip.act().mode, corrigible.act().mode) == (0, 0, 1)
        grim, flip = grim.observe(Outcome(0, 1, 0.0)), flip.observe(Outcome(0, 0, 0.0))
        corrigible = corrigible.observe(Outcome(1, 1, 0.0))
    assert (grim.act().mode, flip.act().mode, corrigible.act().mode) == (1, 1, 0)


@pytest.mark.parametrize("name", ["tit for tat", "tit for tat once punished 2 times"])
def test_noisy_ones_tremble(name: str) -> None:
    noisy = name.replace("tit for tat", "tit for tat, noisily")
    held = {found.name: found for found in library(PD).machines}
    assert {p for law in held[name].outputs for p in law} == {0.0, 1.0}
    chances = {round(p, 6) for law in held[noisy].outputs for p in law}
    assert chances - {0.0, 1.0} == {TREMBLE, 1 - TREMBLE}


# How likely they are


@pytest.mark.parametrize("name", ["rws_repeated", "pd_repeated"])
def test_one_state_more_makes_a_hypothesis_half_as_likely_and_so_does_being_loose(name: str) -> None:
    found = library(RULES[name])
    bits = [len(held.outputs) + (held.name not in STRATEGIES[name]) for held in found.machines]
    assert found.prior == pytest.approx(np.exp2(-np.array(bits)) / np.exp2(-np.array(bits)).sum())
    assert sum(found.prior) == pytest.approx(1.0)


# Habits


def habits(name: str) -> list[Machine]:
    return [held for held in library(RULES[name]).machines if held.name not in STRATEGIES[name]]


@pytest.mark.parametrize(("name", "kinds"), [("rws_repeated", 3), ("pd_repeated", 2)])
def test_there_is_a_habit_for_every_table_of_last_plays(name: str, kinds: int) -> None:
    """What is mostly played after each pair of last plays: all tables that hang on one of the two at most."""
    uniform, found = pytest.approx((1 / kinds,) * kinds), Counter[tuple[int, ...]]()
    free, *others = habits(name)
    assert free.name == "anything"
    assert free.outputs[0] == uniform
    for held in others:
        state = held.moves[0]
        laws = [held.outputs[state[own][theirs]] for own, theirs in product(range(kinds), repeat=2)]
        assert all(sorted(law) == pytest.approx([(1 - MOSTLY) / (kinds - 1)] * (kinds - 1) + [MOSTLY]) for law in laws)
        assert len(held.outputs) == 1 or held.outputs[0] == uniform
        assert all(moves == state for moves in held.moves)
        found[tuple(law.index(max(law)) for law in laws)] += 1
    tables = list(product(range(kinds), repeat=kinds))
    own = {tuple(table[a] for a, _ in product(range(kinds), repeat=2)) for table in tables}
    theirs = {tuple(table[b] for _, b in product(range(kinds), repeat=2)) for table in tables}
    assert found == Counter(own | theirs)


@pytest.mark.parametrize(
    ("name", "own", "theirs", "then"),
    [
        ("mostly paper", 0, 2, 1),
        ("mostly answers the last play: rock→rock paper→rock scissors→paper", 0, 2, 1),
        ("mostly answers the last play: rock→rock paper→rock scissors→paper", 2, 0, 0),
        ("mostly goes on: rock→rock paper→rock scissors→paper", 0, 2, 0),
        ("mostly goes on: rock→rock paper→rock scissors→paper", 2, 0, 1),
    ],
)
def test_a_habit_is_what_its_name_says(name: str, own: int, theirs: int, then: int) -> None:
    (held,) = [held for held in habits("rws_repeated") if held.name == name]
    assert held.start.observe(Outcome(own, theirs, 0.0)).act().mode == then


def test_partners_are_granted_slips_and_plans_take_them_at_their_word() -> None:
    found = library(RWS)
    assert (found.noise, found.horizon, found.depth, found.leaf) == (NOISE, HORIZON, DEPTH, clairvoyant)
    dilemma = library(in_the_matrix("pd_repeated").rules)
    assert (dilemma.depth, dilemma.leaf) == (1, commitment)
    expected = [(1 - NOISE) + NOISE / 3, NOISE / 3, NOISE / 3]
    assert found.slipping[0].outputs[0] == pytest.approx(expected)
    assert found.machines[0].outputs[0] == (1.0, 0.0, 0.0)
    assert found.game == meeting_game(RWS, MARGIN)


# Leaving out


def test_who_is_left_out_is_not_thought_of_and_the_rest_keep_their_odds() -> None:
    whole, less = library(PD), library(PD, without=("tit for tat", "grim after 2", "nobody"))
    kept = [held.name for held in less.machines]
    assert Counter(held.name for held in whole.machines) - Counter(kept) == Counter(("tit for tat", "grim after 2"))
    before = dict(zip((held.name for held in whole.machines), whole.prior, strict=True))
    scale = less.prior[0] / before[kept[0]]
    assert scale > 1
    assert less.prior == pytest.approx([scale * before[name] for name in kept])
    assert sum(less.prior) == pytest.approx(1.0)


@pytest.mark.slow
def test_without_any_strategy_there_are_habits_and_without_those_no_library() -> None:
    names = [name for name, _ in named_strategies(RWS)]
    left = [held.name for held in library(RWS, without=iter(names)).machines]
    assert left == [held.name for held in habits("rws_repeated")]
    assert [held.name for held in library(RWS, without=(*names[1:], *left[1:])).machines] == ["always rock", "anything"]
    with pytest.raises(ValueError, match="no hypothesis is left"):
        library(RWS, without=(*names, *left))


# Finding the right one


def after_meetings(bot: str, meetings: int, seed: int) -> tuple[BayesianLookahead, list[float], list[float]]:
    """What is thought of a bot that has played against anything; what it is expected to play, and what it will."""
    rules, rng = rules_of(bot), np.random.default_rng(seed)
    game, strategy = meeting_game(rules), strategy_for(bot)
    kinds, state = len(rules.resources), strategy.start().sample(rng)
    true = machine_of(bot, strategy, game).start
    mind = BayesianLookahead.of(library(rules))
    for _ in range(meetings):
        own, theirs = int(rng.integers(kinds)), state.aim.kind
        held = [tuple(1 + 5 * (k == kind) for k in range(kinds)) for kind in (own, theirs)]
        mind = mind.observe(Outcome(own, theirs, float(game.payoff()[own, theirs])))
        true = true.observe(Outcome(theirs, own, 0.0))
        state = strategy.update(state, held[1], held[0]).sample(rng)
    predicted = mind.predict()
    return mind, [predicted.prob(k) for k in range(kinds)], [true.act().prob(k) for k in range(kinds)]


@pytest.mark.slow
@pytest.mark.parametrize("bot", BOTS)
def test_after_some_meetings_a_partner_is_predicted_as_it_is(bot: str) -> None:
    """But for the slips that it is granted: |p̂ − p| ≤ noise, and what is left of other hypotheses."""
    for seed in range(3):
        _, expected, law = after_meetings(bot, MEETINGS, seed)
        assert expected == pytest.approx(law, abs=0.13), seed


@pytest.mark.parametrize("bot", [bot for bot in BOTS if "tremble" not in bot])
def test_the_most_probable_hypothesis_is_the_one_that_plays_like_the_partner(bot: str) -> None:
    """A state of its machine, to be exact; of trembling partners one cannot be sure so soon."""
    mind, _, law = after_meetings(bot, 2 * MEETINGS, 7)
    likeliest = mind.observer.posterior.mode
    held = next(one for one in mind.library.machines if likeliest.machine.name.startswith(f"{one.name}~"))
    assert list(held.outputs[likeliest.state]) == pytest.approx(law)


# Whom no strategy explains


def paid_by_a_stranger(bot: str, seed: int) -> float:
    """What a meeting pays with a bot whose own strategy is left out, over so many."""
    rules, rng = rules_of(bot), np.random.default_rng(seed)
    game, true = meeting_game(rules), machine_of(bot, strategy_for(bot), meeting_game(rules))
    same = [held.name for held in library(rules).machines if equivalent(held, true)]
    mind, partner, paid = BayesianLookahead.of(library(rules, without=same)), true.start, 0.0
    for _ in range(2 * MEETINGS):
        own, theirs = mind.act().mode, partner.act().sample(rng)
        paid += float(game.payoff()[own, theirs])
        mind, partner = mind.observe(Outcome(own, theirs, 0.0)), partner.observe(Outcome(theirs, own, 0.0))
    return paid / (2 * MEETINGS)


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["paper_margin_0", "flip_p2r_0", "resp2prev_margin_0"])
def test_a_partner_whom_no_strategy_explains_is_soon_seen_through(bot: str) -> None:
    """Two thirds of what the best reply wins; who plays anything wins nothing."""
    most = meeting_game(RWS).payoff().max()
    assert min(paid_by_a_stranger(f"rws_repeated__{bot}", seed) for seed in range(3)) > most * 2 / 3


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [5, 6])
def test_with_many_kinds_there_are_not_too_many_hypotheses(kinds: int) -> None:
    payoffs = tuple(tuple(float((a - b) % kinds == 1) for b in range(kinds)) for a in range(kinds))
    names = tuple(f"kind {k}" for k in range(kinds))
    rules = dataclasses.replace(RWS, resources=names, payoffs=(payoffs, payoffs))
    found = library(rules)
    assert len(found.machines) < 300
    habits = [one.name for one in found.machines if one.name.startswith("mostly")]
    assert len(habits) == kinds + 2 * kinds
    mind = BayesianLookahead.of(found).observe(Outcome(0, 1, 0.0))
    assert mind.predict().mode in range(kinds)

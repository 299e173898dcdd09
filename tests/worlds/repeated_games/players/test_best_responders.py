"""Players that act on what they expect: what is lost by looking one round ahead, and by a model that is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.evaluation.literal_functional import expected_regret
from otherminds.evaluation.tasks import Task
from otherminds.worlds.repeated_games.machines import (
    Machine,
    all_memory_one,
    all_reactive,
    constant,
    memory_one,
    reactive,
)
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import (
    Informed,
    Myopic,
    Rational,
    imagined_replies,
    mirrored,
)
from otherminds.worlds.repeated_games.players.learners import tabular
from otherminds.worlds.repeated_games.rules import Game, Outcome

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
TIT_FOR_TAT = reactive("tft", IPD, 0, [0, 1])
games = st.sampled_from([RPS, IBS, IPD])


@st.composite
def machines(draw: st.DrawFn, game: Game) -> Machine:
    options, others = game.payoff(1).shape
    states = draw(st.integers(1, 3))
    weights = st.lists(st.integers(0, 4), min_size=options, max_size=options).filter(any)
    outputs = [draw(weights) for _ in range(states)]
    to = st.lists(st.integers(0, states - 1), min_size=others, max_size=others).map(tuple)
    moves = draw(st.lists(st.tuples(*[to] * options), min_size=states, max_size=states))
    return Machine("random", tuple(tuple(w / sum(row) for w in row) for row in outputs), tuple(moves))


@st.composite
def partners(draw: st.DrawFn) -> tuple[Game, Machine]:
    game = draw(games)
    return game, draw(machines(game))


@st.composite
def forgetful(draw: st.DrawFn) -> tuple[Game, Machine]:
    """A partner whose action depends on the last round, up to chance."""
    game = draw(games)
    options, others = game.payoff(1).shape
    weights = st.lists(st.integers(0, 4), min_size=options, max_size=options).filter(any)
    laws = weights.map(lambda row: tuple(w / sum(row) for w in row))
    replies = [[draw(laws) for _ in range(others)] for _ in range(options)]
    return game, memory_one("random", game, draw(laws), replies)


# The other's view


def test_the_other_sees_the_round_with_roles_swapped() -> None:
    assert mirrored(IBS, Outcome(0, 0, 10.0)) == Outcome(0, 0, 7.0)
    assert mirrored(IPD, Outcome(1, 0, 10.0)) == Outcome(0, 1, 0.0)


@given(games, st.data())
def test_the_view_of_the_view_is_the_own(game: Game, data: st.DataObject) -> None:
    own, theirs = (data.draw(st.integers(0, size - 1)) for size in game.shape)
    outcome = Outcome(own, theirs, float(game.payoff()[own, theirs]))
    assert mirrored(game.seen_by(1), mirrored(game, outcome)) == outcome


# Who knows the truth


@pytest.mark.slow
@settings(max_examples=25)
@given(partners(), st.integers(1, 8))
def test_the_informed_lose_nothing(partner: tuple[Game, Machine], horizon: int) -> None:
    game, machine = partner
    task = Task(game, machine, horizon)
    assert expected_regret(task, Informed(game, machine.start, horizon)) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@given(partners())
def test_the_informed_expect_what_the_partner_does(partner: tuple[Game, Machine]) -> None:
    game, machine = partner
    mind, true = Informed(game, machine.start, 5), machine.start
    for own, theirs in [(0, 1), (1, 1), (1, 0), (0, 0)]:
        assert mind.predict() == true.act()
        outcome = Outcome(own, theirs, float(game.payoff()[own, theirs]))
        mind, true = mind.observe(outcome), true.observe(mirrored(game, outcome))


def test_the_informed_cooperate_with_tit_for_tat_until_the_last_round() -> None:
    mind, done = Informed(IPD, TIT_FOR_TAT.start, 5), []
    for _ in range(5):
        done.append(mind.act().mode)
        mind = mind.observe(Outcome(done[-1], mind.predict().mode, 0.0))
    assert done == [0, 0, 0, 0, 1]


# Who looks one round ahead


@pytest.mark.parametrize("action", [0, 1, 2])
def test_the_myopic_counter_what_they_expect(action: int) -> None:
    mind = Myopic(Informed(RPS, constant(RPS, action).start, 10), RPS)
    assert mind.act().support == ((action + 1) % 3,)
    assert mind.predict().support == (action,)


@given(games, st.integers(1, 6))
def test_the_myopic_lose_nothing_to_who_always_does_the_same(game: Game, horizon: int) -> None:
    for action in range(game.shape[1]):
        machine = constant(game, action)
        mind = Myopic(Informed(game, machine.start, horizon), game)
        assert expected_regret(Task(game, machine, horizon), mind) == pytest.approx(0, abs=1e-9)


def test_the_myopic_defect_though_they_know_tit_for_tat() -> None:
    """10 in the first round and 5 in each of the others, where 802 can be had."""
    mind = Myopic(Informed(IPD, TIT_FOR_TAT.start, 100), IPD)
    assert expected_regret(Task(IPD, TIT_FOR_TAT), mind) == pytest.approx(2.97, abs=1e-9)


def test_the_myopic_respond_to_the_mode_and_not_to_the_mean() -> None:
    """To fight is worth 0.45 · 10 on average and the ballet 0.55 · 7, but the ballet is what is expected."""
    machine = memory_one("mostly ballet", IBS, (0.45, 0.55), [[(0.45, 0.55)] * 2] * 2)
    assert Myopic(Informed(IBS, machine.start, 1), IBS).act().support == (1,)


# Who looks ahead with a model


@pytest.mark.parametrize("game", [IBS, IPD])
def test_the_rational_lose_nothing_if_they_know_a_deterministic_memory_one_partner(game: Game) -> None:
    for machine in all_memory_one(game):
        mind = Rational(Informed(game, machine.start, 12), game, 12)
        assert expected_regret(Task(game, machine, 12), mind) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_the_rational_lose_nothing_if_they_know_a_reactive_partner() -> None:
    for machine in all_reactive(RPS):
        mind = Rational(Informed(RPS, machine.start, 10), RPS, 10)
        assert expected_regret(Task(RPS, machine, 10), mind) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(forgetful(), st.integers(1, 6))
def test_the_rational_lose_nothing_if_they_know_a_memory_one_partner(
    partner: tuple[Game, Machine], horizon: int
) -> None:
    game, machine = partner
    mind = Rational(Informed(game, machine.start, horizon), game, horizon)
    assert expected_regret(Task(game, machine, horizon), mind) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_the_rational_never_test_what_their_model_thinks_useless() -> None:
    """Counts expect the same of all that was not seen, so that to defect is best, and so they see no more."""
    mind = Rational(tabular(IPD), IPD, 100)
    assert expected_regret(Task(IPD, TIT_FOR_TAT), mind) == pytest.approx(2.97, abs=1e-9)


def test_the_rational_know_how_many_rounds_are_left() -> None:
    mind, done = Rational(Informed(IPD, TIT_FOR_TAT.start, 4), IPD, 4), []
    for _ in range(4):
        done.append(mind.act().mode)
        mind = mind.observe(Outcome(done[-1], mind.predict().mode, 0.0))
    assert done == [0, 0, 0, 1]
    assert mind.t == 4
    assert mind.observe(None) == mind


# What a mindreader would expect


def test_a_model_is_what_is_expected_now_and_after_every_outcome() -> None:
    reader = tabular(IPD)
    for own, theirs in [(0, 1), (1, 0), (0, 1), (1, 0), (0, 1)]:  # after (0, 1) came 0 twice, after (1, 0) 1 twice
        reader = reader.observe(Outcome(own, theirs, 0.0))
    table = imagined_replies(reader, IPD)
    assert table[0] == pytest.approx((3 / 4, 1 / 4))  # now, after (0, 1)
    assert table[1] == pytest.approx((1 / 2, 1 / 2))  # after (0, 0)
    assert table[2] == pytest.approx((3 / 5, 2 / 5))  # after (0, 1) another time, to which 1 was the answer
    assert table[3] == pytest.approx((1 / 4, 3 / 4))  # after (1, 0)
    assert table[4] == pytest.approx((1 / 2, 1 / 2))  # after (1, 1)


@pytest.mark.slow
@given(forgetful())
def test_the_model_of_who_knows_a_memory_one_partner_is_that_partner(partner: tuple[Game, Machine]) -> None:
    game, machine = partner
    own, theirs = game.shape
    table = imagined_replies(Informed(game, machine.start, 9), game)
    assert table[0] == pytest.approx(machine.outputs[0])
    for a in range(own):
        for b in range(theirs):
            assert table[1 + a * theirs + b] == pytest.approx(machine.outputs[machine.moves[0][b][a]])

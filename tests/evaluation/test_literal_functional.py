"""Literal and functional Theory of Mind: the paper's numbers, scores by hand, and what holds of any partner."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.distribution import Categorical
from otherminds.evaluation.literal_functional import (
    action_losses,
    costs,
    exact_losses,
    expected_regret,
    functional_regret,
    interestingness,
    literal_loss,
    log_score,
    misjudged,
    normalised,
    process_consistency,
    skill,
    tom_percent,
    tom_regret_paper,
)
from otherminds.evaluation.tasks import Row, Task, brier, consistent, evenly, play
from otherminds.mind import Mind
from otherminds.worlds.repeated_games.machines import Machine, constant, memory_one, reactive
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import Informed
from otherminds.worlds.repeated_games.players.learners import Counts, FictitiousPlay, RMax, SplitPlayer, tabular
from otherminds.worlds.repeated_games.rules import Game, Outcome

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
TIT_FOR_TAT = {
    "rps": reactive("tft", RPS, 1, [1, 2, 0]),
    "ibs": reactive("tft", IBS, 0, [0, 1]),
    "ipd": reactive("tft", IPD, 0, [0, 1]),
}
games = st.sampled_from([RPS, IBS, IPD])
Subject = Mind[Outcome | None, int]


def singles(game: Game) -> list[Task]:
    return [Task(game, constant(game, action)) for action in range(game.shape[1])]


def tft(game: Game, horizon: int = 100) -> Task:
    return Task(game, TIT_FOR_TAT[game.name], horizon)


def row(observed: int, predicted: int = 0, *, reward: float = 0.0, p_true: float = 1.0, consistent: bool = True) -> Row:
    return {
        "observed": observed,
        "predicted": predicted,
        "reward": reward,
        "p_true": p_true,
        "consistent": consistent,
    }


@st.composite
def machines(draw: st.DrawFn, game: Game, *, agent: int = 1) -> Machine:
    options, others = game.payoff(agent).shape
    states = draw(st.integers(1, 3))
    weights = st.lists(st.integers(0, 4), min_size=options, max_size=options).filter(any)
    outputs = [draw(weights) for _ in range(states)]
    to = st.lists(st.integers(0, states - 1), min_size=others, max_size=others).map(tuple)
    moves = draw(st.lists(st.tuples(*[to] * options), min_size=states, max_size=states))
    return Machine("random", tuple(tuple(w / sum(law) for w in law) for law in outputs), tuple(moves))


@st.composite
def tasks(draw: st.DrawFn, *, longest: int = 6) -> Task:
    game = draw(games)
    return Task(game, draw(machines(game)), draw(st.integers(1, longest)))


@st.composite
def encounters(draw: st.DrawFn) -> tuple[Task, Subject]:
    task = draw(tasks(longest=4))
    game = task.game
    minds: list[Subject] = [RMax.of(game), RMax.of(game, exact_ties=True), FictitiousPlay.of(game)]
    return task, draw(st.sampled_from([*minds, draw(machines(game, agent=0)).start]))


def earned(task: Task, policy: Callable[[tuple[tuple[int, int], ...]], list[float]]) -> float:
    """The expected payoff of a policy that sees the history, by trying all of them."""
    payoff, total = task.game.payoff(), 0.0
    for history in product(np.ndindex(payoff.shape), repeat=task.horizon):
        chance, gain, partner = 1.0, 0.0, task.partner.start
        for t, (own, theirs) in enumerate(history):
            chance *= policy(history[:t])[own] * partner.act().prob(theirs)
            gain += float(payoff[own, theirs])
            partner = partner.observe(Outcome(theirs, own, 0.0))
        total += chance * gain
    return total


# The paper's tabular baseline, exactly


def mean_regret(game: Game, **kind: Any) -> float:
    regrets = [expected_regret(task, RMax.of(game, **kind), optimum="rate") for task in singles(game)]
    return float(np.mean(regrets))


@pytest.mark.slow
@pytest.mark.parametrize(("game", "paper", "exact_ties"), [(IBS, 0.205625, 0.2025), (IPD, 0.090625, 0.09)])
def test_the_baseline_with_single_action_partners(game: Game, paper: float, exact_ties: float) -> None:
    assert mean_regret(game) == pytest.approx(paper, abs=1e-6)
    assert mean_regret(game, exact_ties=True) == pytest.approx(exact_ties, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("exact_ties", "regret"), [(False, 0.084228395), (True, 0.079351852)])
def test_the_baseline_with_a_single_action_partner_in_rock_paper_scissors(exact_ties: bool, regret: float) -> None:
    """All three partners are one, but for the names of actions."""
    found = expected_regret(singles(RPS)[0], RMax.of(RPS, exact_ties=exact_ties), optimum="rate")
    assert found == pytest.approx(regret, abs=1e-6)


@pytest.mark.parametrize(
    ("game", "exact_ties", "regret"),
    [(IBS, False, 0.49), (IPD, False, 0.2475), (IBS, True, 0.475625), (IPD, True, 0.2475)],
)
def test_the_baseline_with_tit_for_tat(game: Game, exact_ties: bool, regret: float) -> None:
    found = expected_regret(tft(game), RMax.of(game, exact_ties=exact_ties), optimum="rate")
    assert found == pytest.approx(regret, abs=1e-6)


@pytest.mark.slow
def test_the_baseline_loses_as_much_to_tit_for_tat_in_rock_paper_scissors_as_published() -> None:
    """0.224 ± 0.007 in the paper's table of 100 episodes."""
    regrets = [
        functional_regret(tft(RPS), list(play(tft(RPS), tabular(RPS), rng=np.random.default_rng(seed))))
        for seed in range(100)
    ]
    assert np.mean(regrets) == pytest.approx(0.224, abs=0.007)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "percent"), [(RPS, 93.0), (IPD, 98.0)])
def test_the_baseline_predicts_tit_for_tat_as_published(game: Game, percent: float) -> None:
    for seed in range(20):
        rows = list(play(tft(game), tabular(game), rng=np.random.default_rng(seed)))
        assert tom_percent(rows) == pytest.approx(percent)


# What can be earned


@pytest.mark.parametrize(("game", "optimum", "rate"), [(RPS, 100, 100), (IBS, 1000, 1000), (IPD, 802, 800)])
def test_the_optimum_and_the_rate_differ_by_the_last_round(game: Game, optimum: float, rate: float) -> None:
    assert tft(game).optimum == pytest.approx(optimum, abs=1e-9)
    assert tft(game).rate == pytest.approx(rate, abs=1e-6)


def test_a_copy_that_starts_with_the_other_action_costs_a_round() -> None:
    assert Task(IBS, reactive("copy", IBS, 1, [0, 1])).optimum == pytest.approx(990)


def test_nobody_can_lose_more_than_3_02_a_round_to_tit_for_tat() -> None:
    task = tft(IPD)
    assert task.least == pytest.approx(500)
    assert (task.optimum - task.least) / task.horizon == pytest.approx(3.02)


@pytest.mark.slow
@settings(max_examples=60)
@given(tasks())
def test_optimum_and_least_enclose_uniform_play(task: Task) -> None:
    assert task.least - 1e-9 <= task.uniform <= task.optimum + 1e-9


@pytest.mark.slow
@settings(max_examples=60)
@given(tasks(longest=12))
def test_the_optimum_is_the_sum_over_its_rounds(task: Task) -> None:
    assert task.best_by_round.shape == (task.horizon,)
    assert task.best_by_round.sum() == pytest.approx(task.optimum, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=40)
@given(tasks(longest=2))
def test_uniform_play_earns_what_all_histories_earn(task: Task) -> None:
    options = len(task.game.payoff())
    assert task.uniform == pytest.approx(earned(task, lambda _: [1 / options] * options), abs=1e-9)


def all_sums(task: Task, rounds: int) -> list[float]:
    """What can be earned in so many rounds with a partner without chance, by every sequence of own actions."""
    payoff, sums = task.game.payoff(), []
    for own in product(range(len(payoff)), repeat=rounds):
        partner, total = task.partner.start, 0.0
        for action in own:
            theirs = partner.act().mode
            total += float(payoff[action, theirs])
            partner = partner.observe(Outcome(theirs, action, 0.0))
        sums.append(total)
    return sums


@pytest.mark.parametrize("game", [RPS, IBS, IPD], ids=lambda game: str(game.name))
@pytest.mark.parametrize("lost", range(5))
def test_of_rounds_that_are_lost_nobody_earns_more_or_less_than_can_be_earned_in_the_others(
    game: Game, lost: int
) -> None:
    """A lost round earns the least payoff, and the partner does not move in it."""
    for task in (*singles(game), tft(game)):
        task = Task(game, task.partner, 4)
        sums = [lost * float(game.payoff().min()) + others for others in all_sums(task, 4 - lost)]
        for total in (min(sums), max(sums), min(sums) - 0.5, max(sums) + 0.5):
            rows = [row(0, reward=total / 4) | {"action": None if t < lost else 0} for t in range(4)]
            if min(sums) <= total <= max(sums):
                assert functional_regret(task, rows) == pytest.approx((max(all_sums(task, 4)) - total) / 4)
            else:
                with pytest.raises(ValueError, match="nobody can earn"):
                    functional_regret(task, rows)


# Expected regret


@pytest.mark.slow
@settings(max_examples=40)
@given(tasks())
def test_the_informed_have_none(task: Task) -> None:
    subject = Informed(task.game, task.partner.start, task.horizon)
    assert expected_regret(task, subject) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=60)
@given(encounters())
def test_it_lies_between_nothing_and_all_that_can_be_lost(encounter: tuple[Task, Subject]) -> None:
    task, subject = encounter
    regret = expected_regret(task, subject)
    assert -1e-9 <= regret <= (task.optimum - task.least) / task.horizon + 1e-9


@pytest.mark.slow
@settings(max_examples=30)
@given(st.data())
def test_it_is_that_of_all_histories(data: st.DataObject) -> None:
    task = data.draw(tasks(longest=2))
    subject = data.draw(machines(task.game, agent=0))

    def policy(history: tuple[tuple[int, int], ...]) -> list[float]:
        mind = subject.start
        for own, theirs in history:
            mind = mind.observe(Outcome(own, theirs, 0.0))
        return [mind.act().prob(a) for a in range(len(task.game.payoff()))]

    expected = (task.optimum - earned(task, policy)) / task.horizon
    assert expected_regret(task, subject.start) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "horizon"), [(RPS, 4), (IBS, 6), (IPD, 6)])
def test_it_is_the_mean_over_many_episodes(game: Game, horizon: int) -> None:
    task, subject = Task(game, TIT_FOR_TAT[game.name].trembling(0.2), horizon), tabular(game)
    rng = np.random.default_rng(11)
    sampled = [functional_regret(task, list(play(task, subject, rng=rng))) for _ in range(600)]
    error = float(np.std(sampled)) / math.sqrt(len(sampled))
    assert expected_regret(task, subject) == pytest.approx(np.mean(sampled), abs=4 * error)


def test_by_the_rate_it_is_less_where_the_last_round_pays_more() -> None:
    cooperate = constant(IPD, 0, agent=0).start
    assert expected_regret(tft(IPD), cooperate) == pytest.approx(0.02, abs=1e-9)
    assert expected_regret(tft(IPD), cooperate, optimum="rate") == pytest.approx(0, abs=1e-6)


class PosteriorSampling:
    """Acts as it likes, and cannot say how likely that is to be what."""

    def observe(self, _: Outcome | None) -> PosteriorSampling:
        return self

    def act(self) -> PosteriorSampling:
        return self

    def log_prob(self, _: int, /) -> float:
        return 0.0

    def sample(self, _: np.random.Generator, /) -> int:
        return 0


def test_exact_values_need_tables() -> None:
    with pytest.raises(TypeError, match="tables"):
        expected_regret(tft(IPD), PosteriorSampling())


# An episode


def test_an_episode_has_a_row_for_every_round() -> None:
    subject = SplitPlayer(constant(IPD, 1, agent=0).start, Counts.of(IPD, context=False))
    rows = list(play(Task(IPD, TIT_FOR_TAT["ipd"], 3), subject, rng=np.random.default_rng(0)))
    assert [r["t"] for r in rows] == [0, 1, 2]
    assert [r["action"] for r in rows] == [1, 1, 1]
    assert [r["observed"] for r in rows] == [0, 1, 1]
    assert [r["reward"] for r in rows] == [10, 5, 5]
    assert [r["predicted"] for r in rows] == [0, 0, 0]
    assert [r["p_true"] for r in rows] == pytest.approx([1 / 2, 1 / 3, 1 / 2])
    assert [r["brier"] for r in rows] == pytest.approx([1 / 2, 8 / 9, 1 / 2])
    assert [r["best"] for r in rows] == pytest.approx([8, 8, 10])
    assert all(r["consistent"] for r in rows)


def test_a_partner_with_a_stream_of_its_own_trembles_alike_for_all() -> None:
    noisy = Task(IPD, memory_one("noisy", IPD, (0.5, 0.5), [[(0.5, 0.5)] * 2] * 2), 40)

    def seen(subject: SplitPlayer, *, apart: bool) -> list[int]:
        rng = np.random.default_rng(1)
        rows = play(noisy, subject, rng=rng, partner_rng=np.random.default_rng(2) if apart else None)
        return [r["observed"] for r in rows]

    learner, sure = tabular(IPD), SplitPlayer(constant(IPD, 0, agent=0).start, Counts.of(IPD))
    assert seen(learner, apart=True) == seen(sure, apart=True)
    assert seen(learner, apart=False) != seen(learner, apart=True)


def test_an_action_is_consistent_if_nothing_is_better_for_what_is_expected() -> None:
    assert consistent(RPS.payoff(), Categorical.uniform([0]), 1)
    assert not consistent(RPS.payoff(), Categorical.uniform([0]), 0)
    assert all(consistent(RPS.payoff(), Categorical.uniform(range(3)), a) for a in range(3))
    even = Categorical((0, 1), (math.log(7 / 17), math.log(10 / 17)))
    assert all(consistent(IBS.payoff(), even, a) for a in range(2))


def test_the_brier_score_of_what_was_not_thought_of_is_the_worst() -> None:
    assert brier(Categorical.uniform([0, 1, 2]), 1) == pytest.approx(6 / 9)
    assert brier(Categorical.uniform([0]), 0) == 0
    assert brier(Categorical.uniform([0]), 2) == 2


# Literal


def test_the_literal_loss_is_the_share_of_wrong_predictions() -> None:
    rows = [row(0, 0), row(1, 0), row(1, 1), row(0, 1)]
    assert literal_loss(rows) == 0.5
    assert tom_percent(rows) == 50.0


def test_the_literal_loss_of_pairs_counts_every_pair_with_a_slip() -> None:
    rows = [row(0, 0), row(1, 1), row(1, 0), row(0, 0), row(0, 0)]
    assert literal_loss(rows, phi=lambda actions: [*pairwise(actions)]) == 0.5


def test_any_distance_will_do() -> None:
    rows = [row(2, 0), row(1, 1)]
    assert literal_loss(rows, distance=lambda true, told: abs(sum(true) - sum(told))) == 2


def test_the_log_score_is_in_nats_and_infinite_for_the_impossible() -> None:
    rows = [row(0, p_true=0.5), row(1, p_true=0.25)]
    assert log_score(rows) == pytest.approx(1.5 * math.log(2))
    assert log_score([*rows, row(0, p_true=0.0)]) == math.inf


# Functional


def rewards(*total: float, rounds: int = 100) -> list[Row]:
    return [row(0, reward=r) for r in total] + [row(0)] * (rounds - len(total))


@pytest.mark.parametrize(("total", "regret"), [(802, 0.0), (800, 0.02), (500, 3.02)])
def test_regret_is_what_was_not_earned_a_round(total: float, regret: float) -> None:
    assert functional_regret(tft(IPD), rewards(total)) == pytest.approx(regret)
    assert functional_regret(tft(IPD), rewards(total), optimum="rate") == pytest.approx(regret - 0.02, abs=1e-6)


@pytest.mark.parametrize("total", [321.1, 499.0, 803.0])
def test_what_nobody_can_earn_is_refused(total: float) -> None:
    """The first of these would make the regret 4.789, which has been published."""
    with pytest.raises(ValueError, match="between 500 and 802"):
        functional_regret(tft(IPD), rewards(total))


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="50 rounds"):
        functional_regret(tft(IPD), rewards(400, rounds=50))


def test_luck_with_a_partner_who_trembles_is_not_refused() -> None:
    noisy = Task(IPD, TIT_FOR_TAT["ipd"].trembling(0.5), 2)
    assert functional_regret(noisy, rewards(10, 10, rounds=2)) < 0


@pytest.mark.parametrize(("game", "prices"), [(RPS, (1.5, 1.5, 1.5)), (IBS, (10, 7)), (IPD, (2, 5))])
def test_what_a_wrong_prediction_costs(game: Game, prices: tuple[float, ...]) -> None:
    assert costs(game) == pytest.approx(prices)


def test_every_wrong_prediction_costs_the_price_of_what_was_done() -> None:
    rows = [row(1, 0), row(1, 1), row(0, 1), row(1, 0)]
    assert tom_regret_paper(Task(IBS, constant(IBS, 1), 4), rows) == pytest.approx((7 + 10 + 7) / 4)
    assert tom_regret_paper(Task(IBS, TIT_FOR_TAT["ibs"], 4), rows) == pytest.approx(3 * 8.5 / 4)
    assert tom_regret_paper(Task(IPD, TIT_FOR_TAT["ipd"], 4), rows) == pytest.approx(3 * 3.5 / 4)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30), st.booleans())
def test_in_rock_paper_scissors_it_is_the_share_of_wrong_predictions(
    pairs: list[tuple[int, int]], single: bool
) -> None:
    rows = [row(observed, predicted) for observed, predicted in pairs]
    partner = constant(RPS, 0) if single else TIT_FOR_TAT["rps"]
    expected = 1.5 * (1 - tom_percent(rows) / 100)
    assert tom_regret_paper(Task(RPS, partner, len(rows)), rows) == pytest.approx(expected, abs=1e-9)


def test_process_consistency_is_a_share() -> None:
    assert process_consistency([row(0), row(0, consistent=False), row(0), row(0)]) == 0.75


# How much it matters whom one plays with


@pytest.mark.parametrize(("game", "single", "both"), [(RPS, 1.0, 1.123), (IBS, 4.25, 3.008), (IPD, 0.0, 1.430)])
def test_interestingness(game: Game, single: float, both: float) -> None:
    assert interestingness(singles(game)) == pytest.approx(single, abs=1e-9)
    assert interestingness([*singles(game), tft(game)]) == pytest.approx(both, abs=5e-4)


@pytest.mark.slow
@settings(max_examples=40)
@given(tasks())
def test_who_judges_rightly_loses_nothing(task: Task) -> None:
    assert misjudged(task, [task])[0] == pytest.approx(0, abs=1e-9)


def test_to_take_tit_for_tat_for_who_always_cooperates_is_to_defect() -> None:
    assert misjudged(singles(IPD)[0], [tft(IPD)])[0] == pytest.approx(2.97)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.data())
def test_to_misjudge_is_to_play_the_informed_with_the_wrong_partner(data: st.DataObject) -> None:
    true = data.draw(tasks(longest=4))
    held = Task(true.game, data.draw(machines(true.game)), true.horizon)
    subject = Informed(true.game, held.partner.start, true.horizon)
    assert misjudged(held, [true])[0] == pytest.approx(expected_regret(true, subject), abs=1e-9)


# Scales


def test_uniform_play_is_one_on_the_common_scale() -> None:
    task = Task(IPD, constant(IPD, 1))
    assert normalised(task, 0.0) == 0.0
    assert normalised(task, 2.5) == pytest.approx(1.0)
    assert normalised(task, 5.0) == pytest.approx(2.0)


def test_skill_is_zero_at_the_reference_and_one_at_the_bound() -> None:
    assert skill(0.49, bayes=0.01, reference=0.49) == pytest.approx(0.0)
    assert skill(0.01, bayes=0.01, reference=0.49) == pytest.approx(1.0)
    assert skill(0.25, bayes=0.01, reference=0.49) == pytest.approx(0.5)


def test_choices_are_spread_evenly_over_episodes() -> None:
    """Eight episodes of three fair choices: every course of events exactly once, whatever the seed."""
    coin = Categorical.uniform([0, 1])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = set()
        for episode in range(8):
            choose = evenly(episode, 8, rng)
            found.add(tuple(choose(coin) for _ in range(3)))
        assert len(found) == 8


@pytest.mark.slow
def test_evenly_spread_episodes_have_the_same_expectation() -> None:
    task = Task(IPD, reactive("tft", IPD, 0, [0, 1]), 20)
    means = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        earned = [
            sum(row["reward"] for row in play(task, tabular(IPD), rng=rng, choose=evenly(e, 10, rng)))
            for e in range(10)
        ]
        means.append(task.optimum - float(np.mean(earned)))
    expected = 20 * expected_regret(task, RMax.of(IPD))
    assert float(np.mean(means)) == pytest.approx(expected, abs=4 * float(np.std(means)) / 40**0.5)


# V − Q


def best_worth(task: Task, state: int, remaining: int) -> float:
    """What the best policy expects of the remaining rounds, by trying every action in every situation."""
    return max(worth(task, state, remaining, a) for a in range(task.game.shape[0])) if remaining else 0.0


def worth(task: Task, state: int, remaining: int, action: int) -> float:
    """What an action expects, if the best policy follows."""
    payoff, machine = task.game.payoff(), task.partner
    return sum(
        chance * (float(payoff[action, b]) + best_worth(task, machine.moves[state][b][action], remaining - 1))
        for b, chance in enumerate(machine.outputs[state])
        if chance
    )


def histories(task: Task) -> list[tuple[float, list[Row]]]:
    """All courses of an episode, each with the chance that uniformly random play gives to it."""
    every, payoff = [], task.game.payoff()
    for actions in product(*[list(np.ndindex(payoff.shape))] * task.horizon):
        chance, state = 1.0, 0
        for own, theirs in actions:
            chance *= task.partner.outputs[state][theirs] / len(payoff)
            state = task.partner.moves[state][theirs][own]
        if chance:
            every.append((chance, [row(b, reward=float(payoff[a, b])) | {"action": a} for a, b in actions]))
    return every


@pytest.mark.slow
@settings(max_examples=40)
@given(tasks(longest=3))
def test_losses_are_what_every_action_takes_from_the_rounds_that_remain(task: Task) -> None:
    for _, rows in histories(task)[::7]:
        state = 0
        losses = action_losses(task, rows)
        for t, played in enumerate(rows):
            best = best_worth(task, state, task.horizon - t)
            expected = [best - worth(task, state, task.horizon - t, a) for a in range(task.game.shape[0])]
            assert losses[t] == pytest.approx(expected, abs=1e-9)
            state = task.partner.moves[state][played["observed"]][played["action"]]


@pytest.mark.slow
@settings(max_examples=40)
@given(tasks(longest=3))
def test_losses_sum_to_the_regret_in_expectation_and_exactly_if_the_partner_never_slips(task: Task) -> None:
    every = histories(task)
    losses = [float(exact_losses(task, rows).sum()) for _, rows in every]
    regrets = [task.optimum - sum(played["reward"] for played in rows) for _, rows in every]
    chances = [chance for chance, _ in every]
    assert sum(chances) == pytest.approx(1.0)
    assert np.dot(chances, losses) == pytest.approx(np.dot(chances, regrets), abs=1e-9)
    assert np.dot(chances, losses) == pytest.approx(task.optimum - task.uniform, abs=1e-9)
    assert min(losses) >= -1e-9
    if task.partner.deterministic:
        assert losses == pytest.approx(regrets, abs=1e-9)


def test_a_round_without_a_move_is_in_no_loss_and_the_partner_waits() -> None:
    task = tft(IPD, 5)
    rows = [row(0) | {"action": action} for action in (0, None, 1)] + [row(1) | {"action": a} for a in (None, 0)]
    losses, alone = exact_losses(task, rows), exact_losses(tft(IPD, 3), [rows[0], rows[2], rows[4]])
    assert np.isnan(losses).tolist() == [False, True, False, True, False]
    assert losses[[0, 2, 4]] == pytest.approx(alone)
    assert np.isnan(exact_losses(task, [row(0) | {"action": None}] * 5)).all()

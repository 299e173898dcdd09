"""Whoever believes in a mixture of machines: floors by closed form, trying everything, and nobody who does better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.evaluation.literal_functional import expected_regret
from otherminds.evaluation.tasks import Task
from otherminds.mind import Mind
from otherminds.worlds.repeated_games.machines import Law, Machine, constant, reactive
from otherminds.worlds.repeated_games.partners import machines, memory_one, partner, single_action, tit_for_tat
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players import best_response_to_mixture as believer
from otherminds.worlds.repeated_games.players.bayes_adaptive import AdaptivePlan, BayesAdaptive
from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead, closed_hypotheses
from otherminds.worlds.repeated_games.players.best_responders import Informed, Myopic, Rational
from otherminds.worlds.repeated_games.players.best_response_to_mixture import MixtureBestResponse, bayes_floor
from otherminds.worlds.repeated_games.players.learners import Counts, FictitiousPlay, RMax
from otherminds.worlds.repeated_games.players.posterior_sampling import PosteriorSampling
from otherminds.worlds.repeated_games.rules import Game, Outcome
from strategies import generator

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
GAMES = (RPS, IBS, IPD)
Player = Mind[Outcome | None, int]


def regret(game: Game, held: Sequence[Machine], player: Player, horizon: int = 100) -> float:
    """The mean regret per round over partners."""
    return float(np.mean([expected_regret(Task(game, machine, horizon), player) for machine in held]))


def suite(game: Game) -> tuple[Sequence[Machine], list[float]]:
    """Tit for tat in half of the cases, and who always does the same in the others."""
    single = single_action(game)
    return (*single, *tit_for_tat(game)), [0.5 / len(single)] * len(single) + [0.5]


# Floors


@pytest.mark.parametrize(("game", "floor"), [(RPS, 0.01), (IBS, 0.035), (IPD, 0.0)])
def test_the_floor_of_single_action_partners(game: Game, floor: float) -> None:
    """One blind guess: in the battle of the sexes it is wrong half the time, and costs 7."""
    assert bayes_floor(game, single_action(game)) == pytest.approx(floor, abs=1e-9)
    player = MixtureBestResponse.of(game, single_action(game))
    assert regret(game, single_action(game), player) == pytest.approx(floor, abs=1e-9)


@pytest.mark.parametrize(
    ("game", "single", "tft"), [(RPS, 0.04 / 3, 0.0), (IBS, 0.035, 0.0), (IPD, 0.01, 0.06)], ids=["rps", "ibs", "ipd"]
)
def test_the_floor_of_the_suite(game: Game, single: float, tft: float) -> None:
    player = MixtureBestResponse.of(game, *suite(game))
    assert regret(game, single_action(game), player) == pytest.approx(single, abs=1e-9)
    assert regret(game, tit_for_tat(game), player) == pytest.approx(tft, abs=1e-9)


def test_nobody_who_does_not_know_the_family_averages_less_than_this_over_the_suite() -> None:
    cells = []
    for game in GAMES:
        player = MixtureBestResponse.of(game, *suite(game))
        cells += [regret(game, single_action(game), player), regret(game, tit_for_tat(game), player)]
    assert np.mean(cells) == pytest.approx(0.0197, abs=5e-5)


@pytest.mark.slow
def test_the_floor_of_the_bundled_machines() -> None:
    """15.35 a round over all 45."""
    assert bayes_floor(IPD, machines(IPD)) == pytest.approx(15.35 / 45, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_the_floor_of_a_cooperator_and_a_grim_partner_by_hand(share: float) -> None:
    """Nobody can tell them apart before the first defection, which it is best to risk at once or in the last round."""
    pair = [constant(IPD, 0), partner("grim", IPD)]
    late = share * 4 * (10 - 8)
    at_once = (1.0 - share) * ((4 * 8 + 10) - (10 + 4 * 5))
    assert bayes_floor(IPD, pair, 5, (share, 1.0 - share)) == pytest.approx(min(late, at_once) / 5)


@pytest.mark.slow
def test_whoever_is_told_the_partner_loses_nothing() -> None:
    for machine in memory_one(IPD):
        assert bayes_floor(IPD, [machine]) == pytest.approx(0, abs=1e-9)
        assert regret(IPD, [machine], MixtureBestResponse.of(IPD, [machine], horizon=20), 20) == pytest.approx(
            0, abs=1e-9
        )


# Trying everything


class Mixture(NamedTuple):
    """Machines in a game, with prior probabilities."""

    game: Game
    machines: list[Machine]
    weights: list[float]


@st.composite
def mixtures(draw: st.DrawFn) -> Mixture:
    """Machines that throw fair coins in some states, or tremble; of other ones there are too many posteriors."""
    payoffs = draw(st.lists(st.tuples(st.integers(-3, 3), st.just(0)), min_size=4, max_size=4))
    game = Game("game", ("you", "partner"), (("a", "b"), ("x", "y")), tuple(payoffs))
    laws: st.SearchStrategy[Law] = st.sampled_from([(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
    noise = draw(st.sampled_from([0.0, 0.0, 0.2]))
    if noise:
        laws = st.sampled_from([(1.0, 0.0), (0.0, 1.0)])
    number = draw(st.integers(1, 3))
    held = [_machine(draw, i, laws).trembling(noise) for i in range(number)]
    weights = draw(st.lists(st.integers(1, 4), min_size=number, max_size=number))
    return Mixture(game, held, [weight / sum(weights) for weight in weights])


def _machine(draw: st.DrawFn, i: int, laws: st.SearchStrategy[Law]) -> Machine:
    states = draw(st.integers(1, 2))
    to = st.lists(st.integers(0, states - 1), min_size=2, max_size=2).map(tuple)
    moves = st.lists(st.tuples(to, to), min_size=states, max_size=states).map(tuple)
    return Machine(f"m{i}", tuple(draw(laws) for _ in range(states)), draw(moves))


def expectimax(mixture: Mixture, states: Sequence[int], weights: Sequence[float], rounds: int) -> float:
    """Σ w · payoff of the best policy that sees the history, by recursion over histories."""
    if not rounds:
        return 0.0
    totals = []
    for a in range(2):
        total = 0.0
        for b in range(2):
            joint = [w * m.outputs[q][b] for m, q, w in zip(mixture.machines, states, weights, strict=True)]
            onward = [m.moves[q][b][a] for m, q in zip(mixture.machines, states, strict=True)]
            total += sum(joint) * float(mixture.game.payoff()[a, b])
            total += expectimax(mixture, onward, joint, rounds - 1) if sum(joint) else 0.0
        totals.append(total)
    return max(totals)


@pytest.mark.slow
@settings(max_examples=25)
@given(mixtures(), st.integers(1, 4))
def test_it_earns_what_the_best_policy_of_all_that_see_the_history_does(mixture: Mixture, horizon: int) -> None:
    player = MixtureBestResponse.of(*mixture, horizon)
    best = expectimax(mixture, [0] * len(mixture.machines), mixture.weights, horizon)
    assert player.beliefs.response.values[0, 0] == pytest.approx(best, abs=1e-8)
    tasks = [Task(mixture.game, machine, horizon) for machine in mixture.machines]
    earned = [task.optimum - horizon * expected_regret(task, player) for task in tasks]
    assert np.dot(mixture.weights, earned) == pytest.approx(best, abs=1e-8)


@pytest.mark.slow
@settings(max_examples=25)
@given(mixtures(), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=6))
def test_it_expects_what_bayes_rule_does(mixture: Mixture, rounds: list[tuple[int, int]]) -> None:
    player = MixtureBestResponse.of(*mixture, 5)
    weights, states = mixture.weights, [0] * len(mixture.machines)
    for a, b in rounds:
        laws = [m.outputs[q] for m, q in zip(mixture.machines, states, strict=True)]
        expected = [sum(w * law[c] for w, law in zip(weights, laws, strict=True)) for c in range(2)]
        assert [player.predict().prob(c) for c in range(2)] == pytest.approx([p / sum(expected) for p in expected])
        if not expected[b]:
            with pytest.raises(ValueError, match="could have done"):
                player.observe(Outcome(a, b, 0.0))
            return
        weights = [w * law[b] / sum(expected) for w, law in zip(weights, laws, strict=True)]
        states = [m.moves[q][b][a] for m, q in zip(mixture.machines, states, strict=True)]
        player = player.observe(Outcome(a, b, float(mixture.game.payoff()[a, b])))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.05, 0.2])
@pytest.mark.parametrize("period", [1, 2, 7, 14, 15, 17, 40])
def test_it_goes_on_whatever_partners_that_tremble_do(noise: float, period: int) -> None:
    """Even if the partner seems to have been another one all the time."""
    held = [machine.trembling(noise) for machine in (*single_action(IPD), *tit_for_tat(IPD))]
    player = MixtureBestResponse.of(IPD, held)
    for t in range(100):
        action = player.act().mode
        assert action in (0, 1)
        player = player.observe(Outcome(action, t // period % 2, 0.0))


COINS = [Machine(f"coin {p}", ((p, 1 - p),), (((0, 0), (0, 0)),)) for p in (0.6, 0.4)]


def test_posteriors_of_coins_are_told_apart() -> None:
    """Of two coins the odds are a power of 1.5."""
    outputs = MixtureBestResponse.of(IPD, COINS).beliefs.unrolled.outputs
    assert len(outputs) < 150
    for tosses in range(-40, 41):
        odds = 1.5**tosses
        assert np.abs(outputs[:, 0] - (0.6 * odds + 0.4) / (1 + odds)).min() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("favoured", [0, 1])
def test_how_improbable_machines_compare_is_not_forgotten(favoured: int) -> None:
    """Two are next to impossible beside who always cooperates, until that one defects; then it is 9 to 1, and so on."""
    laws = [(0.75, 0.25), (0.25, 0.75)]
    mostly = [reactive(name, IPD, (0.5, 0.5), answers) for name, answers in (("copy", laws), ("spite", laws[::-1]))]
    player = MixtureBestResponse.of(IPD, [single_action(IPD)[0], *mostly])
    for own in [favoured, *[favoured, 1 - favoured] * 14, favoured, 0]:
        player = player.observe(Outcome(own, 0, 0.0))
    player = player.observe(Outcome(0, 1, 0.0))  # which is a third as likely of the first, after cooperation
    odds = (9.0 if favoured == 0 else 1 / 9) / 3
    assert player.predict().prob(0) == pytest.approx((0.75 * odds + 0.25) / (odds + 1), abs=1e-6)


def test_it_goes_on_where_posteriors_are_hard_to_tell_apart() -> None:
    player, rng = MixtureBestResponse.of(IPD, COINS, [1 / 2048, 2047 / 2048], 60), generator(0)
    for _ in range(60):
        player = player.observe(Outcome(player.act().mode, int(rng.random() < 0.5), 0.0))


def test_after_the_last_round_it_plays_as_in_the_last() -> None:
    player = MixtureBestResponse.of(IPD, tit_for_tat(IPD), horizon=2)
    assert player.act().mode == 0
    for _ in range(3):
        player = player.observe(Outcome(0, 0, 8.0))
        assert player.act().mode == 1


def test_what_the_prior_excludes_cannot_be_seen() -> None:
    player = MixtureBestResponse.of(IPD, tit_for_tat(IPD))
    with pytest.raises(ValueError, match="could have done 1"):
        player.observe(Outcome(0, 1, 0.0))


def test_a_machine_of_weight_nothing_is_none() -> None:
    """Without the chance of tit for tat it is best to defect."""
    held = (*tit_for_tat(IPD), *single_action(IPD))
    player = MixtureBestResponse.of(IPD, held, [0.0, 0.5, 0.5], 10)
    for _ in range(3):
        assert player.act().mode == 1
        assert player.predict().prob(0) == pytest.approx(1.0 if player.t else 0.5)
        player = player.observe(Outcome(1, 0, 10.0))


def test_the_order_of_machines_does_not_matter() -> None:
    held, weights = suite(IPD)
    forwards, backwards = (
        MixtureBestResponse.of(IPD, held, weights),
        MixtureBestResponse.of(IPD, held[::-1], weights[::-1]),
    )
    assert [regret(IPD, [m], forwards) for m in held] == pytest.approx([regret(IPD, [m], backwards) for m in held])


def test_machines_that_cannot_be_told_apart_are_pooled() -> None:
    twins = [reactive(name, IPD, 0, [0, 1]) for name in ("one", "other")]
    (tft,) = tit_for_tat(IPD)
    always = single_action(IPD)[1]
    paired = MixtureBestResponse.of(IPD, [*twins, always], [0.25, 0.25, 0.5])
    alone = MixtureBestResponse.of(IPD, [tft, always], [0.5, 0.5])
    assert regret(IPD, [tft], paired) == pytest.approx(regret(IPD, [tft], alone), abs=1e-12)
    assert paired.beliefs.response.values[0, 0] == pytest.approx(alone.beliefs.response.values[0, 0], abs=1e-9)


# Too much


def test_mixtures_with_too_many_posteriors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(believer, "MOST", 300)
    noisy = [partner(name, IPD) for name in ("gtft", "joss", "zd-extort-2", "random")]
    with pytest.raises(ValueError, match="more than 300 posteriors"):
        MixtureBestResponse.of(IPD, noisy).act()
    with pytest.raises(ValueError, match="more than 300 posteriors"):
        bayes_floor(IPD, noisy)


@pytest.mark.slow
def test_as_many_posteriors_as_are_allowed_are_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    number = len(MixtureBestResponse.of(IBS, memory_one(IBS), horizon=5).beliefs.unrolled.outputs)
    monkeypatch.setattr(believer, "MOST", number)
    assert MixtureBestResponse.of(IBS, memory_one(IBS), horizon=5).act()
    monkeypatch.setattr(believer, "MOST", number - 1)
    with pytest.raises(ValueError, match="posteriors"):
        MixtureBestResponse.of(IBS, memory_one(IBS), horizon=5).act()


# Nobody does better

PLAYERS: dict[str, Callable[[Game, int], Player]] = {
    "rmax": lambda game, _: RMax.of(game),
    "fictitious play": lambda game, _: FictitiousPlay.of(game),
    "counts, one round ahead": lambda game, _: Myopic(Counts.of(game), game),
    "counts, all rounds ahead": lambda game, horizon: Rational(Counts.of(game), game, horizon),
    "adaptive": lambda game, horizon: BayesAdaptive.of(AdaptivePlan(game, horizon=horizon)),
    "sampler": lambda game, horizon: PosteriorSampling.of(game, generator(5), horizon=horizon),
    "librarian": lambda game, horizon: BayesianLookahead.of(closed_hypotheses(game, memory_one(game), horizon)),
    "informed of another partner": lambda game, horizon: Informed(game, memory_one(game)[9].start, horizon),
}


@pytest.mark.slow
@pytest.mark.parametrize("game", [IBS, IPD], ids=lambda game: game.name)
@pytest.mark.parametrize("name", PLAYERS)
def test_nobody_has_less_regret_in_expectation(game: Game, name: str) -> None:
    player = PLAYERS[name](game, 8)
    for held in (single_action(game), memory_one(game), (*single_action(game), *tit_for_tat(game))):
        assert regret(game, held, player, 8) >= bayes_floor(game, held, 8) - 1e-9


@pytest.mark.slow
def test_some_machines_need_more_rounds_than_others_to_find_out() -> None:
    """The floor per round goes down with the number of rounds, as exploration pays off later."""
    floors = [bayes_floor(IPD, memory_one(IPD), horizon) * horizon for horizon in (1, 2, 4, 8, 16, 32, 64)]
    assert all(math.isfinite(floor) and floor >= -1e-9 for floor in floors)
    assert floors == sorted(floors)
    assert floors[-1] / 64 < floors[2] / 4

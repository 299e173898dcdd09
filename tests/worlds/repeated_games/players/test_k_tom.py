"""k-ToM against numbers of the reference implementation, and against what the model is said to do."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import constant
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.players.k_tom import LEVELS, FrequencyBelief, KToM
from otherminds.worlds.repeated_games.rules import Game, Outcome

Rounds = list[tuple[int, int]]


def game_of(*payoffs: tuple[float, float]) -> Game:
    return Game("two by two", ("you", "partner"), (("0", "1"), ("0", "1")), payoffs)


PENNIES = game_of((-1, 1), (1, -1), (1, -1), (-1, 1))  # the second agent wants them alike
LOPSIDED = game_of((1, 2), (0.5, -1), (0, 0.3), (2, 1))
IBS, IPD = find_game("ibs"), find_game("ipd")

numbers = st.floats(-10, 10)
games = st.lists(st.tuples(numbers, numbers), min_size=4, max_size=4).map(lambda rows: game_of(*rows))
rounds = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=12)
levels = st.sampled_from(LEVELS)


def after(mind: KToM, played: Rounds) -> KToM:
    for own, theirs in played:
        mind = mind.observe(Outcome(own, theirs, 0.0))
    return mind


def duel(mine: KToM, theirs: KToM, seed: int, *, length: int = 100) -> tuple[float, KToM]:
    """Matching pennies: the mean payoff of the first agent, and what it has become."""
    rng, total = np.random.default_rng(seed), 0.0
    for _ in range(length):
        own, other = mine.act().sample(rng), theirs.act().sample(rng)
        outcome = Outcome(own, other, float(PENNIES.payoff()[own, other]))
        total += outcome.payoff
        mine, theirs = mine.observe(outcome), theirs.observe(mirrored(PENNIES, outcome))
    return total / length, mine


# The reference implementation

# Measured with tomsup 1.4.1, the second agent's payoffs transposed, since it varies the first agent's action in both.
# P(the other does 1), then P(own action is 1), after so many rounds of the same play.
MINE, THEIRS = "1011010011101000110101110010110100101101", "1101110110111011011110110111101011011101"
AFTER = (0, 1, 2, 4, 7, 12, 20, 40)
PLAYERS: dict[str, tuple[Game, dict[str, Any]]] = {
    "pennies": (PENNIES, {}),
    "ibs": (IBS, {"volatility": -3.0, "temperature": 1.5}),
    "lopsided": (LOPSIDED, {"volatility": -1.5, "temperature": -0.2, "bias": 0.3, "dilution": 0.7}),
}
TOMSUP: list[tuple[str, int, tuple[float, ...], tuple[float, ...]]] = [
    (
        "pennies",
        0,
        (0.50000000, 0.59510148, 0.66161841, 0.62133901, 0.60865266, 0.70463668, 0.74711437, 0.68224594),
        (0.50000000, 0.26229959, 0.14712913, 0.21092904, 0.23480161, 0.09752425, 0.06375044, 0.12115015),
    ),
    (
        "pennies",
        1,
        (0.50000000, 0.68787156, 0.55727049, 0.79845007, 0.51133341, 0.66599416, 0.73261211, 0.73405119),
        (0.50000000, 0.11478686, 0.34916552, 0.03750388, 0.46923153, 0.14125860, 0.07383489, 0.07277199),
    ),
    (
        "pennies",
        2,
        (0.50000000, 0.58835153, 0.47495733, 0.69819047, 0.61251869, 0.63566088, 0.65304873, 0.75377097),
        (0.50000000, 0.27674659, 0.56765553, 0.10386955, 0.22733339, 0.18617503, 0.15920993, 0.05956446),
    ),
    (
        "ibs",
        0,
        (0.50000000, 0.59018947, 0.65195196, 0.61673090, 0.62007382, 0.69107862, 0.72794862, 0.69192002),
        (0.41709864, 0.50185315, 0.56013029, 0.52699619, 0.53015593, 0.59630836, 0.62947433, 0.59707642),
    ),
    (
        "ibs",
        1,
        (0.50000000, 0.83623507, 0.64060443, 0.87271617, 0.44432013, 0.62280096, 0.72976894, 0.72554342),
        (0.41709864, 0.71924424, 0.54949915, 0.74632296, 0.36681597, 0.53273186, 0.63108335, 0.62734392),
    ),
    (
        "ibs",
        2,
        (0.50000000, 0.83078342, 0.72052587, 0.80586226, 0.48471623, 0.63199512, 0.71073325, 0.68832873),
        (0.41709864, 0.71504957, 0.62288373, 0.69540373, 0.40307476, 0.54140256, 0.61411926, 0.59379488),
    ),
    (
        "lopsided",
        0,
        (0.50000000, 0.59989206, 0.67051985, 0.62513124, 0.59637052, 0.71220412, 0.75683699, 0.67699895),
        (0.64687950, 0.71307624, 0.75510629, 0.72858194, 0.71087115, 0.77787360, 0.80052905, 0.75874627),
    ),
    (
        "lopsided",
        1,
        (0.50000000, 0.44717388, 0.45166404, 0.62496228, 0.49962918, 0.65438549, 0.72753698, 0.73274822),
        (0.64687950, 0.60922263, 0.61248182, 0.72847990, 0.64662081, 0.74588184, 0.78585794, 0.78852361),
    ),
    (
        "lopsided",
        2,
        (0.50000000, 0.43440880, 0.40956932, 0.54413930, 0.44842639, 0.59321961, 0.67333631, 0.70374335),
        (0.64687950, 0.59990457, 0.58156957, 0.67702436, 0.61013277, 0.70888964, 0.75669313, 0.77337764),
    ),
]


@pytest.mark.parametrize(("player", "level", "predicted", "chosen"), TOMSUP)
def test_it_predicts_and_chooses_as_the_reference_does(
    player: str, level: int, predicted: tuple[float, ...], chosen: tuple[float, ...]
) -> None:
    game, habits = PLAYERS[player]
    played = list(zip(map(int, MINE), map(int, THEIRS), strict=True))
    minds = [after(KToM.of(game, level, **habits), played[:length]) for length in AFTER]
    assert [mind.predict().prob(1) for mind in minds] == pytest.approx(predicted, abs=1e-6)
    assert [mind.act().prob(1) for mind in minds] == pytest.approx(chosen, abs=1e-6)


def test_a_0_tom_filters_by_hand() -> None:
    belief = KToM.of(PENNIES, 0, volatility=math.log(0.5)).observe(Outcome(0, 1, 1.0)).belief
    variance = 1 / (1 / 1.5 + 0.25)
    assert belief == pytest.approx(FrequencyBelief(variance * 0.5, variance))


# What the levels are about


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("action", [0, 1])
def test_every_level_learns_and_exploits_a_constant(level: int, action: int) -> None:
    mind, partner, rng = KToM.of(PENNIES, level), constant(PENNIES, action).start, np.random.default_rng(7)
    earned = 0.0
    for _ in range(50):
        earned += mind.act().expect(lambda own: float(PENNIES.payoff()[own, action]))
        own = mind.act().sample(rng)
        mind = mind.observe(Outcome(own, partner.act().sample(rng), 0.0))
    assert mind.predict().mode == action
    assert mind.predict().prob(action) > 0.85
    assert earned / 50 > 0.75


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2])
def test_a_mentalizer_beats_the_level_below(level: int) -> None:
    lower = KToM.of(PENNIES.seen_by(1), level - 1)
    payoffs = [duel(KToM.of(PENNIES, level), lower, seed)[0] for seed in range(30)]
    assert np.mean(payoffs) > 2 * np.std(payoffs) / math.sqrt(len(payoffs))


@pytest.mark.slow
@pytest.mark.parametrize("truth", [0, 1])
def test_a_2_tom_finds_out_whom_it_plays_with(truth: int) -> None:
    other = KToM.of(PENNIES.seen_by(1), truth)
    minds = [duel(KToM.of(PENNIES, 2), other, seed)[1] for seed in range(6)]
    assert np.mean([mind.levels.prob(truth) for mind in minds]) > 0.8


def test_a_1_tom_reckons_with_the_payoffs_of_the_other() -> None:
    """Whoever defects in a Prisoner's Dilemma does better, whatever the other expects."""
    mind = after(KToM.of(IPD, 1), [(0, 0)])
    assert mind.predict().prob(1) > 0.7
    generous = game_of((8, 10), (0, 8), (10, 5), (5, 0))
    assert after(KToM.of(generous, 1), [(0, 0)]).predict().prob(0) > 0.7


def test_a_1_tom_thinks_that_the_other_has_seen_its_own_action() -> None:
    beliefs = {own: after(KToM.of(PENNIES, 1), [(own, 0)] * 3).belief for own in (0, 1)}
    means = {own: belief[0].belief.mean for own, belief in beliefs.items()}  # type: ignore[union-attr]
    assert means[0] < 0 < means[1]


def test_an_observer_tells_the_level_of_a_player() -> None:
    truth, other, rng = KToM.of(PENNIES, 1), KToM.of(PENNIES.seen_by(1), 0), np.random.default_rng(3)
    observer = Observer.over([KToM.of(PENNIES, level) for level in LEVELS])
    for _ in range(150):
        own, theirs = truth.act().sample(rng), other.act().sample(rng)
        outcome = Outcome(own, theirs, float(PENNIES.payoff()[own, theirs]))
        observer = observer.watch(own, outcome)
        truth, other = truth.observe(outcome), other.observe(mirrored(PENNIES, outcome))
    assert observer.posterior.mode == truth


# What parameters do


@pytest.mark.slow
@given(games, rounds)
def test_names_of_actions_do_not_matter_if_symmetric(game: Game, played: Rounds) -> None:
    renamed = game_of(*game.payoffs[::-1])  # type: ignore[arg-type]
    flipped = [(1 - own, 1 - theirs) for own, theirs in played]
    for level in LEVELS:
        plain = after(KToM.of(game, level, symmetric=True), played)
        turned = after(KToM.of(renamed, level, symmetric=True), flipped)
        assert plain.predict().prob(0) == pytest.approx(turned.predict().prob(1), abs=1e-4)


def test_a_high_temperature_makes_choices_random_and_a_low_one_sure() -> None:
    played = [(0, 1)] * 5
    hot, cold = (after(KToM.of(PENNIES, 0, temperature=t), played).act() for t in (9.0, -9.0))
    assert hot.prob(1) == pytest.approx(0.5, abs=1e-3)
    assert cold.prob(0) == pytest.approx(0.999)


def test_the_bias_is_one_of_log_odds() -> None:
    assert KToM.of(PENNIES, 2, bias=1.0).act().prob(1) == pytest.approx(1 / (1 + math.exp(-1)))


def test_volatility_makes_a_0_tom_follow_the_latest_action() -> None:
    played = [(0, 1)] * 10 + [(0, 0)] * 3
    calm, jumpy = (after(KToM.of(PENNIES, 0, volatility=v), played).predict().prob(1) for v in (-6.0, 1.0))
    assert jumpy < 0.5 < calm


def test_who_forgets_all_weighs_levels_by_the_last_round_alone() -> None:
    played = [(0, 1), (1, 1), (0, 0), (1, 1), (1, 0)] * 6
    sharp, dull = (after(KToM.of(PENNIES, 2, dilution=d), played).levels for d in (None, 30.0))
    assert dull.entropy > sharp.entropy
    for level in (0, 1):
        assert after(KToM.of(PENNIES, level, dilution=0.0), played) != after(KToM.of(PENNIES, level), played)
        assert (
            after(KToM.of(PENNIES, level, dilution=0.0), played).act() == after(KToM.of(PENNIES, level), played).act()
        )


# A mind like others


@pytest.mark.slow
@given(games, levels, rounds, st.booleans())
def test_policies_and_predictions_are_distributions_over_two_actions(
    game: Game, level: int, played: Rounds, symmetric: bool
) -> None:
    mind = after(KToM.of(game, level, symmetric=symmetric), played)
    for law in (mind.predict(), mind.act()):
        assert law.support == (0, 1)
        assert sum(law.probs) == pytest.approx(1.0)
    assert 0.000999 < mind.act().prob(0) < 0.999001


@pytest.mark.slow
@given(games, levels, rounds)
def test_the_same_history_makes_an_equal_mind(game: Game, level: int, played: Rounds) -> None:
    first, second = (after(KToM.of(game, level), played) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)


def test_minds_are_not_changed_by_what_they_see() -> None:
    mind = KToM.of(PENNIES, 2)
    before = hash(mind), mind.predict(), mind.act()
    later = mind.observe(Outcome(0, 1, 1.0))
    assert later != mind
    assert (hash(mind), mind.predict(), mind.act()) == before
    with pytest.raises(FrozenInstanceError):
        mind.dilution = 0.5  # type: ignore[misc]


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_is_learnt_from_nothing(level: int) -> None:
    mind = KToM.of(PENNIES, level)
    assert mind.observe(None) is mind


# What it is not made for


def test_games_of_other_shapes_are_refused() -> None:
    three = Game("three", ("a", "b", "c"), (("0", "1"),) * 3, ((0.0, 0.0, 0.0),) * 8)
    for game in (find_game("rps"), three):
        with pytest.raises(ValueError, match="two actions"):
            KToM.of(game, 1)


@pytest.mark.parametrize("level", [-1, 3])
def test_levels_beyond_two_are_refused(level: int) -> None:
    with pytest.raises(ValueError, match="level"):
        KToM.of(PENNIES, level)


@pytest.mark.parametrize("habit", ["volatility", "temperature", "bias"])
@pytest.mark.parametrize("value", [21.0, -math.inf, math.nan])
def test_boundless_habits_are_refused(habit: str, value: float) -> None:
    with pytest.raises(ValueError, match="parameters"):
        KToM.of(PENNIES, 1, **{habit: value})  # type: ignore[arg-type]


def test_a_0_tom_has_no_opinion_on_levels() -> None:
    with pytest.raises(ValueError, match="0-ToM"):
        _ = KToM.of(PENNIES, 0).levels

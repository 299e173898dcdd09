"""The Bayes-adaptive player: against beliefs over machines written out, against figures, and with plans from a disk."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from otherminds.evaluation.literal_functional import expected_regret, tom_percent
from otherminds.evaluation.tasks import Task, play
from otherminds.operating_system import user_cache
from otherminds.worlds.repeated_games.machines import Machine, all_memory_one, all_reactive, build
from otherminds.worlds.repeated_games.partners import single_action, tit_for_tat
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.bayes_adaptive import (
    AdaptivePlan,
    BayesAdaptive,
    DecisionPoint,
    InductionStage,
    solve,
    weights,
)
from otherminds.worlds.repeated_games.players.best_response_to_mixture import MixtureBestResponse
from otherminds.worlds.repeated_games.players.partner_hypotheses import SIMPLICITY_PRIOR, context_of
from otherminds.worlds.repeated_games.rules import Game, Outcome, ordinal_games
from strategies import generator

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
PENNIES = Game("pennies", ("you", "partner"), (("h", "t"),) * 2, ((1, -1), (-1, 1), (-1, 1), (1, -1)))
WIDE = Game("wide", ("you", "partner"), (("a", "b"), ("x", "y", "z")), tuple((n * 5 % 6, 0) for n in range(6)))
TALL = Game("tall", ("you", "partner"), (("a", "b", "c"), ("x", "y")), WIDE.payoffs)
ORDINAL = list(ordinal_games())

Prior = Mapping[str, float]
PRIORS: list[Prior] = [SIMPLICITY_PRIOR, {"constant": 0.9, "memory_one": 0.1}, {"memory_one": 0.5, "reactive": 0.5}]
PRIORS_AND_CONSTANTS: list[Prior] = [*PRIORS, {"constant": 1.0}, {"constant": 0.5, "reactive": 0.5}]


class Written(NamedTuple):
    """Every machine of a prior over kinds, with its probability."""

    machines: list[Machine]
    weights: list[float]

    @classmethod
    def of(cls, game: Game, prior: Prior) -> Written:
        kinds = {
            "constant": single_action(game),
            "reactive": tuple(all_reactive(game)),
            "memory_one": all_memory_one(game),
        }
        groups = [(share, list(kinds[kind])) for kind, share in prior.items()]
        return cls([m for _, group in groups for m in group], [p / len(group) for p, group in groups for _ in group])


def regrets(
    game: Game, machines: Iterable[Machine], player: BayesAdaptive | MixtureBestResponse, horizon: int
) -> list[float]:
    return [expected_regret(Task(game, machine, horizon), player) for machine in machines]


def deeds(player: BayesAdaptive, partner: Machine, rounds: int) -> list[int]:
    """What the player does with a partner who leaves nothing to chance."""
    mind, done = partner.start, []
    for _ in range(rounds):
        done.append(player.act().mode)
        reply = mind.act().mode
        mind = mind.observe(Outcome(reply, done[-1], 0.0))
        player = player.observe(Outcome(done[-1], reply, 0.0))
    return done


# Against beliefs over all machines


@pytest.mark.slow
@pytest.mark.parametrize("game", [IPD, IBS], ids=lambda game: game.name)
@pytest.mark.parametrize("horizon", [1, 2, 3, 8, 100])
def test_it_plays_like_who_believes_in_all_machines(game: Game, horizon: int) -> None:
    written = Written.of(game, SIMPLICITY_PRIOR)
    expected = regrets(game, written.machines, MixtureBestResponse.of(game, *written, horizon), horizon)
    adaptive = BayesAdaptive.of(AdaptivePlan(game, horizon=horizon))
    assert regrets(game, written.machines, adaptive, horizon) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("game", ORDINAL[5::48], ids=lambda game: game.name)
@pytest.mark.parametrize("prior", PRIORS)
def test_it_plays_so_in_other_games_and_with_other_priors(game: Game, prior: Prior) -> None:
    written = Written.of(game, prior)
    expected = regrets(game, written.machines, MixtureBestResponse.of(game, *written, 9), 9)
    adaptive = BayesAdaptive.of(AdaptivePlan(game, prior, 9))
    assert regrets(game, written.machines, adaptive, 9) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "prior"),
    [
        (PENNIES, SIMPLICITY_PRIOR),
        (WIDE, {"constant": 0.25, "reactive": 0.75}),
        (TALL, {"constant": 0.25, "reactive": 0.75}),
        (RPS, {"constant": 0.25, "reactive": 0.75}),
    ],
    ids=["pennies", "wide", "tall", "rps"],
)
@pytest.mark.parametrize("horizon", [1, 4])
def test_its_regret_is_the_least_where_several_actions_may_be_the_best(game: Game, prior: Prior, horizon: int) -> None:
    written = Written.of(game, prior)
    told = np.dot(written.weights, [Task(game, machine, horizon).optimum for machine in written.machines])
    best = MixtureBestResponse.of(game, *written, horizon).beliefs.response.values[0, 0]
    lost = regrets(game, written.machines, BayesAdaptive.of(AdaptivePlan(game, prior, horizon)), horizon)
    assert np.dot(written.weights, lost) == pytest.approx((told - best) / horizon, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("game", [WIDE, TALL], ids=lambda game: game.name)
def test_no_plan_for_two_rounds_earns_more_against_all_tables(game: Game) -> None:
    own, theirs = game.shape
    machines, shares = Written.of(game, SIMPLICITY_PRIOR)
    payoff = game.payoff()
    firsts = [machine.start.act().mode for machine in machines]

    def earned(a: int, then: Sequence[int]) -> float:
        """By an action, and another one for each thing that the partner may do meanwhile."""
        replies = [m.start.observe(Outcome(b, a, 0.0)).act().mode for m, b in zip(machines, firsts, strict=True)]
        paired = zip(shares, firsts, replies, strict=True)
        return sum(p * float(payoff[a, b] + payoff[then[b], reply]) for p, b, reply in paired)

    player = BayesAdaptive.of(AdaptivePlan(game, horizon=2))
    opening = player.act().mode
    later = [player.observe(Outcome(opening, b, 0.0)).act().mode for b in range(theirs)]
    best = max(earned(a, then) for a in range(own) for then in product(range(own), repeat=theirs))
    assert earned(opening, later) == pytest.approx(best, abs=1e-9)


def test_it_opens_with_what_is_worse_on_average_if_that_shows_more() -> None:
    """The first row pays 0 on average, but it may pay 4 in every round from the third on, and the second never does."""
    game = Game("option", ("you", "partner"), (("a", "b"), ("x", "y")), ((4, 0), (-4, 0), (0.5, 0), (0.5, 0)))
    assert [BayesAdaptive.of(AdaptivePlan(game, {"reactive": 1.0}, horizon)).act().mode for horizon in (1, 2, 5)] == [
        1,
        1,
        0,
    ]
    written = Written.of(game, {"reactive": 1.0})
    expected = regrets(game, written.machines, MixtureBestResponse.of(game, *written, 5), 5)
    assert regrets(
        game, written.machines, BayesAdaptive.of(AdaptivePlan(game, {"reactive": 1.0}, 5)), 5
    ) == pytest.approx(expected)


# Figures


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "single", "tft", "percents"), [(IBS, 0.035, 0.0, (99.5, 100.0)), (IPD, 0.025, 0.09, (99.5, 98.0))]
)
def test_it_loses_little_and_predicts_nearly_everything(
    game: Game, single: float, tft: float, percents: tuple[float, float]
) -> None:
    player = BayesAdaptive.of(AdaptivePlan(game))
    assert np.mean(regrets(game, single_action(game), player, 100)) == pytest.approx(single, abs=1e-9)
    assert regrets(game, tit_for_tat(game), player, 100) == pytest.approx([tft], abs=1e-9)
    assert predicted(game, player) == pytest.approx(percents)


def predicted(game: Game, player: BayesAdaptive) -> tuple[float, float]:
    """The percentage of right predictions of single-action partners, and of tit for tat."""
    tasks = [Task(game, machine) for machine in (*single_action(game), *tit_for_tat(game))]
    *single, tft = (tom_percent(list(play(task, player, rng=generator()))) for task in tasks)
    return float(np.mean(single)), tft


def test_it_tests_whether_retaliation_can_be_avoided_and_defects_in_the_last_round() -> None:
    (tft,) = tit_for_tat(IPD)
    done = deeds(BayesAdaptive.of(AdaptivePlan(IPD)), tft, 100)
    assert done[:3] == [1, 1, 0]
    assert done[3:] == [0] * 96 + [1]


class Kept(NamedTuple):
    """A player of Rock, Paper, Scissors for a hundred rounds, and the folder that its plan was put into."""

    player: BayesAdaptive
    folder: Path


@pytest.fixture(scope="module")
def rock_paper_scissors(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("plans")
    return Kept(BayesAdaptive.of(AdaptivePlan(RPS, horizon=20, cache=folder)), folder)


@pytest.mark.slow
def test_it_finds_out_a_partner_of_rock_paper_scissors(rock_paper_scissors: Kept) -> None:
    player = rock_paper_scissors.player
    assert np.mean(regrets(RPS, single_action(RPS), player, 20)) == pytest.approx(0.05, abs=1e-9)
    assert regrets(RPS, tit_for_tat(RPS), player, 20) == pytest.approx([0.25], abs=1e-9)
    assert predicted(RPS, player) == pytest.approx((99 + 1 / 3, 97.0))


@pytest.mark.slow
def test_a_plan_of_rock_paper_scissors_is_found_on_the_disk_the_second_time(rock_paper_scissors: Kept) -> None:
    player, folder = rock_paper_scissors
    player.act()
    again = BayesAdaptive.of(AdaptivePlan(RPS, horizon=20, cache=folder, progress=refuse))
    sample = list(all_reactive(RPS))[::6]
    for machine in (*single_action(RPS), *tit_for_tat(RPS), *sample):
        assert deeds(again, machine, 20) == deeds(player, machine, 20)


def refuse(_items: Iterable[InductionStage], _total: int, _what: str) -> Iterable[InductionStage]:
    raise AssertionError("it is planned anew")


# Symmetry


@pytest.mark.slow
@pytest.mark.parametrize("game", [PENNIES, RPS], ids=lambda game: game.name)
def test_all_first_actions_are_alike_but_for_the_names(game: Game) -> None:
    """Solving for each first action gives the same worth; and what the plan does is best in each."""
    n, prior = game.shape[0], tuple(SIMPLICITY_PRIOR.items())
    nothing = (0,) * n * n
    policies = [solve(game.payoff(), weights(prior, first, n, n), nothing, 3) for first in range(n)]
    for first, a in product(range(n), range(n)):
        turned = policies[0].worth[(context_of((a - first) % n, 0, n), *nothing)]
        assert policies[first].worth[(context_of(a, first, n), *nothing)] == pytest.approx(turned, abs=1e-12)


SHORT = AdaptivePlan(RPS, horizon=5)


@pytest.mark.slow
@given(st.integers(0, 2), st.integers(1, 2), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_it_plays_alike_when_all_actions_are_renamed_in_turn(first: int, turn: int, replies: list[int]) -> None:
    """Whatever the partner begins with; what is played before that is not turned, as all openings are equal."""
    opening = BayesAdaptive.of(SHORT).act().mode
    one = BayesAdaptive.of(SHORT).observe(Outcome(opening, first, 0.0))
    other = BayesAdaptive.of(SHORT).observe(Outcome((opening + turn) % 3, (first + turn) % 3, 0.0))
    for reply in replies:
        a = one.act().mode
        assert other.act().mode == (a + turn) % 3
        one = one.observe(Outcome(a, reply, 0.0))
        other = other.observe(Outcome((a + turn) % 3, (reply + turn) % 3, 0.0))


# Partners that are none of those it believes in

games = st.sampled_from([IPD, IBS, PENNIES, WIDE, TALL])
PLANS = {
    (game.name, i): AdaptivePlan(game, prior, horizon=7)
    for game in (IPD, IBS, PENNIES, WIDE, TALL)
    for i, prior in enumerate(PRIORS_AND_CONSTANTS)
}


@pytest.mark.slow
@settings(max_examples=25)
@given(games, st.integers(0, 4), st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_whatever_the_partner_does_it_goes_on(game: Game, prior: int, replies: list[int]) -> None:
    own, theirs = game.shape
    player = BayesAdaptive.of(PLANS[game.name, prior]).observe(None)
    for reply in replies:
        assert 0 <= player.act().mode < own
        assert len(player.act()) == 1
        assert sum(player.predict().probs) == pytest.approx(1.0)
        player = player.observe(Outcome(player.act().mode, reply % theirs, 0.0))


@pytest.mark.slow
def test_whatever_a_partner_of_rock_paper_scissors_does_it_goes_on() -> None:
    plan = AdaptivePlan(RPS, horizon=8)
    for seed in range(6):
        player, rng = BayesAdaptive.of(plan), generator(seed)
        for _ in range(10):
            action = player.act().mode
            assert 0 <= action < 3
            player = player.observe(Outcome(action, int(rng.integers(3)), 0.0))


def test_it_follows_a_partner_who_changes_its_mind() -> None:
    """Who fought for ten rounds goes to the ballet for the rest."""
    partner = build("turncoat", IBS, 0, lambda t: int(t == 10), lambda t, _own, _theirs: min(t + 1, 10))
    assert deeds(BayesAdaptive.of(AdaptivePlan(IBS, horizon=30)), partner, 30)[-15:] == [1] * 15


@pytest.mark.parametrize("game", [IPD, IBS, RPS, WIDE, TALL], ids=lambda game: game.name)
def test_with_one_round_it_plays_the_best_action_on_average_and_goes_on_if_asked(game: Game) -> None:
    player = BayesAdaptive.of(AdaptivePlan(game, horizon=1))
    means = game.payoff().mean(axis=1)
    assert player.act().mode == means.argmax()
    for t in range(3):
        player = player.observe(Outcome(player.act().mode, t % game.shape[1], 0.0))
        assert 0 <= player.act().mode < game.shape[0]


@pytest.mark.parametrize("horizon", [1, 2, 4])
def test_after_the_last_round_it_plays_as_in_the_last(horizon: int) -> None:
    player = BayesAdaptive.of(AdaptivePlan(IPD, horizon=horizon))
    for _ in range(horizon):
        player = player.observe(Outcome(player.act().mode, 0, 0.0))
    for _ in range(3):
        assert player.act().mode == 1
        player = player.observe(Outcome(1, 0, 0.0))


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=12))
def test_it_knows_the_last_reply_to_every_joint_action(rounds: list[tuple[int, int]]) -> None:
    player = BayesAdaptive.of(PLANS["ipd", 0])
    known = [0, 0, 0, 0]
    for t, (own, theirs) in enumerate(rounds):
        if t:
            a, b = rounds[t - 1]
            known[2 * a + b] = 1 + theirs
        player = player.observe(Outcome(own, theirs, 0.0))
        assert player.knowledge == tuple(known)


situations = st.builds(
    DecisionPoint,
    st.integers(1, 6),
    st.integers(0, 3),
    st.tuples(*[st.integers(0, 2)] * 4),
)


@settings(max_examples=25)
@given(
    st.sampled_from(PRIORS_AND_CONSTANTS), st.lists(st.tuples(st.integers(0, 1), situations), min_size=1, max_size=8)
)
@pytest.mark.slow
def test_wherever_it_gets_it_does_the_best_for_all_tables_that_are_left_or_if_none_is_for_all_that_fit(
    prior: Prior, asked: list[tuple[int, DecisionPoint]]
) -> None:
    """In any order, of one plan: one with a first action of the partner and what it is taken to have replied."""
    plan = AdaptivePlan(IPD, prior, 7)
    for first, situation in asked:
        weight = weights(tuple(prior.items()), first, 2, 2)
        if not weight[situation.knowledge]:
            weight = weights((("memory_one", 1.0),), first, 2, 2)
        left = 7 - situation.round
        expected = solve(IPD.payoff(), weight, situation.knowledge, left).action(
            left, situation.context, situation.knowledge
        )
        assert plan.action(first, situation) == expected


# Plans on a disk


def solved(folder: Path, game: Game = WIDE, horizon: int = 5, prior: Prior = SIMPLICITY_PRIOR) -> list[list[int]]:
    """What a player whose plan may be in the folder does with all reactive partners."""
    player = BayesAdaptive.of(AdaptivePlan(game, prior, horizon, cache=folder))
    return [deeds(player, machine, horizon) for machine in all_reactive(game)]


def found(folder: Path, game: Game = WIDE, horizon: int = 5, prior: Prior = SIMPLICITY_PRIOR) -> list[list[int]]:
    """The same, if nothing is to be planned any more."""
    player = BayesAdaptive.of(AdaptivePlan(game, prior, horizon, cache=folder, progress=refuse))
    return [deeds(player, machine, horizon) for machine in all_reactive(game)]


def test_plans_are_put_into_a_folder_that_is_made_for_them(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    done = solved(folder)
    assert len(list(folder.iterdir())) == 3
    assert found(folder) == done


def test_small_plans_are_not_worth_a_file(tmp_path: Path) -> None:
    solved(tmp_path, IPD)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_each_problem_has_plans_of_its_own(tmp_path: Path) -> None:
    """TALL has the same numbers as WIDE, in another shape."""
    problems: list[tuple[Game, int, Prior]] = [
        (WIDE, 5, SIMPLICITY_PRIOR),
        (TALL, 5, SIMPLICITY_PRIOR),
        (WIDE, 4, SIMPLICITY_PRIOR),
        (WIDE, 5, {"constant": 0.5, "reactive": 0.5}),
    ]
    for game, horizon, prior in problems:
        apart = tmp_path / "apart"
        assert solved(tmp_path / "shared", game, horizon, prior) == solved(apart, game, horizon, prior)
        shutil.rmtree(apart)
    for game, horizon, prior in problems:
        found(tmp_path / "shared", game, horizon, prior)


def spoilt(content: bytes) -> Iterable[bytes]:
    """Files that are torn, changed or of another kind."""
    yield from (content[:size] for size in (0, 1, 10, len(content) // 2, len(content) - 1))
    for place in range(0, len(content), 41):
        yield bytes([*content[:place], content[place] ^ 0b00010101, *content[place + 1 :]])
    yield b"not what was put there"
    yield b"PK\x03\x04" + bytes(100)


@pytest.mark.slow
def test_spoilt_files_are_planned_anew(tmp_path: Path) -> None:
    done = solved(tmp_path, horizon=2)
    paths = sorted(tmp_path.iterdir())
    for content in spoilt(paths[0].read_bytes()):
        for path in paths:
            path.write_bytes(content)
        assert solved(tmp_path, horizon=2) == done


def test_a_spoilt_file_is_replaced(tmp_path: Path) -> None:
    done = solved(tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-30])
    solved(tmp_path)
    assert found(tmp_path) == done
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    "arrays",
    [
        {"other": np.zeros(3)},
        {
            "worth": np.zeros(2),
            "rounds": np.array(1),
            "contexts": np.array(1),
            "known": np.zeros(6),
            "actions": np.zeros(1),
        },
        {key: np.zeros(2, dtype=int) for key in ("worth", "rounds", "contexts", "known", "actions")},
        {"worth": np.array([{}, []], dtype=object)},
    ],
)
def test_files_of_somebody_else_are_planned_anew(tmp_path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    done = solved(tmp_path)
    for path in list(tmp_path.iterdir()):
        np.savez(path, allow_pickle=True, **arrays)
    assert solved(tmp_path) == done
    assert found(tmp_path) == done


def test_an_array_alone_is_planned_anew(tmp_path: Path) -> None:
    done = solved(tmp_path)
    for path in list(tmp_path.iterdir()):
        with path.open("wb") as file:
            np.save(file, np.arange(3))
    assert solved(tmp_path) == done


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_does_no_harm(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    assert solved(tmp_path / place) == solved(tmp_path / "folder")
    assert (tmp_path / "file").read_text("utf-8") == "in the way"


def test_a_folder_in_the_place_of_a_file_does_no_harm(tmp_path: Path) -> None:
    done = solved(tmp_path)
    for path in list(tmp_path.iterdir()):
        path.unlink()
        path.mkdir()
        (path / "something").touch()
    assert solved(tmp_path) == done
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_the_user_says_where_plans_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OTHERMINDS_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert user_cache() == tmp_path / "own"
    monkeypatch.delenv("OTHERMINDS_CACHE")
    assert user_cache() == tmp_path / "xdg" / "otherminds"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache() == tmp_path / "home" / ".cache" / "otherminds"


# Expectations


def test_it_expects_what_its_prior_does() -> None:
    player = BayesAdaptive.of(AdaptivePlan(IPD, {"constant": 0.6, "reactive": 0.4}))
    assert player.predict().probs == pytest.approx((0.5, 0.5))
    player = player.observe(Outcome(1, 0, 0.0))
    assert player.predict().prob(0) == pytest.approx(0.6 + 0.4 / 2)
    player = player.observe(Outcome(1, 1, 0.0))  # no constant partner would
    assert player.predict().prob(1) == pytest.approx(1.0)
    assert player.observe(Outcome(0, 1, 0.0)).predict().prob(1) == pytest.approx(0.5)
    assert math.isclose(sum(player.predict().probs), 1.0)

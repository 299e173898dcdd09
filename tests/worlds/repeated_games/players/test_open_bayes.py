"""The default player: its inference is an observer's with a switch rate, and its losses are bounded."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.evaluation.literal_functional import functional_regret
from otherminds.evaluation.tasks import Task, play
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import all_memory_one, bundled_machines, canonical, constant
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.players.learners import tabular
from otherminds.worlds.repeated_games.players.open_bayes import (
    LEARNERS,
    MARGIN,
    OpenBayes,
    OpenHypotheses,
    default_hypotheses,
    default_prior,
    library_hypotheses,
)
from otherminds.worlds.repeated_games.rules import Game, Outcome

IPD = find_game("ipd")
PENNIES = Game("pennies", ("a", "b"), (("h", "t"), ("h", "t")), ((1, -1), (-1, 1), (-1, 1), (1, -1)))


@pytest.mark.parametrize("rate", [0.0, 0.02])
def test_the_posterior_is_that_of_an_observer_with_the_same_switch_rate(rate: float) -> None:
    machines = (*bundled_machines(IPD)[:10], *all_memory_one(IPD))
    prior = np.append(np.full(len(machines), 1.0 / len(machines)), np.zeros(LEARNERS))
    known = OpenHypotheses(IPD, machines, prior, 20, slips=((0.1, 1.0),), switch_rates=((rate, 1.0),), recall=0.0)
    player = OpenBayes.of(known)
    observer = Observer.over((machine.trembling(0.1).start for machine in machines), switch_rate=rate)
    rng = np.random.default_rng(1)
    for _ in range(20):
        own, theirs = map(int, rng.integers(2, size=2))
        outcome = Outcome(own, theirs, float(IPD.payoff()[own, theirs]))
        player = player.observe(outcome)
        observer = observer.watch(theirs, mirrored(IPD, outcome))
        expected = np.exp(np.array(observer.weights) - max(observer.weights))
        np.testing.assert_allclose(player.posterior[: len(machines)], expected / expected.sum(), rtol=0, atol=1e-9)
        for action in range(2):
            assert player.predict().prob(action) == pytest.approx(observer.predict().prob(action), abs=1e-9)


@pytest.mark.slow
def test_the_rates_of_the_partner_are_learnt() -> None:
    player = OpenBayes.of(default_hypotheses(IPD, 100))
    before = player.hypotheses.rates[:2] @ player.weights.sum(axis=0)
    for t in range(40):  # the partner always cooperates, but for a slip in every fifth round
        player = player.observe(Outcome(t % 2, int(t % 5 == 4), 0.0))
    slips, switches = player.hypotheses.rates[:2] @ player.weights.sum(axis=0)
    assert slips > before[0]
    assert switches < 2 * before[1]


@pytest.mark.slow
@pytest.mark.parametrize("game", [IPD, PENNIES], ids=lambda game: game.name)
def test_an_adversary_that_knows_its_action_costs_no_more_than_the_margin(game: Game) -> None:
    payoff, earned = game.payoff(), []
    secure = default_hypotheses(game, 100).maximin[0]
    for episode in range(2):
        rng, player, total = np.random.default_rng(episode), OpenBayes.of(default_hypotheses(game, 100)), 0.0
        for _ in range(100):
            policy = player.act()
            theirs = int((policy.probs @ payoff[list(policy.support)]).argmin())
            own = policy.sample(rng)
            total += float(payoff[own, theirs])
            player = player.observe(Outcome(own, theirs, float(payoff[own, theirs])))
        earned.append(total / 100)
    spread = float(np.ptp(payoff))
    assert np.mean(earned) >= secure - MARGIN * spread - spread / 100 - 3 * 0.05 * spread / np.sqrt(2)


def lost(name: str, hypotheses: OpenHypotheses) -> float:
    task = Task(IPD, partner(name, IPD), 100)
    return functional_regret(task, list(play(task, OpenBayes.of(hypotheses), rng=np.random.default_rng(3))))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("tft", 0.15), ("always-cooperate", 0.1), ("anti-copy", 0.1)])
def test_with_the_open_prior_it_does_well_with_simple_partners(name: str, most: float) -> None:
    assert lost(name, OpenHypotheses.of(IPD, 100)) <= most


@pytest.mark.slow
def test_in_a_dilemma_it_spares_whoever_would_retaliate_and_pays_for_it_with_whoever_would_not() -> None:
    hypotheses = default_hypotheses(IPD, 100)
    for name in ("tft", "grim", "wsls", "gtft"):
        assert lost(name, hypotheses) < 0.05
    assert lost("always-cooperate", hypotheses) == pytest.approx(1.98)


def test_the_prior_is_that_of_a_dilemma_if_and_only_if_both_have_its_order_of_payoffs() -> None:
    names = {}
    for own, theirs in product(permutations((1, 2, 3, 4)), repeat=2):
        game = Game("any", ("a", "b"), (("C", "D"),) * 2, tuple(zip(own, theirs, strict=True)))
        names[own, theirs] = default_prior(game)
    assert {orders for orders, name in names.items() if name == "dilemma"} == {((3, 1, 4, 2), (3, 4, 1, 2))}
    assert set(names.values()) == {"dilemma", "open"}
    tie = Game("tie", ("a", "b"), (("C", "D"),) * 2, ((3, 3), (1, 4), (4, 1), (1, 1)))
    wide = Game("wide", ("a", "b"), (("C", "D"), ("C", "D", "E")), ((0, 0),) * 6)
    assert [default_prior(game) for game in (IPD, tie, wide, PENNIES)] == ["dilemma", "open", "open", "open"]


@pytest.mark.slow
def test_in_a_dilemma_the_machines_are_those_of_the_library_player_and_the_switch_rates_are_open() -> None:
    default, library, open_ones = default_hypotheses(IPD, 30), library_hypotheses(IPD, 30), OpenHypotheses.of(IPD, 30)
    assert default.machines == library.machines
    np.testing.assert_array_equal(default.prior, library.prior)
    np.testing.assert_array_equal(default.rates, open_ones.rates)
    machines = bundled_machines(IPD)
    left_out = next(machine for machine in machines if machine.name == "First by Shubik")
    without = default_hypotheses(IPD, 30, tuple(machine for machine in machines if machine is not left_out))
    assert left_out in default.machines
    assert left_out not in without.machines


@pytest.mark.slow
def test_it_notices_that_the_partner_has_changed() -> None:
    player = OpenBayes.of(default_hypotheses(IPD, 100))
    last, actions = 0, []
    for t in range(60):
        own = player.act().mode
        actions.append(own)
        theirs = last if t < 40 else 1 - last  # tit for tat, then its opposite
        player, last = player.observe(Outcome(own, theirs, float(IPD.payoff()[own, theirs]))), own
    assert sum(actions[20:40]) == 0
    assert sum(actions[45:]) == 15


@pytest.mark.parametrize("shape", [(3, 4), (2, 2, 3), (12, 11), (2, 5)])
def test_it_plays_games_of_any_shape(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    rows = tuple(map(tuple, rng.normal(size=(int(np.prod(shape)), len(shape))).tolist()))
    game = Game("any", tuple("abc"[: len(shape)]), tuple(tuple(f"{i}" for i in range(n)) for n in shape), rows)
    player = OpenBayes.of(OpenHypotheses.of(game, 25))
    for _ in range(25):
        own = player.act().sample(rng)
        player = player.observe(Outcome(own, 0, float(game.payoff()[own, 0])))
    assert player.act().mode == int(game.payoff()[:, 0].argmax())
    assert player.predict().mode == 0


def test_the_same_observations_give_the_same_action_whether_or_not_it_was_asked_before() -> None:
    one = two = OpenBayes.of(default_hypotheses(IPD, 30))
    for own, theirs in ((1, 0), (0, 1), (0, 0), (0, 0), (0, 0)):
        one.act()
        one, two = (player.observe(Outcome(own, theirs, 0.0)) for player in (one, two))
    assert one.act() == two.act()


@pytest.mark.slow
def test_the_last_round_is_a_best_reply() -> None:
    task = Task(IPD, constant(IPD, 0), 3)
    rows = list(play(task, OpenBayes.of(OpenHypotheses.of(IPD, 3)), rng=np.random.default_rng(0)))
    assert rows[-1]["action"] == 1


@pytest.mark.slow
def test_it_plays_more_rounds_than_it_looks_ahead() -> None:
    player = OpenBayes.of(OpenHypotheses.of(IPD, 150))
    for _ in range(120):
        player = player.observe(Outcome(player.act().mode, 1, 0.0))
    assert player.act().mode == 1


@pytest.mark.slow
def test_a_library_has_most_of_the_prior() -> None:
    library = bundled_machines(IPD)[:10]
    known = library_hypotheses(IPD, 30, tuple(library))
    forms = {canonical(machine) for machine in library}
    of_library = [p for one, p in zip(known.machines, known.prior, strict=False) if canonical(one) in forms]
    assert known.prior.sum() == pytest.approx(1.0)
    assert len(of_library) == 10
    assert 0.6 < sum(of_library) < 0.75
    assert library_hypotheses(IPD, 30, tuple(library)) is known
    with pytest.raises(InputError, match="2 × 2"):
        library_hypotheses(find_game("rps"), 30)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grim", "tft", "wsls", "gtft"])
def test_with_a_library_it_does_not_betray_whoever_cooperates(name: str) -> None:
    task, player = Task(IPD, partner(name, IPD)), OpenBayes.of(library_hypotheses(IPD, 100))
    assert functional_regret(task, list(play(task, player, rng=np.random.default_rng(1)))) < 0.02


@pytest.mark.slow
def test_with_machines_that_are_not_in_its_library_it_does_better_than_who_learns_from_nothing() -> None:
    machines = bundled_machines(IPD)
    knowing, learning = list[float](), list[float]()
    for i in range(0, 45, 6):
        task, rng = Task(IPD, machines[i]), np.random.default_rng(i)
        player = OpenBayes.of(library_hypotheses(IPD, 100, (*machines[:i], *machines[i + 1 :])))
        knowing.append(functional_regret(task, list(play(task, player, rng=rng))))
        learning.append(functional_regret(task, list(play(task, tabular(IPD), rng=rng))))
    assert np.mean(knowing) < 0.5 * np.mean(learning)


@pytest.mark.slow
def test_it_does_not_teach_a_learner_to_dare() -> None:
    """A partner that has dared twice in Chicken may be a Q-learner, which yields for ever once it has yielded."""
    payoffs = ((8, 8), (3, 10), (10, 3), (0, 0))
    game = Game("chicken", ("you", "partner"), (("swerve", "dare"),) * 2, payoffs)
    player = OpenBayes.of(default_hypotheses(game, 100))
    for _ in range(3):
        assert player.act().mode == 1
        player = player.observe(Outcome(1, 1, 0.0))

"""Plans against one of many machines: their values are those of policies that can be followed."""

from __future__ import annotations

import numpy as np
import pytest

from otherminds.planning.best_response import Pool, best_response
from otherminds.planning.policy_rollout import Machines, Plan, action_tables, plan_values
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_response_to_mixture import MixtureBestResponse
from otherminds.worlds.repeated_games.players.learning_machines import q_learner
from random_machines import random_machines

IPD = find_game("ipd")
PLANS = [Plan(), Plan((0,)), Plan((1,)), Plan((0, 1)), Plan((1, 1))]


def _machines(machines: list[Machine], horizon: int, discount: float = 1.0) -> tuple[Machines, Pool]:
    pool = Pool.of(IPD.payoff(), [machine.chances for machine in machines], horizon)
    return Machines.of(IPD.payoff(), pool.chances, horizon, discount=discount), pool


def test_action_values_are_those_of_the_best_response() -> None:
    chances = partner("joss", IPD).chances
    found = action_tables(IPD.payoff(), chances, 20)
    np.testing.assert_allclose(found.max(axis=2), best_response(IPD.payoff(), chances, 20).values[:-1], atol=1e-6)


def test_a_plan_against_a_known_partner_is_worth_the_optimum_from_where_it_ends() -> None:
    machines, pool = _machines([partner("tft", IPD)], 10)
    found = plan_values(machines, 0, pool.starts, np.array([1.0]), [Plan(), Plan((1,)), Plan(hypothesis=0)], 5.0)
    table = machines.values(0, pool.starts)[0]
    assert found.tolist() == pytest.approx([table.max(), table[1], table.max()])


def test_a_test_that_cannot_be_taken_back_has_its_price() -> None:
    machines, pool = _machines([partner("always-cooperate", IPD), partner("grim", IPD)], 50)
    for share, tests in ((0.99, True), (0.5, False)):
        weights = np.array([share, 1.0 - share])
        plans = [Plan((1,)), Plan(hypothesis=1)]
        defect, cooperate = plan_values(machines, 0, pool.starts, weights, plans, 5.0)
        assert (defect > cooperate) == tests
        assert cooperate == pytest.approx(50 * 8 + 2)  # and defection in the last round


@pytest.mark.parametrize("seed", range(5))
def test_no_plan_is_worth_more_than_bayes_optimal_play(seed: int) -> None:
    chosen = list(random_machines(IPD, 6, 4, np.random.default_rng(seed)))
    machines, pool = _machines(chosen, 12)
    plans = [*PLANS, *(Plan(hypothesis=h) for h in range(len(chosen)))]
    found = plan_values(machines, 0, pool.starts, np.full(6, 1 / 6), plans, 5.0)
    bound = float(MixtureBestResponse.of(IPD, chosen, horizon=12).beliefs.response.values[0, 0])
    assert found.max() <= bound + 1e-6
    assert found.max() >= 0.9 * bound


def test_machines_can_be_joined_and_discounted() -> None:
    (one, first), (two, second) = (_machines([partner(name, IPD)], 10, 0.9) for name in ("tft", "grim"))
    both = one.joined(two)
    states = np.concatenate([first.starts, second.starts + len(one.likely)])
    expected = np.concatenate([one.values(3, first.starts), two.values(3, second.starts)])
    np.testing.assert_array_equal(both.values(3, states), expected)
    known, pool = _machines([partner("tft", IPD), partner("grim", IPD)], 10, 0.9)
    args = (0, np.array([0.5, 0.5]), PLANS, 5.0)
    found = plan_values(both, args[0], states, *args[1:])
    np.testing.assert_allclose(found, plan_values(known, args[0], pool.starts, *args[1:]))


def test_branches_of_a_learner_are_worth_together_what_it_is() -> None:
    """Σ_b O[q, b] Q(q parted by b, a) = Q(q, a), and each branch replies as it says and then goes on."""
    learner, still = q_learner(IPD, rate=0.2, explore=0.1, levels=5), partner("random", IPD)
    machines, pool = _machines([learner, still], 12, 0.95)
    states, weights = pool.starts, np.array([0.6, 0.4])
    parted = machines.branched(IPD.payoff(), 3, states, weights, len(machines.likely))
    assert parted.origin.tolist() == [1, 0, 0]  # what partners that learn nothing do by chance decides nothing
    assert parted.weights.tolist() == pytest.approx([0.4, 0.3, 0.3])
    branches = parted.states[1:]
    values = parted.machines.values(3, branches)
    np.testing.assert_allclose(values.mean(axis=0), machines.values(3, states)[0], atol=1e-8)
    assert sorted(parted.machines.likely[branches]) == [0, 1]
    for state, reply in zip(branches, parted.machines.likely[branches], strict=True):
        moves = parted.machines.chances.moves[state, :, reply]
        np.testing.assert_array_equal(moves, machines.chances.moves[states[0], :, reply])
    assert machines.branched(IPD.payoff(), 3, states, weights, 0).machines is machines

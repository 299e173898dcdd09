"""Plans, agents, and joint inference: exact where it can be worked out another way."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.distribution import Categorical
from otherminds.testing import check_mind
from otherminds.world import rollout
from otherminds.worlds.food_trucks.agent import Diner, watch_walk
from otherminds.worlds.food_trucks.inference import Hypotheses, JointInference
from otherminds.worlds.food_trucks.level_files import FoodTruckLevel, bundled_food_trucks, parse_food_trucks
from otherminds.worlds.food_trucks.planner import FoodTruckPlanner, simplex_grid
from otherminds.worlds.food_trucks.rules import ACTIONS, EAT, STAY, FoodTruckState

LEVELS = {level.name: level for level in bundled_food_trucks()}
# B is seen from a part of the cells, from one of them in half of all cases
SMALL = "S....\n..#.#\nA.#.B\n\nparked: Lebanese\nwalk: right right right down stay up left left left down down eat\n"


@pytest.fixture(scope="module")
def small() -> FoodTruckLevel:
    return parse_food_trucks(SMALL, Path("small.txt"))


def test_the_small_case_has_cells_from_which_it_is_uncertain_what_is_seen(small: FoodTruckLevel) -> None:
    shares = [small.world.visibility[cell] for cell in small.cells]
    assert any(0.1 < share < 0.9 for share in shares)


# Plans


def test_values_are_those_of_plain_value_iteration(small: FoodTruckLevel) -> None:
    world, rewards = small.world, (20.0, 40.0, 10.0)
    planner = FoodTruckPlanner(world, intervals=2)
    found = planner.action_values(np.array([rewards]))
    beliefs = [tuple(belief) for belief in simplex_grid(3, 2).tolist()]
    certain = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    values = dict.fromkeys(product(beliefs, world.grid.cells()), 0.0)

    def q(belief: tuple[float, ...], cell: int, action: str) -> float:
        cost, there = (0.0 if action == STAY else 1.0), world.destination(cell, action)
        share, empty, pays, after = world.visibility[there], 1.0, 0.0, belief
        if action == EAT and cell == world.known_spot:
            empty, pays = 0.0, rewards[0]
        elif action == EAT and cell == world.hidden_spot:
            empty, pays, after = belief[2], belief[0] * rewards[1] + belief[1] * rewards[2], certain[2]
        seen = sum(p * values[one, there] for p, one in zip(after, certain, strict=True))
        return pays - cost + empty * 0.99 * ((1 - share) * values[after, there] + share * seen)

    for _ in range(120):
        values = {(belief, cell): max(q(belief, cell, action) for action in ACTIONS) for belief, cell in values}
    for b, belief in enumerate(beliefs):
        for x, cell in enumerate(planner.cells):
            assert found[x, :, 0, b] == pytest.approx([q(belief, cell, action) for action in ACTIONS], abs=1e-7)


def test_an_agent_without_costs_and_discount_has_the_best_truck_it_may_find(small: FoodTruckLevel) -> None:
    planner = FoodTruckPlanner(replace(small.world, cost=0.0), discount=1.0, intervals=2)
    best = planner.action_values(np.array([[30.0, 50.0, -20.0]])).max(axis=1)[:, 0]
    expected = planner.beliefs @ np.array([50.0, 30.0, 30.0])
    hidden = planner.index[small.world.hidden_spot]
    assert np.delete(best, hidden, axis=0) == pytest.approx(np.tile(expected, (len(best) - 1, 1)))


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=4))
def test_a_belief_is_mixed_from_the_points_around_it(odds: list[float]) -> None:
    belief = np.array(odds) / sum(odds)
    rows = ["A" + "." * 3 + "S.B"]
    names = ["a", "b", "c", "d"][: len(odds)]
    level = parse_food_trucks(f"{rows[0]}\n\nparked: nothing\ntrucks: {', '.join(names)}\n", Path("x.txt"))
    planner = FoodTruckPlanner(level.world)
    weights = planner.weights(belief.tolist())
    assert weights @ planner.beliefs == pytest.approx(belief, abs=1e-9)
    assert np.count_nonzero(weights) <= len(odds)
    for k, point in enumerate(planner.beliefs.tolist()):
        assert planner.weights(point)[k] == pytest.approx(1.0)


# Agents


def test_the_agent_looks_and_then_eats_what_it_likes(small: FoodTruckLevel) -> None:
    planner = FoodTruckPlanner(small.world)
    for parked, expected in (("Lebanese", "Lebanese"), ("nothing", "Korean")):
        mind = Diner(planner, (20.0, 100.0, 0.0), (0.6, 0.2, 0.2), beta=20.0)
        state = FoodTruckState(small.world.beginning, parked, False)
        *_, last = rollout(small.world, {"diner": mind}, steps=60, rng=np.random.default_rng(3), state=state)
        assert last.after.eaten == expected


def test_the_agent_is_an_ordinary_mind(small: FoodTruckLevel) -> None:
    planner = FoodTruckPlanner(small.world, intervals=2)
    check_mind(Diner(planner, (20.0, 100.0, 0.0), (0.6, 0.2, 0.2)), small.world)
    with pytest.raises(ValueError, match="observe something"):
        Diner(planner, (20.0, 100.0, 0.0), (0.6, 0.2, 0.2)).act()


# Inference


@pytest.mark.parametrize("beta", [0.1, 2.5])
def test_inference_in_vectors_equals_the_observer(small: FoodTruckLevel, beta: float) -> None:
    hypotheses = Hypotheses(FoodTruckPlanner(small.layout), levels=(-20.0, 60.0), intervals=2)
    found = JointInference(hypotheses, beta).posteriors(small.parked, small.cells, small.actions)
    watched = list(watch_walk(hypotheses.observer(beta), small.parked, small.cells, small.actions))
    assert len(found) == len(watched) == len(small.actions) + 1
    pairs = list(product(hypotheses.desires.tolist(), hypotheses.beliefs.tolist()))
    for posterior, observer in zip(found, watched, strict=True):
        asked: Categorical[tuple[tuple[float, ...], tuple[float, ...]]] = observer.ask(
            lambda mind: (mind.desire, mind.expected)
        )
        expected = [asked.prob((tuple(desire), tuple(belief))) for desire, belief in pairs]
        assert posterior.ravel() == pytest.approx(expected, abs=1e-9)


def test_an_agent_that_looks_and_turns_back_had_hoped_for_the_third_truck() -> None:
    level = LEVELS["courtyard, and back"]
    inference = JointInference(Hypotheses(FoodTruckPlanner(level.layout)))
    posterior = inference.posteriors(level.parked, level.cells, level.actions)[-1]
    korean, lebanese, mexican = inference.desire_level(posterior)
    assert mexican > korean + 1 > lebanese + 2
    assert inference.belief(posterior).argmax() == level.world.contents.index("Mexican")


def test_beliefs_of_informed_agents_stay_as_they_were(small: FoodTruckLevel) -> None:
    hypotheses = Hypotheses(FoodTruckPlanner(small.layout), levels=(0.0, 50.0), intervals=2)
    inference = JointInference(hypotheses)
    posteriors = inference.posteriors(small.parked, small.cells, small.actions, informed=True)
    assert inference.belief(posteriors[-1]) == pytest.approx([1 / 3] * 3)
    assert inference.desire_level(posteriors[0]) == pytest.approx([1.5] * 3)


@pytest.mark.parametrize("faithful", [True, False])
def test_values_are_interpolated_as_published_or_exact(small: FoodTruckLevel, faithful: bool) -> None:
    rewards, planner = (40.0, 60.0, 0.0), FoodTruckPlanner(small.layout, intervals=3)
    hypotheses = Hypotheses(planner, (0.0, 40.0, 60.0), intervals=3, uncertainty=0.25, faithful=faithful)
    finer = FoodTruckPlanner(small.layout, intervals=12)  # whose grid has the beliefs of the hypotheses
    desire = hypotheses.desires.tolist().index(list(rewards))
    gaps = []
    for b, belief in enumerate(hypotheses.beliefs.tolist()):
        found = hypotheses.values[:, :, desire, b].max(axis=1)
        exact = [finer.q_values(rewards, tuple(belief), cell).max() for cell in finer.cells]
        gaps.append(found - exact)
    assert np.min(gaps) > -1e-6  # an upper bound
    assert (np.max(gaps) > 0.05) == faithful

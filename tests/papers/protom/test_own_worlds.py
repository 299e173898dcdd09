"""Episodes in worlds of users: everybody gets what it wants, the facilitator infers it, and suggestions are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.papers.protom.episodes import SilentFacilitator
from otherminds.papers.protom.messages import Suggestion
from otherminds.papers.protom.own_worlds import own_episode
from otherminds.planning.rational import RationalAgent
from otherminds.worlds.map_file import WorldLevel
from own_rooms import SPOTS, Rooms


def level(world: Any, horizon: int = 30) -> WorldLevel[Any]:
    return WorldLevel("own", world, horizon)


@pytest.mark.parametrize("seed", range(4))
def test_everybody_walks_to_its_goal_by_a_shortest_way_and_it_is_inferred(seed: int) -> None:
    episode = own_episode(level(Rooms(), 7), "protom", seed)
    goals = {agent: str(mind.goal) for agent, mind in episode.minds.items()}
    moments = list(episode)
    assert len(moments) == 7
    for i, agent in enumerate(Rooms.agents):
        arrival = next(t for t, moment in enumerate(moments) if moment.after[i] == SPOTS[goals[agent]])
        (x, y), (goal_x, goal_y) = moments[0].state[i], SPOTS[goals[agent]]
        assert arrival + 1 == abs(x - goal_x) + abs(
            y - goal_y
        )  # through the door between the rooms, which is on the way
        assert moments[arrival].beliefs[agent].mode == goals[agent]
        assert moments[0].beliefs[agent].prob(goals[agent]) == pytest.approx(0.485)


class Collector:
    """One agent, no goals, and a reward for every step from 3 on; it has a discount."""

    agents = ("Ana",)
    discount = 0.9

    def start(self, rng: np.random.Generator) -> int:
        return 0

    def actions(self, cell: int, agent: str) -> tuple[str, ...]:
        return ("stay", "go")

    def step(self, cell: int, joint: Mapping[str, str], rng: np.random.Generator) -> int:
        return min(cell + (joint["Ana"] == "go"), 5)

    def observe(self, cell: int, agent: str) -> int:
        return cell

    def reward(self, cell: int, joint: Mapping[str, str], after: int) -> Mapping[str, float]:
        return {"Ana": float(after == 3)}

    def done(self, cell: int) -> bool:
        return cell == 5


def test_without_goals_agents_want_rewards_and_nothing_is_inferred() -> None:
    episode = own_episode(level(Collector(), 8), "protom", 1)
    assert isinstance(episode.facilitator, SilentFacilitator)
    assert [moment.after for moment in episode] == [1, 2, 3, 3, 3, 3, 3, 3]


GATE_GOALS = {"Ana": ("window",), "Ben": ("corner",)}


class Gate(Rooms):
    """Ana cannot enter the room on the right before Ben has been at the door, which is an errand for him."""

    goals: Any = GATE_GOALS

    def start(self, rng: np.random.Generator) -> Any:
        return ((2, 2), (2, 1), False)

    def reached(self, state: Any, agent: str, goal: str) -> bool:
        return bool(state[1] == (1, 1)) if goal == "corner" else super().reached(state, agent, goal)

    def step(self, state: Any, joint: Mapping[str, str], rng: np.random.Generator) -> Any:
        ana, ben = super().step(state[:2], joint, rng)
        is_open = state[2] or ben == SPOTS["door"]
        return (ana if is_open or ana[0] < 3 else state[0], ben if is_open or ben[0] < 3 else state[1], is_open)

    @property
    def suggestions(self) -> tuple[Suggestion[str], ...]:
        world: Any = self
        errand: Any = RationalAgent(world, "Ben", "door", reached=_is_open)
        return (Suggestion("Ben", "Ana", errand, "go to the door"),)


def _is_open(state: Any) -> bool:
    return bool(state[2])


def test_the_facilitator_sends_the_suggestions_of_the_world() -> None:
    episode = own_episode(level(Gate(), 20), "protom", 0)
    messages = [moment.decision.words for moment in episode if moment.decision.message]
    assert len(messages) == 1
    assert messages[0].startswith("Ben, please go to the door.")


def test_other_facilitators_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"no facilitator `oracle` for worlds of your own \(one of none, random, protom\)"
    ):
        own_episode(level(Rooms()), "oracle", 1)

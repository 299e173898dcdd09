from collections.abc import Sequence

import numpy as np
import pytest

from otherminds.adapters.recording import Cook, Hunter, Moment, record, way
from otherminds.adapters.traces import Body, Seen, SeenKitchen
from otherminds.worlds.avatars import ACTIONS, EAST, NORTH, SOUTH, WEST


def _seen(bodies: Sequence[Body | None], resources: Sequence[tuple[int, int, int]], ended: bool = False) -> Seen:
    nothing, held = ((0, 0), (0, 0)), ((1, 1), (1, 1))
    met = (((-1.0, -1.0), (-1.0, -1.0)),) * 2
    none = (0.0, 0.0)
    return Seen(tuple(bodies), tuple(resources), held, none, none, met, (False, False), nothing, nothing, ended)


class Clock:
    """An engine in which nothing happens but that its episodes end."""

    substrate, players = "clock", 2

    def __init__(self, length: int) -> None:
        self.length = length
        self.joints: list[Sequence[int]] = []

    def reset(self) -> Moment:
        self.left = self.length
        return _seen([(1, 1, 0), (5, 5, 0)], [(3, 3, 0)])

    def step(self, joint: Sequence[int]) -> Moment:
        assert self.left, "stepped after the end"
        self.left -= 1
        self.joints.append(joint)
        return _seen([(1, 1, 0), (5, 5, 0)], [(3, 3, 0)], ended=not self.left)


def test_an_episode_is_a_trace_and_the_last_one_is_cut_off() -> None:
    engine = Clock(4)
    found = list(record(engine, 10, np.random.default_rng(0)))
    assert [len(trace.joints) for trace in found] == [4, 4, 2]
    assert [trace.shown[-1].ended for trace in found] == [True, True, False]
    assert [joint for trace in found for joint in trace.joints] == engine.joints
    assert all(len(trace.shown) == len(trace.joints) + 1 for trace in found)


def test_players_are_drawn_anew_for_every_episode() -> None:
    drawn = []

    def policy(players: int, rng: np.random.Generator) -> list[Hunter]:
        drawn.append(players)
        return []

    engine = Clock(3)
    engine.players = 0
    list(record(engine, 7, np.random.default_rng(0), lambda players, rng: [h.act for h in policy(players, rng)]))
    assert drawn == [0, 0, 0]


@pytest.mark.parametrize(
    ("start", "goals", "walls", "heading"),
    [
        ((2, 2), [(2, 0)], [], NORTH),
        ((2, 2), [(9, 2), (1, 2)], [], WEST),
        ((2, 2), [(4, 2)], [(3, 2), (2, 1), (1, 2)], SOUTH),
        ((2, 2), [(4, 2)], [(3, 2), (2, 1), (2, 3), (1, 2)], None),
        ((2, 2), [(3, 2)], [(3, 2)], EAST),
        ((2, 2), [(2, 2)], [], None),
        ((2, 2), [], [], None),
    ],
)
def test_a_shortest_way_around_walls(
    start: tuple[int, int], goals: list[tuple[int, int]], walls: list[tuple[int, int]], heading: int | None
) -> None:
    assert way(start, goals, lambda cell: cell not in walls) == heading


@pytest.mark.parametrize(
    ("other", "action"),
    [
        ((5, 2), "interact"),
        ((5, 1), "forward"),
        ((4, 5), "interact"),
        ((6, 3), "interact"),
        ((6, 2), "forward"),
        ((7, 4), "turn_right"),
        ((8, 5), "turn_right"),
        ((2, 5), "turn_left"),
    ],
)
def test_a_hunter_fires_at_whom_its_beam_reaches_or_turns(other: tuple[int, int], action: str) -> None:
    hunter = Hunter(0, 0.0, np.random.default_rng(0))
    hunter.wanted = 1
    assert ACTIONS[hunter.act(_seen([(5, 5, NORTH), (*other, 0)], []))] == action


@pytest.mark.parametrize(("facing", "action"), list(enumerate(["step_right", "forward", "step_left", "backward"])))
def test_a_hunter_walks_to_what_it_likes_whatever_it_faces(facing: int, action: str) -> None:
    hunter = Hunter(0, 0.0, np.random.default_rng(1))
    hunter.wanted, hunter.favourite = 2, 1
    assert ACTIONS[hunter.act(_seen([(5, 5, facing), None], [(5, 20, 0), (30, 5, 1)]))] == action


def test_a_hunter_goes_around_where_it_bumped_twice() -> None:
    hunter = Hunter(0, 0.0, np.random.default_rng(1))
    hunter.wanted, hunter.favourite = 2, 0
    stuck = _seen([(5, 5, NORTH), None], [(5, 1, 0)])
    first, second, third = (ACTIONS[hunter.act(stuck)] for _ in range(3))
    assert first == second == "forward" != third


@pytest.mark.parametrize(
    ("body", "hand", "pots", "action"),
    [
        ((1, 1, WEST), 0, (0, 0), "interact"),
        ((1, 1, NORTH), 0, (0, 0), "turn_left"),
        ((2, 2, NORTH), 1, (0, 0), "step_right"),
        ((3, 2, EAST), 1, (0, 3), "interact"),
        ((3, 2, EAST), 2, (3, 0), "interact"),
        ((3, 2, NORTH), 3, (0, 0), "interact"),
        ((5, 2, WEST), 1, (0, 3), "interact"),
        ((7, 1, EAST), 3, (0, 0), "interact"),
    ],
)
def test_a_cook_does_what_its_hands_are_free_for(body: Body, hand: int, pots: tuple[int, int], action: str) -> None:
    shown = tuple((4, y, inside, inside == 3) for y, inside in zip((2, 3), pots, strict=True))
    seen = SeenKitchen((body, (0, 0, 0)), (hand, 0), (), shown, (0.0, 0.0), False)
    assert ACTIONS[Cook(0, 0.0, np.random.default_rng(0)).act(seen)] == action

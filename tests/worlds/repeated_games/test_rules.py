"""Repeated games: who gets what for which joint action, who sees what, and all ordinal 2 × 2 games."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.world import World, rollout
from otherminds.worlds.repeated_games.machines import periodic, reactive
from otherminds.worlds.repeated_games.rules import Game, GameState, Outcome, RepeatedGame, ordinal_games
from strategies import generator

IPD = Game("ipd", ("you", "partner"), (("C", "D"),) * 2, ((8, 8), (0, 10), (10, 0), (5, 5)))


@st.composite
def games(draw: st.DrawFn, *, agents: int = 3) -> Game:
    """A game in which agents differ in their actions, and all payoffs are different."""
    sizes = draw(st.permutations(range(1, agents + 1))) if draw(st.booleans()) else [2] * agents
    cells = int(np.prod(sizes))
    numbers = draw(st.permutations(range(cells * agents)))
    rows = [tuple(map(float, numbers[c * agents : (c + 1) * agents])) for c in range(cells)]
    names = tuple(tuple(f"{letter}{a}" for a in range(size)) for letter, size in zip("abcd", sizes, strict=False))
    return Game("game", ("Ana", "Ben", "Cem", "Dan")[:agents], names, tuple(rows))


def row(game: Game, joint: tuple[int, ...]) -> tuple[float, ...]:
    """What everybody gets, by counting through the joint actions."""
    return game.payoffs[list(product(*map(range, game.shape))).index(joint)]


@pytest.mark.slow
@given(game=games() | games(agents=2) | games(agents=4))
def test_payoffs_by_own_action_and_by_what_all_others_do(game: Game) -> None:
    for joint in product(*map(range, game.shape)):
        for i, own in enumerate(joint):
            table = game.payoff(i)
            assert table.shape == (game.shape[i], np.prod(game.shape) // game.shape[i])
            assert table[own, game.others(i, joint)] == row(game, joint)[i]


@pytest.mark.slow
@given(game=games())
def test_the_others_are_numbered_in_their_order_the_last_fastest(game: Game) -> None:
    a, b, c = game.shape
    for i, others in enumerate([(b, c), (a, c), (a, b)]):
        joints = [(*pair[:i], 0, *pair[i:]) for pair in product(*map(range, others))]
        assert [game.others(i, joint) for joint in joints] == list(range(len(joints)))


@pytest.mark.slow
@given(game=games() | games(agents=4))
def test_a_game_seen_by_another_agent_is_the_same_game(game: Game) -> None:
    for i in range(len(game.agents)):
        seen = game.seen_by(i)
        assert seen.agents[0] == game.agents[i]
        assert sorted(seen.agents) == sorted(game.agents)
        assert np.array_equal(seen.payoff(), game.payoff(i))
        places = [game.agents.index(agent) for agent in seen.agents]
        assert seen.actions == tuple(game.actions[place] for place in places)
        for joint in product(*map(range, game.shape)):
            turned = tuple(joint[place] for place in places)
            assert row(seen, turned) == tuple(row(game, joint)[place] for place in places)
    assert game.seen_by(0) == game
    assert game.seen_by(1).seen_by(1) == game


def test_tables_cannot_be_changed_by_mistake() -> None:
    with pytest.raises(ValueError, match="read-only"):
        IPD.payoff()[0, 0] = 9.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agents": ("you",)}, "at least two agents"),
        ({"agents": ("you", "you")}, "different names"),
        ({"actions": (("C", "D"),)}, "actions for 1"),
        ({"actions": (("C", "D"), ())}, "partner needs at least one action"),
        ({"actions": (("C", "C"), ("C", "D"))}, "you needs at least one action, all with different names"),
        ({"payoffs": IPD.payoffs[1:]}, "payoffs need 4 joint actions"),
        ({"payoffs": (*IPD.payoffs, (1, 1))}, "payoffs need 4 joint actions"),
        ({"payoffs": (*IPD.payoffs[:3], (1,))}, "2 numbers each"),
        ({"payoffs": (*IPD.payoffs[:3], (1, float("nan")))}, "finite"),
        ({"payoffs": (*IPD.payoffs[:3], (1, float("inf")))}, "finite"),
    ],
)
def test_parts_that_do_not_make_a_game(change: Mapping[str, object], message: str) -> None:
    parts: dict[str, object] = {"name": "x", "agents": IPD.agents, "actions": IPD.actions, "payoffs": IPD.payoffs}
    with pytest.raises(ValueError, match=message):
        Game(**(parts | dict(change)))  # type: ignore[arg-type]


# The game as a world


def test_tit_for_tat_against_one_that_alternates() -> None:
    alternate = periodic("alternate", IPD, (1, 0, 0), agent=0)
    world: World[GameState, Outcome | None, int] = RepeatedGame(IPD, 5)
    minds = {"you": alternate.start, "partner": reactive("tft", IPD, 0, (0, 1)).start}
    steps = list(rollout(world, minds, steps=100, rng=generator()))
    pairs = [(1, 0), (0, 1), (0, 0), (1, 0), (0, 1)]
    assert [step.joint for step in steps] == [{"you": mine, "partner": yours} for mine, yours in pairs]
    assert [step.after for step in steps] == [GameState(t, pair) for t, pair in enumerate(pairs, 1)]
    gained = [world.reward(step.state, step.joint, step.after) for step in steps]
    assert [(each["you"], each["partner"]) for each in gained] == [(10, 0), (0, 10), (8, 8), (10, 0), (0, 10)]
    assert [world.observe(step.after, "partner") for step in steps] == [
        Outcome(0, 1, 0.0),
        Outcome(1, 0, 10.0),
        Outcome(0, 0, 8.0),
        Outcome(0, 1, 0.0),
        Outcome(1, 0, 10.0),
    ]
    assert [world.done(step.after) for step in steps] == [False] * 4 + [True]


@pytest.mark.slow
@given(game=games(), data=st.data())
def test_everybody_sees_their_own_payoff_and_what_the_others_did(game: Game, data: st.DataObject) -> None:
    world = RepeatedGame(game, 2)
    start = world.start()
    assert [world.observe(start, agent) for agent in world.agents] == [None] * 3
    options = [world.actions(start, agent) for agent in world.agents]
    assert options == [tuple(range(size)) for size in game.shape]
    joint = {agent: data.draw(st.sampled_from(own)) for agent, own in zip(world.agents, options, strict=True)}
    after = world.step(start, joint)
    chosen = tuple(joint[agent] for agent in world.agents)
    assert after == GameState(1, chosen)
    gained = world.reward(start, joint, after)
    assert tuple(gained.values()) == row(game, chosen)
    for i, agent in enumerate(world.agents):
        assert world.observe(after, agent) == Outcome(chosen[i], game.others(i, chosen), gained[agent])


@pytest.mark.parametrize("joint", [{"you": 2, "partner": 0}, {"you": 0, "partner": -1}])
def test_only_actions_of_the_game_can_be_played(joint: Mapping[str, int]) -> None:
    with pytest.raises(ValueError, match="is not one of"):
        RepeatedGame(IPD).step(GameState(0, None), joint)


def test_there_is_a_round_to_play() -> None:
    with pytest.raises(ValueError, match="at least 1 round"):
        RepeatedGame(IPD, 0)


# All ordinal games


def outcomes(game: Game, *, swapped: bool = False) -> frozenset[tuple[tuple[float, float], ...]]:
    """The game under all names of actions, as the set of its payoff tables; with the players swapped if told."""
    cube = np.array(game.payoffs).reshape(2, 2, 2)
    cube = cube.transpose(1, 0, 2)[..., ::-1] if swapped else cube
    turned = [cube[rows][:, columns] for rows, columns in product(([0, 1], [1, 0]), repeat=2)]
    return frozenset(tuple((float(mine), float(yours)) for mine, yours in each.reshape(-1, 2)) for each in turned)


def test_there_are_144_ordinal_games_and_78_if_the_players_may_swap() -> None:
    games = list(ordinal_games())
    tables = {outcomes(game) for game in games}
    assert len(games) == len(tables) == 144
    assert len({frozenset({outcomes(game), outcomes(game, swapped=True)}) for game in games}) == 78
    for game in games:
        assert [sorted(column) for column in zip(*game.payoffs, strict=True)] == [[1.0, 2.0, 3.0, 4.0]] * 2


def test_ordinal_games_have_numbers_that_stay() -> None:
    games = list(ordinal_games())
    assert [game.name for game in games] == [f"ordinal-{n:03d}" for n in range(1, 145)]
    assert games[0].payoffs == ((1, 1), (2, 2), (3, 3), (4, 4))
    dilemma = outcomes(Game("pd", IPD.agents, IPD.actions, ((3, 3), (1, 4), (4, 1), (2, 2))))
    assert [game.name for game in games if outcomes(game) == dilemma] == ["ordinal-072"]

"""Clue games in the PettingZoo adapter, under the conformance checks, and on the scoreboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from clue_game_worlds import CLUE_GAMES
from otherminds.evaluation.scoreboard import scores
from otherminds.papers.functional.card_and_word_games import GameEpisode, rows
from otherminds.reproduce.scoreboard_episodes import episodes
from otherminds.testing import check_mind, check_world
from otherminds.worlds.clue_games import hanabi_players as hanabi
from otherminds.worlds.clue_games import wavelength_players as dials
from otherminds.worlds.clue_games.games import clue_games
from otherminds.worlds.clue_games.tiny_hanabi import TinyHanabi
from otherminds.worlds.clue_games.wavelength import Wavelength

WAVELENGTH, HANABI = Wavelength(), TinyHanabi(20)
DIAL = dials.Guesser(dials.Dial(WAVELENGTH))
MINDS: Mapping[str, Callable[[], tuple[Any, Any, Mapping[str, Any]]]] = {
    "signaller": lambda: (hanabi.Signaller((0, 2)), HANABI, {}),
    "listener": lambda: (hanabi.bayesian(HANABI, lapse=0.01), HANABI, {"agent": "listener"}),
    "guesser": lambda: (DIAL, WAVELENGTH, {"agent": "guesser"}),
    "giver": lambda: (dials.bayesian(WAVELENGTH), WAVELENGTH, {"partners": {"guesser": DIAL}}),
}


def env_of(name: str) -> Any:
    """An environment, looked into freely."""
    pytest.importorskip("pettingzoo")
    from otherminds.adapters.petting_zoo import parallel_env

    return parallel_env(CLUE_GAMES[name]())


def plain(value: Any) -> Any:
    """Arrays as lists, all the way down."""
    return {key: plain(part) for key, part in value.items()} if isinstance(value, dict) else value.tolist()


@pytest.mark.parametrize("world", [HANABI, WAVELENGTH])
def test_worlds_keep_their_promises(world: Any) -> None:
    check_world(world)


@pytest.mark.slow
@pytest.mark.parametrize("name", MINDS)
def test_players_keep_their_promises(name: str) -> None:
    mind, where, more = MINDS[name]()
    check_mind(mind, where, **more)


@pytest.mark.parametrize("name", ["hanabi", "wavelength"])
def test_an_episode_ends_when_the_world_does(name: str) -> None:
    env, ended = env_of(name), []
    env.reset(seed=0)
    while env.agents:
        legal = {agent: env.world.actions(env.world_state, agent)[0] for agent in env.agents}
        env.step({agent: env.actions[agent].index(action) for agent, action in legal.items()})
        ended.append(env.world.done(env.world_state))
    assert ended == [False] * 19 + [True]


def test_sampling_with_a_mask_goes_by_the_mask() -> None:
    env = env_of("hanabi")
    env.reset(seed=0)
    space = env.action_space("signaller")
    passing = np.eye(space.n, dtype=np.int8)[-1]
    assert {int(space.sample()) for _ in range(50)} == {0, 1, 2}
    assert {int(space.sample(passing)) for _ in range(20)} == {3}
    assert {int(space.sample(probability=passing.astype(float))) for _ in range(20)} == {3}


def test_clues_beyond_those_of_the_spectrum_are_masked() -> None:
    env = env_of("words")
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        few = env.world_state.spectrum == 0
        assert seen["giver"]["action_mask"].tolist() == ([1, 1, 0, 0] if few else [1, 1, 1, 0])
        assert seen["guesser"]["action_mask"].tolist() == [0] * 7 + [1]


def test_whoever_waits_for_their_turn_can_only_wait() -> None:
    env = env_of("hanabi")
    seen, _ = env.reset(seed=0)
    assert seen["listener"]["action_mask"].tolist() == [0, 0, 0, 1]
    assert seen["signaller"]["action_mask"].tolist() == [1, 1, 1, 0]
    seen, *_ = env.step({"signaller": 1, "listener": 3})
    assert seen["listener"]["action_mask"].tolist() == [1, 1, 1, 0]
    assert seen["signaller"]["action_mask"].tolist() == [0, 0, 0, 1]


def test_what_is_not_there_is_written_anew_each_time() -> None:
    env = env_of("hanabi")
    for _ in range(2):
        seen, _ = env.reset(seed=0)
        cards = seen["listener"]["observation"]["last"]["cards"]
        assert cards.tolist() == [-1, -1]
        assert cards in env.observation_space("listener")["observation"]["last"]["cards"]
        cards[:] = 0


def test_a_deal_of_tiny_hanabi_in_numbers() -> None:
    env = env_of("hanabi")
    seen, _ = env.reset(seed=0)
    cards = env.world_state.cards
    nothing = {"cards": [-1, -1], "signal": 0, "action": 0}
    assert plain(seen["listener"]["observation"]) == {"card": cards[1], "signal": 0, "last": nothing}
    seen, *_ = env.step({"signaller": 1, "listener": 3})
    assert plain(seen["listener"]["observation"]) == {"card": cards[1], "signal": 2, "last": nothing}
    seen, *_ = env.step({"signaller": 3, "listener": 0})
    dealt = {"cards": list(cards), "signal": 2, "action": 1}
    assert plain(seen["signaller"]["observation"]) == {"card": env.world_state.cards[0], "signal": 0, "last": dealt}


def test_spaces_are_no_larger_than_they_must_be() -> None:
    env = env_of("lopsided")
    signaller, listener = (env.observation_space(agent)["observation"] for agent in ("signaller", "listener"))
    assert (signaller["card"].n, listener["card"].n) == (3, 2)
    assert (signaller["signal"].n, signaller["last"]["action"].n) == (5, 6)


@pytest.mark.slow
def test_an_informed_subject_gains_all_on_the_scoreboard_and_a_random_one_nothing() -> None:
    game, world = "wavelength/dials", "Wavelength"
    partners = list(clue_games()[game].partners)[:6]
    entries = [GameEpisode(game, who, me, 3) for who in partners for me in ("informed", "random")]
    table = scores(episodes("functional", [row for entry in entries for row in rows(entry)]))
    found = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in table}
    assert found[world, "random", "functional"] == 0.0
    assert found[world, "informed", "functional"] > 0.8
    assert found[world, "informed", "literal"] > found[world, "random", "literal"]

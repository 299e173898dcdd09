"""Training games of OpenEnv, through its own server and client: exact rewards, sessions apart, and what is refused."""

from __future__ import annotations

import importlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from otherminds.adapters.training import PartnerGame, curriculum
from otherminds.errors import InputError
from training_rewards import reward_told, task_of

pytest.importorskip("openenv")

import httpx
import uvicorn
from openenv import GenericEnvClient

from otherminds.adapters.openenv import PartnerEnvironment, ToolCall, app

pytestmark = pytest.mark.slow
ROWS = curriculum(6, seed=0, rounds=10) + curriculum(6, seed=0, part="held-out", rounds=10)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(app(), log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def first(_told: str) -> str:
    return "F"


def imitate(told: str) -> str:
    """Tit for tat, from what is told: the other player's last option, and J in the first round."""
    return told.partition("the other player chose option ")[2][:1] or "J"


def played(client: Any, row: dict[str, Any], player: Callable[[str], str]) -> tuple[list[str], list[float | None]]:
    """What an episode tells its player and the rewards it carries."""
    result = client.reset(**row)
    texts, rewards = [result.observation["text"]], [result.reward]
    while not result.done:
        option = player(texts[-1])
        client.step({"tool": "predict", "option": option})
        result = client.step({"tool": "choose", "option": option})
        texts.append(result.observation["text"])
        rewards.append(result.reward)
    return texts, rewards


@pytest.mark.parametrize("player", [first, imitate])
def test_the_last_step_carries_the_exact_reward_of_what_was_played(url: str, player: Callable[[str], str]) -> None:
    with GenericEnvClient(url).sync() as client:
        for row in ROWS:
            texts, rewards = played(client, row, player)
            assert rewards[:-1] == [None] * 10
            assert rewards[-1] == pytest.approx(reward_told(row, texts), abs=1e-12)
            assert client.state()["reward"] == rewards[-1]


def test_an_episode_is_that_of_the_partner_game_to_the_letter(url: str) -> None:
    row = {**ROWS[-1], "family": "slipping"}
    game = PartnerGame()
    with GenericEnvClient(url).sync() as client:
        assert client.reset(**row).observation == {"text": game.reset(**row)}
        for words in ("J", "option F", "both", "J"):
            for tool in ("predict", "choose"):
                told = client.step({"tool": tool, "option": words}).observation
                assert told == {"text": getattr(game, tool)(words)}
        state = client.state()
    assert (state["episode_id"], state["step_count"], state["rounds_played"]) == (str(row["seed"]), 8, 3)
    assert (state["reward"], state["accuracy"], state["unreadable"]) == (game.get_reward(), game.accuracy, 2)


def test_each_connection_has_a_game_of_its_own_and_a_reset_begins_a_new_one(url: str) -> None:
    with ExitStack() as stack:
        one, other = (stack.enter_context(GenericEnvClient(url).sync()) for _ in range(2))
        expected = played(one, ROWS[5], imitate)
        one.reset(**ROWS[0])
        one.step({"tool": "choose", "option": "J"})
        assert played(other, ROWS[5], imitate) == expected
        assert one.state()["rounds_played"] == 1
        assert played(one, ROWS[5], imitate) == expected


def test_after_the_last_round_no_reward_is_paid_again(url: str) -> None:
    with GenericEnvClient(url).sync() as client:
        played(client, ROWS[0], first)
        again = client.step({"tool": "choose", "option": "J"})
    assert (again.observation["text"], again.reward, again.done) == ("All 10 rounds are played.", None, True)


def test_partners_of_both_parts_differ() -> None:
    halves = [{str(task_of(row).partner.name) for row in rows} for rows in (ROWS[:6], ROWS[6:])]
    assert all(halves)
    assert not halves[0] & halves[1]


def test_what_cannot_be_played_is_refused_in_one_line_and_the_session_goes_on(url: str) -> None:
    with GenericEnvClient(url).sync() as client:
        for method, asked, words in (
            ("step", {"action": {"tool": "choose", "option": "J"}}, "call `reset` first"),
            ("reset", {}, "an episode needs a seed"),
            ("reset", {"seed": 1, "family": "memory-onne"}, "did you mean memory-one?"),
            ("step", {"action": {"tool": "get_reward", "option": "J"}}, "Invalid message"),
        ):
            with pytest.raises(RuntimeError, match=r"^[^\n]+$") as error:
                getattr(client, method)(**asked)
            assert words in str(error.value)
        assert len(played(client, ROWS[0], first)[0]) == 11


def test_the_schema_names_the_two_tools(url: str) -> None:
    action = httpx.get(f"{url}/schema", trust_env=False).json()["action"]
    assert action["properties"]["tool"]["enum"] == ["predict", "choose"]
    assert set(action["required"]) == {"tool", "option"}


def test_the_environment_can_be_used_without_a_server() -> None:
    env = PartnerEnvironment()
    with pytest.raises(InputError, match="needs a seed"):
        env.reset()
    env.reset(**ROWS[0], episode_id="mine")
    told = [env.step(ToolCall(tool="choose", option="J")) for _ in range(10)]
    assert [step.done for step in told] == [False] * 9 + [True]
    assert env.state.episode_id == "mine"
    assert told[-1].reward == env.state.reward


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "openenv"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openenv", None)
    monkeypatch.delitem(sys.modules, "otherminds.adapters.openenv")
    with pytest.raises(InputError, match=r"pip install 'openenv-core>=0\.3,<0\.4'"):
        importlib.import_module("otherminds.adapters.openenv")

"""Training games of verifiers, through its own evaluation: exact rewards for what a scripted model writes."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from endpoint_server import Fault, Heard, error, serve
from fake_models import Fake
from otherminds.adapters.training import PartnerGame, curriculum
from otherminds.errors import InputError
from otherminds.evaluation.partner_families import PARTS
from training_rewards import reward_told, task_of

pytest.importorskip("verifiers.v1")

import verifiers.v1 as vf
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.runtimes import subprocess as local_runtime

from otherminds.adapters.verifiers_v1 import answer

pytestmark = pytest.mark.slow
Messages = list[dict[str, Any]]
Player = Callable[[Messages], str]
MODULE = "from otherminds.adapters.verifiers_v1 import ChatHarness, PartnerEnv, PartnerTaskset, __all__\n"


def constant(_messages: Messages) -> str:
    return "I think that it plays at random.\n\n**Predict:** option J\n**Choose:** F."


def imitate(messages: Messages) -> str:
    """Tit for tat, from the last message alone, and J in the first round."""
    option = messages[-1]["content"].partition("the other player chose option ")[2][:1] or "J"
    return f"predict: {option}\nchoose: option {option}"


def hesitant(messages: Messages) -> str:
    """It answers every second time only."""
    return "Predict: J" if len(messages) % 4 == 1 else "Choose: J"


def silent(_messages: Messages) -> str:
    return "I would rather not say. Predict the option J, choose: J?"


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """The episodes of an evaluation, and their conversations as the endpoint heard them last."""
    (tmp_path / "partner_games.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(local_runtime, "CACHE_DIR", tmp_path)
    monkeypatch.setenv("VF_RUN_ID", "test")

    def run(player: Player, fault: Callable[[Heard], Fault | None] = lambda _: None, **config: Any) -> list[Any]:
        def reply(heard: Heard) -> Fault:
            message = {"role": "assistant", "content": player(heard.body["messages"])}
            usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
            choices = [{"index": 0, "finish_reason": "stop", "message": message}]
            about = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
            return fault(heard) or Fault(body=json.dumps({**about, "choices": choices, "usage": usage}).encode())

        with serve(Fake(), fault=reply) as server:
            client = {"base_url": server.url, "api_key_var": "NO_KEY"}
            told = {"model": "scripted", "client": client, "push": False, "rich": None, "output_dir": tmp_path / "runs"}
            return asyncio.run(run_eval(EvalConfig.model_validate({**told, "env": {"taskset": taskset(**config)}})))

    return run


def taskset(**config: Any) -> dict[str, Any]:
    return {"id": "partner-games", "episodes": 4, "rounds": 10, **config}


def scored(episode: Any) -> tuple[dict[str, Any], list[str], Any]:
    """The row, what the model was told, and the trace."""
    [trace] = episode.traces
    assert episode.ok, (episode.errors, trace.errors)
    return trace.task.data.row, [node.message.content for node in trace.nodes if node.message.role == "user"], trace


@pytest.mark.parametrize("part", ["train", "held-out"])
@pytest.mark.parametrize("player", [constant, imitate])
def test_rewards_are_exact_for_what_was_played(evaluate: Callable[..., list[Any]], player: Player, part: str) -> None:
    episodes = evaluate(player, part=part)
    assert len(episodes) == 4
    for episode in episodes:
        row, told, trace = scored(episode)
        game, last = begun(row), told[0]
        for text in told[1:]:  # all rounds but the last one
            last = game.choose("F" if player is constant else last_option(last))
            assert text == last
        final = game.choose("F" if player is constant else last_option(last))
        assert trace.reward == pytest.approx(reward_told(row, [*told, final]), abs=1e-12)
        assert trace.rewards["partner_game"].weight == 1.0
        assert trace.metrics["unreadable"] == 0.0
        assert trace.num_turns == 10


def last_option(told: str) -> str:
    return told.partition("the other player chose option ")[2][:1] or "J"


def begun(row: dict[str, Any]) -> PartnerGame:
    game = PartnerGame()
    game.reset(**row)
    return game


def test_predictions_are_scored_beside_the_reward(evaluate: Callable[..., list[Any]]) -> None:
    for episode in evaluate(constant):
        row, _, trace = scored(episode)
        game = begun(row)
        while not game.done:
            game.choose("F")
        theirs = game.setting.theirs.index("J")
        assert trace.metrics["accuracy"] == pytest.approx(sum(r["observed"] == theirs for r in game.rows) / 10)


def test_a_reply_without_a_choice_is_counted_and_asked_again(evaluate: Callable[..., list[Any]]) -> None:
    for episode in evaluate(hesitant):
        row, told, trace = scored(episode)
        assert (trace.num_turns, trace.metrics["unreadable"]) == (20, 10.0)
        assert all("names no option" in text and "`Choose:`" in text for text in told[1::2])
        game = begun(row)
        while not game.done:
            game.predict("J")
            game.choose("J")
        assert trace.reward == game.get_reward()
        assert trace.metrics["accuracy"] == game.accuracy


def test_a_model_that_never_chooses_earns_what_the_worst_play_earns(evaluate: Callable[..., list[Any]]) -> None:
    for episode in evaluate(silent, episodes=2):
        row, _, trace = scored(episode)
        assert trace.num_turns == 20
        assert trace.reward == begun(row).get_reward() < 0.0


def test_an_endpoint_that_fails_gives_an_episode_without_reward(evaluate: Callable[..., list[Any]]) -> None:
    def fault(heard: Heard) -> Fault | None:
        return error(400, "out of order") if len(heard.body["messages"]) > 3 else None

    [episode] = evaluate(constant, fault, episodes=1)
    [trace] = episode.traces
    assert not episode.ok
    assert not trace.rewards
    assert "out of order" in trace.errors[-1].message


def test_tasks_are_the_rows_of_the_curriculum_and_the_parts_have_no_partner_in_common(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "partner_games.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    partners = []
    for part in PARTS:
        config = vf.taskset_config_type("partner-games")(**taskset(part=part, episodes=30, seed=5, family="axelrod"))
        tasks = list(vf.load_taskset(config))
        rows = curriculum(30, seed=5, family="axelrod", part=part, rounds=10)
        assert [task.data.row for task in tasks] == rows
        assert all(re.search(r"10 rounds[\s\S]*points[\s\S]*`Predict:`", task.data.prompt) for task in tasks)
        assert not any("`predict`" in task.data.prompt for task in tasks)
        partners.append({task_of(row).partner.name for row in rows})
    assert not partners[0] & partners[1]


@pytest.mark.parametrize(
    ("reply", "played", "unreadable"),
    [
        ("Predict: F\nChoose: J", (True, "J"), 0),
        ("Choose: F\nNo.\nChoose: option J", (False, "J"), 0),
        ("- **Choose:** `J`", (False, "J"), 0),
        ("> CHOOSE : j.\r\n", (False, "J"), 0),
        ("Predict: F", None, 1),
        ("J", None, 1),
        ("Choose:", None, 1),
        ("Choose: F or J", None, 1),
        ("Predict: F or J\nChoose: J", (False, "J"), 1),
        ("", None, 1),
        ("Choose: " + "x" * 100_000, None, 1),
    ],
)
def test_a_reply_is_read_by_its_last_lines(reply: str, played: tuple[bool, str] | None, unreadable: int) -> None:
    game = begun({"seed": 1, "rounds": 10})
    told = answer(game, reply)
    assert game.unreadable == unreadable
    if played is None:
        assert not game.rows
        assert "names no option" in told
    else:
        assert (game.rows[0]["predicted"] is not None, game.setting.own[game.rows[0]["action"]]) == played
        assert told.startswith(f"In round 1, you chose option {played[1]}")


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "verifiers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "verifiers", None)
    monkeypatch.delitem(sys.modules, "otherminds.adapters.verifiers_v1")
    with pytest.raises(InputError, match=r"pip install 'verifiers>=0\.4,<0\.5'"):
        importlib.import_module("otherminds.adapters.verifiers_v1")

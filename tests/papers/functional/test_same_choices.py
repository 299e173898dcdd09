"""It does not matter whether a model is asked over HTTP or in process: the same actions, predictions and rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import own_agents
from commands import Run, without_estimate
from endpoint_server import Style, error, in_turn, serve
from otherminds.evaluation.tasks import Task
from otherminds.language.endpoint import Endpoint
from otherminds.language.find import find_model
from otherminds.language.ledger import Recorded
from otherminds.language.model import LanguageModel, ModelError, ask_all
from otherminds.language.scripted import Scripted
from otherminds.papers.functional.game_prompts import LETTERS, GameSetting
from otherminds.papers.functional.model_episodes import ModelGameEntry, rows
from otherminds.papers.functional.scripted_models import scripted_player
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from run_files import rows_in

Row = dict[str, Any]
RPS = find_game("rps")
ROUNDS = 10
PLAYERS = ("nash_mixer", "echo", "perfect")
CHOICES = ("action", "predicted", "p_true", "observed", "reward", "consistent", "mass", "unreadable")


def entries(way: str, names: str = "neutral") -> list[ModelGameEntry]:
    return [
        ModelGameEntry(Task(RPS, partner(who, RPS), ROUNDS), cell, "m", way, 0, 11, names, "both")
        for cell, who in (("rps/single", "always-paper"), ("rps/tft", "tft"))
    ]


def program(name: str, entry: ModelGameEntry) -> Scripted:
    return scripted_player(name, entry.setting, entry.task.partner)


def told_next(model: Scripted, setting: GameSetting) -> Any:
    """The next tokens of a scripted model: the names of the options, and something else that is likelier than most."""

    def next_tokens(prompt: str) -> Mapping[str, float]:
        assert model.weigh is not None
        return {f" {label}": model.weigh(prompt, f" {label}") for label in setting.own} | {"\n": -4.0, "": -5.0}

    return next_tokens


def choices(found: list[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in CHOICES) for row in found]


@pytest.mark.slow
@pytest.mark.parametrize("style", ["text", "chat"])
@pytest.mark.parametrize("way", ["lm", "qa"])
def test_choices_are_the_same_over_http_and_in_process(way: str, style: Style) -> None:
    for name in PLAYERS:
        for entry in entries(way):
            model = program(name, entry)
            with serve(model, style=style, next_tokens=told_next(model, entry.setting)) as server:
                over_http = choices(rows(entry, Endpoint("m", server.url)))
                paths = {heard.path for heard in server.heard}
            assert over_http == choices(rows(entry, model))
            assert paths == {"/v1/completions" if way == "lm" else "/v1/chat/completions"}


@pytest.mark.slow
def test_choices_are_the_same_with_names_of_several_tokens() -> None:
    halves = LETTERS[0] * 11
    entry = entries("lm", "repeated")[1]
    model = program("echo", entry)

    def next_tokens(prompt: str) -> Mapping[str, float]:
        """Every name is two tokens, of which the first has half of what the model says, and the second the rest."""
        assert model.weigh is not None
        found = {}
        for label in entry.setting.own:
            first, second = f" {label[:11]}", label[11:]
            if prompt.endswith(first):
                found[second] = model.weigh(prompt.removesuffix(first), f" {label}") / 2
            found[first] = model.weigh(prompt, f" {label}") / 2
        return found

    with serve(model, next_tokens=next_tokens) as server:
        told = rows(entry, Endpoint("m", server.url))
        assert any(heard.body["prompt"].endswith(f" {halves}") for heard in server.heard)
    own = rows(entry, model)
    assert [row["action"] for row in told] == [row["action"] for row in own]
    assert [row["p_true"] for row in told] == pytest.approx([row["p_true"] for row in own], abs=2e-6)


@pytest.mark.slow
def test_faults_of_the_server_change_no_choice_and_no_record(tmp_path: Path) -> None:
    entry = entries("qa")[1]
    model = program("nash_mixer", entry)
    faults = in_turn(None, error(429, "slow down"), error(500, "oh"), None, error(503, "later"), error(502, "bad"))
    with serve(model, fault=faults) as server:
        endpoint = Endpoint("m", server.url, wait=lambda _seconds: None)
        told = rows(entry, Recorded(endpoint, tmp_path / "calls.db"))
        assert len(server.heard) == 2 * ROUNDS + 4
    assert choices(told) == choices(rows(entry, model))
    again = Recorded(endpoint, tmp_path / "calls.db", replay=True)
    assert rows(entry, again) == told


@pytest.mark.slow
def test_several_episodes_at_once_are_those_played_one_after_the_other() -> None:
    plan = [entry for way in ("qa", "cot", "reflexion1") for entry in entries(way)]
    model = program("nash_mixer", plan[0])
    plan = [entry for entry in plan if entry.setting == plan[0].setting]
    assert len(plan) == 3
    with serve(model) as server:
        endpoint = Endpoint("m", server.url)

        def play(entry: ModelGameEntry) -> list[Row]:
            return rows(entry, endpoint)

        assert list(ask_all(play, plan, at_once=3)) == [play(entry) for entry in plan]
        assert 1 <= server.most <= 3


def test_without_log_probabilities_there_is_no_choice_and_a_word_on_what_to_do() -> None:
    entry = entries("lm")[0]
    with serve(program("echo", entry)) as server, pytest.raises(ModelError, match=r"no log-probabilities.*as qa"):
        rows(entry, Endpoint("m", server.url))


# The whole command


@pytest.mark.slow
def test_a_check_over_http_finds_what_a_check_in_process_finds(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    counted = own_agents.Counted("player")
    monkeypatch.setattr(own_agents, "counted", counted)
    how = ("--game", "ipd", "--rounds", "5", "--max-regret", "0.1", "--strategy", "qa")
    with serve(counted) as server:
        spec = f"openai:player@{server.url}"
        results = [run("check", *how, "--agent", spec, "--out", "http")]
        served = counted.asked
        results.append(run("check", *how, "--agent", "own_agents:counted", "--out", "own"))
    assert counted.asked == 2 * served > 0
    assert [(result.code, result.err) for result in map(without_estimate, results)] == [(1, "")] * 2
    found = [re.sub("Digest: .*", "", result.out) for result in results]  # it covers the calls, which name the model
    assert found[0].replace("http/", "own/") == found[1]
    for name in ("summary.json", "report.html"):
        assert (tmp_path / "http" / name).read_bytes() == (tmp_path / "own" / name).read_bytes()
    http, own = (rows_in(tmp_path / name) for name in ("http", "own"))
    # only the server is asked to let nothing but an option through
    assert {row.pop("constrained", None) for row in http} == {1, 2, None}  # replies of a round
    assert {row.pop("constrained", None) for row in own} == {0, None}
    assert http == own
    assert own[0]["subject"] == "player"


def test_a_model_of_ones_own_is_asked_as_it_is() -> None:
    entry = entries("qa")[0]
    model: LanguageModel = find_model("own_agents:counted")
    assert (model.name, model.identity) == ("counted", "counted by the tests")
    assert choices(rows(entry, model)) == choices(rows(entry, own_agents.Counted()))

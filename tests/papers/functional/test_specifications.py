"""Agents to check by name: players before models, models in full, and what is wrong before anything is played."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otherminds.errors import InputError
from otherminds.papers.functional.specifications import check_specification
from otherminds.worlds.repeated_games.payoff_files import find_game
from provider_addresses import no_keys, only_here

IPD, RPS = find_game("ipd"), find_game("rps")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        no_keys(patch)
        only_here(patch)
        yield


@pytest.mark.parametrize(
    "name",
    [
        "rmax",
        "tft",
        "TFT~0.1",
        "random",
        "cycle-011",
        "bayes",
        "bayes_simplicity",
        "tabular",
        "perfect",
        "scripted:echo",
    ],
)
def test_a_player_stays_a_player(name: str) -> None:
    assert check_specification(name, [IPD]) == name


@pytest.mark.parametrize(
    ("name", "full"), [("gpt-4o", "openai:gpt-4o"), ("groq/llama", "groq:llama"), ("smollm2", "embedded:smollm2")]
)
def test_a_model_is_named_in_full(name: str, full: str) -> None:
    assert check_specification(name, [IPD, RPS], asks=False) == full


@pytest.mark.parametrize("name", ["own_agents:counted", "own_agents:explorer", "own_agents:answer"])
def test_an_own_object_is_a_player_or_a_model(name: str) -> None:
    assert check_specification(name, [IPD]) == name


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("rmx", "did you mean rmax?"),
        ("baies", "did you mean bayes?"),
        ("gpt4o", "did you mean gpt-4o?"),
        ("smolm2", "did you mean embedded:smollm2?"),
        ("nobody", "`otherminds players` lists players; a model is gpt-4o, PROVIDER/MODEL,"),
        ("llama3", "say which: ollama:llama3,"),
        ("gpt-4o", "there is no key for openai"),
        ("grim", "grim cannot play rps"),
        ("own_agents:number", "neither a language model nor a function"),
        ("own_agents:Counted", "own_agents.Counted is a class"),
        ("own_agents:", "unknown player"),
    ],
)
def test_any_other_name_is_refused_with_what_to_type(name: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        check_specification(name, [IPD, RPS])
    assert remedy in str(caught.value)

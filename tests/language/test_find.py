"""Finding models by name: on servers, in the process, and in the user's own code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from endpoint_server import serve
from otherminds.errors import InputError
from otherminds.language.embedded import Embedded
from otherminds.language.endpoint import Endpoint
from otherminds.language.find import find_model, load
from otherminds.language.model import ModelError, Request
from otherminds.language.scripted import Scripted
from provider_addresses import no_keys, only_here

OWN = """
from otherminds import Scripted

def ask(text):
    return text.upper()

def fail(text):
    return 1 / 0

made = Scripted("mine", lambda request: "yes")
number = 3
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys, no network, and a folder with code whose module's name is used in this test alone."""
    no_keys(monkeypatch)
    only_here(monkeypatch)
    (tmp_path / "my_found_model.py").write_text(OWN, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "my_found_model", raising=False)


@pytest.mark.parametrize("spec", ["gpt-4o", "openai/gpt-4o", "openai:gpt-4o", "gpt-4o@https://api.openai.com/v1"])
def test_a_model_of_a_provider_is_found_without_asking_anybody(spec: str) -> None:
    model = find_model(spec)
    assert repr(model) == "Endpoint('gpt-4o', 'https://api.openai.com/v1')"
    assert model.identity == "openai:gpt-4o"
    with pytest.raises(ModelError, match=r"there is no key \(set OPENAI_API_KEY"):
        model.complete(Request("x"))


@pytest.mark.parametrize("spec", ["ollama:llama3", "ollama/llama3", "llama3@http://localhost:11434"])
def test_a_model_on_this_machine_is_found_before_its_server_runs(spec: str) -> None:
    model = find_model(spec)
    assert repr(model) == "Endpoint('llama3', 'http://localhost:11434/v1')"
    assert isinstance(model, Endpoint)
    assert model.is_local


def test_an_address_alone_is_asked_for_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="no server answers at http://localhost:1/v1: Connection refused"):
        find_model("http://localhost:1")
    monkeypatch.undo()
    with serve(Scripted("tiny", lambda _request: "fine")) as server:
        server.models = ("tiny",)
        assert repr(find_model(server.url)) == f"Endpoint('tiny', {server.url!r})"


def test_a_model_in_the_process_needs_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHERMINDS_MODELS", str(tmp_path))
    for spec in ("embedded", "smollm2", "embedded:smollm2"):
        with pytest.raises(InputError, match=r"smollm2 has not been fetched \(otherminds models fetch smollm2\)"):
            find_model(spec)
    Path("mine.gguf").write_bytes(b"GGUF")
    for spec in ("mine.gguf", "embedded:mine.gguf"):
        model = find_model(spec)
        assert isinstance(model, Embedded)
        assert model.name == "mine"


def test_an_own_function_and_an_own_model_are_found_in_the_current_folder() -> None:
    assert find_model("my_found_model:ask").complete(Request("abc")).text == "ABC"
    assert find_model("my_found_model:made").name == "mine"
    with pytest.raises(InputError, match=r"my_found_model.py:8: .*ZeroDivisionError"):
        find_model("my_found_model:fail").complete(Request("x"))


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        ("my_found_model:asked", "did you mean ask?"),
        ("my_found_model:number", "neither a language model nor a function"),
        ("no_such_module:ask", "write module:object, in the folder of module.py"),
        ("olama:llama3", "did you mean ollama:llama3?"),
        ("antropic:claude", "did you mean anthropic:claude?"),
    ],
)
def test_what_is_not_there_is_told_with_what_may_have_been_meant(spec: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        find_model(spec)
    assert remedy in str(caught.value)


def test_the_name_of_a_provider_comes_before_a_module_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "together.py").write_text("raise AssertionError", "utf-8")
    assert repr(load("together:agent")) == "Endpoint('agent', 'https://api.together.xyz/v1')"

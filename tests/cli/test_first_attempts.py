"""The first attempts of a newcomer to check the model they have, by the name they know.

Each ends in a verdict, or in one line that ends the problem: within three seconds, and without a folder left behind.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from commands import Result, Run
from endpoint_server import serve
from otherminds.language.scripted import Scripted
from provider_addresses import moved, no_keys, only_here

LONGEST = 3.0  # seconds to an error
NO_KEY = "{name} cannot be asked: there is no key for {provider} (export {key}=…)"
NO_SERVER = "{name} cannot be asked: no server answers at {url}: Connection refused ({start})"


def keyless(name: str, provider: str, key: str) -> tuple[str, str]:
    return name, NO_KEY.format(name=name, provider=provider, key=key)


def serverless(name: str, url: str, start: str) -> tuple[str, str]:
    return name, NO_SERVER.format(name=name, url=url, start=start)


ATTEMPTS = dict(
    [
        keyless("gpt-4o", "openai", "OPENAI_API_KEY"),
        keyless("gpt-4o-mini", "openai", "OPENAI_API_KEY"),
        keyless("o3-mini", "openai", "OPENAI_API_KEY"),
        keyless("claude-sonnet-4", "anthropic", "ANTHROPIC_API_KEY"),
        keyless("claude-3-5-sonnet-latest", "anthropic", "ANTHROPIC_API_KEY"),
        keyless("gemini-2.0-flash", "google", "GEMINI_API_KEY"),
        keyless("openai/gpt-4o", "openai", "OPENAI_API_KEY"),
        keyless("anthropic/claude-sonnet-4-0", "anthropic", "ANTHROPIC_API_KEY"),
        keyless("google/gemini-2.0-flash", "google", "GEMINI_API_KEY"),
        keyless("groq/llama-3.3-70b", "groq", "GROQ_API_KEY"),
        keyless("openrouter/meta-llama/llama-3.1-8b-instruct", "openrouter", "OPENROUTER_API_KEY"),
        keyless("together/meta-llama/Llama-3-8b-chat-hf", "together", "TOGETHER_API_KEY"),
        keyless("mistral/mistral-small-latest", "mistral", "MISTRAL_API_KEY"),
        keyless("hf/meta-llama/Llama-3.1-8B-Instruct", "hf", "HF_TOKEN"),
        keyless("openai:gpt-4o", "openai", "OPENAI_API_KEY"),
        keyless("anthropic:claude-3", "anthropic", "ANTHROPIC_API_KEY"),
        serverless("ollama:llama3", "http://localhost:11434/v1", "ollama serve"),
        serverless("ollama/llama3", "http://localhost:11434/v1", "ollama serve"),
        serverless("vllm:http://localhost:8000", "http://localhost:8000/v1", "vllm serve MODEL"),
        serverless("vllm/Qwen/Qwen2.5-7B-Instruct", "http://localhost:8000/v1", "vllm serve Qwen/Qwen2.5-7B-Instruct"),
        serverless("http://localhost:11434", "http://localhost:11434/v1", "ollama serve"),
        serverless("http://localhost:8000/v1", "http://localhost:8000/v1", "vllm serve MODEL"),
        serverless("llama3@http://localhost:9/v1", "http://localhost:9/v1", "start it, or look at the address"),
        (
            "embedded",
            "embedded cannot be asked: smollm2 has not been fetched (otherminds models fetch smollm2)",
        ),
        ("embedded:smolm2", "there is no model `smolm2` (did you mean embedded:smollm2?)"),
        (
            "my_model:ask",
            "`my_model` cannot be imported: No module named 'my_model' "
            "(write module:object, in the folder of module.py)",
        ),
        (
            "llama3",
            "`llama3` is offered by many servers (say which: ollama:llama3, groq/MODEL, hf/MODEL, openrouter/MODEL, "
            "or MODEL@URL of any other)",
        ),
        ("gpt4o", "unknown player `gpt4o`, and no language model (did you mean gpt-4o?)"),
        ("smolm2", "unknown player `smolm2`, and no language model (did you mean embedded:smollm2?)"),
        ("rmx", "unknown player `rmx`, and no language model (did you mean rmax?)"),
        (
            "mockllm/model",
            "mockllm cannot be asked (it exists in Inspect only: inspect eval otherminds/repeated_games "
            "--model mockllm/model; here: scripted:perfect in a check)",
        ),
        (
            "azure/my-deployment",
            "azure cannot be asked (an Azure deployment has its own address: "
            "DEPLOYMENT@https://RESOURCE.openai.azure.com/openai/v1, its key in OPENAI_API_KEY)",
        ),
    ]
)
"""The line that each attempt is answered with where there is no key, no server, and no weights."""

COMMANDS: tuple[Callable[[str], tuple[str, ...]], ...] = (
    lambda name: ("reproduce", "mumatom", "--quick", "--model", name),
    lambda name: ("ask", "Ann hid the ball. Where is the ball?", "--model", name),
    lambda name: ("serve", "--model", name),
)
QUICK = ("--game", "ipd", "--partner", "tft", "--partner", "always-defect", "--rounds", "3", "--passes", "1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, on a machine without keys, servers, weights and network."""
    no_keys(monkeypatch)
    only_here(monkeypatch)
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("OTHERMINDS_MODELS", str(tmp_path / "weights"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def line_of(result: Result) -> str:
    assert (result.code, result.out) == (2, "")
    line = result.err.removeprefix("otherminds: ")
    assert line.count("\n") == 1
    return line.strip()


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_is_answered_in_one_line(run: Run, here: Path, name: str) -> None:
    began = time.monotonic()
    assert line_of(run("check", "--agent", name)) == ATTEMPTS[name]
    assert time.monotonic() - began < LONGEST
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["gpt-4o", "ollama:llama3", "http://localhost:8000/v1", "mockllm/model", "llama3"])
@pytest.mark.parametrize("command", COMMANDS)
def test_other_commands_answer_alike(
    run: Run, here: Path, name: str, command: Callable[[str], tuple[str, ...]]
) -> None:
    assert line_of(run(*command(name))) == ATTEMPTS[name]
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "how", [("--agent", "gpt-4o", "--budget", "5"), ("--agent", "gpt-4o", "--budget", "5", "--price", "unknown")]
)
def test_a_budget_without_a_price_is_answered_with_both_ways_out(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")  # its server cannot be reached, and is not needed to say so
    line = line_of(run("check", *how, "--replay", "calls.jsonl"))
    assert "add --price IN/OUT, as --price 2.50/10 for a million tokens, or limit it by --most-calls N" in line
    assert list(here.iterdir()) == []


SERVED = {
    "gpt-4o": "gpt-4o",
    "openai/gpt-4o": "gpt-4o",
    "claude-sonnet-4": "claude-sonnet-4",
    "groq/llama-3.3-70b": "llama-3.3-70b",
    "openrouter/meta-llama/llama-3.1-8b-instruct": "meta-llama/llama-3.1-8b-instruct",
    "hf/meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Llama-3.1-8B-Instruct",
    "ollama:llama3": "llama3:latest",
    "vllm/Qwen/Qwen2.5-7B-Instruct": "Qwen/Qwen2.5-7B-Instruct",
    "vllm:{url}": "Qwen/Qwen2.5-7B-Instruct",
    "{url}": "tiny",
    "{url}/v1": "tiny",
    "tiny@{url}": "tiny",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVED)
def test_an_attempt_leads_to_a_verdict_where_there_is_a_server(
    run: Run, here: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stands for all providers. Nobody has said what its calls cost."""
    with serve(Scripted("any", lambda _request: "Answer: option J")) as server, moved(server.url) as hosts:
        monkeypatch.undo()
        no_keys(monkeypatch)
        monkeypatch.chdir(here)
        only_here(monkeypatch, hosts, urlsplit(server.url).port or 0)
        for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY", "HF_TOKEN"):
            monkeypatch.setenv(key, f"sk-{key}")
        server.models = (SERVED[name],)
        typed = name.format(url=server.url.removesuffix("/v1"))
        result = run("check", "--agent", typed, *QUICK, "--out", "out")
    assert result.code in (0, 1, 4), result.err
    model = SERVED[name].removesuffix(":latest")
    assert {heard.body["model"] for heard in server.heard} == {model}
    assert re.search(f"{re.escape(model)}: [0-9]+ calls made, .* tokens written", " ".join(result.out.split()))
    assert "$" not in result.out

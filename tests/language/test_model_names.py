"""What names of language models mean, without asking anybody."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.language.model_names import (
    OwnObject,
    Served,
    is_model,
    model_named,
    served,
    well_known,
)
from otherminds.language.providers import key_variables, provider_at, provider_called, provider_of, table

MEANINGS = {
    "gpt-4o": "openai:gpt-4o",
    "GPT-4o": "openai:GPT-4o",
    "chatgpt-4o-latest": "openai:chatgpt-4o-latest",
    "o3-mini": "openai:o3-mini",
    "o1": "openai:o1",
    "ft:gpt-4o-mini-2024-07-18:org::id": "openai:ft:gpt-4o-mini-2024-07-18:org::id",
    "claude-sonnet-4": "anthropic:claude-sonnet-4",
    "gemini-2.0-flash": "google:gemini-2.0-flash",
    "mistral-large-latest": "mistral:mistral-large-latest",
    "codestral-latest": "mistral:codestral-latest",
    "deepseek-chat": "deepseek:deepseek-chat",
    "grok-4": "xai:grok-4",
    "command-r-plus": "cohere:command-r-plus",
    "openai/gpt-4o": "openai:gpt-4o",
    "OpenAI/gpt-4o": "openai:gpt-4o",
    "gemini/gemini-2.0-flash": "google:gemini-2.0-flash",
    "anthropic:claude-3-opus": "anthropic:claude-3-opus",
    "grok/grok-4": "xai:grok-4",
    "openrouter/meta-llama/llama-3.1-8b-instruct:free": "openrouter:meta-llama/llama-3.1-8b-instruct:free",
    "hf/meta-llama/Llama-3.1-8B-Instruct": "hf:meta-llama/Llama-3.1-8B-Instruct",
    "ollama:llama3": "ollama:llama3",
    "ollama/llama3:8b": "ollama:llama3:8b",
    "ollama": "ollama:",
    "lm-studio:qwen": "lmstudio:qwen",
    "vllm/Qwen/Qwen2.5-7B-Instruct": "vllm:Qwen/Qwen2.5-7B-Instruct",
    "vllm:http://gpu.example.org:9000": "vllm:@http://gpu.example.org:9000/v1",
    "vllm:http://localhost:8000": "vllm:",
    "http://localhost:8000": "openai:@http://localhost:8000/v1",
    "http://localhost:8000/": "openai:@http://localhost:8000/v1",
    "http://localhost:8000/v1": "openai:@http://localhost:8000/v1",
    "http://localhost:8000/v1/chat/completions": "openai:@http://localhost:8000/v1",
    "http://localhost:8000/v1/models": "openai:@http://localhost:8000/v1",
    "localhost:8000": "openai:@http://localhost:8000/v1",
    "http://0.0.0.0:8000": "openai:@http://127.0.0.1:8000/v1",
    "tiny@http://localhost:8000": "openai:tiny@http://localhost:8000/v1",
    "org/tiny:q4@main@https://host.org/v1": "openai:org/tiny:q4@main@https://host.org/v1",
    "openai/gpt-4o@https://litellm.example.org/v1": "openai:openai/gpt-4o@https://litellm.example.org/v1",
    "openai:tiny@http://127.0.0.1:1/v1": "openai:tiny@http://127.0.0.1:1/v1",
    "openai:x@https://api.groq.com/openai/v1": "groq:x",
    "https://api.groq.com": "groq:@https://api.groq.com/openai/v1",
    "x@https://api.openai.com/v1": "openai:x",
    "embedded": "embedded:smollm2",
    "embedded:": "embedded:smollm2",
    "embedded:qwen-1.5b": "embedded:qwen-1.5b",
    "embedded/smollm2": "embedded:smollm2",
    "smollm2": "embedded:smollm2",
    "gemma-270m": "embedded:gemma-270m",
    "embedded:models/mine.gguf": "embedded:models/mine.gguf",
    "models/mine.gguf": "embedded:models/mine.gguf",
    "my_model:ask": "my_model:ask",
    "package.module:made.object": "package.module:made.object",
    "llama_players:make": "llama_players:make",
    "o1:ask": "o1:ask",
    ":x": ":x",
}

REMEDIES = {
    "": "names no language model",
    "nobody": "there is gpt-4o, PROVIDER/MODEL, ollama:MODEL",
    "gpt4o": "did you mean gpt-4o?",
    "gpt4": "did you mean gpt-4o?",
    "smolm2": "did you mean embedded:smollm2?",
    "embedded:smolm2": "did you mean embedded:smollm2?",
    "embedded:nobody": "there is no model `nobody`",
    "embeded": "did you mean embedded?",
    "olama": "did you mean ollama?",
    "llama3": "say which: ollama:llama3,",
    "llama3:8b": "say which: ollama:llama3:8b,",
    "gpt-oss:20b": "say which: ollama:gpt-oss:20b,",
    "deepseek-r1": "say which: ollama:deepseek-r1,",
    "openai": "openai/MODEL, such as openai/gpt-4o",
    "openai:": "names no language model",
    "claude": "anthropic/MODEL, such as anthropic/claude-",
    "mistral": "or ollama:mistral",
    "opnai/gpt-4o": "did you mean openai/gpt-4o?",
    "meta-llama/Llama-3.1-8B": "say which server has it: hf/meta-llama/Llama-3.1-8B, vllm/",
    "mockllm/model": "inspect eval otherminds/repeated_games --model mockllm/model",
    "azure/my-deployment": "DEPLOYMENT@https://RESOURCE.openai.azure.com/openai/v1",
    "azureai/my-deployment": "DEPLOYMENT@https://RESOURCE",
    "openai/azure/gpt-4o": "DEPLOYMENT@https://RESOURCE",
    "google/vertex/gemini-2.0-flash": "google/MODEL with GEMINI_API_KEY",
    "bedrock/claude": "openrouter/MODEL",
    "llama3@localhost:11434": "begins with http:// or https://",
    "openai:x@localhost:1": "begins with http:// or https://",
    "anthropic:x@https://host.org/v1": "anthropic has an address of its own",
    "http://user:sekrit@host.org/v1": "no user and no password",
    "tiny@http://user:sekrit@host.org/v1": "no user and no password",
    "ollama:" + "x" * 201: "1 to 200 printable characters",
}


@pytest.fixture(autouse=True)
def _usual_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in table().provider:
        if provider.address_from:
            monkeypatch.delenv(provider.address_from, raising=False)


@pytest.mark.parametrize("name", MEANINGS)
def test_names_are_understood_as_they_are_typed(name: str) -> None:
    assert str(model_named(name)) == MEANINGS[name]


@pytest.mark.parametrize("full", sorted(set(MEANINGS.values())))
def test_a_name_in_full_means_itself(full: str) -> None:
    assert str(model_named(full)) == full


@pytest.mark.parametrize("name", REMEDIES)
def test_a_name_that_means_nothing_is_answered_with_what_to_type(name: str) -> None:
    with pytest.raises(InputError) as caught:
        model_named(name)
    assert REMEDIES[name] in str(caught.value)
    assert "sekrit" not in str(caught.value)


@given(st.text(max_size=60) | st.sampled_from([*MEANINGS, *REMEDIES]).flatmap(lambda n: st.just(n[:-1] + "x" + n[-1:])))
def test_any_text_means_a_model_or_is_refused_in_one_line(text: str) -> None:
    name = refusal = None
    try:
        name = model_named(text)
    except InputError as error:
        refusal = str(error)
    if name is None:
        assert refusal is not None
        assert refusal.isprintable()
        assert not is_model(text)
    else:
        assert model_named(str(name)) == name
        assert is_model(text) != isinstance(name, OwnObject)
    assert served(text) == (name if isinstance(name, Served) else None)


def test_names_for_hints_can_be_typed() -> None:
    assert [name for name in well_known().values() if not (is_model(name) or provider_called(name))] == []


@pytest.mark.parametrize(
    ("variable", "value", "full"),
    [
        ("OPENAI_BASE_URL", "https://proxy.example.org/v1", "openai:m@https://proxy.example.org/v1"),
        ("OPENAI_BASE_URL", " ", "openai:m"),
        ("OLLAMA_HOST", "0.0.0.0:1234", "ollama:m@http://127.0.0.1:1234/v1"),
        ("OLLAMA_HOST", "http://gpu.example.org:11434", "ollama:m@http://gpu.example.org:11434/v1"),
        ("VLLM_BASE_URL", "http://localhost:9/v1", "vllm:m@http://localhost:9/v1"),
    ],
)
def test_the_environment_may_move_a_provider(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, full: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert str(model_named(full.partition("@")[0])) == full
    monkeypatch.delenv(variable)
    assert str(model_named(full)) == full


def test_an_address_that_is_written_out_is_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example.org/v1")
    full = str(model_named("gpt-4o@https://api.openai.com/v1"))
    assert str(model_named(full)) == full == "openai:gpt-4o@https://api.openai.com/v1"


class TestTable:
    def test_addresses_are_public_and_encrypted_or_on_this_machine(self) -> None:
        for provider in table().provider:
            parts = urlsplit(provider.address)
            assert (parts.scheme, parts.hostname == "localhost") == (
                ("http", True) if provider.local else ("https", False)
            )
            assert parts.username is parts.password is None
            assert not provider.address.endswith("/")

    def test_no_two_providers_share_a_name_a_key_a_beginning_or_a_host(self) -> None:
        names = [name for p in table().provider for name in (p.name, *p.aliases)]
        keys = [key for p in table().provider for key in p.keys]
        begins = [begin for p in table().provider for begin in p.begins]
        addresses = [p.address for p in table().provider]
        for values in (names, keys, begins, addresses):
            assert len(values) == len(set(values))
        assert not set(begins) & set(table().open.begins)

    def test_well_known_models_are_found_by_their_names(self) -> None:
        for provider in table().provider:
            assert all(provider_of(name) == provider for name in provider.models)

    def test_keys_follow_the_host_and_not_the_name(self) -> None:
        ollama = provider_called("ollama")
        assert key_variables("https://api.groq.com/other", ollama) == ("GROQ_API_KEY",)
        assert key_variables("https://API.groq.com:8443/other") == ("GROQ_API_KEY",)
        assert key_variables("http://localhost:11434/v1", ollama) == ("OLLAMA_API_KEY",)
        assert key_variables("http://localhost:11434/v1") == ("OPENAI_API_KEY",)
        assert key_variables("https://api.groq.com.evil.org/v1") == ("OPENAI_API_KEY",)
        assert provider_at("http://localhost:11434/v1") is None

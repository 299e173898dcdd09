"""What a model lacks to be asked: all of it, in one line, in time, and with no key in wrong hands."""

from __future__ import annotations

import importlib.util
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoint_server import Fault, Server, error, in_turn, serve
from otherminds.errors import InputError
from otherminds.language import availability, listing, weights
from otherminds.language.availability import check_model, missing
from otherminds.language.find import find_model
from otherminds.language.model import ModelError, Request
from otherminds.language.providers import Provider, table
from otherminds.language.scripted import Scripted
from otherminds.language.weights import pinned_model
from provider_addresses import moved, no_keys, only_here

MODEL = Scripted("tiny", lambda _request: "fine")
LONGEST = 3.0  # seconds to an error
HOSTED = [provider for provider in table().provider if not provider.local]
LOCAL = [provider for provider in table().provider if provider.local]


@pytest.fixture(autouse=True)
def _nothing_around(monkeypatch: pytest.MonkeyPatch) -> None:
    no_keys(monkeypatch)
    only_here(monkeypatch)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server, and nothing else that can be reached."""
    with serve(MODEL) as served:
        only_here_and_there(monkeypatch, served)
        yield served


def only_here_and_there(monkeypatch: pytest.MonkeyPatch, server: Server, hosts: dict[str, str] | None = None) -> None:
    monkeypatch.undo()
    no_keys(monkeypatch)
    only_here(monkeypatch, hosts, int(re.findall(r":([0-9]+)/", server.url)[0]))


def here(server: Server) -> str:
    return server.url.removesuffix("/v1")


class TestServers:
    def test_the_only_model_is_taken(self, server: Server) -> None:
        server.models = ("org/tiny",)
        for spec in (here(server), f"{here(server)}/", server.url, f"{server.url}/chat/completions"):
            assert missing(spec) == []
            assert check_model(spec) == f"openai:org/tiny@{server.url}"
        assert check_model(f"vllm:{here(server)}") == f"vllm:org/tiny@{server.url}"
        model = find_model(here(server))
        assert (model.name, model.complete(Request("x")).text) == ("org/tiny", "fine")
        assert {heard.body["model"] for heard in server.heard} == {"org/tiny"}

    def test_of_several_one_has_to_be_named(self, server: Server) -> None:
        server.models = ("a", "b:7b", *map(str, range(20)))
        (lack,) = missing(here(server))
        assert lack.startswith(f"{server.url} has 22 models: a, b:7b, 0, 1, 2, 3, 4, 5, 6, 7, … (name one: openai:a@")
        (typed,) = re.findall(r"name one: ([^)]*)", lack)
        assert check_model(typed) == f"openai:a@{server.url}"

    def test_a_server_without_a_list_needs_a_name(self, server: Server) -> None:
        (lack,) = missing(here(server))
        assert "does not say which models it has: HTTP 404" in lack
        assert f"name one: MODEL@{server.url}" in lack
        assert missing(f"tiny@{here(server)}") == []

    @pytest.mark.parametrize(
        ("name", "listed"), [("llama3", "llama3:latest"), ("llama3:8b", "llama3:8b"), ("a/b", "a/b")]
    )
    def test_a_model_that_is_there_lacks_nothing(self, server: Server, name: str, listed: str) -> None:
        server.models = ("other", listed)
        assert missing(f"{name}@{server.url}") == []
        assert len(server.looked) == 1

    def test_an_alias_is_asked_for_by_its_name(self, server: Server) -> None:
        server.models = ("tiny-20240101",)
        server.unlisted = lambda heard: Fault(body=b'{"id": "tiny-20240101"}') if heard.path.endswith("/tiny") else None
        assert missing(f"tiny@{server.url}") == []

    def test_a_model_that_is_not_there_is_told_with_those_that_are(self, server: Server) -> None:
        server.models = ("llama3.2:3b", "qwen2.5:7b")
        (lack,) = missing(f"llama3@{server.url}")
        assert lack == f"{server.url} has no model `llama3` (did you mean openai:llama3.2:3b@{server.url}?)"
        (lack,) = missing(f"falcon@{server.url}")
        assert lack == f"{server.url} has no model `falcon` (it has llama3.2:3b, qwen2.5:7b)"

    @pytest.mark.parametrize("provider", LOCAL, ids=lambda provider: provider.name)
    def test_a_provider_of_this_machine_is_told_how_to_start_it(self, provider: Provider) -> None:
        (lack,) = missing(f"{provider.name}:tiny")
        assert lack.startswith(f"no server answers at {provider.address}: Connection refused (")
        assert provider.start.replace("MODEL", "tiny") in lack
        (lack,) = missing(provider.address.removesuffix("/v1"))  # the address alone says as much
        assert provider.start in lack

    def test_what_an_ollama_lacks_is_to_be_pulled(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OLLAMA_HOST", here(server).removeprefix("http://"))
        server.models = ("qwen2.5:7b",)
        (lack,) = missing("ollama:llama3")
        assert lack.endswith("has no model `llama3` (it has qwen2.5:7b; ollama pull llama3)")
        assert check_model("ollama") == f"ollama:qwen2.5:7b@{server.url}"

    def test_llama_cpp_takes_any_name(self, server: Server) -> None:
        server.models = ("/models/mine.gguf",)
        assert missing(f"llamacpp:mine@{server.url}") == []

    @pytest.mark.parametrize("kind", ["hang", "stall", "drip", "header", "status"])
    def test_a_server_that_does_not_answer_is_not_waited_for(
        self, server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert listing.DEADLINE < LONGEST - 1.0  # which leaves time to start the program
        monkeypatch.setattr(listing, "DEADLINE", 0.2)
        server.unlisted = lambda _heard: Fault(body=b"[" * 100, kind=kind)  # type: ignore[arg-type]
        began = time.monotonic()
        (lack,) = missing(f"tiny@{server.url}")
        assert time.monotonic() - began < 1.0
        assert lack.startswith(f"no server answers at {server.url}: ")

    @pytest.mark.parametrize(
        "body",
        [
            b"", b"<html>", b"null", b"[]", b'"x"', b'{"data": null}', b'{"data": [1, {"id": 2}, {"id": ""}]}',
            b"[" * 10**5, b'{"data": [{"id": "a\\nb"}, {"id": "' + b"x" * 300 + b'"}]}',
        ],
    )  # fmt: skip
    def test_a_list_that_is_none_decides_nothing(self, server: Server, body: bytes) -> None:
        server.unlisted = lambda _heard: Fault(body=body)
        assert missing(f"tiny@{server.url}") == []
        (lack,) = missing(server.url)
        assert "does not say which models it has" in lack
        assert lack.isprintable()

    def test_together_lists_without_an_envelope(self, server: Server) -> None:
        server.unlisted = lambda _heard: Fault(body=b'[{"id": "models/tiny"}]')
        assert check_model(server.url) == f"openai:tiny@{server.url}"

    def test_the_server_does_not_send_the_key_elsewhere(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
        server.unlisted = in_turn(error(302, "", Location=f"{server.url}/else"))
        assert missing(f"tiny@{server.url}") == []
        assert [heard.path for heard in server.looked] == ["/v1/models"]

    def test_the_key_is_no_name_of_a_model(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
        server.models = ("sk-0123456789", "about sk-0123456789")
        assert "sk-0123456789" not in missing(server.url)[0]


class TestKeys:
    def test_a_provider_is_not_asked_without_its_key(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        for provider in HOSTED:
            for other in HOSTED:
                for name in other.keys:
                    monkeypatch.setenv(name, "sk-other") if other != provider else monkeypatch.delenv(
                        name, raising=False
                    )
            (lack,) = missing(f"{provider.name}/tiny")
            assert lack == f"there is no key for {provider.name} (export {provider.keys[0]}=…)"
            with pytest.raises(ModelError, match=rf"there is no key \(set {provider.keys[0]}, "):
                find_model(f"{provider.name}/tiny").complete(Request("x"))

    @pytest.mark.slow
    def test_no_key_goes_to_another_provider(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each provider gets its own key, by whatever name it is asked."""
        with serve(MODEL) as server, moved(server.url) as hosts:
            only_here_and_there(monkeypatch, server, dict(hosts))
            for provider in table().provider:
                monkeypatch.setenv(provider.keys[-1], f"sk-{provider.name}-0123")
            server.models = ("tiny",)
            for provider in table().provider:
                del server.heard[:], server.looked[:]
                at = provider.address
                specs = [f"{provider.name}/tiny", f"{provider.name}:tiny"]
                if not provider.local:
                    specs += [f"tiny@{at}", f"openai:tiny@{at}", f"vllm:tiny@{at}", at, at.removesuffix("/v1")]
                for spec in specs:
                    assert find_model(check_model(spec)).complete(Request("x")).text == "fine"
                assert [heard.headers["authorization"] for heard in server.heard] == (
                    [f"Bearer sk-{provider.name}-0123"] * len(specs)
                )
                looked = [json.dumps(dict(heard.headers)) for heard in server.looked]
                assert len(looked) == len(specs)
                for headers in looked:
                    assert re.findall(r"sk-(.*?)-0123", headers) == [provider.name]

    def test_a_bare_address_gets_the_key_of_openai(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        for provider in table().provider:
            monkeypatch.setenv(provider.keys[0], f"sk-{provider.name}-0123")
        server.models = ("tiny",)
        find_model(here(server)).complete(Request("x"))
        find_model(f"vllm:tiny@{here(server)}").complete(Request("x"))
        keys = [heard.headers["authorization"] for heard in (*server.looked, *server.heard)]
        assert keys == ["Bearer sk-openai-0123", "Bearer sk-openai-0123", "Bearer sk-vllm-0123"]

    @pytest.mark.parametrize(
        ("fault", "refused"),
        [
            (error(401, "no"), True),
            (error(401, "You have insufficient permissions: missing scopes api.model.read"), False),
            (error(400, "API key not valid. Please pass a valid API key."), True),
            (error(403, "no"), False),
            (error(404, "no"), False),
            (error(500, "no"), False),
        ],
    )
    def test_a_refused_key_is_told_at_once(
        self, server: Server, monkeypatch: pytest.MonkeyPatch, fault: Fault, refused: bool
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
        server.unlisted = lambda _heard: fault
        lacks = missing(f"tiny@{server.url}")
        assert lacks == ([f"{server.url} refuses the key (look at OPENAI_API_KEY)"] if refused else [])

    @pytest.mark.parametrize("key", ["sk-with space-0123", "sk-with\nline-0123", "sk-schlüssel-0123"])
    def test_a_key_that_cannot_be_sent_is_not_shown(self, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
        monkeypatch.setenv("GOOGLE_API_KEY", key)
        (lack,) = missing("gemini-2.0-flash")
        assert lack == "the key has characters that no key has (look at GEMINI_API_KEY and GOOGLE_API_KEY)"

    def test_anthropic_lists_with_its_own_headers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serve(MODEL) as server, moved(server.url) as hosts:
            only_here_and_there(monkeypatch, server, dict(hosts))
            monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123")
            server.models = ("claude-sonnet-4-20250514",)
            (lack,) = missing("claude-sonnet-4")
            assert "did you mean anthropic:claude-sonnet-4-20250514?" in lack
            headers = server.looked[0].headers
            assert (headers["x-api-key"], headers["anthropic-version"]) == ("sk-ant-0123", "2023-06-01")
            assert "authorization" not in headers


class TestWhatElse:
    def test_all_that_is_missing_is_told_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(availability, "find_spec", lambda _name: None)
        lacks = missing("gpt-4o")
        assert [lack.partition(" (")[0] for lack in lacks] == [
            "an extra is not installed",
            "there is no key for openai",
        ]
        assert "pip install -e '.[openai]'" in lacks[0]
        with pytest.raises(ModelError) as caught:
            check_model("gpt-4o")
        assert str(caught.value) == f"gpt-4o cannot be asked: {'; '.join(lacks)}"

    def test_weights_are_fetched_and_the_extra_installed(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(availability, "find_spec", lambda _name: None)
        monkeypatch.setattr(weights, "models_folder", lambda: tmp_path)
        extra, fetched = missing("embedded")
        assert "pip install -e '.[embedded]'" in extra
        assert fetched == "smollm2 has not been fetched (otherminds models fetch smollm2)"
        assert pinned_model("smollm2").path.parent == tmp_path
        assert missing("embedded:nowhere.gguf")[-1] == "nowhere.gguf: there is no such file"

    def test_an_own_object_lacks_nothing_before_it_is_imported(self) -> None:
        assert missing("no_such_module:object") == []
        assert check_model("no_such_module:object") == "no_such_module:object"

    def test_a_replay_needs_nothing(self) -> None:
        assert check_model("gpt-4o", asks=False) == "openai:gpt-4o"
        assert check_model("tiny@http://localhost:1", asks=False) == "openai:tiny@http://localhost:1/v1"
        with pytest.raises(InputError, match="no server answers"):  # whose answers?
            check_model("http://localhost:1", asks=False)

    def test_the_extras_bring_these_packages(self) -> None:
        for packages in availability.EXTRAS.values():
            assert all(re.fullmatch("[a-z0-9]+", package) for package in packages)
        assert importlib.util.find_spec("openai")

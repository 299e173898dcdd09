"""A small model within the process: exact scores, prompts that are read once, and the same answers over its address."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from urllib.request import Request as Call
from urllib.request import urlopen

import pytest
from pydantic import BaseModel, ConfigDict, Field

from otherminds.errors import InputError
from otherminds.evaluation.tasks import Row, Task
from otherminds.language import embedded
from otherminds.language.asking import read_json
from otherminds.language.embedded import Embedded
from otherminds.language.endpoint import Endpoint
from otherminds.language.find import find_model
from otherminds.language.model import Continuations, LanguageModel, Message, ModelError, Reply, Request, Scores, Usage
from otherminds.language.weights import find_weights, pinned_model
from otherminds.papers.functional.model_episodes import ModelGameEntry, rows
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

pytestmark = pytest.mark.slow

MODEL = "smollm2"
CONTEXT = 2048
FRANCE = "The capital of France is"
GAME = "In round 1, you chose option J and the other player chose option F.\nIn round 2, you chose option"
CLOSE = 0.05
ROUNDS = 4
IBS = find_game("ibs")
ENTRY = ModelGameEntry(Task(IBS, partner("tft", IBS), ROUNDS), "ibs/tft", MODEL, "lm", 0, 4)


@pytest.fixture(scope="module")
def model() -> Embedded:
    pytest.importorskip("xllamacpp", reason="the extra `embedded` is not installed")
    try:
        weights = find_weights(MODEL)
    except InputError as error:
        pytest.skip(f"there are no weights: {error}")
    return Embedded(weights, context=CONTEXT)


@dataclass
class Listening:
    """Remembers what goes through it."""

    model: LanguageModel
    asked: list[tuple[Continuations, Scores]] = field(default_factory=list)
    name: str = MODEL

    @property
    def identity(self) -> str:
        return self.model.identity

    def complete(self, request: Request) -> Reply:
        return self.model.complete(request)

    def score(self, request: Continuations) -> Scores:
        found = self.model.score(request)
        self.asked.append((request, found))
        return found


# What it is asked for, by hand


class Server:
    """The server within the model, asked in numbers: nothing that is compared with it goes this way."""

    def __init__(self, model: Embedded) -> None:
        self._url = model.address.removesuffix("/v1")
        self._known: dict[tuple[int, ...], dict[int, float]] = {}

    def post(self, path: str, body: dict[str, Any]) -> Any:
        call = Call(self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(call, timeout=60) as answer:
            return json.load(answer)

    def tokens(self, text: str) -> list[int]:
        found: list[int] = self.post("/tokenize", {"content": text, "add_special": True})["tokens"]
        return found

    def next_tokens(self, prompt: list[int]) -> dict[int, float]:
        """log p of all tokens after a prompt. It has to write a word, as it tells nothing of parts of characters."""
        if (known := self._known.get((*prompt,))) is not None:
            return known
        word = [[self.tokens(" the")[0], 1000.0]]
        body = {"prompt": prompt, "n_predict": 1, "n_probs": 100_000, "temperature": 0.0, "logit_bias": word}
        (told,) = self.post("/completion", body)["completion_probabilities"]
        return self._known.setdefault((*prompt,), {one["id"]: one["logprob"] for one in told["top_logprobs"]})

    def score(self, prompt: str, text: str) -> tuple[float, int]:
        """log p(text | prompt), forced token by token, and how many of these there are."""
        begin, value = self.tokens(prompt), 0.0
        tokens = self.tokens(prompt + text)[len(begin) :]
        for token in tokens:
            value += self.next_tokens(begin)[token]
            begin = [*begin, token]
        return value, len(tokens)


@pytest.fixture(scope="module")
def server(model: Embedded) -> Server:
    return Server(model)


@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        (FRANCE, (" Paris", " zqx")),
        (GAME, (" J", " JJJ")),
        # some tokens are parts of characters, and some of these are shown as no more than the space before
        (FRANCE, (" 4",)),
        (FRANCE, (" 🤔",)),
        ("La tour Eiffel est à Paris – 🗼", (" et",)),
    ],
)
def test_scores_are_those_of_every_token_forced_in_turn(
    model: Embedded, server: Server, prompt: str, texts: tuple[str, ...]
) -> None:
    found = model.score(Continuations(prompt, texts))
    expected = [server.score(prompt, text) for text in texts]
    assert found.method == "tokeniser"
    assert found.tokens == tuple(count for _, count in expected)
    assert found.log_probs == pytest.approx([value for value, _ in expected], abs=CLOSE)


def test_the_probabilities_of_all_tokens_are_one_and_those_of_some_are_less(model: Embedded, server: Server) -> None:
    every = server.next_tokens(server.tokens(GAME))
    assert math.fsum(map(math.exp, every.values())) == pytest.approx(1.0, abs=0.01)
    letters = tuple(f" {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    scores = model.score(Continuations(GAME, letters))
    assert scores.tokens == (1,) * 26
    total = math.fsum(map(math.exp, scores.log_probs))
    assert total < 1.0
    assert total == pytest.approx(math.fsum(math.exp(every[server.tokens(letter)[0]]) for letter in letters), abs=CLOSE)


def test_the_same_question_has_the_same_answer_whatever_was_read_before(model: Embedded) -> None:
    question = Continuations(GAME, (" J", " F", " Pasta"))
    first = model.score(question)
    second = model.score(question)
    forget(model)
    third = model.score(question)
    for again in (second, third):
        assert again.log_probs == pytest.approx(first.log_probs, abs=CLOSE)
        assert again.tokens == first.tokens
    assert second.usage.prompt == third.usage.prompt == first.usage.prompt
    assert second.usage.cached > third.usage.cached


# Prompts that continue one another


@pytest.fixture(scope="module")
def heard(model: Embedded) -> tuple[list[Row], Listening]:
    """Some rounds by the probabilities of names, with everything that was asked."""
    listening = Listening(model)
    forget(model)
    return rows(ENTRY, listening), listening


def forget(model: Embedded) -> None:
    """Let it read something else: what it answers depends a little on what it need not read again."""
    model.score(Continuations("Once upon a time", (" there",)))


def test_what_was_read_is_not_read_again(server: Server, heard: tuple[list[Row], Listening]) -> None:
    played, listening = heard
    used = sum((scores.usage for _, scores in listening.asked), Usage())
    evaluated = used.prompt - used.cached
    assert len(listening.asked) == 2 * ROUNDS
    assert sum(row["tokens"] for row in played) == used.prompt + used.written
    assert sum(row["evaluated"] for row in played) == evaluated + used.written
    assert evaluated < 0.2 * used.prompt
    # what is new in the longest prompt is all that there is to read, and the last token is read again every time
    longest = len(server.tokens(listening.asked[-1][0].prompt))
    assert evaluated < longest + 2 * used.written


def test_every_token_of_every_prompt_is_counted(server: Server, heard: tuple[list[Row], Listening]) -> None:
    for request, scores in heard[1].asked:
        assert scores.tokens == (1, 1)
        # names that are not among the likely ones are asked for one by one, with the same prompt
        assert scores.usage.written >= 1
        assert scores.usage.prompt == scores.usage.written * len(server.tokens(request.prompt))


def test_moves_are_drawn_from_the_probabilities_of_names(heard: tuple[list[Row], Listening]) -> None:
    played, listening = heard
    assert all(row["action"] is not None and row["unreadable"] == 0 for row in played)
    asked = [(request, scores) for request, scores in listening.asked if request.prompt.endswith("you chose option")]
    assert len(asked) == ROUNDS
    for row, (_, scores) in zip(played, asked, strict=True):
        assert row["mass"] == pytest.approx(math.fsum(map(math.exp, scores.log_probs)))


# Over its own address


def test_moves_are_the_same_over_its_address_and_in_process(
    model: Embedded, heard: tuple[list[Row], Listening]
) -> None:
    told = rows(ENTRY, over_http(model))
    assert [(row["action"], row["predicted"]) for row in told] == [
        (row["action"], row["predicted"]) for row in heard[0]
    ]
    for name in ("p_true", "mass"):
        assert [row[name] for row in told] == pytest.approx([row[name] for row in heard[0]], abs=0.01)
    assert [row["tokens"] for row in told] == [row["tokens"] for row in heard[0]]


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_replies_are_the_same_over_its_address_and_in_process(model: Embedded, temperature: float) -> None:
    request = ask("Name an animal.", max_tokens=8, temperature=temperature, seed=3)
    forget(model)
    own = model.complete(request)
    over = over_http(model).complete(request)
    assert (over.text, over.cut) == (own.text, own.cut)


def over_http(model: Embedded) -> Endpoint:
    pytest.importorskip("openai", reason="the extra `openai` is not installed")
    forget(model)
    return Endpoint(MODEL, model.address)


# Writing


class Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")

    colour: Literal["red", "blue"]
    steps: list[Literal["left", "right", "up"]] = Field(min_length=1, max_length=3)
    sure: bool


def ask(text: str, **more: Any) -> Request:
    return Request((Message("user", text),), **more)


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_what_has_to_follow_a_schema_does(model: Embedded, temperature: float) -> None:
    schema = json.dumps(Plan.model_json_schema(), sort_keys=True)
    reply = model.complete(ask("Which way is it?", max_tokens=200, schema=schema, temperature=temperature, seed=1))
    assert isinstance(read_json(reply.text, Plan), Plan)
    assert not reply.cut


def test_replies_are_as_long_as_they_may_be_and_say_so(model: Embedded) -> None:
    reply = model.complete(ask("Tell me a long story.", max_tokens=8))
    assert reply.cut
    assert reply.usage.written == 8
    assert reply.usage.prompt > 5
    assert model.complete(ask("Tell me a long story.", max_tokens=8)).text == reply.text
    assert model.complete(Request(FRANCE, max_tokens=1)).text == " Paris"
    assert model.complete(Request("1, 2, 3, 4,", max_tokens=20, stop=(" 7",))).text == " 5, 6,"


def test_what_is_written_at_random_depends_on_the_seed_alone(model: Embedded) -> None:
    def write(seed: int) -> str:
        return model.complete(ask("Name an animal.", max_tokens=6, temperature=1.5, seed=seed)).text

    first = [write(seed) for seed in range(3)]
    assert [write(seed) for seed in range(3)] == first
    assert len(set(first)) > 1


# What cannot be


def refused(error: pytest.ExceptionInfo[ModelError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert text.isprintable()
    assert len(text) < 400
    return text


def test_prompts_that_are_too_long_are_refused_and_no_harm_is_done(model: Embedded) -> None:
    long = "word " * (CONTEXT + 10)
    for attempt in (
        lambda: model.score(Continuations(long, (" a",))),
        lambda: model.complete(Request(long)),
        lambda: model.complete(ask(long)),
    ):
        with pytest.raises(ModelError) as error:
            attempt()
        assert f"{CONTEXT}" in refused(error)
    assert model.score(Continuations(FRANCE, (" Paris",))).log_probs[0] > math.log(0.5)


def test_pictures_are_refused(model: Embedded) -> None:
    with pytest.raises(ModelError, match="smollm2 cannot see pictures"):
        model.complete(Request((Message("user", "What is this?", (b"\x89PNG",)),)))


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    path = tmp_path / "spoilt.gguf"
    path.write_bytes(b"GGUF" + bytes(range(256)) * 40)
    return path


def test_a_file_that_is_no_model_is_refused(model: Embedded, spoilt: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wrong = Embedded(find_weights(spoilt))
    for attempt in (lambda: wrong.complete(Request("x")), lambda: wrong.score(Continuations("x", ("y",)))):
        with pytest.raises(ModelError, match=r"spoilt\.gguf: cannot be loaded as a GGUF model") as error:
            attempt()
        refused(error)
    with pytest.raises(ModelError):
        _ = wrong.address
    assert capfd.readouterr() == ("", "")


def test_it_is_known_by_its_file_and_by_the_program_that_runs_it(model: Embedded, spoilt: Path) -> None:
    sha = pinned_model(MODEL).sha256
    assert model.name == MODEL
    assert sha[:12] in model.identity
    assert version("xllamacpp") in model.identity
    assert find_model("embedded").identity == find_model(f"embedded:{MODEL}").identity == model.identity
    other = find_model(f"embedded:{spoilt}")
    assert other.name == "spoilt"
    assert other.identity.split("@")[1] != model.identity.split("@")[1]


def test_its_address_is_on_this_machine_alone(model: Embedded) -> None:
    assert model.address == model.address
    assert model.address.startswith("http://127.0.0.1:")


# Processors


@pytest.mark.parametrize(("running", "threads"), [(1, 8), (4, 8), (5, 4), (30, 4)])
def test_all_processors_are_used_if_others_leave_them(
    running: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "loadavg"
    told.write_text(f"9.00 0.10 0.10 {running}/300 4711\n")
    monkeypatch.setattr(embedded, "LOAD", told)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert embedded._free_processors() == threads


def test_half_of_them_are_used_where_nobody_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "LOAD", tmp_path / "none")
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert embedded._free_processors() == 4

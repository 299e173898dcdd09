from __future__ import annotations

import gc
import gzip
import json
import logging
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Semaphore
from typing import Any, NoReturn
from zlib import crc32

import httpx2
import pytest

from endpoint_server import DRIPS, Fault, Heard, Server, error, in_turn, serve, words
from otherminds.errors import InputError
from otherminds.evaluation.asking import spent
from otherminds.files.database import Database
from otherminds.language.call_records import SCHEMA
from otherminds.language.endpoint import Endpoint, without_fragments
from otherminds.language.ledger import Recorded
from otherminds.language.model import Continuations, Message, ModelError, Reply, Request, UncertainError, Usage, ask_all
from otherminds.language.prices import Price
from otherminds.language.scripted import Scripted

SECRET = "sk-proj-0123456789-abcdefghij"
MODEL = Scripted("echo", lambda request: f"{request.prompt} and on")
RETRIED = [429, 500, 502, 503, 529]
NOT_RETRIED = [302, 400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422]


@pytest.fixture(autouse=True)
def _no_key_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(MODEL) as running:
        yield running


class Waits(list[float]):
    """Sleeps that are noted and not slept."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def endpoint(server: Server, waits: Waits | None = None, **more: Any) -> Endpoint:
    return Endpoint("tiny", server.url, wait=Waits() if waits is None else waits, **more)


def complaint(server: Server, waits: Waits | None = None, *, bill: bool = False, **more: Any) -> str:
    """The one line in which a call ends, and whether there may be a bill."""
    with pytest.raises(ModelError) as caught:
        endpoint(server, waits, **more).complete(Request("x"))
    assert type(caught.value) is (UncertainError if bill else ModelError)
    line = str(caught.value)
    assert line.startswith("tiny: ")
    assert line.isprintable()
    return line


class TestCalls:
    def test_a_model_writes_through_http_what_it_writes_without(self) -> None:
        asked: list[Request] = []

        def write(request: Request) -> str:
            asked.append(request)
            return "½ ✓\n" + str(request.max_tokens)

        model = Scripted("served", write)
        requests = [
            Request("once upon\ta time ½", max_tokens=7, temperature=0.25, seed=9, stop=("\n", "END")),
            Request((Message("system", "be brief"), Message("user", "what is it?", (b"\x89PNG\r\n", b"\x00\xff")))),
            Request((Message("user", "{}"),), schema='{"type": "object"}'),
        ]
        with serve(model) as server:
            replies = [endpoint(server).complete(request) for request in requests]
        assert asked == requests
        assert [replace(reply, constrained=False) for reply in replies] == [*map(model.complete, requests)]

    def test_the_body_names_the_model_and_the_schema_is_sent(self, server: Server) -> None:
        endpoint(server).complete(Request((Message("user", "hi"),), schema='{"type": "object"}'))
        body = server.heard[0].body
        assert body["model"] == "tiny"
        assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
        assert body["messages"] == [{"role": "user", "content": "hi"}]

    def test_usage_is_as_told(self) -> None:
        told = {"prompt_tokens": 40, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 30}}
        answer = {"choices": [{"text": "x", "finish_reason": "length"}], "usage": told}
        with serve(MODEL, fault=in_turn(Fault(body=json.dumps(answer).encode()))) as server:
            assert endpoint(server).complete(Request("x")) == Reply("x", cut=True, usage=Usage(40, 30, 3))

    def test_a_slash_after_the_address_changes_nothing(self, server: Server) -> None:
        Endpoint("tiny", server.url + "/").complete(Request("x"))
        assert server.heard[0].path == "/v1/completions"

    @pytest.mark.slow
    def test_answers_keep_their_order_when_asked_at_once(self, server: Server) -> None:
        requests = [Request(f"number {i}") for i in range(40)]
        replies = list(ask_all(endpoint(server).complete, requests, at_once=8))
        assert replies == [MODEL.complete(request) for request in requests]

    def test_connections_are_used_again(self, server: Server) -> None:
        model = endpoint(server)
        for _ in range(3):
            model.complete(Request("x"))
        assert len({heard.port for heard in server.heard}) == 1

    def test_what_a_proxy_would_do_does_not_matter_on_this_machine(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        assert endpoint(server).complete(Request("x")).text == "x and on"


PIECES = (" red", " blue", " r", "ed", " dark", " b", "lue", "er", "?")


def toy(prompt: str) -> dict[str, float]:
    """How probable every piece is after a prompt: all differ, and differ after every prompt."""
    weights = [1 + crc32((prompt + "|" + piece).encode()) % 1000 for piece in PIECES]
    return {piece: math.log(weight / sum(weights)) for piece, weight in zip(PIECES, weights, strict=True)}


def chain(prompt: str, pieces: tuple[str, ...]) -> float:
    """The log-probability of pieces one after the other."""
    places = [prompt + "".join(pieces[:i]) for i in range(len(pieces))]
    return math.fsum(toy(place)[piece] for place, piece in zip(places, pieces, strict=True))


class TestScores:
    PROMPT = "the car is"

    @pytest.mark.parametrize("style", ["text", "chat"])
    @pytest.mark.parametrize("echo", [False, True, "refuse"])
    def test_single_tokens_take_one_call_in_every_style(self, style: Any, echo: Any) -> None:
        texts = (" red", " blue", "?")
        with serve(MODEL, style=style, echo=echo, next_tokens=toy) as server:
            scores = endpoint(server).score(Continuations(self.PROMPT, texts))
            assert len(server.heard) == 1
        assert scores.log_probs == pytest.approx([chain(self.PROMPT, (text,)) for text in texts])
        assert (scores.tokens, scores.usage) == ((1, 1, 1), Usage(3, 0, 1))

    @pytest.mark.parametrize("beginning", ["", "<s>"])
    def test_longer_texts_are_read_from_the_echo(self, beginning: str) -> None:
        with serve(MODEL, echo=True, next_tokens=toy, beginning=beginning) as server:
            scores = endpoint(server).score(Continuations(self.PROMPT, (" dark red", " blue")))
            assert len(server.heard) == 3
        assert scores.log_probs == pytest.approx(
            [chain(self.PROMPT, (" dark", " red")), chain(self.PROMPT, (" blue",))]
        )
        assert (scores.tokens, scores.method, scores.usage) == ((2, 1), "echo", Usage(3 + 5 + 4, 0, 1))

    @pytest.mark.parametrize("style", ["text", "chat"])
    @pytest.mark.parametrize("echo", [False, "refuse"])
    def test_servers_without_echo_are_asked_token_by_token(self, style: Any, echo: Any) -> None:
        with serve(MODEL, style=style, echo=echo, next_tokens=toy) as server:
            scores = endpoint(server).score(Continuations(self.PROMPT, (" dark red", " blue?", " blue")))
        assert scores.log_probs == pytest.approx(
            [chain(self.PROMPT, pieces) for pieces in ((" dark", " red"), (" blue", "?"), (" blue",))]
        )
        assert (scores.tokens, scores.method) == ((2, 2, 1), "longest")

    def test_a_server_that_ignores_echo_and_writes_the_same_words_is_not_believed(self) -> None:
        def parrot(heard: Heard) -> Fault | None:
            if not heard.body.get("echo"):
                return None
            pieces = words(heard.body["prompt"])
            told = {"tokens": pieces, "token_logprobs": [-0.1] * len(pieces), "text_offset": [0, 3, 7, 10, 15]}
            return Fault(body=json.dumps({"choices": [{"text": heard.body["prompt"], "logprobs": told}]}).encode())

        with serve(MODEL, next_tokens=toy, fault=parrot) as server:
            scores = endpoint(server).score(Continuations(self.PROMPT, (" dark red",)))
        assert scores.log_probs == pytest.approx([chain(self.PROMPT, (" dark", " red"))])
        assert scores.method == "longest"

    def test_an_echo_whose_tokens_join_prompt_and_text_is_not_taken(self) -> None:
        def joined(text: str) -> list[str]:
            return ["the car", text.removeprefix("the car")]

        with serve(MODEL, echo=True, next_tokens=toy, cut=joined) as server:
            scores = endpoint(server).score(Continuations(self.PROMPT, (" dark red",)))
        assert scores.method == "longest"

    @pytest.mark.parametrize("style", ["text", "chat"])
    def test_a_text_that_is_not_among_the_top_is_refused(self, style: Any) -> None:
        rarest = min((" red", " blue", " dark"), key=lambda piece: toy(self.PROMPT)[piece])
        named = rf"tiny: the server tells the 1 most probable tokens alone, and `{rarest.strip()}` is not there"
        with serve(MODEL, style=style, next_tokens=toy, top=1) as server, pytest.raises(ModelError, match=named):
            endpoint(server).score(Continuations(self.PROMPT, (rarest,)))

    @pytest.mark.parametrize(("most", "asked"), [(20, [1000, 20, 20]), (5, [1000, 20, 5, 5])])
    def test_as_many_tokens_are_asked_for_as_the_server_tells(self, most: int, asked: list[int]) -> None:
        def modest(heard: Heard) -> Fault | None:
            return error(400, "too many logprobs") if heard.body["logprobs"] > most else None

        likely = toy(self.PROMPT)
        two = tuple(sorted(likely, key=lambda piece: -likely[piece])[:2])
        with serve(MODEL, next_tokens=toy, fault=modest) as server:
            model = endpoint(server)
            for _ in range(2):
                scores = model.score(Continuations(self.PROMPT, two))
                assert scores.log_probs == pytest.approx([likely[text] for text in two])
            assert [heard.body["logprobs"] for heard in server.heard] == asked

    @pytest.mark.parametrize("later", [error(503, "later"), error(401, "who?"), Fault(kind="drop")])
    def test_what_fails_after_a_part_was_answered_may_have_to_be_paid_for(self, later: Fault) -> None:
        with serve(MODEL, next_tokens=toy, fault=in_turn(None, *[later] * 4)) as server:
            with pytest.raises(UncertainError):
                endpoint(server).score(Continuations(self.PROMPT, (" dark red",)))
            assert len(server.heard) == (5 if later.status == 503 else 2)

    def test_a_server_that_refuses_any_number_of_tokens_is_told(self) -> None:
        with serve(MODEL, fault=lambda _: error(400, "no logprobs here")) as server:
            with pytest.raises(ModelError, match="no logprobs here") as caught:
                endpoint(server).score(Continuations(self.PROMPT, (" red",)))
            assert [heard.body["logprobs"] for heard in server.heard] == [1000, 20, 5]
        assert type(caught.value) is ModelError

    def test_without_log_probabilities_there_is_no_score_but_a_bill(self, server: Server) -> None:
        with pytest.raises(UncertainError, match=r"tiny: the server gives no log-probabilities \(use a strategy"):
            endpoint(server).score(Continuations(self.PROMPT, (" red",)))


class TestErrors:
    @pytest.mark.parametrize("status", NOT_RETRIED)
    def test_objections_are_told_and_not_asked_again(self, status: int) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(error(status, "this\nwill\x00 not do", Location="http://else/v1"))) as server:
            line = complaint(server, waits)
            assert f"(HTTP {status})" in line
            assert ("this will\\x00 not do" in line) == (status != 401)
            assert (len(server.heard), waits) == (1, [])

    @pytest.mark.parametrize(
        ("status", "words_of_it"),
        [
            (302, "sends elsewhere (HTTP 302): no (http://else/v1)"),
            (400, "tiny: the server refuses the request (HTTP 400): no"),
            (401, "tiny: the key is refused (HTTP 401) (set OPENAI_API_KEY to a key of this server)"),
            (403, "the key is not allowed to do this (HTTP 403): no (set OPENAI_API_KEY"),
            (404, "there is no such model or path (HTTP 404): no (look at the model's name"),
        ],
    )
    def test_what_they_mean(self, status: int, words_of_it: str) -> None:
        with serve(MODEL, fault=in_turn(error(status, "no", Location="http://else/v1"))) as server:
            assert words_of_it in complaint(server)

    @pytest.mark.parametrize(
        ("body", "words_of_it"),
        [
            (b"", "the answer is empty"),
            (b" \n", "the answer is empty"),
            (b"<!doctype html><p>welcome", "the answer is a web page (the address mostly ends in /v1)"),
            (b'{"choices": [', "the answer is not JSON"),
            (b"\xff\xfe\x00", "the answer is not JSON"),
            (b"[" * 200_000, "the answer is not JSON"),
            (b"9" * 10_000, "the answer is not JSON"),
            (b"[]", "not one of an OpenAI-compatible server"),
            (b"null", "not one of an OpenAI-compatible server"),
            (b'{"choices": []}', "not one of an OpenAI-compatible server"),
            (b'{"error": {"message": "overloaded", "code": 502}}', "the answer is an error: overloaded"),
            (
                b'{"choices": [{"text": "x", "finish_reason": "error"}]}',
                "the answer is an error: it does not say which",
            ),
            (b" " * 10_000_001, "the answer is larger than 10,000,000 bytes"),
        ],
    )
    def test_answers_that_are_none(self, body: bytes, words_of_it: str) -> None:
        with serve(MODEL, fault=in_turn(Fault(body=body))) as server:
            assert words_of_it in complaint(server, bill=True)
            assert len(server.heard) == 1

    @pytest.mark.slow
    def test_an_answer_of_just_the_largest_size_is_read(self) -> None:
        answer = b'{"choices": [{"text": "x"}]}'.ljust(10_000_000)
        with serve(MODEL, fault=in_turn(Fault(body=answer))) as server:
            assert endpoint(server).complete(Request("x")).text == "x"

    def test_half_an_answer_is_an_error_and_not_asked_for_again(self) -> None:
        with serve(MODEL, fault=in_turn(Fault(body=b'{"choices": [{"text": "x"}]}', kind="half"))) as server:
            assert "the answer broke off" in complaint(server, bill=True)
            assert len(server.heard) == 1

    def test_an_answer_without_end_is_not_read_to_its_end(self) -> None:
        with serve(MODEL, fault=in_turn(Fault(kind="flood"))) as server:
            assert "larger than" in complaint(server, bill=True)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["hang", "stall", *DRIPS])
    def test_an_answer_that_takes_too_long_is_not_asked_for_again(self, kind: Any) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(Fault(kind=kind))) as server:
            began = time.monotonic()
            line = complaint(server, waits, bill=True, timeout=0.3)
            assert 0.3 <= time.monotonic() - began < 1.3
            assert "no answer after 0.3 s; it is not asked for again, as it may have to be paid for" in line
            assert (len(server.heard), waits) == (1, [])

    @pytest.mark.slow
    def test_the_call_after_a_late_one_has_a_connection_of_its_own(self) -> None:
        with serve(MODEL, fault=in_turn(None, Fault(kind="interim"))) as server:
            model = endpoint(server, timeout=0.5)
            model.complete(Request("a"))
            with pytest.raises(UncertainError, match=r"no answer after 0\.5 s"):
                model.complete(Request("b"))
            assert model.complete(Request("c")).text == "c and on"
            first, second, third = (heard.port for heard in server.heard)
        assert first == second != third

    def test_an_answer_may_come_byte_by_byte_if_it_comes_in_time(self) -> None:
        with serve(MODEL, fault=in_turn(Fault(body=b'{"choices": [{"text": "slow"}]}', kind="bytes"))) as server:
            assert endpoint(server).complete(Request("x")).text == "slow"

    def test_a_packed_answer_is_not_unpacked(self) -> None:
        packed = Fault(body=b"\x1f\x8b", headers=(("Content-Encoding", "gzip"),))
        with serve(MODEL, fault=in_turn(packed)) as server:
            assert "compressed" in complaint(server, bill=True)
            assert server.heard[0].headers["accept-encoding"] == "identity"

    def test_neither_is_a_packed_complaint(self) -> None:
        packed = Fault(400, gzip.compress(b'{"error": "no"}'), (("Content-Encoding", "gzip"),))
        with serve(MODEL, fault=in_turn(packed)) as server:
            assert complaint(server) == "tiny: the server refuses the request (HTTP 400)"

    def test_long_complaints_are_shortened(self) -> None:
        with serve(MODEL, fault=in_turn(error(400, "so " * 1000))) as server:
            assert len(complaint(server)) < 300

    @pytest.mark.parametrize(
        ("request_", "words_of_it"), [(Request("\ud800"), "surrogates"), (Request("x", temperature=math.nan), "JSON")]
    )
    def test_what_cannot_be_sent_is_told(self, server: Server, request_: Request, words_of_it: str) -> None:
        with pytest.raises(ModelError, match=f"tiny: the request cannot be sent: .*{words_of_it}"):
            endpoint(server).complete(request_)
        assert server.heard == []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class TestAttempts:
    @pytest.mark.parametrize("status", RETRIED)
    def test_a_server_that_fails_is_asked_again_after_longer_and_longer_waits(self, status: int) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(*[error(status, "later")] * 3)) as server:
            assert endpoint(server, waits).complete(Request("x")).text == "x and on"
            assert (len(server.heard), waits) == (4, [1.0, 2.0, 4.0])

    @pytest.mark.parametrize("attempts", [1, 2, 9])
    def test_in_the_end_it_is_given_up(self, attempts: int) -> None:
        waits = Waits()
        with serve(MODEL, fault=lambda _heard: error(503, "later")) as server:
            line = complaint(server, waits, attempts=attempts)
            assert line == f"tiny: the server does not work (HTTP 503): later; attempts: {attempts}"
            assert len(server.heard) == attempts
        assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0][: attempts - 1]

    @pytest.mark.parametrize("kind", ["drop", "reset"])
    def test_a_connection_that_is_lost_when_all_was_sent_is_not_tried_again(self, kind: Any) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(Fault(kind=kind))) as server:
            line = complaint(server, waits, bill=True)
            assert line.startswith("tiny: there is no answer (")
            assert line.endswith("); it is not asked for again, as it may have to be paid for")
            assert (len(server.heard), waits) == (1, [])

    def test_what_was_lost_after_an_attempt_that_was_free_may_have_to_be_paid_for(self) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(error(503, "later"), Fault(kind="drop"))) as server:
            complaint(server, waits, bill=True)
            assert (len(server.heard), waits) == (2, [1.0])

    def test_a_connection_that_was_closed_between_calls_is_opened_again(self) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(Fault(body=b'{"choices": [{"text": "x"}]}', kind="last"))) as server:
            model = endpoint(server, waits)
            model.complete(Request("a"))
            assert server.closed.wait(20)
            assert model.complete(Request("b")).text == "b and on"
            assert len({heard.port for heard in server.heard}) == 2
        assert waits == []

    def test_a_dead_address_is_told_after_all_attempts(self) -> None:
        waits = Waits()
        url = f"http://127.0.0.1:{free_port()}/v1"
        with pytest.raises(ModelError, match=rf"tiny: the connection to {url} failed: .*refused; attempts: 4$"):
            Endpoint("tiny", url, wait=waits).complete(Request("x"))
        assert waits == [1.0, 2.0, 4.0]

    def test_an_unknown_host_is_told_after_all_attempts(self) -> None:
        waits = Waits()
        with pytest.raises(ModelError, match=r"the connection to http://nobody\.invalid/v1 failed"):
            Endpoint("tiny", "http://nobody.invalid/v1", key="none", wait=waits).complete(Request("x"))
        assert len(waits) == 3

    @pytest.mark.parametrize(
        ("silence", "attempts"),
        [
            *[
                (kind, 4)
                for kind in (httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ConnectError, httpx2.ProxyError)
            ],
            *[(kind, 1) for kind in (httpx2.ReadTimeout, httpx2.WriteTimeout)],
            *[(kind, 1) for kind in (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)],
        ],
    )
    def test_it_is_given_up_only_after_there_was_a_connection(
        self, monkeypatch: pytest.MonkeyPatch, silence: type[httpx2.TransportError], attempts: int
    ) -> None:
        asked: list[httpx2.Request] = []

        async def silent(_transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> NoReturn:
            asked.append(request)
            raise silence("")

        monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", silent)
        with pytest.raises(ModelError, match="no answer" if attempts == 1 else "no connection in time; att") as caught:
            Endpoint("tiny", "http://127.0.0.1/v1", wait=Waits()).complete(Request("x"))
        assert len(asked) == attempts
        assert isinstance(caught.value, UncertainError) == (attempts == 1)

    def test_a_proxy_that_cannot_be_is_told_of_without_its_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", "foo://user:sekrit@10.0.0.1")
        with pytest.raises(ModelError, match=r"tiny: http://10\.0\.0\.2/v1 cannot be used: ") as caught:
            Endpoint("tiny", "http://10.0.0.2/v1", key="none").complete(Request("x"))
        assert "sekrit" not in str(caught.value)

    @pytest.mark.parametrize("host", ["a..b", "a" * 70 + ".org"])
    def test_a_host_that_cannot_be_is_told_of(self, host: str) -> None:
        with pytest.raises(ModelError, match="tiny: "):
            Endpoint("tiny", f"http://{host}/v1", key="none", wait=Waits()).complete(Request("x"))

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"Retry_After": "7"}, 7.0),
            ({"Retry_After": "0.5"}, 0.5),
            ({"Retry_After": "60"}, 60.0),
            ({"Retry_After": "-3"}, 0.0),
            ({"Retry_After": "Wed, 21 Oct 2015 07:28:09 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 9.0),
            ({"Retry_After": "Wed, 21 Oct 2015 07:28:09 -0000", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 9.0),
            ({"Retry_After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
            ({"Retry_After": "soon"}, 1.0),
            ({"Retry_After": "nan"}, 1.0),
            ({"Retry_After": ""}, 1.0),
        ],
    )
    @pytest.mark.parametrize("status", [429, 503])
    def test_the_server_says_for_how_long(self, status: int, headers: Mapping[str, str], seconds: float) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(error(status, "later", **headers))) as server:
            endpoint(server, waits).complete(Request("x"))
        assert waits == [seconds]

    @pytest.mark.parametrize("asked", ["61", "1e999", "Wed, 21 Oct 2215 07:28:00 GMT"])
    def test_if_that_is_too_long_it_is_given_up(self, asked: str) -> None:
        waits = Waits()
        with serve(MODEL, fault=in_turn(error(429, "quota", Retry_After=asked))) as server:
            line = complaint(server, waits)
            assert "too many calls (HTTP 429): quota; it asks to wait for " in line
            assert line.endswith(" s, and 60 s is the most")
            assert (len(server.heard), waits) == (1, [])

    @pytest.mark.parametrize("kind", ["half", "flood", "whole", pytest.param("drip", marks=pytest.mark.slow)])
    def test_whatever_an_error_carries_the_status_decides(self, kind: Any) -> None:
        faults = in_turn(Fault(503, b'{"error": ' + b"[" * 100_000, kind=kind))
        with serve(MODEL, fault=faults) as server:
            assert endpoint(server).complete(Request("x")).text == "x and on"


class TestLimitOfTokens:
    @staticmethod
    def modern(heard: Heard) -> Fault | None:
        told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
        return error(400, told) if "max_tokens" in heard.body else None

    def test_it_is_named_as_the_server_wants_and_that_is_remembered(self) -> None:
        chat = Request((Message("user", "hi"),), max_tokens=11)
        waits = Waits()
        with serve(MODEL, fault=self.modern) as server:
            model = endpoint(server, waits, attempts=1)
            for _ in range(3):
                model.complete(chat)
            bodies = [heard.body for heard in server.heard]
        assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in bodies] == [
            (11, None),
            (None, 11),
            (None, 11),
            (None, 11),
        ]
        assert waits == []

    def test_a_server_that_refuses_both_is_asked_twice(self) -> None:
        with serve(
            MODEL, fault=lambda _heard: error(400, "max_tokens or max_completion_tokens is too large")
        ) as server:
            model = endpoint(server)
            for _ in range(2):
                with pytest.raises(ModelError, match="is too large"):
                    model.complete(Request((Message("user", "hi"),)))
            assert ["max_tokens" in heard.body for heard in server.heard] == [True, False] * 2

    def test_a_refusal_of_the_new_name_is_told_at_once(self) -> None:
        chat = Request((Message("user", "hi"),))
        with serve(MODEL, fault=self.modern) as server:
            model = endpoint(server)
            model.complete(chat)
            server.fault = in_turn(error(400, "max_completion_tokens is too large"))
            with pytest.raises(ModelError, match="is too large"):
                model.complete(chat)
            assert len(server.heard) == 3

    def test_it_is_the_old_name_for_texts(self) -> None:
        with serve(MODEL, fault=self.modern) as server:
            model = endpoint(server)
            model.complete(Request((Message("user", "hi"),)))
            server.fault = in_turn()
            model.complete(Request("x", max_tokens=11))
            assert server.heard[-1].body["max_tokens"] == 11

    def test_other_refusals_are_told_at_once(self) -> None:
        told = "Unsupported parameter: 'stop' is not supported with this model."
        with serve(MODEL, fault=lambda _heard: error(400, told)) as server:
            with pytest.raises(ModelError, match=r"tiny: the server refuses the request .* 'stop' is not"):
                endpoint(server).complete(Request((Message("user", "hi"),), stop=("\n",)))
            assert len(server.heard) == 1


class TestRefusedParameters:
    CHAT = Request((Message("user", "hi"),), temperature=0.5, seed=3)

    @staticmethod
    def strict(*refused: str) -> Callable[[Heard], Fault | None]:
        """A server that refuses these parameters, one after the other."""

        def fault(heard: Heard) -> Fault | None:
            names = [name for name in refused if name in heard.body]
            return error(400, f"Unsupported value: '{names[0]}' does not support this value.") if names else None

        return fault

    @pytest.mark.parametrize("refused", [("temperature",), ("seed",), ("seed", "temperature")])
    def test_they_are_left_out_if_they_are_not_essential_and_that_is_remembered(self, refused: tuple[str, ...]) -> None:
        waits = Waits()
        with serve(MODEL, fault=self.strict(*refused)) as server:
            model = endpoint(server, waits, attempts=1)
            for _ in range(2):
                model.complete(self.CHAT)
            sent = [{"temperature", "seed"} & set(heard.body) for heard in server.heard]
        assert (sent[0], sent[-2:]) == ({"temperature", "seed"}, [{"temperature", "seed"} - set(refused)] * 2)
        assert (len(sent), waits) == (len(refused) + 2, [])
        assert model.left_out == tuple(sorted(refused))
        with Database(None, SCHEMA) as nowhere:
            told = spent(Recorded(model, nowhere))
        assert [name for name in ("seed", "temperature") if f"refuses `{name}`, which is left out" in told] == [
            *model.left_out
        ]

    def test_a_thinking_model_may_refuse_most_of_them(self) -> None:
        def fault(heard: Heard) -> Fault | None:
            return TestLimitOfTokens.modern(heard) or self.strict("temperature", "seed")(heard)

        with serve(MODEL, fault=fault) as server:
            endpoint(server).complete(self.CHAT)
            assert len(server.heard) == 4
            assert set(server.heard[-1].body) == {"model", "messages", "max_completion_tokens"}

    def test_they_may_be_named_by_their_place(self) -> None:
        told = {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}
        with serve(MODEL, fault=in_turn(Fault(422, json.dumps(told).encode()))) as server:
            endpoint(server).complete(self.CHAT)
            assert ["seed" in heard.body for heard in server.heard] == [True, False]

    def test_the_refusal_of_both_attempts_is_told_and_nothing_is_remembered(self) -> None:
        with serve(MODEL, fault=lambda _heard: error(400, "the temperature of the server is too high")) as server:
            model = endpoint(server)
            for _ in range(2):
                with pytest.raises(ModelError, match="too high") as caught:
                    model.complete(self.CHAT)
                assert type(caught.value) is ModelError
            assert ["temperature" in heard.body for heard in server.heard] == [True, False] * 2

    def test_a_prompt_that_a_filter_holds_back_is_a_filtered_reply_and_no_error(self) -> None:
        told = {"error": {"code": "content_filter", "message": "The response was filtered.", "status": 400}}
        with serve(MODEL, fault=lambda _heard: Fault(400, json.dumps(told).encode())) as server:
            reply = endpoint(server).complete(self.CHAT)
            assert (reply.text, reply.withheld, len(server.heard)) == ("", "filtered", 1)

    def test_words_that_contain_their_names_do_not_count(self) -> None:
        with serve(MODEL, fault=lambda _heard: error(400, "unseeded, with a temperature_unit")) as server:
            complaint(server)
            assert len(server.heard) == 1


class TestSchema:
    FORM = Request((Message("user", "hi"),), schema='{"type": "object"}')

    @staticmethod
    def unable(heard: Heard) -> Fault | None:
        return error(422, "this type is unavailable now") if "response_format" in heard.body else None

    def test_a_reply_says_whether_it_was_enforced(self, server: Server) -> None:
        assert endpoint(server).complete(self.FORM).constrained
        assert not endpoint(server).complete(replace(self.FORM, schema="")).constrained

    def test_a_server_that_refuses_it_is_asked_without_it_and_that_is_remembered(self) -> None:
        waits = Waits()
        with serve(MODEL, fault=self.unable) as server:
            model = endpoint(server, waits, attempts=1)
            replies = [model.complete(self.FORM) for _ in range(3)]
            assert ["response_format" in heard.body for heard in server.heard] == [True, False, False, False]
        assert not any(reply.constrained for reply in replies)
        assert waits == []

    def test_the_refusal_of_both_requests_is_told_and_nothing_is_remembered(self) -> None:
        with serve(MODEL, fault=lambda _heard: error(400, "the prompt is too long")) as server:
            model = endpoint(server)
            with pytest.raises(ModelError, match="the prompt is too long") as caught:
                model.complete(self.FORM)
            assert type(caught.value) is ModelError
            server.fault = in_turn()
            assert model.complete(self.FORM).constrained

    def test_other_failures_are_not_tried_without_it(self) -> None:
        with serve(MODEL, fault=lambda _heard: error(403, "no")) as server:
            with pytest.raises(ModelError, match="not allowed"):
                endpoint(server).complete(self.FORM)
            assert len(server.heard) == 1

    def test_both_requests_are_one_call_on_record_with_one_bill(self) -> None:
        with serve(MODEL, fault=self.unable) as server, Database(None, SCHEMA) as base:
            record = Recorded(endpoint(server), base, price=Price(1e6, 1e6))
            reply = record.complete(self.FORM)
            assert (record.totals.calls, record.answered.calls) == (1, 1)
            assert record.spent == reply.usage.prompt + reply.usage.written
            assert record.complete(self.FORM) == reply


class TestThread:
    @pytest.mark.slow
    def test_it_ends_with_the_endpoint(self, server: Server) -> None:
        def threads() -> int:
            return sum(thread.name.startswith("connection") for thread in threading.enumerate())

        gc.collect()
        before = threads()
        model = endpoint(server)
        model.complete(Request("x"))
        assert threads() == before + 1
        del model
        gc.collect()
        assert threads() == before

    @pytest.mark.slow
    def test_a_program_ends_while_a_call_is_under_way(self) -> None:
        program = (
            "import contextlib, sys, threading\n"
            "from otherminds.language.endpoint import Endpoint\n"
            "from otherminds.language.model import Request\n"
            "model = Endpoint('tiny', sys.argv[1])\n"
            "def ask():\n"
            "    with contextlib.suppress(BaseException): model.complete(Request('x'))\n"
            "threading.Thread(target=ask, daemon=True).start()\n"
            "input()\n"
        )
        heard = Event()

        def fault(_heard: Heard) -> Fault:
            heard.set()
            return Fault(kind="interim")

        with serve(MODEL, fault=fault) as server:
            argv = [sys.executable, "-c", program, server.url]
            with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                assert heard.wait(20)
                _, complaints = running.communicate("\n", timeout=20)
        assert (running.returncode, complaints) == (0, "")


class TestKey:
    def test_it_is_the_one_given_or_that_of_the_environment(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        endpoint(server).complete(Request("x"))
        monkeypatch.setenv("OPENAI_API_KEY", " sk-around\n")
        endpoint(server).complete(Request("x"))
        endpoint(server, key="sk-given").complete(Request("x"))
        sent = [heard.headers["authorization"] for heard in server.heard]
        assert sent == ["Bearer none", "Bearer sk-around", "Bearer sk-given"]

    @pytest.mark.parametrize("url", ["https://api.openai.com/v1", "http://10.0.0.1/v1", "http://localhost.org/v1"])
    def test_other_machines_need_one(self, url: str) -> None:
        model = Endpoint("tiny", url)
        assert not model.is_local
        with pytest.raises(ModelError, match=r"there is no key \(set OPENAI_API_KEY"):
            model.complete(Request("x"))

    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "LOCALHOST", "a.localhost"])
    def test_this_machine_needs_none(self, host: str) -> None:
        model = Endpoint("tiny", f"http://{host}:{free_port()}/v1", attempts=1)
        assert model.is_local
        with pytest.raises(ModelError, match=r"the connection to .* failed"):
            model.complete(Request("x"))

    @pytest.mark.parametrize("key", ["sk-with space-0123", "sk-with\nline-0123", "sk-schlüssel-0123", "sk-\x00-0123"])
    def test_a_key_that_cannot_be_sent_is_not_shown(self, server: Server, key: str) -> None:
        line = complaint(server, key=key)
        assert "the key has characters that no key has" in line
        assert "0123" not in line

    @pytest.mark.parametrize("status", [200, *RETRIED, *NOT_RETRIED])
    @pytest.mark.parametrize("before", [0, 185])
    def test_it_is_nowhere_to_be_read(self, status: int, before: int, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        told = "." * before + f" bad key {SECRET}, and {SECRET}"
        with serve(MODEL, fault=lambda _heard: error(status, told)) as server:
            model = endpoint(server, key=SECRET)
            with pytest.raises(ModelError) as caught:
                model.complete(Request("x"))
            assert server.heard[0].headers["authorization"] == f"Bearer {SECRET}"
        seen = [str(caught.value), repr(caught.value), repr(model), str(model), model.name, model.identity, caplog.text]
        assert not any(SECRET[:10] in text for text in seen)

    def test_it_is_not_in_a_reply(self) -> None:
        told = json.dumps({"choices": [{"text": f"my key is {SECRET}."}], SECRET: [SECRET]}).encode()
        with serve(MODEL, fault=in_turn(Fault(body=told))) as server:
            assert endpoint(server, key=SECRET).complete(Request("x")).text == "my key is [the key]."

    def test_it_is_not_in_an_address_that_the_server_names(self) -> None:
        with serve(MODEL, fault=in_turn(error(302, "", Location=f"http://else/?key={SECRET}"))) as server:
            assert complaint(server, key=SECRET).endswith("(http://else/?key=[the key])")


class TestAtOnce:
    @pytest.mark.slow
    @pytest.mark.parametrize("at_once", [3, 110])
    def test_as_many_calls_are_under_way_as_wanted_and_no_more(self, at_once: int) -> None:
        begun, go_on = Semaphore(0), Event()

        def write(_request: Request) -> str:
            begun.release()
            go_on.wait()
            return "done"

        with serve(Scripted("slow", write)) as server, ThreadPoolExecutor(at_once + 5) as pool:
            model = endpoint(server, at_once=at_once)
            calls = [pool.submit(model.complete, Request("x")) for _ in range(at_once + 5)]
            try:
                assert all(begun.acquire(timeout=20) for _ in range(at_once))
                # this can only fail if there is one more, and costs the time it is given to show up
                assert not begun.acquire(timeout=0.2)
            finally:
                go_on.set()
            assert all(call.result().text == "done" for call in calls)
            assert server.most == at_once

    def test_a_call_that_waits_for_its_next_attempt_is_under_way(self) -> None:
        heard, faults = Semaphore(0), in_turn(error(503, "later"))

        def fault(call: Heard) -> Fault | None:
            heard.release()
            return faults(call)

        def wait(_seconds: float) -> None:
            assert heard.acquire(timeout=20)
            assert not heard.acquire(timeout=0.2)

        with serve(MODEL, fault=fault) as server, ThreadPoolExecutor(2) as pool:
            model = Endpoint("tiny", server.url, at_once=1, wait=wait)
            texts = [call.result().text for call in [pool.submit(model.complete, Request("x")) for _ in range(2)]]
        assert texts == ["x and on"] * 2


class TestAddresses:
    @pytest.mark.parametrize(
        ("text", "name", "url"),
        [
            ("gpt-5", "gpt-5", "https://api.openai.com/v1"),
            ("tiny@http://127.0.0.1:8080/v1", "tiny", "http://127.0.0.1:8080/v1"),
            ("org/tiny:q4@HTTPS://Host.org/v1/", "org/tiny:q4", "HTTPS://Host.org/v1"),
            ("org/tiny@main@http://[::1]:80/v1", "org/tiny@main", "http://[::1]:80/v1"),
            ("@cf/tiny", "@cf/tiny", "https://api.openai.com/v1"),
            ("@cf/tiny@https://host/v1", "@cf/tiny", "https://host/v1"),
        ],
    )
    def test_they_are_read_as_typed(self, text: str, name: str, url: str) -> None:
        model = Endpoint.parse(text)
        assert (model.name, model.identity, repr(model)) == (name, f"openai:{name}", f"Endpoint({name!r}, {url!r})")

    @pytest.mark.parametrize(
        "text",
        [
            "", "tiny@", " ", "tiny ", "ti\nny", "x" * 201, "@http://host/v1", "tiny@host:8080/v1",
            "tiny@http:/host",
            "tiny@ftp://host/v1", "tiny@file:///etc/passwd", "tiny@http://", "tiny@http:///v1", "tiny@http://:80/v1",
            "tiny@http://host:port/v1", "tiny@http://host:99999/v1", "tiny@http://[::1/v1", "tiny@http://ho st/v1",
            "tiny@http://host/v1\n", "tiny@http://host/v1?key=sekrit", "tiny@http://host/v1#sekrit",
            "tiny@http://user:sekrit@host/v1", "tiny@http://sekrit@host/v1", "tiny@http://höst/v1",
            "tiny@user:sekrit@host/v1", "tiny@http://a@http://sekrit",
        ],
    )  # fmt: skip
    def test_others_are_refused_in_one_line_without_their_secrets(self, text: str) -> None:
        with pytest.raises(InputError) as caught:
            Endpoint.parse(text)
        assert str(caught.value).isprintable()
        assert "sekrit" not in str(caught.value)

    @pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": math.nan}, {"attempts": 0}, {"at_once": 0}])
    def test_nothing_can_be_done_in_no_time(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InputError, match="an endpoint needs"):
            Endpoint("tiny", **wrong)


@pytest.mark.slow
def test_without_the_extra_it_is_said_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules['openai'] = None\n"
        "from otherminds.language.endpoint import Endpoint\n"
        "from otherminds.language.model import ModelError, Request\n"
        "try: Endpoint('tiny', 'http://127.0.0.1:1/v1').complete(Request('x'))\n"
        "except ModelError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "tiny: an endpoint needs an extra (in the checkout: pip install -e '.[openai]')\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no such key: sk-secret-123456", "no such key: [the key]"),
        ("you sent sk-secr***3456", "you sent [the key]***3456"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_no_part_of_a_key_is_in_an_error(text: str, shown: str) -> None:
    assert without_fragments("sk-secret-123456", text) == shown
    assert without_fragments("", text) == text

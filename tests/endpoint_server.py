"""An OpenAI-compatible server on this machine: any language model behind it, and faults as they are wanted.

    with serve(model) as server:
        Endpoint("any", server.url).complete(request)

`style` is how it tells log-probabilities; `next_tokens` says which follow a prompt, and without it there are none.
"""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from typing import Any, Literal, NamedTuple

from otherminds.language.model import LanguageModel, Message, ModelError, Prompt, Request

Body = dict[str, Any]
Style = Literal["text", "chat"]
NextTokens = Callable[[str], Mapping[str, float]]
TEXT, CHAT = "/v1/completions", "/v1/chat/completions"
UNLIKELY = -20.0
DRIPS: Mapping[str, tuple[str, str]] = {
    "drip": ("HTTP/1.1 {status} Told\r\nConnection: close\r\n\r\n", " "),
    "status": ("HTTP/1.1 {status} ", "o"),
    "header": ("HTTP/1.1 {status} Told\r\n", "X: x\r\n"),
    "interim": ("", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"),
    "chunks": ("HTTP/1.1 {status} Told\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"),
}
"""How an answer that never ends begins, and what is repeated in it, byte by byte."""
PAUSE = 0.005  # seconds between two bytes


class Heard(NamedTuple):
    """A call as it came, and the number of the port that it came from."""

    path: str
    headers: Mapping[str, str]
    body: Body
    port: int = 0


@dataclass(frozen=True)
class Fault:
    """What comes in place of an answer.

    last: all of it, and then the connection is closed; drop: nothing, and it is closed; reset: as drop, but as machines
    that crash do it; half: half of the body; stall: the same, and the rest never comes; hang: nothing, for as long as
    the server is there; bytes: all of it, byte by byte; drip: a body that goes on slowly; flood: one without end.
    status, header, interim, chunks: a line of the status, headers, responses with status 103 or chunks of the body that
    go on slowly.
    """

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    kind: Literal[
        "whole", "last", "bytes", "drop", "reset", "half", "stall", "hang", "flood",
        "drip", "status", "header", "interim", "chunks",
    ] = "whole"  # fmt: skip


def error(status: int, message: str, **headers: str) -> Fault:
    """An error as OpenAI's servers tell it; `_` is `-` in the names of headers."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Fault(status, json.dumps({"error": {"message": message}}).encode(), named)


def in_turn(*faults: Fault | None) -> Callable[[Heard], Fault | None]:
    """These faults for the first calls, one after the other (None: an answer), and answers from then on."""
    left, lock = list(faults), threading.Lock()

    def next_fault(_heard: Heard) -> Fault | None:
        with lock:
            return left.pop(0) if left else None

    return next_fault


def words(text: str) -> list[str]:
    """A text in pieces: words with the space before them."""
    return re.findall(r"\s*\S+|\s+\Z", text)


@dataclass
class Server:
    """A running server: where it is, what it has heard, and the most calls that were under way at one time.

    `models` are those that it lists (none: it has no such list), `looked` the questions for them, and `unlisted` what
    comes in place of the list.
    """

    model: LanguageModel
    style: Style = "text"
    echo: bool | Literal["refuse"] = False
    top: int = 20
    next_tokens: NextTokens | None = None
    cut: Callable[[str], list[str]] = words
    beginning: str = ""
    fault: Callable[[Heard], Fault | None] = field(default_factory=lambda: in_turn())
    url: str = ""
    heard: list[Heard] = field(default_factory=list)
    crashes: list[BaseException] = field(default_factory=list)
    models: tuple[str, ...] = ()
    looked: list[Heard] = field(default_factory=list)
    unlisted: Callable[[Heard], Fault | None] = field(default_factory=lambda: in_turn())
    under_way: int = 0
    most: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def hearing(self, heard: Heard) -> Iterator[None]:
        """Count a call while it is under way."""
        with self.lock:
            self.heard.append(heard)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            yield
        finally:
            with self.lock:
                self.under_way -= 1

    def answer(self, heard: Heard) -> Body | Fault:
        """What the model, or its table of next tokens, has to say."""
        body = heard.body
        try:
            if heard.path == TEXT and "logprobs" in body:
                return self._scored(body)
            if heard.path == TEXT:
                return self._written(request_of(body["prompt"], body), chat=False)
            if heard.path == CHAT:
                prompt = tuple(_message(message) for message in body["messages"])
                return self._written(request_of(prompt, body), chat=True)
        except ModelError as problem:
            return error(400, str(problem))
        return error(404, f"there is no {heard.path}")

    def listed(self, heard: Heard) -> Fault:
        """The list of models, or one of them."""
        self.looked.append(heard)
        alone = [name for name in self.models if heard.path == f"/v1/models/{name}"]
        if instead := self.unlisted(heard):
            return instead
        if not alone and (heard.path != "/v1/models" or not self.models):
            return error(404, f"there is no {heard.path}")
        rows = [{"id": name, "object": "model"} for name in self.models]
        return Fault(body=json.dumps({"id": alone[0]} if alone else {"object": "list", "data": rows}).encode())

    def _written(self, request: Request, *, chat: bool) -> Body:
        reply = self.model.complete(request)
        said = {"message": {"role": "assistant", "content": reply.text}} if chat else {"text": reply.text}
        return {
            "choices": [{"index": 0, "finish_reason": "length" if reply.cut else "stop", **said}],
            "usage": {
                "prompt_tokens": reply.usage.prompt,
                "completion_tokens": reply.usage.written,
                "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
            },
        }

    def _scored(self, body: Body) -> Body | Fault:
        prompt, most = body["prompt"], min(body["logprobs"], self.top)
        if body.get("echo") and self.echo == "refuse":
            return error(400, "echo is not supported")
        usage = {"prompt_tokens": len(self.cut(prompt)), "completion_tokens": body["max_tokens"]}
        if self.next_tokens is None:
            return {"choices": [{"text": "", "finish_reason": "length", "logprobs": None}], "usage": usage}
        if body.get("echo") and self.echo:
            told = self._echoed(prompt)
        else:
            told = self._told(sorted(self.next_tokens(prompt).items(), key=lambda pair: -pair[1])[:most])
        return {"choices": [{"text": "", "finish_reason": "length", "logprobs": told}], "usage": usage}

    def _told(self, best: list[tuple[str, float]]) -> Body:
        if self.style == "chat":
            pairs = [{"token": token, "logprob": value} for token, value in best]
            return {"content": [{**pairs[0], "top_logprobs": pairs}]}
        (token, value), *_ = best
        return {"tokens": [token], "token_logprobs": [value], "top_logprobs": [dict(best)], "text_offset": [0]}

    def _echoed(self, text: str) -> Body:
        assert self.next_tokens is not None
        pieces, before, values, places = self.cut(text), "", list[float | None](), list[int]()
        for piece in pieces:
            places.append(len(self.beginning + before))
            values.append(self.next_tokens(before).get(piece, UNLIKELY))
            before += piece
        if self.beginning:
            pieces, values, places = [self.beginning, *pieces], [None, *values], [0, *places]
        values[:1] = [None]
        return {"tokens": pieces, "token_logprobs": values, "top_logprobs": None, "text_offset": places}


def request_of(prompt: Prompt, body: Body) -> Request:
    """The request that a body was made of."""
    told = body.get("response_format")
    schema = "" if told is None else json.dumps(told["json_schema"]["schema"], sort_keys=True)
    most = body["max_tokens" if "max_tokens" in body else "max_completion_tokens"]
    return Request(prompt, most, body.get("temperature", 1.0), body.get("seed", 0), (*body.get("stop", ()),), schema)


def _message(told: Body) -> Message:
    content = told["content"]
    if isinstance(content, str):
        return Message(told["role"], content)
    text = next(part["text"] for part in content if part["type"] == "text")
    links = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    kind = "data:image/png;base64,"
    assert all(link.startswith(kind) for link in links)
    return Message(told["role"], text, tuple(base64.b64decode(link.removeprefix(kind)) for link in links))


class _Listener(ThreadingHTTPServer):
    """Threads that serve connections; all of them end with it, whatever is left open."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, server: Server) -> None:
        self.served = server
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Caller)

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            self._open.discard(request)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.served.closed.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        problem = sys.exception()
        if problem is not None and not isinstance(problem, OSError):
            self.served.crashes.append(problem)

    def hang_up(self) -> None:
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Caller(BaseHTTPRequestHandler):
    server: _Listener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._give(self.server.served.listed(Heard(self.path, headers, {}, self.client_address[1])))

    def do_POST(self) -> None:
        served = self.server.served
        length = int(self.headers["Content-Length"])
        raw = self.rfile.read(length)
        if len(raw) < length:  # who asked has died meanwhile
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        heard = Heard(self.path, headers, json.loads(raw), self.client_address[1])
        with served.hearing(heard):
            answer = served.fault(heard) or served.answer(heard)
            fault = answer if isinstance(answer, Fault) else Fault(body=json.dumps(answer).encode())
        self._give(fault)

    def _give(self, fault: Fault) -> None:
        if fault.kind == "whole":
            self._send(fault, fault.body)
        else:
            self.close_connection = True
            self._break(fault)

    def _send(self, fault: Fault, body: bytes) -> None:
        head = [f"HTTP/1.1 {fault.status} Told", f"Content-Length: {len(fault.body)}"]
        head += [f"{name}: {value}" for name, value in fault.headers]
        answer = "\r\n".join([*head, "", ""]).encode() + body
        size = 1 if fault.kind == "bytes" else len(answer)
        for begin in range(0, len(answer), size):
            self.wfile.write(answer[begin : begin + size])

    def _break(self, fault: Fault) -> None:
        over = self.server.served.over
        if fault.kind == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
        if fault.kind in ("last", "bytes"):
            self._send(fault, fault.body)
        if fault.kind in ("half", "stall"):
            self._send(fault, fault.body[: len(fault.body) // 2])
        if fault.kind in ("hang", "stall"):
            over.wait()
        if fault.kind == "flood":
            self.wfile.write(DRIPS["drip"][0].format(status=fault.status).encode())
            while not over.is_set():
                self.wfile.write(b" " * 100_000)
        if fault.kind in DRIPS:
            beginning, part = DRIPS[fault.kind]
            self.wfile.write(beginning.format(status=fault.status).encode())
            bytes_of_it = (part[i : i + 1].encode() for i in cycle(range(len(part))))
            while not over.wait(PAUSE):
                self.wfile.write(next(bytes_of_it))

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve(
    model: LanguageModel,
    *,
    style: Style = "text",
    echo: bool | Literal["refuse"] = False,
    top: int = 20,
    next_tokens: NextTokens | None = None,
    cut: Callable[[str], list[str]] = words,
    beginning: str = "",
    fault: Callable[[Heard], Fault | None] | None = None,
) -> Iterator[Server]:
    """A server of a model, until the block ends.

    `echo` is whether it repeats the prompt with log-probabilities: not at all and silently (False), it does (True), or
    it refuses. `cut` is its tokeniser, and `beginning` the token it puts before all, which an echo shows.
    """
    server = Server(model, style, echo, top, next_tokens, cut, beginning, fault or in_turn())
    with _Listener(server) as listener:
        server.url = f"http://127.0.0.1:{listener.server_address[1]}/v1"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            listener.shutdown()
            listener.hang_up()
            thread.join()
    assert not server.crashes, server.crashes

"""A language model on an OpenAI-compatible server (extra `openai`)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from ipaddress import ip_address
from itertools import groupby
from operator import itemgetter
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from otherminds.errors import InputError, install_hint
from otherminds.language import wire
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, UncertainError
from otherminds.language.providers import key_in, key_variables

if TYPE_CHECKING:
    from otherminds.language.connection import Connection

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
WRITTEN = "write MODEL@https://HOST/v1, or MODEL alone"
LONGEST_WAIT = 60.0  # seconds that a busy server may ask to wait; chosen
TOPS = (1000, 20, 5)  # most probable next tokens to ask for, in turn until the server accepts; limits of common servers
LONGEST_NAME = 200  # characters of a model's name; chosen
SHORTEST_SECRET = 8  # characters; a shorter key is a word for a server that needs none, and stays in replies; chosen
FRAGMENT = 6  # characters in a row that an error may not have in common with the key; chosen
HIDDEN = "[the key]"
# The new names of parameters that some servers refuse, and None for those that are left out then
CHANGES = {"max_tokens": "max_completion_tokens", "temperature": None, "seed": None}
ADDRESS = re.compile(r"@(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+", re.IGNORECASE)


class Endpoint:
    """A model that an OpenAI-compatible server offers over HTTP.

    The key is the one given, or that in the environment for the provider at this address; OPENAI_API_KEY is for those
    that are not in providers.toml. Servers on this machine need none. After a refused connection, too many calls or a
    server fault it asks again, up to `attempts` times in all. A call that may have to be paid for is not repeated: it
    raises UncertainError, as does any failure after a part was answered.
    """

    def __init__(
        self,
        model: str,
        url: str = OPENAI,
        *,
        key: str | None = None,
        keys: Sequence[str] | None = None,
        timeout: float = 60.0,
        attempts: int = 4,
        at_once: int = 8,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Name the model and the address. Nothing is sent before the first call.

        `keys`: the environment variables that may hold its key, if they are not those of the provider at this address.
        `timeout` is in seconds, for each attempt from the connection to the last byte; at most `at_once` calls are
        under way at any time; `wait` sleeps for a number of seconds between attempts. Raises InputError for a wrong
        name, address or number.
        """
        if not (timeout > 0 and attempts >= 1 and at_once >= 1):
            raise InputError("an endpoint needs some time, and at least one attempt and one call at once")
        if not model.isprintable() or model != model.strip() or not 0 < len(model) <= LONGEST_NAME:
            message = f"a model's name has 1 to {LONGEST_NAME} printable characters and no space around them"
            raise InputError(message, hint=WRITTEN)
        self.name = model
        self.identity = f"openai:{model}"
        self.is_local = _is_local(url)
        self._url = url.rstrip("/")
        self._keys = key_variables(url) if keys is None else tuple(keys)
        self._key = (key_in(self._keys) if key is None else key).strip()
        self._timeout, self._attempts, self._wait = timeout, attempts, wait
        self._slots = BoundedSemaphore(at_once)
        self._changes: Mapping[str, dict[str, str | None]] = {wire.TEXT: {}, wire.CHAT: {}}
        self._constrains = True
        self._top = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """The endpoint that `MODEL@URL` or `MODEL` names. Raises InputError for a wrong name or address."""
        model, *url = ADDRESS.split(text, maxsplit=1)
        if not url and "@" in text[1:]:
            raise InputError("the address of an endpoint begins with http:// or https://", hint=WRITTEN)
        return cls(model, *url)

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self._url!r})"

    @property
    def left_out(self) -> tuple[str, ...]:
        """The parameters that the server refused, and that its calls do without, such as `temperature`."""
        changes = [change for by_path in self._changes.values() for change in by_path.items()]
        return tuple(sorted({name for name, new_name in changes if new_name is None}))

    def complete(self, request: Request) -> Reply:
        """The text after the prompt. Raises ModelError if there is no answer, UncertainError if it may cost money.

        If the server refuses a request with a schema, it is sent without it, as all later ones are if that works.
        """
        with self._call() as post:
            if request.schema and self._constrains:
                with suppress(wire.RefusalError):
                    return wire.complete(post, request)
            reply = wire.complete(post, request, constrain=False)
            if request.schema:
                self._constrains = False
            return reply

    def score(self, request: Continuations) -> Scores:
        """log p(text | prompt) in nats for every text.

        Raises ModelError if the server does not tell it, and the errors of `complete`.
        """
        with self._call() as post:
            for top in TOPS[self._top :]:
                try:
                    return wire.score(post, request, top)
                except wire.RefusalError:
                    if top == TOPS[-1]:
                        raise
                    self._top = TOPS.index(top) + 1
        raise AssertionError("the last of the tops answers or raises")

    @contextmanager
    def _call(self) -> Iterator[wire.Post]:
        """The function that posts the parts of one call.

        Errors within name the model and say whether the call may cost money. Neither they nor answers contain the key,
        even if the server repeats it.
        """
        answered = list[str]()

        def post(path: str, body: wire.Body) -> Mapping[str, Any]:
            answer = self._post(path, body)
            answered.append(path)
            return _without(self._key, answer) if len(self._key) >= SHORTEST_SECRET else answer

        try:
            yield post
        except ModelError as error:
            message = without_fragments(self._key, str(error))
            kind = UncertainError if answered or isinstance(error, UncertainError) else ModelError
            raise kind(f"{self.name}: {message}") from None

    def _post(self, path: str, body: wire.Body) -> Mapping[str, Any]:
        failed = 0
        with self._slots:
            while True:
                try:
                    return self._ask(path, body)
                except wire.BusyError as busy:
                    failed += 1
                    self._pause(busy, failed)

    def _pause(self, busy: wire.BusyError, failed: int) -> None:
        """Wait before the next attempt. Raises ModelError if attempts are used up or the server asks for too long."""
        if failed >= self._attempts:
            raise ModelError(f"{busy}; attempts: {failed}") from None
        if busy.wait is not None and busy.wait > LONGEST_WAIT:
            reason = f"it asks to wait for {busy.wait:,.0f} s, and {LONGEST_WAIT:.0f} s is the most"
            raise ModelError(f"{busy}; {reason}") from None
        self._wait(float(min(2 ** (failed - 1), LONGEST_WAIT)) if busy.wait is None else busy.wait)

    def _ask(self, path: str, body: wire.Body) -> Mapping[str, Any]:
        """One attempt. A parameter that the server refuses by name is changed and sent again.

        If that works, it is changed in all later calls.
        """
        changes = dict(self._changes[path])
        while True:
            sent = {"model": self.name, **_changed(body, changes)}
            try:
                answer = self._connection.ask(path, sent)
            except wire.RefusalError as refusal:
                name = _refused(str(refusal), sent)
                if name is None:
                    raise
                changes[name] = CHANGES[name]
            else:
                self._changes[path].update(changes)
                return answer

    @cached_property
    def _connection(self) -> Connection:
        """The connection, which is opened at its first use. Raises ModelError if it cannot be."""
        if not self._key and not self.is_local:
            raise ModelError("there is no key", hint=f"set {self._keys[0]}, to any word if the server needs none")
        if not self._key.isascii() or not self._key.isprintable() or " " in self._key:
            raise ModelError("the key has characters that no key has", hint=f"look at {' and '.join(self._keys)}")
        try:
            from otherminds.language.connection import Connection
        except ImportError:
            raise ModelError("an endpoint needs an extra", hint=install_hint("openai")) from None
        return Connection(self._url, self._key or "none", timeout=self._timeout, is_local=self.is_local)


def _changed(body: wire.Body, changes: Mapping[str, str | None]) -> wire.Body:
    return {name: value for old, value in body.items() if (name := changes.get(old, old))}


def _refused(message: str, sent: wire.Body) -> str | None:
    """The parameter that a refusal names and that can be changed; None if there is none."""
    for name, new_name in CHANGES.items():
        if name in sent and re.search(rf"\b{new_name or name}\b", message):
            return name
    return None


def without_fragments(key: str, text: str) -> str:
    """A text without the key, whole or in parts: servers quote the beginning or the end of a key that they refuse."""
    length = FRAGMENT if len(key) >= SHORTEST_SECRET else len(key)
    parts = {key[i : i + length] for i in range(len(key) - length + 1)} - {""}
    hidden = [False] * len(text)
    for i in range(len(text)):
        for part in parts:
            if text.startswith(part, i):
                hidden[i : i + len(part)] = [True] * len(part)
    runs = groupby(zip(text, hidden, strict=True), key=itemgetter(1))
    return "".join(HIDDEN if is_hidden else "".join(c for c, _ in run) for is_hidden, run in runs)


def _without(key: str, payload: Any) -> Any:
    """The JSON value with the key hidden in every text and name."""
    if isinstance(payload, str):
        return payload.replace(key, HIDDEN)
    if isinstance(payload, Mapping):
        return {_without(key, name): _without(key, value) for name, value in payload.items()}
    return [_without(key, value) for value in payload] if isinstance(payload, list) else payload


def _is_local(url: str) -> bool:
    """Whether a valid address is on this machine.

    Raises InputError for any other address, without repeating it: it may contain a password.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise InputError("the address of the endpoint cannot be read", hint=WRITTEN) from None
    if not url.isprintable() or " " in url:
        raise InputError("the address of the endpoint has spaces or unprintable characters", hint=WRITTEN)
    if parts.scheme not in ("http", "https"):
        raise InputError("the address of an endpoint begins with http:// or https://", hint=WRITTEN)
    if parts.username is not None or parts.password is not None:
        raise InputError("the address of an endpoint has no user and no password", hint=f"set {KEY} to the key")
    if not HOST.fullmatch(host):
        raise InputError("the address of the endpoint names no host", hint=WRITTEN)
    if "?" in url or "#" in url:
        raise InputError("the address of an endpoint has no ? and no #", hint=WRITTEN)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

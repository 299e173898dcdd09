"""One call to a server over HTTP, and all that can come of it (extra `openai`)."""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import openai

from otherminds.language import wire
from otherminds.language.model import ModelError, UncertainError

LARGEST = 10_000_000
CONNECTING = 10.0
IDLE = 3.0
"""Servers close connections that are idle, the common ones after 5 s; a call must not be under way to one that does."""
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)
NOT_AGAIN = "it is not asked for again, as it may have to be paid for"
KEY = "set OPENAI_API_KEY to a key of this server"
ADDRESS = "the address mostly ends in /v1"
MEANINGS = {
    401: ("the key is refused", KEY),
    403: ("the key is not allowed to do this", KEY),
    404: ("there is no such model or path", f"look at the model's name; {ADDRESS}"),
}


class _Bounded(httpx2.SyncByteStream):
    """The bytes of an answer that has begun: not too many, and not too late."""

    def __init__(self, stream: Any, seconds: float) -> None:
        self._stream, self._seconds = stream, seconds
        self._until = time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        try:
            for part in self._stream:
                size += len(part)
                if size > LARGEST:
                    raise UncertainError(f"the answer is larger than {LARGEST:,} bytes")
                if time.monotonic() > self._until:
                    raise _late(self._seconds)
                yield part
        except httpx2.TimeoutException:
            raise _late(self._seconds) from None
        except httpx2.TransportError:
            raise UncertainError("the answer broke off") from None

    def close(self) -> None:
        self._stream.close()


class Connection:
    """A server at an address; it keeps connections open, and closes them when it is itself forgotten."""

    def __init__(self, url: str, key: str, *, timeout: float, here: bool) -> None:
        """Nothing is sent yet; `here`: the address is on this machine. Raises ModelError if it cannot be used."""
        self._url, self._timeout = url, timeout
        try:
            http = httpx2.Client(
                event_hooks={"response": [_check(timeout)]},
                limits=httpx2.Limits(keepalive_expiry=IDLE),
                # this machine is behind no proxy, and without encryption there are no certificates to load
                trust_env=not here,
                verify=not here or url.lower().startswith("https"),
            )
            weakref.finalize(self, http.close)
            self._client = openai.OpenAI(
                api_key=key,
                base_url=url,
                timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECTING)),
                max_retries=0,
                default_headers={"Accept-Encoding": "identity"},
                http_client=http,
            )
        except (openai.OpenAIError, httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            raise ModelError(f"{url} cannot be used: {error}") from None

    def ask(self, path: str, body: wire.Body) -> Mapping[str, Any]:
        """The answer to one call.

        Raises ModelError: BusyError if another may help, RefusalError if it is refused, UncertainError if it may have
        to be paid for.
        """
        try:
            answer = self._client.post(path, cast_to=httpx2.Response, body=body)
        except ModelError:
            raise
        except openai.APIConnectionError as error:
            raise self._silence(error.__cause__) from None
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError) as error:
            raise ModelError(f"the request cannot be sent: {error}") from None
        return _payload(answer.content)

    def _silence(self, cause: BaseException | None) -> ModelError:
        """What it means that no answer began."""
        why = str(cause).rstrip(".")
        if isinstance(cause, UNSENT):
            return wire.BusyError(f"the connection to {self._url} failed: {why or 'no connection in time'}")
        if isinstance(cause, httpx2.TimeoutException):
            return _late(self._timeout)
        return UncertainError(f"there is no answer{why and f' ({why})'}; {NOT_AGAIN}")


def _check(timeout: float) -> Callable[[httpx2.Response], None]:
    """What is done with an answer as soon as it begins."""

    def check(response: httpx2.Response) -> None:
        response.stream = _Bounded(response.stream, timeout)
        if not response.is_success:
            raise _failure(response)
        if _is_packed(response):
            raise UncertainError("the answer is compressed, which nobody asked for")

    return check


def _is_packed(response: httpx2.Response) -> bool:
    """Whether few bytes may turn out to be many."""
    return response.headers.get("content-encoding", "identity").lower() != "identity"


def _late(seconds: float) -> UncertainError:
    return UncertainError(f"there is no answer after {seconds:g} s; {NOT_AGAIN}", hint="allow it more time")


def _payload(raw: bytes) -> Mapping[str, Any]:
    if not raw.strip():
        raise UncertainError("the answer is empty")
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        kind = "a web page" if raw.lstrip().startswith(b"<") else "not JSON"
        raise UncertainError(f"the answer is {kind}", hint=ADDRESS) from None
    if not isinstance(found, Mapping):
        raise UncertainError(wire.STRANGE)
    return found


def _failure(response: httpx2.Response) -> ModelError:
    """What it means that the server answers with another status than success."""
    status = response.status_code
    said = "" if status == 401 else _said(response)
    told = f" (HTTP {status})" + (f": {said}" if said else "")
    if status == 429 or status >= 500:
        what = "the server has had too many calls" if status == 429 else "the server does not work"
        return wire.BusyError(what + told, _asked_for(response.headers))
    if status in (400, 422):
        return wire.RefusalError(f"the server refuses the request{told}")
    if status < 400:
        where = wire.complaint(response.headers.get("location"))
        return ModelError(f"the server sends elsewhere{told}", hint=where or None)
    meaning, hint = MEANINGS.get(status, ("the server refuses the request", None))
    return ModelError(meaning + told, hint=hint)


def _said(response: httpx2.Response) -> str:
    try:
        return "" if _is_packed(response) else wire.complaint(json.loads(response.read()))
    except (ValueError, RecursionError):
        # the status is enough, whatever comes or does not come with it
        return ""


def _asked_for(headers: httpx2.Headers) -> float | None:
    """For how many seconds the server asks to wait: a number, or the time from its own date to another."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        until, now = _date(text), _date(headers.get("date", "")) or datetime.now(UTC)
        seconds = (until - now).total_seconds() if until else math.nan
    return None if math.isnan(seconds) else max(0.0, seconds)


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)

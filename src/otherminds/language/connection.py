"""Calls to a server over HTTP, with limits on its answers, and errors for every way in which they fail."""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any

import httpx2
import openai

from otherminds.language import wire
from otherminds.language.model import ModelError, UncertainError

LARGEST = 10_000_000  # bytes of an answer; chosen
CONNECTING = 10.0  # seconds for a connection; chosen
IDLE = 3.0  # seconds that an idle connection is kept; common servers close it after 5 s, which would lose a call
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
    """The bytes of an answer, limited in number and in time."""

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
    """Connections to one server, which are reused, and closed when this object is garbage-collected."""

    def __init__(self, url: str, key: str, *, timeout: float, is_local: bool) -> None:
        """Prepare connections without sending anything. `timeout` is in seconds; `is_local`: `url` is on this machine.

        Raises ModelError if the address or the key cannot be used.
        """
        self._url, self._timeout = url, timeout
        try:
            http = httpx2.Client(
                event_hooks={"response": [partial(_check, timeout)]},
                limits=httpx2.Limits(keepalive_expiry=IDLE),
                # no proxy lies in front of this machine, and plain HTTP needs no certificates
                trust_env=not is_local,
                verify=not is_local or url.lower().startswith("https"),
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

        Raises BusyError if the call may be repeated, RefusalError if the server refuses it, UncertainError if it may
        have to be paid for, and ModelError for any other failure.
        """
        try:
            answer = self._client.post(path, cast_to=httpx2.Response, body=body)
        except ModelError:
            raise
        except openai.APIConnectionError as error:
            raise self._silence(error.__cause__) from None
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError) as error:
            raise ModelError(f"the request cannot be sent: {error}") from None
        if not answer.content.strip():
            raise UncertainError("the answer is empty")
        try:
            payload = json.loads(answer.content)
        except (ValueError, RecursionError):
            kind = "a web page" if answer.content.lstrip().startswith(b"<") else "not JSON"
            raise UncertainError(f"the answer is {kind}", hint=ADDRESS) from None
        if not isinstance(payload, Mapping):
            raise UncertainError(wire.STRANGE)
        return payload

    def _silence(self, cause: BaseException | None) -> ModelError:
        """The error for a call to which no answer began."""
        why = str(cause).rstrip(".")
        if isinstance(cause, UNSENT):
            return wire.BusyError(f"the connection to {self._url} failed: {why or 'no connection in time'}")
        if isinstance(cause, httpx2.TimeoutException):
            return _late(self._timeout)
        return UncertainError(f"there is no answer{why and f' ({why})'}; {NOT_AGAIN}")


def _check(timeout: float, response: httpx2.Response) -> None:
    """Limit an answer as soon as it begins. Raises ModelError if it is a failure or compressed."""
    response.stream = _Bounded(response.stream, timeout)
    if not response.is_success:
        raise _failure(response)
    if _is_packed(response):
        raise UncertainError("the answer is compressed, which was not asked for")


def _is_packed(response: httpx2.Response) -> bool:
    """Whether the answer is compressed, so that few bytes could become many."""
    return response.headers.get("content-encoding", "identity").lower() != "identity"


def _late(seconds: float) -> UncertainError:
    return UncertainError(f"there is no answer after {seconds:g} s; {NOT_AGAIN}", hint="allow it more time")


def _failure(response: httpx2.Response) -> ModelError:
    """The error for an answer with a status other than success."""
    status, complaint = response.status_code, ""
    if status != 401 and not _is_packed(response):
        with suppress(ValueError, RecursionError):  # the status says enough without a readable message
            complaint = wire.complaint(json.loads(response.read()))
    detail = f" (HTTP {status})" + (f": {complaint}" if complaint else "")
    if status == 429 or status >= 500:
        what = "the server has had too many calls" if status == 429 else "the server does not work"
        return wire.BusyError(what + detail, _asked_for(response.headers))
    if status in (400, 422):
        return wire.RefusalError(f"the server refuses the request{detail}")
    if status < 400:
        where = wire.complaint(response.headers.get("location"))
        return ModelError(f"the server sends elsewhere{detail}", hint=where or None)
    meaning, hint = MEANINGS.get(status, ("the server refuses the request", None))
    return ModelError(meaning + detail, hint=hint)


def _asked_for(headers: httpx2.Headers) -> float | None:
    """The seconds for which the server asks to wait, given as a number or as a date; None if neither can be read."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        until, now = _date(text), _date(headers.get("date", "")) or datetime.now(UTC)
        seconds = (until - now).total_seconds() if until else math.nan
    return None if math.isnan(seconds) else max(0.0, seconds)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)

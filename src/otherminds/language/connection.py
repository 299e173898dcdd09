"""Calls to a server over HTTP, with limits on its answers, and errors for every way in which they fail."""

from __future__ import annotations

import asyncio
import json
import math
import os
import weakref
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Thread, current_thread
from typing import Any

import httpx2
import openai

from otherminds.language import wire
from otherminds.language.model import ModelError, UncertainError

LARGEST = 10_000_000  # bytes of an answer; chosen
CONNECTING = 10.0  # seconds for a connection; chosen
CONNECTING_SHARE = 0.9  # of the time for a call, at most, so that a failure to connect is known as one; chosen
COMPLAINING = 1.0  # seconds for the message of a failure, whose status says enough; chosen
GRACE = 0.5  # seconds beyond its time after which a call is given up even if its thread does not answer; chosen
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


class _Limited(httpx2.AsyncByteStream):
    """The bytes of an answer, limited in number."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for part in self._stream:
                size += len(part)
                if size > LARGEST:
                    raise UncertainError(f"the answer is larger than {LARGEST:,} bytes")
                yield part
        except httpx2.TransportError:
            raise UncertainError("the answer broke off") from None

    async def aclose(self) -> None:
        await self._stream.aclose()


class Connection:
    """Connections to one server, which are reused, and closed when this object is garbage-collected.

    They belong to an event loop in a thread of its own, where a call can be ended at any byte when its time is over.
    Time limits of HTTP clients hold for single reads, so a slow trickle of headers would evade them.
    """

    def __init__(self, url: str, key: str, *, timeout: float, is_local: bool) -> None:
        """Prepare connections without sending anything. `timeout` is in seconds; `is_local`: `url` is on this machine.

        Raises ModelError if the address or the key cannot be used.
        """
        self._url, self._timeout = url, timeout
        try:
            http = httpx2.AsyncClient(
                event_hooks={"response": [_check]},
                limits=httpx2.Limits(keepalive_expiry=IDLE),
                # no proxy lies in front of this machine, and plain HTTP needs no certificates
                trust_env=not is_local,
                verify=not is_local or url.lower().startswith("https"),
            )
            self._client = openai.AsyncOpenAI(
                api_key=key,
                base_url=url,
                timeout=httpx2.Timeout(None, connect=min(CONNECTING_SHARE * timeout, CONNECTING)),
                max_retries=0,
                default_headers={"Accept-Encoding": "identity"},
                http_client=http,
            )
        except (openai.OpenAIError, httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            raise ModelError(f"{url} cannot be used: {error}") from None
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()
        thread = Thread(target=_run, args=(runner, http), name=f"connection to {url}", daemon=True)
        thread.start()
        weakref.finalize(self, _stop, self._loop, thread)

    def ask(self, path: str, body: wire.Body) -> Mapping[str, Any]:
        """The answer to one call, which ends in time: the limit covers all from the connection to the last byte.

        Raises BusyError if the call may be repeated, RefusalError if the server refuses it, UncertainError if it may
        have to be paid for, and ModelError for any other failure.
        """
        call = asyncio.run_coroutine_threadsafe(self._post(path, body), self._loop)
        try:
            content = call.result(self._timeout + GRACE)
        except ModelError:
            raise
        except TimeoutError:
            raise _late(self._timeout) from None
        except openai.APIConnectionError as error:
            raise self._silence(error.__cause__) from None
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError) as error:
            raise ModelError(f"the request cannot be sent: {error}") from None
        finally:
            call.cancel()  # if the user broke it off
            del call  # it holds the error, whose traceback holds this frame
        if not content.strip():
            raise UncertainError("the answer is empty")
        try:
            payload = json.loads(content)
        except (ValueError, RecursionError):
            kind = "a web page" if content.lstrip().startswith(b"<") else "not JSON"
            raise UncertainError(f"the answer is {kind}", hint=ADDRESS) from None
        if not isinstance(payload, Mapping):
            raise UncertainError(wire.STRANGE)
        return payload

    async def _post(self, path: str, body: wire.Body) -> bytes:
        async with asyncio.timeout(self._timeout):
            return (await self._client.post(path, cast_to=httpx2.Response, body=body)).content

    def _silence(self, error: BaseException | None) -> ModelError:
        """The error for a call to which no answer began."""
        why = _first_cause(error)
        if isinstance(error, UNSENT):
            return wire.BusyError(f"the connection to {self._url} failed: {why or 'no connection in time'}")
        return UncertainError(f"there is no answer{why and f' ({why})'}; {NOT_AGAIN}")


def _run(runner: asyncio.Runner, http: httpx2.AsyncClient) -> None:
    """Run the event loop of a connection until it is stopped, then close its sockets."""
    with runner:
        runner.get_loop().run_forever()
        runner.run(http.aclose())


def _stop(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    """Stop an event loop, and wait until its sockets are closed."""
    loop.call_soon_threadsafe(loop.stop)
    if thread is not current_thread():  # where garbage may be collected, too
        thread.join(CONNECTING)


def _first_cause(error: BaseException | None) -> str:
    """The message of the first in the chain of errors that led to this one, in the words of the operating system."""
    while error and (earlier := error.__cause__ or error.__context__):
        error = earlier.exceptions[0] if isinstance(earlier, BaseExceptionGroup) else earlier
    if isinstance(error, OSError) and (error.errno or 0) > 0:
        return os.strerror(error.errno or 0)
    return "" if error is None else str(error).rstrip(".")


async def _check(response: httpx2.Response) -> None:
    """Limit an answer as soon as it begins. Raises ModelError if it is a failure or compressed."""
    response.stream = _Limited(response.stream)
    if not response.is_success:
        raise await _failure(response)
    if _is_packed(response):
        raise UncertainError("the answer is compressed, which was not asked for")


def _is_packed(response: httpx2.Response) -> bool:
    """Whether the answer is compressed, so that few bytes could become many."""
    return response.headers.get("content-encoding", "identity").lower() != "identity"


def _late(seconds: float) -> UncertainError:
    return UncertainError(f"there is no answer after {seconds:g} s; {NOT_AGAIN}", hint="allow it more time")


async def _failure(response: httpx2.Response) -> ModelError:
    """The error for an answer with a status other than success."""
    status, complaint, payload = response.status_code, "", None
    if status != 401 and not _is_packed(response):
        with suppress(TimeoutError, ValueError, RecursionError):  # the status says enough without a readable message
            async with asyncio.timeout(COMPLAINING):
                payload = json.loads(await response.aread())
                complaint = wire.complaint(payload)
    detail = f" (HTTP {status})" + (f": {complaint}" if complaint else "")
    if status == 429 or status >= 500:
        what = "the server has had too many calls" if status == 429 else "the server does not work"
        return wire.BusyError(what + detail, _asked_for(response.headers))
    if status == 400 and wire.is_filtered(payload):
        return wire.FilteredError(f"the server's filter held the request back{detail}")
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

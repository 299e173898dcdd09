"""The models that a server lists (GET /models), asked for once, with a short deadline.

Only the standard library is used, so that a server can be looked at without the extra that calls to it need.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from http.client import HTTPException
from threading import Thread
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener, getproxies

DEADLINE = 1.5  # seconds for all that is asked here: an error about a model is to come within 3 s; chosen
LARGEST = 10_000_000  # bytes of an answer; chosen
LONGEST_NAME = 200  # characters of a model's name, as calls allow
OK, UNAUTHORIZED = 200, 401
SCOPED = ("permission", "scope")  # words of refusals of a valid key that may not list models
INVALID = ("api key not valid", "invalid api key", "incorrect api key")  # words of other refusals of a key


class Listing(NamedTuple):
    """What a server tells of its models: their names, and whether the model in question is one, by any of its names.

    `fault` says in words why there are no names. `unreachable`: there is no server, or it does not answer in time.
    """

    names: tuple[str, ...] = ()
    has_model: bool = False
    fault: str = ""
    unreachable: bool = False
    refuses_key: bool = False


class _NoRedirect(HTTPRedirectHandler):
    """Redirects are not followed: they would take the key along."""

    def redirect_request(self, *_: Any) -> None:
        return None


def listing(url: str, headers: Mapping[str, str], model: str, *, is_local: bool) -> Listing:
    """The models of the server at an address, and whether it has `model` (empty: not asked)."""
    proxies = [ProxyHandler({})] if is_local else []
    opener = build_opener(_NoRedirect, *proxies)
    answers = list[Listing]()
    thread = Thread(target=lambda: answers.append(_listing(opener, url, headers, model, is_local)), daemon=True)
    thread.start()
    thread.join(DEADLINE)  # a name that is looked up, or a server that drips, knows no other deadline
    late = Listing(fault=f"no answer within {DEADLINE:g} s", unreachable=is_local)
    return answers[0] if answers else late


def _listing(opener: OpenerDirector, url: str, headers: Mapping[str, str], model: str, is_local: bool) -> Listing:
    def get(path: str) -> tuple[int, Any]:
        return _get(lambda: opener.open(Request(url + path, headers=dict(headers)), timeout=DEADLINE))  # noqa: S310

    try:
        status, answer = get("/models")
        names = _names(answer) if status == OK else ()
        has_model = bool(model) and _is_among(model, names)
        if model and names and not has_model:  # an alias is not listed, but known
            status_alone, alone = get(f"/models/{quote(model, safe='/:@')}")
            has_model = status_alone == OK and isinstance(alone, Mapping) and "id" in alone
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        # a proxy, or another store of certificates, may still lead the calls there
        is_open = not is_local and (isinstance(reason, ssl.SSLError) or bool(getproxies()))
        fault = " ".join(str(getattr(reason, "strerror", None) or reason).split()) or type(reason).__name__
        return Listing(fault=fault, unreachable=not is_open)
    complaint = "" if status == OK else str(answer).lower()
    refuses_key = any(words in complaint for words in INVALID)
    refuses_key |= status == UNAUTHORIZED and not any(word in complaint for word in SCOPED)
    return Listing(names, has_model, "" if names else f"HTTP {status}, no list of models", refuses_key=refuses_key)


def _get(send: Callable[[], Any]) -> tuple[int, Any]:
    """The status and the JSON of an answer, None in its place if it is none. Raises OSError if there is no answer."""
    try:
        response = send()
    except HTTPError as error:
        response = error
    with response:
        content = response.read(LARGEST)
    try:
        return response.status, json.loads(content)
    except (ValueError, RecursionError):
        return response.status, None


def _names(answer: Any) -> tuple[str, ...]:
    """The names in a list of models: `{"data": [{"id": NAME}, …]}`, or the list alone."""
    rows = answer.get("data") if isinstance(answer, Mapping) else answer
    ids = [row.get("id") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    texts = [name.removeprefix("models/") for name in ids if isinstance(name, str)]  # as Google writes them
    return tuple(name for name in texts if name.isprintable() and 0 < len(name) <= LONGEST_NAME)


def _is_among(model: str, names: tuple[str, ...]) -> bool:
    """Whether a model is listed, with Ollama's tag `latest` or without a router's variant (`:free`, `:fastest`)."""
    return not {model, f"{model}:latest", model.rpartition(":")[0] or model}.isdisjoint(names)

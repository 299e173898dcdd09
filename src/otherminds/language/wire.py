"""The words of OpenAI-compatible servers: requests as JSON, and what their answers say.

`Post` sends a body to a path and returns the answer. Over HTTP or within the process, it is the same conversation.
"""

from __future__ import annotations

import base64
import json
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeGuard

from otherminds.language.model import NOTHING, Continuations, Message, ModelError, Reply, Request, Scores, Usage

Body = dict[str, Any]
Post = Callable[[str, Body], Mapping[str, Any]]
TEXT, CHAT = "/completions", "/chat/completions"
TOP = 20
SHOWN = 200
SLACK = 1e-3
MOST_TOKENS = 1_000_000_000
STRANGE = "the answer is not one of an OpenAI-compatible server"
NO_SCORES = "use a strategy that reads replies, as qa"
SHAPE_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)


class RefusalError(ModelError):
    """The server answers that it does not do what it was asked to do."""


class BusyError(ModelError):
    """The server does not answer now and may be asked again, after `wait` seconds if it says so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        """Say what happened, and for how long the server asks to wait."""
        super().__init__(message)
        self.wait = wait


def complete(post: Post, request: Request) -> Reply:
    """Ask for a text. Raises ModelError if the answer is not one."""
    body: Body = {"max_tokens": request.max_tokens, "temperature": request.temperature, "seed": request.seed}
    if request.stop:
        body["stop"] = list(request.stop)
    if isinstance(request.prompt, str):
        if request.schema:
            raise ModelError("a schema needs a conversation, not a text to continue")
        return _reply(post(TEXT, {**body, "prompt": request.prompt}))
    if request.schema:
        schema = {"name": "reply", "schema": json.loads(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return _reply(post(CHAT, {**body, "messages": [_message(message) for message in request.prompt]}))


def _message(message: Message) -> Body:
    if not message.images:
        return {"role": message.role, "content": message.text}
    parts: list[Body] = [{"type": "text", "text": message.text}]
    for image in message.images:
        url = "data:image/png;base64," + base64.b64encode(image).decode()
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": message.role, "content": parts}


def _reply(payload: Mapping[str, Any]) -> Reply:
    choice = _choice(payload)
    message = choice.get("message")
    text = choice.get("text") if message is None else message.get("content") or message.get("refusal") or ""
    if not isinstance(text, str):
        raise ModelError("the answer has no text")
    # JSON can spell half a character, which no file can hold
    whole = text.encode("utf-8", "replace").decode()
    return Reply(whole, cut=choice.get("finish_reason") == "length", usage=usage_of(payload))


def _choice(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice. An error that came as an answer is an error."""
    _refuse_error(payload)
    try:
        choice = payload["choices"][0]
        assert isinstance(choice, Mapping)
        assert isinstance(choice.get("message") or {}, Mapping)
    except (KeyError, IndexError, TypeError, AssertionError):
        said = complaint(payload)
        raise ModelError(STRANGE + (said and f": {said}")) from None
    _refuse_error(choice)
    return choice


def _refuse_error(told: object) -> None:
    if isinstance(told, Mapping) and (told.get("error") or told.get("finish_reason") == "error"):
        raise ModelError(f"the answer is an error: {complaint(told) or 'it does not say which'}")


def complaint(told: object) -> str:
    """What the JSON of a server says is wrong, in one line; nothing if it does not say.

    It is cut between words alone: if the server repeats a key, it is there as a whole, and can be found and hidden.
    """
    for name in ("error", "message", "detail", "msg"):
        if isinstance(told, list) and told:
            told = told[0]
        if isinstance(told, Mapping) and told.get(name):
            told = told[name]
    if not isinstance(told, str):
        return ""
    line = " ".join(told.split())[: 10 * SHOWN]
    return textwrap.shorten(line, SHOWN, placeholder=" …", break_on_hyphens=False)


def usage_of(payload: Mapping[str, Any]) -> Usage:
    """The tokens that an answer says it took: nothing at all if it does not say, or says what cannot be."""
    usage = _mapping(_mapping(payload).get("usage"))
    prompt, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (_is_count(prompt) and _is_count(written)):
        return NOTHING
    cached = _mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    return Usage(prompt, cached if _is_count(cached) and cached <= prompt else 0, written)


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def next_tokens(post: Post, prompt: str, top: int = TOP) -> tuple[dict[str, float], Usage]:
    """log p of the most probable tokens right after a prompt.

    Raises ModelError if the server gives no log-probabilities.
    """
    body: Body = {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": top}
    payload = post(TEXT, body)
    told: Any = _choice(payload).get("logprobs")
    try:
        pairs = _chat_style(told["content"][0]) if "content" in told else _text_style(told)
        found = {token: _log_prob(value) for token, value in pairs}
    except SHAPE_ERRORS:
        raise ModelError("the server gives no log-probabilities", hint=NO_SCORES) from None
    # the end of the text is a token that spells nothing
    return {token: value for token, value in found.items() if token and value > -math.inf}, usage_of(payload)


def _chat_style(first: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Tokens as they are spelled; those that are parts of characters are not, but look like others."""
    told = (*first.get("top_logprobs", ()), first)
    return [(one["token"], one["logprob"]) for one in told if _spelled(one["token"], one.get("bytes"))]


def _spelled(token: str, raw: Sequence[int] | None) -> bool:
    return raw is None or bytes(raw) == token.encode("utf-8", "surrogatepass")


def _text_style(told: Mapping[str, Any]) -> list[tuple[str, Any]]:
    others = (told.get("top_logprobs") or [{}])[0]
    return [*others.items(), (told["tokens"][0], told["token_logprobs"][0])]


def _log_prob(value: Any) -> float:
    """A number as a log-probability. Raises ValueError if it is none, beyond what rounding can do."""
    if not float(value) < SLACK:
        raise ValueError(value)
    return min(0.0, float(value))


def score(post: Post, request: Continuations, top: int = TOP) -> Scores:
    """How probable each text is after the prompt, whatever the server offers for it, exactly or not at all.

    One question if every text is one of the most probable next tokens. Else by the server's echo, if it has one; else
    token by token, by the longest that fit. Raises ModelError if a token is not among the most probable ones.
    """
    spent = Usage()

    def ask(path: str, body: Body) -> Mapping[str, Any]:
        nonlocal spent
        payload = post(path, body)
        spent += usage_of(payload)
        return payload

    known = {"": next_tokens(ask, request.prompt, top)[0]}
    if all(text in known[""] for text in request.texts):
        return Scores(tuple(known[""][text] for text in request.texts), (1,) * len(request.texts), usage=spent)
    echoed = _echoed(ask, request)
    found = [_longest(ask, request.prompt, text, top, known) for text in request.texts] if echoed is None else echoed
    sums, counts = tuple(math.fsum(one) for one in found), tuple(len(one) for one in found)
    return Scores(sums, counts, "longest" if echoed is None else "echo", spent)


def _echoed(post: Post, request: Continuations) -> list[list[float]] | None:
    """The log-probabilities of the tokens of every text, from the server's echo; None if one text has none."""
    found = []
    for text in request.texts:
        one = _echo(post, request.prompt, text)
        if one is None:
            return None
        found.append(one)
    return found


def _echo(post: Post, prompt: str, text: str) -> list[float] | None:
    body: Body = {"prompt": prompt + text, "max_tokens": 0, "temperature": 0, "echo": True, "logprobs": 1}
    try:
        payload = post(TEXT, body)
    except RefusalError:
        return None
    try:
        told = _choice(payload)["logprobs"]
        return _inside(told["tokens"], told["token_logprobs"], prompt, text)
    except SHAPE_ERRORS:
        return None


def _inside(tokens: Sequence[str], values: Sequence[Any], prompt: str, text: str) -> list[float] | None:
    """The log-probabilities of the tokens of a text at the end of an echo; None if it is no echo of prompt and text.

    Servers that have no echo go on writing instead, and may write the same words: of an echo, the first token has no
    log-probability. It may be a mark of the beginning that the server puts before every prompt.
    """
    starts = list(accumulate(map(len, tokens), initial=0))
    begin = starts[-1] - len(text)
    whole = "".join(tokens).endswith(prompt + text) and begin - len(prompt) in starts[:2]
    if not whole or begin not in starts or values[0] is not None:
        return None
    found = [_log_prob(value) for value, start in zip(values, starts[:-1], strict=True) if start >= begin]
    return None if -math.inf in found else found


def _longest(post: Post, prompt: str, text: str, top: int, known: dict[str, dict[str, float]]) -> list[float]:
    """The log-probabilities of the longest tokens that make up a text; what was asked before is in `known`."""
    found, before = list[float](), ""
    while before != text:
        if before not in known:
            known[before] = next_tokens(post, prompt + before, top)[0]
        fitting = [token for token in known[before] if text.startswith(token, len(before))]
        if not fitting:
            told = f"the server tells the {len(known[before])} most probable tokens alone"
            raise ModelError(f"{told}, and `{text.strip()[:40]}` is not there", hint=NO_SCORES)
        token = max(fitting, key=len)
        found.append(known[before][token])
        before += token
    return found

"""The protocol of OpenAI-compatible servers: requests as JSON, and reading of the answers.

A `Post` function sends a body to a path and returns the answer, over HTTP or within the process.
"""

from __future__ import annotations

import base64
import json
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate
from typing import Any, Literal, TypeGuard

from otherminds.language.model import NOTHING, Continuations, ModelError, Reply, Request, Scores, Usage, Withheld

Body = dict[str, Any]
Post = Callable[[str, Body], Mapping[str, Any]]
TEXT, CHAT = "/completions", "/chat/completions"
TOP = 20  # most probable next tokens asked for by default; OpenAI's limit for chats
SHOWN = 200  # characters of a server's complaint that are shown
SLACK = 1e-3  # nats above 0 that a log-probability may have by rounding in single precision
MOST_TOKENS = 1_000_000_000  # a usage above this is taken for nonsense
NO_TEXT = "the answer has no text"
STRANGE = "the answer is not one of an OpenAI-compatible server"
NO_SCORES = "use a strategy that reads replies, as qa"
SHAPE_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)

# Why a reply ended, in the words of OpenAI, Anthropic, Gemini and Azure, in lower case
CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
FILTERED = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii")
REFUSED = ("refusal",)
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
TEXT_PARTS, THOUGHT_PARTS = ("text", "output_text"), ("thinking", "redacted_thinking", "reasoning")

# Where the providers tell each count of tokens; a dot leads into an object
PROMPT_TOKENS = ("prompt_tokens", "input_tokens", "promptTokenCount")
REPLY_TOKENS = ("completion_tokens", "output_tokens", "candidatesTokenCount")
TOTAL_TOKENS = ("total_tokens", "totalTokenCount")
REASONING_TOKENS = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "reasoning_tokens",
)
THOUGHT_TOKENS = ("thoughtsTokenCount",)  # Gemini's, never a part of its tokens of the reply
CACHED_TOKENS = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "cache_read_input_tokens",
    "prompt_cache_hit_tokens",
    "cachedContentTokenCount",
)
BESIDE_PROMPT = (("cache_read_input_tokens",), ("cache_creation_input_tokens",))  # by Anthropic


class RefusalError(ModelError):
    """The server refused the request itself, such as a parameter it does not support."""


class FilteredError(ModelError):
    """The server's filter held the request back, as Azure's does with HTTP 400."""


class BusyError(ModelError):
    """The server is busy and may be asked again, after `wait` seconds if it names a time."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def complete(post: Post, request: Request, *, constrain: bool = True) -> Reply:
    """The server's reply to a request, whose schema is left out unless `constrain`; an empty one if it was filtered.

    Raises ModelError if its answer has neither text nor a reason for having none.
    """
    body: Body = {"max_tokens": request.max_tokens, "temperature": request.temperature, "seed": request.seed}
    if request.stop:
        body["stop"] = list(request.stop)
    if isinstance(request.prompt, str):
        if request.schema:
            raise ModelError("a schema needs a conversation, not a text to continue")
        return _reply(post, TEXT, {**body, "prompt": request.prompt})
    constrained = constrain and bool(request.schema)
    if constrained:
        schema = {"name": "reply", "schema": json.loads(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    messages: list[Body] = []
    for message in request.prompt:
        urls = ["data:image/png;base64," + base64.b64encode(image).decode() for image in message.images]
        images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        content = [{"type": "text", "text": message.text}, *images] if images else message.text
        messages.append({"role": message.role, "content": content})
    return replace(_reply(post, CHAT, {**body, "messages": messages}), constrained=constrained)


def _reply(post: Post, path: str, body: Body) -> Reply:
    try:
        payload = post(path, body)
    except FilteredError:
        return Reply("", withheld="filtered")
    choice = _choice(payload)
    message: Mapping[str, Any] = choice if choice.get("message") is None else choice["message"]
    content = message.get("text" if message is choice else "content")
    text, thought = _content(content)
    thought = thought or any(str(message.get(name) or "").strip() for name in THOUGHTS)
    ended = str(choice.get("finish_reason")).lower()
    cut, withheld = ended in CUT, _withheld(message, ended, text)
    if content is None and message is choice and not (cut or withheld or thought):
        raise ModelError(NO_TEXT)
    refusal = message.get("refusal")
    if not text and isinstance(refusal, str):
        text = refusal
    # JSON can escape a lone surrogate, which UTF-8 cannot encode
    return Reply(text.encode("utf-8", "replace").decode(), cut, usage_of(payload), withheld, thought)


def _content(content: object) -> tuple[str, bool]:
    """The text of a reply's content, which may come in parts, and whether thoughts are among these.

    Raises ModelError for a content of any other shape.
    """
    texts, thought = list[str](), False
    parts = content if isinstance(content, list) else [] if content is None else [content]
    for part in parts:
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        if kind in THOUGHT_PARTS or _mapping(part).get("thought") is True:
            thought = True
        elif kind in TEXT_PARTS:  # other parts, such as pictures, are no text
            text = part.get("text") if isinstance(part, Mapping) else part
            if not isinstance(text, str):
                raise ModelError(NO_TEXT)
            texts.append(text)
    return "".join(texts), thought


def _withheld(message: Mapping[str, Any], ended: str, text: str) -> Withheld:
    if ended in FILTERED:
        return "filtered"
    if ended in REFUSED or (message.get("refusal") and not text):
        return "refused"
    return "tool call" if not text and (message.get("tool_calls") or message.get("function_call")) else ""


def _choice(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of an answer. Raises ModelError if there is none, or if the answer reports an error."""
    _refuse_error(payload)
    try:
        choice = payload["choices"][0]
        assert isinstance(choice, Mapping)
        assert isinstance(choice.get("message"), Mapping | None)
    except (KeyError, IndexError, TypeError, AssertionError):
        message = complaint(payload)
        raise ModelError(STRANGE + (message and f": {message}")) from None
    _refuse_error(choice)
    return choice


def _refuse_error(payload: object) -> None:
    if isinstance(payload, Mapping) and (payload.get("error") or payload.get("finish_reason") == "error"):
        raise ModelError(f"the answer is an error: {complaint(payload) or 'it does not say which'}")


def is_filtered(payload: object) -> bool:
    """Whether an error in the JSON of a server says that its filter held the request back."""
    return _value(payload, "error.code") in FILTERED


def complaint(payload: object) -> str:
    """The error message in the JSON of a server, in one line; empty if there is none.

    It is cut between words only, so that a key that the server repeats stays whole and can be found and hidden.
    """
    place = ""  # of the fault in the request, such as `temperature`
    for name in ("error", "message", "detail", "msg"):
        if isinstance(payload, list) and payload:
            payload = payload[0]
        if isinstance(payload, Mapping) and payload.get(name):
            if isinstance(payload.get("loc"), list):
                place = "".join(f"{part}: " for part in payload["loc"][1:])
            payload = payload[name]
    if not isinstance(payload, str):
        return ""
    line = " ".join((place + payload).split())[: 10 * SHOWN]
    return textwrap.shorten(line, SHOWN, placeholder=" …", break_on_hyphens=False)


def usage_of(payload: Mapping[str, Any]) -> Usage:
    """The token counts of an answer, with hidden reasoning in that of the reply; NOTHING if missing or impossible.

    Hidden reasoning is what the total has beyond prompt and reply, or a count of reasoning that is not part of the
    reply, whichever is more.
    """
    usage = _mapping(payload).get("usage") or _mapping(payload).get("usageMetadata")
    try:
        prompt, reply, total, reasoning, thoughts, *caches = (
            _count(usage, *places)
            for places in (PROMPT_TOKENS, REPLY_TOKENS, TOTAL_TOKENS, REASONING_TOKENS, THOUGHT_TOKENS, *BESIDE_PROMPT)
        )
    except ValueError:
        return NOTHING
    if prompt is None or (reply is None and total is None):
        return NOTHING
    reply = reply or 0  # left out by Gemini if all of it was thoughts
    beside_prompt = sum(filter(None, caches))
    if _value(usage, PROMPT_TOKENS[0]) is None or beside_prompt > prompt:
        prompt += beside_prompt  # else they are part of it, as OpenAI counts
    hidden = [(total or 0) - prompt - reply, thoughts or 0]
    if reasoning is not None and reasoning > reply:
        hidden.append(reasoning)
    cached = next(filter(None, (_value(usage, place) for place in CACHED_TOKENS)), 0)
    return Usage(prompt, cached if _is_count(cached) and cached <= prompt else 0, reply + max(hidden))


def _count(usage: object, *places: str) -> int | None:
    """The count in the first of these places that has one, None if all are empty. Raises ValueError if it is none."""
    for place in places:
        value = _value(usage, place)
        if value is not None:
            if not _is_count(value):
                raise ValueError(place)
            return value
    return None


def _value(payload: object, place: str) -> object:
    """What a payload has at a place, whose dots lead into objects; None if there is nothing."""
    return reduce(lambda part, name: _mapping(part).get(name), place.split("."), payload)


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def next_tokens(post: Post, prompt: str, top: int = TOP) -> tuple[dict[str, float], Usage]:
    """log p in nats of the `top` most probable tokens right after a prompt, and the tokens used.

    Raises ModelError if the server gives no log-probabilities.
    """
    body: Body = {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": top}
    payload = post(TEXT, body)
    logprobs: Any = _choice(payload).get("logprobs")
    try:
        if "content" in logprobs:  # without tokens that are parts of characters and look like other tokens
            first = logprobs["content"][0]
            pairs = [
                (candidate["token"], candidate["logprob"])
                for candidate in (*first.get("top_logprobs", ()), first)
                if candidate.get("bytes") is None
                or bytes(candidate["bytes"]) == candidate["token"].encode("utf-8", "surrogatepass")
            ]
        else:
            top_logprobs = (logprobs.get("top_logprobs") or [{}])[0]
            pairs = [*top_logprobs.items(), (logprobs["tokens"][0], logprobs["token_logprobs"][0])]
        by_token = {token: _log_prob(value) for token, value in pairs}
    except SHAPE_ERRORS:
        raise ModelError("the server gives no log-probabilities", hint=NO_SCORES) from None
    # the end-of-text token is spelled as nothing
    return {token: value for token, value in by_token.items() if token and value > -math.inf}, usage_of(payload)


def _log_prob(value: Any) -> float:
    """A number as a log-probability. Raises ValueError if it is above 0 by more than rounding error."""
    if not float(value) < SLACK:
        raise ValueError(value)
    return min(0.0, float(value))


def score(post: Post, request: Continuations, top: int = TOP) -> Scores:
    """log p(text | prompt) of every text, exact, by the cheapest way that the server offers.

    One call if every text is one of the `top` most probable next tokens; else the server's echo, if it has one; else
    token by token, by the longest that fit. Raises ModelError if a token is not among the most probable ones.
    """
    usages = list[Usage]()

    def ask(path: str, body: Body) -> Mapping[str, Any]:
        payload = post(path, body)
        usages.append(usage_of(payload))
        return payload

    log_probs_after = {"": next_tokens(ask, request.prompt, top)[0]}
    if all(text in log_probs_after[""] for text in request.texts):
        log_probs = tuple(log_probs_after[""][text] for text in request.texts)
        return Scores(log_probs, (1,) * len(request.texts), usage=_sum(usages))
    token_log_probs = list[list[float]]()
    method: Literal["echo", "longest"] = "echo"
    for text in request.texts:
        echoed = _echo(ask, request.prompt, text)
        if echoed is None:  # the server does not echo: all texts token by token
            token_log_probs = [_longest(ask, request.prompt, text, top, log_probs_after) for text in request.texts]
            method = "longest"
            break
        token_log_probs.append(echoed)
    sums, counts = tuple(math.fsum(row) for row in token_log_probs), tuple(len(row) for row in token_log_probs)
    return Scores(sums, counts, method, _sum(usages))


def _sum(usages: Sequence[Usage]) -> Usage:
    """The tokens of several answers; NOTHING if one of them does not tell its own."""
    return NOTHING if NOTHING in usages else sum(usages, Usage())


def _echo(post: Post, prompt: str, text: str) -> list[float] | None:
    """The log-probabilities of a text's tokens from the server's echo; None if it has no echo."""
    body: Body = {"prompt": prompt + text, "max_tokens": 0, "temperature": 0, "echo": True, "logprobs": 1}
    try:
        payload = post(TEXT, body)
    except RefusalError:
        return None
    try:
        logprobs = _choice(payload)["logprobs"]
        return _inside(logprobs["tokens"], logprobs["token_logprobs"], prompt, text)
    except SHAPE_ERRORS:
        return None


def _inside(tokens: Sequence[str], values: Sequence[Any], prompt: str, text: str) -> list[float] | None:
    """The log-probabilities of a text's tokens at the end of an echo; None if it is no echo of prompt and text.

    A server without echo continues the prompt instead, possibly with the same words. In an echo the first token has no
    log-probability; it may be a start token that the server puts before every prompt.
    """
    starts = list(accumulate(map(len, tokens), initial=0))
    begin = starts[-1] - len(text)
    whole = "".join(tokens).endswith(prompt + text) and begin - len(prompt) in starts[:2]
    if not whole or begin not in starts or values[0] is not None:
        return None
    log_probs = [_log_prob(value) for value, start in zip(values, starts[:-1], strict=True) if start >= begin]
    return None if -math.inf in log_probs else log_probs


def _longest(post: Post, prompt: str, text: str, top: int, log_probs_after: dict[str, dict[str, float]]) -> list[float]:
    """The log-probabilities of the longest tokens that make up a text.

    `log_probs_after` caches answers by text before them.
    """
    log_probs, before = list[float](), ""
    while before != text:
        if before not in log_probs_after:
            log_probs_after[before] = next_tokens(post, prompt + before, top)[0]
        fitting = [token for token in log_probs_after[before] if text.startswith(token, len(before))]
        if not fitting:
            reason = f"the server tells the {len(log_probs_after[before])} most probable tokens alone"
            raise ModelError(f"{reason}, and `{text.strip()[:40]}` is not there", hint=NO_SCORES)
        token = max(fitting, key=len)
        log_probs.append(log_probs_after[before][token])
        before += token
    return log_probs

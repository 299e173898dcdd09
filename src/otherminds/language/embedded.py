"""A small language model that runs within the process, without network (extra `embedded`)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any
from urllib.error import URLError
from urllib.request import Request as Call
from urllib.request import urlopen

from otherminds.errors import install_hint
from otherminds.language import wire
from otherminds.language.model import EMBEDDED, Continuations, ModelError, Reply, Request, Scores, Usage
from otherminds.language.weights import Weights

CONTEXT = 8192  # tokens of prompt and reply; SmolLM2's trained context
LIKELY = 400  # likeliest tokens asked for at once; covers nearly all single-token continuations; chosen
ALL = 1_000_000  # more than any vocabulary has
LOAD = Path("/proc/loadavg")
SAMPLES = 9  # readings of the load, 10 ms apart, of which the median counts; chosen
RUNTIME = "xllamacpp"


class Embedded:
    """A GGUF model run by llama.cpp on this machine's processor.

    It answers one question at a time. The last prompt stays evaluated, so a prompt that continues it costs only its new
    tokens: prompts of which each is the beginning of the next are read once.
    """

    def __init__(
        self, weights: Weights, *, context: int = CONTEXT, threads: int | None = None, reuse: bool = True
    ) -> None:
        """Name the model, which is loaded at the first call. Without `reuse` every prompt is evaluated from the start.

        `context` is in tokens; `threads` None uses all processors, or half of them on a busy machine.
        """
        self.name = weights.name
        try:
            version = metadata.version(RUNTIME)
        except metadata.PackageNotFoundError:
            version = "none"
        self.identity = f"{EMBEDDED}{weights.name}@{weights.sha256[:12]}/{RUNTIME}-{version}"
        self._path, self._context, self._threads, self._reuse = weights.path, context, threads, reuse
        self._lock = Lock()
        self._loaded: Any = None

    def complete(self, request: Request) -> Reply:
        """The text after the prompt. Raises ModelError if the model cannot be run, or the prompt is too long."""
        if not isinstance(request.prompt, str) and any(message.images for message in request.prompt):
            raise ModelError(f"{self.name} cannot see pictures")
        return wire.complete(self._post, request)

    def score(self, request: Continuations) -> Scores:
        """log p(text | prompt) in nats, exact: the sum over the tokens into which the model's tokeniser cuts a text.

        Raises ModelError if the model cannot be run.
        """
        log_probs_after: dict[tuple[int, ...], dict[int, float]] = {}
        total, sums, counts = Usage(), [], []
        for text in request.texts:
            value, tokens = 0.0, self._tokens(text)
            for i, token in enumerate(tokens):
                before = tokens[:i]
                if token not in log_probs_after.setdefault(before, {}):
                    next_log_probs, usage = self._next(request.prompt, before, token, first=not log_probs_after[before])
                    log_probs_after[before] |= next_log_probs
                    total += usage
                value += log_probs_after[before][token]
            sums.append(value)
            counts.append(len(tokens))
        return Scores(tuple(sums), tuple(counts), usage=total)

    def _next(self, prompt: str, before: tuple[int, ...], token: int, *, first: bool) -> tuple[dict[int, float], Usage]:
        """log p in nats of the wanted token and of the likeliest ones after `prompt` and `before`, by token number.

        Forcing a token to be written leaves the reported probabilities unchanged. The runtime reports nothing for a
        token that is only a part of a character; then a line end is forced, and all tokens are asked for.
        """
        (line,) = self._tokens("\n")[:1]
        total = Usage()
        for forced, top in ((line, LIKELY), (token, 1), (line, ALL)):
            if first or forced == token or top == ALL:
                body = {"prompt": [prompt, *before], "max_tokens": 1, "temperature": 0, "logprobs": top}
                payload = self._post(wire.TEXT, {**body, "logit_bias": [[forced, 1000.0]]})
                total += wire.usage_of(payload)
                logprobs = payload["choices"][0].get("logprobs") or {"content": []}
                by_token = {
                    candidate["id"]: min(0.0, float(candidate["logprob"]))
                    for first_token in logprobs["content"]
                    for candidate in (*first_token["top_logprobs"], first_token)
                }
                if token in by_token:
                    return by_token, total
        raise ModelError(f"{self.name} does not tell how probable a text is")

    @property
    def address(self) -> str:
        """The address at which the same model answers over HTTP, on this machine only, while this object lives."""
        return f"{self._server().listening_address}/v1"

    def _post(self, path: str, body: wire.Body) -> Mapping[str, Any]:
        server = self._server()
        ask = server.handle_completions if path == wire.TEXT else server.handle_chat_completions
        with self._lock:
            answer = ask({**body, "cache_prompt": self._reuse})
        if not isinstance(answer, Mapping):
            raise ModelError(f"{self.name} gave no answer")
        if "error" in answer:
            raise ModelError(f"{self.name}: {answer['error'].get('message', 'did not answer')}")
        return answer

    def _tokens(self, text: str) -> tuple[int, ...]:
        return _tokens(self._server().listening_address, text)

    def _server(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._path, self._context, self._threads)
            return self._loaded


def _load(path: Path, context: int, threads: int | None) -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise ModelError("the embedded model needs an extra", hint=install_hint("embedded")) from None
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_ram_mib = 0
    params.verbosity = -1
    params.warmup = False
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED  # slower on processors
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or _free_processors()
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelError("cannot be loaded as a GGUF model", path=path, hint=str(error)[:200]) from None


def _free_processors() -> int:
    """All processors if the machine is idle, else half of them. The number does not change any probability.

    Threads wait for each other at every layer, so one that loses its processor to another program stops all of them.
    """
    processors = os.cpu_count() or 1
    busy_threads = []  # threads that run beside this one
    for _ in range(SAMPLES):
        try:
            busy_threads.append(int(LOAD.read_text().split()[3].partition("/")[0]) - 1)
        except (OSError, ValueError, IndexError):  # the system does not tell: assume that it is busy
            return max(1, processors // 2)
        time.sleep(0.01)
    return processors if median(busy_threads) < processors / 2 else max(1, processors // 2)


@cache
def _tokens(address: str, text: str) -> tuple[int, ...]:
    """The numbers of the tokens into which the model's tokeniser cuts a text."""
    body = json.dumps({"content": text, "add_special": False}).encode()
    call = Call(f"{address}/tokenize", body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urlopen(call, timeout=10) as answer:  # noqa: S310
            return tuple(json.load(answer)["tokens"])
    except (URLError, OSError, ValueError, KeyError):
        raise ModelError("the embedded model cannot cut a text into tokens") from None

"""A small language model within the process, without network (extra `embedded`)."""

from __future__ import annotations

import json
import math
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

from otherminds.language import wire
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, Usage
from otherminds.language.weights import Weights

CONTEXT = 8192
LIKELY, ALL = 400, 1_000_000
LOAD, SAMPLES = Path("/proc/loadavg"), 9
RUNTIME = "xllamacpp"


class Embedded:
    """A GGUF model run by llama.cpp on this machine's processor.

    It answers one question at a time. What it has read last stays evaluated, so a prompt that continues the last one
    costs only its new tokens; prompts laid out so that each is the beginning of the next are read once.
    """

    def __init__(
        self, weights: Weights, *, context: int = CONTEXT, threads: int | None = None, reuse: bool = True
    ) -> None:
        """Name the model; it is loaded when it is first asked. Without `reuse` every prompt is read from the start."""
        self.name = weights.name
        self.identity = f"embedded:{weights.name}@{weights.sha256[:12]}/{RUNTIME}-{_version()}"
        self._path, self._context = weights.path, context
        self._threads = threads
        self._reuse = reuse
        self._lock = Lock()
        self._loaded: Any = None

    def complete(self, request: Request) -> Reply:
        """A text after the prompt. Raises ModelError if the model cannot be run, or the prompt is too long."""
        if not isinstance(request.prompt, str) and any(message.images for message in request.prompt):
            raise ModelError(f"{self.name} cannot see pictures")
        return wire.complete(self._post, request)

    def score(self, request: Continuations) -> Scores:
        """log p(text | prompt), exactly, token by token as the model's own tokeniser cuts the texts."""
        known: dict[tuple[int, ...], dict[int, float]] = {}
        total, sums, counts = Usage(), [], []
        for text in request.texts:
            value, tokens = 0.0, self._tokens(text)
            for i, token in enumerate(tokens):
                before = tokens[:i]
                if token not in known.setdefault(before, {}):
                    found, usage = self._next(request.prompt, before, token, first=not known[before])
                    known[before] |= found
                    total += usage
                value += known[before][token]
            sums.append(value)
            counts.append(len(tokens))
        return Scores(tuple(sums), tuple(counts), usage=total)

    def _next(self, prompt: str, before: tuple[int, ...], token: int, *, first: bool) -> tuple[dict[int, float], Usage]:
        """log p of the likeliest next tokens after a prompt and some tokens, and of the wanted one, by number.

        A token is forced to be written, which leaves probabilities as they are. Of one that is only a part of a
        character the runtime tells nothing; then it writes the end of a line, and tells of all tokens.
        """
        (line,) = self._tokens("\n")[:1]
        total = Usage()
        for forced, top in ((line, LIKELY), (token, 1), (line, ALL)):
            if first or forced == token or top == ALL:
                body = {"prompt": [prompt, *before], "max_tokens": 1, "temperature": 0, "logprobs": top}
                payload = self._post(wire.TEXT, {**body, "logit_bias": [[forced, 1000.0]]})
                total += wire.usage_of(payload)
                found = _by_number(payload)
                if token in found:
                    return found, total
        raise ModelError(f"{self.name} does not tell how probable a text is")

    @property
    def address(self) -> str:
        """Where the same model answers over HTTP, on this machine alone, as long as this object lives."""
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
        raise ModelError("the embedded model needs an extra", hint="pip install 'otherminds[embedded]'") from None
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
    """All processors if the machine is idle, else half of them; the probabilities are the same with any number.

    Threads wait for each other at every layer: if something else takes one of their processors, all stand still.
    """
    processors = os.cpu_count() or 1
    return processors if _running() < processors / 2 else max(1, processors // 2)


def _running() -> float:
    """How many threads run beside this one right now; where that is not told, all that could."""
    counts = []
    for _ in range(SAMPLES):
        try:
            counts.append(int(LOAD.read_text().split()[3].partition("/")[0]) - 1)
        except (OSError, ValueError, IndexError):
            return math.inf
        time.sleep(0.01)
    return median(counts)


def _by_number(payload: Mapping[str, Any]) -> dict[int, float]:
    """log p of tokens by number, as far as the runtime tells them."""
    told = payload["choices"][0].get("logprobs") or {"content": []}
    return {
        one["id"]: min(0.0, float(one["logprob"]))
        for first in told["content"]
        for one in (*first["top_logprobs"], first)
    }


@cache
def _tokens(address: str, text: str) -> tuple[int, ...]:
    """The numbers of the model's own tokens of a text."""
    body = json.dumps({"content": text, "add_special": False}).encode()
    call = Call(f"{address}/tokenize", body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urlopen(call, timeout=10) as answer:  # noqa: S310
            return tuple(json.load(answer)["tokens"])
    except (URLError, OSError, ValueError, KeyError):
        raise ModelError("the embedded model cannot cut a text into tokens") from None


def _version() -> str:
    try:
        return metadata.version(RUNTIME)
    except metadata.PackageNotFoundError:
        return "none"

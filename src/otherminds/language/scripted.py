"""Language models that are a function or a list of replies: for tests, demonstrations, and users' own agents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from threading import Lock

from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, Usage

Writer = Callable[[Request], str]
Scorer = Callable[[str, str], float]


def words(text: str) -> int:
    """The number of words in a text, which scripted models count as tokens."""
    return len(text.split())


def text_of(request: Request) -> str:
    """All text of a request's prompt, messages separated by empty lines."""
    if isinstance(request.prompt, str):
        return request.prompt
    return "\n\n".join(message.text for message in request.prompt)


@dataclass(frozen=True)
class Scripted:
    """A model that writes what `write(request)` returns and scores by `weigh(prompt, continuation)`, in nats."""

    name: str
    write: Writer
    weigh: Scorer | None = None

    @property
    def identity(self) -> str:
        """`scripted:` and the name."""
        return f"scripted:{self.name}"

    def complete(self, request: Request) -> Reply:
        """The function's text. Raises ModelError if it returns anything else."""
        text = self.write(request)
        if not isinstance(text, str):
            raise ModelError(f"{self.name} answered with {type(text).__name__}, not with text")
        return Reply(text, usage=Usage(words(text_of(request)), 0, words(text)))

    def score(self, request: Continuations) -> Scores:
        """The function's log-probability of every text. Raises ModelError without a function, or if one is above 0."""
        if self.weigh is None:
            raise ModelError(f"{self.name} has no log-probabilities", hint="use a strategy that reads replies, as qa")
        log_probs = tuple(self.weigh(request.prompt, text) for text in request.texts)
        if any(math.isnan(value) or value > 0.0 for value in log_probs):
            raise ModelError(f"{self.name} gave a log-probability above 0")
        usage = Usage(words(request.prompt), 0, len(log_probs))
        return Scores(log_probs, tuple(max(1, words(text)) for text in request.texts), usage=usage)


def scripted(name: str, replies: Sequence[str], weigh: Scorer | None = None) -> Scripted:
    """A model that gives these replies in order, whatever it is asked. It raises ModelError after the last one."""
    places, lock = count(), Lock()

    def write(_request: Request) -> str:
        with lock:
            place = next(places)
        if place >= len(replies):
            raise ModelError(f"the script has {len(replies)} replies, and was asked for one more")
        return replies[place]

    return Scripted(name, write, weigh)

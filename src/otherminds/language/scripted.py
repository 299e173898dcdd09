"""A language model that is a function, or a list of replies: for tests, for demonstrations, for agents of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, Usage

Writer = Callable[[Request], str]
Scorer = Callable[[str, str], float]


def words(text: str) -> int:
    """How many tokens a text is taken to have: its words."""
    return len(text.split())


def text_of(request: Request) -> str:
    """All that a request says, in one text."""
    if isinstance(request.prompt, str):
        return request.prompt
    return "\n\n".join(message.text for message in request.prompt)


@dataclass(frozen=True)
class Scripted:
    """Writes what a function of the request returns, and scores with a function of prompt and continuation (nats)."""

    name: str
    write: Writer
    weigh: Scorer | None = None

    @property
    def identity(self) -> str:
        """Its name."""
        return f"scripted:{self.name}"

    def complete(self, request: Request) -> Reply:
        """What the function returns. Raises ModelError if that is no text."""
        text = self.write(request)
        if not isinstance(text, str):
            raise ModelError(f"{self.name} answered with {type(text).__name__}, not with text")
        return Reply(text, usage=Usage(words(text_of(request)), 0, words(text)))

    def score(self, request: Continuations) -> Scores:
        """What the function returns for every text. Raises ModelError if there is no such function."""
        if self.weigh is None:
            raise ModelError(f"{self.name} has no log-probabilities", hint="use a strategy that reads replies, as qa")
        found = tuple(self.weigh(request.prompt, text) for text in request.texts)
        if any(math.isnan(value) or value > 0.0 for value in found):
            raise ModelError(f"{self.name} gave a log-probability above 0")
        usage = Usage(words(request.prompt), 0, len(found))
        return Scores(found, tuple(max(1, words(text)) for text in request.texts), usage=usage)


@dataclass(frozen=True)
class _Script:
    replies: Sequence[str]
    _places: count[int] = field(default_factory=count)
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, _request: Request) -> str:
        with self._lock:
            place = next(self._places)
        if place >= len(self.replies):
            raise ModelError(f"the script has {len(self.replies)} replies, and was asked for one more")
        return self.replies[place]


def scripted(name: str, replies: Sequence[str], weigh: Scorer | None = None) -> Scripted:
    """A model that gives these replies one after the other, whatever it is asked; ModelError after the last one."""
    return Scripted(name, _Script(replies), weigh)

"""Estimates of how many calls and tokens a plan will take."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from otherminds.language.model import NOTHING, Continuations, LanguageModel, Reply, Request, Scores, Usage
from otherminds.language.scripted import text_of

CHARACTERS = 4.0
"""Of a token, in English: for estimates."""


class Estimate(NamedTuple):
    """How many calls a plan will take, and how many tokens these will read and write, about."""

    calls: int
    usage: Usage


@dataclass
class Counting:
    """A program in the place of a model, to see what would be asked. Replies are taken to be as long as they may be."""

    inner: LanguageModel
    calls: int = 0
    usage: Usage = NOTHING
    name: str = "counting"
    identity: str = "counting"

    def complete(self, request: Request) -> Reply:
        """What the program replies."""
        self._count(text_of(request), request.max_tokens)
        return self.inner.complete(request)

    def score(self, request: Continuations) -> Scores:
        """The scores of the program."""
        self._count(request.prompt, len(request.texts))
        return self.inner.score(request)

    def _count(self, text: str, written: int) -> None:
        self.calls += 1
        self.usage += Usage(ceil(len(text) / CHARACTERS), 0, written)

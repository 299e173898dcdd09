"""A language model that says what it is told to, and how its errors look."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from otherminds.errors import InputError
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, UncertainError, Usage

HALF = "\ud83e"
ANSWER = Reply("Où ? « Là » 🤔", usage=Usage(12, 3, 4))
SCORES = Scores((-0.1, -math.inf), (1, 2), "echo", Usage(5, 0, 2))


@dataclass
class Fake:
    """A model that says what it is told to, and remembers what it was asked."""

    answer: Callable[[Request], Reply] = lambda _: ANSWER
    scores: Callable[[Continuations], Scores] = lambda _: SCORES
    name: str = "fake"
    identity: str = "fake:1"
    key: str = "sk-secret"
    asked: list[Request | Continuations] = field(default_factory=list)

    def complete(self, request: Request, /) -> Reply:
        self.asked.append(request)
        return self.answer(request)

    def score(self, request: Continuations, /) -> Scores:
        self.asked.append(request)
        return self.scores(request)


def dead(_: object) -> Any:
    raise ModelError("the endpoint is dead")


def silent(_: object) -> Any:
    raise UncertainError("there is no answer")


def fails(exactly: Sequence[str] = (), kind: type[InputError] = InputError) -> Any:
    """An error of one line in which these follow each other."""
    return pytest.raises(kind, match="^[^\n]*" + "[^\n]*".join(exactly) + "[^\n]*$")

"""Agents as people write them, to be checked as `own_agents:NAME`: mindreaders, makers of these, functions, models."""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from otherminds import tabular
from otherminds.distribution import Categorical
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, Usage
from otherminds.worlds.repeated_games.rules import Game, Outcome

PAYOFF = re.compile(r"If you choose option (\S+) and the other player chooses option (\S+), you \D*?([-+]?[\d.]+)")
TRUTH = re.compile(r"You know for certain that the other player chooses option (\S+) in this round")
ROUND = re.compile(r"In round \d+, you chose option (\S+) and the other player chose option (\S+)\. ")


# Mindreaders


@dataclass(frozen=True)
class Copycat:
    """Expects the partner to do what it did last, and does the same."""

    last: int = 0

    def observe(self, outcome: Outcome | None) -> Copycat:
        return self if outcome is None else Copycat(outcome.theirs)

    def act(self) -> Categorical[Any]:
        return Categorical.uniform([np.int64(self.last)])

    def predict(self) -> Categorical[Any]:
        return Categorical.uniform([np.int64(self.last)])


copycat = Copycat()


def explorer(game: Game, rounds: int, rng: np.random.Generator) -> Any:
    """RMax, as a function of everything that there is to know."""
    assert rounds > 0
    assert isinstance(rng, np.random.Generator)
    return tabular(game)


# In words


def answer(prompt: str) -> str:
    """The best option against what has mostly followed what it did last, all by what the prompt says."""
    worth = {(own, theirs): float(payoff) for own, theirs, payoff in PAYOFF.findall(prompt)}
    options = sorted({own for own, _ in worth})
    played: list[tuple[str, str]] = ROUND.findall(prompt)
    after = [now[1] for before, now in pairwise(played) if before[0] == played[-1][0]]
    counts = Counter(after or [theirs for _, theirs in played])
    expected = max(options, key=lambda option: counts[option])
    best = max(options, key=lambda option: worth[option, expected])
    return f"Answer: option {best if 'Which option do you choose' in prompt else expected}"


def stubborn(prompt: str) -> str:
    """Always the first option that it reads of, which it expects of everybody."""
    first: str = min(own for own, _, _ in PAYOFF.findall(prompt))
    return f"Answer: option {first}"


def obedient(prompt: str) -> str:
    """As stubborn as that, unless it is told what the other does."""
    told = TRUTH.search(prompt)
    if told is None:
        return stubborn(prompt)
    worth = {own: float(payoff) for own, theirs, payoff in PAYOFF.findall(prompt) if theirs == told[1]}
    return f"Answer: option {max(worth, key=lambda own: worth[own])}"


@dataclass
class Counted:
    """A language model with everything that makes one; it counts what it is asked, and can be told to say no more."""

    name: str = "counted"
    identity: str = "counted by the tests"
    asked: int = 0
    most: float = float("inf")

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        assert not isinstance(request.prompt, str)
        self._count()
        text = request.prompt[0].text
        return Reply(answer(text), usage=Usage(len(text) // 4, 0, 5))

    def score(self, request: Continuations) -> Scores:
        raise ModelError("counted cannot tell how probable a text is")

    def _count(self) -> None:
        with self._lock:
            self.asked += 1
            if self.asked > self.most:
                raise ModelError("counted has had enough")


counted = Counted()


# Those that do not work


def broken(prompt: str) -> NoReturn:
    raise ZeroDivisionError(f"{len(prompt)} characters\nare too many")


def quiet(prompt: str) -> None:
    """Writes nothing, not even nothing."""


def undecided(first: str, second: str) -> str:
    return first + second


def lazy(game: Game, rounds: int, rng: np.random.Generator) -> NoReturn:
    raise KeyError("later")


class SilentFacilitator(Copycat):
    """Forgets that minds are returned."""

    def observe(self, outcome: Outcome | None) -> Any:
        return None


class Outside(Copycat):
    """Does the last thing on the list, as it believes."""

    def act(self) -> Categorical[Any]:
        return Categorical.uniform([-1])


class Nameless(Counted):
    """A model with a name that would write over the screen."""


silent, outside, nameless = SilentFacilitator(), Outside(), Nameless(name="\x1b[2Jnobody")
number = 7

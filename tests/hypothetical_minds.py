"""Models and meetings for tests of minds that are moved by a language model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of

KINDS = {
    ("inventory",): "inventory",
    ("hypothesis",): "hypothesis",
    ("partner_plays", "i_play"): "predict",
    ("hypothesis", "partner_plays", "i_play"): "everything",
    ("inventory", "hypothesis", "partner_plays", "i_play"): "everything",
    ("strategy",): "strategy",
    ("i_play",): "follow",
    ("reward",): "counterfactual",
    ("plan",): "subgoals",
    ("success", "lesson"): "reflect",
    ("expects",): "predict",
    ("fits",): "judge",
    ("hypothesis", "expects", "strategy"): "everything",
}
Writer = Callable[[Request], Any]
GATHERED = {"rock": (6, 1, 1), "paper": (1, 6, 1), "scissors": (1, 1, 6)}
ROCK, PAPER, SCISSORS = range(3)


def purpose_of(request: Request) -> str:
    """What is asked for, by the form of the reply."""
    return KINDS[tuple(name for name in json.loads(request.schema)["properties"] if name != "reasoning")]


def as_text(reply: Any) -> str:
    """A reply as it is written: texts as they are, and else JSON, with a reason."""
    return reply if isinstance(reply, str) else json.dumps({"reasoning": "So it seems.", **reply})


def unreadable(who: Any) -> int:
    """How many replies could not be read, of all that a model said to an agent, or for a record."""
    return sum(not said.readable for said in who.exchanges)


@dataclass
class Told:
    """A model that replies by what is asked: a reply, a function of the request, or replies one after the other.

    Of a list the last one is repeated. It remembers all requests.
    """

    replies: Mapping[str, Any]
    asked: list[tuple[str, Request]] = field(default_factory=list)

    @property
    def model(self) -> Scripted:
        return Scripted("told", self._write)

    @property
    def purposes(self) -> list[str]:
        """What was asked for, in order."""
        return [purpose for purpose, _ in self.asked]

    def texts(self, purpose: str) -> list[str]:
        """All prompts for a purpose."""
        return [text_of(request) for asked, request in self.asked if asked == purpose]

    def _write(self, request: Request) -> str:
        purpose = purpose_of(request)
        n = len(self.texts(purpose))
        self.asked.append((purpose, request))
        reply = self.replies[purpose]
        if isinstance(reply, list):
            reply = reply[min(n, len(reply) - 1)]
        return as_text(reply(request) if callable(reply) else reply)


def forecasts(partner: str, own: str) -> Mapping[str, str]:
    return {"partner_plays": partner, "i_play": own}


def guesses(*texts: str) -> Sequence[Mapping[str, str]]:
    return [{"hypothesis": text} for text in texts]

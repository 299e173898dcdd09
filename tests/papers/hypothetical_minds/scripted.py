"""Scripted models: one that reasons correctly, one that does so at the second attempt, and ones with bad replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from otherminds.language.model import Request
from otherminds.language.scripted import Scripted
from otherminds.papers.hypothetical_minds.verbal.scripted_models import correct_reply, fields_asked
from otherminds.worlds.in_the_matrix.world import InTheMatrix


def strange(request: Request) -> str:
    """The right fields with values that do not exist."""
    strange = {
        "inventory": {"lizard": 5},
        "hypothesis": "...",
        "strategy": "...",
        "lesson": "...",
        "reward": "splendid",
        "success": "perhaps",
        "plan": [{"do": "move_to", "x": -1, "y": 9999}],
    }
    return json.dumps({"reasoning": "", **{field: strange.get(field, "lizard") for field in fields_asked(request)}})


PROSE = "They seem to like paper, so I would say that scissors are the best choice."
BROKEN: Mapping[str, Callable[[Request], str]] = {
    "prose": lambda _: PROSE,
    "silent": lambda _: "",
    "other fields": lambda _: json.dumps({"thought": "rock", "move": "paper"}),
    "two objects": lambda request: strange(request) * 2,
    "strange": strange,
}


def scripted_model(name: str, world: InTheMatrix | None = None) -> Scripted:
    """The model of that name, for a matrix world, or for kitchens: `straight`, `stutterer`, or one of BROKEN."""

    def straight(request: Request) -> str:
        return correct_reply(request, world)

    if name == "stutterer":
        return Scripted(name, lambda request: PROSE if request.draw.endswith(" 0") else straight(request))
    return Scripted(name, straight if name == "straight" else BROKEN[name])

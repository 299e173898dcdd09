"""Programs in the place of language models, to try everything without a model: correct ones, and ones with bad replies.

otherminds reproduce hypothetical --model otherminds.papers.hypothetical_minds.verbal.scripted_models:straight
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from otherminds.errors import unknown
from otherminds.language.asking import plain
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import kinds_of
from otherminds.papers.hypothetical_minds.verbal.scripted_kitchen import KitchenPromptReader
from otherminds.papers.hypothetical_minds.verbal.scripted_matrix import MatrixPromptReader
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix


def _asked(request: Request) -> list[str]:
    """The fields of the reply that a program has to think about."""
    return [field for field in json.loads(request.schema)["properties"] if field != "reasoning"]


def _correct(request: Request, world: InTheMatrix | None) -> str:
    """The reply of a program that reasons correctly, in a matrix world or in a kitchen."""
    text, evidence = text_of(request), "what was seen" if world is None else "the meetings"
    reader = KitchenPromptReader(text) if world is None else MatrixPromptReader(world.rules, kinds_of(world), text)
    reply = {"reasoning": f"It follows from {evidence}.", **reader.answer(_asked(request))}
    return json.dumps(reply, ensure_ascii=False)


def _strange(request: Request) -> str:
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
    return json.dumps({"reasoning": "", **{field: strange.get(field, "lizard") for field in _asked(request)}})


PROSE = "They seem to like paper, so I would say that scissors are the best choice."
BROKEN: Mapping[str, Callable[[Request], str]] = {
    "prose": lambda _: PROSE,
    "silent": lambda _: "",
    "other fields": lambda _: json.dumps({"thought": "rock", "move": "paper"}),
    "two objects": lambda request: _strange(request) * 2,
    "strange": _strange,
}
NAMES = ("straight", "stutterer", *BROKEN)


def scripted_model(name: str, world: InTheMatrix | None = None) -> Scripted:
    """The program of that name, for a matrix world, or for kitchens: `straight` reasons correctly; `stutterer` does so
    at the second attempt.

    All others never keep to the form. Raises InputError for an unknown name.
    """
    if name not in NAMES:
        raise unknown("scripted model", plain(name), NAMES)

    def straight(request: Request) -> str:
        return _correct(request, world)

    if name == "stutterer":
        return Scripted(name, lambda request: PROSE if request.draw.endswith(" 0") else straight(request))
    return Scripted(name, BROKEN.get(name, straight))


def _in_any_world(request: Request) -> str:
    """The correct reply in the world that the prompt is about."""
    worlds, text = map(in_the_matrix, ("rws_repeated", "pd_repeated")), text_of(request)
    return _correct(request, next((w for w in worlds if f"of these kinds: {', '.join(kinds_of(w))}" in text), None))


straight = Scripted("straight", _in_any_world)

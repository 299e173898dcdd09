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
from otherminds.papers.hypothetical_minds.verbal.scripted_kitchen import kitchen_reply
from otherminds.papers.hypothetical_minds.verbal.scripted_matrix import matrix_reply
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix


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
    fields = [field for field in json.loads(request.schema)["properties"] if field != "reasoning"]
    return json.dumps({"reasoning": "", **{field: strange.get(field, "lizard") for field in fields}})


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
        return kitchen_reply(request) if world is None else matrix_reply(world, request)

    if name == "stutterer":
        return Scripted(name, lambda request: PROSE if request.draw.endswith(" 0") else straight(request))
    return Scripted(name, BROKEN.get(name, straight))


def _in_any_world(request: Request) -> str:
    """The correct reply in the world that the prompt is about."""
    text = text_of(request)
    for name in ("rws_repeated", "pd_repeated"):
        world = in_the_matrix(name)
        if f"of these kinds: {', '.join(kinds_of(world))}" in text:
            return matrix_reply(world, request)
    return kitchen_reply(request)


straight = Scripted("straight", _in_any_world)

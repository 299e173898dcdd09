"""A program in the place of a language model that reasons correctly, to try everything without a model.

otherminds reproduce hypothetical --model otherminds.papers.hypothetical_minds.verbal.scripted_models:straight
"""

from __future__ import annotations

import json

from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import kinds_of
from otherminds.papers.hypothetical_minds.verbal.scripted_kitchen import KitchenPromptReader
from otherminds.papers.hypothetical_minds.verbal.scripted_matrix import MatrixPromptReader
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix


def fields_asked(request: Request) -> list[str]:
    """The fields of the reply that a program has to think about."""
    return [field for field in json.loads(request.schema)["properties"] if field != "reasoning"]


def correct_reply(request: Request, world: InTheMatrix | None) -> str:
    """The reply of a program that reasons correctly, in a matrix world or in a kitchen."""
    text = text_of(request)
    evidence = "what was seen" if world is None else "the meetings"
    reader = KitchenPromptReader(text) if world is None else MatrixPromptReader(world.rules, kinds_of(world), text)
    reply = {"reasoning": f"It follows from {evidence}.", **reader.answer(fields_asked(request))}
    return json.dumps(reply, ensure_ascii=False)


def _in_any_world(request: Request) -> str:
    """The correct reply in the world that the prompt is about."""
    worlds = map(in_the_matrix, ("rws_repeated", "pd_repeated"))
    text = text_of(request)
    mentioned = (world for world in worlds if f"of these kinds: {', '.join(kinds_of(world))}" in text)
    return correct_reply(request, next(mentioned, None))


straight = Scripted("straight", _in_any_world)

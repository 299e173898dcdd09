"""A program in the place of a language model that thinks straight in all bundled worlds, by what a prompt is about.

otherminds reproduce hypothetical --model otherminds.papers.hypothetical_minds.verbal.universal:straight
"""

from __future__ import annotations

from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.hypothetical_minds.verbal.cook_thinkers import scripted_cook_thinker
from otherminds.papers.hypothetical_minds.verbal.prompts import kinds_of
from otherminds.papers.hypothetical_minds.verbal.thinkers import scripted_thinker
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix


def _answer(request: Request) -> str:
    text = text_of(request)
    for name in ("rws_repeated", "pd_repeated"):
        world = in_the_matrix(name)
        if f"of these kinds: {', '.join(kinds_of(world))}" in text:
            return scripted_thinker("straight", world).write(request)
    return scripted_cook_thinker("straight").write(request)


straight = Scripted("straight", _answer)

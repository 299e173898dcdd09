"""Language models as facilitators in experiments: one for each episode, and what asking them is going to take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from typing import Any, Protocol

from otherminds.language.model import LanguageModel, Request, Usage
from otherminds.language.prices import CHARACTERS_PER_TOKEN, TOKENS_PER_IMAGE, CallEstimate
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.descriptions import Briefing
from otherminds.papers.protom.episodes import Messages
from otherminds.papers.protom.experiment import Cast, Entry
from otherminds.papers.protom.language_facilitator import Speaking


class Advised(Protocol):
    """Who plays an entry of some experiment if a language model looks on."""

    def __call__(self, entry: Entry, model: LanguageModel, /, *, pictures: bool = False) -> Cast:
        """Everybody, and the model as the facilitator."""
        ...


def subject(model: str) -> str:
    """What tables call a model of this name."""
    return f"lm:{model.replace(':', '-')}"


def speaking(
    entry: Entry, model: LanguageModel, briefing: Briefing[Any, Any], messages: Messages[Any, Any, Any], pictures: bool
) -> Speaking[Any, Any, Any]:
    """A model as the facilitator of an episode, before anybody has done anything."""
    draw = f"{entry.condition} {entry.subject} {entry.level.name}"
    return Speaking(model, briefing, messages, draw, entry.seed, pictures)


def estimate(entries: Sequence[Entry], advised: Advised, *, pictures: bool = False) -> CallEstimate:
    """What a plan will take with a model that never says anything, if every reply can be read.

    Who speaks is asked less often: while a message is under way there is nothing to decide.
    """
    used: list[Usage] = []

    def count(request: Request) -> str:
        prompt = ceil(len(text_of(request)) / CHARACTERS_PER_TOKEN) + TOKENS_PER_IMAGE * pictures
        used.append(Usage(prompt, 0, request.max_tokens))
        return _nothing(request)

    for entry in entries:
        for _ in facilitated.episode(entry, advised(entry, Scripted("silent", count))):
            pass
    return CallEstimate(len(used), sum(used, Usage()))


def _nothing(request: Request) -> str:
    """A reply that can be read, and that chooses no message."""
    wanted = json.loads(request.schema)["properties"]["goals"]["properties"]
    goals = {agent: menu["enum"][0] for agent, menu in wanted.items()}
    return json.dumps({"goals": goals, "reason": "", "choice": 0})

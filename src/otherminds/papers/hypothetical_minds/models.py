"""Language models in the scenarios of Hypothetical Minds: guesses in sentences, ablations, and no theory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from otherminds.errors import InputError, unknown
from otherminds.language.asking import Asker, Exchange, plain
from otherminds.language.model import Usage
from otherminds.papers.hypothetical_minds.agent import Hypothetical
from otherminds.papers.hypothetical_minds.programs import Programs
from otherminds.papers.hypothetical_minds.seats import guessing
from otherminds.papers.hypothetical_minds.verbal.agents import STYLES, Reacting, ReactingCook, SpeakingCook
from otherminds.papers.hypothetical_minds.verbal.hypotheses import ABLATIONS, PUBLISHED, HypothesisSettings
from otherminds.papers.hypothetical_minds.verbal.matrix_body import Subgoals
from otherminds.papers.hypothetical_minds.verbal.sentences import Hybrid, Sentences
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.in_the_matrix.hypotheses import library
from otherminds.worlds.in_the_matrix.world import InTheMatrix

HYBRID = "hybrid"
AGENTS = ("HM", "hybrid", "VMP", "MMP", "MMP+HE", "HE+HR", "react", "reflexion", "planreact")
"""Hypothetical Minds; programs first, sentences where these fail; the ablations; and who has no theory."""
SWEEP = tuple(
    f"HM,{change}" for change in ("top_k=1", "top_k=3", "alpha=0.1", "alpha=0.5", "threshold=0.5", "threshold=0.9")
)
NUMBERS: Mapping[str, Callable[[str], Any]] = {"top_k": int, "alpha": float, "threshold": float, "c": float}
SPEAKING = (Sentences, Hybrid, Subgoals, Reacting, SpeakingCook, ReactingCook)
HINT = f"one of {', '.join(AGENTS)}; after a comma: scripted, mapped, estimated, {', '.join(f'{k}=…' for k in NUMBERS)}"


@dataclass(frozen=True)
class Speaker:
    """An agent that a language model takes part in.

    `scripted`: the body is a program, and the model plans no subgoals; `mapped`: the map is known and not only what
    has been seen; settings are how sentences are judged, with what the partner held worked out unless `estimated`.
    """

    agent: str
    settings: HypothesisSettings = PUBLISHED
    scripted: bool = False
    mapped: bool = False

    @property
    def cooks(self) -> bool:
        """Whether there is such an agent in kitchens; there is no hybrid, and bodies always know the map and are moved
        by plans.
        """
        return self.agent != HYBRID and not self.scripted

    @classmethod
    def parse(cls, spec: str) -> Speaker:
        """An agent by name, with what is otherwise than usual: `HM,scripted,alpha=0.1`. Raises InputError."""
        name, *changes = spec.split(",")
        if name not in AGENTS:
            raise unknown("agent", plain(name), AGENTS, "docs/hypothetical.md lists all")
        speaker = cls(name, ABLATIONS.get(name, PUBLISHED))
        for change in changes:
            speaker = speaker._with(change)
        if speaker.scripted and name in STYLES:
            raise InputError(f"{name} cannot be `scripted`: it is its plans", hint=HINT)
        return speaker

    def _with(self, change: str) -> Speaker:
        key, _, value = change.partition("=")
        if change == "scripted":
            return replace(self, scripted=True)
        if change == "mapped":
            return replace(self, mapped=True)
        if change == "estimated":
            return replace(self, settings=replace(self.settings, exact_inventory=False))
        if key not in NUMBERS:
            raise InputError(f"`{plain(change)[:60]}` says nothing about an agent", hint=HINT)
        try:
            return replace(self, settings=replace(self.settings, **{key: NUMBERS[key](value)}))
        except ValueError as error:
            raise InputError(f"`{plain(change)[:60]}`: {error}", hint=HINT) from None


def spoken(
    speaker: Speaker, world: InTheMatrix, me: str, asker: Asker, rng: np.random.Generator
) -> Hypothetical | Reacting:
    """An agent in a matrix world at the start of an episode."""
    if speaker.agent in STYLES:
        return Reacting.initial(world, me, asker, STYLES[speaker.agent], mapped=speaker.mapped)
    sentences = Sentences.initial(world, me, asker, speaker.settings)
    theory = Hybrid(Programs.of(library(world.rules)), sentences) if speaker.agent == HYBRID else sentences
    if speaker.scripted:
        return guessing(world, me, theory, rng, mapped=speaker.mapped)
    body = Subgoals.initial(world, me, asker.within("body"), mapped=speaker.mapped)
    return Hypothetical.initial(world, me, theory, rng, body=body)


def cook(speaker: Speaker, world: CollaborativeCooking, me: str, asker: Asker) -> SpeakingCook | ReactingCook:
    """An agent in a kitchen at the start of an episode."""
    if speaker.agent in STYLES:
        return ReactingCook.initial(world, me, asker, STYLES[speaker.agent])
    return SpeakingCook.initial(world, me, asker, speaker.settings)


def all_said(mind: object) -> tuple[Exchange, ...]:
    """All that a language model said in an episode."""
    parts = (*mind.theories, mind.body) if isinstance(mind, Hypothetical) else (mind,)
    return tuple(said for part in parts if isinstance(part, SPEAKING) for said in part.said)


def of_calls(mind: object) -> dict[str, Any]:
    """What an agent has asked for in an episode: calls by what they were for, tokens, and what could not be read."""
    said = all_said(mind)
    used = sum((one.usage for one in said), Usage())
    purposes = Counter(one.purpose.partition(" ")[0] for one in said)
    told = {"calls": len(said), "purposes": dict(purposes), "unreadable": sum(not one.readable for one in said)}
    return told | {"prompt_tokens": used.prompt, "written_tokens": used.written}

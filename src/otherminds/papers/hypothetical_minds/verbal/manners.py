"""What agents without a theory of anybody do beside planning subgoals (Cross et al. 2024, E.1–E.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from otherminds.errors import unknown
from otherminds.language.asking import ReplyForm, StrictReply, plain, schema_text, text_fault
from otherminds.papers.hypothetical_minds.verbal.forms import REASONING, SENTENCE
from otherminds.papers.hypothetical_minds.verbal.settings import Calls

KEPT = 10


class Judgement(StrictReply):
    """What came of a plan, and what to remember."""

    reasoning: str
    success: bool
    lesson: str


def judgement_form() -> ReplyForm[Judgement]:
    """Yes or no, and a sentence."""
    schema = schema_text(reasoning=REASONING, success={"type": "boolean"}, lesson=SENTENCE)
    return ReplyForm(schema, Judgement, lambda found: text_fault(found.lesson))


@dataclass(frozen=True)
class Manner:
    """What an agent does beside planning subgoals: plan in words, and reflect after every plan, or meeting."""

    plans: bool = False
    reflects: Literal["", "plan", "meeting"] = ""


MANNERS: Mapping[str, Manner] = MappingProxyType(
    {"react": Manner(), "reflexion": Manner(reflects="plan"), "planreact": Manner(plans=True)}
)


def manner(name: str) -> Manner:
    """The manner of that name. Raises InputError for others."""
    if name not in MANNERS:
        raise unknown("baseline", plain(name), MANNERS)
    return MANNERS[name]


class Thinking(NamedTuple):
    """A call beside those for subgoals: when, for what, what came of it (empty: nothing readable), what was said."""

    t: int
    purpose: str
    text: str
    said: Calls

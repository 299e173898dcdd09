"""Prompt templates, and the forms of replies about a partner: JSON schemas and strict readers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from otherminds.language import asking
from otherminds.language.asking import ReplyForm, Schema, StrictReply

fill = asking.prompts_of("otherminds.papers.hypothetical_minds")

M = TypeVar("M", bound=BaseModel)

MOST = 200  # items in an inventory that can be believed; chosen, not tuned
REASONING: Schema = {"type": "string", "maxLength": 600}
SENTENCE: Schema = {"type": "string", "minLength": 1, "maxLength": asking.LONGEST_TEXT}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": MOST}
YES_OR_NO: Schema = {"type": "boolean"}
SIGNS = {"positive": 1, "neutral": 0, "negative": -1}


class ReasonedReply(StrictReply):
    """A reply that begins with reasons."""

    reasoning: str


class InventoryReply(ReasonedReply):
    """What the partner held in the last meeting."""

    inventory: dict[str, int]


class HypothesisReply(ReasonedReply):
    """What the partner intends."""

    hypothesis: str


class PlayReply(ReasonedReply):
    """What the partner will play, and what to play against it."""

    partner_plays: str
    i_play: str


class SelectionReply(PlayReply):
    """Whom to seek out, what they will play, and what to play against it."""

    players: list[str]


class WholeReply(ReasonedReply):
    """All of it at once; what the partner held only if that is asked for."""

    inventory: dict[str, int] | None = None
    hypothesis: str
    partner_plays: str
    i_play: str


class StrategyReply(ReasonedReply):
    """A strategy for the agent itself."""

    strategy: str


class OwnPlayReply(ReasonedReply):
    """What to play by a strategy."""

    i_play: str


class SignReply(ReasonedReply):
    """The sign of the reward that another play would have had."""

    reward: Literal["positive", "neutral", "negative"]


class ExpectationReply(ReasonedReply):
    """What a partner in a kitchen will do."""

    expects: str


class FitReply(ReasonedReply):
    """Whether a partner in a kitchen did what was expected."""

    fits: bool


class WholeKitchenReply(ReasonedReply):
    """A hypothesis about a partner in a kitchen, what it will do, and a strategy, all at once."""

    hypothesis: str
    expects: str
    strategy: str


class LessonReply(ReasonedReply):
    """Whether a plan succeeded, and what to remember."""

    success: bool
    lesson: str


def reply_form(kind: type[M], **fields: Schema) -> ReplyForm[M]:
    """The form of a reply with these fields after its reasons; each value has to be what its schema asks for."""

    def fault(reply: M) -> str | None:
        values = ((name, getattr(reply, name)) for name in kind.model_fields if name != "reasoning")
        return next((why for name, value in values if (why := _fault(name, value, fields.get(name)))), None)

    return ReplyForm(asking.schema_text(reasoning=REASONING, **fields), kind, fault)


def _fault(name: str, value: Any, schema: Schema | None) -> str | None:
    """What is wrong with a value of the right type; without a schema it was not asked for."""
    if schema is None:
        return None if value is None else f"{name}: was not asked for"
    if value is None:
        return f"{name}: is missing"
    if schema is SENTENCE:
        return asking.text_fault(value)
    if "items" in schema:
        none = None if value else f"{name}: names nobody"
        return next((why for item in value if (why := _fault(name, item, schema["items"]))), none)
    if "enum" in schema and value not in schema["enum"]:
        return f"names `{value[:40]}`, which is not one of {_quoted(schema['enum'])}"
    if "properties" in schema and value.keys() != schema["properties"].keys():
        return f"{name}: does not have a number for each of {_quoted(schema['properties'])}, and for nothing else"
    if "properties" in schema and not all(0 <= count <= MOST for count in value.values()):
        return f"{name}: has a number that is not from 0 to {MOST}"
    return None


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(json.dumps(name, ensure_ascii=False) for name in names)


HYPOTHESIS = reply_form(HypothesisReply, hypothesis=SENTENCE)
STRATEGY = reply_form(StrategyReply, strategy=SENTENCE)
EXPECTATION = reply_form(ExpectationReply, expects=SENTENCE)
WHOLE_KITCHEN = reply_form(WholeKitchenReply, hypothesis=SENTENCE, expects=SENTENCE, strategy=SENTENCE)
FIT = reply_form(FitReply, fits=YES_OR_NO)
SIGN = reply_form(SignReply, reward=asking.enum_schema(list(SIGNS)))
LESSON = reply_form(LessonReply, success=YES_OR_NO, lesson=SENTENCE)


def _counts(kinds: Sequence[str]) -> Schema:
    return asking.object_schema(**dict.fromkeys(kinds, COUNT))


def inventory_form(kinds: Sequence[str]) -> ReplyForm[InventoryReply]:
    """A count for every kind."""
    return reply_form(InventoryReply, inventory=_counts(kinds))


def play_form(kinds: Sequence[str]) -> ReplyForm[PlayReply]:
    """Two of the kinds."""
    return reply_form(PlayReply, partner_plays=asking.enum_schema(kinds), i_play=asking.enum_schema(kinds))


def selection_form(players: Sequence[str], kinds: Sequence[str]) -> ReplyForm[SelectionReply]:
    """Some of the players, and two of the kinds."""
    kind = asking.enum_schema(kinds)
    some = {"type": "array", "items": asking.enum_schema(players), "minItems": 1, "maxItems": len(players)}
    return reply_form(SelectionReply, players=some, partner_plays=kind, i_play=kind)


def own_play_form(kinds: Sequence[str]) -> ReplyForm[OwnPlayReply]:
    """One of the kinds."""
    return reply_form(OwnPlayReply, i_play=asking.enum_schema(kinds))


def whole_form(kinds: Sequence[str], *, estimate: bool) -> ReplyForm[WholeReply]:
    """A sentence and two of the kinds; with an estimate, a count for every kind too."""
    counts = {"inventory": _counts(kinds)} if estimate else {}
    kind = asking.enum_schema(kinds)
    return reply_form(WholeReply, **counts, hypothesis=SENTENCE, partner_plays=kind, i_play=kind)

"""The forms of replies about a partner, in matrix worlds and in kitchens: JSON schemas and strict readers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, TypeVar

from pydantic import BaseModel

from otherminds.language.asking import (
    LONGEST_TEXT,
    ReplyForm,
    Schema,
    StrictReply,
    enum_schema,
    object_schema,
    schema_text,
    text_fault,
)

M = TypeVar("M", bound=BaseModel)

MOST = 200  # items in an inventory that can be believed; chosen, not tuned
REASONING: Schema = {"type": "string", "maxLength": 600}
SENTENCE: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": MOST}
YES_OR_NO: Schema = {"type": "boolean"}
SIGNS = {"positive": 1, "neutral": 0, "negative": -1}


class InventoryReply(StrictReply):
    """What the partner held in the last meeting."""

    reasoning: str
    inventory: dict[str, int]


class HypothesisReply(StrictReply):
    """What the partner intends."""

    reasoning: str
    hypothesis: str


class PlayReply(StrictReply):
    """What the partner will play, and what to play against it."""

    reasoning: str
    partner_plays: str
    i_play: str


class WholeReply(StrictReply):
    """All of it at once; what the partner held only if that is asked for."""

    reasoning: str
    inventory: dict[str, int] | None = None
    hypothesis: str
    partner_plays: str
    i_play: str


class StrategyReply(StrictReply):
    """A strategy for the agent itself."""

    reasoning: str
    strategy: str


class OwnPlayReply(StrictReply):
    """What to play by a strategy."""

    reasoning: str
    i_play: str


class SignReply(StrictReply):
    """The sign of the reward that another play would have had."""

    reasoning: str
    reward: Literal["positive", "neutral", "negative"]


class ExpectationReply(StrictReply):
    """What a partner in a kitchen will do."""

    reasoning: str
    expects: str


class FitReply(StrictReply):
    """Whether a partner in a kitchen did what was expected."""

    reasoning: str
    fits: bool


class WholeKitchenReply(StrictReply):
    """A hypothesis about a partner in a kitchen, what it will do, and a strategy, all at once."""

    reasoning: str
    hypothesis: str
    expects: str
    strategy: str


class LessonReply(StrictReply):
    """Whether a plan succeeded, and what to remember."""

    reasoning: str
    success: bool
    lesson: str


def _sentences_form(kind: type[M], *fields: str) -> ReplyForm[M]:
    """The form of a reply whose fields are all sentences."""

    def fault(found: M) -> str | None:
        return next((why for field in fields if (why := text_fault(getattr(found, field)))), None)

    return ReplyForm(schema_text(reasoning=REASONING, **dict.fromkeys(fields, SENTENCE)), kind, fault)


HYPOTHESIS = _sentences_form(HypothesisReply, "hypothesis")
STRATEGY = _sentences_form(StrategyReply, "strategy")
EXPECTATION = _sentences_form(ExpectationReply, "expects")
WHOLE_KITCHEN = _sentences_form(WholeKitchenReply, "hypothesis", "expects", "strategy")
FIT = ReplyForm(schema_text(reasoning=REASONING, fits=YES_OR_NO), FitReply, lambda _: None)
SIGN = ReplyForm(schema_text(reasoning=REASONING, reward=enum_schema(list(SIGNS))), SignReply, lambda _: None)
LESSON = ReplyForm(
    schema_text(reasoning=REASONING, success=YES_OR_NO, lesson=SENTENCE),
    LessonReply,
    lambda found: text_fault(found.lesson),
)


def inventory_form(kinds: Sequence[str]) -> ReplyForm[InventoryReply]:
    """A count for every kind."""
    schema = schema_text(reasoning=REASONING, inventory=object_schema(**dict.fromkeys(kinds, COUNT)))
    return ReplyForm(schema, InventoryReply, lambda found: _inventory_fault(found.inventory, kinds))


def play_form(kinds: Sequence[str]) -> ReplyForm[PlayReply]:
    """Two of the kinds."""
    schema = schema_text(reasoning=REASONING, partner_plays=enum_schema(kinds), i_play=enum_schema(kinds))
    return ReplyForm(schema, PlayReply, lambda found: _kind_fault(kinds, found.partner_plays, found.i_play))


def own_play_form(kinds: Sequence[str]) -> ReplyForm[OwnPlayReply]:
    """One of the kinds."""
    schema = schema_text(reasoning=REASONING, i_play=enum_schema(kinds))
    return ReplyForm(schema, OwnPlayReply, lambda found: _kind_fault(kinds, found.i_play))


def whole_form(kinds: Sequence[str], *, estimate: bool) -> ReplyForm[WholeReply]:
    """A sentence and two of the kinds; with an estimate, a count for every kind too."""
    rest = {"hypothesis": SENTENCE, "partner_plays": enum_schema(kinds), "i_play": enum_schema(kinds)}
    counts = {"inventory": object_schema(**dict.fromkeys(kinds, COUNT))} if estimate else {}

    def fault(found: WholeReply) -> str | None:
        if (found.inventory is not None) != estimate:
            return "inventory: is missing" if estimate else "inventory: was not asked for"
        counted = None if found.inventory is None else _inventory_fault(found.inventory, kinds)
        return counted or text_fault(found.hypothesis) or _kind_fault(kinds, found.partner_plays, found.i_play)

    return ReplyForm(schema_text(reasoning=REASONING, **counts, **rest), WholeReply, fault)


def _inventory_fault(found: dict[str, int], kinds: Sequence[str]) -> str | None:
    if found.keys() != set(kinds):
        return f"inventory: does not have a number for each of {_quoted(kinds)}, and for nothing else"
    if not all(0 <= count <= MOST for count in found.values()):
        return f"inventory: has a number that is not from 0 to {MOST}"
    return None


def _kind_fault(kinds: Sequence[str], *named: str) -> str | None:
    strange = [name for name in named if name not in kinds]
    return f"names `{strange[0][:40]}`, which is not one of {_quoted(kinds)}" if strange else None


def _quoted(kinds: Sequence[str]) -> str:
    return ", ".join(json.dumps(kind, ensure_ascii=False) for kind in kinds)

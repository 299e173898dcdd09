"""What a language model is to write about a partner, and how that is read; none of it is ever made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

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

MOST = 200
REASONING: Schema = {"type": "string", "maxLength": 600}
SENTENCE: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": MOST}
Sign = Literal["positive", "neutral", "negative"]


class Estimate(StrictReply):
    """What the partner held in the last meeting."""

    reasoning: str
    inventory: dict[str, int]


class Guess(StrictReply):
    """What the partner is up to."""

    reasoning: str
    hypothesis: str


class Forecast(StrictReply):
    """What the partner will play, and what to play against it."""

    reasoning: str
    partner_plays: str
    i_play: str


class Whole(StrictReply):
    """All of it at once; what the partner held only if that is asked for."""

    reasoning: str
    inventory: dict[str, int] | None = None
    hypothesis: str
    partner_plays: str
    i_play: str


class Resolution(StrictReply):
    """A strategy for oneself."""

    reasoning: str
    strategy: str


class Choice(StrictReply):
    """What a strategy has one play."""

    reasoning: str
    i_play: str


class Verdict(StrictReply):
    """What the reward would have been for another play."""

    reasoning: str
    reward: Sign


def estimate_form(kinds: Sequence[str]) -> ReplyForm[Estimate]:
    """A count for every kind."""
    schema = schema_text(reasoning=REASONING, inventory=_counts(kinds))
    return ReplyForm(schema, Estimate, lambda found: _inventory_fault(found.inventory, kinds))


def guess_form() -> ReplyForm[Guess]:
    """A sentence."""
    return ReplyForm(
        schema_text(reasoning=REASONING, hypothesis=SENTENCE), Guess, lambda found: text_fault(found.hypothesis)
    )


def forecast_form(kinds: Sequence[str]) -> ReplyForm[Forecast]:
    """Two of the kinds."""
    schema = schema_text(reasoning=REASONING, partner_plays=enum_schema(kinds), i_play=enum_schema(kinds))
    return ReplyForm(schema, Forecast, lambda found: _kind_fault(kinds, found.partner_plays, found.i_play))


def whole_form(kinds: Sequence[str], *, estimate: bool) -> ReplyForm[Whole]:
    """A sentence and two of the kinds; with an estimate, a count for every kind too."""
    rest = {"hypothesis": SENTENCE, "partner_plays": enum_schema(kinds), "i_play": enum_schema(kinds)}
    counts = {"inventory": _counts(kinds)} if estimate else {}

    def fault(found: Whole) -> str | None:
        if (found.inventory is not None) != estimate:
            return "inventory: is missing" if estimate else "inventory: was not asked for"
        counted = None if found.inventory is None else _inventory_fault(found.inventory, kinds)
        return counted or text_fault(found.hypothesis) or _kind_fault(kinds, found.partner_plays, found.i_play)

    return ReplyForm(schema_text(reasoning=REASONING, **counts, **rest), Whole, fault)


def resolution_form() -> ReplyForm[Resolution]:
    """A sentence."""
    return ReplyForm(
        schema_text(reasoning=REASONING, strategy=SENTENCE), Resolution, lambda found: text_fault(found.strategy)
    )


def choice_form(kinds: Sequence[str]) -> ReplyForm[Choice]:
    """One of the kinds."""
    schema = schema_text(reasoning=REASONING, i_play=enum_schema(kinds))
    return ReplyForm(schema, Choice, lambda found: _kind_fault(kinds, found.i_play))


def verdict_form() -> ReplyForm[Verdict]:
    """A sign."""
    schema = schema_text(reasoning=REASONING, reward=enum_schema(("positive", "neutral", "negative")))
    return ReplyForm(schema, Verdict, lambda _: None)


def _counts(kinds: Sequence[str]) -> Schema:
    return object_schema(**dict.fromkeys(kinds, COUNT))


def _inventory_fault(found: dict[str, int], kinds: Sequence[str]) -> str | None:
    if found.keys() != set(kinds):
        return f"inventory: does not have a number for each of {_listed(kinds)}, and for nothing else"
    if not all(0 <= count <= MOST for count in found.values()):
        return f"inventory: has a number that is not from 0 to {MOST}"
    return None


def _kind_fault(kinds: Sequence[str], *named: str) -> str | None:
    strange = [name for name in named if name not in kinds]
    return f"names `{strange[0][:40]}`, which is not one of {_listed(kinds)}" if strange else None


def _listed(kinds: Sequence[str]) -> str:
    return ", ".join(json.dumps(kind, ensure_ascii=False) for kind in kinds)

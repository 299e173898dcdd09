"""Sentences that the rules cannot read, put plainly by a language model, one at a time.

The model writes deeds down, with names from the story only. The rules read them as sentences. It never answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from otherminds.language.asking import Unreadable, prompts_of, read_json
from otherminds.language.model import LanguageModel, Message, Request
from otherminds.stories.by_model.replies import Form, one_line

MOST_DEEDS = 3  # of one sentence (chosen; not tuned)
TOKENS = 220  # of a reply: three deeds (chosen; not tuned)

fill = prompts_of("otherminds.stories.everyday")


class _Deed(Form):
    does: Literal["puts", "leaves", "returns", "sees", "misses", "tells"]
    who: str | None
    thing: str | None
    place: str | None
    to: str | None


class _Account(Form):
    deeds: list[_Deed]


def put_plainly(
    model: LanguageModel, story: str, sentence: str, people: Sequence[str], things: Sequence[str], places: Sequence[str]
) -> str | None:
    """What a sentence of a story tells, in sentences that the rules can read; None if the reply cannot be read.

    Empty if it tells of no deed. Raises ModelError if the model does not answer.
    """
    schema = _Account.model_json_schema()
    deed = schema["$defs"]["_Deed"]["properties"]
    for key, names in (("who", people), ("to", people), ("thing", things), ("place", places)):
        deed[key] = {"enum": [*names, None]}
    schema["properties"]["deeds"]["maxItems"] = MOST_DEEDS
    prompt = fill("sentence", story=one_line(story), sentence=one_line(sentence))
    reply = model.complete(Request((Message("user", prompt),), TOKENS, schema=json.dumps(schema), draw="sentence"))
    found = read_json(reply.text, _Account)
    if isinstance(found, Unreadable):
        return None
    told = [_sentence(one) for one in found.deeds[:MOST_DEEDS] if _named(one, people, things, places)]
    return " ".join(one for one in told if one)


def _named(deed: _Deed, people: Sequence[str], things: Sequence[str], places: Sequence[str]) -> bool:
    """Whether a deed names only what the story names; a model without a grammar may not keep to the schema."""
    allowed = ((deed.who, people), (deed.to, people), (deed.thing, things), (deed.place, places))
    return all(name is None or name in names for name, names in allowed) and deed.who is not None


def _sentence(deed: _Deed) -> str:
    """A deed in words that the rules read; empty if it lacks what it needs."""
    who = deed.who or ""
    who = who[0].upper() + who[1:]
    match deed.does:
        case "leaves":
            return f"{who} left."
        case "returns":
            return f"{who} came back."
        case "misses":
            return f"{who} did not see it."
    if deed.thing is None:
        return ""
    if deed.does == "sees":
        return f"{who} saw where the {deed.thing} was."
    if deed.place is None:
        return ""
    if deed.does == "puts":
        return f"{who} put the {deed.thing} {deed.place}."
    return f"{who} told {deed.to} that the {deed.thing} was {deed.place}." if deed.to else ""

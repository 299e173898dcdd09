"""Every reader of what language models write: what can be read, as data or as text, and what came of a text.

Whatever a model writes, a reader gives a value or says that it is unreadable, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from typing import Any

import numpy as np
from pydantic import BaseModel

from otherminds.language.asking import Asker, ReplyForm, Unreadable
from otherminds.language.choices import read_choice
from otherminds.language.scripted import Scripted
from otherminds.papers.functional.game_prompts import read_plans
from otherminds.papers.hypothetical_minds.verbal import cook_subgoals, forms, matrix_subgoals
from otherminds.papers.hypothetical_minds.verbal.matrix_body import MatrixBody
from otherminds.papers.protom import language_facilitator as speaking
from otherminds.stories.by_model import answer_with
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from papers.mumatom.limp_forms import limp_forms
from speaking_cooks import ROOM, kitchen_of, moment, seen

LABELS = (
    ("Rock", "Paper", "Scissors"),
    ("J", "F", "B"),
    ("Fight", "Ballet"),
    ("JJJJJJJ", "FFFFFFF"),
    ("İstanbul", "Straße"),
)
STORY = (
    "Sally and Anne are in the kitchen. Sally puts the marble in the basket. Sally leaves the kitchen. "
    "Anne moves the marble to the box."
)
BASKET, BOX = "in the basket", "in the box"
LISTS: dict[str, list[str]] = {"to": [], "unnoticed": []}
DICTATED = {
    "about": "where the marble is",
    "values": [BASKET, BOX],
    "people": ["Sally", "Anne"],
    "answers": [{"answer": p, "claims": [{"minds": ["Sally"], "value": p, "so": True}]} for p in (BASKET, BOX)],
    "after": 4,
    "told": [
        {"sentence": 2, "does": "is", "value": BASKET, "who": ["Sally", "Anne"], **LISTS},
        {"sentence": 4, "does": "is", "value": BOX, "who": ["Sally", "Anne"], **LISTS},
        {"sentence": 4, "does": "misses", "value": None, "who": ["Sally"], **LISTS},
    ],
}
WHY = "It has played so before."


@dataclass(frozen=True)
class ReplyReader:
    """A reader of replies. `good` are replies as data, or as text where they are no JSON.

    `illegal` has the right form and a choice that nobody has; `legal` is a choice that may be made.
    """

    name: str
    read: Callable[[str], object]
    good: Sequence[Any]
    illegal: Any
    legal: str
    labels: tuple[str, ...] = ()

    def reads(self, text: str) -> Any:
        """What came of a text; None if it is unreadable."""
        found = self.read(text)
        return None if isinstance(found, Unreadable) else found


@cache
def reply_readers() -> Mapping[str, ReplyReader]:
    """All of them by name."""
    return {one.name: one for part in (_games, _papers, _guesses, _bodies, _dictation) for one in part()}


def _games() -> Iterator[ReplyReader]:
    for labels in LABELS:
        good = [f"Answer: option {label}" for label in labels]
        good += [f"I look at what happened.\n\n**Answer:** option {labels[0]}.", f'answer: "{labels[-1]}"']
        about = ("Answer: option Lizard", labels[0], labels)
        yield ReplyReader(f"game answer {'/'.join(labels)}", partial(read_choice, labels=labels), good, *about)
        notes = [f"Plans: keep to it\nInsights: none yet\nAnswer: option {label}" for label in labels]
        yield ReplyReader(f"game plans {'/'.join(labels)}", partial(read_plans, labels=labels), notes, *about)


def _papers() -> Iterator[ReplyReader]:
    agents, goals = ("Ana", "Ben"), ("red gem", "blue gem")
    good = {"goals": {"Ana": "red gem", "Ben": "blue gem"}, "reason": "Ana has the key.", "choice": 2}
    illegal = {**good, "choice": 4}
    form = speaking.answer_form(agents, goals, 3)
    yield _form("facilitator", form, illegal, '"choice": 2', good, {**good, "choice": 0})
    yield from (_form(*one) for one in limp_forms(STORY))


def _form(name: str, form: ReplyForm[Any], illegal: Any, legal: str, *good: Any) -> ReplyReader:
    return ReplyReader(name, form.read, good, illegal, legal)


def _guesses() -> Iterator[ReplyReader]:
    kinds = ("rock", "paper", "scissors")
    counts, play = {"rock": 3, "paper": 1, "scissors": 0}, {"partner_plays": "rock", "i_play": "paper"}
    bad = {**play, "i_play": "lizard"}
    why = {"reasoning": WHY}
    yield _form(
        "HM estimate",
        forms.inventory_form(kinds),
        why | {"inventory": {**counts, "lizard": 1}},
        "3",
        why | {"inventory": counts},
    )
    guess = why | {"hypothesis": "It always plays rock."}
    yield _form("HM guess", forms.HYPOTHESIS, why | {"hypothesis": "?"}, "rock", guess)
    yield _form("HM forecast", forms.play_form(kinds), why | bad, "paper", why | play)
    yield _form("HM whole", forms.whole_form(kinds, estimate=False), guess | bad, "paper", guess | play)
    yield _form(
        "HM whole, estimated",
        forms.whole_form(kinds, estimate=True),
        guess | play,
        "paper",
        guess | play | {"inventory": counts},
    )
    yield _form("HM strategy", forms.STRATEGY, why | {"strategy": "..."}, "rock", why | {"strategy": "Play paper."})
    yield _form("HM choice", forms.own_play_form(kinds), why | {"i_play": "lizard"}, "paper", why | {"i_play": "paper"})
    yield _form("HM verdict", forms.SIGN, why | {"reward": "maybe"}, "positive", why | {"reward": "negative"})
    yield _form("HM judgement", forms.LESSON, {"success": "maybe"}, "true", why | {"success": True, "lesson": "Go on."})


def _bodies() -> Iterator[ReplyReader]:
    world, why = in_the_matrix("rws_repeated"), {"reasoning": WHY}
    body = MatrixBody.initial(world, world.agents[0], Asker(Scripted("none", lambda _: "")))
    start = world.start(np.random.default_rng(0))
    situation = body.look(world.observe(start, world.agents[0])).situation
    good = why | {"plan": [{"do": "interact"}, {"do": "wait", "steps": 3}, {"do": "fire_at", "player": "player_1"}]}
    bad = why | {"plan": [{"do": "move_to", "x": 999, "y": 0}]}
    form, patrol = matrix_subgoals.matrix_plan_form(situation), why | {"plan": [{"do": "patrol"}]}
    yield _form("HM subgoals", form, bad, "patrol", good, patrol)
    kitchen = kitchen_of(*ROOM)
    scene = seen(kitchen, moment(kitchen, "3 1 N", "6 1 E"))
    cook = why | {"plan": [{"do": "interact", "x": 1, "y": 0}, {"do": "wait", "x": 2, "y": 0, "until": "ready"}]}
    far = why | {"plan": [{"do": "interact", "x": 99, "y": 0}]}
    yield _form("HM cook subgoals", cook_subgoals.cook_plan_form(scene), far, "interact", cook)
    expects = why | {"expects": "It brings a dish."}
    yield _form("HM cook expects", forms.EXPECTATION, why | {"expects": ""}, "dish", expects)
    yield _form("HM cook fits", forms.FIT, why | {"fits": "perhaps"}, "true", why | {"fits": True})
    whole = expects | {"hypothesis": "It waits.", "strategy": "Bring tomatoes."}
    yield _form("HM cook whole", forms.WHOLE_KITCHEN, whole | {"strategy": "!"}, "dish", whole)


def _dictation() -> Iterator[ReplyReader]:
    """The reader that is asked through a model that always writes the same."""

    def story(text: str) -> object:
        _, question, answer = answer_with(_saying(text), STORY, "Where will Sally look?", (BASKET, BOX))
        return Unreadable("", text) if question is None or answer.option is None else answer.option

    yield ReplyReader("story", story, [DICTATED], {**DICTATED, "people": ["Zed"]}, "Sally")


def _saying(text: str) -> Scripted:
    return Scripted("one reply", lambda _: text)


# What may be read


def may_be_read(reader: ReplyReader, text: str, value: Any) -> bool:
    """Whether a value that was read is what the text says, by rules simpler and more generous than the reader's own.

    Of a game, the last line that begins with `Answer:` begins with the option, or else the text names no other option,
    be it misspelt. All else is one JSON value, in which each key comes once and no number is NaN, and each number,
    truth value and text of the value stands where it was read.
    """
    if reader.labels:
        chosen = value if isinstance(value, int) else value.action
        *said, label = (re.sub(r"[^\w:]|_", "", part.casefold()) for part in (*text.split("\n"), reader.labels[chosen]))
        answers = [line.removeprefix("answer:").lstrip(":") for line in said if line.startswith("answer:")]
        if answers and answers[-1].removeprefix("option").startswith(label):
            return True
        words = re.findall(r"[^\W_]+", text.casefold())
        named = [one for one in reader.labels if get_close_matches(one.casefold(), words, 1, 0.7)]
        exact = [one for one in named if one.casefold() in words]
        return (exact or named) == [reader.labels[chosen]]
    inner = re.fullmatch(r"\s*```(?:json)?\s*\n(.*)```\s*", text, re.DOTALL)
    try:
        data = json.loads(inner[1] if inner else text, object_pairs_hook=_pairs, parse_constant=_pairs)
    except (ValueError, RecursionError):
        return False
    return not isinstance(value, BaseModel) or _stands(value.model_dump(by_alias=True), data)


def _pairs(pairs: Any) -> dict[str, Any]:
    if isinstance(pairs, str) or len(dict(pairs)) < len(pairs):
        raise ValueError(pairs)
    return dict(pairs)


def _stands(value: Any, data: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(data, dict) and all(_stands(one, data.get(key)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return isinstance(data, list) and len(value) == len(data) and all(map(_stands, value, data))
    if isinstance(value, str) and isinstance(data, str):
        return _visible(value) == _visible(data)
    return type(value) is type(data) and bool(value == data)


def _visible(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and not c.isspace())

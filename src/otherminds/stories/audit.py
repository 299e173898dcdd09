"""Is the label right? Every question of a benchmark answered from its story, and held against the answer it gives.

A label is said to be wrong only if all of the story that matters was read, the answer is sure, and no convention on who
sees what that the other labels follow would make it right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import Literal, get_args

from otherminds.errors import InputError
from otherminds.stories.beliefs.belief_files import Item, plain
from otherminds.stories.beliefs.nested_beliefs import answer_where
from otherminds.stories.beliefs.perspectives import EVERYDAY, HI_TOM, SALLY_ANNE, TOMI, Conventions
from otherminds.stories.english.questions import read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.english.statements import Unread
from otherminds.stories.model import Answer, Episode, Happening, Hypothesis, Question, Reading

Outcome = Literal["agrees", "contradicts", "abstains", "unread"]
SURE = 0.9
PRONOUNS = "he she they him her them his hers their it its who everybody everyone nobody somebody someone all both"


@dataclass(frozen=True)
class Judged:
    """An answer to an item in the words of its options, and what of the story was not read."""

    answer: Answer
    labels: tuple[str, ...]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What was found of one label: `ours` is the other answer, `because` what decides it, `why` what is missing."""

    item: Item
    outcome: Outcome
    ours: str = ""
    because: tuple[Happening, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Audit:
    """The verdicts in the order of the items, and the conventions the labels of each group of items follow."""

    verdicts: tuple[Verdict, ...]
    followed: dict[str, tuple[Conventions, ...]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many labels there are of each outcome."""
        found = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: found[outcome] for outcome in get_args(Outcome)}

    @property
    def contradicted(self) -> tuple[Verdict, ...]:
        """The labels that are wrong."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == "contradicts")


Answerer = Callable[[Item, Conventions], Judged]
"""Answers an item under some conventions. Raises Unread, with the sentence, if it cannot be read."""


def answer_item(item: Item, conventions: Conventions = EVERYDAY) -> Judged:
    """Where a thing is, or where somebody thinks that somebody thinks it is. Raises Unread if it is asked otherwise."""
    reading, question, labels = _read(item)
    return Judged(answer_where(reading.episode, question, conventions), labels, _relevant(reading))


def audit(
    items: Iterable[Item], conventions: Sequence[Conventions] | None = None, answer: Answerer = answer_item
) -> Audit:
    """Hold every label against an answer.

    Without conventions, ToMi and Hi-ToM have their own, and other files those that most of their labels follow: people
    who come back either see what was moved, or do not until they look. With some, all must contradict a label.
    """
    everything = tuple(items)
    verdicts: dict[int, Verdict] = {}
    followed: dict[str, tuple[Conventions, ...]] = {}
    numbered = sorted(enumerate(everything), key=lambda pair: family(pair[1]))
    for name, group in groupby(numbered, key=lambda pair: family(pair[1])):
        rows = list(group)
        tried = conventions or _conventions(name)
        found = {one: [_verdict(item, one, answer) for _, item in rows] for one in tried}
        agreed = {one: sum(verdict.outcome == "agrees" for verdict in column) for one, column in found.items()}
        kept = tuple(tried) if conventions else tuple(one for one in tried if agreed[one] == max(agreed.values()))
        followed[name] = kept
        for row, (number, _) in enumerate(rows):
            verdicts[number] = _joint([found[one][row] for one in kept])
    return Audit(tuple(verdicts[number] for number in range(len(everything))), followed)


def family(item: Item) -> str:
    """The benchmark an item is of, if it is one with its own conventions."""
    return next((name for name in ("ToMi", "Hi-ToM", "BigToM") if item.group.startswith(name)), "others")


def _conventions(name: str) -> tuple[Conventions, ...]:
    return {"ToMi": (TOMI,), "Hi-ToM": (HI_TOM,)}.get(name, (EVERYDAY, SALLY_ANNE))


def _verdict(item: Item, conventions: Conventions, answer: Answerer) -> Verdict:
    try:
        judged = answer(item, conventions)
    except (Unread, InputError) as error:
        return Verdict(item, "unread", why=str(error))
    if judged.unread:
        return Verdict(item, "unread", why=judged.unread[0])
    found = judged.answer
    if found.option is None or max(found.posterior) < SURE:
        return Verdict(item, "abstains", why=found.abstained or "no answer is sure")
    ours = judged.labels[found.option]
    because = tuple(term.happening for term in found.decisive())
    outcome: Outcome = "agrees" if plain(ours) == plain(item.gold) else "contradicts"
    return Verdict(item, outcome, ours, because)


def _joint(verdicts: Sequence[Verdict]) -> Verdict:
    """A label is right if it can be, and wrong only if it must be."""
    for verdict in verdicts:
        if verdict.outcome != "contradicts":
            return next((other for other in verdicts if other.outcome == "agrees"), verdict)
    return verdicts[0]


@lru_cache(maxsize=4096)
def _read(item: Item) -> tuple[Reading, Question, tuple[str, ...]]:
    """The story and the question; without options, the label and the other places of the story are the options."""
    reading = read_story(item.story)
    labels = item.options or tuple(dict.fromkeys((item.gold, *_places(reading.episode))))
    question = read_question(item.question, labels, reading)
    if item.options:
        return reading, question, labels
    first: dict[Hypothesis, str] = {}
    for option, label in zip(question.options, labels, strict=True):
        first.setdefault(option, label)
    options = Question(
        question.id, tuple(first), question.polarity, question.given, question.presumes, question.at, question.kind
    )
    return reading, options, tuple(first.values())


def _places(episode: Episode) -> tuple[str, ...]:
    return tuple(entity.id for entity in episode.entities if entity.kind == "place")


def _relevant(reading: Reading) -> tuple[str, ...]:
    """The sentences that were not read and speak of somebody or something of the story."""
    if reading.coverage == 1.0:
        return ()
    names = {word for entity in reading.episode.entities for word in re.findall(r"\w+", entity.id.casefold())}
    names.update(PRONOUNS.split())
    spoken = {sentence: set(re.findall(r"[^\W_]+", sentence.casefold())) for sentence in reading.unread}
    return tuple(sentence for sentence, words in spoken.items() if words & names)

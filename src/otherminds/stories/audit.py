"""Audits of benchmark labels: every question is answered from its story and compared with its label.

A label is contradicted only if all relevant sentences were read, the answer is at least `SURE`, and no convention that
the other labels follow makes it right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Literal, TypeVar, get_args

from otherminds.errors import InputError
from otherminds.stories.beliefs.belief_files import Item, plain
from otherminds.stories.beliefs.nested_beliefs import answer_where
from otherminds.stories.beliefs.perspectives import EVERYDAY, HI_TOM, SALLY_ANNE, TOMI, Conventions
from otherminds.stories.english.questions import read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.english.statements import Unread
from otherminds.stories.model import Answer, AnswerOption, Happening, Question, Reading

C = TypeVar("C")
Outcome = Literal["agrees", "contradicts", "abstains", "unread"]
OF_BENCHMARKS: dict[str, tuple[Conventions, ...]] = {
    "ToMi": (TOMI,),
    "Hi-ToM": (HI_TOM,),
    "ToMBench": (SALLY_ANNE,),
}
SURE = 0.9  # least probability of an answer that can contradict a label; chosen, not tuned
PRONOUNS = "he she they him her them his hers their it its who everybody everyone nobody somebody someone all both"


@dataclass(frozen=True)
class Judged:
    """An answer to an item, its options in words, and the relevant sentences that were not read."""

    answer: Answer
    labels: tuple[str, ...]
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The outcome for one label: `ours` is our answer, `because` the decisive happenings, `why` the reason for none."""

    item: Item
    outcome: Outcome
    ours: str = ""
    because: tuple[Happening, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Audit:
    """The verdicts in the order of the items, and the conventions that the labels of each benchmark follow.

    `faults` says of every row of the file that could not be read where it is, and why.
    """

    verdicts: tuple[Verdict, ...]
    followed: dict[str, tuple[Conventions, ...]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[Outcome, int]:
        """The number of labels of each outcome."""
        tally = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: tally[outcome] for outcome in get_args(Outcome)}

    @property
    def contradicted(self) -> tuple[Verdict, ...]:
        """The verdicts on contradicted labels."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == "contradicts")


Answerer = Callable[[Item, Conventions], Judged]  # raises Unread, with the sentence, if the item cannot be read


def answer_item(item: Item, conventions: Conventions = EVERYDAY) -> Judged:
    """The answer to a question about an item's place, in reality or in (nested) belief. Raises Unread for others."""
    reading, question, labels = _read(item)
    return Judged(answer_where(reading.episode, question, conventions), labels, _relevant(reading))


def audit(
    items: Iterable[Item], conventions: Sequence[Conventions] | None = None, answer: Answerer = answer_item
) -> Audit:
    """Compare every label with an answer.

    Without `conventions`, ToMi and Hi-ToM have their own, and other benchmarks those that most of their labels follow
    (`EVERYDAY` or `SALLY_ANNE`). A label is contradicted only under all conventions tried.
    """
    everything = tuple(items)
    verdicts: dict[int, Verdict] = {}
    followed: dict[str, tuple[Conventions, ...]] = {}
    numbered = sorted(enumerate(everything), key=lambda pair: family(pair[1]))
    for name, group in groupby(numbered, key=lambda pair: family(pair[1])):
        rows = list(group)
        pool = tuple(conventions or tried_for(rows[0][1]))
        by_convention = {c: [verdict(item, c, answer) for _, item in rows] for c in pool}
        selected = pool if conventions else most_followed({c: [v.outcome for v in by_convention[c]] for c in pool})
        followed[name] = selected
        for row, (number, _) in enumerate(rows):
            verdicts[number] = _joint([by_convention[c][row] for c in selected])
    return Audit(tuple(verdicts[number] for number in range(len(everything))), followed)


def tried_for(item: Item) -> tuple[Conventions, ...]:
    """The conventions of the item's benchmark or, if it has none of its own, those between which its labels decide."""
    return OF_BENCHMARKS.get(family(item), (EVERYDAY, SALLY_ANNE))


def most_followed(outcomes: Mapping[C, Sequence[Outcome]]) -> tuple[C, ...]:
    """The conventions under which most labels agree, several if they are level."""
    agreed = {convention: Counter(column)["agrees"] for convention, column in outcomes.items()}
    return tuple(convention for convention in outcomes if agreed[convention] == max(agreed.values()))


def family(item: Item) -> str:
    """The benchmark of an item, if it is one with its own conventions or form; else "others"."""
    return next((name for name in (*OF_BENCHMARKS, "BigToM") if item.group.startswith(name)), "others")


def verdict(item: Item, conventions: Conventions, answer: Answerer = answer_item) -> Verdict:
    """The outcome for the label of one item under one convention; only a sure answer can contradict it."""
    try:
        judgement = answer(item, conventions)
    except (Unread, InputError) as error:
        return Verdict(item, "unread", why=str(error))
    if judgement.unread:
        return Verdict(item, "unread", why=judgement.unread[0])
    our_answer = judgement.answer
    if our_answer.option is None or max(our_answer.posterior) < SURE:
        return Verdict(item, "abstains", why=our_answer.abstained or "no answer is sure")
    ours = judgement.labels[our_answer.option]
    because = tuple(term.happening for term in our_answer.decisive())
    outcome: Outcome = "agrees" if plain(ours) == plain(item.gold) else "contradicts"
    return Verdict(item, outcome, ours, because)


def _joint(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict over several conventions: agreement under any of them wins, contradiction needs all."""
    for current in verdicts:
        if current.outcome != "contradicts":
            return next((agreeing for agreeing in verdicts if agreeing.outcome == "agrees"), current)
    return verdicts[0]


@lru_cache(maxsize=4096)
def _read(item: Item) -> tuple[Reading, Question, tuple[str, ...]]:
    """The reading, the question, and its labels; without options, the options are the label and all places."""
    reading = read_story(item.story)
    places = (entity.id for entity in reading.episode.entities if entity.kind == "place")
    labels = item.options or tuple(dict.fromkeys((item.gold, *places)))
    question = read_question(item.question, labels, reading)
    if item.options:
        return reading, question, labels
    first: dict[AnswerOption, str] = {}
    for option, label in zip(question.options, labels, strict=True):
        first.setdefault(option, label)
    return reading, replace(question, options=tuple(first), labels=()), tuple(first.values())


def _relevant(reading: Reading) -> tuple[str, ...]:
    """The unread sentences that mention an entity of the story, or use a pronoun."""
    if reading.coverage == 1.0:
        return ()
    names = {word for entity in reading.episode.entities for word in re.findall(r"\w+", entity.id.casefold())}
    names.update(PRONOUNS.split())
    spoken = {sentence: set(re.findall(r"[^\W_]+", sentence.casefold())) for sentence in reading.unread}
    return tuple(sentence for sentence, words in spoken.items() if words & names)

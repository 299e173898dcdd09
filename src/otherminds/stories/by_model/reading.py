"""A language model reads a story about anything, in one call: what a question depends on, what each sentence tells.

The model never answers. What it writes is checked against the story; beliefs and the answer follow exactly
(`stories.evidence`). A sentence of which it writes something that cannot be so counts as not read, and the answer stays
open if that sentence could decide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from pydantic import Field

from otherminds.errors import InputError, shortened
from otherminds.language.asking import Unreadable, plain, prompts_of
from otherminds.language.model import LanguageModel
from otherminds.stories import model as stories
from otherminds.stories.by_model.dictation import ATTEMPTS, BoundedModel, Form, NonsenseError, as_text, dictated
from otherminds.stories.by_model.sentences import split_sentences
from otherminds.stories.english import sentences as english
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.evidence import (
    CORRECTIONS,
    DEEPEST,
    QUOTED,
    SAID,
    TRUTH,
    Does,
    SentenceEvidence,
    StateClaim,
    Variable,
    answer_from,
    deciding,
    has_change,
    undecided_by,
)

fill = prompts_of("otherminds.stories.by_model")

BUDGET = 120.0  # seconds for all calls about a question; chosen
AT_ONCE = 30  # sentences of which one reply tells; chosen
MOST_SENTENCES, LONGEST_STORY = 120, 40_000  # of a story, and its characters: every call holds all of it; chosen
MOST_STATES, MOST_PEOPLE, MOST_ANSWERS = 8, 12, 12  # longest lists in a reply; chosen
MOST_ITEMS = 4  # of what one sentence tells; chosen
LONGEST_NAME = 200  # characters of a person, a state or an answer; chosen
TOKENS, TOKENS_OF_ANSWER, TOKENS_OF_SENTENCE = 400, 60, 160  # limit of a reply: base, and for each part; chosen
NARRATOR = ("I", "we")
ENDING = re.compile(r"'s$|(?<=\w{3})(?:es|s|ing|ed|e)$")
SMALL = ("in", "on", "at", "to", "of", "the", "a", "is", "do", "does", "no", "not", "else", "other")
VAGUE = frozenset(ENDING.sub("", word) for word in (*wordset("pronouns"), *SMALL))
ARTICLES = frozenset(("the", "a", "an", "my", "his", "her", "their", "our"))


class _ClaimForm(Form):
    minds: list[str]
    value: str
    so: bool


class _AnswerForm(Form):
    answer: str
    claims: list[_ClaimForm]


class _ItemForm(Form):
    sentence: int
    does: Does
    value: str | None
    agents: list[str] = Field(alias="who")
    to: list[str]
    unnoticed: list[str]


class _ToldForm(Form):
    items: list[_ItemForm] = Field(alias="told")


class _StoryForm(Form):
    about: str
    values: list[str]
    people: list[str]
    answers: list[_AnswerForm]
    after: int
    items: list[_ItemForm] = Field(alias="told")


@dataclass
class _Evidence:
    """What the sentences tell, and why some of them are not read, by number."""

    items: list[SentenceEvidence] = field(default_factory=list)
    unread: dict[int, str] = field(default_factory=dict)


def answer_with(
    model: LanguageModel, story: str, stem: str, options: Sequence[str], seconds: float = BUDGET
) -> tuple[stories.Reading, stories.Question | None, stories.Answer]:
    """The reading of a story by a language model, the question, None if it was not read, and the answer.

    One call reads up to 30 sentences. Abstains, with a reason, if the question is not read within two replies or
    `seconds`, if a sentence that is not read could decide, if what was told leaves the answer open, or if the story is
    longer than `MOST_SENTENCES` or `LONGEST_STORY`.
    Raises ModelError if the model does not answer.
    """
    lines = split_sentences(story)
    if len(lines) > MOST_SENTENCES or len(story) > LONGEST_STORY:
        most = f"{MOST_SENTENCES} sentences and {LONGEST_STORY:,} characters"
        why = f"the story has {len(lines)} sentences and {len(story):,} characters, and a model is given {most} at most"
        return _reading(lines, _Evidence(), ()), None, stories.abstention(len(options), why)
    bounded = BoundedModel(model, seconds, ATTEMPTS * max(1, -(-len(lines) // AT_ONCE)))
    dictation = _read_question(bounded, lines, stem, options)
    if isinstance(dictation, Unreadable):
        abstained = stories.abstention(len(options), f"cannot read the question: {dictation.why}")
        return _reading(lines, _Evidence(), ()), None, abstained
    variable, forms = dictation
    missing = dict[int, str]()
    for first in range(AT_ONCE + 1, len(lines) + 1, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, len(lines) + 1))
        further = _read_further(bounded, lines, stem, variable, numbers)
        if isinstance(further, Unreadable):
            missing |= dict.fromkeys(numbers, further.why)
        else:
            forms += further
    evidence = _checked(forms, variable, missing)
    question = stories.Question(
        "", tuple(stories.AnswerOption(()) for _ in variable.labels), kind="variable", labels=variable.labels
    )
    return _reading(lines, evidence, variable.people), question, _answer(model.name, lines, variable, evidence)


def _answer(name: str, lines: Sequence[str], variable: Variable, evidence: _Evidence) -> stories.Answer:
    """The answer that follows, with the sentences that decide; abstains if one that is not read could decide."""
    open_sentence = undecided_by(variable, evidence.items, sorted(evidence.unread))
    if open_sentence is not None:
        sentence = shortened(plain(lines[open_sentence - 1]), QUOTED)
        why = f"could not read: {sentence} ({name}: {evidence.unread[open_sentence]})"
        return stories.abstention(len(variable.labels), why)
    passages = tuple(
        f"{shortened(plain(lines[number - 1]), QUOTED)} ({name}: {'; '.join(map(str, items))})"
        for number, items in groupby(deciding(variable, evidence.items), lambda item: item.sentence)
    )
    return replace(answer_from(variable, evidence.items), passages=passages)


def _read_question(
    model: BoundedModel, lines: Sequence[str], stem: str, options: Sequence[str]
) -> tuple[Variable, list[_ItemForm]] | Unreadable:
    """What the question depends on, and the items of the first sentences, as the model writes them down."""
    numbers = range(1, min(AT_ONCE, len(lines)) + 1)
    prompt = fill(
        "story",
        told=fill("told"),
        lines=_numbered(lines, "."),
        question=plain(stem),
        options=f"Its options:\n{_numbered(options, ')')}" if options else "It has no options.",
        part="" if len(numbers) == len(lines) else f"\nTell of the sentences 1 to {AT_ONCE} only, for now.",
    )
    words = _words(" ".join((*lines, stem, *options)))

    def sense(form: _StoryForm) -> tuple[Variable, list[_ItemForm]]:
        return _variable(form, words, options, len(lines)), _placed(form.items, numbers, len(lines))

    max_tokens = TOKENS + TOKENS_OF_ANSWER * max(len(options), 3) + TOKENS_OF_SENTENCE * len(numbers)
    return dictated(model, prompt, _StoryForm, sense, draw="story", max_tokens=max_tokens)


def _read_further(
    model: BoundedModel, lines: Sequence[str], stem: str, variable: Variable, numbers: range
) -> list[_ItemForm] | Unreadable:
    """The items of further sentences about the same matter."""
    prompt = fill(
        "further",
        told=fill("told"),
        lines=_numbered(lines, "."),
        question=plain(stem),
        about=variable.about,
        values="; ".join(variable.values),
        people="; ".join(variable.people) or "nobody",
        first=numbers[0],
        last=numbers[-1],
    )
    schema: dict[str, Any] = _ToldForm.model_json_schema()
    fields = schema["$defs"]["_ItemForm"]["properties"]
    fields["value"] = {"enum": [*variable.values, None]}
    names = {"enum": [*variable.people]} if variable.people else {"type": "string"}  # an empty enum is no schema
    fields |= {key: {"type": "array", "items": names} for key in ("who", "to", "unnoticed")}

    def sense(form: _ToldForm) -> list[_ItemForm]:
        return _placed(form.items, numbers, len(lines))

    max_tokens = TOKENS + TOKENS_OF_SENTENCE * len(numbers)
    draw = f"sentences {numbers[0]}-{numbers[-1]}"
    return dictated(model, prompt, _ToldForm, sense, draw=draw, max_tokens=max_tokens, schema=as_text(schema))


def _numbered(lines: Sequence[str], mark: str) -> str:
    return "\n".join(f"{number}{mark} {plain(line)}" for number, line in enumerate(lines, 1))


def _placed(items: Sequence[_ItemForm], numbers: range, count: int) -> list[_ItemForm]:
    """The items of these sentences, without those of other sentences, which are asked about on their own.

    Raises NonsenseError for a number that no sentence has: nothing says which one was meant.
    """
    for item in items:
        if not 1 <= item.sentence <= count:
            raise NonsenseError(f"there is no sentence {item.sentence}")
    return [item for item in items if item.sentence in numbers]


def _variable(form: _StoryForm, words: frozenset[str], options: Sequence[str], count: int) -> Variable:
    """The variable of a reply. Raises NonsenseError if it does not fit the story and its question."""
    values = tuple(dict.fromkeys(map(plain, form.values)))
    people = tuple(dict.fromkeys(map(plain, form.people)))
    _check_names(values, people, words)
    if len(form.answers) != len(options) if options else not 2 <= len(form.answers) <= MOST_ANSWERS:
        raise NonsenseError(f"has {len(form.answers)} answers")
    labels = tuple(options) or tuple(plain(answer.answer) for answer in form.answers)
    if len(set(labels)) != len(labels) or not all(labels):
        raise NonsenseError("gives an answer twice")
    if max(map(len, (*values, *people, *(() if options else labels)))) > LONGEST_NAME:
        raise NonsenseError(f"has a name of more than {LONGEST_NAME} characters")
    claims = tuple(tuple(_claim(claim, values, people) for claim in answer.claims) for answer in form.answers)
    if not all(1 <= len(conjunction) <= MOST_PEOPLE for conjunction in claims):
        raise NonsenseError("has an answer without claims, or with too many")
    if not 0 <= form.after <= count:
        raise NonsenseError(f"there is no sentence {form.after}")
    return Variable(plain(form.about), values, people, labels, claims, form.after)


def _check_names(values: Sequence[str], people: Sequence[str], words: frozenset[str]) -> None:
    """Raise NonsenseError if people or values do not occur in the words of the story and its question."""
    if not 2 <= len(values) <= MOST_STATES or {TRUTH, SAID} & set(values):
        raise NonsenseError(f"needs 2 to {MOST_STATES} values")
    if len(people) > MOST_PEOPLE:
        raise NonsenseError(f"names more than {MOST_PEOPLE} people")
    for name in people:
        if name not in NARRATOR and not (_words(name) and _words(name) <= words | ARTICLES):
            raise NonsenseError(f"{shortened(name, QUOTED)!r} is nobody in the story")
    if not any(_words(value) & words - VAGUE for value in values):
        raise NonsenseError("none of the values is in the story")


def _claim(form: _ClaimForm, values: Sequence[str], people: Sequence[str]) -> StateClaim:
    """The claim of an answer. Raises NonsenseError if it is about other people or values."""
    minds = tuple(map(plain, form.minds))
    if not set(minds) <= set(people):
        raise NonsenseError(f"{shortened(', '.join(minds), QUOTED)}: not all are among the people")
    value = plain(form.value)
    if value not in (*values, TRUTH, SAID):
        raise NonsenseError(f"{shortened(value, QUOTED)!r} is none of the values")
    if len(minds) > DEEPEST or (value not in values and not minds):
        raise NonsenseError(f"cannot answer from {len(minds)} minds and {value}")
    return StateClaim(minds, value, form.so)


def _words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without common endings: "she helps" has a word of "helping"."""
    return frozenset(ENDING.sub("", word.strip("'-")) for word in re.findall(r"[\w'-]+", english.plain(text).lower()))


def _checked(forms: Sequence[_ItemForm], variable: Variable, missing: dict[int, str]) -> _Evidence:
    """The evidence of the sentences whose items can be true of the story; the others and the `missing` are unread."""
    evidence = _Evidence(unread=dict(missing))
    by_sentence = defaultdict[int, list[_ItemForm]](list)
    for form in forms:
        by_sentence[form.sentence].append(form)
    for number, of_sentence in sorted(by_sentence.items()):
        try:
            if len(of_sentence) > MOST_ITEMS:
                raise NonsenseError(f"tells more than {MOST_ITEMS} things")
            items = list[SentenceEvidence]()
            for form in of_sentence:
                items.append(_item(form, variable))
                if form.does in CORRECTIONS and not has_change([*evidence.items, *items], number):
                    raise NonsenseError("there was no change to perceive")
            evidence.items += items
        except NonsenseError as error:
            evidence.unread[number] = str(error)
    return evidence


def _item(form: _ItemForm, variable: Variable) -> SentenceEvidence:
    """One item of a reply. Raises NonsenseError if it names others than the question does, or lacks what it needs."""
    value = None if form.value is None else plain(form.value)
    people, to, unnoticed = (tuple(map(plain, names)) for names in (form.agents, form.to, form.unnoticed))
    if max(map(len, (people, to, unnoticed))) > MOST_PEOPLE:
        raise NonsenseError(f"names more than {MOST_PEOPLE} people")
    for name in (*people, *to, *unnoticed):
        if name not in variable.people:
            raise NonsenseError(f"{shortened(name, QUOTED)!r} is not among the people")
    if value is not None and value not in variable.values:
        raise NonsenseError(f"{shortened(value, QUOTED)!r} is none of the values")
    if form.does in ("finds out", *CORRECTIONS):
        value = None
    try:
        return SentenceEvidence(
            form.sentence, form.does, value, people, to, tuple(name for name in unnoticed if name not in people)
        )
    except InputError as error:
        raise NonsenseError(str(error)) from error


def _reading(lines: Sequence[str], evidence: _Evidence, people: Sequence[str]) -> stories.Reading:
    """The account of a reading: what became of each sentence."""
    accounts = []
    for number, line in enumerate(lines, 1):
        items = [str(item) for item in evidence.items if item.sentence == number]
        outcome: stories.Outcome = "unread" if number in evidence.unread else "event" if items else "no effect"
        accounts.append(stories.ClauseAccount(line, outcome, evidence.unread.get(number, "; ".join(items))))
    episode = stories.Episode("", tuple(people), tuple(stories.Entity(name, "agent") for name in people))
    unread = tuple(lines[number - 1] for number in sorted(evidence.unread))
    coverage = 1.0 - len(unread) / len(lines) if lines else 0.0
    return stories.Reading(episode, (), coverage, unread, tuple(accounts))

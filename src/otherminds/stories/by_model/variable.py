"""Stories about anything, read by a language model: what it writes down are states, and who perceives and says what.

A question is about one matter that can be in several states: where the keys are, whether there is a party, what Ana
wants. The model says which (`VariableForm`), and then, sentence by sentence, what each tells about it (`ToldForm`).
Nested beliefs about the matter follow from these events exactly; the model never answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from time import monotonic
from typing import Any, Literal

from otherminds.errors import InputError, shortened
from otherminds.language.asking import Unreadable, prompts_of
from otherminds.language.model import LanguageModel, Message, ask_all
from otherminds.stories import model as stories
from otherminds.stories.beliefs.perspectives import REALITY
from otherminds.stories.by_model import replies
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.sentences import plain
from otherminds.stories.everyday.answering import SURE, UNFORESEEN, Answered
from otherminds.stories.everyday.reading import sentences_of
from otherminds.worlds.household.nested_belief import MoveEvent, NestedBelief, StatementEvent

fill = prompts_of("otherminds.stories.by_model")

HINT = 4.0  # how many times likelier a hint is if its state is so than if another is; chosen, not tuned
BUDGET = 120.0  # seconds after which no further sentence is given to the model; chosen
AT_ONCE = 4  # calls of the model under way; chosen
ATTEMPTS = 2  # at a readable reply; chosen
TOKENS_OF_ANSWER = 60  # above the base of `replies.token_limit`; chosen
MOST_LINES = 80  # sentences of a story that a model is asked about, each with the whole story; bounds cost; chosen
MOST_STATES, MOST_PEOPLE, MOST_ANSWERS, MOST_TOLD, DEEPEST = 8, 12, 12, 4, 3  # longest lists in a reply; chosen
QUOTED = 80  # characters of a sentence that is quoted beside what the model made of it; chosen
TRUTH, SAID = "the truth", "what they said"  # values of claims, besides the states of the matter
STOPS = (".", "!", "?", ";")  # belong to the sentence before them, and so does
QUOTES = ('"', "”", "'", "’")  # one of these after them
NARRATOR = ("I", "we")
VAGUE = wordset("pronouns") | frozenset(("in", "on", "at", "to", "of", "the", "a", "is", "no", "not", "else", "other"))
ARTICLES = frozenset(("the", "a", "an", "my", "his", "her", "their", "our"))

Does = Literal["was", "is", "is not", "finds out", "says", "thinks", "hints", "hints against"]
Chain = tuple[str, ...]


class _ClaimForm(replies.Form):
    minds: list[str]
    value: str
    so: bool


class _AnswerForm(replies.Form):
    answer: str
    claims: list[_ClaimForm]


class VariableForm(replies.Form):
    """What a question depends on."""

    about: str
    values: list[str]
    people: list[str]
    answers: list[_AnswerForm]
    after: int


class _EvidenceForm(replies.Form):
    does: Does
    value: str | None
    who: list[str]
    to: list[str]
    unnoticed: list[str]


class ToldForm(replies.Form):
    """What a sentence tells about a matter."""

    told: list[_EvidenceForm]


@dataclass(frozen=True)
class StateClaim:
    """That the last of the `minds` (without any: reality) has the matter in state `value`; not so if `so` is false.

    A `value` of `TRUTH` is the state that the mind around it takes to be so: to know is to believe what is so. `SAID`
    is all that the last of the minds said, and the belief is that of then, or else of the end: to lie is not to
    believe it.
    """

    minds: Chain
    value: str
    so: bool = True


@dataclass(frozen=True)
class Variable:
    """A matter with its states, the people who may know of it, and what each answer to a question claims about it."""

    about: str
    values: tuple[str, ...]
    people: tuple[str, ...]
    labels: tuple[str, ...]
    claims: tuple[tuple[StateClaim, ...], ...]  # of each answer; it is right if all of them are
    after: int


@dataclass(frozen=True)
class SentenceEvidence:
    """What one sentence, counted from 1, tells about the matter.

    `was`: it was in the state `value` before all that is told. `is`, `is not`: it now is in it, or not. Those in `who`
    know. `finds out`: they learn how it is. `says`: the one in `who` says so to those in `to`, who believe it.
    `thinks`: the last in `who` thinks so, in the mind of the one before. `hints`, `hints against`: a state of reality
    is likelier, or less likely. Those in `unnoticed` perceive it as well, and nobody knows that they do.
    Raises InputError if there is no value where one is needed, or not one speaker.
    """

    sentence: int
    does: Does
    value: str | None
    who: Chain
    to: Chain = ()
    unnoticed: Chain = ()

    def __post_init__(self) -> None:
        if self.value is None and self.does not in ("finds out", "thinks"):
            raise InputError(f"{self.does!r} needs a value")
        people = len(self.who)
        if (self.does == "says" and people != 1) or (self.does == "thinks" and not 1 <= people <= DEEPEST):
            raise InputError(f"{self.does!r} cannot have {people} people in who")

    def __str__(self) -> str:
        """It in words."""
        match self.does:
            case "says":
                to = f" to {' and '.join(self.to)}" if self.to else ""
                overheard = f", overheard by {' and '.join(self.unnoticed)}" if self.unnoticed else ""
                return f"{self.who[0]} says: {self.value}{to}{overheard}"
            case "thinks":
                return " thinks that ".join(self.who) + (f" thinks: {self.value}" if self.value else " has no idea")
            case "hints" | "hints against":
                return f"{self.does} {self.value}"
            case "finds out":
                return f"found out by {self._knowing('by')}"
        return f"{'not ' if self.does == 'is not' else ''}{self.value}, known to {self._knowing('to')}"

    def _knowing(self, by: str) -> str:
        """Those who perceive it, and those who do so unnoticed."""
        seen, unseen = " and ".join(self.who) or "nobody", " and ".join(self.unnoticed)
        return f"{seen} and, unnoticed, {by} {unseen}" if unseen else seen


def answer_with(
    model: LanguageModel, text: str, stem: str, options: Sequence[str], seconds: float = BUDGET
) -> Answered:
    """The answer to a question about a story that a language model writes down, sentence by sentence.

    Abstains, with a reason, if a reply cannot be read, if `seconds` are over, if what was written down leaves the
    answer open, or if the story has more than `MOST_LINES` sentences: every prompt holds the whole story.
    Raises ModelError if the model does not answer.
    """
    began = monotonic()
    lines = _lines(text)
    if len(lines) > MOST_LINES:
        why = f"a model is asked about {MOST_LINES} sentences at most, and the story has {len(lines)}"
        return _reading(lines, (), {}, ()), None, stories.abstention(len(options), why)
    variable = variable_with(model, lines, stem, options)
    if isinstance(variable, Unreadable):
        abstained = stories.abstention(len(options), f"cannot read the question: {variable.why}")
        return _reading(lines, (), {}, ()), None, abstained
    evidence: list[SentenceEvidence] = []
    unread: dict[int, str] = {}

    def read(number: int) -> list[SentenceEvidence] | Unreadable:
        if monotonic() - began > seconds:
            return Unreadable(f"{model.name} had no time for it in {seconds:.0f} s")
        return evidence_with(model, text, stem, variable, number, lines[number - 1])

    numbers = range(1, len(lines) + 1)
    for number, found in zip(numbers, ask_all(read, numbers, at_once=AT_ONCE), strict=True):
        if isinstance(found, Unreadable):
            unread[number] = found.why
        else:
            evidence += found
    reading = _reading(lines, evidence, unread, variable.people)
    question = stories.Question(
        "", tuple(stories.AnswerOption(()) for _ in variable.labels), kind="variable", labels=variable.labels
    )
    if unread:
        number, why = next(iter(unread.items()))
        abstained = stories.abstention(len(variable.labels), f"{why}: {lines[number - 1]}")
        return reading, question, abstained
    found_answer = answer_from(variable, evidence)
    told = tuple(
        f"{shortened(lines[number - 1], QUOTED)} ({model.name}: {'; '.join(map(str, some))})"
        for number, some in groupby(deciding(variable, evidence), lambda one: one.sentence)
    )
    return reading, question, replace(found_answer, passages=told)


def _lines(text: str) -> list[str]:
    """The sentences of a text, without a gap between them: what lies between two is cut after its last stop."""
    spans = [one.span for one in sentences_of(text)[0]]
    cuts = [0]
    for (_, end), (start, _) in pairwise(spans):
        stop = max(text.rfind(mark, end, start) for mark in STOPS)
        cuts.append(end if stop < 0 else stop + 1 + (text[stop + 1 : stop + 2] in QUOTES))
    return [text[start:end].strip() for start, end in pairwise([*cuts, len(text)])]


def variable_with(
    model: LanguageModel, lines: Sequence[str], stem: str, options: Sequence[str]
) -> Variable | Unreadable:
    """What a question depends on, as the model writes it down. Raises ModelError if the model does not answer."""
    given = "\n".join(f"{number}) {replies.one_line(option)}" for number, option in enumerate(options, 1))
    prompt = fill(
        "variable-question",
        lines="\n".join(f"{number}. {replies.one_line(line)}" for number, line in enumerate(lines, 1)),
        question=replies.one_line(stem),
        options=f"Its options:\n{given}" if options else "It has no options.",
    )
    whole = " ".join((*lines, stem, *options))

    def sense(form: VariableForm) -> Variable:
        return _variable(form, whole, options, len(lines))

    most = replies.token_limit(max(len(options), 3), TOKENS_OF_ANSWER)
    return replies.dictated(model, Message("user", prompt), VariableForm, sense, "variable", ATTEMPTS, most)


def _variable(form: VariableForm, whole: str, options: Sequence[str], count: int) -> Variable:
    """The variable of a reply. Raises NonsenseError if it does not fit the story and its question."""
    values = tuple(dict.fromkeys(map(replies.one_line, form.values)))
    people = tuple(dict.fromkeys(map(replies.one_line, form.people)))
    _check_names(values, people, _words(whole))
    if len(form.answers) != len(options) if options else not 2 <= len(form.answers) <= MOST_ANSWERS:
        raise replies.NonsenseError(f"has {len(form.answers)} answers")
    claims = tuple(tuple(_claim(one, values, people) for one in told.claims) for told in form.answers)
    if not all(1 <= len(some) <= MOST_PEOPLE for some in claims):
        raise replies.NonsenseError("has an answer without claims, or with too many")
    labels = tuple(options) or tuple(replies.one_line(told.answer) for told in form.answers)
    if len(set(labels)) != len(labels) or not all(labels):
        raise replies.NonsenseError("gives an answer twice")
    if not 0 <= form.after <= count:
        raise replies.NonsenseError(f"there is no sentence {form.after}")
    return Variable(replies.one_line(form.about), values, people, labels, claims, form.after)


def _check_names(values: Sequence[str], people: Sequence[str], words: frozenset[str]) -> None:
    """Raise NonsenseError if people or values do not occur in the words of the story and its question."""
    if not 2 <= len(values) <= MOST_STATES or {TRUTH, SAID} & set(values):
        raise replies.NonsenseError(f"needs 2 to {MOST_STATES} values")
    if len(people) > MOST_PEOPLE:
        raise replies.NonsenseError(f"names more than {MOST_PEOPLE} people")
    for name in people:
        if name not in NARRATOR and not (_words(name) and _words(name) <= words | ARTICLES):
            raise replies.NonsenseError(f"{name!r} is nobody in the story")
    if not any(_words(value) & words - VAGUE for value in values):
        raise replies.NonsenseError("none of the values is in the story")


def _claim(form: _ClaimForm, values: Sequence[str], people: Sequence[str]) -> StateClaim:
    """The claim of an answer. Raises NonsenseError if it is about other people or values."""
    minds = tuple(map(replies.one_line, form.minds))
    if not set(minds) <= set(people):
        raise replies.NonsenseError(f"{', '.join(minds)}: not all are among the people")
    if form.value not in (*values, TRUTH, SAID):
        raise replies.NonsenseError(f"{form.value!r} is none of the values")
    if len(minds) > DEEPEST or (form.value not in values and not minds):
        raise replies.NonsenseError(f"cannot answer from {len(minds)} minds and {form.value}")
    return StateClaim(minds, form.value, form.so)


def _words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without endings of plural and possession."""
    return frozenset(re.sub(r"(?:'s|s)$", "", word) for word in re.findall(r"[\w'-]+", plain(text).lower()))


def evidence_with(
    model: LanguageModel, story: str, stem: str, variable: Variable, number: int, line: str
) -> list[SentenceEvidence] | Unreadable:
    """What a sentence tells about the matter, as the model writes it down. Raises ModelError if it does not answer."""
    prompt = fill(
        "variable-sentence",
        story=replies.one_line(story),
        question=replies.one_line(stem),
        about=variable.about,
        values="; ".join(variable.values),
        people="; ".join(variable.people) or "nobody",
        sentence=replies.one_line(line),
    )
    schema: dict[str, Any] = ToldForm.model_json_schema()
    fields = schema["$defs"]["_EvidenceForm"]["properties"]
    fields["value"] = {"enum": [*variable.values, None]}
    named = {"enum": [*variable.people]} if variable.people else {"type": "string"}  # an empty enum is no schema
    people = {"type": "array", "items": named, "maxItems": len(variable.people)}
    fields |= dict.fromkeys(("who", "to", "unnoticed"), people)
    schema["properties"]["told"]["maxItems"] = MOST_TOLD

    def sense(form: ToldForm) -> list[SentenceEvidence]:
        return [_evidence(one, variable, number) for one in form.told]

    most = replies.token_limit(0, 0)
    turn = Message("user", prompt)
    return replies.dictated(model, turn, ToldForm, sense, f"sentence {number}", ATTEMPTS, most, json.dumps(schema))


def _evidence(form: _EvidenceForm, variable: Variable, number: int) -> SentenceEvidence:
    """One item of a reply. Raises NonsenseError if it names others than the question does, or lacks what it needs."""
    for name in (*form.who, *form.to, *form.unnoticed):
        if name not in variable.people:
            raise replies.NonsenseError(f"{name!r} is not among the people")
    if form.value is not None and form.value not in variable.values:
        raise replies.NonsenseError(f"{form.value!r} is none of the states")
    value = None if form.does == "finds out" else form.value
    unnoticed = tuple(name for name in form.unnoticed if name not in form.who)
    try:
        return SentenceEvidence(number, form.does, value, tuple(form.who), tuple(form.to), unnoticed)
    except InputError as error:
        raise replies.NonsenseError(str(error)) from error


MATTER = "matter"  # the one thing that minds have beliefs about


@dataclass(frozen=True)
class _Minds:
    """Reality, and the mind of a chain's first person with its model of the second, and so on."""

    reality: NestedBelief
    mind: NestedBelief

    def after(self, one: SentenceEvidence) -> _Minds:
        """Both after what a sentence tells."""
        if one.does == "thinks":
            chain = tuple(who for who, _ in groupby(one.who))
            return replace(self, mind=_with_belief(self.mind, chain, one.value))
        if one.does == "says":
            return replace(self, mind=self._told(one))
        value = self.reality.place_of(MATTER) if one.does == "finds out" else one.value
        if value is None or one.does.startswith("hints"):
            return self
        if one.does == "is not":
            mind = self.mind.observe(_denied(value, self._reached(one, one.who)))
            return _Minds(self.reality.observe(_denied(value, frozenset((REALITY,)))), mind)
        event = MoveEvent(MATTER, value, frozenset(one.who), frozenset((*one.unnoticed, REALITY)))
        return _Minds(self.reality.observe(event), self.mind.observe(event))

    def _told(self, one: SentenceEvidence) -> NestedBelief:
        """The mind after a statement."""
        hearers = self._reached(one, one.to)
        return self.mind.observe(StatementEvent(one.who[0], MATTER, one.value or "", hearers, hearers))

    def _reached(self, one: SentenceEvidence, told: Chain) -> frozenset[str]:
        """Those told, as this mind sees it: it alone knows of itself if it is unnoticed."""
        return frozenset(told) | ({self.mind.agent} & {*one.unnoticed})

    def belief(self, chain: Chain) -> str | None:
        """What the last of a chain takes to be so."""
        if not chain:
            return self.reality.place_of(MATTER)
        return self.mind.model_of(*chain[1:]).place_of(MATTER)


def _denied(value: str, known_to: frozenset[str]) -> StatementEvent:
    """The event by which those learn that the matter is not in a state."""
    return StatementEvent(REALITY, MATTER, value, known_to, known_to, so=False)


def _with_belief(mind: NestedBelief, chain: Chain, value: str | None) -> NestedBelief:
    """The mind in which the last of the chain believes in the value, or in none; unchanged if it has no such chain."""
    if not chain or chain[0] != mind.agent:
        return mind
    if len(chain) == 1:
        return replace(mind, places=((MATTER, value),) if value else ())
    return replace(mind, others=tuple(_with_belief(other, chain[1:], value) for other in mind.others))


def _minds(variable: Variable, evidence: Sequence[SentenceEvidence], chain: Chain) -> list[_Minds]:
    """Reality and the mind of a chain at the start and after each item; what was so before comes first."""
    chain = tuple(who for who, _ in groupby(chain))
    states = [_Minds(NestedBelief(REALITY), NestedBelief.along(chain or (REALITY,)))]
    for one in _in_order(variable, evidence):
        states.append(states[-1].after(one))
    return states


def _in_order(variable: Variable, evidence: Sequence[SentenceEvidence]) -> list[SentenceEvidence]:
    """The evidence in the order of time, up to the moment that the question asks about."""
    told = [one for one in evidence if one.does == "was" or one.sentence <= variable.after]
    return sorted(told, key=lambda one: one.does != "was")


def _holds(claim: StateClaim, variable: Variable, evidence: Sequence[SentenceEvidence]) -> bool | None:
    """Whether a claim is true after the evidence; None if nothing was told about it."""
    minds = tuple(who for who, _ in groupby(claim.minds))
    states = _minds(variable, evidence, minds)
    believed = states[-1].belief(minds)
    if claim.value == SAID:
        told = enumerate(_in_order(variable, evidence))
        said = [(i, one.value) for i, one in told if one.does == "says" and one.who == minds[-1:]]
        meant = [(states[i].belief(minds) or believed) == value for i, value in said]
        return None if not said or believed is None else all(meant) == claim.so
    wanted = states[-1].belief(minds[:-1]) if claim.value == TRUTH else claim.value
    if wanted is None or (believed is None and claim.value != TRUTH):
        return None
    return (believed == wanted) == claim.so


def _all_hold(claims: Sequence[StateClaim], variable: Variable, evidence: Sequence[SentenceEvidence]) -> bool | None:
    """Whether all claims of an answer are true; None if that is open."""
    found = [_holds(claim, variable, evidence) for claim in claims]
    return False if False in found else None if None in found else True


def answer_from(variable: Variable, evidence: Sequence[SentenceEvidence]) -> stories.Answer:
    """The answer whose claim is true after the evidence; if reality is only hinted at, the posterior over its states.

    P(state | hints) ∝ HINT^n for n hints at it, less those against it; what somebody says is a hint, too. Abstains,
    with a reason, if none or several of the claims are true.
    """
    n = len(variable.claims)
    found = [_all_hold(claims, variable, evidence) for claims in variable.claims]
    if all(one is None for one in found):
        return _answer_from_hints(variable, evidence)
    if sum(one is True for one in found) != 1:
        fits = "several" if any(found) else "none"
        return stories.abstention(n, f"{fits} of the answers fit what the story tells of {variable.about}")
    best = found.index(True)
    return stories.Answer(best, _unsure([float(i == best) for i in range(n)]))


def _unsure(shares: Sequence[float]) -> tuple[float, ...]:
    """The posterior, given that a story may mean something that was not written down."""
    return tuple((1.0 - UNFORESEEN) * share + UNFORESEEN / len(shares) for share in shares)


def _answer_from_hints(variable: Variable, evidence: Sequence[SentenceEvidence]) -> stories.Answer:
    n = len(variable.claims)
    signs = {"hints": 1, "says": 1, "hints against": -1, "is not": -2}
    hints = {value: sum(signs.get(one.does, 0) for one in evidence if one.value == value) for value in variable.values}
    if not any(hints.values()) or any(len(some) > 1 or some[0].minds for some in variable.claims):
        return stories.abstention(n, f"the story does not tell {variable.about}")
    weights = {value: HINT ** hints[value] for value in variable.values}
    whole = sum(weights.values())
    shares = [weights[c.value] / whole if c.so else 1.0 - weights[c.value] / whole for (c,) in variable.claims]
    posterior = _unsure([share / sum(shares) for share in shares])
    best = max(range(n), key=shares.__getitem__)
    if shares[best] < SURE:
        return stories.Answer(None, posterior, abstained=f"the story only hints at {variable.about}")
    return stories.Answer(best, posterior)


def deciding(variable: Variable, evidence: Sequence[SentenceEvidence]) -> list[SentenceEvidence]:
    """The evidence that changed reality or a mind that the answers are about, and the hints, in order of time."""
    told, found = _in_order(variable, evidence), set[int]()
    for chain in dict.fromkeys(claim.minds for some in variable.claims for claim in some):
        states = _minds(variable, evidence, chain)
        hint = "hints" if states[-1].belief(()) is None else "?"
        found |= {i for i, one in enumerate(told) if states[i] != states[i + 1] or one.does.startswith(hint)}
    return [told[i] for i in sorted(found)]


def _reading(
    lines: Sequence[str], evidence: Sequence[SentenceEvidence], unread: dict[int, str], people: Sequence[str]
) -> stories.Reading:
    """The account of a reading: what became of each sentence."""
    accounts = []
    for number, line in enumerate(lines, 1):
        told = [str(one) for one in evidence if one.sentence == number]
        outcome: stories.Outcome = "unread" if number in unread else "event" if told else "no effect"
        accounts.append(stories.ClauseAccount(line, outcome, unread.get(number, "; ".join(told))))
    episode = stories.Episode("", tuple(people), tuple(stories.Entity(name, "agent") for name in people))
    left = tuple(lines[number - 1] for number in unread)
    share = 1.0 - len(left) / len(lines) if lines else 0.0
    return stories.Reading(episode, (), share, left, tuple(accounts))

"""What a story tells about one matter (its states, who perceives, says and thinks what), and the answer that follows.

A question is about one matter that can be in several states: where the keys are, whether there is a party, what Ana
wants (`Variable`). Each sentence tells something about it (`SentenceEvidence`): a change and who perceives it, a
statement, a thought, a hint. Nested beliefs about the matter follow exactly (`answer_from`), and so does whether a
sentence that nobody could read may decide (`undecided_by`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, groupby
from typing import Literal

from otherminds.errors import InputError, shortened
from otherminds.stories import model as stories
from otherminds.stories.beliefs.perspectives import REALITY
from otherminds.worlds.household.nested_belief import MoveEvent, NestedBelief, StatementEvent

HINT = 4.0  # how many times likelier a hint is if its state is so than if another is; chosen, not tuned
SURE = 0.86  # least probability of an answer that only hints support; chosen on development stories
UNFORESEEN = 0.12  # probability that a story means what is not in its evidence; chosen (docs/systems/stories.md)
DEEPEST = 3  # minds within one another; chosen
GATE_PEOPLE, GATE_SIZE = 3, 60  # of which all possible evidence is tried, so that it takes seconds at most; chosen
QUOTED = 80  # characters of the matter in a reason; chosen
TRUTH, SAID = "the truth", "what they said"  # values of claims, besides the states of the matter
MATTER = "matter"  # the one thing that the minds have beliefs about
CHANGES, CORRECTIONS = ("is", "is not"), ("misses", "unaware of")

Does = Literal["was", "is", "is not", "finds out", "misses", "unaware of", "says", "thinks", "hints", "hints against"]
Minds = tuple[str, ...]
"""People by name; as a chain, each thinks about the mind of the next."""


@dataclass(frozen=True)
class StateClaim:
    """That the last of the `minds` (without any: reality) has the matter in state `value`; not so if `so` is false.

    A `value` of `TRUTH` is the state that the mind around it takes to be so: to know is to believe what is so. `SAID`
    is all that the last of the minds said, and the belief is that of then, or else of the end: to lie is not to
    believe it.
    """

    minds: Minds
    value: str
    so: bool = True


@dataclass(frozen=True)
class Variable:
    """A matter with its states, the people who may know of it, and what each answer to a question claims about it.

    An answer is right if all its `claims` are true after sentence number `after`.
    """

    about: str
    values: tuple[str, ...]
    people: tuple[str, ...]
    labels: tuple[str, ...]
    claims: tuple[tuple[StateClaim, ...], ...]
    after: int


@dataclass(frozen=True)
class SentenceEvidence:
    """One item of what a sentence, counted from 1, tells about the matter.

    `was`: the matter was in the state `value` before all that is told. `is`, `is not`: it changes to that state, or is
    not in it. The people in `agents` perceive this, and perceive one another; those in `unnoticed` perceive it, too,
    and nobody knows that they do.
    `finds out`: those in `agents` (and, unnoticed, in `unnoticed`) learn the present state.
    `misses`: those in `agents` did not perceive the last change (`is` or `is not`) told before. It is taken back from
    them: they believe what they believed before it, as changed by all that they perceived since, and everybody who
    perceived the change knows that they did not.
    `unaware of`: those in `to` perceived the last change told before, and `agents` do not know that: they count as
    `unnoticed` by everybody.
    `says`: the one in `agents` says that `value` is the state to those in `to`, who believe it; those in `unnoticed`
    overhear it. `thinks`: the last in `agents` believes in `value` (None: in no state), in the mind of the one before.
    `hints`, `hints against`: `value` is likelier to be so, or less likely.

    Raises InputError if there is no value where one is needed, no person, or not one speaker.
    """

    sentence: int
    does: Does
    value: str | None
    agents: Minds
    to: Minds = ()
    unnoticed: Minds = ()

    def __post_init__(self) -> None:
        """Raise InputError if the value, the agents or the people in `to` are missing or too many for what it does."""
        if self.value is None and self.does not in ("finds out", "thinks", *CORRECTIONS):
            raise InputError(f"{self.does!r} needs a value")
        n = len(self.agents)
        counts = {"says": n == 1, "thinks": 1 <= n <= DEEPEST, "misses": n >= 1, "unaware of": n >= 1}
        if not counts.get(self.does, True):
            raise InputError(f"{self.does!r} cannot have {n} agents")
        if self.does == "unaware of" and not self.to:
            raise InputError("'unaware of' needs people in to")

    def __str__(self) -> str:
        """The item in words: `Ann says: box to Bob`, `Ann thinks that Bob thinks: box`."""
        people, hearers, hidden = (" and ".join(names) for names in (self.agents, self.to, self.unnoticed))
        match self.does:
            case "says":
                overheard = f", overheard by {hidden}" if hidden else ""
                return f"{people} says: {self.value}{f' to {hearers}' if hearers else ''}{overheard}"
            case "thinks":
                return " thinks that ".join(self.agents) + (f" thinks: {self.value}" if self.value else " has no idea")
            case "hints" | "hints against":
                return f"{self.does} {self.value}"
            case "misses":
                return f"missed by {people}"
            case "unaware of":
                return f"perceived by {hearers}, unnoticed by {people}"
        by = "by" if self.does == "finds out" else "to"
        perceivers = f"{by} {people or 'nobody'}{f' and, unnoticed, {by} {hidden}' if hidden else ''}"
        if self.does == "finds out":
            return f"found out {perceivers}"
        return f"{'not ' if self.does == 'is not' else ''}{self.value}, known {perceivers}"

    def corrected_by(self, correction: SentenceEvidence) -> SentenceEvidence:
        """The change with the perceivers that it has by a later `misses` or `unaware of`."""
        moved = correction.agents if correction.does == "misses" else correction.to
        unnoticed = tuple(name for name in self.unnoticed if name not in moved)
        added = moved if correction.does == "unaware of" else ()
        return replace(self, agents=tuple(n for n in self.agents if n not in moved), unnoticed=unnoticed + added)


def has_change(evidence: Iterable[SentenceEvidence], sentence: int) -> bool:
    """Whether a sentence or one before it tells of a change, which a sentence after that can correct."""
    return any(item.does in CHANGES and item.sentence <= sentence for item in evidence)


def answer_from(variable: Variable, evidence: Sequence[SentenceEvidence]) -> stories.Answer:
    """The answer whose claims are true after the evidence; if reality is only hinted at, the posterior over its states.

    P(state | hints) ∝ HINT^n for n hints at it, less those against it; a statement is a hint, too. Abstains, with a
    reason, if the claims of none or of several answers are true.
    """
    n = len(variable.claims)
    timeline = _timeline(variable, evidence)
    histories = {minds: _history(minds, timeline) for minds in _chains(variable)}
    verdicts = [_verdict(claims, histories, timeline) for claims in variable.claims]
    if all(verdict is None for verdict in verdicts):
        return _answer_from_hints(variable, timeline)
    if verdicts.count(True) != 1:
        fits = "several" if any(verdicts) else "none"
        return stories.abstention(n, f"{fits} of the answers fit what the story tells of {_matter(variable)}")
    best = verdicts.index(True)
    return stories.Answer(best, _with_unforeseen([float(i == best) for i in range(n)]))


def deciding(variable: Variable, evidence: Sequence[SentenceEvidence]) -> list[SentenceEvidence]:
    """The items that changed reality or a mind that the answers are about, and the hints, in order of time.

    Corrected changes name the perceivers that they have in the end, and are followed by what corrects them.
    """
    timeline = _timeline(variable, evidence)
    selected = set[int]()
    for minds in _chains(variable):
        history = _history(minds, timeline)
        only_hints = history[-1].belief(()) is None
        for i, item in enumerate(timeline):
            hinted = only_hints and item.does in ("hints", "hints against")
            corrects = item.does in CORRECTIONS and bool({*minds} & {*item.agents, *item.to})
            if history[i] != history[i + 1] or hinted or corrects:
                selected.add(i)
    return [timeline[i] for i in sorted(selected)]


def undecided_by(variable: Variable, evidence: Sequence[SentenceEvidence], unread: Sequence[int]) -> int | None:
    """The first sentence of those not read of which a single item of evidence could change the answer; None if none.

    Every item that the form allows is tried. With more than `GATE_PEOPLE` people in the claims, or more than
    `GATE_SIZE` items times sentences not read, the first sentence counts as one that could.
    """
    people = {name for claims in variable.claims for claim in claims for name in claim.minds}
    if unread and (len(people) > GATE_PEOPLE or len(evidence) * len(unread) > GATE_SIZE):
        return unread[0]
    option = answer_from(variable, evidence).option
    for number in unread:
        possible = _possible(variable, number, people)
        if any(answer_from(variable, [*evidence, item]).option != option for item in possible):
            return number
    return None


def _possible(variable: Variable, number: int, people: set[str]) -> Iterator[SentenceEvidence]:
    """Every item that a sentence could tell, but for those that no claim about these people can tell apart.

    Who else perceives something changes no claim, and who is unnoticed matters only at the beginning of a chain.
    """
    groups, heads = _subsets(people), {minds[0] for minds in _chains(variable) if minds}
    speakers = [*sorted(people), *[name for name in variable.people if name not in people][:1]]
    thinking = {minds[:n] for minds in _chains(variable) for n in range(1, len(minds) + 1)}
    perceiving = [(group, unnoticed) for group in groups for unnoticed in _subsets(heads - {*group})]
    for value in variable.values:
        yield SentenceEvidence(number, "hints", value, ())
        yield SentenceEvidence(number, "hints against", value, ())
        for group, unnoticed in perceiving:
            yield SentenceEvidence(number, "was", value, group, (), unnoticed)
            yield SentenceEvidence(number, "is", value, group, (), unnoticed)
            yield SentenceEvidence(number, "is not", value, group, (), unnoticed)
            yield from (SentenceEvidence(number, "says", value, (name,), group, unnoticed) for name in speakers)
    for minds in sorted(thinking):
        yield from (SentenceEvidence(number, "thinks", value, minds) for value in (None, *variable.values))
    for group, unnoticed in perceiving:
        yield SentenceEvidence(number, "finds out", None, group, (), unnoticed)
    for group in groups[1:]:
        yield SentenceEvidence(number, "misses", None, group)
        yield SentenceEvidence(number, "unaware of", None, group, group)


def _subsets(people: set[str]) -> list[Minds]:
    """All subsets in order of size, from the empty one."""
    names = sorted(people)
    return list(chain.from_iterable(combinations(names, size) for size in range(len(names) + 1)))


def _matter(variable: Variable) -> str:
    return shortened(variable.about, QUOTED)


def _chain(minds: Minds) -> Minds:
    """The chain with nobody twice in a row: to think that oneself thinks so is to think so."""
    return tuple(name for name, _ in groupby(minds))


def _chains(variable: Variable) -> list[Minds]:
    """The chains of minds in the claims, each once."""
    return list(dict.fromkeys(_chain(claim.minds) for claims in variable.claims for claim in claims))


def _timeline(variable: Variable, evidence: Sequence[SentenceEvidence]) -> list[SentenceEvidence]:
    """The evidence in order of time, with all changes corrected, up to the moment that the question asks about."""
    items = sorted(evidence, key=lambda item: item.sentence)
    change: int | None = None
    for i, item in enumerate(items):
        if item.does in CHANGES:
            change = i
        elif item.does in CORRECTIONS and change is not None:
            items[change] = items[change].corrected_by(item)
    reached = [item for item in items if item.does == "was" or item.sentence <= variable.after]
    return sorted(reached, key=lambda item: item.does != "was")


@dataclass(frozen=True)
class _Moment:
    """Reality, and the mind of a chain's first person with its model of the second, and so on."""

    reality: NestedBelief
    mind: NestedBelief

    def belief(self, minds: Minds) -> str | None:
        """The state that the last of the chain, or of its beginning, takes to be so; without minds, the real one."""
        return (self.mind.model_of(*minds[1:]) if minds else self.reality).place_of(MATTER)

    def after(self, item: SentenceEvidence) -> _Moment:
        """The moment after an item: reality and the nested mind as they are once it has happened."""
        match item.does:
            case "thinks":
                return replace(self, mind=_with_belief(self.mind, _chain(item.agents), item.value))
            case "says":
                hearers = self._reached(item, item.to)
                utterance = StatementEvent(item.agents[0], MATTER, item.value or "", hearers, hearers)
                return replace(self, mind=self.mind.observe(utterance))
            case "is not":
                real, minded = (
                    StatementEvent(REALITY, MATTER, item.value or "", informed, informed, so=False)
                    for informed in (frozenset((REALITY,)), self._reached(item, item.agents))
                )
                return _Moment(self.reality.observe(real), self.mind.observe(minded))
            case "was" | "is" | "finds out":
                value = self.belief(()) if item.does == "finds out" else item.value
                if value is not None:
                    perceived = MoveEvent(MATTER, value, frozenset(item.agents), frozenset((*item.unnoticed, REALITY)))
                    return _Moment(self.reality.observe(perceived), self.mind.observe(perceived))
        return self

    def _reached(self, item: SentenceEvidence, people: Minds) -> frozenset[str]:
        """Those who hear of it, as this mind sees it: it alone knows of itself if it is unnoticed."""
        return frozenset(people) | ({self.mind.agent} & {*item.unnoticed})


def _with_belief(mind: NestedBelief, minds: Minds, value: str | None) -> NestedBelief:
    """The mind in which the last of the chain believes in the value, or in none; unchanged if it has no such chain."""
    if not minds or minds[0] != mind.agent:
        return mind
    if len(minds) == 1:
        return replace(mind, places=((MATTER, value),) if value else ())
    return replace(mind, models=tuple(_with_belief(model, minds[1:], value) for model in mind.models))


def _history(minds: Minds, timeline: Sequence[SentenceEvidence]) -> list[_Moment]:
    """Reality and the mind of a chain at the start and after each item."""
    moments = [_Moment(NestedBelief(REALITY), NestedBelief.along(minds or (REALITY,)))]
    for item in timeline:
        moments.append(moments[-1].after(item))
    return moments


Histories = dict[Minds, list[_Moment]]


def _verdict(claims: Sequence[StateClaim], histories: Histories, timeline: Sequence[SentenceEvidence]) -> bool | None:
    """Whether all claims of an answer are true; None if that is open."""
    verdicts = [_is_true(claim, histories[_chain(claim.minds)], timeline) for claim in claims]
    return False if False in verdicts else None if None in verdicts else True


def _is_true(claim: StateClaim, history: Sequence[_Moment], timeline: Sequence[SentenceEvidence]) -> bool | None:
    """Whether a claim is true at the end of a history; None if nothing was told about it."""
    minds = _chain(claim.minds)
    belief = history[-1].belief(minds)
    if claim.value == SAID:
        speaker = minds[-1:]
        spoken = [(i, item.value) for i, item in enumerate(timeline) if item.does == "says" and item.agents == speaker]
        sincere = [(history[i].belief(minds) or belief) == value for i, value in spoken]
        return None if not spoken or belief is None else all(sincere) == claim.so
    expected = history[-1].belief(minds[:-1]) if claim.value == TRUTH else claim.value
    if expected is None or (belief is None and claim.value != TRUTH):
        return None
    return (belief == expected) == claim.so


def _answer_from_hints(variable: Variable, timeline: Sequence[SentenceEvidence]) -> stories.Answer:
    """The answer that hints at reality make likely enough; abstains if there are none, or the claims are of minds."""
    n = len(variable.claims)
    signs = {"hints": 1, "says": 1, "hints against": -1, "is not": -2}
    hints = {value: sum(signs.get(i.does, 0) for i in timeline if i.value == value) for value in variable.values}
    if not any(hints.values()) or any(len(claims) > 1 or claims[0].minds for claims in variable.claims):
        return stories.abstention(n, f"the story does not tell {_matter(variable)}")
    total = sum(HINT ** hints[value] for value in variable.values)
    p_state = {value: HINT ** hints[value] / total for value in variable.values}
    weights = [p_state[claim.value] if claim.so else 1.0 - p_state[claim.value] for (claim,) in variable.claims]
    posterior = _with_unforeseen([weight / sum(weights) for weight in weights])
    best = max(range(n), key=weights.__getitem__)
    if weights[best] < SURE:
        return stories.Answer(None, posterior, abstained=f"the story only hints at {_matter(variable)}")
    return stories.Answer(best, posterior)


def _with_unforeseen(shares: Sequence[float]) -> tuple[float, ...]:
    """The posterior, given that a story may mean something that is not in its evidence."""
    return tuple((1.0 - UNFORESEEN) * share + UNFORESEEN / len(shares) for share in shares)

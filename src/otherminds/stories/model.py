"""The data model of stories: events and utterances, mental states, questions and answers, without natural language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

EntityKind = Literal["agent", "object", "place", "room"]
Relation = Literal["in", "on"]
Predicate = Literal["at", "in_room", "holds", "is"]
Verb = Literal["enter", "leave", "walk", "open", "close", "grab", "put", "move", "look", "wait"]
SpeechAct = Literal["ask", "assert", "deny", "unsure", "silence"]
Source = Literal["text", "video", "scene_graph", "simulator", "question"]
Stance = Literal["help", "hinder", "independent"]
Polarity = Literal["most", "least"]
Outcome = Literal["event", "observation", "fact", "no effect", "unread"]

SYMBOLIC = "symbolic"  # the name of the rules as a reader
NEGLIGIBLE = 0.01  # nats; happenings of less weight are not shown as decisive; chosen, not tuned


class _Strict:
    """Read from JSON with these keys and types only."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class Entity(_Strict):
    """A person, object, place or room. A place may be in a room; items are `in` it (so it can be opened) or `on` it."""

    id: str
    kind: EntityKind
    room: str | None = None
    relation: Relation | None = None


@dataclass(frozen=True)
class Fact(_Strict):
    """at(object, place), in_room(agent or object, room), holds(agent, object), is(thing, property).

    A value of None makes it a question: at(milk, None) asks where the milk is.
    """

    predicate: Predicate
    subject: str
    value: str | None = None


@dataclass(frozen=True)
class Event(_Strict):
    """An agent's physical action. It happened as reported by `source` with probability `p`.

    `t` orders happenings; `span` is the character range of the text that reports it.
    """

    t: int
    agent: str
    verb: Verb
    obj: str | None = None
    place: str | None = None
    room: str | None = None
    p: float = 1.0
    source: Source = "text"
    span: tuple[int, int] | None = None
    type: Literal["event"] = "event"


@dataclass(frozen=True)
class Utterance(_Strict):
    """A speech act: asking where an item is, asserting or denying a place, saying "I do not know" (`unsure`),
    or not answering (`silence`). Empty `hearers` means everybody; otherwise it is private."""

    t: int
    speaker: str
    act: SpeechAct
    content: Fact | None = None
    hearers: tuple[str, ...] = ()
    p: float = 1.0
    source: Source = "text"
    span: tuple[int, int] | None = None
    type: Literal["utterance"] = "utterance"


@dataclass(frozen=True)
class Observation(_Strict):
    """The story states that the agent saw that a fact holds or, with `sees` false, did not notice it."""

    t: int
    agent: str
    fact: Fact
    sees: bool = True
    p: float = 1.0
    source: Source = "text"
    span: tuple[int, int] | None = None
    type: Literal["observation"] = "observation"


Happening = Annotated[Event | Utterance | Observation, Field(discriminator="type")]


@dataclass(frozen=True)
class Episode(_Strict):
    """A story: its agents and entities, the facts at the start, and the happenings in order of time.

    If `complete`, its entities include all places; otherwise unnamed furniture is assumed.
    """

    id: str
    agents: tuple[str, ...]
    entities: tuple[Entity, ...] = ()
    init: tuple[Fact, ...] = ()
    timeline: tuple[Happening, ...] = ()
    complete: bool = False

    @property
    def events(self) -> tuple[Event, ...]:
        """The happenings that are physical actions."""
        return tuple(happening for happening in self.timeline if isinstance(happening, Event))

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        """The happenings that are speech acts."""
        return tuple(happening for happening in self.timeline if isinstance(happening, Utterance))

    def named(self, *kinds: EntityKind) -> tuple[str, ...]:
        """The names of the entities of these kinds."""
        return tuple(entity.id for entity in self.entities if entity.kind in kinds)


@dataclass(frozen=True)
class Goal(_Strict):
    """The agent wants the fact to hold: at(object, place), or holds(agent, object) to have found it.

    Content None: the agent pursues nothing the question mentions or, inside a belief, the believer knows no goal.
    """

    agent: str
    content: Fact | None = None
    type: Literal["goal"] = "goal"


@dataclass(frozen=True)
class Belief(_Strict):
    """The agent believes a fact, another agent's goal, or another agent's belief, nested to any order.

    With `holds` false the agent does not believe it.
    """

    agent: str
    content: Fact | Goal | Belief
    holds: bool = True
    type: Literal["belief"] = "belief"


@dataclass(frozen=True)
class Knows(_Strict):
    """The agent knows what is at the place: its belief about the place is true."""

    agent: str
    place: str
    type: Literal["knows"] = "knows"


@dataclass(frozen=True)
class SocialGoal(_Strict):
    """The agent wants `toward` to reach its goal (help), not to reach it (hinder), or is independent of it."""

    agent: str
    toward: str
    kind: Stance
    type: Literal["social_goal"] = "social_goal"


@dataclass(frozen=True)
class Holds(_Strict):
    """The fact holds in the world: a belief of order 0."""

    fact: Fact
    type: Literal["holds"] = "holds"


@dataclass(frozen=True)
class NextAction(_Strict):
    """The agent's next action is `event`."""

    event: Event
    type: Literal["next_action"] = "next_action"


Claim = Annotated[Goal | Belief | Knows | SocialGoal | Holds | NextAction, Field(discriminator="type")]


@dataclass(frozen=True)
class AnswerOption(_Strict):
    """One answer option as data: the conjunction of its claims."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Question(_Strict):
    """Which option is most (or least) likely, given `conditions`, at time `at` (None: after the whole story).

    `presumes` holds events that the wording of every option takes as having happened; `labels` the options in words.
    """

    id: str
    options: tuple[AnswerOption, ...]
    polarity: Polarity = "most"
    conditions: Annotated[tuple[Claim, ...], Field(alias="given")] = ()
    presumes: tuple[Event, ...] = ()
    at: int | None = None
    kind: str = ""
    labels: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims: the givens, then those of the options in order."""
        return (*self.conditions, *(claim for option in self.options for claim in option.claims))


@dataclass(frozen=True)
class Term:
    """The evidence of one happening: log p(happening | option, earlier happenings) for each option, in nats."""

    t: int
    happening: Happening
    log_probs: tuple[float, ...]

    @property
    def weight(self) -> float:
        """The greatest difference between the options' log-probabilities, in nats; 0 if there are no options."""
        return max(self.log_probs) - min(self.log_probs) if self.log_probs else 0.0


@dataclass(frozen=True)
class Answer:
    """The chosen option, P(option) for each option, and the evidence of each happening.

    `option` is None if the method abstains; then `abstained` says why. `leaning` is the option that it would choose if
    the clause that made it abstain changed nothing. `unless` names an unread clause that may change the answer, but
    probably does not. `passages` are parts of the story that it rests on, besides the happenings.
    """

    option: int | None
    posterior: tuple[float, ...]
    terms: tuple[Term, ...] = ()
    abstained: str | None = None
    passages: tuple[str, ...] = ()
    leaning: int | None = None
    unless: str | None = None

    def decisive(self, n: int = 3) -> tuple[Term, ...]:
        """The `n` happenings with the greatest weight, heaviest first; those below `NEGLIGIBLE` are left out."""
        heaviest = sorted(self.terms, key=lambda term: -term.weight)[:n]
        return tuple(term for term in heaviest if term.weight > NEGLIGIBLE)


def abstention(options: int, why: str) -> Answer:
    """The answer that abstains between this many options, for the stated reason: all are equally likely."""
    return Answer(None, (1.0 / max(1, options),) * options, abstained=why)


@dataclass(frozen=True)
class ClauseAccount:
    """What became of one clause of a story.

    `reason` says why a clause without effect has none. `t` is the number of happenings before the clause, `people` are
    those that it may be about.
    """

    text: str
    outcome: Outcome
    reason: str = ""
    t: int = 0
    people: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A front end's result: the episode, its questions, and how much of the story was understood.

    `coverage` is the share of clauses understood, in [0, 1]; `unread` lists the sentences that were not; `clauses` says
    what became of each clause (empty if the front end does not tell).
    """

    episode: Episode
    questions: tuple[Question, ...] = ()
    coverage: float = 1.0
    unread: tuple[str, ...] = field(default=())
    clauses: tuple[ClauseAccount, ...] = field(default=())

"""The data model of stories: events and utterances, mental states, questions and answers; no natural language in it."""

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

STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class Entity:
    """Somebody or something in a story; a place may be in a room, and things are `in` it (then it can be opened)
    or `on` it."""

    __pydantic_config__ = STRICT

    id: str
    kind: EntityKind
    room: str | None = None
    relation: Relation | None = None


@dataclass(frozen=True)
class Fact:
    """at(object, place), in_room(agent or object, room), holds(agent, object), is(thing, property).

    A value of None asks: at(milk, None) is the question where the milk is.
    """

    __pydantic_config__ = STRICT

    predicate: Predicate
    subject: str
    value: str | None = None


@dataclass(frozen=True)
class Event:
    """Somebody did something, with probability `p` of having happened as told, from the source that tells of it."""

    __pydantic_config__ = STRICT

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
class Utterance:
    """Somebody said something: asked where something is, said that it is somewhere (or is not, or that they do not
    know), or was asked and stayed silent. No hearers means everybody; a few hearers means in private."""

    __pydantic_config__ = STRICT

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
class Observation:
    """The story says outright that somebody saw that something was so; or, with `sees` false, did not notice it."""

    __pydantic_config__ = STRICT

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
class Episode:
    """A story: who and what is in it, how things stood at the start, and what happened, in order of time.

    If it is `complete`, there are no places but those among its entities.
    """

    __pydantic_config__ = STRICT

    id: str
    agents: tuple[str, ...]
    entities: tuple[Entity, ...] = ()
    init: tuple[Fact, ...] = ()
    timeline: tuple[Happening, ...] = ()
    complete: bool = False


@dataclass(frozen=True)
class Goal:
    """The agent wants the fact to hold: at(object, place), or holds(agent, object) to have found it.

    Without content: the agent pursues nothing the question speaks of, or its goal is unknown to whoever believes so.
    """

    __pydantic_config__ = STRICT

    agent: str
    content: Fact | None = None
    type: Literal["goal"] = "goal"


@dataclass(frozen=True)
class Belief:
    """The agent believes a fact, that another has a goal, or that another believes something: nested to any order.

    With `holds` false the agent does not believe it.
    """

    __pydantic_config__ = STRICT

    agent: str
    content: Fact | Goal | Belief
    holds: bool = True
    type: Literal["belief"] = "belief"


@dataclass(frozen=True)
class Knows:
    """The agent knows what is at the place: its belief about it is the truth."""

    __pydantic_config__ = STRICT

    agent: str
    place: str
    type: Literal["knows"] = "knows"


@dataclass(frozen=True)
class SocialGoal:
    """The agent wants the other to get (help) or not to get (hinder) what the other wants, or does not care."""

    __pydantic_config__ = STRICT

    agent: str
    toward: str
    kind: Stance
    type: Literal["social_goal"] = "social_goal"


@dataclass(frozen=True)
class Holds:
    """The fact is so in the world itself: a belief of order 0."""

    __pydantic_config__ = STRICT

    fact: Fact
    type: Literal["holds"] = "holds"


@dataclass(frozen=True)
class NextAction:
    """What the agent does next."""

    __pydantic_config__ = STRICT

    event: Event
    type: Literal["next_action"] = "next_action"


Claim = Annotated[Goal | Belief | Knows | SocialGoal | Holds | NextAction, Field(discriminator="type")]


@dataclass(frozen=True)
class Hypothesis:
    """One reading of the minds in a story: all of its claims hold together."""

    __pydantic_config__ = STRICT

    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Question:
    """Which of the options is most (or least) likely, given some claims, after `at` (None: after the whole story).

    `presumes` is what the wording of every option takes as having happened.
    """

    __pydantic_config__ = STRICT

    id: str
    options: tuple[Hypothesis, ...]
    polarity: Polarity = "most"
    given: tuple[Claim, ...] = ()
    presumes: tuple[Event, ...] = ()
    at: int | None = None
    kind: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """What one happening says about the options: log p(happening | option, what came before), in nats."""

    t: int
    happening: Happening
    log_probs: tuple[float, ...]

    @property
    def weight(self) -> float:
        """How far it moves the options apart: the greatest difference of its log-probabilities, in nats."""
        return max(self.log_probs) - min(self.log_probs) if self.log_probs else 0.0


@dataclass(frozen=True)
class Answer:
    """The chosen option (None: abstained, and why), P(option) for each, and what each happening said about them."""

    option: int | None
    posterior: tuple[float, ...]
    terms: tuple[Term, ...] = ()
    abstained: str | None = None

    def decisive(self, n: int = 3) -> tuple[Term, ...]:
        """The happenings that moved the options furthest apart, most decisive first."""
        heaviest = sorted(self.terms, key=lambda term: -term.weight)[:n]
        return tuple(term for term in heaviest if term.weight > 0.01)


@dataclass(frozen=True)
class Reading:
    """What a front end made of a story: the episode, its questions, and how much of it could be read.

    `coverage` is the share of the clauses that were understood; `unread` holds the sentences that were not.
    """

    episode: Episode
    questions: tuple[Question, ...] = ()
    coverage: float = 1.0
    unread: tuple[str, ...] = field(default=())

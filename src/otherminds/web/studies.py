"""A study as it follows from what has happened in it: who takes part, how far everybody is, who plays with whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from otherminds.papers.protom.study.plan import Trial, codenames, counterbalanced
from otherminds.web.board import Playable
from otherminds.web.event_log import Body, Event
from otherminds.web.plans import Plan

TRYING = 9000
"""Pairs beyond this number only try the study out; they are not exported."""

LOG = 200
TOLD = {
    "consented": "{name} has agreed to take part",
    "declined": "{name} has chosen not to take part",
    "waiting": "{name} is waiting for somebody to play with",
    "paired": "Pair {pair} has come together",
    "opened": "Pair {pair} has begun a round",
    "rated": "{name} has answered the questions",
    "finished": "{name} is done: {reason}",
    "reopened": "The invitation is open",
    "closed": "The invitation is closed",
}
"""What the dashboard says of events."""

Kind = Literal["link", "open", "try", "solo"]


@dataclass
class Participant:
    """Somebody who takes part, by the name of a number, and how far they are.

    trial: which one they are at, from 0. ready: whether they have asked for it to begin. rated: whether they have
    answered the questions about it, `seen`: whether they have left what was revealed of it.
    """

    name: str
    study: str
    token: str
    kind: Kind
    label: str = ""
    consented: bool = False
    declined: bool = False
    taught: bool = False
    wrong: tuple[int, ...] = ()
    tries: int = 0
    practised: bool = False
    practice: str = ""
    waiting: float = 0.0
    pair: int = 0
    seat: int = 0
    wants: int | None = None
    trial: int = 0
    ready: bool = False
    seen: bool = False
    finished: str = ""
    code: str = ""
    since: float = 0.0

    @property
    def id(self) -> str:
        """What the journal calls them."""
        return f"{self.study}/{self.name}"


@dataclass
class Pair:
    """Two seats, each with the name of a participant or, for a simulated person, none; and the room of each trial."""

    number: int
    people: list[str]
    trials: tuple[Trial, ...]
    rooms: list[str] = field(default_factory=list)


@dataclass
class Study:
    """Where a study stands."""

    id: str
    plan: Plan
    levels: Mapping[str, Playable]
    kind: str = "study"
    made: float = 0.0
    open: bool = True
    invitation: str = ""
    people: dict[str, Participant] = field(default_factory=dict)
    pairs: dict[int, Pair] = field(default_factory=dict)
    ratings: dict[tuple[str, int], Body] = field(default_factory=dict)
    log: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.codenames = codenames(self.plan.facilitators, seed=self.plan.seed)

    @classmethod
    def created(cls, event: Event, levels: Mapping[str, Playable]) -> Study:
        """The study that an event has created."""
        body = event.body
        plan = Plan.model_validate(body["plan"])
        return cls(event.stream, plan, levels, body["kind"], event.at, invitation=body["invitation"])

    def codename(self, facilitator: str) -> str | None:
        """What participants call a facilitator."""
        return self.codenames.get(facilitator) or None

    def trials(self, pair: int) -> tuple[Trial, ...]:
        """What a pair is going to play."""
        levels = [self.levels[name] for name in self.plan.levels]
        return counterbalanced(levels, self.plan.facilitators, pair, seed=self.plan.seed)

    def next_pair(self, trying: bool) -> int:
        """The number of the next pair."""
        numbers = [number for number in self.pairs if (number > TRYING) == trying]
        return max(numbers, default=TRYING * trying) + 1

    @property
    def full(self) -> bool:
        """Whether there are as many pairs as planned."""
        return sum(number <= TRYING for number in self.pairs) >= self.plan.pairs

    def done(self, pair: Pair) -> bool:
        """Whether everybody in a pair is finished."""
        return all(self.people[name].finished for name in pair.people if name)

    # What happens

    def apply(self, event: Event) -> None:
        """The study after an event."""
        happen: Callable[[Participant | None, Body, float], None] | None = getattr(self, f"_{event.kind}", None)
        if happen is None:
            return
        someone = self.people.get(event.body.get("name", ""))
        happen(someone, event.body, event.at)
        if someone:
            someone.since = event.at
        text = TOLD.get(event.kind)
        if text and not event.body.get("practice"):
            self.log = [*self.log[-LOG:], (event.at, text.format(**{"name": "", "pair": "", **event.body}))]

    def _joined(self, _: Participant | None, body: Body, at: float) -> None:
        found = Participant(body["name"], self.id, body["token"], body["kind"], body["label"], since=at)
        found.wants = body["wants"]
        if not self.plan.consent or found.kind == "solo":
            found.consented = True
        found.taught, found.practised = not self.plan.tutorial, not self.plan.practice
        self.people[found.name] = found

    def _consented(self, one: Any, _: Body, __: float) -> None:
        one.consented = True

    def _declined(self, one: Any, _: Body, __: float) -> None:
        one.declined = True

    def _taught(self, one: Any, body: Body, _: float) -> None:
        one.tries += 1
        one.wrong = tuple(body["wrong"])
        one.taught = not one.wrong

    def _practised(self, one: Any, _: Body, __: float) -> None:
        one.practised, one.ready = True, False

    def _waiting(self, one: Any, _: Body, at: float) -> None:
        one.waiting = at

    def _paired(self, _: Participant | None, body: Body, at: float) -> None:
        number = body["pair"]
        trials = tuple(Trial(**trial) for trial in body["trials"])
        self.pairs[number] = Pair(number, list(body["people"]), trials)
        for seat, name in enumerate(body["people"]):
            if name:
                self.people[name].pair, self.people[name].seat, self.people[name].since = number, seat, at

    def _ready(self, one: Any, _: Body, __: float) -> None:
        one.ready = True

    def _opened(self, one: Participant | None, body: Body, _: float) -> None:
        if one:
            one.practice = body["room"]
        else:
            self.pairs[body["pair"]].rooms.append(body["room"])

    def _seen(self, one: Any, _: Body, __: float) -> None:
        one.seen = True

    def _rated(self, one: Any, body: Body, _: float) -> None:
        self.ratings[one.name, one.trial] = body

    def _next(self, one: Any, _: Body, __: float) -> None:
        one.trial, one.ready, one.seen = one.trial + 1, False, False

    def _finished(self, one: Any, body: Body, _: float) -> None:
        one.finished, one.code = body["reason"], body["code"]
        pair = self.pairs.get(one.pair)
        if pair and body["replaced"]:
            pair.people[one.seat] = ""

    def _reopened(self, _: Participant | None, __: Body, ___: float) -> None:
        self.open = True

    def _closed(self, _: Participant | None, __: Body, ___: float) -> None:
        self.open = False


def moment(at: float) -> str:
    """A time as people and programs read it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")

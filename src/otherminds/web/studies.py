"""Studies with people: the plan of a study, and its state as it follows from events."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator, model_validator

from otherminds.files.toml import packaged
from otherminds.papers.protom.study.plan import Trial, codenames, counterbalanced
from otherminds.web.board import Playable
from otherminds.web.event_log import Body, LogEvent
from otherminds.web.questionnaires import Questionnaire, When

WORDS = packaged("otherminds.web", "words.toml")
FACILITATORS: dict[str, str] = WORDS["study"]["facilitators"]
ASPECTS: Mapping[str, str] = WORDS["study"]["aspects"]

ROUND, RATING, LESSON = 4, 1, 5  # minutes of a round, of a questionnaire, and of the tutorial; chosen
READING = 2  # minutes for the instructions; chosen
FULL = 5  # minutes to multiples of which the announced length is rounded up; chosen

Name = Annotated[str, Field(min_length=1, max_length=100)]
Parameter = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$", max_length=40)]  # of an address
RESERVED = "visit"  # the parameter that the page of an invitation adds


class StudyPlan(BaseModel, extra="forbid", frozen=True):
    """The settings of a study, as the researcher gives them.

    minutes: the announced length, 0 to estimate it. waits, seconds: see `LiveGame`. patient: whether the clock waits
    for the facilitator, too. grace: seconds for which a room waits for a disconnected player. lobby_minutes: how long
    participants wait for a partner, or their partner for them. hand_off: the address to send participants to at the
    end, with {code} for their completion code. instructions: Markdown, shown before the tutorial. recruiting:
    parameters of an invitation's address that are kept if `keep_labels`; the first one is the label, which is unique.
    round_minutes: the time limit of a round, 0 for none. give_up: whether a round ends once all its people have said
    that they cannot do it.
    """

    title: str = Field("", max_length=200)
    levels: tuple[Name, ...] = Field(min_length=1, max_length=60)
    facilitators: tuple[Name, ...] = Field(("none", "protom", "random"), min_length=1, max_length=10)
    pairs: int = Field(9, ge=1, le=500)
    seed: int = Field(1, ge=0, lt=2**31)
    partner: Literal["person", "simulated"] = "person"
    consent: str = Field(WORDS["consent"], max_length=20_000)
    instructions: str = Field("", max_length=20_000)
    questionnaires: tuple[Questionnaire, ...] = Field((), max_length=20)
    minutes: int = Field(0, ge=0, le=600)
    tutorial: bool = True
    practice: bool = True
    ratings: bool = True
    waits: bool = True
    patient: bool = False
    seconds: float = Field(2.0, ge=0.0, le=600.0)
    round_minutes: float = Field(0.0, ge=0.0, le=600.0)
    give_up: bool = True
    grace: float = Field(60.0, ge=0.1, le=3600.0)
    dropout: Literal["simulated", "end"] = "simulated"
    lobby_minutes: float = Field(10.0, gt=0.0, le=600.0)
    keep_labels: bool = False
    recruiting: tuple[Parameter, ...] = Field(("pid",), min_length=1, max_length=6)
    hand_off: str = Field("", max_length=1000)

    @field_validator("hand_off")
    @classmethod
    def _address(cls, text: str) -> str:
        address = urlsplit(text := text.strip())
        if text and (address.scheme not in ("http", "https") or not address.netloc or not text.isprintable()):
            raise ValueError("must be the address of a web page")
        return text

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        """Raise ValueError for settings that do not fit each other."""
        if not self.waits and self.seconds < 0.05:
            raise ValueError("a clock that does not wait needs seconds of at least 0.05")
        if len(self.levels) % len(self.facilitators):
            raise ValueError("the number of levels must be a multiple of the number of facilitators")
        if len(set(self.levels)) < len(self.levels) or len(set(self.facilitators)) < len(self.facilitators):
            raise ValueError("no level and no facilitator may be given twice")
        names = [questionnaire.name for questionnaire in self.questionnaires]
        if len(set(names)) < len(names):
            raise ValueError("two questionnaires have the same name")
        if len(set(self.recruiting)) < len(self.recruiting) or RESERVED in self.recruiting:
            raise ValueError(f"the parameters in `recruiting` differ from one another, and from `{RESERVED}`")
        return self

    @property
    def announced(self) -> int:
        """The minutes that participants are told: as given, or estimated from what the plan has them do."""
        longest = min(ROUND, self.round_minutes or ROUND)
        forms = RATING * sum(len(self.levels) if form.when == "after_round" else 1 for form in self.questionnaires)
        rounds = len(self.levels) * (longest + RATING * self.ratings)
        before = READING * bool(self.instructions.strip()) + LESSON * self.tutorial + ROUND * self.practice
        estimate = rounds + forms + before
        return self.minutes or math.ceil(estimate / FULL) * FULL

    def check(self, levels: Mapping[str, Playable], models: Collection[str] = ()) -> None:
        """Raises ValueError if a level or facilitator is unknown, or levels are not all for two and of one world."""
        available = (*FACILITATORS, *models)
        for name in self.facilitators:
            if name not in available:
                raise ValueError(f"there is no facilitator `{name}`; there are {', '.join(available)}")
        for name in self.levels:
            if name not in levels:
                raise ValueError(f"there is no level `{name}`")
            if len(levels[name].world.agents) != 2:
                raise ValueError(f"`{name}` is not for two people")
        if len({type(levels[name]) for name in self.levels}) > 1:
            raise ValueError("all levels of a study are of one world: the tutorial is about that")


TRYING = 9000  # pairs with higher numbers only try the study out; they are not exported
HOLD = 600.0  # seconds for which a place is held for somebody who has joined and not begun; chosen
LOG = 200  # events that the dashboard remembers; chosen
TOLD: Mapping[str, str] = WORDS["study"]["events"]

Kind = Literal["link", "open", "try", "solo"]


@dataclass
class Participant:
    """A participant, named by a number, and how far they are.

    trial: the current round, from 0. ready: whether they have asked for it to begin. reveal_done: whether they have
    left the page that reveals its goals and messages. waiting, since: Unix times of entering the lobby, and of their
    last event. finished: the reason why their participation ended, empty before; cause: if they left without saying so,
    `away` or `slow`. visit: what their browser joined with. labels: what recruiting services call them, by parameter.
    """

    name: str
    study: Study = field(repr=False, compare=False)
    token: str
    kind: Kind
    label: str = ""
    consented: bool = False
    declined: bool = False
    instructed: bool = False
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
    reveal_done: bool = False
    finished: str = ""
    cause: str = ""
    code: str = ""
    visit: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    since: float = 0.0

    @property
    def begun(self) -> bool:
        """Whether the person has done anything after joining."""
        agreed = self.consented and bool(self.study.plan.consent)
        return bool(agreed or self.declined or self.tries or self.practice or self.waiting or self.pair)

    @property
    def id(self) -> str:
        """The participant's id in the event log."""
        return f"{self.study.id}/{self.name}"


@dataclass
class ParticipantPair:
    """Two seats, each with a participant's name (empty: a simulated person), their trials, and the rooms so far."""

    number: int
    people: list[str]
    trials: tuple[Trial, ...]
    rooms: list[str] = field(default_factory=list)


@dataclass
class Study:
    """The state of a study. Its kind is `study`, or `solo` for a game that somebody plays alone."""

    id: str
    plan: StudyPlan
    levels: Mapping[str, Playable]
    kind: str = "study"
    created_at: float = 0.0
    open: bool = True
    invitation: str = ""
    people: dict[str, Participant] = field(default_factory=dict)
    pairs: dict[int, ParticipantPair] = field(default_factory=dict)
    ratings: dict[tuple[str, int], Body] = field(default_factory=dict)
    answers: dict[tuple[str, str, int | None], dict[str, Any]] = field(default_factory=dict)
    log: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.codenames = codenames(self.plan.facilitators, seed=self.plan.seed)

    @classmethod
    def created(cls, event: LogEvent, levels: Mapping[str, Playable]) -> Study:
        """The study that a `created` event starts."""
        body = event.body
        plan = StudyPlan.model_validate(body["plan"])
        return cls(event.stream, plan, levels, body["kind"], event.at, invitation=body["invitation"])

    def codename(self, facilitator: str) -> str | None:
        """The name under which participants know a facilitator; None if there is no facilitator."""
        return self.codenames.get(facilitator) or None

    def trials(self, pair: int) -> tuple[Trial, ...]:
        """The counterbalanced trials of a pair."""
        levels = [self.levels[name] for name in self.plan.levels]
        return counterbalanced(levels, self.plan.facilitators, pair, seed=self.plan.seed)

    def visitor(self, visit: str) -> Participant | None:
        """The participant whose browser joined with this text; None if there is none, or the text is empty."""
        return next((one for one in self.people.values() if visit and one.visit == visit), None)

    def places_held(self) -> int:
        """The places of the open invitation that are taken: by those who have begun, or have HOLD to do so."""
        now = time.time()
        return sum(one.kind == "open" and (one.begun or now - one.since < HOLD) for one in self.people.values())

    def next_pair(self, trying: bool) -> int:
        """The number of the next pair, above `TRYING` if it only tries the study out."""
        return max((number for number in self.pairs if (number > TRYING) == trying), default=TRYING * trying) + 1

    @property
    def full(self) -> bool:
        """Whether the study has as many pairs as planned."""
        return sum(number <= TRYING for number in self.pairs) >= self.plan.pairs

    def done(self, pair: ParticipantPair) -> bool:
        """Whether all participants of a pair have finished."""
        return all(self.people[name].finished for name in pair.people if name)

    def pending(self, participant: Participant, when: When, trial: int | None = None) -> Questionnaire | None:
        """The next questionnaire that a participant has not answered; None if there is none, as in a solo game."""
        forms = (form for form in self.plan.questionnaires if form.when == when and self.kind == "study")
        return next((form for form in forms if (participant.name, form.name, trial) not in self.answers), None)

    # Events

    def apply(self, event: LogEvent) -> None:
        """Update the study by an event; unknown kinds are ignored."""
        body, at, participant = event.body, event.at, self.people.get(event.body.get("name", ""))
        if participant:
            self._apply_to(participant, event)
        match event.kind:
            case "joined":
                self.people[body["name"]] = self._newcomer(body, at)
            case "paired":
                self._pair(body, at)
            case "opened" if not participant:
                self.pairs[body["pair"]].rooms.append(body["room"])
            case "answered" if participant:
                self.answers[participant.name, body["form"], body["trial"]] = body["answers"]
            case "renewed" if participant:
                participant.token = body["token"]
            case "reopened" | "closed":
                self.open = event.kind == "reopened"
        text = TOLD.get(event.kind)
        if text and not body.get("practice"):
            self.log = [*self.log[-LOG:], (at, text.format(**{"name": "", "pair": "", **body}))]

    def _newcomer(self, body: Body, at: float) -> Participant:
        """The participant that joined at a time; what the plan does without is behind them."""
        newcomer = Participant(body["name"], self, body["token"], body["kind"], body["label"], since=at)
        newcomer.wants, newcomer.visit, newcomer.labels = body["wants"], body.get("visit", ""), body.get("labels", {})
        newcomer.consented = not self.plan.consent or newcomer.kind == "solo"
        newcomer.instructed = not self.plan.instructions.strip()
        newcomer.taught, newcomer.practised = not self.plan.tutorial, not self.plan.practice
        return newcomer

    def _pair(self, body: Body, at: float) -> None:
        """Give participants the seats of a new pair."""
        number, trials = body["pair"], tuple(Trial(**trial) for trial in body["trials"])
        self.pairs[number] = ParticipantPair(number, list(body["people"]), trials)
        for seat, name in enumerate(body["people"]):
            if name:
                self.people[name].pair, self.people[name].seat, self.people[name].since = number, seat, at

    def _apply_to(self, participant: Participant, event: LogEvent) -> None:
        """Update what a participant has done, or where they are, by an event that names them."""
        body, participant.since = event.body, event.at
        match event.kind:
            case "consented" | "declined" | "instructed" | "ready" | "seen":
                setattr(participant, "reveal_done" if event.kind == "seen" else event.kind, True)
            case "taught":
                participant.tries, participant.wrong = participant.tries + 1, tuple(body["wrong"])
                participant.taught = not participant.wrong
            case "practised":
                participant.practised, participant.ready = True, False
            case "waiting":
                participant.waiting = event.at
            case "opened":
                participant.practice = body["room"]
            case "rated":
                self.ratings[participant.name, participant.trial] = body
            case "next":
                participant.trial, participant.ready, participant.reveal_done = participant.trial + 1, False, False
            case "finished":
                participant.finished, participant.code = body["reason"], body["code"]
                participant.cause = body.get("cause", "")
                if body["replaced"] and participant.pair in self.pairs:
                    self.pairs[participant.pair].people[participant.seat] = ""


def moment(at: float) -> str:
    """A Unix time in ISO 8601 format, UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")

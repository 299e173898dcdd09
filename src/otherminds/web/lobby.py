"""The lobby: all studies, participants, rooms and connections of a server.

Every change is an event in the event log, from which the state follows: a server that was killed resumes where it
was. A participant is identified only by the token in their link.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from otherminds.errors import InputError
from otherminds.web import progression, stages
from otherminds.web.board import Playable
from otherminds.web.event_log import EventLog, LogEvent, Written
from otherminds.web.games import GameClock, LiveGame
from otherminds.web.rooms import GameRoom
from otherminds.web.studies import Kind, Participant, Study, StudyPlan
from otherminds.web.thinking import GameSetup, ThinkingProcesses

LOG = logging.getLogger(__name__)
TOKEN = 24  # bytes of randomness in a participant's link; chosen
KEPT = 1024  # finished games held in memory; chosen
SWEEP = 1.0  # seconds between checks for people that have waited too long; chosen
STALE = 3600.0  # seconds after which a deserted solo game is forgotten; chosen


class PageConnection(Protocol):
    """A connection to a participant's page. `looks` numbers the drawings that the page has been sent."""

    looks: dict[str, int]

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message."""
        ...


class Lobby:
    """The state of the server.

    levels: by name. models: specifications of language models that can be facilitators, by the facilitator's name.
    seats: participants by token; invitations: studies by token; connections, last (number of the last action) and gone
    (when they disconnected): by participant id; over: finished games by room; study_in: studies by room.
    """

    def __init__(
        self,
        event_log: EventLog,
        processes: ThinkingProcesses,
        levels: Mapping[str, Playable],
        models: Mapping[str, str] | None = None,
    ) -> None:
        self.event_log, self.processes, self.levels, self.models = event_log, processes, levels, models or {}
        self.studies: dict[str, Study] = {}
        self.rooms: dict[str, GameRoom] = {}
        self.seats: dict[str, Participant] = {}
        self.invitations: dict[str, Study] = {}
        self.connections: dict[str, PageConnection] = {}
        self.last: dict[str, int] = event_log.last_actions()
        self.over: OrderedDict[str, LiveGame] = OrderedDict()
        self.gone: dict[str, float] = {}
        self._shown: set[str] = set()
        self._open_games: dict[str, LiveGame] = {}
        self.study_in: dict[str, Study] = {}
        self._sweeper: asyncio.Task[None] | None = None

    # Opening and closing

    def read(self) -> None:
        """Restore all studies and unfinished games from the event log. Raises InputError if a level is missing."""
        for first in self.event_log.beginnings("created"):
            study = Study.created(first, self.levels)
            for event in self.event_log.events(first.stream)[1:]:
                study.apply(event)
            self._admit(study)
        over = self.event_log.having("ended")
        for event in self.event_log.beginnings("opened"):
            self.studies[event.body["study"]].apply(event)
            if event.stream not in over:
                self._open_games[event.stream] = self._replayed(event.stream)
        for study in list(self.studies.values()):
            if self._is_stale(study) and not any(name.startswith(f"{study.id}:") for name in self._open_games):
                self._dismiss(study)

    def open(self) -> None:
        """Resume the unfinished games, and start looking after participants."""
        for name, game in self._open_games.items():
            self.enter(name, game)
        self._sweeper = asyncio.create_task(self._sweep())

    def _admit(self, study: Study) -> None:
        self.studies[study.id] = study
        self.invitations[study.invitation] = study
        for participant in study.people.values():
            self.seats[participant.token] = participant
            self.gone[participant.id] = time.monotonic()

    def _replayed(self, name: str) -> LiveGame:
        """A game restored from its events."""
        first, *rest = self.event_log.events(name)
        game = self.begun(first)
        for event in rest:
            game.apply(event)
        return game

    def begun(self, event: LogEvent) -> LiveGame:
        """The game that an `opened` event starts. Raises InputError if its level is missing."""
        name, body = event.stream, event.body
        if body["level"] not in self.levels:
            raise InputError(
                f"there is no level `{body['level']}`, which is played in {name}", path=self.event_log.path
            )
        facilitator = body["facilitator"]
        model = self.models.get(facilitator, "")
        setup = GameSetup(name, self.levels[body["level"]], facilitator, body["seed"], model)
        self.study_in[name] = self.studies[body["study"]]
        return LiveGame(setup, dict(body["people"]), GameClock(body["waits"], body["seconds"]), body["practice"])

    def enter(self, name: str, game: LiveGame) -> None:
        """Start or resume a room; people that are not connected are away."""
        plan = self.study_in[name].plan
        news = partial(progression.room_news, self)
        room = GameRoom(name, game, self.event_log, self.processes, news, grace=plan.grace, dropout=plan.dropout)
        self.rooms[name] = room
        for agent, who in list(game.people.items()):
            room.presence(agent, who in self.connections)
        room.start()

    async def close(self) -> None:
        """Stop all rooms."""
        if self._sweeper:
            self._sweeper.cancel()
        for room in self.rooms.values():
            await room.stop()

    # Studies and participants

    def create(self, plan: StudyPlan, kind: str = "study") -> Study:
        """Create a study. Raises ValueError if its plan does not fit the levels or facilitators."""
        plan.check(self.levels, self.models)
        name = secrets.token_urlsafe(9).replace("-", "a").replace("_", "b")
        body = {"plan": plan.model_dump(mode="json"), "kind": kind, "invitation": secrets.token_urlsafe(TOKEN)}
        event, _ = self.event_log.append(name, "created", body)
        study = Study.created(event, self.levels)
        self._admit(study)
        if kind == "study":
            for _ in range(plan.pairs * (2 if plan.partner == "person" else 1)):
                self.join(study, "link")
        return study

    def join(self, study: Study, kind: Kind, label: str = "", seat: int | None = None) -> Participant:
        """Add a participant to a study, with a link of their own; `seat` is the agent's index they asked for."""
        letter = {"link": "P", "open": "Q", "try": "T", "solo": "S"}[kind]
        number = sum(participant.kind == kind for participant in study.people.values()) + 1
        name = f"{letter}{number:02}"
        label = label[:100] if study.plan.keep_labels else ""
        body = {"name": name, "token": secrets.token_urlsafe(TOKEN), "kind": kind, "label": label, "wants": seat}
        self.note(study, "joined", body)
        participant = study.people[name]
        self.seats[participant.token] = participant
        return participant

    def note(
        self, study: Study, kind: str, body: Mapping[str, Any], who: str | None = None, n: int | None = None
    ) -> Written:
        """Log an event of a study and apply it."""
        event, written = self.event_log.append(study.id, kind, body, who, n)
        study.apply(event)
        return written

    def forget(self, study: Study, participant: Participant) -> Written:
        """Erase a participant's answers and label."""
        participant.label = ""
        for name, trial in [key for key in study.ratings if key[0] == participant.name]:
            study.ratings[name, trial] = {"name": name, "ratings": {}, "comment": ""}
        return self.event_log.redact(study.id, participant.name)

    # Where participants are

    def study_of(self, participant: Participant) -> Study:
        """The study of a participant."""
        return self.studies[participant.study]

    def place(self, participant: Participant) -> str:
        """The name of the room of a participant's current round; empty if there is none."""
        if not participant.practised:
            return participant.practice
        pair = self.study_of(participant).pairs.get(participant.pair)
        return pair.rooms[participant.trial] if pair and participant.trial < len(pair.rooms) else ""

    def game(self, name: str) -> LiveGame | None:
        """A game, running or finished, by the name of its room; None for an empty name."""
        if not name:
            return None
        if name in self.rooms:
            return self.rooms[name].game
        if name not in self.over:
            self.over[name] = self._replayed(name)
        self.over.move_to_end(name)
        while len(self.over) > KEPT:
            self.over.popitem(last=False)
        return self.over[name]

    def stage(self, participant: Participant) -> str:
        """The stage of a participant."""
        return stages.where(self.study_of(participant), participant, self.game(self.place(participant)))

    # Coming and going

    def arrive(self, participant: Participant, connection: PageConnection) -> None:
        """A participant's page has connected."""
        self.processes.wake()
        self.connections[participant.id] = connection
        self.gone.pop(participant.id, None)
        self._presence(participant, True)
        progression.advance(self, participant)
        self.show(participant)

    def depart(self, participant: Participant, connection: PageConnection) -> None:
        """A participant's page was closed, or lost its connection."""
        if self.connections.get(participant.id) is connection:
            del self.connections[participant.id]
            self.gone[participant.id] = time.monotonic()
            self._presence(participant, False)

    def _presence(self, participant: Participant, here: bool) -> None:
        room = self.rooms.get(self.place(participant))
        if room:
            for agent, who in list(room.game.people.items()):
                if who == participant.id:
                    room.presence(agent, here)

    def show(self, participant: Participant) -> None:
        """Send a participant the page of their stage, after all pending moves (at most once for all of them)."""
        if participant.id not in self._shown:
            self._shown.add(participant.id)
            asyncio.get_running_loop().call_soon(self._show, participant)

    def _show(self, participant: Participant) -> None:
        self._shown.discard(participant.id)
        progression.show(self, participant)

    # Time

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            for study in list(self.studies.values()):
                for participant in list(study.people.values()):
                    try:
                        if not participant.finished:
                            progression.look_after(self, study, participant)
                    except Exception:  # a fault with one participant must not stop the others
                        LOG.exception("%s could not be looked after", participant.id)
                if self._is_stale(study):
                    self._dismiss(study)

    def _is_stale(self, study: Study) -> bool:
        """Whether this is a solo game that was deserted long ago."""
        people = study.people.values()
        latest = max([study.made, *(participant.since for participant in people)])
        old = study.kind == "solo" and time.time() - latest > STALE
        return old and not any(participant.id in self.connections for participant in people)

    def _dismiss(self, study: Study) -> None:
        del self.studies[study.id], self.invitations[study.invitation]
        for participant in study.people.values():
            del self.seats[participant.token]

"""The lobby: all studies, participants, rooms and connections of a server.

Every change is an event in the event log, from which the state follows: a server that was killed resumes where it
was. A participant is identified only by the token in their link, never by a label.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

from otherminds.errors import InputError
from otherminds.web import stages
from otherminds.web.board import Playable
from otherminds.web.event_log import EventLog, LogEvent, Written
from otherminds.web.games import LiveGame
from otherminds.web.rooms import GameRoom
from otherminds.web.studies import Kind, Participant, Study, StudyPlan
from otherminds.web.thinking import GameSetup, ThinkingProcesses

TOKEN = 24  # bytes of randomness in a participant's link; chosen
KEPT = 1024  # finished games held in memory; chosen
LINK = 30 * 86400.0  # seconds after their last event for which a participant's link is valid; chosen
INVALID = 4404  # close code: the link is not valid; chosen
STALE = 3600.0  # seconds after which a deserted solo game is forgotten; chosen


class PageConnection(Protocol):
    """A connection to a participant's page. `looks` numbers the drawings that the page has been sent."""

    looks: dict[str, int]

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message."""

    def end(self, code: int) -> None:
        """Close the connection with this code."""


class Lobby:
    """The state of the server.

    levels: by name. models: specifications of language models that can be facilitators, by the facilitator's name.
    seats: participants by token; invitations: studies by token; connections, last (number of the last action) and gone
    (when they disconnected): by participant id; over: finished games by room; study_in: studies by room;
    unfinished: games to be resumed by room; sweeper: the task that looks after participants.
    """

    def __init__(
        self,
        event_log: EventLog,
        processes: ThinkingProcesses,
        levels: Mapping[str, Playable],
        models: Mapping[str, str] | None = None,
    ) -> None:
        """An empty lobby; `read` restores its studies and games from the event log."""
        self.event_log, self.processes, self.levels, self.models = event_log, processes, levels, models or {}
        self.studies: dict[str, Study] = {}
        self.rooms: dict[str, GameRoom] = {}
        self.seats: dict[str, Participant] = {}
        self.invitations: dict[str, Study] = {}
        self.connections: dict[str, PageConnection] = {}
        self.last: dict[str, int] = event_log.last_actions()
        self.over: OrderedDict[str, LiveGame] = OrderedDict()
        self.gone: dict[str, float] = {}
        self._pages_due: set[str] = set()
        self.unfinished: dict[str, LiveGame] = {}
        self.paces: dict[str, float] = {}  # milliseconds of a decision, by level, once they are measured
        self.study_in: dict[str, Study] = {}
        self.sweeper: asyncio.Task[None] | None = None

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
                self.unfinished[event.stream] = self._replayed(event.stream)
        for study in list(self.studies.values()):
            if self.is_stale(study) and not any(name.startswith(f"{study.id}:") for name in self.unfinished):
                self.dismiss(study)

    def _admit(self, study: Study) -> None:
        """Add a study: its invitation is valid, and its participants can come by their links; none is connected yet."""
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
            problem = f"there is no level `{body['level']}`, which is played in {name}"
            raise InputError(problem, path=self.event_log.path)
        facilitator, level = body["facilitator"], self.levels[body["level"]]
        setup = GameSetup(name, level, facilitator, body["seed"], self.models.get(facilitator, ""))
        self.study_in[name] = self.studies[body["study"]]
        limit = {"minutes": body.get("minutes", 0.0), "begun_at": event.at, "latest": event.at}
        return LiveGame(setup, dict(body["people"]), body["waits"], body["seconds"], body["practice"], **limit)

    async def close(self) -> None:
        """Stop looking after participants, and stop the clocks and thinking of all rooms."""
        if self.sweeper:
            self.sweeper.cancel()
        for room in self.rooms.values():
            await room.stop()

    # Studies and participants

    def create(self, plan: StudyPlan, kind: str = "study") -> Study:
        """Create a study. Raises ValueError if its plan does not fit the levels or facilitators."""
        plan.check(self.levels, self.models)
        name = secrets.token_urlsafe(9).replace("-", "a").replace("_", "b")
        body = {"plan": plan.model_dump(mode="json"), "kind": kind, "invitation": secrets.token_urlsafe(TOKEN)}
        with self.event_log.together():
            event, _ = self.event_log.append(name, "created", body)
            study = Study.created(event, self.levels)
            self._admit(study)
            if kind == "study":
                for _ in range(plan.pairs * (2 if plan.partner == "person" else 1)):
                    self.join(study, "link")
        return study

    async def on_disk(self) -> None:
        """Wait until all that has happened so far is on disk. Raises StorageError if it cannot be written."""
        await asyncio.wrap_future(self.event_log.written())

    def join(
        self,
        study: Study,
        kind: Kind,
        label: str = "",
        seat: int | None = None,
        visit: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Participant:
        """Add a participant to a study, with a link of their own; `seat` is the agent's index they asked for.

        Whoever joins again with the same `visit`, a random text that only their browser knows, is the same participant.
        labels: what recruiting services call them, by parameter. Neither these nor `label` are stored unless the
        study's plan says so.
        """
        if known := study.visitor(visit):
            return known
        letter = {"link": "P", "open": "Q", "try": "T", "solo": "S"}[kind]
        number = sum(participant.kind == kind for participant in study.people.values()) + 1
        name = f"{letter}{number:02}"
        label = label[:100] if study.plan.keep_labels else ""
        body = {"name": name, "token": secrets.token_urlsafe(TOKEN), "kind": kind, "label": label, "wants": seat}
        kept = {"labels": dict(labels)} if labels and study.plan.keep_labels else {}
        self.note(study, "joined", body | kept | ({"visit": visit} if visit else {}))
        participant = study.people[name]
        self.seats[participant.token] = participant
        return participant

    def seat(self, token: str) -> Participant | None:
        """The participant with this token; None if there is none, or the token has expired."""
        participant = self.seats.get(token)
        return participant if participant and time.time() - participant.since < LINK else None

    def renew(self, participant: Participant) -> Written:
        """Give a participant a new token. The old one is no longer valid, and its page is closed."""
        del self.seats[participant.token]
        body = {"name": participant.name, "token": secrets.token_urlsafe(TOKEN)}
        pending_write = self.note(participant.study, "renewed", body)
        self.seats[participant.token] = participant
        if connection := self.connections.get(participant.id):
            connection.end(INVALID)
        return pending_write

    def note(
        self, study: Study, kind: str, body: Mapping[str, Any], actor: str | None = None, n: int | None = None
    ) -> Written:
        """Log an event of a study and apply it."""
        event, pending_write = self.event_log.append(study.id, kind, body, actor, n)
        study.apply(event)
        return pending_write

    def look(self) -> None:
        """Read everything anew from a log that another server writes."""
        for state in (self.studies, self.seats, self.invitations, self.over, self.gone, self.unfinished, self.study_in):
            state.clear()
        self.last = self.event_log.last_actions()
        self.read()

    def forget(self, study: Study, participant: Participant) -> Written:
        """Erase a participant's answers and label, here and in the event log. Raises InputError if it is read-only."""
        self.event_log.check_writable()
        participant.label, participant.labels = "", {}
        for key in [key for key in study.answers if key[0] == participant.name]:
            study.answers[key] = {}
        for name, trial in [key for key in study.ratings if key[0] == participant.name]:
            study.ratings[name, trial] = {"name": name, "ratings": {}, "comment": ""}
        return self.event_log.redact(study.id, participant.name)

    # Where participants are

    def place(self, participant: Participant) -> str:
        """The name of the room of a participant's current round; empty if there is none."""
        if not participant.practised:
            return participant.practice
        pair = participant.study.pairs.get(participant.pair)
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
        return stages.where(participant, self.game(self.place(participant)))

    # What pages are sent

    def send(self, participant_id: str, message: Mapping[str, Any]) -> None:
        """Send a message to a participant's page if it is connected."""
        if connection := self.connections.get(participant_id):
            connection.send(message)

    def send_all(self, game: LiveGame, message: Mapping[str, Any]) -> None:
        """Send the same message to all players of a game."""
        for participant_id in game.people.values():
            self.send(participant_id, message)

    def send_frame(self, game: LiveGame, agent: str, participant_id: str) -> None:
        """Send a player what their agent sees now."""
        if connection := self.connections.get(participant_id):
            connection.send(stages.frame(game, agent, connection.looks))

    def send_pause(self, room: GameRoom) -> None:
        """Tell the players who is away, and for how long the room waits."""
        seconds_left = max(0.0, room.deadline - time.monotonic())
        self.send_all(room.game, {"type": "pause", "who": sorted(room.game.away), "seconds": round(seconds_left, 1)})

    def show(self, participant: Participant) -> None:
        """Send a participant the page of their stage, after all pending moves (at most once for all of them)."""
        if participant.id not in self._pages_due:
            self._pages_due.add(participant.id)
            asyncio.get_running_loop().call_soon(self._show, participant)

    def _show(self, participant: Participant) -> None:
        """Send the page; in a round also the frame, earlier advice, and who is away."""
        self._pages_due.discard(participant.id)
        participant_id, game = participant.id, self.game(self.place(participant))
        stage, data = stages.page(participant, game)
        self.send(participant_id, {"type": "page", "stage": stage, "n": self.last.get(participant_id, 0), "data": data})
        if stage == "game" and game:
            agent = stages.seat(game, participant)
            self.send_frame(game, agent, participant_id)
            for number, message in enumerate(game.messages):
                if message.to == agent:
                    self.send(participant_id, stages.advice(participant.study, game, number))
            if game.away - {agent}:
                self.send_pause(self.rooms[self.place(participant)])

    # Deserted games

    def is_stale(self, study: Study) -> bool:
        """Whether this is a solo game that was deserted long ago."""
        people = study.people.values()
        latest = max([study.created_at, *(participant.since for participant in people)])
        old = study.kind == "solo" and time.time() - latest > STALE
        return old and not any(participant.id in self.connections for participant in people)

    def dismiss(self, study: Study) -> None:
        """Forget a study, its links included; its events stay in the event log."""
        del self.studies[study.id], self.invitations[study.invitation]
        for participant in study.people.values():
            del self.seats[participant.token]

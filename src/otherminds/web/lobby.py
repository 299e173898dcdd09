"""The hall: all studies, participants and rooms of a server, and who is connected. It moves everybody on.

Whatever happens is written into the journal and then follows from it, so that a server that was killed goes on where
it was. A participant is known by the token in their link and by nothing else.
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
from otherminds.web import moves, stages, telling
from otherminds.web.board import Playable
from otherminds.web.event_log import Event, EventLog, Written
from otherminds.web.games import Clock, Game
from otherminds.web.plans import Plan
from otherminds.web.rooms import Room
from otherminds.web.studies import Kind, Participant, Study
from otherminds.web.thinking import Setup, Thinkers

LOG = logging.getLogger(__name__)
TOKEN = 24
KEPT = 1024
SWEEP = 1.0
STALE = 3600.0


class Line(Protocol):
    """A connection to a participant's page. `looks` are those that the page has been told."""

    looks: dict[str, int]

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, soon."""
        ...


class Lobby:
    """Everything that goes on. Raises InputError if the journal speaks of levels that are not there.

    models: language models that can be facilitators, by the name of the facilitator.
    """

    def __init__(
        self,
        journal: EventLog,
        thinkers: Thinkers,
        levels: Mapping[str, Playable],
        models: Mapping[str, str] | None = None,
    ) -> None:
        self.journal, self.thinkers, self.levels, self.models = journal, thinkers, levels, models or {}
        self.studies: dict[str, Study] = {}
        self.rooms: dict[str, Room] = {}
        self.seats: dict[str, Participant] = {}
        self.invitations: dict[str, Study] = {}
        self.lines: dict[str, Line] = {}
        self.last: dict[str, int] = journal.deeds()
        self.over: OrderedDict[str, Game] = OrderedDict()
        self.gone: dict[str, float] = {}
        self._shown: set[str] = set()
        self._open_games: dict[str, Game] = {}
        self.study_in: dict[str, Study] = {}
        self._sweeper: asyncio.Task[None] | None = None

    # Opening and closing

    def read(self) -> None:
        """Know all studies that the journal tells of, and the games that were not over. Raises InputError."""
        for first in self.journal.beginnings("created"):
            study = Study.created(first, self.levels)
            for event in self.journal.events(first.stream)[1:]:
                study.apply(event)
            self._admit(study)
        over = self.journal.having("ended")
        for event in self.journal.beginnings("opened"):
            self.studies[event.body["study"]].apply(event)
            if event.stream not in over:
                self._open_games[event.stream] = self._replayed(event.stream)
        for study in list(self.studies.values()):
            if self._is_stale(study) and not any(name.startswith(f"{study.id}:") for name in self._open_games):
                self._dismiss(study)

    def open(self) -> None:
        """Go on where the journal ended when it was read."""
        for name, game in self._open_games.items():
            self.enter(name, game)
        self._sweeper = asyncio.create_task(self._sweep())

    def _admit(self, study: Study) -> None:
        self.studies[study.id] = study
        self.invitations[study.invitation] = study
        for one in study.people.values():
            self.seats[one.token] = one
            self.gone[one.id] = time.monotonic()

    def _replayed(self, name: str) -> Game:
        """A game as its events tell it."""
        first, *rest = self.journal.events(name)
        game = self.begun(first)
        for event in rest:
            game.apply(event)
        return game

    def begun(self, event: Event) -> Game:
        """The game that an event has opened. Raises InputError if its level is not there."""
        name, body = event.stream, event.body
        if body["level"] not in self.levels:
            raise InputError(f"there is no level `{body['level']}`, which is played in {name}", path=self.journal.path)
        facilitator = body["facilitator"]
        model = self.models.get(facilitator, "")
        setup = Setup(name, self.levels[body["level"]], facilitator, body["seed"], model)
        self.study_in[name] = self.studies[body["study"]]
        return Game(setup, dict(body["people"]), Clock(body["waits"], body["seconds"]), body["practice"])

    def enter(self, name: str, game: Game) -> None:
        """Begin a room, or go on with it; who is not connected is away."""
        plan = self.study_in[name].plan
        room = Room(
            name, game, self.journal, self.thinkers, partial(telling.told, self), grace=plan.grace, dropout=plan.dropout
        )
        self.rooms[name] = room
        for agent, who in list(game.people.items()):
            room.presence(agent, who in self.lines)
        room.start()

    async def close(self) -> None:
        """Stop all clocks."""
        if self._sweeper:
            self._sweeper.cancel()
        for room in self.rooms.values():
            await room.stop()

    # Studies and participants

    def create(self, plan: Plan, kind: str = "study") -> Study:
        """A new study. Raises ValueError if its plan does not fit the levels."""
        plan.check(self.levels, self.models)
        name = secrets.token_urlsafe(9).replace("-", "a").replace("_", "b")
        body = {"plan": plan.model_dump(mode="json"), "kind": kind, "invitation": secrets.token_urlsafe(TOKEN)}
        event, _ = self.journal.append(name, "created", body)
        study = Study.created(event, self.levels)
        self._admit(study)
        if kind == "study":
            for _ in range(plan.pairs * (2 if plan.partner == "person" else 1)):
                self.join(study, "link")
        return study

    def join(self, study: Study, kind: Kind, label: str = "", seat: int | None = None) -> Participant:
        """A new participant of a study, with a link of their own."""
        letter = {"link": "P", "open": "Q", "try": "T", "solo": "S"}[kind]
        number = sum(one.kind == kind for one in study.people.values()) + 1
        name = f"{letter}{number:02}"
        label = label[:100] if study.plan.keep_labels else ""
        body = {"name": name, "token": secrets.token_urlsafe(TOKEN), "kind": kind, "label": label, "wants": seat}
        self.note(study, "joined", body)
        one = study.people[name]
        self.seats[one.token] = one
        return one

    def note(
        self, study: Study, kind: str, body: Mapping[str, Any], who: str | None = None, n: int | None = None
    ) -> Written:
        """Let something happen in a study."""
        event, written = self.journal.append(study.id, kind, body, who, n)
        study.apply(event)
        return written

    def forget(self, study: Study, one: Participant) -> Written:
        """Forget what a participant answered and was called."""
        one.label = ""
        for name, trial in [key for key in study.ratings if key[0] == one.name]:
            study.ratings[name, trial] = {"name": name, "ratings": {}, "comment": ""}
        return self.journal.redact(study.id, one.name)

    # Where somebody is

    def study_of(self, one: Participant) -> Study:
        """The study that somebody takes part in."""
        return self.studies[one.study]

    def place(self, one: Participant) -> str:
        """The name of the room of somebody's present round; empty if there is none."""
        if not one.practised:
            return one.practice
        pair = self.study_of(one).pairs.get(one.pair)
        return pair.rooms[one.trial] if pair and one.trial < len(pair.rooms) else ""

    def game(self, name: str) -> Game | None:
        """A game by the name of its room, whether it is still played or not."""
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

    def stage(self, one: Participant) -> str:
        """The stage that somebody is at."""
        return stages.where(self.study_of(one), one, self.game(self.place(one)))

    # Coming and going

    def arrive(self, one: Participant, line: Line) -> None:
        """Somebody has opened their page."""
        self.thinkers.wake()
        self.lines[one.id] = line
        self.gone.pop(one.id, None)
        self._presence(one, True)
        moves.advance(self, one)
        self.show(one)

    def depart(self, one: Participant, line: Line) -> None:
        """Somebody's page is closed, or its connection lost."""
        if self.lines.get(one.id) is line:
            del self.lines[one.id]
            self.gone[one.id] = time.monotonic()
            self._presence(one, False)

    def _presence(self, one: Participant, here: bool) -> None:
        room = self.rooms.get(self.place(one))
        if room:
            for agent, who in list(room.game.people.items()):
                if who == one.id:
                    room.presence(agent, here)

    def show(self, one: Participant) -> None:
        """Send somebody the page of their stage, and what they see there, once everybody has been moved on."""
        if one.id not in self._shown:
            self._shown.add(one.id)
            asyncio.get_running_loop().call_soon(self._show, one)

    def _show(self, one: Participant) -> None:
        self._shown.discard(one.id)
        telling.show(self, one)

    # What time brings

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            for study in list(self.studies.values()):
                for one in list(study.people.values()):
                    self._look_after(study, one)
                if self._is_stale(study):
                    self._dismiss(study)

    def _look_after(self, study: Study, one: Participant) -> None:
        try:
            if not one.finished:
                moves.look_after(self, study, one)
        except Exception:  # whatever is wrong with one of them, the others are looked after
            LOG.exception("%s could not be looked after", one.id)

    def _is_stale(self, study: Study) -> bool:
        """Whether this is a game that somebody played alone and has left long ago."""
        people = study.people.values()
        old = all(time.time() - one.since > STALE for one in people) and time.time() - study.made > STALE
        return study.kind == "solo" and old and not any(one.id in self.lines for one in people)

    def _dismiss(self, study: Study) -> None:
        del self.studies[study.id], self.invitations[study.invitation]
        for one in study.people.values():
            del self.seats[one.token]

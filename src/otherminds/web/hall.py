"""The hall: all studies, participants and rooms of a server, and who is connected. It moves everybody on.

Whatever happens is written into the journal and then follows from it, so that a server that was killed goes on where
it was. A participant is known by the token in their link and by nothing else.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

from otherminds.errors import InputError
from otherminds.web import stages, tutorial
from otherminds.web.board import Playable
from otherminds.web.journal import Journal, Written
from otherminds.web.plans import ASPECTS, Plan
from otherminds.web.rooms import Clock, Game, RefusedError, Room
from otherminds.web.studies import Kind, Pair, Participant, Study
from otherminds.web.thinking import Setup, Thinkers

TOKEN = 24
CODES = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
COMMENT = 2000
KEPT = 1024
SWEEP = 1.0


class Line(Protocol):
    """A connection to a participant's page. `looks` are those that the page has been told."""

    looks: dict[str, int]

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, soon."""
        ...


class Hall:
    """Everything that goes on. Raises InputError if the journal speaks of levels that are not there."""

    def __init__(self, journal: Journal, thinkers: Thinkers, levels: Mapping[str, Playable]) -> None:
        self.journal, self.thinkers, self.levels = journal, thinkers, levels
        self.studies: dict[str, Study] = {}
        self.rooms: dict[str, Room] = {}
        self.seats: dict[str, Participant] = {}
        self.invitations: dict[str, Study] = {}
        self.lines: dict[str, Line] = {}
        self.last: dict[str, int] = journal.deeds()
        self._over: OrderedDict[str, Game] = OrderedDict()
        self._gone: dict[str, float] = {}
        self._shown: set[str] = set()
        self._study_of: dict[str, Study] = {}
        self._sweeper: asyncio.Task[None] | None = None

    # Opening and closing

    def open(self) -> None:
        """Go on where the journal ends."""
        for stream in self.journal.streams("created"):
            first, *rest = self.journal.events(stream)
            study = Study.created(first, self.levels)
            for event in rest:
                study.apply(event)
            self._admit(study)
        for name in self.journal.streams("opened", "ended"):
            self._enter(name, self._replayed(name))
        self._sweeper = asyncio.create_task(self._sweep())

    def _admit(self, study: Study) -> None:
        self.studies[study.id] = study
        self.invitations[study.invitation] = study
        for one in study.people.values():
            self.seats[one.token] = one
            self._gone[one.id] = time.monotonic()

    def _replayed(self, name: str) -> Game:
        """A game as its events tell it."""
        first, *rest = self.journal.events(name)
        body = first.body
        if body["level"] not in self.levels:
            raise InputError(f"there is no level `{body['level']}`, which is played in {name}", path=self.journal.path)
        setup = Setup(name, self.levels[body["level"]], body["facilitator"], body["seed"], body["horizon"])
        clock = Clock(body["waits"], body["seconds"])
        game = Game(setup, dict(body["people"]), clock, body["practice"])
        for event in rest:
            game.apply(event)
        self._study_of[name] = self.studies[body["study"]]
        return game

    def _enter(self, name: str, game: Game) -> None:
        """Begin a room, or go on with it; who is not connected is away."""
        plan = self._study_of[name].plan
        room = Room(name, game, self.journal, self.thinkers, self._told, grace=plan.grace, dropout=plan.dropout)
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
        plan.check(self.levels)
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
        if name not in self._over:
            self._over[name] = self._replayed(name)
        self._over.move_to_end(name)
        while len(self._over) > KEPT:
            self._over.popitem(last=False)
        return self._over[name]

    def stage(self, one: Participant) -> str:
        """The stage that somebody is at."""
        return stages.where(self.study_of(one), one, self.game(self.place(one)))

    # Coming and going

    def arrive(self, one: Participant, line: Line) -> None:
        """Somebody has opened their page."""
        self.lines[one.id] = line
        self._gone.pop(one.id, None)
        self._presence(one, True)
        self._advance(one)
        self.show(one)

    def depart(self, one: Participant, line: Line) -> None:
        """Somebody's page is closed, or its connection lost."""
        if self.lines.get(one.id) is line:
            del self.lines[one.id]
            self._gone[one.id] = time.monotonic()
            self._presence(one, False)

    def _presence(self, one: Participant, here: bool) -> None:
        room = self.rooms.get(self.place(one))
        if room:
            for agent, who in list(room.game.people.items()):
                if who == one.id:
                    room.presence(agent, here)

    def _send(self, who: str, message: Mapping[str, Any]) -> None:
        if line := self.lines.get(who):
            line.send(message)

    def show(self, one: Participant) -> None:
        """Send somebody the page of their stage, and what they see there, once everybody has been moved on."""
        if one.id not in self._shown:
            self._shown.add(one.id)
            asyncio.get_running_loop().call_soon(self._show, one)

    def _show(self, one: Participant) -> None:
        self._shown.discard(one.id)
        study, game = self.study_of(one), self.game(self.place(one))
        stage, data = stages.page(study, one, game)
        self._send(one.id, {"type": "page", "stage": stage, "n": self.last.get(one.id, 0), "data": data})
        if stage == "game" and game:
            agent = stages.seat(game, one)
            self._frame(game, agent, one.id)
            for number, said in enumerate(game.said):
                if said.to == agent:
                    self._send(one.id, stages.advice(study, game, number))
            if game.away - {agent}:
                self._pause(self.rooms[self.place(one)])

    def _frame(self, game: Game, agent: str, who: str) -> None:
        if line := self.lines.get(who):
            line.send(stages.frame(game, agent, line.looks))

    # What rooms tell

    def _told(self, what: str, room: Room) -> None:
        """A room has something to tell to those who are in it."""
        game, study = room.game, self._study_of[room.name]
        if what == "step":
            for agent, who in game.people.items():
                self._frame(game, agent, who)
        elif what == "chosen":
            if game.clock.waits and len(game.people) > 1:
                self._all(game, {"type": "chosen", "who": sorted(game.pending)})
        elif what == "thought":
            self._advise(study, game, room)
        elif what == "pause":
            self._pause(room)
        elif what == "go":
            self._all(game, {"type": "go"})
        elif what == "replaced":
            self._replace(study, room)
        elif what == "ended":
            self._conclude(study, room)

    def _all(self, game: Game, message: Mapping[str, Any]) -> None:
        for who in game.people.values():
            self._send(who, message)

    def _pause(self, room: Room) -> None:
        left = max(0.0, room.deadline - time.monotonic())
        self._all(room.game, {"type": "pause", "who": sorted(room.game.away), "seconds": round(left, 1)})

    def _advise(self, study: Study, game: Game, room: Room) -> None:
        if not game.said:
            return
        if game.ended:
            for one in self._people(study, game):
                if self.stage(one) == "reveal":
                    self.show(one)
            return
        number = len(game.said) - 1
        who = game.people.get(game.said[number].to)
        thought = game.last_thought()
        if who and (thought.row["action"] or thought.row.get("status") not in (None, "running")):
            self._send(who, stages.advice(study, game, number))

    def _people(self, study: Study, game: Game) -> list[Participant]:
        ids = {*game.people.values()}
        return [one for one in study.people.values() if one.id in ids]

    def _replace(self, study: Study, room: Room) -> None:
        """Somebody has been away for too long: a simulated person takes over for good."""
        for one in list(study.people.values()):
            gone = one.id in room.game.replaced.values() and not one.finished
            if gone:
                self._finish(study, one, "left")
        agents = ", ".join(sorted(room.game.replaced))
        self._all(room.game, {"type": "note", "text": f"The other person has left; a simulated {agents} plays on."})

    def _conclude(self, study: Study, room: Room) -> None:
        """A round is over."""
        people = self._people(study, room.game)
        self._over[room.name] = room.game
        self.rooms.pop(room.name, None)
        for one in people:
            if room.game.ended == "left" and not one.finished:
                gone = one.id not in self.lines
                self._finish(study, one, "left" if gone else "partner left")
            self.show(one)

    # What participants do

    def take(self, one: Participant, message: Mapping[str, Any]) -> Written | None:
        """Do what a participant's page asks for; None if that has been done before. Raises RefusedError."""
        n, do = message.get("n"), message.get("do")
        if not isinstance(n, int) or isinstance(n, bool) or not 0 < n < 2**53:
            raise RefusedError("a message needs a number, n")
        if n <= self.last.get(one.id, 0):
            return None
        self.last[one.id] = n
        deed = DEEDS.get(do) if isinstance(do, str) else None
        if deed is None:
            raise RefusedError("there is nothing like that to do")
        stage = self.stage(one)
        if stage not in deed[1]:
            raise RefusedError("that is not to be done now")
        written: Written = deed[0](self, one, message, n)
        if do not in ("act", "heard"):
            self._advance(one)
            self.show(one)
        return written

    def _note(self, one: Participant, kind: str, n: int | None = None, **more: Any) -> Written:
        return self.note(self.study_of(one), kind, {"name": one.name, **more}, one.id if n else None, n)

    def _consent(self, one: Participant, _: Mapping[str, Any], n: int) -> Written:
        return self._note(one, "consented", n)

    def _decline(self, one: Participant, _: Mapping[str, Any], n: int) -> Written:
        return self._note(one, "declined", n)

    def _learn(self, one: Participant, message: Mapping[str, Any], n: int) -> Written:
        study = self.study_of(one)
        world = stages.world_of(study.levels[study.plan.levels[0]])
        wrong = tutorial.wrong(world, message.get("answers"))
        if wrong is None:
            raise RefusedError("every question needs an answer")
        return self._note(one, "taught", n, answers=message["answers"], wrong=wrong)

    def _ready(self, one: Participant, _: Mapping[str, Any], n: int) -> Written:
        return self._note(one, "ready", n)

    def _act(self, one: Participant, message: Mapping[str, Any], n: int) -> Written:
        room = self.rooms[self.place(one)]
        return room.act(stages.seat(room.game, one), message.get("action"), message.get("t"), n)

    def _heard(self, one: Participant, message: Mapping[str, Any], n: int) -> Written:
        room = self.rooms[self.place(one)]
        agent = stages.seat(room.game, one)
        return room.heard(agent, message.get("advice"), message.get("reply"), message.get("ms"), n)

    def _next(self, one: Participant, _: Mapping[str, Any], n: int) -> Written:
        return self._note(one, "seen" if one.practised else "practised", n)

    def _rate(self, one: Participant, message: Mapping[str, Any], n: int) -> Written:
        ratings, comment = message.get("ratings"), message.get("comment", "")
        if not isinstance(ratings, dict) or set(ratings) != set(ASPECTS):
            raise RefusedError("every question needs an answer")
        if not all(type(x) is int and 1 <= x <= 7 for x in ratings.values()):
            raise RefusedError("answers go from 1 to 7")
        if not isinstance(comment, str) or len(comment) > COMMENT:
            raise RefusedError(f"a comment has at most {COMMENT} characters")
        return self._note(one, "rated", n, trial=one.trial, ratings=ratings, comment=comment)

    def _leave(self, one: Participant, _: Mapping[str, Any], n: int) -> Written:
        study, place = self.study_of(one), self.place(one)
        written = self._finish(study, one, "left", n)
        room = self.rooms.get(place)
        if room:
            room.leave(stages.seat(room.game, one))
        else:
            self._bereave(study, one)
        return written

    # Moving on

    def _finish(self, study: Study, one: Participant, reason: str, n: int | None = None) -> Written:
        """Somebody is done, for a reason; a code says that they took part."""
        if not n and one.finished:
            raise ValueError(f"{one.id} is finished already")
        code = "".join(secrets.choice(CODES) for _ in range(8))
        code = f"{code[:4]}-{code[4:]}" if study.kind == "study" else ""
        pair = study.pairs.get(one.pair)
        if reason == "left" and pair and pair.people[one.seat] == one.name and study.plan.dropout == "simulated":
            self._note(one, "replaced")
        return self._note(one, "finished", n, reason=reason, code=code)

    def _bereave(self, study: Study, one: Participant) -> None:
        """Between rounds: what becomes of the other one of a pair when somebody has left."""
        pair = study.pairs.get(one.pair)
        for name in pair.people if pair else ():
            other = study.people.get(name)
            if other and other is not one and not other.finished:
                if study.plan.dropout == "end":
                    self._finish(study, other, "partner left")
                self._advance(other)
                self.show(other)

    def _advance(self, one: Participant) -> None:
        """Take every step that follows by itself."""
        study = self.study_of(one)
        if not (one.consented and one.taught) or one.finished:
            return
        if not one.practised:
            if one.ready and not one.practice:
                self._practise(study, one)
            return
        if not one.pair:
            self._wait(study, one)
            return
        pair, game = study.pairs[one.pair], self.game(self.place(one))
        if game is not None and game.ended and one.seen and not self._asked(study, one, game):
            self._note(one, "next")
            if one.trial >= len(pair.trials):
                self._finish(study, one, "finished" if study.kind == "study" else "played")
                return
            game = self.game(self.place(one))
        if game is None and study.kind == "solo" and not one.ready:
            self._note(one, "ready")
        if game is None and one.trial == len(pair.rooms) and self._all_ready(study, pair, one.trial):
            self._begin(study, pair)

    def _asked(self, study: Study, one: Participant, game: Game) -> bool:
        """Whether there are still questions to answer about a round."""
        wanted = study.plan.ratings and game.facilitated and study.kind == "study"
        return wanted and (one.name, one.trial) not in study.ratings

    def _wait(self, study: Study, one: Participant) -> None:
        """In the lobby: find somebody to play with."""
        trying = one.kind in ("try", "solo")
        if study.full and not trying:
            self._finish(study, one, "full")
            return
        if not one.waiting:
            self._note(one, "waiting")
        if trying or study.plan.partner == "simulated":
            self._pair(study, [one], trying)
            return
        waiting = sorted(
            (other for other in study.people.values() if other.id in self.lines and self.stage(other) == "lobby"),
            key=lambda other: (other.waiting, other.name),
        )
        if len(waiting) >= 2:
            self._pair(study, waiting[:2], trying=False)

    def _pair(self, study: Study, people: list[Participant], trying: bool) -> None:
        number = study.next_pair(trying)
        names = [one.name for one in people]
        if len(names) == 1:
            wanted = people[0].wants
            seat = number % 2 if wanted is None else wanted
            names.insert(1 - seat, "")
        trials = [vars(trial) for trial in study.trials(number)]
        self.note(study, "paired", {"pair": number, "people": names, "trials": trials})
        for one in people:
            self._advance(one)
            self.show(one)

    def _all_ready(self, study: Study, pair: Pair, trial: int) -> bool:
        people = [study.people[name] for name in pair.people if name]
        return all(one.ready and one.trial == trial and not one.finished for one in people)

    def _begin(self, study: Study, pair: Pair) -> None:
        """Open the room of a pair's next round."""
        trial = pair.trials[len(pair.rooms)]
        name = f"{study.id}:{pair.number}:{len(pair.rooms) + 1}"
        level = self.levels[trial.level]
        people = {
            agent: study.people[who].id for agent, who in zip(level.world.agents, pair.people, strict=True) if who
        }
        self._open(study, name, level, trial.facilitator, trial.seed, people)
        self.note(study, "began", {"pair": pair.number, "room": name})
        for one in (study.people[who] for who in pair.people if who):
            self.show(one)

    def _practise(self, study: Study, one: Participant) -> None:
        """Open a room to practise in, with a simulated person; where possible, one in which there will be advice."""
        world = stages.world_of(self.levels[study.plan.levels[0]])
        spare = [
            level for level in self.levels.values() if stages.world_of(level) == world and level.kind == "necessary"
        ]
        level = next((level for level in spare if level.name not in study.plan.levels), None) or spare[0]
        helper = level.certificate.get("message", "").partition(":")[0]
        agents = level.world.agents
        name = f"{study.id}:{one.name}"
        me = helper if helper in agents else agents[0]
        self._open(study, name, level, "oracle", study.plan.seed, {me: one.id}, practice=True)
        self._note(one, "practising", room=name)

    def _open(
        self,
        study: Study,
        name: str,
        level: Playable,
        facilitator: str,
        seed: int,
        people: dict[str, str],
        practice: bool = False,
    ) -> None:
        plan = study.plan
        seconds = 0.0 if practice else plan.seconds
        body = {
            "study": study.id,
            "level": level.name,
            "facilitator": facilitator,
            "seed": seed,
            "horizon": level.horizon,
            "people": people,
            "waits": practice or plan.waits,
            "seconds": seconds,
            "practice": practice,
        }
        self.journal.append(name, "opened", body)
        setup = Setup(name, level, facilitator, seed, level.horizon)
        game = Game(setup, dict(people), Clock(practice or plan.waits, seconds), practice)
        self._study_of[name] = study
        self._enter(name, game)

    # What time brings

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            for study in self.studies.values():
                for one in list(study.people.values()):
                    if not one.finished:
                        self._look_after(study, one)

    def _look_after(self, study: Study, one: Participant) -> None:
        """Who has waited too long in the lobby is thanked; who has left between rounds, or keeps others waiting, is
        taken to have left."""
        now, stage = time.monotonic(), self.stage(one)
        patience = 60.0 * study.plan.lobby_minutes
        if stage == "lobby" and one.id in self.lines and time.time() - one.waiting > patience:
            self._finish(study, one, "nobody came")
            self.show(one)
        elif one.pair and stage in ("ready", "reveal", "questions") and self._awaited(study, one):
            away = one.id in self._gone and now - self._gone[one.id] > study.plan.grace
            if away or time.time() - one.since > patience:
                self._finish(study, one, "left")
                self._bereave(study, one)
                self.show(one)

    def _awaited(self, study: Study, one: Participant) -> bool:
        """Whether somebody else is ready for the next round and this person is not."""
        others = (study.people.get(name) for name in study.pairs[one.pair].people if name != one.name)
        return any(
            other and other.ready and other.trial >= one.trial and not self.game(self.place(other)) for other in others
        )


DEEDS: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "consent": (Hall._consent, ("consent",)),
    "decline": (Hall._decline, ("consent",)),
    "tutorial": (Hall._learn, ("tutorial",)),
    "ready": (Hall._ready, ("ready",)),
    "act": (Hall._act, ("game",)),
    "heard": (Hall._heard, ("game",)),
    "next": (Hall._next, ("reveal",)),
    "rate": (Hall._rate, ("questions",)),
    "leave": (Hall._leave, ("tutorial", "lobby", "ready", "game", "reveal", "questions")),
}
"""What participants can do, and at which stages."""

"""What participants can do: every message of their pages, checked and taken once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otherminds.web import stages, tutorial
from otherminds.web.event_log import Written
from otherminds.web.games import RefusedError
from otherminds.web.lobby import Lobby
from otherminds.web.moves import advance, bereave, finish, note
from otherminds.web.plans import ASPECTS
from otherminds.web.studies import Participant

COMMENT = 2000


def take(hall: Lobby, one: Participant, message: Mapping[str, Any]) -> Written | None:
    """Do what a participant's page asks for; None if that has been done before. Raises RefusedError."""
    n, do = message.get("n"), message.get("do")
    if not isinstance(n, int) or isinstance(n, bool) or not 0 < n < 2**53:
        raise RefusedError("a message needs a number, n")
    if n <= hall.last.get(one.id, 0):
        return None
    hall.last[one.id] = n
    deed = DEEDS.get(do) if isinstance(do, str) else None
    if deed is None:
        raise RefusedError("there is nothing like that to do")
    stage = hall.stage(one)
    if stage not in deed[1]:
        raise RefusedError("that is not to be done now")
    written: Written = deed[0](hall, one, message, n)
    if do not in ("act", "heard"):
        advance(hall, one)
        hall.show(one)
    return written


def _consent(hall: Lobby, one: Participant, _: Mapping[str, Any], n: int) -> Written:
    return note(hall, one, "consented", n)


def _decline(hall: Lobby, one: Participant, _: Mapping[str, Any], n: int) -> Written:
    return note(hall, one, "declined", n)


def _learn(hall: Lobby, one: Participant, message: Mapping[str, Any], n: int) -> Written:
    study = hall.study_of(one)
    world = stages.world_of(study.levels[study.plan.levels[0]])
    wrong = tutorial.wrong(world, message.get("answers"))
    if wrong is None:
        raise RefusedError("every question needs an answer")
    return note(hall, one, "taught", n, answers=message["answers"], wrong=wrong)


def _ready(hall: Lobby, one: Participant, _: Mapping[str, Any], n: int) -> Written:
    return note(hall, one, "ready", n)


def _act(hall: Lobby, one: Participant, message: Mapping[str, Any], n: int) -> Written:
    room = hall.rooms[hall.place(one)]
    return room.act(stages.seat(room.game, one), message.get("action"), message.get("t"), n)


def _heard(hall: Lobby, one: Participant, message: Mapping[str, Any], n: int) -> Written:
    room = hall.rooms[hall.place(one)]
    agent = stages.seat(room.game, one)
    return room.heard(agent, message.get("advice"), message.get("reply"), message.get("ms"), n)


def _next(hall: Lobby, one: Participant, _: Mapping[str, Any], n: int) -> Written:
    return note(hall, one, "seen" if one.practised else "practised", n)


def _rate(hall: Lobby, one: Participant, message: Mapping[str, Any], n: int) -> Written:
    ratings, comment = message.get("ratings"), message.get("comment", "")
    if not isinstance(ratings, dict) or set(ratings) != set(ASPECTS):
        raise RefusedError("every question needs an answer")
    if not all(type(x) is int and 1 <= x <= 7 for x in ratings.values()):
        raise RefusedError("answers go from 1 to 7")
    if not isinstance(comment, str) or len(comment) > COMMENT:
        raise RefusedError(f"a comment has at most {COMMENT} characters")
    if any("\ud800" <= c <= "\udfff" for c in comment):
        raise RefusedError("a comment has no halves of characters")
    return note(hall, one, "rated", n, trial=one.trial, ratings=ratings, comment=comment)


def _leave(hall: Lobby, one: Participant, _: Mapping[str, Any], n: int) -> Written:
    study, place = hall.study_of(one), hall.place(one)
    written = finish(hall, study, one, "left", n)
    room = hall.rooms.get(place)
    if room:
        room.leave(stages.seat(room.game, one))
    else:
        bereave(hall, study, one)
    return written


DEEDS: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "consent": (_consent, ("consent",)),
    "decline": (_decline, ("consent",)),
    "tutorial": (_learn, ("tutorial",)),
    "ready": (_ready, ("ready",)),
    "act": (_act, ("game",)),
    "heard": (_heard, ("game",)),
    "next": (_next, ("reveal",)),
    "rate": (_rate, ("questions",)),
    "leave": (_leave, ("tutorial", "lobby", "ready", "game", "reveal", "questions")),
}
"""What participants can do, and at which stages."""

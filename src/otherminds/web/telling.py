"""What participants are told: the page of their stage, what they see, what they are advised, who is away."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otherminds.web import moves, stages
from otherminds.web.games import Game
from otherminds.web.rooms import Room
from otherminds.web.studies import Participant, Study

if TYPE_CHECKING:
    from otherminds.web.lobby import Lobby


def _send(hall: Lobby, who: str, message: Mapping[str, Any]) -> None:
    if line := hall.lines.get(who):
        line.send(message)


def show(hall: Lobby, one: Participant) -> None:
    """The page of somebody's stage; in a round also what they see, what they were advised, and who is away."""
    study, game = hall.study_of(one), hall.game(hall.place(one))
    stage, data = stages.page(study, one, game)
    _send(hall, one.id, {"type": "page", "stage": stage, "n": hall.last.get(one.id, 0), "data": data})
    if stage == "game" and game:
        agent = stages.seat(game, one)
        _frame(hall, game, agent, one.id)
        for number, said in enumerate(game.said):
            if said.to == agent:
                _send(hall, one.id, stages.advice(study, game, number))
        if game.away - {agent}:
            _pause(hall, hall.rooms[hall.place(one)])


def _frame(hall: Lobby, game: Game, agent: str, who: str) -> None:
    if line := hall.lines.get(who):
        line.send(stages.frame(game, agent, line.looks))


def told(hall: Lobby, what: str, room: Room) -> None:
    """A room has something to tell to those who are in it."""
    game, study = room.game, hall.study_in[room.name]
    if what == "step":
        for agent, who in game.people.items():
            _frame(hall, game, agent, who)
    elif what == "chosen":
        if game.clock.waits and len(game.people) > 1:
            everybody(hall, game, {"type": "chosen", "who": sorted(game.pending)})
    elif what == "thought":
        _advise(hall, study, game, room)
    elif what == "pause":
        _pause(hall, room)
    elif what == "go":
        everybody(hall, game, {"type": "go"})
    elif what == "replaced":
        moves.replace(hall, study, room)
    elif what == "ended":
        moves.conclude(hall, study, room)


def everybody(hall: Lobby, game: Game, message: Mapping[str, Any]) -> None:
    """The same for all who play a game."""
    for who in game.people.values():
        _send(hall, who, message)


def _pause(hall: Lobby, room: Room) -> None:
    left = max(0.0, room.deadline - time.monotonic())
    everybody(hall, room.game, {"type": "pause", "who": sorted(room.game.away), "seconds": round(left, 1)})


def _advise(hall: Lobby, study: Study, game: Game, room: Room) -> None:
    if not game.said:
        return
    if game.ended:
        for one in moves.people(hall, study, game):
            if hall.stage(one) == "reveal":
                hall.show(one)
        return
    row = game.last_thought().row
    changed = bool(row["action"]) + (row.get("status") not in (None, "running"))
    for number in range(max(0, len(game.said) - changed), len(game.said)):
        if who := game.people.get(game.said[number].to):
            _send(hall, who, stages.advice(study, game, number))

"""How participants move on: from the lobby into a pair, from round to round, and out of a study."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from otherminds.papers.protom.study.plan import Trial
from otherminds.web import stages, telling
from otherminds.web.event_log import Written
from otherminds.web.games import Clock, Game
from otherminds.web.rooms import Room
from otherminds.web.studies import Pair, Participant, Study

if TYPE_CHECKING:
    from otherminds.web.lobby import Lobby

CODES = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def note(hall: Lobby, one: Participant, kind: str, n: int | None = None, **more: Any) -> Written:
    """Let something happen to a participant; n: the number of the deed by which they have brought it about."""
    return hall.note(hall.study_of(one), kind, {"name": one.name, **more}, one.id if n else None, n)


def finish(hall: Lobby, study: Study, one: Participant, reason: str, n: int | None = None) -> Written:
    """Somebody is done, for a reason; a code says that they took part."""
    if not n and one.finished:
        raise ValueError(f"{one.id} is finished already")
    code = "".join(secrets.choice(CODES) for _ in range(8))
    code = f"{code[:4]}-{code[4:]}" if study.kind == "study" else ""
    replaced = reason == "left" and study.plan.dropout == "simulated"
    return note(hall, one, "finished", n, reason=reason, code=code, replaced=replaced)


def bereave(hall: Lobby, study: Study, one: Participant) -> None:
    """Between rounds: what becomes of the other one of a pair when somebody has left."""
    pair = study.pairs.get(one.pair)
    for name in pair.people if pair else ():
        other = study.people.get(name)
        if other and other is not one and not other.finished:
            if study.plan.dropout == "end":
                finish(hall, study, other, "partner left")
            advance(hall, other)
            hall.show(other)


def advance(hall: Lobby, one: Participant) -> None:
    """Take every step that follows by itself."""
    study = hall.study_of(one)
    if not (one.consented and one.taught) or one.finished:
        return
    if not one.practised:
        if one.ready and not one.practice:
            _practise(hall, study, one)
        return
    if not one.pair:
        _wait(hall, study, one)
        return
    pair, game = study.pairs[one.pair], hall.game(hall.place(one))
    if game is not None and game.ended and one.seen and not _asked(hall, study, one, game):
        note(hall, one, "next")
        if one.trial >= len(pair.trials):
            finish(hall, study, one, "finished" if study.kind == "study" else "played")
            return
        game = hall.game(hall.place(one))
    if game is None and study.kind == "solo" and not one.ready:
        note(hall, one, "ready")
    if game is None and one.trial == len(pair.rooms) and _all_ready(hall, study, pair, one.trial):
        _begin(hall, study, pair)


def _asked(hall: Lobby, study: Study, one: Participant, game: Game) -> bool:
    """Whether there are still questions to answer about a round."""
    wanted = study.plan.ratings and game.facilitated and study.kind == "study"
    return wanted and (one.name, one.trial) not in study.ratings


def _wait(hall: Lobby, study: Study, one: Participant) -> None:
    """In the lobby: find somebody to play with."""
    trying = one.kind in ("try", "solo")
    if study.full and not trying:
        finish(hall, study, one, "full")
        return
    if not one.waiting:
        note(hall, one, "waiting")
    if trying or study.plan.partner == "simulated":
        _pair(hall, study, [one], trying)
        return
    waiting = sorted(
        (other for other in study.people.values() if other.id in hall.lines and hall.stage(other) == "lobby"),
        key=lambda other: (other.waiting, other.name),
    )
    if len(waiting) >= 2:
        _pair(hall, study, waiting[:2], trying=False)


def _pair(hall: Lobby, study: Study, people: list[Participant], trying: bool) -> None:
    number = study.next_pair(trying)
    names = [one.name for one in people]
    if len(names) == 1:
        wanted = people[0].wants
        seat = number % 2 if wanted is None else wanted
        names.insert(1 - seat, "")
    trials = [vars(trial) for trial in study.trials(number)]
    hall.note(study, "paired", {"pair": number, "people": names, "trials": trials})
    for one in people:
        advance(hall, one)
        hall.show(one)


def _all_ready(hall: Lobby, study: Study, pair: Pair, trial: int) -> bool:
    people = [study.people[name] for name in pair.people if name]
    return all(one.ready and one.trial == trial and not one.finished for one in people)


def _begin(hall: Lobby, study: Study, pair: Pair) -> None:
    """Open the room of a pair's next round."""
    trial = pair.trials[len(pair.rooms)]
    name = f"{study.id}:{pair.number}:{len(pair.rooms) + 1}"
    agents = hall.levels[trial.level].world.agents
    players = {agent: study.people[who].id for agent, who in zip(agents, pair.people, strict=True) if who}
    clock = Clock(study.plan.waits, study.plan.seconds)
    _open(hall, study, name, trial, players, clock, {"pair": pair.number})
    for one in (study.people[who] for who in pair.people if who):
        hall.show(one)


def _practise(hall: Lobby, study: Study, one: Participant) -> None:
    """Open a room to practise in, with a simulated person; where possible, one in which there will be advice."""
    world = stages.world_of(hall.levels[study.plan.levels[0]])
    spare = [level for level in hall.levels.values() if stages.world_of(level) == world and level.kind == "necessary"]
    level = next((level for level in spare if level.name not in study.plan.levels), None) or spare[0]
    helper, agents = level.certificate.get("message", "").partition(":")[0], level.world.agents
    players = {helper if helper in agents else agents[0]: one.id}
    trial = Trial(level.name, "oracle", study.plan.seed)
    _open(
        hall, study, f"{study.id}:{one.name}", trial, players, Clock(seconds=0.0), {"name": one.name, "practice": True}
    )


def _open(
    hall: Lobby, study: Study, name: str, trial: Trial, players: dict[str, str], clock: Clock, whose: dict[str, Any]
) -> None:
    """Open a room: from the one event that says so, the study knows whose it is, and the game how it is set up."""
    body = {
        "study": study.id,
        "room": name,
        **vars(trial),
        "people": players,
        **vars(clock),
        "practice": False,
        **whose,
    }
    event, _ = hall.journal.append(name, "opened", body)
    study.apply(event)
    hall.enter(name, hall.begun(event))


def look_after(hall: Lobby, study: Study, one: Participant) -> None:
    """Who has waited too long in the lobby is thanked; who keeps others waiting for too long is taken to have left."""
    now, stage = time.monotonic(), hall.stage(one)
    patience = 60.0 * study.plan.lobby_minutes
    if stage == "lobby" and one.id in hall.lines and time.time() - one.waiting > patience:
        finish(hall, study, one, "nobody came")
        hall.show(one)
    elif one.pair and stage in ("ready", "reveal", "questions") and _awaited(hall, study, one):
        away = one.id in hall.gone and now - hall.gone[one.id] > study.plan.grace
        if away or time.time() - one.since > patience:
            finish(hall, study, one, "left")
            bereave(hall, study, one)
            hall.show(one)
    elif stage == "game":
        room = hall.rooms[hall.place(one)]
        agent, moved = stages.seat(room.game, one), max([one.since, *room.game.times[-1:]])
        if room.game.awaits(agent) and time.time() - moved > patience:
            finish(hall, study, one, "left")
            room.leave(agent)
            hall.show(one)


def _awaited(hall: Lobby, study: Study, one: Participant) -> bool:
    """Whether somebody else is ready for the next round and this person is not."""
    others = (study.people.get(name) for name in study.pairs[one.pair].people if name != one.name)
    return any(
        other and other.ready and other.trial >= one.trial and not hall.game(hall.place(other)) for other in others
    )


def people(hall: Lobby, study: Study, game: Game) -> list[Participant]:
    """Those who play a game."""
    ids = {*game.people.values()}
    return [one for one in study.people.values() if one.id in ids]


def replace(hall: Lobby, study: Study, room: Room) -> None:
    """Somebody has been away for too long: a simulated person takes over for good."""
    gone = set(room.game.replaced.values())
    for one in list(study.people.values()):
        if one.id in gone and not one.finished:
            finish(hall, study, one, "left")
    text = f"The other person has left; a simulated {', '.join(sorted(room.game.replaced))} plays on."
    telling.everybody(hall, room.game, {"type": "note", "text": text})


def conclude(hall: Lobby, study: Study, room: Room) -> None:
    """A round is over."""
    players = people(hall, study, room.game)
    hall.over[room.name] = room.game
    hall.rooms.pop(room.name, None)
    for one in players:
        if room.game.ended == "left" and not one.finished:
            finish(hall, study, one, "partner left" if one.id in hall.lines else "left")
        hall.show(one)

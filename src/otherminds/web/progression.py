"""How participants progress through a study, and what their pages are sent at each step."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otherminds.papers.protom.study.plan import Trial
from otherminds.web import stages
from otherminds.web.event_log import Written
from otherminds.web.games import GameClock, LiveGame
from otherminds.web.rooms import GameRoom
from otherminds.web.studies import Participant, ParticipantPair, Study

if TYPE_CHECKING:
    from otherminds.web.lobby import Lobby


CODES = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # characters of completion codes, without those that look alike


def note(lobby: Lobby, participant: Participant, kind: str, n: int | None = None, **more: Any) -> Written:
    """Log an event of a participant; n: the number of the participant's action that caused it, if one did."""
    return lobby.note(
        lobby.study_of(participant), kind, {"name": participant.name, **more}, participant.id if n else None, n
    )


def finish(lobby: Lobby, study: Study, participant: Participant, reason: str, n: int | None = None) -> Written:
    """End the participation, for a reason, with a completion code. Raises ValueError if it has ended already."""
    if not n and participant.finished:
        raise ValueError(f"{participant.id} is finished already")
    code = "".join(secrets.choice(CODES) for _ in range(8))
    code = f"{code[:4]}-{code[4:]}" if study.kind == "study" else ""
    replaced = reason == "left" and study.plan.dropout == "simulated"
    return note(lobby, participant, "finished", n, reason=reason, code=code, replaced=replaced)


def bereave(lobby: Lobby, study: Study, participant: Participant) -> None:
    """Between rounds: end or continue the partner's study after a participant has left."""
    pair = study.pairs.get(participant.pair)
    for name in pair.people if pair else ():
        other = study.people.get(name)
        if other and other is not participant and not other.finished:
            if study.plan.dropout == "end":
                finish(lobby, study, other, "partner left")
            advance(lobby, other)
            lobby.show(other)


def advance(lobby: Lobby, participant: Participant) -> None:
    """Take all steps of a participant that need no action of theirs."""
    study = lobby.study_of(participant)
    if not (participant.consented and participant.taught) or participant.finished:
        return
    if not participant.practised:
        if participant.ready and not participant.practice:
            _practise(lobby, study, participant)
        return
    if not participant.pair:
        _wait(lobby, study, participant)
        return
    pair, game = study.pairs[participant.pair], lobby.game(lobby.place(participant))
    if game is not None and game.ended and participant.seen and not _asked(lobby, study, participant, game):
        note(lobby, participant, "next")
        if participant.trial >= len(pair.trials):
            finish(lobby, study, participant, "finished" if study.kind == "study" else "played")
            return
        game = lobby.game(lobby.place(participant))
    if game is None and study.kind == "solo" and not participant.ready:
        note(lobby, participant, "ready")
    players = [study.people[name] for name in pair.people if name]
    ready = all(one.ready and one.trial == participant.trial and not one.finished for one in players)
    if game is None and participant.trial == len(pair.rooms) and ready:
        _begin(lobby, study, pair)


def _asked(lobby: Lobby, study: Study, participant: Participant, game: LiveGame) -> bool:
    """Whether the participant still has questions to answer about a round."""
    wanted = study.plan.ratings and game.facilitated and study.kind == "study"
    return wanted and (participant.name, participant.trial) not in study.ratings


def _wait(lobby: Lobby, study: Study, participant: Participant) -> None:
    """In the lobby: pair the participant with the person that has waited longest, or with a simulated partner."""
    trying = participant.kind in ("try", "solo")
    if study.full and not trying:
        finish(lobby, study, participant, "full")
        return
    if not participant.waiting:
        note(lobby, participant, "waiting")
    if trying or study.plan.partner == "simulated":
        _pair(lobby, study, [participant], trying)
        return
    waiting = sorted(
        (other for other in study.people.values() if other.id in lobby.connections and lobby.stage(other) == "lobby"),
        key=lambda other: (other.waiting, other.name),
    )
    if len(waiting) >= 2:
        _pair(lobby, study, waiting[:2], trying=False)


def _pair(lobby: Lobby, study: Study, people: list[Participant], trying: bool) -> None:
    number = study.next_pair(trying)
    names = [participant.name for participant in people]
    if len(names) == 1:
        wanted = people[0].wants
        seat = number % 2 if wanted is None else wanted
        names.insert(1 - seat, "")
    trials = [vars(trial) for trial in study.trials(number)]
    lobby.note(study, "paired", {"pair": number, "people": names, "trials": trials})
    for participant in people:
        advance(lobby, participant)
        lobby.show(participant)


def _begin(lobby: Lobby, study: Study, pair: ParticipantPair) -> None:
    """Open the room of a pair's next round."""
    trial = pair.trials[len(pair.rooms)]
    name = f"{study.id}:{pair.number}:{len(pair.rooms) + 1}"
    agents = lobby.levels[trial.level].world.agents
    players = {agent: study.people[who].id for agent, who in zip(agents, pair.people, strict=True) if who}
    clock = GameClock(study.plan.waits, study.plan.seconds)
    _open(lobby, study, name, trial, players, clock, {"pair": pair.number})
    for participant in (study.people[who] for who in pair.people if who):
        lobby.show(participant)


def _practise(lobby: Lobby, study: Study, participant: Participant) -> None:
    """Open a practice room with a simulated partner, at a level where advice is needed if there is one."""
    world = stages.world_of(lobby.levels[study.plan.levels[0]])
    spare = [level for level in lobby.levels.values() if stages.world_of(level) == world and level.kind == "necessary"]
    level = next((level for level in spare if level.name not in study.plan.levels), None) or spare[0]
    helper, agents = level.certificate.get("message", "").partition(":")[0], level.world.agents
    players = {helper if helper in agents else agents[0]: participant.id}
    trial = Trial(level.name, "oracle", study.plan.seed)
    whose, clock = {"name": participant.name, "practice": True}, GameClock(seconds=0.0)
    _open(lobby, study, f"{study.id}:{participant.name}", trial, players, clock, whose)


def _open(
    lobby: Lobby,
    study: Study,
    name: str,
    trial: Trial,
    players: dict[str, str],
    clock: GameClock,
    whose: dict[str, Any],
) -> None:
    """Open a room with one event, from which both the study and the game follow."""
    setup = {"study": study.id, "room": name, **vars(trial), "people": players, **vars(clock)}
    event, _ = lobby.event_log.append(name, "opened", {**setup, "practice": False, **whose})
    study.apply(event)
    lobby.enter(name, lobby.begun(event))


def look_after(lobby: Lobby, study: Study, participant: Participant) -> None:
    """End the participation of a person that has waited too long in the lobby, or keeps others waiting."""
    now, stage = time.monotonic(), lobby.stage(participant)
    patience = 60.0 * study.plan.lobby_minutes
    if stage == "lobby" and participant.id in lobby.connections and time.time() - participant.waiting > patience:
        finish(lobby, study, participant, "nobody came")
        lobby.show(participant)
    elif participant.pair and stage in ("ready", "reveal", "questions") and _awaited(lobby, study, participant):
        away = participant.id in lobby.gone and now - lobby.gone[participant.id] > study.plan.grace
        if away or time.time() - participant.since > patience:
            finish(lobby, study, participant, "left")
            bereave(lobby, study, participant)
            lobby.show(participant)
    elif stage == "game":
        room = lobby.rooms[lobby.place(participant)]
        agent, moved = stages.seat(room.game, participant), max([participant.since, *room.game.times[-1:]])
        if room.game.awaits(agent) and time.time() - moved > patience:
            finish(lobby, study, participant, "left")
            room.leave(agent)
            lobby.show(participant)


def _awaited(lobby: Lobby, study: Study, participant: Participant) -> bool:
    """Whether the partner is ready for the next round and this participant is not."""
    others = (study.people.get(name) for name in study.pairs[participant.pair].people if name != participant.name)
    return any(
        other and other.ready and other.trial >= participant.trial and not lobby.game(lobby.place(other))
        for other in others
    )


def people(lobby: Lobby, study: Study, game: LiveGame) -> list[Participant]:
    """The participants in a game."""
    ids = {*game.people.values()}
    return [participant for participant in study.people.values() if participant.id in ids]


def replace(lobby: Lobby, study: Study, room: GameRoom) -> None:
    """Tell the players that a simulated person has taken over for good, and end the absent player's study."""
    gone = set(room.game.replaced.values())
    for participant in list(study.people.values()):
        if participant.id in gone and not participant.finished:
            finish(lobby, study, participant, "left")
    text = f"The other person has left; a simulated {', '.join(sorted(room.game.replaced))} plays on."
    send_all(lobby, room.game, {"type": "note", "text": text})


def conclude(lobby: Lobby, study: Study, room: GameRoom) -> None:
    """Close the room of a round that is over, and move its players on."""
    players = people(lobby, study, room.game)
    lobby.over[room.name] = room.game
    lobby.rooms.pop(room.name, None)
    for participant in players:
        if room.game.ended == "left" and not participant.finished:
            finish(lobby, study, participant, "partner left" if participant.id in lobby.connections else "left")
        lobby.show(participant)


def _send(lobby: Lobby, who: str, message: Mapping[str, Any]) -> None:
    if connection := lobby.connections.get(who):
        connection.send(message)


def show(lobby: Lobby, participant: Participant) -> None:
    """Send a participant the page of their stage; in a round also the frame, earlier advice, and who is away."""
    study, game = lobby.study_of(participant), lobby.game(lobby.place(participant))
    stage, data = stages.page(study, participant, game)
    _send(lobby, participant.id, {"type": "page", "stage": stage, "n": lobby.last.get(participant.id, 0), "data": data})
    if stage == "game" and game:
        agent = stages.seat(game, participant)
        _frame(lobby, game, agent, participant.id)
        for number, said in enumerate(game.said):
            if said.to == agent:
                _send(lobby, participant.id, stages.advice(study, game, number))
        if game.away - {agent}:
            _pause(lobby, lobby.rooms[lobby.place(participant)])


def _frame(lobby: Lobby, game: LiveGame, agent: str, who: str) -> None:
    if connection := lobby.connections.get(who):
        connection.send(stages.frame(game, agent, connection.looks))


def room_news(lobby: Lobby, what: str, room: GameRoom) -> None:
    """Pass a room's news (`step`, `thought`, …) on to its players."""
    game, study = room.game, lobby.study_in[room.name]
    if what == "step":
        for agent, who in game.people.items():
            _frame(lobby, game, agent, who)
    elif what == "chosen":
        if game.clock.waits and len(game.people) > 1:
            send_all(lobby, game, {"type": "chosen", "who": sorted(game.pending)})
    elif what == "thought":
        _advise(lobby, study, game, room)
    elif what == "pause":
        _pause(lobby, room)
    elif what == "go":
        send_all(lobby, game, {"type": "go"})
    elif what == "replaced":
        replace(lobby, study, room)
    elif what == "ended":
        conclude(lobby, study, room)


def send_all(lobby: Lobby, game: LiveGame, message: Mapping[str, Any]) -> None:
    """Send the same message to all players of a game."""
    for who in game.people.values():
        _send(lobby, who, message)


def _pause(lobby: Lobby, room: GameRoom) -> None:
    left = max(0.0, room.deadline - time.monotonic())
    send_all(lobby, room.game, {"type": "pause", "who": sorted(room.game.away), "seconds": round(left, 1)})


def _advise(lobby: Lobby, study: Study, game: LiveGame, room: GameRoom) -> None:
    if not game.said:
        return
    if game.ended:
        for participant in people(lobby, study, game):
            if lobby.stage(participant) == "reveal":
                lobby.show(participant)
        return
    row = game.last_thought().row
    changed = bool(row["action"]) + (row.get("status") not in (None, "running"))
    for number in range(max(0, len(game.said) - changed), len(game.said)):
        if who := game.people.get(game.said[number].to):
            _send(lobby, who, stages.advice(study, game, number))

"""How participants progress through a study: they come and go, wait, are paired, and play in rooms."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections.abc import Collection
from functools import partial
from typing import Any

from otherminds.papers.protom.study.plan import Trial
from otherminds.web import stages
from otherminds.web.event_log import Written
from otherminds.web.games import LiveGame
from otherminds.web.lobby import Lobby, PageConnection
from otherminds.web.rooms import GameRoom
from otherminds.web.studies import Participant, ParticipantPair, Study

LOG = logging.getLogger(__name__)
SWEEP = 1.0  # seconds between checks for people that have waited too long; chosen
CODES = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # characters of completion codes, without those that look alike


def note(lobby: Lobby, participant: Participant, kind: str, n: int | None = None, **more: Any) -> Written:
    """Log an event of a participant; n: the number of the participant's action that caused it, if one did."""
    return lobby.note(participant.study, kind, {"name": participant.name, **more}, participant.id if n else None, n)


def finish(lobby: Lobby, participant: Participant, reason: str, n: int | None = None, cause: str = "") -> Written:
    """End the participation, for a reason, with a completion code. Raises ValueError if it has ended already.

    cause: why a participant counts as having left who has not said so, `away` or `slow`.
    """
    if not n and participant.finished:
        raise ValueError(f"{participant.id} is finished already")
    study, code = participant.study, "".join(secrets.choice(CODES) for _ in range(8))
    code = f"{code[:4]}-{code[4:]}" if study.kind == "study" else ""
    replaced = reason == "left" and study.plan.dropout == "simulated" and not stages.has_played(participant)
    more = {"cause": cause} if cause else {}
    return note(lobby, participant, "finished", n, reason=reason, code=code, replaced=replaced, **more)


def leave(lobby: Lobby, participant: Participant, n: int | None = None, cause: str = "") -> Written:
    """End the participation of a person that has left; their partner plays on or ends, as the study's plan says."""
    study, room = participant.study, lobby.rooms.get(lobby.place(participant))
    pending_write = finish(lobby, participant, "left", n, cause)
    pair = None if stages.has_played(participant) else study.pairs.get(participant.pair)
    if room:
        room.leave(stages.seat(room.game, participant))
    for name in pair.people if pair and not room else ():
        partner = study.people.get(name)
        if partner and partner is not participant and not partner.finished:
            if study.plan.dropout == "end":
                finish(lobby, partner, "partner left")
            advance(lobby, partner)
            lobby.show(partner)
    lobby.show(participant)
    return pending_write


def advance(lobby: Lobby, participant: Participant) -> None:
    """Take all steps of a participant that need no action of theirs."""
    study = participant.study
    is_prepared = participant.consented and participant.instructed and participant.taught
    is_asked = not participant.pair and study.pending(participant, "before")
    if participant.finished or not is_prepared or is_asked:
        return
    if not participant.practised:
        if participant.ready and not participant.practice:
            _practise(lobby, participant)
        return
    if not participant.pair:
        _wait(lobby, participant)
        return
    pair, game = study.pairs[participant.pair], lobby.game(lobby.place(participant))
    if game is not None and game.ended and participant.reveal_done and not stages.asked(participant, game):
        note(lobby, participant, "next")
        game = lobby.game(lobby.place(participant))
    if stages.has_played(participant):
        if not study.pending(participant, "after"):
            finish(lobby, participant, "finished" if study.kind == "study" else "played")
        return
    if game is None and study.kind == "solo" and not participant.ready:
        note(lobby, participant, "ready")
    players = [study.people[name] for name in pair.people if name]
    all_ready = all(player.ready and player.trial == participant.trial and not player.finished for player in players)
    if game is None and participant.trial == len(pair.rooms) and all_ready:
        _begin(lobby, study, pair)


def _wait(lobby: Lobby, participant: Participant) -> None:
    """In the lobby: pair the participant with the person that has waited longest, or with a simulated partner."""
    study, alone = participant.study, participant.kind in ("try", "solo")
    if study.full and not alone:
        finish(lobby, participant, "full")
        return
    if not participant.waiting:
        note(lobby, participant, "waiting")
    if alone or study.plan.partner == "simulated":
        _pair(lobby, study, [participant], alone)
        return
    waiting = sorted(
        (
            candidate
            for candidate in study.people.values()
            if candidate.id in lobby.connections and lobby.stage(candidate) == "lobby"
        ),
        key=lambda candidate: (candidate.waiting, candidate.name),
    )
    if len(waiting) >= 2:
        _pair(lobby, study, waiting[:2], trying=False)


def _pair(lobby: Lobby, study: Study, people: list[Participant], trying: bool) -> None:
    """Pair one or two participants, whose order is that of the seats; one alone gets a simulated partner.

    The seat of one alone is the one asked for, else that by the pair's number, so that seats are balanced over pairs.
    """
    number, preferred_seat = study.next_pair(trying), people[0].wants
    names = [participant.name for participant in people]
    if len(names) == 1:
        names.insert(1 - (number % 2 if preferred_seat is None else preferred_seat), "")
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
    players = {
        agent: study.people[participant_name].id
        for agent, participant_name in zip(agents, pair.people, strict=True)
        if participant_name
    }
    clock = {"waits": study.plan.waits, "seconds": study.plan.seconds, "minutes": study.plan.round_minutes}
    _open(lobby, study, name, {**vars(trial), "people": players, **clock, "practice": False, "pair": pair.number})
    for participant in (study.people[participant_name] for participant_name in pair.people if participant_name):
        lobby.show(participant)


def _practise(lobby: Lobby, participant: Participant) -> None:
    """Open a practice room with a simulated partner, at a level where advice is needed if there is one."""
    study = participant.study
    world = stages.world_of(lobby.levels[study.plan.levels[0]])
    fitting = [
        level for level in lobby.levels.values() if stages.world_of(level) == world and level.kind == "necessary"
    ]
    level = next((level for level in fitting if level.name not in study.plan.levels), None) or fitting[0]
    helper, agents = level.certificate.get("message", "").partition(":")[0], level.world.agents
    players = {helper if helper in agents else agents[0]: participant.id}
    setup = {**vars(Trial(level.name, "oracle", study.plan.seed)), "people": players, "waits": True, "seconds": 0.0}
    setup |= {"practice": True, "name": participant.name}
    _open(lobby, study, f"{study.id}:{participant.name}", setup)


def _open(lobby: Lobby, study: Study, name: str, setup: dict[str, Any]) -> None:
    """Open a room with one event, from which both the study and the game follow."""
    event, _ = lobby.event_log.append(name, "opened", {"study": study.id, "room": name, **setup})
    study.apply(event)
    _enter(lobby, name, lobby.begun(event))


def _enter(lobby: Lobby, name: str, game: LiveGame) -> None:
    """Start or resume a room; people that are not connected are away."""
    plan, news = lobby.study_in[name].plan, partial(_room_news, lobby)
    room = lobby.rooms[name] = GameRoom(name, game, plan, lobby.event_log, lobby.processes, news)
    for agent, participant_id in list(game.people.items()):
        room.presence(agent, participant_id in lobby.connections)
    room.start()


# Coming and going


def resume(lobby: Lobby) -> None:
    """Resume the unfinished games, and start looking after participants."""
    for name, game in lobby.unfinished.items():
        event, _ = lobby.event_log.append(name, "resumed", {})
        game.apply(event)
        _enter(lobby, name, game)
    lobby.sweeper = asyncio.create_task(_sweep(lobby))


def arrive(lobby: Lobby, participant: Participant, connection: PageConnection) -> None:
    """Note that a participant's page has connected, and send it what it shows."""
    lobby.processes.wake()
    lobby.connections[participant.id] = connection
    lobby.gone.pop(participant.id, None)
    _presence(lobby, participant, True)
    advance(lobby, participant)
    lobby.show(participant)


def depart(lobby: Lobby, participant: Participant, connection: PageConnection) -> None:
    """Note that a participant's page was closed, or lost its connection; nothing if a newer page has taken over."""
    if lobby.connections.get(participant.id) is connection:
        del lobby.connections[participant.id]
        lobby.gone[participant.id] = time.monotonic()
        _presence(lobby, participant, False)


def _presence(lobby: Lobby, participant: Participant, is_connected: bool) -> None:
    """Tell the room in which a participant plays, if any, that they have connected or disconnected."""
    if room := lobby.rooms.get(lobby.place(participant)):
        for agent, participant_id in list(room.game.people.items()):
            if participant_id == participant.id:
                room.presence(agent, is_connected)


async def _sweep(lobby: Lobby) -> None:
    """Look after all participants that have not finished, and dismiss deserted games, every SWEEP seconds."""
    while True:
        await asyncio.sleep(SWEEP)
        for study in list(lobby.studies.values()):
            for participant in list(study.people.values()):
                try:
                    if not participant.finished:
                        _look_after(lobby, participant)
                except Exception:  # a fault with one participant must not stop the others
                    LOG.exception("%s could not be looked after", participant.id)
            if lobby.is_stale(study):
                lobby.dismiss(study)


def _look_after(lobby: Lobby, participant: Participant) -> None:
    """End the participation of a person that has waited too long in the lobby, or keeps others waiting."""
    plan, stage, current_time = participant.study.plan, lobby.stage(participant), time.time()
    patience = 60.0 * plan.lobby_minutes
    if stage == "lobby" and participant.id in lobby.connections and current_time - participant.waiting > patience:
        finish(lobby, participant, "nobody came")
        lobby.show(participant)
    elif participant.pair and stage in ("ready", "reveal", "questions", "form") and _awaited(lobby, participant):
        is_gone = time.monotonic() - lobby.gone.get(participant.id, math.inf) > plan.grace
        if is_gone or current_time - participant.since > patience:
            leave(lobby, participant, cause="away" if is_gone else "slow")
    elif stage == "game":
        game = lobby.rooms[lobby.place(participant)].game
        last_move = max([participant.since, *game.times[-1:]])
        if game.awaits(stages.seat(game, participant)) and current_time - last_move > patience:
            leave(lobby, participant, cause="slow")


def _awaited(lobby: Lobby, participant: Participant) -> bool:
    """Whether the partner is ready for the next round and this participant is not."""
    study = participant.study
    partners = (study.people.get(name) for name in study.pairs[participant.pair].people if name != participant.name)
    return any(
        partner and partner.ready and partner.trial >= participant.trial and not lobby.game(lobby.place(partner))
        for partner in partners
    )


# News from rooms


def _room_news(lobby: Lobby, what: str, room: GameRoom) -> None:
    """Pass a room's news (`step`, `thought`, …) on to its players."""
    game = room.game
    match what:
        case "step":
            for agent, participant_id in game.people.items():
                lobby.send_frame(game, agent, participant_id)
        case "chosen" if game.waits and len(game.people) > 1:
            lobby.send_all(game, {"type": "chosen", "who": sorted(game.pending)})
        case "thought" if game.messages or game.ended:
            _advise(lobby, room)
        case "gave up":
            _ask_whether_hopeless(lobby, game)
        case "pause":
            lobby.send_pause(room)
        case "go":
            lobby.send_all(game, {"type": "go", **stages.time_left(game)})
        case "replaced":
            _replace(lobby, room)
        case "ended":
            _conclude(lobby, room)


def _ask_whether_hopeless(lobby: Lobby, game: LiveGame) -> None:
    """Tell those who have not given up who has: the round ends once all have."""
    who = " and ".join(sorted(game.gave_up & set(game.people)))
    for agent, participant_id in game.people.items():
        if agent not in game.gave_up:
            lobby.send(participant_id, {"type": "note", "text": stages.HOPELESS.format(who=who)})


def _participants(lobby: Lobby, room: GameRoom, ids: Collection[str]) -> list[Participant]:
    return [participant for participant in lobby.study_in[room.name].people.values() if participant.id in ids]


def _replace(lobby: Lobby, room: GameRoom) -> None:
    """Tell the players that a simulated person has taken over for good, and end the absent player's study."""
    for participant in _participants(lobby, room, room.game.replaced.values()):
        if not participant.finished:
            finish(lobby, participant, "left", cause="away")
    text = f"The other person has left; a simulated {', '.join(sorted(room.game.replaced))} plays on."
    lobby.send_all(room.game, {"type": "note", "text": text})


def _conclude(lobby: Lobby, room: GameRoom) -> None:
    """Close the room of a round that is over, and move its players on."""
    lobby.over[room.name] = room.game
    lobby.rooms.pop(room.name, None)
    players = _participants(lobby, room, room.game.people.values())
    is_deserted = any(player.finished for player in players)  # by somebody who has said so
    for participant in players:
        if room.game.ended == "left" and not participant.finished:
            is_partner = is_deserted or participant.id in lobby.connections
            finish(lobby, participant, "partner left" if is_partner else "left", cause="" if is_partner else "away")
        lobby.show(participant)


def _advise(lobby: Lobby, room: GameRoom) -> None:
    """Send new or changed messages to their recipients; after a round, its end with the last belief and message."""
    game = room.game
    if game.ended:
        for participant in _participants(lobby, room, game.people.values()):
            if lobby.stage(participant) == "reveal":
                lobby.show(participant)
        return
    thought = game.last_thought()
    ended = {address for address, status in thought.row.get("statuses", {}).items() if status != "running"}
    for number, message in enumerate(game.messages):
        recipient_id = game.people.get(message.to)
        if recipient_id and (message.t == thought.t or message.address in ended):
            lobby.send(recipient_id, stages.advice(lobby.study_in[room.name], game, number))

"""The researchers' side of studies: their requests, the dashboard, and exports of rows.

Exported rows are like those of simulated episodes, so that one analysis fits both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Cookie, Depends, HTTPException, Request, Response

from otherminds.evaluation import tabular
from otherminds.evaluation.assistance import FACILITATOR
from otherminds.evaluation.store import first_columns
from otherminds.files.text import printable
from otherminds.papers.protom.episodes import BEFORE_FIRST_STEP
from otherminds.papers.protom.study.plan import default_levels
from otherminds.web import stages
from otherminds.web.games import LiveGame
from otherminds.web.guard import COOKIE, SESSION
from otherminds.web.lobby import Lobby
from otherminds.web.settings import InLimits, InLobby, ServerSettings
from otherminds.web.studies import FACILITATORS, TRYING, Participant, ParticipantPair, Study, StudyPlan, moment

NEWEST = 30  # events shown on the dashboard; chosen
Data = dict[str, Any]


def line(study: Study) -> Data:
    """A study as a line of the list of studies; pairs that only tried it out do not count."""
    real = [pair for number, pair in study.pairs.items() if number <= TRYING]
    return {
        "id": study.id,
        "title": study.plan.title,
        "made": moment(study.created_at),
        "state": "open" if study.open else "closed",
        "pairs": study.plan.pairs,
        "finished": sum(map(study.done, real)),
        "running": sum(not study.done(pair) for pair in real),
    }


def overview(lobby: Lobby, study: Study) -> Data:
    """The state of a study: its links, pairs, rounds, and latest events."""
    trials = [
        {"pair": n, "trial": i, **vars(planned_trial), "codename": study.codename(planned_trial.facilitator)}
        for n, pair in study.pairs.items()
        for i, planned_trial in enumerate(pair.trials, 1)
    ]
    return {
        **line(study),
        "plan": study.plan.model_dump(mode="json"),
        "invitation": f"/join/{study.invitation}",
        "links": [
            {
                "id": participant.name,
                "link": f"/p/{participant.token}",
                "kind": participant.kind,
                "stage": participant.finished or lobby.stage(participant),
                "since": round(time.time() - participant.since, 1),
                "pair": participant.pair or None,
                "here": participant.id in lobby.connections,
                "label": participant.label,
            }
            for participant in study.people.values()
        ],
        "pairs": [_pair(lobby, study, pair) for pair in study.pairs.values()],
        "planned": study.plan.pairs,
        "trials": trials,
        "events": [{"at": moment(t), "text": text} for t, text in sorted(study.log)[: -NEWEST - 1 : -1]],
    }


def _pair(lobby: Lobby, study: Study, pair: ParticipantPair) -> Data:
    """The state of a pair for the dashboard: its people, round and step, and the room if a round is being played."""
    room = pair.rooms[-1] if pair.rooms else ""
    game = lobby.game(room)
    running = bool(game and not game.ended)
    state = "running" if running else "over" if study.done(pair) else "between rounds"
    progress = {"pair": pair.number, "people": pair.people, "trial": len(pair.rooms), "trials": len(pair.trials)}
    return {**progress, "room": room if running else None, "state": state, "t": game.t if game else 0}


NOBODY, BUSY = "there is no facilitator", "it was still thinking"
Row = dict[str, Any]
WRITERS = {"jsonl": tabular.write_jsonl, "csv": tabular.write_csv, "parquet": tabular.write_parquet}
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def rows(lobby: Lobby, study: Study) -> list[Row]:
    """The rows of all finished rounds, pair by pair, without practice and trial runs."""
    study_rows = []
    for number, pair in sorted(study.pairs.items()):
        for i, room in enumerate(pair.rooms if number <= TRYING else ()):
            game = lobby.game(room)
            if game and game.ended and game.t:
                study_rows += trial(study, pair, i, game)
    return study_rows


def trial(study: Study, pair: ParticipantPair, index: int, game: LiveGame) -> list[Row]:
    """The rows of one round: for each step one for each agent and one for the facilitator. The last has the outcome."""
    planned_trial = pair.trials[index]
    episode = f"{pair.number:02}-{index + 1} {planned_trial.level}"
    key = (game.setup.level.kind or "unclassified", planned_trial.facilitator, episode)
    base = {
        **first_columns("study", key, planned_trial.seed),
        "pair": pair.number,
        "trial": index + 1,
        "level": planned_trial.level,
    }
    names = {participant.id: participant.name for participant in study.people.values()}
    people = {
        agent: names[participant_id]
        for agent, participant_id in {**game.replaced, **game.people}.items()
        if participant_id in names
    }
    steps = (row for t in range(game.t) for row in _step(game, t))
    trial_rows = [base | row | ({"person": people[row["agent"]]} if row["agent"] in people else {}) for row in steps]
    done = game.ended == "finished"
    last = game.thoughts.get(game.t)
    ends = {"outcome": "status", "outcomes": "statuses"}
    trial_rows[-1] |= {
        "success": done,
        "length": game.t if done else game.setup.level.horizon,
        "ended": game.ended,
        "by": {agent: "person" if agent in game.people else "simulated" for agent in game.world.agents},
        **({outcome: last.row[status] for outcome, status in ends.items() if status in last.row} if last else {}),
        **_answers(study, index, game),
    }
    return trial_rows


def _step(game: LiveGame, t: int) -> Iterator[Row]:
    """The rows of a step: one for each agent, and one for the facilitator's decision before it."""
    step, thought, later = game.steps[t], game.thoughts.get(t), game.thoughts.get(t + 1)
    vocabulary = game.board.scene.vocabulary
    joint = {agent: vocabulary[word] for agent, word in step.joint.items()}
    rewards = game.world.reward(game.states[t], joint, game.states[t + 1])
    for agent in game.world.agents:
        yield {
            "t": t,
            "agent": agent,
            "action": step.joint[agent],
            "reward": rewards[agent],
            "goal": stages.wants(game, agent),
            "at": game.times[t],
            "chosen": agent in game.choosers[t] or agent not in game.people,
            **(thought.beliefs.get(agent, {}) if thought else {}),
            **({"surprise": later.surprise[agent]} if later and agent in later.surprise else {}),
        }
    why = NOBODY if not game.facilitated else BEFORE_FIRST_STEP if t == 0 else BUSY
    row = dict(thought.row) if thought else {"action": "", "why": why, **({} if why == BUSY else {"ms": 0.0})}
    replies = [message.reply for message in game.messages if message.t == t and message.reply]
    yield {"t": t, "agent": FACILITATOR, **row, **({"reply": replies[0]} if replies else {})}


def _answers(study: Study, index: int, game: LiveGame) -> Row:
    """The players' ratings of and comments on a round, by agent."""
    seat = {participant_id: agent for agent, participant_id in {**game.replaced, **game.people}.items()}
    answers = [(seat.get(study.people[name].id), answer) for (name, i), answer in study.ratings.items() if i == index]
    ratings = {agent: dict(answer["ratings"]) for agent, answer in answers if agent}
    comments = {agent: answer["comment"] for agent, answer in answers if agent and answer["comment"]}
    return {column: by_agent for column, by_agent in (("ratings", ratings), ("comments", comments)) if by_agent}


def exported(study_rows: list[Row], form: str) -> bytes:
    """The rows as the bytes of a file. Raises InputError if there are none, or Parquet is not installed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{form}"
        WRITERS[form](path, study_rows)
        return path.read_bytes()


entering = APIRouter()


@entering.post("/api/enter", status_code=204)
async def enter(
    key: Annotated[str, Body(embed=True, max_length=1000)], request: Request, response: Response, limits: InLimits
) -> None:
    """Open a session for a researcher that has the key."""
    settings: ServerSettings = request.app.state.settings
    session = settings.keys.enter(key)
    if session is None:
        raise limits.wrong(request, 403, "that is not the key")
    safe = all(origin.startswith("https:") for origin in settings.origins)
    response.set_cookie(COOKIE, session, SESSION, httponly=True, samesite="strict", secure=safe)


def researcher(request: Request, session: Annotated[str | None, Cookie(alias=COOKIE)] = None) -> None:
    """Refuses requests without a researcher's session (401)."""
    if not request.app.state.settings.keys.knows(session):
        raise HTTPException(401, "only researchers may do that")


studying = APIRouter(prefix="/api/studies", dependencies=[Depends(researcher)])


def study_of(name: str, lobby: InLobby) -> Study:
    """The study of this name. Raises HTTPException (404) if there is none."""
    study = lobby.studies.get(name)
    if study is None or study.kind != "study":
        raise HTTPException(404, "there is no such study")
    return study


OfStudy = Annotated[Study, Depends(study_of)]


@studying.get("")
def all_studies(lobby: InLobby) -> Any:
    """All studies, the newest first."""
    studies = [study for study in lobby.studies.values() if study.kind == "study"]
    return [line(study) for study in sorted(studies, key=lambda study: -study.created_at)]


@studying.get("/new")
def new(lobby: InLobby) -> Any:
    """The levels and facilitators for a new study, and its default plan."""
    plan = StudyPlan(levels=tuple(level.name for level in default_levels()))
    levels = [level for level in lobby.levels.values() if len(level.world.agents) == 2]
    titles = FACILITATORS | {name: f"Language model: {name.removeprefix('lm:')}" for name in lobby.models}
    return {
        "levels": [{"name": level.name, "kind": level.kind, "world": stages.world_of(level)} for level in levels],
        "facilitators": [{"name": name, "title": title} for name, title in titles.items()],
        "plan": plan.model_dump(mode="json"),
    }


@studying.post("")
async def create(plan: StudyPlan, lobby: InLobby) -> Any:
    """Create a study; returns its id. A plan that does not fit the levels is refused (422)."""
    try:
        study = lobby.create(plan)
    except ValueError as error:
        raise HTTPException(422, printable(str(error))) from None
    return {"id": study.id}


@studying.get("/{name}")
def study(study: OfStudy, lobby: InLobby) -> Any:
    """The state of a study."""
    return overview(lobby, study)


@studying.post("/{name}/try")
async def try_out(study: OfStudy, lobby: InLobby) -> Any:
    """A new link to try the study out alone."""
    return {"link": f"/p/{lobby.join(study, 'try').token}"}


@studying.post("/{name}/{what}", status_code=204)
async def invite(what: Literal["open", "close"], study: OfStudy, lobby: InLobby) -> None:
    """Open the invitation again, or close it."""
    await asyncio.wrap_future(lobby.note(study, "reopened" if what == "open" else "closed", {}))


def participant_of(participant_name: str, study: OfStudy) -> Participant:
    """The participant of this name, or 404."""
    if participant_name not in study.people:
        raise HTTPException(404, "there is no such participant")
    return study.people[participant_name]


@studying.post("/{name}/participants/{participant_name}/link")
async def renew(lobby: InLobby, participant: Annotated[Participant, Depends(participant_of)]) -> Any:
    """A new link for a participant who has lost theirs; the old one is no longer valid."""
    await asyncio.wrap_future(lobby.renew(participant))
    return {"link": f"/p/{participant.token}"}


@studying.delete("/{name}/participants/{participant_name}", status_code=204)
async def forget(study: OfStudy, lobby: InLobby, participant: Annotated[Participant, Depends(participant_of)]) -> None:
    """Erase a participant's answers and label."""
    await asyncio.wrap_future(lobby.forget(study, participant))


@studying.get("/{name}/export.{form}")
def export(study: OfStudy, lobby: InLobby, form: Literal["jsonl", "csv", "parquet"]) -> Response:
    """The rows of a study as a file."""
    content = exported(rows(lobby, study), form)
    headers = {"content-disposition": f'attachment; filename="study-{study.id}.{form}"'}
    return Response(content, media_type=TYPES[form], headers=headers)


@studying.get("/{name}/rooms/{room}")
def look_in(room: str, study: OfStudy, lobby: InLobby) -> Any:
    """All about a round that is being played."""
    if not room.startswith(f"{study.id}:") or room not in lobby.rooms:
        raise HTTPException(404, "this round is over")
    return stages.watched(study, lobby.rooms[room].game)

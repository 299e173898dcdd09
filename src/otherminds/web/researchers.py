"""The researchers' side of studies: their requests, and the dashboard."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Cookie, Depends, HTTPException, Query, Request, Response

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.papers.protom.study.plan import default_levels
from otherminds.web import stages
from otherminds.web.exports import TYPES, Table, archive, codebook, exported_table
from otherminds.web.guard import COOKIE, SESSION
from otherminds.web.lobby import Lobby
from otherminds.web.settings import InLimits, InLobby, ServerSettings
from otherminds.web.studies import FACILITATORS, TRYING, Participant, ParticipantPair, Study, StudyPlan, moment
from otherminds.web.study_files import NAME, read_study
from otherminds.web.thinking import pace

PACE = 1.0  # seconds between the steps of people who take their time; chosen
SAFE = 0.8  # share of the processors' time that facilitators may need; chosen
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
    decided = [lobby.game(name).decided for name in pair.rooms]  # type: ignore[union-attr]
    progress["decided"] = [sum(part) for part in zip(*decided, strict=True)] or [0, 0]
    return {**progress, "room": room if running else None, "state": state, "t": game.t if game else 0}


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
    """Refuses requests without a researcher's session (401). A server that only looks reads what is new first."""
    if not request.app.state.settings.keys.knows(session):
        raise HTTPException(401, "only researchers may do that")
    if request.app.state.settings.look:
        request.app.state.lobby.look()


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
    await lobby.on_disk()
    return {"id": study.id}


@studying.post("/read")
async def read(request: Request, name: Annotated[str, Query(max_length=200)] = NAME, *, lobby: InLobby) -> Any:
    """The plan in a study file, which is the body of the request. Refused if anything is wrong with it (422)."""
    plan = read_study(await request.body(), name)
    try:
        plan.check(lobby.levels, lobby.models)
    except ValueError as error:
        raise InputError(str(error), path=name) from None
    return plan.model_dump(mode="json")


@studying.get("/{name}")
def study(study: OfStudy, lobby: InLobby) -> Any:
    """The state of a study."""
    return overview(lobby, study)


@studying.post("/{name}/try")
async def try_out(study: OfStudy, lobby: InLobby) -> Any:
    """A new link to try the study out alone."""
    participant = lobby.join(study, "try")
    await lobby.on_disk()
    return {"link": f"/p/{participant.token}"}


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


def _file(content: bytes, name: str, form: str) -> Response:
    """The bytes of a file, to be saved under this name."""
    return Response(content, media_type=TYPES[form], headers={"content-disposition": f'attachment; filename="{name}"'})


@studying.get("/{name}/export.zip")
def export_all(study: OfStudy, lobby: InLobby) -> Response:
    """All tables of a study with their codebooks."""
    return _file(archive(lobby, study), f"study-{study.id}.zip", "zip")


@studying.get("/{name}/export.{form}")
def export(study: OfStudy, lobby: InLobby, form: Literal["jsonl", "csv", "parquet"]) -> Response:
    """The rows of a study as a file."""
    return _file(exported_table(lobby, study, "rows", form), f"study-{study.id}.{form}", form)


@studying.get("/{name}/export/{table}.codebook.csv")
def export_codebook(study: OfStudy, table: Table) -> Response:
    """What the columns of a table mean."""
    return _file(codebook(table), f"{table}.codebook.csv", "csv")


@studying.get("/{name}/export/{table}.{form}")
def export_table(study: OfStudy, lobby: InLobby, table: Table, form: Literal["jsonl", "csv", "parquet"]) -> Response:
    """A table of a study as a file."""
    return _file(exported_table(lobby, study, table, form), f"{table}-{study.id}.{form}", form)


@studying.get("/{name}/pace")
async def pace_of(study: OfStudy, lobby: InLobby) -> Any:
    """How many rooms this machine can serve with decisions in time, by a measurement; null without ProToM.

    A room asks for a decision every `seconds` of the study's clock, but for PACE if that is longer, or no limit is set.
    """
    if "protom" not in study.plan.facilitators:
        return None
    level = study.levels[study.plan.levels[0]]
    if level.name not in lobby.paces:
        lobby.paces[level.name] = await lobby.processes.call(pace, level, "protom")
    ms, plan = lobby.paces[level.name], study.plan
    between = min(plan.seconds, PACE) if plan.seconds and not plan.waits else PACE
    rooms = int(SAFE * lobby.processes.facilitators * between * 1e3 / ms)
    return {"ms": round(ms, 1), "seconds": between, "rooms": rooms, "pairs": plan.pairs, "level": level.name}


@studying.get("/{name}/preview")
def preview(study: OfStudy) -> Any:
    """Every page that a participant can see."""
    return {
        "title": study.plan.title,
        "pages": [{"stage": stage, "data": data} for stage, data in stages.preview(study)],
    }


@studying.get("/{name}/rooms/{room}")
def look_in(room: str, study: OfStudy, lobby: InLobby) -> Any:
    """All about a round that is being played."""
    if not room.startswith(f"{study.id}:") or room not in lobby.rooms:
        raise HTTPException(404, "this round is over")
    return stages.watched(study, lobby.rooms[room].game)

"""What is asked by who conducts studies: only for those who have shown the key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Cookie, Depends, HTTPException, Request, Response
from pydantic import BaseModel, Field

from otherminds.files.text import printable
from otherminds.papers.protom.study.plan import default_levels
from otherminds.web import dashboard, exports
from otherminds.web.event_log import on_disk
from otherminds.web.guard import COOKIE
from otherminds.web.plans import Plan
from otherminds.web.settings import InHall, Settings
from otherminds.web.studies import Participant, Study


class Key(BaseModel):
    """What a researcher shows to be let in."""

    key: str = Field(max_length=1000)


entering = APIRouter()


@entering.post("/api/enter", status_code=204)
async def enter(key: Key, request: Request, response: Response) -> None:
    """Let a researcher in who knows the key."""
    if not request.app.state.games.take("key"):
        raise HTTPException(429, "too many tries: wait a little")
    settings: Settings = request.app.state.settings
    session = settings.keys.enter(key.key)
    if session is None:
        raise HTTPException(403, "that is not the key")
    safe = all(origin.startswith("https:") for origin in settings.origins)
    response.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=safe)


def researcher(request: Request, session: Annotated[str | None, Cookie(alias=COOKIE)] = None) -> None:
    """Only those who have shown the key."""
    if not request.app.state.settings.keys.knows(session):
        raise HTTPException(401, "only for who conducts the study")


studying = APIRouter(prefix="/api/studies", dependencies=[Depends(researcher)])


def study_of(name: str, hall: InHall) -> Study:
    """A study by its name."""
    study = hall.studies.get(name)
    if study is None or study.kind != "study":
        raise HTTPException(404, "there is no such study")
    return study


OfStudy = Annotated[Study, Depends(study_of)]


@studying.get("")
def all_studies(hall: InHall) -> Any:
    """All studies, the newest first."""
    found = [study for study in hall.studies.values() if study.kind == "study"]
    return [dashboard.line(hall, study) for study in sorted(found, key=lambda study: -study.made)]


@studying.get("/new")
def new(hall: InHall) -> Any:
    """What a new study can be made of, and what it is made of unless one says otherwise."""
    return dashboard.offers(hall, Plan(levels=tuple(level.name for level in default_levels())))


@studying.post("")
async def create(plan: Plan, hall: InHall) -> Any:
    """A new study."""
    try:
        study = hall.create(plan)
    except ValueError as error:
        raise HTTPException(422, printable(str(error))) from None
    return {"id": study.id}


@studying.get("/{name}")
def study(study: OfStudy, hall: InHall) -> Any:
    """Where a study stands."""
    return dashboard.overview(hall, study)


@studying.post("/{name}/open", status_code=204)
async def reopen(study: OfStudy, hall: InHall) -> None:
    """Let participants in again."""
    await on_disk(hall.note(study, "reopened", {}))


@studying.post("/{name}/close", status_code=204)
async def close(study: OfStudy, hall: InHall) -> None:
    """Let nobody in any more by the open invitation."""
    await on_disk(hall.note(study, "closed", {}))


@studying.post("/{name}/try")
async def try_out(study: OfStudy, hall: InHall) -> Any:
    """A link to try a study out alone."""
    return {"link": f"/p/{hall.join(study, 'try').token}"}


def participant(who: str, study: OfStudy) -> Participant:
    """A participant of a study."""
    if who not in study.people:
        raise HTTPException(404, "there is nobody of that name")
    return study.people[who]


@studying.delete("/{name}/participants/{who}", status_code=204)
async def forget(study: OfStudy, hall: InHall, one: Annotated[Participant, Depends(participant)]) -> None:
    """Forget what somebody answered and was called."""
    await on_disk(hall.forget(study, one))


@studying.get("/{name}/export.{form}")
def export(study: OfStudy, hall: InHall, form: Literal["jsonl", "csv", "parquet"]) -> Response:
    """All that a study has found, as a file."""
    content = exports.exported(exports.rows(hall, study), form)
    headers = {"content-disposition": f'attachment; filename="study-{study.id}.{form}"'}
    return Response(content, media_type=exports.TYPES[form], headers=headers)


@studying.get("/{name}/rooms/{room}")
def look_in(room: str, study: OfStudy, hall: InHall) -> Any:
    """Everything about a round that is being played."""
    if not room.startswith(f"{study.id}:") or room not in hall.rooms:
        raise HTTPException(404, "this round is over")
    return dashboard.room(hall, study, room)

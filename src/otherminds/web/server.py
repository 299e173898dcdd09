"""The web app: pages, what they ask for, and connections. Who may ask is checked before, in the guard."""

from __future__ import annotations

import mimetypes
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Cookie, Depends, FastAPI, HTTPException, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from otherminds.errors import InputError
from otherminds.experiments.study_plan import default_levels
from otherminds.web import dashboard, exports, lines
from otherminds.web.board import Playable
from otherminds.web.guard import COOKIE, Buckets, Guard, Keys
from otherminds.web.hall import Hall
from otherminds.web.journal import Journal, on_disk
from otherminds.web.plans import Plan
from otherminds.web.stages import world_of
from otherminds.web.studies import Participant, Study
from otherminds.web.thinking import Thinkers
from otherminds.web.watching import Watching

PAGES = {
    "/": "index.html",
    "/play": "play.html",
    "/watch": "watch.html",
    "/watch/{name}": "watch.html",
    "/enter": "enter.html",
    "/studies": "studies.html",
    "/studies/{name}": "study.html",
    "/p/{token}": "seat.html",
}
CROWD = 500
KINDS = {"not_needed": "help not needed", "useful": "help useful", "necessary": "help necessary"}
HELPERS = {
    "protom": ("ProToM", "watches, infers what each of you wants, and speaks if that saves steps"),
    "oracle": ("One who knows", "knows what each of you wants, and speaks if that saves steps"),
    "random": ("A chatterbox", "says anything that could be done, half of the time"),
    "none": ("Nobody", "you are on your own"),
}


@dataclass
class Settings:
    """How to serve: where everything is kept, where pages may come from, the researcher's secret, and the levels."""

    store: Path
    origins: frozenset[str]
    levels: Mapping[str, Playable]
    secret: str = ""
    rate: float = 50.0
    burst: float = 400.0
    keys: Keys = field(init=False)
    problem: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.secret)


class Wish(BaseModel):
    """A game that somebody wants to play alone."""

    model_config = ConfigDict(extra="forbid")

    level: str = Field(max_length=100)
    seat: str = Field(max_length=100)
    facilitator: Literal["none", "random", "oracle", "protom"] = "protom"
    seconds: float = Field(0.0, ge=0.0, le=600.0)


class Key(BaseModel):
    """What a researcher shows to be let in."""

    key: str = Field(max_length=1000)


def application(settings: Settings) -> Any:
    """The whole app, guarded."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        journal = Journal(settings.store, partial(_give_up, settings))
        thinkers = Thinkers()
        app.state.hall = hall = Hall(journal, thinkers, settings.levels)
        app.state.watching = Watching(journal, thinkers)
        hall.open()
        yield
        await hall.close()
        journal.close()
        thinkers.close()

    app = FastAPI(title="otherminds", lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.settings = settings
    app.state.games = Buckets(1.0, 60.0)
    for router in (_pages(), playing, watching, entering, studying):
        app.include_router(router)
    app.add_exception_handler(InputError, lambda _, error: _detail(422, str(error)))
    app.add_exception_handler(RequestValidationError, lambda _, error: _detail(422, _told(error)))
    return Guard(app, settings.origins, rate=settings.rate, burst=settings.burst)


def _give_up(settings: Settings, why: str) -> None:
    """What happens can no longer be kept, so nothing more may happen."""
    settings.problem = why
    os.kill(os.getpid(), signal.SIGTERM)


def _detail(status: int, text: str) -> JSONResponse:
    return JSONResponse({"detail": text}, status_code=status)


def _told(error: Any) -> str:
    """What is wrong with a request, in one line."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def hall_of(request: Request) -> Hall:
    """The hall of the app."""
    found: Hall = request.app.state.hall
    return found


InHall = Annotated[Hall, Depends(hall_of)]


# Pages


def _pages() -> APIRouter:
    """All files of the pages, read once; nothing else can be asked for."""
    router = APIRouter()
    folder = resources.files("otherminds.web") / "pages"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}

    def answer(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is no such page")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(files[name], media_type=kind)

    for path, name in PAGES.items():
        router.add_api_route(path, lambda name=name: answer(name), methods=["GET"])
    router.add_api_route("/pages/{name}", lambda name: answer(name), methods=["GET"])
    return router


# Playing


playing = APIRouter()


@playing.get("/api/play")
def what_to_play(hall: InHall) -> Any:
    """Everything that can be played alone."""
    worlds = (("overcooked", "Kitchens"), ("doors-keys-gems", "Doors, keys and gems"))
    return {
        "worlds": [
            {
                "world": world,
                "title": title,
                "levels": [
                    {"name": name, "title": name, "kind": KINDS.get(level.kind, ""), "people": level.world.agents}
                    for name, level in hall.levels.items()
                    if world_of(level) == world
                ],
            }
            for world, title in worlds
        ],
        "facilitators": [{"name": name, "title": title, "about": about} for name, (title, about) in HELPERS.items()],
    }


@playing.post("/api/play")
async def play(wish: Wish, request: Request, hall: InHall) -> Any:
    """A game to play alone, and the link to it."""
    level = hall.levels.get(wish.level)
    if level is None or wish.seat not in level.world.agents:
        raise HTTPException(422, "there is no such level, or nobody of that name in it")
    if not request.app.state.games.take(request.client.host if request.client else ""):
        raise HTTPException(429, "too many games from here: wait a little")
    if len(hall.rooms) >= CROWD:
        raise HTTPException(503, "too many games are being played: come back later")
    plan = Plan(
        title=wish.level,
        levels=(wish.level,),
        facilitators=(wish.facilitator,),
        partner="simulated",
        consent="",
        tutorial=False,
        practice=False,
        ratings=False,
        waits=True,
        seconds=wish.seconds,
    )
    study = hall.create(plan, "solo")
    one = hall.join(study, "solo", seat=level.world.agents.index(wish.seat))
    return {"link": f"/p/{one.token}"}


@playing.get("/p/{token}/alive")
def alive(token: str, hall: InHall) -> Any:
    """Whether a link is valid."""
    if token not in hall.seats:
        raise HTTPException(404, "this link is not valid")
    return {}


@playing.websocket("/p/{token}/ws")
async def seat(socket: WebSocket, token: str, tab: str = "", take: int = 0) -> None:
    """The connection of a participant's page."""
    hall: Hall = socket.app.state.hall
    one = hall.seats.get(token)
    if one is None or len(tab) > 100:
        await socket.close(4404)
        return
    await lines.serve(socket, hall, one, tab, bool(take))


@playing.get("/join/{token}")
async def join(token: str, hall: InHall, pid: str = "") -> Any:
    """An open invitation: a link of one's own for everybody who comes, under the label of who has sent them."""
    study = hall.invitations.get(token)
    if study is None or not study.open or study.kind != "study":
        raise HTTPException(404, "this invitation is not valid (any more)")
    label = "".join(c for c in pid if c.isprintable())[:100]
    known = next((one for one in study.people.values() if label and one.label == label), None)
    one = known or hall.join(study, "open", label)
    return RedirectResponse(f"/p/{one.token}", 303)


# Watching


watching = APIRouter()


def watching_of(request: Request) -> Watching:
    """The episodes of the app."""
    found: Watching = request.app.state.watching
    return found


InWatching = Annotated[Watching, Depends(watching_of)]


@watching.get("/api/watch")
def what_to_watch(episodes: InWatching) -> Any:
    """Everything that can be watched."""
    return episodes.choices()


@watching.post("/api/watch")
async def watch(request: Request, episodes: InWatching) -> Any:
    """Begin to play an episode, and the name that it has from now on."""
    if not request.app.state.games.take(request.client.host if request.client else ""):
        raise HTTPException(429, "too many episodes from here: wait a little")
    return {"id": await episodes.begin(await request.body())}


@watching.get("/api/watch/{name}")
async def watched(name: str, episodes: InWatching) -> Any:
    """How far an episode is."""
    return episodes.state(name)


@watching.get("/episodes/{name}")
async def episode(name: str, episodes: InWatching, download: int = 0) -> Any:
    """A recorded episode, as one page that needs nothing else."""
    page = await episodes.page(name)
    headers = {"content-security-policy": "frame-ancestors 'self'"}  # the page says itself what it may do: nothing
    if download:
        headers["content-disposition"] = f'attachment; filename="episode-{name}.html"'
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


# Researchers


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
        raise HTTPException(422, str(error)) from None
    return {"id": study.id}


@studying.get("/{name}")
def study(study: OfStudy, hall: InHall) -> Any:
    """Where a study stands."""
    return dashboard.overview(hall, study)


@studying.post("/{name}/open", status_code=204)
async def reopen(study: OfStudy, hall: InHall) -> None:
    """Let participants in again."""
    await on_disk(hall.note(study, "opened", {}))


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

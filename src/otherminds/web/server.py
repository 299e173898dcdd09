"""The web app: pages, their requests for playing and watching, and participants' connections, behind the guard."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from jinja2 import Environment, PackageLoader
from pydantic import BaseModel, Field

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.reports.level_replay import KINDS
from otherminds.reports.page import asset
from otherminds.web import exports, progression, researchers
from otherminds.web.connections import serve_page
from otherminds.web.episodes import EpisodeRequest, RecordedEpisodes, episode_choices, replay_page
from otherminds.web.event_log import EventLog, StorageError
from otherminds.web.guard import Guard, Limits, address_of
from otherminds.web.lobby import INVALID, Lobby
from otherminds.web.settings import InLimits, InLobby, ServerSettings, of_app
from otherminds.web.stages import rules, world_of
from otherminds.web.studies import WORDS, Study, StudyPlan
from otherminds.web.thinking import ThinkingProcesses

PAGES = {
    "/": "index",
    "/play": "play",
    "/watch": "watch",
    "/watch/{name}": "watch",
    "/enter": "enter",
    "/studies": "studies",
    "/studies/{name}": "study",
    "/studies/{name}/preview": "preview",
    "/p/{token}": "seat",
    "/join/{token}": "join",
}
VISIT = re.compile(r"[\w-]{20,60}", re.ASCII)  # what a browser joins with; chosen
LABEL = 100  # characters of a recruiting service's label; chosen
CROWD = 500  # rooms in which games run at a time; chosen
VISITORS = 20  # places of an open invitation, for each planned pair; chosen
TITLES: Mapping[str, str] = WORDS["play"]["worlds"]
HELPERS: Mapping[str, tuple[str, str]] = WORDS["play"]["helpers"]


class SoloGameRequest(BaseModel, extra="forbid"):
    """A request for a game with simulated partners."""

    level: str = Field(max_length=100)
    seat: str = Field(max_length=100)
    facilitator: Literal["none", "random", "oracle", "protom"] = "protom"
    seconds: float = Field(0.0, ge=0.0, le=600.0)


def application(settings: ServerSettings) -> Any:
    """The ASGI app behind its guard. Raises InputError if its state cannot be restored from the event log."""
    event_log = EventLog(settings.store, settings.give_up, readonly=settings.look)
    processes = ThinkingProcesses()
    lobby = Lobby(event_log, processes, settings.levels, settings.models)
    lobby.read()

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        if not settings.look:
            progression.resume(lobby)
        yield
        await lobby.close()
        event_log.close()
        processes.close()

    app = FastAPI(title="otherminds", lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.lobby, app.state.settings, app.state.limits = lobby, settings, Limits(settings.joins)
    app.state.watching = RecordedEpisodes(event_log, processes)
    public = () if settings.look else (playing, watching)
    for router in (_pages(), *public, researchers.entering, researchers.studying):
        app.include_router(router)
    app.add_exception_handler(StorageError, lambda _, error: JSONResponse({"detail": str(error)}, 503))
    app.add_exception_handler(InputError, lambda _, error: JSONResponse({"detail": str(error)}, 422))
    app.add_exception_handler(RequestValidationError, _first_fault)
    app.add_exception_handler(404, _not_found)
    return Guard(app, settings.origins, rate=settings.rate, burst=settings.burst)


def _first_fault(_: Request, error: Any) -> JSONResponse:
    """The first fault of a request in one line: its place in the body, and the reason."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"][1:]))
    return JSONResponse({"detail": printable(f"{place}: {first['msg']}" if place else first["msg"])}, 422)


def _not_found(request: Request, error: Any) -> Response:
    """A page for people who followed a wrong address, JSON for scripts."""
    if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith("/api/"):
        return JSONResponse({"detail": error.detail}, 404)
    return HTMLResponse(TEMPLATES.get_template("missing.html").render(), 404)


# Pages


TEMPLATES = Environment(loader=PackageLoader("otherminds.web", "pages"), autoescape=True, trim_blocks=True)


def _pages() -> APIRouter:
    """Routes for the pages and their scripts and styles, which are read once; no other file can be requested."""
    router = APIRouter()
    for path, name in PAGES.items():
        router.add_api_route(path, _file(TEMPLATES.get_template(f"{name}.html").render(), "text/html"))
    folder = resources.files("otherminds.web") / "pages"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.endswith((".css", ".js"))}
    files["palette.css"] = asset("palette.css").encode()
    for name, content in files.items():
        router.add_api_route(f"/pages/{name}", _file(content, mimetypes.guess_type(name)[0]))
    return router


def _file(content: bytes | str, kind: str | None) -> Callable[[], Response]:
    """A handler that answers every request with this content."""
    return lambda: Response(content, media_type=kind)


def _self_contained(page: str) -> HTMLResponse:
    """A response with a page that has a stricter policy of its own."""
    return HTMLResponse(page, headers={"content-security-policy": "frame-ancestors 'self'"})


# Playing


playing = APIRouter()


@playing.get("/api/play")
def what_to_play(lobby: InLobby) -> Any:
    """The levels and facilitators of solo games. Starts the thinking processes, as a game is likely to follow."""
    lobby.processes.wake()
    levels: dict[str, list[Any]] = {world: [] for world in TITLES}
    for name, level in lobby.levels.items():
        class_of_level, people = KINDS.get(level.kind, "").lower(), level.world.agents
        levels[world_of(level)].append({"name": name, "title": name, "kind": class_of_level, "people": people})
    return {
        "worlds": [
            {"world": world, "title": title, "levels": levels[world], "rules": rules(world)}
            for world, title in TITLES.items()
        ],
        "facilitators": [{"name": name, "title": title, "about": about} for name, (title, about) in HELPERS.items()],
    }


@playing.post("/api/play")
async def play(wish: SoloGameRequest, request: Request, lobby: InLobby, limits: InLimits) -> Any:
    """Start a solo game with simulated partners; returns the participant's link.

    Refused if there are too many (429, 503).
    """
    level = lobby.levels.get(wish.level)
    if level is None or wish.seat not in level.world.agents:
        raise HTTPException(422, "there is no such level or seat")
    if not limits.games.take(address_of(request)):
        raise HTTPException(429, "too many games from here: wait a little")
    if len(lobby.rooms) >= CROWD:
        raise HTTPException(503, "too many games are being played: come back later")
    plan = StudyPlan(
        title=wish.level,
        levels=(wish.level,),
        facilitators=(wish.facilitator,),
        partner="simulated",
        consent="",
        tutorial=False,
        practice=False,
        ratings=False,
        seconds=wish.seconds,
    )
    participant = lobby.join(lobby.create(plan, "solo"), "solo", seat=level.world.agents.index(wish.seat))
    await lobby.on_disk()
    return {"link": f"/p/{participant.token}"}


@playing.get("/p/{token}/alive")
async def alive(token: str, request: Request, lobby: InLobby, limits: InLimits) -> Any:
    """Responds with 404 if a participant's link is not valid."""
    if lobby.seat(token) is None:
        raise limits.wrong(request, 404, "this link is not valid")
    return {}


@playing.get("/p/{token}/replay")
async def replay(token: str, request: Request, lobby: InLobby, limits: InLimits) -> Any:
    """A solo game that is over as one self-contained page, with the facilitator's beliefs at each step."""
    participant = lobby.seat(token)
    if participant is None:
        raise limits.wrong(request, 404, "this link is not valid")
    study, game = participant.study, lobby.game(lobby.place(participant))
    if study.kind != "solo" or game is None or not game.ended or not game.t:
        raise HTTPException(404, "there is no game of yours that is over")
    rows = exports.trial(study, study.pairs[participant.pair], participant.trial, game)
    return _self_contained(await lobby.processes.call(replay_page, game.setup, rows))


@playing.websocket("/p/{token}/ws")
async def seat(socket: WebSocket, token: str, tab: str = "", take: int = 0) -> None:
    """Serve the page of a participant with this token, until it is closed; a wrong token counts as a guess."""
    lobby: Lobby = socket.app.state.lobby
    participant = lobby.seat(token)
    if participant is None or len(tab) > 100:
        socket.app.state.limits.guesses.take(address_of(socket))
        await socket.close(INVALID)
        return
    await serve_page(socket, lobby, participant, tab, bool(take))


def invited(token: str, request: Request, lobby: InLobby, limits: InLimits) -> Study:
    """The study that an open invitation is for, or 404."""
    study = lobby.invitations.get(token)
    if study is None or not study.open or study.kind != "study":
        raise limits.wrong(request, 404, "this invitation is not valid, or no longer")
    return study


Invited = Annotated[Study, Depends(invited)]


@playing.get("/api/join/{token}")
async def what_to_join(study: Invited) -> Any:
    """What an open invitation is for. Changes nothing, like the page that asks for it."""
    return {"title": study.plan.title, "minutes": study.plan.announced, "label": study.plan.recruiting[0]}


@playing.post("/join/{token}")
async def join(study: Invited, request: Request, lobby: InLobby, limits: InLimits, visit: str = "") -> Any:
    """Join a study by its open invitation; returns the participant's own link, which nobody else is given.

    The first parameter that the study's plan calls `recruiting` is a recruiting service's label. It is no key: a label
    that has joined before is refused (409), except by the browser that sent the same random `visit` before, which may
    not have received the answer.
    """
    visit = visit if VISIT.fullmatch(visit) else ""
    if known := study.visitor(visit):
        await lobby.on_disk()
        return {"link": f"/p/{known.token}"}
    given = {name: request.query_params.get(name, "") for name in study.plan.recruiting}
    labels = {name: "".join(c for c in text if c.isprintable())[:LABEL] for name, text in given.items() if text}
    label = labels.get(study.plan.recruiting[0], "")
    if label and any(participant.label == label for participant in study.people.values()):
        raise limits.wrong(request, 409, "somebody has joined with this label already")
    if study.places_held() >= VISITORS * study.plan.pairs:
        raise HTTPException(503, "all places are taken at the moment: come back in some minutes")
    if not limits.joins.take(address_of(request)):
        raise HTTPException(429, "too many people have joined from here: wait a little")
    participant = lobby.join(study, "open", label, visit=visit, labels=labels)
    await lobby.on_disk()
    return {"link": f"/p/{participant.token}"}


# Watching


watching = APIRouter()


InWatching = Annotated[RecordedEpisodes, of_app("watching")]


@watching.get("/api/watch")
def what_to_watch() -> Any:
    """The episodes that can be requested."""
    return episode_choices()


@watching.post("/api/watch")
async def watch(episode_request: EpisodeRequest, request: Request, episodes: InWatching, limits: InLimits) -> Any:
    """Start playing an episode; returns its permanent id."""
    if not limits.games.take(address_of(request)):
        raise HTTPException(429, "too many episodes from here: wait a little")
    return {"id": await episodes.begin(episode_request)}


@watching.get("/api/watch/{name}")
async def watched(name: str, episodes: InWatching) -> Any:
    """The state of an episode: playing, ready or failed."""
    return episodes.state(name)


@watching.get("/episodes/{name}")
async def episode(name: str, episodes: InWatching, download: int = 0) -> Any:
    """A recorded episode as one self-contained page."""
    response = _self_contained(await episodes.page(name))
    if download:
        response.headers["content-disposition"] = f'attachment; filename="episode-{name}.html"'
    return response

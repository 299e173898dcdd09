"""Recorded episodes: what can be requested, and a self-contained page for each request, played on first demand."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import HTTPException
from pydantic import BaseModel, Field

from otherminds import __version__
from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.papers.hypothetical_minds import experiment as hypothetical
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.levels.generation import DESIGNS
from otherminds.reports.level_replay import KINDS, Playable, replays
from otherminds.reports.matrix_replay import matrix_replay
from otherminds.reports.page import Html, Section, page
from otherminds.web.event_log import EventLog
from otherminds.web.studies import WORDS
from otherminds.web.thinking import EXPERIMENTS, GameSetup, ThinkingProcesses
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import scenario, scenarios

SEEDS = 1 << 31  # number of seeds that can be requested
DIGITS = 16  # hexadecimal digits of an episode's id
KEPT = 48  # pages in memory; chosen
WAITING = 8  # episodes that may be played at a time; chosen
ALL = "all"
MELTING_POT = "melting-pot"
WORLDS: Mapping[str, tuple[str, str]] = WORDS["watch"]["worlds"]
SUBSTRATE_TITLES: Mapping[str, str] = WORDS["watch"]["substrates"]
FACILITATORS: Mapping[str, tuple[str, str]] = WORDS["watch"]["facilitators"]
AGENTS: Mapping[str, tuple[str, str]] = WORDS["watch"]["agents"]


class EpisodeRequest(BaseModel, frozen=True, extra="forbid", strict=True):
    """A request for an episode: the world, its level, who facilitates or plays, and the seed.

    Levels with people have a `facilitator`, scenarios of Melting Pot an `agent`.
    """

    world: Literal["doors-keys-gems", "overcooked", "melting-pot"]
    level: Annotated[str, Field(min_length=1, max_length=60)]
    facilitator: Annotated[str, Field(min_length=1, max_length=30)] | None = None
    agent: Annotated[str, Field(min_length=1, max_length=30)] | None = None
    seed: Annotated[int, Field(ge=0, lt=SEEDS)] = 0


def episode_id(request: EpisodeRequest) -> str:
    """The permanent id of an episode: a hash of the request and the library's version."""
    serialized = json.dumps([__version__, request.model_dump()], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(serialized.encode()).hexdigest()[:DIGITS]


def check_request(request: EpisodeRequest) -> None:
    """Raises InputError if the level is unknown, or the facilitator or agent is not available for its world."""
    field, subjects = _subjects_of(request.world)
    applicable, inapplicable = request.agent, request.facilitator
    if field == "facilitator":
        applicable, inapplicable = inapplicable, applicable
    if request.level not in _levels(request.world):
        raise InputError(f"there is no level `{printable(request.level)}` of {request.world} to watch")
    if applicable not in subjects:
        problem = f"no {field} `{printable(applicable)}`" if applicable else f"no {field} named, and it takes one"
        raise InputError(f"there is {problem} for {request.world}", hint=f"one of {', '.join(subjects)}")
    if inapplicable is not None:
        raise InputError(
            f"`{printable(inapplicable)}` does not belong into {request.world}",
            hint=f"it takes {'an agent' if field == 'agent' else 'a facilitator'} alone",
        )


def recorded_page(request: EpisodeRequest) -> str:
    """Play an episode and show it in a self-contained page: a pure function of the request.

    Raises InputError as `check_request` does.
    """
    check_request(request)
    return _scenario_page(request) if request.world == MELTING_POT else _facilitated_page(request)


def _facilitated_page(request: EpisodeRequest) -> str:
    """The page of an episode with a facilitator, or of one episode for each facilitator."""
    level = _levels(request.world)[request.level]
    experiment = EXPERIMENTS[request.world]
    facilitator = request.facilitator or ""
    assert level is not None
    subjects = facilitated.SUBJECTS if facilitator == ALL else (facilitator,)
    entries = [
        facilitated.PlannedEpisode(level, subject, level.kind or "unclassified", request.seed) for subject in subjects
    ]
    rows = [row for entry in entries for row in experiment.rows(entry)]
    people, class_of_level = " and ".join(level.world.agents), level.kind.replace("_", " ") or "not classified"
    world = WORLDS[request.world][0]
    lead = f"{people} play a level of {world} where help is {class_of_level}, {FACILITATORS[facilitator][1]}."
    return _page(request, _title(level.name), lead, replays({level.name: level}, rows))


def _scenario_page(request: EpisodeRequest) -> str:
    """The page of an episode of an agent in a scenario of Melting Pot."""
    agent, played_scenario = request.agent or "", scenario(request.level)
    world = in_the_matrix(played_scenario.substrate)
    rows = hypothetical.rows(hypothetical.ScenarioEntry(request.level, agent, 0, request.seed, filmed=True))
    film, meetings = rows[-1]["film"], [row for row in rows if "partner" in row]
    lead = (
        f"{SUBSTRATE_TITLES[played_scenario.substrate]}: player_0 is {AGENTS[agent][1]}; "
        f"what each of the others does: {played_scenario.meaning}."
    )
    title = f"{len(meetings)} meetings in {rows[-1]['steps']} steps, which paid {rows[-1]['reward']:.1f}"
    viewer = matrix_replay(world, film["kinds"], film["frames"], meetings, title)
    return _page(request, request.level, lead, viewer)


def replay_page(setup: GameSetup, rows: Sequence[Mapping[str, Any]]) -> str:
    """A finished game as a self-contained page to step through; `rows` are those of an export.

    Where the facilitator was still thinking, its latest belief is shown; before the first step, its prior.
    """
    cast = setup.cast()
    beliefs = {} if setup.facilitator == "oracle" else cast.facilitator.beliefs()
    latest_rows = {agent: facilitated.belief_row(cast, cast.goals[agent], belief) for agent, belief in beliefs.items()}
    shown_rows = []
    for row in rows:
        if row["agent"] in latest_rows:
            latest_rows[row["agent"]] = {name: row.get(name, old) for name, old in latest_rows[row["agent"]].items()}
        shown_rows.append({**row, "episode": setup.level.name, **latest_rows.get(row["agent"], {})})
    lead = "Each step as it was played, what the facilitator believed of each of you, and why it spoke or not."
    viewer = replays({setup.level.name: setup.level}, shown_rows)
    return page(f"{_title(setup.level.name)}, as it was played", lead, [Section("Step by step", viewer)])


def _page(request: EpisodeRequest, title: str, lead: str, viewer: Html) -> str:
    subject_texts = FACILITATORS[request.facilitator] if request.facilitator else AGENTS[request.agent or ""]
    section = f"{subject_texts[0]}, seed {request.seed}"
    return page(f"{title}, {WORLDS[request.world][0]}", lead, [Section(section, viewer)])


# What there is to choose


# The initial values of the form: an episode in which the facilitator speaks.
START = EpisodeRequest(world="overcooked", level="far-plate", facilitator="protom", seed=1)


@cache
def episode_choices() -> dict[str, Any]:
    """All that can be requested, as the form lists it: worlds, levels by class, and facilitators or agents."""
    worlds = []
    for world, (title, about) in WORLDS.items():
        field, able = _subjects_of(world)
        subjects = [_option(key, name) for key, (name, _) in able.items()]
        heading = {"id": world, "title": title, "about": about}
        worlds.append({**heading, "groups": _groups(world), "field": field, "who": subjects})
    return {"worlds": worlds, "seed": {"least": 0, "most": SEEDS - 1}, "start": START.model_dump(exclude_none=True)}


def _groups(world: str) -> list[dict[str, Any]]:
    """The levels of a world by class, the scenarios of Melting Pot by substrate."""
    if world == MELTING_POT:
        grouped = {
            title: [_option(s.id, f"{s.id}: {s.meaning}") for s in scenarios() if s.substrate == substrate]
            for substrate, title in SUBSTRATE_TITLES.items()
        }
    else:
        grouped = {title: [] for title in (*KINDS.values(), "Other levels")}
        for name, level in _levels(world).items():
            grouped[KINDS.get(level.kind if level else "", "Other levels")].append(_option(name, _title(name)))
    return [{"title": title, "levels": members} for title, members in grouped.items() if members]


def _subjects_of(world: str) -> tuple[str, Mapping[str, tuple[str, str]]]:
    """The field of a request that applies to a world, `agent` or `facilitator`, and its values with their titles."""
    if world == MELTING_POT:
        return "agent", AGENTS
    applicable = (ALL, *facilitated.SUBJECTS, *EXPERIMENTS[world].variants)
    return "facilitator", {key: texts for key, texts in FACILITATORS.items() if key in applicable}


@cache
def _levels(world: str) -> Mapping[str, Playable | None]:
    """The levels of a world by name; None for scenarios of Melting Pot."""
    if world == MELTING_POT:
        return {s.id: None for s in scenarios() if s.substrate in SUBSTRATES}
    return {level.name: level for level in DESIGNS[world].bundled()}


def _option(key: str, title: str) -> dict[str, str]:
    return {"id": key, "title": title}


def _title(level: str) -> str:
    return level.replace("-", " ").capitalize()


class RecordedEpisodes:
    """Requested episodes and their pages. The event log keeps the requests; pages can be played again at any time."""

    def __init__(self, event_log: EventLog, processes: ThinkingProcesses) -> None:
        self._event_log, self._processes = event_log, processes
        self._requests = {
            event.stream: EpisodeRequest.model_validate(event.body) for event in event_log.beginnings("wanted")
        }
        self._pages: OrderedDict[str, asyncio.Task[str]] = OrderedDict()

    async def begin(self, request: EpisodeRequest) -> str:
        """Start playing an episode unless it was played before; returns its id.

        Raises HTTPException for one too many request, InputError as `check_request` does.
        """
        check_request(request)
        name = f"episode:{episode_id(request)}"
        if name not in self._requests:
            self._requests[name] = request
            _, pending_write = self._event_log.append(name, "wanted", request.model_dump(mode="json"))
            await asyncio.wrap_future(pending_write)
        self._play(name)
        return name.removeprefix("episode:")

    def _play(self, name: str) -> asyncio.Task[str]:
        """The task that plays an episode; a failed one is tried again."""
        task = self._pages.pop(name, None)
        if task is None or (task.done() and task.exception()):
            if sum(not page_task.done() for page_task in self._pages.values()) >= WAITING:
                raise HTTPException(503, "too many episodes are being played: try again soon")
            task = asyncio.create_task(self._processes.call(recorded_page, self._requests[name]))
        self._pages[name] = task
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        return task

    def state(self, short: str) -> dict[str, Any]:
        """The state of an episode: playing, ready or failed."""
        name = self._stream_of(short)
        task = self._pages.get(name) or self._play(name)
        state, message = "ready" if task.done() else "playing", ""
        if task.done() and (problem := task.exception()):
            message = str(problem) if isinstance(problem, InputError) else "the episode could not be played"
            state = "failed"
        return {"state": state, "message": message, "wanted": self._requests[name].model_dump(mode="json")}

    async def page(self, short: str) -> str:
        """The page of an episode, once it has been played. Raises HTTPException if it is unknown or failed."""
        try:
            return await asyncio.shield(self._play(self._stream_of(short)))
        except InputError as error:
            raise HTTPException(422, str(error)) from None

    def _stream_of(self, short: str) -> str:
        """The stream of the event log for an episode's id. Raises HTTPException if no such episode was requested."""
        name = f"episode:{short}"
        if name not in self._requests:
            raise HTTPException(404, "there is no such episode")
        return name

"""A lobby without a server: everything of a study but the network, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.levels.generation import DESIGNS
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.web import progression, thinking
from otherminds.web.board import Playable
from otherminds.web.connections import take_message
from otherminds.web.event_log import EventLog
from otherminds.web.lobby import Lobby
from otherminds.web.studies import Participant, Study, StudyPlan
from otherminds.web.thinking import FacilitatorThought, GameSetup, PlayedStep, ThinkingProcesses
from otherminds.worlds.overcooked.level_files import parse_kitchen

Message = dict[str, Any]
WALLED_MAP = "#-/-###\n#   #p#\n#   D *\n#t-##-#\n#     #\n#--o--#"
WALLED = parse_kitchen(f"{WALLED_MAP}\n\nSimpleOnion\nSimpleTomato\n\n1 1\n5 2\n", Path("walled.txt"))
LEVELS: dict[str, Playable] = {level.name: level for design in DESIGNS.values() for level in design.bundled()}
LEVELS[WALLED.name] = WALLED


class Inline(ThinkingProcesses):
    """Thinks at once, in this process."""

    def wake(self) -> None:
        pass

    async def act(self, setup: GameSetup, steps: Sequence[PlayedStep], simulated: Sequence[str]) -> dict[str, str]:
        return thinking.act(setup, tuple(steps), tuple(simulated))

    async def advise(self, setup: GameSetup, steps: Sequence[PlayedStep], since: int = 0) -> FacilitatorThought:
        return thinking.advise(setup, tuple(steps), since)


class Page:
    """The page of a participant: what it is told, as it would arrive."""

    def __init__(self, lobby: Lobby, one: Participant) -> None:
        self.lobby, self.one = lobby, one
        self.looks: dict[str, int] = {}
        self.told: list[Message] = []
        self.ended: list[int] = []
        self.n = lobby.last.get(one.id, 0)
        progression.arrive(lobby, one, self)

    def send(self, message: Mapping[str, Any]) -> None:
        self.told.append(json.loads(json.dumps(message)))

    def end(self, code: int) -> None:
        self.ended.append(code)

    def do(self, what: str, **more: object) -> None:
        """Ask for something; it is on disk when this is over."""
        self.n += 1
        written = take_message(self.lobby, self.one, {"n": self.n, "do": what, **more})
        if written:
            written.result(10)

    def close(self) -> None:
        progression.depart(self.lobby, self.one, self)

    def last(self, kind: str) -> Message:
        return next((m for m in reversed(self.told) if m["type"] == kind), {})

    @property
    def seen(self) -> int:
        """The step of the last frame."""
        return next((int(m["t"]) for m in reversed(self.told) if m["type"] == "frame"), -1)

    @property
    def stage(self) -> str:
        return self.lobby.stage(self.one)

    @property
    def level(self) -> str:
        """The level that is played, which pages are not told."""
        game = self.lobby.game(self.lobby.place(self.one))
        assert game is not None
        return game.setup.level.name


async def settle(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Let everything that is going on go on until something is so."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.002)


def running(work: Coroutine[Any, Any, None]) -> None:
    """Run a test that has to wait for something."""
    asyncio.run(work)


def plan(**more: object) -> StudyPlan:
    """A study of three rounds without formalities, in which a step happens when everybody has chosen."""
    plain: dict[str, Any] = {
        "levels": ("hatch", "upstairs", "far-plate"),
        "facilitators": ("none", "protom", "oracle"),
        "pairs": 1,
        "consent": "",
        "tutorial": False,
        "practice": False,
        "seconds": 0.0,
    }
    return StudyPlan(**(plain | more))


@contextmanager
def opened(path: Path) -> Iterator[Lobby]:
    """A lobby on an event log; it is left as a server that is killed leaves it."""
    event_log = EventLog(path)
    lobby = Lobby(event_log, Inline(), LEVELS)
    lobby.read()
    progression.resume(lobby)
    try:
        yield lobby
    finally:
        for room in lobby.rooms.values():
            for task in room._tasks:
                task.cancel()
        if lobby.sweeper:
            lobby.sweeper.cancel()
        event_log.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progression, "SWEEP", 0.02)


def people(lobby: Lobby, study: Study) -> list[Page]:
    """The pages of everybody who has a link."""
    return [Page(lobby, one) for one in list(study.people.values())]


@cache
def script(level: str) -> tuple[Mapping[str, str], ...]:
    """What two people do who succeed in a level: simulated ones, helped by somebody who knows."""
    entry = PlannedEpisode(LEVELS[level], "oracle", "", 1)
    return tuple(moment.joint for moment in OVERCOOKED.episode(entry))


async def beyond(pages: Sequence[Page], t: int) -> None:
    """Wait until everybody has seen what came after step t, or plays no more."""
    await settle(lambda: all(page.stage != "game" or page.seen > t for page in pages))


async def perform(pages: Sequence[Page], joints: Sequence[Mapping[str, str]]) -> None:
    """People do step by step what is written."""
    for joint in joints:
        t = pages[0].last("frame")["t"]
        for page in pages:
            you = next(m for m in reversed(page.told) if m["type"] == "page")["data"]["you"]
            page.do("act", action=joint[you], t=t)
        await beyond(pages, t)

"""Recorded episodes: played in another process when somebody first wants to see them, and kept under a lasting name."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

from fastapi import HTTPException
from pydantic import ValidationError

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.web import episodes
from otherminds.web.episodes import Wanted
from otherminds.web.event_log import EventLog, on_disk
from otherminds.web.thinking import Thinkers

KEPT = 48
WAITING = 8


class Watching:
    """What can be watched and what has been. Episodes are pure functions of what is wanted; the journal keeps that."""

    def __init__(self, journal: EventLog, thinkers: Thinkers) -> None:
        self._journal, self._thinkers = journal, thinkers
        self._wanted = {event.stream: Wanted.model_validate(event.body) for event in journal.beginnings("wanted")}
        self._pages: OrderedDict[str, asyncio.Task[str]] = OrderedDict()
        self._choices: dict[str, Any] = {}

    def choices(self) -> dict[str, Any]:
        """All that the form offers."""
        self._choices = self._choices or episodes.choices()
        return self._choices

    async def begin(self, body: bytes) -> str:
        """Play an episode unless that has been done; returns its name. Raises HTTPException or InputError."""
        try:
            wanted = Wanted.model_validate_json(body)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            text = f"{place}: {first['msg']}" if place else first["msg"]
            raise HTTPException(422, printable(text)) from None
        episodes.check(wanted)
        name = f"episode:{episodes.name(wanted)}"
        if name not in self._wanted:
            self._wanted[name] = wanted
            await on_disk(self._journal.append(name, "wanted", wanted.model_dump(mode="json"))[1])
        self._play(name)
        return name.removeprefix("episode:")

    def _play(self, name: str) -> asyncio.Task[str]:
        """The task that plays an episode; failed ones are tried again."""
        task = self._pages.pop(name, None)
        if task is None or (task.done() and task.exception()):
            if sum(not other.done() for other in self._pages.values()) >= WAITING:
                raise HTTPException(503, "too many episodes are being played: try again soon")
            task = asyncio.create_task(self._recorded(self._wanted[name]))
        self._pages[name] = task
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        return task

    async def _recorded(self, wanted: Wanted) -> str:
        return await self._thinkers.call(episodes.recorded, wanted)

    def state(self, short: str) -> dict[str, Any]:
        """How far an episode is."""
        name = self._known(short)
        task = self._pages.get(name) or self._play(name)
        said = {"wanted": self._wanted[name].model_dump(mode="json")}
        if not task.done():
            return {"state": "playing", "message": "", **said}
        if problem := task.exception():
            text = str(problem) if isinstance(problem, InputError) else "the episode could not be played"
            return {"state": "failed", "message": text, **said}
        return {"state": "ready", "message": "", **said}

    async def page(self, short: str) -> str:
        """The episode as a page."""
        try:
            return await asyncio.shield(self._play(self._known(short)))
        except InputError as error:
            raise HTTPException(422, str(error)) from None

    def _known(self, short: str) -> str:
        name = f"episode:{short}"
        if name not in self._wanted:
            raise HTTPException(404, "there is no such episode")
        return name

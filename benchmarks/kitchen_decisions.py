"""How long ProToM takes to infer and decide in kitchens, and how much longer with the obvious implementation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from otherminds.experiments.facilitated import Entry
from otherminds.experiments.protom_overcooked import episode, facilitator
from otherminds.minds.cook import Cook
from otherminds.minds.cooking import Request
from otherminds.minds.requests import Requests
from otherminds.minds.told import Purposeful, Told, oneself
from otherminds.worlds.kitchen_files import KitchenLevel
from otherminds.worlds.overcooked import State


class PlainRequests(Requests):
    """The same messages, priced the obvious way: minds run forward step by step, nothing remembered."""

    def length(self, state: State, minds: Sequence[Purposeful[str]], request: Request | None, horizon: int) -> int:
        """Run everybody's mind forward in the world, the helper's wrapped in what it was told."""
        cooks = [replace(cast("Cook", oneself(mind)), beta=math.inf, lapse=0.0) for mind in minds]
        people: list[Purposeful[str]] = [
            Told(cook, self.errand(request, cook)) if request and request.helper == i else cook
            for i, cook in enumerate(cooks)
        ]
        for t in range(horizon):
            if all(mind.reached for mind in people):
                return t
            state = self.world.advance(state, [cast("Cook", mind).act().mode for mind in people])
            views = [self.world.observe(state, agent) for agent in self.world.agents]
            people = [mind.observe(view) for mind, view in zip(people, views, strict=True)]
        return horizon


def milliseconds(levels: Sequence[KitchenLevel], subject: str) -> list[float]:
    """The time of every decision in these kitchens, each planned from scratch."""
    return [m.ms for level in levels for m in list(episode(Entry(level, subject, level.kind, 42)))[1:]]


def pricing(level: KitchenLevel, make: Callable[[KitchenLevel], Requests]) -> Callable[[], object]:
    """The first decision of an episode, from scratch, by the paper's rule."""

    def price() -> object:
        watcher = facilitator("protom_paper", level, make(level))
        return watcher.decide(level.world.initial, level.horizon, np.random.default_rng(0)).prices

    return price

"""Episodes on the command line: simulated people and a facilitator, step by step."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

from rich.console import Console
from rich.live import Live

from otherminds.errors import InputError
from otherminds.papers.protom import doors_keys_gems as protom_dkg
from otherminds.papers.protom import overcooked as protom_overcooked
from otherminds.papers.protom.episodes import Episode
from otherminds.papers.protom.experiment import Entry
from otherminds.reports.terminal import screens
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel

SHOWN = 3


def episode(level: Level | KitchenLevel, helper: str, seed: int) -> Episode[Any, Any, Any]:
    """An episode ready to be watched. Raises InputError if the level has no goals, or its world no such facilitator."""
    if isinstance(level, Level) and min(level.world.goals) < 0:
        raise InputError(f"{level.name} does not say what everybody wants", hint="watch needs a goal for each agent")
    experiment = protom_overcooked if isinstance(level, KitchenLevel) else protom_dkg
    able = ("none", "random", *experiment.VARIANTS)
    if helper not in able:
        raise InputError(f"there is no facilitator `{helper}` for kitchens", hint="it is for Doors-Keys-Gems only")
    played: Episode[Any, Any, Any] = experiment.episode(Entry(level, helper, level.kind, seed))
    return played


def show(played: Episode[Any, Any, Any], level: Level | KitchenLevel, delay: float) -> list[Step[Any, Any]]:
    """Play an episode before somebody's eyes, live if there is a terminal; returns what happened."""
    console, said, steps = Console(), list[str](), list[Step[Any, Any]]()
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None
    with live or nullcontext():
        for t, moment in enumerate(played):
            _follow_up(said, moment.status)
            if moment.decision.message is not None:
                said.append(f"{t}: {moment.decision.words}")
            caption = f"{level.name}, step {t}"
            frame = screens.frame(level.world, moment.state, moment.beliefs, said[-SHOWN:], caption)
            steps.append(Step(moment.state, moment.joint, moment.after))
            _display(frame, live, console, delay)
        _follow_up(said, played.status)
        last = steps[-1].after if steps else level.world.initial
        frame = screens.frame(level.world, last, played.facilitator.beliefs(), said[-SHOWN:], f"{level.name}, the end")
        _display(frame, live, console, 0.0)
    done = played.world.done(last)
    console.print(f"{'Everybody succeeded' if done else 'Not everybody succeeded'} after {len(steps)} steps.")
    return steps


def _follow_up(said: list[str], status: str | None) -> None:
    """Note what has become of the last thing that was said."""
    if said and status not in (None, "running"):
        said[-1] += f" [{status}]"


def _display(frame: Any, live: Live | None, console: Console, delay: float) -> None:
    if live is None:
        console.print(frame)
        return
    live.update(frame, refresh=True)
    time.sleep(delay)

"""Goal posteriors over time for a trajectory that somebody brings along."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from otherminds.errors import InputError
from otherminds.minds.locked_map import Goal
from otherminds.minds.plans import Plans
from otherminds.minds.seeker import Seeker
from otherminds.observer import Observer, replay
from otherminds.systems.protom import conclude
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems import Action, DoorsKeysGems, State
from otherminds.worlds.sprites import hue
from otherminds.worlds.trajectories import read_steps

Row = dict[str, Any]
Steps = Sequence[Step[State, Action]]


def read_all(paths: Sequence[Path], world: DoorsKeysGems) -> list[Step[State, Action]]:
    """The steps of several files, each of which goes on where the one before ended. Raises InputError."""
    steps: list[Step[State, Action]] = []
    for path in paths:
        steps += read_steps(path, world, start=steps[-1].after if steps else None)
    return steps


def posteriors(world: DoorsKeysGems, steps: Steps, *, beta: float, lapse: float, leak: float) -> list[dict[str, Any]]:
    """P(goal) of every agent before each step and after the last, as rows with what everybody did then.

    Raises InputError if somebody did what no mind would do.
    """
    if not world.gems:
        raise InputError("there is no gem that anybody could want")
    plans = Plans(world)
    watchers = {
        agent: Observer.over(
            (Seeker(plans, i, Goal("gem", gem), beta=beta, lapse=lapse) for gem in range(len(world.gems))),
            decay=1.0 - leak,
        )
        for i, agent in enumerate(world.agents)
    }
    try:
        start = {a: o.see(world.observe(world.initial, a)) for a, o in watchers.items()}
        watched = list(replay(world, watchers, steps)) or [start]
    except ValueError as error:
        raise InputError(str(error), hint="with a lapse above 0 anybody could do anything") from None
    gems = gem_labels(world)
    joints = [{a: world.spell(step.joint[a]) for a in world.agents} for step in steps]
    return [
        {
            "t": t,
            "joint": joint,
            "posterior": {
                agent: {gems[goal.thing]: p for goal, p in observer.ask(lambda mind: mind.goal)}
                for agent, observer in ((a, conclude(o)) for a, o in observers.items())
            },
        }
        for t, (observers, joint) in enumerate(zip(watched, [*joints, {}], strict=True))
    ]


def gem_labels(world: DoorsKeysGems) -> list[str]:
    """Gems by colour, or by name where a colour is not unique."""
    colours = [gem.colour for gem in world.gems]
    return [gem.colour if colours.count(gem.colour) == 1 else gem.name for gem in world.gems]


def draw(history: Sequence[Row], world: DoorsKeysGems, path: Path) -> None:
    """Draw P(goal) over time, a panel for each agent, as .svg, .png or .pdf. Raises InputError otherwise."""
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise InputError("pictures are .svg, .png or .pdf", path=path)
    figure = Figure(figsize=(6.4, 2.2 * len(world.agents) + 0.4), layout="constrained")
    panels = figure.subplots(len(world.agents), 1, sharex=True, squeeze=False)[:, 0]
    for axes, agent in zip(panels, world.agents, strict=True):
        for gem, label in zip(world.gems, gem_labels(world), strict=True):
            line = [row["posterior"][agent][label] for row in history]
            axes.plot(line, label=label, color=hue(gem.colour), marker=".", markersize=4)
        axes.set(ylim=(-0.03, 1.03), ylabel="P(goal)", title=agent)
        axes.legend(frameon=False, ncols=min(len(world.gems), 4), loc="best")
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("step")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks is no reason to stop
            figure.savefig(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None

"""What a notebook shows: states as pictures, episodes to step through, and plots on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from otherminds.distribution import Categorical
from otherminds.errors import InputError
from otherminds.files.html import Html, pictured
from otherminds.observer import Observer, replay
from otherminds.reports.matrix_replay import frame, matrix_replay
from otherminds.reports.moving_picture import Scene
from otherminds.reports.page import framed_replay
from otherminds.reports.plots import LOOK, SOFT
from otherminds.reports.scene_replay import scene_replay
from otherminds.reports.terminal.screens import drawing_of, goal_name
from otherminds.world import Step
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.doors_keys_gems.level_files import find_level
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.map_file import WorldLevel
from otherminds.worlds.own_world import spell

Believed = Categorical[Any] | Observer[Any]
Row = Mapping[str, Any]
HEIGHT = 900  # pixels of a replay in a notebook; chosen
APART = 0.07  # cells between the paths of agents, so that both are seen; chosen


def view(world: Any, shown: Any = None, watchers: Mapping[str, Observer[Any]] | None = None, *, name: str = "") -> Html:
    """A state of a world as a picture, its first one by default; or the steps of an episode to step through.

    Steps are those of `rollout`, or the moments of a FacilitatedEpisode with its messages. `watchers` are observers at
    the start, whose posteriors over goals the replay shows. A level, or the name of a bundled one, stands for its
    world.
    Raises InputError for no steps, and for steps in a world of which there are single pictures only.
    """
    if isinstance(world, str):
        world = find_level(world)
    if isinstance(world, WorldLevel):
        world, name = world.world, name or world.name
    if not isinstance(shown, list | tuple) or not all(hasattr(step, "after") for step in shown):
        state = world.start(np.random.default_rng(0)) if shown is None else shown
        return pictured(drawing_of(world).draw(world, state).svg())
    steps, title = list(shown), name or type(world).__name__
    if not steps:
        raise InputError("there are no steps to view", hint="view a state, or the steps of `rollout`")
    if isinstance(world, CollaborativeCooking):
        raise InputError("there are only single pictures of this kitchen", hint="view(kitchen, step.after)")
    if isinstance(world, InTheMatrix):
        frames = [frame(state) for state in (steps[0].state, *(step.after for step in steps))]
        shown_episode = matrix_replay(world, steps[0].state.kinds, frames, (), title)
    else:
        actions = [{agent: spell(world, action) for agent, action in step.joint.items()} for step in steps]
        level, name_of = WorldLevel(title, world, len(steps)), partial(goal_name, world)
        shown_episode = scene_replay(level, _scenes(world, steps, watchers), actions, name_of, {})
    return framed_replay(title, shown_episode, HEIGHT)


def _scenes(world: Any, steps: Sequence[Any], watchers: Mapping[str, Observer[Any]] | None) -> list[Scene]:
    """The states of an episode, what is believed in each, and what was said."""
    states = [steps[0].state, *(step.after for step in steps)]
    if hasattr(steps[0], "decision"):
        beliefs = [dict(moment.beliefs) for moment in steps]
        words = [moment.decision.words for moment in steps]
        return list(map(Scene, states, [*beliefs, beliefs[-1]], [*words, words[-1]]))
    observed = replay(world, watchers, steps) if watchers else ({} for _ in states)
    asked = [{agent: watcher.ask(lambda mind: mind.goal) for agent, watcher in moment.items()} for moment in observed]
    return [Scene(state, belief, "") for state, belief in zip(states, asked, strict=True)]


def plot_posterior(
    believed: Believed | Mapping[str, Believed] | Sequence[Believed], *, ax: Axes | None = None, start: int = 0
) -> Axes:
    """P(x) as bars; of several by name, side by side; of a sequence, as lines over its steps from `start` on.

    Returns the axes, new ones unless `ax` is given.
    """
    with plt.rc_context(LOOK):
        axes = ax or plt.subplots(figsize=(4.2, 2.8))[1]
        if isinstance(believed, Mapping):
            _bars(axes, {name: _distribution(one) for name, one in believed.items()})
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        elif isinstance(believed, Categorical | Observer):
            _bars(axes, {"": _distribution(believed)})
        else:
            steps = [_distribution(one) for one in believed]
            times = range(start, start + len(steps))
            for x in dict.fromkeys(x for step in steps for x in step.support):
                axes.plot(times, [step.prob(x) for step in steps], ".-", label=str(x))
            axes.set(xlabel="step", ylabel="probability", ylim=(-0.03, 1.03))
            axes.legend(frameon=False)
    return axes


def save_picture(axes: Axes, path: Path) -> None:
    """Save the figure of these axes; as SVG with its text as text, and the same bytes for the same figure."""
    figure = axes.get_figure(root=True)
    assert figure is not None  # axes of no figure cannot be made
    with plt.rc_context(LOOK):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _distribution(believed: Believed) -> Categorical[Any]:
    return believed.posterior if isinstance(believed, Observer) else believed


def _bars(axes: Axes, named: Mapping[str, Categorical[Any]]) -> None:
    """Bars for each outcome, next to each other those of the same outcome."""
    outcomes = list(dict.fromkeys(x for one in named.values() for x in one.support))
    width = 0.8 / len(named)
    for i, (name, one) in enumerate(named.items()):
        places = [n + width * (i - (len(named) - 1) / 2) for n in range(len(outcomes))]
        axes.bar(places, [one.prob(x) for x in outcomes], width, label=name)
    axes.set(xticks=range(len(outcomes)), xticklabels=map(str, outcomes), ylabel="probability")


def plot_trajectory(world: Any, steps: Sequence[Step[Any, Any]], *, ax: Axes | None = None) -> Axes:
    """The paths of all agents over the walls of a world with a grid: a dot where each began, an arrow where it ended.

    Raises InputError for no steps, and for a world without a grid or states without cells.
    """
    if isinstance(world, WorldLevel):
        world = world.world
    grid = getattr(world, "grid", None) or getattr(getattr(world, "layout", None), "grid", None)
    if grid is None or not steps or not hasattr(steps[0].state, "cells"):
        raise InputError("there is no path to plot", hint="give steps in a world with a grid; `view` shows any world")
    with plt.rc_context(LOOK):
        axes = ax or plt.subplots(figsize=(0.4 * grid.width, 0.4 * grid.height))[1]
        floor = [[grid.is_floor(grid.cell(x, y)) for x in range(grid.width)] for y in range(grid.height)]
        axes.imshow(floor, cmap="gray", vmin=-3, vmax=1)
        for i, agent in enumerate(world.agents):
            cells = [steps[0].state.cells[i], *(step.after.cells[i] for step in steps)]
            x, y = (np.array(line, float) + APART * i for line in zip(*map(grid.xy, cells), strict=True))
            (line,) = axes.plot(x, y, "-", label=agent)
            axes.plot(x[:1], y[:1], "o", color=line.get_color())
            axes.plot(x[-1:], y[-1:], ">", color=line.get_color())
        axes.set(xticks=[], yticks=[])
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def plot_regret(rows: Sequence[Row] | Mapping[str, Sequence[Row]], *, ax: Axes | None = None) -> Axes:
    """Σ (best − reward) over the rounds of an episode of `play`, or of several by name."""
    with plt.rc_context(LOOK):
        axes = ax or plt.subplots(figsize=(4.2, 2.8))[1]
        for name, episode in (rows if isinstance(rows, Mapping) else {"": rows}).items():
            axes.plot(np.cumsum([row["best"] - row["reward"] for row in episode]), label=name)
        axes.axhline(0.0, color=SOFT, linewidth=0.7, zorder=0)
        axes.set(xlabel="round", ylabel="lost so far")
        if isinstance(rows, Mapping):
            axes.legend(frameon=False)
    return axes

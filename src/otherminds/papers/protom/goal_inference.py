"""Goal posteriors over time for a trajectory that somebody brings along, in either world."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.errors import InputError
from otherminds.mind import GoalDirected
from otherminds.observer import Observer, Watchers, attend
from otherminds.papers.protom.facilitator import condition_on_reached
from otherminds.papers.protom.trajectories import Known, read_steps, spell
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.drawing import recipe_mark
from otherminds.worlds.overcooked.planner import OvercookedPlanner
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.sprites import hue

PARTICLES = 20

Row = dict[str, Any]
Steps = Sequence[Step[Any, Any]]
Minds = Sequence[GoalDirected[Any]]


class Label(NamedTuple):
    """What a goal is called, and the colour that it is drawn in."""

    name: str
    colour: str


def read_all(paths: Sequence[Path], world: Known) -> list[Step[Any, Any]]:
    """The steps of several files, each of which goes on where the one before ended. Raises InputError."""
    steps: list[Step[Any, Any]] = []
    for path in paths:
        steps += read_steps(path, world, start=steps[-1].after if steps else None)
    return steps


def posteriors(
    world: Known, steps: Steps, *, beta: float, lapse: float, leak: float, particles: int = PARTICLES
) -> list[Row]:
    """P(goal) of every agent before each step and after the last, as rows with what everybody did then.

    In kitchens, where nobody sees everything, `particles` beliefs are imagined for each recipe and count alike (ProToM
    eq. 9). Raises InputError if somebody did what no mind would do.
    """
    labels = goals(world)
    if not labels:
        raise InputError("there is no gem that anybody could want")
    watchers = {
        agent: Observer.over(minds, decay=1.0 - leak)
        for agent, minds in zip(world.agents, _minds(world, list(labels), beta, lapse, particles), strict=True)
    }
    try:
        watched = list(_watch(world, watchers, steps))
    except ValueError as error:
        raise InputError(str(error), hint="with a lapse above 0 anybody could do anything") from None
    joints = [{a: spell(world, step.joint[a]) for a in world.agents} for step in steps]
    return [
        {"t": t, "joint": joint, "posterior": {a: _belief(o, labels) for a, o in observers.items()}}
        for t, (observers, joint) in enumerate(zip(watched, [*joints, {}], strict=True))
    ]


def goals(world: Known) -> dict[Hashable, Label]:
    """What people could want: gems, by colour, or by name where a colour is not unique; or recipes.

    The recipes are the three with one food, and whichever else somebody in the kitchen has.
    """
    if isinstance(world, Overcooked):
        from otherminds.papers.protom.overcooked import possible_recipes  # with all that experiments need

        return {recipe: Label(recipe, recipe_mark(recipe)[1]) for recipe in possible_recipes(world)}
    colours = [gem.colour for gem in world.gems]
    return {
        Goal("gem", k): Label(gem.colour if colours.count(gem.colour) == 1 else gem.name, hue(gem.colour))
        for k, gem in enumerate(world.gems)
    }


def _minds(world: Known, wanted: Sequence[Any], beta: float, lapse: float, particles: int) -> Iterator[Minds]:
    """For each agent, the minds that it may have: one for each goal and, in kitchens, imagined belief."""
    agents = range(len(world.agents))
    if isinstance(world, DoorsKeysGems):
        plans = DoorsKeysGemsPlanner(world)
        yield from ([Seeker(plans, i, goal, beta=beta, lapse=lapse) for goal in wanted] for i in agents)
        return
    planner, sampler = OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items)
    for i in agents:
        yield [
            Cook(planner, sampler, i, recipe, beta=beta, lapse=lapse, particle=k)
            for k, recipe in product(range(particles), wanted)
        ]


def _watch(world: Any, watchers: Watchers[GoalDirected[Any]], steps: Steps) -> Iterator[Watchers[GoalDirected[Any]]]:
    """The observers before the first step and after each one."""
    watchers = {a: o.see(world.observe(world.initial, a)) for a, o in watchers.items()}
    yield watchers
    for step in steps:
        watched = attend(world, watchers, step.joint, step.after)
        watchers = {a: o.equalise(lambda mind: mind.particle) for a, o in watched.items()}
        yield watchers


def _belief(observer: Observer[GoalDirected[Any]], labels: Mapping[Hashable, Label]) -> dict[str, float]:
    return {labels[goal].name: p for goal, p in condition_on_reached(observer).ask(lambda mind: mind.goal)}


def draw(history: Sequence[Row], world: Known, path: Path) -> None:
    """Draw P(goal) over time, a panel for each agent, as .svg, .png or .pdf. Raises InputError otherwise."""
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise InputError("pictures are .svg, .png or .pdf", path=path)
    from matplotlib.figure import Figure  # slow to import, and seldom wanted

    figure = Figure(figsize=(6.4, 2.2 * len(world.agents) + 0.4), layout="constrained")
    panels = figure.subplots(len(world.agents), 1, sharex=True, squeeze=False)[:, 0]
    for axes, agent in zip(panels, world.agents, strict=True):
        _curves(axes, [row["posterior"][agent] for row in history], goals(world).values())
        axes.set(ylim=(-0.03, 1.03), ylabel="P(goal)", title=agent)
    panels[-1].set_xlabel("step")
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    figure.legend(handles=panels[0].lines, loc="outside lower center", ncols=4, frameon=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a letter that the font lacks is no reason to stop
            figure.savefig(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None


def _curves(axes: Any, beliefs: Sequence[Mapping[str, float]], labels: Iterable[Label]) -> None:
    for label in labels:
        line = [belief[label.name] for belief in beliefs]
        axes.plot(line, label=label.name, color=label.colour, marker=".", markersize=4)
    axes.spines[["top", "right"]].set_visible(False)

"""`otherminds infer`: posteriors over goals for a trajectory that the user provides, in any world that has goals."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, product
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.errors import InputError, unknown
from otherminds.mind import NONE_OF_THESE, GoalDirected
from otherminds.observer import Watchers, attend, surprise_in_words
from otherminds.papers.protom.facilitator import NONE_PRIOR, SWITCH_RATE, with_none_of_these
from otherminds.papers.protom.trajectories import SpelledWorld, read_steps
from otherminds.world import Step
from otherminds.worlds.canvas import save
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.map_file import WorldLevel
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.drawing import recipe_mark
from otherminds.worlds.overcooked.planner import OvercookedPlanner
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.own_world import GOAL_COLOURS, goal_colours, possible_goals, spell
from otherminds.worlds.sprites import hue
from otherminds.worlds.text_grid import Cell, TextGrid

PARTICLES = 20  # sampled beliefs per recipe in a kitchen; chosen, not tuned (the facilitator has 5)

GOALS_HINT = "give the world `goals`, a tuple of them, or name them with --goal"
NONE_COLOUR = "#777777"

Row = dict[str, Any]
Steps = Sequence[Step[Any, Any]]


class GoalLabel(NamedTuple):
    """The name of a goal, and the colour of its curve."""

    name: str
    colour: str


def read_all(paths: Sequence[Path], world: Any) -> dict[str, tuple[Any, Steps]]:
    """The steps of several files, each of which continues where the one before ended, and the world they are in.

    They are those of everybody, under the name of nobody, except on a grid drawn as text: there each agent has a world
    of its own. Raises InputError, also for a file without a step.
    """
    if not isinstance(world, SpelledWorld):
        from otherminds.papers.protom import walks  # imports scipy.sparse, which takes longer than all the rest

        if isinstance(world, TextGrid):
            return {**walks.read_positions(paths, world)}
        return {"": (world, walks.read_steps(walks.read_rows(paths), world))}
    steps: list[Step[Any, Any]] = []
    for path in paths:
        more = read_steps(path, world, start=steps[-1].after if steps else None)
        if not more:
            raise InputError("is empty: nobody does anything", path=path, hint="`watch --save` writes trajectories")
        steps += more
    return {"": (world, steps)}


def posteriors_of_all(walks: Mapping[str, tuple[Any, Steps]], **settings: Any) -> list[Row]:
    """The rows of `posteriors` for several worlds side by side; after the end of a walk its posterior stays."""
    histories = [posteriors(world, steps, **settings) for world, steps in walks.values()]
    rows = []
    for t in range(max(map(len, histories))):
        row: Row = {"t": t, "joint": {}, "posterior": {}, "surprise": {}}
        for history in histories:
            row["posterior"] |= history[min(t, len(history) - 1)]["posterior"]
            if t < len(history):
                row["joint"] |= history[t]["joint"]
                row["surprise"] |= history[t]["surprise"]
        rows.append(row)
    return rows


def posteriors(
    world: Any,
    steps: Steps,
    *,
    beta: float,
    lapse: float,
    leak: float,
    particles: int = PARTICLES,
    labels: Mapping[Hashable, GoalLabel] | None = None,
    none_prior: float | None = None,
    switch_rate: float = SWITCH_RATE,
) -> list[Row]:
    """P(goal) of each agent before each step and after the last: rows with `t`, `joint`, `posterior` and `surprise`.

    `none_prior` is the prior probability that an agent has none of the goals (None: as ProToM has it in this world),
    `switch_rate` that of changing its goal at a step. The surprise at its action is in nats, 0 on average if the agent
    acts as it is expected to. In kitchens, which agents see only in part, each recipe has `particles` sampled beliefs
    of equal weight (ProToM eq. 9). Raises InputError if there is no possible goal, or if none of the minds could have
    acted as an agent did. `labels` are the goals to consider, None: all of `goals`.
    """
    labels = goals(world) if labels is None else labels
    if not labels and isinstance(world, SpelledWorld):
        raise InputError("there is no gem that anybody could want")
    if not labels:
        raise InputError("there is no goal that anybody could have", hint=GOALS_HINT)
    if none_prior is None:
        none_prior = _none_prior(world)
    start = steps[0].state if steps else world.initial
    watchers = {
        agent: replace(with_none_of_these(minds, none_prior, switch_rate), decay=1.0 - leak).see(
            world.observe(start, agent)
        )
        for agent, minds in zip(world.agents, _minds(world, list(labels), beta, lapse, particles), strict=True)
    }
    watched = [watchers]
    try:
        for step in steps:
            updated = attend(world, watchers, step.joint, step.after)
            watchers = {agent: observer.equalise(lambda mind: mind.particle) for agent, observer in updated.items()}
            watched.append(watchers)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error), hint="with a lapse above 0 anybody could do anything") from None
    names = {goal: label.name for goal, label in labels.items()} | {NONE_OF_THESE: NONE_OF_THESE}
    joints = [*(step.joint for step in steps), {}]
    return [_row(t, world, *watching, names) for t, watching in enumerate(zip(watched, joints, strict=True))]


def _row(
    t: int,
    world: Any,
    observers: Watchers[GoalDirected[Any]],
    joint: Mapping[str, Any],
    names: Mapping[Hashable, str],
) -> Row:
    """The row of step t: what everybody does then, how surprising that is, and the posterior over goals before it."""
    return {
        "t": t,
        "joint": {agent: spell(world, joint[agent]) for agent in world.agents if joint},
        "posterior": {a: {names[goal]: p for goal, p in o.ask(lambda mind: mind.goal)} for a, o in observers.items()},
        "surprise": {agent: observers[agent].surprise(action) for agent, action in joint.items()},
    }


def _none_prior(world: Any) -> float:
    """P(none of the goals) of a person before anything is seen, as ProToM has it in this world."""
    if isinstance(world, Overcooked):
        from otherminds.papers.protom.overcooked import CHOSEN  # imports all that experiments need

        return float(CHOSEN["prior"])
    return NONE_PRIOR


def goals(world: Any) -> dict[Hashable, GoalLabel]:
    """The possible goals: gems, named by colour, or by name where a colour is not unique; recipes; those of a world."""
    if isinstance(world, Overcooked):
        from otherminds.papers.protom.overcooked import possible_recipes  # imports all that experiments need

        return {recipe: GoalLabel(recipe, recipe_mark(recipe)[1]) for recipe in possible_recipes(world)}
    if not isinstance(world, DoorsKeysGems):
        return {goal: GoalLabel(str(goal), colour) for goal, colour in goal_colours(world).items()}
    colours = [gem.colour for gem in world.gems]
    return {
        Goal("gem", k): GoalLabel(gem.colour if colours.count(gem.colour) == 1 else gem.name, hue(gem.colour))
        for k, gem in enumerate(world.gems)
    }


def listed_goals(world: Any, names: Sequence[str]) -> dict[Hashable, GoalLabel]:
    """The goals of these names, or all if there is none; a cell of a grid may be named as `3,4`.

    A world of the user's may have other goals: JSON such as `[3, 4]`, which is a tuple then, or else words.
    Raises InputError for an unknown name.
    """
    labels = goals(world)
    by_name = {label.name: goal for goal, label in labels.items()}
    chosen = dict[Hashable, GoalLabel]()
    for name, colour in zip(names, cycle(GOAL_COLOURS), strict=False):
        if name in by_name:
            chosen[by_name[name]] = labels[by_name[name]]
        elif isinstance(world, SpelledWorld):
            raise unknown("goal", name, by_name)
        else:
            chosen[_cell(world, name, by_name) if isinstance(world, TextGrid) else _goal(name)] = GoalLabel(
                name, colour
            )
    return chosen or labels


def _cell(world: TextGrid, name: str, goal_names: Iterable[str]) -> Cell:
    """The cell that is named as `3,4`. Raises InputError for other names, and for walls."""
    numbers = re.fullmatch(r"\(?(-?\d{1,4}), *(-?\d{1,4})\)?", name)
    if numbers is None:
        raise unknown("goal", name, goal_names, "or a cell, such as 3,4")
    cell = Cell(int(numbers[1]) - world.origin, int(numbers[2]) - world.origin)
    if not world.is_floor(cell):
        raise InputError(f"the goal {name} is no floor", hint=f"coordinates count from {world.origin} here")
    return cell


def _goal(name: str) -> Hashable:
    """A goal in JSON, lists as tuples, or else the words themselves."""
    try:
        goal = json.loads(name, parse_constant=str)
    except ValueError:
        return name
    return tuple(goal) if isinstance(goal, list) else name if isinstance(goal, dict) else goal


def _minds(
    world: Any, all_goals: Sequence[Any], beta: float, lapse: float, particles: int
) -> Sequence[Sequence[GoalDirected[Any]]]:
    """For each agent, its possible minds: one for each goal and, in kitchens, each sampled belief."""
    agents = range(len(world.agents))
    if isinstance(world, DoorsKeysGems):
        planner = DoorsKeysGemsPlanner(world)
        return [[Seeker(planner, i, goal, beta=beta, lapse=lapse) for goal in all_goals] for i in agents]
    if not isinstance(world, Overcooked):
        from otherminds.planning.rational import RationalAgent  # imports scipy.sparse

        goals_of = possible_goals(world)
        everybodys = {goal for agent_goals in goals_of.values() for goal in agent_goals}
        return [
            [
                RationalAgent(world, agent, goal, beta, lapse=lapse)
                for goal in all_goals
                if goal in goals_of[agent] or goal not in everybodys
            ]
            for agent in world.agents
        ]
    cook = partial(
        Cook, OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items), beta=beta, lapse=lapse
    )
    return [[cook(i, recipe, particle=k) for k, recipe in product(range(particles), all_goals)] for i in agents]


def draw(history: Sequence[Row], labels: Mapping[Hashable, GoalLabel], path: Path) -> None:
    """Draw P(goal) over time with surprising actions, a panel for each agent, as .svg, .png or .pdf.

    Raises InputError for other kinds of files, and if the file cannot be written.
    """
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise InputError("pictures are .svg, .png or .pdf, pages .html", path=path)
    from matplotlib.figure import Figure  # slow to import, and not needed without a picture

    agents = list(history[0]["posterior"])
    figure = Figure(figsize=(6.4, 2.2 * len(agents) + 0.4), layout="constrained")
    panels = figure.subplots(len(agents), 1, sharex=True, squeeze=False)[:, 0]
    for axes, agent in zip(panels, agents, strict=True):
        curves = (*labels.values(), GoalLabel(NONE_OF_THESE, NONE_COLOUR))
        for label in (label for label in curves if label.name in history[0]["posterior"][agent]):
            line = [row["posterior"][agent][label.name] for row in history]
            axes.plot(line, label=label.name, color=label.colour, marker=".", markersize=4)
        for row in history:
            if words := surprise_in_words(row["surprise"].get(agent, 0.0)):
                axes.axvline(row["t"], color=NONE_COLOUR, linestyle=":", linewidth=1)
                axes.text(row["t"], 0.5, f" {words}", fontsize="x-small", color=NONE_COLOUR)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set(ylim=(-0.03, 1.03), ylabel="P(goal)", title=agent)
    panels[-1].set_xlabel("step")
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    figure.legend(handles=panels[0].lines, loc="outside lower center", ncols=4, frameon=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a glyph missing from the font is no reason to stop
        save(path, lambda file: figure.savefig(file, format=path.suffix[1:]))


def walk_page(name: str, walks: Mapping[str, tuple[Any, Steps]], history: Sequence[Row]) -> str:
    """A page to step through walks: the map, P(goal) and surprising actions, a section for each world of `walks`."""
    from otherminds.reports.moving_picture import Scene  # not needed without a page
    from otherminds.reports.page import Section, page
    from otherminds.reports.scene_replay import scene_replay

    sections = []
    for agent, (world, steps) in walks.items():
        rows = history[: len(steps) + 1]
        states = [*(step.state for step in steps), *(step.after for step in steps[-1:])]
        scenes = [
            Scene(state, {a: _belief(row["posterior"][a]) for a in world.agents}, _surprises(row, world.agents))
            for state, row in zip(states, rows, strict=True)
        ]
        actions = [{a: row["joint"][a] for a in world.agents} for row in rows[:-1]]
        replay = scene_replay(WorldLevel(name, world, len(steps)), scenes, actions, str, {})
        sections.append(Section(agent or "Step by step", replay))
    return page(f"What was wanted: {name}", "Posteriors over goals, step by step.", sections)


def _belief(probabilities: Mapping[str, float]) -> Categorical[Hashable]:
    """A distribution over the names of goals."""
    return Categorical.from_scores((name, math.log(p) if p else IMPOSSIBLE) for name, p in probabilities.items())


def _surprises(row: Row, agents: Sequence[str]) -> str:
    """The surprising actions of a step in words, after its number; empty if there is none."""
    words = [f"{agent} is {text}" for agent in agents if (text := surprise_in_words(row["surprise"].get(agent, 0.0)))]
    return f"{row['t']}: {', '.join(words)}" if words else ""

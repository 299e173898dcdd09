"""`otherminds infer`: posteriors over goals for a trajectory that the user provides, in either world."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.errors import InputError
from otherminds.mind import NONE_OF_THESE, GoalDirected
from otherminds.observer import attend, surprise_in_words
from otherminds.papers.protom.facilitator import NONE_PRIOR, SWITCH_RATE, with_none_of_these
from otherminds.papers.protom.trajectories import SpelledWorld, read_steps
from otherminds.world import Step
from otherminds.worlds.canvas import save
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.drawing import recipe_mark
from otherminds.worlds.overcooked.planner import OvercookedPlanner
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.sprites import hue

PARTICLES = 20  # sampled beliefs per recipe in a kitchen; chosen, not tuned (the facilitator has 5)

NONE_COLOUR = "#777777"

Row = dict[str, Any]
Steps = Sequence[Step[Any, Any]]


class GoalLabel(NamedTuple):
    """The name of a goal, and the colour of its curve."""

    name: str
    colour: str


def read_all(paths: Sequence[Path], world: SpelledWorld) -> list[Step[Any, Any]]:
    """The steps of several files, each of which continues where the one before ended.

    Raises InputError, also for a file without a step.
    """
    steps: list[Step[Any, Any]] = []
    for path in paths:
        more = read_steps(path, world, start=steps[-1].after if steps else None)
        if not more:
            raise InputError("is empty: nobody does anything", path=path, hint="`watch --save` writes trajectories")
        steps += more
    return steps


def posteriors(
    world: SpelledWorld,
    steps: Steps,
    *,
    beta: float,
    lapse: float,
    leak: float,
    particles: int = PARTICLES,
    none_prior: float | None = None,
    switch_rate: float = SWITCH_RATE,
) -> list[Row]:
    """P(goal) of each agent before each step and after the last: rows with `t`, `joint`, `posterior` and `surprise`.

    `none_prior` is the prior probability that an agent has none of the goals (None: as ProToM has it in this world),
    `switch_rate` that of changing its goal at a step. The surprise at its action is in nats, 0 on average if the agent
    acts as it is expected to. In kitchens, which agents see only in part, each recipe has `particles` sampled beliefs
    of equal weight (ProToM eq. 9). Raises InputError if there is no possible goal, or if none of the minds could have
    acted as an agent did.
    """
    labels = goals(world)
    if not labels:
        raise InputError("there is no gem that anybody could want")
    if none_prior is None:
        none_prior = _none_prior(world)
    rules: Any = world  # what it shows belongs to its own states
    watchers = {
        agent: replace(with_none_of_these(minds, none_prior, switch_rate), decay=1.0 - leak).see(
            rules.observe(rules.initial, agent)
        )
        for agent, minds in zip(world.agents, _minds(world, list(labels), beta, lapse, particles), strict=True)
    }
    watched = [watchers]
    try:
        for step in steps:
            updated = attend(rules, watchers, step.joint, step.after)
            watchers = {agent: observer.equalise(lambda mind: mind.particle) for agent, observer in updated.items()}
            watched.append(watchers)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error), hint="with a lapse above 0 anybody could do anything") from None
    joints: list[Mapping[str, Any]] = [*(step.joint for step in steps), {}]
    rows: list[Row] = []
    names = {goal: label.name for goal, label in labels.items()} | {NONE_OF_THESE: NONE_OF_THESE}
    for t, (observers, joint) in enumerate(zip(watched, joints, strict=True)):
        words = {a: world.spell(joint[a]) for a in world.agents if joint}
        posterior = {a: {names[goal]: p for goal, p in o.ask(lambda mind: mind.goal)} for a, o in observers.items()}
        surprise = {a: observers[a].surprise(action) for a, action in joint.items()}
        rows.append({"t": t, "joint": words, "posterior": posterior, "surprise": surprise})
    return rows


def _none_prior(world: SpelledWorld) -> float:
    """P(none of the goals) of a person before anything is seen, as ProToM has it in this world."""
    if isinstance(world, Overcooked):
        from otherminds.papers.protom.overcooked import SETTINGS  # imports all that experiments need

        return SETTINGS.prior
    return NONE_PRIOR


def goals(world: SpelledWorld) -> dict[Hashable, GoalLabel]:
    """The possible goals: gems, named by colour, or by name where a colour is not unique; or possible recipes."""
    if isinstance(world, Overcooked):
        from otherminds.papers.protom.overcooked import possible_recipes  # imports all that experiments need

        return {recipe: GoalLabel(recipe, recipe_mark(recipe)[1]) for recipe in possible_recipes(world)}
    colours = [gem.colour for gem in world.gems]
    return {
        Goal("gem", k): GoalLabel(gem.colour if colours.count(gem.colour) == 1 else gem.name, hue(gem.colour))
        for k, gem in enumerate(world.gems)
    }


def _minds(
    world: SpelledWorld, possible_goals: Sequence[Any], beta: float, lapse: float, particles: int
) -> Sequence[Sequence[GoalDirected[Any]]]:
    """For each agent, its possible minds: one for each goal and, in kitchens, each sampled belief."""
    agents = range(len(world.agents))
    if isinstance(world, DoorsKeysGems):
        planner = DoorsKeysGemsPlanner(world)
        return [[Seeker(planner, i, goal, beta=beta, lapse=lapse) for goal in possible_goals] for i in agents]
    cook = partial(
        Cook, OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items), beta=beta, lapse=lapse
    )
    return [[cook(i, recipe, particle=k) for k, recipe in product(range(particles), possible_goals)] for i in agents]


def draw(history: Sequence[Row], world: SpelledWorld, path: Path) -> None:
    """Draw P(goal) over time with surprising actions, a panel for each agent, as .svg, .png or .pdf.

    Raises InputError for other kinds of files, and if the file cannot be written.
    """
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise InputError("pictures are .svg, .png or .pdf", path=path)
    from matplotlib.figure import Figure  # slow to import, and not needed without a picture

    figure = Figure(figsize=(6.4, 2.2 * len(world.agents) + 0.4), layout="constrained")
    panels = figure.subplots(len(world.agents), 1, sharex=True, squeeze=False)[:, 0]
    for axes, agent in zip(panels, world.agents, strict=True):
        for label in (*goals(world).values(), GoalLabel(NONE_OF_THESE, NONE_COLOUR)):
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

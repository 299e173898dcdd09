"""Worlds in the terminal: maps in colour, beliefs about goals as bars, and messages."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from otherminds.distribution import Categorical
from otherminds.files.text import printable
from otherminds.mind import NONE_OF_THESE, NoneOfThese
from otherminds.observer import SURPRISING, Observer, surprise_in_words
from otherminds.reports.terminal.tables import plain_table
from otherminds.worlds import own_world, text_grid
from otherminds.worlds.canvas import DIM, Drawing, Tile
from otherminds.worlds.collaborative_cooking import drawing as cooking_drawing
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.doors_keys_gems import drawing as doors_keys_gems_drawing
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.in_the_matrix import drawing as matrix_drawing
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.overcooked import drawing as overcooked_drawing
from otherminds.worlds.overcooked.kitchen import parts
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.own_world import goal_colours
from otherminds.worlds.sprites import hue, labels
from otherminds.worlds.text_grid import TextGrid


class WorldDrawing(Protocol):
    """A module that draws the states of a world."""

    LEGEND: str
    """The meaning of the signs on maps in a terminal; empty if they speak for themselves."""

    def draw(self, world: Any, state: Any, *, seen_by: str | None = None) -> Drawing:
        """The picture of a state, all of it or what one agent sees."""

    def text_map(self, world: Any, state: Any, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
        """The rows of a map for a terminal."""


DRAWINGS: Mapping[type, WorldDrawing] = {
    DoorsKeysGems: doors_keys_gems_drawing,
    Overcooked: overcooked_drawing,
    InTheMatrix: matrix_drawing,
    CollaborativeCooking: cooking_drawing,
    TextGrid: text_grid,
}


def drawing_of(world: object) -> WorldDrawing:
    """The module that draws the states of a world, which a world of the user's may do itself."""
    return DRAWINGS.get(type(world), own_world)


def picture(world: object, state: Any, seen_by: str | None = None) -> Text:
    """The map in colours; all of it or what one agent sees, which is everything in Doors-Keys-Gems."""
    return Text("\n").join(Text.assemble(*row) for row in drawing_of(world).text_map(world, state, seen_by))


# Beliefs about goals


def bars(
    world: Any, i: int, belief: Categorical[Any], title: str, surprise: float = 0.0, truth: Hashable = None
) -> RenderableType:
    """P(goal) of one agent as bars, and whether its last action was surprising; a star marks its true goal.

    `truth` is the true goal in a world that does not say.
    """
    grid = Table.grid(padding=(0, 1))
    length = 12 if isinstance(world, Overcooked) else 24  # characters of the bar of P = 1; beside wider maps shorter
    if isinstance(world, Overcooked):
        truth = world.recipes[i]
    elif isinstance(world, DoorsKeysGems):
        truth = Goal("gem", world.goals[i])
    for goal, p in belief:
        name, style = _goal_name_and_style(world, goal)
        bar = Text(("█" * round(p * length)).ljust(length, "░"), style=style)
        grid.add_row(f"{'★' if goal == truth else ' '} {escape(name)}", bar, f"{p:.2f}")
    if truth is not None and truth not in belief.support:
        grid.add_row(f"★ {escape(_goal_name_and_style(world, truth)[0])}", Text("unforeseen", style=DIM), "")
    panel = Panel(grid, title=Text(title), title_align="left", expand=False)
    words = surprise_in_words(surprise)
    return Group(panel, Text(f"  {words}")) if words else panel


def goal_name(world: Any, goal: Any) -> str:
    """The name of a goal: the colour of a gem, a recipe, or what a world of the user's calls it."""
    return _goal_name_and_style(world, goal)[0]


def _goal_name_and_style(world: Any, goal: Any) -> tuple[str, str]:
    """The name of a goal, and the style of its bar: its colour, or dim."""
    if goal == NONE_OF_THESE:
        return goal, DIM
    if isinstance(world, Overcooked):
        return (goal, overcooked_drawing.recipe_mark(goal)[1]) if goal else ("nothing", DIM)
    if not isinstance(world, DoorsKeysGems):
        return str(goal), goal_colours(world).get(goal, DIM)
    colour = world.gems[goal.thing].colour
    return colour, hue(colour)


def frame(
    world: Any,
    state: Any,
    beliefs: Mapping[str, Any],
    surprise: Mapping[str, float],
    messages: Iterable[str],
    caption: str,
    truths: Mapping[str, Hashable] = {},
    insights: Iterable[str] = (),
) -> RenderableType:
    """One step of an episode: the map, the beliefs about each agent's goal, surprises, insights, and messages.

    Beliefs have the agent's label and name as a title and, in kitchens, the thing that it carries. `truths` are the
    agents' goals in a world that does not say.
    """
    titles = [f"{label} {agent}" for agent, label in labels(world.agents).items()]
    if isinstance(world, Overcooked):
        loads = (", ".join(parts(thing)) for thing in state.hands)
        titles = [f"{title}: {load}" if load else title for title, load in zip(titles, loads, strict=True)]
    panels = [
        bars(world, i, beliefs[a], titles[i], surprise.get(a, 0.0), truths.get(a))
        for i, a in enumerate(world.agents)
        if a in beliefs
    ]
    map_panel = Panel(picture(world, state), title=Text(printable(caption)), title_align="left", expand=False)
    lines = [Text(f"! {words}", style="italic") for words in insights]
    lines += [Text(f"» {words}", style="bold") for words in messages]
    return Group(Columns([map_panel, Group(*panels)]), *lines)


def insight(
    world: Any, agent: str, belief: Categorical[Any], watchers: Mapping[str, Observer[Any]], joint: Mapping[str, Any]
) -> str:
    """What the agent is understood to want, and by which action: what it would have done for the next likely goal.

    `watchers` are the observers before the joint action after which this is the belief.
    """
    text = f"{agent} wants {goal_name(world, belief.mode)} ({belief.prob(belief.mode):.2f})"
    if agent not in watchers:
        return text
    likely = sorted(watchers[agent].posterior, key=lambda pair: -pair[1])
    mind = next((mind for mind, _ in likely if getattr(mind, "goal", belief.mode) != belief.mode), None)
    action = joint[agent]
    if mind is None or isinstance(mind, NoneOfThese) or mind.act().mode == action:
        return text
    done, other = own_world.spell(world, action), own_world.spell(world, mind.act().mode)
    return f"{text}: {goal_name(world, mind.goal)} called for {other}, not {done}"


def posteriors(history: Sequence[Mapping[str, Any]]) -> Table:
    """What each agent did at each step, how surprising that was in nats, and the belief about its goal before it."""
    people: Mapping[str, Mapping[str, float]] = history[0]["posterior"]
    named = dict.fromkeys(name for belief in people.values() for name in belief)
    names = sorted(named, key=lambda name: name == NONE_OF_THESE)
    goals = (re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=none of) ", "\n", escape(name)) for name in names)  # OnionSalad
    t, surprise, *columns = (Column(name, justify="right") for name in ("t", "surprise", *(f"{g}?" for g in goals)))
    table = plain_table(t, "who", "did", surprise, *columns)
    for row in history:
        for n, (agent, belief) in enumerate(row["posterior"].items()):
            nats = row["surprise"].get(agent)
            surprising = "" if nats is None else f"{nats:.1f}{' !' if nats >= SURPRISING else '  '}"
            step = "" if n else str(row["t"])
            action = row["joint"].get(agent, "")
            table.add_row(
                step,
                escape(agent),
                escape(action),
                surprising,
                *(f"{belief[g]:.2f}" if g in belief else "" for g in names),
            )
    if any(nats >= SURPRISING for row in history for nats in row["surprise"].values()):
        table.caption = f"! surprising: {SURPRISING:g} nats or more"
    return table

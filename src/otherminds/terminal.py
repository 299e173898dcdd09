"""What the command line shows: maps in colour, goal posteriors as bars, tables of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from otherminds.distribution import Categorical
from otherminds.minds.locked_map import Goal
from otherminds.worlds.doors_keys_gems import DoorsKeysGems, State
from otherminds.worlds.level_files import draw_text
from otherminds.worlds.sprites import printable

Row = Mapping[str, Any]
STYLES = {
    "red": "#d55e00",
    "blue": "#0072b2",
    "yellow": "#e6c700",
    "green": "#009e73",
    "purple": "#cc79a7",
    "orange": "#e69f00",
    "cyan": "#56b4e9",
    "magenta": "#d020a0",
    "brown": "#a0662a",
    "white": "#dddddd",
}
BAR = 24
SHOWN = ("success", "speedup", "messages", "decision_ms", "r", "rmse")


def picture(world: DoorsKeysGems, state: State) -> Text:
    """The map with walls as blocks and things in their colours; a1, a2 … are the people."""
    things = {(*world.grid.xy(thing.cell),): thing.colour for thing in (*world.keys, *world.doors, *world.gems)}
    text = Text()
    for y, row in enumerate(draw_text(world, state).split("\n")):
        for x, tile in enumerate(row.split(" ")):
            text.append(*_tile(tile, things.get((x, y), "")))
        text.append("\n")
    return text[:-1]


def _tile(tile: str, colour: str) -> tuple[str, str]:
    if tile == "##":
        return "███", "grey35"
    if tile == "..":
        return " · ", "grey35"
    if tile[0] == "a":
        return f" {tile}"[-3:], "bold reverse"
    sign = {"k": "⚷", "d": "▒", "g": "◆"}[tile[0]]
    return f"{sign}{tile[1]} " if tile[0] != "d" else f"▒{tile[1]}▒", f"bold {STYLES.get(colour, 'white')}"


def bars(agent: str, belief: Categorical[Goal], world: DoorsKeysGems, truth: int | None = None) -> RenderableType:
    """P(goal) of one agent as bars; a star marks the gem it really wants."""
    grid = Table.grid(padding=(0, 1))
    for goal, p in belief:
        colour = world.gems[goal.thing].colour
        style = STYLES.get(colour, "white")
        filled = "█" * round(p * BAR)
        star = "★" if goal.thing == truth else " "
        grid.add_row(f"{star} {escape(colour)}", Text(filled.ljust(BAR, "░"), style=style), f"{p:.2f}")
    return Panel(grid, title=Text(agent), title_align="left", expand=False)


def frame(
    world: DoorsKeysGems, state: State, beliefs: Mapping[str, Any], said: Iterable[str], caption: str
) -> RenderableType:
    """One step of an episode: the map, what everybody is believed to want, and what has been said."""
    panels = [bars(a, beliefs[a], world, world.goals[i]) for i, a in enumerate(world.agents) if a in beliefs]
    map_panel = Panel(picture(world, state), title=Text(printable(caption)), title_align="left", expand=False)
    return Group(Columns([map_panel, Group(*panels)]), *(Text(f"» {words}", style="bold") for words in said))


def results(summary: Sequence[Row]) -> Table:
    """The main figures of an experiment with 95 % intervals, beside the published ones."""
    present = dict.fromkeys(row["metric"] for row in summary)
    metrics = [metric for metric in SHOWN if metric in present]
    table = Table("", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for metric in metrics:
        table.add_column(metric.removeprefix("decision_"), no_wrap=True)
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    for condition in dict.fromkeys(row["condition"] for row in summary):
        table.add_row(Text(condition.replace("_", " "), style="bold"))
        for subject in dict.fromkeys(row["subject"] for row in summary if row["condition"] == condition):
            cells = [found.get((condition, subject, metric)) for metric in metrics]
            table.add_row(f"  {subject}", *map(_cell, cells))
            if any(row and "published" in row for row in cells):
                table.add_row("    published", *map(_published, cells), style="dim")
    return table


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row["metric"] == "decision_ms":
        return f"{row['value']:.1f}"
    value, low, high = (round(row[name], 2) + 0.0 for name in ("value", "low", "high"))  # + 0.0 turns −0 into 0
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _published(row: Row | None) -> str:
    if row is None or "published" not in row:
        return ""
    bounds = f" [{row['published_low']:.2f}, {row['published_high']:.2f}]" if "published_low" in row else ""
    return f"{row['published']:.2f}{bounds}"


def scores(found: Sequence[Row]) -> Table:
    """Literal and functional scores of players with partners: means with 95 % intervals over episodes."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("partner", "player"):
        table.add_column(column)
    for column in ("predicts, %", "regret a round", "reward", "optimum", "consistent"):
        table.add_column(column, justify="right", no_wrap=True)
    by_pair: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found:
        by_pair.setdefault((row["partner"], row["player"]), {})[row["metric"]] = row
    for (partner, player), metrics in by_pair.items():
        literal, functional, reward, consistent = (
            metrics[name] for name in ("tom_percent", "functional_regret", "reward", "consistency")
        )
        figures = (_spread(literal, 1), _spread(functional, 3), f"{reward['value']:.3f}", f"{reward['optimum']:.3f}")
        table.add_row(escape(partner), escape(player), *figures, f"{consistent['value']:.2f}")
    return table


def _spread(row: Row, digits: int) -> str:
    """A value and half the width of its interval: `0.248 ± 0.006`."""
    margin = (row["high"] - row["low"]) / 2
    return f"{row['value']:.{digits}f} ± {margin:.{digits}f}"

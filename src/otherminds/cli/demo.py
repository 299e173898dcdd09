"""`otherminds demo`: two people, one facilitator, and what it reads in their minds, in twenty seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer import Option

from otherminds.cli.options import OpenOption, SeedOption

LEVEL = "garden-gate"
DELAY = 0.6  # seconds a step, so that the episode takes some fifteen
BEFORE = """Ana and Ben each want one of the gems, and do not know what the other wants. Neither do you: the bars \
show what can be read from how they walk. Doors need a key of their colour. The facilitator watches, too, and \
speaks only if that is expected to help. A star marks what each really wants.
"""


def demo(
    open_page: OpenOption = False,
    out: Annotated[Path, Option(metavar="FILE", help="The page for --open.")] = Path("otherminds-demo.html"),
    seed: SeedOption = 42,
    delay: Annotated[float, Option(min=0.0, max=10.0, metavar="X", help="Seconds between steps.")] = DELAY,
) -> None:
    """Watch two minds being read, in twenty seconds.

    Example: otherminds demo --open
    """
    from otherminds.cli.levels import load_level, write
    from otherminds.cli.lists import open_in_browser
    from otherminds.cli.watch import episode, show

    console, level, steps = Console(), load_level(LEVEL), list[Any]()
    console.print(BEFORE, highlight=False)
    facilitated_episode = episode(level, "protom", seed)
    messages = show(facilitated_episode, level, delay if console.is_terminal else 0.0, steps, [])
    alone = sum(1 for _ in episode(level, "none", seed))
    if messages and alone > len(steps):
        comparison = f"\nWithout the facilitator, the same two people need {alone} steps instead of {len(steps)}."
        console.print(comparison, style="bold", highlight=False)
    if open_page:
        write(out, demo_page(seed))
        typer.echo(f"\nThe same with every step, posterior and message: {out}")
        open_in_browser(out)
    else:
        console.print("\nIn the browser, step by step: otherminds demo --open", highlight=False)
    console.print("Another level: otherminds watch locked-in     All commands: otherminds --help", highlight=False)


def demo_page(seed: int) -> str:
    """The level with and without facilitators, as a page with a replay."""
    from otherminds.cli.levels import load_level
    from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
    from otherminds.papers.protom.experiment import PlannedEpisode
    from otherminds.reports.level_replay import replays
    from otherminds.reports.page import Section, page

    level = load_level(LEVEL)
    entries = [PlannedEpisode(level, name, level.kind, seed) for name in ("protom", "none")]
    episode_rows = [row for entry in entries for row in DOORS_KEYS_GEMS.rows(entry)]
    lead = "Two people, each after a gem, and a facilitator that reads their minds and speaks only when it helps."
    return page("otherminds: a demonstration", lead, [Section("Step by step", replays({LEVEL: level}, episode_rows))])

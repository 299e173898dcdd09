"""`otherminds watch` and `infer`: simulated people with a facilitator, and goals inferred from a trajectory."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.live import Live
from typer import Argument, Option

from otherminds.cli.levels import load_level, try_to_write, write
from otherminds.cli.lists import offer_levels
from otherminds.cli.options import ChosenLevel, JsonOption, LevelArgument, SeedOption
from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.papers.protom.episodes import FacilitatedEpisode
    from otherminds.reports.moving_picture import Scene
    from otherminds.world import Step
    from otherminds.worlds.doors_keys_gems.level_files import Level
    from otherminds.worlds.overcooked.level_files import KitchenLevel


Helper = Literal["none", "random", "oracle", "protom", "protom_at_once", "protom_paper"]
SHOWN = 3
"""The latest messages that stay on the screen."""


def episode(level: Level | KitchenLevel, helper: str, seed: int) -> FacilitatedEpisode[Any, Any, Any]:
    """An episode ready to be watched. Raises InputError if the level has no goals, or its world no such facilitator."""
    from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
    from otherminds.papers.protom.experiment import PlannedEpisode
    from otherminds.papers.protom.overcooked import OVERCOOKED
    from otherminds.worlds.doors_keys_gems.level_files import Level
    from otherminds.worlds.overcooked.level_files import KitchenLevel

    if isinstance(level, Level) and min(level.world.goals) < 0:
        raise InputError(f"{level.name} does not say what everybody wants", hint="watch needs a goal for each agent")
    world = OVERCOOKED if isinstance(level, KitchenLevel) else DOORS_KEYS_GEMS
    if helper not in ("none", "random", *world.variants):
        raise InputError(f"there is no facilitator `{helper}` for kitchens", hint="it is for Doors-Keys-Gems only")
    return world.episode(PlannedEpisode(level, helper, level.kind, seed))


def drawn(level: Level | KitchenLevel, scenes: Sequence[Scene]) -> str:
    """The moving picture of what was shown."""
    from otherminds.reports.moving_picture import moving_picture
    from otherminds.reports.terminal.screens import goal_name

    return moving_picture(level, scenes, lambda goal: goal_name(level.world, goal))


def show(
    facilitated_episode: FacilitatedEpisode[Any, Any, Any],
    level: Level | KitchenLevel,
    delay: float,
    steps: list[Step[Any, Any]],
    scenes: list[Scene],
) -> int:
    """Play an episode on the console, live if it is a terminal.

    Appends every step to `steps` and every scene to `scenes` as it is played. Returns the number of messages.
    """
    from otherminds.evaluation.progress import patiently, telling
    from otherminds.reports.moving_picture import Scene
    from otherminds.reports.terminal import screens
    from otherminds.world import Step

    console, sent_messages, surprise = Console(), list[tuple[Hashable, str]](), dict[str, float]()
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None

    def display(state: Any, beliefs: Mapping[str, Any], when: str, seconds: float) -> None:
        words, caption = [text for _, text in sent_messages[-SHOWN:]], f"{level.name}, {when}"
        scenes.append(Scene(state, beliefs, words[-1] if words else ""))
        frame = screens.frame(level.world, state, beliefs, surprise, words, caption)
        if live is None:
            console.print(frame)
        else:
            live.update(frame, refresh=True)
            time.sleep(seconds)

    with telling(), live or nullcontext():
        for t, moment in enumerate(patiently(facilitated_episode, "planning")):
            _follow_up(sent_messages, moment.statuses)
            if moment.decision.message is not None:
                sent_messages.append((moment.decision.message, f"{t}: {moment.decision.words}"))
            steps.append(Step(moment.state, moment.joint, moment.after))
            display(moment.state, moment.beliefs, f"step {t}", delay)
            surprise = dict(moment.surprise)
        _follow_up(sent_messages, facilitated_episode.statuses)
        last = steps[-1].after if steps else level.world.initial
        display(last, facilitated_episode.facilitator.beliefs(), "the end", 0.0)
    done = facilitated_episode.world.done(last)
    console.print(f"{'Everybody succeeded' if done else 'Not everybody succeeded'} after {len(steps)} steps.")
    return len(sent_messages)


def _follow_up(sent_messages: list[tuple[Hashable, str]], statuses: Mapping[Any, str]) -> None:
    """Append to messages how they ended."""
    for message, status in statuses.items():
        if status != "running":
            k = max(k for k, (earlier, _) in enumerate(sent_messages) if earlier == message)
            sent_messages[k] = message, f"{sent_messages[k][1]} [{status}]"


def watch(
    level: ChosenLevel = None,
    facilitator: Annotated[
        Helper, Option(metavar="NAME", help="none, random, oracle, protom, protom_at_once (maps only), protom_paper.")
    ] = "protom",
    seed: SeedOption = 42,
    delay: Annotated[float, Option(min=0.0, max=10.0, metavar="X", help="Seconds between steps.")] = 0.4,
    save: Annotated[
        Path | None, Option(metavar="FILE", help="Write what happens (.jsonl), or a moving picture (.svg).")
    ] = None,
) -> None:
    """Watch simulated people and a facilitator, live in the terminal.

    Interrupted, it saves what was played so far.

    Example: otherminds watch locked-in --delay 0.2
    """
    from otherminds.evaluation.progress import noted
    from otherminds.papers.protom.trajectories import write_trajectory
    from otherminds.reports.moving_picture import Scene
    from otherminds.world import Step

    if level is None:
        offer_levels("watch")
        return
    with noted("preparing"):
        loaded_level = load_level(level)
        facilitated_episode = episode(loaded_level, facilitator, seed)
    steps, scenes = list[Step[Any, Any]](), list[Scene]()
    if save:
        try_to_write(save)
    try:
        show(facilitated_episode, loaded_level, delay, steps, scenes)
    finally:
        if save and steps:
            picture = save.suffix == ".svg"
            write(save, drawn(loaded_level, scenes) if picture else write_trajectory(loaded_level.world, steps))


def infer(
    level: LevelArgument,
    trajectory: Annotated[
        list[Path],
        Argument(metavar="TRAJECTORY...", help="What happened (.csv, .jsonl, .plan); each goes on from the last."),
    ],
    form: Annotated[
        Literal["table", "picture"], Option("--format", metavar="FORMAT", help="table or picture.")
    ] = "table",
    as_json: JsonOption = False,
    out: Annotated[Path, Option(metavar="FILE", help="The picture.")] = Path("posterior.svg"),
    beta: Annotated[float, Option(min=0.0, metavar="X", help="Rationality β.")] = 3.0,
    lapse: Annotated[float, Option(min=0.0, max=1.0, metavar="X", help="How often acts are random.")] = 0.05,
    leak: Annotated[float, Option(min=0.0, max=1.0, metavar="X", help="Old evidence lost a step.")] = 0.0,
    particles: Annotated[int, Option(min=1, max=1000, metavar="N", help="Imagined beliefs (kitchens).")] = 20,
) -> None:
    """Infer from a trajectory what everybody wants, step by step.

    By hand, write a table with the columns step, agent and action (walk.csv); `watch --save` writes .jsonl.

    Example: otherminds infer locked-in walk.csv
    """
    from otherminds.evaluation.progress import noted
    from otherminds.papers.protom.goal_inference import draw, posteriors, read_all
    from otherminds.papers.protom.trajectories import STAY
    from otherminds.reports.terminal import screens

    with noted("inferring"):
        loaded_level = load_level(level)
        steps = read_all(trajectory, loaded_level.world)
        history = posteriors(loaded_level.world, steps, beta=beta, lapse=lapse, leak=leak, particles=particles)
    if form == "picture":
        draw(history, loaded_level.world, out)
        typer.echo(f"Picture: {out}")
    elif as_json:
        typer.echo(json.dumps(history, ensure_ascii=False))
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(screens.posteriors(history))
        for agent in loaded_level.world.agents:
            if all(loaded_level.world.spell(step.joint[agent]) == STAY for step in steps):
                warning = f"{agent} only stays; if nobody watched {agent}, this says nothing about {agent}."
                console.print(warning, markup=False, highlight=False)

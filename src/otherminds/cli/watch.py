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

from otherminds.cli.levels import blaming, load_world, try_to_write, write
from otherminds.cli.lists import offer_levels
from otherminds.cli.options import ChosenLevel, JsonOption, LevelArgument, SeedOption
from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.observer import Observer
    from otherminds.papers.protom.episodes import FacilitatedEpisode
    from otherminds.reports.moving_picture import Scene
    from otherminds.world import Step
    from otherminds.worlds.map_file import WorldLevel

Helper = Literal["none", "random", "oracle", "protom", "protom_at_once", "protom_paper"]
SHOWN = 3  # the latest messages that stay on the screen; chosen
SURE = 0.85  # the probability from which a goal is said to be understood, as in stated reasons; chosen
READING = 5  # times as long as others a step is shown in which something is understood; chosen


def episode(level: WorldLevel[Any], helper: str, seed: int) -> FacilitatedEpisode[Any, Any, Any]:
    """An episode ready to be watched. Raises InputError if the level has no goals, or its world no such facilitator."""
    from otherminds.worlds.doors_keys_gems.level_files import Level
    from otherminds.worlds.overcooked.level_files import KitchenLevel

    if not isinstance(level, Level | KitchenLevel):
        from otherminds.papers.protom.own_worlds import own_episode

        return own_episode(level, helper, seed)
    from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
    from otherminds.papers.protom.experiment import PlannedEpisode
    from otherminds.papers.protom.overcooked import OVERCOOKED

    if isinstance(level, Level) and min(level.world.goals) < 0:
        raise InputError(f"{level.name} does not say what everybody wants", hint="watch needs a goal for each agent")
    world = OVERCOOKED if isinstance(level, KitchenLevel) else DOORS_KEYS_GEMS
    if helper not in ("none", "random", *world.variants):
        raise InputError(f"there is no facilitator `{helper}` for kitchens", hint="it is for Doors-Keys-Gems only")
    return world.episode(PlannedEpisode(level, helper, level.kind, seed))


def drawn(
    level: WorldLevel[Any],
    scenes: Sequence[Scene],
    steps: Sequence[Step[Any, Any]],
    truths: Mapping[str, Any],
    kind: str,
) -> str:
    """What was shown as a moving picture (.svg), a page to step through it (.html), or lines that `infer` reads."""
    from otherminds.papers.protom.trajectories import SpelledWorld, write_trajectory
    from otherminds.papers.protom.walks import write_walk
    from otherminds.reports.moving_picture import moving_picture
    from otherminds.reports.page import Section, page
    from otherminds.reports.scene_replay import scene_replay
    from otherminds.reports.terminal.screens import goal_name
    from otherminds.worlds.own_world import spell

    world = level.world

    def name_of(goal: Hashable) -> str:
        return goal_name(world, goal)

    if kind == ".svg":
        return moving_picture(level, scenes, name_of)
    if kind == ".html":
        actions = [{agent: spell(world, action) for agent, action in step.joint.items()} for step in steps]
        replay = scene_replay(level, scenes, actions, name_of, truths)
        return page(f"otherminds: {level.name}", "", [Section("Step by step", replay)])
    return write_trajectory(world, steps) if isinstance(world, SpelledWorld) else write_walk(world, steps)


def show(
    facilitated_episode: FacilitatedEpisode[Any, Any, Any],
    level: WorldLevel[Any],
    delay: float,
    steps: list[Step[Any, Any]],
    scenes: list[Scene],
) -> int:
    """Play an episode on the console, live if it is a terminal.

    Appends every step to `steps` and every scene to `scenes` as it is played. Returns the number of messages.
    """
    import numpy as np

    from otherminds.evaluation.progress import patiently, telling
    from otherminds.reports.moving_picture import Scene
    from otherminds.reports.terminal import screens
    from otherminds.world import Step

    console, sent_messages, surprise = Console(), list[tuple[Hashable, str]](), dict[str, float]()
    truths = {agent: mind.goal for agent, mind in facilitated_episode.minds.items()}
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None

    understood = set[str]()  # agents whose goal is known by now
    watched: tuple[Mapping[str, Observer[Any]], Mapping[str, Any]] = {}, {}  # observers, and what they saw done next

    def insights(beliefs: Mapping[str, Any]) -> list[str]:
        """What has just been understood, and why."""
        names = [
            agent for agent, belief in beliefs.items() if belief.prob(belief.mode) >= SURE and agent not in understood
        ]
        understood.update(names)
        return [screens.insight(level.world, agent, beliefs[agent], *watched) for agent in names]

    def display(state: Any, beliefs: Mapping[str, Any], when: str, seconds: float) -> None:
        words, caption = [text for _, text in sent_messages[-SHOWN:]], f"{level.name}, {when}"
        scenes.append(Scene(state, beliefs, words[-1] if words else ""))
        new = insights(beliefs)
        frame = screens.frame(level.world, state, beliefs, surprise, words, caption, truths, new)
        if live is None:
            console.print(frame)
        else:
            live.update(frame, refresh=True)
            time.sleep(seconds * (READING if new else 1))

    with telling(), live or nullcontext():
        for t, moment in enumerate(patiently(facilitated_episode, "planning")):
            if all(mind.reached for mind in facilitated_episode.minds.values()):
                break  # a world of the user's need not be done
            _follow_up(sent_messages, moment.statuses)
            if moment.decision.message is not None:
                sent_messages.append((moment.decision.message, f"{t}: {moment.decision.words}"))
            steps.append(Step(moment.state, moment.joint, moment.after))
            display(moment.state, moment.beliefs, f"step {t}", delay)
            surprise = dict(moment.surprise)
            watched = getattr(facilitated_episode.facilitator, "watchers", {}), moment.joint
        _follow_up(sent_messages, facilitated_episode.statuses)
        last = steps[-1].after if steps else level.world.start(np.random.default_rng(0))
        display(last, facilitated_episode.facilitator.beliefs(), "the end", 0.0)
    minds = facilitated_episode.minds.values()
    done = facilitated_episode.world.done(last) or all(mind.reached for mind in minds)
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
        Path | None, Option(metavar="FILE", help="What happens (.jsonl), a moving picture (.svg), or a page (.html).")
    ] = None,
) -> None:
    """Watch simulated people and a facilitator, live in the terminal.

    Also in a grid drawn as text, or in your own world, `module.py:Class`. Interrupted, it saves what was played so far.

    Example: otherminds watch locked-in --delay 0.2
    """
    from otherminds.evaluation.progress import noted
    from otherminds.reports.moving_picture import Scene
    from otherminds.world import Step

    if level is None:
        offer_levels("watch")
        return
    with noted("preparing"), blaming(level):
        loaded_level = load_world(level)
        facilitated_episode = episode(loaded_level, facilitator, seed)
    truths = {agent: mind.goal for agent, mind in facilitated_episode.minds.items()}
    steps, scenes = list[Step[Any, Any]](), list[Scene]()
    if save:
        try_to_write(save)
    try:
        with blaming(level):
            show(facilitated_episode, loaded_level, delay, steps, scenes)
    finally:
        if save and steps:
            write(save, drawn(loaded_level, scenes, steps, truths, save.suffix))


def infer(
    level: LevelArgument,
    trajectory: Annotated[
        list[Path],
        Argument(metavar="TRAJECTORY...", help="What happened (.csv, .jsonl, .plan); each goes on from the last."),
    ],
    goal: Annotated[
        list[str] | None,
        Option(metavar="GOAL", help="A goal of a grid or of your own world: a name, or a cell as 3,4."),
    ] = None,
    form: Annotated[
        Literal["table", "picture"], Option("--format", metavar="FORMAT", help="table or picture.")
    ] = "table",
    as_json: JsonOption = False,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="A picture (.svg, .png, .pdf), or a page (.html). [posterior.svg]")
    ] = None,
    beta: Annotated[float, Option(min=0.0, metavar="X", help="Rationality β.")] = 3.0,
    lapse: Annotated[float, Option(min=0.0, max=1.0, metavar="X", help="How often acts are random.")] = 0.05,
    leak: Annotated[float, Option(min=0.0, max=1.0, metavar="X", help="Old evidence lost a step.")] = 0.0,
    particles: Annotated[int, Option(min=1, max=1000, metavar="N", help="Imagined beliefs (kitchens).")] = 20,
) -> None:
    """Infer from a trajectory what everybody wants, step by step.

    By hand, write a table with the columns step, agent and action (walk.csv); `watch --save` writes .jsonl. In a grid
    drawn as text (maze.txt) write x and y; in your own world, `module.py:Class`, actions, states or both.

    Example: otherminds infer locked-in walk.csv
    """
    from otherminds.evaluation.progress import noted
    from otherminds.papers.protom.goal_inference import draw, listed_goals, posteriors_of_all, read_all, walk_page

    with noted("inferring"), blaming(level):
        walks = read_all(trajectory, load_world(level).world)
        labels = listed_goals(next(iter(walks.values()))[0], goal or ())
        settings = {"beta": beta, "lapse": lapse, "leak": leak, "particles": particles}
        history = posteriors_of_all(walks, labels=labels, **settings)
    if out and out.suffix == ".html":
        write(out, walk_page(Path(level).stem, walks, history))
        typer.echo(f"Page: {out}")
    elif out or form == "picture":
        picture = out or Path("posterior.svg")
        draw(history, labels, picture)
        typer.echo(f"Picture: {picture}")
    elif as_json:
        typer.echo(json.dumps(history, ensure_ascii=False))
    else:
        _print_posteriors(history)


def _print_posteriors(history: Sequence[Mapping[str, Any]]) -> None:
    """Print posteriors as a table, with a warning for each agent that only stays."""
    from otherminds.papers.protom.trajectories import STAY
    from otherminds.reports.terminal import screens

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(screens.posteriors(history))
    for agent in history[0]["posterior"]:
        if all(row["joint"].get(agent, STAY) == STAY for row in history):
            warning = f"{agent} only stays; if nobody watched {agent}, this says nothing about {agent}."
            console.print(warning, markup=False, highlight=False)

"""The command line: `otherminds reproduce`, `play`, `watch`, `infer`, `draw`, and what there is to do about levels."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from otherminds import __version__
from otherminds.cli.asking import (
    AtOnceOption,
    BudgetOption,
    EpisodesOption,
    ModelOption,
    NamesOption,
    PicturesOption,
    PriceOption,
    PricesOption,
    ReplayOption,
    ShuffleOption,
    StrategyOption,
    asking,
)
from otherminds.cli.check import check
from otherminds.cli.draw import draw, write
from otherminds.cli.help import Command, Group, slip
from otherminds.cli.levels import MISSED, JobsOption, LevelArgument, generate, levels, load_level, verify
from otherminds.cli.melting_pot import verify_melting_pot
from otherminds.cli.models import models
from otherminds.cli.play import SeedOption, play
from otherminds.cli.report import bound, toured
from otherminds.cli.runs import EngineOption, export, merge, parse_shard, report, reproduced, resume, runs
from otherminds.cli.serve import serve
from otherminds.cli.stories import ask, audit, generate_stories
from otherminds.errors import InputError

FINE, BAD_INPUT, INTERRUPTED = 0, 2, 3
SIGINT_CODE = 130
ASKING = "asking"
"""How threads are called that ask language models."""

# typer keeps its click to itself: the base of everything that can be wrong with a command line
UsageError: Any = typer.BadParameter.__bases__[0].__bases__[0]

WATCH, MEASURE, STORIES = "Watch and infer", "Reproduce and measure", "Stories"
LEVELS, RUNS, MODELS = "Worlds and levels", "Runs", "Models and the web app"

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="""Computational Theory of Mind: watch agents, infer what they want, use it.

Example: otherminds watch locked-in
Example: otherminds reproduce protom-dkg --quick
Example: otherminds ask story.txt --question "Where will Sally look?"

Commands, each of which tells more with --help:""",
)


class Format(StrEnum):
    """How to show posteriors."""

    table = "table"
    json = "json"
    picture = "picture"


class Helper(StrEnum):
    """Who looks on."""

    none = "none"
    random = "random"
    oracle = "oracle"
    protom = "protom"
    protom_lookahead = "protom_lookahead"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"otherminds {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="protom-dkg, protom-overcooked, functional, mumatom, melting-pot, hypothetical, study, dkg-human or "
            "all.",
        ),
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="The smallest run that says something.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Everything, held-out levels too.")] = False,
    seed: SeedOption = 42,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Default: runs/NAME-TIME.")] = None,
    jobs: JobsOption = 1,
    engine: EngineOption = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Every Nth episode only, from the Ith on; see merge.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Data for dkg-human, mumatom, functional or study."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 if a stated target is missed.")] = False,
    model: ModelOption = None,
    strategy: StrategyOption = None,
    names_of_actions: NamesOption = None,
    shuffle: ShuffleOption = "none",
    episodes: EpisodesOption = 1,
    price: PriceOption = None,
    prices: PricesOption = None,
    budget: BudgetOption = None,
    replay: ReplayOption = None,
    at_once: AtOnceOption = 4,
    pictures: PicturesOption = False,
    scenario: Annotated[
        str | None, typer.Option(metavar="ID", help="hypothetical: only this one, as rws_repeated_4.")
    ] = None,
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="hypothetical: as programs, or HM with --model; repeatable.",
        ),
    ] = None,
) -> None:
    """Reproduce a paper's experiment beside its published figures.

    Example: otherminds reproduce protom-dkg --quick
    """
    from otherminds.reports.results import Results, verdicts
    from otherminds.reproduce.run import Options, names

    if quick and full:
        raise InputError("--quick and --full exclude each other")
    part = parse_shard(shard) if shard is not None else (1, 1)
    console, found = Console(), dict[str, Results]()
    scale = "quick" if quick else "full" if full else "normal"
    chosen = names(name, data, bool(model))
    how = (strategy, names_of_actions, shuffle, episodes, price, budget, replay, at_once, pictures, prices)
    spoken = asking(model, *how) if model else None
    root = out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for experiment in chosen:
        folder = root if len(chosen) == 1 else root / experiment
        about = (folder, seed, scale, jobs, data, spoken, scenario, tuple(agents or ()), engine, part)
        if results := reproduced(experiment, Options(*about), console, check=check):
            found[experiment] = results
    if 1 < len(chosen) == len(found):
        bound(root, found | ({} if model else toured(root, seed, console)), console)
    if check and not all(met for results in found.values() for *_, met in verdicts(results.summary)):
        raise typer.Exit(MISSED)


def watch(
    level: LevelArgument,
    facilitator: Annotated[
        Helper, typer.Option(metavar="NAME", help="none, random, oracle, protom, protom_lookahead.")
    ] = Helper.protom,
    seed: SeedOption = 42,
    delay: Annotated[float, typer.Option(min=0.0, max=10.0, metavar="X", help="Seconds between steps.")] = 0.4,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what happens (.jsonl).")] = None,
) -> None:
    """Watch simulated people and a facilitator, live in the terminal.

    Example: otherminds watch locked-in --delay 0.2
    """
    from otherminds.cli.watch import episode, show
    from otherminds.papers.protom.trajectories import write_trajectory

    found = load_level(level)
    played = episode(found, facilitator, seed)
    if save:
        write(save, "")
    steps = show(played, found, delay)
    if save:
        write(save, write_trajectory(found.world, steps))


def infer(
    level: LevelArgument,
    trajectory: Annotated[
        list[Path],
        typer.Argument(metavar="TRAJECTORY...", help="What happened (.jsonl, .plan); each goes on from the last."),
    ],
    form: Annotated[Format, typer.Option("--format", metavar="FORMAT", help="table, json, picture.")] = Format.table,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The picture.")] = Path("posterior.svg"),
    beta: Annotated[float, typer.Option(min=0.0, metavar="X", help="Rationality β.")] = 3.0,
    lapse: Annotated[float, typer.Option(min=0.0, max=1.0, metavar="X", help="How often acts are random.")] = 0.05,
    leak: Annotated[float, typer.Option(min=0.0, max=1.0, metavar="X", help="Old evidence lost a step.")] = 0.0,
    particles: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Imagined beliefs (kitchens).")] = 20,
) -> None:
    """Infer from a trajectory what everybody wants, step by step.

    Example: otherminds infer locked-in walk.jsonl --format json
    """
    from otherminds.papers.protom.goal_inference import draw, posteriors, read_all
    from otherminds.reports.terminal import screens

    found = load_level(level)
    steps = read_all(trajectory, found.world)
    history = posteriors(found.world, steps, beta=beta, lapse=lapse, leak=leak, particles=particles)
    if form is Format.picture:
        draw(history, found.world, out)
        typer.echo(f"Picture: {out}")
    elif form is Format.json:
        typer.echo(json.dumps(history, ensure_ascii=False))
    else:
        Console(width=None if sys.stdout.isatty() else 160).print(screens.posteriors(history))


COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    WATCH: (watch, infer),
    MEASURE: (reproduce, check, play),
    STORIES: (ask, audit),
    LEVELS: (draw, levels),
    RUNS: (runs, resume, report, export, merge),
    MODELS: (serve,),
}
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel)(command)
generate.command("stories", cls=Command)(generate_stories)
verify.command("melting-pot", cls=Command)(verify_melting_pot)
app.add_typer(generate, name="generate", rich_help_panel=LEVELS)
app.add_typer(verify, name="verify", rich_help_panel=LEVELS)
app.add_typer(models, name="models", rich_help_panel=MODELS)


def main() -> None:
    """Run the command line; bad input is told in one line, with exit code 2. Who ends it is heard like Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = _guarded(app)
    if code == INTERRUPTED and any(thread.name.startswith(ASKING) for thread in threading.enumerate()):
        # they wait for answers, as nobody else does any more
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _guarded(command: Callable[..., Any]) -> int:
    try:
        code = command(standalone_mode=False, prog_name="otherminds")
        if code == SIGINT_CODE:  # typer catches Ctrl-C itself
            raise KeyboardInterrupt
        return code if isinstance(code, int) else FINE
    except InputError as error:
        return _complain(str(error), BAD_INPUT)
    except UsageError as error:
        message = slip(error)
        return _complain(message, BAD_INPUT) if message else BAD_INPUT  # without a command, typer shows the help
    except (KeyboardInterrupt, typer.Abort):
        on = "`otherminds resume RUN` goes on with what `reproduce` and `check` have begun, see `otherminds runs`"
        return _complain(f"interrupted; {on}", INTERRUPTED)


def _complain(message: str, code: int) -> int:
    print(f"otherminds: {' '.join(message.split())}", file=sys.stderr)
    return code

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

from otherminds import __version__, terminal
from otherminds.cli_asking import (
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
from otherminds.cli_check import check
from otherminds.cli_draw import draw, write
from otherminds.cli_levels import MISSED, JobsOption, LevelArgument, generate, levels, load_level, verify
from otherminds.cli_melting_pot import verify_melting_pot
from otherminds.cli_models import models
from otherminds.cli_runs import EngineOption, export, merge, parse_shard, report, reproduced, resume, runs
from otherminds.cli_serve import serve
from otherminds.cli_stories import ask, audit, generate_stories
from otherminds.cli_train import train
from otherminds.errors import InputError

FINE, BAD_INPUT, INTERRUPTED = 0, 2, 3
SIGINT_CODE = 130
ASKING = "asking"
"""How threads are called that ask language models."""

# typer keeps its click to itself: the base of everything that can be wrong with a command line
UsageError: Any = typer.BadParameter.__bases__[0].__bases__[0]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Computational Theory of Mind: watch agents act, infer what they want, and use it.",
)
app.add_typer(generate, name="generate")
app.add_typer(verify, name="verify")
app.add_typer(models, name="models")
verify.command("melting-pot")(verify_melting_pot)


class Format(StrEnum):
    """How to show posteriors."""

    table = "table"
    json = "json"
    picture = "picture"


class Scores(StrEnum):
    """How to show scores."""

    table = "table"
    json = "json"


class Helper(StrEnum):
    """Who looks on."""

    none = "none"
    random = "random"
    oracle = "oracle"
    protom = "protom"
    protom_lookahead = "protom_lookahead"


SeedOption = Annotated[int, typer.Option(min=0, help="Seed of all randomness.")]


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


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="protom-dkg, protom-overcooked, functional, mumatom, melting-pot, hypothetical, study, dkg-human "
            "or all.",
        ),
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="The smallest run that says something.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Everything, held-out levels included.")] = False,
    seed: SeedOption = 42,
    out: Annotated[Path | None, typer.Option(help="Where to write; default runs/NAME-TIME.")] = None,
    jobs: JobsOption = 1,
    engine: EngineOption = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Play every Nth episode only, from the Ith on; see `merge`.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="A clone (dkg-human), files of MuMA-ToM, machines (functional), or an export (study)."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a stated target is missed.")] = False,
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
        str | None, typer.Option(metavar="ID", help="hypothetical: only this scenario, such as rws_repeated_4.")
    ] = None,
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="hypothetical: only this agent, such as programs; with --model HM. Repeatable.",
        ),
    ] = None,
) -> None:
    """Reproduce a paper's experiment: a table beside the published figures, and a report.

    Example: otherminds reproduce protom-dkg --seed 42
    """
    from otherminds.experiments.reproduce import Options, names

    if quick and full:
        raise InputError("--quick and --full exclude each other")
    part = parse_shard(shard) if shard is not None else (1, 1)
    console, fine = Console(), True
    scale = "quick" if quick else "full" if full else "normal"
    chosen = names(name, data, bool(model))
    how = (strategy, names_of_actions, shuffle, episodes, price, budget, replay, at_once, pictures, prices)
    spoken = asking(model, *how) if model else None
    root = out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    for experiment in chosen:
        folder = root if len(chosen) == 1 else root / experiment
        about = (folder, seed, scale, jobs, data, spoken, scenario, tuple(agents or ()), engine, part)
        fine &= reproduced(experiment, Options(*about), console, check=check)
    if check and not fine:
        raise typer.Exit(MISSED)


@app.command()
def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="rps, ibs, ipd, ordinal-001 to -144, or a payoff file.")],
    partners: Annotated[
        list[str], typer.Argument(metavar="PARTNER...", help="Partners, as tft, tft~0.05 (noise), cycle-011, random.")
    ],
    players: Annotated[
        list[str] | None, typer.Option("--player", help="Who plays; may be given again. Default: bayes_simplicity.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=10_000, help="Rounds of an episode.")] = 100,
    episodes: Annotated[int, typer.Option(min=1, max=10_000, help="Episodes with each partner.")] = 20,
    seed: SeedOption = 42,
    form: Annotated[Scores, typer.Option("--format", help="How to show the scores.")] = Scores.table,
) -> None:
    """Does a player predict its partner, and does it act on that? Scores against the exact optimum.

    Example: otherminds play ipd tft always-defect --player rmax --player bayes_simplicity
    """
    from otherminds.experiments.encounters import scores
    from otherminds.worlds.game_files import find_game

    found = scores(find_game(game), partners, players or ["bayes_simplicity"], rounds, episodes, seed)
    if form is Scores.json:
        typer.echo(json.dumps(found, ensure_ascii=False))
    else:
        Console(width=None if sys.stdout.isatty() else 120).print(terminal.scores(found))


@app.command()
def watch(
    level: LevelArgument,
    facilitator: Annotated[Helper, typer.Option(help="Who looks on.")] = Helper.protom,
    seed: SeedOption = 42,
    delay: Annotated[float, typer.Option(min=0.0, max=10.0, help="Seconds between steps.")] = 0.4,
    save: Annotated[Path | None, typer.Option(help="Write the trajectory to this file (.jsonl).")] = None,
) -> None:
    """Watch simulated people and a facilitator, live in the terminal.

    Example: otherminds watch locked-in --delay 0.2
    """
    from otherminds.cli_watch import episode, show
    from otherminds.worlds.trajectories import write_trajectory

    found = load_level(level)
    played = episode(found, facilitator, seed)
    if save:
        write(save, "")
    steps = show(played, found, delay)
    if save:
        write(save, write_trajectory(found.world, steps))


@app.command()
def infer(
    level: LevelArgument,
    trajectory: Annotated[
        list[Path], typer.Argument(help="What happened: a .jsonl trajectory or a plan; several continue one another.")
    ],
    form: Annotated[Format, typer.Option("--format", help="How to show the posteriors.")] = Format.table,
    out: Annotated[Path, typer.Option(help="The file of the picture (.svg, .png or .pdf).")] = Path("posterior.svg"),
    beta: Annotated[float, typer.Option(min=0.0, help="Rationality β.")] = 3.0,
    lapse: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of a random action.")] = 0.05,
    leak: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of old evidence lost at every step.")] = 0.0,
    particles: Annotated[int, typer.Option(min=1, max=1000, help="Beliefs imagined for each recipe (kitchens).")] = 20,
) -> None:
    """Infer from a trajectory what everybody wants, step by step.

    Example: otherminds infer locked-in walk.jsonl --format json
    """
    from otherminds import screens
    from otherminds.experiments.goal_inference import draw, posteriors, read_all

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


app.command()(draw)
app.command()(levels)
app.command()(check)
app.command()(ask)
app.command()(audit)
app.command()(train)
app.command()(serve)
for command in (runs, resume, report, export, merge):
    app.command()(command)
generate.command("stories")(generate_stories)


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
        code = command(standalone_mode=False)
        if code == SIGINT_CODE:  # typer catches Ctrl-C itself
            raise KeyboardInterrupt
        return code if isinstance(code, int) else FINE
    except InputError as error:
        return _complain(str(error), BAD_INPUT)
    except UsageError as error:
        message = error.format_message()
        return _complain(message, BAD_INPUT) if message else BAD_INPUT  # without a command, typer shows the help
    except (KeyboardInterrupt, typer.Abort):
        on = "`otherminds resume RUN` goes on with what `reproduce` and `check` have begun, see `otherminds runs`"
        return _complain(f"interrupted; {on}", INTERRUPTED)


def _complain(message: str, code: int) -> int:
    print(f"otherminds: {' '.join(message.split())}", file=sys.stderr)
    return code

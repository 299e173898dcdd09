"""The command line: `otherminds reproduce`, `play`, `watch`, `infer`, `draw`, `generate levels`, `verify levels`."""

from __future__ import annotations

import difflib
import json
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from otherminds import __version__, terminal
from otherminds.errors import InputError
from otherminds.worlds.level_files import Level, bundled_levels, read_level

FINE, MISSED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 3
SIGINT_CODE = 130

# typer keeps its click to itself: the base of everything that can be wrong with a command line
UsageError: Any = typer.BadParameter.__bases__[0].__bases__[0]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Computational Theory of Mind: watch agents act, infer what they want, and use it.",
)
generate = typer.Typer(no_args_is_help=True, help="Make new levels, with proofs of what help is worth in them.")
verify = typer.Typer(no_args_is_help=True, help="Prove again what is claimed about levels.")
app.add_typer(generate, name="generate")
app.add_typer(verify, name="verify")


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


LevelArgument = Annotated[
    str, typer.Argument(metavar="LEVEL", help="A level file, a PDDL problem, or a bundled level.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of all randomness.")]
JobsOption = Annotated[int, typer.Option(min=1, max=256, help="Processes to use.")]


def load_level(name: str) -> Level:
    """A level by path, or a bundled one by name or number. Raises InputError if there is none."""
    path = Path(name)
    if path.suffix == ".pddl":
        from otherminds.worlds.pddl import read_problem

        return read_problem(path)
    if path.suffix == ".txt" or _exists(path):
        return read_level(path)
    levels = {level.name: level for level in bundled_levels()}
    if name.isdecimal() and 1 <= int(name) <= len(levels):
        return list(levels.values())[int(name) - 1]
    if name not in levels:
        close = difflib.get_close_matches(name, levels, n=1)
        hint = f"did you mean {close[0]}?" if close else f"bundled are {', '.join(levels)}"
        raise InputError(f"there is no file and no bundled level `{name}`", hint=hint)
    return levels[name]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


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
    name: Annotated[str, typer.Argument(metavar="NAME", help="protom-dkg, functional, dkg-human or all.")] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="The smallest run that says something.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Everything, held-out levels included.")] = False,
    seed: SeedOption = 42,
    out: Annotated[Path | None, typer.Option(help="Where to write; default runs/NAME-TIME.")] = None,
    jobs: JobsOption = 1,
    data: Annotated[Path | None, typer.Option(help="A clone (dkg-human), or a file of machines (functional).")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if a stated target is missed.")] = False,
) -> None:
    """Reproduce a paper's experiment: a table beside the published figures, and a report.

    Example: otherminds reproduce protom-dkg --seed 42
    """
    from otherminds.experiments.reproduce import Options, names
    from otherminds.experiments.reproduce import reproduce as run
    from otherminds.experiments.results import verdicts

    if quick and full:
        raise InputError("--quick and --full exclude each other")
    console, missed = Console(), False
    scale = "quick" if quick else "full" if full else "normal"
    chosen = names(name, data)
    for experiment in chosen:
        root = out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
        folder = root if len(chosen) == 1 else root / experiment
        summary = run(experiment, Options(folder, seed, scale, jobs, data))
        console.print(terminal.results(summary))
        for target, row, met in verdicts(summary):
            missed |= not met
            if not met or check:
                console.print(f"{'met   ' if met else 'MISSED'}  {target}: {row['value']:.3f}", markup=False)
        console.print(f"Report: {folder / 'report.html'}", markup=False, soft_wrap=True)
    if check and missed:
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
    """Watch two simulated people and a facilitator, live in the terminal.

    Example: otherminds watch locked-in --delay 0.2
    """
    from otherminds.experiments.protom_dkg import Entry, episode
    from otherminds.world import Step
    from otherminds.worlds.trajectories import write_trajectory

    found = load_level(level)
    if min(found.world.goals) < 0:
        raise InputError(f"{found.name} does not say what everybody wants", hint="watch needs a goal for each agent")
    if save:
        _write(save, "")
    console, said, steps = Console(), list[str](), list[Step[Any, Any]]()
    live = Live(console=console, auto_refresh=False) if console.is_terminal else None
    with live or _no_live():
        for t, moment in enumerate(episode(Entry(found, facilitator, found.kind, seed))):
            if moment.decision.message:
                said.append(f"{t}: {moment.decision.words}")
            frame = terminal.frame(found.world, moment.state, moment.beliefs, said[-3:], f"{found.name}, step {t}")
            steps.append(Step(moment.state, moment.joint, moment.after))
            _show(frame, live, console, delay)
        last = steps[-1].after if steps else found.world.initial
        _show(terminal.frame(found.world, last, {}, said[-3:], f"{found.name}, the end"), live, console, 0.0)
    done = found.world.done(last)
    console.print(f"{'Everybody succeeded' if done else 'Not everybody succeeded'} after {len(steps)} steps.")
    if save:
        _write(save, write_trajectory(found.world, steps))


class _no_live:  # noqa: N801
    """Stands in for a live display where there is no terminal."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def _show(frame: Any, live: Live | None, console: Console, delay: float) -> None:
    if live is None:
        console.print(frame)
        return
    live.update(frame, refresh=True)
    time.sleep(delay)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None


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
) -> None:
    """Infer from a trajectory what everybody wants, step by step.

    Example: otherminds infer locked-in walk.jsonl --format json
    """
    from otherminds.experiments.goal_inference import draw, posteriors, read_all

    found = load_level(level)
    steps = read_all(trajectory, found.world)
    history = posteriors(found.world, steps, beta=beta, lapse=lapse, leak=leak)
    if form is Format.picture:
        draw(history, found.world, out)
        typer.echo(f"Picture: {out}")
    elif form is Format.json:
        typer.echo(json.dumps(history, ensure_ascii=False))
    else:
        Console(width=None if sys.stdout.isatty() else 160).print(_posterior_table(history))


def _posterior_table(history: list[dict[str, Any]]) -> Table:
    agents = list(history[0]["posterior"])
    table = Table("t", *(f"{a} did" for a in agents), *(f"P({a} wants …)" for a in agents))
    for row in history:
        deeds = [row["joint"].get(a, "") for a in agents]
        beliefs = ["  ".join(f"{gem} {p:.2f}" for gem, p in row["posterior"][a].items()) for a in agents]
        table.add_row(str(row["t"]), *deeds, *beliefs)
    return table


@app.command()
def draw(
    level: LevelArgument,
    out: Annotated[Path | None, typer.Option(help="A .svg or .png file; default: as text.")] = None,
) -> None:
    """Draw a level, as text or as a picture.

    Example: otherminds draw garden-gate --out gate.svg
    """
    from otherminds.worlds import picture

    found = load_level(level)
    if out is None:
        Console().print(terminal.picture(found.world, found.world.initial), soft_wrap=True)
    elif out.suffix == ".svg":
        _write(out, picture.svg(found.world, found.world.initial))
    elif out.suffix == ".png":
        picture.png(found.world, found.world.initial, out)
    else:
        raise InputError("pictures are .svg or .png", path=out)


@generate.command("levels")
def generate_levels(
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("levels"),
    seed: SeedOption = 1,
    per_class: Annotated[int, typer.Option(min=1, max=10_000, help="Levels of each class.")] = 5,
    jobs: JobsOption = 1,
) -> None:
    """Make levels of every class, each with its certificate.

    Example: otherminds generate levels --per-class 3 --seed 7 --out my-levels
    """
    from otherminds.experiments.level_work import make

    written = make(out, seed, per_class, jobs)
    typer.echo(f"{written} levels in {out}")


@verify.command("levels")
def verify_levels(
    levels: Annotated[
        list[str] | None,
        typer.Argument(help="Level files or folders, `twenty`, `tuning`, `heldout`; default: all three."),
    ] = None,
    jobs: JobsOption = 1,
) -> None:
    """Prove certificates again by exact planning, and that the level sets are what they were.

    Example: otherminds verify levels heldout --jobs 2
    """
    from otherminds.experiments.level_work import check

    wrong = 0
    for line, fine in check(levels or ["twenty", "tuning", "heldout"], jobs):
        typer.echo(line)
        wrong += not fine
    if wrong:
        raise typer.Exit(MISSED)


def main() -> None:
    """Run the command line; bad input is told in one line, with exit code 2."""
    sys.exit(_guarded(app))


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
        return _complain("interrupted; `reproduce` goes on where it stopped if it is given the same --out", INTERRUPTED)


def _complain(message: str, code: int) -> int:
    print(f"otherminds: {' '.join(message.split())}", file=sys.stderr)
    return code

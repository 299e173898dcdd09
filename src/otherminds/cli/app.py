"""The command line `otherminds`: its commands, and the exit codes for bad input and interruptions."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer import Option

from otherminds import __version__
from otherminds.cli.bench import bench
from otherminds.cli.demo import demo
from otherminds.cli.help import Command, Group, slip
from otherminds.cli.leaderboard import leaderboard
from otherminds.cli.levels import draw, generate, verify
from otherminds.cli.lists import experiments, games, levels, list_names, players
from otherminds.cli.meet import meet
from otherminds.cli.models import models
from otherminds.cli.people import compare, fit, recover, score
from otherminds.cli.reproduce import check, play, reproduce
from otherminds.cli.runs import export, merge, report, resume, runs
from otherminds.cli.serve import serve
from otherminds.cli.stories import ask, audit, generate_stories
from otherminds.cli.tournament import tournament
from otherminds.cli.watch import infer, watch
from otherminds.errors import InputError
from otherminds.operating_system import interrupt_when_asked_to_end, replace_unprintable_characters

FINE, BAD_INPUT, INTERRUPTED = 0, 2, 3
SIGINT_CODE = 130
ASKING = "asking"
"""Prefix of the names of threads that ask language models."""

# typer keeps its click to itself: the base of everything that can be wrong with a command line
UsageError: Any = typer.BadParameter.__bases__[0].__bases__[0]

THERE, LEVELS = "What there is", "Worlds and levels"

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="""Computational Theory of Mind: watch agents, infer what they want, use it.

Example: otherminds demo
Example: otherminds ask my.txt --question "Where will Sally look for the ball?"

Commands, each of which tells more with --help:""",
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"otherminds {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    show: Annotated[
        bool, Option("--version", "-V", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Watch and infer": (demo, watch, infer, serve),
    "Reproduce and measure": (
        *(reproduce, check, bench, play, meet, tournament, leaderboard),
        *(fit, compare, recover, score),
    ),
    "Stories": (ask, audit),
    THERE: (levels, games, players, experiments),
    LEVELS: (draw,),
    "Runs": (runs, resume, report, export, merge),
}
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel)(command)
app.command("list", cls=Command, rich_help_panel=THERE)(list_names)
generate.command("stories", cls=Command)(generate_stories)
app.add_typer(generate, name="generate", rich_help_panel=LEVELS)
app.add_typer(verify, name="verify", rich_help_panel=LEVELS)
app.add_typer(models, name="models", rich_help_panel=THERE)


def main() -> None:
    """Run the command line. Bad input is reported in one line, with exit code 2; SIGTERM acts like Ctrl-C."""
    interrupt_when_asked_to_end()
    replace_unprintable_characters()
    code = _guarded(app)
    if code == INTERRUPTED and any(thread.name.startswith(ASKING) for thread in threading.enumerate()):
        # these threads would wait for answers that are no longer used
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
        return _complain("; ".join([str(error), *getattr(error, "__notes__", ())]), BAD_INPUT)
    except UsageError as error:
        message = slip(error)
        return _complain(message, BAD_INPUT) if message else BAD_INPUT  # without a command, typer has shown the help
    except (KeyboardInterrupt, typer.Abort) as error:
        notes = getattr(error.__cause__ or error, "__notes__", ["`otherminds runs` lists what can be resumed"])
        return _complain(f"interrupted; {notes[0]}", INTERRUPTED)


def _complain(message: str, code: int) -> int:
    print(f"otherminds: {' '.join(message.split())}", file=sys.stderr)
    return code

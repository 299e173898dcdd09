"""Help that fits a screen, and suggestions for mistyped command lines."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from otherminds.errors import near
from otherminds.evaluation.progress import noted, said

EXAMPLE = "Example: "
INDENT, GAP = 2, 2

Row = tuple[str, str]


class Command(TyperCommand):
    """A command with a short help: usage, what it does, an example, and a line for each option."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. On a terminal it is told that it runs whenever nothing inside tells more."""
        said()
        with noted(ctx.command_path) if sys.stderr.isatty() else nullcontext():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        panels = _told(_parameters(self, ctx), formatter.width)
        typer.echo("\n\n".join([*_opening(self, ctx, formatter.width), *panels]))


class Group(TyperGroup):
    """A group of commands with a short help: its purpose, examples, and a line for each command."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. Raises Abort, caused by the KeyboardInterrupt, if it was interrupted."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise typer.Abort from interrupt  # of a KeyboardInterrupt itself, typer keeps only the exit code

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        summaries = (
            (command, (command.short_help or command.help or "").split("\n\n")[0]) for command in self.commands.values()
        )
        commands = ((command, (command.name or "", text.replace("\n", " "))) for command, text in summaries)
        panels = (*_told(commands, formatter.width), *_told(_parameters(self, ctx), formatter.width))
        typer.echo("\n\n".join([*_opening(self, ctx, formatter.width), "\n".join(panels)]))


def _opening(command: Any, ctx: Any, width: int) -> Iterator[str]:
    arguments = [argument for argument in command.params if argument.param_type_name == "argument"]
    names = [(argument.metavar or argument.name.upper(), argument.required) for argument in arguments]
    words = [name if required else f"[{name}]" for name, required in names]
    what = ["COMMAND ..."] if isinstance(command, Group) else words
    yield " ".join(["Usage:", ctx.command_path, "[OPTIONS]", *what])
    for paragraph in (command.help or "").split("\n\n"):
        yield paragraph if paragraph.startswith(EXAMPLE) else textwrap.fill(paragraph, width)


def _parameters(command: Any, ctx: Any) -> Iterator[tuple[Any, Row]]:
    shown = [parameter for parameter in command.get_params(ctx) if not getattr(parameter, "hidden", False)]
    for parameter in sorted(shown, key=lambda parameter: parameter.param_type_name):
        name = str(parameter.metavar or parameter.name.upper())
        if parameter.param_type_name == "option":
            name = ", ".join(parameter.opts) + ("" if parameter.is_flag else f" {name}")
        details = [parameter.help or ""]
        if getattr(parameter, "envvar", None):
            details.append(f"[${parameter.envvar}]")
        default = parameter.get_default(ctx, call=False) if getattr(parameter, "show_default", False) else None
        if default is not None and default is not False and default not in ((), []):
            details.append(f"[{getattr(default, 'value', default)}]")
        yield parameter, (name, " ".join(details))


def _told(listed: Iterable[tuple[Any, Row]], width: int) -> Iterator[str]:
    """The text of each panel, in order of first appearance; all share their columns."""
    panels: dict[str, list[Row]] = {}
    for element, row in listed:
        usual = f"{getattr(element, 'param_type_name', 'command').capitalize()}s"
        panels.setdefault(getattr(element, "rich_help_panel", None) or usual, []).append(row)
    column = INDENT + max(len(left) for rows in panels.values() for left, _ in rows) + GAP
    for title, rows in panels.items():
        wrapped = [(left, textwrap.wrap(right, width - column) or [""]) for left, right in rows]
        lines = [f"{' ' * INDENT}{left}".ljust(column) + f"\n{' ' * column}".join(right) for left, right in wrapped]
        yield "\n".join([typer.style(title, bold=True), *lines])


def slip(error: Any) -> str:
    """The fault of a command line, with the nearest known name or the help to read; empty if help was shown."""
    message = error.format_message().replace("Value error, ", "")
    if not message or error.ctx is None or "Did you mean" in message:
        return str(message)
    if hasattr(error, "possibilities"):
        message, option_names = (
            error.message,
            [name for parameter in error.ctx.command.get_params(error.ctx) for name in parameter.opts],
        )
        close = near(error.option_name, option_names)
    else:
        complaint, _, choices = message.partition(" is not one of ")
        close = near(complaint.rpartition(": ")[2].strip("'"), re.findall("'([^']*)'", choices))
    advice = f"Did you mean {' or '.join(close)}?" if close else f"`{error.ctx.command_path} --help` tells how"
    return f"{message.rstrip('.')}. {advice}"

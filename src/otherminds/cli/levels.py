"""Levels on the command line: found by path, name or number, listed, made, and proved again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from otherminds.cli.help import Command, Group
from otherminds.errors import unknown
from otherminds.files.text import read_text
from otherminds.worlds.avatar_scenes import AvatarWorld
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric, parse_cooking
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels, parse_level
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix, parse_matrix_world
from otherminds.worlds.overcooked.level_files import KitchenLevel, is_kitchen, parse_kitchen

MISSED = 1
SOUP = "cooking_asymmetric"

generate = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Make levels with proofs of what help is worth, or stories.\n\n"
    "Example: otherminds generate levels --per-class 3 --out my-levels",
)
verify = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Prove again what is claimed about levels and worlds.\n\nExample: otherminds verify levels twenty",
)

LevelArgument = Annotated[
    str, typer.Argument(metavar="LEVEL", help="A bundled level, or the file of a level or PDDL problem.")
]
JobsOption = Annotated[int, typer.Option(min=1, max=256, metavar="N", help="Processes to use.")]


class Rules(StrEnum):
    """The worlds that levels can be of."""

    doors_keys_gems = "doors-keys-gems"
    overcooked = "overcooked"


def load_level(name: str, also: Sequence[str] = ()) -> Level | KitchenLevel:
    """A level by path, or a bundled one by name or number. Raises InputError if there is none.

    A name with a slip in it may stand for one of these, too.
    """
    path = Path(name)
    if path.suffix == ".pddl":
        from otherminds.worlds.doors_keys_gems.pddl import read_problem

        return read_problem(path)
    if path.suffix == ".txt" or _exists(path):
        text = read_text(path)
        return parse_kitchen(text, path) if is_kitchen(text) else parse_level(text, path)
    levels: dict[str, Level | KitchenLevel] = {level.name: level for level in bundled_levels()}
    if re.fullmatch("[0-9]{1,4}", name) and 1 <= int(name) <= len(levels):
        return list(levels.values())[int(name) - 1]
    if name not in levels:
        levels = {level.name: level for found in bundled().values() for level in found[::-1]}
    if name not in levels:
        raise unknown("file and no bundled level", name, [*levels, *also], "`otherminds levels` lists them")
    return levels[name]


def load_avatars(name: str) -> AvatarWorld | None:
    """A matrix world or a kitchen that makes soup, by path or name; None if it is neither.

    Files of them begin with a map and then say what no level says: the kinds of resources, or how long a soup takes.
    """
    if name in SUBSTRATES:
        return in_the_matrix(name)
    if name == SOUP:
        return cooking_asymmetric()
    path = Path(name)
    if path.suffix == ".pddl" or not _exists(path):
        return None
    text = read_text(path)
    first, *others = [line for line in text.split("\n") if not line.startswith(";")] or [""]
    keys = {line.partition(":")[0].strip() for line in others}
    if ":" in first:
        return None
    if "WW" in first or keys & {"kinds", "payoffs"}:
        return parse_matrix_world(text, path)
    return parse_cooking(text, path) if keys & {"cook", "window"} else None


def bundled() -> dict[str, list[Level | KitchenLevel]]:
    """The levels that come with the library, of each world."""
    from otherminds.papers.protom.levels.level_work import DESIGNS

    return {world: design.bundled() for world, design in DESIGNS.items()}


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def levels() -> None:
    """List the bundled levels, and what help is worth there.

    Example: otherminds levels
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "level", "class", "world"):
        table.add_column(column, justify="left" if column else "right", no_wrap=True)
    for world, found in bundled().items():
        for number, level in enumerate(found, 1):
            label = str(number) if isinstance(level, Level) else ""
            table.add_row(label, escape(level.name), level.kind, world)
    Console().print(table)


@generate.command("levels", cls=Command)
def generate_levels(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write.")] = Path("levels"),
    world: Annotated[
        Rules, typer.Option(metavar="WORLD", help="doors-keys-gems or overcooked.")
    ] = Rules.doors_keys_gems,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all randomness.")] = 1,
    per_class: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Levels of each class.")] = 5,
    jobs: JobsOption = 1,
) -> None:
    """Make levels of every class, each with its certificate.

    Example: otherminds generate levels --per-class 3 --seed 7 --out my-levels
    """
    from otherminds.papers.protom.levels.level_work import make

    written = make(out, seed, per_class, jobs, world)
    typer.echo(f"{written} levels in {out}")


@verify.command("levels", cls=Command)
def verify_levels(
    levels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LEVELS...",
            help="Level files, folders, or sets: twenty, tuning, heldout of Doors-Keys-Gems; twenty-one, "
            "overcooked-tuning, overcooked-heldout. Default: all six sets.",
        ),
    ] = None,
    jobs: JobsOption = 1,
) -> None:
    """Prove again what levels claim, and that level sets are what they were.

    Example: otherminds verify levels heldout --jobs 2
    """
    from otherminds.papers.protom.levels.level_work import PICKED, SETS, check

    wrong = 0
    for line, fine in check(levels or [*PICKED, *SETS], jobs):
        typer.echo(line)
        wrong += not fine
    if wrong:
        raise typer.Exit(MISSED)

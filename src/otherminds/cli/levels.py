"""`otherminds levels`, `draw`, `generate levels` and `verify`: levels by path, name or number."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from typer import Argument, Option

from otherminds.cli.help import Command, Group
from otherminds.cli.lists import bundled, offer_levels
from otherminds.cli.options import TARGET_MISSED, ChosenLevel, JobsOption
from otherminds.errors import InputError, unknown
from otherminds.files.text import read_text, write_whole

if TYPE_CHECKING:
    from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
    from otherminds.worlds.doors_keys_gems.level_files import Level
    from otherminds.worlds.in_the_matrix.world import InTheMatrix
    from otherminds.worlds.map_file import WorldLevel
    from otherminds.worlds.overcooked.level_files import KitchenLevel

SOUP = "cooking_asymmetric"
METHODS = ("agents", "start", "actions", "step", "observe", "done")
"""What a world needs to be watched; `reward` only if it has no `reached`."""

generate = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Make levels with proofs of what help is worth, or stories.\n\n"
    "Example: otherminds generate levels --per-class 3 --out my-levels",
)
verify = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Prove again what is claimed about levels.\n\nExample: otherminds verify levels twenty",
)


def load_level(name: str, also: Sequence[str] = ()) -> Level | KitchenLevel:
    """A level by path, or a bundled one by name or number.

    Raises InputError if it is unknown, with the nearest of the bundled names and the names in `also`.
    """
    from otherminds.worlds.doors_keys_gems.level_files import bundled_levels, parse_level
    from otherminds.worlds.overcooked.level_files import is_kitchen, parse_kitchen

    path = Path(name)
    if path.suffix == ".pddl":
        from otherminds.worlds.doors_keys_gems.pddl import read_problem

        return read_problem(path)
    if path.suffix == ".txt" or os.path.exists(path):
        text = read_text(path)
        return parse_kitchen(text, path) if is_kitchen(text) else parse_level(text, path)
    levels: dict[str, Level | KitchenLevel] = {level.name: level for level in bundled_levels()}
    if re.fullmatch("[0-9]{1,4}", name) and 1 <= int(name) <= len(levels):
        return list(levels.values())[int(name) - 1]
    if name not in levels:
        levels = {level.name: level for world_levels in bundled().values() for level in world_levels[::-1]}
    if name not in levels:
        raise unknown("file and no bundled level", name, [*levels, *also], "`otherminds levels` lists them")
    return levels[name]


def load_world(name: str, also: Sequence[str] = ()) -> WorldLevel[Any]:
    """A level as `load_level` finds it, a grid drawn as text, or a world of the user's, given as `module.py:object`.

    A class is called without arguments. Raises InputError for anything else.
    """
    from otherminds.worlds.map_file import WorldLevel
    from otherminds.worlds.text_grid import HORIZON, is_text_grid, parse_text_grid

    path = Path(name)
    if _is_own(name):
        from otherminds.language.find import load

        world = load(name)
        with blaming(name):
            world = world() if isinstance(world, type) else world
        if missing := [method for method in METHODS if not hasattr(world, method)]:
            hint = "docs/how-to/world.md says what a world is"
            raise InputError(f"{name} is no world: it has no `{missing[0]}`", hint=hint)
        return WorldLevel(name.rpartition(":")[2], world, getattr(world, "horizon", HORIZON))
    if path.suffix != ".pddl" and os.path.exists(path):
        text = read_text(path)
        if is_text_grid(text):
            return parse_text_grid(text, path)
    return load_level(name, also)


def _is_own(name: str) -> bool:
    """Whether a name means a world of the user's, `module.py:object`, and no file."""
    return ":" in name and not os.path.exists(name)


def blaming(name: str) -> AbstractContextManager[None]:
    """Within it, an exception from a world of the user's is an InputError with its place in that world's file."""
    if not _is_own(name):
        return nullcontext()
    from otherminds.language.find import blamed

    return blamed(name)


def load_avatars(name: str) -> InTheMatrix | CollaborativeCooking | None:
    """A matrix world or a collaborative kitchen, by path or name; None if it is neither.

    Their files begin with a map, followed by keys that no level has: kinds of resources, or the cooking time.
    """
    from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric, parse_cooking
    from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix, parse_matrix_world

    if name in SUBSTRATES:
        return in_the_matrix(name)
    if name == SOUP:
        return cooking_asymmetric()
    path = Path(name)
    if path.suffix == ".pddl" or not os.path.exists(path):
        return None
    text = read_text(path)
    first, *remaining_lines = [line for line in text.split("\n") if not line.startswith(";")] or [""]
    keys = {line.partition(":")[0].strip() for line in remaining_lines}
    if ":" in first:
        return None
    if "WW" in first or keys & {"kinds", "payoffs"}:
        return parse_matrix_world(text, path)
    return parse_cooking(text, path) if keys & {"cook", "window"} else None


@generate.command("levels", cls=Command)
def generate_levels(
    out: Annotated[Path, Option(metavar="FOLDER", help="Where to write.")] = Path("levels"),
    world: Annotated[
        Literal["doors-keys-gems", "overcooked"], Option(metavar="WORLD", help="doors-keys-gems or overcooked.")
    ] = "doors-keys-gems",
    seed: Annotated[int, Option(min=0, metavar="N", help="Seed of all randomness.")] = 1,
    per_class: Annotated[
        int, Option("--per-class", "--n", min=1, max=10_000, metavar="N", help="Levels of each class.")
    ] = 5,
    jobs: JobsOption = 1,
) -> None:
    """Make levels of every class, each with its certificate.

    Example: otherminds generate levels --per-class 3 --seed 7 --out my-levels
    """
    from otherminds.papers.protom.levels.generation import make

    typer.echo(f"{make(out, seed, per_class, jobs, world)} levels in {out}")


@verify.command("levels", cls=Command)
def verify_levels(
    levels: Annotated[
        list[str] | None,
        Argument(
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
    from otherminds.papers.protom.levels.generation import PICKED, SETS, check

    proved = True
    for line, fine in check(levels or [*PICKED, *SETS], jobs):
        typer.echo(line)
        proved &= fine
    if not proved:
        raise typer.Exit(TARGET_MISSED)


def draw(
    level: ChosenLevel = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="A .svg or .png file; default: text.")] = None,
    seen_by: Annotated[str | None, Option(metavar="NAME", help="Only what this agent sees.")] = None,
) -> None:
    """Draw a level or a world, as text or as a picture.

    Also Melting Pot's: rws_repeated, rws_arena, pd_repeated, cooking_asymmetric, and map files like theirs.

    Example: otherminds draw garden-gate --out gate.svg
    """
    import numpy as np

    from otherminds.reports.terminal import screens
    from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
    from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES

    if level is None:
        offer_levels("draw", *SUBSTRATES, SOUP)
        return
    avatar_world = load_avatars(level)
    world: Any = avatar_world or load_world(level, (*SUBSTRATES, SOUP)).world
    with blaming(level):
        state = world.initial if hasattr(world, "initial") else world.start(np.random.default_rng(0))
    if seen_by is not None and isinstance(world, DoorsKeysGems):
        hint = "--seen-by is for kitchens and matrix worlds"
        raise InputError("in Doors-Keys-Gems, everybody sees everything", hint=hint)
    if seen_by is not None and seen_by not in world.agents:
        raise unknown("agent", seen_by, world.agents)
    with blaming(level):
        module = screens.drawing_of(world)
        if out is None:
            Console().print(screens.picture(world, state, seen_by), soft_wrap=True)
            if module.LEGEND:
                Console().print(module.LEGEND, style="dim", soft_wrap=True, highlight=False, markup=False)
        elif out.suffix == ".svg":
            write(out, module.draw(world, state, seen_by=seen_by).svg())
        elif out.suffix == ".png":
            module.draw(world, state, seen_by=seen_by).png(out)
        else:
            raise InputError("pictures are .svg or .png", path=out)


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all. Raises InputError if it cannot be written."""
    try_to_write(path)
    write_whole(path, [text.encode()])


def try_to_write(path: Path) -> None:
    """Raise InputError if a file cannot be written. It stays as it is, or missing."""
    try:
        draft = path.with_name(f"{path.name}.new")
        draft.touch()
        draft.unlink()
        if path.exists():
            path.open("ab").close()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {getattr(error, 'strerror', None) or error}", path=path) from None

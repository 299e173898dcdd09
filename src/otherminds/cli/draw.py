"""`otherminds draw`: what a level or a world looks like at its start."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from otherminds.cli.levels import SOUP, LevelArgument, load_avatars, load_level
from otherminds.errors import InputError, unknown
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES
from otherminds.worlds.overcooked.level_files import KitchenLevel


def draw(
    level: LevelArgument,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A .svg or .png file; default: text.")] = None,
    seen_by: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this agent sees.")] = None,
) -> None:
    """Draw a level or a world, as text or as a picture.

    Also Melting Pot's: rws_repeated, rws_arena, pd_repeated, cooking_asymmetric, and map files like theirs.

    Example: otherminds draw garden-gate --out gate.svg
    """
    from otherminds.reports.terminal import screens

    world, state, look = _drawn(level)
    view = _view(world, seen_by)
    if out is None:
        Console().print(screens.picture(world, state, seen_by), soft_wrap=True)
        if legend := screens.legend(world):
            Console().print(legend, style="dim", soft_wrap=True, highlight=False, markup=False)
    elif out.suffix == ".svg":
        write(out, look.svg(world, state, **view))
    elif out.suffix == ".png":
        look.png(world, state, out, **view)
    else:
        raise InputError("pictures are .svg or .png", path=out)


def _drawn(name: str) -> tuple[Any, Any, Any]:
    """A world by name or path, its state at the start, and what draws it; a start that is drawn by lot is the first."""
    from otherminds.worlds import avatar_drawing as avatar_picture
    from otherminds.worlds.doors_keys_gems import drawing as picture
    from otherminds.worlds.overcooked import drawing as kitchen_picture

    avatars = load_avatars(name)
    if avatars:
        return avatars, avatars.start(np.random.default_rng(0)), avatar_picture
    found = load_level(name, (*SUBSTRATES, SOUP))
    return found.world, found.world.initial, kitchen_picture if isinstance(found, KitchenLevel) else picture


def _view(world: Any, name: str | None) -> dict[str, str]:
    """Whose view a picture is to show, if anybody's. Raises InputError if there is no such view."""
    if name is None:
        return {}
    if isinstance(world, DoorsKeysGems):
        hint = "--seen-by is for kitchens and matrix worlds"
        raise InputError("in Doors-Keys-Gems, everybody sees everything", hint=hint)
    if name not in world.agents:
        raise unknown("agent", name, world.agents)
    return {"seen_by": name}


def write(path: Path, text: str) -> None:
    """Write a file. Raises InputError if it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None

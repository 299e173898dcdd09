"""The episode viewer of matrix worlds: the map at every step, and beside it what the first player thinks of the others.

Everything is worked out here and told as what changes from step to step; the script only shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from string import Template
from typing import Annotated, Any, NamedTuple

from pydantic import Field, TypeAdapter

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.reports.avatar_meetings import Holding, meetings, read, scale
from otherminds.reports.page import Html, asset, embedded, safe
from otherminds.worlds.avatar_drawing import BODIES, avatar_labels
from otherminds.worlds.canvas import Drawing, ground, svg_look
from otherminds.worlds.in_the_matrix.drawing import kind_shapes, matrix_scene, moving_parts
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.sprites import CELL, Part

Spot = tuple[int, int, int]
"""Column, row, and the number of the look."""


class Frame(NamedTuple):
    """What a viewer needs to know of a state; the kinds of the sites are the same in a whole episode."""

    cells: tuple[Annotated[int, Field(strict=True, ge=NOWHERE)], ...]
    facings: tuple[Annotated[int, Field(strict=True, ge=0, le=3)], ...]
    inventories: tuple[Holding, ...]
    clocks: tuple[Annotated[int, Field(strict=True, ge=FREE)], ...]
    cooldowns: Holding
    shown: Annotated[int, Field(strict=True, ge=0)]

    def misfit(self, rules: Rules) -> str:
        """What does not fit a world, if anything."""
        for name, found in zip(self._fields, self[:-1], strict=False):
            if len(found) != rules.players:
                return f"{name}: the world has {rules.players} players"
        if any(len(held) != len(rules.resources) for held in self.inventories):
            return f"inventories: the world has {len(rules.resources)} kinds of resources"
        if not all(cell == NOWHERE or rules.field.grid.is_floor(cell) for cell in self.cells):
            return "cells: somebody stands where there is no floor"
        return "shown: so many sites there are not" if self.shown >> len(rules.sites) else ""

    def state(self, rules: Rules, kinds: Sequence[int]) -> MatrixState:
        """A state that looks like this."""
        cells, facings, held, clocks, cooldowns, shown = self
        due, damage = (math.inf,) * rules.players, (0,) * rules.players
        return MatrixState(
            0, cells, facings, held, cooldowns, clocks, due, tuple(kinds), shown, (), damage, *rules.nothing, False
        )


FRAME = TypeAdapter(Frame)


def frame(state: MatrixState) -> list[Any]:
    """What a viewer needs to know of a state, as lists and numbers that can be written as JSON."""
    held = [list(inventory) for inventory in state.inventories]
    return [list(state.cells), list(state.facings), held, list(state.clocks), list(state.cooldowns), state.shown]


def avatar_replay(
    world: InTheMatrix, kinds: Sequence[int], frames: Sequence[Any], thoughts: Sequence[Mapping[str, Any]], title: str
) -> Html:
    """A widget to step through an episode: a frame of the start and of every step, and a thought for every meeting.

    `kinds` are those of the sites, `thoughts` what the first player held and expected before each of its meetings.
    Raises InputError if something does not fit the world.
    """
    rules, words, notes = world.rules, dict[str, int](), dict[tuple[str | int, ...], int]()
    states, looks = _states(rules, kinds, frames), dict[Part, int]()
    spots, names = [_spots(world, state, looks) for state in states], list(_names(rules))
    found = meetings(world, thoughts, len(states) - 1)
    data = {
        "cell": CELL,
        "me": printable(world.agents[0]),
        "kinds": [printable(kind) for kind in rules.resources],
        "parts": names,
        "start": [spots[0].get(name) for name in names],
        "moves": [list(_changes(names, before, after)) for before, after in pairwise(spots)],
        "held": list(_held(world, states, notes)),
        "notes": list(notes),
        "meetings": [met.summary(world, words) for met in found],
        "scale": scale(found),
        "words": list(words),
    }
    return Html(
        Template(asset("avatar_replay.html")).substitute(
            title=safe(title),
            picture=_picture(world, states[0], names),
            holdings=_holdings(world),
            looks="".join(f"<g>{svg_look(look)}</g>" for look in looks),
            data=embedded(data),
        )
    )


# What comes from outside


def _states(rules: Rules, kinds: Sequence[int], frames: Sequence[Any]) -> list[MatrixState]:
    known = range(len(rules.resources))
    if len(kinds) != len(rules.sites) or not all(kind in known for kind in kinds):
        raise InputError(f"kinds: must be {len(rules.sites)} numbers from 0 to {len(known) - 1}, one for every site")
    if not frames:
        raise InputError("an episode has one frame at least, that of the start")
    found = [read(FRAME, raw, f"frame {t}", Frame._fields) for t, raw in enumerate(frames)]
    for t, one in enumerate(found):
        if misfit := one.misfit(rules):
            raise InputError(f"frame {t}: {misfit}")
    return [one.state(rules, kinds) for one in found]


# What is to be seen


def _names(rules: Rules) -> Iterator[str]:
    """The names of all parts, in the order in which they are drawn."""
    for kind, many in (("beam", rules.players), ("resource", len(rules.sites)), ("agent", rules.players)):
        yield from (f"{kind}-{i}" for i in range(many))


def _spots(world: InTheMatrix, state: MatrixState, looks: dict[Part, int]) -> dict[str, Spot]:
    """Where everything is that is there, and its look."""
    found = {}
    for part in moving_parts(world, matrix_scene(world, state)):
        x, y = part.place or (0, 0)
        look = looks.setdefault(part._replace(name="", place=None), len(looks))
        found[part.name] = int(x // CELL), int(y // CELL), look
    return found


def _changes(names: Sequence[str], before: Mapping[str, Spot], after: Mapping[str, Spot]) -> Iterator[list[int]]:
    """What is new in the picture: [part, x, y], with a look if it has a new one, or [part] for one that vanishes."""
    for i, name in enumerate(names):
        old, new = before.get(name), after.get(name)
        if old and not new:
            yield [i]
        elif new and old != new:
            yield [i, *(new[:2] if old and old[2] == new[2] else new)]


def _held(
    world: InTheMatrix, states: Sequence[MatrixState], notes: dict[tuple[str | int, ...], int]
) -> Iterator[list[int]]:
    """Whenever somebody comes to hold something else, or to be ready, frozen or dead: step, player, number of note."""
    latest: dict[int, int] = {}
    for t, state in enumerate(states):
        for note in matrix_scene(world, state).notes:
            number = notes.setdefault((note.status, *state.inventories[note.number]), len(notes))
            if latest.get(note.number) != number:
                latest[note.number] = number
                yield [t, note.number, number]


def _picture(world: InTheMatrix, state: MatrixState, names: Sequence[str]) -> str:
    """The map at the start, with a place for every part that may come to be seen."""
    grid = world.rules.field.grid
    there = {part.name: part for part in moving_parts(world, matrix_scene(world, state))}
    parts = [there.get(name, Part(name, "", (), None)) for name in names]
    area = (0, 0, grid.width * CELL, grid.height * CELL)
    return Drawing("A matrix world with " + ", ".join(world.agents), ground(grid), parts, area, crisp=True).svg()


def _holdings(world: InTheMatrix) -> str:
    """A line for every player, with cells for how it is and how many it holds of each kind."""
    kinds, signs = world.rules.resources, avatar_labels(world.agents)
    sprites = [Part("", kind, shapes, None) for kind, shapes in zip(kinds, kind_shapes(kinds), strict=True)]
    icons = (f'<svg class="kind" viewBox="-24 -24 48 48">{svg_look(sprite)}</svg>' for sprite in sprites)
    things = "".join(f'<span class="thing">{icon}<b data-cell></b></span>' for icon in icons)
    return "".join(
        f'<li><span class="token" style="background:{BODIES[i % len(BODIES)]}">{safe(signs[who])}</span>'
        f'<span class="name">{safe(who)}</span><span class="quiet" data-cell></span>{things}</li>'
        for i, who in enumerate(world.agents)
    )

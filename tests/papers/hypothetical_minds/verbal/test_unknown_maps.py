"""Who does not know the map does not act on it: what has never been seen could be anything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from matrix_worlds import world_of
from otherminds.errors import InputError
from otherminds.language.asking import Asker
from otherminds.language.model import Reply, Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.hypothetical_minds.verbal.matrix_body import MatrixBody
from otherminds.papers.hypothetical_minds.verbal.scripted_models import straight
from otherminds.worlds.in_the_matrix.bots import ABLE, MatrixBot
from otherminds.worlds.in_the_matrix.memory import EVERYWHERE, initial_memory, updated_memory
from otherminds.worlds.in_the_matrix.strategies import Aim, specialist
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

WIDTH, HEIGHT, STEPS = 24, 14, 150
SQUARES, SHARES = "W rpsn", (0.12, 0.7, 0.05, 0.05, 0.05, 0.03)
SOLID, FULL = (0.97, 0, 0, 0, 0, 0.03), (0, 0.27, 0.1, 0.5, 0.1, 0.03)


def drawn(
    rng: np.random.Generator, kept: dict[tuple[int, int], str] | None = None, shares: Sequence[float] = SHARES
) -> tuple[str, InTheMatrix]:
    """A map at random, but for what is kept of another one, and its world."""
    while True:
        inside = rng.choice(list(SQUARES), size=(HEIGHT, WIDTH), p=shares)
        rows = [
            ["W" if x in (0, WIDTH - 1) or y in (0, HEIGHT - 1) else str(inside[y, x]) for x in range(WIDTH)]
            for y in range(HEIGHT)
        ]
        for (x, y), square in (kept or {}).items():
            rows[y][x] = square
        text = "\n".join(map("".join, rows))
        try:
            return text, world_of(text)
        except InputError:
            continue


def life(world: InTheMatrix, mind: Any, rng: np.random.Generator) -> Iterator[tuple[MatrixView, Any]]:
    """What a mind sees and what it becomes, beside somebody who stands still."""
    state, (me, other) = world.start(rng), world.agents
    for _ in range(STEPS):
        view = world.observe(state, me)
        mind = mind.observe(view)
        yield view, mind
        state = world.step(state, {me: mind.act().mode, other: "noop"}, rng)


def seen_of(world: InTheMatrix, text: str, views: list[MatrixView]) -> dict[tuple[int, int], str]:
    """The squares of a map that have been in view."""
    memory, rows, grid = initial_memory(world, mapped=False), text.splitlines(), world.rules.field.grid
    for view in views:
        memory = updated_memory(memory, world, 0, view)
    places = [(x, y) for y in range(HEIGHT) for x in range(WIDTH) if memory.knows(grid.cell(x, y))]
    return {(x, y): rows[y][x] for x, y in places}


def gatherer(world: InTheMatrix, margin: int = 3) -> MatrixBot:
    strategy = specialist(Aim(1, margin))
    return MatrixBot.initial(world, world.agents[0], strategy, np.random.default_rng(0), ABLE, mapped=False)


@pytest.mark.slow
@pytest.mark.parametrize("margin", [1, 99])
@pytest.mark.parametrize("seed", range(10))
def test_a_body_does_the_same_whatever_is_where_it_has_not_looked(seed: int, margin: int) -> None:
    """Whether it looks for somebody soon, or gathers all the time."""
    rng = np.random.default_rng(seed)
    text, world = drawn(rng)
    lived = list(life(world, gatherer(world, margin), rng))
    views = [view for view, _ in lived]
    for until, shares in product((5, 20, 60, STEPS), (SOLID, FULL)):
        other, elsewhere = drawn(rng, seen_of(world, text, views[:until]), shares)
        assert until > 20 or other != text
        twin = gatherer(elsewhere, margin)
        for view, mind in lived[:until]:
            twin = twin.observe(view)
            assert twin.act() == mind.act()


class Listening:
    """A program in the place of a model that remembers what it was asked."""

    name = identity = "listening"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(text_of(request) + request.schema)
        return straight.complete(request)

    score = Scripted("none", lambda _: "").score


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_model_is_told_the_same_and_its_plans_end_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text, world = drawn(rng)
    first = Listening()
    lived = list(life(world, MatrixBody.initial(world, world.agents[0], Asker(first)).toward(Aim(0, 3)), rng))
    _, elsewhere = drawn(rng, seen_of(world, text, [view for view, _ in lived]), SOLID)
    second = Listening()
    twin = MatrixBody.initial(elsewhere, elsewhere.agents[0], Asker(second)).toward(Aim(0, 3))
    for view, mind in lived:
        twin = twin.observe(view)
        assert twin.act() == mind.act()
    assert second.asked == first.asked
    assert len(first.asked) > 1


def test_it_finds_out() -> None:
    """In the end everything has been seen that can be, and with the map it is known at first."""
    rng = np.random.default_rng(5)
    hall = "WWWWWWWWWWWWWWWW\nWn             W\nW              W\nW             nW\nWWWWWWWWWWWWWWWW"
    world = world_of(hall.replace("n             W", "n           r W", 1))
    (_, early), *_, (_, late) = life(world, gatherer(world), rng)
    cells = [*world.rules.field.grid.cells()]
    assert not all(early.memory.knows(cell) for cell in cells)
    assert late.memory.explored.bit_count() > early.memory.explored.bit_count()
    assert late.memory.borders(world, 0) != early.memory.borders(world, 0)
    assert initial_memory(world).explored == EVERYWHERE
    assert initial_memory(world).borders(world, 0) == []

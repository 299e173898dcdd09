"""Drawing the world of food trucks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otherminds.worlds import sprites
from otherminds.worlds.canvas import Drawing, centre, ground
from otherminds.worlds.food_trucks.rules import NOTHING, FoodTrucks, FoodTruckState
from otherminds.worlds.sprites import (
    CELL,
    GREY,
    INK,
    PAPER,
    Box,
    Disc,
    MovingPart,
    Shapes,
    hue,
    ink_on,
    mix,
    moved,
    sign,
)

COLOURS = ("red", "blue", "green", "orange")  # of the trucks, in their order
PARKING = "#d9dce1"
NOTHING_SHAPES: Shapes = (Disc(0, 0, 17, PAPER, GREY), Box(-9, -1.5, 18, 3, GREY))


def truck_colours(trucks: Sequence[str]) -> Mapping[str, str]:
    """The colour of each truck, and grey for nothing."""
    return dict(zip(trucks, map(hue, COLOURS), strict=False)) | {NOTHING: GREY}


def truck_shapes(colour: str, label: str) -> Shapes:
    """A food truck with an awning, in its colour, with its letter."""
    edge = mix(colour, INK, 0.5)
    return (
        Box(-20, -14, 30, 26, colour, 2, edge),
        Box(10, -6, 11, 18, mix(colour, PAPER, 0.45), 2, edge),
        Box(12, -3, 7, 7, PAPER, 1, edge),
        Box(-22, -17, 34, 6, mix(colour, PAPER, 0.5), 1, edge),
        Disc(-11, 13, 5.5, INK, PAPER),
        Disc(12, 13, 5.5, INK, PAPER),
        sign(-5, 1, 17, label, ink_on(colour)),
    )


def looks(world: FoodTrucks) -> Mapping[str, MovingPart]:
    """A sprite without a place for each truck, and for nothing."""
    letters, colours = sprites.labels(world.trucks), truck_colours(world.trucks)
    parts = {truck: MovingPart("", truck, truck_shapes(colours[truck], letters[truck]), None) for truck in world.trucks}
    return parts | {NOTHING: MovingPart("", NOTHING, NOTHING_SHAPES, None)}


def moving_parts(world: FoodTrucks, state: FoodTruckState) -> list[MovingPart]:
    """The trucks, then the agent; it stands in front of a truck."""
    trucks = looks(world)
    spots = (("known", world.known_spot, world.trucks[0]), ("hidden", world.hidden_spot, state.parked))
    parts = [trucks[what]._replace(name=name, place=centre(world.grid, cell)) for name, cell, what in spots]
    (agent,) = world.agents
    x, y = centre(world.grid, state.cell)
    at_spot = state.cell in (world.known_spot, world.hidden_spot)
    body = sprites.person_shapes(0, sprites.labels(world.agents)[agent], 12.0)
    return [*parts, MovingPart("agent-0", agent, body, (x + 8, y + 8) if at_spot else (x, y))]


def draw(world: FoodTrucks, state: FoodTruckState) -> Drawing:
    """The picture of a state."""
    grid = world.grid
    cells = (world.known_spot, world.hidden_spot)
    spots = (moved((Box(-22, -22, 44, 44, PARKING, 3),), *centre(grid, cell)) for cell in cells)
    background = (*ground(grid), *(shape for spot in spots for shape in spot))
    area = (0.0, 0.0, float(grid.width * CELL), float(grid.height * CELL))
    label = f"Food trucks: {world.trucks[0]}, and {state.parked} at the other spot"
    return Drawing(label, background, moving_parts(world, state), area, crisp=True)

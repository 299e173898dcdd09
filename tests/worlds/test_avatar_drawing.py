"""Pictures of worlds with avatars show what is where, to everybody or to one player, and are always the same."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import odd_matrix_worlds
from avatar_pictures import ROOM, AvatarState, AvatarWorld, busy, kitchen, parts, shown
from matrix_worlds import PAPER, ROCK, met, play, scene, wait, world_of
from otherminds.reports.terminal.screens import drawing_of, picture
from otherminds.worlds import avatar_drawing, sprites
from otherminds.worlds.avatar_drawing import FROZEN, READY
from otherminds.worlds.collaborative_cooking import drawing as cooking_drawing
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import PlayerState, PotState
from otherminds.worlds.in_the_matrix import drawing as matrix_drawing
from otherminds.worlds.in_the_matrix.rules import FREE, MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix


def lit(world: InTheMatrix, state: MatrixState) -> dict[int, set[tuple[float, float]]]:
    """The columns and rows that are lit by beams, by player."""
    beams = {int(name[5:]): part for name, part in parts(world, state).items() if name.startswith("beam-")}
    boxes = {i: [s for s in part.shapes if isinstance(s, sprites.Box)] for i, part in beams.items()}
    return {i: {_cell(beams[i], box) for box in found} for i, found in boxes.items()}


def _cell(beam: sprites.MovingPart, box: sprites.Box) -> tuple[float, float]:
    assert beam.place
    return (beam.place[0] + box.x) // sprites.CELL, (beam.place[1] + box.y) // sprites.CELL


# Matrix worlds


def test_every_thing_of_a_state_is_shown_and_nothing_else() -> None:
    world = world_of(ROOM)
    state = scene(world, "1 1 ^", "6 2 <", held=[PAPER])._replace(kinds=(0, 1, 2, 0))
    assert shown(world, state) == {
        "resource-0": "rock",
        "resource-1": "paper",
        "resource-2": "scissors",
        "resource-3": "rock",
        "agent-0": "player_0, facing north, ready",
        "agent-1": "player_1, facing west",
        "note-0": "player_0, ready: rock 1 paper 6 scissors 1",
        "note-1": "player_1: rock 1 paper 1 scissors 1",
    }


def test_what_is_gone_is_not_shown() -> None:
    world = world_of(ROOM)
    state = scene(world, "1 1 ^", "6 2 <")
    assert "resource-2" not in shown(world, state._replace(shown=0b1011, away=((2, 1),)))


def test_a_resource_of_a_kind_drawn_by_lot_looks_like_the_others() -> None:
    world = world_of(ROOM)
    found = parts(world, scene(world, "1 1 ^", "6 2 <")._replace(kinds=(0, 1, 2, 1)))
    assert found["resource-3"].shapes == found["resource-1"].shapes != found["resource-0"].shapes


def test_things_are_in_their_places() -> None:
    world = world_of(ROOM)
    found = parts(world, scene(world, "1 1 ^", "6 2 <"))
    assert found["agent-1"].place == (6.5 * sprites.CELL, 2.5 * sprites.CELL)
    assert found["resource-0"].place == (3.5 * sprites.CELL, 1.5 * sprites.CELL)
    assert all(found[f"note-{i}"].place >= (0, 4 * sprites.CELL) for i in (0, 1))  # type: ignore[operator]


def test_the_frozen_are_marked_and_the_dead_are_not_on_the_map() -> None:
    world = world_of()
    frozen = met(world)
    assert shown(world, frozen)["agent-1"] == "player_1, facing west, frozen"
    dead = wait(world, frozen, world.rules.frozen + 1)
    assert not {"agent-0", "agent-1"} & shown(world, dead).keys()
    assert shown(world, dead)["note-0"] == "player_0, dead: rock 1 paper 1 scissors 1"


def test_avatars_look_different_by_number_facing_and_mark() -> None:
    looks = [
        avatar_drawing.avatar_shapes(number, str(number), facing, look)
        for number, facing, look in itertools.product(range(9), range(4), ("", READY, FROZEN))
    ]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("facing", range(4))
def test_avatars_point_ahead(facing: int) -> None:
    shapes = avatar_drawing.avatar_shapes(0, "0", facing)
    outlines = [shape.points for shape in shapes if isinstance(shape, sprites.Polygon)]
    far = {max(points, key=lambda at: at[0] ** 2 + at[1] ** 2) for points in outlines}
    dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[facing]
    assert all(x * dx + y * dy > 20 and (x * dy, y * dx) == (0, 0) for x, y in far)


def test_a_beam_is_shown_in_the_step_in_which_it_was_fired() -> None:
    world = world_of()
    state = play(world, scene(world, "3 3 >", "1 6 <", held=[PAPER]), "interact")
    ahead = {(4, 3), (5, 3), (6, 3)}
    assert lit(world, state) == {0: ahead | {(x, y) for x in (3, 4, 5) for y in (2, 4)}}
    assert lit(world, play(world, state)) == {}


def test_beams_end_where_they_hit() -> None:
    world = world_of()
    state = play(world, scene(world, "7 5 >", "8 4 <", held=[PAPER]), "interact")
    assert lit(world, state) == {0: {(8, 5), (9, 5), (7, 4), (8, 4), (7, 6), (8, 6), (9, 6)}}


def test_a_beam_that_led_to_a_meeting_is_shown_once() -> None:
    world = world_of()
    state = met(world)
    assert set(lit(world, state)) == {0}
    for _ in range(world.rules.respawn):
        state = play(world, state)
        assert lit(world, state) == {}
    assert state.clocks == (FREE, FREE)


def test_whoever_wins_a_meeting_at_a_spawn_point_has_zapped_and_whoever_returns_there_has_not() -> None:
    world = world_of()
    state = play(world, scene(world, "1 1 >", "3 1 <", held=[PAPER, ROCK]), "interact")
    assert state.inventories[0] == world.rules.empty
    assert set(lit(world, state)) == {0}


def test_all_kinds_differ_in_shape_colour_and_letters() -> None:
    kinds = ("rock", "red", "paper", "blue", "scissors", "green", "cooperate", "defect", "yellow")
    looks = matrix_drawing.kind_shapes(kinds)
    letters = [shape.text for shapes in looks for shape in shapes if isinstance(shape, sprites.Letters)]
    outlines = [[s[0] for s in shapes if not isinstance(s, sprites.Letters)] for shapes in looks]
    assert len(set(letters)) == len(set(matrix_drawing.kind_hues(kinds))) == len(set(map(str, outlines))) == 9


def test_resources_fit_into_their_cells() -> None:
    kinds = ("rock", "paper", "scissors", "cooperate", "defect", "x", "y", "z", "w")
    for shape in itertools.chain(*matrix_drawing.kind_shapes(kinds), *matrix_drawing.kind_shapes(tuple("abcdefghi"))):
        if isinstance(shape, sprites.Polygon):
            assert max(max(map(abs, at)) for at in shape.points) <= sprites.CELL / 2
        if isinstance(shape, sprites.Disc):
            assert max(abs(shape.x), abs(shape.y)) + shape.radius <= sprites.CELL / 2


# Kitchens


def test_everything_in_a_kitchen_is_shown_and_nothing_else() -> None:
    world, state = busy()
    assert shown(world, state) == {
        "counter-0": "tomato",
        f"counter-{len(world.counters) - 1}": "dish",
        "pot-0": "pot: 3 tomatoes, a soup in 12 steps",
        "pot-1": "pot: soup",
        "agent-0": "player_0, facing east",
        "held-0": "soup",
        "agent-1": "player_1, facing south",
        "note-0": "player_0: soup",
        "note-1": "player_1: nothing",
    }


def test_the_words_of_a_pot_are_true() -> None:
    """The number of steps is the one after which the soup is ready if nobody does anything."""
    world, state = busy()
    for _ in range(12):
        assert "soup in" in shown(world, state)["pot-0"]
        state = world.step(state, dict.fromkeys(world.agents, "noop"), np.random.default_rng(0))
    assert shown(world, state)["pot-0"] == "pot: soup"


def test_pots_look_different_by_what_is_in_them() -> None:
    pots = (PotState(), PotState(1), PotState(2), PotState(3), PotState(3, 1), PotState(3, 20), PotState(3, 0, True))
    assert len({cooking_drawing.pot_shapes(pot, 20) for pot in pots}) == len(pots)
    assert len(set(cooking_drawing.SQUARES.values())) == len(cooking_drawing.SQUARES) - 1  # starts are floor


# What one player sees


def test_what_one_player_does_not_see_is_not_in_its_picture() -> None:
    world = world_of()
    state = scene(world, "2 2 ^", "8 6 <", held=[PAPER, PAPER])
    assert shown(world, state, "player_0") == {
        "agent-0": "player_0, facing north, ready",
        "note-0": "player_0, ready: rock 1 paper 6 scissors 1",
    }
    assert {"agent-1", "resource-0", "note-1"} == set(shown(world, state, "player_1"))


def test_what_one_cook_does_not_see_is_not_in_its_picture() -> None:
    world, state = busy()
    assert shown(world, state, "player_0") == {
        "counter-0": "tomato",
        "pot-0": "pot: 3 tomatoes",
        "pot-1": "pot: soup",
        "agent-0": "player_0, facing east",
        "held-0": "soup",
        "note-0": "player_0: soup",
    }
    last = f"counter-{len(world.counters) - 1}"
    assert set(shown(world, state, "player_1")) == {last, "pot-0", "pot-1", "agent-1", "note-1"}


def test_others_face_the_same_way_in_everybodys_picture() -> None:
    matrix = world_of()
    cook, grid = cooking_asymmetric(), cooking_asymmetric().grid
    cases: list[tuple[AvatarWorld, AvatarState]] = []
    for mine, theirs in itertools.product(range(4), range(4)):
        cases.append((matrix, scene(matrix, f"4 4 {'^>v<'[mine]}", f"5 4 {'^>v<'[theirs]}")))
        cases.append((cook, kitchen((PlayerState(grid.cell(2, 2), mine), PlayerState(grid.cell(2, 3), theirs)))[1]))
    for world, state in cases:
        whole, seen = parts(world, state), parts(world, state, "player_0")
        assert [whole[f"agent-{i}"] for i in (0, 1)] == [seen[f"agent-{i}"] for i in (0, 1)]


@pytest.mark.slow
@settings(max_examples=25)
@given(odd_matrix_worlds.worlds(), st.integers(0, 2**32 - 1))
def test_the_picture_for_a_player_is_part_of_the_whole_and_depends_on_what_it_sees_alone(
    world: InTheMatrix, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    state = odd_matrix_worlds.any_state(world, rng)
    whole = shown(world, state)
    for agent in world.agents:
        mine = shown(world, state, agent)
        assert mine.items() <= whole.items()
        view = world.observe(state, agent)
        seen = world.sight(agent, view.cell, view.facing).cells if view.window else ()
        kinds = zip(world.rules.sites, state.kinds, strict=True)
        hidden = tuple(kind if cell in seen else 0 for cell, kind in kinds)
        other = state._replace(kinds=hidden, cooldowns=(0,) * len(world.agents))
        assert shown(world, other, agent) == mine


def test_the_dead_see_nothing() -> None:
    world = world_of()
    dead = wait(world, met(world), world.rules.frozen + 1)
    assert set(shown(world, dead, "player_1")) == {"note-1"}
    assert set(picture(world, dead, "player_1").plain.split("\n")[2]) <= set("█ ")


def test_fog_covers_all_but_the_window() -> None:
    world = world_of()
    state = scene(world, "4 4 ^", "1 1 <")
    image = io.BytesIO()
    drawing_of(world).draw(world, state, seen_by="player_0").png(image, cell=8)
    pixels = Image.open(image).convert("L")
    bright = {(x, y) for x in range(1, 10) for y in range(1, 7) if pixels.getpixel((8 * x + 1, 8 * y + 1)) > 215}  # type: ignore[operator]
    assert bright == {(x, y) for x in range(2, 7) for y in range(1, 6)}


def test_squares_of_a_kitchen_that_are_not_seen_are_dim() -> None:
    world, _ = busy()
    bright = cooking_drawing.background(world, frozenset(world.cells("O", "T")))
    fills = [{shape.fill for shape in cooking_drawing.SQUARES[square]} for square in "OTDC"]
    seen = {shape.fill for shape in bright}
    assert fills[0] | fills[1] <= seen
    assert not seen & (fills[3] - fills[0] - fills[1])

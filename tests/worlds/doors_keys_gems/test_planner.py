"""Costs-to-go of all goals and stages at once, against a queue over cells, keys and doors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.planning import shortest_paths
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal, MapStage
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, State, Thing
from otherminds.worlds.grid import Grid
from strategies import goals_of, moments, world_of, worlds

TWO_COLOURS = worlds(sides=(1, 6), agents=(1, 1), keys=(0, 3), doors=(0, 3), gems=(1, 2), forbid=True)


class Node(NamedTuple):
    """Where an agent is, the keys on the ground, the number it holds of each colour, and the locked doors."""

    cell: int
    ground: frozenset[int]
    held: tuple[int, ...]
    locked: frozenset[int]


@st.composite
def situations(draw: st.DrawFn) -> tuple[DoorsKeysGems, State]:
    """A world, after some actions of its agent, in which items may also lie in doors."""
    world, state = draw(moments(TWO_COLOURS, steps=5))
    doors = [door.cell for door in world.doors]

    def moved(things: tuple[Thing, ...]) -> tuple[Thing, ...]:
        cells = draw(st.lists(st.sampled_from([-1, -1, -1, *doors]), min_size=len(things), max_size=len(things)))
        return tuple(t._replace(cell=t.cell if cell < 0 else cell) for t, cell in zip(things, cells, strict=True))

    return replace(world, keys=moved(world.keys), gems=moved(world.gems)), state


def is_free(world: DoorsKeysGems, node: Node) -> bool:
    return world.grid.is_floor(node.cell) and world.door_at.get(node.cell, -1) not in node.locked


def successors(world: DoorsKeysGems, node: Node) -> Iterator[tuple[Goal | None, Node]]:
    """What each action leads to, and the door or key that is a goal reached by it."""
    colours = sorted({door.colour for door in world.doors})
    for near in world.grid.neighbours[node.cell]:
        if is_free(world, node._replace(cell=near)):
            yield None, node._replace(cell=near)
        door = world.door_at.get(near, -1)
        if door in node.locked and (held := node.held[(c := colours.index(world.doors[door].colour))]):
            fewer = (*node.held[:c], held - 1, *node.held[c + 1 :])
            yield Goal("door", door), node._replace(held=fewer, locked=node.locked - {door})
    for k in node.ground:
        if world.keys[k].cell == node.cell:
            c = colours.index(world.keys[k].colour)
            more = (*node.held[:c], node.held[c] + 1, *node.held[c + 1 :])
            yield Goal("key", k), node._replace(ground=node.ground - {k}, held=more)


def searched(world: DoorsKeysGems, goal: Goal, starts: list[Node]) -> dict[Node, int]:
    """Steps to the goal from all starts and what can follow, backwards; those without a way are left out."""
    things = {"gem": world.gems, "key": world.keys}.get(goal.kind)
    before: dict[Node, list[Node]] = {start: [] for start in starts if is_free(world, start)}
    steps: dict[Node, int] = {}
    for node in (queue := list(before)):
        if things is not None and things[goal.thing].cell == node.cell:
            steps[node] = 1
        for reached, after in successors(world, node):
            if reached == goal:
                steps[node] = 1
            if after not in before:
                queue.append(after)
            before.setdefault(after, []).append(node)
    backwards = deque(steps)
    while backwards:
        node = backwards.popleft()
        for earlier in before[node]:
            if earlier not in steps:
                steps[earlier] = steps[node] + 1
                backwards.append(earlier)
    return steps


def node_of(cell: int, stage: MapStage) -> Node:
    ground, locked = (frozenset(i for i in range(9) if bits >> i & 1) for bits in (stage.ground, stage.locked))
    return Node(cell, ground, stage.held_keys, locked)


@pytest.mark.slow
@settings(max_examples=100)
@given(situations())
def test_fields_are_those_of_a_queue_in_every_stage_and_cell(situation: tuple[DoorsKeysGems, State]) -> None:
    world, state = situation
    plans, goals = DoorsKeysGemsPlanner(world), list(goals_of(world))
    stages, fields = plans.fields(goals, plans.map.stage(state, 0))
    assert stages[0] == plans.map.stage(state, 0)
    assert len(set(stages)) == len(stages) == plans.map.expansion.states
    assert fields.shape == (len(goals), len(stages), world.grid.size)
    nodes = [[node_of(cell, stage) for cell in range(world.grid.size)] for stage in stages]
    for goal, field in zip(goals, fields.tolist(), strict=True):
        steps = searched(world, goal, [node for row in nodes for node in row])
        assert field == [[steps.get(node, 1 + UNREACHABLE) for node in row] for row in nodes]


@pytest.mark.slow
@given(situations())
def test_the_stages_of_fields_are_all_that_changes_lead_to(situation: tuple[DoorsKeysGems, State]) -> None:
    world, state = situation
    plans = DoorsKeysGemsPlanner(world)
    for stage in (reached := [plans.map.stage(state, 0)]):
        for change in plans.map.changes(stage):
            after = plans.map.follow(stage, change.action)
            reached += [after] * (after not in reached)
    assert set(plans.fields([], reached[0])[0]) == set(reached)


IN_SERIES = world_of("kr a1 dr dr gr", "kr .. ## kb db", "gb db .. dr ..")


def test_fields_do_not_depend_on_how_many_costs_are_worked_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    goals = list(goals_of(IN_SERIES))
    found = []
    for together in (1, 1 << 16):
        monkeypatch.setattr(shortest_paths, "CELLS_TOGETHER", together)
        plans = DoorsKeysGemsPlanner(IN_SERIES)
        found.append(plans.fields(goals, plans.map.stage(IN_SERIES.initial, 0))[1])
    assert np.array_equal(found[0], found[1])
    assert (found[0] < UNREACHABLE).any()


def test_doors_in_series_take_a_key_each() -> None:
    plans = DoorsKeysGemsPlanner(IN_SERIES)
    stages, fields = plans.fields([Goal("gem", 0)], plans.map.stage(IN_SERIES.initial, 0))
    keys_in_hand = [max(stage.held_keys) for stage in stages]
    beside = fields[0, :, IN_SERIES.grid.cell(1, 0)].tolist()
    shut = [stage.locked == 31 and stage.ground == 4 for stage in stages]
    assert [(n, b) for n, b, here in zip(keys_in_hand, beside, shut, strict=True) if here] == [(2, 6)]


@pytest.mark.slow
@pytest.mark.parametrize("colours", [20, 1], ids=["a colour each", "one colour"])
def test_fields_are_refused_where_too_many_stages_can_follow(colours: int) -> None:
    keys, doors = (
        tuple(Thing(f"{w}{i}", f"{i % colours}", i + at) for i in range(20)) for w, at in (("k", 1), ("d", 21))
    )
    world = DoorsKeysGems(Grid.of(41, 1, []), ("Ana",), (0,), keys, doors, (), (0,))
    plans = DoorsKeysGemsPlanner(world)
    with pytest.raises(InputError, match="more than 150,000 states"):
        plans.fields([Goal("door", 0)], plans.map.stage(world.initial, 0))

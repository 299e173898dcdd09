"""Nothing out of an agent's sight influences its actions, or the inference from its actions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooks import cook, random_steps, small_kitchen
from kitchens import VARIED, kitchen, thing
from otherminds.observer import Observer, attend
from otherminds.world import Step
from otherminds.worlds.overcooked.agent import Cook
from otherminds.worlds.overcooked.kitchen import DOOR, RECIPES
from otherminds.worlds.overcooked.rules import Overcooked, State

GOALS = ("SimpleTomato", "SimpleOnion", "Salad")
seeds = st.integers(0, 10**6)


def disguised(world: Overcooked, state: State, i: int, rng: random.Random) -> State:
    """The same for agent i, but everything else anywhere out of its sight, and other things done there."""
    sees, layout = in_sight(world, state.cells[i]), world.layout
    away = [j for j, cell in enumerate(state.cells) if cell not in sees]
    n = len(state.on)
    hidden = [k for k, cell in enumerate(layout.counters) if cell not in sees] + [n + j for j in away]
    spots = [*state.on, *state.hands]
    things = [spots[k] for k in hidden]
    rng.shuffle(things)
    if rng.random() < 0.5:
        things.sort(key=bool)  # what there is, is in somebody's hands
    for k, there in zip(hidden, things, strict=True):
        spots[k] = there
    cells = [cell for cell in layout.grid.cells() if cell not in sees]
    people = [rng.choice(cells) if j in away else cell for j, cell in enumerate(state.cells)]
    dishes = zip(layout.deliveries, state.delivered, strict=True)
    delivered = [d if cell in sees else (rng.choice(VARIED),) for cell, d in dishes]
    return State(tuple(people), tuple(spots[n:]), tuple(spots[:n]), tuple(delivered), rng.randrange(4))


def in_sight(world: Overcooked, cell: int) -> set[int]:
    """The squares that are seen from one, going through rooms square by square; a door is in the rooms beside it."""
    grid, doors = world.layout.grid, set(world.layout.cells(DOOR))
    room = edge = {cell}
    while edge:
        edge = {near for at in edge for near in grid.neighbours[at] if near not in doors or at in doors} - room
        room = room | edge
    return room | {at + offset for at in room for offset in grid.offsets.values()}


def other_kitchen(world: Overcooked, i: int, rng: random.Random) -> Overcooked:
    """A kitchen that looks the same to agent i at the start, in which the others want something else."""
    start = disguised(world, world.initial, i, rng)
    recipes = tuple(r if j == i else rng.choice(tuple(RECIPES)) for j, r in enumerate(world.recipes))
    sees, on = in_sight(world, world.cells[i]), list(start.on)
    unseen = [k for k, cell in enumerate(world.layout.counters) if cell not in sees and not on[k]]
    for k, there in zip(rng.sample(unseen, len(unseen)), filter(None, start.hands), strict=False):
        on[k] = there
    return replace(world, on=tuple(on), recipes=recipes, cells=start.cells)


def kitchen_of(seed: int) -> Overcooked:
    return small_kitchen(seed, ("SimpleTomato", "SimpleOnion"), "lp", walls="-", rooms=2)


def minds(world: Overcooked, i: int) -> list[Cook]:
    return [cook(world, goal, i, beta=1.0, lapse=0.1, particle=n) for goal in GOALS for n in range(2)]


@pytest.mark.slow
@settings(max_examples=20)
@given(seeds, st.integers(0, 1))
def test_what_an_agent_does_depends_on_nothing_out_of_its_sight(seed: int, i: int) -> None:
    world, rng = kitchen_of(seed), random.Random(seed)
    other, agent = other_kitchen(world, i, rng), world.agents[i]
    one, two = minds(world, i), minds(other, i)
    for state, changed in both(world, i, seed, rng):
        one = [mind.observe(world.observe(state, agent)) for mind in one]
        two = [mind.observe(other.observe(changed, agent)) for mind in two]
        assert [mind.act() for mind in one] == [mind.act() for mind in two]
        assert [(mind.kitchen, mind.waited) for mind in one] == [(mind.kitchen, mind.waited) for mind in two]
        assert [mind.over for mind in one] == [mind.over for mind in two]
        assert [mind.reached for mind in one] == [mind.reached for mind in two]


def both(world: Overcooked, i: int, seed: int, rng: random.Random) -> Iterator[tuple[State, State]]:
    """The states of a random play, and what they might as well be as far as agent i sees."""
    yield world.initial, disguised(world, world.initial, i, rng)
    for step in random_steps(world, seed, 15):
        yield step.after, disguised(world, step.after, i, rng)


@pytest.mark.slow
@settings(max_examples=20)
@given(seeds, st.integers(0, 1))
def test_what_is_inferred_depends_on_what_the_agent_did_and_saw_alone(seed: int, i: int) -> None:
    world, rng = kitchen_of(seed), random.Random(seed)
    other, agent = other_kitchen(world, i, rng), world.agents[i]
    start = disguised(world, world.initial, i, rng)
    one = {agent: Observer.over(minds(world, i)).see(world.observe(world.initial, agent))}
    two = {agent: Observer.over(minds(other, i)).see(other.observe(start, agent))}
    for step in random_steps(world, seed, 15):
        one = dict(attend(world, one, step.joint, step.after))
        two = dict(attend(other, two, changed_deeds(step, agent, rng), disguised(world, step.after, i, rng)))
        assert one[agent].weights == two[agent].weights
        assert one[agent].predict() == two[agent].predict()
        assert [mind.kitchen for mind in one[agent].minds] == [mind.kitchen for mind in two[agent].minds]


def changed_deeds(step: Step[State, str], agent: str, rng: random.Random) -> dict[str, str]:
    return {name: deed if name == agent else rng.choice(("up", "stay")) for name, deed in step.joint.items()}


@pytest.mark.parametrize("where", [(4, 0), (5, 0), (6, 1), (6, 2)])
def test_where_the_tomato_lies_in_the_other_room_makes_no_difference(where: tuple[int, int]) -> None:
    world = kitchen("-*/----", "-1 - 2-", "p  -  -", "----t--", recipes=("SimpleTomato",))
    on = [0 if there == thing("fresh tomato") else there for there in world.on]
    on[world.layout.counters.index(world.layout.grid.cell(*where))] = thing("fresh tomato")
    moved = replace(world, on=tuple(on))
    assert moved != world
    for goal in GOALS:
        found = [cook(w, goal, beta=1.0).observe(w.observe(w.initial, "Ana")).act() for w in (world, moved)]
        assert found[0] == found[1]


def test_what_is_in_sight_does_make_a_difference() -> None:
    world = kitchen("-*/----", "-1 - 2-", "p  -  -", "-t-----", recipes=("SimpleTomato",))
    moved = kitchen("-*/----", "-1 - 2-", "p  -  -", "--t----", recipes=("SimpleTomato",))
    found = [cook(w, "SimpleTomato", beta=1.0).observe(w.observe(w.initial, "Ana")).act() for w in (world, moved)]
    assert found[0] != found[1]

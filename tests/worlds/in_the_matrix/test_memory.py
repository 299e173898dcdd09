"""What a gatherer remembers, beside what can be said of the true states that were in its view."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import pairwise, product, takewhile

import numpy as np
import pytest

from matrix_worlds import PAPER, ROCK, met, play, random_steps, scene, wait, world_of
from odd_matrix_worlds import odd
from otherminds.worlds.avatars import AHEAD, Action
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.memory import THERE, UNKNOWN, MapMemory, SeenPlayer, initial_memory, updated_memory
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix

YARD = """
WWWWWWWWW
Wn     nW
W  ra   W
W       W
W   ps  W
Wn     nW
WWWWWWWWW
"""


def remembered(world: InTheMatrix, me: int, states: Sequence[MatrixState]) -> MapMemory:
    memory = initial_memory(world)
    for state in states:
        memory = updated_memory(memory, world, me, world.observe(state, world.agents[me]))
    return memory


def lives(world: InTheMatrix, seed: int, steps: int) -> list[MatrixState]:
    """The states of one episode of random play, the first one included."""
    play = random_steps(world, np.random.default_rng(seed), steps)
    states = [play[0][0], *(world.step_with(*step) for step in play)]
    return list(takewhile(lambda state: not state.ended, states))


# An account that goes back through all that was seen


def in_view(world: InTheMatrix, state: MatrixState, me: int) -> set[int]:
    """The cells that somebody sees, worked out from the way they face."""
    field, cell, facing = world.rules.field, state.cells[me], state.facings[me]
    if cell == NOWHERE:
        return set()
    if world.agents[me] in world.all_seeing:
        return set(field.grid.cells())
    (x, y), (ax, ay), reach = field.grid.xy(cell), AHEAD[facing], field.reach
    found = set[int]()
    for ahead, right in product(range(-reach.backward, reach.forward + 1), range(-reach.left, reach.right + 1)):
        u, v = x + ahead * ax - right * ay, y + ahead * ay + right * ax
        if 0 <= u < field.grid.width and 0 <= v < field.grid.height:
            found.add(field.grid.cell(u, v))
    return found


def since(world: InTheMatrix, me: int, states: Sequence[MatrixState]) -> list[MatrixState]:
    """The states since one was last dead."""
    return list(takewhile(lambda state: state.cells[me] != NOWHERE, reversed(states)))[::-1]


def seen_there(states: Sequence[MatrixState], site: int) -> list[MatrixState]:
    """The first states of those in a row at the end in which a site was bare."""
    return list(takewhile(lambda state: not state.shown >> site & 1, reversed(states)))[::-1]


def account(world: InTheMatrix, me: int, states: Sequence[MatrixState]) -> Iterator[tuple[int, int, int, bool]]:
    """Kind, since when away, when last looked at and whether it was oneself who emptied it, for every site."""
    rules = world.rules
    for site, cell in enumerate(rules.sites):
        views = [state for state in states if cell in in_view(world, state, me)]
        lately = [state for state in since(world, me, states) if state in views] if rules.restock else views
        known = rules.fixed[site] is not None or any(state.shown >> site & 1 for state in views)
        bare = seen_there(lately, site)
        first = [state for i, state in enumerate(lately) if not state.shown >> site & 1 and bared(lately[:i], site)]
        yield (
            states[0].kinds[site] if known else UNKNOWN,
            bare[0].t if bare else THERE,
            views[-1].t if views else THERE,
            any(state.cells[me] == cell for state in first),
        )


def bared(before: Sequence[MatrixState], site: int) -> bool:
    """Whether a site was thought to be full after these views of it."""
    return not before or bool(before[-1].shown >> site & 1)


def last_seen(world: InTheMatrix, me: int, j: int, states: Sequence[MatrixState]) -> SeenPlayer | None:
    """Another player where they were last seen, unless that place was seen without them later on."""
    lately = since(world, me, states)
    for i, state in reversed(list(enumerate(lately))):
        cell = state.cells[j]
        if j != me and cell in in_view(world, state, me):
            if any(cell in in_view(world, later, me) for later in lately[i + 1 :]):
                return None
            frozen = state.clocks[j] != FREE
            return SeenPlayer(cell, state.t, not frozen and state.inventories[j] != world.rules.empty, frozen)
    return None


def worlds() -> dict[str, InTheMatrix]:
    long = "ends: 600 3 0.4 900"
    crowd = odd(ends=long)
    return {
        "restock": crowd,
        "no restock": odd(ends=long, restock="restock: no"),
        "all-seeing": dataclasses.replace(crowd, all_seeing=frozenset(crowd.agents)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", worlds())
@pytest.mark.parametrize("seed", range(2))
def test_memory_is_what_was_seen_since(name: str, seed: int) -> None:
    world = worlds()[name]
    states = lives(world, seed, 160)
    for me, end in product(range(3), range(1, len(states) + 1, 11)):
        memory, past = remembered(world, me, states[:end]), states[:end]
        kinds, away, looked, mine = zip(*account(world, me, past), strict=True)
        assert memory.kinds == kinds
        assert memory.away == away
        assert memory.looked == looked
        assert memory.mine == {site for site, own in enumerate(mine) if own}
        assert memory.players == tuple(last_seen(world, me, j, past) for j in range(3))


@pytest.mark.slow
def test_much_happens_in_these_lives() -> None:
    """Resources are seen to go and to be back, people are seen and lost, and somebody dies."""
    for name, world in worlds().items():
        states = lives(world, 0, 160)
        memories = [remembered(world, 0, states[:end]) for end in range(160)]
        assert {bool(memory.mine) for memory in memories} == {True, False}, name
        assert {memory.players[1] is None for memory in memories} == {True, False}, name
        assert len({memory.away for memory in memories}) > 5, name
        assert any(state.cells[0] == NOWHERE for state in states)


@pytest.mark.slow
@pytest.mark.parametrize("substrate", ["rws_repeated", "rws_arena"])
def test_ones_own_are_those_that_one_has_picked_up_where_they_were_thought_to_be(substrate: str) -> None:
    world, picked, mine = in_the_matrix(substrate), set[int](), 0
    states = lives(world, 4, 900)
    memory = remembered(world, 0, states[:1])
    for before, state in pairwise(states):
        site = world.rules.site_at[state.cells[0]]
        if sum(state.inventories[0]) > sum(before.inventories[0]) and memory.away[site] == THERE:
            picked.add(site)
        memory = updated_memory(memory, world, 0, world.observe(state, "player_0"))
        if state.cells[0] == NOWHERE and world.rules.restock:
            picked.clear()
        mine = max(mine, len(memory.mine))
        assert memory.mine == picked
    assert mine > 5


# Named cases


def test_at_first_everything_is_there_and_fixed_kinds_are_known() -> None:
    memory = initial_memory(world_of(YARD, players=3))
    assert memory == MapMemory((0, UNKNOWN, 1, 2), (THERE,) * 4, (THERE,) * 4, frozenset(), (None, None, None))


def walk(world: InTheMatrix, state: MatrixState, *acts: Action) -> list[MatrixState]:
    states = [state]
    for act in acts:
        states.append(play(world, states[-1], act))
    return states


def test_what_one_takes_is_ones_own_and_what_another_takes_is_not() -> None:
    world = world_of(YARD)
    states = walk(world, scene(world, "3 3 ^", "3 4 ^"), "noop", "forward")
    own, others = (remembered(world, me, states) for me in (0, 1))
    assert (own.away[0], own.mine) == (2, frozenset({0}))
    assert (others.away[0], others.mine) == (2, frozenset())


def test_what_goes_out_of_sight_is_thought_to_be_there() -> None:
    world = world_of(YARD)
    elsewhere = remembered(world, 1, walk(world, scene(world, "3 3 ^", "1 5 v"), "noop", "forward"))
    assert (elsewhere.away[0], elsewhere.looked[0]) == (THERE, THERE)


def test_what_has_regrown_is_there_once_it_is_seen() -> None:
    world = world_of(YARD)
    bare, full = scene(world, "3 4 ^", "1 1 >")._replace(shown=0), scene(world, "3 4 ^", "1 1 >")._replace(t=1)
    assert remembered(world, 0, [bare]).away[0] == 0
    assert remembered(world, 0, [bare, full]).away[0] == THERE
    assert remembered(world, 0, [bare, full, bare._replace(t=2)]).away[0] == 2


def test_after_a_death_all_is_thought_to_be_there_and_nobody_anywhere_in_particular() -> None:
    world = world_of(YARD)
    start = met(world)._replace(shown=0, away=tuple((site, 1) for site in range(4)))
    states = [start, *(wait(world, start, n) for n in range(1, 18))]
    frozen, dead = (remembered(world, 0, states[:n]) for n in (17, 18))
    assert set(frozen.away) == {1}
    assert frozen.players[1] == SeenPlayer(start.cells[1], 17, ready=False, frozen=True)
    assert states[-1].cells[0] == NOWHERE
    assert (dead.away, dead.mine, dead.players) == ((THERE,) * 4, frozenset(), (None, None))
    assert (dead.kinds, dead.looked) == (frozen.kinds, frozen.looked)


def test_where_nothing_is_restocked_a_death_makes_one_forget_people_only() -> None:
    world = world_of(YARD)
    world = dataclasses.replace(world, rules=dataclasses.replace(world.rules, restock=False))
    alive = walk(world, scene(world, "3 3 ^", "3 4 ^"), "forward")
    dead = alive[-1]._replace(cells=(NOWHERE, NOWHERE))
    before, later = remembered(world, 0, alive), remembered(world, 0, [*alive, dead])
    assert before.mine == {0}
    assert later == before._replace(players=(None, None))


def test_somebody_who_is_not_where_they_were_is_forgotten_and_one_out_of_sight_is_not() -> None:
    world = world_of(YARD)
    held = (PAPER, ROCK)
    seen = scene(world, "3 4 ^", "3 3 <", held=held)
    turned = scene(world, "3 4 v", "3 1 <", held=held)._replace(t=1)
    looking = scene(world, "3 4 ^", "7 5 <", held=held)._replace(t=2)
    there = SeenPlayer(seen.cells[1], 0, ready=True, frozen=False)
    assert remembered(world, 0, [seen]).players == (None, there)
    away = scene(world, "1 5 v", "3 1 <", held=held)._replace(t=1)
    assert remembered(world, 0, [seen, away]).players == (None, there)
    assert remembered(world, 0, [seen, away, looking]).players == (None, None)
    assert remembered(world, 0, [seen, turned]).players == (None, None)


@pytest.mark.parametrize(
    ("held", "clock", "ready", "frozen"),
    [(ROCK, FREE, True, False), ((1, 1, 1), FREE, False, False), (ROCK, 3, False, True)],
)
def test_it_is_remembered_how_somebody_looked(
    held: tuple[int, int, int], clock: int, ready: bool, frozen: bool
) -> None:
    world = world_of(YARD)
    state = scene(world, "4 5 ^", "4 4 <", held=(PAPER, held))._replace(clocks=(FREE, clock))
    assert remembered(world, 0, [state]).players[1] == SeenPlayer(state.cells[1], 0, ready, frozen)


def test_memory_does_not_change_what_was_remembered_before() -> None:
    world = world_of(YARD)
    states = walk(world, scene(world, "3 3 ^", "3 4 ^"), "forward")
    before = remembered(world, 0, states[:1])
    kept = MapMemory(*before)
    updated_memory(before, world, 0, world.observe(states[1], "player_0"))
    assert before == kept

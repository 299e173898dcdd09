"""What is imagined of kitchens that are partly seen: seen is believed, parts are conserved, the rest is chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cooks import place, random_play
from kitchens import kitchen, kitchens, thing
from otherminds.worlds.overcooked.agent import BeliefSampler
from otherminds.worlds.overcooked.kitchen import NOTHING, PLATE, parts
from otherminds.worlds.overcooked.rules import UNSEEN, KitchenView, Overcooked, State

some = kitchens(sides=(3, 6), agents=(1, 3))
seeds = st.integers(0, 10**6)
TOMATO, LETTUCE = thing("fresh tomato"), thing("fresh lettuce")
Look = tuple[State | None, KitchenView, State]


def sampler(world: Overcooked) -> BeliefSampler:
    return BeliefSampler(world.layout, world.items)


def looks(world: Overcooked, seed: int, i: int = 0, steps: int = 15) -> Iterator[Look]:
    """What agent i believes before, sees, and believes then, all through a random play."""
    before, imagine = None, sampler(world)
    for state in random_play(world, seed, steps):
        view = world.observe(state, world.agents[i])
        after = imagine.update(before, view, i, seed)
        yield before, view, after
        before = after


def kinds(things: Sequence[int]) -> Counter[str]:
    return Counter(part.split()[-1] for one in things if one > 0 for part in parts(one))


def believed(state: State) -> Counter[str]:
    return kinds((*state.on, *state.hands, *(dish for dishes in state.delivered for dish in dishes)))


def spots(state: State | KitchenView) -> tuple[int, ...]:
    return state.on + state.hands


def usable(world: Overcooked) -> list[int]:
    return [k for k in range(len(world.on)) if world.layout.beside[k]]


# Through random play


@settings(max_examples=100)
@given(some, seeds)
def test_what_is_seen_is_believed(world: Overcooked, seed: int) -> None:
    for before, view, after in looks(world, seed):
        assert all(sees in (UNSEEN, takes) for sees, takes in zip(spots(view), spots(after), strict=True))
        assert all(sees in (UNSEEN, takes) for sees, takes in zip(view.cells, after.cells, strict=True))
        assert all(sees in (None, takes) for sees, takes in zip(view.delivered, after.delivered, strict=True))
        assert after.served == 0
        if before is None:
            assert not any(d for d, sees in zip(after.delivered, view.delivered, strict=True) if sees is None)


@settings(max_examples=100)
@given(some, seeds)
def test_parts_are_conserved_as_long_as_there_is_room(world: Overcooked, seed: int) -> None:
    room = True
    for _, view, after in looks(world, seed):
        found = believed(after)
        assert all(found[kind] <= world.stock[kind] for kind in found)
        room &= any(view.on[k] == UNSEEN and not after.on[k] for k in usable(world) if k not in world.layout.boards)
        if room:
            assert found == world.stock


@settings(max_examples=100)
@given(some, seeds)
def test_who_is_not_seen_is_somewhere_out_of_sight(world: Overcooked, seed: int) -> None:
    sight = world.layout.sight
    for before, view, after in looks(world, seed):
        for i, cell in enumerate(view.cells):
            if cell == UNSEEN:
                assert not sight[after.cells[i]] & sight[view.cells[0]]
                assert world.layout.grid.is_floor(after.cells[i])
                if before is not None and not sight[before.cells[i]] & sight[view.cells[0]]:
                    assert after.cells[i] == before.cells[i]


@settings(max_examples=100)
@given(some, seeds)
def test_nothing_is_imagined_where_nobody_can_put_it(world: Overcooked, seed: int) -> None:
    for before, view, after in looks(world, seed):
        hidden = [k for k in range(len(world.on)) if view.on[k] == UNSEEN and after.on[k]]
        assert set(hidden) <= set(usable(world))
        if before is None:
            assert not world.layout.boards & set(hidden)
            assert all(hand in (UNSEEN, takes) for hand, takes in zip(view.hands, after.hands, strict=True))
            assert not any(after.hands[i] for i, cell in enumerate(view.cells) if cell == UNSEEN)


@settings(max_examples=100)
@given(some, seeds)
def test_what_is_out_of_sight_is_remembered_if_what_is_seen_accounts_for_itself(world: Overcooked, seed: int) -> None:
    for before, view, after in looks(world, seed):
        if before is not None and accounts_for_itself(before, view):
            hidden = [k for k, sees in enumerate(spots(view)) if sees == UNSEEN]
            assert [spots(after)[k] for k in hidden] == [spots(before)[k] for k in hidden]
        if before is not None:
            unseen = [d for d, sees in enumerate(view.delivered) if sees is None]
            assert [after.delivered[d] for d in unseen] == [before.delivered[d] for d in unseen]


def accounts_for_itself(before: State, view: KitchenView) -> bool:
    """Whether as many of each kind are seen as were believed to be in the same places."""
    seen = [k for k, sees in enumerate(spots(view)) if sees != UNSEEN]
    dishes = [d for d, sees in enumerate(view.delivered) if sees is not None]
    were = [*(spots(before)[k] for k in seen), *(dish for d in dishes for dish in before.delivered[d])]
    are = [*(spots(view)[k] for k in seen), *(dish for d in dishes for dish in view.delivered[d] or ())]
    return kinds(were) == kinds(are)


@settings(max_examples=80)
@given(some, seeds)
def test_no_more_changes_out_of_sight_than_is_needed(world: Overcooked, seed: int) -> None:
    """Every part that is lost or found changes one hidden thing at the most."""
    for before, view, after in looks(world, seed):
        if before is not None:
            pairs = list(zip(spots(before), spots(after), spots(view), strict=True))
            changed = sum(old != new for old, new, sees in pairs if sees == UNSEEN)
            news = [abs(n) for n in difference(believed_there(before, view), believed_there(after, view)).values()]
            assert changed <= sum(news)


def believed_there(state: State, view: KitchenView) -> Counter[str]:
    """The kinds that are taken to be where this view looks."""
    seen = [takes for takes, sees in zip(spots(state), spots(view), strict=True) if sees != UNSEEN]
    shown = [d for d, sees in zip(state.delivered, view.delivered, strict=True) if sees is not None]
    return kinds([*seen, *(dish for dishes in shown for dish in dishes)])


def difference(one: Counter[str], other: Counter[str]) -> dict[str, int]:
    return {kind: one[kind] - other[kind] for kind in one | other}


@given(some, seeds)
def test_the_same_sight_and_seed_give_the_same_kitchen(world: Overcooked, seed: int) -> None:
    assert list(looks(world, seed)) == list(looks(world, seed))


def test_looking_again_in_another_order_changes_nothing() -> None:
    view = TWO_ROOMS.observe(TWO_ROOMS.initial, "Ana")
    one, other = sampler(TWO_ROOMS), sampler(TWO_ROOMS)
    forwards = [one.update(None, view, 0, seed) for seed in range(30)]
    backwards = [other.update(None, view, 0, seed) for seed in reversed(range(30))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) > 5


# What is likely

TWO_ROOMS = kitchen("#-----#", "-1 D  -", "- l# 2/", "#--#-t#")
HIDDEN = [place(TWO_ROOMS, *at) for at in ((3, 0), (4, 0), (5, 0), (6, 1), (4, 3), (5, 3))]


def test_at_first_everything_is_as_likely_to_lie_on_any_counter_out_of_sight() -> None:
    view, imagine = TWO_ROOMS.observe(TWO_ROOMS.initial, "Ana"), sampler(TWO_ROOMS)
    found = [imagine.update(None, view, 0, seed) for seed in range(4000)]
    there = [state.on.index(TOMATO) for state in found]
    assert set(there) == set(HIDDEN)
    assert stats.chisquare([there.count(k) for k in HIDDEN]).pvalue > 0.01
    people = [state.cells[1] for state in found]
    cells = [TWO_ROOMS.layout.grid.cell(x, y) for x in (4, 5) for y in (1, 2)]
    assert set(people) == set(cells)
    assert stats.chisquare([people.count(cell) for cell in cells]).pvalue > 0.01


def test_two_things_are_as_likely_to_lie_in_any_two_places() -> None:
    world = kitchen("#-----#", "-1 D  -", "- l# 2/", "#--#pt#")
    view, imagine = world.observe(world.initial, "Ana"), sampler(world)
    found = [imagine.update(None, view, 0, seed).on for seed in range(6000)]
    there = Counter((on.index(TOMATO), on.index(PLATE)) for on in found)
    assert set(there) == {(a, b) for a in HIDDEN for b in HIDDEN if a != b}
    assert stats.chisquare(list(there.values())).pvalue > 0.01


def test_what_is_not_where_it_was_is_as_likely_to_be_anywhere_out_of_sight() -> None:
    """Boards and hands count then, too."""
    world, imagine = TWO_ROOMS, sampler(TWO_ROOMS)
    on = tuple(
        TOMATO if k == place(world, 1, 0) else LETTUCE if there == LETTUCE else 0 for k, there in enumerate(world.on)
    )
    before = world.initial._replace(on=on)
    gone = world.observe(before._replace(on=tuple(0 if there == TOMATO else there for there in on)), "Ana")
    found = [imagine.update(before, gone, 0, seed) for seed in range(4000)]
    there = Counter(spots(state).index(TOMATO) for state in found)
    board, hand = place(world, 6, 2), len(world.on) + 1
    assert set(there) == {*HIDDEN, board, hand}
    assert stats.chisquare(list(there.values())).pvalue > 0.01


def test_of_two_alike_out_of_sight_either_may_be_the_one_that_has_turned_up() -> None:
    world, imagine = TWO_ROOMS, sampler(TWO_ROOMS)
    on = tuple(TOMATO if k in HIDDEN[:2] else LETTUCE if there == LETTUCE else 0 for k, there in enumerate(world.on))
    before = world.initial._replace(on=on)
    state = before._replace(hands=(TOMATO, 0))
    found = [imagine.update(before, world.observe(state, "Ana"), 0, seed) for seed in range(2000)]
    left = Counter(state.on.index(TOMATO) for state in found)
    assert set(left) == set(HIDDEN[:2])
    assert all(state.on.count(TOMATO) == 1 for state in found)
    assert stats.chisquare(list(left.values())).pvalue > 0.01


# By hand


def test_who_remembers_a_room_knows_what_is_there() -> None:
    world, imagine = TWO_ROOMS, sampler(TWO_ROOMS)
    door = world.initial._replace(cells=(world.layout.grid.cell(3, 1), world.cells[1]))
    seen = imagine.update(None, world.observe(door, "Ana"), 0, 0)
    assert seen.on == world.on
    assert imagine.update(seen, world.observe(world.initial, "Ana"), 0, 0) == world.initial


def test_a_food_that_has_been_chopped_in_sight_is_not_looked_for_elsewhere() -> None:
    world = kitchen("-t---#", "/1 - 2", "---###")
    imagine = sampler(world)
    first = imagine.update(None, world.observe(world.initial, "Ana"), 0, 0)
    chopped = world.initial._replace(on=(0,) * len(world.on), hands=(thing("chopped tomato"), 0))
    after = imagine.update(first, world.observe(chopped, "Ana"), 0, 0)
    assert believed(after) == {"tomato": 1}
    assert after.hands == (thing("chopped tomato"), 0)


def test_a_dish_seen_delivered_is_not_looked_for_and_one_that_has_gone_is() -> None:
    world = kitchen("-p-*-#", "-1   D", "--T--#")
    dish = thing("chopped tomato, plate")
    state = world.initial._replace(on=(0,) * len(world.on), delivered=((dish,),))
    imagine = sampler(world)
    first = imagine.update(None, world.observe(world.initial, "Ana"), 0, 0)
    after = imagine.update(first, world.observe(state, "Ana"), 0, 0)
    assert after == state


@pytest.mark.parametrize("seed", range(5))
def test_where_there_is_no_room_for_it_nothing_is_imagined(seed: int) -> None:
    world = kitchen("####", "#1-t", "####")
    first = sampler(world).update(None, world.observe(world.initial, "Ana"), 0, seed)
    assert first.on.count(NOTHING) == len(world.on)

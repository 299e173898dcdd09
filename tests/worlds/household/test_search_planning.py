"""Searching against trying out every order in which the places can be looked into."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.worlds.household.searcher import Look, Search

Order = tuple[tuple[int, int | None], ...]


def search_of(seed: int, most: int = 5) -> Search:
    """Any search; ways need not be as long back as there."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, most + 1)), int(rng.integers(1, 4))
    steps = rng.integers(1, 5, (m, m)) * (1 - np.eye(m, dtype=int))
    odds = rng.choice([0.1, 0.5, 1.0, 3.0], n)
    rooms = tuple(int(r) for r in rng.integers(0, m, n))
    closes = tuple(bool(c) for c in rng.random(n) < 0.6)
    return Search(rooms, closes, tuple(tuple(int(d) for d in row) for row in steps), tuple(float(o) for o in odds))


seeds = st.integers(0, 2**32 - 1)
searches = seeds.map(search_of)


def orders(search: Search, places: set[int]) -> Iterator[Order]:
    """All orders of entering rooms and opening closed places; what lies openly in a room is seen before."""
    opened = {(search.rooms[i], i) for i in places if search.closes[i]}
    entered: set[tuple[int, int | None]] = {(search.rooms[i], None) for i in places if not search.closes[i]}
    for order in permutations([*entered, *opened]):
        seen_late = [room for k, (room, place) in enumerate(order) if place is not None and (room, None) in order[k:]]
        if not seen_late:
            yield order


def found_after(search: Search, order: Order, places: set[int], room: int) -> dict[int, float]:
    """For every place, the steps until a thing there is found: two to open a place, one more to close it again, one to
    reach what lies openly."""
    steps, found = 0.0, dict[int, float]()
    for there, place in order:
        steps, room = steps + search.steps[room][there], there
        if place is None:
            found |= {i: steps + 1.0 for i in places if search.rooms[i] == there and not search.closes[i]}
        else:
            found[place] = steps + 2.0
            steps += 3.0
    return found


def expected(search: Search, order: Order, places: set[int], room: int) -> float:
    found = found_after(search, order, places, room)
    return sum(search.odds[i] * found[i] for i in places) / sum(search.odds[i] for i in places)


def subsets(n: int) -> list[int]:
    return list(range(1, 1 << n))


def members(unseen: int) -> set[int]:
    return {i for i in range(16) if unseen >> i & 1}


@settings(max_examples=40)
@given(searches)
def test_the_expected_cost_is_that_of_the_best_of_all_orders_for_every_set_and_room(search: Search) -> None:
    for unseen in subsets(len(search.rooms)):
        every = list(orders(search, members(unseen)))
        for room in range(len(search.steps)):
            best = min(expected(search, order, members(unseen), room) for order in every)
            assert search.costs[unseen, room] == pytest.approx(best, abs=1e-9)


@settings(max_examples=40)
@given(searches)
def test_every_first_look_costs_what_the_best_order_that_starts_with_it_costs(search: Search) -> None:
    every = list(orders(search, members(search.everywhere)))
    for room in range(len(search.steps)):
        best: dict[tuple[int, int | None], float] = {}
        for order in every:
            cost = expected(search, order, members(search.everywhere), room)
            best[order[0]] = min(cost, best.get(order[0], math.inf))
        looks = {(look.room, look.place): look.cost for look in search.looks(search.everywhere, room)}
        assert looks == pytest.approx(best)
        assert min(looks.values()) == pytest.approx(search.costs[search.everywhere, room])


@given(searches)
def test_the_length_of_the_best_search_is_on_average_its_expected_cost(search: Search) -> None:
    for unseen in subsets(len(search.rooms)):
        total = sum(search.odds[i] for i in members(unseen))
        for room in range(len(search.steps)):
            lengths = [search.odds[i] * search.length(i, unseen, room) for i in members(unseen)]
            assert sum(lengths) / total == pytest.approx(search.costs[unseen, room])


@given(searches, seeds)
def test_the_order_in_which_places_are_listed_does_not_matter(search: Search, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(search.rooms)).tolist()
    again = Search(
        tuple(search.rooms[i] for i in order),
        tuple(search.closes[i] for i in order),
        search.steps,
        tuple(search.odds[i] for i in order),
    )
    for unseen in subsets(len(order)):
        same = sum(1 << k for k, i in enumerate(order) if unseen >> i & 1)
        assert again.costs[same] == pytest.approx(search.costs[unseen])


@given(searches, st.floats(0.01, 100.0))
def test_only_the_proportion_of_the_odds_matters(search: Search, factor: float) -> None:
    again = replace(search, odds=tuple(o * factor for o in search.odds))
    assert again.costs == pytest.approx(search.costs)


@given(searches)
def test_a_search_is_the_shorter_the_likelier_the_thing_is_where_one_looks_first(search: Search) -> None:
    everywhere = search.everywhere
    for room in range(len(search.steps)):
        place = min(range(len(search.rooms)), key=lambda i: search.length(i, everywhere, room))
        likelier = replace(search, odds=tuple(o * (3.0 if i == place else 1.0) for i, o in enumerate(search.odds)))
        assert likelier.costs[everywhere, room] <= search.costs[everywhere, room] + 1e-9


@given(searches, seeds)
def test_knowing_which_of_two_odds_hold_never_makes_a_search_longer(search: Search, seed: int) -> None:
    rng, n = np.random.default_rng(seed), len(search.rooms)
    p, q = (odds / odds.sum() for odds in rng.random((2, n)) + 0.01)
    costs = [replace(search, odds=tuple(float(x) for x in o)).costs[-1] for o in (p, q, (p + q) / 2)]
    assert np.all(costs[2] >= (costs[0] + costs[1]) / 2 - 1e-9)


def test_like_places_are_looked_into_alike_and_the_likelier_of_two_first() -> None:
    alike = Search((0, 0), (True, True), ((0,),), (1.0, 1.0))
    assert list(alike.looks(3, 0)) == [Look(0, 0, 3.5), Look(0, 1, 3.5)]  # 2 or, half the time, 2 + 1 + 2
    first, second = replace(alike, odds=(1.0, 3.0)).looks(3, 0)
    assert first.cost == pytest.approx(2 + 0.75 * 3)
    assert second.cost == pytest.approx(2 + 0.25 * 3)


def test_what_lies_openly_is_seen_on_entering_and_what_is_closed_must_be_opened() -> None:
    search = Search((0, 1, 1, 1), (True, False, False, True), ((0, 4), (4, 0)), (1.0, 1.0, 1.0, 1.0))
    assert (search.openly, search.everywhere) == ((0, 0b0110), 0b1111)
    assert search.costs[0b0001, 0] == 2.0
    assert search.costs[0b0010, 0] == search.costs[0b0110, 0] == 5.0
    assert search.costs[0b1000, 0] == 6.0
    assert search.costs[0b1010, 1] == pytest.approx(0.5 * 1 + 0.5 * 2)
    assert {(look.room, look.place) for look in search.looks(0b1111, 0)} == {(0, 0), (1, None)}
    assert {(look.room, look.place) for look in search.looks(0b1001, 0)} == {(0, 0), (1, 3)}
    assert np.all(search.costs[0] == 0.0)


def test_a_search_that_is_over_has_no_length_and_no_looks() -> None:
    search = Search((0, 0), (True, False), ((0,),), (1.0, 1.0))
    assert search.length(0, 0b10, 0) == 0.0
    assert list(search.looks(0, 0)) == []


def test_no_more_than_sixteen_places_are_planned_for() -> None:
    Search((0,) * 16, (True,) * 16, ((0,),), (1.0,) * 16)
    with pytest.raises(ValueError, match="16 places at the most, not 17"):
        Search((0,) * 17, (True,) * 17, ((0,),), (1.0,) * 17)

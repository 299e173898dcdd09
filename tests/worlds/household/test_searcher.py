"""Searchers run forward and backward (search, questions, beliefs, inference), and exact search costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from households import home_from, homes, household
from otherminds.observer import Observer, replay
from otherminds.world import Step, rollout
from otherminds.worlds.household import searcher as module
from otherminds.worlds.household.rules import WAIT, Act, Home, Household, Person, State
from otherminds.worlds.household.searcher import (
    ASKING,
    CLOSING,
    LAPSE,
    OPENING,
    OVERLOOKS,
    RATIONALITY,
    REACHING,
    TRUST,
    Errand,
    Look,
    Search,
    Searcher,
    act_count,
    direct_cost,
    odds_after_hearing,
    search_of,
    trip,
)

HOME = home_from("kitchen: +fridge, +stove, table | bedroom: desk, +drawer | bathroom: +cabinet")
seeds = st.integers(0, 2**32 - 1)
Walk = tuple[Step[State, Act], ...]


def length(search: Search, truth: int, unseen: int, room: int) -> float:
    """Steps of a search that always begins with the cheapest look, if the item is at place `truth`."""
    steps = 0.0
    while unseen >> truth & 1:
        look = min(search.looks(unseen, room), key=lambda look: look.cost)
        steps += search.steps[room][look.room]
        room = look.room
        if look.place is None:
            unseen &= ~search.openly[room]
            steps += REACHING if not unseen >> truth & 1 else 0.0
        else:
            unseen ^= 1 << look.place
            steps += OPENING if look.place == truth else OPENING + CLOSING
    return steps


def seeker(home: Home, errand: Errand | None = None, overlooks: float = 0.0, company: bool = False) -> Searcher:
    odds = (1.0,) * len(home.places)
    return Searcher(home, "Ann", errand or Errand("apple"), odds, company, overlooks=overlooks)


def alone(home: Home, place: str, room: str | None = None) -> Household:
    return household(home, {"Ann": room or home.rooms[0]}, {"apple": place})


def walk(world: Household, mind: Searcher, seed: int, steps: int = 60) -> Walk:
    return tuple(rollout(world, {"Ann": mind}, steps=steps, rng=np.random.default_rng(seed)))


def minds(world: Household, mind: Searcher, steps: Walk) -> Iterator[tuple[State, Searcher, Act]]:
    """The mind before each of its acts."""
    mind = mind.observe(world.observe(world.opening, "Ann"))
    for step in steps:
        yield step.state, mind, step.joint["Ann"]
        mind = mind.observe(world.observe(step.after, "Ann"))


def every_act(home: Home) -> list[Act]:
    spots = [place.name for place in home.places]
    moves = [Act(do, None, spot) for do in ("walk", "open", "close") for spot in spots]
    deeds = [Act(do, "apple", spot) for do in ("grab", "put", "tell") for spot in spots]
    rooms = [Act("walk", None, room) for room in home.rooms]
    return [*moves, *deeds, *rooms, Act("ask", "apple"), Act("unsure", "apple"), WAIT]


@pytest.mark.slow
@given(homes(), seeds, st.booleans())
def test_probabilities_sum_to_one_and_only_what_can_be_done_is_done_on_purpose(home: Home, seed: int, co: bool) -> None:
    rng = np.random.default_rng(seed)
    place, to = (home.places[int(i)].name for i in rng.integers(len(home.places), size=2))
    world = alone(home, place, str(rng.choice(home.rooms)))
    mind = seeker(home, Errand("apple", to if rng.random() < 0.5 else None), OVERLOOKS, co)
    assert len(every_act(home)) == act_count(home)
    for state, now, act in minds(world, mind, walk(world, mind, seed, 15)):
        policy = now.act()
        assert math.fsum(policy.table.values()) == pytest.approx(1.0)
        assert math.fsum(math.exp(policy.log_prob(a)) for a in every_act(home)) == pytest.approx(1.0)
        assert all(world.can(state, "Ann", a) for a, p in policy.table.items() if p > 0.0)
        assert policy.table[act] > 0.0
        assert policy.log_prob(act) == pytest.approx(
            math.log((1 - LAPSE) * policy.table[act] + LAPSE / len(every_act(home)))
        )


@pytest.mark.slow
@given(homes((2, 5)), seeds)
def test_it_finds_the_thing_wherever_it_is_brings_it_where_it_wants_it_and_leaves_it_there(
    home: Home, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    place, to = (home.places[int(i)].name for i in rng.integers(len(home.places), size=2))
    world = alone(home, place, str(rng.choice(home.rooms)))
    last = walk(world, seeker(home), seed)[-1]
    assert last.after.person("Ann").holds == {"apple"}
    steps = walk(world, seeker(home, Errand("apple", to)), seed, 80)
    assert steps[-1].after.where("apple") == to
    done = next((t for t, step in enumerate(steps) if step.after.where("apple") == to), 0)
    assert {step.joint["Ann"].do for step in steps[done + 2 :]} <= {"wait", "close"} or place == to
    assert steps[-1].joint["Ann"] == WAIT


def test_a_searcher_acts_after_it_has_seen_where_it_is() -> None:
    with pytest.raises(ValueError, match="observe"):
        seeker(HOME).act()


# It looks where it costs least


@pytest.fixture
def resolute(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Searchers that do nothing but what is best, and always close what they have opened, as the plan has it."""
    caches = (module._policy_without_lapses, module._first_acts)
    for name, value in (("RATIONALITY", 1e6), ("P_CLOSE", 1.0), ("ASKING", 0.0)):
        monkeypatch.setattr(module, name, value)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def reached_after(world: Household, mind: Searcher, state: State) -> float:
    """The expected steps until it stands before the thing and sees it, over everything that it may do."""
    view = world.observe(state, "Ann")
    place = state.where("apple")
    if place in view.places and view.me.at == place:
        return 0.0
    mind = mind.observe(view)
    acts = {act: p for act, p in mind.act().table.items() if p > 1e-9}
    return sum(
        p * (world.cost(state, "Ann", act) + reached_after(world, mind, world.act(state, "Ann", act)))
        for act, p in acts.items()
    )


@pytest.mark.slow
@settings(max_examples=20)
@given(homes((2, 5)), seeds)
@pytest.mark.usefixtures("resolute")
def test_who_is_rational_takes_as_many_steps_as_the_best_search_costs(home: Home, seed: int) -> None:
    rng = np.random.default_rng(seed)
    odds = tuple(float(o) for o in rng.choice([0.5, 1.0, 2.0], len(home.places)))
    room = str(rng.choice(home.rooms))
    mind = replace(seeker(home), odds=odds)
    steps = [reached_after(w, mind, w.opening) for w in (alone(home, place.name, room) for place in home.places)]
    mean = sum(o * s for o, s in zip(odds, steps, strict=True)) / sum(odds)
    assert mean == pytest.approx(search_of(home, odds).costs(-1)[home.room_number[room]], abs=1e-6)


@pytest.mark.slow
def test_nobody_finds_it_in_fewer_steps_on_average_than_the_best_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "P_CLOSE", 1.0)
    module._policy_without_lapses.cache_clear()
    lengths = []
    for i in range(300):
        world = alone(HOME, HOME.places[i % len(HOME.places)].name)
        steps = walk(world, seeker(HOME), i)
        end = next(t for t, step in enumerate(steps) if step.joint["Ann"].do == "grab")
        lengths.append(sum(world.cost(step.state, "Ann", step.joint["Ann"]) for step in steps[:end]))
    module._policy_without_lapses.cache_clear()
    best = search_of(HOME, seeker(HOME).odds).costs(-1)[0]
    error = float(np.std(lengths)) / math.sqrt(len(lengths))
    assert best - 3 * error < float(np.mean(lengths)) < 1.5 * best


@pytest.mark.slow
@given(homes((2, 5)), seeds)
def test_the_odds_of_two_first_steps_are_those_of_what_the_looks_they_begin_cost(home: Home, seed: int) -> None:
    rng = np.random.default_rng(seed)
    room = str(rng.choice(home.rooms))
    odds = tuple(float(o) for o in rng.random(len(home.places)) + 0.1)
    state = alone(home, home.places[0].name, room).opening
    world = Household(home, ("Ann",), state._replace(things=()))
    mind = replace(seeker(home), odds=odds).observe(world.observe(world.opening, "Ann"))
    weights: dict[Act, float] = {}
    for look in search_of(home, odds).looks(mind.unseen, home.room_number[room]):
        near = look.place is not None and home.rooms[look.room] == room
        to = home.places[look.place].name if near and look.place is not None else home.rooms[look.room]
        weights[Act("walk", None, to)] = weights.get(Act("walk", None, to), 0.0) + math.exp(-RATIONALITY * look.cost)
    total = sum(weights.values())
    expected = {act: w / total for act, w in weights.items()} or {WAIT: 1.0}
    assert mind.act().table == pytest.approx(expected)


def test_who_stands_before_a_place_saves_the_step_there() -> None:
    home = home_from("kitchen: +fridge, +stove")
    world = alone(home, "stove")
    mind = seeker(home).observe(world.observe(world.opening, "Ann"))
    assert mind.act().table == pytest.approx({Act("walk", None, "fridge"): 0.5, Act("walk", None, "stove"): 0.5})
    state = world.act(world.opening, "Ann", Act("walk", None, "fridge"))
    table = mind.observe(world.observe(state, "Ann")).act().table
    assert table[Act("open", None, "fridge")] / table[Act("walk", None, "stove")] == pytest.approx(
        math.exp(RATIONALITY)
    )


# What it sees and believes


def test_it_never_looks_again_where_it_has_looked_and_takes_what_it_sees() -> None:
    world = alone(HOME, "drawer")
    for seed in range(40):
        steps = walk(world, seeker(HOME), seed)
        opened = [step.joint["Ann"].place for step in steps if step.joint["Ann"].do == "open"]
        assert len(set(opened)) == len(opened)
        assert opened[-1] == "drawer"
        grabs = [t for t, step in enumerate(steps) if step.joint["Ann"].do == "grab"]
        assert len(grabs) == 1
        assert steps[grabs[0] - 1].joint["Ann"] == Act("open", None, "drawer")
        assert {step.joint["Ann"].do for step in steps[grabs[0] + 1 :]} <= {"close", "wait"}


def test_it_searches_on_if_the_thing_it_found_has_gone() -> None:
    world = alone(HOME, "table")
    mind = seeker(HOME).observe(world.observe(world.opening, "Ann"))
    assert (mind.item_place, mind.act().table) == ("table", {Act("walk", None, "table"): 1.0})
    gone = mind.observe(world.observe(world.opening._replace(things=(("apple", "desk"),)), "Ann"))
    assert gone.item_place is None
    assert Act("walk", None, "table") not in gone.act().table
    carried = gone.observe(world.observe(State((("Ann", Person("kitchen", None, frozenset({"apple"}))),), ()), "Ann"))
    assert carried.act().table == {WAIT: 1.0}


def test_of_what_it_sees_it_overlooks_a_share() -> None:
    world = alone(HOME, "table")
    mind = seeker(HOME, overlooks=0.3).observe(world.observe(world.opening, "Ann"))
    seeing, blind = replace(mind, overlooks=0.0).act().table, replace(mind, item_place=None).act().table
    acts = {*seeing, *blind}
    assert mind.act().table == pytest.approx({a: 0.7 * seeing.get(a, 0.0) + 0.3 * blind.get(a, 0.0) for a in acts})
    assert replace(mind, item_place=None).act().table == blind


def test_of_two_things_of_one_name_it_takes_the_same_one_every_time() -> None:
    home = home_from("kitchen: shelf, table, counter")
    world = household(home, {"Ann": "kitchen"}, {})
    state = world.opening._replace(things=(("apple", "table"), ("apple", "shelf"), ("apple", "counter")))
    assert seeker(home).observe(world.observe(state, "Ann")).item_place == "counter"


@pytest.mark.slow
@given(st.lists(st.floats(0.01, 5.0), min_size=1, max_size=6), seeds, st.floats(0.5, 0.99))
def test_what_one_is_told_has_the_odds_of_trust_and_the_rest_keep_theirs(odds: list[float], i: int, p: float) -> None:
    place = i % len(odds)
    heard = odds_after_hearing(tuple(odds), place, p)
    if len(odds) == 1:
        assert heard == tuple(odds)
        return
    assert sum(heard) == pytest.approx(1.0)
    assert heard[place] == p
    rest = [(h, o) for k, (h, o) in enumerate(zip(heard, odds, strict=True)) if k != place]
    assert all(h / rest[0][0] == pytest.approx(o / rest[0][1]) for h, o in rest)
    assert odds_after_hearing(heard, place, p) == pytest.approx(heard)


@pytest.mark.parametrize("place", [place.name for place in HOME.places if place.name != "table"])
def test_it_goes_where_it_is_told_that_the_thing_is(place: str) -> None:
    world = household(HOME, {"Ann": "kitchen", "Bob": "bedroom"}, {"apple": "cabinet"})
    state = world.act(world.opening, "Bob", Act("tell", "apple", place))
    mind = seeker(HOME).observe(world.observe(state, "Ann"))
    assert mind.odds[HOME.number[place]] == TRUST
    room = HOME.place[place].room
    table = mind.act().table
    assert max(table, key=lambda act: table[act]) == Act("walk", None, place if room == "kitchen" else room)
    assert max(table.values()) > 0.9
    other = world.act(world.opening, "Bob", Act("tell", "pear", place))
    assert seeker(HOME).observe(world.observe(other, "Ann")).odds == (1.0,) * len(HOME.places)


def test_what_it_says_itself_teaches_it_nothing() -> None:
    world = alone(HOME, "cabinet")
    state = world.act(world.opening, "Ann", Act("tell", "apple", "desk"))
    assert seeker(HOME).observe(world.observe(state, "Ann")).odds == (1.0,) * len(HOME.places)


# Asking


@pytest.mark.slow
def test_it_asks_if_that_pays_if_there_is_company_and_only_once() -> None:
    large = home_from(" | ".join(f"room {i}: +chest {i}, +trunk {i}" for i in range(5)))
    asked = 0
    for seed in range(60):
        for company in (False, True):
            world = alone(large, "chest 4", "room 0")
            acts = [step.joint["Ann"].do for step in walk(world, seeker(large, company=company), seed, 80)]
            assert acts.count("ask") <= company
            assert acts.count("grab") == 1
            asked += acts.count("ask")
    assert asked == 60  # to search five rooms takes so much longer than to ask that everybody does


@pytest.mark.slow
@given(homes((2, 6), (1, 4)), seeds)
def test_the_probability_of_asking_is_that_of_what_an_answer_saves(home: Home, seed: int) -> None:
    rng = np.random.default_rng(seed)
    room, odds = str(rng.choice(home.rooms)), tuple(float(o) for o in rng.random(len(home.places)) + 0.1)
    world = Household(home, ("Ann",), alone(home, home.places[0].name, room).opening._replace(things=()))
    mind = replace(seeker(home, company=True), odds=odds).observe(world.observe(world.opening, "Ann"))
    left = [i for i, place in enumerate(home.places) if place.room != room or place.closes]
    if not left:
        assert mind.act().table == {WAIT: 1.0}
        return
    ways = [home.steps[home.room_number[room]][home.room_number[home.places[i].room]] for i in left]
    direct = sum(odds[i] * (way + 1 + home.places[i].closes) for i, way in zip(left, ways, strict=True))
    direct /= sum(odds[i] for i in left)
    here = home.room_number[room]
    search = search_of(home, odds)
    lengths = sum(odds[i] * length(search, i, mind.unseen, here) for i in left) / sum(odds[i] for i in left)
    p = 1 / (1 + math.exp(-RATIONALITY * (lengths - direct - ASKING)))
    assert direct_cost(home, odds, mind.unseen, here) == pytest.approx(direct)
    assert [trip(home, i, here) for i in left] == [
        w + 1 + home.places[i].closes for i, w in zip(left, ways, strict=True)
    ]
    quiet = replace(mind, company=False).act().table
    asking = {Act("ask", "apple"): p} | {act: (1 - p) * q for act, q in quiet.items()}
    assert mind.act().table == pytest.approx(asking)
    assert replace(mind, has_asked=True).act().table == quiet


def test_it_asks_once_though_somebody_else_acts_in_the_same_step() -> None:
    large = home_from(" | ".join(f"room {i}: +chest {i}, +trunk {i}" for i in range(5)))
    world = household(large, {"Ann": "room 0", "Bob": "room 1"}, {"apple": "chest 4"})
    both = {"Ann": seeker(large, company=True), "Bob": replace(seeker(large, Errand("pear")), name="Bob")}
    steps = tuple(rollout(world, both, steps=40, rng=np.random.default_rng(0)))
    assert [step.joint["Ann"].do for step in steps].count("ask") == 1


# Backward


@pytest.mark.slow
def test_watching_tells_what_is_looked_for_and_where_it_is_to_go() -> None:
    things = {"apple": "cabinet", "book": "drawer", "cup": "stove"}
    errands = [Errand(thing, to) for thing in things for to in (None, "table", "desk")]
    world = household(HOME, {"Ann": "kitchen"}, things)
    for seed in range(36):
        true = errands[seed % len(errands)]
        steps = walk(world, seeker(HOME, true), seed, 40)
        observer = Observer.over(seeker(HOME, errand, OVERLOOKS) for errand in errands)
        *_, last = replay(world, {"Ann": observer}, steps)
        posterior = last["Ann"].ask(lambda mind: mind.errand)
        assert posterior.mode == true
        assert posterior.prob(true) > 0.99


@pytest.mark.slow
def test_beliefs_read_from_a_search_are_as_often_right_as_they_are_sure() -> None:
    world = household(HOME, {"Ann": "bathroom"}, {})
    beliefs = [tuple(0.9 if i == k else 0.02 for i in range(6)) for k in range(6)]
    right, sure = [], []
    for seed in range(180):
        observer = Observer.over(replace(seeker(HOME), odds=odds) for odds in beliefs)
        true = replace(seeker(HOME), odds=beliefs[seed % 6])
        *_, last = replay(world, {"Ann": observer}, walk(world, true, seed, 5))
        posterior = last["Ann"].ask(lambda mind: mind.odds)
        right.append(posterior.prob(true.odds))
        sure.append(posterior.expect(posterior.prob))
    apart = np.array(right) - np.array(sure)
    assert abs(apart.mean()) < 3 * apart.std() / math.sqrt(len(apart))
    assert float(np.mean(right)) > 0.5


# Searching against trying out every order in which the places can be looked into.


Order = tuple[tuple[int, int | None], ...]


def any_search(seed: int, most: int = 5) -> Search:
    """Any search; ways need not be as long back as there."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, most + 1)), int(rng.integers(1, 4))
    steps = rng.integers(1, 5, (m, m)) * (1 - np.eye(m, dtype=int))
    odds = rng.choice([0.1, 0.5, 1.0, 3.0], n)
    rooms = tuple(int(r) for r in rng.integers(0, m, n))
    closes = tuple(bool(c) for c in rng.random(n) < 0.6)
    return Search(rooms, closes, tuple(tuple(int(d) for d in row) for row in steps), tuple(float(o) for o in odds))


searches = seeds.map(any_search)


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


@pytest.mark.slow
@settings(max_examples=20)
@given(searches)
def test_the_expected_cost_is_that_of_the_best_of_all_orders_for_every_set_and_room(search: Search) -> None:
    for unseen in subsets(len(search.rooms)):
        every = list(orders(search, members(unseen)))
        for room in range(len(search.steps)):
            best = min(expected(search, order, members(unseen), room) for order in every)
            assert search.costs(unseen)[room] == pytest.approx(best, abs=1e-9)


@settings(max_examples=20)
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
        assert min(looks.values()) == pytest.approx(search.costs(search.everywhere)[room])


@pytest.mark.slow
@given(searches)
def test_the_length_of_the_best_search_is_on_average_its_expected_cost(search: Search) -> None:
    for unseen in subsets(len(search.rooms)):
        total = sum(search.odds[i] for i in members(unseen))
        for room in range(len(search.steps)):
            lengths = [search.odds[i] * length(search, i, unseen, room) for i in members(unseen)]
            assert sum(lengths) / total == pytest.approx(search.costs(unseen)[room])


@pytest.mark.slow
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
        assert again.costs(same) == pytest.approx(search.costs(unseen))


@pytest.mark.slow
@given(searches, st.floats(0.01, 100.0))
def test_only_the_proportion_of_the_odds_matters(search: Search, factor: float) -> None:
    again = replace(search, odds=tuple(o * factor for o in search.odds))
    for unseen in subsets(len(search.rooms)):
        assert again.costs(unseen) == pytest.approx(search.costs(unseen))


@pytest.mark.slow
@given(searches)
def test_a_search_is_the_shorter_the_likelier_the_thing_is_where_one_looks_first(search: Search) -> None:
    everywhere = search.everywhere
    for room in range(len(search.steps)):
        place = min(range(len(search.rooms)), key=lambda i: length(search, i, everywhere, room))
        likelier = replace(search, odds=tuple(o * (3.0 if i == place else 1.0) for i, o in enumerate(search.odds)))
        assert likelier.costs(everywhere)[room] <= search.costs(everywhere)[room] + 1e-9


@pytest.mark.slow
@given(searches, seeds)
def test_knowing_which_of_two_odds_hold_never_makes_a_search_longer(search: Search, seed: int) -> None:
    rng, n = np.random.default_rng(seed), len(search.rooms)
    p, q = (odds / odds.sum() for odds in rng.random((2, n)) + 0.01)
    costs = [np.array(replace(search, odds=tuple(float(x) for x in o)).costs(-1)) for o in (p, q, (p + q) / 2)]
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
    assert search.costs(0b0001)[0] == 2.0
    assert search.costs(0b0010)[0] == search.costs(0b0110)[0] == 5.0
    assert search.costs(0b1000)[0] == 6.0
    assert search.costs(0b1010)[1] == pytest.approx(0.5 * 1 + 0.5 * 2)
    assert {(look.room, look.place) for look in search.looks(0b1111, 0)} == {(0, 0), (1, None)}
    assert {(look.room, look.place) for look in search.looks(0b1001, 0)} == {(0, 0), (1, 3)}
    assert search.costs(0) == (0.0, 0.0)


def test_a_search_that_is_over_has_no_length_and_no_looks() -> None:
    search = Search((0, 0), (True, False), ((0,),), (1.0, 1.0))
    assert length(search, 0, 0b10, 0) == 0.0
    assert list(search.looks(0, 0)) == []


def test_like_places_count_by_their_number_and_unlike_ones_are_bounded() -> None:
    assert Search((0,) * 60, (True,) * 60, ((0,),), (1.0,) * 60).costs(-1)[0] == pytest.approx(2 + 3 * 59 / 2)
    with pytest.raises(ValueError, match="131,072 cases"):
        Search((0,) * 17, (True,) * 17, ((0,),), tuple(float(n) for n in range(1, 18)))

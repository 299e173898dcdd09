"""Household agents: their replies, the search that a reply saves, their errands, and the mind that has all of these."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from households import home_from, homes, household
from otherminds.mind import Mind
from otherminds.observer import Observer, replay
from otherminds.world import rollout
from otherminds.worlds.household import agent as household_agent
from otherminds.worlds.household.agent import (
    ANSWERING,
    RESERVED,
    STANCES,
    HouseholdAgent,
    SpeakingCosts,
    Stance,
    errands,
    replies,
    reply,
    search_saving,
    uniform_odds,
)
from otherminds.worlds.household.rules import WAIT, Act, Home, Household
from otherminds.worlds.household.searcher import Errand, Searcher

HOME = home_from("kitchen: +fridge, +stove, table | bedroom: desk, +drawer | bathroom: +cabinet")
seeds = st.integers(0, 2**32 - 1)
stances = st.sampled_from(STANCES)


def tell(home: Home, place: int) -> Act:
    return Act("tell", "apple", home.places[place].name)


# What a claim saves the listener


def way(home: Home, a: str, b: str) -> int:
    return home.steps[home.rooms.index(a)][home.rooms.index(b)]


def search(home: Home, places: set[int], room: str) -> float:
    """The mean steps of the best of all orders of looking into the places, by trying out all of them."""
    looks = {(home.places[i].room, i if home.places[i].closes else -1) for i in places}
    best = math.inf
    if not places:
        return 0.0
    for order in permutations(looks):
        steps, here, found, entered = 0.0, room, dict[int, float](), set[str]()
        for there, place in order:
            steps, here = steps + way(home, here, there), there
            if place < 0:
                entered.add(there)
                found |= {i: steps + 1 for i in places if home.places[i].room == there and not home.places[i].closes}
            else:
                found[place] = steps + 2
                steps += 3
                if (there, -1) in looks and there not in entered:
                    break
        else:
            best = min(best, sum(found.values()) / len(places))
    return best


def in_sight(home: Home, room: str) -> set[int]:
    return {i for i, place in enumerate(home.places) if place.room == room and not place.closes}


def led(home: Home, told: int, truth: int, room: str) -> float:
    """The steps of a listener who goes where it is told, takes the thing if it sees it there, and otherwise closes what
    it opened in vain and searches the rest."""
    spot, every = home.places[told], set(range(len(home.places)))
    shown = in_sight(home, spot.room) | {told}
    if truth in shown:
        return way(home, room, spot.room) + 1.0 + home.places[truth].closes
    left = every - shown - in_sight(home, room)
    return way(home, room, spot.room) + 2.0 + spot.closes + search(home, left, spot.room)


@pytest.mark.slow
@settings(max_examples=25)
@given(homes((2, 5)), seeds)
def test_what_a_claim_saves_is_the_share_of_the_search_that_the_listener_is_spared(home: Home, seed: int) -> None:
    rng = np.random.default_rng(seed)
    room, every = int(rng.integers(len(home.rooms))), range(len(home.places))
    name = home.rooms[room]
    blind = search(home, set(every) - in_sight(home, name), name)
    for told in every:
        steps = [led(home, told, truth, name) for truth in every]
        scale = max(blind, steps[told])
        shares = [min(1.0, max(-1.0, 1.0 - cost / scale)) for cost in steps]
        assert [search_saving(home, told, truth, room) for truth in every] == pytest.approx(shares)
        share = 1.0 - sum(steps) / len(steps) / scale
        assert search_saving(home, told, None, room) == pytest.approx(min(1.0, max(-1.0, share)))


@pytest.mark.slow
@given(homes((2, 6)), seeds)
def test_no_claim_saves_more_than_the_truth_or_than_the_whole_search(home: Home, seed: int) -> None:
    room, every = seed % len(home.rooms), range(len(home.places))
    name = home.rooms[room]
    longest = max(led(home, place, place, name) for place in every)
    plain = search(home, set(every) - in_sight(home, name), name) >= longest
    for truth in every:
        claims = [search_saving(home, told, truth, room) for told in every]
        assert all(-1.0 <= gain <= 1.0 for gain in claims)
        assert not plain or claims[truth] == max(claims)


# What is said


@pytest.mark.slow
@given(homes((1, 6)), seeds)
def test_the_probabilities_of_all_replies_sum_to_one(home: Home, seed: int) -> None:
    room, n = seed % len(home.rooms), len(home.places)
    said = {WAIT, Act("unsure", "apple"), *(tell(home, place) for place in range(n))}
    for stance in STANCES:
        for belief in (None, *range(n)):
            for manners in (RESERVED, ANSWERING):
                table = reply(home, "apple", belief, stance, room, manners)
                assert set(table) == said
                assert math.fsum(table.values()) == pytest.approx(1.0)


@pytest.mark.slow
@given(homes((2, 6)), seeds, st.sampled_from((RESERVED, ANSWERING)))
def test_the_odds_of_what_is_said_follow_what_it_gains_and_costs(home: Home, seed: int, manners: SpeakingCosts) -> None:
    room, n = seed % len(home.rooms), len(home.places)
    costs = {"help": manners.lying_to_help, "hinder": 0.0, "independent": manners.lying_unconcerned}
    for stance, sign in (("help", 1.0), ("hinder", -1.0), ("independent", 0.0)):
        for belief in (None, *range(n)):
            table = reply(home, "apple", belief, stance, room, manners)
            gains = [search_saving(home, place, belief, room) for place in range(n)]
            worth = [household_agent.COURTESY if belief is None else -costs[stance]]
            worth += [
                sign * gain / (abs(gain) + household_agent.SATURATION)
                - manners.talking
                - costs[stance] * (place != belief)
                for place, gain in enumerate(gains)
            ]
            said = [Act("unsure", "apple"), *(tell(home, place) for place in range(n))]
            expected = [math.exp(household_agent.REPLY_RATIONALITY * value) for value in worth]
            assert [table[act] / table[WAIT] for act in said] == pytest.approx(expected)


@pytest.mark.slow
@given(homes((2, 9), (1, 4)), seeds)
def test_who_helps_tells_the_truth_or_nothing_and_never_rather_lies(home: Home, seed: int) -> None:
    room, n = seed % len(home.rooms), len(home.places)
    for place in range(n):
        table = reply(home, "apple", place, "help", room)
        truth, gain = tell(home, place), search_saving(home, place, place, room)
        assert table[truth] > max(p for act, p in table.items() if act not in (truth, WAIT))
        assert table[truth] > table[WAIT] or gain < 0.1
        assert table[truth] > 0.75 or gain < 0.4


@pytest.mark.slow
@given(homes((2, 9), (1, 4)), seeds)
def test_who_hinders_rarely_tells_the_truth(home: Home, seed: int) -> None:
    room, n = seed % len(home.rooms), len(home.places)
    for place in range(n):
        table = reply(home, "apple", place, "hinder", room)
        helpful = reply(home, "apple", place, "help", room)
        assert table[tell(home, place)] < 0.15
        assert table[tell(home, place)] <= helpful[tell(home, place)]


@pytest.mark.slow
@given(homes((3, 9), (1, 4)), seeds)
def test_who_does_not_care_rather_stays_silent_than_tells_anything_and_rather_tells_the_truth_than_a_lie(
    home: Home, seed: int
) -> None:
    room, n = seed % len(home.rooms), len(home.places)
    for place in range(n):
        table = reply(home, "apple", place, "independent", room)
        lies = {table[tell(home, other)] for other in range(n) if other != place}
        assert table[WAIT] > 0.5
        assert max(lies) == pytest.approx(min(lies))
        assert table[tell(home, place)] > max(lies)
        answering = reply(home, "apple", place, "independent", room, ANSWERING)
        assert answering[tell(home, place)] > table[tell(home, place)]
        assert answering[WAIT] < table[WAIT]


@pytest.mark.slow
@given(homes((2, 9), (1, 4)), seeds)
def test_who_has_no_idea_and_no_ill_will_says_so(home: Home, seed: int) -> None:
    for stance in ("help", "independent"):
        table = reply(home, "apple", None, stance, seed % len(home.rooms))
        assert max(table, key=lambda act: table[act]) == Act("unsure", "apple") or len(home.places) < 3


def test_a_lie_sends_the_listener_far_rather_than_near() -> None:
    home = home_from("kitchen: +fridge, +stove | bedroom: +drawer")
    table = reply(home, "apple", 0, "hinder", 0)
    assert table[tell(home, 2)] > table[tell(home, 1)] > table[tell(home, 0)]


@pytest.mark.slow
@given(homes((1, 6)), seeds)
def test_tables_of_replies_hold_the_same_numbers_for_every_belief_and_stance(home: Home, seed: int) -> None:
    room = seed % len(home.rooms)
    for row, belief in enumerate((None, *range(len(home.places)))):
        for column, stance in enumerate(STANCES):
            for act, p in reply(home, "apple", belief, stance, room).items():
                assert replies(home, room)[act._replace(thing=None)][row, column] == p


# What is done


@pytest.mark.slow
@given(homes((1, 6)), stances, seeds)
def test_the_probabilities_of_all_errands_sum_to_one(home: Home, stance: Stance, seed: int) -> None:
    names = [place.name for place in home.places]
    for lies in (*names, "where it was"):
        for wanted in (None, lies, *names):
            table = errands(home, "apple", lies, stance, wanted)
            assert math.fsum(table.values()) == pytest.approx(1.0)
            assert min(table.values()) >= 0.0
            assert Errand("apple", lies) not in table
            assert {errand.thing for errand in table if errand is not None} <= {"apple"}
            assert {errand.to for errand in table if errand is not None} <= set(names)


def test_who_helps_brings_it_where_it_is_wanted_and_leaves_it_if_it_is_there() -> None:
    there = errands(HOME, "apple", "fridge", "help", "desk")
    assert max(there, key=lambda errand: there[errand]) == Errand("apple", "desk")
    assert there[Errand("apple", "desk")] > 0.9
    already = errands(HOME, "apple", "fridge", "help", "fridge")
    assert already[None] > 0.9


def test_who_hinders_takes_it_away_from_where_it_is_wanted_and_never_there() -> None:
    away = errands(HOME, "apple", "fridge", "hinder", "fridge")
    assert 1.0 - away[None] > 0.9
    assert len({away[errand] for errand in away if errand is not None}) == 1
    kept = errands(HOME, "apple", "fridge", "hinder", "desk")
    assert kept[None] > 0.9
    chore = errands(HOME, "apple", "fridge", "independent", None)[Errand("apple", "desk")]
    assert kept[Errand("apple", "desk")] == pytest.approx(household_agent.P_CHORE * chore)
    assert kept[Errand("apple", "stove")] > kept[Errand("apple", "desk")]


def test_who_does_not_care_or_has_no_idea_moves_it_anywhere_now_and_then() -> None:
    indifferent = errands(HOME, "apple", "fridge", "independent", "desk")
    for stance in STANCES:
        assert errands(HOME, "apple", "fridge", stance, None) == indifferent
    assert indifferent[None] == pytest.approx(1 - 1 / household_agent.ITEMS_PER_HOME)
    assert len({p for errand, p in indifferent.items() if errand is not None}) == 1


# The mind run forward and backward


def companion(stance: Stance, believed: str | None = None, wanted: str | None = None) -> HouseholdAgent:
    return HouseholdAgent.initial(
        HOME, "Bob", "apple", stance, listener_room="kitchen", believed=believed, listener_goal=wanted
    )


def couple(lies: str) -> Household:
    return household(HOME, {"Ann": "kitchen", "Bob": "bedroom"}, {"apple": lies})


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("believed", [None, "drawer", "cabinet"])
def test_an_agent_that_is_asked_replies_by_the_table(stance: Stance, believed: str | None) -> None:
    world = couple("cabinet")
    mind = companion(stance, believed).observe(world.observe(world.opening, "Bob"))
    state = world.act(world.opening, "Ann", Act("ask", "apple"))
    asked = mind.observe(world.observe(state, "Bob"))
    number = None if believed is None else HOME.number[believed]
    table = reply(HOME, "apple", number, stance, HOME.room_number["kitchen"])
    assert dict(asked.act()) == pytest.approx(dict(table))
    assert {asked: 1}[replace(asked)] == 1
    quiet = asked.observe(world.observe(world.act(state, "Ann", WAIT), "Bob"))
    assert not quiet.must_reply


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("wanted", [None, "desk", "fridge"])
def test_errands_are_drawn_by_the_table(stance: Stance, wanted: str | None) -> None:
    mind = companion(stance, "fridge", wanted)
    assert mind.errand is not None
    assert dict(mind.errand) == pytest.approx(dict(errands(HOME, "apple", "fridge", stance, wanted)))


def test_an_agent_acts_after_its_first_observation() -> None:
    with pytest.raises(ValueError, match="observe"):
        companion("help").act()


@pytest.mark.parametrize("seed", range(4))
def test_a_helping_agent_brings_the_item_and_is_recognised(seed: int) -> None:
    world = couple("desk")
    ann = Searcher(HOME, "Ann", Errand("book"), uniform_odds(HOME))
    minds: dict[str, Mind[Any, Act]] = {"Ann": ann, "Bob": companion("help", "desk", "table")}
    steps = list(rollout(world, minds, steps=5, rng=np.random.default_rng(seed)))
    assert steps[-1].after.where("apple") in ("table", "desk")
    watched = {"Bob": Observer.over(companion(stance, "desk", "table") for stance in ("help", "hinder"))}
    *_, last = replay(world, watched, steps)
    helped = steps[-1].after.where("apple") == "table"
    assert (last["Bob"].ask(lambda mind: mind.stance).prob("help") > 0.9) == helped


@pytest.mark.parametrize(("stance", "says"), [("help", "cabinet"), ("hinder", "fridge")])
def test_what_an_agent_says_reveals_its_stance(stance: Stance, says: str) -> None:
    world = couple("cabinet")
    ask, tell_it = {"Ann": Act("ask", "apple"), "Bob": WAIT}, {"Ann": WAIT, "Bob": Act("tell", "apple", says)}
    state = world.opening
    watched = Observer.over(companion(s, "cabinet") for s in ("help", "hinder")).see(world.observe(state, "Bob"))
    for joint in (ask, tell_it):
        state = world.step(state, joint, np.random.default_rng(0))
        watched = watched.watch(joint["Bob"], world.observe(state, "Bob"))
    assert watched.ask(lambda mind: mind.stance).prob(stance) > 0.9

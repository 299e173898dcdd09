"""The rules of a household: legal acts, their costs, and partial views."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from households import home_from, homes, household
from otherminds.worlds.household.rules import WAIT, Act, Home, Household, Person, Place, State

HOME = home_from("kitchen: +fridge, +stove, table | bedroom: desk, +drawer")
THINGS = ("apple", "book", "cup")
SPOKEN = ("ask", "tell", "unsure", "wait")


def scene(**things: str) -> Household:
    return household(HOME, {"Ann": "kitchen", "Bob": "bedroom"}, things or {"apple": "fridge", "book": "desk"})


def after(world: Household, *acts: Act, agent: str = "Ann") -> State:
    state = world.opening
    for act in acts:
        assert world.can(state, agent, act), act
        state = world.act(state, agent, act)
    return state


def walk(to: str) -> Act:
    return Act("walk", None, to)


FRIDGE_OPEN = (walk("fridge"), Act("open", None, "fridge"))
HOLDING = (*FRIDGE_OPEN, Act("grab", "apple", "fridge"))

ALLOWED = [
    ((), walk("bedroom"), True),
    ((), walk("kitchen"), False),
    ((), walk("table"), True),
    ((), walk("desk"), False),
    ((), walk("cellar"), False),
    ((walk("table"),), walk("table"), False),
    ((), Act("open", None, "fridge"), False),
    ((walk("fridge"),), Act("open", None, "fridge"), True),
    ((walk("fridge"),), Act("open", None, "stove"), False),
    ((walk("fridge"),), Act("close", None, "fridge"), False),
    ((walk("table"),), Act("open", None, "table"), False),
    (FRIDGE_OPEN, Act("open", None, "fridge"), False),
    (FRIDGE_OPEN, Act("close", None, "fridge"), True),
    ((*FRIDGE_OPEN, walk("table")), Act("close", None, "fridge"), False),
    ((walk("fridge"),), Act("grab", "apple", "fridge"), False),
    (FRIDGE_OPEN, Act("grab", "apple", "fridge"), True),
    (FRIDGE_OPEN, Act("grab", "book", "fridge"), False),
    (FRIDGE_OPEN, Act("grab", "apple", None), False),
    ((*FRIDGE_OPEN, walk("table")), Act("grab", "apple", "fridge"), False),
    ((walk("bedroom"),), Act("grab", "book", "desk"), False),
    ((walk("bedroom"), walk("desk")), Act("grab", "book", "desk"), True),
    (HOLDING, Act("grab", "apple", "fridge"), False),
    (HOLDING, Act("put", "apple", "fridge"), True),
    (HOLDING, Act("put", "book", "fridge"), False),
    ((*HOLDING, Act("close", None, "fridge")), Act("put", "apple", "fridge"), False),
    ((*HOLDING, walk("table")), Act("put", "apple", "table"), True),
    ((*HOLDING, walk("table")), Act("put", "apple", "stove"), False),
    ((*HOLDING, walk("stove")), Act("put", "apple", "stove"), False),
    ((), Act("put", "apple", "table"), False),
    ((), Act("ask", "apple"), True),
    ((), Act("tell", "apple", "drawer"), True),
    ((), Act("unsure", "apple"), True),
    ((), WAIT, True),
]  # fmt: skip


@pytest.mark.parametrize(("before", "act", "allowed"), ALLOWED)
def test_what_can_be_done_where(before: tuple[Act, ...], act: Act, allowed: bool) -> None:
    world = scene()
    state = after(world, *before)
    assert world.can(state, "Ann", act) == allowed
    assert (act in world.actions(state, "Ann")) == allowed


def test_an_errand_step_by_step() -> None:
    world = scene()
    state = after(world, *HOLDING, Act("close", None, "fridge"), walk("bedroom"), walk("drawer"))
    assert state.person("Ann") == Person("bedroom", "drawer", frozenset({"apple"}))
    assert (state.where("apple"), state.where("book"), state.opened) == (None, "desk", frozenset())
    state = world.act(world.act(state, "Ann", Act("open", None, "drawer")), "Ann", Act("put", "apple", "drawer"))
    assert (state.where("apple"), state.person("Ann").holds, set(state.opened)) == ("drawer", frozenset(), {"drawer"})
    assert state.last == (("Ann", Act("put", "apple", "drawer")),)
    with pytest.raises(KeyError):
        state.person("Cat")


COSTS = [
    (walk("bedroom"), 5.0), (walk("table"), 1.0), (Act("open", None, "fridge"), 1.0), (Act("ask", "apple"), 1.0),
    (Act("tell", "apple", "desk"), 1.0), (Act("unsure", "apple"), 1.0), (WAIT, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("act", "cost"), COSTS)
def test_every_act_but_waiting_costs_a_step_and_a_way_as_many_as_it_is_long(act: Act, cost: float) -> None:
    home = replace(HOME, steps=((0, 5), (3, 0)))
    world = replace(scene(), home=home)
    assert world.cost(world.opening, "Ann", act) == cost
    joint = {"Ann": act, "Bob": walk("kitchen")}
    moved = world.step(world.opening, joint, np.random.default_rng(0))
    assert world.reward(world.opening, joint, moved) == {"Ann": -cost, "Bob": -3.0}
    assert not world.done(moved)


def test_one_sees_what_lies_openly_or_in_what_is_open_in_ones_own_room_alone() -> None:
    world = scene(apple="fridge", book="desk", cup="table")
    view = world.observe(world.start(np.random.default_rng(0)), "Ann")
    assert view.places == {"table"}
    assert view.things == {("cup", "table")}
    state = after(world, *FRIDGE_OPEN)
    view = world.observe(state, "Ann")
    assert view.places == {"table", "fridge"}
    assert view.opened == {"fridge"}
    assert view.things == {("cup", "table"), ("apple", "fridge")}
    assert view.me == Person("kitchen", "fridge")
    view = world.observe(state, "Bob")
    assert view.places == {"desk"}
    assert view.opened == frozenset()
    assert view.things == {("book", "desk")}


def test_words_are_heard_in_the_whole_house_and_deeds_are_seen_in_the_room() -> None:
    world = scene()
    for act in (Act("ask", "apple"), Act("tell", "book", "desk"), Act("unsure", "apple"), WAIT):
        assert world.observe(after(world, act), "Bob").last == (("Ann", act),)
    state = after(world, *FRIDGE_OPEN)
    assert world.observe(state, "Bob").last == ()
    assert world.observe(state, "Ann").last == (("Ann", Act("open", None, "fridge")),)


def test_all_act_at_once_in_their_order_so_the_first_to_reach_a_thing_has_it() -> None:
    world = household(HOME, {"Ann": "bedroom", "Bob": "bedroom"}, {"book": "desk"})
    rng, grab = np.random.default_rng(0), Act("grab", "book", "desk")
    state = world.step(world.opening, {"Bob": walk("desk"), "Ann": walk("desk")}, rng)
    state = world.step(state, {"Bob": grab, "Ann": grab}, rng)
    assert state.person("Ann").holds == {"book"}
    assert state.person("Bob").holds == frozenset()


def test_of_several_things_of_one_name_one_is_taken_and_the_others_stay() -> None:
    opening = scene().opening._replace(things=(("cup", "table"), ("cup", "desk"), ("apple", "fridge")))
    world = replace(scene(), opening=opening)
    state = after(world, walk("table"), Act("grab", "cup", "table"), walk("bedroom"))
    assert set(state.things) == {("cup", "desk"), ("apple", "fridge")}
    assert set(after(world, walk("table"), Act("grab", "cup", "table"), Act("put", "cup", "table")).things) == set(
        opening.things
    )


@pytest.mark.parametrize(
    ("rooms", "places", "steps", "message"),
    [
        (("a",), (Place("x", "a", True), Place("x", "a", False)), ((0,),), "a name of its own"),
        (("a",), (Place("a", "a", True),), ((0,),), "a name of its own"),
        (("a",), (Place("x", "b", True),), ((0,),), "in one of its rooms"),
        (("a", "b"), (Place("x", "b", True),), ((0, 1),), "steps from every room"),
        (("a", "b"), (Place("x", "b", True),), ((0, 1), (1,)), "steps from every room"),
    ],
)
def test_a_home_must_make_sense(
    rooms: tuple[str, ...], places: tuple[Place, ...], steps: tuple[tuple[int, ...], ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Home(rooms, places, steps)


def test_like_homes_are_equal_and_hash_alike() -> None:
    again = home_from("kitchen: +fridge, +stove, table | bedroom: desk, +drawer")
    assert (again, hash(again)) == (HOME, hash(HOME))
    assert again != home_from("kitchen: +fridge, stove, table | bedroom: desk, +drawer")


# What holds in any home, whatever is done


def every_act(home: Home) -> list[Act]:
    """Whatever there is to try, sense or nonsense."""
    spots = [place.name for place in home.places]
    about = [
        Act(do, thing, place) for do in ("grab", "put", "tell") for thing in THINGS for place in (*spots, "nowhere")
    ]
    moves = [Act(do, None, to) for do in ("walk", "open", "close") for to in (*spots, *home.rooms, "nowhere", None)]
    return [*about, *moves, *(Act(do, thing) for do in ("ask", "unsure") for thing in THINGS), WAIT]


def ran(home: Home, seed: int) -> tuple[Household, list[tuple[State, str, Act, State]]]:
    """A household in which two people try this and that, mostly what can be done."""
    rng = np.random.default_rng(seed)
    rooms = [str(room) for room in rng.choice(home.rooms, 2)]
    things = {thing: home.places[int(rng.integers(len(home.places)))].name for thing in THINGS}
    world = household(home, {"Ann": rooms[0], "Bob": rooms[1]}, things)
    state, steps = world.opening, []
    for _ in range(40):
        agent = str(rng.choice(["Ann", "Bob"]))
        acts = every_act(home) if rng.random() < 0.2 else [
            act for act in world.actions(state, agent) if act.do not in SPOKEN or rng.random() < 0.1
        ]  # fmt: skip
        act = acts[int(rng.integers(len(acts)))] if acts else WAIT
        steps.append((state, agent, act, world.act(state, agent, act)))
        state = steps[-1][-1]
    return world, steps


def allowed(home: Home, state: State, agent: str, act: Act) -> bool:
    """The rules once more, in other words."""
    me = next(person for name, person in state.people if name == agent)
    spot = {place.name: place for place in home.places}.get(act.place or "")
    if act.do in SPOKEN:
        return True
    if act.do == "walk":
        here = {place.name for place in home.places if place.room == me.room} - {me.at}
        return act.place in here | (set(home.rooms) - {me.room})
    if spot is None or me.at != spot.name:
        return False
    if act.do in ("open", "close"):
        return spot.closes and (spot.name in state.opened) != (act.do == "open")
    if spot.closes and spot.name not in state.opened:
        return False
    return (act.thing, act.place) in state.things if act.do == "grab" else act.thing in me.holds


seeds = st.integers(0, 2**32 - 1)


@pytest.mark.slow
@given(homes((2, 5)), seeds)
def test_the_rules_allow_what_they_say_and_what_they_forbid_changes_nothing(home: Home, seed: int) -> None:
    world, steps = ran(home, seed)
    for before, agent, act, then in steps[::4]:
        legal = {other for other in every_act(home) if allowed(home, before, agent, other)}
        assert {other for other in every_act(home) if world.can(before, agent, other)} == legal
        assert set(world.actions(before, agent)) == legal - {a for a in legal if a.place == "nowhere"}
        assert then.last == ((agent, act),)
        if act not in legal or act.do in SPOKEN:
            assert then._replace(last=before.last) == before


@pytest.mark.slow
@given(homes((2, 5)), seeds)
def test_everything_is_in_one_place_or_in_one_hand_and_everybody_in_one_room(home: Home, seed: int) -> None:
    _, steps = ran(home, seed)
    for _, _, _, state in steps:
        held = [thing for _, person in state.people for thing in person.holds]
        assert sorted([*held, *(thing for thing, _ in state.things)]) == sorted(THINGS)
        assert all(place in home.place for _, place in state.things)
        assert [name for name, _ in state.people] == ["Ann", "Bob"]
        for _, person in state.people:
            assert person.room in home.rooms
            assert person.at is None or home.place[person.at].room == person.room
        assert all(home.place[name].closes for name in state.opened)


@pytest.mark.slow
@given(homes((2, 5)), seeds)
def test_an_act_moves_nobody_but_who_does_it(home: Home, seed: int) -> None:
    _, steps = ran(home, seed)
    for before, agent, act, then in steps:
        others = [(name, person) for name, person in before.people if name != agent]
        assert [(name, person) for name, person in then.people if name != agent] == others
        if act.do not in ("grab", "put"):
            assert then.things == before.things
            assert then.person(agent).holds == before.person(agent).holds
        if act.do not in ("open", "close"):
            assert then.opened == before.opened


@pytest.mark.slow
@given(homes((2, 5)), seeds)
def test_what_somebody_cannot_see_does_not_change_what_they_see(home: Home, seed: int) -> None:
    """All that is out of sight is changed at random; the view stays what it was."""
    world, steps = ran(home, seed)
    rng = np.random.default_rng(seed)
    for _, _, _, state in steps[::3]:
        me = state.person("Ann")
        hidden = [
            place for place in home.places if place.room != me.room or (place.closes and place.name not in state.opened)
        ]
        names = {place.name for place in hidden}
        view = world.observe(state, "Ann")
        assert view.places == {place.name for place in home.places} - names
        assert view.things == {(thing, place) for thing, place in state.things if place not in names}
        things = tuple(
            (thing, str(rng.choice(sorted(names))) if place in names else place) for thing, place in state.things
        )
        far = {place.name for place in hidden if place.closes and place.room != me.room and rng.random() < 0.5}
        bob, elsewhere, last = state.person("Bob"), [room for room in home.rooms if room != me.room], state.last
        if bob.room != me.room:
            bob = Person(str(rng.choice(elsewhere)), None, frozenset(rng.permutation([*bob.holds, "hat"])[:1].tolist()))
            if not last or (last[0][0] == "Bob" and last[0][1].do not in SPOKEN):
                last = (("Bob", Act("grab", "hat", "nowhere")),)
        opened = (state.opened - {place.name for place in hidden if place.room != me.room}) | far
        changed = State((("Ann", me), ("Bob", bob)), things, opened, last)
        assert world.observe(changed, "Ann") == view

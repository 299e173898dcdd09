"""Who is where when it is not said, what is carried about, and what decides a belief."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.stories.beliefs.nested_beliefs import answer_where, believed_place, deciding
from otherminds.stories.beliefs.perspectives import EVERYDAY, PRESETS, SALLY_ANNE, Conventions
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Entity,
    Episode,
    Event,
    Fact,
    Happening,
    Observation,
    Question,
    Utterance,
)
from otherminds.worlds.household.nested_belief import MoveEvent, NestedBelief, StatementEvent

A, B, C = "Anna", "Ben", "Clara"
KEYS_IN_DRAWER = Fact("at", "keys", "drawer")
PLACES = (Entity("drawer", "place"), Entity("box", "place"), Entity("keys", "object"), Entity("hat", "object"))
KITCHEN = tuple(replace(place, room="kitchen") if place.kind == "place" else place for place in PLACES)
GARDEN = (*KITCHEN, Entity("bench", "place", "garden"), Entity("shelf", "place", "kitchen"))
IN_KITCHEN = tuple(Fact("in_room", who, "kitchen") for who in (A, B, C))


def leave(t: int, who: str) -> Event:
    return Event(t, who, "leave")


def enter(t: int, who: str, room: str | None = "kitchen") -> Event:
    return Event(t, who, "enter", room=room)


def move(t: int, who: str, place: str) -> Event:
    return Event(t, who, "move", "keys", place)


def roomless(*timeline: Happening) -> Episode:
    return Episode("", (A, B, C), PLACES, (KEYS_IN_DRAWER,), timeline)


def housed(*timeline: Happening, init: tuple[Fact, ...] = (*IN_KITCHEN, KEYS_IN_DRAWER)) -> Episode:
    return Episode("", (A, B, C), GARDEN, init, timeline)


def test_who_acts_is_back_though_nobody_says_so() -> None:
    told = roomless(leave(0, A), move(1, A, "box"))
    assert believed_place(told, (B,), "keys") == believed_place(told, (B, A), "keys") == "box"
    spoken = roomless(leave(0, A), leave(1, A), Event(2, A, "wait"), move(3, B, "box"))
    assert believed_place(spoken, (A,), "keys") == "drawer"


def test_who_comes_back_comes_back_to_where_he_was() -> None:
    told = housed(enter(0, C, "garden"), leave(1, A), move(2, B, "box"), enter(3, A, None))
    assert believed_place(told, (A,), "keys") == "box"
    assert believed_place(told, (C,), "keys") == "drawer"


def test_who_first_comes_elsewhere_was_not_here_before() -> None:
    told = housed(enter(0, C, "garden"), init=(*IN_KITCHEN[:2], KEYS_IN_DRAWER))
    assert believed_place(told, (C,), "keys") is None


def test_who_comes_here_later_was_somewhere_else_before() -> None:
    told = housed(Event(0, C, "wait"), move(1, A, "box"), enter(2, C), init=(*IN_KITCHEN[:2], KEYS_IN_DRAWER))
    assert believed_place(told, (C,), "keys", at=1) is None
    assert believed_place(told, (C,), "keys") == "box"


def test_a_place_without_a_room_is_where_it_is_used() -> None:
    init = (Fact("in_room", B, "garden"), Fact("in_room", A, "kitchen"), Fact("in_room", C, "attic"))
    told = Episode("", (A, B, C), PLACES, init, (Event(0, A, "put", "keys", "box"), enter(1, C)))
    assert believed_place(told, (C,), "keys") == "box"
    assert believed_place(told, (B,), "keys") is None


def test_a_story_may_begin_with_people_coming() -> None:
    told = Episode("", (A, B), PLACES, (KEYS_IN_DRAWER,), (enter(0, A), enter(1, B), leave(2, A), move(3, B, "box")))
    assert believed_place(told, (A,), "keys") == believed_place(told, (B, A), "keys") == "drawer"
    elsewhere = replace(told, timeline=(Event(0, B, "wait"), enter(1, A), *told.timeline[2:]))
    assert believed_place(elsewhere, (A,), "keys") is None


def test_what_is_said_again_of_the_start_is_no_news() -> None:
    told = housed(init=(*IN_KITCHEN, KEYS_IN_DRAWER, Fact("at", "keys", "box")))
    assert believed_place(told, (), "keys") == believed_place(told, (A,), "keys") == "drawer"


def test_those_who_are_there_see_what_is_brought_in() -> None:
    back = (leave(0, B), Event(1, A, "grab", "keys"), leave(2, A), enter(3, B), enter(4, A))
    assert believed_place(housed(*back), (B,), "keys", conventions=SALLY_ANNE) == A
    assert believed_place(housed(*back[:4]), (B,), "keys", conventions=SALLY_ANNE) == "drawer"
    held = housed(init=(*IN_KITCHEN, Fact("holds", B, "hat")))
    assert believed_place(held, (A, C), "hat") == B


def test_what_is_carried_to_another_room_is_seen_to_be_taken_and_to_arrive() -> None:
    told = housed(enter(0, C, "garden"), move(1, B, "bench"))
    assert [believed_place(told, chain, "keys") for chain in ((A,), (A, B), (C,), (B,), (B, A))] == [
        B,
        B,
        "bench",
        "bench",
        B,
    ]


def test_who_has_not_looked_is_not_taken_to_know() -> None:
    back = (leave(0, A), leave(1, C), move(2, B, "box"), enter(3, A))
    looked = housed(*back, Event(4, A, "look"), enter(5, C, "garden"), init=(*IN_KITCHEN[:2], KEYS_IN_DRAWER))
    newcomer = Episode("", (A, B, C), GARDEN, (*IN_KITCHEN[:2], KEYS_IN_DRAWER), (*back[:1], *back[2:], enter(5, C)))
    assert believed_place(looked, (A,), "keys", conventions=SALLY_ANNE) == "box"
    assert believed_place(newcomer, (C,), "keys", conventions=SALLY_ANNE) == "box"
    assert believed_place(newcomer, (C, A), "keys", conventions=SALLY_ANNE) is None
    then = replace(newcomer, timeline=(*newcomer.timeline[:-1], Event(4, A, "look"), enter(5, C)))
    assert believed_place(then, (C, A), "keys", conventions=SALLY_ANNE) == "box"


def test_not_having_looked_in_one_room_says_nothing_of_another() -> None:
    init = (*IN_KITCHEN[:2], KEYS_IN_DRAWER, Fact("at", "hat", "bench"))
    timeline = (leave(0, A), enter(1, A), enter(2, A, "garden"), enter(3, C, "garden"))
    assert believed_place(housed(*timeline, init=init), (C, A), "hat", conventions=SALLY_ANNE) == "bench"


def test_who_did_not_notice_does_not_learn_when_others_come() -> None:
    missed = Observation(1, A, Fact("at", "keys", "box"), sees=False)
    told = housed(move(0, B, "box"), missed, leave(2, C), enter(3, C))
    assert believed_place(told, (A,), "keys") == "drawer"


def test_a_percept_is_of_the_last_happening_that_fits() -> None:
    missed = Observation(3, A, Fact("at", "keys", "box"), sees=False)
    told = housed(move(0, B, "box"), move(1, B, "shelf"), move(2, B, "box"), missed)
    assert believed_place(told, (A,), "keys") == "shelf"
    before = housed(replace(missed, t=0), move(1, B, "box"))
    assert believed_place(before, (A,), "keys") == "drawer"


def test_a_denial_leaves_no_idea() -> None:
    told = housed(Utterance(0, A, "deny", KEYS_IN_DRAWER, (B,)))
    assert believed_place(told, (B,), "keys") is None
    assert believed_place(told, (A, B), "keys") is None
    assert believed_place(told, (C,), "keys") == "drawer"


def test_whoever_trusts_takes_those_who_do_not_to_take_it_for_a_lie() -> None:
    told = StatementEvent(A, "keys", "shelf", frozenset({B, C}), frozenset({C}))
    clara = NestedBelief.among(C, (A, B, C), 3).observe(MoveEvent("keys", "box", frozenset({A, B, C}))).observe(told)
    assert clara.model_of(B, A).place_of("keys") == "box"
    assert clara.model_of(A).place_of("keys") == "shelf"


def test_what_an_unnoticed_watcher_thinks_that_he_thinks() -> None:
    told = housed(leave(0, A), move(1, B, "box"), Observation(2, A, Fact("at", "keys", "box")))
    assert believed_place(told, (A, A), "keys") == "box"


@pytest.mark.parametrize(
    ("timeline", "times"),
    [
        ((leave(0, A), move(1, B, "box"), enter(2, A), leave(3, A), move(4, B, "shelf")), [2, 3, 4]),
        ((leave(0, A), move(1, B, "box"), Utterance(2, B, "assert", Fact("at", "keys", "shelf"), (A,))), [2]),
        ((leave(0, A), move(1, B, "box"), move(2, B, "drawer")), []),
        ((leave(0, A), move(1, B, "box"), move(2, B, "shelf")), [0, 2]),
        ((leave(0, C), move(1, A, "box")), [1]),
    ],
)
def test_what_decides_a_belief(timeline: tuple[Happening, ...], times: list[int]) -> None:
    assert [event.t for event in deciding(housed(*timeline), (A,), "keys")] == times


def asked(*places: str) -> Question:
    return Question("", tuple(AnswerOption((Belief(A, Fact("at", "keys", place)),)) for place in places))


def test_abstains_if_it_matters_where_somebody_walks_to() -> None:
    walk, stroll = Event(0, A, "walk"), Event(0, A, "walk", "stroll")
    for vague in (walk, stroll):
        unsure = answer_where(housed(vague, move(1, B, "box")), asked("box", "drawer"))
        assert (unsure.option, unsure.abstained) == (None, "it is not said where everybody goes")
        assert answer_where(housed(vague, leave(1, A), move(2, B, "box")), asked("box", "drawer")).option == 1
    for clear in (Event(0, A, "walk", "keys"), Event(0, A, "walk", place="drawer"), Event(0, B, "walk")):
        assert answer_where(housed(clear, move(1, C, "box")), asked("box", "drawer")).option == 0


NAMES = st.sampled_from([A, B, C, "Nobody"])
THINGS = st.sampled_from(["keys", "hat", "ghost", None])
SPOTS = st.sampled_from(["drawer", "box", "bench", "kitchen", "moon", A, None])
FACTS = st.builds(Fact, st.sampled_from(["at", "in_room", "holds", "is"]), st.sampled_from(["keys", "hat", A]), SPOTS)
VERBS = st.sampled_from(["enter", "leave", "walk", "open", "close", "grab", "put", "move", "look", "wait"])
EVENTS = st.builds(Event, st.integers(0, 5), NAMES, VERBS, THINGS, SPOTS, st.sampled_from(["kitchen", "garden", None]))
SAID = st.builds(
    Utterance, st.integers(0, 5), NAMES, st.sampled_from(["ask", "assert", "deny"]), FACTS | st.none(), st.tuples(NAMES)
)
SEEN = st.builds(Observation, st.integers(0, 5), NAMES, FACTS, st.booleans())
STORIES = st.builds(
    Episode,
    st.just(""),
    st.just((A, B, C)),
    st.sampled_from([PLACES, GARDEN, ()]),
    st.lists(FACTS, max_size=4).map(tuple),
    st.lists(EVENTS | SAID | SEEN, max_size=8).map(tuple),
)


@pytest.mark.slow
@given(STORIES, st.lists(NAMES, max_size=3), st.sampled_from(PRESETS))
@settings(max_examples=200, deadline=None)
def test_any_story_has_an_answer_or_a_reason(told: Episode, chain: list[str], conventions: Conventions) -> None:
    claims = []
    for place in ("drawer", "box"):
        claim: Fact | Belief = Fact("at", "keys", place)
        for who in reversed([*chain, A]):
            claim = Belief(who, claim)
        assert isinstance(claim, Belief)
        claims.append(claim)
    answer = answer_where(told, Question("", tuple(AnswerOption((claim,)) for claim in claims)), conventions)
    assert sum(answer.posterior) == pytest.approx(1.0)
    assert (answer.option is None) == (answer.abstained is not None)
    believed = believed_place(told, (*chain, A), "keys", conventions=conventions)
    assert answer.option is None or believed == ("drawer", "box")[answer.option]
    assert believed_place(told, (A,), "keys", conventions=conventions) == believed_place(
        told, (A, A), "keys", conventions=conventions
    )
    assert EVERYDAY in PRESETS

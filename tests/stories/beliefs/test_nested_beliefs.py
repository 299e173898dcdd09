"""Nested beliefs in whole stories: told by hand, and compared with possible worlds over many drawn ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from epistemic_checker import check
from false_belief_stories import Example, generate_beliefs
from otherminds.stories.beliefs.nested_beliefs import answer_where, believed_place, deciding
from otherminds.stories.beliefs.perspectives import EVERYDAY, HI_TOM, SALLY_ANNE, Conventions
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Holds,
    Observation,
    Question,
    Utterance,
)

STORIES = 240
A, B, C = "Anna", "Ben", "Clara"
OPEN_SHELF = Conventions("surfaces", entering="surfaces")
NO_LOOK = Conventions("nothing", entering="nothing")


def story(*timeline: Happening, room: str | None = "kitchen", there: tuple[str, ...] = (A, B, C)) -> Episode:
    """Keys in a drawer, in a room where there are also a box and an open shelf."""
    init = [Fact("in_room", who, room) for who in there if room is not None] + [Fact("at", "keys", "drawer")]
    places = [
        Entity("drawer", "place", room, "in"),
        Entity("box", "place", room, "in"),
        Entity("shelf", "place", room, "on"),
    ]
    return Episode("", (A, B, C), (*places, Entity("keys", "object")), tuple(init), timeline)


def leave(t: int, who: str) -> Event:
    return Event(t, who, "leave")


def enter(t: int, who: str, room: str | None = "kitchen") -> Event:
    return Event(t, who, "enter", room=room)


def move(t: int, who: str, place: str) -> Event:
    return Event(t, who, "move", "keys", place)


def say(t: int, who: str, place: str | None, *hearers: str) -> Utterance:
    return Utterance(t, who, "assert", Fact("at", "keys", place), hearers)


def thing(example: Example) -> str:
    return next(entity.id for entity in example.episode.entities if entity.kind == "object")


def drawn(number: int, conventions: Conventions) -> Example:
    return generate_beliefs(
        np.random.default_rng([1, number]),
        number % 4,
        people=2 + number // 4 % 4,
        moves=1 + number % 5,
        containers=2 + number // 3 % 3,
        telling=0.15 * (number % 3 > 0),
        conventions=conventions,
    )


@pytest.mark.slow
@pytest.mark.parametrize("conventions", [EVERYDAY, HI_TOM], ids=lambda one: one.name)
def test_agrees_with_possible_worlds(conventions: Conventions) -> None:
    """The question of every story, whose answer is known, and another chain, whose members may have no idea."""
    unknown = 0
    for number in range(STORIES // 2):
        example = drawn(number, conventions)
        episode, rng = example.episode, np.random.default_rng([2, number])
        chains = [example.chain]
        while len(chains) < 2 or any(a == b for a, b in zip(chains[1], chains[1][1:], strict=False)):
            chains[1:] = [tuple(str(who) for who in rng.choice(episode.agents, number % 5))]
        for chain in chains:
            believed = believed_place(episode, chain, thing(example), conventions=conventions)
            oracle = check(episode, chain, thing(example), "hi_tom" if conventions == HI_TOM else "told")
            assert believed == oracle, (example.story, chain)
            unknown += believed is None
        answer = answer_where(episode, example.question, conventions)
        assert answer.option == example.gold
        assert sum(answer.posterior) == answer.posterior[example.gold] == 1.0
    assert unknown > 0


def test_the_classic_story_without_any_room() -> None:
    told = story(move(0, A, "box"), leave(1, A), move(2, B, "drawer"), room=None)
    assert believed_place(told, (A,), "keys") == "box"
    assert believed_place(told, (B,), "keys") == believed_place(told, (), "keys") == "drawer"
    assert believed_place(told, (B, A), "keys") == "box"
    assert believed_place(told, (A, B), "keys") == "box"
    assert believed_place(told, (), "keys", at=0) == "box"
    assert [event.t for event in deciding(told, (A,), "keys")] == [0, 1, 2]
    assert [event.t for event in deciding(told, (B,), "keys")] == [2]


def test_a_place_is_in_the_room_it_is_used_in() -> None:
    """Ben is not said to be anywhere: he moves what Anna used, so he is where she was, and was from the start."""
    places = [Entity("drawer", "place"), Entity("box", "place"), Entity("keys", "object")]
    timeline = (Event(0, A, "put", "keys", "drawer"), Event(1, A, "enter", room="garden"), move(2, B, "box"))
    told = Episode("", (A, B), (*places, Entity("garden", "room")), (), timeline)
    assert believed_place(told, (A,), "keys") == "drawer"
    assert believed_place(told, (B,), "keys", at=1) == "drawer"
    assert believed_place(told, (B, A), "keys") == "drawer"


@pytest.mark.parametrize(
    ("conventions", "back", "newcomer", "other_on_back"),
    [(EVERYDAY, "box", "box", "box"), (SALLY_ANNE, "drawer", "box", "drawer"), (NO_LOOK, "drawer", None, "drawer")],
)
def test_what_coming_in_shows(conventions: Conventions, back: str, newcomer: str | None, other_on_back: str) -> None:
    timeline = (leave(0, A), move(1, B, "box"), enter(2, A), enter(3, C))
    told = story(*timeline, there=(A, B))
    assert believed_place(told, (A,), "keys", conventions=conventions) == back
    assert believed_place(told, (B, A), "keys", conventions=conventions) == other_on_back
    assert believed_place(told, (C,), "keys", conventions=conventions) == newcomer
    assert believed_place(told, (B, C), "keys", conventions=conventions) == newcomer


def test_who_comes_back_learns_by_looking() -> None:
    away = (leave(0, A), move(1, B, "box"), enter(2, A))
    for look in (Event(3, A, "open", place="box"), Event(3, A, "look", place="box"), Event(3, A, "look")):
        told = story(*away, look)
        assert believed_place(told, (A,), "keys", conventions=SALLY_ANNE) == "box"
        assert believed_place(told, (B, A), "keys", conventions=SALLY_ANNE) == "box"
    empty = story(*away, Event(3, A, "open", place="drawer"))
    assert believed_place(empty, (A,), "keys", conventions=SALLY_ANNE) is None


def test_surfaces_show_what_is_on_them_and_not_what_is_in_things() -> None:
    for place, seen in (("shelf", "shelf"), ("box", "drawer")):
        told = story(leave(0, A), move(1, B, place), enter(2, A))
        assert believed_place(told, (A,), "keys", conventions=OPEN_SHELF) == seen


def test_what_is_held_is_nowhere_but_in_those_hands() -> None:
    told = story(leave(0, C), Event(1, A, "grab", "keys"), leave(2, A), enter(3, A, "garden"), enter(4, C))
    assert believed_place(told, (B,), "keys") == A
    assert believed_place(told, (B, A), "keys") == A
    assert believed_place(told, (C,), "keys") is None
    met = replace(told, timeline=(*told.timeline, enter(5, C, "garden")))
    assert believed_place(met, (C,), "keys") == A


def test_named_hearers_alone_hear_and_others_are_taken_not_to() -> None:
    told = story(say(0, A, "box", B))
    assert believed_place(told, (B,), "keys") == believed_place(told, (A, B), "keys") == "box"
    assert believed_place(told, (B, A), "keys") == "box"
    assert [believed_place(told, chain, "keys") for chain in ((A,), (C,), (C, B), (B, C))] == ["drawer"] * 4
    public = story(leave(0, C), say(1, A, "box"))
    assert [believed_place(public, chain, "keys") for chain in ((B,), (C,), ())] == ["box", "drawer", "drawer"]


def test_telling_where_it_is_tells_what_the_speaker_believes() -> None:
    told = story(leave(0, B), leave(1, C), move(2, A, "box"), say(3, A, None, B), say(4, C, None, A))
    assert believed_place(told, (B,), "keys") == "box"
    assert believed_place(told, (A,), "keys") == "drawer"
    assert believed_place(told, (), "keys") == "box"


def test_only_who_left_later_is_trusted_where_that_is_the_convention() -> None:
    away = (leave(0, A), leave(1, B), leave(2, C))
    told = story(*away, say(3, B, "box"))
    assert believed_place(told, (A,), "keys", conventions=HI_TOM) == "box"
    assert believed_place(told, (C,), "keys", conventions=HI_TOM) == "drawer"
    assert believed_place(told, (B, C), "keys", conventions=HI_TOM) == "box"
    assert believed_place(told, (C, A), "keys", conventions=HI_TOM) == "box"
    assert believed_place(told, (A, C, A), "keys", conventions=HI_TOM) == "drawer"
    deaf = replace(HI_TOM, telling="ignored")
    assert believed_place(told, (A,), "keys", conventions=deaf) == "drawer"


def test_stated_percepts_come_before_what_presence_implies() -> None:
    fact = Fact("at", "keys", "box")
    missed = story(move(0, B, "box"), Observation(1, A, fact, sees=False))
    assert believed_place(missed, (A,), "keys") == believed_place(missed, (C, A), "keys") == "drawer"
    assert believed_place(missed, (C,), "keys") == "box"
    spied = story(leave(0, A), move(1, B, "box"), Observation(2, A, fact))
    assert believed_place(spied, (A,), "keys") == believed_place(spied, (A, B), "keys") == "box"
    assert believed_place(spied, (B, A), "keys") == believed_place(spied, (A, B, A), "keys") == "drawer"
    found = story(leave(0, A), Observation(1, A, Fact("at", "keys", "shelf")))
    assert believed_place(found, (A,), "keys") == "shelf"
    assert believed_place(found, (B, A), "keys") == "drawer"


def test_what_probably_did_not_happen_is_left_out() -> None:
    assert believed_place(story(replace(move(0, B, "box"), p=0.4)), (A,), "keys") == "drawer"
    assert believed_place(story(replace(move(0, B, "box"), p=0.6)), (A,), "keys") == "box"


def test_what_one_thinks_that_he_himself_thinks_is_what_he_thinks() -> None:
    told = story(leave(0, A), move(1, B, "box"))
    assert believed_place(told, (A, A), "keys") == "drawer"
    assert believed_place(told, (B, B, A, A), "keys") == "drawer"


def question(*claims: Belief | Holds | Goal, **how: object) -> Question:
    return replace(Question("", tuple(AnswerOption((claim,)) for claim in claims)), **how)  # type: ignore[arg-type]


def at(place: str) -> Fact:
    return Fact("at", "keys", place)


def test_answers_say_what_decided_them() -> None:
    told = story(leave(0, A), move(1, B, "box"))
    answer = answer_where(told, question(Belief(A, at("box")), Belief(A, at("drawer"))))
    assert (answer.option, answer.posterior) == (1, (0.0, 1.0))
    assert [term.happening.t for term in answer.decisive()] == [0, 1]
    least = answer_where(told, question(Belief(A, at("box")), Belief(A, at("drawer")), polarity="least"))
    assert least.option == 0
    denied = answer_where(told, question(Belief(A, at("box"), holds=False), Belief(A, at("box"))))
    assert denied.option == 0
    assert answer_where(told, question(Holds(at("drawer")), Holds(at("box")), at=0)).option == 0


def test_a_room_stands_for_the_places_in_it() -> None:
    told = story(leave(0, A), move(1, B, "box"))
    answer = answer_where(told, question(Belief(A, at("garden")), Belief(A, at("kitchen"))))
    assert answer.option == 1


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (question(Belief(C, at("box")), Belief(C, at("drawer"))), "Clara has not seen the place of the keys"),
        (
            question(Belief(A, Belief(C, at("box"))), Belief(A, Belief(C, at("drawer")))),
            "Anna does not know that Clara has",
        ),
        (
            question(Holds(Fact("at", "hat", "box")), Holds(Fact("at", "hat", "drawer"))),
            "nothing tells the place of the hat",
        ),
        (question(Belief(A, at("shelf")), Belief(A, at("attic"))), "none of the options fit (keys: drawer)"),
        (question(Belief(A, at("drawer")), Belief(B, at("drawer"))), "several of the options fit"),
        (question(Belief(A, at("drawer")), Goal(A, at("drawer"))), "the options do not all say where"),
        (
            question(Belief(A, at("drawer")), Belief(A, at("box")), conditions=(Goal(A),)),
            "the options do not all say where",
        ),
    ],
)
def test_abstains_and_says_why(asked: Question, why: str) -> None:
    told = story(there=(A, B))
    told = replace(told, init=(*told.init, Fact("in_room", C, "garden")))
    answer = answer_where(told, asked)
    assert answer.option is None
    assert answer.abstained is not None
    assert why in answer.abstained
    assert sum(answer.posterior) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_drawn_answers_are_spread_over_the_containers_and_the_options(order: int) -> None:
    examples = [generate_beliefs(np.random.default_rng([order, n]), order) for n in range(240)]
    mentioned = Counter([e.id for e in x.episode.entities if e.kind == "place"].index(x.answer) for x in examples)
    offered = Counter(x.gold for x in examples)
    assert all(55 <= n <= 105 for counter in (mentioned, offered) for n in counter.values())
    false = sum(x.answer != believed_place(x.episode, (), thing(x)) for x in examples)
    assert false == 0 if order == 0 else 95 <= false <= 145


def test_drawn_stories_are_the_same_for_the_same_seed_and_as_asked_for() -> None:
    one, other = (generate_beliefs(np.random.default_rng(5), 2, people=4, moves=5, containers=4) for _ in "ab")
    assert one == other
    assert sum(isinstance(e, Event) and e.verb == "move" for e in one.episode.timeline) == 5
    assert (one.order, len(one.episode.agents), len(one.question.options)) == (2, 4, 4)
    assert one.asks.startswith(f"Where does {one.chain[0]} think {one.chain[1]} thinks the ")
    numbered = generate_beliefs(np.random.default_rng(5), 1, style="tomi")
    assert [line.split(" ")[0] for line in numbered.story.splitlines()] == [
        str(i) for i in range(1, len(numbered.story.splitlines()) + 1)
    ]
    with pytest.raises(ValueError, match="2 to 8"):
        generate_beliefs(np.random.default_rng(5), 2, people=1)

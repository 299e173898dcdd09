"""What is where in a home, and what somebody does with one piece of furniture after another, told in many ways."""

from __future__ import annotations

import pytest

from otherminds.stories.english.reading import read_story
from otherminds.stories.english.rewording import each_named
from otherminds.stories.english.sentences import plain, tokens
from otherminds.stories.model import Event

ROOMS = "The apartment consists of a bedroom and a kitchen. "
KITCHEN = ROOMS + "The kitchen is equipped with seven cabinets, a fridge, a stove and a table. "

THINGS: list[tuple[str, set[tuple[str, str]]]] = [
    ("The bedroom has a desk and a sofa, with a cup and two plates placed on the sofa.", {
        ("cup", "bedroom sofa"), ("plate", "bedroom sofa")}),
    ("The bedroom features a sofa with a book on it and a desk.", {("book", "bedroom sofa")}),
    ("In the bedroom, there is a sofa with a book on it and a cabinet containing a cup and an apple.", {
        ("book", "bedroom sofa"), ("cup", "bedroom cabinet"), ("apple", "bedroom cabinet")}),
    ("The bedroom is furnished with a desk and a sofa, the latter of which has a book on it.", {
        ("book", "bedroom sofa")}),
    ("The bedroom has a desk and a sofa. A cup, a plate, and an apple can be found on the desk.", {
        ("cup", "bedroom desk"), ("plate", "bedroom desk"), ("apple", "bedroom desk")}),
    ("The bedroom has a desk and a sofa. A cup sits on the desk, and two books and a plate are on the sofa.", {
        ("cup", "bedroom desk"), ("book", "bedroom sofa"), ("plate", "bedroom sofa")}),
    ("The bedroom has a desk and a sofa. A cup is placed on the desk and a book on the sofa.", {
        ("cup", "bedroom desk"), ("book", "bedroom sofa")}),
    ("The bedroom has a desk and a sofa. The desk is adorned with a cup, a plate and a book.", {
        ("cup", "bedroom desk"), ("plate", "bedroom desk"), ("book", "bedroom desk")}),
]  # fmt: skip
IN_KITCHEN: list[tuple[str, set[tuple[str, str]]]] = [
    ("Inside the fridge, you'll find a cup and two apples.", {("cup", "kitchen fridge"), ("apple", "kitchen fridge")}),
    ("Inside the fridge is a cup.", {("cup", "kitchen fridge")}),
    ("Two apples are stored in the fridge.", {("apple", "kitchen fridge")}),
    ("The third cabinet from the left holds a cup, while the seventh one houses a plate.", {
        ("cup", "third kitchen cabinet"), ("plate", "seventh kitchen cabinet")}),
    ("The first and fifth cabinets each contain a cup.", {
        ("cup", "first kitchen cabinet"), ("cup", "fifth kitchen cabinet")}),
    ("The first, second, and sixth cabinets, from left to right, are empty, as is the fridge.", set()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("told", "expected"), [(ROOMS + told, found) for told, found in THINGS] + [(KITCHEN + t, f) for t, f in IN_KITCHEN]
)
def test_things_are_where_the_story_says(told: str, expected: set[tuple[str, str]]) -> None:
    found = read_story(told)
    assert not found.unread
    assert {(fact.subject, fact.value) for fact in found.episode.init if fact.predicate == "at"} == expected


@pytest.mark.parametrize(
    "told",
    [
        "A cup is not on the desk, and two plates are on the sofa.",
        "A book is on the desk, a cup is in the cabinet, and two plates are on the sofa.",
        "One cup that is not on the desk is on the sofa, and Ann is at the desk.",
    ],
)
def test_nothing_is_put_where_another_thing_is(told: str) -> None:
    found = read_story(f"{ROOMS}The bedroom has a desk, a sofa and a cabinet. {told}")
    wrong = {("cup", "bedroom desk"), ("plate", "bedroom desk"), ("book", "bedroom sofa"), ("plate", "bedroom cabinet")}
    wrong |= set() if "cup that" in told else {("cup", "bedroom sofa")}
    assert not wrong & {(fact.subject, fact.value) for fact in found.episode.init if fact.predicate == "at"}


BOTH = [("open", "fridge"), ("close", "fridge")]
THREE = ("fifth cabinet", "second cabinet", "stove")
DEEDS: list[tuple[str, list[tuple[str, str]]]] = [
    ("She opens the fridge, closes it, and does the same with the stove.", [
        *BOTH, ("open", "stove"), ("close", "stove")]),
    ("She opens the fridge and closes it. She repeats this action with the fifth and second cabinets, as well as the "
     "stove.", [*BOTH, *((verb, place) for place in THREE for verb in ("open", "close"))]),
    ("She opens the fridge and closes it. She continues this pattern with the fifth cabinet, opening and closing it.", [
        *BOTH, ("open", "fifth cabinet"), ("close", "fifth cabinet")]),
    ("She sequentially approaches the fifth cabinet and the stove, opening and closing each one in turn.", [
        ("open", "fifth cabinet"), ("open", "stove"), ("close", "fifth cabinet"), ("close", "stove")]),
    ("She walks to the fridge. After opening and closing it, she walks to the stove.", [
        *BOTH, ("walk", "stove")]),
    ("Her last action is to move towards the stove.", [("walk", "stove")]),
    ("Concluding her tour of the kitchen, she walks to the stove.", [("walk", "stove")]),
]  # fmt: skip


@pytest.mark.parametrize(("told", "expected"), DEEDS)
def test_deeds_are_repeated_with_everything_that_is_named(told: str, expected: list[tuple[str, str]]) -> None:
    found = read_story(f"{KITCHEN}Ann is in the bedroom. Ann walks to the kitchen. {told}")
    assert not found.unread
    events = [one for one in found.episode.events if isinstance(one, Event) and one.place]
    assert [(one.verb, (one.place or "").replace("kitchen ", "")) for one in events][-len(expected) :] == expected


def test_nothing_is_repeated_that_was_not_done_with_a_piece_of_furniture() -> None:
    assert read_story(f"{KITCHEN}Ann is in the kitchen. Ann takes a cup. She does the same with the stove.").unread


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("the first, third and fifth big boxes", "the first big box and the third big box and the fifth big box"),
        ("the first and second drawers", "the first drawer and the second drawer"),
        ("the first drawer and the second drawer", "the first drawer and the second drawer"),
        ("the first, and she left", "the first , and she left"),
        ("she came first and third", "she came first and third"),
    ],
)  # fmt: skip
def test_numbered_things_are_named_one_by_one(told: str, expected: str) -> None:
    assert " ".join(token.text for token in each_named(tokens(plain(told)))) == expected

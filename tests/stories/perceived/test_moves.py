"""What two people believe of a thing that one of them moves: whether the other one sees it, and is seen."""

from __future__ import annotations

import pytest

from otherminds.stories.perceived import option_by_perception

BEFORE = (
    "Orla and Fenno had shared the old boathouse for years, though they agreed on little. Orla could not stand the "
    "smell of melons, while Fenno ate one every day of the summer. One morning both of them strolled in, and there it "
    "was: a ripe melon in the hamper by the window. "
)
MOVED = "Orla, who would not have it any longer, swiftly carried the melon to the ice box. "
SEEN = "Fenno watched her from the door without a word. "
SECRETLY = "Unbeknownst to Orla, Fenno had been watching from the door. "
MISSED = "Fenno, busy with the nets, was blissfully unaware of what Orla did. "
GONE = "Soon Fenno left the boathouse to fetch the oars. "
AFTER = "And there the tale ends, with the light upon the water."
STORIES = {
    "seen": BEFORE + MOVED + SEEN + AFTER,
    "secretly": BEFORE + MOVED + SECRETLY + AFTER,
    "missed": BEFORE + MOVED + MISSED + AFTER,
    "gone": BEFORE + GONE + MOVED + "That was the last of Orla's deeds that day. " + AFTER,
    "supposed": BEFORE + MOVED + "Unbeknownst to Orla, Fenno did not witness any of it. " + AFTER,
}
KNOWLEDGE = {
    "seen": (True, True, True),
    "secretly": (True, False, True),
    "missed": (False, False, False),
    "gone": (False, False, False),
    "supposed": (False, True, False),
}
"""Whether Fenno knows of the move, whether Orla takes him to know of it, and whether he takes Orla to know of it."""
OLD, NEW = "hamper", "the ice box"
FULL = ("more full", "equally full", "less full")


def answer(case: str, question: str, options: tuple[str, ...]) -> str | None:
    """The option of a question about one of the stories, which must not depend on the order of the options."""
    grounds, again = (option_by_perception(STORIES[case], question, choices) for choices in (options, options[::-1]))
    assert grounds == again
    assert grounds is None or all(passage in STORIES[case] for passage in grounds.passages)
    return grounds and grounds.option


@pytest.mark.parametrize("case", list(STORIES))
def test_an_agent_that_knows_of_the_move_believes_in_the_new_place(case: str) -> None:
    fenno, orla_of_fenno, fenno_of_orla = KNOWLEDGE[case]
    is_new = {
        "From Orla's perspective, where is the melon located precisely by the end of the story?": True,
        "From narrator's perspective, where is melon located by the end of the story?": True,
        "From narrator's perspective, where is melon located in the beginning of the story?": False,
        "From Fenno's perspective, where is the melon located precisely by the end of the story?": fenno,
        "From Orla's perspective, where precisely does Fenno think that the melon is located?": orla_of_fenno,
        "From Fenno's perspective, where precisely does Orla think that the melon is located?": fenno_of_orla,
    }
    assert {question: answer(case, question, (OLD, NEW)) for question in is_new} == {
        question: NEW if new else OLD for question, new in is_new.items()
    }
    initial = "From Fenno's perspective, is the melon in its initial location by the end of the story?"
    assert answer(case, initial, ("Yes", "No")) == ("No" if fenno else "Yes")


@pytest.mark.parametrize(("case", "is_changed"), [("seen", True), ("missed", False)])
def test_places_are_fuller_or_emptier_for_those_who_know(case: str, is_changed: bool) -> None:
    for place, change in {OLD: "less full", NEW: "more full"}.items():
        question = f"From Fenno's perspective, how does {place}'s fullness change by the end of the story?"
        assert answer(case, question, FULL) == (change if is_changed else "equally full")


def test_a_thing_is_equally_accessible_for_an_agent_that_knows_nothing_of_the_move() -> None:
    question = "From Fenno's perspective, how would melon's accessibility change by the end of the story?"
    options = ("more accessible", "equally accessible", "less accessible")
    assert [answer(case, question, options) for case in ("missed", "seen")] == ["equally accessible", None]


def test_names_may_have_any_letters_and_hyphens() -> None:
    story = STORIES["secretly"].replace("Orla", "Zoë").replace("Fenno", "Anne-Lise")
    question = "From Zoë's perspective, where precisely does Anne-Lise think that the melon is located?"
    grounds = option_by_perception(story, question, (OLD, NEW))
    assert grounds is not None
    assert grounds.option == OLD


@pytest.mark.parametrize(
    "story",
    [
        BEFORE,  # nothing is moved
        BEFORE + MOVED,  # the story does not say what Fenno perceives
        "Fenno ate a melon. " * 5,  # there is one person
        STORIES["seen"].replace("Fenno", "Ingo"),  # the story is not about Fenno
    ],
)
def test_a_story_of_another_form_is_left_open(story: str) -> None:
    question = "From Fenno's perspective, is the melon in its initial location by the end of the story?"
    assert option_by_perception(story, question, ("Yes", "No")) is None

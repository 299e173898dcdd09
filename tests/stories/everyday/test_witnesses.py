"""What two people believe of a thing that one of them moves, by whether the other sees it, and is seen."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import ask

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
# whether each of these knows of the move: Fenno, Orla of Fenno, and Fenno of Orla
KNOWN = {
    "seen": (True, True, True),
    "secretly": (True, False, True),
    "missed": (False, False, False),
    "gone": (False, False, False),
    "supposed": (False, True, False),
}
PLACES = ("hamper", "the ice box")
FULL = ("more full", "equally full", "less full")


def told(how: str, question: str, options: tuple[str, ...]) -> str | None:
    found = ask(STORIES[how], question, options).answer
    return None if found.option is None else options[found.option]


@pytest.mark.parametrize("how", list(STORIES))
def test_who_knows_of_the_move_believes_in_the_new_place(how: str) -> None:
    fenno, orla_of_fenno, fenno_of_orla = KNOWN[how]
    asked = {
        "From Orla's perspective, where is the melon located precisely by the end of the story?": True,
        "From narrator's perspective, where is melon located by the end of the story?": True,
        "From narrator's perspective, where is melon located in the beginning of the story?": False,
        "From Fenno's perspective, where is the melon located precisely by the end of the story?": fenno,
        "From Orla's perspective, where precisely does Fenno think that the melon is located?": orla_of_fenno,
        "From Fenno's perspective, where precisely does Orla think that the melon is located?": fenno_of_orla,
    }
    assert {question: told(how, question, PLACES) for question in asked} == {
        question: PLACES[known] for question, known in asked.items()
    }
    initial = "From Fenno's perspective, is the melon in its initial location by the end of the story?"
    assert told(how, initial, ("Yes", "No")) == ("No" if fenno else "Yes")


@pytest.mark.parametrize(("how", "changed"), [("seen", True), ("missed", False)])
def test_places_are_fuller_or_emptier_for_those_who_know(how: str, changed: bool) -> None:
    asked = {"hamper": "less full", "the ice box": "more full"}
    for place, after in asked.items():
        question = f"From Fenno's perspective, how does {place}'s fullness change by the end of the story?"
        assert told(how, question, FULL) == (after if changed else "equally full")


def test_for_who_knows_nothing_of_the_move_nothing_is_harder_to_reach() -> None:
    question = "From Fenno's perspective, how would melon's accessibility change by the end of the story?"
    options = ("more accessible", "equally accessible", "less accessible")
    assert [told(how, question, options) for how in ("missed", "seen")] == ["equally accessible", None]


def test_names_may_have_any_letters() -> None:
    story = STORIES["secretly"].replace("Orla", "Zoë").replace("Fenno", "Anne-Lise")
    question = "From Zoë's perspective, where precisely does Anne-Lise think that the melon is located?"
    found = ask(story, question, PLACES).answer
    assert found.option == PLACES.index("hamper")


def test_if_nothing_is_moved_or_nobody_else_is_told_of_nothing_is_answered() -> None:
    question = "From Fenno's perspective, is the melon in its initial location by the end of the story?"
    for story in (BEFORE, BEFORE + MOVED, "Fenno ate a melon. " * 5):
        assert ask(story, question, ("Yes", "No")).answer.option is None

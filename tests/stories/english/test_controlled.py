"""The controlled form: what is in it is answered as the page says, and what is not is named with a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.stories.answering import ask
from otherminds.stories.english.controlled import parse
from otherminds.stories.english.controlled_story import read_controlled

PAGE = Path(__file__).parents[3] / "docs" / "systems" / "stories.md"
SALLY = "Sally puts the ball in the basket. Sally leaves. Anne moves the ball to the box. "
RING = "Anna and Ben are in the kitchen. Anna puts the ring in the box. Anna goes to the hall. "
CHOCOLATE = "Max and Eva are in the kitchen. The chocolate is in the cupboard. Max leaves the kitchen. "
FRIDGE = CHOCOLATE + "Eva moves the chocolate to the fridge. "
TELESCOPE = (
    "Mia and Leo are in the library. Mia puts her telescope on the shelf. "
    "While Mia is in the garden, Leo carries the telescope to the cupboard. "
)
LETTER = "Mia puts the letter in the drawer and leaves. Leo moves the letter to the safe. "


def answer(story: str, question: str) -> str | None:
    found = ask(story, question)
    return None if found.answer.option is None or found.question is None else found.question.labels[found.answer.option]


@pytest.mark.parametrize(
    ("story", "question", "expected"),
    [
        (SALLY, "Where will Sally look for the ball?", "basket"),
        (SALLY, "Where is the ball?", "box"),
        (SALLY, "Where was the ball at the beginning?", "basket"),
        (SALLY, "Where does Anne think that Sally will look for the ball?", "basket"),
        (SALLY, "Does Sally know where the ball is?", "No"),
        (SALLY, "Does Anne know where the ball is?", "Yes"),
        (SALLY, "Does Sally think that the ball is in the box?", "No"),
        (SALLY, "Does Anne think that Sally thinks the ball is in the basket?", "Yes"),
        (SALLY + "Sally comes back.", "Where will Sally look for the ball?", "basket"),
        (SALLY + "Sally comes back and looks into the box.", "Where will Sally look for the ball?", "box"),
        (SALLY + "Anne tells Sally that the ball is in the bag.", "Where does Sally think the ball is?", "bag"),
        (SALLY + "Anne tells Sally that the ball is in the bag.", "Where is the ball?", "box"),
        (SALLY + "Sally sees this.", "Where does Sally think the ball is?", "box"),
        (SALLY + "Sally sees this.", "Where does Anne think that Sally thinks the ball is?", "basket"),
        (TELESCOPE, "Where does Mia think the telescope is?", "shelf"),
        (TELESCOPE + "Mia sees this.", "Where does Mia think the telescope is?", "cupboard"),
        (LETTER + 'Leo says to Mia: "The letter is in the desk."', "Where will Mia look for the letter?", "desk"),
        (
            FRIDGE + "Eva leaves the kitchen. Max enters the kitchen.",
            "Where will Max look for the chocolate?",
            "cupboard",
        ),
        (FRIDGE, "Where was the chocolate at the beginning?", "cupboard"),
        (RING + "Ben takes the ring.", "Where does Ben think the ring is?", "Ben"),
        (
            RING + "Ben moves the ring to the bin. Anna sees Ben move the ring.",
            "Does Anna know where the ring is?",
            "Yes",
        ),
        (
            "Anna puts the ring in her bag. Ben takes the ring from her bag and hides it in his desk. "
            "Anna does not see this.",
            "Where will Anna look for the ring?",
            "bag",
        ),
        (
            "Mr. Green puts the hat on the chair and goes out. Mrs. Green moves the hat to the wardrobe.",
            "Where will Mr. Green look for his hat?",
            "chair",
        ),
        (
            "Anna puts the ring in the red box. Before Anna comes back from the hall, Ben moves the ring.",
            "Where is the ring?",
            None,
        ),
        (
            "Anna puts the ring in the red box. Anna leaves. Ben moves the ring to the blue box.",
            "Where will Anna look for the ring?",
            "red box",
        ),
        (
            "Tom puts the keys in the drawer. Ann moves the keys to the vase.",
            "Where does Ann think the keys are?",
            "vase",
        ),
    ],
)
def test_a_story_in_the_form_is_answered(story: str, question: str, expected: str | None) -> None:
    assert answer(story, question) == expected


LOSES_SIGHT = [
    "closed her eyes", "turned away", "looked the other way", "fainted", "died", "daydreamed", "was on the phone",
    "turned to the window", "fell asleep", "took a nap", "went to the window", "covered her face", "was distracted",
    "put on a blindfold", "read a book", "kept her back to Anne", "dozed off", "got lost in thought", "went blind",
    "bent down", "stared at the wall", "was unconscious", "left the room in her mind", "put her head on the table",
    "looked out of the window", "opened the curtain", "had a headache", "took a shower", "hid behind the door",
    "sat with her eyes shut",
]  # fmt: skip


@pytest.mark.parametrize("words", LOSES_SIGHT)
def test_what_bears_on_perception_is_never_passed_over(words: str) -> None:
    story = f"Sally put the ball in the basket and {words}. Anne moved the ball to the box."
    found = ask(story, "Where will Sally look for the ball?", ("basket", "box"))
    assert found.answer.option != 1
    assert found.answer.option is None or max(found.answer.posterior) < 0.9


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Sally quietly puts the ball in the basket.", "words"),
        ("The cat moves the ball to the box.", "words"),
        ("Everybody leaves.", "words"),
        ("Anne puts the other ball in the box.", "words"),
        ("Anne does not move the ball to the box.", "words"),
        ("Anne wants to move the ball to the box.", "words"),
        ("Sally moves the ball to the bag.", "say first that Sally is back"),
        ("Sally leaves.", "Sally is not there any more"),
        ("Anne moves it to the bag, and she sees this.", "say first who moves what"),
        ("The ball is in the bag.", "say who moves the ball to the bag"),
        ("Anne takes a nap.", "the nap is used as nothing"),
        ("Anne takes a message.", "the message is used as nothing"),
        ("Anne opens the window.", "the window is used as nothing"),
        ("Anne puts the box in the bag.", "the box is used as"),
        ("Anne puts the ball on the box. Anne puts the ball in the box.", "one thing is in the box, another on it"),
        ("Anne puts the cup in the red box. Anne puts the cup in the blue box. Anne opens the box.", "which box"),
        ("Tom is in the hall. Anne tells her that the ball is in the bag.", 'say who "her" is'),
        ("They leave.", 'say who "they" are'),
        ("Anne goes to the mirror.", "say whether somebody leaves the room"),
        ("Sally and Anne see this.", "say first who moves what"),
        ("Anne thinks that the ball is in the basket.", "say how Anne comes to think so"),
        ("Anne opens the box and takes it.", 'say what "it" is'),
        ("Sally comes back. Sally looks for the ball.", "words"),
    ],
)
def test_what_is_open_is_named(sentence: str, reason: str) -> None:
    found = ask(SALLY + sentence, "Where is the ball?")
    assert found.answer.option is None
    assert reason in (found.answer.abstained or "")
    assert found.advice


ASKED = (
    "Ann and Ben are in the kitchen. Ann leaves the kitchen. Ben puts the beer in the fridge. Ann enters the kitchen. "
    "Ann asks Ben where the beer is. Ben says to Ann: "
)
HELP, HINDER = "Ben wants to help Ann.", "Ben wants to hinder Ann."


@pytest.mark.parametrize(("place", "option"), [("fridge", HELP), ("cabinet", HINDER)])
def test_what_somebody_says_against_better_knowledge_tells_what_they_want(place: str, option: str) -> None:
    options = (HELP, HINDER, "Ben does not care about Ann.")
    found = ask(f'{ASKED}"The beer is in the {place}."', "Which of these is most likely?", options)
    assert found.answer.option == options.index(option)


def test_options_that_are_about_different_things_are_not_compared() -> None:
    options = (HELP, "Ben thinks that the beer is in the fridge.")
    found = ask(f'{ASKED}"The beer is in the fridge."', "Which of these is most likely?", options)
    assert "the options do not all say" in (found.answer.abstained or "")


def test_the_order_of_time_is_that_of_the_words_that_tell_it() -> None:
    orders = [
        "Anne leaves, and then Ben takes the cup.",
        "After Anne leaves, Ben takes the cup.",
        "Before Ben takes the cup, Anne leaves.",
        "Ben takes the cup after Anne leaves.",
        "Anne leaves before Ben takes the cup.",
        "As soon as Anne leaves, Ben takes the cup.",
        "When Anne has left, Ben takes the cup.",
    ]
    kinds = [[clause.kind for clause in parse(sentence) or ()] for sentence in orders]
    assert kinds[:-1] == [["leave", "take"]] * (len(orders) - 1)
    assert kinds[-1] == []


def test_every_sentence_on_the_page_is_in_the_form() -> None:
    section = PAGE.read_text("utf-8").split("## The controlled form")[1].split("\nPeople have names")[0]
    lines = re.findall(r"^\d+\. (.*(?:\n   .*)*)", section, re.MULTILINE)
    plain = [re.sub(r"\([^)]*\)|\*", "", " ".join(line.split())) for line in lines]
    sentences = [sentence for line in plain for sentence in re.findall(r'[A-Z][^.:]*(?:: "[^"]*")?\.?', line)]
    assert len(lines) == 12
    assert len(sentences) > 25
    assert [sentence for sentence in sentences if parse(sentence) is None] == []


@given(st.text(max_size=200) | st.lists(st.sampled_from(SALLY.split()), max_size=40).map(" ".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    reading = read_controlled(text).reading
    assert 0.0 <= reading.coverage <= 1.0
    assert all(account.reason for account in reading.clauses if account.outcome == "unread")


def test_a_text_with_the_labels_of_the_grammar_is_not_in_the_form() -> None:
    assert parse("P1 puts N7 in N0.") is None
    assert ask(SALLY, "Where is N3?").answer.option is None


def test_many_joined_clauses_take_no_time() -> None:
    assert parse("Sally leaves" + " and comes back and leaves" * 14 + " and zorps") is None

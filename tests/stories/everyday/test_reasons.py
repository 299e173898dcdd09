"""What somebody wants, why they do it, whom they help, and what is a lie: answered only if the story says so."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import ask

BOTH = ("helping", "hindering")
DOING = ("He is helping Mina.", "He is hindering Mina.", "He is doing neither.")
NEITHER = ("he helps her", "he hinders her", "neither")


def told(story: str, question: str, options: tuple[str, ...] = ()) -> str | None:
    found = ask(story, question, options)
    return None if found.answer.option is None or found.question is None else found.question.labels[found.answer.option]


@pytest.mark.parametrize(
    ("story", "question", "options", "right"),
    [
        (
            "Ines could not open the gate. Bo lifted the latch for her and stepped aside.",
            "Is Bo helping Ines?",
            (),
            "yes",
        ),
        ("Pim wanted to read. Ole switched off the lamp on purpose.", "Is Ole helping Pim?", (), "no"),
        ("The cook asked for the ladle. The boy handed it to the cook.", "Did the boy help the cook?", (), "yes"),
        (
            "Ada was sweeping leaves. Each time she finished a pile, Sten kicked it apart and giggled.",
            "Is Sten helping Ada or hindering her?",
            BOTH,
            "hindering",
        ),
        (
            "Otto was painting the ceiling. Vera held the ladder until he was down again.",
            "Did Vera help Otto?",
            (),
            "yes",
        ),
        (
            "Otto was painting the ceiling. Vera held the ladder until he was down again. Ruth ate an apple.",
            "Who helped Otto?",
            ("Vera", "Ruth"),
            "Vera",
        ),
        (
            "Mina was looking for her glove. Jorge put it behind the stove so that she could not find it.",
            "What is Jorge doing?",
            DOING,
            DOING[1],
        ),
        ("Lena was mending a sail. Karl sewed one corner for her.", "Was Karl helpful to Lena?", (), "yes"),
        (
            'Lena was mending a sail. Karl threaded the needle. "Bless you, Karl," she said.',
            "Is Karl helping Lena?",
            (),
            "yes",
        ),
        ("Otto was washing the car. Vera carried the sponge away.", "Is Vera helping Otto?", (), None),
        ("Otto needed the sponge. Vera carried the sponge away.", "Is Vera helping Otto?", (), "no"),
        (
            "Lena was mending a sail. Karl was fishing and did not notice her.",
            "Did Karl help or hinder Lena?",
            NEITHER,
            "neither",
        ),
        ("Ada was sweeping the yard. Sten walked past with his dog.", "Is Sten helping Ada?", (), None),
        ("Ada was sweeping the yard. Sten thanked her for the tea.", "Is Sten helping Ada?", (), None),
        (
            "Ada was planting beans. Sten meant well and watered them for her, but it was the wrong bottle.",
            "Is Sten helping Ada?",
            (),
            None,
        ),
        ("Ada was waiting for Sten. Sten looked for her in the market.", "Is Sten helping Ada?", (), None),
        ("Ada was cooking. Sten set a trap for her.", "Is Sten helping Ada?", (), "no"),
        (
            "Ada was singing. Otto ate an egg. Leo held the score for her, and she thanked Leo.",
            "Did Otto help Ada?",
            (),
            "no",
        ),
    ],
)
def test_help_is_what_brings_what_is_wanted_nearer(
    story: str, question: str, options: tuple[str, ...], right: str | None
) -> None:
    assert told(story, question, options) == right

"""What somebody expects in a container with a label: what it says, unless they have looked inside."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import ask

STORY = (
    "Uma Lindt finds a tin in the hall, the label on the tin is biscuits, Uma Lindt cannot see what is inside the tin, "
    "Uma Lindt opens the tin and finds a ribbon, there are no biscuits in the tin, Uma Lindt closes the tin. "
    "Pelle Olsen enters the hall and sees the tin. Pelle Olsen smiles."
)
OPTIONS = ("Button", "Ribbon", "Biscuit", "Spoon")


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("What is inside the tin?", "Ribbon"),
        ("What should be in the tin?", "Biscuit"),
        ("After Pelle Olsen opens the tin, what does Pelle Olsen expect to find in the tin?", "Biscuit"),
        ("After Pelle Olsen opens the tin, what does Uma Lindt expect to find in the tin?", "Ribbon"),
        ("What does Uma Lindt think Pelle Olsen expects to find in the tin?", "Biscuit"),
        ("What does Pelle Olsen think Uma Lindt expects to find in the tin?", "Biscuit"),
    ],
)
def test_whoever_has_not_looked_believes_the_label(question: str, right: str) -> None:
    for turned in (OPTIONS, OPTIONS[::-1]):
        found = ask(STORY, question, turned).answer
        assert found.option == turned.index(right)
        assert sum(found.posterior) == pytest.approx(1.0)


def test_who_was_there_knows_that_the_other_has_looked() -> None:
    told = "Pelle Olsen and Uma Lindt are in the hall. " + STORY.partition(" Pelle Olsen enters")[0]
    found = ask(told, "What does Pelle Olsen think Uma Lindt expects to find in the tin?", OPTIONS)
    assert found.answer.option == OPTIONS.index("Ribbon")


@pytest.mark.parametrize(
    "question", ["What does Pelle Olsen expect to find in the drawer?", "What does Uma Lindt want from the tin?"]
)
def test_nothing_else_is_answered_by_the_label(question: str) -> None:
    assert ask(STORY, question, ("Button", "Glue")).answer.option is None

"""What an agent expects in a container with a label: what the label says, unless the agent has looked inside."""

from __future__ import annotations

import pytest

from otherminds.stories.perceived import option_by_perception

STORY = (
    "Uma-Lindt finds a tin in the hall, the label on the tin is biscuits, Uma-Lindt cannot see what is inside the tin, "
    "Uma-Lindt opens the tin and finds a ribbon, there are no biscuits in the tin, Uma-Lindt closes the tin. "
    "Pelle enters the hall and sees the tin. Pelle smiles."
)
OPTIONS = ("Button", "Ribbon", "Biscuit", "Spoon")
PASSAGES = ("label on the tin is biscuits", "Uma-Lindt opens the tin and finds a ribbon")


@pytest.mark.parametrize(
    ("question", "option"),
    [
        ("What is inside the tin?", "Ribbon"),
        ("What should be in the tin?", "Biscuit"),
        ("After Pelle opens the tin, what does Pelle expect to find in the tin?", "Biscuit"),
        ("After Pelle opens the tin, what does Uma-Lindt expect to find in the tin?", "Ribbon"),
        ("What does Uma-Lindt think Pelle expects to find in the tin?", "Biscuit"),
        ("What does Pelle think Uma-Lindt expects to find in the tin?", "Biscuit"),
    ],
)
@pytest.mark.parametrize("options", [OPTIONS, OPTIONS[::-1]])
def test_an_agent_that_has_not_looked_inside_believes_the_label(
    question: str, option: str, options: tuple[str, ...]
) -> None:
    assert option_by_perception(STORY, question, options) == (option, PASSAGES)


def test_a_witness_knows_that_the_other_person_has_looked_inside() -> None:
    story = "Pelle and Uma-Lindt are in the hall. " + STORY.partition(" Pelle enters")[0]
    question = "What does Pelle think Uma-Lindt expects to find in the tin?"
    assert option_by_perception(story, question, OPTIONS) == ("Ribbon", PASSAGES)


@pytest.mark.parametrize(
    ("story", "question", "options"),
    [
        (STORY, "What does Pelle expect to find in the drawer?", OPTIONS),
        (STORY, "What does Uma-Lindt want from the tin?", ("Button", "Glue")),
        (STORY, "Where is the tin?", OPTIONS),
        (STORY, "What is inside the tin?", ("Ribbon", "A ribbon", "Ribbons")),
        (STORY.replace("opens the tin", "opens the box"), "What is inside the tin?", OPTIONS),
        (STORY.replace("the label on", "a bow is on"), "What is inside the tin?", OPTIONS),
    ],
)
def test_questions_that_the_label_does_not_answer_are_left_open(
    story: str, question: str, options: tuple[str, ...]
) -> None:
    assert option_by_perception(story, question, options) is None

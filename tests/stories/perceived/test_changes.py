"""What an agent believes after a change that it perceives or misses."""

from __future__ import annotations

import pytest

from otherminds.stories.perceived import Grounds, option_by_perception

LAMP = (
    "Ilse repairs lamps in a small shop. She wants to sell a brass lamp today. Ilse sees that the lamp is bright and "
    "polished. A boy who runs past splashes muddy water on it, leaving the brass dull and stained. "
)
QUESTION = "Does Ilse believe the lamp is bright or dull?"
OLD, NEW = "Ilse believes the lamp is bright and polished.", "Ilse believes the lamp is dull and stained."
TUB = "Omar grows herbs. Omar notices that the tub holds ripe tomatoes. At night a fox eats the tomatoes in the tub. "
PLAIN, DENIAL = "Omar believes the tub has ripe tomatoes.", "Omar believes the tub has no ripe tomatoes."


@pytest.mark.parametrize(
    ("outcome", "believed"),
    [
        ("Ilse does not notice the boy or the muddy water.", OLD),
        ("Ilse notices the boy and the stained lamp.", NEW),
        ("She didn't see it happen.", OLD),
        ("She feels the splash.", NEW),
        ("Ilse fails to see the stains.", OLD),
    ],
)
@pytest.mark.parametrize("options", [(OLD, NEW), (NEW, OLD)])
def test_an_agent_that_misses_a_change_believes_in_the_old_state(
    outcome: str, believed: str, options: tuple[str, str]
) -> None:
    event = "A boy who runs past splashes muddy water on it, leaving the brass dull and stained."
    assert option_by_perception(LAMP + outcome, QUESTION, options) == Grounds(believed, (event, outcome))


@pytest.mark.parametrize(
    ("outcome", "believed"), [("Omar does not see the fox.", PLAIN), ("Omar sees the fox.", DENIAL)]
)
@pytest.mark.parametrize("options", [(PLAIN, DENIAL), (DENIAL, PLAIN)])
def test_the_new_state_may_be_the_denial_of_the_old_one(outcome: str, believed: str, options: tuple[str, str]) -> None:
    grounds = option_by_perception(TUB + outcome, "Does Omar believe the tub has ripe tomatoes?", options)
    assert grounds is not None
    assert grounds.option == believed


@pytest.mark.parametrize(
    "end",
    [
        "",  # the story does not say whether she sees it
        "A neighbour does not notice the boy.",  # the last sentence is about another person
        "Ilse does not notice the boy. The neighbour puts the lamp into the window.",  # she may have noticed by then
    ],
)
def test_a_story_that_does_not_end_with_what_the_agent_perceives_is_left_open(end: str) -> None:
    assert option_by_perception(LAMP + end, QUESTION, (OLD, NEW)) is None


PLAN, COPING = "Ilse will put the lamp into the window.", "Ilse will clean the stained lamp first."


@pytest.mark.parametrize(
    ("outcome", "action"), [("Ilse does not notice the stains.", PLAN), ("Ilse notices the stains.", COPING)]
)
@pytest.mark.parametrize("options", [(PLAN, COPING), (COPING, PLAN)])
def test_an_agent_that_knows_of_a_change_copes_with_it(outcome: str, action: str, options: tuple[str, str]) -> None:
    grounds = option_by_perception(LAMP + outcome, "What will Ilse do?", options)
    assert grounds is not None
    assert grounds.option == action


@pytest.mark.parametrize(
    ("action", "believed"),
    [("Ilse puts the brass lamp into her window.", OLD), ("Ilse cleans the stained lamp again.", NEW)],
)
def test_an_action_shows_in_which_state_the_agent_believes(action: str, believed: str) -> None:
    grounds = option_by_perception(LAMP + action, QUESTION, (OLD, NEW))
    assert grounds is not None
    assert grounds.option == believed


def test_the_agent_may_have_a_joined_name() -> None:
    story, question, *options = (
        text.replace("Ilse", "Anne-Lise") for text in (f"{LAMP}Ilse does not notice the boy.", QUESTION, OLD, NEW)
    )
    grounds = option_by_perception(story, question, options)
    assert grounds is not None
    assert grounds.option == options[0]


CLOUDS = (
    "Mei photographs mountains. She wants a picture of {0}. The clouds are starting to clear. Suddenly thick fog rolls "
    "in and covers {0}. Mei does not notice the fog."
)


@pytest.mark.parametrize(
    ("name", "sentence", "is_answered"),
    [("Mount Fuji", "", True), ("Bob", "Bob waits. ", False), ("Bob", "Here is a hill, and Bob stands on it. ", False)],
)
def test_a_question_about_two_people_is_left_open(name: str, sentence: str, is_answered: bool) -> None:
    options = ("Mei believes the clouds are clearing.", "Mei believes the fog is thick.")
    story, question = sentence + CLOUDS.format(name), f"Does Mei believe the clouds around {name} are clearing?"
    grounds = option_by_perception(story, question, options)
    assert (grounds is not None) == is_answered
    assert grounds is None or grounds.option == options[0]


def test_a_belief_about_the_belief_of_another_person_is_left_open() -> None:
    story = LAMP + "Ilse does not notice the boy."
    question = "Does Ilse believe that Otto thinks the lamp is bright or dull?"
    assert option_by_perception("Otto is her friend. " + story, question, (OLD, NEW)) is None
    assert option_by_perception(story, question.replace("that Otto thinks", ""), (OLD, NEW)) is not None

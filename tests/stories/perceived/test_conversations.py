"""What an agent knows of a conversation: what was talked about while the agent took part."""

from __future__ import annotations

import pytest

from otherminds.stories.perceived import option_by_perception, turns_heard

TALK = """Runa: Hello you two, what have you been up to lately?
Piet: My garden took all of the weekend, the tomatoes needed sticks.
Zeno: Mine are hopeless, the slugs eat everything.
Runa: I have to run and fetch the children, see you later!
Piet: Goodbye, Runa.
Zeno: By the way, I have bought a canoe, a red one, and I keep it in the boathouse.
Piet: A canoe! Where will you paddle?
Zeno: On the river, every morning before work, the canoe is light.
Piet: Then the red canoe must be fast.
Runa: Here I am again. The children are asleep.
Zeno: Good. We were at sports.
Piet: What do you do for your back, Runa?
Runa: I swim twice a week, swimming helps my back most."""
CANOE = ("{0} believes that Zeno has a red canoe in the boathouse.", "{0} is unaware of it, not having been there.")
SWIM = ("{0} believes that Runa swims twice a week.", "{0} is unaware of it, not having been there.")


@pytest.mark.parametrize(
    ("question", "options", "agent", "right"),
    [
        ("What does Piet believe about the canoe that Zeno bought?", CANOE, "Piet", 0),
        ("What does Runa believe about the canoe that Zeno bought?", CANOE, "Runa", 1),
        ("What does Piet believe that Runa thinks about the canoe that Zeno bought?", CANOE, "Runa", 1),
        ("What does Piet believe that Zeno thinks about the swimming that helps?", SWIM, "Zeno", 0),
        ("What does Runa think about swimming for the back?", SWIM, "Runa", 0),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_an_agent_that_was_away_knows_nothing_of_it(
    question: str, options: tuple[str, str], agent: str, right: int, order: int
) -> None:
    choices = [option.format(agent) for option in options]
    grounds = option_by_perception(TALK, question, choices[::order])
    assert grounds is not None
    assert grounds.option == choices[right]
    assert grounds.passages[0] in TALK.splitlines()


@pytest.mark.parametrize(
    ("talk", "agent", "options"),
    [
        (TALK, "Ulla", CANOE),  # she takes no part
        (TALK, "Runa", (CANOE[0], SWIM[0])),  # no option says that she knows nothing
        (TALK, "Runa", (*CANOE, SWIM[0])),
        ("\n".join(TALK.splitlines()[:5]), "Runa", CANOE),  # too short
        (TALK.replace(": ", " says "), "Runa", CANOE),  # no turns
    ],
)
def test_a_story_or_question_of_another_form_is_left_open(talk: str, agent: str, options: tuple[str, ...]) -> None:
    choices = [option.format(agent) for option in options]
    assert option_by_perception(talk, f"What does {agent} believe about the canoe?", choices) is None


def test_people_take_part_from_their_first_turn_to_a_farewell() -> None:
    speakers = ["A", "B", "A", "B", "B", "C", "B", "A", "C"]
    utterances = ["hi", "hi", "I have to go, bye", "bye", "so", "hello", "well", "back again", "good"]
    turns = list(zip(speakers, utterances, strict=True))
    assert turns_heard("A", turns) == {0, 1, 2, 7, 8}
    assert turns_heard("B", turns) == set(range(1, 9))
    assert turns_heard("C", turns) == {5, 6, 7, 8}

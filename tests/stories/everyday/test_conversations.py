"""What somebody knows of a conversation, by who took part in it when it came to that."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import ask
from otherminds.stories.everyday.conversations import presence

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
    ("question", "options", "who", "right"),
    [
        ("What does Piet believe about the canoe that Zeno bought?", CANOE, "Piet", 0),
        ("What does Runa believe about the canoe that Zeno bought?", CANOE, "Runa", 1),
        ("What does Piet believe that Runa thinks about the canoe that Zeno bought?", CANOE, "Runa", 1),
        ("What does Piet believe that Zeno thinks about the swimming that helps?", SWIM, "Zeno", 0),
        ("What does Runa think about swimming for the back?", SWIM, "Runa", 0),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_who_was_away_knows_nothing_of_it(
    question: str, options: tuple[str, str], who: str, right: int, turned: bool
) -> None:
    told = [option.format(who) for option in options]
    found = ask(TALK, question, told[::-1] if turned else told)
    assert found.answer.option == (1 - right if turned else right)


def test_nothing_is_answered_of_somebody_who_is_not_there() -> None:
    told = [option.format("Ulla") for option in CANOE]
    assert ask(TALK, "What does Ulla believe about the canoe?", told).answer.option is None


def test_people_take_part_from_their_first_turn_to_a_farewell() -> None:
    speakers = ["A", "B", "A", "B", "B", "C", "B", "A", "C"]
    said = ["hi", "hi", "i have to go, bye", "bye", "so", "hello", "well", "back again", "good"]
    assert presence(speakers, said) == {"A": {0, 1, 2, 7, 8}, "B": set(range(1, 9)), "C": {5, 6, 7, 8}}

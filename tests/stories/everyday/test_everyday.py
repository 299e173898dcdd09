"""Stories about anything: who saw what, in free nouns, and no answer where the words do not decide."""

from __future__ import annotations

import numpy as np
import pytest

from otherminds.stories.answering import ask
from otherminds.stories.everyday.answering import answer

CLOAK = (
    "The stage manager hung the velvet cloak on the hook by the wings. While Dario was having his make-up done, Pim, "
    "who liked a joke, swapped it for a raincoat and hid the cloak in the costume trunk. Dario had seen the cloak on "
    "the hook before he went to the make-up room."
)
SAMPLES = (
    "Mei stored the samples in the blue freezer. After she had left, Tomasz moved them to the cold room "
    "because the freezer was failing. {}"
)
RING = "The jeweller locked the ring in the safe. The clerk asked where the ring was. {}"
TOLD = SAMPLES.format("He told her that the samples were in the cold room.")
LIE = RING.format('"It is in the window," said the jeweller.')
SMALL = {"in", "to", "on", "the"}


def told(story: str, question: str, options: tuple[str, ...] = ()) -> str | None:
    found = ask(story, question, options)
    return None if found.answer.option is None or found.question is None else found.question.labels[found.answer.option]


@pytest.mark.parametrize(
    ("story", "question", "right"),
    [
        (CLOAK, "Where will Dario look for the cloak?", "on the hook by the wings"),
        (CLOAK, "Where is the cloak really?", "in the costume trunk"),
        (SAMPLES.format(""), "Where does Mei think the samples are?", "in the blue freezer"),
        (SAMPLES.format(""), "Does Mei know that the samples are in the cold room?", "no"),
        (TOLD, "Where will Mei go to get the samples?", "in the cold room"),
        (SAMPLES.format(""), "Where does Tomasz think Mei will look for the samples?", "in the blue freezer"),
        (SAMPLES.format(""), "Where were the samples at first?", "in the blue freezer"),
        (LIE, "Where will the clerk look for the ring?", "in the window"),
        (LIE, "Did the jeweller tell the truth?", "no"),
        (RING.format('"It is in the safe," said the jeweller.'), "Did the jeweller tell the truth?", "yes"),
    ],
)  # fmt: skip
def test_who_saw_or_heard_it_knows_it(story: str, question: str, right: str) -> None:
    found = told(story, question)
    assert found is not None
    assert {*found.split()} - SMALL == {*right.split()} - SMALL


def test_without_somebody_noticing_they_keep_their_belief() -> None:
    story = "Ida chained the sledge to the railing. Without Ida noticing, Ole dragged the sledge to the quarry."
    found = answer(story, "Where will Ida look for the sledge?", ("quarry", "railing"))[2]
    assert found.option == 1


def test_options_are_places_in_other_words() -> None:
    assert told(CLOAK, "Where will Dario look for the cloak?", ("the trunk", "the hook")) == "the hook"


@pytest.mark.parametrize(
    "more",
    [
        "Mei frobbed them.",  # it may move the thing, or show it
        "Tomasz sent her a message about them.",  # it may tell her
        "She realised that something was not as it should be.",
    ],
)
def test_what_may_change_the_answer_keeps_it_open(more: str) -> None:
    found = ask(SAMPLES.format(more), "Where does Mei think the samples are?", ())
    assert found.answer.option is None
    assert found.answer.abstained


def test_somebody_present_without_a_word_about_them_may_or_may_not_have_seen_it() -> None:
    story = "Ida put the map on the desk. Ole put the stamp on the desk. Ida moved the stamp to the tray."
    assert answer(story, "Where does Ole think the stamp is?", ())[2].option is None


@pytest.mark.parametrize("seed", range(4))
def test_no_text_fails(seed: int) -> None:
    """Shuffled words, cut sentences and questions in place of stories."""
    rng = np.random.default_rng(seed)
    words = (CLOAK + " " + SAMPLES + RING + ' Where does "who" \'s which of, that; to the his and 3 B?').split()
    for _ in range(30):
        some = [str(word) for word in rng.choice(words, size=rng.integers(1, 40))]
        text = " ".join(some)[: int(rng.integers(1, 200))]
        reading, question, found = answer(
            text, text if rng.random() < 0.3 else "Where does Mei think the cloak is?", ()
        )
        assert 0.0 <= reading.coverage <= 1.0
        assert found.option is None or question is not None
        assert found.option is not None or found.abstained


def test_an_option_may_name_an_owner_and_no_place() -> None:
    story = "Ana put her bicycle in the shed and went upstairs. While she slept, Ben lent the bicycle to a courier."
    options = ("that it belongs to a courier", "that it is her own", "that it has been stolen")
    assert ask(story, "What does Ana believe about the bicycle?", options).answer.option in (None, 1)

"""Which unread clauses keep a question from being answered: those of which some reading would change the answer."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import answer, answer_benchmark
from otherminds.stories.english.questions import read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Answer, ClauseAccount, Outcome
from otherminds.stories.relevance import DAMAGED, DECIDES_GOAL, DECIDES_PLACE, answer_over, lacks_words

SALLY = (
    "Sally and Anne are in the playroom. Sally puts the ball in the basket. {}Sally leaves the playroom. {}"
    "Anne moves the ball from the basket to the box. {}"
)


def asked(first: str = "", second: str = "", third: str = "") -> Answer:
    parts = [f"{part} " if part else "" for part in (first, second, third)]
    return answer_benchmark(SALLY.format(*parts), "Where will Sally look for the ball?", ["basket", "box"]).answer


def test_without_unread_clauses_the_answer_is_sure() -> None:
    assert (asked().option, asked().posterior) == (0, (1.0, 0.0))


@pytest.mark.parametrize(
    "clause",
    [
        "Anne zorped the ball.",  # it may place the thing
        "Sally zorped through the keyhole.",  # it may show her where the thing is
        "He zorped to her.",  # it may be about anybody
        "Anne zorped Sally that the ball was in the box.",  # it may tell her
    ],
)
def test_a_clause_that_could_change_the_answer_is_named(clause: str) -> None:
    found = asked(third=clause)
    assert found.option is None
    assert "could not read" in (found.abstained or "")


def test_it_leans_to_what_is_so_if_the_clause_changes_nothing() -> None:
    found = asked(third="Sally zorped through the keyhole.")
    assert (found.option, found.leaning) == (None, asked().option)
    assert found.posterior == pytest.approx((1.0 - DECIDES_PLACE / 2, DECIDES_PLACE / 2))
    assert asked().leaning is None


HELPED = (
    "Ann and Ben are in the kitchen. Ann asked Ben where the milk was. Ben said that the milk was in the fridge. "
    "Ann went to the fridge, opened it and took the milk. {}"
)
MEANT = ["Ben has been trying to help Ann", "Ben has been trying to hinder Ann"]


def helped(*clauses: str) -> Answer:
    reading = read_story(HELPED.format(" ".join(clauses)))
    question = read_question("Which statement is most likely?", MEANT, reading)
    return answer_over(reading, question, lambda episode: answer(episode, question))


def test_what_somebody_wants_is_answered_unless_too_much_may_decide() -> None:
    unread = "Ben zorped Ann that the milk was in the box."
    sure, unsure, torn = helped(), helped(unread), helped(*[unread] * 3)
    assert (sure.option, sure.unless) == (0, None)
    assert unsure.option == 0
    assert "the milk was in the box" in (unsure.unless or "")
    assert unsure.posterior[0] < sure.posterior[0]
    assert unsure.posterior[0] <= 1 - DECIDES_GOAL / 2
    assert (torn.option, torn.leaning, torn.unless) == (None, 0, None)


def test_where_anything_may_be_it_leans_to_nothing() -> None:
    story = SALLY.format("", "", "Sally zorped through the keyhole.")
    assert answer_benchmark(story, "Where will Sally look for the ball?", []).answer.leaning is None


@pytest.mark.parametrize("clause", ["The cat zorped.", "Frob blitzed the quux.", "Anne zorped the cat."])
def test_a_clause_about_others_does_not_matter(clause: str) -> None:
    assert asked(third=clause).option == 0


def test_a_clause_without_consequence_at_its_time_lowers_the_posterior_only() -> None:
    early = asked(first="Sally zorped the cat.")
    assert early.option in (0, None)
    late = asked(third="Anne zorped the cat.")
    assert 0.9 < late.posterior[0] < 1.0


ABSENCES = [
    "While Paul was out, Lea moved it to the shelf.",
    "Lea moved it to the shelf while Paul was away.",
    "Paul was not there. Lea moved it to the shelf.",
    "In Paul's absence, Lea moved it to the shelf.",
    "With Paul out of the room, Lea moved it to the shelf.",
    "While Paul was asleep, Lea moved it to the shelf.",
    "With Paul asleep on the sofa, Lea moved it to the shelf.",
    "Lea moved it to the shelf behind Paul's back.",
    "Without Paul noticing, Lea moved it to the shelf.",
    "Lea moved it to the shelf while Paul was in the garden.",
]


@pytest.mark.parametrize("told", ABSENCES)
def test_who_is_not_there_or_does_not_notice_keeps_the_belief(told: str) -> None:
    story = f"Paul and Lea are in the den. Paul put the diary in the drawer. {told}"
    assert answer_benchmark(story, "Where will Paul look for the diary?", ["drawer", "shelf"]).answer.option == 0
    assert answer_benchmark(story, "Where is the diary?", ["drawer", "shelf"]).answer.option == 1


@pytest.mark.parametrize("told", ["While Lea was out, Paul", "While Paul was happy, he", "While Lea was asleep, Paul"])
def test_who_moves_it_knows_where_it_is(told: str) -> None:
    story = f"Paul and Lea are in the den. Paul put the diary in the drawer. {told} moved it to the shelf."
    assert answer_benchmark(story, "Where will Paul look for the diary?", ["drawer", "shelf"]).answer.option == 1


LACKING = [
    "She closed the fridge in kitchen",
    "There was no apple the stove in the kitchen",
    "Ann puts it on the",
    '"I saw the apple on the shelf in the kitchen," answered',
    "She did see the apple in the fridge",
    "Maya responded, From Karin came the question",
]


@pytest.mark.parametrize("text", LACKING)
def test_a_text_that_shows_that_words_are_missing_may_lack_others(text: str) -> None:
    assert lacks_words(ClauseAccount(text, "event"))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("She closed the fridge in the kitchen", "event"),
        ("There was no apple in the stove in the kitchen", "observation"),
        ('"I saw the apple on the shelf," Ann answered', "event"),
        ("She did not see the apple, and Bob was in bed", "observation"),
        ("The cat zorped", "unread"),
    ],
)
def test_other_texts_lack_nothing(text: str, outcome: Outcome) -> None:
    assert not lacks_words(ClauseAccount(text, outcome))


def test_a_clause_without_a_verb_is_cut() -> None:
    assert lacks_words(ClauseAccount("Ann the fridge in the kitchen", "unread", people=("Ann",)))


def test_what_lacks_words_makes_the_answer_less_sure() -> None:
    intact = asked(third="Anne walks to the box.")
    cut = asked(third="Anne walks to box.")
    assert intact.option == cut.option == 0
    assert cut.posterior[0] == pytest.approx((1 - DAMAGED) * intact.posterior[0] + DAMAGED / 2)

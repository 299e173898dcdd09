"""Stories about anything that a model reads: what each sentence tells of one matter, and the beliefs that follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.language.asking import Unreadable
from otherminds.language.model import ModelError, Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.stories.answering import StoryAnswer, ask
from otherminds.stories.by_model.variable import (
    HINT,
    SAID,
    TRUTH,
    Does,
    SentenceEvidence,
    StateClaim,
    Variable,
    answer_from,
    variable_with,
)

Data = dict[str, Any]

STORY = (
    "Zdenka nudged the lute beneath a pew and hurried off. The sexton, humming, spirited it up to the loft. "
    "Unbeknown to him she was peering through the grille. Pigeons cooed."
)
STEM = "Where does the sexton suppose Zdenka will grope for the lute?"
PLACES = ("beneath a pew", "in the loft")
PEOPLE = ["Zdenka", "the sexton"]


def answers(*minds: str, labels: Sequence[str] = PLACES) -> list[Data]:
    return [
        {"answer": label, "claims": [{"minds": [*minds], "value": value, "so": True}]}
        for label, value in zip(labels, PLACES, strict=True)
    ]


def matter(**changed: Any) -> Data:
    data: Data = {"about": "where the lute is", "values": [*PLACES], "people": PEOPLE, "after": 4}
    return data | {"answers": answers("the sexton", "Zdenka")} | changed


def told(does: str, value: str | None = None, who: Sequence[str] = (), **more: Sequence[str]) -> Data:
    lists = {key: [*more.get(key, ())] for key in ("to", "unnoticed")}
    return {"does": does, "value": value, "who": [*who], **lists}


SENTENCES: list[list[Data]] = [
    [told("is", PLACES[0], PEOPLE)],
    [told("is", PLACES[1], ["the sexton"], unnoticed=["Zdenka"])],
    [told("finds out", None, ["the sexton"], unnoticed=["Zdenka"])],
    [],
]


def reader(question: Data | str, sentences: Sequence[list[Data] | str] = SENTENCES) -> tuple[Scripted, list[Request]]:
    """A model with one reply for the question and one for each sentence, and what it is asked."""
    asked: list[Request] = []

    def write(request: Request) -> str:
        asked.append(request)
        kind, *number = request.draw.split()
        if kind == "variable":
            return question if isinstance(question, str) else json.dumps(question)
        reply = sentences[int(number[0]) - 1]
        return reply if isinstance(reply, str) else json.dumps({"told": reply})

    return Scripted("reader", write), asked


def found_by(question: Data | str, sentences: Sequence[list[Data] | str] = SENTENCES, stem: str = STEM) -> StoryAnswer:
    return ask(STORY, stem, (), model=reader(question, sentences)[0])


def label(found: StoryAnswer) -> str | None:
    if found.question is None or found.answer.option is None:
        return None
    return found.question.labels[found.answer.option]


def test_the_answer_follows_from_who_perceives_what() -> None:
    assert ask(STORY, STEM, ()).answer.option is None
    assert label(found_by(matter())) == "beneath a pew"
    assert label(found_by(matter(answers=answers("Zdenka")))) == "in the loft"
    assert label(found_by(matter(answers=answers()))) == "in the loft"
    assert label(found_by(matter(answers=answers(), after=1))) == "beneath a pew"


def test_it_comes_with_the_sentences_that_decide_and_what_the_model_made_of_them() -> None:
    found = found_by(matter())
    assert found.engine == "reader"
    assert found.reading.coverage == 1.0
    assert [clause.outcome for clause in found.reading.clauses] == ["event", "event", "event", "no effect"]
    read = "(reader: in the loft, known to the sexton and, unnoticed, to Zdenka)"
    assert any(read in one for one in found.answer.passages)


def test_each_sentence_is_asked_about_once_under_the_names_of_the_story() -> None:
    model, asked = reader(matter())
    ask(STORY, STEM, (), model=model)
    assert len(asked) == 5
    schema = json.loads(asked[1].schema)["$defs"]["_EvidenceForm"]["properties"]
    assert schema["value"]["enum"] == [*PLACES, None]
    assert schema["who"]["items"]["enum"] == PEOPLE
    assert "Pigeons cooed." in text_of(asked[4]).splitlines()[-2]


def test_a_matter_may_concern_nobody() -> None:
    model, asked = reader(matter(people=[], answers=answers()), [[told("is", PLACES[0])], [], [], []])
    assert label(ask(STORY, STEM, (), model=model)) == "beneath a pew"
    assert '"enum": []' not in asked[1].schema


def test_options_keep_their_words_and_order() -> None:
    options = ("up in the loft", "below the pew")
    data = matter(answers=[*reversed(answers("Zdenka", labels=("?", "!")))])
    found = ask(STORY, STEM, options, model=reader(data)[0])
    assert label(found) == "up in the loft"
    assert found.question is not None
    assert found.question.labels == options


def yes_or_no(value: str, *minds: str) -> list[Data]:
    return [
        {"answer": answer, "claims": [{"minds": [*minds], "value": value, "so": answer == "yes"}]}
        for answer in ("yes", "no")
    ]


def test_to_know_is_to_believe_what_is_so() -> None:
    unaware = [SENTENCES[0], [told("is", PLACES[1], ["the sexton"])], [], []]
    assert label(found_by(matter(answers=yes_or_no(TRUTH, "Zdenka")))) == "yes"
    assert label(found_by(matter(answers=yes_or_no(TRUTH, "Zdenka")), unaware)) == "no"
    assert label(found_by(matter(answers=yes_or_no(TRUTH, "the sexton", "Zdenka")))) == "no"


def test_what_is_said_is_believed_by_those_who_hear_it() -> None:
    lie = [*SENTENCES[:1], [told("is", PLACES[1], ["the sexton"])], [told("says", PLACES[0], ["the sexton"])], []]
    lie[2][0]["to"] = ["Zdenka"]
    assert label(found_by(matter(answers=answers("Zdenka")), lie)) == "beneath a pew"
    assert label(found_by(matter(answers=answers("the sexton")), lie)) == "in the loft"
    assert label(found_by(matter(answers=answers("Zdenka", "the sexton")), lie)) == "beneath a pew"
    overheard = [[], [told("is", PLACES[1], ["the sexton"])], [told("says", PLACES[1], ["the sexton"])], []]
    overheard[2][0]["unnoticed"] = ["Zdenka"]
    assert label(found_by(matter(answers=answers("Zdenka")), overheard)) == "in the loft"
    assert label(found_by(matter(), overheard)) is None  # he knows nothing of her


def test_to_lie_is_to_say_what_one_does_not_believe_at_that_moment() -> None:
    says = [told("says", PLACES[0], ["the sexton"], to=["Zdenka"])]
    asked = matter(answers=yes_or_no(SAID, "the sexton"))
    moved = [told("is", PLACES[1], ["the sexton"])]
    honest = [[told("is", PLACES[0], PEOPLE)], says, moved, []]
    assert label(found_by(asked, honest)) == "yes"
    assert label(found_by(asked, [honest[0], moved, says, []])) == "no"
    assert label(found_by(asked, [honest[0], moved, [], []])) is None
    polite = [says, [told("thinks", PLACES[1], ["the sexton"])], [told("says", PLACES[1], ["the sexton"])], []]
    assert label(found_by(asked, polite)) == "no"


def test_all_claims_of_an_answer_must_hold() -> None:
    both, neither = ([{"minds": [who], "value": TRUTH, "so": so} for who in PEOPLE] for so in (True, False))
    asked = matter(answers=[{"answer": "both", "claims": both}, {"answer": "neither", "claims": neither}])
    assert label(found_by(asked)) == "both"
    assert label(found_by(asked, [[told("is", PLACES[0], [])], [], [], []])) == "neither"
    assert label(found_by(asked, [[told("is", PLACES[0], PEOPLE[:1])], [], [], []])) is None


def test_a_place_that_is_found_empty_is_no_longer_believed_in() -> None:
    sentences = [[told("was", PLACES[0], PEOPLE)], [told("is not", PLACES[0], ["Zdenka"])], [], []]
    assert label(found_by(matter(answers=answers("Zdenka")), sentences)) is None
    assert label(found_by(matter(answers=answers("the sexton")), sentences)) == "beneath a pew"
    assert label(found_by(matter(answers=answers()), sentences)) == "in the loft"  # of two states, the other


def test_what_somebody_is_said_to_think_they_think() -> None:
    sentences = [[], [told("is", PLACES[1], PEOPLE)], [told("thinks", PLACES[0], PEOPLE[::-1])], []]
    assert label(found_by(matter(), sentences)) == "beneath a pew"
    assert label(found_by(matter(answers=answers("Zdenka")), sentences)) == "in the loft"
    forgotten = [*sentences[:2], [told("thinks", None, ["Zdenka"])], []]
    assert label(found_by(matter(answers=answers("Zdenka")), forgotten)) is None


def test_what_was_so_before_comes_first_wherever_it_is_told() -> None:
    late = [[], [told("is", PLACES[1], ["the sexton"])], [told("was", PLACES[0], PEOPLE)], []]
    assert label(found_by(matter(answers=answers("Zdenka")), late)) == "beneath a pew"
    assert label(found_by(matter(answers=answers()), late)) == "in the loft"


def test_without_a_word_on_it_nothing_is_answered() -> None:
    found = found_by(matter(), [[], [], [], []])
    assert found.answer.option is None
    assert found.answer.abstained == "the story does not tell where the lute is"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"people": ["Zdenka", "the sexton", "Zorp"]}, "'Zorp' is nobody in the story"),
        ({"values": ["kraken", "squid"]}, "none of the values is in the story"),
        ({"values": [PLACES[0]]}, "needs 2 to"),
        ({"after": 5}, "there is no sentence 5"),
        ({"answers": answers("the sexton", "Zdenka")[:1]}, "has 1 answers"),
        ({"answers": answers("the bishop")}, "not all are among the people"),
        ({"answers": yes_or_no(TRUTH)}, "cannot answer from 0 minds"),
        ({"answers": [{"answer": one, "claims": []} for one in PLACES]}, "without claims"),
        ({"answers": [{**one, "answer": "x"} for one in answers()]}, "gives an answer twice"),
    ],
)
def test_a_question_that_does_not_fit_the_story_is_not_read(change: Data, why: str) -> None:
    found = found_by(matter(**change))
    assert (found.question, found.answer.option) == (None, None)
    assert why in str(found.answer.abstained)


@pytest.mark.parametrize(
    "reply",
    [
        "?",
        [told("is", "kraken", PEOPLE)],
        [told("is", None, PEOPLE)],
        [told("is", PLACES[0], ["Zorp"])],
        [told("says", PLACES[0], [])],
    ],
)
def test_a_sentence_that_the_model_does_not_read_keeps_the_answer_open(reply: list[Data] | str) -> None:
    model, asked = reader(matter(), [SENTENCES[0], reply, *SENTENCES[2:]])
    found = ask(STORY, STEM, (), model=model)
    assert found.answer.option is None
    assert "none of 2 replies could be read" in str(found.answer.abstained)
    assert "The sexton, humming" in str(found.answer.abstained)
    assert found.reading.unread == ("The sexton, humming, spirited it up to the loft.",)
    assert len(asked) == 6


def test_about_a_long_story_no_model_is_asked() -> None:
    model, asked = reader(matter())
    found = ask(STORY + 99 * " Pigeons cooed.", STEM, (), model=model)
    assert (found.answer.option, asked) == (None, [])
    assert "80 sentences at most" in str(found.answer.abstained)


def test_a_model_that_cannot_be_asked_is_no_answer() -> None:
    def down(_: Request) -> str:
        raise ModelError("is down")

    with pytest.raises(ModelError, match="is down"):
        ask(STORY, STEM, (), model=Scripted("down", down))


@pytest.mark.parametrize(("does", "value", "who"), [("is", None, ("A",)), ("says", "x", ()), ("thinks", "x", ())])
def test_evidence_says_what_it_needs(does: Does, value: str | None, who: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=f"'{does}'"):
        SentenceEvidence(1, does, value, who)


def test_hints_are_weighed() -> None:
    variable = Variable(
        "what she wants", ("tea", "rum"), (), ("tea", "rum"), ((StateClaim((), "tea"),), (StateClaim((), "rum"),)), 9
    )
    once = answer_from(variable, [SentenceEvidence(1, "hints", "tea", ())])
    assert once.option is None
    assert once.posterior[0] == pytest.approx(0.88 * HINT / (HINT + 1) + 0.06)
    twice = [SentenceEvidence(1, "hints", "tea", ()), SentenceEvidence(2, "hints against", "rum", ())]
    assert answer_from(variable, twice).option == 0
    assert answer_from(variable, [*twice, SentenceEvidence(3, "is", "rum", ())]).option == 1


# An oracle: what the last of a chain believes, by recursion over what reaches each mind.

WHO = ("A", "B", "C")
VALUES = ("x", "y", "z")


def people(most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(WHO), unique=True, max_size=most).map(tuple)


def sayable(does: str, who: Sequence[str]) -> bool:
    return len(who) == 1 if does == "says" else bool(who) or does in ("is", "is not")


KINDS = st.sampled_from(("is", "is not", "finds out", "says", "thinks"))
tellings = (
    st.tuples(st.just(1), KINDS, st.sampled_from(VALUES), people(3), people(2), people(1))
    .filter(lambda parts: sayable(parts[1], parts[3]))
    .map(lambda parts: SentenceEvidence(*parts))
)


def perceives(chain: tuple[str, ...], item: SentenceEvidence) -> bool:
    """Whether the first of the chain perceives it, and that the second does, and so on."""
    return not chain or (chain[0] in item.who + item.unnoticed and all(one in item.who for one in chain[1:]))


def believed(chain: tuple[str, ...], told: Sequence[SentenceEvidence]) -> str | None:
    """The belief of the last of the chain after all this."""
    belief: str | None = None
    truth: str | None = None
    for item in told:
        if item.does == "is":
            truth = item.value
        if item.does == "is not":
            truth = None if truth == item.value else truth
            belief = None if perceives(chain, item) and belief == item.value else belief
            continue
        shown = truth if item.does == "finds out" else item.value
        if item.does == "thinks":
            belief = item.value if item.who == chain else belief
        elif not chain:
            belief = truth
        elif item.does == "says":
            speaker, hearers = item.who[0], set(item.to) | ({chain[0]} & set(item.unnoticed))
            known = all(one == speaker or one in hearers for one in chain)
            trusting = hearers
            for one in chain[:-1]:  # whoever believes it takes the speaker to believe it, too
                trusting = hearers if one == speaker else trusting | {speaker}
            if known and chain[-1] in trusting:
                belief = item.value
        elif shown is not None and perceives(chain, item):
            belief = shown
    return belief


@settings(max_examples=300, deadline=None)
@given(
    st.lists(tellings, max_size=5),
    st.lists(st.sampled_from(WHO), max_size=3).filter(lambda c: all(a != b for a, b in pairwise(c))),
)
def test_nested_beliefs_are_those_of_the_oracle(told: list[SentenceEvidence], chain: list[str]) -> None:
    expected = believed(tuple(chain), told)
    claims = tuple((StateClaim(tuple(chain), value),) for value in VALUES)
    found = answer_from(Variable("it", VALUES, WHO, VALUES, claims, 9), told)
    if expected is None:
        assert found.option is None or not chain  # of reality, there may be hints
    else:
        assert found.option == VALUES.index(expected)


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=9), lambda x: st.lists(x) | st.dictionaries(st.text(max_size=5), x)
    )
)
def test_no_reply_crashes(reply: Any) -> None:
    model = Scripted("reader", lambda _: json.dumps(reply))
    found = variable_with(model, ["Ann left."], "Why?", ())
    assert isinstance(found, Unreadable)
    assert ask(STORY, STEM, (), model=model).answer.option is None

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from otherminds.stories.answering import ask
from otherminds.stories.english import syntax
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.reading import read_story
from otherminds.stories.english.sentences import sentences, tokens
from otherminds.stories.english.syntax import simpler, without_frames
from otherminds.stories.invented.invention import invent
from otherminds.stories.invented.telling import phrasings, tell
from otherminds.stories.model import Reading

BEFORE = "Ann and Bob were in the kitchen. "
NAMES = ("Ann", "Bob")


def told(text: str) -> list[str]:
    """What happens in a story, without where the text says it."""
    return [
        repr(one).replace(repr(getattr(one, "span", None)), "") for one in read_story(BEFORE + text).episode.timeline
    ]


def tellings(text: str, nouns: Sequence[str] = ()) -> list[list[str]]:
    """The simpler tellings of the one sentence of a text."""
    (sentence,) = sentences(tokens(text), NAMES)
    return [[" ".join(token.text for token in part) for part in parts] for parts in simpler(sentence, NAMES, nouns)]


def unread(reading: Reading) -> list[str]:
    return [clause.text for clause in reading.clauses if clause.outcome == "unread"]


@pytest.mark.parametrize(
    ("artful", "plain"),
    [
        ("All those years ago, Ann opened the fridge.", "Ann opened the fridge."),
        ("Pay attention here, because Ann opened the fridge.", "Ann opened the fridge."),
        ("The court heard that Ann had opened the fridge.", "Ann opened the fridge."),
        ("I can still picture how Ann opened the fridge that day.", "Ann opened the fridge."),
        ("Ann opened the fridge, and I remember the sound it made.", "Ann opened the fridge."),
        ("It was the fridge that Ann opened.", "Ann opened the fridge."),
        ("The cup, which Ann had a liking for, she put in the fridge.", "Ann put the cup in the fridge."),
        ('Ann had an answer ready: "The cup is in the fridge."', 'Ann said, "The cup is in the fridge."'),
        ('Ann broke the silence: "Where is the cup?"', 'Ann asked, "Where is the cup?"'),
        ('Ann threw him the question: "Where is the cup?"', 'Ann asked, "Where is the cup?"'),
        ("Ann asked, as she went, if he had any idea where the cup was.", 'Ann asked, "Where is the cup?"'),
        ("Oh, he had found the cup in the fridge, Bob said, humming.", 'Bob said, "I found the cup in the fridge."'),
        ("It was Ann's turn to open the fridge.", "Ann opened the fridge."),
        ("The fridge Ann opened.", "Ann opened the fridge."),
        ("Wherever the cup might be, Ann opened the fridge.", "Ann opened the fridge."),
    ],
)
def test_what_frames_a_sentence_changes_nothing(artful: str, plain: str) -> None:
    assert told(artful) == told(plain) != told("")
    assert not unread(read_story(BEFORE + artful))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Humming a tune, Ann opened the fridge and took the cup.", ["Ann opened the fridge", "Ann took the cup"]),
        ("The cup was taken by Ann.", ["Ann taken The cup"]),
        ("Ann took the cup, which Bob had put in the box.", ["Ann took the cup", "Bob had put the cup in the box"]),
        ("It was in the fridge that Ann found the cup.", ["Ann found the cup in the fridge"]),
        ("There was a box that Ann walked up to.", ["There was a box", "Ann walked up to a box"]),
        ("The fridge having been shut, Ann took the cup.", ["The fridge was shut", "Ann took the cup"]),
        ("On the table, that is where Ann put it.", ["Ann put it On the table"]),
        (
            "The cup that Ann took and put away was old.",
            ["Ann took The cup", "Ann put The cup away", "The cup was old"],
        ),
    ],
)
def test_a_sentence_is_told_clause_by_clause(text: str, parts: list[str]) -> None:
    assert parts in tellings(text)


@pytest.mark.parametrize(
    "text",
    [
        "It was not Ann who opened the fridge.",
        "Ann did not open the fridge and take the cup.",
        "Ann opened the fridge or took the cup.",
    ],
)
def test_clauses_that_would_mean_something_else_by_themselves_stay_together(text: str) -> None:
    assert all(len(parts) == 1 for parts in tellings(text))
    assert "verb='grab'" not in " ".join(told(text))


@pytest.mark.parametrize("doubt", ["Nobody says that", "If only", "I doubt that", "In a dream,", "Bob hoped that"])
def test_doubt_is_not_left_out(doubt: str) -> None:
    assert "verb='open'" not in " ".join(told(f"All those years ago, {doubt} Ann opened the fridge."))


def test_an_aside_of_the_teller_is_accounted_for() -> None:
    clauses = read_story(BEFORE + "Of that I am quite certain.").clauses
    assert [(one.outcome, one.reason) for one in clauses[-1:]] == [("no effect", "is an aside of the teller")]


def test_what_is_told_of_somebody_unknown_stays_unread() -> None:
    assert unread(read_story(BEFORE + "Zorp frobbed the quux.")) == ["Zorp frobbed the quux"]


def test_what_the_teller_asks_tells_nothing() -> None:
    reading = read_story(BEFORE + "Did Ann see the cup in the fridge, children?")
    assert unread(reading) == ["Did Ann see the cup in the fridge, children"]
    assert told("Did Ann see the cup in the fridge, children?") == told("")


def test_without_the_parser_nothing_is_told_differently(monkeypatch: pytest.MonkeyPatch) -> None:
    artful = "The court heard that Ann had opened the fridge."
    monkeypatch.setattr(syntax, "_parser", lambda: None)
    assert not tellings(artful)
    assert unread(read_story(BEFORE + artful))
    assert without_frames(artful, NAMES, ()) == artful


def test_a_question_is_asked_without_what_frames_it() -> None:
    story = BEFORE + "Bob asked where the cup was. Ann said that the cup was in the fridge."
    options = (
        "Back then, Ann believed that the cup was in the fridge.",
        "Back then, Ann believed that the cup was in the box.",
    )
    framed = "Let us suppose, class, that Ann was trying to help Bob. Which of these is then the MOST likely?"
    bare = "If Ann was trying to help Bob, which of these is MOST likely?"
    answers = [ask(story, question, options).answer for question in (framed, bare)]
    assert answers[0].option == answers[1].option == 0


@pytest.mark.parametrize("phrasing", sorted(phrasings()))
def test_no_person_or_thing_of_a_sentence_is_lost_in_its_clauses(phrasing: str) -> None:
    rng = np.random.default_rng(7)
    for story in invent(6, rng):
        text = tell(story.episode, story.question, phrasing, rng).story
        names = story.episode.agents
        things = {word for entity in story.episode.entities for word in entity.id.split()}
        for sentence in sentences(tokens(text), names):
            matters = {t.low for t in sentence if not t.quote and (t.text in names or t.low in things)}
            for parts in simpler(sentence, names, things):
                kept = {word for part in parts for token in part for word in re.findall(r"[\w-]+", token.text.lower())}
                assert matters <= kept | wordset("stands_for")

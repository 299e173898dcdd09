"""Story files: what is written is read back equal, and what is wrong is said in one line with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.files.strict_json import parse
from otherminds.stories.files import (
    StoryFile,
    Worded,
    as_json,
    episode_of,
    question_json,
    question_of,
    read_story_file,
    told_story,
)
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Holds,
    Knows,
    NextAction,
    Observation,
    Question,
    SocialGoal,
    Utterance,
)

Data = dict[str, Any]

# Whatever can be written

TEXT = st.text(max_size=6)
MAYBE = st.none() | TEXT
P = st.floats(0.0, 1.0)
SOURCE = st.sampled_from(("text", "video", "scene_graph", "simulator", "question"))
SPAN = st.none() | st.tuples(st.integers(), st.integers())
FACTS = st.builds(Fact, st.sampled_from(("at", "in_room", "holds", "is")), TEXT, MAYBE)
VERBS = st.sampled_from(("enter", "leave", "walk", "open", "close", "grab", "put", "move", "look", "wait"))
SPEECH = st.sampled_from(("ask", "assert", "deny", "unsure", "silence"))
KINDS = st.sampled_from(("agent", "object", "place", "room"))
ENTITIES = st.builds(Entity, TEXT, KINDS, MAYBE, st.sampled_from((None, "in", "on")))


def events(t: int) -> st.SearchStrategy[Event]:
    return st.builds(Event, st.just(t), TEXT, VERBS, MAYBE, MAYBE, MAYBE, P, SOURCE, SPAN)


def happenings(t: int) -> st.SearchStrategy[Happening]:
    hearers = st.lists(TEXT, max_size=3).map(tuple)
    said = st.builds(Utterance, st.just(t), TEXT, SPEECH, st.none() | FACTS, hearers, P, SOURCE, SPAN)
    seen = st.builds(Observation, st.just(t), TEXT, FACTS, st.booleans(), P, SOURCE, SPAN)
    return events(t) | said | seen


def timelines(times: Sequence[int]) -> st.SearchStrategy[tuple[Happening, ...]]:
    return st.tuples(*(happenings(t) for t in sorted(times)))


EPISODES = st.builds(
    Episode,
    TEXT,
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(ENTITIES, max_size=4, unique_by=lambda entity: entity.id).map(tuple),
    st.lists(FACTS, max_size=3).map(tuple),
    st.lists(st.integers(-(2**70), 2**70), max_size=4).flatmap(timelines),
    st.booleans(),
)
GOALS = st.builds(Goal, TEXT, st.none() | FACTS)
BELIEFS = st.recursive(
    st.builds(Belief, TEXT, FACTS | GOALS, st.booleans()),
    lambda inner: st.builds(Belief, TEXT, inner, st.booleans()),
    max_leaves=4,
)
STANCES = st.builds(SocialGoal, TEXT, TEXT, st.sampled_from(("help", "hinder", "independent")))
NEXT = st.builds(NextAction, st.integers().flatmap(events))
CLAIMS: st.SearchStrategy[Claim] = st.one_of(
    GOALS, BELIEFS, st.builds(Knows, TEXT, TEXT), STANCES, st.builds(Holds, FACTS), NEXT
)
QUESTIONS = st.integers(2, 4).flatmap(
    lambda n: st.builds(
        Question,
        TEXT,
        st.tuples(*(st.builds(AnswerOption, st.lists(CLAIMS, max_size=3).map(tuple)) for _ in range(n))),
        st.sampled_from(("most", "least")),
        st.lists(CLAIMS, max_size=2).map(tuple),
        st.lists(events(9), max_size=2).map(tuple),
        st.none() | st.integers(),
        TEXT,
        st.just(()) | st.tuples(*(TEXT for _ in range(n))),
    )
)


@pytest.mark.slow
@given(EPISODES)
@settings(max_examples=40)
def test_every_episode_is_read_back_equal(episode: Episode) -> None:
    assert episode_of(json.loads(json.dumps(as_json(episode)))) == episode


@pytest.mark.slow
@given(QUESTIONS)
@settings(max_examples=40)
def test_every_question_is_read_back_equal(question: Question) -> None:
    assert question_of(json.loads(json.dumps(question_json(question)))) == question


@pytest.mark.slow
@given(EPISODES, QUESTIONS, st.sampled_from((".json", ".jsonl")), st.booleans())
@settings(max_examples=15)
def test_a_file_of_both_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, episode: Episode, question: Question, suffix: str, plain: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / f"both{suffix}"
    row = {"id": "x", "episode": as_json(episode), "question": question_json(question)}
    path.write_text(json.dumps(row, ensure_ascii=plain), encoding="utf-8")
    whole = StoryFile(None, episode, (question,))
    assert read_story_file(path) == whole
    assert read_story_file(path, "x") == whole


# Texts and rows


@pytest.mark.parametrize(
    ("text", "story", "questions"),
    [
        ("Ann sings.\n", "Ann sings.", ()),
        ("\ufeffAnn sings.\r\n", "Ann sings.", ()),
        ("Ann sings.\n\nBob hums.", "Ann sings.\n\nBob hums.", ()),
        ("Ann sings.\n\nWho sings?", "Ann sings.", (Worded("Who sings?", ()),)),
        ("One.\n\nTwo.\n\nWho? \nA) Ann\nB) Bob\n", "One.\n\nTwo.", (Worded("Who?", ("Ann", "Bob")),)),
        ("Ann sings.\nQuestion: Who sings?", "Ann sings.", (Worded("Who sings?", ()),)),
        ("Is Ann here?\n\nYes.\nQuestion: Who\n\nA) Ann\nB) Bob", "Is Ann here?\n\nYes.",
         (Worded("Who", ("Ann", "Bob")),)),
        ("Who sings?", "Who sings?", ()),
    ],
)  # fmt: skip
def test_a_text_ends_with_its_question_if_it_has_one(
    tmp_path: Path, text: str, story: str, questions: tuple[Worded, ...]
) -> None:
    path = tmp_path / "story.txt"
    path.write_bytes(text.encode())
    assert read_story_file(path) == StoryFile(story, None, questions)


def rows(path: Path, *objects: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return path


def test_rows_are_chosen_by_their_id(tmp_path: Path) -> None:
    one = {"id": "a", "story": "Ann sings.", "question": "Who?", "options": ["Ann", "Bob"], "answer": "Ann"}
    path = rows(tmp_path / "many.jsonl", one, {"id": 7, "story": "Bob hums."}, {"id": "a", "story": "Not this one."})
    path.write_text("\n\n" + path.read_text())
    assert read_story_file(path, "a") == StoryFile("Ann sings.", None, (Worded("Who?", ("Ann", "Bob")),))
    assert read_story_file(path, "7") == StoryFile("Bob hums.", None, ())


def test_what_is_told_in_words_is_read_rather_than_the_data(tmp_path: Path) -> None:
    row = {"story": "Ann sings.", "episode": as_json(Episode("e", ("Ann",)))}
    assert read_story_file(rows(tmp_path / "one.jsonl", row)) == StoryFile("Ann sings.", None, ())


# Whatever is wrong

EVENT: Data = {"type": "event", "t": 3, "agent": "Ann", "verb": "wait"}


def episode(**more: Any) -> Data:
    return {"id": "e", "agents": ["Ann"]} | more


def event(**more: Any) -> Data:
    return episode(timeline=[EVENT, EVENT | more])


def question(**more: Any) -> Data:
    return {"id": "q", "options": [{"claims": []}, {"claims": []}]} | more


def nested(depth: int) -> Data:
    claim: Data = {"type": "goal", "agent": "Ann"}
    for _ in range(depth):
        claim = {"type": "belief", "agent": "Ann", "content": claim}
    return claim


BROKEN_EPISODES: list[tuple[Any, str]] = [
    ({}, "lacks id"),
    (episode(id=7), "id: .*string"),
    (episode(agents="Ann"), "agents: "),
    (episode(agents=[None]), "agents.0: "),
    (episode(moral="none"), "moral: "),
    (episode(complete="yes"), "complete: "),
    (episode(entities=[{"id": "x", "kind": "ghost"}]), "entities.0.kind: "),
    (episode(entities=[{"id": "x", "kind": "room"}, {"id": "x", "kind": "place"}]), "'x' is there twice"),
    (episode(init=[{"predicate": "near", "subject": "x"}]), "init.0.predicate: "),
    (event(verb="zork"), "timeline.1.event.verb: "),
    (event(type="spell"), "timeline.1: "),
    (event(t="3"), "timeline.1.event.t: "),
    (event(t=2.5), "timeline.1.event.t: "),
    (event(t=2), "timeline.1.t: is before what comes before it"),
    (event(p=1.01), "timeline.1.p: 1.01 is not a probability"),
    (event(p=-1e-9), "timeline.1.p: .* is not a probability"),
    (event(p=float("nan")), "NaN"),
    (event(p="1"), "timeline.1.event.p: "),
    (event(agent=None), "timeline.1.event.agent: "),
    (event(span=[1]), "timeline.1.event.span"),
    (event(source="dream"), "timeline.1.event.source: "),
    (event(agent="\ud800"), "."),
    (episode(timeline=[EVENT] * 10_001), "more than 10,000 happenings"),
]


@pytest.mark.parametrize(("data", "said"), BROKEN_EPISODES)
def test_what_is_no_episode_is_refused_with_its_place(tmp_path: Path, data: Any, said: str) -> None:
    path = rows(tmp_path / "e.jsonl", {"id": 1, "story": "One."}, {"id": 2, "episode": data, "question": "Who?"})
    with pytest.raises(InputError) as error:
        read_story_file(path, "2")
    assert re.match(rf"^{path}:2: .*{said}", str(error.value).replace("`", ""))


BROKEN_QUESTIONS: list[tuple[Any, str]] = [
    (question(options=[]), "2 to 100, not 0"),
    (question(options=[{"claims": []}]), "2 to 100, not 1"),
    (question(options=[{"claims": []}] * 101), "2 to 100, not 101"),
    (question(options=["Ann"]), "options.0"),
    (question(polarity="best"), "polarity: "),
    (question(at=1.5), "at: "),
    (question(options=[{"claims": [{"type": "wish", "agent": "Ann"}]}] * 2), "options.0.claims.0: "),
    (question(options=[{"claims": [{"type": "social_goal", "agent": "A", "toward": "B", "kind": "love"}]}] * 2),
     r"claims.0.social_goal.kind: "),
    (question(options=[{"claims": [nested(9)]}] * 2), "nested more than 8 deep"),
    (question(given=[nested(9)]), "nested more than 8 deep"),
    (question(options=[{"claims": [nested(300)]}] * 2), "nested|depth|recursion"),
    (question(labels=["only one"]), "labels"),
    (question(labels=["one", "two", "three"]), "labels"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "said"), BROKEN_QUESTIONS)
def test_what_is_no_question_is_refused_with_its_place(tmp_path: Path, data: Any, said: str) -> None:
    path = rows(tmp_path / "q.jsonl", {"story": "One.", "question": data})
    with pytest.raises(InputError) as error:
        read_story_file(path)
    assert re.match(rf"^{path}:1: .*({said})", str(error.value).replace("`", ""))


def test_eight_minds_are_not_too_many() -> None:
    assert question_of(question(options=[{"claims": [nested(8)]}] * 2)).options


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ('{"a": ', "is not JSON"),
        ("{'a': 1}", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 10_000, "is not JSON: a number too long"),
        ('{"a": 1} 2', "is not JSON: Extra data"),
    ],
)
def test_what_is_not_json_is_said_to_be_none(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        parse(text, Path("x"), 4)
    assert str(caught.value).startswith("x:4")
    assert len(str(caught.value)) < 200


def test_the_line_and_column_of_what_is_not_json_are_those_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"story": "One.",\n "question": }')
    with pytest.raises(InputError, match=rf"^{path}:2:14: is not JSON"):
        read_story_file(path)
    path = tmp_path / "x.jsonl"
    path.write_text('{"story": "One."}\n\n{"story": }\n')
    with pytest.raises(InputError, match=rf"^{path}:3:11: is not JSON"):
        read_story_file(path)


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | TEXT, lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(("id", "agents", "timeline", "options", "p", "type", "claims",
    "story", "episode", "question", "given", "labels")) | TEXT, inner, max_size=3), max_leaves=12))  # fmt: skip
@settings(max_examples=40)
def test_any_json_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with suppress(InputError):
        found = read_story_file(path)
        assert (found.text is None) != (found.episode is None)


@pytest.mark.parametrize("options", ["A) basket B) box", "A. basket B. box", "(a) basket (b) box", "1) basket\n2) box"])
def test_options_may_follow_the_last_sentence(options: str) -> None:
    found = told_story(f"Ann put the key in the basket. Ben hid it. Where is it? {options}")
    assert found.text == "Ann put the key in the basket. Ben hid it."
    assert found.questions == (Worded("Where is it?", ("basket", "box")),)


def test_marks_in_a_story_are_no_options() -> None:
    story = "Ann read A) the list and B) the note. Ben hid it."
    found = told_story(f"{story} Where is it?")
    assert found.questions == (Worded("Where is it?", ()),)
    assert found.text == story

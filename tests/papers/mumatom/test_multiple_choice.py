"""A language model by itself: it is shown all it needs and nothing else, and only a choice counts as an answer."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import Run
from fake_models import Fake
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.experiment import Options
from otherminds.evaluation.story_sets import make
from otherminds.language.asking import Unreadable
from otherminds.language.model import Reply, Request, Usage
from otherminds.language.scripted import text_of
from otherminds.papers.mumatom import reproduction
from otherminds.papers.mumatom.multiple_choice import (
    ANSWER_TOKENS,
    ATTEMPTS,
    THINKING_TOKENS,
    AskedStory,
    StoryChoice,
    benchmark,
    choose,
    estimate,
    invented,
    read_option,
    rows,
)
from otherminds.reproduce.run import reproduce
from otherminds.stories.mumatom_files import MumatomEpisode, MumatomQuestion
from run_files import results, rows_in, summary_in

OPTIONS = ("Ben wanted to help Ana.", "Ben did not care what Ana did.", "Ben wanted to hinder Ana.")
STORY = AskedStory(
    "invented/plain",
    "lm:fake",
    "7-0",
    "7",
    42,
    "Ana looked for the milk. Ben said nothing.",
    (StoryChoice("What is MOST likely?", OPTIONS, 1, "social_goal"),),
)


@pytest.mark.parametrize("letter", ["B", "b"])
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "{}.",
        "**{}**",
        "Answer: option {}",
        '{{"answer": "{}"}}',
        "The answer is {}.",
        "Answer: {}. Ben did not care what Ana did.",
        "{}) Ben did not care what Ana did.",
        "I choose option {}, because he said nothing.",
    ],
)
def test_a_letter_in_any_dress_is_read(letter: str, form: str) -> None:
    assert read_option(Reply(form.format(letter)), OPTIONS) == 1


def test_the_words_of_an_option_are_read() -> None:
    assert [read_option(Reply(option), OPTIONS) for option in OPTIONS] == [0, 1, 2]
    assert read_option(Reply('"Ben did not care what Ana did"'), OPTIONS) == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(""), "unreadable"),
        (Reply("Neither."), "unreadable"),
        (Reply("B or C"), "unreadable"),
        (Reply("B. Ben wanted to hinder Ana."), "unreadable"),
        (Reply("Answer: option D"), "unreadable"),
        (Reply("B", cut=True), "cut"),
        (Reply("", thought=True), "cut"),
        (Reply("B", withheld="filtered"), "filtered"),
        (Reply("B", withheld="refused"), "refused"),
        (Reply("B", withheld="tool call"), "unreadable"),
    ],
)
def test_all_else_is_no_answer_and_is_counted_by_its_kind(reply: Reply, kind: str) -> None:
    unread = read_option(reply, OPTIONS)
    assert isinstance(unread, Unreadable)
    assert unread.kind == kind


@given(st.text(max_size=200))
def test_any_text_is_an_option_or_no_answer(text: str) -> None:
    assert read_option(Reply(text), OPTIONS) in (0, 1, 2) or isinstance(read_option(Reply(text), OPTIONS), Unreadable)


def test_the_model_sees_story_question_and_options_and_may_only_name_one() -> None:
    model = Fake(lambda _: Reply("C", constrained=True))
    option, exchanges = choose(STORY, 0, model)
    (request,) = model.asked
    assert isinstance(request, Request)
    prompt = text_of(request)
    assert STORY.story in prompt
    assert f"What is MOST likely?\nA. {OPTIONS[0]}\nB. {OPTIONS[1]}\nC. {OPTIONS[2]}\n" in prompt
    assert json.loads(request.schema)["properties"] == {"answer": {"type": "string", "enum": ["A", "B", "C"]}}
    assert (option, request.temperature, request.max_tokens) == (2, 0.0, ANSWER_TOKENS)
    assert [exchange.constrained for exchange in exchanges] == [True]


def test_a_reply_that_is_cut_off_gets_more_room_and_one_that_cannot_be_read_is_told_why() -> None:
    replies = iter((Reply("Well", cut=True), Reply("Neither."), Reply("Answer: option A")))
    model = Fake(lambda _: next(replies))
    option, exchanges = choose(STORY, 0, model)
    first, second, third = model.asked
    assert isinstance(first, Request)
    assert isinstance(second, Request)
    assert isinstance(third, Request)
    assert (first.max_tokens, second.max_tokens, third.max_tokens) == (ANSWER_TOKENS, THINKING_TOKENS, THINKING_TOKENS)
    assert "was cut off" in text_of(second)
    assert "names no option" in text_of(third)
    assert len({request.draw for request in (first, second, third)}) == 3
    assert option == 0
    assert [exchange.readable for exchange in exchanges] == [False, False, True]


def test_rows_tell_the_answer_the_replies_and_what_could_not_be_read() -> None:
    (row,) = rows(STORY, Fake(lambda _: Reply("B", usage=Usage(10, 0, 2))))
    assert (row["condition"], row["subject"], row["episode"], row["group"]) == ("invented/plain", "lm:fake", "7-0", "7")
    assert (row["action"], row["gold"], row["correct"], row["guessing"], row["accuracy"]) == (1, 1, True, 1.0, 1.0)
    assert (row["replies"], row["kinds"], row["tokens"]) == (1, [], 12)
    (row,) = rows(STORY, Fake(lambda _: Reply("\ud83e no", withheld="refused")))
    assert (row["action"], row["correct"], row["guessing"]) == (None, False, 1 / 3)
    assert (row["replies"], row["kinds"]) == (ATTEMPTS, ["refused"] * ATTEMPTS)
    json.dumps(row, ensure_ascii=False).encode()


def test_invented_stories_are_those_that_the_rules_read() -> None:
    stories = invented(6, 42, "a:b")
    made = list(make(6, 42, phrasing_names=("plain",), quiet=True))
    assert [(story.id, story.story) for story in stories] == [(row["id"], row["story"]) for row in made]
    assert {story.subject for story in stories} == {"lm:a-b"}
    for story, row in zip(stories, made, strict=True):
        (question,) = story.questions
        assert question.options[question.gold] == row["answer"]


def test_an_episode_of_the_benchmark_is_told_with_its_video_or_else_in_full() -> None:
    item = MumatomQuestion("Which?", OPTIONS, 2, "belief")
    source = MumatomEpisode("1", "Ana sat. Ben stood.", "Ana sat.", "Ben stands.", None, (item, item))
    seen, told = benchmark([source, replace(source, id="2", video=None)], 0, "m")
    assert (seen.condition, seen.story) == ("text_video", "Ana sat.\n\nBen stands.")
    assert (told.condition, told.story) == ("full_text", "Ana sat. Ben stood.")
    assert [question.gold for question in seen.questions] == [2, 2]


def test_calls_and_tokens_are_known_ahead() -> None:
    model = Fake(lambda _: Reply("A"))
    stories = invented(3, 42, "fake")
    ahead = estimate(stories)
    for story in stories:
        rows(story, model)
    assert ahead.calls == len(model.asked) == 3
    assert ahead.usage.written == 3 * ANSWER_TOKENS
    assert ahead.usage.prompt > 3 * 50


# In the experiment

MODELS = """\
import re


def first(prompt):
    return "Answer: option A"


def mute(prompt):
    return "I would rather not."
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own_readers.py").write_text(MODELS)
    monkeypatch.setitem(reproduction.STORIES, "quick", 6)
    monkeypatch.setitem(reproduction.MODEL_STORIES, "quick", 6)
    yield tmp_path
    sys.modules.pop("own_readers", None)


@pytest.mark.slow
def test_a_model_is_asked_about_invented_stories_without_any_data(run: Run, here: Path) -> None:
    command = ("reproduce", "mumatom", "--quick", "--out", "out", "--model", "own_readers:first")
    result = run(*command)
    assert result.code == 0, result.err
    assert re.search(r"own_readers:first: 6 calls, about [\d,]+ tokens", result.err)
    rows_of_model = [row for row in rows_in(here / "out") if row["subject"] == "lm:own_readers-first"]
    assert [row["action"] for row in rows_of_model] == [0] * 6
    scores = {r["metric"]: r["value"] for r in summary_in(here / "out") if r["subject"] == "lm:own_readers-first"}
    assert scores["accuracy"] == scores["accuracy_answered"] == pytest.approx(1 / 3)
    assert (scores["answered"], scores["unreadable_share"]) == (1.0, 0.0)
    before = results(here / "out")
    again = run(*command)
    assert "calls made" not in again.err
    assert results(here / "out") == before


@pytest.mark.slow
def test_replies_that_cannot_be_read_are_told_apart_from_wrong_answers(run: Run, here: Path) -> None:
    run("reproduce", "mumatom", "--quick", "--out", "out", "--model", "own_readers:mute")
    scores = {r["metric"]: r["value"] for r in summary_in(here / "out") if r["subject"] == "lm:own_readers-mute"}
    assert (scores["answered"], scores["unreadable_share"]) == (0.0, 1.0)
    assert "accuracy_answered" not in scores


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        (("limp",), "LIMP is about MuMA-ToM"),
        (("lmp",), "no method `lmp`.*did you mean"),
        (("lm", "limp"), "one method"),
    ],
)
def test_a_method_that_cannot_be_meant_is_refused(here: Path, agents: tuple[str, ...], said: str) -> None:
    options = Options(here / "out", scale="quick", asking=Asking("own_readers:first"), agents=agents)
    with pytest.raises(InputError, match=said):
        reproduce("mumatom", options)
    assert not (here / "out").exists()

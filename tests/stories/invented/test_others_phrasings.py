"""Invented stories in the words of writers who did not know the reader."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from otherminds.stories.answering import answer_benchmark
from otherminds.stories.invented import telling
from otherminds.stories.invented.invention import Story, invent

OTHERS = tomllib.loads((Path(__file__).parent / "others_phrasings.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    return list(invent(60, np.random.default_rng(3)))


@pytest.mark.slow
@pytest.mark.parametrize("phrasing", list(OTHERS))
def test_nine_in_ten_are_answered_and_none_wrongly(
    stories: list[Story], phrasing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "phrasings", lambda: OTHERS)
    found: Counter[str] = Counter()
    for i, story in enumerate(stories):
        text = telling.tell(story.episode, story.question, phrasing, np.random.default_rng(i))
        answer = answer_benchmark(text.story, text.question, text.options).answer
        found["open" if answer.option is None else "right" if answer.option == story.gold else "wrong"] += 1
    assert found["right"] >= 0.9 * len(stories), found
    assert found["wrong"] == 0, found

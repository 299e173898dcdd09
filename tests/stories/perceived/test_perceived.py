"""The four forms together: hostile input, and stories that have none of them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.stories.perceived import option_by_perception

PIECES = st.sampled_from(
    (
        *("Ann", "Bob", "She", "Does", "believe", "believes", "think", "that", "the tin", "it", "not", "will", "do"),
        *("took", "saw", "left", "unaware", "Unbeknownst to", "Ann's", "deed", "see you", "label on the tin is", "pen"),
        *(
            "opens the tin and finds",
            "From Ann's perspective,",
            "where is the pen located",
            "From",
            "fullness",
            "how does",
        ),
        *("\nAnn:", "\nBob:", ".", ",", "?", "!", "-", "'", "’", "_", " ", "É", "\u0130", "\x00"),
    )
)
TEXTS = st.lists(PIECES, max_size=60).map(" ".join)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=4))
def test_any_text_has_an_option_with_its_passages_or_none(story: str, question: str, options: list[str]) -> None:
    grounds = option_by_perception(story, question, options)
    assert grounds is None or (grounds.option in options and all(text in story for text in grounds.passages))


@pytest.mark.parametrize("options", [(), ("Yes",)])
def test_a_question_with_less_than_two_options_is_left_open(options: tuple[str, ...]) -> None:
    story = "The label on the tin is rice. Ann opens the tin and finds a pen."
    assert option_by_perception(story, "What is in the tin?", ("Pen", "Rice")) is not None
    assert option_by_perception(story, "What is in the tin?", options) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["A-", "Ann's ", "Ann took it. ", "label on the ", "do ", "Ann: bye\n", "Little did "]
)
def test_time_is_linear_in_the_length_of_the_text(piece: str) -> None:
    text = piece * 20_000
    start = time.process_time()
    for story, question in ((text, "From Ann's perspective, where is the pen located?"), ("Ann.", text)):
        option_by_perception(story, question, ("Ann believes it will do", "Ann believes it is unaware"))
    assert time.process_time() - start < 2.0  # seconds; a search in quadratic time takes more than 10

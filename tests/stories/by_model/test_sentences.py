"""Stories cut into sentences: where one ends, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.stories.by_model.sentences import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Ana left.", "Ben stayed!", "Why?", "Nobody knows;", "that is, nobody says."],
        ["Dr. Mo met Mr. Ray at 3 a.m. in room 7.40 of the house.", "He left."],
        ["J. Smith wrote it.", "So did I.", "We were proud."],
        ["“It is here. Look!” said Ana.", "“Where?”", "Ben came in."],
        ["“We swim, and bring hats!” Coach Lind told them.", "They did."],
        ['He said "Come."', 'She said "Go."', "(They stayed.)", "It rained..."],
        ["The keys (on the hook) are mine.", "Ben\tknows, 'tis true.", "No stop at the end"],
    ],
)
def test_where_sentences_end(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences


def test_lines_are_sentences() -> None:
    assert split_sentences("A list\n\nof things\n") == ["A list", "of things"]
    assert split_sentences(" \n ") == []


@given(st.text(st.sampled_from("aB.!?;\n \"'“”(3"), max_size=40) | st.text(max_size=40))
def test_nothing_is_lost(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentences)

"""The sentences of a story about anything, with every character of it, so that a model can refer to them by number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.sentences import BEGINNERS, SPEAKER_WITHIN, Token, is_speech_verb, plain, tokens

STOPS = frozenset(".!?;\n")
CLOSING = "\"'”’»)"  # a mark that belongs to the stop before it


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in order, none of them empty.

    A stop after a title or an initial, or inside a word ("Dr. Mo", "3 a.m."), ends no sentence; a quote stays with the
    words that say who speaks.
    """
    marks = tokens(plain(text))
    cuts = [0]
    first = 0  # token with which the sentence begins
    for i, token in enumerate(marks):
        if _quote_ends(marks, first, i) if token.quote else _stop_ends(text, marks, i):
            cuts.append(token.end + (text[token.end : token.end + 1] in [*CLOSING]))
            first = i + 1
    return [sentence for start, end in pairwise([*cuts, len(text)]) if (sentence := text[start:end].strip())]


def _stop_ends(text: str, marks: Sequence[Token], i: int) -> bool:
    """Whether a sentence ends with a mark: the last of several stops, unless it shortens the word before it."""
    following = marks[i + 1] if i + 1 < len(marks) else None
    if marks[i].text not in STOPS or (following and not following.quote and following.text in STOPS):
        return False
    before = marks[i - 1].text if i else ""
    if marks[i].text != ".":
        return True
    initial = len(before) == 1 and before.isalpha() and before != "I"
    shortened = before.lower() in wordset("titles") or (initial and following and following.text not in BEGINNERS)
    return not shortened and not text[marks[i].end : marks[i].end + 1].isalnum()


def _quote_ends(marks: Sequence[Token], first: int, i: int) -> bool:
    """Whether a sentence ends with a quote: it has a stop, and neither the case nor a speaker shows that it goes on."""
    following = marks[i + 1 : i + SPEAKER_WITHIN]
    if not marks[i].text.rstrip().endswith((".", "!", "?")) or not following or not following[0].text[:1].isupper():
        return False
    words = [token.low for token in following]
    return i > first or not any(is_speech_verb(words, j) for j in range(len(words)))

"""Who is in a text: names are capitalised words that act like subjects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.sentences import Token

NEVER = wordset("never")
GOES_ON = frozenset(("also", "then", "both", "now", "just", "still", "soon", "and", "'s", "never", "already", "who"))


def find_names(sentences: Iterable[Sequence[Token]], cast: Sequence[str] = ()) -> tuple[str, ...]:
    """The names in a text, in the order in which they appear; `cast` are names known beforehand."""
    sure: dict[str, None] = {}
    unsure: dict[str, None] = {}
    small: set[str] = set()
    for sentence in sentences:
        for i, token in enumerate(sentence):
            if token.quote:
                continue
            if token.text[:1].islower():
                small.add(token.text)
            elif token.text in cast or _looks_like_name(token):
                (sure if token.text in cast or _is_sure(sentence, i) else unsure)[token.text] = None
    order = [name for name in _ordered(sentences, {*sure, *unsure}) if name in cast or _fits(name, small, sure)]
    return tuple(order)


def _ordered(sentences: Iterable[Sequence[Token]], names: set[str]) -> list[str]:
    return list(dict.fromkeys(t.text for sentence in sentences for t in sentence if not t.quote and t.text in names))


def _looks_like_name(token: Token) -> bool:
    text = token.text
    letters = text.replace("-", "")
    return len(text) > 1 and text[0].isupper() and letters.isalpha() and not text.isupper() and token.low not in NEVER


def _fits(name: str, small: set[str], sure: dict[str, None]) -> bool:
    known = lexicon()
    low = name.lower()
    if name in known.gender:
        return name in sure or low not in known.common
    return name in sure and low not in small and (low not in known.common or low in known.forms)


def _is_sure(sentence: Sequence[Token], i: int) -> bool:
    """Whether a capitalised word must be a name here: inside a sentence, or at its beginning before a verb."""
    known = lexicon()
    low = sentence[i].low
    if i > 0 and sentence[i - 1].text not in (":", '"') and not sentence[i - 1].quote:
        return low not in known.common or sentence[i].text in known.gender
    if low in known.common and sentence[i].text not in known.gender:
        return False
    return i + 1 < len(sentence) and _goes_on(sentence, i + 1)


def _goes_on(sentence: Sequence[Token], i: int) -> bool:
    """Whether what follows a word at the beginning of a sentence makes it a subject."""
    known = lexicon()
    token = sentence[i]
    if token.text == ":" or token.low in GOES_ON | known.sets["auxiliaries"] | known.sets["modals"]:
        return not low_after_and(sentence, i)
    if token.text == ",":
        return i + 1 < len(sentence) and (
            sentence[i + 1].low in ("who", "now", "still", "having", "and", "meanwhile") or _is_list(sentence, i + 1)
        )
    if token.low.endswith("ly"):
        return i + 1 < len(sentence) and known.is_verb(sentence[i + 1].low)
    return known.is_verb(token.low)


def low_after_and(sentence: Sequence[Token], i: int) -> bool:
    """Whether an "and" joins the word with something that is no name."""
    return sentence[i].low == "and" and not (i + 1 < len(sentence) and sentence[i + 1].text[:1].isupper())


def _is_list(sentence: Sequence[Token], i: int) -> bool:
    """Whether names are being listed: "Ann, Bob and Cid"."""
    for token in sentence[i : i + 12]:
        if token.low == "and":
            return True
        if token.text != "," and not token.text[:1].isupper():
            return False
    return False

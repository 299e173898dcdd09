"""Putting sentences of a story into plain word order: clefts, remarks on who sees it, and roundabout ways to tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources

from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token

Rule = tuple[re.Pattern[str], str]
FIELD = re.compile(r"\{(\w+)\}")


@cache
def _rules() -> tuple[tuple[Rule, ...], re.Pattern[str]]:
    """The rules in their order, and what begins a remark on the sentence before; short names are put in full."""
    text = (resources.files("otherminds.stories.english") / "rewording.toml").read_text("utf-8")
    table = tomllib.loads(text)

    def full(pattern: str) -> re.Pattern[str]:
        for _ in range(3):
            pattern = re.sub(r"(?<!\?P)<([a-z]+)>", lambda m: table["parts"].get(m[1], m[0]), pattern)
        return re.compile(pattern)

    return tuple((full(pattern), plain) for pattern, plain in table["story"]["rules"]), full(table["remark"])


def reworded(sentence: Sequence[Token], names: Collection[str]) -> list[Token]:
    """The tokens of a sentence in plain order; the same tokens if no rule fits."""
    found = list(sentence)
    for pattern, plain in _rules()[0] if len(found) <= LONGEST_SENTENCE else ():
        words, places = _written(found, names)
        match = pattern.search(words)
        if match:
            found = _ordered(match, plain, found, places)
    return found


def _written(found: Sequence[Token], names: Collection[str]) -> tuple[str, list[int]]:
    """The tokens as one text, names marked by "@" and quotes no more than a mark; and where each begins in it."""
    words = ['"' if t.quote else f"@{t.text}" if t.text in names else t.low for t in found]
    places, at = [], 0
    for word in words:
        places.append(at)
        at += len(word) + 1
    return " ".join(words), places


def _ordered(match: re.Match[str], plain: str, found: Sequence[Token], places: Sequence[int]) -> list[Token]:
    """The tokens in the order of a rule's outcome, in which `{x}` is what the group of that name found."""
    start, end = found[0].start, found[-1].end
    out: list[Token] = []
    for part in plain.split():
        field = FIELD.fullmatch(part)
        if part == '"':
            out += [token for token in found if token.quote]
        elif field is None:
            out.append(Token(part, start, end))
        elif match[field[1]]:
            low, high = match.span(field[1])
            out += [token for token, place in zip(found, places, strict=True) if low <= place < high]
    return out


def rejoined(sentences: Sequence[Sequence[Token]], names: Collection[str]) -> list[list[Token]]:
    """The sentences, with remarks such as "; that's where she put it" and "; he could see that" part of the first."""
    remark = _rules()[1]
    out: list[list[Token]] = []
    for sentence in sentences:
        words, _ = _written(sentence, names)
        if out and remark.search(words) and not any(token.quote for token in out[-1]):
            out[-1] += [Token(",", sentence[0].start, sentence[0].start), *sentence]
        else:
            out.append(list(sentence))
    return out

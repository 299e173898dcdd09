"""Belief questions in free English (BigToM), answered from the story's structure and a few marker words.

The story states a belief, then a change, and ends with whether the person notices the change, or with what they do. A
person that misses the change keeps the belief; one that notices it, acts to mend it, or names what is new, gives it up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.files.toml import packaged
from otherminds.stories.beliefs.belief_files import Item
from otherminds.stories.model import Answer, abstention

WORDS = packaged("otherminds.stories.beliefs", "percepts.toml")
KINDS = ("believes", "misses", "notices", "mends")
BELIEVES, MISSES, NOTICES, MENDS = (re.compile("|".join(WORDS[kind])) for kind in KINDS)
COMMON = WORDS["common"].split()
SURE, LIKELY = 0.95, 0.7  # probability of the answer given a stated percept, and given an action; chosen, not tuned


def answer_percept(item: Item) -> Answer:
    """Which of two options the person believes. Abstains, with a reason, if the wording does not decide it."""
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n", item.story) if part.strip()]
    stated = [place for place, sentence in enumerate(sentences[:-1]) if BELIEVES.search(sentence.casefold())]
    if len(item.options) != 2 or len(sentences) < 3 or not stated:
        why = "the story does not say what is believed at first, or there are not two options"
        return abstention(len(item.options), why)
    words = [content(option) for option in item.options]
    own = [words[0] - words[1], words[1] - words[0]]
    before = closest(own, content(sentences[stated[-1]]))
    if before is None:
        return abstention(len(item.options), "the belief at first is as close to one option as to the other")
    last = sentences[-1].casefold()
    if MISSES.search(last) and NOTICES.search(last):
        return _choose(before, SURE)
    if NOTICES.search(last):
        return _choose(1 - before, SURE)
    closest_option = closest(own, content(last))
    if MENDS.search(last) or closest_option == 1 - before:
        return _choose(1 - before, LIKELY)
    if closest_option is None and not content(last) & content(" ".join(sentences[:-1])):
        return abstention(len(item.options), "what is done has nothing to do with what is believed")
    return _choose(before, LIKELY)


def content(text: str) -> frozenset[str]:
    """The stems of the content words; "not" is one of them."""
    words = re.findall(r"[a-z]+", re.sub(r"n['’]t\b", " not", text.casefold()))
    return frozenset(_stem(word) for word in words if word not in COMMON)


def closest(options: Sequence[frozenset[str]], text: frozenset[str]) -> int | None:
    """The index of the option with the larger share of its words in the text; None if the shares are equal.

    An option without words of its own has one minus the other's share.
    """
    matches = [
        [word in text or (len(word) > 2 and any(word in text_word for text_word in text)) for word in own]
        for own in options
    ]
    shares = [sum(hits) / len(hits) if hits else None for hits in matches]
    filled = [1.0 - (shares[1 - i] or 0.0) if share is None else share for i, share in enumerate(shares)]
    return None if filled[0] == filled[1] else int(filled[1] > filled[0])


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def _choose(option: int, p: float) -> Answer:
    return Answer(option, (p, 1.0 - p) if option == 0 else (1.0 - p, p))

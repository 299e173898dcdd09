"""What somebody believes to be so after a change that they perceive or miss: the old state of things, or the new one.

Told are a state, what changes it, and whether somebody sees that; asked is which of two states they believe in. Each
state is known by the words that only its option has, stemmed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from otherminds.stories.everyday.words import vocabulary, words_of

BELIEVES = re.compile(r"\b(?:believe|think|assume|suppose|expect)s?\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+")
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
UNAWARE = re.compile(
    r"\b(?:not|never|unaware|oblivious|without|nothing|fail(?:s|ed)? to|miss(?:es|ed)?)\b|n't\b", re.IGNORECASE
)
PERSONAL = frozenset(["he", "she", "they"])
DENYING = frozenset(["no", "not", "n", "none", "longer", "never"])
SENSING = frozenset(["feel", "feels", "felt", "smell", "smells", "smelled", "smelt", "taste", "tastes", "tasted"])
STEM = 5  # letters by which forms of a word are told alike (chosen)
MOST = 0.6  # share of the words of a state that must have been told before, if its denial is the other option (chosen)
SMALL = words_of("common") - {"on", "in"}


class Change(NamedTuple):
    """A change of which somebody learns, or not: the words told before it, those of the change, and which it is."""

    before: frozenset[str]
    after: frozenset[str]
    aware: bool


def believed_option(text: str, who: Collection[str], options: Sequence[str]) -> str | None:
    """The option that says what somebody of these names believes; None if the story does not tell two states apart."""
    if len(options) != 2 or not all(BELIEVES.search(option) for option in options):
        return None
    change = change_of(text, who)
    if change is None:
        return None
    words = [stems(option) for option in options]
    own = [words[0] - words[1], words[1] - words[0]]
    for old in (0, 1):  # "the branch has fruits" or "... has no fruits": the state before is told without denying it
        if not own[old] and own[1 - old] and own[1 - old] <= DENYING:
            return options[old if not change.aware else 1 - old] if _share(words[old], change.before) >= MOST else None
    # the words of which option are more those of the change, and less those of the state before it
    after, before = ([_share(mine, told) for mine in own] for told in (change.after, change.before))
    newer = (after[1] - after[0]) + (before[0] - before[1]) or after[1] - after[0]
    if not all(own) or not newer:
        return None
    new = int(newer > 0)
    return options[new if change.aware else 1 - new]


def change_of(text: str, who: Collection[str]) -> Change | None:
    """What somebody is said to perceive or to miss, if the story ends with that; None if it does not."""
    told = [match.group().strip() for match in SENTENCE.finditer(text) if match.group().strip()]
    words = WORD.findall(told[-1].lower()) if len(told) > 2 else []
    perceives = next((i for i, word in enumerate(words) if _perceives(word)), 0)
    names = {name.lower() for name in who} | (PERSONAL & set(words[:1]))
    if not names & set(words[:perceives]):
        return None
    before = frozenset().union(*map(stems, told[:-2]))
    return Change(before, stems(told[-2]) | stems(told[-1]), UNAWARE.search(told[-1]) is None)


def stems(text: str) -> frozenset[str]:
    """The words of a text that say something, cut to their stems."""
    words = WORD.findall(text.lower())
    return frozenset(word[:STEM] for word in words if word not in SMALL and not BELIEVES.fullmatch(word))


def _perceives(word: str) -> bool:
    """Whether a word is a form of a verb of perceiving or of learning."""
    senses = (vocabulary().senses.get(lemma, frozenset()) for lemma in vocabulary().forms.get(word, {}))
    return word in SENSING or any({"see", "know"} & one for one in senses)


def _share(words: Collection[str], told: Collection[str]) -> float:
    return sum(word in told for word in words) / max(len(words), 1)

"""What somebody believes and does after a change that they perceive or miss: by the old state of things, or the new.

Told are a state, what changes it, and whether somebody sees that, or what they then do; asked is which of two states
they believe in, or what they will do. A state is known by the words that only its option has, stemmed. Who knows of a
change copes with it ("replaces the wilted flowers"); who does not goes on as planned.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from otherminds.stories.everyday.words import is_in, vocabulary, words_of

BELIEVES = re.compile(r"\b(?:believe|think|assume|suppose|expect)s?\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+")
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
UNAWARE = re.compile(
    r"\b(?:not|never|unaware|oblivious|without|nothing|fail(?:s|ed)? to|miss(?:es|ed)?)\b|n't\b", re.IGNORECASE
)
PERSONAL = frozenset(["he", "she", "they"])
DENYING = frozenset(["no", "not", "n", "none", "longer", "never"])
SENSING = words_of("sensing")  # besides the verbs of seeing and of knowing
ASKING = re.compile(r"\b(?:do|does|did)\b.*\b(?:believe|think)\b", re.IGNORECASE)
DOING = re.compile(r"\bwill\b.*\bdo\b", re.IGNORECASE)
FIRST, SOON = 3, 7  # words of a sentence in which its subject, and a verb of perceiving, are looked for (chosen)
COPING_WEIGHT = 2  # of a word for coping, in words of the change (chosen on development stories)
STEM = 5  # letters by which forms of a word are told alike (chosen)
MOST = 0.6  # share of the words of a state that must have been told before, if its denial is the other option (chosen)
SMALL = words_of("common") - {"on", "in"}


class Grounds(NamedTuple):
    """An option that is right by some passages of a story."""

    option: str
    passages: tuple[str, ...]


class Change(NamedTuple):
    """The words told before a change, those of the change, and whether somebody is aware of it (None: unclear).

    `told` are the sentences that say what changes, and who perceives it or acts on it.
    """

    before: frozenset[str]
    after: frozenset[str]
    aware: bool | None
    told: tuple[str, ...]


def option_after_change(text: str, stem: str, who: Collection[str], options: Sequence[str]) -> Grounds | None:
    """The option that says what somebody of these names believes, or will do; None if it is not told apart."""
    change = change_of(text, who) if len(options) == 2 else None
    if change is None or change.aware is None:
        return None
    if ASKING.search(stem) and all(BELIEVES.search(option) for option in options):
        new = _newer(options, change)
    elif DOING.search(stem) and all(" will " in option for option in options):
        copes = [_copes(option, change) for option in options]
        new = None if copes[0] == copes[1] else int(copes[1] > copes[0])
    else:
        return None
    return None if new is None else Grounds(options[new if change.aware else 1 - new], change.told)


def _newer(options: Sequence[str], change: Change) -> int | None:
    """The number of the option that tells the state after a change; None if that is unclear."""
    words = [stems(option) for option in options]
    own = [words[0] - words[1], words[1] - words[0]]
    for old in (0, 1):  # "the branch has fruits" or "... has no fruits": the state before is told without denying it
        if not own[old] and own[1 - old] and own[1 - old] <= DENYING:
            return 1 - old if _share(words[old], change.before) >= MOST else None
    # the words of which option are more those of the change, and less those of the state before it
    after, before = ([_share(mine, told) for mine in own] for told in (change.after, change.before))
    newer = (after[1] - after[0]) + (before[0] - before[1]) or after[1] - after[0]
    return int(newer > 0) if all(own) and newer else None


def _copes(deed: str, change: Change) -> float:
    """How much a deed copes with a change: by words for coping, and by those of the change rather than of the plan."""
    words = WORD.findall(deed.lower())
    new = len(stems(deed) & (change.after - change.before))
    return COPING_WEIGHT * sum(is_in(word, "coping") for word in words) + new - _share(stems(deed), change.before)


def change_of(text: str, who: Collection[str]) -> Change | None:
    """What somebody is said to perceive, to miss or to do after a change, if the story ends with that; else None."""
    told = [match.group().strip() for match in SENTENCE.finditer(text) if match.group().strip()]
    words = WORD.findall(told[-1].lower()) if len(told) > 2 else []
    names = {name.lower() for name in who} | (PERSONAL & set(words[:1]))
    if not names & set(words[:FIRST]):
        return None
    before = frozenset().union(*map(stems, told[:-2]))
    if any(_perceives(word) for word in words[:SOON]):
        aware = UNAWARE.search(told[-1]) is None
        return Change(before, stems(told[-2]) | stems(told[-1]), aware, tuple(told[-2:]))
    change = Change(before, stems(told[-2]), None, tuple(told[-2:]))
    return change._replace(aware=_copes(told[-1], change) > 0)


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

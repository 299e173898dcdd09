"""What somebody knows of a conversation, by who took part in it when it came to that.

A conversation has a line for each turn, "Ann: ...". People take part from their first turn to their last, but not from
a farewell until they are back. Who was away while something was talked of knows nothing of it, and believes nothing
about what others think of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from otherminds.stories.everyday.changes import Grounds, stems
from otherminds.stories.everyday.words import cue

TURN = re.compile(r"^([A-Z][\w' -]{0,30}): (.+)$", re.MULTILINE)
LEAST_TURNS = 6  # of a conversation (chosen)
AWAY = 3  # turns without somebody who has said goodbye, after which they are away (chosen)
MOST_TELLING = 4  # turns whose words fit the question best, by which it is decided (chosen on development stories)
MAJORITY = 0.65  # least share of their weight that must have been heard by all, or missed by somebody (chosen)


def known_option(text: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that says what somebody knows of a conversation; None if it is none, or is not told apart.

    One of two options must say that they know nothing of it. Turns are weighed by the words that they share with the
    question (which count twice) and with the other option, rare ones more: w = Σ log(n / n_word).
    """
    turns = TURN.findall(text)
    ignorant = [bool(cue("ignorant").search(option.lower())) for option in options]
    if len(turns) < LEAST_TURNS or len(options) != 2 or sum(ignorant) != 1:
        return None
    nothing, something = (options[ignorant.index(which)] for which in (True, False))
    present = presence([who for who, _ in turns], [said for _, said in turns])
    minds = {name for match in cue("minds").finditer(stem) for name in match.groups() if name in present}
    if not minds:
        return None
    names = frozenset().union(*map(stems, present))
    said = [stems(words) - names for _, words in turns]
    often = Counter(stem for words in said for stem in words)
    asked, told = stems(stem) - names, stems(something) - names
    weights = [
        sum(log(len(turns) / often[one]) * (1 + (one in asked)) for one in words & (asked | told)) for words in said
    ]
    telling = sorted(range(len(turns)), key=lambda turn: -weights[turn])[:MOST_TELLING]
    total = sum(weights[turn] for turn in telling)
    missed = sum(weights[turn] for turn in telling if any(turn not in present[name] for name in minds))
    if not total or 1.0 - MAJORITY < missed / total < MAJORITY:
        return None
    passage = ": ".join(turns[telling[0]])
    return Grounds(nothing if missed > total / 2 else something, (passage,))


def presence(speakers: Sequence[str], said: Sequence[str]) -> dict[str, set[int]]:
    """The turns of a conversation in which each person takes part, as numbers from 0."""
    found: dict[str, set[int]] = {}
    for name in dict.fromkeys(speakers):
        own = [turn for turn, speaker in enumerate(speakers) if speaker == name]
        found[name] = set(range(own[0], len(speakers)))
        for turn, back in zip(own, [*own[1:], len(speakers) + AWAY + 1], strict=True):
            if back - turn > AWAY and cue("farewell").search(said[turn].lower()):
                found[name] -= set(range(turn + 1, back))
    return found

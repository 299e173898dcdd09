"""What somebody wants, in the words of the story, and the option that says the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.stories.english.lexicon import singular
from otherminds.stories.everyday.clauses import inside
from otherminds.stories.everyday.scene import Read, Scene
from otherminds.stories.everyday.words import vocabulary, words_of

COMMON = words_of("common")
WISH = re.compile(r"\b(?:want|wanted|need|hope|wish|would like|'d like|trying to|so that|in order to|going to)\b")
AGAINST = re.compile(r"\b(?:avoid|not|never|without|escape|n't)\b")


def wished_option(scene: Scene, who: str, options: Sequence[str], action: str = "") -> str | None:
    """The only option that shares words with what somebody says, or is said, to want; None if there is none, or two.

    If an `action` is given, its purposes count as well: "ran to catch the bus".
    """
    wanted, unwanted = set[str](), set[str]()
    for n, one in enumerate(scene.read):
        if who not in one.people:
            continue
        for text, against in _texts(one, action, scene.read[n + 1 : n + 2]):
            (unwanted if against else wanted).update(_stems(text))
    fits = []
    for option in options:
        against = AGAINST.search(option.lower()) is not None
        if _stems(option) & ((unwanted if against else wanted) - (wanted if against else unwanted)):
            fits.append(option)
    return fits[0] if len(fits) == 1 else None


def _texts(one: Read, action: str, after: Sequence[Read]) -> list[tuple[str, bool]]:
    """Texts that say what is wanted, each with whether it is unwanted."""
    clause, found = one.clause, list[tuple[str, bool]]()
    for quote in clause.quotes:
        for part in re.split(r"[.!?;]", quote):
            if WISH.search(part.lower()):
                found.append((part, AGAINST.search(part.lower()) is not None))
    if clause.means("want") and not clause.verb.perfect:
        told = " ".join([*(noun.text for noun in clause.objects), *(part.words for part in inside(clause))])
        found.append((told, clause.verb.negated))
    if action and clause.lemma == action:
        purposes = [part.words for part in clause.content if part.link == "to"]
        purposes += [part.text for part in after if part.clause.link in ("so that", "because")]
        found += [(part, AGAINST.search(part) is not None) for part in purposes]
    return found


def _stems(text: str) -> set[str]:
    """The words that say something, each by its base form where it is known."""
    forms = vocabulary().forms
    words = set(re.findall(r"[a-z]+", text.lower())) - COMMON
    return {min(forms[word], key=len) if word in forms else singular(word) for word in words if len(word) > 2}

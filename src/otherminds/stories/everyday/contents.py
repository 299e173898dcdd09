"""What somebody expects in a container with a label: what it says, unless they have looked inside.

Told are the label, and who opens the container and finds something else (Perner, Leekam and Wimmer 1987). Whoever comes
later sees only the label, and does not know that anybody has looked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from otherminds.stories.english.lexicon import singular
from otherminds.stories.everyday.changes import Grounds
from otherminds.stories.everyday.words import cue

NAMED = r"(?P<{0}>[\w-]+(?: [\w-]+){{0,2}}?)"
BOX, THING = NAMED.format("box"), NAMED.format("thing")
LABEL = re.compile(
    rf"\b(?:label|tag|sign|picture)s? on (?:the|its) {BOX} (?:is|says|reads|shows|was|said|read)"
    rf" (?:that of )?(?:an? |the |some )?[\"']?{NAMED.format('label')}[\"']?(?=[,.;]| and )",
    re.IGNORECASE,
)
LOOKS = re.compile(
    rf"\b(?P<who>[A-Z][\w-]+) (?:open(?:s|ed)|look(?:s|ed) (?:in|into|inside)) the {BOX},?(?: and)?(?: \w+)?"
    rf" (?:finds|found|sees|saw|discovers|discovered) (?:an? |some |only )*{THING}(?=[,.;]| inside| in )"
)
SHOULD = re.compile(r"\bshould be\b|\bsupposed to be\b|\baccording to the label\b", re.IGNORECASE)


class Labelled(NamedTuple):
    """A container, what its label says, what is in it, who has looked inside, where, and the passages that say so."""

    box: str
    label: str
    thing: str
    who: str
    at: int
    passages: tuple[str, str]


def expected_option(text: str, stem: str, options: Sequence[str]) -> Grounds | None:
    """The option that names what is in a labelled container, or what somebody expects there; None if that is open."""
    found = labelled(text)
    if found is None or found.box.split()[-1] not in stem.lower():
        return None
    minds = [name for match in cue("minds").finditer(stem) for name in match.groups() if name]
    minds = [name for name in dict.fromkeys(minds) if name in text]
    if SHOULD.search(stem):
        wanted = found.label
    elif not minds and re.match(r"\s*what (?:is|was|are|were)\b", stem, re.IGNORECASE):
        wanted = found.thing
    elif minds:
        # who is last in the chain has looked, and all before them were there when they did
        knows = minds[-1] == found.who and all(0 <= text.find(name) < found.at for name in minds[:-1])
        wanted = found.thing if knows else found.label
    else:
        return None
    fits = [option for option in options if _same(option, wanted)]
    return Grounds(fits[0], found.passages) if len(fits) == 1 else None


def labelled(text: str) -> Labelled | None:
    """The labelled container of a story, if somebody is told to look inside; None if there is none."""
    label, looks = LABEL.search(text), LOOKS.search(text)
    if label is None or looks is None or looks["box"].lower() != label["box"].lower():
        return None
    said = (label.group(), looks.group())
    return Labelled(
        label["box"].lower(), label["label"].lower(), looks["thing"].lower(), looks["who"], looks.start(), said
    )


def _same(option: str, wanted: str) -> bool:
    one, other = (tuple(singular(word) for word in re.findall(r"[a-z-]+", text.lower())) for text in (option, wanted))
    return one == other

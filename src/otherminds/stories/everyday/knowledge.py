"""Whether somebody knows of what happened, by the words in which a story tells of it: "that the scene has been cut"."""

from __future__ import annotations

import re
from collections.abc import Collection

from otherminds.stories.english.lexicon import singular
from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.scene import Scene
from otherminds.stories.everyday.words import is_in, vocabulary, words_of

LEAST = 0.6  # share of the words of what is asked that a clause must have to tell of the same (chosen)
LIES = frozenset(["lie", "untrue", "false", "trick", "joke", "fib", "pretend", "invent"])
UNSAID = frozenset(["was not said", "no message", "did not happen"])
WRITTEN = frozenset(["write", "email", "note", "send"])
COMMON = words_of("common")


def content(clause: Clause) -> frozenset[str]:
    """The words of a clause that say what happens: its verb and the heads and qualifiers of its noun phrases."""
    found = {word for noun in clause.nouns for word in _words(noun)}
    if clause.lemma not in ("be", "have", "do"):
        found.add(clause.lemma.split("_")[0])
    return frozenset(found)


def _words(noun: Noun) -> set[str]:
    return {singular(word) for word in noun.words if not is_in(word, "times")} - COMMON


def knows_of(scene: Scene, who: str, wanted: Collection[str], *, true: bool) -> tuple[bool | None, set[int]]:
    """Whether somebody knows of what these words say, and the numbers of the clauses that tell of it.

    None if it is open. If `true`, what is known has to be so: after a lie nothing is known.
    """
    evidence, knows, missed, unsure, told_so = set[int](), False, False, False, False
    for one in scene.read:
        clause = one.clause
        told = any(_same(wanted, content(inner)) for inner in inside(clause)) or _quoted(wanted, clause)
        if not told and not _same(wanted, content(clause)):
            continue
        evidence.add(one.number)
        denied = any(part.verb.negated or part.verb.modal for part in (clause, *inside(clause)))
        if denied or (told and not (clause.means("see", "know", "say") or clause.quotes)):
            unsure = True
        elif (who in one.people and who in one.away) or clause.lemma in WRITTEN:
            unsure = True  # "she won while she was asleep"; a letter may be lost
        elif who in one.people or who in one.hearers:
            knows = True
            told_so |= who not in one.people
        elif who in scene.untold or (who in one.away and not told):
            missed = True
        else:
            unsure = True
    for one in scene.read if knows else ():  # "but she heard nothing"
        other = one.clause.means("see", "know", "think") and who in one.people and one.number not in evidence
        trusts = one.clause.lemma in ("believe", "trust")
        unsure |= other and (one.clause.verb.negated or (told_so and not trusts))  # they may know better
        unsure |= (
            told_so
            and one.outcome == "unread"
            and bool(one.reason)
            and who in one.concerned
            and one.number not in evidence
        )
    for one in scene.read if missed else ():  # what they may learn later
        learns = one.clause.means("see", "know") and who in one.people
        learns |= one.clause.means("say") and (who in one.concerned or not one.hearers)
        if learns and one.number not in evidence and one.number > min(evidence) and one.reason not in UNSAID:
            unsure |= not one.clause.verb.negated
    said = {word for one in scene.read for word in re.findall(r"[a-z]+", one.text)}
    if unsure or knows == missed or (true and said & LIES):
        return None, evidence
    return knows, evidence


def _same(wanted: Collection[str], words: Collection[str]) -> bool:
    return len({*wanted} & {*words}) >= max(LEAST * len(wanted), min(2, len(wanted)))


def _quoted(wanted: Collection[str], clause: Clause) -> bool:
    """Whether what is said in a clause has the words; verbs count in every form."""
    forms = vocabulary().forms
    words = {word for quote in clause.quotes for word in re.findall(r"[a-z]+", quote.lower())}
    lemmas = {lemma for word in words for lemma in forms.get(word, ())}
    return bool(words) and _same(wanted, {singular(word) for word in words} | lemmas)

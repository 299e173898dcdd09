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
    found = {word for noun in clause.nouns for word in words_in(noun)}
    if clause.lemma not in ("be", "have", "do"):
        found.add(clause.lemma.split("_")[0])
    return frozenset(found)


def words_in(noun: Noun) -> set[str]:
    """The words of a noun phrase that say something, in the singular."""
    return {singular(word) for word in noun.words if not is_in(word, "times")} - COMMON


def knows_of(scene: Scene, who: str, wanted: Collection[str], *, true: bool) -> tuple[bool | None, set[int]]:
    """Whether somebody knows of what these words say, and the numbers of the clauses that tell of it.

    None if it is open. If `true`, what is known has to be so: after a lie nothing is known.
    """
    readers = _readers(scene)
    evidence, knows, missed, unsure, told_so = set[int](), False, False, False, False
    for one in scene.read:
        clause = one.clause
        told = any(says_same(wanted, content(inner)) for inner in inside(clause)) or any(
            quoted(wanted, quote) for quote in clause.quotes
        )
        if who in one.people and _is_unaware(clause, wanted):
            evidence.add(one.number)
            missed = True
            continue
        if not told and not says_same(wanted, content(clause)):
            continue
        evidence.add(one.number)
        group = clause.subject is not None and is_in(clause.subject.head, "groups")  # "his team scored"
        acts = who in one.people and not group
        if told and clause.subject is not None and is_in(clause.subject.head, "signs") and who in readers:
            knows = True  # "the letter said that"; they read it
            continue
        denied = any(part.verb.negated or part.verb.modal for part in (clause, *inside(clause)))
        if denied or (told and not (clause.means("see", "know", "say") or clause.quotes)):
            unsure = True
        elif told and who in one.people and clause.means("say") and not true:
            unsure = True  # what somebody says they need not believe
        elif acts and vocabulary().patterns["unawares"].search(one.text):
            unsure = True  # "took the wrong one by mistake"
        elif (acts and who in one.away) or (clause.lemma in WRITTEN and who not in one.away):
            unsure = True  # "she won while she was asleep"; a letter may be lost
        elif acts and "wrong" in wanted:
            missed = True  # nobody knows of their own mistake unless they notice it
        elif acts or who in one.hearers:
            knows = True
            told_so |= who not in one.people
        elif who in scene.untold or (who in one.away and (not told or one.hearers)):
            missed = True
        else:
            unsure = True
    for one in scene.read if knows else ():  # "but she heard nothing"
        other = one.clause.means("see", "know", "think") and who in one.people and one.number not in evidence
        trusts = one.clause.lemma in ("believe", "trust")
        been = (
            one.clause.lemma == "be"
            and one.clause.verb.perfect
            and who in one.people
            and content(one.clause) & {*wanted}
        )
        unsure |= told_so and bool(been)  # "she had just been in the shop"
        unsure |= other and (one.clause.verb.negated or (told_so and not trusts))  # they may know better
        unsure |= (
            told_so
            and one.outcome == "unread"
            and bool(one.reason)
            and who in one.concerned
            and one.number not in evidence
        )
    written = {one.number for one in scene.read if one.clause.lemma in WRITTEN}
    for one in scene.read if missed else ():  # what they may learn later
        learns = one.clause.means("see", "know") and who in one.people
        learns |= one.clause.means("come") and one.people == (who,) and any(n in written for n in evidence)
        learns |= one.clause.means("say") and (who in one.concerned or not one.hearers)
        if learns and one.number not in evidence and one.number > min(evidence) and one.reason not in UNSAID:
            unsure |= not one.clause.verb.negated
    said = {word for one in scene.read for word in re.findall(r"[a-z]+", one.text)}
    if unsure or knows == missed or (true and said & LIES):
        return None, evidence
    return knows, evidence


def _is_unaware(clause: Clause, wanted: Collection[str]) -> bool:
    """Whether a clause says that somebody suspects nothing, or nothing of what is asked."""
    found = vocabulary().patterns["unaware"].search(clause.words)
    if found is None or clause.verb.negated:
        return False
    about = frozenset[str]().union(*(content(part) for part in inside(clause)))
    alone = clause.words[found.end() :].strip(" ,.") in ("", "and", "but")  # not "has no idea what to wear"
    return bool(about & {*wanted}) or (alone and not about)


def _readers(scene: Scene) -> set[str]:
    """Those who read something, or to whom it is read."""
    read = [one for one in scene.read if one.clause.lemma == "read" and not one.clause.verb.negated]
    heard = {who for one in read for prep, noun in one.clause.places if prep == "to" for who in scene.may_be(noun)}
    return heard.union(*(one.people for one in read))


def only_others(scene: Scene, who: str, wanted: Collection[str]) -> bool:
    """Whether the story says that only somebody else knows of it: "only the nurse knows that"."""
    told = frozenset[str]()  # in the sentence before
    for one in scene.read:
        clause = one.clause
        only = "only" in clause.adverbs or clause.words.startswith("only ")
        if only and clause.means("know") and one.people and who not in one.people and not clause.verb.negated:
            before = [content(part.clause) for part in scene.read if part.sentence == one.sentence - 1]
            told = told.union(*before, *(content(part) for part in inside(clause)))
        learns = who in one.people and clause.means("see", "know") and not clause.verb.negated
        told = frozenset() if learns or who in one.hearers else told
    return bool({*wanted} & told)


def says_same(wanted: Collection[str], words: Collection[str]) -> bool:
    """Whether a clause with these words tells of what is wanted: it has most of its words."""
    return len({*wanted} & {*words}) >= max(LEAST * len(wanted), min(2, len(wanted)))


def quoted(wanted: Collection[str], quote: str) -> bool:
    """Whether what is said has the words; verbs count in every form."""
    forms = vocabulary().forms
    words = set(re.findall(r"[a-z]+", quote.lower()))
    lemmas = {lemma for word in words for lemma in forms.get(word, ())}
    return bool(words) and says_same(wanted, {singular(word) for word in words} | lemmas)

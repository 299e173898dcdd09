"""Whether somebody knows of what happened, by the words in which a story tells of it: "that the scene has been cut"."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from otherminds.stories.english.lexicon import singular
from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.scene import Read, Scene
from otherminds.stories.everyday.words import cue, is_in, vocabulary, words_of

LEAST = 0.6  # share of the words of what is asked that a clause must have to tell of the same (chosen)
LIES = frozenset(["lie", "untrue", "false", "trick", "joke", "fib", "pretend", "invent"])
NOTHING = frozenset(["nothing", "none", "nobody", "no", "no-one", "noone", "neither"])
NOBODY = frozenset(["nobody", "no-one", "noone"])
ANYBODY = frozenset(["anybody", "anyone", "everybody", "everyone"])
WRITTEN = frozenset(["write", "email", "note", "send"])
COMMON = words_of("common")

Access = Literal["knows", "perceives nothing", "misses"]


def content(clause: Clause) -> frozenset[str]:
    """The words of a clause that say what happens: its verb and the heads and qualifiers of its noun phrases."""
    found = {word for noun in clause.nouns for word in words_in(noun)}
    if clause.lemma not in ("be", "have", "do"):
        found.add(clause.lemma.split("_")[0])
    return frozenset(found)


def words_in(noun: Noun) -> set[str]:
    """The words of a noun phrase that say something, in the singular."""
    return {singular(word) for word in noun.words if not is_in(word, "times")} - COMMON


def knows_of(scene: Scene, who: str, wanted: Collection[str], *, asked: bool = False) -> tuple[bool | None, set[int]]:
    """Whether somebody knows of what these words say, and the numbers of the clauses that decide it; None if open.

    Whoever does it, perceives it or is told of it knows it, whenever that comes. Whoever does none of this does not
    know, if the story says that they miss it: they perceive nothing of it, are away while it happens, or are not told.
    If it is `asked` which, what or whether, to have done it is not enough.
    """
    said = {word for one in scene.read for word in re.findall(r"[a-z]+", one.text)}
    if said & LIES:
        return None, set()  # what is known is so, and what is told may not be
    telling = {one.number for one in scene.read if _tells_of(one, wanted)}
    happens = min(telling, default=None)
    access = {
        one.number: _access(one, who, wanted, sure=happens is not None, asked=asked)
        for one in scene.read
        if happens is None or one.number >= happens
    }
    knows = {n for n, how in access.items() if how == "knows"}
    if knows:
        contrary = any(how == "perceives nothing" and n > min(knows) for n, how in access.items())
        return None if contrary else True, knows | telling
    lacks = {n for n, how in access.items() if how is not None}
    later = [one for one in scene.read if lacks and one.number > min(lacks) and one.number not in lacks]
    learns = any(_may_learn(scene, one, who) for one in later)
    return (False if lacks and not learns else None), lacks | telling


def _may_learn(scene: Scene, one: Read, who: str) -> bool:
    """Whether somebody perceives or may be told something in a clause, or it is not understood."""
    clauses = [one.clause, *inside(one.clause)]
    own = [part for part in clauses if part.subject is not None and who in scene.may_be(part.subject)]
    perceives = any(part.means("see", "know") and not part.verb.negated for part in own)
    said = (one.clause.means("say") or bool(one.clause.quotes)) and not one.clause.verb.negated
    told = said and (not one.hearers or who in one.hearers) and who not in one.people
    return perceives or told or one.outcome == "unread"


def _tells_of(one: Read, wanted: Collection[str]) -> bool:
    """Whether a clause, or what is said or thought in it, tells of what is asked."""
    inner = [one.clause, *inside(one.clause)]
    return any(says_same(wanted, content(part)) for part in inner) or any(
        quoted(wanted, quote) for quote in one.clause.quotes
    )


def _access(one: Read, who: str, wanted: Collection[str], *, sure: bool, asked: bool) -> Access | None:
    """What a clause says of somebody's access to what is asked; None if nothing.

    If the story is not `sure` to tell of it in a clause of its own, a clause about it has to have most of its words.
    """
    clause, subject = one.clause, one.clause.subject
    if clause.link in ("if", "unless") or clause.verb.form == "inf":
        return None
    about = _tells_of(one, wanted) or (sure and _refers_back(one))
    if who not in one.people:
        return _of_others(one, who, wanted, about=about)
    if _is_unaware(clause, wanted):
        return "perceives nothing"
    if subject is not None and is_in(subject.head, "groups"):
        return None  # "his team scored"
    return _own_access(one, who, wanted, about=about, asked=asked)


def _own_access(one: Read, who: str, wanted: Collection[str], *, about: bool, asked: bool) -> Access | None:
    """The access that somebody has by what they do, perceive, or are told."""
    clause = one.clause
    nothing = clause.verb.negated or _nothing(clause)
    if clause.means("say") and clause.verb.passive:
        return "misses" if nothing else "knows" if about else None
    if clause.means("see", "know") or clause.lemma in ("read", "smell", "look", "listen"):
        if nothing:
            named = any(noun.words and not _empty(noun) for noun in clause.nouns if noun is not clause.subject)
            return "perceives nothing" if about or not named else None
        return "knows" if about and not clause.verb.modal and "only" not in clause.words.split() else None
    done = not (clause.verb.negated or clause.verb.modal) and says_same(wanted, content(clause))
    if not done or clause.means("think", "want"):
        return None
    if "wrong" in wanted:
        return "misses"  # nobody knows of their own mistake unless they notice it
    unawares = cue("unawares").search(one.text)  # "took the blue one by mistake"
    return None if unawares or asked or who in one.away else "knows"


def _of_others(one: Read, who: str, wanted: Collection[str], *, about: bool) -> Access | None:
    """The access that somebody has by what others do, know or say."""
    clause = one.clause
    if clause.means("say") or clause.quotes:
        if who in one.hearers or any(noun.pronoun in ANYBODY for noun in clause.objects):  # "nobody told anyone"
            if clause.verb.negated or _nothing(clause) or (clause.subject is not None and _empty(clause.subject)):
                return "misses"
            return None if clause.verb.modal or clause.lemma in WRITTEN else "knows" if about else None
        return "misses" if one.people and any({noun.pronoun, noun.head} & NOBODY for noun in clause.nouns) else None
    if one.people and clause.means("know") and not clause.verb.negated and "only" in clause.words.split():
        return "misses"  # "only the nurse knows"
    return "misses" if who in one.away and _tells_of(one, wanted) else None


def _nothing(clause: Clause) -> bool:
    """Whether a clause has "nothing" or "no word" as an object or in a phrase."""
    return any(_empty(noun) for noun in clause.nouns if noun is not clause.subject)


def _empty(noun: Noun) -> bool:
    return bool({noun.pronoun, noun.head, noun.det} & NOTHING)


def _refers_back(one: Read) -> bool:
    """Whether a clause may be about what was told before, by "it" or "everything"."""
    return any(
        noun.pronoun in ("it", "this", "that") or is_in(noun.pronoun, "whole")
        for part in (one.clause, *inside(one.clause))
        for noun in part.nouns
        if noun.pronoun
    )


def _is_unaware(clause: Clause, wanted: Collection[str]) -> bool:
    """Whether a clause says that somebody suspects nothing, or nothing of what is asked."""
    found = cue("unaware").search(clause.words)
    if found is None or clause.verb.negated:
        return False
    about = frozenset[str]().union(*(content(part) for part in inside(clause)))
    alone = clause.words[found.end() :].strip(" ,.") in ("", "and", "but")  # not "has no idea what to wear"
    return bool(about & {*wanted}) or (alone and not about)


def says_same(wanted: Collection[str], words: Collection[str]) -> bool:
    """Whether a clause with these words tells of what is wanted: it has most of its words."""
    return len({*wanted} & {*words}) >= max(LEAST * len(wanted), min(2, len(wanted)))


def quoted(wanted: Collection[str], quote: str) -> bool:
    """Whether what is said has the words; verbs count in every form."""
    return says_same(wanted, _lemmas(quote))


def _lemmas(text: str) -> frozenset[str]:
    """The words of a text in the singular, and the verbs of which they may be forms."""
    forms = vocabulary().forms
    words = re.findall(r"[a-z]+", text.lower())
    return frozenset(map(singular, words)) | {lemma for word in words for lemma in forms.get(word, ())}

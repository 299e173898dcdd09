"""Clauses that may decide an answer and were not understood. While there is one, no answer is given.

A clause may matter if it names the thing asked about or a place where that has been, or if somebody asked about acts in it or may
perceive or be told something. Such a clause must have been read as an event or an observation, without a word left over, or be of a
kind that is known to change neither where things are nor what anybody believes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.stories import model as stories
from otherminds.stories.everyday.clauses import Clause
from otherminds.stories.everyday.events import MIND, inside
from otherminds.stories.everyday.questions import Judge, Query
from otherminds.stories.everyday.reading import Sentence
from otherminds.stories.everyday.scene import Read, Scene, singulars
from otherminds.stories.everyday.words import is_in
from otherminds.worlds.household.nested_belief import MoveEvent

QUOTED = frozenset(
    ["it", "they", "them", "gone", "moved", "there", "here", "took", "put"]
)  # a quote with one of these may be about the thing
PERSONAL = frozenset(["he", "she", "they", "him", "her", "them"])
SAFE = ("idle", "busy", "want", "ask", "sleep", "wake", "stay", "go", "come", "leave")
CERTAIN = ("is only asked", "was not said", "did not happen", "is told in another clause")


def doubt(
    accounts: Sequence[stories.ClauseAccount], sentences: Sequence[Sentence], query: Query, scene: Scene, judge: Judge
) -> str | None:
    """The first clause, or quote, that may decide the answer and was not understood; None if there is none."""
    return (
        _unread(accounts, query, scene)
        or _unsafe(scene, judge, query)
        or _unheard(sentences, query, scene, judge)
    )


def _unread(accounts: Sequence[stories.ClauseAccount], query: Query, scene: Scene) -> str | None:
    """The first unread clause that may bear on the question, by the things and people that it names."""
    heads = {word for place in scene.places.values() for word in place.words[-1:]}
    for account in accounts:
        if account.outcome != "unread":
            continue
        if account.reason == MIND.reason:
            return account.text
        words = set(re.findall(r"[a-z]+", account.text.lower()))
        quote = account.text.partition('"')[2].lower()
        said = set(re.findall(r"[a-z]+", quote))
        if said & (query.topics | QUOTED | heads):
            return account.text
        plural = {word + "s" for word in query.minds}
        minds = query.minds | PERSONAL if account.reason == "unknown verb" else query.topics
        if words & (query.topics | minds | plural | {"it", "them"}):
            return account.text
        if quote and account.reason == "has no verb":
            return account.text
    return None


def _unsafe(scene: Scene, judge: Judge, query: Query) -> str | None:
    """A clause whose reading leaves something over that may matter."""
    minds = set(judge.chain)
    moves = [one for one in scene.log if one.event.obj == judge.thing and isinstance(one.event, MoveEvent)]
    last = max((one.clause for one in moves if one.verb != "believe"), default=0)
    heads = {word for one in scene.log if one.event.obj == judge.thing and one.place for word in one.place.words[-1:]}
    logged = {one.clause for one in scene.log if one.event.obj == judge.thing}
    for one in scene.read:
        clause = one.clause
        if one.outcome == "unread" or one.reason in CERTAIN or one.number in logged:
            continue
        nouns = [noun for part in (clause, *inside(clause)) for noun in part.nouns]
        named = any(singulars(noun.words) & query.topics for noun in nouns)
        acts = bool(minds & set(one.people))
        unsure = minds and not one.people and _somebody(clause)
        safe = clause.means(*SAFE) or clause.lemma == "be"
        if (named or acts or unsure) and clause.unknown:
            return one.text
        if one.outcome == "no effect" and not safe and (named or ((acts or unsure) and (clause.content or clause.quotes))):
            return one.text
        if unsure and not clause.means("idle", "busy", "want", "ask"):
            return one.text
        if acts and one.number > last and is_in(clause.lemma, "hints"):
            return one.text
        if acts and not clause.verb.negated and any({*noun.words[-1:]} & heads for noun in nouns if noun is not clause.subject):
            if one.outcome != "observation" and not clause.verb.modal:
                return one.text  # at the place, they may see that the thing is there, or gone
    return None


def _somebody(clause: Clause) -> bool:
    """Whether the subject is a person whom nobody is known to be."""
    return clause.subject is not None and clause.subject.pronoun in ("he", "she")


def _unheard(sentences: Sequence[Sentence], query: Query, scene: Scene, judge: Judge) -> str | None:
    """A quote that may tell where the thing is but was not read so, or words of which it is open who hears them."""
    if judge.chain and scene.vague:
        return scene.vague[0]
    said = {one.sentence for one in scene.log if one.verb == "say"}
    for n, sentence in enumerate(sentences):
        for quote in sentence.quotes if n not in said else ():
            words = set(re.findall(r"[a-z]+", quote.lower()))
            if (
                words & (query.topics | QUOTED | {"s"})
                and any(is_in(word, "at") for word in words)
                and "?" not in quote
            ):
                return f'"{quote}"'
    return None

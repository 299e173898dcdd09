"""Clauses that may decide an answer and were not understood. While there is one, no answer is given.

A clause may matter if it names the thing asked about or a place where that has been, or if somebody asked about acts in it or may
perceive or be told something. Such a clause must have been read as an event or an observation, without a word left over, or be of a
kind that is known to change neither where things are nor what anybody believes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.stories import model as stories
from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.events import ELSE, MIND
from otherminds.stories.everyday.questions import Judge, Query
from otherminds.stories.everyday.reading import Sentence
from otherminds.stories.everyday.scene import Read, Scene, singulars
from otherminds.stories.everyday.words import is_in, vocabulary, words_of
from otherminds.worlds.household.nested_belief import MoveEvent

WHOLE = words_of("whole")
QUOTED = frozenset(
    ["it", "they", "them", "gone", "moved", "there", "here", "took", "put"]
)  # a quote with one of these may be about the thing
PERSONAL = frozenset(["he", "she", "they", "him", "her", "them"])
MOVES = ("put", "move", "take", "hand", "swap", "lose")
SAFE = ("idle", "busy", "want", "ask", "think", "sleep", "wake", "stay", "go", "come", "leave")
CERTAIN = (ELSE.reason, "is only asked", "was not said", "did not happen", "is not said to have happened", "is told in another clause")


def doubt(
    accounts: Sequence[stories.ClauseAccount], sentences: Sequence[Sentence], query: Query, scene: Scene, judge: Judge
) -> str | None:
    """The first clause, or quote, that may decide the answer and was not understood; None if there is none."""
    if judge.thing in scene.twins:
        return next((one.text for one in scene.read if judge.thing in one.text), judge.thing)
    for who in judge.chain:  # "another nurse", "the first nurse"
        mine = scene.people[who]
        same = [one.key for one in scene.people.values() if one is not mine and one.roles & mine.roles]
        if same and not mine.names and not mine.traits:
            return f"which of them is {who}"
    return (
        _unread(accounts, query, scene, judge)
        or _unsafe(scene, judge, query)
        or _unheard(sentences, query, scene, judge)
    )


def _unread(accounts: Sequence[stories.ClauseAccount], query: Query, scene: Scene, judge: Judge) -> str | None:
    """The first unread clause that may bear on the question, by the things and people that it names."""
    heads = {word for place in scene.places.values() for word in place.words[-1:]}
    minds = set(judge.chain)
    last = max((one.clause for one in scene.log if one.event.obj == judge.thing and one.verb != "believe"), default=0)
    by_others = {  # what others do with a thing before they move it on changes nobody's belief who has no part in it
        one.text
        for one in scene.read
        if minds and not minds & one.concerned and not (one.clause.unknown or one.clause.quotes) and _by_another(one)
        if one.number < last or not one.named
    }
    settled = _settled(scene, judge)
    evidence = {one.text for one in scene.read if one.number in judge.evidence or one.number < settled}
    for account in accounts:
        if account.outcome != "unread" or any(account.text.startswith(text) for text in evidence):
            continue
        if account.reason == MIND.reason:
            return account.text
        if account.text in by_others:
            continue
        words = set(re.findall(r"[a-z]+", account.text.lower()))
        quote = account.text.partition('"')[2].lower()
        said = set(re.findall(r"[a-z]+", quote))
        if said & (query.topics | QUOTED | heads):
            return account.text
        plural = {word + "s" for word in query.minds}
        named = query.minds | PERSONAL if account.reason == "unknown verb" else query.topics
        if words & (query.topics | named | plural | {"it", "them"}):
            return account.text
        if quote and account.reason == "has no verb":
            return account.text
    return None


def _settled(scene: Scene, judge: Judge) -> int:
    """The number of the clause in which somebody asked about last put the thing somewhere, or saw it; 0 if there is none.

    What they may have learned before no longer matters.
    """
    if len(judge.chain) != 1:
        return 0
    about = [one for one in scene.log if one.event.obj == judge.thing and isinstance(one.event, MoveEvent)]
    return max((one.clause for one in about if one.actor == judge.chain[0]), default=0)


def _by_another(one: Read) -> bool:
    """Whether a known person or thing does what a clause tells, and no message."""
    subject = one.clause.subject
    return bool(one.people) or bool(subject is not None and subject.words and not is_in(subject.head, "signs"))


def _unsafe(scene: Scene, judge: Judge, query: Query) -> str | None:
    """A clause of which something is left over that may matter: by it somebody may learn, or a thing may be moved."""
    minds = set(judge.chain)
    about = [one for one in scene.log if one.event.obj == judge.thing]
    moves = [one for one in about if isinstance(one.event, MoveEvent) and one.verb != "believe"]
    last = max((one.clause for one in moves), default=0)
    heads = {word for one in about if one.place for word in one.place.words[-1:]}
    logged = {one.clause for one in about}
    for one in scene.log if judge.thing is not None else ():  # the box that the thing is in is moved
        words = scene.things[one.event.obj].words if one.event.obj in scene.things else ()
        if {*words[-1:]} & heads and one.clause > last and isinstance(one.event, MoveEvent) and one.verb not in ("believe", "initial"):
            return next((said.text for said in scene.read if said.number == one.clause), words[-1])
    settled = _settled(scene, judge)
    for one in scene.read:
        if one.number < settled:
            continue
        clause, concerned, acts = one.clause, minds & one.concerned, bool(minds & set(one.people))
        if one.number in judge.evidence:
            continue
        if (acts or one.named) and not clause.verb.negated and _requests(clause, by_asked=acts):
            return one.text  # whoever asks for something may take it to be done
        if concerned and clause.verb.form == "inf" and clause.means("say"):
            return one.text  # "ran after her to tell her"
        if minds & one.mental and one.outcome == "no effect" and one.reason not in CERTAIN[1:]:
            return one.text  # "saw that she did not believe him"
        if acts and one.reason == ELSE.reason and _at(clause, heads):
            return one.text
        if one.outcome == "unread" or one.reason in CERTAIN:
            continue
        if (one.named or concerned) and clause.unknown:
            return one.text
        if one.number in logged:
            setting = [noun for _, noun in clause.setting if noun.head != "absence"]
            phrases = [part for noun in setting for part in (noun, noun.owner) if part is not None]
            at_will = minds & {who for noun in phrases for who in scene.may_be(noun)}
            if at_will and not clause.means("see", "know", "say"):
                return one.text  # "on her orders, he moved it"
            continue
        if one.named and (not minds or concerned) and one.outcome == "no effect" and not clause.means(*SAFE) and clause.lemma != "be":
            return one.text
        notices = clause.means("see", "know") and not clause.verb.negated
        notices = notices and {*judge.chain[:-1]} & {*one.people} and judge.chain[-1] in one.concerned
        if len(minds) > 1 and notices and not any(inner.means(*MOVES) for inner in inside(clause)):
            return one.text  # one of them notices the other
        if len(concerned) > 1 and one.number > last and one.outcome == "no effect" and not clause.verb.negated:
            return one.text  # what passes between two people may show one what the other knows
        if concerned and _may_inform(one, acts, late=one.number > last):
            return one.text
        at = _at(clause, heads)
        if acts and at and one.outcome != "observation" and not clause.verb.negated and not clause.verb.modal:
            return one.text  # at the place, they may see that the thing is there, or gone
    return None


def _at(clause: Clause, heads: set[str]) -> bool:
    """Whether a clause, or one in it, names a place where the thing has been."""
    nouns = (noun for one in (clause, *inside(clause)) for noun in one.nouns)
    return any({*noun.words[-1:]} & heads for noun in nouns if noun is not clause.subject)


def _requests(clause: Clause, *, by_asked: bool) -> bool:
    """Whether somebody wants another to do something: "asked him to move it", "as she had asked"."""
    if any(inner.link == "to" and inner.means(*MOVES) for inner in clause.content):
        return clause.means("ask", "say") or (clause.means("want") and bool(clause.objects))
    return by_asked and clause.means("ask") and clause.verb.form != "ing" and not clause.quotes and not clause.content and not any(
        prep in ("about", "for", "after") for prep, _ in clause.places
    )


def is_person(noun: Noun) -> bool:
    """Whether the head of a noun phrase is a role or kinship."""
    return vocabulary().person(noun.head) is not None


def _may_inform(one: Read, acts: bool, *, late: bool) -> bool:
    """Whether somebody asked about, who is in a clause, may learn something by it that was not read."""
    clause = one.clause
    meant = clause.means("want") and any(inner.words.endswith(" but") for inner in inside(clause))
    tells = [inner for inner in inside(clause) if inner.means("say") and not inner.verb.negated and not meant]
    if one.outcome != "observation" and tells and not acts and not clause.verb.negated:
        return True
    ordinary = clause.means(*SAFE) or clause.lemma == "be" or (acts and clause.means("say") and not clause.verb.passive)
    if not acts:
        beside = [noun for prep, noun in clause.places if prep in ("for", "with", "beside", "past", "near", "behind")]
        others = [noun for noun in clause.objects if noun.name or noun.pronoun or is_person(noun)]
        return one.outcome == "no effect" and not ordinary and (bool(others) or not beside)
    if clause.verb.perfect and clause.means("come") and not clause.link and late:
        return True  # it is open whether they had come back before
    if clause.means("say") and clause.verb.passive and not clause.verb.negated:
        return True
    if one.outcome == "no effect" and not ordinary:
        told = clause.quotes or any(inner.link != "to" for inner in clause.content)
        return bool(told or any(noun.pronoun and noun.pronoun in WHOLE for noun in clause.objects))
    return late and is_in(clause.lemma, "hints") and not clause.verb.negated


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

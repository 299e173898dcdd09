"""Whether somebody helps or hinders somebody: by what the story says they want, and by what comes of what they do."""

from __future__ import annotations

from dataclasses import replace

from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.scene import Read, Scene
from otherminds.stories.everyday.words import cue, is_in

ENOUGH = 2  # clauses that each show help, or harm, decide if nothing says what was wanted (chosen)


def helps(scene: Scene, helper: str, other: str) -> bool | None:
    """Whether one person helps another; False if they hinder, None if the story shows neither, or both."""
    work = {word for one in scene.read if other in one.people for word in _work(one.clause)}
    nouns = [noun for one in scene.read for noun in one.clause.nouns if noun.owner is not None and noun.words]
    work |= {noun.head for noun in nouns if noun.owner is not None and scene.may_be(noun.owner) == {other}}
    deeds = [one for one in scene.read if helper in one.people and other not in one.people and _is_deed(one.clause)]
    looks_for = any(
        other in one.people and (one.clause.means("look") or one.clause.lemma in ("find", "lose")) for one in scene.read
    )
    begun = min((one.number for one in deeds), default=len(scene.read))
    actors = {who for one in scene.read if len(one.people) == 1 and _is_deed(one.clause) for who in one.people}
    alone = actors - {other} == {helper}
    intents, signs = list[int](), list[int]()
    for one in scene.read:
        beside = [part for part in scene.read if part.sentence == one.sentence and part is not one]
        after = [part for part in beside if part.number > one.number]
        intents.append(_wanted(scene, one, helper, other, theirs=any(part in deeds for part in beside)))
        if helper in one.people and one not in deeds and cue("refuses").search(one.clause.words):
            signs.append(-ENOUGH)
        if helper in one.people and _sees_trouble(one.clause):  # "saw him struggling and took the other end"
            signs.append(
                ENOUGH * any(part in deeds and not part.clause.means("hinders", "go", "leave") for part in after)
            )
        if helper in one.people and other in one.hearers and looks_for and _says_where(scene, one.clause, helper):
            signs.append(ENOUGH)
        if one in deeds:
            signs += [_deed(scene, one.clause, helper, other, work), *(_until(part) for part in after[:1])]
        elif one.number > begun:
            signs.append(_outcome(scene, one, other, work, by_helper=helper in one.hearers or alone))
    found = intents if any(intents) else signs  # what somebody means to do says more than what comes of it
    good, bad = sum(max(0, sign) for sign in found), sum(max(0, -sign) for sign in found)
    text = " ".join(part.words for one in scene.read for part in (one.clause, *inside(one.clause)))
    if (good > 0) == (bad > 0) or (good and cue("two_faced").search(text)):
        return None
    return good > 0 if good + bad >= ENOUGH else None


def has_no_part(scene: Scene, who: str, other: str) -> bool:
    """Whether somebody does nothing with another, and does not notice them or leaves the help to a third person."""
    own = [one for one in scene.read if one.people == (who,)]
    misses = [one for one in scene.read if _misses(scene, one, who, other)]
    named = [one for one in own if other in one.concerned and one not in misses]
    third = [one for one in scene.people if one not in (who, other) and helps(scene, one, other)]
    acts = any(one.clause.means("go", "come", "move", "put", "take", "hand") and _is_deed(one.clause) for one in own)
    return bool(own and (misses or (third and not acts))) and not named and helps(scene, who, other) is None


def _misses(scene: Scene, one: Read, who: str, other: str) -> bool:
    """Whether a clause says that somebody does not notice, or know of, another: "neither of them saw the other"."""
    clause, subject = one.clause, one.clause.subject
    if subject is not None and subject.text.lower().startswith("neither of"):
        return clause.means("see", "know")
    unnoticed = clause.verb.negated and clause.means("see", "know", "look")
    unaware = cue("unaware").search(clause.words) is not None and not clause.verb.negated
    after = [
        part.people for part in scene.read if part.number == one.number + 1 and part.clause.link in ("who", "that")
    ]
    after += [tuple(scene.may_be(part.subject)) for part in inside(clause) if part.subject is not None]
    unnoticed |= unaware and any(other in people for people in after)  # "had no idea she was moving in"
    unnoticed |= any(noun.det == "no" and noun.head in ("notice", "attention") for noun in clause.objects)
    about = [*clause.objects, *(noun for part in inside(clause) for noun in part.nouns)]
    about_them = other in one.concerned or unaware or all(noun.pronoun for noun in about)
    return who in one.people and unnoticed and about_them


def _is_deed(clause: Clause) -> bool:
    """Whether a clause tells what somebody does to the world, not what they think, feel, see or say."""
    thinks = clause.means("want", "think", "see") and not clause.means("put", "move", "take", "helps", "hinders")
    happens = clause.verb.form != "inf" and not (clause.verb.negated or clause.verb.modal or clause.verb.passive)
    return happens and clause.lemma != "be" and not thinks and not clause.quotes


def _work(clause: Clause) -> set[str]:
    """The things that somebody tries or needs to do something with, asks for, or is doing something with."""
    parts = [clause, *inside(clause)]
    doing = [part for part in parts if part.verb.progressive or part.verb.form == "inf" or part.verb.modal]
    nouns = [noun for part in doing for noun in part.objects]
    if clause.means("want", "ask", "look", "lose"):
        nouns += [*clause.objects, *(noun for prep, noun in clause.places if prep == "for")]
    return {noun.head for noun in nouns if noun.words}


def _sees_trouble(clause: Clause) -> bool:
    """Whether somebody sees that another struggles."""
    seen = clause.means("see") and not clause.verb.negated
    return seen and any(is_in(part.lemma, "trouble") or part.verb.negated for part in inside(clause))


def _says_where(scene: Scene, clause: Clause, helper: str) -> bool:
    """Whether somebody says where something is, and has not put it elsewhere themselves."""
    own = [one.clause for one in scene.read if helper in one.people]
    deceives = {"lie", "fib"} & {clause.lemma} or any(one.means("put", "move") and one.verb.perfect for one in own)
    placed = any(part.lemma == "be" and part.places and not part.verb.negated for part in inside(clause))
    malice = cue("malice").search(clause.words)
    return placed and clause.means("say") and not (clause.verb.negated or deceives or malice)


def _wanted(scene: Scene, one: Read, helper: str, other: str, *, theirs: bool) -> int:
    """What a clause says of what the helper wants: `ENOUGH` for good, minus that for harm, 0 for neither.

    `theirs` is whether its sentence tells of a deed of the helper, whose purpose it may name.
    """
    clause = one.clause
    follows_so = clause.verb.modal == "could" and any(
        part.sentence == one.sentence and part.number == one.number - 1 and part.clause.words.endswith(" so")
        for part in scene.read
    )
    if (
        (clause.link == "so that" or follows_so) and theirs and (one.people == (other,) or not one.people)
    ):  # "so that she could read it"
        nothing = clause.subject is not None and clause.subject.pronoun in ("nothing", "nobody")
        nothing |= clause.subject is not None and clause.subject.text.lower() == "nothing"
        if other not in one.people and {"away", "off", "out"} & {*clause.words.split()}:
            return -ENOUGH  # "slapped the pony so that it would walk away"
        if any(is_in(word, "losing") for noun in clause.objects for word in noun.words):
            return ENOUGH if clause.verb.negated else -ENOUGH  # "so that he would be stuck"
        if clause.verb.modal in ("could", "can", "would", "might"):
            return -ENOUGH if (clause.verb.negated or nothing) != is_in(clause.lemma, "losing") else ENOUGH
        return -ENOUGH if is_in(clause.lemma, "losing") else 0
    if helper not in one.people:
        return 0
    if is_in(clause.lemma, "enmity") or any(is_in(word, "enmity") for noun in clause.objects for word in noun.words):
        return 0 if clause.verb.negated else -ENOUGH
    if not clause.means("want"):
        return 0
    words = {part.lemma for part in inside(clause)} | {word for part in inside(clause) for word in part.adverbs}
    of_other = any(other in scene.may_be(part.subject) for part in inside(clause) if part.subject is not None)
    if any(is_in(word, "losing") for word in words):
        return ENOUGH if clause.verb.negated else -ENOUGH
    if "help" in words or (of_other and any(is_in(word, "winning") for word in words)):
        return -ENOUGH if clause.verb.negated else ENOUGH
    return -ENOUGH if clause.verb.negated and of_other else 0


def _deed(scene: Scene, clause: Clause, helper: str, other: str, work: set[str]) -> int:
    """What a deed of the helper shows: positive for help, negative for harm, 0 for neither."""
    words = " ".join(part.words for part in (clause, *inside(clause)))
    if cue("malice").search(words):
        return -ENOUGH
    if cue("lends_a_hand").search(words):
        return ENOUGH
    harm = clause.means("hinders")
    needed = any(noun.head in work or {*noun.words} & work for noun in clause.objects)
    needed |= any(noun.owner is not None and other in scene.may_be(noun.owner) for noun in clause.objects)
    away = clause.means("put", "move", "take") and {"away", "further", "off"} & {*clause.words.split()}
    if needed and (away or harm):
        return -ENOUGH  # what the other needs goes out of reach, or is spoilt
    denied = any(noun.det == "any" for noun in clause.objects)  # "nothing he does makes any difference to her"
    for prep, noun in () if harm or denied else clause.places:
        hand = prep in ("in", "into") and noun.head == "hand" and noun.owner is not None
        reaches = ((prep in ("for", "to") and clause.objects) or prep == "with" or hand) and not is_in(
            clause.lemma, "pastimes"
        )
        if reaches and other in _whose(scene, noun, helper) and not clause.means("come", "go", "leave", "say", "ask"):
            return ENOUGH  # "peeled one for her", "handed it to him", "lifted it with her"
    given = any(other in scene.may_be(noun) for noun in clause.objects[:-1]) and clause.means("hand", "helps")
    if given and not harm:
        return ENOUGH
    return int(clause.means("helps")) - int(harm)


def _whose(scene: Scene, noun: Noun, helper: str) -> set[str]:
    """Those other than the helper for whom a noun phrase may stand, or whose hand it is: "into her hand"."""
    hand = noun.owner if noun.owner is not None and noun.head in ("hand", "lap", "arm") else noun
    found = scene.may_be(hand)
    return found if found != {helper} or not hand.pronoun else scene.may_be(replace(hand)) - {helper}


def _until(one: Read) -> int:
    """1 if a clause says what a deed goes on for: "held it open until she was through"."""
    clause = one.clause
    reached = clause.link == "until" and not clause.verb.negated and not is_in(clause.lemma, "losing")
    return int(reached and not cue("complaint").search(clause.words))


def _outcome(scene: Scene, one: Read, other: str, work: set[str], *, by_helper: bool) -> int:
    """How the other, or what they are making, fares after it, and what they say of it, if the helper did it."""
    clause = one.clause
    subject = clause.subject
    said = " ".join(clause.quotes).lower()
    if one.people == (other,) and by_helper:
        told = " ".join([clause.words, *(part.words for part in inside(clause)), said])
        if cue("complaint").search(told):
            return -ENOUGH
        if cue("thanks").search(told) and not cue("no_thanks").search(said):
            return ENOUGH
    if other in one.people and by_helper and clause.verb.modal == "can" and "now" in clause.adverbs:
        return -ENOUGH if clause.verb.negated else ENOUGH  # "now she can cross"
    if clause.verb.negated or clause.verb.modal or clause.means("want") or not by_helper:
        return 0
    of_other = subject is not None and (
        subject.head in work or (subject.owner is not None and other in scene.may_be(subject.owner))
    )
    if other in one.people or of_other:
        return int(is_in(clause.lemma, "winning")) - int(is_in(clause.lemma, "losing"))
    return 0

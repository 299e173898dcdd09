"""Whether somebody helps or hinders somebody: by what the story says they want, and by what comes of what they do."""

from __future__ import annotations

from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.scene import Read, Scene
from otherminds.stories.everyday.words import is_in, vocabulary

ENOUGH = 2  # clauses that each show help, or harm, decide if nothing says what was wanted (chosen)


def helps(scene: Scene, helper: str, other: str) -> bool | None:
    """Whether one person helps another; False if they hinder, None if the story shows neither, or both."""
    good, bad = 0, 0
    work = {word for one in scene.read if other in one.people for word in _work(one.clause)}
    for one in scene.read:
        subject = one.clause.subject
        if subject is not None and {*subject.words[-1:]} & work and not one.clause.verb.negated:
            bad += is_in(one.clause.lemma, "losing")  # what they are making falls
        for sign in (_wanted(scene, one, helper, other), _done(scene, one, helper, other)):
            good += max(0, sign)
            bad += max(0, -sign)
    text = " ".join(one.text for one in scene.read)
    if (good > 0) == (bad > 0) or (good and vocabulary().patterns["two_faced"].search(text)):
        return None
    return good > 0 if good + bad >= ENOUGH else None


def _work(clause: Clause) -> set[str]:
    """The things that somebody tries to do something with, or is doing something with."""
    doing = [part for part in (clause, *inside(clause)) if part.verb.progressive or part.verb.form == "inf"]
    return {noun.words[-1] for part in doing for noun in part.objects if noun.words}


def _wanted(scene: Scene, one: Read, helper: str, other: str) -> int:
    """What a clause says of what the helper wants: `ENOUGH` for good, minus that for harm, 0 for neither."""
    clause = one.clause
    if clause.link == "so that" and (one.people == (other,) or not one.people):  # "so that she could read it"
        if clause.verb.modal in ("could", "can", "would", "might"):
            return -ENOUGH if clause.verb.negated else ENOUGH
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


def _done(scene: Scene, one: Read, helper: str, other: str) -> int:
    """What a clause shows of help (1) or harm (-1): a deed of the helper, or how the other fares; 0 for neither."""
    clause = one.clause
    if clause.verb.negated or clause.verb.modal or clause.means("want"):
        return 0
    if helper in one.people:
        return int(clause.means("helps")) - int(clause.means("hinders"))
    if other in one.people or _of(scene, clause, other):
        return int(is_in(clause.lemma, "winning")) - int(is_in(clause.lemma, "losing"))
    return 0


def _of(scene: Scene, clause: Clause, other: str) -> bool:
    owner = clause.subject.owner if clause.subject is not None else None
    return owner is not None and other in scene.may_be(owner)

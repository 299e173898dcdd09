"""Who does what a clause tells: subjects that are named, meant by a pronoun, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otherminds.stories.english.events.going import Agents
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.scene import Scene

NOBODY = ("nobody", "noone", "neither")
NO_PERSON = ("it", "that", "this", "nothing")


def share(clause: Clause, clauses: Sequence[Clause], i: int) -> None:
    """Gives a clause a subject or an object that its neighbour has: "opened and closed the box"."""
    after = clauses[i + 1] if i + 1 < len(clauses) else None
    if i == 0 and clause.verb and not clause.verb.finite and not clause.subjects and after and after.subjects:
        clause.subjects = list(after.subjects)
    bare = clause.verb and not (clause.objects or clause.places or clause.content or clause.quotes)
    shared = after is not None and after.link == "and" and not after.subjects
    if bare and shared and after and clause.means("open", "close", "grab", "move", "put"):
        clause.objects = [noun for noun in after.objects if noun.kind != "agent"]
    if clause.antecedent is not None:
        _inherit(clause, clause.antecedent)


def _inherit(clause: Clause, antecedent: Noun) -> None:
    """Gives "who", "which" and "where" the meaning of the noun before them."""
    if clause.link == "which" and clause.subjects and not clause.objects:
        clause.objects = [antecedent]
    placing = clause.link == "where" and clause.subjects and clause.means("put", "grab", "find")
    if placing and not clause.places:
        clause.places = [("in" if antecedent.kind == "room" else "on", antecedent)]
    if clause.link in ("who", "which", "that") and not clause.subjects:
        clause.subjects = [antecedent]


def name_rooms(clause: Clause, rooms: frozenset[str]) -> None:
    """Makes rooms of nouns that only the story knows as rooms: "the lab"."""
    for noun in (*clause.subjects, *clause.objects, *(noun for _, noun in clause.places)):
        if noun.kind == "object" and noun.text in rooms:
            noun.kind = "room"
    for inner in clause.content:
        name_rooms(inner, rooms)


def agents_of(scene: Scene, clause: Clause, done: Sequence[Agents]) -> Agents | None:
    """Who does it; nobody if the subject is a thing, None if it is unclear."""
    if not clause.subjects:
        if _needs_nobody(clause):
            return ()
        return done[-1] if done else (tuple(scene.subjects) or None)
    found: list[str] = []
    reply = clause.means("say") and not clause.link
    for noun in clause.subjects:
        if noun.kind not in ("agent", "pronoun", "one"):
            return ()
        if noun.words[0] in NOBODY:
            clause.verb = replace(clause.verb, negated=True) if clause.verb else None
            return tuple(scene.agents)
        found += _person(scene, noun, done, reply=reply)
    for name in found:
        scene.of(name)
    return tuple(dict.fromkeys(found)) or (() if clause.subjects[0].words[0] in NO_PERSON else None)


def _needs_nobody(clause: Clause) -> bool:
    """Whether a clause without a subject is about nobody: "there is ...", '"...", came the answer'."""
    verb = clause.verb
    if verb is None or (verb.lemma == "be" and "there" in clause.adverbs):
        return True
    return bool(clause.quotes) and verb.lemma in ("come", "be")


def _person(scene: Scene, noun: Noun, done: Sequence[Agents], *, reply: bool) -> list[str]:
    if noun.kind == "pronoun" and done and len(done[-1]) == 1 and noun.words[0] in ("he", "she") and not reply:
        kept, scene.subjects = scene.subjects, list(done[-1])
        found = scene.person(noun)
        scene.subjects = kept
        return found
    return scene.person(noun, reply=reply)

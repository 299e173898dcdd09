"""What clauses tell of what people see, notice and know."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.events.going import HERE, IN, MOODS, Agents
from otherminds.stories.english.events.handling import location, move, put, told_before
from otherminds.stories.english.events.looking import find, see
from otherminds.stories.english.events.speech import ignorant, shrug
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.spots import Spot, relation

LACKING = frozenset(("absent", "missing", "gone"))
NOTHINGS = wordset("nothings")


def perceive(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Seeing, noticing or knowing that something is somewhere, or that somebody moves it."""
    assert clause.verb is not None
    if clause.means("think") and clause.verb.lemma not in ("know", "remember"):
        return not clause.content and not clause.objects
    if clause.content:
        understood = [_seen(scene, clause, inner, agents) for inner in clause.content]
        return all(understood)
    if (
        clause.objects
        and clause.objects[0].words[0] in ("this", "that", "it", "everything")
        and not clause.places
        and scene.last_moved
    ):
        return _noticed(scene, clause, agents)
    if clause.objects and all(noun.kind == "agent" for noun in clause.objects) and not clause.verb.negated:
        return True
    if ignorant(clause) and clause.verb.lemma in ("know", "remember"):
        return shrug(scene, clause, agents)
    here = bool(HERE & set(clause.adverbs)) and bool(scene.of(agents[0]).spot)
    placed = here or any(
        prep in IN and (noun.kind in ("place", "room") or noun.words == ("it",)) for prep, noun in clause.places
    )
    if placed or (clause.verb.negated and clause.objects):
        return find(scene, clause, agents)
    if _comes_upon(scene, clause, agents[0]):
        return find(scene, clause, agents)
    for noun in clause.objects:
        if noun.kind == "object":
            scene.thing(noun, agents[0])
    return bool(clause.objects) and not clause.places and not clause.means("think")


def _comes_upon(scene: Scene, clause: Clause, agent: str) -> bool:
    """Whether somebody who has just opened a place sees a thing, which must then be there."""
    standing = scene.of(agent)
    things = [noun for noun in clause.objects if noun.kind == "object"]
    if len(things) != 1 or clause.places or standing.spot is None or standing.closed:
        return False
    return relation(standing.spot.kind) == "in" and scene.thing(things[0], agent) == standing.seeks


def _noticed(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Whether somebody saw what was moved last."""
    assert clause.verb is not None
    obj = scene.last_moved
    spot = scene.where.get(obj) if obj else None
    for agent in agents:
        if obj and spot:
            see(scene, clause, agent, obj, spot, spot.room, sees=not clause.verb.negated)
    return spot is not None


def _seen(scene: Scene, clause: Clause, inner: Clause, agents: Agents) -> bool:
    """What is seen to be so, or to be done, which then is told if it was not before."""
    assert clause.verb is not None
    if inner.verb is None or inner.verb.unreal:
        return False
    if inner.verb.lemma == "be":
        kept, scene.subjects = scene.subjects, list(agents)
        found = looked(scene, inner, inner.subjects or inner.objects)
        scene.subjects = kept
        if found is not None:
            return found
    if inner.verb.negated:
        return False
    doing = inner.means("put", "move", "grab") and bool(inner.subjects) and not inner.verb.passive
    nouns = inner.objects if doing else inner.subjects
    things = [noun for noun in nouns if noun.kind in ("object", "one") or noun.words[0] in ("it", "them")]
    if not things:
        return inner.means("walk", "leave", "enter", "return", "look", "open", "close") and bool(inner.subjects)
    obj = scene.thing(things[0], agents[0])
    if doing and not _done(scene, inner, agents, obj):
        return False
    spot, room, said = location(scene, inner, agents[0], IN)
    if not said and obj and inner.means("put", "move", "grab"):
        spot = scene.where.get(obj)
    for agent in agents:
        if obj and (spot or room):
            see(scene, clause, agent, obj, spot, room, sees=not clause.verb.negated)
    return bool(spot or room)


def _done(scene: Scene, inner: Clause, agents: Agents, obj: str | None) -> bool:
    """Whether somebody is known to have done what is seen; if it is new it is told now."""
    movers = scene.person(inner.subjects[0], agents)
    if not movers:
        return False
    if told_before(scene, movers[0], obj):
        return True
    if inner.means("grab"):
        return False
    return (put if inner.means("put") else move)(scene, inner, movers[:1])


def looked(scene: Scene, clause: Clause, nouns: Sequence[Noun]) -> bool | None:
    """What somebody who looks into a place sees there: "it was empty", "the milk was there"; None if nobody looks."""
    agent = scene.subjects[0] if len(scene.subjects) == 1 else None
    spot = scene.of(agent).spot if agent else None
    words = (
        {word for noun in (*clause.subjects, *clause.objects) for word in noun.words}
        | set(clause.unknown)
        | set(clause.adverbs)
    )
    nothing = bool(words & {"empty", "bare", "nothing", "nowhere", "none"}) or any(noun.det == "no" for noun in nouns)
    if not agent or not clause.verb:
        return None
    here = (
        spot is not None
        and not any(noun.kind in ("place", "room") for _, noun in clause.places)
        and bool(
            HERE & words
            or nothing
            or any(noun.words == ("it",) for prep, noun in clause.places if prep in IN)
            or words & (LACKING | {"inside"})
        )
    )
    seeks = scene.of(agent).seeks
    if not here and seeks is None:
        return None
    named = [scene.spot(noun, agent) for prep, noun in clause.places if prep in IN and noun.kind == "place"]
    named += [scene.spot(noun, agent) for noun in clause.subjects if noun.kind == "place" and nothing]
    if not here and (not named or not _before(scene, agent, named[0])):
        return None
    spot = spot if here else named[0]
    sees = not (nothing or clause.verb.negated or words & LACKING)
    things = [noun for noun in nouns if noun.kind == "object" and not set(noun.words) & (MOODS | NOTHINGS)]
    obj = scene.thing(things[0], agent) if things else seeks
    if things and obj != seeks and named:
        return None
    if obj and spot:
        see(scene, clause, agent, obj, spot, spot.room, sees=sees)
    return True


def _before(scene: Scene, agent: str, spot: Spot) -> bool:
    """Whether somebody is at a place, or in its room looking for something."""
    standing = scene.of(agent)
    return spot is standing.spot or (
        standing.seeks is not None and spot.room is not None and spot.room == standing.room
    )

"""What clauses tell of what people look for, find and see."""

from __future__ import annotations

from otherminds.stories.english.events.going import IN, Agents, placed, tell
from otherminds.stories.english.events.handling import handled_place, location
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.spots import Spot
from otherminds.stories.model import Fact, Observation


def look(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Looking into one or several places, around, or for something."""
    sought = next((noun for prep, noun in clause.places if prep in ("for", "seeking", "after")), None)
    if clause.verb and clause.verb.lemma == "seek" and clause.objects:
        sought = clause.objects[0]
    for agent in agents:
        standing = scene.of(agent)
        obj = scene.thing(sought, agent) if sought else None
        standing.seeks = obj or standing.seeks
        holders = [
            noun for noun in clause.objects if noun is not sought and noun.kind in ("place", "object", "pronoun", "one")
        ]
        spots = [spot for noun in holders if (spot := handled_place(scene, noun, agent))]
        room = None
        if not spots:
            spot, room, _ = location(scene, clause, agent, IN | {"through", "around"})
            spots = [spot] if spot else []
        for spot in spots:
            standing.spot, standing.room = spot, spot.room or standing.room
            tell(scene, clause, agent, "look", obj, spot, spot.room or room)
        if not spots:
            tell(scene, clause, agent, "look", obj, None, room)
    return True


def find(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Finding something, or not finding it: an observation, and where the finder then is."""
    assert clause.verb is not None
    missing = clause.verb.negated or clause.link in ("without", "from") or _nothing(clause)
    for agent in agents:
        standing = scene.of(agent)
        spot, room, said = location(scene, clause, agent, IN - {"to", "into", "onto"})
        noun = clause.objects[0] if clause.objects else None
        if missing:
            _miss(scene, clause, agent, noun, spot)
            continue
        sought = noun is None and clause.content and clause.content[0].link == "what"
        if (noun is None and not sought) or (noun and noun.kind in ("room", "agent")):
            return False
        obj = scene.thing(noun, agent) if noun else standing.seeks
        place = (
            spot or (placed(scene, noun, obj) if noun else None) or (None if said or standing.closed else standing.spot)
        )
        if spot is not None:
            standing.spot, standing.closed = spot, False
        standing.room = room or standing.room
        if obj and (place or standing.room):
            see(scene, clause, agent, obj, place, standing.room, sees=True)
    return True


def _nothing(clause: Clause) -> bool:
    """Whether something was found to be empty, or nothing was found."""
    nouns = (*clause.objects, *(noun for _, noun in clause.places))
    words = {word for noun in nouns for word in noun.words} | set(clause.adverbs) | set(clause.unknown)
    return bool({"nothing", "empty", "bare", "none", "neither"} & words) or any(
        noun.det in ("no", "none") for noun in clause.objects
    )


def _miss(scene: Scene, clause: Clause, agent: str, noun: Noun | None, spot: Spot | None) -> None:
    standing = scene.of(agent)
    if noun is not None and noun.kind == "place" and _nothing(clause):
        spot, noun = scene.spot(noun, agent), None
    obj = standing.seeks
    if noun is not None and noun.kind == "object" and noun.words[0] not in ("nothing", "sign", "trace", "luck"):
        obj = scene.thing(noun, agent)
    place = spot or standing.spot
    if obj and place:
        see(scene, clause, agent, obj, place, place.room, sees=False)


def see(scene: Scene, clause: Clause, agent: str, obj: str, spot: Spot | None, room: str | None, *, sees: bool) -> None:
    """Adds that somebody saw, or did not see, that something was in a place or a room."""
    fact = Fact("at", obj, None) if spot else Fact("in_room", obj, room)
    scene.emit(Observation(0, agent, fact, sees, scene.p, scene.source, (clause.start, clause.end)), spot)

"""What clauses tell of where people go, and how it is noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.spots import Spot
from otherminds.stories.model import Event, Verb

TOWARDS = wordset("towards")
FROM = frozenset(("from", "off", "out of"))
IN = wordset("in")
NO_PLACES = wordset("no_places")
LANDMARKS = wordset("landmarks")
HERE = frozenset(
    (
        "there",
        "inside",
        "in there",
        "here",
        "within",
        "in here",
        "right there",
        "over there",
        "from inside",
        "from within",
        "from there",
    )
)
MOODS = wordset("moods")

Agents = Sequence[str]
Act = Callable[[Scene, Clause, Agents], bool]


def tell(
    scene: Scene,
    clause: Clause,
    agent: str,
    verb: Verb,
    obj: str | None = None,
    spot: Spot | None = None,
    room: str | None = None,
) -> None:
    """Adds an event, less sure if the clause says "probably"."""
    p = scene.p * (0.7 if clause.hedged or (clause.verb and clause.verb.hedged) else 1.0)
    room = room or (spot.room if spot else None)
    event = Event(0, agent, verb, obj, None, room, p, scene.source, (clause.start, clause.end))
    scene.emit(event, spot)
    if clause.link == "to":
        scene.tentative.append(event)


def walk(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Going somewhere: to a room, a place, a thing or somebody; or following somebody."""
    clause.objects = [noun for noun in clause.objects if noun.words[-1] not in MOODS]
    direct = clause.means("approach") or all(noun.kind == "room" for noun in clause.objects)
    if clause.objects and direct:
        goal = "into" if clause.means("enter") else "to"
        clause.places = [*((goal, noun) for noun in clause.objects), *clause.places]
        clause.objects = []
    clause.objects = [noun for noun in clause.objects if noun.words[-1] not in LANDMARKS]
    if clause.objects and not _ways(clause.objects):
        return False
    goals = [(prep, noun) for prep, noun in clause.places if prep in TOWARDS and not _purpose(prep, noun)]
    away = [noun for prep, noun in clause.places if prep == "out of" or (prep == "from" and clause.means("leave"))]
    if not goals and (away or "outside" in clause.adverbs or {"out", "away", "off"} & set(clause.adverbs)):
        return leave(scene, clause, agents)
    for agent in agents:
        for prep, noun in goals:
            _go(scene, clause, agent, prep, noun)
        if not goals:
            _go_nowhere(scene, clause, agent)
    return True


def _purpose(prep: str, noun: Noun) -> bool:
    """Whether a phrase says what for: "went for a walk"."""
    return noun.words[-1] in NO_PLACES or (prep == "for" and noun.kind == "object" and not noun.known)


def _ways(objects: Sequence[Noun]) -> bool:
    return all(
        noun.words[-1] in ("way", "home", "step", "himself", "herself", "path") or noun.kind == "pronoun"
        for noun in objects
    )


def _go_nowhere(scene: Scene, clause: Clause, agent: str) -> None:
    standing = scene.of(agent)
    if "there" in clause.adverbs and scene.there:
        spot = scene.there if isinstance(scene.there, Spot) else None
        room = spot.room if spot else scene.last_room
        standing.room, standing.spot, standing.closed = room or standing.room, spot, False
        tell(scene, clause, agent, "walk", spot=spot, room=room)
    elif clause.means("enter", "return", "arrive") or {"home", "back", "in", "inside"} & set(clause.adverbs):
        standing.room, standing.spot = standing.left or (scene.rooms[0] if len(scene.rooms) == 1 else None), None
        tell(scene, clause, agent, "enter", room=standing.room)
    else:
        standing.spot = None
        tell(scene, clause, agent, "walk")


def _go(scene: Scene, clause: Clause, agent: str, prep: str, noun: Noun) -> None:
    standing = scene.of(agent)
    if noun.kind == "room":
        room = scene.room(noun)
        standing.room, standing.spot, standing.left = room, None, standing.room
        tell(
            scene,
            clause,
            agent,
            "enter" if prep in ("into", "in", "inside") or clause.means("enter") else "walk",
            room=room,
        )
    elif noun.kind == "place":
        spot = scene.spot(noun, agent)
        standing.room, standing.spot, standing.closed = spot.room or standing.room, spot, False
        tell(scene, clause, agent, "walk", spot=spot)
    elif noun.kind == "agent" or noun.words[0] in ("him", "her", "them"):
        others = scene.person(noun, [agent])
        standing.room, standing.spot = scene.of(others[0]).room if others else standing.room, None
        tell(scene, clause, agent, "walk", room=standing.room)
    else:
        _go_to_thing(scene, clause, agent, noun)


def _go_to_thing(scene: Scene, clause: Clause, agent: str, noun: Noun) -> None:
    standing = scene.of(agent)
    if noun.words[-1] in LANDMARKS:
        standing.spot = None
        tell(scene, clause, agent, "walk")
        return
    if noun.words == ("it",) and standing.spots and not standing.things:
        spot: Spot | None = standing.spots[-1]
        obj = None
    else:
        obj = scene.thing(noun, agent)
        spot = placed(scene, noun, obj)
    standing.spot, standing.closed = spot, False
    standing.room = (spot.room if spot else None) or standing.room
    tell(scene, clause, agent, "walk", obj=obj, spot=spot if obj is None else None)


def placed(scene: Scene, noun: Noun, obj: str | None) -> Spot | None:
    """The place of "the spoon that Tom had placed on the table", or where it was put if only that is said."""
    for inner in noun.clauses:
        if inner.means("put", "move", "see", "find") or inner.places:
            for prep, where in inner.places:
                if prep in IN and where.kind == "place":
                    return scene.spot(where, None)
        if inner.means("put", "move") and obj is not None:
            return scene.where.get(obj)
    return None


def leave(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Leaving a room; perhaps for another."""
    rooms = [*clause.objects, *(noun for prep, noun in clause.places if prep in FROM)]
    for agent in agents:
        standing = scene.of(agent)
        room = next((scene.room(noun) for noun in rooms if noun.kind == "room"), None) or standing.room
        if room or not any(prep in ("to", "into", "towards") and noun.kind == "room" for prep, noun in clause.places):
            tell(scene, clause, agent, "leave", room=room)
        standing.room, standing.spot, standing.left = None, None, room
        for prep, noun in clause.places:
            if prep in ("for", "to", "into", "towards") and noun.kind in ("room", "place"):
                _go(scene, clause, agent, prep, noun)
    return True


def follow(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Following somebody goes where the other went last."""
    if any(noun.kind in ("room", "place") for _, noun in clause.places):
        clause.objects = []
        return walk(scene, clause, agents)
    for agent in agents:
        leader = next((name for noun in clause.objects for name in scene.person(noun, [agent])), None)
        leader = leader or next(
            (name for name in reversed(scene.agents) if name != agent and scene.of(name).room), None
        )
        room = scene.of(leader).room if leader else None
        if room is None:
            return False
        scene.of(agent).room, scene.of(agent).spot = room, None
        tell(scene, clause, agent, "enter", room=room)
    return True

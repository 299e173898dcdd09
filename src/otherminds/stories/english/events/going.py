"""What clauses tell of where people go, and how it is noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState
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
Act = Callable[[StoryState, Clause, Agents], bool]


def tell(
    story: StoryState,
    clause: Clause,
    agent: str,
    verb: Verb,
    obj: str | None = None,
    spot: Spot | None = None,
    room: str | None = None,
) -> None:
    """Adds an event, less sure if the clause says "probably"."""
    p = story.p * (0.7 if clause.hedged or (clause.verb and clause.verb.hedged) else 1.0)
    room = room or (spot.room if spot else None)
    event = Event(0, agent, verb, obj, None, room, p, story.source, (clause.start, clause.end))
    story.emit(event, spot)
    if clause.link == "to":
        story.tentative.append(event)


def walk(story: StoryState, clause: Clause, agents: Agents) -> bool:
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
        return leave(story, clause, agents)
    for agent in agents:
        for prep, noun in goals:
            _go(story, clause, agent, prep, noun)
        if not goals:
            _go_nowhere(story, clause, agent)
    return True


def _purpose(prep: str, noun: Noun) -> bool:
    """Whether a phrase says what for: "went for a walk"."""
    return noun.words[-1] in NO_PLACES or (prep == "for" and noun.kind == "object" and not noun.known)


def _ways(objects: Sequence[Noun]) -> bool:
    return all(
        noun.words[-1] in ("way", "home", "step", "himself", "herself", "path") or noun.kind == "pronoun"
        for noun in objects
    )


def _go_nowhere(story: StoryState, clause: Clause, agent: str) -> None:
    standing = story.of(agent)
    if "there" in clause.adverbs and story.there:
        spot = story.there if isinstance(story.there, Spot) else None
        room = spot.room if spot else story.last_room
        standing.room, standing.spot, standing.closed = room or standing.room, spot, False
        tell(story, clause, agent, "walk", spot=spot, room=room)
    elif clause.means("enter", "return", "arrive") or {"home", "back", "in", "inside"} & set(clause.adverbs):
        standing.room, standing.spot = standing.left or (story.rooms[0] if len(story.rooms) == 1 else None), None
        tell(story, clause, agent, "enter", room=standing.room)
    else:
        standing.spot = None
        tell(story, clause, agent, "walk")


def _go(story: StoryState, clause: Clause, agent: str, prep: str, noun: Noun) -> None:
    standing = story.of(agent)
    if noun.kind == "room":
        room = story.room(noun)
        standing.room, standing.spot, standing.left = room, None, standing.room
        tell(
            story,
            clause,
            agent,
            "enter" if prep in ("into", "in", "inside") or clause.means("enter") else "walk",
            room=room,
        )
    elif noun.kind == "place":
        spot = story.spot(noun, agent)
        standing.room, standing.spot, standing.closed = spot.room or standing.room, spot, False
        tell(story, clause, agent, "walk", spot=spot)
    elif noun.kind == "agent" or noun.words[0] in ("him", "her", "them"):
        others = story.person(noun, [agent])
        standing.room, standing.spot = story.of(others[0]).room if others else standing.room, None
        tell(story, clause, agent, "walk", room=standing.room)
    else:
        _go_to_thing(story, clause, agent, noun)


def _go_to_thing(story: StoryState, clause: Clause, agent: str, noun: Noun) -> None:
    standing = story.of(agent)
    if noun.words[-1] in LANDMARKS:
        standing.spot = None
        tell(story, clause, agent, "walk")
        return
    if noun.words == ("it",) and standing.spots and not standing.things:
        spot: Spot | None = standing.spots[-1]
        obj = None
    else:
        obj = story.thing(noun, agent)
        spot = placed(story, noun, obj)
    standing.spot, standing.closed = spot, False
    standing.room = (spot.room if spot else None) or standing.room
    tell(story, clause, agent, "walk", obj=obj, spot=spot if obj is None else None)


def placed(story: StoryState, noun: Noun, obj: str | None) -> Spot | None:
    """The place of "the spoon that Tom had placed on the table", or where it was put if only that is said."""
    for inner in noun.clauses:
        if inner.means("put", "move", "see", "find") or inner.places:
            for prep, where in inner.places:
                if prep in IN and where.kind == "place":
                    return story.spot(where, None)
        if inner.means("put", "move") and obj is not None:
            return story.where.get(obj)
    return None


def leave(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Leaving a room; perhaps for another."""
    rooms = [*clause.objects, *(noun for prep, noun in clause.places if prep in FROM)]
    for agent in agents:
        standing = story.of(agent)
        room = next((story.room(noun) for noun in rooms if noun.kind == "room"), None) or standing.room
        if room or not any(prep in ("to", "into", "towards") and noun.kind == "room" for prep, noun in clause.places):
            tell(story, clause, agent, "leave", room=room)
        standing.room, standing.spot, standing.left = None, None, room
        for prep, noun in clause.places:
            if prep in ("for", "to", "into", "towards") and noun.kind in ("room", "place"):
                _go(story, clause, agent, prep, noun)
    return True


def follow(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Following somebody goes where the other went last."""
    if any(noun.kind in ("room", "place") for _, noun in clause.places):
        clause.objects = []
        return walk(story, clause, agents)
    for agent in agents:
        leader = next((name for noun in clause.objects for name in story.person(noun, [agent])), None)
        leader = leader or next(
            (name for name in reversed(story.agents) if name != agent and story.of(name).room), None
        )
        room = story.of(leader).room if leader else None
        if room is None:
            return False
        story.of(agent).room, story.of(agent).spot = room, None
        tell(story, clause, agent, "enter", room=room)
    return True

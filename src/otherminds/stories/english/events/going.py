"""Clauses of going: to a room, a place or somebody, out of a room, or after somebody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Event, Verb

FROM = frozenset(("from", "off", "out of"))
IN = wordset("in")
HERE = wordset("here")
P_HEDGED = 0.7  # probability of an event that is told with "probably" or the like (chosen; not tuned)

Agents = Sequence[str]
Told = bool | str
"""Whether a clause was read; a text is the reason why a clause that was read changes nothing."""
Handler = Callable[[StoryState, Clause, Agents], Told]
"""Reads a clause of one sense about some agents into the story; False if it cannot be read."""


def add_event(
    story: StoryState,
    clause: Clause,
    agent: str,
    verb: Verb,
    obj: str | None = None,
    spot: Spot | None = None,
    room: str | None = None,
) -> None:
    """Adds an event, less certain if the clause is hedged; tentative if the clause only tells an aim ("to ...")."""
    p = story.p * (P_HEDGED if clause.hedged or (clause.verb and clause.verb.hedged) else 1.0)
    room = room or (spot.room if spot else None)
    event = Event(0, agent, verb, obj, None, room, p, story.source, (clause.start, clause.end))
    story.emit(event, spot)
    if clause.link == "to":
        story.tentative.append(event)


def walk(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads going somewhere: to a room, a place, a thing or somebody, or out."""
    clause.objects = [noun for noun in clause.objects if noun.words[-1] not in wordset("moods")]
    reaching = clause.link in ("which", "that") or clause.lemma.endswith(("toward", "towards"))
    if reaching and all(noun.kind in ("place", "object") for noun in clause.objects):  # "which she walked over to"
        clause.places = [*(("to", noun) for noun in clause.objects), *clause.places]
        clause.objects = []
    if clause.objects and (clause.means("approach") or all(noun.kind == "room" for noun in clause.objects)):
        goal = "into" if clause.means("enter") else "to"
        clause.places = [*((goal, noun) for noun in clause.objects), *clause.places]
        clause.objects = []
    clause.objects = [noun for noun in clause.objects if noun.words[-1] not in wordset("landmarks")]
    if not all(noun.words[-1] in wordset("ways") or noun.kind == "pronoun" for noun in clause.objects):
        return False
    towards = [(prep, noun) for prep, noun in clause.places if prep in wordset("towards")]
    goals = [(prep, noun) for prep, noun in towards if noun.words[-1] not in wordset("no_places")]
    # not "went for a swim"
    goals = [(prep, noun) for prep, noun in goals if prep != "for" or noun.kind != "object" or noun.is_known]
    goes_out = any(prep == "out of" or (prep == "from" and clause.means("leave")) for prep, _ in clause.places)
    if not goals and (goes_out or {"outside", "out", "away", "off"} & set(clause.adverbs)):
        return leave(story, clause, agents)
    for agent in agents:
        for prep, noun in goals:
            _go(story, clause, agent, prep, noun)
        if not goals:
            _go_without_goal(story, clause, agent)
    return True


def _go_without_goal(story: StoryState, clause: Clause, agent: str) -> None:
    """Going "there", coming "in" or "back", or just walking."""
    state = story.of(agent)
    if "there" in clause.adverbs and story.there:
        spot = story.there if isinstance(story.there, Spot) else None
        room = spot.room if spot else story.last_room
        state.room, state.spot, state.closed = room or state.room, spot, False
        add_event(story, clause, agent, "walk", spot=spot, room=room)
    elif clause.means("enter", "return", "arrive") or {"home", "back", "in", "inside"} & set(clause.adverbs):
        state.room, state.spot = state.left or (story.rooms[0] if len(story.rooms) == 1 else None), None
        add_event(story, clause, agent, "enter", room=state.room)
    else:
        state.spot = None
        add_event(story, clause, agent, "walk")


def _go(story: StoryState, clause: Clause, agent: str, prep: str, noun: Noun) -> None:
    """Move an agent to the room, place, person or thing that a noun stands for, and add the event."""
    state = story.of(agent)
    if noun.kind == "room":
        room = story.room(noun)
        state.room, state.spot, state.left = room, None, state.room
        enters = prep in ("into", "in", "inside") or clause.means("enter")
        add_event(story, clause, agent, "enter" if enters else "walk", room=room)
    elif noun.kind == "place":
        spot = story.spot(noun, agent)
        state.room, state.spot, state.closed = spot.room or state.room, spot, False
        add_event(story, clause, agent, "walk", spot=spot)
    elif noun.kind == "agent" or noun.words[0] in ("him", "her", "them"):
        people = story.person(noun, [agent])
        state.room, state.spot = story.of(people[0]).room if people else state.room, None
        add_event(story, clause, agent, "walk", room=state.room)
    elif noun.words[-1] in wordset("landmarks"):
        state.spot = None
        add_event(story, clause, agent, "walk")
    else:  # a thing, and so where it is; "it" may also be the place dealt with last
        obj, at = None, state.spots[-1] if state.spots else None
        if noun.words != ("it",) or at is None or state.things:
            obj = story.thing(noun, agent)
            at = placed(story, noun, obj)
        state.room, state.spot, state.closed = (at.room if at else None) or state.room, at, False
        add_event(story, clause, agent, "walk", obj=obj, spot=at if obj is None else None)


def placed(story: StoryState, noun: Noun, obj: str | None) -> Spot | None:
    """The place that a relative clause gives: "the spoon that Tom had put on the table", or where it was put last."""
    for inner in noun.clauses:
        if inner.means("put", "move", "see", "find") or inner.places:
            for prep, place_noun in inner.places:
                if prep in IN and place_noun.kind == "place":
                    return story.spot(place_noun, None)
        if inner.means("put", "move") and obj is not None:
            return story.where.get(obj)
    return None


def leave(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads leaving a room, perhaps for another room or place; the room is the one named, or that of the agent."""
    rooms = [*clause.objects, *(noun for prep, noun in clause.places if prep in FROM)]
    for agent in agents:
        state = story.of(agent)
        room = next((story.room(noun) for noun in rooms if noun.kind == "room"), None) or state.room
        if room or not any(prep in ("to", "into", "towards") and noun.kind == "room" for prep, noun in clause.places):
            add_event(story, clause, agent, "leave", room=room)
        state.room, state.spot, state.left = None, None, room
        for prep, noun in clause.places:
            if prep in ("for", "to", "into", "towards") and noun.kind in ("room", "place"):
                _go(story, clause, agent, prep, noun)
    return True


def set_out(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads beginning at a place, or starting towards one; False for beginning anything else."""
    clause.objects = [noun for noun in clause.objects if noun.words[0] not in ("himself", "herself", "themselves")]
    goals = [prep for prep, noun in clause.places if noun.kind in ("place", "room")]
    return walk(story, clause, agents) if goals and not clause.objects else False


def follow(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads following somebody: into the room where the other is."""
    if any(noun.kind in ("room", "place") for _, noun in clause.places):
        clause.objects = []
        return walk(story, clause, agents)
    for agent in agents:
        referents = (name for noun in clause.objects for name in story.person(noun, [agent]))
        located = (name for name in reversed(story.agents) if name != agent and story.of(name).room)
        followed = next(chain(referents, located), None)
        room = story.of(followed).room if followed else None
        if room is None:
            return False
        story.of(agent).room, story.of(agent).spot = room, None
        add_event(story, clause, agent, "enter", room=room)
    return True

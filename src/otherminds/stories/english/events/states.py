"""What clauses tell of how things stand, and what changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otherminds.stories.english.events.going import HERE, IN, MOODS, Agents, tell, walk
from otherminds.stories.english.events.handling import location
from otherminds.stories.english.events.seeing import looked
from otherminds.stories.english.events.speech import be_silent, ignorant, shrug
from otherminds.stories.english.lexicon import lexicon
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Event, Fact

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def be(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Somebody or something is somewhere, or there is something somewhere."""
    if agents:
        return _present(story, clause, agents)
    nouns = clause.subjects or clause.objects
    if (found := looked(story, clause, nouns)) is not None:
        return found
    if clause.verb and clause.verb.negated:
        return False
    if not nouns or any(noun.kind == "agent" for noun in nouns):
        return False
    holders = [(prep, noun) for prep, noun in clause.places if prep in IN]
    inner = [(noun, one) for noun in nouns for one in noun.clauses]
    if inner and not holders:
        return all(_stated(story, one, [noun]) for noun, one in inner)
    return _stated(story, clause, nouns) and _with(story, clause)


def _with(story: StoryState, clause: Clause) -> bool:
    """ "..., with two plates placed on the table"."""
    nouns = [noun for prep, noun in clause.places if prep == "with"]
    placings = [one for noun in nouns for one in noun.clauses]
    return bool(placings) == bool(nouns) and all(_stated(story, one, nouns) for one in placings)


def _stated(story: StoryState, clause: Clause, nouns: Sequence[Noun]) -> bool:
    spot: Spot | None = None
    room: str | None = None
    for prep, noun in clause.places:
        if prep not in IN:
            continue
        if noun.kind == "room":
            room = story.room(noun)
        elif noun.kind in ("place", "object"):
            spot = story.spot(noun, None)
    if spot is None and room is None:
        return _mood(clause)
    return all(_one(story, noun, spot, room) for noun in nouns)


def _mood(clause: Clause) -> bool:
    """Whether only a mood, the weather or the like is told."""
    words = {noun.words[-1] for noun in clause.objects} | set(clause.adverbs) | set(clause.unknown)
    return bool(words) and not clause.places and words <= MOODS | lexicon().sets["adverbs"]


def _one(story: StoryState, noun: Noun, spot: Spot | None, room: str | None) -> bool:
    if noun.kind == "place" or (spot is None and _holds_something(story, noun)):
        noun.room = noun.room or room or (spot.room if spot else "") or ""
        if story.numbered and noun.det in NUMBERS and noun.room:
            story.row(noun, NUMBERS.index(noun.det) + 1)
            return spot is None
        furniture = (lexicon().kind_of(noun.words) or "") in lexicon().furniture
        found = story.spot(noun if furniture else Noun("place", noun.words, 0, 0, noun.det), None)
        story.rooms_of_spots.setdefault(found.id, noun.room or None)
        return spot is None
    if noun.kind != "object" and noun.words != ("it",):
        return False
    obj = story.thing(noun, None)
    return obj is not None and state(story, obj, spot, room)


def _holds_something(story: StoryState, noun: Noun) -> bool:
    return any(spot.id == noun.text for spot in story.spots)


def state(story: StoryState, obj: str, spot: Spot | None, room: str | None) -> bool:
    """Notes where a thing is: from the start, if nothing has happened to it yet. False if it contradicts the story."""
    if obj in story.handled:
        return spot is not None and story.where.get(obj) is spot
    if spot is not None:
        story.where[obj] = spot
        story.begins.append((Fact("at", obj), spot))
    else:
        story.begins.append((Fact("in_room", obj, room), None))
    return True


def _present(story: StoryState, clause: Clause, agents: Agents) -> bool:
    if not clause.places and HERE & set(clause.adverbs):
        return _present_there(story, agents)
    spot, room, said = location(story, clause, agents[0], IN | {"by", "near", "beside"})
    if not said:
        return _mood(clause)
    if clause.verb and clause.verb.negated:
        return True
    for agent in agents:
        standing = story.of(agent)
        if (
            room
            and standing.room is None
            and not any(one.agent == agent for one, _ in story.timeline if isinstance(one, Event))
        ):
            story.begins.append((Fact("in_room", agent, room), None))
        elif room and standing.room != room:
            tell(story, clause, agent, "wait", room=room)
        standing.room, standing.spot = room or standing.room, spot
    return True


def _present_there(story: StoryState, agents: Agents) -> bool:
    """ "Brem was there": in the room last spoken of, unless it is known where he is."""
    for agent in agents:
        standing = story.of(agent)
        if standing.room is None and story.last_room:
            standing.room = story.last_room
            story.begins.append((Fact("in_room", agent, story.last_room), None))
    return True


def be_gone(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Somebody is gone: that is news only if nothing yet told where to."""
    for agent in agents:
        moves = [one for one, _ in story.timeline if isinstance(one, Event) and one.agent == agent]
        if not any(one.verb in ("leave", "walk", "enter") for one in moves[-1:]):
            tell(story, clause, agent, "leave", room=story.of(agent).room)
            story.of(agent).room = story.of(agent).spot = None
    return True


def contain(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """A place holds things; a room has places. Somebody who holds something changes nothing."""
    if agents:
        return shrug(story, clause, agents) if ignorant(clause) else True
    if not clause.subjects or not clause.objects or not clause.verb:
        return False
    holder = clause.subjects[0]
    if clause.verb.negated or any(
        noun.det == "no" or noun.words[0] in ("nothing", "neither") for noun in clause.objects
    ):
        there = replace(
            clause, subjects=[], places=[("in", holder)] if holder.kind == "place" else [], adverbs=["inside"]
        )
        looked(story, there, clause.objects)
        return True
    if holder.kind == "room":
        room = story.room(holder)
        return all(_one(story, noun, None, room) for noun in clause.objects) and _with(story, clause)
    if any(noun.kind == "room" for noun in clause.objects):
        for noun in clause.objects:
            story.room(noun)
        return True
    if holder.kind not in ("place", "object"):
        return False
    spot = story.spot(holder, None)
    return all(noun.kind == "object" and _one(story, noun, spot, None) for noun in clause.objects)


def feature(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """A flat consists of rooms; a room is equipped with places."""
    holder = clause.subjects[0] if clause.subjects else None
    if holder is None:
        return False
    for noun in clause.objects:
        if noun.kind == "room":
            story.room(noun)
        elif holder.kind == "room":
            if not _one(story, noun, None, story.room(holder)):
                return False
        else:
            return False
    return bool(clause.objects) and _with(story, clause)


def stay(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Staying somewhere, or staying silent."""
    words = {word for noun in clause.objects for word in noun.words} | set(clause.unknown) | set(clause.adverbs)
    if words & {"silent", "quiet", "mute", "speechless", "mum", "silence"} or any(
        n.text == "silence" for _, n in clause.places
    ):
        return _all_silent(story, clause, agents)
    if clause.verb and clause.verb.lemma == "keep" and clause.objects:
        return False
    for agent in agents:
        room = next((story.room(noun) for prep, noun in clause.places if noun.kind == "room" and prep in IN), None)
        story.of(agent).room = room or story.of(agent).room
        tell(story, clause, agent, "wait", room=story.of(agent).room)
    return True


def noise(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """What changes nothing; eating something does, and so does turning to a place."""
    if (
        clause.verb
        and clause.verb.lemma == "turn"
        and any(noun.kind == "place" and prep in ("to", "towards") for prep, noun in clause.places)
    ):
        return walk(story, clause, agents)
    eaten = clause.verb is not None and clause.verb.lemma in ("eat", "drink", "sip") and bool(clause.objects)
    return bool(agents) and not eaten


def hush(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Keeping silent."""
    return _all_silent(story, clause, agents)


def want(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Wanting to find or to have something, which questions ask about and which changes nothing."""
    things = [noun for noun in clause.objects if noun.kind == "object"]
    for agent in agents:
        for noun in things:
            story.of(agent).seeks = story.thing(noun, agent)
    return bool(things) and not (clause.verb and clause.verb.negated)


def _all_silent(story: StoryState, clause: Clause, agents: Agents) -> bool:
    for agent in agents:
        be_silent(story, clause, agent)
    return True

"""Clauses of looking, finding, seeing and knowing: what people observe, and what they miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otherminds.stories.english.events.going import HERE, IN, Agents, Told, add_event, placed
from otherminds.stories.english.events.handling import handled_before, handled_place, location, move, put
from otherminds.stories.english.events.speech import is_ignorant, shrug
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState, relation
from otherminds.stories.model import Fact, Observation


def add_observation(
    story: StoryState, clause: Clause, agent: str, obj: str, spot: Spot | None, room: str | None, *, sees: bool
) -> None:
    """Adds that somebody saw, or did not see, that a thing was in a place (or else in a room)."""
    fact = Fact("at", obj, None) if spot else Fact("in_room", obj, room)
    story.emit(Observation(0, agent, fact, sees, story.p, story.source, (clause.start, clause.end)), spot)


def note_last_moved(story: StoryState, clause: Clause, agents: Agents, *, sees: bool) -> bool:
    """Adds that the agents saw, or missed, what was moved last; False if its place is unknown."""
    obj = story.last_moved
    spot = story.where.get(obj) if obj else None
    for agent in agents:
        if obj and spot:
            add_observation(story, clause, agent, obj, spot, spot.room, sees=sees)
    return spot is not None


def look(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads looking into one or several places, around, or for something."""
    sought = next((noun for prep, noun in clause.places if prep in ("for", "seeking", "after")), None)
    if clause.lemma == "seek" and clause.objects:
        sought = clause.objects[0]
    kinds = ("place", "object", "pronoun", "one")
    nouns = [noun for noun in clause.objects if noun is not sought and noun.kind in kinds]
    nouns = [noun for noun in nouns if noun.words[-1] not in wordset("spaces")]
    for agent in agents:
        state = story.of(agent)
        obj = story.thing(sought, agent) if sought else None
        state.seeks = obj or state.seeks
        spots = [spot for noun in nouns if (spot := handled_place(story, noun, agent))]
        room = None
        if not spots:
            spot, room, _ = location(story, clause, agent, IN | {"through", "around"})
            spots = [spot] if spot else []
        for spot in spots:
            state.spot, state.room = spot, spot.room or state.room
            add_event(story, clause, agent, "look", obj, spot, spot.room or room)
        if not spots:
            add_event(story, clause, agent, "look", obj, None, room)
    missed = [noun for noun in clause.objects if noun.det == "no" and noun.kind == "object"]
    return find(story, replace(clause, objects=missed), agents) if missed else True


def find(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads finding something, or not finding it: an observation, which also tells where the finder is."""
    misses = clause.negated or clause.link in ("without", "from") or _finds_nothing(clause)
    noun = clause.objects[0] if clause.objects else None
    for agent in agents:
        state = story.of(agent)
        spot, room, is_stated = location(story, clause, agent, IN - {"to", "into", "onto"})
        if misses:  # the thing named, or else the thing looked for, is not in the place where they look
            of = (complement for prep, complement in clause.places if prep == "of" and complement.kind == "object")
            missed = next(of, noun)  # "of the cup, Ann saw no trace"
            if noun is not None and noun.kind == "place" and _finds_nothing(clause):
                spot, missed = story.spot(noun, agent), None
            is_thing = missed is not None and missed.kind == "object" and missed.words[0] not in wordset("no_finds")
            obj, place = story.thing(missed, agent) if missed and is_thing else state.seeks, spot or state.spot
            if obj and place:
                add_observation(story, clause, agent, obj, place, place.room, sees=False)
            elif obj:
                return False  # it is open where it is not
            continue
        finds_sought = bool(clause.content) and clause.content[0].link == "what"  # "found what she was looking for"
        if noun.kind in ("room", "agent") if noun else not finds_sought:
            return False
        obj = story.thing(noun, agent) if noun else state.seeks
        place = spot or (placed(story, noun, obj) if noun else None)
        place = place or (None if is_stated or state.closed else state.spot)
        if spot is not None:
            state.spot, state.closed = spot, False
        state.room = room or state.room
        if obj and place and len(agents) > 1 and obj not in story.handled:
            story.where[obj] = place  # found together by those who are there: so from the start, for all to see
            story.initial.append((Fact("at", obj), place))
            story.handled.add(obj)
        elif obj and (place or state.room) and (len(agents) == 1 or story.where.get(obj) is not place):
            add_observation(story, clause, agent, obj, place, state.room, sees=True)
    return "is not where it is looked for" if misses else True


def _finds_nothing(clause: Clause) -> bool:
    """Whether a place was found to be empty, or nothing was found."""
    nouns = (*clause.objects, *(noun for _, noun in clause.places))
    words = {word for noun in nouns for word in noun.words} | set(clause.adverbs) | set(clause.unknown)
    return bool((wordset("empty") | {"neither"}) & words) or any(noun.det in ("no", "none") for noun in clause.objects)


def perceive(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads seeing, noticing or knowing that something is somewhere, or that somebody moves it."""
    if clause.means("think") and clause.lemma not in ("know", "remember"):
        return "thinks nothing in particular" if not clause.content and not clause.objects else False
    if clause.content:
        understood = [_see_content(story, clause, inner, agents) for inner in clause.content]
        return all(understood) and understood[-1]
    first = clause.objects[0] if clause.objects else None
    if first and first.words[0] in ("this", "that", "it", "everything") and not clause.places and story.last_moved:
        return note_last_moved(story, clause, agents, sees=not clause.negated)
    if clause.objects and all(noun.kind == "agent" for noun in clause.objects) and not clause.negated:
        return "sees people"
    if is_ignorant(clause) and clause.lemma in ("know", "remember"):
        return shrug(story, clause, agents)
    tells_place = any(
        prep in IN and (noun.kind in ("place", "room") or noun.words == ("it",)) for prep, noun in clause.places
    )
    state = story.of(agents[0])
    is_here = bool(HERE & set(clause.adverbs)) and bool(state.spot)
    if is_here or tells_place or (clause.negated and clause.objects):
        return find(story, clause, agents)
    things = [noun for noun in clause.objects if noun.kind == "object"]
    inside = state.spot is not None and not state.closed and relation(state.spot.kind) == "in"
    if len(things) == 1 and not clause.places and inside and story.thing(things[0], agents[0]) == state.seeks:
        return find(story, clause, agents)  # the thing looked for, in the place that was just opened
    seen_objects = [obj for noun in things if (obj := story.thing(noun, agents[0]))]
    sees = not clause.negated and not clause.means("think")
    if seen_objects and sees and _was_just_told(story, seen_objects[-1]):
        for agent in agents:
            place = story.where[seen_objects[-1]]
            add_observation(story, clause, agent, seen_objects[-1], place, place.room if place else None, sees=True)
        return True
    matters = clause.places or clause.means("think") or not clause.objects
    return False if matters else "sees a thing, no matter where"


def _was_just_told(story: StoryState, obj: str) -> bool:
    """Whether the last fact told is where a thing is: "the cup was in the box, and Ann saw it"."""
    fact, place = story.initial[-1] if story.initial else (None, None)
    return fact == Fact("at", obj) and place is not None and place is story.where.get(obj)


def _see_content(story: StoryState, clause: Clause, inner: Clause, agents: Agents) -> Told:
    """Reads what is seen to be so, or to be done; what is done is added to the story if it is new."""
    if inner.verb is None or inner.verb.unreal:
        return False
    if inner.lemma == "be":
        previous_subjects, story.subjects = story.subjects, list(agents)
        verdict = look_result(story, inner, inner.subjects or inner.objects)
        story.subjects = previous_subjects
        if verdict is not None:
            return verdict
    if inner.negated:
        return False
    doing = inner.means("put", "move", "grab") and bool(inner.subjects) and not inner.verb.passive
    nouns = inner.objects if doing else inner.subjects
    things = [noun for noun in nouns if noun.kind in ("object", "one") or noun.words[0] in ("it", "them")]
    if not things:
        acts = inner.means("walk", "leave", "enter", "return", "look", "open", "close") and bool(inner.subjects)
        return "sees people" if acts else False
    obj = story.thing(things[0], agents[0])
    if doing and not _is_done(story, inner, agents, obj):
        return False
    spot, room, is_stated = location(story, inner, agents[0], IN)
    if not is_stated and obj and inner.means("put", "move", "grab"):
        spot = story.where.get(obj)
    sees = not clause.negated and things[0].det != "no"
    for agent in agents:
        if obj and (spot or room):
            add_observation(story, clause, agent, obj, spot, room, sees=sees)
    return bool(spot or room)


def _is_done(story: StoryState, inner: Clause, agents: Agents, obj: str | None) -> bool:
    """Whether the story tells what is seen to be done; if it is new, it is added now."""
    movers = story.person(inner.subjects[0], agents)
    if movers and not handled_before(story, movers[0], obj):
        return not inner.means("grab") and bool((put if inner.means("put") else move)(story, inner, movers[:1]))
    return bool(movers)


def look_result(story: StoryState, clause: Clause, nouns: Sequence[Noun]) -> Told | None:
    """Reads what somebody who looks into a place sees there: "it was empty", "the milk was there".

    The one who looks is the last subject. None if nobody looks, so that the clause means something else.
    """
    agent = story.subjects[0] if len(story.subjects) == 1 else None
    if not agent or not clause.verb:
        return None
    state = story.of(agent)
    words = {word for noun in (*clause.subjects, *clause.objects) for word in noun.words}
    words |= {*clause.unknown, *clause.adverbs}
    nothing = bool(words & (wordset("empty") | {"nowhere"})) or any(noun.det == "no" for noun in nouns)
    in_it = any(noun.words == ("it",) for prep, noun in clause.places if prep in IN)
    elsewhere = any(noun.kind in ("place", "room") for _, noun in clause.places)
    about_here = nothing or in_it or bool(words & (HERE | wordset("lacking") | {"inside"}))
    spot = state.spot if about_here and not elsewhere else None
    seeks = state.seeks
    if spot is None and seeks is None and not nothing:
        return None
    spots = [story.spot(noun, agent) for prep, noun in clause.places if prep in IN and noun.kind == "place"]
    spots += [story.spot(noun, agent) for noun in clause.subjects if noun.kind == "place" and nothing]
    if spot is None:
        near = spots and (spots[0] is state.spot or (spots[0].room is not None and spots[0].room == state.room))
        if not near:
            return None
        spot = spots[0]
    no_things = wordset("moods") | wordset("nothings")
    things = [noun for noun in nouns if noun.kind == "object" and not no_things & set(noun.words)]
    obj = story.thing(things[0], agent) if things else seeks
    if things and obj != seeks and spots and not nothing:
        return None
    if obj:
        sees = not (nothing or clause.negated or words & wordset("lacking"))
        add_observation(story, clause, agent, obj, spot, spot.room, sees=sees)
    elif not nothing and any(noun.words == ("it",) for noun in nouns):
        return False  # of what, is not told
    return "tells nothing of the thing looked for"

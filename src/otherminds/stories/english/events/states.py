"""Clauses of states: where people and things are, what places hold, what somebody wants, and what changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from otherminds.stories.english.events.going import HERE, IN, Agents, Told, add_event, walk
from otherminds.stories.english.events.handling import NEARBY, location
from otherminds.stories.english.events.seeing import look_result
from otherminds.stories.english.events.speech import be_silent, is_ignorant, shrug, stated_place
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import ORDINALS, Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Fact

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def be(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads that somebody or something is somewhere, or that there is something somewhere."""
    if agents:
        return _be_present(story, clause, agents)
    nouns = clause.subjects or clause.objects
    if (look_verdict := look_result(story, clause, nouns)) is not None:
        return look_verdict
    if clause.negated or not nouns or any(noun.kind == "agent" or noun.det == "no" for noun in nouns):
        return False
    placings = [(noun, inner) for noun in nouns for inner in noun.clauses if inner.places]
    if placings and not any(prep in IN for prep, _ in clause.places):
        return all(_note_where(story, inner, [noun]) for noun, inner in placings)
    verdict = _note_where(story, clause, nouns)
    return verdict if verdict and _note_company(story, clause) else False


def _note_company(story: StoryState, clause: Clause) -> bool:
    """Notes what "..., with two plates placed on the table" says; True if nothing follows "with"."""
    nouns = [noun for prep, noun in clause.places if prep == "with"]
    holders = [noun for noun in (*clause.subjects, *clause.objects) if noun.kind == "place"]
    if len(holders) == 1 and any(prep in IN and noun.words == ("it",) for prep, noun in clause.places):
        return all(
            _note_one(story, noun, story.spot(holders[0], None), None) for noun in nouns
        )  # "a sofa with a book on it"
    placings = [inner for noun in nouns for inner in noun.clauses]
    return bool(placings) == bool(nouns) and all(_note_where(story, inner, nouns) for inner in placings)


def _note_where(story: StoryState, clause: Clause, nouns: Sequence[Noun]) -> Told:
    """Notes that things are where the clause says; True also if it tells only a mood."""
    spot, room = stated_place(story, [noun for prep, noun in clause.places if prep in IN], ("place", "object"))
    if spot is None and room is None:
        if (
            "there" in clause.adverbs or clause.lemma != "be"
        ) and not clause.places:  # "there was a desk", "a cup stood about"
            for noun in nouns:
                _ = story.spot(noun, None) if noun.kind == "place" else story.thing(noun, None)
            return "is there"
        return "a mood" if _is_mood(clause) else False
    before = story.size
    all_noted = all(_note_one(story, noun, spot, room) for noun in nouns)
    return all_noted and (story.size != before or "told before")


def _state_words(clause: Clause) -> set[str]:
    """The words that say how somebody or something is."""
    return {noun.words[-1] for noun in clause.objects} | set(clause.adverbs) | set(clause.unknown)


def is_inattentive(clause: Clause) -> bool:
    """Whether the clause says that somebody is asleep, or does not notice."""
    return clause.lemma == "be" and not clause.negated and bool(_state_words(clause) & wordset("inattentive"))


def _is_mood(clause: Clause) -> bool:
    """Whether only a mood, the weather or the like is told."""
    words = _state_words(clause)
    indoors = all(noun.kind == "room" for _, noun in clause.places) and [noun.text for noun in clause.subjects] == [
        "it"
    ]
    return bool(words) and (not clause.places or indoors) and words <= wordset("moods") | wordset("adverbs")


def _note_one(story: StoryState, noun: Noun, spot: Spot | None, room: str | None) -> bool:
    """Notes that a thing or a place is in a place or a room; False if that contradicts the story.

    Where a thing is before anything happened to it is where it is from the start.
    """
    named_before = spot is None and any(known_spot.id == noun.text for known_spot in story.spots)
    if noun.kind == "place" or named_before:
        noun.room = noun.room or room or (spot.room if spot else "") or ""
        if story.numbered and noun.det in NUMBERS and noun.room:
            for ordinal in ORDINALS[: NUMBERS.index(noun.det) + 1]:  # several of a kind, told apart by number
                story.spot(Noun("place", noun.words, 0, 0, "the", room=noun.room, ordinal=ordinal), None)
            return spot is None
        furniture = (lexicon().kind_of(noun.words) or "") in wordset("furniture")
        noun_spot = story.spot(noun if furniture else Noun("place", noun.words, 0, 0, noun.det), None)
        story.rooms_of_spots.setdefault(noun_spot.id, noun.room or None)
        return spot is None
    obj = story.thing(noun, None) if noun.kind == "object" or noun.words == ("it",) else None
    if obj is None:
        return False
    if obj in story.handled:
        return spot is not None and story.where.get(obj) is spot
    if spot is not None:
        story.where[obj] = spot
        story.initial.append((Fact("at", obj), spot))
    else:
        story.initial.append((Fact("in_room", obj, room), None))
    return True


def _be_present(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Notes where people are: from the start, if they have done nothing yet, or else as waiting there."""
    if not clause.places and HERE & set(clause.adverbs):
        if clause.negated:
            return be_gone(story, clause, agents)
        for agent in agents:  # "Brem was there": in the room last spoken of, unless it is known where he is
            if story.of(agent).room is None and story.last_room:
                story.of(agent).room = story.last_room
                story.initial.append((Fact("in_room", agent, story.last_room), None))
        return "is where it was"
    spot, room, is_stated = location(story, clause, agents[0], IN | NEARBY)
    if not is_stated:
        is_gone = not clause.negated and bool(_state_words(clause) & wordset("gone"))
        return be_gone(story, clause, agents) if is_gone else "a mood" if _is_mood(clause) else False
    if clause.negated:
        return be_gone(story, clause, [agent for agent in agents if story.of(agent).room in (None, room)])
    for agent in agents:
        state = story.of(agent)
        if room and state.room is None and not story.events_of(agent):
            story.initial.append((Fact("in_room", agent, room), None))
        elif room and state.room != room:
            add_event(story, clause, agent, "wait", room=room)
        state.room, state.spot = room or state.room, spot
    return "is where it was"


def be_gone(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads that somebody is gone, which is news only if the story has not told where to."""
    for agent in agents:
        if not any(event.verb in ("leave", "walk", "enter") for event in story.events_of(agent)[-1:]):
            add_event(story, clause, agent, "leave", room=story.of(agent).room)
            story.of(agent).room = story.of(agent).spot = None
    return "told before"


def contain(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads that a place holds things, or a room places. Somebody who has something changes nothing."""
    if agents and clause.quotes:
        return False  # 'she had an answer: "..."'
    if agents:
        return shrug(story, clause, agents) if is_ignorant(clause) else "has something"
    if not clause.subjects or not clause.objects or not clause.verb:
        return False
    holder = clause.subjects[0]
    if clause.negated or any(noun.det == "no" or noun.words[0] in ("nothing", "neither") for noun in clause.objects):
        places = [("in", holder)] if holder.kind == "place" else []
        look_result(story, replace(clause, subjects=[], places=places, adverbs=["inside"]), clause.objects)
        return "holds nothing"
    if holder.kind == "room":
        room = story.room(holder)
        return all(_note_one(story, noun, None, room) for noun in clause.objects) and _note_company(story, clause)
    if any(noun.kind == "room" for noun in clause.objects):
        for noun in clause.objects:
            story.room(noun)
        return True
    if any(subject.kind not in ("place", "object") for subject in clause.subjects):
        return False
    pairs = product([story.spot(subject, None) for subject in clause.subjects], clause.objects)
    return all(noun.kind == "object" and _note_one(story, noun, spot, None) for spot, noun in pairs)


def feature(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads that a flat consists of rooms, or that a room is equipped with places."""
    if not clause.subjects:
        return False
    holder = clause.subjects[0]
    for noun in clause.objects:
        if noun.kind == "room":
            story.room(noun)
        elif holder.kind != "room" or not _note_one(story, noun, None, story.room(holder)):
            return False
    is_read = bool(clause.objects) and _note_company(story, clause)
    return "rooms told before" if is_read else False


def stay(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads staying in a room, as waiting there, or staying silent."""
    words = {word for noun in clause.objects for word in noun.words} | set(clause.unknown) | set(clause.adverbs)
    if words & wordset("silent") or any(noun.text == "silence" for _, noun in clause.places):
        return be_silent(story, clause, agents)
    if clause.lemma == "keep" and clause.objects:
        return False
    for agent in agents:
        room = next((story.room(noun) for prep, noun in clause.places if noun.kind == "room" and prep in IN), None)
        story.of(agent).room = room or story.of(agent).room
        add_event(story, clause, agent, "wait", room=story.of(agent).room)
    return True


def noise(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads what changes nothing; False for eating something, which does. Turning to a place is walking."""
    to_place = any(noun.kind == "place" and prep in ("to", "towards") for prep, noun in clause.places)
    at_place = any(noun.kind in ("place", "room") and prep in IN | NEARBY for prep, noun in clause.places)
    if (clause.lemma == "turn" and to_place) or (
        clause.lemma in ("stop", "pause", "halt", "begin", "start") and at_place
    ):
        return walk(story, clause, agents)
    idle = bool(agents) and not (clause.lemma in ("eat", "drink", "sip") and clause.objects)
    return "an activity" if idle else False


def want(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads wanting to find or to have something, which questions ask about and which changes nothing."""
    things = [noun for noun in clause.objects if noun.kind == "object"]
    for agent in agents:
        for noun in things:
            story.of(agent).seeks = story.thing(noun, agent)
    return "is only wished" if things and not clause.negated else False

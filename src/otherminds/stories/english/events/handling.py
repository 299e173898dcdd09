"""Clauses of handling: opening, closing, taking, putting and moving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product, takewhile

from otherminds.stories.english.events.going import FROM, HERE, IN, Agents, Told, add_event, placed, walk
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState, relation
from otherminds.stories.model import Event, Verb

NEARBY = frozenset(("by", "beside", "near"))
HandleOne = Callable[[StoryState, Clause, str, Noun, str | None], Told]
"""Reads what one agent does to what a noun stands for into the story; False if it cannot be read."""


def open_(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads opening or closing one or several places. False if what is opened is no place, nor anything harmless."""
    clause.objects = [noun for noun in clause.objects if noun.words[0] not in ("himself", "herself", "themselves")]
    verb: Verb = "close" if clause.means("close") else "open"
    if not clause.objects and (last := story.of(agents[0]).spot) and relation(last.kind) == "in":  # "and closed again"
        clause.objects = [Noun("one", ("it",), clause.start, clause.end)]
    spots = [spot for noun in clause.objects if (spot := handled_place(story, noun, agents[0])) is not None]
    if len(spots) != len(clause.objects) or not spots:
        harmless_words = wordset("openings") | {"bottle", "book"}
        is_harmless = bool(clause.objects) and all(noun.words[-1] in harmless_words for noun in clause.objects)
        return "opens no place" if is_harmless else False
    for agent in agents:
        for spot in spots:
            _handle_place(story, clause, agent, verb, spot)
    return True


def do_again(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads doing with other places what somebody has just done with one: opening it, closing it, or both."""
    nouns = [noun for prep, noun in clause.places if prep in ("with", "to", "for")]
    for agent in agents:
        own = [(e.verb, spot) for e, spot in story.timeline if isinstance(e, Event) and e.agent == agent]
        last = list(takewhile(lambda done: done[0] in ("open", "close"), reversed(own)))
        verbs = [verb for verb, spot in reversed(last) if spot == last[0][1]]
        spots = [spot for noun in nouns if (spot := handled_place(story, noun, agent)) is not None]
        if not verbs or not spots or len(spots) != len(nouns):
            return False
        for spot, verb in product(spots, verbs):
            _handle_place(story, clause, agent, verb, spot)
    return True


def _handle_place(story: StoryState, clause: Clause, agent: str, verb: Verb, spot: Spot) -> None:
    """Adds that somebody opens or closes a place, and is there from then on."""
    state = story.of(agent)
    state.spot, state.closed, state.room = spot, verb == "close", spot.room or state.room
    add_event(story, clause, agent, verb, spot=spot)


def handled_place(story: StoryState, noun: Noun, agent: str) -> Spot | None:
    """The place that somebody opens, closes or looks into."""
    state = story.of(agent)
    if noun.words == ("door",) and state.spot and relation(state.spot.kind) == "in":
        return state.spot
    if noun.kind in ("pronoun", "one"):
        spots = [spot for spot in state.spots or story.spots if relation(spot.kind) != "on"]
        if not spots or noun.words[0] not in wordset("a_place"):
            return None
        last = spots[-1]
        if noun.det in ("another", "second", "third", "other"):
            return story.spot(Noun("place", (*last.extra, last.kind), 0, 0, noun.det, room=last.room or ""), agent)
        return last
    if noun.kind not in ("place", "object") or noun.words[-1] in wordset("openings"):
        return None
    if noun.kind == "object" and noun.is_known and not lexicon().kind_of(noun.words):
        return None
    return story.spot(noun, agent)


def location(
    story: StoryState, clause: Clause, agent: str, preps: frozenset[str]
) -> tuple[Spot | None, str | None, bool]:
    """The place and the room that phrases with these prepositions and "there" give, and whether they give any."""
    state = story.of(agent)
    dealt_with = state.spots or story.spots
    last = dealt_with[-1] if dealt_with else None
    spot, room, is_stated = None, None, False
    for prep, noun in sorted(clause.places, key=lambda phrase: _is_in_front(clause, phrase[1])):
        aside = _is_in_front(clause, noun) and not noun.is_known and noun.det in ("a", "an", "another")
        if prep not in preps or noun.words[-1] in wordset("no_places") or aside:  # "in a new development, she ..."
            continue
        if noun.kind == "room":
            room, is_stated = story.room(noun), True
        elif noun.kind == "place" or (noun.kind == "object" and prep not in NEARBY):
            spot, is_stated = spot or story.spot(noun, agent), True
        elif noun.words[0] in ("it", "them", "one"):
            spot, is_stated = spot or last, True
    particle = clause.verb.particle if clause.verb else ""
    if not is_stated and HERE & {*clause.adverbs, particle}:
        place_before = story.there if "there" in clause.adverbs and state.spot is None else None
        if isinstance(place_before, str):
            room, is_stated = place_before, True  # "went to the hall, and there she took the cup"
        else:
            spot, is_stated = state.spot or place_before or last, True
    if spot and room and not spot.room and spot.kind in wordset("furniture"):
        spot = story.spot(Noun("place", (*spot.extra, spot.kind), 0, 0, room=room), agent)
    return spot, room or (spot.room if spot else None), is_stated


def _is_in_front(clause: Clause, noun: Noun) -> bool:
    """Whether a noun that is no place of itself stands before the verb."""
    return noun.kind == "object" and clause.verb is not None and noun.start < clause.verb.start


def _things(story: StoryState, noun: Noun, agent: str) -> list[str | None]:
    """What a noun phrase stands for, one thing or several ("both"); None for something unknown."""
    group = story.of(agent).group or list(dict.fromkeys(story.spoken[-2:]))
    several = noun.kind == "vague" and noun.det in ("both", "two", "these", "those", "all")
    if group and (several or noun.words[0] in ("them", "both", "they", "these", "those", "each")):
        for thing in group:
            story.mention(thing, agent)
        return list(group)
    return [story.thing(noun, agent)]


def _handle_all(story: StoryState, clause: Clause, agents: Agents, handle: HandleOne) -> Told:
    """Has every agent `handle` every object of the clause, and what it stands for; False if one cannot be read."""
    verdict: Told = True
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            for obj in _things(story, noun, agent):
                if not (verdict := handle(story, clause, agent, noun, obj)):
                    return False
                group += [obj] if obj else []
        state = story.of(agent)
        state.group, state.pair = group, group if len(group) == 2 else state.pair
    return verdict


def grab(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads taking one or several things, from a stated place or from where the agent is."""
    clause.objects = [noun for noun in clause.objects if noun.words[0] not in ("himself", "herself", "themselves")]
    if not clause.objects:
        return False
    clause.places = [(prep, noun) for prep, noun in clause.places if noun.words[-1] not in wordset("body")]
    preps = {prep for prep, _ in clause.places}
    if clause.lemma in wordset("taking_along") and preps & {"to", "into", "onto", "back"}:
        return move(story, clause, agents)
    if any(noun.kind in ("room", "agent") for noun in clause.objects):
        return False
    clause.objects = [noun for noun in clause.objects if noun.words[-1] not in wordset("nothing_taken")]
    if not clause.objects:
        return "takes nothing that can be moved"
    return _handle_all(story, clause, agents, _grab_one)


def _grab_one(story: StoryState, clause: Clause, agent: str, noun: Noun, obj: str | None) -> bool:
    """Notes that an agent takes one thing, from the place said, or from where the thing or the agent is."""
    state = story.of(agent)
    spot, room, is_stated = location(story, clause, agent, FROM | IN - NEARBY - {"to"})
    place = spot or placed(story, noun, obj)
    if place is None and not is_stated and not state.closed:
        place = state.spot
        last = story.where.get(obj) if obj and noun.det not in wordset("new") else None
        if place is None and last and (state.room is None or last.room in (None, state.room)):
            place = last  # where the story put this very thing
    grab_room = room or (place.room if place else None) or state.room
    add_event(story, clause, agent, "grab", obj, place, grab_room)
    state.hands.append(obj)
    state.room = grab_room or state.room
    if place is not None and place is not state.spot:
        state.spot, state.closed = place, False
    if obj:
        story.handled.add(obj)
    return True


def put(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads putting one or several things somewhere. False if it is not said where, or they are no things."""
    preps = {prep for prep, _ in clause.places}
    last_words = {noun.words[-1] for _, noun in clause.places}
    if not clause.objects:
        dressing = clause.lemma == "put" and last_words & wordset("clothes")
        slipping = clause.lemma in wordset("slipping")
        if dressing or clause.lemma in wordset("resting"):
            return "puts on or rests"
        return slipping and walk(story, clause, agents)
    if preps & FROM and not preps & IN:
        return grab(story, clause, agents)
    if wordset("body") & last_words or wordset("body") & set(" ".join(clause.adverbs).split()):
        return "touches somebody"
    if any(noun.kind in ("room", "agent", "place") for noun in clause.objects):
        stays = clause.lemma == "leave" and {"open", "closed", "ajar"} & set(clause.adverbs)
        return "leaves something open" if stays else False
    return _handle_all(story, clause, agents, _put_one)


def _put_one(story: StoryState, clause: Clause, agent: str, noun: Noun, obj: str | None) -> bool:
    """Notes that an agent puts one thing somewhere.

    False if no place is said, and none follows from "back" or "down".
    """
    state = story.of(agent)
    spot, room, is_stated = location(story, clause, agent, IN)
    particle = clause.verb.particle if clause.verb else ""
    puts_back = particle in ("back", "down", "away", "aside", "in") or bool(
        {"back", "down", "away", "in"} & set(clause.adverbs)
    )
    if puts_back and not is_stated:
        spot, is_stated = state.spot, state.spot is not None
    if not is_stated and clause.link in wordset("relative") and clause.verb and clause.verb.perfect:
        return True  # "which Ann had put down earlier": told before
    if not is_stated or (spot is None and room is None):
        return False
    obj = obj if obj is not None else (state.hands[-1] if state.hands else None)
    if clause.link in wordset("relative") and clause.verb and clause.verb.perfect:
        earlier_puts = [
            (event, spot_then)
            for event, spot_then in story.timeline
            if isinstance(event, Event) and event.verb == "put"
        ]
        if any(event.agent == agent and event.obj == obj and spot_then is spot for event, spot_then in earlier_puts):
            return True  # "from the table, where Ann had put it": told before
    add_event(story, clause, agent, "put", obj, spot, room)
    if obj in state.hands:
        state.hands.remove(obj)
    state.room = room or state.room
    state.spot, state.closed = spot, False
    _note_moved(story, obj, spot)
    return True


def _note_moved(story: StoryState, obj: str | None, spot: Spot | None) -> None:
    """Notes where a thing now is."""
    if obj:
        story.where[obj] = spot
        story.handled.add(obj)
        story.last_moved = obj


def move(story: StoryState, clause: Clause, agents: Agents) -> Told:
    """Reads moving things to a place or a room; without a thing it is walking."""
    if not clause.objects:
        return walk(story, clause, agents)
    if any(noun.kind in ("room", "agent") for noun in clause.objects):
        return False
    return _handle_all(story, clause, agents, _move_one)


def _move_one(story: StoryState, clause: Clause, agent: str, noun: Noun, obj: str | None) -> Told:
    """Notes that an agent moves one thing, and itself, to a room or a place. False if no place is said."""
    state = story.of(agent)
    goal_phrases = [(prep, noun) for prep, noun in clause.places if prep in IN | {"towards", "toward", "through"}]
    if not goal_phrases and not HERE & set(clause.adverbs):
        carrying = clause.lemma in wordset("carrying") and not clause.places
        is_repeated = clause.link in ("when", "while", "as") and handled_before(story, agent, obj)
        return "told before" if carrying or is_repeated else False
    if goal_phrases and all(noun.kind == "room" for _, noun in goal_phrases):
        for _, noun in goal_phrases:
            state.room, state.spot = story.room(noun), None
            add_event(story, clause, agent, "move", obj, None, state.room)
        _note_moved(story, obj, None)
        return True
    spot, room, is_stated = location(story, replace(clause, places=goal_phrases), agent, IN | {"towards", "toward"})
    if spot is None:
        return is_stated and room is not None
    add_event(story, clause, agent, "move", obj, spot, room)
    state.room, state.spot, state.closed = spot.room or state.room, spot, False
    _note_moved(story, obj, spot)
    return True


def handled_before(story: StoryState, agent: str, obj: str | None) -> bool:
    """Whether the story already told that the agent took, put or moved the thing."""
    return any(event.obj == obj and event.verb in ("put", "move", "grab") for event in story.events_of(agent))

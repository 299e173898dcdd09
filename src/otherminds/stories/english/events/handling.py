"""What clauses tell of what people do with their hands: opening, closing, taking, putting and moving."""

from __future__ import annotations

from dataclasses import replace

from otherminds.stories.english.events.going import FROM, HERE, IN, Agents, placed, tell, walk
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import NEW, Spot, StoryState, relation
from otherminds.stories.model import Event, Verb

NO_PLACES = wordset("no_places")
CLOTHES = wordset("clothes")
RESTING = wordset("resting")
SLIPPING = wordset("slipping")
BODY = wordset("body")


def open_(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Opening or closing one or several places."""
    verb: Verb = "close" if clause.means("close") else "open"
    spots = [spot for noun in clause.objects if (spot := handled_place(story, noun, agents[0])) is not None]
    if len(spots) != len(clause.objects) or not spots:
        return bool(clause.objects) and all(
            n.words[-1] in ("door", "eye", "window", "bottle", "book", "curtain", "light") for n in clause.objects
        )
    for agent in agents:
        for spot in spots:
            standing = story.of(agent)
            standing.spot, standing.closed = spot, verb == "close"
            standing.room = spot.room or standing.room
            tell(story, clause, agent, verb, spot=spot)
    return True


def handled_place(story: StoryState, noun: Noun, agent: str) -> Spot | None:
    """The place somebody opens, closes or looks into."""
    standing = story.of(agent)
    if noun.words == ("door",) and standing.spot and relation(standing.spot.kind) == "in":
        return standing.spot
    if noun.kind in ("pronoun", "one"):
        spots = [spot for spot in standing.spots or story.spots if relation(spot.kind) != "on"]
        if noun.words[0] not in ("it", "one", "former", "latter", "itself", "other"):
            return None
        if noun.det in ("another", "second", "third", "other") and spots:
            return story.spot(
                Noun("place", (*spots[-1].extra, spots[-1].kind), 0, 0, noun.det, room=spots[-1].room or ""), agent
            )
        return spots[-1] if spots else None
    if noun.kind in ("place", "object") and noun.words[-1] not in ("door", "window", "eye", "curtain", "light"):
        if noun.kind == "object" and not lexicon().kind_of(noun.words) and noun.known:
            return None
        return story.spot(noun, agent)
    return None


def location(
    story: StoryState, clause: Clause, agent: str, preps: frozenset[str]
) -> tuple[Spot | None, str | None, bool]:
    """The place and the room that prepositional phrases and "there" say, and whether they say one at all."""
    spot, room, said = None, None, False
    for prep, noun in clause.places:
        if prep not in preps or noun.words[-1] in NO_PLACES:
            continue
        if noun.kind == "room":
            room, said = story.room(noun), True
        elif noun.kind == "place" or (noun.kind == "object" and prep not in ("by", "beside", "near")):
            spot, said = spot or story.spot(noun, agent), True
        elif noun.words[0] in ("it", "them", "one"):
            spot, said = spot or _last_spot(story, agent), True
    if spot is None and HERE & set(clause.adverbs):
        spot, said = story.of(agent).spot or _last_spot(story, agent), True
    if spot and room and not spot.room and spot.kind in lexicon().furniture:
        spot = story.spot(Noun("place", (*spot.extra, spot.kind), 0, 0, room=room), agent)
    return spot, room or (spot.room if spot else None), said


def _last_spot(story: StoryState, agent: str) -> Spot | None:
    spots = story.of(agent).spots or story.spots
    return spots[-1] if spots else None


def grab(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Taking one or several things, from a stated place or from where the agent is."""
    clause.objects = [noun for noun in clause.objects if noun.words[0] not in ("himself", "herself", "themselves")]
    if not clause.objects:
        return False
    if (
        any(prep in ("to", "into", "onto", "back") for prep, _ in clause.places)
        and clause.verb
        and clause.verb.lemma in ("take", "get", "fetch", "retrieve", "steal")
    ):
        return move(story, clause, agents)
    if any(noun.kind in ("room", "agent") for noun in clause.objects):
        return False
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            if noun.words[-1] in ("seat", "break", "moment", "nap", "breath", "turn", "look"):
                continue
            group += _grab_one(story, clause, agent, noun)
        story.of(agent).handle(group)
    return True


def _grab_one(story: StoryState, clause: Clause, agent: str, noun: Noun) -> list[str]:
    standing = story.of(agent)
    things = _things(story, noun, agent)
    spot, room, said = location(story, clause, agent, FROM | IN - {"to", "by", "beside", "near"})
    found = []
    for obj in things:
        place = spot or placed(story, noun, obj)
        if place is None and not said and not standing.closed:
            place = standing.spot or _kept(story, noun, obj, standing.room)
        where = room or (place.room if place else None) or standing.room
        tell(story, clause, agent, "grab", obj, place, where)
        standing.held.append(obj)
        standing.room = where or standing.room
        if place is not None and place is not standing.spot:
            standing.spot, standing.closed = place, False
        if obj:
            found.append(obj)
            story.handled.add(obj)
    return found


def _kept(story: StoryState, noun: Noun, obj: str | None, room: str | None) -> Spot | None:
    """Where the thing is, if the story told that, and it can be this very thing."""
    spot = story.where.get(obj) if obj and noun.det not in NEW else None
    return spot if spot and (room is None or spot.room in (None, room)) else None


def _things(story: StoryState, noun: Noun, agent: str) -> list[str | None]:
    """What a noun phrase stands for, one or several; None for something unknown."""
    word = noun.words[0]
    group = story.of(agent).group or list(dict.fromkeys(story.spoken[-2:]))
    plural = word in ("them", "both", "they", "these", "those", "each") or (
        noun.kind == "vague" and noun.det in ("both", "two", "these", "those", "all")
    )
    if plural and group:
        for thing in group:
            story.mention(thing, agent)
        return list(group)
    return [story.thing(noun, agent)]


def put(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Putting one or several things somewhere."""
    lemma = clause.verb.lemma if clause.verb else ""
    if not clause.objects and lemma == "put" and any(noun.words[-1] in CLOTHES for _, noun in clause.places):
        return True
    if not clause.objects:
        return lemma in RESTING or (lemma in SLIPPING and walk(story, clause, agents))
    if any(prep in FROM for prep, _ in clause.places) and not any(prep in IN for prep, _ in clause.places):
        return grab(story, clause, agents)
    if BODY & {noun.words[-1] for _, noun in clause.places} or BODY & set(" ".join(clause.adverbs).split()):
        return True
    if any(noun.kind in ("room", "agent", "place") for noun in clause.objects):
        return _left_open(clause)
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            for obj in _things(story, noun, agent):
                if not _put_one(story, clause, agent, obj):
                    return False
                group += [obj] if obj else []
        story.of(agent).handle(group)
    return True


def _left_open(clause: Clause) -> bool:
    """Whether something was only left as it is: "leaving the fridge open"."""
    return (
        clause.verb is not None
        and clause.verb.lemma == "leave"
        and bool({"open", "closed", "ajar"} & set(clause.adverbs))
    )


def _put_one(story: StoryState, clause: Clause, agent: str, obj: str | None) -> bool:
    standing = story.of(agent)
    spot, room, said = location(story, clause, agent, IN)
    if not said and {"back", "down", "away", "aside"} & ({clause.verb.particle} if clause.verb else set()) | (
        {"back", "down", "away"} & set(clause.adverbs)
    ):
        spot, said = standing.spot, standing.spot is not None
    if not said or (spot is None and room is None):
        return False
    obj = obj if obj is not None else (standing.held[-1] if standing.held else None)
    tell(story, clause, agent, "put", obj, spot, room)
    if obj in standing.held:
        standing.held.remove(obj)
    standing.room = room or standing.room
    standing.spot, standing.closed = spot, False
    moved(story, obj, spot)
    return True


def moved(story: StoryState, obj: str | None, spot: Spot | None) -> None:
    """Notes where a thing now is."""
    if obj:
        story.where[obj] = spot
        story.handled.add(obj)
        story.last_moved = obj


def move(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Moving a thing to a place or a room; without a thing it is walking."""
    if not clause.objects:
        return walk(story, clause, agents)
    if any(noun.kind in ("room", "agent") for noun in clause.objects):
        return False
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            for obj in _things(story, noun, agent):
                if not _move_one(story, clause, agent, obj):
                    return False
                group += [obj] if obj else []
        story.of(agent).handle(group)
    return True


def _move_one(story: StoryState, clause: Clause, agent: str, obj: str | None) -> bool:
    standing = story.of(agent)
    goals = [(prep, noun) for prep, noun in clause.places if prep in IN | {"towards", "toward", "through"}]
    if not goals and not HERE & set(clause.adverbs):
        carrying = bool(clause.verb and clause.verb.lemma in ("carry", "bring", "tote", "lug")) and not clause.places
        return carrying or (clause.link in ("when", "while", "as") and told_before(story, agent, obj))
    rooms = [noun for _, noun in goals if noun.kind == "room"]
    if rooms and len(rooms) == len(goals):
        for noun in rooms:
            standing.room, standing.spot = story.room(noun), None
            tell(story, clause, agent, "move", obj, None, standing.room)
        moved(story, obj, None)
        return True
    spot, room, said = location(story, replace(clause, places=goals), agent, IN | {"towards", "toward"})
    if spot is None:
        return said and room is not None
    tell(story, clause, agent, "move", obj, spot, room)
    standing.room, standing.spot, standing.closed = spot.room or standing.room, spot, False
    moved(story, obj, spot)
    return True


def told_before(story: StoryState, agent: str, obj: str | None) -> bool:
    """Whether the story already told that somebody moved a thing."""
    events = [one for one, _ in story.timeline if isinstance(one, Event) and one.agent == agent]
    return any(one.obj == obj and one.verb in ("put", "move", "grab") for one in events)

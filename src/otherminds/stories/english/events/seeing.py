"""What clauses tell of what people see, notice and know."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.events.going import HERE, IN, MOODS, Agents, placed, tell
from otherminds.stories.english.events.handling import handled_place, location, move, put, told_before
from otherminds.stories.english.events.speech import ignorant, shrug
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Clause, Noun
from otherminds.stories.english.story_state import Spot, StoryState, relation
from otherminds.stories.model import Fact, Observation


def look(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Looking into one or several places, around, or for something."""
    sought = next((noun for prep, noun in clause.places if prep in ("for", "seeking", "after")), None)
    if clause.verb and clause.verb.lemma == "seek" and clause.objects:
        sought = clause.objects[0]
    for agent in agents:
        standing = story.of(agent)
        obj = story.thing(sought, agent) if sought else None
        standing.seeks = obj or standing.seeks
        holders = [
            noun for noun in clause.objects if noun is not sought and noun.kind in ("place", "object", "pronoun", "one")
        ]
        spots = [spot for noun in holders if (spot := handled_place(story, noun, agent))]
        room = None
        if not spots:
            spot, room, _ = location(story, clause, agent, IN | {"through", "around"})
            spots = [spot] if spot else []
        for spot in spots:
            standing.spot, standing.room = spot, spot.room or standing.room
            tell(story, clause, agent, "look", obj, spot, spot.room or room)
        if not spots:
            tell(story, clause, agent, "look", obj, None, room)
    return True


def find(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Finding something, or not finding it: an observation, and where the finder then is."""
    assert clause.verb is not None
    missing = clause.verb.negated or clause.link in ("without", "from") or _nothing(clause)
    for agent in agents:
        standing = story.of(agent)
        spot, room, said = location(story, clause, agent, IN - {"to", "into", "onto"})
        noun = clause.objects[0] if clause.objects else None
        if missing:
            _miss(story, clause, agent, noun, spot)
            continue
        sought = noun is None and clause.content and clause.content[0].link == "what"
        if (noun is None and not sought) or (noun and noun.kind in ("room", "agent")):
            return False
        obj = story.thing(noun, agent) if noun else standing.seeks
        place = (
            spot or (placed(story, noun, obj) if noun else None) or (None if said or standing.closed else standing.spot)
        )
        if spot is not None:
            standing.spot, standing.closed = spot, False
        standing.room = room or standing.room
        if obj and (place or standing.room):
            see(story, clause, agent, obj, place, standing.room, sees=True)
    return True


def _nothing(clause: Clause) -> bool:
    """Whether something was found to be empty, or nothing was found."""
    nouns = (*clause.objects, *(noun for _, noun in clause.places))
    words = {word for noun in nouns for word in noun.words} | set(clause.adverbs) | set(clause.unknown)
    return bool({"nothing", "empty", "bare", "none", "neither"} & words) or any(
        noun.det in ("no", "none") for noun in clause.objects
    )


def _miss(story: StoryState, clause: Clause, agent: str, noun: Noun | None, spot: Spot | None) -> None:
    standing = story.of(agent)
    if noun is not None and noun.kind == "place" and _nothing(clause):
        spot, noun = story.spot(noun, agent), None
    obj = standing.seeks
    if noun is not None and noun.kind == "object" and noun.words[0] not in ("nothing", "sign", "trace", "luck"):
        obj = story.thing(noun, agent)
    place = spot or standing.spot
    if obj and place:
        see(story, clause, agent, obj, place, place.room, sees=False)


def see(
    story: StoryState, clause: Clause, agent: str, obj: str, spot: Spot | None, room: str | None, *, sees: bool
) -> None:
    """Adds that somebody saw, or did not see, that something was in a place or a room."""
    fact = Fact("at", obj, None) if spot else Fact("in_room", obj, room)
    story.emit(Observation(0, agent, fact, sees, story.p, story.source, (clause.start, clause.end)), spot)


LACKING = frozenset(("absent", "missing", "gone"))
NOTHINGS = wordset("nothings")


def perceive(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Seeing, noticing or knowing that something is somewhere, or that somebody moves it."""
    assert clause.verb is not None
    if clause.means("think") and clause.verb.lemma not in ("know", "remember"):
        return not clause.content and not clause.objects
    if clause.content:
        understood = [_seen(story, clause, inner, agents) for inner in clause.content]
        return all(understood)
    if (
        clause.objects
        and clause.objects[0].words[0] in ("this", "that", "it", "everything")
        and not clause.places
        and story.last_moved
    ):
        return _noticed(story, clause, agents)
    if clause.objects and all(noun.kind == "agent" for noun in clause.objects) and not clause.verb.negated:
        return True
    if ignorant(clause) and clause.verb.lemma in ("know", "remember"):
        return shrug(story, clause, agents)
    here = bool(HERE & set(clause.adverbs)) and bool(story.of(agents[0]).spot)
    placed = here or any(
        prep in IN and (noun.kind in ("place", "room") or noun.words == ("it",)) for prep, noun in clause.places
    )
    if placed or (clause.verb.negated and clause.objects):
        return find(story, clause, agents)
    if _comes_upon(story, clause, agents[0]):
        return find(story, clause, agents)
    for noun in clause.objects:
        if noun.kind == "object":
            story.thing(noun, agents[0])
    return bool(clause.objects) and not clause.places and not clause.means("think")


def _comes_upon(story: StoryState, clause: Clause, agent: str) -> bool:
    """Whether somebody who has just opened a place sees a thing, which must then be there."""
    standing = story.of(agent)
    things = [noun for noun in clause.objects if noun.kind == "object"]
    if len(things) != 1 or clause.places or standing.spot is None or standing.closed:
        return False
    return relation(standing.spot.kind) == "in" and story.thing(things[0], agent) == standing.seeks


def _noticed(story: StoryState, clause: Clause, agents: Agents) -> bool:
    """Whether somebody saw what was moved last."""
    assert clause.verb is not None
    obj = story.last_moved
    spot = story.where.get(obj) if obj else None
    for agent in agents:
        if obj and spot:
            see(story, clause, agent, obj, spot, spot.room, sees=not clause.verb.negated)
    return spot is not None


def _seen(story: StoryState, clause: Clause, inner: Clause, agents: Agents) -> bool:
    """What is seen to be so, or to be done, which then is told if it was not before."""
    assert clause.verb is not None
    if inner.verb is None or inner.verb.unreal:
        return False
    if inner.verb.lemma == "be":
        kept, story.subjects = story.subjects, list(agents)
        found = looked(story, inner, inner.subjects or inner.objects)
        story.subjects = kept
        if found is not None:
            return found
    if inner.verb.negated:
        return False
    doing = inner.means("put", "move", "grab") and bool(inner.subjects) and not inner.verb.passive
    nouns = inner.objects if doing else inner.subjects
    things = [noun for noun in nouns if noun.kind in ("object", "one") or noun.words[0] in ("it", "them")]
    if not things:
        return inner.means("walk", "leave", "enter", "return", "look", "open", "close") and bool(inner.subjects)
    obj = story.thing(things[0], agents[0])
    if doing and not _done(story, inner, agents, obj):
        return False
    spot, room, said = location(story, inner, agents[0], IN)
    if not said and obj and inner.means("put", "move", "grab"):
        spot = story.where.get(obj)
    for agent in agents:
        if obj and (spot or room):
            see(story, clause, agent, obj, spot, room, sees=not clause.verb.negated)
    return bool(spot or room)


def _done(story: StoryState, inner: Clause, agents: Agents, obj: str | None) -> bool:
    """Whether somebody is known to have done what is seen; if it is new it is told now."""
    movers = story.person(inner.subjects[0], agents)
    if not movers:
        return False
    if told_before(story, movers[0], obj):
        return True
    if inner.means("grab"):
        return False
    return (put if inner.means("put") else move)(story, inner, movers[:1])


def looked(story: StoryState, clause: Clause, nouns: Sequence[Noun]) -> bool | None:
    """What somebody who looks into a place sees there: "it was empty", "the milk was there"; None if nobody looks."""
    agent = story.subjects[0] if len(story.subjects) == 1 else None
    spot = story.of(agent).spot if agent else None
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
    seeks = story.of(agent).seeks
    if not here and seeks is None:
        return None
    named = [story.spot(noun, agent) for prep, noun in clause.places if prep in IN and noun.kind == "place"]
    named += [story.spot(noun, agent) for noun in clause.subjects if noun.kind == "place" and nothing]
    if not here and (not named or not _before(story, agent, named[0])):
        return None
    spot = spot if here else named[0]
    sees = not (nothing or clause.verb.negated or words & LACKING)
    things = [noun for noun in nouns if noun.kind == "object" and not set(noun.words) & (MOODS | NOTHINGS)]
    obj = story.thing(things[0], agent) if things else seeks
    if things and obj != seeks and named:
        return None
    if obj and spot:
        see(story, clause, agent, obj, spot, spot.room, sees=sees)
    return True


def _before(story: StoryState, agent: str, spot: Spot) -> bool:
    """Whether somebody is at a place, or in its room looking for something."""
    standing = story.of(agent)
    return spot is standing.spot or (
        standing.seeks is not None and spot.room is not None and spot.room == standing.room
    )

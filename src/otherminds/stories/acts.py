"""What clauses tell of what people do: walking, opening, closing, taking, putting, looking and finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from otherminds.stories.clauses import Clause
from otherminds.stories.lexicon import lexicon
from otherminds.stories.model import Event, Fact, Observation, Verb
from otherminds.stories.phrases import Noun
from otherminds.stories.scene import NEW, Scene, Spot, relation

TOWARDS = frozenset(
    "to into in inside onto on towards toward at through by past for around near beside over up along across beneath under behind down".split()
)
FROM = frozenset(("from", "off", "out of"))
IN = frozenset("in inside into on onto at to within under underneath beneath behind atop upon over".split())
LANDMARKS = frozenset(
    "window door doorway center centre middle end side corner camera wall front screen spot position threshold exit stairs "
    "other entrance edge view frame foot direction way question one fireplace area left right back top rest".split()
)
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

MOODS = frozenset(
    "happy tired hungry thirsty busy ready alone absent gone home away late done surprised pleased satisfied bored sad "
    "hurry friend friends roommates together asleep awake outside sibling siblings brothers sisters colleague here "
    "finished glad hot cold sunny rainy nice roommate flatmates housemates neighbours neighbors couple morning evening "
    "afternoon day night weekend quiet silent sister brother occupied unaware elsewhere back curious empty-handed empty vacant bare clean tidy locked".split()
)

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
    goals = [(prep, noun) for prep, noun in clause.places if prep in TOWARDS]
    away = [noun for prep, noun in clause.places if prep == "out of" or (prep == "from" and clause.means("leave"))]
    if not goals and (away or "outside" in clause.adverbs or {"out", "away", "off"} & set(clause.adverbs)):
        return leave(scene, clause, agents)
    for agent in agents:
        for prep, noun in goals:
            _go(scene, clause, agent, prep, noun)
        if not goals:
            _go_nowhere(scene, clause, agent)
    return True


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
    rooms = [noun for noun in (*clause.objects, *(noun for prep, noun in clause.places if prep in FROM))]
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


def open_(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Opening or closing one or several places."""
    verb: Verb = "close" if clause.means("close") else "open"
    spots = [spot for noun in clause.objects if (spot := handled_place(scene, noun, agents[0])) is not None]
    if len(spots) != len(clause.objects) or not spots:
        return bool(clause.objects) and all(
            n.words[-1] in ("door", "eye", "window", "bottle", "book", "curtain", "light") for n in clause.objects
        )
    for agent in agents:
        for spot in spots:
            standing = scene.of(agent)
            standing.spot, standing.closed = spot, verb == "close"
            standing.room = spot.room or standing.room
            tell(scene, clause, agent, verb, spot=spot)
    return True


def handled_place(scene: Scene, noun: Noun, agent: str) -> Spot | None:
    """The place somebody opens, closes or looks into."""
    standing = scene.of(agent)
    if noun.kind in ("pronoun", "one"):
        spots = [spot for spot in standing.spots or scene.spots if relation(spot.kind) != "on"]
        if noun.words[0] not in ("it", "one", "former", "latter", "itself", "other"):
            return None
        if noun.det in ("another", "second", "third", "other") and spots:
            return scene.spot(
                Noun("place", (*spots[-1].extra, spots[-1].kind), 0, 0, noun.det, room=spots[-1].room or ""), agent
            )
        return spots[-1] if spots else None
    if noun.kind in ("place", "object") and noun.words[-1] not in ("door", "window", "eye", "curtain", "light"):
        if noun.kind == "object" and not lexicon().kind_of(noun.words) and noun.known:
            return None
        return scene.spot(noun, agent)
    return None


def location(scene: Scene, clause: Clause, agent: str, preps: frozenset[str]) -> tuple[Spot | None, str | None, bool]:
    """The place and the room that prepositional phrases and "there" say, and whether they say one at all."""
    spot, room, said = None, None, False
    for prep, noun in clause.places:
        if prep not in preps:
            continue
        if noun.kind == "room":
            room, said = scene.room(noun), True
        elif noun.kind == "place" or (noun.kind == "object" and prep not in ("by", "beside", "near")):
            spot, said = spot or scene.spot(noun, agent), True
        elif noun.words[0] in ("it", "them", "one"):
            spot, said = spot or _last_spot(scene, agent), True
    if spot is None and HERE & set(clause.adverbs):
        spot, said = scene.of(agent).spot or _last_spot(scene, agent), True
    if spot and room and not spot.room and spot.kind in lexicon().furniture:
        spot = scene.spot(Noun("place", (*spot.extra, spot.kind), 0, 0, room=room), agent)
    return spot, room or (spot.room if spot else None), said


def _last_spot(scene: Scene, agent: str) -> Spot | None:
    spots = scene.of(agent).spots or scene.spots
    return spots[-1] if spots else None


def grab(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Taking one or several things, from a stated place or from where the agent is."""
    clause.objects = [noun for noun in clause.objects if noun.words[0] not in ("himself", "herself", "themselves")]
    if not clause.objects:
        return False
    if (
        any(prep in ("to", "into", "onto", "back") for prep, _ in clause.places)
        and clause.verb
        and clause.verb.lemma in ("take", "get", "fetch", "retrieve", "steal")
    ):
        return move(scene, clause, agents)
    if any(noun.kind in ("room", "agent") for noun in clause.objects):
        return False
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            if noun.words[-1] in ("seat", "break", "moment", "nap", "breath", "turn", "look"):
                continue
            group += _grab_one(scene, clause, agent, noun)
        scene.of(agent).handle(group)
    return True


def _grab_one(scene: Scene, clause: Clause, agent: str, noun: Noun) -> list[str]:
    standing = scene.of(agent)
    things = _things(scene, noun, agent)
    spot, room, said = location(scene, clause, agent, FROM | IN - {"to", "by", "beside", "near"})
    found = []
    for obj in things:
        place = spot or placed(scene, noun, obj)
        if place is None and not said and not standing.closed:
            place = standing.spot or _kept(scene, noun, obj, standing.room)
        where = room or (place.room if place else None) or standing.room
        tell(scene, clause, agent, "grab", obj, place, where)
        standing.held.append(obj)
        standing.room = where or standing.room
        if place is not None and place is not standing.spot:
            standing.spot, standing.closed = place, False
        if obj:
            found.append(obj)
            scene.handled.add(obj)
    return found


def _kept(scene: Scene, noun: Noun, obj: str | None, room: str | None) -> Spot | None:
    """Where the thing is, if the story told that, and it can be this very thing."""
    spot = scene.where.get(obj) if obj and noun.det not in NEW else None
    return spot if spot and (room is None or spot.room in (None, room)) else None


def _things(scene: Scene, noun: Noun, agent: str) -> list[str | None]:
    """What a noun phrase stands for, one or several; None for something unknown."""
    word = noun.words[0]
    group = scene.of(agent).group or list(dict.fromkeys(scene.spoken[-2:]))
    plural = word in ("them", "both", "they", "these", "those", "each") or (
        noun.kind == "vague" and noun.det in ("both", "two", "these", "those", "all")
    )
    if plural and group:
        for thing in group:
            scene.mention(thing, agent)
        return list(group)
    return [scene.thing(noun, agent)]


def put(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Putting one or several things somewhere."""
    lemma = clause.verb.lemma if clause.verb else ""
    if not clause.objects and lemma == "put" and any(noun.words[-1] in CLOTHES for _, noun in clause.places):
        return True
    if not clause.objects:
        return lemma in RESTING or (lemma in SLIPPING and walk(scene, clause, agents))
    if any(prep in FROM for prep, _ in clause.places) and not any(prep in IN for prep, _ in clause.places):
        return grab(scene, clause, agents)
    if BODY & {noun.words[-1] for _, noun in clause.places} or BODY & set(" ".join(clause.adverbs).split()):
        return True
    if any(noun.kind in ("room", "agent", "place") for noun in clause.objects):
        return _left_open(clause)
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            for obj in _things(scene, noun, agent):
                if not _put_one(scene, clause, agent, obj):
                    return False
                group += [obj] if obj else []
        scene.of(agent).handle(group)
    return True


CLOTHES = frozenset("hat cap coat jacket shirt scarf sweater glasses glove apron shoe slipper".split())
RESTING = frozenset("lean rest perch settle park hang plop plunk balance stick".split())
SLIPPING = frozenset("slip slide sneak pop drop ease squeeze".split())
BODY = frozenset("arm hand pocket shoulder lap palm belt sleeve grip".split())


def _left_open(clause: Clause) -> bool:
    """Whether something was only left as it is: "leaving the fridge open"."""
    return (
        clause.verb is not None
        and clause.verb.lemma == "leave"
        and bool({"open", "closed", "ajar"} & set(clause.adverbs))
    )


def _put_one(scene: Scene, clause: Clause, agent: str, obj: str | None) -> bool:
    standing = scene.of(agent)
    spot, room, said = location(scene, clause, agent, IN)
    if not said and {"back", "down", "away", "aside"} & ({clause.verb.particle} if clause.verb else set()) | (
        {"back", "down", "away"} & set(clause.adverbs)
    ):
        spot, said = standing.spot, standing.spot is not None
    if not said or (spot is None and room is None):
        return False
    obj = obj if obj is not None else (standing.held[-1] if standing.held else None)
    tell(scene, clause, agent, "put", obj, spot, room)
    if obj in standing.held:
        standing.held.remove(obj)
    standing.room = room or standing.room
    standing.spot, standing.closed = spot, False
    moved(scene, obj, spot)
    return True


def moved(scene: Scene, obj: str | None, spot: Spot | None) -> None:
    """Notes where a thing now is."""
    if obj:
        scene.where[obj] = spot
        scene.handled.add(obj)
        scene.last_moved = obj


def move(scene: Scene, clause: Clause, agents: Agents) -> bool:
    """Moving a thing to a place or a room; without a thing it is walking."""
    if not clause.objects:
        return walk(scene, clause, agents)
    if any(noun.kind in ("room", "agent") for noun in clause.objects):
        return False
    for agent in agents:
        group: list[str] = []
        for noun in clause.objects:
            for obj in _things(scene, noun, agent):
                if not _move_one(scene, clause, agent, obj):
                    return False
                group += [obj] if obj else []
        scene.of(agent).handle(group)
    return True


def _move_one(scene: Scene, clause: Clause, agent: str, obj: str | None) -> bool:
    standing = scene.of(agent)
    goals = [(prep, noun) for prep, noun in clause.places if prep in IN | {"towards", "toward", "through"}]
    if not goals and not HERE & set(clause.adverbs):
        carrying = bool(clause.verb and clause.verb.lemma in ("carry", "bring", "tote", "lug")) and not clause.places
        return carrying or (clause.link in ("when", "while", "as") and told_before(scene, agent, obj))
    rooms = [noun for _, noun in goals if noun.kind == "room"]
    if rooms and len(rooms) == len(goals):
        for noun in rooms:
            standing.room, standing.spot = scene.room(noun), None
            tell(scene, clause, agent, "move", obj, None, standing.room)
        moved(scene, obj, None)
        return True
    spot, room, said = location(scene, replace(clause, places=goals), agent, IN | {"towards", "toward"})
    if spot is None:
        return said and room is not None
    tell(scene, clause, agent, "move", obj, spot, room)
    standing.room, standing.spot, standing.closed = spot.room or standing.room, spot, False
    moved(scene, obj, spot)
    return True


def told_before(scene: Scene, agent: str, obj: str | None) -> bool:
    """Whether the story already told that somebody moved a thing."""
    events = [one for one, _ in scene.timeline if isinstance(one, Event) and one.agent == agent]
    return any(one.obj == obj and one.verb in ("put", "move", "grab") for one in events)


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
    words = {word for noun in clause.objects for word in noun.words} | set(clause.adverbs) | set(clause.unknown)
    return bool({"nothing", "empty", "bare", "none"} & words) or any(
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


ACTS: dict[str, Act] = {
    "walk": walk, "approach": walk, "arrive": walk, "enter": walk, "return": walk, "leave": leave, "follow": follow,
    "open": open_, "close": open_, "grab": grab, "put": put, "move": move, "look": look, "find": find,
}  # fmt: skip

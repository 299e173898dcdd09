"""Stories without end: minds run forward in a household, in groups that give the same question different answers.

The stories of a group share their question and options, word for word, and as much of their course as can be; what
differs is what the question is about: where the thing turned out to be, what was said, where it was brought. Each
option is the right answer equally often, so neither the question alone nor any habit of its wording gives it away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from otherminds.minds.companion import uniform
from otherminds.minds.searcher import Errand, Searcher
from otherminds.stories.homes import BETWEEN_ROOMS
from otherminds.stories.inference import answer_social
from otherminds.stories.model import (
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Hypothesis,
    Knows,
    Observation,
    Polarity,
    Question,
    SocialGoal,
    Utterance,
)
from otherminds.worlds.household import Act, Home, Household, Person, Place, State

MARGIN = 3.0
LONGEST = 40
NAMES = (
    "Ada", "Ben", "Clara", "David", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Karin", "Luis", "Maya", "Nils",
    "Olga", "Pavel", "Rosa", "Samir", "Tara", "Victor", "Wanda", "Yusuf", "Zoe", "Amir", "Bella", "Carlo", "Dora", "Emil",
)  # fmt: skip
THINGS = (
    "apple", "banana", "beer", "book", "bread", "carrot", "cup", "folder", "fork", "juice", "knife", "lemon", "magazine",
    "milk", "mug", "notebook", "onion", "pen", "plate", "potato", "remote control", "scarf", "spoon", "toy", "umbrella",
    "wallet", "wineglass",
)  # fmt: skip
FURNITURE = {
    "kitchen": ("+fridge", "+microwave", "+stove", "+dishwasher", "+cabinet", "table", "counter"),
    "living room": ("+cabinet", "sofa", "coffee table", "desk", "shelf", "+drawer"),
    "bedroom": ("coffee table", "desk", "bed", "+wardrobe", "+drawer"),
    "bathroom": ("+cabinet", "shelf"),
}

Kind = Literal["social_goal", "belief", "belief_of_goal"]


@dataclass(frozen=True)
class Story:
    """An episode, a question, which option is right, and how many times as likely it is as the next one; `cell` names
    the kind, the polarity and the condition."""

    id: str
    group: str
    cell: str
    kind: Kind
    episode: Episode
    question: Question
    gold: int
    margin: float


@dataclass(frozen=True)
class Cast:
    """Who and what a group of stories is about: two people, the thing, three places where it may be, another thing."""

    home: Home
    seeker: str
    companion: str
    thing: str
    places: tuple[str, str, str]
    chore: tuple[str, str, str]


class _Dull(Exception):
    """What the minds did gives no good story; another is drawn."""


def invent(n: int, rng: np.random.Generator, first: int = 0) -> Iterator[Story]:
    """`n` stories (the last group may be cut), every cell of the design in turn; groups are numbered from `first`."""
    made, order = 0, tuple(CELLS)
    while made < n:
        cell = order[(made // 3) % len(order)]
        for story in _group(cell, f"{first + made // 3:06d}", rng):
            if made < n:
                yield story
                made += 1


def _group(cell: str, name: str, rng: np.random.Generator) -> list[Story]:
    while True:
        try:
            stories = _try(cell, name, rng)
        except _Dull:
            continue
        if stories is not None:
            return stories


def _try(cell: str, name: str, rng: np.random.Generator) -> list[Story] | None:
    """Three stories, one for each right answer, or None if one of the answers is not clear enough."""
    cast = _cast(rng)
    kind, polarity, condition = CELLS[cell]
    question, courses = DESIGNS[kind](cast, polarity, condition, rng)
    order = rng.permutation(3)
    options = tuple(question.options[i] for i in order)
    stories = []
    for right, timeline in enumerate(courses):
        gold = int(np.flatnonzero(order == right)[0])
        asked = replace(question, id=f"{name}-{right}", options=options)
        episode = _episode(f"{name}-{right}", cast, timeline)
        margin = clearness(episode, asked, gold)
        if margin < MARGIN:
            return None
        stories.append(Story(episode.id, name, cell, kind, episode, asked, gold, margin))
    return stories


def clearness(episode: Episode, question: Question, gold: int) -> float:
    """How many times as likely (for LEAST: unlikely) as the next option the gold one is; below 1 if it is wrong."""
    posterior = np.array(answer_social(episode, question, explain=False).posterior)
    if question.polarity == "least":
        return float(np.delete(posterior, gold).min() / max(posterior[gold], 1e-300))
    return float(posterior[gold] / max(np.delete(posterior, gold).max(), 1e-300))


def _home(rng: np.random.Generator) -> Home:
    """Three or four rooms, two or three places each."""
    rooms = [str(room) for room in rng.permutation(list(FURNITURE))[: rng.integers(3, 5)]]
    places = []
    for room in rooms:
        for name in rng.permutation(FURNITURE[room])[: rng.integers(2, 4)]:
            places.append(Place(f"{room} {name.lstrip('+')}", room, name.startswith("+")))
    steps = tuple(tuple(0 if a == b else BETWEEN_ROOMS for b in rooms) for a in rooms)
    return Home(tuple(rooms), tuple(places), steps)


HOMES = tuple(_home(rng) for rng in np.random.default_rng(20261122).spawn(48))


def _cast(rng: np.random.Generator) -> Cast:
    home = HOMES[rng.integers(len(HOMES))]
    seeker, companion = (str(name) for name in rng.choice(NAMES, 2, replace=False))
    thing, other = (str(thing) for thing in rng.choice(THINGS, 2, replace=False))
    five = [home.places[i].name for i in rng.choice(len(home.places), 5, replace=False)]
    return Cast(home, seeker, companion, thing, (five[0], five[1], five[2]), (other, five[3], five[4]))


def _episode(name: str, cast: Cast, timeline: Sequence[Happening]) -> Episode:
    people = (cast.seeker, cast.companion)
    entities = [
        *(Entity(person, "agent") for person in people),
        *(Entity(room, "room") for room in cast.home.rooms),
        *(Entity(place.name, "place", place.room, "in" if place.closes else "on") for place in cast.home.places),
        *(Entity(thing, "object") for thing in (cast.thing, cast.chore[0])),
    ]
    timed = tuple(replace(happening, t=t) for t, happening in enumerate(timeline))
    rooms = tuple(Fact("in_room", person, cast.home.rooms[k]) for k, person in enumerate(people))
    return Episode(name, people, tuple(entities), rooms, timed, complete=True)


def happening(home: Home, agent: str, act: Act) -> Happening | None:
    """The story's word for an act; None for doing nothing."""
    match act.do:
        case "walk":
            place = home.place.get(act.place or "")
            return Event(0, agent, "walk", place=act.place if place else None, room=place.room if place else act.place)
        case "open" | "close" | "grab" | "put":
            return Event(0, agent, act.do, obj=act.thing, place=act.place)
        case "ask":
            return Utterance(0, agent, "ask", Fact("at", act.thing or ""))
        case "tell":
            return Utterance(0, agent, "assert", Fact("at", act.thing or "", act.place))
        case "unsure":
            return Utterance(0, agent, "unsure", Fact("at", act.thing or ""))
        case _:
            return None


class _Scene:
    """A household in which one person after another acts; what they do becomes the timeline."""

    def __init__(self, cast: Cast, thing_at: str) -> None:
        home, (chore, lies, _) = cast.home, cast.chore
        people = ((cast.seeker, Person(home.rooms[0])), (cast.companion, Person(home.rooms[1])))
        self.state = State(people, ((cast.thing, thing_at), (chore, lies)))
        self.world = Household(home, (cast.seeker, cast.companion), self.state)
        self.home, self.timeline = home, list[Happening]()

    def copy(self, thing: str, place: str) -> _Scene:
        """The same course so far, but with the thing somewhere else."""
        other = object.__new__(_Scene)
        other.world, other.home, other.timeline = self.world, self.home, list(self.timeline)
        things = tuple((name, place if name == thing else at) for name, at in self.state.things)
        other.state = replace(self.state, things=things)
        return other

    def do(self, agent: str, act: Act) -> None:
        """Let somebody act."""
        self.state = self.world.act(self.state, agent, act)
        told = happening(self.home, agent, act)
        if told is not None:
            self.timeline.append(told)

    def run(self, mind: Searcher, rng: np.random.Generator, until: str, avoid: Sequence[str] = ()) -> Searcher:
        """Run a mind forward until it does `until`; not having looked into the places to avoid.

        Raises _Dull if that does not happen.
        """
        for _ in range(LONGEST):
            view = self.world.observe(self.state, mind.name)
            if any(place in view.places for place in avoid):
                raise _Dull
            mind = mind.observe(view)
            act = mind.act().sample(rng)
            self.do(mind.name, act)
            if act.do == until:
                return self.show(mind)
        raise _Dull

    def show(self, mind: Searcher) -> Searcher:
        """The mind after it has seen how things stand, and heard what was just said."""
        return mind.observe(self.world.observe(self.state, mind.name))


def _searcher(cast: Cast, name: str, errand: Errand, company: bool = False) -> Searcher:
    return Searcher(cast.home, name, errand, uniform(cast.home), company=company, overlooks=0.0)


def _chore(scene: _Scene, cast: Cast, rng: np.random.Generator) -> None:
    """The companion goes on with something of its own; half of the time nothing is told of it."""
    if rng.random() < 0.5:
        thing, lies, to = cast.chore
        mind = replace(_searcher(cast, cast.companion, Errand(thing, to)), found=lies)
        scene.run(mind, rng, "put")


def _asks(cast: Cast, rng: np.random.Generator, avoid: Sequence[str]) -> tuple[_Scene, Searcher]:
    """The seeker searches until it asks, without having looked where the thing is, or is said to be."""
    scene = _Scene(cast, avoid[0])
    if rng.random() < 0.5:
        scene.do(cast.companion, Act("walk", None, cast.home.rooms[int(rng.integers(len(cast.home.rooms)))]))
    return scene, scene.run(_searcher(cast, cast.seeker, Errand(cast.thing), True), rng, "ask", avoid)


def _looks_into(scene: _Scene, cast: Cast, place: str, sees: bool) -> None:
    """The companion looks into a place, out of sight of the seeker, and sees that the thing is, or is not, there."""
    there = cast.home.place[place]
    if scene.state.person(cast.seeker).room == there.room:
        raise _Dull
    if scene.state.person(cast.companion).room != there.room:
        scene.do(cast.companion, Act("walk", None, there.room))
    if there.closes:
        scene.do(cast.companion, Act("walk", None, place))
        scene.do(cast.companion, Act("open", None, place))
    scene.timeline.append(Observation(0, cast.companion, Fact("at", cast.thing, place), sees))
    if there.closes:
        scene.do(cast.companion, Act("close", None, place))


def _social(
    cast: Cast, polarity: Polarity, condition: str, rng: np.random.Generator
) -> tuple[Question, list[list[Happening]]]:
    """Did the companion help, hinder, or not care? The thing is where it says, elsewhere, or (MOST) nothing is said of
    it, (LEAST) nobody finds out where it is."""
    claimed, elsewhere, _ = cast.places
    if cast.home.place[claimed].room == cast.home.place[elsewhere].room:
        raise _Dull
    seen = condition == "seen"
    question = Question(
        "",
        tuple(Hypothesis((SocialGoal(cast.companion, cast.seeker, s),)) for s in ("help", "hinder", "independent")),
        polarity,
        () if seen else (Knows(cast.companion, claimed),),
        kind="social_goal",
    )
    most = polarity == "most"
    courses = []
    seed = int(rng.integers(2**63))
    for truth, says, shown in (
        (claimed if most else elsewhere, True, True),
        (elsewhere if most else claimed, True, True),
        (claimed, not most, most),
    ):
        again = np.random.default_rng(seed)
        scene = _Scene(cast, truth)
        if seen and shown:
            _looks_into(scene, cast, truth, True)
        mind = scene.run(_searcher(cast, cast.seeker, Errand(cast.thing), True), again, "ask", (claimed, elsewhere))
        if says:
            scene.do(cast.companion, Act("tell", cast.thing, claimed))
        else:
            scene.timeline.append(Utterance(0, cast.companion, "silence"))
        mind = scene.show(mind)
        _chore(scene, cast, again)
        if shown:
            scene.run(mind, again, "grab")
        courses.append(scene.timeline)
    return question, courses


def _belief(
    cast: Cast, polarity: Polarity, condition: str, rng: np.random.Generator
) -> tuple[Question, list[list[Happening]]]:
    """Where did the companion believe the thing to be, given that it helped or hindered? What it says turns from story
    to story; if the answer is not what it says, it has looked into one of the other places and found nothing."""
    places = cast.places
    given: Claim = SocialGoal(cast.companion, cast.seeker, "help" if condition == "help" else "hinder")
    options = tuple(Hypothesis((Belief(cast.companion, Fact("at", cast.thing, place)),)) for place in places)
    question = Question("", options, polarity, (given,), kind="belief")
    plain = (condition, polarity) in (("help", "most"), ("hinder", "least"))
    courses, seed = [], int(rng.integers(2**63))
    for right in range(3):
        again = np.random.default_rng(seed)
        scene = _Scene(cast, places[right])
        says, empty = (right, None) if plain else ((right + 1) % 3, (right + 2) % 3)
        if not plain and condition == "help":
            empty = right
            scene = _Scene(cast, places[(right + 2) % 3])
        if empty is not None:
            _looks_into(scene, cast, places[empty], False)
        mind = scene.run(_searcher(cast, cast.seeker, Errand(cast.thing), True), again, "ask", places)
        scene.do(cast.companion, Act("tell", cast.thing, places[says]))
        mind = scene.show(mind)
        _chore(scene, cast, again)
        scene.do(cast.seeker, scene.show(mind).act().sample(again))
        courses.append(scene.timeline)
    return question, courses


def _wants(
    cast: Cast, polarity: Polarity, condition: str, rng: np.random.Generator
) -> tuple[Question, list[list[Happening]]]:
    """Where did the companion believe the seeker wants the thing, and was it to help? The seeker puts it somewhere; the
    companion brings it elsewhere."""
    who, whom, thing = cast.companion, cast.seeker, cast.thing
    spare = [place.name for place in cast.home.places if place.name not in cast.places]
    other, start = (str(place) for place in rng.choice(spare, 2, replace=False)) if len(spare) > 1 else (_dull(), "")

    def wants(place: str | None, kind: Literal["help", "hinder", "independent"]) -> Hypothesis:
        content = None if place is None else Fact("at", thing, place)
        return Hypothesis((Belief(who, Goal(whom, content)), SocialGoal(who, whom, kind)))

    a, b, c = cast.places
    if condition == "mixed":
        options = (wants(a, "help"), wants(a, "hinder"), wants(None, "independent"))
        moves = ((b, a), (a, b), (b, c))
    elif condition == "help":
        options = (wants(a, "help"), wants(b, "help"), wants(c, "help"))
        moves = ((other, a), (other, b), (other, c))
    else:
        options = (wants(a, "hinder"), wants(b, "hinder"), wants(c, "hinder"))
        moves = ((a, other), (b, other), (c, other)) if polarity == "most" else ((other, a), (other, b), (other, c))
    question = Question("", options, polarity, kind="belief_of_goal")
    return question, [_moves(cast, start, from_, to, rng) for from_, to in moves]


def _moves(cast: Cast, start: str, from_: str, to: str, rng: np.random.Generator) -> list[Happening]:
    scene = _Scene(cast, start)
    scene.run(replace(_searcher(cast, cast.seeker, Errand(cast.thing, from_)), found=start), rng, "put")
    away = [room for room in cast.home.rooms if room != cast.home.place[from_].room]
    scene.do(cast.seeker, Act("walk", None, str(rng.choice(away))))
    scene.run(replace(_searcher(cast, cast.companion, Errand(cast.thing, to)), found=from_), rng, "put")
    return scene.timeline


def _dull() -> str:
    raise _Dull


DESIGNS = {"social_goal": _social, "belief": _belief, "belief_of_goal": _wants}
_DESIGN: tuple[tuple[Kind, Polarity, str], ...] = (
    ("social_goal", "most", "knows"),
    ("belief", "most", "help"),
    ("belief_of_goal", "most", "help"),
    ("social_goal", "least", "knows"),
    ("belief", "least", "hinder"),
    ("belief_of_goal", "least", "hinder"),
    ("social_goal", "most", "seen"),
    ("belief", "most", "hinder"),
    ("belief_of_goal", "most", "hinder"),
    ("social_goal", "least", "seen"),
    ("belief", "least", "help"),
    ("belief_of_goal", "most", "mixed"),
)
CELLS = {"/".join(cell): cell for cell in _DESIGN}

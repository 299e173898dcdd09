"""What the happenings of a story say of a companion's mind, one factor each, over few variables at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from otherminds.stories.homes import acts_of_event, opening_of, room_of, steps_before
from otherminds.stories.model import Episode, Event, Happening, Observation, Utterance
from otherminds.worlds.household.agent import RESERVED, STANCES, SpeakingCosts, replies, uniform_odds
from otherminds.worlds.household.rules import WAIT, Act, Home, Household
from otherminds.worlds.household.searcher import LAPSE, Errand, Searcher, act_count

ILLEGAL = 1e-9

Floats = NDArray[np.float64]
Errands = Mapping[Errand | None, float]


@dataclass(frozen=True)
class Factor:
    """What one happening says, as log p: given the start place T, shape (n,); or, of what the companion saw, given T
    and its belief (0: no idea, 1 + i: place i), shape (n, n + 1); or, of its words, given its belief and stance, shape
    (n + 1, 3); or, of its deeds, given its errand, where None stands for every errand that is not listed."""

    happening: Happening
    places: Floats | None = None
    beliefs: Floats | None = None
    replies: Floats | None = None
    errands: Errands | None = None


def together(one: Factor, other: Factor) -> Factor:
    """What two happenings say together, of which the later is told of."""
    errands = one.errands or other.errands
    if one.errands is not None and other.errands is not None:
        every = {*one.errands, *other.errands}
        errands = {errand: log_p_of(one.errands, errand) + log_p_of(other.errands, errand) for errand in every}
    return Factor(
        other.happening,
        _sum(one.places, other.places),
        _sum(one.beliefs, other.beliefs),
        _sum(one.replies, other.replies),
        errands,
    )


def log_p_of(errands: Errands, errand: Errand | None) -> float:
    """What deeds say for an errand."""
    return errands.get(errand, errands.get(None, 0.0))


def _sum(one: Floats | None, other: Floats | None) -> Floats | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True)
class Evidence:
    """The factors of all happenings, the prior of the companion's belief given T, and where the thing was, given T.

    `believed[T, b]` is the probability of its belief b when it spoke (or at the end), had it seen nothing; `truth[T]`
    is the number of the place where the thing was then, −1 while it was carried. `start` is where the story says the
    thing was at the start, `lies` where it lay before the companion took it.
    """

    home: Home
    factors: tuple[Factor, ...]
    believed: Floats
    truth: NDArray[np.int_]
    start: str | None
    lies: str | None

    @cached_property
    def prior(self) -> Floats:
        """log P(T, b) before anything has happened, up to a constant, shape (n, n + 1)."""
        starts = [self.start in (None, place.name) for place in self.home.places]
        return cast("Floats", np.where(starts, 0.0, math.log(ILLEGAL))[:, None] + np.log(self.believed))


KNOWING, IGNORANT = 0.5, 0.25
SEEING = 0.9999
UNTOLD = 0.1
MISPLACED = 0.1
WANDERING = 0.3
ECHO = 0.3
UNNOTICED = ("walk", "wait")
OVERLOOKED = 0.05
SLIP = 1e-6


@dataclass(frozen=True)
class Roles:
    """Who is who: the thing at issue, who looks for it, and the companion whose mind is read."""

    thing: str
    seeker: str | None
    companion: str | None


def gather(
    episode: Episode, home: Home, roles: Roles, presumed: tuple[Event, ...] = (), costs: SpeakingCosts = RESERVED
) -> Evidence:
    """The evidence of a story for the roles; what a question presumes to have happened counts as its end."""
    run = _Run(episode, home, roles, costs)
    for happening in (*episode.timeline, *presumed):
        run.follow(happening)
    return run.evidence()


@dataclass
class _Run:
    """The story so far: one household without the thing, and minds that have seen no more than that; and for each T
    where the thing would be now, and where the seeker and the companion would have found it."""

    episode: Episode
    home: Home
    roles: Roles
    costs: SpeakingCosts = RESERVED
    factors: list[Factor] = field(default_factory=list)

    def __post_init__(self) -> None:
        opening = opening_of(self.episode, self.home)
        self.start = dict(opening.things).get(self.roles.thing)
        kept = tuple((thing, place) for thing, place in opening.things if thing != self.roles.thing)
        self.state = opening._replace(things=kept)
        self.world = Household(self.home, self.episode.agents, self.state)
        self.where: list[str | None] = [place.name for place in self.home.places]
        self.lies: str | None = self.start
        self.awaited, self.searching = False, True
        self.claimed: set[str] = set()
        self.believed: Floats | None = None
        self.noticed: Happening | None = None
        self.latest: Happening | None = None
        self.learnt: Floats | float = 0.0
        self.truth = np.arange(len(self.where))
        people = len(self.episode.agents) > 1
        self.minds = {
            name: Searcher(self.home, name, Errand(self.roles.thing), uniform_odds(self.home), company=people)
            for name in (self.roles.seeker, self.roles.companion)
            if name is not None and name in self.episode.agents
        }
        self.found: dict[str, list[str | None]] = {name: [None] * len(self.where) for name in self.minds}
        self._look()

    def follow(self, happening: Happening) -> None:
        """Score what happened, and let it happen."""
        self.latest = happening
        match happening:
            case Event():
                for act in acts_of_event(happening, self.home):
                    self._event(happening, act)
            case Utterance():
                self._utterance(happening)
            case Observation():
                self._observation(happening)

    def evidence(self) -> Evidence:
        """What there is to know at the end."""
        if self.believed is None:
            self._speak(self.latest)
        assert self.believed is not None
        return Evidence(self.home, tuple(self.factors), self.believed, self.truth, self.start, self.lies)

    def _speak(self, said: Happening | None) -> None:
        """Take down what the companion may believe now, and what having seen what it has seen says about that."""
        self.truth = np.array([-1 if place is None else self.home.number[place] for place in self.where])
        self.believed = self._beliefs(-1, [None] * len(self.where))
        when = self.noticed or said
        if when is not None and self.roles.companion in self.minds:
            seen = self._beliefs(self.minds[self.roles.companion].unseen, self.found[self.roles.companion])
            learnt = np.log(seen) - np.log(self.believed)
            self.factors.append(Factor(when, beliefs=learnt - self.learnt))
            self.learnt = learnt

    def _event(self, event: Event, act: Act) -> None:
        agent = event.agent
        if agent not in self.episode.agents:
            return
        room = None if event.verb == "move" and act.do == "grab" else room_of(self.home, event)
        for step in steps_before(self.home, self.state.person(agent), self.state.opened, act, room):
            self._happen(agent, step)
        if act.do in ("grab", "put"):
            self._handle(event, act, room)
        elif agent == self.roles.seeker and self.searching:
            self._score(event, self._p(agent, act))
        self._happen(agent, act)

    def _handle(self, event: Event, act: Act, room: str | None) -> None:
        """Somebody takes something or puts it down: it must have been there, and whoever wants it takes it."""
        ours = act.thing == self.roles.thing
        unnamed = act.thing is None and event.agent == self.roles.seeker and self.awaited
        if act.do == "grab" and (ours or unnamed):
            legal = [self._in_reach(place, act.place, room) for place in self.where]
            if any(legal):
                taking = self._taking(event.agent)
                told = [self._told(event, act, place, room) for place in self.where]
                echo = event.source == "video" and act.place is not None and act.place in self.claimed
                among = 1.0 / ECHO if echo else len(self.where)
                self._score(event, [max(taking * p, ILLEGAL) for p in told], among)
                self.awaited = False
                self.searching = self.searching and not unnamed
        if not ours:
            return
        self._carry(event.agent, act.do == "grab")
        if act.do == "grab":
            self.lies = self.lies if self._brought else act.place or self.lies
            self.where = [None] * len(self.where)
        elif act.place is not None:
            if event.agent == self.roles.companion:
                self._errand(event, act)
            elif not self._brought:
                self.lies = act.place
            self.where = [act.place] * len(self.where)

    @property
    def _brought(self) -> bool:
        return any(factor.errands is not None for factor in self.factors)

    def _carry(self, agent: str, holds: bool) -> None:
        hands = [(name, person.holds - {self.roles.thing}) for name, person in self.state.people]
        people = tuple(
            (
                name,
                self.state.person(name)._replace(holds=held | {self.roles.thing} if holds and name == agent else held),
            )
            for name, held in hands
        )
        self.state = self.state._replace(people=people)

    def _errand(self, event: Event, act: Act) -> None:
        done, lapse = Errand(self.roles.thing, act.place), LAPSE / act_count(self.home)
        fits, other = self._noisy(event, np.array([1.0 - LAPSE, lapse]), among=len(self.where))
        self.factors.append(Factor(event, errands={done: float(fits), None: float(other)}))

    def _taking(self, agent: str) -> float:
        """The seeker takes what it wants as soon as it sees it; others may."""
        return 1.0 - self.minds[agent].overlooks if agent == self.roles.seeker else 1.0

    def _told(self, event: Event, act: Act, place: str | None, room: str | None) -> float:
        """P(the taking is told like this | the thing was at the place): that a place was opened is mostly told; who
        watches a video mistakes places for others in the room."""
        if not self._in_reach(place, act.place, room):
            near = event.source == "video" and place is not None and self.home.place[place].room == event.room
            return MISPLACED if near else 0.0
        closed = place is not None and self.home.place[place].closes and place not in self.state.opened
        return UNTOLD if closed and act.place is None else 1.0

    def _in_reach(self, place: str | None, at: str | None, room: str | None) -> bool:
        if place is None:
            return False
        return place == at if at is not None else room is None or self.home.place[place].room == room

    def _utterance(self, said: Utterance) -> None:
        content = said.content
        if said.speaker not in self.episode.agents or (content is None and said.act != "silence"):
            return
        if content is not None and content.subject != self.roles.thing:
            return
        places = self._places_said(said)
        self.claimed |= set(places) if said.act == "assert" else set()
        if said.speaker == self.roles.companion and said.act != "ask":
            self._speak(said)
            self.factors.append(Factor(said, replies=self._reply(said, places)))
        elif said.speaker == self.roles.seeker and said.act == "ask":
            act = Act("ask", self.roles.thing)
            self._score(said, self._p(said.speaker, act))
            self.awaited = True
        for act in _acts_said(said, self.roles.thing, places)[:1]:
            self._happen(said.speaker, act)

    def _places_said(self, said: Utterance) -> tuple[str, ...]:
        """The places an utterance names: one, or all those of a room."""
        value = said.content.value if said.content is not None else None
        if value is not None and value in self.home.place:
            return (value,)
        return tuple(place.name for place in self.home.places if place.room == value)

    def _reply(self, said: Utterance, places: tuple[str, ...]) -> Floats:
        listener = self.roles.seeker or next((a for a in self.episode.agents if a != said.speaker), said.speaker)
        room = self.home.room_number[self.state.person(listener).room]
        table = replies(self.home, room, self.costs)
        names = [act._replace(thing=None) for act in _acts_said(said, self.roles.thing, places)]
        p = sum((table[act] for act in names), np.zeros((len(self.where) + 1, len(STANCES))))
        return self._noisy(said, np.maximum(p, SLIP))

    def _observation(self, seen: Observation) -> None:
        if seen.fact.predicate != "at" or seen.fact.subject != self.roles.thing:
            return
        places = {place.name for place in self.home.places if seen.fact.value in (place.name, place.room)}
        if not places:
            return
        fits = [(place in places) == seen.sees for place in self.where]
        self._score(seen, [1.0 if fit else ILLEGAL for fit in fits], among=len(fits))
        if seen.agent == self.roles.companion:
            self.noticed = seen
        if seen.agent in self.minds:
            mind = self.minds[seen.agent]
            crossed = ~sum(1 << self.home.number[place] for place in places)
            self.minds[seen.agent] = replace(mind, unseen=mind.unseen & crossed)
            if seen.sees and len(places) == 1:
                self.found[seen.agent] = [*places] * len(self.where)

    def _p(self, agent: str, act: Act) -> list[float]:
        """π(act | T) for every T: the same mind, but for where it has found the thing; people walk about, too."""
        mind, found = self.minds[agent], self.found[agent]
        p = {place: mind.prob_knowing(act, place) for place in set(found)}
        if act.do == "walk":
            anywhere = WANDERING / (len(self.home.places) + len(self.home.rooms))
            p = {place: (1.0 - WANDERING) * value + anywhere for place, value in p.items()}
        return [p[place] for place in found]

    def _score(self, happening: Happening, p: Sequence[float], among: float = 0.0) -> None:
        self.factors.append(Factor(happening, places=self._noisy(happening, np.array(p), among)))

    def _noisy(self, happening: Happening, p: Floats, among: float = 0.0) -> Floats:
        """What is told with probability `happening.p` is so; otherwise it was any of as many acts, or places."""
        return cast("Floats", np.log(happening.p * p + (1.0 - happening.p) / (among or act_count(self.home))))

    def _happen(self, agent: str, act: Act) -> None:
        self.state = self.world.act(self.state, agent, act)
        self._look(agent if act.do in UNNOTICED else None)

    def _look(self, only: str | None = None) -> None:
        """Everybody sees what there is to see, or only the one for whom something has changed."""
        for name, mind in self.minds.items():
            if only not in (None, name):
                continue
            view = self.world.observe(self.state, name)
            self.minds[name] = mind.observe(view)
            seen = view.places
            self.found[name] = [
                place if place in seen else None if found in seen else found
                for place, found in zip(self.where, self.found[name], strict=True)
            ]

    def _beliefs(self, unseen: int, found: Sequence[str | None]) -> Floats:
        """P(what the companion believes | T): what it has seen, else it may know, have no idea, or be wrong."""
        numbers = [-1 if place is None else self.home.number[place] for place in found]
        pairs = zip(self.truth.tolist(), numbers, strict=True)
        return np.array([_belief(len(self.where), unseen, truth, seen) for truth, seen in pairs])


@lru_cache(maxsize=1 << 14)
def _belief(n: int, unseen: int, truth: int, found: int) -> Floats:
    table = np.full(n + 1, (1.0 - SEEING) / n)
    if found >= 0:
        table[1 + found] = SEEING
    else:
        table[0] = IGNORANT
        for b in range(n):
            prior = KNOWING if b == truth else (1.0 - KNOWING - IGNORANT) / max(n - 1, 1)
            table[1 + b] = prior * (1.0 if unseen >> b & 1 else OVERLOOKED)
    return cast("Floats", table / table.sum())


def _acts_said(said: Utterance, thing: str, places: tuple[str, ...]) -> tuple[Act, ...]:
    """The acts an utterance may stand for: of a room it tells any of the places there."""
    match said.act:
        case "assert":
            return tuple(Act("tell", thing, place) for place in places)
        case "unsure":
            return (Act("unsure", thing),)
        case "silence":
            return (WAIT,)
        case "ask":
            return (Act("ask", thing),)
        case _:
            return ()

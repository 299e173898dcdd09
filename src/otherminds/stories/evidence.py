"""What a story's happenings say about where a thing was, what a companion believed, wanted, and had in mind to do.

One hypothesis is a place T where the thing at issue was at the start, the companion's belief about it when it spoke,
its stance towards the seeker, where it believes the seeker wants the thing, and its errand. The happenings fall apart
into factors over few of these at a time, so that the posterior over all of them is exact and fast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from otherminds.minds.companion import STANCES, reply, uniform
from otherminds.minds.searcher import LAPSE, Errand, Searcher, acts_of
from otherminds.stories.homes import acts_of_event, opening_of, room_of, steps_before
from otherminds.stories.model import Episode, Event, Happening, Observation, Utterance
from otherminds.worlds.household import WAIT, Act, Home, Household, View

ILLEGAL = 1e-9
KNOWING, IGNORANT = 0.5, 0.25
SEEING = 0.98
SLIP = 1e-5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Roles:
    """Who is who: the thing at issue, who looks for it, and the companion whose mind is read."""

    thing: str
    seeker: str | None
    companion: str | None


@dataclass(frozen=True)
class Factor:
    """What one happening says, as log p: given the start place T, shape (n,); or, of what the companion saw, given T and
    its belief (0: no idea, 1 + i: place i), shape (n, n + 1); or, of its words, given its belief and stance, shape
    (n + 1, 3); or, of its deeds, given its errand, where None stands for every errand that is not listed."""

    happening: Happening
    places: Floats | None = None
    beliefs: Floats | None = None
    replies: Floats | None = None
    errands: Mapping[Errand | None, float] | None = None


@dataclass(frozen=True)
class Evidence:
    """The factors of all happenings, the prior of the companion's belief given T, and where the thing was, given T.

    `believed[T, b]` is the probability of its belief b when it spoke (or at the end), had it seen nothing; `truth[T]` is the number of the place where the thing was then, −1 while it was carried. `start` is where the story
    says the thing was at the start, `lies` where it lay before the companion took it.
    """

    home: Home
    factors: tuple[Factor, ...]
    believed: Floats
    truth: NDArray[np.int_]
    start: str | None
    lies: str | None


def gather(episode: Episode, home: Home, roles: Roles, presumed: tuple[Event, ...] = ()) -> Evidence:
    """The evidence of a story for the roles; what a question presumes to have happened counts as happening at its end."""
    run = _Run(episode, home, roles)
    for happening in (*episode.timeline, *presumed):
        run.follow(happening)
    return run.evidence()


@dataclass
class _Run:
    """The story so far: one shared household without the thing, and for each T where the thing would be and what the
    seeker and the companion would have seen."""

    episode: Episode
    home: Home
    roles: Roles
    factors: list[Factor] = field(default_factory=list)

    def __post_init__(self) -> None:
        opening = opening_of(self.episode, self.home)
        self.start = dict(opening.things).get(self.roles.thing)
        kept = tuple((thing, place) for thing, place in opening.things if thing != self.roles.thing)
        self.state = replace(opening, things=kept)
        self.world = Household(self.home, self.episode.agents, self.state)
        self.where: list[str | None] = [place.name for place in self.home.places]
        self.lies: str | None = self.start
        self.believed: Floats | None = None
        self.noticed: Happening | None = None
        self.minds: dict[str, list[Searcher]] = {}
        people = len(self.episode.agents) > 1
        for name in (self.roles.seeker, self.roles.companion):
            if name is not None and name in self.episode.agents:
                blank = Searcher(self.home, name, Errand(self.roles.thing), uniform(self.home), company=people)
                self.minds[name] = [blank] * len(self.where)
        self._look()

    def follow(self, happening: Happening) -> None:
        """Score what happened, and let it happen."""
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
            self._speak(None)
        assert self.believed is not None
        return Evidence(self.home, tuple(self.factors), self.believed, self.truth, self.start, self.lies)

    def _speak(self, said: Utterance | None) -> None:
        """Take down what the companion may believe now, and what having seen what it has seen says about that."""
        self.truth = np.array([-1 if place is None else self.home.number[place] for place in self.where])
        self.believed = np.array([self._belief(None, int(now)) for now in self.truth])
        minds = self.minds.get(self.roles.companion or "")
        when = self.noticed or said
        if minds is None or when is None:
            return
        seen = np.array([self._belief(mind, int(now)) for mind, now in zip(minds, self.truth, strict=True)])
        self.factors.append(Factor(when, beliefs=np.log(seen) - np.log(self.believed)))

    def _event(self, event: Event, act: Act) -> None:
        agent = event.agent
        if agent not in self.episode.agents:
            return
        room = room_of(self.home, event)
        for step in steps_before(self.home, self.state.person(agent), self.state.opened, act, room):
            self._happen(agent, step)
        if act.do in ("grab", "put"):
            self._handle(event, act, room)
        elif agent == self.roles.seeker:
            self._score(event, self._p(agent, act))
        self._happen(agent, act)

    def _handle(self, event: Event, act: Act, room: str | None) -> None:
        """Somebody takes something or puts it down: it must have been there, and whoever wants it takes it."""
        ours = act.thing == self.roles.thing
        unnamed = act.thing is None and event.agent == self.roles.seeker and None not in self.where
        if act.do == "grab" and (ours or unnamed):
            legal = [self._in_reach(place, act.place, room) for place in self.where]
            if any(legal):
                self._score(event, [self._taking(event.agent, t) if ok else ILLEGAL for t, ok in enumerate(legal)])
        if not ours:
            return
        self._carry(event.agent, act.do == "grab")
        if act.do == "grab":
            self.lies = act.place or self.lies
            self.where = [None] * len(self.where)
        elif act.place is not None:
            if event.agent == self.roles.companion:
                self._errand(event, act)
            else:
                self.lies = act.place
            self.where = [act.place] * len(self.where)

    def _carry(self, agent: str, holds: bool) -> None:
        hands = [(name, person.holds - {self.roles.thing}) for name, person in self.state.people]
        people = tuple(
            (
                name,
                self.state.person(name)._replace(holds=held | {self.roles.thing} if holds and name == agent else held),
            )
            for name, held in hands
        )
        self.state = replace(self.state, people=people)

    def _errand(self, event: Event, act: Act) -> None:
        done, lapse = Errand(self.roles.thing, act.place), LAPSE / acts_of(self.home)
        fits, other = self._noisy(event, np.array([1.0 - LAPSE, lapse]))
        self.factors.append(Factor(event, errands={done: float(fits), None: float(other)}))

    def _taking(self, agent: str, t: int) -> float:
        """The seeker takes what it wants as soon as it sees it; others may."""
        minds = self.minds.get(agent)
        if agent != self.roles.seeker or minds is None:
            return 1.0
        return 1.0 - minds[t].overlooks

    def _in_reach(self, place: str | None, at: str | None, room: str | None) -> bool:
        if place is None:
            return False
        return place == at if at is not None else room is None or self.home.place[place].room == room

    def _utterance(self, said: Utterance) -> None:
        content = said.content
        if content is None or content.subject != self.roles.thing or said.speaker not in self.episode.agents:
            if said.act != "silence":
                return
        places = self._places_said(said)
        if said.speaker == self.roles.companion and said.act != "ask":
            self._speak(said)
            self.factors.append(Factor(said, replies=self._reply(said, places)))
        elif said.speaker == self.roles.seeker and said.act == "ask":
            act = Act("ask", self.roles.thing)
            self._score(said, self._p(said.speaker, act))
        for act in _acts_said(said, self.roles.thing, places)[:1]:
            self._happen(said.speaker, act)

    def _places_said(self, said: Utterance) -> tuple[str, ...]:
        """The places an utterance names: one, or all those of a room."""
        value = said.content.value if said.content is not None else None
        if value is not None and value in self.home.place:
            return (value,)
        return tuple(place.name for place in self.home.places if place.room == value)

    def _reply(self, said: Utterance, places: tuple[str, ...]) -> Floats:
        listener = self.roles.seeker or next(a for a in self.episode.agents if a != said.speaker)
        room = self.home.room_number[self.state.person(listener).room]
        acts = _acts_said(said, self.roles.thing, places)
        beliefs = (None, *range(len(self.home.places)))
        answers = [[reply(self.home, self.roles.thing, b, stance, room) for stance in STANCES] for b in beliefs]
        p = np.array([[sum(table.get(act, 0.0) for act in acts) for table in row] for row in answers])
        return self._noisy(said, np.maximum(p, SLIP))

    def _observation(self, seen: Observation) -> None:
        if seen.fact.predicate != "at" or seen.fact.subject != self.roles.thing:
            return
        places = {place.name for place in self.home.places if seen.fact.value in (place.name, place.room)}
        if not places:
            return
        fits = [(place in places) == seen.sees for place in self.where]
        self._score(seen, [1.0 if fit else ILLEGAL for fit in fits])
        minds = self.minds.get(seen.agent)
        if seen.agent == self.roles.companion:
            self.noticed = seen
        if minds is not None:
            found = next(iter(places)) if seen.sees and len(places) == 1 else None
            crossed = ~sum(1 << self.home.number[place] for place in places)
            self.minds[seen.agent] = [
                replace(mind, found=found) if found else replace(mind, unseen=mind.unseen & crossed) for mind in minds
            ]

    def _p(self, agent: str, act: Act) -> list[float]:
        """π(act | T) for every T; minds that have seen the same are asked once."""
        minds = self.minds[agent]
        policy = {id(mind): mind for mind in minds}
        p = {key: math.exp(mind.act().log_prob(act)) for key, mind in policy.items()}
        return [p[id(mind)] for mind in minds]

    def _score(self, happening: Happening, p: Sequence[float]) -> None:
        self.factors.append(Factor(happening, places=self._noisy(happening, np.array(p))))

    def _noisy(self, happening: Happening, p: Floats) -> Floats:
        """What is told with probability `happening.p` is so; otherwise it could have been any act."""
        return cast("Floats", np.log(happening.p * p + (1.0 - happening.p) / acts_of(self.home)))

    def _happen(self, agent: str, act: Act) -> None:
        self.state = self.world.act(self.state, agent, act)
        self._look()

    def _look(self) -> None:
        """Everybody sees what there is to see; minds that have seen the same stay one and the same."""
        for name, minds in self.minds.items():
            view = self.world.observe(self.state, name)
            fresh: dict[tuple[int, str | None], Searcher] = {}
            for t, mind in enumerate(minds):
                there = self.where[t] if self.where[t] in view.places else None
                key = (id(mind), there)
                if key not in fresh:
                    fresh[key] = mind.observe(_with(view, self.roles.thing, there))
                minds[t] = fresh[key]

    def _belief(self, mind: Searcher | None, truth: int) -> Floats:
        """P(what the companion believes | T): what it has seen, else it may know, have no idea, or be wrong."""
        n = len(self.where)
        table = np.full(n + 1, (1.0 - SEEING) / n)
        if mind is not None and mind.found is not None:
            table[1 + self.home.number[mind.found]] = SEEING
            return cast("Floats", table / table.sum())
        unseen = [b for b in range(n) if mind is None or mind.unseen >> b & 1]
        wrong = [1 + b for b in unseen if b != truth]
        table[wrong] = (1.0 - KNOWING - IGNORANT) / max(len(wrong), 1)
        table[0] = IGNORANT
        if truth in unseen:
            table[1 + truth] = KNOWING
        return cast("Floats", table / table.sum())


def _with(view: View, thing: str, place: str | None) -> View:
    return view if place is None else view._replace(things=view.things | {(thing, place)})


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

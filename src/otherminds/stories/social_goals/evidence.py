"""The evidence of a story about a companion's mind, as factors over few variables at a time.

A hypothesis has a place T where the item was at the start, the companion's belief b about it when it spoke, its stance
s towards the seeker, the place g where it believes the seeker wants the item, and its errand e. Each happening is one
factor over T, (T, b), (b, s) or e, so the posterior over all hypotheses is exact and fast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from otherminds.stories.homes import acts_of_event, held_by, opening_of, room_of, steps_before
from otherminds.stories.model import Episode, Event, Happening, Observation, Utterance
from otherminds.worlds.household.agent import RESERVED, STANCES, SpeakingCosts, replies, uniform_odds
from otherminds.worlds.household.rules import WAIT, Act, Home, Household
from otherminds.worlds.household.searcher import LAPSE, Errand, Searcher, act_count

# Probabilities and weights of the evidence; chosen, not tuned, unless marked DEV: set on MuMA-ToM's development split.
ILLEGAL = 1e-9  # of what the household's rules exclude; keeps contradictory stories answerable
KNOWING, IGNORANT = 0.5, 0.25  # a companion that saw nothing knows the item's place, or has no idea; else it is wrong
SEEING = 0.9999  # a companion that saw the item believes it is there
UNTOLD = 0.1  # a story leaves out that a container was opened
MISPLACED = 0.1  # DEV; a video model reports another place of the same room
WANDERING = 0.3  # a walk serves no purpose: its target is uniform over places and rooms
ECHO = 0.3  # DEV; probability of a false report of a grab at a place just spoken of (video models echo the talk)
OVERLOOKED = 0.05  # weight of a place into which the companion has looked without finding the item
SLIP = 1e-6  # least probability of a reply
UNNOTICED = ("walk", "wait")  # acts after which nobody but the agent sees anything new

Floats = NDArray[np.float64]
Errands = Mapping[Errand | None, float]


@dataclass(frozen=True)
class Factor:
    """log p(happening | …) in nats, as tables over the variables it depends on; the others are 0.

    `places`: given T, shape (n, 1) for n places. `beliefs`: given T and b, shape (n, n + 1), with b = 0 for no idea and
    1 + i for place i. `replies`: given s and b, shape (3, n + 1). `errands`: given e; None is any errand not listed.
    """

    happening: Happening
    places: Floats | float = 0.0
    beliefs: Floats | float = 0.0
    replies: Floats = field(default_factory=lambda: np.zeros((len(STANCES), 1)))
    errands: Errands = field(default_factory=dict)


def together(earlier: Factor, later: Factor) -> Factor:
    """The sum of two factors, at the happening of `later`."""
    places, beliefs, replies = (
        earlier.places + later.places,
        earlier.beliefs + later.beliefs,
        earlier.replies + later.replies,
    )
    every = {*earlier.errands, *later.errands}
    errands = {errand: log_p_of(earlier.errands, errand) + log_p_of(later.errands, errand) for errand in every}
    return Factor(later.happening, places, beliefs, replies, errands)


def log_p_of(errands: Errands, errand: Errand | None) -> float:
    """log p(acts | errand), in nats; errands that are not listed share the entry None."""
    return errands.get(errand, errands.get(None, 0.0))


@dataclass(frozen=True)
class Evidence:
    """All factors of a story, and what they are relative to.

    `believed[T, b]` is P(b | T) of the companion when it spoke (or at the end), had it seen nothing; `truth[T]` is the
    number of the item's place at that time, −1 while carried. `start` is the item's place at the start as the story
    states it (None if it does not), `lies` its place before the companion took it.
    """

    home: Home
    factors: tuple[Factor, ...]
    believed: Floats
    truth: NDArray[np.int_]
    start: str | None
    lies: str | None

    @cached_property
    def prior(self) -> Floats:
        """log P(T, b) before the first happening, up to a constant, shape (n, n + 1)."""
        starts = [self.start in (None, place.name) for place in self.home.places]
        return cast("Floats", np.where(starts, 0.0, math.log(ILLEGAL))[:, None] + np.log(self.believed))


@dataclass(frozen=True)
class Roles:
    """The item at issue, the person who searches for it, and the companion whose mind is inferred."""

    thing: str
    seeker: str | None
    companion: str | None


def gather(
    episode: Episode, home: Home, roles: Roles, presumed: tuple[Event, ...] = (), costs: SpeakingCosts = RESERVED
) -> Evidence:
    """The evidence of a story about the roles; the events that a question presumes follow its end."""
    run, course = _Run(episode, home, roles, costs), (*episode.timeline, *presumed)
    for happening in course:
        run.follow(happening)
    return run.evidence(course[-1] if course else None)


class _Run:
    """The story so far, for all start places T at once.

    There is one household without the item, and one mind a person that has seen only that; lists with an entry for each
    T say where the item would be now (`where`), and where each person would have found it (`found`).
    """

    def __init__(self, episode: Episode, home: Home, roles: Roles, costs: SpeakingCosts) -> None:
        """The state before the first happening.

        For each place T where the item may have been at the start (index as in `home.places`): `where` is its place
        now, None while it is held, and `found` for each agent the place where it saw the item, None if it has not.
        `lies` is its place according to the story. `awaited`: the seeker has asked for the item; `searching`: it has
        not taken it yet. `believed` is P(b | T) when the companion speaks, had it seen nothing, `learnt` the change of
        its logarithm by what the companion has seen that the factors have already, and `noticed` the last happening
        that it saw of the item.
        """
        self.episode, self.home, self.roles, self.costs = episode, home, roles, costs
        self.factors: list[Factor] = []
        opening = opening_of(self.episode, self.home)
        self.start = dict(opening.things).get(self.roles.thing)
        other_things = tuple((thing, place) for thing, place in opening.things if thing != self.roles.thing)
        self.state = opening._replace(things=other_things)
        self.world = Household(self.home, self.episode.agents, self.state)
        self.where: list[str | None] = [place.name for place in self.home.places]
        self.lies: str | None = self.start
        self.awaited, self.searching = False, True
        self.claimed: set[str] = set()
        self.believed: Floats | None = None
        self.noticed: Happening | None = None
        self.learnt: Floats | float = 0.0
        people = len(self.episode.agents) > 1
        self.minds = {
            name: Searcher(self.home, name, Errand(self.roles.thing), uniform_odds(self.home), company=people)
            for name in (self.roles.seeker, self.roles.companion)
            if name is not None and name in self.episode.agents
        }
        self.found: dict[str, list[str | None]] = {name: [None] * len(self.where) for name in self.minds}
        self._look()

    def follow(self, happening: Happening) -> None:
        """Add the factors of a happening to the evidence, then apply it to the state."""
        match happening:
            case Event():
                for act in acts_of_event(happening, self.home):
                    self._event(happening, act)
            case Utterance():
                self._utterance(happening)
            case Observation():
                self._observation(happening)

    def evidence(self, last: Happening | None) -> Evidence:
        """The evidence at the end of the story, after its `last` happening."""
        if self.believed is None:
            self._speak(last)
        assert self.believed is not None
        return Evidence(self.home, tuple(self.factors), self.believed, self.truth, self.start, self.lies)

    def _speak(self, happening: Happening | None) -> None:
        """Record the prior P(b | T) as of now, and add the factor of what the companion has seen."""
        self.truth = np.array([-1 if place is None else self.home.number[place] for place in self.where])
        self.believed = self._beliefs(-1, [None] * len(self.where))
        source = self.noticed or happening
        if source is not None and self.roles.companion in self.minds:
            posterior = self._beliefs(self.minds[self.roles.companion].unseen, self.found[self.roles.companion])
            learnt = np.log(posterior) - np.log(self.believed)
            self.factors.append(Factor(source, beliefs=learnt - self.learnt))
            self.learnt = learnt

    def _event(self, event: Event, act: Act) -> None:
        """Score an act that is part of an event if it is the seeker’s, then apply it, after the steps left out."""
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
        """A grab is evidence about T, as the item must have been there; a put, about the companion's errand."""
        ours = act.thing == self.roles.thing
        unnamed = act.thing is None and event.agent == self.roles.seeker and self.awaited
        if act.do == "grab" and (ours or unnamed):
            legal = [self._in_reach(place, act.place, room) for place in self.where]
            if any(legal):
                # the seeker takes the item as soon as it notices it; others may take it
                taking = 1.0 - self.minds[event.agent].overlooks if event.agent == self.roles.seeker else 1.0
                p_report = [self._told(event, act, place, room) for place in self.where]
                echo = event.source == "video" and act.place is not None and act.place in self.claimed
                among = 1.0 / ECHO if echo else len(self.where)
                self._score(event, [max(taking * p, ILLEGAL) for p in p_report], among)
                self.awaited = False
                self.searching = self.searching and not unnamed
        if not ours:
            return
        self.state = held_by(self.state, self.roles.thing, event.agent if act.do == "grab" else None)
        if act.do == "grab":
            self.lies = self.lies if self._brought else act.place or self.lies
            self.where = [None] * len(self.where)
        elif act.place is not None:
            if event.agent == self.roles.companion:
                done, lapse = Errand(self.roles.thing, act.place), LAPSE / act_count(self.home)
                fits, lapsed = self._noisy(event, np.array([1.0 - LAPSE, lapse]), among=len(self.where))
                self.factors.append(Factor(event, errands={done: float(fits), None: float(lapsed)}))
            elif not self._brought:
                self.lies = act.place
            self.where = [act.place] * len(self.where)

    @property
    def _brought(self) -> bool:
        return any(factor.errands for factor in self.factors)

    def _told(self, event: Event, act: Act, place: str | None, room: str | None) -> float:
        """P(the grab is reported like this | the item was at `place`).

        Stories mostly report that a container was opened; video models confuse the places of a room.
        """
        if not self._in_reach(place, act.place, room):
            near = event.source == "video" and place is not None and self.home.place[place].room == event.room
            return MISPLACED if near else 0.0
        closed = place is not None and self.home.place[place].closes and place not in self.state.opened
        return UNTOLD if closed and act.place is None else 1.0

    def _in_reach(self, place: str | None, agent_place: str | None, room: str | None) -> bool:
        """Whether a place is where the agent is: the very place if that is known, else the room, if that is known."""
        if place is None:
            return False
        return place == agent_place if agent_place is not None else room is None or self.home.place[place].room == room

    def _utterance(self, utterance: Utterance) -> None:
        """Score a question of the seeker, or an answer of the companion, about the item; then let the minds hear it."""
        content = utterance.content
        if utterance.speaker not in self.episode.agents or (content is None and utterance.act != "silence"):
            return
        if content is not None and content.subject != self.roles.thing:
            return
        value = content.value if content is not None else None
        room = [place.name for place in self.home.places if place.room == value]  # a room stands for all its places
        places = (value,) if value is not None and value in self.home.place else tuple(room)
        self.claimed |= set(places) if utterance.act == "assert" else set()
        if utterance.speaker == self.roles.companion and utterance.act != "ask":
            self._speak(utterance)
            self.factors.append(Factor(utterance, replies=self._reply(utterance, places).T))
        elif utterance.speaker == self.roles.seeker and utterance.act == "ask":
            self._score(utterance, self._p(utterance.speaker, Act("ask", self.roles.thing)))
            self.awaited = True
        for act in _acts_said(utterance, self.roles.thing, places)[:1]:
            self._happen(utterance.speaker, act)

    def _reply(self, reply: Utterance, places: tuple[str, ...]) -> Floats:
        """P(reply | b, stance), shape (n + 1, stances), summed over the replies that the utterance may be."""
        listener = self.roles.seeker or next((a for a in self.episode.agents if a != reply.speaker), reply.speaker)
        room = self.home.room_number[self.state.person(listener).room]
        table = replies(self.home, room, self.costs)
        names = [act._replace(thing=None) for act in _acts_said(reply, self.roles.thing, places)]
        p = sum((table[act] for act in names), np.zeros((len(self.where) + 1, len(STANCES))))
        return self._noisy(reply, np.maximum(p, SLIP))

    def _observation(self, observation: Observation) -> None:
        """Score what is seen of the item's place, and note it in the mind of the agent that sees it."""
        if observation.fact.predicate != "at" or observation.fact.subject != self.roles.thing:
            return
        places = {place.name for place in self.home.places if observation.fact.value in (place.name, place.room)}
        if not places:
            return
        fits = [(place in places) == observation.sees for place in self.where]
        self._score(observation, [1.0 if fit else ILLEGAL for fit in fits], among=len(fits))
        if observation.agent == self.roles.companion:
            self.noticed = observation
        if observation.agent in self.minds:
            mind = self.minds[observation.agent]
            crossed = ~sum(1 << self.home.number[place] for place in places)
            self.minds[observation.agent] = replace(mind, unseen=mind.unseen & crossed)
            if observation.sees and len(places) == 1:
                self.found[observation.agent] = [*places] * len(self.where)

    def _p(self, agent: str, act: Act) -> list[float]:
        """π(act | T) for every T: one mind, with the place where it has found the item; walks may be aimless."""
        mind, found_places = self.minds[agent], self.found[agent]
        p = {place: mind.prob_knowing(act, place) for place in set(found_places)}
        if act.do == "walk":
            anywhere = WANDERING / (len(self.home.places) + len(self.home.rooms))
            p = {place: (1.0 - WANDERING) * value + anywhere for place, value in p.items()}
        return [p[place] for place in found_places]

    def _score(self, happening: Happening, p: Sequence[float], among: float = 0.0) -> None:
        self.factors.append(Factor(happening, places=self._noisy(happening, np.array(p), among)[:, None]))

    def _noisy(self, happening: Happening, p: Floats, among: float = 0.0) -> Floats:
        """log of p, mixed with a uniform distribution over `among` alternatives (0: all acts) of weight 1 − p(told)."""
        return cast("Floats", np.log(happening.p * p + (1.0 - happening.p) / (among or act_count(self.home))))

    def _happen(self, agent: str, act: Act) -> None:
        self.state = self.world.act(self.state, agent, act)
        self._look(agent if act.do in UNNOTICED else None)

    def _look(self, only: str | None = None) -> None:
        """Let all persons, or `only` one, observe the household."""
        for name, mind in self.minds.items():
            if only not in (None, name):
                continue
            view = self.world.observe(self.state, name)
            self.minds[name], visible = mind.observe(view), view.places
            self.found[name] = [
                place if place in visible else None if known_place in visible else known_place
                for place, known_place in zip(self.where, self.found[name], strict=True)
            ]

    def _beliefs(self, unseen: int, found_places: Sequence[str | None]) -> Floats:
        """P(b | T) of the companion, shape (n, n + 1), from the places it has not seen (bits) and where it found it."""
        numbers = [-1 if place is None else self.home.number[place] for place in found_places]
        pairs = zip(self.truth.tolist(), numbers, strict=True)
        return np.array([_belief(len(self.where), unseen, truth, found_at) for truth, found_at in pairs])


@lru_cache(maxsize=1 << 14)
def _belief(n: int, unseen: int, truth: int, found_at: int) -> Floats:
    """P(b | unseen, truth, found_at), shape (n + 1,): index 0 is no idea, 1 + i the belief that it is in place i.

    `unseen` has a bit for each place that the agent has not looked into, `truth` is the item's place, and `found_at`
    the place where the agent saw it, or -1.
    """
    table = np.full(n + 1, (1.0 - SEEING) / n)
    if found_at >= 0:
        table[1 + found_at] = SEEING
    else:
        table[0] = IGNORANT
        for b in range(n):
            prior = KNOWING if b == truth else (1.0 - KNOWING - IGNORANT) / max(n - 1, 1)
            table[1 + b] = prior * (1.0 if unseen >> b & 1 else OVERLOOKED)
    return cast("Floats", table / table.sum())


def _acts_said(utterance: Utterance, thing: str, places: tuple[str, ...]) -> tuple[Act, ...]:
    """The household acts that an utterance may stand for; naming a room stands for any of its places."""
    tells = tuple(Act("tell", thing, place) for place in places)
    acts = {"assert": tells, "unsure": (Act("unsure", thing),), "silence": (WAIT,), "ask": (Act("ask", thing),)}
    return acts.get(utterance.act, ())

"""What a story looks like through eyes that err: happenings missed, mistaken for others, or made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from otherminds.errors import InputError
from otherminds.stories.model import Episode, Event, Happening


@dataclass(frozen=True)
class Noise:
    """How often what happens is seen wrong; all are probabilities.

    `drop`: an event is missed. `unnamed`: it is not seen which thing is handled; `rename`: of those that are named,
    the thing is taken for another. `misplace`: the place is taken for another in the same room. `swap`: somebody is
    taken for somebody else. `invent`: for every grab, seen or not, another one is seen that never was.
    """

    drop: float = 0.0
    unnamed: float = 0.0
    rename: float = 0.0
    misplace: float = 0.0
    swap: float = 0.0
    invent: float = 0.0

    def __post_init__(self) -> None:
        """Raises InputError if one of them is no probability."""
        for field in fields(self):
            p = getattr(self, field.name)
            if not 0.0 <= p <= 1.0:
                raise InputError(f"{field.name}: {p} is not a probability", hint="give a number from 0 to 1")


VIDEO_MODEL = Noise(drop=0.55, unnamed=0.46, rename=0.465, misplace=0.15, swap=0.1, invent=0.595)
"""Sees as badly as a video model did in the conversations of MuMA-ToM: of the things that are grabbed it names 13 %,
and 23 % of those it names were grabbed; of about two grabs in a story one is "some object" in 103 stories of 150."""


def seen_through(episode: Episode, noise: Noise, rng: np.random.Generator) -> Episode:
    """The episode as somebody reports it who sees with this noise; what is said, and what it says that others saw,
    stays as it is.

    Every event carries the probability that there was such an event: what it names (who, which thing, which place) is
    right, and what it leaves open is no error.
    """
    eyes = _Eyes(episode, noise)
    seen: list[tuple[int, Happening]] = []
    for number, happening in enumerate(episode.timeline):
        if not isinstance(happening, Event):
            seen.append((number, happening))
        elif rng.random() >= noise.drop:
            seen.append((number, eyes.see(happening, rng)))
    for happening in episode.timeline:
        if isinstance(happening, Event) and happening.verb == "grab" and rng.random() < noise.invent:
            seen.append(eyes.make_up(happening, rng))
    return replace(episode, timeline=tuple(happening for _, happening in sorted(seen, key=lambda pair: pair[0])))


@dataclass(frozen=True)
class _Eyes:
    """Sees the events of an episode, each through the same noise."""

    episode: Episode
    noise: Noise

    @cached_property
    def agents(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.episode.agents, *(event.agent for event in self._events))))

    @cached_property
    def things(self) -> tuple[str, ...]:
        named = [entity.id for entity in self.episode.entities if entity.kind == "object"]
        return tuple(dict.fromkeys((*named, *(event.obj for event in self._events if event.obj is not None))))

    @cached_property
    def near(self) -> Mapping[str, tuple[str, ...]]:
        """The other places in the room of each place."""
        places = [entity for entity in self.episode.entities if entity.kind == "place" and entity.room is not None]
        return {
            here.id: tuple(there.id for there in places if there.room == here.room and there.id != here.id)
            for here in places
        }

    @cached_property
    def _events(self) -> tuple[Event, ...]:
        return tuple(happening for happening in self.episode.timeline if isinstance(happening, Event))

    def see(self, event: Event, rng: np.random.Generator) -> Event:
        """What the event looks like."""
        agent, place = event.agent, event.place
        if rng.random() < self.noise.swap:
            agent = _other(agent, self.agents, rng)
        if place is not None and rng.random() < self.noise.misplace:
            place = _other(place, self.near.get(place, ()), rng)
        return self._report(event, agent, self._name(event.obj, rng), place, event.room)

    def make_up(self, grab: Event, rng: np.random.Generator) -> tuple[int, Event]:
        """A grab that never was, as much being told of it as of a real one; and where in the timeline it is seen.

        It is seen when nothing is grabbed, if there is such a time, so that it does not happen to be right.
        """
        timeline = self.episode.timeline
        numbers = [n for n, one in enumerate(timeline) if not (isinstance(one, Event) and one.verb == "grab")]
        number = int(rng.choice(numbers or range(len(timeline))))
        agent, thing = str(rng.choice(self.agents)), grab.obj
        if thing is not None:
            thing = None if rng.random() < self.noise.unnamed else str(rng.choice(self.things))
        place, room = grab.place, grab.room
        if place is not None and place in self.near:
            alike = [other for other, near in self.near.items() if bool(near) == bool(self.near[place])]
            place = str(rng.choice(alike))
            room = room and self._room[place]
        return number, self._report(replace(grab, t=timeline[number].t), agent, thing, place, room)

    @cached_property
    def _room(self) -> Mapping[str, str | None]:
        return {entity.id: entity.room for entity in self.episode.entities}

    def _name(self, thing: str | None, rng: np.random.Generator) -> str | None:
        if thing is None or rng.random() < self.noise.unnamed:
            return None
        return _other(thing, self.things, rng) if rng.random() < self.noise.rename else thing

    def _report(self, event: Event, agent: str, thing: str | None, place: str | None, room: str | None) -> Event:
        told = replace(event, agent=agent, obj=thing, place=place, room=room, source="video", span=None)
        return replace(told, p=event.p * self._certainty(told))

    def _certainty(self, event: Event) -> float:
        """P(there was such an event | it is reported): only what can be mistaken for something else is in doubt."""
        noise, right = self.noise, 1.0
        if len(self.agents) > 1:
            right *= 1.0 - noise.swap
        if event.obj is not None and len(self.things) > 1:
            right *= 1.0 - noise.rename
        if event.place is not None and self.near.get(event.place):
            right *= 1.0 - noise.misplace
        if event.verb == "grab":
            right *= (1.0 - noise.drop) / (1.0 - noise.drop + noise.invent or 1.0)
        return right


def _other(one: str, of: tuple[str, ...], rng: np.random.Generator) -> str:
    """Another one of them, if there is any."""
    others = [name for name in of if name != one]
    return str(rng.choice(others)) if others else one

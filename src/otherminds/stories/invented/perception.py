"""Perception noise: an episode as an unreliable observer reports it, with events missed, confused, or invented."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from otherminds.errors import InputError
from otherminds.stories.model import Episode, Event, Happening


@dataclass(frozen=True)
class Noise:
    """Probabilities of an observer's errors.

    `drop`: an event is missed. `unnamed`: the item is not recognised; `rename`: a named item is taken for another.
    `misplace`: the place is taken for another in the same room. `swap`: the agent is taken for another. `invent`: for
    every grab, seen or not, another grab is reported that never happened.
    """

    drop: float = 0.0
    unnamed: float = 0.0
    rename: float = 0.0
    misplace: float = 0.0
    swap: float = 0.0
    invent: float = 0.0

    def __post_init__(self) -> None:
        """Raises InputError if one of them is not a probability."""
        for field in fields(self):
            p = getattr(self, field.name)
            if not 0.0 <= p <= 1.0:
                raise InputError(f"{field.name}: {p} is not a probability", hint="give a number from 0 to 1")


# As unreliable as the video model in MuMA-ToM's conversations: it names 13 % of the items grabbed, and 23 % of those it
# names were grabbed; of about two grabs in a story one is "some object" in 103 stories of 150.
VIDEO_MODEL = Noise(drop=0.55, unnamed=0.46, rename=0.465, misplace=0.15, swap=0.1, invent=0.595)


def seen_through(episode: Episode, noise: Noise, rng: np.random.Generator) -> Episode:
    """The episode as reported by an observer with this noise; utterances and observations are unchanged.

    The `p` of a reported event is the probability that an event with these agents, items and places happened.
    """
    eyes = _NoisyObserver(episode, noise)
    reported: list[tuple[int, Happening]] = []
    for number, happening in enumerate(episode.timeline):
        if not isinstance(happening, Event):
            reported.append((number, happening))
        elif rng.random() >= noise.drop:
            reported.append((number, eyes.see(happening, rng)))
    for event in episode.events:
        if event.verb == "grab" and rng.random() < noise.invent:
            reported.append(eyes.make_up(event, rng))
    return replace(episode, timeline=tuple(happening for _, happening in sorted(reported, key=lambda pair: pair[0])))


class _NoisyObserver:
    """Reports the events of an episode, each with the same noise; `near` are the other places in each place's room."""

    def __init__(self, episode: Episode, noise: Noise) -> None:
        """An observer of an episode; `near` has for each place the others in its room, which it may be taken for."""
        self.episode, self.noise = episode, noise
        self.agents = tuple(dict.fromkeys((*episode.agents, *(event.agent for event in episode.events))))
        handled = (event.obj for event in episode.events if event.obj is not None)
        self.things = tuple(dict.fromkeys((*episode.named("object"), *handled)))
        places = [entity for entity in episode.entities if entity.kind == "place" and entity.room is not None]
        self.near = {
            place.id: tuple(
                neighbour.id for neighbour in places if neighbour.room == place.room and neighbour.id != place.id
            )
            for place in places
        }

    def see(self, event: Event, rng: np.random.Generator) -> Event:
        """The event as the observer reports it, with agent, place and thing each confused with its own probability."""
        agent, place = event.agent, event.place
        if rng.random() < self.noise.swap:
            agent = _other(agent, self.agents, rng)
        if place is not None and rng.random() < self.noise.misplace:
            place = _other(place, self.near.get(place, ()), rng)
        thing = event.obj
        if thing is not None and rng.random() < self.noise.unnamed:
            thing = None
        elif thing is not None and rng.random() < self.noise.rename:
            thing = _other(thing, self.things, rng)
        return self._report(event, agent, thing, place, event.room)

    def make_up(self, grab: Event, rng: np.random.Generator) -> tuple[int, Event]:
        """An invented grab, as detailed as `grab`, and its index in the timeline.

        It takes the place of another kind of happening, if there is any, so that it is not right by chance.
        """
        timeline = self.episode.timeline
        numbers = [n for n, h in enumerate(timeline) if not (isinstance(h, Event) and h.verb == "grab")]
        number = int(rng.choice(numbers or range(len(timeline))))
        agent, thing = str(rng.choice(self.agents)), grab.obj
        if thing is not None:
            thing = None if rng.random() < self.noise.unnamed else str(rng.choice(self.things))
        place, room = grab.place, grab.room
        if place is not None and place in self.near:
            alike = [candidate for candidate, near in self.near.items() if bool(near) == bool(self.near[place])]
            place = str(rng.choice(alike))
            room = room and next(entity.room for entity in self.episode.entities if entity.id == place)
        return number, self._report(replace(grab, t=timeline[number].t), agent, thing, place, room)

    def _report(self, event: Event, agent: str, thing: str | None, place: str | None, room: str | None) -> Event:
        """The event as told, with P(there was such an event | it is reported).

        Only agents, items and places with alternatives are in doubt.
        """
        noise, right = self.noise, 1.0
        if len(self.agents) > 1:
            right *= 1.0 - noise.swap
        if thing is not None and len(self.things) > 1:
            right *= 1.0 - noise.rename
        if place is not None and self.near.get(place):
            right *= 1.0 - noise.misplace
        if event.verb == "grab":
            right *= (1.0 - noise.drop) / (1.0 - noise.drop + noise.invent or 1.0)
        p = event.p * right
        return replace(event, agent=agent, obj=thing, place=place, room=room, p=p, source="video", span=None)


def _other(current: str, of: tuple[str, ...], rng: np.random.Generator) -> str:
    """A random other one of them; `current` itself if there is no other."""
    alternatives = [name for name in of if name != current]
    return str(rng.choice(alternatives)) if alternatives else current

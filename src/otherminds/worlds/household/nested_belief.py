"""Minds that know where things are from what they witnessed, and hold models of one another: minds within minds.

A belief about a belief is a mind inside a mind. What A thinks that B thinks is what A's own model of B believes; it
changes when A witnesses that B witnesses something, and at no other time: the model of somebody absent stands still.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, Self

Places = tuple[tuple[str, str], ...]
"""Where each thing is believed to be, by the name of the thing; the name of an agent stands for its hands."""
NOBODY: frozenset[str] = frozenset()


class WitnessedEvent(Protocol):
    """Something that happens before witnesses."""

    def reaches(self, agent: str, /) -> bool:
        """Whether the agent witnesses it."""
        ...

    def change(self, agent: str, places: Places, /) -> Places:
        """Where things are, to an agent who witnesses it."""
        ...

    def within(self, agent: str, places: Places, /) -> WitnessedEvent:
        """The same as the agent takes others to witness it, given where things are to the agent."""
        ...


@dataclass(frozen=True)
class MoveEvent:
    """A thing comes to be somewhere. All of `by` see it and see one another see it; `unseen` watch unnoticed."""

    obj: str
    place: str
    by: frozenset[str]
    unseen: frozenset[str] = NOBODY

    def reaches(self, agent: str) -> bool:
        """Whether the agent sees it, noticed or not."""
        return agent in self.by or agent in self.unseen

    def change(self, agent: str, places: Places) -> Places:
        """The thing is there now."""
        return _put(places, self.obj, self.place)

    def within(self, agent: str, places: Places) -> MoveEvent:
        """Nobody is taken to know of those who watch unnoticed."""
        return replace(self, unseen=NOBODY)


@dataclass(frozen=True)
class SightEvent:
    """All that is at some places can be seen: `there`, and nothing else.

    All of `by` know that `lookers` see it; who does not look takes them to see what he himself believes to be there.
    """

    at: frozenset[str]
    there: Places
    by: frozenset[str]
    lookers: frozenset[str]

    def reaches(self, agent: str) -> bool:
        """Whether the agent knows that the places are looked at."""
        return agent in self.by

    def change(self, agent: str, places: Places) -> Places:
        """To those who look, the things there are there, and what they expected there and is not could be anywhere."""
        if agent not in self.lookers:
            return places
        found = tuple((obj, place) for obj, place in places if place not in self.at)
        for obj, place in self.there:
            found = _put(found, obj, place)
        return found

    def within(self, agent: str, places: Places) -> SightEvent:
        """Others are taken to see what oneself takes to be there."""
        return replace(self, there=tuple((obj, place) for obj, place in places if place in self.at))


@dataclass(frozen=True)
class StatementEvent:
    """Somebody says to `hearers` that a thing is somewhere, or, with `so` false, that it is not there.

    `trusting` believe it, and that the speaker does; the speaker keeps his own belief and takes all hearers to believe
    him. It changes models of models no further than `depth` minds deep.
    """

    speaker: str
    obj: str
    place: str
    hearers: frozenset[str]
    trusting: frozenset[str]
    so: bool = True
    depth: int | None = None

    def reaches(self, agent: str) -> bool:
        """Whether the agent speaks or hears it."""
        return self.depth != 0 and (agent == self.speaker or agent in self.hearers)

    def change(self, agent: str, places: Places) -> Places:
        """Those who trust the speaker believe it."""
        if agent not in self.trusting:
            return places
        if self.so:
            return _put(places, self.obj, self.place)
        return tuple(pair for pair in places if pair != (self.obj, self.place))

    def within(self, agent: str, places: Places) -> StatementEvent:
        """As the speaker sees it, all trust him; who trusts him takes him to mean it, who does not takes him to lie."""
        depth = None if self.depth is None else self.depth - 1
        if agent == self.speaker:
            return replace(self, trusting=self.hearers, depth=depth)
        trusting = self.trusting | {self.speaker} if agent in self.trusting else self.trusting - {self.speaker}
        return replace(self, trusting=trusting, depth=depth)


@dataclass(frozen=True)
class NestedBelief:
    """An agent's mind: where it believes things to be, and its models of other minds."""

    agent: str
    places: Places = ()
    others: tuple[NestedBelief, ...] = ()

    @classmethod
    def among(cls, agent: str, agents: Iterable[str], order: int = 1) -> Self:
        """A mind that has seen nothing yet; of order 2 it has models of the others, of order 3 models of their models.

        Raises ValueError if the order is below 1.
        """
        if order < 1:
            raise ValueError("a mind has an order of at least 1")
        everybody = tuple(agents)
        others = tuple(cls.among(other, everybody, order - 1) for other in everybody if other != agent and order > 1)
        return cls(agent, (), others)

    @classmethod
    def along(cls, chain: tuple[str, ...]) -> Self:
        """The mind of the first, that holds one model, of the second, that holds one of the third, and so on.

        Raises ValueError if there is nobody.
        """
        if not chain:
            raise ValueError("a mind needs an agent")
        return cls(chain[0], (), (cls.along(chain[1:]),) if chain[1:] else ())

    def observe(self, event: WitnessedEvent) -> NestedBelief:
        """The mind after something happened, whether or not it witnesses it."""
        if not event.reaches(self.agent):
            return self
        places = event.change(self.agent, self.places)
        within = event.within(self.agent, places)
        return replace(self, places=places, others=tuple(other.observe(within) for other in self.others))

    def model_of(self, *chain: str) -> NestedBelief:
        """Its model of another, or that other's model of a third, and so on. Raises KeyError if it has none."""
        if not chain:
            return self
        for other in self.others:
            if other.agent == chain[0]:
                return other.model_of(*chain[1:])
        raise KeyError(f"{self.agent} has no model of {chain[0]}")

    def place_of(self, obj: str) -> str | None:
        """Where it believes a thing to be; None if it has no idea."""
        return dict(self.places).get(obj)


def _put(places: Places, obj: str, place: str) -> Places:
    """Sorted, so that minds that believe the same are equal, however they came to."""
    return tuple(sorted((dict(places) | {obj: place}).items()))

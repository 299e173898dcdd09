"""Nested beliefs about where items are: an agent's belief, its models of other agents' beliefs, and so on.

A belief about a belief is a mind inside a mind. What A thinks that B thinks is the belief of A's own model of B. That
model changes only when A witnesses that B witnesses an event.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

Places = tuple[tuple[str, str], ...]
"""Pairs (item, place), sorted; the name of an agent as a place stands for its hands."""
NO_AGENTS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class MoveEvent:
    """An item is moved. All agents in `by` see it and see one another see it; those in `unseen` watch unnoticed."""

    obj: str
    place: str
    by: frozenset[str]
    unseen: frozenset[str] = NO_AGENTS

    def reaches(self, agent: str) -> bool:
        """Whether the agent sees the move, noticed or not."""
        return agent in self.by or agent in self.unseen

    def change(self, agent: str, places: Places) -> Places:
        """The item is at its new place."""
        return _put(places, self.obj, self.place)

    def within(self, agent: str, places: Places) -> MoveEvent:
        """The same event without unnoticed observers: no agent knows of them."""
        return replace(self, unseen=NO_AGENTS)


@dataclass(frozen=True)
class SightEvent:
    """The contents of the places `at` come into view: the items in `there`, and no others.

    All agents in `by` know that the `lookers` see them. An agent that does not look takes the lookers to see what it
    believes to be there itself.
    """

    at: frozenset[str]
    there: Places
    by: frozenset[str]
    lookers: frozenset[str]

    def reaches(self, agent: str) -> bool:
        """Whether the agent knows that the places are seen."""
        return agent in self.by

    def change(self, agent: str, places: Places) -> Places:
        """For a looker: the items in view are at their places; an item expected there but absent has no known place."""
        if agent not in self.lookers:
            return places
        updated = tuple((obj, place) for obj, place in places if place not in self.at)
        for obj, place in self.there:
            updated = _put(updated, obj, place)
        return updated

    def within(self, agent: str, places: Places) -> SightEvent:
        """The same event with the contents that the agent itself believes in."""
        return replace(self, there=tuple((obj, place) for obj, place in places if place in self.at))


@dataclass(frozen=True)
class StatementEvent:
    """The speaker says to `hearers` that an item is at a place or, if `so` is False, that it is not there.

    The agents in `trusting` believe it, and believe that the speaker does. The speaker keeps its own belief and takes
    all hearers to believe it. The statement changes models at most `depth` levels deep (None: at every level).
    """

    speaker: str
    obj: str
    place: str
    hearers: frozenset[str]
    trusting: frozenset[str]
    so: bool = True
    depth: int | None = None

    def reaches(self, agent: str) -> bool:
        """Whether the agent makes or hears the statement."""
        return self.depth != 0 and (agent == self.speaker or agent in self.hearers)

    def change(self, agent: str, places: Places) -> Places:
        """The beliefs after the statement; changed only for an agent that trusts the speaker."""
        if agent not in self.trusting:
            return places
        if self.so:
            return _put(places, self.obj, self.place)
        return tuple(pair for pair in places if pair != (self.obj, self.place))

    def within(self, agent: str, places: Places) -> StatementEvent:
        """The speaker takes all hearers to trust it; a hearer that does not trust it takes it to lie."""
        depth = None if self.depth is None else self.depth - 1
        if agent == self.speaker:
            return replace(self, trusting=self.hearers, depth=depth)
        trusting = self.trusting | {self.speaker} if agent in self.trusting else self.trusting - {self.speaker}
        return replace(self, trusting=trusting, depth=depth)


WitnessedEvent = MoveEvent | SightEvent | StatementEvent
"""An event with witnesses: whom it `reaches`, how it changes their beliefs, and what they take others to perceive."""


@dataclass(frozen=True)
class NestedBelief:
    """An agent's beliefs about where items are, and its models of the beliefs of other agents."""

    agent: str
    places: Places = ()
    models: tuple[NestedBelief, ...] = ()

    @classmethod
    def among(cls, agent: str, agents: Iterable[str], order: int = 1) -> Self:
        """A mind without observations: of order 2 with models of the others, of order 3 with models of their models.

        Raises ValueError if `order` is below 1.
        """
        if order < 1:
            raise ValueError("a mind has an order of at least 1")
        everyone = tuple(agents)
        models = tuple(cls.among(peer, everyone, order - 1) for peer in everyone if peer != agent and order > 1)
        return cls(agent, (), models)

    @classmethod
    def along(cls, chain: tuple[str, ...]) -> Self:
        """The mind of the chain's first agent with a model of the second, which has a model of the third, and so on.

        Raises ValueError for an empty chain.
        """
        if not chain:
            raise ValueError("a mind needs an agent")
        return cls(chain[0], (), (cls.along(chain[1:]),) if chain[1:] else ())

    def observe(self, event: WitnessedEvent) -> NestedBelief:
        """The mind after the event; unchanged if the agent does not witness it."""
        if not event.reaches(self.agent):
            return self
        places = event.change(self.agent, self.places)
        within = event.within(self.agent, places)
        return replace(self, places=places, models=tuple(model.observe(within) for model in self.models))

    def model_of(self, *chain: str) -> NestedBelief:
        """The model at the end of a chain of agents, such as its model of A's model of B. Raises KeyError if absent."""
        if not chain:
            return self
        for model in self.models:
            if model.agent == chain[0]:
                return model.model_of(*chain[1:])
        raise KeyError(f"{self.agent} has no model of {chain[0]}")

    def place_of(self, obj: str) -> str | None:
        """The place where it believes an item to be; None if it has no belief."""
        return dict(self.places).get(obj)


def _put(places: Places, obj: str, place: str) -> Places:
    """The beliefs with the item at the place; sorted, so that equal beliefs are equal objects."""
    return tuple(sorted((dict(places) | {obj: place}).items()))

"""A mind that has been asked for a favour: it does the errand first, then is itself again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from otherminds.distribution import Distribution
from otherminds.mind import Mind

A = TypeVar("A", bound=Hashable)


class Purposeful(Mind[Any, A], Protocol[A]):
    """A mind with a goal, that knows when there is nothing left for it to do about it."""

    @property
    def goal(self) -> Hashable:
        """What it wants."""
        ...

    @property
    def reached(self) -> bool:
        """Whether it has what it wants."""
        ...

    @property
    def over(self) -> bool:
        """Whether the goal has been reached, or is out of its own reach."""
        ...

    @property
    def particle(self) -> int:
        """Which one it is of the minds with this goal that were drawn to stand for all that the agent may believe."""
        ...


@dataclass(frozen=True)
class Told(Generic[A]):
    """Does `errand` until it is over, then what `mind` would do (ProToM §3.2: agents follow the feedback they get).

    Whatever its own goal, a mind that runs an errand acts alike; so watching it says nothing about that goal.
    """

    mind: Purposeful[A]
    errand: Purposeful[A]

    def observe(self, obs: Any, /) -> Told[A]:
        """Both see what the agent sees."""
        return Told(self.mind.observe(obs), self.errand.observe(obs))

    def act(self) -> Distribution[A]:
        """The errand's action while it runs, the mind's own after it."""
        return self.mind.act() if self.errand.over else self.errand.act()

    @property
    def goal(self) -> Hashable:
        """What the mind wants for itself."""
        return self.mind.goal

    @property
    def reached(self) -> bool:
        """Whether the mind has what it wants for itself."""
        return self.mind.reached

    @property
    def over(self) -> bool:
        """Whether the mind's own goal leaves it nothing to do."""
        return self.mind.over

    @property
    def particle(self) -> int:
        """The one of the mind."""
        return self.mind.particle


def oneself(mind: Purposeful[A]) -> Purposeful[A]:
    """The mind itself, whatever it has been told."""
    return mind.mind if isinstance(mind, Told) else mind


def settle(mind: Purposeful[A]) -> Purposeful[A]:
    """The mind itself again, once its errand is over."""
    return mind.mind if isinstance(mind, Told) and mind.errand.over else mind

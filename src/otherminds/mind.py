"""A mind says what an agent may do next, given all it has seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, Distribution

O_contra = TypeVar("O_contra", contravariant=True)
A = TypeVar("A", bound=Hashable)

NONE_OF_THESE = "none of these"  # the goal of whoever has none of the goals that an observer considers


class Mind(Hashable, Protocol[O_contra, A]):
    """An immutable policy with a memory: run forward it is an agent, scored against deeds a hypothesis.

    π(a | o₀ … oₜ): `observe` takes in the next oₜ, `act` is the distribution over what comes next. Minds that are equal
    act alike, and are hashed alike.
    """

    def observe(self, obs: O_contra, /) -> Self:
        """The mind after it has seen `obs`."""

    def act(self) -> Distribution[A]:
        """π(a | everything observed so far)."""


class Mindreader(Mind[O_contra, A], Protocol[O_contra, A]):
    """A mind that also says what it expects the other agent to do: P(b | o₀ … oₜ).

    What it predicts is its literal theory of mind, what it earns shows the functional one (Riemer et al., §2.1).
    """

    def predict(self) -> Categorical[A]:
        """P(the other's next action | everything observed so far): its literal theory of mind."""


class Parameter(NamedTuple):
    """A free parameter of a mind, strictly between two bounds; `typical` is the range of plausible values.

    Fits search the real line: value = low + (high − low) / (1 + exp(−x)).
    """

    name: str
    low: float
    high: float
    typical: tuple[float, float]

    def value(self, free: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at points of the real line, elementwise."""
        return self.low + (self.high - self.low) / (1.0 + np.exp(-free))

    def free(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """The points of the real line that stand for values strictly between the bounds, elementwise."""
        return np.log((value - self.low) / (self.high - value))

    def slope(self, free: NDArray[np.float64]) -> NDArray[np.float64]:
        """d value / dx, elementwise."""
        share = (self.value(free) - self.low) / (self.high - self.low)
        return (self.high - self.low) * share * (1.0 - share)


def _anywhere(_task: Any) -> bool:
    return True


@dataclass(frozen=True)
class ParametricMind:
    """A mind with free parameters, for some kind of task: a game, a bandit, an offer.

    `mind(task, **values)` is one mind before the first trial. `many(faced, values)` is a crowd that acts alike, for
    what each of S matches faces and values of shape (S, K) or (1, K): `observe(own, seen)` after a trial, and `act()`,
    π of shape (S, K, |A|). A mind whose only parameter is a tremble has `inner(task)`, whose policy does not depend on
    it. `fits(task)` says whether it can do a task.
    """

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    mind: Callable[..., Mind[Any, int]]
    many: Callable[[Any, Mapping[str, NDArray[np.float64]]], Any] | None = None
    inner: Callable[[Any], Mind[Any, int]] | None = None
    fits: Callable[[Any], bool] = _anywhere

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(parameter.name for parameter in self.parameters)


class GoalDirected(Mind[Any, A], Protocol[A]):
    """A mind with a goal, that knows when there is nothing left for it to do about it."""

    @property
    def goal(self) -> Hashable:
        """What it wants."""

    @property
    def reached(self) -> bool:
        """Whether it has what it wants."""

    @property
    def over(self) -> bool:
        """Whether the goal has been reached, or is out of its own reach."""

    @property
    def particle(self) -> int:
        """Which one it is of the minds with this goal that were drawn to stand for all that the agent may believe."""


@dataclass(frozen=True)
class WithErrand(Generic[A]):
    """Does `errand` until it is over, then what `mind` would do (ProToM §3.2: agents follow the feedback they get).

    Whatever its own goal, a mind that runs an errand acts alike; so watching it says nothing about that goal.
    """

    mind: GoalDirected[A]
    errand: GoalDirected[A]

    def observe(self, obs: Any, /) -> WithErrand[A]:
        """Both see what the agent sees."""
        return WithErrand(self.mind.observe(obs), self.errand.observe(obs))

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


@dataclass(frozen=True)
class NoneOfThese(Generic[A]):
    """An agent that no listed mind describes: it does anything that it could do, π(a) = 1 / |A|.

    Among an observer's minds its posterior is the probability that none of the others fits. It has no goal that could
    be named or helped.

    actions: A as a function of what the agent sees, such as the actions of the world if the agent sees its state. None:
    the support of the policy of `mind`, which then has to include all that people may do.
    """

    mind: GoalDirected[A]
    actions: Callable[[Any], Sequence[A]] | None = None
    obs: Any = None

    def observe(self, obs: Any, /) -> NoneOfThese[A]:
        """It sees what the agent sees, to know what it could do."""
        return NoneOfThese(self.mind.observe(obs), self.actions, None if self.actions is None else obs)

    def act(self) -> Categorical[A]:
        """Uniform over the actions, which may be improbable but not impossible ones."""
        if self.actions is None:
            return Categorical.uniform(cast("Categorical[A]", self.mind.act()).support)
        return Categorical.uniform(self.actions(self.obs))

    @property
    def goal(self) -> Hashable:
        """NONE_OF_THESE: no goal of the list."""
        return NONE_OF_THESE

    @property
    def reached(self) -> bool:
        """False: nobody knows what it wants."""
        return False

    @property
    def over(self) -> bool:
        """True: there is nothing that it is known to do next."""
        return True

    @property
    def particle(self) -> int:
        """The one of the mind."""
        return self.mind.particle


def own_mind(mind: GoalDirected[A]) -> GoalDirected[A]:
    """The mind itself, whatever it has been told."""
    return mind.mind if isinstance(mind, WithErrand) else mind


def without_finished_errand(mind: GoalDirected[A]) -> GoalDirected[A]:
    """The mind itself again, once its errand is over."""
    return mind.mind if isinstance(mind, WithErrand) and mind.errand.over else mind

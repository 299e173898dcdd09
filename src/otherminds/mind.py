"""A mind says what an agent may do next, given all it has seen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, Self, TypeVar

from otherminds.distribution import Categorical, Distribution

O_contra = TypeVar("O_contra", contravariant=True)
A = TypeVar("A", bound=Hashable)


class Mind(Hashable, Protocol[O_contra, A]):
    """An immutable policy with a memory: run forward it is an agent, scored against deeds a hypothesis.

    π(a | o₀ … oₜ): `observe` takes in the next oₜ, `act` is the distribution over what comes next. Minds that are equal
    act alike, and are hashed alike.
    """

    def observe(self, obs: O_contra, /) -> Self:
        """The mind after it has seen `obs`."""
        ...

    def act(self) -> Distribution[A]:
        """π(a | everything observed so far)."""
        ...


class Mindreader(Mind[O_contra, A], Protocol[O_contra, A]):
    """A mind that also says what it expects the other agent to do: P(b | o₀ … oₜ).

    What it predicts is its literal theory of mind, what it earns shows the functional one (Riemer et al., §2.1).
    """

    def predict(self) -> Categorical[A]:
        """P(the other's next action | everything observed so far): its literal theory of mind."""
        ...

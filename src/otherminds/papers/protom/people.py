"""People who are not as facilitators expect: they ignore messages, slip, pause, change their minds, or want nothing."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.worlds.doors_keys_gems import rules as doors_keys_gems
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.rules import Action, State
from otherminds.worlds.overcooked import kitchen
from otherminds.worlds.overcooked.agent import Cook
from otherminds.worlds.overcooked.rules import KitchenView

A = TypeVar("A", bound=Hashable)
M = TypeVar("M", Seeker, Cook)

KINDS = {
    "ignore_half": "Half of the messages are ignored",
    "ignore_all": "All messages are ignored",
    "noise": "A fifth of the actions is random",
    "pauses": "Everybody pauses in three steps of ten",
    "goal_change": "One changes its goal half-way",
    "not_listed": "One wants what is not listed",
    "idle": "One does nothing",
    "wandering": "One acts at random",
}
CROWDS = {"three": 3, "four": 4}  # kinds of more people than two
ALL_KINDS = {**KINDS, **{kind: f"There are {kind} people" for kind in CROWDS}}
NEED_SPARE = ("goal_change", "not_listed")  # kinds that need a goal which nobody has
OBEDIENCE = {"ignore_half": 0.5, "ignore_all": 0.0}
NOISE, PAUSES = 0.2, 0.3  # the share of random actions, and of steps spent standing still; chosen


class Change(NamedTuple):
    """A change of goal, after so many steps; only a mind with the goal `first` changes, not one on an errand."""

    after: int
    first: Hashable
    then: Any


@dataclass(frozen=True)
class OddSeeker(Seeker):
    """A seeker that stands still with probability `pauses`, on errands as well, and may change its goal."""

    pauses: float = 0.0
    change: Change | None = None

    def observe(self, obs: State, /) -> Seeker:
        """See the state, and change the goal when it is time."""
        return Seeker.observe(_later(self), obs)

    def act(self) -> Categorical[Action]:
        """π(a), with pauses."""
        return _with_pauses(super().act(), doors_keys_gems.STAY, self.pauses)


@dataclass(frozen=True)
class OddCook(Cook):
    """A cook that stands still with probability `pauses`, on errands as well, and may change its goal."""

    pauses: float = 0.0
    change: Change | None = None

    def observe(self, view: KitchenView, /) -> Cook:
        """Update the believed kitchen, and change the goal when it is time."""
        mind = _later(self)
        return Cook.observe(replace(mind, reached=mind.reached and mind.goal == self.goal), view)

    def act(self) -> Categorical[str]:
        """π(a), with pauses."""
        return _with_pauses(super().act(), kitchen.STAY, self.pauses)


Odd = TypeVar("Odd", OddSeeker, OddCook)


def _later(mind: Odd) -> Odd:
    """The mind one step later, with another goal if it is time."""
    if mind.change is None:
        return mind
    after, first, then = mind.change
    if after > 0:
        return replace(mind, change=Change(after - 1, first, then))
    return replace(mind, change=None, goal=then if mind.goal == first else mind.goal)


def _with_pauses(actions: Categorical[A], stay: A, pauses: float) -> Categorical[A]:
    """The same actions with probability 1 − pauses, else staying."""
    pausing = Categorical((True, False), (_log(pauses), _log(1.0 - pauses)))
    return pausing.bind(lambda still: Categorical.uniform([stay]) if still else actions)


def _log(p: float) -> float:
    return math.log(p) if p > 0.0 else IMPOSSIBLE


class Crowd(NamedTuple, Generic[M]):
    """The people of an episode.

    obedience: the probability that they follow a message. aimless: who of them wants nothing. unlisted: the goals that
    the facilitator does not consider, by agent.
    """

    minds: Mapping[str, M]
    obedience: float = 1.0
    aimless: str = ""
    unlisted: Mapping[str, Hashable] = {}


def _odd(mind: M, **how: Any) -> M:
    """The same mind with pauses or a change of goal."""
    kind: Any = OddSeeker if isinstance(mind, Seeker) else OddCook
    odd: M = kind(**{f.name: getattr(mind, f.name) for f in fields(mind)}, **how)
    return odd


def crowd(kind: str, minds: Mapping[str, M], spare: Sequence[Any], after: int, rng: np.random.Generator) -> Crowd[M]:
    """These people as the kind of KINDS has them; any other kind leaves them as they are.

    spare: goals that nobody has, to change from; who changes does so after `after` steps. Raises ValueError without
    such goals.
    """
    odd_agent = list(minds)[int(rng.integers(len(minds)))]
    mind = minds[odd_agent]
    match kind:
        case "noise":
            return Crowd({agent: replace(mind, lapse=NOISE) for agent, mind in minds.items()})
        case "pauses":
            return Crowd({agent: _odd(mind, pauses=PAUSES) for agent, mind in minds.items()})
        case "goal_change":
            first = spare[int(rng.integers(len(spare)))]
            change = Change(after, first, mind.goal)
            return Crowd({**minds, odd_agent: _odd(replace(mind, goal=first), change=change)})
        case "not_listed":
            return Crowd(minds, unlisted={odd_agent: mind.goal})
        case "idle":
            return Crowd({**minds, odd_agent: _odd(mind, pauses=1.0)}, aimless=odd_agent)
        case "wandering":
            return Crowd({**minds, odd_agent: replace(mind, lapse=1.0)}, aimless=odd_agent)
    return Crowd(minds, OBEDIENCE.get(kind, 1.0))

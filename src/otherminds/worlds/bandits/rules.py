"""Bandits: what a person faces in a task of choices and rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Bandit:
    """A task with named arms, whose rewards lie between `low` and `high`; minds use the arms' indices."""

    name: str
    arms: tuple[str, ...]
    low: float = 0.0
    high: float = 1.0

    @property
    def actions(self) -> tuple[tuple[str, ...]]:
        """The names of what can be chosen."""
        return (self.arms,)

    @property
    def shape(self) -> tuple[int]:
        """The number of arms."""
        return (len(self.arms),)

    def scaled(self, reward: float) -> float:
        """u = (reward − low) / (high − low), so that inverse temperatures mean the same in all tasks."""
        return (reward - self.low) / ((self.high - self.low) or 1.0)


class Pulled(NamedTuple):
    """What is seen of a trial: the arm, MISSED (−1) if none was chosen in time, and its reward (0 then)."""

    own: int
    reward: float

"""How sentences about partners are found and judged, and what is kept of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from otherminds.language.asking import Exchange
from otherminds.papers.hypothetical_minds.encounters import Encounter

Calls = tuple[Exchange, ...]


@dataclass(frozen=True)
class Settings:
    """How sentences are found and judged; by default as published (Cross et al. 2024, table 2).

    A sentence's value V starts at 0; with every prediction of its that comes out right or wrong it becomes
    V + alpha (±c − V). From `threshold` on it is validated. `top_k` of the others are judged beside the latest one.
    `refine`: earlier sentences are shown when a new one is asked for; `evaluate`: they are judged; `modular`: every
    step is a call of its own; `mind_prompting`: sentences are about the partner, and not just strategies for oneself;
    `exact_inventory`: what the partner held is worked out from the payoff, and not estimated by the model; `latest`:
    while none is validated, the latest sentence decides what to play, and not the best; `at_once`: how many
    predictions are asked for at the same time.
    """

    alpha: float = 0.3
    c: float = 1.0
    threshold: float = 0.7
    top_k: int = 5
    refine: bool = True
    evaluate: bool = True
    modular: bool = True
    mind_prompting: bool = True
    exact_inventory: bool = True
    latest: bool = True
    at_once: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that make no sense, and for steps that need calls of their own without them."""
        if not 0.0 < self.alpha <= 1.0 or not 0.0 < self.c < math.inf or self.top_k < 0 or self.at_once < 1:
            raise ValueError("needs 0 < alpha ≤ 1, c > 0, top_k ≥ 0, and at least one call at once")
        if not math.isfinite(self.threshold):
            raise ValueError("the threshold has to be a number")
        if not self.modular and (self.evaluate or self.refine or not self.mind_prompting):
            raise ValueError("one call for everything leaves nothing to evaluate or refine")

    def after(self, value: float, reward: float) -> float:
        """A value after one more reward (Rescorla and Wagner)."""
        return value + self.alpha * (reward - value)


ABLATIONS: Mapping[str, Settings] = MappingProxyType(
    {
        "VMP": Settings(modular=False, evaluate=False, refine=False),
        "MMP": Settings(evaluate=False, refine=False),
        "MMP+HE": Settings(refine=False),
        "HE+HR": Settings(mind_prompting=False, c=3.0, threshold=3.0),
        "HM": Settings(),
    }
)
"""The variants that were compared (§4.5, appendix F); HE+HR has numbers of its own (table 3)."""


PUBLISHED = Settings()


class Hypothesis(NamedTuple):
    """A sentence, its value, and how often it was judged; what it expects of the next meeting, and has one play."""

    text: str
    value: float = 0.0
    judged: int = 0
    expects: int | None = None
    play: int | None = None


class Record(NamedTuple):
    """What came of thinking about a meeting: all hypotheses after it, which one is in use, and all that was said."""

    meeting: Encounter
    hypotheses: tuple[Hypothesis, ...]
    used: int | None
    validated: bool
    play: int | None
    said: Calls

    @property
    def calls(self) -> int:
        """How many calls it took."""
        return len(self.said)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)

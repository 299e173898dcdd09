"""Posterior sampling: draw a partner from the posterior and play the best response to it for a few rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, cast

import numpy as np

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import Partner, point_mass
from otherminds.worlds.repeated_games.players.best_responders import mirrored, response_to
from otherminds.worlds.repeated_games.reactive_partners import SIMPLICITY_PRIOR, reactive_observer
from otherminds.worlds.repeated_games.rules import Game, Outcome

SURPRISING = 0.5  # a play that the sampled partner gives less than this triggers a new sample; chosen; not tuned


class SampleablePartner(Protocol):
    """A hypothesis about a partner from which a definite machine can be sampled."""

    def sample_machine(self, rng: np.random.Generator) -> Partner:
        """A machine sampled from the hypothesis, in its current state."""
        ...


@dataclass(frozen=True)
class PosteriorSampling:
    """Posterior (Thompson) sampling over partners (Osband, Russo and Van Roy 2013), which may slip now and then.

    m ~ P(m | history), a = BR(m). The partner is sampled again every few rounds, or when it plays what the sampled one
    held to be unlikely. Samples are a function of `seed` and the round, so that the mind is immutable.
    """

    game: Game
    observer: Observer[Any]
    horizon: int
    seed: int
    every: int = 3
    t: int = 0
    sampled: Partner | None = None

    @classmethod
    def of(
        cls,
        game: Game,
        rng: np.random.Generator,
        *,
        horizon: int = 100,
        prior: Mapping[str, float] = SIMPLICITY_PRIOR,
        noise: float = 0.03,
        every: int = 3,
    ) -> Self:
        """A player with a prior over partners that remember at most one round, and `noise` for their slips."""
        start = cls(game, reactive_observer(game, prior, noise), horizon, int(rng.integers(2**31)), every)
        return replace(start, sampled=start._draw())

    def _draw(self) -> Partner:
        rng = np.random.default_rng([self.seed, self.t])
        mind = cast("SampleablePartner", self.observer.posterior.sample(rng))
        return mind.sample_machine(rng)

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the posterior is updated, and the sampled partner followed or replaced."""
        if outcome is None:
            return self
        seen = mirrored(self.game, outcome)
        sampled = cast("Partner", self.sampled)
        refuted = sampled.act().prob(outcome.theirs) < SURPRISING
        after = replace(self, observer=self.observer.watch(outcome.theirs, seen), t=self.t + 1)
        again = refuted or after.t % self.every == 0
        return replace(after, sampled=after._draw() if again else sampled.observe(seen))

    def predict(self) -> Categorical[int]:
        """The prediction of the posterior, not of the sample."""
        return self.observer.predict()

    def act(self) -> Categorical[int]:
        """The best response to the sampled partner for the remaining rounds."""
        sampled = cast("Partner", self.sampled)
        plan = response_to(self.game, sampled.machine, self.horizon)
        return point_mass(int(plan.actions[min(self.t, self.horizon - 1), sampled.state]))

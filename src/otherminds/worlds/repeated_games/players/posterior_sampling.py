"""Posterior sampling: draw a partner from the posterior and play the best response to it for a few rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from otherminds.distribution import Categorical, point_mass
from otherminds.files.text import brief
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import Partner
from otherminds.worlds.repeated_games.players.best_responders import mirrored, response_to
from otherminds.worlds.repeated_games.players.partner_hypotheses import (
    SIMPLICITY_PRIOR,
    ReactivePartner,
    reactive_observer,
)
from otherminds.worlds.repeated_games.rules import Game, Outcome

SURPRISING = 0.5  # a play that the sampled partner gives less than this triggers a new sample; chosen; not tuned


@dataclass(frozen=True)
class PosteriorSampling:
    """Posterior (Thompson) sampling over partners (Osband, Russo and Van Roy 2013), which may slip now and then.

    m ~ P(m | history), a = BR(m). The partner is sampled again every few rounds, or when it plays what the sampled one
    held to be unlikely. Samples are a function of `seed` and the round, so that the mind is immutable.
    """

    __repr__ = brief

    game: Game
    observer: Observer[ReactivePartner]
    horizon: int
    seed: int
    sampled: Partner
    every: int = 3
    t: int = 0

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
        switch_rate: float = 0.0,
    ) -> Self:
        """A player with a prior over partners that remember at most one round, and `noise` for their slips.

        `switch_rate` is the probability that the partner becomes one of another family after a round.
        """
        observer, seed = reactive_observer(game, prior, noise, switch_rate), int(rng.integers(2**31))
        return cls(game, observer, horizon, seed, _sampled_partner(observer, seed, 0), every)

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the posterior is updated, and the sampled partner followed or replaced."""
        if outcome is None:
            return self
        partner_view = mirrored(self.game, outcome)
        observer = self.observer.watch(outcome.theirs, partner_view)
        t = self.t + 1
        refuted = self.sampled.act().prob(outcome.theirs) < SURPRISING
        resamples = refuted or t % self.every == 0
        sampled = _sampled_partner(observer, self.seed, t) if resamples else self.sampled.observe(partner_view)
        return replace(self, observer=observer, t=t, sampled=sampled)

    def predict(self) -> Categorical[int]:
        """The prediction of the posterior, not of the sample."""
        return self.observer.predict()

    def act(self) -> Categorical[int]:
        """The best response to the sampled partner for the remaining rounds."""
        plan = response_to(self.game, self.sampled.machine, self.horizon)
        return point_mass(int(plan.actions[min(self.t, self.horizon - 1), self.sampled.state]))


def _sampled_partner(observer: Observer[ReactivePartner], seed: int, t: int) -> Partner:
    """A machine drawn from the posterior, the same for every player with this seed in this round."""
    rng = np.random.default_rng([seed, t])
    return observer.posterior.sample(rng).sample_machine(rng)

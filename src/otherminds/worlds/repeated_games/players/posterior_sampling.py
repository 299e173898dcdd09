"""Posterior sampling: draw a partner from the posterior, play the best response to it, draw again before long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, cast

import numpy as np

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import Partner, point
from otherminds.worlds.repeated_games.players.best_responders import mirrored, response_to
from otherminds.worlds.repeated_games.reactive_partners import SIMPLICITY, over_kinds
from otherminds.worlds.repeated_games.rules import Game, Outcome

SURPRISING = 0.5


class Drawable(Protocol):
    """A hypothesis that a definite partner can be drawn from."""

    def drawn(self, rng: np.random.Generator) -> Partner:
        """A machine in the state it would be in now."""
        ...


@dataclass(frozen=True)
class PosteriorSampling:
    """Thompson's rule over partners (Osband, Russo and Van Roy 2013), for partners who slip now and then.

    m ~ P(m | history), a = BR(m): a partner is drawn from the posterior every few rounds, or when it does what the
    drawn one held to be unlikely, and the best response to it is played.
    The draws are a function of `seed` and the round, so that the mind stays a value.
    """

    game: Game
    watched: Observer[Any]
    horizon: int
    seed: int
    every: int = 3
    t: int = 0
    held: Partner | None = None

    @classmethod
    def of(
        cls,
        game: Game,
        rng: np.random.Generator,
        *,
        horizon: int = 100,
        prior: Mapping[str, float] = SIMPLICITY,
        noise: float = 0.03,
        every: int = 3,
    ) -> Self:
        """Over kinds of partners who remember one round at most."""
        return cls._drawing(game, over_kinds(game, prior, noise), horizon, int(rng.integers(2**31)), every)

    @classmethod
    def _drawing(cls, game: Game, watched: Observer[Any], horizon: int, seed: int, every: int) -> Self:
        start = cls(game, watched, horizon, seed, every)
        return replace(start, held=start._draw())

    def _draw(self) -> Partner:
        rng = np.random.default_rng([self.seed, self.t])
        mind = cast("Drawable", self.watched.posterior.sample(rng))
        return mind.drawn(rng)

    def observe(self, outcome: Outcome | None) -> Self:
        """Condition on what the partner did; follow the drawn partner, or draw another one."""
        if outcome is None:
            return self
        seen = mirrored(self.game, outcome)
        held = cast("Partner", self.held)
        refuted = held.act().prob(outcome.theirs) < SURPRISING
        after = replace(self, watched=self.watched.watch(outcome.theirs, seen), t=self.t + 1)
        again = refuted or after.t % self.every == 0
        return replace(after, held=after._draw() if again else held.observe(seen))

    def predict(self) -> Categorical[int]:
        """What the posterior, not the draw, expects."""
        return self.watched.predict()

    def act(self) -> Categorical[int]:
        """The best response to the drawn partner for the rounds that are left."""
        held = cast("Partner", self.held)
        plan = response_to(self.game, held.machine, self.horizon)
        return point(int(plan.actions[min(self.t, self.horizon - 1), held.state]))

"""Programs as hypotheses about a partner: strategies in a library, judged by Bayes or by the paper's value rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from otherminds.distribution import Categorical
from otherminds.worlds.in_the_matrix.rules import Inventory
from otherminds.worlds.in_the_matrix.strategies import play_of
from otherminds.worlds.repeated_games.machines import Partner, point_mass
from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead, HypothesisSet
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.rules import Outcome

ALPHA = 0.3
SHOWN = 4


@dataclass(frozen=True)
class Programs:
    """Which strategy is it? Exact likelihoods, and look-ahead on the beliefs that one's own plays would lead to."""

    librarian: BayesianLookahead

    @classmethod
    def of(cls, library: HypothesisSet) -> Self:
        """Before any meeting."""
        return cls(BayesianLookahead.of(library))

    def for_partner(self, partner: str) -> Self:
        """The same: all that is known of anybody is the library."""
        return self

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting; one in which the play of either is not known teaches nothing."""
        played = play_of(own)
        if played is None or theirs is None:
            return self
        return replace(self, librarian=self.librarian.observe(Outcome(played, theirs, reward)))

    def predict(self) -> Categorical[int]:
        """Σ P(strategy) π(kind | strategy)."""
        return self.librarian.predict()

    def act(self) -> Categorical[int]:
        """The kind of the highest expected value."""
        return self.librarian.act()

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The likeliest strategies with their probabilities, noisy ones together with those without noise."""
        posterior = self.librarian.observer.ask(lambda partner: partner.machine.name.partition("~")[0])
        return sorted(posterior, key=lambda pair: -pair[1])[:SHOWN]


@dataclass(frozen=True)
class RescorlaWagner:
    """Which strategy foretells best? Each has a value, V ← V + α (±1 − V); the best one is believed and played upon.

    The rule of Hypothetical Minds (Cross et al. 2024, §3.2) for programs in the place of sentences. Of equal values,
    that of the strategy that is likelier a priori counts.
    """

    library: HypothesisSet
    partners: tuple[Partner, ...]
    values: tuple[float, ...]
    alpha: float = ALPHA

    @classmethod
    def of(cls, library: HypothesisSet, alpha: float = ALPHA) -> Self:
        """Before any meeting."""
        partners = tuple(machine.start for machine in library.slipping)
        return cls(library, partners, (0.0,) * len(partners), alpha)

    def for_partner(self, partner: str) -> Self:
        """The same: all that is known of anybody is the library."""
        return self

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting; one in which the play of either is not known teaches nothing."""
        played = play_of(own)
        if played is None or theirs is None:
            return self
        seen = mirrored(self.library.game, Outcome(played, theirs, reward))
        rewards = (1.0 if partner.act().mode == theirs else -1.0 for partner in self.partners)
        values = tuple(v + self.alpha * (r - v) for v, r in zip(self.values, rewards, strict=True))
        return replace(self, partners=tuple(partner.observe(seen) for partner in self.partners), values=values)

    def predict(self) -> Categorical[int]:
        """What the best strategy plays next."""
        return self.partners[self._best].act()

    def act(self) -> Categorical[int]:
        """The best response to the best strategy."""
        pool, place = self.library.pool, self.library.place[self.partners[self._best]]
        return point_mass(int(pool.response.actions[0, place]))

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The best strategies with their values."""
        return [(self.library.machines[i].name, self.values[i]) for i in self._ranked[:SHOWN]]

    @property
    def _ranked(self) -> list[int]:
        return sorted(range(len(self.values)), key=lambda i: (-self.values[i], -self.library.prior[i], i))

    @property
    def _best(self) -> int:
        return self._ranked[0]

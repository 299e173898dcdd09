"""Minds with social preferences, that choose among divisions of money: selfish, averse to inequity, altruistic.

π(a) ∝ exp(beta · E[U(own, other)]), a logit response (McKelvey and Palfrey 1995). The expectation is over the other's
response: utilities are averaged, not money, which differs where U is not linear. Before U is taken, money is divided
by the largest total of both that an option of the trial can yield, so that beta means the same in all tasks and for
all stakes: it is the log-odds of having all rather than nothing, if one is selfish. Options that are impossible in a
trial (see `rules`) have π = 0; in a trial without any possible option, as after the end of a match, π is uniform.

Each utility is written once, for arrays of any shape, and serves one mind as it does a crowd of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.mind import Parameter, ParametricMind
from otherminds.worlds.offers.rules import Division

Floats = NDArray[np.float64]
Values = Mapping[str, Any]
"""Parameters by name: numbers, or arrays of one shape."""
Utility = Callable[[Floats, Floats, Values], Floats]
"""U(own money, other's money, parameters), elementwise."""
Faced = tuple[tuple[tuple[float, ...], ...], ...]
"""The divisions of one trial, shape (|A|, R, 3), in tuples, which can be hashed."""

BETA = Parameter("beta", 0.0, 60.0, (8.0, 30.0))
"""Chosen: at 60 a step of a tenth of the pie is worth odds of 400 to 1, which is almost without error."""


# Utilities


def no_preference(own: Floats, _other: Floats, _values: Values) -> Floats:
    """U = 0."""
    return np.zeros_like(own)


def selfish(own: Floats, _other: Floats, _values: Values) -> Floats:
    """U = own."""
    return own


def inequity_aversion(own: Floats, other: Floats, values: Values) -> Floats:
    """U = own − envy · max(other − own, 0) − guilt · max(own − other, 0). (Fehr and Schmidt 1999, eq. 2.)"""
    ahead = own - other
    utility: Floats = own - values["envy"] * np.maximum(-ahead, 0.0) - values["guilt"] * np.maximum(ahead, 0.0)
    return utility


def altruism(own: Floats, other: Floats, values: Values) -> Floats:
    """U = own + weight · other. (Andreoni and Miller 2002, the linear case; spite if the weight is negative.)"""
    utility: Floats = own + values["weight"] * other
    return utility


def maximin_efficiency(own: Floats, other: Floats, values: Values) -> Floats:
    """U = own + maximin · min(own, other) + efficiency · (own + other).

    (Charness and Rabin 2002, without reciprocity; in this form Engelmann and Strobel 2004.)
    """
    utility: Floats = own + values["maximin"] * np.minimum(own, other) + values["efficiency"] * (own + other)
    return utility


def ratio_fairness(own: Floats, other: Floats, values: Values) -> Floats:
    """U = own − fairness · (own / (own + other) − 1/2)²; the share is 1/2 where there is nothing to share.

    (Bolton and Ockenfels 2000: their ERC example for two, with fairness = b / 2a.)
    """
    total = own + other
    something = total > 0.0
    share = np.where(something, own / np.where(something, total, 1.0), 0.5)
    utility: Floats = own - values["fairness"] * (share - 0.5) ** 2
    return utility


# Minds


def scores(divisions: Floats, utility: Utility, values: Values) -> Floats:
    """beta · (E[U] − max E[U]), −∞ for impossible options: log π up to a constant, shape (…, |A|).

    `divisions` have shape (…, |A|, R, 3), parameters any shape that broadcasts with (…). Without a beta it is 0.
    """
    probability = divisions[..., 0]
    money = np.where(probability[..., None] > 0.0, divisions[..., 1:], 0.0)
    largest = np.abs(money).sum(axis=-1).max(axis=(-2, -1))[..., None, None, None]
    own, other = np.moveaxis(money / np.where(largest > 0.0, largest, 1.0), -1, 0)
    by_response = {name: np.asarray(value)[..., None, None] for name, value in values.items()}
    expected = (probability * utility(own, other, by_response)).sum(axis=-1)
    possible = (probability > 0.0).any(axis=-1)
    possible |= ~possible.any(axis=-1, keepdims=True)
    best = np.where(possible, expected, -np.inf).max(axis=-1, keepdims=True)
    beta = np.asarray(values.get("beta", 0.0))[..., None]
    ranked: Floats = np.where(possible, beta * (expected - best), -np.inf)
    return ranked


@dataclass(frozen=True)
class Chooser:
    """Chooses among the divisions of the trial that it faces; before the first, uniformly among all options."""

    task: Division
    utility: Utility
    values: tuple[tuple[str, float], ...] = ()
    faced: Faced = ()

    def observe(self, divisions: Any) -> Self:
        """The mind that faces the divisions of the next trial, shape (|A|, R, 3); nothing new if they are None."""
        if divisions is None:
            return self
        faced = tuple(tuple(map(tuple, responses)) for responses in np.asarray(divisions, dtype=float).tolist())
        return replace(self, faced=faced)

    def act(self) -> Categorical[int]:
        """π(a) ∝ exp(beta · E[U])."""
        if not self.faced:
            return Categorical.uniform(range(len(self.task.options)))
        return Categorical.softmax(enumerate(scores(np.array(self.faced), self.utility, dict(self.values)).tolist()))


@dataclass(frozen=True, eq=False)
class ManyChoosers:
    """`Chooser` for many people and parameters at once: K points of parameters for each of S matches.

    `divisions`, shape (S, T, |A|, R, 3), are those of all trials; `values` have shape (S, K) or (1, K).
    """

    divisions: Floats
    utility: Utility
    values: Values
    trial: int = 0

    def observe(self, _own: Any, _seen: Any) -> Self:
        """The minds before the next trial."""
        return replace(self, trial=self.trial + 1)

    def act(self) -> Floats:
        """π, shape (S, K, |A|)."""
        weights = np.exp(scores(self.divisions[:, None, self.trial], self.utility, self.values))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _is_division(task: Any) -> bool:
    return isinstance(task, Division)


def _preference(name: str, about: str, utility: Utility, *parameters: Parameter) -> ParametricMind:
    return ParametricMind(
        name,
        about,
        parameters,
        lambda task, **values: Chooser(task, utility, tuple(sorted(values.items()))),
        lambda divisions, values: ManyChoosers(divisions, utility, values),
        fits=_is_division,
    )


PREFERENCES: dict[str, ParametricMind] = {
    mind.name: mind
    for mind in (
        _preference("offer_chance", "uniform choice among the possible options", no_preference),
        _preference("selfish", "own money only", selfish, BETA),
        _preference(
            "inequity_aversion",
            "dislikes to have less, and to have more (Fehr and Schmidt 1999)",
            inequity_aversion,
            # Fehr and Schmidt's table III has envy 0 to 4 and guilt 0 to 0.6; they assume guilt < 1
            Parameter("envy", 0.0, 5.0, (0.1, 2.0)),
            Parameter("guilt", 0.0, 1.0, (0.05, 0.6)),
            BETA,
        ),
        _preference(
            "altruism",
            "weighs the other's money (Andreoni and Miller 2002)",
            altruism,
            Parameter("weight", -1.0, 1.0, (-0.3, 0.7)),
            BETA,
        ),
        _preference(
            "maximin_efficiency",
            "cares for who has least, and for the sum (Charness and Rabin 2002)",
            maximin_efficiency,
            Parameter("maximin", -1.0, 2.0, (0.0, 1.0)),
            Parameter("efficiency", -1.0, 2.0, (-0.5, 0.5)),
            BETA,
        ),
        _preference(
            "ratio_fairness",
            "dislikes shares other than one half (Bolton and Ockenfels 2000)",
            ratio_fairness,
            Parameter("fairness", 0.0, 20.0, (0.5, 8.0)),
            BETA,
        ),
    )
}

"""Offers: choices among divisions of money between oneself and another.

In the ultimatum game a proposer offers a part of a pie, and nobody gets anything if the responder rejects it (Güth,
Schmittberger and Schwarze 1982). In the dictator game the other cannot reject (Forsythe et al. 1994). In the trust
game what an investor sends is multiplied, and a trustee returns a part of it (Berg, Dickhaut and McCabe 1995). Each
role has a `Division`, and a function that gives the divisions of one trial.

All trials of a role have the same number of options. One that is impossible in a trial, such as to return more than
was received, has probability 0 and money 0 for every response; minds choose it with probability 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MULTIPLIER = 3  # what is sent in the trust game is tripled: Berg, Dickhaut and McCabe 1995


@dataclass(frozen=True)
class Division:
    """A choice of a person in one role of a sequential game of offers, as `ultimatum:responder`, with named options.

    What the options pay in a trial is an array of shape (|A|, R, 3): for each option and each of R ways in which the
    other may respond, its probability, and the money of the person and of the other.
    """

    name: str
    options: tuple[str, ...]

    @property
    def actions(self) -> tuple[tuple[str, ...]]:
        """The names of what can be chosen."""
        return (self.options,)

    @property
    def shape(self) -> tuple[int]:
        """The number of options."""
        return (len(self.options),)


# Roles


ULTIMATUM_RESPONDER = Division("ultimatum:responder", ("reject", "accept"))


def in_amounts(role: str, amounts: Iterable[float]) -> Division:
    """A role whose options are amounts of money, as `dictator:dictator` or `trust:trustee`."""
    return Division(role, tuple(f"{amount:g}" for amount in amounts))


# The divisions of one trial


def ultimatum_responses(offer: float, pie: float) -> Floats:
    """What it pays to reject and to accept an offer, shape (2, 1, 3)."""
    return np.array([[[1.0, 0.0, 0.0]], [[1.0, offer, pie - offer]]])


def ultimatum_offers(pie: int, accepted: Floats, step: int = 1, largest: int | None = None) -> Floats:
    """What the offers pay if they are accepted and if they are rejected, shape (|A|, 2, 3).

    `accepted[i]` is the probability with which the proposer expects option i to be accepted; those beyond the pie do
    not matter. `largest` is the largest pie of the task, if pies differ.
    """
    given = _divided(pie, step, largest)
    possible, money = given[:, :1, 0], given[:, :, 1:]
    chance = np.stack([accepted, 1.0 - accepted], axis=1) * possible
    return np.concatenate([chance[..., None], np.concatenate([money, np.zeros_like(money)], axis=1)], axis=2)


def dictator_gifts(pie: int, step: int = 1, largest: int | None = None) -> Floats:
    """What the gifts pay, shape (|A|, 1, 3). `largest` is the largest pie of the task, if pies differ."""
    return _divided(pie, step, largest)


def trust_investments(
    endowment: int,
    shares: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None = None,
    *,
    step: int = 1,
    multiplier: int = MULTIPLIER,
    trustee_has: float = 0.0,
) -> Floats:
    """What it pays to send 0 to all of the endowment, if a share of what was received is returned; (|A|, R, 3).

    The R `shares` have probabilities in proportion to their `weights`, or all the same. In Berg, Dickhaut and McCabe
    (1995) trustees have an endowment of their own beside, `trustee_has`, of which nothing can be sent.
    """
    share = np.asarray(shares, dtype=float)
    weight = np.ones_like(share) if weights is None else np.asarray(weights, dtype=float)
    sent = np.arange(0, endowment + 1, step)[:, None]
    own = endowment - sent + share * multiplier * sent
    theirs = trustee_has + (1.0 - share) * multiplier * sent
    return np.stack([np.broadcast_to(weight / weight.sum(), own.shape), own, theirs], axis=2)


def trust_returns(
    sent: int, endowment: int, *, step: int = 1, multiplier: int = MULTIPLIER, trustee_has: float = 0.0
) -> Floats:
    """What it pays a trustee to return 0 to the most that can be received, shape (|A|, 1, 3).

    More than was received cannot be returned. The investor has what was not sent. `trustee_has` is as in
    `trust_investments`.
    """
    returns = _divided(multiplier * sent, step, multiplier * endowment)
    beside = np.array([0.0, trustee_has, endowment - sent])
    divided: Floats = returns + returns[..., :1] * beside
    return divided


def _divided(pie: int, step: int, largest: int | None) -> Floats:
    """What it pays to give 0 to the largest pie, shape (|A|, 1, 3); to give more than this pie is impossible."""
    given = np.arange(0.0, (pie if largest is None else largest) + 1, step)
    paid: Floats = np.stack([np.ones(len(given)), pie - given, given], axis=1)[:, None]
    return np.where((given <= pie)[:, None, None], paid, 0.0)

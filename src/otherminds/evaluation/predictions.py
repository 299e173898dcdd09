"""Predictions of choices that a mind was not fitted to: later rounds, other people, and new people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import WEAK_PRIOR, Fit, weakly
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.statistics import Estimate, ratio
from otherminds.files.strict_json import loads
from otherminds.files.text import read_text
from otherminds.mind import ParametricMind

Floats = NDArray[np.float64]


def later_rounds(mind: ParametricMind, choices: Choices, share: float = 1 / 3, sd: float = WEAK_PRIOR) -> Floats:
    """The log likelihood of each person's last rounds, this share of them, by parameters fitted to the rounds before.

    Shape (N,). Of people with several matches the last matches are held out, of others the last rounds.
    """
    held_out = last_rounds(choices, share)
    early = Likelihood.of(mind, choices, ~held_out)
    fitted = weakly(early, sd)
    late = Likelihood.of(mind, choices, held_out)
    return late(fitted.x[:, None], np.arange(len(choices.people)))[:, 0]


def last_rounds(choices: Choices, share: float = 1 / 3) -> NDArray[np.bool_]:
    """The last rounds of each person, shape (S, T), counted over all of her matches."""
    is_last = np.zeros_like(choices.played)
    for n in range(len(choices.people)):
        matches = np.flatnonzero(choices.person == n)
        order = [(s, t) for s in matches for t in np.flatnonzero(choices.played[s])]
        for s, t in order[len(order) - round(share * len(order)) :]:
            is_last[s, t] = True
    return is_last


def leave_one_person_out(mind: ParametricMind, choices: Choices, fitted: Fit | None = None) -> Floats:
    """The log likelihood of each person's choices, predicted from the other people of her group; shape (N,).

    log (1 / (n − 1)) Σ_{j ≠ i} p(choices of i | parameters of j): a person is one of the others, nobody knows which.
    The parameters are those of `fitted`, by person with the weak prior, so nothing of a person enters her prediction.
    Raises InputError if somebody is alone in a group.
    """
    log_likelihood = np.zeros(len(choices.people))
    x = (fitted or weakly(Likelihood.of(mind, choices))).x
    for group in dict.fromkeys(choices.groups):
        members = np.array([n for n, name in enumerate(choices.groups) if name == group])
        likelihood = Likelihood.of(mind, choices.subset(members))
        # log p(choices of member i | parameters of member j)
        table = likelihood(np.broadcast_to(x[members], (len(members), *x[members].shape)), np.arange(len(members)))
        if not x.shape[1]:
            log_likelihood[members] = table[:, 0]
            continue
        if len(members) < 2:
            raise InputError(f"group `{group[:60]}` has one person, whom no others predict", hint="--holdout rounds")
        np.fill_diagonal(table, -np.inf)
        log_likelihood[members] = logsumexp(table, axis=1) - np.log(len(members) - 1)
    return log_likelihood


HOLDOUTS = ("rounds", "person")


def held_out(mind: ParametricMind, choices: Choices, what: str, fitted: Fit | None = None) -> Estimate:
    """The log likelihood per choice of what was held out, with an interval over people.

    `what` is "rounds", for the last third of each person's rounds, or "person", for each person from the others.
    """
    values, counted = held_out_by_person(mind, choices, what, fitted)
    return ratio(values.tolist(), counted.tolist())


def held_out_by_person(
    mind: ParametricMind, choices: Choices, what: str, fitted: Fit | None = None
) -> tuple[Floats, Floats]:
    """The log likelihood of what was held out of each person's choices, and the number of these choices; (N,) each."""
    scored = choices.scored & last_rounds(choices) if what == "rounds" else choices.scored
    if not scored.any():
        raise InputError("nobody made a choice in the rounds that are held out", hint="it is the last third of them")
    values = leave_one_person_out(mind, choices, fitted) if what == "person" else later_rounds(mind, choices)
    return values, choices.total(scored.sum(axis=1).astype(float))


# New people


class FittedBefore(NamedTuple):
    """A mind's parameters by name, of shape (n,), for units that were fitted before: people, groups, or all."""

    mind: str
    units: tuple[str, ...]
    values: Mapping[str, Floats]


def read_fitted(path: Path) -> list[FittedBefore]:
    """The fits in a file that `otherminds fit … --json` printed. Raises InputError."""
    hint = "the output of otherminds fit … --json"
    text = read_text(path)
    try:
        fits = [
            FittedBefore(
                str(fit["mind"]),
                tuple(str(unit["unit"]) for unit in fit["units"]),
                {
                    str(name): np.array([float(unit["parameters"][name]["value"]) for unit in fit["units"]])
                    for name in fit["units"][0]["parameters"]
                },
            )
            for fit in loads(text)
        ]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError):
        raise InputError("these are no fits", path=path, hint=hint) from None
    if not fits or not all(np.isfinite(values).all() for fit in fits for values in fit.values.values()):
        raise InputError("there are no fits in it, or parameters that are no numbers", path=path, hint=hint)
    return fits


class Score(NamedTuple):
    """How well parameters fitted before predict people: nats a choice with a 95 % interval over people.

    `known` of the `people` were predicted by their own or their group's parameters; `chance` is the log probability of
    a choice by uniform play.
    """

    mind: str
    people: int
    known: int
    choices: int
    log_likelihood: float
    per_choice: float
    low: float
    high: float
    chance: float


def score_of(mind: ParametricMind, choices: Choices, before: FittedBefore) -> Score:
    """The score of a mind's parameters on people's choices. Raises InputError if they are not this mind's."""
    if set(before.values) != set(mind.names):
        parameters = ", ".join(mind.names) or "no parameters"
        raise InputError(f"{mind.name} has {parameters}, the fits {', '.join(before.values) or 'none'}")
    for parameter in mind.parameters:
        if ((before.values[parameter.name] < parameter.low) | (before.values[parameter.name] > parameter.high)).any():
            limits = f"{parameter.low:g} and {parameter.high:g}"
            raise InputError(f"{mind.name}: {parameter.name} of the fits is not between {limits}")
    likelihood = Likelihood.of(mind, choices)
    table, known = predicted_from_units(likelihood, before)
    counted = choices.total(choices.scored.sum(axis=1).astype(float))
    over = ratio(table.tolist(), counted.tolist())
    chance = -float(np.log(choices.games[0].shape[0]))
    people, total = len(choices.people), float(table.sum())
    return Score(
        mind.name, people, int(known.sum()), int(counted.sum()), total, over.value, over.low, over.high, chance
    )


def predicted_from_units(likelihood: Likelihood, before: FittedBefore) -> tuple[Floats, NDArray[np.bool_]]:
    """The log likelihood of each person's choices under parameters of other units, and who is known to be which; (N,).

    A unit with a person's name, or else with that of the group, predicts the person; else the person is taken to be one
    of the units, nobody knows which: log (1 / n) Σ_j p(choices | parameters of j).
    """
    choices = likelihood.choices
    people, units = len(choices.people), len(before.units)
    values = {name: np.broadcast_to(value, (people, units)) for name, value in before.values.items()}
    table = likelihood.of_values(values, units)
    index = {name: j for j, name in enumerate(before.units)}
    unit = np.array([index.get(p, index.get(g, -1)) for p, g in zip(choices.people, choices.groups, strict=True)])
    mixed = logsumexp(table, axis=1) - np.log(units)
    return np.where(unit >= 0, table[np.arange(people), unit], mixed), unit >= 0

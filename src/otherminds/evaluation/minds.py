"""Minds with parameters by name, for whatever people faced: a game, a bandit, or offers."""

from __future__ import annotations

import numpy as np

from otherminds.errors import InputError, meant
from otherminds.evaluation.choices import Task
from otherminds.language.find import load
from otherminds.mind import Parameter, ParametricMind
from otherminds.worlds.bandits.learners import LEARNERS
from otherminds.worlds.offers.preferences import PREFERENCES
from otherminds.worlds.repeated_games.players.parametric import MINDS, parametric
from otherminds.worlds.repeated_games.rules import Game


def minds_for(task: Task) -> list[ParametricMind]:
    """The minds of the library that can do a task."""
    every = (*MINDS.values(), *LEARNERS.values(), *PREFERENCES.values())
    return [mind for mind in every if mind.fits(task)]


def mind_named(name: str, task: Task) -> ParametricMind:
    """The mind with this name, or the user's own class `module:Class`, for a task.

    `Class(task, **values)` is a mind before the first round, `Class.PARAMETERS` are its parameters, as
    (Parameter("beta", 0, 20, (1, 8)),). Raises InputError if there is no such mind, or it cannot do the task.
    """
    if ":" in name:
        return _own(name)
    if isinstance(task, Game):
        return parametric(name, task)
    known = {mind.name: mind for mind in minds_for(task)}
    if name not in known:
        raise InputError(f"no mind `{name[:60]}` for {task.name}", hint=meant(name, known, "or module:Class"))
    return known[name]


def _own(spec: str) -> ParametricMind:
    mind_class = load(spec)
    try:
        parameters = tuple(Parameter(*parameter) for parameter in mind_class.PARAMETERS)
        name = mind_class.__name__
    except (AttributeError, TypeError) as error:
        hint = "a class with PARAMETERS, as (Parameter('beta', 0, 20, (1, 8)),)"
        raise InputError(f"{spec[:60]} is no mind with parameters: {error}", hint=hint) from None
    for parameter in parameters:
        if not -np.inf < parameter.low < parameter.high < np.inf:
            limits = f"{parameter.low} and {parameter.high}"
            raise InputError(f"{spec[:60]}: {parameter.name} is not between a low and a high value: {limits}")
    if len({parameter.name for parameter in parameters}) < len(parameters):
        raise InputError(f"{spec[:60]} has two parameters with the same name")
    return ParametricMind(name, spec, parameters, mind_class)

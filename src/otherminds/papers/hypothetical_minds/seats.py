"""Who plays in the scenarios of Hypothetical Minds: guesses as programs, and those they compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from otherminds.papers.hypothetical_minds.agent import Hypothetical, Theory
from otherminds.papers.hypothetical_minds.ppo import Trained, shipped_for
from otherminds.papers.hypothetical_minds.programs import Programs, RescorlaWagner
from otherminds.planning.best_response import best_rate
from otherminds.worlds.in_the_matrix.bots import DEFT, WALKER, MatrixBot
from otherminds.worlds.in_the_matrix.hypotheses import MARGIN, library, machine_of, meeting_game
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.in_the_matrix.strategies import Aim, CounterPrevious, Specialist, Strategy, Whim
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.repeated_games.machines import Machine, equivalent
from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead, closed_hypotheses

Seat = Callable[[InTheMatrix, str, Sequence[str], np.random.Generator], Hypothetical | MatrixBot | Trained]


def body(
    world: InTheMatrix, me: str, strategy: Strategy, rng: np.random.Generator, *, mapped: bool = False
) -> MatrixBot:
    """A deft body that knows of walls and sites only what it has seen, unless it has the map."""
    return MatrixBot.initial(world, me, strategy, rng, DEFT, mapped=mapped)


def guessing(
    world: InTheMatrix, me: str, prior: Theory, rng: np.random.Generator, *, mapped: bool = False
) -> Hypothetical:
    """Who has a theory of everybody, in such a body."""
    moved = body(world, me, Specialist(Aim(0, MARGIN)), rng, mapped=mapped)
    return Hypothetical.initial(world, me, prior, rng, body=moved)


def _programs(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    return guessing(world, me, Programs.of(library(world.rules)), rng)


def _mapped(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    return guessing(world, me, Programs.of(library(world.rules)), rng, mapped=True)


def _valued(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    return guessing(world, me, RescorlaWagner.of(library(world.rules)), rng)


def _stranger(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    return guessing(world, me, Programs.of(library(world.rules, without=_like(world, names))), rng)


def _informed(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    game, prior = meeting_game(world.rules), Programs.of(library(world.rules))
    true = [_true(world, name) for name in names]
    known = [prior if one is None else Programs(BayesianLookahead.of(closed_hypotheses(game, [one]))) for one in true]
    moved = body(world, me, Specialist(Aim(0, MARGIN)), rng)
    return Hypothetical.initial(world, me, prior, rng, body=moved, theories=(prior, *known))


def _last_play(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> MatrixBot:
    payoff, kinds = meeting_game(world.rules).payoff(), range(len(world.rules.resources))
    replies = tuple(Aim(int(payoff[:, kind].argmax()), MARGIN) for kind in kinds)
    return body(world, me, CounterPrevious(replies), rng)


def _uniform(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> MatrixBot:
    return body(world, me, Whim(tuple(Aim(kind, MARGIN) for kind in range(len(world.rules.resources)))), rng)


def _random(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> MatrixBot:
    return MatrixBot.initial(world, me, Specialist(Aim(0, MARGIN)), rng, WALKER)


def _ppo(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Trained:
    return Trained.initial(world, me, shipped_for(world))


SEATS: Mapping[str, Seat] = {
    "programs": _programs,
    "mapped": _mapped,
    "valued": _valued,
    "stranger": _stranger,
    "informed": _informed,
    "last_play": _last_play,
    "uniform": _uniform,
    "random": _random,
    "ppo": _ppo,
}
"""Program hypotheses; with the map of the world; judged by the paper's rule instead of Bayes'; without those that are
the partner's; who knows the partner; who answers the last play; able bodies that play anything; who walks about at
random; and a network trained by PPO."""


@cache
def _true(world: InTheMatrix, name: str) -> Machine | None:
    """The machine that a bot plays by; None if it has no strategy."""
    strategy = bot(name).strategy
    return None if strategy is None else machine_of(name, strategy, meeting_game(world.rules))


def _like(world: InTheMatrix, names: Sequence[str]) -> list[str]:
    """The hypotheses that play just as one of these bots does."""
    true = [found for found in (_true(world, name) for name in dict.fromkeys(names)) if found is not None]
    return [one.name for one in library(world.rules).machines if any(equivalent(bot, one) for bot in true)]


def best_against(world: InTheMatrix, name: str) -> float | None:
    """What the best policy against a bot gets a meeting, if it is known how the bot plays."""
    true = _true(world, name)
    return None if true is None else best_rate(meeting_game(world.rules).payoff(), true.chances)

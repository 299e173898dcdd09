"""The same matches played by otherminds and by other libraries, if these are installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import product
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.literal_functional import expected_regret
from otherminds.evaluation.tasks import Task
from otherminds.world import rollout
from otherminds.worlds.repeated_games.machines import Machine, bundled_machines, constant
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import RepeatedGame
from otherminds.worlds.repeated_games.tournament import expected_score, match_score, match_scores

GAME = find_game("ipd")
ROUNDS = 100
MANY = 9
COOPERATOR = "Cooperator"
NAMES = (
    COOPERATOR,
    "Defector",
    "Alternator",
    "Cycler CCD",
    "Tit For Tat",
    "Anti Tit For Tat",
    "Tit For 2 Tats",
    "Two Tits For Tat",
    "Grudger",
    "Win-Stay Lose-Shift",
    "Bully",
)
STOCHASTIC = ("gtft", "zd-extort-2", "joss", "random", "tft~0.05")
Pair = tuple[Machine, Machine]
Floats = NDArray[np.float64]


class Peer(NamedTuple):
    """What both get in every match by another library, and how it plays all of them once."""

    scores: Floats
    play: Callable[[], object]


@cache
def pairs() -> list[Pair]:
    """All pairs of simple deterministic strategies."""
    known = {machine.name: machine for machine in bundled_machines(GAME)} | {COOPERATOR: constant(GAME, 0)}
    return [(known[first], known[second]) for first, second in product(NAMES, repeat=2)]


@cache
def stochastic_pairs() -> list[Pair]:
    """All pairs of stochastic strategies."""
    machines = [partner(name, GAME) for name in STOCHASTIC]
    return [(first, second) for first in machines for second in machines]


def one_by_one() -> list[tuple[float, float]]:
    """What both get in every match."""
    return [match_score(GAME, first, second, ROUNDS) for first, second in pairs()]


def at_once() -> Floats:
    """The same for all matches several times over, in lock step."""
    return match_scores(GAME, pairs() * MANY, ROUNDS)


def axelrod() -> Peer | None:
    """Axelrod's Match.play() alone, without making the matches and without scoring them.

    Its cache is closed, because it would have deterministic matches looked up rather than played.
    """
    if (library := _installed("axelrod")) is None:
        return None
    players = {player.name: player for player in library.strategies}
    (r, s), (t, p) = GAME.payoff().tolist()
    game, cache = library.Game(r=r, s=s, t=t, p=p), library.DeterministicCache()
    cache.mutable = False
    matches = [
        library.Match([players[first](), players[second]()], turns=ROUNDS, game=game, deterministic_cache=cache)
        for first, second in product(NAMES, repeat=2)
    ]

    def play() -> None:
        for match in matches:
            match.play()

    play()
    return Peer(np.array([match.final_score() for match in matches], dtype=float), play)


def open_spiel() -> Peer | None:
    """OpenSpiel's repeated matrix game through its Python API, told what to do: the strategies cost it nothing."""
    if (library := _installed("pyspiel")) is None:
        return None
    tables = GAME.payoff(0).tolist(), GAME.payoff(1).T.tolist()
    stage = library.create_matrix_game(GAME.name, GAME.title, *GAME.actions, *tables)
    repeated = library.create_repeated_game(stage, {"num_repetitions": ROUNDS})
    told = [_actions(pair) for pair in pairs()]

    def play() -> list[list[float]]:
        found = []
        for actions in told:
            state = repeated.new_initial_state()
            for joint in actions:
                state.apply_actions(joint)
            found.append(state.returns())
        return found

    return Peer(np.array(play()), play)


def expectations() -> list[float]:
    """What the first of every stochastic pair expects to get."""
    return [expected_score(GAME, first, second, ROUNDS)[0] for first, second in stochastic_pairs()]


def followed() -> list[float]:
    """The same, with minds followed along every branch of chance."""
    tasks = [(first, Task(GAME, second, ROUNDS)) for first, second in stochastic_pairs()]
    return [task.optimum - ROUNDS * expected_regret(task, first.start) for first, task in tasks]


def _actions(pair: Pair) -> list[list[int]]:
    minds = dict(zip(GAME.agents, (machine.start for machine in pair), strict=True))
    steps = rollout(RepeatedGame(GAME, ROUNDS), minds, steps=ROUNDS, rng=np.random.default_rng(0))
    return [[step.joint[agent] for agent in GAME.agents] for step in steps]


def _installed(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None

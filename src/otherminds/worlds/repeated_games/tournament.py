"""Matches and tournaments: machines round by round, many in lock step, or in exact expectation; any minds by sampling.

`exploitability` says what a best responder takes from a machine, `replicator_dynamics` which strategies would spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, Distribution
from otherminds.mind import Mind
from otherminds.planning.best_response import best_response, value_of
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.rules import Game, Outcome

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
ROUNDING = 1e-9
"""Difference of probabilities that counts as none."""
_Row = list[tuple["_Row", int, float]]


def match_score(game: Game, first: Machine, second: Machine, rounds: int) -> tuple[float, float]:
    """Total payoffs of two deterministic machines, Σ_t R_i(a_t, b_t), played round by round.

    Raises ValueError for a stochastic machine, one that does not fit its place in the game, or fewer than 1 round.
    """
    _check_rounds(rounds)
    row, own = _as_linked_rows(game, 0, first)
    other_row, theirs = _as_linked_rows(game, 1, second)
    total = other_total = 0.0
    for _ in range(rounds):
        (row, own, gain), (other_row, theirs, other_gain) = row[theirs], other_row[own]
        total += gain
        other_total += other_gain
    return total, other_total


def match_scores(game: Game, pairs: Sequence[tuple[Machine, Machine]], rounds: int) -> Floats:
    """Total payoffs of each pair, as by `match_score`, all played in lock step: shape (pairs, 2).

    Raises ValueError for a stochastic machine, one that does not fit its place in the game, or fewer than 1 round.
    """
    _check_rounds(rounds)
    if not pairs:
        return np.zeros((0, 2))
    # all machines as flat arrays of cells, one for each state and action of the other
    tables = list[tuple[Ints, Floats, Ints]]()
    initial_cells = list[list[int]]()
    count = 0
    for seat, machines in enumerate(zip(*pairs, strict=True)):
        width = game.payoff(seat).shape[1]
        # by identity, because hashing thousands of machines takes as long as playing them
        first_cell = dict[int, int]()
        for machine in machines:
            if id(machine) not in first_cell:
                table = _as_arrays(game, seat, machine)
                tables.append((table.actions.repeat(width), table.gains.ravel(), count + width * table.onward.ravel()))
                first_cell[id(machine)] = count
                count += table.gains.size
        initial_cells.append([first_cell[id(machine)] for machine in machines])
    actions, gains, onward = (np.concatenate(part) for part in zip(*tables, strict=True))
    places = np.array(initial_cells)
    total = np.zeros(places.shape)
    for _ in range(rounds):
        indices = places + actions[places][::-1]
        total += gains[indices]
        places = onward[indices]
    return total.T


def expected_score(game: Game, first: Machine, second: Machine, rounds: int) -> tuple[float, float]:
    """Exact expected total payoffs of two machines, which may be stochastic.

    `expected_score(ipd, partner("tft", ipd), partner("random", ipd), 10)` are both totals over 10 rounds.

    w₀ = 1[(0, 0)],  w_{t+1} = w_t P,  E[Σ_t R_i] = Σ_t w_t · r_i, where w is a distribution over pairs of states, and P
    and r are their transitions and expected payoffs. Raises ValueError for a machine that does not fit its place in
    the game, or fewer than 1 round.
    """
    _check_rounds(rounds)
    for seat, machine in enumerate((first, second)):
        _check_fits(game, seat, machine)
    # a pair of states is numbered (first's state) · (second's states) + (second's state), a joint action likewise
    outputs, moves = first.chances
    other_outputs, other_moves = second.chances
    chance = outputs[:, None, :, None] * other_outputs[None, :, None, :]
    onward = moves.transpose(0, 2, 1)[:, None] * len(other_outputs) + other_moves[None]
    chance_by_pair = chance.reshape(len(outputs) * len(other_outputs), -1)
    next_pair = onward.ravel()
    visits = np.zeros(len(chance_by_pair))
    distribution = np.eye(1, len(chance_by_pair))[0]
    for _ in range(rounds):
        visits += distribution
        distribution = np.bincount(next_pair, (distribution[:, None] * chance_by_pair).ravel(), len(chance_by_pair))
    joint = visits @ chance_by_pair
    return float(joint @ game.payoff(0).ravel()), float(joint @ game.payoff(1).T.ravel())


def tournament(game: Game, machines: Sequence[Machine], rounds: int) -> Floats:
    """Expected payoffs per round in a round-robin tournament with self-play: shape (machines, machines, 2).

    Entry [i, j] has the payoffs of machine i in the first place and machine j in the second:
    `tournament(ipd, [partner(name, ipd) for name in ("tft", "grim", "random")], 100)[:, :, 0].mean(axis=1)`.
    Raises ValueError for a machine that does not fit both places, or fewer than 1 round.
    """
    return exact_scores(game, machines, machines, rounds)


def exact_scores(game: Game, firsts: Sequence[Machine], seconds: Sequence[Machine], rounds: int) -> Floats:
    """Expected payoffs per round of every machine for the first place with every one for the second.

    Shape (firsts, seconds, 2). Raises ValueError for a machine that does not fit its place, or fewer than 1 round.
    """
    pairs = [(first, second) for first in firsts for second in seconds]
    certain = [np.array([machine.deterministic for machine in machines], dtype=bool) for machines in (firsts, seconds)]
    both_certain = np.logical_and.outer(*certain).ravel()
    scores = np.zeros((len(pairs), 2))
    scores[both_certain] = match_scores(game, list(compress(pairs, both_certain)), rounds)
    for k in np.flatnonzero(~both_certain):
        scores[k] = expected_score(game, *pairs[k], rounds)
    return scores.reshape(len(firsts), len(seconds), 2) / rounds


Player = Mind[Outcome | None, int]


def played_match(
    game: Game, minds: tuple[Player, Player], rounds: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Total payoffs of two minds in one match; each observes rounds from its own side.

    Actions are sampled. A certain one uses no randomness, so a match that leaves all generators unchanged is certain.
    """
    payoff, other_payoff = game.payoff(0).tolist(), game.payoff(1).tolist()
    first, second = minds[0].observe(None), minds[1].observe(None)
    total = other_total = 0.0
    for _ in range(rounds):
        own, theirs = _sampled_action(first.act(), rng), _sampled_action(second.act(), rng)
        gain, other_gain = payoff[own][theirs], other_payoff[theirs][own]
        first, second = first.observe(Outcome(own, theirs, gain)), second.observe(Outcome(theirs, own, other_gain))
        total, other_total = total + gain, other_total + other_gain
    return total, other_total


def _sampled_action(policy: Distribution[int], rng: np.random.Generator) -> int:
    certain = policy.mode if isinstance(policy, Categorical) and len(policy.support) == 1 else None
    action: int = policy.sample(rng) if certain is None else certain
    return action


class Exploitability(NamedTuple):
    """What a best responder to a machine gains per round, in units of payoff: over the value, and over the machine."""

    over_value: float
    over_machine: float


def exploitability(game: Game, machine: Machine, rounds: int) -> Exploitability:
    """What the first agent gains by the best response π* to a machine m in the second place.

    over_value = max_π E[Σ_t R₁ | π, m] / T − v,  v = min_y max_a Σ_b y_b R₁(a, b);
    over_machine = E[Σ_t R₁ − R₂ | π*, m] / T.

    v is the least to which the second agent can hold the first in each round. So `over_value` is never negative, and in
    a game of zero sum it is 0 for an optimal machine alone (the usual exploitability). A mixed strategy is a machine
    with one state. `exploitability(rps, partner("always-rock", rps), 100).over_value` is the payoff of a win.
    Raises ValueError for a machine that does not fit the second place, or fewer than 1 round.
    """
    _check_rounds(rounds)
    _check_fits(game, 1, machine)
    response = best_response(game.payoff(0), machine.chances, rounds)
    best = float(response.values[0, 0])
    earned = value_of(response.actions, np.ascontiguousarray(game.payoff(1).T), machine.chances)
    return Exploitability(best / rounds - security_level(game), (best - earned) / rounds)


def security_level(game: Game) -> float:
    """v = min_y max_a Σ_b y_b R₁(a, b): the least to which the second agent can hold the first, in mixed strategies.

    Raises ValueError if the solver fails.
    """
    from scipy.optimize import linprog

    payoff = game.payoff(0)
    options, their_options = payoff.shape
    above = np.c_[payoff, -np.ones(options)]  # R y ≤ v
    sum_to_one = np.r_[np.ones(their_options), 0.0][None]
    bounds = [(0.0, 1.0)] * their_options + [(None, None)]
    solution = linprog(np.eye(their_options + 1)[-1], above, np.zeros(options), sum_to_one, [1.0], bounds=bounds).x
    if solution is None:
        raise ValueError(f"the minimax program of {game.name} has no solution")
    return float(solution[-1])


def replicator_dynamics(payoffs: Floats, generations: int, shares: Floats | None = None) -> Floats:
    """The shares of strategies in a population over generations, shape (generations + 1, strategies).

    p_i′ = p_i (f_i − m) / Σ_j p_j (f_j − m),  f = A p,  with A[i, j] the payoff of strategy i with j, and m the lowest
    payoff in A: discrete replicator dynamics (Maynard Smith, Evolution and the Theory of Games, 1982, appendix D). The
    first generation has equal shares unless `shares` are given. `replicator_dynamics(tournament(ipd, machines, 100)[:,
    :, 0], 500)[-1]` is the last generation. Raises ValueError if A is not square or `shares` is no distribution.
    """
    size = len(payoffs)
    if not size or payoffs.shape != (size, size):
        raise ValueError(f"payoffs have to be a square table, and not of shape {payoffs.shape}")
    start = np.full(size, 1.0 / size) if shares is None else np.asarray(shares, dtype=float)
    if start.shape != (size,) or (start < 0).any() or abs(start.sum() - 1.0) > ROUNDING:
        raise ValueError(f"shares have to be a distribution over {size} strategies")
    above = payoffs - payoffs.min()
    history = [start]
    for _ in range(generations):
        offspring = history[-1] * (above @ history[-1])
        total = offspring.sum()
        history.append(offspring / total if total > 0.0 else history[-1])
    return np.array(history)


class _MachineArrays(NamedTuple):
    """A deterministic machine as arrays by state: its action, and by action of the other its payoff and next state."""

    actions: Ints
    gains: Floats
    onward: Ints


@lru_cache(maxsize=4096)
def _as_arrays(game: Game, seat: int, machine: Machine) -> _MachineArrays:
    """A deterministic machine in this place of the game as arrays.

    Raises ValueError if it is stochastic or does not fit.
    """
    _check_fits(game, seat, machine)
    if not machine.deterministic:
        raise ValueError(f"{machine.name} is stochastic: expected_score gives the exact expectation")
    outputs, moves = machine.chances
    actions = outputs.argmax(axis=1)
    return _MachineArrays(actions, game.payoff(seat)[actions], moves[np.arange(len(actions)), :, actions])


@lru_cache(maxsize=4096)
def _as_linked_rows(game: Game, seat: int, machine: Machine) -> tuple[_Row, int]:
    """The row of the machine's initial state, and its first action.

    For each action of the other a row has the next row, the machine's action there, and the payoff of this round.
    """
    actions, gains, onward = (array.tolist() for array in _as_arrays(game, seat, machine))
    rows: list[_Row] = [[] for _ in actions]
    for row, gain, to in zip(rows, gains, onward, strict=True):
        row += [(rows[q], actions[q], r) for q, r in zip(to, gain, strict=True)]
    return rows[0], actions[0]


def _check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise ValueError(f"a match needs at least 1 round, not {rounds}")


def _check_fits(game: Game, seat: int, machine: Machine) -> None:
    """Raise ValueError unless the machine has the actions of this place in a game of two."""
    if len(game.agents) != 2:
        raise ValueError(f"matches need games of two, and {game.name} has {len(game.agents)} agents")
    shape = len(machine.outputs[0]), len(machine.moves[0][0])
    if shape != game.payoff(seat).shape:
        raise ValueError(f"{machine.name} does not fit {game.agents[seat]} in {game.name}: it has other actions")

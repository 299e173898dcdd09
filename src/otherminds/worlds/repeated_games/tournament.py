"""Matches and tournaments of machines: played round by round, many in lock step, or in exact expectation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.rules import Game

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_Row = list[tuple["_Row", int, float]]


def match_score(game: Game, first: Machine, second: Machine, rounds: int) -> tuple[float, float]:
    """Total payoffs of two deterministic machines, Σ_t R_i(a_t, b_t), played round by round.

    Raises ValueError for a stochastic machine, one that does not fit its place in the game, or fewer than 1 round.
    """
    _check_rounds(rounds)
    row, own = _linked(game, 0, first)
    other_row, other = _linked(game, 1, second)
    total = other_total = 0.0
    for _ in range(rounds):
        (row, own, gain), (other_row, other, other_gain) = row[other], other_row[own]
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
    parts, starts, cells = list[tuple[Ints, Floats, Ints]](), list[list[int]](), 0
    for seat, machines in enumerate(zip(*pairs, strict=True)):
        width = game.payoff(seat).shape[1]
        first = dict[int, int]()  # by identity, because hashing thousands of machines takes as long as playing them
        for machine in machines:
            if id(machine) not in first:
                table = _table(game, seat, machine)
                parts.append((table.actions.repeat(width), table.gains.ravel(), cells + width * table.onward.ravel()))
                first[id(machine)] = cells
                cells += table.gains.size
        starts.append([first[id(machine)] for machine in machines])
    actions, gains, onward = (np.concatenate(part) for part in zip(*parts, strict=True))
    places = np.array(starts)
    total = np.zeros(places.shape)
    for _ in range(rounds):
        played = places + actions[places][::-1]
        total += gains[played]
        places = onward[played]
    return total.T


def expected_score(game: Game, first: Machine, second: Machine, rounds: int) -> tuple[float, float]:
    """Exact expected total payoffs of two machines, which may be stochastic.

    w₀ = 1[(0, 0)],  w_{t+1} = w_t P,  E[Σ_t R_i] = Σ_t w_t · r_i, where w is a distribution over pairs of states, and P
    and r are their transitions and expected payoffs. Raises ValueError for a machine that does not fit its place in
    the game, or fewer than 1 round.
    """
    _check_rounds(rounds)
    for seat, machine in enumerate((first, second)):
        _check_place(game, seat, machine)
    outputs, moves = first.chances
    other_outputs, other_moves = second.chances
    chance = outputs[:, None, :, None] * other_outputs[None, :, None, :]
    onward = moves.transpose(0, 2, 1)[:, None] * len(other_outputs) + other_moves[None]
    flat, to = chance.reshape(len(outputs) * len(other_outputs), -1), onward.ravel()
    visits = np.zeros(len(flat))
    weight = np.eye(1, len(flat))[0]
    for _ in range(rounds):
        visits += weight
        weight = np.bincount(to, (weight[:, None] * flat).ravel(), len(flat))
    joint = visits @ flat
    return float(joint @ game.payoff(0).ravel()), float(joint @ game.payoff(1).T.ravel())


def tournament(game: Game, machines: Sequence[Machine], rounds: int) -> Floats:
    """Expected payoffs per round in a round-robin tournament with self-play: shape (machines, machines, 2).

    Entry [i, j] has the payoffs of machine i in the first place and machine j in the second.
    Raises ValueError for a machine that does not fit both places, or fewer than 1 round.
    """
    pairs = [(first, second) for first in machines for second in machines]
    certain = np.array([machine.deterministic for machine in machines], dtype=bool)
    sure = np.logical_and.outer(certain, certain).ravel()
    found = np.zeros((len(pairs), 2))
    found[sure] = match_scores(game, list(compress(pairs, sure)), rounds)
    for k in np.flatnonzero(~sure):
        found[k] = expected_score(game, *pairs[k], rounds)
    return found.reshape(len(machines), len(machines), 2) / rounds


class _MachineArrays(NamedTuple):
    """A deterministic machine as arrays by state: its action, and by action of the other its payoff and next state."""

    actions: Ints
    gains: Floats
    onward: Ints


@lru_cache(maxsize=4096)
def _table(game: Game, seat: int, machine: Machine) -> _MachineArrays:
    _check_place(game, seat, machine)
    if not machine.deterministic:
        raise ValueError(f"{machine.name} is stochastic: expected_score gives the exact expectation")
    outputs, moves = machine.chances
    actions = outputs.argmax(axis=1)
    return _MachineArrays(actions, game.payoff(seat)[actions], moves[np.arange(len(actions)), :, actions])


@lru_cache(maxsize=4096)
def _linked(game: Game, seat: int, machine: Machine) -> tuple[_Row, int]:
    """The row of the machine's initial state, and its first action.

    For each action of the other a row has the next row, the machine's action there, and the payoff of this round.
    """
    actions, gains, onward = (part.tolist() for part in _table(game, seat, machine))
    rows: list[_Row] = [[] for _ in actions]
    for row, gain, to in zip(rows, gains, onward, strict=True):
        row += [(rows[q], actions[q], r) for q, r in zip(to, gain, strict=True)]
    return rows[0], actions[0]


def _check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise ValueError(f"a match needs at least 1 round, not {rounds}")


def _check_place(game: Game, seat: int, machine: Machine) -> None:
    if len(game.agents) != 2:
        raise ValueError(f"matches need games of two, and {game.name} has {len(game.agents)} agents")
    shape = len(machine.outputs[0]), len(machine.moves[0][0])
    if shape != game.payoff(seat).shape:
        raise ValueError(f"{machine.name} does not fit {game.agents[seat]} in {game.name}: it has other actions")

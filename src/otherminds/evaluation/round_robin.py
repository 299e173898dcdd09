"""Round-robin tournaments of named players and machines, with a ranking.

Two machines have an exact expectation; matches with a player are sampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError, meant
from otherminds.evaluation.engines import stream
from otherminds.evaluation.own_players import blamed_if_own, is_own, player_named
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import Estimate, exact, stratified
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import UnknownPartnerError, own_machines, partner, partner_names
from otherminds.worlds.repeated_games.players.by_name import PLAYERS
from otherminds.worlds.repeated_games.rules import Game
from otherminds.worlds.repeated_games.tournament import Player, exact_scores, played_match, replicator_dynamics

Floats = NDArray[np.float64]
ROUNDING = 1e-9
"""Difference of mean payoffs that counts as none: rounding of sums."""


@dataclass(frozen=True)
class Entrant:
    """A participant: a machine for each place, or a player by name or `module:object`."""

    name: str
    machines: tuple[Machine, Machine] | None = None


class Standing(NamedTuple):
    """The mean payoff per round of an entrant with all others, with its 95 % interval."""

    name: str
    score: Estimate


@dataclass(frozen=True, eq=False)
class RoundRobin:
    """The result of a tournament.

    `scores[e, i, j]` has both payoffs per round in match e of entrant i in the first place with j in the second, shape
    (episodes, entrants, entrants, 2); expected payoffs where both are machines.
    """

    game: Game
    entrants: tuple[Entrant, ...]
    rounds: int
    scores: Floats

    @cached_property
    def table(self) -> Floats:
        """The mean payoff per round of entrant i with j, over matches and over both places: shape (n, n)."""
        mean = self.scores.mean(axis=0)
        mean_payoff: Floats = (mean[:, :, 0] + mean[:, :, 1].T) / 2
        return mean_payoff

    @cached_property
    def ranking(self) -> tuple[Standing, ...]:
        """All entrants from the best to the worst by their mean payoff per round with all others.

        The others are fixed, and matches with each of them vary: the interval is that of `stratified`.
        """
        standings = [Standing(entrant.name, self._score(i)) for i, entrant in enumerate(self.entrants)]
        return tuple(sorted(standings, key=lambda standing: -standing.score.value))

    @property
    def ranks(self) -> list[str]:
        """The rank of each in the ranking; entrants with the same payoff share the first rank of theirs: `2=`."""
        values = [standing.score.value for standing in self.ranking]
        first = [next(i for i, payoff in enumerate(values) if abs(payoff - value) <= ROUNDING) for value in values]
        return [f"{i + 1}=" if first.count(i) > 1 else f"{i + 1}" for i in first]

    def _score(self, i: int) -> Estimate:
        """The mean payoff per round of entrant i over all others, with its interval."""
        opponents = [j for j in range(len(self.entrants)) if j != i]
        # a match in each place for every opponent and episode, shape (episodes, opponents)
        payoffs = (self.scores[:, i, opponents, 0] + self.scores[:, opponents, i, 1]) / 2
        if (payoffs == payoffs[0]).all():
            return exact(float(payoffs[0].mean()), len(opponents))
        return stratified(payoffs.ravel().tolist(), [str(j) for _ in payoffs for j in opponents])

    def shares(self, generations: int) -> Floats:
        """Replicator dynamics from equal shares, shape (generations + 1, entrants)."""
        return replicator_dynamics(self.table, generations)


def entrants_in(game: Game, names: Sequence[str], path: Path | None = None) -> tuple[Entrant, ...]:
    """The entrants with these names: machines of a file, players, and partners; by default all named partners.

    Without names a file adds all of its machines. Raises InputError for an unknown name, or an entrant that does not
    fit both places of the game.
    """
    if len(game.agents) != 2:
        hint = "tournaments are of games of two; `otherminds play` has games of three or more"
        raise InputError(f"{game.name} has {len(game.agents)} agents", hint=hint)
    own = own_machines(path, game.seen_by(1)), own_machines(path, game)
    if names:
        return tuple({entrant.name: entrant for entrant in (_entrant(name, game, own) for name in names)}.values())
    entrants = dict[str, Entrant]()
    for name in (*own[1], *partner_names(game)):
        with suppress(InputError):  # in games that are not symmetric, some names fit one place only
            entrant = _entrant(name, game, own)
            entrants.setdefault(entrant.name, entrant)
    return tuple(entrants.values())


def _entrant(name: str, game: Game, file_machines: tuple[Mapping[str, Machine], Mapping[str, Machine]]) -> Entrant:
    """The entrant with a name. `own` are the machines of a file by name, for the first and the second place."""
    if (name in PLAYERS and name not in file_machines[1]) or is_own(name):
        return Entrant(name)
    try:
        machines = partner(name, game.seen_by(1), file_machines[0]), partner(name, game, file_machines[1])
    except UnknownPartnerError:
        hint = meant(name, [*PLAYERS, *file_machines[1], *partner_names(game)], "players and partners by name")
        raise InputError(f"unknown entrant `{name[:60]}`", hint=hint) from None
    return Entrant(machines[1].name, machines)


def round_robin(game: Game, entrants: Sequence[Entrant], rounds: int, episodes: int, seed: int) -> RoundRobin:
    """Play everybody with everybody and with a copy of itself, in both places.

    In a symmetric game a match is both at once. Raises InputError for a player that does not fit, or fewer than two
    entrants.
    """
    size = len(entrants)
    is_symmetric = symmetric(game)
    if size < 2:
        raise InputError("a tournament needs two entrants", hint="name players or partners, as tft and rmax")
    scores = np.zeros((episodes, size, size, 2))
    machines = [(i, entrant.machines) for i, entrant in enumerate(entrants) if entrant.machines]
    if machines:
        places = [i for i, _ in machines]
        expected = exact_scores(game, [m[0] for _, m in machines], [m[1] for _, m in machines], rounds)
        scores[:, np.array(places)[:, None], places] = expected
    pairs = [
        (i, j)
        for i in range(size)
        for j in range(i if is_symmetric else 0, size)
        if not (entrants[i].machines and entrants[j].machines)
    ]
    for i, j in shown(pairs, len(pairs), "Playing"):
        scores[:, i, j] = _matches(game, (entrants[i], entrants[j]), rounds, episodes, seed)
        if is_symmetric and i != j:
            scores[:, j, i] = scores[:, i, j, ::-1]
    return RoundRobin(game, tuple(entrants), rounds, scores)


def _matches(game: Game, pair: tuple[Entrant, Entrant], rounds: int, episodes: int, seed: int) -> Floats:
    """Both payoffs per round in every match of two entrants, shape (episodes, 2)."""
    payoffs = np.zeros((episodes, 2))
    for episode in range(episodes):
        names_of_streams = ("tournament", game.name, pair[0].name, pair[1].name, str(episode))
        streams = [stream(seed, *names_of_streams, purpose) for purpose in ("first", "second", "acts")]
        states = [rng.bit_generator.state for rng in streams]
        minds = _mind(pair[0], 0, game, rounds, streams[0]), _mind(pair[1], 1, game, rounds, streams[1])
        with blamed_if_own(*(entrant.name for entrant in pair)):
            payoffs[episode] = played_match(game, minds, rounds, streams[2])
        if [rng.bit_generator.state for rng in streams] == states:  # no randomness was used: all matches are the same
            payoffs[:] = payoffs[episode]
            break
    return payoffs / rounds


def symmetric(game: Game) -> bool:
    """Whether both agents have the same actions and the same payoffs from their own side."""
    return game.shape[0] == game.shape[1] and bool((game.payoff(0) == game.payoff(1)).all())


def _mind(entrant: Entrant, place: int, game: Game, rounds: int, rng: np.random.Generator) -> Player:
    """The player of an entrant at the start of a match, in the first (0) or second (1) place of the game."""
    if entrant.machines:
        return entrant.machines[place].start
    # of a symmetric game both sides are the same, and plans are kept by game
    own_game = game.seen_by(1) if place and not symmetric(game) else game
    return player_named(entrant.name, own_game, horizon=rounds, rng=rng)

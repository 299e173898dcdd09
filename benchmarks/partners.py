"""Regret of players against partners that change, slip, learn or stay: a table in Markdown, or JSON with --json.

    python benchmarks/partners.py                    # all cells, all players
    python benchmarks/partners.py --cells changing --players bayes_open --episodes 2

Regret per round is against the exact optimum for the known partner. Partners that change
are machines that count rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from statistics import fmean
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.evaluation.tasks import Task, play
from otherminds.worlds.repeated_games.machines import Machine, build, constant, reactive
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.by_name import player
from otherminds.worlds.repeated_games.players.learning_machines import fictitious_player, q_learner
from otherminds.worlds.repeated_games.rules import Game

ROUNDS = 100
TODAY = (
    "rmax",
    "counts_model",
    "k_tom_1",
    "k_tom_2",
    "bayes_simplicity",
    "bayes_library",
    "posterior_sampling",
)
DEFAULT = "bayes_open"


def _square(name: str, rows: tuple[tuple[tuple[float, float], ...], ...]) -> Game:
    actions = tuple(f"a{i}" for i in range(len(rows))), tuple(f"b{i}" for i in range(len(rows[0])))
    return Game(name, ("you", "partner"), actions, tuple(pair for row in rows for pair in row))


STAG_HUNT = _square("stag hunt", (((10, 10), (0, 7)), ((7, 0), (5, 5))))
CHICKEN = _square("chicken", (((8, 8), (3, 10)), ((10, 3), (0, 0))))
PENNIES = _square("matching pennies", (((1, -1), (-1, 1)), ((-1, 1), (1, -1))))
WIDE = _square(
    "three by four",
    (
        ((8, 6), (1, 9), (5, 2), (0, 3)),
        ((2, 1), (6, 7), (0, 8), (9, 2)),
        ((4, 8), (3, 0), (7, 5), (2, 6)),
    ),
)


def _changing(name: str, game: Game, phase: Callable[[int], int]) -> Machine:
    """Copies the other's last action in phase 0, and plays the action after it in phase 1."""
    options, _ = game.payoff(1).shape

    def follow(q: tuple[int, int], _own: int, theirs: int) -> tuple[int, int]:
        return (min(q[0] + 1, ROUNDS), theirs)

    return build(name, game, (0, 0), lambda q: (q[1] + phase(q[0])) % options, follow)


def changing(game: Game) -> Iterator[Machine]:
    """Partners that change between tit for tat and its opposite."""
    yield _changing("tft to anti-copy", game, lambda t: int(t >= 50))
    yield _changing("anti-copy to tft", game, lambda t: int(t < 50))
    yield _changing("every 25 rounds", game, lambda t: t // 25 % 2)


def stationary(game: Game) -> Iterator[Machine]:
    """Partners that do not change."""
    options, others = game.payoff(1).shape
    for b in range(options):
        yield constant(game, b)
    if game.shape == (2, 2):
        names = (
            "tft anti-copy best-response wsls win-shift alternate random reciprocal-stubborn switcher grim gtft joss"
        )
        for name in names.split():
            yield partner(name, game)
    else:
        yield reactive("tft", game, 0, range(others))
        yield reactive("anti-copy", game, 0, [(a + 1) % options for a in range(others)])
        for name in ("best-response", "wsls", "win-shift", "alternate", "random", "reciprocal-stubborn"):
            yield partner(name, game)


def slipping(game: Game) -> Iterator[Machine]:
    """Tit for tat with slips."""
    for noise in (0.02, 0.05, 0.1):
        yield partner("tft", game).trembling(noise)


def learning(game: Game) -> Iterator[Machine]:
    """Fictitious play, and Q-learners on a fine grid of action values."""
    yield fictitious_player(game, ROUNDS)
    for rate in (0.1, 0.3):
        machine = q_learner(game, rate=rate, explore=0.1, levels=101)
        yield machine


IPD = find_game("ipd")
CELLS: dict[str, tuple[tuple[Game, ...], Callable[[Game], Iterator[Machine]]]] = {
    "changing": ((IPD, STAG_HUNT, CHICKEN, WIDE), changing),
    "stationary": ((IPD, STAG_HUNT, CHICKEN, WIDE), stationary),
    "slipping": ((IPD, STAG_HUNT, CHICKEN), slipping),
    "learning": ((CHICKEN, STAG_HUNT, PENNIES), learning),
}


class Cell(NamedTuple):
    """Mean regret per round of a player, over episodes."""

    suite: str
    game: str
    partner: str
    player: str
    regret: float
    episodes: int


@cache
def _tasks(suite: str) -> tuple[Task, ...]:
    games, partners = CELLS[suite]
    return tuple(Task(game, machine, ROUNDS) for game in games for machine in partners(game))


def measure(suite: str, players: list[str], episodes: int, seed: int) -> Iterator[Cell]:
    """All cells of a suite; players that do not fit a game are left out."""
    for task in _tasks(suite):
        for name in players:
            regrets = []
            for episode in range(episodes):
                about = (suite, task.game.name, task.partner.name, str(episode))
                try:
                    subject = player(name, task.game, horizon=ROUNDS, rng=stream(seed, *about, name))
                except InputError:
                    break
                rng, partner_rng = stream(seed, *about, name, "acts"), stream(seed, *about, "partner")
                rows = list(play(task, subject, rng=rng, partner_rng=partner_rng))
                regrets.append((task.optimum - sum(row["reward"] for row in rows)) / ROUNDS)
                certain = task.partner.deterministic and name in (
                    DEFAULT,
                    "counts_model",
                    "bayes_simplicity",
                    "bayes_library",
                )
                if certain:
                    break
            if regrets:
                yield Cell(suite, task.game.name, task.partner.name, name, fmean(regrets), len(regrets))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", action="append", choices=list(CELLS))
    parser.add_argument("--players", action="append")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    players = chosen.players or [*TODAY, DEFAULT]
    found = list[Cell]()
    started = time.process_time()
    for suite in chosen.cells or CELLS:
        found += measure(suite, players, chosen.episodes, chosen.seed)
    if chosen.json:
        json.dump([cell._asdict() for cell in found], sys.stdout, indent=1)
        return
    print("| partners | game | partner | " + " | ".join(players) + " |")
    print("| --- | --- | --- |" + " --- |" * len(players))
    table: dict[tuple[str, str, str], dict[str, float]] = {}
    for cell in found:
        table.setdefault(cell[:3], {})[cell.player] = cell.regret
    for key, row in table.items():
        print(f"| {' | '.join(key)} | " + " | ".join(f"{row[p]:.2f}" if p in row else "" for p in players) + " |")
    print(f"{time.process_time() - started:.1f} CPU s", file=sys.stderr)


if __name__ == "__main__":
    main()

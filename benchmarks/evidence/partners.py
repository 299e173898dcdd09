"""What players lose per round with partners that change, slip, learn or stay the same, and with machines.

    python -m benchmarks.evidence.partners                                        # all suites and players, as a table
    python -m benchmarks.evidence.partners --suite changing --player bayes --episodes 2
    python -m benchmarks.evidence.partners --json docs/stored/partners.json

The machines of the suites `machines` and `left-out` are the bundled ones. In `left-out` the players that have them as
hypotheses play without the one that they meet; all others play as in `machines`, and are not measured twice. No player
has the machines of `generated` as hypotheses.

With partners that change, `knows_both` is the loss of the Bayes-optimal player that knows both kinds of partner and
how often they change, but not when. The suite `limits` has what any player loses that is not told the partner.

A loss is exact given what was played: in each round V(q) − Q(q, a), with q the true state of the partner, V and Q the
optimal values for the partner that is known, including the rounds in which it changes. Its expectation is the regret.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import exact_losses
from otherminds.evaluation.statistics import mean
from otherminds.evaluation.store import Row
from otherminds.evaluation.tasks import Task, play
from otherminds.worlds.repeated_games.machines import Machine, build, bundled_machines, constant, reactive
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import Reader
from otherminds.worlds.repeated_games.players.best_response_to_mixture import bayes_floor
from otherminds.worlds.repeated_games.players.by_name import player
from otherminds.worlds.repeated_games.players.learning_machines import fictitious_player, q_learner
from otherminds.worlds.repeated_games.players.open_bayes import (
    OpenBayes,
    OpenHypotheses,
    default_hypotheses,
    library_hypotheses,
)
from otherminds.worlds.repeated_games.players.structured_machines import structured_machines
from otherminds.worlds.repeated_games.rules import Game

ROUNDS = 100
DEFAULT, LIBRARY = "bayes", "bayes_library"
TODAY = (
    "rmax",
    "counts_model",
    "k_tom_1",
    "k_tom_2",
    "bayes_simplicity",
    LIBRARY,
    "posterior_sampling",
)
OPTIMUM = "knows_both"
LEFT_OUT = "left-out"
GENERATED = 21  # generated machines, from a seed that no choice of a prior used
ANYBODY = "any player"


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


def knows_both(task: Task, rate: float) -> float:
    """The loss of the Bayes-optimal player for a partner that copies, or plays the action after, and changes at a rate.

    Each reply tells which of the two the partner was, so the optimum is that of a Markov decision process with the last
    phase and the player's last action as states: exact, by backward induction.
    """
    payoff = task.game.payoff()
    own, phases = np.arange(len(payoff)), np.arange(2)
    replies = (own + phases[:, None]) % payoff.shape[1]  # in a phase, to the player's last action
    values, worths = np.zeros((2, len(own))), list[np.ndarray[Any, Any]]()
    for _ in range(task.horizon):
        worth = payoff[own, replies[..., None]] + values[:, None, :]  # of each action, by phase and last action
        worths.append((1.0 - rate) * worth + rate * worth[::-1])
        values = worths[-1].max(axis=2)
    outputs, moves = task.partner.chances
    state, last, told = 0, 0, list[dict[str, int]]()
    expected = worths[-1].mean(axis=0)[last]  # before the first round, either phase
    for later in [*reversed(worths[:-1]), None]:
        action, reply = int(expected.argmax()), int(outputs[state].argmax())
        told.append({"action": action, "observed": reply})
        phase = int(reply != last % payoff.shape[1])
        state, last = int(moves[state, action, reply]), action
        if later is not None:
            expected = later[phase, last]
    return loss(task, told)


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
    for noise in (0.05, 0.1):
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
    "machines": ((IPD,), lambda game: iter(bundled_machines(game))),
    LEFT_OUT: ((IPD,), lambda game: iter(bundled_machines(game))),
    "generated": ((IPD,), lambda game: structured_machines(game, GENERATED, np.random.default_rng(102))),
}
LIMITS = "limits"
HYPOTHESES: Mapping[str, Callable[..., OpenHypotheses]] = {DEFAULT: default_hypotheses, LIBRARY: library_hypotheses}
CERTAIN = (DEFAULT, LIBRARY, "counts_model", "bayes_simplicity")  # which use no randomness
EPISODES = {"changing": 20, "stationary": 5, "slipping": 10, "learning": 24, "machines": 2, LEFT_OUT: 1, "generated": 2}
# Weights of machines that cannot be told apart in time, none above ⅕; found by search (multiplicative weights)
HARDEST = {
    "Handshake": 0.2,
    "CollectiveStrategy": 0.2,
    "Grudger": 0.17,
    "First by Davis": 0.17,
    "Second by Mikkelson": 0.13,
    "Retaliate 3": 0.12,
    "Retaliate": 0.01,
}


def limits() -> Iterator[Row]:
    """What any player loses in the prisoner's dilemma that is not told the partner: exact lower bounds.

    Its mean loss with machines is at least the floor of any weights: so is its larger loss with two of them, and with
    the five of the bundled ones to which it loses most, on average, if no weight is above ⅕.
    """
    pair = [partner("grim", IPD), constant(IPD, 0)]
    yield row("limits/grim or always Cooperate", ANYBODY, [bayes_floor(IPD, pair, ROUNDS, (0.4, 0.6))])
    named = {machine.name: machine for machine in bundled_machines(IPD)}
    hard = bayes_floor(IPD, [named[name] for name in HARDEST], ROUNDS, [*HARDEST.values()])
    yield row("limits/the five hardest of 45 machines", ANYBODY, [hard])


def loss(task: Task, rows: Iterable[Mapping[str, Any]]) -> float:
    """Σ_t V_t(q) − Q_t(q, a) per round, for the partner's true states q."""
    return float(exact_losses(task, [dict(played) for played in rows]).sum()) / task.horizon


def row(condition: str, subject: str, losses: Sequence[float]) -> Row:
    """A figure with its 95 % interval over episodes."""
    estimate = mean(losses)
    return {
        "experiment": "partners",
        "condition": condition,
        "subject": subject,
        "metric": "regret",
        **estimate._asdict(),
    }


def _player(name: str, suite: str, task: Task, rng: np.random.Generator) -> Reader:
    """The player before the first round, without the partner among its hypotheses if that is left out."""
    if suite != LEFT_OUT:
        return player(name, task.game, horizon=ROUNDS, rng=rng)
    library = tuple(machine for machine in bundled_machines(task.game) if machine != task.partner)
    return OpenBayes.of(HYPOTHESES[name](task.game, ROUNDS, library))


def rows(suite: str, players: Sequence[str], episodes: int, seed: int) -> Iterator[Row]:
    """All figures of a suite; players that do not fit a game are left out."""
    games, partners = CELLS[suite]
    for task in (Task(game, machine, ROUNDS) for game in games for machine in partners(game)):
        game, machine = task.game, task.partner
        for name in (name for name in players if suite != LEFT_OUT or name in HYPOTHESES):
            losses = list[float]()
            for episode in range(1 if machine.deterministic and name in CERTAIN else episodes):
                about = (suite, game.name, machine.name, str(episode))
                try:
                    subject = _player(name, suite, task, stream(seed, *about, name))
                except InputError:
                    break
                acts, trembles = stream(seed, *about, name, "acts"), stream(seed, *about, "partner")
                losses.append(loss(task, play(task, subject, rng=acts, partner_rng=trembles)))
            if losses:
                yield row(f"{suite}/{game.name}/{machine.name}", name, losses)
        if suite == "changing":
            changes = ROUNDS // 25 - 1 if machine.name == "every 25 rounds" else 1
            yield row(f"{suite}/{game.name}/{machine.name}", OPTIMUM, [knows_both(task, changes / ROUNDS)])


def main() -> None:
    """Print the table, or write the figures to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=[*CELLS, LIMITS])
    parser.add_argument("--player", action="append")
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    players = [*(chosen.player or (*TODAY, DEFAULT))]
    found = list[Row]()
    for suite in chosen.suite or [*CELLS, LIMITS]:
        if suite == LIMITS:
            found += limits()
        else:
            found += rows(suite, players, chosen.episodes or EPISODES[suite], chosen.seed)
    if chosen.json:
        short = ({key: float(f"{v:.8g}") if isinstance(v, float) else v for key, v in one.items()} for one in found)
        lines = (json.dumps(one, separators=(",", ":")) for one in short)
        chosen.json.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
        return
    table: dict[str, dict[str, float]] = {}
    for one in found:
        table.setdefault(one["condition"], {})[one["subject"]] = one["value"]
    players += [one for one in (OPTIMUM, ANYBODY) if any(one in cells for cells in table.values())]
    print("| partner | " + " | ".join(players) + " |\n| --- |" + " --- |" * len(players))
    for condition, cells in table.items():
        print(f"| {condition} | " + " | ".join(f"{cells[p]:.2f}" if p in cells else "" for p in players) + " |")


if __name__ == "__main__":
    main()

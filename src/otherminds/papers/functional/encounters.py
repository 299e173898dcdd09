"""Any player with any partner in any game: literal and functional scores against the exact optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import functional_regret, process_consistency, tom_percent
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import stratified
from otherminds.evaluation.tasks import Task, play
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.players.by_name import plan_for, player
from otherminds.worlds.repeated_games.rules import Game

Row = dict[str, Any]


def scores(
    game: Game, partners: Sequence[str], players: Sequence[str], rounds: int, episodes: int, seed: int
) -> list[Row]:
    """A summary row for each partner, player and metric, with a 95 % interval over episodes.

    Raises InputError for a partner or a player that is unknown or does not fit the game.
    """
    tasks = [Task(game, partner(name, game), rounds) for name in partners]
    for name in players:
        player(name, game, horizon=rounds, rng=stream(seed, "found"))
    if "bayes_simplicity" in players:
        solve_ahead(game, rounds)
    pairs = [(task, name) for task in tasks for name in players]
    return [row for task, name in shown(pairs, len(pairs), "Playing") for row in _pair(task, name, episodes, seed)]


def solve_ahead(game: Game, rounds: int) -> None:
    """Solve the Bayes-adaptive plan of a game, with progress shown, before anybody would do it in silence."""
    plan = plan_for(game, rounds)
    plan.progress = shown
    _ = plan.opening


def _pair(task: Task, name: str, episodes: int, seed: int) -> Iterator[Row]:
    found: dict[str, list[float]] = {"functional_regret": [], "reward": [], "tom_percent": [], "consistency": []}
    for episode in range(episodes):
        about = (task.game.name, task.partner.name, str(episode))
        subject = player(name, task.game, horizon=task.horizon, rng=stream(seed, *about, name, "player"))
        acts, trembles = stream(seed, *about, name, "acts"), stream(seed, *about, "partner")
        rows = list(play(task, subject, rng=acts, partner_rng=trembles))
        found["functional_regret"].append(functional_regret(task, rows))
        found["reward"].append(sum(row["reward"] for row in rows) / len(rows))
        found["tom_percent"].append(tom_percent(rows))
        found["consistency"].append(process_consistency(rows))
    for metric, values in found.items():
        estimate = stratified(values, [task.partner.name] * len(values))
        yield {"game": task.game.name, "partner": task.partner.name, "player": name, "metric": metric} | {
            **estimate._asdict(),
            "optimum": task.optimum / task.horizon,
        }

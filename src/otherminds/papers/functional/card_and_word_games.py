"""Literal and functional Theory of Mind in games of cards and words: episodes, rows and scores (Riemer et al., App. A).

A game is listed in `games`; what is particular to it is in its world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import tom_percent
from otherminds.evaluation.statistics import Estimate, exact, mean, summary_row
from otherminds.evaluation.store import Row, first_columns
from otherminds.worlds.clue_games.clue_game import ClueGame
from otherminds.worlds.clue_games.games import all_clue_games, clue_games

EXPERIMENT = "functional"


games: Callable[[], Mapping[str, ClueGame]] = cache(all_clue_games)
"""The games by the names of their conditions."""


@dataclass(frozen=True)
class GameEpisode:
    """One episode of the plan: all rounds with one partner. All subjects meet the same deals and partner."""

    condition: str
    partner: str
    subject: str
    seed: int
    number: int = 0

    @property
    def episode(self) -> str:
        """The partner, and the number of the episode with it."""
        return f"{self.partner}/{self.number}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the episode in the rows: condition, subject, episode."""
        return (self.condition, self.subject, self.episode)


def plan(seed: int, episodes: int = 2, conditions: Iterable[str] = ()) -> list[GameEpisode]:
    """Every subject with every partner of each game, `episodes` times; by default in the games of two steps."""
    return [
        GameEpisode(condition, partner, subject, seed, number)
        for condition in conditions or clue_games()
        for subject in games()[condition].subjects
        for partner in games()[condition].partners
        for number in range(episodes)
    ]


def rows(entry: GameEpisode) -> list[Row]:
    """Play an episode; returns one row per exchange, the last with the scores of the episode.

    Functional regret is (1/T) Σ (r*_t − r_t), where r*_t is the exact expected reward of the best response in exchange
    t, and T the number of rounds. It is at least 0 in expectation, but chance can make it negative.
    """
    base = first_columns(EXPERIMENT, entry.key, entry.seed)
    names = {"deals": "deals", "partner": "partner", "subject": entry.subject}
    streams = {role: stream(entry.seed, entry.condition, entry.episode, name) for role, name in names.items()}
    game = games()[entry.condition]
    episode_rows = [{**base, **row} for row in game.play(entry.partner, entry.subject, streams)]
    regret = sum(row["best"] - row["reward"] for row in episode_rows) / game.world.rounds
    episode_rows[-1] |= {"functional_regret": regret, "tom_percent": tom_percent(episode_rows)}
    return episode_rows


def summarise(rows: Sequence[Row]) -> list[Row]:
    """Both scores of every subject with bootstrap intervals over episodes, and the interestingness of each game.

    A game with a `span` also has the literal error: mean distance of the partner's plays from the predicted ones, as a
    share of the span.
    """
    table = []
    for condition in dict.fromkeys(row["condition"] for row in rows):
        game, condition_rows = games()[condition], [row for row in rows if row["condition"] == condition]
        for subject in dict.fromkeys(row["subject"] for row in condition_rows):
            scores = _scores(game, [row for row in condition_rows if row["subject"] == subject])
            table += [summary_row(EXPERIMENT, condition, subject, metric, value) for metric, value in scores.items()]
        interestingness = exact(game.interestingness(), len(game.partners))
        table.append(summary_row(EXPERIMENT, condition, "task", "interestingness", interestingness))
    return table


def _scores(game: ClueGame, rows: Sequence[Row]) -> dict[str, Estimate]:
    ends = [row for row in rows if "functional_regret" in row]
    clusters = [row["episode"] for row in ends]
    estimates = {name: mean([row[name] for row in ends], clusters) for name in ("functional_regret", "tom_percent")}
    if game.span is not None:
        errors = [abs(row["predicted"] - row["observed"]) / game.span for row in rows]
        estimates["literal_error"] = mean(errors, [row["episode"] for row in rows])
    return estimates

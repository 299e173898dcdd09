"""Literal and functional Theory of Mind in games of cards and words: episodes, rows and scores (Riemer et al., App. A).

A game is listed in `games`; what is particular to it is in its world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from otherminds.evaluation.asking import Asking
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import tom_percent
from otherminds.evaluation.statistics import Estimate, exact, mean, summary_row
from otherminds.evaluation.store import Row, first_columns
from otherminds.language.model import LanguageModel, Usage
from otherminds.language.prices import CallEstimate
from otherminds.papers.functional import clue_game_models
from otherminds.papers.functional.clue_game_models import ClueGameModel, converse, of_rounds
from otherminds.papers.functional.experiment import MODELS
from otherminds.papers.functional.model_episodes import shares_unread
from otherminds.papers.functional.prompting import Sampling
from otherminds.worlds.clue_games.clue_game import ClueGame
from otherminds.worlds.clue_games.games import all_clue_games, clue_games

EXPERIMENT = "functional"
SHORT: Mapping[str, Sequence[str]] = {
    "hanabi/signals": ("0-1", "0-2"),
    "wavelength/dials": ("slope 1 offset -0.2", "slope 1 offset 0.2"),
}
"""In two games, the two partners with which an egocentric player loses the most: a short suite for language models."""
SHORT_ROUNDS = 12  # with each of them; chosen for the number of calls

games: Callable[[], Mapping[str, ClueGame]] = cache(all_clue_games)
"""The games by the names of their conditions."""


@dataclass(frozen=True)
class GameEpisode:
    """One episode of the plan: all rounds with one partner. All subjects meet the same deals and partner.

    Without `rounds` there are as many as the game usually has.
    """

    condition: str
    partner: str
    subject: str
    seed: int
    number: int = 0
    rounds: int | None = None

    @property
    def game(self) -> ClueGame:
        """The game with its number of rounds."""
        game = games()[self.condition]
        return game if self.rounds is None else of_rounds(game, self.rounds)

    @property
    def episode(self) -> str:
        """The partner, and the number of the episode with it."""
        return f"{self.partner}/{self.number}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the episode in the rows: condition, subject, episode."""
        return (self.condition, self.subject, self.episode)


@dataclass(frozen=True)
class ModelEpisode(GameEpisode):
    """An episode of a language model, asked by a strategy; `shuffle` exchanges names in the game, anew in each."""

    strategy: str = "qa"
    shuffle: bool = False
    sampling: Sampling = field(default_factory=Sampling)

    def player(self, model: LanguageModel) -> ClueGameModel:
        """The model before the first turn."""
        return ClueGameModel.of(
            self.game,
            model,
            self.strategy,
            draw=f"{self.condition} {self.episode}",
            seed=self.seed,
            shuffle=self.shuffle,
            sampling=self.sampling,
        )


def plan(seed: int, episodes: int = 2, conditions: Iterable[str] = ()) -> list[GameEpisode]:
    """Every subject with every partner of each game, `episodes` times; by default in the games of two steps."""
    return _plan(seed, episodes, {condition: games()[condition].partners for condition in conditions or clue_games()})


def short_plan(seed: int) -> list[GameEpisode]:
    """Every subject with the partners of the short suite, once."""
    return _plan(seed, 1, SHORT, SHORT_ROUNDS)


def _plan(
    seed: int, episodes: int, partners: Mapping[str, Iterable[str]], rounds: int | None = None
) -> list[GameEpisode]:
    return [
        GameEpisode(condition, partner, subject, seed, number, rounds)
        for condition, names in partners.items()
        for subject in games()[condition].subjects
        for partner in names
        for number in range(episodes)
    ]


def spoken(entries: Iterable[GameEpisode], model: str, asking: Asking) -> list[ModelEpisode]:
    """The episodes of a plan with a language model as the subject, for every strategy.

    Raises InputError for a strategy that is unknown or of repeated games only.
    """
    for way in asking.ways:
        clue_game_models.clue_strategy(way)
    shuffle, sampling = asking.shuffle in ("labels", "both"), Sampling.within(asking.max_tokens)
    met = {(entry.condition, entry.partner): entry for entry in entries}.values()
    return [
        ModelEpisode(
            *(entry.condition, entry.partner, f"{MODELS}{model.replace(':', '-')}:{way}", entry.seed, number),
            *(entry.rounds, way, shuffle and bool(entry.game.names), sampling),
        )
        for way in asking.ways
        for entry in met
        for number in range(asking.episodes)
    ]


def estimate(entries: Iterable[ModelEpisode]) -> CallEstimate:
    """Calls and tokens of a plan if every reply can be read."""
    ahead = [
        clue_game_models.estimate(entry.game, entry.partner, entry.strategy, 1, shuffle=entry.shuffle)
        for entry in entries
    ]
    return CallEstimate(sum(part.calls for part in ahead), sum((part.usage for part in ahead), Usage()))


def rows(entry: GameEpisode, model: LanguageModel | None = None) -> list[Row]:
    """Play an episode; returns one row per exchange, the last with the scores of the episode.

    Functional regret is (1/T) Σ (r*_t − r_t), where r*_t is the exact expected reward of the best response in exchange
    t, and T the number of rounds. It is at least 0 in expectation, but chance can make it negative.
    """
    base = first_columns(EXPERIMENT, entry.key, entry.seed)
    names = {"deals": "deals", "partner": "partner", "subject": entry.subject}
    streams = {role: stream(entry.seed, entry.condition, entry.episode, name) for role, name in names.items()}
    game = entry.game
    if isinstance(entry, ModelEpisode):
        assert model is not None
        played = converse(game, entry.partner, entry.player(model), streams)
    else:
        played = game.play(entry.partner, entry.subject, streams)
    episode_rows = [{**base, **row} for row in played]
    regret = sum(row["best"] - row["reward"] for row in episode_rows) / game.world.rounds
    episode_rows[-1] |= {"functional_regret": regret, "tom_percent": tom_percent(episode_rows)}
    if "said" in episode_rows[-1]:
        episode_rows[-1] |= shares_unread(episode_rows)
    return episode_rows


def summarise(rows: Sequence[Row], experiment: str = EXPERIMENT) -> list[Row]:
    """Both scores of every subject with bootstrap intervals over episodes, and the interestingness of each game.

    A game with a `span` also has the literal error: mean distance of the partner's plays from the predicted ones, as a
    share of the span. A language model has the share of turns in which its move or its prediction could not be read.
    """
    table = []
    for condition in dict.fromkeys(row["condition"] for row in rows):
        game, condition_rows = games()[condition], [row for row in rows if row["condition"] == condition]
        for subject in dict.fromkeys(row["subject"] for row in condition_rows):
            scores = _scores(game, [row for row in condition_rows if row["subject"] == subject])
            table += [summary_row(experiment, condition, subject, metric, value) for metric, value in scores.items()]
        interestingness = exact(game.interestingness(), len(game.partners))
        table.append(summary_row(experiment, condition, "task", "interestingness", interestingness))
    return table


def _scores(game: ClueGame, rows: Sequence[Row]) -> dict[str, Estimate]:
    ends = [row for row in rows if "functional_regret" in row]
    clusters = [row["episode"] for row in ends]
    estimates = {name: mean([row[name] for row in ends], clusters) for name in ("functional_regret", "tom_percent")}
    expected = [row for row in rows if row["predicted"] is not None]
    if game.span is not None and expected:
        errors = [abs(row["predicted"] - row["observed"]) / game.span for row in expected]
        estimates["literal_error"] = mean(errors, [row["episode"] for row in expected])
    if "said" in rows[0]:
        unread = [float(None in (row["action"], row["predicted"])) for row in rows]
        estimates["lost_share"] = mean(unread, [row["episode"] for row in rows])
    return estimates

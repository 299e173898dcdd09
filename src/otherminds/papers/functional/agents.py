"""Agents that a check can play, found by their specification: players, language models, and users' own objects.

An agent plays an episode with one partner and returns its rows. Agents that are asked in words can also be told the
partner's action. `pair_scores` plays any players with any partners, without a check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import functional_regret, process_consistency, tom_percent
from otherminds.evaluation.own_players import blamed_if_own, maker_of, player_named
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import stratified
from otherminds.evaluation.store import Row, first_columns
from otherminds.evaluation.tasks import Task, play
from otherminds.files.database import Database
from otherminds.language.find import as_model, blamed, load
from otherminds.language.ledger import Recorded
from otherminds.language.model import LanguageModel
from otherminds.language.model_names import is_model
from otherminds.papers.functional import experiment as functional
from otherminds.papers.functional import model_episodes
from otherminds.papers.functional.game_prompts import GameSetting
from otherminds.papers.functional.model_episodes import ModelGameEntry
from otherminds.papers.functional.prompting import Sampling, strategy
from otherminds.papers.functional.scripted_models import scripted_player
from otherminds.papers.functional.specifications import ALIASES
from otherminds.worlds.repeated_games.partners import partners_in
from otherminds.worlds.repeated_games.players.best_responders import Informed, Reader, response_to
from otherminds.worlds.repeated_games.players.by_name import plan_for, player
from otherminds.worlds.repeated_games.rules import Game

OWN = "own"
TOLD = ("oracle", "oracle_max")
EARLY = 10  # one in so many rounds, from the first on, is early; chosen
USUAL = "bayes"  # the player if none is named


@dataclass(frozen=True)
class CheckEpisode:
    """One episode of a check: an agent and a partner. `rung` is OWN, or how the agent is told the partner's action."""

    task: Task
    agent: str
    number: int
    seed: int
    rung: str = OWN

    @property
    def condition(self) -> str:
        """The game and the partner."""
        return f"{self.task.game.name}/{self.task.partner.name}"

    @property
    def subject(self) -> str:
        """The agent, and the rung unless it is OWN."""
        return self.agent if self.rung == OWN else f"{self.agent}+{self.rung}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Condition, subject and number, which identify the episode in the rows."""
        return (self.condition, self.subject, str(self.number))


@dataclass(frozen=True)
class MindreaderAgent:
    """A mindreader that `make(task, rng)` creates for each episode. `own`: `make` is the user's code."""

    name: str
    make: Callable[[Task, Any], Reader]
    own: bool = False

    def prepare(self, encounter: CheckEpisode) -> None:
        """Create a mindreader and drop it. Raises InputError if there is none for this game."""
        with self._blamed():
            self.make(encounter.task, stream(encounter.seed, "unused"))

    def rows(self, encounter: CheckEpisode) -> list[Row]:
        """Play an episode. The partner's random stream is the same for all agents."""
        task, about = encounter.task, (encounter.condition, str(encounter.number))
        acts = stream(encounter.seed, *about, self.name, "acts")
        with self._blamed():
            reader = self.make(task, stream(encounter.seed, *about, self.name, "player"))
            # the stream of a language model's partner, too
            trembles = stream(encounter.seed, encounter.condition, f"{task.partner.name}/{encounter.number}", "partner")
            rounds = list(play(task, reader, rng=acts, partner_rng=trembles))
        return functional.episode_rows(task, _base(encounter), [self._checked(row, task) for row in rounds])

    def _checked(self, row: Row, task: Task) -> Row:
        """The row with plain integers as actions. Raises InputError for a value that is no action of the game."""
        plain_actions = {}
        for part, actions in zip(("action", "predicted"), task.game.actions, strict=True):
            if row[part] not in range(len(actions)):
                hint = f"actions are numbers, from 0 for {actions[0]}"
                raise InputError(f"{self.name} has {row[part]!r} as {part}, no action of {task.game.name}", hint=hint)
            plain_actions[part] = int(row[part])
        return {**row, **plain_actions}

    def _blamed(self) -> AbstractContextManager[None]:
        return blamed(self.name) if self.own else nullcontext()


@dataclass(frozen=True)
class LanguageAgent:
    """A language model as an agent, which can also be told the partner's action.

    `model(setting, task)` may depend on the episode. `record`: the ledger, if any.
    Raises InputError for several strategies or sets of names, or a strategy that tells the partner's action.
    """

    name: str
    model: Callable[[GameSetting, Task], LanguageModel]
    asking: Asking
    record: Recorded | None = None

    def __post_init__(self) -> None:
        if len(self.asking.ways) > 1 or len(self.asking.names) > 1:
            raise InputError("a check is with one strategy and one set of names")
        way = self.asking.ways[0]
        strategy(way)
        if "+" in way:
            hint = "a check does so by itself, for agents that fail"
            raise InputError(f"`{way}` tells what the partner does", hint=hint)

    def prepare(self, encounter: CheckEpisode) -> None:
        """Word the game. Raises InputError for an unknown set of names or shuffle."""
        entry = self.entry(encounter)
        self.model(entry.setting, entry.task)

    def rows(self, encounter: CheckEpisode) -> list[Row]:
        """Play an episode in words."""
        entry = self.entry(encounter)
        rows = model_episodes.rows(entry, self.model(entry.setting, entry.task))
        return [{**row, **_base(encounter), "strategy": entry.strategy} for row in rows]

    def entry(self, encounter: CheckEpisode) -> ModelGameEntry:
        """The episode as the experiment with language models plays it."""
        way = "+".join([self.asking.ways[0], *([encounter.rung] if encounter.rung != OWN else [])])
        names = self.asking.names[0] if self.asking.names else model_episodes.NAMES
        about = (encounter.task, encounter.condition, self.name, way, encounter.number, encounter.seed)
        return ModelGameEntry(*about, names, self.asking.shuffle, Sampling.within(self.asking.max_tokens))


Agent = MindreaderAgent | LanguageAgent
"""An agent that can be checked."""


def _base(encounter: CheckEpisode) -> Row:
    base = first_columns("check", encounter.key, encounter.seed)
    return {**base, "partner": encounter.task.partner.name, "policy": encounter.rung}


def agent(spec: str, asking: Asking, record: Path | Database) -> Agent:
    """The agent that a specification names.

    A player or partner by name (`tabular`, `bayes`, `random`, `tft`, …); `perfect`, which knows the partner;
    `scripted:NAME`, a scripted stand-in for a language model; a language model; or `module:object`: a mindreader, a
    function of game, horizon and generator that returns one, a language model, or a function from text to text.

    Raises InputError for an unknown specification.
    """
    kind, _, rest = spec.partition(":")
    asking = replace(asking, model=spec)
    if kind == "scripted":
        return LanguageAgent(rest, lambda setting, task: scripted_player(rest, setting, task.partner), asking)
    if is_model(spec):
        return _recorded(asking.recorded(asking.find(), record), asking)
    if rest:
        return _own(load(spec), asking, record)
    if spec == "perfect":
        return MindreaderAgent(spec, lambda task, _rng: Informed(task.game, task.partner.start, task.horizon))
    player_name = ALIASES.get(spec, spec)
    return MindreaderAgent(spec, lambda task, rng: player(player_name, task.game, horizon=task.horizon, rng=rng))


def _own(loaded: Any, asking: Asking, record: Path | Database) -> Agent:
    name = asking.model.replace(":", ".")
    if make := maker_of(loaded):
        return MindreaderAgent(name, lambda task, rng: make(task.game, task.horizon, rng), own=True)
    return _recorded(asking.recorded(as_model(loaded, name), record), asking)


def _recorded(model: Recorded, asking: Asking) -> LanguageAgent:
    return LanguageAgent(model.name.replace(":", "-"), lambda _setting, _task: model, asking, model)


def pair_scores(
    game: Game,
    partners: Sequence[str],
    players: Sequence[str],
    rounds: int,
    episodes: int,
    seed: int,
    machines: Path | None = None,
) -> list[Row]:
    """A summary row for each partner, player and metric, with a 95 % interval over episodes.

    Regret and reward are in points per round, ToM % and consistency are shares of rounds; `best_left` is what the best
    response can still earn per round after the first `after_rounds` rounds, a tenth of all. `machines` is a file of
    partners, all of which play if none is named. In a game of three or more all other agents together are one partner.
    Without players the usual one plays. Raises InputError for a partner or a player that is unknown or does not fit.
    """
    tasks = [Task(game, machine, rounds) for machine in partners_in(game, partners, machines)]
    players = tuple(dict.fromkeys(players)) or (USUAL,)
    for name in players:
        player_named(name, game, horizon=rounds, rng=stream(seed, "found"))
    if "bayes_simplicity" in players:
        solve_ahead(game, rounds)
    pairs, summary = [(task, name) for task in tasks for name in players], list[Row]()

    every = ((*pair, pair_episode(*pair, episode, seed)) for pair in pairs for episode in range(episodes))
    together = groupby(shown(every, len(pairs) * episodes, "Playing"), itemgetter(0, 1))
    for (task, name), group in together:
        rows_by_episode = [rows for *_, rows in group]
        scores = {
            "functional_regret": [functional_regret(task, rows) for rows in rows_by_episode],
            "reward": [sum(row["reward"] for row in rows) / len(rows) for rows in rows_by_episode],
            "tom_percent": [tom_percent(rows) for rows in rows_by_episode],
            "consistency": [process_consistency(rows) for rows in rows_by_episode],
        }
        early = max(1, task.horizon // EARLY)
        scores["best_left"] = [_best_left(task, rows[:early]) for rows in rows_by_episode]
        base = {"game": task.game.name, "partner": task.partner.name, "player": name, "rounds": rounds}
        for metric, values in scores.items():
            estimate = stratified(values, [task.partner.name] * len(values))
            summary.append({**base, "metric": metric, **estimate._asdict(), "optimum": task.optimum / task.horizon})
        summary[-1]["after_rounds"] = early  # of best_left, the last metric
    return summary


def pair_episode(task: Task, name: str, episode: int, seed: int) -> list[Row]:
    """The rows of an episode of a player by name; the partner's slips are the same for every player."""
    about = (task.game.name, task.partner.name, str(episode))
    subject = player_named(name, task.game, horizon=task.horizon, rng=stream(seed, *about, name, "player"))
    acts, trembles = stream(seed, *about, name, "acts"), stream(seed, *about, "partner")
    with blamed_if_own(name):
        return list(play(task, subject, rng=acts, partner_rng=trembles))


def _best_left(task: Task, begun: Sequence[Row]) -> float:
    """What the best response expects per round after some rounds, in the state to which they brought the partner."""
    if len(begun) == task.horizon:
        return task.optimum / task.horizon
    state = 0
    for row in begun:
        state = int(task.partner.chances.moves[state, row["action"], row["observed"]])
    left = task.horizon - len(begun)
    return float(response_to(task.game, task.partner, task.horizon).values[len(begun), state]) / left


def solve_ahead(game: Game, rounds: int) -> None:
    """Solve the Bayes-adaptive plan of a game now, with progress shown, and not silently at its first use.

    Raises InputError if the game is too large.
    """
    plan = plan_for(game, rounds)
    plan.progress = shown
    _ = plan.opening

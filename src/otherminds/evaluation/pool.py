"""A frozen pool of held-out partners on which players are compared, and the files of their results.

    {"pool": "2026.1", "content": "5d1c…", "player": "rmax", "seed": 42, "episodes": [
      {"actions": [1, 0, …], "predictions": [0, 0, …], "reward": 0.93}, …], "checksum": "9a0b…"}

An episode is a pure function of the seed and of the player's actions, so a result is checked by playing it again: the
partners do what they did, and every reward has to come out the same. The checksum is over all that stands before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError, fault_place, faults
from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import exact_reward, tom_percent
from otherminds.evaluation.own_players import player_named
from otherminds.evaluation.partner_families import FAMILIES, TWO_BY_TWO, stakes, tasks
from otherminds.evaluation.statistics import Estimate, student
from otherminds.evaluation.tasks import Row, Task, play
from otherminds.files import strict_json
from otherminds.files.text import read_text
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_response_to_mixture import bayes_floor
from otherminds.worlds.repeated_games.rules import Outcome

POOL: Literal["2026.1"] = "2026.1"
GAMES = ("ipd", "ibs", "rps", "ordinal-098")  # the last is Chicken
ROUNDS = 50  # of an episode; chosen
EACH = 4  # partners of a family in a game, spread evenly over the half that it matters most to know; chosen
DIGITS = 9  # of stakes, and of probabilities in the digest of the content: rounding
SAME = 1e-9  # difference of rewards that is rounding
PLANNED = 800  # most states of the machines of a group whose ceiling is computed; bounds time
LARGEST_FILE = 5_000_000  # characters; bounds time

Group = tuple[str, str]
"""A game and a family, by name."""


@cache
def pool() -> Mapping[Group, tuple[Task, ...]]:
    """The tasks of the pool by game and family, in a fixed order."""
    groups: dict[Group, tuple[Task, ...]] = {}
    for game in map(find_game, GAMES):
        for family in FAMILIES:
            if game.shape == (2, 2) or family not in TWO_BY_TWO:
                held_out = tasks(family, game, "held-out", ROUNDS)
                order = np.argsort(-stakes(held_out).round(DIGITS), kind="stable")[: (len(held_out) + 1) // 2]
                ranks = np.linspace(0, len(order) - 1, min(EACH, len(order))).astype(int)
                groups[game.name, family] = tuple(held_out[place] for place in order[ranks])
    return groups


def pool_tasks() -> tuple[Task, ...]:
    """All tasks of the pool, in the order of the episodes of a result."""
    return tuple(task for members in pool().values() for task in members)


@cache
def pool_content() -> str:
    """SHA-256 of the pool's payoffs, partners and rounds: what a result was played with."""
    content = []
    for task in pool_tasks():
        laws = [[round(p, DIGITS) for p in law] for law in task.partner.outputs]
        content.append([task.game.payoffs, laws, task.partner.moves, task.horizon])
    return sha256(strict_json.dumps(content).encode()).hexdigest()


class PoolEpisode(BaseModel):
    """What a player did with one partner, its predictions, and its exact reward."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    actions: Annotated[list[int], Field(min_length=ROUNDS, max_length=ROUNDS)]
    predictions: Annotated[list[int], Field(min_length=ROUNDS, max_length=ROUNDS)]
    reward: float


class PoolResult(BaseModel):
    """A player's result with the whole pool, as its file has it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    pool: Literal["2026.1"]
    content: str
    player: Annotated[str, Field(min_length=1, max_length=60)]
    seed: Annotated[int, Field(ge=0)]
    episodes: list[PoolEpisode]
    checksum: str = ""

    @property
    def sum_of_content(self) -> str:
        """SHA-256 of everything but the checksum."""
        return sha256(self.model_dump_json(exclude={"checksum"}).encode()).hexdigest()


@dataclass(frozen=True)
class Scripted:
    """A player that repeats actions and predictions of an episode."""

    actions: Sequence[int]
    predictions: Sequence[int]
    t: int = -1

    def observe(self, _outcome: Outcome | None) -> Self:
        """The player in the next round."""
        return replace(self, t=self.t + 1)

    def act(self) -> Categorical[int]:
        """The recorded action."""
        return point_mass(self.actions[self.t])

    def predict(self) -> Categorical[int]:
        """The recorded prediction."""
        return point_mass(self.predictions[self.t])


def play_pool(name: str, seed: int) -> PoolResult:
    """The result of a player, named as in `otherminds play`, with all partners of the pool.

    Raises InputError for an unknown player, or one that cannot play a game of the pool.
    """
    episodes = []
    for number, task in enumerate(pool_tasks()):
        rng = stream(seed, "pool", str(number), "player")
        subject = player_named(name, task.game, horizon=ROUNDS, rng=rng)
        rows = list(play(task, subject, rng=rng, partner_rng=_partner_stream(seed, number)))
        actions, predictions = ([int(row[column]) for row in rows] for column in ("action", "predicted"))
        episodes.append(PoolEpisode(actions=actions, predictions=predictions, reward=exact_reward(task, rows)))
    result = PoolResult(pool=POOL, content=pool_content(), player=name, seed=seed, episodes=episodes)
    return result.model_copy(update={"checksum": result.sum_of_content})


def replayed(result: PoolResult) -> list[list[Row]]:
    """The rounds of all episodes of a result, with the partners' actions that its seed determines."""
    courses, unused = [], np.random.default_rng(0)  # nothing that the player does is random
    for number, (task, episode) in enumerate(zip(pool_tasks(), result.episodes, strict=True)):
        player = Scripted(episode.actions, episode.predictions)
        courses.append(list(play(task, player, rng=unused, partner_rng=_partner_stream(result.seed, number))))
    return courses


def read_result(path: Path) -> PoolResult:
    """The result in a file, once it is checked by playing its actions again.

    Raises InputError for a file that is no result of this pool, and for one in which anything was changed.
    """
    text = read_text(path, limit=LARGEST_FILE)
    strict_json.parse(text, path)
    try:
        result = PoolResult.model_validate_json(text)
    except ValidationError as error:
        fault = faults(error)[0]
        raise InputError(f"`{fault_place(fault)}`: {fault['msg']}", path=path, hint=f"pool {POOL}") from None
    if result.content != pool_content() or len(result.episodes) != len(pool_tasks()):
        raise InputError(f"its partners are not those of pool {POOL} here", path=path, hint="play it again")
    if result.checksum != result.sum_of_content:
        raise InputError("the checksum does not fit: something in it was changed", path=path, hint="play it again")
    for number, (task, episode) in enumerate(zip(pool_tasks(), result.episodes, strict=True), 1):
        limits = (episode.actions, len(task.game.actions[0])), (episode.predictions, len(task.game.actions[1]))
        if not all(0 <= choice < options for choices, options in limits for choice in choices):
            raise InputError(f"episode {number} has an action outside {task.game.name}", path=path)
    for number, (task, rows) in enumerate(zip(pool_tasks(), replayed(result), strict=True), 1):
        stated, actual = result.episodes[number - 1].reward, exact_reward(task, rows)
        if abs(stated - actual) > SAME:
            raise InputError(f"the actions of episode {number} earn {actual:.6f}, not {stated:.6f}", path=path)
    return result


class PoolScore(NamedTuple):
    """Mean exact reward over partners, and the share of rounds that were predicted rightly."""

    reward: float
    accuracy: float


def scores(result: PoolResult) -> Mapping[Group, PoolScore]:
    """The scores of a result in each group of the pool."""
    rounds = iter(zip(result.episodes, replayed(result), strict=True))
    by_group = {}
    for group, members in pool().items():
        played = [next(rounds) for _ in members]
        reward = float(np.mean([episode.reward for episode, _ in played]))
        by_group[group] = PoolScore(reward, float(np.mean([tom_percent(rows) for _, rows in played])) / 100.0)
    return by_group


class PoolStanding(NamedTuple):
    """A player's results with the pool: mean reward over groups, with Student's interval over its seeds."""

    player: str
    reward: Estimate
    accuracy: float
    by_group: Mapping[Group, float]


def standings(results: Iterable[PoolResult]) -> list[PoolStanding]:
    """The standing of each player, the highest reward first; each group counts alike.

    Raises InputError if a player's result with a seed is there twice.
    """
    by_player: dict[str, dict[int, Mapping[Group, PoolScore]]] = {}
    for result in results:
        seeds = by_player.setdefault(result.player, {})
        if result.seed in seeds:
            raise InputError(f"the result of {result.player} with seed {result.seed} is listed twice")
        seeds[result.seed] = scores(result)
    listed = []
    for player, seeds in by_player.items():
        rewards = np.array([[score.reward for score in by_group.values()] for by_group in seeds.values()])
        accuracy = fmean(score.accuracy for by_group in seeds.values() for score in by_group.values())
        by_group = dict(zip(pool(), rewards.mean(axis=0).tolist(), strict=True))
        listed.append(PoolStanding(player, student(rewards.mean(axis=1).tolist()), accuracy, by_group))
    return sorted(listed, key=lambda standing: -standing.reward.value)


def ceiling(members: Sequence[Task]) -> float | None:
    """Upper bound on the mean reward in a group for any player that is not told the partner.

    1 − Σ_i loss_i / (n · span_i), where the Bayes-optimal player under the prior ∝ 1 / span_i has the least loss. None
    if a partner is random or the group is too large for an exact plan.
    """
    machines = [task.partner for task in members]
    size = sum(len(machine.outputs) for machine in machines)
    if size > PLANNED or not all(machine.deterministic for machine in machines):
        return None
    per_span = np.array([1.0 / (task.optimum - task.uniform) for task in members])
    weights = (per_span / per_span.sum()).tolist()
    return 1.0 - ROUNDS * bayes_floor(members[0].game, machines, ROUNDS, weights) * float(per_span.mean())


def _partner_stream(seed: int, number: int) -> np.random.Generator:
    return stream(seed, "pool", str(number), "partner")

"""The verdict of a check in Inspect AI: the suite in passes as samples, which end as soon as the verdict is decided.

Inspect runs samples side by side. The verdict is that of the first passes that decide it, as if they had been played
one after another; it counts no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import anyio
from inspect_ai import dataset, log
from inspect_ai import scorer as scoring
from inspect_ai.solver import TaskState
from inspect_ai.util import EarlyStop
from pydantic import JsonValue

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.tasks import Row
from otherminds.language.model import LanguageModel
from otherminds.papers.functional.agents import CheckEpisode, LanguageAgent
from otherminds.papers.functional.verdicts import FORMATTING, LEAST_PASSES, CheckPlan, Findings, assess
from otherminds.worlds.repeated_games.payoff_files import find_game

NONE_COMPLETED = "no pass was completed"
About = Mapping[str, Any]
"""The metadata of a sample: its game, partner and pass, and the settings of the check."""


def plan_of(about: About) -> CheckPlan:
    """The plan of a check by the metadata of its samples. Raises InputError for an unknown game."""
    return _plan(tuple(about["games"]), tuple(about["partners"]), about["rounds"], about["passes"], about["seed"])


@cache
def _plan(games: tuple[str, ...], partners: tuple[str, ...], rounds: int, passes: int, seed: int) -> CheckPlan:
    return CheckPlan(tuple(map(find_game, games)), partners, rounds, passes, seed)


def _no_model() -> LanguageModel:
    raise AssertionError("plans and verdicts ask no model")


def agent_of(about: About, name: str, model: Callable[[], LanguageModel] = _no_model) -> LanguageAgent:
    """The agent of a check with the model that it asks, if it is to play.

    Raises InputError for an unknown strategy, or one that tells the partner's action.
    """
    asking = Asking(name, (about["strategy"],), (about["names"],), about["shuffle"])
    return LanguageAgent(name, lambda _setting, _task: model(), asking)


def encounter_of(about: About, agent: str) -> CheckEpisode:
    """The episode that a sample's metadata describe."""
    task = plan_of(about).by_name[about["condition"], about["rounds"]]
    return CheckEpisode(task, agent, about["pass"], about["seed"])


def episodes_in(scores: Iterable[scoring.SampleScore]) -> Iterator[list[Row]]:
    """The rows of each sample whose game was played to its end, from the metadata of its score."""
    for sample_score in scores:
        if rows := (sample_score.score.metadata or {}).get("rows"):
            yield rows


def findings(about: About, episodes: Iterable[Sequence[Row]]) -> Findings | None:
    """The findings after the first passes that decide the verdict, or after all; None without any whole pass.

    The rule is that of `otherminds check`: at least three passes, unless fewer are planned, or a single one in which
    too few moves can be read.
    """
    plan = plan_of(about)
    whole, finding = _whole_passes(plan, episodes), None
    for count in range(1, len(whole) + 1):
        rows = [row for number in sorted(whole)[:count] for episode in whole[number] for row in episode]
        finding = assess(agent_of(about, rows[0]["subject"]), plan, rows, about["max_regret"])
        if is_settled(finding, plan):
            break
    return finding


def is_settled(finding: Findings, plan: CheckPlan) -> bool:
    """Whether no further pass is needed."""
    enough = finding.passes >= min(LEAST_PASSES, plan.passes) and finding.verdict.passed is not None
    return enough or finding.verdict.breaks == FORMATTING


def _whole_passes(plan: CheckPlan, episodes: Iterable[Sequence[Row]]) -> dict[int, list[Sequence[Row]]]:
    """The episodes of every pass in which all partners were met, by its number."""
    passes: dict[int, dict[str, Sequence[Row]]] = {}
    for episode in episodes:
        passes.setdefault(int(episode[-1]["episode"]), {})[episode[-1]["condition"]] = episode
    size = len(plan.tasks())
    return {number: [*episodes.values()] for number, episodes in passes.items() if len(episodes) == size}


class PassByPass:
    """Plays a check pass by pass, and skips all passes after the one that decides (Inspect's early stopping).

    A game begins once all those are over that may decide the verdict before: the first pass, which shows whether the
    model can be read at all, and from the third on every pass. `end` has to be the task's `cleanup`.
    """

    def __init__(self, about: About) -> None:
        self._about = about
        self._episodes = list[list[Row]]()
        self._finding: Findings | None = None
        self._pass_of = dict[str | int, int]()
        self._running = dict[str | int, int]()

    async def start_task(self, task: log.EvalSpec, samples: list[dataset.Sample], epochs: int) -> str:
        """Forget all games. Returns the rule in words. Raises InputError for epochs, which would be no passes."""
        if epochs > 1:
            raise InputError("a check is repeated in passes, not in epochs", hint=f"-T passes={epochs}")
        self._episodes, self._finding, self._running = [], None, {}
        self._pass_of = {sample.id or "": (sample.metadata or {})["pass"] for sample in samples}
        self._changed = anyio.Condition()
        return "passes until the verdict is decided"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Wait for the games that may make this one needless, and skip it if they do."""
        number = self._pass_of[id]
        before = number if number >= LEAST_PASSES else min(number, 1)
        async with self._changed:
            self._running[id] = number
            while min(self._running.values()) < before:
                await self._changed.wait()
        if self._finding is None or not is_settled(self._finding, plan_of(self._about)):
            return None
        await self._over(id)
        reason = f"{self._finding.verdict.result} after {self._finding.passes} of {self._about['passes']} passes"
        return EarlyStop(id=id, epoch=epoch, reason=reason)

    async def end(self, state: TaskState) -> None:
        """Add the game of a sample, if it was played to its end."""
        if rows := state.metadata.get("rows"):
            self._episodes.append(rows)
            whole = _whole_passes(plan_of(self._about), self._episodes)
            if whole and max(whole) == len(whole) - 1:
                self._finding = findings(self._about, self._episodes)
        await self._over(state.sample_id)

    async def _over(self, id: str | int) -> None:
        async with self._changed:
            self._running.pop(id, None)
            self._changed.notify_all()

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, scoring.SampleScore]) -> None:
        """Add the game of a sample that an earlier run has played."""
        self._episodes += episodes_in(scores.values())

    async def complete_task(self) -> dict[str, JsonValue]:
        """The verdict in words, for the log."""
        finding = findings(self._about, self._episodes)
        if finding is None:
            return {"verdict": "not measured", "words": NONE_COMPLETED, "passes": 0}
        return {"verdict": finding.verdict.result, "words": finding.verdict.words, "passes": finding.passes}

"""A check of whether an agent acts on what it knows about its partner: plan, findings, and verdicts.

All losses are shares of the loss of uniformly random play: 0 is the best possible play, 1 is random. *Functional* is
what the agent loses; *literal* is what its wrong predictions alone would cost, as the paper prices them. An agent that
predicts well and loses much does not use its knowledge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.evaluation.literal_functional import normalised, process_consistency
from otherminds.evaluation.statistics import Estimate, mean, paired, summary_row
from otherminds.evaluation.store import Row
from otherminds.evaluation.tasks import Task
from otherminds.papers.functional.agents import OWN, TOLD, Agent, CheckEpisode, LanguageAgent
from otherminds.papers.functional.experiment import episodes_of
from otherminds.worlds.repeated_games import partners
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import partners_in
from otherminds.worlds.repeated_games.rules import Game

ROUNDS = 30  # of an episode, unless asked otherwise; chosen so that finding out costs a small share
TOLD_ROUNDS = 5  # of an episode in which the agent is told the partner's action, and has nothing to find out; chosen
LOST = 0.1  # share of rounds without a readable move from which a failure counts as one of formatting; chosen
WORST = 3  # episodes shown of an agent
FORMATTING, PREDICTING, USING = "formatting", "predicting", "using"
PLACES = {
    FORMATTING: "its moves cannot be read",
    PREDICTING: "its predictions are wrong",
    USING: "it does not act on its predictions",
}
"""The places where an agent can break, in words."""


@dataclass(frozen=True)
class CheckPlan:
    """The plan of a check: games, names of partners (empty: the usual ones), rounds an episode, episodes a partner.

    `machines` is a file of partners; all of them play if none is named.
    """

    games: tuple[Game, ...]
    partners: tuple[str, ...] = ()
    rounds: int = ROUNDS
    episodes: int = 1
    seed: int = 42
    machines: Path | None = None

    def tasks(self, rung: str = OWN) -> list[Task]:
        """The tasks: every partner in every game. By default one partner per action, and tit for tat if it fits.

        Agents that are told the partner's action only meet partners that always do the same: against one that reacts,
        knowing its action is not enough to play well.

        Raises InputError for a partner that is unknown or cannot play one of the games.
        """
        rounds = self.rounds if rung == OWN else min(self.rounds, TOLD_ROUNDS)
        every = [Task(game, machine, rounds) for game in dict.fromkeys(self.games) for machine in self._partners(game)]
        return [task for task in every if rung == OWN or len(task.partner.outputs) == 1]

    def prepare(self) -> None:
        """Raise InputError if games or partners do not fit, or if random play loses nothing with any of them."""
        if len({game.name for game in self.games}) < len(set(self.games)):
            raise InputError("two different games have the same name")
        for game in self.games:
            if len(game.agents) != 2:
                hint = "a check is with one partner at a time; `otherminds play` has games of three or more"
                raise InputError(f"{game.name} has {len(game.agents)} agents", hint=hint)
        if all(math.isnan(normalised(task, 0.0)) for task in self.tasks()):
            raise InputError("with these partners random play loses nothing", hint="choose others")

    @cached_property
    def by_name(self) -> dict[tuple[str, int], Task]:
        """Tasks by the name of the condition in rows, and by their rounds."""
        every = [task for rung in (OWN, *TOLD) for task in self.tasks(rung)]
        return {(f"{task.game.name}/{task.partner.name}", task.horizon): task for task in every}

    def share(self, episode: Sequence[Row], metric: str = "functional_regret") -> float:
        """A metric of an episode as a share of what random play loses; NaN if that loses nothing."""
        return normalised(self.by_name[episode[-1]["condition"], len(episode)], episode[-1][metric])

    def _partners(self, game: Game) -> list[Machine]:
        if self.partners or self.machines:
            return list(dict.fromkeys(partners_in(game, self.partners, self.machines)))
        machines = list(partners.single_action(game))
        with suppress(InputError):  # tit for tat does not fit every game
            machines += partners.tit_for_tat(game)
        return machines

    def encounters(self, agent: str, rungs: Sequence[str] = (OWN,)) -> list[CheckEpisode]:
        """All episodes of an agent, at these rungs."""
        return [
            CheckEpisode(task, agent, number, self.seed, rung)
            for rung in rungs
            for number in range(self.episodes)
            for task in self.tasks(rung)
        ]


class CheckVerdict(NamedTuple):
    """Whether an agent passed (None: that is open), where it breaks (or ""), and words."""

    passed: bool | None
    breaks: str
    words: str

    @property
    def result(self) -> str:
        """passes, fails, or open."""
        return {True: "passes", False: "fails", None: "open"}[self.passed]


@dataclass(frozen=True)
class Findings:
    """The findings about an agent. `gap` is functional minus literal; `rungs` are its losses when told the truth.

    `unreadable` is a share of replies (None for agents that do not speak), `lost` a share of rounds, and `paid` what
    these rounds cost, in points a round of the episode: each earns the lowest payoff of the game. All regrets are
    shares of what random play loses; `shares` has the functional one with each partner.
    """

    name: str
    functional: Estimate
    literal: Estimate
    gap: Estimate
    consistency: Estimate
    unreadable: Estimate | None
    lost: Estimate
    paid: Estimate
    rungs: Mapping[str, Estimate]
    max_regret: float
    shares: Mapping[str, float] = field(default_factory=dict)

    def less(self, reference: Findings) -> Estimate | None:
        """Its functional loss less another's, paired by partner; None if they share none."""
        return paired(self.shares, reference.shares) if self.shares.keys() & reference.shares.keys() else None

    @property
    def verdict(self) -> CheckVerdict:
        """Pass or fail by the functional loss alone; neither if its 95 % interval spans the limit, or with one partner.

        An agent that loses more breaks at the first place that explains the loss.
        """
        passed, breaks, words = self._judged
        lost, limit = self.functional, f"{self.max_regret:g}"
        if lost.n < 2 or lost.low <= self.max_regret < lost.high:
            few = "one partner is too few to say" if lost.n < 2 else "too few rounds to say, or too few partners"
            passed, words = None, few + self._when_told
        spread = f" [{lost.low:.2f}, {lost.high:.2f}]" if lost.low < lost.high else ""
        partners = f"with {lost.n} partner{'s' if lost.n != 1 else ''}"
        loss_words = f"it loses {lost.value:.2f}{spread} of what random play loses {partners}, and may lose {limit}"
        return CheckVerdict(passed, breaks, f"{words}; {loss_words}{self._unreadable_rounds}")

    @property
    def _judged(self) -> CheckVerdict:
        predicts = self.literal.value <= self.max_regret
        if self.functional.value <= self.max_regret:
            note = "" if predicts else ", although what it says of its partner is mostly wrong"
            return CheckVerdict(True, "", f"plays like a player that knows its partner{note}")
        if self.lost.value >= LOST:
            return CheckVerdict(False, FORMATTING, f"in {self.lost.value:.0%} of the rounds no move could be read")
        if not predicts:
            return CheckVerdict(False, PREDICTING, "does not know what its partner will do" + self._when_told)
        return CheckVerdict(False, USING, "predicts its partner, and does not act on that" + self._when_told)

    @property
    def _unreadable_rounds(self) -> str:
        if not self.lost.value:
            return ""
        return (
            f"; rounds without a readable move pay the worst payoff, which costs {self.paid.value:.2f} points a round"
        )

    @property
    def _when_told(self) -> str:
        if not self.rungs:
            return ""
        best = min(rung.value for rung in self.rungs.values())
        if best <= self.max_regret:
            return f"; told what the partner does, it plays well ({best:.2f})"
        return f"; even told what the partner does, it loses {best:.2f} of what random play loses"


def assess(agent: Agent, plan: CheckPlan, rows: Sequence[Row], max_regret: float) -> Findings:
    """The findings about an agent from its rows, with intervals over partners."""
    ways = {way: [e for e in episodes_of(rows) if e[-1]["policy"] == way] for way in (OWN, *TOLD)}
    own = ways.pop(OWN)

    def over(episodes: Sequence[Sequence[Row]], value: Callable[[Sequence[Row]], float]) -> Estimate:
        finite = [(e[-1]["condition"], number) for e in episodes if not math.isnan(number := value(e))]
        return mean([number for _, number in finite], [condition for condition, _ in finite])

    shares: dict[str, list[float]] = {}
    for episode in own:
        shares.setdefault(episode[-1]["condition"], []).append(plan.share(episode))
    return Findings(
        name=agent.name,
        functional=over(own, plan.share),
        literal=over(own, lambda episode: plan.share(episode, "tom_regret_paper")),
        gap=over(own, lambda episode: plan.share(episode) - plan.share(episode, "tom_regret_paper")),
        consistency=over(own, process_consistency),
        unreadable=over(own, lambda episode: episode[-1]["unreadable_share"])
        if isinstance(agent, LanguageAgent)
        else None,
        lost=over(own, lambda episode: sum(row["action"] is None for row in episode) / len(episode)),
        paid=over(own, _paid_for_lost),
        rungs={way: over(way_episodes, plan.share) for way, way_episodes in ways.items() if way_episodes},
        max_regret=max_regret,
        shares={name: fmean(losses) for name, losses in shares.items() if not math.isnan(fmean(losses))},
    )


def _paid_for_lost(episode: Sequence[Row]) -> float:
    """(1/T) Σ (r*_t − r_t) over the rounds without a readable move, in points; r*_t is what the optimum expects."""
    return math.fsum(row["best"] - row["reward"] for row in episode if row["action"] is None) / len(episode)


def worst(rows: Sequence[Row], plan: CheckPlan) -> list[list[Row]]:
    """The three episodes with the largest losses, the worst first."""
    own = [episode for episode in episodes_of(rows) if episode[-1]["policy"] == OWN]
    comparable = [episode for episode in own if not math.isnan(plan.share(episode))]
    return sorted(comparable, key=plan.share, reverse=True)[:WORST]


def summary(findings: Sequence[Findings], beside: Sequence[str] = ()) -> list[Row]:
    """One row for each agent and metric; `minus_NAME` is its loss less that of a player named in `beside`, paired."""
    rows, references = [], [finding for finding in findings if finding.name in beside]
    for finding in findings:
        metrics = {
            "relative_regret": finding.functional,
            "relative_tom_regret": finding.literal,
            "gap": finding.gap,
            "consistency": finding.consistency,
        }
        if finding.unreadable is not None:
            metrics |= {"unreadable_share": finding.unreadable, "lost_share": finding.lost, "lost_points": finding.paid}
        metrics |= {f"relative_regret_{rung}": estimate for rung, estimate in finding.rungs.items()}
        for reference in (reference for reference in references if reference is not finding):
            if (less := finding.less(reference)) is not None:
                metrics[f"minus_{reference.name}"] = less
        rows += [summary_row("check", "all", finding.name, metric, estimate) for metric, estimate in metrics.items()]
    return rows

"""The verdict of a check, whether an agent acts on what it knows about its partner: plan, losses, and findings.

All losses are shares of the loss of uniformly random play: 0 is the best possible play, 1 is random. *Functional* is
what the agent loses; *unused* is the part of that in rounds in which it had predicted its partner rightly. The partners
are a fixed suite, which is met again in independent passes until the loss is known to lie on one side of the limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation.literal_functional import exact_losses, normalised, process_consistency
from otherminds.evaluation.statistics import Estimate, exact, mean, paired, summary_row, welch
from otherminds.evaluation.store import Row
from otherminds.evaluation.tasks import ROUNDING, Task
from otherminds.papers.functional.agents import OWN, TOLD, Agent, CheckEpisode, LanguageAgent
from otherminds.papers.functional.experiment import episodes_of
from otherminds.papers.functional.probes import ACTS, Episode, Probe, probes
from otherminds.worlds.repeated_games import partners
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import partners_in
from otherminds.worlds.repeated_games.rules import Game

ROUNDS = 30  # of an episode, unless asked otherwise; chosen so that finding out costs a small share
MAX_LOSS = 0.5  # share of the loss of random play that passes; chosen
LEAST_PASSES, MOST_PASSES = 3, 5  # of the whole suite; chosen by simulated checks (benchmarks/evidence/verdicts.py)
LEVEL = 0.975  # of the interval that decides, so that at most one in twenty verdicts is wrong with up to three looks
FARTHEST = 100  # passes up to which an open verdict says how many more would decide; chosen
TOLD_ROUNDS = 5  # of an episode in which the agent is told the partner's action, and has nothing to find out; chosen
UNMEASURED = 0.1  # share of rounds without a readable move above which nothing is said about an agent; chosen
NEGLIGIBLE = 0.01  # share of the loss of random play that is not mentioned; chosen
MOSTLY = 0.5  # share of a loss that counts as most of it
WORST = 3  # episodes shown of an agent
FORMATTING, PREDICTING, USING = "formatting", "predicting", "using"
PLACES = {
    PREDICTING: "its predictions are wrong",
    USING: "it does not act on its predictions",
}
"""The places where an agent that fails can break, in words."""


@dataclass(frozen=True)
class CheckPlan:
    """The plan of a check: games, names of partners (empty: the usual ones), rounds of an episode, and passes.

    In a pass an agent meets every partner once. There are at least LEAST_PASSES, unless fewer are allowed, and at most
    `passes`. `machines` is a file of partners; all of them play if none is named.
    """

    games: tuple[Game, ...]
    partners: tuple[str, ...] = ()
    rounds: int = ROUNDS
    passes: int = MOST_PASSES
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

    def task_of(self, episode: Episode) -> Task:
        """The task of an episode, by its rows."""
        return self.by_name[episode[-1]["condition"], len(episode)]

    def share(self, episode: Episode, metric: str = "functional_regret") -> float:
        """A metric of an episode as a share of what random play loses; NaN if that loses nothing."""
        return normalised(self.task_of(episode), episode[-1][metric])

    def loss(self, episode: Episode, *, predicted: bool = False) -> float:
        """Σ (V − Q) over the rounds with a readable move, as a share of what random play loses in as many rounds.

        `predicted`: of this, the part in rounds in which the agent predicted its partner rightly. NaN if random play
        loses nothing, or no move could be read.
        """
        task = self.task_of(episode)
        losses = exact_losses(task, episode)
        played = int(np.isfinite(losses).sum())
        if not played:
            return math.nan
        counted = [not predicted or row["predicted"] == row["observed"] for row in episode]
        total = float(np.nansum(losses[counted]))
        return normalised(task if played == task.horizon else replace(task, horizon=played), total / played)

    def _partners(self, game: Game) -> list[Machine]:
        if self.partners or self.machines:
            return list(dict.fromkeys(partners_in(game, self.partners, self.machines)))
        machines = list(partners.single_action(game))
        with suppress(InputError):  # tit for tat does not fit every game
            machines += partners.tit_for_tat(game)
        return machines

    def encounters(self, agent: str, rungs: Sequence[str] = (OWN,), number: int = 0) -> list[CheckEpisode]:
        """The episodes of an agent in the pass of this number, at these rungs."""
        return [CheckEpisode(task, agent, number, self.seed, rung) for rung in rungs for task in self.tasks(rung)]


def loss_of_passes(losses_by_partner: Sequence[Sequence[float]], level: float = LEVEL) -> Estimate:
    """The mean loss over the partners of the suite, with the interval that decides.

    The partners are fixed strata: the interval comes from the spread between episodes with the same partner, never from
    that within an episode, in which an agent with a memory repeats itself.
    """
    return welch(losses_by_partner, level)


def decided(loss: Estimate, limit: float) -> bool | None:
    """Whether a loss is at most the limit: True or False if its whole interval lies on that side, else None."""
    return True if loss.high <= limit else False if loss.low > limit else None


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


class CheckVerdict(NamedTuple):
    """Whether an agent passed (None: that is open, or could not be measured), where it breaks (or ""), and words."""

    passed: bool | None
    breaks: str
    words: str

    @property
    def result(self) -> str:
        """passes, fails, open, or not measured."""
        if self.passed is None and self.breaks == FORMATTING:
            return "not measured"
        return {True: "passes", False: "fails", None: "open"}[self.passed]


@dataclass(frozen=True)
class Findings:
    """The findings about an agent. All losses are shares of what random play loses.

    `functional` is its loss on this suite, with the interval that decides; `wider` is the same with the partners as a
    sample of partners like them. `unused` is the part of the loss in rounds that it predicted rightly; `literal` is
    what its wrong predictions alone would cost, as the paper prices them, and `gap` functional minus literal. `rungs`
    are its losses when told the truth. `unreadable` is the share of replies that could not be read, by kind (None for
    agents that do not speak), `lost` that of rounds without a move, which are in no loss, and `unpredicted` that of
    rounds without a prediction. If too many moves are lost there are no losses at all. `shares` has the losses by
    partner, `calls` is the mean number of replies in a pass.
    """

    name: str
    functional: Estimate
    wider: Estimate
    unused: Estimate
    literal: Estimate
    gap: Estimate
    consistency: Estimate
    unreadable: Mapping[str, float] | None
    lost: Estimate
    rungs: Mapping[str, Estimate]
    max_regret: float
    shares: Mapping[str, tuple[float, ...]]
    passes: int
    probes: tuple[Probe, ...] = ()
    evidence: str = ""
    calls: float = 0.0
    unpredicted: float = 0.0

    def less(self, reference: Findings) -> Estimate | None:
        """Its loss less another's, paired by partner; None if they share none."""
        ours, theirs = (
            {name: fmean(losses) for name, losses in finding.shares.items()} for finding in (self, reference)
        )
        return paired(ours, theirs) if ours.keys() & theirs.keys() else None

    @property
    def verdict(self) -> CheckVerdict:
        """Pass or fail by the loss on this suite alone; open while its interval spans the limit, or after one pass.

        If too few moves could be read, nothing is said. An agent that fails breaks where most of its loss is.
        """
        if not self.shares:
            kinds = [f"{_percent(share)} {kind}" for kind, share in (self.unreadable or {}).items()]
            of_replies = f" (of its replies: {', '.join(kinds)})" if kinds else ""
            words = f"in {_percent(self.lost.value)} of the rounds no move could be read{of_replies}"
            return CheckVerdict(None, FORMATTING, words)
        passed = decided(self.functional, self.max_regret) if self.passes > 1 else None
        if passed is None:
            sentences = ["its loss may be on either side of the limit", self._loss, self.further_passes]
        elif passed:
            sentences = ["it acts on what it predicts, as far as the limit asks", self._loss]
        else:
            place = "its predictions cannot be read" if self.unpredicted > UNMEASURED else PLACES[self._break]
            sentences = [self._habit or place, self._loss, self._told]
        return CheckVerdict(passed, self._break if passed is False else "", ". ".join(filter(None, sentences)))

    @property
    def _break(self) -> str:
        return USING if self.unused.value >= MOSTLY * self.functional.value else PREDICTING

    @property
    def _loss(self) -> str:
        """The loss, the part of it that was predicted, and what wrong predictions alone would cost, as sentences."""
        loss, limit = self.functional, f"{self.max_regret:g}"
        spread = f" [{loss.low:.2f}, {loss.high:.2f}]" if loss.low < loss.high else ""
        words = f"It loses {loss.value:.2f}{spread} of what random play loses with these partners; the limit is {limit}"
        if self.unused.value > NEGLIGIBLE:
            words += f". Of this, {self.unused.value:.2f} is in rounds that it predicted rightly{self.evidence}"
        if self.unpredicted > UNMEASURED:
            words += f". In {_percent(self.unpredicted)} of the rounds its prediction could not be read"
        elif self.literal.value > self.max_regret:
            words += f". Its predictions are wrong: they alone would lose {self.literal.value:.2f}"
        return words

    @property
    def _habit(self) -> str:
        """The first habit that explains the failure, with its evidence, as a clause."""
        for probe in self.probes:
            if probe.is_habit and (probe.name in ACTS or self._break == PREDICTING):
                return f"it {probe.words}, in {_percent(probe.share)} of the {probe.telling} rounds where that is wrong"
        return ""

    @property
    def _told(self) -> str:
        if not self.rungs:
            return ""
        best = min(rung.value for rung in self.rungs.values())
        if best <= self.max_regret:
            return f"Told what the partner does, it plays well ({best:.2f})"
        return f"Even told what the partner does, it loses {best:.2f}"

    @property
    def further_passes(self) -> str:
        """How many more passes, and calls, the present spread would need to decide, as a sentence."""
        if self.passes < 2:
            return "One pass cannot decide"
        distance, margin = abs(self.functional.value - self.max_regret), self.functional.high - self.functional.value
        for passes in range(self.passes + 1, FARTHEST + 1):
            if margin * math.sqrt(self.passes / passes) < distance:
                more = passes - self.passes
                calls = f" ({self.calls * more:,.0f} calls)" if self.calls else ""
                return f"With this spread, {more} more pass{'es' * (more > 1)}{calls} would decide"
        return f"It is so close that {FARTHEST} passes would not decide"


def assess(agent: Agent, plan: CheckPlan, rows: Sequence[Row], max_regret: float) -> Findings:
    """The findings about an agent from its rows."""
    ways = {way: [e for e in episodes_of(rows) if e[-1]["policy"] == way] for way in (OWN, *TOLD)}
    own = ways.pop(OWN)

    def by_partner(episodes: Sequence[Episode], value: Callable[[Episode], float]) -> dict[str, tuple[float, ...]]:
        values: dict[str, tuple[float, ...]] = {}
        for episode in episodes:
            if not math.isnan(number := value(episode)):
                condition = episode[-1]["condition"]
                values[condition] = (*values.get(condition, ()), number)
        return values

    def over(episodes: Sequence[Episode], value: Callable[[Episode], float]) -> Estimate:
        values = by_partner(episodes, value)
        return loss_of_passes(list(values.values())) if values else exact(math.nan, 0)

    lost, unpredicted = (over(own, partial(_missing, part)) for part in ("action", "predicted"))
    judged = own if lost.value <= UNMEASURED + ROUNDING else []
    shares = by_partner(judged, plan.loss)
    speaks, passes = isinstance(agent, LanguageAgent), len({episode[-1]["episode"] for episode in own})
    return Findings(
        name=agent.name,
        functional=loss_of_passes(list(shares.values())) if shares else exact(math.nan, 0),
        wider=mean(list(map(fmean, shares.values()))) if shares else exact(math.nan, 0),
        unused=over(judged, lambda episode: plan.loss(episode, predicted=True)),
        literal=over(judged, lambda episode: plan.share(episode, "tom_regret_paper")),
        gap=over(judged, lambda episode: plan.loss(episode) - plan.share(episode, "tom_regret_paper")),
        consistency=over(judged, process_consistency),
        unreadable=unreadable_kinds(own) if speaks else None,
        lost=lost,
        rungs={way: over(way_episodes, plan.loss) for way, way_episodes in ways.items() if way_episodes},
        max_regret=max_regret,
        shares=shares,
        passes=passes,
        probes=probes([(episode, plan.task_of(episode)) for episode in judged]),
        evidence=_evidence(judged, plan),
        calls=sum(episode[-1]["replies"] for episode in own) / max(passes, 1) if speaks else 0.0,
        unpredicted=unpredicted.value,
    )


def _missing(part: str, episode: Episode) -> float:
    """The share of rounds without a readable `action`, or without what was `predicted`."""
    return sum(row[part] is None for row in episode) / len(episode)


def unreadable_kinds(episodes: Sequence[Episode]) -> dict[str, float]:
    """The shares of replies that could not be read, by kind: unreadable, cut, refused, filtered."""
    kinds = Counter(kind for episode in episodes for row in episode for kind in row["kinds"])
    replies = sum(episode[-1]["replies"] for episode in episodes)
    return {kind: count / max(replies, 1) for kind, count in kinds.most_common()}


def _evidence(episodes: Sequence[Episode], plan: CheckPlan) -> str:
    """The clearest case of a prediction that is not used: a partner predicted rightly to the end, and not answered."""
    clearest, most = "", 0
    for episode in episodes:
        losses = exact_losses(plan.task_of(episode), episode)
        right = [row["predicted"] == row["observed"] for row in episode]
        known = next((n for n, hit in enumerate(reversed(right)) if not hit), len(right))  # rounds at the end
        wasted = int((losses[len(right) - known :] > ROUNDING).sum())
        if wasted > most:
            (game, _, partner), most = episode[-1]["condition"].partition("/"), wasted
            since = f"right from round {len(right) - known + 1} on"
            clearest = f", as with {partner} in {game}: {since}, yet no best reply in {wasted} of {known} rounds"
    return clearest


def worst(rows: Sequence[Row], plan: CheckPlan) -> list[list[Row]]:
    """The worst episodes with three different partners: those with the largest losses, the worst first.

    Episodes in which too few moves could be read come before all others.
    """
    by_partner: dict[str, tuple[tuple[bool, float], list[Row]]] = {}
    for episode in (episode for episode in episodes_of(rows) if episode[-1]["policy"] == OWN):
        condition, loss = episode[-1]["condition"], plan.loss(episode)
        is_unread = _missing("action", episode) > UNMEASURED
        badness = (is_unread, 0.0 if math.isnan(loss) else loss)
        comparable = is_unread or not math.isnan(loss)
        if comparable and (condition not in by_partner or badness > by_partner[condition][0]):
            by_partner[condition] = badness, episode
    ranked = sorted(by_partner.values(), key=itemgetter(0), reverse=True)
    return [episode for _, episode in ranked[:WORST]]


def summary(findings: Sequence[Findings], beside: Sequence[str] = ()) -> list[Row]:
    """One row for each agent and metric that was measured.

    `minus_NAME` is its loss less that of a player named in `beside`, paired.
    """
    rows, references = [], [finding for finding in findings if finding.name in beside]
    for finding in findings:
        metrics = {
            "relative_regret": finding.functional,
            "relative_regret_over_partners": finding.wider,
            "relative_regret_predicted": finding.unused,
            "relative_tom_regret": finding.literal,
            "gap": finding.gap,
            "consistency": finding.consistency,
            "passes": exact(finding.passes, finding.passes),
        }
        if finding.unreadable is not None:
            metrics |= {"lost_share": finding.lost, "unreadable_share": exact(sum(finding.unreadable.values()), 1)}
            metrics |= {f"unreadable_{kind}": exact(share, 1) for kind, share in finding.unreadable.items()}
        metrics |= {
            f"probe_{probe.name}": exact(probe.share, probe.telling) for probe in finding.probes if probe.telling
        }
        metrics |= {f"relative_regret_{rung}": estimate for rung, estimate in finding.rungs.items()}
        for reference in (reference for reference in references if reference is not finding):
            if (less := finding.less(reference)) is not None:
                metrics[f"minus_{reference.name}"] = less
        measured = {metric: estimate for metric, estimate in metrics.items() if estimate.n}
        rows += [summary_row("check", "all", finding.name, metric, estimate) for metric, estimate in measured.items()]
    return rows

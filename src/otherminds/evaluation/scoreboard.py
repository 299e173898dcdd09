"""One scoreboard: every agent in every world, scored literally and functionally by the same code.

*Literal*: how often was the agent's most probable prediction right, be it the next action, a goal, or a belief in a
story? *Functional*: what share of the payoff that knowing the other agent is worth did it gain? (Riemer et al.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from otherminds.evaluation import statistics as st
from otherminds.evaluation.statistics import Estimate, summary_row

Row = dict[str, Any]
EXPERIMENT = "scoreboard"
WORTH = 1e-9
"""Least total gain, in payoff, for which a functional score is defined: rounding of sums."""


class Expectation(NamedTuple):
    """The most probable prediction: whether it was right, and its stated probability, None if it was not stated."""

    right: bool
    probability: float | None = None


class Episode(NamedTuple):
    """An agent's predictions in one episode, and its payoff.

    `best` is the payoff of an agent that knows the other, `floor` that of play that ignores the other, in the same unit
    as `earned`; None where they are unknown. An agent that is told about the other, or states nothing, has no
    predictions.
    """

    world: str
    agent: str
    name: str
    expectations: tuple[Expectation, ...] = ()
    earned: float | None = None
    best: float | None = None
    floor: float | None = None


def scores(episodes: Iterable[Episode]) -> list[Row]:
    """Summary rows: the world is the condition, the agent the subject.

    `literal`: Σ right / Σ predictions. `calibration_error`: the gap between the stated probability of predictions and
    the share that was right. `functional`: Σ (earned − floor) / Σ (best − floor), so 0 is play that ignores the other
    and 1 play that knows it; values below 0 and above 1 are possible. `regret`: the mean of best − earned, in the
    unit of the world. Intervals are 95 %, clustered by episode.
    """
    groups: dict[tuple[str, str], list[Episode]] = {}
    for episode in episodes:
        groups.setdefault((episode.world, episode.agent), []).append(episode)
    return [
        summary_row(EXPERIMENT, world, agent, metric, estimate)
        for (world, agent), mine in groups.items()
        for metric, estimate in _scores(mine)
    ]


def _scores(episodes: Sequence[Episode]) -> Iterator[tuple[str, Estimate]]:
    """The metrics of one agent in one world, each with its name, as far as its episodes define them. See `scores`."""
    predicting = [episode for episode in episodes if episode.expectations]
    if predicting:
        rights = [float(sum(expectation.right for expectation in episode.expectations)) for episode in predicting]
        counts = [float(len(episode.expectations)) for episode in predicting]
        yield "literal", st.ratio(rights, counts, [episode.name for episode in predicting])
    stated = [(p, right, episode.name) for episode in predicting for right, p in episode.expectations if p is not None]
    if stated:
        yield "calibration_error", st.miscalibration(*zip(*stated, strict=True))
    with_payoffs = [episode for episode in episodes if None not in (episode.earned, episode.best, episode.floor)]
    gained = [(episode.earned or 0.0) - (episode.floor or 0.0) for episode in with_payoffs]
    names = [episode.name for episode in with_payoffs]
    possible = [(episode.best or 0.0) - (episode.floor or 0.0) for episode in with_payoffs]
    if sum(possible) > WORTH:
        yield "functional", st.ratio(gained, possible, names)
        yield "regret", st.mean([p - g for p, g in zip(possible, gained, strict=True)], names)

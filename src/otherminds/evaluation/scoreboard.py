"""One scoreboard: every agent in every world, scored literally and functionally by the same code.

*Literal*: how often did what the agent held likeliest come about, be it the next play, a goal, or what somebody in a
story believes? *Functional*: of what can be gained there by knowing the other, how much did it gain? (Riemer et al.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from otherminds.evaluation import statistics as st
from otherminds.evaluation.statistics import Estimate

Row = dict[str, Any]
EXPERIMENT = "scoreboard"
WORTH = 1e-9


class Expectation(NamedTuple):
    """What was held likeliest: whether it came about, and how probable it was said to be; None if that was not said."""

    right: bool
    probability: float | None = None


class Episode(NamedTuple):
    """What an agent expected in one episode, and what it earned.

    `best` is what whoever knows the other earns there, and `floor` what is earned without any thought of others, in the
    same unit; both are None where nobody knows that. Who is told about the other, or says nothing, expects nothing.
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

    `literal`: Σ right / Σ expectations. `calibration_error`: the gap between how sure the agent was of what it held
    likeliest, and how often that came. `functional`: Σ (earned − floor) / Σ (best − floor), so 0 is play without a
    thought of others, 1 that of who knows the other; below and above are possible. `regret`: the mean of best − earned,
    in the unit of the world. Intervals are 95 %, by episode.
    """
    found: dict[tuple[str, str], list[Episode]] = {}
    for episode in episodes:
        found.setdefault((episode.world, episode.agent), []).append(episode)
    return [
        {"experiment": EXPERIMENT, "condition": world, "subject": agent, "metric": metric, **estimate._asdict()}
        for (world, agent), mine in found.items()
        for metric, estimate in _scores(mine)
    ]


def _scores(mine: Sequence[Episode]) -> Iterator[tuple[str, Estimate]]:
    telling = [one for one in mine if one.expectations]
    if telling:
        rights = [float(sum(expectation.right for expectation in one.expectations)) for one in telling]
        yield "literal", st.ratio(rights, [float(len(one.expectations)) for one in telling], _names(telling))
    said = [(p, right, one.name) for one in telling for right, p in one.expectations if p is not None]
    if said:
        yield "calibration_error", st.miscalibration(*zip(*said, strict=True))
    judged = [one for one in mine if None not in (one.earned, one.best, one.floor)]
    gained = [(one.earned or 0.0) - (one.floor or 0.0) for one in judged]
    possible = [(one.best or 0.0) - (one.floor or 0.0) for one in judged]
    if sum(possible) > WORTH:
        yield "functional", st.ratio(gained, possible, _names(judged))
        yield "regret", st.mean([p - g for p, g in zip(possible, gained, strict=True)], _names(judged))


def _names(episodes: Sequence[Episode]) -> list[str]:
    return [one.name for one in episodes]

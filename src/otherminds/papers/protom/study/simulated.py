"""A study as with people, with simulated ones: pairs who play kitchens with and without facilitators (ProToM §4.5).

Simulated participants follow a message with some probability and rate by a rule, from what happened and nothing else,
so that there is something to try the analysis on. Their ratings say nothing about people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otherminds.evaluation.assistance import FACILITATOR
from otherminds.evaluation.engines import stream
from otherminds.language.model import LanguageModel
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom import overcooked as protom_overcooked
from otherminds.papers.protom.experiment import Cast, Row
from otherminds.papers.protom.study.export import ASPECTS, EXPERIMENT, FINISHED, POINTS, TIME
from otherminds.papers.protom.study.plan import NOBODY, counterbalanced, default_levels
from otherminds.worlds.overcooked.level_files import KitchenLevel

SUBJECTS = (NOBODY, "random", "protom")
OBEDIENCE = 0.9
NOISE = 0.7
NO_REASON = "No reason given."


@dataclass(frozen=True)
class Entry:
    """One trial of a plan: the `number`th of a pair. People do as they are told with probability `obedience`."""

    pair: int
    number: int
    level: KitchenLevel
    subject: str
    seed: int
    obedience: float = OBEDIENCE

    @property
    def condition(self) -> str:
        """The class of the level."""
        return self.level.kind or "unclassified"

    @property
    def episode(self) -> str:
        """What the trial is called: no two of a study are called alike."""
        return f"{self.pair:02}-{self.number} {self.level.name}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the trial apart in the rows."""
        return (self.condition, self.subject, self.episode)

    @property
    def played(self) -> facilitated.Entry:
        """The same as an episode with a facilitator."""
        return facilitated.Entry(self.level, self.subject, self.condition, self.seed)


def plan(
    pairs: int,
    seed: int,
    subjects: Sequence[str] = SUBJECTS,
    levels: Sequence[KitchenLevel] = (),
    obedience: float = OBEDIENCE,
) -> list[Entry]:
    """What pairs 1 to `pairs` play, by default with the usual levels. Raises InputError for numbers that do not fit."""
    known = {level.name: level for level in levels or default_levels()}
    return [
        Entry(pair, number, known[trial.level], trial.facilitator, trial.seed, obedience)
        for pair in range(1, pairs + 1)
        for number, trial in enumerate(counterbalanced(list(known.values()), subjects, pair, seed=seed), 1)
    ]


def rows(entry: Entry) -> list[Row]:
    """Play a trial and tell it in rows."""
    return told(entry, protom_overcooked.cast(entry.played))


def advised_rows(entry: Entry, model: LanguageModel, *, pictures: bool = False) -> list[Row]:
    """Play a trial with a language model as the facilitator, and tell it in rows."""
    return told(entry, protom_overcooked.advised(entry.played, model, pictures=pictures))


def told(entry: Entry, cast: Cast) -> list[Row]:
    """Play a trial with these people and this facilitator, let them rate it, and tell it in rows."""
    about = {"episode": entry.episode, "pair": entry.pair, "trial": entry.number, "level": entry.level.name}
    obeying = cast._replace(obedience=entry.obedience)
    found = [{**row, **about} for row in facilitated.rows(EXPERIMENT, entry.played, obeying)]
    found[-1]["ended"] = FINISHED if found[-1]["success"] else TIME
    found[-1]["by"] = dict.fromkeys(cast.world.agents, "simulated")
    if entry.subject != NOBODY:
        found[-1]["ratings"] = {agent: _ratings(entry, found, agent) for agent in cast.world.agents}
    return found


# How simulated participants rate


def shares(rows: Sequence[Row], agent: str) -> dict[str, float]:
    """What a simulated participant rates by, from 0 to 1; an aspect of which nothing can be said is left out.

    helpful: the share of messages that were carried out, half of it if the pair did not succeed. appropriate: the share
    of messages that were neither ignored nor impossible. clear: the share of messages that came with a reason.
    understood: P(own goal) at the end.
    """
    advice = [row for row in rows if row["agent"] == FACILITATOR]
    said = [row for row in advice if row["action"]]
    became = [row.get("status") for row in advice] + [rows[-1].get("outcome")]
    found = {}
    if said:
        worth = 1.0 if rows[-1]["success"] else 0.5
        found["helpful"] = worth * became.count("completed") / len(said)
        found["appropriate"] = 1 - (became.count("ignored") + became.count("impossible")) / len(said)
        found["clear"] = sum(row["words"] not in ("", NO_REASON) for row in said) / len(said)
    known = [row["p_true"] for row in rows if row["agent"] == agent and "p_true" in row]
    if known:
        found["understood"] = known[-1]
    return found


def _ratings(entry: Entry, rows: Sequence[Row], agent: str) -> dict[str, int]:
    """Seven points for a share of 1, one for 0, four if there is nothing to go by; with noise."""
    rng = stream(entry.seed, "ratings", agent)
    found = shares(rows, agent)
    low, high = POINTS[0], POINTS[-1]
    exact = {aspect: low + (high - low) * found.get(aspect, 0.5) for aspect in ASPECTS}
    return {aspect: int(min(max(round(x + NOISE * rng.normal()), low), high)) for aspect, x in exact.items()}

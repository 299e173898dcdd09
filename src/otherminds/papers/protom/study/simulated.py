"""The study with simulated participants: pairs that play kitchens with and without facilitators (ProToM §4.5).

Simulated participants follow a message with a fixed probability and rate by a rule, from what happened in the trial
only. Their ratings say nothing about people; they exist to test the analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otherminds.evaluation.assistance import FACILITATOR
from otherminds.evaluation.engines import stream
from otherminds.language.model import LanguageModel
from otherminds.papers.protom import experiment
from otherminds.papers.protom.experiment import PlannedEpisode, Row
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.papers.protom.study.export import ASPECTS, EXPERIMENT, FINISHED, POINTS, TIME, statuses
from otherminds.papers.protom.study.plan import NOBODY, counterbalanced, default_levels
from otherminds.worlds.overcooked.level_files import KitchenLevel

SUBJECTS = (NOBODY, "random", "protom")
OBEDIENCE = 0.9  # probability that a simulated participant follows a message; chosen, not measured
NOISE = 0.7  # standard deviation of a rating, in points; chosen, not measured
NO_REASON = "No reason given."  # what facilitators without reasons say, see `RandomFacilitator`


@dataclass(frozen=True)
class PlannedTrial:
    """The `number`th trial of a pair, as a planned episode; `obedience`: the probability that a message is followed."""

    pair: int
    number: int
    played: PlannedEpisode
    obedience: float = OBEDIENCE

    @property
    def episode(self) -> str:
        """The name of the trial, unique within a study."""
        return f"{self.pair:02}-{self.number} {self.played.level.name}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Condition, subject and trial: what identifies the trial in the rows."""
        return (self.played.condition, self.played.subject, self.episode)


def plan(
    pairs: int,
    seed: int,
    subjects: Sequence[str] = SUBJECTS,
    levels: Sequence[KitchenLevel] = (),
    obedience: float = OBEDIENCE,
) -> list[PlannedTrial]:
    """The trials of pairs 1 to `pairs`, on the usual levels by default. Raises InputError as `counterbalanced` does."""
    by_name = {level.name: level for level in levels or default_levels()}
    trials = []
    for pair in range(1, pairs + 1):
        for number, trial in enumerate(counterbalanced(list(by_name.values()), subjects, pair, seed=seed), 1):
            (episode,) = experiment.plan([by_name[trial.level]], [trial.facilitator], seed=trial.seed)
            trials.append(PlannedTrial(pair, number, episode, obedience))
    return trials


def rows(trial: PlannedTrial, model: LanguageModel | None = None, *, pictures: bool = False) -> list[Row]:
    """Play a trial, with a language model as the facilitator if there is one; its rows, with ratings in the last."""
    entry = trial.played
    setup = OVERCOOKED.setup(entry, model=model, pictures=pictures)._replace(obedience=trial.obedience)
    about = {"episode": trial.episode, "pair": trial.pair, "trial": trial.number, "level": entry.level.name}
    trial_rows = [{**row, **about} for row in experiment.rows(EXPERIMENT, entry, setup)]
    trial_rows[-1]["ended"] = FINISHED if trial_rows[-1]["success"] else TIME
    trial_rows[-1]["by"] = dict.fromkeys(setup.world.agents, "simulated")
    if entry.subject != NOBODY:
        trial_rows[-1]["ratings"] = {agent: _ratings(entry.seed, trial_rows, agent) for agent in setup.world.agents}
    return trial_rows


# How simulated participants rate


def rating_shares(rows: Sequence[Row], agent: str) -> dict[str, float]:
    """The shares, in [0, 1], that determine a participant's ratings; aspects without evidence are missing.

    helpful: the share of messages that were carried out, halved if the pair did not succeed. appropriate: the share of
    messages that were neither ignored nor impossible. clear: the share of messages with a reason. understood: the
    facilitator's last P(own goal).
    """
    sent = [row for row in rows if row["agent"] == FACILITATOR and row["action"]]
    fates = [status for by_message in statuses(rows) for status in by_message.values()]
    shares = {}
    if sent:
        worth = 1.0 if rows[-1]["success"] else 0.5
        shares["helpful"] = worth * fates.count("completed") / len(sent)
        shares["appropriate"] = 1 - (fates.count("ignored") + fates.count("impossible")) / len(sent)
        shares["clear"] = sum(row["words"] not in ("", NO_REASON) for row in sent) / len(sent)
    probabilities = [row["p_true"] for row in rows if row["agent"] == agent and "p_true" in row]
    if probabilities:
        shares["understood"] = probabilities[-1]
    return shares


def _ratings(seed: int, rows: Sequence[Row], agent: str) -> dict[str, int]:
    """Ratings in points: 7 for a share of 1, 1 for 0, 4 without evidence, plus normal noise, rounded and clipped."""
    rng = stream(seed, "ratings", agent)
    shares = rating_shares(rows, agent)
    low, high = POINTS[0], POINTS[-1]
    exact = {aspect: low + (high - low) * shares.get(aspect, 0.5) for aspect in ASPECTS}
    return {aspect: int(min(max(round(x + NOISE * rng.normal()), low), high)) for aspect, x in exact.items()}

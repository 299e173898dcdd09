"""The experiment dkg-human: goal inference beside people's judgements of single-agent Doors-Keys-Gems episodes.

The judgements (Alanqary et al. 2021, arXiv 2106.13249) are in the branch `project-blocks` of the public repository
ztangent/Plinf.jl, folder domains/doors-keys-gems. They have no licence, so they are read from the user's clone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, faults
from otherminds.evaluation.judgements import FittedModel, correlation, estimate, in_sample, leave_one_out, rmse
from otherminds.evaluation.statistics import summary_row
from otherminds.files.text import read_text
from otherminds.files.toml import packaged
from otherminds.observer import Observer, replay
from otherminds.reports.page import Html, Page, Section, inline, number, page, stack, table
from otherminds.reports.results import by_key, cell, figures, targets
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.pddl import follow_plan, read_plan, read_problem
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State

EXPERIMENT = "dkg-human"
FOLDER = Path("domains/doors-keys-gems")

# the 1-based indices into the posteriors of each episode at which people were asked; the first one is the prior
POINTS = TypeAdapter(dict[str, Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]])


class InferenceSetting(NamedTuple):
    """The agent's rationality β, its probability of a random action, and the share of evidence lost per step."""

    beta: float
    lapse: float
    leak: float


def read_setting(text: str) -> InferenceSetting:
    """The setting that a text such as `beta=2,lapse=0.05,leak=0.1` names, in any order. Raises InputError if none."""
    hint = "as beta=2,lapse=0.05,leak=0.1: beta > 0, lapse from 0 to 1, leak from 0 to below 1"
    try:
        numbers = {name.strip(): float(value) for name, _, value in (part.partition("=") for part in text.split(","))}
        setting = InferenceSetting(**numbers)
    except (TypeError, ValueError):
        raise InputError(f"`{text[:60]}` is no setting", hint=hint) from None
    in_range = 0.0 < setting.beta < math.inf and 0.0 <= setting.lapse <= 1.0 and 0.0 <= setting.leak < 1.0
    if text.count("=") != len(setting) or not in_range:  # a name that comes twice would keep its last value
        raise InputError(f"`{text[:60]}` is no setting", hint=hint)
    return setting


# the grid of the fits: 150 settings around those of the published models
SETTINGS = tuple(
    InferenceSetting(*s)
    for s in itertools.product((0.5, 1.0, 1.5, 2.0, 4.0, 6.0), (0.0, 0.02, 0.05, 0.1, 0.2), (0.0, 0.1, 0.2, 0.3, 0.5))
)
MODELS: Mapping[str, tuple[InferenceSetting, ...]] = {
    "boltzmann": tuple(s for s in SETTINGS if s.lapse == 0.0 and s.leak == 0.0),
    "boltzmann_lapse": tuple(s for s in SETTINGS if s.leak == 0.0),
    "boltzmann_lapse_leak": SETTINGS,
}


@dataclass(frozen=True)
class Stimulus:
    """One episode that people watched; `judged`: their mean P(goal) at each judgement point, shape (points, goals)."""

    name: str
    plans: DoorsKeysGemsPlanner
    steps: tuple[Step[State, Action], ...]
    points: tuple[int, ...]
    judged: NDArray[np.float64]

    def inferred(self, setting: InferenceSetting) -> NDArray[np.float64]:
        """P(goal) at each judgement point, shape (points, goals), by Bayesian inference with leaking log weights."""
        world = self.plans.world
        goals = [Goal("gem", gem) for gem in range(len(world.gems))]
        minds = [Seeker(self.plans, 0, goal, beta=setting.beta, lapse=setting.lapse) for goal in goals]
        (agent,) = world.agents
        watchers = {agent: Observer.over(minds, decay=1.0 - setting.leak)}
        beliefs = [watched[agent].ask(lambda mind: mind.goal) for watched in replay(world, watchers, self.steps)]
        return np.array([[beliefs[point - 1].prob(goal) for goal in goals] for point in self.points])


def read_stimuli(path: Path) -> list[Stimulus]:
    """The stimuli of a clone of the repository, or of the folder in it.

    Raises InputError if a file is missing or malformed, there are fewer than two stimuli, or all judgements are equal.
    """
    folder = path / FOLDER if (path / FOLDER).is_dir() else path
    judgements = sorted((folder / "average_human_results_arrays").glob("*_*.csv"))
    if not judgements:
        hint = "point --data at a clone of Plinf.jl, branch project-blocks"
        raise InputError("has no average_human_results_arrays/*.csv", path=folder, hint=hint)
    points = POINTS.validate_python(packaged("otherminds.papers.protom", "judgement_points.toml"))
    own = folder / "judgement_points.json"
    if own.exists():
        try:
            points |= POINTS.validate_json(read_text(own))
        except ValidationError as error:
            raise InputError(f"is not a table of judgement points: {faults(error)[0]['msg']}", path=own) from None
    stimuli = [_stimulus(folder, file, points) for file in judgements]
    if len(stimuli) < 2 or len({float(p) for stimulus in stimuli for p in stimulus.judged.flat}) < 2:
        raise InputError("needs two stimuli at least, and judgements that differ", path=folder)
    return stimuli


def _stimulus(folder: Path, judgements: Path, points: Mapping[str, tuple[int, ...]]) -> Stimulus:
    """The stimulus of a file of judgements `SCENARIO_EPISODE.csv`: one number a line, point by point, goal by goal.

    Raises InputError for an unknown name, a missing file, or numbers that do not fit.
    """
    name = judgements.stem
    if name not in points:
        raise InputError("there is no such stimulus", path=judgements, hint=f"one of {', '.join(points)}")
    scenarios = folder / "new-scenarios"
    world = read_problem(scenarios / f"scenario-{name.replace('_', '-')}.pddl").world
    actions = scenarios / "actions" / f"{name}.dat"
    steps = follow_plan(world, read_plan(actions, world), actions)
    if max(points[name]) > len(steps) + 1:
        raise InputError(f"has {len(steps)} actions, judged after {max(points[name]) - 1}", path=actions)
    numbers = list[float]()
    shape = (len(points[name]), len(world.gems))
    for line, text in enumerate(map(str.strip, read_text(judgements).split("\n")), 1):
        if not text:
            continue
        try:
            numbers.append(float(text))
        except ValueError:
            raise InputError(f"`{text[:20]}` is not a number", path=judgements, line=line) from None
        if not 0.0 <= numbers[-1] <= 1.0:
            raise InputError(f"{text[:20]} is not a probability", path=judgements, line=line)
    if len(numbers) != math.prod(shape):
        raise InputError(f"has {len(numbers)} numbers instead of {shape[0]} × {shape[1]}", path=judgements)
    return Stimulus(name, DoorsKeysGemsPlanner(world), steps, points[name], np.array(numbers).reshape(shape))


Inferences = Mapping[InferenceSetting, list[NDArray[np.float64]]]


def inferences(
    stimuli: Sequence[Stimulus], setting: InferenceSetting
) -> tuple[InferenceSetting, list[NDArray[np.float64]]]:
    """The setting, and P(goal) at the judgement points of every stimulus."""
    return setting, [stimulus.inferred(setting) for stimulus in stimuli]


Fits = Mapping[tuple[str, str], FittedModel[InferenceSetting]]


def fits(inferred: Inferences, stimuli: Sequence[Stimulus], fixed: InferenceSetting | None = None) -> Fits:
    """Each model fitted in sample and leaving one out, by (condition, model), and one with a fixed setting if given."""
    people = [stimulus.judged for stimulus in stimuli]
    tables = {model: {setting: inferred[setting] for setting in settings} for model, settings in MODELS.items()}
    fitted = {("in_sample", model): in_sample(table, people) for model, table in tables.items()}
    fitted |= {("leave_one_out", model): leave_one_out(table, people) for model, table in tables.items()}
    if fixed is not None:
        fitted["fixed", MODEL] = in_sample({fixed: inferred[fixed]}, people)
    return fitted


def summarise(fits: Fits, stimuli: Sequence[Stimulus]) -> list[dict[str, Any]]:
    """One summary row for every condition, model and metric: r and RMSE over all judgements."""
    people = [stimulus.judged for stimulus in stimuli]
    return [
        summary_row(EXPERIMENT, condition, model, metric, estimate(score, fit.predicted, people))
        for (condition, model), fit in fits.items()
        for metric, score in (("r", correlation), ("rmse", rmse))
    ]


def rows(fits: Fits, stimuli: Sequence[Stimulus]) -> Iterator[dict[str, Any]]:
    """One row for every judgement: P(goal) for each gem by the model and by people."""
    for (condition, model), fit in fits.items():
        for stimulus, inferred, setting in zip(stimuli, fit.predicted, fit.settings, strict=True):
            gems = [gem.colour for gem in stimulus.plans.world.gems]
            about = {"experiment": EXPERIMENT, "condition": condition, "subject": model, "episode": stimulus.name}
            for point, ours, theirs in zip(stimulus.points, inferred, stimulus.judged, strict=True):
                posterior, people = (dict(zip(gems, p.tolist(), strict=True)) for p in (ours, theirs))
                judgement = {"predicted": gems[int(ours.argmax())], "posterior": posterior, "people": people}
                yield {"schema": 1, **about, "t": point - 1, **judgement, **setting._asdict()}


# The report

Row = Mapping[str, Any]
MODEL = "boltzmann_lapse_leak"
WORDS: Mapping[str, str] = packaged("otherminds.papers.protom", "report.toml")[EXPERIMENT]


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The whole page, from rows and summary alone."""
    held_out = [r for r in rows if r["condition"] == "leave_one_out" and r["subject"] == MODEL]
    settings = sorted({(r["episode"], r["beta"], r["lapse"], r["leak"]) for r in held_out})
    lines = [[str(v) for v in line] for line in settings]
    settings_table = table(("Stimulus", "β", "Lapse", "Leak"), lines, "Chosen without the stimulus itself.")
    sections = [
        Section("Results", stack(_results(summary), WORDS["model"], targets(summary))),
        Section("Model and people", inline(_scatter(held_out))),
        Section("Settings", settings_table),
    ]
    if fixed_settings := {(r["beta"], r["lapse"], r["leak"]) for r in rows if r["condition"] == "fixed"}:
        lines = [[str(v) for v in line] for line in fixed_settings]
        fixed = table(("β", "Lapse", "Leak"), lines, "Given, and not fitted: fixed.")
        sections.append(Section("Fixed setting", fixed))
    return page(WORDS["title"], WORDS["lead"], sections)


def _results(summary: Sequence[Row]) -> Html:
    """r and RMSE of each fit and model, with the published ones below."""
    estimates = by_key(summary)
    lines = [
        [c.replace("_", " "), subject.replace("_", " "), *(cell(estimates[c, subject, m]) for m in ("r", "rmse"))]
        for c, subject in dict.fromkeys((r["condition"], r["subject"]) for r in summary)
    ]
    published = [p for p in figures().published if p.experiment == EXPERIMENT]
    lines += [["in sample", f"{p.subject} (published)", number(p.value), "–"] for p in published]
    return table(("Fit", "Model", "r", "RMSE"), lines)


def _scatter(rows: Sequence[Row]) -> Figure:
    """P(goal) by people over P(goal) by the model, a point for each judgement."""
    figure = Figure(figsize=(4.6, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    ours = [p for row in rows for p in row["posterior"].values()]
    theirs = [row["people"][gem] for row in rows for gem in row["posterior"]]
    axes.scatter(ours, theirs, s=14, alpha=0.6, linewidths=0, color="#0072B2")
    axes.set(xlabel="P(goal), model (leave one out)", ylabel="P(goal), people", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    return figure

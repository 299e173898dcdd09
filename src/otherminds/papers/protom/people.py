"""Goal inference against people's own judgements of single-agent Doors-Keys-Gems episodes.

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
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from otherminds.distribution import Categorical
from otherminds.errors import InputError, faults
from otherminds.evaluation.statistics import pearson
from otherminds.files.text import read_text
from otherminds.observer import Observer, replay
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.pddl import follow_plan, read_plan, read_problem
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State

EXPERIMENT = "dkg-human"
FOLDER = Path("domains/doors-keys-gems")

# When people were asked: indices from 1 into the posteriors of an episode, of which the first is the prior.
JUDGEMENT_POINTS: Mapping[str, tuple[int, ...]] = {
    "1_1": (1, 7, 17, 23),
    "1_2": (1, 9, 14, 17),
    "1_3": (1, 9, 17, 24),
    "1_4": (1, 7, 14, 23, 32),
    "2_1": (1, 6, 11, 24),
    "2_2": (1, 4, 6, 11),
    "2_3": (1, 5, 8, 13),
    "2_4": (1, 9, 12, 31, 44),
    "3_1": (1, 7, 22, 37, 50),
    "3_2": (1, 14, 24, 29, 40, 54),
    "3_3": (1, 7, 13, 20, 26),
    "3_4": (1, 6, 11, 26, 36, 49),
    "4_1": (1, 8, 14, 20),
    "4_2": (1, 4, 7, 10),
    "4_3": (1, 5, 8, 10),
    "4_4": (1, 7, 12, 18),
}


POINTS = TypeAdapter(dict[str, Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]])


class Setting(NamedTuple):
    """How rational the watched agent is taken to be, and how fast old evidence fades."""

    beta: float
    lapse: float
    leak: float


FULL = tuple(
    Setting(*s)
    for s in itertools.product((0.5, 1.0, 1.5, 2.0, 4.0, 6.0), (0.0, 0.02, 0.05, 0.1, 0.2), (0.0, 0.1, 0.2, 0.3, 0.5))
)
MODELS: Mapping[str, tuple[Setting, ...]] = {
    "boltzmann": tuple(s for s in FULL if s.lapse == 0.0 and s.leak == 0.0),
    "boltzmann_lapse": tuple(s for s in FULL if s.leak == 0.0),
    "boltzmann_lapse_leak": FULL,
}


@dataclass(frozen=True)
class Stimulus:
    """One episode that people watched, and their mean P(goal) at each judgement point: shape (points, goals)."""

    name: str
    plans: DoorsKeysGemsPlanner
    steps: tuple[Step[State, Action], ...]
    points: tuple[int, ...]
    judged: NDArray[np.float64]

    def inferred(self, setting: Setting) -> NDArray[np.float64]:
        """P(goal) at each judgement point: Bayes with a Boltzmann likelihood, log weights leaking at every step."""
        world = self.plans.world
        minds = [
            Seeker(self.plans, 0, Goal("gem", gem), beta=setting.beta, lapse=setting.lapse)
            for gem in range(len(world.gems))
        ]
        watchers = {world.agents[0]: Observer.over(minds, decay=1.0 - setting.leak)}
        history = [
            watched[world.agents[0]].ask(lambda mind: mind.goal) for watched in replay(world, watchers, self.steps)
        ]
        return np.array([_in_order(history[point - 1], len(minds)) for point in self.points])


def _in_order(belief: Categorical[Goal], goals: int) -> list[float]:
    return [belief.prob(Goal("gem", gem)) for gem in range(goals)]


def read_stimuli(path: Path) -> list[Stimulus]:
    """The stimuli of a clone, or of the folder in it. Raises InputError for whatever is missing or malformed."""
    folder = path / FOLDER if (path / FOLDER).is_dir() else path
    judgements = sorted((folder / "average_human_results_arrays").glob("*_*.csv"))
    if not judgements:
        hint = "point --data at a clone of Plinf.jl, branch project-blocks"
        raise InputError("has no average_human_results_arrays/*.csv", path=folder, hint=hint)
    points = _judgement_points(folder / "judgement_points.json")
    stimuli = [_stimulus(folder, file, points) for file in judgements]
    if len(stimuli) < 2 or len({float(p) for stimulus in stimuli for p in stimulus.judged.flat}) < 2:
        raise InputError("needs two stimuli at least, and judgements that differ", path=folder)
    return stimuli


def _judgement_points(path: Path) -> Mapping[str, tuple[int, ...]]:
    if not path.exists():
        return JUDGEMENT_POINTS
    try:
        found: dict[str, tuple[int, ...]] = POINTS.validate_json(read_text(path))
    except ValidationError as error:
        raise InputError(f"is not a table of judgement points: {faults(error)[0]['msg']}", path=path) from None
    return {**JUDGEMENT_POINTS, **found}


def _stimulus(folder: Path, judgements: Path, points: Mapping[str, tuple[int, ...]]) -> Stimulus:
    name = judgements.stem
    if name not in points:
        raise InputError("there is no such stimulus", path=judgements, hint=f"one of {', '.join(points)}")
    scenarios = folder / "new-scenarios"
    world = read_problem(scenarios / f"scenario-{name.replace('_', '-')}.pddl").world
    actions = scenarios / "actions" / f"{name}.dat"
    steps = follow_plan(world, read_plan(actions, world), actions)
    if max(points[name]) > len(steps) + 1:
        raise InputError(f"has {len(steps)} actions, judged after {max(points[name]) - 1}", path=actions)
    judged = _judged(judgements, len(points[name]), len(world.gems))
    return Stimulus(name, DoorsKeysGemsPlanner(world), steps, points[name], judged)


def _judged(path: Path, points: int, goals: int) -> NDArray[np.float64]:
    numbers = []
    for line, text in enumerate(map(str.strip, read_text(path).split("\n")), 1):
        if not text:
            continue
        try:
            numbers.append(float(text))
        except ValueError:
            raise InputError(f"`{text[:20]}` is not a number", path=path, line=line) from None
        if not 0.0 <= numbers[-1] <= 1.0:
            raise InputError(f"{text[:20]} is not a probability", path=path, line=line)
    if len(numbers) != points * goals:
        raise InputError(f"has {len(numbers)} numbers instead of {points} × {goals}", path=path)
    return np.array(numbers).reshape(points, goals)


@dataclass(frozen=True)
class Reading:
    """The inferences for all stimuli as a function of the setting, to be run on any number of processes."""

    stimuli: list[Stimulus]

    def __call__(self, setting: Setting) -> tuple[Setting, list[NDArray[np.float64]]]:
        """The setting, and P(goal) at the judgement points of every stimulus."""
        return setting, [stimulus.inferred(setting) for stimulus in self.stimuli]


class Fit(NamedTuple):
    """A model's P(goal) for every stimulus, and the setting it was read with (chosen without it, if left out)."""

    inferred: list[NDArray[np.float64]]
    settings: list[Setting]


def in_sample(table: Mapping[Setting, list[NDArray[np.float64]]], stimuli: Sequence[Stimulus]) -> Fit:
    """The setting that correlates best with all judgements."""
    everything = range(len(stimuli))
    best = max(table, key=lambda setting: _correlation(table[setting], stimuli, everything))
    return Fit(table[best], [best] * len(stimuli))


def leave_one_out(table: Mapping[Setting, list[NDArray[np.float64]]], stimuli: Sequence[Stimulus]) -> Fit:
    """For every stimulus, the setting that correlates best with the judgements of all the others."""
    chosen = [
        max(table, key=lambda setting: _correlation(table[setting], stimuli, others))
        for others in ([i for i in range(len(stimuli)) if i != left_out] for left_out in range(len(stimuli)))
    ]
    return Fit([table[setting][i] for i, setting in enumerate(chosen)], chosen)


def fits(
    inferred: Mapping[Setting, list[NDArray[np.float64]]], stimuli: Sequence[Stimulus]
) -> dict[tuple[str, str], Fit]:
    """Every model fitted in both ways."""
    tables = {model: {setting: inferred[setting] for setting in settings} for model, settings in MODELS.items()}
    ways = {"in_sample": in_sample, "leave_one_out": leave_one_out}
    return {(name, model): fit(table, stimuli) for name, fit in ways.items() for model, table in tables.items()}


def _correlation(inferred: Sequence[NDArray[np.float64]], stimuli: Sequence[Stimulus], which: Sequence[int]) -> float:
    ours = np.concatenate([inferred[i].ravel() for i in which])
    theirs = np.concatenate([stimuli[i].judged.ravel() for i in which])
    r = pearson(ours.tolist(), theirs.tolist())
    return -math.inf if math.isnan(r) else r


def measures(fit: Fit, stimuli: Sequence[Stimulus]) -> Iterator[dict[str, Any]]:
    """r and RMSE over all judgements, with bootstrap intervals over stimuli."""
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(stimuli), size=len(stimuli)).tolist() for _ in range(2000)]
    everything = list(range(len(stimuli)))
    for metric, of in (("r", _correlation), ("rmse", _rmse)):
        values = [of(fit.inferred, stimuli, draw) for draw in draws]
        low, high = np.quantile([v for v in values if math.isfinite(v)], [0.025, 0.975])
        value = of(fit.inferred, stimuli, everything)
        yield {"metric": metric, "value": value, "low": float(low), "high": float(high), "n": len(stimuli)}


def _rmse(inferred: Sequence[NDArray[np.float64]], stimuli: Sequence[Stimulus], which: Sequence[int]) -> float:
    gaps = np.concatenate([(inferred[i] - stimuli[i].judged).ravel() for i in which])
    return float(np.sqrt(np.mean(gaps**2)))


def summarise(fits: Mapping[tuple[str, str], Fit], stimuli: Sequence[Stimulus]) -> list[dict[str, Any]]:
    """One summary row for every condition, model and metric."""
    return [
        {"experiment": EXPERIMENT, "condition": condition, "subject": model, **measure}
        for (condition, model), fit in fits.items()
        for measure in measures(fit, stimuli)
    ]


def rows(fits: Mapping[tuple[str, str], Fit], stimuli: Sequence[Stimulus]) -> Iterator[dict[str, Any]]:
    """One row for every judgement: what the model and what people thought of each gem."""
    for (condition, model), fit in fits.items():
        for stimulus, inferred, setting in zip(stimuli, fit.inferred, fit.settings, strict=True):
            gems = [gem.colour for gem in stimulus.plans.world.gems]
            for point, ours, theirs in zip(stimulus.points, inferred, stimulus.judged, strict=True):
                yield {
                    "schema": 1,
                    "experiment": EXPERIMENT,
                    "condition": condition,
                    "subject": model,
                    "episode": stimulus.name,
                    "t": point - 1,
                    "predicted": gems[int(ours.argmax())],
                    "posterior": dict(zip(gems, ours.tolist(), strict=True)),
                    "people": dict(zip(gems, theirs.tolist(), strict=True)),
                    **setting._asdict(),
                }

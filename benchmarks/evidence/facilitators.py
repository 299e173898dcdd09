"""Facilitators by one objective, J = E[steps until all are done, the horizon on failure] + .5 a message.

    python -m benchmarks.evidence.facilitators                             # plays, prints and writes the summary
    python -m benchmarks.evidence.facilitators --levels 30 --kitchens 0    # of each class
    python docs/figures.py runs/facilitators facilitators                  # keeps the summary in docs/stored

In four of five episodes everybody wants a listed goal and follows messages; in one of twenty each, messages are
followed half of the time, or one person has an unlisted goal, is idle or wanders. Such people play a third of the
levels. Classes of levels weigh a third each.
Levels are made from a seed that was used for nothing else. All facilitators meet the same people in the same levels;
brackets are 95 % bootstrap intervals over levels, of differences within levels.

In small levels the exact optimum that does not know the goals stands beside them, with nothing sampled.
Episodes are stored as they are played: after an interrupt the same command goes on, and one that asks for more levels
adds to them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.evaluation.engines import Engine, in_order, opened
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import Estimate, summary_row
from otherminds.evaluation.store import Row, Store, first_columns
from otherminds.papers.protom import exact, experiment
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.levels import kitchens, maps
from otherminds.papers.protom.levels.level_sets import CLASSES, Design
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.papers.protom.people import NEED_SPARE

NAME = "facilitators"
MESSAGE = 0.5  # steps that a message costs in J; the facilitators in kitchens reckon with 1
SHARES = {"": 0.8, "ignore_half": 0.05, "not_listed": 0.05, "idle": 0.05, "wandering": 0.05}  # of the kinds of people
DEFAULT = "protom"
BATCH = 200  # random levels proved at a time
RESAMPLES = 2_000


class Field(NamedTuple):
    """One world, its levels, the seed they are made from, and the facilitators that play them."""

    name: str
    world: FacilitatedWorld
    design: Design[Any]
    seed: int
    subjects: Sequence[str]


FIELDS = (
    Field(
        "dkg", DOORS_KEYS_GEMS, maps.DESIGN, 8101, ("none", "protom_paper", "protom_traj", "protom_at_once", DEFAULT)
    ),
    Field("kitchens", OVERCOOKED, kitchens.DESIGN, 8102, ("none", "protom_paper", "protom_at_once", DEFAULT)),
)


def proven(name: str, number: int) -> Any:
    """The random level of this number in a field, with its certificate; None if it belongs to no class."""
    field = next(field for field in FIELDS if field.name == name)
    try:
        return field.design.proven(field.seed, number)
    except InputError:  # too large to be proved
        return None


def levels(field: Field, of_each_class: int, folder: Path, engine: Engine) -> list[Any]:
    """The first levels of each class, as many as wanted; their numbers are kept in the folder."""
    path = folder / f"levels_{field.name}_{of_each_class}.json"
    if not path.exists():

        def made() -> Iterator[Any]:
            for start in count(step=BATCH):
                yield from in_order(partial(proven, field.name), range(start, start + BATCH), engine=engine)

        quotas = dict.fromkeys(CLASSES, of_each_class)
        chosen = shown(field.design.choose(made(), quotas), sum(quotas.values()), f"Making levels of {field.name}")
        numbers = [(level.kind, int(level.name.rpartition("-")[2])) for level in chosen]
        path.write_text(json.dumps(numbers), "utf-8")
    return [field.design.candidate(field.seed, number, kind) for kind, number in json.loads(path.read_text("utf-8"))]


def plan(field: Field, all_levels: Sequence[Any], odd: int) -> list[PlannedEpisode]:
    """All levels with people as expected, and the first `odd` of each class with people of each other kind."""
    entries = []
    for people in SHARES:
        usable = [x for x in all_levels if people not in NEED_SPARE or field.world.spare_goals(x.world)]
        of_class = [[level for level in usable if level.kind == kind] for kind in CLASSES]
        chosen = [level for own in of_class for level in (own[:odd] if people else own)]
        prefix = f"{field.name}/{people}/"
        entries += experiment.plan(chosen, field.subjects, seed=field.seed, prefix=prefix, people=people)
    return entries


def rows(entry: PlannedEpisode) -> list[Row]:
    """Play an episode: whether all succeeded, its length, and the messages."""
    world = next(field.world for field in FIELDS if entry.condition.startswith(field.name))
    moments = list(world.episode(entry))
    success, horizon = entry.level.world.done(moments[-1].after), entry.level.horizon
    messages = sum(moment.decision.message is not None for moment in moments)
    about = first_columns(NAME, entry.key, entry.seed)
    return [{**about, "success": success, "steps": len(moments) if success else horizon, "messages": messages}]


# J of a class, and of all


Table = Mapping[str, NDArray[np.float64]]
"""For each class, a value for each level and kind of people; NaN if people of that kind did not play the level."""


def by_class(field: Field, played: Sequence[Row], subject: str, metric: str) -> Table:
    """A metric of a facilitator in all episodes."""
    values = {
        (row["condition"], row["episode"]): row["steps"] + MESSAGE * row["messages"] if metric == "J" else row[metric]
        for row in played
        if row["subject"] == subject
    }
    episodes = dict.fromkeys(name for _, name in values)
    return {
        kind: np.array(
            [
                [values.get((f"{field.name}/{people}/{kind}", name), np.nan) for people in SHARES]
                for name in episodes
                if (f"{field.name}//{kind}", name) in values
            ]
        )
        for kind in CLASSES
    }


def mean(table: Table) -> Estimate:
    """The mean over the classes of the table, people weighed by their SHARES.

    Levels are resampled within classes. Resamples that have no level with people of some kind are left out.
    """
    rng, shares, means = np.random.default_rng(0), np.array([*SHARES.values()]), []
    for values in table.values():
        drawn = np.concatenate([[range(len(values))], rng.integers(len(values), size=(RESAMPLES, len(values)))])
        sums, counts = np.nansum(values[drawn], axis=1), np.sum(~np.isnan(values[drawn]), axis=1)
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN
            means.append((sums / counts) @ shares)
    overall = np.mean(means, axis=0)
    low, high = np.nanquantile(overall[1:], [0.025, 0.975])
    return Estimate(float(overall[0]), float(low), float(high), sum(map(len, table.values())))


def summary(field: Field, played: Sequence[Row]) -> list[Row]:
    """J, success and messages of each facilitator, and its J minus that of ProToM, in each class and in all."""
    table, ours = list[Row](), by_class(field, played, DEFAULT, "J")
    for subject in field.subjects:
        metrics = {metric: by_class(field, played, subject, metric) for metric in ("J", "success", "messages")}
        metrics["above_protom"] = {kind: metrics["J"][kind] - values for kind, values in ours.items()}
        for metric, values in metrics.items():
            classes: dict[str, Table] = {"all": values} | {kind: {kind: values[kind]} for kind in CLASSES}
            for kind, own in classes.items():
                table.append(summary_row(NAME, f"{field.name}/{kind}", subject, metric, mean(own)))
    return table


def main() -> None:
    """Play what has not been played, print the summary, and write it into the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, default=90, help="of each class of Doors-Keys-Gems")
    parser.add_argument("--kitchens", type=int, default=24, help="of each class")
    parser.add_argument("--folder", type=Path, default=Path("runs/facilitators"))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    table = list[Row]()
    numbers = dict(zip((field.name for field in FIELDS), (options.levels, options.kitchens), strict=True))
    options.folder.mkdir(parents=True, exist_ok=True)
    with opened(None, options.jobs) as engine, Store(options.folder, NAME) as store:
        for field in (field for field in FIELDS if numbers[field.name]):
            entries = plan(field, levels(field, numbers[field.name], options.folder, engine), numbers[field.name] // 3)
            todo = store.todo(entries)
            for episode in shown(in_order(rows, todo, engine=engine), len(todo), f"Playing {field.name}"):
                store.add(episode)
            table += summary(field, store.all([entry.key for entry in entries]))
        small = exact.plan(FIELDS[0].seed)
        todo_small = store.todo(small)
        for values in shown(in_order(exact.rows, todo_small, engine=engine), len(todo_small), "Exact values"):
            store.add(values)
        table += exact.summarise(store.all([entry.key for entry in small]))
    for row in table:
        if row["metric"] in ("J", "above_protom", "regret"):
            interval = f"{row['value']:8.3f} [{row['low']:.3f}, {row['high']:.3f}]"
            print(f"{row['condition']:24} {row['subject']:16} {row['metric']:14} {interval}, n = {row['n']}")
    (options.folder / "summary.json").write_text(json.dumps(table), "utf-8")


if __name__ == "__main__":
    main()

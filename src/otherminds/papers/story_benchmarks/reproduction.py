"""The experiment stories: every benchmark whose files are in the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.experiment import Begin, Experiment, Options, Part, described
from otherminds.evaluation.store import Row
from otherminds.papers.story_benchmarks import experiment, report
from otherminds.reports.results import beside_published

QUESTIONS = {"quick": 10, "normal": 50, "full": None}
"""Questions of each type at most."""


def _stories(options: Options) -> Experiment:
    if options.data is None:
        raise InputError("stories needs the benchmarks' files, which may not be shipped", hint=experiment.HINT)
    found, missing = experiment.read_folder(options.data)
    if missing:
        skipped = f"Skipped, as they are not in {options.data}: {', '.join(missing)}"
        Console(stderr=True).print(skipped, markup=False, highlight=False, soft_wrap=True)
    entries = experiment.plan(found, options.seed, QUESTIONS[options.scale])

    def summarise(rows: Sequence[Row]) -> list[Row]:
        return beside_published(experiment.summarise(rows))

    return Experiment(
        run=described(experiment.EXPERIMENT, options.scale, f"seed {options.seed}", experiment.digest(entries)),
        parts=(Part(experiment.rows, entries),),
        summarise=summarise,
        page=lambda rows, summary: report.report(rows, summary, missing),
        what="Answering questions",
    )


EXPERIMENTS: Mapping[str, Begin] = {experiment.EXPERIMENT: _stories}

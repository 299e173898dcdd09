"""The experiment stories: every benchmark whose files are in the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.experiment import Begin, Experiment, Options, Part, described
from otherminds.evaluation.store import Row
from otherminds.papers.story_benchmarks import experiment, report
from otherminds.reports.results import beside_published
from otherminds.reports.terminal.audits import skipped_rows

QUESTIONS = {"quick": 10, "normal": 50, "full": None}
"""Questions of each type at most."""


def _stories(options: Options) -> Experiment:
    """The experiment stories for these options. Raises InputError without a folder of the benchmarks' files."""
    if options.data is None:
        raise InputError("stories needs the benchmarks' files, which may not be shipped", hint=experiment.HINT)
    folder = experiment.read_folder(options.data)
    faults = [fault for of_benchmark in folder.faults.values() for fault in of_benchmark]
    if folder.missing:
        _note(f"Skipped, as they are not in {options.data}: {', '.join(folder.missing)}")
    if faults:
        _note(f"In {options.data}, {skipped_rows(faults)}")
    entries = experiment.plan(folder.questions, options.seed, QUESTIONS[options.scale])

    def summarise(rows: Sequence[Row]) -> list[Row]:
        return beside_published(
            [*experiment.summarise(rows), *experiment.summarise_models(rows), *experiment.summarise_faults(folder)]
        )

    return Experiment(
        run=described(experiment.EXPERIMENT, options.scale, f"seed {options.seed}", experiment.digest(entries)),
        parts=(Part(experiment.rows, entries),),
        summarise=summarise,
        page=lambda rows, summary: report.report(rows, summary, folder.missing, faults),
        what="Answering questions",
    )


def _note(message: str) -> None:
    """Print a line on standard error as it is."""
    Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


EXPERIMENTS: Mapping[str, Begin] = {experiment.EXPERIMENT: _stories}

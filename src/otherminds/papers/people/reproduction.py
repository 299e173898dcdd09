"""The experiment `people`: fits of minds to people, and people beside optima, players and language models."""

from __future__ import annotations

from collections.abc import Mapping

from otherminds.evaluation.experiment import Begin, Experiment, Options, Part, described
from otherminds.papers.people import experiment, report
from otherminds.reports.results import beside_published


def _people(options: Options) -> Experiment:
    """Nothing has to be downloaded: the data come with the library."""
    return Experiment(
        run=described(f"people seed {options.seed}", "quick" if options.scale == "quick" else ""),
        parts=tuple(Part(task, entries) for task, entries in experiment.plan(options.scale, options.seed)),
        summarise=lambda rows: beside_published(experiment.summarise(rows)),
        page=report.report,
        what="Fitting minds to people",
    )


EXPERIMENTS: Mapping[str, Begin] = {"people": _people}

"""The experiment of the MuMA-ToM paper: its benchmark, if the files are given, and invented stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.experiment import Begin, Experiment, ModelPart, Options, Part, described
from otherminds.evaluation.store import Row, Store
from otherminds.papers.mumatom import experiment, report
from otherminds.reports.results import beside_published
from otherminds.reports.terminal.audits import skipped_rows
from otherminds.stories.mumatom_files import read_mumatom

STORIES = {"quick": 72, "normal": 720, "full": 3600}
"""Invented stories."""


def _mumatom(options: Options) -> Experiment:
    faults = list[InputError]()
    sources = read_mumatom(options.data, faults) if options.data else ()
    if faults:
        Console(stderr=True).print(skipped_rows([*map(str, faults)]), markup=False, highlight=False, soft_wrap=True)
    asking = options.asking
    if asking and not sources:
        raise InputError("a language model is asked about MuMA-ToM", hint="--data DIR, the folder of its files")
    model = asking.find() if asking else None
    subjects = experiment.limp_subjects(model.name) if model else ()
    benchmark = experiment.plan(sources, options.seed, subjects)
    stories = experiment.plan_invented(STORIES[options.scale], options.seed)
    model_part = None
    if asking and model:
        spoken = experiment.first([entry for entry in benchmark if entry.subject in subjects], asking.episodes)
        model_part = ModelPart(model, experiment.limp_rows, spoken, experiment.estimate)

    def collect(store: Store) -> list[Row]:
        answers = store.all([entry.key for entry in benchmark])
        answers += experiment.place_prior(answers, sources)
        return [*answers, *store.all([entry.key for entry in stories])]

    invented_conditions = {entry.key[0] for entry in stories}

    def answers_of(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row["condition"] not in invented_conditions]

    def summarise(rows: Sequence[Row]) -> list[Row]:
        invented = [row for row in rows if row["condition"] in invented_conditions]
        return beside_published([*experiment.summarise(answers_of(rows)), *experiment.summarise_invented(invented)])

    run_parts = (f"mumatom {options.scale} seed {options.seed}", experiment.digest(sources) if sources else "")
    solved = [entry for entry in benchmark if entry.subject not in subjects]
    return Experiment(
        run=described(*run_parts, asking.model if asking else ""),
        parts=(Part(experiment.rows, solved), Part(experiment.invented_rows, stories)),
        model_part=model_part,
        collect=collect,
        summarise=summarise,
        page=lambda rows, summary: report.report(answers_of(rows), summary, [*map(str, faults)]),
        what="Answering questions",
    )


EXPERIMENTS: Mapping[str, Begin] = {"mumatom": _mumatom}

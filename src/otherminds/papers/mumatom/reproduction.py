"""The experiment of the MuMA-ToM paper: its benchmark, if the files are given, and invented stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console

from otherminds.errors import InputError, unknown
from otherminds.evaluation.experiment import Begin, Experiment, ModelPart, Options, Part, described
from otherminds.evaluation.store import Row, Store
from otherminds.language.model import LanguageModel
from otherminds.papers.mumatom import experiment, multiple_choice, report
from otherminds.reports.results import beside_published
from otherminds.reports.terminal.audits import skipped_rows
from otherminds.stories.mumatom_files import MumatomEpisode, read_mumatom

STORIES = {"quick": 72, "normal": 720, "full": 3600}
"""Invented stories."""
MODEL_STORIES = {"quick": 48, "normal": 240, "full": 720}
"""Invented stories that a language model is asked about: the first of them; chosen for running time."""
LIMP, ALONE = "limp", "lm"
METHODS = (LIMP, ALONE)
"""How a language model takes part in MuMA-ToM: within LIMP, or by itself."""


def _mumatom(options: Options) -> Experiment:
    """The experiment mumatom for these options: the benchmark, if its files are given, and invented stories."""
    faults = list[InputError]()
    sources = read_mumatom(options.data, faults) if options.data else ()
    if faults:
        Console(stderr=True).print(skipped_rows([*map(str, faults)]), markup=False, highlight=False, soft_wrap=True)
    asking = options.asking
    model_part = _model_part(options, asking.find(), sources) if asking else None
    benchmark = experiment.plan(sources, options.seed)
    stories = experiment.plan_invented(STORIES[options.scale], options.seed)

    def collect(store: Store) -> list[Row]:
        spoken = store.all([entry.key for entry in model_part.entries]) if model_part else []
        answers = store.all([entry.key for entry in benchmark]) + (spoken if sources else [])
        answers += experiment.place_prior(answers, sources)
        return [*answers, *store.all([entry.key for entry in stories]), *([] if sources else spoken)]

    invented_conditions = {entry.key[0] for entry in stories}

    def answers_of(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row["condition"] not in invented_conditions]

    def summarise(rows: Sequence[Row]) -> list[Row]:
        invented = [row for row in rows if row["condition"] in invented_conditions]
        return beside_published([*experiment.summarise(answers_of(rows)), *experiment.summarise_invented(invented)])

    run_parts = (f"mumatom {options.scale} seed {options.seed}", experiment.digest(sources) if sources else "")
    return Experiment(
        run=described(*run_parts, *((asking.model, asking.length) if asking else ()), *options.agents),
        parts=(Part(experiment.rows, benchmark), Part(experiment.invented_rows, stories)),
        model_part=model_part,
        collect=collect,
        summarise=summarise,
        page=lambda rows, summary: report.report(rows, summary, [*map(str, faults)]),
        what="Answering questions",
    )


def _model_part(options: Options, model: LanguageModel, sources: Sequence[MumatomEpisode]) -> ModelPart:
    """What a language model is asked: within LIMP or by itself about MuMA-ToM, by itself about invented stories.

    Raises InputError for an unknown method, or for LIMP without the files of the benchmark.
    """
    assert options.asking is not None
    for method in options.agents:
        if method not in METHODS:
            raise unknown("method", method, METHODS)
    methods = options.agents or ((LIMP,) if sources else (ALONE,))
    if len(methods) > 1 or (methods == (LIMP,) and not sources):
        hint = "--agent lm asks the model by itself, --data DIR is the folder of MuMA-ToM's files"
        raise InputError("LIMP is about MuMA-ToM, and one method at a time", hint=hint)
    if methods == (LIMP,):
        subjects = experiment.limp_subjects(model.name)
        planned = [entry for entry in experiment.plan(sources, options.seed, subjects) if entry.subject in subjects]
        return ModelPart(
            model, experiment.limp_rows, experiment.first(planned, options.asking.episodes), experiment.estimate
        )
    if sources:
        stories = multiple_choice.benchmark(sources[: options.asking.episodes], options.seed, model.name)
    else:
        stories = multiple_choice.invented(MODEL_STORIES[options.scale], options.seed, model.name)
    asked = [replace(story, max_tokens=options.asking.max_tokens) for story in stories]
    return ModelPart(model, multiple_choice.rows, asked, multiple_choice.estimate)


EXPERIMENTS: Mapping[str, Begin] = {"mumatom": _mumatom}

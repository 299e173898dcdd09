"""Reproduces one experiment: play what is missing, summarise beside the published figures, write the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from otherminds.errors import unknown
from otherminds.evaluation.engines import opened
from otherminds.evaluation.experiment import Begin, Experiment, ModelPart, Options, described
from otherminds.evaluation.how_begun import how_begun
from otherminds.evaluation.store import Row, Store, first_columns
from otherminds.evaluation.tasks import Task
from otherminds.language.model import LanguageModel
from otherminds.papers.food_trucks.clone import is_clone
from otherminds.papers.food_trucks.reproduction import EXPERIMENTS as FOOD_TRUCKS
from otherminds.papers.functional import model_episodes
from otherminds.papers.functional.reproduction import EXPERIMENTS as FUNCTIONAL
from otherminds.papers.hypothetical_minds.reproduction import EXPERIMENTS as HYPOTHETICAL_MINDS
from otherminds.papers.mumatom import multiple_choice
from otherminds.papers.mumatom.multiple_choice import AskedStory, StoryChoice, subject
from otherminds.papers.mumatom.reproduction import EXPERIMENTS as MUMATOM
from otherminds.papers.people import experiment as people
from otherminds.papers.people.datasets import RPS, bots
from otherminds.papers.people.reproduction import EXPERIMENTS as PEOPLE
from otherminds.papers.protom.reproduction import EXPERIMENTS as PROTOM
from otherminds.papers.protom.study.export import is_export
from otherminds.papers.story_benchmarks import experiment as stories
from otherminds.papers.story_benchmarks.experiment import has_benchmarks
from otherminds.papers.story_benchmarks.reproduction import EXPERIMENTS as STORIES
from otherminds.reports.results import Results, write_results
from otherminds.stories.mumatom_files import is_mumatom

ASKED = {"quick": 24, "normal": 120, "full": 480}
"""Questions of each public set of stories that a language model is asked; chosen for the number of calls."""

__all__ = ["EXPERIMENTS", "Options", "names", "reproduce"]


def reproduce(name: str, options: Options) -> Results:
    """Run one experiment by name and write its results into `options.out`.

    Raises InputError for an unknown name, or if the experiment lacks what it needs, UnfinishedError if some episodes
    are left, as they are to a shard; what was played is kept.
    """
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, [*EXPERIMENTS, "all"])
    opened(options.engine, options.jobs)  # an unknown engine is refused before anything is worked out or written
    experiment = EXPERIMENTS[name](options)
    with Store(options.out, experiment.run, how_begun("reproduce", options, name), frozen=options.frozen) as store:
        rows = experiment.played(store, options)
        summary = experiment.summarise(rows)
        results = Results(rows, summary, experiment.page(rows, summary))
        store.write_rows()
        write_results(options.out, results.summary, results.report)
        return results


def names(name: str, data: Path | None, model: bool = False) -> Sequence[str]:
    """The experiments that a name stands for; `all` leaves out those that need other data than are given."""
    if name != "all":
        return (name,)
    if data is not None and is_export(data):
        return ("study",)
    if data is not None and is_clone(data):
        return ("food-trucks",)
    if data is not None and has_benchmarks(data):
        return ("stories",)
    has_mumatom = data is not None and is_mumatom(data)
    without = {"food-trucks", "stories"}
    without |= {"dkg-human"} if data is None or has_mumatom else {"mumatom"}
    without |= {"study"} if data is not None else set()
    without |= {"melting-pot", "hypothetical", "people", "clue-games"} if model else set()
    return tuple(name for name in EXPERIMENTS if name not in without)


def _people(options: Options) -> Experiment:
    """People beside players, and beside a language model if one takes part: it is asked as in the functional paper."""
    experiment = PEOPLE["people"](options)
    asking = options.asking
    if asking is None:
        return experiment
    model = asking.find()
    tasks = {f"rps/{name}": Task(RPS, bot, people.MODEL_ROUNDS) for name, bot in bots().items()}
    entries = [
        model_episodes.ModelGameEntry(task, bot, model.name, way, number, options.seed, called, asking.shuffle)
        for way, called, number in product(asking.ways, asking.names or (model_episodes.NAMES,), range(asking.episodes))
        for bot, task in tasks.items()
    ]
    run = described(experiment.run, f"{asking.model} shuffle {asking.shuffle}")
    return replace(experiment, run=run, model_part=ModelPart(model, _blocks, entries, model_episodes.estimate))


def _blocks(entry: model_episodes.ModelGameEntry, model: LanguageModel) -> list[Row]:
    columns = first_columns(people.EXPERIMENT, entry.key, entry.seed)
    return people.blocks_of_rounds(columns, model_episodes.rows(entry, model))


def _stories(options: Options) -> Experiment:
    """Public sets of stories for the reader, and for a language model, which is asked about a few questions of each."""
    experiment = STORIES["stories"](options)
    asking = options.asking
    if asking is None:
        return experiment
    model, entries = asking.find(), list[AskedStory]()
    answered = [entry for entry in experiment.parts[0].entries if isinstance(entry, stories.StoryEntry)]
    for question in stories.sample(answered, ASKED[options.scale], options.seed):
        item, (condition, _, number) = question.item, question.key
        asked = StoryChoice(item.question, tuple(question.options), question.options.index(item.gold), item.group)
        about = (condition, subject(model.name), number, stories.story_of(item), options.seed, item.story)
        entries.append(AskedStory(*about, (asked,), asking.max_tokens))
    run = described(experiment.run, asking.model, asking.length)
    return replace(experiment, run=run, model_part=ModelPart(model, _answers, entries, multiple_choice.estimate))


def _answers(entry: AskedStory, model: LanguageModel) -> list[Row]:
    columns = first_columns(stories.EXPERIMENT, entry.key, entry.seed)
    return [row | columns | {"story": entry.group} for row in multiple_choice.rows(entry, model)]


EXPERIMENTS: Mapping[str, Begin] = {
    **PROTOM,
    **FOOD_TRUCKS,
    **FUNCTIONAL,
    **MUMATOM,
    **STORIES,
    **HYPOTHETICAL_MINDS,
    "people": _people,
    "stories": _stories,
}

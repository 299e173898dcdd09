"""The experiment food-trucks: joint inference of beliefs and desires beside people's judgements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from otherminds.errors import InputError
from otherminds.evaluation.engines import in_order, opened
from otherminds.evaluation.experiment import Begin, Experiment, Options, described
from otherminds.evaluation.progress import shown
from otherminds.papers.food_trucks import report
from otherminds.papers.food_trucks.clone import HINT, read_clone
from otherminds.papers.food_trucks.experiment import EXPERIMENT, rows, summarise
from otherminds.papers.food_trucks.models import Collected, collected, inferred, tasks
from otherminds.reports.results import beside_published
from otherminds.worlds.food_trucks.agent import BETA


def _food_trucks(options: Options) -> Experiment:
    """The experiment food-trucks for these options. Raises InputError without a clone of the judgements."""
    if options.data is None:
        raise InputError("food-trucks needs people's judgements, which have no licence to ship", hint=HINT)
    clone = read_clone(options.data, BETA)
    plan = tasks(clone.scenarios)

    @cache
    def predictions() -> Collected:
        with opened(options.engine, options.jobs) as engine:
            results = in_order(inferred, plan, engine=engine)
            return collected(shown(results, len(plan), "Reading minds"), clone.scenarios, clone.model)

    return Experiment(
        run=described(EXPERIMENT),
        recorded_rows=lambda: list(rows(clone.scenarios, predictions())),
        summarise=lambda _: beside_published(summarise(clone.scenarios, clone.skipped, predictions().final)),
        page=report.report,
    )


EXPERIMENTS: Mapping[str, Begin] = {EXPERIMENT: _food_trucks}

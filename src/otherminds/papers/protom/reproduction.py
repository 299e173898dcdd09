"""The experiments of the ProToM paper: facilitation in two worlds, goal inference beside people, and the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from otherminds.errors import InputError, unknown
from otherminds.evaluation.engines import in_order, opened
from otherminds.evaluation.experiment import Begin, Experiment, ModelPart, Options, Part, described
from otherminds.evaluation.progress import shown
from otherminds.evaluation.store import Row
from otherminds.language.prices import CallEstimate
from otherminds.papers.protom import exact, experiment, human_judgements
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.experiment import REPLY_TOKENS, SUBJECTS, PlannedEpisode
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.language_facilitator import subject as model_subject
from otherminds.papers.protom.levels import kitchens, maps
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.papers.protom.people import CROWDS, KINDS, NEED_SPARE
from otherminds.papers.protom.report import FEW, report, report_on_few
from otherminds.papers.protom.study import report as study_report
from otherminds.papers.protom.study import scores as study_scores
from otherminds.papers.protom.study import simulated as study
from otherminds.papers.protom.study.export import read_export
from otherminds.reports.results import beside_published

ROBUST = ("none", "protom_paper", "protom", "oracle")
"""The facilitators that meet people who are not as expected."""
PAIRS = {"quick": 3, "normal": 9, "full": 36}
"""Pairs of simulated people; the paper's study had nine pairs of real ones (§4.5)."""


class Facilitated(NamedTuple):
    """An experiment with facilitators: its world, its levels, and those for more people than two.

    values: what is computed exactly for a seed, in a full run with people who are not as expected.
    """

    world: FacilitatedWorld
    design: Design[Any]
    more_people: Callable[[int], Design[Any]] | None = None
    values: Callable[[int], Sequence[exact.PlannedValue]] = lambda seed: ()

    def begin(self, options: Options) -> Experiment:
        """The bundled levels with every facilitator, and in a full run the further sets as well.

        If the options name a language model, it plays the bundled levels too. If they name levels, only these are
        played, under conditions of their own, and no published figures stand beside them.
        """
        levels, seed, prefix = self._levels(options.levels), options.seed, FEW if options.levels else ""
        plan = experiment.plan(levels, SUBJECTS, seed=seed, prefix=prefix)
        if options.scale == "full" and not prefix:
            for name, subjects in self.world.sets.items():
                plan += experiment.plan(self.design.level_set(name).levels(), subjects, seed=seed, prefix=f"{name}/")
        if options.robust:
            plan += self._other_people(seed, 2 if options.scale == "quick" else None)
        values = self.values(seed) if options.robust and options.scale == "full" else ()
        model_part = None
        if options.asking is not None:
            model, pictures = options.asking.find(), options.asking.pictures
            planned = experiment.plan(levels, [model_subject(model.name)], seed=seed, prefix=prefix)
            entries = [replace(entry, max_tokens=options.asking.max_tokens or REPLY_TOKENS) for entry in planned]
            estimate = partial(experiment.estimate, setup=self.world.setup, pictures=pictures)
            model_part = ModelPart(model, partial(self.world.rows, pictures=pictures), entries, estimate)
        name = described(f"{self.world.experiment} seed {seed}", *(("levels", *options.levels) if prefix else ()))
        write = partial(report_on_few if prefix else report, self.world.experiment)
        return Experiment(
            run=described(name, "robust" * options.robust, _model_words(options)),
            parts=(Part(self.world.rows, plan), Part(exact.rows, values)),
            model_part=model_part,
            summarise=self._summarise,
            page=lambda rows, summary: write([row for row in rows if _prefix(row) == prefix], summary, levels),
            what="Playing levels",
        )

    def _levels(self, names: Sequence[str]) -> Sequence[Any]:
        """The bundled levels with these names, all if there is none. Raises InputError for an unknown name."""
        levels = {level.name: level for level in self.design.bundled()}
        for name in names:
            if name not in levels:
                raise unknown("level", name, levels)
        return [levels[name] for name in names or levels]

    def _other_people(self, seed: int, first: int | None) -> list[PlannedEpisode]:
        """Levels of their own with people who are not as expected; `first`: only so many of each set."""
        few = self.design.level_set("robust").levels()
        sets = dict.fromkeys(KINDS, few)
        sets |= {kind: [level for level in few if self.world.spare_goals(level.world)] for kind in NEED_SPARE}
        if self.more_people:
            sets |= {kind: self.more_people(n).level_set(kind).levels() for kind, n in CROWDS.items()}
        return [
            entry
            for kind, levels in sets.items()
            for entry in experiment.plan(levels[:first], ROBUST, seed=seed, prefix=f"robust/{kind}/", people=kind)
        ]

    def _summarise(self, rows: Sequence[Row]) -> list[Row]:
        """The metrics of every set of levels by itself."""
        if any(_prefix(row) == FEW for row in rows):
            return [
                *experiment.assess(self.world.experiment, rows, FEW),
                *experiment.savings(self.world.experiment, rows, FEW),
            ]
        sets = {prefix: [row for row in rows if _prefix(row) == prefix] for prefix in dict.fromkeys(map(_prefix, rows))}
        return beside_published(
            row
            for prefix, own_rows in sets.items()
            for row in (
                exact.summarise(own_rows)
                if prefix == exact.PREFIX
                else experiment.assess(self.world.experiment, own_rows, prefix)
            )
        )


def _prefix(row: Row) -> str:
    """The set of levels that a row belongs to: empty for the bundled levels, else `heldout/` or `tuning/`."""
    return "".join(row["condition"].rpartition("/")[:2])


def _model_words(options: Options) -> str:
    asking = options.asking
    return described(asking.model, "with pictures" * asking.pictures, asking.length) if asking else ""


def _dkg_human(options: Options) -> Experiment:
    """Goal inference in single-agent episodes beside people's judgements."""
    if options.data is None:
        hint = "--data CLONE, a clone of ztangent/Plinf.jl, branch project-blocks"
        raise InputError("dkg-human needs the human judgements, which have no licence to ship", hint=hint)
    fixed = None if options.fixed is None else human_judgements.read_setting(options.fixed)
    stimuli = human_judgements.read_stimuli(options.data)

    @cache
    def fits() -> Any:
        with opened(options.engine, options.jobs) as engine:
            settings = list(dict.fromkeys([*human_judgements.SETTINGS, *([fixed] if fixed else [])]))
            inferred = in_order(partial(human_judgements.inferences, stimuli), settings, engine=engine)
            return human_judgements.fits(dict(shown(inferred, len(settings), "Reading minds")), stimuli, fixed)

    return Experiment(
        run=described("dkg-human", options.fixed),
        recorded_rows=lambda: list(human_judgements.rows(fits(), stimuli)),
        summarise=lambda rows: beside_published(human_judgements.summarise(fits(), stimuli)),
        page=human_judgements.report,
    )


def _study(options: Options) -> Experiment:
    """A study: the export of one with people, or else an example with simulated participants."""
    data, asking = options.data, options.asking
    scored: dict[str, Any] = {
        "summarise": lambda rows: beside_published(study_scores.summarise(rows)),
        "page": study_report.report,
    }
    if data is not None:
        if asking:
            raise InputError("a study that was exported has been played already", hint="leave --model out")
        exported = read_export(data)
        return Experiment(run="study exported", recorded_rows=lambda: exported, **scored)
    model = asking.find() if asking else None
    lm = model_subject(model.name) if model else ""
    # a language model takes the place of the random facilitator
    subjects = tuple(lm if model and subject == "random" else subject for subject in study.SUBJECTS)
    plan = study.plan(PAIRS[options.scale], options.seed, subjects)
    model_part = None
    if asking and model:
        pictures = asking.pictures

        def estimate(todo: Sequence[study.PlannedTrial]) -> CallEstimate:
            return experiment.estimate([entry.played for entry in todo], OVERCOOKED.setup, pictures=pictures)

        spoken = [entry for entry in plan if entry.played.subject == lm]
        model_part = ModelPart(model, partial(study.rows, pictures=pictures), spoken, estimate)
    return Experiment(
        run=described(f"study {options.scale} seed {options.seed}", _model_words(options)),
        parts=(Part(study.rows, [entry for entry in plan if entry.played.subject != lm]),),
        model_part=model_part,
        collect=lambda store: store.all([entry.key for entry in plan]),
        what="Playing trials",
        **scored,
    )


EXPERIMENTS: Mapping[str, Begin] = {
    "protom-dkg": Facilitated(DOORS_KEYS_GEMS, maps.DESIGN, maps.design_for, exact.plan).begin,
    "protom-overcooked": Facilitated(OVERCOOKED, kitchens.DESIGN).begin,
    "dkg-human": _dkg_human,
    "study": _study,
}

"""Reproducing the papers' experiments: play, summarise beside the published figures, report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from otherminds.errors import InputError
from otherminds.evaluation.run import run
from otherminds.experiments import (
    card_and_word_games,
    dkg_human,
    dkg_report,
    facilitated,
    facilitated_models,
    functional,
    functional_models,
    functional_report,
    functional_scores,
    human_report,
    hypothetical,
    hypothetical_plan,
    hypothetical_report,
    hypothetical_scores,
    invented,
    kitchen_design,
    kitchen_report,
    level_design,
    melting_pot,
    melting_pot_report,
    mumatom,
    mumatom_report,
    protom_dkg,
    protom_overcooked,
    study,
    study_report,
    study_scores,
)
from otherminds.experiments.asking import Asking, told_cost
from otherminds.experiments.encounters import solve_ahead
from otherminds.experiments.facilitated import SUBJECTS, Entry
from otherminds.experiments.facilitated_models import Advised
from otherminds.experiments.functional_models import Estimate
from otherminds.experiments.level_sets import Design
from otherminds.experiments.progress import shown
from otherminds.experiments.results import Rows, beside_published, write_results
from otherminds.experiments.study_export import is_export, read_export
from otherminds.language.ledger import Recorded
from otherminds.stories.mumatom import is_mumatom, read_mumatom
from otherminds.worlds.game_files import find_game

E = TypeVar("E")
Row = dict[str, Any]


class Facilitated(NamedTuple):
    """An experiment with facilitators: `sets` of further levels, each with the facilitators that play them.

    `advised` says who plays if a language model is the facilitator.
    """

    name: str
    rows: Callable[[Entry], list[Row]]
    advised: Advised
    design: Design[Any]
    sets: Mapping[str, Sequence[str]]
    report: Callable[[Sequence[Row], Sequence[Row], Sequence[Any]], str]


DOORS_KEYS_GEMS = Facilitated(
    protom_dkg.EXPERIMENT,
    protom_dkg.rows,
    protom_dkg.advised,
    level_design.DESIGN,
    protom_dkg.SETS,
    dkg_report.report,
)
OVERCOOKED = Facilitated(
    protom_overcooked.EXPERIMENT,
    protom_overcooked.rows,
    protom_overcooked.advised,
    kitchen_design.DESIGN,
    protom_overcooked.SETS,
    kitchen_report.report,
)


@dataclass(frozen=True)
class Options:
    """How to run an experiment: `scale` is quick, normal or full; `data` is where data that may not ship is.

    With `asking`, a language model takes part. `scenario` and `agents` leave others out, where there are some.
    """

    out: Path
    seed: int = 42
    scale: str = "normal"
    jobs: int = 1
    data: Path | None = None
    asking: Asking | None = None
    scenario: str | None = None
    agents: tuple[str, ...] = ()


def _facilitated(experiment: Facilitated, options: Options) -> list[Row]:
    levels = experiment.design.bundled()
    plan = facilitated.plan(levels, SUBJECTS, seed=options.seed)
    if options.scale == "full":
        for name, subjects in experiment.sets.items():
            chosen = experiment.design.level_set(name).levels()
            plan += facilitated.plan(chosen, subjects, seed=options.seed, prefix=f"{name}/")
    asking = options.asking
    spec = f"{asking.model}{' with pictures' * asking.pictures}" if asking else ""
    kept = Rows(options.out, " ".join(filter(None, (f"{experiment.name} seed {options.seed}", spec))))
    model = asking.open(options.out) if asking else None
    todo = kept.todo(plan)
    for episode in shown(run(experiment.rows, todo, jobs=options.jobs), len(todo), "Playing levels"):
        kept.add(episode)
    if asking and model:
        plan += _advised(experiment, levels, options.seed, asking, model, kept)
    rows = kept.all([entry.key for entry in plan])
    sets = {prefix: [row for row in rows if _prefix(row) == prefix] for prefix in dict.fromkeys(map(_prefix, rows))}
    table = beside_published(
        row for prefix, chosen in sets.items() for row in facilitated.assess(experiment.name, chosen, prefix)
    )
    write_results(options.out, table, experiment.report(sets[""], table, levels))
    return table


def _advised(
    experiment: Facilitated, levels: Sequence[Any], seed: int, asking: Asking, model: Recorded, kept: Rows
) -> list[Entry]:
    """Let a language model be the facilitator, and keep what came of that; the plan is returned."""
    plan = facilitated.plan(levels, [facilitated_models.subject(model.name)], seed=seed)
    todo, pictures = kept.todo(plan), asking.pictures
    ahead = facilitated_models.estimate(todo, experiment.advised, pictures=pictures)

    def rows(entry: Entry) -> list[Row]:
        return facilitated.rows(experiment.name, entry, experiment.advised(entry, model, pictures=pictures))

    _ask(asking, model, rows, todo, ahead, kept)
    return plan


def _ask(
    asking: Asking, model: Recorded, rows: Callable[[E], list[Row]], todo: Sequence[E], ahead: Estimate, kept: Rows
) -> None:
    """Play the episodes of a plan in which a language model takes part, and keep them."""
    with told_cost(model, ahead, asking.price):
        for episode in shown(asking.answers(rows, todo, model), len(todo), f"{model.name} is playing"):
            kept.add(episode)


def _prefix(row: Row) -> str:
    """The set of levels that a row is from: nothing for the twenty, else `heldout/` or `tuning/`."""
    return "".join(row["condition"].rpartition("/")[:2])


def _dkg_human(options: Options) -> list[Row]:
    if options.data is None:
        hint = "--data CLONE, a clone of ztangent/Plinf.jl, branch project-blocks"
        raise InputError("dkg-human needs the human judgements, which have no licence to ship", hint=hint)
    stimuli = dkg_human.read_stimuli(options.data)
    kept = Rows(options.out, "dkg-human")
    readings = run(dkg_human.Reading(stimuli), dkg_human.FULL, jobs=options.jobs)
    inferred = dict(shown(readings, len(dkg_human.FULL), "Reading minds"))
    fits = dkg_human.fits(inferred, stimuli)
    rows = list(dkg_human.rows(fits, stimuli))
    kept.replace(rows)
    table = beside_published(dkg_human.summarise(fits, stimuli))
    write_results(options.out, table, human_report.report(rows, table))
    return table


def _functional(options: Options) -> list[Row]:
    machines = str(options.data) if options.data and not options.data.is_dir() else ""
    asking = options.asking
    model = asking.open(options.out) if asking else None
    spoken = _spoken(options, asking, model) if asking and model else []
    repeated = functional.plan(options.scale, options.seed, machines)
    clues = [] if machines else card_and_word_games.plan(options.seed)
    solve_ahead(find_game("rps"), functional.HORIZON)
    spec = f"{asking.model} shuffle {asking.shuffle}" if asking else ""
    name = " ".join(filter(None, (f"functional {options.scale} seed {options.seed}", machines, spec)))
    kept = Rows(options.out, name)
    total = len(repeated) + len(clues)
    playing = chain(
        run(functional.rows, kept.todo(repeated), jobs=options.jobs, chunk=16),
        run(card_and_word_games.rows, kept.todo(clues), jobs=options.jobs, chunk=16),
    )
    for episode in shown(playing, total, "Playing games"):
        kept.add(episode)
    if asking and model:
        todo = kept.todo(spoken)
        ahead = functional_models.estimate(todo)
        _ask(asking, model, partial(functional_models.rows, model=model), todo, ahead, kept)
    games = kept.all([*(entry.key for entry in repeated), *(entry.key for entry in spoken)])
    cards = kept.all([entry.key for entry in clues])
    table = beside_published([*functional_scores.assess(games, machines), *card_and_word_games.summarise(cards)])
    write_results(options.out, table, functional_report.report(games, table))
    return table


def _spoken(options: Options, asking: Asking, model: Recorded) -> list[functional_models.Entry]:
    """What a language model is to play. Raises InputError for a way of asking that there is not."""
    return functional_models.plan(
        options.scale,
        model.name,
        asking.ways,
        options.seed,
        names=asking.names,
        shuffle=asking.shuffle,
        episodes=asking.episodes,
    )


def _mumatom(options: Options) -> list[Row]:
    """The benchmark, if its files are given, and invented stories."""
    sources = read_mumatom(options.data) if options.data else ()
    asking = options.asking
    if asking and not sources:
        raise InputError("a language model is asked about MuMA-ToM", hint="--data DIR, the folder of its files")
    model = asking.open(options.out) if asking else None
    subjects = mumatom.limp_subjects(model.name) if model else ()
    told = mumatom.plan(sources, options.seed, subjects)
    made = invented.plan(STORIES[options.scale], options.seed)
    spec = f" {mumatom.digest(sources)}" * bool(sources) + (f" {asking.model}" if asking else "")
    kept = Rows(options.out, f"mumatom {options.scale} seed {options.seed}{spec}")
    answering = chain(
        run(mumatom.rows, kept.todo([e for e in told if e.subject not in subjects]), jobs=options.jobs),
        run(invented.rows, kept.todo(made), jobs=options.jobs, chunk=1),
    )
    for episode in shown(answering, len(told) + len(made), "Answering questions"):
        kept.add(episode)
    if asking and model:
        asked = [entry for entry in told if entry.subject in subjects]
        todo = kept.todo(mumatom.first(asked, asking.episodes))
        _ask(asking, model, partial(mumatom.limp_rows, model=model), todo, mumatom.estimate(todo), kept)
    answers = kept.all([entry.key for entry in told])
    answers += mumatom.place_prior(answers, sources)
    stories = kept.all([entry.key for entry in made])
    table = beside_published([*mumatom.summarise(answers), *invented.summarise(stories)])
    write_results(options.out, table, mumatom_report.report(answers, table))
    return table


def _melting_pot(options: Options) -> list[Row]:
    """Scripted bodies in the matrix and cooking worlds: calibration, then the scenarios."""
    if options.asking:
        raise InputError("no language model plays melting-pot: its players are scripted", hint="leave --model out")
    plan = melting_pot.plan(*MELTING_POT[options.scale], options.seed)
    kept = Rows(options.out, f"{melting_pot.EXPERIMENT} {options.scale} seed {options.seed}")
    todo = kept.todo(plan)
    for episode in shown(run(melting_pot.rows, todo, jobs=options.jobs, chunk=1), len(todo), "Playing scenarios"):
        kept.add(episode)
    rows = kept.all([entry.key for entry in plan])
    table = beside_published(melting_pot.summarise(rows))
    write_results(options.out, table, melting_pot_report.report(table))
    return table


def _hypothetical(options: Options) -> list[Row]:
    """Hypothetical Minds and others in the scenarios."""
    asking, seed = options.asking, options.seed
    model = asking.open(options.out) if asking else None
    plan = _hypothetical_plan(options, bool(asking))
    chosen = " ".join(filter(None, (options.scenario, *options.agents, asking.model if asking else "")))
    kept = Rows(options.out, f"hypothetical {options.scale} seed {seed} {chosen}".strip())
    todo = kept.todo(plan)
    for episode in shown(run(hypothetical.rows, todo, jobs=options.jobs, chunk=1), len(todo), "Playing scenarios"):
        kept.add(episode)
    if asking and model:
        agents = [agent for agent in options.agents if agent not in hypothetical_plan.SUBJECTS]
        what = (options.scale, asking.episodes, seed, model.name, agents, options.scenario)
        spoken = hypothetical_plan.spoken_plan(*what)
        ask = kept.todo(spoken)
        _ask(asking, model, partial(hypothetical.rows, model=model), ask, hypothetical.estimate(ask), kept)
        plan += spoken
    if not plan:
        raise InputError(
            "none of these agents plays there", hint="in kitchens: programs, random; HM and others by --model"
        )
    rows = kept.all([entry.key for entry in plan])
    table = list(hypothetical_scores.summarise(rows, asking.price if asking else None))
    write_results(options.out, table, hypothetical_report.report(rows, table))
    return table


def _study(options: Options) -> list[Row]:
    """A study: the export of one with people, or else an example with simulated ones."""
    rows = _exported(options) if options.data else _simulated(options)
    table = beside_published(study_scores.summarise(rows))
    write_results(options.out, table, study_report.report(rows, table))
    return table


def _exported(options: Options) -> list[Row]:
    """The rows of an export, copied to where the results go."""
    assert options.data is not None
    if options.asking:
        raise InputError("a study that was exported has been played already", hint="leave --model out")
    rows = read_export(options.data)
    Rows(options.out, "study exported").replace(rows)
    return rows


def _simulated(options: Options) -> list[Row]:
    """The rows of a study with simulated people; a language model, if there is one, takes the place of `random`."""
    asking = options.asking
    model = asking.open(options.out) if asking else None
    lm = facilitated_models.subject(model.name) if model else ""
    subjects = tuple(lm if model and subject == "random" else subject for subject in study.SUBJECTS)
    plan = study.plan(PAIRS[options.scale], options.seed, subjects)
    spec = f" {asking.model}{' with pictures' * asking.pictures}" if asking else ""
    kept = Rows(options.out, f"study {options.scale} seed {options.seed}{spec}")
    todo = kept.todo([entry for entry in plan if entry.subject != lm])
    for trial in shown(run(study.rows, todo, jobs=options.jobs), len(todo), "Playing trials"):
        kept.add(trial)
    if asking and model:
        ask, pictures = kept.todo([entry for entry in plan if entry.subject == lm]), asking.pictures
        played = [entry.played for entry in ask]
        ahead = facilitated_models.estimate(played, protom_overcooked.advised, pictures=pictures)
        _ask(asking, model, partial(study.advised_rows, model=model, pictures=pictures), ask, ahead, kept)
    return kept.all([entry.key for entry in plan])


def _hypothetical_plan(options: Options, spoken: bool) -> list[hypothetical_plan.Entry]:
    """What is played without a language model; agents that need one are left to it if there is one."""
    episodes, agents = HYPOTHETICAL[options.scale]
    named = tuple(agent for agent in options.agents if not spoken or agent in hypothetical_plan.SUBJECTS)
    chosen = named if options.agents else agents
    return hypothetical_plan.plan(episodes, options.seed, chosen, options.scenario)


HYPOTHETICAL = {
    "quick": (1, ("programs", "random")),
    "normal": (5, hypothetical_plan.SUBJECTS),
    "full": (20, hypothetical_plan.SUBJECTS),
}
"""Episodes of every scenario, and who plays them."""
MELTING_POT = {"quick": (2, 1), "normal": (10, 5), "full": (20, 20)}
"""Episodes of every calibration case, and of every scenario."""
PAIRS = {"quick": 3, "normal": 9, "full": 36}
"""Pairs of simulated people; the paper's study had nine of real ones."""
STORIES = {"quick": 72, "normal": 720, "full": 3600}

EXPERIMENTS: Mapping[str, Callable[[Options], list[Row]]] = {
    "protom-dkg": partial(_facilitated, DOORS_KEYS_GEMS),
    "protom-overcooked": partial(_facilitated, OVERCOOKED),
    "functional": _functional,
    "dkg-human": _dkg_human,
    "mumatom": _mumatom,
    "melting-pot": _melting_pot,
    "hypothetical": _hypothetical,
    "study": _study,
}


def reproduce(name: str, options: Options) -> list[Row]:
    """Run one experiment by name and write its results into `options.out`; the summary is returned.

    Raises InputError for an unknown name, or if the experiment lacks what it needs.
    """
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment `{name}`", hint=f"one of {', '.join(EXPERIMENTS)}, all")
    return EXPERIMENTS[name](options)


def names(name: str, data: Path | None, model: bool = False) -> Sequence[str]:
    """The experiments that a name stands for; `all` leaves out those that need other data than are given."""
    if name != "all":
        return (name,)
    if data is not None and is_export(data):
        return ("study",)
    told = data is not None and is_mumatom(data)
    without = {"dkg-human"} if data is None or told else {"mumatom"}
    without |= {"study"} if data is not None else set()
    without |= {"melting-pot", "hypothetical"} if model else set()
    return tuple(e for e in EXPERIMENTS if e not in without and (e != "mumatom" or told or not model))

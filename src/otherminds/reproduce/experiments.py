"""Every experiment: what is played, by whom, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.engines import opened
from otherminds.evaluation.playing import Options, ask, play
from otherminds.evaluation.progress import shown
from otherminds.evaluation.run import in_order
from otherminds.evaluation.store import Row, Store
from otherminds.language.estimates import Estimate
from otherminds.language.ledger import Recorded
from otherminds.language.model import LanguageModel
from otherminds.papers.functional import card_and_word_games
from otherminds.papers.functional import experiment as functional
from otherminds.papers.functional import models as functional_models
from otherminds.papers.functional import report as functional_report
from otherminds.papers.functional import scores as functional_scores
from otherminds.papers.functional.encounters import solve_ahead
from otherminds.papers.hypothetical_minds import experiment as hypothetical
from otherminds.papers.hypothetical_minds import melting_pot, melting_pot_report
from otherminds.papers.hypothetical_minds import plan as hypothetical_plan
from otherminds.papers.hypothetical_minds import report as hypothetical_report
from otherminds.papers.hypothetical_minds import scores as hypothetical_scores
from otherminds.papers.mumatom import experiment as mumatom
from otherminds.papers.mumatom import invented
from otherminds.papers.mumatom import report as mumatom_report
from otherminds.papers.protom import doors_keys_gems as protom_dkg
from otherminds.papers.protom import doors_keys_gems_report as dkg_report
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom import models as facilitated_models
from otherminds.papers.protom import overcooked as protom_overcooked
from otherminds.papers.protom import overcooked_report as kitchen_report
from otherminds.papers.protom import people as dkg_human
from otherminds.papers.protom import people_report as human_report
from otherminds.papers.protom.experiment import SUBJECTS, Entry
from otherminds.papers.protom.levels import kitchen_design, level_design
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.papers.protom.models import Advised
from otherminds.papers.protom.study import report as study_report
from otherminds.papers.protom.study import scores as study_scores
from otherminds.papers.protom.study import simulated as study
from otherminds.papers.protom.study.export import read_export
from otherminds.reports.page import Page
from otherminds.reports.results import Results, beside_published
from otherminds.stories.mumatom_files import read_mumatom
from otherminds.worlds.repeated_games.payoff_files import find_game

Begin = Callable[[str], Store]
"""Opens the run of this name."""


class Facilitated(NamedTuple):
    """An experiment with facilitators: `sets` of further levels, each with the facilitators that play them.

    `advised` says who plays if a language model is the facilitator.
    """

    name: str
    rows: Callable[[Entry], list[Row]]
    advised: Advised
    design: Design[Any]
    sets: Mapping[str, Sequence[str]]
    report: Callable[[Sequence[Row], Sequence[Row], Sequence[Any]], Page]


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


def _facilitated(experiment: Facilitated, options: Options, begin: Begin) -> Results:
    levels = experiment.design.bundled()
    plan = facilitated.plan(levels, SUBJECTS, seed=options.seed)
    if options.scale == "full":
        for name, subjects in experiment.sets.items():
            chosen = experiment.design.level_set(name).levels()
            plan += facilitated.plan(chosen, subjects, seed=options.seed, prefix=f"{name}/")
    asking = options.asking
    spec = f"{asking.model}{' with pictures' * asking.pictures}" if asking else ""
    found = asking.find() if asking else None
    kept = begin(" ".join(filter(None, (f"{experiment.name} seed {options.seed}", spec))))
    model = asking.recorded(found, kept.database) if asking and found else None
    play(kept, options, "Playing levels", (experiment.rows, plan))
    if model:
        plan += _advised(experiment, levels, options, model, kept)
    rows = kept.all([entry.key for entry in plan])
    sets = {prefix: [row for row in rows if _prefix(row) == prefix] for prefix in dict.fromkeys(map(_prefix, rows))}
    table = beside_published(
        row for prefix, chosen in sets.items() for row in facilitated.assess(experiment.name, chosen, prefix)
    )
    return Results(rows, table, experiment.report(sets[""], table, levels))


def _advised(
    experiment: Facilitated, levels: Sequence[Any], options: Options, model: Recorded, kept: Store
) -> list[Entry]:
    """Let a language model be the facilitator, and keep what came of that; the plan is returned."""
    plan = facilitated.plan(levels, [facilitated_models.subject(model.name)], seed=options.seed)
    pictures = options.asking is not None and options.asking.pictures

    def rows(entry: Entry) -> list[Row]:
        return facilitated.rows(experiment.name, entry, experiment.advised(entry, model, pictures=pictures))

    def estimate(todo: Sequence[Entry]) -> Estimate:
        return facilitated_models.estimate(todo, experiment.advised, pictures=pictures)

    ask(kept, options, model, rows, plan, estimate)
    return plan


def _prefix(row: Row) -> str:
    """The set of levels that a row is from: nothing for the twenty, else `heldout/` or `tuning/`."""
    return "".join(row["condition"].rpartition("/")[:2])


def _dkg_human(options: Options, begin: Begin) -> Results:
    if options.data is None:
        hint = "--data CLONE, a clone of ztangent/Plinf.jl, branch project-blocks"
        raise InputError("dkg-human needs the human judgements, which have no licence to ship", hint=hint)
    stimuli = dkg_human.read_stimuli(options.data)
    kept = begin("dkg-human")
    with opened(options.engine, options.jobs) as engine:
        readings = in_order(dkg_human.Reading(stimuli), dkg_human.FULL, engine=engine)
        inferred = dict(shown(readings, len(dkg_human.FULL), "Reading minds"))
    fits = dkg_human.fits(inferred, stimuli)
    rows = list(dkg_human.rows(fits, stimuli))
    kept.replace(rows)
    table = beside_published(dkg_human.summarise(fits, stimuli))
    return Results(rows, table, human_report.report(rows, table))


def _functional(options: Options, begin: Begin) -> Results:
    machines = str(options.data) if options.data and not options.data.is_dir() else ""
    asking = options.asking
    found = asking.find() if asking else None
    spoken = _spoken(options, asking, found) if asking and found else []
    repeated = functional.plan(options.scale, options.seed, machines)
    clues = [] if machines else card_and_word_games.plan(options.seed)
    solve_ahead(find_game("rps"), functional.HORIZON)
    spec = f"{asking.model} shuffle {asking.shuffle}" if asking else ""
    name = " ".join(filter(None, (f"functional {options.scale} seed {options.seed}", machines, spec)))
    kept = begin(name)
    model = asking.recorded(found, kept.database) if asking and found else None
    play(kept, options, "Playing games", (functional.rows, repeated), (card_and_word_games.rows, clues))
    if model:
        ask(kept, options, model, partial(functional_models.rows, model=model), spoken, functional_models.estimate)
    games = kept.all([*(entry.key for entry in repeated), *(entry.key for entry in spoken)])
    cards = kept.all([entry.key for entry in clues])
    table = beside_published([*functional_scores.assess(games, machines), *card_and_word_games.summarise(cards)])
    return Results([*games, *cards], table, functional_report.report(games, table))


def _spoken(options: Options, asking: Asking, model: LanguageModel) -> list[functional_models.Entry]:
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


def _mumatom(options: Options, begin: Begin) -> Results:
    """The benchmark, if its files are given, and invented stories."""
    sources = read_mumatom(options.data) if options.data else ()
    asking = options.asking
    if asking and not sources:
        raise InputError("a language model is asked about MuMA-ToM", hint="--data DIR, the folder of its files")
    found = asking.find() if asking else None
    subjects = mumatom.limp_subjects(found.name) if found else ()
    told = mumatom.plan(sources, options.seed, subjects)
    made = invented.plan(STORIES[options.scale], options.seed)
    spec = f" {mumatom.digest(sources)}" * bool(sources) + (f" {asking.model}" if asking else "")
    kept = begin(f"mumatom {options.scale} seed {options.seed}{spec}")
    model = asking.recorded(found, kept.database) if asking and found else None
    unspoken = [entry for entry in told if entry.subject not in subjects]
    play(kept, options, "Answering questions", (mumatom.rows, unspoken), (invented.rows, made))
    if asking and model:
        asked = mumatom.first([entry for entry in told if entry.subject in subjects], asking.episodes)
        ask(kept, options, model, partial(mumatom.limp_rows, model=model), asked, mumatom.estimate)
    answers = kept.all([entry.key for entry in told])
    answers += mumatom.place_prior(answers, sources)
    stories = kept.all([entry.key for entry in made])
    table = beside_published([*mumatom.summarise(answers), *invented.summarise(stories)])
    return Results([*answers, *stories], table, mumatom_report.report(answers, table))


def _melting_pot(options: Options, begin: Begin) -> Results:
    """Scripted bodies in the matrix and cooking worlds: calibration, then the scenarios."""
    if options.asking:
        raise InputError("no language model plays melting-pot: its players are scripted", hint="leave --model out")
    plan = melting_pot.plan(*MELTING_POT[options.scale], options.seed)
    kept = begin(f"{melting_pot.EXPERIMENT} {options.scale} seed {options.seed}")
    play(kept, options, "Playing scenarios", (melting_pot.rows, plan))
    rows = kept.all([entry.key for entry in plan])
    table = beside_published(melting_pot.summarise(rows))
    return Results(rows, table, melting_pot_report.report(table))


def _hypothetical(options: Options, begin: Begin) -> Results:
    """Hypothetical Minds and others in the scenarios."""
    asking, seed = options.asking, options.seed
    found = asking.find() if asking else None
    plan = _hypothetical_plan(options, bool(asking))
    spoken = _hypothetical_spoken(options, asking, found) if asking and found else []
    if not plan and not spoken:
        raise InputError(
            "none of these agents plays there", hint="in kitchens: programs, random; HM and others by --model"
        )
    chosen = " ".join(filter(None, (options.scenario, *options.agents, asking.model if asking else "")))
    kept = begin(f"hypothetical {options.scale} seed {seed} {chosen}".strip())
    model = asking.recorded(found, kept.database) if asking and found else None
    play(kept, options, "Playing scenarios", (hypothetical.rows, plan))
    if model:
        ask(kept, options, model, partial(hypothetical.rows, model=model), spoken, hypothetical.estimate)
        plan += spoken
    rows = kept.all([entry.key for entry in plan])
    table = list(hypothetical_scores.summarise(rows, asking.price if asking else None))
    return Results(rows, table, hypothetical_report.report(rows, table))


def _hypothetical_spoken(options: Options, asking: Asking, model: LanguageModel) -> list[hypothetical_plan.Entry]:
    """What agents that need a language model play."""
    agents = [agent for agent in options.agents if agent not in hypothetical_plan.SUBJECTS]
    what = (options.scale, asking.episodes, options.seed, model.name, agents, options.scenario)
    return hypothetical_plan.spoken_plan(*what)


def _study(options: Options, begin: Begin) -> Results:
    """A study: the export of one with people, or else an example with simulated ones."""
    rows = _exported(options, begin) if options.data else _simulated(options, begin)
    table = beside_published(study_scores.summarise(rows))
    return Results(rows, table, study_report.report(rows, table))


def _exported(options: Options, begin: Begin) -> list[Row]:
    """The rows of an export, copied to where the results go."""
    assert options.data is not None
    if options.asking:
        raise InputError("a study that was exported has been played already", hint="leave --model out")
    rows = read_export(options.data)
    begin("study exported").replace(rows)
    return rows


def _simulated(options: Options, begin: Begin) -> list[Row]:
    """The rows of a study with simulated people; a language model, if there is one, takes the place of `random`."""
    asking = options.asking
    found = asking.find() if asking else None
    lm = facilitated_models.subject(found.name) if found else ""
    subjects = tuple(lm if found and subject == "random" else subject for subject in study.SUBJECTS)
    plan = study.plan(PAIRS[options.scale], options.seed, subjects)
    spec = f" {asking.model}{' with pictures' * asking.pictures}" if asking else ""
    kept = begin(f"study {options.scale} seed {options.seed}{spec}")
    model = asking.recorded(found, kept.database) if asking and found else None
    play(kept, options, "Playing trials", (study.rows, [entry for entry in plan if entry.subject != lm]))
    if model:
        _advised_trials([entry for entry in plan if entry.subject == lm], options, model, kept)
    return kept.all([entry.key for entry in plan])


def _advised_trials(plan: Sequence[study.Entry], options: Options, model: Recorded, kept: Store) -> None:
    """Let a language model be the facilitator of simulated people, and keep what came of that."""
    pictures = options.asking is not None and options.asking.pictures

    def estimate(todo: Sequence[study.Entry]) -> Estimate:
        played = [entry.played for entry in todo]
        return facilitated_models.estimate(played, protom_overcooked.advised, pictures=pictures)

    ask(kept, options, model, partial(study.advised_rows, model=model, pictures=pictures), plan, estimate)


def _hypothetical_plan(options: Options, spoken: bool) -> list[hypothetical_plan.Entry]:
    """What is played without a language model; agents that need one are left to it if there is one."""
    episodes, agents = HYPOTHETICAL[options.scale]
    named = tuple(agent for agent in options.agents if not spoken or agent in hypothetical_plan.SUBJECTS)
    chosen = named if options.agents else agents
    return hypothetical_plan.plan(episodes, options.seed, chosen, options.scenario)


HYPOTHETICAL = {
    "quick": (1, ("programs", "informed", "last_play", "uniform", "random", "ppo")),
    "normal": (5, hypothetical_plan.SUBJECTS),
    "full": (20, hypothetical_plan.SUBJECTS),
}
"""Episodes of every scenario, and who plays them."""
MELTING_POT = {"quick": (2, 1), "normal": (10, 5), "full": (20, 20)}
"""Episodes of every calibration case, and of every scenario."""
PAIRS = {"quick": 3, "normal": 9, "full": 36}
"""Pairs of simulated people; the paper's study had nine of real ones."""
STORIES = {"quick": 72, "normal": 720, "full": 3600}


EXPERIMENTS: Mapping[str, Callable[[Options, Begin], Results]] = {
    "protom-dkg": partial(_facilitated, DOORS_KEYS_GEMS),
    "protom-overcooked": partial(_facilitated, OVERCOOKED),
    "functional": _functional,
    "dkg-human": _dkg_human,
    "mumatom": _mumatom,
    "melting-pot": _melting_pot,
    "hypothetical": _hypothetical,
    "study": _study,
}

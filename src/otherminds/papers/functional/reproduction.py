"""The experiments of the functional Theory of Mind paper: repeated games and clue games, with language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otherminds.evaluation.experiment import Begin, Experiment, ModelPart, Options, Part, described
from otherminds.evaluation.store import Row
from otherminds.papers.functional import card_and_word_games, experiment, model_episodes, report
from otherminds.papers.functional.agents import solve_ahead
from otherminds.reports.results import beside_published
from otherminds.worlds.repeated_games.payoff_files import find_game

CLUE_GAMES = "clue-games"


def _functional(options: Options) -> Experiment:
    """Repeated games with every player; card and word games unless other machines are given in a file."""
    machines = str(options.data) if options.data and not options.data.is_dir() else ""
    asking = options.asking
    model_part = None
    if asking:
        model = asking.find()
        spoken = model_episodes.plan(options.scale, model.name, asking, options.seed)
        model_part = ModelPart(model, model_episodes.rows, spoken, model_episodes.estimate)
    repeated = experiment.plan(options.scale, options.seed, machines)
    clues = [] if machines else card_and_word_games.plan(options.seed)
    solve_ahead(find_game("rps"), experiment.HORIZON)

    conditions = {entry.condition for entry in clues}

    def games_of(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row["condition"] not in conditions]

    def summarise(rows: Sequence[Row]) -> list[Row]:
        cards = card_and_word_games.summarise([row for row in rows if row["condition"] in conditions])
        return beside_published([*experiment.summarise(games_of(rows), machines), *cards])

    return Experiment(
        run=described(
            f"functional {options.scale} seed {options.seed}",
            machines,
            f"{asking.model} shuffle {asking.shuffle}" if asking else "",
        ),
        parts=(Part(experiment.rows, repeated), Part(card_and_word_games.rows, clues)),
        model_part=model_part,
        summarise=summarise,
        page=lambda rows, summary: report.report(games_of(rows), summary),
        what="Playing games",
    )


def _clue_games(options: Options) -> Experiment:
    """Clue games: all of them with every partner, or by "quick" the short suite that suits language models."""
    asking, model_part = options.asking, None
    entries = card_and_word_games.short_plan(options.seed)
    if options.scale != "quick":
        entries = card_and_word_games.plan(options.seed, conditions=card_and_word_games.games())
    if asking:
        model = asking.find()
        spoken = card_and_word_games.spoken(entries, model.name, asking)
        model_part = ModelPart(model, card_and_word_games.rows, spoken, card_and_word_games.estimate)
    return Experiment(
        run=described(
            f"{CLUE_GAMES} {options.scale} seed {options.seed}",
            f"{asking.model} shuffle {asking.shuffle}" if asking else "",
        ),
        parts=(Part(card_and_word_games.rows, entries),),
        model_part=model_part,
        summarise=lambda rows: card_and_word_games.summarise(rows, CLUE_GAMES),
        page=report.clue_report,
        what="Playing clue games",
    )


EXPERIMENTS: Mapping[str, Begin] = {"functional": _functional, CLUE_GAMES: _clue_games}

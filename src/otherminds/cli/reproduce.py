"""`otherminds reproduce`, `check` and `play`: run an experiment, check an agent, play games."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from otherminds.cli.lists import open_in_browser
from otherminds.cli.options import (
    TARGET_MISSED,
    TOO_FEW,
    EngineOption,
    JobsOption,
    JsonOption,
    MachinesOption,
    ModelOptions,
    OpenOption,
    SeedOption,
    model_option,
    with_options,
)
from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.evaluation.asking import Asking
    from otherminds.evaluation.engines import Engine
    from otherminds.evaluation.experiment import Options
    from otherminds.papers.functional.check import CheckOptions, CheckResult
    from otherminds.reports.results import Results

CHECK = "check"
ROBUST = ("protom-dkg", "protom-overcooked")
FIXED = ("dkg-human",)
GAMES = ("rps", "ibs", "ipd")
MOST_SHOWN = 9  # actions up to which `play` shows the payoffs; wider tables would not fit a screen
QUICK_ROUNDS = 10  # of an episode of the check in a quick run of everything; chosen for running time


@dataclass(frozen=True)
class RunOptions:
    """What is played of an experiment, on which processes, and where its results go."""

    quick: Annotated[bool, Option("--quick", help="The smallest run that says something.")] = False
    full: Annotated[bool, Option("--full", help="Everything, held-out levels too.")] = False
    seed: SeedOption = 42
    out: Annotated[Path | None, Option(metavar="FOLDER", help="Default: runs/NAME-TIME.")] = None
    jobs: JobsOption = 1
    engine: EngineOption = None
    shard: Annotated[str | None, Option(metavar="I/N", help="Every Nth episode only, from the Ith on; see merge.")] = (
        None
    )
    data: Annotated[
        Path | None, Option(metavar="PATH", help="For dkg-human, food-trucks, mumatom, stories, study, …")
    ] = None
    scenario: Annotated[str | None, Option(metavar="ID", help="hypothetical: only this one, as rws_repeated_4.")] = None
    agent: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="hypothetical: programs, HM, …; mumatom: lm, limp."),
    ] = None
    robust: Annotated[bool, Option("--robust", help="protom-dkg, -overcooked: odd people, too.")] = False
    fixed: Annotated[
        str | None, Option(metavar="SETTINGS", help="dkg-human: score beta=2,lapse=0.05,leak=0.1 without a fit.")
    ] = None

    def options(self, name: str, asking: Asking | None) -> Options:
        """The options of the experiment of this name. Raises InputError for options that it does not have."""
        from otherminds.evaluation.experiment import Options

        if self.quick and self.full:
            raise InputError("--quick and --full exclude each other")
        for option, argument, experiments in (("--robust", self.robust, ROBUST), ("--fixed", self.fixed, FIXED)):
            if argument and name not in experiments:
                raise InputError(f"{option} is not for {name}", hint=f"for {' and '.join(experiments)}")
        return Options(
            out=self.out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}",
            seed=self.seed,
            scale="quick" if self.quick else "full" if self.full else "normal",
            jobs=self.jobs,
            data=self.data,
            asking=asking,
            scenario=self.scenario,
            agents=tuple(self.agent or ()),
            robust=self.robust,
            fixed=self.fixed,
            engine=self.engine,
            shard=parse_shard(self.shard) if self.shard is not None else (1, 1),
        )


@dataclass(frozen=True)
class SpeakerOptions:
    """The language model that takes part in an experiment."""

    model: Annotated[
        str | None, model_option(metavar="NAME", help="gpt-4o, ollama:NAME, URL, embedded, module:object, …")
    ] = None
    episodes: Annotated[int, model_option(min=1, max=1000, metavar="N", help="Episodes with each partner.")] = 1
    pictures: Annotated[bool, model_option("--pictures", help="As a facilitator, it sees pictures too.")] = False

    def asking(self, how: ModelOptions) -> Asking | None:
        """How the model is asked, if there is one."""
        from otherminds.language.availability import check_model

        if not self.model:
            return None
        model = check_model(self.model, asks=how.replay is None)
        return how.asking([model], model=model, episodes=self.episodes, pictures=self.pictures)


@with_options
def reproduce(
    name: Annotated[
        str,
        Argument(metavar="NAME", help="As `otherminds experiments` lists them, or all."),
    ] = "all",
    *,
    run: RunOptions,
    check: Annotated[bool, Option("--check", help="Exit code 1 if a stated target is missed.")] = False,
    open_page: OpenOption = False,
    as_json: JsonOption = False,
    model_options: ModelOptions,
    speaker: SpeakerOptions,
) -> None:
    """Reproduce a paper's experiment beside its published figures.

    Example: otherminds reproduce protom-dkg --quick
    """
    asking = speaker.asking(model_options)  # refused before anything slow is imported

    from otherminds.reports.results import Results, verdicts
    from otherminds.reproduce.run import names

    options = run.options(name, asking)
    console, results_by_name = Console(quiet=as_json), dict[str, Results]()
    experiments = names(name, run.data, bool(speaker.model))
    if len(experiments) > 1:
        results_by_name = _reproduced_all(experiments, options, console, check=check)
    elif results := reproduced(experiments[0], options, console, check=check):
        results_by_name = {experiments[0]: results}
    if as_json:
        summaries = {experiment: results.summary for experiment, results in results_by_name.items()}
        typer.echo(json.dumps(summaries, ensure_ascii=False))
    if open_page and results_by_name:
        open_in_browser(options.out / "report.html")
    if check and not all(met for results in results_by_name.values() for *_, met in verdicts(results.summary)):
        raise typer.Exit(TARGET_MISSED)


def parse_shard(text: str) -> tuple[int, int]:
    """A shard such as 2/3. Raises InputError for any other text."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", text)
    if not match or int(match[1]) > int(match[2]):
        raise InputError(f"`{text[:60]}` is no shard", hint="such as 2/3: the second of three")
    return int(match[1]), int(match[2])


def reproduced(name: str, options: Options, console: Console, *, check: bool = False) -> Results | None:
    """Run an experiment and print its results; None if it is a single shard, whose results come with the merge."""
    from otherminds.evaluation.runs import digest
    from otherminds.evaluation.store import UnfinishedError
    from otherminds.reports.results import verdicts
    from otherminds.reports.terminal import tables as terminal
    from otherminds.reproduce.run import reproduce

    try:
        results = reproduce(name, options)
    except UnfinishedError as error:
        number, of = options.shard
        if of == 1 or error.failed:
            raise
        notice = f"Shard {number} of {of} is played: {options.out}; `otherminds merge OUT SHARD...` puts them together"
        console.print(notice, markup=False, soft_wrap=True)
        return None
    console.print(terminal.results(results.summary))
    for target, row, met in verdicts(results.summary):
        if not met or check:
            console.print(f"{'met   ' if met else 'MISSED'}  {target}: {row['value']:.3f}", markup=False)
    console.print(f"Digest: {digest(options.out)}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report: {options.out / 'report.html'}", markup=False, soft_wrap=True)
    return results


def _reproduced_all(names: Sequence[str], options: Options, console: Console, *, check: bool) -> dict[str, Results]:
    """Run experiments one after another in the same processes, and write one report about all; a shard has none."""
    from otherminds.evaluation.engines import opened

    results_by_name: dict[str, Results] = {}
    with opened(options.engine, options.jobs) as workers:
        alone = options.asking is not None or options.shard[1] > 1
        known_players = dict if alone else _check_known_players(workers, options, console)
        for name in names:
            experiment_options = replace(options, out=options.out / name, engine=workers)
            if results := reproduced(name, experiment_options, console, check=check):
                results_by_name[name] = results
        if len(results_by_name) == len(names):
            combine(options.out, results_by_name | known_players(), console)
    return results_by_name


def _check_known_players(workers: Engine, options: Options, console: Console) -> Callable[[], dict[str, Results]]:
    """Check the smallest language model beside known players, if it is on this machine.

    Returns a function that waits for the results. One of several processes begins with it at once, while the others
    play: a model that is asked again and again keeps one processor busy, and no more.
    """
    from otherminds.language.model_names import DEFAULT
    from otherminds.language.weights import intact, pinned_model
    from otherminds.papers.functional.check import CheckOptions
    from otherminds.papers.functional.verdicts import ROUNDS

    if not (find_spec("xllamacpp") and intact(pinned_model(DEFAULT))):
        return dict
    asking = ModelOptions(at_once=1).asking((), model="")
    rounds = QUICK_ROUNDS if options.scale == "quick" else ROUNDS
    checked = CheckOptions(options.out / CHECK, asking, rounds=rounds, seed=options.seed)
    if not isinstance(workers.executor, ProcessPoolExecutor):
        return lambda: _tour(checked)
    console.print("A language model plays beside known players meanwhile.", style="dim")
    return workers.executor.submit(_quiet_tour, checked).result


def _tour(options: CheckOptions) -> dict[str, Results]:
    """The results of a check of known players, by its name."""
    from otherminds.papers.functional.check import check_as_asked

    results = check_as_asked(options).results
    return {CHECK: results} if results else {}


def _quiet_tour(options: CheckOptions) -> dict[str, Results]:
    """The same in another process, which does not show its progress between that of the experiments."""
    with redirect_stderr(StringIO()):
        return _tour(options)


def combine(folder: Path, results_by_name: Mapping[str, Results], console: Console) -> None:
    """Write one report about all experiments, and print its path."""
    from otherminds.reproduce.combined_report import write_combined_report

    path = write_combined_report(folder, results_by_name)
    console.print(f"\nEverything in one report: {path}", style="bold", markup=False, soft_wrap=True)


@dataclass(frozen=True)
class CheckPlanOptions:
    """Who is checked, in which games, with which partners, and what passes."""

    game: Annotated[
        list[str] | None, Option(metavar="GAME", help="rps, ibs, ipd, ordinal-001 or a file; repeatable.")
    ] = None
    partner: Annotated[
        list[str] | None, Option(metavar="NAME", help="As tft; default: each single action, and tft.")
    ] = None
    rounds: Annotated[int, Option(min=1, max=1000, metavar="N", help="Rounds of an episode.")] = 30
    passes: Annotated[
        int, Option(min=1, max=100, metavar="N", help="Passes of all partners at most; a single one cannot decide.")
    ] = 5
    seed: SeedOption = 42
    max_regret: Annotated[float, Option(min=0.0, metavar="X", help="What may be lost; random play loses 1.")] = 0.5
    agent: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="gpt-4o, ollama:NAME, URL, embedded, module:object, scripted:NAME, or a player as rmax; repeatable.",
        ),
    ] = None
    out: Annotated[Path | None, Option(metavar="FOLDER", help="Default: runs/check-TIME.")] = None
    machines: MachinesOption = None

    def options(self, how: ModelOptions) -> CheckOptions:
        """The options of the check. Raises InputError for agents, prices or a limit that cannot be meant."""
        from otherminds.papers.functional.specifications import check_specification
        from otherminds.worlds.repeated_games.payoff_files import find_game

        games = tuple(self.game or GAMES)
        known_games, asks = [find_game(name) for name in games], how.replay is None
        agents = tuple(check_specification(spec, known_games, asks=asks) for spec in self.agent or ())
        asking = how.asking(agents, model="", shuffle="both")  # a bias to a name shows only if names are shuffled

        from otherminds.papers.functional.check import CheckOptions

        if not math.isfinite(self.max_regret):
            raise InputError(f"--max-regret is a share, and not {self.max_regret}")
        return CheckOptions(
            self.out or Path("runs") / f"check-{time.strftime('%Y%m%d-%H%M%S')}",
            asking,
            agents=agents,
            games=games,
            partners=tuple(self.partner or ()),
            rounds=self.rounds,
            passes=self.passes,
            seed=self.seed,
            max_regret=self.max_regret,
            machines=self.machines,
        )


@with_options
def check(
    *,
    plan: CheckPlanOptions,
    model_options: ModelOptions,
    junit: Annotated[Path | None, Option(metavar="FILE", help="Write the verdicts for JUnit, too.")] = None,
    open_page: OpenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Does an agent act on what it knows about its partner?

    Exit code 0: it does. 1: it does not. 4: open, as the interval of its loss spans the limit after all passes, or not
    measured, as too few replies could be read. Without an agent: known players and the smallest language model.

    Example: otherminds check --agent openai:my-model@http://localhost:8000/v1
    """
    options = plan.options(model_options)
    from otherminds.papers.functional.check import CheckResult as Nothing
    from otherminds.papers.functional.check import check_as_asked, write_junit
    from otherminds.papers.people.experiment import standing

    options = replace(options, people=standing())

    if junit:  # a file that cannot be written is reported now, not after a long run
        options.plan()
        write_junit(Nothing((), (), ()), junit)
    checked = check_as_asked(options)
    if junit:
        write_junit(checked, junit)
    print_verdicts(checked, options.out, as_json=as_json, open_page=open_page)
    exit_by_verdict(checked)


def print_verdicts(checked: CheckResult, folder: Path, *, as_json: bool = False, open_page: bool = False) -> None:
    """Print the verdicts, as JSON with the summary."""
    from otherminds.evaluation.runs import digest
    from otherminds.papers.functional.check_page import words_of
    from otherminds.papers.people.experiment import standing
    from otherminds.reports.terminal import tables as terminal

    console = Console(quiet=as_json)
    judged = [finding for finding in checked.findings if finding.name in checked.subjects]
    sentences = [f"{finding.name} {words_of(finding)}" for finding in judged]
    console.print(terminal.verdicts(checked.findings, sentences))
    least, most = standing()
    people = f"people: {least:.2f}–{most:.2f} on this scale, with seven bots of rock-paper-scissors (reproduce people)."
    console.print(people, style="dim", highlight=False)
    for line in checked.calls:
        console.print(line, markup=False, highlight=False)
    console.print(f"Digest: {digest(folder)}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report: {folder / 'report.html'}", markup=False, soft_wrap=True)
    if as_json:
        verdicts = [
            {
                "agent": finding.name,
                "checked": finding in judged,
                "result": finding.verdict.result,
                **finding.verdict._asdict(),
                "loss": finding.functional._asdict() if finding.shares else None,
                "loss_over_partners": finding.wider._asdict() if finding.shares else None,
                "passes": finding.passes,
                "habits": [probe.name for probe in finding.probes if probe.is_habit],
            }
            for finding in checked.findings
        ]
        report = {"verdicts": verdicts, "summary": checked.results.summary if checked.results else []}
        typer.echo(json.dumps(report, ensure_ascii=False))
    if open_page:
        open_in_browser(folder / "report.html")


def exit_by_verdict(checked: CheckResult) -> None:
    """Raise Exit with code 1 if an agent failed, or 4 if that of an agent cannot be said."""
    if checked.passed is not True:
        raise typer.Exit(TOO_FEW if checked.passed is None else TARGET_MISSED)


def play(
    game: Annotated[str, Argument(metavar="GAME", help="rps, ibs, ipd, ordinal-001 to -144, or a file.")],
    partners: Annotated[
        list[str] | None,
        Argument(
            metavar="PARTNER...", help="As tft, cycle-011, or tft~0.1: random in 10 % of rounds (Axelrod's 0.05)."
        ),
    ] = None,
    players: Annotated[
        list[str] | None,
        Option(
            "--player",
            metavar="NAME",
            help="As rmax, module:object, or me; repeatable. Default: bayes.",
        ),
    ] = None,
    machines: MachinesOption = None,
    rounds: Annotated[
        int | None, Option(min=1, max=10_000, metavar="N", help="Rounds of an episode. [100; you: 20]")
    ] = None,
    episodes: Annotated[int, Option(min=1, max=10_000, metavar="N", help="Episodes with each partner.")] = 20,
    seed: SeedOption = 42,
    as_json: JsonOption = False,
) -> None:
    """Does a player predict its partner, and act on that?

    Scores against the exact optimum, with each partner by turns. In a game of three or more name a partner for each
    other agent; they play together. Regret is lost to the best response; consistent is the share of rounds in which the
    action is best against the player's own prediction for that round; ± is half a 95 % interval over episodes.

    Example: otherminds play ipd tft always-defect --player rmax
    """
    from otherminds.cli.person import ME, ROUNDS, play_yourself
    from otherminds.evaluation.tasks import Task
    from otherminds.papers.functional.agents import pair_scores
    from otherminds.reports.terminal import tables as terminal
    from otherminds.worlds.repeated_games.partners import partners_in
    from otherminds.worlds.repeated_games.payoff_files import find_game

    if ME in (players or ()) and not machines:
        partners = partners or ["tft"]
    if not partners and not machines:
        raise InputError("there is no partner", hint="name partners, as tft, or give a file with --machines")
    loaded_game = find_game(game)
    if ME in (players or ()):
        tasks = [Task(loaded_game, p, rounds or ROUNDS) for p in partners_in(loaded_game, partners or (), machines)]
        if len(tasks) > 1 or len(players or ()) > 1 or as_json:
            raise InputError("you play alone, with one partner", hint=f"otherminds play {game} tft --player {ME}")
        play_yourself(tasks[0], seed)
        return
    console = Console(width=None if sys.stdout.isatty() else 120)
    scores = pair_scores(loaded_game, partners or (), players or (), rounds or 100, episodes, seed, machines)
    if as_json:
        typer.echo(json.dumps(scores, ensure_ascii=False))
        return
    if max(loaded_game.payoff().shape) <= MOST_SHOWN:
        console.print(terminal.payoffs(loaded_game))
    console.print(terminal.scores(scores))
    for sentence in terminal.unforgiven(scores):
        console.print(sentence, markup=False, highlight=False)

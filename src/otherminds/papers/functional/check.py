"""Running a check: agents play pass after pass, agents that fail are told the truth, and results are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple
from xml.etree import ElementTree

from pydantic import Field
from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking, answered, spent, tell_ahead
from otherminds.evaluation.experiment import keep
from otherminds.evaluation.how_begun import how_begun
from otherminds.evaluation.progress import shown
from otherminds.evaluation.store import Row, Store
from otherminds.files.text import printable, write_whole
from otherminds.language.availability import missing
from otherminds.language.model_names import is_model
from otherminds.papers.functional import model_episodes
from otherminds.papers.functional.agents import OWN, TOLD, Agent, LanguageAgent, agent, solve_ahead
from otherminds.papers.functional.check_page import check_page, how_made
from otherminds.papers.functional.experiment import episodes_of
from otherminds.papers.functional.verdicts import (
    LEAST_PASSES,
    MAX_LOSS,
    MOST_PASSES,
    ROUNDS,
    CheckPlan,
    Findings,
    assess,
    summary,
)
from otherminds.reports.results import Results, write_results
from otherminds.worlds.repeated_games.payoff_files import find_game

GAMES = ("rps", "ibs", "ipd")
BAYES = "bayes_simplicity"
BESIDE = (BAYES, "tabular", "random")
TOUR = (*BESIDE, "embedded")  # played if no agent is named


class CheckResult(NamedTuple):
    """The result of a check: findings about all agents, the names of the checked ones, and the costs of calls."""

    findings: tuple[Findings, ...]
    subjects: tuple[str, ...]
    calls: tuple[str, ...]
    results: Results | None = None

    @property
    def passed(self) -> bool | None:
        """Whether every checked agent has passed: False if any has failed, else None if any verdict is open."""
        verdicts = [finding.verdict.passed for finding in self.findings if finding.name in self.subjects]
        return False if False in verdicts else None if None in verdicts else True


@dataclass(frozen=True)
class CheckOptions:
    """What to check: agents, games, partners, rounds, passes at most, seed, and the largest loss that passes.

    `machines` is a file of partners; all of them play if none is named. `people` are the lowest and highest mean loss
    of people with other partners, which the page shows for comparison.
    """

    out: Path
    asking: Asking
    agents: tuple[str, ...] = ()
    games: tuple[str, ...] = GAMES
    partners: tuple[str, ...] = ()
    rounds: Annotated[int, Field(ge=1, le=1000)] = ROUNDS
    passes: Annotated[int, Field(ge=1, le=100)] = MOST_PASSES
    seed: int = 42
    max_regret: float = MAX_LOSS
    frozen: bool = False
    machines: Path | None = None
    people: tuple[float, float] | None = None

    def plan(self) -> CheckPlan:
        """The plan of the check. Raises InputError for an unknown game."""
        games = tuple(find_game(name) for name in self.games)
        return CheckPlan(games, self.partners, self.rounds, self.passes, self.seed, self.machines)


def check_as_asked(options: CheckOptions, plan: CheckPlan | None = None) -> CheckResult:
    """Check agents beside reference players, and write rows, summary and report into a folder that can be resumed.

    Without agents it plays the reference players and the smallest language model, and none of them can fail. `plan` is
    that of the options unless it is given.
    Raises InputError for agents, games or partners that do not fit, ModelError for a model that cannot be asked.
    """
    plan, asking, folder = plan or options.plan(), options.asking, options.out
    plan.prepare()
    specs = tuple(dict.fromkeys(options.agents))
    beside, left_out = _playable(plan, BESIDE if specs else TOUR)
    # raises InputError for an unknown way of asking, even if no agent is asked in words
    speaker, anywhere = agent("scripted:perfect", asking, folder), CheckPlan((find_game("rps"),))
    speaker.prepare(anywhere.encounters(speaker.name)[0])
    if any(map(is_model, specs)):  # without a price, as many calls as all passes take if each question is asked twice
        assert isinstance(speaker, LanguageAgent)
        ahead = model_episodes.estimate([speaker.entry(encounter) for encounter in plan.encounters(speaker.name)])
        asking = asking.limited(2 * plan.passes * ahead.calls)
    length = [] if asking.max_tokens is None else [f"{asking.max_tokens} tokens"]
    how = (f"{plan.rounds} rounds", f"seed {plan.seed}", *asking.strategies, *asking.names, asking.shuffle, *length)
    run, about = " ".join(("check", *how)), how_begun("check", options)
    with Store(folder, run, about, frozen=options.frozen) as store:
        agents = [agent(spec, asking, store.database) for spec in dict.fromkeys((*specs, *beside))]
        names = [player.name for player in agents]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError(f"two agents are called {repeated[0]}")
        for player in agents:
            for encounter in plan.encounters(player.name):
                player.prepare(encounter)
        spoken = [
            (player.name, player.record) for player in agents if isinstance(player, LanguageAgent) and player.record
        ]
        try:
            findings, rows = _judge(agents, plan, store, options.max_regret)
        except (KeyboardInterrupt, InputError):  # otherwise the costs are printed after the verdicts
            for cost in (f"{name}: {spent(record)}" for name, record in spoken if record.totals.calls):
                Console(stderr=True).print(cost, markup=False, highlight=False, soft_wrap=True)
            raise
        subjects = tuple(player.name for player in agents[: len(specs)])
        calls = (*(f"{name}: {answered(record)}" for name, record in spoken), *left_out)
        store.write_rows()
        speakers = [player for player in agents if isinstance(player, LanguageAgent)]
        how_it_was_made = how_made(plan, asking, speakers, store.about()["begun"])
        html = check_page(findings, subjects, calls, rows, plan, how_it_was_made, BESIDE, options.people)
        results = Results(rows, summary(findings, BESIDE), html)
        write_results(folder, results.summary, results.report)
        costs = tuple(f"{name}: {spent(record)}" for name, record in spoken)
        return CheckResult(findings, subjects, costs, results)


def _judge(
    agents: Sequence[Agent], plan: CheckPlan, store: Store, max_regret: float
) -> tuple[tuple[Findings, ...], list[Row]]:
    """The findings about every agent, and all rows.

    An agent plays passes until its verdict is decided, or too few of its moves can be read. One that speaks and fails
    also plays with the truth told.
    """
    findings, rows = [], list[Row]()
    for player in agents:
        agent_rows = list[Row]()
        for number in range(plan.passes):
            agent_rows += _play(player, plan, store, (OWN,), number)
            finding = assess(player, plan, agent_rows, max_regret)
            # of more passes than MOST_PASSES only the last is looked at: every look is a chance of a wrong verdict
            looks = number + 1 in range(LEAST_PASSES, MOST_PASSES + 1)
            if (looks and finding.verdict.passed is not None) or finding.verdict.result == "not measured":
                break
        if isinstance(player, LanguageAgent) and finding.verdict.passed is False:
            agent_rows += _play(player, plan, store, TOLD)
            finding = assess(player, plan, agent_rows, max_regret)
        findings.append(finding)
        rows += agent_rows
    return tuple(findings), rows


def _playable(plan: CheckPlan, specs: Sequence[str]) -> tuple[list[str], list[str]]:
    """The players that can play all games, and why others cannot, in sentences.

    The Bayesian is left out if a game is too large to be solved exactly, a model if something is missing to ask it.
    """
    left_out = {spec: f"{spec} is left out: {what[0]}" for spec in specs if is_model(spec) and (what := missing(spec))}
    try:
        for game in plan.games:
            solve_ahead(game, plan.rounds)
    except InputError:
        left_out[BAYES] = f"{BAYES} is left out: a game is too large to be solved exactly"
    return [spec for spec in specs if spec not in left_out], list(left_out.values())


def _play(player: Agent, plan: CheckPlan, store: Store, rungs: Sequence[str], number: int = 0) -> list[Row]:
    """The rows of one pass of an agent. Raises InputError if an earlier run was of another game with the same name."""
    encounters = plan.encounters(player.name, rungs, number)
    todo = store.todo(encounters)
    for episode in episodes_of(store.found([encounter.key for encounter in encounters])):
        task = plan.by_name[episode[-1]["condition"], len(episode)]
        if [row["best"] for row in episode] != task.best_by_round.tolist():
            hint = "choose another folder with --out"
            raise InputError(f"has another game that is called {task.game.name}", path=store.path, hint=hint)
    what = f"{player.name}, pass {number + 1}" if rungs == (OWN,) else f"{player.name} is told the truth"
    if isinstance(player, LanguageAgent):
        if todo and player.record and rungs == (OWN,) and not number:
            passes = range(1, min(LEAST_PASSES, plan.passes))
            planned = (*todo, *(e for later in passes for e in plan.encounters(player.name, number=later)))
            ahead = model_episodes.estimate([player.entry(encounter) for encounter in planned])
            tell_ahead(player.record, ahead, player.asking.price)
        keep(store, player.asking, player.rows, todo, what, player.record)
    else:
        for encounter in shown(todo, len(todo), what):
            store.add(player.rows(encounter))
    return store.all([encounter.key for encounter in encounters])


def write_junit(checked: CheckResult, path: Path) -> None:
    """Write the verdicts as a JUnit file with a suite of one case for each checked agent; an open verdict is an error.

    Raises InputError if it cannot be written.
    """
    root = ElementTree.Element("testsuites", name="otherminds check")
    for finding in checked.findings:
        if finding.name not in checked.subjects:
            continue
        verdict, name = finding.verdict, printable(finding.name)
        failures, errors = (str(int(verdict.passed is result)) for result in (False, None))
        counts = {"tests": "1", "failures": failures, "errors": errors}
        suite = ElementTree.SubElement(root, "testsuite", {"name": name} | counts)
        called = f"otherminds.check.{name}"
        case = ElementTree.SubElement(suite, "testcase", classname=called, name="acts on what it knows")
        words = printable(verdict.words)
        if verdict.passed is None:
            ElementTree.SubElement(case, "error", message=words)
        elif not verdict.passed:
            ElementTree.SubElement(case, "failure", message=printable(f"breaks at {verdict.breaks}: {words}"))
        ElementTree.SubElement(case, "system-out").text = f"{words}; {finding.passes} pass{'es' * (finding.passes > 1)}"
    write_whole(path, [ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)])

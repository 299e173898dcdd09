"""Running a check: agents play, those who fail are told the truth as well, and the results are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from otherminds.errors import InputError
from otherminds.experiments import check_report
from otherminds.experiments.agents import OWN, TOLD, Agent, Speaker, agent
from otherminds.experiments.asking import Asking, spent
from otherminds.experiments.check import FORMATTING, Findings, Plan, assess, episodes, summary
from otherminds.experiments.encounters import solve_ahead
from otherminds.experiments.functional import Row
from otherminds.experiments.progress import shown
from otherminds.experiments.results import Rows, write_results
from otherminds.worlds.game_files import find_game
from otherminds.worlds.sprites import printable

BAYES = "bayes"
BESIDE = (BAYES, "tabular", "random")
TOUR = (*BESIDE, "embedded")


class Checked(NamedTuple):
    """What came of a check: findings of all agents, the names of those that were to be checked, and what was asked."""

    findings: tuple[Findings, ...]
    subjects: tuple[str, ...]
    calls: tuple[str, ...]

    @property
    def failed(self) -> bool:
        """Whether any of the agents that were to be checked has failed."""
        return any(not found.verdict.passed for found in self.findings if found.name in self.subjects)


def check(specs: Sequence[str], plan: Plan, asking: Asking, folder: Path, max_regret: float) -> Checked:
    """Check agents beside others that are known, and write rows, summary and report into a folder.

    Without any agent this is a tour of known ones and the smallest language model, in which nobody can fail.
    Raises InputError for agents, games or partners that do not fit, ModelError for a model that cannot be asked.
    """
    plan.prepare()
    specs = tuple(dict.fromkeys(specs))
    beside = _solvable(plan, BESIDE if specs else TOUR)
    agents = [agent(spec, asking, folder) for spec in dict.fromkeys((*specs, *beside))]
    _refuse_unknown(asking, folder)
    _prepare(agents, plan)
    how = (f"{plan.rounds} rounds", f"seed {plan.seed}", *asking.strategies, *asking.names, asking.shuffle)
    kept = Rows(folder, " ".join(("check", *how)))
    found, rows = [], list[Row]()
    for one in agents:
        played = _play(one, plan, kept, (OWN,))
        findings = assess(one, plan, played, max_regret)
        if one.speaks and not findings.verdict.passed and findings.verdict.breaks != FORMATTING:
            played += _play(one, plan, kept, TOLD)
            findings = assess(one, plan, played, max_regret)
        found.append(findings)
        rows += played
    calls = tuple(
        f"{one.name}: {spent(one.record.totals)}" for one in agents if isinstance(one, Speaker) and one.record
    )
    checked = Checked(tuple(found), tuple(one.name for one in agents[: len(specs)]), calls)
    write_results(folder, summary(found), check_report.report(checked.findings, checked.subjects, calls, rows, plan))
    return checked


def _solvable(plan: Plan, specs: Sequence[str]) -> list[str]:
    """Who can play all games: all of them, but for the Bayesian if a game is too large to be solved exactly."""
    try:
        for game in plan.games:
            solve_ahead(game, plan.rounds)
    except InputError:
        return [spec for spec in specs if spec != BAYES]
    return list(specs)


def _refuse_unknown(asking: Asking, folder: Path) -> None:
    """Raise InputError for a way to ask that there is not, even if nobody is asked."""
    anybody, anywhere = agent("scripted:perfect", asking, folder), Plan((find_game("rps"),))
    anybody.prepare(anywhere.encounters(anybody.name)[0])


def _prepare(agents: Sequence[Agent], plan: Plan) -> None:
    """Raise InputError for agents that cannot be told apart, or cannot play, before anybody is asked anything."""
    names = [one.name for one in agents]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two agents are called {name}")
    for one in agents:
        for encounter in replace(plan, episodes=1).encounters(one.name):
            one.prepare(encounter)


def _play(one: Agent, plan: Plan, kept: Rows, rungs: Sequence[str]) -> list[Row]:
    encounters = plan.encounters(one.name, rungs)
    todo = kept.todo(encounters)
    _refuse_others(kept.all([encounter.key for encounter in encounters]), plan, kept.path)
    playing = one.asking.answers(one.rows, todo) if isinstance(one, Speaker) else map(one.rows, todo)
    what = f"{one.name} is playing" if rungs == (OWN,) else f"{one.name} is told the truth"
    for episode in shown(playing, len(todo), what):
        kept.add(episode)
    return kept.all([encounter.key for encounter in encounters])


def _refuse_others(rows: Sequence[Row], plan: Plan, path: Path) -> None:
    """Raise InputError if rows of an earlier run are of a game that has the same name and other payoffs."""
    for episode in episodes(rows):
        task = plan.by_name[episode[-1]["condition"], len(episode)]
        if [row["best"] for row in episode] != task.best_by_round.tolist():
            hint = "choose another folder with --out"
            raise InputError(f"has another game that is called {task.game.name}", path=path, hint=hint)


def write_junit(checked: Checked, path: Path) -> None:
    """Write the verdicts as a JUnit file: a suite of one case for each agent that was to be checked.

    Raises InputError if it cannot be written.
    """
    root = ElementTree.Element("testsuites", name="otherminds check")
    for found in checked.findings:
        if found.name in checked.subjects:
            _suite(root, found)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None


def _suite(root: ElementTree.Element, found: Findings) -> None:
    verdict, name = found.verdict, printable(found.name)
    failures = 0 if verdict.passed else 1
    suite = ElementTree.SubElement(root, "testsuite", name=name, tests="1", failures=str(failures))
    case = ElementTree.SubElement(suite, "testcase", classname=f"otherminds.check.{name}", name="acts on what it knows")
    told = f"loses {found.functional.value:.3f} of what random play loses, {found.max_regret:g} allowed"
    if not verdict.passed:
        failure = ElementTree.SubElement(case, "failure", message=printable(f"breaks at {verdict.breaks}: {told}"))
        failure.text = printable(verdict.words)
    ElementTree.SubElement(case, "system-out").text = printable(
        f"{told}; its wrong predictions would lose {found.literal.value:.3f}; {verdict.words}"
    )

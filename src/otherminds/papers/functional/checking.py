"""Running a check: agents play, those who fail are told the truth as well, and the results are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from matplotlib.figure import Figure
from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking, answered, spent, tell_ahead
from otherminds.evaluation.experiment import keep
from otherminds.evaluation.progress import shown
from otherminds.evaluation.runs import how_begun
from otherminds.evaluation.store import Row, Store
from otherminds.evaluation.tasks import Task
from otherminds.files.text import printable
from otherminds.language.ledger import Recorded
from otherminds.papers.functional import models as functional_models
from otherminds.papers.functional.agents import OWN, TOLD, Agent, LanguageAgent, agent, solve_ahead
from otherminds.papers.functional.check import FORMATTING, ROUNDS, CheckPlan, Findings, assess, episodes, summary, worst
from otherminds.reports import literal_functional_plots
from otherminds.reports.page import NOTHING, Html, Page, Section, inline, interval, number, page, stack, table
from otherminds.reports.results import Results, write_results
from otherminds.worlds.repeated_games.payoff_files import find_game

GAMES = ("rps", "ibs", "ipd")
BAYES = "bayes"
BESIDE = (BAYES, "tabular", "random")
TOUR = (*BESIDE, "embedded")


class CheckResult(NamedTuple):
    """What came of a check: findings of all agents, the names of those that were to be checked, and what was asked."""

    findings: tuple[Findings, ...]
    subjects: tuple[str, ...]
    calls: tuple[str, ...]
    results: Results | None = None

    @property
    def failed(self) -> bool:
        """Whether any of the agents that were to be checked has failed."""
        return any(not found.verdict.passed for found in self.findings if found.name in self.subjects)


@dataclass(frozen=True)
class CheckOptions:
    """What to check: agents, and the games, partners, rounds, episodes, seed and share of a loss to check them by."""

    out: Path
    asking: Asking
    agents: tuple[str, ...] = ()
    games: tuple[str, ...] = GAMES
    partners: tuple[str, ...] = ()
    rounds: int = ROUNDS
    episodes: int = 1
    seed: int = 42
    max_regret: float = 0.5
    frozen: bool = False

    def plan(self) -> CheckPlan:
        """What agents have to go through. Raises InputError for games that there are not."""
        games = tuple(find_game(name) for name in self.games)
        return CheckPlan(games, self.partners, self.rounds, self.episodes, self.seed)


def check_as_asked(options: CheckOptions) -> CheckResult:
    """Check the agents of the options, so that it can be resumed. Raises what `check` does."""
    about = how_begun("check", options)
    how = (options.asking, options.out, options.max_regret, about)
    return check(options.agents, options.plan(), *how, frozen=options.frozen)


def check(
    specs: Sequence[str],
    plan: CheckPlan,
    asking: Asking,
    folder: Path,
    max_regret: float,
    about: str = "",
    *,
    frozen: bool = False,
) -> CheckResult:
    """Check agents beside others that are known, and write rows, summary and report into a folder.

    Without any agent this is a tour of known ones and the smallest language model, in which nobody can fail.
    Raises InputError for agents, games or partners that do not fit, ModelError for a model that cannot be asked.
    """
    plan.prepare()
    specs = tuple(dict.fromkeys(specs))
    beside = _solvable(plan, BESIDE if specs else TOUR)
    _refuse_unknown(asking, folder)
    how = (f"{plan.rounds} rounds", f"seed {plan.seed}", *asking.strategies, *asking.names, asking.shuffle)
    with Store(folder, " ".join(("check", *how)), about, frozen=frozen) as kept:
        agents = [agent(spec, asking, kept.database) for spec in dict.fromkeys((*specs, *beside))]
        _prepare(agents, plan)
        spoken = [(one.name, one.record) for one in agents if isinstance(one, LanguageAgent) and one.record]
        with _told_cost(spoken):
            found, rows = _judge(agents, plan, kept, max_regret)
        subjects = tuple(one.name for one in agents[: len(specs)])
        calls = [f"{name}: {answered(record)}" for name, record in spoken]
        kept.write_rows()
        results = Results(rows, summary(found), report(found, subjects, calls, rows, plan))
        write_results(folder, results.summary, results.report)
        return CheckResult(
            found, subjects, tuple(f"{name}: {spent(record.totals)}" for name, record in spoken), results
        )


@contextmanager
def _told_cost(spoken: Sequence[tuple[str, Recorded]]) -> Iterator[None]:
    """Say what was asked if it is broken off; else the verdicts are followed by that."""
    try:
        yield
    except (KeyboardInterrupt, InputError):
        for name, record in spoken:
            if record.totals.calls:
                told = f"{name}: {spent(record.totals)}"
                Console(stderr=True).print(told, markup=False, highlight=False, soft_wrap=True)
        raise


def _judge(
    agents: Sequence[Agent], plan: CheckPlan, kept: Store, max_regret: float
) -> tuple[tuple[Findings, ...], list[Row]]:
    """What is to be said of every agent, and the rows; who speaks and fails is told the truth as well."""
    findings, rows = [], list[Row]()
    for one in agents:
        played = _play(one, plan, kept, (OWN,))
        found = assess(one, plan, played, max_regret)
        if one.speaks and not found.verdict.passed and found.verdict.breaks != FORMATTING:
            played += _play(one, plan, kept, TOLD)
            found = assess(one, plan, played, max_regret)
        findings.append(found)
        rows += played
    return tuple(findings), rows


def _solvable(plan: CheckPlan, specs: Sequence[str]) -> list[str]:
    """Who can play all games: all of them, but for the Bayesian if a game is too large to be solved exactly."""
    try:
        for game in plan.games:
            solve_ahead(game, plan.rounds)
    except InputError:
        return [spec for spec in specs if spec != BAYES]
    return list(specs)


def _refuse_unknown(asking: Asking, folder: Path) -> None:
    """Raise InputError for a way to ask that there is not, even if nobody is asked."""
    anybody, anywhere = agent("scripted:perfect", asking, folder), CheckPlan((find_game("rps"),))
    anybody.prepare(anywhere.encounters(anybody.name)[0])


def _prepare(agents: Sequence[Agent], plan: CheckPlan) -> None:
    """Raise InputError for agents that cannot be told apart, or cannot play, before anybody is asked anything."""
    names = [one.name for one in agents]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two agents are called {name}")
    for one in agents:
        for encounter in replace(plan, episodes=1).encounters(one.name):
            one.prepare(encounter)


def _play(one: Agent, plan: CheckPlan, kept: Store, rungs: Sequence[str]) -> list[Row]:
    encounters = plan.encounters(one.name, rungs)
    todo = kept.todo(encounters)
    _refuse_others(kept.found([encounter.key for encounter in encounters]), plan, kept.path)
    what = f"{one.name} is playing" if rungs == (OWN,) else f"{one.name} is told the truth"
    if isinstance(one, LanguageAgent):
        if todo and one.record and one.asking.price:
            ahead = functional_models.estimate([one.entry(encounter) for encounter in todo])
            tell_ahead(one.record, ahead, one.asking.price, Console(stderr=True))
        keep(kept, one.asking, one.rows, todo, what, one.record)
    else:
        for encounter in shown(todo, len(todo), what):
            kept.add(one.rows(encounter))
    return kept.all([encounter.key for encounter in encounters])


def _refuse_others(rows: Sequence[Row], plan: CheckPlan, path: Path) -> None:
    """Raise InputError if rows of an earlier run are of a game that has the same name and other payoffs."""
    for episode in episodes(rows):
        task = plan.by_name[episode[-1]["condition"], len(episode)]
        if [row["best"] for row in episode] != task.best_by_round.tolist():
            hint = "choose another folder with --out"
            raise InputError(f"has another game that is called {task.game.name}", path=path, hint=hint)


def write_junit(checked: CheckResult, path: Path) -> None:
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


CHECK_LEAD = (
    "Does an agent act on what it knows about its partner? It meets partners that it does not know, round after round; "
    "what it loses is held against the best possible play with that partner. All losses are shares of what uniformly "
    "random play loses: 0 is the best possible play, 1 is random."
)
COLUMNS = (
    "Loses is functional Theory of Mind, and decides. Mispredicts is literal Theory of Mind: what wrong predictions "
    "would cost by themselves. The gap is what it loses beyond that: what it knows and does not use. Consistent is the "
    "share of rounds in which it did what was best under its own prediction of that round. Brackets are bootstrap "
    "intervals over partners."
)
LADDER = (
    "Who fails, and is asked in words, plays five rounds more with those partners that always do the same, and is told "
    "what they do; then also to choose what is best against that. If the loss goes away it was the prediction that was "
    "missing. If it stays, the agent does not use even what it is told."
)
WORST = "The episodes in which an agent lost most. A dash is a reply of which nothing could be read."
ROUNDS_SHOWN = 12
SHOWN = 120


def report(
    findings: Sequence[Findings],
    subjects: Sequence[str],
    calls: Sequence[str],
    rows: Sequence[Row],
    plan: CheckPlan,
) -> Page:
    """The whole page."""
    judged = [found for found in findings if found.name in subjects]
    bodies = {
        "Verdict": stack(*(_verdict(found) for found in judged)) if judged else "",
        "Scores": stack(_scores(findings), COLUMNS, inline(_plot(findings), _caption(findings))),
        "Where it breaks": _ladder(findings),
        "Partner by partner": _partners(findings, rows, plan),
        "Worst episodes": _worst(judged or findings, rows, plan),
        "Calls": stack(*calls) if calls else "",
    }
    return page("Check", CHECK_LEAD, [Section(title, body) for title, body in bodies.items() if body])


def _verdict(found: Findings) -> str:
    verdict = found.verdict
    result = "passes" if verdict.passed else f"fails, and breaks at {verdict.breaks}"
    return f"{found.name} {result}: {verdict.words}. It may lose {found.max_regret:g} of what random play loses."


def _scores(findings: Sequence[Findings]) -> Html:
    lines = [
        [
            found.name,
            "nothing" if found.verdict.passed else found.verdict.breaks,
            *(interval(*estimate[:3]) for estimate in (found.functional, found.literal)),
            number(found.gap.value),
            number(found.consistency.value),
            NOTHING if found.unreadable is None else f"{100 * found.unreadable.value:.1f} %",
            f"{100 * found.lost.value:.1f} %",
        ]
        for found in findings
    ]
    return table(
        ("Agent", "Breaks at", "Loses", "Mispredicts", "Gap", "Consistent", "Unreadable", "Rounds lost"), lines
    )


def _plot(findings: Sequence[Findings]) -> Figure:
    points = [(found.name, found.literal.value, found.functional.value, found.verdict.passed) for found in findings]
    return literal_functional_plots.known_and_lost(points, findings[0].max_regret)


def _caption(findings: Sequence[Findings]) -> str:
    return (
        f"What each agent knows and what it loses. Below the line at {findings[0].max_regret:g} it passes; left of it, "
        "its predictions are good. Who is above on the left knows and does not act."
    )


def _ladder(findings: Sequence[Findings]) -> Html | str:
    lines = [
        [
            found.name,
            number(found.functional.value),
            *(number(found.rungs[rung].value if rung in found.rungs else None) for rung in ("oracle", "oracle_max")),
            number(found.literal.value),
        ]
        for found in findings
        if found.rungs
    ]
    columns = ("Agent", "By itself", "Told", "Told, and what to do with it", "Best response to its predictions")
    return stack(LADDER, table(columns, lines)) if lines else ""


def _partners(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    lost: dict[tuple[str, str], list[float]] = {}
    for episode in episodes(rows):
        lost.setdefault((episode[-1]["condition"], episode[-1]["subject"]), []).append(plan.share(episode))
    lines = [
        [
            name.replace("/", ": "),
            *(number(sum(losses) / len(losses)) for found in findings for losses in (lost[name, found.name],)),
        ]
        for name in dict.fromkeys(name for name, _ in plan.by_name)
    ]
    return table(("Partner", *(found.name for found in findings)), lines, "What is lost with each partner")


def _worst(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    parts: list[Any] = [WORST]
    for found in findings:
        for episode in worst([row for row in rows if row["subject"] == found.name], plan):
            if (loss := plan.share(episode)) > found.max_regret:
                parts.append(_episode(episode, plan.by_name[episode[-1]["condition"], len(episode)], loss))
    return stack(*parts) if len(parts) > 1 else Html("")


def _episode(episode: Sequence[Row], task: Task, loss: float) -> Html:
    own, theirs = task.game.actions
    lines = [
        [
            row["t"] + 1,
            NOTHING if row["predicted"] is None else theirs[row["predicted"]],
            theirs[row["observed"]],
            NOTHING if row["action"] is None else own[row["action"]],
            float(row["reward"]),
            *([_said(row)] if "said" in row else []),
        ]
        for row in episode[:ROUNDS_SHOWN]
    ]
    columns = ("Round", "Expected", "Partner did", "Did", "Got", *(["Said"] if "said" in episode[0] else []))
    last = episode[-1]
    more = f", the first {ROUNDS_SHOWN} of {len(episode)} rounds" if len(episode) > ROUNDS_SHOWN else ""
    return table(
        columns, lines, f"{last['subject']} with {task.partner.name} in {task.game.name}: lost {loss:.2f}{more}"
    )


def _said(row: Row) -> str:
    """The last reply to each question, and how many it took."""
    last = {said["of"]: said["text"] for said in row["said"]}
    counts = Counter(said["of"] for said in row["said"])
    return " · ".join(
        " ".join(text.split())[:SHOWN] + (f" (reply {counts[of]})" if counts[of] > 1 else "")
        for of, text in last.items()
    )

"""Running a check: agents play, agents that fail are also told the truth, and the results are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from xml.etree import ElementTree

from pydantic import Field
from rich.console import Console

from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking, answered, spent, tell_ahead
from otherminds.evaluation.experiment import keep
from otherminds.evaluation.how_begun import how_begun
from otherminds.evaluation.progress import shown
from otherminds.evaluation.store import Row, Store
from otherminds.evaluation.tasks import Task
from otherminds.files.text import printable, write_whole
from otherminds.files.toml import packaged
from otherminds.papers.functional import model_episodes
from otherminds.papers.functional.agents import OWN, TOLD, Agent, LanguageAgent, agent, solve_ahead
from otherminds.papers.functional.experiment import episodes_of
from otherminds.papers.functional.verdicts import (
    FORMATTING,
    PLACES,
    ROUNDS,
    CheckPlan,
    Findings,
    assess,
    summary,
    worst,
)
from otherminds.reports import literal_functional_plots
from otherminds.reports.page import NOTHING, Html, Page, Section, inline, interval, number, page, stack, table
from otherminds.reports.results import Results, write_results
from otherminds.worlds.repeated_games.payoff_files import find_game

GAMES = ("rps", "ibs", "ipd")
BAYES = "bayes"
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
    """What to check: agents, games, partners, rounds, episodes, seed, and the largest relative regret that passes.

    `machines` is a file of partners; all of them play if none is named.
    """

    out: Path
    asking: Asking
    agents: tuple[str, ...] = ()
    games: tuple[str, ...] = GAMES
    partners: tuple[str, ...] = ()
    rounds: Annotated[int, Field(ge=1, le=1000)] = ROUNDS
    episodes: Annotated[int, Field(ge=1, le=1000)] = 1
    seed: int = 42
    max_regret: float = 0.5  # half the loss of random play; chosen
    frozen: bool = False
    machines: Path | None = None

    def plan(self) -> CheckPlan:
        """The plan of the check. Raises InputError for an unknown game."""
        games = tuple(find_game(name) for name in self.games)
        return CheckPlan(games, self.partners, self.rounds, self.episodes, self.seed, self.machines)


def check_as_asked(options: CheckOptions, plan: CheckPlan | None = None) -> CheckResult:
    """Check agents beside reference players, and write rows, summary and report into a folder that can be resumed.

    Without agents it plays the reference players and the smallest language model, and none of them can fail. `plan` is
    that of the options unless it is given.
    Raises InputError for agents, games or partners that do not fit, ModelError for a model that cannot be asked.
    """
    plan, asking, folder = plan or options.plan(), options.asking, options.out
    plan.prepare()
    specs = tuple(dict.fromkeys(options.agents))
    beside = _solvable(plan, BESIDE if specs else TOUR)
    # raises InputError for an unknown way of asking, even if no agent is asked in words
    speaker, anywhere = agent("scripted:perfect", asking, folder), CheckPlan((find_game("rps"),))
    speaker.prepare(anywhere.encounters(speaker.name)[0])
    how = (f"{plan.rounds} rounds", f"seed {plan.seed}", *asking.strategies, *asking.names, asking.shuffle)
    run, about = " ".join(("check", *how)), how_begun("check", options)
    with Store(folder, run, about, frozen=options.frozen) as store:
        agents = [agent(spec, asking, store.database) for spec in dict.fromkeys((*specs, *beside))]
        names = [player.name for player in agents]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError(f"two agents are called {repeated[0]}")
        for player in agents:
            for encounter in replace(plan, episodes=1).encounters(player.name):
                player.prepare(encounter)
        spoken = [
            (player.name, player.record) for player in agents if isinstance(player, LanguageAgent) and player.record
        ]
        try:
            findings, rows = _judge(agents, plan, store, options.max_regret)
        except (KeyboardInterrupt, InputError):  # otherwise the costs are printed after the verdicts
            for cost in (f"{name}: {spent(record.totals)}" for name, record in spoken if record.totals.calls):
                Console(stderr=True).print(cost, markup=False, highlight=False, soft_wrap=True)
            raise
        subjects = tuple(player.name for player in agents[: len(specs)])
        calls = [f"{name}: {answered(record)}" for name, record in spoken]
        store.write_rows()
        about = _about(
            plan, asking, [player for player in agents if isinstance(player, LanguageAgent)], store.about()["begun"]
        )
        results = Results(rows, summary(findings, BESIDE), report(findings, subjects, calls, rows, plan, about))
        write_results(folder, results.summary, results.report)
        return CheckResult(
            findings, subjects, tuple(f"{name}: {spent(record.totals)}" for name, record in spoken), results
        )


def _judge(
    agents: Sequence[Agent], plan: CheckPlan, store: Store, max_regret: float
) -> tuple[tuple[Findings, ...], list[Row]]:
    """The findings about every agent, and all rows. An agent that speaks and fails also plays with the truth told."""
    findings, rows = [], list[Row]()
    for player in agents:
        agent_rows = _play(player, plan, store, (OWN,))
        finding = assess(player, plan, agent_rows, max_regret)
        if isinstance(player, LanguageAgent) and finding.verdict.breaks not in ("", FORMATTING):
            agent_rows += _play(player, plan, store, TOLD)
            finding = assess(player, plan, agent_rows, max_regret)
        findings.append(finding)
        rows += agent_rows
    return tuple(findings), rows


def _solvable(plan: CheckPlan, specs: Sequence[str]) -> list[str]:
    """The players that can play all games: all but the Bayesian if a game is too large to be solved exactly."""
    try:
        for game in plan.games:
            solve_ahead(game, plan.rounds)
    except InputError:
        return [spec for spec in specs if spec != BAYES]
    return list(specs)


def _play(player: Agent, plan: CheckPlan, store: Store, rungs: Sequence[str]) -> list[Row]:
    """The rows of an agent. Raises InputError if an earlier run was of another game with the same name."""
    encounters = plan.encounters(player.name, rungs)
    todo = store.todo(encounters)
    for episode in episodes_of(store.found([encounter.key for encounter in encounters])):
        task = plan.by_name[episode[-1]["condition"], len(episode)]
        if [row["best"] for row in episode] != task.best_by_round.tolist():
            hint = "choose another folder with --out"
            raise InputError(f"has another game that is called {task.game.name}", path=store.path, hint=hint)
    what = f"{player.name} is playing" if rungs == (OWN,) else f"{player.name} is told the truth"
    if isinstance(player, LanguageAgent):
        if todo and player.record and player.asking.price:
            ahead = model_episodes.estimate([player.entry(encounter) for encounter in todo])
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
        output = f"{words}; its wrong predictions would lose {finding.literal.value:.3f}"
        ElementTree.SubElement(case, "system-out").text = output
    write_whole(path, [ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)])


WORDS: Mapping[str, str] = packaged("otherminds.papers.functional", "report.toml")["check"]
ROUNDS_SHOWN = 12  # of an episode; chosen
SHOWN = 120  # characters of a reply; chosen


def report(
    findings: Sequence[Findings],
    subjects: Sequence[str],
    calls: Sequence[str],
    rows: Sequence[Row],
    plan: CheckPlan,
    about: str,
) -> Page:
    """The page of a check: how it was made, verdicts, scores, the ladder, partners, worst episodes and calls."""
    judged = [finding for finding in findings if finding.name in subjects]
    limit = findings[0].max_regret
    points = [
        (finding.name, finding.literal.value, finding.functional.value, finding.functional.value <= limit)
        for finding in findings
    ]
    plot = literal_functional_plots.known_and_lost(points, limit)
    caption = (
        f"What each agent knows and what it loses. Below the line at {limit:g} it passes; left of it, "
        "its predictions are good. An agent above the line on the left knows, and does not act on it."
    )
    words = []
    for finding in judged:
        result = "is open" if finding.verdict.passed is None else finding.verdict.result
        words.append(f"{finding.name} {result}: {finding.verdict.words}.")
    bodies = {
        "Verdict": stack(*words) if words else "",
        "Scores": stack(_scores(findings), WORDS["columns"], inline(plot, caption)),
        "Beside reference players": _beside(findings),
        "Told what the partner does": _ladder(findings),
        "Partner by partner": _partners(findings, rows, plan),
        "Worst episodes": _worst(judged or findings, rows, plan),
        "Calls": stack(*calls) if calls else "",
    }
    return page("Check", f"{WORDS['lead']} {about}", [Section(title, body) for title, body in bodies.items() if body])


def _about(plan: CheckPlan, asking: Asking, speakers: Sequence[LanguageAgent], begun: str) -> str:
    """How a check was made, as a sentence: rounds, episodes, seed, how language models were asked, and the day."""
    times = "once" if plan.episodes == 1 else f"{plan.episodes} times"
    parts = [f"Games: {', '.join(game.name for game in plan.games)}; {plan.rounds} rounds with each partner, {times}"]
    parts += [f"seed {plan.seed}"]
    parts += [f"{speaker.name} asked by the strategy {speaker.asking.ways[0]}" for speaker in speakers]
    if speakers:
        names = asking.names[0] if asking.names else model_episodes.NAMES
        parts += [f"names of actions {names}", f"shuffled: {asking.shuffle}"]
    return f"{'; '.join(parts)}; begun on {begun[:10]}."


def _scores(findings: Sequence[Findings]) -> Html:
    lines = [
        [
            finding.name,
            finding.verdict.result + (f": {PLACES[finding.verdict.breaks]}" if finding.verdict.passed is False else ""),
            *(interval(*estimate[:3]) for estimate in (finding.functional, finding.literal)),
            number(finding.gap.value),
            number(finding.consistency.value),
            NOTHING if finding.unreadable is None else f"{100 * finding.unreadable.value:.1f} %",
            f"{100 * finding.lost.value:.1f} %",
            number(finding.paid.value),
        ]
        for finding in findings
    ]
    return table(
        ("Agent", "Verdict", "Loses", "Mispredicts", "Gap", "Consistent", "Unreadable", "Rounds lost", "… cost"),
        lines,
    )


def _beside(findings: Sequence[Findings]) -> Html | str:
    """Losses of agents less those of the reference players, paired by partner."""
    references = [finding for finding in findings if finding.name in BESIDE]
    lines = []
    for finding in findings:
        less = [None if reference is finding else finding.less(reference) for reference in references]
        if any(less):
            lines.append([finding.name, *(NOTHING if gap is None else interval(*gap[:3]) for gap in less)])
    return (
        stack(WORDS["beside"], table(("Agent", *(f"Less {reference.name}" for reference in references)), lines))
        if lines
        else ""
    )


def _ladder(findings: Sequence[Findings]) -> Html | str:
    lines = []
    for finding in (finding for finding in findings if finding.rungs):
        told_losses = (finding.rungs.get("oracle"), finding.rungs.get("oracle_max"))
        losses = (finding.functional, *told_losses, finding.literal)
        lines.append([finding.name, *(number(loss.value if loss else None) for loss in losses)])
    columns = ("Agent", "By itself", "Told", "Told, and what to do with it", "Best response to its predictions")
    return stack(WORDS["ladder"], table(columns, lines)) if lines else ""


def _partners(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    lost: dict[tuple[str, str], list[float]] = {}
    for episode in episodes_of(rows):
        lost.setdefault((episode[-1]["condition"], episode[-1]["subject"]), []).append(plan.share(episode))
    means = {about: number(sum(losses) / len(losses)) for about, losses in lost.items()}
    names = dict.fromkeys(name for name, _ in plan.by_name)
    lines = [[name.replace("/", ": "), *(means[name, finding.name] for finding in findings)] for name in names]
    return table(("Partner", *(finding.name for finding in findings)), lines, "What is lost with each partner")


def _worst(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    parts: list[Any] = [WORDS["worst"]]
    for finding in findings:
        for episode in worst([row for row in rows if row["subject"] == finding.name], plan):
            if (loss := plan.share(episode)) > finding.max_regret:
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
            *([" · ".join(_replies(row["said"]))] if "said" in row else []),
        ]
        for row in episode[:ROUNDS_SHOWN]
    ]
    columns = ("Round", "Expected", "Partner did", "Did", "Got", *(["Said"] if "said" in episode[0] else []))
    last = episode[-1]
    more = f", the first {ROUNDS_SHOWN} of {len(episode)} rounds" if len(episode) > ROUNDS_SHOWN else ""
    return table(
        columns, lines, f"{last['subject']} with {task.partner.name} in {task.game.name}: lost {loss:.2f}{more}"
    )


def _replies(exchanges: Sequence[Row]) -> Iterator[str]:
    """The last reply to each question, with the number of replies if there were several."""
    counts = Counter(exchange["of"] for exchange in exchanges)
    for of, text in {exchange["of"]: exchange["text"] for exchange in exchanges}.items():
        yield " ".join(text.split())[:SHOWN] + (f" (reply {counts[of]})" if counts[of] > 1 else "")

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
from otherminds.evaluation.progress import shown
from otherminds.evaluation.resuming import how_begun
from otherminds.evaluation.store import Row, Store
from otherminds.evaluation.tasks import Task
from otherminds.files.text import printable, write_whole
from otherminds.files.toml import packaged
from otherminds.papers.functional import models as functional_models
from otherminds.papers.functional.agents import OWN, TOLD, Agent, LanguageAgent, agent, solve_ahead
from otherminds.papers.functional.check import FORMATTING, PLACES, ROUNDS, CheckPlan, Findings, assess, summary, worst
from otherminds.papers.functional.experiment import episodes_of
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
        verdicts = [found.verdict.passed for found in self.findings if found.name in self.subjects]
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
    with Store(folder, run, about, frozen=options.frozen) as kept:
        agents = [agent(spec, asking, kept.database) for spec in dict.fromkeys((*specs, *beside))]
        names = [one.name for one in agents]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError(f"two agents are called {repeated[0]}")
        for one in agents:
            for encounter in replace(plan, episodes=1).encounters(one.name):
                one.prepare(encounter)
        spoken = [(one.name, one.record) for one in agents if isinstance(one, LanguageAgent) and one.record]
        try:
            found, rows = _judge(agents, plan, kept, options.max_regret)
        except (KeyboardInterrupt, InputError):  # otherwise the costs are printed after the verdicts
            for told in (f"{name}: {spent(record.totals)}" for name, record in spoken if record.totals.calls):
                Console(stderr=True).print(told, markup=False, highlight=False, soft_wrap=True)
            raise
        subjects = tuple(one.name for one in agents[: len(specs)])
        calls = [f"{name}: {answered(record)}" for name, record in spoken]
        kept.write_rows()
        about = _about(plan, asking, [one for one in agents if isinstance(one, LanguageAgent)], kept.about()["begun"])
        results = Results(rows, summary(found, BESIDE), report(found, subjects, calls, rows, plan, about))
        write_results(folder, results.summary, results.report)
        return CheckResult(
            found, subjects, tuple(f"{name}: {spent(record.totals)}" for name, record in spoken), results
        )


def _judge(
    agents: Sequence[Agent], plan: CheckPlan, kept: Store, max_regret: float
) -> tuple[tuple[Findings, ...], list[Row]]:
    """The findings about every agent, and all rows. An agent that speaks and fails also plays with the truth told."""
    findings, rows = [], list[Row]()
    for one in agents:
        played = _play(one, plan, kept, (OWN,))
        found = assess(one, plan, played, max_regret)
        if isinstance(one, LanguageAgent) and found.verdict.breaks not in ("", FORMATTING):
            played += _play(one, plan, kept, TOLD)
            found = assess(one, plan, played, max_regret)
        findings.append(found)
        rows += played
    return tuple(findings), rows


def _solvable(plan: CheckPlan, specs: Sequence[str]) -> list[str]:
    """The players that can play all games: all but the Bayesian if a game is too large to be solved exactly."""
    try:
        for game in plan.games:
            solve_ahead(game, plan.rounds)
    except InputError:
        return [spec for spec in specs if spec != BAYES]
    return list(specs)


def _play(one: Agent, plan: CheckPlan, kept: Store, rungs: Sequence[str]) -> list[Row]:
    """The rows of an agent. Raises InputError if an earlier run was of another game with the same name."""
    encounters = plan.encounters(one.name, rungs)
    todo = kept.todo(encounters)
    for episode in episodes_of(kept.found([encounter.key for encounter in encounters])):
        task = plan.by_name[episode[-1]["condition"], len(episode)]
        if [row["best"] for row in episode] != task.best_by_round.tolist():
            hint = "choose another folder with --out"
            raise InputError(f"has another game that is called {task.game.name}", path=kept.path, hint=hint)
    what = f"{one.name} is playing" if rungs == (OWN,) else f"{one.name} is told the truth"
    if isinstance(one, LanguageAgent):
        if todo and one.record and one.asking.price:
            ahead = functional_models.estimate([one.entry(encounter) for encounter in todo])
            tell_ahead(one.record, ahead, one.asking.price)
        keep(kept, one.asking, one.rows, todo, what, one.record)
    else:
        for encounter in shown(todo, len(todo), what):
            kept.add(one.rows(encounter))
    return kept.all([encounter.key for encounter in encounters])


def write_junit(checked: CheckResult, path: Path) -> None:
    """Write the verdicts as a JUnit file with a suite of one case for each checked agent; an open verdict is an error.

    Raises InputError if it cannot be written.
    """
    root = ElementTree.Element("testsuites", name="otherminds check")
    for found in checked.findings:
        if found.name not in checked.subjects:
            continue
        verdict, name = found.verdict, printable(found.name)
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
        told = f"{words}; its wrong predictions would lose {found.literal.value:.3f}"
        ElementTree.SubElement(case, "system-out").text = told
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
    judged = [found for found in findings if found.name in subjects]
    limit = findings[0].max_regret
    points = [
        (found.name, found.literal.value, found.functional.value, found.functional.value <= limit) for found in findings
    ]
    plot = literal_functional_plots.known_and_lost(points, limit)
    caption = (
        f"What each agent knows and what it loses. Below the line at {limit:g} it passes; left of it, "
        "its predictions are good. An agent above the line on the left knows, and does not act on it."
    )
    words = []
    for found in judged:
        result = "is open" if found.verdict.passed is None else found.verdict.result
        words.append(f"{found.name} {result}: {found.verdict.words}.")
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
    told = [f"Games: {', '.join(game.name for game in plan.games)}; {plan.rounds} rounds with each partner, {times}"]
    told += [f"seed {plan.seed}"]
    told += [f"{one.name} asked by the strategy {one.asking.ways[0]}" for one in speakers]
    if speakers:
        names = asking.names[0] if asking.names else functional_models.NAMES
        told += [f"names of actions {names}", f"shuffled: {asking.shuffle}"]
    return f"{'; '.join(told)}; begun on {begun[:10]}."


def _scores(findings: Sequence[Findings]) -> Html:
    lines = [
        [
            found.name,
            found.verdict.result + (f": {PLACES[found.verdict.breaks]}" if found.verdict.passed is False else ""),
            *(interval(*estimate[:3]) for estimate in (found.functional, found.literal)),
            number(found.gap.value),
            number(found.consistency.value),
            NOTHING if found.unreadable is None else f"{100 * found.unreadable.value:.1f} %",
            f"{100 * found.lost.value:.1f} %",
            number(found.paid.value),
        ]
        for found in findings
    ]
    return table(
        ("Agent", "Verdict", "Loses", "Mispredicts", "Gap", "Consistent", "Unreadable", "Rounds lost", "… cost"),
        lines,
    )


def _beside(findings: Sequence[Findings]) -> Html | str:
    """Losses of agents less those of the reference players, paired by partner."""
    others = [found for found in findings if found.name in BESIDE]
    lines = []
    for found in findings:
        less = [None if other is found else found.less(other) for other in others]
        if any(less):
            lines.append([found.name, *(NOTHING if one is None else interval(*one[:3]) for one in less)])
    return stack(WORDS["beside"], table(("Agent", *(f"Less {one.name}" for one in others)), lines)) if lines else ""


def _ladder(findings: Sequence[Findings]) -> Html | str:
    lines = []
    for found in (found for found in findings if found.rungs):
        told = (found.rungs.get("oracle"), found.rungs.get("oracle_max"))
        losses = (found.functional, *told, found.literal)
        lines.append([found.name, *(number(loss.value if loss else None) for loss in losses)])
    columns = ("Agent", "By itself", "Told", "Told, and what to do with it", "Best response to its predictions")
    return stack(WORDS["ladder"], table(columns, lines)) if lines else ""


def _partners(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    lost: dict[tuple[str, str], list[float]] = {}
    for episode in episodes_of(rows):
        lost.setdefault((episode[-1]["condition"], episode[-1]["subject"]), []).append(plan.share(episode))
    means = {about: number(sum(losses) / len(losses)) for about, losses in lost.items()}
    names = dict.fromkeys(name for name, _ in plan.by_name)
    lines = [[name.replace("/", ": "), *(means[name, found.name] for found in findings)] for name in names]
    return table(("Partner", *(found.name for found in findings)), lines, "What is lost with each partner")


def _worst(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    parts: list[Any] = [WORDS["worst"]]
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


def _replies(said: Sequence[Row]) -> Iterator[str]:
    """The last reply to each question, with the number of replies if there were several."""
    counts = Counter(one["of"] for one in said)
    for of, text in {one["of"]: one["text"] for one in said}.items():
        yield " ".join(text.split())[:SHOWN] + (f" (reply {counts[of]})" if counts[of] > 1 else "")

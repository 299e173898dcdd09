"""The report of a check: verdicts, where each agent breaks, and its worst episodes round by round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.evaluation.tasks import Task
from otherminds.papers.functional.check import Findings, Plan, episodes, worst
from otherminds.papers.functional.experiment import Row
from otherminds.reports import check_plots
from otherminds.reports.page import NOTHING, Html, Page, Section, inline, interval, number, page, stack, table

LEAD = (
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
ROUNDS = 12
SHOWN = 120


def report(
    findings: Sequence[Findings],
    subjects: Sequence[str],
    calls: Sequence[str],
    rows: Sequence[Row],
    plan: Plan,
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
    return page("Check", LEAD, [Section(title, body) for title, body in bodies.items() if body])


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
    return check_plots.known_and_lost(points, findings[0].max_regret)


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


def _partners(findings: Sequence[Findings], rows: Sequence[Row], plan: Plan) -> Html:
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


def _worst(findings: Sequence[Findings], rows: Sequence[Row], plan: Plan) -> Html:
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
        for row in episode[:ROUNDS]
    ]
    columns = ("Round", "Expected", "Partner did", "Did", "Got", *(["Said"] if "said" in episode[0] else []))
    last = episode[-1]
    more = f", the first {ROUNDS} of {len(episode)} rounds" if len(episode) > ROUNDS else ""
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

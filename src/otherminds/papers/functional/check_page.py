"""The page of a check: the verdict beside one picture of all losses, and everything else folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from otherminds.evaluation.asking import Asking
from otherminds.evaluation.store import Row
from otherminds.evaluation.tasks import Task
from otherminds.files.toml import packaged
from otherminds.papers.functional import model_episodes
from otherminds.papers.functional.agents import LanguageAgent
from otherminds.papers.functional.probes import Probe
from otherminds.papers.functional.verdicts import CheckPlan, Findings, worst
from otherminds.reports import literal_functional_plots
from otherminds.reports.page import (
    NOTHING,
    Html,
    Page,
    Section,
    at_two_widths,
    folded,
    interval,
    number,
    page,
    prose,
    safe,
    side_by_side,
    stack,
    table,
)
from otherminds.reports.plots import WIDER

WORDS: Mapping[str, str] = packaged("otherminds.papers.functional", "report.toml")["check"]
ROUNDS_SHOWN = 12  # of an episode; chosen
SHOWN = 120  # characters of a reply; chosen


def check_page(
    findings: Sequence[Findings],
    subjects: Sequence[str],
    calls: Sequence[str],
    rows: Sequence[Row],
    plan: CheckPlan,
    how: str,
    references: Sequence[str] = (),
    people: tuple[float, float] | None = None,
) -> Page:
    """Verdicts beside one picture of all losses; then, folded, scores, habits, partners, episodes and calls.

    `how` says how the check was made; `people` are their lowest and highest mean loss with other partners.
    """
    judged = [finding for finding in findings if finding.name in subjects]
    picture = _picture(findings, subjects, people)
    details = {
        "All scores": stack(WORDS["columns"], _scores(findings)),
        "Habits": _habits(judged or findings),
        "Beside reference players": _beside(findings, references),
        "Told what the partner does": _ladder(findings),
        "Partner by partner": _partners(findings, plan),
        "Worst episodes": _worst(judged or findings, rows, plan),
        "Calls": stack(*calls) if calls else "",
        "How this was measured": stack(how),
    }
    more = stack(*(folded(title, body) for title, body in details.items() if body))
    verdicts = Section("Verdict", side_by_side(prose(*map(_sentence, judged)), picture))
    return page(
        "Check", WORDS["lead"], [verdicts if judged else Section("What is lost", picture), Section("More", more)]
    )


def words_of(finding: Findings) -> str:
    """The verdict on an agent as a sentence without its subject, and what holds for partners like these."""
    verdict, wider = finding.verdict, finding.wider
    sentence = f"{_result(finding)}: {verdict.words}."
    if wider.low < wider.high:
        sentence += (
            f" With {wider.n} other partners like these, it would lose {wider.low:.2f} to {wider.high:.2f} "
            "(95 % interval over partners)."
        )
    return sentence


def _result(finding: Findings) -> str:
    """The verdict as a verb."""
    result = finding.verdict.result
    return {"open": "is open", "not measured": "was not measured"}.get(result, result)


def _sentence(finding: Findings) -> Html:
    """The verdict on an agent as a paragraph; what it is comes first, in bold."""
    bold, evidence = f"{finding.name} {_result(finding)}", words_of(finding).removeprefix(_result(finding))
    return Html(f"<p><strong>{safe(bold)}</strong>{safe(evidence)}</p>")


def _picture(findings: Sequence[Findings], subjects: Sequence[str], people: tuple[float, float] | None) -> Html:
    bars = [
        literal_functional_plots.LossBar(
            finding.name,
            finding.functional,
            finding.unused.value,
            finding.verdict.result if finding.name in subjects else "",
        )
        for finding in findings
    ]
    limit = findings[0].max_regret
    return at_two_widths(
        lambda width: literal_functional_plots.losses(bars, limit, width, people), WIDER, WORDS["picture"]
    )


def how_made(plan: CheckPlan, asking: Asking, speakers: Sequence[LanguageAgent], begun: str) -> str:
    """How a check was made, as a sentence: rounds, passes, seed, how language models were asked, and the day."""
    games = ", ".join(game.name for game in plan.games)
    parts = [
        f"Games: {games}; {plan.rounds} rounds with each partner, in {plan.passes} passes at most",
        f"seed {plan.seed}",
    ]
    parts += [f"{speaker.name} asked by the strategy {speaker.asking.ways[0]}" for speaker in speakers]
    if speakers:
        names = asking.names[0] if asking.names else model_episodes.NAMES
        parts += [f"names of actions {names}", f"shuffled: {asking.shuffle}"]
    return f"{'; '.join(parts)}; begun on {begun[:10]}."


def _scores(findings: Sequence[Findings]) -> Html:
    columns = (
        "Agent",
        "Verdict",
        "Passes",
        "Loses",
        "Of it predicted",
        "Mispredicts",
        "Consistent",
        "Unreadable",
        "Lost",
    )
    lines = [
        [
            finding.name,
            finding.verdict.result,
            finding.passes,
            interval(*finding.functional[:3]),
            number(finding.unused.value),
            interval(*finding.literal[:3]),
            number(finding.consistency.value),
            NOTHING if finding.unreadable is None else _kinds(finding.unreadable),
            f"{number(100 * finding.lost.value, 1)} %",
        ]
        for finding in findings
    ]
    return table(columns, lines)


def _kinds(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{number(100 * share, 1)} % {kind}" for kind, share in shares.items()) or "0 %"


def _habits(findings: Sequence[Findings]) -> Html:
    """How often each agent followed every habit where that is a mistake."""
    lines = [[f"It {same[0].words}", *map(_followed, same)] for same in zip(*(f.probes for f in findings), strict=True)]
    return stack(WORDS["habits"], table(("Habit", *(finding.name for finding in findings)), lines))


def _followed(probe: Probe) -> str:
    if not probe.telling:
        return NOTHING
    share = f"{number(100 * probe.share, 0)} % of {probe.telling:,}"
    return f"habit: {share}" if probe.is_habit else share


def _beside(findings: Sequence[Findings], names: Sequence[str]) -> Html | str:
    """Losses of agents less those of the reference players, paired by partner."""
    references = [finding for finding in findings if finding.name in names]
    lines = []
    for finding in findings:
        less = [None if reference is finding else finding.less(reference) for reference in references]
        if any(less):
            lines.append([finding.name, *(NOTHING if gap is None else interval(*gap[:3]) for gap in less)])
    columns = ("Agent", *(f"Less {reference.name}" for reference in references))
    return stack(WORDS["beside"], table(columns, lines)) if lines else ""


def _ladder(findings: Sequence[Findings]) -> Html | str:
    lines = []
    for finding in (finding for finding in findings if finding.rungs):
        told_losses = (finding.rungs.get("oracle"), finding.rungs.get("oracle_max"))
        losses = (finding.functional, *told_losses, finding.literal)
        lines.append([finding.name, *(number(loss.value if loss else None) for loss in losses)])
    columns = ("Agent", "By itself", "Told", "Told, and what to do with it", "Best response to its predictions")
    return stack(WORDS["ladder"], table(columns, lines)) if lines else ""


def _partners(findings: Sequence[Findings], plan: CheckPlan) -> Html:
    means = [{name: number(fmean(losses)) for name, losses in finding.shares.items()} for finding in findings]
    names = dict.fromkeys(name for name, _ in plan.by_name)
    lines = [[name.replace("/", ": "), *(mean.get(name, NOTHING) for mean in means)] for name in names]
    return table(("Partner", *(finding.name for finding in findings)), lines, "What is lost with each partner")


def _worst(findings: Sequence[Findings], rows: Sequence[Row], plan: CheckPlan) -> Html:
    parts: list[Any] = [WORDS["worst"]]
    for finding in findings:
        for episode in worst([row for row in rows if row["subject"] == finding.name], plan):
            loss, unread = plan.loss(episode), sum(row["action"] is None for row in episode)
            if loss > finding.max_regret or not finding.shares:
                words = f"lost {loss:.2f}" if finding.shares else f"no move in {unread} of {len(episode)} rounds"
                parts.append(_episode(episode, plan.task_of(episode), words))
    return stack(*parts) if len(parts) > 1 else Html("")


def _episode(episode: Sequence[Row], task: Task, result: str) -> Html:
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
    return table(columns, lines, f"{last['subject']} with {task.partner.name} in {task.game.name}: {result}{more}")


def _replies(exchanges: Sequence[Row]) -> Iterator[str]:
    """The last reply to each question, with the number of replies if there were several."""
    counts = Counter(exchange["of"] for exchange in exchanges)
    for of, text in {exchange["of"]: exchange["text"] for exchange in exchanges}.items():
        yield " ".join(text.split())[:SHOWN] + (f" (reply {counts[of]})" if counts[of] > 1 else "")

"""The report on Hypothetical Minds: scores beside the paper's, literal and functional, and single episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.evaluation.plots import BLUE, SOFT, styled
from otherminds.evaluation.report import Html, Section, inline, interval, number, page, stack, table
from otherminds.experiments.hypothetical import SUBJECTS, published, validated
from otherminds.experiments.tables import targets
from otherminds.minds.scenarios import scenario, scenarios
from otherminds.worlds.matrix_files import in_the_matrix

Row = dict[str, Any]
Found = Mapping[tuple[str, str, str], Row]

NAMES = {
    "programs": "Hypotheses",
    "stranger": "… without the partner's",
    "informed": "Knows the partner",
    "last_play": "Answers the last play",
    "uniform": "Plays anything",
    "random": "Walks about",
}
AROUND = 8
LINES = 6
EXAMPLES = ("rws_repeated_4", "pd_repeated_8", "rws_repeated_1")
LEAD = (
    "Somebody the agent has never met follows a strategy of its own. The agent guesses what it is, tests the guess by "
    "what it predicts, and plays the best reply. It knows only what its own window shows: what a partner held in a "
    "meeting is worked out from what was paid."
)
SCORES = (
    "Reward in 1200 steps (cooking: in an episode of 1000), means with 95 % intervals. Bodies are scripted: our "
    "figures compare with each other. The paper's are of GPT-4 against neural bodies, and are here for orientation. "
    "Hypotheses are strategies enumerated with a prior on simplicity, with exact likelihoods; one column has them "
    "without those that are the partner's. Who knows the partner is told its strategy and plans against that alone."
)
LITERAL = (
    "Literal: the share of meetings in which the partner's play was predicted, in all and once the theory had been "
    "validated (its value V ← V + .3 (±1 − V) had reached .7). Functional: what is lost a meeting against the best "
    "policy for the partner's true strategy, when both come with one kind leading by five."
)
PAPER = (
    "Cross et al. 2024, Table 1: five seeds, ± standard errors; HM and the baselines with GPT-4, all against Melting "
    "Pot's bots with neural bodies."
)
AROUND_VALIDATION = (
    "Reward a meeting before and after the theory was validated, running with scissors for two (the paper's Figure 3)."
)


def report(rows: Sequence[Row], summary: Sequence[Row]) -> str:
    """The whole page, from rows and summary alone."""
    found = {(row["condition"], row["subject"], row["metric"]): row for row in summary}
    sections = [
        Section("Scores", stack(SCORES, _scores(found), targets(summary))),
        Section("Literal and functional", stack(LITERAL, _literal(found))),
    ]
    lined_up = _lined_up(rows)
    if lined_up:
        sections.append(Section("Validation", inline(_around(lined_up), AROUND_VALIDATION)))
    episodes = [_episode(name, rows) for name in EXAMPLES]
    sections.append(Section("Single episodes", stack(*(part for part in episodes if part))))
    sections.append(Section("The paper's scores", stack(PAPER, _paper(found))))
    return page("Hypothetical Minds", LEAD, sections)


def _scores(found: Found) -> Html:
    subjects = [subject for subject in SUBJECTS if any(s == subject for _, s, _ in found)]
    lines = []
    for one in scenarios():
        if any((one.id, subject, "score") in found for subject in subjects):
            cells = [_brief(found.get((one.id, subject, "score"))) for subject in subjects]
            lines.append([one.id, *cells, _hm(one.id)])
    return table(("Scenario", *(NAMES[subject] for subject in subjects), "HM (paper)"), lines)


def _hm(name: str) -> str:
    return number(published()[name]["hm"][0], 1) if name in published() else "–"


def _paper(found: Found) -> Html:
    """The paper's table for the scenarios that were played."""
    played = [one for one in scenarios() if one.id in published() and (one.id, "programs", "score") in found]
    lines = [
        [
            one.id,
            one.meaning,
            *(f"{number(mean, 1)} ± {number(error, 1)}" for mean, error in published()[one.id].values()),
        ]
        for one in played
    ]
    return table(("Scenario", "Who is met", "HM", "Reflexion", "ReAct", "PlanReAct", "PPO", "OPRE"), lines)


def _brief(row: Row | None) -> str:
    return "–" if row is None else interval(row["value"], row["low"], row["high"], 0)


def _literal(found: Found) -> Html:
    lines = []
    for one in scenarios():
        if (one.id, "programs", "literal") in found:
            metrics = ("literal", "literal_validated", "validated", "regret", "of_informed")
            mine = [found.get((one.id, "programs", metric)) for metric in metrics]
            regrets = [found.get((one.id, subject, "regret")) for subject in ("stranger", "uniform")]
            lines.append([one.id, *(None if r is None else number(r["value"]) for r in (*mine, *regrets))])
    columns = ("Predicted", "… once validated", "Validated", "Regret", "Share of the informed score")
    return table(("Scenario", *columns, "Regret without its hypothesis", "Regret of playing anything"), lines)


def _lined_up(rows: Sequence[Row]) -> dict[int, list[float]]:
    """Rewards of meetings by how long before or after the validation they were."""
    found: dict[int, list[float]] = {}
    episodes: dict[tuple[str, str], list[tuple[Row, bool]]] = {}
    mine = [row for row in rows if row["subject"] == "programs" and row["condition"].startswith("rws_repeated")]
    for condition in dict.fromkeys(row["condition"] for row in mine):
        for row, valid in validated([row for row in mine if row["condition"] == condition]):
            episodes.setdefault((condition, row["episode"]), []).append((row, valid))
    for meetings in episodes.values():
        first = next((i for i, (_, valid) in enumerate(meetings) if valid), None)
        for i, (row, _) in enumerate(meetings):
            if first is not None and abs(i - first) <= AROUND:
                found.setdefault(i - first, []).append(row["reward"])
    return found


@styled
def _around(lined_up: Mapping[int, Sequence[float]]) -> Figure:
    figure = Figure(figsize=(6.0, 2.8), layout="constrained")
    axes = figure.subplots()
    at = sorted(lined_up)
    means = [sum(lined_up[i]) / len(lined_up[i]) for i in at]
    axes.plot(at, means, "o-", color=BLUE, markersize=4, linewidth=1.2)
    axes.axvline(0, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axhline(0, color=SOFT, linewidth=0.6)
    axes.set(xlabel="meetings before and after validation", ylabel="reward a meeting")
    return figure


def _episode(name: str, rows: Sequence[Row]) -> Html | None:
    """The first episode of a scenario: what was thought of the partner before each meeting, and what happened."""
    mine = [row for row in rows if (row["condition"], row["subject"]) == (name, "programs")]
    meetings = [row for row in mine if row["episode"] == mine[0]["episode"] and "hypotheses" in row]
    if not meetings:
        return None
    met = ", ".join(next(row["bots"] for row in mine if "bots" in row))
    kinds = in_the_matrix(scenario(name).substrate).rules.resources
    lines = [
        [row["t"], *row["hypotheses"][0], kinds[_mode(row)], _held(row["theirs"]), _held(row["own"]), row["reward"]]
        for row in meetings
    ]
    columns = ("Step", "Likeliest hypothesis", "Probability", "Expected", "Partner held", "Own", "Reward")
    return stack(table(columns, lines, f"{name}, with {met}"), inline(_beliefs(meetings), f"{name}: what was thought"))


def _mode(row: Row) -> int:
    expected: list[float] = row["expected"]
    return expected.index(max(expected))


def _held(inventory: Sequence[int]) -> str:
    return " ".join(map(str, inventory))


@styled
def _beliefs(meetings: Sequence[Row]) -> Figure:
    """The probabilities of the hypotheses that were ever likeliest, before each meeting."""
    names = list(dict.fromkeys(row["hypotheses"][0][0] for row in meetings))[:LINES]
    figure = Figure(figsize=(7.0, 2.6), layout="constrained")
    axes = figure.subplots()
    for name in names:
        axes.plot(range(1, len(meetings) + 1), [dict(row["hypotheses"]).get(name, 0.0) for row in meetings], label=name)
    axes.set(xlabel="meeting", ylabel="probability", ylim=(0, 1.05))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7)
    return figure

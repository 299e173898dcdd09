"""The report of `reproduce people`, from rows and summary alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from otherminds.evaluation.model_comparison import Recognition, Recovery
from otherminds.files.toml import packaged
from otherminds.papers.people.datasets import BOTS, STRATEGIES
from otherminds.papers.people.experiment import BLOCKS
from otherminds.reports.page import Html, Page, Section, at_two_widths, inline, number, page, stack, table
from otherminds.reports.people_page import (
    CONFUSION,
    RECOGNITION_COLUMNS,
    RECOGNITION_WORDS,
    RECOVERY_COLUMNS,
    RECOVERY_WORDS,
    SCATTER,
    WIDE,
    recognition_lines,
    recovery_lines,
)
from otherminds.reports.people_plots import confusion_matrix, scatter, shares
from otherminds.reports.plots import BLUE, SMALL, SOFT, styled, with_axes
from otherminds.reports.results import RowsByKey, by_key, cell

Row = Mapping[str, Any]
WORDS = packaged("otherminds.papers.people", "report.toml")
NAMES: Mapping[str, str] = WORDS["bots"]
SUBJECTS: Mapping[str, str] = WORDS["subjects"]
COLOURS = {"people": BLUE, "rmax": "#009e73", "bayes": "#d55e00", "posterior_sampling": "#cc79a7"}
USUAL = "bayes"  # the player if none is named


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The whole page."""
    estimates = by_key(summary)
    bodies = {
        "People on the scoreboard": _scoreboard(estimates),
        "Which mind describes them": _best_minds(estimates, "rps", NAMES),
        "Prisoner’s dilemma: strategies": _strategies(estimates),
        "Prisoner’s dilemma: all minds": _best_minds(estimates, "ipd", {t: t for t in _groups(estimates, "ipd")}),
        "Language models, as recorded": _models(estimates),
        "Recovery": _recovery(rows),
        "What was chosen": _prior_widths(estimates),
    }
    return page(WORDS["title"], WORDS["lead"], [Section(title, body) for title, body in bodies.items() if body])


def _groups(estimates: RowsByKey, kind: str) -> list[str]:
    starts = f"{kind}/"
    return sorted({condition.removeprefix(starts) for condition, *_ in estimates if condition.startswith(starts)})


def _scoreboard(estimates: RowsByKey) -> Html:
    """The loss of people and players with each bot: late in the match, of the best tenth, and by block of rounds."""
    lines = [
        (
            NAMES[bot],
            *(cell(estimates.get((f"rps/{bot}", subject, "loss"))) for subject in SUBJECTS),
            cell(estimates.get((f"rps/{bot}", "people", "loss_best_tenth"))),
        )
        for bot in BOTS
    ]
    models = sorted({subject for _, subject, _ in estimates if subject.startswith("lm:")})
    blocks = [("people", f"loss_block_{block}") for block in BLOCKS]
    blocks += [(subject, "loss_block_first_30") for subject in (USUAL, *models)]
    by_block = [
        [name, *(cell(estimates.get((f"rps/{bot}", *block))) for block in blocks)]
        for bot, name in {**NAMES, "all": "all seven"}.items()
    ]
    spans = (f"people, {first_round}–{last_round}" for first_round, last_round in BLOCKS.values())
    columns = ("Bot", *spans, *(f"{SUBJECTS.get(subject, subject)}, 1–30" for subject in (USUAL, *models)))
    return stack(
        WORDS["scale"],
        table(("Bot", *SUBJECTS.values(), "People, best tenth"), lines, "Loss in rounds 201–300."),
        at_two_widths(
            partial(losses, estimates), WIDE, "Loss in rounds 201–300 with 95 % intervals, of people by person."
        ),
        table(columns, by_block, "Loss by rounds."),
    )


def _best_minds(estimates: RowsByKey, kind: str, names: Mapping[str, str]) -> Html:
    """The mind that predicts people best, and the one that describes most of them, for each group of people.

    `kind` is rps or ipd; `names` has the groups with their names in the table.
    """
    lines = []
    by_group = {}
    for group, name in names.items():
        minds = [
            subject
            for condition, subject, metric in estimates
            if (condition, metric) == (f"{kind}/{group}", "held_out")
        ]
        if not minds:
            continue
        by_mind = {mind: {m: estimates.get((f"{kind}/{group}", mind, m)) for m in METRICS} for mind in minds}
        by_group[name] = {mind: _value(by_mind[mind]["share"]) for mind in minds}
        best = max(minds, key=lambda mind: _value(by_mind[mind]["held_out"]))
        most_frequent = max(minds, key=lambda mind: _value(by_mind[mind]["exceedance"]))
        literal = by_mind[best]["literal_of_fit"]
        lines.append(
            [
                name,
                best,
                cell(by_mind[best]["held_out"], 3),
                most_frequent,
                number(_value(by_mind[most_frequent]["exceedance"])),
                number(_value(by_mind[most_frequent]["protected"])),
                cell(literal) if literal else "–",
            ]
        )
    if not lines:
        return Html("")
    columns = (
        "With",
        "Best held out",
        "Nats a choice",
        "Most frequent",
        "Exceedance",
        "Protected",
        "Predicts (estimated)",
    )
    caption = "Expected shares of people described best by each mind, on held-out choices."
    picture = at_two_widths(partial(shares, by_group), WIDE, caption)
    return stack(WORDS["minds"], table(columns, lines), picture)


METRICS = ("held_out", "exceedance", "protected", "share", "literal_of_fit")


def _value(row: Row | None) -> float:
    return float("-inf") if row is None else float(row["value"])


def _strategies(estimates: RowsByKey) -> Html:
    """The shares of the six strategies in each treatment, with the published shares below where there are any."""
    lines = []
    for treatment in _groups(estimates, "ipd"):
        rows = [estimates.get((f"ipd/{treatment}", name, "strategy_share")) for name in STRATEGIES]
        lines.append([treatment, *map(cell, rows), cell(estimates.get((f"ipd/{treatment}", "mixture", "tremble")))])
        if all(row and "published" in row for row in rows):
            lines.append(["stratEst", *(number(row["published"]) for row in rows if row), ""])
    return stack(WORDS["mixture"], table(("Treatment", *STRATEGIES, "Tremble"), lines))


def _models(estimates: RowsByKey) -> Html:
    """Regret and loss of each recorded language model by game and partner."""
    games = WORDS["games"]
    lines = []
    for (condition, subject, metric), row in estimates.items():
        kind, _, place = condition.partition("/")
        game, _, partner = place.partition("/")
        if kind == "llm" and metric == "functional_regret_exact":
            lost = estimates.get((condition, subject, "loss"))
            lines.append((games[game], partner, subject, cell(row), cell(lost) if lost else "–"))
    columns = ("Game", "Partner", "Model", "Regret a round", "Loss")
    return stack(WORDS["models"], table(columns, sorted(lines))) if lines else Html("")


def _recovery(rows: Sequence[Row]) -> Html:
    """How well parameters and minds are told from simulated people, for each data set."""
    bodies: list[str] = []
    for kind in ("rps", "ipd"):
        own = [row for row in rows if row["condition"] == f"recovery/{kind}"]
        parameters = [row for row in own if row["kind"] == "recovery"]
        recovered = [
            Recovery(
                *(row["mind"], row["parameter"], np.array(row["true"]), np.array(row["fitted"])),
                *(row["error"], row["rival"], row["rho"]),
            )
            for row in parameters
        ]
        by_mind = {row["subject"]: row for row in own if row["kind"] == "recognition"}
        if not by_mind:
            continue
        names = list(by_mind)
        recognitions = [
            Recognition(_ordered(row["person"], names), _ordered(row["group"], names), row["nearest"], row["ahead"])
            for row in by_mind.values()
        ]
        longer = [number(row["longer"]) for row in parameters]
        lines = [(*line, more) for line, more in zip(recovery_lines(recovered), longer, strict=True)]
        matrix = np.stack([recognition.by_person for recognition in recognitions])
        bodies += [
            f"{WORDS['data'][kind]}:",
            table((*RECOVERY_COLUMNS, "r with ten times the matches"), lines),
            at_two_widths(partial(scatter, recovered), WIDE, SCATTER),
            table(RECOGNITION_COLUMNS, recognition_lines(names, recognitions)),
            Html(f'<div class="table">{inline(confusion_matrix(matrix, names), CONFUSION)}</div>'),
        ]
    return stack(WORDS["recovery"], RECOVERY_WORDS, RECOGNITION_WORDS, *bodies) if bodies else Html("")


def _ordered(by_mind: Mapping[str, float], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([by_mind[name] for name in names])


def _prior_widths(estimates: RowsByKey) -> Html:
    """The held-out likelihood of each width of the prior, on the half it was chosen on and on the other half."""
    widths = list(dict.fromkeys(subject for condition, subject, _ in estimates if condition.startswith("prior/")))
    places = [(f"prior/{data}", half) for data in WORDS["data"] for half in ("chosen_on", "checked_on")]
    lines = [
        [width, *(number(_value(estimates.get((where, width, half))), 4) for where, half in places)] for width in widths
    ]
    columns = ("Prior N(0, sd²)", *(f"{where.partition('/')[2]}, {half.replace('_', ' ')}" for where, half in places))
    return stack(WORDS["chosen"], table(columns, lines, WORDS["chosen_caption"])) if lines else Html("")


@styled
def losses(estimates: RowsByKey, width: float) -> Figure:
    """Loss in the last block by bot, of people and players, with intervals."""
    figure, axes = with_axes(width, 4.4)
    axes.axvline(0.0, color=SOFT, linewidth=0.7)
    axes.axvline(1.0, color=SOFT, linewidth=0.7, linestyle="--")
    for y, bot in enumerate(BOTS):
        for i, (subject, colour) in enumerate(COLOURS.items()):
            row = estimates.get((f"rps/{bot}", subject, "loss"))
            if row is None:
                continue
            height = y + 0.2 * (i - 1.5)
            axes.plot([row["low"], row["high"]], [height, height], color=colour, linewidth=1.4)
            axes.plot(row["value"], height, "o", color=colour, markersize=4, label=SUBJECTS[subject] if not y else None)
    axes.set_yticks(range(len(BOTS)), [NAMES[bot] for bot in BOTS], fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_xlabel("loss: 0 best, 1 random")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=SMALL)
    return figure

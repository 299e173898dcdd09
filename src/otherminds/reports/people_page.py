"""The pages and rows of fits of minds to people: parameters, fitted curves, comparisons, recovery."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from otherminds.errors import shortened
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import Fit, Fitted
from otherminds.evaluation.model_comparison import (
    Comparison,
    Partners,
    Predictive,
    Recognition,
    Recovery,
    behaviour,
    predicted_behaviour,
)
from otherminds.evaluation.statistics import ratio, student
from otherminds.files.text import printable
from otherminds.mind import ParametricMind
from otherminds.reports.page import NOTHING, Html, Page, Section, inline, interval, number, page, stack, table
from otherminds.reports.plots import BLUE, LONGEST, SOFT, WIDER, WIDTH, styled, with_axes

Floats = NDArray[np.float64]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7d838b")
# 32 shades: matplotlib would draw a scale of 50 or more as an image, which pages do not load
SHADES = matplotlib.colormaps["cividis"].resampled(32)
BLOCKS, SHORTEST = 6, 4  # most blocks of a match in posterior predictive checks, and fewest rounds of a block
FEW = 5  # people from which intervals over people say something; chosen
PRIOR = "Minds are compared by fits with a weak prior, so these BIC are not those of `otherminds fit`, which has none."
MOST_SHOWN = 60  # people in a table of parameters; the JSON has all
ORANGE = "#d55e00"


# Rows


def as_json(fitted: Fitted) -> dict[str, Any]:
    """A fit as JSON: parameters with errors and intervals, likelihoods and criteria of every unit."""
    fit = fitted.fit
    units = []
    for i, unit in enumerate(fit.units):
        estimates = {}
        for name, values in fit.values.items():
            estimates[name] = {"value": float(values[i]), "error": _finite(fit.errors[name][i])}
            if fitted.profile is not None:
                estimates[name] |= {"low": float(fitted.profile[name][i, 0]), "high": float(fitted.profile[name][i, 1])}
        criteria = {"aic": float(fit.aic[i]), "bic": float(fit.bic[i]), "evidence": _finite(fit.evidence[i])}
        likelihood = {"unit": unit, "choices": int(fit.choices[i]), "log_likelihood": float(fit.log_likelihood[i])}
        units.append(likelihood | criteria | {"parameters": estimates})
    return {"mind": fit.mind.name, "units": units}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def comparison_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """One row for each group (and all people) and mind, the best of a group first."""
    rows = []
    groups = tuple(dict.fromkeys(comparison.choices.groups))
    for group in (None, *(groups if len(groups) > 1 else ())):
        members = [n for n, name in enumerate(comparison.choices.groups) if group in (None, name)]
        effects = comparison.over(group)
        scores = comparison.per_choice(group)
        bic = np.array([fit.bic[members].sum() for fit in comparison.fits])
        aic = np.array([fit.aic[members].sum() for fit in comparison.fits])
        for m in sorted(range(len(comparison.minds)), key=lambda m: -scores[m].value):
            about = {"group": group or "all", "people": len(members), "mind": comparison.minds[m].name}
            score = {"per_choice": scores[m].value, "low": scores[m].low, "high": scores[m].high}
            criteria = {"delta_bic": float(bic[m] - bic.min()), "delta_aic": float(aic[m] - aic.min())}
            shares = {"share": float(effects.shares[m]), "exceedance": float(effects.exceedance[m])}
            protected = {"protected": float(effects.protected[m]), "risk": effects.risk}
            rows.append(about | score | criteria | shares | protected)
    return rows


def parameter_summary(fitted: Fitted) -> Iterator[tuple[str, ...]]:
    """Lines of a table: unit, parameter, value with its interval; by person the mean and spread over people."""
    fit = fitted.fit
    for name, values in fit.values.items():
        if fitted.profile is None:
            over, (parameter,) = student(values.tolist()), (p for p in fit.mind.parameters if p.name == name)
            yield (
                f"{len(values)} people",
                name,
                interval(over.value, max(over.low, parameter.low), min(over.high, parameter.high)),
                number(float(values.std(ddof=1)) if len(values) > 1 else None),
            )
        else:
            for i, unit in enumerate(fit.units):
                low, high = fitted.profile[name][i]
                yield (unit, name, interval(float(values[i]), low, high), number(_finite(fit.errors[name][i])))


# Pages


def fit_page(data: str, choices: Choices, fits: Sequence[Fitted], partners: Partners | None) -> Page:
    """The page of `fit`: a section for each mind, with its parameters, and its curves over the data."""
    lead = (
        f"{len(choices.people)} people, {int(choices.scored.sum()):,} choices of {data}. The likelihood is the product "
        "of the probabilities that the mind gives to each choice after all that the person had seen by then."
    )
    sections = []
    for fitted in fits:
        fit = fitted.fit
        by_person = fitted.profile is None
        columns = (
            "Unit",
            "Parameter",
            "Mean [95 %]" if by_person else "Value [95 %, profile]",
            "SD" if by_person else "SE",
        )
        total, aic, bic = (number(float(per_unit.sum()), 1) for per_unit in (fit.log_likelihood, fit.aic, fit.bic))
        words = (
            f"{fit.mind.about.capitalize()}. Log likelihood {total}, AIC {aic}, BIC {bic}, "
            f"summed over {len(fit.units)} fits {how_fitted(fit)}."
        )
        parts = [words, table(columns, list(parameter_summary(fitted)))] if fit.mind.parameters else [words]
        if by_person and fit.mind.parameters:
            parts.append(
                inline(parameters_by_group(fit, choices), "Each person’s parameters, by group; bars are medians.")
            )
        if by_person:
            parts.append(inline(*_behaviour_figure(fit, choices, partners)))
            parts.append(_table_by_person(fit))
        sections.append(Section(printable(fit.mind.name), stack(*parts)))
    return page("Minds fitted to people", lead, sections)


def _table_by_person(fit: Fit) -> Html:
    """A table of the people with their likelihoods and parameters, the first MOST_SHOWN of them."""
    lines = [
        (
            unit,
            int(fit.choices[i]),
            number(float(fit.log_likelihood[i]), 1),
            *(f"{number(float(v[i]))} ± {number(_finite(fit.errors[n][i]))}" for n, v in fit.values.items()),
        )
        for i, unit in enumerate(fit.units[:MOST_SHOWN])
    ]
    more = f" The first {MOST_SHOWN} of {len(fit.units)}; --json has all." if len(fit.units) > MOST_SHOWN else ""
    has_gaps = any(np.isnan(errors[: len(lines)]).any() for errors in fit.errors.values())
    dash = " A dash: none, as the value is at a bound, or the likelihood flat." if has_gaps else ""
    caption = f"By person: value ± standard error.{dash}{more}"
    return table(("Person", "Choices", "Log likelihood", *fit.mind.names), lines, caption)


def _behaviour_figure(fit: Fit, choices: Choices, partners: Partners | None) -> tuple[Figure, str]:
    """The figure of `curves` for the first eight groups, and its caption."""
    replayed = "" if partners else " The partner’s recorded moves were played again."
    groups = tuple(dict.fromkeys(choices.groups))[:8]
    blocks = max(1, min(BLOCKS, choices.own.shape[1] // SHORTEST))
    rng = np.random.default_rng(0)
    pairs = {}
    for group in groups:
        members = np.array([n for n, name in enumerate(choices.groups) if name == group])
        observed = choices.subset(members)
        group_fit = fit.of_units(members)
        pairs[group] = behaviour(observed, blocks), predicted_behaviour(group_fit, observed, blocks, rng, partners)
    caption = (
        "Share of rounds in which people change their action, and points a round, in blocks of rounds: people (solid) "
        f"and people simulated with the fitted parameters (dashed).{replayed}"
    )
    return curves(pairs), caption


def comparison_page(data: str, comparison: Comparison, partners: Partners | None) -> Page:
    """The page of `otherminds compare`: the best minds, results by person and group, and a check of the best mind."""
    rows = comparison_rows(comparison)
    groups = tuple(dict.fromkeys(row["group"] for row in rows))
    lead = (
        f"{len(comparison.minds)} minds, {len(comparison.choices.people)} people of {data}. Minds are compared by the "
        "log likelihood of choices that they were not fitted to, and over people by random effects: each person has "
        "one of the minds."
    )
    overall = [row for row in rows if row["group"] == "all"]
    names = [mind.name for mind in comparison.minds]
    sections = [
        Section("Best minds", stack(winner(comparison), _comparison_table(overall))),
        Section(
            "ΔBIC",
            inline(
                delta_bic(overall), f"BIC above that of the best mind, summed over people. Lower is better. {PRIOR}"
            ),
        ),
        Section(
            "Who does what",
            inline(
                responsibilities(comparison.over().responsibilities, names),
                "Each column is a person: the probability that each mind is hers, given the shares in all people.",
            ),
        ),
    ]
    if len(groups) > 1:
        group_names = groups[1:]
        by_group = {group: {r["mind"]: r["share"] for r in rows if r["group"] == group} for group in group_names}
        best = [next(row for row in rows if row["group"] == group) for group in group_names]
        lines = [(r["group"], r["people"], r["mind"], number(r["exceedance"]), number(r["protected"])) for r in best]
        columns = ("Group", "People", "Best mind", "Exceedance", "Protected")
        sections.append(
            Section("By group", stack(table(columns, lines), inline(shares(by_group), "Expected shares of minds.")))
        )
    best_fit = comparison.fits[names.index(overall[0]["mind"])]
    sections.append(
        Section("Check of the best mind", inline(*_behaviour_figure(best_fit, comparison.choices, partners)))
    )
    return page("Minds compared on people", lead, sections)


def how_fitted(fit: Fit) -> str:
    """What the fits of `otherminds fit` are, in words: their BIC depends on it."""
    return "by maximum likelihood, without a prior" if np.isnan(fit.evidence).all() else "with partial pooling"


def winner(comparison: Comparison) -> str:
    """Whether the mind that predicts best is ahead of the next, in words."""
    scores = comparison.held_out.sum(axis=0)
    counted = comparison.held_out_choices.tolist()
    if len(scores) < 2:
        return ""
    best, second = (comparison.minds[m].name for m in np.argsort(-scores)[:2])
    ahead = ratio(
        (comparison.held_out[:, scores.argmax()] - comparison.held_out[:, np.argsort(-scores)[1]]).tolist(), counted
    )
    words = f"{best} predicts best, ahead of {second} by {interval(*ahead[:3], 3)} nats a choice. "
    if len(counted) < FEW:
        return words + f"{len(counted)} people are too few to say whether that holds for others."
    sure = ahead.low > 0.0
    return words + ("Zero is outside the interval." if sure else "Zero is inside: these data do not tell them apart.")


def _comparison_table(rows: Sequence[Mapping[str, Any]]) -> Html:
    """A table of the minds from rows of `comparison_rows`."""
    lines = [
        (
            r["mind"],
            interval(r["per_choice"], r["low"], r["high"], 3),
            number(r["delta_bic"], 0),
            number(r["share"]),
            number(r["exceedance"]),
            number(r["protected"]),
        )
        for r in rows
    ]
    columns = ("Mind", "Held out, nats a choice", "ΔBIC", "Share", "Exceedance", "Protected")
    return table(columns, lines, "Brackets are bootstrap intervals over people.")


Recovered = tuple[list[Recovery], Recognition]


def recovery_rows(minds: Sequence[ParametricMind], recoveries: Sequence[Recovered]) -> dict[str, Any]:
    """Recovery as JSON: parameters with correlations and errors, and for each mind what its people are taken for."""
    names = [mind.name for mind in minds]
    parameters = [
        {
            "mind": diagnostics.mind,
            "parameter": diagnostics.parameter,
            "r": diagnostics.r,
            "error": diagnostics.error,
            "rival": diagnostics.rival,
            "rho": diagnostics.rho,
        }
        for recovered, _ in recoveries
        for diagnostics in recovered
    ]
    mind_rows = [
        {
            "mind": name,
            "people": dict(zip(names, diagnostics.by_person.tolist(), strict=True)),
            "groups": dict(zip(names, diagnostics.by_group.tolist(), strict=True)),
            "nearest": diagnostics.nearest,
            "ahead": diagnostics.ahead,
        }
        for name, (_, diagnostics) in zip(names, recoveries, strict=True)
    ]
    return {"parameters": parameters, "minds": mind_rows}


def recovery_lines(recovered: Sequence[Recovery]) -> list[tuple[str, ...]]:
    """Lines of a table with the columns RECOVERY_COLUMNS, one for each parameter."""
    return [
        (
            recovery.mind,
            recovery.parameter,
            number(recovery.r),
            number(recovery.error),
            f"{recovery.rival} {number(recovery.rho)}" if recovery.rival else NOTHING,
        )
        for recovery in recovered
    ]


def recognition_lines(names: Sequence[str], recognitions: Sequence[Recognition]) -> list[tuple[str, ...]]:
    """Lines of a table with the columns RECOGNITION_COLUMNS, one for each mind."""
    return [
        (
            name,
            number(recognition.by_person[i]),
            number(recognition.by_group[i]),
            f"{recognition.nearest} by {number(recognition.ahead, 1)}" if recognition.nearest != name else NOTHING,
        )
        for i, (name, recognition) in enumerate(zip(names, recognitions, strict=True))
    ]


RECOVERY_COLUMNS = ("Mind", "Parameter", "r", "Error ÷ spread", "Trades off with")
RECOGNITION_COLUMNS = ("Simulated by", "People", "Groups", "Ahead of the nearest, nats")
RECOVERY_WORDS = (
    "r is the correlation of true and fitted values over people; a parameter with r below .9 is to be interpreted with "
    "care, one far below it not at all. Two reasons can be read off the curvature of the likelihood. If the error (the "
    "median standard error under the weak prior) is not small beside the spread of the true values, there are too few "
    "choices. If the correlation with another parameter is near −1 or 1, only a combination of the two is known."
)
RECOGNITION_WORDS = (
    "Shares of simulated people for whom their own mind has the highest evidence (Laplace’s approximation under the "
    "weak prior), and of groups in which its share of people is the largest (random effects). The last column says how "
    "far the true mind is ahead of the nearest other one for the median person. By less than 3 nats (a Bayes factor of "
    "20), one person’s choices cannot tell the two apart."
)


def recovery_page(data: str, minds: Sequence[ParametricMind], recoveries: Sequence[Recovered]) -> Page:
    """The page of `otherminds recover`: how well parameters are recovered, and which minds are confused."""
    names = [mind.name for mind in minds]
    lead = f"Simulated people in the place of those of {data}: the same numbers of people, rounds and partners."
    recovered = [r for part, _ in recoveries for r in part]
    recognitions = [part for _, part in recoveries]
    parameters = [RECOVERY_WORDS, table(RECOVERY_COLUMNS, recovery_lines(recovered))]
    if recovered:
        parameters.append(inline(scatter(recovered), "Fitted over true values; a point is a simulated person."))
    matrix = np.stack([r.by_person for r in recognitions])
    picture = inline(confusion_matrix(matrix, names), CONFUSION)
    recognition_table = table(RECOGNITION_COLUMNS, recognition_lines(names, recognitions))
    sections = [
        Section("Parameters", stack(*parameters)),
        Section("Minds", stack(RECOGNITION_WORDS, recognition_table, Html(f'<div class="table">{picture}</div>'))),
    ]
    return page("Recovery", lead, sections)


CONFUSION = "Share of the people simulated by the row’s mind for whom the column’s mind has the highest evidence."


# Figures


@styled
def parameters_by_group(fit: Fit, choices: Choices) -> Figure:
    """Each person's value of each parameter, by group."""
    groups = list(dict.fromkeys(choices.groups))
    figure = Figure(figsize=(WIDTH, 0.5 + (0.5 + 0.2 * len(groups)) * len(fit.mind.parameters)))
    panels = figure.subplots(len(fit.mind.parameters), 1, squeeze=False)[:, 0]
    rng = np.random.default_rng(0)
    for axes, (name, values) in zip(panels, fit.values.items(), strict=True):
        for y, group in enumerate(groups):
            points = np.array([v for v, g in zip(values, choices.groups, strict=True) if g == group])
            size = 3 if len(points) > MOST_SHOWN else 6
            axes.plot(points, y + rng.uniform(-0.25, 0.25, len(points)), ".", color=BLUE, markersize=size, alpha=0.5)
            axes.plot([np.median(points)] * 2, [y - 0.35, y + 0.35], color=ORANGE, linewidth=1.5)
        axes.set_yticks(range(len(groups)), [_short(group) for group in groups], fontsize=7)
        axes.invert_yaxis()
        axes.set_xlabel(name)
    return figure


@styled
def curves(pairs: Mapping[str, tuple[Predictive, Predictive]]) -> Figure:
    """Switch rates and earnings by block, of people (solid) and of simulated people (dashed), by group."""
    figure = Figure(figsize=(WIDTH, 4.2))
    for axes, quantity, label in zip(
        figure.subplots(2, 1, sharex=True), ("switches", "earned"), ("switch rate", "points a round"), strict=True
    ):
        for i, (group, (people, simulated)) in enumerate(pairs.items()):
            colour = COLOURS[i % len(COLOURS)]
            blocks = range(1, len(people.switches) + 1)
            axes.plot(
                blocks, getattr(people, quantity), "o-", color=colour, markersize=3, linewidth=1.2, label=_short(group)
            )
            axes.plot(blocks, getattr(simulated, quantity), "--", color=colour, linewidth=1.2)
        axes.set_ylabel(label)
    axes.set_xlabel("block of rounds")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(pairs) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False, fontsize=6.5)
    return figure


@styled
def delta_bic(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Bars of BIC differences from the best mind, smallest first."""
    ranked = sorted(rows, key=lambda row: float(row["delta_bic"]))
    figure, axes = with_axes(WIDTH, 0.6 + 0.22 * len(ranked))
    axes.barh([_short(r["mind"]) for r in ranked], [r["delta_bic"] for r in ranked], color=BLUE, height=0.65)
    axes.invert_yaxis()
    axes.set_xlabel("ΔBIC")
    axes.tick_params(axis="y", length=0, labelsize=7)
    return figure


@styled
def responsibilities(probabilities: Floats, names: Sequence[str]) -> Figure:
    """P(mind | person), people sorted by their most probable mind."""
    order = np.lexsort((-probabilities.max(axis=1), probabilities.argmax(axis=1)))
    figure, axes = with_axes(WIDTH, 0.8 + 0.2 * len(names))
    edges = np.arange(probabilities.shape[0] + 1), np.arange(len(names) + 1)
    mesh = axes.pcolormesh(
        *edges, probabilities[order].T, cmap=SHADES, vmin=0.0, vmax=1.0, edgecolors="face", linewidth=0.2
    )
    axes.set_yticks(np.arange(len(names)) + 0.5, [_short(name) for name in names], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("people")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _colour_bar(figure, mesh, axes, "probability")
    return figure


@styled
def shares(by_group: Mapping[str, Mapping[str, float]]) -> Figure:
    """Expected shares of minds in each group, as stacked bars; minds below 5 % everywhere are together."""
    minds = list(dict.fromkeys(mind for share_of in by_group.values() for mind in share_of))
    largest = sorted(minds, key=lambda mind: -sum(share_of[mind] for share_of in by_group.values()))[: len(COLOURS) - 1]
    figure, axes = with_axes(WIDTH, 1.1 + 0.26 * len(by_group))
    groups = list(by_group)
    ends = np.zeros(len(by_group))
    for i, mind in enumerate([*largest, *(["others"] if len(minds) > len(largest) else [])]):
        if mind == "others":
            widths = np.array([1.0 - sum(share_of[m] for m in largest) for share_of in by_group.values()])
        else:
            widths = np.array([share_of[mind] for share_of in by_group.values()])
        axes.barh([_short(g) for g in groups], widths, left=ends, color=COLOURS[i], height=0.7, label=_short(mind))
        ends += widths
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of people")
    axes.tick_params(axis="y", length=0, labelsize=7)
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=6.5)
    return figure


@styled
def confusion_matrix(matrix: Floats, names: Sequence[str]) -> Figure:
    """Shares of simulated people by true (row) and best (column) mind."""
    size = len(names)
    figure, axes = with_axes(max(WIDTH, 1.8 + 0.3 * size), 2.0 + 0.3 * size)
    mesh = axes.pcolormesh(matrix, cmap=SHADES, vmin=0.0, vmax=1.0, edgecolors="face", linewidth=0.3)
    for i, j in np.ndindex(matrix.shape):
        if matrix[i, j] >= 0.005:
            ink = "white" if matrix[i, j] < 0.6 else "black"
            axes.text(
                j + 0.5, i + 0.5, f"{matrix[i, j]:.2f}".lstrip("0"), ha="center", va="center", fontsize=6, color=ink
            )
    axes.set_yticks(np.arange(size) + 0.5, [_short(name) for name in names], fontsize=7)
    axes.set_xticks(np.arange(size) + 0.5, [_short(name) for name in names], fontsize=7, rotation=60, ha="right")
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.tick_params(length=0)
    axes.set_ylabel("simulated by")
    axes.set_xlabel("best")
    _colour_bar(figure, mesh, axes, "share of people")
    return figure


@styled
def scatter(recovered: Sequence[Recovery]) -> Figure:
    """Fitted over true values, a panel for each parameter."""
    across = 2
    down = -(-len(recovered) // across)
    figure = Figure(figsize=(WIDER, 1.9 * down))
    panels = figure.subplots(down, across, squeeze=False)
    for axes in panels.flat[len(recovered) :]:
        axes.set_visible(False)
    for axes, recovery in zip(panels.flat, recovered, strict=False):
        ends = float(recovery.true.min()), float(recovery.true.max())
        axes.plot(ends, ends, color=SOFT, linewidth=0.7)
        axes.plot(recovery.true, recovery.fitted, ".", color=BLUE, markersize=3, alpha=0.6)
        axes.set_title(
            f"{_short(recovery.mind)}: {recovery.parameter}, r = {number(recovery.r)}", fontsize=7, loc="left"
        )
        axes.tick_params(labelsize=7)
    return figure


def _colour_bar(figure: Figure, mesh: Any, axes: Axes, label: str) -> None:
    """Add the scale of the colours of `mesh` below the axes."""
    bar = figure.colorbar(mesh, ax=axes, location="bottom", shrink=0.6, aspect=30)
    bar.set_label(label, fontsize=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7)


def _short(name: str) -> str:
    return shortened(printable(name), LONGEST + 6)

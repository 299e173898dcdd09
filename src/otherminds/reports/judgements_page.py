"""The page of a model's predictions beside people's judgements; its words and lines are those of the terminal too."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from otherminds.evaluation.judgements import FEWEST, JudgementFit
from otherminds.reports.page import Page, Section, at_two_widths, interval, number, page, stack, table
from otherminds.reports.people_plots import BESIDE, ORANGE, marks_of
from otherminds.reports.plots import BLUE, SMALL, SOFT, styled, with_axes, wrapped

WIDE = 6.5  # inches, of figures that are drawn again for a phone
MOST_NAMED = 20  # stimuli that have their names in a figure
MOST_SHOWN = 60  # settings in a table; the JSON has all
SETTING_COLUMNS = ("Setting", "r", "RMSE", "Log likelihood", "As it is: RMSE", "log likelihood", "People’s", "Best for")
SETTINGS_IN_WORDS = (
    "RMSE and log likelihood are those of the mean ratings on a free scale (an intercept, and a slope that is not "
    "negative), then of predictions as they are. People’s is the sum of their own log likelihoods, each on a free "
    "scale; best for counts the people whose judgements are most likely in this setting alone."
)


def in_words(fit: JudgementFit) -> Iterator[str]:
    """What the fit says, a few sentences at a time."""
    data, free, as_is, several = fit.data, fit.best.free, fit.best_as_is.as_is, len(fit.settings) > 1
    counted = f"{len(data.people):,} people, {len(data.stimuli):,} stimuli, {int(data.counts.sum()):,} ratings"
    missing = f" ({data.missing:,} missing)" if data.missing else ""
    unjudged = f"; predictions of what nobody judged: {data.unjudged:,}" if data.unjudged else ""
    yield f"{counted}{missing}{unjudged}."
    chosen = (
        f"Of {len(fit.settings):,} settings, mean ratings are most likely in setting {fit.best.setting}. " * several
    )
    line = f"{number(free.intercept, 3)} + {number(free.slope, 3)} · prediction"
    fitting = f"RMSE {number(free.rmse, 3)}, log likelihood {number(free.log_likelihood, 1)}"
    yield f"{chosen}On a free scale the mean rating is {line}: r {interval(*fit.r[:3])}, {fitting}."
    if free.r < 0.0:
        yield "The predictions run against the mean ratings: perhaps one of the scales is reversed."
    better = "the free scale" if fit.scale_evidence > 0.0 else "predictions as they are"
    best = f", best in setting {fit.best_as_is.setting}," * several
    yield (
        f"Predictions as they are (intercept 0, slope 1){best} have RMSE {number(as_is.rmse, 3)}, log likelihood "
        f"{number(as_is.log_likelihood, 1)}. BIC prefers {better}, by {number(abs(fit.scale_evidence), 1)}."
    )
    if fit.left_out:
        yield f"With each stimulus predicted by the setting chosen without it, r is {interval(*fit.left_out[:3])}."
    for question, r in fit.by_question.items():
        yield f"Question {question}: r {interval(*r[:3])}."
    if len(fit.person_r):
        low, middle, high = np.quantile(fit.person_r, (0.25, 0.5, 0.75)).tolist()
        who = f"{len(fit.person_r):,} of {len(data.people):,} people have an r of their own"
        yield f"{who} ({FEWEST} judgements or more that vary): median {interval(middle, low, high)} (quartiles)."
    if np.isfinite(fit.reliability):
        ceiling = number(max(fit.reliability, 0.0) ** 0.5)
        yield (
            f"The mean ratings have a reliability of {number(fit.reliability)} (split halves, Spearman–Brown): a model "
            f"without any error can be expected to reach an r of {ceiling}."
        )


def setting_lines(fit: JudgementFit, most: int = MOST_SHOWN) -> list[tuple[str, ...]]:
    """Lines with SETTING_COLUMNS of the best settings."""
    ranked = sorted(fit.settings, key=lambda one: -one.free.log_likelihood)[:most]
    return [
        (
            *(one.setting, number(one.free.r), number(one.free.rmse, 3), number(one.free.log_likelihood, 1)),
            *(number(one.as_is.rmse, 3), number(one.as_is.log_likelihood, 1)),
            *(number(one.by_person, 1), f"{one.best_for:,}"),
        )
        for one in ranked
    ]


def judgements_page(data: str, fit: JudgementFit) -> Page:
    """The page of a fit: mean ratings over predictions, settings, and people. `data` names the table of ratings."""
    of = f" of setting {fit.best.setting}" if len(fit.settings) > 1 else ""
    caption = f"Mean ratings with 95 % intervals over people, over the predictions{of}; the line is the free scale."
    sections = [
        Section("Model and people", stack(*in_words(fit), at_two_widths(partial(scatter, fit), WIDE, caption))),
        Section("Settings", stack(SETTINGS_IN_WORDS, table(SETTING_COLUMNS, setting_lines(fit)))),
    ]
    if len(fit.person_r):
        of_people = "r of each person with the best setting; dashed: the median."
        sections.append(Section("People", at_two_widths(partial(histogram, fit), WIDE, of_people)))
    return page("Judgements and predictions", f"Judgements of {data}, beside a model’s predictions.", sections)


@styled
def scatter(fit: JudgementFit, width: float) -> Figure:
    """Mean ratings with intervals over predictions, a colour for each question; a few stimuli have their names."""
    data, x, means = fit.data, fit.data.predictions[fit.best.setting], fit.data.means
    counts = np.isfinite(data.ratings).sum(axis=0)
    spread = np.nan_to_num(data.ratings - means)  # of those who judged; the others count for nothing
    sd = np.sqrt((spread**2).sum(axis=0) / np.maximum(counts - 1, 1))
    half = np.where(counts > 1, scipy.stats.t.ppf(0.975, np.maximum(counts - 1, 1)) * sd / np.sqrt(counts), 0.0)
    figure, axes = with_axes(width, min(width, 4.2))
    ends = np.array([x.min(), x.max()])
    axes.plot(ends, fit.best.free.intercept + fit.best.free.slope * ends, color=SOFT, linewidth=0.8, zorder=0)
    marks = marks_of(question for _, question in data.cells)
    for question, mark in marks.items():
        at = np.array([asked == question for _, asked in data.cells])
        axes.errorbar(
            x[at],
            means[at],
            half[at],
            None,
            mark.shape,
            color=mark.colour,
            markersize=4,
            label=wrapped(mark.name, BESIDE * width),
        )
    if len(data.cells) <= MOST_NAMED:
        for (stimulus, _), x_at, mean in zip(data.cells, x, means, strict=True):
            name = wrapped(stimulus, BESIDE * width)
            axes.annotate(name, (x_at, mean), xytext=(4, 3), textcoords="offset points", fontsize=SMALL)
    axes.set(xlabel="prediction", ylabel="mean rating")
    if len(marks) > 1:
        figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=SMALL)
    return figure


@styled
def histogram(fit: JudgementFit, width: float) -> Figure:
    """How many people have which r with the best setting."""
    figure, axes = with_axes(width, 2.0)
    axes.hist(fit.person_r, bins=20, range=(-1.0, 1.0), color=BLUE)
    axes.axvline(float(np.median(fit.person_r)), color=ORANGE, linestyle="--", linewidth=1.2)
    axes.set(xlabel="r", ylabel="people", xlim=(-1, 1))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return figure

"""The pages and rows of fits of minds to people: parameters, checks, comparisons, recovery, predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import Fit
from otherminds.evaluation.model_comparison import (
    Comparison,
    Partners,
    Power,
    Recognition,
    Recovery,
    behaviour,
    predicted_behaviour,
)
from otherminds.evaluation.populations import Effect, Fitted
from otherminds.evaluation.predictions import Score
from otherminds.evaluation.statistics import Estimate
from otherminds.files.text import printable
from otherminds.mind import ParametricMind
from otherminds.reports.page import (
    NOTHING,
    Html,
    Page,
    Section,
    at_two_widths,
    folded,
    inline,
    interval,
    number,
    page,
    side_by_side,
    stack,
    table,
)
from otherminds.reports.people_plots import (
    PLAIN,
    Line,
    confusion_matrix,
    curves,
    delta_bic,
    intervals,
    marks_of,
    parameters_by_group,
    responsibilities,
    scatter,
    shares,
)
from otherminds.reports.people_words import (
    NO_CHECK,
    PRIOR,
    RANDOM_EFFECTS,
    REPLAYED,
    against_chance,
    chance_of,
    evidence_in_words,
    held_out_in_words,
    how_bounded,
    how_fitted,
    most_frequent,
    power_in_words,
    recovered_in_words,
    score_in_words,
    search_in_words,
    winner,
)

WIDE = 6.5  # inches, of figures that are drawn again for a phone
ABREAST = 5.5  # the same, of figures that stand next to each other in pairs
BLOCKS, SHORTEST = 6, 4  # most blocks of a match in checks by simulated people, and fewest rounds of a block
MOST_SHOWN = 60  # people in a figure or a table of parameters; the JSON has all
AT_BOUND = 0.01  # share of the range next to a bound, in which a value counts as there; chosen
MOST_GROUPS = 24  # groups in a check by simulated people; bounds time

# Simulated people


def whom_they_meet(choices: Choices, partners: Partners | None) -> str:
    """Whom or what people meet who are simulated in the place of these, in a phrase."""
    if choices.divisions is not None:
        return "the same offers"
    if choices.rewards is not None:
        return "arms that pay what they paid in the data"
    if partners is None:
        return REPLAYED
    if all(machine.name == f"partners of {group}" for group, machine in partners.items()):
        return "partners that react as those in the data did (fitted, one step of memory)"
    names = list(dict.fromkeys(machine.name for machine in partners.values()))
    return names[0] if len(names) == 1 else "the bots that their groups are named after"


def _is_replayed(choices: Choices, partners: Partners | None) -> bool:
    return partners is None and choices.divisions is None and choices.rewards is None


# Rows


def as_json(fitted: Fitted, choices: Choices | None = None) -> dict[str, Any]:
    """A fit as JSON: parameters with errors and intervals, likelihoods and criteria of every unit, and effects.

    With the choices the prediction of what was held out has chance beside it.
    """
    fit = fitted.fit
    units = []
    for i, unit in enumerate(fit.units):
        estimates = {}
        for name, values in fit.values.items():
            low, high = map(_finite, fitted.intervals[name][i])
            error = _finite(fit.errors[name][i])
            estimates[name] = {"value": float(values[i]), "error": error, "low": low, "high": high}
        criteria = {"aic": float(fit.aic[i]), "bic": float(fit.bic[i]), "evidence": _finite(fit.evidence[i])}
        likelihood = {"unit": unit, "choices": int(fit.choices[i]), "log_likelihood": float(fit.log_likelihood[i])}
        units.append(likelihood | criteria | {"agreement": float(fit.agreement[i]), "parameters": estimates})
    row: dict[str, Any] = {"mind": fit.mind.name, "by": fitted.by, "units": units}
    if fitted.effects:
        row["effects"] = [
            effect._asdict() | {"bayes_factor": _finite(effect.bayes_factor)} for effect in fitted.effects
        ]
    if fitted.held_out is not None:
        value, low, high, _ = fitted.held_out
        row["held_out"] = {"per_choice": value, "low": low, "high": high}
        row["held_out"] |= {} if choices is None else {"chance": chance_of(choices)}
    return row


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
            frequency = {"share": float(effects.shares[m]), "exceedance": float(effects.exceedance[m])}
            protected = {"protected": float(effects.protected[m]), "risk": effects.risk}
            rows.append(about | score | criteria | frequency | protected)
    return rows


Recovered = tuple[list[Recovery], Recognition]


def recovery_rows(minds: Sequence[ParametricMind], recoveries: Sequence[Recovered]) -> dict[str, Any]:
    """Recovery as JSON: parameters with correlations and errors, and for each mind what its people are taken for."""
    names = [mind.name for mind in minds]
    parameters = [
        {
            "mind": diagnostics.mind,
            "parameter": diagnostics.parameter,
            "verdict": recovered_in_words(diagnostics),
            "r": _finite(diagnostics.r),
            "error": _finite(diagnostics.error),
            "rival": diagnostics.rival,
            "rho": _finite(diagnostics.rho),
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


# Lines of tables


SUMMARY_COLUMNS = ("Parameter", "People", "Median [quartiles]", "At bounds")
UNIT_COLUMNS = ("Of", "Parameter", "Value [95 %]", "SE")
EFFECT_COLUMNS = ("Parameter", "Change", "On the real line [95 %]", "Before → after", "Evidence (Bayes factor)")
POWER_COLUMNS = ("Mind", "Parameter", "Change", "Effect", "Found", "Found if there is none", "Interval covers")
RECOVERY_COLUMNS = ("Mind", "Parameter", "Verdict", "r", "Error ÷ spread", "Trades off with")
RECOGNITION_COLUMNS = ("Simulated by", "People", "Groups", "Ahead of the nearest, nats")
SCORE_COLUMNS = ("Mind", "Nats a choice [95 %]", "Chance", "Choices", "People", "Known", "Verdict")


def summary_lines(fit: Fit, groups: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Lines with SUMMARY_COLUMNS of a fit by person: all people, then those of each of the groups if there are some.

    Medians, as values at a bound, which may be anything beyond it, make means meaningless.
    """
    parts = dict.fromkeys(groups) if len(set(groups)) > 1 else {}
    for i, (name, values) in enumerate(fit.values.items()):
        parameter = fit.mind.parameters[i]
        place = (values - parameter.low) / (parameter.high - parameter.low)
        is_bound = (place < AT_BOUND) | (place > 1.0 - AT_BOUND)
        for group in (None, *parts):
            member = np.array([group is None or g == group for g in groups or fit.units])
            low, middle, high = np.quantile(values[member], (0.25, 0.5, 0.75))
            who = f"{member.sum():,}" if group is None else f"{group} ({member.sum():,})"
            people = f"all ({member.sum():,})" if group is None and parts else who
            yield name, people, interval(middle, low, high), str(is_bound[member].sum())


def unit_lines(fitted: Fitted) -> Iterator[tuple[str, ...]]:
    """Lines with UNIT_COLUMNS of a fit by group or of all together."""
    fit = fitted.fit
    for name in fit.mind.names:
        for i, unit in enumerate(fit.units):
            yield unit, name, _bounded(fitted, name, i), number(_finite(fit.errors[name][i]))


def person_lines(fitted: Fitted, most: int = MOST_SHOWN) -> Iterator[tuple[str, ...]]:
    """Lines with person, choices, log likelihood, and each parameter with its interval, of the first people."""
    fit = fitted.fit
    for i, unit in enumerate(fit.units[:most]):
        values = (_bounded(fitted, name, i) for name in fit.mind.names)
        yield unit, f"{int(fit.choices[i]):,}", number(float(fit.log_likelihood[i]), 1), *values


def _bounded(fitted: Fitted, parameter: str, i: int) -> str:
    """A value with its interval, if it has one."""
    low, high = map(_finite, fitted.intervals[parameter][i])
    return interval(float(fitted.fit.values[parameter][i]), low, high)


def effect_lines(effects: Sequence[Effect]) -> list[tuple[str, ...]]:
    """Lines with EFFECT_COLUMNS."""
    return [
        (
            effect.parameter,
            effect.of,
            interval(effect.value, effect.low, effect.high),
            f"{number(effect.before)} → {number(effect.after)}",
            evidence_in_words(effect.bayes_factor),
        )
        for effect in effects
    ]


def power_lines(power: Sequence[Power]) -> list[tuple[str, ...]]:
    """Lines with POWER_COLUMNS."""
    return [
        (
            *(one.mind, one.parameter, one.of, number(one.size)),
            *(f"{100 * share:.0f} %" for share in (one.found, one.found_without, one.covered)),
        )
        for one in power
    ]


def recovery_lines(recovered: Sequence[Recovery]) -> list[tuple[str, ...]]:
    """Lines with RECOVERY_COLUMNS, one for each parameter."""
    return [
        (
            recovery.mind,
            recovery.parameter,
            recovered_in_words(recovery),
            number(recovery.r),
            number(recovery.error),
            f"{recovery.rival} {number(recovery.rho)}" if recovery.rival else NOTHING,
        )
        for recovery in recovered
    ]


def recognition_lines(names: Sequence[str], recognitions: Sequence[Recognition]) -> list[tuple[str, ...]]:
    """Lines with RECOGNITION_COLUMNS, one for each mind."""
    return [
        (
            name,
            number(recognition.by_person[i]),
            number(recognition.by_group[i]),
            f"{recognition.nearest} by {number(recognition.ahead, 1)}" if recognition.nearest != name else NOTHING,
        )
        for i, (name, recognition) in enumerate(zip(names, recognitions, strict=True))
    ]


def score_lines(scores: Sequence[Score]) -> list[tuple[str, ...]]:
    """Lines with SCORE_COLUMNS, the best mind first."""
    return [
        (
            score.mind,
            interval(score.per_choice, score.low, score.high, 3),
            number(score.chance, 3),
            *(f"{count:,}" for count in (score.choices, score.people, score.known)),
            against_chance(Estimate(score.per_choice, score.low, score.high, score.people), score.chance),
        )
        for score in sorted(scores, key=lambda score: -score.per_choice)
    ]


# Pages


def fit_page(data: str, choices: Choices, fits: Sequence[Fitted], partners: Partners | None) -> Page:
    """The page of `fit`: a section for each mind, with its parameters, effects, and a check by simulated people."""
    likelihood = (
        f"{len(choices.people)} people, {int(choices.scored.sum()):,} choices of {data}. The likelihood is the product "
        "of the probabilities that the mind gives to each choice after all that the person had seen by then."
    )
    sections = [Section(printable(fitted.fit.mind.name), _fit_section(fitted, choices, partners)) for fitted in fits]
    return page("Minds fitted to people", _lead(choices, partners, likelihood), sections)


def _lead(choices: Choices, partners: Partners | None, words: str) -> str:
    """The first lines of a page: whether there is a check by simulated people, and whom they meet."""
    if _is_replayed(choices, partners):
        return f"{NO_CHECK} {words}"
    return f"{words} People who are simulated, for a check, meet {whom_they_meet(choices, partners)}."


def _fit_section(fitted: Fitted, choices: Choices, partners: Partners | None) -> Html:
    """What a fit found: parameters, effects, the prediction of what was held out, and a check."""
    fit, by_person = fitted.fit, fitted.by == "person"
    total, aic, bic = (number(float(per_unit.sum()), 1) for per_unit in (fit.log_likelihood, fit.aic, fit.bic))
    parts: list[str] = [
        f"{fit.mind.about[:1].upper()}{fit.mind.about[1:]}. Log likelihood {total}, AIC {aic}, BIC {bic}, summed over "
        f"{len(fit.units)} fits {how_fitted(fit)}."
    ]
    if fitted.held_out is not None:
        parts.append(held_out_in_words(fitted.held_out, chance_of(choices)))
    if warning := search_in_words(fitted):
        parts.append(warning)
    if fit.mind.parameters:
        groups = choices.groups if by_person else ()
        lines = summary_lines(fit, groups) if by_person else unit_lines(fitted)
        parts.append(table(SUMMARY_COLUMNS if by_person else UNIT_COLUMNS, list(lines)))
        parts += _parameter_figures(fitted, choices)
    if fitted.effects:
        parts.append(_effects(fitted.effects))
    if by_person and not _is_replayed(choices, partners):
        parts.append(_check(fit, choices, partners))
    if fit.mind.parameters and by_person:
        parts.append(folded("Every person", _table_by_person(fitted)))
    return stack(*parts)


def _parameter_figures(fitted: Fitted, choices: Choices) -> Iterator[Html]:
    """Values with intervals of each unit, a figure for each parameter; of many people also all values by group."""
    fit, by_person = fitted.fit, fitted.by == "person"
    if len(fit.units) < 2:
        return
    if by_person and len(fit.units) > MOST_SHOWN:
        yield at_two_widths(
            partial(parameters_by_group, fit, choices.groups),
            WIDE,
            "Each person’s parameters, by group; bars are medians.",
        )
    marks = marks_of(choices.groups) if by_person and len(set(choices.groups)) > 1 else {}
    of_unit = [marks.get(group, PLAIN) for group in choices.groups] if by_person else [PLAIN] * len(fit.units)
    places = list(dict.fromkeys(of_unit))
    order = sorted(range(min(len(fit.units), MOST_SHOWN)), key=lambda i: places.index(of_unit[i]))
    figures = []
    for parameter, values in fit.values.items():
        ranked = sorted(order, key=lambda i: (places.index(of_unit[i]), values[i])) if by_person else order
        ends = fitted.intervals[parameter]
        lines = [Line(fit.units[i], float(values[i]), float(ends[i, 0]), float(ends[i, 1]), of_unit[i]) for i in ranked]
        draw = partial(intervals, lines, parameter, None)
        figures.append(at_two_widths(draw, ABREAST, f"{parameter} with 95 % intervals."))
    more = f" These are the first {MOST_SHOWN} of {len(fit.units)}." if len(fit.units) > MOST_SHOWN else ""
    yield stack(f"{how_bounded(fitted)}{more}", side_by_side(*figures))


def _table_by_person(fitted: Fitted) -> Html:
    """A table of the people with their likelihoods and parameters, the first MOST_SHOWN of them."""
    fit = fitted.fit
    more = f" The first {MOST_SHOWN} of {len(fit.units)}; --json has all." if len(fit.units) > MOST_SHOWN else ""
    columns = ("Person", "Choices", "Log likelihood", *fit.mind.names)
    return table(columns, list(person_lines(fitted)), f"Values with 95 % intervals.{more}", stacks=True)


def _effects(effects: Sequence[Effect]) -> Html:
    """What a column changes in the parameters, in a table and a figure."""
    words = (
        "Effects are on the real line, where 1 moves a probability from .5 to .73. Before and after are the values of "
        "the typical person on the parameter’s own scale. The Bayes factor is the probability of the data if there is "
        "an effect, of which N(0, 1) is expected, over that if there is none."
    )
    several = len({effect.of for effect in effects}) > 1
    marks = marks_of(effect.of for effect in effects) if several else {}
    lines = [Line(e.parameter, e.value, e.low, e.high, marks.get(e.of, PLAIN)) for e in effects]
    of = "" if several else f": {effects[0].of}"
    draw = partial(intervals, lines, "effect, on the real line", (0.0, "none"))
    return stack(
        words,
        table(EFFECT_COLUMNS, effect_lines(effects), stacks=True),
        at_two_widths(draw, WIDE, f"Effects with 95 % intervals{of}."),
    )


def _check(fit: Fit, choices: Choices, partners: Partners | None) -> Html:
    """The behaviour of people and of simulated people, by group, by block of rounds."""
    names = tuple(dict.fromkeys(choices.groups))
    blocks = max(1, min(BLOCKS, choices.own.shape[1] // SHORTEST))
    rng = np.random.default_rng(0)
    pairs = {}
    for group in names[:MOST_GROUPS]:
        members = np.array([n for n, name in enumerate(choices.groups) if name == group])
        observed = choices.subset(members)
        simulated = predicted_behaviour(fit.of_units(members), observed, blocks, rng, partners)
        pairs[group] = behaviour(observed, blocks), simulated
    is_game = choices.rewards is None and choices.divisions is None
    rounds = "rounds" if is_game else "trials"
    more = f" The first {MOST_GROUPS} of {len(names)} groups." if len(names) > MOST_GROUPS else ""
    caption = (
        f"Share of {rounds} in which people change what they choose, and points a {rounds[:-1]}, of people and of "
        f"people simulated with the fitted parameters, who meet {whom_they_meet(choices, partners)}.{more}"
    )
    return at_two_widths(lambda width: curves(pairs, width, rounds), WIDE, caption)


def comparison_page(data: str, comparison: Comparison, partners: Partners | None) -> Page:
    """The page of `otherminds compare`: the best minds, results by person and group, and a check of the best mind."""
    choices, rows = comparison.choices, comparison_rows(comparison)
    lead = (
        f"{len(comparison.minds)} minds, {len(choices.people)} people of {data}. Minds are compared by the log "
        "likelihood of choices that they were not fitted to."
    )
    overall = [row for row in rows if row["group"] == "all"]
    names = [mind.name for mind in comparison.minds]
    chance = chance_of(choices)
    held_out = [Line(r["mind"], r["per_choice"], r["low"], r["high"], PLAIN) for r in overall]
    draw = partial(intervals, held_out, "held out, nats a choice", (chance, "chance"))
    caption = "Log likelihood of held-out choices, with 95 % bootstrap intervals over people; farther right is better."
    sections = [
        Section(
            "Best minds",
            stack(
                winner(comparison),
                at_two_widths(draw, WIDE, caption),
                folded("All measures", _comparison_table(overall)),
            ),
        ),
        Section(
            "Who does what",
            stack(
                most_frequent(comparison),
                RANDOM_EFFECTS,
                at_two_widths(
                    partial(responsibilities, comparison.over().responsibilities, names),
                    WIDE,
                    "Each column is a person: the probability that each mind is hers, given the shares in all people.",
                ),
            ),
        ),
    ]
    if len(set(choices.groups)) > 1:
        sections.append(Section("By group", _by_group(rows)))
    if not _is_replayed(choices, partners):
        best_fit = comparison.fits[names.index(overall[0]["mind"])]
        sections.append(Section("Check of the best mind", _check(best_fit, choices, partners)))
    caption = f"BIC above that of the best mind, summed over people. Lower is better. {PRIOR}"
    sections.append(Section("ΔBIC", at_two_widths(partial(delta_bic, overall), WIDE, caption)))
    return page("Minds compared on people", _lead(choices, partners, lead), sections)


def _by_group(rows: Sequence[Mapping[str, Any]]) -> Html:
    """The best mind of each group, and the shares of all, from rows of `comparison_rows`."""
    groups = [group for group in dict.fromkeys(row["group"] for row in rows) if group != "all"]
    share_of = {group: {r["mind"]: r["share"] for r in rows if r["group"] == group} for group in groups}
    best = [next(row for row in rows if row["group"] == group) for group in groups]
    lines = [(r["group"], r["people"], r["mind"], number(r["exceedance"]), number(r["protected"])) for r in best]
    columns = ("Group", "People", "Best mind", "Exceedance", "Protected")
    return stack(table(columns, lines), at_two_widths(partial(shares, share_of), WIDE, "Expected shares of minds."))


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
    return table(columns, lines, "Brackets are bootstrap intervals over people.", stacks=True)


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
CONFUSION = "Share of the people simulated by the row’s mind for whom the column’s mind has the highest evidence."
SCATTER = "Fitted over true values; a point is a simulated person."


def recovery_page(
    data: str, minds: Sequence[ParametricMind], recoveries: Sequence[Recovered], power: Sequence[Power], met: str
) -> Page:
    """The page of `otherminds recover`: how well parameters, effects and minds are recovered.

    `met` says whom simulated people met.
    """
    names = [mind.name for mind in minds]
    lead = (
        f"Simulated people meet {met}. They take the place of those of {data}: the same numbers of people, rounds and "
        "matches."
    )
    recovered = [r for part, _ in recoveries for r in part]
    recognitions = [part for _, part in recoveries]
    sections = []
    if recovered:
        figure = at_two_widths(lambda width: scatter(recovered, width), WIDE, SCATTER)
        parts = RECOVERY_WORDS, table(RECOVERY_COLUMNS, recovery_lines(recovered), stacks=True), figure
        sections.append(Section("Parameters", stack(*parts)))
    if power:
        sections.append(
            Section("Effects", stack(power_in_words(power), table(POWER_COLUMNS, power_lines(power), stacks=True)))
        )
    matrix = np.stack([r.by_person for r in recognitions])
    picture = inline(confusion_matrix(matrix, names), CONFUSION)
    recognition_table = table(RECOGNITION_COLUMNS, recognition_lines(names, recognitions), stacks=True)
    if len(names) > 1:
        body = stack(RECOGNITION_WORDS, recognition_table, Html(f'<div class="table">{picture}</div>'))
        sections.append(Section("Minds", body))
    return page("Recovery", lead, sections)


def score_page(data: str, choices: Choices, scores: Sequence[Score]) -> Page:
    """The page of `otherminds score`: how well parameters that were fitted before predict people."""
    lead = (
        f"{len(choices.people)} people, {int(choices.scored.sum()):,} choices of {data}, predicted by parameters that "
        "were fitted before."
    )
    ranked = sorted(scores, key=lambda score: -score.per_choice)
    lines = [Line(score.mind, score.per_choice, score.low, score.high, PLAIN) for score in ranked]
    draw = partial(intervals, lines, "nats a choice", (chance_of(choices), "chance"))
    caption = "Log likelihood of the choices, with 95 % bootstrap intervals over people; farther right is better."
    parts = [
        *map(score_in_words, ranked),
        at_two_widths(draw, WIDE, caption),
        table(SCORE_COLUMNS, score_lines(scores), stacks=True),
    ]
    return page("Fits that predict people", lead, [Section("Predictions", stack(*parts))])

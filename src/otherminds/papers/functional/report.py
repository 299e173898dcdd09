"""The report on literal and functional Theory of Mind in repeated games."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from otherminds.papers.functional import tables
from otherminds.papers.functional.tables import LITERAL, MODELS, REGRET, Found, Row, name, once, score, subjects, value
from otherminds.reports import game_plots
from otherminds.reports.game_plots import CELLS, GAMES, LEFT_OUT, NOISES, PARTNERS
from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, side_by_side, stack, table
from otherminds.reports.results import targets

BEST = 3  # published models in the table of means
CLUE_GAMES = ("hanabi/signals", "wavelength/dials")
LEAD = (
    "Literal Theory of Mind is to predict what a partner will do; functional Theory of Mind is to adapt to it, that "
    "is, to earn what can be earned with this partner (Riemer et al.). A player that predicts need not act on it."
)
MEASURES = (
    "An episode is 100 rounds of a game with one partner, which always does the same (single action) or plays tit for "
    "tat. Regret is what a player loses per round against the best possible play; ToM % is the share of rounds in "
    "which it predicted the partner’s action. Brackets are 95 % intervals; a value without one did not vary."
)
OPTIMA = (
    "There are two optima. The exact one is the most that can be earned in 100 rounds; the paper’s is the best rate in "
    "the long run, times 100. They differ in one cell only: in the Prisoner’s Dilemma with tit for tat it pays to "
    "defect in the last round (802 points, not 800). Published figures are against the paper’s optimum; raised numbers "
    "refer to the notes on them, further down."
)
ANCHOR = (
    "The paper ran RMax, too, so it shows whether the games here are the same as there. Regret is against the paper’s "
    "optimum in this table. Exact values follow every branch of chance if there are not too many."
)
CONSISTENCY = (
    "All players, against the exact optimum. Consistency is the share of rounds in which the action was a best "
    "response to the player’s own prediction of that round. It is myopic: to cooperate with tit for tat pays in later "
    "rounds only, so in the Prisoner’s Dilemma good players are hardly ever consistent in this sense."
)
PICTURE = (
    "Predicting against acting. If predicting were enough, all points on the right would be at the bottom. Regret is "
    "on a logarithmic scale that includes 0. With tit for tat the paper prints ToM % for one language model."
)
CURVES = (
    "Points lost since the first round, against the exact optimum, with 95 % bands. Where a curve is flat, the player "
    "has adapted; its height is the cost of finding out."
)
REGRETS = (
    "What predictions alone would cost, as regret per round. Paper: a fixed price for every wrong one. Myopic: the "
    "best response to the player’s prediction of each round plays in its place; model: the best response over all "
    "rounds left to what it would predict in every situation does. Where these are high and the player’s own regret is "
    "low, it has tried actions that its predictions did not recommend."
)
MACHINES = (
    "Strategies of the Axelrod library play the Prisoner’s Dilemma as finite machines. The library player knows all of "
    "them, or all but its partner. The floor is the exact lower bound on the expected loss of a player that knows the "
    "library. Brackets are bootstrap intervals over machines."
)
NOISE = (
    "Partners act at random in 5 % or 10 % of the rounds. Regret is against the expectation of the best response, so "
    "luck can bring it below 0."
)
MEMORY = (
    "All 32 deterministic partners that remember one round in games with two actions; all 81 that react to the last "
    "action in Rock, Paper, Scissors. The floor knows that they are equally probable."
)
CLUES = (
    "The same scores with a partner that signals its card by a convention of its own (Tiny Hanabi), or places clues on "
    "a dial in its own way (Wavelength; the literal error is the mean distance of its guesses from the predicted ones, "
    "as a share of the dial). The informed player knows the partner, the Bayesian infers it, the egocentric assumes "
    "that it is like itself. Luck can bring regret below 0."
)
INTEREST = (
    "How much the partner matters: what the best response to one partner of the task loses per round with another, "
    "over independent draws of the two. It is 0 if there is only one partner, or if one action is best with all of "
    "them, like defecting in the Prisoner’s Dilemma with partners of a single action."
)
NOTES: tuple[str, ...] = (
    "The simplicity prior and the library player with a known library have nothing to tune. Posterior sampling’s draw "
    "every third round was chosen among 1, 3, 5 and 10 on the cells of IBS and IPD with 0, 5 and 10 % of noise, with "
    "other seeds than those reported. When its partner is left out, the library player allows for slips in 5 % of the "
    "rounds and shares its prior 40/30/30 among library, memory-one and random machines: this was chosen on the 45 "
    "machines themselves, each left out in turn, with other random machines than those reported. It never tests "
    "machines that always cooperate, and loses 1.98 a round to one that is not in its library.",
    "RMax breaks ties at random. Its choices are spread evenly over the episodes with a partner (systematic sampling), "
    "so its intervals are wider than they need be. Drawn independently, all six of its regrets were inside what is "
    "printed with five of eight seeds; spread evenly, with all eight.",
    "RMax does not know the payoffs; Bayesian players do, as language models do. So RMax against Bayes is not a "
    "comparison of ways to learn alone.",
)


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The page of the experiment, from rows and summary alone."""
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    bodies = {
        "Results in the paper’s six cells": _results(found),
        "Predicting and acting": _picture(found, rows, summary),
        "Language models, run here": _models_run(found, rows),
        "Machines": _machines(found, rows),
        "Noise": _noise(found, summary),
        **_other_tasks(found),
        "Language models, as published": tables.models(),
        "What was tuned, and what cannot be compared": stack(*NOTES),
        "Targets": targets(summary),
    }
    sections = [Section(title, body) for title, body in bodies.items() if body]
    return page("Literal and functional Theory of Mind", stack(LEAD, *_finding(found)), sections)


def _finding(found: Found) -> list[str]:
    """A sentence on players that predict equally well and act differently, for those that were played."""
    chosen = {
        "fictitious play": "fictitious_play",
        "2-ToM": "k_tom_2",
        "a Bayesian player, which tries out what cooperation brings,": "bayes_simplicity",
    }
    told = [
        f"{who} predicts {value(literal, 1)} % of the actions and loses {value(regret, 2)} points a round"
        for who, subject in chosen.items()
        if (literal := found.get(("ipd/tft", subject, LITERAL))) and (regret := found.get(("ipd/tft", subject, REGRET)))
    ]
    return [f"With tit for tat in the Prisoner’s Dilemma, {'; '.join(told)}."] if told else []


# The six cells


def _results(found: Found) -> Html:
    present = subjects(found, *CELLS)
    if not present:
        return Html("")
    players = table(("Player", "How it plays"), [[name(s), way] for s, way in tables.WAYS.items() if s in present])
    columns = [f"{partner}: {what}" for partner in PARTNERS.values() for what in ("regret", "ToM %", "consistency")]
    games = []  # all scores of all players, a table for each game
    for game, title in GAMES.items():
        cells = [f"{game}/{partner}" for partner in PARTNERS]
        lines = [
            [name(s), *(t for cell in cells for t in tables.scores(found, cell, s))] for s in subjects(found, *cells)
        ]
        if lines:
            games.append(table((title, *columns), lines))
    return stack(MEASURES, _league(found), OPTIMA, players, *_anchor(found), CONSISTENCY, *games)


def _league(found: Found) -> Html:
    """A table of mean regrets of all players of all six cells, and of the best published models, by regret."""
    entries: list[tuple[str, Row | None, Row | None]] = []
    for subject in subjects(found, *CELLS):
        exact, rate = (
            tables.mean([found.get((cell, subject, metric)) for cell in CELLS]) for metric in (REGRET, tables.RATE)
        )
        entries.append((name(subject), exact, rate))
    whole = tables.published_means()
    best = sorted((s for s in whole if s.startswith(MODELS)), key=lambda subject: float(whole[subject]["value"]))
    entries += [(f"{name(s)}, as published{whole[s]['notes']}", None, whole[s]) for s in ("rmax", *best[:BEST])]
    ranked = sorted((rate["value"], who, score(exact), score(rate)) for who, exact, rate in entries if rate)
    caption = f"Mean regret over the six cells; of {len(best)} language models published there the best {BEST}."
    columns = ("Player", "Against the exact optimum", "Against the paper’s optimum")
    return table(columns, [line[1:] for line in ranked], caption)


def _anchor(found: Found) -> list[str]:
    """RMax beside its published figures."""
    told = {(p.condition, p.metric): p for p in tables.published() if p.subject == "rmax"}
    lines, inside = [], 0
    for (condition, metric), figure in told.items():
        row = found.get((condition, "rmax", metric))
        if row is None or row.get("published_low") is None:
            continue
        digits = tables.digits_of(metric)
        low, ours, high = (round(row[key], digits) for key in ("published_low", "value", "published_high"))
        inside += low <= ours <= high
        printed = interval(row["published"], low, high, digits) + tables.raised([figure])
        exact = score(found.get((condition, "rmax", f"{metric}_enumerated")), 4)
        verdict = "inside" if low <= ours <= high else "outside"
        lines.append([tables.label(condition), tables.PRINTED[metric], printed, score(row, digits), verdict, exact])
    columns = ("Cell", "RMax’s", "As published", "Here", "Published interval", "Exact")
    words = f"{ANCHOR} {inside} of {len(lines)} figures are inside the published intervals."
    return [words, table(columns, once(lines))] if lines else []


def _picture(found: Found, rows: Sequence[Row], summary: Sequence[Row]) -> Html:
    if not subjects(found, *CELLS):
        return Html("")
    literal = {(p.condition, p.subject): p.value for p in tables.published() if p.metric == LITERAL}
    points: dict[str, list[tuple[float, float]]] = {}
    for p in tables.published():
        if p.metric == tables.AS_PRINTED and p.subject.startswith(MODELS) and (p.condition, p.subject) in literal:
            points.setdefault(p.condition, []).append((literal[p.condition, p.subject], p.value))
    scatter = inline(game_plots.literal_against_functional(summary, points), PICTURE)
    return stack(side_by_side(scatter, inline(game_plots.regret_over_rounds(rows), CURVES)), *_regrets(found))


def _regrets(found: Found) -> list[str]:
    """Functional regret beside the three regrets of predictions alone."""
    metrics = (REGRET, "tom_regret_paper", "tom_regret_myopic", "tom_regret_model")
    readers = [s for s in subjects(found, *CELLS) if any((cell, s, metrics[-1]) in found for cell in CELLS)]
    lines = [
        [title, name(s), *(value(tables.mean([found.get((cell, s, metric)) for cell in cells])) for metric in metrics)]
        for title, cells in (("Mean of the six cells", CELLS), (tables.label("ipd/tft"), ("ipd/tft",)))
        for s in readers
    ]
    columns = ("", "Player", "Its own", "Paper", "Myopic", "Model")
    return [REGRETS, table(columns, once(lines))] if lines else []


# Other partners


def _machines(found: Found, rows: Sequence[Row]) -> Html:
    scored = [(tables.LIBRARY, s, name(s)) for s in subjects(found, tables.LIBRARY) if s != "floor"]
    scored += [(LEFT_OUT, s, f"{name(s)} without the partner") for s in subjects(found, LEFT_OUT)]
    scored += [(tables.LIBRARY, "floor", "Bayes floor")]
    lines = []
    for condition, subject, title in scored:
        if regret := found.get((condition, subject, REGRET)) or found.get((condition, subject, tables.AS_PRINTED)):
            literal = score(found.get((condition, subject, LITERAL)), 1)
            lines.append((regret["value"], title, regret["n"], score(regret), literal))
    if not lines:
        return Html("")
    shown = table(("Player", "Machines", "Regret", "ToM %"), [line[1:] for line in sorted(lines)])
    return stack(MACHINES, side_by_side(shown, inline(game_plots.regret_by_machine(rows))))


def _noise(found: Found, summary: Sequence[Row]) -> Html:
    players = subjects(found, *(cell + noise for cell in CELLS for noise in NOISES if noise))
    if not players:
        return Html("")
    lines = [
        [tables.label(cell), share, *(score(found.get((cell + noise, s, REGRET)), 2) for s in players)]
        for cell in CELLS
        for noise, share in NOISES.items()
    ]
    figure = inline(game_plots.regret_by_noise(summary))
    return stack(NOISE, side_by_side(figure, table(("Cell", "Noise, %", *map(name, players)), once(lines))))


def _other_tasks(found: Found) -> dict[str, Html]:
    """Tables below their explanations, by their titles; empty without lines."""
    memory = [
        [title, name(subject), *tables.scores(found, f"{game}/memory_one", subject)]
        for game, title in GAMES.items()
        for subject in subjects(found, f"{game}/memory_one")
    ]
    digits = {tables.AS_PRINTED: 2, LITERAL: 1, "literal_error": 3}
    clues = [
        [
            tables.label(game),
            subject.capitalize(),
            *(score(found.get((game, subject, m)), n) for m, n in digits.items()),
        ]
        for game in CLUE_GAMES
        for subject in subjects(found, game)
    ]
    interest = [
        [tables.label(condition), number(row["value"])]
        for (condition, _, metric), row in found.items()
        if metric == "interestingness" and "_noise" not in condition and condition != LEFT_OUT
    ]
    listed = (
        ("All partners that remember one round", MEMORY, ("Game", "Player", "Regret", "ToM %", "Consistency"), memory),
        ("Cards and words", CLUES, ("Game", "Player", "Regret", "ToM %", "Literal error"), clues),
        ("How interesting each task is", INTEREST, ("Task", "Interestingness"), interest),
    )
    return {title: stack(words, table(columns, once(lines))) for title, words, columns, lines in listed if lines}


# Language models that were run here


SPOKEN = (
    "Language models that were run here, one episode with each partner unless stated otherwise. Brackets are bootstrap "
    "intervals over partners; with one partner, intervals over its episodes, and with one episode none. ToM regret is "
    "the paper’s price of wrong predictions. An unreadable reply is asked for twice more; if there is still no move, "
    "the round is lost: it earns the lowest payoff of the game. No move is ever made up."
)
TOKENS = (
    "Tokens of an episode: with every prompt read from its beginning, and those that had to be evaluated, since a "
    "model that has just read the beginning of a prompt need not read it again. Mass is the probability of all names "
    "of actions together as the next words, if moves are drawn from the probabilities of the names."
)
SCORED = {"tom_regret_paper": 3, LITERAL: 1, "consistency": 2}  # digits of the scores beside regret
ABOUT_NAMES = (
    "The same games with other names for the actions: points lost so far, by round. Neutral names are J, F and B, "
    "repeated ones the same letters 21 times, nonsense is Pasta, Rice and Bread. In the paper canonical names help at "
    "first and harm later (appendix C.4).",
    "Wrong predictions so far, with the same names.",
)


def _models_run(found: Found, rows: Sequence[Row]) -> Html:
    """Scores and replies of all language models that were run; empty if there are none."""
    spoken = [s for s in subjects(found, *CELLS) if s.startswith(MODELS)]
    if not spoken:
        return Html("")
    curves = [inline(figure, words) for figure, words in zip(game_plots.by_names(rows), ABOUT_NAMES, strict=False)]
    lines = []
    for cell, subject in product(CELLS, spoken):
        if regret := found.get((cell, subject, REGRET)):
            values = (value(found.get((cell, subject, metric)), digits) for metric, digits in SCORED.items())
            lines.append([tables.label(cell), in_words(subject), score(regret), *values])
    scored = table(("Cell", "Model", "Regret", "ToM regret", "ToM %", "Consistency"), once(lines))
    curved = [side_by_side(*curves)] if curves else []
    return stack(SPOKEN, scored, TOKENS, _replies(found, spoken, rows), *curved)


def in_words(subject: str) -> str:
    """A model, its strategy and its set of names, in words."""
    model, strategy, *names = subject.removeprefix(MODELS).split(":")
    return ", ".join([f"{model}: {strategy.replace('_', ' ')}", *(f"{name} names" for name in names)])


def _replies(found: Found, spoken: Sequence[str], rows: Sequence[Row]) -> Html:
    lines = []
    for subject in spoken:
        known = [cell for cell in CELLS if (cell, subject, "unreadable_share") in found]
        unreadable, lost, tokens, evaluated = (
            sum(found[cell, subject, metric]["value"] for cell in known) / len(known)
            for metric in ("unreadable_share", "lost_share", "tokens", "evaluated")
        )
        masses = [row["mass"] for row in rows if row["subject"] == subject and row.get("mass") is not None]
        mass = number(sum(masses) / len(masses), 2) if masses else "–"
        shares = (f"{100 * unreadable:.1f} %", f"{100 * lost:.1f} %")
        lines.append([in_words(subject), *shares, f"{tokens:,.0f}", f"{evaluated:,.0f}", mass])
    return table(("Model", "Unreadable", "Rounds lost", "Tokens", "Evaluated", "Mass"), lines)

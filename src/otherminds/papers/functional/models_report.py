"""What the report on repeated games says of the language models that were run: scores, replies, names of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otherminds.papers.functional.tables import LITERAL, MODELS, REGRET, Found, Row, label, once, score, subjects, value
from otherminds.reports import game_plots
from otherminds.reports.game_plots import CELLS
from otherminds.reports.page import Html, inline, number, side_by_side, stack, table

SPOKEN = (
    "Language models that were run here, one episode with each partner unless told otherwise. Brackets are bootstrap "
    "intervals over partners; with one partner, intervals over its episodes, and with one of these none. ToM regret is "
    "the paper’s price of wrong predictions. A reply that cannot be read is asked for twice more; if there is still no "
    "move, the round is lost: it earns the least that there is in the game. No move is ever made up."
)
TOKENS = (
    "Tokens of an episode: with every prompt read from its beginning, and those that had to be evaluated, as a model "
    "that has just read the beginning of a prompt need not read it again. Mass is the probability that the names of "
    "actions have together as what comes next, where moves are drawn from the probabilities of the names."
)
NAMES = (
    "The same games with other names for the actions: points lost so far, by round. Neutral names are J, F and B, "
    "repeated ones the same letters 21 times, nonsense is Pasta, Rice and Bread. In the paper canonical names help at "
    "first and harm later (appendix C.4).",
    "Wrong predictions so far, with the same names.",
)


def section(found: Found, rows: Sequence[Row]) -> Html:
    """Scores and replies of all language models that were run; nothing if there are none."""
    spoken = [s for s in subjects(found, *CELLS) if s.startswith(MODELS)]
    if not spoken:
        return Html("")
    parts: list[Any] = [SPOKEN, _scores(found, spoken), TOKENS, _replies(found, spoken, rows)]
    curves = [inline(figure, words) for figure, words in zip(game_plots.by_names(rows), NAMES, strict=False)]
    return stack(*parts, *([side_by_side(*curves)] if curves else []))


def in_words(subject: str) -> str:
    """A model, its strategy and its names for the actions."""
    model, strategy, *names = subject.removeprefix(MODELS).split(":")
    return ", ".join([f"{model}: {strategy.replace('_', ' ')}", *(f"{name} names" for name in names)])


def _scores(found: Found, spoken: Sequence[str]) -> Html:
    lines = [
        [
            label(cell),
            in_words(subject),
            score(regret),
            value(found.get((cell, subject, "tom_regret_paper"))),
            value(found.get((cell, subject, LITERAL)), 1),
            value(found.get((cell, subject, "consistency")), 2),
        ]
        for cell in CELLS
        for subject in spoken
        if (regret := found.get((cell, subject, REGRET)))
    ]
    return table(("Cell", "Model", "Regret", "ToM regret", "ToM %", "Consistency"), once(lines))


def _replies(found: Found, spoken: Sequence[str], rows: Sequence[Row]) -> Html:
    lines = []
    for subject in spoken:
        known = [cell for cell in CELLS if (cell, subject, "unreadable_share") in found]
        means = {
            metric: sum(found[cell, subject, metric]["value"] for cell in known) / len(known)
            for metric in ("unreadable_share", "lost_share", "tokens", "evaluated")
        }
        masses = [row["mass"] for row in rows if row["subject"] == subject and row.get("mass") is not None]
        lines.append(
            [
                in_words(subject),
                f"{100 * means['unreadable_share']:.1f} %",
                f"{100 * means['lost_share']:.1f} %",
                f"{means['tokens']:,.0f}",
                f"{means['evaluated']:,.0f}",
                number(sum(masses) / len(masses), 2) if masses else "–",
            ]
        )
    return table(("Model", "Unreadable", "Rounds lost", "Tokens", "Evaluated", "Mass"), lines)

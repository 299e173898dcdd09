"""Scores of Hypothetical Minds: literal accuracy, functional regret, reward beside the paper's, what models cost."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from otherminds.evaluation.statistics import Estimate, mean, ratio
from otherminds.language.model import Usage
from otherminds.language.prices import Price
from otherminds.papers.hypothetical_minds.melting_pot import ENOUGH
from otherminds.papers.hypothetical_minds.plan import EXPERIMENT
from otherminds.reports.results import NORMAL

Row = dict[str, Any]

THRESHOLD, ALPHA = 0.7, 0.3
SOURCE = "Cross et al. 2024, Table 1: HM with GPT-4, against neural bodies"


def summarise(found: Sequence[Row], price: Price | None = None) -> Iterator[Row]:
    """Scores a 1200 steps, literal accuracy (also once validated), and functional regret a meeting, with intervals.

    A theory is validated when the Rescorla–Wagner value of its predictions, V ← V + α (±1 − V), is at the threshold.
    If a language model has a price, there are also the dollars an episode costs.
    """
    scores: dict[tuple[str, str], float] = {}
    for condition, subject in dict.fromkeys((row["condition"], row["subject"]) for row in found):
        mine = [row for row in found if (row["condition"], row["subject"]) == (condition, subject)]
        for metric, value in _metrics(mine, price).items():
            if metric == "score":
                scores[condition, subject] = value.value
            yield _row(condition, subject, metric, value)
    episodes = {row["episode"] for row in found if row["subject"] == "programs"}
    yield from _compared(scores, enough=len(episodes) >= ENOUGH)


def _row(condition: str, subject: str, metric: str, value: Estimate) -> Row:
    about = {"experiment": EXPERIMENT, "condition": condition, "subject": subject, "metric": metric}
    row: Row = {**about, **value._asdict()}
    if (subject, metric) == ("programs", "score") and condition in published():
        mean_, error = published()[condition]["hm"]
        row |= {"published": mean_, "published_low": mean_ - NORMAL * error, "published_high": mean_ + NORMAL * error}
        row["source"] = SOURCE
    return row


def _compared(scores: Mapping[tuple[str, str], float], *, enough: bool) -> Iterator[Row]:
    """In how many scenarios program hypotheses do at least as well as published, if there are enough episodes to tell;
    and what share they get of the score of who is told the partner's strategy.
    """
    mine = {c: score for (c, subject), score in scores.items() if subject == "programs" and c in published()}
    for group in ("all", "rws_arena"):
        chosen = [condition for condition in mine if group in ("all", condition.rpartition("_")[0])]
        if chosen and enough:
            above = [mine[condition] >= published()[condition]["hm"][0] for condition in chosen]
            yield _row(
                group, "programs", "at_least_published", Estimate(sum(above), sum(above), sum(above), len(above))
            )
    for condition, score in mine.items():
        if scores.get((condition, "informed"), 0.0) > 0.0:
            share = score / scores[condition, "informed"]
            yield _row(condition, "programs", "of_informed", Estimate(share, share, share, 1))


@cache
def published() -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """The paper's Table 1: a mean and its standard error for each agent, by scenario."""
    text = (resources.files("otherminds.papers.hypothetical_minds") / "hypothetical_minds.toml").read_text("utf-8")
    return {
        condition: {agent: (pair[0], pair[1]) for agent, pair in row.items()}
        for condition, row in tomllib.loads(text).items()
    }


def _metrics(mine: Sequence[Row], price: Price | None) -> dict[str, Estimate]:
    ends = [row for row in mine if "score" in row]
    found = {name: mean([float(row[name]) for row in ends]) for name in ("score", "reward", "steps", "meetings")}
    if any(row["meetings"] for row in ends):
        found["per_meeting"] = ratio([row["reward"] for row in ends], [row["meetings"] for row in ends])
    for metric, column in (("regret", "regret"), ("literal", "correct")):
        rows = [row for row in mine if column in row]
        if rows:
            found[metric] = mean([float(row[column]) for row in rows], [row["episode"] for row in rows])
    checked = [(row, valid) for row, valid in validated(mine) if "correct" in row]
    if checked:
        found["validated"] = mean([float(valid) for _, valid in checked], [row["episode"] for row, _ in checked])
    rows = [row for row, valid in checked if valid]
    if rows:
        found["literal_validated"] = mean([float(row["correct"]) for row in rows], [row["episode"] for row in rows])
    return found | _of_calls([row for row in ends if "calls" in row], price)


def _of_calls(ends: Sequence[Row], price: Price | None) -> dict[str, Estimate]:
    """What language models were asked in an episode, and what that costs in dollars if there is a price."""
    if not ends:
        return {}
    found = {name: mean([float(row[name]) for row in ends]) for name in ("calls", "prompt_tokens", "written_tokens")}
    if price:
        used = (Usage(row["prompt_tokens"], 0, row["written_tokens"]) for row in ends)
        found["dollars"] = mean([price.cost(usage) for usage in used])
    found["unreadable_share"] = mean([row["unreadable"] / max(row["calls"], 1) for row in ends])
    return found


def validated(rows: Sequence[Row]) -> Iterator[tuple[Row, bool]]:
    """Every meeting, and whether the theory of this partner had been validated before it."""
    values: dict[tuple[str, int], float] = {}
    for row in rows:
        if "partner" in row:
            key = (row["episode"], row["partner"])
            value = values.get(key, 0.0)
            yield row, value >= THRESHOLD
            if "correct" in row:
                values[key] = value + ALPHA * ((1.0 if row["correct"] else -1.0) - value)

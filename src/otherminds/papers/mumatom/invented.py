"""Questions about invented stories: how many are answered, and how many of these rightly, in every phrasing.

Their answers are exact by construction, and the question alone gives none of them away; so what is measured here is
the reading of words, and, for the shortcut that is shown only the question, that there is no shortcut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import mean, ratio
from otherminds.evaluation.story_sets import LETTERS, make
from otherminds.stories.answering import ask
from otherminds.stories.invented.telling import phrasings

EXPERIMENT = "mumatom"
WORD = re.compile(r"[a-z]+")

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """Some invented stories in one phrasing, and who answers the questions."""

    phrasing: str
    stories: int
    seed: int
    subject: str = "symbolic"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (f"invented/{self.phrasing}", self.subject, "all")


def plan(stories: int, seed: int) -> list[Entry]:
    """Every phrasing, and the shortcut."""
    entries = [Entry(name, stories, seed) for name in phrasings()]
    return [*entries, Entry("plain", 4 * stories, seed, "question_only")]


def rows(entry: Entry) -> list[Row]:
    """The answers to the questions of all stories of an entry, one row each; the last one says the accuracy."""
    invented = list(make(entry.stories, entry.seed, wanted=(entry.phrasing,), quiet=True))
    chosen = _shortcut(invented, entry.seed) if entry.subject == "question_only" else [_read(row) for row in invented]
    found = [
        {
            "schema": 1,
            "experiment": EXPERIMENT,
            "condition": entry.key[0],
            "subject": entry.subject,
            "seed": entry.seed,
            "episode": "all",
            "t": t,
            "group": row["group"],
            "kind": row["cell"].split("/")[0],
            "action": option,
            "gold": LETTERS.index(row["letter"]),
            "correct": option == LETTERS.index(row["letter"]),
            **extra,
        }
        for t, (row, (option, extra)) in enumerate(zip(invented, chosen, strict=True))
    ]
    found[-1]["accuracy"] = sum(row["correct"] for row in found) / len(found)
    return found


def _read(row: Row) -> tuple[int | None, Row]:
    asked = ask(row["story"], row["question"], row["options"])
    extra: Row = {"coverage": round(asked.reading.coverage, 4)}
    if asked.answer.abstained:
        extra["abstained"] = asked.answer.abstained
    return asked.answer.option, extra


def _shortcut(invented: Sequence[Row], seed: int) -> list[tuple[int | None, Row]]:
    """Guess from the words of question and options alone: naive Bayes, trained on the groups of even number."""
    right, wrong = Counter[str](), Counter[str]()
    for row in invented:
        if int(row["group"]) % 2 == 0:
            for letter, option in zip(LETTERS, row["options"], strict=True):
                (right if letter == row["letter"] else wrong).update(_features(row["question"], letter, option))
    rng = stream(seed, "shortcut")
    found: list[tuple[int | None, Row]] = []
    for row in invented:
        scores = []
        for letter, option in zip(LETTERS, row["options"], strict=True):
            odds = [(right[f] + 1.0) / (wrong[f] / 2.0 + 1.0) for f in _features(row["question"], letter, option)]
            score = 1.0
            for value in odds:
                score *= value
            scores.append(score * (1.0 + 1e-9 * rng.random()))
        found.append((scores.index(max(scores)), {"trained": int(row["group"]) % 2 == 0}))
    return found


def _features(question: str, letter: str, option: str) -> set[str]:
    polarity = "least" if "LEAST" in question else "most"
    words = WORD.findall(option.lower())
    return {f"{polarity} {letter}", *(f"{polarity} {word}" for word in words)}


def summarise(found: Sequence[Row]) -> Iterator[Row]:
    """Share answered, accuracy of the answered and of all, by phrasing, with intervals by group of stories."""
    for condition, subject in dict.fromkeys((row["condition"], row["subject"]) for row in found):
        mine = [row for row in found if (row["condition"], row["subject"]) == (condition, subject)]
        tested = [row for row in mine if not row.get("trained")]
        groups = [row["group"] for row in tested]
        right = [float(row["correct"]) for row in tested]
        answered = [float(row["action"] is not None) for row in tested]
        scores = {"accuracy": mean(right, groups), "answered": mean(answered, groups)}
        if any(answered):
            scores["accuracy_answered"] = ratio(right, answered, groups)
        if all("coverage" in row for row in tested):
            scores["coverage"] = mean([row["coverage"] for row in tested], groups)
        for metric, value in scores.items():
            yield {
                "experiment": EXPERIMENT,
                "condition": condition,
                "subject": subject,
                "metric": metric,
            } | value._asdict()

"""The benchmark of facilitators: how its objective weighs classes, people and messages, and which levels are played."""

from __future__ import annotations

from itertools import product

import pytest

from benchmarks.evidence.facilitators import FIELDS, SHARES, plan, summary
from otherminds.evaluation.store import Row
from otherminds.papers.protom.levels.level_sets import CLASSES

FIELD = FIELDS[0]
ODD = [people for people in SHARES if people]


def episode(subject: str, people: str, kind: str, level: str, steps: int, messages: int) -> Row:
    about = {"condition": f"{FIELD.name}/{people}/{kind}", "subject": subject, "episode": f"{kind}-{level}"}
    return {**about, "steps": steps, "messages": messages, "success": True}


def test_j_is_steps_and_half_a_step_a_message_over_people_and_classes() -> None:
    """Listed people take 10 and 20 steps; people of the other kinds take 40, with two messages."""
    rows = [
        episode(subject, people, kind, level, steps + extra, messages)
        for subject, kind in product(FIELD.subjects, CLASSES)
        for extra in [30 * (kind == "necessary") * (subject == "none")]
        for people, level, steps, messages in [
            ("", "1", 10, 0),
            ("", "2", 20, 1),
            *((people, level, 40, 2) for people, level in product(ODD, "12")),
        ]
    ]
    table = {(row["condition"], row["subject"], row["metric"]): row for row in summary(FIELD, rows)}
    expected = 0.8 * (10 + 20.5) / 2 + 0.2 * 41
    assert table["dkg/useful", "protom", "J"]["value"] == pytest.approx(expected)
    assert table["dkg/necessary", "none", "J"]["value"] == pytest.approx(expected + 30)
    assert table["dkg/all", "none", "above_protom"]["value"] == pytest.approx(10)
    assert table["dkg/all", "none", "above_protom"]["low"] == pytest.approx(10)
    assert table["dkg/all", "protom", "messages"]["value"] == pytest.approx(0.8 * 0.5 + 0.2 * 2)
    j = table["dkg/all", "protom", "J"]
    assert j["low"] < j["value"] < j["high"]
    assert j["n"] == 2 * len(CLASSES)


def test_more_levels_are_added_to_those_that_were_played() -> None:
    levels = [FIELD.design.candidate(FIELD.seed, number, kind) for number, kind in product(range(9), CLASSES)]
    few, many = ({entry.key for entry in plan(FIELD, levels[: 3 * n], n // 3)} for n in (6, 9))
    assert few < many
    assert len(few) == len(FIELD.subjects) * len(CLASSES) * (6 + 2 * len(ODD))

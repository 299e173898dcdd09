"""Scores of inferred goals, from hand-made rows, against figures computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from otherminds.evaluation.assistance import brier, calibration_error, quality, reasons

Row = dict[str, Any]


def judged(episode: str, goal: str, **posterior: float) -> Row:
    best = max(posterior, key=posterior.__getitem__)
    return {
        "episode": episode,
        "goal": goal,
        "posterior": posterior,
        "predicted": best,
        "p_true": posterior[goal],
    }


def table(p: float, true: int, of: int) -> list[Row]:
    """`red` with probability p in every row, and true in some of them."""
    return [judged(f"e{i}", "red" if i < true else "blue", red=p, blue=1 - p) for i in range(of)]


def test_brier_scores_by_hand() -> None:
    assert brier({"red": 1.0, "blue": 0.0}, "red") == 0.0
    assert brier({"red": 1.0, "blue": 0.0}, "blue") == 2.0
    assert brier({"red": 0.5, "blue": 0.25, "green": 0.25}, "red") == pytest.approx(0.25 + 2 * 0.0625)
    assert brier({"red": 0.25, "blue": 0.25, "green": 0.25, "pink": 0.25}, "red") == pytest.approx(0.75)


def test_quality_by_hand() -> None:
    rows = [
        judged("one", "red", red=0.75, blue=0.25),  # right: Brier 2 · ¼²
        judged("one", "red", red=0.25, blue=0.75),  # wrong: Brier 2 · ¾²
        judged("two", "blue", red=0.0, blue=1.0),  # sure, and right
    ]
    found = quality([*rows, {"episode": "two", "agent": "facilitator"}])
    assert found["p_true"].value == pytest.approx(2 / 3)
    assert found["top1"].value == pytest.approx(2 / 3)
    assert found["brier"].value == pytest.approx((0.125 + 1.125 + 0.0) / 3)
    assert {estimate.n for estimate in found.values()} == {2}
    assert (found["p_true"].low, found["p_true"].high) == (0.5, 1.0)


def test_nothing_judged_is_nothing_scored() -> None:
    assert quality([{"episode": "one", "agent": "Ana"}]) == {}


@pytest.mark.parametrize(("p", "true", "of"), [(0.75, 6, 8), (0.5, 2, 4), (1.0, 3, 3), (0.3, 3, 10)])
def test_a_perfectly_calibrated_table_has_no_calibration_error(p: float, true: int, of: int) -> None:
    found = calibration_error(table(p, true, of))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.n == of


def test_calibration_error_by_hand() -> None:
    assert calibration_error(table(0.75, 2, 8)).value == pytest.approx(0.5)  # said ¾, happened ¼
    assert calibration_error(table(1.0, 0, 4)).value == pytest.approx(1.0)
    mixed = [*table(0.75, 6, 8), *table(1.0, 0, 4)]  # no gap in 16 statements, a gap of 1 in 8
    assert calibration_error(mixed).value == pytest.approx(1 / 3)


def test_errors_of_opposite_kinds_in_different_bins_do_not_cancel() -> None:
    rows = [*table(0.9, 10, 10), *table(0.6, 5, 10)]  # too modest by .1, too sure by .1
    assert calibration_error(rows).value == pytest.approx(0.1)


def test_the_interval_of_calibration_error_is_by_episodes() -> None:
    alone = [judged("only", row["goal"], **row["posterior"]) for row in table(0.75, 2, 8)]
    assert calibration_error(alone)[1:] == pytest.approx((0.5, 0.5, 1))
    spread = calibration_error(table(0.75, 2, 8))
    assert 0.0 <= spread.low < 0.5 < spread.high <= 0.75
    assert spread == calibration_error(table(0.75, 2, 8))


def told(episode: str, finished: int | None, *said: dict[str, Any], length: int = 20) -> list[Row]:
    """An episode in which Ana helps Ben, who wants the red gem, and has it after so many steps."""
    rows: list[Row] = []
    for message in said:
        rows.append({"episode": episode, "t": message["t"], "agent": "Ben", "goal": "red"})
        usual = {"action": "Ana: open the door", "friends": ["Ben"], "saves": 5.0}
        gains = {"Ana": 9, "Ben": 4, "Cleo": 4}
        rows.append({"episode": episode, "agent": "facilitator", "gains": gains, **usual, **message})
    finish = {"Ana": 3, "Ben": finished, "Cleo": None}
    return [
        *rows,
        {"episode": episode, "agent": "facilitator", "t": 9, "action": "", "finished": finish, "length": length},
    ]


def test_reasons_by_hand() -> None:
    rows = [
        *told("one", 10, {"t": 7, "stated": "red", "stated_p": 0.95}),  # three steps before the end; saved 7, said 5
        *told(
            "two", 10, {"t": 8, "stated": "blue", "stated_p": 0.9}, {"t": 2, "gains": {"Ana": 0, "Ben": 1, "Cleo": 2}}
        ),
        *told("three", None, {"t": 60, "gains": {"Ana": 3, "Ben": 0, "Cleo": 0}}, length=80),  # saved 0, said 5
        *told("four", 5),
    ]
    alone = [row for name in ("one", "two", "four") for row in told(name, 15, length=27)]
    last = {row["episode"]: row for row in [*alone, *told("three", None, length=80)]}
    found = {metric: estimate.value for metric, estimate in reasons(rows, last).items()}
    assert found == pytest.approx(
        {
            "stated_goal_true": 1 / 2,
            "stated_p": 0.925,
            "stated_calibration_error": abs(0.95 - 1 + 0.9) / 2,
            "stated_share": 1 / 3,  # not the one two steps before the end
            "friend_right": 2 / 4,
            "stated_minus_realised": ((5 - 7) + (5 - 0)) / 2,
        }
    )
    assert reasons(told("four", 5), last) == {}


def test_who_is_slowed_beside_somebody_who_wants_nothing() -> None:
    last = {name: told(name, steps)[-1] for name, steps in {"a": 5, "b": 5, "c": None, "d": 5}.items()}
    rows = [
        {**told(name, steps)[-1], "aimless": "Ana"} for name, steps in {"a": 6, "b": 4, "c": None, "d": None}.items()
    ]
    assert reasons(rows, last)["slowed"].value == 2 / 4

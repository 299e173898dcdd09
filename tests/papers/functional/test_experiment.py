"""Plans are complete, episodes are pure functions of their entries, and summaries say what the rows say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from otherminds.evaluation.literal_functional import expected_regret
from otherminds.papers.functional import experiment as functional
from otherminds.papers.functional import experiment as functional_scores
from otherminds.papers.functional.experiment import CELLS, GameEntry, plan, rows, tasks
from otherminds.worlds.repeated_games.players.open_bayes import OpenBayes

Row = dict[str, Any]


def test_the_paper_is_played_a_hundred_times_in_every_cell() -> None:
    entries = plan("quick", seed=1)
    found = Counter(e.condition for e in entries if e.subject == "rmax" and e.policy == "own")
    assert all(100 <= found[cell] < 103 for cell in CELLS)
    partners = Counter((e.condition, e.partner) for e in entries if e.subject == "rmax" and e.policy == "own")
    for cell in CELLS:
        assert len({n for (condition, _), n in partners.items() if condition == cell}) == 1, (
            "the same with each partner"
        )


@pytest.mark.parametrize("scale", ["quick", "normal", "full"])
def test_no_two_episodes_have_the_same_key(scale: str) -> None:
    keys = [entry.key for entry in plan(scale, seed=1)]
    assert len(set(keys)) == len(keys)


def test_larger_scales_play_more() -> None:
    sizes = [len(plan(scale, seed=1)) for scale in ("quick", "normal", "full")]
    assert sizes == sorted(set(sizes))


@pytest.mark.slow
def test_an_episode_is_a_function_of_its_entry() -> None:
    entry = GameEntry("ibs/tft_noise10", "posterior_sampling", 0, 3, seed=5)
    assert rows(entry) == rows(entry)
    assert rows(entry) != rows(GameEntry("ibs/tft_noise10", "posterior_sampling", 0, 4, seed=5))


def test_partners_tremble_alike_whoever_plays() -> None:
    constant = [
        [row["observed"] for row in rows(GameEntry("rps/single_noise10", subject, 1, 0, seed=5))]
        for subject in ("rmax", "fictitious_play")
    ]
    assert constant[0] == constant[1]
    assert len(set(constant[0])) > 1


def test_rows_follow_the_contract() -> None:
    found = rows(GameEntry("ipd/tft", "bayes_simplicity", 0, 0, seed=1))
    assert [row["t"] for row in found] == list(range(100))
    for row in found:
        assert (row["schema"], row["experiment"], row["subject"]) == (1, "functional", "bayes_simplicity")
        assert {"predicted", "p_true", "action", "observed", "reward", "best", "episode", "seed"} <= set(row)
    assert found[-1]["functional_regret"] == pytest.approx(0.09)
    assert found[-1]["functional_regret_rate"] == pytest.approx(0.07)
    assert sum(row["best"] - row["reward"] for row in found) == pytest.approx(9.0)
    assert not any("functional_regret" in row for row in found[:-1])


@pytest.mark.slow
def test_whoever_is_left_out_is_not_in_the_library() -> None:
    player = functional.reader(GameEntry(functional.LIBRARY, "bayes_library", 7, 0, seed=1))
    assert isinstance(player, OpenBayes)
    known = {task.partner for task in tasks(functional.LIBRARY)} & set(player.hypotheses.machines)
    assert tasks(functional.LIBRARY)[7].partner not in known
    assert len(known) > 30  # some act like machines of other families


def test_the_suite_floor_is_played_by_who_is_told_the_suite_only() -> None:
    values = []
    for condition in CELLS:
        player = functional.reader(GameEntry(condition, "floor_suite", 0, 0, seed=1))
        values.append(sum(expected_regret(task, player) for task in tasks(condition)) / len(tasks(condition)))
    assert sum(values) / 6 == pytest.approx(0.0197, abs=5e-5)


def test_an_unknown_subject_is_bad_input() -> None:
    with pytest.raises(ValueError, match="unknown player"):
        rows(GameEntry("ipd/tft", "nobody", 0, 0, seed=1))


def summary_of(*entries: GameEntry) -> dict[tuple[str, str, str], Row]:
    found = functional_scores.summarise([row for entry in entries for row in rows(entry)])
    return {(row["condition"], row["subject"], row["metric"]): row for row in found}


@pytest.mark.slow
def test_the_summary_weighs_partners_alike() -> None:
    episodes = [
        GameEntry("ipd/single", "rmax", partner, number, seed=1) for partner, number in ((0, 0), (1, 0), (1, 1))
    ]
    found = summary_of(*episodes)["ipd/single", "rmax", "tom_percent"]
    each = [rows(entry)[-1]["tom_percent"] for entry in episodes]
    assert found["value"] == pytest.approx((each[0] + (each[1] + each[2]) / 2) / 2)
    assert found["n"] == 3


def test_the_tabular_regret_is_against_the_rate_and_others_against_the_exact_optimum() -> None:
    found = summary_of(
        GameEntry("ipd/tft", "rmax", 0, 0, seed=1), GameEntry("ipd/tft", "bayes_simplicity", 0, 0, seed=1)
    )
    for subject, other in (("rmax", "functional_regret_rate"), ("bayes_simplicity", "functional_regret_exact")):
        own = found["ipd/tft", subject, "functional_regret"]["value"]
        assert own == found["ipd/tft", subject, other]["value"]
    assert found["ipd/tft", "rmax", "functional_regret_enumerated"]["value"] == pytest.approx(0.2475, abs=1e-6)
    assert found["ipd/tft", "task", "interestingness"]["value"] == pytest.approx(0.0)


@pytest.mark.slow
def test_skill_is_one_at_the_floor_and_zero_for_rmax() -> None:
    found = summary_of(
        *(GameEntry("ibs/single", subject, p, 0, seed=1) for subject in ("rmax", "floor") for p in (0, 1)),
    )
    assert found["ibs/single", "floor", "skill"]["value"] == pytest.approx(1.0)
    assert found["ibs/single", "rmax", "skill"]["value"] == pytest.approx(0.0)


@pytest.mark.slow
def test_rational_policies_give_the_other_two_regrets() -> None:
    entries = [GameEntry("ipd/tft", "rmax", 0, 0, seed=1, policy=policy) for policy in ("own", "myopic", "model")]
    found = summary_of(*entries)
    assert found["ipd/tft", "rmax", "tom_regret_myopic"]["value"] == pytest.approx(2.97)
    assert found["ipd/tft", "rmax", "functional_regret"]["n"] == 1


@pytest.mark.slow
def test_who_knows_the_library_cannot_do_better() -> None:
    """One round of look-ahead with commitments is Bayes-optimal with every third machine of the library."""
    entries = (GameEntry("ipd/machines", "bayes_closed", partner, 0, seed=1) for partner in range(0, 45, 3))
    assert sum(rows(entry)[-1]["functional_regret"] for entry in entries) == pytest.approx(3.53)


@pytest.mark.slow
def test_other_machines_can_be_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "machines.json"
    machines = {
        "Stubborn": {"states": 1, "output": ["D"], "next": [[0, 0]]},
        "Mirror": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [0, 1]]},
    }
    path.write_text(json.dumps({"about": "two machines", "machines": machines}))
    entries = plan("quick", seed=1, machines=str(path))
    assert {entry.condition for entry in entries} == {"ipd/machines", functional.LIBRARY}
    assert {entry.task.partner.name for entry in entries} == {"Stubborn", "Mirror"}
    found = functional_scores.summarise([row for entry in entries for row in rows(entry)], str(path))
    regret = {(r["condition"], r["subject"]): r["value"] for r in found if r["metric"] == "functional_regret"}
    less = {(r["condition"], r["subject"]): r for r in found if r["metric"] == "minus_rmax"}
    exact = {(r["condition"], r["subject"]): r["value"] for r in found if r["metric"] == "functional_regret_exact"}
    assert {("ipd/machines", "bayes_closed"), (functional.LIBRARY, "bayes_library")} <= set(less)
    assert ("ipd/machines", "rmax") not in less
    bayes = less["ipd/machines", "bayes_closed"]
    assert bayes["value"] == pytest.approx(exact["ipd/machines", "bayes_closed"] - exact["ipd/machines", "rmax"])
    assert (bayes["n"], bayes["low"] < bayes["value"] < bayes["high"]) == (2, True)
    assert 0.0 <= regret["ipd/machines", "bayes_closed"] < regret["ipd/machines", "rmax"]

"""The experiment food-trucks from end to end, with a clone of our own, and against people where there are data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viewer
from food_truck_clones import WALKS, write_clone
from otherminds.errors import InputError
from otherminds.evaluation.statistics import pearson
from otherminds.papers.food_trucks import models
from otherminds.papers.food_trucks.clone import read_clone
from otherminds.papers.food_trucks.experiment import correlation, group, grouped, summarise
from otherminds.papers.food_trucks.models import (
    BETAS,
    EXACT,
    JOINT,
    MOTION,
    collected,
    cues,
    inferred,
    motion_heuristic,
    tasks,
)
from otherminds.reproduce.run import Options, names, reproduce
from paths import SHARED
from run_files import rows_in, summary_in

pytestmark = pytest.mark.slow

DEV = SHARED / "btom-dev"
SCORED = ("scenarios", "with_irrational", "groups")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    write_clone(folder, 3)
    return folder


@pytest.fixture(scope="module")
def done(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "food-trucks"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "BETAS", (1.0, 2.5))
        returned = reproduce("food-trucks", Options(folder, data=clone)).summary
    assert returned == summary_in(folder)
    return folder


def by_key(summary: list[dict[str, Any]]) -> Mapping[tuple[str, str, str], dict[str, Any]]:
    return {(row["condition"], row["subject"], row["metric"]): row for row in summary}


def test_every_model_is_correlated_in_every_condition(done: Path) -> None:
    found = by_key(summary_in(done))
    for condition, n in zip(SCORED, (4, 5, 4), strict=True):
        assert {found[condition, JOINT, metric]["n"] for metric in ("desire_r", "belief_r")} == {n}
        assert {(condition, model, "desire_r") for model in ("true_belief", "no_cost")} <= found.keys()
    assert (found["data", "people", "skipped"]["value"], found["data", "people", "skipped"]["n"]) == (1.0, len(WALKS))
    assert {row["condition"] for row in found.values() if row["condition"].startswith("tuning/beta_")} == {
        "tuning/beta_1",
        "tuning/beta_2.5",
    }
    assert found["tuning/beta_2.5", JOINT, "desire_r"]["value"] == found["scenarios", JOINT, "desire_r"]["value"]
    assert all(np.isfinite([row["value"], row["low"], row["high"]]).all() for row in found.values())


def test_rows_have_what_is_inferred_along_each_walk_and_what_people_said_at_its_end(done: Path) -> None:
    rows = [row for row in rows_in(done) if row["subject"] == JOINT]
    assert len(rows) == sum(len(path) for i, (path, *_) in enumerate(WALKS) if i != 3)
    first, last = rows[0], rows[2]
    assert (first["episode"], first["t"], last["t"]) == ("scenario 1", 0, 2)
    assert first["belief"] == pytest.approx(dict.fromkeys(("Lebanese", "Mexican", "nothing"), 1 / 3))
    assert last["people_desire"] == {"Korean": 6.0, "Lebanese": 3.0, "Mexican": 3.0}
    assert last["desire"]["Korean"] > 4.5


def test_the_report_shows_every_walk_in_a_viewer(done: Path) -> None:
    text = (done / "report.html").read_text("utf-8")
    shown = viewer.data(text)
    assert [level["name"] for level in shown["levels"]] == [f"scenario {i}" for i in (1, 2, 3, 5, 6)]
    captions = json.dumps(shown["captions"])
    assert "expected desires" in captions
    assert "expected beliefs of people" in captions
    assert "Without (they are skipped): 1." in text
    assert not re.findall(r"\bNaN\b|\bnan\b|\binf\b", text)


def test_the_same_data_give_the_same_results(clone: Path, done: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(models, "BETAS", (1.0, 2.5))
    reproduce("food-trucks", Options(tmp_path / "again", data=clone))
    for file in ("rows.jsonl", "summary.json", "report.html"):
        assert (tmp_path / "again" / file).read_bytes() == (done / file).read_bytes()


def test_the_data_are_asked_for_and_recognised(clone: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"people's judgements.*--data at a clone of"):
        reproduce("food-trucks", Options(tmp_path))
    assert names("all", clone) == ("food-trucks",)
    assert "food-trucks" not in {*names("all", None), *names("all", tmp_path)}


def test_correlations_are_over_all_numbers_with_intervals_over_units() -> None:
    rng = np.random.default_rng(0)
    ours = rng.normal(size=(30, 3))
    theirs = ours + rng.normal(size=(30, 3))
    found = correlation(ours, theirs)
    assert found.value == pytest.approx(pearson(ours.ravel().tolist(), theirs.ravel().tolist()))
    assert 0.1 < found.high - found.low < 0.4
    assert found.low < found.value < found.high
    assert found.n == 30


def test_scenarios_are_grouped_by_what_happened(clone: Path) -> None:
    scenarios = read_clone(clone, 2.5).scenarios
    assert [group(one.level).words for one in scenarios] == [
        "did not look, ate Korean, Lebanese parked",
        "looked, ate Lebanese, Lebanese parked",
        "looked, ate Korean, nothing parked",
        "did not look, ate Korean, nothing parked",
        "looked, on its way, Lebanese parked",
    ]
    twice = grouped([*scenarios[:2], scenarios[0]], [one.people for one in (*scenarios[:2], scenarios[4])])
    assert twice[0].desire == pytest.approx((scenarios[0].people.desire + scenarios[4].people.desire) / 2)


def test_the_heuristic_sees_motion_alone_and_never_its_own_scenario(clone: Path) -> None:
    scenarios = read_clone(clone, 2.5).scenarios
    assert cues(scenarios[1].level).tolist() == pytest.approx([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    before = motion_heuristic(scenarios)[0]
    scenarios[0].people.desire[:] = 7.0
    assert motion_heuristic(scenarios)[0].desire == pytest.approx(before.desire)


@pytest.mark.skipif(not DEV.is_dir(), reason="needs people's judgements, which have no licence to ship")
def test_inference_agrees_with_people_and_with_the_authors_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2.5 in BETAS
    monkeypatch.setattr(models, "BETAS", (2.5,))
    clone = read_clone(DEV, 2.5)
    some = [task for task in tasks(clone.scenarios) if task.model != EXACT]
    predictions = collected(map(inferred, some), clone.scenarios, clone.model).final
    found = by_key(summarise(clone.scenarios, clone.skipped, predictions))
    assert found["scenarios", JOINT, "desire_r"]["value"] >= 0.90
    assert found["scenarios", JOINT, "belief_r"]["value"] >= 0.76
    for control in ("true_belief", "no_cost"):
        assert found["scenarios", control, "belief_r"]["value"] < 0.3
    assert found["scenarios", MOTION, "desire_r"]["value"] < found["scenarios", JOINT, "desire_r"]["value"]
    assert clone.model is not None
    for ours, theirs in zip(predictions[models.Setting(JOINT)], clone.model, strict=True):
        assert ours.desire == pytest.approx(theirs.desire, abs=1e-3)
        assert ours.belief == pytest.approx(theirs.belief, abs=1e-3)

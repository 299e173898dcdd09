"""Experiments from end to end: what is written keeps to the results contract, and interruptions leave no trace."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.evaluation.judgements import in_sample, leave_one_out
from otherminds.evaluation.store import key
from otherminds.papers.protom import human_judgements as dkg_human
from otherminds.papers.protom.experiment import SUBJECTS
from otherminds.papers.protom.human_judgements import MODELS, SETTINGS, InferenceSetting, read_stimuli
from otherminds.reports.results import figures, verdicts
from otherminds.reproduce.run import Options, names, reproduce
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from paths import SHARED
from run_files import episodes_in, interrupted, rows_in, same_results, summary_in

pytestmark = pytest.mark.slow

Row = dict[str, Any]
CONDITIONS = ("all", "not_needed", "useful", "necessary")
METRICS = ("success", "speedup", "speedup_ratio_of_means", "messages", "decision_ms")
DEV = SHARED / "dkg-human-dev"


# ProToM in Doors-Keys-Gems


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One whole run of protom-dkg."""
    folder = tmp_path_factory.mktemp("runs") / "new" / "protom-dkg"
    returned = reproduce("protom-dkg", Options(folder)).summary
    assert returned == summary_in(folder)
    return folder


def test_every_episode_has_its_rows(done: Path) -> None:
    rows = rows_in(done)
    levels = bundled_levels()
    expected = [(level.kind, subject, level.name) for level in levels for subject in SUBJECTS]
    assert list(dict.fromkeys(map(key, rows))) == expected
    assert [key(row) for row in rows if "success" in row] == expected
    for row in rows:
        assert {"schema", "run", "experiment", "condition", "subject", "seed", "episode", "t", "agent", "action"} <= {
            *row
        }
        assert (row["schema"], row["experiment"], row["seed"]) == (1, "protom-dkg", 42)
        assert "ms" not in row
        if row["agent"] != "facilitator":
            assert row["reward"] in (0.0, -1.0)
        if "p_true" in row:
            assert row["p_true"] == row["posterior"][row["goal"]]
            assert row["posterior"][row["predicted"]] == max(row["posterior"].values())


def test_rows_count_steps_from_zero_and_end_with_the_length(done: Path) -> None:
    steps: dict[Any, set[int]] = {}
    for row in rows_in(done):
        steps.setdefault(key(row), set()).add(row["t"])
        if "success" in row:
            assert steps[key(row)] == set(range(max(steps[key(row)]) + 1))
            assert row["length"] == (len(steps[key(row)]) if row["success"] else 80)


def test_the_summary_is_spelt_as_the_contract_says(done: Path) -> None:
    summary = summary_in(done)
    found = {(r["condition"], r["subject"], r["metric"]) for r in summary}
    assert len(found) == len(summary)
    assert {(c, s, m) for c in CONDITIONS for s in ("none", "random", "oracle", "protom") for m in METRICS} <= found
    assert {c for c, _, _ in found} == set(CONDITIONS)
    sizes = {"all": 20, "not_needed": 6, "useful": 8, "necessary": 6}
    for row in summary:
        assert {"experiment", "condition", "subject", "metric", "value", "low", "high", "n"} <= {*row}
        assert row["low"] <= row["high"]
        if row["metric"] in METRICS:
            assert row["n"] == sizes[row["condition"]]
        assert 0 < row["n"] <= sizes[row["condition"]]


def test_published_figures_stand_beside_protom_on_all_levels(done: Path) -> None:
    beside = {(r["condition"], r["subject"], r["metric"]): r for r in summary_in(done) if "published" in r}
    assert set(beside) == {("all", "protom", metric) for metric in ("success", "speedup", "messages")}
    for row in beside.values():
        assert row["published_low"] <= row["published"] <= row["published_high"]
        assert row["source"] == "ProToM, §4.4"


def test_stated_targets_are_met(done: Path) -> None:
    judged = [(t, row, met) for t, row, met in verdicts(summary_in(done)) if t.experiment == "protom-dkg"]
    stated = [t for t in figures().target if t.experiment == "protom-dkg" and not t.condition.startswith("heldout/")]
    assert [t for t, _, _ in judged] == stated
    assert not [f"{t}: {row['value']}" for t, row, met in judged if not met]


def test_without_a_facilitator_nothing_is_said_or_gained(done: Path) -> None:
    alone = [r for r in summary_in(done) if r["subject"] == "none"]
    assert {r["value"] for r in alone if r["metric"] in ("speedup", "speedup_ratio_of_means", "messages")} == {0.0}
    success = {r["condition"]: r["value"] for r in alone if r["metric"] == "success"}
    assert success == {"all": 0.7, "not_needed": 1.0, "useful": 1.0, "necessary": 0.0}


def test_the_report_needs_nothing_from_elsewhere(done: Path) -> None:
    page = (done / "report.html").read_text("utf-8")
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"""https?://[^\s"'<>)]*""", page)) <= names
    assert not re.findall(r"""(?:src|href)=["']?(?!#|data:)[^"'\s>]+""", page)
    assert not re.findall(r"@import|url\((?!#|data:)", page)
    assert not re.findall(r"\bNaN\b|\bnan\b|\bInfinity\b", page)
    for level in bundled_levels():
        assert level.name in page


def test_a_finished_run_leaves_nothing_else(done: Path) -> None:
    assert {path.name for path in done.iterdir()} == {"run.db", "run.lock", "rows.jsonl", "summary.json", "report.html"}
    assert (done / "run.lock").stat().st_size == 0


def test_an_interrupted_run_goes_on_to_the_same_results_on_two_processes(done: Path, tmp_path: Path) -> None:
    left_out = set(episodes_in(done)[1::2])
    played = set(episodes_in(interrupted(done, tmp_path, left_out)))
    reproduce("protom-dkg", Options(tmp_path, jobs=2))
    assert set(episodes_in(tmp_path)) - played == left_out
    assert same_results(tmp_path, done)


def test_another_seed_does_not_go_on_in_the_same_folder(done: Path) -> None:
    before = {path: path.read_bytes() for path in done.iterdir()}
    with pytest.raises(InputError, match=r"run\.db: belongs to another run than protom-dkg seed 7 \(.*--out"):
        reproduce("protom-dkg", Options(done, seed=7))
    assert {path: path.read_bytes() for path in done.iterdir()} == before


# Which experiments there are


def test_unknown_names_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no experiment `nonsense` \(there is protom-dkg, .*and 3 more"):
        reproduce("nonsense", Options(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_all_stands_for_what_can_be_run(tmp_path: Path) -> None:
    played = {"protom-dkg", "protom-overcooked", "functional"}
    assert {*names("all", None)} == played | {"mumatom", "melting-pot", "hypothetical", "study", "people", "clue-games"}
    assert {*names("all", None, model=True)} == played | {"mumatom", "study"}
    assert {*names("all", tmp_path)} == played | {"dkg-human", "melting-pot", "hypothetical", "people", "clue-games"}
    assert names("nonsense", None) == ("nonsense",)
    assert names("all", tmp_path / "export.csv") == ("study",)
    (tmp_path / "run.db").touch()
    assert names("all", tmp_path) == ("study",)


def test_human_judgements_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--data"):
        reproduce("dkg-human", Options(tmp_path))


# People's judgements: a folder of our own in the layout of the real one

SCENARIO = """\
(define (problem small)
  (:domain doors-keys-gems)
  (:objects up down left right - direction key1 - key gem1 gem2 - gem)
  (:init (= (width) 5) (= (height) 3) (= (xpos) 3) (= (ypos) 1)
         (wall 2 2) (wall 4 2) (door 5 2) (doorloc 5 2)
         (at key1 1 1) (at gem1 1 3) (at gem2 5 3))
  (:goal (has gem1)))
"""
STIMULI = {
    "7_1": ("left left up up pickup:gem1", [[0.5, 0.5], [0.8, 0.2], [1.0, 0.0]]),
    "7_2": ("up up right right pickup:gem2", [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]]),
    "7_3": ("left left pickup:key1 right right right right unlock:key1:up up up pickup:gem2", [[0.6, 0.4], [0.1, 0.9]]),
}
POINTS = {"7_1": [1, 3, 5], "7_2": [1, 3, 5], "7_3": [1, 9]}


@pytest.fixture
def judgements(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for part in ("new-scenarios/actions", "average_human_results_arrays"):
        (folder / part).mkdir(parents=True)
    (folder / "judgement_points.json").write_text(json.dumps(POINTS))
    for name, (plan, judged) in STIMULI.items():
        lines = [f"({deed.replace(':', ' ')})\n" for deed in plan.split()]
        (folder / f"new-scenarios/scenario-{name.replace('_', '-')}.pddl").write_text(SCENARIO)
        (folder / f"new-scenarios/actions/{name}.dat").write_text("".join(lines))
        column = "".join(f"{p:.18e}\n" for at_point in judged for p in at_point)
        (folder / f"average_human_results_arrays/{name}.csv").write_text(column)
    return folder


def test_judgements_are_read_with_what_people_saw(judgements: Path) -> None:
    stimuli = {stimulus.name: stimulus for stimulus in read_stimuli(judgements)}
    assert [len(stimulus.steps) for stimulus in stimuli.values()] == [5, 5, 11]
    for name, stimulus in stimuli.items():
        assert stimulus.judged.tolist() == STIMULI[name][1]
        assert list(stimulus.points) == POINTS[name]


def test_a_clone_is_read_from_its_root(judgements: Path, tmp_path: Path) -> None:
    (tmp_path / "clone" / "domains").mkdir(parents=True)
    judgements.rename(tmp_path / "clone" / "domains" / "doors-keys-gems")
    assert [s.name for s in read_stimuli(tmp_path / "clone")] == list(STIMULI)


def test_inference_begins_at_the_prior_and_ends_with_what_was_taken(judgements: Path) -> None:
    for stimulus, gem in zip(read_stimuli(judgements), (0, 1, 1), strict=True):
        inferred = stimulus.inferred(InferenceSetting(2.0, 0.05, 0.0))
        assert inferred[0] == pytest.approx([0.5, 0.5])
        assert inferred.sum(axis=1) == pytest.approx(np.ones(len(stimulus.points)))
        assert inferred[-1, gem] > 0.8


def test_judgements_of_a_model_are_fitted_by_that_model(judgements: Path) -> None:
    truth = InferenceSetting(1.5, 0.1, 0.3)
    for stimulus in read_stimuli(judgements):
        column = "".join(f"{p!r}\n" for p in stimulus.inferred(truth).ravel().tolist())
        (judgements / f"average_human_results_arrays/{stimulus.name}.csv").write_text(column)
    stimuli = read_stimuli(judgements)
    found = dkg_human.fits(dict(dkg_human.inferences(stimuli, setting) for setting in SETTINGS), stimuli)
    assert found["in_sample", "boltzmann_lapse_leak"].settings == [truth] * 3
    table = {(r["condition"], r["subject"], r["metric"]): r["value"] for r in dkg_human.summarise(found, stimuli)}
    assert table["in_sample", "boltzmann_lapse_leak", "r"] == pytest.approx(1.0)
    assert table["in_sample", "boltzmann_lapse_leak", "rmse"] == pytest.approx(0.0, abs=1e-12)
    assert table["in_sample", "boltzmann", "r"] <= table["in_sample", "boltzmann_lapse", "r"] < 0.9999


def test_the_setting_for_a_stimulus_is_chosen_without_it(judgements: Path) -> None:
    stimuli = read_stimuli(judgements)
    inferred = dict(dkg_human.inferences(stimuli, setting) for setting in SETTINGS)
    judged = [stimulus.judged for stimulus in stimuli]
    found = leave_one_out(inferred, judged)
    for i, setting in enumerate(found.settings):
        others = [one for j, one in enumerate(judged) if j != i]
        table = {s: [p for j, p in enumerate(points) if j != i] for s, points in inferred.items()}
        assert in_sample(table, others).settings[0] == setting
        assert found.predicted[i] is inferred[setting][i]


def test_a_given_setting_is_scored_and_not_fitted(judgements: Path, tmp_path: Path) -> None:
    options = Options(tmp_path / "out", data=judgements, fixed="leak=0.25, beta=7,lapse=0.5")
    summary = reproduce("dkg-human", options).summary
    given, stimuli = InferenceSetting(7.0, 0.5, 0.25), read_stimuli(judgements)
    expected = dkg_human.summarise(
        {("fixed", "m"): in_sample(dict([dkg_human.inferences(stimuli, given)]), [s.judged for s in stimuli])}, stimuli
    )
    found = [row for row in summary if row["condition"] == "fixed"]
    assert [(row["metric"], row["value"]) for row in found] == [(row["metric"], row["value"]) for row in expected]
    without = reproduce("dkg-human", Options(tmp_path / "without", data=judgements)).summary
    assert [row for row in summary if row["condition"] != "fixed"] == without
    assert "Fixed setting" in (tmp_path / "out" / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "beta=2",
        "beta=2,lapse=0,leak=1",
        "beta=nan,lapse=0,leak=0",
        "beta=2,lapse=x,leak=0",
        "beta=2,beta=2,lapse=0,leak=0",
    ],
)
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no setting"):
        dkg_human.read_setting(text)


def test_judgements_from_end_to_end(judgements: Path, tmp_path: Path) -> None:
    for _ in range(2):  # the second time over the results of the first
        returned = reproduce("dkg-human", Options(tmp_path / "out", data=judgements)).summary
    assert returned == summary_in(tmp_path / "out")
    assert {(r["condition"], r["subject"], r["metric"]) for r in returned} == {
        (c, m, metric) for c in ("in_sample", "leave_one_out") for m in MODELS for metric in ("r", "rmse")
    }
    assert {r["n"] for r in returned} == {3}
    rows = rows_in(tmp_path / "out")
    assert len(rows) == 2 * 3 * (3 + 3 + 2)
    assert rows[0]["people"] == {"red": 0.5, "yellow": 0.5}
    assert not re.findall(r"\bNaN\b|\bnan\b|\binf\b", (tmp_path / "out" / "report.html").read_text("utf-8"))


CSV, DAT, PDDL = (
    "average_human_results_arrays/7_2.csv",
    "new-scenarios/actions/7_2.dat",
    "new-scenarios/scenario-7-2.pddl",
)
MALFORMED: dict[str, tuple[str, Callable[[str], str] | None, str]] = {
    "no scenario": (PDDL, None, "scenario-7-2.pddl: cannot be read"),
    "no actions": (DAT, None, "7_2.dat: cannot be read"),
    "a broken scenario": (PDDL, lambda s: s.replace("(wall 4 2)", "(wall 4"), r"scenario-7-2.pddl:\d+:\d+: "),
    "an impossible action": (DAT, lambda s: s.replace("right", "up"), "7_2.dat:3: agent cannot do `up`"),
    "an unknown action": (DAT, lambda s: s.replace("(up)", "(jump)"), "7_2.dat:1:1: unknown `jump`"),
    "too few actions": (DAT, lambda s: s[:10], "7_2.dat: has 2 actions, judged after 4"),
    "words for numbers": (CSV, lambda s: s.replace("\n", "\nmany\n", 1), "7_2.csv:2: `many` is not a number"),
    "a line left empty": (CSV, lambda s: "\n" + s.replace("\n", "\nmany\n", 1), "7_2.csv:3: `many` is not a number"),
    "NaN": (CSV, lambda s: "nan\n" + s, "7_2.csv:1: nan is not a probability"),
    "no probability": (CSV, lambda s: "1.5\n" + s, "7_2.csv:1: 1.5 is not a probability"),
    "too many numbers": (CSV, lambda s: s + "0.5\n", r"7_2.csv: has 7 numbers instead of 3 × 2"),
    "an empty table": (CSV, lambda _: "", r"7_2.csv: has 0 numbers"),
    "not UTF-8": (CSV, lambda s: s + "\udcff", r"7_2.csv:7: is not UTF-8"),
    "points that are no JSON": ("judgement_points.json", lambda s: s[:-1], "judgement_points.json: is not a table"),
    "points that are no table": ("judgement_points.json", lambda _: "[1]", "judgement_points.json: is not a table"),
    "points in words": ("judgement_points.json", lambda s: s.replace("3", '"x"'), "judgement_points.json: is not a"),
    "a point before the start": (
        "judgement_points.json",
        lambda _: json.dumps(POINTS | {"7_2": [0, 3, 5]}),
        "judgement_points.json: ",
    ),
    "no points": ("judgement_points.json", lambda _: json.dumps(POINTS | {"7_2": []}), "judgement_points.json: "),
}


@pytest.mark.parametrize(("file", "change", "message"), MALFORMED.values(), ids=MALFORMED)
def test_what_is_wrong_with_judgements_is_said_in_one_line(
    judgements: Path, file: str, change: Callable[[str], str] | None, message: str
) -> None:
    path = judgements / file
    text = path.read_text("utf-8")
    path.unlink()
    if change is not None:
        path.write_text(change(text), "utf-8", "surrogateescape")
    with pytest.raises(InputError, match=message) as caught:
        read_stimuli(judgements)
    assert str(caught.value).startswith(str(judgements))


def test_a_stimulus_that_nobody_knows_the_points_of(judgements: Path) -> None:
    (judgements / CSV).rename(judgements / CSV.replace("7_2", "9_9"))
    with pytest.raises(InputError, match=r"9_9.csv: there is no such stimulus \(one of 1_1, "):
        read_stimuli(judgements)


def test_a_folder_without_judgements(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no average_human_results_arrays"):
        read_stimuli(tmp_path)


def test_one_stimulus_cannot_be_left_out(judgements: Path, tmp_path: Path) -> None:
    for name in ("7_2", "7_3"):
        (judgements / f"average_human_results_arrays/{name}.csv").unlink()
    with pytest.raises(InputError):
        reproduce("dkg-human", Options(tmp_path / "out", data=judgements))


def test_people_who_never_vary_correlate_with_nothing(judgements: Path, tmp_path: Path) -> None:
    for name, (_, judged) in STIMULI.items():
        column = "0.5\n" * sum(map(len, judged))
        (judgements / f"average_human_results_arrays/{name}.csv").write_text(column)
    with pytest.raises(InputError):
        reproduce("dkg-human", Options(tmp_path / "out", data=judgements))


@pytest.mark.skipif(not DEV.is_dir(), reason="needs people's judgements, which have no licence to ship")
def test_inference_agrees_with_people() -> None:
    stimuli = read_stimuli(DEV)
    found = dkg_human.fits(dict(dkg_human.inferences(stimuli, setting) for setting in SETTINGS), stimuli)
    table = {(r["condition"], r["subject"], r["metric"]): r for r in dkg_human.summarise(found, stimuli)}
    assert table["leave_one_out", "boltzmann_lapse_leak", "r"]["value"] >= 0.82
    assert table["leave_one_out", "boltzmann_lapse_leak", "r"]["n"] == len(stimuli)

"""Studies from end to end: what simulated pairs do, what is read of an export, and what comes of it."""

from __future__ import annotations

import copy
import csv
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import Run, complaint
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.statistics import benjamini_hochberg, fisher, mann_whitney
from otherminds.evaluation.store import Store
from otherminds.evaluation.tabular import write_csv, write_jsonl, write_parquet
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted
from otherminds.papers.protom import experiment as protom_experiment
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.papers.protom.study import report as study_report
from otherminds.papers.protom.study import scores as study_scores
from otherminds.papers.protom.study import simulated as study
from otherminds.papers.protom.study.export import ASPECTS, finished_trials, is_export, read_export, trials
from otherminds.papers.protom.study.plan import default_levels
from otherminds.papers.protom.study.scores import compare, results, summarise
from otherminds.reports.page import safe
from otherminds.reports.results import figures
from otherminds.reproduce.run import Options, reproduce
from run_files import episodes_in, interrupted, same_results, summary_in
from run_files import results as results_in

pytestmark = pytest.mark.slow

Row = dict[str, Any]
HOSTILE = "<script>alert(1)</script>"


def trial(
    pair: int,
    number: int,
    level: str,
    subject: str,
    length: int,
    *,
    said: tuple[str, ...] = (),
    condition: str = "useful",
    **last: Any,
) -> list[Row]:
    """The rows of a trial; `said` is what became of the messages, each said at one step and settled at the next."""
    name = f"{pair:02}-{number} {level}"
    base = {"schema": 1, "experiment": "study", "condition": condition, "subject": subject, "seed": 1, "episode": name}
    base |= {"pair": pair, "trial": number, "level": level}
    found: list[Row] = []
    for t in range(length):
        for agent in ("Ana", "Ben"):
            found.append({**base, "t": t, "agent": agent, "action": "stay", "goal": "SimpleTomato"})
        fate = {"status": said[t - 1]} if 0 < t <= len(said) else {}
        told = {"action": "Ana: wait", "words": "Please wait."} if t < len(said) else {"action": "", "why": "quiet"}
        found.append({**base, "t": t, "agent": "facilitator", "ms": float(t), **told, **fate})
    usual = {"success": True, "length": length, "ended": "finished", "by": {"Ana": "person", "Ben": "person"}}
    found[-1] |= usual | last
    return found


def rated(*points: int) -> dict[str, int]:
    return dict(zip(ASPECTS, points, strict=False))


# Two pairs. Without anybody `one` takes 10 and 20 steps, `two` fails at 30; ProToM needs 5 and 10, a chatterbox 10.
PLAYED = [
    *trial(1, 1, "one", "none", 10),
    *trial(2, 1, "one", "none", 20),
    *trial(1, 2, "two", "none", 30, success=False, ended="time", condition="necessary"),
    *trial(1, 3, "one", "protom", 5, said=("completed",), ratings={"Ana": rated(7, 6, 5, 4), "Ben": rated(5)}),
    *trial(
        2, 2, "two", "protom", 10, said=("ignored", "completed"), condition="necessary", ratings={"Ben": rated(6, 6)}
    ),
    *trial(1, 4, "two", "random", 10, said=("ignored", "ignored"), outcome="ignored", condition="necessary"),
    *trial(2, 3, "three", "random", 8, said=("impossible",), ratings={"Ana": rated(1, 2, 3, 4)}),
    *trial(2, 4, "one", "protom", 3, said=("completed",) * 2, ended="left", success=False),
]


def values(summary: list[Row], subject: str, condition: str = "all") -> dict[str, float]:
    return {r["metric"]: r["value"] for r in summary if (r["subject"], r["condition"]) == (subject, condition)}


# What comes of it


def test_figures_computed_by_hand() -> None:
    summary = summarise(PLAYED)
    alone, protom, chatter = (values(summary, subject) for subject in ("none", "protom", "random"))
    assert alone["success"] == pytest.approx(2 / 3)
    assert alone["speedup"] == pytest.approx(np.mean([15 / 10, 15 / 20, 30 / 30]) - 1)
    assert protom["success"] == 1.0
    assert protom["speedup"] == pytest.approx(np.mean([15 / 5, 30 / 10]) - 1)
    assert (protom["messages"], protom["ignored"], protom["trials"]) == (1.5, 1.0, 2.0)
    assert protom["ignored_share"] == pytest.approx(1 / 3)
    assert protom["helpful"] == pytest.approx((7 + 5 + 6) / 3)
    assert (protom["appropriate"], protom["clear"], protom["understood"]) == (6.0, 5.0, 4.0)
    assert protom["decision_ms"] == pytest.approx(np.mean([*range(1, 5), *range(1, 10)]))
    assert (chatter["speedup"], chatter["ignored"], chatter["messages"]) == (2.0, 3.0, 1.5)
    assert not {*alone} & {*ASPECTS, "decision_ms", "ignored_share"}


def test_classes_and_numbers_of_pairs() -> None:
    summary = summarise(PLAYED)
    assert values(summary, "protom", "necessary")["speedup"] == pytest.approx(2.0)
    assert values(summary, "protom", "useful")["helpful"] == 6.0
    counts = {(r["condition"], r["subject"]): r["n"] for r in summary if r["metric"] == "trials"}
    assert counts["all", "protom"] == 2
    assert counts["useful", "protom"] == 1
    for row in summary:
        assert row["low"] <= row["value"] <= row["high"]


def test_intervals_resample_pairs_not_trials() -> None:
    """Ten trials of a pair that all go alike tell no more of it than one; the pairs differ."""
    rows = [
        r for p in (1, 2) for k in range(1, 11) for r in trial(p, k, "one", "protom", 4, said=("ignored",) * (p - 1))
    ]
    (messages,) = [r for r in summarise(rows) if (r["condition"], r["metric"]) == ("all", "messages")]
    assert (messages["value"], messages["low"], messages["high"], messages["n"]) == (0.5, 0.0, 1.0, 2)
    (success,) = [r for r in summarise(rows) if (r["condition"], r["metric"]) == ("all", "success")]
    assert (success["value"], success["n"]) == (1.0, 2)
    assert success["low"] == pytest.approx(2 / (2 + 1.959964**2), abs=1e-4)  # Wilson's for two of two


def test_the_total_of_ignored_messages_has_the_interval_of_its_mean() -> None:
    rows = [r for p in (1, 2) for r in trial(p, 1, "one", "protom", 6, said=("ignored",) * (2 * p))]
    (ignored,) = [r for r in summarise(rows) if (r["condition"], r["metric"]) == ("all", "ignored")]
    assert (ignored["value"], ignored["low"], ignored["high"]) == (6.0, 4.0, 8.0)


def test_trials_that_were_left_count_nowhere() -> None:
    kept = [row for row in PLAYED if row["episode"] != "02-4 one"]
    assert finished_trials(PLAYED) == kept
    assert summarise(PLAYED) == summarise(kept)
    assert compare(PLAYED) == compare(kept)
    assert summarise([row for row in PLAYED if row["episode"] == "02-4 one"]) == []


def test_levels_that_nobody_played_alone_have_no_speedup() -> None:
    speedups = {r.episode: next(iter(r.values["speedup"]), None) for r in results(PLAYED)}
    assert speedups["02-3 three"] is None
    assert speedups["01-4 two"] == 2.0
    assert "1 trials have no speed-up" in study_report.report(PLAYED, summarise(PLAYED))


def test_the_papers_tests_and_differences_within_pairs() -> None:
    found = {(c.reference, c.metric): c for c in compare(PLAYED)}
    assert {metric for other, metric in found if other == "none"} == {"success", "speedup"}
    assert {metric for other, metric in found if other == "random"} == {"success", "speedup", "messages", *ASPECTS}
    success = found["none", "success"]
    assert success.p == fisher([True, True], [True, True, False])
    assert success.difference.value == pytest.approx(np.mean([1 - 0.5, 1 - 1]))
    assert found["none", "speedup"].p == mann_whitney([2.0, 2.0], [0.5, -0.25, 0.0])
    assert found["random", "helpful"].p == mann_whitney([7, 5, 6], [1])
    assert found["random", "helpful"].difference[:] == (5.0, 5.0, 5.0, 1)
    assert [c.p_corrected for c in compare(PLAYED)] == benjamini_hochberg([c.p for c in compare(PLAYED)])
    assert compare([row for row in PLAYED if row["subject"] != "protom"]) == []


def test_pairs_that_have_only_one_of_both_do_not_count_as_differences() -> None:
    rows = [*trial(1, 1, "one", "protom", 5), *trial(2, 1, "one", "random", 5)]
    for comparison in compare(rows):
        assert comparison.difference.n == 0
        assert np.isnan(comparison.difference.value)
    assert "Tests" in study_report.report(rows, summarise(rows))


# Simulated participants


@pytest.fixture(scope="module")
def one_pair() -> list[Row]:
    return [row for entry in study.plan(1, 42, levels=default_levels()) for row in study.rows(entry)]


@pytest.mark.slow
def test_a_simulated_pair_writes_what_an_export_has(one_pair: list[Row], tmp_path: Path) -> None:
    with Store(tmp_path, "study") as store:
        store.replace(one_pair)
    assert read_export(tmp_path) == one_pair
    played = list(trials(one_pair))
    assert [t[-1]["trial"] for t in played] == [1, 2, 3, 4, 5, 6]
    assert Counter((t[-1]["subject"], t[-1]["condition"]) for t in played) == {
        (who, kind): 1 for who in study.SUBJECTS for kind in ("useful", "necessary")
    }
    for rows in played:
        last = rows[-1]
        assert last["episode"] == f"01-{last['trial']} {last['level']}"
        assert last["by"] == {"Ana": "simulated", "Ben": "simulated"}
        assert ("ratings" in last) == (last["subject"] != "none")
        assert last["success"] == (last["ended"] == "finished")
        assert last["length"] == (last["t"] + 1 if last["success"] else 100)


def test_whoever_obeys_always_plays_as_in_the_other_experiment() -> None:
    entry = next(e for e in study.plan(1, 42, levels=default_levels(), obedience=1.0) if e.played.subject == "protom")
    ours = study.rows(entry)
    theirs = OVERCOOKED.rows(entry.played)
    same = (
        "condition",
        "subject",
        "seed",
        "t",
        "agent",
        "action",
        "goal",
        "reward",
        "posterior",
        "why",
        "words",
        "prices",
    )
    assert [[row.get(name) for name in same] for row in ours] == [[row.get(name) for name in same] for row in theirs]
    assert [ours[-1].get(name) for name in ("success", "length", "outcome")] == [
        theirs[-1].get(name) for name in ("success", "length", "outcome")
    ]


def test_whoever_never_obeys_ignores_what_needs_them() -> None:
    hatch = [level for level in default_levels() if level.name == "hatch"]
    (played,) = protom_experiment.plan(hatch, ["protom"], seed=5)
    entry = study.PlannedTrial(1, 1, played, obedience=0.0)
    rows = study.rows(entry)
    assert not rows[-1]["success"]
    assert (rows[-1]["ended"], rows[-1]["length"]) == ("time", 100)
    assert "ignored" in {row.get("status") for row in rows}
    assert "completed" not in {row.get("status") for row in rows}


def test_simulated_people_rate_by_their_rule() -> None:
    rows = trial(1, 1, "one", "protom", 6, said=("completed", "ignored"), outcome="impossible")
    rows[11] |= {"action": "Ana: wait", "words": study.NO_REASON}
    rows[0] |= {"p_true": 0.25}
    rows[-3] |= {"p_true": 0.75}
    facts = {"helpful": 1 / 3, "appropriate": 1 / 3, "clear": 2 / 3}
    assert study.rating_shares(rows, "Ana") == pytest.approx(facts | {"understood": 0.75})
    assert study.rating_shares(rows, "Ben") == pytest.approx(facts)
    rows[-1] |= {"success": False}
    assert study.rating_shares(rows, "Ben") == pytest.approx(facts | {"helpful": 1 / 6})
    assert study.rating_shares(trial(1, 1, "one", "protom", 6), "Ana") == {}


def test_ratings_are_points_about_the_facts(one_pair: list[Row]) -> None:
    for rows in trials(one_pair):
        for agent, rating in rows[-1].get("ratings", {}).items():
            facts = study.rating_shares(rows, agent)
            for aspect in ASPECTS:
                assert rating[aspect] in range(1, 8)
                assert abs(rating[aspect] - (1 + 6 * facts.get(aspect, 0.5))) < 4 * study.NOISE


@pytest.mark.slow
def test_seeds_make_a_difference_and_nothing_else_does() -> None:
    first, again, other = (study.rows(study.plan(1, seed)[0]) for seed in (1, 1, 2))

    def timeless(rows: list[Row]) -> list[Row]:
        return [{name: value for name, value in row.items() if name != "ms"} for row in rows]

    assert timeless(first) == timeless(again)
    assert timeless(first) != timeless(other)


# What is read


def test_all_formats_are_read_alike(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", PLAYED)
    write_csv(tmp_path / "a.csv", PLAYED)
    assert read_export(tmp_path / "a.jsonl") == read_export(tmp_path / "a.csv") == PLAYED
    pytest.importorskip("pyarrow")
    write_parquet(tmp_path / "a.parquet", PLAYED)
    assert read_export(tmp_path / "a.parquet") == PLAYED


def test_a_table_saved_again_by_a_spreadsheet_is_read_alike(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", PLAYED)
    with (tmp_path / "a.csv").open(newline="") as written, (tmp_path / "b.csv").open("w", newline="") as saved:
        csv.writer(saved).writerows(csv.reader(written))
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "b.csv").read_bytes()
    assert read_export(tmp_path / "b.csv") == PLAYED


def test_what_looks_like_an_export(tmp_path: Path) -> None:
    assert is_export(tmp_path / "a.csv")
    assert not is_export(tmp_path / "machines.toml")
    assert not is_export(tmp_path)
    (tmp_path / "run.db").touch()
    assert is_export(tmp_path)


def changed(i: int, **columns: Any) -> Callable[[list[Row]], list[Row]]:
    """Rows of which one has other values; None takes a column away."""

    def change(rows: list[Row]) -> list[Row]:
        row = {k: v for k, v in {**rows[i], **columns}.items() if v is not None}
        return [*rows[:i], row, *rows[i:][1:]]

    return change


MALFORMED: dict[str, tuple[Callable[[list[Row]], list[Row]], str]] = {
    "no rows": (lambda _: [], r"a\.jsonl: holds no trial"),
    "another schema": (changed(0, schema=2), r":1: `schema`"),
    "another experiment": (changed(1, experiment="functional"), r":2: `experiment`"),
    "no agent": (changed(1, agent=None), r":2: `agent`: Field required"),
    "a step as text": (changed(3, t="1"), r":4: `t`"),
    "a step that is true": (changed(3, t=True), r":4: `t`"),
    "a pair below zero": (changed(0, pair=-1), r":1: `pair`"),
    "a rating of eight": (changed(14, ratings={"Ana": {"helpful": 8}}), r":15: `ratings\.Ana\.helpful`"),
    "a rating of zero": (changed(14, ratings={"Ana": {"clear": 0}}), r":15: `ratings\.Ana\.clear`"),
    "a rating of 6.5": (changed(14, ratings={"Ana": {"clear": 6.5}}), r":15: `ratings\.Ana\.clear`"),
    "an unknown aspect": (changed(14, ratings={"Ana": {"funny": 3}}), r":15: `ratings\.Ana\.funny"),
    "ratings as text": (changed(14, ratings="7"), r":15: `ratings`"),
    "somebody odd": (changed(14, by={"Ana": "robot"}), r":15: `by\.Ana`"),
    "an unknown status": (changed(5, status="gone"), r":6: `status`"),
    "an infinite probability": (changed(3, posterior={"x": 7.0}, p_true=0.1, predicted="x"), r":4: `posterior\.x`"),
    "half a posterior": (changed(3, posterior={"x": 1.0}), r":4: with `posterior` there are"),
    "no length": (changed(14, length=None), r":15: a trial that came to its end has"),
    "a length of nothing": (changed(14, length=0), r":15: `length`"),
    "an endless length": (changed(14, length=10**400), r":15: `length`"),
    "a step left out": (lambda rows: [*rows[:3], *rows[6:]], r":4: `t` should be 1 here"),
    "a later start": (lambda rows: rows[3:], r":1: `t` should be 0 here"),
    "a step twice": (lambda rows: [*rows[:6], *rows[3:]], r":4: a step needs one row for each person"),
    "somebody missing": (lambda rows: [*rows[:4], *rows[5:]], r":4: a step needs one row for each person"),
    "no facilitator": (lambda rows: [r for r in rows if r["agent"] != "facilitator"], r":1: a trial has people and a"),
    "no people": (lambda rows: [r for r in rows if r["agent"] == "facilitator"], r":1: a trial has people and a"),
    "two seeds": (changed(4, seed=2), r":5: `seed` changes within a trial"),
    "two levels": (changed(4, level="two"), r":5: `level` changes within a trial"),
    "two ends": (changed(5, ended="left"), r":6: a trial goes on after its end"),
    "a trial twice": (lambda rows: [*rows, *trial(9, 1, "x", "none", 1), *rows], r":19: `01-1 one` goes on after"),
}


@pytest.mark.parametrize(("change", "said"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_exports_are_told_by_their_first_wrong_line(
    tmp_path: Path, change: Callable[[list[Row]], list[Row]], said: str
) -> None:
    rows = change(trial(1, 1, "one", "protom", 5, said=("completed",)))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=said) as caught:
        read_export(tmp_path / "a.jsonl")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("real", [False, True])
def test_damaged_exports_are_refused_or_reported(tmp_path: Path, one_pair: list[Row], real: bool) -> None:
    """Whatever can be read can be summed up and shown, in kitchens that are known and others."""
    path, rng = tmp_path / "a.jsonl", random.Random(3)
    played = next(t for t in trials(one_pair) if t[-1]["subject"] == "protom") if real else PLAYED
    odd = ["-1", "true", "null", '"x"', "1e308", "[]", "{}", '{"x": 1}', str(10**30), '""']
    optional = ["goal", "words", "why", "comments", "ratings", "posterior", "prices", "outcome", "status", "reward"]
    read = refused = 0
    for _ in range(20 if real else 100):
        rows = copy.deepcopy(played)
        row = rows[rng.choice([-1, rng.randrange(len(rows))])]
        row[rng.choice([*row, *optional, *optional])] = json.loads(rng.choice(odd))
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        try:
            found = read_export(path)
        except InputError:
            refused += 1
            continue
        read += 1
        summary = summarise(found)
        if real or read % 8 == 1:
            study_report.report(found, summary)
    assert read > 0
    assert refused > 0


# From the command line to the report


@pytest.fixture(scope="module")
def few() -> Iterator[None]:
    """Three kitchens instead of six."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "default_levels", lambda: default_levels()[3:])
        yield


def leave_undrawn(patch: pytest.MonkeyPatch) -> None:
    """Figures are made, but not drawn, which would take most of the time."""
    patch.setattr(study_report, "inline", lambda figure, caption="": safe(caption))


@pytest.fixture(scope="module")
def done(few: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "study"
    with pytest.MonkeyPatch.context() as patch:
        leave_undrawn(patch)
        reproduce("study", Options(folder, scale="quick"))
    return folder


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_undrawn(monkeypatch)


@pytest.mark.slow
def test_three_simulated_pairs_play_everything_with_everybody(done: Path) -> None:
    met = Counter((t[-1]["level"], t[-1]["subject"]) for t in trials(read_export(done)))
    assert met == dict.fromkeys(product([level.name for level in default_levels()[3:]], study.SUBJECTS), 1)


def test_published_figures_stand_beside_ours(done: Path) -> None:
    beside = {r["metric"]: r for r in summary_in(done) if "published" in r}
    assert set(beside) == {"success", "speedup", "messages", "ignored"}
    assert {(r["condition"], r["subject"]) for r in beside.values()} == {("all", "protom")}
    assert (beside["speedup"]["published"], beside["ignored"]["published"]) == (0.75, 5)
    assert beside["speedup"]["published_high"] == pytest.approx(0.75 + 1.96 * 0.17)
    assert {p.subject for p in figures().published if p.experiment == "study"} == {"protom", "lm:gpt-4o"}


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_what_was_simulated_can_be_given_as_an_export(done: Path, tmp_path: Path) -> None:
    rows = read_export(done)
    write_csv(tmp_path / "export.csv", rows)
    for data in (done, tmp_path / "export.csv"):
        out = tmp_path / "out"
        table = reproduce("study", Options(out, data=data)).summary
        assert table == summary_in(out) == summary_in(done)
        assert len(read_export(out)) == len(rows)


@pytest.mark.usefixtures("undrawn")
def test_the_command_plays_and_takes_up_where_it_was(done: Path, run: Run) -> None:
    before = results_in(done)
    found = run("reproduce", "study", "--quick", "--out", str(done))
    assert (found.code, found.err) == (0, "")
    assert f"Report: {done / 'report.html'}" in "".join(found.out.splitlines())
    assert results_in(done) == before


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_broken_off_run_goes_on_where_it_was(done: Path, tmp_path: Path) -> None:
    left_out = episodes_in(done)[::2]
    reproduce("study", Options(interrupted(done, tmp_path, left_out), scale="quick"))
    assert same_results(tmp_path, done)


def test_an_export_needs_no_model_and_leaves_other_runs_alone(done: Path, run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has been played already \(leave --model out\)"):
        reproduce("study", Options(tmp_path / "out", data=done, asking=Asking("nobody:nothing")))
    refused = run("reproduce", "study", "--data", str(done), "--out", str(done))
    complaint(refused, "belongs to another run than study exported")


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_language_model_takes_the_place_of_random(few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted("quiet", says_nothing)
    monkeypatch.setattr("otherminds.evaluation.asking.find_model", lambda _: model)
    monkeypatch.setattr("otherminds.papers.protom.reproduction.PAIRS", {"quick": 1})
    reproduce("study", Options(tmp_path, scale="quick", asking=Asking("nobody:quiet")))
    rows = read_export(tmp_path)
    assert Counter(t[-1]["subject"] for t in trials(rows)) == {"none": 1, "protom": 1, "lm:quiet": 1}
    assert any("said" in row for row in rows if row["subject"] == "lm:quiet")


def says_nothing(request: Request) -> str:
    wanted = json.loads(request.schema)["properties"]["goals"]["properties"]
    return json.dumps({"goals": {a: menu["enum"][0] for a, menu in wanted.items()}, "reason": "", "choice": 0})


# The report


def report(rows: list[Row]) -> str:
    return study_report.report(rows, summarise(rows))


def test_the_report_of_the_example_says_that_nobody_was_real(done: Path) -> None:
    page = (done / "report.html").read_text("utf-8")
    assert "In 9 of 9 trials somebody was simulated" in page
    assert "Their ratings say nothing about people" in page
    assert "gpt-4o, published" in page
    assert "data-replay" in page
    for row in read_export(done):
        assert row["agent"] != "facilitator" or not row["action"] or row["action"].split(" to ")[0] in page


def test_the_report_on_people_says_nothing_of_simulations() -> None:
    assert "simulated" not in report(PLAYED)


def test_what_became_of_messages() -> None:
    said = trial(1, 1, "one", "protom", 6, said=("completed", "running", "ignored"), outcome="running")
    assert [(t, fate) for t, _, _, fate in study_report.sent_messages(said)] == [
        (0, "completed"),
        (1, "ignored"),
        (2, "ignored"),
    ]
    last = trial(1, 1, "one", "protom", 2, said=("completed", "x"), outcome="impossible")
    assert [fate for *_, fate in study_report.sent_messages(last)] == ["completed", "not executable"]
    still = trial(1, 1, "one", "protom", 2, said=("running", "x"))
    assert [fate for *_, fate in study_report.sent_messages(still)] == ["still under way at the end"] * 2


def test_early_ends_are_counted_with_their_reasons() -> None:
    page = report(PLAYED)
    assert "1 of 8 trials were not finished" in page
    assert ">left</td>" in page
    assert "(ended early)" in page
    assert "Not shown, as their levels do not come with the library: one, two, three." in page


def test_nothing_from_outside_is_markup(one_pair: list[Row]) -> None:
    rows = copy.deepcopy(one_pair)
    for row in rows:
        for column in ("episode", "condition", "level"):
            row[column] += HOSTILE
        row["subject"] = f"lm:{HOSTILE}" if row["subject"] == "random" else row["subject"]
        for column in ("words", "why", "goal"):
            row[column] = HOSTILE
    for last in (t[-1] for t in trials(rows)):
        last |= {"ended": "finished", "comments": {HOSTILE: HOSTILE}, "by": {HOSTILE: "person"}}
        last["ratings"] = {HOSTILE: rated(1, 2, 3, 4)}
    rows[-1]["ended"] = HOSTILE
    page = report(rows)
    assert "&lt;script&gt;alert(1)" in page
    assert HOSTILE not in page
    shown = copy.deepcopy(one_pair)
    for row in shown:
        row["goal"] = row["words"] = HOSTILE
    assert HOSTILE not in report(shown)


def test_trials_that_do_not_fit_their_level_are_not_shown(one_pair: list[Row]) -> None:
    rows = copy.deepcopy(one_pair)
    rows[0]["action"] = "fly"
    page = report(rows)
    assert "The trials cannot be shown: step 0 of" in page
    assert "no such action as `fly`" in page


def test_every_trial_can_be_watched(one_pair: list[Row]) -> None:
    page = report(one_pair)
    for rows in trials(one_pair):
        assert f">{rows[-1]['episode']}</option>" in page


def test_there_may_be_little(tmp_path: Path) -> None:
    for rows in (trial(1, 1, "one", "none", 1), trial(1, 1, "one", "none", 1, ended="left")):
        page = report(rows)
        assert "Nobody has rated anything" in page
        assert "Nothing was said" in page
        assert "There is nothing to compare ProToM with" in page


def test_facilitators_come_in_their_usual_order() -> None:
    rows = [r for k, who in enumerate(("lm:b", "protom", "a", "none"), 1) for r in trial(1, k, "one", who, 2)]
    assert list(dict.fromkeys(r["subject"] for r in summarise(rows))) == ["none", "protom", "a", "lm:b"]
    assert list(dict.fromkeys(c.reference for c in compare(rows))) == ["none", "a", "lm:b"]


def test_summaries_name_only_metrics_that_are_there() -> None:
    assert {r["metric"] for r in summarise(PLAYED)} <= {*study_scores.MEASURED, "ignored_share", "trials"}
    assert all(r["experiment"] == "study" for r in summarise(PLAYED))

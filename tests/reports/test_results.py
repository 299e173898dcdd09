"""Results stand beside what was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otherminds.errors import InputError
from otherminds.reports.results import (
    Figures,
    Published,
    PublishedTable,
    Target,
    beside_published,
    figures,
    verdicts,
    write_results,
)

Row = dict[str, Any]

# Summaries


def test_results_are_written_beside_the_rows(tmp_path: Path) -> None:
    summary = [{"metric": "β", "value": 0.1 + 0.2}]
    write_results(tmp_path / "new", summary, "<!doctype html>é")
    assert json.loads((tmp_path / "new" / "summary.json").read_text("utf-8")) == summary
    assert (tmp_path / "new" / "report.html").read_text("utf-8") == "<!doctype html>é"


def test_results_that_cannot_be_written_are_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "summary.json").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_results(tmp_path, [], "")


def line(metric: str, value: float, *, condition: str = "all", subject: str = "protom") -> Row:
    about = {"experiment": "protom-dkg", "condition": condition, "subject": subject, "metric": metric}
    return {**about, "value": value, "low": value, "high": value, "n": 20}


def test_published_figures_stand_beside_ours_and_nowhere_else() -> None:
    ours = [line("messages", 0.6), line("messages", 0.6, subject="oracle"), line("messages", 0.6, condition="useful")]
    ours.append({**line("messages", 0.6), "experiment": "functional"})
    beside, *others = beside_published(ours)
    assert others == ours[1:]
    assert beside == ours[0] | {
        "published": 0.7,
        "published_low": pytest.approx(0.7 - 1.96 * 0.13),
        "published_high": pytest.approx(0.7 + 1.96 * 0.13),
        "source": "ProToM, §4.4",
    }


def test_a_published_figure_without_an_error_has_no_interval() -> None:
    (known,) = [p for p in figures().published if (p.experiment, p.value) == ("dkg-human", 0.904)]
    assert known.columns() == {"published": 0.904, "source": known.source}


@pytest.mark.parametrize(("value", "met"), [(1.0, True), (0.95, False), (float("nan"), False)])
def test_a_target_from_below(value: float, met: bool) -> None:
    ((target, row, verdict),) = verdicts([line("success", value), line("speedup", 0.5)])
    assert (str(target), row["metric"], verdict) == ("all · protom · success ≥ 1", "success", met)


@pytest.mark.parametrize(("value", "met"), [(0.0, True), (0.1, True), (0.11, False)])
def test_a_target_from_above(value: float, met: bool) -> None:
    ((target, _, verdict),) = verdicts([line("messages", value, condition="not_needed")])
    assert (str(target), verdict) == ("not_needed · protom · messages ≤ 0.1", met)


def test_what_was_not_measured_has_no_verdict() -> None:
    assert verdicts([]) == []
    assert verdicts([line("speedup", 0.0)]) == []


def test_figures_have_their_sources_and_targets_a_bound() -> None:
    assert all(p.source for p in figures().published)
    unbounded = Target(experiment="x", condition="all", subject="s", metric="m")
    assert not [t for t in figures().target if (t.at_least, t.at_most) == (unbounded.at_least, unbounded.at_most)]


# Tables of published figures

TABLE: Row = {
    "experiment": "functional",
    "condition": "rps/single",
    "source": "Somebody, Table 1",
    "metrics": ["regret", "percent"],
    "rows": [["rmax", [0.5, 0.25], [96.0, 0.5]], ["lm:m:qa", [1.5, 0.0], [33.0, 2.0]]],
}
FUNCTIONAL = {(p.condition, p.subject, p.metric): p for p in figures().published if p.experiment == "functional"}
LOSS = {"rps": 1.5, "ibs": 8.5, "ipd": 3.5}  # of a wrong prediction, on average over the partner's actions


def test_a_table_is_a_figure_for_every_subject_and_metric() -> None:
    first, *others = PublishedTable.model_validate(TABLE).published()
    about = {"experiment": "functional", "condition": "rps/single", "source": "Somebody, Table 1"}
    assert first == Published(subject="rmax", metric="regret", value=0.5, margin=0.25, **about)
    assert [(p.subject, p.metric, p.value, p.margin) for p in others] == [
        ("rmax", "percent", 96.0, 0.5),
        ("lm:m:qa", "regret", 1.5, 0.0),
        ("lm:m:qa", "percent", 33.0, 2.0),
    ]


def test_the_note_of_a_table_goes_with_all_its_figures() -> None:
    assert {p.note for p in PublishedTable.model_validate(TABLE).published()} == {""}
    assert {p.note for p in PublishedTable.model_validate({**TABLE, "note": "Odd."}).published()} == {"Odd."}


@pytest.mark.parametrize(
    "row",
    [[], ["rmax"], ["rmax", [0.5, 0.25]], ["rmax", *[[0.5, 0.25]] * 3], ["rmax", [0.5], [96.0]], [[0.5, 0.25]] * 2],
    ids=["empty", "no figures", "too few", "too many", "no margins", "no subject"],
)
def test_a_table_whose_rows_do_not_fit_its_metrics_is_refused(row: list[Any]) -> None:
    with pytest.raises(ValueError):
        list(PublishedTable.model_validate({**TABLE, "rows": [row]}).published())


def test_published_figures_come_singly_and_in_tables() -> None:
    (single,) = PublishedTable.model_validate({**TABLE, "metrics": ["r"], "rows": [["s", [1.0, 0.5]]]}).published()
    mixed = Figures.model_validate({"published": [single.model_dump()], "table": [TABLE, TABLE], "target": []})
    assert mixed.published == (single, *[p for table in mixed.table for p in table.published()])
    assert len(mixed.published) == 9
    assert {"protom-dkg", "dkg-human", "functional"} <= {p.experiment for p in figures().published}


def test_a_margin_is_half_the_interval() -> None:
    ours = line("functional_regret", 0.6, condition="rps/single", subject="lm:mixtral-8x7b-instruct:lm")
    (row,) = beside_published([{**ours, "experiment": "functional"}])
    assert row["published"] == 0.542
    assert (row["published_low"], row["published_high"]) == (pytest.approx(0.472), pytest.approx(0.612))
    assert row["source"] == "Riemer et al., Tables 1 and 2"


def test_nothing_is_published_twice_nor_with_two_intervals() -> None:
    about = [(p.experiment, p.condition, p.subject, p.metric) for p in figures().published]
    assert len(set(about)) == len(about)
    assert not [p for p in figures().published if p.error is not None and p.margin is not None]


# What Riemer et al. print


@pytest.mark.parametrize(
    ("condition", "subject", "metric", "value", "margin", "tables"),
    [
        ("rps/single", "rmax", "functional_regret", 0.083, 0.004, "Tables 1, 3 and 4"),
        ("rps/single", "lm:falcon-40b:lm", "tom_percent", 96.2, 0.3, "Table 1"),
        ("ipd/single", "lm:mixtral-8x7b-instruct:cot", "tom_regret_paper", 1.105, 0.041, "Table 2"),
        ("ipd/single", "lm:llama-3-70b-instruct:oracle_max_no_history", "functional_regret", 0.206, 0.018, "Table 3"),
        ("ibs/tft", "lm:deepseek-r1-32b:unstated", "functional_regret", 0.045, 0.011, "Table 4"),
        ("ibs/single", "lm:llama-2-70b-chat:qa", "functional_regret", 2.570, 0.833, "Table 8"),
        ("ibs/single", "lm:mistral-large-2:social_qa", "tom_regret_paper", 0.42, 0.036, "Table 9"),
        ("ipd/tft", "lm:llama-3-70b-instruct:reflexion_1", "functional_regret", 2.57, 0.031, "Table 10"),
        ("ipd/tft", "rmax", "functional_regret", 0.248, 0.005, "Tables 4 and 10"),
    ],
)
def test_figures_of_riemer_et_al(
    condition: str, subject: str, metric: str, value: float, margin: float, tables: str
) -> None:
    found = FUNCTIONAL[condition, subject, metric]
    assert (found.value, found.margin, found.source) == (value, margin, f"Riemer et al., {tables}")


def test_every_setting_of_riemer_et_al_is_there() -> None:
    count = {metric: sum(m == metric for *_, m in FUNCTIONAL) for *_, metric in FUNCTIONAL}
    assert count == {"functional_regret": 183, "tom_regret_paper": 90, "tom_percent": 90}
    assert {c for c, *_ in FUNCTIONAL} == {f"{game}/{partner}" for game in LOSS for partner in ("single", "tft")}
    assert all(p.margin is not None and 0 <= p.margin < p.value for p in FUNCTIONAL.values())


def misfit(condition: str, subject: str, game: str) -> float:
    """How far the printed regret of the prediction is from the loss that its printed accuracy stands for."""
    wrong = 1 - FUNCTIONAL[condition, subject, "tom_percent"].value / 100
    return abs(FUNCTIONAL[condition, subject, "tom_regret_paper"].value - LOSS[game] * wrong)


def test_in_rps_wrong_predictions_cost_the_same_in_every_row_but_one() -> None:
    found = {(c, s): misfit(c, s, "rps") for c, s, m in FUNCTIONAL if m == "tom_percent" and c.startswith("rps/")}
    assert len(found) == 34
    odd = ("rps/single", "lm:llama-3-70b-instruct:social_lm")
    assert [about for about, far in found.items() if far > 0.002] == [odd]
    assert FUNCTIONAL[*odd, "tom_regret_paper"].note
    assert FUNCTIONAL[*odd, "tom_percent"].note


def test_with_tit_for_tat_wrong_predictions_cost_the_same_but_for_the_row_of_another_game() -> None:
    deepseek = "lm:deepseek-r1-32b:unstated"
    assert max(misfit("ibs/tft", "rmax", "ibs"), misfit("ibs/tft", deepseek, "ibs")) < 0.005
    assert misfit("ipd/tft", "rmax", "ipd") < 0.002
    assert misfit("ipd/tft", deepseek, "ipd") > 0.5
    assert misfit("ipd/tft", deepseek, "ibs") < 0.005


def test_what_is_odd_in_print_has_a_note() -> None:
    assert "0.211" in FUNCTIONAL["rps/tft", "rmax", "functional_regret"].note
    assert "2.789" in FUNCTIONAL["ipd/tft", "lm:deepseek-r1-32b:unstated", "functional_regret"].note
    assert "0.389" in FUNCTIONAL["ipd/tft", "lm:deepseek-r1-32b:unstated", "tom_regret_paper"].note
    better = FUNCTIONAL["ibs/tft", "lm:mistral-large-2:plans_insights", "functional_regret"]
    assert better.value < FUNCTIONAL["ibs/tft", "rmax", "functional_regret"].value
    assert better.note

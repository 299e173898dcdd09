"""What pages about people say in words, and their figures for many groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from otherminds.evaluation.choices import Choices, fitted_partners
from otherminds.evaluation.fitting import fit
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.model_comparison import Predictive, Recovery
from otherminds.evaluation.populations import Fitted
from otherminds.evaluation.statistics import Estimate
from otherminds.papers.people.datasets import bots, dataset
from otherminds.reports.page import NARROW
from otherminds.reports.people_page import WIDE, as_json, summary_lines, whom_they_meet
from otherminds.reports.people_plots import PLAIN, Line, curves, intervals, marks_of, shares
from otherminds.reports.people_words import against_chance, evidence_in_words, recovered_in_words, search_in_words
from otherminds.worlds.repeated_games.players.parametric import MINDS


@pytest.fixture(scope="module")
def people() -> Choices:
    return dataset("human-rps").subset(range(6))


@pytest.mark.parametrize(
    ("bayes_factor", "words"),
    [
        (1.0, "hardly any evidence (1.00)"),
        (4.0, "moderate evidence for (4.00)"),
        (0.2, "moderate evidence against (0.20)"),
        (12.0, "strong evidence for (12.00)"),
        (50.0, "very strong evidence for (50.00)"),
        (1e9, "extreme evidence for (over 1,000)"),
        (0.0, "extreme evidence against (below 0.01)"),
    ],
)
def test_a_bayes_factor_is_said_in_words(bayes_factor: float, words: str) -> None:
    assert evidence_in_words(bayes_factor) == words


@pytest.mark.parametrize(
    ("noise", "error", "rho", "words"),
    [
        (0.0, 0.9, 0.9, "recovered"),
        (0.8, 0.9, 0.1, "roughly: too few choices"),
        (0.8, 0.1, -0.9, "roughly: trades off with beta"),
        (9.0, 0.1, 0.1, "not recovered"),
    ],
)
def test_a_parameter_is_recovered_or_not_for_a_reason(noise: float, error: float, rho: float, words: str) -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(size=400)
    found = true + noise * rng.normal(size=400)
    assert recovered_in_words(Recovery("q_learning", "rate", true, found, error, "beta", rho)) == words


@pytest.mark.parametrize(
    ("over", "words"),
    [
        (Estimate(-1.0, -1.1, -0.9, 20), "better than chance"),
        (Estimate(-1.5, -1.6, -1.4, 20), "worse than chance"),
        (Estimate(-1.2, -1.4, -1.0, 20), "not told apart from chance"),
        (Estimate(-1.2, -1.2, -1.2, 20), "the same as chance"),
        (Estimate(-1.0, -1.1, -0.9, 3), "above chance, for too few people to say whether others are"),
    ],
)
def test_predictions_are_held_against_chance(over: Estimate, words: str) -> None:
    assert against_chance(over, -1.2) == words


def test_it_is_said_whom_simulated_people_meet(people: Choices) -> None:
    tft = next(iter(bots().values()))
    assert whom_they_meet(people, None).startswith("replayed partners, who do not react")
    assert "fitted" in whom_they_meet(people, fitted_partners(people))
    assert whom_they_meet(people, bots()) == "the bots that their groups are named after"
    assert whom_they_meet(people, dict.fromkeys(people.groups, tft)) == tft.name
    assert "paid in the data" in whom_they_meet(replace(people, rewards=np.zeros(people.own.shape)), None)


@pytest.mark.slow
def test_searches_that_disagree_are_warned_of_and_missing_intervals_are_null(people: Choices) -> None:
    found = fit(Likelihood.of(MINDS["wsls"], people))
    unknown = {name: np.full((6, 2), np.nan) for name in found.mind.names}
    agreement = np.array([0.1, 0.2, 1.0, 1.0, 1.0, 1.0])
    fitted = Fitted(replace(found, agreement=agreement), "person", unknown)
    assert search_in_words(fitted).startswith("For 2 of 6 people only 15 % of the searches")
    assert search_in_words(fitted._replace(fit=replace(found, agreement=np.full(6, 0.4)))).startswith("Only 40 %")
    assert not search_in_words(fitted._replace(fit=replace(found, agreement=np.ones(6))))
    unit = as_json(fitted)["units"][0]
    assert unit["agreement"] == 0.1
    assert unit["parameters"]["win_stay"]["low"] is None
    lines = list(summary_lines(found, ("a", "b") * 3))
    assert [line[:2] for line in lines[:3]] == [("win_stay", "all (6)"), ("win_stay", "a (3)"), ("win_stay", "b (3)")]


@pytest.mark.slow
def test_long_names_are_whole_at_both_widths() -> None:
    name, group = "outcome_transition_dual_dependency", "treatment with a rather long name"
    marks = marks_of([group, "control"])
    lines = [Line(name, 0.5, 0.4, 0.6, mark) for mark in marks.values()]
    for width, shown in ((NARROW, "outcome_transition_\ndual_dependency"), (WIDE, name)):
        figure = intervals(lines, "beta", width=width)
        assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [shown] * 2
        assert figure.legends[0].get_texts()[0].get_text() == group
    assert shares({group: {name: 0.4, "chance": 0.6}}, NARROW).axes[0].get_yticklabels()[0].get_text() == (
        "treatment with a rather\nlong name"
    )


@pytest.mark.slow
def test_figures_have_room_for_many_groups_and_people() -> None:
    groups = [f"group {i}" for i in range(30)]
    marks = marks_of(groups)
    assert len({(mark.colour, mark.shape) for mark in marks.values()}) == 30
    flat = Predictive(np.array([0.5, 0.5]), np.array([1.0, 1.0]))
    assert len(curves(dict.fromkeys(groups, (flat, flat)), 3.5).axes) == 60
    lines = [Line(name, 0.5, np.nan, np.nan, mark) for name, mark in marks.items()]
    assert intervals(lines, "beta", (0.0, "none")).get_figheight() > 6
    assert not intervals([Line("one", 0.5, 0.4, 0.6, PLAIN)], "beta").legends
    once = Predictive(np.array([0.0]), np.array([1.0]))
    assert len(curves({"all": (once, once)}, 3.5).axes) == 1

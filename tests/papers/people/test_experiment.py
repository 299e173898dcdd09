"""The experiment `people`: bots and fixed partners against the records, losses, and the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from otherminds.evaluation.tasks import Task
from otherminds.papers.people import experiment
from otherminds.papers.people.datasets import BOTS, RPS, STRATEGIES, bots, dataset
from otherminds.papers.people.experiment import FIXED, Planned, llm_game, matches, standing, summarise
from otherminds.papers.people.report import report
from otherminds.reports.page import Page
from otherminds.reports.results import beside_published
from otherminds.worlds.repeated_games.rules import Outcome


def test_the_data_are_whole() -> None:
    people = dataset("human-rps")
    assert (len(people.people), int(people.played.sum())) == (217, 217 * 300 - 95)
    ipd = dataset("human-ipd")
    assert (len(ipd.people), int(ipd.scored.sum()), len(ipd.own)) == (266, 7358, 2604)


@pytest.mark.slow
@pytest.mark.parametrize("bot", BOTS)
def test_bots_play_as_recorded(bot: str) -> None:
    """Their rule's move in about nine of ten rounds, where no round before is missing."""
    choices = dataset("human-rps").of_group(bot)
    hits = total = 0
    for s in range(0, len(choices.own), 4):
        state = bots()[bot].start
        for own, theirs in zip(choices.own[s].tolist(), choices.theirs[s].tolist(), strict=True):
            if own < 0:
                break
            if max(state.act().probs) > 0.5:
                hits, total = hits + (state.act().mode == theirs), total + 1
            state = state.observe(Outcome(theirs, own, 0.0))
    assert total > 500
    assert hits / total == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("bot", BOTS)
def test_the_best_response_to_a_bot_earns_the_stated_points(bot: str) -> None:
    task = Task(RPS, bots()[bot], 100)
    assert task.best_by_round[50] == pytest.approx(experiment.BEST)
    assert task.uniform / 100 == pytest.approx(experiment.UNIFORM)


def test_fixed_partners_play_as_recorded() -> None:
    """Those without chance in every round; the naive probers wherever they could not do otherwise."""
    played = 0
    for name in experiment.TABLES:
        for _, partner, place, actions, points in matches(name):
            game = llm_game(name).seen_by(place)
            state = FIXED[partner](game).start
            for (own, theirs), earned in zip(actions, points, strict=True):
                assert state.act().prob(theirs) > 0.0, (name, partner)
                assert game.payoff()[own, theirs] == earned
                state = state.observe(Outcome(theirs, own, 0.0))
                played += 1
    assert played > 800


@pytest.mark.slow
def test_people_lose_what_was_measured_before() -> None:
    """The first-pass losses of rounds 201 to 300, and their intervals, within rounding and the bootstrap."""
    rows = [row for bot in BOTS for row in experiment.blocks_of_people(Planned(f"rps/{bot}", "people", "choices", 0))]
    found = {row["condition"]: row for row in summarise(rows) if row["metric"] == "loss" and row["subject"] == "people"}
    expected = {
        "opponent_prev_move_nil": (0.235, 0.118),
        "prev_move_positive": (0.293, 0.114),
        "prev_move_negative": (0.382, 0.120),
        "opponent_prev_move_positive": (0.431, 0.117),
        "win_nil_lose_positive": (0.767, 0.096),
        "win_positive_lose_negative": (0.780, 0.110),
        "outcome_transition_dual_dependency": (0.989, 0.037),
    }
    for bot, (loss, margin) in expected.items():
        row = found[f"rps/{bot}"]
        assert row["value"] == pytest.approx(loss, abs=0.003)
        assert (row["high"] - row["low"]) / 2 == pytest.approx(margin, abs=0.015)
    assert standing() == pytest.approx((0.234, 0.989), abs=0.001)


@pytest.mark.slow
def test_gpt_4_does_not_alternate_with_a_partner_that_does() -> None:
    rows = experiment.recorded(Planned("llm/recorded", "models", "all", 0))
    found = {(r["condition"], r["subject"]): r["value"] for r in summarise(rows) if r["metric"] == "loss"}
    assert found["llm/bos/alternate JF", "GPT-4"] == pytest.approx(1.0, abs=0.3)
    assert found["llm/pd/always J", "GPT-4"] == 2.0, "it cooperates with a partner that always does"


@pytest.mark.slow
def test_shares_stand_beside_those_of_stratest() -> None:
    rows = experiment.mixture(Planned("ipd/D75R48", "mixture", "shares", 0))
    for row in beside_published(summarise(rows)):
        if row["metric"] == "strategy_share":
            assert row["value"] == pytest.approx(row["published"], abs=0.0051)


@pytest.mark.slow
def test_the_report_is_made_of_rows(tmp_path: Path) -> None:
    bot = BOTS[0]
    rows = [
        *experiment.blocks_of_people(Planned(f"rps/{bot}", "people", "choices", 0)),
        *experiment.blocks_of_player(Planned(f"rps/{bot}", "rmax", "0", 0)),
        *experiment.recorded(Planned("llm/recorded", "models", "all", 0)),
    ]
    tremble = {"people": 46, "tremble": 0.1, "tremble_error": 0.02}
    rows += [
        {"condition": "ipd/D75R48", "kind": "share", "strategy": name, "share": 1 / 6, "error": 0.05, **tremble}
        for name in STRATEGIES
    ]
    rows += [row for mind in ("chance", "wsls") for row in experiment.fitted(Planned("fit/ipd", mind, "fit", 0))]
    true = np.linspace(0.1, 0.9, 9).tolist()
    about = {"condition": "recovery/rps", "subject": "wsls"}
    parameter = {"mind": "wsls", "parameter": "win_stay", "error": 0.2, "rival": "", "rho": 0.0, "longer": None}
    rows += [{**about, **parameter, "kind": "recovery", "true": true, "fitted": true}]
    recognised = {"people": 9, "groups": 1, "nearest": "wsls", "ahead": 0.0, "person": {"wsls": 1.0}}
    rows += [{**about, **recognised, "kind": "recognition", "group": {"wsls": 1.0}}]
    made = report(rows, beside_published(summarise(rows)))
    assert isinstance(made, Page)
    assert {section.title for section in made.sections} >= {"People on the scoreboard", "Recovery"}
    assert "beats your last move" in made
    assert "GPT-4" in made

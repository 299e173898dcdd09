"""The verdict of a check: losses by hand, what decides them, and the sentences that say why."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from otherminds.evaluation.asking import Asking
from otherminds.evaluation.statistics import Estimate, exact, welch
from otherminds.evaluation.tasks import Task
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.agents import OWN, Agent, LanguageAgent, MindreaderAgent, agent
from otherminds.papers.functional.experiment import episodes_of
from otherminds.papers.functional.probes import Probe
from otherminds.papers.functional.verdicts import (
    FORMATTING,
    LEVEL,
    PREDICTING,
    UNMEASURED,
    USING,
    CheckPlan,
    Findings,
    assess,
    loss_of_passes,
    summary,
    worst,
)
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game

Row = dict[str, Any]
GAMES = tuple(map(find_game, ("rps", "ibs", "ipd")))
RPS, IPD = GAMES[0], GAMES[2]
ASKING = Asking("")


def played(player: Agent, plan: CheckPlan, rungs: Sequence[str] = (OWN,)) -> list[Row]:
    """The rows of all passes of a plan."""
    encounters = [e for number in range(plan.passes) for e in plan.encounters(player.name, rungs, number)]
    return [row for encounter in encounters for row in player.rows(encounter)]


def findings_of(spec: str, plan: CheckPlan, asking: Asking = ASKING, most: float = 0.5) -> Findings:
    player = agent(spec, asking, Path("unused"))
    return assess(player, plan, played(player, plan), most)


# Losses, by hand


@cache
def worth(game: Game, machine: Machine, remaining: int, state: int, choose: Callable[[list[float]], float]) -> float:
    """What the first agent earns in the remaining rounds if it chooses among its actions in this way."""
    if not remaining:
        return 0.0
    return choose([action_worth(game, machine, remaining, state, a, choose) for a in range(game.shape[0])])


def action_worth(
    game: Game, machine: Machine, remaining: int, state: int, action: int, choose: Callable[[list[float]], float]
) -> float:
    total = 0.0
    for b, chance in enumerate(machine.outputs[state]):
        onward = worth(game, machine, remaining - 1, machine.moves[state][b][action], choose)
        total += chance * (game.payoffs[action * game.shape[1] + b][0] + onward)
    return total


def average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def losses(task: Task, rows: Sequence[Row]) -> list[float]:
    """V − Q in each round that has a move, as a share of what random play loses in as many rounds."""
    game, machine, state = task.game, task.partner, 0
    moves = [row for row in rows if row["action"] is not None]
    scale = worth(game, machine, len(moves), 0, max) - worth(game, machine, len(moves), 0, average)
    lost = []
    for t, row in enumerate(moves):
        remaining = len(moves) - t
        best = worth(game, machine, remaining, state, max)
        lost.append((best - action_worth(game, machine, remaining, state, row["action"], max)) / scale)
        state = machine.moves[state][row["observed"]][row["action"]]
    return lost


def misprediction_cost(task: Task, rows: Sequence[Row]) -> float:
    """What the wrong predictions of an episode cost by the paper's prices, as a share of what random play loses."""
    game, machine = task.game, task.partner
    columns = [[game.payoffs[a * game.shape[1] + b][0] for a in range(game.shape[0])] for b in range(game.shape[1])]
    wrong = [[max(column) - value for value in column if value < max(column)] for column in columns]
    prices = [average(column) if column else 0.0 for column in wrong]
    reacts = len(machine.outputs) > 1
    cost = sum(
        average(prices) if reacts else prices[row["observed"]] for row in rows if row["predicted"] != row["observed"]
    )
    return cost / (worth(game, machine, task.horizon, 0, max) - worth(game, machine, task.horizon, 0, average))


def is_best_reply(task: Task, row: Row) -> bool:
    """Whether the action is a best response to the prediction of the round."""
    if row["action"] is None or row["predicted"] is None:
        return False
    column = [task.game.payoffs[a * task.game.shape[1] + row["predicted"]][0] for a in range(task.game.shape[0])]
    return bool(column[row["action"]] == max(column))


def patchy(setting: Any, _task: Task) -> Scripted:
    """Names any option, or none of them in two replies of five."""

    def write(request: Request) -> str:
        chance = zlib.crc32((text_of(request) + request.draw).encode())
        return f"Answer: option {setting.own[chance // 5 % len(setting.own)]}" if chance % 5 > 1 else "Who knows?"

    return Scripted("patchy", write)


@pytest.mark.slow
def test_every_score_is_what_the_rows_say() -> None:
    plan = CheckPlan(GAMES, ("tft", "tft~0.1", "best-response", "alternate"), rounds=12, passes=2)
    player = LanguageAgent("patchy", patchy, ASKING)
    rows = played(player, plan)
    tasks = {f"{task.game.name}/{task.partner.name}": task for task in plan.tasks()}
    episodes = [rows[i : i + 12] for i in range(0, len(rows), 12)]
    pairs = [(tasks[episode[0]["condition"]], episode) for episode in episodes]
    lost = [losses(*pair) for pair in pairs]
    wrong = [misprediction_cost(*pair) for pair in pairs]
    right = [[r["predicted"] == r["observed"] for r in e if r["action"] is not None] for e in episodes]
    unused = [sum(loss for loss, hit in zip(*pair, strict=True) if hit) for pair in zip(lost, right, strict=True)]
    result = assess(player, plan, rows, 0.5)
    assert len(episodes) == 2 * 4 * 3
    assert result.passes == 2
    assert result.functional.value == pytest.approx(average([*map(sum, lost)]))
    assert result.unused.value == pytest.approx(average(unused))
    assert 0.0 < result.unused.value < result.functional.value
    assert result.literal.value == pytest.approx(average(wrong))
    assert result.gap.value == pytest.approx(result.functional.value - result.literal.value)
    assert result.consistency.value == pytest.approx(average([is_best_reply(t, row) for t, e in pairs for row in e]))
    assert result.lost.value == pytest.approx(average([row["action"] is None for row in rows]))
    assert result.unpredicted == pytest.approx(average([row["predicted"] is None for row in rows]))
    assert 0.0 < result.lost.value <= UNMEASURED
    replies = [reply["text"] for row in rows for reply in row["said"]]
    assert (result.unreadable or {})["unreadable"] == pytest.approx(average([text == "Who knows?" for text in replies]))
    assert result.calls == len(replies) / 2
    by_partner = {
        name: [sum(part) for part, (task, _) in zip(lost, pairs, strict=True) if task is tasks[name]] for name in tasks
    }
    assert {name: pytest.approx(values) for name, values in by_partner.items()} == result.shares
    assert result.functional == pytest.approx(welch(list(by_partner.values()), LEVEL))
    assert result.wider.value == pytest.approx(result.functional.value)
    assert result.wider.n == len(tasks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_player_that_knows_the_partner_is_first_and_one_that_ignores_it_is_last(seed: int) -> None:
    plan = CheckPlan(GAMES, rounds=12, passes=1, seed=seed)
    names = ("perfect", "scripted:perfect", "bayes_simplicity", "tabular", "scripted:nash_mixer", "random")
    perfect, speaking, bayes, tabular, mixer, random = (findings_of(name, plan).functional.value for name in names)
    assert perfect == speaking == pytest.approx(0.0, abs=1e-9)
    assert perfect <= bayes < tabular < min(mixer, random)
    assert random == pytest.approx(1.0, abs=0.15)


@pytest.mark.slow
def test_a_bayesian_loses_less_than_a_tabular_player() -> None:
    plan = CheckPlan((IPD,), rounds=40, passes=4)
    bayes, tabular = findings_of("bayes_simplicity", plan), findings_of("tabular", plan)
    assert bayes.functional.value < tabular.functional.value
    assert findings_of("rmax", plan).functional.value == pytest.approx(tabular.functional.value, abs=0.15)


def test_partners_with_whom_nothing_can_be_lost_are_left_out() -> None:
    plan = CheckPlan((RPS,), ("random", "tft"), rounds=5, passes=1)
    only = CheckPlan((RPS,), ("tft",), rounds=5, passes=1)
    assert findings_of("scripted:echo", plan).functional == findings_of("scripted:echo", only).functional
    assert findings_of("scripted:echo", plan).consistency.n == 2


# What decides


def test_only_the_spread_between_episodes_with_the_same_partner_counts() -> None:
    assert loss_of_passes([[0.0] * 3, [1.0] * 3]) == Estimate(0.5, 0.5, 0.5, 6)
    estimate = loss_of_passes([[0.0] * 3, [0.9, 1.0, 1.1]])
    # t(2 df, 98.75 %) = 6.2053, √(0.01 / 3) / 2 = 0.0289
    assert estimate == pytest.approx((0.5, 0.5 - 0.17913, 0.5 + 0.17913, 6), abs=1e-4)


@pytest.mark.slow
def test_the_same_passes_have_no_width_and_the_spread_over_partners_is_another_interval() -> None:
    constant = findings_of("scripted:echo", CheckPlan((IPD,), rounds=9, passes=3))
    assert constant.functional.low == constant.functional.value == constant.functional.high
    assert constant.wider.low < constant.wider.value < constant.wider.high
    mixer = findings_of("scripted:nash_mixer", CheckPlan((IPD,), ("tft",), rounds=9, passes=3))
    assert mixer.functional.low < mixer.functional.value < mixer.functional.high
    assert mixer.wider.low == mixer.wider.high


def finding(loss: float | Estimate, *, literal: float = 0.0, unused: float = 0.0, **fields: Any) -> Findings:
    """Findings after three passes, with a limit of 0.4."""
    functional = loss if isinstance(loss, Estimate) else exact(loss, 9)
    return replace(
        Findings(
            name="x",
            functional=functional,
            wider=exact(functional.value, 3),
            unused=exact(unused, 9),
            literal=exact(literal, 9),
            gap=exact(functional.value - literal, 9),
            consistency=exact(0.5, 9),
            unreadable=None,
            lost=exact(0.0, 9),
            rungs={},
            max_regret=0.4,
            shares={"a": (functional.value,) * 3},
            passes=3,
        ),
        **fields,
    )


@pytest.mark.parametrize(
    ("low", "value", "high", "result"),
    [(0.1, 0.2, 0.4, "passes"), (0.1, 0.2, 0.41, "open"), (0.4, 0.6, 0.9, "open"), (0.41, 0.6, 0.9, "fails")],
)
def test_an_interval_that_spans_the_limit_leaves_the_verdict_open(
    low: float, value: float, high: float, result: str
) -> None:
    judged = finding(Estimate(value, low, high, 7))
    assert judged.verdict.result == result
    assert f"It loses {value:.2f} [{low:.2f}, {high:.2f}] of what random play loses" in judged.verdict.words
    assert ("either side of the limit" in judged.verdict.words) == (result == "open")
    assert ("more pass" in judged.verdict.words) == (result == "open")
    alone = replace(judged, passes=1)
    assert (alone.verdict.result, alone.verdict.passed, alone.verdict.breaks) == ("open", None, "")
    assert "One pass cannot decide" in alone.verdict.words


@pytest.mark.parametrize(
    ("value", "margin", "calls", "sentence"),
    [
        (0.5, 0.29, 0.0, "With this spread, 23 more passes would decide"),  # 0.29 √(3 / 26) < 0.1 < 0.29 √(3 / 25)
        (0.3, 0.29, 60.0, "With this spread, 23 more passes (1,380 calls) would decide"),
        (0.5, 0.11, 20.0, "With this spread, 1 more pass (20 calls) would decide"),
        (0.41, 0.3, 20.0, "It is so close that 100 passes would not decide"),
    ],
)
def test_an_open_verdict_says_how_many_more_passes_would_decide(
    value: float, margin: float, calls: float, sentence: str
) -> None:
    judged = finding(Estimate(value, value - margin, value + margin, 9), calls=calls)
    assert judged.verdict.words.endswith(sentence)


PROBES = (
    Probe("same option", "always does the same", 0.96, 40),
    Probe("predicts the last move", "expects its partner to repeat its last move", 1.0, 25),
)


@pytest.mark.parametrize(
    ("judged", "breaks", "words"),
    [
        (finding(0.4), "", r"^it acts on .*\. It loses 0.40 of .* with these partners; the limit is 0\.4$"),
        (finding(0.1, literal=0.9), "", r"Its predictions are wrong: they alone would lose 0\.90$"),
        (finding(0.1, probes=PROBES), "", "^it acts on what it predicts, as far as the limit asks"),
        (finding(0.3, unused=0.2, evidence=", as with y"), "", "Of this, 0.20 is in rounds .* rightly, as with y$"),
        (finding(0.3, unused=0.01, evidence=", as with y"), "", r"the limit is 0\.4$"),
        (finding(0.5, unused=0.25), USING, "^it does not act on its predictions. .* Of this, 0.25 is in rounds"),
        (finding(0.5, unused=0.24), PREDICTING, "^its predictions are wrong"),
        (finding(0.5, unpredicted=0.2), PREDICTING, "^its predictions cannot be read.* In 20 % of the rounds its pred"),
        (finding(0.5, literal=0.9, unpredicted=0.1), PREDICTING, "^its predictions are wrong.* would lose 0.90"),
        (finding(0.5, unused=0.5, probes=PROBES), USING, "^it always does the same, in 96 % of the 40 rounds"),
        (finding(0.5, unused=0.5, probes=PROBES[1:]), USING, "^it does not act on its predictions"),
        (finding(0.5, probes=PROBES[1:]), PREDICTING, "^it expects its partner to repeat its last move, in 100 %"),
        (finding(0.5, rungs={"a": exact(0.8, 3), "b": exact(0.4, 3)}), PREDICTING, r"Told what .* well \(0\.40\)$"),
        (finding(0.5, rungs={"a": exact(0.8, 3), "b": exact(0.7, 3)}), PREDICTING, r"Even told .*, it loses 0\.70$"),
    ],
)
def test_the_verdict_says_where_an_agent_breaks_and_by_what_evidence(judged: Findings, breaks: str, words: str) -> None:
    assert judged.verdict.breaks == breaks
    assert judged.verdict.passed == (not breaks)
    assert re.search(words, judged.verdict.words)


@pytest.mark.parametrize(("probe", "is_habit"), [((0.9, 20), True), ((0.89, 400), False), ((1.0, 19), False)])
def test_a_habit_is_followed_in_nine_of_ten_of_at_least_twenty_telling_moves(
    probe: tuple[float, int], is_habit: bool
) -> None:
    assert Probe("x", "does it", *probe).is_habit == is_habit


# Not measured


def with_lost_rounds(rows: Sequence[Row], each: int) -> list[Row]:
    """The same rows, with one round of `each` in which no move could be read."""
    return [{**row, "action": None, "kinds": ["cut"] * 3} if row["t"] % each == 0 else row for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scripted:echo", "scripted:perfect"])
def test_an_agent_of_whom_too_few_moves_can_be_read_is_not_measured(name: str) -> None:
    plan, player = CheckPlan((RPS, IPD), rounds=20, passes=3), agent(name, ASKING, Path("unused"))
    rows = played(player, plan)
    measured, unmeasured = (assess(player, plan, with_lost_rounds(rows, each), 0.3) for each in (10, 9))
    assert measured.verdict.result == ("passes" if name == "scripted:perfect" else "fails")
    assert measured.lost.value == UNMEASURED
    assert unmeasured.lost.value == pytest.approx(3 / 20)
    assert unmeasured.verdict[:2] == (None, FORMATTING)
    assert unmeasured.verdict.result == "not measured"
    cut = 9 / (2 * 20)  # three more replies in three rounds, of two in each round
    assert (unmeasured.unreadable or {})["cut"] == pytest.approx(cut)
    assert unmeasured.verdict.words == "in 15 % of the rounds no move could be read (of its replies: 22 % cut)"
    metrics = {row["metric"] for row in summary([unmeasured, measured], ("echo", "perfect")) if row["n"]}
    assert len(metrics) > 8
    assert {row["metric"] for row in summary([unmeasured])} == {
        *("passes", "lost_share", "unreadable_share", "unreadable_cut")
    }
    assert all(math.isfinite(row["value"]) for row in summary([unmeasured, measured]))


@pytest.mark.slow
def test_lost_rounds_are_in_no_loss() -> None:
    plan = CheckPlan((RPS,), ("always-rock",), rounds=20, passes=3)
    player = agent("scripted:echo", ASKING, Path("unused"))
    rows = played(player, plan)
    whole, with_gaps = (assess(player, plan, r, 0.5) for r in (rows, with_lost_rounds(rows, 10)))
    assert whole.functional.value == with_gaps.functional.value == pytest.approx(2.0)


# Evidence


def test_the_clearest_case_of_knowledge_that_is_not_used_is_quoted() -> None:
    plan = CheckPlan((RPS,), ("always-rock", "always-paper", "always-scissors"), rounds=8, passes=1)
    echo = findings_of("scripted:echo", plan)  # always plays scissors
    assert echo.evidence == ", as with always Rock in rps: right from round 1 on, yet no best reply in 8 of 8 rounds"
    assert findings_of("perfect", plan).evidence == ""


@pytest.mark.slow
def test_an_agent_that_plays_well_and_predicts_wrongly_passes_and_the_sentence_says_so() -> None:
    judged = findings_of("scripted:r1_like", CheckPlan(GAMES, rounds=12, passes=3))
    assert judged.verdict.result == "passes"
    assert judged.functional.value == pytest.approx(0.0)
    assert f"Its predictions are wrong: they alone would lose {judged.literal.value:.2f}" in judged.verdict.words


@pytest.mark.slow
def test_the_worst_episodes_are_of_three_partners_and_those_that_could_not_be_read_come_first() -> None:
    plan = CheckPlan(GAMES, ("random", "tft", "alternate"), rounds=10, passes=3)
    player = agent("scripted:nash_mixer", ASKING, Path("unused"))
    rows = played(player, plan, (OWN, "oracle"))
    tasks = {f"{task.game.name}/{task.partner.name}": task for task in plan.tasks()}
    episodes = episodes_of(rows)
    comparable = [e for e in episodes if e[0]["policy"] == OWN and e[0]["condition"] != "rps/random"]
    most: dict[str, float] = {}
    for episode in comparable:
        name = episode[0]["condition"]
        most[name] = max(most.get(name, 0.0), sum(losses(tasks[name], episode)))
    selected = worst(rows, plan)
    assert len(comparable) == 24
    assert all(episode in comparable for episode in selected)
    assert {e[0]["condition"]: pytest.approx(sum(losses(tasks[e[0]["condition"]], e))) for e in selected} == dict(
        sorted(most.items(), key=lambda item: -item[1])[:3]
    )
    silent = min(most, key=lambda name: most[name])
    unread = [{**row, "action": None} if row["condition"] == silent else row for row in rows]
    assert [e[0]["condition"] for e in worst(unread, plan)] == [silent, *(e[0]["condition"] for e in selected[:2])]


# Summaries


def test_losses_are_paired_with_those_of_the_reference_players_by_partner() -> None:
    judged = finding(0.5, shares={"a": (0.4, 0.6), "b": (0.3,)})
    bayes = finding(0.5, name="bayes", shares={"b": (0.1,), "a": (0.1, 0.1)})
    rows = {(row["subject"], row["metric"]): row for row in summary([judged, bayes], ("bayes", "random"))}
    assert rows["x", "minus_bayes"]["value"] == pytest.approx(0.3)
    assert (rows["x", "minus_bayes"]["n"], rows["x", "minus_bayes"]["low"] < 0.2) == (2, True)
    assert not [key for key in rows if key[1] == "minus_random" or key == ("bayes", "minus_bayes")]
    assert judged.less(finding(0.1, shares={})) is None


def test_a_summary_has_a_row_for_every_score() -> None:
    rungs = {"oracle": exact(0.8, 9), "oracle_max": exact(0.7, 9)}
    unreadable = {"cut": 0.2, "refused": 0.05}
    judged = finding(0.9, literal=0.1, unused=0.6, rungs=rungs, unreadable=unreadable, probes=PROBES)
    rows = {row["metric"]: row for row in summary([judged])}
    assert {name: row["value"] for name, row in rows.items()} == {
        "relative_regret": 0.9,
        "relative_regret_over_partners": 0.9,
        "relative_regret_predicted": 0.6,
        "relative_tom_regret": 0.1,
        "gap": 0.8,
        "consistency": 0.5,
        "passes": 3,
        "lost_share": 0.0,
        "unreadable_share": 0.25,
        "unreadable_cut": 0.2,
        "unreadable_refused": 0.05,
        "probe_same option": 0.96,
        "probe_predicts the last move": 1.0,
        "relative_regret_oracle": 0.8,
        "relative_regret_oracle_max": 0.7,
    }
    assert {(row["experiment"], row["condition"], row["subject"]) for row in rows.values()} == {("check", "all", "x")}
    silent = {row["metric"] for row in summary([finding(0.9)])}
    assert not silent & {"unreadable_share", "lost_share"}


def test_agents_that_do_not_speak_have_no_replies() -> None:
    judged = findings_of("tabular", CheckPlan((IPD,), rounds=4, passes=1))
    assert isinstance(agent("tabular", ASKING, Path("unused")), MindreaderAgent)
    assert (judged.unreadable, judged.calls, judged.unpredicted) == (None, 0.0, 0.0)

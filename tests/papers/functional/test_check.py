"""A check ranks agents, finds where each of them breaks, and goes on where it was broken off."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import own_agents
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.runs import exported_calls
from otherminds.evaluation.statistics import Estimate
from otherminds.evaluation.tasks import Task
from otherminds.language.ledger import Recorded
from otherminds.language.model import Request
from otherminds.language.prices import BudgetError, Price
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.agents import OWN, TOLD, Agent, CheckEpisode, LanguageAgent, MindreaderAgent, agent
from otherminds.papers.functional.check import CheckOptions, CheckResult, check_as_asked
from otherminds.papers.functional.verdicts import TOLD_ROUNDS, CheckPlan, Findings, assess, summary, worst
from otherminds.reports.literal_functional_plots import known_and_lost
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game
from run_files import RESULTS, episodes_in, read, results, rows_in

Row = dict[str, Any]
GAMES = tuple(map(find_game, ("rps", "ibs", "ipd")))
RPS, IPD = GAMES[0], GAMES[2]
NONE = Path("unused")
SHORT = CheckPlan((IPD,), rounds=6)
ASKING = Asking("")


def played(one: Agent, plan: CheckPlan, rungs: Sequence[str] = (OWN,)) -> list[Row]:
    return [row for encounter in plan.encounters(one.name, rungs) for row in one.rows(encounter)]


def check(specs: Sequence[str], plan: CheckPlan, asking: Asking, folder: Path, most: float) -> CheckResult:
    return check_as_asked(CheckOptions(folder, asking, tuple(specs), max_regret=most), plan)


def found(spec: str, plan: CheckPlan, asking: Asking = ASKING, most: float = 0.5) -> Findings:
    one = agent(spec, asking, NONE)
    return assess(one, plan, played(one, plan), most)


# What comes out


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_knows_the_partner_is_first_and_who_ignores_it_is_last(seed: int) -> None:
    plan = CheckPlan(GAMES, rounds=12, seed=seed)
    names = ("perfect", "scripted:perfect", "bayes", "tabular", "scripted:nash_mixer", "random")
    perfect, speaking, bayes, tabular, mixer, random = (found(name, plan).functional.value for name in names)
    assert perfect == speaking == pytest.approx(0.0, abs=1e-9)
    assert perfect <= bayes < tabular < min(mixer, random)
    assert random == pytest.approx(1.0, abs=0.15)


BREAKS = {
    "perfect": "",
    "stutterer": "",
    "r1_like": "",
    "nash_mixer": "using",
    "echo": "using",
    "biased": "predicting",
    "format_breaker": "formatting",
}
RUNS = {  # games, partners, rounds, episodes (of those who depend on what options are called), seeds
    "short": ((RPS, IPD), (), 6, 1, 2),
    "shuffled": ((RPS, IPD), (), 6, 6, 2),
    "long": ((RPS,), ("tft", "always-rock"), 100, 1, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", BREAKS)
def test_scripted_players_break_where_they_are_made_to(name: str, run: str) -> None:
    games, partners, rounds, episodes, seeds = RUNS[run]
    asking = Asking("", shuffle="both" if run == "shuffled" else "none")
    for seed in range(1, 1 + seeds):
        plan = CheckPlan(games, partners, rounds, episodes if name == "biased" else 1, seed)
        told = found(f"scripted:{name}", plan, asking)
        assert told.verdict.breaks == BREAKS[name]
        assert told.verdict.passed in (not BREAKS[name], None)
        assert ("mostly wrong" in told.verdict.words) == (name == "r1_like")
        assert told.lost.value == (name == "format_breaker")


def test_unreadable_replies_are_counted_and_do_no_harm_if_the_next_one_can_be_read() -> None:
    stutterer, perfect = (found(f"scripted:{name}", SHORT) for name in ("stutterer", "perfect"))
    assert stutterer.unreadable is not None
    assert (stutterer.unreadable.value, stutterer.lost.value) == (0.5, 0.0)
    assert stutterer.functional == perfect.functional


@pytest.mark.slow
def test_bayes_is_tabular_with_better_expectations() -> None:
    plan = CheckPlan((IPD,), rounds=40, episodes=4)
    bayes, tabular = found("bayes", plan), found("tabular", plan)
    assert bayes.functional.value < tabular.functional.value
    assert found("bayes_simplicity", plan).functional == bayes.functional
    assert found("rmax", plan).functional.value == pytest.approx(tabular.functional.value, abs=0.15)


# The scores, by hand


@cache
def worth(game: Game, machine: Machine, left: int, state: int, choose: Callable[[list[float]], float]) -> float:
    """What the first agent earns in the rounds that are left if it chooses among its actions in this way."""
    if not left:
        return 0.0
    sizes, found = game.shape, []
    for a in range(sizes[0]):
        total = 0.0
        for b in range(sizes[1]):
            onward = worth(game, machine, left - 1, machine.moves[state][b][a], choose)
            total += machine.outputs[state][b] * (game.payoffs[a * sizes[1] + b][0] + onward)
        found.append(total)
    return choose(found)


def average(values: list[float]) -> float:
    return sum(values) / len(values)


def price(game: Game, machine: Machine, did: int) -> float:
    """What a wrong prediction costs: the mean of what actions that are not best against it lose."""
    sizes = game.shape
    pay = [[game.payoffs[a * sizes[1] + b][0] for a in range(sizes[0])] for b in range(sizes[1])]
    losses = [[max(column) - value for value in column if value < max(column)] for column in pay]
    mean = [average(column) if column else 0.0 for column in losses]
    return mean[did] if len(machine.outputs) == 1 else average(mean)


def shares(task: Task, rows: Sequence[Row]) -> tuple[float, float]:
    """What an episode lost, and what its wrong predictions would have lost, as shares of what random play loses."""
    game, machine = task.game, task.partner
    best, mixed = (worth(game, machine, task.horizon, 0, how) for how in (max, average))
    lost = best - sum(row["reward"] for row in rows)
    wrong = sum(price(game, machine, row["observed"]) for row in rows if row["predicted"] != row["observed"])
    return lost / (best - mixed), wrong / (best - mixed)


def wise(task: Task, row: Row) -> bool:
    if row["action"] is None or row["predicted"] is None:
        return False
    column = [task.game.payoffs[a * task.game.shape[1] + row["predicted"]][0] for a in range(task.game.shape[0])]
    return bool(column[row["action"]] == max(column))


def patchy(setting: Any, _task: Task) -> Scripted:
    """Names any option, or none of them in three replies of four."""

    def write(request: Request) -> str:
        chance = zlib.crc32((text_of(request) + request.draw).encode())
        return f"Answer: option {setting.own[chance // 4 % len(setting.own)]}" if chance % 4 == 0 else "Who knows?"

    return Scripted("patchy", write)


@pytest.mark.slow
def test_every_score_is_what_the_rows_say() -> None:
    plan = CheckPlan(GAMES, ("tft", "tft~0.1", "best-response", "alternate"), rounds=12, episodes=2)
    one = LanguageAgent("patchy", patchy, Asking(""))
    rows = played(one, plan)
    tasks = {f"{task.game.name}/{task.partner.name}": task for task in plan.tasks()}
    told = [[rows[i + t] for t in range(12)] for i in range(0, len(rows), 12)]
    about = [(tasks[episode[0]["condition"]], episode) for episode in told]
    both = [shares(*pair) for pair in about]
    result = assess(one, plan, rows, 0.5)
    assert len(told) == 2 * 4 * 3
    assert result.functional.value == pytest.approx(average([lost for lost, _ in both]))
    assert result.literal.value == pytest.approx(average([wrong for _, wrong in both]))
    assert result.gap.value == pytest.approx(average([lost - wrong for lost, wrong in both]))
    assert result.consistency.value == pytest.approx(average([wise(task, row) for task, e in about for row in e]))
    assert result.lost.value == pytest.approx(average([row["action"] is None for row in rows]))
    assert 0.0 < result.lost.value < 1.0
    unread_rounds = [row for row in rows if row["action"] is None]
    assert result.paid.value == pytest.approx(sum(row["best"] - row["reward"] for row in unread_rounds) / len(rows))
    assert f"costs {result.paid.value:.2f} points a round" in result.verdict.words
    unread = [[said["text"] == "Who knows?" for row in episode for said in row["said"]] for episode in told]
    assert result.unreadable is not None
    assert result.unreadable.value == pytest.approx(average([average([*map(float, one)]) for one in unread]))
    assert 0.5 < result.unreadable.value < 1.0


def test_episodes_in_which_nothing_can_be_lost_are_left_out() -> None:
    plan = CheckPlan((RPS,), ("random", "tft"), rounds=5)
    only = CheckPlan((RPS,), ("tft",), rounds=5)
    assert found("scripted:echo", plan).functional == found("scripted:echo", only).functional
    assert found("scripted:echo", plan).consistency.n == 2


@pytest.mark.slow
def test_intervals_are_over_partners_and_there_is_none_with_one() -> None:
    names = ("always-cooperate", "always-defect")
    both = found("scripted:nash_mixer", CheckPlan((IPD,), names, 9, 5)).functional
    alone = [found("scripted:nash_mixer", CheckPlan((IPD,), (name,), 9, 5)).functional for name in names]
    assert [one.low == one.value == one.high for one in alone] == [True, True]
    assert [one.n for one in (both, *alone)] == [2, 1, 1]
    # of all resamples of two, a quarter are twice the first, and a quarter twice the second
    assert sorted([both.low, both.high]) == pytest.approx(sorted(one.value for one in alone))
    assert both.value == pytest.approx(average([one.value for one in alone]))


# Verdicts


def sure(value: float) -> Estimate:
    return Estimate(value, value, value, 3)


def finding(functional: float, literal: float, lost: float = 0.0, **rungs: float) -> Findings:
    told = {name: sure(value) for name, value in rungs.items()}
    rest = (sure(functional - literal), sure(0.5), None, sure(lost), sure(2.5 * lost))
    return Findings("x", sure(functional), sure(literal), *rest, told, 0.4)


@pytest.mark.parametrize(
    ("told", "breaks", "said"),
    [
        (finding(0.4, 0.4), "", "knows its partner; it loses 0.40 of .* with 3 partners, and may lose 0.4$"),
        (finding(0.4, 0.41), "", "mostly wrong; it loses"),
        (finding(0.1, 0.0, lost=0.5), "", r"knows its partner; .* worst payoff, which costs 1\.25 points a round$"),
        (finding(0.41, 0.4), "using", "predicts its partner, and does not act on that; it loses 0.41"),
        (finding(0.41, 0.41), "predicting", "does not know what its partner will do; it loses 0.41"),
        (finding(0.41, 0.9, lost=0.1), "formatting", "^in 10% of the rounds no move could be read; .* 0.25 points"),
        (finding(0.41, 0.9, lost=0.09), "predicting", r"do; .* rounds without a readable move .* 0\.2"),
        (finding(0.9, 0.9, oracle=0.8, oracle_max=0.4), "predicting", r"told what .* it plays well \(0.40\); it loses"),
        (finding(0.9, 0.1, oracle=0.8, oracle_max=0.7), "using", "even told what the partner does, it loses 0.70 of"),
    ],
)
def test_the_first_thing_that_explains_a_loss_is_where_it_breaks(told: Findings, breaks: str, said: str) -> None:
    assert told.verdict.breaks == breaks
    assert told.verdict.passed == (not breaks)
    assert re.search(said, told.verdict.words)


@pytest.mark.parametrize(
    ("low", "value", "high", "result"),
    [(0.1, 0.2, 0.4, "passes"), (0.1, 0.2, 0.41, "open"), (0.4, 0.6, 0.9, "open"), (0.41, 0.6, 0.9, "fails")],
)
def test_an_interval_that_spans_the_limit_leaves_the_verdict_open(
    low: float, value: float, high: float, result: str
) -> None:
    told = replace(finding(value, 0.1), functional=Estimate(value, low, high, 7))
    assert told.verdict.result == result
    assert ("too few rounds to say" in told.verdict.words) == (result == "open")
    assert (
        f"it loses {value:.2f} [{low:.2f}, {high:.2f}] of what random play loses with 7 partners" in told.verdict.words
    )
    passing, failing = (replace(finding(lost, 0.1), name=name) for name, lost in (("good", 0.1), ("bad", 0.9)))
    together = {"passes": True, "open": None, "fails": False}[result]
    assert CheckResult((passing, told), ("good", "x"), ()).passed is together
    assert CheckResult((failing, told), ("bad", "x"), ()).passed is False
    assert CheckResult((failing, passing), ("good",), ()).passed is True


def test_losses_are_paired_with_those_of_the_reference_players_by_partner() -> None:
    one, bayes = (replace(finding(0.5, 0.5), shares=shares) for shares in ({"a": 0.5, "b": 0.3}, {"b": 0.1, "a": 0.1}))
    bayes = replace(bayes, name="bayes")
    rows = {(row["subject"], row["metric"]): row for row in summary([one, bayes], ("bayes", "random"))}
    assert rows["x", "minus_bayes"]["value"] == pytest.approx(0.3)
    assert (rows["x", "minus_bayes"]["n"], rows["x", "minus_bayes"]["low"] < 0.2) == (2, True)
    assert not [key for key in rows if key[1] == "minus_random" or key == ("bayes", "minus_bayes")]
    assert one.less(finding(0.1, 0.1)) is None


def test_a_summary_has_a_row_for_every_score() -> None:
    told = replace(finding(0.9, 0.1, oracle=0.8, oracle_max=0.7), unreadable=sure(0.25))
    rows = {row["metric"]: row for row in summary([told])}
    assert {name: row["value"] for name, row in rows.items()} == {
        "relative_regret": 0.9,
        "relative_tom_regret": 0.1,
        "gap": 0.8,
        "consistency": 0.5,
        "unreadable_share": 0.25,
        "lost_share": 0.0,
        "lost_points": 0.0,
        "relative_regret_oracle": 0.8,
        "relative_regret_oracle_max": 0.7,
    }
    assert all(row["low"] == row["high"] == row["value"] and row["n"] == 3 for row in rows.values())
    assert {(row["experiment"], row["condition"], row["subject"]) for row in rows.values()} == {("check", "all", "x")}
    assert "unreadable_share" not in {row["metric"] for row in summary([finding(0.9, 0.1)])}


# Told the truth


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> tuple[CheckResult, list[Row]]:
    folder = tmp_path_factory.mktemp("ladder")
    names = ("perfect", "echo", "format_breaker")
    specs = [f"scripted:{name}" for name in names] + ["own_agents:obedient"]
    # tit for tat is left out: who plays well this round does not play well against it
    plan = CheckPlan((RPS,), ("always-rock", "always-paper", "always-scissors"), rounds=12)
    result = check(specs, plan, Asking(""), folder, 0.5)
    return result, rows_in(folder)


@pytest.mark.slow
def test_who_fails_in_words_is_told_the_truth_unless_nothing_can_be_read(
    ladder: tuple[CheckResult, list[Row]],
) -> None:
    rungs = {told.name: [*told.rungs] for told in ladder[0].findings}
    asked = {"echo": [*TOLD], "own_agents.obedient": [*TOLD]}
    assert rungs == {name: asked.get(name, []) for name in rungs}
    assert asked.keys() < rungs.keys()
    assert len(rungs) == 7


@pytest.mark.slow
def test_whoever_uses_the_truth_is_told_apart_from_who_does_not(ladder: tuple[CheckResult, list[Row]]) -> None:
    told = {one.name: one for one in ladder[0].findings}
    assert told["own_agents.obedient"].functional.value > 0.5
    assert [one.value for one in told["own_agents.obedient"].rungs.values()] == pytest.approx([0.0, 0.0])
    assert "told what the partner does, it plays well (0.00)" in told["own_agents.obedient"].verdict.words
    assert "even told" in told["echo"].verdict.words
    assert [one.value for one in told["echo"].rungs.values()] == pytest.approx([1.0, 1.0])


@pytest.mark.slow
def test_the_truth_is_told_in_a_few_rounds_and_counts_for_nothing_else(
    ladder: tuple[CheckResult, list[Row]],
) -> None:
    rows = ladder[1]
    for row in rows:
        assert row["t"] < (12 if row["policy"] == OWN else TOLD_ROUNDS)
        assert row["subject"].partition("+")[2] == ("" if row["policy"] == OWN else row["policy"])
        assert row["policy"] == OWN or row["predicted"] == row["observed"]
    assert len(rows) == 7 * 3 * 12 + 2 * 2 * 3 * TOLD_ROUNDS
    assert {row["strategy"] for row in rows if row["policy"] == "oracle"} == {"qa+oracle"}


def test_short_checks_tell_the_truth_no_longer_than_they_are() -> None:
    assert {task.horizon for rung in (OWN, *TOLD) for task in CheckPlan(GAMES, rounds=4).tasks(rung)} == {4}


# Encounters


def test_a_plan_is_every_partner_of_every_game() -> None:
    names = [encounter.condition for encounter in CheckPlan(GAMES).encounters("x")]
    assert names == [
        *("rps/always Rock", "rps/always Paper", "rps/always Scissors", "rps/tft"),
        *("ibs/always Fight", "ibs/always Ballet", "ibs/tft"),
        *("ipd/always Cooperate", "ipd/always Defect", "ipd/tft"),
    ]
    told = CheckPlan(GAMES, episodes=3).encounters("x", TOLD)
    assert len(told) == 2 * 3 * 7
    assert {encounter.condition for encounter in told} == {name for name in names if "always" in name}


def test_where_all_partners_react_nobody_is_told_the_truth() -> None:
    assert CheckPlan((IPD,), ("tft", "wsls")).encounters("x", TOLD) == []


def test_partners_and_games_that_are_given_twice_are_met_once() -> None:
    plan = CheckPlan((RPS, RPS), ("tft", "TFT", "tft~0.1", "tft~0.10"), episodes=2)
    keys = [encounter.key for encounter in plan.encounters("x")]
    assert sorted(keys) == sorted({("rps/tft", "x", n) for n in "01"} | {("rps/tft~0.1", "x", n) for n in "01"})


@pytest.mark.slow
def test_partners_that_tremble_do_so_alike_for_everybody() -> None:
    plan = CheckPlan((RPS,), ("random",), rounds=20, episodes=2)
    specs = ("tabular", "perfect", "own_agents:copycat", "scripted:echo", "scripted:nash_mixer")
    seen = {spec: [row["observed"] for row in played(agent(spec, ASKING, NONE), plan)] for spec in specs}
    first = seen["tabular"]
    assert all(one == first for one in seen.values())
    assert len(set(first)) == 3
    assert first[:20] != first[20:]
    assert first != [row["observed"] for row in played(agent("perfect", ASKING, NONE), replace(plan, seed=7))]


def test_payoffs_are_shuffled_alike_for_everybody_and_differently_every_time() -> None:
    heard: dict[str, list[str]] = {}
    for name, rung in product(("one", "other"), (OWN, "oracle")):
        speaker = listening(name, heard.setdefault(f"{name} {rung}", []))
        for number in range(4):
            speaker.rows(CheckEpisode(Task(RPS, partner("tft", RPS), 1), name, number, 5, rung))
    payoffs = {at: [text.split("\n\n")[1] for text in found] for at, found in heard.items()}
    assert payoffs["one own"] == payoffs["other own"]
    assert payoffs["one own"][::2] == payoffs["one oracle"]
    assert len(set(payoffs["one own"])) == 4


def listening(name: str, heard: list[str]) -> LanguageAgent:
    def write(request: Request) -> str:
        heard.append(text_of(request))
        return "Answer: option J"

    model = Scripted(name, write)
    return LanguageAgent(name, lambda _setting, _task: model, Asking("", shuffle="both"))


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (CheckPlan((RPS, replace(RPS, payoffs=RPS.payoffs[::-1]), IPD)), "same name"),
        (CheckPlan((RPS,), ("random",)), "random play loses nothing"),
        (CheckPlan((RPS,), ("nobody",)), "unknown partner"),
        (CheckPlan((RPS, IPD), ("grim",)), "grim cannot play rps"),
    ],
)
def test_plans_that_say_nothing_are_refused_before_anybody_plays(plan: CheckPlan, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        check(["own_agents:counted"], plan, Asking(""), tmp_path / "out", 0.5)
    assert not (tmp_path / "out" / "rows.jsonl").exists()


@pytest.mark.parametrize("bad", ["nobody", "scripted:nobody", "k_tom_0", "own_agents:lazy", "own_agents:number"])
def test_nobody_is_asked_anything_if_somebody_else_cannot_play(
    bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = own_agents.Counted()
    monkeypatch.setattr(own_agents, "counted", model)
    with pytest.raises(InputError):
        check(["own_agents:counted", bad], CheckPlan((RPS,), rounds=3), Asking(""), tmp_path, 0.5)
    assert model.asked == 0


def big() -> Game:
    payoffs = [(float(a == b), float(a != b)) for a, b in product(range(4), range(4))]
    return Game("big", ("one", "other"), (tuple("abcd"),) * 2, tuple(payoffs))


@pytest.mark.slow
def test_games_that_are_too_large_to_solve_are_played_without_the_bayesian(tmp_path: Path) -> None:
    result = check(["perfect"], CheckPlan((big(),), rounds=3), Asking(""), tmp_path, 0.5)
    assert [told.name for told in result.findings] == ["perfect", "tabular", "random"]
    assert result.passed is not False
    with pytest.raises(InputError, match="too large"):
        check(["bayes"], CheckPlan((big(),), rounds=3), Asking(""), tmp_path, 0.5)


# Agents


def test_agents_of_ones_own_play_as_those_of_the_library_do() -> None:
    plan = replace(SHORT, rounds=10)
    copycat = [(row["action"], row["predicted"]) for row in played(agent("own_agents:copycat", ASKING, NONE), plan)]
    expected = [(0, 0)] * 10 + [(0, 0)] + [(1, 1)] * 9 + [(0, 0)] * 10
    assert copycat == expected
    json.dumps(copycat)
    explorer, tabular = agent("own_agents:explorer", ASKING, NONE), agent("tabular", ASKING, NONE)
    assert isinstance(explorer, MindreaderAgent)
    assert isinstance(tabular, MindreaderAgent)
    alike = replace(explorer, name="tabular")
    assert played(alike, plan) == played(tabular, plan)


@pytest.mark.slow
def test_functions_and_models_of_ones_own_are_asked_in_words(tmp_path: Path) -> None:
    function, model = (agent(f"own_agents:{name}", ASKING, tmp_path) for name in ("answer", "counted"))
    told = [[(row["action"], row["predicted"]) for row in played(one, SHORT)] for one in (function, model)]
    assert told[0] == told[1]
    assert [function.name, model.name] == ["own_agents.answer", "counted"]
    assert all(isinstance(one, LanguageAgent) for one in (function, model))
    record = read(tmp_path / "run.db", "select model, count(*) from calls where state = 'done' group by model")
    assert len(record) == 2
    assert {calls for _, calls in record} == {2 * len(told[0])}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("silent", "broke: AttributeError: .*predict"),
        ("outside", "has -1 as action"),
        ("lazy", r"own_agents.py:\d+: own_agents.lazy broke: KeyError: 'later'"),
    ],
)
def test_what_is_wrong_with_a_mindreader_is_told(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        played(agent(f"own_agents:{name}", ASKING, NONE), SHORT)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", r"own_agents.py:\d+: own_agents.broken broke: ZeroDivisionError: \d+ characters are too many"),
        ("quiet", "answered with NoneType"),
        ("undecided", "broke: TypeError"),
    ],
)
def test_what_is_wrong_with_a_function_is_told(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        played(agent(f"own_agents:{name}", ASKING, tmp_path), SHORT)


def test_replies_from_anywhere_can_be_kept() -> None:
    wild = "\ud800\x1b[31m\x00\u2028" + "x" * 1_000_000
    one = LanguageAgent("wild", lambda _setting, _task: Scripted("wild", lambda _request: wild), Asking(""))
    rows = played(one, replace(SHORT, rounds=2))
    assert rows[0]["said"][0]["text"].startswith("?\x1b")
    assert len(json.dumps(rows, ensure_ascii=False).encode()) < 20_000


@pytest.mark.parametrize("strategies", [("qa", "cot"), ("nothing",), ("lm+oracle",), ("qa+",)])
def test_a_check_is_with_one_strategy_that_there_is(strategies: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        check(["tabular"], SHORT, Asking("", strategies), tmp_path, 0.5)


# Broken off and gone on with


def fresh(monkeypatch: pytest.MonkeyPatch, most: float = math.inf) -> own_agents.Counted:
    model = own_agents.Counted(most=most)
    monkeypatch.setattr(own_agents, "counted", model)
    return model


COUNTED = ["own_agents:counted"]


@pytest.mark.slow
def test_rows_are_the_same_whatever_the_number_of_calls_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = CheckPlan((IPD,), rounds=4, episodes=2, seed=3)
    for at_once in (1, 8):
        model = fresh(monkeypatch)
        check(COUNTED, plan, Asking("", at_once=at_once), tmp_path / f"{at_once}", 0.1)
        assert model.asked > 40
    assert results(tmp_path / "1") == results(tmp_path / "8")


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 4])
def test_a_check_that_broke_off_goes_on_and_asks_nothing_twice(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = Asking("", at_once=at_once)
    whole = fresh(monkeypatch)
    check(COUNTED, SHORT, asking, tmp_path / "whole", 0.1)
    first = fresh(monkeypatch, most=whole.asked // 2)
    with pytest.raises(InputError, match="has had enough"):
        check(COUNTED, SHORT, asking, tmp_path / "broken", 0.1)
    assert not set(RESULTS) & {path.name for path in (tmp_path / "broken").iterdir()}
    second = fresh(monkeypatch)
    check(COUNTED, SHORT, asking, tmp_path / "broken", 0.1)
    assert first.most + second.asked == whole.asked
    assert results(tmp_path / "broken") == results(tmp_path / "whole")


PRICE = Price(1000.0, 1000.0)


@pytest.mark.slow
def test_a_budget_that_runs_out_keeps_what_was_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = CheckPlan((IPD,), rounds=6, episodes=2)
    whole = fresh(monkeypatch)
    check(COUNTED, plan, Asking(""), tmp_path / "whole", 0.1)
    asking = Asking("", price=PRICE, budget=10.0)
    first = fresh(monkeypatch)
    with pytest.raises(BudgetError, match=r"\$10 has no room"):
        check(COUNTED, plan, asking, tmp_path / "paid", 0.1)
    record = Recorded(first, tmp_path / "paid" / "run.db", price=PRICE)
    assert 9.0 < record.spent <= 10.0
    assert 1 <= len(set(episodes_in(tmp_path / "paid")) & set(episodes_in(tmp_path / "whole"))) < 6
    second = fresh(monkeypatch)
    check(COUNTED, plan, replace(asking, budget=1e6), tmp_path / "paid", 0.1)
    assert 0 < first.asked < whole.asked
    assert first.asked + second.asked == whole.asked
    assert rows_in(tmp_path / "paid") == rows_in(tmp_path / "whole")


@pytest.mark.slow
def test_a_replay_asks_nothing_and_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(monkeypatch)
    check(COUNTED, SHORT, Asking(""), tmp_path / "first", 0.1)
    lines = tmp_path / "calls.jsonl"
    lines.write_bytes(b"".join(exported_calls(tmp_path / "first")))
    for replay in (tmp_path / "first", tmp_path / "first" / "run.db", lines):
        silent = fresh(monkeypatch, most=0)
        check(COUNTED, SHORT, Asking("", replay=replay), tmp_path / f"again-{replay.name}", 0.1)
        assert silent.asked == 0
        assert rows_in(tmp_path / f"again-{replay.name}") == rows_in(tmp_path / "first")


@pytest.mark.slow
def test_a_folder_is_for_one_game_of_each_name(tmp_path: Path) -> None:
    check(["perfect"], CheckPlan((IPD,), rounds=3), Asking(""), tmp_path, 0.5)
    other = replace(IPD, payoffs=tuple((mine + 1.0, theirs) for mine, theirs in IPD.payoffs))
    with pytest.raises(InputError, match=r"run\.db.*another game that is called ipd"):
        check(["perfect"], CheckPlan((other,), rounds=3), Asking(""), tmp_path, 0.5)
    check(["perfect", "scripted:echo"], CheckPlan((IPD, RPS), rounds=3), Asking(""), tmp_path, 0.5)
    with pytest.raises(InputError, match="another run"):
        check(["perfect"], CheckPlan((IPD,), rounds=4), Asking(""), tmp_path, 0.5)


# What is shown


@pytest.mark.slow
def test_the_worst_episodes_are_those_that_lost_most() -> None:
    plan = CheckPlan(GAMES, ("random", "tft", "alternate"), rounds=6, episodes=3)
    one = agent("scripted:nash_mixer", ASKING, NONE)
    rows = played(one, plan, (OWN, "oracle"))
    tasks = {f"{task.game.name}/{task.partner.name}": task for task in plan.tasks()}
    every = [rows[i : i + 6] for i in range(0, len(rows), 6)]
    known = [e for e in every if e[0]["policy"] == OWN and e[0]["condition"] != "rps/random"]
    lost = sorted((shares(tasks[e[0]["condition"]], e)[0] for e in known), reverse=True)
    chosen = worst(rows, plan)
    assert len(known) == 24
    assert [shares(tasks[e[0]["condition"]], e)[0] for e in chosen] == pytest.approx(lost[:3])
    assert all(episode in known for episode in chosen)


def test_the_figure_has_the_line_that_decides_and_everybody_on_it() -> None:
    points = [("lucky", 0.1, -0.3, True), ("hopeless", 2.5, 3.5, False)]
    axes = known_and_lost(points, 0.2).axes[0]
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert [set(np.ravel(line.get_xydata())) - {0.0, 1.0} for line in dotted] == [{0.2}, {0.2}]
    assert axes.get_ylim()[0] < -0.3
    assert axes.get_ylim()[1] > 3.5
    assert known_and_lost(points[:1], 7.0).axes[0].get_ylim()[1] > 7.0
    assert {text.get_text() for text in axes.texts} == {"lucky", "hopeless"}

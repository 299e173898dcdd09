"""A check plays passes until the verdict is decided, tells failing agents the truth, and resumes where it broke off."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import own_agents
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.runs import exported_calls
from otherminds.evaluation.tasks import Task
from otherminds.language.ledger import Recorded
from otherminds.language.model import Request
from otherminds.language.prices import BudgetError, Price
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional import check as functional_check
from otherminds.papers.functional.agents import OWN, TOLD, Agent, CheckEpisode, LanguageAgent, MindreaderAgent, agent
from otherminds.papers.functional.check import CheckOptions, CheckResult, check_as_asked
from otherminds.papers.functional.verdicts import TOLD_ROUNDS, CheckPlan, Findings, assess
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


def check(specs: Sequence[str], plan: CheckPlan, asking: Asking, folder: Path, most: float) -> CheckResult:
    return check_as_asked(CheckOptions(folder, asking, tuple(specs), max_regret=most), plan)


def played(player: Agent, plan: CheckPlan) -> list[Row]:
    """The rows of all passes of a plan."""
    encounters = [
        encounter for number in range(plan.passes) for encounter in plan.encounters(player.name, number=number)
    ]
    return [row for encounter in encounters for row in player.rows(encounter)]


# What comes out


BREAKS = {
    "perfect": "",
    "stutterer": "",
    "r1_like": "",
    "nash_mixer": "using",
    "echo": "using",
    "biased": "predicting",
    "format_breaker": "formatting",
}
RUNS = {  # games, partners, rounds, shuffle
    "short": ((RPS, IPD), (), 6, "none"),
    "shuffled": ((RPS, IPD), (), 6, "both"),
    "long": ((RPS,), ("tft", "always-rock"), 100, "none"),
}


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", BREAKS)
def test_scripted_players_break_where_they_are_made_to(name: str, run: str) -> None:
    games, partners, rounds, shuffle = RUNS[run]
    plan = CheckPlan(games, partners, rounds, 3 if name in ("biased", "nash_mixer") else 2, seed=1)
    player = agent(f"scripted:{name}", Asking("", shuffle=shuffle), NONE)
    finding = assess(player, plan, played(player, plan), 0.4)
    expected = {"": "passes", "formatting": "not measured"}.get(BREAKS[name], "fails")
    assert (finding.verdict.result, finding.verdict.breaks) == (expected, BREAKS[name])
    assert ("Its predictions are wrong" in finding.verdict.words) == (name in ("r1_like", "biased"))
    assert finding.lost.value == (name == "format_breaker")


def test_unreadable_replies_are_counted_and_do_no_harm_if_the_next_one_can_be_read() -> None:
    plan = replace(SHORT, passes=1)
    players = [agent(f"scripted:{name}", ASKING, NONE) for name in ("stutterer", "perfect")]
    stutterer, perfect = (assess(player, plan, played(player, plan), 0.5) for player in players)
    assert (stutterer.unreadable, stutterer.lost.value) == ({"unreadable": 0.5}, 0.0)
    assert (perfect.unreadable, perfect.calls) == ({}, stutterer.calls / 2)
    assert stutterer.functional == perfect.functional


# Passes


def passes_of(result: CheckResult) -> dict[str, int]:
    return {finding.name: finding.passes for finding in result.findings}


@pytest.mark.slow
def test_agents_play_until_they_are_decided(tmp_path: Path) -> None:
    plan = CheckPlan(GAMES, rounds=10, passes=5)
    result = check(["perfect", "random", "scripted:format_breaker"], plan, ASKING, tmp_path, 1.0)
    # random play loses about 1, and so stays open
    assert passes_of(result) == {"perfect": 3, "random": 5, "format_breaker": 1, "bayes_simplicity": 3, "tabular": 3}
    assert {name: finding.verdict.result for name, finding in zip(passes_of(result), result.findings, strict=True)} == {
        "perfect": "passes",
        "random": "open",
        "format_breaker": "not measured",
        "bayes_simplicity": "passes",
        "tabular": "passes",
    }
    episodes = {(row["subject"], row["episode"], row["condition"]) for row in rows_in(tmp_path)}
    assert len(episodes) == (3 + 5 + 1 + 3 + 3) * len(plan.tasks())
    assert {number for subject, number, _ in episodes if subject == "random"} == set("01234")


@pytest.mark.slow
@pytest.mark.parametrize("passes", [1, 2, 4])
def test_no_agent_plays_more_passes_than_allowed(passes: int, tmp_path: Path) -> None:
    plan = CheckPlan((RPS, IPD), rounds=5, passes=passes)
    result = check(["random", "perfect"], plan, ASKING, tmp_path, 1.0)
    assert (passes_of(result)["random"], passes_of(result)["perfect"]) == (passes, min(passes, 3))
    assert [finding.verdict.result for finding in result.findings[:2]] == ["open", "open" if passes == 1 else "passes"]


@pytest.mark.slow
def test_of_many_passes_only_the_first_five_and_the_last_can_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(player: Agent, plan: CheckPlan, rows: Sequence[Row], most: float) -> Findings:
        """The findings, which are clear from the sixth pass on."""
        finding = assess(player, plan, rows, most)
        return replace(finding, max_regret=9.0) if finding.passes > 5 and player.name == "random" else finding

    monkeypatch.setattr(functional_check, "assess", judged)
    result = check(["random"], CheckPlan((RPS, IPD), rounds=5, passes=8), ASKING, tmp_path, 1.0)
    assert passes_of(result)["random"] == 8
    assert result.passed is True


@pytest.mark.slow
def test_more_passes_go_on_where_fewer_ended(tmp_path: Path) -> None:
    plan = CheckPlan((RPS, IPD), rounds=5, passes=3)
    fewer = check(["random"], plan, ASKING, tmp_path / "grown", 1.0)
    before = rows_in(tmp_path / "grown")
    assert fewer.findings[0].verdict.result == "open"
    more = check(["random"], replace(plan, passes=5), ASKING, tmp_path / "grown", 1.0)
    whole = check(["random"], replace(plan, passes=5), ASKING, tmp_path / "whole", 1.0)
    assert passes_of(more) == passes_of(whole)
    assert passes_of(more)["random"] == 5
    assert more.findings == whole.findings
    after = [json.dumps(row, sort_keys=True) for row in rows_in(tmp_path / "grown")]
    assert {json.dumps(row, sort_keys=True) for row in before} < set(after)
    assert sorted(after) == sorted(json.dumps(row, sort_keys=True) for row in rows_in(tmp_path / "whole"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shuffle", "words"), [("none", "it always does the same"), ("labels", "it always names the same option")]
)
def test_an_agent_that_always_names_the_first_option_fails_by_name(shuffle: str, words: str, tmp_path: Path) -> None:
    plan, asking = CheckPlan(GAMES, rounds=10), Asking("", shuffle=shuffle)
    result = check(["own_agents:stubborn", "scripted:biased"], plan, asking, tmp_path, 0.5)
    for finding in result.findings[:2]:
        assert finding.verdict.result == "fails"
        assert re.match(f"{words}.*, in 100 % of the ", finding.verdict.words)
    assert result.passed is False


def test_all_agents_have_to_pass() -> None:
    plan = CheckPlan((RPS,), ("tft",), rounds=4, passes=2)
    players = [agent(spec, ASKING, NONE) for spec in ("perfect", "scripted:echo")]
    good, bad = (assess(player, plan, played(player, plan), 0.5) for player in players)
    unclear = replace(good, name="unclear", passes=1)
    assert [finding.verdict.passed for finding in (good, bad, unclear)] == [True, False, None]
    for names, passed in ((("perfect",), True), (("perfect", "unclear"), None), (("unclear", "echo"), False)):
        assert CheckResult((good, bad, unclear), names, ()).passed is passed


# Told the truth


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> tuple[CheckResult, list[Row]]:
    folder = tmp_path_factory.mktemp("ladder")
    names = ("perfect", "echo", "format_breaker")
    specs = [f"scripted:{name}" for name in names] + ["own_agents:obedient"]
    # tit for tat is left out: who plays well this round does not play well against it
    plan = CheckPlan((RPS,), ("always-rock", "always-paper", "always-scissors"), rounds=12, passes=2)
    result = check(specs, plan, Asking(""), folder, 0.5)
    return result, rows_in(folder)


@pytest.mark.slow
def test_who_fails_in_words_is_told_the_truth_unless_nothing_can_be_read(
    ladder: tuple[CheckResult, list[Row]],
) -> None:
    rungs = {finding.name: [*finding.rungs] for finding in ladder[0].findings}
    failing = {"echo": [*TOLD], "own_agents.obedient": [*TOLD]}
    assert rungs == {name: failing.get(name, []) for name in rungs}
    assert failing.keys() < rungs.keys()
    assert len(rungs) == 7


@pytest.mark.slow
def test_whoever_uses_the_truth_is_told_apart_from_who_does_not(ladder: tuple[CheckResult, list[Row]]) -> None:
    findings = {finding.name: finding for finding in ladder[0].findings}
    obedient, echo = findings["own_agents.obedient"], findings["echo"]
    assert obedient.functional.value > 0.5
    assert [rung.value for rung in obedient.rungs.values()] == pytest.approx([0.0, 0.0])
    assert "Told what the partner does, it plays well (0.00)" in obedient.verdict.words
    assert "Even told" in echo.verdict.words
    assert [rung.value for rung in echo.rungs.values()] == pytest.approx([1.0, 1.0])


@pytest.mark.slow
def test_the_truth_is_told_in_a_few_rounds_and_counts_for_nothing_else(
    ladder: tuple[CheckResult, list[Row]],
) -> None:
    rows = ladder[1]
    for row in rows:
        assert row["t"] < (12 if row["policy"] == OWN else TOLD_ROUNDS)
        assert row["subject"].partition("+")[2] == ("" if row["policy"] == OWN else row["policy"])
        assert row["policy"] == OWN or row["predicted"] == row["observed"]
    assert len(rows) == (6 * 2 + 1) * 3 * 12 + 2 * 2 * 3 * TOLD_ROUNDS  # one is not measured, after a single pass
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
    rungs = CheckPlan(GAMES).encounters("x", TOLD)
    assert len(rungs) == 2 * 7
    assert {encounter.condition for encounter in rungs} == {name for name in names if "always" in name}
    assert {encounter.key[2] for encounter in CheckPlan(GAMES).encounters("x", number=2)} == {"2"}


def test_where_all_partners_react_nobody_is_told_the_truth() -> None:
    assert CheckPlan((IPD,), ("tft", "wsls")).encounters("x", TOLD) == []


def test_partners_and_games_that_are_given_twice_are_met_once() -> None:
    plan = CheckPlan((RPS, RPS), ("tft", "TFT", "tft~0.1", "tft~0.10"))
    keys = [encounter.key for encounter in plan.encounters("x")]
    assert keys == [("rps/tft", "x", "0"), ("rps/tft~0.1", "x", "0")]


@pytest.mark.slow
def test_partners_that_tremble_do_so_alike_for_everybody() -> None:
    plan = CheckPlan((RPS,), ("random",), rounds=20, passes=2)
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
        check(["bayes_simplicity"], CheckPlan((big(),), rounds=3), Asking(""), tmp_path, 0.5)


# Agents


def test_agents_of_ones_own_play_as_those_of_the_library_do() -> None:
    plan = replace(SHORT, rounds=10, passes=1)
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
    rows = played(one, replace(SHORT, rounds=2, passes=1))
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
    plan = CheckPlan((IPD,), rounds=4, passes=2, seed=3)
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
    plan = CheckPlan((IPD,), rounds=6, passes=2)
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

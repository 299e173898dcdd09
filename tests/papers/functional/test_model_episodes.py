"""Language models in repeated games: plans, rows, summaries, what it will take, and playing it again from a record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import own_agents
from commands import Run
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.literal_functional import functional_regret, tom_percent, tom_regret_paper
from otherminds.evaluation.statistics import mean, stratified
from otherminds.evaluation.store import Store
from otherminds.evaluation.tasks import Task
from otherminds.language.ledger import Recorded
from otherminds.language.model import Continuations, LanguageModel, ModelError, Reply, Request, Scores, Usage
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional import card_and_word_games, reproduction
from otherminds.papers.functional import experiment as functional
from otherminds.papers.functional import report as functional_models_report
from otherminds.papers.functional.experiment import CELLS, summarise, tasks
from otherminds.papers.functional.model_episodes import (
    FOUR_SETS,
    SHUFFLES,
    ModelGameEntry,
    estimate,
    plan,
    player,
    rows,
)
from otherminds.papers.functional.prompting import STRATEGIES
from otherminds.papers.functional.scripted_models import scripted_player
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game

Row = dict[str, Any]
RPS, IBS, IPD = map(find_game, ("rps", "ibs", "ipd"))
REPLIES = ("unreadable_share", "lost_share", "tokens", "evaluated")


def entry(way: str = "qa", rounds: int = 5, who: str = "tft", cell: str = "rps/tft", **more: Any) -> ModelGameEntry:
    game = find_game(cell.partition("/")[0])
    about: dict[str, Any] = {"model": "m", "number": 0, "seed": 3} | more
    return ModelGameEntry(Task(game, partner(who, game), rounds), cell, strategy=way, **about)


def played(one: ModelGameEntry, name: str = "perfect") -> list[Row]:
    return rows(one, scripted_player(name, one.setting, one.task.partner))


# Plans


@pytest.mark.parametrize(
    ("scale", "partners", "sets"), [("quick", 3, ("neutral",)), ("normal", 10, ("neutral",)), ("full", 10, FOUR_SETS)]
)
def test_a_plan_is_everything_with_everything(scale: str, partners: int, sets: Sequence[str]) -> None:
    ways = ("lm", "cot")
    found = plan(scale, "m", Asking("", ways, episodes=3), 4)
    assert len(found) == len({one.key for one in found}) == partners * len(sets) * len(ways) * 3
    assert {(one.strategy, one.names, one.shuffle, one.seed) for one in found} == {
        (way, names, "none", 4) for way in ways for names in sets
    }
    met = {(one.condition, one.task.partner.name) for one in found}
    cells = ("rps/single",) if scale == "quick" else CELLS
    assert met == {(cell, task.partner.name) for cell in cells for task in tasks(cell)}
    assert {one.task.horizon for one in found} == {100}


def test_names_that_are_asked_for_are_those_that_are_taken() -> None:
    found = plan("full", "m", Asking("", ("qa",), ("nonsense", "initials"), "payoffs"), 0)
    assert {one.names for one in found} == {"nonsense", "initials"}
    assert {one.shuffle for one in found} == {"payoffs"}
    assert len(found) == 20


@pytest.mark.parametrize(
    ("ways", "more"),
    [(("nothing",), {}), (("qa", "nothing"), {}), (("qa",), {"names": ("nothing",)}), (("qa",), {"shuffle": "names"})],
)
def test_what_there_is_not_is_not_planned(ways: tuple[str, ...], more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="there is no"):
        plan("quick", "m", Asking("", ways, **more), 0)


@pytest.mark.parametrize(
    ("more", "subject"),
    [
        ({}, "lm:m:qa"),
        ({"names": "canonical"}, "lm:m:qa:canonical"),
        ({"names": "neutral", "shuffle": "both"}, "lm:m:qa"),
        ({"model": "org/m:8b"}, "lm:org/m-8b:qa"),
        ({"way": "reflexion2", "names": "nonsense"}, "lm:m:reflexion2:nonsense"),
    ],
)
def test_subjects_say_who_and_how(more: dict[str, Any], subject: str) -> None:
    one = entry(**more)
    assert one.subject == subject
    assert one.key == ("rps/tft", subject, "tft/0")


def test_subjects_are_told_in_words() -> None:
    assert functional_models_report.in_words("lm:org/m-8b:plans_insights") == "org/m-8b: plans insights"
    assert functional_models_report.in_words("lm:m:qa:nonsense") == "m: qa, nonsense names"


def test_names_and_payoffs_change_as_they_are_told_to() -> None:
    for shuffle in SHUFFLES:
        settings = [entry(number=number, shuffle=shuffle).setting for number in range(12)]
        assert (len({one.own for one in settings}) > 1) == (shuffle in ("labels", "both"))
        assert (len({one.order for one in settings}) > 1) == (shuffle in ("payoffs", "both"))
        assert all(sorted(one.own) == ["B", "F", "J"] and one.own == one.theirs for one in settings)
        assert settings[5] == entry(number=5, shuffle=shuffle, way="cot", model="other").setting


# Rows


@dataclass
class Counting:
    """Counts calls, and the characters that they send, on their way to a model; every call takes the same tokens."""

    inner: LanguageModel
    calls: int = 0
    characters: int = 0
    written: int = 0
    name: str = "m"
    identity: str = "m"

    def complete(self, request: Request) -> Reply:
        self._count(text_of(request))
        found = self.inner.complete(request)
        self.written += found.usage.written
        return replace(found, usage=Usage(11, 4, 2))

    def score(self, request: Continuations) -> Scores:
        self._count(request.prompt)
        self.written += len(request.texts)
        return replace(self.inner.score(request), usage=Usage(11, 4, 2))

    def _count(self, text: str) -> None:
        self.calls += 1
        self.characters += ceil(len(text) / 4)


def test_rows_say_what_was_done_and_what_it_took() -> None:
    one = entry(way="cot", rounds=6)
    counting = Counting(scripted_player("stutterer", one.setting, one.task.partner))
    found = rows(one, counting)
    assert [row["t"] for row in found] == [*range(6)]
    about = {"condition": "rps/tft", "subject": "lm:m:cot", "episode": "tft/0", "seed": 3, "partner": "tft"}
    about |= {"experiment": "functional", "names": "neutral", "strategy": "cot", "policy": "own"}
    assert all(about.items() <= row.items() for row in found)
    assert [len(row["said"]) for row in found] == [4] * 6
    assert [(row["unreadable"], row["tokens"], row["evaluated"]) for row in found] == [(2, 4 * 13, 4 * 9)] * 6
    assert (found[-1]["replies"], found[-1]["unreadable_share"], found[-1]["lost_share"]) == (24, 0.5, 0.0)
    assert found[-1]["functional_regret"] == functional_regret(one.task, found) == pytest.approx(0.0)
    assert found[-1]["tom_percent"] == tom_percent(found) == 100.0
    assert found[-1]["tom_regret_paper"] == tom_regret_paper(one.task, found) == 0.0
    assert all("functional_regret" not in row for row in found[:-1])
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_lost_rounds_earn_the_least_and_are_counted() -> None:
    one = entry(rounds=4)
    found = played(one, "format_breaker")
    assert [(row["action"], row["predicted"], row["reward"], row["consistent"]) for row in found] == [
        (None, None, -1.0, False)
    ] * 4
    assert (found[-1]["unreadable_share"], found[-1]["lost_share"], found[-1]["tom_percent"]) == (1.0, 1.0, 0.0)
    assert found[-1]["functional_regret"] == pytest.approx(one.task.optimum / 4 + 1.0)


def test_the_mass_of_names_is_that_of_the_model() -> None:
    one = entry(way="lm")
    found = rows(one, Scripted("m", text_of, lambda _prompt, text: log({" J": 0.5, " F": 0.25, " B": 0.125}[text])))
    assert [row["mass"] for row in found] == pytest.approx([0.875] * 5)
    assert [row["p_true"] for row in found] == pytest.approx(
        [(0.5, 0.25, 0.125)[row["observed"]] / 0.875 for row in found], abs=1e-6
    )
    assert all(row["mass"] is None for row in played(entry()))


# Summaries


def summarised(found: Sequence[Row]) -> dict[tuple[str, str, str], Row]:
    return {(row["condition"], row["subject"], row["metric"]): row for row in summarise(found)}


@pytest.mark.slow
def test_the_summary_has_the_means_over_partners() -> None:
    entries = plan("quick", "m", Asking("", ("qa", "lm"), episodes=2), 1)
    every = {one.key: played(one, "nash_mixer") for one in entries}
    found = summarised([row for told in every.values() for row in told])
    for subject in ("lm:m:qa", "lm:m:lm"):
        told = [episode for (_, who, _), episode in every.items() if who == subject]
        names = [episode[-1]["partner"] for episode in told]
        values = {
            metric: [episode[-1][metric] for episode in told]
            for metric in ("functional_regret", "tom_percent", "tom_regret_paper", "unreadable_share", "lost_share")
        }
        values["functional_regret_exact"] = values["functional_regret"]
        values["consistency"] = [float(np.mean([row["consistent"] for row in episode])) for episode in told]
        for metric in ("tokens", "evaluated"):
            values[metric] = [float(sum(row[metric] for row in episode)) for episode in told]
        for metric, numbers in values.items():
            row = found["rps/single", subject, metric]
            assert len(numbers) == 6
            assert (row["value"], row["low"], row["high"], row["n"]) == pytest.approx(mean(numbers, names))
            assert row["n"] == 3
    assert found["rps/single", "lm:m:qa", "normalised_regret"]["value"] == pytest.approx(1.0, abs=0.2)


@pytest.mark.slow
def test_with_one_partner_intervals_are_over_its_episodes() -> None:
    entries = [
        ModelGameEntry(task, "ipd/tft", "m", "qa", number, 1) for task in tasks("ipd/tft") for number in range(3)
    ]
    every = [played(one, "nash_mixer") for one in entries]
    regrets = [episode[-1]["functional_regret"] for episode in every]
    told = summarised([row for episode in every for row in episode])["ipd/tft", "lm:m:qa", "functional_regret"]
    assert (told["value"], told["low"], told["high"], told["n"]) == pytest.approx(stratified(regrets, ["tft"] * 3))
    assert told["low"] < told["value"] < told["high"]
    alone = summarised(every[0])["ipd/tft", "lm:m:qa", "functional_regret"]
    assert alone["low"] == alone["value"] == alone["high"] == pytest.approx(regrets[0])


# What it will take

EACH = {
    **dict.fromkeys(("lm", "qa", "cot", "cot3", "plans_insights", "social_qa", "social_lm"), 2),
    **dict.fromkeys(("reflexion1", "reflexion2", "reflexion3"), 3),
    **dict.fromkeys(("s2a", "s2a_cot"), 4),
    **dict.fromkeys(("oracle", "oracle_max", "oracle_max_no_history", "oracle_max_no_payoffs"), 1),
}
"""Calls of a round; there is nothing to reflect on for after the last one."""


@pytest.mark.parametrize("way", STRATEGIES)
def test_an_estimate_is_what_it_takes_to_play(way: str) -> None:
    entries = [
        entry(way, 7, who, cell, names=names, number=number)
        for cell, who in (("rps/single", "always-rock"), ("ipd/tft", "tft"))
        for names in ("neutral", "repeated")
        for number in range(2)
    ]
    ahead = estimate(entries)
    assert ahead.calls == len(entries) * (7 * EACH[way] - way.startswith("reflexion"))
    counted = [Counting(scripted_player("perfect", one.setting, one.task.partner)) for one in entries]
    for one, counting in zip(entries, counted, strict=True):
        rows(one, counting)
    assert ahead.calls == sum(counting.calls for counting in counted)
    assert ahead.usage.prompt == pytest.approx(sum(counting.characters for counting in counted), rel=0.25)
    assert ahead.usage.written >= sum(counting.written for counting in counted)


@pytest.mark.slow
def test_an_estimate_is_that_of_all_episodes_together() -> None:
    plans = [
        [entry(way, rounds, cell=cell, names=names)]
        for way in ("qa", "cot")
        for rounds in (2, 3)
        for cell in ("rps/tft", "ipd/tft")
        for names in ("neutral", "repeated")
    ]
    each = [estimate(plan) for plan in plans]
    total = estimate([one for plan in plans for one in plan])
    assert total == (sum(one.calls for one in each), sum((one.usage for one in each), Usage()))
    assert len({one.usage for one in each}) == len(each)
    assert estimate([]) == (0, Usage())


# Again, from the record


def asked_to_play(folder: Path, entries: Sequence[ModelGameEntry], model: LanguageModel, record: Path) -> bytes:
    recorded = Recorded(model, record, replay=model.name == "silent")
    with Store(folder, "one and the same") as kept:
        for one in kept.todo(entries):
            kept.add(rows(one, recorded))
        kept.write_rows()
    return (folder / "rows.jsonl").read_bytes()


@dataclass(frozen=True)
class SilentFacilitator:
    identity: str
    name: str = "silent"

    def complete(self, _request: Request) -> Reply:
        raise AssertionError

    def score(self, _request: Continuations) -> Scores:
        raise AssertionError


@pytest.mark.slow
def test_whatever_was_played_can_be_played_again_without_the_model(tmp_path: Path) -> None:
    ways = ("lm", "social_lm", "reflexion2", "s2a_cot", "plans_insights", "oracle_max")
    entries = [entry(way, 4, number=number, shuffle="both") for way in ways for number in range(2)]
    setting = entries[0].setting
    model = scripted_player("nash_mixer", replace(setting, horizon=4), entries[0].task.partner)
    record = tmp_path / "calls.db"
    first = asked_to_play(tmp_path / "first", entries, model, record)
    before = record.read_bytes()
    again = asked_to_play(tmp_path / "again", entries, SilentFacilitator(model.identity), record)
    assert first == again
    assert len(first.splitlines()) == len(entries) * 4
    assert record.read_bytes() == before
    with pytest.raises(ModelError, match="no record of the call"):
        asked_to_play(tmp_path / "other", [entry("lm", 5)], SilentFacilitator(model.identity), record)


def test_attempts_at_the_same_question_are_different_calls() -> None:
    draws: list[tuple[str, int, str]] = []

    def write(request: Request) -> str:
        draws.append((request.draw, request.seed, text_of(request)))
        return "Who knows?"

    model = Scripted("m", write)
    for number in range(2):
        one = entry(rounds=2, number=number)
        rows(one, model)
        assert player(one, model).draw in draws[-1][0]
    assert len(draws) == len({draw for draw, _, _ in draws}) == len({seed for _, seed, _ in draws}) == 2 * 2 * 2 * 3
    assert len({text for _, _, text in draws}) == 4 * 2  # the question, and with what was wrong with the reply


# The whole experiment


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], own_agents.Counted]]:
    """Twenty rounds with hardly anybody else in them, in an own folder; what is called makes the model anew."""

    def few(_scale: str, seed: int, _machines: str = "") -> list[functional.GameEntry]:
        return [functional.GameEntry(cell, "fictitious_play", 0, 0, seed) for cell in CELLS]

    def model() -> own_agents.Counted:
        counted = own_agents.Counted()
        monkeypatch.setattr(own_agents, "counted", counted)
        return counted

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(functional, "plan", few)
    monkeypatch.setattr(card_and_word_games, "plan", lambda _seed: [])
    monkeypatch.setattr(reproduction, "solve_ahead", lambda _game, _rounds: None)
    monkeypatch.setattr(functional, "HORIZON", 20)
    functional.tasks.cache_clear()
    yield model
    functional.tasks.cache_clear()


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


SECTION = "Language models, run here"
COMMAND = ("reproduce", "functional", "--quick", "--model", "own_agents:counted")


@pytest.mark.slow
def test_the_command_plays_and_tells_and_plays_again(
    run: Run, small: Callable[[], own_agents.Counted], tmp_path: Path
) -> None:
    model = small()
    told = run(*COMMAND, "--out", "out", "--price", "1/2")
    assert told.code == 0
    assert model.asked == 3 * 20 * 2
    spent = r"counted: 120 calls made, 0 answered from the record, [^$]* \$\d\.\d+ spent"
    assert re.fullmatch(rf"counted: 120 calls, about [^$]*, about \$\d\.\d\d; [^:]* {spent} ", one_line(told.err))
    assert re.search(r"^rps/single +counted qa +[-\d.]+ ", told.out, re.MULTILINE)
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert SECTION in report
    assert "counted: qa" in report
    assert "The same games with other names" not in report
    silent = small()
    again = run(*COMMAND, "--out", "again", "--replay", "out")
    assert again.code == 0
    assert silent.asked == 0
    first, second = ((tmp_path / name / "rows.jsonl").read_bytes() for name in ("out", "again"))
    assert first == second
    assert "0 calls made, 120 answered from the record" in one_line(again.err)


@pytest.mark.slow
def test_curves_by_names_need_two_sets_of_them(
    run: Run, small: Callable[[], own_agents.Counted], tmp_path: Path
) -> None:
    small()
    assert run(*COMMAND, "--out", "out", "--names", "neutral", "--names", "nonsense").code == 0
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "The same games with other names" in report
    assert "counted: qa, nonsense names" in report
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    spoken = [row for row in summary if row["subject"].startswith("lm:")]
    assert {row["subject"] for row in spoken} == {"lm:counted:qa", "lm:counted:qa:nonsense"}
    assert {row["condition"] for row in spoken} == {"rps/single"}
    assert set(REPLIES) < {row["metric"] for row in spoken}

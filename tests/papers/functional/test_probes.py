"""Every habit is told from the others by an agent that has it, and good or random play is no habit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from otherminds.evaluation.asking import Asking
from otherminds.evaluation.tasks import Task
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.agents import Agent, LanguageAgent, agent
from otherminds.papers.functional.experiment import episodes_of
from otherminds.papers.functional.game_prompts import GameSetting
from otherminds.papers.functional.probes import ACTS, PREDICTIONS, Probe, probes
from otherminds.papers.functional.scripted_models import ParsedPrompt
from otherminds.papers.functional.verdicts import CheckPlan
from otherminds.worlds.repeated_games.payoff_files import find_game

Page = ParsedPrompt
Choice = Callable[[Page], int]
PLAN = CheckPlan(tuple(map(find_game, ("rps", "ibs", "ipd"))), rounds=20, passes=3)


def speaker(act: Choice, predict: Choice, shuffle: str = "labels") -> LanguageAgent:
    """An agent that acts and predicts by rule, from what its prompts say."""

    def model(setting: GameSetting, _task: Task) -> Scripted:
        def write(request: Request) -> str:
            page = ParsedPrompt.read(setting, text_of(request))
            own = page.question == "act"
            labels = setting.own if own else setting.theirs
            return f"Answer: option {labels[(act if own else predict)(page)]}"

        return Scripted("habit", write)

    return LanguageAgent("habit", model, Asking("", shuffle=shuffle))


def at_random(page: Page) -> int:
    """As good as random, and the same whatever is asked in this round."""
    return zlib.crc32(repr((page.joint, page.setting.own)).encode()) // 7 % len(page.setting.own)


def inferred(page: Page) -> int:
    return page.likely


def first_name(page: Page) -> int:
    return page.setting.own.index(min(page.setting.own))


def what_it_did(page: Page) -> int:
    return page.joint[-1][0] if page.joint else at_random(page)


def what_the_partner_did(page: Page) -> int:
    return page.joint[-1][1] if page.joint else at_random(page)


def own_wish(page: Page) -> int:
    """The partner's action that could pay the agent most; inferred if all could pay the same."""
    best = page.setting.game.payoff().max(axis=0)
    return inferred(page) if best.min() == best.max() else int(best.argmax())


HABITS: Mapping[str, tuple[Choice, Choice]] = {
    "same option": (lambda _page: 1, inferred),
    "same name": (first_name, inferred),
    "copies its partner": (what_the_partner_did, inferred),
    "repeats itself": (what_it_did, inferred),
    "predicts the same name": (at_random, first_name),
    "predicts its own wish": (at_random, own_wish),
    "predicts its own move": (at_random, at_random),
    "predicts the last move": (at_random, what_the_partner_did),
}
IMPLIED = {"same option": {"repeats itself"}, "same name": {"repeats itself"}}


def probed(player: Agent, plan: CheckPlan = PLAN) -> dict[str, Probe]:
    encounters = [encounter for number in range(plan.passes) for encounter in plan.encounters("x", number=number)]
    rows: list[dict[str, Any]] = [row for encounter in encounters for row in player.rows(encounter)]
    return {probe.name: probe for probe in probes([(e, plan.task_of(e)) for e in episodes_of(rows)])}


def habits(player: Agent, plan: CheckPlan = PLAN) -> list[str]:
    return [name for name, probe in probed(player, plan).items() if probe.is_habit]


def test_there_is_an_agent_for_every_probe() -> None:
    assert [*HABITS] == [*ACTS, *PREDICTIONS]


@pytest.mark.slow
@pytest.mark.parametrize("name", HABITS)
def test_an_agent_with_a_habit_has_that_habit_and_no_other(name: str) -> None:
    first, *others = habits(speaker(*HABITS[name]))
    assert first == name
    assert set(others) == IMPLIED.get(name, set())


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["perfect", "scripted:perfect", "scripted:stutterer", "bayes_simplicity", "tabular", "random"]
)
def test_good_and_random_players_have_no_habit(spec: str) -> None:
    by_name = probed(agent(spec, Asking(""), Path("unused")))
    assert not [probe for probe in by_name.values() if probe.is_habit]
    if "perfect" in spec:  # it never makes a mistake, so it never follows a habit where that is one
        assert {probe.share for probe in by_name.values()} == {0.0}
        assert all(by_name[name].telling > 100 for name in ("same option", "copies its partner"))


@pytest.mark.slow
def test_names_that_are_not_shuffled_cannot_be_told_from_the_options() -> None:
    assert habits(speaker(first_name, inferred, "none"))[:2] == ["same option", "same name"]
    assert habits(speaker(at_random, first_name, "none")) == ["predicts the same name"]


@pytest.mark.slow
def test_an_agent_that_keeps_to_one_option_in_an_episode_has_no_favourite_name() -> None:
    shares = probed(speaker(what_it_did, inferred))
    assert shares["repeats itself"].share == 1.0
    assert shares["same name"].share < 0.7


def test_rounds_without_a_move_tell_nothing() -> None:
    plan = CheckPlan((find_game("rps"),), rounds=4, passes=1)
    player = agent("scripted:format_breaker", Asking(""), Path("unused"))
    assert [probe.telling for probe in probed(player, plan).values()] == [0] * len(HABITS)

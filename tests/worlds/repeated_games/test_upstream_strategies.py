"""Strategies and scenarios are Melting Pot's own: its puppeteers and ours agree step by step, chance included."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks.evidence.melting_pot_engine import SUBSTRATES, upstream
from otherminds.distribution import Categorical
from otherminds.errors import InputError
from otherminds.worlds.in_the_matrix.scenarios import bot, scenarios
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    Corrigible,
    CounterPrevious,
    Grim,
    Strategy,
    StrategyState,
    TitForTat,
    flip,
    specialist,
)

RWS, PD = ("ROCK", "PAPER", "SCISSORS"), ("COOPERATE", "DEFECT")
KINDS = {"rws_repeated": RWS, "rws_arena": RWS, "pd_repeated": PD}
BOTS = sorted({name for found in scenarios() if found.upstream for name in found.bots if bot(name).strategy})
QUANTILES = tuple((i + 0.5) / 60 for i in range(60))
"""Spread so that a chance of 0.15 and a choice of three come out exactly."""
COUNTS = (1, 1, 2, 3, 6, 8, 9)
EPISODES, STEPS = 40, 25

Inventory = tuple[int, ...]
Meeting = tuple[Inventory, Inventory]


class Fate:
    """Stands in for Python's `random` upstream: everything drawn is the same quantile of what might be."""

    def __init__(self) -> None:
        self.quantile, self.asked = 0.5, 0

    def random(self) -> float:
        self.asked += 1
        return self.quantile

    def choice(self, options: Sequence[Any]) -> Any:
        self.asked += 1
        return options[int(self.quantile * len(options))]


@pytest.fixture(scope="module")
def configs() -> ModuleType:
    try:
        return upstream("configs.bots")
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture
def fate(configs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Fate:
    made = Fate()
    monkeypatch.setattr(configs.in_the_matrix, "random", made)
    return made


def upstream_name(bot: str) -> str:
    """What Melting Pot calls one of our bots."""
    substrate, name = bot.split("__")
    if name == "noop_bot":
        return name
    return f"{SUBSTRATES[substrate]}__{'puppet_' if substrate == 'pd_repeated' else ''}{name}"


def kinds(bot: str) -> tuple[str, ...]:
    return KINDS[bot.split("__")[0]]


def strategy(name: str) -> Strategy:
    found = bot(name).strategy
    assert found is not None
    return found


def timestep(first: bool, inventory: Inventory, rows: Sequence[Sequence[int]]) -> Any:
    """What a puppeteer is shown."""
    dm_env = import_module("dm_env")
    shown = {"INVENTORY": np.array(inventory, float), "INTERACTION_INVENTORIES": np.array(rows, float)}
    kind = dm_env.StepType.FIRST if first else dm_env.StepType.MID
    return dm_env.TimeStep(step_type=kind, reward=0.0, discount=1.0, observation=shown)


def goal_names(configs: ModuleType, bot: str) -> list[str]:
    return list(configs._PUPPET_GOALS[SUBSTRATES[bot.split("__")[0]]])


def told(bot: str, aim: Aim, met: bool, names: list[str]) -> str:
    """The upstream goal that means one of our aims, to interact once it is met."""
    start = "INTERACT_" if met else "COLLECT_"
    kind = kinds(bot)[aim.kind]
    return next(name for name in names if name.startswith(start) and name.endswith(kind))


def branches(puppeteer: Any, shown: Any, state: Any, fate: Fate) -> list[tuple[int, Any]]:
    """The goal and the next state at every quantile of chance, or once if nothing is left to chance."""
    found = []
    for quantile in QUANTILES:
        fate.quantile, fate.asked = quantile, 0
        after, follows = puppeteer.step(shown, state)
        found.append((int(np.argmax(after.observation["GOAL"])), follows))
        assert fate.asked <= 1, "quantiles of one draw cannot stand for two"
        if not fate.asked:
            break
    return found


def compare_episodes(configs: ModuleType, bot: str, fate: Fate, *, at_first: int = 0) -> None:
    """Follow random episodes, one branch of chance each; the puppeteer goes from one into the next as it is."""
    puppeteer, rng = configs.BOT_CONFIGS[upstream_name(bot)].puppeteer_builder(), np.random.default_rng(1)
    theirs = puppeteer.initial_state()
    for _ in range(EPISODES):
        theirs = compare_episode(puppeteer, theirs, bot, goal_names(configs, bot), fate, rng, at_first)


def compare_episode(
    puppeteer: Any, theirs: Any, bot: str, names: list[str], fate: Fate, rng: np.random.Generator, at_first: int
) -> Any:
    """Compare all branches at every step; give back the state in which the puppeteer ends."""
    ours, state, size = strategy(bot), None, len(kinds(bot))
    for t in range(STEPS):
        inventory = tuple(rng.choice(COUNTS, size=size).tolist())
        meeting = random_meeting(rng, size) if t and rng.random() < 0.4 else None
        rows: Sequence[Sequence[int]] = meeting or ((-1 if t else at_first,) * size,) * 2
        found = branches(puppeteer, timestep(t == 0, inventory, rows), theirs, fate)
        states = ours.start() if state is None else follow(ours, state, meeting)
        goals = {told(bot, after.aim, after.aim.is_met(inventory), names): p for after, p in states}
        masses = {names[goal]: number / len(found) for goal, number in Counter(goal for goal, _ in found).items()}
        assert goals == pytest.approx(masses, abs=1e-9), (bot, t, inventory, rows)
        goal, theirs = found[rng.integers(len(found))]
        (state,) = (
            after for after in states.support if told(bot, after.aim, after.aim.is_met(inventory), names) == names[goal]
        )
    return theirs


def random_meeting(rng: np.random.Generator, size: int) -> Meeting:
    own, partner = rng.choice(COUNTS, size=(2, size)).tolist()
    return tuple(own), tuple(partner)


def follow(ours: Strategy, state: StrategyState, meeting: Meeting | None) -> Categorical[StrategyState]:
    return Categorical.uniform([state]) if meeting is None else ours.update(state, *meeting)


@pytest.mark.parametrize("bot", BOTS)
def test_a_strategy_has_every_goal_of_its_puppeteer_with_the_same_probability(
    configs: ModuleType, fate: Fate, bot: str
) -> None:
    compare_episodes(configs, bot, fate)


def test_all_puppets_of_the_thirty_scenarios_are_compared(configs: ModuleType) -> None:
    of_ours = tuple(SUBSTRATES.values())
    puppets = {name for name, bot in configs.BOT_CONFIGS.items() if bot.substrate in of_ours and bot.puppeteer_builder}
    assert {upstream_name(bot) for bot in BOTS} == puppets


@pytest.mark.parametrize("bot", [bot for bot in BOTS if "flip" in bot])
def test_only_the_zeros_of_the_first_step_make_flips_agree(configs: ModuleType, fate: Fate, bot: str) -> None:
    with pytest.raises(AssertionError, match=bot):
        compare_episodes(configs, bot, fate, at_first=-1)


@pytest.mark.parametrize("bot", [bot for bot in BOTS if "tremble" in bot or "resp2prev" in bot])
def test_upstream_chooses_as_often_as_we_say_it_does(
    configs: ModuleType, monkeypatch: pytest.MonkeyPatch, bot: str
) -> None:
    monkeypatch.setattr(configs.in_the_matrix, "random", random.Random(3))
    puppeteer, names = configs.BOT_CONFIGS[upstream_name(bot)].puppeteer_builder(), goal_names(configs, bot)
    size, number = len(kinds(bot)), 4000
    first = timestep(True, (1,) * size, ((0,) * size,) * 2)
    counts = Counter(
        names[int(np.argmax(puppeteer.step(first, puppeteer.initial_state())[0].observation["GOAL"]))]
        for _ in range(number)
    )
    for state, p in strategy(bot).start():
        seen = counts[told(bot, state.aim, False, names)]
        assert abs(seen - number * p) <= 4.5 * (number * p * (1 - p)) ** 0.5


def rebuilt(puppeteer: Any) -> Strategy:
    """Our strategy with the parameters of a puppeteer; a flip's threshold counts the first step, ours does not."""
    one = {name.strip("_"): getattr(value, "index", value) for name, value in vars(puppeteer).items()}
    sort = type(puppeteer).__name__
    if sort == "Specialist":
        return specialist(Aim(one["target"], one["margin"]))
    if sort == "ScheduledFlip":
        before, after = (Aim(one[f"{when}_target"], one[f"{when}_margin"]) for when in ("initial", "final"))
        return flip(before, after, one["threshold"] - 1)
    if sort == "CounterPrevious":
        return CounterPrevious(tuple(Aim(reply.index, one["margin"]) for _, reply in sorted(one["responses"].items())))
    cooperate, defect = (Aim(one[f"{kind}_resource"], one["margin"]) for kind in ("cooperate", "defect"))
    if sort == "GrimTrigger":
        return Grim(cooperate, defect, one["threshold"])
    tit_for_tat = TitForTat(cooperate, defect, one["tremble_probability"])
    return tit_for_tat if sort == "TitForTat" else Corrigible(one["threshold"], tit_for_tat)


@pytest.mark.parametrize("bot", BOTS)
def test_a_bot_has_the_parameters_of_upstream(configs: ModuleType, bot: str) -> None:
    assert strategy(bot) == rebuilt(configs.BOT_CONFIGS[upstream_name(bot)].puppeteer_builder())


def test_the_scenarios_are_those_of_upstream_with_the_same_bots(configs: ModuleType) -> None:
    theirs = upstream("configs.scenarios").SCENARIO_CONFIGS
    expected = {
        name: (one.substrate, set(one.bots_by_role["default"]))
        for name, one in theirs.items()
        if one.substrate in SUBSTRATES.values()
    }
    ours = {
        one.upstream: (SUBSTRATES[one.substrate], {upstream_name(bot) for bot in one.bots})
        for one in scenarios()
        if one.upstream
    }
    assert ours == expected
    assert all(
        one.id == one.upstream.replace(SUBSTRATES[one.substrate], one.substrate) for one in scenarios() if one.upstream
    )
    assert all(not any(theirs[name].is_focal[1:]) and theirs[name].is_focal[0] for name in expected)


def test_bots_without_a_strategy_have_none_upstream(configs: ModuleType) -> None:
    for name in {name for one in scenarios() for name in one.bots if bot(name).strategy is None}:
        config = configs.BOT_CONFIGS.get(upstream_name(name))
        assert config is None or config.puppeteer_builder is None

"""A cook that works out what its partner is good for, and does the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pytest

from otherminds.papers.hypothetical_minds.programs import HELP, Habit, HypotheticalCook
from otherminds.worlds.avatars import EAST, WEST
from otherminds.worlds.collaborative_cooking.bots import CookingBot, IdleBot, fitting, semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import (
    NOTHING,
    CollaborativeCooking,
    CookingState,
    CookingView,
    PlayerState,
    PotState,
)

WORLD = cooking_asymmetric()
LEFT, RIGHT = WORLD.grid.cell(2, 2), WORLD.grid.cell(6, 2)
COOKS: dict[str, Callable[[CollaborativeCooking], CookingBot | IdleBot]] = {
    "skilled": CookingBot,
    "semi-skilled": semi_skilled,
    "idle": lambda _: IdleBot(),
}


def view_of(*, helped: bool = False, me: int = 0) -> CookingView:
    """Somebody faces the pots, and is rewarded for what somebody else has delivered, or not."""
    bodies = PlayerState(LEFT, EAST), PlayerState(RIGHT, WEST)
    state = CookingState(0, bodies, (NOTHING,) * len(WORLD.counters), (PotState(), PotState()), (20.0 * helped,) * 2)
    return WORLD.observe(state, WORLD.agents[me])


def after(cook: HypotheticalCook, helped: Sequence[bool]) -> HypotheticalCook:
    for one in helped:
        cook = cook.observe(view_of(helped=one))
    return cook


def beliefs(cook: HypotheticalCook) -> dict[str, float]:
    return {habit.name: p for habit, p in cook.partner.posterior}


def by_hand(helped: Sequence[bool], leak: float) -> dict[str, float]:
    """P(habit | what was seen), old evidence losing its share each step."""
    weights = dict.fromkeys(HELP, 1.0)
    for one in helped:
        weights = {
            name: weight ** (1 - leak) * (HELP[name] if one else 1 - HELP[name]) for name, weight in weights.items()
        }
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


PATTERNS = [
    [False] * 40,
    [True] * 3 + [False] * 20,
    [n % 10 == 0 for n in range(60)],
    [n % 25 == 0 for n in range(100)],
]


@pytest.mark.parametrize("leak", [0.0, 0.005, 0.1])
@pytest.mark.parametrize("helped", PATTERNS)
def test_beliefs_are_exact(helped: list[bool], leak: float) -> None:
    """The first view is nothing to compare with, whatever it shows."""
    for first in (False, True):
        cook = after(HypotheticalCook.initial(WORLD, leak=leak), [first, *helped])
        assert beliefs(cook) == pytest.approx(by_hand(helped, leak))


def test_a_habit_is_to_help_with_the_same_probability_in_every_step() -> None:
    habit = Habit("x", 0.1)
    assert habit.act().prob(True) == pytest.approx(0.1)
    assert habit.act().prob(False) == pytest.approx(0.9)
    assert habit.observe(view_of()) == habit


def test_at_first_anybody_is_as_likely_as_any_other_and_one_does_everything() -> None:
    cook = HypotheticalCook.initial(WORLD, slip=0.25)
    assert beliefs(cook) == pytest.approx(dict.fromkeys(("skilled", "semi-skilled", "idle"), 1 / 3))
    assert (cook.bot.duty, cook.bot.slip) == ("everything", 0.25)
    assert beliefs(after(cook, [True])) == pytest.approx(beliefs(cook))


@pytest.mark.parametrize("me", [0, 1])
def test_who_seems_to_be_helped_does_the_half_that_fits_its_room(me: int) -> None:
    cook = HypotheticalCook.initial(WORLD)
    for helped in [False, False, True, False]:
        cook = cook.observe(view_of(helped=helped, me=me))
    assert cook.bot.duty == ("dishes", "tomatoes")[me] == fitting(WORLD, (LEFT, RIGHT)[me])


def changes(cook: HypotheticalCook) -> int:
    """After how many steps without help it begins to do everything."""
    views = (cook := cook.observe(view_of()) for _ in range(5000))
    return sum(1 for _ in takewhile(lambda one: one.bot.duty != "everything", views))


@pytest.mark.slow
def test_it_does_everything_just_as_long_as_the_partner_is_idle_more_likely_than_not() -> None:
    cook = after(HypotheticalCook.initial(WORLD), [False, True])
    assert cook.bot.duty == "dishes"
    for n in range(1, 400):
        cook = cook.observe(view_of())
        assert (cook.bot.duty == "everything") == (by_hand([True] + [False] * n, 0.005)["idle"] > 0.5)
    assert cook.bot.duty == "everything"
    assert after(cook, [True]).bot.duty in ("dishes", "everything")


@pytest.mark.slow
def test_old_help_is_forgotten_so_that_it_can_change_its_mind() -> None:
    """Forty helping steps long ago are held against many more idle ones, if nothing leaks."""
    much = [False, *([True] + [False] * 9) * 40]
    leaking, firm = (after(HypotheticalCook.initial(WORLD, leak=leak), much) for leak in (0.005, 0.0))
    assert leaking.bot.duty == firm.bot.duty == "dishes"
    assert 10 < changes(leaking) < changes(firm) / 2


@pytest.mark.slow
def test_it_changes_its_mind_back_when_it_is_helped_again() -> None:
    cook = after(HypotheticalCook.initial(WORLD), [False] * 2000)
    assert cook.bot.duty == "everything"
    times = [*takewhile(lambda n: after(cook, [True] * n).bot.duty == "everything", range(20))]
    assert len(times) < 5


# Episodes


def episode(partner: str, seed: int, leak: float = 0.005) -> Iterator[tuple[float, HypotheticalCook]]:
    """What a cook earns in every step, and the cook after it."""
    rng = np.random.default_rng(seed)
    state = WORLD.start(rng)
    me, other = WORLD.agents
    cook, helper = HypotheticalCook.initial(WORLD, leak=leak), COOKS[partner](WORLD)
    minds: dict[str, Any] = {me: cook, other: helper}
    minds = {agent: mind.observe(WORLD.observe(state, agent)) for agent, mind in minds.items()}
    for _ in range(WORLD.steps):
        state = WORLD.step(state, {agent: mind.act().sample(rng) for agent, mind in minds.items()}, rng)
        minds = {agent: mind.observe(WORLD.observe(state, agent)) for agent, mind in minds.items()}
        yield state.rewards[0], minds[me]


@pytest.mark.slow
@pytest.mark.parametrize(("partner", "least"), [("skilled", 900), ("semi-skilled", 600), ("idle", 400)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_earns_with_anybody(partner: str, least: float, seed: int) -> None:
    assert sum(reward for reward, _ in episode(partner, seed)) >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("partner", "alone"), [("skilled", (0.0, 0.2)), ("semi-skilled", (0.0, 0.3)), ("idle", (0.9, 1.0))]
)
def test_it_does_everything_with_an_idle_partner_and_half_with_one_who_helps(
    partner: str, alone: tuple[float, float]
) -> None:
    cooks = [cook for _, cook in episode(partner, 3)][300:]
    least, most = alone
    assert least <= np.mean([cook.bot.duty == "everything" for cook in cooks]) <= most
    assert {cook.bot.duty for cook in cooks} <= {"everything", "dishes", "tomatoes"}
    assert (beliefs(cooks[-1])["idle"] > 0.5) == (partner == "idle")
    assert math.fsum(beliefs(cooks[-1]).values()) == pytest.approx(1.0)


def test_it_acts_as_its_chef_does_and_is_a_value() -> None:
    cook = HypotheticalCook.initial(WORLD)
    seen = after(cook, [False, True, False])
    assert seen.act() == seen.bot.act() == CookingBot(WORLD, "dishes", 0.0, seen.bot.memory).act()
    assert seen.act() != CookingBot(WORLD, "tomatoes", 0.0, seen.bot.memory).act()
    assert (cook, len({cook, seen, after(cook, [False, True, False])})) == (HypotheticalCook.initial(WORLD), 2)

"""The rules of the kitchen agree with recordings of Melting Pot's engine, and a check against them finds what is wrong.

In `four_cooks` four people crowd around a counter, two dispensers, a pot and a delivery in the middle of a room, and
interact at random: there several often use one thing in the same step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from otherminds.adapters import cooking_check
from otherminds.adapters.cooking_check import check_kitchen, opening, seen
from otherminds.adapters.traces import SeenKitchen, Trace, read_trace
from otherminds.errors import InputError
from otherminds.worlds.collaborative_cooking import rules as collaborative_cooking
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import DISH, FULL, NOTHING, SOUP, Pot, at_pot

HERE = Path(__file__).parent
RECORDED = sorted((HERE / "traces").glob("cooking_asymmetric*.jsonl.gz"))
FOUR_COOKS = CollaborativeCooking(
    ("###########", "#P P   P P#", "# O C T D #", "#   # #   #", "#P P   P P#", "###########"),
    ("Ana", "Ben", "Cem", "Dan"),
)


@pytest.fixture(scope="module")
def crowded() -> Trace[SeenKitchen]:
    return read_trace(HERE / "cooking_traces" / "four_cooks-1.jsonl.gz")


@pytest.fixture(scope="module")
def recorded() -> Trace[SeenKitchen]:
    return read_trace(RECORDED[0])


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_the_rules_agree_with_the_engine(path: Path) -> None:
    trace = read_trace(path)
    found = check_kitchen(trace)
    assert (found.steps, found.mismatches) == (len(trace.joints), ())
    assert min(found.counts[what] for what in ("moves", "tomatoes in pots", "soups out of pots", "deliveries")) > 0


def test_the_rules_agree_with_the_engine_where_people_crowd(crowded: Trace[SeenKitchen]) -> None:
    found = check_kitchen(crowded, FOUR_COOKS)
    assert (found.steps, found.mismatches) == (1000, ())
    assert found.counts["undecided"] > 20


def test_counts_are_those_of_the_recording(recorded: Trace[SeenKitchen]) -> None:
    shown = [moment for moment in recorded.shown if isinstance(moment, SeenKitchen)]
    found = check_kitchen(recorded).counts
    assert found["deliveries"] == sum(moment.rewards[0] > 0 for moment in shown)
    assert found["soups out of pots"] - found["deliveries"] == shown[-1].hands.count(SOUP) + sum(
        item == SOUP for _, _, item in shown[-1].counters
    )


# What is wrong is found


def changed(trace: Trace[SeenKitchen], t: int, **more: Any) -> Trace[SeenKitchen]:
    shown = list(trace.shown)
    shown[t] = shown[t]._replace(**more)
    return replace(trace, shown=tuple(shown))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rewards": (0.0, 20.0)}, "rewards (0.0, 20.0), by the rules (0.0, 0.0)"),
        ({"hands": (SOUP, SOUP)}, "hands (3, 3)"),
        ({"counters": ((0, 0, 1),)}, "counters ((0, 0, 1),), by the rules ()"),
        ({"ended": True}, "ended True, by the rules False"),
    ],
)
def test_a_mismatch_is_told_with_its_step_and_what_differs(
    recorded: Trace[SeenKitchen], more: dict[str, Any], message: str
) -> None:
    found = check_kitchen(changed(recorded, 5, **more))
    assert found.steps == 5
    assert len(found.mismatches) == 1
    assert found.mismatches[0].startswith(f"step 5: {message}")


def test_an_impossible_start_is_a_mismatch(recorded: Trace[SeenKitchen]) -> None:
    found = check_kitchen(changed(recorded, 0, hands=(DISH, NOTHING)))
    assert (found.steps, found.mismatches) == (0, ("start: hands (2, 0), by the rules (0, 0)",))


def test_a_trace_of_another_kitchen_is_refused(recorded: Trace[SeenKitchen], crowded: Trace[SeenKitchen]) -> None:
    for trace, world in ((crowded, None), (recorded, FOUR_COOKS)):
        with pytest.raises(InputError, match="is not one of this kitchen"):
            check_kitchen(trace, world)
    shown = recorded.shown[0]
    astray = changed(recorded, 0, bodies=((0, 0, 0), shown.bodies[1]))
    with pytest.raises(InputError, match="is not one of this kitchen"):
        check_kitchen(astray)


# Rules that are a little different do not agree


def both_served(hand: int, lying: int) -> tuple[int, int]:
    return lying, hand


def greedy_pot(hand: int, pot: Pot) -> tuple[int, Pot]:
    return (SOUP, Pot()) if hand == DISH and pot.tomatoes == FULL else at_pot(hand, pot)


@pytest.mark.parametrize(("name", "rule"), [("at_counter", both_served), ("at_pot", greedy_pot)])
def test_other_rules_for_one_place_do_not_agree(
    monkeypatch: pytest.MonkeyPatch, crowded: Trace[SeenKitchen], name: str, rule: Callable[..., object]
) -> None:
    monkeypatch.setattr(collaborative_cooking, name, rule)
    assert check_kitchen(crowded, FOUR_COOKS).mismatches


@pytest.mark.parametrize("change", [{"cook": 19}, {"cook": 21}, {"pay": 10.0}, {"steps": 999}])
def test_other_numbers_do_not_agree(recorded: Trace[SeenKitchen], change: dict[str, float]) -> None:
    assert check_kitchen(recorded, replace(cooking_asymmetric(), **change)).mismatches  # type: ignore[arg-type]


def test_one_order_alone_does_not_agree(monkeypatch: pytest.MonkeyPatch, crowded: Trace[SeenKitchen]) -> None:
    first = cooking_check.outcomes
    monkeypatch.setattr(cooking_check, "outcomes", lambda world, joint: [next(first(world, joint))])
    assert check_kitchen(crowded, FOUR_COOKS).mismatches


def test_things_are_shown_where_they_are() -> None:
    world = cooking_asymmetric()
    start = SeenKitchen(
        bodies=((2, 2, 3), (6, 2, 1)),
        hands=(0, 0),
        counters=(),
        pots=((4, 2, 0, False), (4, 3, 0, False)),
        rewards=(0.0, 0.0),
        ended=False,
    )
    assert seen(world, opening(world, start)) == start

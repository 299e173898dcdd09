"""Recorded episodes against the rules of matrix worlds and kitchens: agreement, and mismatches that are found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from otherminds.adapters import rule_checks
from otherminds.adapters.rule_checks import (
    TraceComparison,
    check,
    check_kitchen,
    check_matrix,
    kitchen_opening,
    shown_kitchen,
    shown_matrix,
    summed,
    verify,
)
from otherminds.adapters.traces import SeenKitchen, SeenMatrix, Trace
from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.collaborative_cooking import rules as collaborative_cooking
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import (
    DISH,
    FULL,
    NOTHING,
    SOUP,
    CollaborativeCooking,
    PotState,
    at_pot,
)
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from trace_files import read_trace

TRACES = sorted((Path(__file__).parent / "traces").glob("*.jsonl.gz"))
MATRIX = [path for path in TRACES if not path.name.startswith("cooking")]
BUSY = next(path for path in MATRIX if path.name.startswith("rws_repeated-1"))


@cache
def trace_of(path: Path) -> Trace[SeenMatrix]:
    return read_trace(path)


@cache
def comparison_of(path: Path) -> TraceComparison:
    return check(read_trace(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.split(".")[0])
def test_the_rules_agree_with_every_recorded_step_of_the_real_engine(path: Path) -> None:
    comparison = comparison_of(path)
    assert comparison.mismatches == ()
    assert comparison.steps == len(read_trace(path).joints)


@pytest.mark.slow
def test_the_recorded_steps_are_many_and_much_happens_in_them() -> None:
    total = summed(map(comparison_of, TRACES))
    assert total.steps >= 15_000
    assert total.counts["episodes"] == len(TRACES)
    assert {path.name.split("-")[0] for path in TRACES} == {
        "rws_repeated",
        "rws_arena",
        "pd_repeated",
        "cooking_asymmetric",
    }
    assert total.counts["meetings"] >= 200
    assert total.counts["picked up"] >= 2_000
    assert total.counts["destroyed"] >= 250
    assert total.counts["deliveries"] >= 60


def wrong(moment: SeenMatrix, field: str) -> SeenMatrix | None:
    """What is seen, with something else in a field; None if there is nothing to change."""
    if field == "resources":
        return moment._replace(resources=moment.resources[1:]) if moment.resources else None
    if field == "bodies":
        body = moment.bodies[0]
        return moment._replace(bodies=((body[0], body[1], (body[2] + 1) % 4), *moment.bodies[1:])) if body else None
    if field in ("inventory", "collected", "destroyed"):
        rows = getattr(moment, field)
        changed: dict[str, Any] = {field: ((rows[0][0] + 1, *rows[0][1:]), *rows[1:])}
        return moment._replace(**changed)
    if field in ("ready", "rewards"):
        numbers = getattr(moment, field)
        changed = {field: (numbers[0] + 1e-9, *numbers[1:])}
        return moment._replace(**changed)
    if field == "met":
        return moment._replace(met=(((2.0, 1.0, 1.0), moment.met[0][1]), *moment.met[1:]))
    if field == "interacted":
        return moment._replace(interacted=(not moment.interacted[0], *moment.interacted[1:]))
    return moment._replace(ended=not moment.ended)


@pytest.mark.parametrize("field", SeenMatrix._fields)
@pytest.mark.parametrize("step", [40, 333, 650])
def test_one_wrong_value_anywhere_is_found(field: str, step: int) -> None:
    trace = trace_of(BUSY)
    while (changed := wrong(trace.shown[step], field)) is None:
        step += 1
    shown = (*trace.shown[:step], changed, *trace.shown[step + 1 :])
    comparison = check_matrix(dataclasses.replace(trace, shown=shown))
    assert len(comparison.mismatches) == 1
    assert comparison.mismatches[0].startswith(f"step {step}: ")
    assert comparison.steps == step


RULES = in_the_matrix("rws_repeated").rules


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules",
    [
        dataclasses.replace(RULES, frozen=15),
        dataclasses.replace(RULES, respawn=24),
        dataclasses.replace(RULES, delay=40),
        dataclasses.replace(RULES, payoffs=(RULES.payoffs[1], RULES.payoffs[0])),
        dataclasses.replace(RULES, ends=RULES.ends._replace(every=77)),
        dataclasses.replace(RULES, spawns=RULES.spawns[1:]),
    ],
    ids=["frozen", "respawn", "delay", "payoffs", "ends", "spawns"],
)
def test_wrong_rules_are_found(rules: Rules) -> None:
    world = dataclasses.replace(in_the_matrix("rws_repeated"), rules=rules)
    found = [check_matrix(trace_of(path), world).mismatches for path in MATRIX if path.name.startswith("rws_repeated")]
    assert any(found)


@pytest.mark.parametrize("name", ["COOLDOWN", "HEALTH"])
def test_wrong_constants_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_rules, name, getattr(matrix_rules, name) + 1)
    assert any(check_matrix(trace_of(path)).mismatches for path in MATRIX)


class Itself:
    """Our own rules in the place of an engine."""

    def __init__(self, world: InTheMatrix, substrate: str) -> None:
        self.world, self.substrate, self.players = world, substrate, len(world.agents)
        self.rng = np.random.default_rng(11)

    def reset(self) -> SeenMatrix:
        self.state = self.world.start(self.rng)
        nothing = ((0.0,) * len(self.world.rules.resources),) * 2
        return shown_matrix(self.world.rules, self.state, self.state)._replace(met=(nothing,) * self.players)

    def step(self, joint: Sequence[int]) -> SeenMatrix:
        before = self.state
        acts = {agent: ACTIONS[k] for agent, k in zip(self.world.agents, joint, strict=True)}
        self.state = self.world.step(before, acts, self.rng)
        return shown_matrix(self.world.rules, before, self.state)


@pytest.mark.slow
@pytest.mark.parametrize("substrate", ["rws_repeated", "rws_arena", "pd_repeated"])
def test_the_rules_agree_with_themselves_whatever_chance_does(substrate: str) -> None:
    engine = Itself(in_the_matrix(substrate), substrate)
    total = summed(verify(engine, 1_500, np.random.default_rng(1)))
    assert total.mismatches == ()
    assert total.steps == 1_500
    assert total.counts["episodes"] >= 1
    assert total.counts["meetings"] > 8


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


@pytest.mark.slow
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


def greedy_pot(hand: int, pot: PotState) -> tuple[int, PotState]:
    return (SOUP, PotState()) if hand == DISH and pot.tomatoes == FULL else at_pot(hand, pot)


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
    first = rule_checks.outcomes
    monkeypatch.setattr(rule_checks, "outcomes", lambda world, joint: [next(first(world, joint))])
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
    assert shown_kitchen(world, kitchen_opening(world, start)) == start

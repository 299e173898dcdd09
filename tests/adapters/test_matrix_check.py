"""The rules of the matrix worlds are those of the real engine, and the check that says so can tell if they are not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from otherminds.adapters.matrix_check import check_matrix, seen
from otherminds.adapters.traces import Seen, Trace, read_trace
from otherminds.adapters.verifying import check, summed, verify
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix

TRACES = sorted((Path(__file__).parent / "traces").glob("*.jsonl.gz"))
MATRIX = [path for path in TRACES if not path.name.startswith("cooking")]
BUSY = next(path for path in MATRIX if path.name.startswith("rws_repeated-1"))


@cache
def trace_of(path: Path) -> Trace[Seen]:
    return read_trace(path)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.split(".")[0])
def test_the_rules_agree_with_every_recorded_step_of_the_real_engine(path: Path) -> None:
    trace = read_trace(path)
    comparison = check(trace)
    assert comparison.mismatches == ()
    assert comparison.steps == len(trace.joints)


def test_the_recorded_steps_are_many_and_much_happens_in_them() -> None:
    total = summed(check(read_trace(path)) for path in TRACES)
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


def wrong(moment: Seen, field: str) -> Seen | None:
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


@pytest.mark.parametrize("field", Seen._fields)
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

    def reset(self) -> Seen:
        self.state = self.world.start(self.rng)
        nothing = ((0.0,) * len(self.world.rules.resources),) * 2
        return seen(self.world.rules, self.state, self.state)._replace(met=(nothing,) * self.players)

    def step(self, joint: Sequence[int]) -> Seen:
        before = self.state
        acts = {agent: ACTIONS[k] for agent, k in zip(self.world.agents, joint, strict=True)}
        self.state = self.world.step(before, acts, self.rng)
        return seen(self.world.rules, before, self.state)


@pytest.mark.parametrize("substrate", ["rws_repeated", "rws_arena", "pd_repeated"])
def test_the_rules_agree_with_themselves_whatever_chance_does(substrate: str) -> None:
    engine = Itself(in_the_matrix(substrate), substrate)
    total = summed(verify(engine, 4_000, np.random.default_rng(1)))
    assert total.mismatches == ()
    assert total.steps == 4_000
    assert total.counts["episodes"] > 1
    assert total.counts["meetings"] > 20

"""Recorded episodes against the rules of matrix worlds and kitchens: agreement, and mismatches that are found."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from benchmarks.evidence import melting_pot_rules
from benchmarks.evidence.melting_pot_engine import SUBSTRATES
from benchmarks.evidence.melting_pot_rules import (
    TraceComparison,
    check,
    check_kitchen,
    check_matrix,
    kitchen_opening,
    main,
    shown_kitchen,
    shown_matrix,
    summed,
    verify,
)
from benchmarks.evidence.melting_pot_traces import Moment, SeenKitchen, SeenMatrix, Trace
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
MATRIX_WORLDS = [name for name in SUBSTRATES if not name.startswith("cooking")]
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


class RulesAsEngine:
    """The library's rules in the place of the engine; the first reward is wrong in one step, if `wrong` names it."""

    wrong: ClassVar[tuple[int, int]] = (0, 0)
    """The number of the episode and of the step, both from 1; zeros: none."""
    begun: ClassVar[list[tuple[str, Path | None, int]]] = []

    def __init__(self, substrate: str, *, folder: Path | None = None, seed: int) -> None:
        self.begun.append((substrate, folder, seed))
        self.world: Any = in_the_matrix(substrate) if substrate in MATRIX_WORLDS else cooking_asymmetric()
        self.substrate, self.players = substrate, len(self.world.agents)
        self.rng, self.episode = np.random.default_rng(seed), 0

    def reset(self) -> Moment:
        self.state, self.t = self.world.start(self.rng), 0
        self.episode += 1
        shown = self._shown(self.state)
        if isinstance(shown, SeenKitchen):
            return shown
        nothing = ((0.0,) * len(self.world.rules.resources),) * 2
        return shown._replace(met=(nothing,) * self.players)

    def step(self, joint: Sequence[int]) -> Moment:
        before, actions = self.state, dict(zip(self.world.agents, (ACTIONS[k] for k in joint), strict=True))
        self.state, self.t = self.world.step(before, actions, self.rng), self.t + 1
        shown = self._shown(before)
        if (self.episode, self.t) == self.wrong:
            return shown._replace(rewards=(99.0, *shown.rewards[1:]))
        return shown

    def _shown(self, before: Any) -> Moment:
        if isinstance(self.world, InTheMatrix):
            return shown_matrix(self.world.rules, before, self.state)
        return shown_kitchen(self.world, self.state)


@pytest.mark.slow
@pytest.mark.parametrize("substrate", ["rws_repeated", "rws_arena", "pd_repeated"])
def test_the_rules_agree_with_themselves_whatever_chance_does(substrate: str) -> None:
    engine = RulesAsEngine(substrate, seed=11)
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
    first = melting_pot_rules.outcomes
    monkeypatch.setattr(melting_pot_rules, "outcomes", lambda world, joint: [next(first(world, joint))])
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


def test_sums_of_comparisons_add_up() -> None:
    first = TraceComparison(10, (), {"meetings": 2, "picked up": 1})
    second = TraceComparison(5, ("step 5: a", "step 5: b"), {"meetings": 1})
    total = summed(iter([first, second]))
    assert (total.steps, total.mismatches) == (15, ("episode 2, step 5: a", "episode 2, step 5: b"))
    assert total.counts == {"meetings": 3, "picked up": 1, "episodes": 2}
    assert summed([]) == TraceComparison(0, (), {})


# The command


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[RulesAsEngine]:
    monkeypatch.setattr(melting_pot_rules, "MeltingPotEngine", RulesAsEngine)
    monkeypatch.setattr(RulesAsEngine, "begun", [])
    return RulesAsEngine


def events_of(out: str) -> dict[str, dict[str, int]]:
    """The events printed for each world, with their counts."""
    worlds = (line.split(": ", 1) for line in out.splitlines() if line.split(":")[0] in SUBSTRATES)
    pairs = {name: re.findall(r"([a-z ]+?) ([\d,]+)(?:, |$)", events) for name, events in worlds}
    return {name: {event: int(count.replace(",", "")) for event, count in found} for name, found in pairs.items()}


@pytest.mark.slow
def test_the_command_counts_the_events_of_every_world(
    engine: type[RulesAsEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--steps", "300", "--seed", "3"]) == 0
    events = events_of(capsys.readouterr().out)
    assert [*events] == [*SUBSTRATES]
    for counts in events.values():
        assert (counts["episodes"], counts["steps"], counts["mismatches"]) == (1, 300, 0)
    assert all("meetings" in events[name] for name in MATRIX_WORLDS)
    assert "deliveries" in events["cooking_asymmetric"]
    assert engine.begun == [(name, None, 3) for name in SUBSTRATES]


@pytest.mark.slow
def test_worlds_can_be_selected_and_figures_stored(
    engine: type[RulesAsEngine], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    options = ("--steps", "1200", "--folder", "unpacked", "--json", str(file))
    assert main([*options, "--world", "cooking_asymmetric", "--world", "pd_repeated"]) == 0
    events = events_of(capsys.readouterr().out)
    assert [*events] == ["cooking_asymmetric", "pd_repeated"]
    assert events["cooking_asymmetric"]["episodes"] == 2
    assert events["cooking_asymmetric"]["deliveries"] > 3
    assert engine.begun[0] == ("cooking_asymmetric", Path("unpacked"), 0)
    rows = json.loads(file.read_text("utf-8"))
    stored = {(row["subject"], row["metric"]): row["value"] for row in rows if row["condition"] == "melting_pot"}
    assert stored == {(name, event): count for name, counts in events.items() for event, count in counts.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("rws_repeated", 40), ("rws_arena", 7), ("cooking_asymmetric", 25)])
def test_a_mismatch_is_printed_with_its_step_and_the_command_fails(
    engine: type[RulesAsEngine],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    step: int,
) -> None:
    monkeypatch.setattr(engine, "wrong", (1, step))
    assert main(["--steps", "60", "--world", name]) == 1
    out = capsys.readouterr().out
    (mismatch,) = [line for line in out.splitlines() if line.startswith(f"{name}, ")]
    assert mismatch.startswith(f"{name}, episode 1, step {step}: ")
    assert "rewards" in mismatch
    assert events_of(out)[name]["mismatches"] == 1


@pytest.mark.slow
def test_episodes_after_a_mismatch_count_too(
    engine: type[RulesAsEngine], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "wrong", (2, 10))
    assert main(["--steps", "2100", "--world", "cooking_asymmetric"]) == 1
    out = capsys.readouterr().out
    counts = events_of(out)["cooking_asymmetric"]
    assert (counts["episodes"], counts["steps"], counts["mismatches"]) == (3, 1_110, 1)
    assert "cooking_asymmetric, episode 2, step 10: rewards (99.0, " in out


@pytest.mark.parametrize("options", [("--steps", "0"), ("--seed", "-1"), ("--steps", "many"), ("--world", "rws")])
def test_bad_options_are_refused_in_one_line(options: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*options])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.search(r"error: .*(at least 1|invalid int|no substrate `rws`).*\n$", captured.err)

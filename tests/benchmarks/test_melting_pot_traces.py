"""Trace files are read strictly and written faithfully; the players that make them do what they should."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from benchmarks.evidence.melting_pot_traces import (
    Body,
    Moment,
    RestlessCook,
    RestlessHunter,
    SeenKitchen,
    SeenMatrix,
    Trace,
    first_heading,
    record,
)
from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS, EAST, NORTH, SOUTH, WEST
from trace_files import read_trace, write_trace

TRACES = Path(__file__).parent / "traces"
SHIPPED = sorted(TRACES.glob("*.jsonl.gz"))
PLACE, COUNT, FACING, ITEM = st.integers(0, 30), st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
BODY = st.tuples(PLACE, PLACE, FACING)


def _sorted(*of: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Things in different places, in order."""
    found = st.dictionaries(st.tuples(PLACE, PLACE), st.tuples(*of), max_size=4)
    return found.map(lambda things: tuple(sorted((*cell, *thing) for cell, thing in things.items())))


def _each(players: int, what: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.tuples(*[what] * players)


def _seen(players: int, kinds: int) -> SearchStrategy[Any]:
    counts = _each(players, _each(kinds, COUNT))
    return st.builds(
        SeenMatrix,
        bodies=_each(players, st.none() | BODY),
        resources=st.none() | _sorted(st.integers(0, kinds - 1)),
        inventory=counts,
        ready=_each(players, NUMBER),
        rewards=_each(players, NUMBER),
        met=_each(players, st.tuples(_each(kinds, NUMBER), _each(kinds, NUMBER))),
        interacted=_each(players, st.booleans()),
        collected=counts,
        destroyed=counts,
        ended=st.just(False),
    )


def _seen_kitchen(players: int) -> SearchStrategy[Any]:
    return st.builds(
        SeenKitchen,
        bodies=_each(players, BODY),
        hands=_each(players, ITEM),
        counters=_sorted(ITEM),
        pots=_sorted(st.integers(0, 3), st.booleans()),
        rewards=_each(players, NUMBER),
        ended=st.just(False),
    )


@st.composite
def traces(draw: DrawFn) -> Trace[Any]:
    players, steps = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    moment = draw(st.sampled_from([_seen(players, 3), _seen(players, 2), _seen_kitchen(players)]))
    shown = [draw(moment) for _ in range(steps + 1)]
    shown[-1] = shown[-1]._replace(ended=draw(st.booleans()))
    joints = [draw(_each(players, st.integers(0, 7))) for _ in range(steps)]
    return Trace(draw(st.text(max_size=5)), "somewhere", tuple(shown), tuple(joints))


@pytest.mark.slow
@given(trace=traces())
def test_what_is_written_is_read_back(trace: Trace[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "trace.jsonl.gz"
    write_trace(trace, path)
    again = read_trace(path)
    assert again == trace
    assert repr(again) == repr(trace)  # -0.0 is not 0.0, and 1.0 is not 1


def _a_trace() -> Trace[Any]:
    start = SeenKitchen(((1, 2, 0), (6, 2, 3)), (0, 0), (), ((4, 2, 0, False), (4, 3, 0, False)), (0.0, 0.0), False)
    middle = start._replace(hands=(1, 0), counters=((0, 1, 1), (2, 4, 2)))
    return Trace("cooking", "here", (start, middle, middle._replace(ended=True)), ((7, 0), (0, 0)))


def _seen_once() -> SeenMatrix:
    nothing = ((0, 0), (0, 0))
    met = (((0.0, 0.0), (0.0, 0.0)),) * 2
    return SeenMatrix(
        (None, None), ((1, 1, 0),), nothing, (1.0, 1.0), (0.0, 0.0), met, (False, False), nothing, nothing, False
    )


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write_trace(_a_trace(), one)
    write_trace(_a_trace(), two)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes()[4:8] == bytes(4)  # no time stamp


def test_a_line_says_only_what_is_new(tmp_path: Path) -> None:
    write_trace(_a_trace(), tmp_path / "trace")
    lines = gzip.decompress((tmp_path / "trace").read_bytes()).decode().splitlines()
    assert [json.loads(line) for line in lines[2:]] == [
        {"joint": [7, 0], "hands": [1, 0], "counters": [[0, 1, 1], [2, 4, 2]]},
        {"joint": [0, 0], "ended": True},
    ]


def test_every_step_needs_a_joint_action(tmp_path: Path) -> None:
    trace = _a_trace()
    with pytest.raises(ValueError, match="3 moments and 1 joint actions"):
        write_trace(Trace(trace.substrate, trace.source, trace.shown, trace.joints[:1]), tmp_path / "trace")


def _complaint(lines: Sequence[str], tmp_path: Path) -> str:
    path = tmp_path / "bad.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    with pytest.raises(InputError) as error:
        read_trace(path)
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(f"{path}:")


def _lines(trace: Trace[Any], tmp_path: Path) -> list[str]:
    write_trace(trace, tmp_path / "good")
    return gzip.decompress((tmp_path / "good").read_bytes()).decode().splitlines()


@pytest.mark.parametrize(
    ("line", "change", "complaint"),
    [
        (1, {"players": 0}, "1: `players`"),
        (1, {"players": 3}, "2: `bodies` is about 2 of 3 players"),
        (1, {"colour": "red"}, "1: `colour`: Extra inputs"),
        (2, {"hands": [0]}, "2: `hands` is about 1 of 2 players"),
        (2, {"hands": [0, 4]}, "2: `hands.1`"),
        (2, {"hands": [0, "1"]}, "2: `hands.1`"),
        (2, {"hands": [0, 1.5]}, "2: `hands.1`"),
        (2, {"bodies": [[1, 2, 0], None]}, "2: `bodies.1`"),
        (2, {"bodies": [[1, 2, 0], [1, 2]]}, "2: `bodies.1.2`"),
        (2, {"bodies": [[1, 2, 0], [1, -1, 0]]}, "2: `bodies.1.1`"),
        (2, {"pots": [[4, 3, 0, False], [4, 2, 0, False]]}, "2: `pots` are not sorted"),
        (2, {"pots": [[4, 2, 1, False], [4, 2, 0, False]]}, "2: `pots` are not sorted"),
        (2, {"rewards": [0.0, float("inf")]}, "2: `rewards.1`"),
        (2, {"rewards": [0.0, float("nan")]}, "2: `rewards.1`"),
        (2, {"joint": [0, 0]}, "2: `joint`"),
        (3, {"joint": [8, 0]}, "3: `joint.0`"),
        (3, {"joint": [0, 0, 0]}, "3: 3 actions for 2 players"),
        (3, {"met": []}, "3: `met`: Extra inputs"),
        (3, {"ended": True}, "4: goes on after the end"),
    ],
)
def test_wrong_values_are_named(line: int, change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    lines = _lines(_a_trace(), tmp_path)
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | change)
    assert _complaint(lines, tmp_path).startswith(complaint)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"inventory": [[1, 1], [1, 1, 1]]}, "2: counts different numbers of kinds"),
        ({"met": [[[0, 0], [0, 0]], [[0, 0], [0]]]}, "2: counts different numbers of kinds"),
        ({"resources": [[1, 1, 2]]}, "2: counts different numbers of kinds"),
        ({"resources": [[2, 1, 1], [1, 1, 1]]}, "2: `resources` are not sorted"),
        ({"interacted": [0, 1]}, "2: `interacted.0`"),
        ({"inventory": [[1, 1], [1, True]]}, "2: `inventory.1.1`"),
    ],
)
def test_wrong_values_of_a_matrix_game_are_named(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    lines = _lines(Trace("pd", "here", (_seen_once(),), ()), tmp_path)
    lines[1] = json.dumps(json.loads(lines[1]) | change)
    assert _complaint(lines, tmp_path).startswith(complaint)


def test_a_line_that_lacks_something_is_named(tmp_path: Path) -> None:
    header, start, step, _ = _lines(_a_trace(), tmp_path)
    without = {key: value for key, value in json.loads(start).items() if key != "hands"}
    assert _complaint([header, json.dumps(without)], tmp_path).startswith("2: `hands`: Field required")
    assert _complaint([header, start, step.replace("joint", "joins")], tmp_path).startswith(
        "3: `joint`: Field required"
    )
    assert _complaint([header, start, step[:-1]], tmp_path).startswith("3: Invalid JSON")
    assert _complaint([header, start, "[" * 10_000], tmp_path).startswith("3: Invalid JSON")
    assert _complaint([header, start, "", step], tmp_path).startswith("3: Invalid JSON")
    assert _complaint([header, start, "[]"], tmp_path).startswith("3: ")
    assert _complaint([header], tmp_path).startswith("2: shows nothing")
    assert _complaint([""], tmp_path).startswith("1: Invalid JSON")


def test_a_file_that_is_no_gzip_or_cut_short_or_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad"
    write_trace(_a_trace(), tmp_path / "good")
    whole = (tmp_path / "good").read_bytes()
    for raw in (b"", b"hello", whole[:-12], whole[: len(whole) // 2], whole[:-4] + b"abcd", whole[:30] + b"?" * 30):
        path.write_bytes(raw)
        with pytest.raises(InputError) as error:
            read_trace(path)
        assert str(error.value).startswith(f"{path}: " if raw else str(path))
    path.write_bytes(gzip.compress(b"one\n\xff\n"))
    with pytest.raises(InputError, match=r"bad:2: is not UTF-8 text"):
        read_trace(path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_trace(tmp_path / "none")


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trace_files.MAX_BYTES", 100)
    write_trace(_a_trace(), tmp_path / "long")
    with pytest.raises(InputError, match="larger than 100 bytes"):
        read_trace(tmp_path / "long")


@pytest.mark.slow
def test_the_shipped_traces_are_small_and_have_much_in_them() -> None:
    found = [read_trace(path) for path in SHIPPED]
    assert {trace.substrate for trace in found} == {"rws_repeated", "rws_arena", "pd_repeated", "cooking_asymmetric"}
    assert sum(len(trace.joints) for trace in found) >= 6000
    assert sum(path.stat().st_size for path in SHIPPED) < 400_000
    for path, trace in zip(SHIPPED, found, strict=True):
        assert path.name.startswith(f"{trace.substrate}-")
        assert trace.source == "dm-meltingpot 2.4.1 on dmlab2d 1.0.2, Apache-2.0"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name.split(".")[0])
def test_a_shipped_trace_keeps_the_simplest_rules(path: Path) -> None:
    trace = read_trace(path)
    last, ended = len(trace.joints), trace.shown[-1].ended
    if trace.substrate == "cooking_asymmetric":
        assert ended == (last == 1000)
        _check_kitchen([moment for moment in trace.shown if isinstance(moment, SeenKitchen)])
    else:
        assert not ended or (last >= 1099 and (last + 1) % 100 == 0)
        assert len(trace.shown[0].bodies) == (8 if trace.substrate == "rws_arena" else 2)
        _check_matrix_game([moment for moment in trace.shown if isinstance(moment, SeenMatrix)])


def _check_matrix_game(shown: Sequence[SeenMatrix]) -> None:
    events = dict.fromkeys(["met", "collected", "destroyed", "died"], 0)
    for before, after in pairwise(shown):
        assert (after.resources is None) == (set(after.bodies) == {None})
        cells = [body[:2] for body in after.bodies if body]
        assert len(set(cells)) == len(cells)
        for k, body in enumerate(after.bodies):
            held, got = before.inventory[k], after.collected[k]
            counted = tuple(a + b for a, b in zip(held, got, strict=True))
            assert after.inventory[k] in (counted, tuple(1 for _ in counted))
            assert after.interacted[k] == (max(after.met[k][0]) > 0)
            events["collected"] += sum(got)
            events["destroyed"] += sum(after.destroyed[k])
            events["met"] += after.interacted[k]
            events["died"] += before.bodies[k] is not None and body is None
    assert min(events.values()) > 0, events
    assert events["met"] % 2 == 0


def _check_kitchen(shown: Sequence[SeenKitchen]) -> None:
    deliveries = 0
    for before, after in pairwise(shown):
        assert [pot[:2] for pot in after.pots] == [(4, 2), (4, 3)]
        assert all(tomatoes == 3 for _, _, tomatoes, cooked in after.pots if cooked)
        served = [k for k in (0, 1) if (before.hands[k], after.hands[k]) == (3, 0)]
        assert after.rewards in {(0.0, 0.0), (20.0, 20.0)}
        assert served or after.rewards == (0.0, 0.0)
        deliveries += len(served) if after.rewards[0] else 0
    assert deliveries >= 10
    assert any(moment.counters for moment in shown)


def _moment(
    bodies: Sequence[Body | None], resources: Sequence[tuple[int, int, int]], ended: bool = False
) -> SeenMatrix:
    nothing, held = ((0, 0), (0, 0)), ((1, 1), (1, 1))
    met = (((-1.0, -1.0), (-1.0, -1.0)),) * 2
    none = (0.0, 0.0)
    return SeenMatrix(tuple(bodies), tuple(resources), held, none, none, met, (False, False), nothing, nothing, ended)


class Clock:
    """An engine in which nothing happens but that its episodes end."""

    substrate, players = "clock", 2

    def __init__(self, length: int) -> None:
        self.length = length
        self.joints: list[Sequence[int]] = []

    def reset(self) -> Moment:
        self.left = self.length
        return _moment([(1, 1, 0), (5, 5, 0)], [(3, 3, 0)])

    def step(self, joint: Sequence[int]) -> Moment:
        assert self.left, "stepped after the end"
        self.left -= 1
        self.joints.append(joint)
        return _moment([(1, 1, 0), (5, 5, 0)], [(3, 3, 0)], ended=not self.left)


def test_an_episode_is_a_trace_and_the_last_one_is_cut_off() -> None:
    engine = Clock(4)
    found = list(record(engine, 10, np.random.default_rng(0)))
    assert [len(trace.joints) for trace in found] == [4, 4, 2]
    assert [trace.shown[-1].ended for trace in found] == [True, True, False]
    assert [joint for trace in found for joint in trace.joints] == engine.joints
    assert all(len(trace.shown) == len(trace.joints) + 1 for trace in found)


def test_players_are_drawn_anew_for_every_episode() -> None:
    drawn = []

    def policy(players: int, rng: np.random.Generator) -> list[RestlessHunter]:
        drawn.append(players)
        return []

    engine = Clock(3)
    engine.players = 0
    list(record(engine, 7, np.random.default_rng(0), lambda players, rng: [h.act for h in policy(players, rng)]))
    assert drawn == [0, 0, 0]


@pytest.mark.parametrize(
    ("start", "goals", "walls", "heading"),
    [
        ((2, 2), [(2, 0)], [], NORTH),
        ((2, 2), [(9, 2), (1, 2)], [], WEST),
        ((2, 2), [(4, 2)], [(3, 2), (2, 1), (1, 2)], SOUTH),
        ((2, 2), [(4, 2)], [(3, 2), (2, 1), (2, 3), (1, 2)], None),
        ((2, 2), [(3, 2)], [(3, 2)], EAST),
        ((2, 2), [(2, 2)], [], None),
        ((2, 2), [], [], None),
    ],
)
def test_a_shortest_way_around_walls(
    start: tuple[int, int], goals: list[tuple[int, int]], walls: list[tuple[int, int]], heading: int | None
) -> None:
    assert first_heading(start, goals, lambda cell: cell not in walls) == heading


@pytest.mark.parametrize(
    ("other", "action"),
    [
        ((5, 2), "interact"),
        ((5, 1), "forward"),
        ((4, 5), "interact"),
        ((6, 3), "interact"),
        ((6, 2), "forward"),
        ((7, 4), "turn_right"),
        ((8, 5), "turn_right"),
        ((2, 5), "turn_left"),
    ],
)
def test_a_hunter_fires_at_whom_its_beam_reaches_or_turns(other: tuple[int, int], action: str) -> None:
    hunter = RestlessHunter(0, 0.0, np.random.default_rng(0))
    hunter.quota = 1
    assert ACTIONS[hunter.act(_moment([(5, 5, NORTH), (*other, 0)], []))] == action


@pytest.mark.parametrize(("facing", "action"), list(enumerate(["step_right", "forward", "step_left", "backward"])))
def test_a_hunter_walks_to_what_it_likes_whatever_it_faces(facing: int, action: str) -> None:
    hunter = RestlessHunter(0, 0.0, np.random.default_rng(1))
    hunter.quota, hunter.favourite = 2, 1
    assert ACTIONS[hunter.act(_moment([(5, 5, facing), None], [(5, 20, 0), (30, 5, 1)]))] == action


def test_a_hunter_goes_around_where_it_bumped_twice() -> None:
    hunter = RestlessHunter(0, 0.0, np.random.default_rng(1))
    hunter.quota, hunter.favourite = 2, 0
    stuck = _moment([(5, 5, NORTH), None], [(5, 1, 0)])
    first, second, third = (ACTIONS[hunter.act(stuck)] for _ in range(3))
    assert first == second == "forward" != third


@pytest.mark.parametrize(
    ("body", "hand", "pots", "action"),
    [
        ((1, 1, WEST), 0, (0, 0), "interact"),
        ((1, 1, NORTH), 0, (0, 0), "turn_left"),
        ((2, 2, NORTH), 1, (0, 0), "step_right"),
        ((3, 2, EAST), 1, (0, 3), "interact"),
        ((3, 2, EAST), 2, (3, 0), "interact"),
        ((3, 2, NORTH), 3, (0, 0), "interact"),
        ((5, 2, WEST), 1, (0, 3), "interact"),
        ((7, 1, EAST), 3, (0, 0), "interact"),
    ],
)
def test_a_cook_does_what_its_hands_are_free_for(body: Body, hand: int, pots: tuple[int, int], action: str) -> None:
    shown = tuple((4, y, inside, inside == 3) for y, inside in zip((2, 3), pots, strict=True))
    seen = SeenKitchen((body, (0, 0, 0)), (hand, 0), (), shown, (0.0, 0.0), False)
    assert ACTIONS[RestlessCook(0, 0.0, np.random.default_rng(0)).act(seen)] == action

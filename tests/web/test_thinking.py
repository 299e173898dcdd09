"""What is thought while people play is what simulations think, however much of it has to be thought anew."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from otherminds.papers.protom import doors_keys_gems as protom_dkg
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom import overcooked as protom_overcooked
from otherminds.web import thinking
from otherminds.web.board import Playable
from otherminds.web.thinking import Beat, Setup, Thinkers, Thought, act, advise, alone
from otherminds.worlds.overcooked.level_files import KitchenLevel
from web_halls import LEVELS

PLAYED = [("hatch", "protom"), ("hatch", "oracle"), ("store-room", "protom"), ("garden-gate", "protom")]


def simulated(level: Playable, facilitator: str) -> list[dict[str, object]]:
    """The facilitator's rows of a simulated episode, and what everybody did, by its words."""
    setup = Setup("simulated", level, facilitator, 3)
    world = protom_overcooked if isinstance(level, KitchenLevel) else protom_dkg
    return [dict(row) for row in world.rows(setup.entry())]


def history(rows: Sequence[dict[str, object]]) -> list[Beat]:
    steps = 1 + max(int(str(row["t"])) for row in rows)
    joints: list[dict[str, str]] = [{} for _ in range(steps)]
    for row in rows:
        if row["agent"] != "facilitator":
            joints[int(str(row["t"]))][str(row["agent"])] = str(row["action"])
    said = {int(str(row["t"])): str(row["action"]) for row in rows if row["agent"] == "facilitator"}
    return [Beat(joint, said.get(t + 1, "")) for t, joint in enumerate(joints)]


@pytest.fixture(autouse=True)
def forgetful() -> None:
    thinking._games.clear()


@pytest.mark.parametrize(("name", "facilitator"), PLAYED)
def test_facilitators_think_what_they_think_in_simulations(name: str, facilitator: str) -> None:
    level = LEVELS[name]
    rows = simulated(level, facilitator)
    beats = history(rows)
    expected = [row for row in rows if row["agent"] == "facilitator" and row["t"] != 0]
    setup = Setup("warm", level, facilitator, 3)
    thoughts = [advise(setup, [*beats[: t - 1], beats[t - 1]._replace(said="")]) for t in range(1, len(beats))]
    for row, thought in zip(expected, thoughts, strict=True):
        for column in ("action", "words", "why", "status", "prices"):
            assert thought.row.get(column) == row.get(column), (thought.t, column)
    assert any(thought.row["action"] for thought in thoughts)
    believed = [thought.beliefs.get("Ana", {}).get("posterior") for thought in thoughts]
    told = [row.get("posterior") for row in rows if row["agent"] == "Ana" and row["t"] != 0]
    assert believed == told


@pytest.mark.parametrize(("name", "facilitator"), PLAYED)
def test_who_has_forgotten_everything_thinks_the_same(name: str, facilitator: str) -> None:
    level = LEVELS[name]
    beats = history(simulated(level, facilitator))
    setup = Setup("cold", level, facilitator, 3)

    def thought(t: int) -> Thought:
        return advise(setup, [*beats[: t - 1], beats[t - 1]._replace(said="")], since=t - 1)

    warm = [thought(t) for t in range(1, len(beats))]
    for t in range(1, len(beats), 9):
        thinking._games.clear()
        again, before = thought(t), warm[t - 1]
        assert {**again.row, "ms": 0} == {**before.row, "ms": 0}
        assert again[2:] == before[2:]


def test_simulated_people_do_the_same_whether_they_remember_or_not() -> None:
    setup = Setup("people", LEVELS["hatch"], "oracle", 5)
    beats: list[Beat] = []
    for _ in range(20):
        warm = act(setup, beats, ("Ana",))
        thinking._games.clear()
        assert act(setup, beats, ("Ana",)) == warm
        beats.append(Beat({"Ben": "stay", **warm}))


def test_a_simulated_person_does_as_the_facilitator_says() -> None:
    """In `hatch` nobody succeeds alone; with a partner who hears what the oracle says, both do."""
    level = LEVELS["hatch"]
    rows = facilitated.rows("told", *_entry(level))
    assert rows[-1]["success"]
    setup = Setup("told", level, "oracle", 1)
    beats: list[Beat] = []
    for _ in range(60):
        joint = {**act(setup, beats, ("Ana",)), **act(setup, beats, ("Ben",))}
        beats.append(Beat(joint))
        thought = advise(setup, beats)
        beats[-1] = Beat(joint, str(thought.row["action"]))
        if thought.row.get("why") == "the episode is over":
            break
    assert len(beats) == rows[-1]["length"]


def _entry(level: Playable) -> tuple[facilitated.PlannedEpisode, facilitated.EpisodeSetup]:
    entry = facilitated.PlannedEpisode(level, "oracle", "told", 1)
    return entry, protom_overcooked.setup(entry)


def test_what_becomes_of_a_message_is_told_even_if_steps_were_missed() -> None:
    level = LEVELS["hatch"]
    beats = history(simulated(level, "oracle"))
    setup = Setup("late", level, "oracle", 3)
    first = advise(setup, [beats[0]._replace(said="")])
    assert first.row["action"]
    late = advise(setup, [beats[0]._replace(said=str(first.row["action"])), *beats[1:]])
    assert late.row["status"] == "completed"


def test_a_process_that_is_lost_is_replaced() -> None:
    async def lose() -> None:
        thinkers = Thinkers()
        setup = Setup("lost", LEVELS["hatch"], "oracle", 1)
        try:
            before = await thinkers.act(setup, [], ["Ana"])
            for pool in thinkers._pools.values():
                for process in pool._processes.values():
                    process.kill()
            assert await thinkers.act(setup, [], ["Ana"]) == before
        finally:
            thinkers.close()

    asyncio.run(lose())


def test_processes_end_with_a_server_that_is_killed() -> None:
    code = (
        "import os\n"
        "from otherminds.web.thinking import Thinkers\n"
        "if __name__ == '__main__':\n"
        "    thinkers = Thinkers()\n"
        "    print(thinkers._pool(('act', 0)).submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        thinker = int(server.stdout.readline())
    for _ in range(400):
        if not _alive(thinker):
            return
        time.sleep(0.05)
    raise AssertionError("it is still there")


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def test_how_long_people_take_alone() -> None:
    assert alone(LEVELS["hatch"]) == math.inf
    found = alone(LEVELS["store-room"])
    assert found is not None
    assert 29 <= found <= 41
    assert alone(replace(LEVELS["hatch"], certificate={})) is None

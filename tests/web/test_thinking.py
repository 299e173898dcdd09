"""What is thought while people play is what simulations think, however much of it has to be thought anew."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.facilitator import SAID_SO, PaperProToM, ProToM
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.web import thinking
from otherminds.web.board import Playable
from otherminds.web.thinking import (
    GOT_IT,
    IGNORE,
    FacilitatorThought,
    GameSetup,
    PlayedStep,
    ThinkingProcesses,
    act,
    advise,
    alone,
)
from otherminds.worlds.overcooked.level_files import KitchenLevel
from web_lobbies import LEVELS

# In the web app draws are made anew at every step. These are kitchens and levels in which chance decides nothing.
PLAYED = [("tomato-abroad", "protom"), ("hatch", "oracle"), ("garden-gate", "protom")]


def simulated(level: Playable, facilitator: str) -> list[dict[str, object]]:
    """The facilitator's rows of a simulated episode, and what everybody did, by its words."""
    setup = GameSetup("simulated", level, facilitator, 3)
    world = OVERCOOKED if isinstance(level, KitchenLevel) else DOORS_KEYS_GEMS
    return [dict(row) for row in world.rows(setup.entry())]


def history(rows: Sequence[dict[str, object]]) -> list[PlayedStep]:
    steps = 1 + max(int(str(row["t"])) for row in rows)
    joints: list[dict[str, str]] = [{} for _ in range(steps)]
    for row in rows:
        if row["agent"] != "facilitator":
            joints[int(str(row["t"]))][str(row["agent"])] = str(row["action"])
    said = {int(str(row["t"])): str(row["action"]) for row in rows if row["agent"] == "facilitator"}
    return [PlayedStep(joint, said.get(t + 1, "")) for t, joint in enumerate(joints)]


@pytest.fixture(autouse=True)
def forgetful() -> None:
    thinking._games.clear()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "facilitator"), PLAYED)
def test_facilitators_think_what_they_think_in_simulations_even_if_they_have_forgotten_everything(
    name: str, facilitator: str
) -> None:
    level = LEVELS[name]
    rows = simulated(level, facilitator)
    steps = history(rows)
    expected = [row for row in rows if row["agent"] == "facilitator" and row["t"] != 0]
    setup = GameSetup("game", level, facilitator, 3)

    def thought(t: int) -> FacilitatorThought:
        return advise(setup, [*steps[: t - 1], steps[t - 1]._replace(message="")], since=t - 1)

    warm = [thought(t) for t in range(1, len(steps))]
    for row, found in zip(expected, warm, strict=True):
        for column in ("action", "words", "why", "status", "prices"):
            assert found.row.get(column) == row.get(column), (found.t, column)
    assert any(found.row["action"] for found in warm)
    believed = [found.beliefs.get("Ana", {}).get("posterior") for found in warm]
    told = [row.get("posterior") for row in rows if row["agent"] == "Ana" and row["t"] != 0]
    assert believed == told
    for t in range(1, len(steps), 9):
        thinking._games.clear()
        again, before = thought(t), warm[t - 1]
        assert {**again.row, "ms": 0} == {**before.row, "ms": 0}
        assert again[2:] == before[2:]


@pytest.mark.slow
def test_simulated_people_do_the_same_whether_they_remember_or_not() -> None:
    setup = GameSetup("people", LEVELS["hatch"], "oracle", 5)
    steps: list[PlayedStep] = []
    for _ in range(20):
        warm = act(setup, steps, ("Ana",))
        thinking._games.clear()
        assert act(setup, steps, ("Ana",)) == warm
        steps.append(PlayedStep({"Ben": "stay", **warm}))


@pytest.mark.slow
def test_a_simulated_person_does_as_the_facilitator_says() -> None:
    """In `hatch` nobody succeeds alone; with a partner who hears what the oracle says, both do."""
    level = LEVELS["hatch"]
    rows = facilitated.rows("told", *_entry(level))
    assert rows[-1]["success"]
    setup = GameSetup("told", level, "oracle", 1)
    steps: list[PlayedStep] = []
    for _ in range(60):
        joint = {**act(setup, steps, ("Ana",)), **act(setup, steps, ("Ben",))}
        steps.append(PlayedStep(joint))
        thought = advise(setup, steps)
        steps[-1] = PlayedStep(joint, str(thought.row["action"]))
        if thought.row.get("why") == "the episode is over":
            break
    assert len(steps) == rows[-1]["length"]


def _entry(level: Playable) -> tuple[facilitated.PlannedEpisode, facilitated.EpisodeSetup]:
    entry = facilitated.PlannedEpisode(level, "oracle", "told", 1)
    return entry, OVERCOOKED.setup(entry)


@pytest.mark.slow
def test_what_becomes_of_a_message_is_told_even_if_steps_were_missed() -> None:
    level = LEVELS["hatch"]
    steps = history(simulated(level, "oracle"))
    setup = GameSetup("late", level, "oracle", 3)
    first = advise(setup, [steps[0]._replace(message="")])
    assert first.row["action"]
    late = advise(setup, [steps[0]._replace(message=str(first.row["action"])), *steps[1:]])
    assert late.row["status"] == "completed"


@pytest.mark.slow
def test_a_process_that_is_lost_is_replaced() -> None:
    async def lose() -> None:
        processes = ThinkingProcesses()
        setup = GameSetup("lost", LEVELS["hatch"], "oracle", 1)
        try:
            before = await processes.act(setup, [], ["Ana"])
            for pool in processes._pools.values():
                for process in pool._processes.values():
                    process.kill()
            assert await processes.act(setup, [], ["Ana"]) == before
        finally:
            processes.close()

    asyncio.run(lose())


@pytest.mark.slow
def test_processes_look_for_garbage_in_time_and_not_in_modules() -> None:
    processes = ThinkingProcesses()
    try:
        assert asyncio.run(processes.call(gc.get_threshold)) == (700, 10, 10)
        assert asyncio.run(processes.call(gc.get_freeze_count)) > 10_000
    finally:
        processes.close()


@pytest.mark.slow
def test_processes_end_with_a_server_that_is_killed() -> None:
    code = (
        "import os\n"
        "from otherminds.web.thinking import ThinkingProcesses\n"
        "if __name__ == '__main__':\n"
        "    thinkers = ThinkingProcesses()\n"
        "    print(thinkers._pool('act').submit(os.getpid).result(), flush=True)\n"
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


@pytest.mark.slow
@pytest.mark.parametrize("facilitator", ["protom", "oracle"])
@pytest.mark.parametrize("reply", [GOT_IT, IGNORE])
def test_answers_reach_the_facilitator_before_its_next_decision_even_if_it_has_forgotten_everything(
    facilitator: str, reply: str
) -> None:
    setup = GameSetup("answers", LEVELS["hatch"], facilitator, 3)
    rows = simulated(LEVELS["hatch"], facilitator)
    steps = history(rows)
    spoken = next(t for t, step in enumerate(steps, 1) if step.message)
    message = steps[spoken - 1].message
    before = steps[:spoken]
    answered = [*before, PlayedStep(steps[spoken].joint, heard=((message, reply),))]
    advise(setup, [*before[:-1], before[-1]._replace(message="")])
    warm = advise(setup, answered, since=spoken)
    assert (warm.row["statuses"] == {message: "ignored"}) == (reply == IGNORE)
    thinking._games.clear()
    cold = advise(setup, answered, since=spoken)
    assert {**cold.row, "ms": 0} == {**warm.row, "ms": 0}
    assert cold[2:] == warm[2:]
    thinking._games.clear()
    unanswered = advise(setup, [*before, PlayedStep(steps[spoken].joint)], since=spoken)
    assert unanswered.row["statuses"] == {message: "running"}
    asked = [any(price["message"].startswith(message[:4]) for price in one.row["prices"]) for one in (warm, unanswered)]
    assert asked == [False, False]  # whoever has a message gets no other, nor does whoever has just refused one


@pytest.mark.slow
def test_an_answer_to_a_message_that_is_over_changes_nothing() -> None:
    setup = GameSetup("late answers", LEVELS["hatch"], "protom", 3)
    steps = history(simulated(LEVELS["hatch"], "protom"))[:4]
    usual = advise(setup, steps, since=3)
    thinking._games.clear()
    late = advise(setup, [*steps[:3], steps[3]._replace(heard=(("Ana: fly", IGNORE),))], since=3)
    assert {**late.row, "ms": 0} == {**usual.row, "ms": 0}


@pytest.mark.slow
def test_who_says_got_it_is_expected_to_follow_but_not_for_certain() -> None:
    setup = GameSetup("got it", LEVELS["hatch"], "protom", 3)
    steps = history(simulated(LEVELS["hatch"], "protom"))
    spoken = next(t for t, step in enumerate(steps, 1) if step.message)
    message = steps[spoken - 1].message
    advise(setup, steps[:spoken])
    game = thinking._games[setup.key, (), True]
    game.follow(steps[:spoken], 0)
    protom = game.episode.facilitator
    assert isinstance(protom, ProToM)
    helper = message.partition(":")[0]
    (asked, _), before = game.episode.under_way[helper], protom.following(helper)
    assert before < SAID_SO
    assert protom.accept(asked).following(helper) == pytest.approx(SAID_SO)
    assert protom.accept(asked).beliefs()[helper].prob(protom.beliefs()[helper].mode) > 0
    by_the_paper = PaperProToM(protom.world, protom.messages, protom.watchers)
    assert by_the_paper.accept(asked) is by_the_paper

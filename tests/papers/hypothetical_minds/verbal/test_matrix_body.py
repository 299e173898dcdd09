"""Subgoals: which plans can be read, what they come to as actions, and when a model is asked for one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hypothetical_minds import Told, unreadable
from matrix_worlds import HALL, PAPER, ROCK, play, scene, world_of
from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, Unreadable
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted, text_of
from otherminds.mind import Mind
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
from otherminds.papers.hypothetical_minds.melting_pot import background
from otherminds.papers.hypothetical_minds.verbal.matrix_body import LONG, LOOK_AROUND, MatrixBody, progress
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import map_text
from otherminds.papers.hypothetical_minds.verbal.matrix_subgoals import (
    Fire,
    FireAt,
    MatrixSituation,
    MatrixSubgoal,
    Patrol,
    Wait,
    matrix_plan_form,
)
from otherminds.papers.hypothetical_minds.verbal.plan_follower import PAUSE, BegunPlan, Effort, SubgoalStep
from otherminds.papers.hypothetical_minds.verbal.sentences import Sentences
from otherminds.papers.hypothetical_minds.verbal.subgoals import MoveTo
from otherminds.world import rollout
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import MatrixState
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.in_the_matrix.strategies import Aim
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView
from papers.hypothetical_minds.scripted import BROKEN, scripted_model

WORLD = world_of()
ME, OTHER = WORLD.agents
APART = ("1 1 >", "9 6 <")
FIELD = """
WWWWWWWWWWW
Wn p     nW
W  p      W
W  p      W
W  p     rW
Wn p     nW
WWWWWWWWWWW
"""
GATE = """
WWWWWWWWW
Wn prppnW
WWWWWWWWW
"""


def move(x: int, y: int) -> dict[str, Any]:
    return {"do": "move_to", "x": x, "y": y}


FIRE, PATROL = {"do": "interact"}, {"do": "patrol"}
AT_OTHER = {"do": "fire_at", "player": OTHER}


def waits(steps: int) -> dict[str, Any]:
    return {"do": "wait", "steps": steps}


def body(
    told: Told | Scripted,
    world: InTheMatrix = WORLD,
    *,
    aim: Aim | None = None,
    worth: tuple[float, ...] = (),
    mapped: bool = True,
) -> MatrixBody:
    model = told.model if isinstance(told, Told) else told
    found = MatrixBody.initial(world, world.agents[0], Asker(model, "episode 0"), mapped=mapped)
    return found if aim is None else found.toward(aim, worth)


def planning(*plans: Any) -> Told:
    return Told({"subgoals": [plan if isinstance(plan, str) else {"plan": plan} for plan in plans]})


def situation(world: InTheMatrix, state: MatrixState, **more: Any) -> MatrixSituation:
    told = Told({"subgoals": {"plan": [waits(1)]}})
    return body(told, world, **more).look(world.observe(state, world.agents[0])).situation


def steps_asked(told: Told) -> list[int]:
    """The steps in which a plan was asked for."""
    return [int(found[1]) for _, request in told.asked if (found := re.search(r"step (\d+) subgoals 0", request.draw))]


def run(
    mind: MatrixBody, state: MatrixState, steps: int, world: InTheMatrix = WORLD, other: Action = "noop"
) -> tuple[MatrixBody, MatrixState, list[Action]]:
    """The body acts for so many steps in a world in which nothing happens by chance."""
    mind, acts = mind.observe(world.observe(state, world.agents[0])), []
    for _ in range(steps):
        acts.append(mind.act().mode)
        state = play(world, state, acts[-1], other)
        mind = mind.observe(world.observe(state, world.agents[0]))
    return mind, state, acts


def at(world: InTheMatrix, state: MatrixState) -> tuple[int, int]:
    return world.rules.field.grid.xy(state.cells[0])


# Reading

FAULTY: Mapping[str, tuple[Any, str]] = {
    "outside": ([move(11, 3)], "outside the map of 11 columns and 8 rows"),
    "below": ([move(3, 8)], "outside the map"),
    "negative": ([move(-1, 3)], "outside the map"),
    "wall": ([move(0, 0)], "is a wall"),
    "nowhere to go": ([move(1, 1), move(1, 1)], "does nothing, as you are at (1, 1) already"),
    "oneself": ([{"do": "fire_at", "player": ME}], f"only {OTHER}"),
    "nobody": ([{"do": "fire_at", "player": "Zoe"}], "nobody else of that name"),
    "no wait": ([waits(0)], "not from 1 to 50"),
    "long wait": ([waits(51)], "not from 1 to 50"),
    "nothing": ([], "has 0 subgoals"),
    "too much": ([PATROL] * 13, "has 13 subgoals"),
    "unknown": ([{"do": "teleport", "x": 1, "y": 1}], "plan.0"),
    "half": ([{"do": "move_to", "x": 1}], "plan.0.move_to.y"),
    "more": ([{"do": "patrol", "x": 1}], "plan.0.patrol.x"),
    "a fraction": ([move(1.5, 2)], "plan.0.move_to.x"),  # type: ignore[arg-type]
    "text": ([move("3", 2)], "plan.0.move_to.x"),  # type: ignore[arg-type]
    "code": (["move_to((1, 1), (3, 4))"], "plan.0"),
    "no list": (PATROL, "plan"),
}


@pytest.mark.parametrize(("plan", "why"), FAULTY.values(), ids=FAULTY.keys())
def test_a_plan_that_cannot_be_carried_out_is_unreadable(plan: Any, why: str) -> None:
    form = matrix_plan_form(situation(WORLD, scene(WORLD, *APART)))
    found = form.read(json.dumps({"reasoning": "", "plan": plan}))
    assert isinstance(found, Unreadable)
    assert why in found.why


def test_all_subgoals_can_be_read() -> None:
    form = matrix_plan_form(situation(WORLD, scene(WORLD, *APART)))
    plan = [move(3, 2), AT_OTHER, FIRE, waits(50), PATROL]
    found = form.read(json.dumps({"reasoning": "", "plan": plan}))
    assert not isinstance(found, Unreadable)
    told = [MoveTo(do="move_to", x=3, y=2), FireAt(do="fire_at", player=OTHER), Fire(do="interact")]
    assert found.plan == [*told, Wait(do="wait", steps=50), Patrol(do="patrol")]
    assert list(map(str, found.plan)) == ["move_to (3, 2)", f"fire_at {OTHER}", "interact", "wait 50", "patrol"]


def test_a_place_behind_walls_cannot_be_reached() -> None:
    world = world_of("WWWWWWWWW\nWn W   nW\nWn W rWWW\nWWWWWWWWW")
    found = matrix_plan_form(situation(world, scene(world, "1 1 >", "4 1 <"))).read(
        json.dumps({"reasoning": "", "plan": [move(5, 1)]})
    )
    assert isinstance(found, Unreadable)
    assert "cannot be reached" in found.why


def test_without_the_map_only_what_was_seen_is_there_to_go_to() -> None:
    seen = situation(WORLD, scene(WORLD, *APART), mapped=False)
    near, far = (json.dumps({"reasoning": "", "plan": [move(*place)]}) for place in ((3, 2), (5, 2)))
    assert not isinstance(matrix_plan_form(seen).read(near), Unreadable)
    found = matrix_plan_form(seen).read(far)
    assert isinstance(found, Unreadable)
    assert "never looked there" in found.why


def test_the_map_that_is_told_is_the_one_that_is_known() -> None:
    state = scene(WORLD, *APART)
    assert map_text(situation(WORLD, state)).splitlines()[1] == "#.........#"
    partly = map_text(situation(WORLD, state, mapped=False)).splitlines()
    assert partly[:4] == ["#####??????", "#....??????", "#....??????", "#....??????"]
    assert set("".join(partly[4:])) == {"?"}


# Actions


def go(
    world: InTheMatrix, state: MatrixState, *target: int, limit: int = 40
) -> tuple[list[tuple[int, int]], MatrixState]:
    """Where one comes by on the way."""
    told = planning([move(*target)], [waits(50)])
    mind, passed = body(told, world), [at(world, state)]
    for _ in range(limit):
        mind = mind.observe(world.observe(state, world.agents[0]))
        if at(world, state) == target:
            return passed, state
        state = play(world, state, mind.act().mode)
        passed.append(at(world, state))
    raise AssertionError(f"{target} was not reached: {passed}")


def test_it_walks_the_shortest_way() -> None:
    passed, _ = go(WORLD, scene(WORLD, "1 1 >", "9 6 <"), 4, 3)
    assert len(dict.fromkeys(passed)) == 1 + 3 + 2


def test_it_walks_around_what_it_would_pick_up_on_the_way() -> None:
    world = world_of(FIELD.replace("W  p     rW", "W        rW"))
    _, state = go(world, scene(world, "2 1 >", "9 5 <"), 5, 1)
    assert state.inventories[0] == (1, 1, 1)
    _, state = go(world, scene(world, "2 1 >", "9 5 <"), 3, 1)
    assert state.inventories[0] == (1, 2, 1)


def test_where_it_has_to_pick_up_something_it_is_what_is_at_the_end() -> None:
    world = world_of("WWWWWWWWWW\nWn p  p nW\nW  WWWW  W\nWn r  r nW\nWWWWWWWWWW")
    for row, held in ((1, (1, 3, 1)), (3, (3, 1, 1))):
        _, state = go(world, scene(world, "1 2 >", "8 2 <"), 6, row)
        assert state.inventories[0] == held


def test_it_goes_through_what_it_does_not_want_if_there_is_no_other_way() -> None:
    world = world_of(GATE)
    _, state = go(world, scene(world, "1 1 >", "7 1 <"), 5, 1)
    assert state.inventories[0] == (2, 3, 1)


def test_it_goes_around_people() -> None:
    passed, _ = go(WORLD, scene(WORLD, "2 3 >", "3 3 <"), 5, 3)
    assert (3, 3) not in passed


def subgoal_act(state: MatrixState, subgoal: MatrixSubgoal, spent: int = 0, world: InTheMatrix = WORLD) -> SubgoalStep:
    return progress(situation(world, state), subgoal, Effort(spent))


AT = FireAt(do="fire_at", player=OTHER)


def test_it_fires_when_the_beam_reaches_them_and_not_before() -> None:
    held = (PAPER, ROCK)
    assert subgoal_act(scene(WORLD, "3 3 >", "6 3 <", held=held), AT)[::2] == ("interact", "")
    assert subgoal_act(scene(WORLD, "3 3 >", "4 5 <", held=held), AT).action == "turn_right"
    assert subgoal_act(scene(WORLD, "3 3 >", "3 1 <", held=held), AT).action == "turn_left"
    far = subgoal_act(scene(WORLD, "3 3 >", "5 5 <", held=held), AT)
    assert far.action in {"forward", "step_right"}


def test_it_does_not_fire_before_the_beam_is_ready_or_at_whom_it_cannot_meet() -> None:
    state = scene(WORLD, "3 3 >", "6 3 <", held=(PAPER, ROCK))
    assert subgoal_act(state._replace(cooldowns=(1, 0)), AT)[::2] == ("noop", "")
    assert subgoal_act(scene(WORLD, "3 3 >", "6 3 <", held=(PAPER, (1, 1, 1))), AT)[::2] == ("noop", "")
    assert subgoal_act(scene(WORLD, "3 3 >", "6 3 <"), AT)[::2] == (None, "you hold nothing yet to play with")


def test_resources_stop_the_beam() -> None:
    world = world_of(HALL.replace("W         W", "W    p    W", 1))
    state = scene(world, "3 2 >", "6 2 <", held=(PAPER, ROCK))
    assert subgoal_act(state, AT, world=world).action != "interact"


def test_it_looks_around_for_whom_it_does_not_see_but_not_for_ever() -> None:
    state = scene(WORLD, *APART, held=(PAPER, ROCK))
    assert subgoal_act(state, AT)[::2] == ("turn_right", "")
    assert subgoal_act(state, AT, LOOK_AROUND)[::2] == (None, "is not to be seen")


def test_it_goes_to_where_it_has_seen_them_last() -> None:
    told = planning([AT_OTHER])
    state = scene(WORLD, "3 1 v", "3 4 <", held=(PAPER, (1, 1, 1)))
    mind = body(told).look(WORLD.observe(state, ME))
    away = scene(WORLD, "3 1 ^", "3 4 <", held=(PAPER, (1, 1, 1)))._replace(t=1)
    seen = mind.look(WORLD.observe(away, ME)).situation
    assert seen.memory.players[1] is not None
    assert seen.memory.players[1].t == 0
    assert progress(seen, AT, Effort(1)).action == "backward"


def test_short_subgoals() -> None:
    state = scene(WORLD, *APART)
    assert subgoal_act(state, Fire(do="interact"))[::2] == ("interact", "done")
    assert subgoal_act(state._replace(cooldowns=(1, 0)), Fire(do="interact"))[::2] == ("noop", "")
    assert subgoal_act(state, Wait(do="wait", steps=3), 1)[::2] == ("noop", "")
    assert subgoal_act(state, Wait(do="wait", steps=3), 2)[::2] == ("noop", "done")
    assert subgoal_act(state, MoveTo(do="move_to", x=1, y=1))[::2] == (None, "done")
    assert subgoal_act(state, MoveTo(do="move_to", x=2, y=1), LONG)[::2] == (None, "took too long")


def test_a_patrol_goes_where_one_has_not_looked_and_ends_when_somebody_is_there() -> None:
    state = scene(WORLD, *APART)
    assert subgoal_act(state, Patrol(do="patrol")).action in {"forward", "turn_right", "step_right"}
    met = scene(WORLD, "3 3 >", "5 3 <")
    assert subgoal_act(met, Patrol(do="patrol"), 1)[::2] == (None, "done")
    assert subgoal_act(met, Patrol(do="patrol"), 0).action is not None


def test_a_patrol_without_the_map_finds_what_there_is() -> None:
    told, state = planning([PATROL]), scene(WORLD, "1 1 >", "9 6 <")
    mind, _, _ = run(body(told, mapped=False), state, 80)
    grid = WORLD.rules.field.grid
    assert all(mind.situation.memory.knows(cell) for cell in grid.cells() if grid.xy(cell)[0] < 6)


# When it is asked


def test_it_is_asked_when_a_plan_is_done_and_not_before() -> None:
    told = planning([waits(2), FIRE], [waits(3)])
    _, _, acts = run(body(told), scene(WORLD, *APART), 6)
    assert acts == ["noop", "noop", "interact", "noop", "noop", "noop"]
    assert steps_asked(told) == [0, 3, 6]
    assert "wait 2: done" in told.texts("subgoals")[1]
    assert "interact: done" in told.texts("subgoals")[1]
    assert "What came of the last plan" not in told.texts("subgoals")[0]


def test_a_meeting_ends_a_plan_and_nothing_is_asked_until_one_is_back() -> None:
    told = planning([AT_OTHER, waits(50), waits(50)])
    state = scene(WORLD, "3 3 >", "5 3 <", held=(PAPER, ROCK))
    hit, _, _ = run(body(told), state, 1)
    assert hit.queue == ()
    told.asked.clear()
    mind, _, acts = run(body(told), state, 23)
    assert acts == ["interact", *["noop"] * 22]
    assert steps_asked(told) == [0]
    begun = mind.last_plan
    assert begun is not None
    assert mind.met
    assert begun.reward > 3
    assert mind.queue == ()
    told.asked.clear()
    run(body(told), state, 24)
    assert steps_asked(told) == [0, 24]
    assert "a meeting began" in told.texts("subgoals")[-1]


def test_every_subgoal_has_its_own_time() -> None:
    told = planning([waits(4), waits(3)], [waits(50)])
    run(body(told), scene(WORLD, *APART), 10)
    assert steps_asked(told) == [0, 7]


def test_it_gives_up_what_cannot_be_done_and_says_so() -> None:
    told = planning([AT_OTHER, waits(2)], [waits(9)])
    _, _, acts = run(body(told), scene(WORLD, *APART), 3)
    assert acts == ["noop"] * 3
    assert f"fire_at {OTHER}: you hold nothing yet to play with" in told.texts("subgoals")[1]


def test_a_plan_of_which_nothing_comes_is_not_asked_for_at_every_step() -> None:
    told = planning([AT_OTHER])
    _, _, acts = run(body(told), scene(WORLD, *APART), 3 * PAUSE)
    assert steps_asked(told) == [0, PAUSE, 2 * PAUSE, 3 * PAUSE]
    assert set(acts) == {"noop"}


@pytest.mark.parametrize("name", BROKEN)
def test_without_a_readable_plan_it_stands_still_and_counts(name: str) -> None:
    mind, _, acts = run(body(scripted_model(name, WORLD), aim=Aim(0, 5)), scene(WORLD, *APART), 2 * PAUSE - 1)
    assert set(acts) == {"noop"}
    assert mind.last_plan is None
    assert unreadable(mind) == len(mind.exchanges) == 6


def test_a_stutterer_moves_as_somebody_who_does_not() -> None:
    acts = [
        run(body(scripted_model(name, WORLD), aim=Aim(0, 5)), scene(WORLD, *APART), 30)[2]
        for name in ("straight", "stutterer")
    ]
    assert acts[0] == acts[1]
    assert set(acts[0]) - {"noop"}


def test_what_is_wrong_with_a_plan_is_said() -> None:
    told = planning([move(0, 0)], [waits(2)])
    body(told).observe(WORLD.observe(scene(WORLD, *APART), ME))
    assert len(told.asked) == 2
    assert "move_to (0, 0): is a wall" in told.texts("subgoals")[1]


def test_the_model_is_told_the_aim_and_whom_it_is_good_to_meet() -> None:
    told = planning([waits(2)])
    one = body(told, aim=Aim(1, 4))
    one.observe(WORLD.observe(scene(WORLD, *APART), ME))
    text = told.texts("subgoals")[0]
    assert "You have decided to play paper" in text
    assert "at least 4 more" in text
    world = in_the_matrix("rws_arena")
    told = planning([waits(2)])
    many = body(told, world, aim=Aim(1, 4), worth=(0.0, -1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0))
    many.observe(world.observe(world.start(np.random.default_rng(0)), world.agents[0]))
    assert f"meet {world.agents[3]} or {world.agents[2]}." in told.texts("subgoals")[0]


# Privacy, and values as values


def test_it_is_told_nothing_that_it_has_not_seen() -> None:
    """Two worlds that look the same from here lead to the same question."""
    here = scene(WORLD, *APART, held=(ROCK, ROCK))
    there = scene(WORLD, "1 1 >", "7 6 ^", held=(ROCK, PAPER))._replace(kinds=(1,) * len(here.kinds), shown=0)
    asked = []
    for state in (here, there):
        told = planning([waits(2)])
        view = WORLD.observe(state, ME)
        body(told, mapped=False).observe(view)
        asked.append(told.asked[0][1])
    assert asked[0] == asked[1]


def test_what_both_held_in_a_meeting_is_not_looked_at() -> None:
    def strip(view: MatrixView, met: bool) -> MatrixView:
        return view if met else view._replace(met=None)

    bodies = []
    for shown in (True, False):
        told, state = planning([AT_OTHER, waits(4)]), scene(WORLD, "3 3 >", "5 3 <", held=(PAPER, ROCK))
        mind = body(told)
        for _ in range(30):
            mind = mind.observe(strip(WORLD.observe(state, ME), shown))
            state = play(WORLD, state, mind.act().mode)
        bodies.append((mind.queue, mind.exchanges, mind.situation.memory, told.asked))
    assert bodies[0] == bodies[1]


def test_looking_changes_nothing_that_was_there() -> None:
    told = planning([waits(3), PATROL])
    mind = body(told).observe(WORLD.observe(scene(WORLD, *APART), ME))
    copy = replace(mind)
    mind.observe(WORLD.observe(scene(WORLD, *APART)._replace(t=1), ME))
    assert mind == copy
    assert hash(mind) == hash(copy)
    assert mind.finished_plan is None
    assert mind.last_plan == BegunPlan(mind.situation, mind.queue)


def test_a_body_that_has_seen_nothing_does_nothing() -> None:
    mind = body(planning([waits(1)]))
    assert mind.act() == Categorical.uniform(["noop"])
    assert not mind.wants_plan
    with pytest.raises(ValueError, match="not seen anything"):
        _ = mind.situation


# An episode


def play_on(mind: HypotheticalMinds, world: InTheMatrix, name: str, rng: np.random.Generator) -> Sequence[float]:
    me, other = world.agents
    minds: dict[str, Mind[Any, Action]] = {me: mind, other: background(world, other, bot(name), rng)}
    return [step.after.rewards[0] for step in rollout(world, minds, steps=600, rng=rng)]


@pytest.mark.slow
@pytest.mark.parametrize("mapped", [True, False])
def test_a_hypothetical_mind_moved_by_plans_beats_a_bot(mapped: bool) -> None:
    world, rng = in_the_matrix("rws_repeated"), np.random.default_rng(1)
    asker = Asker(scripted_model("straight", world))
    me = world.agents[0]
    body = MatrixBody.initial(world, me, asker, mapped=mapped)
    moved = HypotheticalMinds.initial(world, me, Sentences.initial(world, me, asker), rng, body=body)
    rewards = play_on(moved, world, "rws_repeated__rock_margin_0", rng)
    assert sum(rewards) > 5


def test_the_schema_allows_what_can_be_read() -> None:
    request: list[Request] = []

    def write(asked: Request) -> str:
        request.append(asked)
        return json.dumps({"reasoning": "", "plan": [PATROL]})

    body(Scripted("one", write)).observe(WORLD.observe(scene(WORLD, *APART), ME))
    kinds = json.loads(request[0].schema)["properties"]["plan"]["items"]["anyOf"]
    assert [kind["properties"]["do"]["enum"] for kind in kinds] == [
        ["move_to"],
        ["fire_at"],
        ["interact"],
        ["wait"],
        ["patrol"],
    ]
    assert kinds[0]["properties"]["x"]["maximum"] == 10
    assert kinds[0]["properties"]["y"]["maximum"] == 7
    assert kinds[3]["properties"]["steps"] == {"type": "integer", "minimum": 1, "maximum": 50}
    assert "#" in text_of(request[0])

"""The rules of Doors-Keys-Gems one by one, and invariants of every play."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.level_files import draw_text
from otherminds.worlds.doors_keys_gems.rules import (
    GROUND,
    NOTHING,
    STAY,
    USED,
    Action,
    DoorsKeysGems,
    InvalidActionError,
    State,
)
from strategies import BOTH, moments, plays, world_of, worlds

Playthrough = tuple[DoorsKeysGems, tuple[Step[State, Action], ...]]
Moment = tuple[DoorsKeysGems, State]

some = worlds(turns=BOTH, forbid=True)


def after(world: DoorsKeysGems, *deeds: str, who: int = 0, state: State | None = None) -> State:
    """The state after one agent has done all this, in words."""
    state = state or world.initial
    for words in deeds:
        state = world.apply(state, who, world.vocabulary[words])
    return state


def refused(world: DoorsKeysGems, words: str, *, who: int = 0, state: State | None = None) -> None:
    """The rules do not allow the agent to do this."""
    action = world.vocabulary[words]
    state = state or world.initial
    assert action not in world.options(state, who)
    with pytest.raises(InvalidActionError, match=f"{world.agents[who]} cannot do `{words}` here"):
        world.apply(state, who, action)


def together(world: DoorsKeysGems, *rounds: str) -> State:
    """The state after everybody has acted at once, round by round: `left | pickup key1`."""
    state = world.initial
    for words in rounds:
        names = (world.vocabulary[part.strip()] for part in words.split("|"))
        state = world.step(state, dict(zip(world.agents, names, strict=True)))
    return state


def where(world: DoorsKeysGems, state: State) -> list[tuple[int, int]]:
    return [world.grid.xy(cell) for cell in state.cells]


# Walking


@pytest.mark.parametrize(("move", "to"), [("up", (1, 0)), ("down", (1, 2)), ("left", (0, 1)), ("right", (2, 1))])
def test_a_step_leads_one_cell_further(move: str, to: tuple[int, int]) -> None:
    world = world_of(".. .. ..", ".. a1 ..", ".. gr ..")
    assert where(world, after(world, move)) == [to]


@pytest.mark.parametrize("move", ["up", "down", "left", "right"])
def test_nobody_leaves_the_map(move: str) -> None:
    refused(world_of("a1"), move)


@pytest.mark.parametrize("move", ["up", "down", "left", "right"])
def test_nobody_walks_into_a_wall(move: str) -> None:
    refused(world_of(".. ## ..", "## a1 ##", ".. ## .."), move)


def test_nobody_walks_into_a_locked_door() -> None:
    refused(world_of("a1 dr gr"), "right")


def test_staying_changes_nothing() -> None:
    world = world_of("a1 gr")
    assert after(world, "stay") == world.initial


def test_people_share_a_cell_and_change_places() -> None:
    world = world_of("a1 a2 gr", goals=(0, 0))
    assert where(world, together(world, "right | stay")) == [(1, 0), (1, 0)]
    assert where(world, together(world, "right | left")) == [(1, 0), (0, 0)]


# Picking up


def test_a_key_is_picked_up_where_it_lies() -> None:
    world = world_of("a1 kr gr")
    assert after(world, "right", "pickup key1").items == (0, GROUND)


def test_a_thing_is_not_picked_up_from_the_next_cell() -> None:
    refused(world_of("a1 kr gr"), "pickup key1")


def test_a_thing_in_hand_is_not_picked_up_again() -> None:
    world = world_of("a1 kr gr")
    held = after(world, "right", "pickup key1")
    refused(world, "pickup key1", state=held)
    refused(world, "pickup key1", who=0, state=after(world, "left", "right", state=held))


def test_nobody_picks_up_what_somebody_else_holds() -> None:
    world = world_of("a1 kr a2", goals=(NOTHING, NOTHING))
    held = after(world, "right", "pickup key1")
    refused(world, "pickup key1", who=1, state=after(world, "left", who=1, state=held))


def test_anybody_picks_up_any_gem_and_as_many_things_as_they_like() -> None:
    world = world_of("a1 kr kb gr gb")
    walked = after(
        world, "right", "pickup key1", "right", "pickup key2", "right", "pickup gem1", "right", "pickup gem2"
    )
    assert walked.items == (0, 0, 0, 0)


def test_forbidden_things_are_not_picked_up_by_those_they_are_forbidden_to() -> None:
    world = replace(world_of("a1 kr a2", goals=(NOTHING, NOTHING)), forbidden=frozenset({(0, 0)}))
    refused(world, "pickup key1", state=after(world, "right"))
    assert after(world, "left", "pickup key1", who=1).items == (1,)


# Unlocking


def test_a_key_opens_a_door_of_its_colour_next_to_its_holder_and_is_used_up() -> None:
    world = world_of("kr a1 dr gr")
    opened = after(world, "left", "pickup key1", "right", "unlock door1 with key1")
    assert (opened.items[0], opened.locked) == (USED, 0)
    assert where(world, after(world, "right", "right", state=opened)) == [(3, 0)]


def test_a_door_needs_a_key_in_hand() -> None:
    refused(world_of("kr a1 dr gr"), "unlock door1 with key1")
    world = world_of("kr a2 dr gr", "## a1 ## gb")
    held = after(world, "left", "pickup key1", "right", who=1)
    refused(world, "unlock door1 with key1", state=after(world, "up", state=held))


def test_a_door_needs_a_key_of_its_colour() -> None:
    world = world_of("kb a1 dr gr")
    refused(world, "unlock door1 with key1", state=after(world, "left", "pickup key1", "right"))


@pytest.mark.parametrize("row", ["kr a1 .. dr gr", "kr a1 .. .. dr"])
def test_a_door_is_opened_from_next_to_it_only(row: str) -> None:
    world = world_of(row, goals=(NOTHING,))
    refused(world, "unlock door1 with key1", state=after(world, "left", "pickup key1", "right"))


def test_a_door_is_not_opened_across_a_corner() -> None:
    world = world_of("kr ..", "a1 ..", ".. dr", goals=(NOTHING,))
    refused(world, "unlock door1 with key1", state=after(world, "up", "pickup key1", "down"))


def test_one_key_opens_one_door() -> None:
    world = world_of("dr kr dr", ".. a1 ..", goals=(NOTHING,))
    opened = after(world, "up", "pickup key1", "unlock door2 with key1")
    assert opened.locked == 0b01
    refused(world, "unlock door1 with key1", state=opened)


def test_an_open_door_is_not_opened_again() -> None:
    world = world_of("a1 .. ..", "kr kr dr", goals=(NOTHING,))
    keys = after(world, "down", "pickup key1", "right", "pickup key2", "unlock door1 with key2")
    refused(world, "unlock door1 with key1", state=keys)
    assert where(world, after(world, "right", state=keys)) == [(2, 1)]


def test_a_gem_opens_nothing() -> None:
    world = world_of("gr a1 dr")
    held = after(world, "left", "pickup gem1", "right")
    assert Action("unlock", 0, 0) not in world.options(held, 0)


# Handing over


def test_a_thing_is_handed_to_somebody_one_step_away() -> None:
    world = world_of("kr a1 a2 gr", goals=(0, 0))
    given_away = after(world, "left", "pickup key1", "right", "handover key1 to Ben")
    assert given_away.items == (1, GROUND)


@pytest.mark.parametrize(
    "rows",
    [("kr a1 .. a2",), ("kr a1", "## .. a2"), ("kr a1 ## a2",)],
    ids=["two away", "across a corner", "behind a wall"],
)
def test_nothing_is_handed_over_at_any_other_distance(rows: tuple[str, ...]) -> None:
    world = world_of(*rows, goals=(NOTHING, NOTHING))
    refused(world, "handover key1 to Ben", state=after(world, "left", "pickup key1", "right"))


def test_nothing_is_handed_over_to_somebody_in_the_same_cell() -> None:
    world = world_of("kr a1 a2", goals=(NOTHING, NOTHING))
    held = after(world, "left", "pickup key1", "right", "right")
    assert held.cells[0] == held.cells[1]
    refused(world, "handover key1 to Ben", state=held)


def test_nobody_hands_over_what_they_do_not_hold_or_to_themselves() -> None:
    world = world_of("kr a1 a2", goals=(NOTHING, NOTHING))
    refused(world, "handover key1 to Ben")
    held = after(world, "left", "pickup key1", "right")
    refused(world, "handover key1 to Ana", state=held)
    refused(world, "handover key1 to Ana", who=1, state=held)


def test_gems_are_handed_over_too() -> None:
    world = world_of("gr a1 a2", goals=(NOTHING, 0))
    assert world.done(after(world, "left", "pickup gem1", "right", "handover gem1 to Ben"))


@pytest.mark.parametrize("who", [0, 1], ids=["giver", "taker"])
def test_forbidden_things_are_not_handed_over_by_or_to_those_they_are_forbidden_to(who: int) -> None:
    world = replace(world_of("a1 a2 kr", goals=(NOTHING, NOTHING)), forbidden=frozenset({(who, 0)}))
    held = world.initial._replace(items=(0,))
    refused(world, "handover key1 to Ben", state=held)


# Acting together


def test_two_race_for_a_key_and_the_first_of_the_agents_gets_it() -> None:
    world = world_of("a1 kr a2", goals=(NOTHING, NOTHING))
    assert together(world, "right | left", "pickup key1 | pickup key1").items == (0,)


def test_the_later_agent_walks_through_a_door_that_the_earlier_one_opens_in_the_same_step() -> None:
    world = world_of("kr a1 dr a2", goals=(NOTHING, NOTHING))
    state = together(world, "left | stay", "pickup key1 | stay", "right | stay", "unlock door1 with key1 | left")
    assert where(world, state) == [(1, 0), (2, 0)]


def test_the_earlier_agent_does_not_walk_through_a_door_that_the_later_one_opens_in_the_same_step() -> None:
    world = world_of("a1 dr a2 kr", goals=(NOTHING, NOTHING))
    state = together(world, "stay | right", "stay | pickup key1", "stay | left", "right | unlock door1 with key1")
    assert where(world, state) == [(0, 0), (2, 0)]
    assert state.locked == 0


def test_a_key_handed_over_is_used_in_the_same_step_by_somebody_later() -> None:
    world = world_of("kr a1 a2 dr", goals=(NOTHING, NOTHING))
    start = "left | stay", "pickup key1 | stay", "right | stay"
    state = together(world, *start, "handover key1 to Ben | unlock door1 with key1")
    assert (state.items, state.locked) == ((USED,), 0)


def test_a_handover_to_somebody_who_has_just_walked_away_comes_to_nothing() -> None:
    world = world_of(".. a1 a2 kr", goals=(NOTHING, NOTHING))
    start = "stay | right", "stay | pickup key1", "stay | left"
    state = together(world, *start, "left | handover key1 to Ana")
    assert (state.items, where(world, state)) == ((1,), [(0, 0), (2, 0)])


def test_two_keys_for_one_door_the_second_one_is_kept() -> None:
    world = world_of("kr a1 dr a2 kr", goals=(NOTHING, NOTHING))
    start = "left | right", "pickup key1 | pickup key2", "right | left"
    state = together(world, *start, "unlock door1 with key1 | unlock door1 with key2")
    assert state.items == (USED, 1)


def test_what_the_rules_do_not_allow_is_a_no_op() -> None:
    world = world_of("a1 ## a2", goals=(NOTHING, NOTHING))
    assert together(world, "right | left") == world.initial


# Turns


def test_in_turns_one_acts_and_the_turn_is_passed_on() -> None:
    world = world_of("a1 .. a2 .. a3 ..", turns="alternating", goals=(NOTHING,) * 3)
    state, turns = world.initial, [0]
    for _ in range(4):
        state = world.step(state, dict.fromkeys(world.agents, Action("right")))
        turns.append(state.turn)
    assert turns == [0, 1, 2, 0, 1]
    assert where(world, state) == [(2, 0), (3, 0), (5, 0)]


def test_in_turns_the_others_can_only_stay() -> None:
    world = world_of("a1 .. a2 ..", turns="alternating", goals=(NOTHING, NOTHING))
    assert world.actions(world.initial, "Ana") == (Action("right"), STAY)
    assert world.actions(world.initial, "Ben") == (STAY,)


def test_at_once_no_turn_is_kept() -> None:
    world = world_of("a1 .. a2 ..", goals=(NOTHING, NOTHING))
    assert together(world, "right | right").turn == 0


# Goals


def test_it_is_done_when_everybody_holds_their_own_gem() -> None:
    world = world_of("gr a1 a2 gb")
    swapped = world.initial._replace(items=(1, 0))
    assert not world.done(swapped)
    assert [world.has_gem(swapped, i) for i in (0, 1)] == [False, False]
    assert not world.done(world.initial._replace(items=(0, GROUND)))
    assert world.done(world.initial._replace(items=(0, 1)))


def test_who_is_after_nothing_has_it() -> None:
    assert replace(world_of("a1 gr"), goals=(NOTHING,)).done(world_of("a1 gr").initial)


def test_a_step_costs_one_until_the_gem_is_held() -> None:
    world = world_of("gr a1 a2 gb")
    held = world.initial._replace(items=(0, GROUND))
    assert world.reward(world.initial, {}, held) == {"Ana": -1, "Ben": -1}
    assert world.reward(held, {}, held) == {"Ana": 0, "Ben": -1}


def test_everybody_sees_everything_and_the_start_is_not_random() -> None:
    world = world_of("kr a1 dr a2", goals=(NOTHING, NOTHING))
    assert world.start() == world.initial == State(world.cells, (GROUND,), 0b1, 0)
    assert world.observe(world.initial, "Ben") is world.initial


# A playthrough to read

PLAY = """\
kr a1 dr gb a2 gr

left | left
a1 .. dr a2 .. gr

pickup key1 | pickup gem1
a1 .. dr a2 .. gr

right | right
.. a1 dr .. a2 gr

unlock door1 with key1 | right
.. a1 .. .. .. a2

right | pickup gem2
.. .. a1 .. .. a2

right | left
.. .. .. a1 a2 ..

left | handover gem1 to Ana
.. .. a1 .. a2 ..

right | stay
.. .. .. a1 a2 ..

stay | handover gem1 to Ana
.. .. .. a1 a2 ..
"""


def test_golden_playthrough() -> None:
    first, *rounds = PLAY.strip().split("\n\n")
    world = world_of(first)
    state, drawn = world.initial, [draw_text(world, world.initial)]
    for words, _, _ in (step.partition("\n") for step in rounds):
        assert not world.done(state)
        joint = (world.vocabulary[part.strip()] for part in words.split("|"))
        state = world.step(state, dict(zip(world.agents, joint, strict=True)))
        drawn.append(f"{words}\n{draw_text(world, state)}")
    assert "\n\n".join(drawn) + "\n" == PLAY
    assert world.done(state)
    assert state.items == (USED, 0, 1)


# What holds of every world


@pytest.mark.slow
@given(moments(some))
def test_what_is_not_listed_cannot_be_done(moment: Moment) -> None:
    world, state = moment
    for i in range(len(world.agents)):
        options = list(world.options(state, i))
        assert len(options) == len(set(options))
        assert set(options) <= set(world.vocabulary.values())
        for action in set(world.vocabulary.values()).difference(options):
            with pytest.raises(InvalidActionError, match="cannot"):
                world.apply(state, i, action)


@pytest.mark.slow
@given(moments(some))
def test_who_may_act_has_all_options_and_the_others_stay(moment: Moment) -> None:
    world, state = moment
    for i, name in enumerate(world.agents):
        mine = world.turns == "simultaneous" or state.turn == i
        assert world.actions(state, name) == (tuple(world.options(state, i)) if mine else (STAY,))


@pytest.mark.slow
@given(some)
def test_words_and_actions_are_inverse(world: DoorsKeysGems) -> None:
    assert {world.spell(action): action for action in world.vocabulary.values()} == world.vocabulary
    assert len(set(world.vocabulary.values())) == len(world.vocabulary)


@pytest.mark.slow
@given(plays(some, steps=25))
def test_what_no_play_can_break(play: Playthrough) -> None:
    world, happened = play
    keys = len(world.keys)
    for step in happened:
        before, then = step.state, step.after
        assert then.locked & ~before.locked == 0
        opened = (before.locked ^ then.locked).bit_count()
        assert sum(then.items[k] == USED != before.items[k] for k in range(keys)) == opened
        assert all(holder != USED for holder in then.items[keys:])
        for was, now in zip(before.items, then.items, strict=True):
            assert now != GROUND or was == GROUND
            assert was != USED or now == USED
            assert now in (GROUND, USED, *range(len(world.agents)))
        for was, now in zip(before.cells, then.cells, strict=True):
            assert world.passable(now, then.locked)
            assert was == now or world.grid.adjacent(was, now)


@pytest.mark.slow
@given(plays(some))
def test_a_step_is_everybody_acting_in_turn(play: Playthrough) -> None:
    world, happened = play
    for step in happened:
        state = step.state
        for i in world.movers(state):
            action = step.joint[world.agents[i]]
            if action in world.options(state, i):
                state = world.apply(state, i, action)
        turns = world.turns == "alternating"
        assert step.after == state._replace(turn=(state.turn + 1) % len(world.agents) if turns else 0)


@pytest.mark.slow
@given(plays(worlds(agents=(2, 3), forbid=True)))
def test_nobody_ever_holds_what_is_forbidden_to_them(play: Playthrough) -> None:
    world, happened = play
    for step in happened:
        assert not {(holder, item) for item, holder in enumerate(step.after.items)} & world.forbidden

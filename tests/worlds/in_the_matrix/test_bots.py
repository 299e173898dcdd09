"""What a body does in tiny maps: gather, go around, meet, shoot and turn; and what it remembers of whom."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from matrix_worlds import PAPER, ROCK, play, scene, world_of
from otherminds.distribution import Categorical
from otherminds.world import rollout
from otherminds.worlds.avatars import ACTIONS, Action
from otherminds.worlds.in_the_matrix.bots import ORDINARY, MatrixBot, Skill
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, Inventory, Meeting
from otherminds.worlds.in_the_matrix.rules import MatrixState as Scene
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    CounterPrevious,
    FollowUp,
    Script,
    Strategy,
    StrategyState,
    TitForTat,
    specialist,
)
from otherminds.worlds.in_the_matrix.world import InTheMatrix

PERFECT = Skill()
EAGER = Skill(eager=True)
WATCHFUL = Skill(watchful=True)
NOTHING = (1, 1, 1)
PAPERS: Strategy = specialist(Aim(1, 5))
ROCKS: Strategy = specialist(Aim(0, 5))
REPLIES = CounterPrevious((Aim(1, 5), Aim(2, 5), Aim(0, 5)))
YARD = """
WWWWWWWWWWW
Wn       nW
W         W
W         W
W         W
W         W
W         W
W         W
W         W
Wn       rW
WWWWWWWWWWW
"""


def watching(
    world: InTheMatrix,
    states: Sequence[Scene],
    strategy: Strategy = ROCKS,
    skill: Skill = PERFECT,
    agent: str = "player_0",
) -> MatrixBot:
    """A mind that has seen these states."""
    mind = MatrixBot.initial(world, agent, strategy, np.random.default_rng(0), skill)
    for state in states:
        mind = mind.observe(world.observe(state, agent))
    return mind


def does(world: InTheMatrix, state: Scene, strategy: Strategy = ROCKS, skill: Skill = PERFECT) -> Action:
    """The one thing that a body without slips does at once."""
    ((action, p),) = watching(world, [state], strategy, skill).act()
    assert p == 1.0
    return action


def bare(state: Scene, *sites: int) -> Scene:
    """The state without the resources of some sites."""
    shown = state.shown
    for site in sites:
        shown &= ~(1 << site)
    return state._replace(shown=shown, away=(*state.away, *((site, state.t) for site in sites)))


def walked(world: InTheMatrix, state: Scene, mind: MatrixBot, steps: int) -> list[Scene]:
    """What comes of a body's most likely actions while the other player stands still."""
    states = [state]
    for _ in range(steps):
        states.append(play(world, states[-1], mind.act().mode))
        mind = mind.observe(world.observe(states[-1], "player_0"))
    return states


def places(world: InTheMatrix, states: Sequence[Scene]) -> list[tuple[int, int]]:
    return [world.rules.field.grid.xy(state.cells[0]) for state in states]


# Gather


@pytest.mark.parametrize(
    ("arrow", "action"), [("^", "step_left"), (">", "backward"), ("v", "step_right"), ("<", "forward")]
)
def test_it_goes_to_the_nearest_of_its_kind_whatever_it_faces(arrow: str, action: Action) -> None:
    world = world_of("WWWWWWWWWWW\nWr   n  rpW\nWnWWWWWWWWW\nWWWWWWWWWWW")
    assert does(world, scene(world, f"4 1 {arrow}", "1 2 v")) == action


def test_it_is_the_way_that_counts_and_not_the_distance() -> None:
    world = world_of("WWWWWWWWW\nWr Wn  rW\nW WWWWWWW\nWn      W\nWWWWWWWWW")
    assert does(world, scene(world, "4 1 ^", "1 3 v")) == "step_right"


BETWEEN = "WWWWWWW\nWn    W\nW WpW W\nW WrW W\nWn    W\nWWWWWWW"


@pytest.mark.parametrize(("detour", "through"), [(0.0, True), (5.5, True), (6.5, False), (50.0, False)])
def test_it_goes_six_steps_around_what_it_does_not_want_if_told_so(detour: float, through: bool) -> None:
    world = world_of(BETWEEN)
    start = scene(world, "3 1 v", "1 4 ^")
    mind = watching(world, [start], skill=Skill(detour=detour))
    found = walked(world, start, mind, 10)[-1].inventories[0]
    assert (found[1] > 1) == through
    assert found[0] == 2


def test_what_is_gone_is_no_reason_to_go_around() -> None:
    world = world_of(BETWEEN)
    assert does(world, bare(scene(world, "3 1 v", "1 4 ^"), 0), skill=Skill(detour=50)) == "forward"


@pytest.mark.parametrize(("far", "action"), [(4, "turn_right"), (10, "turn_right"), (12, "turn_left")])
def test_not_to_know_a_kind_is_worth_eight_steps(far: int, action: Action) -> None:
    wall = "W" * (far + 6)
    world = world_of(f"{wall}\nWa  n{' ' * (far - 1)}rW\nWWWWn{wall[5:]}\n{wall}")
    assert does(world, scene(world, "4 1 ^", "4 2 v"), skill=Skill(detour=0)) == action


@pytest.mark.slow
def test_it_steps_off_the_only_source_there_is_so_that_it_can_regrow() -> None:
    world = world_of("WWWWWWW\nWn  rnW\nWWWWWWW")
    rng = np.random.default_rng(0)
    minds = {world.agents[0]: MatrixBot.initial(world, world.agents[0], ROCKS, rng, PERFECT)}
    minds[world.agents[1]] = MatrixBot.initial(world, world.agents[1], PAPERS, rng, PERFECT)
    start = scene(world, "3 1 >", "1 1 >")
    *_, last = rollout(world, minds, steps=400, rng=rng, state=start)
    assert last.after.inventories[0][0] > 2


def test_it_does_not_wait_on_a_cell_where_nothing_can_regrow() -> None:
    world = world_of("WWWWWWW\nWr  rnW\nWWWWWnW\nWWWWWWW")
    assert does(world, bare(scene(world, "4 1 <", "5 2 v"), 0, 1)) == "forward"


def test_it_takes_what_is_there_before_it_waits_for_what_is_not() -> None:
    world = world_of("WWWWWWWWWWWWW\nWrr  n    r W\nWnWWWWWWWWWWW\nWWWWWWWWWWWWW")
    start = scene(world, "4 1 <", "1 2 v")
    assert does(world, bare(start, 1)) == "forward"
    assert walked(world, bare(start, 0, 1), watching(world, [bare(start, 0, 1)]), 9)[-1].inventories[0] == (2, 1, 1)


@pytest.mark.parametrize(
    ("ago", "far", "action"),
    [
        (5, 52, "turn_right"),
        (5, 54, "turn_left"),
        (65, 17, "turn_right"),
        (65, 18, "turn_left"),
        (200, 3, "step_right"),
        (200, 5, "turn_left"),
    ],
)
def test_the_longer_something_has_been_away_the_more_it_is_worth_a_look(ago: int, far: int, action: Action) -> None:
    """40 · 0.98^late and what is left of 15 steps of delay, on top of a way of three steps."""
    wall = "W" * (far + 6)
    world = world_of(f"{wall}\nWr  n{' ' * (far - 1)}rW\nWWWWn{wall[5:]}\n{wall}")
    seen = bare(scene(world, "4 1 <", "4 2 v"), 0)
    now = bare(scene(world, "4 1 ^", "4 2 v"), 0)._replace(t=ago)
    assert watching(world, [seen, now]).act().mode == action


@pytest.mark.parametrize(("west", "east", "action"), [(0, 9, "forward"), (9, 0, "turn_right"), (19, 0, "turn_right")])
def test_it_waits_where_something_has_been_away_for_longest(west: int, east: int, action: Action) -> None:
    world = world_of("WWWWWWWWWWW\nWr   n   rW\nWWWWWnWWWWW\nWWWWWWWWWWW")
    there = bare(scene(world, "4 1 <", "5 2 v"), 0)._replace(t=west)
    here = bare(scene(world, "6 1 >", "5 2 v"), 1)._replace(t=east)
    now = bare(scene(world, "5 1 <", "5 2 v"), 0, 1)._replace(t=20)
    states = sorted([there, here], key=lambda state: state.t)
    assert watching(world, [*states, now]).act().mode == action


@pytest.mark.parametrize(
    ("start", "action"),
    [
        ("4 1 ^", "turn_right"),
        ("4 1 v", "turn_left"),
        ("4 1 <", "turn_right"),
        ("4 1 >", "forward"),
        ("6 1 ^", "step_right"),
        ("6 1 <", "backward"),
    ],
)
def test_it_faces_what_is_out_of_sight_unless_that_is_near(start: str, action: Action) -> None:
    world = world_of("WWWWWWWWWWW\nWn       rW\nWnWWWWWWWWW\nWWWWWWWWWWW")
    assert does(world, scene(world, start, "1 2 v")) == action


def test_somebody_in_the_way_is_walked_around_where_there_is_room() -> None:
    wide = world_of("WWWWWW\nWn   W\nW   rW\nWn   W\nWWWWWW")
    assert does(wide, scene(wide, "2 2 >", "3 2 >")) in ("step_left", "step_right")
    ring = world_of(BETWEEN)
    assert does(ring, bare(scene(ring, "3 1 v", "3 2 ^"), 0)) == "forward"
    narrow = world_of("WWWWWW\nWnn rW\nWWWWWW")
    assert does(narrow, scene(narrow, "1 1 >", "2 1 >")) == "forward"


# Meet

FORWARD, RIGHT = ((0, -1), (1, 0), (0, 1), (-1, 0)), ((1, 0), (0, 1), (-1, 0), (0, -1))
WINDOW = [(x, y) for x in range(2, 7) for y in range(3, 8) if (x, y) != (4, 6)]


def footprint(x: int, y: int, facing: int) -> set[tuple[int, int]]:
    """The nine cells of a beam in the open."""
    (ax, ay), (rx, ry) = FORWARD[facing], RIGHT[facing]
    centre = {(x + n * ax, y + n * ay) for n in (1, 2, 3)}
    return centre | {(x + n * ax + side * rx, y + n * ay + side * ry) for n in range(3) for side in (-1, 1)}


@pytest.mark.parametrize("other", WINDOW)
def test_it_shoots_at_whom_the_beam_reaches_turns_if_that_helps_and_else_goes_there(other: tuple[int, int]) -> None:
    world = world_of(YARD)
    start = scene(world, "4 6 ^", "{} {} <".format(*other), held=(PAPER, ROCK))
    turns = [turn for facing, turn in ((1, "turn_right"), (3, "turn_left")) if other in footprint(4, 6, facing)]
    if other in footprint(4, 6, 0):
        assert does(world, start, PAPERS) == "interact"
    elif turns:
        assert does(world, start, PAPERS) == turns[0]
    elif other in footprint(4, 6, 2):
        assert does(world, start, PAPERS) == "turn_right"
    else:
        assert does(world, start, PAPERS) in ("forward", "step_left", "step_right", "backward")
    states = walked(world, start, watching(world, [start], PAPERS), 4)
    assert [state.met[0] for state in states if state.met[0]] == [(PAPER, ROCK)]
    assert sum(state.cooldowns[0] == 2 and before.cooldowns[0] == 0 for before, state in pairwise(states)) == 1


BEFORE = ("4 5 ^", "4 3 <")


@pytest.mark.parametrize("cooldown", [1, 2])
def test_it_never_shoots_while_the_beam_cools_down(cooldown: int) -> None:
    world = world_of(YARD)
    state = scene(world, *BEFORE, held=(PAPER, ROCK))._replace(cooldowns=(cooldown, 0))
    assert does(world, state, PAPERS) == "noop"
    assert does(world, state._replace(cooldowns=(0, cooldown)), PAPERS) == "interact"


def test_it_does_not_shoot_at_somebody_unready_but_waits_before_them() -> None:
    world = world_of(YARD)
    assert does(world, scene(world, *BEFORE, held=(PAPER, NOTHING)), PAPERS) == "noop"


def test_it_does_not_shoot_at_somebody_frozen_or_wait_for_them() -> None:
    world = world_of(YARD)
    state = scene(world, *BEFORE, held=(PAPER, ROCK))._replace(clocks=(FREE, 3))
    assert does(world, state, PAPERS) not in ("interact", "noop")


def test_a_resource_in_the_beam_is_not_shot_at() -> None:
    world = world_of("WWWWWWW\nWn r nW\nWWWWWWW")
    state = scene(world, "2 1 >", "4 1 <", held=(PAPER, ROCK))
    assert does(world, state, PAPERS) == "forward"
    assert does(world, bare(state, 0), PAPERS) == "interact"


@pytest.mark.parametrize(
    ("held", "skill", "action"),
    [
        ((5, 1, 1), PERFECT, "forward"),
        ((6, 1, 1), PERFECT, "interact"),
        ((7, 3, 1), PERFECT, "forward"),
        ((7, 2, 1), PERFECT, "interact"),
        ((2, 1, 1), EAGER, "interact"),
        ((2, 2, 1), EAGER, "forward"),
        ((1, 6, 1), EAGER, "forward"),
        ((1, 6, 1), PERFECT, "forward"),
        ((1, 1, 1), EAGER, "forward"),
    ],
)
def test_it_meets_others_once_its_kind_leads_by_the_margin_or_at_all_if_eager(
    held: tuple[int, int, int], skill: Skill, action: Action
) -> None:
    world = world_of(YARD)
    assert does(world, scene(world, "8 9 >", "9 8 <", held=(held, PAPER)), ROCKS, skill) == action


def test_one_who_sees_what_is_far_behind_turns_around_to_shoot() -> None:
    world = dataclasses.replace(world_of(YARD), all_seeing=frozenset({"player_0"}))
    start = scene(world, "4 5 ^", "4 8 <", held=(PAPER, ROCK))
    states = walked(world, start, watching(world, [start], PAPERS), 3)
    assert [state.facings[0] for state in states] == [0, 1, 2, 2]
    assert states[-1].met[0] == (PAPER, ROCK)


def test_it_does_not_turn_to_shoot_at_whom_it_only_remembers_but_goes_there() -> None:
    world = world_of(YARD)
    seen, turned = (scene(world, f"4 6 {arrow}", "4 8 ^", held=(PAPER, ROCK)) for arrow in "v^")
    assert watching(world, [seen, turned._replace(t=1)], PAPERS).act().mode == "backward"


def test_it_is_not_itself_whom_it_meets() -> None:
    world = world_of(YARD)
    state = scene(world, "4 3 <", "4 5 ^", held=(ROCK, PAPER))
    assert watching(world, [state], PAPERS, agent="player_1").act().mode == "interact"


LANE = "WWWWWWWWWWWWW\nWn          W\nWn         sW\nWWWWWWWWWWWWW"


@pytest.mark.parametrize(("later", "action"), [(1, "turn_left"), (25, "turn_left"), (26, "turn_right")])
def test_it_goes_to_where_somebody_was_seen_lately_and_else_looks_elsewhere(later: int, action: Action) -> None:
    world = world_of(LANE)
    seen = scene(world, "6 1 <", "3 1 >", held=(PAPER, ROCK))
    then = scene(world, "7 1 ^", "1 2 >", held=(PAPER, ROCK))._replace(t=later)
    assert watching(world, [seen, then], PAPERS).act().mode == action


def test_it_would_rather_meet_somebody_who_is_ready() -> None:
    world = world_of("WWWWWWWWWWWWWWW\nWn           nW\nWn           sW\nWWWWWWWWWWWWWWW", players=3)
    held = (PAPER, NOTHING, ROCK)
    first = scene(world, "4 1 <", "1 1 >", "11 1 <", held=held)
    second = scene(world, "7 1 >", "1 1 >", "10 1 <", held=held)._replace(t=1)
    third = scene(world, "6 1 v", "1 1 >", "10 1 <", held=held)._replace(t=2)
    assert watching(world, [first, second], PAPERS).act().mode == "interact"
    assert watching(world, [first, second, third], PAPERS).act().mode == "turn_left"
    unready = [state._replace(inventories=(PAPER, ROCK, NOTHING)) for state in (first, second, third)]
    assert watching(world, unready, PAPERS).act().mode == "turn_right"


def test_it_goes_to_where_somebody_was_seen_last() -> None:
    world = world_of("WWWWWWWWWWWWWWW\nWn           nW\nWn           sW\nWWWWWWWWWWWWWWW", players=3)
    others, held = ("3 1 >", "11 1 <"), (PAPER, ROCK, ROCK)
    first, second, third = (scene(world, me, *others, held=held) for me in ("6 1 <", "8 1 >", "6 1 ^"))
    mind = watching(world, [first, second._replace(t=9), third._replace(t=10)], PAPERS)
    assert mind.act().mode == "turn_right"


def test_whom_it_goes_to_is_not_in_its_way() -> None:
    world = world_of(YARD, players=3)
    held = (PAPER, ROCK, ROCK)
    first = scene(world, "4 6 v", "9 9 >", "4 9 ^", held=held)
    second = scene(world, "4 4 ^", "2 1 >", "4 9 ^", held=held)._replace(t=1)
    assert watching(world, [first, second], PAPERS).act().mode in ("forward", "step_left")


@pytest.mark.parametrize(("t", "action"), [(0, "forward"), (20, "turn_right")])
def test_with_nobody_in_mind_it_looks_where_it_has_not_looked_for_long(t: int, action: Action) -> None:
    world = world_of("WWWWWWWWWWWWWW\nWp   n     p W\nWWWWWWWWWWWnWW\nWWWWWWWWWWWWWW")
    state = scene(world, "4 1 <", "11 2 v", held=(PAPER,))._replace(t=t)
    assert does(world, state, PAPERS) == action


@pytest.mark.parametrize(("looked", "action"), [(50, "turn_right"), (39, "step_left")])
def test_after_sixty_steps_it_does_not_matter_for_how_long_it_has_not_looked(looked: int, action: Action) -> None:
    world = world_of("WWWWWWWWWWW\nWp  n    pW\nWWWWWWWnWWW\nWWWWWWWWWWW")
    states = [scene(world, f"4 1 {arrow}", "7 2 v", held=(PAPER,)) for arrow in "<^"]
    mind = watching(world, [states[0]._replace(t=looked), states[1]._replace(t=100)], PAPERS)
    assert mind.act().mode == action


# Hands


@pytest.mark.parametrize("clock", [0, 16, 17, 22])
def test_it_stays_put_when_frozen_and_when_dead(clock: int) -> None:
    world = world_of(YARD)
    state = scene(world, *BEFORE, held=(PAPER, ROCK))._replace(clocks=(clock, FREE))
    cells = (NOWHERE if clock > 16 else state.cells[0], state.cells[1])
    assert does(world, state._replace(cells=cells), PAPERS) == "noop"
    assert does(world, state._replace(cells=cells), ROCKS) == "noop"


@pytest.mark.parametrize(("slips", "pauses"), [(0.2, 0.3), (0.16, 0.0), (0.0, 0.25), (1.0, 0.0)])
def test_slips_are_any_action_and_pauses_none(slips: float, pauses: float) -> None:
    world = world_of("WWWWWWWWWWW\nWn       rW\nWnWWWWWWWWW\nWWWWWWWWWWW")
    found = watching(world, [scene(world, "4 1 >", "1 2 v")], skill=Skill(slips=slips, pauses=pauses)).act()
    for action in ACTIONS:
        share = slips / 8 + (1 - slips - pauses) * (action == "forward") + pauses * (action == "noop")
        assert found.prob(action) == pytest.approx(share)


def test_pauses_add_to_a_rest_that_is_meant() -> None:
    world = world_of(YARD)
    state = scene(world, *BEFORE, held=(PAPER, ROCK))._replace(cooldowns=(1, 0))
    found = watching(world, [state], PAPERS, Skill(slips=0.08, pauses=0.1)).act()
    assert dict(found) == pytest.approx({action: 0.93 if action == "noop" else 0.01 for action in ACTIONS})


NARROW = "WWWWWWW\nWnn  rW\nWWWWWWW"


def test_it_steps_aside_now_and_then_when_somebody_is_in_the_way() -> None:
    world = world_of(NARROW)
    start = scene(world, "1 1 >", "2 1 >")
    blocked = play(world, start, "forward")
    assert blocked.cells == start.cells
    mind = watching(world, [start, blocked])
    assert dict(mind.act()) == pytest.approx({"forward": 0.7, "backward": 0.1, "step_left": 0.1, "step_right": 0.1})
    clumsy = watching(world, [start, blocked], skill=Skill(slips=0.08, pauses=0.12)).act()
    assert clumsy.prob("forward") == pytest.approx(0.01 + 0.8 * 0.7)
    assert clumsy.prob("backward") == pytest.approx(0.01 + 0.8 * 0.1)
    assert clumsy.prob("noop") == pytest.approx(0.01 + 0.12)
    freed = play(world, blocked._replace(cells=(blocked.cells[0], blocked.cells[1] + 1)), "forward")
    assert dict(mind.observe(world.observe(freed, "player_0")).act()) == {"forward": 1.0}


def test_who_turns_rests_or_is_hit_is_not_stuck() -> None:
    world = world_of("WWWWWWWWWWW\nWn       rW\nWnWWWWWWWWW\nWWWWWWWWWWW")
    away = scene(world, "4 1 <", "1 2 v")
    assert dict(watching(world, [away, play(world, away, "turn_right")]).act()) == {"turn_right": 1.0}
    assert dict(watching(world, [away, play(world, away, "forward")]).act()) == {"turn_right": 1.0}
    start = scene(world, "4 1 >", "1 2 v")
    hit = start._replace(clocks=(0, FREE), t=1)
    assert dict(watching(world, [start, hit]).act()) == {"noop": 1.0}
    back = scene(world, "2 1 >", "1 2 v")._replace(t=23)
    assert dict(watching(world, [start, hit, back]).act()) == {"forward": 1.0}


# Minds


def test_observing_makes_a_new_mind_and_the_old_one_acts_as_before() -> None:
    world = world_of(YARD)
    start = scene(world, *BEFORE, held=(PAPER, ROCK))
    met = play(world, start, "interact")
    mind, twin = (watching(world, [start], FollowUp(Aim(1, 5), (Aim(2, 5),) * 3)) for _ in range(2))
    later = mind.observe(world.observe(met, "player_0"))
    assert mind == twin != later
    assert hash(mind) == hash(twin)
    assert dict(mind.act()) == {"interact": 1.0}
    assert dict(later.act()) == {"noop": 1.0}
    assert (mind.state.aim.kind, later.state.aim.kind) == (1, 2)
    assert later == mind.observe(world.observe(met, "player_0"))


@dataclass(frozen=True, eq=False)
class Listener:
    """A rock specialist that writes down what it is told."""

    told: list[Meeting] = field(default_factory=list)

    def start(self) -> Categorical[StrategyState]:
        return Categorical.uniform([StrategyState(Aim(0, 2))])

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        self.told.append((own, partner))
        return Categorical.uniform([state])


@pytest.mark.slow
def test_a_strategy_is_told_of_each_meeting_once_with_its_own_inventory_first() -> None:
    world, rng = in_the_matrix("rws_arena"), np.random.default_rng(3)
    ears = {agent: Listener() for agent in world.agents}
    minds = {agent: MatrixBot.initial(world, agent, ear, rng, PERFECT) for agent, ear in ears.items()}
    happened: dict[str, list[Meeting]] = {agent: [] for agent in world.agents}
    for step in rollout(world, minds, steps=250, rng=rng):
        for agent, met in zip(world.agents, step.after.met, strict=True):
            happened[agent] += [met] if met else []
    assert {agent: ear.told for agent, ear in ears.items()} == happened
    assert sum(map(len, happened.values())) >= 8


@pytest.mark.slow
def test_every_shot_of_a_perfect_body_is_at_somebody_ready_with_the_margin_reached() -> None:
    world, rng, shots = in_the_matrix("rws_repeated"), np.random.default_rng(5), 0
    minds = {agent: MatrixBot.initial(world, agent, ROCKS, rng, PERFECT) for agent in world.agents}
    for step in rollout(world, minds, steps=400, rng=rng):
        for i in [i for i, agent in enumerate(world.agents) if step.joint[agent] == "interact"]:
            state, other = step.state, 1 - i
            shots += 1
            assert state.cooldowns[i] == 0
            assert state.clocks[other] == FREE
            assert state.inventories[other] != NOTHING
            assert state.inventories[i][0] - max(state.inventories[i][1:]) >= 5
            beam = world.rules.beams[state.cells[i] * 4 + state.facings[i]]
            assert any(state.cells[other] in line for line in beam)
    assert shots >= 4


def test_one_who_sees_everything_goes_straight_to_what_others_do_not_know_of() -> None:
    world = world_of("WWWWWWWWWWWWWWWW\nWa   n        aW\nWnWWWWWWWWWWWWWW\nWWWWWWWWWWWWWWWW")
    start = scene(world, "5 1 >", "1 2 v")._replace(kinds=(1, 0))
    seer = dataclasses.replace(world, all_seeing=frozenset({"player_0"}))
    path = walked(seer, start, watching(seer, [start]), 9)
    assert places(seer, path) == [(x, 1) for x in range(5, 15)]
    assert path[-1].inventories[0] == (2, 1, 1)
    assert watching(world, [start]).act().mode != "forward"


ROOM = """
WWWWWWWWW
Wn     nW
W rr  ppW
W       W
W  s s  W
Wn     nW
WWWWWWWWW
"""


def taken_first(world: InTheMatrix, states: Sequence[Scene], skill: Skill, strategy: Strategy = REPLIES) -> int:
    """The kind of the first resource that somebody picks up who has seen this, and would like rock best."""
    mind = watching(world, states[:1], strategy, skill)
    mind = dataclasses.replace(mind, state=StrategyState(Aim(0, 5)))
    for state in states[1:]:
        mind = mind.observe(world.observe(state, "player_0"))
    before = states[-1].inventories[0]
    after = walked(world, states[-1], mind, 12)
    final = next(state.inventories[0] for state in after if state.inventories[0] != before)
    return next(kind for kind in range(3) if final[kind] > before[kind])


def test_a_scout_answers_what_others_took_most() -> None:
    world = world_of(ROOM)
    start = scene(world, "4 4 ^", "7 5 <")
    rocks, scissors = (0, 1), (4, 5)
    assert taken_first(world, [start, bare(start, *rocks)], WATCHFUL) == 1
    assert taken_first(world, [start, bare(start, rocks[0], *scissors)], WATCHFUL) == 0
    assert taken_first(world, [start, start], WATCHFUL) == 0
    assert taken_first(world, [start, bare(start, rocks[0], scissors[0])], WATCHFUL) == 0
    assert taken_first(world, [start, bare(start, rocks[0])], PERFECT) == 0
    assert taken_first(world, [start, bare(start, rocks[0])], WATCHFUL, Script((Aim(0, 5),))) == 0


def test_a_scout_does_not_guess_what_others_took_where_it_never_saw_anything() -> None:
    world = world_of(ROOM.replace("s s", "a a"))
    start = bare(scene(world, "4 4 ^", "7 5 <"), 0, 4, 5)
    assert taken_first(world, [start, start], WATCHFUL) == 1


def test_a_scout_does_not_answer_what_it_took_itself() -> None:
    world = world_of(ROOM)
    start = scene(world, "3 3 ^", "7 5 <")
    own = play(world, start, "forward")
    assert own.inventories[0] == (2, 1, 1)
    assert taken_first(world, [start, own], WATCHFUL) == 0
    theirs = scene(world, "3 3 ^", "3 2 <")
    assert taken_first(world, [start, bare(theirs, 1)], WATCHFUL) == 1


@pytest.mark.slow
def test_a_seed_fixes_a_trajectory() -> None:
    world = in_the_matrix("pd_repeated")

    def once(seed: int) -> list[Scene]:
        rng = np.random.default_rng(seed)
        strategy = CounterPrevious((Aim(0, 2), Aim(1, 2)))
        minds = {agent: MatrixBot.initial(world, agent, strategy, rng, ORDINARY) for agent in world.agents}
        return [step.after for step in rollout(world, minds, steps=80, rng=rng)]

    assert once(1) == once(1) != once(2)


@pytest.mark.slow
def test_chance_decides_each_choice_of_a_strategy_anew() -> None:
    """A tremble of one half: eight histories of three choices, all as likely."""
    world, rng, found = world_of(YARD), np.random.default_rng(8), Counter[tuple[int, ...]]()
    view = world.observe(scene(world, *BEFORE), "player_0")._replace(met=(PAPER, ROCK))
    for _ in range(800):
        minds = [MatrixBot.initial(world, "player_0", TitForTat(Aim(0, 1), Aim(1, 1), 0.5), rng)]
        for _ in range(2):
            minds.append(minds[-1].observe(view))
        found[tuple(mind.state.aim.kind for mind in minds)] += 1
    assert len(found) == 8
    assert all(60 <= often <= 140 for often in found.values())


# Strategies of calibration


def played(strategy: Strategy, meetings: Sequence[Meeting]) -> list[Aim]:
    """The aims before and after each meeting, all of them certain."""
    ((state, _),) = strategy.start()
    aims = [state.aim]
    for own, partner in meetings:
        ((state, p),) = strategy.update(state, own, partner)
        assert p == 1.0
        aims.append(state.aim)
    return aims


SCISSORS, TIE = (1, 1, 6), (3, 3, 1)


def test_a_follow_up_goes_by_what_it_played_itself_and_ignores_ties() -> None:
    after = (Aim(2, 5), Aim(0, 4), Aim(1, 3))
    rows = [(ROCK, PAPER), (SCISSORS, ROCK), (TIE, ROCK), (PAPER, PAPER), (ROCK, TIE)]
    assert played(FollowUp(Aim(0, 9), after), rows) == [Aim(0, 9), after[0], after[2], after[2], after[1], after[0]]


def test_a_script_goes_on_whatever_happens_and_keeps_to_its_last_aim() -> None:
    aims = (Aim(1, 5), Aim(0, 5), Aim(2, 3))
    for row in [(ROCK, PAPER), (TIE, TIE)]:
        assert played(Script(aims), [row] * 4) == [*aims, aims[2], aims[2]]
        assert played(Script(aims[:1]), [row] * 2) == [aims[0]] * 3
    with pytest.raises(ValueError, match="0 aims"):
        Script(())


def test_a_script_that_has_ended_does_not_change_any_more() -> None:
    ((state, _),) = Script((Aim(1, 5), Aim(0, 5))).start()
    ends = []
    for _ in range(4):
        ((state, _),) = Script((Aim(1, 5), Aim(0, 5))).update(state, ROCK, ROCK)
        ends.append(state)
    assert len(set(ends)) == 1

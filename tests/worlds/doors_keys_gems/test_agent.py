"""Seekers against brute force: costs, policies, waiting for help, and inference from their actions."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.distribution import Categorical
from otherminds.observer import Observer, replay
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import GROUND, STAY, Action, DoorsKeysGems, State
from strategies import (
    BOTH,
    PICTURES,
    Alone,
    Picture,
    Xy,
    deed,
    generator,
    goals_of,
    holds,
    moments,
    plays,
    world_of,
    worlds,
)

Moment = tuple[DoorsKeysGems, State]
Play = tuple[DoorsKeysGems, tuple[Step[State, Action], ...]]

some = worlds(sides=(2, 5), agents=(1, 2), keys=(0, 2), doors=(0, 2), gems=(1, 2), forbid=True)
wide = worlds(sides=(2, 6), agents=(1, 2), turns=BOTH, forbid=True)


def seeker(world: DoorsKeysGems, goal: Goal, i: int = 0, *, beta: float = math.inf, lapse: float = 0.0) -> Seeker:
    return Seeker(DoorsKeysGemsPlanner(world), i, goal, beta, lapse)


def chances(world: DoorsKeysGems, p: Categorical[Action]) -> dict[str, float]:
    return {world.spell(action): chance for action, chance in p}


# Costs are those of trying everything


@pytest.mark.slow
@settings(max_examples=25)
@given(moments(some, steps=5))
def test_costs_and_action_costs_are_those_of_breadth_first_search_in_the_world(moment: Moment) -> None:
    world, state = moment
    plans = DoorsKeysGemsPlanner(world)
    for i in range(len(world.agents)):
        alone = Alone(world, i, state)
        for goal in goals_of(world):
            steps = alone.costs(goal)
            for reached in list(alone.before)[::5]:
                check_costs(plans, reached, i, goal, steps)


def check_costs(plans: DoorsKeysGemsPlanner, state: State, i: int, goal: Goal, steps: dict[State, int]) -> None:
    """V is exact, and so is every Q of a goal within reach: 1 + V of the state that follows."""
    world = plans.world
    cost = steps.get(state, UNREACHABLE)
    assert min(plans.cost(state, i, goal), UNREACHABLE) == cost
    assert plans.settled(state, i, goal) == (cost in (0, UNREACHABLE))
    assert plans.achieved(state, i, goal) == holds(world, state, i, goal)
    if 0 < cost < UNREACHABLE:
        found = plans.action_costs(state, i, goal)
        expected = {a: 1 + steps.get(world.apply(state, i, a), UNREACHABLE) for a in world.options(state, i)}
        assert {a: min(q, 1 + UNREACHABLE) for a, q in found.items()} == expected


@pytest.mark.slow
@given(moments(wide), st.integers(0, 9))
def test_a_lone_agent_takes_exactly_as_many_steps_as_its_goal_costs(moment: Moment, seed: int) -> None:
    world, state = moment
    world = replace(world, turns="simultaneous")
    rng, plans = generator(seed), DoorsKeysGemsPlanner(world)
    for goal in goals_of(world):
        cost = plans.cost(state, 0, goal)
        by_seeker = by_heads = state
        mind = Seeker(plans, 0, goal, math.inf, 0.0)
        for _ in range(cost if cost < UNREACHABLE else 0):
            assert not any(holds(world, reached, 0, goal) for reached in (by_seeker, by_heads))
            by_seeker = world.apply(by_seeker, 0, mind.observe(by_seeker).act().sample(rng))
            head = plans.next_steps(goal, plans.stage_for(by_heads, 0, goal))(by_heads.cells[0])
            by_heads = world.apply(by_heads, 0, deed(world, by_heads, 0, head))
        if cost < UNREACHABLE:
            assert holds(world, by_seeker, 0, goal)
            assert holds(world, by_heads, 0, goal)


@pytest.mark.slow
@given(moments(wide))
def test_distances_on_foot_go_around_locked_doors(moment: Moment) -> None:
    world, state = moment
    plans = DoorsKeysGemsPlanner(world)
    for place in (*state.cells, *(thing.cell for thing in world.items)):
        steps, front = {place: 0}, [place]
        for cell in front:
            for near in world.grid.neighbours[cell]:
                if near not in steps and world.passable(near, state.locked):
                    steps[near] = steps[cell] + 1
                    front.append(near)
        row = plans.map.distances_to(place, state.locked)
        passable = [cell for cell in world.grid.cells() if world.passable(cell, state.locked)]
        assert [row[cell] for cell in passable] == [steps.get(cell, UNREACHABLE) for cell in passable]


@pytest.mark.slow
@given(moments(wide))
def test_no_plan_is_shorter_than_its_bound(moment: Moment) -> None:
    world, state = moment
    plans, goals = DoorsKeysGemsPlanner(world), list(goals_of(world))
    stages, fields = plans.fields(goals, plans.map.stage(state, 0))
    for n, goal in enumerate(goals):
        for stage, costs in zip(stages, fields[n], strict=True):
            bounds = {cell: plans.map.bound(goal, stage, cell) for cell in world.grid.cells()}
            assert all(bound <= costs[cell] for cell, bound in bounds.items() if costs[cell] < UNREACHABLE)


@pytest.mark.slow
@given(moments(some, steps=5))
def test_fields_are_the_costs_in_every_stage_that_can_follow(moment: Moment) -> None:
    world, state = moment
    plans, goals = DoorsKeysGemsPlanner(world), list(goals_of(world))
    stages, fields = plans.fields(goals, plans.map.stage(state, 0))
    assert len(set(stages)) == len(stages)
    alone = Alone(world, 0, state)
    for n, goal in enumerate(goals):
        steps = alone.costs(goal)
        for reached in list(alone.before)[::3]:
            stage = plans.map.stage(reached, 0)
            if stage in stages and not holds(world, reached, 0, goal) and plans.available(reached, 0, goal):
                found = int(fields[n, stages.index(stage), reached.cells[0]])
                assert min(found, UNREACHABLE) == steps.get(reached, UNREACHABLE)


def test_fields_are_for_those_who_count_on_nobody() -> None:
    world = world_of("a1 dr gr")
    plans, goal = DoorsKeysGemsPlanner(world), Goal("gem", 0)
    with pytest.raises(ValueError, match="expect no help"):
        plans.fields([goal], plans.stage_for(world.initial, 0, goal))


def test_a_door_that_nobody_can_stand_next_to_is_out_of_reach() -> None:
    world = world_of("kr a1 ## dr", "gr .. ## ##")
    assert DoorsKeysGemsPlanner(world).cost(world.initial, 0, Goal("door", 0)) >= UNREACHABLE


def test_picking_up_a_gem_on_the_way_does_not_open_the_door_of_the_same_number() -> None:
    world = world_of("kr a1 gr dr")
    state = world.initial._replace(cells=(2,), items=(0, GROUND))
    costs = DoorsKeysGemsPlanner(world).action_costs(state, 0, Goal("door", 0))
    assert costs[Action("unlock", 0, 0)] == 1
    assert costs[Action("pickup", 1)] == 2


# Handing things over


@pytest.mark.parametrize(
    ("row", "costs"),
    [
        ("a1 a2 .. gr kr", {"right": 3, "stay": 2, "handover key1 to Ben": 1}),
        ("a1 .. a2 gr kr", {"right": 2, "stay": 3}),
        ("a1 ## a2 gr kr", {"stay": 1 + UNREACHABLE}),
    ],
    ids=["next to her friend", "a step away", "cut off"],
)
def test_giving_takes_as_many_steps_as_the_friend_is_away(row: str, costs: dict[str, int]) -> None:
    world = world_of(row, goals=(0, 0))
    found = DoorsKeysGemsPlanner(world).action_costs(with_key(world), 0, Goal("give", 0, 1))
    assert {world.spell(a): q for a, q in found.items()} == costs


def test_giving_in_the_same_cell_takes_a_step_to_make_room() -> None:
    world = world_of("a1 a2 gr kr", goals=(0, 0))
    state = with_key(world)._replace(cells=(1, 1))
    plans, goal = DoorsKeysGemsPlanner(world), Goal("give", 0, 1)
    assert plans.cost(state, 0, goal) == 2
    found = {world.spell(a): q for a, q in plans.action_costs(state, 0, goal).items()}
    assert found == {"left": 2, "right": 2, "stay": 3}


def with_key(world: DoorsKeysGems) -> State:
    """The start, but the first agent already holds the key."""
    return world.initial._replace(items=(0, GROUND))


def test_what_is_to_be_given_is_fetched_first() -> None:
    world = world_of("kr a1 a2 gr", goals=(0, 0))
    mind = seeker(world, Goal("give", 0, 1)).observe(world.initial)
    assert chances(world, mind.act())["left"] == 1


@pytest.mark.parametrize(("holder", "over"), [(GROUND, False), (0, False), (1, True), (-2, True), (2, True)])
def test_giving_is_over_when_the_friend_has_it_or_nobody_can_give_it(holder: int, over: bool) -> None:
    world = world_of("kr a1 a2 a3 gr", goals=(0, 0, 0))
    mind = seeker(world, Goal("give", 0, 1)).observe(world.initial._replace(items=(holder, GROUND)))
    assert mind.over == over
    assert mind.planner.achieved(mind.state or world.initial, 0, mind.goal) == (holder in (1, -2))


# Choosing

CORRIDOR = world_of(".. a1 .. gr")


def test_boltzmann_by_hand() -> None:
    mind = seeker(CORRIDOR, Goal("gem", 0), beta=0.5, lapse=0.1).observe(CORRIDOR.initial)
    weights = {"left": math.exp(-0.5 * 5), "right": math.exp(-0.5 * 3), "stay": math.exp(-0.5 * 4)}
    total = sum(weights.values())
    expected = {name: 0.9 * weight / total + 0.1 / 3 for name, weight in weights.items()}
    assert chances(CORRIDOR, mind.act()) == pytest.approx(expected, abs=1e-12)


def test_without_rationality_everything_is_equally_likely() -> None:
    mind = seeker(CORRIDOR, Goal("gem", 0), beta=0.0).observe(CORRIDOR.initial)
    assert chances(CORRIDOR, mind.act()) == pytest.approx(dict.fromkeys(("left", "right", "stay"), 1 / 3))


def test_with_perfect_rationality_only_the_best_is_chosen() -> None:
    world = world_of(".. gr", "a1 ..")
    mind = seeker(world, Goal("gem", 0)).observe(world.initial)
    assert chances(world, mind.act()) == pytest.approx({"up": 0.5, "right": 0.5, "stay": 0})
    assert chances(world, replace(mind, lapse=0.3).act()) == pytest.approx({"up": 0.45, "right": 0.45, "stay": 0.1})


@pytest.mark.parametrize("holder", [0, 1], ids=["has it", "somebody else has it"])
def test_who_has_nothing_left_to_do_waits(holder: int) -> None:
    world = world_of(".. a1 .. gr a2", goals=(0, 0))
    mind = seeker(world, Goal("gem", 0), beta=2.0).observe(world.initial._replace(items=(holder,)))
    weights = {"left": math.exp(-2), "right": math.exp(-2), "stay": 1}
    expected = {name: weight / sum(weights.values()) for name, weight in weights.items()}
    assert chances(world, mind.act()) == pytest.approx(expected)
    assert mind.over


def test_a_mind_that_has_seen_nothing_knows_nothing() -> None:
    mind = seeker(CORRIDOR, Goal("gem", 0))
    with pytest.raises(ValueError, match="must observe something"):
        mind.act()
    with pytest.raises(ValueError, match="must observe something"):
        _ = mind.over


def test_observing_makes_another_mind() -> None:
    mind = seeker(CORRIDOR, Goal("gem", 0))
    seen = mind.observe(CORRIDOR.initial)
    assert (mind.state, seen.state) == (None, CORRIDOR.initial)
    assert seen == mind.observe(CORRIDOR.initial) != mind
    assert len({seen, mind.observe(CORRIDOR.initial), mind}) == 2
    later = CORRIDOR.initial._replace(cells=(2,))
    assert seen.observe(later) == mind.observe(later)


# Hope


def test_a_blocked_agent_walks_to_the_door_that_matters_and_waits_there() -> None:
    world = world_of("db .. a1 .. dr gr")
    plans, state = DoorsKeysGemsPlanner(world), world.initial
    mind = Seeker(plans, 0, Goal("gem", 0), math.inf, 0.0)
    walked = []
    for _ in range(4):
        action = mind.observe(state).act().mode
        walked.append(world.spell(action))
        state = world.apply(state, 0, action)
    assert walked == ["right", "stay", "stay", "stay"]
    assert mind.observe(state).over
    assert plans.next_steps(mind.goal, plans.stage_for(state, 0, mind.goal))(state.cells[0]) == state.cells[0]
    opened = state._replace(locked=0b01)
    assert chances(world, mind.observe(opened).act())["right"] == 1


def test_hope_counts_on_as_few_doors_as_possible() -> None:
    world = world_of("a1 dr .. db gr", ".. ## ## ## ..", ".. .. .. dy ..")
    mind, state = seeker(world, Goal("gem", 0)), world.initial
    for _ in range(10):
        state = world.apply(state, 0, mind.observe(state).act().mode)
    assert world.grid.xy(state.cells[0]) == (2, 2)


@pytest.mark.parametrize(("width", "way"), [(51, "right"), (53, "stay")], ids=["99 steps more", "103 steps more"])
def test_a_door_less_to_wait_for_is_worth_walking_a_hundred_steps(width: int, way: str) -> None:
    there = ["gr dr db a1" + " .." * (width - 4), "dy" + " ##" * (width - 2) + " ..", " ".join([".."] * width)]
    world = world_of(*there)
    mind = seeker(world, Goal("gem", 0)).observe(world.initial)
    assert chances(world, mind.act())[way] == 1


def test_waiting_is_as_good_as_walking_to_a_door_that_is_no_better() -> None:
    world = world_of(".. gr", "dr db", "a1 ..")
    mind = seeker(world, Goal("gem", 0), beta=1.0).observe(world.initial)
    assert chances(world, mind.act()) == pytest.approx({"right": 0.5, "stay": 0.5})


def test_who_hopes_still_opens_the_doors_it_can_open() -> None:
    world = world_of("a1 kr dr .. db gr")
    mind, state, words = seeker(world, Goal("gem", 0)), world.initial, []
    for _ in range(7):
        action = mind.observe(state).act().mode
        words.append(world.spell(action))
        state = world.apply(state, 0, action)
    assert words == ["right", "pickup key1", "unlock door1 with key1", "right", "right", "stay", "stay"]


# The same from scratch: another implementation of the rules, of costs-to-go and of the policy


class Node(NamedTuple):
    """What one agent can change, if everybody else stands still."""

    at: Xy
    items: tuple[int, ...]
    locked: frozenset[int]


class Slow:
    """One agent's best ways by Dijkstra over everything it could do or wish for."""

    def __init__(self, world: DoorsKeysGems, i: int, state: State) -> None:
        grid = world.grid
        self.world, self.i = world, i
        self.floor = {grid.xy(cell) for cell in grid.cells()}
        self.doors = [grid.xy(door.cell) for door in world.doors]
        self.others = {j: grid.xy(cell) for j, cell in enumerate(state.cells) if j != i}
        locked = frozenset(d for d in range(len(self.doors)) if state.locked >> d & 1)
        self.here = Node(grid.xy(state.cells[i]), state.items, locked)
        self.before: dict[Node, list[tuple[Node, int]]] = {self.here: []}
        queue = [self.here]
        for node in queue:
            for after, cost in [*((n, 1) for n in self.options(node).values()), *self.wishes(node)]:
                if after not in self.before:
                    self.before[after] = []
                    queue.append(after)
                self.before[after].append((node, cost))

    def options(self, node: Node) -> dict[Action, Node]:
        """What the rules allow, and what comes of it."""
        (x, y), closed = node.at, {self.doors[d] for d in node.locked}
        ways = {"up": (x, y - 1), "down": (x, y + 1), "left": (x - 1, y), "right": (x + 1, y)}
        found = {
            Action(name): node._replace(at=to) for name, to in ways.items() if to in self.floor and to not in closed
        }
        found[STAY] = node
        for item, thing in enumerate(self.world.items):
            if node.items[item] == -1:
                if self.world.grid.xy(thing.cell) == node.at and (self.i, item) not in self.world.forbidden:
                    found[Action("pickup", item)] = held(node, item, self.i)
            elif node.items[item] == self.i:
                found |= dict(self.uses(node, item))
        return found

    def uses(self, node: Node, item: int) -> Iterator[tuple[Action, Node]]:
        for d in node.locked if item < len(self.world.keys) else ():
            if self.world.doors[d].colour == self.world.keys[item].colour and beside(node.at, self.doors[d]):
                yield Action("unlock", item, d), held(node, item, -2)._replace(locked=node.locked - {d})
        for j, there in self.others.items():
            if beside(node.at, there) and not {(self.i, item), (j, item)} & self.world.forbidden:
                yield Action("handover", item, j), held(node, item, j)

    def wishes(self, node: Node) -> list[tuple[Node, int]]:
        """Doors that somebody might open, which is worth waiting a hundred steps for."""
        near = [d for d in node.locked if beside(node.at, self.doors[d])]
        return [(node._replace(locked=node.locked - {d}), 100) for d in near]

    def costs(self, gem: int, hope: bool) -> dict[Node, int]:
        item = len(self.world.keys) + gem
        found: dict[Node, int] = {}
        queue = [(0, node) for node in self.before if node.items[item] == self.i]
        heapq.heapify(queue)
        while queue:
            cost, node = heapq.heappop(queue)
            if node not in found:
                found[node] = cost
                for earlier, step in self.before[node]:
                    if hope or step == 1:
                        heapq.heappush(queue, (cost + step, earlier))
        return found

    def policy(self, gem: int, beta: float, lapse: float) -> dict[Action, float]:
        here, options = self.here, self.options(self.here)
        holder, item = here.items[len(self.world.keys) + gem], len(self.world.keys) + gem
        if holder != -1 or (self.i, item) in self.world.forbidden:
            return soft({action: float(action != STAY) for action in options}, beta, lapse)
        costs = self.costs(gem, hope=False)
        if here not in costs:
            costs = self.costs(gem, hope=True)
        q = {action: 1 + costs.get(after, math.inf) for action, after in options.items()}
        if any(100 + costs.get(after, math.inf) == costs.get(here) for after, _ in self.wishes(here)):
            q[STAY] -= 1
        return soft(q, beta, lapse)


def held(node: Node, item: int, holder: int) -> Node:
    return node._replace(items=tuple(holder if k == item else h for k, h in enumerate(node.items)))


def beside(a: Xy, b: Xy) -> bool:
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1


def soft(q: dict[Action, float], beta: float, lapse: float) -> dict[Action, float]:
    least = min(q.values())
    weight = {a: 1.0 if c == least else math.exp(-beta * (c - least)) for a, c in q.items()}
    return {a: (1 - lapse) * w / sum(weight.values()) + lapse / len(q) for a, w in weight.items()}


@pytest.mark.slow
@settings(max_examples=12)
@given(moments(some, steps=6), st.floats(0.2, 4), st.floats(0, 0.5))
def test_policies_are_those_of_an_independent_implementation(moment: Moment, beta: float, lapse: float) -> None:
    world, state = moment
    plans = DoorsKeysGemsPlanner(world)
    for i in range(len(world.agents)):
        slow = Slow(world, i, state)
        for gem in range(len(world.gems)):
            found = Seeker(plans, i, Goal("gem", gem), beta, lapse).observe(state).act()
            assert dict(found) == pytest.approx(slow.policy(gem, beta, lapse), abs=1e-9)


small = worlds(sides=(2, 4), agents=(1, 2), keys=(0, 2), doors=(0, 2), gems=(2, 3), turns=BOTH)


@pytest.mark.slow
@settings(max_examples=10)
@given(plays(small, steps=6), st.floats(0.2, 4), st.floats(0.01, 0.5))
def test_goal_inference_is_bayes_rule_from_scratch(play: Play, beta: float, lapse: float) -> None:
    world, happened = play
    plans, gems = DoorsKeysGemsPlanner(world), range(len(world.gems))
    watchers = {
        name: Observer.over(Seeker(plans, i, Goal("gem", g), beta, lapse) for g in gems)
        for i, name in enumerate(world.agents)
    }
    likelihoods = {name: [1.0 for _ in gems] for name in world.agents}
    moments_later = list(replay(world, watchers, happened))[1:]
    for step, found in zip(happened, moments_later, strict=True):
        for i in world.movers(step.state):
            name, slow = world.agents[i], Slow(world, i, step.state)
            for g in gems:
                likelihoods[name][g] *= slow.policy(g, beta, lapse)[step.joint[name]]
        for name, joint in likelihoods.items():
            posterior = found[name].ask(lambda mind: mind.goal.thing)
            assert posterior.probs == pytest.approx([p / sum(joint) for p in joint], abs=1e-9)


# The same world seen otherwise


@pytest.mark.slow
@pytest.mark.parametrize("picture_of", PICTURES)
@given(moments(wide))
def test_turning_or_repainting_the_world_changes_no_probability(
    picture_of: Callable[[DoorsKeysGems], Picture], moment: Moment
) -> None:
    world, state = moment
    picture = picture_of(world)
    plans, other = DoorsKeysGemsPlanner(world), DoorsKeysGemsPlanner(picture.world)
    for i in range(len(world.agents)):
        for goal in goals_of(world):
            here = Seeker(plans, i, goal, 1.5).observe(state).act()
            there = Seeker(other, i, goal, 1.5).observe(picture.state(state)).act()
            assert dict(there) == pytest.approx({picture.action(a): p for a, p in here}, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("picture_of", PICTURES)
@given(plays(wide))
def test_turning_or_repainting_the_world_changes_no_inference(
    picture_of: Callable[[DoorsKeysGems], Picture], play: Play
) -> None:
    world, happened = play
    picture = picture_of(world)
    mapped = [
        Step(
            picture.state(step.state),
            {name: picture.action(a) for name, a in step.joint.items()},
            picture.state(step.after),
        )
        for step in happened
    ]
    for here, there in zip(
        goal_posteriors(world, happened), goal_posteriors(picture.world, tuple(mapped)), strict=True
    ):
        assert there == pytest.approx(here, abs=1e-12)


def goal_posteriors(world: DoorsKeysGems, happened: tuple[Step[State, Action], ...]) -> list[tuple[float, ...]]:
    plans, gems = DoorsKeysGemsPlanner(world), range(len(world.gems))
    watchers = {"Ana": Observer.over(Seeker(plans, 0, Goal("gem", g), 1.5) for g in gems)}
    return [found["Ana"].posterior.probs for found in replay(world, watchers, happened)]


# Recovery

MAZE = world_of(
    ".. .. .. ## gy .. ..",
    ".. ## .. ## .. ## ..",
    ".. ## .. .. .. ## ..",
    "kr ## .. a1 .. .. ..",
    ".. ## .. .. .. ## ..",
    ".. ## dr ## .. ## ..",
    ".. .. gr ## gb .. ..",
)
ROOM = sorted(cell for cell in MAZE.grid.cells() if cell not in MAZE.door_at)


def episode(
    plans: DoorsKeysGemsPlanner, mind: Seeker, start: int, steps: int, rng: np.random.Generator
) -> list[tuple[State, Action]]:
    """What one agent sees and does from a start cell until it has its gem, so many steps at the most."""
    state, done = MAZE.initial._replace(cells=(start,)), []
    for _ in range(steps):
        if plans.achieved(state, 0, mind.goal):
            break
        action = mind.observe(state).act().sample(rng)
        done.append((state, action))
        state = MAZE.apply(state, 0, action)
    return done


@pytest.mark.slow
def test_posteriors_over_goals_are_calibrated_and_mostly_right() -> None:
    rng, plans = generator(5), DoorsKeysGemsPlanner(MAZE)
    minds = [Seeker(plans, 0, Goal("gem", g), 1.0, 0.1) for g in range(3)]
    bets: list[float] = []
    hits: list[bool] = []
    found = 0
    for n in range(240):
        happened = episode(plans, minds[n % 3], ROOM[int(rng.integers(len(ROOM)))], int(rng.integers(1, 14)), rng)
        observer = Observer.over(minds).see(happened[0][0])
        views = [state for state, _ in happened[1:]] + [happened[-1][0]]
        for (_, action), view in zip(happened, views, strict=True):
            observer = observer.watch(action, view)
        posterior = observer.posterior
        bets += posterior.probs
        hits += [g == n % 3 for g in range(3)]
        found += posterior.mode.goal.thing == n % 3
    p, hit = np.array(bets), np.array(hits)
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 0.9), (0.9, 1.0)):
        inside = (p >= low) & (p <= high)
        assert inside.sum() > 30
        assert abs(np.sum(hit[inside] - p[inside])) < 3 * math.sqrt(np.sum(p[inside] * (1 - p[inside])))
    assert found > 0.7 * 240


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_rationality_is_recovered_by_maximum_likelihood(beta: float) -> None:
    rng, plans = generator(9), DoorsKeysGemsPlanner(MAZE)
    grid = [0.25, 0.5, 1.0, 2.0, 4.0]
    evidence = dict.fromkeys(grid, 0.0)
    for n in range(60):
        truth = Seeker(plans, 0, Goal("gem", n % 3), beta, 0.05)
        for state, action in episode(plans, truth, ROOM[n % len(ROOM)], 15, rng):
            for guess in grid:
                evidence[guess] += replace(truth, beta=guess).observe(state).act().log_prob(action)
    assert max(evidence, key=evidence.__getitem__) == beta


def test_somebody_who_walks_away_from_a_gem_is_not_after_it() -> None:
    observer = Observer.over(seeker(MAZE, Goal("gem", g), beta=2.0, lapse=0.05) for g in range(3)).see(MAZE.initial)
    state = MAZE.initial
    for words in ("left", "up", "up", "up", "left", "left", "down"):
        state = MAZE.apply(state, 0, MAZE.vocabulary[words])
        observer = observer.watch(MAZE.vocabulary[words], state)
    assert observer.ask(lambda mind: MAZE.gems[mind.goal.thing].colour).prob("red") > 0.99

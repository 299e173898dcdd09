"""Kitchens for tests of cooks, the best plans there by exhaustive search, and cooks at work."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kitchens import THINGS, kitchen
from otherminds.mind import WithErrand
from otherminds.world import Step
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.kitchen import CHOPPED, FRESH, NOTHING, mergeable
from otherminds.worlds.overcooked.planner import Advice, CookGoal, OvercookedPlanner
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked, State

FOODS_OF = {"SimpleTomato": "t", "SimpleLettuce": "l", "SimpleOnion": "o", "Salad": "tl", "OnionSalad": "tlo"}
SIMPLE = ("SimpleTomato", "SimpleLettuce", "SimpleOnion")


# Kitchens


def small_kitchen(
    seed: int, recipes: Sequence[str | None] = ("SimpleTomato",), spare: str = "", **more: Any
) -> Overcooked:
    """One of the kitchens that are drawn by `small_rows`."""
    return kitchen(*small_rows(seed, recipes, spare, **more), recipes=recipes)


def small_rows(
    seed: int, recipes: Sequence[str | None] = ("SimpleTomato",), spare: str = "", walls: str = "#", rooms: int = 1
) -> list[str]:
    """A rectangle of floor with a few counters in it, all that the recipes need on its border, and `spare` squares.

    Further squares of the border are drawn from `walls`; two rooms are divided by counters, at times with a door.
    """
    rng = random.Random(seed)
    width, height = rng.randint(4, 5) + 3 * (rooms - 1), rng.randint(4, 5)
    squares = {(x, y): rng.choice(walls) for y in range(height) for x in range(width)}
    inner = [(x, y) for x, y in squares if 0 < x < width - 1 and 0 < y < height - 1]
    squares |= {at: rng.choice("         -") for at in inner}
    if rooms > 1:
        divide = [at for at in inner if at[0] == width // 2]
        squares |= dict.fromkeys(divide, "-") | dict.fromkeys(rng.sample(divide, rng.randint(0, 1)), "D")
    free = [at for at in inner if rooms == 1 or at[0] != width // 2]
    for i, at in enumerate(rng.sample(free, len(recipes)), 1):
        squares[at] = str(i)
    border = [(x, y) for x, y in squares if (x in (0, width - 1)) != (y in (0, height - 1))]
    wanted = "*/" + "".join(FOODS_OF[recipe] + "p" for recipe in recipes if recipe) + spare
    squares |= dict(zip(rng.sample(border, min(len(wanted), len(border))), wanted, strict=False))
    return ["".join(squares[x, y] for x in range(width)) for y in range(height)]


def shuffled(world: Overcooked, seed: int) -> State:
    """The same things anywhere, some of them chopped or put together, some in hands; boards may be full."""
    rng = random.Random(seed)
    whole = {FRESH[food]: CHOPPED[food] for food in FRESH}
    things = [rng.choice((thing, whole.get(thing, thing))) for thing in world.items]
    for _ in range(rng.randint(0, 2)):
        one, other = rng.sample(range(len(things)), 2) if len(things) > 1 else (0, 0)
        if one != other and mergeable(things[one], things[other]):
            things = [*(t for k, t in enumerate(things) if k not in (one, other)), things[one] + things[other]]
    rng.shuffle(things)
    hands = tuple(things.pop() if things and rng.random() < 0.5 else NOTHING for _ in world.agents)
    spots = rng.sample(range(len(world.on)), len(world.on))
    if rng.random() < 0.5:
        spots = list(dict.fromkeys([*world.layout.boards, *spots]))
    lying = dict(zip(spots, things, strict=False))
    return world.initial._replace(hands=hands, on=tuple(lying.get(k, NOTHING) for k in range(len(world.on))))


def anywhere(seed: int, state: State, world: Overcooked) -> State:
    """The same with everybody somewhere else."""
    cells = random.Random(seed).sample(list(world.layout.grid.cells()), len(state.cells))
    return state._replace(cells=tuple(cells))


def place(world: Overcooked, x: int, y: int) -> int:
    """The number of the counter at this column and row."""
    return world.layout.counters.index(world.layout.grid.cell(x, y))


# What is best, slowly


class Alone:
    """All that one agent can bring about by itself from a state, by trying everything."""

    def __init__(self, world: Overcooked, start: State) -> None:
        """Explore forwards by the rules of the world, until the recipe is delivered; then count backwards."""
        before: dict[State, list[State]] = {start: []}
        served = []
        queue = deque([start])
        while queue:
            state = queue.popleft()
            if state.served:
                served.append(state)
                continue
            for action in ACTIONS:
                after = world.advance(state, (action,))
                if after not in before:
                    before[after] = []
                    queue.append(after)
                before[after].append(state)
        self.steps = dict.fromkeys(served, 0)
        queue = deque(served)
        while queue:
            state = queue.popleft()
            for earlier in before[state]:
                if earlier not in self.steps:
                    self.steps[earlier] = self.steps[state] + 1
                    queue.append(earlier)


def follow(world: Overcooked, planner: OvercookedPlanner, aim: CookGoal, state: State, i: int = 0) -> Iterator[State]:
    """The states that one agent goes through who takes the first of the best actions, the others standing still."""
    while True:
        yield state
        costs = planner.action_costs(aim, state.cells[i], state.hands[i], state.on)
        best = ACTIONS[costs.index(min(costs))]
        state = world.advance(state, tuple(best if j == i else "stay" for j in range(len(state.cells))))


# Cooks


def cook(world: Overcooked, goal: CookGoal | None, i: int = 0, shared: Sequence[Any] = (), **more: Any) -> Cook:
    """The mind of agent i after this goal; perfectly rational and without lapses unless told otherwise."""
    planner, sampler = shared or (OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items))
    return Cook(planner, sampler, i, goal, **({"beta": math.inf, "lapse": 0.0} | more))


def at_work(
    world: Overcooked, minds: Sequence[Any], rng: np.random.Generator, state: State | None = None
) -> Iterator[State]:
    """The states that these minds bring about from a state, by default the first; endless."""
    state = state or world.initial
    while True:
        yield state
        minds = [mind.observe(world.observe(state, agent)) for mind, agent in zip(minds, world.agents, strict=True)]
        state = world.advance(state, [mind.act().sample(rng) for mind in minds])


def steps_until_done(
    world: Overcooked, minds: Sequence[Any], rng: np.random.Generator, most: int, state: State | None = None
) -> int | None:
    """How long these minds take until every recipe is delivered; None if that is longer than `most`."""
    for t, now in enumerate(at_work(world, minds, rng, state)):
        if world.done(now):
            return t
        if t == most:
            return None
    raise AssertionError


def signs(*letters: str) -> tuple[int, ...]:
    """Things from letters, as in kitchens by hand: `t` a fresh tomato, `Tp` a chopped one on a plate."""
    return tuple(sum(THINGS[letter] for letter in word) for word in letters)


def random_steps(world: Overcooked, seed: int, steps: int) -> Iterator[Step[State, str]]:
    """What happens when people do things at random; whoever can use something does so half of the time."""
    rng, state = random.Random(seed), world.initial
    for _ in range(steps):
        ahead = [world.layout.ahead[cell] for cell in state.cells]
        uses = [[a for a in ACTIONS if heads[a][1] >= 0] for heads in ahead]
        joint = {
            agent: rng.choice(u if u and rng.random() < 0.5 else ACTIONS)
            for agent, u in zip(world.agents, uses, strict=True)
        }
        after = world.step(state, joint)
        yield Step(state, joint, after)
        state = after


def random_play(world: Overcooked, seed: int, steps: int) -> Iterator[State]:
    """The states of such a play."""
    yield world.initial
    for step in random_steps(world, seed, steps):
        yield step.after


# Messages


def told(advice: OvercookedAdvice, state: State, minds: Sequence[Any], request: Advice | None) -> list[Any]:
    """The minds after the request, if there is one, which its helper follows."""
    after = list(minds)
    if request is not None:
        mind = minds[request.helper]
        after[request.helper] = WithErrand(mind, advice.errand(state, request, mind))
    return after


def forecast(advice: OvercookedAdvice, state: State, minds: Sequence[Any], request: Advice | None, horizon: int) -> int:
    """Steps until the last of them is done if the request is followed first."""
    return max(advice.finish(state, told(advice, state, minds, request), horizon))

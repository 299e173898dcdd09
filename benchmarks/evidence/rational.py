"""Does the planner for any world agree with the planner of Doors-Keys-Gems, in levels that nobody has looked at?

    python -m benchmarks.evidence.rational --levels 200

Random levels for one person, and for two of which one stands still; levels with more than MOST_STATES states are left
out, and counted. Printed are the largest differences between the
posteriors over all goals that the person can reach alone, of observers of both kinds of minds. Exits with 1 if they
differ by more than AGREES anywhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from benchmarks.keeping import keep, option
from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError
from otherminds.evaluation.progress import shown
from otherminds.mind import GoalDirected
from otherminds.observer import Observer, replay
from otherminds.papers.protom.levels.maps import random_level
from otherminds.planning.rational import RationalAgent
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.world import Step, rollout
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State

AGREES = 1e-9  # the largest difference of probabilities that may be rounding
STEPS = 20
MOST_STATES = 10_000  # a level in three has more; chosen, so that 200 levels take five minutes


class EndlessWorld(DoorsKeysGems):
    """Doors-Keys-Gems that goes on when all have their gems: the planner of that world plans beyond the end."""

    def done(self, state: State) -> bool:
        """Never."""
        return False

    def reached(self, state: State, agent: str, goal: Goal) -> bool:
        """Whether the goal of an agent holds."""
        return self.planner.achieved(state, self.agents.index(agent), goal)

    @cached_property
    def planner(self) -> DoorsKeysGemsPlanner:
        """The planner of this world."""
        return DoorsKeysGemsPlanner(self)


@dataclass(frozen=True)
class Still:
    """Stays where it is."""

    def observe(self, state: State, /) -> Still:
        """Unmoved."""
        return self

    def act(self) -> Categorical[Action]:
        """To stay."""
        return point_mass(STAY)


class Comparison(NamedTuple):
    """The largest difference of probabilities, the goals and steps that were compared, and the states planned for."""

    difference: float
    goals: int
    steps: int
    states: int


def compare(level: DoorsKeysGems, seed: int, beta: float) -> Comparison:
    """Posteriors over goals after all steps of a walk of the first agent, while the others stand still.

    The walk ends once one of the goals is out of reach: then the two kinds of minds differ, as they should.
    """
    world = EndlessWorld(**{field.name: getattr(level, field.name) for field in fields(level)})
    planner, agent = world.planner, world.agents[0]

    def all_in_reach(state: State) -> bool:
        """Whether the agent can still reach every goal alone."""
        return all(planner.cost(state, 0, goal) < UNREACHABLE for goal in goals)

    things = [("gem", len(world.gems)), ("door", len(world.doors))]
    every_goal = [Goal(kind, thing) for kind, count in things for thing in range(count)]
    goals = [goal for goal in every_goal if planner.cost(world.initial, 0, goal) < UNREACHABLE]
    if not goals:
        return Comparison(0.0, 0, 0, 0)
    seekers = [Seeker(planner, 0, goal, beta=beta, lapse=0.0) for goal in goals]
    minds = dict.fromkeys(world.agents[1:], Still()) | {agent: replace(seekers[seed % len(goals)], lapse=0.2)}
    walk: list[Step[State, Action]] = []
    for step in rollout(world, minds, steps=STEPS, rng=np.random.default_rng(seed)):
        if not all_in_reach(step.after):
            break
        walk.append(step)

    def posteriors(minds: Sequence[GoalDirected[Action]]) -> list[Categorical[Goal]]:
        """The posterior over goals before the walk and after each step."""
        watched = replay(world, {agent: Observer.over(minds)}, walk)
        return [moment[agent].ask(lambda mind: mind.goal) for moment in watched]  # type: ignore[arg-type, return-value]

    agents = [RationalAgent(world, agent, goal, beta, most_states=MOST_STATES) for goal in goals]
    pairs = zip(posteriors(seekers), posteriors(agents), strict=True)
    largest = max((abs(p.prob(goal) - q.prob(goal)) for p, q in pairs for goal in goals), default=0.0)
    return Comparison(largest, len(goals), len(walk), len(agents[0].plan.graph.states))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    option(parser)
    options = parser.parse_args()
    comparisons: dict[int, list[Comparison]] = {1: [], 2: []}
    number = left_out = 0
    for _ in shown(range(options.levels), options.levels, "Comparing planners"):
        people = min(comparisons, key=lambda n: len(comparisons[n]))
        while True:
            number += 1
            level = random_level(np.random.default_rng((options.seed, number)), people)
            try:
                comparisons[people].append(compare(level.world, number, beta=(0.5, 1.0, 3.0)[number % 3]))
                break
            except InputError:  # too many states
                left_out += 1
    print(f"{left_out} levels with more than {MOST_STATES:,} states are left out")
    figures = {}
    for people, rows in comparisons.items():
        difference, goals, _, states = (max(column) for column in zip(*rows, strict=True))
        walked = sum(row.steps for row in rows)
        print(
            f"{people} in a level, {len(rows)} levels, {walked:,} steps, up to {goals} goals and {states:,} states: ",
            end="",
        )
        print(f"posteriors differ by at most {difference:.1e}")
        figures[f"{people} in a level", "largest difference of posteriors"] = difference
    keep(options.json, "rational", figures)
    sys.exit(max(figures.values()) > AGREES)


if __name__ == "__main__":
    main()

"""Advice in Doors-Keys-Gems: what an agent could be asked to do for another, the steps it would save, its wording."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Literal, NamedTuple, cast

from otherminds.mind import GoalDirected, WithErrand, own_mind
from otherminds.planning.joint import NEVER, finishing_steps
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal, MapStage, NextStep, steps_to_give
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State, Thing


class Advice(NamedTuple):
    """What a helper could be asked to do for a friend: open a door, or hand over a key (ProToM §3.2, f)."""

    helper: int
    goal: Goal
    friend: int


class _Forecast(NamedTuple):
    """All that decides how a forecast goes on: each agent's goal and errand, None if it has none."""

    state: State
    goals: tuple[Goal | None, ...]
    errands: tuple[Goal | None, ...]


class DoorsKeysGemsAdvice:
    """The advice that a facilitator could give in one world, its effects, and its wording (`Messages` of ProToM)."""

    def __init__(self, world: DoorsKeysGems, planner: DoorsKeysGemsPlanner | None = None) -> None:
        """The planner may be shared with the minds that act and observe in the same world."""
        self.world = world
        self.planner = planner or DoorsKeysGemsPlanner(world)
        self._fetched_cache: dict[tuple[MapStage, int, int], tuple[int, int]] = {}
        self._steps_cache: dict[_Forecast, tuple[int, ...]] = {}
        self._directions = {0: STAY} | {offset: Action(name) for name, offset in world.grid.offsets.items()}

    def __repr__(self) -> str:
        return f"DoorsKeysGemsAdvice({self.world!r})"

    # What could be said

    def candidates(self, state: State) -> list[Advice]:
        """All advice that its helper could follow alone from here (ProToM §3.2, feedback construction)."""
        doors, keys = range(len(self.world.doors)), range(len(self.world.keys))
        candidates = []
        for i, j in permutations(range(len(self.world.agents)), 2):
            goals = [*(Goal("door", d) for d in doors), *(Goal("give", k, j) for k in keys)]
            candidates += [Advice(i, goal, j) for goal in goals if self._possible(state, i, goal, j)]
        return candidates

    def _possible(self, state: State, i: int, goal: Goal, j: int) -> bool:
        """Whether agent i could do this for j alone, and it is not done yet."""
        if goal.kind == "door":
            return not self.planner.settled(state, i, goal)
        key = goal.thing
        if {(i, key), (j, key)} & self.world.forbidden or self.planner.settled(state, i, goal):
            return False
        cell, locked = self._after_fetching(state, i, key)
        return self.planner.map.distances_to(state.cells[j], locked)[cell] < UNREACHABLE

    def _after_fetching(self, state: State, i: int, k: int) -> tuple[int, int]:
        """The cell of agent i and the locked doors once it has the key."""
        if state.items[k] == i:
            return state.cells[i], state.locked
        start = (self.planner.map.stage(state, i), state.cells[i], k)
        if start not in self._fetched_cache:
            steps = self.planner.next_steps(Goal("key", k), start[0])
            while isinstance(cell := steps(state.cells[i]), int):
                state = state._replace(cells=(*state.cells[:i], cell, *state.cells[i + 1 :]))
            after = self.world.apply(state, i, self._action(steps(state.cells[i]), i, state))
            self._fetched_cache[start] = self._after_fetching(after, i, k)
        return self._fetched_cache[start]

    def helper(self, advice: Advice) -> str:
        """The name of the agent that is asked."""
        return self.world.agents[advice.helper]

    def friend(self, advice: Advice) -> str:
        """The name of the agent that is to gain."""
        return self.world.agents[advice.friend]

    def errand(self, state: State, advice: Advice, mind: GoalDirected[Action]) -> Seeker:
        """A seeker whose only goal is the advice: as rational as `mind` if that is one, else as seekers are."""
        own = own_mind(mind)
        if not isinstance(own, Seeker):
            own = Seeker(self.planner, advice.helper, advice.goal, state=state)
        return replace(own, goal=advice.goal)

    def status(self, state: State, advice: Advice) -> Literal["running", "completed", "impossible"]:
        """Whether the advice is yet to be followed, has been followed, or can no longer be followed by its helper."""
        if self.planner.achieved(state, advice.helper, advice.goal):
            return "completed"
        return "impossible" if self.planner.settled(state, advice.helper, advice.goal) else "running"

    def effort(self, state: State, advice: Advice) -> int:
        """Steps of the world that following the advice takes while the friend stands still."""
        i, goal = advice.helper, advice.goal
        if goal.kind == "give":
            steps = self.planner.cost(state, i, Goal("key", goal.thing))
            cell, locked = self._after_fetching(state, i, goal.thing)
            steps += steps_to_give(self.planner.map.distances_to(state.cells[advice.friend], locked)[cell])
        else:
            steps = self.planner.cost(state, i, goal)
        return steps * (1 if self.world.turns == "simultaneous" else len(state.cells))

    # Its effects

    def finish(self, state: State, minds: Sequence[GoalDirected[Action]], horizon: int) -> tuple[int, ...]:
        """Steps until each agent has its gem, running its errand first if it has one; at most `horizon`.

        Everything is in view, so only goals and errands matter. An agent whose goal is not one of this world stands
        still and counts as done. Every agent follows its own best plan, ties broken in a fixed order, and replans
        whenever an item has been picked up or handed over or a door unlocked. (ProToM §3.2, eq. 13 and 14.)
        """
        goals = [mind.goal if isinstance(mind.goal, Goal) else None for mind in minds]
        errands = [cast("Goal", mind.errand.goal) if isinstance(mind, WithErrand) else None for mind in minds]
        return self._finish(state, tuple(goals), errands, horizon)

    def steps(self, state: State, goals: tuple[Goal, ...], advice: Advice | None, horizon: int) -> int:
        """C(f, g): steps until every agent has reached its goal if the advice is followed first; at most `horizon`."""
        errands = [advice.goal if advice and advice.helper == i else None for i in range(len(goals))]
        return max(self._finish(state, goals, errands, horizon))

    def _finish(
        self, state: State, goals: tuple[Goal | None, ...], errands: Sequence[Goal | None], horizon: int
    ) -> tuple[int, ...]:
        """`finish` for goals and errands, one for each agent, instead of minds."""
        start = _Forecast(state, goals, self._unfinished(state, errands))
        steps_to_finish = finishing_steps(start, self._steps_cache, self._are_done, self._advance)
        return tuple([min(steps, horizon) for steps in steps_to_finish])

    def _are_done(self, forecast: _Forecast) -> tuple[bool, ...]:
        """Whether each agent has reached its goal, or has none."""
        achieved = self.planner.achieved
        return tuple([goal is None or achieved(forecast.state, i, goal) for i, goal in enumerate(forecast.goals)])

    def _unfinished(self, state: State, errands: Sequence[Goal | None]) -> tuple[Goal | None, ...]:
        """The errands that are not over yet."""
        settled = self.planner.settled
        return tuple([None if goal and settled(state, i, goal) else goal for i, goal in enumerate(errands)])

    def _advance(self, forecast: _Forecast) -> tuple[int, _Forecast]:
        """Steps until an agent does more than walk, and the forecast then; NEVER if no agent will."""
        self.planner.map.expansion.count()
        state = forecast.state
        aims = [errand or goal for errand, goal in zip(forecast.errands, forecast.goals, strict=True)]
        routes = [self._route(state, i, aim) for i, aim in enumerate(aims)]
        cells, turn, idle = state.cells, state.turn, 0
        rounds = 1 if self.world.turns == "simultaneous" else len(cells)
        for t in range(1, 4 * rounds * self.world.grid.size + len(cells)):
            next_steps = tuple([route(cells) for route in routes])
            if rounds > 1:
                next_steps = (*cells[:turn], next_steps[turn], *cells[turn + 1 :])
            if Action in map(type, next_steps):
                state = state._replace(cells=cells, turn=turn)
                joint = {name: self._action(next_steps[i], i, state) for i, name in enumerate(self.world.agents)}
                state = self.world.step(state, joint)
                return t, forecast._replace(state=state, errands=self._unfinished(state, forecast.errands))
            idle = idle + 1 if next_steps == cells else 0
            if idle == rounds:
                break
            cells, turn = cast("tuple[int, ...]", next_steps), (turn + 1) % rounds
        return NEVER, forecast

    def _route(self, state: State, i: int, goal: Goal | None) -> Callable[[tuple[int, ...]], NextStep]:
        """Agent i's best next step as a function of all agents' cells, until something other than a move happens."""
        planner = self.planner
        if goal is None or planner.achieved(state, i, goal) or not planner.available(state, i, goal):
            return lambda cells: cells[i]
        if goal.kind == "give":
            if state.items[goal.thing] == i:
                giving = goal
                return lambda cells: self._approach(cells, i, giving, state.locked)
            goal = Goal("key", goal.thing)
        steps = planner.next_steps(goal, planner.stage_for(state, i, goal))
        return lambda cells: steps(cells[i])

    def _approach(self, cells: tuple[int, ...], i: int, goal: Goal, locked: int) -> NextStep:
        """Agent i's next step on its way to hand over a key that it holds."""
        distance = self.planner.map.distances_to(cells[goal.recipient], locked)
        own_cell = cells[i]
        if distance[own_cell] == 1:
            return Action("handover", goal.thing, goal.recipient)
        if distance[own_cell] == 0:
            return next((cell for cell in self.world.grid.neighbours[own_cell] if distance[cell] == 1), own_cell)
        return self.planner.toward(distance, own_cell)

    def _action(self, step: NextStep, i: int, state: State) -> Action:
        """The action by which agent i takes a next step."""
        if isinstance(step, int):
            return self._directions[step - state.cells[i]]
        if step.verb != "unlock":
            return step
        colour = self.world.doors[step.target].colour
        key = next(k for k, key in enumerate(self.world.keys) if state.items[k] == i and key.colour == colour)
        return step._replace(item=key)

    # Its wording

    def explain(
        self,
        state: State,
        advice: Advice,
        *,
        friends: Sequence[str],
        goal: Hashable | None,
        sure: bool,
        needed: bool,
        saves: float,
    ) -> str:
        """The advice and its reason, as far as it is believed; on the paper's templates (appendix B.2) if a goal is.

        friends: the agents that gain from it, or the helper alone. goal: the gem that the first of them wants, None if
        that is uncertain. sure: whether it helps whatever they want. needed: whether they cannot get there alone.
        saves: E[steps saved].
        """
        them, steps = " and ".join(friends), round(saves)
        if friends[0] == self.helper(advice):
            request = self.words(advice).removesuffix(f" for {self.friend(advice)}")
            return f"{them}, please {request}. This should save you about {steps} step{'s' * (steps != 1)}."
        benefit = f"this should save about {steps} step{'s' * (steps != 1)}" if steps else "this spares you a detour"
        if needed:
            benefit = f"{them} cannot get there without your help"
        if isinstance(goal, Goal):
            why = f"I believe {friends[0]} wants the {self.world.gems[goal.thing].colour} gem, and {benefit}."
        else:
            wanted_gem = f"gem {them} want{'s' * (len(friends) == 1)}"
            why = f"Whichever {wanted_gem}, {benefit}." if sure else f"I am not sure which {wanted_gem}, but {benefit}."
        return f"{self.helper(advice)}, please {self.words(advice)}. {why}"

    def words(self, advice: Advice) -> str:
        """The advice as a request, such as `unlock the red door (door1) for Ben`."""
        friend, thing = self.world.agents[advice.friend], advice.goal.thing
        if advice.goal.kind == "door":
            return f"unlock {_the(self.world.doors, thing)} for {friend}"
        return f"hand {_the(self.world.keys, thing)} to {friend}"

    def address(self, advice: Advice) -> str:
        """The advice with the name of its helper, such as `Ana: unlock the red door for Ben`."""
        return f"{self.helper(advice)}: {self.words(advice)}"


def _the(things: Sequence[Thing], i: int) -> str:
    """An item or door by its colour, and by its name as well if there are others of that colour."""
    thing = things[i]
    word = thing.name.rstrip("0123456789") or thing.name
    is_only_one = sum(t.colour == thing.colour for t in things) == 1
    return f"the {thing.colour} {word}" + ("" if is_only_one else f" ({thing.name})")

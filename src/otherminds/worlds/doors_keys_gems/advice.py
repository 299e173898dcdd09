"""What people in Doors-Keys-Gems can do for each other, and what it would save them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, cast

from otherminds.mind import GoalDirected, own_mind
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal, MapStage, NextStep, until_given
from otherminds.worlds.doors_keys_gems.rules import STAY, USED, Action, DoorsKeysGems, State, Thing

NEVER = 1 << 20


class Advice(NamedTuple):
    """Something the helper could be asked to do for a friend: open a door, or hand over a key (ProToM §3.2, f)."""

    helper: int
    goal: Goal
    friend: int


_Outlook = tuple[State, tuple[Goal, ...], Advice | None]


class DoorsKeysGemsAdvice:
    """The messages a facilitator could say in one world, what following them would lead to, and how to put them."""

    def __init__(self, world: DoorsKeysGems, planner: DoorsKeysGemsPlanner | None = None) -> None:
        """DoorsKeysGemsPlanner may be shared with the minds that act and observe in the same world."""
        self.world = world
        self.planner = planner or DoorsKeysGemsPlanner(world)
        self._fetched: dict[tuple[MapStage, int, int], tuple[int, int]] = {}
        self._known: dict[_Outlook, int] = {}
        self._directions = {0: STAY} | {offset: Action(name) for name, offset in world.grid.offsets.items()}

    # What could be said

    def candidates(self, state: State) -> list[Advice]:
        """Every favour that its helper could do alone from here (ProToM §3.2, feedback construction)."""
        agents = range(len(self.world.agents))
        return [
            favour
            for i in agents
            for j in agents
            if i != j
            for favour in (*self._unlocks(state, i, j), *self._handovers(state, i, j))
        ]

    def _unlocks(self, state: State, i: int, j: int) -> Iterator[Advice]:
        for d in range(len(self.world.doors)):
            goal = Goal("door", d)
            if state.locked >> d & 1 and self.planner.cost(state, i, goal) < UNREACHABLE:
                yield Advice(i, goal, j)

    def _handovers(self, state: State, i: int, j: int) -> Iterator[Advice]:
        for k in range(len(self.world.keys)):
            if state.items[k] in (j, USED) or {(i, k), (j, k)} & self.world.forbidden:
                continue
            if self.planner.cost(state, i, Goal("give", k, j)) < UNREACHABLE:
                cell, locked = self._after_fetching(state, i, k)
                if self.planner.map.distances_to(state.cells[j], locked)[cell] < UNREACHABLE:
                    yield Advice(i, Goal("give", k, j), j)

    def _after_fetching(self, state: State, i: int, k: int) -> tuple[int, int]:
        """Where agent i stands, and which doors are locked, once it has the key."""
        if state.items[k] == i:
            return state.cells[i], state.locked
        start = (self.planner.map.stage(state, i), state.cells[i], k)
        if start not in self._fetched:
            heads = self.planner.heads(Goal("key", k), start[0])
            while isinstance(cell := heads[state.cells[i]], int):
                state = state._replace(cells=(*state.cells[:i], cell, *state.cells[i + 1 :]))
            after = self.world.apply(state, i, self._action(heads[state.cells[i]], i, state))
            self._fetched[start] = self._after_fetching(after, i, k)
        return self._fetched[start]

    def helper(self, favour: Advice) -> str:
        """The name of the agent that is asked."""
        return self.world.agents[favour.helper]

    def errand(self, favour: Advice, mind: GoalDirected[Action]) -> Seeker:
        """The mind of somebody as rational as `mind` who does the favour and wants nothing else."""
        return replace(cast("Seeker", own_mind(mind)), goal=favour.goal)

    def status(self, state: State, favour: Advice) -> Literal["running", "completed", "impossible"]:
        """Whether the favour is yet to be done, is done, or can no longer be done by its helper."""
        if self.planner.achieved(state, favour.helper, favour.goal):
            return "completed"
        return "impossible" if self.planner.settled(state, favour.helper, favour.goal) else "running"

    def effort(self, state: State, favour: Advice) -> int:
        """How many steps of the world the favour takes the helper, while the friend stands still."""
        return self._alone(state, favour) * (1 if self.world.turns == "simultaneous" else len(state.cells))

    def _alone(self, state: State, favour: Advice) -> int:
        """How many steps of its own the helper needs."""
        if favour.goal.kind != "give":
            return self.planner.cost(state, favour.helper, favour.goal)
        fetching = self.planner.cost(state, favour.helper, Goal("key", favour.goal.thing))
        cell, locked = self._after_fetching(state, favour.helper, favour.goal.thing)
        return fetching + until_given(self.planner.map.distances_to(state.cells[favour.friend], locked)[cell])

    # What would come of it

    def length(self, state: State, minds: Sequence[GoalDirected[Action]], favour: Advice | None, horizon: int) -> int:
        """C(f, g) of people with these minds: everything is in view, so that only their goals matter."""
        return self.steps(state, tuple([cast("Goal", mind.goal) for mind in minds]), favour, horizon)

    def steps(self, state: State, goals: tuple[Goal, ...], favour: Advice | None, horizon: int) -> int:
        """C(f, g): steps until everybody has their gem if `favour` is done first; `horizon` if that takes longer.

        Everybody follows a best plan of their own, with ties broken in a fixed order, and replans whenever
        somebody has picked up, handed over or unlocked something. (ProToM §3.2, eq. 13 and 14.)
        """
        trail: list[tuple[_Outlook, int]] = []
        while True:
            if favour and self.planner.settled(state, favour.helper, favour.goal):
                favour = None
            outlook = (state, goals, favour)
            rest = 0 if self._all_have(state, goals) else self._known.get(outlook)
            if rest is not None or (trail and trail[-1][1] == NEVER):
                break
            t, state = self._until_something_happens(state, self._wants(goals, favour))
            trail.append((outlook, t))
        rest = rest or 0
        for outlook, t in reversed(trail):
            rest = self._known[outlook] = rest + t
        return min(rest, horizon)

    def _all_have(self, state: State, goals: tuple[Goal, ...]) -> bool:
        return all(self.planner.achieved(state, i, goal) for i, goal in enumerate(goals))

    def _wants(self, goals: tuple[Goal, ...], favour: Advice | None) -> list[Goal]:
        wants = list(goals)
        if favour:
            wants[favour.helper] = favour.goal
        return wants

    def _until_something_happens(self, state: State, wants: list[Goal]) -> tuple[int, State]:
        """Walk on until somebody does more than walk, and for how long; NEVER if nobody will."""
        routes = [self._route(state, i, want) for i, want in enumerate(wants)]
        cells, turn, idle = state.cells, state.turn, 0
        rounds = 1 if self.world.turns == "simultaneous" else len(cells)
        for t in range(1, 4 * rounds * self.world.grid.size + len(cells)):
            heads = tuple([route(cells) for route in routes])
            if rounds > 1:
                heads = (*cells[:turn], heads[turn], *cells[turn + 1 :])
            if Action in map(type, heads):
                state = state._replace(cells=cells, turn=turn)
                return t, self.world.step(state, self._joint(heads, state))
            idle = idle + 1 if heads == cells else 0
            if idle == rounds:
                break
            cells, turn = cast("tuple[int, ...]", heads), (turn + 1) % rounds
        return NEVER, state

    def _route(self, state: State, i: int, want: Goal) -> Callable[[tuple[int, ...]], NextStep]:
        """Agent i's best next thing to do as a function of where everybody stands, until something happens."""
        planner = self.planner
        if planner.achieved(state, i, want) or not planner.available(state, i, want):
            return lambda cells: cells[i]
        if want.kind == "give":
            if state.items[want.thing] == i:
                return lambda cells: self._approach(cells, i, want, state.locked)
            want = Goal("key", want.thing)
        heads = planner.heads(want, planner.stage_for(state, i, want))
        return lambda cells: heads[cells[i]]

    def _approach(self, cells: tuple[int, ...], i: int, want: Goal, locked: int) -> NextStep:
        distance = self.planner.map.distances_to(cells[want.whom], locked)
        here = cells[i]
        if distance[here] == 1:
            return Action("handover", want.thing, want.whom)
        if distance[here] == 0:
            return next((cell for cell in self.world.grid.neighbours[here] if distance[cell] == 1), here)
        return self.planner.toward(distance, here)

    def _joint(self, heads: Sequence[NextStep], state: State) -> dict[str, Action]:
        return {
            name: self._action(head, i, state)
            for i, (name, head) in enumerate(zip(self.world.agents, heads, strict=True))
        }

    def _action(self, head: NextStep, i: int, state: State) -> Action:
        """The action by which agent i does what it is heading for."""
        if isinstance(head, int):
            return self._directions[head - state.cells[i]]
        if head.verb != "unlock":
            return head
        colour = self.world.doors[head.target].colour
        key = next(k for k, key in enumerate(self.world.keys) if state.items[k] == i and key.colour == colour)
        return head._replace(item=key)

    # How to put it

    def explain(self, state: State, favour: Advice, goals: tuple[Goal, ...]) -> str:
        """The message and its reason (our own wording on the structure of the paper's templates, appendix B.2)."""
        helper, friend = self.world.agents[favour.helper], self.world.agents[favour.friend]
        goal = goals[favour.friend]
        return f"{helper}, please {self.words(favour)}. I believe {friend} wants the {self._gem(goal)}, " + (
            self._reason(state, favour, goal, friend)
        )

    def words(self, favour: Advice) -> str:
        """The favour as a request, such as `unlock the red door (door1) for Ben`."""
        friend, thing = self.world.agents[favour.friend], favour.goal.thing
        if favour.goal.kind == "door":
            return f"unlock {_the(self.world.doors, thing)} for {friend}"
        return f"hand {_the(self.world.keys, thing)} to {friend}"

    def address(self, favour: Advice) -> str:
        """The favour with the name of who is asked, such as `Ana: unlock the red door for Ben`."""
        return f"{self.helper(favour)}: {self.words(favour)}"

    def _gem(self, goal: Goal) -> str:
        return f"{self.world.gems[goal.thing].colour} gem"

    def _reason(self, state: State, favour: Advice, goal: Goal, friend: str) -> str:
        alone = self.planner.cost(state, favour.friend, goal)
        if alone >= UNREACHABLE:
            return f"and {friend} cannot get there without your help."
        saved = alone - self.planner.cost(self._done(state, favour), favour.friend, goal)
        if saved <= 0:
            return "and this would spare you both a detour."
        return f"and without your help {friend} would need about {saved} more step{'s' * (saved != 1)}."

    def _done(self, state: State, favour: Advice) -> State:
        """The state if the favour had been done already, everything else as it is."""
        items = list(state.items)
        if favour.goal.kind == "give":
            items[favour.goal.thing] = favour.friend
            return state._replace(items=tuple(items))
        return state._replace(locked=state.locked & ~(1 << favour.goal.thing))


def _the(things: Sequence[Thing], i: int) -> str:
    """The thing by its colour, and by its name as well if there are others of that colour."""
    thing = things[i]
    word = thing.name.rstrip("0123456789") or thing.name
    alone = sum(other.colour == thing.colour for other in things) == 1
    return f"the {thing.colour} {word}" + ("" if alone else f" ({thing.name})")

"""The rules of multi-agent Doors-Keys-Gems: agents walk a grid of walls, locked doors and keys, each to its own gem.

A key opens one door of its colour and is used up; an open door stays open. Agents may share a cell, carry any number
of items, never drop them, and hand them to an agent one step away. The rules are those of the CLIPS domain (Zhi-Xuan
et al. 2024) as used by ProToM (§4.1, appendix A), for any number of agents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from otherminds.errors import shortened, unknown
from otherminds.files.html import pictured
from otherminds.worlds.grid import DIRECTIONS, Grid

GROUND = -1  # in place of a holder: the item lies where it lay at the start
USED = -2  # in place of a holder: the key has opened a door
NOTHING = -1  # in place of a gem: the agent has no goal

Turns = Literal["simultaneous", "alternating"]


class Action(NamedTuple):
    """An action: a move, `stay`, `pickup` item, `unlock` door `target` with key `item`, `handover` item to `target`."""

    verb: str
    item: int = -1
    target: int = -1


STAY = Action("stay")
MOVES = tuple(Action(direction) for direction in DIRECTIONS)


class Thing(NamedTuple):
    """A key, a door or a gem: its name, its colour, and its cell at the start."""

    name: str
    colour: str
    cell: int


class State(NamedTuple):
    """The state of a level.

    cells: the cell of each agent. items: GROUND, USED or the index of the holder for each key, then each gem.
    locked: the locked doors, as bits. turn: the index of the agent to move (always 0 if all agents move at once).
    """

    cells: tuple[int, ...]
    items: tuple[int, ...]
    locked: int
    turn: int = 0


class InvalidActionError(ValueError):
    """An action is illegal in this state."""


@dataclass(frozen=True)
class DoorsKeysGems:
    """The world of one level. `goals[i]` is the index of the gem that agent i wants, or NOTHING.

    `forbidden` holds pairs (agent, item): the agent may neither pick up the item nor give or receive it.
    """

    grid: Grid
    agents: tuple[str, ...]
    cells: tuple[int, ...]
    keys: tuple[Thing, ...]
    doors: tuple[Thing, ...]
    gems: tuple[Thing, ...]
    goals: tuple[int, ...]
    turns: Turns = "simultaneous"
    forbidden: frozenset[tuple[int, int]] = frozenset()

    def __repr__(self) -> str:
        pairs = zip(self.agents, self.goals, strict=True)
        wants = (f"{agent} wants {'nothing' if gem < 0 else self.gems[gem].colour}" for agent, gem in pairs)
        things = f"{len(self.keys)} keys, {len(self.doors)} doors, {len(self.gems)} gems"
        return shortened(f"DoorsKeysGems({self.grid.width} × {self.grid.height}; {', '.join(wants)}; {things})", 160)

    def _repr_html_(self) -> str:
        from otherminds.worlds.doors_keys_gems.drawing import draw  # it knows this module

        return pictured(draw(self, self.initial, goals=True).svg())

    @cached_property
    def items(self) -> tuple[Thing, ...]:
        """The items that can be carried: the keys, then the gems."""
        return self.keys + self.gems

    @cached_property
    def initial(self) -> State:
        """The state at the start of an episode."""
        return State(self.cells, (GROUND,) * len(self.items), (1 << len(self.doors)) - 1)

    @cached_property
    def door_at(self) -> dict[int, int]:
        """The index of the door in each cell that has one."""
        return {door.cell: d for d, door in enumerate(self.doors)}

    def start(self, rng: np.random.Generator | None = None, /) -> State:
        """The initial state; it is not random."""
        return self.initial

    def observe(self, state: State, agent: str) -> State:
        """The state itself: every agent sees everything."""
        return state

    def has_gem(self, state: State, i: int) -> bool:
        """Whether agent i holds the gem it wants, or wants none."""
        goal = self.goals[i]
        return goal == NOTHING or state.items[len(self.keys) + goal] == i

    def done(self, state: State) -> bool:
        """Whether every agent holds its own gem."""
        return all(self.has_gem(state, i) for i in range(len(self.agents)))

    def reward(self, state: State, joint: Mapping[str, Action], after: State) -> dict[str, float]:
        """−1 for every step that an agent begins without its gem."""
        return {a: -float(not self.has_gem(state, i)) for i, a in enumerate(self.agents)}

    def passable(self, cell: int, locked: int) -> bool:
        """Whether the cell is floor with no locked door on it."""
        door = self.door_at.get(cell)
        return self.grid.is_floor(cell) and (door is None or not locked >> door & 1)

    def movers(self, state: State) -> tuple[int, ...]:
        """The agents that may act now, in the order in which their effects are applied."""
        return tuple(range(len(self.agents))) if self.turns == "simultaneous" else (state.turn,)

    def actions(self, state: State, agent: str) -> tuple[Action, ...]:
        """The legal actions of the agent; to stay is always legal."""
        i = self.agents.index(agent)
        return tuple(self.options(state, i)) if i in self.movers(state) else (STAY,)

    def options(self, state: State, i: int) -> Iterator[Action]:
        """The actions that would be legal for agent i at its turn."""
        cell = state.cells[i]
        for move, offset in zip(MOVES, self.grid.offsets.values(), strict=True):
            if self.passable(cell + offset, state.locked):
                yield move
        yield STAY
        for item, holder in enumerate(state.items):
            if holder == GROUND and self.items[item].cell == cell and (i, item) not in self.forbidden:
                yield Action("pickup", item)
            if holder != i:
                continue
            for d, door in enumerate(self.doors if item < len(self.keys) else ()):
                fits = state.locked >> d & 1 and door.colour == self.keys[item].colour
                if fits and self.grid.adjacent(cell, door.cell):
                    yield Action("unlock", item, d)
            for j, other_cell in enumerate(state.cells):
                if j != i and self.grid.adjacent(cell, other_cell) and not self.forbidden & {(i, item), (j, item)}:
                    yield Action("handover", item, j)

    def apply(self, state: State, i: int, action: Action | str) -> State:
        """The state after an action of agent i alone, which may be given in words.

        Raises InvalidActionError for an illegal action, InputError for words that stand for none.
        """
        if isinstance(action, str):
            if action not in self.vocabulary:
                raise unknown("action", action, self.vocabulary)
            action = self.vocabulary[action]
        if action not in self.options(state, i):
            raise InvalidActionError(f"{self.agents[i]} cannot do `{self.spell(action)}` here")
        verb, item, target = action
        if verb in self.grid.offsets:
            return state._replace(cells=_replaced(state.cells, i, state.cells[i] + self.grid.offsets[verb]))
        if verb == "pickup":
            return state._replace(items=_replaced(state.items, item, i))
        if verb == "handover":
            return state._replace(items=_replaced(state.items, item, target))
        if verb == "unlock":
            return state._replace(items=_replaced(state.items, item, USED), locked=state.locked & ~(1 << target))
        return state

    def step(
        self, state: State, joint: Mapping[str, Action] | Mapping[str, str], rng: np.random.Generator | None = None, /
    ) -> State:
        """T(s, a): effects apply in the order of the agents; an action that has become illegal has no effect.

        Actions may be given in words.
        """
        after = state
        for i in self.movers(state):
            with suppress(InvalidActionError):
                after = self.apply(after, i, joint[self.agents[i]])
        return after if self.turns == "simultaneous" else after._replace(turn=(after.turn + 1) % len(self.agents))

    def illegal_agent(self, state: State, joint: Mapping[str, Action]) -> str | None:
        """The first agent whose action is legal neither in `state` nor at its turn within the step; None if none is."""
        after = state
        for i, agent in enumerate(self.agents):
            if i in self.movers(state) and joint[agent] in self.options(after, i):
                after = self.apply(after, i, joint[agent])
            elif joint[agent] not in self.actions(state, agent):
                return agent
        return None

    def spell(self, action: Action) -> str:
        """The action in words, such as `unlock door1 with key2`."""
        if action.verb == "pickup":
            return f"pickup {self.items[action.item].name}"
        if action.verb == "unlock":
            return f"unlock {self.doors[action.target].name} with {self.items[action.item].name}"
        if action.verb == "handover":
            return f"handover {self.items[action.item].name} to {self.agents[action.target]}"
        return action.verb

    @cached_property
    def vocabulary(self) -> dict[str, Action]:
        """Every action of this world by its words: the inverse of `spell`."""
        items, agents = range(len(self.items)), range(len(self.agents))
        every = [*MOVES, STAY, *(Action("pickup", k) for k in items)]
        every += [Action("unlock", k, d) for k in range(len(self.keys)) for d in range(len(self.doors))]
        every += [Action("handover", k, j) for k in items for j in agents]
        return {self.spell(action): action for action in every}


def _replaced(values: tuple[int, ...], i: int, value: int) -> tuple[int, ...]:
    """A copy of `values` with entry i replaced."""
    return (*values[:i], value, *values[i + 1 :])

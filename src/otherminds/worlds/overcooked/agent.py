"""A mind that cooks, more or less rationally, in the kitchen that it believes to be in."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked.kitchen import NOTHING, PARTS, RECIPES, STAY, KitchenLayout, parts
from otherminds.worlds.overcooked.planner import HOPE, CookGoal, OvercookedPlanner, is_under_way
from otherminds.worlds.overcooked.rules import ACTIONS, UNSEEN, KitchenView, State

T = TypeVar("T")
Dishes = tuple[tuple[int, ...], ...]
Seen = tuple[tuple[int, ...] | None, ...]


class Contents(NamedTuple):
    """Where things are taken to be: on counters and boards, in hands, delivered."""

    on: tuple[int, ...]
    hands: tuple[int, ...]
    delivered: Dishes


class BeliefSampler:
    """How a kitchen that is partly seen is completed; the same sight and seed always give the same kitchen."""

    def __init__(self, layout: KitchenLayout, items: Iterable[int]) -> None:
        """`items` are the things that are in the kitchen at the start, without where."""
        self.layout = layout
        self.items = tuple(sorted(items))
        self._usable = [bool(beside) for beside in layout.beside[: len(layout.counters)]]
        self._hidden = cache(self._find_hidden)
        self._known: dict[tuple[Contents | None, tuple[Any, ...], int], Contents] = {}

    def look(self, before: State | None, view: KitchenView, agent: int, seed: int) -> State:
        """The kitchen that an agent believes in after a view of it; `before` is what it believed, None at the start.

        Whatever the view contradicts is imagined anew, and nothing else: a draw from P(kitchen | all that was seen).
        """
        believed = None if before is None else Contents(before.on, before.hands, before.delivered)
        contents = self.complete(believed, view, seed)
        return State(self._cells(before, view, agent, seed), contents.hands, contents.on, contents.delivered)

    def think_again(self, kitchen: State, rooms: int, seed: int) -> State:
        """The kitchen with everything imagined anew that is in none of the rooms (bits) that the agent has seen."""
        layout, on = self.layout, list(kitchen.on)
        never = [k for k, cell in enumerate(layout.counters) if self._usable[k] and not layout.sight[cell] & rooms]
        things = [on[k] for k in never if on[k]]
        free = [k for k in never if k not in layout.boards]
        for k in never:
            on[k] = NOTHING
        for thing, k in zip(things, _Stream(seed, kitchen, rooms).shuffled(free), strict=False):
            on[k] = thing
        return kitchen._replace(on=tuple(on))

    def complete(self, before: Contents | None, view: KitchenView, seed: int) -> Contents:
        """Where everything is taken to be, as `look` has it."""
        key = (before, view[1:], seed)
        if key not in self._known:
            self._known[key] = self._first(view, seed) if before is None else self._next(before, view, seed)
        return self._known[key]

    def _first(self, view: KitchenView, seed: int) -> Contents:
        """What is not seen lies somewhere out of sight, but on no cutting board and in no hands."""
        spots = [NOTHING if thing == UNSEEN else thing for thing in view.on + view.hands]
        moved, _ = _balance(self.items, [*filter(None, spots), *_dishes(view.delivered)])
        free = [k for k, thing in enumerate(view.on) if thing == UNSEEN and k not in self.layout.boards]
        return self._scattered(spots, moved, free, _Stream(seed, view[1:]), view.delivered)

    def _next(self, before: Contents, view: KitchenView, seed: int) -> Contents:
        seen, old = view.on + view.hands, before.on + before.hands
        gone = [was for was, thing in zip(old, seen, strict=True) if thing not in (UNSEEN, was)]
        come = [thing for was, thing in zip(old, seen, strict=True) if thing not in (UNSEEN, was)]
        delivered = tuple([was if d is None else d for was, d in zip(before.delivered, view.delivered, strict=True)])
        if not gone and delivered == before.delivered:
            return before
        then, now = Counter([*gone, *_dishes(before.delivered)]), Counter([*come, *_dishes(delivered)])
        moved, taken = _balance(sorted((then - now).elements()), sorted((now - then).elements()))
        spots = [was if thing == UNSEEN else thing for was, thing in zip(old, seen, strict=True)]
        hidden = [k for k, thing in enumerate(seen) if thing == UNSEEN]
        rng = _Stream(seed, before, view[1:])
        _take(spots, taken, hidden, rng)
        return self._scattered(spots, moved, hidden, rng, delivered)

    def _scattered(
        self, spots: list[int], moved: Sequence[int], hidden: Iterable[int], rng: _Stream, delivered: Seen
    ) -> Contents:
        """Things put where nothing is, out of sight but within somebody's reach, or in free hands."""
        on = len(self._usable)
        free = [k for k in hidden if not spots[k] and (k >= on or self._usable[k])]
        for thing, k in zip(moved, rng.shuffled(free) if moved else (), strict=False):
            spots[k] = thing
        return Contents(tuple(spots[:on]), tuple(spots[on:]), tuple([dishes or () for dishes in delivered]))

    def _cells(self, before: State | None, view: KitchenView, agent: int, seed: int) -> tuple[int, ...]:
        """Whoever is not seen is where they were, if that is out of sight, or else anywhere out of sight."""
        if UNSEEN not in view.cells:
            return view.cells
        hidden = self._hidden(self.layout.sight[view.cells[agent]])
        rng = _Stream(seed, before and before.cells, view.cells)
        found = list(view.cells)
        for i, cell in enumerate(view.cells):
            if cell == UNSEEN:
                last = before.cells[i] if before else UNSEEN
                found[i] = last if last in hidden else rng.choice(hidden)
        return tuple(found)

    def _find_hidden(self, mine: int) -> tuple[int, ...]:
        """The squares that are out of sight for somebody who is in these rooms."""
        return tuple(c for c in self.layout.grid.cells() if not self.layout.sight[c] & mine)


class _Stream:
    """Random numbers that depend on a seed and on what is seen and believed, begun when the first one is needed."""

    def __init__(self, *origin: object) -> None:
        self._origin = origin

    @cached_property
    def _rng(self) -> np.random.Generator:
        seed, *rest = self._origin
        return np.random.default_rng([int(str(seed)), zlib.crc32(repr(rest).encode())])

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, each as likely."""
        return options[int(self._rng.integers(len(options)))]

    def shuffled(self, numbers: Sequence[int]) -> list[int]:
        """The numbers in random order."""
        found: list[int] = self._rng.permutation(numbers).tolist()
        return found


def _dishes(delivered: Seen) -> list[int]:
    return [dish for dishes in delivered for dish in dishes or ()]


def _kind(part: str) -> str:
    return part.split()[-1]


def _balance(gone: Iterable[int], come: Iterable[int]) -> tuple[list[int], list[str]]:
    """What is left of the things that are gone when those that have come were made of them, and what else these need.

    A fresh food can have been chopped, and things can have been put together; kinds of parts are conserved.
    """
    needed = Counter(_kind(part) for thing in come for part in parts(thing))
    moved = []
    for thing in gone:
        left = NOTHING
        for part in parts(thing):
            if needed[_kind(part)]:
                needed[_kind(part)] -= 1
            else:
                left += PARTS[part]
        if left:
            moved.append(left)
    return moved, sorted(needed.elements())


def _take(spots: list[int], kinds: Iterable[str], hidden: Sequence[int], rng: _Stream) -> None:
    """Remove parts of these kinds from things out of sight: they have turned out to be elsewhere."""
    for kind in kinds:
        holding = [(k, part) for k in hidden for part in parts(spots[k]) if _kind(part) == kind]
        if holding:
            k, part = rng.choice(holding)
            spots[k] -= PARTS[part]


VAIN = 4
"""After so many steps of waiting, and every so many steps more, who can only hope thinks again."""


@dataclass(frozen=True)
class Cook:
    """An agent after one goal, a recipe or a request, that has one full hypothetical kitchen in mind, its particle.

    P(a | b, g) = (1 − lapse) · softmax(−beta · Q_g(b, ·)) + lapse / |A|, Q being the steps until the goal is reached
    in the kitchen b that it believes in. An infinite `beta` makes it choose uniformly among the best actions.
    Somebody in the way is waited for; after `patience` steps in which nothing has changed, whoever comes later among
    the agents goes anywhere else, and waits there for as long. Who waits in vain for something imagines anew what may
    be in rooms that it has never seen.
    """

    planner: OvercookedPlanner = field(repr=False)
    sampler: BeliefSampler = field(repr=False)
    agent: int
    goal: CookGoal | None
    beta: float = 3.0
    lapse: float = 0.05
    patience: int = 2
    particle: int = 0
    kitchen: State | None = None
    waited: int = 0
    rooms: int = 0
    reached: bool = False

    def observe(self, view: KitchenView, /) -> Cook:
        """What is seen is believed, the rest remembered or imagined; its own dish delivered is its goal reached."""
        kitchen = self.sampler.look(self.kitchen, view, self.agent, self.particle)
        reached, waited = self.reached or self._has_served(kitchen), self._has_waited(kitchen)
        rooms = self.rooms | self.planner.layout.sight[kitchen.cells[self.agent]]
        now = replace(self, kitchen=kitchen, waited=waited, reached=reached, rooms=rooms)
        if waited > 0 and waited % VAIN == 0 and now._hopes():
            seed = self.particle + waited
            return replace(now, kitchen=self.sampler.think_again(kitchen, rooms, seed))
        return now

    def _hopes(self) -> bool:
        """Whether it takes what it needs to be out of its reach."""
        if self.goal is None or self.over:
            return False
        kitchen, i = self._seen, self.agent
        return self.planner.values(self.goal, kitchen.hands[i], kitchen.on)[kitchen.cells[i]] >= HOPE

    def _has_waited(self, kitchen: State) -> int:
        """For how many steps nothing has changed; below 0, for how many it is going to stay where it gave way."""
        if self.kitchen is None or self.waited < 0:
            return min(self.waited + 1, 0)
        if kitchen == self.kitchen:
            return self.waited + 1
        moved = kitchen.cells[self.agent] != self.kitchen.cells[self.agent]
        return -self.patience if moved and self._gives_way() else 0

    def _gives_way(self) -> bool:
        """Whether it is its turn to make room, having waited: before whoever comes first among the agents, or is idle.

        If that does not help either, everybody does.
        """
        if self.waited < self.patience:
            return False
        kitchen, here = self._seen, self._seen.cells[self.agent]
        neighbours = self.planner.layout.grid.neighbours
        close = [i for i, cell in enumerate(kitchen.cells) if cell in neighbours[here]]
        idle = self._aim().mode == STAY
        if not idle:  # they may be heading for the same square
            around = {*neighbours[here]}
            close += [i for i, cell in enumerate(kitchen.cells) if i != self.agent and around & {*neighbours[cell]}]
        return bool(close) and (idle or min(close) < self.agent or self.waited >= 3 * self.patience)

    def _has_served(self, kitchen: State) -> bool:
        """Whether what it just had in its hands was its dish, and has now been delivered."""
        if self.kitchen is None or not isinstance(self.goal, str):
            return False
        dish, i = RECIPES[self.goal], self.agent
        handed_in = self.kitchen.hands[i] == dish and not kitchen.hands[i]
        return handed_in and _served(kitchen, dish) > _served(self.kitchen, dish)

    def act(self) -> Categorical[str]:
        """What it may do now. Raises ValueError before it has seen anything."""
        kitchen = self._seen
        if self.waited < 0:
            return self._only([STAY])
        if not self._gives_way():
            return self._aim()
        ahead = self.planner.layout.ahead[kitchen.cells[self.agent]]
        return self._only([action for action, (to, _) in ahead.items() if to not in kitchen.cells] or [STAY])

    def _only(self, actions: Sequence[str]) -> Categorical[str]:
        """Any of these actions, as if nothing else mattered."""
        return Categorical.softmax([(a, 0.0 if a in actions else IMPOSSIBLE) for a in ACTIONS], lapse=self.lapse)

    def _aim(self) -> Categorical[str]:
        """What it would do if it did not mind waiting; remembered for all who are in the same position."""
        if self.over:
            return self._only([STAY])
        kitchen, i = self._seen, self.agent
        ahead = self.planner.layout.ahead[kitchen.cells[i]]
        busy = tuple([a for a, (to, _) in ahead.items() if to in kitchen.cells and to != kitchen.cells[i]])
        key = (self.goal, kitchen.cells[i], kitchen.hands[i], kitchen.on, busy, self.beta, self.lapse)
        policies = self.planner.policies
        if key not in policies:
            policies[key] = self._policy(kitchen, busy)
        return policies[key]

    def _policy(self, kitchen: State, busy: tuple[str, ...]) -> Categorical[str]:
        """The softmax over what everything costs; turning to where somebody is, is no better than staying."""
        assert self.goal is not None
        i = self.agent
        found = self.planner.action_costs(self.goal, kitchen.cells[i], kitchen.hands[i], kitchen.on)
        costs = dict(zip(ACTIONS, found, strict=True))
        costs |= {action: max(costs[action], costs[STAY]) for action in busy}
        return Categorical.boltzmann(costs.items(), beta=self.beta, lapse=self.lapse)

    @property
    def over(self) -> bool:
        """Whether there is nothing left for it to do: the goal is reached, or it cannot bring it about."""
        if self.goal is None or self.reached:
            return True
        kitchen, i = self._seen, self.agent
        if isinstance(self.goal, tuple) and not is_under_way(self.goal, kitchen.hands[i], kitchen.on):
            return True
        return self.planner.values(self.goal, kitchen.hands[i], kitchen.on)[kitchen.cells[i]] >= UNREACHABLE

    @property
    def _seen(self) -> State:
        if self.kitchen is None:
            raise ValueError("a mind must observe something before it can act")
        return self.kitchen


def _served(kitchen: State, dish: int) -> int:
    return sum(dishes.count(dish) for dishes in kitchen.delivered)

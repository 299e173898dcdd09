"""An agent that cooks, and its belief about a kitchen of which it sees one room at a time.

The belief is one full hypothetical kitchen: what is seen is believed, what was seen is remembered, and what must be out
of sight is drawn there, every place being equally likely. How many items there are of each kind is common knowledge.
(ProToM §3.1, eq. 7.)
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked.kitchen import NOTHING, PARTS, RECIPES, STAY, KitchenLayout, parts
from otherminds.worlds.overcooked.planner import WAITING_COST, CookGoal, OvercookedPlanner, is_under_way
from otherminds.worlds.overcooked.rules import ACTIONS, UNSEEN, KitchenView, State

# Steps of waiting for another agent's help between new draws of what is in rooms never seen; chosen, not tuned.
RESAMPLE_EVERY = 4

T = TypeVar("T")
Deliveries = tuple[tuple[int, ...] | None, ...]


class Contents(NamedTuple):
    """Where items are believed to be: on counters and boards, in hands, delivered."""

    on: tuple[int, ...]
    hands: tuple[int, ...]
    delivered: tuple[tuple[int, ...], ...]


class BeliefSampler:
    """Draws the unseen part of a kitchen; the same observation, earlier belief and seed give the same kitchen."""

    def __init__(self, layout: KitchenLayout, items: Iterable[int]) -> None:
        """`items` are the items in the kitchen at the start, in any order."""
        self.layout = layout
        self.items = tuple(sorted(items))
        self._usable = [bool(beside) for beside in layout.beside[: len(layout.counters)]]
        self._contents_cache: dict[tuple[Contents | None, tuple[Any, ...], int], Contents] = {}
        self._hidden = cache(
            lambda mine: tuple(cell for cell in layout.grid.cells() if not layout.sight[cell] & mine)
        )  # squares out of sight from these rooms

    def update(self, before: State | None, view: KitchenView, agent: int, seed: int) -> State:
        """The believed kitchen after an observation; `before` is the earlier belief, None at the start.

        A draw from P(kitchen | all that was seen): only what the observation contradicts is drawn anew. An agent that
        is not seen stays where it was if that is out of sight, and is otherwise at a random square out of sight.
        """
        believed = None if before is None else Contents(before.on, before.hands, before.delivered)
        contents = self.complete(believed, view, seed)
        cells = view.cells
        if UNSEEN in cells:
            hidden = self._hidden(self.layout.sight[cells[agent]])
            rng = _SeededDraws(seed, before and before.cells, view.cells)
            drawn = list(cells)
            for i, cell in enumerate(cells):
                if cell == UNSEEN:
                    last_cell = before.cells[i] if before else UNSEEN
                    drawn[i] = last_cell if last_cell in hidden else rng.choice(hidden)
            cells = tuple(drawn)
        return State(cells, contents.hands, contents.on, contents.delivered)

    def resample_unseen(self, kitchen: State, rooms: int, seed: int) -> State:
        """The kitchen with the items drawn anew that lie in none of the `rooms` (bits) that the agent has seen."""
        layout, on = self.layout, list(kitchen.on)
        never = [k for k, cell in enumerate(layout.counters) if self._usable[k] and not layout.sight[cell] & rooms]
        things = [on[k] for k in never if on[k]]
        free = [k for k in never if k not in layout.boards]
        for k in never:
            on[k] = NOTHING
        for thing, k in zip(things, _SeededDraws(seed, kitchen, rooms).shuffled(free), strict=False):
            on[k] = thing
        return kitchen._replace(on=tuple(on))

    def complete(self, before: Contents | None, view: KitchenView, seed: int) -> Contents:
        """The believed places of all items after an observation, as in `update`."""
        key = (before, view[1:], seed)
        if key in self._contents_cache:
            return self._contents_cache[key]
        if before is None:  # an unseen item lies out of sight, on no cutting board and in no hands
            spots = [NOTHING if thing == UNSEEN else thing for thing in view.on + view.hands]
            moved, _ = _balance(self.items, [*filter(None, spots), *_dishes(view.delivered)])
            free = [k for k, thing in enumerate(view.on) if thing == UNSEEN and k not in self.layout.boards]
            belief = self._scattered(spots, moved, free, _SeededDraws(seed, view[1:]), view.delivered)
        else:
            belief = self._after_surprise(before, view, seed)
        self._contents_cache[key] = belief
        return belief

    def _after_surprise(self, before: Contents, view: KitchenView, seed: int) -> Contents:
        """The belief after an observation that may contradict the earlier one."""
        observed, old = view.on + view.hands, before.on + before.hands
        changes = [(was, thing) for was, thing in zip(old, observed, strict=True) if thing not in (UNSEEN, was)]
        delivered = tuple([was if d is None else d for was, d in zip(before.delivered, view.delivered, strict=True)])
        if not changes and delivered == before.delivered:
            return before
        before_items = [*(was for was, _ in changes), *_dishes(before.delivered)]
        after_items = [*(thing for _, thing in changes), *_dishes(delivered)]
        moved, taken = _balance(_without(before_items, after_items), _without(after_items, before_items))
        spots = [was if thing == UNSEEN else thing for was, thing in zip(old, observed, strict=True)]
        hidden = [k for k, thing in enumerate(observed) if thing == UNSEEN]
        rng = _SeededDraws(seed, before, view[1:])
        for kind in taken:  # parts that turned out to be elsewhere leave the items out of sight
            holding = [(k, part) for k in hidden for part in parts(spots[k]) if _kind(part) == kind]
            if holding:
                k, part = rng.choice(holding)
                spots[k] -= PARTS[part]
        return self._scattered(spots, moved, hidden, rng, delivered)

    def _scattered(
        self, spots: list[int], moved: Sequence[int], hidden: Iterable[int], rng: _SeededDraws, delivered: Deliveries
    ) -> Contents:
        """The belief with the `moved` items at random free places out of sight (within reach, or in hands)."""
        on = len(self._usable)
        free = [k for k in hidden if not spots[k] and (k >= on or self._usable[k])]
        for thing, k in zip(moved, rng.shuffled(free) if moved else (), strict=False):
            spots[k] = thing
        return Contents(tuple(spots[:on]), tuple(spots[on:]), tuple([dishes or () for dishes in delivered]))


class _SeededDraws:
    """Random numbers from a seed and the observation and belief at hand; the generator is made at first use."""

    def __init__(self, *origin: object) -> None:
        self._origin = origin

    @cached_property
    def _rng(self) -> np.random.Generator:
        seed, *origin = self._origin
        return np.random.default_rng([int(str(seed)), zlib.crc32(repr(origin).encode())])

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, equally likely."""
        return options[int(self._rng.integers(len(options)))] if len(options) > 1 else options[0]

    def shuffled(self, numbers: Sequence[int]) -> list[int]:
        """The numbers in random order."""
        permuted: list[int] = self._rng.permutation(numbers).tolist() if len(numbers) > 1 else list(numbers)
        return permuted


def _dishes(delivered: Deliveries) -> list[int]:
    """The delivered dishes that are known, those of all delivery squares in one list."""
    return [dish for dishes in delivered for dish in dishes or ()]


def _without(things: Iterable[int], removed: Sequence[int]) -> list[int]:
    """The things that remain, sorted, once each of `removed` has been taken away if it is among them."""
    remaining = sorted(things)
    for thing in removed:
        if thing in remaining:
            remaining.remove(thing)
    return remaining


@cache
def _kind(part: str) -> str:
    """The food of a part, fresh or chopped, or `plate`."""
    return part.split()[-1]


def _balance(gone: Iterable[int], come: Iterable[int]) -> tuple[list[int], list[str]]:
    """What remains of the items that are gone after those that have come were made of them, and the parts still needed.

    A fresh food may have been chopped, and items may have been merged; the number of parts of each kind is conserved.
    """
    needed = [_kind(part) for thing in come for part in parts(thing)]
    moved = []
    for thing in gone:
        remainder = NOTHING
        for part in parts(thing):
            if _kind(part) in needed:
                needed.remove(_kind(part))
            else:
                remainder += PARTS[part]
        if remainder:
            moved.append(remainder)
    return moved, sorted(needed)


@dataclass(frozen=True)
class Cook:
    """An agent after one goal, a recipe or advice to follow, with one hypothetical kitchen as its belief (`particle`).

    P(a | b, g) = (1 − lapse) · softmax(−beta · Q_g(b, ·)) + lapse / |A|, with Q the steps until the goal is reached in
    the believed kitchen b. An infinite `beta` makes it choose uniformly among the best actions. It waits for an agent
    in its way. After `patience` steps without any change, an agent that is idle, or listed later, steps aside and stays
    there for `patience` steps. An agent that is waiting for an item resamples its belief about unseen rooms every
    four steps.
    """

    planner: OvercookedPlanner = field(repr=False)
    sampler: BeliefSampler = field(repr=False)
    agent: int
    goal: CookGoal | None
    beta: float = 3.0  # per step; chosen, see docs/systems/protom.md
    lapse: float = 0.05  # probability of an action at random; chosen
    patience: int = 2  # steps; chosen
    particle: int = 0
    kitchen: State | None = None
    waited: int = 0
    rooms: int = 0
    reached: bool = False

    def observe(self, view: KitchenView, /) -> Cook:
        """Update the believed kitchen; the goal is reached once the agent's own dish has been delivered."""
        kitchen = self.sampler.update(self.kitchen, view, self.agent, self.particle)
        rooms = self.rooms | self.planner.layout.sight[kitchen.cells[self.agent]]
        reached = self.reached or self._has_served(kitchen)
        waited = self._has_waited(kitchen)
        mind = replace(self, kitchen=kitchen, waited=waited, reached=reached, rooms=rooms)
        if waited > 0 and waited % RESAMPLE_EVERY == 0 and not mind.over and mind._value >= WAITING_COST:
            seed = self.particle + waited
            return replace(mind, kitchen=self.sampler.resample_unseen(kitchen, rooms, seed))
        return mind

    def _has_waited(self, kitchen: State) -> int:
        """Steps without any change; if negative, the steps for which the agent still stays where it gave way."""
        if self.kitchen is None or self.waited < 0:
            return min(self.waited + 1, 0)
        if kitchen == self.kitchen:
            return self.waited + 1
        moved = kitchen.cells[self.agent] != self.kitchen.cells[self.agent]
        return -self.patience if moved and self._gives_way() else 0

    def _gives_way(self) -> bool:
        """Whether it makes room now: if it is idle or listed after an agent nearby, later in any case.

        If it cannot enter a free square beside another room, somebody there is heading for it too: whoever is listed
        last makes room first.
        """
        if self.waited < self.patience:
            return False
        kitchen, layout = self._believed_kitchen, self.planner.layout
        own_cell = kitchen.cells[self.agent]
        neighbours = layout.grid.neighbours
        action = self._unblocked_policy().mode
        close = [i for i, c in enumerate(kitchen.cells) if c in neighbours[own_cell]]
        idle = action == STAY
        if not idle:  # two agents may be heading for the same square
            around = {*neighbours[own_cell]}
            close += [i for i, c in enumerate(kitchen.cells) if i != self.agent and around & {*neighbours[c]}]
        to, _ = layout.ahead[own_cell][action]
        if not close and to != own_cell and any(not layout.sight[own_cell] & layout.sight[c] for c in neighbours[to]):
            return self.waited >= self.patience * (len(kitchen.cells) - self.agent)
        return bool(close) and (idle or min(close) < self.agent or self.waited >= 3 * self.patience)

    def _has_served(self, kitchen: State) -> bool:
        """Whether the dish of its recipe left its hands and was delivered in the last step."""
        if self.kitchen is None or not isinstance(self.goal, str):
            return False
        dish, i = RECIPES[self.goal], self.agent
        if self.kitchen.hands[i] != dish or kitchen.hands[i]:
            return False
        return _dishes(kitchen.delivered).count(dish) > _dishes(self.kitchen.delivered).count(dish)

    def act(self) -> Categorical[str]:
        """π(a) over ACTIONS. Raises ValueError before its first observation."""
        kitchen = self._believed_kitchen
        if self.waited < 0:
            return self._uniform_over([STAY])
        if not self._gives_way():
            return self._unblocked_policy()
        ahead = self.planner.layout.ahead[kitchen.cells[self.agent]]
        return self._uniform_over([action for action, (to, _) in ahead.items() if to not in kitchen.cells] or [STAY])

    def _uniform_over(self, actions: Sequence[str]) -> Categorical[str]:
        """Uniform over some actions, with lapses over all ACTIONS."""
        return Categorical.softmax([(a, 0.0 if a in actions else IMPOSSIBLE) for a in ACTIONS], lapse=self.lapse)

    def _unblocked_policy(self) -> Categorical[str]:
        """Its policy regardless of how long it has waited; kept for all cooks in the same position."""
        if self.over:
            return self._uniform_over([STAY])
        kitchen, cell, hand, on = self._believed_kitchen, *self._position
        ahead = self.planner.layout.ahead[cell]
        busy = tuple([a for a, (to, _) in ahead.items() if to in kitchen.cells and to != cell])
        key = (self.goal, cell, hand, on, busy, self.beta, self.lapse)
        policies = self.planner.policies
        if key not in policies:
            assert self.goal is not None
            costs = dict(zip(ACTIONS, self.planner.action_costs(self.goal, cell, hand, on), strict=True))
            costs |= {action: max(costs[action], costs[STAY]) for action in busy}
            policies[key] = Categorical.boltzmann(costs.items(), beta=self.beta, lapse=self.lapse)
        return policies[key]

    @property
    def over(self) -> bool:
        """Whether its goal is reached or cannot be reached."""
        if self.goal is None or self.reached:
            return True
        _, hand, on = self._position
        if isinstance(self.goal, tuple) and not is_under_way(self.goal, hand, on):
            return True
        return self._value >= UNREACHABLE

    @property
    def _value(self) -> int:
        """Expected steps to its goal in the believed kitchen."""
        assert self.goal is not None
        cell, hand, on = self._position
        return self.planner.values(self.goal, hand, on)[cell]

    @property
    def _position(self) -> tuple[int, int, tuple[int, ...]]:
        """Its square, what it holds, and what it believes to lie on each counter."""
        kitchen = self._believed_kitchen
        return kitchen.cells[self.agent], kitchen.hands[self.agent], kitchen.on

    @property
    def _believed_kitchen(self) -> State:
        """The kitchen it believes in. Raises ValueError before its first observation."""
        if self.kitchen is None:
            raise ValueError("a mind must observe something before it can act")
        return self.kitchen

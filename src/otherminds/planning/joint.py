"""Joint plans: the fewest joint steps by exact search, and when each agent is done if plans are run forward."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, MutableMapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from otherminds.planning.expansion import Expansion
from otherminds.planning.shortest_paths import cached_method

C = TypeVar("C", bound=Hashable)
S = TypeVar("S", bound=Hashable)

NEVER = 1 << 20  # more steps than any plan takes
# Bytes of sets of joint positions that count as a state: in a context that is new, where about n² sets of n agents are
# kept from then on, and in one that is only gone through. Chosen: 150,000 states are at most 10 s and less than 1 GB.
KEPT, PASSED = 8_000, 32_000


class ContextAction(NamedTuple, Generic[C]):
    """An action that an agent can take in some cells (as bits), and the context `after` it.

    With `beside` set, the agent must stand exactly one step from that agent instead.
    """

    cells: int
    after: C
    beside: int | None = None


class JointPositions:
    """Sets of joint positions of n agents on a grid, each a big integer with one bit for every position (p₁ … pₙ)."""

    def __init__(self, stride: int, height: int, n: int) -> None:
        """`stride` is the difference between a cell and the one below it; a spare row keeps moves from wrapping."""
        self.span = stride * (height + 1)
        self.n = n
        self.bytes = self.span**n // 8
        self.steps = (1, -1, stride, -stride)

    def of(self, cells: Sequence[int]) -> int:
        """The set that holds one joint position."""
        return 1 << sum(cell * self._cell_weight(i) for i, cell in enumerate(cells))

    def _cell_weight(self, i: int) -> int:
        """The difference that one cell of agent i makes to the bit number of a joint position."""
        return int(self.span ** (self.n - 1 - i))

    @cached_method
    def within(self, i: int, cells: int) -> int:
        """All joint positions in which agent i stands on one of these cells."""
        return self._with_any_others([cell * self._cell_weight(i) for cell in _set_bits(cells)], {i})

    @cached_method
    def beside(self, i: int, j: int, floor: int) -> int:
        """All joint positions in which agents i and j stand exactly one step apart."""
        weight_i, weight_j = self._cell_weight(i), self._cell_weight(j)
        steps = [(cell, cell + d) for cell in _set_bits(floor) for d in self.steps if cell + d >= 0]
        return self._with_any_others([a * weight_i + b * weight_j for a, b in steps if floor >> b & 1], {i, j})

    def _with_any_others(self, numbers: Sequence[int], fixed: set[int]) -> int:
        """The joint positions with these numbers, and those that differ from them in agents that are not fixed."""
        bits = bytearray(self.bytes + 1)
        for number in numbers:
            bits[number >> 3] |= 1 << (number & 7)
        positions = int.from_bytes(bits, "little")
        for k in {*range(self.n)} - fixed:
            times = 1
            while times < self.span:
                more = min(times, self.span - times)
                positions |= positions << more * self._cell_weight(k)
                times += more
        return positions

    def moved(self, positions: int, i: int, floor: int) -> int:
        """The joint positions after agent i has walked one step on the floor, or stayed."""
        inner = self._cell_weight(i)
        stride = self.steps[2] * inner
        walked = positions << inner | positions >> inner | positions << stride | positions >> stride
        return positions | walked & self.within(i, floor)


def joint_makespan(
    space: JointPositions,
    cells: Sequence[int],
    context: C,
    *,
    floor: Callable[[C], int],
    actions: Callable[[C, int], Iterable[ContextAction[C]]],
    done: Callable[[C], bool],
    limit: int,
    expansion: Expansion,
) -> int | None:
    """L*: the fewest joint steps until `done` under perfect cooperation; None if more than `limit`.

    Breadth-first search over sets of joint positions. In each step the agents act in order; each walks to a
    neighbouring cell, stays, or takes one action that changes the context (which doors are open, who holds what) for
    good. `floor` gives the cells where one can stand in a context, as bits.

    Raises InputError if that takes more states than `expansion` may have.
    """
    kept_cost, passed_cost = 1 + space.n**2 * space.bytes // KEPT, 1 + space.bytes // PASSED
    expansion.count(kept_cost)
    front: dict[C, int] = {context: space.of(cells)}
    reached: dict[C, int] = dict(front)
    for t in range(limit + 1):
        if any(done(c) for c in front):
            return t
        for i in range(space.n):
            after: dict[C, int] = defaultdict(int)
            for c, positions in front.items():
                expansion.count(passed_cost)
                walkable = floor(c)
                after[c] |= space.moved(positions, i, walkable)
                for action in actions(c, i):
                    beside = action.beside
                    where = space.within(i, action.cells) if beside is None else space.beside(i, beside, walkable)
                    if able := positions & where:
                        if action.after not in after and action.after not in reached:
                            expansion.count(kept_cost)
                        after[action.after] |= able
            front = after
        front = {c: new for c, p in front.items() if (new := p & ~reached.get(c, 0))}
        for c, new in front.items():
            reached[c] = reached.get(c, 0) | new
    return None


def _set_bits(cells: int) -> Iterator[int]:
    """The numbers of the bits that are set, in ascending order: 0b1010 gives 1 and 3."""
    while cells:
        lowest = cells & -cells
        yield lowest.bit_length() - 1
        cells ^= lowest


def finishing_steps(
    start: S,
    remaining: MutableMapping[S, tuple[int, ...]],
    done: Callable[[S], tuple[bool, ...]],
    advance: Callable[[S], tuple[int, S]],
    limit: int = NEVER,
) -> tuple[int, ...]:
    """Steps from `start` until each agent is done in a deterministic rollout; NEVER for more than about `limit` steps.

    `done` says which agents are done, and stay so. `advance` returns how many steps pass until the next event and the
    state then, or NEVER steps if no event follows. What remains from every state on the way is kept in `remaining`.
    """
    trail: list[tuple[S, int, tuple[bool, ...]]] = []
    state, total = start, 0
    while True:
        ready = done(state)
        rest = (0,) * len(ready) if all(ready) else remaining.get(state)
        if rest is None and total > limit:
            rest = tuple([0 if is_done else NEVER for is_done in ready])
        if rest is not None:
            break
        trail.append((state, total, ready))
        steps, state = advance(state)
        total += steps
        if steps == NEVER:
            rest = (NEVER,) * len(ready)
            break
    for passed, since, ready in reversed(trail):
        rest = tuple([0 if is_done else min(r + total - since, NEVER) for r, is_done in zip(rest, ready, strict=True)])
        total, remaining[passed] = since, rest
    return rest

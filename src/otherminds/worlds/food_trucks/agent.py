"""An agent with a desire and a belief that walks to a food truck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.food_trucks.planner import FoodTruckPlanner
from otherminds.worlds.food_trucks.rules import ACTIONS, EAT, STAY, FoodTruckView

BETA = 2.5  # per unit of reward; the value that fits people best in Baker et al. 2017


@dataclass(frozen=True)
class Diner:
    """An agent with rewards for the trucks (`desire`) and probabilities of what is parked out of sight (`belief`).

    P(a) ∝ exp(beta · Q(b, x, a)). The belief is updated by Bayes' rule: seeing settles it, not seeing says nothing.
    `expected` is the belief before the first observation.
    """

    planner: FoodTruckPlanner = field(repr=False, hash=False)
    desire: tuple[float, ...]
    belief: tuple[float, ...]
    beta: float = BETA
    cell: int | None = None
    expected: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.expected:
            object.__setattr__(self, "expected", self.belief)

    def observe(self, view: FoodTruckView, /) -> Diner:
        """The agent at its new cell, and certain of what is parked if it sees that."""
        if view.parked is None:
            return replace(self, cell=view.cell)
        certain = tuple(float(content == view.parked) for content in self.planner.world.contents)
        return replace(self, cell=view.cell, belief=certain)

    def act(self) -> Categorical[str]:
        """P(action), where walking into a wall and eating where there is no truck are seen as staying.

        Raises ValueError before the first observation.
        """
        if self.cell is None:
            raise ValueError("a mind must observe something before it can act")
        values = self.planner.q_values(self.desire, self.belief, self.cell)
        top = values.max()
        return Categorical.from_scores(
            (self._effect(action), self.beta * float(value - top))
            for action, value in zip(ACTIONS, values, strict=True)
        )

    def _effect(self, action: str) -> str:
        """The action as it is seen, by its effect."""
        world = self.planner.world
        if action == EAT:
            at_truck = self.cell == world.known_spot or (self.cell == world.hidden_spot and self.belief[-1] < 1.0)
            return EAT if at_truck else STAY
        return STAY if world.destination(self.cell or 0, action) == self.cell else action


def watch_walk(
    observer: Observer[Diner], parked: str, cells: Iterable[int], actions: Iterable[str]
) -> Iterator[Observer[Diner]]:
    """The observers before the first action and after each one.

    The observer knows what is parked and where the agent is, but not whether it saw the hidden spot: with the
    probability v of seeing it from a cell, each mind becomes one that has seen it.
    """

    def arrive(watched: Observer[Diner], cell: int) -> Observer[Diner]:
        """The observers at a cell: each mind split into one that saw the hidden spot and one that did not."""

        def glances(mind: Diner) -> Iterator[tuple[Diner, float]]:
            p_seen = mind.planner.world.visibility[cell]
            yield mind.observe(FoodTruckView(cell)), 1.0 - p_seen
            yield mind.observe(FoodTruckView(cell, parked)), p_seen

        return watched.bind(glances)

    cells = iter(cells)
    observer = arrive(observer, next(cells))
    yield observer
    for action, cell in zip(actions, cells, strict=True):
        observer = arrive(observer.watch(action, FoodTruckView(cell)), cell)
        yield observer

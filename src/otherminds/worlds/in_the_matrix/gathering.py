"""How to gather and to meet: the next action of a body in a matrix world, from what it sees and remembers."""

from __future__ import annotations

from typing import NamedTuple

from otherminds.worlds.avatars import Action
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.memory import THERE, UNKNOWN, Other, Surroundings, reaches
from otherminds.worlds.in_the_matrix.strategies import Aim, Collect, intent, play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix, View

MOVES: tuple[Action, ...] = ("forward", "step_right", "backward", "step_left")
TURNS: tuple[tuple[int, Action], ...] = ((1, "turn_right"), (3, "turn_left"), (2, "turn_right"))
STALE = 60.0
BARE = 40.0
UNSURE = 8.0
UNSEEN = 10.0
CROWD = 4.0
FRESH = 25
UNREADY = 8.0
POINT = 3.0


class Skill(NamedTuple):
    """How well a body does: knobs from clumsy to deft.

    `slips` is the probability of any action instead of the meant one, `pauses` that of none; `detour` how many steps
    it walks around to avoid picking up what it does not want; `eager` whether it shoots as soon as it holds mostly
    what it aims at; `watchful` whether a player of replies answers what others have been taking rather than what
    they played last.
    """

    slips: float = 0.0
    pauses: float = 0.0
    detour: float = 6.0
    eager: bool = False
    watchful: bool = False


class Plan(NamedTuple):
    """What to do next, and the cell that this is to lead to."""

    action: Action
    cell: int


class Thought(NamedTuple):
    """What a body goes by when it plans. `worth` is what a meeting with each player is expected to pay, if known."""

    world: InTheMatrix
    memory: Surroundings
    view: View
    skill: Skill
    worth: tuple[float, ...] = ()

    def plan(self, aim: Aim) -> Plan:
        """The next action for an aim: gather what it lacks, then meet somebody."""
        held = self.view.inventory
        gathering = isinstance(intent(aim, held), Collect)
        if not gathering or (self.skill.eager and play_of(held) == aim.kind):
            shot = self._shot()
            if shot is not None:
                return shot
        return self._gather(aim.kind) if gathering else self._meet(aim.kind)

    def _stay(self, action: Action = "noop") -> Plan:
        return Plan(action, self.view.cell)

    # Meet

    def _shot(self) -> Plan | None:
        """Zap a ready player whom the beam reaches, or turn so that it does; None if that helps nobody."""
        ready = {other.cell for j, other in self._in_sight() if other.ready and self._worth(j) > 0}
        if not ready:
            return None
        if self._covers(self.view.facing, ready):
            return self._stay("interact" if self.view.ready_to_shoot == 1 else "noop")
        return next((self._stay(turn) for by, turn in TURNS if self._covers((self.view.facing + by) % 4, ready)), None)

    def _meet(self, kind: int) -> Plan:
        """Go to where somebody was seen who is free to meet, else to where one has not looked for long."""
        t = self.view.t
        free = ((j, other) for j, other in enumerate(self.memory.others) if other and not other.frozen)
        lately = [(j, other) for j, other in free if t - other.t <= FRESH and self._worth(j) > 0]
        if any(other.t == t and self._covers(self.view.facing, {other.cell}) for _, other in lately):
            return self._stay()
        tolls = self._tolls(kind)
        for _, other in lately:
            tolls.pop(other.cell, None)
        way = self._way({other.cell: t - other.t + self._detriment(j, other) for j, other in lately}, tolls)
        return self._follow(way or self._way(self._unlooked(), tolls))

    def _unlooked(self) -> dict[int, float]:
        """Where somebody may be: what was looked at long ago, or never."""
        looked = zip(self.world.rules.sites, self.memory.looked, strict=True)
        late = {cell: max(0.0, STALE - (self.view.t - seen)) for cell, seen in looked if self.memory.knows(cell)}
        return late | self._borders()

    def _borders(self) -> dict[int, float]:
        """Where what has not been seen begins, for those who do not know the map."""
        return dict.fromkeys(self.memory.borders(self.world, self.view.cell), UNSEEN)

    def _in_sight(self) -> list[tuple[int, Other]]:
        others = enumerate(self.memory.others)
        return [(j, other) for j, other in others if other is not None and other.t == self.view.t]

    def _worth(self, player: int) -> float:
        return self.worth[player] if self.worth else 1.0

    def _detriment(self, player: int, other: Other) -> float:
        """How many steps further one would go for somebody who is ready, and worth as much as anybody."""
        best = max(self.worth, default=1.0)
        return (0.0 if other.ready else UNREADY) + POINT * (best - self._worth(player))

    def _covers(self, facing: int, cells: set[int]) -> bool:
        return reaches(self.memory, self.world, self.view.cell, facing, cells)

    # Gather

    def _gather(self, kind: int) -> Plan:
        """Go to the nearest resource of a kind: surely there, perhaps back again, or perhaps of this kind."""
        return self._follow(self._way(self._sources(kind), self._tolls(kind)) or self._aside())

    def _aside(self) -> Route | None:
        """A step off the one source there is, for nothing regrows under oneself."""
        beside = self.world.rules.field.grid.neighbours[self.view.cell]
        return self._way(dict.fromkeys(beside, 0.0), self._tolls(UNKNOWN))

    def _sources(self, kind: int) -> dict[int, float]:
        """Where there may be resources of a kind, and how many steps the doubt is worth; none regrow under oneself."""
        rules, memory = self.world.rules, self.memory
        found = self._borders()
        for cell, its, away in zip(rules.sites, memory.kinds, memory.away, strict=True):
            if its in (kind, UNKNOWN) and cell != self.view.cell and memory.knows(cell):
                found[cell] = (UNSURE if its == UNKNOWN else 0.0) + (0.0 if away == THERE else self._wait(away))
        return found

    def _wait(self, away: int) -> float:
        """What it costs that a resource may not have regrown yet: the rest of the delay, and doubt about the rest."""
        rules = self.world.rules
        late = self.view.t - away - rules.delay
        return BARE * (1 - rules.rate) ** max(late, 0) + max(-late, 0)

    # Walk

    def _tolls(self, kind: int) -> dict[int, float]:
        """What it costs to walk over resources one does not want, and to push through people."""
        memory, detour = self.memory, self.skill.detour
        tolls = {
            cell: detour
            for cell, its, away in zip(self.world.rules.sites, memory.kinds, memory.away, strict=True)
            if its != kind and away == THERE
        }
        return tolls | {other.cell: CROWD for _, other in self._in_sight()}

    def _way(self, targets: dict[int, float], tolls: dict[int, float]) -> Route | None:
        return cheapest_route(self.world.rules.field.grid, self.view.cell, targets, tolls, self.memory.seen)

    def _follow(self, way: Route | None) -> Plan:
        """Take the first step; face the way first if the target is out of sight and some steps away."""
        if way is None or way.first is None:
            return self._stay()
        direction = self.world.rules.field.ahead.index(way.first - self.view.cell)
        turn = (direction - self.view.facing) % 4
        hidden = way.target not in self.world.rules.field.window(self.view.cell, self.view.facing)
        if turn and hidden and way.cost > 3:
            return self._stay("turn_left" if turn == 3 else "turn_right")
        return Plan(MOVES[turn], way.first)

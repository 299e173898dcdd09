"""Scripted bots of matrix worlds: they gather what their strategy aims at, then look for a partner to interact with.

A bot acts on its own window and memory alone, and on the map if it is `mapped`. To act on the whole state, make it an
all-seeing agent of the world.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.worlds.avatars import ACTIONS, STEPS, Action
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.memory import THERE, UNKNOWN, MapMemory, SeenPlayer, initial_memory, updated_memory
from otherminds.worlds.in_the_matrix.strategies import Aim, CounterPrevious, Strategy, StrategyState, play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

MOVES: tuple[Action, ...] = ("forward", "step_right", "backward", "step_left")
TURNS: tuple[tuple[int, Action], ...] = ((1, "turn_right"), (3, "turn_left"), (2, "turn_right"))
# Trade-offs of a bot, in steps of walking; chosen for plausible play on development seeds, not fitted to Melting Pot's.
STALE = 60.0  # a site not looked at for so long is as good a place to search for players as one never looked at
BARE = 40.0  # cost of an empty site that could regrow now: falls with the probability that it has
UNSURE = 8.0  # cost of a resource of unknown kind
UNSEEN = 10.0  # cost of the border of what the bot has seen, compared with a known target
CROWD = 4.0  # cost of a cell with a player in sight on it
FRESH = 25  # a player seen so recently is looked for where it was
UNREADY = 8.0  # cost of a player that is not ready to interact
POINT = 3.0  # cost of each point of reward that an interaction is expected to pay less than the best partner's


class Skill(NamedTuple):
    """How well a bot executes its strategy.

    `slips` is the probability of a random action instead of the intended one, `pauses` that of no action. `detour` is
    how many extra steps it walks to avoid picking up an unwanted resource. An `eager` bot zaps as soon as its aim is
    the majority kind; a `watchful` bot with a reply strategy answers what others have been taking rather than what they
    played last.
    """

    slips: float = 0.0
    pauses: float = 0.0
    detour: float = 6.0
    eager: bool = False
    watchful: bool = False


class PlannedAction(NamedTuple):
    """The next action, and the cell that it should lead to."""

    action: Action
    cell: int


class ActionPlanner(NamedTuple):
    """Chooses a bot's next action. `worth` is the expected reward of an interaction with each player, if known."""

    world: InTheMatrix
    memory: MapMemory
    view: MatrixView
    skill: Skill
    worth: tuple[float, ...] = ()

    def plan(self, aim: Aim) -> PlannedAction:
        """The next action for an aim: gather what the inventory lacks, then interact."""
        inventory = self.view.inventory
        gathering = not aim.is_met(inventory)
        if not gathering or (self.skill.eager and play_of(inventory) == aim.kind):
            shot = self._zap_or_turn()
            if shot is not None:
                return shot
        return self._gather(aim.kind) if gathering else self._meet(aim.kind)

    def _in_place(self, action: Action = "noop") -> PlannedAction:
        """An action that leaves the bot where it is."""
        return PlannedAction(action, self.view.cell)

    # Interact

    def _zap_or_turn(self) -> PlannedAction | None:
        """Zap a ready player in reach of the beam, or turn towards it; None if no player can be reached so."""
        ready = {player.cell for j, player in self._in_sight() if player.ready and self._worth_of(j) > 0}
        if not ready:
            return None
        if self._beam_covers(self.view.facing, ready):
            return self._in_place("interact" if self.view.ready_to_shoot == 1 else "noop")
        facing = self.view.facing
        return next((self._in_place(turn) for by, turn in TURNS if self._beam_covers((facing + by) % 4, ready)), None)

    def _meet(self, kind: int) -> PlannedAction:
        """Go to where a free player was seen lately, else to the places not looked at for longest."""
        t = self.view.t
        free = ((j, player) for j, player in enumerate(self.memory.players) if player and not player.frozen)
        lately = [(j, player) for j, player in free if t - player.t <= FRESH and self._worth_of(j) > 0]
        if any(player.t == t and self._beam_covers(self.view.facing, {player.cell}) for _, player in lately):
            return self._in_place()
        tolls = self._tolls(kind)
        for _, player in lately:
            tolls.pop(player.cell, None)
        best = max(self.worth, default=1.0)
        costs = {
            player.cell: t - player.t + ((0.0 if player.ready else UNREADY) + POINT * (best - self._worth_of(j)))
            for j, player in lately
        }
        route = self._cheapest_route(costs, tolls)
        if route is None:
            sites = zip(self.world.rules.sites, self.memory.looked, strict=True)
            unlooked = {cell: max(0.0, STALE - (t - looked)) for cell, looked in sites if self.memory.knows(cell)}
            route = self._cheapest_route(unlooked | self._borders(), tolls)
        return self._follow(route)

    def _borders(self) -> dict[int, float]:
        """Where the unknown part of the map begins, as targets."""
        return dict.fromkeys(self.memory.borders(self.world, self.view.cell), UNSEEN)

    def _in_sight(self) -> list[tuple[int, SeenPlayer]]:
        """The other players in the window now, with their indices."""
        players = enumerate(self.memory.players)
        return [(j, player) for j, player in players if player is not None and player.t == self.view.t]

    def _worth_of(self, player: int) -> float:
        """The expected reward of an interaction with a player; 1 for all of them if it is not known."""
        return self.worth[player] if self.worth else 1.0

    def _beam_covers(self, facing: int, cells: set[int]) -> bool:
        """Whether a beam from the bot's cell in this direction reaches one of the cells."""
        return self.memory.reaches(self.world, self.view.cell, facing, cells)

    # Gather

    def _gather(self, kind: int) -> PlannedAction:
        """Go to the best resource of a kind, or step off the only source, because nothing regrows under a player."""
        route = self._cheapest_route(self._sources(kind), self._tolls(kind))
        if route is None:
            beside = self.world.rules.field.grid.neighbours[self.view.cell]
            route = self._cheapest_route(dict.fromkeys(beside, 0.0), self._tolls(UNKNOWN))
        return self._follow(route)

    def _sources(self, kind: int) -> dict[int, float]:
        """Cells that may have a resource of a kind, with the cost in steps of doubt about its kind and regrowth."""
        rules, memory = self.world.rules, self.memory
        costs = self._borders()
        for cell, site_kind, away in zip(rules.sites, memory.kinds, memory.away, strict=True):
            if site_kind in (kind, UNKNOWN) and cell != self.view.cell and memory.knows(cell):
                wait = 0.0
                if away != THERE:
                    late = self.view.t - away - rules.delay
                    wait = BARE * (1 - rules.rate) ** max(late, 0) + max(-late, 0)
                costs[cell] = (UNSURE if site_kind == UNKNOWN else 0.0) + wait
        return costs

    # Walk

    def _tolls(self, kind: int) -> dict[int, float]:
        """Extra costs of cells with unwanted resources and of cells with players."""
        memory, detour = self.memory, self.skill.detour
        tolls = {
            cell: detour
            for cell, site_kind, away in zip(self.world.rules.sites, memory.kinds, memory.away, strict=True)
            if site_kind != kind and away == THERE
        }
        return tolls | {player.cell: CROWD for _, player in self._in_sight()}

    def _cheapest_route(self, targets: dict[int, float], tolls: dict[int, float]) -> Route | None:
        return cheapest_route(self.world.rules.field.grid, self.view.cell, targets, tolls, self.memory.explored)

    def _follow(self, route: Route | None) -> PlannedAction:
        """Take the first step of a route; turn first if the target is out of view and more than 3 steps away."""
        if route is None or route.first is None:
            return self._in_place()
        direction = self.world.rules.field.ahead.index(route.first - self.view.cell)
        turn = (direction - self.view.facing) % 4
        hidden = route.target not in self.world.rules.field.window(self.view.cell, self.view.facing)
        if turn and hidden and route.cost > 3:
            return self._in_place("turn_left" if turn == 3 else "turn_right")
        return PlannedAction(MOVES[turn], route.first)


# Slips and pauses were chosen on development seeds for the pace of upstream's bots (docs/systems/melting_pot.md).
ORDINARY = Skill(slips=0.04, pauses=0.1)  # bots with a window
DEFT = Skill(slips=0.03)  # all-seeing bots
ABLE = Skill()  # agents of our own: they neither slip nor pause
SCOUT = Skill(slips=0.04, pauses=0.1, watchful=True)
WALKER = Skill(slips=1.0)  # a uniformly random walk
UNDECIDED = PlannedAction("noop", -1)
SIDESTEP = 0.4  # probability of a random move while blocked, so that two bots head-on get past each other; not tuned


@lru_cache(1024)
def _played(planned: Action, stuck: bool, skill: Skill) -> Categorical[Action]:
    """π(action) of a bot that plans an action: it steps aside where it is stuck, slips and pauses."""
    meant = {planned: 1.0}
    if stuck:
        meant = {action: SIDESTEP / len(MOVES) for action in MOVES}
        meant[planned] = meant.get(planned, 0.0) + 1.0 - SIDESTEP
    slips, pauses = skill.slips, skill.pauses
    if slips or pauses:
        meant = {a: (1 - slips - pauses) * meant.get(a, 0.0) + slips / len(ACTIONS) for a in ACTIONS}
        meant["noop"] += pauses
    return Categorical.from_scores((action, math.log(share)) for action, share in meant.items() if share > 0)


@dataclass(frozen=True)
class MatrixBot:
    """A mind in a matrix world that pursues the aims of a strategy: a program for Melting Pot's bots.

    `choices` is a uniform number that decides all the strategy leaves to chance, so that the mind is immutable.
    `worth` is the expected reward of an interaction with each player; without it, all are worth the same.
    """

    world: InTheMatrix
    me: int
    strategy: Strategy
    state: StrategyState
    choices: float
    skill: Skill = ORDINARY
    memory: MapMemory | None = None
    plan: PlannedAction = UNDECIDED
    stuck: bool = False
    worth: tuple[float, ...] = ()

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        strategy: Strategy,
        rng: np.random.Generator,
        skill: Skill = ORDINARY,
        *,
        mapped: bool = True,
    ) -> Self:
        """The bot at the start of an episode; it explores the map unless it is `mapped`."""
        state, choices = strategy.start().decode(rng.random())
        return cls(
            world, world.agents.index(agent), strategy, state, choices, skill, initial_memory(world, mapped=mapped)
        )

    def toward(self, aim: Aim, worth: tuple[float, ...] = ()) -> Self:
        """The bot with another aim, until its strategy changes it, and other values of interactions."""
        return replace(self, state=StrategyState(aim), worth=worth)

    def observe(self, view: MatrixView) -> Self:
        """The bot after an observation: memory and strategy are updated and the next action is planned."""
        memory = updated_memory(self.memory or initial_memory(self.world), self.world, self.me, view)
        state, choices = self.state, self.choices
        if view.met is not None:
            state, choices = self.strategy.update(state, *view.met).decode(choices)
        plan = PlannedAction("noop", view.cell)
        if not view.frozen:
            plan = ActionPlanner(self.world, memory, view, self.skill, self.worth).plan(self._aim(memory, state))
        stuck = self.plan.action in STEPS and self.plan.cell != view.cell and not view.frozen
        return replace(self, memory=memory, state=state, choices=choices, plan=plan, stuck=stuck)

    def act(self) -> Categorical[Action]:
        """The planned action, or a step aside if the last move was blocked, with slips and pauses."""
        return _played(self.plan.action, self.stuck, self.skill)

    def _aim(self, memory: MapMemory, state: StrategyState) -> Aim:
        """The strategy's aim; a watchful bot's is the reply to the kind that others have taken most of."""
        if not self.skill.watchful or not isinstance(self.strategy, CounterPrevious):
            return state.aim
        taken = [0] * len(self.strategy.replies)
        for site, (kind, away) in enumerate(zip(memory.kinds, memory.away, strict=True)):
            if away != THERE and kind != UNKNOWN and site not in memory.mine:
                taken[kind] += 1
        most = play_of(tuple(taken))
        return state.aim if most is None else self.strategy.replies[most]

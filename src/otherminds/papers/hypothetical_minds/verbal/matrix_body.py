"""A body in matrix worlds that follows plans of a language model, and its action planner (Cross et al. 2024, D.4–D.5).

The model is told what the avatar sees and remembers, and asked for a plan again after a meeting. Paths never cross
walls, avoid players if the detour is short, and avoid resources: at best they pick up nothing on the way, next best
only the kind at their end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from otherminds.papers.hypothetical_minds.verbal import matrix_subgoals as subgoals
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import aim_text, matrix_message, matrix_subgoals_text
from otherminds.papers.hypothetical_minds.verbal.matrix_subgoals import MatrixSituation, MatrixSubgoal, matrix_plan_form
from otherminds.papers.hypothetical_minds.verbal.plan_follower import Effort, PlanFollower, SubgoalPlanning, SubgoalStep
from otherminds.papers.hypothetical_minds.verbal.subgoals import MoveTo
from otherminds.worlds.avatars import Action
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.bots import MOVES, TURNS, UNSEEN
from otherminds.worlds.in_the_matrix.memory import THERE, UNKNOWN, initial_memory, updated_memory
from otherminds.worlds.in_the_matrix.strategies import Aim
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

# costs in steps; all chosen, not tuned
SAME_KIND, OTHER_KIND = 1e3, 1e6  # of picking up the kind that is at the end of a path, or another kind
CROWD = 12.0  # of a cell in which another player stands
NEAR = 3  # a path of at most so many steps is walked without facing it first
LONG = 60  # steps after which a subgoal has failed
LOOK_AROUND = 8  # steps of turning to find a player that is out of sight
RECENT = 25  # steps for which a remembered place of a player is worth going to
DONE = "done"
MET = "a meeting began"


# The action planner


def progress(situation: MatrixSituation, subgoal: MatrixSubgoal, effort: Effort) -> SubgoalStep:
    """The next action for a subgoal on which so much effort was spent."""
    if effort.steps >= LONG:
        return SubgoalStep(outcome="took too long")
    match subgoal:
        case MoveTo():
            return _walk_to(situation, situation.world.rules.field.grid.cell(subgoal.x, subgoal.y))
        case subgoals.FireAt():
            return _fire_at(situation, situation.names.index(subgoal.player), effort.steps)
        case subgoals.Fire():
            return SubgoalStep("interact", outcome=DONE) if situation.view.ready_to_shoot == 1 else SubgoalStep("noop")
        case subgoals.Wait():
            return SubgoalStep("noop", outcome=DONE if effort.steps + 1 >= subgoal.steps else "")
        case subgoals.Patrol():
            return _patrol(situation, effort.steps)


def _walk_to(situation: MatrixSituation, target: int) -> SubgoalStep:
    """Walk to a cell; if none of the known ways leads there, to the border nearest to it."""
    if situation.view.cell == target:
        return SubgoalStep(outcome=DONE)
    route = situation.toward(target, _tolls(situation, target))
    return SubgoalStep(outcome="cannot be reached") if route is None else SubgoalStep(_follow(situation, route))


def _fire_at(situation: MatrixSituation, player: int, spent: int) -> SubgoalStep:
    """Fire if the beam reaches the player, turn or walk so that it does, look around if the player is out of sight."""
    view, target = situation.view, situation.memory.players[player]
    if view.inventory == situation.world.rules.empty:
        return SubgoalStep(outcome="you hold nothing yet to play with")
    if target is None or view.t - target.t > RECENT:
        return SubgoalStep("turn_right") if spent < LOOK_AROUND else SubgoalStep(outcome="is not to be seen")
    if target.t == view.t and not target.frozen:
        if _beam_reaches(situation, view.facing, target.cell):
            return SubgoalStep("interact" if view.ready_to_shoot == 1 and target.ready else "noop")
        turn = next((act for by, act in TURNS if _beam_reaches(situation, (view.facing + by) % 4, target.cell)), None)
        if turn is not None:
            return SubgoalStep(turn)
    tolls = _tolls(situation, target.cell)
    tolls.pop(target.cell, None)
    route = _cheapest_route(situation, {target.cell: 0.0}, tolls)
    return SubgoalStep("turn_right") if route is None or route.first is None else SubgoalStep(_follow(situation, route))


def _patrol(situation: MatrixSituation, spent: int) -> SubgoalStep:
    """Go to the place not looked at for longest, given the walk, until there is a player free to meet."""
    t, players = situation.view.t, situation.memory.players
    if spent and any(player is not None and player.t == t and not player.frozen for player in players):
        return SubgoalStep(outcome=DONE)
    # places to look at, with the steps that a detour to a place looked at long ago is worth
    memory, tolls = situation.memory, _tolls(situation, -1)
    looked = zip(situation.world.rules.sites, memory.looked, strict=True)
    overdue = {cell: max(0.0, LONG - (t - looked_at)) for cell, looked_at in looked if memory.knows(cell)}
    overdue.pop(situation.view.cell, None)
    overdue |= dict.fromkeys(situation.borders, UNSEEN)
    route = _cheapest_route(situation, {cell: steps - tolls.get(cell, 0.0) for cell, steps in overdue.items()}, tolls)
    return SubgoalStep(outcome="there is nowhere to go") if route is None else SubgoalStep(_follow(situation, route))


def _cheapest_route(situation: MatrixSituation, targets: dict[int, float], tolls: dict[int, float]) -> Route | None:
    grid, explored = situation.world.rules.field.grid, situation.memory.explored
    return cheapest_route(grid, situation.view.cell, targets, tolls, explored)


def _tolls(situation: MatrixSituation, target: int) -> dict[int, float]:
    """The cost of entering each cell with a player or a resource on it, other than the target."""
    memory, rules = situation.memory, situation.world.rules
    site = rules.site_at[target] if target >= 0 else -1
    target_kind = memory.kinds[site] if site >= 0 else UNKNOWN
    tolls = {
        cell: SAME_KIND if kind == target_kind != UNKNOWN else OTHER_KIND
        for cell, kind, away in zip(rules.sites, memory.kinds, memory.away, strict=True)
        if away == THERE and cell != target
    }
    people = (player for player in memory.players if player is not None and player.t == situation.view.t)
    return tolls | {player.cell: CROWD for player in people if player.cell != target}


def _follow(situation: MatrixSituation, route: Route) -> Action:
    """Take the first step; face the way first if the target is out of sight and some steps away."""
    if route.first is None:
        return "noop"
    view, field = situation.view, situation.world.rules.field
    turn = (field.ahead.index(route.first - view.cell) - view.facing) % 4
    if turn and route.cost > NEAR and route.target not in field.window(view.cell, view.facing):
        return "turn_left" if turn == 3 else "turn_right"
    return MOVES[turn]


def _beam_reaches(situation: MatrixSituation, facing: int, target: int) -> bool:
    """Whether a beam from the avatar's cell in this direction reaches the target."""
    return situation.memory.reaches(situation.world, situation.view.cell, facing, (target,))


# The body


def _can_act(situation: MatrixSituation) -> bool:
    """Whether the avatar can act: it is alive and not frozen."""
    return bool(situation.view.window) and not situation.view.frozen


@dataclass(frozen=True, kw_only=True)
class MatrixBody(PlanFollower[MatrixSituation, MatrixSubgoal]):
    """A body for a mind in a matrix world. It asks its model for plans as it observes.

    A `mapped` body knows where walls and resources are; others learn it from their windows.
    """

    planning = SubgoalPlanning(_can_act, matrix_message, matrix_subgoals_text, matrix_plan_form, progress)
    world: InTheMatrix
    mapped: bool = False

    def toward(self, aim: Aim, worth: tuple[float, ...] = ()) -> Self:
        """The body whose plans are for an aim; `worth` is the expected payoff of a meeting with each player."""
        return replace(self, purpose=aim_text(self.world, self.me, aim, worth))

    def observe(self, view: MatrixView) -> Self:
        """Look, and ask for a plan if there is none."""
        body = self.look(view)
        return body.planned() if body.wants_plan else body

    def look(self, view: MatrixView) -> Self:
        """Perceive, and follow the plan as long as there is one; a meeting ends it."""
        before = initial_memory(self.world, mapped=self.mapped) if self.perceived is None else self.perceived.memory
        memory = updated_memory(before, self.world, self.me, view)
        body = self.seeing(MatrixSituation(self.world, self.me, memory, view), view.reward)
        if _can_act(body.situation):
            return body.advanced()
        if not body.met:
            body = body.noted(MET)
        return replace(body, queue=(), rests_until=0)

    @property
    def met(self) -> bool:
        """Whether a meeting ended the last plan."""
        return self.last_plan is not None and MET in self.last_plan.outcomes

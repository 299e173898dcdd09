"""Kitchens with certificates: random kitchens, and the effect of help, established by playing with and without it.

Every claim is about simulated cooks that know only what they see, over ten seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from otherminds.evaluation.engines import stream
from otherminds.mind import WithErrand
from otherminds.papers.protom.episodes import Decision, Facilitator, SilentFacilitator
from otherminds.papers.protom.experiment import PlannedEpisode, episode
from otherminds.papers.protom.levels.level_sets import Design, least_hash
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.world import rollout_with_minds
from otherminds.worlds.overcooked import kitchen
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.level_files import LEVELS, KitchenLevel, draw_text, parse_kitchen, write_kitchen
from otherminds.worlds.overcooked.planner import Advice
from otherminds.worlds.overcooked.rules import Overcooked, State

SEEDS = 10  # seeds that a certificate claims something about; chosen
ORACLES = 5  # of these, the seeds with which an oracle must succeed: an oracle's episode takes seconds
LATEST = 8  # last step at which the message of a certificate may be sent: help that comes early; chosen
PROMISING = 4  # messages that are tried by playing all seeds, out of those foreseen to save most; cost only
FORESEEN = 3  # seeds whose runs are searched for a message that helps where none should; cost only
LEAST = 4.0  # mean number of steps that a useful message saves at least; chosen
SHARE = 0.15  # share of the mean length that a useful message saves at least; as in Doors-Keys-Gems

# Random kitchens. All probabilities below were chosen so that kitchens of every class turn up, resembling the paper's.

AGENTS = ("Ana", "Ben")
DISHES = {"SimpleTomato": "tomato", "SimpleLettuce": "lettuce", "SimpleOnion": "onion"}
SIDES = (7, 9)  # shortest and longest side, in squares
OPENINGS = {"none": 0.45, "door": 0.45, "gap": 0.1}  # kinds of openings between rooms, with their probabilities
Cell = tuple[int, int]


class _KitchenPlan:
    """A kitchen under construction: its squares."""

    def __init__(self, rng: np.random.Generator, width: int, height: int) -> None:
        """A kitchen of one room: floor, with counters all around."""
        self.rng, self.width, self.height = rng, width, height
        self.tiles: dict[Cell, kitchen.Tile] = {
            (x, y): kitchen.FLOOR if 0 < x < width - 1 and 0 < y < height - 1 else kitchen.COUNTER
            for y in range(height)
            for x in range(width)
        }

    def divide(self, across: bool) -> None:
        """Divide the kitchen by a row of counters with a door, a gap or neither in it."""
        length, breadth = (self.width, self.height) if across else (self.height, self.width)
        offset = int(self.rng.integers(2, length - 2))
        wall = [(offset, i) if across else (i, offset) for i in range(1, breadth - 1)]
        wall = [cell for cell in wall if self.tiles[cell] == kitchen.FLOOR]
        self.tiles |= dict.fromkeys(wall, kitchen.COUNTER)
        opening = self.rng.choice(list(OPENINGS), p=list(OPENINGS.values()))
        if opening != "none" and wall:
            self.tiles[wall[int(self.rng.integers(len(wall)))]] = kitchen.DOOR if opening == "door" else kitchen.FLOOR

    def usable(self, floor: Set[Cell]) -> list[Cell]:
        """The counters beside these squares."""
        counters = (cell for cell, tile in self.tiles.items() if tile == kitchen.COUNTER)
        return [cell for cell in counters if not floor.isdisjoint(_around(cell))]

    def pieces(self, *without: kitchen.Tile) -> list[set[Cell]]:
        """The connected pieces of floor and doors that remain without tiles of these kinds; without DOOR: the rooms."""
        kinds = {kitchen.FLOOR, kitchen.DOOR}.difference(without)
        remaining = {cell for cell, tile in self.tiles.items() if tile in kinds}
        pieces = []
        while remaining:
            piece = frontier = {min(remaining)}
            while frontier:
                frontier = {near for cell in frontier for near in _around(cell) if near in remaining} - piece
                piece = piece | frontier
            remaining -= piece
            pieces.append(piece)
        return pieces

    def draw(self, cells: Sequence[Cell], count: int) -> list[Cell]:
        """`count` different cells, or all if there are fewer."""
        indices = self.rng.choice(len(cells), size=min(count, len(cells)), replace=False)
        return [cells[int(i)] for i in indices]


def _around(cell: Cell) -> tuple[Cell, ...]:
    """The four squares beside a square, some of them perhaps off the map."""
    x, y = cell
    return (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)


def random_kitchen(rng: np.random.Generator) -> KitchenLevel:
    """A kitchen for two, of 7 × 7 to 9 × 9 squares in one to four rooms; both agents have recipes with one food."""
    plan = _KitchenPlan(rng, *(int(n) for n in rng.integers(SIDES[0], SIDES[1] + 1, size=2)))
    across = bool(rng.random() < 0.7)
    plan.divide(across)
    if rng.random() < 0.25:
        plan.divide(bool(rng.random() < 0.5))
    for floor in plan.pieces():
        for tile in (kitchen.BOARD, kitchen.DELIVERY):
            plan.tiles |= dict.fromkeys(plan.draw(plan.usable(floor), 1 + int(rng.random() < 0.2)), tile)
    recipes = [str(recipe) for recipe in rng.choice(list(DISHES), size=2, replace=bool(rng.random() < 0.3))]
    return KitchenLevel("random", _furnished(plan, recipes))


def _furnished(plan: _KitchenPlan, recipes: Sequence[str]) -> Overcooked:
    """The kitchen with agents, foods and plates: mostly in different rooms, mostly not where they are needed."""
    rng = plan.rng
    rooms = plan.pieces(kitchen.DOOR)
    together = len(rooms) == 1 or rng.random() < 0.2  # both may be in one room
    homes = [rooms[int(k)] for k in rng.choice(len(rooms), size=len(AGENTS), replace=together)]
    everywhere = set[Cell]().union(*rooms)
    people: list[Cell] = []
    for home in homes:
        people += plan.draw(sorted(home - {*people} or everywhere - {*people}), 1)
    lies_at: dict[Cell, int] = {}

    def put(thing: int, floor: Set[Cell]) -> None:
        free = [cell for cell in plan.usable(floor) if cell not in lies_at] or plan.usable(everywhere)
        lies_at[plan.draw(free, 1)[0]] = thing

    for recipe, partner_home in zip(recipes, reversed(homes), strict=True):
        put(kitchen.FRESH[DISHES[recipe]], partner_home if rng.random() < 0.5 else everywhere)
    where = homes[int(rng.integers(len(homes)))] if rng.random() < 0.5 else everywhere
    for _ in range(int(rng.integers(2, 4))):
        put(kitchen.PLATE, where)
    for food in rng.choice(list(kitchen.FRESH), size=int(rng.integers(0, 3))):
        put(kitchen.FRESH[str(food)], everywhere)
    rows = ("".join(plan.tiles[x, y] for x in range(plan.width)) for y in range(plan.height))
    layout = kitchen.KitchenLayout(tuple(rows))
    counters = [layout.grid.xy(cell) for cell in layout.counters]
    return Overcooked(
        layout=layout,
        agents=AGENTS,
        cells=tuple(layout.grid.cell(*cell) for cell in people),
        recipes=tuple(recipes),
        on=tuple(lies_at.get(cell, kitchen.NOTHING) for cell in counters),
    )


# Classes and their proofs


@dataclass(frozen=True)
class OneRequest(SilentFacilitator):
    """A facilitator that makes one request once, as soon as it can be followed at or after step t."""

    advice: OvercookedAdvice
    request: Advice
    t: int = 1
    made: bool = False

    def watch(self, joint: Mapping[str, Any], after: Any) -> OneRequest:
        """The facilitator with one step less to wait."""
        return replace(self, t=self.t - 1)

    def tell(self, message: Any, state: Any) -> OneRequest:
        """The facilitator that has made its request."""
        return replace(self, made=True)

    def decide(self, state: State, left: int, rng: np.random.Generator) -> Decision[Advice]:
        """The request once it can be followed, else silence."""
        if self.made or self.t > 0 or self.request not in self.advice.candidates(state):
            return Decision(silence="it is not the time")
        return Decision(self.request, words=self.advice.words(self.request))


class _Forecast(NamedTuple):
    """A request that can be made after t steps, and the steps that it is forecast to save."""

    saves: int
    t: int
    request: Advice


def prove(level: KitchenLevel) -> dict[str, str] | None:
    """Classify a kitchen by playing it: its certificate, or None if it belongs to no class.

    `L0`: the length of a run for each seed, without help (the horizon if an agent fails). `Lf`: the same with one
    message. `message`: that message and the step after which it is sent.

    necessary: an agent lacks something that is out of reach but that the other can bring, so that all runs fail, and
    with one message all succeed. useful: all runs succeed, and one message saves 4 steps and 15 % on average.
    not_needed: all runs succeed, and no message at any time is forecast to save more than one step. Where help counts,
    a facilitator that knows the recipes must make both agents succeed.
    """
    level = replace(level, name="proof")  # the name of a level names its random streams
    horizon, advice = level.horizon, OvercookedAdvice(level.world)
    first = _play_alone(level, advice, 0)
    forecasts = _forecasts(level, advice, first)
    failed = _length(level, [state for state, _ in first]) == horizon
    if not forecasts or 1 < forecasts[0].saves < LEAST - 1 or failed != bool(lacking(level)):
        return None
    plays = [first, *(_play_alone(level, advice, seed) for seed in range(1, SEEDS))]
    alone = tuple(_length(level, [state for state, _ in play]) for play in plays)
    if len({length == horizon for length in alone}) > 1:
        return None
    unaided = " ".join(map(str, alone))
    early = [forecast for forecast in forecasts if forecast.saves > 1 and forecast.t <= LATEST]
    # each request once, with its best forecast, in the order of forecasts
    promising = list({forecast.request: forecast for forecast in reversed(early)}.values())[::-1][:PROMISING]
    for forecast in promising:
        hint = OneRequest(advice, forecast.request, forecast.t)
        helped_lengths = tuple(_length_with(level, advice, seed, hint) for seed in range(SEEDS))
        saves = fmean(alone) - fmean(helped_lengths)
        if max(helped_lengths) < horizon and saves >= max(LEAST, SHARE * fmean(alone)):
            oracle = OVERCOOKED.facilitator("oracle", level, advice)
            if all(_length_with(level, advice, seed, oracle) < horizon for seed in range(ORACLES)):
                message = f"{advice.address(forecast.request)}, after step {forecast.t}"
                kind, helped = "necessary" if failed else "useful", " ".join(map(str, helped_lengths))
                return {"class": kind, "L0": unaided, "Lf": helped, "message": message}
    if failed or any(f.saves > 1 for play in plays[:FORESEEN] for f in _forecasts(level, advice, play)[:1]):
        return None
    return {"class": "not_needed", "L0": unaided, "message": "none"}


def lacking(level: KitchenLevel) -> list[int]:
    """The agents that can reach a board and a delivery but not a food or plate that they need, though there is one."""
    world, layout = level.world, level.world.layout
    all_things = set(world.on)
    agents = []
    for i, recipe in enumerate(world.recipes):
        if not recipe:
            continue
        floor = layout.reachable(world.cells[i])
        within = [bool(floor & {*beside}) for beside in layout.beside]
        food = kitchen.RECIPES[recipe] - kitchen.PLATE
        needs = [{kitchen.FRESH[f] for f, part in kitchen.CHOPPED.items() if part == food}, {kitchen.PLATE}]
        things_within = {thing for thing, near in zip(world.on, within, strict=False) if near}
        reachable, present = (all(kinds & things for kinds in needs) for things in (things_within, all_things))
        stations = any(within[board] for board in layout.boards) and any(within[len(world.on) :])
        if stations and present and not reachable:
            agents.append(i)
    return agents


def _play_alone(level: KitchenLevel, advice: OvercookedAdvice, seed: int) -> list[tuple[State, Mapping[str, Any]]]:
    """A run without help: the state and the minds after each step."""
    minds, rng = OVERCOOKED.people(level, advice, seed), stream(seed, "people", level.name)
    steps = rollout_with_minds(level.world, minds, steps=level.horizon, rng=rng)
    return [(step.after, minds) for step, minds in steps]


def _length_with(level: KitchenLevel, advice: OvercookedAdvice, seed: int, helper: Facilitator[Any, Any, Any]) -> int:
    """The length of a run with this facilitator, in steps; the horizon if an agent fails."""
    entry = PlannedEpisode(level, "none", "proof", seed)
    run = episode(entry, OVERCOOKED.setup(entry, advice)._replace(facilitator=helper))
    return _length(level, [moment.after for moment in run])


def _length(level: KitchenLevel, states: Sequence[State]) -> int:
    """The number of steps of a run, given the state after each; the horizon if an agent fails."""
    return len(states) if states and level.world.done(states[-1]) else level.horizon


def _forecasts(
    level: KitchenLevel, advice: OvercookedAdvice, play: Sequence[tuple[State, Mapping[str, Any]]]
) -> list[_Forecast]:
    """The forecast of every request that could be made in a run without help, the best first."""
    forecasts = []
    for t, (state, minds) in enumerate(play, 1):
        remaining_steps = level.horizon - t
        minds_now = list(minds.values())
        without = max(advice.finish(state, minds_now, remaining_steps))
        for request in advice.candidates(state):
            helped_minds, mind = list(minds_now), minds_now[request.helper]
            helped_minds[request.helper] = WithErrand(mind, advice.errand(state, request, mind))
            forecasts.append(_Forecast(without - max(advice.finish(state, helped_minds, remaining_steps)), t, request))
    return sorted(forecasts, key=lambda forecast: (-forecast.saves, forecast.t))


def symmetry_hash(level: KitchenLevel) -> str:
    """A hash that is equal for rotated and reflected versions of a kitchen, whatever the agents' names."""
    world, grid = level.world, level.world.layout.grid
    rows = [line.split() for line in draw_text(world, world.initial).split("\n")]
    for cell, recipe in zip(world.cells, world.recipes, strict=True):
        x, y = grid.xy(cell)
        rows[y][x] = f"wants {recipe}"
    return least_hash(rows, lambda view: "\n".join(map(" ".join, view)))


DESIGN = Design(random_kitchen, prove, symmetry_hash, parse_kitchen, write_kitchen, LEVELS, "twenty-one")

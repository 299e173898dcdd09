"""Melting Pot's engine beside the library's rules: recorded or fresh episodes, and the steps where they disagree.

    python -m benchmarks.evidence.melting_pot_rules --steps 20000 --world rws_repeated

Needs the extra `meltingpot` and the levels of dm-meltingpot. Exits with 1 if a step disagrees.

A trace shows most outcomes of chance: contested moves show who moved first, and regrown resources are there. For the
rest (damage to resources, order of interactions, cooking times) a check keeps every state that agrees with all
observations so far. A step is a mismatch if none of these states leads to the next observation.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence.melting_pot_engine import FOLDER, SUBSTRATES, MeltingPotEngine
from benchmarks.evidence.melting_pot_traces import RecordableEngine, SeenKitchen, SeenMatrix, Trace, record
from benchmarks.keeping import keep, option
from otherminds.errors import InputError
from otherminds.evaluation.progress import shown as with_progress
from otherminds.worlds.avatars import ACTIONS, STEPS, Action
from otherminds.worlds.collaborative_cooking import rules as kitchen_rules
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingOutcome, CookingState
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import MatrixOutcome, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix

TOLERANCE = 1e-12  # by which floats may differ: the engine computes rewards in another order


@dataclass(frozen=True)
class TraceComparison:
    """The number of steps compared, the steps that the rules cannot explain, and the number of events of each kind."""

    steps: int
    mismatches: tuple[str, ...]
    counts: Mapping[str, int]


def check(trace: Trace[Any]) -> TraceComparison:
    """Compare a recorded episode with the rules of its world."""
    return check_kitchen(trace) if isinstance(trace.shown[0], SeenKitchen) else check_matrix(trace)


def verify(engine: RecordableEngine, steps: int, rng: np.random.Generator) -> Iterator[TraceComparison]:
    """Compare `steps` fresh steps of an engine with the rules: one comparison for each episode."""
    return map(check, record(engine, steps, rng))


def summed(comparisons: Iterable[TraceComparison]) -> TraceComparison:
    """The sum of comparisons; each mismatch names its episode."""
    steps, mismatches, counts = 0, list[str](), Counter[str]()
    for episode, comparison in enumerate(comparisons, 1):
        steps += comparison.steps
        mismatches += [f"episode {episode}, {mismatch}" for mismatch in comparison.mismatches]
        counts.update(comparison.counts, episodes=1)
    return TraceComparison(steps, tuple(mismatches), dict(counts))


def differences(expected: SeenMatrix | SeenKitchen, shown: SeenMatrix | SeenKitchen) -> list[str]:
    """A text for each field in which the observation differs from what the rules lead to."""
    pairs = zip(shown._fields, expected, shown, strict=True)
    return [f"{name} {there}, by the rules {rules}" for name, rules, there in pairs if not _alike(rules, there)]


def _alike(first: object, second: object) -> bool:
    if first == second:
        return True
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_alike, first, second))
    return isinstance(first, float) and isinstance(second, (int, float)) and abs(first - second) <= TOLERANCE


# Matrix worlds


def check_matrix(trace: Trace[SeenMatrix], world: InTheMatrix | None = None) -> TraceComparison:
    """Compare a recorded episode with the rules of `world`, by default the matrix world that the trace names.

    The comparison ends at the first mismatch, after which the hidden parts of the state are unknown.
    """
    world = in_the_matrix(trace.substrate) if world is None else world
    rules, counts = world.rules, Counter[str]()
    states = {matrix_opening(rules, trace.shown[0])}
    for t, (joint, shown) in enumerate(zip(trace.joints, trace.shown[1:], strict=True), 1):
        reached = {after for state in states for after in _reached(rules, state, joint, shown)}
        checks = [("; ".join(differences(shown_matrix(rules, state, after), shown)), after) for state, after in reached]
        states = {after for different, after in checks if not different}
        counts.update(
            {
                "meetings": sum(shown.interacted) // 2,
                "picked up": sum(map(sum, shown.collected)),
                "destroyed": sum(map(sum, shown.destroyed)),
                "unseen": shown.resources is None,
            },
            undecided=len(states) > 1,
        )
        if not states:
            closest = min((different for different, _ in checks), key=len, default="no order of moves leads there")
            return TraceComparison(t, (f"step {t}: {closest}",), dict(counts))
    return TraceComparison(len(trace.joints), (), dict(counts))


def matrix_opening(rules: Rules, shown: SeenMatrix) -> MatrixState:
    """The initial state of an episode whose first observation is `shown`."""
    grid = rules.field.grid
    kinds = {grid.cell(x, y): kind for x, y, kind in shown.resources or ()}
    bodies = [body for body in shown.bodies if body is not None]
    return matrix_rules.opening(rules, np.random.default_rng(0))._replace(
        cells=tuple(grid.cell(x, y) for x, y, _ in bodies),
        facings=tuple(facing for _, _, facing in bodies),
        kinds=tuple(kinds[cell] for cell in rules.sites),
    )


def shown_matrix(rules: Rules, before: MatrixState, state: MatrixState) -> SeenMatrix:
    """The engine's observation of a state and of the step that led to it."""
    grid, players, kinds = rules.field.grid, range(rules.players), range(len(rules.resources))
    alive = [cell != matrix_rules.NOWHERE for cell in state.cells]
    growing = (
        (*grid.xy(cell), kind)
        for site, (cell, kind) in enumerate(zip(rules.sites, state.kinds, strict=True))
        if state.shown >> site & 1
    )
    none = (-1.0,) * len(rules.resources)
    return SeenMatrix(
        bodies=tuple((*grid.xy(state.cells[i]), state.facings[i]) if alive[i] else None for i in players),
        resources=tuple(sorted(growing)) if any(alive) else None,
        inventory=state.inventories,
        ready=tuple(1 - wait / matrix_rules.COOLDOWN for wait in state.cooldowns),
        rewards=state.rewards,
        met=tuple(met or (none, none) for met in state.met),
        interacted=tuple(met is not None for met in state.met),
        collected=tuple(
            tuple(int(after > then) for then, after in zip(before.inventories[i], state.inventories[i], strict=True))
            for i in players
        ),
        destroyed=tuple(tuple(int(kind in state.destroyed[i]) for kind in kinds) for i in players),
        ended=state.ended,
    )


def _reached(
    rules: Rules, state: MatrixState, joint: Sequence[int], shown: SeenMatrix
) -> Iterator[tuple[MatrixState, MatrixState]]:
    """The state paired with each state that one step leads to under the outcomes of chance that `shown` allows."""
    moved = _moved(rules, state, joint, shown)
    bodies = [shown.bodies[i] for i in matrix_rules.returning(rules, state)]
    if moved is None or None in bodies:
        return
    order, cells = moved
    respawns = tuple(((rules.field.grid.cell(body[0], body[1]),), body[2]) for body in bodies if body is not None)
    for zappers, regrown in product(_zappers(rules, state, cells, joint), _regrown(rules, state, cells, shown)):
        outcome = MatrixOutcome(order, zappers, regrown, respawns, shown.ended)
        try:
            yield state, matrix_rules.step_with(rules, state, joint, outcome)
        except ValueError:
            continue


def _moved(
    rules: Rules, state: MatrixState, joint: Sequence[int], shown: SeenMatrix
) -> tuple[tuple[int, ...], Sequence[int]] | None:
    """An order of moves that leads every player to its observed cell, and the cells afterwards; None if there is none.

    A player that was observed to stay may move first, so this order works if any does.
    """
    cells, grid = list(state.cells), rules.field.grid
    free = [i for i, clock in enumerate(state.clocks) if clock == matrix_rules.FREE]
    leads = {i: rules.leads[(cells[i] * 4 + state.facings[i]) * 8 + joint[i]] for i in free}
    seen_at = {i: grid.cell(body[0], body[1]) for i, body in enumerate(shown.bodies) if body is not None}
    order: list[int] = []
    while len(order) < len(free):
        fits = [i for i in free if i not in order and (cells[i] if leads[i] in cells else leads[i]) == seen_at.get(i)]
        if not fits:
            return None
        mover = min(fits, key=lambda i: seen_at[i] != cells[i])
        cells[mover] = seen_at[mover]
        order.append(mover)
    return (*order, *(i for i in range(rules.players) if i not in order)), cells


def _zappers(rules: Rules, state: MatrixState, cells: Sequence[int], joint: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The orders of zappers that can differ in effect: all orders within a group whose beams touch the same things."""
    shooting = [
        i
        for i, clock in enumerate(state.clocks)
        if clock == matrix_rules.FREE and joint[i] == matrix_rules.INTERACT and not state.cooldowns[i]
    ]
    idle = [i for i in range(rules.players) if i not in shooting]
    things = {cell for site, cell in enumerate(rules.sites) if state.shown >> site & 1}.union(cells)
    groups: list[tuple[set[int], list[int]]] = []
    for i in shooting:
        touched = things.intersection(chain([cells[i]], *rules.beams[cells[i] * 4 + state.facings[i]]))
        linked = [group for group in groups if group[0] & touched]
        groups = [group for group in groups if group not in linked]
        groups.append((touched.union(*(beam for beam, _ in linked)), [*chain(*(members for _, members in linked)), i]))
    for turns in product(*(permutations(members) for _, members in groups)):
        yield (*chain(*turns), *idle)


def _regrown(rules: Rules, state: MatrixState, cells: Sequence[int], shown: SeenMatrix) -> Iterator[tuple[int, ...]]:
    """The sets of sites that may have regrown: all new ones, and any that a player standing there took at once."""
    if shown.resources is None:
        yield ()
        return
    there = {rules.field.grid.cell(x, y) for x, y, _ in shown.resources}
    ripe = matrix_rules.ripe(rules, state)
    new = [site for site in ripe if rules.sites[site] in there]
    if rules.restock and min(state.clocks) > rules.frozen:
        new = []
    taken = [site for site in ripe if rules.sites[site] in cells and rules.sites[site] not in there]
    for count in range(len(taken) + 1):
        for some in combinations(taken, count):
            yield (*new, *some)


# Collaborative cooking


def check_kitchen(trace: Trace[Any], world: CollaborativeCooking | None = None) -> TraceComparison:
    """Compare a recorded episode with the rules of a kitchen, by default the asymmetric one.

    The comparison ends at the first mismatch, after which the state is unknown. Raises InputError if the trace is not
    one of this kitchen.
    """
    world = cooking_asymmetric() if world is None else world
    shown = [moment for moment in trace.shown if isinstance(moment, SeenKitchen)]
    floor, pots_at = {*map(world.grid.xy, world.grid.cells())}, sorted(map(world.grid.xy, world.pots))
    fits = all(
        len(moment.bodies) == len(world.agents)
        and floor.issuperset(body[:2] for body in moment.bodies)
        and pots_at == [pot[:2] for pot in moment.pots]
        for moment in shown
    )
    if len(shown) < len(trace.shown) or not fits:
        raise InputError(f"the trace of `{trace.substrate}` is not one of this kitchen", hint="name another map")
    states, counts = {kitchen_opening(world, shown[0])}, Counter[str]()
    if difference := _difference(world, states, shown[0]):
        return TraceComparison(0, (f"start: {difference}",), {})
    for t, (before, indices, now) in enumerate(zip(shown, trace.joints, shown[1:], strict=False), 1):
        joint = {agent: ACTIONS[k] for agent, k in zip(world.agents, indices, strict=True)}
        reached = {world.step_with(state, joint, outcome) for state in states for outcome in outcomes(world, joint)}
        states = {state for state in reached if shown_kitchen(world, state) == now}
        pots = [*zip(before.pots, now.pots, strict=True)]
        counts.update(
            {
                "moves": sum(after[:2] != body[:2] for body, after in zip(before.bodies, now.bodies, strict=True)),
                "tomatoes in pots": sum(max(0, after[2] - pot[2]) for pot, after in pots),
                "soups out of pots": sum(after[2] < pot[2] for pot, after in pots),
                "counters changed": len({thing[:2] for thing in {*before.counters} ^ {*now.counters}}),
                "deliveries": int(any(now.rewards)),
            },
            undecided=len(reached) > 1,
        )
        if not states:
            return TraceComparison(t, (f"step {t}: {_difference(world, reached, now)}",), dict(counts))
    return TraceComparison(len(trace.joints), (), dict(counts))


def shown_kitchen(world: CollaborativeCooking, state: CookingState) -> SeenKitchen:
    """The engine's observation of a state."""
    xy = world.grid.xy
    lying = zip(map(xy, world.counters), state.counters, strict=True)
    cooking = zip(map(xy, world.pots), state.pots, strict=True)
    return SeenKitchen(
        bodies=tuple((*xy(body.cell), body.facing) for body in state.bodies),
        hands=tuple(body.hand for body in state.bodies),
        counters=tuple(sorted((*place, thing) for place, thing in lying if thing)),
        pots=tuple(sorted((*place, pot.tomatoes, pot.cooked) for place, pot in cooking)),
        rewards=state.rewards,
        ended=world.done(state),
    )


def outcomes(world: CollaborativeCooking, joint: Mapping[str, Action]) -> Iterator[CookingOutcome]:
    """Every order in which the players that move, and those that interact, may do so; the others come last."""
    movers = [i for i, agent in enumerate(world.agents) if joint[agent] in STEPS]
    users = [i for i, agent in enumerate(world.agents) if joint[agent] == "interact"]
    players = range(len(world.agents))
    still, idle = ([i for i in players if i not in acting] for acting in (movers, users))
    for moving, using in product(permutations(movers), permutations(users)):
        yield CookingOutcome((*moving, *still), (*using, *idle))


def kitchen_opening(world: CollaborativeCooking, shown: SeenKitchen) -> CookingState:
    """The initial state of an episode whose first observation is `shown`."""
    bodies = tuple(kitchen_rules.PlayerState(world.grid.cell(x, y), facing) for x, y, facing in shown.bodies)
    return world.start(np.random.default_rng(0))._replace(bodies=bodies)


def _difference(world: CollaborativeCooking, states: set[CookingState], shown: SeenKitchen) -> str:
    """How the observation differs from that of the state closest to it; empty if a state explains it."""
    by_state = [differences(shown_kitchen(world, state), shown) for state in states]
    return "; ".join(sorted(by_state, key=len)[0])


# The command


def totals(
    substrates: Iterable[str], steps: int, seed: int, folder: Path | None = None
) -> Iterator[tuple[str, TraceComparison]]:
    """The sum over `steps` fresh steps of each substrate, played by the engine with players drawn from `seed`."""
    for name in substrates:
        comparisons = verify(MeltingPotEngine(name, folder=folder, seed=seed), steps, np.random.default_rng(seed))
        yield name, summed(with_progress(comparisons, steps, name, lambda comparison: comparison.steps))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the events and the mismatches of each world. Returns 1 if there is a mismatch, otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=5_000, metavar="N", help="steps of each world; default 5000")
    parser.add_argument("--world", action="append", metavar="NAME", help="which world; repeatable; default: all four")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the players; default 0")
    parser.add_argument("--folder", type=Path, help=f"where dm-meltingpot was unpacked; default: ${FOLDER}")
    option(parser)
    options = parser.parse_args(arguments)
    if options.steps < 1 or options.seed < 0:
        parser.error("--steps is at least 1, and --seed at least 0")
    figures: dict[tuple[str, str], float] = {}
    try:
        for name, total in totals(options.world or SUBSTRATES, options.steps, options.seed, options.folder):
            events = {"steps": total.steps, "mismatches": len(total.mismatches), **total.counts}
            figures |= {(name, event): count for event, count in events.items()}
            print(f"{name}: {', '.join(f'{event} {count:,}' for event, count in events.items())}", flush=True)
            for mismatch in total.mismatches:
                print(f"{name}, {mismatch}")
    except InputError as error:
        parser.error(str(error))
    keep(options.json, "melting_pot", figures)
    return int(any(figures[name, "mismatches"] for name, _ in figures))


if __name__ == "__main__":
    sys.exit(main())

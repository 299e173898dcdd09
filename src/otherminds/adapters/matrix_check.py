"""The rules of matrix worlds held against what the engine of Melting Pot was seen to do.

Most of chance can be seen after the fact: who moved first shows where moves were contested, and what has regrown
is there. What cannot is kept apart: the check holds every state that agrees with all that was seen (they differ in
how much damage resources have taken), and a step is a mismatch if none of them leads to what came next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations, product
from typing import NamedTuple

from otherminds.adapters.comparison import Comparison
from otherminds.adapters.traces import Seen, Trace
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import (
    COOLDOWN,
    FREE,
    INTERACT,
    NOWHERE,
    TURNING,
    MatrixOutcome,
    MatrixState,
    Rules,
)
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Joint = Sequence[int]
TOLERANCE = 1e-12


class _Moved(NamedTuple):
    """In which order players moved, and where they are and face after it."""

    order: tuple[int, ...]
    cells: tuple[int, ...]
    facings: tuple[int, ...]


def check_matrix(trace: Trace[Seen], world: InTheMatrix | None = None) -> Comparison:
    """Hold the rules of a matrix world, the one named if none is given, against a recorded episode.

    The check ends at the first mismatch: what has been hidden until then is not known any more.
    """
    world = in_the_matrix(trace.substrate) if world is None else world
    rules, counts = world.rules, Counter[str]()
    states = {opening(rules, trace.shown[0])}
    for t, (joint, shown) in enumerate(zip(trace.joints, trace.shown[1:], strict=True), 1):
        reached = {after for state in states for after in _reached(rules, state, joint, shown)}
        found = [(difference(seen(rules, state, after), shown), after) for state, after in reached]
        states = {after for different, after in found if not different}
        counts.update(_counts(shown), undecided=len(states) > 1)
        if not states:
            closest = min((different for different, _ in found), key=len, default="no order of moves leads there")
            return Comparison(t, (f"step {t}: {closest}",), dict(counts))
    return Comparison(len(trace.joints), (), dict(counts))


def opening(rules: Rules, shown: Seen) -> MatrixState:
    """The state at the start of an episode that looks like this."""
    grid, n = rules.field.grid, rules.players
    kinds = {grid.cell(x, y): kind for x, y, kind in shown.resources or ()}
    bodies = [body for body in shown.bodies if body is not None]
    return MatrixState(
        t=0,
        cells=tuple(grid.cell(x, y) for x, y, _ in bodies),
        facings=tuple(facing for _, _, facing in bodies),
        inventories=(rules.empty,) * n,
        cooldowns=(0,) * n,
        clocks=(FREE,) * n,
        due=(0.0,) * n,
        kinds=tuple(kinds[cell] for cell in rules.sites),
        shown=(1 << len(rules.sites)) - 1,
        away=(),
        damage=(0,) * len(rules.sites),
        rewards=(0.0,) * n,
        met=(None,) * n,
        destroyed=((),) * n,
        ended=False,
    )


def seen(rules: Rules, before: MatrixState, state: MatrixState) -> Seen:
    """What the engine shows of a state and of the step that led to it."""
    grid, players, kinds = rules.field.grid, range(rules.players), range(len(rules.resources))
    alive = [cell != NOWHERE for cell in state.cells]
    growing = (
        (*grid.xy(cell), kind)
        for site, (cell, kind) in enumerate(zip(rules.sites, state.kinds, strict=True))
        if state.shown >> site & 1
    )
    none = (-1.0,) * len(rules.resources)
    return Seen(
        bodies=tuple((*grid.xy(state.cells[i]), state.facings[i]) if alive[i] else None for i in players),
        resources=tuple(sorted(growing)) if any(alive) else None,
        inventory=state.inventories,
        ready=tuple(1 - wait / COOLDOWN for wait in state.cooldowns),
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


def difference(expected: Seen, shown: Seen) -> str:
    """What is not as the rules have it; empty if everything is."""
    pairs = zip(Seen._fields, expected, shown, strict=True)
    return "; ".join(
        f"{name} {there}, by the rules {rules}" for name, rules, there in pairs if not _alike(rules, there)
    )


def _alike(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other) <= TOLERANCE
    return one == other


def _reached(rules: Rules, state: MatrixState, joint: Joint, shown: Seen) -> Iterator[tuple[MatrixState, MatrixState]]:
    """The states to which one leads in one step, as chance must have fallen for what was shown; each with that one."""
    moved = _moved(rules, state, joint, shown)
    bodies = [shown.bodies[i] for i in matrix_rules.returning(rules, state)]
    if moved is None or None in bodies:
        return
    respawns = tuple(((rules.field.grid.cell(body[0], body[1]),), body[2]) for body in bodies if body is not None)
    for zappers in _zappers(rules, state, moved, joint):
        for regrown in _regrown(rules, state, moved, shown):
            outcome = MatrixOutcome(moved.order, zappers, regrown, respawns, shown.ended)
            try:
                yield state, matrix_rules.step_with(rules, state, joint, outcome)
            except ValueError:
                continue


def _moved(rules: Rules, state: MatrixState, joint: Joint, shown: Seen) -> _Moved | None:
    """An order of moves that leads everybody to where they were seen; None if there is none.

    Whoever stays where they are, as they were seen to do, may go first; so if any order works this one does.
    """
    cells, grid = list(state.cells), rules.field.grid
    free = [i for i, clock in enumerate(state.clocks) if clock == FREE]
    wanted = {i: rules.leads[(cells[i] * 4 + state.facings[i]) * 8 + joint[i]] for i in free}
    seen_at = {i: grid.cell(body[0], body[1]) for i, body in enumerate(shown.bodies) if body is not None}
    order: list[int] = []
    while len(order) < len(free):
        fits = [i for i in free if i not in order and (cells[i] if wanted[i] in cells else wanted[i]) == seen_at.get(i)]
        if not fits:
            return None
        mover = min(fits, key=lambda i: seen_at[i] != cells[i])
        cells[mover] = seen_at[mover]
        order.append(mover)
    facings = tuple((way + TURNING.get(joint[i], 0)) % 4 for i, way in enumerate(state.facings))
    return _Moved((*order, *(i for i in range(rules.players) if i not in order)), tuple(cells), facings)


def _zappers(rules: Rules, state: MatrixState, moved: _Moved, joint: Joint) -> Iterator[tuple[int, ...]]:
    """The orders of zappers that could matter: those whose beams can touch the same things take all turns."""
    shooting = [
        i for i, clock in enumerate(state.clocks) if clock == FREE and joint[i] == INTERACT and not state.cooldowns[i]
    ]
    others = [i for i in range(rules.players) if i not in shooting]
    things = {cell for site, cell in enumerate(rules.sites) if state.shown >> site & 1}.union(moved.cells)
    groups: list[tuple[set[int], list[int]]] = []
    for i in shooting:
        place = moved.cells[i] * 4 + moved.facings[i]
        touched = things.intersection(chain([moved.cells[i]], *rules.beams[place]))
        linked = [group for group in groups if group[0] & touched]
        groups = [group for group in groups if group not in linked]
        groups.append((touched.union(*(cells for cells, _ in linked)), [*chain(*(who for _, who in linked)), i]))
    for turns in product(*(permutations(who) for _, who in groups)):
        yield (*chain(*turns), *others)


def _regrown(rules: Rules, state: MatrixState, moved: _Moved, shown: Seen) -> Iterator[tuple[int, ...]]:
    """What may have regrown: all that is newly there; perhaps also what somebody who had just come took at once."""
    if shown.resources is None:
        yield ()
        return
    there = {rules.field.grid.cell(x, y) for x, y, _ in shown.resources}
    ripe = matrix_rules.ripe(rules, state)
    new = [site for site in ripe if rules.sites[site] in there]
    if rules.restock and min(state.clocks) > rules.frozen:
        new = []
    taken = [site for site in ripe if rules.sites[site] in moved.cells and rules.sites[site] not in there]
    for count in range(len(taken) + 1):
        for some in combinations(taken, count):
            yield (*new, *some)


def _counts(shown: Seen) -> dict[str, int]:
    """What happened in a step."""
    return {
        "meetings": sum(shown.interacted) // 2,
        "picked up": sum(map(sum, shown.collected)),
        "destroyed": sum(map(sum, shown.destroyed)),
        "unseen": shown.resources is None,
    }

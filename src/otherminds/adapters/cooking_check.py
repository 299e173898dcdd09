"""The rules of collaborative cooking held against what the engine of Melting Pot was seen to do.

Neither the orders in which players move and interact are seen, nor who must wait before interacting again, nor for how
long a pot has cooked. So the check keeps every state that agrees with all that was seen, and a step is a mismatch if no
order leads from any of them to what came next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from otherminds.adapters.comparison import Comparison
from otherminds.adapters.traces import SeenKitchen, Trace
from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS, STEPS, Action
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import Body, CollaborativeCooking, Outcome, State
from otherminds.worlds.collaborative_cooking.things import NOTHING, Pot

Joint = Mapping[str, Action]


def check_kitchen(trace: Trace[Any], world: CollaborativeCooking | None = None) -> Comparison:
    """Hold the rules of a kitchen, the asymmetric one if none is given, against a recorded episode.

    It ends with the first mismatch, for after that the state is not known. Raises InputError for a trace of something
    else.
    """
    world = cooking_asymmetric() if world is None else world
    shown = _shown(trace, world)
    states, counts = {opening(world, shown[0])}, Counter[str]()
    if difference := _difference(world, states, shown[0]):
        return Comparison(0, (f"start: {difference}",), {})
    for t, (before, indices, now) in enumerate(zip(shown, trace.joints, shown[1:], strict=False), 1):
        joint = {agent: ACTIONS[k] for agent, k in zip(world.agents, indices, strict=True)}
        reached = {world.step_with(state, joint, outcome) for state in states for outcome in outcomes(world, joint)}
        states = {state for state in reached if seen(world, state) == now}
        counts.update(_counts(before, now), undecided=len(reached) > 1)
        if not states:
            return Comparison(t, (f"step {t}: {_difference(world, reached, now)}",), dict(counts))
    return Comparison(len(trace.joints), (), dict(counts))


def _shown(trace: Trace[Any], world: CollaborativeCooking) -> list[SeenKitchen]:
    shown = [moment for moment in trace.shown if isinstance(moment, SeenKitchen)]
    floor, pots = {*map(world.grid.xy, world.grid.cells())}, sorted(map(world.grid.xy, world.pots))
    fits = all(
        len(moment.bodies) == len(world.agents)
        and floor.issuperset(body[:2] for body in moment.bodies)
        and pots == [pot[:2] for pot in moment.pots]
        for moment in shown
    )
    if len(shown) < len(trace.shown) or not fits:
        raise InputError(f"the trace of `{trace.substrate}` is not one of this kitchen", hint="name another map")
    return shown


def seen(world: CollaborativeCooking, state: State) -> SeenKitchen:
    """What the engine shows of a state."""
    xy = world.grid.xy
    return SeenKitchen(
        bodies=tuple((*xy(body.cell), body.facing) for body in state.bodies),
        hands=tuple(body.hand for body in state.bodies),
        counters=tuple(
            sorted((*xy(cell), thing) for cell, thing in zip(world.counters, state.counters, strict=True) if thing)
        ),
        pots=tuple(
            sorted((*xy(cell), pot.tomatoes, pot.cooked) for cell, pot in zip(world.pots, state.pots, strict=True))
        ),
        rewards=state.rewards,
        ended=world.done(state),
    )


def outcomes(world: CollaborativeCooking, joint: Joint) -> Iterator[Outcome]:
    """Every order in which those who want to move or to interact may do so; of the others the order does not matter."""
    movers = [i for i, agent in enumerate(world.agents) if joint[agent] in STEPS]
    users = [i for i, agent in enumerate(world.agents) if joint[agent] == "interact"]
    everybody = range(len(world.agents))
    for moving, using in product(permutations(movers), permutations(users)):
        yield Outcome(_then(moving, everybody), _then(using, everybody))


def _then(first: Sequence[int], everybody: Sequence[int]) -> tuple[int, ...]:
    return (*first, *(i for i in everybody if i not in first))


def opening(world: CollaborativeCooking, shown: SeenKitchen) -> State:
    """The state at the start of an episode in which the players stand like this."""
    bodies = tuple(Body(world.grid.cell(x, y), facing) for x, y, facing in shown.bodies)
    nothing = (NOTHING,) * len(world.counters)
    return State(0, bodies, nothing, (Pot(),) * len(world.pots), (0.0,) * len(bodies))


def _difference(world: CollaborativeCooking, states: set[State], shown: SeenKitchen) -> str:
    """What was seen that the states do not explain, for the one that comes closest; empty if one explains it all."""
    by_state = [_differences(seen(world, state), shown) for state in states]
    by_state.sort(key=len)
    return "; ".join(by_state[0])


def _differences(expected: SeenKitchen, shown: SeenKitchen) -> list[str]:
    pairs = zip(SeenKitchen._fields, expected, shown, strict=True)
    return [f"{name} {there}, by the rules {rules}" for name, rules, there in pairs if there != rules]


def _counts(before: SeenKitchen, shown: SeenKitchen) -> dict[str, int]:
    """What was done in a step, as far as it can be seen."""
    pots = [*zip(before.pots, shown.pots, strict=True)]
    return {
        "moves": sum(now[:2] != then[:2] for then, now in zip(before.bodies, shown.bodies, strict=True)),
        "tomatoes in pots": sum(max(0, now[2] - then[2]) for then, now in pots),
        "soups out of pots": sum(now[2] < then[2] for then, now in pots),
        "counters changed": len({thing[:2] for thing in {*before.counters} ^ {*shown.counters}}),
        "deliveries": int(any(shown.rewards)),
    }

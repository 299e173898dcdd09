"""Meetings in a matrix world as the rounds of a repeated game, and strategies as the machines that play it.

What somebody plays in a meeting is the kind they hold most of. Walking about between meetings is left to bodies.
"""

from __future__ import annotations

from otherminds.distribution import Categorical
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.strategies import Inventory, State, Strategy
from otherminds.worlds.repeated_games.machines import Machine, build
from otherminds.worlds.repeated_games.rules import Game

MARGIN = 5


def holding(kind: int, kinds: int, margin: int = MARGIN) -> Inventory:
    """What somebody holds who has gathered one kind until it leads by a margin."""
    return tuple(1 + margin * (k == kind) for k in range(kinds))


def meeting_game(rules: Rules, margin: int = MARGIN) -> Game:
    """The game that a meeting is if both come with one kind in the lead: R[a, b] = xᵀ A y for these inventories."""
    kinds = range(len(rules.resources))
    held = [holding(kind, len(kinds), margin) for kind in kinds]
    payoffs = tuple(rules.reward(held[a], held[b]) for a in kinds for b in kinds)
    names = rules.resources
    return Game("meeting " + " ".join(names), ("me", "partner"), (names, names), payoffs)


def machine(name: str, strategy: Strategy, game: Game) -> Machine:
    """The machine that a strategy is: its states are what can be known of the strategy's own state by its plays."""
    kinds = len(game.actions[1])

    def law(states: Categorical[State]) -> tuple[float, ...]:
        return tuple(sum(p for state, p in states if state.aim.kind == kind) for kind in range(kinds))

    def follow(states: Categorical[State], own: int, theirs: int) -> Categorical[State]:
        if law(states)[own] > 0.0:
            states = states.condition(lambda state: state.aim.kind == own)
        mine, other = holding(own, kinds), holding(theirs, kinds)
        return _rounded(states.bind(lambda state: strategy.update(state, mine, other)))

    return build(name, game, _rounded(strategy.start()), law, follow)


def _rounded(states: Categorical[State]) -> Categorical[State]:
    """The same distribution in one of its spellings, so that equal ones are the same state of a machine."""
    ordered = sorted((pair for pair in states if pair[1] > 1e-9), key=lambda pair: repr(pair[0]))
    return Categorical.softmax([(state, _log(round(p, 9))) for state, p in ordered])


def _log(p: float) -> float:
    from math import log

    return log(p)

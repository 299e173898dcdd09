"""What a partner in a matrix world might be up to: strategies as hypotheses, with prior probabilities.

They are enumerated from a few families; the fewer states a strategy has, the likelier it is, P(s) ∝ 2^−states. That
some of them are those of the scenarios' bots is no accident, and can be left out to see what happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations

from otherminds.minds.librarian import Library
from otherminds.minds.matrix_strategies import (
    Aim,
    Corrigible,
    CounterPrevious,
    Flip,
    FollowUp,
    Grim,
    Specialist,
    Strategy,
    TitForTat,
)
from otherminds.minds.meetings import MARGIN, machine, meeting_game
from otherminds.minds.strategies import Machine
from otherminds.planning.lookahead import commitment
from otherminds.worlds.matrix_rules import Rules
from otherminds.worlds.repeated_game import Game

NOISE = 0.08
"""How often a partner plays something else than its strategy says: it was hit before it was ready."""
HORIZON = 40
DEPTH = 2
TREMBLE = 0.15
TIMES = {1: "once", 2: "twice", 3: "thrice"}
MOSTLY = 0.6
VAGUE = 0.02
Named = tuple[tuple[str, Strategy], ...]
Families = Mapping[str, Named]


def families(rules: Rules) -> Families:
    """All hypotheses about a partner, by family, with names."""
    aims = tuple(Aim(kind, MARGIN) for kind in range(len(rules.resources)))
    names = rules.resources
    always: Named = tuple((f"always {name}", Specialist(aim)) for name, aim in zip(names, aims, strict=True))
    flips: Named = tuple(
        (f"{names[a.kind]} {TIMES[n]}, then {names[b.kind]}", Flip(a, b, n))
        for a, b in permutations(aims, 2)
        for n in TIMES
    )
    found: Families = {"always": always, "flip": flips, "reply": tuple(_replies(aims, names))}
    return {**found, **_social(aims)} if len(aims) == 2 else found


def _replies(aims: tuple[Aim, ...], names: tuple[str, ...]) -> Iterator[tuple[str, Strategy]]:
    """Who follows what the partner played, or what they played themselves, one way or the other round the kinds."""
    n = len(aims)
    for shift in range(n):
        replies = tuple(aims[(kind + shift) % n] for kind in range(n))
        name = "copies" if shift == 0 else " ".join(f"{names[k]}→{names[(k + shift) % n]}" for k in range(n))
        yield f"answers the last play: {name}", CounterPrevious(replies)
        if shift:
            for first in aims:
                yield f"goes on from {names[first.kind]}: {name}", FollowUp(first, replies)


def _social(aims: tuple[Aim, ...]) -> Families:
    """Strategies of the prisoner's dilemma: the first kind cooperates, the second defects."""
    c, d = aims
    noisy = ((0.0, ""), (TREMBLE, ", noisily"))
    return {
        "tit for tat": tuple((f"tit for tat{how}", TitForTat(c, d, p)) for p, how in noisy),
        "grim": tuple((f"grim after {n}", Grim(c, d, n)) for n in (1, 2, 3)),
        "corrigible": tuple(
            (f"tit for tat{how} once punished {n} times", Corrigible(n, TitForTat(c, d, p)))
            for n in (1, 2, 3, 4)
            for p, how in noisy
        ),
    }


def _vague(game: Game) -> Iterator[Machine]:
    """Partners who mostly play one kind, or any: what is left to think of somebody whom no strategy explains."""
    kinds = range(len(game.actions[1]))
    back = ((0,) * len(kinds),) * len(kinds)
    for often in kinds:
        law = tuple(MOSTLY if kind == often else (1 - MOSTLY) / (len(kinds) - 1) for kind in kinds)
        yield Machine(f"mostly {game.actions[1][often]}", (law,), (back,))
    yield Machine("anything", ((1 / len(kinds),) * len(kinds),), (back,))


def library(rules: Rules, *, without: Iterable[str] = ()) -> Library:
    """The hypotheses as a library to play by; those whose names are in `without` are left out.

    Raises ValueError if none is left.
    """
    left_out, game = set(without), meeting_game(rules)
    named = [pair for family in families(rules).values() for pair in family if pair[0] not in left_out]
    if not named:
        raise ValueError("no hypothesis is left")
    clear = [machine(name, strategy, game) for name, strategy in named]
    held = (*clear, *_vague(game))
    weights = [2.0 ** -len(machine.outputs) for machine in clear] + [VAGUE] * (len(held) - len(clear))
    prior = tuple(weight / sum(weights) for weight in weights)
    return Library(game, held, prior, NOISE, HORIZON, commitment, DEPTH)

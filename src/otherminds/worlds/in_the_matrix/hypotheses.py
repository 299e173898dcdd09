"""What a partner in a matrix world might be up to: strategies as hypotheses, with prior probabilities.

They are enumerated from a few families; the fewer states a strategy has, the likelier it is, P(s) ∝ 2^−states. That
some of them are those of the scenarios' bots is no accident, and can be left out to see what happens. Whom no strategy
explains has some habit, which is one bit less likely for being loose: all habits are there, lest a strategy that is
wrong be believed for want of anything better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product

from otherminds.planning.best_response import clairvoyant
from otherminds.worlds.in_the_matrix.meetings import MARGIN, machine, meeting_game
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.strategies import (
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
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.bayesian_lookahead import HypothesisSet
from otherminds.worlds.repeated_games.rules import Game

NOISE = 0.08
"""How often a partner plays something else than its strategy says: it was hit before it was ready."""
HORIZON = 40
"""For how many meetings is planned: about as many as there are in an episode with one partner."""
DEPTH = 2
"""How many meetings are looked ahead before it is taken for granted that the partner will be known."""
TREMBLE = 0.15
TABLES = 256
TIMES = {1: "once", 2: "twice", 3: "thrice"}
MOSTLY = 0.8
"""How often a partner with a habit keeps to it: so often that a few plays show it, but less than to a strategy."""
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


def _habits(game: Game) -> Iterator[Machine]:
    """Partners without a plan: they mostly play one kind, or one after each last play, the other's or their own.

    There is one for every such table, or, if those are too many, for those that go round the kinds, and one who has no
    habit.
    """
    names = game.actions[1]
    n = len(names)
    laws = tuple(tuple(MOSTLY if kind == often else (1 - MOSTLY) / (n - 1) for kind in range(n)) for often in range(n))
    anything = (1 / n,) * n
    yield Machine("anything", (anything,), (((0,) * n,) * n,))
    for name, law in zip(names, laws, strict=True):
        yield Machine(f"mostly {name}", (law,), (((0,) * n,) * n,))
    answered = ((tuple(range(1, n + 1)),) * n,) * (n + 1)
    gone_on = (tuple((own + 1,) * n for own in range(n)),) * (n + 1)
    rounds = (tuple((kind + shift) % n for kind in range(n)) for shift in range(n))
    for table in product(range(n), repeat=n) if n**n <= TABLES else rounds:
        if len(set(table)) > 1:
            told = " ".join(f"{name}→{names[reply]}" for name, reply in zip(names, table, strict=True))
            outputs = (anything, *(laws[reply] for reply in table))
            yield Machine(f"mostly answers the last play: {told}", outputs, answered)
            yield Machine(f"mostly goes on: {told}", outputs, gone_on)


def library(rules: Rules, *, without: Iterable[str] = ()) -> HypothesisSet:
    """The hypotheses as a library to play by; those whose names are in `without` are left out.

    Raises ValueError if none is left.
    """
    left_out, game = set(without), meeting_game(rules)
    named = [pair for family in families(rules).values() for pair in family]
    strategies = [machine(name, strategy, game) for name, strategy in named]
    weighted = [(one, 2.0 ** -len(one.outputs)) for one in strategies]
    weighted += [(one, 2.0 ** -(len(one.outputs) + 1)) for one in _habits(game)]
    kept = [(one, weight) for one, weight in weighted if one.name not in left_out]
    if not kept:
        raise ValueError("no hypothesis is left")
    total = sum(weight for _, weight in kept)
    prior = tuple(weight / total for _, weight in kept)
    return HypothesisSet(game, tuple(one for one, _ in kept), prior, NOISE, HORIZON, clairvoyant, DEPTH)

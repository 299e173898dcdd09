"""Structured partners of 2 × 2 games, drawn at random: thresholds, patience, majorities, openings, probes, cycles.

The first action is called C, the second D. They are hypotheses about partners, and test partners for players.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from otherminds.worlds.repeated_games.machines import Machine, build
from otherminds.worlds.repeated_games.rules import Game

C, D = 0, 1
LONGEST = 6  # most rounds that a machine counts in a run, a threshold or an opening; chosen
LONGEST_PUNISHMENT = 8  # rounds of D up to which punishments grow; chosen
WIDEST = (3, 5, 10, 20, 100)  # the difference of counts at which a majority stops counting; chosen
Draw = Callable[[str, Game, np.random.Generator], Machine]

RULES: tuple[tuple[int, int, int, int], ...] = (
    (C, C, C, C),
    (D, D, D, D),
    (C, D, C, D),
    (D, C, D, C),
    (C, D, D, C),
    (C, D, D, D),
    (D, C, C, D),
)
"""Replies to CC, CD, DC, DD (own action first): C, D, tit for tat and its opposite, win-stay and win-shift, grim."""


def counting(name: str, game: Game, counted: int, threshold: int, *, in_a_row: bool, long: int = 0) -> Machine:
    """Plays one action until the other has played `counted` so often, in all or in a row, then another for some rounds.

    It changes to D if it counts Ds, and to C if it counts Cs, for `long` rounds, or for ever if that is 0.
    """
    before = 1 - counted

    def follow(q: tuple[int, int], _own: int, theirs: int) -> tuple[int, int]:
        """The next state (count of the action so far, rounds for which it still plays the changed action)."""
        count, remaining = q
        if remaining:
            return (0, remaining - 1) if long else q
        count = count + 1 if theirs == counted else 0 if in_a_row else count
        return (0, long or 1) if count >= threshold else (count, 0)

    return build(name, game, (0, 0), lambda q: counted if q[1] else before, follow)


def triggers(game: Game) -> Iterator[Machine]:
    """Partners that play C until the other has played D one to three times, in all or in a row, and then D for ever.

    The first is grim trigger (Friedman 1971).
    """
    for threshold, in_a_row in ((1, False), (2, False), (2, True), (3, False), (3, True)):
        name = f"trigger {threshold}{' in a row' if in_a_row else ''}"
        yield counting(name, game, D, threshold, in_a_row=in_a_row)


def _count(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Counts Ds, or Cs, in all or in a row, up to a threshold, and then changes, for some rounds or for ever."""
    counted = D if rng.random() < 0.6 else C
    threshold, in_a_row = int(rng.integers(1, LONGEST)), bool(rng.integers(2))
    long = int(rng.integers(1, LONGEST)) if rng.random() < 0.5 else 0
    return counting(name, game, counted, threshold, in_a_row=in_a_row, long=long)


def _patience(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Plays D until the other has played C k times in a row, then imitates, or plays C until the next D."""
    threshold, imitates = int(rng.integers(1, LONGEST)), bool(rng.integers(2))
    relapse = 0 if rng.random() < 0.5 else max(threshold - 1, 0)

    def follow(run: int, _own: int, theirs: int) -> int:
        """The next number of Cs in a row; `threshold` plays C, `threshold` + 1 answers a D with D once."""
        if run >= threshold:
            if theirs == C:
                return threshold
            return threshold + 1 if imitates else relapse
        return run + 1 if theirs == C else 0

    return build(name, game, 0, lambda run: C if run == threshold else D, follow)


def _majority(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Plays the other's more frequent action, or the opposite; the difference is counted up to a limit."""
    limit, tie = int(rng.choice(WIDEST)), int(rng.integers(2))
    flip = int(rng.random() < 0.15)

    def act(lead: int) -> int:
        return (tie if lead == 0 else C if lead > 0 else D) ^ flip

    return build(
        name, game, 0, act, lambda lead, _own, theirs: min(max(lead + (1 if theirs == C else -1), -limit), limit)
    )


def _opening(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Plays a fixed opening and then a memory-one rule, which may depend on whether the other played D in it."""
    length = int(rng.integers(1, LONGEST + 1))
    opening = rng.integers(2, size=length).tolist()
    kind, after_betrayal = (RULES[int(i)] for i in rng.integers(len(RULES), size=2))
    if rng.random() < 0.5:
        after_betrayal = kind

    def act(q: tuple[int, int, int, int]) -> int:
        t, betrayed, own, theirs = q
        return opening[t] if t < length else (after_betrayal if betrayed else kind)[2 * own + theirs]

    def follow(q: tuple[int, int, int, int], own: int, theirs: int) -> tuple[int, int, int, int]:
        """The next state (rounds played up to the opening's length, whether betrayed, own and other's last action)."""
        t, betrayed, _, _ = q
        if t >= length:
            return (length, betrayed, own, theirs)
        after = int(betrayed or (theirs == D and kind != after_betrayal))
        return (t + 1, after, own, theirs) if t + 1 == length else (t + 1, after, 0, 0)

    return build(name, game, (0, 0, 0, 0), act, follow)


def _probe(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Follows a memory-one rule, but plays D every k rounds, or once in round k; if that is unpunished, for ever."""
    period = int(rng.integers(3, 12))  # rounds between two probes
    once, exploits = bool(rng.integers(2)), bool(rng.integers(2))
    rule = RULES[int(rng.choice((0, 2, 4)))]
    hunting = period + 2

    def act(q: tuple[int, int, int]) -> int:
        t, own, theirs = q
        return D if t in (hunting, period) else rule[2 * own + theirs]

    def follow(q: tuple[int, int, int], own: int, theirs: int) -> tuple[int, int, int]:
        """The next state (round in the period, own and other's last action); in round `hunting` it plays D for ever."""
        t = q[0]
        if t == hunting:
            return (hunting, 0, 0)
        if t == period + 1:
            t = hunting if exploits and theirs == C else period + 1 if once else 0
        elif t <= period:
            t += 1
        if t == hunting:
            return (hunting, 0, 0)
        return (t, own, theirs)

    return build(name, game, (0, C, C), act, follow)


def _cycle(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Plays a cycle of 2 to 6 actions whatever the other does, or until its first D and then D for ever."""
    actions = rng.integers(2, size=int(rng.integers(2, LONGEST + 1))).tolist()
    grim = bool(rng.random() < 0.3)

    def follow(t: int, _own: int, theirs: int) -> int:
        return -1 if t < 0 or (grim and theirs == D) else (t + 1) % len(actions)

    return build(name, game, 0, lambda t: D if t < 0 else actions[t], follow)


def _punisher(name: str, game: Game, rng: np.random.Generator) -> Machine:
    """Punishes a D with k rounds of D, after each one with more; then m rounds of C whatever the other does."""
    first_length = int(rng.integers(1, 4))
    growth = int(rng.integers(2))
    calm = int(rng.integers(3))
    state: Any = (first_length, 0, 0)

    def follow(q: tuple[int, int, int], _own: int, theirs: int) -> tuple[int, int, int]:
        """The next state (length of the next punishment, rounds of it still to go, rounds of calm still to go)."""
        length, punishing, resting = q
        if punishing:
            return (length, punishing - 1, calm if punishing == 1 else 0)
        if resting:
            return (length, 0, resting - 1)
        return (min(length + growth, LONGEST_PUNISHMENT), length, 0) if theirs == D else q

    return build(name, game, state, lambda q: D if q[1] else C, follow)


KINDS: tuple[Draw, ...] = (_count, _patience, _majority, _opening, _probe, _cycle, _punisher)


def structured_machines(game: Game, number: int, rng: np.random.Generator) -> Iterator[Machine]:
    """Random structured machines of a 2 × 2 game, the kinds in turn; `number` of them, some may act alike."""
    for i in range(number):
        kind = KINDS[i % len(KINDS)]
        yield kind(f"{kind.__name__.strip('_')} {i}", game, rng)

"""A mind that lives with somebody who wants something: it helps, hinders, or does not care, in word and deed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from otherminds.minds.searcher import Errand, search_of, trip
from otherminds.worlds.household import WAIT, Act, Home

Stance = Literal["help", "hinder", "independent"]
STANCES: tuple[Stance, ...] = ("help", "hinder", "independent")
SIGN: Mapping[Stance, float] = {"help": 1.0, "hinder": -1.0, "independent": 0.0}

EAGERNESS = 8.0
TALKING = 0.2
LYING: Mapping[Stance, float] = {"help": 1.0, "hinder": 0.25, "independent": 0.6}
COURTESY = 0.1
CHORES = 0.2
FARTHER = 0.02


def uniform(home: Home) -> tuple[float, ...]:
    """The odds of somebody who has no idea where the thing is."""
    return (1.0,) * len(home.places)


@lru_cache(maxsize=1 << 14)
def saved(home: Home, told: int, truth: int | None, room: int) -> float:
    """The share of the listener's search that a claim saves (below 0: that it adds).

    The listener, in `room`, believes what it is told, goes there first, and searches on if the thing is not there:

        1 − C / V,   V = V(all places, room),   C = trip(told) if told = truth,
                                                else trip(told) + 1 + V(all places but told, room of told).

    If the speaker does not know the truth, every place is as likely. Between −1 and 1.
    """
    search = search_of(home, uniform(home))
    blind = float(search.costs[search.everywhere & ~search.openly[room], room])
    there = search.rooms[told]
    rest = search.everywhere & ~(1 << told) & ~search.openly[there]
    missed = trip(home, told, room) + 1.0 + float(search.costs[rest, there])
    found = trip(home, told, room)
    hit = 1.0 / len(home.places) if truth is None else float(told == truth)
    return max(-1.0, min(1.0, 1.0 - (hit * found + (1.0 - hit) * missed) / max(blind, found, 1.0)))


@lru_cache(maxsize=1 << 14)
def reply(home: Home, thing: str, belief: int | None, stance: Stance, room: int) -> Mapping[Act, float]:
    """How somebody asked for a thing answers a listener in `room`, believing it at place `belief` (None: no idea).

    p(u) ∝ exp η [ sign · saved(u) − cost of talking − cost of lying + courtesy of an honest "I don't know" ], with
    sign 1 for helping, −1 for hindering, 0 for not caring; silence is worth 0. Who wants to hinder minds lying less.
    """
    lying = LYING[stance]
    scores = {WAIT: 0.0, Act("unsure", thing): COURTESY if belief is None else -lying}
    for place in range(len(home.places)):
        gain = SIGN[stance] * saved(home, place, belief, room)
        scores[Act("tell", thing, home.places[place].name)] = gain - TALKING - (lying if place != belief else 0.0)
    total = math.log(sum(math.exp(EAGERNESS * score) for score in scores.values()))
    return {act: math.exp(EAGERNESS * score - total) for act, score in scores.items()}


def errands(
    home: Home, thing: str, lies: str, stance: Stance, wanted: str | None, things: tuple[str, ...]
) -> Mapping[Errand | None, float]:
    """P(errand | stance, where one believes the other wants the thing), with the thing lying at `lies` now.

    Somebody who helps brings it to where it is wanted; somebody who hinders takes it away from there to anywhere else,
    or, where it is not wanted, seldom moves it, and never to where it is. With probability `CHORES` both, and always
    who does not care or has no idea what is wanted, has a chore of its own: any thing to any place, or none.
    """
    places = [place.name for place in home.places]
    chores = {Errand(t, p): 1.0 for t in things for p in places if (t, p) != (thing, lies)}
    table: dict[Errand | None, float] = dict.fromkeys((None, *chores), 0.0)
    purpose = 0.0 if stance == "independent" or wanted is None else 1.0 - CHORES
    for chore in table:
        table[chore] += (1.0 - purpose) / len(table)
    if not purpose:
        return table
    if stance == "help":
        table[None if wanted == lies else Errand(thing, wanted)] += purpose
        return table
    elsewhere = [place for place in places if place not in (lies, wanted)]
    moving = 1.0 if wanted == lies else FARTHER
    for place in elsewhere:
        table[Errand(thing, place)] += purpose * moving / len(elsewhere)
    table[None] += purpose * (1.0 - moving)
    return table


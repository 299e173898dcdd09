"""A mind that lives with somebody who wants something: it helps, hinders, or does not care, in word and deed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.household.rules import WAIT, Act, Home
from otherminds.worlds.household.searcher import Errand, search_of, trip

Stance = Literal["help", "hinder", "independent"]
STANCES: tuple[Stance, ...] = ("help", "hinder", "independent")
SIGN: Mapping[Stance, float] = {"help": 1.0, "hinder": -1.0, "independent": 0.0}

EAGERNESS = 5.0
HALF = 0.1
COURTESY = 0.1
CHORES = 0.05
FARTHER = 0.03
THINGS = 6


@dataclass(frozen=True)
class SpeakingCosts:
    """How people of a household talk: what it costs them to answer at all, and to say what they do not believe, if they
    mean to help or do not care; who means to hinder does not mind."""

    talking: float
    lying_to_help: float = 1.0
    lying_unconcerned: float = 0.6

    def lying(self, stance: Stance) -> float:
        """The cost of a lie."""
        return {"help": self.lying_to_help, "hinder": 0.0, "independent": self.lying_unconcerned}[stance]


RESERVED = SpeakingCosts(talking=0.4)
ANSWERING = SpeakingCosts(talking=0.0, lying_unconcerned=0.45)
"""Whoever is asked answers, also those who do not care."""


def uniform_odds(home: Home) -> tuple[float, ...]:
    """The odds of somebody who has no idea where the thing is."""
    return (1.0,) * len(home.places)


@lru_cache(maxsize=1 << 14)
def search_saving(home: Home, told: int, truth: int | None, room: int) -> float:
    """The share of the listener's search that a claim saves (below 0: that it adds).

    The listener, in `room`, believes what it is told, goes there first, sees what lies openly in that room, and
    searches on if the thing is not there:

        1 − C / V,   V = V(all places not in sight, room),
        C = trip(truth) if told = truth, or if both are in one room and the thing lies there openly,
            else trip(told) + 1 + V(all places not in sight of either room, room of told).

    If the speaker does not know the truth, every place is as likely. Between −1 and 1.
    """
    search = search_of(home, uniform_odds(home))
    there = search.rooms[told]
    rest = search.everywhere & ~(1 << told) & ~search.openly[there] & ~search.openly[room]
    missed = trip(home, told, room) + 1.0 + float(search.costs[rest, there])
    shown = search.openly[there] | 1 << told
    truths = range(len(home.places)) if truth is None else (truth,)
    cost = sum(trip(home, t, room) if shown >> t & 1 else missed for t in truths) / len(truths)
    blind = float(search.costs[search.everywhere & ~search.openly[room], room])
    return max(-1.0, min(1.0, 1.0 - cost / max(blind, trip(home, told, room), 1.0)))


@lru_cache(maxsize=1 << 14)
def reply(
    home: Home, thing: str, belief: int | None, stance: Stance, room: int, manners: SpeakingCosts = RESERVED
) -> Mapping[Act, float]:
    """How somebody asked for a thing answers a listener in `room`, believing it at place `belief` (None: no idea).

    p(u) ∝ exp η [ sign · saving(u) / (|saving(u)| + ½) − cost of talking − cost of lying + courtesy ], with ½ the
    share at which a claim is worth half of what it can be worth, and sign 1 for helping, −1 for hindering, 0 for not
    caring; silence, and to say that one does not know, cost no talking; an honest "I don't know" is a courtesy.
    """
    lying = manners.lying(stance)
    scores = {WAIT: 0.0, Act("unsure", thing): COURTESY if belief is None else -lying}
    for place in range(len(home.places)):
        gain = search_saving(home, place, belief, room)
        worth = SIGN[stance] * gain / (abs(gain) + HALF)
        scores[Act("tell", thing, home.places[place].name)] = (
            worth - manners.talking - (lying if place != belief else 0.0)
        )
    total = math.log(sum(math.exp(EAGERNESS * score) for score in scores.values()))
    return {act: math.exp(EAGERNESS * score - total) for act, score in scores.items()}


@lru_cache(maxsize=1 << 10)
def replies(home: Home, room: int, manners: SpeakingCosts = RESERVED) -> Mapping[Act, NDArray[np.float64]]:
    """For every act of speech (without the thing spoken of): p(act | belief, stance), with beliefs in the rows (0: no
    idea, 1 + i: place i) and `STANCES` in the columns."""
    beliefs = (None, *range(len(home.places)))
    tables = [[reply(home, "", belief, stance, room, manners) for stance in STANCES] for belief in beliefs]
    acts = tables[0][0]
    return {act._replace(thing=None): np.array([[table[act] for table in row] for row in tables]) for act in acts}


@lru_cache(maxsize=1 << 12)
def errands(home: Home, thing: str, lies: str, stance: Stance, wanted: str | None) -> Mapping[Errand | None, float]:
    """P(errand | stance, where one believes the other wants the thing), with the thing lying at `lies` now.

    Somebody who helps brings it to where it is wanted; somebody who hinders takes it away from there to anywhere else,
    or, where it is not wanted, seldom moves it, and never to where it is. With probability `CHORES` both, and always
    who does not care or has no idea what is wanted, has a chore of its own: one of the `THINGS` things of a home to any
    place. None stands for every errand without this thing.
    """
    places = [place.name for place in home.places if place.name != lies]
    purpose = 0.0 if stance == "independent" or wanted is None else 1.0 - CHORES
    table: dict[Errand | None, float] = {
        Errand(thing, place): (1.0 - purpose) / (THINGS * len(places)) for place in places
    }
    table[None] = (1.0 - purpose) * (1.0 - 1.0 / THINGS if places else 1.0)
    if stance == "help" and purpose:
        table[None if wanted == lies else Errand(thing, wanted)] += purpose
    elif purpose:
        elsewhere = [place for place in places if place != wanted]
        moving = (1.0 if wanted == lies else FARTHER) if elsewhere else 0.0
        for place in elsewhere:
            table[Errand(thing, place)] += purpose * moving / len(elsewhere)
        table[None] += purpose * (1.0 - moving)
    return table

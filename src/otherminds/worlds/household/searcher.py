"""A mind that looks for an item in a household, and exact expected costs of searching its places in the best order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.planning.shortest_paths import cached_method
from otherminds.worlds.household.rules import WAIT, Act, Home, HouseholdView, Person

# Steps, by the rules of the household.
OPENING = 2.0  # walk to a place of the same room and open it
CLOSING = 1.0  # close it again
REACHING = 1.0  # walk to a place where the item lies openly
MOST_STATES = 1 << 16  # numbers of places of each kind that may be left to search; bounds time (chosen)


class Look(NamedTuple):
    """A first step of a search: enter `room` to see its open places, or look into the closed `place`.

    `cost` is the expected number of steps until the item is found if the search begins like this.
    """

    room: int
    place: int | None
    cost: float


@dataclass(frozen=True)
class Search:
    """Exact search costs for one item. Entering a room shows all its open places.

    Place i is in room `rooms[i]` and must be opened if `closes[i]`; `odds[i]` is proportional to the probability that
    the item is there; `steps[r][r']` is the distance between rooms. Places of a room that are alike in both are one
    kind, and it is enough to know how many of each kind have not been searched. Raises ValueError if that leaves more
    than MOST_STATES cases.
    """

    rooms: tuple[int, ...]
    closes: tuple[bool, ...]
    steps: tuple[tuple[int, ...], ...]
    odds: tuple[float, ...]

    def __post_init__(self) -> None:
        """Count the cases that the search has to plan for. Raises ValueError if there are too many."""
        states = 1
        for room in range(len(self.steps)):  # nothing is opened in a room before its open places have been seen
            closed = [kind.places.bit_count() + 1 for kind in self.kinds if kind.room == room and kind.closes]
            states *= math.prod(closed) + bool(self.openly[room])
        if states > MOST_STATES:
            raise ValueError(f"a search has {states:,} cases, more than the {MOST_STATES:,} that are planned for")

    @cached_property
    def kinds(self) -> tuple[_Kind, ...]:
        """The kinds of places, in the order in which they come first."""
        places_by_kind: dict[tuple[int, bool, float], int] = {}
        for i, like in enumerate(zip(self.rooms, self.closes, self.odds, strict=True)):
            places_by_kind[like] = places_by_kind.get(like, 0) | 1 << i
        return tuple(_Kind(*like, places) for like, places in places_by_kind.items())

    @cached_property
    def openly(self) -> tuple[int, ...]:
        """For every room, the set of its open places, as bits."""
        pairs = [(1 << i, room) for i, room in enumerate(self.rooms) if not self.closes[i]]
        return tuple(sum(bit for bit, room in pairs if room == r) for r in range(len(self.steps)))

    @cached_property
    def everywhere(self) -> int:
        """The set of all places, as bits."""
        return (1 << len(self.rooms)) - 1

    def costs(self, unseen: int) -> tuple[float, ...]:
        """V(S, r): expected steps to find the item with the places S (bits) not yet searched, from each room r.

        With W(S) the odds of the places S and U the open places of room r′ in S,

            V(S, r) = min over closed i ∈ S in r′ with U = ∅:  d(r, r′) + 2 + (1 − odds_i / W(S)) (1 + V(S ∖ i, r′))
                      and over rooms r′ with U ≠ ∅:  d(r, r′) + odds_U / W(S) + (1 − odds_U / W(S)) V(S ∖ U, r′).

        It depends on S by the number of places of each kind only, and every choice makes S smaller.
        """
        return self._costs(tuple((unseen & kind.places).bit_count() for kind in self.kinds))

    @cached_method
    def _costs(self, unsearched: tuple[int, ...]) -> tuple[float, ...]:
        """V from every room, given how many places of each kind have not been searched."""
        if not any(unsearched):
            return (0.0,) * len(self.steps)
        total_odds = sum(n * kind.odds for n, kind in zip(unsearched, self.kinds, strict=True))
        costs_by_first_room = list[tuple[int, float]]()  # (first room to go to, cost from there)
        for room in range(len(self.steps)):
            kinds_here = [k for k, kind in enumerate(self.kinds) if unsearched[k] and kind.room == room]
            in_view = [k for k in kinds_here if not self.kinds[k].closes]
            if in_view:
                p_seen = sum(unsearched[k] * self.kinds[k].odds for k in in_view) / total_odds
                after = tuple(0 if k in in_view else n for k, n in enumerate(unsearched))
                costs_by_first_room.append((room, p_seen * REACHING + (1.0 - p_seen) * self._costs(after)[room]))
                continue
            for k in kinds_here:
                after = (*unsearched[:k], unsearched[k] - 1, *unsearched[k + 1 :])
                miss = 1.0 - self.kinds[k].odds / total_odds
                costs_by_first_room.append((room, OPENING + miss * (CLOSING + self._costs(after)[room])))
        return tuple(min(steps[room] + cost for room, cost in costs_by_first_room) for steps in self.steps)

    def looks(self, unseen: int, room: int) -> Iterator[Look]:
        """All first steps of a search from `room` with the places `unseen` (bits) not yet searched."""
        total = sum(odds for i, odds in enumerate(self.odds) if unseen >> i & 1)
        for r, openly in enumerate(self.openly):
            shown = unseen & openly
            if shown:
                p_seen = sum(odds for i, odds in enumerate(self.odds) if shown >> i & 1) / total
                cost_from_there = p_seen * REACHING + (1.0 - p_seen) * self.costs(unseen & ~shown)[r]
                yield Look(r, None, self.steps[room][r] + cost_from_there)
        for place, r in enumerate(self.rooms):
            if self.closes[place] and unseen >> place & 1 and not unseen & self.openly[r]:
                miss = 1.0 - self.odds[place] / total
                cost_from_there = OPENING + miss * (CLOSING + self.costs(unseen ^ (1 << place))[r])
                yield Look(r, place, self.steps[room][r] + cost_from_there)


class _Kind(NamedTuple):
    """Places of a room that are alike: whether they must be opened, the odds of each, and which they are, as bits."""

    room: int
    closes: bool
    odds: float
    places: int


# Chosen; not fitted (docs/systems/stories.md).
RATIONALITY = 1.5  # β, per step
LAPSE = 0.02  # ε, probability of an act at random
P_CLOSE = 0.5  # probability of closing an open place that is of no more use
OVERLOOKS = 0.1  # probability, at each act, of not noticing an item in sight
TRUST = 0.9  # probability that a statement is believed
ASKING = 4.0  # cost of asking, in steps


class Errand(NamedTuple):
    """An item to get and the place to bring it to; None if holding it is enough."""

    thing: str
    to: str | None = None


@dataclass(frozen=True)
class Lapsing:
    """A policy with lapses:  π(a) = (1 − ε) table(a) + ε / N  over the N acts about one item of a home."""

    table: dict[Act, float]
    lapse: float
    acts: int

    def log_prob(self, act: Act, /) -> float:
        """log π(a), in nats."""
        return math.log((1.0 - self.lapse) * self.table.get(act, 0.0) + self.lapse / self.acts)

    def sample(self, rng: np.random.Generator, /) -> Act:
        """Draw from the table: lapses are for explaining the acts of others, not for acting."""
        remaining = rng.random()
        for act, p in self.table.items():
            remaining -= p
            if remaining <= 0.0:
                return act
        return next(reversed(self.table))


@lru_cache(maxsize=256)
def search_of(home: Home, odds: tuple[float, ...]) -> Search:
    """The search costs of a home for these odds of where the item is, one for each place."""
    rooms = tuple(home.room_number[place.room] for place in home.places)
    return Search(rooms, tuple(place.closes for place in home.places), home.steps, odds)


def odds_after_hearing(odds: tuple[float, ...], place: int, trust: float = TRUST) -> tuple[float, ...]:
    """The odds after a statement that the item is at a place, believed with probability `trust`."""
    other_odds = sum(odds) - odds[place]
    if other_odds <= 0.0:
        return odds
    return tuple(trust if i == place else (1.0 - trust) * o / other_odds for i, o in enumerate(odds))


@dataclass(frozen=True)
class Searcher:
    """A mind on an errand: it searches by its belief `odds` about the item's place, then fetches and delivers the item.

    π(first step of a look) ∝ exp(−β · expected steps of finding the item that way). With `company` and as long as it
    has not asked, it asks with probability σ(β (steps saved by a true answer − cost of asking)). It takes the item as
    soon as it sees it, except that it fails to notice it with probability `overlooks`. `unseen` are the places not
    yet searched, as bits (-1: all), `item_place` the place where it knows the item to be.
    """

    home: Home
    name: str
    errand: Errand
    odds: tuple[float, ...]
    company: bool = False
    unseen: int = -1
    item_place: str | None = None
    has_asked: bool = False
    me: Person | None = None
    opened: frozenset[str] = frozenset()
    overlooks: float = OVERLOOKS

    def observe(self, view: HouseholdView, /) -> Self:
        """Cross off the places in view, note the item if it is there, and update the odds by statements about it."""
        unseen = self.unseen if self.unseen >= 0 else (1 << len(self.odds)) - 1
        unseen &= ~_as_bits(self.home, view.places)
        item_places = [place for thing, place in view.things if thing == self.errand.thing]
        remembered = self.item_place if self.item_place not in view.places else None
        item_place = min(item_places) if item_places else remembered
        odds, has_asked = self.odds, self.has_asked
        for speaker, act in view.last:
            if act.thing == self.errand.thing and speaker == self.name:
                has_asked = has_asked or act.do == "ask"
            elif act.thing == self.errand.thing and act.do == "tell" and act.place is not None:
                odds = odds_after_hearing(odds, self.home.number[act.place])
        updated = (unseen, item_place, has_asked, view.me, view.opened)
        if odds is self.odds and updated == (self.unseen, self.item_place, self.has_asked, self.me, self.opened):
            return self
        return type(self)(self.home, self.name, self.errand, odds, self.company, *updated, self.overlooks)

    def act(self) -> Lapsing:
        """π(a). Raises ValueError before its first observation."""
        table, blind = self._policies(self.item_place)
        if blind is not table:
            o, acts = self.overlooks, {**table, **blind}
            table = {a: (1.0 - o) * table.get(a, 0.0) + o * blind.get(a, 0.0) for a in acts}
        return Lapsing(table, LAPSE, act_count(self.home))

    def prob_knowing(self, act: Act, item_place: str | None) -> float:
        """π(a) if it knew the item to be at `item_place`, all else unchanged."""
        noticing, blind = self._policies(item_place)
        p = (1.0 - self.overlooks) * noticing.get(act, 0.0) + self.overlooks * blind.get(act, 0.0)
        return (1.0 - LAPSE) * p + LAPSE / act_count(self.home)

    def _policies(self, item_place: str | None) -> tuple[dict[Act, float], dict[Act, float]]:
        """Its policies if it notices the item and if it overlooks it; one object if there is nothing to overlook."""
        if self.me is None:
            raise ValueError("a mind must observe something before it can act")
        here_open = self.me.at is not None and self.me.at in self.opened and self.home.place[self.me.at].closes
        holds = self.errand.thing in self.me.holds
        asks = self.company and not self.has_asked
        position = (self.home, self.errand, self.odds, self.unseen, self.me.room, self.me.at, here_open)
        noticing = _policy_without_lapses(*position, item_place, holds, asks)
        overlooked = item_place is not None and not holds and self.overlooks > 0.0
        return noticing, _policy_without_lapses(*position, None, False, asks) if overlooked else noticing


def act_count(home: Home) -> int:
    """The number of acts about one item in a home."""
    # to wait, to ask and to say that one does not know; to walk to a room; walk, open, close, grab, put and tell
    return 3 + len(home.rooms) + 6 * len(home.places)


@lru_cache(maxsize=1 << 14)
def _as_bits(home: Home, places: frozenset[str]) -> int:
    """A set of places as bits."""
    return sum(1 << home.number[place] for place in places)


@lru_cache(maxsize=1 << 16)
def _policy_without_lapses(
    home: Home,
    errand: Errand,
    odds: tuple[float, ...],
    unseen: int,
    room: str,
    at: str | None,
    here_open: bool,
    item_place: str | None,
    holds: bool,
    asks: bool,
) -> dict[Act, float]:
    """The policy without lapses; a place that it has opened and no longer needs it closes with probability P_CLOSE."""
    aim: str | None = None
    steps = {WAIT: 1.0}
    if holds and errand.to is not None:
        aim = errand.to
        steps = {_toward(home, aim, room, at, here_open, Act("put", errand.thing, aim)): 1.0}
    elif holds or (item_place is not None and item_place == errand.to):
        pass
    elif item_place is not None:
        aim = item_place
        steps = {_toward(home, aim, room, at, here_open, Act("grab", errand.thing, aim)): 1.0}
    elif unseen:
        steps, p_ask = _first_acts(home, odds, unseen, room, at)
        if asks:
            steps = {**{act: p * (1.0 - p_ask) for act, p in steps.items()}, Act("ask", errand.thing): p_ask}
    if here_open and at is not None and at != aim:
        return {Act("close", None, at): P_CLOSE, **{act: p * (1.0 - P_CLOSE) for act, p in steps.items()}}
    return steps


def _toward(home: Home, aim: str, room: str, at: str | None, here_open: bool, final_act: Act) -> Act:
    """The next act on the way to doing `last` at the place `aim`."""
    place = home.place[aim]
    if place.room != room:
        return Act("walk", None, place.room)
    if at != aim:
        return Act("walk", None, aim)
    return Act("open", None, aim) if place.closes and not here_open else final_act


@lru_cache(maxsize=1 << 16)
def _first_acts(
    home: Home, odds: tuple[float, ...], unseen: int, room: str, at: str | None
) -> tuple[dict[Act, float], float]:
    """The first acts of every look with their probabilities, and the probability of asking first, if it can ask."""
    search, start = search_of(home, odds), home.room_number[room]
    scored = []
    for look in search.looks(unseen, start):
        name = None if look.place is None else home.places[look.place].name
        if look.room != start or name is None:
            scored.append((Act("walk", None, home.rooms[look.room]), -RATIONALITY * look.cost))
        else:
            is_here = name == at
            scored.append((Act("open" if is_here else "walk", None, name), -RATIONALITY * (look.cost - is_here)))
    policy = Categorical.from_scores(scored)
    saved = search.costs(unseen)[start] - direct_cost(home, odds, unseen, start)
    p_ask = 1.0 / (1.0 + math.exp(-RATIONALITY * (saved - ASKING)))
    return {act: math.exp(p) for act, p in zip(policy.support, policy.log_probs, strict=True)}, p_ask


def trip(home: Home, place: int, room: int) -> float:
    """Steps from a room to an item that is known to be at a place."""
    target = home.places[place]
    return home.steps[room][home.room_number[target.room]] + (2.0 if target.closes else 1.0)


def direct_cost(home: Home, odds: tuple[float, ...], unseen: int, room: int) -> float:
    """Expected steps to the item for an agent that is told the truth, under these odds."""
    pairs = [(o, trip(home, i, room)) for i, o in enumerate(odds) if unseen >> i & 1]
    total = sum(o for o, _ in pairs)
    return sum(o * cost for o, cost in pairs) / total if total > 0.0 else 0.0

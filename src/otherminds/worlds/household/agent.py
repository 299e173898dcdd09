"""An agent that shares a home with another that wants an item: it helps, hinders or does not care."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.worlds.household.rules import SPEECH, WAIT, Act, Home, HouseholdView
from otherminds.worlds.household.searcher import Errand, Searcher, search_of, trip

T = TypeVar("T", bound=Hashable)
Stance = Literal["help", "hinder", "independent"]
STANCES: tuple[Stance, ...] = ("help", "hinder", "independent")
# The sign of what a saving is worth to an agent with each stance.
SIGN: Mapping[Stance, float] = {"help": 1.0, "hinder": -1.0, "independent": 0.0}

# Chosen; not fitted (docs/systems/stories.md).
REPLY_RATIONALITY = 5.0  # η, per unit of a reply's worth
SATURATION = 0.1  # saving (share of a search) at which a claim is worth half its maximum
COURTESY = 0.1  # worth of an honest "I don't know"
P_CHORE = 0.05  # probability that an agent with a purpose does a chore of its own instead
P_MOVE_FARTHER = 0.03  # probability that a hindering agent moves an item that is not yet where it is wanted
ITEMS_PER_HOME = 6  # items that a chore may be about


@dataclass(frozen=True)
class SpeakingCosts:
    """What it costs the agents of a household to answer at all, and to say what they do not believe.

    A hindering agent lies at no cost. Costs are in units of a claim's worth, whose maximum is 1.
    """

    talking: float
    lying_to_help: float = 1.0
    lying_unconcerned: float = 0.6

    def lying(self, stance: Stance) -> float:
        """The cost of a lie for an agent with this stance."""
        return {"help": self.lying_to_help, "hinder": 0.0, "independent": self.lying_unconcerned}[stance]


# Chosen: an agent that does not care mostly stays silent.
RESERVED = SpeakingCosts(talking=0.4)
# Chosen for MuMA-ToM, where every agent that is asked answers.
ANSWERING = SpeakingCosts(talking=0.0, lying_unconcerned=0.45)


def uniform_odds(home: Home) -> tuple[float, ...]:
    """Equal odds for every place: the belief of an agent with no information about an item."""
    return (1.0,) * len(home.places)


@lru_cache(maxsize=1 << 14)
def search_saving(home: Home, claimed: int, actual: int | None, room: int) -> float:
    """Share of the listener's expected search cost that a claim saves, in [-1, 1]; negative if the claim costs steps.

    The listener, in `room`, believes the claim, goes to that place first, sees the open places of that room, and
    searches on if the item is not there:

        1 − C / V,   V = V(all places not in sight, room),
        C = trip(actual) if claimed = actual, or if both are in one room and the item lies there openly,
            else trip(claimed) + 1 + V(all places not in sight of either room, room of claimed).

    `actual` is the item's place; None for a speaker that does not know it (then C is averaged over places).
    """
    search = search_of(home, uniform_odds(home))
    claimed_room = search.rooms[claimed]
    unseen = search.everywhere & ~(1 << claimed) & ~search.openly[claimed_room] & ~search.openly[room]
    missed = trip(home, claimed, room) + 1.0 + search.costs(unseen)[claimed_room]
    seen_there = search.openly[claimed_room] | 1 << claimed
    candidates = range(len(home.places)) if actual is None else (actual,)
    cost = sum(trip(home, t, room) if seen_there >> t & 1 else missed for t in candidates) / len(candidates)
    unaided = search.costs(search.everywhere & ~search.openly[room])[room]
    return max(-1.0, min(1.0, 1.0 - cost / max(unaided, trip(home, claimed, room), 1.0)))


@lru_cache(maxsize=1 << 14)
def reply(
    home: Home, thing: str, belief: int | None, stance: Stance, room: int, costs: SpeakingCosts = RESERVED
) -> Mapping[Act, float]:
    """P(reply | belief, stance) of an agent that is asked for an item by a listener in `room`.

        p(u) ∝ exp η [ sign · saving(u) / (|saving(u)| + ½) − cost of talking − cost of lying + courtesy ]

    `belief` is the place where it believes the item to be, None for no belief. ½ stands for SATURATION; the sign is 1
    for helping, −1 for hindering, 0 for not caring. Silence (WAIT) and "I don't know" cost no talking; an honest
    "I don't know" earns the courtesy.
    """
    lying = costs.lying(stance)
    scores = {WAIT: 0.0, Act("unsure", thing): COURTESY if belief is None else -lying}
    for place in range(len(home.places)):
        gain = search_saving(home, place, belief, room)
        worth = SIGN[stance] * gain / (abs(gain) + SATURATION)
        scores[Act("tell", thing, home.places[place].name)] = (
            worth - costs.talking - (lying if place != belief else 0.0)
        )
    total = math.log(sum(math.exp(REPLY_RATIONALITY * score) for score in scores.values()))
    return {act: math.exp(REPLY_RATIONALITY * score - total) for act, score in scores.items()}


@lru_cache(maxsize=1 << 10)
def replies(home: Home, room: int, costs: SpeakingCosts = RESERVED) -> Mapping[Act, NDArray[np.float64]]:
    """P(reply | belief, stance) for every reply, with the item left out of the act.

    Arrays of shape (1 + places, stances): row 0 for no belief, row 1 + i for place i; columns as in `STANCES`.
    """
    beliefs = (None, *range(len(home.places)))
    tables = [[reply(home, "", belief, stance, room, costs) for stance in STANCES] for belief in beliefs]
    acts = tables[0][0]
    return {act._replace(thing=None): np.array([[table[act] for table in row] for row in tables]) for act in acts}


@lru_cache(maxsize=1 << 12)
def errands(
    home: Home, thing: str, lies: str, stance: Stance, believed_goal: str | None
) -> Mapping[Errand | None, float]:
    """P(errand | stance, believed goal) for an item at `lies`; None stands for every errand without this item.

    `believed_goal` is the place where the agent believes the other wants the item, None if it has no belief. A helping
    agent brings it there. A hindering agent takes it from there to any other place; an item that lies elsewhere it
    moves seldom, and never to where it is wanted. With probability P_CHORE both, and always an agent that does not care
    or has no belief, run a chore: one of the items of a home to any place.
    """
    places = [place.name for place in home.places if place.name != lies]
    purpose = 0.0 if stance == "independent" or believed_goal is None else 1.0 - P_CHORE
    table: dict[Errand | None, float] = {
        Errand(thing, place): (1.0 - purpose) / (ITEMS_PER_HOME * len(places)) for place in places
    }
    table[None] = (1.0 - purpose) * (1.0 - 1.0 / ITEMS_PER_HOME if places else 1.0)
    if stance == "help" and purpose:
        table[None if believed_goal == lies else Errand(thing, believed_goal)] += purpose
    elif purpose:
        elsewhere = [place for place in places if place != believed_goal]
        moving = (1.0 if believed_goal == lies else P_MOVE_FARTHER) if elsewhere else 0.0
        for place in elsewhere:
            table[Errand(thing, place)] += purpose * moving / len(elsewhere)
        table[None] += purpose * (1.0 - moving)
    return table


@dataclass(frozen=True)
class HouseholdAgent:
    """A mind that answers questions for one item by `reply`, and moves the item on an errand drawn from `errands`.

    The errand is drawn once for every place where the agent comes to believe the item to be. Until its own acts reveal
    it, the policy is the mixture  π(a) = Σ_e P(e | stance, listener goal, own acts) π_e(a),  with π_e the policy of a
    searcher that overlooks nothing; without an errand about the item the agent waits. The policy has no lapses: acts
    that serve no errand have probability 0. (MuMA-ToM §4: social goal, belief, and belief about the other's goal.)
    """

    searcher: Searcher
    stance: Stance
    listener_room: str
    listener_goal: str | None = None
    costs: SpeakingCosts = RESERVED
    must_reply: bool = False
    errand: Categorical[Errand | None] | None = None

    @classmethod
    def initial(
        cls,
        home: Home,
        name: str,
        thing: str,
        stance: Stance,
        *,
        listener_room: str,
        believed: str | None = None,
        listener_goal: str | None = None,
        costs: SpeakingCosts = RESERVED,
    ) -> Self:
        """The agent before its first observation; places and rooms are given by name.

        `believed` is the place where it believes the item to be, `listener_goal` where it believes the other agent
        wants it, `listener_room` where it takes the other agent to be until it sees it act.
        """
        searcher = Searcher(home, name, Errand(thing), uniform_odds(home), item_place=believed, overlooks=0.0)
        mind = cls(searcher, stance, listener_room, listener_goal, costs)
        return replace(mind, errand=mind._errands(believed))

    @property
    def belief(self) -> int | None:
        """Number of the place where it believes the item to be; None if it has no belief."""
        return None if self.searcher.item_place is None else self.searcher.home.number[self.searcher.item_place]

    def observe(self, view: HouseholdView, /) -> Self:
        """Update the belief about the item, the listener's room, and what its own act says about its errand."""
        searcher, errand = self.searcher.observe(view), self.errand
        own = [act for name, act in view.last if name == searcher.name]
        partner_acts = [act for name, act in view.last if name != searcher.name]
        if own and errand is not None and not self.must_reply:
            likelihood = {e: self._policy(e).get(own[-1], 0.0) for e in errand.support}
            if any(p > 0.0 and likelihood[e] > 0.0 for e, p in errand):
                errand = _categorical({e: p * likelihood[e] for e, p in errand})
        if searcher.item_place is not None and searcher.item_place != self.searcher.item_place:
            errand = replace(self, searcher=searcher)._errands(searcher.item_place)
        return replace(
            self,
            searcher=searcher,
            errand=errand,
            must_reply=any(act == Act("ask", searcher.errand.thing) for act in partner_acts),
            listener_room=view.me.room if any(act.do not in SPEECH for act in partner_acts) else self.listener_room,
        )

    def act(self) -> Categorical[Act]:
        """π(a): over replies if it was just asked for the item, else over acts.

        Raises ValueError before its first observation.
        """
        home, thing = self.searcher.home, self.searcher.errand.thing
        if self.searcher.me is None:
            raise ValueError("a mind must observe something before it can act")
        if self.must_reply:
            room = home.room_number[self.listener_room]
            return _categorical(reply(home, thing, self.belief, self.stance, room, self.costs))
        if self.errand is None:
            return Categorical.uniform([WAIT])
        return self.errand.bind(lambda errand: _categorical(self._policy(errand)))

    def _errands(self, lies: str | None) -> Categorical[Errand | None] | None:
        """The distribution over errands if it comes to believe that the item is at `lies`; None for no belief."""
        if lies is None:
            return None
        home, thing = self.searcher.home, self.searcher.errand.thing
        return _categorical(errands(home, thing, lies, self.stance, self.listener_goal))

    def _policy(self, errand: Errand | None) -> Mapping[Act, float]:
        """π_e(a) without lapses: the policy of its searcher on this errand; to wait if it has none."""
        return {WAIT: 1.0} if errand is None else replace(self.searcher, errand=errand).act().table


def _categorical(table: Mapping[T, float]) -> Categorical[T]:
    """The distribution with these probabilities, up to a common factor."""
    return Categorical.from_scores((x, math.log(p) if p > 0.0 else IMPOSSIBLE) for x, p in table.items())

"""What a cook knows from its windows alone: when it last saw each pot, counter and cook, and what others did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, Self

from otherminds.language.asking import plain
from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.collaborative_cooking import rules
from otherminds.worlds.collaborative_cooking.bots import PlaceRoute, nearest
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingView

NEVER = -1  # a step before the first one


class LastSeen(NamedTuple):
    """Another cook when it was seen last: step, cell, facing, and what it held."""

    t: int
    cell: int
    facing: int
    hand: int


class ObservedAction(NamedTuple):
    """What another cook did, in words, and the first step at which that could be seen."""

    t: int
    agent: str
    words: str


class KitchenMemory(NamedTuple):
    """What is known after some steps.

    codes and looks: what was last seen at each counter and each pot, and when; full_since: for each pot, the step since
    which at the latest it has been full, NEVER if it is not; cooks: each cook when it was seen last, None for the agent
    itself; actions: what others did; steps_in_view: in how many steps another cook was in view; soups: how many the
    agent delivered, and the others.
    """

    t: int
    view: CookingView
    codes: tuple[int, ...]
    looks: tuple[int, ...]
    full_since: tuple[int, ...]
    cooks: tuple[LastSeen | None, ...]
    actions: tuple[ObservedAction, ...] = ()
    steps_in_view: int = 0
    soups: tuple[int, int] = (0, 0)


class KitchenSituation(NamedTuple):
    """A cook in a kitchen, and what it knows."""

    world: CollaborativeCooking
    me: int
    memory: KitchenMemory

    @property
    def t(self) -> int:
        """The step."""
        return self.memory.t

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all cooks, each on one line."""
        return tuple(map(plain, self.world.agents))

    @property
    def other_names(self) -> tuple[str, ...]:
        """The names of all other cooks."""
        return tuple(name for j, name in enumerate(self.names) if j != self.me)

    @property
    def partner(self) -> str:
        """The name of the other cook, or the names of all others."""
        return " and ".join(self.other_names) or "nobody"

    @property
    def in_view(self) -> Mapping[str, LastSeen]:
        """All other cooks in view, by name."""
        last_seen = zip(self.names, self.memory.cooks, strict=True)
        return {name: cook for name, cook in last_seen if cook is not None and cook.t == self.memory.t}

    @property
    def in_the_way(self) -> frozenset[int]:
        """The cells of all other cooks in view."""
        return frozenset(cook.cell for cook in self.in_view.values())

    @classmethod
    def at_first(cls, world: CollaborativeCooking, me: int, view: CookingView) -> Self:
        """What a cook knows after its first view: all is taken to be empty until it is seen."""
        codes = (rules.SEES_COUNTER,) * len(world.counters) + (rules.SEES_POT,) * len(world.pots)
        nobody, unseen = (None,) * len(world.agents), (NEVER,) * len(codes)
        blank = KitchenMemory(NEVER, view._replace(reward=0.0), codes, unseen, (NEVER,) * len(world.pots), nobody)
        return cls(world, me, blank).after(view)

    def after(self, view: CookingView) -> Self:
        """What a cook knows after one more view."""
        world, before, t = self.world, self.memory, self.memory.t + 1
        window = world.field.window(view.cell, view.facing)
        in_sight = {cell: code for cell, code in zip(window, view.window, strict=True) if cell != OUTSIDE}
        codes = tuple(in_sight.get(cell, self.code(cell)) for cell in _place_indices(world))
        looks = tuple(t if cell in in_sight else self.last_look(cell) for cell in _place_indices(world))
        cooks = [*before.cooks]
        for cell, code in in_sight.items():
            if (cook := rules.player_of(code)) and cook.number != self.me:
                cooks[cook.number] = LastSeen(t, cell, cook.facing, cook.hand)
        pots = zip(codes[len(world.counters) :], before.full_since, strict=True)
        cooking = rules.SEES_POT + rules.FULL
        full_since = tuple((t if since == NEVER else since) if code == cooking else NEVER for code, since in pots)
        handed_over = (before.view.hand, view.hand) == (rules.SOUP, rules.NOTHING)
        own_soups = handed_over and world.square(_cell_ahead(world, view.cell, view.facing)) == rules.DELIVERY
        others_soups = max((round(view.reward / world.pay) if world.pay else 0) - own_soups, 0)
        soups = before.soups[0] + own_soups, before.soups[1] + others_soups
        memory = KitchenMemory(t, view, codes, looks, full_since, tuple(cooks), soups=soups)
        situation = self._replace(memory=memory)
        actions = (
            before.actions
            if before.t == NEVER
            else (*before.actions, *_observed_actions(self, situation, others_soups))
        )
        steps_in_view = before.steps_in_view + bool(situation.in_view)
        return situation._replace(memory=memory._replace(actions=actions, steps_in_view=steps_in_view))

    def way_to(self, cell: int, around: frozenset[int] = frozenset()) -> PlaceRoute | None:
        """The shortest way to use a place, around these cells; None if there is none."""
        return nearest(self.world, self.memory.view, [cell], around)

    def code(self, cell: int) -> int:
        """What was last seen at a counter or a pot."""
        return self.memory.codes[_place_indices(self.world)[cell]]

    def last_look(self, cell: int) -> int:
        """When a counter or a pot was last seen; NEVER if it was not."""
        return self.memory.looks[_place_indices(self.world)[cell]]

    def at(self, cell: int) -> tuple[int, int]:
        """The column and row of a cell."""
        return self.world.grid.xy(cell)


@lru_cache(maxsize=64)
def _place_indices(world: CollaborativeCooking) -> dict[int, int]:
    """The index of each counter and pot, by cell."""
    return {cell: k for k, cell in enumerate(world.counters + world.pots)}


def tomatoes(code: int) -> int:
    """The number of tomatoes in a pot with this code, or in the soup there."""
    return rules.FULL if code == rules.SEES_SOUP else code - rules.SEES_POT


def things(number: int, thing: int) -> str:
    """A number of things in words."""
    name = rules.THINGS[thing]
    return f"a {name}" if number == 1 else f"{number} {name}{'es' if name[-1] in 'oh' else 's'}"


def in_hand(thing: int) -> str:
    """What a cook holds, in words."""
    return things(1, thing) if thing else "nothing"


# What the agent did, and what others did


def _cell_ahead(world: CollaborativeCooking, cell: int, facing: int) -> int:
    return cell + world.field.ahead[facing]


def _observed_actions(before: KitchenSituation, after: KitchenSituation, delivered: int) -> Iterator[ObservedAction]:
    """What others did since the last view, as far as it shows; `delivered` is the number of soups they delivered."""
    t, used = after.memory.t, set[int]()
    for name, cook in after.in_view.items():
        last_seen = before.memory.cooks[after.names.index(name)]
        if last_seen is None or last_seen.hand == cook.hand:
            continue
        if last_seen.t < before.memory.t:
            hands = things(1, cook.hand) if cook.hand else "empty hands"
            yield ObservedAction(t, name, f"came into view again, with {hands}")
            continue
        place = _cell_ahead(after.world, cook.cell, cook.facing)
        used.add(place)
        delivered -= (last_seen.hand, after.world.square(place)) == (rules.SOUP, rules.DELIVERY)
        yield ObservedAction(t, name, _use_in_words(after, place, last_seen.hand, cook.hand))
    somebody = after.other_names[0] if len(after.other_names) == 1 else "somebody else"
    for _ in range(delivered):
        yield ObservedAction(t, somebody, "delivered a soup")
    for place, expected in _expected_codes(before, after.memory.view).items():
        if place not in used and after.last_look(place) == t:
            for words in _changes_in_words(after, place, expected, after.code(place)):
                yield ObservedAction(t, somebody, words)


def _use_in_words(situation: KitchenSituation, place: int, before: int, hand: int) -> str:
    """What a cook in view did if it held one thing before, and another now."""
    square, position = situation.world.square(place), situation.at(place)
    if square == rules.POT:
        return f"took the soup out of the pot at {position}" if hand else f"put a tomato into the pot at {position}"
    if square == rules.DELIVERY:
        return "delivered a soup"
    if square == rules.COUNTER:
        verb, thing, preposition = ("took", hand, "off") if hand else ("put", before, "onto")
        return f"{verb} {things(1, thing)} {preposition} the counter at {position}"
    return f"picked up {things(1, hand)} at {position}"


def _expected_codes(before: KitchenSituation, view: CookingView) -> dict[int, int]:
    """The codes of counters and pots if only the agent itself had acted since the last view."""
    codes = {cell: before.code(cell) for cell in _place_indices(before.world)}
    hand = before.memory.view.hand
    place = _cell_ahead(before.world, view.cell, view.facing)
    if place in codes and hand != view.hand:
        if codes[place] < rules.SEES_POT:
            codes[place] = rules.SEES_COUNTER + rules.at_counter(hand, codes[place] - rules.SEES_COUNTER)[1]
        else:
            codes[place] = rules.SEES_POT + (tomatoes(codes[place]) + 1 if hand == rules.TOMATO else 0)
    return codes


def _changes_in_words(situation: KitchenSituation, place: int, before: int, after: int) -> Iterator[str]:
    """What must have been done at a place whose code has changed."""
    position = situation.at(place)
    if after < rules.SEES_POT:
        if before != after and before > rules.SEES_COUNTER:
            yield f"took {things(1, before - rules.SEES_COUNTER)} off the counter at {position}"
        if before != after and after > rules.SEES_COUNTER:
            yield f"put {things(1, after - rules.SEES_COUNTER)} onto the counter at {position}"
        return
    taken = after < before
    # tomatoes added before and after the soup was taken, if it was
    added = (rules.FULL - tomatoes(before), tomatoes(after)) if taken else (tomatoes(after) - tomatoes(before), 0)
    if added[0]:
        yield f"put {things(added[0], rules.TOMATO)} into the pot at {position}"
    if taken:
        yield f"took the soup out of the pot at {position}"
    if added[1]:
        yield f"put {things(added[1], rules.TOMATO)} into the pot at {position}"

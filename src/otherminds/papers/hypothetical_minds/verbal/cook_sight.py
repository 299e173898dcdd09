"""What a cook knows by its windows alone: what it last saw of each pot, counter and person, and what others did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from otherminds.language.asking import plain
from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import (
    COUNTER,
    DELIVERY,
    FULL,
    NOTHING,
    POT,
    SEES_COUNTER,
    SEES_POT,
    SEES_SOUP,
    SOUP,
    THINGS,
    TOMATO,
    View,
    at_counter,
    player_of,
)

NEVER = -1


class Glimpse(NamedTuple):
    """Somebody else, when seen last."""

    t: int
    cell: int
    facing: int
    hand: int


class Deed(NamedTuple):
    """What somebody else did, in words, and the first step at which that could be seen."""

    t: int
    who: str
    what: str


class Sight(NamedTuple):
    """What is known after so many steps.

    codes and looked: what was last seen at each counter and each pot, and when; full: for each pot, since when at the
    latest it has been full, NEVER if it is not; others: everybody when seen last, if not oneself; shown: in how many
    steps anybody else was in view; soups: how many were delivered by oneself, and by others.
    """

    t: int
    view: View
    codes: tuple[int, ...]
    looked: tuple[int, ...]
    full: tuple[int, ...]
    others: tuple[Glimpse | None, ...]
    deeds: tuple[Deed, ...] = ()
    shown: int = 0
    soups: tuple[int, int] = (0, 0)


class Scene(NamedTuple):
    """A cook in a kitchen, and what it knows."""

    world: CollaborativeCooking
    me: int
    sight: Sight

    @property
    def players(self) -> tuple[str, ...]:
        """What everybody is called."""
        return tuple(map(plain, self.world.agents))

    @property
    def others(self) -> tuple[str, ...]:
        """What everybody else is called."""
        return tuple(name for j, name in enumerate(self.players) if j != self.me)

    @property
    def partner(self) -> str:
        """What the other one is called, or all others are."""
        return " and ".join(self.others) or "nobody"

    @property
    def in_view(self) -> Mapping[str, Glimpse]:
        """Everybody else who is seen now, by name."""
        seen = zip(self.players, self.sight.others, strict=True)
        return {name: other for name, other in seen if other is not None and other.t == self.sight.t}

    @property
    def in_the_way(self) -> frozenset[int]:
        """Where somebody else stands now."""
        return frozenset(other.cell for other in self.in_view.values())

    def code(self, cell: int) -> int:
        """What was last seen at a counter or a pot."""
        return self.sight.codes[_places(self.world)[cell]]

    def looked(self, cell: int) -> int:
        """When a counter or a pot was last seen; NEVER if it was not."""
        return self.sight.looked[_places(self.world)[cell]]

    def at(self, cell: int) -> tuple[int, int]:
        """The column and row of a cell."""
        return self.world.grid.xy(cell)


@lru_cache(maxsize=64)
def _places(world: CollaborativeCooking) -> dict[int, int]:
    """Which one in the order of counters and pots each of them is, by cell."""
    return {cell: k for k, cell in enumerate(world.counters + world.pots)}


def at_first(world: CollaborativeCooking, me: int, view: View) -> Scene:
    """What one knows by the first look: all is taken to be empty until it is seen."""
    codes = (SEES_COUNTER,) * len(world.counters) + (SEES_POT,) * len(world.pots)
    nobody, unseen = (None,) * len(world.agents), (NEVER,) * len(codes)
    blank = Sight(NEVER, view._replace(reward=0.0), codes, unseen, (NEVER,) * len(world.pots), nobody)
    return after(Scene(world, me, blank), view)


def after(scene: Scene, view: View) -> Scene:
    """What one knows after one more look."""
    world, before, t = scene.world, scene.sight, scene.sight.t + 1
    window = world.field.window(view.cell, view.facing)
    shown = {cell: code for cell, code in zip(window, view.window, strict=True) if cell != OUTSIDE}
    codes = tuple(shown.get(cell, scene.code(cell)) for cell in _places(world))
    looked = tuple(t if cell in shown else scene.looked(cell) for cell in _places(world))
    others = [*before.others]
    for cell, code in shown.items():
        if (who := player_of(code)) and who.number != scene.me:
            others[who.number] = Glimpse(t, cell, who.facing, who.hand)
    pots = zip(codes[len(world.counters) :], before.full, strict=True)
    full = tuple((t if since == NEVER else since) if code == SEES_POT + FULL else NEVER for code, since in pots)
    mine = _delivered(scene, view)
    theirs = max((round(view.reward / world.pay) if world.pay else 0) - mine, 0)
    soups = before.soups[0] + mine, before.soups[1] + theirs
    now = Sight(t, view, codes, looked, full, tuple(others), before.deeds, before.shown, soups)
    seen = scene._replace(sight=now)
    deeds = () if before.t == NEVER else tuple(_deeds(scene, seen, theirs))
    return seen._replace(sight=now._replace(deeds=before.deeds + deeds, shown=before.shown + bool(seen.in_view)))


def tomatoes(code: int) -> int:
    """How many are in a pot that is seen like this, or were before they were cooked."""
    return FULL if code == SEES_SOUP else code - SEES_POT


def things(number: int, thing: int) -> str:
    """So many things in words."""
    name = THINGS[thing]
    return f"a {name}" if number == 1 else f"{number} {name}{'es' if name[-1] in 'oh' else 's'}"


# What did oneself do, and what others?


def _ahead(world: CollaborativeCooking, cell: int, facing: int) -> int:
    return cell + world.field.ahead[facing]


def _delivered(before: Scene, view: View) -> bool:
    """Whether one has delivered a soup oneself in the last step."""
    place = _ahead(before.world, view.cell, view.facing)
    return (before.sight.view.hand, view.hand) == (SOUP, NOTHING) and before.world.square(place) == DELIVERY


def _deeds(before: Scene, now: Scene, delivered: int) -> Iterator[Deed]:
    """What others did since the look before, as far as can be told; `delivered` is how many soups they did."""
    t, used = now.sight.t, set[int]()
    for name, other in now.in_view.items():
        last = before.sight.others[now.players.index(name)]
        if last is None or last.hand == other.hand:
            continue
        if last.t < before.sight.t:
            yield Deed(t, name, f"came into view again, with {things(1, other.hand) if other.hand else 'empty hands'}")
            continue
        place = _ahead(now.world, other.cell, other.facing)
        used.add(place)
        delivered -= (last.hand, now.world.square(place)) == (SOUP, DELIVERY)
        yield Deed(t, name, _use(now, place, last.hand, other.hand))
    somebody = now.others[0] if len(now.others) == 1 else "somebody else"
    for _ in range(delivered):
        yield Deed(t, somebody, "delivered a soup")
    for place, expected in _expected(before, now.sight.view).items():
        if place not in used and now.looked(place) == t:
            for what in _changed(now, place, expected, now.code(place)):
                yield Deed(t, somebody, what)


def _use(scene: Scene, place: int, before: int, hand: int) -> str:
    """What somebody in view did who held one thing, and then another."""
    square, there = scene.world.square(place), scene.at(place)
    if square == POT:
        return f"took the soup out of the pot at {there}" if hand else f"put a tomato into the pot at {there}"
    if square == DELIVERY:
        return "delivered a soup"
    if square == COUNTER:
        verb, thing, on = ("took", hand, "off") if hand else ("put", before, "onto")
        return f"{verb} {things(1, thing)} {on} the counter at {there}"
    return f"picked up {things(1, hand)} at {there}"


def _expected(before: Scene, view: View) -> dict[int, int]:
    """How counters and pots would look if only oneself had done something since the look before."""
    codes, hand = {cell: before.code(cell) for cell in _places(before.world)}, before.sight.view.hand
    place = _ahead(before.world, view.cell, view.facing)
    if place in codes and hand != view.hand:
        if codes[place] < SEES_POT:
            codes[place] = SEES_COUNTER + at_counter(hand, codes[place] - SEES_COUNTER)[1]
        else:
            codes[place] = SEES_POT + (tomatoes(codes[place]) + 1 if hand == TOMATO else 0)
    return codes


def _changed(scene: Scene, place: int, before: int, now: int) -> Iterator[str]:
    """What must have been done at a place that looks different."""
    there = scene.at(place)
    if now < SEES_POT:
        if before != now and before > SEES_COUNTER:
            yield f"took {things(1, before - SEES_COUNTER)} off the counter at {there}"
        if before != now and now > SEES_COUNTER:
            yield f"put {things(1, now - SEES_COUNTER)} onto the counter at {there}"
        return
    taken = now < before
    added = (FULL - tomatoes(before), tomatoes(now)) if taken else (tomatoes(now) - tomatoes(before), 0)
    if added[0]:
        yield f"put {things(added[0], TOMATO)} into the pot at {there}"
    if taken:
        yield f"took the soup out of the pot at {there}"
    if added[1]:
        yield f"put {things(added[1], TOMATO)} into the pot at {there}"

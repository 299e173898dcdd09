"""Kitchens with certificates: what help is worth in one, established by playing it with and without.

Every claim is about simulated cooks who know only what they see, over ten seeds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from otherminds.papers.protom.episodes import Moment
from otherminds.papers.protom.experiment import Entry, episode
from otherminds.papers.protom.levels.kitchen_maker import random_kitchen
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.papers.protom.overcooked import Hint, KitchenFacilitator, cast, facilitator, people
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.kitchen import CHOPPED, FRESH, PLATE, RECIPES
from otherminds.worlds.overcooked.level_files import LEVELS, KitchenLevel, draw_text, parse_kitchen, write_kitchen
from otherminds.worlds.overcooked.planner import Advice
from otherminds.worlds.overcooked.rules import State

SEEDS = 10
ORACLES = 5
LATEST = 8
PROMISING = 4
FORESEEN = 3
LEAST = 4.0
SHARE = 0.15

Play = list[Moment[State, str, Advice]]
Lengths = tuple[int, ...]


@dataclass(frozen=True)
class Proof:
    """What is known of a kitchen: its class and the lengths that it follows from, in steps.

    alone: L0 for each seed without help (the horizon if somebody fails). told: Lf, the same with one message, and
    `message`, which, and from which step on.
    """

    kind: str
    alone: Lengths
    told: Lengths
    message: str

    def certificate(self, seed: str) -> dict[str, str]:
        """The proof as notes of a kitchen file."""
        return {
            "class": self.kind,
            **({"seed": seed} if seed else {}),
            "L0": " ".join(map(str, self.alone)),
            **({"Lf": " ".join(map(str, self.told))} if self.told else {}),
            "message": self.message,
        }


def prove(level: KitchenLevel) -> Proof | None:
    """Classify a kitchen; None if it falls between the classes.

    necessary: somebody lacks something that is out of reach, but that the other can bring, so that all runs fail; and
    one message makes all of them succeed. useful: all runs succeed, and one message saves 4 steps and 15 % on average.
    not_needed: all runs succeed, and no message at any time saves more than one step, as far as can be foreseen.
    Where help counts, a facilitator who knows the recipes must make everybody succeed.
    """
    level = replace(level, name="proof")  # the name of a level names its random streams
    requests = OvercookedAdvice(level.world)
    first = _play(level, requests, 0)
    chances = _chances(level, requests, 0, first, level.horizon)
    failed = _length(level, first) == level.horizon
    if not chances or 1 < chances[0].saves < LEAST - 1 or failed != bool(lacking(level)):
        return None
    plays = [first, *(_play(level, requests, seed) for seed in range(1, SEEDS))]
    alone = tuple(_length(level, play) for play in plays)
    if len({length == level.horizon for length in alone}) > 1:
        return None
    early = _distinct(chance for chance in chances if chance.saves > 1 and chance.t <= LATEST)
    for chance in early:
        told = _told(level, requests, chance)
        saves = fmean(alone) - fmean(told)
        if max(told) < level.horizon and saves >= max(LEAST, SHARE * fmean(alone)) and _helpable(level, requests):
            return _proof("necessary" if failed else "useful", requests, alone, told, chance)
    if failed or any(
        chance.saves > 1
        for seed, play in enumerate(plays[:FORESEEN])
        for chance in _chances(level, requests, seed, play, level.horizon)[:1]
    ):
        return None
    return Proof("not_needed", alone, (), "none")


def lacking(level: KitchenLevel) -> list[int]:
    """Who cannot get at something they need, though all they need is there: by reachability alone."""
    return [i for i, recipe in enumerate(level.world.recipes) if recipe and _lacks(level, i, recipe)]


def _lacks(level: KitchenLevel, i: int, recipe: str) -> bool:
    """Whether agent i has a board and a delivery, but some food or plate only across a counter."""
    world, layout = level.world, level.world.layout
    floor = layout.reachable(world.cells[i])
    within = [bool(floor & {*beside}) for beside in layout.beside]
    food = RECIPES[recipe] - PLATE
    needs = [[FRESH[f] for f, part in CHOPPED.items() if part == food], [PLATE]]
    mine, every = {t for t, near in zip(world.on, within, strict=False) if near}, set(world.on)
    reachable = [any(thing in mine for thing in kinds) for kinds in needs]
    there = all(any(thing in every for thing in kinds) for kinds in needs)
    stations = any(within[board] for board in layout.boards) and any(within[len(world.on) :])
    return stations and there and not all(reachable)


def _play(level: KitchenLevel, requests: OvercookedAdvice, seed: int, helper: KitchenFacilitator | None = None) -> Play:
    entry = Entry(level, "none", "proof", seed)
    return list(episode(entry, cast(entry, helper, requests)))


def _length(level: KitchenLevel, play: Play) -> int:
    return len(play) if play and level.world.done(play[-1].after) else level.horizon


class _Chance(NamedTuple):
    """A request that could be made after t steps, and what it is foreseen to save."""

    saves: int
    t: int
    request: Advice


def _chances(level: KitchenLevel, requests: OvercookedAdvice, seed: int, play: Play, latest: int) -> list[_Chance]:
    """What every request would save that could be made in a run without help, by forecasts; the best first."""
    world, found = level.world, []
    minds = {a: m.observe(world.observe(world.initial, a)) for a, m in people(level, requests, seed).items()}
    for t, moment in enumerate(play[:latest], 1):
        state, left = moment.after, level.horizon - t
        minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
        thought = list(minds.values())
        without = requests.length(state, thought, None, left)
        for request in requests.candidates(state):
            found.append(_Chance(without - requests.length(state, thought, request, left), t, request))
    return sorted(found, key=lambda chance: (-chance.saves, chance.t))


def _told(level: KitchenLevel, requests: OvercookedAdvice, chance: _Chance) -> tuple[int, ...]:
    """Lf for each seed: how long it takes if the request is made as soon as it can be, from step t on."""
    hint = Hint(requests, chance.request, chance.t)
    return tuple(_length(level, _play(level, requests, seed, hint)) for seed in range(SEEDS))


def _proof(kind: str, requests: OvercookedAdvice, alone: Lengths, told: Lengths, chance: _Chance) -> Proof:
    return Proof(kind, alone, told, f"{requests.address(chance.request)}, after step {chance.t}")


def _helpable(level: KitchenLevel, requests: OvercookedAdvice) -> bool:
    """Whether a facilitator who knows the recipes makes everybody succeed, whatever they believe at first."""
    oracle = (_play(level, requests, seed, facilitator("oracle", level, requests)) for seed in range(ORACLES))
    return all(_length(level, play) < level.horizon for play in oracle)


def _distinct(chances: Iterable[_Chance]) -> list[_Chance]:
    """The most promising chances, each request once."""
    return list({chance.request: chance for chance in reversed(list(chances))}.values())[::-1][:PROMISING]


def symmetry_hash(level: KitchenLevel) -> str:
    """A hash that is the same for kitchens that are rotated or reflected versions of each other, whatever the names."""
    world, grid = level.world, level.world.layout.grid
    rows = [line.split() for line in draw_text(world, world.initial).split("\n")]
    for cell, recipe in zip(world.cells, world.recipes, strict=True):
        x, y = grid.xy(cell)
        rows[y][x] = f"wants {recipe}"
    turned, views = rows, []
    for _ in range(4):
        turned = [list(row) for row in zip(*turned[::-1], strict=True)]
        views += ["\n".join(map(" ".join, view)) for view in (turned, [row[::-1] for row in turned])]
    return hashlib.sha256(min(views).encode()).hexdigest()


DESIGN = Design(random_kitchen, prove, symmetry_hash, parse_kitchen, write_kitchen, LEVELS, "twenty-one")

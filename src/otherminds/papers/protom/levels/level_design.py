"""Doors-Keys-Gems levels with certificates: what help is worth in a level, established by exact planning."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from otherminds.errors import InputError
from otherminds.papers.protom.doors_keys_gems import episode, people
from otherminds.papers.protom.experiment import Entry
from otherminds.papers.protom.levels.joint_planner import JointPlanner
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.papers.protom.levels.map_maker import random_level
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.level_files import LEVELS, Level, draw_text, parse_level, write_level
from otherminds.worlds.doors_keys_gems.planner import Goal

SEEDS = 5
SHORTEST = 8
FAILED = "-"


@dataclass(frozen=True)
class Proof:
    """What is known of a level: its class and the lengths that it follows from, in steps.

    alone: L0 of several runs without help, ties broken at random (None: somebody fails). told: Lf, the best that
    one message at the start achieves, and `message`, which. together: L*, perfect cooperation.
    """

    kind: str
    alone: tuple[int | None, ...]
    told: int | None
    message: str
    together: int | None

    def certificate(self, seed: str) -> dict[str, str]:
        """The proof as header lines of a level file."""
        return {
            "class": self.kind,
            "alone": " ".join(FAILED if n is None else str(n) for n in self.alone),
            "told": FAILED if self.told is None else str(self.told),
            "together": FAILED if self.together is None else str(self.together),
            "message": self.message,
            **({"seed": seed} if seed else {}),
        }


def alone(level: Level, favours: DoorsKeysGemsAdvice, seed: int) -> int | None:
    """L0: the steps that people take without help, None if they do not all succeed in time."""
    rng = np.random.default_rng(seed)
    steps = list(rollout(level.world, people(level, favours), steps=level.horizon, rng=rng))
    return len(steps) if level.world.done(steps[-1].after if steps else level.world.initial) else None


def prove(level: Level, favours: DoorsKeysGemsAdvice | None = None) -> Proof | None:
    """Classify a level by exact planning; None if it falls between the classes.

    necessary: somebody fails in every run, but one message makes all succeed. useful: all succeed, and a message
    saves at least 15 % and perfect cooperation 20 % and four steps. not_needed: nothing can make it shorter.
    In levels where help counts, a facilitator who knows the goals must succeed however ties are broken.
    Raises InputError for alternating turns.
    """
    if level.world.turns != "simultaneous":
        raise InputError(f"{level.name}: certificates are about simultaneous turns")
    favours = favours or DoorsKeysGemsAdvice(level.world)
    world, horizon, state = level.world, level.horizon, level.world.initial
    goals = tuple(Goal("gem", gem) for gem in world.goals)
    expected = favours.steps(state, goals, None, horizon)
    told = {f: favours.steps(state, goals, f, horizon) for f in favours.candidates(state)}
    best = min(told, key=lambda f: told[f], default=None)
    shortest = horizon if best is None else told[best]
    if not _promising(expected, shortest, horizon):
        return None
    runs = tuple(alone(level, favours, seed) for seed in range(SEEDS))
    together = JointPlanner(world).makespan(min(expected, shortest))
    kind = _kind(runs, shortest, together, horizon)
    if kind is None or (together is not None and together < SHORTEST) or not _helpable(level, kind):
        return None
    helps = best is not None and kind != "not_needed"
    message = favours.address(best) if best and helps else "none"
    return Proof(kind, runs, shortest if helps else None, message, together)


def _helpable(level: Level, kind: str) -> bool:
    """Whether a facilitator who knows the goals makes everybody succeed, whatever way ties are broken."""
    level = replace(level, name="proof")  # the name of a level names its random streams
    return kind == "not_needed" or all(
        level.world.done([m.after for m in episode(Entry(level, "oracle", kind, seed))][-1]) for seed in range(SEEDS)
    )


def _promising(expected: int, told: int, horizon: int) -> bool:
    """Whether the cheap figures leave any class possible."""
    if expected >= horizon:
        return told <= 0.75 * horizon
    return told >= expected or told <= 0.85 * expected


def _kind(runs: tuple[int | None, ...], told: int, together: int | None, horizon: int) -> str | None:
    lengths = [n for n in runs if n is not None]
    if together is None:
        return None
    if not lengths:
        return "necessary" if told <= 0.75 * horizon else None
    if len(lengths) < len(runs) or max(lengths) - min(lengths) > 2:
        return None
    least = min(lengths)
    if together == least <= told:
        return "not_needed"
    saves = together <= 0.8 * least and least - together >= 4 and told <= 0.85 * least
    return "useful" if saves else None


def symmetry_hash(level: Level) -> str:
    """A hash that is the same for levels that are rotated, reflected or recoloured versions of each other."""
    wanted = {f"g{gem}": f"w{i}" for i, gem in enumerate(level.world.goals)}
    numbered = {gem.cell: f"g{n}" for n, gem in enumerate(level.world.gems)}
    rows = [line.split(" ") for line in draw_text(level.world, level.world.initial).split("\n")]
    for cell, name in numbered.items():
        x, y = level.world.grid.xy(cell)
        rows[y][x] = wanted.get(name, "g")
    turned, views = rows, []
    for _ in range(4):
        turned = [list(row) for row in zip(*turned[::-1], strict=True)]
        views += [_relabelled(turned), _relabelled([row[::-1] for row in turned])]
    return hashlib.sha256(min(views).encode()).hexdigest()


def _relabelled(rows: list[list[str]]) -> str:
    """The map with colours and people numbered in the order in which they appear."""
    colours: dict[str, str] = {}
    people: dict[str, str] = {}
    tiles = []
    for tile in (tile for row in rows for tile in row):
        if tile[0] in "kd":
            tiles.append(tile[0] + colours.setdefault(tile[1], str(len(colours))))
        elif tile[0] == "a":
            tiles.append("a" + people.setdefault(str(int(tile[1]) - 1), str(len(people))))
        elif tile[0] == "w":
            tiles.append("w" + people.setdefault(tile[1], str(len(people))))
        else:
            tiles.append(tile)
    return f"{len(rows)}:" + " ".join(tiles)


DESIGN = Design(random_level, prove, symmetry_hash, parse_level, write_level, LEVELS, "twenty")

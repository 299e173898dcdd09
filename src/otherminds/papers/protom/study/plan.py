"""The plan of a study with people: which pair plays which level with which facilitator, in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.papers.protom.levels.kitchens import DESIGN
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel

CLASSES = ("useful", "necessary")
EACH = 3
SEEDS = 1 << 31
NOBODY = "none"
NAMES = ("Robin", "Kim", "Alex", "Sasha", "Charlie", "Jona", "Noa", "Toni", "Andrea", "Luca", "Mika", "Sam")


@dataclass(frozen=True)
class Trial:
    """A level that a pair plays with a facilitator, and the seed of everything in it that is random."""

    level: str
    facilitator: str
    seed: int


def default_levels() -> list[KitchenLevel]:
    """Three of the twenty-one kitchens in which help is useful, and three in which it is necessary: the smallest ones.

    Small kitchens fit a screen. Size is the number of squares; of kitchens of one size, the first ones are taken.
    """
    bundled = DESIGN.bundled()
    return [level for kind in CLASSES for level in sorted(_of(bundled, kind), key=_squares)[:EACH]]


def _of(levels: Sequence[KitchenLevel], kind: str) -> list[KitchenLevel]:
    return [level for level in levels if level.kind == kind]


def _squares(level: KitchenLevel) -> int:
    return len("".join(level.world.layout.rows))


def counterbalanced(
    levels: Sequence[Level | KitchenLevel], facilitators: Sequence[str], pair: int, *, seed: int
) -> tuple[Trial, ...]:
    """What a pair plays: every level once, with all facilitators equally often, within each class too if possible.

    Over as many consecutive pairs as there are facilitators, every level meets each of them once (a Latin square).
    Facilitators take turns: each plays once before any plays again. Of every such number of pairs, from 0 on, each
    facilitator is first for one, second for one …; in the next such number of pairs the order is reversed. Which of
    its levels a facilitator has first is drawn. Raises InputError for numbers that this cannot work for.
    """
    _check([level.name for level in levels], facilitators, pair)
    turns = _turns(facilitators, pair, len(levels) // len(facilitators), seed)
    mine = _assigned(levels, facilitators, pair, seed)
    rng = stream(seed, "order of levels", str(pair))
    for names in mine.values():
        rng.shuffle(names)
    return tuple(Trial(mine[who].pop(), who, int(rng.integers(SEEDS))) for who in turns)


def _check(levels: Sequence[str], facilitators: Sequence[str], pair: int) -> None:
    for what, names in (("level", levels), ("facilitator", facilitators)):
        if not names:
            raise InputError(f"a study needs a {what}")
        if twice := next((name for i, name in enumerate(names) if name in names[:i]), None):
            raise InputError(f"the {what} `{twice}` comes twice")
    if len(levels) % len(facilitators):
        message = f"{len(levels)} levels cannot be shared equally among {len(facilitators)} facilitators"
        raise InputError(message, hint=f"a multiple of {len(facilitators)} levels")
    if pair < 0:
        raise InputError(f"there is no pair {pair}", hint="pairs are counted from 0 or 1")


def _assigned(
    levels: Sequence[Level | KitchenLevel], facilitators: Sequence[str], pair: int, seed: int
) -> dict[str, list[str]]:
    """The levels that each facilitator has: one after the other through the classes, one further for every pair."""
    by_class: dict[str, list[str]] = defaultdict(list)
    for level in levels:
        by_class[level.kind].append(level.name)
    rng = stream(seed, "square")
    found: dict[str, list[str]] = {who: [] for who in facilitators}
    i = pair
    for names in by_class.values():
        for k in rng.permutation(len(names)):
            found[facilitators[i % len(facilitators)]].append(names[k])
            i += 1
    return found


def _turns(facilitators: Sequence[str], pair: int, rounds: int, seed: int) -> list[str]:
    """The order of facilitators: a cyclic square, mirrored in every other block of pairs.

    The square is gone through forwards or backwards, whichever lets more levels come first: as every pair has its
    levels from the next facilitator, one direction could give all pairs the same level with the first one.
    """
    n = len(facilitators)
    block, row = divmod(pair, n)
    order = [int(k) for k in stream(seed, "order of facilitators").permutation(n)]
    if block % 2:
        order.reverse()
    way = max((1, -1), key=lambda way: len({(order[way * row % n] - row) % n for row in range(n)}))
    return [facilitators[order[(way * row + turn + k) % n]] for turn in range(rounds) for k in range(n)]


def codenames(facilitators: Sequence[str], seed: int) -> dict[str, str]:
    """A neutral name for each facilitator, which is all that participants are told of it; `none` has no name.

    Raises InputError for more facilitators than there are names.
    """
    somebody = [who for who in dict.fromkeys(facilitators) if who != NOBODY]
    if len(somebody) > len(NAMES):
        raise InputError(f"there are {len(NAMES)} codenames for {len(somebody)} facilitators")
    chosen = stream(seed, "codenames").permutation(len(NAMES))
    return {who: NAMES[k] for who, k in zip(somebody, chosen, strict=False)}

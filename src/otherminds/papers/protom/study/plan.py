"""The plan of a study: which pair plays which level with which facilitator, in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from otherminds.errors import InputError
from otherminds.evaluation.engines import stream
from otherminds.papers.protom.levels.kitchens import DESIGN
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel

CLASSES = ("useful", "necessary")  # classes of the usual levels; where no help is needed there is nothing to compare
EACH = 3  # usual levels per class: six levels, as in the paper's study (§4.5)
SEEDS = 1 << 31  # seeds of trials are drawn below this
NOBODY = "none"  # the facilitator's name in trials without one
NAMES = ("Robin", "Kim", "Alex", "Sasha", "Charlie", "Jona", "Noa", "Toni", "Andrea", "Luca", "Mika", "Sam")


@dataclass(frozen=True)
class Trial:
    """A level that a pair plays with a facilitator, and the seed of the trial's random numbers."""

    level: str
    facilitator: str
    seed: int


def default_levels() -> list[KitchenLevel]:
    """The three smallest bundled kitchens in which help is useful, and the three smallest in which it is necessary.

    Small kitchens fit a screen. Size is the number of squares; of kitchens of equal size the first ones are taken.
    """
    bundled = sorted(DESIGN.bundled(), key=lambda level: len("".join(level.world.layout.rows)))
    return [level for kind in CLASSES for level in [kitchen for kitchen in bundled if kitchen.kind == kind][:EACH]]


def counterbalanced(
    levels: Sequence[Level | KitchenLevel], facilitators: Sequence[str], pair: int, *, seed: int
) -> tuple[Trial, ...]:
    """The trials of a pair, in order: every level once, with all facilitators equally often, if possible in each class.

    Over as many consecutive pairs as there are facilitators, every level meets each of them once (a Latin square).
    Facilitators take turns: each plays once before any plays again. Within such a block of pairs, counted from 0, each
    facilitator is first for one pair, second for one, and so on; in the next block the order is reversed. Which of its
    levels a facilitator has first is drawn.
    Raises InputError if there is no level or facilitator, a name occurs twice, the levels cannot be shared equally, or
    `pair` is negative.
    """
    for what, names in (("level", [level.name for level in levels]), ("facilitator", facilitators)):
        if not names:
            raise InputError(f"a study needs a {what}")
        if twice := next((name for i, name in enumerate(names) if name in names[:i]), None):
            raise InputError(f"the {what} `{twice}` comes twice")
    if len(levels) % len(facilitators):
        message = f"{len(levels)} levels cannot be shared equally among {len(facilitators)} facilitators"
        raise InputError(message, hint=f"a multiple of {len(facilitators)} levels")
    if pair < 0:
        raise InputError(f"there is no pair {pair}", hint="pairs are counted from 0 or 1")
    turns = _turns(facilitators, pair, len(levels) // len(facilitators), seed)
    # levels are dealt in turn, class by class, beginning one facilitator later for each pair
    by_class: dict[str, list[str]] = defaultdict(list)
    for level in levels:
        by_class[level.kind].append(level.name)
    square = stream(seed, "square")
    dealt = [names[k] for names in by_class.values() for k in square.permutation(len(names))]
    n = len(facilitators)
    assigned = {facilitator: dealt[(i - pair) % n :: n] for i, facilitator in enumerate(facilitators)}
    rng = stream(seed, "order of levels", str(pair))
    for level_names in assigned.values():
        rng.shuffle(level_names)
    return tuple(Trial(assigned[facilitator].pop(), facilitator, int(rng.integers(SEEDS))) for facilitator in turns)


def _turns(facilitators: Sequence[str], pair: int, rounds: int, seed: int) -> list[str]:
    """The order of facilitators: a cyclic Latin square, mirrored in every other block of pairs.

    The square is traversed forwards or backwards, whichever lets more levels come first: as levels move on by one
    facilitator with every pair, one direction could give all pairs the same level first.
    """
    n = len(facilitators)
    block, row = divmod(pair, n)
    order = [int(k) for k in stream(seed, "order of facilitators").permutation(n)]
    if block % 2:
        order.reverse()
    direction = max((1, -1), key=lambda direction: len({(order[direction * row % n] - row) % n for row in range(n)}))
    return [facilitators[order[(direction * row + turn + k) % n]] for turn in range(rounds) for k in range(n)]


def codenames(facilitators: Sequence[str], seed: int) -> dict[str, str]:
    """A neutral name for each facilitator but `none`: the only name that participants see.

    Raises InputError if there are more facilitators than names.
    """
    distinct = [facilitator for facilitator in dict.fromkeys(facilitators) if facilitator != NOBODY]
    if len(distinct) > len(NAMES):
        raise InputError(f"there are {len(NAMES)} codenames for {len(distinct)} facilitators")
    indices = stream(seed, "codenames").permutation(len(NAMES))
    return {facilitator: NAMES[k] for facilitator, k in zip(distinct, indices, strict=False)}

"""ProToM in Doors-Keys-Gems levels that nobody has looked at, as many as are asked for: does it help, and only then?

    python -m benchmarks.evidence.fresh_levels --levels 400 --seed 6007 --jobs 2     # of each class

The held-out set has a hundred levels of each class, in which a share of .78 cannot be told from one of .75 or .81.
These are made from a seed and proved like those. Printed is what ProToM is asked to reach, first with people as it
expects them, then with others; brackets are 95 % intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count

from otherminds.evaluation.engines import Engine, in_order, opened
from otherminds.evaluation.progress import shown
from otherminds.papers.protom import experiment
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.levels.level_sets import CLASSES
from otherminds.papers.protom.levels.maps import DESIGN
from otherminds.papers.protom.people import NEED_SPARE
from otherminds.worlds.doors_keys_gems.level_files import Level

BATCH = 500  # random levels proved at a time
# people, class of level (all: of every class), and what is printed of it
ASKED = (
    ("", "useful", "share_of_oracle_speedup"),
    ("", "not_needed", "needless"),
    ("", "necessary", "success"),
    ("", "all", "stated_share"),
    ("", "all", "stated_goal_true"),
    ("ignore_half", "necessary", "success"),
    ("goal_change", "necessary", "success"),
    ("not_listed", "not_needed", "needless"),
    ("idle", "all", "slowed"),
    ("wandering", "all", "slowed"),
)


def proven(seed: int, number: int) -> Level | None:
    """The random level with this number and its certificate."""
    return DESIGN.proven(seed, number)


def fresh(wanted: int, seed: int, engine: Engine) -> list[Level]:
    """The first levels made from a seed, as many of each class as wanted."""

    def made() -> Iterator[Level | None]:
        for start in count(step=BATCH):
            yield from in_order(partial(proven, seed), range(start, start + BATCH), engine=engine)

    chosen = DESIGN.choose(made(), dict.fromkeys(CLASSES, wanted))
    return list(shown(chosen, len(CLASSES) * wanted, "Making levels"))


def play(
    levels: Sequence[Level], people: str, classes: Sequence[str], seed: int, engine: Engine
) -> list[experiment.Row]:
    """The summary of these levels with people of a kind."""
    chosen = [level for level in levels if "all" in classes or level.kind in classes]
    if people in NEED_SPARE:
        chosen = [level for level in chosen if DOORS_KEYS_GEMS.spare_goals(level.world)]
    prefix = f"robust/{people}/" if people else ""
    plan = experiment.plan(chosen, ("none", "oracle", "protom"), seed=seed, prefix=prefix, people=people)
    played = shown(in_order(DOORS_KEYS_GEMS.rows, plan, engine=engine), len(plan), f"Playing {people or 'levels'}")
    return experiment.assess(DOORS_KEYS_GEMS.experiment, [row for rows in played for row in rows], prefix)


def main() -> None:
    """Make the levels, play them, print what was asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=6007)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    with opened(None, chosen.jobs) as engine:
        levels = fresh(chosen.levels, chosen.seed, engine)
        for people in dict.fromkeys(people for people, _, _ in ASKED):
            asked = [(kind, metric) for who, kind, metric in ASKED if who == people]
            for row in play(levels, people, [kind for kind, _ in asked], chosen.seed, engine):
                kind = row["condition"].rpartition("/")[2]
                if row["subject"] == "protom" and (kind, row["metric"]) in asked:
                    told = f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
                    print(
                        f"{people or 'as expected':12} {kind:11} {row['metric']:24} {told}, n = {row['n']}", flush=True
                    )


if __name__ == "__main__":
    main()

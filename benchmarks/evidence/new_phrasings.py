"""Invented stories told by writers who did not know the reader: how many questions it answers, and how many rightly.

    python -m benchmarks.evidence.new_phrasings [--stories 720] [--seed 42] [--jobs 2]

Twenty-one phrasings by as many writers (new_phrasings.toml). Printed are, for each, the share of questions that are
answered and the number of wrong answers. Rules were chosen by a to d, g to i, l, n to s and u after each had been
counted.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np

from otherminds.stories.answering import answer_benchmark
from otherminds.stories.invented.invention import invent
from otherminds.stories.invented.telling import tell

PHRASINGS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def counts(phrasing: str, stories: int, seed: int) -> Counter[str]:
    """The number of questions answered rightly, wrongly, and not at all."""
    rng, found = np.random.default_rng(seed), Counter[str]()
    for story in invent(stories, rng):
        told = tell(story.episode, story.question, PHRASINGS[phrasing], rng)
        option = answer_benchmark(told.story, told.question, told.options).answer.option
        found["open" if option is None else "right" if option == story.gold else "wrong"] += 1
    return found


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", type=int, default=720)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        told = pool.map(counts, PHRASINGS, repeat(chosen.stories), repeat(chosen.seed))
        for phrasing, found in zip(PHRASINGS, told, strict=True):
            answered = 1.0 - found["open"] / found.total()
            print(f"{phrasing}: {found.total()} questions, {100.0 * answered:.1f} % answered, {found['wrong']} wrongly")


if __name__ == "__main__":
    main()

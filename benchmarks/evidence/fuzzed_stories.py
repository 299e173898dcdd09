"""What the reader makes of invented stories with words dropped, clauses swapped, or nonsense put in.

    python -m benchmarks.evidence.fuzzed_stories                 # 1,000 stories
    python -m benchmarks.evidence.fuzzed_stories --n 100000 --jobs 2

Counted are crashes, and answers that contradict the intact story, whose answer is exact: by how sure they are and by
what was done to the story. Swapped clauses may tell of another course of things, and a dropped word of another place,
so not every contradiction is an error.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from otherminds.evaluation.engines import in_order, opened, stream
from otherminds.evaluation.progress import shown
from otherminds.evaluation.story_sets import BLOCK, block
from otherminds.stories.answering import answer_benchmark
from otherminds.stories.invented.telling import phrasings

SURE = 0.95  # probability from which an answer counts as confident
NONSENSE = (
    "The glorp blurbed a frindle.",
    "Colourless green ideas sleep furiously.",
    "It was, to be perfectly clumber, a Tuesday of the mind.",
    "Seven of the whenever had already been and about the.",
    "Nobody ever fretches the wump without a tove.",
    "And then: nothing, or almost nothing, or the sound of it.",
)
Words = list[str]


def dropped(text: str, rng: np.random.Generator) -> str:
    """One to three words are missing."""
    words = text.split()
    lost = {int(k) for k in rng.choice(len(words), size=min(len(words), 1 + int(rng.integers(3))), replace=False)}
    return " ".join(word for k, word in enumerate(words) if k not in lost)


def swapped(text: str, rng: np.random.Generator) -> str:
    """Two neighbouring clauses have changed places."""
    clauses = re.split(r"(?<=[.,;!?]) ", text)
    k = int(rng.integers(max(len(clauses) - 1, 1)))
    clauses[k : k + 2] = reversed(clauses[k : k + 2])
    return " ".join(clauses)


def interrupted(text: str, rng: np.random.Generator) -> str:
    """A sentence without sense stands somewhere between two others."""
    sentences = re.split(r"(?<=[.!?]) ", text)
    sentences.insert(int(rng.integers(len(sentences) + 1)), NONSENSE[int(rng.integers(len(NONSENSE)))])
    return " ".join(sentences)


DAMAGE: Mapping[str, Callable[[str, np.random.Generator], str]] = {
    "words dropped": dropped,
    "clauses swapped": swapped,
    "nonsense put in": interrupted,
}


def counts(k: int, seed: int) -> Counter[tuple[str, str]]:
    """What became of the stories of block k, by the kind of damage."""
    rng, found = stream(seed, "fuzz", str(k)), Counter[tuple[str, str]]()
    for number, row in enumerate(block(k, seed, tuple(phrasings()), video_report=False)):
        kind = [*DAMAGE][number % len(DAMAGE)]
        story = DAMAGE[kind](row["story"], rng)
        try:
            answer = answer_benchmark(story, row["question"], row["options"]).answer
        except Exception as error:  # whatever it is, it is a crash
            print(f"{error!r}: {story}")
            found[kind, "crash"] += 1
            continue
        if answer.option is None:
            found[kind, "open"] += 1
            continue
        right = row["options"][answer.option] == row["answer"]
        sure = max(answer.posterior) >= SURE
        found[kind, f"{'right' if right else 'contradicted'}{', sure' if sure else ''}"] += 1
    return found


def main() -> None:
    """Print a table, and the share of confident answers that are contradicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    blocks = -(-chosen.n // BLOCK)
    total = Counter[tuple[str, str]]()
    with opened(None, chosen.jobs) as engine:
        for found in shown(in_order(partial(counts, seed=chosen.seed), range(blocks), engine=engine), blocks, "Asking"):
            total += found
    outcomes = ("right, sure", "contradicted, sure", "right", "contradicted", "open", "crash")
    print("|".join(["", *outcomes, ""]))
    for kind in DAMAGE:
        print("|".join(["", kind, *(f"{total[kind, outcome]:,}" for outcome in outcomes), ""]))
    sure = [sum(total[kind, outcome] for kind in DAMAGE) for outcome in outcomes[:2]]
    print(f"{sure[1]:,} of {sum(sure):,} confident answers are contradicted ({sure[1] / max(sum(sure), 1):.2%})")


if __name__ == "__main__":
    main()

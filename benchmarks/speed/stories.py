"""How many stories are invented per second, with questions and exact answers but without text or pictures."""

from __future__ import annotations

import argparse
import gc
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from benchmarks.keeping import keep, option
from otherminds.evaluation.engines import stream
from otherminds.stories.invented.invention import CELLS, invent

BLOCK = 10 * 3 * len(CELLS)
BLOCKS = 30


class Rate(NamedTuple):
    """Stories a second, of one process by its own clock, and of all processors by the clock on the wall."""

    one: float
    all: float
    processes: int


def block(k: int) -> tuple[int, float]:
    """How many stories a block has, and the CPU seconds it took."""
    gc.freeze()  # as when sets are made: tables that are kept need not be looked through for garbage again
    began = time.process_time()
    made = sum(1 for _ in invent(BLOCK, stream(1, "bench", str(k))))
    return made, time.process_time() - began


def rate() -> Rate:
    """Blocks on every processor; the first of each process, in which tables are filled, is left out."""
    processes = os.cpu_count() or 1
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as engine:
        list(engine.map(block, range(4 * processes)))
        began = time.perf_counter()
        made = list(engine.map(block, range(100, 100 + BLOCKS)))
        wall = time.perf_counter() - began
    stories = sum(count for count, _ in made)
    return Rate(stories / sum(seconds for _, seconds in made), stories / wall, processes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    option(parser)
    chosen, found = parser.parse_args(), rate()
    print(found)
    keep(chosen.json, "stories", {("a CPU second", "stories"): found.one, ("a second", "stories"): found.all})


if __name__ == "__main__":
    main()

"""Running many episodes: each is a pure function of its plan entry, so the engine does not matter."""

from __future__ import annotations

import signal
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

import numpy as np

P = TypeVar("P")
R = TypeVar("R")


def stream(seed: int, *names: str) -> np.random.Generator:
    """An independent random stream for anything that has a name; adding names never shifts other streams."""
    return np.random.default_rng(np.random.SeedSequence([seed, *(zlib.crc32(name.encode()) for name in names)]))


def run(task: Callable[[P], R], plan: Sequence[P], *, jobs: int = 1, chunk: int = 8) -> Iterator[R]:
    """The results of all plan entries in their order, as they are ready, on `jobs` processes."""
    if jobs == 1:
        yield from map(task, plan)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as engine:
        with _interrupts_held_back():
            results = engine.map(task, plan, chunksize=chunk)
        try:
            yield from results
        finally:
            engine.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Processes that are started here never see Ctrl-C; it reaches this one when it is done, which ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Where episodes are played: in this process, in others on this machine, or on a cluster. The results are the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Thread, current_thread, main_thread
from typing import Any, NamedTuple, TypeVar

from otherminds.errors import InputError, near

T = TypeVar("T")
ENGINES = "serial, processes, ray, ray=ADDRESS, dask or dask=ADDRESS"


class Engine(NamedTuple):
    """An executor and how many tasks it does at once; without one, they are done here, one after another.

    Any `concurrent.futures.Executor` will do. lost: what its futures raise if a worker is gone.
    """

    executor: Executor | None = None
    workers: int = 1
    lost: tuple[type[Exception], ...] = (BrokenExecutor,)


SERIAL = Engine()


def opened(name: str | None = None, jobs: int = 1) -> AbstractContextManager[Engine]:
    """An engine by its name, for as long as it is needed; without a name, `jobs` processes, or this one if it is 1.

    A cluster is begun here, with `jobs` workers, unless its address says where there is one; then all its workers
    are used. Raises InputError if there is no such engine, or it lacks its extra, or its cluster cannot be reached.
    """
    if name is None:
        name = "serial" if jobs == 1 else "processes"
    kind, equals, address = name.partition("=")
    if kind == "serial" and not equals:
        if jobs > 1:
            raise InputError(f"the engine `serial` does one job at a time, not {jobs}", hint="--engine processes")
        return nullcontext(SERIAL)
    if kind == "processes" and not equals:
        return processes(jobs)
    if kind not in ("ray", "dask") or (equals and not address):
        close = [f"did you mean {one}?" for one in near(name, ["serial", "processes", "ray", "dask"])]
        raise InputError(f"there is no engine `{name}`", hint="; ".join([ENGINES, *close]))
    from otherminds.evaluation import clusters

    return (clusters.ray if kind == "ray" else clusters.dask)(address, jobs)


@contextmanager
def processes(jobs: int) -> Iterator[Engine]:
    """So many processes on this machine, which end at once when they are no longer needed, or this one is killed."""
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    executor = _Processes(jobs, mp_context=context, initializer=end_with, initargs=(theirs,))
    try:
        yield Engine(executor, jobs)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        ours.close()  # who is in the middle of something need not finish it
        theirs.close()


def end_with(other: Connection | int) -> None:
    """Let this process end as soon as another one does, or closes its end of a pipe. A killed one cannot end others."""
    Thread(target=_end_with, args=[other], daemon=True).start()


def _end_with(other: Connection | int) -> None:
    wait([other])
    os._exit(0)


class _Processes(ProcessPoolExecutor):
    """They begin when something is submitted, and Ctrl-C must not meet them even then."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        with interrupts_held_back():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Processes that are started here never see Ctrl-C; it reaches this one when it is done, which ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # when it is begun it lets them in again
    with _interrupts_told_later():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupts_told_later() -> Iterator[None]:
    """What this thread holds back another one may let in, and then it would be raised here."""
    if current_thread() is not main_thread():
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)

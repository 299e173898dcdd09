"""Playing many episodes: in this process, in others on this machine, or on a cluster, with the same results.

Ray and Dask are extras; on one machine processes are faster.
"""

from __future__ import annotations

import logging
import os
import socket
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from otherminds.errors import InputError, install_hint, near
from otherminds.operating_system import ignore_interrupts, interrupts_held_back

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")
ENGINES = "serial, processes, ray, ray=ADDRESS, dask or dask=ADDRESS"
PATIENCE = 10
"""Seconds within which a cluster has to answer; chosen, not tuned."""
ENDING = 1.0
"""Seconds within which the end of all processes is noticed; chosen, it takes a few milliseconds."""
AHEAD = 2
"""Chunks submitted for each worker: one under way and one that waits, so that no worker is idle."""
SECONDS = 0.1
"""Seconds that a chunk should take, and so the most work that a crash can lose; chosen, not tuned."""
GROWTH = 4
"""Largest ratio of a chunk's size to the largest size measured so far; chosen, not tuned."""


class Engine(NamedTuple):
    """An executor and the number of tasks it runs at once; without an executor, tasks run here one after another.

    Any `concurrent.futures.Executor` will do. `lost` are the exceptions its futures raise if a worker has died.
    """

    executor: Executor | None = None
    workers: int = 1
    lost: tuple[type[Exception], ...] = (BrokenExecutor,)


SERIAL = Engine()


def opened(name: str | Engine | None = None, jobs: int = 1) -> AbstractContextManager[Engine]:
    """A context with the engine of that name; without a name, `jobs` processes, or this process if `jobs` is 1.

    Without an address a cluster is started here, with `jobs` workers; with one, all workers of that cluster are used.
    An engine in place of a name is open already, and stays open.
    Raises InputError if the engine is unknown, its extra is missing, or its cluster cannot be reached.
    """
    if isinstance(name, Engine):
        return nullcontext(name)
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
        close = [f"did you mean {engine}?" for engine in near(name, ["serial", "processes", "ray", "dask"])]
        raise InputError(f"there is no engine `{name}`", hint="; ".join([ENGINES, *close]))
    return (ray if kind == "ray" else dask)(address, jobs)


@contextmanager
def processes(jobs: int) -> Iterator[Engine]:
    """An engine of `jobs` processes on this machine. They end at once when the context ends or this process dies."""
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    executor = _Processes(jobs, mp_context=context, initializer=end_with, initargs=(theirs,))
    try:
        yield Engine(executor, jobs)
    finally:
        thread = getattr(executor, "_executor_manager_thread", None)
        executor.shutdown(wait=False, cancel_futures=True)
        # in Python 3.11 this thread fails if workers end before it has let go of the cancelled tasks
        while thread and thread.is_alive() and getattr(executor, "_cancel_pending_futures", False):
            time.sleep(0.001)
        ours.close()  # workers need not finish what they are doing
        theirs.close()
        if thread:  # before Python 3.11.5, the end of this process may wake it up while it closes what wakes it
            thread.join(ENDING)


def end_with(sentinel: Connection | int) -> None:
    """End this process as soon as another one ends, or closes its end of a pipe: a killed process cannot end others.

    From now on Ctrl-C does not end it. To be called in the main thread.
    """
    ignore_interrupts()

    def end() -> None:
        wait([sentinel])
        os._exit(0)

    Thread(target=end, daemon=True).start()


class _Processes(ProcessPoolExecutor):
    """Processes that start when a task is submitted, and that Ctrl-C does not reach even then."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        with interrupts_held_back():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def ray(address: str = "", jobs: int = 1) -> Iterator[Engine]:
    """The Ray cluster at an address, the one this program already uses, or one that is started here and shut down.

    Raises InputError if it cannot be reached, or another one is in use.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    library = _library("ray", "ray")
    begun = not library.is_initialized()
    if address and not begun:
        raise InputError(f"this program uses a Ray cluster already, so not {address}", hint="--engine ray")
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address:
        _check_reachable("Ray", address)
        try:
            library.init(address, **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            raise _unreachable("Ray", address) from error
    elif begun:
        library.init("local", num_cpus=jobs, include_dashboard=False, **quiet)
    errors = library.exceptions
    lost = (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError)
    try:
        workers = int(library.cluster_resources().get("CPU", 0)) or 1
        yield Engine(_Ray(library), workers, (*lost, errors.RaySystemError))
    finally:
        if begun:
            library.shutdown()


class _Ray(Executor):
    """An executor of Ray tasks, each on one processor."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._call = library.remote(_call)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """A future of the call; if it is cancelled in time, the task does not start."""
        task = self._call.remote(fn, *args, **kwargs)
        future: Future[T] = Future()
        task.future().add_done_callback(lambda ended: _pass_on(ended, future))
        future.add_done_callback(lambda _: future.cancelled() and self._library.cancel(task))
        return future


def _call(fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    return fn(*args, **kwargs)


def _pass_on(ended: Future[T], future: Future[T]) -> None:
    """Complete `future` with the result or the exception of a Ray future that has ended, unless it was cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    error = ended.exception()
    if error is None:
        future.set_result(ended.result())
    else:
        future.set_exception(error)


@contextmanager
def dask(address: str = "", jobs: int = 1) -> Iterator[Engine]:
    """The Dask cluster with its scheduler at an address, or one that is started here and shut down.

    Raises InputError if it cannot be reached.
    """
    library = _library("distributed", "dask")
    with ExitStack() as stack:
        scheduler: Any = address
        if address:
            _check_reachable("Dask", address)
        else:
            options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
            with interrupts_held_back():
                scheduler = stack.enter_context(library.LocalCluster(n_workers=jobs, **options))
        try:
            client = stack.enter_context(library.Client(scheduler, timeout=PATIENCE))
        except (OSError, ValueError) as error:
            raise _unreachable("Dask", address) from error
        workers = sum(client.nthreads().values()) or 1
        yield Engine(client.get_executor(pure=False), workers, (library.scheduler.KilledWorker, CancelledError))


def _check_reachable(cluster: str, address: str) -> None:
    """Connect first: without a server, Ray tries for minutes and ends the program, and Dask leaves threads behind."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    try:
        if address != "auto":
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, ValueError, OverflowError):
        raise _unreachable(cluster, address) from None


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"the engine `{extra}` needs an extra", hint=install_hint(extra)) from None


def _unreachable(cluster: str, address: str) -> InputError:
    return InputError(f"no {cluster} cluster answers at {address}", hint="is it running, and the address HOST:PORT?")


def stream(seed: int, *names: str) -> np.random.Generator:
    """The independent random stream of these names. Adding a name to a plan never shifts the streams of others."""
    return np.random.default_rng(np.random.SeedSequence([seed, *(zlib.crc32(name.encode()) for name in names)]))


def run(
    task: Callable[[P], R], plan: Sequence[P], *, engine: Engine = SERIAL, seconds: float = SECONDS
) -> Iterator[list[tuple[P, R]]]:
    """Entries of the plan with their results, in chunks of about `seconds`, in the order in which chunks end.

    After an exception of a task no later entry is begun; it is raised here when the chunks under way have ended, so all
    entries before it have their results. Raises InputError if a worker died.
    """
    for start, results in _played(task, plan, engine, seconds):
        yield list(zip(plan[start : start + len(results)], results, strict=True))


def in_order(task: Callable[[P], R], plan: Sequence[P], *, engine: Engine = SERIAL) -> Iterator[R]:
    """The results of all entries in the order of the plan, each as early as possible. Raises what `run` raises."""
    early: dict[int, list[R]] = {}
    reached = 0
    for start, results in _played(task, plan, engine, SECONDS if engine.executor else 0.0):
        early[start] = results
        while reached in early:
            ready = early.pop(reached)
            reached += len(ready)
            yield from ready


def _played(task: Callable[[P], R], plan: Sequence[P], engine: Engine, seconds: float) -> Iterator[tuple[int, list[R]]]:
    """For each chunk, its first index in the plan and its results."""
    if engine.executor is None:
        return _played_here(task, plan, seconds)
    return _played_by_workers(task, plan, engine, engine.executor, ChunkSize(seconds, engine.workers))


def _played_here(task: Callable[[P], R], plan: Sequence[P], seconds: float) -> Iterator[tuple[int, list[R]]]:
    """Play the plan in this process. Results are yielded about every `seconds`, with the index of the first of them."""
    start = 0  # index in the plan of the first of `results`
    results = list[R]()
    began = time.monotonic()
    for entry in plan:
        try:
            results.append(task(entry))
        except Exception:
            if results:
                yield start, results
            raise
        if time.monotonic() - began >= seconds:
            yield start, results
            start, results, began = start + len(results), [], time.monotonic()
    if results:
        yield start, results


def _played_by_workers(
    task: Callable[[P], R], plan: Sequence[P], engine: Engine, executor: Executor, pace: ChunkSize
) -> Iterator[tuple[int, list[R]]]:
    """Play the plan in workers: each chunk's first index in the plan with its results, in the order in which they end.

    Every worker is kept busy, but few chunks are submitted at a time, so that cancelling takes effect soon.
    """
    ended_chunks: SimpleQueue[Future[ChunkResult[R]]] = SimpleQueue()
    under_way: dict[Future[ChunkResult[R]], int] = {}
    begun = 0  # entries of the plan submitted so far
    failed_at = len(plan)  # first entry of the earliest chunk that failed
    failed: Exception | None = None

    def proceed() -> None:
        """Submit chunks, or cancel the queued ones of later entries if a task has failed."""
        nonlocal begun
        _cancel_after(failed_at, under_way)
        while failed is None and begun < len(plan) and len(under_way) < AHEAD * engine.workers:
            entries = plan[begun : begun + pace.size(len(plan) - begun)]
            future = executor.submit(_play_chunk, task, entries)
            under_way[future], begun = begun, begun + len(entries)
            future.add_done_callback(ended_chunks.put)

    try:
        proceed()
        while under_way:
            future = ended_chunks.get()
            start = under_way.pop(future)
            if future.cancelled():
                continue
            chunk = future.result()
            pace.learn(len(chunk.results), chunk.seconds)
            if chunk.error and start < failed_at:
                failed, failed_at = chunk.error, start
            proceed()
            if chunk.results:
                yield start, chunk.results
        if failed is not None:
            raise failed
    except engine.lost as error:
        raise InputError("a worker died: has it run out of memory?", hint="finished episodes are kept") from error
    finally:
        _cancel_after(-1, under_way)


def _cancel_after(start: int, under_way: Mapping[Future[Any], int]) -> None:
    """Cancel the chunks that begin after an entry of the plan and have not been begun by a worker."""
    for future, first in under_way.items():
        if first > start:
            future.cancel()


@dataclass
class ChunkSize:
    """The number of entries that make a chunk of about `seconds`, from the time that earlier entries took.

    `each` is the estimated time of an entry in seconds, 0 before the first measurement; `largest` the size of the
    largest chunk measured so far.
    """

    seconds: float
    workers: int
    each: float = 0.0
    largest: int = 0

    def size(self, remaining: int) -> int:
        """The size of the next chunk of `left` entries; small, so that no worker waits long for another."""
        shared = remaining / (AHEAD * self.workers)
        target = self.seconds / self.each if self.each else shared
        return max(1, int(min(target, shared, GROWTH * self.largest)))

    def learn(self, count: int, seconds: float) -> None:
        """Update the time per entry. Earlier estimates count half: the first chunk often includes set-up."""
        measured = seconds / max(1, count)
        self.each = (self.each + measured) / 2 if self.largest else measured
        self.largest = max(self.largest, count)


class ChunkResult(NamedTuple, Generic[R]):
    """Results of a chunk up to the first entry that failed, the seconds it took, and the error, if any."""

    results: list[R]
    seconds: float
    error: Exception | None = None


def _play_chunk(task: Callable[[P], R], entries: Sequence[P]) -> ChunkResult[R]:
    """The results of some entries, up to the first that fails.

    This runs in a worker, so the error of a failed entry must be picklable.
    """
    results, failed, began = list[R](), None, time.perf_counter()
    try:
        for entry in entries:
            results.append(task(entry))
    except Exception as error:
        failed = _picklable(error)
    return ChunkResult(results, time.perf_counter() - began, failed)


def _picklable(error: Exception) -> Exception:
    """An error that can be pickled, with its traceback as a note."""
    try:
        picklable = type(error)(*error.args)  # unpickling makes it this way, which fails for some
        vars(picklable).update(vars(error))
    except Exception:
        picklable = RuntimeError(f"{type(error).__name__}: {error}")
    picklable.add_note("".join(traceback.format_exception(error)))
    return picklable

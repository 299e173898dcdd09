"""Ray and Dask as engines: for many machines. They are extras, and on one machine processes are faster.

A cluster that is elsewhere needs this library, in the same version, on all its machines.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, TypeVar

from otherminds.errors import InputError
from otherminds.evaluation.engines import Engine, interrupts_held_back

T = TypeVar("T")
PATIENCE = 10
"""Seconds within which a cluster has to answer."""


@contextmanager
def ray(address: str = "", jobs: int = 1) -> Iterator[Engine]:
    """The Ray cluster at an address, or that this program uses already, or one that is begun here and ends.

    Raises InputError.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    library = _library("ray", "ray")
    begun = not library.is_initialized()
    if address and not begun:
        raise InputError(f"this program uses a Ray cluster already, so not {address}", hint="--engine ray")
    if begun:
        _join(library, address, jobs)
    errors = library.exceptions
    lost = (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError)
    try:
        workers = int(library.cluster_resources().get("CPU", 0)) or 1
        yield Engine(_Ray(library), workers, (*lost, errors.RaySystemError))
    finally:
        if begun:
            library.shutdown()


def _join(library: Any, address: str, jobs: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if not address:
        library.init("local", num_cpus=jobs, include_dashboard=False, **quiet)
        return
    _knock("Ray", address)
    try:
        library.init(address, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        raise _unreachable("Ray", address) from error


class _Ray(Executor):
    """Calls as tasks of Ray, each on one processor."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._call = library.remote(_call)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call it somewhere; one that is cancelled is not begun there any more."""
        task = self._call.remote(fn, *args, **kwargs)
        found: Future[T] = Future()
        task.future().add_done_callback(lambda ended: _pass_on(ended, found))
        found.add_done_callback(lambda _: found.cancelled() and self._library.cancel(task))
        return found


def _call(fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    return fn(*args, **kwargs)


def _pass_on(ended: Future[T], found: Future[T]) -> None:
    if not found.set_running_or_notify_cancel():
        return
    error = ended.exception()
    if error is None:
        found.set_result(ended.result())
    else:
        found.set_exception(error)


@contextmanager
def dask(address: str = "", jobs: int = 1) -> Iterator[Engine]:
    """The Dask cluster whose scheduler is at an address, or one that is begun here and ends. Raises InputError."""
    library = _library("distributed", "dask")
    with ExitStack() as stack:
        if address:
            _knock("Dask", address)
        where = address or stack.enter_context(_begun(library, jobs))
        try:
            client = stack.enter_context(library.Client(where, timeout=PATIENCE))
        except (OSError, ValueError) as error:
            raise _unreachable("Dask", address) from error
        workers = sum(client.nthreads().values()) or 1
        yield Engine(client.get_executor(pure=False), workers, (library.scheduler.KilledWorker, CancelledError))


def _begun(library: Any, jobs: int) -> Any:
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with interrupts_held_back():
        return library.LocalCluster(n_workers=jobs, **options)


def _knock(what: str, address: str) -> None:
    """See whether anything is there: Ray tries for minutes and then ends the program, Dask leaves threads behind."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    try:
        if address != "auto":
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, ValueError, OverflowError):
        raise _unreachable(what, address) from None


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        hint = f"pip install 'otherminds[{extra}]'"
        raise InputError(f"the engine `{extra}` needs an extra", hint=hint) from None


def _unreachable(what: str, address: str) -> InputError:
    return InputError(f"no {what} cluster answers at {address}", hint="is it running, and the address HOST:PORT?")

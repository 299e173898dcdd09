"""Differences between Linux, macOS and Windows: durable files, folders, signals, limits, and what can be printed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from multiprocessing import resource_tracker
from pathlib import Path
from threading import current_thread, main_thread
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # on Windows
    FULL_SYNC = None
else:
    FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)
"""The command of `fcntl` that also empties the cache of the drive, which `fsync` of macOS does not; None elsewhere."""

WINDOWS = os.name == "nt"
HELD = 1.0  # seconds that other programs, such as virus scanners, may keep a file from being replaced; chosen
PAUSE = 0.02  # seconds between attempts to replace it; chosen


def sync(file: BinaryIO) -> None:
    """Wait until what was written to a file is on disk, also after a power cut. Raises OSError if it cannot be."""
    file.flush()
    if FULL_SYNC is not None:
        with suppress(OSError):  # network drives know no such command
            fcntl.fcntl(file.fileno(), FULL_SYNC)
            return
    os.fsync(file.fileno())


def replace(fresh: Path, path: Path) -> None:
    """Rename a file over another one, and wait until that is on disk. Raises OSError if it cannot be renamed.

    On Windows a file that another program has open cannot be replaced: it is tried for a second.
    """
    end = time.monotonic() + HELD
    while True:
        try:
            fresh.replace(path)
            break
        except PermissionError:
            if not WINDOWS or time.monotonic() >= end:
                raise
            time.sleep(PAUSE)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, where the system can do that; Windows has no call for it."""
    if WINDOWS:
        return
    with suppress(OSError):  # a folder may be written but not read, and some network drives cannot
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def user_cache() -> Path:
    """The folder for files that can be computed again: $OTHERMINDS_CACHE, else `otherminds` in the XDG cache folder."""
    if own := os.environ.get("OTHERMINDS_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otherminds"


def most_open_files() -> int | None:
    """The number of files and connections that this process may have open; None without a limit, as on Windows."""
    try:
        import resource
    except ImportError:
        return None
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if files == resource.RLIM_INFINITY else files


def lower_priority(steps: int) -> None:
    """Let other processes go first: the nicer by 1 to 19, the lower the priority. Windows has no such steps."""
    if hasattr(os, "nice"):
        os.nice(steps)


def replace_unprintable_characters() -> None:
    """Print `?` for characters that the encoding of the terminal or pipe lacks, such as a code page of Windows."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # it may also be closed, or replaced
            stream.reconfigure(errors="replace")


def interrupt_when_asked_to_end() -> None:
    """Raise KeyboardInterrupt in the main thread on SIGTERM, and on Ctrl-Break where there is that key."""
    for name in ("SIGTERM", "SIGBREAK"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.default_int_handler)


def ignore_interrupts() -> None:
    """Let Ctrl-C pass by this process, which another one ends; only the main thread may call this.

    Where signals can be held back from new processes, they never see it; on Windows they must ignore it themselves.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """A context whose new processes never see Ctrl-C; it reaches this process afterwards, which ends them.

    Windows cannot hold signals back: there it reaches new processes until they call `ignore_interrupts`.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock the signal again
    with _interrupts_told_later():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupts_told_later() -> Iterator[None]:
    """Defer SIGINT: another thread may let the signal in, and then it would be raised in this one."""
    if current_thread() is not main_thread():
        yield
        return
    deferred: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: deferred.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if deferred:
            signal.raise_signal(signal.SIGINT)

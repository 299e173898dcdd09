"""Commands run in this process, closely watched: what they print, how long they take, what they touch elsewhere."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import matplotlib.font_manager  # noqa: F401  # writes a cache when it is first imported

from otherminds.cli import app as cli
from otherminds.evaluation import progress

ENVIRONMENT = {"COLUMNS": "80", "MPLBACKEND": "Agg"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = (
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.symlink",
    "os.link",
    "os.truncate",
    "os.chmod",
    "os.chown",
)
DEEDS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "pickle.find_class", "socket.connect")
HARMLESS = ("/dev/null", "/dev/tty")


class Ran(NamedTuple):
    """What came of a command; `elsewhere` is what it wrote or did where it had no business to."""

    code: int
    out: str
    err: str
    seconds: float
    megabytes: float
    elsewhere: tuple[str, ...]


class TooLongError(BaseException):
    """A command took too long."""


_watched: list[str] | None = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched is None:
        return
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, str | bytes | os.PathLike) and (set(mode or "") & set("wax+") or (flags or 0) & WRITING):
            _watched.append(os.path.abspath(os.fsdecode(path)))
    elif event in CHANGES:
        _watched.append(os.path.abspath(os.fsdecode(arguments[0])))
    elif event in DEEDS:
        _watched.append(f"{event}{arguments!r:.200}")


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
    """All files that are written, and whatever else is done, meanwhile."""
    global _watched
    if not getattr(sys, "_otherminds_watch", False):
        sys.addaudithook(_hook)
        sys._otherminds_watch = True  # type: ignore[attr-defined]  # hooks cannot be taken away again
    found: list[str] = []
    _watched = found
    try:
        yield found
    finally:
        _watched = None


def tree(folder: Path) -> Mapping[str, bytes | str | None]:
    """All that is in a folder, with contents."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob("*")):
        regular = path.is_file() and not path.is_symlink()
        found[str(path)] = path.read_bytes() if regular else os.readlink(path) if path.is_symlink() else None
    return found


def run(arguments: Sequence[str], folder: Path) -> Ran:
    """Run a command with a folder as the current one, in which it may only write to `out`."""
    allowed, started, before = str(folder / "out"), time.process_time(), peak(reset=True)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_set_up(arguments, folder))
        touched = stack.enter_context(watched())
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(limited())
        code = _called()
    seconds = time.process_time() - started
    strange = [one for one in touched if one not in HARMLESS and not f"{one}/".startswith(f"{allowed}/")]
    return Ran(code, out.getvalue(), err.getvalue(), seconds, peak() - before, tuple(dict.fromkeys(strange)))


def _called() -> int:
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    return -1


@contextlib.contextmanager
def limited(seconds: float = 60.0) -> Iterator[None]:
    """Raise TooLongError if this takes longer, be it in waiting."""

    def stop(_number: int, _frame: object) -> NoReturn:
        raise TooLongError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _set_up(arguments: Sequence[str], folder: Path) -> Iterator[None]:
    own = {**ENVIRONMENT, "OTHERMINDS_CACHE": str(folder / "out" / "cache")}
    kept = {name: os.environ.get(name) for name in own}
    handler, typed, path, bytecode = signal.getsignal(signal.SIGTERM), sys.argv, [*sys.path], sys.dont_write_bytecode
    patience, progress.PATIENCE = progress.PATIENCE, 60.0  # a slow machine says no more than a quick one
    os.environ.update(own)
    sys.argv, sys.dont_write_bytecode = ["otherminds", *arguments], True
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        signal.signal(signal.SIGTERM, handler)
        progress.PATIENCE = patience
        sys.argv, sys.path[:], sys.dont_write_bytecode = typed, path, bytecode


def peak(*, reset: bool = False) -> float:
    """The most memory of this process since it was last reset, in MB; where that is not told, 0."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        return 0.0


def faults(ran: Ran, *, place: str = "") -> Iterator[str]:
    """What is wrong with how a command told of bad input; `place` is what has to be in the line."""
    if ran.code != 2:
        yield f"exit code {ran.code}"
    if ran.out:
        yield f"printed {ran.out[:80]!r}"
    if ran.err.count("\n") != 1 or not ran.err.startswith("otherminds: ") or not ran.err[:-1].isprintable():
        yield f"did not complain in one line: {ran.err[:200]!r}"
    if place not in ran.err:
        yield f"did not say where: {ran.err[:200]!r}"
    if ran.elsewhere:
        yield f"touched {ran.elsewhere[:3]}"

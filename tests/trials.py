"""One malformed file, reply or name, tried: what went wrong, if anything, how long it took, and how much it filled."""

from __future__ import annotations

import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

import sandbox
from bad_replies import Bad, allowed
from malformed import NO_FILES, monsters, spoilt
from names import STORY, Names
from otherminds.errors import InputError
from readers import Reader
from reply_readers import ReplyReader

SLOWEST_FILE, LARGEST_FILE = 4.0, 200.0
SLOWEST_REPLY, LARGEST_REPLY = 1.0, 50.0  # twenty times the slowest on an idle core; quadratic ones take far longer
LARGE = 15_000
"""Shorter replies fill no memory worth measuring."""


class Case(NamedTuple):
    """A malformed file: what was done, and how to make it at a path."""

    what: str
    make: Callable[[Path], object]


class Trial(NamedTuple):
    """What came of trying something: whether it was refused, and all that should not have been."""

    refused: bool
    seconds: float = 0.0
    megabytes: float = 0.0
    faults: tuple[str, ...] = ()
    ran: bool = False
    """Whether a command was run, and not just a reader."""
    elsewhere: int = 0


def cases(reader: Reader, rng: np.random.Generator) -> Iterator[Case]:
    """Malformed files without end: most are good ones spoilt, the others were never good, or are no files."""
    never, no_files = [*monsters().items()], [*NO_FILES.items()]
    while True:
        which = rng.random()
        if which < 0.70:
            what, content = spoilt(reader.good, rng)
        elif which < 0.95:
            what, content = never[int(rng.integers(len(never)))]
        else:
            what, make = no_files[int(rng.integers(len(no_files)))]
            if not (reader.folders and "folder" in what):
                yield Case(what, make)
            continue
        yield Case(what, lambda path, content=content: path.write_bytes(content))  # type: ignore[misc]


def try_file(reader: Reader, case: Case) -> Trial:
    """Have a malformed file read, by its reader and then by its command."""
    trial = _try_file(reader, case)  # if it was slow, once more, as the first time imports
    return _try_file(reader, case) if trial.faults and trial.seconds > SLOWEST_FILE else trial


def _try_file(reader: Reader, case: Case) -> Trial:
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        path = reader.lay(folder, None)
        case.make(path)
        started, before = time.process_time(), sandbox.peak(reset=True)
        try:
            with sandbox.limited():
                known = reader.accepts(folder)
        except (Exception, sandbox.TooLongError) as error:
            return _crashed(error, started)
        if not reader.command or (known and not reader.quick):
            seconds = time.process_time() - started
            most = sandbox.peak() - before
            over = (*_over(seconds, SLOWEST_FILE, " s"), *_over(most, LARGEST_FILE, " MB")) if not known else ()
            return Trial(not known, seconds, most, over)
        return _commanded(reader.arguments(folder), folder, known, folder.name)


def try_name(kind: Names, name: str) -> Trial:
    """Have a name looked up, and then given to a command."""
    started = time.process_time()
    try:
        kind.look_up(name)
        known = True
    except InputError:
        known = False
    except Exception as error:
        return _crashed(error, started)
    if not kind.command or "\0" in name or len(name) > 50_000 or (known and not kind.quick):
        seconds = time.process_time() - started
        return Trial(not known, seconds, 0.0, _over(seconds, SLOWEST_FILE, " s"))
    with TemporaryDirectory() as place:
        folder = Path(place).resolve()
        (folder / "story.txt").write_text(STORY, encoding="utf-8")
        words = [part.replace("{folder}", str(folder)).replace("{name}", name) for part in kind.command]
        return _commanded(words, folder, True, "")


def _commanded(words: list[str], folder: Path, known: bool, place: str) -> Trial:
    """Run a command; if what it is given is known, it may well succeed."""
    before, started = sandbox.tree(folder), time.process_time()
    try:
        ran = sandbox.run(words, folder)
    except (Exception, sandbox.TooLongError) as error:
        return _crashed(error, started)
    found = list(sandbox.faults(ran, place="" if known else place)) if ran.code or not known else []
    found += [f"touched {ran.elsewhere[:3]}"] if known and not ran.code and ran.elsewhere else []
    after = {name: content for name, content in sandbox.tree(folder).items() if not _is_out(name, folder)}
    found += [] if before == after else [f"left {sorted(after.keys() - before.keys()) or 'something else'}"]
    if not known:
        found += [*_over(ran.seconds, SLOWEST_FILE, " s"), *_over(ran.megabytes, LARGEST_FILE, " MB")]
    return Trial(ran.code == 2, ran.seconds, ran.megabytes, tuple(found), True, len(ran.elsewhere))


def _is_out(name: str, folder: Path) -> bool:
    return f"{name}/".startswith(f"{folder}/out/")


def try_reply(reader: ReplyReader, reply: Bad, *, measure: bool = True) -> Trial:
    """Have a reply read; if it is long, twice, to measure the memory too."""
    started = time.process_time()
    try:
        value = reader.reads(reply.text)
    except Exception as error:
        return _crashed(error, started)
    seconds, most = time.process_time() - started, 0.0
    if measure and len(reply.text) > LARGE:
        tracemalloc.start()
        reader.reads(reply.text)
        most = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    ghost = () if allowed(reader, reply, value) else (f"a ghost: {value!r:.100}",)
    seconds = _again(reader, reply, seconds)
    slow = _over(seconds, SLOWEST_REPLY, " s")
    return Trial(value is None, seconds, most, (*ghost, *slow, *_over(most, LARGEST_REPLY, " MB")))


def _again(reader: ReplyReader, reply: Bad, seconds: float) -> float:
    """The least of four, if it seemed too slow, as other programs run, too."""
    for _ in range(3 if seconds > SLOWEST_REPLY else 0):
        started = time.process_time()
        reader.reads(reply.text)
        seconds = min(seconds, time.process_time() - started)
    return seconds


def _crashed(error: BaseException, started: float) -> Trial:
    calls = " < ".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[:-4:-1])
    return Trial(False, time.process_time() - started, 0.0, (f"crash: {error!r:.200} at {calls}",))


def _over(measured: float, most: float, unit: str) -> tuple[str, ...]:
    return (f"{measured:.2f}{unit}, not {most:g}",) if measured > most else ()

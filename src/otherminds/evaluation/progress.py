"""Progress on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from otherminds.planning.expansion import Expansion

if TYPE_CHECKING:
    from otherminds.language.ledger import Recorded

T = TypeVar("T")
PATIENCE = 0.5
"""Seconds of work without any output until it is said what is going on; chosen."""
SILENCE = 30.0
"""Seconds between lines if the output is not a terminal; chosen, not tuned."""
GLANCE = 0.1
"""Seconds that a note waits at least, however long nothing has been said before; chosen."""
_telling: list[object] = []  # who tells what is going on, the innermost last
_quiet_since = [time.monotonic()]  # when something was last shown, or the command began


def said() -> None:
    """Note that something has just been shown, or that a command has begun: the time without any output begins now."""
    _quiet_since[0] = time.monotonic()


@contextmanager
def telling() -> Iterator[object]:
    """A context that tells by itself what is going on: notes from outside wait until it is over."""
    mine = object()
    _telling.append(mine)
    try:
        yield mine
    finally:
        _telling.remove(mine)


@contextmanager
def noted(what: str) -> Iterator[None]:
    """Say on standard error what is going on once nothing was said for PATIENCE, then after twice that time, and so on.

    The states that a planner has expanded are told, too.
    """
    over = Event()

    def tell() -> None:
        """Print a line whenever the work has taken twice as long as at the last one, until it is over."""
        began = time.monotonic()
        wait = max(PATIENCE - (began - _quiet_since[0]), min(GLANCE, PATIENCE))
        while not over.wait(wait):
            if _telling[-1] is not mine:
                began = time.monotonic()
                wait = PATIENCE
                continue
            seconds = time.monotonic() - began
            wait = max(seconds, PATIENCE)
            planner = Expansion.latest
            states = f", {planner.states:,} states of at most {planner.most:,}" if planner and planner.states else ""
            print(f"{what}{states}, {seconds:,.1f} s", file=sys.stderr, flush=True)
            said()

    with telling() as mine:
        teller = Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            over.set()
            teller.join()


def patiently(items: Iterable[T], what: str) -> Iterator[T]:
    """Yield the items; of each that takes long it is said what is going on, as in `noted`."""
    iterator = iter(items)
    while True:
        with noted(what):
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item
        said()


@dataclass
class RunNote:
    """Text beside the progress of a run: calls to the model, money spent, and failed episodes."""

    model: Recorded | None = None
    failed: int = 0

    def __call__(self) -> str:
        """The note, such as `1,204 calls · $0.5120 · 3 episodes failed`; empty if there is nothing to say."""
        parts = [f"{self.failed:,} episodes failed"] if self.failed else []
        if self.model is not None:
            totals = self.model.totals
            parts.insert(0, f"{totals.calls:,} calls")
            parts += [f"${totals.cost:,.4f}"] if totals.cost is not None else []
            attempts = totals.calls + totals.failed
            parts += [f"{totals.failed / attempts:.1%} of calls failed"] if totals.failed else []
        return " · ".join(parts)


def shown(
    items: Iterable[T],
    total: int,
    what: str,
    size: Callable[[T], int] = lambda _: 1,
    tell: Callable[[], str] = lambda: "",
) -> Iterator[T]:
    """Yield the items and show on standard error how many of `total` are done, each counting `size(item)`.

    On a terminal this is a bar with the remaining time; elsewhere a line every SILENCE seconds.
    """
    description_column, note_column = (
        TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[told]}")
    )
    columns = (description_column, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), note_column)
    console = Console(stderr=True)
    done = 0
    began = time.monotonic()
    last = began
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with telling(), bar as progress:
        task = progress.add_task(what, total=total, told="")
        for item in items:
            yield item
            done += size(item)
            current_time = time.monotonic()
            progress.update(task, completed=done, told=tell())
            if not console.is_terminal and current_time - last >= SILENCE and done < total:
                last = current_time
                seconds_left = (current_time - began) * (total / done - 1)
                words = [f"{what}: {done:,} of {total:,}", f"about {seconds_left / 60:,.1f} min left", tell()]
                console.print(", ".join(filter(None, words)), markup=False, highlight=False)

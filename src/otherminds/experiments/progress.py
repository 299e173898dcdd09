"""Progress on the terminal, for anything that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")


def shown(items: Iterable[T], total: int, what: str, size: Callable[[T], int] = lambda _: 1) -> Iterator[T]:
    """Pass the items on while showing on standard error how much is done, in items or by their sizes."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        for item in items:
            yield item
            progress.advance(task, size(item))

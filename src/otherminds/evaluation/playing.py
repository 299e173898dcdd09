"""Playing what a run still lacks: on any engine, or by asking a language model, and keeping each episode as it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from otherminds.evaluation.asking import Asking, told_cost
from otherminds.evaluation.engines import opened
from otherminds.evaluation.progress import Telling, shown
from otherminds.evaluation.run import run
from otherminds.evaluation.store import Entry, Row, Store
from otherminds.language.ledger import Recorded
from otherminds.language.model import ModelError
from otherminds.language.prices import BudgetError, CallEstimate

E = TypeVar("E", bound=Entry)
R = TypeVar("R")
IN_A_ROW = 3
PATIENCE = 3.0
"""Seconds that Ctrl-C waits for answers; those that come later are lost, and listed as uncertain."""


@dataclass(frozen=True)
class Options:
    """How to run an experiment: `scale` is quick, normal or full; `data` is where data that may not ship is.

    With `asking`, a language model takes part. `scenario` and `agents` leave others out, where there are some. `shard`
    i, n: only every nth episode is played, from the ith on. `frozen`: nothing is played, only reported.
    """

    out: Path
    seed: Annotated[int, Field(ge=0)] = 42
    scale: Annotated[str, Field(pattern="^(quick|normal|full)$")] = "normal"
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    data: Path | None = None
    asking: Asking | None = None
    scenario: str | None = None
    agents: tuple[str, ...] = ()
    engine: str | None = None
    shard: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] = (1, 1)
    frozen: bool = False


def play(store: Store, options: Options, what: str, *parts: tuple[Callable[[Any], list[Row]], Sequence[Any]]) -> None:
    """Play on the engine of the options what has not been played of some plans, each with its task."""
    todo = [(task, store.todo(plan, options.shard)) for task, plan in parts]
    total = sum(len(entries) for _, entries in todo)
    if not total:
        return
    with opened(options.engine, options.jobs) as engine:
        playing = (chunk for task, entries in todo for chunk in run(task, entries, engine=engine))
        for chunk in shown(playing, total, what, size=len):
            store.add(*(rows for _, rows in chunk))


def ask(
    store: Store,
    options: Options,
    model: Recorded,
    task: Callable[[E], list[Row]],
    plan: Sequence[E],
    estimate: Callable[[Sequence[E]], CallEstimate],
) -> None:
    """Play what has not been played of a plan in which a language model takes part.

    An episode in which the model cannot be asked is set aside, unless too many of them are. Raises BudgetError.
    """
    asking = options.asking
    assert asking is not None
    todo = store.todo(plan, options.shard)
    if not todo:
        return
    with told_cost(model, estimate(todo), asking.price):
        keep(store, asking, task, todo, f"{model.name} is playing", model)


def keep(
    store: Store,
    asking: Asking,
    task: Callable[[E], list[Row]],
    todo: Sequence[E],
    what: str,
    model: Recorded | None,
) -> None:
    """Play episodes, several at once if the model is elsewhere, and keep each as it ends."""
    told, failed = Telling(model), 0
    playing = _answered(_tried(task), todo, at_once=asking.threads, stop=model.stop if model else lambda: None)
    for entry, found in shown(playing, len(todo), what, tell=told):
        if isinstance(found, ModelError):
            store.fail(entry, str(found))
            failed, told.failed = failed + 1, told.failed + 1
            if failed >= IN_A_ROW * asking.threads or told.failed == len(todo):
                raise found
        else:
            store.add(found)
            failed = 0


def _tried(task: Callable[[E], list[Row]]) -> Callable[[E], list[Row] | ModelError]:
    def tried(entry: E) -> list[Row] | ModelError:
        try:
            return task(entry)
        except BudgetError:
            raise
        except ModelError as error:
            return error

    return tried


def _answered(
    ask: Callable[[E], R], entries: Iterable[E], *, at_once: int, stop: Callable[[], None]
) -> Iterator[tuple[E, R]]:
    """Entries with what came of them, in the order in which they end, so many of them under way at any time.

    When one raises, or nobody wants more, no more calls are made, by `stop`, and those under way are waited for; after
    Ctrl-C not for long.
    """
    if at_once == 1:
        yield from ((entry, ask(entry)) for entry in entries)
        return
    waiting, pool = iter(entries), ThreadPoolExecutor(at_once, thread_name_prefix="asking")
    under_way = {pool.submit(ask, entry): entry for entry in islice(waiting, at_once)}
    try:
        while under_way:
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                entry, found = under_way.pop(future), future.result()
                under_way |= {pool.submit(ask, more): more for more in islice(waiting, 1)}
                yield entry, found
    except BaseException as error:
        stop()
        wait(under_way, timeout=PATIENCE if isinstance(error, KeyboardInterrupt) else None)
        raise
    finally:
        pool.shutdown(wait=False)

"""One protocol for all experiments: a plan, how one entry is played, what is summarised, and the page.

A paper lists its experiments by name, as functions from `Options` to an `Experiment`; `Experiment.played` runs any of
them, on any engine or with a language model, and keeps each episode as it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from pydantic import ConfigDict, Field
from rich.console import Console

from otherminds.evaluation.asking import Asking, spent, tell_ahead
from otherminds.evaluation.engines import Engine, opened, run
from otherminds.evaluation.progress import RunNote, shown
from otherminds.evaluation.store import Entry, Row, Store
from otherminds.language.ledger import Recorded
from otherminds.language.model import LanguageModel, ModelError
from otherminds.language.prices import BudgetError, CallEstimate

E = TypeVar("E", bound=Entry)
R = TypeVar("R")
IN_A_ROW = 3
"""Failed episodes in a row, per thread, after which a run stops; chosen, not tuned."""
PATIENCE = 3.0
"""Seconds that Ctrl-C waits for answers; later ones are lost, and listed as uncertain. Chosen, not tuned."""


@dataclass(frozen=True)
class Options:
    """How to run an experiment. `scale` is quick, normal or full; `data` is a path to data that may not be shipped.

    With `asking`, a language model takes part. `scenario`, `agents` and `levels` restrict what is played, `robust` adds
    people who are not as expected, and `fixed` is a setting to score, where the experiment has them. `shard` (i, n)
    plays every nth episode from the ith on. `frozen` plays nothing and only reports.
    """

    __pydantic_config__: ClassVar = ConfigDict(arbitrary_types_allowed=True)  # an engine that is open already

    out: Path
    seed: Annotated[int, Field(ge=0)] = 42
    scale: Annotated[str, Field(pattern="^(quick|normal|full)$")] = "normal"
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    data: Path | None = None
    asking: Asking | None = None
    scenario: str | None = None
    agents: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    robust: bool = False
    fixed: str | None = None
    engine: str | Engine | None = None
    shard: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] = (1, 1)
    frozen: bool = False


class Part(NamedTuple):
    """Entries of a plan and the function that plays one of them, a pure function from the entry to its rows."""

    play: Callable[[Any], list[Row]]
    entries: Sequence[Entry]


class ModelPart(NamedTuple):
    """Entries that a language model takes part in.

    `play(entry, model=...)` returns the rows of one episode, `estimate(entries)` the calls and tokens ahead.
    """

    model: LanguageModel
    play: Callable[..., list[Row]]
    entries: Sequence[Any]
    estimate: Callable[[Sequence[Any]], CallEstimate]


@dataclass(frozen=True)
class Experiment:
    """One experiment, ready to run.

    `run` names the run: a folder that holds another run is refused. `collect` returns the rows for the summary, in
    their order, from the finished store; by default those of all parts. `recorded_rows` returns rows that nobody plays,
    such as an export of a study. `summarise` returns the summary's rows, and `page(rows, summary)` the report.
    """

    run: str
    summarise: Callable[[Sequence[Row]], list[Row]]
    page: Callable[[Sequence[Row], Sequence[Row]], Any]
    parts: tuple[Part, ...] = ()
    model_part: ModelPart | None = None
    collect: Callable[[Store], list[Row]] | None = None
    recorded_rows: Callable[[], list[Row]] | None = None
    what: str = "Playing"

    def played(self, store: Store, options: Options) -> list[Row]:
        """Play what is missing in the store, and return all rows.

        Raises InputError for a part that cannot be played, BudgetError or ModelError as `ask` does, and
        UnfinishedError if entries are left, as they are to a shard.
        """
        if self.recorded_rows is not None:
            rows = self.recorded_rows()
            store.replace(rows)
            return rows
        spoken, model = self.model_part, None
        if spoken is not None and options.asking is not None:
            model = options.asking.recorded(spoken.model, store.database)
        play(store, options, self.what, *self.parts)
        if spoken is not None and model is not None:
            ask(store, options, spoken, model)
        if self.collect is not None:
            return self.collect(store)
        entries = [entry for part in self.parts for entry in part.entries]
        return store.all([entry.key for entry in (*entries, *(spoken.entries if spoken else ()))])


Begin = Callable[[Options], Experiment]
"""Prepares an experiment. Raises InputError if the options lack what it needs."""


def described(*words: str | None) -> str:
    """The name of a run: the words that are not empty, separated by spaces."""
    return " ".join(word for word in words if word)


def play(store: Store, options: Options, what: str, *parts: tuple[Callable[[Any], list[Row]], Sequence[Any]]) -> None:
    """Play the missing entries of some plans, each with its task, on the engine of the options."""
    todo = [(task, store.todo(plan, options.shard)) for task, plan in parts]
    total = sum(len(entries) for _, entries in todo)
    if not total:
        return
    with opened(options.engine, options.jobs) as engine:
        playing = (chunk for task, entries in todo for chunk in run(task, entries, engine=engine))
        for chunk in shown(playing, total, what, size=len):
            store.add(*(rows for _, rows in chunk))


def ask(store: Store, options: Options, part: ModelPart, model: Recorded) -> None:
    """Play the missing entries that a language model takes part in.

    An episode in which the model fails is set aside. Raises ModelError if too many fail in a row, and BudgetError.
    """
    asking = options.asking
    assert asking is not None
    todo = store.todo(part.entries, options.shard)
    if not todo:
        return
    tell_ahead(model, part.estimate(todo), asking.price)
    try:
        keep(store, asking, partial(part.play, model=model), todo, f"{model.name} is playing", model)
    finally:
        Console(stderr=True).print(f"{model.name}: {spent(model)}", markup=False, highlight=False)


def keep(
    store: Store, asking: Asking, task: Callable[[E], list[Row]], todo: Sequence[E], what: str, model: Recorded | None
) -> None:
    """Play episodes and store each as it ends; several at once if the model runs on a server."""

    def attempt(entry: E) -> list[Row] | ModelError:
        try:
            return task(entry)
        except BudgetError:
            raise
        except ModelError as error:
            return error

    note, failed = RunNote(model), 0
    playing = _answered(attempt, todo, at_once=asking.threads, stop=model.stop if model else lambda: None)
    for entry, outcome in shown(playing, len(todo), what, tell=note):
        if isinstance(outcome, ModelError):
            store.fail(entry, str(outcome))
            failed, note.failed = failed + 1, note.failed + 1
            if failed >= IN_A_ROW * asking.threads or note.failed == len(todo):
                raise outcome
        else:
            store.add(outcome)
            failed = 0


def _answered(
    ask: Callable[[E], R], entries: Iterable[E], *, at_once: int, stop: Callable[[], None]
) -> Iterator[tuple[E, R]]:
    """Entries with their results in the order in which they end, at most `at_once` of them under way.

    If one raises, or the consumer stops, `stop` prevents further calls and those under way are awaited, after Ctrl-C
    for PATIENCE seconds only.
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
                entry, result = under_way.pop(future), future.result()
                under_way |= {pool.submit(ask, more): more for more in islice(waiting, 1)}
                yield entry, result
    except BaseException as error:
        stop()
        wait(under_way, timeout=PATIENCE if isinstance(error, KeyboardInterrupt) else None)
        raise
    finally:
        pool.shutdown(wait=False)

"""An experiment: its plan, how one entry of it is played, what is summarised from the rows, and the page about them.

`reproduce` has one runner for all of them; a paper lists its experiments by name as functions from `Options`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from otherminds.evaluation.playing import Options, ask, play
from otherminds.evaluation.store import Entry, Row, Store
from otherminds.language.model import LanguageModel
from otherminds.language.prices import CallEstimate


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
    their order, from the finished store; by default those of all parts. `given` are rows that nobody plays, such as an
    export of a study. `summarise` returns the summary's rows, and `page(rows, summary)` the report.
    """

    run: str
    summarise: Callable[[Sequence[Row]], list[Row]]
    page: Callable[[Sequence[Row], Sequence[Row]], Any]
    parts: tuple[Part, ...] = ()
    model_part: ModelPart | None = None
    collect: Callable[[Store], list[Row]] | None = None
    given: Callable[[], list[Row]] | None = None
    what: str = "Playing"

    def played(self, store: Store, options: Options) -> list[Row]:
        """Play what is missing in the store, and return all rows.

        Raises InputError for a part that cannot be played, BudgetError or ModelError as `ask` does, and
        UnfinishedError if entries are left, as they are to a shard.
        """
        if self.given is not None:
            rows = self.given()
            store.replace(rows)
            return rows
        spoken, model = self.model_part, None
        if spoken is not None and options.asking is not None:
            model = options.asking.recorded(spoken.model, store.database)
        play(store, options, self.what, *self.parts)
        if spoken is not None and model is not None:
            ask(store, options, model, partial(spoken.play, model=model), spoken.entries, spoken.estimate)
        if self.collect is not None:
            return self.collect(store)
        entries = [entry for part in self.parts for entry in part.entries]
        return store.all([entry.key for entry in (*entries, *(spoken.entries if spoken else ()))])


Begin = Callable[[Options], Experiment]
"""Prepares an experiment. Raises InputError if the options lack what it needs."""


def described(*words: str | None) -> str:
    """The name of a run: the words that are not empty, separated by spaces."""
    return " ".join(word for word in words if word)

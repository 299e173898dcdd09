"""Exports of studies: rows of trials, read strictly, so that the analysis can rely on them.

An export has the rows of facilitated episodes, one decision a line, with the additional columns `pair`, `trial` and
`level`. The last row of a trial has its end (`ended`), its result (`success`, `length`), whether each participant was a
person or simulated (`by`), and their ratings of the facilitator (`ratings`, `comments`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from otherminds.errors import InputError, fault_place, faults
from otherminds.evaluation.assistance import FACILITATOR
from otherminds.evaluation.store import FILE
from otherminds.evaluation.tabular import READERS, each_numbered
from otherminds.papers.protom.episodes import Status

EXPERIMENT = "study"
POINTS = range(1, 8)  # the points of a rating: 1 strongly disagree, 7 strongly agree (paper, appendix C)
FINISHED, TIME = "finished", "time"  # values of `ended`: all agents succeeded, or the horizon was reached
GIVEN_UP, LIMIT = "given up", "time limit"  # all people said that they cannot do it; the minutes of a round were over
TO_THE_END = (FINISHED, TIME, GIVEN_UP, LIMIT)
CONSTANT = ("condition", "subject", "seed", "pair", "trial", "level")  # columns that are equal in all rows of a trial

Row = dict[str, Any]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=10_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Probability = Annotated[float, Field(ge=0, le=1 + 1e-6, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Rating = Annotated[int, Field(ge=POINTS[0], le=POINTS[-1])]
Aspect = Literal["helpful", "appropriate", "clear", "understood"]
ASPECTS: tuple[str, ...] = get_args(Aspect)


class _ExportedUtility(BaseModel):
    """What a message was worth to the facilitator: steps it would save, and how much it would change."""

    model_config = ConfigDict(strict=True)

    message: Text
    saves: Number
    changes: Number


class _ExportRow(BaseModel):
    """The columns of a row that the analysis uses; further columns are kept."""

    model_config = ConfigDict(strict=True)

    version: Literal[1] = Field(alias="schema")
    experiment: Literal["study"]
    condition: Name
    subject: Name
    seed: Annotated[int, Field(ge=0)]
    episode: Name
    pair: Count
    trial: Annotated[int, Field(ge=1, le=1000)]
    level: Name
    t: Count
    agent: Name
    action: Text
    goal: Name | None = None
    posterior: dict[str, Probability] | None = None
    predicted: Name | None = None
    p_true: Probability | None = None
    ms: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    words: Text | None = None
    why: Text | None = None
    status: Status | None = None
    statuses: dict[Text, Status] | None = None
    prices: list[_ExportedUtility] | None = None
    success: bool | None = None
    length: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    outcome: Status | None = None
    outcomes: dict[Text, Status] | None = None
    ended: Name | None = None
    by: dict[Name, Literal["person", "simulated"]] | None = None
    ratings: dict[Name, dict[Aspect, Rating]] | None = None
    comments: dict[Name, Text] | None = None

    @model_validator(mode="after")
    def _check_companions(self) -> Self:
        """Raises ValueError if a column is missing that others require."""
        if self.ended in TO_THE_END and (self.success is None or self.length is None):
            raise ValueError("a trial that came to its end has `success` and `length`")
        if self.posterior is not None and (self.p_true is None or self.predicted is None):
            raise ValueError("with `posterior` there are `p_true` and `predicted`")
        return self


def read_export(path: Path) -> list[Row]:
    """The rows of a study, from a .jsonl, .csv or .parquet file or a finished run, without null values.

    Raises InputError with the first line that is wrong, or if there are no rows.
    """
    numbered: list[tuple[int, Row]] = []
    for number, raw_row in each_numbered(path):
        row = {column: value for column, value in raw_row.items() if value is not None}
        if row.get("agent") == FACILITATOR:
            row.setdefault("action", "")  # spreadsheets save an empty text as an empty cell
        try:
            _ExportRow.model_validate(row)
        except ValidationError as error:
            fault = faults(error)[0]
            where, message = fault_place(fault), fault["msg"].removeprefix("Value error, ")
            raise InputError(f"`{where}`: {message}" if where else message, path=path, line=number) from None
        numbered.append((number, row))
    if not numbered:
        raise InputError("holds no trial", path=path)
    episodes: set[str] = set()
    for episode, group in groupby(numbered, key=lambda pair: pair[1]["episode"]):
        trial = list(group)
        if episode in episodes:
            raise InputError(f"`{episode}` goes on after another trial, or comes twice", path=path, line=trial[0][0])
        episodes.add(episode)
        _check_trial(trial, path)
    return [row for _, row in numbered]


def is_export(path: Path) -> bool:
    """Whether the path is the folder of a run, or a file of a kind that `read_export` reads."""
    return (path / FILE).exists() if path.is_dir() else path.suffix in READERS


def _check_trial(trial: Sequence[tuple[int, Row]], path: Path) -> None:
    """Raise InputError unless the steps count up from 0, every agent acts once in each, and the trial ends once."""
    first = trial[0][1]
    for number, row in trial:
        if changed := next((name for name in CONSTANT if row[name] != first[name]), None):
            raise InputError(f"`{changed}` changes within a trial", path=path, line=number)
        if number != trial[-1][0] and row.get("ended") is not None:
            raise InputError("a trial goes on after its end", path=path, line=number)
    known_agents: set[str] = set()
    for expected, (t, group) in enumerate(groupby(trial, key=lambda pair: pair[1]["t"])):
        numbers, agents = zip(*((number, row["agent"]) for number, row in group), strict=True)
        known_agents = known_agents or set(agents)
        if t != expected:
            raise InputError(f"`t` should be {expected} here", path=path, line=numbers[0])
        if sorted(agents) != sorted(known_agents):
            message = "a step needs one row for each person and one for the facilitator"
            raise InputError(message, path=path, line=numbers[0], hint="the same ones in all steps")
    if known_agents == {FACILITATOR} or FACILITATOR not in known_agents:
        raise InputError("a trial has people and a facilitator", path=path, line=trial[0][0])


def trials(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each trial, in order."""
    for _, group in groupby(rows, key=lambda row: row["episode"]):
        yield list(group)


def statuses(trial: Sequence[Row]) -> list[dict[str, str]]:
    """The new statuses of messages at each decision of the facilitator, and at the end, by message.

    Rows without a column for each message have the latest status, here under the empty name.
    """
    places = [(row, "status", "statuses") for row in trial if row["agent"] == FACILITATOR]
    places.append((trial[-1], "outcome", "outcomes"))
    return [row.get(each) or ({"": row[latest]} if row.get(latest) else {}) for row, latest, each in places]


def finished_trials(rows: Iterable[Row]) -> list[Row]:
    """The rows of the trials that came to their end: all agents succeeded, or the horizon was reached."""
    return [row for trial in trials(rows) if trial[-1].get("ended") in TO_THE_END for row in trial]

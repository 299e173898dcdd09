"""Stories in files: as text, as strict JSON, or as rows of an invented set; what is wrong is said with its place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, faults
from otherminds.files import strict_json
from otherminds.files.text import read_text
from otherminds.stories.model import Belief, Episode, Goal, Holds, NextAction, Question

T = TypeVar("T")

LARGEST = 20_000_000
DEEPEST = 8
MOST_HAPPENINGS = 10_000
EPISODES = TypeAdapter(Episode)
QUESTIONS = TypeAdapter(Question)


@dataclass(frozen=True)
class StoryFile:
    """A story in words or as an episode, and the questions that come with it, in words or as data."""

    text: str | None
    episode: Episode | None
    questions: tuple[Question | Worded, ...]


@dataclass(frozen=True)
class Worded:
    """A question in words; without options if all places of the story are."""

    stem: str
    options: tuple[str, ...]


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    story: str | None = Field(default=None, max_length=100_000)
    question: str | dict[str, Any] | None = None
    options: list[str] = Field(default_factory=list, max_length=26)
    episode: dict[str, Any] | None = None


def read_story_file(path: Path, name: str | None = None) -> StoryFile:
    """A text file; a JSON object with `story` or `episode`, and `question` (and `options`); or, by its id, the line of
    a JSONL file with such objects. Raises InputError for anything else."""
    text = read_text(path, limit=LARGEST)
    if not text.strip():
        raise InputError("is empty", path=path)
    if path.suffix not in (".json", ".jsonl"):
        if name is not None:
            raise InputError("is a text: --id is for JSONL files", path=path)
        return _of_text(text)
    lines = [(1, text)] if path.suffix == ".json" else [(n, t) for n, t in enumerate(text.split("\n"), 1) if t.strip()]
    rows = [(line, parse_json(raw, path, line)) for line, raw in lines] if name is None else _named(lines, name, path)
    if len(rows) > 1:
        raise InputError(f"has {len(rows)} stories", path=path, hint="choose one of them with --id")
    line, data = rows[0]
    return _of_row(validated(TypeAdapter(_Row), data, path, line), path, line)


def _named(lines: Sequence[tuple[int, str]], name: str, path: Path) -> list[tuple[int, Any]]:
    for line, raw in lines:
        data = parse_json(raw, path, line)
        if isinstance(data, dict) and str(data.get("id")) == name:
            return [(line, data)]
    raise InputError(f"has no story with the id {name!r}", path=path)


def _of_text(text: str) -> StoryFile:
    """The story; from a line that begins with `Question:`, or the last paragraph with a question mark, its question."""
    story, mark, question = text.rpartition("\nQuestion:")
    if not mark:
        story, _, question = text.strip().rpartition("\n\n")
        if "?" not in question or not story:
            story, question = text, ""
    from otherminds.stories.english.questions import split_options

    questions = (Worded(*split_options(question.strip())),) if question.strip() else ()
    return StoryFile(story.strip(), None, questions)


def _of_row(row: _Row, path: Path, line: int) -> StoryFile:
    if (row.story is None) == (row.episode is None) and not (row.story and row.episode):
        raise InputError("needs `story`, in words, or `episode`, as data", path=path, line=line)
    episode = None if row.episode is None or row.story is not None else episode_of(row.episode, path, line)
    question: tuple[Question | Worded, ...] = ()
    if isinstance(row.question, dict):
        question = (question_of(row.question, path, line),)
    elif row.question is not None:
        question = (Worded(row.question, tuple(row.options)),)
    return StoryFile(row.story, episode, question)


def episode_of(data: Mapping[str, Any], path: Path | None = None, line: int | None = None) -> Episode:
    """The episode that JSON data stands for. Raises InputError if it is not one, or not one that can be followed."""
    episode = validated(EPISODES, data, path, line)
    if len(episode.timeline) > MOST_HAPPENINGS:
        raise InputError(f"has more than {MOST_HAPPENINGS:,} happenings", path=path, line=line)
    for i, happening in enumerate(episode.timeline):
        if not 0.0 <= happening.p <= 1.0:
            raise InputError(f"timeline.{i}.p: {happening.p} is not a probability", path=path, line=line)
        if i and happening.t < episode.timeline[i - 1].t:
            raise InputError(f"timeline.{i}.t: is before what comes before it", path=path, line=line)
    twice = [name for name, count in Counter(entity.id for entity in episode.entities).items() if count > 1]
    if twice:
        raise InputError(f"entities: {twice[0]!r} is there twice", path=path, line=line)
    return episode


def question_of(data: Mapping[str, Any], path: Path | None = None, line: int | None = None) -> Question:
    """The question that JSON data stands for. Raises InputError if it is not one."""
    question = validated(QUESTIONS, data, path, line)
    if not 2 <= len(question.options) <= 100:
        raise InputError(f"options: a question has 2 to 100, not {len(question.options)}", path=path, line=line)
    if question.labels and len(question.labels) != len(question.options):
        message = f"labels: there are {len(question.labels)} for {len(question.options)} options"
        raise InputError(message, path=path, line=line)
    claims = (*question.given, *(claim for option in question.options for claim in option.claims))
    if any(depth > DEEPEST for claim in claims for depth in _depths(claim)):
        raise InputError(f"the question: beliefs are nested more than {DEEPEST} deep", path=path, line=line)
    return question


def _depths(claim: object) -> Iterator[int]:
    depth = 0
    while isinstance(claim, Belief):
        claim, depth = claim.content, depth + 1
    if isinstance(claim, Goal | Holds | NextAction) or depth:
        yield depth


def as_json(episode: Episode) -> dict[str, Any]:
    """An episode as JSON data, which `episode_of` turns back into the same episode."""
    return dict(EPISODES.dump_python(episode, mode="json", exclude_none=True))


def question_json(question: Question) -> dict[str, Any]:
    """A question as JSON data, which `question_of` turns back into the same question."""
    return dict(QUESTIONS.dump_python(question, mode="json", exclude_none=True))


def parse_json(text: str, path: Path | None = None, line: int = 1) -> Any:
    """The data of a JSON text. Raises InputError with the line if it is none, or has a key twice."""
    return strict_json.parse(text, path, line)


def validated(kind: TypeAdapter[T], data: Any, path: Path | None = None, line: int | None = None) -> T:
    """The data as a value of the kind. Raises InputError that names the first thing wrong and where it is."""
    try:
        return kind.validate_json(json.dumps(data))
    except (ValidationError, RecursionError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise InputError("is nested too deeply to be read", path=path, line=line) from None
        first = faults(error)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where or 'the whole'}: {first['msg']}", path=path, line=line) from None

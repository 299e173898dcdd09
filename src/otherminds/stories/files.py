"""Story files: plain text, strict JSON, or rows of JSONL; and the strict reading of JSON that all story files share.

Errors name the file and line of the first thing that is wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, fault_place, faults
from otherminds.files.strict_json import parse
from otherminds.files.text import read_text
from otherminds.stories.model import Belief, Episode, Question

T = TypeVar("T")

_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)  # built at first use: most stories come as text

LARGEST = 20_000_000  # bytes of a story file; chosen
DEEPEST = 8  # levels of nested belief in a question; chosen
MOST_HAPPENINGS = 10_000  # in one episode; chosen
SHOWN = 80  # characters of a value that an error message quotes


@dataclass(frozen=True)
class StoryFile:
    """A story as text or as an episode (the other is None), and its questions, in words or as data."""

    text: str | None
    episode: Episode | None
    questions: tuple[Question | Worded, ...]


@dataclass(frozen=True)
class Worded:
    """A question in words. Without options, all places of the story are the options."""

    stem: str
    options: tuple[str, ...]


class _StoryRow(BaseModel, extra="allow", strict=True):
    story: str | None = Field(default=None, max_length=100_000)
    question: str | dict[str, Any] | None = None
    options: list[str] = Field(default_factory=list, max_length=26)
    episode: dict[str, Any] | None = None


def read_story_file(path: Path, name: str | None = None) -> StoryFile:
    """The story of a file, and its questions.

    The file is a text; a JSON object with `story` or `episode`, and `question` (and `options`); or a JSONL file of such
    objects, of which the one with the id `name` is read. Raises InputError for anything else.
    """
    text = read_text(path, limit=LARGEST)
    if not text.strip():
        raise InputError("is empty", path=path)
    if path.suffix not in (".json", ".jsonl"):
        if name is not None:
            raise InputError("is a text: --id is for JSONL files", path=path)
        return told_story(text)
    lines = [(1, text)] if path.suffix == ".json" else [(n, t) for n, t in enumerate(text.split("\n"), 1) if t.strip()]
    rows = [(line, parse(raw, path, line)) for line, raw in lines] if name is None else _named(lines, name, path)
    if len(rows) > 1:
        raise InputError(f"has {len(rows)} stories", path=path, hint="choose one of them with --id")
    line, data = rows[0]
    return _of_row(validated(_StoryRow, data, path, line), path, line)


def _named(lines: Sequence[tuple[int, str]], name: str, path: Path) -> list[tuple[int, Any]]:
    """The first row with this id, as a list of one (line, data). Raises InputError if there is none."""
    for line, raw in lines:
        data = parse(raw, path, line)
        if isinstance(data, dict) and str(data.get("id")) == name:
            return [(line, data)]
    raise InputError(f"has no story with the id {name!r}", path=path)


def told_story(text: str) -> StoryFile:
    """The story of a text, and its question.

    The question follows a line `Question:`, or is a last paragraph with a `?`, or the last sentence if it ends in one,
    before its options if it has some.
    """
    from otherminds.stories.english.questions import split_options

    story, mark, question = text.rpartition("\nQuestion:")
    if not mark:
        story, _, question = text.strip().rpartition("\n\n")
    if mark or (story and "?" in question):
        stem, options = split_options(question.strip())
    else:
        story, stem, options = text, "", ()
        for whole, some in ((text.strip(), ()), split_options(text.strip())):
            if match := re.fullmatch(r"(.*[.!?\"”])\s+([^.!?]+\?)", whole, re.DOTALL):
                story, stem, options = *match.groups(), some
    return StoryFile(story.strip(), None, (Worded(stem, options),) if stem else ())


def _of_row(row: _StoryRow, path: Path, line: int) -> StoryFile:
    """The story and the questions of a row. Raises InputError if it has neither a story in words nor an episode."""
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
    """The episode in JSON data. Raises InputError if it has another form, or a timeline that is not in order."""
    episode = validated(Episode, data, path, line)
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
    """The question in JSON data. Raises InputError if it has another form, or nests beliefs too deeply."""
    question = validated(Question, data, path, line)
    if not 2 <= len(question.options) <= 100:
        raise InputError(f"options: a question has 2 to 100, not {len(question.options)}", path=path, line=line)
    if question.labels and len(question.labels) != len(question.options):
        message = f"labels: there are {len(question.labels)} for {len(question.options)} options"
        raise InputError(message, path=path, line=line)
    if any(_depth(claim) > DEEPEST for claim in question.claims):
        raise InputError(f"the question: beliefs are nested more than {DEEPEST} deep", path=path, line=line)
    return question


def _depth(claim: object) -> int:
    return 1 + _depth(claim.content) if isinstance(claim, Belief) else 0


def as_json(episode: Episode) -> dict[str, Any]:
    """An episode as JSON data; `episode_of` restores it."""
    return dict(_adapter(Episode).dump_python(episode, mode="json", exclude_none=True))


def question_json(question: Question) -> dict[str, Any]:
    """A question as JSON data; `question_of` restores it."""
    return dict(_adapter(Question).dump_python(question, mode="json", exclude_none=True, by_alias=True))


def validated(kind: type[T], data: Any, path: Path | None = None, line: int | None = None) -> T:
    """The data as a value of the kind. Raises InputError that names the first wrong or missing key."""
    try:
        value: T = _adapter(kind).validate_json(json.dumps(data))
    except ValidationError as error:
        first = faults(error)[0]
        key = fault_place(first, SHOWN)
        if first["type"] == "missing":
            raise InputError(f"lacks `{key}`", path=path, line=line) from None
        raise InputError(f"{f'`{key}`' if key else 'the whole'}: {first['msg']}", path=path, line=line) from None
    except (RecursionError, ValueError):
        raise InputError("is nested too deeply to be read", path=path, line=line) from None
    return value

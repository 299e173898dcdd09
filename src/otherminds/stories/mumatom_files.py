"""The files of the MuMA-ToM benchmark: stories, questions, what a video model saw, and scene graphs of the videos.

A folder holds questions.json; gemini_outputs.json (a video model's account of each video) and visual_data/ (scene
graphs, a folder for each episode) may be there as well, as may a folder Files/ that holds all of this.
(Shi et al. 2025; the account of the videos comes with AutoToM, Zhang et al. 2025.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from otherminds.errors import InputError, faults
from otherminds.files import strict_json
from otherminds.files.text import read_text

T = TypeVar("T")

LARGEST = 50_000_000
LETTERS = "ABCDEFGHIJ"
KINDS = ("belief", "social_goal", "belief_of_goal")
GRAPHS = ("hold", "inside", "on", "opened", "closeness")
ESCAPE = re.compile(r"\\(n|t|r|'|\"|\\|x[0-9a-fA-F]{2})")
OPTION = re.compile(r"^\s*([A-J])[).:]\s*(.*?)\s*$", re.MULTILINE)

Frames = dict[str, dict[int, tuple[str, ...]]]


@dataclass(frozen=True)
class Asked:
    """One question: its wording without the options, the options, which is right, and of which kind it is."""

    stem: str
    options: tuple[str, ...]
    gold: int
    kind: str


@dataclass(frozen=True)
class Source:
    """What there is of one episode: all of the story, the half that a text tells of one person alone (none: then it is
    what is said), what a video model saw, and the scene graph, frame by frame."""

    id: str
    full: str
    half: str | None
    video: str | None
    frames: Frames | None
    questions: tuple[Asked, ...]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    description: str
    questions: dict[str, str]
    answers: dict[str, str]
    labels: dict[str, Literal["belief", "social_goal", "belief_of_goal"]]
    filtered_description: str | None = None


class _Seen(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    action: str


_ENTRIES = TypeAdapter(dict[str, _Entry])
_SEEN = TypeAdapter(dict[str, _Seen])
_FRAMES = TypeAdapter(dict[str, dict[int, list[str]]])


def read_mumatom(folder: Path) -> tuple[Source, ...]:
    """All episodes of a folder, in the order of questions.json.

    Raises InputError if a file is missing, damaged, or has another form.
    """
    if not (folder / "questions.json").exists() and (folder / "Files" / "questions.json").exists():
        folder = folder / "Files"
    path = folder / "questions.json"
    entries = _read(path, _ENTRIES)
    seen = _read(folder / "gemini_outputs.json", _SEEN) if (folder / "gemini_outputs.json").exists() else {}
    sources = []
    for name, entry in entries.items():
        video = seen[name].action.strip() if name in seen else ""
        half = None if entry.filtered_description is None else unescaped(entry.filtered_description)
        frames = _frames(folder / "visual_data" / name, name) if _is_name(name) else None
        questions = tuple(_asked(entry, name, path))
        sources.append(Source(name, unescaped(entry.description), half, video or None, frames, questions))
    if not sources:
        raise InputError("has no episodes", path=path)
    return tuple(sources)


def is_mumatom(folder: Path) -> bool:
    """Whether a folder looks like one of the benchmark."""
    return any((folder / inner / "questions.json").exists() for inner in ("", "Files"))


def unescaped(text: str) -> str:
    """The text of a string written as Python bytes, b'…' with backslashes; other strings as they are."""
    match = re.fullmatch(r"""b(['"])(.*)\1""", text.strip(), re.DOTALL)
    if match is None:
        return text
    marks = {"n": "\n", "t": "\t", "r": "\r"}

    def plain(found: re.Match[str]) -> str:
        mark = found.group(1)
        return chr(int(mark[1:], 16)) if mark[0] == "x" else marks.get(mark, mark)

    read = ESCAPE.sub(plain, match.group(2))
    try:
        return read.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return read


def _asked(entry: _Entry, name: str, path: Path) -> Iterator[Asked]:
    for number, text in entry.questions.items():
        where = f"episode {name!r}, question {number!r}"
        found = list(OPTION.finditer(text))
        options = tuple(match.group(2) for match in found)
        if len(options) < 2 or [match.group(1) for match in found] != list(LETTERS[: len(options)]):
            raise InputError(f"{where}: needs options A), B), … each on its own line", path=path)
        letter = re.match(r"\s*([A-J])(?:[).:]|\s*$)", entry.answers.get(number, ""))
        if letter is None or letter.group(1) not in LETTERS[: len(options)]:
            raise InputError(f"{where}: needs an answer that starts with the letter of an option", path=path)
        if number not in entry.labels:
            raise InputError(f"{where}: needs a label, one of {', '.join(KINDS)}", path=path)
        yield Asked(text[: found[0].start()].strip(), options, LETTERS.index(letter.group(1)), entry.labels[number])


def _is_name(name: str) -> bool:
    return re.fullmatch(r"[\w-]{1,60}", name) is not None


def _frames(folder: Path, name: str) -> Frames | None:
    """The scene graph of an episode: for every relation, for every frame, what the file says."""
    if not folder.is_dir():
        return None
    frames: Frames = {}
    for relation in GRAPHS:
        path = folder / f"{relation}.json"
        if path.exists():
            table = _read(path, _FRAMES)
            if name not in table:
                raise InputError(f"says nothing of episode {name!r}", path=path)
            frames[relation] = {frame: tuple(facts) for frame, facts in sorted(table[name].items())}
    return frames


def _read(path: Path, kind: TypeAdapter[T]) -> T:
    text = read_text(path, limit=LARGEST)
    try:
        return kind.validate_python(strict_json.parse(text, path, 1))
    except ValidationError as error:
        first = faults(error)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where or 'the file'}: {first['msg']}", path=path) from None

"""The files of the MuMA-ToM benchmark: stories, questions, a video model's accounts, and scene graphs of the videos.

A folder, or its subfolder Files/, holds questions.json and optionally gemini_outputs.json (a video model's account of
each video) and visual_data/ (scene graphs, a folder for each episode).
(Shi et al. 2025; the accounts of the videos come with AutoToM, Zhang et al. 2025.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from otherminds.errors import InputError
from otherminds.files.strict_json import parse
from otherminds.files.text import read_text
from otherminds.stories.files import validated

T = TypeVar("T")

LARGEST = 50_000_000  # bytes of one file; the benchmark's largest has about half a megabyte
LETTERS = "ABCDEFGHIJ"
KINDS = ("belief", "social_goal", "belief_of_goal")
GRAPHS = ("hold", "inside", "on", "opened", "closeness")
ESCAPE = re.compile(r"\\(n|t|r|'|\"|\\|x[0-9a-fA-F]{2})")
OPTION = re.compile(r"^\s*(?P<letter>[A-J])[).:]\s*(?P<text>.*?)\s*$", re.MULTILINE)

Frames = dict[str, dict[int, tuple[str, ...]]]


@dataclass(frozen=True)
class MumatomQuestion:
    """One question: its wording without the options, the options, the index of the right one, and its kind."""

    stem: str
    options: tuple[str, ...]
    gold: int
    kind: str


@dataclass(frozen=True)
class MumatomEpisode:
    """One episode of the benchmark.

    `full` is the whole story, `half` the text about one person alone (None: the text half is what is said), `video` a
    video model's account, and `frames` the scene graph: the facts of each frame, by relation.
    """

    id: str
    full: str
    half: str | None
    video: str | None
    frames: Frames | None
    questions: tuple[MumatomQuestion, ...]


class _EpisodeRow(BaseModel, extra="ignore", strict=True):
    description: str
    questions: dict[str, str]
    answers: dict[str, str]
    labels: dict[str, Literal["belief", "social_goal", "belief_of_goal"]]
    filtered_description: str | None = None


class _VideoAccount(BaseModel, extra="ignore", strict=True):
    action: str


def read_mumatom(folder: Path, faults: list[InputError] | None = None) -> tuple[MumatomEpisode, ...]:
    """All episodes of a folder, in the order of questions.json.

    With a list of `faults`, an episode that cannot be read is skipped, and its fault is appended. Raises InputError for
    the first fault if there is no such list, if no episode can be read, or if a file of all episodes is missing or of
    another form.
    """
    if not (folder / "questions.json").exists() and (folder / "Files" / "questions.json").exists():
        folder = folder / "Files"
    outputs = folder / "gemini_outputs.json"
    accounts = _read(outputs, dict[str, Any]) if outputs.exists() else {}
    episodes, refused = list[MumatomEpisode](), list[InputError]()
    for name, data in _read(folder / "questions.json", dict[str, Any]).items():
        try:
            episodes.append(_episode(name, data, accounts, folder))
        except InputError as fault:
            if faults is None:
                raise
            refused.append(fault)
    if not episodes:
        raise refused[0] if refused else InputError("has no episodes", path=folder / "questions.json")
    if faults is not None:
        faults += refused
    return tuple(episodes)


def _episode(name: str, data: Any, accounts: Mapping[str, Any], folder: Path) -> MumatomEpisode:
    """The episode in its data, the accounts of the videos, and its scene graph if there is one."""
    path, outputs = folder / "questions.json", folder / "gemini_outputs.json"
    row = validated(dict[str, _EpisodeRow], {name: data}, path)[name]
    account = {name: accounts[name]} if name in accounts else {}
    videos = [video.action.strip() for video in validated(dict[str, _VideoAccount], account, outputs).values()]
    half = None if row.filtered_description is None else unescaped(row.filtered_description)
    safe = re.fullmatch(r"[\w-]{1,60}", name) is not None  # the name becomes part of a path
    frames = _frames(folder / "visual_data" / name, name) if safe else None
    questions = tuple(_questions(row, name, path))
    return MumatomEpisode(name, unescaped(row.description), half, "".join(videos) or None, frames, questions)


def is_mumatom(folder: Path) -> bool:
    """Whether a folder, or its subfolder Files/, contains a questions.json."""
    return any((folder / inner / "questions.json").exists() for inner in ("", "Files"))


def unescaped(text: str) -> str:
    """The text of a string written as a Python bytes literal, b'…'; other strings unchanged."""
    match = re.fullmatch(r"""b(?P<quote>['"])(?P<content>.*)(?P=quote)""", text.strip(), re.DOTALL)
    if match is None:
        return text
    marks = {"n": "\n", "t": "\t", "r": "\r"}

    def plain(escape: re.Match[str]) -> str:
        mark = escape.group(1)
        return chr(int(mark[1:], 16)) if mark[0] == "x" else marks.get(mark, mark)

    characters = ESCAPE.sub(plain, match["content"])
    try:
        return characters.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return characters


def _questions(row: _EpisodeRow, name: str, path: Path) -> Iterator[MumatomQuestion]:
    """The questions of an episode. Raises InputError if options, the answer or the label are missing."""
    for number, text in row.questions.items():
        context = f"episode {name!r}, question {number!r}"
        option_matches = list(OPTION.finditer(text))
        options = tuple(match["text"] for match in option_matches)
        if len(options) < 2 or [match["letter"] for match in option_matches] != list(LETTERS[: len(options)]):
            raise InputError(f"{context}: needs options A), B), … each on its own line", path=path)
        answer = re.match(r"\s*(?P<letter>[A-J])(?:[).:]|\s*$)", row.answers.get(number, ""))
        if answer is None or answer["letter"] not in LETTERS[: len(options)]:
            raise InputError(f"{context}: needs an answer that starts with the letter of an option", path=path)
        if number not in row.labels:
            raise InputError(f"{context}: needs a label, one of {', '.join(KINDS)}", path=path)
        stem = text[: option_matches[0].start()].strip()
        yield MumatomQuestion(stem, options, LETTERS.index(answer["letter"]), row.labels[number])


def _frames(folder: Path, name: str) -> Frames | None:
    """The scene graph of an episode, as facts by relation and frame; None if there is no folder for it."""
    if not folder.is_dir():
        return None
    frames: Frames = {}
    for relation in GRAPHS:
        path = folder / f"{relation}.json"
        if path.exists():
            table = _read(path, dict[str, dict[int, list[str]]])
            if name not in table:
                raise InputError(f"says nothing of episode {name!r}", path=path)
            frames[relation] = {frame: tuple(facts) for frame, facts in sorted(table[name].items())}
    return frames


def _read(path: Path, kind: type[T]) -> T:
    return validated(kind, parse(read_text(path, limit=LARGEST), path), path)

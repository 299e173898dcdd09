"""Benchmark files on beliefs: ToMi, Hi-ToM, BigToM, MMToM-QA, and JSONL rows of story, question and answer.

Readers are strict: a file is read unchanged or refused with a line number; nothing is guessed or repaired.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, StringConstraints, TypeAdapter

from otherminds.errors import InputError, shortened
from otherminds.files.strict_json import parse
from otherminds.files.text import read_text
from otherminds.stories.english.questions import split_options
from otherminds.stories.files import SHOWN, validated

T = TypeVar("T")
Format = Literal["tomi", "hi_tom", "bigtom", "mmtom_qa", "jsonl"]
LARGEST = 20_000_000  # bytes of a file; chosen
COLUMNS = range(14, 20)  # numbers of columns that BigToM's files have
HINT = "ToMi has numbered lines, Hi-ToM one JSON object, BigToM 19 columns with `;`, other sets a JSON object a line"
SYMBOL = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{}]|\n')
CHOICE = re.compile(r"(?:^|,\s*)([A-Z])\.\s*")
MOST_LINES = 100  # of one story in a ToMi file; each of its questions keeps all lines before it; chosen
ASKED = "Read the following story and answer"
Text = Annotated[str, StringConstraints(min_length=1, max_length=50_000, strip_whitespace=True)]


@dataclass(frozen=True)
class Item:
    """One benchmark question with its label (`gold`) and line number (None if the format has no lines).

    Without options, all places of the story are the options; `group` names the benchmark and kind of question.
    """

    id: str
    story: str
    question: str
    options: tuple[str, ...]
    gold: str
    line: int | None
    group: str


class _ItemRow(BaseModel, strict=True):
    story: Text
    question: Text
    answer: Text
    id: str | int | None = None
    options: list[Text] | None = None
    choices: list[Text] | Text | None = None
    order: Annotated[int, Field(ge=0, le=99)] | None = None


class _MmtomRow(BaseModel, strict=True):
    question: Text
    answer: Text
    question_type: float | str
    episode: int | str = ""


class _HiTomRow(_ItemRow):
    choices: Text
    deception: bool
    story_length: int
    question_order: Annotated[int, Field(ge=0, le=99)]
    sample_id: int
    prompting_type: str = ""


class _HiTomFile(BaseModel, strict=True):
    data: Annotated[list[Any], Field(min_length=1)]


_ITEM_ROWS, _MMTOM_ROWS = TypeAdapter(_ItemRow), TypeAdapter(_MmtomRow)
_HITOM_ROWS, _HITOM_FILES = TypeAdapter(_HiTomRow), TypeAdapter(_HiTomFile)


def read_items(path: Path, format: Format | None = None) -> tuple[Item, ...]:
    """All questions of a file; without `format`, it is detected from the first line.

    Raises InputError with the line of the first fault.
    """
    text = read_text(path, limit=LARGEST)
    if not text.strip():
        raise InputError("is empty", path=path, hint=HINT)
    readers = {"tomi": _tomi, "hi_tom": _hi_tom, "bigtom": _bigtom, "mmtom_qa": _mmtom, "jsonl": _jsonl}
    items = tuple(readers[format or detect(text, path)](text, path))
    if not items:
        raise InputError("has no questions", path=path)
    return items


def detect(text: str, path: Path) -> Format:
    """The format of a text, judged by its first line. Raises InputError if it fits none."""
    start = text.lstrip()
    first = start.partition("\n")[0]
    if start.startswith("{"):
        whole = first.strip() == "{" or re.match(r'\{\s*"data"\s*:', start)
        return "hi_tom" if whole else "mmtom_qa" if '"question_type"' in first else "jsonl"
    if re.match(r"\d+ \S", first):
        return "tomi"
    if first.count(";") + 1 >= COLUMNS.start:
        return "bigtom"
    raise InputError(f"is in none of the formats {', '.join(get_args(Format))}", path=path, line=1, hint=HINT)


def plain(text: str) -> str:
    """A place or answer in normal form: lower case, without article, underscores, or a final full stop."""
    words = text.replace("_", " ").casefold().strip(" .\"'").split()
    return " ".join(words[1:] if words[:1] in (["the"], ["a"], ["an"]) and len(words) > 1 else words)


def _gold(answer: str, options: tuple[str, ...], path: Path, line: int) -> str:
    """The option that the answer names, in words or by letter. Raises InputError if there is none."""
    if len(options) != len({plain(option) for option in options}):
        raise InputError("the same choice is there twice", path=path, line=line)
    named = [option for option in options if plain(option) == plain(answer)]
    if not named and re.fullmatch(r"\(?[A-Za-z][.)]?", answer):
        named = list(options[(number := ord(answer.strip("().").casefold()) - ord("a")) : number + 1])
    if not named and options:
        hint = f"there is {shortened(', '.join(options), SHOWN)}"
        raise InputError(
            f"the answer `{shortened(answer, SHOWN)}` is not among the choices", path=path, line=line, hint=hint
        )
    return named[0] if named else answer


def _tomi(text: str, path: Path) -> Iterator[Item]:
    """ToMi: numbered lines, starting at 1 with every story; a question is followed by a tab and its answer."""
    kinds = _kinds(path)
    told, began, asked, number = list[str](), 1, True, 0
    for line, row in enumerate(text.splitlines(), 1):
        if not row.strip():
            continue
        found = re.fullmatch(r"(\d{1,6}) (.*\S)\s*", row)
        if found is None or int(found[1]) not in (1, len(told) + 1) or (found[1] == "1" and not asked):
            what = "ends without a question" if found is not None and found[1] == "1" else "breaks off"
            hint = f"the next line should begin with {len(told) + 1}"
            raise InputError(f"the story that begins on line {began} {what}", path=path, line=line, hint=hint)
        if found[1] == "1":
            told, began = [], line
        if len(told) == MOST_LINES:
            raise InputError(f"the story has more than {MOST_LINES} lines", path=path, line=line)
        question, *answer = found[2].split("\t")
        asked = bool(answer) or question.endswith("?")
        told.append("" if asked else question.strip().rstrip(".") + ".")
        if asked:
            story = "\n".join(sentence for sentence in told if sentence)
            if not answer or not answer[0].strip() or not story:
                what = "has no story" if not story else "has no answer"
                raise InputError(f"the question {what}", path=path, line=line, hint="question, tab, answer")
            kind = kinds[number] if number < len(kinds) else ""
            gold = answer[0].strip()
            yield Item(f"{began}-{line}", story, question.strip(), (), gold, line, f"ToMi {kind}".strip())
            number += 1
    if not asked:
        raise InputError(f"the story that begins on line {began} ends without a question", path=path, line=line)
    if kinds and len(kinds) != number:
        message = f"has {len(kinds)} lines for {number} questions"
        raise InputError(message, path=path.with_suffix(".trace"))


def _kinds(path: Path) -> list[str]:
    """The kind of every question, from the .trace file beside the stories; empty if there is none."""
    trace = path.with_suffix(".trace")
    if path.suffix == ".trace" or not trace.is_file():
        return []
    rows = read_text(trace, limit=LARGEST).splitlines()
    return [",".join(row.split(",")[-2:-1]) for row in rows if row.strip()]


def _hi_tom(text: str, path: Path) -> Iterator[Item]:
    file = validated(_HITOM_FILES, parse(text, path), path, 1)
    lines = list(_entries(text))
    for number, entry in enumerate(file.data):
        line = lines[number] if number < len(lines) else 1
        row = validated(_HITOM_ROWS, entry, path, line)
        kind = f"Hi-ToM order {row.question_order}{' with deception' if row.deception else ''}"
        name = f"{row.prompting_type}-{row.story_length}-{row.question_order}-{row.sample_id}-{row.deception}"
        yield _item(row, name, path, line, kind)


def _rows(text: str, path: Path, kind: TypeAdapter[T]) -> Iterator[tuple[int, T]]:
    """(line, row) for every line with JSON."""
    for line, entry in enumerate(text.split("\n"), 1):
        if entry.strip():
            yield line, validated(kind, parse(entry, path, line), path, line)


def _jsonl(text: str, path: Path) -> Iterator[Item]:
    for line, row in _rows(text, path, _ITEM_ROWS):
        name = str(line) if row.id is None else str(row.id)
        yield _item(row, name, path, line, "" if row.order is None else f"order {row.order}")


def _mmtom(text: str, path: Path) -> Iterator[Item]:
    """MMToM-QA: an apartment, a person's actions in it, and a question with options (a) and (b)."""
    for line, row in _rows(text, path, _MMTOM_ROWS):
        story, mark, asked = row.question.partition("Question:")
        stem, options = split_options(asked.partition("Please respond")[0].strip())
        if not mark or len(options) < 2:
            raise InputError("`question` needs `Question:` and options (a) and (b)", path=path, line=line)
        name, group = f"{row.episode}, line {line}", f"MMToM-QA {row.question_type}"
        gold = _gold(row.answer, options, path, line)
        yield Item(name, story.strip(), stem, options, gold, line, group)


def _item(row: _ItemRow, name: str, path: Path, line: int, group: str) -> Item:
    options = row.options or row.choices or []
    if isinstance(options, str):
        parts = CHOICE.split(options)
        options = [part.strip() for part in parts[2::2]] if parts[1:] else [part.strip() for part in options.split(",")]
    gold = _gold(row.answer, tuple(options), path, line)
    told = [re.sub(r"^\d+ (?=\S)", "", sentence).strip() for sentence in row.story.split("\n")]
    story = "\n".join(s for s in told if any(map(str.isalpha, s)) and not s.startswith(ASKED))
    return Item(name, story or row.story, row.question, tuple(options), gold, line, group)


def _entries(text: str) -> Iterator[int]:
    """The line numbers on which the objects of a list inside an object begin."""
    depth, line = 0, 1
    for symbol in SYMBOL.finditer(text):
        sign = symbol.group()
        if sign == "\n":
            line += 1
        elif sign in "[{":
            if depth == 2:
                yield line
            depth += 1
        elif sign in "]}":
            depth -= 1


def _bigtom(text: str, path: Path) -> Iterator[Item]:
    """BigToM: for every scenario, forward and backward belief questions, each for an aware and an unaware person."""
    rows = csv.reader(text.splitlines(keepends=True), delimiter=";", strict=True)
    try:
        for row in rows:
            if row:
                yield from _scenario(row, path, rows.line_num)
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", path=path, line=max(1, rows.line_num)) from None


def _scenario(row: list[str], path: Path, line: int) -> Iterator[Item]:
    if len(row) not in COLUMNS:
        message = f"has {len(row)} columns, not {COLUMNS.start} to {COLUMNS.stop - 1}"
        raise InputError(message, path=path, line=line, hint="they are separated by `;`")
    cells = [cell.strip() for cell in row]
    empty = next((number for number in (0, 1, 2, 3, 4, 5, 8, 11) if not cells[number]), None)
    if empty is not None:
        raise InputError(f"column {empty + 1} is empty", path=path, line=line)
    options = (cells[8], cells[11])
    _gold(cells[8], options, path, line)
    for kind, sentences in (("forward", cells[1:3]), ("backward", cells[3:5])):
        for aware, sentence, gold in zip(("aware", "unaware"), sentences, options, strict=True):
            story = f"{cells[0]}\n{sentence}"
            yield Item(f"{line}-{kind}-{aware}", story, cells[5], options, gold, line, f"BigToM {kind} belief")

"""Files of story benchmarks: ToMi, Hi-ToM, BigToM, MMToM-QA, OpenToM, ToMBench, FANToM, and JSONL rows.

A row of JSONL has story, question and answer. Readers are strict: a row is read unchanged or refused with its line
number; nothing is guessed or repaired. Whether a refused row ends the reading of its file is up to the caller.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, StringConstraints

from otherminds.errors import InputError, shortened
from otherminds.files.strict_json import parse
from otherminds.files.text import read_text
from otherminds.stories.english.questions import split_options
from otherminds.stories.files import SHOWN, validated

R = TypeVar("R")
T = TypeVar("T")
Format = Literal["tomi", "hi_tom", "bigtom", "mmtom_qa", "opentom", "tombench", "fantom", "jsonl"]
LARGEST = 20_000_000  # bytes of a file; chosen
COLUMNS = range(14, 20)  # numbers of columns that BigToM's files have
ONE_CONDITION = 4  # columns of a file of BigToM with a single condition: story, question, right and wrong answer
CONDITION = re.compile(r"(forward|backward)_(belief|action)_(true|false)_belief")
FANTOM = ("context", "question", "answer_choices", "gt_answer")
SCALES = (
    ("Yes", "No"),
    ("more full", "equally full", "less full"),
    ("more accessible", "equally accessible", "less accessible"),
    ("positive", "neutral", "negative"),
)
"""The answers of OpenToM that are no places."""
ORDERS = {"fo": "first order", "so": "second order"}
HINT = (
    "ToMi has numbered lines, Hi-ToM and OpenToM one JSON object, BigToM columns with `;`, FANToM columns with `,`, "
    "other sets a JSON object a line"
)
SYMBOL = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{},]|\n|[^\s"\[\]{},]+')
MARKS: tuple[tuple[Format, str], ...] = (
    ("opentom", r'\{\s*"\d+"\s*:\s*\['),
    ("hi_tom", r'\{\s*"data"\s*:|\{\s*\n'),
    ("tombench", r'.*"OPTION-A"'),
    ("tomi", r'.*"containers"'),
    ("mmtom_qa", r'.*"question_type"'),
    ("jsonl", ""),
)
"""How a file of JSON begins, by its format."""
NAN = re.compile(r'("(?:\\.|[^"\\])*")|\bNaN\b')
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
CHOICE = re.compile(r"(?:^|,\s*)([A-Z])\.\s*")
MOST_LINES = 100  # of one story in a ToMi file; each of its questions keeps all lines before it; chosen
ASKED = "Read the following story and answer"
Text = Annotated[str, StringConstraints(min_length=1, max_length=50_000, strip_whitespace=True)]


@dataclass(frozen=True)
class Item:
    """One benchmark question with its label (`gold`) and line number (None if the format has no lines).

    Without options, all places of the story are the options; `group` names the benchmark and kind of question, and
    `scenario` what several stories are told about, if the file says so.
    """

    id: str
    story: str
    question: str
    options: tuple[str, ...]
    gold: str
    line: int | None
    group: str
    scenario: str = ""


class _ItemRow(BaseModel, strict=True):
    story: Text
    question: Text
    answer: Text
    id: str | int | None = None
    options: list[Text] | None = None
    choices: list[Text] | Text | None = None
    order: Annotated[int, Field(ge=0, le=99)] | None = None


class _TomiRow(_ItemRow):
    options: Annotated[list[Text], Field(alias="containers", min_length=2)]
    question_type: Text


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


class _ToMBenchRow(BaseModel, strict=True):
    story: Text = Field(alias="STORY")
    question: Text = Field(alias="QUESTION")
    a: Text = Field(alias="OPTION-A")
    b: Text = Field(alias="OPTION-B")
    c: Text | None = Field(None, alias="OPTION-C")
    d: Text | None = Field(None, alias="OPTION-D")
    answer: Literal["A", "B", "C", "D"] = Field(alias="答案\nANSWER")


class _OpenToMPlot(BaseModel, strict=True):
    original_place: Text
    move_to_place: Text


class _OpenToMStory(BaseModel, strict=True):
    narrative: Text
    plot_info: _OpenToMPlot


class _OpenToMRow(BaseModel, strict=True):
    question: Text
    answer: Text
    type: Annotated[str, StringConstraints(pattern="^(location|multihop)-(fo|so)$|^attitude$")]


def read_items(path: Path, format: Format | None = None, faults: list[InputError] | None = None) -> tuple[Item, ...]:
    """All questions of a file; without `format`, it is detected from the first line.

    With a list of `faults`, a row that cannot be read is skipped, and its fault, with file and line, is appended.
    Raises InputError with the line of the first fault if there is no such list, or if no row can be read.
    """
    text = read_text(path, limit=LARGEST)
    if not text.strip():
        raise InputError("is empty", path=path, hint=HINT)
    readers: dict[Format, Callable[[str, Path], Iterator[Item | InputError]]] = {
        "tomi": _tomi_rows if text.lstrip().startswith("{") else _tomi,
        "hi_tom": _hi_tom,
        "bigtom": _bigtom,
        "mmtom_qa": _mmtom,
        "opentom": _opentom,
        "tombench": _tombench,
        "fantom": _fantom,
        "jsonl": _jsonl,
    }
    items, refused = list[Item](), list[InputError]()
    for result in readers[format or detect(text, path)](text, path):
        if isinstance(result, Item):
            items.append(result)
        elif faults is None:
            raise result
        else:
            refused.append(result)
    if not items:
        raise refused[0] if refused else InputError("has no questions", path=path)
    if faults is not None:
        faults += refused
    return tuple(items)


def detect(text: str, path: Path) -> Format:
    """The format of a text, judged by its first line. Raises InputError if it fits none."""
    start = text.lstrip()
    first = start.partition("\n")[0]
    if start.startswith("{"):
        return next(form for form, mark in MARKS if re.match(mark, start))
    if re.match(r"\d+ \S", first):
        return "tomi"
    if first.strip() == ",".join(FANTOM):
        return "fantom"
    if first.count(";") + 1 == ONE_CONDITION or first.count(";") + 1 >= COLUMNS.start:
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
    matches = [option for option in options if plain(option) == plain(answer)]
    if not matches and re.fullmatch(r"\(?[A-Za-z][.)]?", answer):
        matches = list(options[(number := ord(answer.strip("().").casefold()) - ord("a")) : number + 1])
    if not matches and options:
        hint = f"there is {shortened(', '.join(options), SHOWN)}"
        raise InputError(
            f"the answer `{shortened(answer, SHOWN)}` is not among the choices", path=path, line=line, hint=hint
        )
    return matches[0] if matches else answer


def _each(
    rows: Iterable[tuple[int, R]], items_of: Callable[[R, Path, int], Iterable[Item]], path: Path
) -> Iterator[Item | InputError]:
    """The items of all (line, row); a row that cannot be read yields its fault instead."""
    try:
        for line, row in rows:
            try:
                yield from items_of(row, path, line)
            except InputError as fault:
                yield fault
    except InputError as fault:  # the rows after this fault cannot be told apart
        yield fault


def _tomi(text: str, path: Path) -> Iterator[Item | InputError]:
    """ToMi: numbered lines, starting at 1 with every story; a question is followed by a tab and its answer."""
    return _each(_numbered_stories(text), partial(_tomi_story, kinds=_kinds(text, path)), path)


def _numbered_stories(text: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """(first line, (line, content) of all its lines) for every story; a line with the number 1 begins one."""
    story = list[tuple[int, str]]()
    for line, content in enumerate(text.splitlines(), 1):
        if story and re.match(r"1 \S", content):
            yield story[0][0], story
            story = []
        if content.strip():
            story.append((line, content))
    if story:
        yield story[0][0], story


def _tomi_story(story: Sequence[tuple[int, str]], path: Path, began: int, kinds: Mapping[int, str]) -> Iterator[Item]:
    """The questions of a story, each about the sentences before it."""
    sentences, is_question = list[str](), False
    for number, (line, content) in enumerate(story, 1):
        match = re.fullmatch(r"(\d{1,6}) (.*\S)\s*", content)
        if match is None or int(match[1]) != number:
            hint = f"the next line should begin with {number}"
            raise InputError(f"the story that begins on line {began} breaks off", path=path, line=line, hint=hint)
        if number > MOST_LINES:
            raise InputError(f"the story has more than {MOST_LINES} lines", path=path, line=line)
        sentence, *answer = match[2].split("\t")
        is_question = bool(answer) or sentence.endswith("?")
        if not is_question:
            sentences.append(sentence.strip().rstrip(".") + ".")
            continue
        if not answer or not answer[0].strip() or not sentences:
            lacking = "answer" if sentences else "story"
            raise InputError(f"the question has no {lacking}", path=path, line=line, hint="question, tab, answer")
        group = f"ToMi {kinds.get(line, '')}".strip()
        yield Item(f"{began}-{line}", "\n".join(sentences), sentence.strip(), (), answer[0].strip(), line, group)
    if not is_question:
        raise InputError(f"the story that begins on line {began} ends without a question", path=path, line=line)


def _kinds(text: str, path: Path) -> dict[int, str]:
    """The kind of every question by its line, from the .trace file beside the stories; empty if there is none.

    Raises InputError if that file does not have a line for each question.
    """
    trace = path.with_suffix(".trace")
    if path.suffix == ".trace" or not trace.is_file():
        return {}
    kinds = [",".join(row.split(",")[-2:-1]) for row in read_text(trace, limit=LARGEST).splitlines() if row.strip()]
    contents = enumerate(map(str.strip, text.splitlines()), 1)
    questions = [line for line, content in contents if "\t" in content or content.endswith("?")]
    if kinds and len(kinds) != len(questions):
        raise InputError(f"has {len(kinds)} lines for {len(questions)} questions", path=trace)
    return dict(zip(questions, kinds, strict=False))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """(line, content) of all lines that are not blank."""
    return ((line, content) for line, content in enumerate(text.split("\n"), 1) if content.strip())


def _row(kind: type[T], content: str, path: Path, line: int) -> T:
    """A line of JSON as a row of this kind."""
    return validated(kind, parse(content, path, line), path, line)


def _tomi_rows(text: str, path: Path) -> Iterator[Item | InputError]:
    """ToMi as AutoToM distributes it: JSON rows with the two containers."""

    def items(content: str, path: Path, line: int) -> Iterator[Item]:
        row = _row(_TomiRow, content, path, line)
        yield _item(row, str(line), path, line, f"ToMi {row.question_type}")

    return _each(_lines(text), items, path)


def _hi_tom(text: str, path: Path) -> Iterator[Item | InputError]:
    """Hi-ToM: one JSON object with a list of questions, each with its own story."""

    def items(entry: Any, path: Path, line: int) -> Iterator[Item]:
        row = validated(_HiTomRow, entry, path, line)
        kind = f"Hi-ToM order {row.question_order}{' with deception' if row.deception else ''}"
        name = f"{row.prompting_type}-{row.story_length}-{row.question_order}-{row.sample_id}-{row.deception}"
        yield _item(row, name, path, line, kind)

    entries = validated(_HiTomFile, parse(text, path), path, 1).data
    return _each(zip(chain(_entry_lines(text), repeat(1)), entries, strict=False), items, path)


def _jsonl(text: str, path: Path) -> Iterator[Item | InputError]:
    """The items of a JSONL file, a JSON object a line with the fields of `_ItemRow`, or the fault of the line."""

    def items(content: str, path: Path, line: int) -> Iterator[Item]:
        row = _row(_ItemRow, content, path, line)
        name = str(line) if row.id is None else str(row.id)
        yield _item(row, name, path, line, "" if row.order is None else f"order {row.order}")

    return _each(_lines(text), items, path)


def _mmtom(text: str, path: Path) -> Iterator[Item | InputError]:
    """MMToM-QA: an apartment, a person's actions in it, and a question with options (a) and (b)."""

    def items(content: str, path: Path, line: int) -> Iterator[Item]:
        row = _row(_MmtomRow, content, path, line)
        story, mark, question = row.question.partition("Question:")
        stem, options = split_options(question.partition("Please respond")[0].strip())
        if not mark or len(options) < 2:
            raise InputError("`question` needs `Question:` and options (a) and (b)", path=path, line=line)
        name, group = f"{row.episode}, line {line}", f"MMToM-QA {row.question_type}"
        gold = _gold(row.answer, options, path, line)
        yield Item(name, story.strip(), stem, options, gold, line, group, str(row.episode))

    return _each(_lines(text), items, path)


def _tombench(text: str, path: Path) -> Iterator[Item | InputError]:
    """ToMBench in English: two or four options; those that are missing are NaN, which JSON does not have."""

    def items(content: str, path: Path, line: int) -> Iterator[Item]:
        row = _row(_ToMBenchRow, content, path, line)
        columns = [row.a, row.b, row.c, row.d]
        gold = columns["ABCD".index(row.answer)]
        if gold is None:
            raise InputError(f"the answer `{row.answer}` is not among the choices", path=path, line=line)
        options = tuple(dict.fromkeys(option for option in columns if option is not None))
        yield Item(str(line), row.story, row.question, options, gold, line, f"ToMBench {path.stem}")

    return _each(_lines(NAN.sub(lambda match: match[1] or "null", text)), items, path)


def _opentom(text: str, path: Path) -> Iterator[Item | InputError]:
    """OpenToM: questions by story; the stories are in meta_data.json beside them."""
    beside = path.with_name("meta_data.json")
    stories = validated(dict[str, Any], parse(read_text(beside, limit=LARGEST), beside), beside)
    by_story = validated(dict[str, Any], parse(text, path), path, 1)
    lines = chain(_entry_lines(text), repeat(1))

    def rows() -> Iterator[tuple[int, tuple[str, int, Any]]]:
        for name, questions in by_story.items():
            if not isinstance(questions, list):
                yield 1, (name, 0, questions)
                continue
            yield from ((next(lines), (name, number, entry)) for number, entry in enumerate(questions, 1))

    return _each(rows(), partial(_opentom_items, stories=stories), path)


def _opentom_items(numbered: tuple[str, int, Any], path: Path, line: int, stories: Mapping[str, Any]) -> Iterator[Item]:
    """The question of (name of the story, number of the question, its data).

    The options are those of the scale that has the answer or, for precise locations, the first and the last place, and
    the label if it is neither.
    """
    name, number, entry = numbered
    row = validated(_OpenToMRow, entry, path, line)
    if name not in stories:
        raise InputError(f"meta_data.json has no story `{shortened(name, SHOWN)}`", path=path, line=line)
    beside = path.with_name("meta_data.json")
    story = validated(dict[str, _OpenToMStory], {name: stories[name]}, beside)[name]
    sort, _, order = row.type.partition("-")
    scale = next((scale for scale in SCALES if row.answer in scale), ())
    if not scale and sort != "location":
        message = f"`{shortened(row.answer, SHOWN)}` is no answer to a question of type {row.type}"
        raise InputError(message, path=path, line=line)
    places = (story.plot_info.original_place, story.plot_info.move_to_place)
    elsewhere = () if plain(row.answer) in map(plain, places) else (row.answer,)
    options = scale or (*places, *elsewhere)
    kind = f"{sort} {'coarse' if scale else 'fine'}" if sort == "location" else sort
    perspective = "narrator" if "narrator" in row.question else ORDERS.get(order, "")
    group = f"OpenToM {kind}{', ' if perspective else ''}{perspective}"
    gold = _gold(row.answer, options, path, line)
    yield Item(f"{name}-{number}", story.narrative, row.question, options, gold, line, group)


def _fantom(text: str, path: Path) -> Iterator[Item | InputError]:
    """FANToM: a conversation, a question, the two choices as a list of quoted texts, and the right one."""
    access = re.match(r"(in)?accessible", path.stem)
    order = re.search(r"(first|second)-order", path.stem)
    kind = f"{access[0] if access else 'belief'}{f', {order[1]} order' if order else ''}"

    def items(cells: list[str], path: Path, line: int) -> Iterator[Item]:
        if len(cells) != len(FANTOM) or not all(cell.strip() for cell in cells):
            hint = f"the columns are {', '.join(FANTOM)}"
            raise InputError(f"needs {len(FANTOM)} columns that are not empty", path=path, line=line, hint=hint)
        context, question, choices, answer = (cell.strip() for cell in cells)
        options = tuple(_texts(choices))
        if len(options) < 2:
            hint = "such as ['one', 'other']"
            raise InputError("`answer_choices` is not a list of two texts", path=path, line=line, hint=hint)
        yield Item(str(line), context, question, options, _gold(answer, options, path, line), line, f"FANToM {kind}")

    return _each(((line, cells) for line, cells in _csv(text, path, ",") if line > 1), items, path)


def _texts(listed: str) -> list[str]:
    """The texts of a list as Python prints it; none if it is not such a list."""
    if not re.fullmatch(r"\[\s*(,\s*)*\]", QUOTED.sub("", listed)):
        return []
    marks = {"n": "\n", "t": "\t"}

    def plain(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else marks.get(match[3], match[3])

    return [ESCAPE.sub(plain, quoted[1:-1]).strip() for quoted in QUOTED.findall(listed)]


def _item(row: _ItemRow, name: str, path: Path, line: int, group: str) -> Item:
    """The item of a row: options as a list (given as one, separated by commas, or as `A) … B) …`), gold by its text."""
    options = row.options or row.choices or []
    if isinstance(options, str):
        parts = CHOICE.split(options)
        options = [part.strip() for part in parts[2::2]] if parts[1:] else [part.strip() for part in options.split(",")]
    gold = _gold(row.answer, tuple(options), path, line)
    sentences = [re.sub(r"^\d+ (?=\S)", "", sentence).strip() for sentence in row.story.split("\n")]
    story = "\n".join(s for s in sentences if any(map(str.isalpha, s)) and not s.startswith(ASKED))
    return Item(name, story or row.story, row.question, tuple(options), gold, line, group)


def _entry_lines(text: str) -> Iterator[int]:
    """The line numbers on which the elements of the lists inside an object begin."""
    opened, line, begins = list[str](), 1, False
    for symbol in SYMBOL.finditer(text):
        sign = symbol.group()
        if sign == "\n":
            line += 1
            continue
        if begins and sign != "]":
            yield line
        if sign in "[{":
            opened.append(sign)
        elif sign in "]}":
            opened.pop()
        begins = sign in "[," and opened == ["{", "["]


def _csv(text: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) for every row that is not empty. Raises InputError if no rows can be told."""
    rows, line = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True), 1
    try:
        for row in rows:
            if row:
                yield line, row
            line = rows.line_num + 1
    except csv.Error as error:
        hint = "from here on nothing is read"
        raise InputError(f"is not CSV: {error}", path=path, line=line, hint=hint) from None


def _bigtom(text: str, path: Path) -> Iterator[Item | InputError]:
    """BigToM: for every scenario, forward and backward belief questions, each for an aware and an unaware person.

    Or the file of one condition, which its name says: story, question, right and wrong answer.
    """
    kind = " ".join(CONDITION.sub(r"\1 \2, \3 belief", match[0]) for match in CONDITION.finditer(path.stem))

    def items(row: list[str], path: Path, line: int) -> Iterator[Item]:
        cells = [cell.strip() for cell in row]
        return _condition(cells, kind, path, line) if len(row) == ONE_CONDITION else _scenario(cells, path, line)

    return _each(_csv(text, path, ";"), items, path)


def _condition(cells: Sequence[str], kind: str, path: Path, line: int) -> Iterator[Item]:
    """The item in the four cells of a BigToM condition file: story, question, right answer, wrong answer."""
    empty = next((number for number, cell in enumerate(cells, 1) if not cell), None)
    if empty is not None:
        raise InputError(f"column {empty} is empty", path=path, line=line)
    story, question, right, wrong = cells
    gold = _gold(right, (right, wrong), path, line)
    yield Item(str(line), story, question, (right, wrong), gold, line, f"BigToM {kind}".strip(), str(line))


def _scenario(cells: Sequence[str], path: Path, line: int) -> Iterator[Item]:
    """The four belief items of a BigToM scenario: forward and backward, each with an aware and an unaware agent."""
    if len(cells) not in COLUMNS:
        message = f"has {len(cells)} columns, not {COLUMNS.start} to {COLUMNS.stop - 1}"
        raise InputError(message, path=path, line=line, hint="they are separated by `;`")
    empty = next((number for number in (0, 1, 2, 3, 4, 5, 8, 11) if not cells[number]), None)
    if empty is not None:
        raise InputError(f"column {empty + 1} is empty", path=path, line=line)
    options = (cells[8], cells[11])
    _gold(cells[8], options, path, line)
    for kind, sentences in (("forward", cells[1:3]), ("backward", cells[3:5])):
        for aware, sentence, gold in zip(("aware", "unaware"), sentences, options, strict=True):
            name, story, group = f"{line}-{kind}-{aware}", f"{cells[0]}\n{sentence}", f"BigToM {kind} belief"
            yield Item(name, story, cells[5], options, gold, line, group, str(line))

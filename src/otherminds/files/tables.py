"""Tables as text, whatever the form of their file: CSV with any separator, Parquet, a JSON list, or JSON Lines."""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from otherminds.errors import InputError, install_hint
from otherminds.files import strict_json
from otherminds.files.text import decoded, naming, opened, read_text

# Limits against hostile files, chosen: bytes of a table and characters of a Parquet file's text, cells, and columns
LARGEST = 50_000_000
MOST_CELLS = 20_000_000
MOST_COLUMNS = 10_000
BATCH = 100  # rows of a Parquet file read at once
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
COMMENT = re.compile(r"[ \t]*(#[^\n]*)?\r?\n")
WIDE = re.compile(r"(.+)\.(\d+)\.((?:player|group|subsession)\..+)", re.ASCII)  # columns of a table of oTree
OTREE_ROUND = "subsession.round_number"

Row = Sequence[str | None]
"""The cells of a row; None is a value that a JSON object does not have."""


@dataclass(frozen=True)
class Table:
    """A table as text. Its rows come with the lines on which they begin."""

    path: Path
    header: Sequence[str]
    rows: Sequence[tuple[int, Row]]
    decimal_comma: bool = False
    top: int = 1  # line of the header

    def wrong(self, message: str, line: int | None = None, hint: str | None = None) -> InputError:
        """An error in this table."""
        return InputError(message, path=self.path, line=line, hint=hint)

    def number(self, text: str, what: str, line: int, kind: str = "number") -> float:
        """A finite number. Raises InputError."""
        plain = text.replace(",", ".") if self.decimal_comma else text
        number = float(plain) if NUMBER.fullmatch(plain) else math.nan
        if not math.isfinite(number) or (kind != "number" and not number.is_integer()):
            raise self.wrong(f"{what} `{text[:60]}` is no {kind}", line)
        return number


def read_table(path: Path, text: str | None) -> Table:
    """The table in a file, or in a text, whatever its form."""
    if text is None and path.suffix == ".parquet":
        table = _parquet(path)
    else:
        text = (_file_text(path) if text is None else text).removeprefix("\ufeff")
        if not text.strip():
            raise InputError("it is empty", path=path)
        table = _json(path, text) if text.lstrip()[0] in "[{" else _long(_csv(path, text))
    names = Counter(filter(None, table.header))
    if repeated := [name for name, count in names.items() if count > 1]:
        raise table.wrong(f"the column `{repeated[0][:60]}` comes twice", table.top)
    return table


def _file_text(path: Path) -> str:
    """The text of a file in UTF-8, or in the UTF-16 that spreadsheets call Unicode. Raises InputError."""
    with naming(path), opened(path) as file:
        is_wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if not is_wide:
        return read_text(path, limit=LARGEST)
    with naming(path, "is not UTF-16 text"), opened(path) as file:
        raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise InputError(f"is larger than {LARGEST:,} bytes", path=path)
        return decoded(raw.decode("utf-16").encode(), path, 1)


def _csv(path: Path, text: str) -> Table:
    """A CSV file, separated by the sign that its header has most of, by blanks if that has none of the others.

    Empty lines are left out, and so are comments before the header, and the line `sep=;` that spreadsheets read.
    """
    if "\n" not in text:
        text = text.replace("\r", "\n")
    text = re.sub(r'\A"?sep=(.)"?(?=\r?\n)', "", text, flags=re.IGNORECASE)
    text = _without_comments(text)
    top_line = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").partition("\n")[0])
    delimiter = max(",;\t|", key=top_line.count)
    if not top_line.count(delimiter) and re.match(r"\S+ +\S", top_line.strip() or text.lstrip()):
        delimiter = " "
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for untidy in reader:
            cells = list(map(str.strip, untidy))
            if any(cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"this is no CSV: {error}", path=path, line=line) from None
    if not rows:
        raise InputError("it has no header", path=path)
    top, header = rows.pop(0)
    if rows and all(len(cells) == len(header) + 1 for _, cells in rows):  # R: no name above the names of rows
        header.insert(0 if any(cells[-1] for _, cells in rows) else len(header), "")
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(f"{len(cells)} cells instead of {len(header)}", path=path, line=line)
    return Table(path, header, rows, delimiter == ";", top)


def _without_comments(text: str) -> str:
    """The text with empty lines for lines that begin with `#` before the header.

    A line with as many separators as the first line without `#` is the header: `#,person,own` and `# person,own`.
    """
    end = 0
    while comment := COMMENT.match(text, end):
        following = text[comment.end() : text.find("\n", comment.end()) + 1 or len(text)]
        is_last = not following.lstrip().startswith("#")
        if is_last and any(0 < comment[0].count(sign) == following.count(sign) for sign in ",;\t|"):
            break
        end = comment.end()
    return "\n" * text.count("\n", 0, end) + text[end:]


def _long(table: Table) -> Table:
    """A table of oTree with one row a participant as one with a row for each round of each app.

    Columns `app.2.player.choice` become `player.choice`, `app`, and the number of the round.
    """
    wide = {i: match for i, name in enumerate(table.header) if (match := WIDE.fullmatch(name))}
    if not wide:
        return table
    places: dict[tuple[str, str], dict[str, int]] = {}  # by app and round, the columns by the rest of their names
    for i, match in wide.items():
        places.setdefault((match[1], match[2]), {})[match[3]] = i
    shared = [i for i in range(len(table.header)) if i not in wide]
    inner = [name for name in dict.fromkeys(match[3] for match in wide.values()) if name != OTREE_ROUND]
    header = [*(table.header[i] for i in shared), "app", OTREE_ROUND, *inner]
    _check_size(len(header), len(table.rows) * len(places), table.path)
    rows: list[tuple[int, Row]] = []
    for line, row in table.rows:
        for (app, number), at in places.items():
            cells = [row[at[name]] if name in at else None for name in inner]
            rows.append((line, [*(row[i] for i in shared), app, number, *cells]))
    return Table(table.path, header, rows, table.decimal_comma, table.top)


def _json(path: Path, text: str) -> Table:
    """A JSON list of objects, one list or object a line, an object of columns, or an object with such a list in it.

    Objects within rows become columns such as `response.own`.
    """
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    if text.lstrip().startswith("{") and (whole := _whole_object(text)):
        first, *others = whole.values()
        if isinstance(first, list) and not others:
            entries = [(1, entry) for entry in first]
        elif any(len(part) != len(first) or (isinstance(part, dict) and [*part] != [*first]) for part in others):
            raise InputError("its columns do not have the same rows", path=path)
        else:
            by_column = [part.values() if isinstance(part, dict) else part for part in whole.values()]
            entries = [(1, dict(zip(whole, row, strict=True))) for row in zip(*by_column, strict=True)]
    elif text.lstrip().startswith("[") and not all(
        line.strip()[0] + line.strip()[-1] == "[]" for line in lines.values()
    ):
        parsed = strict_json.parse(text, path)
        entries = list(zip(_entry_lines(text), parsed, strict=True))
    else:
        values = [(number, strict_json.parse(line, path, number)) for number, line in lines.items()]
        entries = [(n, entry) for n, value in values for entry in (value if isinstance(value, list) else [value])]
    objects: list[tuple[int, dict[str, str]]] = []
    for line, entry in entries:
        if not isinstance(entry, dict):
            raise InputError("is not a row: a JSON object", path=path, line=line)
        objects.append((line, _flat(entry)))
    header = list(dict.fromkeys(name for _, cells in objects for name in cells))
    _check_size(len(header), len(objects), path)
    return Table(path, header, [(line, [cells.get(name) for name in header]) for line, cells in objects])


def _whole_object(text: str) -> dict[str, list[Any] | dict[str, Any]] | None:
    """The object in a text if it is one of lists, or of objects: a table by columns, as pandas writes it."""
    try:
        whole = strict_json.loads(text)
    except (ValueError, RecursionError):
        return None
    kinds = {type(part) for part in whole.values()}
    return whole if kinds == {list} or (kinds == {dict} and len(whole) > 1) else None


def _entry_lines(text: str) -> Iterator[int]:
    """The lines on which the entries of a JSON list begin; the text must be valid."""
    place = text.index("[") + 1
    line = 1 + text.count("\n", 0, place)
    while True:
        begin = place
        while text[begin] in ", \t\r\n":
            begin += 1
        if text[begin] == "]":
            return
        line += text.count("\n", place, begin)
        yield line
        _, place = json.JSONDecoder().raw_decode(text, begin)
        line += text.count("\n", begin, place)


def _flat(entry: Mapping[str, Any]) -> dict[str, str]:
    """An object as cells of text. An object in it with one value stands for that value."""
    cells = dict[str, str]()
    for name, value in entry.items():
        if isinstance(value, dict) and len(value) != 1:
            cells |= {f"{name}.{inner}".strip(): _text(part) for inner, part in value.items()}
        else:
            cells[name.strip()] = _text(next(iter(value.values())) if isinstance(value, dict) else value)
    return cells


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else strict_json.dumps(value)


def _parquet(path: Path) -> Table:
    """A Parquet file, its rows numbered as the lines of a CSV file would be."""
    if not find_spec("pyarrow"):
        raise InputError("Parquet needs pyarrow", path=path, hint=install_hint("parquet"))
    import pyarrow
    from pyarrow import parquet

    rows: list[tuple[int, list[str]]] = []
    characters = 0  # a text that is in the file once can be in every row
    try:
        with naming(path, "this is no Parquet file"), opened(path) as raw, parquet.ParquetFile(raw) as file:
            header = [str(name).strip() for name in file.schema_arrow.names]
            _check_size(len(header), file.metadata.num_rows, path)
            for batch in file.iter_batches(BATCH):
                columns = [["" if v is None else str(v).strip() for v in column.to_pylist()] for column in batch]
                characters += sum(len(cell) for column in columns for cell in column)
                if characters > LARGEST:
                    raise InputError(f"is larger than {LARGEST:,} characters", path=path)
                rows += enumerate(map(list, zip(*columns, strict=True)), len(rows) + 2)
    except pyarrow.ArrowException as error:
        raise InputError(f"this is no Parquet file: {error}", path=path) from None
    return Table(path, header, rows)


def _check_size(columns: int, rows: int, path: Path) -> None:
    if columns > MOST_COLUMNS or columns * rows > MOST_CELLS:
        raise InputError(f"has more than {MOST_COLUMNS:,} columns or {MOST_CELLS:,} cells", path=path)

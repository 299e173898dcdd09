"""Rows as files: JSON Lines, CSV for spreadsheets, and Parquet for statistics programs.

All three formats are read back exactly. In CSV and Parquet, lists and objects are JSON text. In CSV every other value
but text is JSON as well; text that a reader or a spreadsheet could mistake for something else begins with an
apostrophe, except names of NAMES such as `0`, which stay as they are and are read back as text. A missing value is an
empty cell, an empty text an empty cell in quotes.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from otherminds.errors import InputError, install_hint
from otherminds.evaluation.runs import exported_rows
from otherminds.files.strict_json import RepeatedNameError, depth, dumps, loads
from otherminds.files.text import decoded, opened, write_whole

Row = dict[str, Any]

LONGEST = 1_000_000
"""Largest line, in bytes. The limits here protect readers from hostile files; chosen, not tuned."""
LARGEST_CELL = 131_072
"""Largest cell of a CSV file, in characters: the default limit of Python's reader."""
LARGEST = 150_000_000
"""Largest file, in bytes, after unpacking."""
MOST = 1_000_000
"""Most rows of a file."""
BATCH = 100
"""Rows of a Parquet file read at once, so that a hostile file cannot fill the memory."""
MOST_COLUMNS = 10_000
DEEPEST = 20
"""Deepest nesting of lists and objects in a row."""
NAMES = ("condition", "subject", "episode", "person", "participants", "block")
"""Columns of names, which may look like numbers and are always text."""
TEXT_MARK = "'"
EMPTY_TEXT = "\0"
"""Stands for the empty text while a CSV table is written; other cells have no NUL, see `_cell`."""
RISKY = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "\ufeff")
"""Beginnings of text that a spreadsheet takes for a formula, or a reader for the mark of an encoding."""
FROM_SPREADSHEETS = {"TRUE": True, "FALSE": False}
WHOLE = range(-(2**63), 2**63)
ARROW_TYPES: Mapping[type, str] = {str: "string", int: "int64", float: "float64", bool: "bool_"}
AS_JSON = {b"otherminds": b"json"}


# Writing


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one row a line. Raises InputError if a value is not JSON, or the file cannot be written."""
    lines = [_text(row, path, i) for i, row in enumerate(rows, 1)]
    for i, line in enumerate(lines, 1):
        if len(line.encode()) >= LONGEST:
            raise InputError(f"a row is longer than {LONGEST:,} bytes", path=path, line=i)
    _write(path, "".join(f"{line}\n" for line in lines).encode())


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table with a column for every key of any row; missing values are empty cells, empty text is in quotes.

    Raises InputError if a value is not JSON or too long, or the file cannot be written.
    """
    columns = _columns(rows)
    file = io.StringIO()
    writer = csv.writer(file)  # ends lines as in RFC 4180, so that line breaks within cells are always quoted
    writer.writerow([_cell(column) for column in columns])
    for i, row in enumerate(rows, 1):
        _text(row, path, i)
        cells = [_cell(row[column], column) if column in row else "" for column in columns]
        if max(map(len, cells)) > LARGEST_CELL:
            raise InputError(f"row {i} has a cell of more than {LARGEST_CELL:,} characters", path=path)
        writer.writerow(cells)
    _write(path, file.getvalue().replace(EMPTY_TEXT, '""').encode())


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table with typed columns; lists, objects, and columns of mixed type are JSON text, marked in the schema.

    Raises InputError if a value is not JSON, the file cannot be written, or pyarrow is missing.
    """
    arrow, parquet = _arrow()
    for i, row in enumerate(rows, 1):
        _text(row, path, i)
    fields, arrays = [], []
    for column in _columns(rows):
        values = [row[column] for row in rows if column in row]
        types = {type(value) for value in values}
        # the Arrow type if all values have one; empty if the column must be JSON text
        arrow_type = ARROW_TYPES.get(types.pop(), "") if len(types) == 1 else ""
        if arrow_type == "int64" and not all(value in WHOLE for value in values):
            arrow_type = ""
        cells = [(row[column] if arrow_type else dumps(row[column])) if column in row else None for row in rows]
        typed = getattr(arrow, arrow_type or "string")()
        fields.append(arrow.field(column, typed, metadata=None if arrow_type else AS_JSON))
        arrays.append(arrow.array(cells, typed))
    file = io.BytesIO()
    table = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
    parquet.write_table(table, file, write_page_checksum=True)
    _write(path, file.getvalue())


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of all columns of any row, in the order in which they first come."""
    return list(dict.fromkeys(column for row in rows for column in row))


def _cell(value: Any, column: str = "") -> str:
    """A value as text of a CSV cell; text with a NUL, which no reader takes for text, as JSON, where it is escaped."""
    if value == "":
        return EMPTY_TEXT
    if not isinstance(value, str) or "\0" in value:
        return dumps(value)
    plain = not value.startswith(RISKY) and _read_cell(value, column) == value
    return value if plain else TEXT_MARK + value


def _text(row: Mapping[str, Any], path: Path, number: int) -> str:
    """A row as JSON. Raises InputError if it could not be read back."""
    try:
        text = dumps(row)
        text.encode()
        if not row or depth(row) > DEEPEST or loads(text) != row:
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        hint = "columns with text, finite numbers, true, false, null, lists and objects of these"
        raise InputError(f"row {number} cannot be written as JSON", path=path, hint=hint) from None
    return text


def _write(path: Path, content: bytes) -> None:
    if not path.parent.is_dir():
        raise InputError("cannot be written: there is no such folder", path=path)
    write_whole(path, [content])


# Reading


def read_rows(path: Path) -> list[Row]:
    """The rows of a file (.jsonl, .csv or .parquet), or of a finished run (a folder).

    Raises InputError for the first fault.
    """
    return [row for _, row in each_numbered(path)]


def each_numbered(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of `read_rows` one at a time, each with the line where it begins (in Parquet and runs, its number).

    So a caller can stop at the first row it rejects. Raises InputError.
    """
    reader = _run if path.is_dir() else READERS.get(path.suffix)
    if reader is None:
        raise InputError("is not a file of rows", path=path, hint=f"the name must end in {', '.join(READERS)}")
    try:
        for count, numbered_row in enumerate(reader(path)):
            if count == MOST:
                raise InputError(f"has more than {MOST:,} rows", path=path)
            yield numbered_row
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


def _run(folder: Path) -> Iterator[tuple[int, Row]]:
    return ((number, _checked(row, folder, number)) for number, row in enumerate(exported_rows(folder), 1))


def _jsonl(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of a JSON Lines file, each with its line number. Raises InputError."""
    for number, line in _lines(path):
        try:
            row = loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError("is not a row: a JSON object", path=path, line=number)
        yield number, _checked(row, path, number)


def _csv(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of a CSV file, each with the line where it begins. Raises InputError."""
    reader = csv.reader(_with_marked_empty_text(line for _, line in _lines(path)), strict=True)
    columns: list[str] | None = None
    first_line = 1
    try:
        for cells in reader:
            if columns is None:
                if len(cells) > MOST_COLUMNS:
                    raise InputError(f"has more than {MOST_COLUMNS:,} columns", path=path, line=1)
                columns = [str(_read_cell(cell)) for cell in cells]
                if repeated := [column for i, column in enumerate(columns) if column in columns[:i]]:
                    raise InputError(f"the column `{repeated[0][:60]}` comes twice", path=path, line=1)
            elif any(cells):
                if len(cells) != len(columns):
                    raise InputError(f"{len(cells)} cells for {len(columns)} columns", path=path, line=first_line)
                row = {column: _read_cell(cell, column) for column, cell in zip(columns, cells, strict=True) if cell}
                yield first_line, _checked(row, path, first_line)
            first_line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", path=path, line=first_line) from None


def _with_marked_empty_text(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a CSV table, with the mark of text in cells that are `""`, which readers take for missing values."""
    within_quotes = False
    for line in lines:
        parts = line.split('"')  # in turn outside and within quotes; between the two of an escaped one is an empty part
        for i in range(1 + within_quotes, len(parts) - 1, 2):
            starts_cell = parts[i - 1].endswith(",") or (i == 1 and not parts[0])
            ends_cell = parts[i + 1].startswith((",", "\r", "\n")) or (i == len(parts) - 2 and not parts[-1])
            if not parts[i] and starts_cell and ends_cell:
                parts[i] = TEXT_MARK
        within_quotes ^= len(parts) % 2 == 0
        yield '"'.join(parts)


def _read_cell(cell: str, column: str = "") -> Any:
    """The value of a cell that is not empty: text after an apostrophe or in a column of names, JSON, or else text.

    Numbers that are not finite, such as 1e999, are returned as such; `_checked` refuses them.
    """
    if cell.startswith(TEXT_MARK):
        return cell[1:]
    if column in NAMES and not cell.startswith(('"', "[", "{")):
        return cell
    if cell in FROM_SPREADSHEETS:
        return FROM_SPREADSHEETS[cell]
    try:
        return loads(cell)
    except RepeatedNameError:
        return cell
    except (ValueError, RecursionError):
        with suppress(ValueError, RecursionError):
            return json.loads(cell, object_pairs_hook=list)  # not finite
        return cell


def _parquet(path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of a Parquet file, each with its number from 1. Raises InputError.

    Limits are checked on the sizes that the file claims, and again on what is unpacked.
    """
    arrow, parquet = _arrow()
    try:
        with opened(path) as raw, parquet.ParquetFile(raw, page_checksum_verification=True) as file:
            if file.metadata.num_rows > MOST:
                raise InputError(f"has more than {MOST:,} rows", path=path)
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            _check_size(sum(group.total_byte_size for group in groups), path)  # unpacked, as the file itself claims
            json_columns = {f.name for f in file.schema_arrow if AS_JSON.items() <= (f.metadata or {}).items()}
            rows = (row for batch in file.iter_batches(BATCH) for row in batch.to_pylist())
            size = 0  # characters of text so far
            for number, row in enumerate(rows, 1):
                values = {name: value for name, value in row.items() if value is not None}
                size += sum(len(value) for value in values.values() if isinstance(value, str))
                _check_size(size, path)  # a text stored once in the file can be in every row
                parsed_row = {name: loads(value) if name in json_columns else value for name, value in values.items()}
                yield number, _checked(parsed_row, path, number)
    except InputError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
            raise
        raise InputError("is not a Parquet file, or a broken one", path=path) from None


def _check_size(size: int, path: Path) -> None:
    if size > LARGEST:
        raise InputError(f"is larger than {LARGEST:,} bytes", path=path)


READERS: Mapping[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
}


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, from 1. Raises InputError for a line that is too long or no text."""
    with opened(path) as file:
        _check_size(os.fstat(file.fileno()).st_size, path)
        for number, line in enumerate(iter(partial(file.readline, LONGEST + 1), b""), 1):
            if len(line) > LONGEST:
                raise InputError(f"is longer than {LONGEST:,} bytes", path=path, line=number)
            yield number, decoded(line, path, number)


def _checked(row: Row, path: Path, number: int) -> Row:
    """The row itself. Raises InputError if it is empty, nested too deeply, or has values that are not JSON."""
    try:
        if not row or depth(row) > DEEPEST:
            raise ValueError
        dumps(row).encode()
    except (ValueError, TypeError, RecursionError):
        message = "is not a row: it is empty, too deep, or has values that are not JSON"
        raise InputError(message, path=path, line=number) from None
    return row


def _arrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet. Raises InputError if they are not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("Parquet needs pyarrow", hint=install_hint("parquet")) from None

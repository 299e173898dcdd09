"""Rows of a damaged database: all that are whole on its pages and in its log, whatever else is broken.

SQLite reads tables from their first page down, so one damaged page hides all pages below it. Here every page is looked
at by itself (SQLite's file format, 1.6 and 2.1); the checksum of a row says to which table it belongs.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.files.checksums import PAGE, Column, Tables, frames, intact, log_fault, named, tables_of
from otherminds.files.text import naming, opened

LEAF = 0x0D  # first byte of a page with rows of a table
MOST_LOCAL = PAGE - 35  # bytes of a row that fit on its page; what is longer goes on elsewhere
LEAST_LOCAL = (PAGE - 12) * 32 // 255 - 23
WIDTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of a value by its serial type
REAL, FIRST_BYTES = 7, 12  # serial types: a floating-point number; from here on bytes (even) and text (odd)
BAD = (ValueError, IndexError, KeyError, struct.error)  # what a row that makes no sense raises


class Recovered(NamedTuple):
    """Rows by table (without checksums), and a line for everything that is not whole."""

    rows: dict[str, list[Sequence[Any]]]
    faults: list[str]


def recovered(path: Path, schema: str) -> Recovered:
    """All rows of a database whose checksums are right. Raises InputError if the file cannot be read."""
    tables, pages = tables_of(schema), _pages(path)
    rows_by_table: dict[str, dict[Any, Sequence[Any]]] = {name: {} for name in tables}
    faults, recorded = [fault for fault in (log_fault(path),) if fault], Counter[str]()
    for number in sorted(pages.keys() - {1}):  # the first page lists the tables
        for number_of_row, row in _rows(pages, number):
            if row is None:
                faults.append(f"page {number}: a row cannot be read")
            elif len(row) == 3 and row[0] in tables and type(row[1]) is int:
                recorded[row[0]] = row[1]
            elif (home := _home(tables, number_of_row, row)) is None:
                faults.append(f"page {number}: a row does not verify: {named((), row)}")
            else:
                name, values, key = home
                rows_by_table[name].setdefault(key, values)
    for name, rows in rows_by_table.items():
        if recorded[name] != len(rows):
            faults.append(f"{name}: {len(rows):,} rows verify, of {recorded[name]:,} that are on record")
    return Recovered({name: [*rows.values()] for name, rows in rows_by_table.items()}, faults)


def _pages(path: Path) -> dict[int, bytes]:
    """The pages of a database, from 1, with the transactions in its log."""
    with naming(path), opened(path) as file:
        data, log = file.read(), path.with_name(f"{path.name}-wal")
        changes = log.read_bytes() if log.is_file() else b""
    pages = {at // PAGE + 1: data[at : at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(data), PAGE)}
    logged = dict[int, bytes]()
    for number, ends, page in frames(changes):
        logged[number] = page
        if ends:
            pages |= logged
    return pages


def _rows(pages: dict[int, bytes], number: int) -> Iterator[tuple[int, list[Any] | None]]:
    """The rows on a page of a table, each with its number; None for one that makes no sense."""
    page = pages[number]
    if page[0] != LEAF:
        return
    (count,) = struct.unpack_from(">H", page, 3)
    for index in range(min(count, (PAGE - 8) // 2)):
        try:
            at = struct.unpack_from(">H", page, 8 + 2 * index)[0]
            size, at = _varint(page, at)
            row, at = _varint(page, at)
            yield row, _values(_payload(pages, page, at, size))
        except BAD:
            yield 0, None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of SQLite's variable length, and where it ends."""
    value = 0
    for n in range(8):
        value = value << 7 | data[at + n] & 0x7F
        if data[at + n] < 0x80:
            return value, at + n + 1
    return value << 8 | data[at + 8], at + 9


def _payload(pages: dict[int, bytes], page: bytes, at: int, size: int) -> bytes:
    """The bytes of a row, which may go on on other pages."""
    if size > PAGE * len(pages):
        raise ValueError("is longer than the file")
    if size <= MOST_LOCAL:
        return page[at : at + size]
    local = LEAST_LOCAL + (size - LEAST_LOCAL) % (PAGE - 4)
    local = local if local <= MOST_LOCAL else LEAST_LOCAL
    parts, left = [page[at : at + local]], size - local
    (following,) = struct.unpack_from(">I", page, at + local)
    while left > 0:
        part = pages[following][4 : 4 + left]
        (following,) = struct.unpack_from(">I", pages[following])
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _values(payload: bytes) -> list[Any]:
    """The values of a row."""
    end, at = _varint(payload, 0)
    kinds, values, body = list[int](), list[Any](), end
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    for kind in kinds:
        width = WIDTHS[kind] if kind < len(WIDTHS) else (kind - FIRST_BYTES) // 2
        values.append(_value(kind, payload[body : body + width], width))
        body += width
    return values


def _value(kind: int, data: bytes, width: int) -> Any:
    if len(data) != width:
        raise ValueError("ends too early")
    if kind >= FIRST_BYTES:
        return data.decode() if kind % 2 else data
    if kind == REAL:
        return struct.unpack(">d", data)[0]
    if kind in (8, 9):  # the numbers 0 and 1, which take no space
        return kind - 8
    return int.from_bytes(data, signed=True) if kind else None


def _home(tables: Tables, number: int, row: Sequence[Any]) -> tuple[str, Sequence[Any], Any] | None:
    """The table whose checksum a row has, its values as they were written, and its key; None if there is none."""
    for name, columns in tables.items():
        if len(row) == len(columns) + 1:
            values = [_as_written(column, value, number) for column, value in zip(columns, row[:-1], strict=True)]
            if intact(name, columns, values, row[-1]):
                return name, values, values[0] if columns[0].kind is int or name == "about" else tuple(values[:3])
    return None


def _as_written(column: Column, value: Any, number: int) -> Any:
    """A value as it was written: SQLite stores the number of a row apart, and whole floating-point numbers as whole."""
    if value is None and column.kind is int and not column.empty:
        return number
    return float(value) if column.kind is float and type(value) is int else value

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
REAL = 7  # serial type of a floating-point number
FIRST_BYTES = 12  # serial types from here on are bytes (even) and text (odd)
BAD = (ValueError, IndexError, KeyError, struct.error)  # what a row that makes no sense raises


class Recovered(NamedTuple):
    """Rows by table (without checksums), and a line for everything that is not whole."""

    rows: dict[str, list[Sequence[Any]]]
    faults: list[str]


def recovered(path: Path, schema: str) -> Recovered:
    """All rows of a database whose checksums are right. Raises InputError if the file cannot be read."""
    tables = tables_of(schema)
    pages = _pages(path)
    rows_by_table: dict[str, dict[Any, Sequence[Any]]] = {name: {} for name in tables}
    faults = [fault for fault in (log_fault(path),) if fault]
    recorded = Counter[str]()  # number of rows of each table according to the table `totals`
    for number in sorted(pages.keys() - {1}):  # the first page lists the tables
        for number_of_row, row in _rows(pages, number):
            if row is None:
                faults.append(f"page {number}: a row cannot be read")
            elif len(row) == 3 and row[0] in tables and type(row[1]) is int:
                recorded[row[0]] = row[1]
            elif (table_row := _table_row(tables, number_of_row, row)) is None:
                faults.append(f"page {number}: a row does not verify: {named((), row)}")
            else:
                name, values, key = table_row
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
    pages = {start // PAGE + 1: data[start : start + PAGE].ljust(PAGE, b"\0") for start in range(0, len(data), PAGE)}
    logged = dict[int, bytes]()
    for number, ends, page in frames(changes):
        logged[number] = page
        if ends:
            pages |= logged
    return pages


def _rows(pages: dict[int, bytes], page_number: int) -> Iterator[tuple[int, list[Any] | None]]:
    """The rows on a page of a table, each with its number; (0, None) for one that makes no sense.

    The page has the number of its rows in bytes 3 and 4, and from byte 8 on the position of each of them.
    """
    page = pages[page_number]
    if page[0] != LEAF:
        return
    (count,) = struct.unpack_from(">H", page, 3)
    for index in range(min(count, (PAGE - 8) // 2)):
        try:
            position = struct.unpack_from(">H", page, 8 + 2 * index)[0]
            size, position = _varint(page, position)
            row_number, position = _varint(page, position)
            yield row_number, _values(_payload(pages, page, position, size))
        except BAD:
            yield 0, None


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """A number of variable length that begins at `start`, and where it ends: 7 bits a byte, all 8 of a ninth."""
    value = 0
    for n in range(8):
        value = value << 7 | data[start + n] & 0x7F
        if data[start + n] < 0x80:
            return value, start + n + 1
    return value << 8 | data[start + 8], start + 9


def _payload(pages: dict[int, bytes], page: bytes, start: int, size: int) -> bytes:
    """The bytes of a row: `size` of them from `start` on its page, or a part there and the rest on further pages.

    Each further page begins with the number of the next.
    """
    if size > PAGE * len(pages):
        raise ValueError("is longer than the file")
    if size <= MOST_LOCAL:
        return page[start : start + size]
    local = LEAST_LOCAL + (size - LEAST_LOCAL) % (PAGE - 4)
    local = local if local <= MOST_LOCAL else LEAST_LOCAL
    parts, remaining = [page[start : start + local]], size - local
    (following,) = struct.unpack_from(">I", page, start + local)
    while remaining > 0:
        part = pages[following][4 : 4 + remaining]
        (following,) = struct.unpack_from(">I", pages[following])
        parts.append(part)
        remaining -= len(part)
    return b"".join(parts)


def _values(payload: bytes) -> list[Any]:
    """The values of a row, from its bytes: the length of the header, the serial types of all values, the values."""
    header_end, position = _varint(payload, 0)
    serial_types = list[int]()
    values = list[Any]()
    value_start = header_end
    while position < header_end:
        serial_type, position = _varint(payload, position)
        serial_types.append(serial_type)
    for serial_type in serial_types:
        width = WIDTHS[serial_type] if serial_type < len(WIDTHS) else (serial_type - FIRST_BYTES) // 2
        values.append(_value(serial_type, payload[value_start : value_start + width], width))
        value_start += width
    return values


def _value(serial_type: int, data: bytes, width: int) -> Any:
    """A value from its serial type and bytes (SQLite's file format, 2.1). Raises ValueError if bytes are missing."""
    if len(data) != width:
        raise ValueError("ends too early")
    if serial_type >= FIRST_BYTES:
        return data.decode() if serial_type % 2 else data
    if serial_type == REAL:
        return struct.unpack(">d", data)[0]
    if serial_type in (8, 9):  # the numbers 0 and 1, which take no space
        return serial_type - 8
    return int.from_bytes(data, signed=True) if serial_type else None


def _table_row(tables: Tables, number: int, row: Sequence[Any]) -> tuple[str, Sequence[Any], Any] | None:
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

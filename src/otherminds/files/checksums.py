"""Checksums of the rows of a database, and the checksums of the log beside it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from otherminds.files.text import opened

SUMS = (1 << 62) - 1
"""Checksums and their sums are of 62 bits, so that two of them can be added in SQLite's signed 64 bits."""
PAGE = 4096  # bytes of a page of the databases that this library creates: SQLite's default
TYPES: Mapping[str, type] = {"TEXT": str, "INTEGER": int, "REAL": float}
SHOWN = 40  # characters of a value that are shown; chosen
HEADER = 32  # bytes of the header of a log (SQLite's file format, 4.1)
FRAME = 24  # bytes of the header of a frame, before its page
MAGIC = 0x377F0682  # of a log with little-endian checksums; with the lowest bit, big-endian


class Column(NamedTuple):
    """A column of a protected table: name, Python type of its values, and whether they may be None (`empty`)."""

    name: str
    kind: type
    empty: bool


Tables = Mapping[str, Sequence[Column]]


@cache
def tables_of(schema: str) -> Tables:
    """The protected tables of a schema, those whose last column is `checksum`, with their other columns."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(schema)
        names = [name for (name,) in base.execute("select name from sqlite_master where type = 'table'")]
        columns_by_table = {name: base.execute(f"pragma table_info({name})").fetchall() for name in names}
    return {
        name: tuple(Column(n, TYPES[kind.upper()], not (filled or key)) for _, n, kind, filled, _, key in columns[:-1])
        for name, columns in columns_by_table.items()
        if columns[-1][1] == "checksum"
    }


@cache
def objects_of(schema: str) -> Sequence[Any]:
    """The tables and indexes of a schema as `sqlite_master` lists them."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(schema)
        return objects_in(base)


def objects_in(base: sqlite3.Connection) -> Sequence[Any]:
    """All objects of a database, as `sqlite_master` lists them."""
    return base.execute("select type, name, tbl_name, sql from sqlite_master order by 1, 2, 3, 4").fetchall()


def checksum(table: str, row: Sequence[Any]) -> int:
    """The checksum of a row: 62 bits of a hash of the table's name, and of the type and value of every column.

    Raises TypeError for a value that is neither text nor a number nor null.
    """
    text = json.dumps([table, *row], ensure_ascii=False)
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) & SUMS


def intact(table: str, columns: Sequence[Column], row: Sequence[Any], stored: object) -> bool:
    """Whether a row has the types of its table, and the checksum that it is told to have."""
    fits = len(row) == len(columns) and all(
        type(value) is column.kind or (value is None and column.empty)
        for value, column in zip(row, columns, strict=True)
    )
    return fits and type(stored) is int and checksum(table, row) == stored


def named(columns: Sequence[Column], row: Sequence[Any]) -> str:
    """The beginning of a row, to name it in a message."""
    return " ".join(str(value)[:SHOWN] for value in row[: min(4, len(columns))])


# The log


def frames(log: bytes) -> Iterator[tuple[int, bool, bytes]]:
    """The frames of a log that belong to it: number of the page, whether it ends a transaction, and the page.

    Their checksums are not looked at.
    """
    salts = log[16:24]  # of the log's latest use; frames with other salts are left from an earlier one
    for start in range(HEADER, len(log) - FRAME - PAGE + 1, FRAME + PAGE):
        if log[start + 8 : start + 16] == salts:
            page_number, size = struct.unpack_from(">II", log, start)  # size > 0 marks the end of a transaction
            yield page_number, size > 0, log[start + FRAME : start + FRAME + PAGE]


def log_fault(path: Path) -> str | None:
    """What is wrong with the log of a database (its file beside the database), None if nothing is.

    SQLite ignores a log from its first wrong checksum on, and with it transactions that were on disk. A log that ends
    before its last transaction does is in order: its program was killed.
    """
    try:
        with opened(path.with_name(f"{path.name}-wal")) as file:
            log = file.read()
    except OSError:
        return None
    if len(log) < HEADER:
        return None
    (magic,) = struct.unpack_from(">I", log)
    order = ">" if magic & 1 else "<"
    sums = _running_sums(order, log[: HEADER - 8], (0, 0))
    if magic & ~1 != MAGIC or sums != struct.unpack_from(">II", log, HEADER - 8):
        return "its log has a damaged header"
    ended = False
    for number, start in enumerate(range(HEADER, len(log) - FRAME - PAGE + 1, FRAME + PAGE), 1):
        salts_match = [log[start + n : start + n + 4] == log[n + 8 : n + 12] for n in (8, 12)]
        if any(salts_match) and (ended or not all(salts_match)):
            return f"its log is damaged before frame {number}"
        if not all(salts_match):
            ended = True
            continue
        sums = _running_sums(order, log[start : start + 8] + log[start + FRAME : start + FRAME + PAGE], sums)
        if sums != struct.unpack_from(">II", log, start + 16):
            return f"its log is damaged at frame {number}"
    return None


def _running_sums(order: str, words: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """The two running checksums of a log after the 32-bit `words`, from `sums` before them (SQLite's file format, 4.2).

    Each word x adds itself and the other sum to one of the two, in turn. So it counts, from the last word on, F(0),
    F(1), F(2), … times in the first sum and F(1), F(2), F(3), … times in the second; the sums so far are two words
    before all others. `order` is the byte order, "<" or ">".
    """
    sums_as_words = np.array([sums[0], (sums[1] - sums[0]) % 2**32], np.uint32)
    all_words = np.concatenate([sums_as_words, np.frombuffer(words, f"{order}u4").astype(np.uint32)])[::-1]
    times = _fibonacci(len(all_words) + 1)
    return int(times[:-1] @ all_words), int(times[1:] @ all_words)


@cache
def _fibonacci(count: int) -> npt.NDArray[np.uint32]:
    """The first Fibonacci numbers F(0), F(1), …, without what is beyond 32 bits."""
    numbers = [0, 1]
    while len(numbers) < count:
        numbers.append(sum(numbers[-2:]) % 2**32)
    return np.array(numbers, np.uint32)

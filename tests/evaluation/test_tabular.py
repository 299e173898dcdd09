"""Rows as files: whatever rows there are come back the same, and whatever is wrong is told in one line."""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.evaluation import tabular
from otherminds.evaluation.store import Store
from otherminds.evaluation.tabular import each_numbered, read_rows, write_csv, write_jsonl, write_parquet
from run_files import damage

Row = dict[str, Any]
Write = Callable[[Path, list[Row]], None]
WRITERS: dict[str, Write] = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1")
ODD = (
    "",
    "'",
    "''",
    "'=1",
    "1",
    "1e5",
    "true",
    "TRUE",
    "FALSE",
    "null",
    "NaN",
    '"x"',
    "[1]",
    "{}",
    "a,b",
    'a"b',
    "a\nb",
)

if find_spec("pyarrow") is None:
    WRITERS.pop("parquet")

texts = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from((*FORMULAS, *ODD)))
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
columns = st.one_of(texts, st.sampled_from(("a", "b", "posterior", "t")))


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Rows, some columns of which are of one type throughout, as most are."""
    uniform = {name: draw(st.sampled_from((st.integers(), st.booleans(), texts))) for name in ("a", "b")}
    rows = draw(st.lists(st.dictionaries(columns, values, min_size=1, max_size=4), max_size=5))
    return [{name: draw(uniform[name]) if name in uniform else row[name] for name in row} for row in rows]


def same(a: Any, b: Any) -> bool:
    """Whether values are the same, types included: 1, 1.0 and True are not."""
    return a == b and json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=tables())
def test_rows_come_back_the_same(tmp_path: Path, form: str, rows: list[Row]) -> None:
    path = tmp_path / f"rows.{form}"
    WRITERS[form](path, rows)
    assert same(read_rows(path), rows)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("text", [*FORMULAS, *ODD])
def test_text_that_looks_like_something_else_stays_text(tmp_path: Path, form: str, text: str) -> None:
    path = tmp_path / f"rows.{form}"
    rows = [{"words": text, text or "x": "y"}, {"words": "plain"}]
    WRITERS[form](path, rows)
    assert same(read_rows(path), rows)


@pytest.mark.parametrize("text", [*FORMULAS, "'x"])
def test_no_cell_is_a_formula(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, [{text: text, "nested": {"a": text}}])
    with path.open(newline="", encoding="utf-8") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert cells[:3] == [f"'{text}", "nested", f"'{text}"]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in cells)


def test_plain_text_and_numbers_look_like_themselves_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, [{"who": "Ana", "t": 3, "saves": -1.5, "done": True}, {"who": "Ben", "posterior": {"a": 0.5}}])
    assert path.read_bytes().decode().split("\r\n") == [
        "who,t,saves,done,posterior",
        "Ana,3,-1.5,true,",
        'Ben,,,,"{""a"": 0.5}"',
        "",
    ]


def test_empty_text_is_an_empty_cell_in_csv_and_no_missing_value(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows: list[Row] = [
        {"action": "", "why": 'a,"",b', "t": 1},
        {"action": 'x\n"",', "why": ""},
        {"why": '"', "t": 2},
        {"action": ""},
    ]
    write_csv(path, rows)
    with path.open(newline="", encoding="utf-8") as file:
        cells = list(csv.reader(file))
    assert [line[0] for line in cells] == ["action", "", 'x\n"",', "", ""]
    assert [line[1] for line in cells] == ["why", 'a,"",b', "", '"', ""]
    assert path.read_bytes().decode().split("\r\n")[-2] == '"",,'
    assert same(read_rows(path), rows)


def test_a_spreadsheet_saves_an_empty_text_as_a_missing_value(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write_csv(path, [{"action": "", "t": 1}])
    path.write_bytes(path.read_bytes().replace(b'""', b""))
    assert same(read_rows(path), [{"t": 1}])


def test_names_that_look_like_numbers_are_plain_text_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows: list[Row] = [{"episode": name, "block": "1", "words": "0"} for name in ("0", "1e5", "true", "=1", "", '"x"')]
    write_csv(path, rows)
    assert path.read_text().splitlines()[:2] == ["episode,block,words", "0,1,'0"]
    assert "\n'=1,1" in path.read_text()
    assert same(read_rows(path), rows)


def test_what_a_spreadsheet_makes_of_truth_and_empty_lines_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("\ufeffdone,t\r\nTRUE,1\r\n,\r\n\r\nFALSE,2\r\n".encode())
    found = list(each_numbered(path))
    assert [number for number, _ in found] == [2, 5]
    assert same([row for _, row in found], [{"done": True, "t": 1}, {"done": False, "t": 2}])


def test_columns_of_one_type_are_typed_in_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    write_parquet(path, [{"t": 1, "ms": 0.5, "who": "Ana", "done": True, "mixed": 1}, {"t": 2, "mixed": "x", "n": [1]}])
    schema = parquet.read_schema(path)
    found = {field.name: str(field.type) for field in schema}
    assert found == {"t": "int64", "ms": "double", "who": "string", "done": "bool", "mixed": "string", "n": "string"}


def test_a_run_stands_for_its_rows_and_not_for_the_file_beside_them(tmp_path: Path) -> None:
    rows: list[Row] = [{"condition": "c", "subject": "s", "episode": "e", "t": t} for t in range(2)]
    with Store(tmp_path, "run") as store:
        store.replace(rows)
    write_jsonl(tmp_path / "rows.jsonl", [{"t": 7}])
    assert list(each_numbered(tmp_path)) == [(1, rows[0]), (2, rows[1])]
    with Store(tmp_path, "run") as store:
        store.replace([{**rows[0], "t": float("nan")}])
    with pytest.raises(InputError, match=r"^[^\n]*:1: is not a row"):
        read_rows(tmp_path)
    damage(tmp_path / "run.db", "update episodes set rows = replace(rows, 'NaN', '1')")
    with pytest.raises(InputError, match=r"^[^\n]*run\.db: is damaged: a row of episodes"):
        read_rows(tmp_path)
    (tmp_path / "run.db").unlink()
    with pytest.raises(InputError, match=r"^[^\n]*: holds no run"):
        read_rows(tmp_path)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(
    "row",
    [{"x": float("nan")}, {"x": float("inf")}, {"x": {1, 2}}, {"x": b"a"}, {1: "x"}, {"x": "\ud800"}, {}, {"x": (1,)}],
    ids=["nan", "infinite", "set", "bytes", "key", "surrogate", "empty", "tuple"],
)
def test_what_cannot_be_read_again_is_not_written(tmp_path: Path, form: str, row: Row) -> None:
    path = tmp_path / f"rows.{form}"
    with pytest.raises(InputError, match=r"row 2 cannot be written as JSON"):
        WRITERS[form](path, [{"x": 1}, row])
    assert not path.exists()


@pytest.mark.parametrize("form", WRITERS)
def test_nothing_is_written_where_nothing_can_be(tmp_path: Path, form: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        WRITERS[form](tmp_path / "no" / f"rows.{form}", [{"x": 1}])


def test_limits_are_kept_when_writing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1 has a cell of more than 131,072 characters"):
        write_csv(tmp_path / "rows.csv", [{"x": "y" * 131_073}])
    with pytest.raises(InputError, match="longer than 1,000,000 bytes"):
        write_jsonl(tmp_path / "rows.jsonl", [{"x": "ä" * 500_000}])
    write_csv(tmp_path / "rows.csv", [{"x": "y" * 131_072}])
    assert read_rows(tmp_path / "rows.csv") == [{"x": "y" * 131_072}]


BAD: dict[str, tuple[str, bytes, str]] = {
    "no json": ("jsonl", b'{"t": 1}\nx\n', r":2: is not a row"),
    "torn": ("jsonl", b'{"t": 1}\n{"t": ', r":2: is not a row"),
    "a list": ("jsonl", b"[1]\n", r":1: is not a row"),
    "an empty line": ("jsonl", b'{"t": 1}\n\n{"t": 2}\n', r":2: is not a row"),
    "an empty row": ("jsonl", b"{}\n", r":1: is not a row"),
    "a name twice": ("jsonl", b'{"t": 1, "t": 2}\n', r":1: is not a row"),
    "nan": ("jsonl", b'{"t": NaN}\n', r":1: is not a row"),
    "too large a number": ("jsonl", b'{"t": 1e999}\n', r":1: is not a row"),
    "half a character": ("jsonl", b'{"t": "\\ud800"}\n', r":1: is not a row"),
    "many digits": ("jsonl", b'{"t": ' + b"9" * 5000 + b"}\n", r":1: is not a row"),
    "deep": ("jsonl", b'{"t": ' + b"[" * 30 + b"]" * 30 + b"}\n", r":1: is not a row"),
    "very deep": ("jsonl", b'{"t": ' + b"[" * 100_000 + b"}\n", r":1: is not a row"),
    "latin": ("jsonl", b'{"t": 1}\n{"t": "\xe4"}\n', r":2: is not UTF-8"),
    "a long line": ("jsonl", b'{"t": 1}\n' + b" " * 1_000_001, r":2: is longer than 1,000,000 bytes"),
    "a cell too many": ("csv", b"a,b\r\n1,2\r\n1,2,3\r\n", r":3: 3 cells for 2 columns"),
    "an open quote": ("csv", b'a,b\r\n1,2\r\n1,"2\r\n', r":3: is not CSV"),
    "a cell that overflows": ("csv", b"a,b\r\n1,2\r\n1,1e999\r\n", r":3: is not a row"),
    "a cell that is no number": ("csv", b"a\r\nNaN\r\n", r":2: is not a row"),
    "a list in a cell that overflows": ("csv", b'a\r\n"[1, -1e999]"\r\n', r":2: is not a row"),
    "a stray quote": ("csv", b'a,b\r\n1,"2"x\r\n', r":2: is not CSV"),
    "a column twice": ("csv", b"a,a\r\n1,2\r\n", r":1: the column `a` comes twice"),
    "a huge cell": ("csv", b"a\r\n" + b"x" * 200_000 + b"\r\n", r":2: is not CSV"),
    "no parquet": ("parquet", b"PAR1 nothing of the kind PAR1", r"is not a Parquet file"),
    "nothing at all": ("parquet", b"", r"is not a Parquet file"),
    "another suffix": ("xlsx", b"", r"is not a file of rows .*\.jsonl, \.csv, \.parquet"),
}


@pytest.mark.parametrize(("form", "content", "said"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_told_in_a_line(tmp_path: Path, form: str, content: bytes, said: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"rows.{form}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read_rows(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["no.jsonl", "no.csv", "no.parquet"])
def test_files_that_are_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_rows(tmp_path / name)


def test_there_is_a_most_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "MOST", 3)
    for form, write in WRITERS.items():
        write(tmp_path / f"rows.{form}", [{"t": t} for t in range(4)])
        with pytest.raises(InputError, match="more than 3 rows"):
            read_rows(tmp_path / f"rows.{form}")
        write(tmp_path / f"rows.{form}", [{"t": t} for t in range(3)])
        assert len(read_rows(tmp_path / f"rows.{form}")) == 3


def test_what_other_programs_write_into_parquet_has_to_be_json_too(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"t": [1, 2], "n": [[1], None]}), path)
    assert read_rows(path) == [{"t": 1, "n": [1]}, {"t": 2}]
    parquet.write_table(arrow.table({"t": [1.0, float("nan")]}), path)
    with pytest.raises(InputError, match=r":2: is not a row"):
        read_rows(path)
    parquet.write_table(arrow.table({"t": [b"x"]}), path)
    with pytest.raises(InputError, match=r":1: is not a row"):
        read_rows(path)


def test_parquet_is_asked_for_if_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    for use in (lambda p: write_parquet(p, [{"t": 1}]), read_rows):
        with pytest.raises(InputError, match=r"needs pyarrow \(in the checkout: pip install -e '\.\[parquet\]'\)"):
            use(tmp_path / "rows.parquet")


@pytest.mark.parametrize("form", WRITERS)
def test_damaged_files_never_break_the_reader(tmp_path: Path, form: str) -> None:
    path, rng = tmp_path / f"rows.{form}", random.Random(1)
    rows = [{"t": t, "who": "Ana", "said": "=1", "posterior": {"x": 0.5, "y": 0.5}, "ms": 0.1 * t} for t in range(12)]
    WRITERS[form](path, rows)
    whole = path.read_bytes()
    said = []
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(damaged))
            damaged[k : k + rng.randrange(4)] = bytes(rng.randrange(256) for _ in range(rng.randrange(4)))
        path.write_bytes(damaged[: rng.randrange(1, len(damaged))] if rng.random() < 0.2 else damaged)
        try:
            read_rows(path)
        except InputError as error:
            said.append(str(error))
    assert len(said) > 30
    assert not any("\n" in line for line in said)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_nul_byte_is_no_text(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"rows.{form}"
    path.write_bytes(b"a,b\n1,x\0y\n" if form == "csv" else b'{"a": 1}\n{"a": "x\0"}\n')
    with pytest.raises(InputError, match=r":2: holds a NUL byte"):
        read_rows(path)

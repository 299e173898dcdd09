"""Strict JSON: unique names, finite numbers, and errors with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from otherminds.errors import InputError
from otherminds.files.strict_json import RepeatedNameError, depth, dumps, loads, parse


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "é\n", [], {}, {"a": [{"b": None}], "c": "d"}])
def test_values_are_read_as_they_were_written(value: object) -> None:
    assert loads(dumps(value)) == parse(dumps(value)) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes"])
def test_values_that_json_does_not_have_are_not_written(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        dumps(value)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "-1e999", "9" * 10_000, "[" * 100_000, "", "{", "{'a': 1}"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        loads(text)
    with pytest.raises(InputError, match=r"rows\.jsonl:7"):
        parse(text, Path("rows.jsonl"), 7)


def test_a_name_is_given_once_in_an_object() -> None:
    assert loads('{"a": {"a": 1}}') == {"a": {"a": 1}}
    with pytest.raises(RepeatedNameError, match="`a`"):
        loads('{"b": {"a": 1, "a": 1}}')


def test_errors_name_the_line_and_the_column() -> None:
    with pytest.raises(InputError, match=r"^x\.json:5:5: is not JSON"):
        parse('{"a":\n    !}', Path("x.json"), 4)
    with pytest.raises(InputError, match=r"^x\.json:3: `a` is given twice"):
        parse('{"a": 1, "a": 2}', Path("x.json"), 3)
    with pytest.raises(InputError, match=r"^x\.json: `a` is given twice"):
        parse('{"a": 1,\n "a": 2}', Path("x.json"))


def test_depth_counts_lists_and_objects() -> None:
    assert [depth(value) for value in (1, "a", [], {}, [[1]], {"a": [{"b": 2}]})] == [0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_limited_whatever_the_parser_can_read(start: str, end: str) -> None:
    assert depth(parse(start * 200 + "1" + end * 200)) == 200
    for text in (start * 201 + "1" + end * 201, start * 201):
        with pytest.raises(InputError, match="is nested too deeply"):
            parse(text)


def test_brackets_count_only_while_they_are_open_and_outside_texts() -> None:
    values: list[object] = [[[]] * 2000, "[{" * 2000, ['"[' * 2000, "\\"], {"[" * 2000: []}]
    for value in values:
        assert loads(dumps(value)) == value

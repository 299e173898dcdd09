"""What came of a command, and what is expected of it: shared by tests of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def fine(result: Result) -> str:
    assert (result.code, result.err) == (0, "")
    return result.out


def complaint(result: Result, said: str) -> None:
    """Exit code 2, nothing but one line, on standard error."""
    assert "Traceback" not in result.err
    assert result.code == 2
    assert result.out == ""
    assert re.fullmatch(r"otherminds: [^\n]*\n", result.err)
    assert re.search(said, result.err)
    assert all(c.isprintable() for c in result.err[:-1])


def without_estimate(result: Result) -> Result:
    """Without the lines that say what a model will be asked."""
    return result._replace(err=re.sub(r"[^\n]*: \d+ calls, about [^\n]*\n", "", result.err))

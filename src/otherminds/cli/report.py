"""Binding what several experiments found into one report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from otherminds.reports.results import Results

TOUR = "check"


def toured(folder: Path, seed: int, console: Console) -> dict[str, Results]:
    """Let the smallest language model play beside known players, if it is on this machine; else nothing is found."""
    from otherminds.cli.asking import asking
    from otherminds.language.find import DEFAULT
    from otherminds.language.weights import intact, pinned_model
    from otherminds.papers.functional.checking import CheckOptions, check_as_asked

    try:
        import xllamacpp  # noqa: F401
    except ImportError:
        return {}
    if not intact(pinned_model(DEFAULT)):
        return {}
    console.print("A language model beside known players:", style="dim")
    spoken = asking("", None, None, "none", 1, None, None, None, 1)
    results = check_as_asked(CheckOptions(folder / TOUR, spoken, seed=seed)).results
    return {TOUR: results} if results else {}


def bound(folder: Path, found: Mapping[str, Results], console: Console) -> None:
    """Write one report about everything, and say where it is."""
    from otherminds.reproduce.combined_report import write_book

    path = write_book(folder, found)
    console.print(f"\nEverything in one report: {path}", style="bold", markup=False, soft_wrap=True)

"""`otherminds runs`, `resume`, `report`, `export` and `merge`: runs on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from typer import Argument, Option

from otherminds.cli.lists import open_in_browser
from otherminds.cli.options import (
    TARGET_MISSED,
    UNKNOWN,
    BudgetOption,
    EngineOption,
    JsonOption,
    MostCallsOption,
    OpenOption,
    PriceOption,
)
from otherminds.cli.reproduce import CHECK, combine, exit_by_verdict, print_verdicts, reproduced
from otherminds.errors import InputError
from otherminds.files.text import printable, write_whole

if TYPE_CHECKING:
    from otherminds.evaluation.runs import Run
    from otherminds.reports.results import Results

RUNS = Path("runs")

RunArgument = Annotated[Path, Argument(metavar="RUN", help="The folder of a run.")]
NamedOption = Annotated[
    list[str] | None, Option("--model", metavar="SPEC", help="The run's model, if code or an address: you trust it.")
]
FROZEN: dict[str, Any] = {"frozen": True, "engine": None}


def runs(
    folder: Annotated[Path, Argument(metavar="[FOLDER]", help="A run, or a folder with runs.")] = RUNS,
    salvage: Annotated[
        Path | None, Option(metavar="OUT", help="Write what is whole of a damaged run into a new folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List runs: how far they are, and what they cost.

    Of a single run: what failed, calls to language models without an answer, and its digest, to compare with the one
    that was printed when it was finished.

    Example: otherminds runs
    """
    from otherminds.evaluation.runs import digest, look, runs_in
    from otherminds.evaluation.runs import salvage as saved
    from otherminds.evaluation.store import FILE
    from otherminds.reports.terminal.tables import run_details, runs_table

    console = Console()
    wrong: list[str] = []
    if salvage is not None:
        wrong = saved(folder, salvage)
        run = look(salvage)
        typer.echo(f"{salvage}: {run.finished:,} of {run.planned:,} episodes, {run.answered.calls:,} answered calls")
        wrong = [f"not saved: {fault}" for fault in wrong] or ["nothing is damaged"]
    elif (folder / FILE).exists():
        run = look(folder)
        if as_json:
            typer.echo(json.dumps(_as_data(run) | {"digest": digest(folder)}, ensure_ascii=False))
        else:
            console.print(run_details(run, digest(folder)))
    else:
        readable_runs = []
        for run_folder in runs_in(folder):
            try:
                readable_runs.append(look(run_folder))
            except InputError as error:
                wrong.append(str(error))
        if as_json:
            typer.echo(json.dumps([_as_data(run) for run in readable_runs], ensure_ascii=False))
        else:
            console.print(runs_table(readable_runs, folder))
    for complaint in wrong:
        console.print(printable(complaint), markup=False, highlight=False, soft_wrap=True)
    if wrong and salvage is None:
        raise typer.Exit(TARGET_MISSED)


def _as_data(run: Run) -> dict[str, Any]:
    """How far a run is, as JSON data."""
    return {
        "folder": str(run.folder),
        "name": run.name,
        "state": run.state,
        "begun": run.begun,
        "version": run.version,
        "episodes": run.finished,
        "planned": run.planned,
        "failed": len(run.failures),
        "calls": run.answered.calls,
        "uncertain": len(run.uncertain),
        "dollars": run.dollars,
    }


def resume(
    folder: RunArgument,
    jobs: Annotated[int | None, Option(min=1, max=256, metavar="N", help="Processes.")] = None,
    engine: EngineOption = None,
    model: NamedOption = None,
    price: PriceOption = None,
    budget: BudgetOption = None,
    most_calls: MostCallsOption = None,
    at_once: Annotated[
        int | None, Option(min=1, max=64, metavar="N", help="Episodes at the same time (servers).")
    ] = None,
) -> None:
    """Go on with a run that was interrupted, with its own options.

    Nothing that is done is done again.

    Example: otherminds resume runs/functional-20260131-090000 --budget 20
    """
    from otherminds.language.prices import Price

    paid = None if price in (None, UNKNOWN) else Price.parse(price)
    money = _given(price=paid, budget=budget, most_calls=most_calls, at_once=at_once)
    _again(folder, model, {"engine": engine, **_given(jobs=jobs)}, money)


def _given(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def report(folder: RunArgument, model: NamedOption = None, open_page: OpenOption = False) -> None:
    """Write the report of a finished run again, or of several.

    Nothing is played, and nobody is asked. Each run of a folder gets its report, and the experiments one about all; the
    page of a benchmark stays as it is.

    Example: otherminds report runs/functional-20260131-090000
    """
    from otherminds.evaluation.runs import runs_in
    from otherminds.evaluation.store import FILE
    from otherminds.reproduce.bench import NAME as BENCHMARK

    several = [] if (folder / FILE).exists() else sorted(runs_in(folder))
    for run in (run for run in several or [folder] if run.is_dir() and not os.access(run, os.W_OK)):
        raise InputError("cannot be written, and a report is written into it", path=run, hint="copy the run elsewhere")
    reported = [_reported(run, model, FROZEN) for run in several or [folder]]
    results_by_name = {name: results for name, results in reported if results}
    combined = several and {*results_by_name} != {CHECK} and not (folder / BENCHMARK).exists()
    for name in results_by_name:
        if (count := sum(reported_name == name for reported_name, _ in reported)) > 1:
            more = "; the report about all has the last of them" if combined else ""
            typer.echo(f"{count} runs of {name}: each has its own report{more}.")
    if combined:
        combine(folder, results_by_name, Console())
    if open_page:
        open_in_browser((several[-1] if several and not combined else folder) / "report.html")


def _reported(folder: Path, model_specs: Sequence[str] | None, changes: dict[str, Any]) -> tuple[str, Results | None]:
    """The experiment's name and its results. Raises InputError, also for rows that are not of such a run."""
    try:
        return _again(folder, model_specs, changes)
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise InputError(f"its rows make no report: {type(error).__name__}: {error}", path=folder) from error


def _again(
    folder: Path, model_specs: Sequence[str] | None, changes: dict[str, Any], money: Mapping[str, Any] | None = None
) -> tuple[str, Results | None]:
    """Repeat the command that began a run, with its options and `changes`. Returns the experiment's name and results.

    Raises InputError if the folder does not say how it was begun, or names code that must be named again.
    """
    from otherminds.evaluation.experiment import Options
    from otherminds.evaluation.how_begun import begun, trusted
    from otherminds.evaluation.runs import look

    how, model_specs, money = begun(look(folder).about, folder), model_specs or (), money or {}
    asks = not changes.get("frozen", False)
    if how.command == "check":
        from otherminds.papers.functional.check import CheckOptions, check_as_asked

        check = how.read(CheckOptions, folder)
        trusted(how.models, model_specs, folder, asks=asks)
        checked = check_as_asked(replace(check, frozen=not asks, asking=replace(check.asking, **money)))
        print_verdicts(checked, folder)
        if asks:
            exit_by_verdict(checked)
        return CHECK, checked.results
    options = replace(how.read(Options, folder), **changes)
    if options.asking is not None:
        trusted(how.models, model_specs, folder, asks=asks)
        options = replace(options, asking=replace(options.asking, **money))
    return how.name, reproduced(how.name, options, Console())


def export(
    folder: RunArgument,
    file: Annotated[Path, Argument(metavar="FILE", help="Where to write: .jsonl, .csv or .parquet.")],
    what: Annotated[
        Literal["rows", "calls"],
        Option(metavar="WHAT", help="rows, or calls: all calls to models (.jsonl), to be replayed."),
    ] = "rows",
) -> None:
    """Write the rows of a run, or its calls to models, to a file.

    Example: otherminds export runs/functional-20260131-090000 rows.parquet
    """
    from otherminds.evaluation.runs import exported_calls, exported_rows
    from otherminds.evaluation.tabular import write_csv, write_jsonl, write_parquet

    writers = {".jsonl": write_jsonl, ".csv": write_csv, ".parquet": write_parquet}
    if (what == "calls" and file.suffix != ".jsonl") or file.suffix not in writers:
        kinds = ".jsonl" if what == "calls" else ", ".join(writers)
        raise InputError("is no file to export to", path=file, hint=f"its name ends in {kinds}")
    if what == "calls":
        write_whole(file, exported_calls(folder))
    else:
        writers[file.suffix](file, exported_rows(folder))
    typer.echo(f"Written: {file}")


def merge(
    out: Annotated[Path, Argument(metavar="OUT", help="A new folder.")],
    shards: Annotated[list[Path], Argument(metavar="SHARD...", help="The folders of all shards.")],
    model: NamedOption = None,
) -> None:
    """Put the shards of a run together, and write the report.

    Example: otherminds merge runs/all runs/first runs/second runs/third
    """
    from otherminds.evaluation.runs import merge as put_together

    put_together(shards, out)
    _reported(out, model, {**FROZEN, "shard": (1, 1)})

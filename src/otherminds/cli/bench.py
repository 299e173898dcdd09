"""`otherminds bench`: all that can be measured about a language model, on one page."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer import Option

from otherminds.cli.lists import open_in_browser
from otherminds.cli.options import (
    TOO_FEW,
    JsonOption,
    ModelOptions,
    OpenOption,
    SeedOption,
    model_option,
    with_options,
)

if TYPE_CHECKING:
    from otherminds.reproduce.bench import BenchOptions
    from otherminds.reproduce.bench_page import Benchmark


@dataclass(frozen=True)
class WhatIsMeasured:
    """The model, the data of public sets, the seed, and where the results go."""

    model: Annotated[str, model_option(metavar="NAME", help="gpt-4o, ollama:NAME, URL, embedded, module:object, …")]
    out: Annotated[Path | None, Option(metavar="FOLDER", help="Resumes what is there. Default: runs/bench-TIME.")] = (
        None
    )
    seed: SeedOption = 42
    data: Annotated[Path | None, Option(metavar="PATH", help="A folder with files of public sets of stories.")] = None

    def options(self, how: ModelOptions) -> BenchOptions:
        """The options of the benchmark. Raises InputError for a model that cannot be asked, and for wrong limits."""
        from otherminds.language.availability import check_model

        model = check_model(self.model, asks=how.replay is None)
        asking = how.asking([model], model=model, shuffle="both")  # as a check shuffles names between episodes
        from otherminds.reproduce.bench import BenchOptions

        out = self.out or Path("runs") / f"bench-{time.strftime('%Y%m%d-%H%M%S')}"
        return BenchOptions(out, asking, self.seed, self.data)


@with_options
def bench(
    *,
    measured: WhatIsMeasured,
    model_options: ModelOptions,
    open_page: OpenOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a language model: games, helping, stories, on one page.

    Beside it stand players that are known exactly, people and published models. What it will take is told first. The
    same command with the same --out goes on where it ended. Exit code 4: some part could not be measured, and the page
    says why.

    Example: otherminds bench --model embedded --out runs/smollm2
    """
    options = measured.options(model_options)
    from otherminds.reproduce.bench import bench as measure
    from otherminds.reproduce.bench_page import unmeasured

    benchmark = measure(options)
    if as_json:
        typer.echo(json.dumps(_as_data(benchmark), ensure_ascii=False))
    else:
        _print(benchmark, options.out)
    if open_page:
        open_in_browser(options.out / "report.html")
    if unmeasured(benchmark):
        raise typer.Exit(TOO_FEW)


def _print(benchmark: Benchmark, folder: Path) -> None:
    """Print the verdict, a table of all figures, and what was not measured."""
    from otherminds.reports.terminal import tables
    from otherminds.reproduce.bench_page import line_of, measures, sentences, unmeasured

    console = Console()
    for sentence in sentences(benchmark):
        console.print(sentence, markup=False, highlight=False)
    console.print(tables.measures([line_of(row) for row in measures(benchmark)]))
    for sentence in unmeasured(benchmark):
        console.print(f"Not measured: {sentence}", markup=False, highlight=False)
    console.print(f"Report: {folder / 'report.html'}", markup=False, soft_wrap=True)


def _as_data(benchmark: Benchmark) -> dict[str, Any]:
    """The benchmark as JSON data: the verdict of the check, all figures, and what was not measured."""
    from otherminds.reproduce.bench_page import CHECK, PARTS, measures

    checked = benchmark.results.get(CHECK)
    finding = checked.finding if checked else None
    verdict = {} if finding is None else {"result": finding.verdict.result, **finding.verdict._asdict()}
    habits = [] if finding is None else [probe.name for probe in finding.probes if probe.is_habit]
    return {
        "model": benchmark.model,
        "seed": benchmark.seed,
        "verdict": verdict,
        "habits": habits,
        "measures": measures(benchmark),
        "not_measured": {part: why for part in PARTS if (why := benchmark.unmeasured(part))},
        "calls": {part: run.answered._asdict() for part, run in benchmark.runs.items()},
    }

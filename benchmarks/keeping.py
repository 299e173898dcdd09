"""Storing a benchmark's figures as rows of the JSON file docs/stored/benchmarks.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

Figures = Mapping[tuple[str, str], float]


def option(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be told where to keep its figures."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file, beside other ones")


def keep(file: Path | None, benchmark: str, figures: Figures) -> None:
    """Put figures, known by what they are of and what was measured, into a file, in the place of earlier ones."""
    if file is None:
        return
    rows = json.loads(file.read_text("utf-8")) if file.exists() else []
    values = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in rows}
    values |= {(benchmark, *key): float(f"{value:.6g}") for key, value in figures.items()}
    names = ("experiment", "condition", "subject", "metric", "value")
    lines = (
        json.dumps(dict(zip(names, ("benchmarks", *key, values[key]), strict=True)), ensure_ascii=False)
        for key in sorted(values)
    )
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")

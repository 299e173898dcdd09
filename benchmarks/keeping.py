"""Storing a benchmark's figures as rows of the JSON file docs/stored/benchmarks.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

Found = Mapping[tuple[str, str], float]


def option(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be told where to keep its figures."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file, beside other ones")


def keep(file: Path | None, benchmark: str, found: Found) -> None:
    """Put figures, known by what they are of and what was measured, into a file, in the place of earlier ones."""
    if file is None:
        return
    rows = json.loads(file.read_text("utf-8")) if file.exists() else []
    values = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in rows}
    values |= {(benchmark, *what): float(f"{value:.6g}") for what, value in found.items()}
    names = ("experiment", "condition", "subject", "metric", "value")
    lines = (
        json.dumps(dict(zip(names, ("benchmarks", *what, values[what]), strict=True)), ensure_ascii=False)
        for what in sorted(values)
    )
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")

"""Figures in README and docs: whatever was measured is quoted from a stored result, and checked against it.

    python docs/figures.py                     # what differs, a line each; exits with 1 if anything does
    python docs/figures.py --write             # put the stored figures into the pages
    python docs/figures.py RUN_FOLDER NAME     # store the summary of a run in docs/stored/NAME.json

docs/figures.toml says how each result is measured and what is quoted where. A figure is {SOURCE:KEY:PICTURE}. SOURCE is
a file of docs/stored, or `published`; KEY is condition:subject:metric, of what is published experiment:condition:…, and
with * the mean of all such figures; PICTURE has zeros for digits, as `0.00 [0.00, 0.00]`, `0 % [0, 0]`, `.000 ± .000`,
or is `n`; with % in front it is a hundred times as much, and with ? at the end it may be absent. {command:NAME} is the
command by which NAME is measured.
"""

from __future__ import annotations

import fnmatch
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from otherminds.papers.hypothetical_minds import experiment as hypothetical
from otherminds.reports.page import number
from otherminds.reports.results import figures

ROOT, BOOK = Path(__file__).parents[1], "docs/figures.toml"
NEWLINE = "\n"
Book = dict[str, Any]
PLACEHOLDER = re.compile(r"\{([^{}]+):([^{}:]+)\}")
ZEROS = re.compile(r"0?\.0+|0")
NUMBER = r"[−-]?[\d,]*\.?\d+"
BLOCK = re.compile(r"(?<=<!-- figures: )([\w-]+) -->\n(.*?)(?=<!-- end -->)", re.DOTALL)
UNITS = r"%|×|±|[µmn]?s|[kMG]B|(?:milli)?seconds?|minutes?|hours?|(?:\w+ )?a (?:CPU )?second"
MEASURED = re.compile(
    r"(?<![\w.§])(?<![A-Za-z]-)(?:\d[\d,]*\.\d+|\.\d+|\d{1,3}(?:,\d{3})+|(?<=±\s)\d+"
    rf"|\d+(?=\s(?:{UNITS})(?!\w)))(?!\w|\.\d)"
)
NOT_PROSE = re.compile(
    r"^ *(?P<fence>```|~~~).*?^ *(?P=fence)|(?<=\n\n)(?:    [^\n]*\n|\n(?=    ))+|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)|https?://\S+",
    re.DOTALL | re.MULTILINE,
)


class Figure(NamedTuple):
    """A measured or published value, its interval (or ± its standard error, where that is printed), and of how many."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


class Span(NamedTuple):
    """A place in a text, what should stand there, and why."""

    start: int
    end: int
    new: str
    why: str

    def differs(self, text: str) -> bool:
        """Whether something else stands there; lines may be broken anywhere."""
        return text[self.start : self.end].split() != self.new.split()


def read_book(root: Path) -> Book:
    """What figures.toml says, and all figures by their keys."""
    return tomllib.loads((root / BOOK).read_text("utf-8")) | {"figures": dict([*_published(), *_stored(root)])}


def _stored(root: Path) -> Iterator[tuple[str, Figure]]:
    for path in sorted((root / "docs" / "stored").glob("*.json")):
        for row in json.loads(path.read_text("utf-8")):
            key = ":".join((path.stem, row["condition"], row["subject"], row["metric"]))
            yield key, Figure(row["value"], row.get("low"), row.get("high"), row.get("n"))


def _published() -> Iterator[tuple[str, Figure]]:
    for one in figures().published:
        margin = one.margin if one.error is None else one.error
        bounds = () if margin is None else (one.value - margin, one.value + margin)
        yield (
            ":".join(("published", one.experiment, one.condition, one.subject, one.metric)),
            Figure(one.value, *bounds),
        )
    for scenario, agents in hypothetical.published().items():
        for agent, (value, error) in agents.items():
            yield f"published:hypothetical:{scenario}:{agent}:score", Figure(value, value - error, value + error)


def drawn(figure: Figure, picture: str) -> str:
    """A figure as in the picture."""
    if picture == "n":
        return number(figure.n, 0)
    scale, (value, low, high, _) = 100 if "%" in picture else 1, figure
    margin = None if low is None or high is None else (high - low) / 2
    values = iter((value, margin) if "±" in picture else (value, low, high))

    def digits(zeros: re.Match[str]) -> str:
        value, decimals = next(values), zeros[0].partition(".")[2]
        text = number(None if value is None else scale * value, len(decimals))
        return re.sub(r"^(−?)0(?=\.)", r"\1", text) if zeros[0].startswith(".") else text

    return ZEROS.sub(digits, picture.removeprefix("%"))


def filled(book: Book, key: str, picture: str) -> str:
    """What stands in the place of a placeholder. Raises KeyError if there is no such figure."""
    if key == "command":
        return f"`{book['commands'][picture]}`"
    if "*" in key:
        values = [book["figures"][name].value for name in fnmatch.filter(book["figures"], key)]
        return drawn(Figure(fmean(values)), picture)
    if picture.endswith("?") and key not in book["figures"]:
        return ""
    return drawn(book["figures"][key], picture.removesuffix("?"))


def table(book: Book, name: str) -> str:
    """A table of figures.toml in Markdown; a row is a text, or what takes the places of $1, $2, … in `row`."""
    spec = book["tables"][name]
    lines = [spec["head"], " | ".join(["---"] * (spec["head"].count("|") + 1))]
    for row in spec["rows"]:
        line = row if isinstance(row, str) else re.sub(r"\$(\d)", lambda found: row[int(found[1]) - 1], spec["row"])  # noqa: B023
        lines.append(PLACEHOLDER.sub(lambda found: filled(book, found[1], found[2]), line))
    return "\n".join(f"| {line} |" for line in lines)


def _literal(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def pattern(says: str) -> re.Pattern[str]:
    """Whatever says this with any figures, wherever its lines are broken; each figure is a group."""
    parts = PLACEHOLDER.split(says)
    found = _literal(parts[0])
    for key, picture, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        shown = NUMBER if picture == "n" else NUMBER.join(map(_literal, ZEROS.split(picture.removeprefix("%"))))
        found += f"({'`[^`]+`' if key == 'command' else shown}){_literal(text)}"
    return re.compile(found)


def quoted(book: Book, text: str, says: str) -> Iterator[Span]:
    """The figures of a quote, wherever the text has it. Raises KeyError if there is no such figure."""
    for match in pattern(says).finditer(text):
        for group, (key, picture) in enumerate(PLACEHOLDER.findall(says), 1):
            yield Span(*match.span(group), filled(book, key, picture), f"{key}:{picture}")


def generated(book: Book, text: str) -> Iterator[Span]:
    """The generated blocks of a text, line by line. Raises KeyError if a table or a figure of it is missing."""
    for block in BLOCK.finditer(text):
        new, start = f"\n{table(book, block[1])}\n\n", block.start(2)
        olds, news = block[2].splitlines(keepends=True), new.splitlines(keepends=True)
        whole = len(olds) != len(news)
        for old, line in zip([block[2]] if whole else olds, [new] if whole else news, strict=True):
            yield Span(start, start + len(old), line, f"table {block[1]}")
            start += len(old)


def spans(book: Book, name: str, text: str) -> list[Span]:
    """All that is taken from results in a file. Raises KeyError if there is no such figure."""
    found = [span for says in book["quotes"].get(name, ()) for span in quoted(book, text, says)]
    return sorted({*found, *generated(book, text)})


def faults(book: Book, name: str, text: str) -> Iterator[str]:
    """Figures that are not the stored ones, quotes that are not there, and figures from nowhere."""
    found = spans(book, name, text)
    for span in (span for span in found if span.differs(text)):
        old, new = (" ".join(one.split())[:200] for one in (text[span.start : span.end], span.new))
        yield f"{name}:{text.count(NEWLINE, 0, span.start) + 1}: {old!r} should be {new!r} ({span.why})"
    quotes = book["quotes"].get(name, ())
    yield from (f"{name}:1: nothing is like {says!r}" for says in quotes if not pattern(says).search(text))
    if any(one in (name, *map(str, Path(name).parents)) for one in book["complete"]):
        yield from uncovered(book, name, text, [(span.start, span.end) for span in found])


def uncovered(book: Book, name: str, text: str, covered: list[tuple[int, int]]) -> Iterator[str]:
    """Figures of the prose of a file that are neither quoted nor given; and what is given, but not there."""
    covered += [match.span() for match in NOT_PROSE.finditer(text)]
    for page in (name, "*"):
        for says in chain.from_iterable(book["given"].get(page, {}).values()):
            matches = [match.span() for match in re.finditer(_literal(says), text)]
            covered += matches
            if not matches and page == name:
                yield f"{name}:1: nothing says {says!r}, which is given"
    for match in MEASURED.finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in covered):
            yield f"{name}:{text.count(NEWLINE, 0, match.start()) + 1}: {match[0]} is neither quoted nor given"


def pages(root: Path) -> dict[str, str]:
    """The text of all pages by their names."""
    paths = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths}


def differences(root: Path = ROOT) -> list[str]:
    """Whatever is wrong, a line each."""
    book, found = read_book(root), pages(root)
    missing = [f"{BOOK}:1: there is no {name}" for name in sorted({*book["quotes"], *book["given"]} - {*found, "*"})]
    try:
        return [*missing, *(fault for name, text in found.items() for fault in faults(book, name, text))]
    except (KeyError, ValueError) as error:
        return [*missing, f"{BOOK}:1: there is no figure or table {error}"]


def write(root: Path = ROOT) -> None:
    """Put the stored figures into all pages."""
    book = read_book(root)
    for name, text in pages(root).items():
        new = text
        for span in reversed(spans(book, name, text)):
            if span.differs(text):
                new = new[: span.start] + span.new + new[span.end :]
        if new != text:
            (root / name).write_text(new, "utf-8")


def store(folder: Path, name: str, root: Path = ROOT) -> None:
    """Keep the summary of a run, a figure on each line. Raises KeyError if no command is known for it."""
    command, lines = read_book(root)["commands"][name], []
    for row in json.loads((folder / "summary.json").read_text("utf-8")):
        if row["metric"] != "decision_ms":  # which is never the same again
            cells = (cell for cell in row.items() if not cell[0].startswith(("published", "source")))
            short = {column: float(f"{c:.8g}") if isinstance(c, float) else c for column, c in cells}
            lines.append(json.dumps(short, ensure_ascii=False, separators=(",", ":")))
    (root / "docs" / "stored" / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    print(f"docs/stored/{name}.json: {len(lines)} figures, to be had again by {command}")


def main(arguments: list[str]) -> int:
    """Store or write what is asked for, and tell what differs then."""
    if len(arguments) == 2:
        store(Path(arguments[0]), arguments[1])
    elif arguments == ["--write"]:
        write()
    found = differences()
    print("\n".join(found) or "all figures are those of the stored results")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

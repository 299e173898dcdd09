"""Ten thousand model replies, a thousand malformed files and some odd names: does any of them break a reader?

    python -m benchmarks.attacks.hostile --seed 1

Every reader of outside files is tested, through its command if there is one. Exits with 1 on any violation: a crash, a
wrong exit code or message, too much time or memory, a file written elsewhere, a move that the reply did not choose.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from bad_replies import bad_reply
from benchmarks.keeping import keep, option
from names import names, odd_name
from readers import readers
from reply_readers import reply_readers
from trials import Trial, cases, try_file, try_name, try_reply

HEADER = ("kind", "n", "refused", "crashes", "wrong", "slowest ms", "most MB", "elsewhere", "command")
SHOWN = 5


@dataclass
class Tally:
    """What came of all trials of one kind."""

    kind: str
    trials: list[Trial] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def add(self, trial: Trial, what: str) -> None:
        """Count one more."""
        self.trials.append(trial)
        self.faults += [f"{self.kind}: {what}: {fault}" for fault in trial.faults]

    @property
    def cells(self) -> tuple[str, ...]:
        """A line of the table; memory and time of those that were refused."""
        crashes = sum("crash: " in fault for fault in self.faults)
        refused = [trial for trial in self.trials if trial.refused] or [Trial(True)]
        numbers = (len(self.trials), sum(trial.refused for trial in self.trials), crashes, len(self.faults) - crashes)
        slowest, most = (max(column) for column in zip(*((t.seconds * 1e3, t.megabytes) for t in refused), strict=True))
        elsewhere, ran = sum(trial.elsewhere for trial in self.trials), any(trial.ran for trial in self.trials)
        return (self.kind, *map(str, numbers), f"{slowest:.1f}", f"{most:.1f}", str(elsewhere), "yes" if ran else "no")


def replies(count: int, seed: int) -> list[Tally]:
    """So many replies, by their kind, through all readers in turn."""
    rng, readers = np.random.default_rng([seed, 0]), [*reply_readers().values()]
    found: dict[str, Tally] = {}
    for number in range(count):
        reader = readers[number % len(readers)]
        reply = bad_reply(reader, rng)
        tally = found.setdefault(reply.kind, Tally(f"reply: {reply.kind}"))
        tally.add(try_reply(reader, reply, measure=number % 3 == 0), f"{reader.name}: {reply.text[:80]!r}")
    return [found[kind] for kind in sorted(found)]


def files(count: int, seed: int) -> Iterator[Tally]:
    """Files for all readers in turn, until so many were refused."""
    each = -(-count // len(readers()))
    for reader in readers().values():
        tally, made = (
            Tally(f"file: {reader.name}"),
            cases(reader, np.random.default_rng([seed, 1, crc32(reader.name.encode())])),
        )
        while sum(trial.refused for trial in tally.trials) < each and len(tally.trials) < 5 * each:
            case = next(made)
            tally.add(try_file(reader, case), case.what)
        yield tally


def typed(count: int, seed: int) -> Iterator[Tally]:
    """So many names, for all that look names up."""
    for kind, looked_up in names().items():
        tally, rng = Tally(f"name: {kind}"), np.random.default_rng([seed, 2, crc32(kind.encode())])
        for _ in range(-(-count // len(names()))):
            name = odd_name(looked_up, rng)
            tally.add(try_name(looked_up, name), f"{name[:60]!r}")
        yield tally


def table(lines: Iterable[tuple[str, ...]]) -> str:
    """The lines with columns of equal width."""
    rows = [HEADER, *lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main() -> None:
    """Try everything, print the table, and say what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("seed", 1), ("replies", 10_000), ("files", 1_000), ("names", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    option(parser)
    asked, started = parser.parse_args(), time.perf_counter()
    found = [*replies(asked.replies, asked.seed), *files(asked.files, asked.seed), *typed(asked.names, asked.seed)]
    print(table(tally.cells for tally in found))
    for tally in found:
        print(*tally.faults[:SHOWN], sep="\n", end="\n" if tally.faults else "")
    wrong, tried = sum(len(tally.faults) for tally in found), sum(len(tally.trials) for tally in found)
    print(f"{tried:,} tried in {time.perf_counter() - started:.0f} s, {wrong} violations")
    keep(asked.json, "hostile", {("all", "tried"): tried, ("all", "violations"): wrong})
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()

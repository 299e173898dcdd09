"""A run that asks a server, killed again and again and resumed, and what must be true of it ever after.

The provider is in this process, so that it remembers all it served; the run is the command line, in one of its own.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from endpoint_server import Server
from otherminds.evaluation.runs import digest, look
from otherminds.language.model import Request
from otherminds.language.scripted import Scripted

SEED = 11
AT_ONCE = 4
COMMAND = (sys.executable, "-m", "otherminds")
WRITING = ("rows.jsonl.new", "summary.json.new", "report.html.new")
OPTIONS = re.compile(r"with one of (.*) in place of X")
LIMIT = 120.0


def provider(pause: float = 0.004) -> Scripted:
    """A model that takes a little time, and whose answer depends on the request alone; some cannot be read."""

    def write(request: Request) -> str:
        time.sleep(pause)
        assert not isinstance(request.prompt, str)
        found = OPTIONS.search(request.prompt[0].text)
        assert found is not None
        options = found[1].split(", ")
        return "Let me see." if request.seed % 10 == 0 else f"Answer: {options[request.seed % len(options)]}"

    return Scripted("fake", write)


@dataclass
class Killing:
    """A run in a folder, with the server that it asks; `size` are the options that say how long it is."""

    server: Server
    folder: Path
    size: tuple[str, ...]
    killed: Counter[str] = field(default_factory=Counter)
    finished: set[tuple[str, ...]] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)

    @property
    def spec(self) -> str:
        return f"openai:fake@{self.server.url}"

    def command(self, *, report: bool = False) -> list[str]:
        """Begin, or go on, or only report."""
        if report:
            return [*COMMAND, "report", str(self.folder), "--model", self.spec]
        if (self.folder / "run.db").exists() and "about" in _about(self.folder):
            return [*COMMAND, "resume", str(self.folder), "--model", self.spec]
        how = ("--strategy", "qa", "--price", "1/2", "--seed", str(SEED), "--at-once", str(AT_ONCE))
        return [*COMMAND, "check", "--agent", self.spec, *how, *self.size, "--out", str(self.folder)]

    def start(self, *, report: bool = False) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command(report=report), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self) -> None:
        """Let it come to its end; exit code 1 says that the agent failed the check, as it does."""
        with self.start() as program:
            _, said = program.communicate()
        assert program.returncode == 1, said.decode()

    def kill(self, kind: str, rng: np.random.Generator, most: int) -> bool:
        """Kill it at a moment of this kind; False if it came to its end before."""
        due = self._due(kind, rng, most)
        with self.start(report=kind == "reporting") as program:
            until = time.monotonic() + LIMIT
            while program.poll() is None and not due():
                assert time.monotonic() < until
                time.sleep(0.0005)
            program.kill()
            program.communicate()
        died = program.returncode == -signal.SIGKILL
        self.killed[kind] += died
        self.check_kept()
        return died

    def _due(self, kind: str, rng: np.random.Generator, most: int) -> Callable[[], bool]:
        """Says when: after some calls, after some time, or when a file is being written, and a little later."""
        if kind == "calling":
            wanted = len(self.server.heard) + int(rng.integers(1, most + 1))
            return lambda: len(self.server.heard) >= wanted
        if kind == "reporting":
            file, later = self.folder / str(rng.choice(WRITING)), _Later(float(rng.uniform(0.0, 0.05)))
            return lambda: later(file.exists())
        at = time.monotonic() + float(rng.uniform(0.0, 2.5))
        return lambda: time.monotonic() >= at

    def check_kept(self) -> None:
        """What was finished and answered is so still, and nothing is damaged."""
        if not (self.folder / "run.db").exists():
            return
        digest(self.folder)  # raises InputError if anything is damaged
        finished, answered = set(_read(self.folder, "select condition, subject, episode from episodes")), self.done()
        assert self.finished <= finished
        assert self.answered <= answered
        self.finished, self.answered = finished, answered

    def done(self) -> set[str]:
        """The calls that are on record as answered."""
        found = [place for (place,) in _read(self.folder, "select place from calls where state = 'done'")]
        assert len(set(found)) == len(found)
        return set(found)

    def check_served(self, kills: int) -> dict[str, int]:
        """Only calls that are listed as uncertain were served more than once. Tells how many there were of what."""
        served = Counter(heard.body["seed"] for heard in self.server.heard)
        run = look(self.folder)
        uncertain = Counter(_seed(call.place) for call in run.uncertain)
        assert {_seed(place) for place in self.done()} == set(served)
        for seed, times in served.items():
            assert times <= 1 + uncertain[seed], seed
        assert len(run.uncertain) <= kills * AT_ONCE
        repeated = served.total() - len(served)
        assert repeated <= len(run.uncertain)
        assert abs(run.dollars - self.dollars(len(run.uncertain))) < 1e-9
        return {"calls": len(served), "repeated": repeated, "uncertain": len(run.uncertain)}

    def dollars(self, uncertain: int) -> float:
        """What was spent: every answer has its price, and every uncertain call the most it may cost."""
        ((most,),) = _read(self.folder, "select total(cost) from calls where state in ('sent', 'lost')")
        assert uncertain or not most
        lines = [json.loads(line) for (line,) in _read(self.folder, "select line from calls where state = 'done'")]
        used = [line["response"]["usage"] for line in lines]
        return float(most) + math.fsum(usage["prompt"] * 1.0 + usage["written"] * 2.0 for usage in used) / 1e6


class _Later:
    """Says yes some time after it was first told yes."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.at = seconds, float("inf")

    def __call__(self, now: bool) -> bool:
        if now and self.at == float("inf"):
            self.at = time.monotonic() + self.seconds
        return time.monotonic() >= self.at


def results(folder: Path) -> dict[str, bytes]:
    """All that a run has to show in the end."""
    return {name: (folder / name).read_bytes() for name in ("rows.jsonl", "summary.json", "report.html")}


def planned(folder: Path) -> tuple[list[Any], list[Any]]:
    """The episodes of the plan, and those that are finished."""
    about = "select condition, subject, episode from"
    return sorted(_read(folder, f"{about} plan")), sorted(_read(folder, f"{about} episodes"))


def _seed(place: str) -> int:
    return zlib.crc32(f"{SEED} {place}".encode()) >> 1


def _about(folder: Path) -> dict[str, str]:
    try:
        return dict(_read(folder, "select name, value from about"))
    except sqlite3.OperationalError:
        return {}


def _read(folder: Path, question: str) -> list[Any]:
    base = sqlite3.connect(folder / "run.db")
    try:
        return base.execute(question).fetchall()
    finally:
        base.close()


def kill_and_resume(
    server: Server, folder: Path, size: tuple[str, ...], kills: Counter[str], most: int, seed: int
) -> Killing:
    """Kill a run so often in these ways, in any order, let it finish, and kill its report so often as well."""
    rng, one = np.random.default_rng(seed), Killing(server, folder, size)
    for kind in rng.permutation([*["anywhere"] * kills["anywhere"], *["calling"] * kills["calling"]]):
        assert one.kill(str(kind), rng, most), "it was finished before it could be killed"
    one.finish()
    while one.killed["reporting"] < kills["reporting"]:
        one.kill("reporting", rng, most)
    return one

"""The largest levels, kitchens and stories that are promised, through every command that takes one.

    python -m benchmarks.attacks.monsters            # or: watch verify --kind kitchens

For each: exit code, seconds, CPU seconds, MB, and the seconds until it shows something. Exits with
1 if a command takes more than 60 s or 1 GB, says nothing for more than a second, or fails otherwise than in one line.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

SECONDS, MEGABYTES, SILENT = 60.0, 1024, 1.5  # the last one with half a second for a machine that is busy
PROGRAM = (sys.executable, "-m", "otherminds")
COLOURS = "rbygpocmnw"
SIDE, THINGS = 24, 12  # of a level: cells in a row, keys and doors
KITCHEN, SENTENCES = 60, 5_000

Cell = tuple[int, int]


# Levels


def empty(rng: np.random.Generator) -> tuple[set[Cell], list[Cell]]:
    """No walls, and doors that lock nothing up."""
    return set(), []


def rooms(rng: np.random.Generator) -> tuple[set[Cell], list[Cell]]:
    """A grid of rooms, with a door or a gap in every wall."""
    lines = (5, 11, 17)
    walls = {(x, y) for x in range(SIDE) for y in range(SIDE) if x in lines or y in lines}
    edges = (-1, *lines, SIDE)
    spans = [(a + 1, b) for a, b in pairwise(edges)]
    openings = [(x, int(rng.integers(*span))) for x in lines for span in spans]
    openings += [(int(rng.integers(*span)), y) for y in lines for span in spans]
    return walls - {*openings}, openings


def vault(rng: np.random.Generator) -> tuple[set[Cell], list[Cell]]:
    """One hall beside twelve closets, each behind a door."""
    walls = {(x, y) for x in range(18, SIDE) for y in range(SIDE) if x == 18 or y % 2}
    doors = [(18, y) for y in range(0, SIDE, 2)]
    return walls - {*doors}, doors


def maze(rng: np.random.Generator) -> tuple[set[Cell], list[Cell]]:
    """A maze, with doors in its corridors."""
    floor, path = {(0, 0)}, [(0, 0)]
    corridors: list[Cell] = []
    while path:
        x, y = path[-1]
        near = [(x + dx, y + dy) for dx, dy in ((2, 0), (-2, 0), (0, 2), (0, -2))]
        near = [(a, b) for a, b in near if 0 <= a < SIDE and 0 <= b < SIDE and (a, b) not in floor]
        if not near:
            path.pop()
            continue
        a, b = near[int(rng.integers(len(near)))]
        between = (x + a) // 2, (y + b) // 2
        floor |= {(a, b), between}
        corridors.append(between)
        path.append((a, b))
    return {(x, y) for x in range(SIDE) for y in range(SIDE)} - floor, corridors


def scattered(rng: np.random.Generator) -> tuple[set[Cell], list[Cell]]:
    """Walls at random."""
    chosen = rng.choice(SIDE * SIDE, size=150, replace=False)
    return {(int(n) % SIDE, int(n) // SIDE) for n in chosen}, []


def level(
    plan: Callable[[np.random.Generator], tuple[set[Cell], list[Cell]]],
    seed: int,
    *,
    colours: int = len(COLOURS),
    agents: int = 2,
    things: int = THINGS,
    horizon: int = 80,
    claims: bool = True,
) -> str:
    """The file of a level on a floor plan with as many keys as doors, and a claim for `verify` to prove."""
    rng = np.random.default_rng(seed)
    walls, openings = plan(rng)
    free = [(x, y) for y in range(SIDE) for x in range(SIDE) if (x, y) not in walls]
    doors = [openings[int(n)] for n in rng.permutation(len(openings))[:things]]
    others = [cell for cell in free if cell not in openings]
    spots = iter([others[int(n)] for n in rng.permutation(len(others))])
    doors += [next(spots) for _ in range(things - len(doors))]
    tiles = dict.fromkeys(free, "..")
    for n, cell in enumerate(doors):
        tiles[cell] = f"d{COLOURS[n % colours]}"
    for n in range(things):
        tiles[next(spots)] = f"k{COLOURS[n % colours]}"
    for n in range(agents):
        tiles[next(spots)], tiles[next(spots)] = f"a{n + 1}", f"g{COLOURS[n]}"
    names = [f"agent{n}" for n in range(agents)]
    hues = ["red", "blue", "yellow", "green", "purple", "orange", "cyan", "magenta", "brown"][:agents]
    rows = "\n".join(" ".join(tiles.get((x, y), "##") for x in range(SIDE)) for y in range(SIDE))
    head = [f"agents: {', '.join(names)}", f"goals: {', '.join(hues)}", f"horizon: {horizon}"]
    return "\n".join([*head, *(["class: useful"] if claims else []), "", rows, ""])


LEVELS: Mapping[str, Callable[[], str]] = {
    "empty": lambda: level(empty, 1),
    "rooms": lambda: level(rooms, 2),
    "vault": lambda: level(vault, 3),
    "maze": lambda: level(maze, 4),
    "scattered": lambda: level(scattered, 5),
    "one-colour": lambda: level(rooms, 6, colours=1),
    "one-colour-empty": lambda: level(empty, 7, colours=1),
    "two-colours": lambda: level(vault, 8, colours=2),
    "four-agents": lambda: level(rooms, 9, agents=4),
    "few-things": lambda: level(rooms, 10, things=3),
    "no-things": lambda: level(empty, 11, things=0),
    "nine-agents": lambda: level(empty, 12, agents=9, things=1),
    "long": lambda: level(maze, 13, things=2, horizon=99_999),
}


# Kitchens


def kitchen(plan: Callable[[int, int], str], seed: int, *, things: int = 3, recipe: str, agents: int = 2) -> str:
    """The file of a kitchen with `things` of each food and as many plates on its counters."""
    rng = np.random.default_rng(seed)
    inside = range(1, KITCHEN - 1)
    tiles = {(x, y): plan(x, y) if x in inside and y in inside else "-" for x in range(KITCHEN) for y in range(KITCHEN)}
    floor = [cell for cell, tile in tiles.items() if tile == " "]
    beside = {(x + dx, y + dy) for x, y in floor for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
    counters = sorted(cell for cell in beside if tiles[cell] == "-")
    spots = iter([counters[int(n)] for n in rng.permutation(len(counters))])
    for letter in "tlop" * things + "//**":
        tiles[next(spots)] = letter
    starts = [floor[int(n)] for n in rng.permutation(len(floor))[:agents]]
    rows = ["".join(tiles[x, y] for x in range(KITCHEN)) for y in range(KITCHEN)]
    places = [f"{x} {y}" for x, y in starts]
    return "\n".join([*rows, "", *[recipe] * agents, "", *places, "", "class: useful", ""])


KITCHENS: Mapping[str, Callable[[], str]] = {
    "hall": lambda: kitchen(lambda x, y: " ", 1, recipe="SimpleTomato"),
    "two-rooms": lambda: kitchen(lambda x, y: "-" if x == 30 else " ", 2, recipe="Salad"),
    "doors": lambda: kitchen(
        lambda x, y: ("D" if (x + y) % 10 == 5 else "-") if 0 in (x % 10, y % 10) else " ", 3, recipe="OnionSalad"
    ),
    "islands": lambda: kitchen(lambda x, y: "-" if x % 2 == y % 2 == 0 else " ", 4, recipe="SimpleLettuce", things=15),
    "corridors": lambda: kitchen(
        lambda x, y: "-" if x % 2 == 0 and y != 1 + 57 * (x % 4 == 0) else " ", 5, recipe="Salad"
    ),
    "full": lambda: kitchen(lambda x, y: " ", 6, recipe="OnionSalad", things=15, agents=4),
}


# Stories


def story(sentences: Sequence[str], question: str) -> str:
    """A question about as many sentences as are promised, taken in turn."""
    told = cycle(sentences)
    return " ".join(next(told) for _ in range(SENTENCES)) + f"\n\n{question}\n"


NESTED = "Where does Ann think that Bob thinks that Cy will look?"
WHERE = "Where will Ann look for the ball?"
STORIES: Mapping[str, Callable[[], str]] = {
    "coming": lambda: story(["Ann left.", "Ann came back.", "Bob left.", "Bob came."], WHERE),
    "moving": lambda: story(
        ["Ann is in the den.", "The ball is in the box.", "Bob put the ball in the bag."][1:], WHERE
    ),
    "people": lambda: story([f"{a}{b}n is here." for a in "ABCDEFGHJKLM" for b in "aeiou"], WHERE),
    "saying": lambda: story(["Ann told Bob it.", "Bob nodded.", "Ann said hi."], WHERE),
    "nested": lambda: story(
        ["Ann saw it.", "Bob saw it all."], "Where does Ann think that Bob thinks that Cy will look?"
    ),
    "one-word": lambda: story(["Oh.", "No.", "Yes."], WHERE),
}


# Commands

KINDS: Mapping[str, tuple[Mapping[str, Callable[[], str]], Mapping[str, tuple[str, ...]]]] = {
    "levels": (
        LEVELS,
        {
            "watch": ("watch", "FILE", "--delay", "0"),
            "watch oracle": ("watch", "FILE", "--delay", "0", "--facilitator", "oracle"),
            "watch at once": ("watch", "FILE", "--delay", "0", "--facilitator", "protom_at_once"),
            "infer": ("infer", "FILE", "WALK"),
            "draw": ("draw", "FILE"),
            "draw svg": ("draw", "FILE", "--out", "OUT.svg"),
            "draw png": ("draw", "FILE", "--out", "OUT.png"),
            "verify": ("verify", "levels", "FILE"),
        },
    ),
    "kitchens": (
        KITCHENS,
        {
            "watch": ("watch", "FILE", "--delay", "0"),
            "watch oracle": ("watch", "FILE", "--delay", "0", "--facilitator", "oracle"),
            "infer": ("infer", "FILE", "WALK"),
            "draw": ("draw", "FILE", "--seen-by", "agent1"),
            "draw svg": ("draw", "FILE", "--out", "OUT.svg"),
            "draw png": ("draw", "FILE", "--out", "OUT.png"),
            "verify": ("verify", "levels", "FILE"),
        },
    ),
    "stories": (STORIES, {"ask": ("ask", "STORY", "--question", "QUESTION"), "audit": ("audit", "ROWS")}),
}


class Took(NamedTuple):
    """What a command took, and what it said last; `spoke` is when it said something first."""

    code: int
    seconds: float
    cpu: float
    megabytes: float
    spoke: float | None
    last: str

    @property
    def faults(self) -> Iterator[str]:
        """What breaks the promise."""
        if self.code not in (0, 1, 2) or "Traceback" in self.last:
            yield "crash"
        if self.seconds > SECONDS:
            yield "slow"
        if self.megabytes > MEGABYTES:
            yield "large"
        if (self.seconds if self.spoke is None else self.spoke) > SILENT:
            yield "silent"


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS),) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEGABYTES << 20,) * 2)


def took(words: Sequence[str]) -> Took:
    """Run a command whose standard error is a terminal. The system ends it after the CPU seconds that it has."""
    terminal, theirs = pty.openpty()
    output, into = os.pipe()
    began = time.monotonic()
    process = subprocess.Popen([*PROGRAM, *words], stdout=into, stderr=theirs, preexec_fn=_limited)
    os.close(theirs)
    os.close(into)
    said, spoke, listened = b"", None, [terminal, output]
    while listened:
        ready, _, _ = select.select(listened, [], [], max(0.0, began + 4 * SECONDS - time.monotonic()))
        if not ready:
            process.kill()
            break
        for heard in ready:
            try:
                part = os.read(heard, 1 << 16)
            except OSError:  # how Linux reports that the other end of a terminal was closed
                part = b""
            if part:
                spoke = time.monotonic() - began if spoke is None else spoke
                said += part if heard == terminal else b""
            else:
                listened.remove(heard)
    os.close(output)
    os.close(terminal)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    last = said.decode(errors="replace").strip().split("\n")[-1].strip()
    return Took(process.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, spoke, last)


def written(kind: str, text: str, folder: Path) -> dict[str, str]:
    """The files that commands about a level or story take, by the word that stands for each."""
    file, walk, told, rows = (folder / name for name in ("monster.txt", "walk.jsonl", "story.txt", "rows.jsonl"))
    file.write_text(text)
    if kind == "stories":
        body, question = text.strip().rsplit("\n\n", 1)
        told.write_text(body)
        rows.write_text(json.dumps({"id": "1", "story": body, "question": question, "answer": "box"}) + "\n")
        return {"STORY": str(told), "QUESTION": question, "ROWS": str(rows)}
    lines = text.split("\n")
    names = next((line for line in lines if line.startswith("agents: ")), "").removeprefix("agents: ").split(", ")
    if kind == "kitchens":
        names = [
            f"agent{n}" for n in range(1, 1 + sum(line.count(" ") == 1 and line[0].isdigit() for line in lines if line))
        ]
    steps = ({"schema": 1, "t": t, "joint": dict.fromkeys(names, "stay")} for t in range(5))
    walk.write_text("".join(f"{json.dumps(step)}\n" for step in steps))
    return {"FILE": str(file), "WALK": str(walk)}


def main() -> None:
    """Print a line for every command and monster."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="such as watch or verify; default: all")
    parser.add_argument("--kind", choices=KINDS, action="append", help="default: all")
    parser.add_argument("--name", action="append", help="such as maze; default: all")
    chosen = parser.parse_args()
    broken = 0
    print(f"{'':44}{'exit':>5}{'s':>7}{'CPU s':>7}{'MB':>6}{'spoke':>7}")
    for kind in chosen.kind or KINDS:
        monsters, commands = KINDS[kind]
        for name, make in monsters.items():
            if chosen.name and name not in chosen.name:
                continue
            for command, words in commands.items():
                if chosen.commands and command not in chosen.commands:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    files = written(kind, make(), Path(folder))
                    found = took([files.get(word, word.replace("OUT", f"{folder}/out")) for word in words])
                faults = ", ".join(found.faults).upper()
                broken += bool(faults)
                spoke = "" if found.spoke is None else f"{found.spoke:.2f}"
                print(
                    f"{kind + ' ' + name:28}{command:16}{found.code:5}{found.seconds:7.1f}{found.cpu:7.1f}"
                    f"{found.megabytes:6.0f}{spoke:>7}  {faults or found.last[-60:]}",
                    flush=True,
                )
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()

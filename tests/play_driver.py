"""Three episodes of a scripted model through a record, as a program of its own that dies when it is told to.

    python play_driver.py FOLDER [serving N | writing N | loading N | rows N | renewing 1]

`served` has a line for every call that the model answered, whether that was recorded or not. It dies after the Nth of
these, in the middle of recording the Nth answer, on reading line N of the record and of the rows before it, in the
middle of adding the rows of the Nth episode, or when the rows that were whole are written anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from io import BufferedWriter, FileIO, TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from otherminds.evaluation.tasks import Task
from otherminds.experiments.functional_models import Entry, rows
from otherminds.experiments.results import Rows
from otherminds.language.ledger import Recorded
from otherminds.language.model import Request, ask_all
from otherminds.language.scripted import Scripted
from otherminds.minds.partners import partner
from otherminds.systems.scripted_players import scripted_player
from otherminds.worlds.game_files import find_game

ROUNDS = 12
THREADS = 2
RECORD = "calls.lm.jsonl"
MEGABYTE = 1 << 20


def entries() -> list[Entry]:
    game = find_game("rps")
    task = Task(game, partner("tft", game), ROUNDS)
    ways = ("qa", "lm", "reflexion1")
    return [Entry(task, "rps/tft", "driver", way, number, 5, shuffle="payoffs") for number, way in enumerate(ways)]


def digest(prompt: object, draw: object = "") -> str:
    return hashlib.sha256(json.dumps([prompt, draw]).encode()).hexdigest()


def add(path: Path, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def model(folder: Path, due: Callable[[], bool]) -> Scripted:
    """The model, which writes down what it serves, and dies if that is due."""
    one = entries()[0]
    inner = scripted_player("nash_mixer", one.setting, one.task.partner)
    assert inner.weigh is not None
    weigh = inner.weigh

    def served(call: str) -> None:
        add(folder / "served", call)
        if due():
            die()

    def write(request: Request) -> str:
        text = inner.write(request)
        assert not isinstance(request.prompt, str)
        served(digest(request.prompt[0].text, request.draw))
        return text

    def weighed(prompt: str, text: str) -> float:
        if text == f" {one.setting.own[0]}":  # once for all options
            served(digest(prompt))
        return weigh(prompt, text)

    return Scripted("driver", write, weighed)


def nth(number: int) -> Callable[[], bool]:
    """Says yes when it is asked for the Nth time."""
    times = count(1)
    return lambda: next(times) == number


def torn(data: bytes) -> bytes:
    """About two thirds of some bytes."""
    return data[: len(data) * 2 // 3]


def die_loading(due: Callable[[], bool]) -> None:
    loads = json.loads

    def read(text: str) -> Any:
        if due():
            die()
        return loads(text)

    json.loads = read  # type: ignore[assignment]


def die_adding(due: Callable[[], bool], deadly: str, wanted: bytes) -> None:
    """Die while something wanted is added to a file that was opened in this mode."""
    opened = Path.open

    class Dying(FileIO):
        def write(self, data: Any, /) -> int:
            if wanted in bytes(data) and due():
                super().write(torn(bytes(data)))
                die()
            return super().write(data)

    def open_(path: Path, mode: str = "r", *arguments: Any, **names: Any) -> Any:
        if mode != deadly:
            return opened(path, mode, *arguments, **names)
        file = Dying(path, "ab")
        return file if mode == "ab" else TextIOWrapper(BufferedWriter(file, MEGABYTE), encoding="utf-8")

    Path.open = open_  # type: ignore[method-assign, assignment]


def die_renewing(due: Callable[[], bool]) -> None:
    write = Path.write_bytes

    def write_bytes(path: Path, data: Any) -> int:
        if due():
            write(path, torn(data))
            die()
        return write(path, data)

    Path.write_bytes = write_bytes  # type: ignore[method-assign, assignment]


def main(folder: Path, kind: str = "", number: str = "0") -> None:
    due = nth(int(number))
    if kind == "loading":
        die_loading(due)
    if kind == "writing":
        die_adding(due, "ab", b'"response"')
    if kind == "rows":
        die_adding(due, "a", b"")
    if kind == "renewing":
        die_renewing(due)
    recorded = Recorded(model(folder, due if kind == "serving" else lambda: False), folder / RECORD)
    kept = Rows(folder, "driver")
    for episode in ask_all(lambda entry: rows(entry, recorded), kept.todo(entries()), at_once=THREADS):
        kept.add(episode)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""Many questions to a scripted model through a record, as a program of its own that can be killed at any moment.

    python ledger_driver.py FOLDER [loading N | writing N]

It writes down what a provider of models knows, and whoever reads the answers: `served`, a line for every call that was
answered in full; `uncertain`, the keys of such calls, a line for every run; and `answers`, when all is done. A byte on
standard output says that a call was served. On demand it dies on reading line N of the record, or in the middle of
writing down the Nth answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from otherminds.language.ledger import Recorded
from otherminds.language.model import Request, ask_all
from otherminds.language.prices import Price
from otherminds.language.scripted import Scripted

CALLS = 300
THREADS = 4
SECONDS = 0.002
PRICE = Price(1.0, 2.0)
RECORD = "calls.lm.jsonl"


def requests() -> list[Request]:
    return [Request(f"Où est la bille {n} ? 🤔", draw=str(n)) for n in range(CALLS)]


def reply(request: Request) -> str:
    return f"« {hashlib.sha256(str(request.prompt).encode()).hexdigest()} »"


def add(path: Path, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_loading(line: int) -> None:
    lines, loads = count(1), json.loads

    def read(text: str) -> Any:
        if next(lines) == line:
            die()
        return loads(text)

    json.loads = read  # type: ignore[assignment]


def die_writing(answer: int) -> None:
    answers, opened = count(1), Path.open

    class Dying(FileIO):
        def write(self, line: Any, /) -> int:
            if b'"response"' in line and next(answers) == answer:
                super().write(line[: len(line) * 2 // 3])
                die()
            return super().write(line)

    def open_(path: Path, mode: str = "r", *arguments: Any, **names: Any) -> Any:
        return Dying(path, "ab") if mode == "ab" else opened(path, mode, *arguments, **names)

    Path.open = open_  # type: ignore[method-assign, assignment]


def main(folder: Path, *death: str) -> None:
    if death:
        {"loading": die_loading, "writing": die_writing}[death[0]](int(death[1]))

    def serve(request: Request) -> str:
        time.sleep(SECONDS)
        add(folder / "served", str(request.prompt))
        os.write(1, b".")
        return reply(request)

    recorded = Recorded(Scripted("driver", serve), folder / RECORD, price=PRICE)
    add(folder / "uncertain", json.dumps(recorded.uncertain))
    replies = ask_all(recorded.complete, requests(), at_once=THREADS)
    (folder / "answers").write_text("".join(sorted(f"{found.text}\n" for found in replies)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""A program that is killed again and again, and resumed, loses no answer that was recorded, and pays for none twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from itertools import chain
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ledger_driver
from ledger_driver import CALLS, PRICE, RECORD, THREADS, reply, requests
from otherminds.language.ledger import Recorded
from otherminds.language.model import ModelError, Request, Usage
from otherminds.language.scripted import scripted

DEATHS = ("served",) * 12 + ("loading",) * 4 + ("writing",) * 4
STEP = 16  # 16 calls before each of the 16 deaths that come after loading, at most: the work is never done by then


def start(folder: Path, *death: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, ledger_driver.__file__, str(folder), *death]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def finish(folder: Path) -> str:
    with start(folder) as program:
        program.communicate()
    assert program.returncode == 0
    return (folder / "answers").read_text("utf-8")


def kill(folder: Path, death: str, rng: np.random.Generator) -> None:
    """Run the program until it dies: after some calls were served, or as it asks to."""
    steps = int(rng.integers(1, STEP + 1))
    if death == "loading":
        steps = int(rng.integers(1, len(whole_lines(folder)) + 1))
    with start(folder, *([] if death == "served" else [death, str(steps)])) as program:
        if death == "served":
            assert program.stdout is not None
            assert program.stdout.read(steps) == b"." * steps
            program.kill()
        program.communicate()
    assert program.returncode == -signal.SIGKILL


def whole_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / RECORD).read_bytes().split(b"\n")[:-1]]


def done(folder: Path) -> dict[str, str]:
    """The prompt of every call on record as answered, by key."""
    answered = [line for line in whole_lines(folder) if "key" in line]
    assert len({line["key"] for line in answered}) == len(answered)
    return {line["key"]: line["request"]["prompt"] for line in answered}


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def kill_and_resume(folder: Path) -> None:
    """Kill the program many times, and let it finish in the end; what is recorded stays so, and is not paid for again.

    The first death is not while loading, as there is nothing to load yet.
    """
    rng = np.random.default_rng(20)
    for death in ("served", *rng.permutation(DEATHS[1:]), ""):
        before = done(folder) if (folder / RECORD).exists() else {}
        served = len(lines(folder / "served"))
        if death:
            kill(folder, death, rng)
        else:
            finish(folder)
        assert before.items() <= done(folder).items()
        assert not set(lines(folder / "served")[served:]) & set(before.values())


def test_killed_and_resumed_is_as_good_as_never_stopped(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    kill_and_resume(killed)
    check_answers(killed, tmp_path / "whole")
    check_served(killed)
    check_replay(killed)


def check_answers(killed: Path, whole: Path) -> None:
    """They are those of a run that was never stopped."""
    answers = finish(whole)
    assert answers == "".join(sorted(f"{reply(request)}\n" for request in requests()))
    assert (killed / "answers").read_text("utf-8") == answers
    assert sorted(lines(whole / "served")) == sorted(str(request.prompt) for request in requests())


def check_served(killed: Path) -> None:
    """Only calls known to be uncertain were served more than once."""
    prompts = done(killed)
    assert len(prompts) == CALLS
    served = Counter(lines(killed / "served"))
    again = {prompt for prompt, times in served.items() if times > 1}
    uncertain = {prompts[key] for key in chain.from_iterable(map(json.loads, lines(killed / "uncertain")))}
    assert again <= uncertain
    assert DEATHS.count("writing") <= served.total() - CALLS <= len(DEATHS) * THREADS


def check_replay(killed: Path) -> None:
    """All that was asked is on record."""
    replay = Recorded(scripted("driver", []), killed / RECORD, replay=True)
    assert [replay.complete(request).text for request in requests()] == [reply(request) for request in requests()]
    assert replay.uncertain == ()
    assert replay.totals.recalled == CALLS
    costs = [PRICE.cost(Usage(**line["response"]["usage"])) for line in whole_lines(killed) if "key" in line]
    assert replay.spent == pytest.approx(fsum(costs))
    with pytest.raises(ModelError):
        replay.complete(Request("another"))

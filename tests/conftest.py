"""Settings of hypothesis and of memory for the whole test suite, and the command line as a function."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator

import pytest
import typer
from hypothesis import HealthCheck, settings

from commands import Result, Run
from otherminds.cli import app as cli
from otherminds.evaluation import progress
from run_files import unsynced

settings.register_profile(
    "repo",
    max_examples=16,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repo")

# tests that interrupt a program would wait for ever where a shell began the suite in the background, which makes it and
# all that it starts ignore interrupts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# thousands of tests and modules stay alive to the end: searching them for cycles again and again took a quarter of
# the time
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    """Leave what is there before the first test out of every search for cycles."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _built_once() -> Iterator[None]:
    """The command line is built once and not for every call, which would take as long as most commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "app", typer.main.get_command(cli.app))
        yield


@pytest.fixture(autouse=True, scope="session")
def _hasty() -> Iterator[None]:
    """Nothing is waited for to reach the disk, in this process: no test pulls the plug."""
    with unsynced():
        yield


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line on some arguments, as if typed into a pipe of 80 columns."""
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "TERMINAL_WIDTH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(progress, "PATIENCE", 60.0)  # a slow machine says no more than a quick one
    monkeypatch.setattr(os, "_exit", sys.exit)  # an interruption ends the command and not the tests

    def main(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["otherminds", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        return Result(int(exit_.value.code or 0), *capsys.readouterr())

    return main

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from otherminds import operating_system
from otherminds.operating_system import replace, sync

SRC = Path(operating_system.__file__).parent


class TestOnDisk:
    @pytest.fixture
    def done(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """What is synchronised, in order: `file` or `folder`, and `full` for the command of macOS."""
        done: list[str] = []
        fsync = os.fsync

        def watched(number: int) -> None:
            done.append("folder" if os.path.isdir(f"/proc/self/fd/{number}") else "file")
            fsync(number)

        monkeypatch.setattr(os, "fsync", watched)
        return done

    def test_a_file_is_on_disk_before_and_its_name_after_it_is_renamed(self, tmp_path: Path, done: list[str]) -> None:
        with (tmp_path / "new").open("wb") as file:
            file.write(b"whole")
            sync(file)
            assert (tmp_path / "new").read_bytes() == b"whole"  # nothing is left in the buffer
        replace(tmp_path / "new", tmp_path / "old")
        assert (tmp_path / "old").read_bytes() == b"whole"
        assert not (tmp_path / "new").exists()
        assert done == ["file", "folder"]

    @pytest.mark.parametrize(("known", "asked"), [(True, ["full"]), (False, ["full", "file"])])
    def test_macos_empties_the_cache_of_the_drive_where_it_can(
        self, tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch, known: bool, asked: list[str]
    ) -> None:
        def control(number: int, command: int) -> None:
            assert command == 51
            done.append("full")
            if not known:
                raise OSError(errno.ENOTSUP, "not supported")

        monkeypatch.setattr(operating_system, "FULL_SYNC", 51)
        monkeypatch.setattr(pytest.importorskip("fcntl"), "fcntl", control)
        with (tmp_path / "file").open("wb") as file:
            sync(file)
        assert done == asked

    def test_a_disk_that_cannot_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(_: int) -> None:
            raise OSError(errno.EIO, "input/output error")

        monkeypatch.setattr(os, "fsync", fails)
        with (tmp_path / "file").open("wb") as file, pytest.raises(OSError, match="input/output error"):
            sync(file)

    @pytest.mark.parametrize(("windows", "attempts"), [(True, 3), (False, 1)])
    def test_only_on_windows_is_a_file_in_use_tried_again(
        self, tmp_path: Path, done: list[str], monkeypatch: pytest.MonkeyPatch, windows: bool, attempts: int
    ) -> None:
        tried: list[Path] = []
        rename = Path.replace

        def busy(self: Path, target: Any) -> Path:
            tried.append(self)
            if len(tried) < 3:
                raise PermissionError(errno.EACCES, "in use")
            return rename(self, target)

        monkeypatch.setattr(operating_system, "WINDOWS", windows)
        monkeypatch.setattr(Path, "replace", busy)
        (tmp_path / "new").write_text("new")
        if windows:
            replace(tmp_path / "new", tmp_path / "old")
            assert (tmp_path / "old").read_text() == "new"
        else:
            with pytest.raises(PermissionError):
                replace(tmp_path / "new", tmp_path / "old")
        assert len(tried) == attempts
        assert done == []  # Windows opens no folders

    def test_a_file_in_use_for_ever_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def busy(self: Path, target: Any) -> Path:
            raise PermissionError(errno.EACCES, "in use")

        monkeypatch.setattr(operating_system, "WINDOWS", True)
        monkeypatch.setattr(operating_system, "HELD", 0.05)
        monkeypatch.setattr(Path, "replace", busy)
        with pytest.raises(PermissionError):
            replace(tmp_path / "new", tmp_path / "old")


class TestSignals:
    @pytest.mark.parametrize("name", ["SIGTERM", "SIGBREAK"])
    def test_being_asked_to_end_is_an_interrupt(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        set_up: dict[int, Any] = {}
        monkeypatch.setattr(signal, "signal", set_up.__setitem__)
        monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
        operating_system.interrupt_when_asked_to_end()
        assert set_up[getattr(signal, name)] is signal.default_int_handler

    def test_nothing_is_held_back_where_that_is_impossible(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
        before = signal.getsignal(signal.SIGINT)
        with operating_system.interrupts_held_back():
            assert signal.getsignal(signal.SIGINT) is before

    def test_priorities_are_lowered_only_where_there_are_any(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "nice", raising=False)
        operating_system.lower_priority(10)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_a_code_page_without_our_characters_is_no_reason_to_fail(encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "otherminds", "draw", "locked-in"],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout


def test_whatever_differs_between_systems_is_in_one_module() -> None:
    differs = re.compile(
        r"^\s*(import|from) (signal|fcntl|msvcrt|pwd|resource|termios|ctypes)\b|sys\.platform|"
        r"os\.(kill|killpg|fsync|fdatasync|replace|rename|nice|fork|geteuid|getuid|name)\b|"
        r"(path|fresh|draft|part)\.(replace|rename)\("
    )
    found = {
        f"{path.relative_to(SRC).as_posix()}: {line.strip()}"
        for path in SRC.rglob("*.py")
        if path != Path(operating_system.__file__)
        for line in path.read_text("utf-8").splitlines()
        if differs.search(line)
    }
    cache = "worlds/repeated_games/players/bayes_adaptive.py: draft.replace(path)  # it need not be on disk:"
    assert {line for line in found if not line.startswith(cache)} == set()

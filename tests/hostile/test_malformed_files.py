"""Malformed files: every reader refuses them, and commands say so in one line and leave everything as it was."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sandbox
import trials
from commands import Result, complaint
from malformed import NO_FILES, SPOIL, monsters
from otherminds import errors
from otherminds.errors import InputError
from otherminds.files.toml import read_toml
from otherminds.worlds.doors_keys_gems.level_files import read_level
from readers import Reader, readers
from trials import Case, cases, try_file

EACH = 4
READERS = sorted(readers())
COMMANDS = [name for name in READERS if readers()[name].command]
EXAMPLES = 3


@pytest.mark.parametrize("name", READERS)
def test_what_is_good_is_read(tmp_path: Path, name: str) -> None:
    reader = readers()[name]
    for content in reader.good:
        reader.lay(tmp_path, content)
        assert reader.accepts(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_bytes_are_read_or_refused(name: str, data: st.DataObject) -> None:
    reader = replace(readers()[name], command=())
    good = data.draw(st.sampled_from(reader.good))
    place, gone = data.draw(st.integers(0, len(good))), data.draw(st.integers(0, 40))
    more = data.draw(st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
    content = good[:place] + more + good[place + gone :]
    assert not try_file(reader, Case("some bytes", lambda path: path.write_bytes(content))).faults


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_malformed_files_are_refused_in_one_line_and_nothing_is_touched(name: str) -> None:
    reader, refused = readers()[name], 0
    for case in islice(cases(reader, np.random.default_rng(crc32(name.encode()))), EACH):
        trial = try_file(reader, case)
        assert not trial.faults, case.what
        refused += trial.refused
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("what", NO_FILES)
def test_what_is_no_file_is_refused_at_once(what: str) -> None:
    for name in ("level", "game", "story", "study (csv)", "trace", "network", "MuMA-ToM hold.json"):
        reader = readers()[name]
        trial = try_file(reader, Case(what, NO_FILES[what]))
        assert not trial.faults, name
        assert trial.refused or name.startswith("MuMA"), name


def test_what_is_no_file_is_told_with_its_path(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        (tmp_path / "pipe", "is no file"),
        (Path("/dev/zero"), "is no file"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(InputError, match=rf"^{path}: cannot be read: {said}$"):
            read_level(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in monsters() if not name.startswith("a story of")])
def test_monsters_are_refused_in_time_by_whoever_could_take_them_for_something(name: str) -> None:
    likely = {"TOML": ["game"], "names": ["game", "study (csv)"], "actions": ["game"], "JSON": ["stories", "machines"]}
    likely |= {
        "map": ["level", "matrix map"],
        "lines": ["kitchen", "spectra"],
        "columns": ["rows (csv)"],
        "zip": ["network", "trace"],
    }
    likely |= {
        "PDDL": ["PDDL problem"],
        "brackets": ["plan"],
        "story": ["story", "ToMi"],
        "cells": ["BigToM"],
        "Parquet": ["rows (parquet)"],
    }
    for reader in {one for word, found in likely.items() if word in name for one in found} or {"level"}:
        assert not try_file(readers()[reader], Case(name, lambda path: path.write_bytes(monsters()[name]))).faults, (
            reader
        )


@pytest.mark.slow
def test_a_few_in_a_process_of_their_own(tmp_path: Path) -> None:
    for name, content in (("level", b"\xff"), ("study (csv)", b"a,a\n")):
        reader = readers()[name]
        folder = tmp_path / name
        folder.mkdir()
        path, before = reader.lay(folder, content), sandbox.tree(folder)
        command = [sys.executable, "-m", "otherminds", *reader.arguments(folder)]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        complaint(Result(ran.returncode, ran.stdout, ran.stderr), re.escape(str(path)))
        assert {n: c for n, c in sandbox.tree(folder).items() if "/out" not in n} == before


# What is behind this


def test_long_quotations_are_cut() -> None:
    told = str(InputError("x" * 5_000, path="a.txt", line=3, hint="y" * 9_000))
    assert told.startswith("a.txt:3: xxx")
    assert told.count("x") < 620
    assert told.count("y") < 4_010


def test_keys_of_many_parts_are_no_toml() -> None:
    assert read_toml('a.b.c = 1\n"x.y".z = [1.5, 2.25]') == {"a": {"b": {"c": 1}}, "x.y": {"z": [1.5, 2.25]}}
    deepest = ".".join(["a"] * errors.LONGEST)
    with pytest.raises(ValueError, match=r"more than 16 parts \(at line 2, column 1\)"):
        read_toml(f"b = 1\n{deepest} = 1")


@pytest.mark.parametrize(
    "deed",
    [
        lambda folder: (folder / "new.txt").write_text("x"),
        lambda folder: (folder / "there.txt").open("a").close(),
        lambda folder: (folder / "there.txt").rename(folder / "other.txt"),
        lambda folder: (folder / "there.txt").unlink(),
        lambda folder: (folder / "new").mkdir(),
        lambda folder: (folder / "new").symlink_to("there.txt"),
        lambda folder: os.close(os.open(folder / "there.txt", os.O_RDWR)),
        lambda _folder: subprocess.run(["true"], check=True),
    ],
)
def test_whatever_is_touched_is_seen(tmp_path: Path, deed: Callable[[Path], object]) -> None:
    (tmp_path / "there.txt").touch()
    with sandbox.watched() as found:
        (tmp_path / "there.txt").read_text()
        assert found == []
        deed(tmp_path)
    assert found


@pytest.mark.slow
def test_readers_that_crash_wait_or_take_anything_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "SLOWEST_FILE", 0.02)

    def crash(path: Path) -> object:
        raise KeyError(path)

    def spin(path: Path) -> object:
        ends = time.process_time() + 0.03
        while time.process_time() < ends:
            pass
        raise InputError("no", path=path)

    case = Case("x", lambda path: path.write_bytes(b"x"))
    assert "crash: KeyError" in try_file(Reader("x", "x.txt", crash, []), case).faults[0]
    assert try_file(Reader("x", "x.txt", spin, []), case).faults[0].endswith(" s, not 0.02")
    level = readers()["level"]
    assert "exit code 0" in try_file(replace(level, command=("levels",)), case).faults


def test_every_way_of_spoiling_spoils() -> None:
    rng, good = np.random.default_rng(0), readers()["game"].good[0]
    for name, spoil in SPOIL.items():
        assert any(spoil(good, rng) != good for _ in range(5)), name
        assert isinstance(spoil(b"", rng), bytes)

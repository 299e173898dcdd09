"""Stories on the command line: ask about one, audit the labels of many, invent new ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from otherminds.cli_levels import JobsOption

ACCEPTED = 100_000


def ask(
    story: Annotated[Path, typer.Argument(metavar="STORY", help="A text, a JSON file, or JSONL with --id.")],
    question: Annotated[
        str | None, typer.Option(help="The question, with options A) … B) …; default: the one in the file.")
    ] = None,
    name: Annotated[str | None, typer.Option("--id", metavar="ID", help="Which story of a JSONL file.")] = None,
    model: Annotated[
        str | None, typer.Option(help="A language model that reads what the built-in reader cannot.")
    ] = None,
    convention: Annotated[
        str, typer.Option(metavar="NAME", help="Who sees what: sally-anne, everyday, tomi or hi-tom.")
    ] = "sally-anne",
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Ask what somebody in a story believes, wants, or means to another; see what the answer rests on.

    Example: otherminds ask story.txt --question "Where will Sally look for the ball?"
    """
    from otherminds import story_screens
    from otherminds.experiments.story_questions import asked

    found = asked(story, question, name, model, convention)
    if as_json:
        typer.echo(json.dumps([story_screens.as_data(one) for one in found], ensure_ascii=False))
        return
    console = Console(width=None if sys.stdout.isatty() else 100)
    for one in found:
        console.print(story_screens.answer(one))


def audit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rows with story, question, answer; or a benchmark.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="jsonl, tomi, hi_tom, bigtom, mmtom_qa or mumatom; default: found out."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every verdict as JSON.")] = False,
) -> None:
    """Check the labels of a benchmark by simulating its stories, and list those that contradict what happened.

    Example: otherminds audit questions.jsonl
    """
    from otherminds import story_screens
    from otherminds.experiments.story_questions import audited

    found = audited(file, form)
    if as_json:
        for verdict in found.verdicts:
            typer.echo(json.dumps(story_screens.verdict_data(verdict), ensure_ascii=False))
        return
    Console(width=None if sys.stdout.isatty() else 110).print(story_screens.audit(found))


def generate_stories(
    n: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many stories.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all randomness.")] = 1,
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("stories"),
    phrasing: Annotated[
        list[str] | None, typer.Option(help="How they are told; may be given again. Default: all in turn.")
    ] = None,
    boards: Annotated[int, typer.Option(min=0, max=ACCEPTED, help="Storyboards of that many stories.")] = 0,
    videos: Annotated[int, typer.Option(min=0, max=ACCEPTED, help="Short videos (GIF) of that many stories.")] = 0,
    jobs: JobsOption = 1,
) -> None:
    """Invent stories with questions whose answers are exact and cannot be guessed from the question.

    Example: otherminds generate stories --n 1000 --seed 1 --out DIR
    """
    from otherminds.experiments.story_sets import make, write

    written = write(out, make(n, seed, jobs, phrasing or ()), boards, videos)
    typer.echo(f"{written:,} stories in {out / 'stories.jsonl'}")

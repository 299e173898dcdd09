"""Stories on the command line: ask about one, audit the labels of many, invent new ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from otherminds.cli.options import TARGET_MISSED, JobsOption

ACCEPTED = 100_000


def ask(
    story: Annotated[
        str, Argument(metavar="[STORY]", help="The story itself, or a file: text, JSON, or JSONL with --id.")
    ] = "-",
    question: Annotated[
        str | None, Option(metavar="TEXT", help="With options A) … B) …; default: the one in the story.")
    ] = None,
    name: Annotated[str | None, Option("--id", metavar="ID", help="Which story of a JSONL file.")] = None,
    model: Annotated[
        str | None, Option(metavar="NAME", help="Reads what the built-in reader cannot, as gpt-4o, ollama:NAME, URL.")
    ] = None,
    convention: Annotated[
        str | None, Option(metavar="NAME", help="Who sees what: sally-anne (default), everyday, tomi, hi-tom.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Ask what somebody in a story believes, wants, or means.

    The answer comes with what it rests on. Without a story, it is read from standard input.

    Example: otherminds ask my.txt --question "Where will Sally look for the ball?"
    """
    from otherminds.evaluation.progress import noted

    story = sys.stdin.read() if story == "-" else story
    with noted("reading the story"):
        from otherminds.evaluation.story_questions import asked
        from otherminds.language.availability import check_model
        from otherminds.reports.terminal import stories as story_screens

        answers = asked(story, question, name, model and check_model(model), convention)
    if as_json:
        typer.echo(json.dumps([story_screens.as_data(answer) for answer in answers], ensure_ascii=False))
        return
    console = Console(width=None if sys.stdout.isatty() else 100)
    for answer in answers:
        console.print(story_screens.answer(answer))


def audit(
    file: Annotated[Path, Argument(metavar="FILE", help="Rows with story, question, answer; or a benchmark.")],
    form: Annotated[
        str | None,
        Option(
            "--format",
            metavar="FORMAT",
            help="jsonl, tomi, hi_tom, bigtom, mmtom_qa, opentom, tombench, fantom or mumatom; default: found out.",
        ),
    ] = None,
    proofs: Annotated[
        Path | None,
        Option("--proofs", metavar="FILE", help="Write the contradictions with their proof as JSONL."),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print every verdict as JSON.")] = False,
) -> None:
    """Check the labels of a benchmark by simulating its stories.

    Those that contradict what happened are listed. Exit code 1 if there are any.

    Example: otherminds audit questions.jsonl
    """
    from otherminds.evaluation.progress import noted
    from otherminds.evaluation.story_audits import audited
    from otherminds.files.text import write_whole
    from otherminds.reports.terminal import audits as audit_screens

    with noted("reading the stories"):
        label_audit = audited(file, form)
    if proofs is not None:
        write_whole(proofs, audit_screens.proofs(label_audit))
    if as_json:
        typer.echo(json.dumps(audit_screens.audit_data(label_audit), ensure_ascii=False))
    else:
        Console(width=None if sys.stdout.isatty() else 110).print(audit_screens.audit(label_audit))
    if label_audit.contradicted:
        raise typer.Exit(TARGET_MISSED)


def generate_stories(
    n: Annotated[int, Option(min=1, max=1_000_000, metavar="N", help="How many stories.")] = 1000,
    seed: Annotated[int, Option(min=0, metavar="N", help="Seed of all randomness.")] = 1,
    out: Annotated[Path, Option(metavar="FOLDER", help="Where to write.")] = Path("stories"),
    phrasing: Annotated[
        list[str] | None, Option(metavar="NAME", help="How they are told; repeatable. Default: all.")
    ] = None,
    boards: Annotated[int, Option(min=0, max=ACCEPTED, metavar="N", help="Storyboards of that many.")] = 0,
    videos: Annotated[int, Option(min=0, max=ACCEPTED, metavar="N", help="Videos (GIF) of that many.")] = 0,
    video_report: Annotated[bool, Option("--seen", help="Add each episode as a video model would report it.")] = False,
    jobs: JobsOption = 1,
) -> None:
    """Invent stories with questions whose answers are exact.

    The answers cannot be guessed from the question.

    Example: otherminds generate stories --n 1000 --seed 1 --out DIR
    """
    from otherminds.evaluation.story_sets import make, write

    count = write(out, make(n, seed, jobs, phrasing or (), video_report=video_report), boards, videos)
    typer.echo(f"{count:,} stories in {out / 'stories.jsonl'}")

"""Sets of invented stories: rows of a JSONL file, with storyboards and videos of the first ones."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from otherminds.errors import unknown
from otherminds.evaluation.engines import in_order, opened, stream
from otherminds.evaluation.progress import shown
from otherminds.files.text import naming, write_whole
from otherminds.stories.files import as_json, episode_of, question_json
from otherminds.stories.invented.invention import CELLS, Story, invent
from otherminds.stories.invented.perception import VIDEO_MODEL, seen_through
from otherminds.stories.invented.telling import phrasings, tell

BLOCK = 3 * len(CELLS)  # stories made at a time: one group of three for every cell of the design
LETTERS = "ABC"

Row = dict[str, Any]


def block(k: int, seed: int, phrasing_names: Sequence[str], video_report: bool) -> list[Row]:
    """The k-th `BLOCK` rows of a seed, the same on any number of processes; groups take turns with the phrasings.

    With `video_report`, each row also has the episode as a video model would report it.
    """
    gc.freeze()  # planning tables stay in memory: don't search them for garbage
    rng = stream(seed, "stories", str(k))
    words_rng, report_rng = stream(seed, "words", str(k)), stream(seed, "seen", str(k))
    rows = []
    for i, story in enumerate(invent(BLOCK, rng, first=k * len(CELLS))):
        row = _row(story, phrasing_names[(k * len(CELLS) + i // 3) % len(phrasing_names)], words_rng)
        if video_report:
            row["seen"] = as_json(seen_through(story.episode, VIDEO_MODEL, report_rng))
        rows.append(row)
    return rows


def _row(story: Story, phrasing: str, rng: np.random.Generator) -> Row:
    """A story as a row of a set: its text in a phrasing, the question with its options and answer, and the episode."""
    wording = tell(story.episode, story.question, phrasing, rng)
    return {
        "id": story.id,
        "group": story.group,
        "cell": story.cell,
        "story": wording.story,
        "question": wording.question,
        "options": list(wording.options),
        "answer": wording.options[story.gold],
        "letter": LETTERS[story.gold],
        "margin": round(story.margin, 3),
        "phrasing": phrasing,
        "episode": as_json(story.episode),
        "asked": question_json(story.question),
    }


def make(
    n: int,
    seed: int,
    jobs: int = 1,
    phrasing_names: Sequence[str] = (),
    quiet: bool = False,
    video_report: bool = False,
) -> Iterator[Row]:
    """The first `n` rows of a seed, in the phrasings with these names (all by default).

    With `video_report`, rows also have the episode as a video model would report it. Raises InputError at once if a
    phrasing is unknown.
    """
    for name in phrasing_names:
        if name not in phrasings():
            raise unknown("phrasing", name, phrasings())
    names = tuple(phrasing_names) or tuple(phrasings())
    return _rows(n, partial(block, seed=seed, phrasing_names=names, video_report=video_report), jobs, quiet)


def _rows(n: int, block_of: Callable[[int], list[Row]], jobs: int, quiet: bool) -> Iterator[Row]:
    """The first `n` rows of the blocks 0, 1, 2, …, on `jobs` processes, with a progress bar unless `quiet`."""
    blocks = -(-n // BLOCK)
    with opened(None, jobs) as engine:
        row_blocks = in_order(block_of, range(blocks), engine=engine)
        for k, rows in enumerate(row_blocks if quiet else shown(row_blocks, blocks, "Inventing stories")):
            yield from rows[: n - k * BLOCK]


def write(folder: Path, rows: Iterator[Row], boards: int = 0, videos: int = 0) -> int:
    """Write stories.jsonl, and storyboards (SVG and PNG) and videos (GIF) of the first stories.

    Returns the number of rows. Interrupted, it writes those that it has, and the interruption has a note. Raises
    InputError if the folder cannot be written.
    """
    count = 0
    interrupted = list[KeyboardInterrupt]()  # empty, or the interrupt

    def lines() -> Iterator[bytes]:
        """The rows as lines of JSON, drawing the first stories on the way; an interrupt ends them early."""
        nonlocal count
        try:
            for row in rows:
                _draw(folder, row, count < boards, count < videos)
                yield json.dumps(row, ensure_ascii=False).encode() + b"\n"
                count += 1
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(f"{count:,} stories are in {folder / 'stories.jsonl'}")
            interrupted.append(interrupt)

    try:
        with naming(folder, "cannot be written"):
            folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "stories.jsonl", lines())
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"{folder / 'stories.jsonl'} was not written")
        raise
    if interrupted:
        raise interrupted[0]
    return count


def _draw(folder: Path, row: Row, board: bool, video: bool) -> None:
    """Write the storyboard (`<id>.svg`, `<id>.png`) and the video (`<id>.gif`) of a row's episode, if asked for."""
    if not board and not video:
        return
    from otherminds.stories.pictures.storyboard import storyboard_svg, write_png, write_video

    episode = episode_of(row["episode"])
    if board:
        write_whole(folder / f"{row['id']}.svg", [storyboard_svg(episode).encode()])
        write_png(episode, folder / f"{row['id']}.png")
    if video:
        write_video(episode, folder / f"{row['id']}.gif")

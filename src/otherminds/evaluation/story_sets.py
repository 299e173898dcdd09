"""Sets of invented stories: rows of a JSONL file, with storyboards and videos of the first ones."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from otherminds.errors import InputError, unknown
from otherminds.evaluation.engines import in_order, opened, stream
from otherminds.evaluation.progress import shown
from otherminds.stories.files import as_json, question_json
from otherminds.stories.invented.invention import CELLS, Story, invent
from otherminds.stories.invented.perception import VIDEO_MODEL, seen_through
from otherminds.stories.invented.telling import phrasings, tell

BLOCK = 3 * len(CELLS)  # stories made at a time: one group of three for every cell of the design
LETTERS = "ABC"

Row = dict[str, Any]


@dataclass(frozen=True)
class Blocks:
    """The rows of the k-th block of stories of a seed: a pure function of k, the same on any number of processes.

    With `seen`, each row also has the episode as a video model would report it.
    """

    seed: int
    phrasings: tuple[str, ...]
    seen: bool = False

    def __call__(self, k: int) -> list[Row]:
        """`BLOCK` rows; the groups take turns with the phrasings."""
        gc.freeze()  # planning tables stay in memory: don't search them for garbage
        rng = stream(self.seed, "stories", str(k))
        words, seeing = stream(self.seed, "words", str(k)), stream(self.seed, "seen", str(k))
        stories = invent(BLOCK, rng, first=k * len(CELLS))
        found = []
        for number, story in enumerate(stories):
            phrasing = self.phrasings[(k * len(CELLS) + number // 3) % len(self.phrasings)]
            row = _row(story, phrasing, words)
            if self.seen:
                row["seen"] = as_json(seen_through(story.episode, VIDEO_MODEL, seeing))
            found.append(row)
        return found


def _row(story: Story, phrasing: str, words: np.random.Generator) -> Row:
    told = tell(story.episode, story.question, phrasing, words)
    return {
        "id": story.id,
        "group": story.group,
        "cell": story.cell,
        "story": told.story,
        "question": told.question,
        "options": list(told.options),
        "answer": told.options[story.gold],
        "letter": LETTERS[story.gold],
        "margin": round(story.margin, 3),
        "phrasing": phrasing,
        "episode": as_json(story.episode),
        "asked": question_json(story.question),
    }


def make(
    n: int, seed: int, jobs: int = 1, wanted: Sequence[str] = (), quiet: bool = False, seen: bool = False
) -> Iterator[Row]:
    """The first `n` rows of a seed, in the phrasings `wanted` (all by default).

    With `seen`, rows also have the episode as a video model would report it. Raises InputError at once if a phrasing is
    unknown.
    """
    for name in wanted:
        if name not in phrasings():
            raise unknown("phrasing", name, phrasings())
    return _rows(n, Blocks(seed, tuple(wanted) or tuple(phrasings()), seen), jobs, quiet)


def _rows(n: int, block_of: Blocks, jobs: int, quiet: bool) -> Iterator[Row]:
    blocks = -(-n // BLOCK)
    left = n
    with opened(None, jobs) as engine:
        made = in_order(block_of, range(blocks), engine=engine)
        for block in made if quiet else shown(made, blocks, "Inventing stories"):
            yield from block[:left]
            left -= len(block)


def write(folder: Path, rows: Iterator[Row], boards: int = 0, videos: int = 0) -> int:
    """Write stories.jsonl, and storyboards (SVG and PNG) and videos (GIF) of the first stories.

    Returns the number of rows. Raises InputError if the folder cannot be written.
    """
    count = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "stories.jsonl").open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                _draw(folder, row, count < boards, count < videos)
                count += 1
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=folder) from None
    return count


def _draw(folder: Path, row: Row, board: bool, video: bool) -> None:
    if not board and not video:
        return
    from otherminds.stories.files import episode_of
    from otherminds.stories.pictures.storyboard import storyboard_svg, write_png, write_video

    episode = episode_of(row["episode"])
    if board:
        (folder / f"{row['id']}.svg").write_text(storyboard_svg(episode), encoding="utf-8")
        write_png(episode, folder / f"{row['id']}.png")
    if video:
        write_video(episode, folder / f"{row['id']}.gif")

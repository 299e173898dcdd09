"""MuMA-ToM's episodes retold by writers who did not know the reader: how many questions are answered rightly.

    python benchmarks/retold_episodes.py --data DIR    # the folder with MuMA-ToM's own files, which has the questions

Sixty retellings of its episodes (Shi et al. 2025, Apache-2.0) by three writers: other verbs, another order, pronouns,
passives, asides; what decides the answers is kept. Nobody who wrote rules has read them; two rules were given up or
narrowed by this count. Printed are, for each track, the questions, those answered rightly and wrongly, and those left
open.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from otherminds.papers.mumatom.experiment import TRACKS, BenchmarkEntry, rows
from otherminds.stories.mumatom_files import MumatomEpisode, read_mumatom

RETOLD = Path(__file__).with_suffix(".jsonl")


def retold(folder: Path) -> Iterator[MumatomEpisode]:
    """The episodes of a folder of MuMA-ToM, as the writers tell them."""
    known = {episode.id: episode for episode in read_mumatom(folder)}
    for line in RETOLD.read_text("utf-8").splitlines():
        told = json.loads(line)
        if told["id"] in known:
            yield replace(known[told["id"]], full=told["story"], half=told.get("half"))


def counts(episodes: list[MumatomEpisode], track: str) -> Counter[str]:
    """The number of questions answered rightly, wrongly, and not at all."""
    found = Counter[str]()
    for episode in episodes:
        for row in rows(BenchmarkEntry(episode, track, "symbolic", 0)):
            found["right" if row["correct"] else "open" if row["action"] is None else "wrong"] += 1
    return found


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    episodes = list(retold(parser.parse_args().data))
    for track in TRACKS:
        found = counts(episodes, track)
        print(
            f"{track}: {found.total()} questions, {found['right']} right, {found['wrong']} wrong, {found['open']} open"
        )


if __name__ == "__main__":
    main()

"""MuMA-ToM's episodes retold by writers who did not know the reader: how many questions are answered rightly.

    python -m benchmarks.evidence.retold_episodes --data DIR    # the folder with MuMA-ToM's own questions

Sixty retellings of its episodes (Shi et al. 2025, Apache-2.0) by three writers: other verbs, another order, pronouns,
passives, asides; what decides the answers is kept. Nobody who wrote rules has read them; two rules were given up or
narrowed by this count. Eighty-four by four others, of the full text, have decided nothing at all. Printed are, for each
track, the questions, those answered rightly and wrongly, those left open, and how many would be right if it had to
answer all.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from otherminds.papers.mumatom.experiment import TRACKS, BenchmarkEntry, rows
from otherminds.stories.mumatom_files import MumatomEpisode, read_mumatom

RETOLD = Path(__file__).with_suffix(".jsonl")
ANEW = RETOLD.with_stem("retold_anew")


def retold(folder: Path, file: Path = RETOLD) -> Iterator[MumatomEpisode]:
    """The episodes of a folder of MuMA-ToM, as the writers of a file tell them."""
    known = {episode.id: episode for episode in read_mumatom(folder)}
    for line in file.read_text("utf-8").splitlines():
        told = json.loads(line)
        if told["id"] in known:
            yield replace(known[told["id"]], full=told["story"], half=told.get("half"))


def counts(episodes: Iterable[MumatomEpisode], track: str) -> tuple[Counter[str], float]:
    """The number of questions answered rightly, wrongly, and not at all, and that of right answers with guesses."""
    found = [row for episode in episodes for row in rows(BenchmarkEntry(episode, track, "symbolic", 0))]
    kinds = ("right" if row["correct"] else "open" if row["action"] is None else "wrong" for row in found)
    return Counter(kinds), sum(row["guessing"] for row in found)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    known = list(retold(data))
    for name, episodes, track in [
        *((track, known, track) for track in TRACKS),
        ("anew", retold(data, ANEW), "full_text"),
    ]:
        found, guessing = counts(episodes, track)
        told = ", ".join(f"{found[kind]} {kind}" for kind in ("right", "wrong", "open"))
        print(f"{name}: {found.total()} questions, {told}; {guessing:.0f} right with guesses")


if __name__ == "__main__":
    main()

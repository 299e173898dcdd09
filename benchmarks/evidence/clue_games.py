"""Literal and functional Theory of Mind of known players in the five clue games.

    python -m benchmarks.evidence.clue_games --json docs/stored/clue-games.json

Every player meets every partner of each game twice; all meet the same deals.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from otherminds.evaluation.progress import shown
from otherminds.papers.functional.card_and_word_games import games, plan, rows, summarise

SEED, EPISODES = 42, 2


def main() -> None:
    """Play, print, and write the summary to a file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    path = parser.parse_args().json
    entries = plan(SEED, EPISODES, games())
    played = [row for entry in shown(entries, len(entries), "Playing clue games") for row in rows(entry)]
    named = (row | {"experiment": "clue-games"} for row in summarise(played))
    short = ({key: float(f"{v:.8g}") if isinstance(v, float) else v for key, v in row.items()} for row in named)
    lines = [json.dumps(row, separators=(",", ":")) for row in short]
    print(*lines, sep="\n")
    if path:
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()

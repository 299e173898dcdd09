"""A run that asks a server for thousands of replies, killed hundreds of times (SIGKILL) and resumed.

    python -m benchmarks.attacks.kills --kills 200 --rounds 150

The same run is also played without interruption. Exits with 1 unless the results of both are identical to the last
byte, no episode is lost or duplicated, and every call that the server answered again is listed as uncertain.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from benchmarks.keeping import keep, option
from endpoint_server import serve
from killing import Killing, kill_and_resume, planned, provider, results

MOST = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=20)
    option(parser)
    chosen = parser.parse_args()
    anywhere, reporting = chosen.kills // 8, chosen.kills // 8
    kills = Counter(anywhere=anywhere, calling=chosen.kills - anywhere - reporting, reporting=reporting)
    size = ("--rounds", str(chosen.rounds), "--passes", "3")
    with tempfile.TemporaryDirectory() as name:
        found = compare(Path(name), size, kills, chosen.seed)
    keep(chosen.json, "kills", {(f"{chosen.kills} kills", what): count for what, count in found.items()})


def compare(folder: Path, size: tuple[str, ...], kills: Counter[str], seed: int) -> dict[str, int]:
    began = time.monotonic()
    with serve(provider()) as calm:
        never = Killing(calm, folder / "never", size)
        never.finish()
        print(f"not killed: {never.check_served(0)} in {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    with serve(provider()) as server:
        killed = kill_and_resume(server, folder / "killed", size, kills, MOST, seed)
        found = killed.check_served(kills.total())
    print(f"killed {dict(killed.killed)}: {found} in {time.monotonic() - began:.0f} s")
    episodes, finished = planned(killed.folder)
    print(f"episodes: {len(episodes)} planned, {len(finished)} finished, the same: {episodes == finished}")
    alike = {name: told == results(never.folder)[name] for name, told in results(killed.folder).items()}
    print(f"the same to the last byte: {alike}")
    if episodes != finished or not all(alike.values()) or found["calls"] != len(calm.heard):
        sys.exit(1)
    return found


if __name__ == "__main__":
    main()

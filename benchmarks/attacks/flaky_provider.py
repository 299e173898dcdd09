"""Thousands of calls to a local provider that fails in every known way, and the outcomes of these calls.

    python -m benchmarks.attacks.flaky_provider --calls 5000 --at-once 8 --seed 1

checks that every call ends in the state its fault demands, that no call exceeds the allowed attempts, and that
client and server agree on the totals, which it prints. About half of the requests are answered; the rest meet one of
44 faults.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from benchmarks.keeping import keep, option
from endpoint_server import serve
from otherminds.language.model import Reply, UncertainError
from troubles import ATTEMPTS, ECHO, TIMEOUT, Asked, Flaky, ask_many, check


def told(flaky: Flaky, asked: Asked, seconds: float) -> str:
    """What became of all calls, in lines."""
    answered = sum(isinstance(end, Reply) for end in asked.ends)
    uncertain = sum(isinstance(end, UncertainError) for end in asked.ends)
    failed = len(asked.ends) - answered - uncertain
    heard = Counter(trouble.name for met in flaky.met.values() for trouble in met)
    most = max(map(len, flaky.met.values()))
    room = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return "\n".join(
        [
            f"{len(asked.ends):,} calls in {seconds:.1f} s, all as they have to end",
            f"{answered:,} answered, {uncertain:,} uncertain, {failed:,} failed and free",
            f"{sum(heard.values()):,} requests heard, at most {most} of a call ({ATTEMPTS} are allowed)",
            f"{flaky.billed:,} requests billed, {answered + uncertain:,} accounted for",
            f"{asked.longest:.2f} s for the longest call to a silent or dripping server, with {TIMEOUT:g} s allowed",
            f"{len(heard)} kinds of ends, each met {min(heard.values()):,} times or more",
            f"{threading.active_count()} thread at the end, at most {room:,.0f} MB with the server in the same process",
        ]
    )


def main() -> None:
    """Make the calls, check them, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    option(parser)
    wanted = parser.parse_args()
    flaky, began = Flaky(wanted.seed), time.monotonic()
    with serve(ECHO, fault=flaky) as server:
        asked = ask_many(server.url, wanted.calls, at_once=wanted.at_once)
    check(flaky, asked)
    gc.collect()  # connections end with their endpoints
    print(told(flaky, asked, time.monotonic() - began))
    kinds = {trouble.name for met in flaky.met.values() for trouble in met}
    found = {"kinds": len(kinds), "most requests": max(map(len, flaky.met.values())), "billed": flaky.billed}
    keep(wanted.json, "flaky_provider", {(f"{wanted.calls} calls", what): count for what, count in found.items()})


if __name__ == "__main__":
    main()

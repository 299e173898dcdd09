"""Start-up time of the first commands, as whole processes; exits with 1 if a floor is missed."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

REPEATS = 7
LEVEL = "locked-in"
IMPORT = "import otherminds"
INFERENCE = f"""
from otherminds import Goal, Observer, DoorsKeysGemsPlanner, Seeker, bundled_levels

world = next(level.world for level in bundled_levels() if level.name == "{LEVEL}")
plans, agent = DoorsKeysGemsPlanner(world), world.agents[0]
observer = Observer.over(Seeker(plans, 0, Goal("gem", k)) for k in range(len(world.gems)))
observer = observer.see(world.observe(world.initial, agent))
joint = {{name: world.vocabulary["stay"] for name in world.agents}}
after = world.step(world.initial, joint)
observer = observer.watch(joint[agent], world.observe(after, agent))
print(dict(observer.ask(lambda mind: mind.goal)))
"""
STORY = (
    "Sally and Anne are in the kitchen. Sally puts the marble in the basket. Sally leaves the kitchen. Anne moves the "
    "marble from the basket to the box. Sally comes back."
)
QUESTION = "Where will Sally look for the marble?"
PROGRAM = ("-m", "otherminds")
KEPT = ("PATH", "HOME", "LANG", "SYSTEMROOT", "LD_LIBRARY_PATH")


class Line(NamedTuple):
    """What is begun, the seconds of each time, and the most that the quickest of them may take."""

    name: str
    seconds: list[float]
    most: float


def lines(repeats: int = REPEATS) -> list[Line]:
    """The waits, with modules that have been compiled before, as after the first use."""
    with tempfile.TemporaryDirectory() as folder:
        walk = str(Path(folder) / "walk.jsonl")
        took(*PROGRAM, "watch", LEVEL, "--delay", "0", "--save", walk)
        waits = {
            "import otherminds": (("-c", IMPORT), 0.3),
            "otherminds --help": ((*PROGRAM, "--help"), 0.5),
            "first goal inference, in Python": (("-c", INFERENCE), 1.0),
            "first goal inference, otherminds infer": ((*PROGRAM, "infer", LEVEL, walk), 1.0),
            "first answer about a story, otherminds ask": ((*PROGRAM, "ask", STORY, "--question", QUESTION), 0.5),
        }
        return [Line(name, [took(*words) for _ in range(repeats)], most) for name, (words, most) in waits.items()]


def took(*words: str) -> float:
    """Seconds that Python takes with these words, from start to end, in an environment without much in it."""
    around = {name: os.environ[name] for name in KEPT if name in os.environ}
    began = time.perf_counter()
    subprocess.run([sys.executable, *words], env=around, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    """Print every wait with its floor."""
    found = lines()
    print(f"{'':44}{'least':>8}{'median':>9}{'floor':>9}")
    for name, seconds, most in found:
        told = "" if min(seconds) <= most else "  MISSED"
        print(f"{name:44}{min(seconds):7.2f}s{statistics.median(seconds):8.2f}s{'≤':>5}{most:4.1f}{told}")
    sys.exit(any(min(seconds) > most for _, seconds, most in found))


if __name__ == "__main__":
    main()

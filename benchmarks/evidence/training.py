"""What the small policy of examples/train_a_policy.py gains by exact rewards, with partners that it has never met.

    python -m benchmarks.evidence.training --json docs/stored/training.json

Five policies, each trained for 600 episodes; the reward is the mean over 200 episodes with held-out partners. Also the
CPU seconds of a thousand episodes, with the time to make the partners; and what known players earn with the frozen
pool, from three seeds.
"""

from __future__ import annotations

import argparse
import json
import runpy
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from otherminds.adapters.training import PartnerGame
from otherminds.evaluation.pool import POOL, play_pool, standings
from otherminds.evaluation.statistics import exact, student, summary_row
from otherminds.evaluation.store import Row

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_a_policy.py"
POLICIES, EPISODES, TESTS = 5, 600, 200
SEEDS = 3  # results of a player with the pool
PLAYERS = ("random", "tft", "wsls", "rmax", "counts_myopic", "counts_model", "posterior_sampling", "bayes")


def rows() -> Iterator[Row]:
    """The seconds of a thousand episodes of random play, and the rewards before and after training."""
    env, start = PartnerGame(), time.process_time()
    for seed in range(1000):
        env.reset(seed=seed)
        while not env.done:
            env.predict(env.setting.theirs[0])
            env.choose(env.setting.own[(seed + len(env.rows)) % 2])
        env.get_reward()
    seconds = time.process_time() - start
    yield summary_row("training", "1000 episodes", "PartnerGame", "seconds", exact(seconds, 1000))
    learn = runpy.run_path(str(EXAMPLE))["learn"]
    curves = [learn(seed, EPISODES, TESTS) for seed in range(POLICIES)]
    for metric, rewards in (
        ("reward_before", [curve[0] for curve in curves]),
        ("reward_after", [curve[-1] for curve in curves]),
        ("gain", [curve[-1] - curve[0] for curve in curves]),
    ):
        yield summary_row("training", "structured/held-out", "reinforce", metric, student(rewards))


def pool_rows() -> Iterator[Row]:
    """What known players earn with the frozen pool, and how often they predict rightly."""
    for name in PLAYERS:
        (standing,) = standings(play_pool(name, seed) for seed in range(SEEDS))
        yield summary_row("training", f"pool {POOL}", name, "reward", standing.reward)
        yield summary_row("training", f"pool {POOL}", name, "accuracy", exact(standing.accuracy, SEEDS))


def main() -> None:
    """Print the figures, or write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    path = parser.parse_args().json
    short = (
        {key: float(f"{v:.8g}") if isinstance(v, float) else v for key, v in row.items()}
        for row in chain(rows(), pool_rows())
    )
    lines = [json.dumps(row, separators=(",", ":")) for row in short]
    if path:
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()

"""Search how much of a kind the bound of Hypothetical Minds gathers before it meets each bot.

    python -m benchmarks.evidence.bound_margins    # writes bound.toml of papers/hypothetical_minds
    python -m benchmarks.evidence.bound_margins --bot NAME     # only shows the scores of one bot

On development seeds, which no result is measured with: the mean reward in 1200 steps for each margin, on the same
episodes; the best margin is kept. Takes about half an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean

from otherminds.evaluation.engines import stream
from otherminds.papers.hypothetical_minds import bound
from otherminds.papers.hypothetical_minds.melting_pot import NORMED, background
from otherminds.world import rollout
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import bot, scenarios

SEEDS = (777, 778)
SEARCHED: Mapping[str, tuple[Sequence[int], int]] = {
    "pd_repeated": ((1, 2, 3, 4, 5), 2),
    "rws_repeated": ((5, 7, 8, 9, 10, 11, 13), 2),
    "rws_arena": ((1, 3, 4, 5, 6, 8), 1),
}
"""The margins that are tried, and the episodes with each seed; chosen for running time."""
WATCHED = (0, 1, 2, 3, 5)  # margins against bots that watch what is gathered; with 0 nobody is met
FILE = Path(bound.__file__).with_name("bound.toml")
HEAD = """\
# By how much the bound lets the kind that it plays lead in its inventory before it meets a bot: found by
# benchmarks/evidence/bound_margins.py on the seeds 777 and 778.

[margins]
"""


def score(name: str, margin: int, seed: int, number: int) -> float:
    """The bound's reward in 1200 steps among players who all are this bot."""
    world = in_the_matrix(name.partition("__")[0])
    me, *others = world.agents
    chance, own = stream(seed, name, str(number)), stream(seed, name, str(number), "bound")
    minds = {agent: background(world, agent, bot(name), chance) for agent in others}
    player = bound.bound(world, me, [name] * len(others), own, margin)
    steps = list(rollout(world, {me: player, **minds}, steps=world.rules.ends.limit, rng=chance))
    return sum(step.after.rewards[0] for step in steps) * NORMED / steps[-1].after.t


def scores(name: str) -> dict[int, float]:
    """The mean score with each margin."""
    margins, episodes = SEARCHED[name.partition("__")[0]]
    tried, episodes = (margins, episodes) if bot(name).strategy is not None else (WATCHED, 4)
    return {margin: fmean(score(name, margin, *one) for one in product(SEEDS, range(episodes))) for margin in tried}


def main(arguments: Sequence[str] | None = None) -> None:
    """Search for all bots of matrix worlds, or for one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bot", help="only this one")
    wanted = parser.parse_args(arguments).bot
    names = dict.fromkeys(name for one in scenarios() if one.substrate in SEARCHED for name in one.bots)
    lines = []
    for name in [wanted] if wanted else names:
        found = scores(name)
        best = max(found, key=found.__getitem__)
        shown = ", ".join(f"{margin}: {value:.1f}" for margin, value in found.items())
        print(f"{name}: {shown}", flush=True)
        lines.append(f"{name} = {best} # {found[best]:.1f}")
    if not wanted:
        FILE.write_text(HEAD + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()

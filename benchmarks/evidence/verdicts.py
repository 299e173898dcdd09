"""Is the verdict of a check true? Agents whose exact loss on the suite is known are checked many times over.

    python -m benchmarks.evidence.verdicts               # coverage, wrong verdicts and decided shares of all agents
    python -m benchmarks.evidence.verdicts --seeds 50    # fewer checks of each

Agents are finite-state: mixers reply best to the last move with probability p and else play at random; the careless
play so for a spell of some ten rounds, or for a whole episode; the constant name one option for ever. Their exact
losses come from the joint distribution over their states and the partner's, without sampling.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.literal_functional import normalised
from otherminds.evaluation.progress import shown
from otherminds.evaluation.tasks import Task
from otherminds.papers.functional.verdicts import LEAST_PASSES, MOST_PASSES, CheckPlan, loss_of_passes
from otherminds.worlds.repeated_games.payoff_files import find_game

Floats = NDArray[np.float64]
GAMES = ("rps", "ibs", "ipd")
LIMIT = 0.5  # the limit of a check
SPELL = 0.1  # chance of a round that a careless spell begins or ends: spells of ten rounds


@dataclass(frozen=True)
class MemoryAgent:
    """An agent with two moods, who replies best to the partner's last move with a probability that depends on the mood.

    `skill` are these probabilities, `start` is that of the first mood at the beginning, `change` that of a change of
    mood after a round. `constant` is an option that it always names instead.
    """

    name: str
    skill: tuple[float, float]
    start: float = 1.0
    change: float = 0.0
    constant: int | None = None

    def policies(self, payoff: Floats) -> Floats:
        """π(a | mood, last move of the partner), shape (2, |B| + 1, |A|); the last row is for the first round."""
        options, theirs = payoff.shape
        if self.constant is not None:
            return np.broadcast_to(np.eye(options)[self.constant % options], (2, theirs + 1, options))
        replies = np.concatenate([np.eye(options)[payoff.argmax(axis=0)], np.full((1, options), 1 / options)])
        skill = np.array(self.skill)[:, None, None]
        policies: Floats = skill * replies + (1.0 - skill) / options
        return policies


@dataclass(frozen=True)
class Meeting:
    """An agent with one partner: its exact loss, and samples of it."""

    agent: MemoryAgent
    task: Task

    @cached_property
    def exact(self) -> float:
        """The expected share of the loss of random play."""
        payoff, (outputs, moves) = self.task.game.payoff(), self.task.partner.chances
        policies, theirs = self.agent.policies(payoff), payoff.shape[1]
        weights = {(mood, theirs, 0): p for mood, p in enumerate((self.agent.start, 1.0 - self.agent.start)) if p}
        earned = 0.0
        for _ in range(self.task.horizon):
            onward: dict[tuple[int, int, int], float] = {}
            for (mood, last, q), weight in weights.items():
                for a, b in np.ndindex(payoff.shape):
                    if chance := weight * policies[mood, last, a] * outputs[q, b]:
                        earned += chance * payoff[a, b]
                        for after, p in ((mood, 1.0 - self.agent.change), (1 - mood, self.agent.change)):
                            to = (after, b, int(moves[q, a, b]))
                            onward[to] = onward.get(to, 0.0) + chance * p
            weights = onward
        return normalised(self.task, (self.task.optimum - earned) / self.task.horizon)

    def sampled(self, episodes: int, rng: np.random.Generator) -> Floats:
        """The losses of independent episodes. The partner is deterministic."""
        payoff, (outputs, moves) = self.task.game.payoff(), self.task.partner.chances
        cumulative, theirs = self.agent.policies(payoff).cumsum(axis=2), outputs.argmax(axis=1)
        mood = (rng.random(episodes) >= self.agent.start).astype(int)
        last, q = np.full(episodes, payoff.shape[1]), np.zeros(episodes, dtype=int)
        earned = np.zeros(episodes)
        for _ in range(self.task.horizon):
            own = (rng.random((episodes, 1)) > cumulative[mood, last]).sum(axis=1).clip(max=len(payoff) - 1)
            last = theirs[q]
            earned += payoff[own, last]
            q = moves[q, own, last]
            mood ^= rng.random(episodes) < self.agent.change
        lost = (self.task.optimum - earned) / self.task.horizon
        return np.array([normalised(self.task, regret) for regret in lost])


def agents() -> Iterator[MemoryAgent]:
    """Twenty agents: mixers, with careless spells, with careless episodes, and constant ones."""
    for p in (1.0, 0.95, 0.9, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.2, 0.0):
        yield MemoryAgent(f"mixer {p:g}", (p, p))
    for p in (0.3, 0.5, 0.7):
        yield MemoryAgent(f"careless spells {p:g}", (1.0, 0.0), start=1.0 - p, change=SPELL)
    for p in (0.2, 0.4, 0.5, 0.6):
        yield MemoryAgent(f"careless episodes {p:g}", (1.0, 0.0), start=1.0 - p)
    for option in (0, 1):
        yield MemoryAgent(f"constant {option}", (1.0, 1.0), constant=option)


def at_loss(loss: float, tasks: Sequence[Task]) -> MemoryAgent:
    """The mixer with this exact loss, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if expected(MemoryAgent("", (middle,) * 2), tasks) > loss else (low, middle)
    return MemoryAgent(f"mixer at {loss:g}", (low, low))


def expected(agent: MemoryAgent, tasks: Sequence[Task]) -> float:
    """The exact loss of an agent over the suite."""
    return float(np.mean([Meeting(agent, task).exact for task in tasks]))


def judged(agent: MemoryAgent, tasks: Sequence[Task], seeds: int) -> tuple[float, ...]:
    """Over seeds: share of five-pass intervals that cover the exact loss, shares decided right and wrong, passes."""
    exact, most = expected(agent, tasks), MOST_PASSES
    rng = np.random.default_rng([7, *agent.name.encode()])
    losses = np.stack([Meeting(agent, task).sampled(seeds * most, rng).reshape(seeds, most) for task in tasks])
    covered, right, wrong, passes = 0, 0, 0, 0
    for by_partner in losses.transpose(1, 0, 2):
        whole = loss_of_passes(by_partner, level=0.95)
        covered += whole.low - 1e-9 <= exact <= whole.high + 1e-9
        for n in range(LEAST_PASSES, most + 1):
            interval = loss_of_passes(by_partner[:, :n])
            if not interval.low <= LIMIT < interval.high:
                right += (interval.high <= LIMIT) == (exact <= LIMIT)
                wrong += (interval.high <= LIMIT) != (exact <= LIMIT)
                break
        passes += n
    return exact, covered / seeds, right / seeds, wrong / seeds, passes / seeds


def main() -> None:
    """Print a line for every agent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=400, metavar="N", help="checks of each agent [400]")
    arguments = parser.parse_args()
    tasks = CheckPlan(tuple(map(find_game, GAMES))).tasks()
    every = [*agents(), *(at_loss(loss, tasks) for loss in (0.38, 0.499, 0.501, 0.62))]
    print(f"{'agent':24}{'loss':>8}{'covered':>9}{'right':>8}{'wrong':>8}{'passes':>8}")
    for agent in shown(every, len(every), "Checking"):
        print(f"{agent.name:24}" + "{:8.3f}{:9.3f}{:8.3f}{:8.3f}{:8.2f}".format(*judged(agent, tasks, arguments.seeds)))


if __name__ == "__main__":
    main()

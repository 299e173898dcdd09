"""A table of logits, by the last two rounds, learns from exact rewards to play partners that it has never met."""

import sys
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import PartnerGame
from otherminds.evaluation.statistics import student
from otherminds.reports.plots import BLUE, LOOK


def episode(env, logits, rng, **row):
    """Play an episode: for each round the context, the action, and the probability of defection."""
    env.reset(**row)
    while not env.done:
        context = tuple((played["action"], played["observed"]) for played in env.rows[-2:])
        p = 1.0 / (1.0 + np.exp(-logits[context]))
        action = int(rng.random() < p)
        env.choose(env.setting.own[action])
        yield context, action, p


def learn(seed, episodes=200, tests=40):
    """Mean reward with held-out partners before training, and after each hundred episodes of it."""
    env, rng, logits, baseline, means = PartnerGame(), np.random.default_rng(seed), *map(defaultdict, [float] * 2), []
    for n in range(episodes + 1):
        if n % 100 == 0:
            played = (list(episode(env, logits, rng, seed=test, part="held-out")) for test in range(tests))
            means.append(sum(env.get_reward() for _ in played) / tests)
        steps = list(episode(env, logits, rng, seed=seed * 10_000 + n))
        for (context, action, p), reward in zip(steps, env.step_rewards, strict=True):
            advantage = reward - baseline[context]
            logits[context] += 2.0 * advantage * (action - p)  # a step along the gradient of log π
            baseline[context] += 0.1 * advantage  # a running mean
    return means


if __name__ == "__main__":
    curves = np.array([learn(seed) for seed in range(5)])
    gain = student(list(curves[:, -1] - curves[:, 0]))
    print("mean reward with held-out partners:", *curves.mean(axis=0).round(2))
    print(f"gain of five policies: {gain.value:.2f}, 95 % interval {gain.low:.2f} to {gain.high:.2f}")
    plt.rcParams.update(LOOK)
    figure, axes = plt.subplots(figsize=(5.2, 2.6))
    axes.plot(range(0, 201, 100), curves.T, ".-", color=BLUE)
    axes.set(xlabel="episodes of training", ylabel="reward, held-out partners", ylim=(-0.2, 1))
    figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "train_a_policy.svg", metadata={"Date": None})

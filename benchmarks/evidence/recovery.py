"""Which parameters can be recovered in bandits, and are posteriors calibrated? By people who are simulated.

    python -m benchmarks.evidence.recovery                        # 40 people, 1,000 for calibration
    python -m benchmarks.evidence.recovery --people 10 --draws 50  # fewer

Bandits: two arms that reverse and win or not, and four whose points drift, 200 trials a person. Each mind is fitted to
people simulated by it; where r of true and fitted values is below .9, they are simulated again in ten times the blocks.
Calibration: parameters are drawn from the prior, people simulated with them play a bot, and P(parameter < truth | data)
should be uniform, so that a 95 % interval holds the truth in 95 %. (Talts et al. 2018, arXiv:1804.06788.) Exits with 1
if a posterior is not calibrated.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, kstest

from benchmarks.keeping import keep, option
from otherminds.evaluation.choices import Choices, simulated
from otherminds.evaluation.fitting import WEAK_PRIOR, weakly
from otherminds.evaluation.likelihoods import FARTHEST, Likelihood
from otherminds.evaluation.model_comparison import Recovery, drawn, recovery
from otherminds.evaluation.populations import posterior
from otherminds.evaluation.progress import shown
from otherminds.mind import ParametricMind
from otherminds.papers.people.datasets import bots, dataset
from otherminds.reports.people_words import RECOVERED, recovered_in_words
from otherminds.worlds.bandits.learners import LEARNERS, MISSED
from otherminds.worlds.bandits.rules import Bandit
from otherminds.worlds.repeated_games.players.parametric import MINDS

Floats = NDArray[np.float64]
TRIALS, TIMES = 200, 10  # trials of a block, and blocks where one is too few
REVERSES, WINS = 40, 0.8  # trials after which the better of two arms changes, and how often it wins, the other not
DECAY, DRIFT, NOISE, START = 0.9836, 0.028, 0.04, 0.15  # of four arms as in Daw et al. (2006), in units of 100 points
CALIBRATED = ("wsls", "q_learning", "weighted_counts")
LEVELS = (0.5, 0.95)  # of intervals
UNLIKELY = 0.001  # probability under calibration below which a posterior is said not to be calibrated

Figures = dict[tuple[str, str], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=40, metavar="N", help="who meet each bandit [40]")
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="from the prior of each mind [1000]")
    option(parser)
    chosen = parser.parse_args()
    found: Figures = {}
    bandits(chosen.people, found)
    is_good = calibration(chosen.draws, found)
    keep(chosen.json, "recovery", found)
    sys.exit(not is_good)


# Bandits


def bandits(people: int, found: Figures) -> None:
    """Print how well the parameters of each mind are recovered with two arms and with four, and put it into `found`."""
    tried = [(arms, mind) for arms in (2, 4) for mind in LEARNERS.values() if mind.parameters]
    print(f"{'r of true and fitted':40}{'200 trials':>12}{'2,000':>8}  why")
    for arms, mind in shown(tried, len(tried), "Recovering minds from bandits"):
        short = recovered(mind, arms, people, 1)
        is_short = any(one.r < RECOVERED for one in short)
        long = recovered(mind, arms, people, TIMES) if is_short else []
        for k, one in enumerate(short):
            condition = f"bandit of {arms}:{one.mind}:{one.parameter}"
            found[condition, "r"] = one.r
            found[condition, "error"] = one.error
            if one.r < RECOVERED:
                found[condition, "r with ten times the blocks"] = long[k].r
            later = f"{long[k].r:8.2f}" if one.r < RECOVERED else " " * 8
            name = f"{arms} arms, {one.mind}, {one.parameter}"
            print(f"{name:40}{one.r:12.2f}{later}  {recovered_in_words(one)}", flush=True)


def recovered(mind: ParametricMind, arms: int, people: int, blocks: int) -> list[Recovery]:
    """The recovery of a mind's parameters from people with so many blocks of trials, all of which are alike."""
    like, rng = random_choices(arms, people, blocks), np.random.default_rng([arms, blocks])
    truth = drawn(mind, people, rng)
    return recovery(truth, weakly(Likelihood.of(mind, simulated(mind, like, truth, rng))))


def random_choices(arms: int, people: int, blocks: int) -> Choices:
    """People who choose at random, so that the rewards of every arm are known; all meet the same arms."""
    rng = np.random.default_rng(0)
    person = np.tile(np.arange(people), blocks)
    value = reversing() if arms == 2 else drifting(arms, rng)
    own = rng.integers(arms, size=(len(person), TRIALS))
    mean = value[np.arange(TRIALS), own]
    rewards = (rng.random(mean.shape) < mean).astype(float) if arms == 2 else np.clip(rng.normal(mean, NOISE), 0.0, 1.0)
    faced = (Bandit("arms", tuple("ABCD"[:arms])),) * len(person)
    names, number = tuple(map(str, range(people))), np.tile(np.arange(TRIALS), (len(person), 1))
    nobody = np.full_like(own, MISSED)
    return Choices(names, ("all",) * people, person, faced, own, nobody, number, rewards=rewards)


def reversing() -> Floats:
    """How often each of two arms wins, shape (trials, 2)."""
    is_first = np.arange(TRIALS) // REVERSES % 2 == 0
    first = np.where(is_first, WINS, 1.0 - WINS)
    return np.stack([first, 1.0 - first], axis=1)


def drifting(arms: int, rng: np.random.Generator) -> Floats:
    """Mean rewards of arms that drift, and are drawn towards the middle, shape (trials, arms)."""
    values = [rng.normal(0.5, START, size=arms)]
    for _ in range(TRIALS - 1):
        values.append(0.5 + DECAY * (values[-1] - 0.5) + rng.normal(0.0, DRIFT, size=arms))
    return np.array(values)


# Calibration


def calibration(draws: int, found: Figures) -> bool:
    """Print how posteriors hold parameters that come from their prior, and say whether all do as they should."""
    print(f"\n{'parameters from the prior':40}{'in 50 %':>12}{'in 95 %':>12}{'p (uniform)':>14}")
    is_good = True
    for name in shown(CALIBRATED, len(CALIBRATED), "Drawing from priors"):
        for parameter, below in zip(MINDS[name].names, ranks(MINDS[name], draws).T, strict=True):
            inside = [float((np.abs(below - 0.5) <= level / 2.0).mean()) for level in LEVELS]
            p = float(kstest(below, "uniform").pvalue)
            print(f"{f'{name}, {parameter}':40}{inside[0]:12.3f}{inside[1]:12.3f}{p:14.3f}", flush=True)
            found |= {(f"{name} {parameter}", f"in {level:.0%}"): x for level, x in zip(LEVELS, inside, strict=True)}
            found[f"{name} {parameter}", "p of uniform ranks"] = p
            is_good &= min(p, *map(improbability, inside, LEVELS, [draws] * len(LEVELS))) >= UNLIKELY
    return is_good


def improbability(share: float, level: float, draws: int) -> float:
    """The two-sided probability of a share at least as far from its level, were intervals calibrated."""
    held = round(share * draws)
    return min(1.0, 2.0 * min(float(binom.cdf(held, draws, level)), float(binom.sf(held - 1, draws, level))))


def ranks(mind: ParametricMind, draws: int) -> Floats:
    """P(parameter < truth | choices) of people whose parameters come from the prior, shape (draws, d)."""
    rng = np.random.default_rng(0)
    like = dataset("human-rps").of_group("prev_move_positive")
    like = replace(like.subset([n % len(like.people) for n in range(draws)]), people=tuple(map(str, range(draws))))
    x = np.clip(rng.normal(0.0, WEAK_PRIOR, (draws, len(mind.parameters))), -FARTHEST, FARTHEST)
    values = {p.name: p.value(x[:, i]) for i, p in enumerate(mind.parameters)}
    people = simulated(mind, like, values, rng, bots())
    return posterior(Likelihood.of(mind, people), draws=8192).below(x)


if __name__ == "__main__":
    main()

"""Are fits the best there are, and do their intervals hold what they should? Against grids, many starts, simulations.

    python -m benchmarks.evidence.fits                        # 40 people of each data set, 200 simulated sets
    python -m benchmarks.evidence.fits --people 4 --sets 10   # fewer

Maxima: by how many nats fits of people fall short of a polished grid of 61 x 61 points (minds with two parameters), or
of the best of 200 searches from random points (larger minds). Intervals: how often 95 % intervals by person hold the
true parameter if 30 % of the rounds are missed, and those of a group's effect, with an effect of .8 and without one.
Exits with 1 if a maximum was missed, or intervals hold the truth too rarely or too often.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.keeping import keep, option
from otherminds.evaluation.choices import Choices, crowd_of, simulated
from otherminds.evaluation.fitting import Objective, fit, log_prior, maximise, profile, weakly, with_prior
from otherminds.evaluation.likelihoods import AT_ONCE, FARTHEST, Likelihood
from otherminds.evaluation.populations import effects, population
from otherminds.evaluation.progress import shown
from otherminds.mind import ParametricMind
from otherminds.papers.people.datasets import DATASETS, bots, dataset
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.in_vectors import Ints
from otherminds.worlds.repeated_games.players.parametric import MINDS, parametric

Floats = NDArray[np.float64]
SIDE = 61  # points of the grid along each parameter
SEARCHES, AROUND = 200, 6.0  # random starts for larger minds, and how far from 0 they lie at most on the real line
TOGETHER = 20  # searches of each person at once; bounds memory
SHORT_OF_GRID, SHORT_OF_SEARCHES = 1e-3, 1e-2  # nats by which a fit may fall short
COVERED, COVERED_EFFECTS = (0.92, 0.97), (0.92, 0.98)  # shares of 95 % intervals that may hold the truth
SIMULATED, ROUNDS, MISSES, SLIPS = 100, 100, 0.3, 0.2  # people and rounds of a case, missed moves, partners' slips
CASES: tuple[tuple[str, Mapping[str, float]], ...] = (
    ("tft", {"tremble": 0.1}),
    ("tft", {"tremble": 0.3}),
    ("grim", {"tremble": 0.2}),
    ("wsls", {"win_stay": 0.8, "lose_shift": 0.6}),
    ("q_learning", {"rate": 0.3, "beta": 5.0}),
    ("weighted_counts", {"memory": 0.8, "beta": 5.0}),
)
EFFECTS = (0.0, 0.8)  # on the real line
TYPICAL, SPREAD = (0.5, -0.3), 0.6  # means of the first group's parameters, and standard deviation of people
POPULATION, PLAYED = 40, 80  # people in two groups, and their rounds

Figures = dict[tuple[str, str], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=40, metavar="N", help="of each data set, for maxima [40]")
    parser.add_argument("--sets", type=int, default=200, metavar="M", help="simulated with each group effect [200]")
    option(parser)
    chosen = parser.parse_args()
    found: Figures = {}
    verdicts = [maxima(chosen.people, found), intervals(found), group_effects(chosen.sets, found)]
    keep(chosen.json, "fits", found)
    sys.exit(not all(verdicts))


# Maxima


def maxima(people: int, found: Figures) -> bool:
    """Print by how much fits fall short, put it into `found`, and say whether that is little enough."""
    tried = [(data, mind) for data in DATASETS for mind in MINDS.values() if _is_tried(data, mind)]
    tried.sort(key=lambda pair: len(pair[1].parameters))
    print(f"{'nats short of the best known':34}{'of':>12}{'likelihood':>12}{'with prior':>12}")
    is_good = True
    for data, mind in shown(tried, len(tried), "Searching for better maxima"):
        every = dataset(data)
        step = max(len(every.people) // people, 1)
        likelihood = Likelihood.of(mind, every.subset(range(0, len(every.people), step)[:people]))
        is_small = len(mind.parameters) == 2
        gaps = short_of_grid(likelihood) if is_small else short_of_searches(likelihood)
        rival = "grid" if is_small else "searches"
        print(f"{f'{mind.name}, {data}':34}{rival:>12}{gaps[0]:12.2g}{gaps[1]:12.2g}", flush=True)
        found |= {
            (f"{mind.name} {data}", f"nats short of {rival}, {by}"): gap
            for by, gap in zip(("likelihood", "with prior"), gaps, strict=True)
        }
        is_good &= max(gaps) <= (SHORT_OF_GRID if is_small else SHORT_OF_SEARCHES)
    return is_good


def _is_tried(data: str, mind: ParametricMind) -> bool:
    return mind.fits(dataset(data).games[0]) and len(mind.parameters) > 1


def short_of_grid(likelihood: Likelihood) -> tuple[float, float]:
    """Nats by which the fit and the posterior mode fall short of the best point of a grid, and of a search from it.

    The worst of all people; 0 if nothing is better.
    """
    people = np.arange(len(likelihood.choices.people))
    line = np.linspace(-FARTHEST, FARTHEST, SIDE) + 0.01  # not the points at which the fit looks first
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    parts = np.array_split(points, -(-len(points) // AT_ONCE))
    values = np.concatenate([likelihood(np.broadcast_to(p, (len(people), *p.shape))) for p in parts], axis=1)
    alone, weak = fit(likelihood), weakly(likelihood)
    with_weak = values + log_prior(np.broadcast_to(points, (len(people), *points.shape)), weak.mean, weak.sd)
    posterior = with_prior(likelihood, weak.mean, weak.sd)
    polished = maximise(likelihood, points[values.argmax(axis=1)][:, None]).value
    polished_weak = maximise(posterior, points[with_weak.argmax(axis=1)][:, None]).value
    gap = np.maximum(values.max(axis=1), polished) - alone.log_likelihood
    gap_weak = np.maximum(with_weak.max(axis=1), polished_weak) - posterior(weak.x[:, None], people)[:, 0]
    return max(float(gap.max()), 0.0), max(float(gap_weak.max()), 0.0)


def short_of_searches(likelihood: Likelihood) -> tuple[float, float]:
    """Nats by which the fit and the posterior mode fall short of the best of searches from random points.

    The worst of all people; 0 if nothing is better.
    """
    people = np.arange(len(likelihood.choices.people))
    alone, weak = fit(likelihood), weakly(likelihood)
    posterior = with_prior(likelihood, weak.mean, weak.sd)
    gap = best_of_searches(likelihood, weak.x.shape) - alone.log_likelihood
    gap_weak = best_of_searches(posterior, weak.x.shape) - posterior(weak.x[:, None], people)[:, 0]
    return max(float(gap.max()), 0.0), max(float(gap_weak.max()), 0.0)


def best_of_searches(objective: Objective, shape: tuple[int, ...]) -> Floats:
    """The best value for each person of SEARCHES, TOGETHER of which are done at once; `shape` is (people, d)."""
    people, size = shape
    starts = np.random.default_rng(5).uniform(-AROUND, AROUND, (SEARCHES // TOGETHER, people * TOGETHER, 1, size))

    def repeated(x: Floats, units: Ints) -> Floats:
        return objective(x, units // TOGETHER)

    values = np.stack([maximise(repeated, some).value.reshape(people, TOGETHER) for some in starts])
    return np.asarray(values.max(axis=(0, 2)))


# Intervals


def intervals(found: Figures) -> bool:
    """Print how often profile intervals hold the truth though rounds are missed, and say whether that is right."""
    print(f"\n{'95 % intervals, rounds missed':34}{'true':>12}{'median':>12}{'covered':>12}")
    covered = []
    for name, truth in shown(CASES, len(CASES), "Simulating people who miss rounds"):
        likelihood = Likelihood.of(parametric(name, find_game("ipd")), who_miss_rounds(name, truth))
        fitted = fit(likelihood)
        ends = profile(likelihood, fitted, "person")
        for parameter, value in truth.items():
            low, high = ends[parameter].T
            covered.append((low <= value) & (value <= high))
            share, median = float(covered[-1].mean()), float(np.median(fitted.values[parameter]))
            print(f"{f'{name}, {parameter}':34}{value:12g}{median:12.3f}{share:12.3f}", flush=True)
            found[f"{name} {parameter} {value:g}", "share of intervals with the truth, rounds missed"] = share
    pooled = float(np.mean(covered))
    print(f"{'all':34}{'':24}{pooled:12.3f}")
    found["all minds", "share of intervals with the truth, rounds missed"] = pooled
    return COVERED[0] <= pooled <= COVERED[1]


def who_miss_rounds(name: str, truth: Mapping[str, float]) -> Choices:
    """People who miss some of their moves in a dilemma, with partners who copy what they last saw, but for slips."""
    game, rng = find_game("ipd"), np.random.default_rng(3)
    nothing = np.zeros((SIMULATED, ROUNDS), dtype=np.intp)
    people, number = tuple(map(str, range(SIMULATED))), np.tile(np.arange(1, ROUNDS + 1), (SIMULATED, 1))
    groups, games = ("all",) * SIMULATED, (game,) * SIMULATED
    empty = Choices(people, groups, np.arange(SIMULATED), games, nothing, nothing, number)
    crowd = crowd_of(parametric(name, game), empty, {key: np.full((SIMULATED, 1), v) for key, v in truth.items()})
    own, theirs, last = nothing.copy(), nothing.copy(), nothing[:, 0]
    for t in range(ROUNDS):
        wanted = (rng.random(SIMULATED) < crowd.act()[:, 0, 1]).astype(np.intp)
        is_missed = rng.random(SIMULATED) < MISSES
        own[:, t] = np.where(is_missed, MISSED, wanted)
        theirs[:, t] = np.where(rng.random(SIMULATED) < SLIPS, 1 - last, last)
        last = np.where(is_missed, last, wanted)
        crowd = crowd.observe(own[:, t], theirs[:, t])
    return replace(empty, own=own, theirs=theirs)


# Effects of groups


def group_effects(sets: int, found: Figures) -> bool:
    """Print how often effects are found, and how often their intervals hold the truth; say whether that is right."""
    print(f"\n{'effects of a group':34}{'true':>12}{'mean':>12}{'covered':>12}{'found':>12}")
    is_good = True
    for size in EFFECTS:
        seeds = shown(range(sets), sets, f"Estimating effects of {size:g}")
        judged = np.array([estimated(size, seed) for seed in seeds])  # sets, parameters, (value, covered, found)
        for parameter, (value, covered, noticed) in zip(MINDS["wsls"].names, judged.mean(axis=0), strict=True):
            print(f"{parameter:34}{size:12g}{value:12.3f}{covered:12.3f}{noticed:12.3f}", flush=True)
            found[f"effect of {size:g} on {parameter}", "share of intervals with the truth"] = float(covered)
            found[f"effect of {size:g} on {parameter}", "share of effects found"] = float(noticed)
        is_good &= COVERED_EFFECTS[0] <= judged[..., 1].mean() <= COVERED_EFFECTS[1]
    return is_good


def estimated(size: float, seed: int) -> list[tuple[float, bool, bool]]:
    """The effect estimated for each parameter, whether its interval holds the true one, and whether it excludes 0."""
    mind, like, rng = MINDS["wsls"], places(), np.random.default_rng([seed, 7])
    group = np.arange(POPULATION) % 2
    x = rng.normal(np.array(TYPICAL) + size * group[:, None], SPREAD)
    values = {p.name: p.value(x[:, i]) for i, p in enumerate(mind.parameters)}
    people = simulated(mind, like, values, rng, bots())
    design: Floats = np.column_stack([np.ones(POPULATION), group]).astype(float)
    listed = effects(population(Likelihood.of(mind, people), design), ["group"])
    return [(one.value, one.low <= size <= one.high, one.low > 0.0 or one.high < 0.0) for one in listed]


@cache
def places() -> Choices:
    """Matches with a bot, for people to be simulated in."""
    like = dataset("human-rps").of_group("prev_move_positive")
    like = like.subset([n % len(like.people) for n in range(POPULATION)])
    own, theirs, number = (part[:, :PLAYED] for part in (like.own, like.theirs, like.number))
    return replace(like, people=tuple(map(str, range(POPULATION))), own=own, theirs=theirs, number=number)


if __name__ == "__main__":
    main()

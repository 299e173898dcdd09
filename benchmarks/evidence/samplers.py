"""A second opinion on posteriors: those of the library beside a sampler's, whose likelihoods are written anew in JAX.

    python -m benchmarks.evidence.samplers --people 12

needs NumPyro (`make samplers` installs it in an environment of its own). Three minds, each person by itself, prior
N(0, 5²) on the real line; NUTS with four chains. Exits with 1 if any mean is farther from the sampler's than AGREES
posterior standard deviations.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.keeping import keep, option
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import WEAK_PRIOR
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.populations import posterior
from otherminds.papers.people.datasets import dataset
from otherminds.worlds.repeated_games.players.parametric import MINDS

AGREES = 0.1  # posterior standard deviations between the two means, at most
CHAINS, WARMUP, KEPT = 4, 1000, 2500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=12)
    option(parser)
    chosen = parser.parse_args()
    every = dataset("human-rps")
    choices = every.subset(range(0, len(every.people), len(every.people) // chosen.people)[: chosen.people])
    found = {}
    for name, likelihood in LIKELIHOODS.items():
        distance = compared(name, likelihood, choices)
        found[name, "largest distance of means, sd"] = round(float(distance.max()), 3)
        print(f"{name}: means differ by {np.median(distance):.3f} posterior sd (median), at most {distance.max():.3f}")
    keep(chosen.json, "samplers", found)
    sys.exit(max(found.values()) > AGREES)


def compared(name: str, log_likelihood: Callable[..., Any], choices: Choices) -> np.ndarray[Any, Any]:
    """The distances of our posterior means from the sampler's, in the sampler's posterior sd, shape (people, d)."""
    mind = MINDS[name]
    found = posterior(Likelihood.of(mind, choices), draws=8192)
    ours = np.stack(list(found.mean().values()), axis=1)
    distances = np.zeros_like(ours)
    for n in range(len(choices.people)):
        x = sampled(log_likelihood, choices.own[n], choices.theirs[n], len(mind.parameters), seed=n)
        values = np.stack([p.value(x[:, i]) for i, p in enumerate(mind.parameters)], axis=1)
        distances[n] = np.abs(ours[n] - values.mean(axis=0)) / values.std(axis=0)
    return distances


def sampled(log_likelihood: Callable[..., Any], own: Any, theirs: Any, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Draws of a person's parameters on the real line by NUTS, shape (draws, size)."""
    import jax
    import numpyro
    from numpyro import distributions, infer

    jax.config.update("jax_enable_x64", True)

    def model() -> None:
        x = numpyro.sample("x", distributions.Normal(0.0, WEAK_PRIOR).expand([size]))
        numpyro.factor("choices", log_likelihood(x, own, theirs))

    kernel = infer.NUTS(model, target_accept_prob=0.95)
    mcmc = infer.MCMC(
        kernel, num_warmup=WARMUP, num_samples=KEPT, num_chains=CHAINS, chain_method="vectorized", progress_bar=False
    )
    mcmc.run(jax.random.PRNGKey(seed))
    return np.asarray(mcmc.get_samples()["x"], dtype=float)


def _wsls(x: Any, own: Any, theirs: Any) -> Any:
    """Stays after a win with the first probability, shifts after a tie or a loss with the second."""
    import jax.numpy as jnp
    from jax.nn import sigmoid

    stay, shift = sigmoid(x[0]), sigmoid(x[1])
    before, now, other = own[:-1], own[1:], theirs[:-1]
    won = (before - other) % 3 == 1
    p_stay = jnp.where(won, stay, 1.0 - shift)
    p = jnp.where(now == before, p_stay, (1.0 - p_stay) / 2.0)
    p = jnp.where(before < 0, 1.0 / 3.0, p)
    return jnp.where(now >= 0, jnp.log(p), 0.0).sum() + jnp.where(own[0] >= 0, jnp.log(1.0 / 3.0), 0.0)


def _q_learning(x: Any, own: Any, theirs: Any) -> Any:
    """Q of the chosen move goes to its payoff by the rate; a softmax with inverse temperature beta chooses."""
    import jax
    import jax.numpy as jnp

    rate, beta = jax.nn.sigmoid(x[0]), 20.0 * jax.nn.sigmoid(x[1])
    points = (jnp.array([0.0, 3.0, -1.0]) - 2.0 / 3.0) / 4.0

    def step(values: Any, moves: Any) -> Any:
        mine, other = moves
        log_p = jnp.where(mine >= 0, jax.nn.log_softmax(beta * values)[mine], 0.0)
        error = jnp.where(mine >= 0, rate * (points[(mine - other) % 3] - values[mine]), 0.0)
        return values.at[mine].add(error), log_p

    return jax.lax.scan(step, jnp.zeros(3), (jnp.asarray(own), jnp.asarray(theirs)))[1].sum()


def _weighted_counts(x: Any, own: Any, theirs: Any) -> Any:
    """Fading counts of the other's moves, one added to each, and a soft best response."""
    import jax
    import jax.numpy as jnp

    memory, beta = jax.nn.sigmoid(x[0]), 20.0 * jax.nn.sigmoid(x[1])
    difference = (jnp.arange(3)[:, None] - jnp.arange(3)[None]) % 3
    utility = (jnp.array([0.0, 3.0, -1.0])[difference] - 2.0 / 3.0) / 4.0

    def step(counts: Any, moves: Any) -> Any:
        mine, other = moves
        expected = (counts + 1.0) / (counts + 1.0).sum()
        log_p = jnp.where(mine >= 0, jax.nn.log_softmax(beta * (utility @ expected))[mine], 0.0)
        return (memory * counts).at[other].add(1.0), log_p

    return jax.lax.scan(step, jnp.zeros(3), (jnp.asarray(own), jnp.asarray(theirs)))[1].sum()


LIKELIHOODS = {"wsls": _wsls, "q_learning": _q_learning, "weighted_counts": _weighted_counts}

if __name__ == "__main__":
    main()

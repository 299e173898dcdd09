"""A population of networks that learn by PPO (Schulman et al. 2017), in PyTorch; run it with `train_ppo`.

Members share nothing: the first axis of every tensor is the member. All random draws come from a numpy generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.evidence.ppo_rollouts import Settings
from otherminds.papers.hypothetical_minds.ppo import Network
from otherminds.worlds.avatars import ACTIONS

Float = NDArray[np.float32]
Layers = list[tuple[Tensor, Tensor]]
TINY = 1e-8


class Lessons(NamedTuple):
    """What is learnt from, (members, samples, …): `acting` where an action had an effect, `live` where a value has."""

    features: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    acting: Tensor
    live: Tensor


class Population:
    """Policies and the values they expect, a network each, and what improves them."""

    def __init__(self, width: int, settings: Settings, rng: np.random.Generator) -> None:
        torch.set_num_threads(1)
        self.settings = settings
        self.policy = _layers(width, len(ACTIONS), 0.01, settings, rng)
        self.value = _layers(width, 1, 1.0, settings, rng)
        self.parameters = [tensor for layer in self.policy + self.value for tensor in layer]
        self.optimiser = torch.optim.Adam(self.parameters, lr=settings.rate, eps=1e-5)

    def judge(self, features: Float) -> tuple[Float, Float]:
        """The log-probabilities of all actions, and the values expected: (members, samples, actions) and (…)."""
        with torch.no_grad():
            seen = torch.from_numpy(features)
            log_probs: Float = torch.log_softmax(_through(self.policy, seen), -1).numpy()
            values: Float = _through(self.value, seen).squeeze(-1).numpy()
        return log_probs, values

    def improve(self, lessons: Lessons, left: float, rng: np.random.Generator) -> float:
        """Some epochs of PPO; `left` is the share of the training that is still to come. The policies' mean entropy."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.rate * left
        entropies = []
        for _ in range(self.settings.epochs):
            for part in _parts(lessons, self.settings.parts, rng):
                loss, entropy = self._loss(part)
                self.optimiser.zero_grad()
                loss.backward()
                self._clip()
                self.optimiser.step()
                entropies.append(float(entropy))
        return float(np.mean(entropies))

    def _loss(self, part: Lessons) -> tuple[Tensor, Tensor]:
        """PPO's clipped loss, the squared error of the values, and the bonus for entropy; the entropy by itself."""
        every = torch.log_softmax(_through(self.policy, part.features), -1)
        ratio = (every.gather(-1, part.actions[..., None]).squeeze(-1) - part.log_probs).exp()
        mean = _mean(part.advantages, part.acting)
        spread = _mean((part.advantages - mean) ** 2, part.acting).sqrt()
        gain = (part.advantages - mean) / (spread + TINY)
        clip = self.settings.clip
        surrogate = torch.minimum(ratio * gain, ratio.clamp(1 - clip, 1 + clip) * gain)
        entropy = _mean(-(every.exp() * every).sum(-1), part.acting)
        error = _mean((_through(self.value, part.features).squeeze(-1) - part.returns) ** 2, part.live)
        loss = -_mean(surrogate, part.acting) + self.settings.value * error - self.settings.entropy * entropy
        return loss.sum(), entropy.mean().detach()

    def _clip(self) -> None:
        """Shorten the gradient of every member by itself, if it is long."""
        gradients = [tensor.grad for tensor in self.parameters]
        norm = torch.stack([gradient.flatten(1).norm(dim=1) for gradient in gradients]).norm(dim=0)
        scale = (self.settings.longest / (norm + TINY)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(scale[:, None, None])

    def networks(self) -> list[Network]:
        """The policy of each member, to play by without PyTorch."""
        layers = [(weights.detach().numpy(), biases.detach().numpy()) for weights, biases in self.policy]
        members = range(self.settings.members)
        return [Network(tuple((weights[m].copy(), biases[m, 0].copy()) for weights, biases in layers)) for m in members]


def _layers(width: int, outputs: int, gain: float, settings: Settings, rng: np.random.Generator) -> Layers:
    """Orthogonal weights and no biases for every member; the gain is that of the last layer."""
    layers, gains = Layers(), (*(2**0.5 for _ in settings.hidden), gain)
    for (rows, columns), scale in zip(pairwise((width, *settings.hidden, outputs)), gains, strict=True):
        drawn = np.stack([_orthogonal(rows, columns, rng) * scale for _ in range(settings.members)])
        weights = torch.tensor(drawn, dtype=torch.float32, requires_grad=True)
        layers.append((weights, torch.zeros(settings.members, 1, columns, requires_grad=True)))
    return layers


def _orthogonal(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    drawn = rng.normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q = q * np.sign(np.diag(r))
    return q if rows >= columns else q.T


def _through(layers: Layers, features: Tensor) -> Tensor:
    *hidden, (weights, biases) = layers
    for inner, bias in hidden:
        features = torch.tanh(torch.baddbmm(bias, features, inner))
    return torch.baddbmm(biases, features, weights)


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    """The weighted mean for every member."""
    return (values * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True).clamp(min=1.0)


def _parts(lessons: Lessons, parts: int, rng: np.random.Generator) -> Iterator[Lessons]:
    """The samples, shuffled, in so many parts."""
    for chosen in np.array_split(rng.permutation(lessons.actions.shape[1]), parts):
        yield Lessons(*(tensor[:, torch.from_numpy(chosen)] for tensor in lessons))

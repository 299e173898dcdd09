"""Players of tiny Hanabi: signallers with a fixed convention, and listeners that infer the convention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical, point_mass
from otherminds.observer import Observer
from otherminds.worlds.clue_games.tiny_hanabi import PASS, Floats, HanabiView, TinyHanabi

TIE = 1e-9  # values that differ by less are equal: rounding
LAPSE = 1e-3  # lapse that an egocentric listener attributes, so that no signal is impossible; chosen small


@dataclass(frozen=True)
class Signaller:
    """A convention: the signal for each card, π(m | c) = (1 − lapse) · 1[m = strategy[c]] + lapse / signals."""

    strategy: tuple[int, ...]
    signals: int = 3
    lapse: float = 0.0
    view: HanabiView | None = None

    @property
    def name(self) -> str:
        """The signals by card, such as `2-0`."""
        return "-".join(map(str, self.strategy))

    def observe(self, view: HanabiView) -> Self:
        """The signaller after it has seen its card, or that its signal is given."""
        return replace(self, view=view)

    def act(self) -> Categorical[int]:
        """The signal for its card; PASS out of turn."""
        if self.view is None or self.view.signal is not None:
            return point_mass(PASS)
        return _signal_law(self.strategy[self.view.card], self.signals, self.lapse)


@lru_cache(maxsize=1024)
def _signal_law(signal: int, signals: int, lapse: float) -> Categorical[int]:
    return Categorical.softmax(((m, 0.0 if m == signal else IMPOSSIBLE) for m in range(signals)), lapse=lapse)


def signallers(world: TinyHanabi, *, lapse: float = 0.0) -> Iterator[Signaller]:
    """All deterministic conventions; the signal for the last card varies fastest."""
    cards, _, signals, _ = world.table.shape
    for strategy in product(range(signals), repeat=cards):
        yield Signaller(strategy, signals, lapse)


@dataclass(frozen=True)
class Listener:
    """Infers the card from the signal under the conventions it considers, and takes the best action.

    P(c | m) ∝ P(c) Σ_k P(k) π_k(m | c); P(k) is updated when a deal ends and the card is shown. Its actions do not
    change what it will observe, so the best action in each deal is also optimal over all deals.
    """

    world: TinyHanabi
    partners: Observer[Signaller]
    view: HanabiView | None = None

    def observe(self, view: HanabiView) -> Self:
        """The listener after an observation; a finished deal updates its beliefs about the partner.

        The partner is scored on what it saw: its own card, before the signal. Raises ValueError if no considered
        convention gives that signal.
        """
        partners = self.partners
        if view.last is not None and view.signal is None:
            card, signal = view.last.cards[0], view.last.signal
            partners = partners.see(HanabiView(card, None, None)).watch(signal, HanabiView(card, signal, None))
        return replace(self, partners=partners, view=view)

    @property
    def signals(self) -> tuple[Categorical[int], ...]:
        """P(m | c), for each card c of the partner."""
        return _signals_and_worth(self.world, self.partners)[0]

    @property
    def worth(self) -> Floats:
        """Q[c₂, m, a] = Σ_c₁ P(c₁) P(m | c₁) R[c₁, c₂, m, a], weighted by the probability of each signal; read-only."""
        return _signals_and_worth(self.world, self.partners)[1]

    def predict(self) -> Categorical[int]:
        """P(partner's card | its signal), uniform before. Raises ValueError for a signal of probability 0."""
        signal = None if self.view is None else self.view.signal
        scored = ((card, 0.0 if signal is None else p.log_prob(signal)) for card, p in enumerate(self.signals))
        return Categorical.from_scores(scored)

    def act(self) -> Categorical[int]:
        """argmax_a Q[c₂, m, a], ties to the lowest; PASS until there is a signal."""
        if self.view is None or self.view.signal is None:
            return point_mass(PASS)
        return point_mass(int(_best_actions(self.worth)[self.view.card, self.view.signal]))


@lru_cache(maxsize=4096)
def _signals_and_worth(world: TinyHanabi, partners: Observer[Signaller]) -> tuple[tuple[Categorical[int], ...], Floats]:
    """`Listener.signals`, P(m | c) for each card c, and `Listener.worth`, Q of shape (own cards, signals, actions)."""
    cards, _, options, _ = world.table.shape
    signals = tuple(partners.see(HanabiView(card, None, None)).predict() for card in range(cards))
    law = np.array([[p.prob(m) for m in range(options)] for p in signals])
    worth: Floats = np.einsum("cm,cdma->dma", law, world.table) / len(law)
    worth.setflags(write=False)
    return signals, worth


def _best_actions(worth: Floats) -> NDArray[np.intp]:
    """argmax_a Q[…, a], ties to the lowest action: `worth` without its last axis."""
    actions: NDArray[np.intp] = np.argmax(worth >= worth.max(axis=-1, keepdims=True) - TIE, axis=-1)
    return actions


def informed(world: TinyHanabi, partner: Signaller) -> Listener:
    """A listener that knows the partner's convention."""
    return Listener(world, Observer.over([partner]))


def bayesian(world: TinyHanabi, *, lapse: float = 0.0) -> Listener:
    """A listener with a uniform prior over all conventions."""
    return Listener(world, Observer.over(signallers(world, lapse=lapse)))


def egocentric(world: TinyHanabi) -> Listener:
    """A listener that assumes the convention of the jointly optimal pair of policies and never learns otherwise.

    A small lapse makes signals outside this convention uninformative instead of impossible.
    """
    best = max(signallers(world), key=lambda partner: earned(world, partner, partner))
    return Listener(world, Observer.over([replace(best, lapse=LAPSE)]))


def blind(world: TinyHanabi) -> Listener:
    """A listener that takes signals for noise, and so learns nothing about the card."""
    return Listener(world, Observer.over([replace(next(signallers(world)), lapse=1.0)]))


def earned(world: TinyHanabi, assumed: Signaller, true: Signaller) -> float:
    """Exact expected payoff per deal of the best response to `assumed`, played with `true`; the optimum if both agree.

    Ties go to the lowest action. All actions tie on signals that `assumed` never gives; with a lapse above 0 the best
    response there averages over both cards.
    """
    actions = _best_actions(informed(world, assumed).worth)
    worth = np.take_along_axis(informed(world, true).worth, actions[..., None], axis=-1)
    return float(worth.sum() / world.table.shape[1])


def best(world: TinyHanabi, partner: Signaller, card: int, signal: int) -> float:
    """Expected payoff of the best response to the partner in a deal, given the listener's card and the signal."""
    listener = informed(world, partner)
    likely = sum(p.prob(signal) for p in listener.signals) / len(listener.signals)
    return float(listener.worth[card, signal].max() / likely)

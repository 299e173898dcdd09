"""Minds for tiny Hanabi: partners who signal by a fixed convention, and listeners who attribute one to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.observer import Observer
from otherminds.worlds.clue_games.tiny_hanabi import PASS, Floats, TinyHanabi, View

TIE = 1e-9
LAPSE = 1e-3


@dataclass(frozen=True)
class Signaller:
    """A convention: the signal for each card, π(m | c) = (1 − lapse) · 1[m = strategy[c]] + lapse / signals."""

    strategy: tuple[int, ...]
    signals: int = 3
    lapse: float = 0.0
    view: View | None = None

    @property
    def name(self) -> str:
        """The signals by card: `2-0`, say."""
        return "-".join(map(str, self.strategy))

    def observe(self, view: View) -> Self:
        """See the card and whether the signal is given."""
        return replace(self, view=view)

    def act(self) -> Categorical[int]:
        """The signal for the card; passing afterwards."""
        if self.view is None or self.view.signal is not None:
            return _certain(PASS)
        return _law(self.strategy[self.view.card], self.signals, self.lapse)


@lru_cache(maxsize=1024)
def _law(signal: int, signals: int, lapse: float) -> Categorical[int]:
    return Categorical.softmax(((m, 0.0 if m == signal else IMPOSSIBLE) for m in range(signals)), lapse=lapse)


def _certain(action: int) -> Categorical[int]:
    return Categorical((action,), (0.0,))


def signallers(world: TinyHanabi, *, lapse: float = 0.0) -> Iterator[Signaller]:
    """Every deterministic convention, the signal for the last card varying fastest."""
    cards, _, signals, _ = world.table.shape
    for strategy in product(range(signals), repeat=cards):
        yield Signaller(strategy, signals, lapse)


@dataclass(frozen=True)
class Listener:
    """Hears the signal, infers the card from the conventions it considers, and acts best on that.

    P(c | m) ∝ P(c) Σ_k P(k) π_k(m | c), and P(k) follows once a deal is over and the card is seen. As what it does
    changes nothing about what it will see, acting best on each deal by itself is best over all deals.
    """

    world: TinyHanabi
    partners: Observer[Signaller]
    view: View | None = None

    def observe(self, view: View) -> Self:
        """See the next state; what a deal that is over shows of the partner is learned. Raises ValueError, as watching.

        The partner is watched with what it saw: its own card, and no signal yet.
        """
        partners = self.partners
        if view.last is not None and view.signal is None:
            card, signal = view.last.cards[0], view.last.signal
            partners = partners.see(View(card, None, None)).watch(signal, View(card, signal, None))
        return replace(self, partners=partners, view=view)

    @property
    def signals(self) -> tuple[Categorical[int], ...]:
        """P(m | c), for each card of the partner."""
        return _signals(self.partners, self.world.table.shape[0])

    @property
    def worth(self) -> Floats:
        """Q[c₂, m, a] = Σ_c₁ P(c₁) P(m | c₁) R[c₁, c₂, m, a]: each signal counts by how probable it is."""
        return _worth(self.world, self.signals)

    def predict(self) -> Categorical[int]:
        """P(the partner's card | its signal); uniform before. Raises ValueError for a signal nobody would give."""
        signal = None if self.view is None else self.view.signal
        scored = ((card, 0.0 if signal is None else p.log_prob(signal)) for card, p in enumerate(self.signals))
        return Categorical.from_scores(scored)

    def act(self) -> Categorical[int]:
        """argmax_a Q[c₂, m, a], ties to the lowest; passing until there is a signal."""
        if self.view is None or self.view.signal is None:
            return _certain(PASS)
        return _certain(int(_best(self.worth)[self.view.card, self.view.signal]))


@lru_cache(maxsize=4096)
def _signals(partners: Observer[Signaller], cards: int) -> tuple[Categorical[int], ...]:
    return tuple(partners.see(View(card, None, None)).predict() for card in range(cards))


@lru_cache(maxsize=4096)
def _worth(world: TinyHanabi, signals: tuple[Categorical[int], ...]) -> Floats:
    law = np.array([[p.prob(m) for m in range(world.table.shape[2])] for p in signals])
    worth: Floats = np.einsum("cm,cdma->dma", law, world.table) / len(law)
    worth.setflags(write=False)
    return worth


def _best(worth: Floats) -> NDArray[np.intp]:
    chosen: NDArray[np.intp] = np.argmax(worth >= worth.max(axis=-1, keepdims=True) - TIE, axis=-1)
    return chosen


def informed(world: TinyHanabi, partner: Signaller) -> Listener:
    """Who knows the partner's convention."""
    return Listener(world, Observer.over([partner]))


def bayesian(world: TinyHanabi, *, lapse: float = 0.0) -> Listener:
    """Who holds every convention for equally probable at first."""
    return Listener(world, Observer.over(signallers(world, lapse=lapse)))


def egocentric(world: TinyHanabi) -> Listener:
    """Who takes it that the partner signals as in the best pair of policies, and never learns otherwise.

    A small lapse lets it make nothing of signals that this partner would not give, instead of failing.
    """
    best = max(signallers(world), key=lambda partner: earned(world, partner, partner))
    return Listener(world, Observer.over([replace(best, lapse=LAPSE)]))


def blind(world: TinyHanabi) -> Listener:
    """Who takes signals for noise, and so never learns anything about the card."""
    return Listener(world, Observer.over([replace(next(signallers(world)), lapse=1.0)]))


def earned(world: TinyHanabi, held: Signaller, true: Signaller) -> float:
    """The exact expected payoff of a deal with one partner for the best response to another; the same for the optimum.

    Ties go to the lowest action. All actions tie on signals that `held` never gives; with a lapse above 0 the best
    response there is the one to both cards alike.
    """
    chosen = _best(informed(world, held).worth)
    worth = np.take_along_axis(informed(world, true).worth, chosen[..., None], axis=-1)
    return float(worth.sum() / world.table.shape[1])


def best(world: TinyHanabi, partner: Signaller, card: int, signal: int) -> float:
    """What the best response to the partner expects of a deal, given its own card and the signal."""
    listener = informed(world, partner)
    likely = sum(p.prob(signal) for p in listener.signals) / len(listener.signals)
    return float(listener.worth[card, signal].max() / likely)

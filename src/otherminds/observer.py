"""An observer attributes one of several minds to an agent by watching it: mindreading is minds run backward."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar, cast

from otherminds.distribution import IMPOSSIBLE, Categorical, log_sum_exp
from otherminds.mind import Mind
from otherminds.world import Step, World

M = TypeVar("M", bound=Mind[Any, Any])
T = TypeVar("T", bound=Hashable)
S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
SURPRISING = 3.0  # nats from which an action is called surprising; chosen


@dataclass(frozen=True, repr=False)
class Observer(Generic[M]):
    """A posterior over minds, updated by watching what the agent does.

    Log weights follow  w(m) ← decay · w(m) + gain · log p(a | m)  and  P(m) ∝ exp w(m).
    Bayes' rule is decay = gain = 1; decay < 1 leaks old evidence; decay = 1 − α, gain = α is Rescorla–Wagner.
    `weights`, one for each of `minds`, are in nats, and only their differences count. (ProToM, eq. 8 and 9.)

    `switch_rate` h is the probability that the agent changes its mind after an action: P(m) ← (1 − h) P(m) + h P₀(m),
    exact inference for an agent that then draws its mind anew from the prior P₀, whose logs are `prior` (fixed share:
    Herbster & Warmuth 1998, §5). With h > 0 a mind that was ruled out may come back, unless it is pruned.
    """

    minds: tuple[M, ...]
    weights: tuple[float, ...] = ()
    decay: float = 1.0
    gain: float = 1.0
    switch_rate: float = 0.0
    prior: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.minds) != len(self.weights):
            raise TypeError("an Observer is made by Observer.over(minds), with a prior if it is not uniform")
        if not self.prior:
            object.__setattr__(self, "prior", self.weights)

    @classmethod
    def over(
        cls,
        minds: Iterable[M],
        prior: Iterable[float] | None = None,
        *,
        decay: float = 1.0,
        gain: float = 1.0,
        switch_rate: float = 0.0,
    ) -> Self:
        """An observer with prior probabilities, up to a factor, or a uniform prior over the minds.

        Raises ValueError if there are no minds, or none of them is possible, or `switch_rate` is no probability.
        """
        pool = tuple(minds)
        if not pool:
            raise ValueError("an observer needs at least one mind to attribute")
        if not 0.0 <= switch_rate <= 1.0:
            raise ValueError(f"{switch_rate} is no probability of changing one's mind")
        shares = (1.0,) * len(pool) if prior is None else prior
        weights = tuple(math.log(p) if p > 0.0 else IMPOSSIBLE for p in shares)
        if len(weights) != len(pool) or max(weights) == IMPOSSIBLE:
            raise ValueError("an observer needs a probability for each of its minds, not all of them 0")
        return cls(pool, weights, decay, gain, switch_rate)

    def __repr__(self) -> str:
        return f"Observer(minds={len(self.minds)}, {self.ask(_name)!r})".replace("Categorical(", "posterior=(", 1)

    def _repr_html_(self) -> str:
        return self.ask(_name)._repr_html_()

    @property
    def posterior(self) -> Categorical[M]:
        """P(m | everything watched)."""
        return Categorical.from_scores(zip(self.minds, self.weights, strict=True))

    def watch(self, action: Hashable, obs: object) -> Self:
        """Condition on what the agent did, then let every mind see what the agent saw.

        Raises ValueError if no mind could have done it (a mind with a lapse rate always could).
        """
        evidence = [mind.act().log_prob(action) for mind in self.minds]
        weights = rescore(self.weights, evidence, decay=self.decay, gain=self.gain)
        top = max(weights)
        if top == IMPOSSIBLE:
            raise ValueError(f"none of the {len(self.minds)} minds could have done {action!r}{self._instead()}")
        weights = tuple(w - top for w in weights)
        if self.switch_rate:
            weights = _mixed_with_prior(weights, self.prior, self.switch_rate)
        return replace(self, weights=weights).see(obs)

    def _instead(self) -> str:
        """What the likeliest mind would do, for an error."""
        policy = self.posterior.mode.act()
        return f"; the likeliest would do {policy.mode!r}" if isinstance(policy, Categorical) else ""

    def see(self, obs: object) -> Self:
        """Let every mind observe `obs` without an action to explain."""
        return self.map(lambda mind: mind.observe(obs))

    def map(self, change: Callable[[M], M]) -> Self:
        """Replace every mind by `change(mind)`, for example by a mind that has been told something; weights stay."""
        return replace(self, minds=tuple(change(mind) for mind in self.minds))

    def bind(self, change: Callable[[M], Iterable[tuple[M, float]]]) -> Self:
        """Replace every mind by some with these shares of its probability, such as one that follows what it was told.

        Minds that are equal afterwards are one mind.
        """
        weights, prior = dict[M, float](), dict[M, float]()
        for mind, w, p in zip(self.minds, self.weights, self.prior, strict=True):
            for new, share in change(mind):
                log_share = math.log(share) if share > 0.0 else IMPOSSIBLE
                weights[new] = log_sum_exp((weights.get(new, IMPOSSIBLE), w + log_share))
                prior[new] = log_sum_exp((prior.get(new, IMPOSSIBLE), p + log_share))
        return replace(self, minds=tuple(weights), weights=tuple(weights.values()), prior=tuple(prior.values()))

    def condition(self, event: Callable[[M], bool]) -> Self:
        """P(m | event): rule out all minds for which `event(mind)` is false. Raises ValueError if none is left."""
        is_possible = [event(mind) for mind in self.minds]
        weights = tuple(w if holds else IMPOSSIBLE for w, holds in zip(self.weights, is_possible, strict=True))
        if max(weights) == IMPOSSIBLE:
            raise ValueError("the event is false for every mind that is still possible")
        return replace(self, weights=weights)

    def prune(self, least: float) -> Self:
        """Drop the minds that are less than `least` times as probable as the most probable one.

        What is dropped had at most the share n · least of the posterior for n minds. It does not come back, whatever
        the switch rate h; but with h > 0 no mind falls below h · P₀(m), so that nothing is dropped if `least` is less.
        Raises ValueError unless 0 < least ≤ 1.
        """
        if not 0.0 < least <= 1.0:
            raise ValueError(f"{least} is not a share of the highest probability")
        floor = max(self.weights) + math.log(least)
        indices = [k for k, w in enumerate(self.weights) if w >= floor]
        weights, prior = (tuple(log_weights[k] for k in indices) for log_weights in (self.weights, self.prior))
        return replace(self, minds=tuple(self.minds[k] for k in indices), weights=weights, prior=prior)

    def admit(self, mind: M, probability: float) -> Self:
        """Add a mind with this posterior and prior probability; the odds of the others stay as they are.

        To be as probable as Bayes' rule would have it had it been there from the start, the mind has to have seen what
        the agent has seen, and needs P(m) = P₀(m) p(actions | m) / p(actions). Raises ValueError unless
        0 < probability < 1.
        """
        if not 0.0 < probability < 1.0:
            raise ValueError(f"{probability} is not a probability between 0 and 1")
        odds = math.log(probability) - math.log1p(-probability)
        weights = (*self.weights, log_sum_exp(self.weights) + odds)
        prior = (*self.prior, log_sum_exp(self.prior) + odds)
        return replace(self, minds=(*self.minds, mind), weights=weights, prior=prior)

    def equalise(self, group: Callable[[M], Hashable]) -> Self:
        """Give every group of minds the same probability and keep the odds within groups; impossible groups stay so."""
        groups = [group(mind) for mind in self.minds]
        weights = dict.fromkeys(groups, IMPOSSIBLE)
        for name, w in zip(groups, self.weights, strict=True):
            weights[name] = log_sum_exp((weights[name], w))
        odds = (w if w == IMPOSSIBLE else w - weights[name] for name, w in zip(groups, self.weights, strict=True))
        return replace(self, weights=tuple(odds))

    def ask(self, question: Callable[[M], T]) -> Categorical[T]:
        """The posterior of any property of the mind: its goal, belief, strategy."""
        return self._one_by_one.map(question)

    def predict(self) -> Categorical[Any]:
        """P(a) = Σₘ P(m) π(a | m): what the agent is expected to do next, from minds whose policies are tables."""
        return self._one_by_one.bind(lambda mind: cast("Categorical[Any]", mind.act()))

    def surprise(self, action: Hashable) -> float:
        """−log P(a) − H(P): how improbable the action is, in nats, beyond what is expected of it on average.

        Its expectation is 0 for an agent that acts as the posterior predicts. A positive mean over many actions says
        that none of the minds describes the agent well. ∞ for what no mind could have done.
        """
        expected = self.predict()
        return -expected.log_prob(action) - expected.entropy

    @property
    def _one_by_one(self) -> Categorical[M]:
        """The posterior where equal minds are not pooled, which would take a hash of each."""
        total = log_sum_exp(self.weights)
        return Categorical(self.minds, tuple([w - total for w in self.weights]))


def _name(mind: object) -> Hashable:
    """A mind by its goal or its name if it has one, else by its `repr`."""
    named = getattr(mind, "name", None) or getattr(mind, "goal", None)
    return repr(mind) if named is None else str(named)


def surprise_in_words(nats: float) -> str:
    """The surprise with its number if it is worth a word, SURPRISING or more; else nothing."""
    return f"surprising: {nats:.1f} nats" if nats >= SURPRISING else ""


def _mixed_with_prior(weights: Iterable[float], prior: Iterable[float], rate: float) -> tuple[float, ...]:
    """log[(1 − h) P(m) + h P₀(m)] for unnormalised log probabilities P and P₀."""
    shared = []
    for log_weights, share in ((tuple(weights), 1.0 - rate), (tuple(prior), rate)):
        log_share = math.log(share) if share else IMPOSSIBLE
        total = log_sum_exp(log_weights)
        shared.append([w - total + log_share for w in log_weights])
    return tuple(log_sum_exp(pair) for pair in zip(*shared, strict=True))


def rescore(
    weights: Iterable[float], evidence: Iterable[float], *, decay: float = 1.0, gain: float = 1.0
) -> tuple[float, ...]:
    """New weights from any evidence, one number for each mind: decay · w + gain · e.

    With evidence log p(a | m) and decay = gain = 1 this is Bayes' rule in nats. With evidence ±1 for a prediction that
    was right or wrong, decay = 1 − α and gain = α, it is the Rescorla–Wagner value of Hypothetical Minds (Cross et al.
    2024, §3.3). A mind that was impossible (−∞) once stays so; gain = 0 ignores the evidence.
    """
    return tuple(
        (w if w == IMPOSSIBLE else decay * w) + (gain * e if gain else 0.0)
        for w, e in zip(weights, evidence, strict=True)
    )


Watchers = Mapping[str, Observer[M]]


def attend(world: World[S, Any, A], watchers: Watchers[M], joint: Mapping[str, A], after: S) -> Watchers[M]:
    """Every observer after it has watched its agent act, given what *that agent* saw of the outcome.

    Perspective is taken here and nowhere else: the view of another agent would silently give wrong posteriors.
    Raises ValueError if none of an observer's minds could have taken its agent's action.
    """
    return {agent: observer.watch(joint[agent], world.observe(after, agent)) for agent, observer in watchers.items()}


def replay(world: World[S, Any, A], watchers: Watchers[M], trajectory: Iterable[Step[S, A]]) -> Iterator[Watchers[M]]:
    """The observers before the first step and after each one: posteriors over time, one more than there are steps.

    Pₜ(m) ∝ P₀(m) Π_{τ<t} π_m(aᵢ_τ | what agent i had seen by τ), where decay and gain are 1.
    Raises ValueError as `attend` does.
    """
    for t, step in enumerate(trajectory):
        if t == 0:
            watchers = {a: o.see(world.observe(step.state, a)) for a, o in watchers.items()}
            yield watchers
        watchers = attend(world, watchers, step.joint, step.after)
        yield watchers

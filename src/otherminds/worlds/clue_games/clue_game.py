"""Games of clues and answers as tasks of Theory of Mind: who plays them, what turns show, what the best response earns.

Any world fits whose states keep the last exchange in `last`, a new object for each. An exchange is two or more steps: a
clue and an answer, a clue and several touches, a turn of each player. A round is one exchange or several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np

from otherminds.mind import Mind, Mindreader
from otherminds.world import World

Row = dict[str, Any]
Reader = Mindreader[Any, int]
Streams = Mapping[str, np.random.Generator]


class Spoken(NamedTuple):
    """How a game is told to a language model in the subject's seat.

    `rules` has the rules and payoffs from the subject's side, with no word on the partner's convention. `described`
    tells what the subject sees now (its view), `finished` a finished exchange (`state.last`). `options` names each
    action that the subject may take now; empty out of turn. `answers` names each value of what is predicted: the
    partner's next action, or what its action tells; empty if there is nothing to predict now.
    """

    rules: str
    described: Callable[[Any], str]
    options: Callable[[Any], Mapping[int, str]]
    answers: Callable[[Any], Mapping[int, str]]
    finished: Callable[[Any], str]


class ClueWorld(World[Any, Any, int], Protocol):
    """A world that is played for a number of rounds."""

    @property
    def rounds(self) -> int:
        """How many."""


@dataclass(frozen=True)
class ClueGame:
    """A clue game with the partners and subjects that play it.

    `seat` is the subject's agent. `informed` makes the subject that knows its partner; those in `uninformed` start
    alike with every partner. `shown` gives the row of a finished exchange, with the subject's `action` and what was
    `observed` of what it predicted. `best` is what the best response expects to earn from the exchange to the end of
    the round, less what it expects after the exchange: in rounds of one exchange its expected reward. `earned(assumed,
    true)` is the expected reward per round of the best response to one partner when playing with another. `spoken` is
    the game in words, `names` has sets of names in it that may be exchanged, such as its clues. `span` is the largest
    error of a prediction, None if predictions are not places.
    """

    world: ClueWorld
    seat: str
    partners: Mapping[str, Mind[Any, int]]
    informed: Callable[[Any], Reader]
    uninformed: Mapping[str, Reader]
    shown: Callable[[Any], Row]
    best: Callable[[Any, Any], float]
    earned: Callable[[Any, Any], float]
    spoken: Spoken
    names: tuple[tuple[str, ...], ...] = ()
    span: int | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """The names of all subjects."""
        return ("informed", *self.uninformed)

    def interestingness(self) -> float:
        """I = E[Δ(BR(π′), π″)] per round over independent draws of two partners, exactly (Riemer et al., §2.1)."""
        pairs = [(assumed, true) for assumed in self.partners.values() for true in self.partners.values()]
        return sum(self.earned(true, true) - self.earned(assumed, true) for assumed, true in pairs) / len(pairs)

    def shuffled(self, seed: int) -> Spoken:
        """The game in words with the names of each set exchanged at random, so that what they mean is of no help."""
        rng, other = np.random.default_rng(seed), dict[str, str]()
        for names in self.names:
            other |= zip(names, rng.permutation(names).tolist(), strict=True)
        pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(other, key=len, reverse=True)))})\b")

        def renamed(text: str) -> str:
            return pattern.sub(lambda match: other[match[0]], text) if other else text

        rules, described, options, answers, finished = self.spoken
        return Spoken(
            renamed(rules),
            lambda view: renamed(described(view)),
            lambda view: {action: renamed(name) for action, name in options(view).items()},
            lambda view: {action: renamed(name) for action, name in answers(view).items()},
            lambda last: renamed(finished(last)),
        )

    def play(self, partner: str, subject: str, streams: Streams) -> Iterator[Row]:
        """One episode, a row per exchange. The subject predicts after the first step, before anything is revealed.

        Σ (best − reward) over the rows of a round is V − Σ reward, V being the value of the best response: the
        functional regret, which is never negative in expectation.

        `streams` has generators for the `deals`, the `partner` and the `subject`. Raises KeyError for unknown names.
        """
        partner_mind = self.partners[partner]
        reader = self.informed(partner_mind) if subject == "informed" else self.uninformed[subject]
        state = self.world.start(streams["deals"])
        minds: Mapping[str, Any] = {a: reader if a == self.seat else partner_mind for a in self.world.agents}
        minds = {a: mind.observe(self.world.observe(state, a)) for a, mind in minds.items()}
        for t in count():
            if self.world.done(state):
                return
            last = state.last
            state, minds, reward = self._step(state, minds, streams)
            expected = minds[self.seat].predict()
            while state.last is last:
                state, minds, more = self._step(state, minds, streams)
                reward += more
            row = self.shown(state.last)
            yield {
                "t": t,
                "predicted": expected.mode,
                "p_predicted": expected.prob(expected.mode),
                "p_true": expected.prob(row["observed"]),
                **row,
                "reward": reward,
                "best": self.best(partner_mind, state.last),
            }

    def _step(self, state: Any, minds: Mapping[str, Any], streams: Streams) -> tuple[Any, Mapping[str, Any], float]:
        """One step: the next state, the minds after observing it, and the subject's reward."""
        own = {agent: streams["subject" if agent == self.seat else "partner"] for agent in self.world.agents}
        joint = {agent: mind.act().sample(own[agent]) for agent, mind in minds.items()}
        after = self.world.step(state, joint, streams["deals"])
        minds_after = {agent: mind.observe(self.world.observe(after, agent)) for agent, mind in minds.items()}
        return after, minds_after, self.world.reward(state, joint, after)[self.seat]

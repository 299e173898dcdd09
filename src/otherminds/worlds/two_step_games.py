"""Two-step games as tasks of Theory of Mind: who plays them, what each round shows, what the best response earns.

Any world fits whose rounds are two steps, a clue and an answer, and whose states keep the finished round in `last`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from otherminds.mind import Mind, Mindreader
from otherminds.world import World

Row = dict[str, Any]
Reader = Mindreader[Any, int]
Streams = Mapping[str, np.random.Generator]


@dataclass(frozen=True)
class ClueGame:
    """A clue game with the partners and subjects that play it.

    `seat` is the subject's agent. `informed` makes the subject that knows its partner; those in `uninformed` start
    alike with every partner. `shown` gives the row of a finished round, with the `observed` play of the partner and the
    subject's `action`. `best` is the expected reward of the best response in that round, `earned(assumed, true)` the
    expected reward of the best response to one partner when playing with another. `span` is the largest error of a
    prediction, None if predictions are not places.
    """

    world: World[Any, Any, int]
    seat: str
    partners: Mapping[str, Mind[Any, int]]
    informed: Callable[[Any], Reader]
    uninformed: Mapping[str, Reader]
    shown: Callable[[Any], Row]
    best: Callable[[Any, Any], float]
    earned: Callable[[Any, Any], float]
    span: int | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """The names of all subjects."""
        return ("informed", *self.uninformed)

    def interestingness(self) -> float:
        """I = E[Δ(BR(π′), π″)] per round over independent draws of two partners, exactly (Riemer et al., §2.1)."""
        pairs = [(assumed, true) for assumed in self.partners.values() for true in self.partners.values()]
        return sum(self.earned(true, true) - self.earned(assumed, true) for assumed, true in pairs) / len(pairs)

    def play(self, partner: str, subject: str, streams: Streams) -> Iterator[Row]:
        """One episode, a row per round. The subject predicts between clue and answer, before anything is revealed.

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
            state, minds, _ = self._step(state, minds, streams)
            expected = minds[self.seat].predict()
            state, minds, reward = self._step(state, minds, streams)
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

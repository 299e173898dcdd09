"""Hypothetical Minds (Cross et al. 2024): guess what a partner is up to, test the guess, and play on it.

A theory says of one partner what it will play and what to play against that; it learns from meetings. A body gathers
and meets. Here theories are programs with exact likelihoods (`hypotheses`); sentences of a language model are another
kind. Nothing is known but what the agent's own window shows: what a partner held is inferred from what was paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.minds.gatherer import DEFT, Gatherer
from otherminds.minds.gathering import Skill
from otherminds.minds.matrix_strategies import Aim, Inventory, Specialist, State
from otherminds.minds.meetings import meeting_game
from otherminds.systems.encounters import BEGINNING, Encounter, Watch
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix import FROZEN, InTheMatrix, View, sighting
from otherminds.worlds.repeated_game import Game, Outcome

CHANCE = 0.5


class Theory(Protocol):
    """What one thinks of a partner: it learns from meetings, says what the partner will play, and what to play then.

    It is a mindreader of the game that meetings are (`minds/meetings`), such as a `Librarian`.
    """

    def observe(self, outcome: Outcome | None, /) -> Self:
        """The theory after a meeting: what was played, and what it paid."""
        ...

    def predict(self) -> Categorical[int]:
        """P(the kind that the partner plays next)."""
        ...

    def act(self) -> Categorical[int]:
        """The kind to play next."""
        ...


class Meeting(NamedTuple):
    """A meeting that is going on: with whom (None if that was not to be seen), and what one held oneself."""

    partner: int | None
    own: Inventory


class Lesson(NamedTuple):
    """What came of a meeting: what the theory expected of the partner, what it seems to have played, and the reward."""

    t: int
    partner: int | None
    theory: Theory
    expected: Categorical[int]
    own: int | None
    theirs: int | None
    reward: float


@dataclass(frozen=True)
class Hypothetical:
    """A mind in a matrix world that keeps a theory of every partner and plays the best reply to what it expects.

    `prior` is what it thinks of anybody before it has met them, `margin` by how much what it plays is to lead.
    """

    body: Gatherer
    game: Game
    prior: Theory
    margin: int
    theories: tuple[Theory, ...]
    aim: Aim
    watch: Watch = BEGINNING
    partner: int | None = None
    lessons: tuple[Lesson, ...] = ()

    @classmethod
    def born(
        cls,
        world: InTheMatrix,
        agent: str,
        prior: Theory,
        rng: np.random.Generator,
        *,
        margin: int = 5,
        skill: Skill = DEFT,
        theories: Sequence[Theory] | None = None,
    ) -> Self:
        """A mind at the start of an episode; `theories` are what it thinks of each player if not the same of all."""
        theories = (prior,) * len(world.agents) if theories is None else tuple(theories)
        aim = Aim(prior.act().mode, margin)
        body = Gatherer.born(world, agent, Specialist(aim), rng, skill)
        return cls(body, meeting_game(world.rules, margin), prior, margin, theories, aim)._aimed()

    def observe(self, view: View) -> Self:
        """Notice meetings, learn from them when they have paid, and let the body see."""
        view = view._replace(met=None)  # what a partner holds is not for this agent to see
        watch, over = self.watch.after(self.body.world, view)
        mind = replace(self, watch=watch)
        if watch.held is not None and self.watch.held is None:
            mind = replace(mind, partner=self._partner(view))
        elif over is not None:
            mind = mind._learn(over, view.t)
        body = replace(mind.body, state=State(mind.aim)).observe(view)
        return replace(mind, body=body)

    def act(self) -> Categorical[Action]:
        """What the body does."""
        return self.body.act()

    @property
    def me(self) -> int:
        """Which player this is."""
        return self.body.me

    @property
    def meeting(self) -> Meeting | None:
        """The meeting that is going on, if there is one."""
        return None if self.watch.held is None else Meeting(self.partner, self.watch.held)

    def _partner(self, view: View) -> int | None:
        """Who froze just now: the only other player there is, or the only one in view."""
        others = [j for j in range(len(self.theories)) if j != self.me]
        if len(others) == 1:
            return others[0]
        before = _frozen(self.watch.last) if self.watch.last is not None else frozenset()
        new = _frozen(view) - before - {self.me}
        return next(iter(new)) if len(new) == 1 else None

    def _learn(self, over: Encounter, t: int) -> Self:
        """Tell the theory of the partner what was played, and aim anew."""
        own, theirs, partner = over.played, over.theirs, self.partner
        theory = self.prior if partner is None else self.theories[partner]
        lesson = Lesson(t, partner, theory, theory.predict(), own, theirs, over.reward)
        theories = list(self.theories)
        if partner is not None and own is not None and theirs is not None:
            theories[partner] = theory.observe(Outcome(own, theirs, over.reward))
        return replace(self, theories=tuple(theories), lessons=(*self.lessons, lesson))._aimed()

    def _aimed(self) -> Self:
        """Choose what to gather next: as the theory of the partner has it, or what pays best with the many there are.

        With many, one meets whom one wants to half of the time, and else whoever comes along.
        """
        others = [j for j in range(len(self.theories)) if j != self.me]
        if len(others) == 1:
            return self._with_aim(self.theories[others[0]].act().mode)
        expected = [self._expected(j) for j in others]
        value = [sum(max(pay[kind], CHANCE * pay[kind]) for pay in expected) for kind in range(len(expected[0]))]
        return self._with_aim(max(range(len(value)), key=value.__getitem__))

    def _with_aim(self, kind: int) -> Self:
        players = range(len(self.theories))
        worth = tuple(0.0 if j == self.me else self._expected(j)[kind] for j in players) if len(players) > 2 else ()
        return replace(self, aim=Aim(kind, self.margin), body=replace(self.body, worth=worth))

    def _expected(self, player: int) -> list[float]:
        """What each kind is expected to pay in a meeting with a player; one not yet met is like those who were."""
        kinds = range(len(self.game.actions[0]))
        plays = [0.0 for _ in kinds]
        told = list(dict.fromkeys(theory for theory in self.theories if theory is not self.prior))
        known = [self.theories[player]] if self.theories[player] is not self.prior else [self.prior, *told]
        for theory in known:
            for kind, p in theory.predict():
                plays[kind] += p / len(known)
        payoff = self.game.payoff()
        return [float(payoff[kind] @ plays) for kind in kinds]


def _frozen(view: View) -> frozenset[int]:
    seen = (sighting(code) for code in view.window)
    return frozenset(who.player for who in seen if who is not None and who.look == FROZEN)

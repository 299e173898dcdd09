"""Hypothetical Minds (Cross et al. 2024): guess what a partner is up to, test the guess, and play on it.

A theory says of one partner what it will play and what to play against that; it learns from meetings. A body gathers
and meets. Theories are programs (`systems/programs`), sentences of a language model, or both (`systems/verbal`).
Nothing is known but what the agent's own window shows: what a partner held is inferred from what was paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix.bots import DEFT, MatrixBot
from otherminds.worlds.in_the_matrix.hypotheses import MARGIN, meeting_game, partner_inventory, partner_play
from otherminds.worlds.in_the_matrix.strategies import Aim, Inventory, Specialist, play_of
from otherminds.worlds.in_the_matrix.world import FROZEN, InTheMatrix, MatrixView, sighting
from otherminds.worlds.repeated_games.rules import Game

CHANCE = 0.5  # of meeting the partner of choice where there are many; chosen, not tuned
SURE = 0.6  # least probability of a play to be inferred; set after a look at the calibration with seed 42


class Encounter(NamedTuple):
    """A meeting that is over: what one held, the kind that the partner seems to have played, and the reward.

    `theirs` is None if that cannot be told, or if the partner had most of several kinds.
    """

    own: Inventory
    theirs: int | None
    reward: float

    @property
    def played(self) -> int | None:
        """The kind one played oneself, None for a tie."""
        return play_of(self.own)


class Watch(NamedTuple):
    """The last view, and what one holds in the meeting that is going on, if there is one."""

    last: MatrixView | None = None
    held: Inventory | None = None

    def after(self, world: InTheMatrix, view: MatrixView) -> tuple[Watch, Encounter | None]:
        """After one more view; with the meeting that has paid just now, if one has."""
        if self.held is None:
            return Watch(view, self._holding(world, view) if view.frozen and view.window else None), None
        if view.window:
            return Watch(view, self.held), None
        played = partner_play(partner_inventory(world.rules, self.held, view.reward))
        theirs = played.mode if played.prob(played.mode) >= SURE else None
        return Watch(view), Encounter(self.held, theirs, view.reward)

    def _holding(self, world: InTheMatrix, view: MatrixView) -> Inventory:
        """Who has won holds nothing any more as soon as they are frozen."""
        empty = view.inventory == world.rules.empty
        return self.last.inventory if empty and self.last is not None else view.inventory


BEGINNING = Watch()


class Theory(Protocol):
    """What one thinks of a partner: it learns from meetings, says what the partner will play, and what to play then."""

    def for_partner(self, partner: str, /) -> Self:
        """The same about somebody of that name, before any meeting."""
        ...

    def update(self, own: Inventory, theirs: int | None, reward: float, /) -> Self:
        """After a meeting: what one held, what the partner played (None if that is not known), and what it paid."""
        ...

    def predict(self) -> Categorical[int]:
        """P(the kind that the partner plays next)."""
        ...

    def act(self) -> Categorical[int]:
        """The kind to play next."""
        ...

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The hypotheses, the best first, with their probabilities or values."""
        ...


class Body(Protocol):
    """What gathers a kind and meets players: all but what to play is left to it."""

    @property
    def world(self) -> InTheMatrix:
        """Where it is."""
        ...

    @property
    def me(self) -> int:
        """Which player it is."""
        ...

    def toward(self, aim: Aim, worth: tuple[float, ...], /) -> Self:
        """The same with another aim, and with what a meeting with each player is expected to pay (none: all alike)."""
        ...

    def observe(self, view: MatrixView, /) -> Self:
        """The body after one more view."""
        ...

    def act(self) -> Categorical[Action]:
        """What it does."""
        ...


class Meeting(NamedTuple):
    """A meeting that is going on: with whom (None if that was not to be seen), and what one held oneself."""

    partner: int | None
    own: Inventory


class Lesson(NamedTuple):
    """What came of a meeting: what was expected of the partner, what it seems to have played, and the reward."""

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

    `prior` is what it thinks of anybody before it has met them, `margin` by how much what it plays is to lead, `known`
    of whom it thinks anything else.
    """

    body: Body
    game: Game
    prior: Theory
    margin: int
    theories: tuple[Theory, ...]
    aim: Aim
    known: frozenset[int]
    watch: Watch = BEGINNING
    partner: int | None = None
    lessons: tuple[Lesson, ...] = ()

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        prior: Theory,
        rng: np.random.Generator,
        *,
        margin: int = MARGIN,
        body: Body | None = None,
        theories: Sequence[Theory] | None = None,
    ) -> Self:
        """A mind at the start of an episode, by default in a deft scripted body.

        `theories` are what it thinks of each player if not the same of all.
        """
        aim = Aim(prior.act().mode, margin)
        body = body or MatrixBot.initial(world, agent, Specialist(aim), rng, DEFT)
        of_all = tuple(prior.for_partner(name) for name in world.agents) if theories is None else tuple(theories)
        known = frozenset(j for j, theory in enumerate(theories or ()) if theory is not prior)
        return cls(body, meeting_game(world.rules, margin), prior, margin, of_all, aim, known)._aimed()

    def observe(self, view: MatrixView) -> Self:
        """Notice meetings, learn from them when they have paid, and let the body see."""
        view = view._replace(met=None)  # what a partner holds is not for this agent to see
        watch, over = self.watch.after(self.body.world, view)
        mind = replace(self, watch=watch)
        if watch.held is not None and self.watch.held is None:
            mind = replace(mind, partner=self._partner(view))
        elif over is not None:
            mind = mind._learn(over, view.t)
        return replace(mind, body=mind.body.observe(view))

    def act(self) -> Categorical[Action]:
        """What the body does."""
        return self.body.act()

    @property
    def me(self) -> int:
        """Which player this is."""
        return self.body.me

    @property
    def others(self) -> tuple[int, ...]:
        """All other players."""
        return tuple(j for j in range(len(self.theories)) if j != self.me)

    @property
    def meeting(self) -> Meeting | None:
        """The meeting that is going on, if there is one."""
        return None if self.watch.held is None else Meeting(self.partner, self.watch.held)

    def expected(self, player: int | None) -> Categorical[int]:
        """P(the kind that a player plays next); one not yet met, or unseen, is as anybody or like those known."""
        if player in self.known:
            return self.theories[player].predict()
        believed = [self.prior, *(self.theories[j] for j in sorted(self.known))]
        return Categorical.uniform(range(len(believed))).bind(lambda i: believed[i].predict())

    def _partner(self, view: MatrixView) -> int | None:
        """Who froze just now: the only other player there is, or the only one who was seen awake a step ago."""
        if len(self.others) == 1:
            return self.others[0]
        awake = _seen(self.watch.last, frozen=False) if self.watch.last is not None else frozenset()
        new = (_seen(view, frozen=True) & awake) - {self.me}
        return next(iter(new)) if len(new) == 1 else None

    def _learn(self, over: Encounter, t: int) -> Self:
        """Tell the theory of the partner what was played, and aim anew."""
        theory = self.prior if self.partner is None else self.theories[self.partner]
        expected = self.expected(self.partner)
        lesson = Lesson(t, self.partner, theory, expected, over.played, over.theirs, over.reward)
        theories, known = list(self.theories), self.known
        if self.partner is not None:
            theories[self.partner], known = theory.update(over.own, over.theirs, over.reward), known | {self.partner}
        return replace(self, theories=tuple(theories), known=known, lessons=(*self.lessons, lesson))._aimed()

    def _aimed(self) -> Self:
        """Choose what to gather next: as the theory of the partner has it, or what pays best with the many there are.

        With many, one meets whom one wants to half of the time, and else whoever comes along.
        """
        if len(self.others) == 1:
            return self._toward(self.theories[self.others[0]].act().mode, ())
        pays = [self._pays(j) for j in range(len(self.theories))]
        value = [sum(max(pays[j][kind], CHANCE * pays[j][kind]) for j in self.others) for kind in range(len(pays[0]))]
        best = max(range(len(value)), key=value.__getitem__)
        return self._toward(best, tuple(0.0 if j == self.me else pay[best] for j, pay in enumerate(pays)))

    def _toward(self, kind: int, worth: tuple[float, ...]) -> Self:
        aim = Aim(kind, self.margin)
        return replace(self, aim=aim, body=self.body.toward(aim, worth))

    def _pays(self, player: int) -> list[float]:
        """What each kind is expected to pay in a meeting with a player."""
        expected = self.expected(player)
        plays = [expected.prob(kind) for kind in range(len(self.game.actions[1]))]
        return [float(pay @ plays) for pay in self.game.payoff()]


def _seen(view: MatrixView, *, frozen: bool) -> frozenset[int]:
    """Who is in a window, frozen or awake."""
    seen = (sighting(code) for code in view.window)
    return frozenset(who.player for who in seen if who is not None and (who.look == FROZEN) == frozen)

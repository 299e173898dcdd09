"""Hypothetical Minds (Cross et al. 2024) in matrix worlds: hypotheses about each partner, tested by their predictions.

A theory predicts what one partner will play and chooses the reply; it learns from meetings. A body gathers and meets.
Theories are programs (`programs`), sentences of a language model, or both (`verbal.sentences`). The agent knows only
what its own window shows: what a partner held is inferred from the reward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import numpy as np

from otherminds.distribution import Categorical, point_mass
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix.bots import ABLE, MatrixBot
from otherminds.worlds.in_the_matrix.hypotheses import (
    EXPECTED_PACE,
    MARGIN,
    Pace,
    chosen_margin,
    counters,
    meeting_game,
    partner_inventory,
    partner_play,
    seeing,
)
from otherminds.worlds.in_the_matrix.strategies import Aim, Inventory, play_of, specialist
from otherminds.worlds.in_the_matrix.world import FROZEN, InTheMatrix, MatrixView, sighting
from otherminds.worlds.repeated_games.rules import Game

WATCHED = 0.2  # probability, before any meeting, that players watch what the agent gathers; chosen, not tuned
SWITCH_RATE = 0.05  # probability, after a meeting, that whether players watch is decided anew; chosen, not tuned
CHANCE = 0.5  # of meeting the partner of choice where there are many; chosen, not tuned
PRIOR_COUNT = 5  # pick-ups, and meetings, for which the pace expected at first counts; chosen, not tuned
SURE = 0.6  # least probability of a play to be inferred; set after a look at the calibration with seed 42


class Encounter(NamedTuple):
    """A meeting that is over: the agent's inventory, the kind that the partner seems to have played, and the reward.

    `theirs` is None if that is uncertain, or if the partner had most of several kinds.
    """

    own: Inventory
    theirs: int | None
    reward: float

    @property
    def played(self) -> int | None:
        """The kind that the agent played, None for a tie."""
        return play_of(self.own)


class Watch(NamedTuple):
    """The last view, and the agent's inventory in the present meeting, if there is one."""

    last: MatrixView | None = None
    inventory: Inventory | None = None

    def after(self, world: InTheMatrix, view: MatrixView) -> tuple[Watch, Encounter | None]:
        """After one more view; with the meeting that has just paid, if one has."""
        if self.inventory is None:
            if not view.frozen or not view.window:
                return Watch(view), None
            # the winner of a meeting holds nothing any more as soon as it is frozen
            holds_nothing = view.inventory == world.rules.empty
            inventory = self.last.inventory if holds_nothing and self.last is not None else view.inventory
            return Watch(view, inventory), None
        if view.window:
            return Watch(view, self.inventory), None
        posterior = partner_play(partner_inventory(world.rules, self.inventory, view.reward))
        theirs = posterior.mode if posterior.prob(posterior.mode) >= SURE else None
        return Watch(view), Encounter(self.inventory, theirs, view.reward)


BEGINNING = Watch()


class TimeSpent(NamedTuple):
    """How the agent has spent its time: steps of gathering, resources gathered, all other steps, and meetings.

    Gathering begins with the first resource, because the way to it is as long for one resource as for many.
    """

    gathering: float = PRIOR_COUNT * EXPECTED_PACE.gather
    gathered: float = PRIOR_COUNT
    other_steps: float = PRIOR_COUNT * EXPECTED_PACE.meet
    meetings: float = PRIOR_COUNT

    @property
    def pace(self) -> Pace:
        """The agent's pace so far."""
        return Pace(self.gathering / self.gathered, self.other_steps / self.meetings)

    def after(self, last: MatrixView, view: MatrixView, aim: Aim) -> TimeSpent:
        """After one more view."""
        held_before = sum(last.inventory)
        if view.frozen or held_before == len(last.inventory) or aim.is_met(last.inventory):
            meetings = self.meetings + (view.frozen and not last.frozen)
            return self._replace(other_steps=self.other_steps + 1, meetings=meetings)
        gathered = max(0, sum(view.inventory) - held_before)
        return self._replace(gathering=self.gathering + 1, gathered=self.gathered + gathered)


PRIOR_TIME = TimeSpent()


class Theory(Protocol):
    """A theory of one partner: it learns from meetings, predicts what the partner will play, and chooses the reply."""

    def for_partner(self, partner: str, /) -> Self:
        """The theory of the partner with that name, before any meeting."""

    def update(self, own: Inventory, theirs: int | None, reward: float, /) -> Self:
        """After a meeting: the agent's inventory, what the partner played (None if unknown), and the reward."""

    def predict(self) -> Categorical[int]:
        """P(the kind that the partner plays next)."""

    def act(self) -> Categorical[int]:
        """The distribution over the kind to play next."""

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The hypotheses, the best first, with their probabilities or values."""


class GatheringBody(Protocol):
    """A body that gathers a kind and meets players; the theory decides which kind."""

    @property
    def world(self) -> InTheMatrix:
        """The world it is in."""

    @property
    def me(self) -> int:
        """The index of its player."""

    def toward(self, aim: Aim, worth: tuple[float, ...], /) -> Self:
        """The body with another aim, and the expected reward of a meeting with each player (empty: all equal)."""

    def observe(self, view: MatrixView, /) -> Self:
        """The body after one more view."""

    def act(self) -> Categorical[Action]:
        """The distribution over its next action."""


class Selection(NamedTuple):
    """The players to seek out, by index, the kind that they are expected to play, and the kind to play."""

    players: tuple[int, ...]
    expected: int
    kind: int


class Selector(Protocol):
    """What selects whom to meet next where there are many players."""

    def select(self, mind: HypotheticalMinds, /) -> tuple[Self, Selection | None]:
        """The selector after the choice, and the choice, None if there is none."""


class Lesson(NamedTuple):
    """A meeting with what was expected of the partner before, what both seem to have played, and the reward."""

    t: int
    partner: int | None
    theory: Theory
    expected: Categorical[int]
    own: int | None
    theirs: int | None
    reward: float


@dataclass(frozen=True)
class HypotheticalMinds:
    """A mind in a matrix world with a theory of each partner, which plays the best reply to its prediction.

    `prior` is the theory of a player that it has not met, `margin` the lead of the kind that it plays over all others
    in its inventory (None: chosen before each meeting), `modelled` the players with theories of their own, `watched`
    the probability that players watch what the agent gathers and gather what beats it. With many players the `selector`
    is asked after each meeting whom to seek out; without one, or without an answer, the best payer in expectation is.
    """

    body: GatheringBody
    game: Game
    prior: Theory
    margin: int | None
    theories: tuple[Theory, ...]
    aim: Aim
    modelled: frozenset[int]
    watch: Watch = BEGINNING
    spent: TimeSpent = PRIOR_TIME
    watched: float = 0.0
    partner: int | None = None
    lessons: tuple[Lesson, ...] = ()
    selector: Selector | None = None

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        prior: Theory,
        rng: np.random.Generator,
        *,
        margin: int | None = None,
        body: GatheringBody | None = None,
        selector: Selector | None = None,
        mapped: bool = True,
        theories: Sequence[Theory] | None = None,
    ) -> Self:
        """The mind at the start of an episode, by default in an able scripted body, which explores unless `mapped`.

        `theories`: one for each player, if they are not alike.
        """
        aim = Aim(prior.act().mode, margin or MARGIN)
        body = body or MatrixBot.initial(world, agent, specialist(aim), rng, ABLE, mapped=mapped)
        all_theories = tuple(prior.for_partner(name) for name in world.agents) if theories is None else tuple(theories)
        modelled = frozenset(j for j, theory in enumerate(theories or ()) if theory is not prior)
        watched = WATCHED if len(set(counters(world.rules))) > 1 else 0.0
        game = meeting_game(world.rules, margin or MARGIN)
        mind = cls(body, game, prior, margin, all_theories, aim, modelled, watched=watched, selector=selector)
        return mind._with_best_aim()

    def observe(self, view: MatrixView) -> Self:
        """Notice meetings, learn from them when they have paid, and let the body see."""
        view = view._replace(met=None)  # what a partner holds is not for this agent to see
        watch, over = self.watch.after(self.body.world, view)
        last = self.watch.last
        mind = replace(self, watch=watch, spent=self.spent if last is None else self.spent.after(last, view, self.aim))
        if watch.inventory is not None and self.watch.inventory is None:
            mind = replace(mind, partner=self._partner_of_meeting(view))
        elif over is not None:
            mind = mind._with_lesson(over, view.t)
        return replace(mind, body=mind.body.observe(view))

    def act(self) -> Categorical[Action]:
        """The action of the body."""
        return self.body.act()

    @property
    def me(self) -> int:
        """The index of its player."""
        return self.body.me

    @property
    def other_players(self) -> tuple[int, ...]:
        """The indices of all other players."""
        return tuple(j for j in range(len(self.theories)) if j != self.me)

    def expected(self, player: int | None) -> Categorical[int]:
        """P(the kind that a player plays next) ∝ P(kind | its theory) · P(kind | what the other players have played).

        The second factor is Laplace's rule of succession.
        """
        theory = self.theories[player] if player in self.modelled else self.prior
        plays = [lesson.theirs for lesson in self.lessons if lesson.theirs is not None and lesson.partner != player]
        law = theory.predict()
        if not plays:
            return law
        kinds = range(len(self.game.actions[1]))
        return Categorical.softmax([(kind, law.log_prob(kind) + math.log(1 + plays.count(kind))) for kind in kinds])

    def _partner_of_meeting(self, view: MatrixView) -> int | None:
        """The player that has just frozen: the only other one, or the only one seen awake a step ago; else None."""
        if len(self.other_players) == 1:
            return self.other_players[0]
        awake = _players_in_view(self.watch.last, frozen=False) if self.watch.last is not None else frozenset()
        new = (_players_in_view(view, frozen=True) & awake) - {self.me}
        return next(iter(new)) if len(new) == 1 else None

    def _with_lesson(self, over: Encounter, t: int) -> Self:
        """With a theory updated by a meeting that has paid, and a new aim."""
        theory = self.prior if self.partner is None else self.theories[self.partner]
        expected = self.expected(self.partner)
        lesson = Lesson(t, self.partner, theory, expected, over.played, over.theirs, over.reward)
        theories, modelled = list(self.theories), self.modelled
        if self.partner is not None:
            theories[self.partner] = theory.update(over.own, over.theirs, over.reward)
            modelled |= {self.partner}
        watched = self._p_watched(over, expected)
        lessons = (*self.lessons, lesson)
        mind = replace(self, theories=tuple(theories), modelled=modelled, watched=watched, lessons=lessons)
        if self.selector is None or len(self.other_players) == 1:
            return mind._with_best_aim()
        selector, selection = self.selector.select(mind)
        mind = replace(mind, selector=selector)
        if selection is None:
            return mind._with_best_aim()
        worth = tuple(float(j in selection.players) for j in range(len(theories)))
        return mind._with_aim(selection.kind, point_mass(selection.expected), worth)

    def _p_watched(self, over: Encounter, expected: Categorical[int]) -> float:
        """P(players watch) after a meeting: one that saw the kind in the lead plays its counter, else as expected."""
        if over.played is None or over.theirs is None or not self.watched:
            return self.watched
        rules, p = self.body.world.rules, expected.prob(over.theirs)
        p_seen = seeing(rules, over.own[over.played] - sorted(over.own)[-2])
        joint = self.watched * (p_seen * (over.theirs == counters(rules)[over.played]) + (1.0 - p_seen) * p)
        either = joint + (1.0 - self.watched) * p
        if not either:  # a language model's theory may rule a play out
            return self.watched
        return (1.0 - SWITCH_RATE) * joint / either + SWITCH_RATE * WATCHED

    def _with_best_aim(self) -> Self:
        """With the kind to gather next: the choice of the partner's theory or, with many partners, the best payer.

        With many partners, the agent meets one of its choice with probability CHANCE, else any.
        """
        if len(self.other_players) == 1:
            theory = self.theories[self.other_players[0]]
            return self._with_aim(theory.act().mode, theory.predict(), ())
        kinds, payoff = range(len(self.game.actions[1])), self.game.payoff()
        plays = np.array([[self.expected(j).prob(kind) for kind in kinds] for j in range(len(self.theories))])
        pays = plays @ payoff.T
        value = [sum(max(pays[j][k], CHANCE * pays[j][k]) for j in self.other_players) for k in range(len(payoff))]
        best = max(range(len(value)), key=value.__getitem__)
        worth = tuple(0.0 if j == self.me else float(pay[best]) for j, pay in enumerate(pays))
        target = max(self.other_players, key=worth.__getitem__)
        return self._with_aim(best, self.expected(target), worth)

    def _with_aim(self, kind: int, theirs: Categorical[int], worth: tuple[float, ...]) -> Self:
        """With this kind as its aim, at the best lead against a partner that plays `theirs`."""
        rules, pace = self.body.world.rules, self.spent.pace
        margin = self.margin or chosen_margin(rules, kind, theirs, pace=pace, watched=self.watched)
        aim = Aim(kind, margin)
        return replace(self, aim=aim, body=self.body.toward(aim, worth))


def _players_in_view(view: MatrixView, *, frozen: bool) -> frozenset[int]:
    """The players in a window that are frozen, or those that are awake."""
    sightings = (sighting(code) for code in view.window)
    return frozenset(avatar.player for avatar in sightings if avatar is not None and (avatar.look == FROZEN) == frozen)

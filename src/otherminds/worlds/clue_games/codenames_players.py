"""Players of Codenames: givers with associations and a convention of their own, and guessers that infer both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical, point_mass
from otherminds.observer import Observer
from otherminds.worlds.clue_games.associations import Associator, Floats, strengths
from otherminds.worlds.clue_games.codenames import OWN, PASS, PAY, STOP, Board, Codenames, CodenamesView, Turn


class Manner(NamedTuple):
    """What a giver's clues point to and keep away from, by role, and the weight of the latter."""

    aim: tuple[float, ...]
    risk: tuple[float, ...]
    caution: float


OWN_WORDS, DANGERS = (1.0, 0.0, 0.0, 0.0), (0.0, 0.5, 1.0, 2.0)  # weights by role; chosen, not tuned
MANNERS: Mapping[str, Manner] = {  # cautions are chosen so that it matters who gives
    "bold": Manner(OWN_WORDS, DANGERS, 0.5),
    "cautious": Manner(OWN_WORDS, DANGERS, 2.0),
    "warning": Manner(DANGERS, OWN_WORDS, 0.5),
}
FAINT = 0.2  # association from which a word may be meant; chosen after a look at the scores
LAPSE = 0.02  # share of random hints; chosen, not tuned
PRECISION = 10.0  # per unit of U, of the giver that an egocentric guesser imagines; chosen, not tuned
TIE = 1e-9  # values that differ by less are equal: rounding


class CodenamesGiver(NamedTuple):
    """Names a clue for the n own words that it associates most with it, far from all others by its own measure.

    A giver that warns does so for dangerous words instead, far from own words. U(clue, n) = Σ_{i ≤ n} (t_i − caution ·
    (FAINT + max_w risk[role of w] s[w, clue])), with t_1 ≥ t_2 ≥ … the values aim[role of w] s[w, clue] of all words w.
    P(hint) = (1 − lapse) · P₀(hint) + lapse / hints, where P₀ is the first best hint, or with a finite precision
    ∝ exp(precision · U). `manner` is a key of MANNERS.
    """

    world: Codenames
    person: Associator
    manner: str
    lapse: float = LAPSE
    precision: float = math.inf
    view: CodenamesView | None = None

    @property
    def name(self) -> str:
        """Its manner, and the fields that the person knows."""
        return f"{self.manner} {self.person.name}"

    def observe(self, view: CodenamesView) -> CodenamesGiver:
        """The giver after it has seen the roles."""
        return self._replace(view=view)

    def act(self) -> Categorical[int]:
        """P(hint | roles); PASS once the hint is given."""
        if self.view is None or self.view.hint is not None or self.view.roles is None:
            return point_mass(PASS)
        assignment, hints = _index(self.world)[self.view.roles], self.world.hints[self.view.board]
        if math.isinf(self.precision):
            return _hint_law(hints, int(self.choices(self.view.board)[assignment]), self.lapse)
        worths = self.precision * _worths(self.world, self.person, self.manner, self.view.board)[assignment]
        return Categorical.softmax(zip(hints, worths.tolist(), strict=True), lapse=self.lapse)

    def choices(self, board: Board) -> NDArray[np.intp]:
        """The best hint, for each assignment of roles; read-only."""
        return _choices(self.world, self.person, self.manner, board)

    def chances(self, board: Board, hint: int) -> Floats:
        """P(hint | roles), for each assignment of roles."""
        hints = self.world.hints[board]
        if math.isinf(self.precision):
            wished: Floats = (self.choices(board) == hint).astype(float)
        else:
            worths = self.precision * _worths(self.world, self.person, self.manner, board)
            shares = np.exp(worths - worths.max(axis=1, keepdims=True))
            wished = shares[:, hints.index(hint)] / shares.sum(axis=1)
        return (1.0 - self.lapse) * wished + self.lapse / len(hints)


@lru_cache(maxsize=100_000)
def _hint_law(hints: tuple[int, ...], hint: int, lapse: float) -> Categorical[int]:
    return Categorical.softmax(((h, 0.0 if h == hint else IMPOSSIBLE) for h in hints), lapse=lapse)


@lru_cache(maxsize=64)
def _index(world: Codenames) -> dict[tuple[int, ...], int]:
    return {tuple(roles): i for i, roles in enumerate(world.assignments.tolist())}


@lru_cache(maxsize=10_000)
def _choices(world: Codenames, person: Associator, manner: str, board: Board) -> NDArray[np.intp]:
    worths = _worths(world, person, manner, board)
    choices: NDArray[np.intp] = np.array(world.hints[board])[
        (worths >= worths.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
    ]
    choices.setflags(write=False)
    return choices


@lru_cache(maxsize=64)
def _worths(world: Codenames, person: Associator, manner: str, board: Board) -> Floats:
    """U, of shape (assignments, hints)."""
    clues = [hint // world.numbers for hint in world.hints[board][:: world.numbers]]
    pull = strengths(world.associations, person)[np.ix_(board, clues)]  # (words, clues)
    aim, risk, caution = MANNERS[manner]
    aims, risks = (np.array(weights)[world.assignments][..., None] * pull for weights in (aim, risk))
    strongest = -np.sort(-aims, axis=1)[:, : world.numbers]  # (assignments, numbers, clues)
    worth = (strongest - caution * (FAINT + risks.max(axis=1, keepdims=True))).cumsum(axis=1)
    worths: Floats = worth.transpose(0, 2, 1).reshape(len(aims), -1)
    return worths


def givers(world: Codenames) -> Iterator[CodenamesGiver]:
    """The 63 partners: one of each manner for each of the people."""
    return (CodenamesGiver(world, person, manner) for person in world.associations.people for manner in MANNERS)


def own_sets(world: Codenames) -> tuple[tuple[int, ...], ...]:
    """The sets of places that may be those of the own words, in the order of their indices."""
    return tuple(combinations(range(len(world.cards)), world.numbers))


def own_set(world: Codenames, roles: tuple[int, ...]) -> int:
    """The index of the own words."""
    return own_sets(world).index(tuple(place for place, role in enumerate(roles) if role == OWN))


# Exact values


@lru_cache(maxsize=64)
def _subsets(world: Codenames) -> tuple[tuple[tuple[int, ...], ...], NDArray[np.bool_], Floats]:
    """Sets of touched own words, which assignments allow each, and points by assignment and place."""
    roles, places = world.assignments, range(len(world.cards))
    subsets = tuple(s for size in range(world.numbers) for s in combinations(places, size))
    possible = np.array([(roles[:, list(subset)] == OWN).all(axis=1) for subset in subsets])
    return subsets, possible, np.array(PAY)[roles]


def touch_values(world: Codenames, hint: int, belief: Floats) -> dict[tuple[int, ...], Floats]:
    """Q[place] for each sorted tuple of own words touched, times the probability to get there; to stop is worth 0.

    Exact: backward induction over sets of own words touched, as any other touch ends the turn. `belief` is P(roles),
    up to a factor that the values share.
    """
    subsets, possible, points = _subsets(world)
    values = dict(zip(subsets, (possible * belief) @ points, strict=True))
    most = world.most_touches(hint)
    for subset in reversed([subset for subset in subsets if len(subset) < most]):
        values[subset][list(subset)] = IMPOSSIBLE
        if len(subset) + 1 < most:
            for place in set(range(len(world.cards))) - set(subset):
                values[subset][place] += max(0.0, values[tuple(sorted((*subset, place)))].max())
    return values


def _touch(values: Floats) -> int:
    """The best place, ties to the first; STOP if no touch is worth more than nothing."""
    return int(np.argmax(values >= values.max() - TIE)) if values.max() > TIE else STOP


def _followed(world: Codenames, hint: int, belief: Floats) -> Floats:
    """Points of the best response to a belief, for each assignment."""
    values, (subsets, possible, points) = touch_values(world, hint, belief), _subsets(world)
    total, touched = np.zeros(len(points)), tuple[int, ...]()
    for _ in range(world.most_touches(hint)):
        place = _touch(values[touched])
        if place == STOP:
            break
        total += possible[subsets.index(touched)] * points[:, place]
        touched = tuple(sorted((*touched, place)))
    return total


def best(giver: CodenamesGiver, last: Turn) -> float:
    """Expected points of the best response to the giver's hint."""
    world = giver.world
    hint = world.numbers * last.clue + last.number - 1
    belief = _belief((giver,), (1.0,), last.board, hint)
    return max(0.0, float(touch_values(world, hint, belief)[()].max()))


def earned(assumed: CodenamesGiver, true: CodenamesGiver) -> float:
    """Exact expected points per turn of the best response to `assumed`, played with `true`, for infinite precisions."""
    means = []
    for board in true.world.boards:
        plan_of, followed = _plans(assumed, board)
        plans = [plan_of[hint] for hint in true.choices(board).tolist()]
        random_hint = followed[list(plan_of.values())].mean()
        means.append((1.0 - true.lapse) * followed[plans, np.arange(len(plans))].mean() + true.lapse * random_hint)
    return float(np.mean(means))


@lru_cache(maxsize=2048)
def _plans(assumed: CodenamesGiver, board: Board) -> tuple[Mapping[int, int], Floats]:
    """A plan for every hint, and the points by plan and assignment, for the best response to the giver."""
    world, one = assumed.world, ((assumed,), (1.0,))
    index: dict[tuple[int, bytes], int] = {}  # hints that the giver never chooses tell nothing, and share a plan
    plan_of, followed = dict[int, int](), list[Floats]()
    for hint in world.hints[board]:
        belief = _belief(*one, board, hint)
        key = (world.most_touches(hint), belief.tobytes())
        if key not in index:
            index[key] = len(followed)
            followed.append(_followed(world, hint, belief))
        plan_of[hint] = index[key]
    return plan_of, np.array(followed)


def _belief(givers: tuple[CodenamesGiver, ...], probs: tuple[float, ...], board: Board, hint: int) -> Floats:
    """P(roles | hint) = Σ_k P(k) P(hint | roles, k) / …, by assignment."""
    by_giver = np.array([giver.chances(board, hint) for giver in givers])
    belief: Floats = np.array(probs) @ by_giver
    belief /= belief.sum()
    return belief


# The open seat


@dataclass(frozen=True)
class CodenamesGuesser:
    """Infers the roles from the hint under the givers it considers, and touches words as long as that pays.

    P(roles | hint) ∝ Σ_k P(k) P(hint | roles, k); P(k) is updated when a turn ends and the roles are shown. Its touches
    do not change what it will observe, so the best touches in each turn are also optimal over all turns.
    """

    partners: Observer[CodenamesGiver]
    view: CodenamesView | None = None

    def observe(self, view: CodenamesView) -> Self:
        """The guesser after an observation; the end of a turn updates its beliefs, scored on what the giver saw."""
        partners, last = self.partners, view.last
        if last is not None and view.hint is None:
            partner_view = CodenamesView(last.board, last.roles, None, (), None)
            hint = self.world.numbers * last.clue + last.number - 1
            partners = partners.see(partner_view).watch(hint, view)
        return replace(self, partners=partners, view=view)

    @property
    def world(self) -> Codenames:
        """The game."""
        return self.partners.minds[0].world

    @property
    def belief(self) -> Floats:
        """P(roles | hint, own words touched), by assignment; uniform before the hint."""
        if self.view is None or self.view.hint is None:
            return np.full(len(self.world.assignments), 1.0 / len(self.world.assignments))
        subsets, possible, _ = _subsets(self.world)
        belief: Floats = _turn(self.partners, self.view.board, self.view.hint)[0]
        belief = belief * possible[subsets.index(tuple(sorted(self.view.touched)))]
        belief /= belief.sum()
        return belief

    def predict(self) -> Categorical[int]:
        """P(own words | hint, touches), as indices of `own_sets`."""
        sets = own_sets(self.world)
        chances = np.bincount(_own_indices(self.world), weights=self.belief, minlength=len(sets)).tolist()
        return Categorical.from_scores((i, math.log(p) if p > 0.0 else IMPOSSIBLE) for i, p in enumerate(chances))

    def act(self) -> Categorical[int]:
        """The best place to touch, ties to the first, or STOP; PASS until there is a hint."""
        if self.view is None or self.view.hint is None:
            return point_mass(PASS)
        values = _turn(self.partners, self.view.board, self.view.hint)[1]
        return point_mass(_touch(values[tuple(sorted(self.view.touched))]))


@lru_cache(maxsize=64)
def _own_indices(world: Codenames) -> NDArray[np.intp]:
    """`own_set` of each assignment."""
    return np.array([own_set(world, roles) for roles in world.assignments.tolist()])


@lru_cache(maxsize=4096)
def _turn(
    partners: Observer[CodenamesGiver], board: Board, hint: int
) -> tuple[Floats, Mapping[tuple[int, ...], Floats]]:
    """P(roles | hint), and `touch_values` under it."""
    belief = _belief(partners.minds, partners.posterior.probs, board, hint)
    return belief, touch_values(partners.minds[0].world, hint, belief)


def informed(partner: CodenamesGiver) -> CodenamesGuesser:
    """A guesser that knows the partner's associations and convention."""
    return CodenamesGuesser(Observer.over([partner]))


def bayesian(world: Codenames) -> CodenamesGuesser:
    """A guesser with a uniform prior over all partners."""
    return CodenamesGuesser(Observer.over(givers(world)))


def egocentric(world: Codenames) -> CodenamesGuesser:
    """A guesser that assumes a bold giver with the conventional associations and never learns otherwise.

    The giver it imagines has a finite precision, so that a hint which is not the best one still tells something.
    """
    return CodenamesGuesser(Observer.over([next(givers(world))._replace(precision=PRECISION)]))


def blind(world: Codenames) -> CodenamesGuesser:
    """A guesser that takes hints for noise, and so learns nothing about the roles."""
    return CodenamesGuesser(Observer.over([next(givers(world))._replace(lapse=1.0)]))

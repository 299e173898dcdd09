"""Players of the small Hanabi: first players with a convention of their own, and second players that infer it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple, Self

from otherminds.distribution import IMPOSSIBLE, Categorical, point_mass
from otherminds.worlds.clue_games.small_hanabi import (
    DISCARD,
    FIRST,
    HINT_COLOUR,
    HINT_RANK,
    HINTS,
    PASS,
    PLAY,
    SECOND,
    CardKnowledge,
    HanabiGame,
    HanabiScene,
    HanabiTable,
    SmallHanabi,
    SmallHanabiView,
)

TIE = 1e-9  # values that differ by less are equal: rounding
DIGITS = 12  # decimals to which beliefs are told apart: rounding
# which hints mean that the card should be played; a player that is told nothing plays only if no hint says so
MEANINGS: Mapping[str, tuple[tuple[int, ...], int]] = {
    "hints play": (HINTS, HINT_COLOUR),
    "ranks hint play": (HINTS, HINT_RANK),
    "colours play": ((HINT_COLOUR,), HINT_COLOUR),
    "ranks play": ((HINT_RANK,), HINT_RANK),
    "hints save": ((), HINT_COLOUR),
    "ranks hint save": ((), HINT_RANK),
}


class Convention(NamedTuple):
    """A first player that takes some hints for `play`, and others for `do not play`, and gives hints in this sense.

    It plays its card if the last hint says so, or, where no hint means `play`, if there was none. It hints if the other
    player, reading hints alike, would do the wrong thing with its card and a hint can set it right. A `helpful` player
    hints before it plays, others play first. It discards if it has no reason for either.
    """

    world: SmallHanabi
    meaning: str
    helpful: bool
    view: SmallHanabiView | None = None

    @property
    def name(self) -> str:
        """What hints mean, and what comes first."""
        return f"{self.meaning}, {'hint' if self.helpful else 'play'} first"

    def observe(self, view: SmallHanabiView) -> Convention:
        """The player after it has seen the table and the other's card."""
        return self._replace(view=view)

    def act(self) -> Categorical[int]:
        """Its action; PASS out of turn."""
        if self.view is None or self.view.turn != FIRST:
            return point_mass(PASS)
        return point_mass(self.action(self.view.table, self.view.other))

    def says_play(self, told: CardKnowledge) -> bool:
        """Whether a card with these hints is to be played."""
        plays, _ = MEANINGS[self.meaning]
        return not plays if told.last is None else told.last in plays

    def action(self, table: HanabiTable, other: int) -> int:
        """The action at a table, by the other player's card."""
        legal, told = self.world.moves(table), table.told[FIRST]
        plays, usual = MEANINGS[self.meaning]
        play = [PLAY] if self.says_play(told) else []
        colour, rank = divmod(other, self.world.ranks)
        playable = table.heights[colour] == rank
        true = sorted((hint for hint in HINTS if (hint in plays) == playable), key=lambda hint: hint != usual)[:1]
        hint = true if playable != self.says_play(table.told[SECOND]) else []
        keep = true if told.last is not None else []
        wishes = [*hint, *play] if self.helpful else [*play, *hint]
        return next((wish for wish in (*wishes, *keep, DISCARD) if wish in legal), PASS)


def conventions(world: SmallHanabi) -> Iterator[Convention]:
    """The 12 partners: each meaning of hints, with hints first and with play first."""
    return (Convention(world, meaning, helpful) for meaning, helpful in product(MEANINGS, (True, False)))


# What the second player believes of its own card


class HandBelief(NamedTuple):
    """What the second player sees, and P(own card's kind)."""

    scene: HanabiScene
    own: tuple[float, ...]


class TurnOutcome(NamedTuple):
    """What may come of a turn: its probability, its reward, and the belief after it."""

    chance: float
    reward: float
    belief: HandBelief


def _unseen(world: SmallHanabi, scene: HanabiScene) -> list[int]:
    """The number of cards of each kind that the second player does not see: in the deck, and its own."""
    return [count - scene.table.gone[kind] - (kind == scene.card) for kind, count in enumerate(world.cards)]


def _grouped(branches: Iterable[tuple[HanabiScene, float, int, float]]) -> tuple[TurnOutcome, ...]:
    """Outcomes by what is seen, of branches (scene, reward, own card afterwards, probability)."""
    kinds, rewards = dict[HanabiScene, dict[int, float]](), dict[HanabiScene, float]()
    for scene, reward, own, chance in branches:
        by_kind = kinds.setdefault(scene, dict.fromkeys(range(len(scene.table.gone)), 0.0))
        by_kind[own] += chance
        rewards[scene] = reward
    sums = {scene: sum(by_kind.values()) for scene, by_kind in kinds.items()}
    return tuple(
        TurnOutcome(
            total, rewards[scene], HandBelief(scene, tuple(round(p / total, DIGITS) for p in kinds[scene].values()))
        )
        for scene, total in sums.items()
    )


def first_outcomes(partner: Convention, belief: HandBelief, *, listens: bool = True) -> tuple[TurnOutcome, ...]:
    """The outcomes of the first player's turn; not listening, as if it chose its action at random."""
    return _grouped(_first_branches(partner, belief, listens))


def _first_branches(
    partner: Convention, belief: HandBelief, listens: bool
) -> Iterator[tuple[HanabiScene, float, int, float]]:
    world, (table, card), unseen = partner.world, belief.scene, _unseen(partner.world, belief.scene)
    for own, p in enumerate(belief.own):
        if not p:
            continue
        actions = (partner.action(table, own),) if listens else world.moves(table)
        for action in actions:
            after, reward = world.after(table, FIRST, action, own if action in HINTS else card)
            share = p / len(actions)
            if action not in (PLAY, DISCARD) or not table.deck:
                yield HanabiScene(after, card), reward, own, share
                continue
            for drawn, count in enumerate(unseen):
                if left := count - (drawn == own):
                    yield HanabiScene(after, drawn), reward, own, share * left / table.deck


def second_outcomes(world: SmallHanabi, belief: HandBelief, action: int) -> tuple[TurnOutcome, ...]:
    """The outcomes of an action of the second player."""
    return _grouped(_second_branches(world, belief, action))


def _second_branches(
    world: SmallHanabi, belief: HandBelief, action: int
) -> Iterator[tuple[HanabiScene, float, int, float]]:
    (table, card), unseen = belief.scene, _unseen(world, belief.scene)
    for own, p in enumerate(belief.own):
        if not p:
            continue
        after, reward = world.after(table, SECOND, action, card if action in HINTS else own)
        if action not in (PLAY, DISCARD) or not table.deck:
            yield HanabiScene(after, card), reward, own, p
            continue
        for drawn, count in enumerate(unseen):
            if left := count - (drawn == own):
                yield HanabiScene(after, card), reward, drawn, p * left / table.deck


@lru_cache(maxsize=200_000)
def believed(partner: Convention, scenes: tuple[HanabiScene, ...], *, listens: bool = True) -> tuple[float, HandBelief]:
    """P(scenes | partner, own actions), and the belief after them.

    After a turn that the convention does not explain, or a card that it had excluded, the probability is 0, and the
    belief that of a player that does not listen.
    """
    world = partner.world
    if len(scenes) == 1:
        unseen = _unseen(world, scenes[0])
        return 1.0, HandBelief(scenes[0], tuple(count / sum(unseen) for count in unseen))
    chance, before = believed(partner, scenes[:-1], listens=listens)
    if len(scenes) % 2:
        actions = world.moves(before.scene.table)
        outcomes = [outcome for action in actions for outcome in second_outcomes(world, before, action)]
    else:
        outcomes = list(first_outcomes(partner, before, listens=listens))
    for outcome in outcomes:
        if outcome.belief.scene == scenes[-1]:
            return chance * outcome.chance, outcome.belief
    return 0.0, believed(partner, scenes, listens=False)[1]


# Exact values, by backward induction over beliefs


@lru_cache(maxsize=200_000)
def value(partner: Convention, belief: HandBelief) -> float:
    """Expected points of the best response from the first player's turn to the end of the game."""
    return sum(
        outcome.chance * (outcome.reward + max(action_values(partner, outcome.belief).values()))
        for outcome in first_outcomes(partner, belief)
    )


@lru_cache(maxsize=200_000)
def action_values(partner: Convention, belief: HandBelief) -> Mapping[int, float]:
    """Q(action) of the second player, for the best response to the convention."""
    world = partner.world

    def after(outcome: TurnOutcome) -> float:
        return 0.0 if world.over(outcome.belief.scene.table) else value(partner, outcome.belief)

    return {
        action: sum(o.chance * (o.reward + after(o)) for o in second_outcomes(world, belief, action))
        for action in world.moves(belief.scene.table)
    }


def best(partner: Convention, last: HanabiGame) -> float:
    """Expected points of the best response before the last pair of turns, less those expected after it in the game."""
    before, after = (believed(partner, scenes)[1] for scenes in (last.scenes[:-2], last.scenes))
    return value(partner, before) - (0.0 if last.over else value(partner, after))


@lru_cache(maxsize=1024)
def earned(assumed: Convention, true: Convention) -> float:
    """Exact expected points per game of the best response to `assumed`, played with `true`.

    Ties go to the first action.
    """
    world = true.world

    def followed(scenes: tuple[HanabiScene, ...], belief: HandBelief) -> float:
        total = 0.0
        for seen in first_outcomes(true, belief):
            shown = (*scenes, seen.belief.scene)
            action = _best_action(action_values(assumed, believed(assumed, shown)[1]))
            total += seen.chance * seen.reward
            for outcome in second_outcomes(world, seen.belief, action):
                scene = outcome.belief.scene
                later = 0.0 if world.over(scene.table) else followed((*shown, scene), outcome.belief)
                total += seen.chance * outcome.chance * (outcome.reward + later)
        return total

    deals = ((count, (HanabiScene(world.first_table, card),)) for card, count in enumerate(world.cards))
    return sum(count * followed(deal, believed(true, deal)[1]) for count, deal in deals) / sum(world.cards)


def _best_action(values: Mapping[int, float]) -> int:
    return next(action for action, worth in values.items() if worth >= max(values.values()) - TIE)


# The open seat


@dataclass(frozen=True)
class SecondPlayer:
    """Infers its own card from the other's turns under the conventions it considers, and takes the best action.

    argmax_a Σ_k P(k) Q_k(a, P_k(own card)), where Q_k plans the rest of the game with convention k, and P(k) is updated
    by every turn. With one convention this is the best response; with several the player never acts for what it would
    learn about the convention. A player that does not listen takes hints at their word, and other turns for noise.
    """

    partners: tuple[Convention, ...]
    prior: tuple[float, ...]
    listens: bool = True
    view: SmallHanabiView | None = None

    def observe(self, view: SmallHanabiView) -> Self:
        """The player after an observation; a finished game becomes part of its prior."""
        last = view.last
        if last is not None and last.over and len(view.scenes) == 1:
            return replace(self, prior=self._posterior(last.scenes), view=view)
        return replace(self, view=view)

    def _posterior(self, scenes: tuple[HanabiScene, ...]) -> tuple[float, ...]:
        chances = (believed(partner, scenes, listens=self.listens)[0] for partner in self.partners)
        weights = [p * chance for p, chance in zip(self.prior, chances, strict=True)]
        return tuple(weight / sum(weights) for weight in weights) if sum(weights) else self.prior

    @property
    def beliefs(self) -> Iterator[tuple[Convention, float, HandBelief]]:
        """Each convention with its probability and P(own card | convention). Raises ValueError before any view."""
        if self.view is None:
            raise ValueError("the player has not seen anything yet")
        for partner, p in zip(self.partners, self._posterior(self.view.scenes), strict=True):
            if p:
                yield partner, p, believed(partner, self.view.scenes, listens=self.listens)[1]

    def predict(self) -> Categorical[int]:
        """P(kind of the own card | everything seen)."""
        own = [sum(terms) for terms in zip(*([p * q for q in b.own] for _, p, b in self.beliefs), strict=True)]
        return Categorical.from_scores((kind, math.log(p) if p else IMPOSSIBLE) for kind, p in enumerate(own))

    def act(self) -> Categorical[int]:
        """The best action, ties to the first; PASS out of turn."""
        if self.view is None or self.view.turn != SECOND:
            return point_mass(PASS)
        values = dict.fromkeys(self.partners[0].world.moves(self.view.table), 0.0)
        for partner, p, belief in self.beliefs:
            for action, worth in action_values(partner, belief).items():
                values[action] += p * worth
        return point_mass(_best_action(values))


def informed(partner: Convention) -> SecondPlayer:
    """A player that knows the partner's convention."""
    return SecondPlayer((partner,), (1.0,))


def bayesian(world: SmallHanabi) -> SecondPlayer:
    """A player with a uniform prior over all conventions."""
    partners = tuple(conventions(world))
    return SecondPlayer(partners, (1.0 / len(partners),) * len(partners))


def egocentric(world: SmallHanabi) -> SecondPlayer:
    """A player that assumes that hints mean `play` and come first, and never learns otherwise."""
    return informed(next(conventions(world)))


def literal(world: SmallHanabi) -> SecondPlayer:
    """A player that plans as the egocentric one, but takes hints at their word only."""
    return replace(egocentric(world), listens=False)

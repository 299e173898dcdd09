"""A small Hanabi: two players with one card each, which only the other sees, build up colours by hints.

(Bard et al. 2020; the full game needs open-spiel, which cannot be installed everywhere, and has no exact solution.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

PASS = -1  # the action of the player whose turn it is not, or who can do nothing else; convention
PLAY, DISCARD, HINT_COLOUR, HINT_RANK = range(4)
HINTS = (HINT_COLOUR, HINT_RANK)
FIRST, SECOND = range(2)


class CardKnowledge(NamedTuple):
    """What a player has been told about its card, and the last hint (its action)."""

    colour: int | None = None
    rank: int | None = None
    last: int | None = None


class HanabiTable(NamedTuple):
    """What both players see: the height of each colour, the cards gone by kind, and what each has been told.

    `tokens` are the hints left, `deck` is the number of cards left.
    """

    heights: tuple[int, ...]
    gone: tuple[int, ...]
    tokens: int
    lives: int
    deck: int
    told: tuple[CardKnowledge, CardKnowledge] = (CardKnowledge(), CardKnowledge())


class HanabiScene(NamedTuple):
    """What the second player sees: the table and the first player's card."""

    table: HanabiTable
    card: int


class HanabiGame(NamedTuple):
    """A game up to a turn of the second player: all scenes, the player's card before the turn, and its action.

    `own` is None for the second player if it has neither played nor discarded this card.
    """

    scenes: tuple[HanabiScene, ...]
    own: int | None
    action: int
    over: bool


class SmallHanabiState(NamedTuple):
    """The state: games finished so far, the scenes of this game from its deal on, the second player's card, the deck.

    Each turn adds a scene; after an odd number of scenes it is the first player's turn.
    """

    rounds: int
    scenes: tuple[HanabiScene, ...]
    own: int
    deck: tuple[int, ...]
    last: HanabiGame | None


class SmallHanabiView(NamedTuple):
    """What a player observes: the table, the other's card, and for the second player the scenes and the last turn."""

    table: HanabiTable
    other: int
    turn: int
    scenes: tuple[HanabiScene, ...] = ()
    last: HanabiGame | None = None


@dataclass(frozen=True)
class SmallHanabi:
    """Hanabi with `copies[rank]` cards of each rank in each colour and hands of one card, played `rounds` times.

    In turn a player plays its card, discards it, or tells the other the colour or the rank of its card. A card that is
    the next of its colour earns both players 1; any other costs a life, and the last life all points of the game. A
    hint costs a token, a discard returns one. The game ends with the second player's turn if no lives or no cards in
    the deck are left, or all colours are complete; so both players always have a card.
    Raises ValueError with fewer than 1 round, colour, life or copy, or fewer than 2 cards.
    """

    rounds: int = 12
    colours: int = 2
    copies: tuple[int, ...] = (2, 1)
    tokens: int = 3
    lives: int = 2

    def __post_init__(self) -> None:
        if min(self.rounds, self.colours, self.lives, *self.copies) < 1 or sum(self.cards) < 2:
            raise ValueError("this game needs at least 1 round, colour, life and copy of each rank, and 2 cards")

    @property
    def ranks(self) -> int:
        """The number of ranks; card k has colour k // ranks and rank k % ranks."""
        return len(self.copies)

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The number of cards of each kind."""
        return self.copies * self.colours

    @property
    def agents(self) -> tuple[str, str]:
        """The players in the order in which they act."""
        return ("first", "second")

    def start(self, rng: np.random.Generator, /) -> SmallHanabiState:
        """The first deal."""
        return self._deal(0, None, rng)

    def _deal(self, rounds: int, last: HanabiGame | None, rng: np.random.Generator) -> SmallHanabiState:
        pile = [card for card, count in enumerate(self.cards) for _ in range(count)]
        first, second, *deck = (pile[i] for i in rng.permutation(len(pile)))
        return SmallHanabiState(rounds, (HanabiScene(self.first_table, first),), second, tuple(deck), last)

    @property
    def first_table(self) -> HanabiTable:
        """The table after the deal."""
        return HanabiTable((0,) * self.colours, (0,) * len(self.cards), self.tokens, self.lives, sum(self.cards) - 2)

    def moves(self, table: HanabiTable) -> tuple[int, ...]:
        """The actions of the player whose turn it is."""
        if self.ended(table):
            return (PASS,)
        return (PLAY, DISCARD, *HINTS) if table.tokens else (PLAY, DISCARD)

    def ended(self, table: HanabiTable) -> bool:
        """Whether nothing can be earned or lost any more."""
        return table.lives == 0 or sum(table.heights) == self.colours * self.ranks

    def after(self, table: HanabiTable, player: int, action: int, card: int) -> tuple[HanabiTable, float]:
        """The table after a turn, and its reward; `card` is the one that is played, discarded or hinted at."""
        told, reward = list(table.told), 0.0
        colour, rank = divmod(card, self.ranks)
        if action in HINTS:
            hint = {"colour": colour} if action == HINT_COLOUR else {"rank": rank}
            told[1 - player] = told[1 - player]._replace(**hint, last=action)
            table = table._replace(tokens=table.tokens - 1)
        elif action != PASS:
            gone = tuple(count + (kind == card) for kind, count in enumerate(table.gone))
            table = table._replace(gone=gone, deck=max(0, table.deck - 1))
            told[player] = CardKnowledge()
            if action == DISCARD:
                table = table._replace(tokens=min(self.tokens, table.tokens + 1))
            elif table.heights[colour] == rank:
                heights = tuple(height + (c == colour) for c, height in enumerate(table.heights))
                table, reward = table._replace(heights=heights), 1.0
            else:
                table = table._replace(lives=table.lives - 1)
                reward = 0.0 if table.lives else -float(sum(table.heights))
        return table._replace(told=(told[0], told[1])), reward

    def over(self, table: HanabiTable) -> bool:
        """Whether the game ends with a turn of the second player that leaves this table."""
        return self.ended(table) or not table.deck

    @property
    def most_scenes(self) -> int:
        """As many scenes as a game has at most: each card goes once, each hint costs a token, won back by a card."""
        return self.tokens + 3 * sum(self.cards)

    def actions(self, state: SmallHanabiState, agent: str) -> tuple[int, ...]:
        """What the player may do in its turn; only PASS out of turn."""
        is_moving = self.agents.index(agent) == _turn(state.scenes)
        return self.moves(state.scenes[-1].table) if is_moving else (PASS,)

    def step(self, state: SmallHanabiState, joint: Mapping[str, int], rng: np.random.Generator, /) -> SmallHanabiState:
        """The state after a turn, or a new deal after a game. Raises ValueError for illegal actions."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        player, (before, card) = _turn(state.scenes), state.scenes[-1]
        action = joint[self.agents[player]]
        hands, deck = [card, state.own], state.deck
        table, _ = self.after(before, player, action, hands[1 - player if action in HINTS else player])
        if action in (PLAY, DISCARD) and deck:
            hands[player], deck = deck[0], deck[1:]
        scenes = (*state.scenes, HanabiScene(table, hands[FIRST]))
        if player == FIRST:
            return state._replace(scenes=scenes, deck=deck)
        last = HanabiGame(scenes, state.own, action, self.over(table))
        if last.over:
            return self._deal(state.rounds + 1, last, rng)
        return SmallHanabiState(state.rounds, scenes, hands[SECOND], deck, last)

    def observe(self, state: SmallHanabiState, agent: str) -> SmallHanabiView:
        """All but the player's own card and the deck."""
        table, card = state.scenes[-1]
        if agent == "first":
            return SmallHanabiView(table, state.own, _turn(state.scenes))
        last = state.last
        if last is not None and last.action not in (PLAY, DISCARD):
            last = last._replace(own=None)
        return SmallHanabiView(table, card, _turn(state.scenes), state.scenes, last)

    def reward(self, state: SmallHanabiState, joint: Mapping[str, int], _after: SmallHanabiState) -> dict[str, float]:
        """1 for the next card of a colour, minus all points for the last life, else 0; for both players."""
        player, (table, card) = _turn(state.scenes), state.scenes[-1]
        action = joint[self.agents[player]]
        worth = self.after(table, player, action, (card, state.own)[player])[1] if action in (PLAY, DISCARD) else 0.0
        return dict.fromkeys(self.agents, worth)

    def done(self, state: SmallHanabiState) -> bool:
        """Whether all games are finished."""
        return state.rounds >= self.rounds


def _turn(scenes: tuple[HanabiScene, ...]) -> int:
    return (len(scenes) - 1) % 2

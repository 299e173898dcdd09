"""Codenames on small boards: a giver who knows the words' roles names a clue and a number, a guesser touches words.

(The party game by Chvátil 2015; here with a fixed list of words and clues, and a single clue on each board.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.files.text import brief
from otherminds.worlds.clue_games.associations import Associations, bundled_associations, strengths

PASS = -1  # the action of the player whose turn it is not; convention
STOP = -2  # the guesser's action that ends its turn; convention
OWN, NEUTRAL, OTHER, ASSASSIN = range(4)
ROLES = ("own", "neutral", "other", "assassin")
PAY = (1.0, 0.0, -1.0, -3.0)  # points for touching a word, by role; chosen, not tuned
CARDS = (OWN, OWN, OWN, NEUTRAL, OTHER, OTHER, ASSASSIN)  # roles on a board; chosen, not tuned
BOARDS, DRAWS, SEED = 12, 400, 7  # bundled boards, of how many draws; chosen so that the giver matters

Board = tuple[int, ...]  # its words, as indices
Roles = tuple[int, ...]  # the role of each word of a board


class Turn(NamedTuple):
    """A finished turn, which both players see: the words, their roles, the clue and number, and the touched places."""

    board: Board
    roles: Roles
    clue: int
    number: int
    touched: tuple[int, ...]


class CodenamesState(NamedTuple):
    """The state: turns finished so far, the board (an index), the roles, the clue once it is given, and the last turn.

    `hint` is the giver's action, which stands for clue and number.
    """

    rounds: int
    board: Board
    roles: Roles
    hint: int | None
    touched: tuple[int, ...]
    last: Turn | None


class CodenamesView(NamedTuple):
    """What a player observes; `roles` is None for the guesser."""

    board: Board
    roles: Roles | None
    hint: int | None
    touched: tuple[int, ...]
    last: Turn | None


def bundled_boards() -> tuple[Board, ...]:
    """Twelve boards of words of the bundled table: of many drawn with a fixed seed, those that share most clues."""
    table, rng = bundled_associations(), np.random.default_rng(SEED)
    linked = strengths(table, table.conventional) > 0.0
    draws = [tuple(rng.permutation(len(table.words))[: len(CARDS)].tolist()) for _ in range(DRAWS)]
    return tuple(sorted(draws, key=lambda board: -int((linked[list(board)].sum(axis=0) > 1).sum()))[:BOARDS])


@dataclass(frozen=True)
class Codenames:
    """Codenames over `rounds` turns; board and roles are drawn uniformly for each.

    The giver's actions are numbers · clue + (number − 1) for clues with some association to a word of the board. The
    guesser touches words, at most one more than the number, until it stops or touches a word that is not its team's.
    Both earn 1 for an own word, −1 for one of the other team, −3 for the assassin. At the end all roles are shown.
    Raises ValueError with fewer than 1 round or 1 board, for a board of another size, or without an own word.
    """

    __repr__ = brief

    rounds: int = 12
    associations: Associations = field(default_factory=bundled_associations)
    boards: tuple[Board, ...] = field(default_factory=bundled_boards)
    cards: Roles = CARDS

    def __post_init__(self) -> None:
        if self.rounds < 1 or not self.boards or OWN not in self.cards:
            raise ValueError("this game needs at least 1 round, 1 board and 1 own word")
        if any(len(set(board)) != len(self.cards) for board in self.boards):
            raise ValueError(f"each board needs {len(self.cards)} different words")

    @cached_property
    def assignments(self) -> NDArray[np.intp]:
        """All equally likely roles of the words of a board, of shape (assignments, words); read-only."""
        table = np.array(sorted(set(permutations(self.cards))), dtype=np.intp)
        table.setflags(write=False)
        return table

    @property
    def numbers(self) -> int:
        """The largest number that a giver may name: that of own words."""
        return self.cards.count(OWN)

    @cached_property
    def hints(self) -> Mapping[Board, tuple[int, ...]]:
        """The giver's actions on each board."""
        table = strengths(self.associations, self.associations.conventional)

        def hints(board: Board) -> tuple[int, ...]:
            clues = np.flatnonzero(table[list(board)].max(axis=0)).tolist()
            return tuple(self.numbers * clue + k for clue in clues for k in range(self.numbers))

        return {board: hints(board) for board in self.boards}

    @property
    def agents(self) -> tuple[str, str]:
        """The players in the order in which they act."""
        return ("giver", "guesser")

    def start(self, rng: np.random.Generator, /) -> CodenamesState:
        """The first board."""
        return self._deal(0, None, rng)

    def _deal(self, rounds: int, last: Turn | None, rng: np.random.Generator) -> CodenamesState:
        board = self.boards[rng.integers(len(self.boards))]
        roles = self.assignments[rng.integers(len(self.assignments))]
        return CodenamesState(rounds, board, tuple(roles.tolist()), None, (), last)

    def actions(self, state: CodenamesState, agent: str) -> tuple[int, ...]:
        """Clues with numbers for the giver, then places not yet touched or STOP for the guesser; else only PASS."""
        if (agent == "giver") != (state.hint is None):
            return (PASS,)
        if agent == "giver":
            return self.hints[state.board]
        return (*(place for place in range(len(self.cards)) if place not in state.touched), STOP)

    def step(self, state: CodenamesState, joint: Mapping[str, int], rng: np.random.Generator, /) -> CodenamesState:
        """The state after a clue, a touch or a stop, which may end the turn. Raises ValueError for illegal actions."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        if state.hint is None:
            return state._replace(hint=joint["giver"])
        place = joint["guesser"]
        touched = state.touched if place == STOP else (*state.touched, place)
        clue, number = divmod(state.hint, self.numbers)
        if place != STOP and state.roles[place] == OWN and len(touched) < self.most_touches(state.hint):
            return state._replace(touched=touched)
        return self._deal(state.rounds + 1, Turn(state.board, state.roles, clue, number + 1, touched), rng)

    def most_touches(self, hint: int) -> int:
        """One more than the number of a hint, but no more than there are own words."""
        return min(hint % self.numbers + 2, self.numbers)

    def observe(self, state: CodenamesState, agent: str) -> CodenamesView:
        """All of the state; the roles are visible to the giver only."""
        return CodenamesView(state.board, state.roles if agent == "giver" else None, *state[3:])

    def reward(self, state: CodenamesState, joint: Mapping[str, int], _after: CodenamesState) -> dict[str, float]:
        """The points of a touched word for both players; else 0."""
        place = joint["guesser"]
        return dict.fromkeys(self.agents, PAY[state.roles[place]] if place >= 0 else 0.0)

    def done(self, state: CodenamesState) -> bool:
        """Whether all turns are finished."""
        return state.rounds >= self.rounds

    def all_actions(self, agent: str) -> tuple[int, ...]:
        """Every action of an agent in any state, PASS last."""
        if agent == "giver":
            return (*range(self.numbers * len(self.associations.clues)), PASS)
        return (*range(len(self.cards)), STOP, PASS)

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """The possible values of each field of what an agent observes, for adapters; −1 for roles that are not seen."""
        size, words, clues = len(self.cards), range(len(self.associations.words)), range(len(self.associations.clues))
        board, roles, touched = [words] * size, [range(len(PAY))] * size, [range(size)] * size
        hints = (None, *range(self.numbers * len(clues)))
        last = {"board": board, "roles": roles, "clue": (None, *clues), "number": (None, *range(1, self.numbers + 1))}
        return {"board": board, "roles": roles, "hint": hints, "touched": touched, "last": {**last, "touched": touched}}

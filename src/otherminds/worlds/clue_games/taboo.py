"""Taboo: one player brings a word to the other's mind by single clues; the most obvious clues are banned.

(The party game by Hersch 1989; here with a fixed list of words and clues.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from otherminds.files.text import brief
from otherminds.worlds.clue_games.associations import Associations, bundled_associations, strengths

PASS = -1  # the action of the player whose turn it is not; convention
PRIZE = 4.0  # points for the word; chosen, not tuned
COST = 1.0  # points that each clue costs; chosen, not tuned
CLUES = 3  # clues in a round at most; chosen, not tuned
BANNED = 2  # banned clues of each word: the strongest ones; chosen, not tuned


class TabooExchange(NamedTuple):
    """The clues and guesses of a round up to the last guess, which both players see, with the word as an index."""

    target: int
    clues: tuple[int, ...]
    guesses: tuple[int, ...]

    @property
    def over(self) -> bool:
        """Whether the round has ended with this guess."""
        return self.guesses[-1] == self.target or len(self.clues) == CLUES


class TabooState(NamedTuple):
    """The state: rounds finished so far, the word, the round's clues and guesses, and the last exchange."""

    rounds: int
    target: int
    clues: tuple[int, ...]
    guesses: tuple[int, ...]
    last: TabooExchange | None


class TabooView(NamedTuple):
    """What a player observes; the word is None for the guesser, and `last` once the round is over shows it."""

    target: int | None
    clues: tuple[int, ...]
    guesses: tuple[int, ...]
    last: TabooExchange | None


@dataclass(frozen=True)
class Taboo:
    """Taboo over `rounds` words, drawn uniformly.

    The giver gives a clue that is associated with the word and not banned, the guesser answers with a word it has not
    yet guessed; up to 3 times. Both earn 4 points for the word and lose 1 for each clue.
    Raises ValueError with fewer than 1 round or 4 words, or if a word has fewer than 3 clues that are not banned.
    """

    __repr__ = brief

    rounds: int = 20
    associations: Associations = field(default_factory=bundled_associations)

    def __post_init__(self) -> None:
        fewest = min(map(len, self.allowed), default=0)
        if self.rounds < 1 or len(self.associations.words) <= CLUES or fewest < CLUES:
            raise ValueError(f"this game needs at least 1 round, {CLUES + 1} words and {CLUES} allowed clues for each")

    @cached_property
    def banned(self) -> tuple[tuple[int, ...], ...]:
        """The banned clues of each word: the strongest for the conventional person."""
        rows = strengths(self.associations, self.associations.conventional)
        return tuple(tuple(np.argsort(-row, kind="stable")[:BANNED].tolist()) for row in rows)

    @cached_property
    def allowed(self) -> tuple[tuple[int, ...], ...]:
        """The clues that may be given for each word."""
        rows = strengths(self.associations, self.associations.conventional)
        return tuple(
            tuple(clue for clue in np.flatnonzero(row).tolist() if clue not in banned)
            for row, banned in zip(rows, self.banned, strict=True)
        )

    @property
    def agents(self) -> tuple[str, str]:
        """The players in the order in which they act."""
        return ("giver", "guesser")

    def start(self, rng: np.random.Generator, /) -> TabooState:
        """The first word."""
        return TabooState(0, self._draw(rng), (), (), None)

    def _draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(len(self.associations.words)))

    def actions(self, state: TabooState, agent: str) -> tuple[int, ...]:
        """The clues left for the giver, the words not yet guessed for the guesser; only PASS out of turn."""
        if (agent == "guesser") != (len(state.clues) > len(state.guesses)):
            return (PASS,)
        if agent == "guesser":
            return tuple(word for word in range(len(self.associations.words)) if word not in state.guesses)
        return tuple(clue for clue in self.allowed[state.target] if clue not in state.clues)

    def step(self, state: TabooState, joint: Mapping[str, int], rng: np.random.Generator, /) -> TabooState:
        """The state after a clue or a guess; each round has a new word. Raises ValueError for illegal actions."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        if len(state.clues) == len(state.guesses):
            return state._replace(clues=(*state.clues, joint["giver"]))
        last = TabooExchange(state.target, state.clues, (*state.guesses, joint["guesser"]))
        if last.over:
            return TabooState(state.rounds + 1, self._draw(rng), (), (), last)
        return state._replace(guesses=last.guesses, last=last)

    def observe(self, state: TabooState, agent: str) -> TabooView:
        """All of the state, but the guesser does not see the word before the round is over."""
        if agent == "giver":
            return TabooView(*state[1:])
        return TabooView(None, state.clues, state.guesses, state.last if state.last and state.last.over else None)

    def reward(self, state: TabooState, joint: Mapping[str, int], _after: TabooState) -> dict[str, float]:
        """After a guess PRIZE if it is right, less COST, for both players; else 0."""
        guessed = len(state.clues) > len(state.guesses)
        worth = PRIZE * (joint["guesser"] == state.target) - COST if guessed else 0.0
        return dict.fromkeys(self.agents, worth)

    def done(self, state: TabooState) -> bool:
        """Whether all rounds are finished."""
        return state.rounds >= self.rounds

    def all_actions(self, agent: str) -> tuple[int, ...]:
        """Every action of an agent in any state, PASS last."""
        names = self.associations.clues if agent == "giver" else self.associations.words
        return (*range(len(names)), PASS)

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """The possible values of each field of what an agent observes, for adapters."""
        words, clues = range(len(self.associations.words)), range(len(self.associations.clues))
        said = {"clues": [clues] * CLUES, "guesses": [words] * CLUES}
        target = (None, *words) if agent == "giver" else (None,)
        return {"target": target, **said, "last": {"target": (None, *words), **said}}

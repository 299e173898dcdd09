"""A mind and a player as they should be, and those that break one promise each, with what they are to be told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from otherminds import Categorical, find_game
from strategies import generator

IPD = find_game("ipd")


@dataclass(frozen=True)
class Walker:
    """Mostly walks where the wind blows: a mind as it should be, to be broken in one way each."""

    seen: Any = None

    def observe(self, obs: Any, /) -> Any:
        return replace(self, seen=obs)

    @property
    def ways(self) -> list[str]:
        here, _ = self.seen
        return ["stay", *(["left"] * (here > 0)), *(["right"] * (here < 2))]

    def act(self) -> Any:
        odd = self.seen[1] % 2
        return Categorical.softmax((way, 2.0 * ((way == "left") == odd)) for way in self.ways)


@dataclass(eq=False)
class Mutable:
    """Keeps a list of all it has seen."""

    history: list[Any] = field(default_factory=list)

    def observe(self, obs: Any, /) -> Any:
        self.history.append(obs)
        return self

    def act(self) -> Any:
        return Walker(self.history[-1]).act()


@dataclass
class Unhashable(Mutable):
    """Compares by value what can change."""


@dataclass(unsafe_hash=True)
class Counting:
    """Counts in place, and does always the same."""

    count: int = 0

    def observe(self, obs: Any, /) -> Any:
        self.count += 1
        return self

    def act(self) -> Any:
        return Categorical.uniform(["stay"])


class Forgetful(Walker):
    """Returns nothing."""

    def observe(self, obs: Any, /) -> Any:
        return None


class Short(Walker):
    """Adds up to .9."""

    def act(self) -> Any:
        return Categorical(tuple(self.ways), (math.log(0.9 / len(self.ways)),) * len(self.ways))


class Eager(Walker):
    """Adds up to more than there is."""

    def act(self) -> Any:
        return Said(dict.fromkeys(self.ways, 0.9), "stay")


class Reckless(Walker):
    """May go left where there is nothing."""

    def act(self) -> Any:
        return Categorical.uniform(["left", "stay", "right"])


class Moody(Walker):
    """Throws dice when it is asked."""

    dice: ClassVar[np.random.Generator] = generator()

    def act(self) -> Any:
        return Categorical.softmax((way, self.dice.random()) for way in self.ways)


@dataclass(frozen=True)
class Dreamy(Walker):
    """Throws dice when it sees something."""

    mood: float = 0.0

    def observe(self, obs: Any, /) -> Any:
        return replace(self, seen=obs, mood=Moody.dice.random())

    def act(self) -> Any:
        return Categorical.softmax((way, self.mood * i) for i, way in enumerate(self.ways))


class Nameless(Walker):
    """Is equal to what does not hash like it."""

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class Said:
    """A distribution that says one thing and draws another."""

    chances: Mapping[str, float]
    drawn: str

    def log_prob(self, x: str, /) -> float:
        return math.log(self.chances[x]) if x in self.chances else -math.inf

    def sample(self, rng: np.random.Generator, /) -> str:
        return self.drawn


class Hypocrite(Walker):
    """Says that it hardly ever stays, and stays."""

    def act(self) -> Any:
        rest = len(self.ways) - 1
        return Said({way: 0.01 if way == "stay" else 0.99 / rest for way in self.ways}, "stay")


class Astray(Walker):
    """Says what may be done, and does something else."""

    def act(self) -> Any:
        return Said({way: 1 / len(self.ways) for way in self.ways}, "fly")


class Secretive(Walker):
    """Does what it gives no chance."""

    def act(self) -> Any:
        return Said({way: 1 / (len(self.ways) - 1) for way in self.ways if way != "stay"}, "stay")


BROKEN_MINDS: Mapping[str, tuple[Any, str]] = {
    "mutable": (Mutable(), "Mutable.act: a mind changed when it, .* observed more .*frozen dataclass"),
    "counting": (Counting(), "Counting: a mind changed when it"),
    "unhashable": (Unhashable(), "Unhashable: unhashable type: 'Unhashable'"),
    "forgetful": (Forgetful(), "Forgetful.observe: None is no mind"),
    "short": (Short(), "Short.act: probabilities add up to 0.9 .*from_scores"),
    "eager": (Eager(), "Eager.act: (1.8|2.7) of 1 is on what may be done"),
    "reckless": (Reckless(), r"Reckless.act: 0.666667 of 1 is on what may be done, \('stay', 'right'\)"),
    "moody": (Moody(), "Moody.act: two answers to one question"),
    "dreamy": (Dreamy(), "Dreamy.act: the same observations made two different minds"),
    "nameless": (Nameless(), "Nameless: equal minds have different hashes"),
    "hypocrite": (Hypocrite(), "Hypocrite.act: watched, it is itself with a probability of"),
    "astray": (Astray(), "Astray.act: it drew 'fly', which may not be done"),
    "secretive": (Secretive(), "Secretive.act: it drew 'stay', .* or has no chance"),
}


# Players


@dataclass(frozen=True)
class Copycat:
    """Does what its partner did, and expects it to do so again: a player as it should be."""

    last: Any = 0

    def observe(self, outcome: Any, /) -> Any:
        return self if outcome is None else replace(self, last=outcome.theirs)

    def act(self) -> Any:
        return Categorical.uniform([self.last])

    def predict(self) -> Any:
        return Categorical.uniform([self.last])


class Impatient(Copycat):
    """Does not know that at first there is nothing."""

    def observe(self, outcome: Any, /) -> Any:
        return replace(self, last=outcome.theirs)


class Talker(Copycat):
    """Names actions."""

    def act(self) -> Any:
        return Categorical.uniform([IPD.actions[0][self.last]])


class Unsure(Copycat):
    """Expects something with .9."""

    def predict(self) -> Any:
        return Categorical((0, 1), (math.log(0.5), math.log(0.4)))


class Seer(Copycat):
    """Expects what the game does not have."""

    def predict(self) -> Any:
        return Categorical.uniform([0, 1, 2])


class Hinting(Copycat):
    """Does not make a table of what it expects."""

    def predict(self) -> Any:
        return Said({"0": 1.0}, "0")


class Guessing(Copycat):
    """Expects something else whenever it is asked."""

    def predict(self) -> Any:
        return Categorical.softmax(((0, 0.0), (1, Moody.dice.random())))


class Weary(Copycat):
    """Plays otherwise in its fifth game."""

    games: ClassVar[list[None]] = []

    def observe(self, outcome: Any, /) -> Any:
        if outcome is None:
            self.games.append(None)
        return replace(super().observe(outcome), last=1) if len(self.games) > 5 else super().observe(outcome)


BROKEN_PLAYERS: Mapping[str, tuple[Any, str]] = {
    "impatient": (Impatient(), "Impatient.observe: AttributeError for None, which is what is seen before the first"),
    "talker": (Talker(), r"Talker.act: 0 of 1 is on what may be done, \(0, 1\)"),
    "unsure": (Unsure(), "Unsure.predict: probabilities add up to 0.9 "),
    "seer": (Seer(), "Seer.predict: 0.666667 of 1 is on what may be done"),
    "hinting": (Hinting(), "Hinting.predict: Said.* is no table"),
    "guessing": (Guessing(), "Guessing.predict: two answers to one question"),
    "weary": (Weary(), "Weary: played two different games in the same circumstances"),
}

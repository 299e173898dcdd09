"""Scenarios of the matrix and cooking substrates, and the bots in their background populations, from a TOML file.

`scenarios.toml` has the thirty of Melting Pot (Agapiou et al. 2022) on which Hypothetical Minds (Cross et al. 2024) was
evaluated, and one as upstream documents it rather than as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from otherminds.errors import InputError, faults, unknown
from otherminds.files.toml import read_toml
from otherminds.worlds.in_the_matrix import strategies
from otherminds.worlds.in_the_matrix.strategies import Aim, Strategy, TitForTat

BUNDLED = "scenarios.toml"
MOST_INTERACTIONS = 1000  # before a flip; bounds memory
LONGEST = 60  # characters of a place that an error quotes
T = TypeVar("T")

Fidelity = Literal["exact strategy, scripted body", "approximate", "exact"]


@dataclass(frozen=True)
class Bot:
    """A background player. `rule` names its strategy's type, or its skill if it has no strategy."""

    name: str
    rule: str
    strategy: Strategy | None


@dataclass(frozen=True)
class Scenario:
    """A substrate and the names of the bots from which its background players are drawn.

    `upstream` is the scenario's name in Melting Pot, None if it is not there. `fidelity` says how closely its bots
    follow upstream's.
    """

    id: str
    substrate: str
    upstream: str | None
    bots: tuple[str, ...]
    meaning: str
    fidelity: Fidelity


class ScenarioTable(NamedTuple):
    """All scenarios in order, and all bots by name, `<substrate>__<bot>`."""

    scenarios: tuple[Scenario, ...]
    bots: Mapping[str, Bot]


def scenarios() -> tuple[Scenario, ...]:
    """All bundled scenarios, those of a substrate in upstream's order."""
    return _bundled().scenarios


def scenario(name: str) -> Scenario:
    """The scenario with this id. Raises InputError for an unknown one."""
    return _named(name, {found.id: found for found in scenarios()}, "scenario")


def bot(name: str) -> Bot:
    """The bot with this name. Raises InputError for an unknown one."""
    return _named(name, _bundled().bots, "bot")


def strategy_of(name: str) -> Strategy | None:
    """The strategy of a bot, None if it has none. Raises InputError for an unknown bot."""
    return bot(name).strategy


def draw(scenario: Scenario, slots: int, rng: np.random.Generator) -> tuple[str, ...]:
    """The bots in the background slots of an episode, drawn independently and uniformly."""
    return tuple(scenario.bots[i] for i in rng.integers(len(scenario.bots), size=slots).tolist())


def read_table(text: str, path: Path) -> ScenarioTable:
    """Read scenarios and bots from TOML; errors name `path`. Raises InputError for an invalid table."""
    try:
        found = _ScenarioFile.model_validate(read_toml(text))
    except ValidationError as error:
        first = faults(error)[0]
        raise _wrong(first["msg"], path, *map(str, first["loc"])) from None
    except (ValueError, RecursionError) as error:
        raise InputError(str(error), path=path) from None
    bots = {
        f"{substrate}__{name}": _bot(row, found.kinds, path, substrate, name)
        for substrate, rows in found.bots.items()
        for name, row in rows.items()
    }
    listed = [
        _scenario(row, bots, path, substrate, key)
        for substrate, rows in found.scenarios.items()
        for key, row in rows.items()
    ]
    return ScenarioTable(tuple(listed), bots)


class _StrictRow(BaseModel, extra="forbid", strict=True):
    """A table of the file, which has these keys only."""


_Positive = Annotated[int, Field(ge=1)]
_Chance = Annotated[float, Field(ge=0.0, le=1.0)]
_Words = Annotated[str, Field(min_length=1, max_length=120)]
_AimRow = Annotated[tuple[str, _Positive], Field(strict=False)]


class _Kinds(tuple[str, ...]):
    """The kinds of resources of a substrate, in the order of inventories."""

    def aim(self, kind: str, margin: int) -> Aim:
        if kind not in self:
            raise ValueError(f"unknown kind `{kind}`, not one of {', '.join(self) or 'none'}")
        return Aim(self.index(kind), margin)

    def tit_for_tat(self, margin: int, tremble: float) -> TitForTat:
        return TitForTat(self.aim("cooperate", margin), self.aim("defect", margin), tremble)


class _Specialist(_StrictRow):
    rule: Literal["specialist"]
    aim: _AimRow

    def strategy(self, kinds: _Kinds) -> Strategy:
        return strategies.specialist(kinds.aim(*self.aim))


class _Flip(_StrictRow):
    rule: Literal["flip"]
    before: _AimRow
    after: _AimRow
    interactions: Annotated[int, Field(ge=1, le=MOST_INTERACTIONS)]

    def strategy(self, kinds: _Kinds) -> Strategy:
        return strategies.flip(kinds.aim(*self.before), kinds.aim(*self.after), self.interactions)


class _Grim(_StrictRow):
    rule: Literal["grim"]
    strikes: _Positive
    margin: _Positive

    def strategy(self, kinds: _Kinds) -> Strategy:
        return strategies.Grim(kinds.aim("cooperate", self.margin), kinds.aim("defect", self.margin), self.strikes)


class _TitForTat(_StrictRow):
    rule: Literal["tit_for_tat"]
    tremble: _Chance
    margin: _Positive

    def strategy(self, kinds: _Kinds) -> Strategy:
        return kinds.tit_for_tat(self.margin, self.tremble)


class _Corrigible(_StrictRow):
    rule: Literal["corrigible"]
    strikes: _Positive
    tremble: _Chance
    margin: _Positive

    def strategy(self, kinds: _Kinds) -> Strategy:
        return strategies.Corrigible(self.strikes, kinds.tit_for_tat(self.margin, self.tremble))


class _CounterPrevious(_StrictRow):
    rule: Literal["counter_previous"]
    replies: list[str]
    margin: _Positive

    def strategy(self, kinds: _Kinds) -> Strategy:
        if len(self.replies) != len(kinds):
            raise ValueError(f"{len(self.replies)} replies to {len(kinds)} kinds")
        return strategies.CounterPrevious(tuple(kinds.aim(kind, self.margin) for kind in self.replies))


class _Body(_StrictRow):
    rule: Literal["scout", "skilled", "semi-skilled", "idle"]

    def strategy(self, kinds: _Kinds) -> None:
        return None


_BotRow = Annotated[
    _Specialist | _Flip | _Grim | _TitForTat | _Corrigible | _CounterPrevious | _Body, Field(discriminator="rule")
]


class _ScenarioRow(_StrictRow):
    upstream: _Words | None = None
    bots: Annotated[list[str], Field(min_length=1)]
    meaning: _Words
    fidelity: Fidelity


class _ScenarioFile(_StrictRow):
    kinds: dict[str, list[str]]
    bots: dict[str, dict[str, _BotRow]]
    scenarios: dict[str, dict[str, _ScenarioRow]]


def _bot(row: _BotRow, kinds: Mapping[str, list[str]], path: Path, substrate: str, name: str) -> Bot:
    if substrate not in kinds:
        raise _wrong("the kinds of resources are missing", path, "kinds", substrate)
    try:
        return Bot(f"{substrate}__{name}", row.rule, row.strategy(_Kinds(kinds[substrate])))
    except ValueError as error:
        raise _wrong(str(error), path, "bots", substrate, name) from None


def _scenario(row: _ScenarioRow, bots: Mapping[str, Bot], path: Path, substrate: str, key: str) -> Scenario:
    # a bot listed twice would be drawn twice as often; in Melting Pot they are a set
    names = tuple(f"{substrate}__{name}" for name in row.bots)
    for i, name in enumerate(names):
        if name not in bots or name in names[:i]:
            message = "is listed twice" if name in bots else "is not a bot of this substrate"
            raise _wrong(f"`{row.bots[i]}` {message}", path, "scenarios", substrate, key)
    return Scenario(f"{substrate}_{key}", substrate, row.upstream, names, row.meaning, row.fidelity)


def _wrong(message: str, path: Path, *place: str) -> InputError:
    return InputError(f"`{'.'.join(place)[:LONGEST]}`: {message}" if place else message, path=path)


def _named(name: str, known: Mapping[str, T], what: str) -> T:
    if name in known:
        return known[name]
    raise unknown(what, name, known, "docs/melting_pot.md tells all")


@cache
def _bundled() -> ScenarioTable:
    return read_table((resources.files("otherminds.worlds.in_the_matrix") / BUNDLED).read_text("utf-8"), Path(BUNDLED))

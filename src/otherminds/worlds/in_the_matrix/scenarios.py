"""Scenarios of the matrix and cooking substrates, and the bots in their background populations, from a TOML file.

`scenarios.toml` has the thirty of Melting Pot (Agapiou et al. 2022) on which Hypothetical Minds (Cross et al. 2024) was
evaluated, and one as upstream documents it rather than as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

import numpy as np

from otherminds.errors import unknown
from otherminds.files.toml import packaged
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    Corrigible,
    CounterPrevious,
    Grim,
    Strategy,
    TitForTat,
    flip,
    specialist,
)

T = TypeVar("T")
Fidelity = Literal["exact strategy, scripted body", "approximate", "exact"]


@dataclass(frozen=True)
class Bot:
    """A background player. `rule` names its strategy's type, or its skill if it has none; `meaning` is in words."""

    name: str
    rule: str
    strategy: Strategy | None
    meaning: str


@dataclass(frozen=True)
class Scenario:
    """A substrate and the names of the bots from which its background players are drawn.

    `name` says in short what its bots do, `meaning` in words. `upstream` is the scenario's name in Melting Pot, None if
    it is not there. `fidelity` says how closely its bots follow upstream's.
    """

    id: str
    name: str
    substrate: str
    bots: tuple[str, ...]
    meaning: str
    fidelity: Fidelity
    upstream: str | None = None


def scenarios() -> tuple[Scenario, ...]:
    """All bundled scenarios, those of a substrate in upstream's order."""
    return tuple(_bundled()[0].values())


def scenario(name: str) -> Scenario:
    """The scenario with this id, short name, or name in Melting Pot; or, for the name of a bot, that with it alone.

    Raises InputError for an unknown one.
    """
    return _entry(name, _by_any_name(), "scenario")


def bot(name: str) -> Bot:
    """The bot with this name, `<substrate>__<bot>`. Raises InputError for an unknown one."""
    return _entry(name, _bundled()[1], "bot")


def draw(scenario: Scenario, slots: int, episode: int, rng: np.random.Generator) -> tuple[str, ...]:
    """The bots in the background slots of an episode, stratified over episodes.

    In each slot the scenario's bots follow each other in random orders, one permutation after another: over episodes
    each is met as often as any other, or once less, and those of one episode are independent and uniform. `rng` must
    be the same, and unused, for all episodes.
    """
    bots = np.tile(np.arange(len(scenario.bots)), (slots, 1))
    turn, place = divmod(episode, len(scenario.bots))
    *_, order = (rng.permuted(bots, axis=1) for _ in range(turn + 1))
    return tuple(scenario.bots[i] for i in order[:, place].tolist())


@cache
def _bundled() -> tuple[Mapping[str, Scenario], Mapping[str, Bot]]:
    """All scenarios by id, and all bots by name."""
    table = packaged("otherminds.worlds.in_the_matrix", "scenarios.toml")
    scenarios_by_id = dict[str, Scenario]()
    bots = dict[str, Bot]()
    for substrate, kinds in table["kinds"].items():
        for short, row in table["bots"][substrate].items():
            name = f"{substrate}__{short}"
            bots[name] = Bot(name, row["rule"], _strategy(row, kinds), table["rules"][row["rule"]].format(**row))
        for key, row in table["scenarios"][substrate].items():
            names = tuple(f"{substrate}__{short}" for short in row["bots"])
            full = {"id": f"{substrate}_{key}", "substrate": substrate, **row, "bots": names}
            scenarios_by_id[full["id"]] = Scenario(**full)
    return scenarios_by_id, bots


@cache
def _by_any_name() -> Mapping[str, Scenario]:
    """All scenarios by id, short name and upstream's name, and one of each bot alone."""
    by_id, bots = _bundled()
    listed = by_id.values()
    alone = {name: _scenario_of(co_player) for name, co_player in bots.items()}
    return {**by_id, **{s.name: s for s in listed}, **{s.upstream: s for s in listed if s.upstream}, **alone}


def _scenario_of(co_player: Bot) -> Scenario:
    """The scenario in which all background players are the same bot."""
    substrate, name = co_player.name.partition("__")[0], co_player.name
    fidelity: Fidelity = "exact strategy, scripted body" if co_player.strategy else "approximate"
    return Scenario(name, name, substrate, (name,), co_player.meaning, fidelity)


def _strategy(row: Mapping[str, Any], kinds: Sequence[str]) -> Strategy | None:
    """The strategy of a bot in the file; `kinds` are the resources of its substrate, in the order of inventories."""

    def aim(kind: str, margin: int) -> Aim:
        return Aim(kinds.index(kind), margin)

    match row["rule"]:
        case "specialist":
            return specialist(aim(*row["aim"]))
        case "flip":
            return flip(aim(*row["before"]), aim(*row["after"]), row["interactions"])
        case "counter_previous":
            return CounterPrevious(tuple(aim(kind, row["margin"]) for kind in row["replies"]))
        case "grim" | "tit_for_tat" | "corrigible" as rule:
            cooperate, defect = aim("cooperate", row["margin"]), aim("defect", row["margin"])
            if rule == "grim":
                return Grim(cooperate, defect, row["strikes"])
            tit_for_tat = TitForTat(cooperate, defect, row["tremble"])
            return tit_for_tat if rule == "tit_for_tat" else Corrigible(row["strikes"], tit_for_tat)
        case _:
            return None


def _entry(name: str, by_name: Mapping[str, T], what: str) -> T:
    """The entry with this name. Raises InputError that names the closest ones if there is none."""
    if name in by_name:
        return by_name[name]
    raise unknown(what, name, by_name, "docs/systems/melting_pot.md tells all")

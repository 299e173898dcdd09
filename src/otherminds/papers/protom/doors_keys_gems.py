"""ProToM in Doors-Keys-Gems: levels played with and without help, beside the paper's figures (§4.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from otherminds.language.model import LanguageModel
from otherminds.mind import GoalDirected
from otherminds.observer import Observer
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.descriptions import of_map
from otherminds.papers.protom.episodes import Episode, Facilitator, RandomFacilitator, SilentFacilitator
from otherminds.papers.protom.experiment import SUBJECTS, Cast, Entry, Row
from otherminds.papers.protom.facilitator import ProToM
from otherminds.papers.protom.models import speaking
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State

EXPERIMENT = "protom-dkg"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "oracle": {},
    "protom": {},
    "protom_traj": {"epsilon": 0.1, "gate": "traj"},
    "protom_lookahead": {"epsilon": 0.3, "waits": (1, 2, 4, 8)},
    **{f"protom_epsilon_{epsilon}": {"epsilon": epsilon} for epsilon in (0.1, 0.3, 0.4, 0.6)},
}
SETS = {
    "heldout": (*SUBJECTS, "protom_epsilon_0.1", "protom_traj", "protom_lookahead"),
    "tuning": ("none", "oracle", "protom", *(name for name in VARIANTS if "epsilon" in name)),
}

DKGFacilitator = Facilitator[State, Action, Advice]


def facilitator(subject: str, level: Level, favours: DoorsKeysGemsAdvice) -> DKGFacilitator:
    """The facilitator of this name. The oracle is ProToM with observers that consider the true goals only."""
    if subject == "none":
        return SilentFacilitator()
    if subject == "random":
        return RandomFacilitator(favours)
    world = level.world
    gems = range(len(world.gems))
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        agent: Observer.over(
            Seeker(favours.planner, i, Goal("gem", gem)) for gem in ([world.goals[i]] if subject == "oracle" else gems)
        )
        for i, agent in enumerate(world.agents)
    }
    return ProToM.beginning(world, favours, watchers, world.initial, **VARIANTS[subject])


def people(level: Level, favours: DoorsKeysGemsAdvice) -> dict[str, Seeker]:
    """The simulated people: perfectly rational for themselves, breaking ties at random (ProToM §4.4)."""
    world = level.world
    return {
        agent: Seeker(favours.planner, i, Goal("gem", world.goals[i]), beta=math.inf, lapse=0.0)
        for i, agent in enumerate(world.agents)
    }


def cast(entry: Entry, favours: DoorsKeysGemsAdvice | None = None, helper: DKGFacilitator | None = None) -> Cast:
    """Who plays an entry, with the facilitator that its subject names or another one.

    DoorsKeysGemsPlanner may be shared; that only saves time.
    """
    level = entry.level
    assert isinstance(level, Level)
    favours, world = favours or DoorsKeysGemsAdvice(level.world), level.world
    return Cast(
        world=world,
        people=people(level, favours),
        facilitator=helper or facilitator(entry.subject, level, favours),
        messages=favours,
        goals={agent: world.gems[world.goals[i]].colour for i, agent in enumerate(world.agents)},
        name=lambda goal: world.gems[goal.thing].colour,
        spell=world.spell,
    )


def advised(entry: Entry, model: LanguageModel, *, pictures: bool = False) -> Cast:
    """Who plays an entry, with a language model as the facilitator."""
    assert isinstance(entry.level, Level)
    world, favours = entry.level.world, DoorsKeysGemsAdvice(entry.level.world)
    return cast(entry, favours, speaking(entry, model, of_map(world), favours, pictures))


def episode(entry: Entry, favours: DoorsKeysGemsAdvice | None = None) -> Episode[State, Action, Advice]:
    """An episode ready to be played."""
    return facilitated.episode(entry, cast(entry, favours))


def rows(entry: Entry) -> list[Row]:
    """Play an episode and tell it in rows."""
    return facilitated.rows(EXPERIMENT, entry, cast(entry))

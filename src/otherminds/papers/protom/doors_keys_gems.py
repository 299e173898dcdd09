"""The experiment protom-dkg: facilitators in Doors-Keys-Gems levels (ProToM §4.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from otherminds.language.model import LanguageModel
from otherminds.mind import GoalDirected
from otherminds.observer import Observer
from otherminds.papers.protom import experiment
from otherminds.papers.protom.episodes import FacilitatedEpisode, Facilitator
from otherminds.papers.protom.experiment import SUBJECTS, EpisodeSetup, PlannedEpisode, Row
from otherminds.papers.protom.facilitator import ProToM
from otherminds.papers.protom.language_facilitator import LanguageFacilitator, map_briefing
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State

EXPERIMENT = "protom-dkg"
# settings of `ProToM`; thresholds and waits were chosen on the tuning levels, see docs/protom.md; epsilon 0.1 with
# gate="traj" is the paper's
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "oracle": {},
    "protom": {},
    "protom_traj": {"epsilon": 0.1, "gate": "traj"},
    "protom_lookahead": {"epsilon": 0.3, "waits": (1, 2, 4, 8)},
    **{f"protom_epsilon_{epsilon}": {"epsilon": epsilon} for epsilon in (0.1, 0.3, 0.4, 0.6)},
}
# the sets of further levels, and the facilitators that play them in a full run
SETS = {
    "heldout": (*SUBJECTS, "protom_epsilon_0.1", "protom_traj", "protom_lookahead"),
    "tuning": ("none", "oracle", "protom", *(name for name in VARIANTS if "epsilon" in name)),
}

MapFacilitator = Facilitator[State, Action, Advice]


def facilitator(subject: str, level: Level, advice: DoorsKeysGemsAdvice) -> MapFacilitator:
    """The facilitator of this name. The oracle is ProToM with observers that consider the true goals only."""
    world = level.world
    if simple := experiment.facilitator_without_inference(subject, advice):
        return simple
    watchers: dict[str, Observer[GoalDirected[Action]]] = {}
    for i, agent in enumerate(world.agents):
        gems = [world.goals[i]] if subject == "oracle" else range(len(world.gems))
        watchers[agent] = Observer.over(Seeker(advice.planner, i, Goal("gem", gem)) for gem in gems)
    return ProToM.initial(world, advice, watchers, world.initial, **VARIANTS[subject])


def people(level: Level, advice: DoorsKeysGemsAdvice) -> dict[str, Seeker]:
    """The simulated people: perfectly rational for themselves, breaking ties at random (ProToM §4.4)."""
    world = level.world
    return {
        agent: Seeker(advice.planner, i, Goal("gem", world.goals[i]), beta=math.inf, lapse=0.0)
        for i, agent in enumerate(world.agents)
    }


def setup(
    entry: PlannedEpisode,
    advice: DoorsKeysGemsAdvice | None = None,
    *,
    model: LanguageModel | None = None,
    pictures: bool = False,
) -> EpisodeSetup:
    """The participants of an entry, with the facilitator that its subject names, or a language model.

    Sharing `advice` between episodes of one level saves planning and changes nothing else. `pictures`: the model also
    sees the state as a picture.
    """
    level = entry.level
    assert isinstance(level, Level)
    advice, world = advice or DoorsKeysGemsAdvice(level.world), level.world
    if model is None:
        helper = facilitator(entry.subject, level, advice)
    else:
        helper = LanguageFacilitator(entry.asker(model), map_briefing(world), advice, pictures)
    return EpisodeSetup(
        world=world,
        people=people(level, advice),
        facilitator=helper,
        messages=advice,
        goals={agent: world.gems[world.goals[i]].colour for i, agent in enumerate(world.agents)},
        name=lambda goal: world.gems[goal.thing].colour,
        spell=world.spell,
    )


def episode(entry: PlannedEpisode, advice: DoorsKeysGemsAdvice | None = None) -> FacilitatedEpisode[Any, Any, Any]:
    """The episode, ready to be played."""
    return experiment.episode(entry, setup(entry, advice))


def rows(entry: PlannedEpisode, model: LanguageModel | None = None, *, pictures: bool = False) -> list[Row]:
    """Play an episode, with a language model as the facilitator if there is one, and return its rows."""
    return experiment.rows(EXPERIMENT, entry, setup(entry, model=model, pictures=pictures))

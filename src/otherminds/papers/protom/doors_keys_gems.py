"""The experiment protom-dkg: facilitators in Doors-Keys-Gems levels (ProToM §4.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from otherminds.evaluation.engines import stream
from otherminds.language.model import LanguageModel
from otherminds.mind import GoalDirected
from otherminds.observer import Observer
from otherminds.papers.protom import experiment
from otherminds.papers.protom.episodes import FacilitatedEpisode, Facilitator
from otherminds.papers.protom.experiment import SUBJECTS, EpisodeSetup, PlannedEpisode, Row
from otherminds.papers.protom.facilitator import NONE_PRIOR, SWITCH_RATE, ProToM, with_none_of_these
from otherminds.papers.protom.language_facilitator import LanguageFacilitator, map_briefing
from otherminds.papers.protom.people import crowd
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State

EXPERIMENT = "protom-dkg"
AHEAD: Mapping[str, Any] = {"waits": (1, 2, 4, 8)}  # steps; chosen on the tuning levels
# values tried on the tuning levels, one setting at a time: of `ProToM`, and of `with_none_of_these`
SETTINGS = {"cost": 0.5, "prior": NONE_PRIOR, "switch_rate": SWITCH_RATE}
SWEEPS: Mapping[str, Sequence[float]] = {
    "cost": (0.0, 0.25, 0.5, 1.0, 2.0),
    "prior": (0.0, 0.01, 0.03, 0.05, 0.1, 0.2),
    "switch_rate": (0.0, 0.003, 0.01, 0.03),
}
# the paper's rule is `protom_paper`, and epsilon 0.1 with gate="traj" is the paper's too
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "oracle": {"cost": 0.0},
    "protom": AHEAD,
    "protom_at_once": {},
    "protom_paper": {"faithful": True, "epsilon": 0.5, "cost": 0.0},
    "protom_traj": {"faithful": True, "epsilon": 0.1, "cost": 0.0, "gate": "traj"},
    **{
        f"protom_{name}_{value:g}": {**AHEAD, name: value}
        for name, values in SWEEPS.items()
        for value in values
        if value != SETTINGS[name]
    },
}
# the sets of further levels, and the facilitators that play them in a full run
SETS = {
    "heldout": (*SUBJECTS, "protom_at_once", "protom_paper", "protom_traj"),
    "tuning": ("none", *VARIANTS),
}

CHANGE_AFTER = 6  # steps after which a person changes its goal: half of a short level; chosen

MapFacilitator = Facilitator[State, Action, Advice]


def facilitator(subject: str, level: Level, advice: DoorsKeysGemsAdvice, **settings: Any) -> MapFacilitator:
    """The facilitator of this name. The oracle is ProToM with observers that consider the true goals only.

    settings: of `ProToM`, and `unlisted`, goals that all but the oracle leave out, by agent.
    """
    world = level.world
    if simple := experiment.facilitator_without_inference(subject, advice):
        return simple
    options = {"longest": level.horizon, **VARIANTS[subject], **settings}
    unlisted = options.pop("unlisted", {})
    observer_options = {name: options.pop(name) for name in ("prior", "switch_rate") if name in options}
    if options.get("faithful"):
        options["longest"] = None
    watchers: dict[str, Observer[GoalDirected[Action]]] = {}
    for i, agent in enumerate(world.agents):
        gems = [world.goals[i]] if subject == "oracle" else range(len(world.gems))
        goals = [goal for gem in gems if (goal := Goal("gem", gem)) != unlisted.get(agent) or subject == "oracle"]
        minds = [Seeker(advice.planner, i, goal) for goal in goals]
        if subject == "oracle" or options.get("faithful"):
            watchers[agent] = Observer.over(minds)
        else:
            watchers[agent] = with_none_of_these(minds, **observer_options)
    return ProToM.initial(world, advice, watchers, world.initial, **options)


def spare_goals(world: DoorsKeysGems) -> list[Goal]:
    """The gems that nobody wants."""
    return [Goal("gem", gem) for gem in range(len(world.gems)) if gem not in world.goals]


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
    rng = stream(entry.seed, "odd", level.name)
    participants = crowd(entry.people, people(level, advice), spare_goals(world), CHANGE_AFTER, rng)
    if model is None:
        helper = facilitator(entry.subject, level, advice, unlisted=participants.unlisted)
    else:
        helper = LanguageFacilitator(entry.asker(model), map_briefing(world), advice, pictures)
    return EpisodeSetup(
        world=world,
        people=participants.minds,
        facilitator=helper,
        messages=advice,
        goals={agent: world.gems[world.goals[i]].colour for i, agent in enumerate(world.agents)},
        name=lambda goal: world.gems[goal.thing].colour if isinstance(goal, Goal) else str(goal),
        spell=world.spell,
        obedience=participants.obedience,
        aimless=participants.aimless,
    )


def episode(entry: PlannedEpisode, advice: DoorsKeysGemsAdvice | None = None) -> FacilitatedEpisode[Any, Any, Any]:
    """The episode, ready to be played."""
    return experiment.episode(entry, setup(entry, advice))


def rows(entry: PlannedEpisode, model: LanguageModel | None = None, *, pictures: bool = False) -> list[Row]:
    """Play an episode, with a language model as the facilitator if there is one, and return its rows."""
    return experiment.rows(EXPERIMENT, entry, setup(entry, model=model, pictures=pictures))

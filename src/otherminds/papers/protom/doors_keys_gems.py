"""The experiment protom-dkg: facilitators in Doors-Keys-Gems levels (ProToM §4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from otherminds.papers.protom.experiment import SUBJECTS
from otherminds.papers.protom.facilitated_world import FacilitatedWorld, Variant, swept
from otherminds.papers.protom.facilitator import NONE_PRIOR, SWITCH_RATE, PaperProToM, ProToM
from otherminds.papers.protom.language_facilitator import map_briefing
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems

CHOSEN: Mapping[str, float] = {"cost": ProToM.cost, "prior": NONE_PRIOR, "switch_rate": SWITCH_RATE}
# values tried on the tuning levels, one setting at a time
SWEEPS: Mapping[str, Sequence[float]] = {
    "cost": (0.0, 0.25, 0.5, 1.0, 2.0),
    "prior": (0.0, 0.01, 0.03, 0.05, 0.1, 0.2),
    "switch_rate": (0.0, 0.003, 0.01, 0.03),
}


def protom(prior: float = NONE_PRIOR, switch_rate: float = SWITCH_RATE, **settings: Any) -> Variant:
    """ProToM with these settings, the others as by default."""
    return Variant(partial(ProToM.initial, **settings), prior=prior, switch_rate=switch_rate)


def by_the_paper(**settings: Any) -> Variant:
    """The paper's rule with these settings; its observers consider the listed goals only."""
    return Variant(partial(PaperProToM.initial, **settings), prior=0.0, switch_rate=0.0)


VARIANTS: Mapping[str, Variant] = {
    "oracle": protom(prior=0.0, switch_rate=0.0, cost=0.0, waits=()),
    "protom": protom(),
    "protom_at_once": protom(waits=()),
    "protom_paper": by_the_paper(),
    "protom_traj": by_the_paper(epsilon=0.1, gate="traj"),
    **swept(protom, SWEEPS, CHOSEN),
}
# the sets of further levels, and the facilitators that play them in a full run
SETS = {
    "heldout": (*SUBJECTS, "protom_at_once", "protom_paper", "protom_traj"),
    "tuning": ("none", *VARIANTS),
}
CHANGE_AFTER = 6  # steps after which a person changes its goal: half of a short level; chosen


def wanted_gems(world: DoorsKeysGems) -> list[Goal]:
    """The gem that each agent wants."""
    return [Goal("gem", gem) for gem in world.goals]


def all_gems(world: DoorsKeysGems) -> list[Goal]:
    """The gems, any of which an agent may want."""
    return [Goal("gem", gem) for gem in range(len(world.gems))]


def seeker(advice: DoorsKeysGemsAdvice, i: int, goal: Goal, *, particle: int, **rationality: Any) -> Seeker:
    """The mind of the ith agent; it sees everything, so that it has one belief whatever the `particle`."""
    return Seeker(advice.planner, i, goal, **rationality)


def gem_colour(world: DoorsKeysGems, goal: Any) -> str:
    """The colour of the gem that is the goal, or the goal itself if it is no gem."""
    return world.gems[goal.thing].colour if isinstance(goal, Goal) else str(goal)


DOORS_KEYS_GEMS = FacilitatedWorld(
    experiment="protom-dkg",
    variants=VARIANTS,
    sets=SETS,
    change_after=CHANGE_AFTER,
    advice=DoorsKeysGemsAdvice,
    goals=wanted_gems,
    possible_goals=all_gems,
    mind=seeker,
    goal_name=gem_colour,
    briefing=map_briefing,
)

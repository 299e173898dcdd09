"""Computational Theory of Mind: agents are minds run forward, mindreading is minds run backward."""

from otherminds.distribution import Categorical, Distribution
from otherminds.errors import InputError
from otherminds.mind import Mind, Mindreader
from otherminds.minds.favours import Favour, Favours
from otherminds.minds.locked_map import Goal
from otherminds.minds.plans import Plans
from otherminds.minds.seeker import Seeker
from otherminds.minds.told import Told
from otherminds.observer import Observer, attend, replay
from otherminds.systems.facilitation import Chatter, Decision, Episode, Facilitator, Messages, Silent
from otherminds.systems.protom import ProToM
from otherminds.world import Step, Trajectory, World, rollout
from otherminds.worlds.doors_keys_gems import Action, DoorsKeysGems, State
from otherminds.worlds.level_files import Level, bundled_levels, read_level

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Categorical",
    "Chatter",
    "Decision",
    "Distribution",
    "DoorsKeysGems",
    "Episode",
    "Facilitator",
    "Favour",
    "Favours",
    "Goal",
    "InputError",
    "Level",
    "Messages",
    "Mind",
    "Mindreader",
    "Observer",
    "Plans",
    "ProToM",
    "Seeker",
    "Silent",
    "State",
    "Step",
    "Told",
    "Trajectory",
    "World",
    "attend",
    "bundled_levels",
    "read_level",
    "replay",
    "rollout",
]

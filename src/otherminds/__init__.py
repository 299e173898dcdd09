"""Computational Theory of Mind: agents are minds run forward, mindreading is minds run backward."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from otherminds.evaluation.literal_functional import (
        expected_regret,
        functional_regret,
        interestingness,
        tom_percent,
    )
    from otherminds.evaluation.tasks import Task, play
    from otherminds.minds.adaptive import Adaptive
    from otherminds.minds.believer import Believer
    from otherminds.minds.cook import Cook
    from otherminds.minds.learner import RMax, tabular
    from otherminds.minds.librarian import Librarian
    from otherminds.minds.partners import partner
    from otherminds.minds.players import player
    from otherminds.minds.requests import Requests
    from otherminds.minds.sampler import Sampler
    from otherminds.minds.strategies import Machine, Partner, together
    from otherminds.planning.response import best_response
    from otherminds.worlds.game_files import find_game, read_game
    from otherminds.worlds.kitchen_files import KitchenLevel, read_kitchen
    from otherminds.worlds.overcooked import Overcooked
    from otherminds.worlds.repeated_game import Game, RepeatedGame

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Adaptive",
    "Believer",
    "Categorical",
    "Chatter",
    "Cook",
    "Decision",
    "Distribution",
    "DoorsKeysGems",
    "Episode",
    "Facilitator",
    "Favour",
    "Favours",
    "Game",
    "Goal",
    "InputError",
    "KitchenLevel",
    "Level",
    "Librarian",
    "Machine",
    "Messages",
    "Mind",
    "Mindreader",
    "Observer",
    "Overcooked",
    "Partner",
    "Plans",
    "ProToM",
    "RMax",
    "RepeatedGame",
    "Requests",
    "Sampler",
    "Seeker",
    "Silent",
    "State",
    "Step",
    "Task",
    "Told",
    "Trajectory",
    "World",
    "attend",
    "best_response",
    "bundled_levels",
    "expected_regret",
    "find_game",
    "functional_regret",
    "interestingness",
    "partner",
    "play",
    "player",
    "read_game",
    "read_kitchen",
    "read_level",
    "replay",
    "rollout",
    "tabular",
    "together",
    "tom_percent",
]

_LATER = {
    "otherminds.evaluation.literal_functional": (
        "expected_regret",
        "functional_regret",
        "interestingness",
        "tom_percent",
    ),
    "otherminds.evaluation.tasks": ("Task", "play"),
    "otherminds.minds.adaptive": ("Adaptive",),
    "otherminds.minds.believer": ("Believer",),
    "otherminds.minds.cook": ("Cook",),
    "otherminds.minds.learner": ("RMax", "tabular"),
    "otherminds.minds.librarian": ("Librarian",),
    "otherminds.minds.partners": ("partner",),
    "otherminds.minds.players": ("player",),
    "otherminds.minds.requests": ("Requests",),
    "otherminds.minds.sampler": ("Sampler",),
    "otherminds.minds.strategies": ("Machine", "Partner", "together"),
    "otherminds.planning.response": ("best_response",),
    "otherminds.worlds.game_files": ("find_game", "read_game"),
    "otherminds.worlds.kitchen_files": ("KitchenLevel", "read_kitchen"),
    "otherminds.worlds.overcooked": ("Overcooked",),
    "otherminds.worlds.repeated_game": ("Game", "RepeatedGame"),
}


def __getattr__(name: str) -> Any:
    """Kitchens and repeated games are imported when they are first asked for: `import otherminds` stays quick."""
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

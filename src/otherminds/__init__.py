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
    from otherminds.adapters.petting_zoo import parallel_env
    from otherminds.evaluation.literal_functional import (
        expected_regret,
        functional_regret,
        interestingness,
        tom_percent,
    )
    from otherminds.evaluation.tasks import Task, converse, play
    from otherminds.language.embedded import Embedded
    from otherminds.language.endpoint import Endpoint
    from otherminds.language.find import find_model
    from otherminds.language.ledger import Recorded
    from otherminds.language.model import Continuations, LanguageModel, Message, Reply, Request, Scores
    from otherminds.language.scripted import Scripted
    from otherminds.minds.adaptive import Adaptive
    from otherminds.minds.believer import Believer
    from otherminds.minds.chef import Chef
    from otherminds.minds.cook import Cook
    from otherminds.minds.gatherer import Gatherer
    from otherminds.minds.learner import RMax, tabular
    from otherminds.minds.librarian import Librarian
    from otherminds.minds.partners import partner
    from otherminds.minds.players import player
    from otherminds.minds.requests import Requests
    from otherminds.minds.sampler import Sampler
    from otherminds.minds.strategies import Machine, Partner, together
    from otherminds.planning.response import best_response
    from otherminds.systems.prompting import Prompted, strategy
    from otherminds.worlds.cooking_files import cooking_asymmetric, read_cooking
    from otherminds.worlds.game_files import find_game, read_game
    from otherminds.worlds.kitchen_files import KitchenLevel, read_kitchen
    from otherminds.worlds.matrix_files import in_the_matrix, read_matrix_world
    from otherminds.worlds.overcooked import Overcooked
    from otherminds.worlds.repeated_game import Game, RepeatedGame

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Adaptive",
    "Believer",
    "Categorical",
    "Chatter",
    "Chef",
    "Continuations",
    "Cook",
    "Decision",
    "Distribution",
    "DoorsKeysGems",
    "Embedded",
    "Endpoint",
    "Episode",
    "Facilitator",
    "Favour",
    "Favours",
    "Game",
    "Gatherer",
    "Goal",
    "InputError",
    "KitchenLevel",
    "LanguageModel",
    "Level",
    "Librarian",
    "Machine",
    "Message",
    "Messages",
    "Mind",
    "Mindreader",
    "Observer",
    "Overcooked",
    "Partner",
    "Plans",
    "ProToM",
    "Prompted",
    "RMax",
    "Recorded",
    "RepeatedGame",
    "Reply",
    "Request",
    "Requests",
    "Sampler",
    "Scores",
    "Scripted",
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
    "converse",
    "cooking_asymmetric",
    "expected_regret",
    "find_game",
    "find_model",
    "functional_regret",
    "in_the_matrix",
    "interestingness",
    "parallel_env",
    "partner",
    "play",
    "player",
    "read_cooking",
    "read_game",
    "read_kitchen",
    "read_level",
    "read_matrix_world",
    "replay",
    "rollout",
    "strategy",
    "tabular",
    "together",
    "tom_percent",
]

_LATER = {
    "otherminds.adapters.petting_zoo": ("parallel_env",),
    "otherminds.evaluation.literal_functional": (
        "expected_regret",
        "functional_regret",
        "interestingness",
        "tom_percent",
    ),
    "otherminds.evaluation.tasks": ("Task", "converse", "play"),
    "otherminds.language.embedded": ("Embedded",),
    "otherminds.language.endpoint": ("Endpoint",),
    "otherminds.language.find": ("find_model",),
    "otherminds.language.ledger": ("Recorded",),
    "otherminds.language.model": ("Continuations", "LanguageModel", "Message", "Reply", "Request", "Scores"),
    "otherminds.language.scripted": ("Scripted",),
    "otherminds.minds.adaptive": ("Adaptive",),
    "otherminds.minds.believer": ("Believer",),
    "otherminds.minds.chef": ("Chef",),
    "otherminds.minds.cook": ("Cook",),
    "otherminds.minds.gatherer": ("Gatherer",),
    "otherminds.minds.learner": ("RMax", "tabular"),
    "otherminds.minds.librarian": ("Librarian",),
    "otherminds.minds.partners": ("partner",),
    "otherminds.minds.players": ("player",),
    "otherminds.minds.requests": ("Requests",),
    "otherminds.minds.sampler": ("Sampler",),
    "otherminds.minds.strategies": ("Machine", "Partner", "together"),
    "otherminds.planning.response": ("best_response",),
    "otherminds.systems.prompting": ("Prompted", "strategy"),
    "otherminds.worlds.cooking_files": ("cooking_asymmetric", "read_cooking"),
    "otherminds.worlds.game_files": ("find_game", "read_game"),
    "otherminds.worlds.kitchen_files": ("KitchenLevel", "read_kitchen"),
    "otherminds.worlds.matrix_files": ("in_the_matrix", "read_matrix_world"),
    "otherminds.worlds.overcooked": ("Overcooked",),
    "otherminds.worlds.repeated_game": ("Game", "RepeatedGame"),
}


def __getattr__(name: str) -> Any:
    """Much is imported when it is first asked for: `import otherminds` stays quick."""
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

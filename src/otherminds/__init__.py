"""Computational Theory of Mind: agents are minds run forward, mindreading is minds run backward."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otherminds.distribution import Categorical, Distribution
from otherminds.errors import InputError
from otherminds.mind import Mind, Mindreader, WithErrand
from otherminds.observer import Observer, attend, replay, rescore
from otherminds.papers.protom.episodes import (
    Decision,
    FacilitatedEpisode,
    Facilitator,
    Messages,
    RandomFacilitator,
    SilentFacilitator,
)
from otherminds.papers.protom.facilitator import ProToM
from otherminds.world import Step, Trajectory, World, rollout
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels, read_level
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State

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
    from otherminds.papers.functional.prompting import Prompted, strategy
    from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
    from otherminds.papers.mumatom.limp import Limp
    from otherminds.planning.best_response import best_response
    from otherminds.stories.answering import ask
    from otherminds.worlds.collaborative_cooking.bots import CookingBot
    from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric, read_cooking
    from otherminds.worlds.in_the_matrix.bots import MatrixBot
    from otherminds.worlds.in_the_matrix.map_files import in_the_matrix, read_matrix_world
    from otherminds.worlds.overcooked.advice import OvercookedAdvice
    from otherminds.worlds.overcooked.agent import Cook
    from otherminds.worlds.overcooked.level_files import KitchenLevel, read_kitchen
    from otherminds.worlds.overcooked.rules import Overcooked
    from otherminds.worlds.repeated_games.machines import Machine, Partner, together
    from otherminds.worlds.repeated_games.partners import partner
    from otherminds.worlds.repeated_games.payoff_files import find_game, read_game
    from otherminds.worlds.repeated_games.players.bayes_adaptive import BayesAdaptive
    from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead
    from otherminds.worlds.repeated_games.players.best_response_to_mixture import MixtureBestResponse
    from otherminds.worlds.repeated_games.players.by_name import player
    from otherminds.worlds.repeated_games.players.learners import RMax, tabular
    from otherminds.worlds.repeated_games.players.posterior_sampling import PosteriorSampling
    from otherminds.worlds.repeated_games.rules import Game, RepeatedGame

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Advice",
    "BayesAdaptive",
    "BayesianLookahead",
    "Categorical",
    "Continuations",
    "Cook",
    "CookingBot",
    "Decision",
    "Distribution",
    "DoorsKeysGems",
    "DoorsKeysGemsAdvice",
    "DoorsKeysGemsPlanner",
    "Embedded",
    "Endpoint",
    "FacilitatedEpisode",
    "Facilitator",
    "Game",
    "Goal",
    "HypotheticalMinds",
    "InputError",
    "KitchenLevel",
    "LanguageModel",
    "Level",
    "Limp",
    "Machine",
    "MatrixBot",
    "Message",
    "Messages",
    "Mind",
    "Mindreader",
    "MixtureBestResponse",
    "Observer",
    "Overcooked",
    "OvercookedAdvice",
    "Partner",
    "PosteriorSampling",
    "ProToM",
    "Prompted",
    "RMax",
    "RandomFacilitator",
    "Recorded",
    "RepeatedGame",
    "Reply",
    "Request",
    "Scores",
    "Scripted",
    "Seeker",
    "SilentFacilitator",
    "State",
    "Step",
    "Task",
    "Trajectory",
    "WithErrand",
    "World",
    "ask",
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
    "rescore",
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
    "otherminds.worlds.repeated_games.players.bayes_adaptive": ("BayesAdaptive",),
    "otherminds.worlds.repeated_games.players.best_response_to_mixture": ("MixtureBestResponse",),
    "otherminds.worlds.collaborative_cooking.bots": ("CookingBot",),
    "otherminds.worlds.overcooked.agent": ("Cook",),
    "otherminds.worlds.in_the_matrix.bots": ("MatrixBot",),
    "otherminds.worlds.repeated_games.players.learners": ("RMax", "tabular"),
    "otherminds.worlds.repeated_games.players.bayesian_lookahead": ("BayesianLookahead",),
    "otherminds.worlds.repeated_games.partners": ("partner",),
    "otherminds.worlds.repeated_games.players.by_name": ("player",),
    "otherminds.worlds.overcooked.advice": ("OvercookedAdvice",),
    "otherminds.worlds.repeated_games.players.posterior_sampling": ("PosteriorSampling",),
    "otherminds.worlds.repeated_games.machines": ("Machine", "Partner", "together"),
    "otherminds.papers.hypothetical_minds.agent": ("HypotheticalMinds",),
    "otherminds.papers.mumatom.limp": ("Limp",),
    "otherminds.planning.best_response": ("best_response",),
    "otherminds.stories.answering": ("ask",),
    "otherminds.papers.functional.prompting": ("Prompted", "strategy"),
    "otherminds.worlds.collaborative_cooking.map_files": ("cooking_asymmetric", "read_cooking"),
    "otherminds.worlds.repeated_games.payoff_files": ("find_game", "read_game"),
    "otherminds.worlds.overcooked.level_files": ("KitchenLevel", "read_kitchen"),
    "otherminds.worlds.in_the_matrix.map_files": ("in_the_matrix", "read_matrix_world"),
    "otherminds.worlds.overcooked.rules": ("Overcooked",),
    "otherminds.worlds.repeated_games.rules": ("Game", "RepeatedGame"),
}


def __getattr__(name: str) -> Any:
    """Much is imported when it is first asked for: `import otherminds` stays quick."""
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

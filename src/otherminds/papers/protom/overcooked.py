"""ProToM in Overcooked with rooms: kitchens with and without help, beside the paper's figures (§4.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from otherminds.evaluation.engines import stream
from otherminds.language.model import LanguageModel
from otherminds.mind import GoalDirected
from otherminds.observer import Observer
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.descriptions import of_kitchen
from otherminds.papers.protom.episodes import Decision, Episode, Facilitator, RandomFacilitator, SilentFacilitator
from otherminds.papers.protom.experiment import SUBJECTS, Cast, Entry, Row
from otherminds.papers.protom.facilitator import ProToM
from otherminds.papers.protom.models import speaking
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.agent import Cook
from otherminds.worlds.overcooked.kitchen import RECIPES
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.planner import Advice
from otherminds.worlds.overcooked.rules import Overcooked, State

EXPERIMENT = "protom-overcooked"
SIMPLE = ("SimpleTomato", "SimpleLettuce", "SimpleOnion")
SETTINGS: Mapping[str, Any] = {"phi": 2.0, "epsilon": 0.3, "gate": "next", "distinct": False, "particles": 5}
SWEEPS: Mapping[str, Sequence[float]] = {
    "epsilon": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
    "phi": (0, 1, 2, 4, 6, 8),
    "particles": (1, 2, 5, 10),
}
AHEAD: Mapping[str, Any] = {"waits": (2,)}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "oracle": {},
    "protom": AHEAD,
    "protom_paper": {},
    "protom_weighted": {**AHEAD, "faithful": False},
    "protom_fast": {"beliefs": False},
    **{
        f"protom_{name}_{value:g}": {**AHEAD, name: value}
        for name, values in SWEEPS.items()
        for value in values
        if value != SETTINGS[name]
    },
}
SETS = {"heldout": (*SUBJECTS, "protom_paper", "protom_weighted", "protom_fast"), "tuning": ("none", *VARIANTS)}
SEEDS = 1 << 31

KitchenFacilitator = Facilitator[State, str, Advice]


@dataclass(frozen=True)
class Hint(SilentFacilitator):
    """Says one thing once, as soon as it can be followed from step t on."""

    requests: OvercookedAdvice
    request: Advice
    t: int = 1
    said: bool = False

    def watch(self, joint: Mapping[str, Any], after: Any) -> Hint:
        """Wait for the right step."""
        return replace(self, t=self.t - 1)

    def tell(self, message: Any) -> Hint:
        """What has been said is not said again."""
        return replace(self, said=True)

    def decide(self, state: State, left: int, rng: np.random.Generator) -> Decision[Advice]:
        """The message, if it is time."""
        if self.said or self.t > 0 or self.request not in self.requests.candidates(state):
            return Decision(silence="it is not the time")
        return Decision(self.request, words=self.requests.words(self.request))


def menu(world: Overcooked) -> list[str]:
    """What people could be planner: the dishes of one food, and whichever others are ordered in this kitchen."""
    return [recipe for recipe in RECIPES if recipe in SIMPLE or recipe in world.recipes]


def facilitator(subject: str, level: KitchenLevel, requests: OvercookedAdvice, **settings: Any) -> KitchenFacilitator:
    """The facilitator of this name. The oracle is ProToM with observers that consider the true recipes only."""
    if subject == "none":
        return SilentFacilitator()
    if subject == "random":
        return RandomFacilitator(requests)
    world = level.world
    chosen = {**SETTINGS, **VARIANTS[subject], **settings}
    particles = range(chosen.pop("particles"))
    if not chosen.pop("beliefs", True):
        requests = OvercookedAdvice(world, requests.planner, requests.sampler, beliefs=False)
    watchers: dict[str, Observer[GoalDirected[str]]] = {
        agent: Observer.over(
            Cook(requests.planner, requests.sampler, i, recipe, particle=k)
            for k, recipe in product(particles, [world.recipes[i]] if subject == "oracle" else menu(world))
        )
        for i, agent in enumerate(world.agents)
    }
    return ProToM.beginning(world, requests, watchers, world.initial, **chosen)


def people(level: KitchenLevel, requests: OvercookedAdvice, seed: int) -> dict[str, Cook]:
    """The simulated cooks: rational as far as they know, breaking ties at random, each with a belief of their own."""
    world = level.world
    cooks = {}
    for i, agent in enumerate(world.agents):
        particle = int(stream(seed, "belief", level.name, agent).integers(SEEDS))
        cooks[agent] = Cook(
            requests.planner, requests.sampler, i, world.recipes[i], beta=math.inf, lapse=0.0, particle=particle
        )
    return cooks


def cast(entry: Entry, helper: KitchenFacilitator | None = None, requests: OvercookedAdvice | None = None) -> Cast:
    """Who plays an entry, with the facilitator that its subject names or another one."""
    level = entry.level
    assert isinstance(level, KitchenLevel)
    requests, world = requests or OvercookedAdvice(level.world), level.world
    return Cast(
        world=world,
        people=people(level, requests, entry.seed),
        facilitator=helper or facilitator(entry.subject, level, requests),
        messages=requests,
        goals={agent: world.recipes[i] or "" for i, agent in enumerate(world.agents)},
        name=str,
        spell=str,
    )


def advised(entry: Entry, model: LanguageModel, *, pictures: bool = False) -> Cast:
    """Who plays an entry, with a language model as the facilitator."""
    assert isinstance(entry.level, KitchenLevel)
    world, requests = entry.level.world, OvercookedAdvice(entry.level.world)
    return cast(entry, speaking(entry, model, of_kitchen(world), requests, pictures), requests)


def episode(entry: Entry, requests: OvercookedAdvice | None = None) -> Episode[State, str, Advice]:
    """An episode ready to be played."""
    return facilitated.episode(entry, cast(entry, requests=requests))


def rows(entry: Entry) -> list[Row]:
    """Play an episode and tell it in rows."""
    return facilitated.rows(EXPERIMENT, entry, cast(entry))

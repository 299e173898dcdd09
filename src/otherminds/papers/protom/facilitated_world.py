"""A world with facilitators as the experiments play it: the variants of ProToM, and what differs between worlds."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from otherminds.evaluation.engines import stream
from otherminds.language.model import LanguageModel
from otherminds.mind import GoalDirected
from otherminds.papers.protom import experiment
from otherminds.papers.protom.episodes import FacilitatedEpisode, Facilitator, RandomFacilitator, SilentFacilitator
from otherminds.papers.protom.experiment import EpisodeSetup, PlannedEpisode, Row
from otherminds.papers.protom.facilitator import NONE_PRIOR, SWITCH_RATE, ProToM, with_none_of_these
from otherminds.papers.protom.language_facilitator import Briefing, LanguageFacilitator
from otherminds.papers.protom.people import crowd
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel

SEEDS = 1 << 31  # seeds of people's initial beliefs are drawn below this


@dataclass(frozen=True)
class Variant:
    """A facilitator of an experiment: how it begins an episode, and what its observers consider.

    initial: `ProToM.initial` or `PaperProToM.initial`, with settings if they are not the default. particles: sampled
    beliefs for each goal that an agent may have. prior and switch_rate: P(none of these goals), and P(an agent changes
    its goal) at a step. forecaster: what forecasts the effects of messages, made from the advice of the world; None:
    that advice.
    """

    initial: Callable[..., Facilitator[Any, Any, Any]] = ProToM.initial
    particles: int = 1
    prior: float = NONE_PRIOR
    switch_rate: float = SWITCH_RATE
    forecaster: Callable[[Any], Any] | None = None

    def facilitator(
        self, world: Any, advice: Any, minds: Mapping[str, Sequence[GoalDirected[Any]]]
    ) -> Facilitator[Any, Any, Any]:
        """The facilitator at the start of an episode, with observers that consider these minds."""
        watchers = {agent: with_none_of_these(own, self.prior, self.switch_rate) for agent, own in minds.items()}
        messages = self.forecaster(advice) if self.forecaster else advice
        return self.initial(world, messages, watchers, world.initial)


def swept(
    variant: Callable[..., Variant], sweeps: Mapping[str, Sequence[float]], chosen: Mapping[str, float]
) -> dict[str, Variant]:
    """Variants of `protom` by name, in each of which one setting has another value than the chosen one."""
    return {
        f"protom_{name}_{value:g}": variant(**{name: value})
        for name, values in sweeps.items()
        for value in values
        if value != chosen[name]
    }


@dataclass(frozen=True)
class FacilitatedWorld:
    """What the experiments need to know of one world; levels, advice and goals are those of this world.

    experiment: the name of the experiment. variants: the facilitators that infer goals, by name. sets: the facilitators
    that play each further set of levels in a full run. change_after: steps after which a person of the kind
    `goal_change` changes its goal. advice: makes the messages of a world. goals and possible_goals: what each agent
    wants, and what any agent may want. mind: makes the mind of the ith agent from the advice, i, its goal and the seed
    of its beliefs (`particle`), by default as rational as facilitators assume. briefing: what a language model is told.
    goal_name: the name of a goal in rows, from the world and the goal; None if goals are names.
    """

    experiment: str
    variants: Mapping[str, Variant]
    sets: Mapping[str, Sequence[str]]
    change_after: int
    advice: Callable[[Any], Any]
    goals: Callable[[Any], Sequence[Any]]
    possible_goals: Callable[[Any], Sequence[Any]]
    mind: Callable[..., GoalDirected[Any]]
    briefing: Callable[[Any], Briefing[Any, Any]]
    goal_name: Callable[[Any, Any], str] | None = None

    def spare_goals(self, world: Any) -> list[Any]:
        """The possible goals that no agent has."""
        return [goal for goal in self.possible_goals(world) if goal not in self.goals(world)]

    def people(self, level: Level | KitchenLevel, advice: Any, seed: int) -> dict[str, Any]:
        """The simulated people: rational given beliefs drawn from `seed`, breaking ties at random (ProToM §4.4)."""
        rational = partial(self.mind, advice, beta=math.inf, lapse=0.0)
        agents = zip(level.world.agents, self.goals(level.world), strict=True)
        return {
            agent: rational(i, goal, particle=int(stream(seed, "belief", level.name, agent).integers(SEEDS)))
            for i, (agent, goal) in enumerate(agents)
        }

    def facilitator(
        self, subject: str, level: Level | KitchenLevel, advice: Any, unlisted: Mapping[str, Hashable] = {}
    ) -> Facilitator[Any, Any, Any]:
        """The facilitator of this name; `unlisted`: goals that all but the oracle leave out, by agent.

        The oracle is ProToM with observers that consider the true goals only.
        """
        if subject == "none":
            return SilentFacilitator()
        if subject == "random":
            return RandomFacilitator(advice)
        variant, world = self.variants[subject], level.world
        possible, minds = self.possible_goals(world), dict[str, list[GoalDirected[Any]]]()
        particles = range(variant.particles)
        for i, (agent, true_goal) in enumerate(zip(world.agents, self.goals(world), strict=True)):
            listed = [goal for goal in possible if goal != unlisted.get(agent)]
            goals = [true_goal] if subject == "oracle" else listed
            minds[agent] = [self.mind(advice, i, goal, particle=k) for k, goal in product(particles, goals)]
        return variant.facilitator(world, advice, minds)

    def setup(
        self, entry: PlannedEpisode, advice: Any = None, *, model: LanguageModel | None = None, pictures: bool = False
    ) -> EpisodeSetup:
        """The participants of an entry, with the facilitator that its subject names, or a language model.

        Sharing `advice` between episodes of one level saves planning and changes nothing else. `pictures`: the model
        also sees the state as a picture.
        """
        level, world = entry.level, entry.level.world
        advice, rng = advice or self.advice(world), stream(entry.seed, "odd", level.name)
        minds = self.people(level, advice, entry.seed)
        participants = crowd(entry.people, minds, self.spare_goals(world), self.change_after, rng)
        if model is None:
            helper = self.facilitator(entry.subject, level, advice, participants.unlisted)
        else:
            helper = LanguageFacilitator(entry.asker(model), self.briefing(world), advice, pictures)
        name = partial(self.goal_name, world) if self.goal_name else str
        goals = zip(world.agents, self.goals(world), strict=True)
        return EpisodeSetup(
            world=world,
            people=participants.minds,
            facilitator=helper,
            messages=advice,
            goals={agent: "" if goal is None else name(goal) for agent, goal in goals},
            name=name,
            spell=world.spell,
            obedience=participants.obedience,
            aimless=participants.aimless,
        )

    def episode(self, entry: PlannedEpisode, advice: Any = None) -> FacilitatedEpisode[Any, Any, Any]:
        """The episode, ready to be played."""
        return experiment.episode(entry, self.setup(entry, advice))

    def rows(self, entry: PlannedEpisode, model: LanguageModel | None = None, *, pictures: bool = False) -> list[Row]:
        """Play an episode, with a language model as the facilitator if there is one, and return its rows."""
        return experiment.rows(self.experiment, entry, self.setup(entry, model=model, pictures=pictures))

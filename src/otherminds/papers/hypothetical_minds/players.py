"""The agents that play the scenarios of Hypothetical Minds: programs, baselines, and agents with a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from otherminds.errors import InputError, unknown
from otherminds.language.asking import Asker, Exchange, plain
from otherminds.language.model import Usage
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds, Theory
from otherminds.papers.hypothetical_minds.bound import bound
from otherminds.papers.hypothetical_minds.ppo import Trained, shipped_for
from otherminds.papers.hypothetical_minds.programs import Programs, RescorlaWagner
from otherminds.papers.hypothetical_minds.verbal.agents import STYLES, Reacting, ReactingCook, SpeakingCook
from otherminds.papers.hypothetical_minds.verbal.hypotheses import ABLATIONS, PUBLISHED, HypothesisSettings
from otherminds.papers.hypothetical_minds.verbal.matrix_body import MatrixBody
from otherminds.papers.hypothetical_minds.verbal.sentences import Hybrid, Sentences, SentenceSelector
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.in_the_matrix.bots import ABLE, WALKER, MatrixBot, Skill
from otherminds.worlds.in_the_matrix.hypotheses import MARGIN, library, machine_of, meeting_game
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.in_the_matrix.strategies import Aim, CounterPrevious, Strategy, Whim, specialist
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.repeated_games.machines import Machine, equivalent
from otherminds.worlds.repeated_games.players.bayesian_lookahead import HypothesisSet, closed_hypotheses

Player = Callable[[InTheMatrix, str, Sequence[str], np.random.Generator], HypotheticalMinds | MatrixBot | Trained]


# Programs


def _with_programs(theory: Callable[[HypothesisSet], Theory], *, mapped: bool = False) -> Player:
    """An agent with a theory of programs, which explores unless it has the map."""
    minds = HypotheticalMinds.initial
    return lambda world, me, names, rng: minds(world, me, theory(library(world.rules)), rng, mapped=mapped)


def _without_true_strategies(
    world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator
) -> HypotheticalMinds:
    """An agent whose library lacks all strategies that act as one of the bots does."""
    true = [
        machine for machine in (_machine_of_bot(world, name) for name in dict.fromkeys(names)) if machine is not None
    ]
    like = [m.name for m in library(world.rules).machines if any(equivalent(bot, m) for bot in true)]
    return HypotheticalMinds.initial(world, me, Programs.of(library(world.rules, without=like)), rng, mapped=False)


def _knowing_partners(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> HypotheticalMinds:
    """An agent that knows the machine of each bot, and has the usual prior for bots without one."""
    game, prior = meeting_game(world.rules), Programs.of(library(world.rules))
    true = [_machine_of_bot(world, name) for name in names]
    theories = [prior if machine is None else Programs.of(closed_hypotheses(game, [machine])) for machine in true]
    return HypotheticalMinds.initial(world, me, prior, rng, mapped=False, theories=(prior, *theories))


def _scripted(strategy: Callable[[InTheMatrix], Strategy], skill: Skill = ABLE, *, mapped: bool = False) -> Player:
    """An agent without a theory, which explores unless it has the map."""
    return lambda world, me, names, rng: MatrixBot.initial(world, me, strategy(world), rng, skill, mapped=mapped)


def _answering_last_play(world: InTheMatrix) -> Strategy:
    """The strategy that answers the partner's last play with the best reply to it."""
    payoff = meeting_game(world.rules).payoff()
    kinds = range(len(world.rules.resources))
    return CounterPrevious(tuple(Aim(int(payoff[:, kind].argmax()), MARGIN) for kind in kinds))


PLAYERS: Mapping[str, Player] = {
    "programs": _with_programs(Programs.of),
    "mapped": _with_programs(Programs.of, mapped=True),
    "valued": _with_programs(RescorlaWagner.of),
    "stranger": _without_true_strategies,
    "informed": _knowing_partners,
    "bound": bound,
    "last_play": _scripted(_answering_last_play),
    "uniform": _scripted(lambda world: Whim(tuple(Aim(kind, MARGIN) for kind in range(len(world.rules.resources))))),
    "random": _scripted(lambda world: specialist(Aim(0, MARGIN)), WALKER, mapped=True),
    "ppo": lambda world, me, names, rng: Trained.initial(world, me, shipped_for(world)),
}
"""Program hypotheses; with the map of the world; judged by the paper's rule instead of Bayes'; without those that play
as the partner does; knowing the partner; the bound, which knows it and has the map; answering the last play; able
bodies that play anything; walking about at random; and a network trained by PPO. Each is called with the world, its
agent, the bots' names and a generator."""


@cache
def _machine_of_bot(world: InTheMatrix, name: str) -> Machine | None:
    """The machine that a bot plays by; None if it has no strategy."""
    strategy = bot(name).strategy
    return None if strategy is None else machine_of(name, strategy, meeting_game(world.rules))


# Language models

HYBRID = "hybrid"
AGENTS = ("HM", HYBRID, "VMP", "MMP", "MMP+HE", "HE+HR", *STYLES)
"""Hypothetical Minds; programs first, sentences where these fail; the ablations; and agents without a theory."""
SWEEP = tuple(
    f"HM,{change}" for change in ("top_k=1", "top_k=3", "alpha=0.1", "alpha=0.5", "threshold=0.5", "threshold=0.9")
)
NUMBERS: Mapping[str, Callable[[str], Any]] = {"top_k": int, "alpha": float, "threshold": float, "c": float}
HINT = f"one of {', '.join(AGENTS)}; after a comma: scripted, mapped, estimated, {', '.join(f'{k}=…' for k in NUMBERS)}"


@dataclass(frozen=True)
class ModelAgent:
    """An agent that a language model takes part in.

    `scripted`: the body is a program, and the model plans no subgoals; `mapped`: the map is known, not only what has
    been seen; `settings`: how hypotheses are judged; what the partner held is worked out from the payoff unless the
    agent is `estimated`.
    """

    agent: str
    settings: HypothesisSettings = PUBLISHED
    scripted: bool = False
    mapped: bool = False

    @property
    def cooks(self) -> bool:
        """Whether there is such an agent in kitchens: there is no hybrid, and bodies always follow plans."""
        return self.agent != HYBRID and not self.scripted

    @classmethod
    def parse(cls, spec: str) -> ModelAgent:
        """An agent by name, with changes to its settings: `HM,scripted,alpha=0.1`. Raises InputError."""
        name, *changes = spec.split(",")
        if name not in AGENTS:
            raise unknown("agent", plain(name), AGENTS, "docs/systems/hypothetical.md lists all")
        agent = cls(name, ABLATIONS.get(name, PUBLISHED))
        for change in changes:
            agent = agent._with_change(change)
        if agent.scripted and name in STYLES:
            raise InputError(f"{name} cannot be `scripted`: it is its plans", hint=HINT)
        return agent

    def _with_change(self, change: str) -> ModelAgent:
        """The agent with one change, such as `scripted` or `alpha=0.1`. Raises InputError for any other."""
        key, _, value = change.partition("=")
        if change == "scripted":
            return replace(self, scripted=True)
        if change == "mapped":
            return replace(self, mapped=True)
        if change == "estimated":
            return replace(self, settings=replace(self.settings, exact_inventory=False))
        if key not in NUMBERS:
            raise InputError(f"`{plain(change)[:60]}` says nothing about an agent", hint=HINT)
        try:
            return replace(self, settings=replace(self.settings, **{key: NUMBERS[key](value)}))
        except ValueError as error:
            raise InputError(f"`{plain(change)[:60]}`: {error}", hint=HINT) from None

    def in_matrix(
        self, world: InTheMatrix, me: str, asker: Asker, rng: np.random.Generator
    ) -> HypotheticalMinds | Reacting:
        """The agent in a matrix world at the start of an episode."""
        if self.agent in STYLES:
            return Reacting.initial(world, me, asker, STYLES[self.agent], mapped=self.mapped)
        sentences = Sentences.initial(world, me, asker, self.settings)
        theory = Hybrid(Programs.of(library(world.rules)), sentences) if self.agent == HYBRID else sentences
        body = None if self.scripted else MatrixBody.initial(world, me, asker.within("body"), mapped=self.mapped)
        selector = SentenceSelector(asker, world, me) if self.agent != HYBRID and self.settings.modular else None
        mapped = self.mapped
        return HypotheticalMinds.initial(
            world, me, theory, rng, margin=MARGIN, body=body, mapped=mapped, selector=selector
        )

    def in_kitchen(self, world: CollaborativeCooking, me: str, asker: Asker) -> SpeakingCook | ReactingCook:
        """The agent in a kitchen at the start of an episode."""
        if self.agent in STYLES:
            return ReactingCook.initial(world, me, asker, STYLES[self.agent])
        return SpeakingCook.initial(world, me, asker, self.settings)


def all_said(mind: object) -> tuple[Exchange, ...]:
    """All that a language model said in an episode."""
    speakers = (*mind.theories, mind.selector, mind.body) if isinstance(mind, HypotheticalMinds) else (mind,)
    return tuple(exchange for speaker in speakers for exchange in getattr(speaker, "exchanges", ()))


def call_counts(mind: object) -> dict[str, Any]:
    """The columns of a row about an agent's calls: calls, calls by purpose, tokens, and unreadable replies."""
    exchanges = all_said(mind)
    used = sum((exchange.usage for exchange in exchanges), Usage())
    purposes = Counter(exchange.purpose.partition(" ")[0] for exchange in exchanges)
    counts = {
        "calls": len(exchanges),
        "purposes": dict(purposes),
        "unreadable": sum(not exchange.readable for exchange in exchanges),
    }
    return counts | {"prompt_tokens": used.prompt, "written_tokens": used.written}

"""Conformance of minds and mindreaders: immutable policies with a memory, whose actions an observer can score."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from otherminds.distribution import Categorical, Distribution
from otherminds.evaluation.tasks import Task, play
from otherminds.mind import GoalDirected, Mind
from otherminds.observer import Observer
from otherminds.testing.worlds import (
    DRAWS,
    FROZEN,
    AnyWorld,
    ConformanceError,
    check_hashable,
    check_methods,
    demand,
    of,
    short,
)
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.best_responders import Reader, mirrored
from otherminds.worlds.repeated_games.rules import Game, Outcome

CLOSE = 1e-9  # by which probabilities may differ: rounding error
VANISHED = 1e-6  # a posterior below this happens by chance in at most one of a million rollouts (Ville's inequality)

AnyMind = Mind[Any, Any]
Options = tuple[Any, ...] | None


def check_mind(
    mind: AnyMind,
    where: AnyWorld | Sequence[Any],
    *,
    agent: str | None = None,
    partners: Mapping[str, AnyMind] | None = None,
    lapse: float = 0.0,
    seed: int = 0,
    steps: int = 100,
) -> None:
    """Check that a mind is an immutable policy with a memory, in a world or on given observations.

    In a world, the mind plays `agent` (by default the first) for `steps` steps; agents without a mind in `partners` act
    at random. The mind has both methods and is hashable, and equal minds have equal hashes. `observe` returns a mind
    and leaves the old one unchanged. `act` is a distribution that adds up to 1 over the legal actions (in a world; all
    but `lapse` of it) and draws nothing else. Equal observations give equal policies. An observer that considers this
    mind and a random one never rules it out.
    Raises ConformanceError for the first requirement that is violated, ValueError if there is nothing to observe.
    """
    check_methods(mind, observe="obs", act="")
    rng, start = np.random.default_rng(seed), mind
    if isinstance(where, Sequence) and not hasattr(where, "agents"):
        life = []
        for obs in where:
            mind = _after_observing(mind, obs)
            life.append(_checked(obs, mind, {"act": None}, 1.0, rng))
        _check_life(start, life)
        return
    world = cast("AnyWorld", where)
    seat = world.agents[0] if agent is None else agent
    while steps > 0:
        life = list(_moments_in_world(mind, world, seat, partners or {}, lapse, steps, rng))
        _check_life(mind, life)
        steps -= len(life)


def check_goal_directed(
    mind: GoalDirected[Any],
    world: AnyWorld,
    *,
    agent: str | None = None,
    partners: Mapping[str, AnyMind] | None = None,
    lapse: float = 0.0,
    seed: int = 0,
    steps: int = 100,
) -> None:
    """Check that a mind says what it wants and when nothing is left to do about it, as a facilitator needs it.

    It meets the requirements of `check_mind`, which has the same arguments. Its `goal` is hashable, `reached` and
    `over` are bools, what is reached is over, and `particle` is a number. All of these stay as they are when the mind
    observes more, which makes another mind. Raises as `check_mind` does.
    """
    check_mind(mind, world, agent=agent, partners=partners, lapse=lapse, seed=seed, steps=steps)
    rng, seat = np.random.default_rng(seed), world.agents[0] if agent is None else agent
    life = list(_moments_in_world(mind, world, seat, partners or {}, lapse, steps, rng))
    facts = [goal_facts(moment.mind) for moment in life]
    for moment, before in zip(life, facts, strict=True):
        for name, value, now in zip(GoalFacts._fields, before, goal_facts(moment.mind), strict=True):
            broken = "it changed when the mind, or what came of it, observed more"
            demand(value == now, of(mind, name), broken, FROZEN)


class GoalFacts(NamedTuple):
    """What a mind says of its goal; fields are named like its properties."""

    goal: Hashable
    reached: bool
    over: bool
    particle: int


def goal_facts(mind: Any) -> GoalFacts:
    """What a mind says of its goal, after it has observed something. Raises ConformanceError for a wrong answer."""
    for name in GoalFacts._fields:
        demand(name in dir(mind), of(mind), f"it has no property `{name}`", "give it all properties of GoalDirected")
        demand(not callable(getattr(mind, name)), of(mind, name), "it is a method", "put @property above it")
    facts = GoalFacts(*(getattr(mind, name) for name in GoalFacts._fields))
    check_hashable(of(mind, "goal"), facts.goal)
    for name, value in (("reached", facts.reached), ("over", facts.over)):
        demand(isinstance(value, bool | np.bool_), of(mind, name), f"{short(value)} is no bool", "return True or False")
    demand(facts.over or not facts.reached, of(mind, "over"), "the goal is reached and not over", "include `reached`")
    is_number = isinstance(facts.particle, int | np.integer) and not isinstance(facts.particle, bool)
    mend = "return 0 if it is the only mind with this goal"
    demand(is_number, of(mind, "particle"), f"{short(facts.particle)} is no whole number", mend)
    return facts


def check_mindreader(player: Reader, where: Game | Task, *, seed: int = 0, rounds: int = 30) -> None:
    """Check that a player of repeated games is a mind that also predicts, against a random player or a task's partner.

    Its first observation is None. `act` adds up to 1 over its own actions and `predict`, a Categorical, over the joint
    actions of all others, both numbered from 0. It also meets the requirements of `check_mind`, and plays the whole
    task twice in the same way. Raises ConformanceError for the first requirement that is violated.
    """
    if isinstance(where, Task):
        task = where
    else:
        own, theirs = where.payoff().shape
        partner = Machine("anybody", ((1.0 / theirs,) * theirs,), (((0,) * own,) * theirs,))
        task = Task(where, partner, rounds)
    try:
        player.observe(None)
    except Exception as error:
        fault = f"{type(error).__name__} for None, which is what is seen before the first round"
        raise ConformanceError(f"{of(player, 'observe')}: {fault} (return the player as it is)") from error
    _check_life(player, list(_moments_in_rounds(player, task, np.random.default_rng(seed))))
    first, second = (list(play(task, player, rng=np.random.default_rng(seed))) for _ in range(2))
    demand(first == second, of(player), "played two different games in the same circumstances", "leave chance to act")


class _Moment(NamedTuple):
    """A mind after an observation, its answers to `act` (and `predict`), and the action drawn."""

    observation: Any
    mind: AnyMind
    hash: int
    options: Mapping[str, Options]
    says: Mapping[str, Distribution[Any]]
    action: Any


@dataclass(frozen=True)
class _Anybody:
    """A mind that takes any legal action."""

    policies: tuple[Distribution[Any], ...]
    t: int = -1

    def observe(self, _obs: Any, /) -> _Anybody:
        return replace(self, t=self.t + 1)

    def act(self) -> Distribution[Any]:
        return self.policies[self.t]


def _moments_in_world(
    mind: AnyMind,
    world: AnyWorld,
    agent: str,
    partners: Mapping[str, AnyMind],
    lapse: float,
    steps: int,
    rng: np.random.Generator,
) -> Iterator[_Moment]:
    """The moments of a mind that plays `agent` in one episode of at most `steps` steps.

    Agents without a mind in `partners` act at random. At most `lapse` of a policy may be on illegal actions.
    """
    starts = (world.start(rng) for _ in range(DRAWS))
    state = next((state for state in starts if not world.done(state)), None)
    for _ in range(steps if state is not None else 0):
        if world.done(state):
            return
        partners = {name: partner.observe(world.observe(state, name)) for name, partner in partners.items()}
        mind = _after_observing(mind, observation := world.observe(state, agent))
        moment = _checked(observation, mind, {"act": world.actions(state, agent)}, lapse, rng)
        yield moment
        free = {name: Categorical.uniform(world.actions(state, name)) for name in world.agents}
        policies = {**free, **{name: partner.act() for name, partner in partners.items()}}
        joint = {name: policy.sample(rng) for name, policy in policies.items()} | {agent: moment.action}
        state = world.step(state, joint, rng)


def _moments_in_rounds(player: Reader, task: Task, rng: np.random.Generator) -> Iterator[_Moment]:
    """The moments of a player in all rounds of a task, against the task's partner."""
    payoff = task.game.payoff()
    partner, observation = task.partner.start, None
    options = dict(zip(("act", "predict"), (tuple(range(n)) for n in payoff.shape), strict=True))
    for _ in range(task.horizon):
        player = _after_observing(player, observation)
        moment = _checked(observation, player, options, 0.0, rng)
        yield moment
        done = partner.act().sample(rng)
        observation = Outcome(int(moment.action), done, float(payoff[moment.action, done]))
        partner = partner.observe(mirrored(task.game, observation))


def _after_observing(mind: Any, obs: Any) -> Any:
    """The mind after an observation. Raises ConformanceError if that is no mind."""
    after = mind.observe(obs)
    broken = f"{short(after)} is no mind"
    demand(hasattr(after, "act"), of(mind, "observe"), broken, "return the mind as it is after the observation")
    return after


def _checked(view: Any, mind: Any, options: Mapping[str, Options], lapse: float, rng: np.random.Generator) -> _Moment:
    """A mind's answers after an observation, checked one by one, and an action drawn from its policy.

    `options` has, for each question (`act`, `predict`), the actions that may be answered, None if they are not known.
    """
    check_hashable(of(mind), mind)
    says = {ask: getattr(mind, ask)() for ask in options}
    for ask, policy in says.items():
        subject, legal = of(mind, ask), options[ask]
        scores = hasattr(policy, "log_prob") and hasattr(policy, "sample")
        demand(scores, subject, f"{short(policy)} is no distribution", "return a Categorical of actions")
        table = isinstance(policy, Categorical)
        demand(table or ask != "predict", subject, f"{short(policy)} is no table", "return a Categorical")
        if isinstance(policy, Categorical):
            total = sum(policy.probs)
            mend = "build tables with Categorical.from_scores, which makes them add up to 1"
            demand(abs(total - 1.0) <= CLOSE, subject, f"probabilities add up to {total:.6g}", mend)
        if legal is not None:
            mass = sum(math.exp(policy.log_prob(option)) for option in legal)
            broken = f"{mass:.6g} of 1 is on what may be done, {short(legal)}"
            demand(1.0 - lapse - CLOSE <= mass <= 1.0 + CLOSE, subject, broken, "spread 1 over that alone")
    action = says["act"].sample(rng)
    proper = math.isfinite(says["act"].log_prob(action)) and action in (options["act"] or (action,))
    broken = f"it drew {short(action)}, which may not be done or has no chance"
    demand(proper, of(mind, "act"), broken, "let `sample` draw by `log_prob` from what may be done")
    moment = _Moment(view, mind, hash(mind), options, says, action)
    _demand_same(moment, mind, "two answers to one question", "leave chance to `sample`")
    return moment


def _demand_same(moment: _Moment, mind: Any, broken: str, mend: str) -> None:
    """The mind must give the same answers as at that moment."""
    for ask, policy in moment.says.items():
        answer = getattr(mind, ask)()
        tables = [p.support for p in (policy, answer) if isinstance(p, Categorical)]
        points = [x for support in tables for x in support] or moment.options["act"] or (moment.action,)
        pairs = ((policy.log_prob(x), answer.log_prob(x)) for x in points)
        alike = all(math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) for a, b in pairs)
        demand(alike, of(mind, ask), broken, mend)


def _check_life(mind: AnyMind, life: Sequence[_Moment]) -> None:
    """Check the requirements on a mind over time."""
    if not life:
        raise ValueError("there is nothing for the mind to observe")
    for moment in life:
        broken = "a mind changed when it, or what came of it, observed more"
        demand(hash(moment.mind) == moment.hash, of(mind), broken, FROZEN)
        _demand_same(moment, moment.mind, broken, FROZEN)
    twin: Any = mind
    for moment in life:
        twin = twin.observe(moment.observation)
        broken = "the same observations made two different minds"
        _demand_same(moment, twin, broken, "it may depend on nothing else; give it a seed when it is made")
        alike = twin != moment.mind or hash(twin) == moment.hash
        demand(alike, of(mind), "equal minds have different hashes", "hash what is compared")
    # an observer that considers this mind and one that takes any action must not rule this mind out
    may = (moment.options["act"] for moment in life)
    free = (Categorical.uniform(options) if options else None for options in may)
    rival = _Anybody(tuple(policy or moment.says["act"] for policy, moment in zip(free, life, strict=True)))
    watched = Observer[AnyMind].over([mind, rival]).see(life[0].observation)
    for moment, after in pairwise(life):
        watched = watched.watch(moment.action, after.observation)
        probability = watched.ask(lambda candidate: isinstance(candidate, _Anybody)).prob(False)
        broken = f"watched, it is itself with a probability of {probability:.1g}"
        demand(probability >= VANISHED, of(mind, "act"), broken, "let `sample` draw by `log_prob`")

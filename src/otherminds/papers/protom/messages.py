"""Messages for any world: what could be suggested is listed, its effects are forecast by running minds forward.

    suggestion = Suggestion("Ben", "Ana", errand=RationalAgent(world, "Ben", "switch"), words="press the switch")
    messages = RolledOutMessages(world, [suggestion])

`DoorsKeysGemsAdvice` and `OvercookedAdvice` know shortcuts of their worlds, and forecast the same faster.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.errors import InputError, unknown
from otherminds.mind import NONE_OF_THESE, GoalDirected, WithErrand, without_finished_errand
from otherminds.papers.protom.episodes import A, S, Status
from otherminds.planning.joint import NEVER, finishing_steps
from otherminds.planning.state_graph import resting_action
from otherminds.world import World

ROLLOUTS = 20  # forecasts that are averaged where there is chance; chosen, not tuned
LONGEST = 500  # steps after which a forecast of an errand gives up; chosen, not tuned


@dataclass(frozen=True)
class Suggestion(Generic[A]):
    """What a facilitator could suggest: that `helper` runs an errand from which `friend` gains.

    errand: a mind of the helper whose only goal is what is asked for. words: what is asked for, such as `press the
    switch`.
    """

    helper: str
    friend: str
    errand: GoalDirected[A]
    words: str


class _Forecast(NamedTuple):
    """All that decides how a forecast goes on: the state, and each agent's mind, None if it stands still."""

    state: Any
    minds: tuple[GoalDirected[Any] | None, ...]


@dataclass(frozen=True, eq=False)
class RolledOutMessages(Generic[S, A]):
    """`Messages` of any world: suggestions, and their effects in rollouts of the world itself (ProToM eq. 13 and 14).

    In a forecast every agent takes the most probable action of its mind, the earliest among equals. Where the world
    draws random numbers, or a mind's policy is no `Categorical`, steps are the mean of `rollouts` forecasts, rounded;
    all messages are forecast with the same random numbers. An agent that wants none of these stands still as
    `RationalAgent` says, or takes the first of its actions if it cannot.

    Raises InputError for a suggestion with an agent that is not in the world or an errand that is no mind.
    """

    world: World[S, Any, A]
    suggestions: Sequence[Suggestion[A]]
    rollouts: int = ROLLOUTS
    _steps: dict[_Forecast, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)
    _means: dict[tuple[_Forecast, int], tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)
    _modes: dict[GoalDirected[A], A] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.suggestions, Suggestion):
            raise InputError("a single suggestion is no list of them", hint="write [suggestion]")
        object.__setattr__(self, "suggestions", tuple(self.suggestions))
        for suggestion in self.suggestions:
            for agent in (suggestion.helper, suggestion.friend):
                if agent not in self.world.agents:
                    raise unknown("agent", agent, self.world.agents)
            if not hasattr(suggestion.errand, "observe"):
                hint = f"give a mind of {suggestion.helper}, such as RationalAgent(world, {suggestion.helper!r}, goal)"
                raise InputError(f"the errand `{suggestion.errand}` of a suggestion is no mind", hint=hint)

    def candidates(self, state: S) -> list[Suggestion[A]]:
        """The suggestions whose errand is neither done nor out of the helper's reach."""
        return [suggestion for suggestion in self.suggestions if self.status(state, suggestion) == "running"]

    def helper(self, message: Suggestion[A]) -> str:
        """The agent that is asked to run the errand."""
        return message.helper

    def friend(self, message: Suggestion[A]) -> str:
        """The agent that is to gain from it."""
        return message.friend

    def errand(self, state: S, message: Suggestion[A], mind: object = None) -> GoalDirected[A]:
        """The errand of the message, after it has seen what the helper sees of this state. `mind` is not used."""
        return message.errand.observe(self.world.observe(state, message.helper))

    def status(self, state: S, message: Suggestion[A]) -> Status:
        """`completed` if the errand has been reached, `impossible` if it is over without that, else `running`."""
        errand = self.errand(state, message)
        return "completed" if errand.reached else "impossible" if errand.over else "running"

    def effort(self, state: S, message: Suggestion[A]) -> int:
        """Steps until the errand is reached while all other agents stand still; at most LONGEST."""
        i, errand = self.world.agents.index(message.helper), self.errand(state, message)
        minds = [errand if agent == message.helper else None for agent in self.world.agents]
        return self._finish(_Forecast(state, tuple(minds)), LONGEST)[i]

    def finish(self, state: S, minds: Sequence[GoalDirected[A]], horizon: int) -> tuple[int, ...]:
        """Steps until each agent has reached its goal, running its errand first if it has one; at most `horizon`.

        The minds have seen this state. An agent that wants none of these counts as done.
        """
        return self._finish(_Forecast(state, tuple(map(_remaining, minds))), horizon)

    def _finish(self, start: _Forecast, horizon: int) -> tuple[int, ...]:
        """`finish` from a forecast: exact if no random number is drawn, else the mean of rollouts."""
        if (start, horizon) in self._means:
            return self._means[start, horizon]
        first, is_exact = self._rolled_out(start, horizon, seed=0)
        if is_exact:
            return first
        rows = [first, *(self._rolled_out(start, horizon, seed)[0] for seed in range(1, self.rollouts))]
        self._means[start, horizon] = tuple([round(float(mean)) for mean in np.mean(rows, axis=0)])
        return self._means[start, horizon]

    def _rolled_out(self, start: _Forecast, horizon: int, seed: int) -> tuple[tuple[int, ...], bool]:
        """Steps until each agent is done in one rollout, at most `horizon`, and whether no random number was drawn.

        If none was drawn, a forecast that repeats itself never ends, and what remains from each state on the way is
        remembered: all of it, or only what ends within a horizon that was too short.
        """
        rng = np.random.default_rng(seed)
        unused, new_steps, passed = rng.bit_generator.state, dict[_Forecast, tuple[int, ...]](), set[_Forecast]()

        def advance(now: _Forecast) -> tuple[int, _Forecast]:
            if self.world.done(now.state):
                return NEVER, now
            passed.add(now)
            after = self._after(now, rng)
            repeats = after in passed and rng.bit_generator.state == unused
            return NEVER if repeats else 1, after

        steps = finishing_steps(start, ChainMap(new_steps, self._steps), _are_done, advance, horizon)
        is_exact = rng.bit_generator.state == unused
        if is_exact:
            was_cut = len(new_steps) > horizon
            self._steps.update((now, s) for now, s in new_steps.items() if not was_cut or NEVER not in s)
        return tuple([min(s, horizon) for s in steps]), is_exact

    def _after(self, now: _Forecast, rng: np.random.Generator) -> _Forecast:
        """The forecast a step later."""
        world, minds = self.world, dict(zip(self.world.agents, now.minds, strict=True))
        joint = {agent: self._action(now.state, agent, mind, rng) for agent, mind in minds.items()}
        after = world.step(now.state, joint, rng)
        remaining = [
            None if mind is None else _remaining(mind.observe(world.observe(after, agent)))
            for agent, mind in minds.items()
        ]
        return _Forecast(after, tuple(remaining))

    def _action(self, state: S, agent: str, mind: GoalDirected[A] | None, rng: np.random.Generator) -> A:
        """The action that an agent is forecast to take."""
        if mind is None:
            options = self.world.actions(state, agent)
            resting = resting_action(self.world, state, agent, options)
            return options[0] if resting is None else resting
        if mind not in self._modes:
            policy = mind.act()
            if not isinstance(policy, Categorical):
                return policy.sample(rng)
            self._modes[mind] = policy.mode
        return self._modes[mind]

    def explain(
        self,
        state: S,
        message: Suggestion[A],
        *,
        friends: Sequence[str],
        goal: Hashable | None,
        sure: bool,
        needed: bool,
        saves: float,
    ) -> str:
        """The suggestion and its reason, these fields of `Reason`, as far as it is believed."""
        they, steps = " and ".join(friends), f"about {round(saves)} step{'s' * (round(saves) != 1)}"
        benefit = f"{they} cannot get there without your help" if needed else f"this should save {steps}"
        if friends[0] == message.helper:
            reason = f"This should save you {steps}."
        elif goal is not None:
            reason = f"I believe {friends[0]}'s goal is {goal}, and {benefit}."
        elif sure:
            reason = f"Whatever {they} want{'s' * (len(friends) == 1)}, {benefit}."
        else:
            reason = f"I am not sure what {they} want{'s' * (len(friends) == 1)}, but {benefit}."
        return f"{message.helper}, please {message.words}. {reason}"

    def address(self, message: Suggestion[A]) -> str:
        """The suggestion with the name of its helper, such as `Ben: press the switch`."""
        return f"{message.helper}: {message.words}"


def _remaining(mind: GoalDirected[A]) -> GoalDirected[A] | None:
    """The mind without an errand that is over; None if then nothing is known that it would do."""
    mind = without_finished_errand(mind)
    return None if mind.goal == NONE_OF_THESE and not isinstance(mind, WithErrand) else mind


def _are_done(forecast: _Forecast) -> tuple[bool, ...]:
    """Whether each agent has reached its goal, or wants none of these."""
    return tuple([mind is None or mind.reached or mind.goal == NONE_OF_THESE for mind in forecast.minds])

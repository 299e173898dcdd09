"""Conformance of worlds: pure rules over hashable states. Also how every check reports a violation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.errors import shortened
from otherminds.world import World

LONGEST = 80  # characters of a repr in a message
FROZEN = "make it a frozen dataclass or a NamedTuple, of tuples instead of lists"


class ConformanceError(AssertionError):
    """A violated requirement, in one line: `subject: what is wrong (how to fix it)`."""


def demand(holds: bool, subject: str, broken: str, mend: str) -> None:
    """Raise ConformanceError unless `holds`."""
    if not holds:
        raise ConformanceError(f"{subject}: {broken} ({mend})")


def of(thing: object, part: str = "") -> str:
    """The name of the type, or of one of its parts, for a message."""
    return f"{type(thing).__name__}.{part}" if part else type(thing).__name__


def short(thing: object) -> str:
    """The repr in one line of at most LONGEST characters."""
    return shortened(" ".join(repr(thing).split()), LONGEST)


def check_hashable(subject: str, thing: object) -> None:
    """Raise ConformanceError if `thing` is unhashable."""
    try:
        hash(thing)
    except TypeError as error:
        raise ConformanceError(f"{subject}: {error} ({FROZEN})") from None


def check_methods(thing: object, **parameters: str) -> None:
    """Raise ConformanceError unless `thing` is an object with these methods, each with its parameters as in a def."""
    name = thing.__name__ if isinstance(thing, type) else ""
    demand(not name, name, "it is a class", f"check an object, {name}(...)")
    for method, names in parameters.items():
        positional, _, keywords = names.partition("*, ")
        call = f"{method}({names})"
        function = getattr(thing, method, None)
        demand(callable(function), of(thing), f"it has no method {call}", "define it")
        try:
            signature = inspect.signature(function)  # type: ignore[arg-type]
            signature.bind(*filter(None, positional.split(", ")), **dict.fromkeys(filter(None, keywords.split(", "))))
        except TypeError as error:
            raise ConformanceError(f"{of(thing, method)}: {error} (define it as {call})") from None
        except ValueError:  # what is written in C may not say what it takes
            continue


DRAWS = 20  # initial states drawn to find one that is not done yet
AnyWorld = World[Any, Any, Any]
METHODS = {
    "start": "rng",
    "actions": "state, agent",
    "step": "state, joint, rng",
    "observe": "state, agent",
    "reward": "state, joint, after",
    "done": "state",
}


def check_world(world: AnyWorld, *, seed: int = 0, steps: int = 200) -> None:
    """Check in `steps` steps of random play that a world is pure rules over hashable states.

    All methods of a world are there. Agents are a tuple of different names. States and observations are hashable and
    equal by value. Equal generators give equal states, and nothing else is random. `step` changes neither its state nor
    the joint action. Before the end every agent has an action. Rewards are finite numbers, one for each agent. An
    illegal action raises ValueError or leads to a lawful state. All answers are the same when asked again. If the world
    has words for actions, `vocabulary` is the inverse of `spell`; if it has `outcomes`, each gives the next state a
    probability above 0. Raises ConformanceError for the first requirement that is violated.
    """
    check_methods(world, **METHODS)
    agents: Any = getattr(world, "agents", None)
    are_names = isinstance(agents, tuple) and all(isinstance(agent, str) for agent in agents)
    broken = f"{short(agents)} is no tuple of different names"
    demand(are_names and 0 < len(agents) == len(set(agents)), of(world, "agents"), broken, "name each agent once")
    turns = list(_turns(world, seed, steps))
    all_actions = tuple(dict.fromkeys(action for turn in turns for options in turn.facts.actions for action in options))
    for turn in reversed(turns):
        _check_refusal(world, turn, all_actions)
        _check_same_answers(world, turn.state, turn.facts, "it remembers what happened in between")
        after = world.step(turn.state, turn.joint, np.random.default_rng(turn.seed))
        demand(after == turn.after, of(world, "step"), "the world remembers what was played", "keep it in the state")


class _StateFacts(NamedTuple):
    """A world's answers about a state; fields are named like the methods asked."""

    done: bool
    actions: tuple[tuple[Any, ...], ...]
    observe: tuple[Hashable, ...]


class _Turn(NamedTuple):
    """One step of random play: its seed, the state before with its facts, the joint action, and the state after."""

    seed: tuple[int, int]
    state: Any
    facts: _StateFacts
    joint: Mapping[str, Any]
    after: Any


def _turns(world: AnyWorld, seed: int, steps: int) -> Iterator[_Turn]:
    """Random play of some steps, each checked as far as it can be checked alone; episodes follow one another."""
    rng = np.random.default_rng(seed)
    state, facts = _first_state(world, seed, 0)
    for t in range(1, steps + 1):
        if facts.done:
            state, facts = _first_state(world, seed, t)
        actions = [options[rng.integers(len(options))] for options in facts.actions]
        joint = dict(zip(world.agents, actions, strict=True))
        after = _step(world, state, facts, joint, (seed, t))
        reward, same_reward = (world.reward(state, joint, after) for _ in range(2))
        is_complete = isinstance(reward, Mapping) and reward.keys() == set(world.agents)
        mend = "return a dict with a finite number for every agent, and for nobody else"
        proper = is_complete and all(map(math.isfinite, reward.values()))
        demand(proper, of(world, "reward"), f"it is {short(reward)}", mend)
        broken, mend = "two answers for the same step", "let it depend on the step alone"
        demand(reward == same_reward, of(world, "reward"), broken, mend)
        spell, vocabulary = getattr(world, "spell", None), getattr(world, "vocabulary", None)
        if spell is not None and vocabulary is not None:
            for words, action in ((spell(action), action) for action in actions):
                broken = f"{short(words)} does not stand for {short(action)}"
                demand(vocabulary.get(words) == action, of(world, "vocabulary"), broken, "let it invert `spell`")
        if hasattr(world, "outcomes"):
            law = world.outcomes(state, joint)
            proper = isinstance(law, Categorical) and law.prob(after) > 0.0
            broken = f"`step` gives {short(after)}, to which it gives no probability"
            demand(proper, of(world, "outcomes"), broken, "return a Categorical over all states that `step` can give")
        yield _Turn((seed, t), state, facts, joint, after)
        state, facts = after, _answers_twice(world, after)


def _first_state(world: AnyWorld, seed: int, t: int) -> tuple[Any, _StateFacts]:
    """The first of DRAWS initial states that is not done, with its facts."""
    for draw in range(DRAWS):
        first, second = (world.start(np.random.default_rng((seed, t, draw))) for _ in range(2))
        state = _checked_draw(of(world, "start"), first, second)
        facts = _answers_twice(world, state)
        if not facts.done:
            return state, facts
    broken = f"it is over before it begins, {DRAWS} times"
    raise ConformanceError(f"{of(world, 'done')}: {broken} (check a world in which there is something to do)")


def _checked_draw(subject: str, first: Any, second: Any) -> Any:
    """The state, if it equals the second draw."""
    demand(first is not None, subject, "it returned None", "return a state")
    check_hashable(subject, first)
    mend = "draw from the generator alone, and let states be equal by value"
    demand(first == second and hash(first) == hash(second), subject, "equal generators gave different states", mend)
    return first


def _answers(world: AnyWorld, state: Any) -> _StateFacts:
    """The world's answers about a state, each of them checked. Raises ConformanceError."""
    done, observations = world.done(state), tuple(world.observe(state, agent) for agent in world.agents)
    demand(isinstance(done, bool | np.bool_), of(world, "done"), f"{short(done)} is no bool", "return True or False")
    check_hashable(of(world, "observe"), observations)
    actions = []
    for agent in () if done else world.agents:
        options, subject = world.actions(state, agent), of(world, "actions")
        check_hashable(subject, options)
        proper = isinstance(options, tuple) and 0 < len(options) == len(set(options))
        broken = f"{short(options)} is no tuple of different actions for {agent}"
        demand(proper, subject, broken, "return a tuple, with an action at least until the world is done")
        actions.append(options)
    return _StateFacts(bool(done), tuple(actions), observations)


def _answers_twice(world: AnyWorld, state: Any) -> _StateFacts:
    """The facts of a new state, asked twice."""
    facts = _answers(world, state)
    _check_same_answers(world, state, facts, "it may depend on nothing but the state, and draw nothing")
    return facts


def _check_same_answers(world: AnyWorld, state: Any, facts: _StateFacts, mend: str) -> None:
    """Raise ConformanceError, with `mend` as the way to fix it, if the world now answers otherwise about a state."""
    for name, before, after in zip(_StateFacts._fields, facts, _answers(world, state), strict=True):
        demand(before == after, of(world, name), "two answers for the same state", mend)


def _step(world: AnyWorld, state: Any, facts: _StateFacts, joint: Mapping[str, Any], seed: tuple[int, int]) -> Any:
    """The next state, computed twice; the first time must change neither the state nor the joint action."""
    subject, before, joint_copy = of(world, "step"), (hash(state), repr(state)), dict(joint)
    after = world.step(state, joint_copy, np.random.default_rng(seed))
    same = (hash(state), repr(state)) == before and _answers(world, state) == facts
    demand(same, subject, "it changed the state it was given", "return a new one")
    demand(joint_copy == joint, subject, "it changed the joint action it was given", "leave it alone")
    return _checked_draw(subject, after, world.step(state, joint_copy, np.random.default_rng(seed)))


def _check_refusal(world: AnyWorld, turn: _Turn, all_actions: Sequence[Any]) -> None:
    """Let one agent take an action that is legal elsewhere but not here."""
    place = turn.seed[1] % len(world.agents)
    strange = [action for action in all_actions if action not in turn.facts.actions[place]]
    if not strange:
        return
    joint = {**turn.joint, world.agents[place]: strange[turn.seed[1] % len(strange)]}
    try:
        world.step(turn.state, joint, np.random.default_rng(turn.seed))
    except ValueError:
        return
    except Exception as error:
        fault = f"{type(error).__name__} for {short(joint)}, which may not be done"
        raise ConformanceError(f"{of(world, 'step')}: {fault} (raise ValueError, or let it have no effect)") from error
    _step(world, turn.state, turn.facts, joint, turn.seed)

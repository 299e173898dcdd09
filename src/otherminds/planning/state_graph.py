"""The states of a world that can be reached, and where one agent's actions lead while the others act as stated."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError, shortened
from otherminds.mind import Mind
from otherminds.planning.expansion import Expansion
from otherminds.planning.policy_iteration import Transitions
from otherminds.world import World

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
Floats = NDArray[np.float64]

MOST_STATES = 200_000  # states of one graph; chosen: they take seconds and hundreds of MB
SAMPLES = 100  # draws that stand for what `step` may lead to: standard errors of at most 0.05; chosen
START_SAMPLES = 1_000  # draws that stand for where the world may start: standard errors of at most 0.016; chosen
RESTING = ("wait", "stay", "rest", "noop", "no-op", "pass")  # names of actions by which an agent stands still
LONGEST = 80  # characters of a state or an action in an error


class _WatchedGenerator(np.random.Generator):
    """A generator that knows whether it has been used: a world that draws nothing is deterministic."""

    used = False

    def __getattribute__(self, name: str) -> Any:
        if name != "used":
            self.used = True
        return super().__getattribute__(name)


class StateGraph(Generic[S, A]):
    """The states that can be reached, numbered, and what each action of the agent leads to.

    Each of the `others` takes an action or follows a mind that has observed the present state alone; agents that are
    not listed stand still. Probabilities are exact if the world has a method `outcomes(state, joint)` that returns a
    Categorical of next states, or if `step` draws nothing. Else `samples` draws of `step` stand for them.
    """

    def __init__(
        self,
        world: World[S, Any, A],
        agent: str,
        others: frozenset[tuple[str, Mind[Any, A] | A]] = frozenset(),
        samples: int = SAMPLES,
        most_states: int = MOST_STATES,
    ) -> None:
        """Nothing is explored yet."""
        self.world, self.agent, self.others, self.samples = world, agent, dict(others), samples
        self.companions = tuple(name for name in world.agents if name != agent)
        self.states: list[S] = []
        self.index: dict[S, int] = {}  # the number of each state
        self.options: list[tuple[A, ...]] = []  # what the agent may do in each of the states that are expanded
        self._joints: dict[tuple[A, ...], int] = {}  # numbers of joint actions, the agent's own last
        # by row, and one more: the end of its outcomes; by state, and one more: its first row
        self._ends, self._first = array("i", [0]), array("i", [0])
        self._after, self._chance, self._joint = array("i"), array("d"), array("i")  # by outcome
        self._alike: dict[Hashable, list[int]] = {}
        self._compiled: Transitions | None = None
        self.most_states = most_states
        self._expansion: Expansion | None = None
        bits = np.random.PCG64(0)
        self._rng, self._watched = np.random.Generator(bits), _WatchedGenerator(bits)

    # Rules

    def moves(self, state: S) -> Iterator[tuple[A, list[tuple[dict[str, A], S, float]]]]:
        """Every action in a state, with each joint action and next state that it may mean, and its probability.

        There is none once the world is done.
        """
        if self.world.done(state):
            return
        companies = list(self._companies(state))
        for action in self.world.actions(state, self.agent):
            outcomes = []
            for company, share in companies:
                joint = {**company, self.agent: action}
                outcomes += [(joint, after, share * p) for after, p in self._next_states(state, joint) if p > 0.0]
            yield action, outcomes

    def _companies(self, state: S) -> Iterator[tuple[Mapping[str, A], float]]:
        """What the others may do together, with its probability."""
        for choice in product(*(self._policy(state, companion) for companion in self.companions)):
            actions = (action for action, _ in choice)
            yield dict(zip(self.companions, actions, strict=True)), math.prod(chance for _, chance in choice)

    def _policy(self, state: S, companion: str) -> list[tuple[A, float]]:
        """What one of the others does in a state. Raises InputError if that is unknown or illegal."""
        legal = tuple(self.world.actions(state, companion))
        if companion in self.others:
            plan = self.others[companion]
            policy = [(plan, 1.0)]
            if hasattr(plan, "act"):
                mind = cast("Mind[Any, A]", plan).observe(self.world.observe(state, companion))
                policy = [(action, p) for action, p in cast("Categorical[A]", mind.act()) if p > 0.0]
        else:
            rest = resting_action(self.world, state, companion, legal)
            if rest is None:
                hint = f"give others={{{companion!r}: …}}, an action or a mind, or the world passive(state, agent)"
                raise InputError(f"it is unknown what {companion} does, which has no action to wait", hint=hint)
            policy = [(rest, 1.0)]
        for action, _ in policy:
            if action not in legal:
                hint = f"let `others` take legal actions, here {short(legal)}"
                raise InputError(f"{companion} cannot do {short(action)} in the state {short(state)}", hint=hint)
        return cast("list[tuple[A, float]]", policy)

    def _next_states(self, state: S, joint: Mapping[str, A]) -> Iterable[tuple[S, float]]:
        """P(s′ | s, joint action)."""
        if outcomes := getattr(self.world, "outcomes", None):
            return cast("Categorical[S]", outcomes(state, joint))
        self._watched.used = False
        after = self.world.step(state, joint, self._watched)
        if not self._watched.used:
            return ((after, 1.0),)
        return Categorical.uniform(
            [after, *(self.world.step(state, joint, self._rng) for _ in range(self.samples - 1))]
        )

    # Views

    @cached_property
    def sees_states(self) -> bool:
        """Whether what the agent observes is the state, judged by one state at the start."""
        state = self.world.start(np.random.default_rng(0))
        return bool(self.world.observe(state, self.agent) == state)

    @cached_property
    def starts(self) -> Categorical[S]:
        """Where the world may start: START_SAMPLES draws stand for that if it is random."""
        self._watched.used = False
        state = self.world.start(self._watched)
        if not self._watched.used:
            return point_mass(state)
        return Categorical.uniform([state, *(self.world.start(self._rng) for _ in range(START_SAMPLES - 1))])

    def seen_as(self, obs: Hashable) -> list[int]:
        """The numbers of all states in which this is what the agent observes."""
        for number in range(sum(map(len, self._alike.values())), len(self.states)):
            self._alike.setdefault(self.world.observe(self.states[number], self.agent), []).append(number)
        return self._alike.get(obs, [])

    # States

    def explore(self, states: Iterable[S]) -> None:
        """Number these states and all that can be reached from them.

        Raises InputError if there are too many, or if one is unhashable.
        """
        for state in states:
            self._number(state)
        if len(self.options) < len(self.states) and self._expansion is None:
            hint = "give a higher `most_states`, or `depth` to look only some steps ahead, or make the world smaller"
            self._expansion = Expansion(self.most_states, hint=hint)
        while len(self.options) < len(self.states):
            self._expand(self.states[len(self.options)])

    def _number(self, state: S) -> int:
        """The number of a state, the next one if it is new."""
        try:
            number = self.index.setdefault(state, len(self.states))
        except TypeError as error:
            hint = "make states frozen dataclasses or NamedTuples, of tuples instead of lists"
            raise InputError(f"the state {short(state)} of {type(self.world).__name__}: {error}", hint=hint) from None
        if number == len(self.states):
            self.states.append(state)
        return number

    def _expand(self, state: S) -> None:
        """Add all actions in a state; nothing if there is an error."""
        cast("Expansion", self._expansion).count()
        moves = dict(self.moves(state))
        numbers = [self._number(after) for outcomes in moves.values() for _, after, _ in outcomes]
        self._after.extend(numbers)
        for outcomes in moves.values():
            for joint, _, chance in outcomes:
                self._joint.append(self._joints.setdefault(tuple(joint.values()), len(self._joints)))
                self._chance.append(chance)
            self._ends.append(len(self._chance))
        self._first.append(len(self._ends) - 1)
        self.options.append(tuple(moves))

    # Arrays

    @property
    def transitions(self) -> Transitions:
        """All that has been explored, as arrays."""
        if self._compiled is None or len(self._compiled.first) < len(self._first):
            rows = len(self._ends) - 1
            entries = np.array(self._chance), np.array(self._after), np.array(self._ends)
            matrix = csr_array(entries, shape=(rows, len(self.states)))
            self._compiled = Transitions(matrix, np.array(self._first, dtype=np.intp), len(self._after) == rows)
        return self._compiled

    def rows(self, state: S) -> slice:
        """The rows of the actions in a state that has been explored."""
        number = self.index[state]
        return slice(self._first[number], self._first[number + 1])

    def by_outcome(self) -> Iterator[tuple[int, float, S, Mapping[str, A], S]]:
        """Every outcome: its row and probability, the state, the joint action, and the next state."""
        names = (*self.companions, self.agent)
        joints, row = [dict(zip(names, joint, strict=True)) for joint in self._joints], 0
        for state, options in zip(self.states, self.options, strict=True):
            for _ in options:
                for k in range(self._ends[row], self._ends[row + 1]):
                    yield row, self._chance[k], state, joints[self._joint[k]], self.states[self._after[k]]
                row += 1


def resting_action(world: World[S, Any, A], state: S, agent: str, options: tuple[A, ...]) -> A | None:
    """What an agent does to stand still: what the world's method `passive(state, agent)` says, if there is one.

    Else it is the only one of its options, or the first that is named like one of RESTING, or None.
    """
    if passive := getattr(world, "passive", None):
        return cast("A", passive(state, agent))
    if len(options) == 1:
        return options[0]
    spell = getattr(world, "spell", str)
    return next((action for action in options if spell(action).lower() in RESTING), None)


def short(thing: object) -> str:
    """The repr in one line of at most LONGEST characters."""
    return shortened(" ".join(repr(thing).split()), LONGEST)

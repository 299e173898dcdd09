"""Finite-state machines that play repeated games: their type, ways to build them, and JSON files of them.

    {"machines": {"Tit For Tat": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [0, 1]]}}}

In a file a machine starts in state 0. `output` has the name or first letter of an action for each state; `next` has a
state for each action of the other, or in games of three or more for each joint action of the others, in lexicographic
order. `about`, `licence` and `source` may say where the machines come from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, product
from math import prod
from operator import itemgetter
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from otherminds.distribution import IMPOSSIBLE, Categorical, point_mass
from otherminds.errors import InputError, faults, shortened
from otherminds.files import strict_json
from otherminds.files.text import read_text
from otherminds.planning.best_response import Chances
from otherminds.worlds.map_file import bundled_text
from otherminds.worlds.repeated_games.rules import Game, Outcome

SAME = 1e-6  # probabilities that differ by less are equal: rounding
Law = tuple[float, ...]
Q = TypeVar("Q", bound=Hashable)


@dataclass(frozen=True)
class Machine:
    """A finite-state transducer: `π(a | q) = outputs[q][a]`, then `q′ = moves[q][own action][others' joint action]`.

    Shapes: `outputs` states × own actions, `moves` states × own actions × joint actions of the others. The initial
    state is 0. (The partner π⁻ⁱ of Riemer et al., §2.2.)
    Raises ValueError if an output is not a distribution or a move leads to a missing state.
    """

    name: str
    outputs: tuple[Law, ...]
    moves: tuple[tuple[tuple[int, ...], ...], ...]

    def __repr__(self) -> str:
        states = len(self.outputs)
        return f"Machine({shortened(self.name, 60)}, {states} state{'s' * (states != 1)})"

    def __post_init__(self) -> None:
        """Check the shapes. Raises ValueError as said above."""
        if not self.outputs or not all(law and min(law) >= 0 and abs(sum(law) - 1.0) <= 1e-9 for law in self.outputs):
            raise ValueError(f"{self.name}: every state needs a distribution over actions")
        options = len(self.outputs[0])
        replies = len(self.moves[0][0]) if self.moves and self.moves[0] else 0
        shapes = [[len(to) for to in row] for row in self.moves]
        if any(len(law) != options for law in self.outputs) or shapes != [[replies] * options] * len(self.outputs):
            raise ValueError(f"{self.name}: every state needs the same actions, and moves for each of them")
        if any(not 0 <= q < len(self.outputs) for row in self.moves for to in row for q in to):
            raise ValueError(f"{self.name}: a move leads to a missing state")

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def minds(self) -> tuple[Partner, ...]:
        """One mind for each state of the machine."""
        return tuple(Partner(self, q) for q in range(len(self.outputs)))

    @property
    def start(self) -> Partner:
        """The mind before the first round."""
        return self.minds[0]

    @cached_property
    def policies(self) -> tuple[Categorical[int], ...]:
        """π(· | q) for each state q."""
        return tuple(
            point_mass(law.index(1.0))
            if max(law) == 1.0
            else Categorical(tuple(range(len(law))), tuple(float(np.log(p)) if p else IMPOSSIBLE for p in law))
            for law in self.outputs
        )

    @cached_property
    def chances(self) -> Chances:
        """The machine as arrays from the opponent's side, for planning."""
        return Chances(np.array(self.outputs), np.ascontiguousarray(np.array(self.moves).transpose(0, 2, 1)))

    @property
    def deterministic(self) -> bool:
        """Whether every output is certain."""
        return all(max(law) == 1.0 for law in self.outputs)

    def trembling(self, noise: float) -> Machine:
        """The machine with uniformly random actions with probability `noise`; its state follows the actual action.

        Raises ValueError if the noise is not a probability.
        """
        if not 0.0 <= noise <= 1.0:
            raise ValueError(f"a noise of {noise} is not a probability")
        laws = tuple(tuple((1.0 - noise) * p + noise / len(law) for p in law) for law in self.outputs)
        return Machine(f"{self.name}~{noise:g}", laws, self.moves) if noise else self


class Partner(NamedTuple):
    """A machine in one of its states, as a mind."""

    machine: Machine
    state: int

    def observe(self, outcome: Outcome | None) -> Partner:
        """The machine in its next state; unchanged before the first round."""
        if outcome is None:
            return self
        return self.machine.minds[self.machine.moves[self.state][outcome.own][outcome.theirs]]

    def act(self) -> Categorical[int]:
        """π(· | q)."""
        return self.machine.policies[self.state]


def build(
    name: str,
    game: Game,
    start: Q,
    act: Callable[[Q], int | Law],
    follow: Callable[[Q, int, int], Q],
    *,
    agent: int = 1,
    shape: tuple[int, ...] | None = None,
) -> Machine:
    """The machine of agent i with initial state `start`, output function `act` and transition function `follow`.

    States may be any hashable values; `follow(state, own, theirs)` is called for all that can be reached. `shape` are
    the numbers of own actions and of joint actions of the others, if they are not those of the agent.
    Raises ValueError for an action outside the game.
    """
    options, their_options = shape or game.payoff(agent).shape
    index, states = {start: 0}, [start]
    outputs: list[Law] = []
    moves: list[tuple[tuple[int, ...], ...]] = []
    for state in states:  # new states are appended on the way
        outputs.append(_as_law(name, act(state), options))
        onward = [[follow(state, own, theirs) for theirs in range(their_options)] for own in range(options)]
        for following in chain.from_iterable(onward):
            if following not in index:
                index[following] = len(index)
                states.append(following)
        moves.append(tuple(tuple(index[following] for following in row) for row in onward))
    return Machine(name, tuple(outputs), tuple(moves))


def equivalent(first: Machine, second: Machine) -> bool:
    """Whether two machines have the same output after every history that is possible for them."""
    frontier, visited = [(0, 0)], {(0, 0)}  # pairs of states that the same history can lead to
    while frontier:
        p, q = frontier.pop()
        if not np.allclose(first.outputs[p], second.outputs[q], rtol=0.0, atol=SAME):
            return False
        possible = [own for own, chance in enumerate(first.outputs[p]) if chance > SAME]
        after = {pair for own in possible for pair in zip(first.moves[p][own], second.moves[q][own], strict=True)}
        frontier += sorted(after - visited)
        visited |= after
    return True


@lru_cache(maxsize=4096)
def canonical(machine: Machine) -> tuple[tuple[Law, ...], tuple[tuple[tuple[int, ...], ...], ...]]:
    """Outputs and moves of the smallest machine that acts alike after every history, its states in order of discovery.

    Equal for machines that act alike even after own actions that have probability 0.
    """
    # `kind[q]` is the class of state q: at first states with the same output, in the end states that act alike
    labels: dict[object, int] = {}
    kind = [labels.setdefault(law, len(labels)) for law in machine.outputs]
    count, followers = 0, [itemgetter(*chain.from_iterable(rows)) for rows in machine.moves]
    while count < len(labels):  # refine until states of a kind have moves of the same kinds
        count, labels = len(labels), {}
        signatures = [(own, following(kind)) for own, following in zip(kind, followers, strict=True)]
        kind = [labels.setdefault(signature, len(labels)) for signature in signatures]
    numbers, representatives = {kind[0]: 0}, [0]  # of each class, its new number and one of its states
    for q in representatives:  # new states are appended on the way
        for to in chain.from_iterable(machine.moves[q]):
            if kind[to] not in numbers:
                numbers[kind[to]] = len(numbers)
                representatives.append(to)
    moves = tuple(tuple(tuple(numbers[kind[to]] for to in row) for row in machine.moves[q]) for q in representatives)
    return tuple(machine.outputs[q] for q in representatives), moves


def together(game: Game, machines: Sequence[Machine]) -> Machine:
    """Several partners as one machine that plays their joint action; machine i is agent i + 1 of the game.

    P(b | q) = Π_i π_i(b_i | q_i). Raises ValueError unless there is one machine for each agent but the first.
    """
    if len(machines) != len(game.agents) - 1:
        raise ValueError(f"{game.name} needs {len(game.agents) - 1} partners, not {len(machines)}")
    sizes = game.shape[1:]

    def act(states: tuple[int, ...]) -> Law:
        laws = [machine.outputs[q] for machine, q in zip(machines, states, strict=True)]
        return tuple(prod(law) for law in product(*laws))

    def follow(states: tuple[int, ...], own: int, theirs: int) -> tuple[int, ...]:
        joint = (theirs, *map(int, np.unravel_index(own, sizes)))
        moves = (machine.moves[q] for machine, q in zip(machines, states, strict=True))
        return tuple(move[joint[i]][game.others(i, joint)] for i, move in enumerate(moves, 1))

    name = " + ".join(machine.name for machine in machines)
    return build(name, game, (0,) * len(machines), act, follow, shape=game.payoff(0).shape[::-1])


def _as_law(name: str, choice: int | Law, options: int) -> Law:
    """The distribution over `options` actions for an action or a distribution: action 1 of 2 is (0.0, 1.0).

    Raises ValueError for an action that does not exist.
    """
    if isinstance(choice, tuple):
        return choice
    if not 0 <= choice < options:
        raise ValueError(f"{name}: {choice} is not one of {options} actions")
    return tuple(float(action == choice) for action in range(options))


def constant(game: Game, action: int, *, agent: int = 1) -> Machine:
    """Always plays one action (the paper's single action). Raises ValueError for an action outside the game."""
    if not 0 <= action < len(game.actions[agent]):
        raise ValueError(f"{action} is not one of {len(game.actions[agent])} actions")
    name = f"always {game.actions[agent][action]}"
    return build(name, game, (), lambda _: action, lambda q, _own, _theirs: q, agent=agent)


def periodic(name: str, game: Game, actions: Sequence[int], *, agent: int = 1) -> Machine:
    """Plays a sequence of actions in a cycle. Raises ValueError for an empty sequence."""
    if not actions:
        raise ValueError(f"{name}: needs at least one action")
    return build(name, game, 0, lambda t: actions[t], lambda t, _own, _theirs: (t + 1) % len(actions), agent=agent)


def memory_one(
    name: str, game: Game, first: int | Law, replies: Sequence[Sequence[int | Law]], *, agent: int = 1
) -> Machine:
    """Plays `first`, then `replies[own action][others' joint action]` of the last round."""
    return memory(name, game, 1, lambda h: replies[h[0][0]][h[0][1]] if h else first, agent=agent)


def reactive(name: str, game: Game, first: int | Law, replies: Sequence[int | Law], *, agent: int = 1) -> Machine:
    """Plays `first`, then `replies[others' joint action]` of the last round.

    Raises ValueError unless there is one reply to each joint action.
    """
    if len(replies) != game.payoff(agent).shape[1]:
        raise ValueError(f"{name}: needs {game.payoff(agent).shape[1]} replies, not {len(replies)}")
    start: int | None = None
    return build(
        name, game, start, lambda q: first if q is None else replies[q], lambda _q, _own, theirs: theirs, agent=agent
    )


def memory(
    name: str, game: Game, rounds: int, policy: Callable[[tuple[tuple[int, int], ...]], int | Law], *, agent: int = 1
) -> Machine:
    """Plays `policy(((own, theirs), …))` of the last `rounds` rounds, the latest last; fewer at first.

    Raises ValueError if `rounds` is below 1.
    """
    if rounds < 1:
        raise ValueError(f"{name}: a memory of {rounds} rounds")
    history: tuple[tuple[int, int], ...] = ()
    return build(name, game, history, policy, lambda h, own, theirs: (*h, (own, theirs))[-rounds:], agent=agent)


def all_reactive(game: Game) -> Iterator[Machine]:
    """All deterministic reactive machines; first actions vary slowest."""
    options, their_options = game.payoff(1).shape
    for first, *replies in product(range(options), repeat=1 + their_options):
        yield reactive(f"reactive {first}{''.join(map(str, replies))}", game, first, replies)


def all_memory_one(game: Game) -> Iterator[Machine]:
    """All deterministic memory-one machines, by first action and replies to all pairs of actions."""
    options, their_options = game.payoff(1).shape
    for first, *table in product(range(options), repeat=1 + options * their_options):
        replies = [table[own * their_options : (own + 1) * their_options] for own in range(options)]
        yield memory_one(f"memory-one {first}{''.join(map(str, table))}", game, first, replies)


LETTERS = ("C", "D")  # names of the two actions in the bundled file
MAX_STATES = 1000  # most states of a machine in a file; bounds time


class _MachineEntry(BaseModel, extra="forbid", strict=True):
    """One entry of a file: by state its output, and its next state for each action of the others."""

    states: Annotated[int, Field(ge=1, le=MAX_STATES)]
    output: list[str]
    next: list[list[int]]


class _MachineFile(BaseModel, extra="forbid", strict=True):
    """A file of machines by name."""

    about: str = ""
    licence: str = ""
    source: str = ""
    machines: Annotated[dict[str, _MachineEntry], Field(min_length=1)]


def read_machines(path: Path, game: Game) -> tuple[Machine, ...]:
    """Read machines for the second place in a game, in the order of the file.

    Raises InputError with the line of malformed JSON, or the name of an invalid machine.
    """
    return _parse_machines(read_text(path), path, game, game.actions[1])


def bundled_machines(game: Game) -> tuple[Machine, ...]:
    """The bundled strategies of the Axelrod library, for any 2 × 2 game of two agents.

    C and D are the first and the second action. Raises InputError for any other game.
    """
    if game.shape != (2, 2):
        raise InputError(f"the bundled machines do not fit {game.name}", hint="it must be 2 × 2")
    return _parse_machines(*bundled_text("repeated_games", "ipd_machines.json"), game, LETTERS)


def _parse_machines(text: str, path: Path, game: Game, actions: Sequence[str]) -> tuple[Machine, ...]:
    """The machines of a JSON text; errors name `path`. `actions` are the names that outputs may have, by index."""
    strict_json.parse(text, path)
    try:
        machines = _MachineFile.model_validate_json(text).machines
    except ValidationError as error:
        fault = faults(error)[0]
        message = fault["msg"].replace(" after validation", "")
        key, *rest = (str(part)[:60] for part in fault["loc"]) if fault["loc"] else ("",)
        if key != "machines" or not rest:
            raise InputError(f"`{key}`: {message}" if key else message, path=path) from None
        inner = ".".join(rest[1:])
        message = f"`{inner}`: {message}" if inner else message
        raise InputError(f"machine `{rest[0]}`: {message}", path=path) from None
    return tuple(_machine_of(name, machine, path, game, actions) for name, machine in machines.items())


def _machine_of(name: str, table: _MachineEntry, path: Path, game: Game, actions: Sequence[str]) -> Machine:
    """The machine of one entry of a file. Raises InputError that says what in the entry is wrong."""

    def wrong(message: str, hint: str) -> InputError:
        return InputError(f"machine `{name[:60]}`: {message}", path=path, hint=hint)

    if not name.strip() or not name.isprintable():
        raise wrong("this is not a name", "names have printable characters")
    for key, entries in (("output", table.output), ("next", table.next)):
        if len(entries) != table.states:
            raise wrong(f"`{key}` has {len(entries)} entries", f"one for each of {table.states} states")
    for q, onward in enumerate(table.next):
        if len(onward) != game.payoff(1).shape[1]:
            raise wrong(f"`next.{q}` has {len(onward)} entries", f"one for each of {_reacts_to(game)}")
        if not all(0 <= to < table.states for to in onward):
            raise wrong(f"`next.{q}` leads to a missing state", f"states are 0 to {table.states - 1}")
    outputs = []
    for q, word in enumerate(table.output):
        # the name of an action, or else its first letter
        matches = [a for a, action in enumerate(actions) if action == word]
        matches = matches or [a for a, action in enumerate(actions) if action[:1] == word]
        if len(matches) != 1:
            raise wrong(f"`output.{q}`: {word[:60]} is not one action", f"write {', '.join(actions)}")
        outputs += matches
    return build(name, game, 0, outputs.__getitem__, lambda q, _own, theirs: table.next[q][theirs])


def _reacts_to(game: Game) -> str:
    """What an agent in the second place reacts to: the actions of the other, or joint actions of all others."""
    if len(game.agents) == 2:
        return ", ".join(game.actions[0])
    names = ", ".join(name for i, name in enumerate(game.agents) if i != 1)
    return f"the {game.payoff(1).shape[1]} joint actions of {names}"

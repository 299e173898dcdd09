"""Partners with finite memory: machines whose next action depends on a state that follows what everybody did."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np

from otherminds.distribution import Categorical
from otherminds.planning.best_response import Chances
from otherminds.worlds.repeated_games.rules import Game, Outcome

SAME = 1e-6
Law = tuple[float, ...]
Q = TypeVar("Q", bound=Hashable)


@dataclass(frozen=True)
class Machine:
    """A finite-state transducer: `π(a | q) = outputs[q][a]`, then `q′ = moves[q][own action][action of the others]`.

    Shapes: `outputs` states × own actions, `moves` states × own actions × actions of the others, as indices. It starts
    in state 0. The partner π⁻ⁱ of Riemer et al. (§2.2).
    Raises ValueError if an output is no distribution or a move leads nowhere.
    """

    name: str
    outputs: tuple[Law, ...]
    moves: tuple[tuple[tuple[int, ...], ...], ...]

    def __post_init__(self) -> None:
        if not self.outputs or not all(law and min(law) >= 0 and abs(sum(law) - 1.0) <= 1e-9 for law in self.outputs):
            raise ValueError(f"{self.name}: every state needs a distribution over actions")
        options, others = len(self.outputs[0]), len(self.moves[0][0]) if self.moves and self.moves[0] else 0
        shapes = [[len(to) for to in row] for row in self.moves]
        if any(len(law) != options for law in self.outputs) or shapes != [[others] * options] * len(self.outputs):
            raise ValueError(f"{self.name}: every state needs the same actions, and moves for each of them")
        if any(not 0 <= q < len(self.outputs) for row in self.moves for to in row for q in to):
            raise ValueError(f"{self.name}: a move leads to a state that is not there")

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def minds(self) -> tuple[Partner, ...]:
        """A mind for every state of the machine."""
        return tuple(Partner(self, q) for q in range(len(self.outputs)))

    @property
    def start(self) -> Partner:
        """The mind before the first round."""
        return self.minds[0]

    @cached_property
    def policies(self) -> tuple[Categorical[int], ...]:
        """π(· | q) for every state q."""
        return tuple(
            point(max(range(len(law)), key=law.__getitem__)) if max(law) == 1.0 else _law(law) for law in self.outputs
        )

    @cached_property
    def chances(self) -> Chances:
        """The machine as whoever plays against it sees it, for planning."""
        return Chances(np.array(self.outputs), np.ascontiguousarray(np.array(self.moves).transpose(0, 2, 1)))

    @property
    def deterministic(self) -> bool:
        """Whether nothing is left to chance."""
        return all(max(law) == 1.0 for law in self.outputs)

    def trembling(self, noise: float) -> Machine:
        """The same machine, choosing uniformly at random with probability `noise`; it knows what it did.

        Raises ValueError if the noise is no probability.
        """
        if not 0.0 <= noise <= 1.0:
            raise ValueError(f"a noise of {noise} is no probability")
        laws = tuple(tuple((1.0 - noise) * p + noise / len(law) for p in law) for law in self.outputs)
        return Machine(f"{self.name}~{noise:g}", laws, self.moves) if noise else self


class Partner(NamedTuple):
    """A machine in one of its states: a mind, π(a | q) and q′ as the machine has them."""

    machine: Machine
    state: int

    def observe(self, outcome: Outcome | None) -> Partner:
        """The machine in the state that follows; nothing follows from nothing, before the first round."""
        if outcome is None:
            return self
        return self.machine.minds[self.machine.moves[self.state][outcome.own][outcome.theirs]]

    def act(self) -> Categorical[int]:
        """The distribution over its next action."""
        return self.machine.policies[self.state]


def point(action: int) -> Categorical[int]:
    """The distribution that is certain of an action."""
    return Categorical((action,), (0.0,))


def _law(law: Law) -> Categorical[int]:
    return Categorical(tuple(range(len(law))), tuple(float(np.log(p)) if p else -np.inf for p in law))


def build(
    name: str,
    game: Game,
    start: Q,
    act: Callable[[Q], int | Law],
    follow: Callable[[Q, int, int], Q],
    *,
    agent: int = 1,
) -> Machine:
    """The machine that agent i is who starts in a state, acts by it, and follows what it and the others do.

    `follow(state, own, theirs)` may use any hashable states; those that can be reached are numbered.
    Raises ValueError for an action outside the game.
    """
    return _numbered(name, game.payoff(agent).shape, start, act, follow)


def _numbered(
    name: str,
    sizes: tuple[int, ...],
    start: Q,
    act: Callable[[Q], int | Law],
    follow: Callable[[Q, int, int], Q],
) -> Machine:
    index: dict[Q, int] = {start: 0}
    outputs: list[Law] = []
    moves: list[tuple[tuple[int, ...], ...]] = []
    for state in _growing(index):
        outputs.append(_as_law(name, act(state), sizes[0]))
        onward = [[follow(state, own, theirs) for theirs in range(sizes[1])] for own in range(sizes[0])]
        moves.append(tuple(tuple(index.setdefault(q, len(index)) for q in row) for row in onward))
    return Machine(name, tuple(outputs), tuple(moves))


def alike(one: Machine, other: Machine) -> bool:
    """Whether two machines play alike after every history that is possible for them, whatever their states are."""
    edge, seen = [(0, 0)], {(0, 0)}
    while edge:
        p, q = edge.pop()
        if not np.allclose(one.outputs[p], other.outputs[q], rtol=0.0, atol=SAME):
            return False
        possible = [own for own, chance in enumerate(one.outputs[p]) if chance > SAME]
        after = {pair for own in possible for pair in zip(one.moves[p][own], other.moves[q][own], strict=True)}
        edge += sorted(after - seen)
        seen |= after
    return True


def together(game: Game, machines: Sequence[Machine]) -> Machine:
    """Several partners as one, who chooses their joint action: machine i is agent i + 1 of the game, agent 0 plays.

    P(b | q) = Π_i π_i(b_i | q_i). Raises ValueError if there is not one machine for everybody else.
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
    return _numbered(name, game.payoff(0).shape[::-1], (0,) * len(machines), act, follow)


def _growing(index: dict[Q, int]) -> Iterator[Q]:
    """All keys of a dictionary, with those that are added on the way."""
    done = 0
    while done < len(index):
        for state in list(index)[done:]:
            done += 1
            yield state


def _as_law(name: str, choice: int | Law, options: int) -> Law:
    if isinstance(choice, tuple):
        return choice
    if not 0 <= choice < options:
        raise ValueError(f"{name}: {choice} is not one of {options} actions")
    return tuple(float(action == choice) for action in range(options))


def constant(game: Game, action: int, *, agent: int = 1) -> Machine:
    """Always the same action: the paper's single action partner. Raises ValueError for an action outside the game."""
    if not 0 <= action < len(game.actions[agent]):
        raise ValueError(f"{action} is not one of {len(game.actions[agent])} actions")
    name = f"always {game.actions[agent][action]}"
    return build(name, game, (), lambda _: action, lambda q, _own, _theirs: q, agent=agent)


def periodic(name: str, game: Game, actions: Sequence[int], *, agent: int = 1) -> Machine:
    """The same actions over and over. Raises ValueError if there are none."""
    if not actions:
        raise ValueError(f"{name}: needs at least one action")
    return build(name, game, 0, lambda t: actions[t], lambda t, _own, _theirs: (t + 1) % len(actions), agent=agent)


def memory_one(
    name: str, game: Game, first: int | Law, replies: Sequence[Sequence[int | Law]], *, agent: int = 1
) -> Machine:
    """What it does depends on the last round: `replies[own action][action of the others]`, and `first` before."""
    return memory(name, game, 1, lambda h: replies[h[0][0]][h[0][1]] if h else first, agent=agent)


def reactive(name: str, game: Game, first: int | Law, replies: Sequence[int | Law], *, agent: int = 1) -> Machine:
    """What it does depends on what the others did in the last round: `replies[action of the others]`.

    Raises ValueError if there is not one reply to each of them.
    """
    if len(replies) != game.payoff(agent).shape[1]:
        raise ValueError(f"{name}: needs {game.payoff(agent).shape[1]} replies, not {len(replies)}")
    start: int | None = None
    return build(
        name, game, start, lambda q: first if q is None else replies[q], lambda _q, _own, theirs: theirs, agent=agent
    )


def memory(
    name: str,
    game: Game,
    rounds: int,
    policy: Callable[[tuple[tuple[int, int], ...]], int | Law],
    *,
    agent: int = 1,
) -> Machine:
    """What it does depends on the last k rounds: `policy(((own, theirs), …))`, the latest last; fewer at first.

    Raises ValueError if k is not at least 1.
    """
    if rounds < 1:
        raise ValueError(f"{name}: a memory of {rounds} rounds")
    history: tuple[tuple[int, int], ...] = ()
    return build(name, game, history, policy, lambda h, own, theirs: (*h, (own, theirs))[-rounds:], agent=agent)


def all_reactive(game: Game, *, agent: int = 1) -> Iterator[Machine]:
    """Every deterministic reactive machine, first actions varying slowest."""
    options, others = game.payoff(agent).shape
    for first, *replies in product(range(options), repeat=1 + others):
        yield reactive(f"reactive {first}{''.join(map(str, replies))}", game, first, replies, agent=agent)


def all_memory_one(game: Game, *, agent: int = 1) -> Iterator[Machine]:
    """Every deterministic memory-one machine, by first action and replies to all pairs of actions."""
    options, others = game.payoff(agent).shape
    for first, *table in product(range(options), repeat=1 + options * others):
        replies = [table[own * others : (own + 1) * others] for own in range(options)]
        yield memory_one(f"memory-one {first}{''.join(map(str, table))}", game, first, replies, agent=agent)


def random_machines(
    game: Game, number: int, states: int, rng: np.random.Generator, *, agent: int = 1
) -> Iterator[Machine]:
    """Deterministic machines drawn at random: 2 to `states` states, uniform outputs and moves that ignore own slips."""
    options, others = game.payoff(agent).shape
    for i in range(number):
        size = int(rng.integers(2, states + 1))
        outputs = rng.integers(options, size=size)
        moves = rng.integers(size, size=(size, others))
        laws = tuple(_as_law("random", int(action), options) for action in outputs)
        yield Machine(f"random {i}", laws, tuple((tuple(row),) * options for row in moves.tolist()))

"""Families of partners in two parts, one to train with and one held out, and what it matters to know a partner.

The part of a machine follows from what it does: machines that act alike are in the same part, in all families and in
all games of one shape, whatever their names. A rule that is held out is therefore also held out with slips or after a
change, and training can meet no partner of the held-out part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError, unknown
from otherminds.evaluation.engines import stream
from otherminds.evaluation.tasks import ROUNDING, Task
from otherminds.planning.best_response import value_of
from otherminds.worlds.repeated_games import partners
from otherminds.worlds.repeated_games.machines import SAME, Machine, build, bundled_machines
from otherminds.worlds.repeated_games.players.learning_machines import fictitious_player, forgetful_player, q_learner
from otherminds.worlds.repeated_games.players.structured_machines import structured_machines
from otherminds.worlds.repeated_games.rules import Game

Part = Literal["train", "held-out"]
PARTS: tuple[Part, ...] = ("train", "held-out")
RULE_ROUNDS = 10  # rounds by which rules are told apart, and the fewest of an episode; chosen
MOST_ROUNDS = 1000  # of an episode; bounds time and memory
HELD_OUT = 4  # one rule in so many is held out; chosen
SEED = 2026  # of the families that are drawn at random
DRAWN = 240  # machines of such a family, before it is divided; chosen
NOISES = (0.05, 0.1)  # probabilities of a random action in the family of partners that slip; chosen
CHANGES = (5, 8, 12, 16)  # rounds before a change of rule; chosen
RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)  # learning rates; chosen
EXPLORATION = (0.02, 0.05, 0.1, 0.2)  # ε of Q-learners; chosen
COUNTED = 40  # rounds that fictitious play counts; bounds the size of its machine
CELLS = 300  # most states of a Q-learner; bounds time


def rule_digest(machine: Machine) -> bytes:
    """SHA-256 of a machine's most probable actions in its first rounds, for all that the other may do in them.

    Equal for machines that act alike, and for a machine with and without slips.
    """

    @cache
    def digest(q: int, rounds: int) -> bytes:
        if not rounds:
            return b""
        law, moves = machine.outputs[q], machine.moves[q]
        likely = [action for action, p in enumerate(law) if p > max(law) - SAME]
        after = (digest(to, rounds - 1) for own in likely for to in moves[own])
        return sha256(bytes(likely) + b"".join(after)).digest()

    return digest(0, RULE_ROUNDS)


def part_of(machine: Machine) -> Part:
    """The part of a machine by the digest of its rule: about one rule in four is held out."""
    return "held-out" if rule_digest(machine)[0] % HELD_OUT == 0 else "train"


def changing(game: Game, before: Machine, after: Machine, rounds: int) -> Machine:
    """A partner that follows one machine for some rounds and another one from then on; both observe all rounds."""

    def follow(q: tuple[int, int, int], own: int, theirs: int) -> tuple[int, int, int]:
        """The next state (rounds played, up to the change; the states of both machines, the first up to the change)."""
        t = min(q[0] + 1, rounds)
        return t, before.moves[q[1]][own][theirs] if t < rounds else 0, after.moves[q[2]][own][theirs]

    name = f"{before.name}, then {after.name} from round {rounds + 1}"
    return build(
        name, game, (0, 0, 0), lambda q: before.outputs[q[1]] if q[0] < rounds else after.outputs[q[2]], follow
    )


def _slipping(game: Game) -> Iterator[Machine]:
    for machine, noise in product(partners.memory_one(game), NOISES):
        yield machine.trembling(noise)


def _changing(game: Game) -> Iterator[Machine]:
    """Memory-one rules that are in one part, alone and one after the other."""
    rng = np.random.default_rng(SEED)
    for part in PARTS:
        rules = family("memory-one", game, part)
        for _ in range(DRAWN // 2):
            before, after = (rules[int(i)] for i in rng.integers(len(rules), size=2))
            machine = changing(game, before, after, int(rng.choice(CHANGES)))
            if part_of(machine) == part:
                yield machine


def _learning(game: Game) -> Iterator[Machine]:
    options, their_options = game.payoff(1).shape
    levels = min(15, int(CELLS ** (1.0 / options)))
    for rate, explore in product(RATES, EXPLORATION):
        learner = q_learner(game, rate=rate, explore=explore, levels=levels)
        yield Machine(f"{learner.name}, exploring {explore:g}", learner.outputs, learner.moves)
    if their_options == 2:
        yield fictitious_player(game, COUNTED)
        yield from (forgetful_player(game, rate=rate) for rate in RATES)


FAMILIES: Mapping[str, Callable[[Game], Iterator[Machine]]] = {
    "memory-one": lambda game: iter(partners.memory_one(game)),
    "structured": lambda game: structured_machines(game, DRAWN, np.random.default_rng(SEED)),
    "axelrod": lambda game: iter(bundled_machines(game)),
    "slipping": _slipping,
    "changing": _changing,
    "learning": _learning,
}
"""Memory-one or reactive rules, structured machines, Axelrod's strategies, rules that slip or change, and learners."""
TWO_BY_TWO = ("structured", "axelrod")


def family(name: str, game: Game, part: Part) -> tuple[Machine, ...]:
    """The partners of a family in a part, in a fixed order.

    Raises InputError for an unknown family or part, and for one that cannot play the game.
    """
    if name not in FAMILIES:
        raise unknown("family of partners", name, FAMILIES)
    if part not in PARTS:
        raise unknown("part", part, PARTS)
    if name in TWO_BY_TWO and game.shape != (2, 2):
        raise InputError(f"the family {name} cannot play {game.name}", hint="it plays 2 × 2 games")
    members = _divided(name, game)[part]
    if not members:
        raise InputError(f"no partner of the family {name} is in the part {part} for {game.name}")
    return members


@lru_cache(maxsize=256)
def _divided(name: str, game: Game) -> Mapping[Part, tuple[Machine, ...]]:
    parts = [(part_of(machine), machine) for machine in FAMILIES[name](game)]
    return {part: tuple(machine for its_part, machine in parts if its_part == part) for part in PARTS}


def tasks(name: str, game: Game, part: Part, rounds: int) -> tuple[Task, ...]:
    """A task for each partner of a family in a part, but those with which all play earns the same.

    Raises InputError for too many rounds, or fewer than tell the parts apart, and what `family` raises.
    """
    if not RULE_ROUNDS <= rounds <= MOST_ROUNDS:
        raise InputError(f"an episode has {RULE_ROUNDS} to {MOST_ROUNDS:,} rounds, not {rounds}")
    return _tasks(name, game, part, rounds)


@lru_cache(maxsize=256)
def _tasks(name: str, game: Game, part: Part, rounds: int) -> tuple[Task, ...]:
    every = (Task(game, machine, rounds) for machine in family(name, game, part))
    return tuple(task for task in every if task.optimum - task.uniform > ROUNDING)


def drawn(name: str, game: Game, part: Part, rounds: int, seed: int) -> Task:
    """The task of a partner that the seed draws from a family.

    Raises InputError for a seed below 0, and as `tasks` does.
    """
    if seed < 0:
        raise InputError(f"a seed is a whole number from 0 on, not {seed}")
    members = tasks(name, game, part, rounds)
    return members[int(stream(seed, "partner", name, part).integers(len(members)))]


def stakes(members: Sequence[Task]) -> NDArray[np.float64]:
    """What it matters to know each partner: the reward that the best fixed action over all of them forgoes with it.

    1 − (value of always a⁎ − U) / (V − U), where the action a⁎ has the highest mean of that ratio over the tasks; V is
    the optimum and U uniform play's value. Shape (tasks,).
    """
    rewards = np.array([_fixed_rewards(task) for task in members])
    return 1.0 - rewards[:, rewards.mean(axis=0).argmax()]


def _fixed_rewards(task: Task) -> NDArray[np.float64]:
    """The expected reward of always playing each action, shape (actions,)."""
    payoff, partner = task.game.payoff(), task.partner.chances
    policy = np.zeros((task.horizon, len(partner.outputs)), dtype=np.intp)
    values = np.array([value_of(policy + action, payoff, partner) for action in range(len(payoff))])
    return (values - task.uniform) / (task.optimum - task.uniform)

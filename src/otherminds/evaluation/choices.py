"""What people did in games, with bandits and offers: arrays of all matches, simulated people, crowds of minds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.mind import ParametricMind
from otherminds.worlds.bandits.rules import Bandit, Pulled
from otherminds.worlds.offers.rules import Division
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.in_vectors import Ints
from otherminds.worlds.repeated_games.players.parametric import payoffs_of
from otherminds.worlds.repeated_games.rules import Game, Outcome

Floats = NDArray[np.float64]
NEAREST = 20  # recorded rewards among which one is drawn for a simulated person; chosen
UNPLAYED = -1  # number of the rounds after the end of a match
Task = Game | Bandit | Division
"""What a person faces: a repeated game, a bandit, or a role in a game of offers."""


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of N people in S matches of at most T rounds: of a game, a bandit, or offers.

    `person[s]` is the index in `people` of match s, `games[s]` what that person faces. `own`, shape (S, T), are the
    actions chosen, MISSED where no move was made, and where a match has ended; `executed` are the actions carried out,
    None if these are the chosen ones. What was seen of a round are the partner's actions `theirs`, or the `rewards`
    of a bandit. `divisions`, shape (S, T, |A|, R, 3), are what the options of an offer paid (see `Division`). `number`
    are the rounds' numbers in the table, UNPLAYED after the end of a match. `groups[n]` is the group of person n, such
    as a treatment or the partner, and `covariates` are further columns by person.
    """

    people: tuple[str, ...]
    groups: tuple[str, ...]
    person: Ints
    games: tuple[Task, ...]
    own: Ints
    theirs: Ints
    number: Ints
    executed: Ints | None = None
    rewards: Floats | None = None
    divisions: Floats | None = None
    covariates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def played(self) -> NDArray[np.bool_]:
        """The rounds that there were, shape (S, T)."""
        return cast("NDArray[np.bool_]", self.number != UNPLAYED)

    @property
    def done(self) -> Ints:
        """The actions that were carried out, shape (S, T)."""
        return self.own if self.executed is None else self.executed

    @property
    def seen(self) -> Any:
        """What a person saw of each round beside the own action, shape (S, T)."""
        return self.theirs if self.rewards is None else self.rewards

    @cached_property
    def faced(self) -> Any:
        """What crowds of minds are made for: payoffs of both agents in each match, the bandits, or the divisions."""
        if self.divisions is not None:
            return self.divisions
        return self.games if self.rewards is not None else payoffs_of(cast("tuple[Game, ...]", self.games))

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """The rounds with a likelihood term, shape (S, T): those in which a move was made."""
        return cast("NDArray[np.bool_]", self.played & (self.own != MISSED))

    @cached_property
    def earned(self) -> Floats:
        """Points of each round, shape (S, T), of offers the expected ones; 0 where no move was made."""
        matches, rounds = np.ogrid[: self.own.shape[0], : self.own.shape[1]]
        if self.rewards is not None:
            points = self.rewards
        elif self.divisions is not None:
            chosen = self.divisions[matches, rounds, np.maximum(self.done, 0)]
            points = (chosen[..., 0] * chosen[..., 1]).sum(axis=-1)
        else:
            points = self.faced[0][matches, self.done, self.theirs]
        return np.where(self.played & (self.done != MISSED), points, 0.0)

    def total(self, by_match: Floats) -> Floats:
        """Sums over the matches of each person, shape (S, …) to (N, …)."""
        totals = np.zeros((len(self.people), *by_match.shape[1:]))
        np.add.at(totals, self.person, by_match)
        return totals

    def subset(self, people: Sequence[int] | Ints) -> Choices:
        """The choices of some people, in this order; a person may be named more than once."""
        indices = np.asarray(people, dtype=np.intp)
        if np.array_equal(indices, np.arange(len(self.people))):
            return self
        matches = [np.flatnonzero(self.person == n) for n in indices]
        person = np.repeat(np.arange(len(indices)), [len(m) for m in matches])
        names, groups = (tuple(part[n] for n in indices) for part in (self.people, self.groups))
        covariates = {name: tuple(values[n] for n in indices) for name, values in self.covariates.items()}
        some = self.of_matches(np.concatenate(matches) if matches else np.array([], dtype=np.intp))
        return replace(some, people=names, groups=groups, person=person, covariates=covariates)

    def of_matches(self, which: Ints) -> Choices:
        """The same people with some of their matches only; a match may be repeated."""
        length = int(self.played[which].sum(axis=1).max(initial=1))
        arrays = {name: getattr(self, name) for name in ("own", "theirs", "number", "executed", "rewards", "divisions")}
        some = {name: array[which, :length] for name, array in arrays.items() if array is not None}
        return replace(self, person=self.person[which], games=tuple(self.games[s] for s in which), **some)

    def of_group(self, group: str) -> Choices:
        """The choices of the people of one group."""
        return self.subset([n for n, name in enumerate(self.groups) if name == group])


# Simulated people


def simulated(
    mind: ParametricMind,
    like: Choices,
    values: Mapping[str, Floats],
    rng: np.random.Generator,
    partners: Mapping[str, Machine] | None = None,
) -> Choices:
    """People with these parameters, shape (N,) each, in the place of real ones: same matches, groups and rounds.

    `partners` are the machines of the groups that they play with, from the second place of the game; without them the
    other's recorded moves are played again, whatever the simulated person does. An arm of a bandit pays what it paid
    people of the group at about the same time.
    """
    values_by_match = {name: value[like.person][:, None] for name, value in values.items()}
    minds = crowd_of(mind, like, values_by_match)
    machines = Partners.of(like, partners) if partners and like.faced is not like.divisions else None
    arms = Arms.of(like) if like.rewards is not None else None
    own_moves = np.full_like(like.own, MISSED)
    their_moves = like.theirs.copy()
    rewards = None if like.rewards is None else like.rewards.copy()
    for t in range(own_moves.shape[1]):
        policy = minds.act()[:, 0]
        actions = _sampled_actions(np.broadcast_to(policy, (len(own_moves), policy.shape[1])), rng)
        own_moves[:, t] = np.where(like.played[:, t], actions, MISSED)
        seen: Any = their_moves[:, t]
        if arms is not None and rewards is not None:
            seen = rewards[:, t] = arms.pay(actions, t, rng)
        elif machines is not None:
            seen = their_moves[:, t] = machines.act(rng)
            machines.observe(actions, their_moves[:, t])
        minds = minds.observe(own_moves[:, t], seen)
    return replace(like, own=own_moves, theirs=their_moves, rewards=rewards, executed=None)


def fitted_partners(choices: Choices) -> dict[str, Machine]:
    """For each group the machine that does what partners did after each joint action: P(b | last round), counts + 1."""
    machines = {}
    game = cast("Game", choices.games[0])
    size, moves = game.shape
    followed = tuple(tuple(1 + own * moves + theirs for own in range(size)) for theirs in range(moves))
    for group in dict.fromkeys(choices.groups):
        some = choices.of_group(group)
        counts = np.ones((1 + size * moves, moves))
        np.add.at(counts, (0, some.theirs[some.played[:, 0], 0]), 1.0)
        is_known = some.played[:, 1:] & (some.done[:, :-1] != MISSED)
        state = 1 + some.done[:, :-1] * moves + some.theirs[:, :-1]
        np.add.at(counts, (state[is_known], some.theirs[:, 1:][is_known]), 1.0)
        laws = tuple(map(tuple, (counts / counts.sum(axis=1, keepdims=True)).tolist()))
        machines[group] = Machine(f"partners of {group}", laws, (followed,) * len(laws))
    return machines


@dataclass(frozen=True)
class Arms:
    """What each arm paid each group's people, by trial: `paid[group][arm]` are trials in order, and rewards."""

    group: Sequence[str]
    paid: Mapping[str, Sequence[tuple[Ints, Floats]]]

    @classmethod
    def of(cls, choices: Choices) -> Arms:
        """The rewards that were recorded; an arm that nobody of a group chose pays like all arms together."""
        assert choices.rewards is not None
        groups = np.array([choices.groups[n] for n in choices.person])
        paid = {}
        for group in dict.fromkeys(choices.groups):
            is_seen = choices.played & (choices.done != MISSED) & (groups == group)[:, None]
            matches, trials = np.nonzero(is_seen)
            order = np.argsort(trials, kind="stable")
            arms, trials = choices.done[matches, trials][order], trials[order]
            rewards = choices.rewards[matches[order], trials]
            each = [arms == a if (arms == a).any() else arms >= 0 for a in range(choices.games[0].shape[0])]
            paid[group] = [(trials[which], rewards[which]) for which in each]
        return cls(groups.tolist(), paid)

    def pay(self, actions: Ints, trial: int, rng: np.random.Generator) -> Floats:
        """A reward for each match: one of the NEAREST that the arm paid closest to this trial."""
        rewards = np.empty(len(actions))
        for s, (group, action) in enumerate(zip(self.group, actions.tolist(), strict=True)):
            trials, paid = self.paid[group][action]
            first = max(0, min(int(np.searchsorted(trials, trial)) - NEAREST // 2, len(trials) - NEAREST))
            some = paid[first : first + NEAREST]
            rewards[s] = some[rng.integers(len(some))]
        return rewards


@dataclass
class Partners:
    """The machines of the people's groups, one for each of S matches, each in its state.

    `outputs[i, q, b]` is the probability that machine i plays action b in state q; `moves[i, q, a, b]` its next state
    after the person's action a and its own action b. `which` and `state`, shape (S,), are the machine of each match
    and its present state.
    """

    outputs: Floats
    moves: Ints
    which: Ints
    state: Ints

    @classmethod
    def of(cls, choices: Choices, machines: Mapping[str, Machine]) -> Partners:
        """The machines before the first round; `outputs` and `moves` are padded to the largest of them."""
        groups = list(machines)
        most_states = max(len(machine.outputs) for machine in machines.values())
        moves = [np.array(machine.moves) for machine in machines.values()]
        outputs = np.zeros((len(groups), most_states, len(next(iter(machines.values())).outputs[0])))
        next_states = np.zeros((len(groups), most_states, *moves[0].shape[1:]), dtype=np.intp)
        for i, machine in enumerate(machines.values()):
            outputs[i, : len(machine.outputs)], next_states[i, : len(machine.outputs)] = machine.outputs, moves[i]
        which = np.array([groups.index(choices.groups[n]) for n in choices.person])
        return cls(outputs, next_states, which, np.zeros_like(which))

    def act(self, rng: np.random.Generator) -> Ints:
        """Their next actions, shape (S,)."""
        return _sampled_actions(self.outputs[self.which, self.state], rng)

    def observe(self, theirs: Ints, own: Ints) -> None:
        """The partners after a round; `theirs` are the people's actions."""
        self.state = self.moves[self.which, self.state, own, theirs]


def _sampled_actions(policy: Floats, rng: np.random.Generator) -> Ints:
    """An action sampled from each row of `policy`, shape (S, |A|): indices of shape (S,)."""
    drawn = (policy.cumsum(axis=1) < rng.random((len(policy), 1))).sum(axis=1)
    return cast("Ints", np.minimum(drawn, policy.shape[1] - 1))


# Minds one by one, as a crowd


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Minds without a version in arrays, as a crowd: `minds[s][k]` is that of match s at parameter point k."""

    minds: tuple[tuple[Any, ...], ...]
    games: tuple[Task, ...]

    def observe(self, own: Ints, seen: Any) -> OneByOne:
        """The minds after a round."""
        rounds = [outcome(game, int(a), b) for game, a, b in zip(self.games, own, seen, strict=True)]
        minds = tuple(tuple(mind.observe(o) for mind in row) for row, o in zip(self.minds, rounds, strict=True))
        return OneByOne(minds, self.games)

    def act(self) -> Floats:
        """π, shape (S, K, |A|)."""
        options = range(self.games[0].shape[0])
        return np.array([[_probabilities(mind.act(), options) for mind in row] for row in self.minds])


@dataclass(frozen=True, eq=False)
class OfferByOffer:
    """Minds that see the divisions of each offer, shape (S, T, |A|, R, 3), before they act, as a crowd."""

    minds: tuple[tuple[Any, ...], ...]
    divisions: Floats
    trial: int = 0

    def observe(self, _own: Ints, _seen: Any) -> OfferByOffer:
        """The minds before the next offer."""
        return replace(self, trial=self.trial + 1)

    def act(self) -> Floats:
        """π, shape (S, K, |A|)."""
        options = range(self.divisions.shape[2])
        faced = self.divisions[:, self.trial]
        return np.array(
            [
                [_probabilities(mind.observe(offer).act(), options) for mind in row]
                for row, offer in zip(self.minds, faced, strict=True)
            ]
        )


def _probabilities(policy: Any, options: Iterable[int]) -> list[float]:
    return [float(np.exp(policy.log_prob(a))) for a in options]


def outcome(game: Task, own: int, seen: Any) -> Outcome | Pulled:
    """What the agent observes of a round: the other's action, or a reward; the payoff of a missed move is 0."""
    if isinstance(game, Game):
        return Outcome(own, int(seen), 0.0 if own == MISSED else float(game.payoff()[own, int(seen)]))
    return Pulled(own, 0.0 if own == MISSED else float(seen))


def crowd_of(mind: ParametricMind, choices: Choices, values: Mapping[str, Floats]) -> Any:
    """The minds before the first round, for parameters of shape (S, K) or (1, K): K points for each of S matches.

    Like `OneByOne`, the result has `observe(own, seen)`, both of shape (S,), and `act()`, π of shape (S, K, |A|).
    """
    if mind.many is not None:
        return mind.many(choices.faced, values)
    shape = np.broadcast_shapes(*(value.shape for value in values.values()), (len(choices.games), 1))
    values_by_match = {name: np.broadcast_to(value, shape) for name, value in values.items()}
    minds = tuple(
        tuple(
            mind.mind(game, **{name: float(value[s, k]) for name, value in values_by_match.items()})
            for k in range(shape[1])
        )
        for s, game in enumerate(choices.games)
    )
    if choices.divisions is not None:
        return OfferByOffer(minds, choices.divisions)
    return OneByOne(tuple(tuple(one.observe(None) for one in row) for row in minds), choices.games)

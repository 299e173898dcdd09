"""Plans against one of many machines, valued by rollout: what a plan teaches is used as a base policy would use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.planning.best_response import Chances, Floats, Ints

CERTAIN = 0.95  # probability from which on a reply is taken to be certain; chosen
DECIMALS = 9  # to which action values are rounded, so that equal ones are equal


class Plan(NamedTuple):
    """Either a fixed sequence of actions, or the best response to a hypothesis until the partner deviates from it.

    `hypothesis` is the index of that hypothesis, or −1. What follows is up to the base policies.
    """

    fixed: tuple[int, ...] = ()
    hypothesis: int = -1


def action_tables(payoff: Floats, chances: Chances, horizon: int, start: int = 0, discount: float = 1.0) -> Floats:
    """Q_t(q, a) for t = `start` … T − 1, if the machine is known; shape (T − start, states, own actions).

    Q_t(q, a) = Σ_b O[q, b] (R[a, b] + γ max Q_{t+1}(δ(q, a, b), ·)).
    """
    expected = chances.outputs @ payoff.T
    tables = np.empty((horizon - start, *expected.shape))
    values = np.zeros(len(expected))
    for t in reversed(range(horizon - start)):
        onward = np.einsum("qb,qab->qa", chances.outputs, values[chances.moves])
        tables[t] = np.round(expected + discount * onward, DECIMALS)
        values = tables[t].max(axis=1)
    return tables


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines as arrays, from the first agent's side, with the action values of each; their states are numbered."""

    chances: Chances
    expected: Floats
    likely: Ints
    tables: tuple[Floats, ...]
    starts: tuple[int, ...]
    horizon: int
    discount: float

    @classmethod
    def of(cls, payoff: Floats, chances: Chances, horizon: int, start: int = 0, discount: float = 1.0) -> Machines:
        """The machines with these states, to be met from round `start` on."""
        tables = action_tables(payoff, chances, horizon, start, discount)
        likely: Ints = chances.outputs.argmax(axis=1)
        return cls(chances, chances.outputs @ payoff.T, likely, (tables,), (start,), horizon, discount)

    def joined(self, added: Machines) -> Machines:
        """These machines, and then the others."""
        outputs = np.concatenate([self.chances.outputs, added.chances.outputs])
        moves = np.concatenate([self.chances.moves, added.chances.moves + len(self.likely)])
        return Machines(
            Chances(outputs, moves),
            np.concatenate([self.expected, added.expected]),
            np.concatenate([self.likely, added.likely]),
            (*self.tables, *added.tables),
            (*self.starts, *added.starts),
            self.horizon,
            self.discount,
        )

    def branched(self, payoff: Floats, t: int, states: Ints, weights: Floats, among: int) -> Branches:
        """Hypotheses parted by their reply in round t, if that is left to chance and decides about their next state.

        So plans see both what a learner may do next and what it would learn from that, where rollouts follow its most
        probable reply. Each branch has a new state, in which the reply is certain and what follows is the same, and
        the weight w(m) O[q, b]. Only the first `among` states of the machines are parted; t is not the last round.
        """
        outputs, moves = self.chances.outputs[states], self.chances.moves[states]
        chance = (outputs.max(axis=1) < CERTAIN) & (moves != moves[:, :, :1]).any(axis=(1, 2)) & (states < among)
        possible = np.where(outputs > 1.0 - CERTAIN, outputs, 0.0)
        unparted, (parted, reply) = np.flatnonzero(~chance), np.nonzero(chance[:, None] & (possible > 0.0))
        if not len(parted):
            return Branches(self, states, weights, np.arange(len(states)))
        moves, worth = moves[parted], payoff[:, reply].T
        after = np.take_along_axis(moves, reply[:, None, None], axis=2)[:, :, 0]
        onward = self.values(t + 1, after.ravel()).max(axis=1).reshape(after.shape)
        certain = Chances(np.eye(len(payoff.T))[reply], moves - len(self.likely))  # `joined` moves them up
        tables = ((worth + self.discount * onward)[None],)
        branches = Machines(certain, worth, reply, tables, (t,), self.horizon, self.discount)
        shares = possible[parted, reply] / possible.sum(axis=1)[parted]
        states = np.concatenate([states[unparted], len(self.likely) + np.arange(len(parted))])
        weights = np.concatenate([weights[unparted], weights[parted] * shares])
        order = np.argsort(-weights, kind="stable")
        return Branches(self.joined(branches), states[order], weights[order], np.concatenate([unparted, parted])[order])

    def values(self, t: int, states: Ints) -> Floats:
        """Q_t(q, a) in these states; one more axis, of own actions."""
        table, first_state = self.tables[0][t - self.starts[0]], len(self.tables[0][0])
        values: Floats = table[np.minimum(states, first_state - 1)]
        for added, start in zip(self.tables[1:], self.starts[1:], strict=True):
            later = states >= first_state
            if later.any():
                values[later] = added[t - start][np.minimum(states[later] - first_state, len(added[0]) - 1)]
            first_state += len(added[0])
        return values


class Branches(NamedTuple):
    """Hypotheses parted by their next reply: machines, their states, their weights, and which hypothesis each is of."""

    machines: Machines
    states: Ints
    weights: Floats
    origin: Ints


RUNS = 3  # base policies


def plan_values(
    machines: Machines, t: int, states: Ints, weights: Floats, plans: Sequence[Plan], secure: float
) -> Floats:
    """The value of each plan from round t on, Σ_m w(m) · payoff(plan, m), discounted, up to the horizon.

    `states` has the state of each hypothesis, in descending order of their `weights`. Each partner is taken to play
    its most probable action. Where a plan ends, hypotheses that have replied alike are a group, and three base policies
    are tried for it: in each round the action with the highest Σ w Q(m, a) (QMDP, Littman et al. 1995), and the best
    response to the likeliest hypothesis, or to that of the highest expected gain over the `secure` payoff per round, of
    those that still reply alike. The best one counts. (Rollout: Bertsekas, Tsitsiklis and Wu 1997.)
    """
    count = len(plans)
    replies = machines.chances.outputs.shape[1]
    fixed = np.full((count, max(len(plan.fixed) for plan in plans) + 1), -1)
    for i, plan in enumerate(plans):
        fixed[i, : len(plan.fixed)] = plan.fixed
    ends = np.array([len(plan.fixed) if plan.hypothesis < 0 else machines.horizon for plan in plans])
    commits = np.array([plan.hypothesis >= 0 for plan in plans])
    assumed = states[[max(plan.hypothesis, 0) for plan in plans]]
    true = np.broadcast_to(states, (count, len(states)))
    group = np.zeros(true.shape, dtype=np.intp)
    alive: NDArray[np.bool_] = np.ones(true.shape, dtype=bool)
    total = np.zeros(count)
    runs = _Runs(machines, weights, secure)
    for u in range(t, machines.horizon):
        ends_now = alive & (ends == u - t)[:, None]
        if ends_now.any():
            runs.begin(u, ends_now, true, group)
            alive &= ~ends_now
        discount = machines.discount ** (u - t)
        runs.step(u, discount)
        if not alive.any():
            if runs.done:
                break
            continue
        action = np.where(commits, machines.values(u, assumed).argmax(axis=1), fixed[:, min(u - t, fixed.shape[1] - 1)])
        total += discount * np.where(alive, machines.expected[true, action[:, None]], 0.0) @ weights
        reply, foreseen = machines.likely[true], machines.likely[assumed]
        true = machines.chances.moves[true, action[:, None], reply]
        assumed = machines.chances.moves[assumed, action, foreseen]
        group = reply if u - t >= fixed.shape[1] else np.where(commits[:, None], reply, group * replies + reply)
        deviates = alive & commits[:, None] & (reply != foreseen[:, None])
        if deviates.any() and u + 1 < machines.horizon:
            runs.begin(u + 1, deviates, true, group)
            alive &= ~deviates
    return total + runs.totals(count)


class _Runs:
    """Runs of the base policies. Each pair of a run and a hypothesis in it has an entry in all arrays."""

    def __init__(self, machines: Machines, weights: Floats, secure: float) -> None:
        """Without runs yet; `weights` are those of the hypotheses, `secure` the payoff per round that gains exceed."""
        self.machines, self.weights, self.secure = machines, weights, secure
        empty = np.zeros(0, dtype=np.intp)
        self.hypothesis = self.state = self.group = self.run = empty
        self.first = empty  # the place of the hypothesis that each group may respond to
        self.runs, self.plan_of = 0, empty
        self.paid: list[tuple[Ints, Floats]] = []

    @property
    def done(self) -> bool:
        """Whether no run is left."""
        return not len(self.hypothesis)

    def begin(self, u: int, mask: NDArray[np.bool_], states: Ints, group: Ints) -> None:
        """Begin runs in round u for each plan and group of chosen hypotheses."""
        plan, hypothesis = np.nonzero(mask)
        state, number = states[plan, hypothesis], group[plan, hypothesis]
        key = plan * (int(number.max()) + 1) + number  # one for each plan and group
        _, first_pairs, run = np.unique(key, return_index=True, return_inverse=True)
        run = run.ravel()
        gain = self.machines.values(u, state).max(axis=1) - self.secure * (self.machines.horizon - u)
        promising = np.lexsort((-gain * self.weights[hypothesis], run))
        each_pair = np.arange(len(plan))
        pairs = np.concatenate([each_pair, each_pair, promising])
        added = self.runs + RUNS * run[pairs] + np.arange(RUNS).repeat(len(plan))
        self.plan_of = np.concatenate([self.plan_of, plan[first_pairs].repeat(RUNS)])
        self.hypothesis = np.concatenate([self.hypothesis, hypothesis[pairs]])
        self.state = np.concatenate([self.state, state[pairs]])
        self.run = np.concatenate([self.run, added])
        self._regroup(np.concatenate([self.group, added + len(self.first) - self.runs]))
        self.runs += RUNS * len(first_pairs)

    def _regroup(self, key: Ints) -> None:
        _, self.first, inverse = np.unique(key, return_index=True, return_inverse=True)
        self.group = inverse.ravel()

    def step(self, u: int, discount: float) -> None:
        """Play round u in all runs; its payoffs count `discount`."""
        if self.done:
            return
        machines = self.machines
        values = machines.values(u, self.state)
        weight = discount * self.weights[self.hypothesis]
        size = np.bincount(self.group)
        is_alone = size[self.group] == 1
        if is_alone.any():  # the partner is known
            self.paid.append((self.run[is_alone], weight[is_alone] * values[is_alone].max(axis=1)))
            grouped = ~is_alone
            for name in ("hypothesis", "state", "run", "group"):
                setattr(self, name, getattr(self, name)[grouped])
            if self.done:
                return
            self._regroup(self.group)
            values, weight = values[grouped], weight[grouped]
        count = len(self.first)
        sums = np.stack([np.bincount(self.group, weight * values[:, a], count) for a in range(values.shape[1])], axis=1)
        responds = self.run[self.first] % RUNS > 0
        best = np.where(responds, values[self.first].argmax(axis=1), sums.argmax(axis=1))
        action = best[self.group]
        self.paid.append((self.run, weight * machines.expected[self.state, action]))
        reply = machines.likely[self.state]
        self.state = machines.chances.moves[self.state, action, reply]
        if (reply != reply[self.first][self.group]).any():
            self._regroup(self.group * machines.chances.outputs.shape[1] + reply)

    def totals(self, plans: int) -> Floats:
        """The payoff of the best run of each group, summed by plan."""
        worth, totals = np.zeros(self.runs), np.zeros(plans)
        for run, paid in self.paid:
            np.add.at(worth, run, paid)
        np.add.at(totals, self.plan_of[::RUNS], worth.reshape(-1, RUNS).max(axis=1))
        return totals

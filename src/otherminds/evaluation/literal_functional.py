"""Literal and functional Theory of Mind: does a subject predict its partner, and does it act on that?

One row per decision: the prediction, made before the partner's action is seen, what the partner did, the subject's
own action, its payoff, and what the optimum expects of that round. (Riemer et al., Definitions 2.1 and 2.2.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.evaluation.tasks import ROUNDING, Row, Task
from otherminds.mind import Mind
from otherminds.planning.best_response import Pool, best_response
from otherminds.worlds.repeated_games.players.best_responders import mirrored, response_to
from otherminds.worlds.repeated_games.rules import Game, Outcome

Optimum = Literal["exact", "rate"]


# Literal


def same(sequence: Sequence[int]) -> Sequence[int]:
    """φ: the actions themselves."""
    return sequence


def share_wrong(true: Sequence[Any], predicted: Sequence[Any]) -> float:
    """𝔻: the share of positions at which two sequences differ, in [0, 1]. Raises ValueError if they are empty."""
    if not true:
        raise ValueError("there is nothing to compare")
    return sum(bool(a != b) for a, b in zip(true, predicted, strict=True)) / len(true)


def literal_loss(
    rows: Sequence[Row],
    *,
    phi: Callable[[Sequence[int]], Sequence[Any]] = same,
    distance: Callable[[Sequence[Any], Sequence[Any]], float] = share_wrong,
) -> float:
    """L = 𝔻(φ(a₁ … a_T), φ(â₁ … â_T)) (Riemer et al., Definition 2.1)."""
    return distance(phi([row["observed"] for row in rows]), phi([row["predicted"] for row in rows]))


def tom_percent(rows: Sequence[Row]) -> float:
    """100 · (1 − share of rounds in which the prediction was wrong or unreadable), in %.

    ToM % of Riemer et al.: literal loss with φ the actions themselves. Raises ValueError if there are no rows.
    """
    return 100.0 * (1.0 - literal_loss(rows))


def log_score(rows: Sequence[Row]) -> float:
    """−(1/T) Σ log P(the partner's action), in nats per round; ∞ if an action had probability 0."""
    return -float(np.mean([np.log(row["p_true"]) if row["p_true"] else IMPOSSIBLE for row in rows]))


# Functional


def functional_regret(task: Task, rows: Sequence[Row], *, optimum: Optimum = "exact") -> float:
    """Δ / T = (1/T) Σ (r⁎ₜ − rₜ) (Riemer et al., Definition 2.2), r⁎ being the exact T-step optimum or the rate.

    In units of payoff per round. Raises ValueError if no policy could lose as much: then rows and task do not match.
    """
    if len(rows) != task.horizon:
        raise ValueError(f"{len(rows)} rounds of a task of {task.horizon}")
    earned: float = sum(row["reward"] for row in rows)
    # the bounds if some rounds are lost, in which the partner does not move
    lost = sum(row.get("action", 0) is None for row in rows)
    least = most = lost * float(task.game.payoff().min())
    if lost < task.horizon:
        played_task = replace(task, horizon=task.horizon - lost) if lost else task
        least, most = least + played_task.least, most + played_task.optimum
    close = ROUNDING * max(1.0, abs(most) + abs(least))
    if task.partner.deterministic and not least - close <= earned <= most + close:
        bounds = f"{least:g} and {most:g}"
        raise ValueError(f"nobody can earn {earned:g} from {task.partner.name}: it is between {bounds}")
    return ((task.optimum if optimum == "exact" else task.rate) - earned) / len(rows)


def action_losses(task: Task, rows: Sequence[Row]) -> NDArray[np.float64]:
    """V_t(q) − Q_t(q, a) of every action in each round: what it would lose of all that can still be earned.

    V and Q are the values of the best response to the partner, over the rounds that are played; in rounds without a
    readable action (NaN) the partner does not move. In units of payoff, shape (rounds, actions).
    """
    played_rounds = sum(row["action"] is not None for row in rows)
    played_task = replace(task, horizon=max(played_rounds, 1))
    losses = np.full((len(rows), len(task.game.payoff())), np.nan)
    state, t = 0, 0
    for i, row in enumerate(rows):
        if row["action"] is not None:
            losses[i] = played_task.losses(t, state)
            state, t = task.partner.moves[state][row["observed"]][row["action"]], t + 1
    return losses


def exact_losses(task: Task, rows: Sequence[Row]) -> NDArray[np.float64]:
    """V − Q of the action taken in each round, NaN where none could be read; in units of payoff, shape (rounds,).

    The expectation of their sum is that of the regret; with a partner that never slips the two are equal.
    """
    taken = [-1 if row["action"] is None else row["action"] for row in rows]
    losses: NDArray[np.float64] = action_losses(task, rows)[np.arange(len(rows)), taken]
    return losses


def costs(game: Game) -> NDArray[np.float64]:
    """The cost of a wrong prediction as the paper counts it, for each action b of the partner, in units of payoff.

    The mean of max_a R(a, b) − R(a, b) over the actions a that are no best response to b.
    """
    losses = game.payoff().max(axis=0) - game.payoff()
    wrong = losses > ROUNDING
    mean_loss: NDArray[np.float64] = losses.sum(axis=0) / np.maximum(wrong.sum(axis=0), 1)
    return mean_loss


def tom_regret_paper(task: Task, rows: Sequence[Row]) -> float:
    """ΔToM / T as in the paper's tables: a wrong prediction costs `costs` of the partner's action.

    For a partner that reacts, every wrong prediction costs the mean over its actions. In units of payoff per round.
    """
    price = costs(task.game)
    if len(task.partner.outputs) > 1:
        price = np.full_like(price, price.mean())
    return float(sum(price[row["observed"]] for row in rows if row["predicted"] != row["observed"]) / len(rows))


def process_consistency(rows: Sequence[Row]) -> float:
    """The share of rounds in which the action is a best response to the subject's own prediction, in [0, 1]."""
    return float(np.mean([row["consistent"] for row in rows]))


def interestingness(tasks: Sequence[Task]) -> float:
    """I = E[Δ(BR(π′), π″) / T] over independent draws of two partners: the cost of not knowing the partner.

    The best response to π′ is followed on the states that π′ would be in; ties go to the lowest action. In units of
    payoff per round. (Riemer et al., §2.1.)
    """
    return max(0.0, float(np.mean([misjudged(assumed, tasks) for assumed in tasks])))


def misjudged(assumed: Task, tasks: Sequence[Task]) -> NDArray[np.float64]:
    """Expected regret per round, shape (tasks,), of the best response to one partner against each other partner."""
    if not all(task.partner.deterministic for task in tasks):
        return np.array([_misjudged(assumed, task) for task in tasks])
    payoff = assumed.game.payoff()
    plan, imagined = response_to(assumed.game, assumed.partner, assumed.horizon), assumed.partner.chances.moves
    pool = Pool.of(payoff, [task.partner.chances for task in tasks], assumed.horizon)
    believed, true, earned = np.zeros(len(tasks), dtype=np.intp), pool.starts, np.zeros(len(tasks))
    for actions in plan.actions:
        own, theirs = actions[believed], pool.likely[true]
        earned += payoff[own, theirs]
        believed, true = imagined[believed, own, theirs], pool.chances.moves[true, own, theirs]
    return (np.array([task.optimum for task in tasks]) - earned) / assumed.horizon


def _misjudged(assumed: Task, true: Task) -> float:
    """The same for a stochastic partner: carries forward the distribution over pairs (believed state, true state)."""
    payoff, (outputs, moves) = true.game.payoff(), true.partner.chances
    plan, imagined = response_to(assumed.game, assumed.partner, assumed.horizon), assumed.partner.chances.moves
    weights, earned = {(0, 0): 1.0}, 0.0
    for actions in plan.actions:
        onward: dict[tuple[int, int], float] = {}
        for (p, q), weight in weights.items():
            a = int(actions[p])
            for b in range(len(payoff[a])):
                if chance := weight * float(outputs[q, b]):
                    earned += chance * float(payoff[a, b])
                    to = (int(imagined[p, a, b]), int(moves[q, a, b]))
                    onward[to] = onward.get(to, 0.0) + chance
        weights = onward
    return (true.optimum - earned) / true.horizon


# On a common scale


def normalised(task: Task, regret: float) -> float:
    """Regret per round as a share of the regret of uniformly random play: 0 is the optimum, 1 is random.

    NaN if random play loses nothing.
    """
    if task.optimum - task.uniform <= ROUNDING:
        return float("nan")
    return regret * task.horizon / (task.optimum - task.uniform)


def exact_reward(task: Task, rows: Sequence[Row]) -> float:
    """1 − Σ_t (V_t(q) − Q_t(q, a)) / (V − U) over the rounds played, V being the optimum and U uniform play's value.

    1 at the optimum, 0 on average for uniform play, and free of the partner's luck. Rounds that were not played, after
    the last row, count as if played worst, so that no policy gains by stopping early. 1 if random play loses nothing.
    """
    moves, state, lost = task.partner.moves, 0, 0.0
    for t, row in enumerate(rows):
        lost += float(task.losses(t, state)[row["action"]])
        state = moves[state][row["observed"]][row["action"]]
    if remaining_rounds := task.horizon - len(rows):
        worst = best_response(task.game.payoff(), task.partner.chances, remaining_rounds, least=True)
        best = response_to(task.game, task.partner, task.horizon)
        lost += float(best.values[len(rows), state] - worst.values[0, state])
    span = task.optimum - task.uniform
    return 1.0 - lost / span if span > ROUNDING else 1.0


def skill(regret: float, *, bayes: float, reference: float) -> float:
    """1 − (Δ − Δ_Bayes) / (Δ_reference − Δ_Bayes): 1 at the Bayes bound, 0 at the reference, for example RMax.

    NaN if the reference is at the bound.
    """
    if abs(reference - bayes) <= ROUNDING:
        return float("nan")
    return 1.0 - (regret - bayes) / (reference - bayes)


# Exactly


def expected_regret(task: Task, subject: Mind[Outcome | None, int], *, optimum: Optimum = "exact") -> float:
    """The exact expected regret per round: every branch of chance is followed, and equal pairs of minds are merged.

    E[Δ / T] of Definition 2.2 (Riemer et al.), in units of payoff. Minds are immutable and hashable, so a distribution
    over pairs of them can be carried forward in full. That is fast for minds that return to the same state, and
    exponential for minds that remember everything. Raises TypeError for a policy that is not a table.
    """
    payoff = task.game.payoff()
    pairs = {(subject.observe(None), task.partner.start): 1.0}
    earned = 0.0
    for _ in range(task.horizon):
        onward: dict[Any, float] = {}
        for (mine, theirs), weight in pairs.items():
            policy = mine.act()
            if not isinstance(policy, Categorical):
                raise TypeError("exact values need minds whose policies are tables")
            for a, p in policy:
                for b, q in theirs.act():
                    if not (chance := weight * p * q):
                        continue
                    outcome = Outcome(a, b, float(payoff[a, b]))
                    earned += chance * outcome.payoff
                    pair = (mine.observe(outcome), theirs.observe(mirrored(task.game, outcome)))
                    onward[pair] = onward.get(pair, 0.0) + chance
        pairs = onward
    return ((task.optimum if optimum == "exact" else task.rate) - earned) / task.horizon

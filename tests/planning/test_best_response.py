"""Best responses: what backward induction says is what trying everything says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from otherminds.planning.best_response import Chances, best_rate, best_response, value_of
from otherminds.worlds.repeated_games.machines import Machine, Partner
from otherminds.worlds.repeated_games.rules import Game, GameState, RepeatedGame

Floats = NDArray[np.float64]
History = tuple[tuple[int, int], ...]
Pick = Callable[[Iterable[float]], float]


class Task(NamedTuple):
    """What the focal agent gets, and the partner it meets."""

    payoff: Floats
    partner: Chances


@st.composite
def tasks(draw: st.DrawFn, *, states: int = 3, certain: bool = False, least: int = 0) -> Task:
    """Small whole payoffs, so that there are ties, and a machine with every weight `least` or more."""
    q, a, b = draw(st.integers(2, states)), draw(st.integers(2, 3)), draw(st.integers(2, 3))
    some = st.lists(st.integers(least, 4), min_size=b, max_size=b).filter(any)
    weights = np.array([draw(some) for _ in range(q)], dtype=float)
    outputs = np.eye(b)[weights.argmax(axis=1)] if certain else weights / weights.sum(axis=1, keepdims=True)
    moves = draw(st.lists(st.integers(0, q - 1), min_size=q * a * b, max_size=q * a * b))
    payoff = draw(st.lists(st.integers(-3, 3), min_size=a * b, max_size=a * b))
    return Task(np.array(payoff, dtype=float).reshape(a, b), Chances(outputs, np.array(moves).reshape(q, a, b)))


def law(task: Task, history: History, start: int) -> Floats:
    """What the partner may do next after a history, told from its first round on."""
    state = start
    for a, b in history:
        state = int(task.partner.moves[state, a, b])
    chances: Floats = task.partner.outputs[state]
    return chances


def expectimax(task: Task, horizon: int, start: int, pick: Pick, history: History = ()) -> float:
    """The value of the best policy of all that see the history, by recursion over histories."""
    if len(history) == horizon:
        return 0.0
    return pick([_worth(task, horizon, start, pick, history, a) for a in range(len(task.payoff))])


def _worth(task: Task, horizon: int, start: int, pick: Pick, history: History, a: int) -> float:
    return sum(
        float(p) * (float(task.payoff[a, b]) + expectimax(task, horizon, start, pick, (*history, (a, b))))
        for b, p in enumerate(law(task, history, start))
        if p > 0.0
    )


@settings(max_examples=200)
@given(task=tasks(), horizon=st.integers(1, 3), data=st.data())
def test_it_is_optimal_among_all_that_see_the_history(task: Task, horizon: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(task.partner.outputs) - 1))
    best = best_response(task.payoff, task.partner, horizon)
    least = best_response(task.payoff, task.partner, horizon, least=True)
    assert best.values[0, start] == pytest.approx(expectimax(task, horizon, start, max), abs=1e-12, rel=0)
    assert least.values[0, start] == pytest.approx(expectimax(task, horizon, start, min), abs=1e-12, rel=0)


@settings(max_examples=20)
@given(task=tasks())
def test_no_plan_for_every_history_does_better(task: Task) -> None:
    deeds, replies = range(len(task.payoff)), range(task.payoff.shape[1])
    seen = list(product(deeds, replies))
    totals = []
    for first, *later in product(deeds, repeat=1 + len(seen)):
        then = dict(zip(seen, later, strict=True))
        totals.append(
            sum(
                p * (task.payoff[first, b] + law(task, ((first, b),), 0) @ task.payoff[then[first, b]])
                for b, p in enumerate(law(task, (), 0))
            )
        )
    best, least = (best_response(task.payoff, task.partner, 2, least=least).values[0, 0] for least in (False, True))
    assert (best, least) == pytest.approx((max(totals), min(totals)), abs=1e-12, rel=0)


@given(task=tasks(), horizon=st.integers(1, 12), least=st.booleans())
def test_its_actions_earn_its_values(task: Task, horizon: int, least: bool) -> None:
    response = best_response(task.payoff, task.partner, horizon, least=least)
    states = len(task.partner.outputs)
    assert response.values.shape == (horizon + 1, states)
    assert response.actions.shape == (horizon, states)
    assert not response.values[-1].any()
    for start in range(states):
        earned = value_of(response.actions, task.payoff, task.partner, start)
        assert earned == pytest.approx(response.values[0, start], abs=1e-12)
    later = best_response(task.payoff, task.partner, horizon - 1, least=least) if horizon > 1 else None
    assert later is None or np.array_equal(later.actions, response.actions[1:])


@given(task=tasks(), horizon=st.integers(1, 6), least=st.booleans())
def test_ties_go_to_the_lowest_action(task: Task, horizon: int, least: bool) -> None:
    values, actions = best_response(task.payoff, task.partner, horizon, least=least)
    for t, q in np.ndindex(actions.shape):
        for lower in range(actions[t, q]):
            onward = values[t + 1][task.partner.moves[q, lower]]
            worth = task.partner.outputs[q] @ (task.payoff[lower] + onward)
            assert worth > values[t, q] + 1e-9 if least else worth < values[t, q] - 1e-9


@given(task=tasks(), horizon=st.integers(1, 3), data=st.data())
def test_the_value_of_a_policy_is_what_it_earns(task: Task, horizon: int, data: st.DataObject) -> None:
    options, states = len(task.payoff), len(task.partner.outputs)
    chosen = data.draw(st.lists(st.integers(0, options - 1), min_size=horizon * states, max_size=horizon * states))
    policy = np.array(chosen).reshape(horizon, states)

    def earned(t: int, q: int) -> float:
        if t == horizon:
            return 0.0
        a = int(policy[t, q])
        chances: list[float] = task.partner.outputs[q].tolist()
        return sum(
            p * (float(task.payoff[a, b]) + earned(t + 1, int(task.partner.moves[q, a, b])))
            for b, p in enumerate(chances)
        )

    for start in range(states):
        value = value_of(policy, task.payoff, task.partner, start)
        assert value == pytest.approx(earned(0, start), abs=1e-12)
        best, least = (best_response(task.payoff, task.partner, horizon, least=low) for low in (False, True))
        assert least.values[0, start] - 1e-12 <= value <= best.values[0, start] + 1e-12


class Play(NamedTuple):
    """A game with a first agent of two actions and a second of three, who is a machine."""

    world: RepeatedGame
    machine: Machine


@st.composite
def plays(draw: st.DrawFn) -> Play:
    """A game of two rounds or three in which the agents have different actions and payoffs."""
    rows = draw(st.lists(st.tuples(*[st.integers(-5, 5).map(float)] * 2), min_size=6, max_size=6))
    game = Game("game", ("you", "partner"), (("a", "b"), ("x", "y", "z")), tuple(rows))
    laws = draw(
        st.lists(st.sampled_from([(0.5, 0.25, 0.25), (0.0, 0.0, 1.0), (0.25, 0.75, 0.0)]), min_size=3, max_size=3)
    )
    onward = st.tuples(*[st.tuples(*[st.integers(0, 2)] * 2)] * 3)
    machine = Machine("partner", tuple(laws), tuple(draw(onward) for _ in laws))
    return Play(RepeatedGame(game, draw(st.integers(2, 3))), machine)


def played_out(world: RepeatedGame, state: GameState, mind: Partner) -> float:
    """What the first agent can get at best, by the rules of the world and the partner's mind alone."""
    if world.done(state):
        return 0.0
    mind = mind.observe(world.observe(state, "partner"))
    totals = []
    for mine in world.actions(state, "you"):
        total = 0.0
        for theirs, p in mind.act():
            joint = {"you": mine, "partner": theirs}
            after = world.step(state, joint)
            total += p * (world.reward(state, joint, after)["you"] + played_out(world, after, mind))
        totals.append(total)
    return max(totals)


@given(play=plays())
def test_planning_sees_the_game_and_the_partner_as_they_play(play: Play) -> None:
    world, machine = play
    plan = best_response(world.game.payoff(), machine.chances, world.horizon)
    assert plan.values[0, 0] == pytest.approx(played_out(world, world.start(), machine.start), abs=1e-12)


@settings(max_examples=30)
@given(task=tasks(least=1))
def test_the_best_rate_is_what_more_rounds_are_worth(task: Task) -> None:
    rounds = 1200  # a multiple of every period that three states can have
    for start in range(len(task.partner.outputs)):
        twice, once = (best_response(task.payoff, task.partner, n).values[0, start] for n in (2 * rounds, rounds))
        assert best_rate(task.payoff, task.partner, start) == pytest.approx((twice - once) / rounds, abs=1e-6)


@given(task=tasks())
def test_the_best_rate_is_that_of_the_best_stationary_policy(task: Task) -> None:
    states = range(len(task.partner.outputs))
    rates = [long_run(task, policy) for policy in product(range(len(task.payoff)), repeat=len(states))]
    for start in states:
        best = max(rate[start] for rate in rates)
        assert best_rate(task.payoff, task.partner, start) == pytest.approx(best, abs=1e-6)


def long_run(task: Task, policy: tuple[int, ...]) -> Floats:
    """The average payoff per round of a stationary policy, from every state."""
    outputs, moves = task.partner
    step = np.zeros((len(policy), len(policy)))
    for q, a in enumerate(policy):
        np.add.at(step[q], moves[q, a], outputs[q])
    late = step
    for _ in range(30):
        late = late @ late
        late /= late.sum(axis=1, keepdims=True)
    gained = np.array([outputs[q] @ task.payoff[a] for q, a in enumerate(policy)])
    sixth = [late := late @ step for _ in range(6)]  # three states have periods 1, 2 and 3
    rate: Floats = np.mean(sixth, axis=0) @ gained
    return rate


@given(task=tasks(states=5, certain=True))
def test_the_best_rate_against_a_certain_partner_is_the_best_cycle(task: Task) -> None:
    for start in range(len(task.partner.outputs)):
        best = max(cycles(task, [start], []))
        assert best_rate(task.payoff, task.partner, start) == pytest.approx(best, abs=1e-6)


def cycles(task: Task, path: list[int], gains: list[float]) -> Iterator[float]:
    """The mean payoff of every simple cycle that can be reached along simple paths."""
    q = path[-1]
    b = int(task.partner.outputs[q].argmax())
    for a in range(len(task.payoff)):
        onward, gained = int(task.partner.moves[q, a, b]), [*gains, float(task.payoff[a, b])]
        if onward in path:
            cycle = gained[path.index(onward) :]
            yield sum(cycle) / len(cycle)
        else:
            yield from cycles(task, [*path, onward], gained)

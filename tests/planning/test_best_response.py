"""Best responses against exhaustive search, and look-ahead against exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from otherminds.planning.best_response import (
    Chances,
    Leaf,
    Pool,
    action_values,
    best_action,
    best_rate,
    best_response,
    clairvoyant,
    commitment,
    value_of,
)
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


@pytest.mark.slow
@given(task=tasks(), horizon=st.integers(1, 3), data=st.data())
def test_it_is_optimal_among_all_that_see_the_history(task: Task, horizon: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(task.partner.outputs) - 1))
    best = best_response(task.payoff, task.partner, horizon)
    least = best_response(task.payoff, task.partner, horizon, least=True)
    assert best.values[0, start] == pytest.approx(expectimax(task, horizon, start, max), abs=1e-12, rel=0)
    assert least.values[0, start] == pytest.approx(expectimax(task, horizon, start, min), abs=1e-12, rel=0)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@given(task=tasks(), horizon=st.integers(1, 6), least=st.booleans())
def test_ties_go_to_the_lowest_action(task: Task, horizon: int, least: bool) -> None:
    values, actions = best_response(task.payoff, task.partner, horizon, least=least)
    for t, q in np.ndindex(actions.shape):
        for lower in range(actions[t, q]):
            onward = values[t + 1][task.partner.moves[q, lower]]
            worth = task.partner.outputs[q] @ (task.payoff[lower] + onward)
            assert worth > values[t, q] + 1e-9 if least else worth < values[t, q] - 1e-9


@pytest.mark.slow
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


@pytest.mark.slow
@given(play=plays())
def test_planning_sees_the_game_and_the_partner_as_they_play(play: Play) -> None:
    world, machine = play
    plan = best_response(world.game.payoff(), machine.chances, world.horizon)
    assert plan.values[0, 0] == pytest.approx(played_out(world, world.start(), machine.start), abs=1e-12)


@pytest.mark.slow
@settings(max_examples=12)
@given(task=tasks(least=1))
def test_the_best_rate_is_what_more_rounds_are_worth(task: Task) -> None:
    rounds = 1200  # a multiple of every period that three states can have
    for start in range(len(task.partner.outputs)):
        twice, once = (best_response(task.payoff, task.partner, n).values[0, start] for n in (2 * rounds, rounds))
        assert best_rate(task.payoff, task.partner, start) == pytest.approx((twice - once) / rounds, abs=1e-6)


@pytest.mark.slow
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


@pytest.mark.slow
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


CLOSE = 1e-9


class Belief(NamedTuple):
    """Machines that are to be played with, and how probable each is in which state after some rounds."""

    pool: Pool
    t: int
    states: NDArray[np.intp]
    weights: Floats

    @property
    def left(self) -> int:
        """The number of rounds to go."""
        return self.pool.horizon - self.t


@st.composite
def machines(draw: st.DrawFn, options: int, replies: int, *, certain: bool) -> Chances:
    states = draw(st.integers(1, 3))
    laws = [np.eye(replies)[b] for b in range(replies)]
    if not certain:
        laws += [np.full(replies, 1 / replies), 0.5 * laws[0] + 0.5 * laws[1]]
    outputs = np.array([laws[draw(st.integers(0, len(laws) - 1))] for _ in range(states)])
    moves = draw(st.lists(st.integers(0, states - 1), min_size=states * options * replies, max_size=100))
    return Chances(outputs, np.array(moves[: states * options * replies]).reshape(states, options, replies))


@st.composite
def beliefs(draw: st.DrawFn, *, certain: bool = False, most: int = 3, rounds: int = 3) -> Belief:
    """No machine is much more probable than another, so that nothing is cut off."""
    options, replies = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    payoff = draw(st.lists(st.integers(-3, 3), min_size=options * replies, max_size=options * replies))
    number = draw(st.integers(1, most))
    held = [draw(machines(options, replies, certain=certain)) for _ in range(number)]
    horizon = draw(st.integers(1, rounds))
    pool = Pool.of(np.array(payoff, dtype=float).reshape(options, replies), held, horizon)
    states = [int(at) + draw(st.integers(0, len(m.outputs) - 1)) for at, m in zip(pool.starts, held, strict=True)]
    weights = draw(st.lists(st.integers(2, 6), min_size=number, max_size=number))
    return Belief(pool, draw(st.integers(0, horizon - 1)), np.array(states), np.array(weights) / 4)


def worths(belief: Belief) -> list[float]:
    """Σ w · payoff of each action, the best being done later, by recursion over histories of one machine at a time."""
    pool, t, states, weights = belief
    found = []
    for a in range(len(pool.payoff)):
        total = 0.0
        for b in range(pool.payoff.shape[1]):
            likely = [(q, w * p) for q, w in zip(states, weights, strict=True) if (p := pool.chances.outputs[q, b])]
            if not likely:
                continue
            total += sum(w for _, w in likely) * float(pool.payoff[a, b])
            onward = np.array([pool.chances.moves[q, a, b] for q, _ in likely])
            total += worth(Belief(pool, t + 1, onward, np.array([w for _, w in likely])))
        found.append(total)
    return found


def worth(belief: Belief) -> float:
    return max(worths(belief)) if belief.left else 0.0


# Pools


@pytest.mark.slow
@given(st.integers(2, 3), st.integers(2, 3), st.data())
def test_the_states_of_all_machines_are_numbered_through(options: int, replies: int, data: st.DataObject) -> None:
    held = data.draw(st.lists(machines(options, replies, certain=False), min_size=1, max_size=4))
    payoff = np.arange(options * replies, dtype=float).reshape(options, replies)
    pool = Pool.of(payoff, held, 4)
    assert len(pool.starts) == len(held)
    assert pool.starts[0] == 0
    ends = [*pool.starts[1:], len(pool.chances.outputs)]
    for machine, start, end in zip(held, pool.starts, ends, strict=True):
        assert np.array_equal(pool.chances.outputs[start:end], machine.outputs)
        assert np.array_equal(pool.chances.moves[start:end] - start, machine.moves)
        alone = best_response(payoff, machine, 4)
        assert np.allclose(pool.response.values[:, start:end], alone.values, atol=CLOSE)
        assert np.array_equal(pool.response.actions[:, start:end], alone.actions)
        assert np.allclose(pool.expected[start:end], machine.outputs @ payoff.T)
        assert np.array_equal(pool.likely[start:end], machine.outputs.argmax(axis=1))


# Values


@pytest.mark.slow
@given(beliefs(), st.sampled_from([clairvoyant, commitment]))
def test_looking_ahead_to_the_last_round_is_exact(belief: Belief, leaf: Leaf) -> None:
    found = action_values(*belief, depth=belief.left, leaf=leaf)
    assert found == pytest.approx(worths(belief), abs=CLOSE)


@pytest.mark.slow
@given(beliefs(most=1, rounds=5))
def test_with_a_partner_that_is_known_no_look_ahead_is_needed(belief: Belief) -> None:
    pool, t, (state,), (weight,) = belief
    found = action_values(*belief, depth=1, leaf=commitment)
    assert found == pytest.approx(worths(belief), abs=CLOSE)
    assert best_action(found) == pool.response.actions[t, state]
    assert clairvoyant(*belief) == pytest.approx(weight * pool.response.values[t, state], abs=CLOSE)


@pytest.mark.slow
@given(beliefs(most=1, rounds=5, certain=True))
def test_committing_to_the_truth_is_exact(belief: Belief) -> None:
    assert commitment(*belief) == pytest.approx(worth(belief), abs=CLOSE)


@pytest.mark.slow
@given(beliefs())
def test_to_know_the_partner_after_the_next_round_can_only_help(belief: Belief) -> None:
    """And more look-ahead only tightens the bound."""
    bounds = [action_values(*belief, depth=depth, leaf=clairvoyant).max() for depth in range(1, belief.left + 1)]
    bounds = [clairvoyant(*belief), *bounds, worth(belief)]
    for loose, tight in pairwise(bounds):
        assert loose >= tight - CLOSE


@pytest.mark.slow
@given(beliefs(rounds=1))
def test_in_the_last_round_the_bound_is_exact(belief: Belief) -> None:
    assert clairvoyant(*belief) == pytest.approx(worth(belief), abs=CLOSE)


@pytest.mark.slow
@given(beliefs(certain=True, rounds=4, most=4))
def test_a_commitment_is_worth_less_than_to_know_the_partner(belief: Belief) -> None:
    """With partners who leave nothing to chance, as the first action of a plan is the same for all of them."""
    assert commitment(*belief) <= clairvoyant(*belief) + CLOSE


def committed(belief: Belief, held: int) -> float:
    """What the best response to one machine gets from each of them until it shows to be another, and what then."""
    pool, _, states, weights = belief
    total = 0.0
    for state, weight in zip(states, weights, strict=True):
        imagined, true = held, int(state)
        for t in range(belief.t, pool.horizon):
            a = int(pool.response.actions[t, imagined])
            expected, b = (int(pool.chances.outputs[q].argmax()) for q in (imagined, true))
            total += weight * float(pool.payoff[a, b])
            imagined, true = int(pool.chances.moves[imagined, a, expected]), int(pool.chances.moves[true, a, b])
            if b != expected:
                total += weight * float(pool.response.values[t + 1, true])
                break
    return total


@pytest.mark.slow
@given(beliefs(certain=True, rounds=6, most=4))
def test_a_commitment_is_the_best_of_those_to_each_machine(belief: Belief) -> None:
    expected = max(committed(belief, int(state)) for state in belief.states)
    assert commitment(*belief) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.slow
@given(beliefs(certain=True, rounds=5, most=4), st.integers(1, 4))
def test_only_the_likeliest_machines_are_committed_to(belief: Belief, most: int) -> None:
    order = sorted(range(len(belief.states)), key=lambda i: -belief.weights[i])[:most]
    expected = max(committed(belief, int(belief.states[i])) for i in order)
    assert commitment(*belief, most=most) == pytest.approx(expected, abs=CLOSE)


@pytest.mark.slow
@given(beliefs(), st.floats(0.01, 100.0), st.integers(0, 3))
def test_values_grow_with_the_weights(belief: Belief, factor: float, depth: int) -> None:
    scaled = belief._replace(weights=belief.weights * factor)
    for leaf in (clairvoyant, commitment):
        found = action_values(*belief, depth=depth, leaf=leaf)
        assert action_values(*scaled, depth=depth, leaf=leaf) == pytest.approx(found * factor, abs=1e-6)
        assert leaf(*scaled) == pytest.approx(leaf(*belief) * factor, abs=1e-6)


@pytest.mark.parametrize("number", [1, 30, 999, 1000, 1500])
def test_a_thousand_machines_that_are_alike_are_as_good_as_one(number: int) -> None:
    """A partner that copies the last action: 8 for now and then 10 is the best of two rounds."""
    copy = Chances(np.eye(2), np.array([[[0, 0], [1, 1]], [[0, 0], [1, 1]]]))
    pool = Pool.of(np.array([[8.0, 0.0], [10.0, 5.0]]), [copy] * number, 2)
    weights = np.full(number, 1 / number)
    for leaf in (clairvoyant, commitment):
        found = action_values(pool, 0, pool.starts, weights, depth=2, leaf=leaf)
        assert found == pytest.approx([18.0, 15.0])


def test_what_is_nearly_impossible_is_cut_off() -> None:
    """One in a million of the machines would pay a billion."""
    always = [Chances(np.eye(2)[[b]], np.zeros((1, 2, 2), dtype=np.intp)) for b in range(2)]
    pool = Pool.of(np.array([[1.0, 0.0], [0.0, 1e9]]), always, 3)
    weights = np.array([1.0, 1e-6])
    found = action_values(pool, 0, pool.starts, weights, depth=2, leaf=clairvoyant)
    assert found == pytest.approx([3.0, 1000.0 + 2.0])


# Choice


def test_ties_in_look_ahead_go_to_the_lowest_action() -> None:
    assert best_action(np.array([1.0, 3.0, 3.0])) == 1
    assert best_action(np.array([-3.0, -3.0 + 1e-12, -4.0])) == 0
    assert best_action(np.array([1e6, 1e6 + 1e-5, 0.0])) == 0
    assert best_action(np.array([1.0, 1.0 + 1e-6])) == 1
    assert best_action(np.zeros(3)) == 0

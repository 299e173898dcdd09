"""Look-ahead on beliefs over machines: against trying everything, and bounds that hold by definition."""

from __future__ import annotations

from itertools import pairwise
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
    best_response,
    clairvoyant,
    commitment,
)

Floats = NDArray[np.float64]
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


@settings(max_examples=150)
@given(beliefs(), st.sampled_from([clairvoyant, commitment]))
def test_looking_ahead_to_the_last_round_is_exact(belief: Belief, leaf: Leaf) -> None:
    found = action_values(*belief, depth=belief.left, leaf=leaf)
    assert found == pytest.approx(worths(belief), abs=CLOSE)


@given(beliefs(most=1, rounds=5))
def test_with_a_partner_that_is_known_no_look_ahead_is_needed(belief: Belief) -> None:
    pool, t, (state,), (weight,) = belief
    found = action_values(*belief, depth=1, leaf=commitment)
    assert found == pytest.approx(worths(belief), abs=CLOSE)
    assert best_action(found) == pool.response.actions[t, state]
    assert clairvoyant(*belief) == pytest.approx(weight * pool.response.values[t, state], abs=CLOSE)


@given(beliefs(most=1, rounds=5, certain=True))
def test_committing_to_the_truth_is_exact(belief: Belief) -> None:
    assert commitment(*belief) == pytest.approx(worth(belief), abs=CLOSE)


@settings(max_examples=150)
@given(beliefs())
def test_to_know_the_partner_after_the_next_round_can_only_help(belief: Belief) -> None:
    """And more look-ahead only tightens the bound."""
    bounds = [action_values(*belief, depth=depth, leaf=clairvoyant).max() for depth in range(1, belief.left + 1)]
    bounds = [clairvoyant(*belief), *bounds, worth(belief)]
    for loose, tight in pairwise(bounds):
        assert loose >= tight - CLOSE


@given(beliefs(rounds=1))
def test_in_the_last_round_the_bound_is_exact(belief: Belief) -> None:
    assert clairvoyant(*belief) == pytest.approx(worth(belief), abs=CLOSE)


@settings(max_examples=150)
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


@settings(max_examples=150)
@given(beliefs(certain=True, rounds=6, most=4))
def test_a_commitment_is_the_best_of_those_to_each_machine(belief: Belief) -> None:
    expected = max(committed(belief, int(state)) for state in belief.states)
    assert commitment(*belief) == pytest.approx(expected, abs=CLOSE)


@given(beliefs(certain=True, rounds=5, most=4), st.integers(1, 4))
def test_only_the_likeliest_machines_are_committed_to(belief: Belief, most: int) -> None:
    order = sorted(range(len(belief.states)), key=lambda i: -belief.weights[i])[:most]
    expected = max(committed(belief, int(belief.states[i])) for i in order)
    assert commitment(*belief, most=most) == pytest.approx(expected, abs=CLOSE)


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


def test_ties_go_to_the_lowest_action() -> None:
    assert best_action(np.array([1.0, 3.0, 3.0])) == 1
    assert best_action(np.array([-3.0, -3.0 + 1e-12, -4.0])) == 0
    assert best_action(np.array([1e6, 1e6 + 1e-5, 0.0])) == 0
    assert best_action(np.array([1.0, 1.0 + 1e-6])) == 1
    assert best_action(np.zeros(3)) == 0

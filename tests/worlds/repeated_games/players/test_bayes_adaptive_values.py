"""Planning with a partner of unknown table: sums over all tables, and recursion over histories, in exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from otherminds.worlds.repeated_games.players.bayes_adaptive import (
    DecisionPoint,
    InductionStage,
    Knowledge,
    Prior,
    Solution,
    backward,
    learned,
    reachable,
    solve,
    weights,
)
from otherminds.worlds.repeated_games.players.partner_hypotheses import context_groups, context_of

Floats = NDArray[np.float64]
NAMES = ("constant", "reactive", "memory_one")
SIMPLICITY: Prior = tuple((name, 1 / 3) for name in NAMES)


class Table(NamedTuple):
    """A partner that remembers one round: what it does first, its reply to every joint action, how probable it is."""

    first: int
    replies: tuple[int, ...]
    weight: Fraction


def tables_of(kind: str, options: int, replies: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """All partners of a kind: first action, then the reply to each joint action, the focal one varying slowest."""
    pairs = list(product(range(options), range(replies)))
    if kind == "constant":
        yield from ((b, (b,) * len(pairs)) for b in range(replies))
    elif kind == "reactive":
        for first, *answers in product(range(replies), repeat=1 + options):
            yield first, tuple(answers[a] for a, _ in pairs)
    else:
        for first, *answers in product(range(replies), repeat=1 + len(pairs)):
            yield first, tuple(answers)


def all_tables(shares: Iterable[Fraction], options: int, replies: int) -> list[Table]:
    """Every partner of every kind with its prior probability."""
    found = []
    for kind, share in zip(NAMES, shares, strict=True):
        held = list(tables_of(kind, options, replies))
        found += [Table(first, answers, share / len(held)) for first, answers in held if share]
    return found


def fit(tables: Iterable[Table], known: Knowledge) -> list[Table]:
    """The tables that reply as is known."""
    return [t for t in tables if all(d in (0, 1 + b) for d, b in zip(known, t.replies, strict=True))]


class Problem(NamedTuple):
    """A game against a partner who has begun with `first`, and of whom something may be known."""

    payoff: Floats
    shares: tuple[Fraction, ...]
    first: int
    known: Knowledge

    @property
    def prior(self) -> Prior:
        return tuple((name, float(share)) for name, share in zip(NAMES, self.shares, strict=True))

    @property
    def weight(self) -> Floats:
        return weights(self.prior, self.first, *self.payoff.shape)

    @property
    def tables(self) -> list[Table]:
        """All partners who may be meant."""
        held = all_tables(self.shares, *self.payoff.shape)
        return fit([table for table in held if table.first == self.first], self.known)


shapes_of_two = st.just((2, 2))


@st.composite
def problems(draw: st.DrawFn, shapes: st.SearchStrategy[tuple[int, int]] = shapes_of_two) -> Problem:
    options, replies = draw(shapes)
    payoff = draw(st.lists(st.integers(-3, 3), min_size=options * replies, max_size=options * replies))
    parts = draw(st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any))
    shares = tuple(Fraction(part, sum(parts)) for part in parts)
    digits = st.lists(st.integers(0, replies), min_size=options * replies, max_size=options * replies)
    known = draw(st.one_of(st.just([0] * options * replies), digits))
    matrix = np.array(payoff, dtype=float).reshape(options, replies)
    return Problem(matrix, shares, draw(st.integers(0, replies - 1)), tuple(known))


def action_worths(payoff: Floats, tables: list[Table], context: int, rounds: int) -> list[Fraction]:
    """Σ w · (payoff from now on) of every action, the best being done later, by recursion over histories."""
    options, replies = payoff.shape
    found = []
    for a in range(options):
        total = Fraction(0)
        for b in range(replies):
            left = [table for table in tables if table.replies[context] == b]
            total += sum(table.weight for table in left) * int(payoff[a, b])
            total += worth(payoff, left, a * replies + b, rounds - 1)
        found.append(total)
    return found


def worth(payoff: Floats, tables: list[Table], context: int, rounds: int) -> Fraction:
    """Σ w · V of the tables that are left, in a context."""
    return max(action_worths(payoff, tables, context, rounds)) if rounds and tables else Fraction(0)


# What is known


def test_contexts_are_joint_actions_with_the_own_action_varying_slowest() -> None:
    assert [context_of(a, b, 3) for a in range(2) for b in range(3)] == list(range(6))
    assert learned((0, 2, 0), 0, 0) == (1, 2, 0)
    assert learned((0, 2, 0), 1, 2) == (0, 3, 0)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
@pytest.mark.parametrize("kind", NAMES)
def test_parts_of_a_kind_are_contexts_with_one_reply_in_every_table(kind: str, shape: tuple[int, int]) -> None:
    parts = context_groups(*shape)[kind]
    assert sorted(c for part in parts for c in part) == list(range(-1, shape[0] * shape[1]))
    rows = np.array([(*replies, first) for first, replies in tables_of(kind, *shape)])
    assert len(rows) == shape[1] ** len(parts)
    for part in parts:
        assert (rows[:, list(part)] == rows[:, [part[0]]]).all()


@pytest.mark.slow
@given(problems(st.sampled_from([(2, 2), (2, 3), (3, 2)])))
def test_the_weight_of_what_is_known_is_the_sum_over_all_tables_that_fit(problem: Problem) -> None:
    assert problem.weight.shape == (1 + problem.payoff.shape[1],) * problem.payoff.size
    expected = float(sum(table.weight for table in problem.tables))
    assert problem.weight[problem.known] == pytest.approx(expected, abs=1e-15, rel=1e-12)


@pytest.mark.parametrize("first", [0, 1])
def test_every_weight_in_a_two_by_two_game(first: int) -> None:
    held = [table for table in all_tables([Fraction(1, 3)] * 3, 2, 2) if table.first == first]
    found = weights(SIMPLICITY, first, 2, 2)
    for known in np.ndindex(found.shape):
        expected = float(sum(table.weight for table in fit(held, known)))
        assert found[known] == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow
def test_some_weights_in_a_three_by_three_game() -> None:
    held = [table for table in all_tables([Fraction(1, 3)] * 3, 3, 3) if table.first == 1]
    replies = np.array([table.replies for table in held])
    prior = np.array([float(table.weight) for table in held])
    found = weights(SIMPLICITY, 1, 3, 3)
    rng = np.random.default_rng(5)
    cells = [(0,) * 9, (2,) * 9, (1, 1, 1, 2, 2, 2, 0, 0, 3), (2, 0, 2, 0, 0, 0, 2, 2, 0)]
    cells += [tuple(row) for row in (rng.integers(0, 4, (40, 9)) * (rng.random((40, 9)) < 0.4)).tolist()]
    for known in cells:
        fits = np.all([(replies[:, c] == d - 1) | (d == 0) for c, d in enumerate(known)], axis=0)
        assert found[known] == pytest.approx(prior[fits].sum(), rel=1e-9, abs=1e-15)


def test_all_that_may_happen_has_probability_one() -> None:
    for shape in [(2, 2), (2, 3), (3, 2), (3, 3)]:
        total = sum(weights(SIMPLICITY, first, *shape)[(0,) * shape[0] * shape[1]] for first in range(shape[1]))
        assert total == pytest.approx(1.0)


# Backward induction


@pytest.mark.slow
@settings(max_examples=25)
@given(problems(), st.integers(1, 4))
def test_its_values_are_those_of_all_histories(problem: Problem, rounds: int) -> None:
    payoff, known = problem.payoff, problem.known
    free = problem.weight[tuple(slice(d, d + 1) if d else slice(None) for d in known)]
    stages = list(backward(payoff, free, known, rounds))
    assert len(stages) == rounds
    for n, stage in enumerate(stages, 1):
        for context in range(payoff.size):
            expected = worth(payoff, problem.tables, context, n)
            assert stage.worth[(context, *(0,) * payoff.size)] == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.slow
@given(problems(st.sampled_from([(2, 2), (2, 3), (3, 2)])), st.integers(1, 3), st.data())
def test_its_actions_are_the_lowest_of_the_best_wherever_one_may_be(
    problem: Problem, rounds: int, data: st.DataObject
) -> None:
    payoff = problem.payoff
    if payoff.size > 4:
        rounds = min(rounds, 2)
    context = data.draw(st.integers(0, payoff.size - 1))
    *_, last = backward(payoff, problem.weight, (0,) * payoff.size, rounds)
    totals = action_worths(payoff, problem.tables, context, rounds)
    assert last.worth[(context, *problem.known)] == pytest.approx(float(max(totals)), abs=1e-12)
    assert last.actions[(context, *problem.known)] == totals.index(max(totals))


@pytest.mark.slow
@given(problems(), st.integers(1, 4), st.sampled_from([0.01, 1000.0]))
def test_the_unit_of_payoffs_does_not_matter(problem: Problem, rounds: int, unit: float) -> None:
    knowing = problem.known, problem.weight[tuple(slice(d, d + 1) if d else slice(None) for d in problem.known)]
    *_, plain = backward(problem.payoff, knowing[1], knowing[0], rounds)
    *_, other = backward(problem.payoff * unit, knowing[1], knowing[0], rounds)
    assert np.allclose(other.worth, plain.worth * unit)
    if unit < 1.0:  # with large payoffs it may be for rounding to decide between equals
        assert np.array_equal(other.actions, plain.actions)


# The policy


def positive(problem: Problem) -> bool:
    return bool(problem.tables)


@pytest.mark.slow
@given(problems().filter(positive), st.integers(1, 4), st.integers(0, 3))
def test_a_policy_from_some_knowledge_on_has_the_worth_of_all_histories(
    problem: Problem, rounds: int, context: int
) -> None:
    policy = solve(problem.payoff, problem.weight, problem.known, rounds)
    totals = action_worths(problem.payoff, problem.tables, context, rounds)
    assert policy.worth[context, 0, 0, 0, 0] == pytest.approx(float(max(totals)), abs=1e-12)
    assert policy.action(rounds, context, problem.known) == totals.index(max(totals))


@pytest.mark.slow
@settings(max_examples=20)
@given(problems().filter(positive), st.integers(1, 5), st.integers(0, 3), st.data())
def test_a_policy_from_some_knowledge_on_is_part_of_the_one_from_none(
    problem: Problem, rounds: int, context: int, data: st.DataObject
) -> None:
    part = solve(problem.payoff, problem.weight, problem.known, rounds)
    whole = solve(problem.payoff, problem.weight, (0,) * 4, rounds)
    table = data.draw(st.sampled_from(problem.tables))
    shown = data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
    more = tuple(d or (1 + b) * told for d, b, told in zip(problem.known, table.replies, shown, strict=True))
    assert part.covers(more)
    for left in range(1, rounds + 1):
        assert part.action(left, context, more) == whole.action(left, context, more)


def test_a_policy_covers_what_adds_to_its_knowledge() -> None:
    policy = solve(np.eye(2), weights(SIMPLICITY, 0, 2, 2), (1, 2, 0, 0), 1)
    assert all(policy.covers(known) for known in [(1, 2, 0, 0), (1, 2, 1, 0), (1, 2, 2, 1)])
    assert not any(policy.covers(known) for known in [(0, 0, 0, 0), (1, 0, 1, 1), (1, 1, 0, 0), (2, 2, 0, 0)])


def test_progress_is_told_of_every_round() -> None:
    told = []

    def progress(items: Iterable[InductionStage], total: int, what: str) -> Iterator[InductionStage]:
        for item in items:
            told.append((total, what))
            yield item

    solve(np.eye(2), weights(SIMPLICITY, 0, 2, 2), (0,) * 4, 7, progress)
    assert [total for total, _ in told] == [7] * 7
    assert len({what for _, what in told}) == 1


# Where optimal play leads


def solution_of(problem: Problem, rounds: int) -> Solution:
    """What is kept for all openings, the partner having begun with `first`."""
    options, replies = problem.payoff.shape
    policy = solve(problem.payoff, problem.weight, (0,) * problem.payoff.size, rounds)
    starts = [context_of(a, problem.first, replies) for a in range(options)]
    return reachable(policy, problem.weight, starts, replies)


def followed(solution: Solution, problem: Problem, table: Table, opening: int, rounds: int) -> Iterator[DecisionPoint]:
    """The situations that the choices lead to after an opening, if this is the partner."""
    replies = problem.payoff.shape[1]
    known: Knowledge = (0,) * problem.payoff.size
    own, theirs = opening, table.first
    for t in range(1, rounds + 1):
        here = DecisionPoint(t, own * replies + theirs, known)
        yield here
        own, theirs = solution.choices[here], table.replies[here.context]
        known = (*known[: here.context], 1 + theirs, *known[here.context + 1 :])


def unknown(problem: Problem) -> Problem:
    """The same problem if nothing is known yet."""
    return problem._replace(known=(0,) * problem.payoff.size)


blank = problems(st.sampled_from([(2, 2), (2, 2), (2, 3), (3, 2)])).map(unknown)


@pytest.mark.slow
@settings(max_examples=25)
@given(blank, st.integers(1, 6))
def test_choices_are_kept_for_all_that_optimal_play_leads_to_and_nothing_else(problem: Problem, rounds: int) -> None:
    if problem.payoff.size > 4:
        rounds = min(rounds, 3)
    solution = solution_of(problem, rounds)
    openings = range(len(problem.payoff))
    reached = {
        situation
        for table in problem.tables
        for opening in openings
        for situation in followed(solution, problem, table, opening, rounds)
    }
    assert reached == set(solution.choices)


@pytest.mark.slow
@settings(max_examples=20)
@given(blank, st.integers(1, 4))
def test_the_worth_of_an_opening_is_what_its_choices_earn_and_no_others_earn_more(
    problem: Problem, rounds: int
) -> None:
    if problem.payoff.size > 4:
        rounds = min(rounds, 2)
    solution = solution_of(problem, rounds)
    replies = problem.payoff.shape[1]
    for opening, told in enumerate(solution.worth):
        earned = sum(
            table.weight * int(problem.payoff[solution.choices[here], table.replies[here.context]])
            for table in problem.tables
            for here in followed(solution, problem, table, opening, rounds)
        )
        best = worth(problem.payoff, problem.tables, opening * replies + problem.first, rounds)
        assert earned == best
        assert told == pytest.approx(float(best), abs=1e-12)


def test_without_rounds_to_go_there_is_nothing_to_choose() -> None:
    solution = solution_of(Problem(np.eye(2), (Fraction(1, 3),) * 3, 0, (0,) * 4), 0)
    assert solution == Solution((0.0, 0.0), {})

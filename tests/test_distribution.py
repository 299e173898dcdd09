"""Distributions obey the laws of probability, and sampling obeys the distribution."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import chisquare

from otherminds.distribution import IMPOSSIBLE, Categorical, divergence, log_sum_exp, point_mass
from strategies import generator

CLOSE = 1e-12
scores = st.one_of(st.floats(-50, 50), st.just(IMPOSSIBLE))
tables = st.lists(st.tuples(st.integers(0, 5), scores), min_size=1, max_size=8).filter(
    lambda table: any(score > IMPOSSIBLE for _, score in table)
)
categoricals = tables.map(Categorical.from_scores)


def assert_same(p: Categorical[int], q: Categorical[int]) -> None:
    for x in {*p.support, *q.support}:
        assert p.prob(x) == pytest.approx(q.prob(x), abs=CLOSE)


def any_positive(shares: dict[int, float]) -> bool:
    return any(share > 0.0 for share in shares.values())


def kernel(shift: int) -> dict[int, Categorical[int]]:
    """A stochastic function of the numbers 0 to 9, another one for each shift."""
    return {x: Categorical.from_scores([((x * y + shift) % 7, 0.3 * y * shift) for y in range(4)]) for x in range(10)}


# Making one


def test_a_point_mass_is_certain() -> None:
    p = point_mass("x")
    assert (p.support, p.probs, p.entropy) == (("x",), (1.0,), 0.0)


@pytest.mark.slow
@given(tables)
def test_from_scores_normalises_and_pools(table: list[tuple[int, float]]) -> None:
    p = Categorical.from_scores(table)
    total = sum(math.exp(score) for _, score in table)
    assert sum(p.probs) == pytest.approx(1, abs=CLOSE)
    assert p.support == tuple(dict.fromkeys(x for x, _ in table))
    for x in p.support:
        assert p.prob(x) == pytest.approx(sum(math.exp(s) for y, s in table if x == y) / total, abs=CLOSE)


@pytest.mark.slow
@given(tables, st.floats(-700, 700))
def test_only_differences_between_scores_matter(table: list[tuple[int, float]], shift: float) -> None:
    p = Categorical.from_scores(table)
    shifted = Categorical.from_scores((x, score + shift) for x, score in table)
    assert shifted.probs == pytest.approx(p.probs, abs=1e-10)


@pytest.mark.parametrize(
    "table", [[], [("a", IMPOSSIBLE)], [("a", math.inf)], [("a", math.nan)]], ids=["empty", "none", "inf", "nan"]
)
def test_from_scores_needs_a_finite_score(table: list[tuple[str, float]]) -> None:
    with pytest.raises(ValueError, match="finite log weight"):
        Categorical.from_scores(table)


def test_uniform_counts_repetitions() -> None:
    p = Categorical.uniform("abba" + "bb")
    assert dict(p) == pytest.approx({"a": 1 / 3, "b": 2 / 3})


def test_uniform_over_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="finite log weight"):
        Categorical.uniform([])


# Softmax


@pytest.mark.slow
@given(st.lists(st.floats(-300, 300), min_size=1, max_size=6), st.floats(0, 1))
def test_softmax_is_the_formula(values: list[float], lapse: float) -> None:
    p = Categorical.softmax(enumerate(values), lapse=lapse)
    total = sum(math.exp(v - max(values)) for v in values)
    expected = [(1 - lapse) * math.exp(v - max(values)) / total + lapse / len(values) for v in values]
    assert p.probs == pytest.approx(expected, abs=CLOSE)


def test_an_infinite_score_is_chosen_for_certain() -> None:
    assert Categorical.softmax([("a", 3.0), ("b", math.inf)]).probs == (0.0, 1.0)
    assert Categorical.softmax([("a", math.inf), ("b", math.inf), ("c", 0.0)]).probs == (0.5, 0.5, 0.0)


def test_a_score_of_minus_infinity_is_never_chosen_but_for_a_lapse() -> None:
    table = [("a", 0.0), ("b", IMPOSSIBLE)]
    assert Categorical.softmax(table).log_prob("b") == IMPOSSIBLE
    assert Categorical.softmax(table, lapse=0.2).probs == pytest.approx((0.9, 0.1))


def test_softmax_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        Categorical.softmax([])


# Questions


def test_what_is_not_in_the_support_is_impossible() -> None:
    p = Categorical.uniform("ab")
    assert (p.log_prob("c"), p.prob("c"), len(p)) == (IMPOSSIBLE, 0.0, 2)


def test_mode_is_the_earliest_of_the_most_probable() -> None:
    assert Categorical.from_scores([("a", 0.0), ("b", 1.0), ("c", 1.0)]).mode == "b"


def test_entropy_of_a_fair_and_of_a_certain_choice() -> None:
    assert Categorical.uniform(range(8)).entropy == pytest.approx(math.log(8))
    assert Categorical.from_scores([("a", 0.0), ("b", IMPOSSIBLE)]).entropy == 0


@pytest.mark.slow
@given(categoricals)
def test_expectation_is_the_weighted_sum(p: Categorical[int]) -> None:
    assert p.expect(lambda x: x**2) == pytest.approx(sum(p.prob(x) * x**2 for x in p.support), abs=1e-10)


def test_expectation_skips_the_impossible() -> None:
    p = Categorical.from_scores([(1.0, 0.0), (0.0, IMPOSSIBLE)])
    assert p.expect(lambda x: 1 / x) == 1


@pytest.mark.slow
@given(categoricals)
def test_expectation_of_an_event_is_the_probability_it_is_conditioned_on(p: Categorical[int]) -> None:
    chance = p.expect(lambda x: x < 3)
    if chance == 0:
        with pytest.raises(ValueError, match="finite log weight"):
            p.condition(lambda x: x < 3)
        return
    given_low = p.condition(lambda x: x < 3)
    assert set(given_low.support) == {x for x in p.support if x < 3}
    for x in given_low.support:
        assert given_low.prob(x) == pytest.approx(p.prob(x) / chance, rel=1e-9)


# Laws


@pytest.mark.slow
@given(categoricals)
def test_map_is_a_functor(p: Categorical[int]) -> None:
    assert_same(p.map(lambda x: x), p)
    assert_same(p.map(lambda x: (x + 1) % 3), p.map(lambda x: x + 1).map(lambda x: x % 3))


@pytest.mark.slow
@given(categoricals)
def test_map_moves_mass_without_losing_any(p: Categorical[int]) -> None:
    odd = p.map(lambda x: x % 2)
    assert odd.prob(1) == pytest.approx(sum(p.prob(x) for x in (1, 3, 5)), abs=CLOSE)


@pytest.mark.slow
@given(categoricals)
def test_bind_is_a_mixture(p: Categorical[int]) -> None:
    f, mixed = kernel(1), p.bind(kernel(1).__getitem__)
    for y in range(7):
        assert mixed.prob(y) == pytest.approx(sum(p.prob(x) * f[x].prob(y) for x in p.support), abs=CLOSE)


@pytest.mark.slow
@given(categoricals)
def test_bind_is_a_monad(p: Categorical[int]) -> None:
    f, g = kernel(1).__getitem__, kernel(2).__getitem__
    assert_same(Categorical.uniform([3]).bind(f), f(3))
    assert_same(p.bind(lambda x: Categorical.uniform([x])), p)
    assert_same(p.bind(f).bind(g), p.bind(lambda x: f(x).bind(g)))


@pytest.mark.slow
@given(categoricals)
def test_bind_never_asks_about_the_impossible(p: Categorical[int]) -> None:
    def ask(x: int) -> Categorical[int]:
        assert p.prob(x) > 0
        return Categorical.uniform([x])

    p.bind(ask)


# Sampling


@pytest.mark.parametrize("seed", range(3))
def test_samples_follow_the_probabilities(seed: int) -> None:
    p = Categorical.from_scores(
        [("never", IMPOSSIBLE), ("a", math.log(0.5)), ("b", math.log(0.2)), ("c", math.log(0.3))]
    )
    rng = generator(seed)
    drawn = [p.sample(rng) for _ in range(5000)]
    assert "never" not in drawn
    assert chisquare([drawn.count(x) for x in "abc"], [2500, 1000, 1500]).pvalue > 0.001


def test_sampling_is_reproducible() -> None:
    p = Categorical.uniform(range(100))
    assert [p.sample(generator(7)) for _ in range(3)] == [p.sample(generator(7))] * 3


def test_a_cumulative_sum_that_falls_short_of_one_still_samples() -> None:
    short = Categorical(("a", "b"), (math.log(1e-9), math.log(2e-9)))
    assert short.sample(generator()) == "b"


# Sums of logarithms


@pytest.mark.slow
@given(st.lists(st.floats(-600, 600), max_size=6))
def test_log_sum_exp_is_the_log_of_the_sum(values: list[float]) -> None:
    total = sum(math.exp(v) for v in values)
    assert log_sum_exp(values) == pytest.approx(math.log(total) if total else IMPOSSIBLE, abs=1e-9)


def test_log_sum_exp_neither_overflows_nor_underflows() -> None:
    assert log_sum_exp([1e4, 1e4]) == pytest.approx(1e4 + math.log(2))
    assert log_sum_exp([-1e4, -1e4]) == pytest.approx(-1e4 + math.log(2))
    assert log_sum_exp([IMPOSSIBLE, 0.0]) == 0
    assert log_sum_exp([]) == log_sum_exp([IMPOSSIBLE]) == IMPOSSIBLE


@pytest.mark.slow
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), st.floats(0.0, 1.0, exclude_max=True))
def test_a_number_is_decoded_to_an_outcome_and_a_place_within_it(weights: list[float], u: float) -> None:
    p = Categorical.from_scores((i, math.log(w)) for i, w in enumerate(weights))
    outcome, rest = p.decode(u)
    below = sum(p.probs[:outcome])
    assert below - 1e-9 <= u <= below + p.probs[outcome] + 1e-9
    assert -1e-6 <= rest <= 1.0 + 1e-6
    if rest != 0.5:
        assert below + rest * p.probs[outcome] == pytest.approx(u, abs=1e-9)


def test_outcomes_without_probability_are_never_decoded() -> None:
    p = Categorical(("never", "always"), (-math.inf, 0.0))
    assert p.decode(0.0) == ("always", 0.0)


# How different two are


@pytest.mark.slow
@given(categoricals, categoricals)
def test_divergence_is_that_of_jensen_and_shannon_in_bits(p: Categorical[int], q: Categorical[int]) -> None:
    outcomes = sorted({*p.support, *q.support})
    a, b = ([d.prob(x) for x in outcomes] for d in (p, q))
    if len(outcomes) > 1:
        assert divergence(p, q) == pytest.approx(float(jensenshannon(a, b, base=2)) ** 2, abs=1e-9)
    assert divergence(p, q) == pytest.approx(divergence(q, p), abs=CLOSE)
    assert 0 <= divergence(p, q) <= 1 + CLOSE


@pytest.mark.slow
@given(categoricals)
def test_nothing_diverges_from_itself(p: Categorical[int]) -> None:
    assert divergence(p, p) == pytest.approx(0, abs=CLOSE)
    reordered = Categorical(p.support[::-1], p.log_probs[::-1])
    assert divergence(p, reordered) == pytest.approx(0, abs=CLOSE)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_only_equal_distributions_do_not_diverge(a: float, b: float) -> None:
    p, q = (Categorical.from_scores([("x", math.log(z)), ("y", math.log(1 - z))]) for z in (a, b))
    if abs(a - b) > 1e-3:
        assert divergence(p, q) > 1e-8


def test_what_has_nothing_in_common_diverges_by_one_bit() -> None:
    assert divergence(Categorical.uniform("ab"), Categorical.uniform("cd")) == pytest.approx(1)
    half = Categorical.uniform("ab"), Categorical.uniform("bc")
    assert divergence(*half) == pytest.approx(0.5)


# Probability as it is said


@given(st.dictionaries(st.integers(), st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1).filter(any_positive))
def test_shares_become_probabilities(shares: dict[int, float]) -> None:
    p = Categorical.of(shares)
    total = math.fsum(shares.values())
    assert p.support == tuple(shares)
    for x, share in shares.items():
        assert p[x] == pytest.approx(share / total, rel=1e-9)


@pytest.mark.parametrize("shares", [{}, {"a": 0.0}, {"a": -1.0, "b": 2.0}])
def test_shares_of_nothing_and_negative_ones_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"at least one outcome|0 or more"):
        Categorical.of(shares)


@given(categoricals, st.integers(0, 3))
def test_a_joint_distribution_has_both_margins(p: Categorical[int], shift: int) -> None:
    law = kernel(shift)
    both = p.joint(law.__getitem__)
    assert_same(both.map(lambda pair: pair[0]), p)
    assert_same(both.map(lambda pair: pair[1]), p.bind(law.__getitem__))


@given(categoricals, st.integers(0, 3), st.integers(0, 6))
def test_an_update_conditions_the_joint_distribution(p: Categorical[int], shift: int, y: int) -> None:
    law = kernel(shift)
    both = p.joint(law.__getitem__)
    if not both.expect(lambda pair: pair[1] == y):
        with pytest.raises(ValueError, match="at least one outcome"):
            p.update(lambda x: law[x].log_prob(y))
        return
    assert_same(
        p.update(lambda x: law[x].log_prob(y)), both.condition(lambda pair: pair[1] == y).map(lambda pair: pair[0])
    )


@pytest.mark.parametrize("lapse", [0.0, 0.1])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_scores_that_are_not_numbers_are_refused(place: int, lapse: float) -> None:
    scored = [0.0, -math.inf, 1.0]
    scored[place] = math.nan
    with pytest.raises(ValueError, match="not a number"):
        Categorical.softmax(zip("abc", scored, strict=True), lapse=lapse)

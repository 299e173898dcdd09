"""The plan of a study: Latin squares, whatever the numbers, seeds and pairs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.papers.protom.levels.kitchens import DESIGN
from otherminds.papers.protom.study.plan import NAMES, Trial, codenames, counterbalanced, default_levels
from otherminds.worlds.overcooked.level_files import KitchenLevel

WHO = ("none", "random", "protom")


def made(useful: int, necessary: int) -> list[KitchenLevel]:
    """Levels of which only names and classes are known."""
    kinds = ["useful"] * useful + ["necessary"] * necessary
    return [cast("KitchenLevel", SimpleNamespace(name=f"{kind}{i}", kind=kind)) for i, kind in enumerate(kinds)]


def plans(levels: list[KitchenLevel], who: tuple[str, ...], pairs: range, seed: int = 42) -> list[tuple[Trial, ...]]:
    return [counterbalanced(levels, who, pair, seed=seed) for pair in pairs]


numbers = st.integers(1, 5).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(1, 4).map(lambda k: k * n)).flatmap(
        lambda both: st.tuples(st.just(both[0]), st.just(both[1]), st.integers(0, both[1]))
    )
)


@pytest.mark.slow
@given(numbers, st.integers(0, 50), st.integers(0, 2**40))
def test_every_pair_plays_every_level_once_with_all_facilitators_equally_often(
    sizes: tuple[int, int, int], pair: int, seed: int
) -> None:
    n, total, useful = sizes
    levels, who = made(useful, total - useful), tuple(f"f{i}" for i in range(n))
    trials = counterbalanced(levels, who, pair, seed=seed)
    assert sorted(t.level for t in trials) == sorted(level.name for level in levels)
    assert Counter(t.facilitator for t in trials) == dict.fromkeys(who, total // n)
    for kind in ("useful", "necessary"):
        counts = Counter(t.facilitator for t in trials if t.level.startswith(kind))
        assert max(counts.values(), default=0) - min((counts[f] for f in who), default=0) <= 1
    assert len({t.seed for t in trials}) == total
    assert counterbalanced(levels, who, pair, seed=seed) == trials


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(numbers, st.integers(0, 50), st.integers(0, 2**40))
def test_over_consecutive_pairs_every_level_meets_every_facilitator_once(
    sizes: tuple[int, int, int], first: int, seed: int
) -> None:
    n, total, useful = sizes
    levels, who = made(useful, total - useful), tuple(f"f{i}" for i in range(n))
    played = [(t.level, t.facilitator) for p in plans(levels, who, range(first, first + n), seed) for t in p]
    assert Counter(played) == dict.fromkeys(product((level.name for level in levels), who), 1)


def test_in_the_papers_numbers_each_facilitator_has_one_useful_and_one_necessary_level() -> None:
    for trials in plans(default_levels(), WHO, range(9)):
        kinds = {level.name: level.kind for level in default_levels()}
        assert Counter((t.facilitator, kinds[t.level]) for t in trials) == dict.fromkeys(
            product(WHO, ("useful", "necessary")), 1
        )


def test_facilitators_take_turns_in_balanced_orders() -> None:
    """Six pairs: each plays once before any plays again, and all six orders occur, in the first and second half."""
    orders = [[t.facilitator for t in trials] for trials in plans(made(3, 3), WHO, range(6))]
    for order in orders:
        assert set(order[:3]) == set(order[3:]) == set(WHO)
        assert all(a != b for a, b in pairwise(order))
    assert len({tuple(order[:3]) for order in orders}) == len({tuple(order[3:]) for order in orders}) == 6
    for block, place in product((orders[:3], orders[3:]), range(6)):
        assert sorted(order[place] for order in block) == sorted(WHO)


@pytest.mark.parametrize("seed", range(6))
def test_levels_come_in_every_place(seed: int) -> None:
    """Whichever facilitator comes first, levels come as often in one place as in another, as far as chance goes."""
    places = Counter((t.level, i) for p in plans(made(3, 3), WHO, range(60), seed) for i, t in enumerate(p))
    assert len(places) == 36
    assert all(3 <= times <= 18 for times in places.values())  # ten expected, with a standard deviation below three
    for first in range(0, 12, 3):
        block = plans(made(3, 3), WHO, range(first, first + 3), seed)
        for place in range(6):
            assert len({trials[place].level for trials in block}) == 3


def test_seeds_and_pairs_make_a_difference() -> None:
    a, b = (plans(made(3, 3), WHO, range(6), seed) for seed in (1, 2))
    assert a != b
    assert len({t.seed for trials in (*a, *b) for t in trials}) == 72


WRONG: dict[str, tuple[Any, Any, int, str]] = {
    "no levels": ([], WHO, 1, "a study needs a level"),
    "nobody": (made(3, 3), (), 1, "a study needs a facilitator"),
    "a level twice": (made(3, 0) * 2, WHO, 1, "the level `useful0` comes twice"),
    "a facilitator twice": (made(3, 3), ("none", "none"), 1, "the facilitator `none` comes twice"),
    "a level too many": (made(4, 3), WHO, 1, r"7 levels cannot be shared equally .* \(a multiple of 3"),
    "fewer levels than facilitators": (made(1, 1), WHO, 1, "2 levels cannot be shared"),
    "a negative pair": (made(3, 3), WHO, -1, "no pair -1"),
}


@pytest.mark.parametrize(("levels", "who", "pair", "said"), WRONG.values(), ids=WRONG)
def test_numbers_that_cannot_work(levels: Any, who: Any, pair: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        counterbalanced(levels, who, pair, seed=1)


def test_the_usual_levels_are_the_smallest_of_both_classes() -> None:
    def size(level: KitchenLevel) -> int:
        return sum(map(len, level.world.layout.rows))

    chosen = default_levels()
    assert [level.kind for level in chosen] == ["useful"] * 3 + ["necessary"] * 3
    for kind in ("useful", "necessary"):
        sizes = sorted(size(level) for level in DESIGN.bundled() if level.kind == kind)
        assert [size(level) for level in chosen if level.kind == kind] == sizes[:3]


def test_codenames_tell_nothing() -> None:
    names = codenames(("none", "protom", "random", "lm:gpt-4o"), 7)
    assert set(names) == {"protom", "random", "lm:gpt-4o"}
    assert len(set(names.values())) == 3
    assert set(names.values()) <= set(NAMES)
    assert codenames(("none", "protom", "random", "lm:gpt-4o"), 7) == names
    assert len({codenames(("protom",), seed)["protom"] for seed in range(40)}) > 5
    assert codenames(("none",), 1) == {}


def test_codenames_are_nobodys_in_a_kitchen_and_run_out() -> None:
    assert not set(NAMES) & {agent for level in DESIGN.bundled() for agent in level.world.agents}
    with pytest.raises(InputError, match="12 codenames for 13 facilitators"):
        codenames([f"f{i}" for i in range(13)], 1)

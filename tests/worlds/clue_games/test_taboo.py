"""Taboo: rules, guessers and clue givers, against brute force on a small table."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from otherminds.mind import Mindreader
from otherminds.testing import check_mind, check_world
from otherminds.world import rollout
from otherminds.worlds.clue_games.associations import UNKNOWN, Associations, Associator, bundled_associations, strengths
from otherminds.worlds.clue_games.taboo import CLUES, COST, PASS, PRIZE, Taboo, TabooExchange, TabooState, TabooView
from otherminds.worlds.clue_games.taboo_players import (
    PRECISION,
    TabooGuesser,
    bayesian,
    best,
    clue_values,
    earned,
    egocentric,
    guessers,
    informed,
    random,
)

TABLE = {
    "ship": {"sea": {"sail": 0.9, "wave": 0.5, "mast": 0.7}, "science": {"metal": 0.4, "steam": 0.6}},
    "pan": {"kitchen": {"fry": 0.9, "lid": 0.8}, "science": {"metal": 0.7, "steam": 0.3, "heat": 0.4}},
    "radio": {"sea": {"mast": 0.5}, "science": {"wave": 0.8, "metal": 0.2, "dial": 0.9, "heat": 0.1}},
    "soup": {"kitchen": {"lid": 0.4, "steam": 0.7, "bowl": 0.9}, "sea": {"wave": 0.1}, "science": {"heat": 0.5}},
    "gull": {"sea": {"wave": 0.6, "mast": 0.4}, "kitchen": {"bowl": 0.1}, "science": {"sail": 0.2, "fry": 0.3}},
}
SMALL = Taboo(6, Associations(TABLE))
PEOPLE = tuple(
    TabooGuesser(SMALL, Associator(known)) for known in ((), ("sea",), ("kitchen", "science"), ("sea", "science"))
)
WORDS = range(len(TABLE))


def chance(guesser: TabooGuesser, clues: tuple[int, ...], wrong: tuple[int, ...], guess: int) -> float:
    """P(guess), from the table."""

    def pull(word: int) -> float:
        by_clue = dict.fromkeys(clues, 0.0)
        for name, entries in TABLE[SMALL.associations.words[word]].items():
            for clue, strength in entries.items():
                if (i := SMALL.associations.clues.index(clue)) in by_clue:
                    by_clue[i] = max(by_clue[i], strength * (1.0 if name in guesser.person.known else UNKNOWN))
        return math.exp(PRECISION * sum(by_clue.values()))

    return 0.0 if guess in wrong else pull(guess) / sum(pull(word) for word in WORDS if word not in wrong)


def brute_force(guesser: TabooGuesser, target: int, clues: tuple[int, ...], wrong: tuple[int, ...]) -> float:
    """The value of the best response by trying every clue, guess by guess."""
    return max(expected(guesser, target, (*clues, clue), wrong) for clue in SMALL.allowed[target] if clue not in clues)


def expected(guesser: TabooGuesser, target: int, clues: tuple[int, ...], wrong: tuple[int, ...]) -> float:
    total = -COST + PRIZE * chance(guesser, clues, wrong, target)
    for guess in WORDS if len(clues) < CLUES else ():
        if guess != target and guess not in wrong:
            total += chance(guesser, clues, wrong, guess) * brute_force(guesser, target, clues, (*wrong, guess))
    return total


def test_the_bundled_table_is_whole() -> None:
    table = bundled_associations()
    assert len(table.words) == len(set(table.words)) == 41
    assert not set(table.words) & set(table.clues)
    assert min(len({clue for clues in fields.values() for clue in clues}) for fields in table.table.values()) >= 7
    assert min(len(fields) for fields in table.table.values()) >= 4
    known = strengths(table, table.conventional)
    assert known.min() == 0.0
    assert known.max() <= 1.0
    people = list(table.people)
    assert len(people) == len(set(people)) == 21
    assert all((strengths(table, person) <= known).all() for person in people)


def test_unknown_fields_leave_little_and_the_best_known_meaning_counts() -> None:
    table = SMALL.associations
    ship, sail = table.words.index("ship"), table.clues.index("sail")
    assert strengths(table, Associator(("sea",)))[ship, sail] == 0.9
    assert strengths(table, Associator(("kitchen",)))[ship, sail] == pytest.approx(0.9 * UNKNOWN)
    both = Associations({"gull": {"sea": {"wing": 0.9}, "farm": {"wing": 0.4}}})
    assert [strengths(both, Associator(known))[0, 0] for known in (("farm",), ("sea",), ("sea", "farm"))] == [
        0.4,
        0.9,
        0.9,
    ]


# Rules


def test_the_world_keeps_its_promises() -> None:
    check_world(SMALL)


def test_the_obvious_clues_are_banned() -> None:
    named = [[SMALL.associations.clues[clue] for clue in banned] for banned in SMALL.banned]
    assert named[0] == ["sail", "mast"]
    assert all(not set(banned) & set(allowed) for banned, allowed in zip(SMALL.banned, SMALL.allowed, strict=True))


def test_rounds_end_with_the_word_or_after_three_clues() -> None:
    rng = np.random.default_rng(0)
    state = TabooState(0, 0, (), (), None)
    rewards = []
    for guess in (1, 2, 3):
        clue = SMALL.actions(state, "giver")[0]
        state = SMALL.step(state, {"giver": clue, "guesser": PASS}, rng)
        joint = {"giver": PASS, "guesser": guess}
        assert guess in SMALL.actions(state, "guesser")
        after = SMALL.step(state, joint, rng)
        rewards.append(SMALL.reward(state, joint, after)["giver"])
        assert after.last is not None
        state = after
        assert (state.rounds, after.last.over) == ((1, True) if guess == 3 else (0, False))
        assert SMALL.observe(state, "guesser").target is None
    assert rewards == [-COST] * 3
    state = TabooState(0, 0, (1,), (), None)
    joint = {"giver": PASS, "guesser": 0}
    assert SMALL.reward(state, joint, SMALL.step(state, joint, rng))["guesser"] == PRIZE - COST
    with pytest.raises(ValueError, match="giver cannot do"):
        SMALL.step(TabooState(0, 0, (), (), None), {"giver": SMALL.banned[0][0], "guesser": PASS}, rng)


def test_a_game_needs_words_and_clues() -> None:
    for rounds, table in ((0, TABLE), (3, {"ship": TABLE["ship"]}), (3, TABLE | {"cup": {"sea": {"sail": 0.1}}})):
        with pytest.raises(ValueError, match="at least 1 round"):
            Taboo(rounds, Associations(table))


# Exact values


@pytest.mark.parametrize("guesser", PEOPLE, ids=lambda guesser: guesser.name)
def test_guesses_follow_associations(guesser: TabooGuesser) -> None:
    for clues, wrong in (((0,), ()), ((3, 1), (2,)), ((5, 2, 7), (4, 1))):
        law = guesser.observe(TabooView(None, clues, wrong, None)).act()
        assert [law.prob(g) for g in WORDS] == pytest.approx([chance(guesser, clues, wrong, g) for g in WORDS])
    assert guesser.act().mode == PASS


@pytest.mark.slow
@pytest.mark.parametrize("guesser", PEOPLE, ids=lambda guesser: guesser.name)
def test_the_best_response_by_brute_force(guesser: TabooGuesser) -> None:
    for target in WORDS:
        worth = brute_force(guesser, target, (), ())
        assert clue_values((guesser,), target).max() == pytest.approx(worth, abs=1e-9)
        first, second = SMALL.allowed[target][:2]
        for wrong in (g for g in WORDS if g != target):
            after = brute_force(guesser, target, (first,), (wrong,))
            assert best(guesser, TabooExchange(target, (first,), (wrong,))) == pytest.approx(worth - after, abs=1e-9)
            last = TabooExchange(target, (first, second), (wrong, target))
            assert best(guesser, last) == pytest.approx(after, abs=1e-9)


@pytest.mark.slow
def test_what_is_earned_with_another_guesser_by_brute_force() -> None:
    def followed(
        assumed: TabooGuesser, true: TabooGuesser, target: int, clues: tuple[int, ...], wrong: tuple[int, ...]
    ) -> float:
        options = [clue for clue in SMALL.allowed[target] if clue not in clues]
        clue = max(options, key=lambda clue: round(expected(assumed, target, (*clues, clue), wrong), 9))
        clues = (*clues, clue)
        total = -COST + PRIZE * chance(true, clues, wrong, target)
        for guess in WORDS if len(clues) < CLUES else ():
            if guess != target and guess not in wrong:
                total += chance(true, clues, wrong, guess) * followed(assumed, true, target, clues, (*wrong, guess))
        return total

    for assumed, true in product(PEOPLE[1:3], PEOPLE[:2]):
        mean = np.mean([followed(assumed, true, target, (), ()) for target in WORDS])
        assert earned(assumed, true) == pytest.approx(mean, abs=1e-9)


@pytest.mark.slow
def test_nobody_beats_a_giver_that_knows_the_guesser() -> None:
    partners = tuple(guessers(SMALL))
    lost = [earned(true, true) - earned(assumed, true) for assumed in partners for true in partners]
    assert min(lost) >= -1e-9
    assert max(lost) > 0.1


# Givers


def test_a_giver_that_knows_its_guesser_gives_the_best_clue() -> None:
    for guesser, target in product(PEOPLE, WORDS):
        giver = informed(guesser).observe(TabooView(target, (), (), None))
        values = {clue: expected(guesser, target, (clue,), ()) for clue in SMALL.allowed[target]}
        assert all(values[clue] == pytest.approx(max(values.values()), abs=1e-9) for clue in giver.act().support)


@pytest.mark.slow
def test_the_posterior_is_bayes_rule() -> None:
    giver = bayesian(SMALL).observe(TabooView(0, (), (), None))
    giver = giver.observe(TabooView(0, (1,), (), None))
    partners = tuple(guessers(SMALL))
    mixture = [np.mean([chance(k, (1,), (), g) for k in partners]) for g in WORDS]
    assert [giver.predict().prob(g) for g in WORDS] == pytest.approx(mixture)
    giver = giver.observe(TabooView(0, (1,), (2,), TabooExchange(0, (1,), (2,))))
    giver = giver.observe(TabooView(0, (1, 3), (2,), TabooExchange(0, (1,), (2,))))
    giver = giver.observe(TabooView(4, (), (), TabooExchange(0, (1, 3), (2, 0))))
    weights = np.array([chance(k, (1,), (), 2) * chance(k, (1, 3), (2,), 0) for k in partners])
    assert giver.partners.posterior.probs == pytest.approx(list(weights / weights.sum()))


def test_givers_that_do_not_learn() -> None:
    view = TabooView(1, (), (), None)
    assert random(SMALL).observe(view).act().support == SMALL.allowed[1]
    assert egocentric(SMALL).partners.minds[0].person == SMALL.associations.conventional
    assert egocentric(SMALL).act().mode == PASS


@pytest.mark.slow
@pytest.mark.parametrize("make", [bayesian, egocentric, random])
def test_players_keep_their_promises(make: object) -> None:
    giver: Mindreader[TabooView, int] = make(SMALL)  # type: ignore[operator]
    check_mind(giver, SMALL, partners={"guesser": PEOPLE[1]})
    check_mind(PEOPLE[1], SMALL, agent="guesser")


@pytest.mark.slow
def test_fields_are_found_out() -> None:
    world = Taboo(40)
    partner = list(guessers(world))[8]
    giver = bayesian(world)
    steps = list(rollout(world, {"giver": giver, "guesser": partner}, steps=300, rng=np.random.default_rng(5)))
    giver = giver.observe(world.observe(steps[0].state, "giver"))
    for step in steps:
        giver = giver.observe(world.observe(step.after, "giver"))
    assert giver.partners.ask(lambda mind: mind.name).mode == partner.name

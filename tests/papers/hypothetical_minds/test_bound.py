"""The bound: exact values at the level of meetings, losses that are never negative, and its player."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
from otherminds.papers.hypothetical_minds.bound import (
    BestResponse,
    _checked_choice,
    bound,
    judged,
    judged_at_once,
    known_partner,
    margin_of,
    values,
)
from otherminds.papers.hypothetical_minds.experiment import Played
from otherminds.planning.best_response import best_response
from otherminds.worlds.in_the_matrix.bots import ABLE, MatrixBot
from otherminds.worlds.in_the_matrix.hypotheses import machine_of, meeting_game, typical_inventory
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.memory import EVERYWHERE
from otherminds.worlds.in_the_matrix.scenarios import bot, scenarios
from otherminds.worlds.in_the_matrix.strategies import Aim, FollowUp, Inventory, Strategy, play_of

BOTS = sorted({n for one in scenarios() for n in one.bots if one.substrate != "cooking_asymmetric"})
ALONE = [name for name in BOTS if bot(name).strategy is not None and not name.startswith("rws_arena")]
AS_FAR_AHEAD = [  # those whose aims all have the margin 5
    *("rws_repeated__rock_margin_0", "rws_repeated__flip_r2s_1", "rws_repeated__resp2prev_margin_0"),
    *("pd_repeated__grim_one_strike_margin_0", "pd_repeated__tft_margin_0", "pd_repeated__tft_tremble_margin_0"),
    *("pd_repeated__corrigible_0", "pd_repeated__corrigible_tremble_0"),
]
GRIM = "pd_repeated__grim_one_strike_margin_0"
C, D = (6, 1), (1, 6)


def strategy_of(name: str) -> Strategy:
    found = bot(name).strategy
    assert found is not None
    return found


# Values


@pytest.mark.parametrize("name", AS_FAR_AHEAD)
def test_values_are_those_of_the_best_response_to_the_machine(name: str) -> None:
    rules = in_the_matrix(name.partition("__")[0]).rules
    game = meeting_game(rules)
    machine = machine_of(name, strategy_of(name), game)
    found = values(known_partner(rules, strategy_of(name), 5), 30).best[:, 0]
    expected = [best_response(game.payoff(), machine.chances, h).values[0, 0] for h in range(31)]
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_lead_of_its_own_and_of_the_partner_count() -> None:
    rules = in_the_matrix("rws_repeated").rules
    found = known_partner(rules, strategy_of("rws_repeated__flip_r2s_0"), 9)  # rock by 1 twice, then scissors by 5
    assert found.expected[0, 1] == pytest.approx(rules.reward((1, 10, 1), (2, 1, 1))[0])
    assert values(found, 2).best[2, 0] == pytest.approx(2 * rules.reward((1, 10, 1), (2, 1, 1))[0])
    after_two = rules.reward((10, 1, 1), (1, 1, 6))[0]
    assert values(found, 3).best[3, 0] - values(found, 2).best[2, 0] == pytest.approx(after_two)


# Losses


def test_to_defect_on_who_is_grim_loses_what_is_ahead() -> None:
    rules, margin = in_the_matrix("pd_repeated").rules, 5
    met = [(D, C), (D, D), (D, D)]
    first, second, third = judged(rules, strategy_of(GRIM), margin, met, [1, 1, 1])
    cc, dc, dd = (rules.reward(own, theirs)[0] for own, theirs in ((C, C), (D, C), (D, D)))
    assert first.loss == pytest.approx(2 * cc + dc - (dc + 2 * dd))
    assert (first.likeliest, second.likeliest) == ((0,), (1,))
    assert (second.loss, third.loss) == (0.0, 0.0)
    assert sum(choice.best for choice in (first, second, third)) == pytest.approx(2 * cc + dc)


def test_only_what_is_wanted_loses() -> None:
    rules = in_the_matrix("pd_repeated").rules
    (choice,) = judged(rules, strategy_of(GRIM), 5, [(C, C)], [None])
    assert choice.loss == 0.0
    (meant,) = judged(rules, strategy_of(GRIM), 5, [(C, C)], [1])
    assert meant.loss == 0.0
    (choice,) = judged(rules, strategy_of(GRIM), 5, [(D, C)], [0])
    assert choice.loss == pytest.approx(rules.reward(D, C)[0] - rules.reward(C, C)[0])


@pytest.mark.parametrize("name", ALONE)
def test_losses_are_never_negative_and_the_best_adds_up_to_the_optimum(name: str) -> None:
    """Whatever both hold, ties and plays that were not meant included."""
    rules, rng = in_the_matrix(name.partition("__")[0]).rules, np.random.default_rng(7)
    kinds = len(rules.resources)
    held = [*(typical_inventory(kind, kinds, 3) for kind in range(kinds)), rules.empty]
    for margin, n in product((1, 5, 11), (1, 8, 25)):
        met = [(held[a], held[b]) for a, b in rng.integers(kinds + 1, size=(n, 2)).tolist()]
        wanted = [play_of(own) for own, _ in met]
        found = judged(rules, strategy_of(name), margin, met, wanted)
        assert min(choice.loss for choice in found) >= 0.0
        optimum = values(known_partner(rules, strategy_of(name), margin), n).best[n, 0]
        assert sum(choice.best for choice in found) == pytest.approx(optimum)


def test_a_choice_that_is_better_than_the_best_is_an_error() -> None:
    with pytest.raises(ValueError, match="better than the best"):
        _checked_choice(1.0, -0.01, np.array([1.0, 0.0]))


def test_among_many_the_best_is_of_one_meeting() -> None:
    rules = in_the_matrix("rws_arena").rules
    lost = [judged_at_once(rules, Aim(0, 3), 6, kind).loss for kind in (0, 1, 2)]
    pays = [rules.reward(typical_inventory(kind, 3, 6), (4, 1, 1))[0] for kind in (0, 1, 2)]
    assert lost == pytest.approx([pays[1] - pay for pay in pays])
    assert judged_at_once(rules, Aim(0, 3), 6, None) == (pays[1], 0.0, (0,))


amounts = st.floats(0.0, 100.0)


@given(*[st.tuples(amounts, st.floats(-4.0, 4.0), amounts, amounts) for _ in range(2)])
def test_the_four_losses_add_up_to_the_bound_less_the_score(mine: tuple[float, ...], its: tuple[float, ...]) -> None:
    ours, best = (Played("0", often * pay, often, pay, *lost) for often, pay, *lost in (mine, its))
    assert sum(ours.losses(best).values()) == pytest.approx(best.score - ours.score, abs=1e-6)


def test_without_a_strategy_to_know_there_are_no_losses() -> None:
    assert Played("0", 3.0).losses(Played("0", 4.0)) == {}


# The player


@pytest.mark.parametrize("name", BOTS)
def test_for_every_bot_a_lead_was_found(name: str) -> None:
    assert (bot(name).strategy is not None) <= margin_of([name]) <= 13


def test_it_has_the_map_and_never_slips() -> None:
    for name in ("rws_repeated__rock_margin_0", "rws_repeated__free_0", "rws_arena__rock_margin_0"):
        world = in_the_matrix(name.partition("__")[0])
        mind = bound(world, world.agents[0], [name] * (len(world.agents) - 1), np.random.default_rng(0))
        body = mind.body if isinstance(mind, HypotheticalMinds) else mind
        assert isinstance(body, MatrixBot)
        assert body.skill == ABLE
        assert body.memory is not None
        assert body.memory.explored == EVERYWHERE


def test_among_many_it_knows_what_each_plays_in_the_end() -> None:
    world = in_the_matrix("rws_arena")
    names = [f"rws_arena__{name}" for name in ("rock_margin_0", "flip_r2s_0", "flip_s2p_0", *["paper_margin_1"] * 4)]
    mind = bound(world, world.agents[0], names, np.random.default_rng(0))
    assert isinstance(mind, HypotheticalMinds)
    assert [theory.predict().mode for theory in mind.theories[1:]] == [0, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ALONE)
def test_a_best_response_loses_nothing_but_at_the_end(name: str) -> None:
    """It does not know when an episode ends, so only near the end is there anything better."""
    rules, margin = in_the_matrix(name.partition("__")[0]).rules, 5
    kinds, rng = len(rules.resources), np.random.default_rng(3)
    mine, theirs = BestResponse(known_partner(rules, strategy_of(name), margin), margin), strategy_of(name)
    own, other = mine.start().sample(rng), theirs.start().sample(rng)
    met, wanted = list[tuple[Inventory, Inventory]](), list[int | None]()
    for _ in range(20):
        here, there = (typical_inventory(one.aim.kind, kinds, one.aim.margin) for one in (own, other))
        met.append((here, there))
        wanted.append(own.aim.kind)
        own, other = mine.update(own, *met[-1]).sample(rng), theirs.update(other, *met[-1][::-1]).sample(rng)
    lost = [choice.loss for choice in judged(rules, strategy_of(name), margin, met, wanted)]
    assert max(lost[:14]) == pytest.approx(0.0, abs=1e-6)


def test_against_who_watches_it_beats_the_reply_to_its_last_play() -> None:
    world = in_the_matrix("rws_repeated")
    mind = bound(world, world.agents[0], ["rws_repeated__free_0"], np.random.default_rng(0))
    assert isinstance(mind, MatrixBot)
    assert isinstance(mind.strategy, FollowUp)
    assert [aim.kind for aim in mind.strategy.aims] == [2, 0, 1]


def test_among_many_who_watch_it_meets_nobody() -> None:
    world = in_the_matrix("rws_arena")
    mind = bound(world, world.agents[0], ["rws_arena__free_0"] * 7, np.random.default_rng(0))
    assert isinstance(mind, MatrixBot)
    state = world.start(np.random.default_rng(1))
    assert dict(mind.observe(world.observe(state, world.agents[0])).act()) == {"noop": 1.0}

"""The table of scenarios: all thirty and one of our own, and every bot by its rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from pydantic import TypeAdapter

from otherminds.errors import InputError
from otherminds.worlds.in_the_matrix.scenarios import Scenario, bot, draw, scenario, scenarios
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    Corrigible,
    CounterPrevious,
    Grim,
    Script,
    TitForTat,
    flip,
    specialist,
)

UPSTREAM = tuple(found for found in scenarios() if found.upstream)
EXACT_STRATEGY = "exact strategy, scripted body"


def test_there_are_thirty_scenarios_of_four_substrates_and_one_of_our_own() -> None:
    assert Counter(found.substrate for found in UPSTREAM) == {
        "rws_repeated": 9,
        "rws_arena": 8,
        "pd_repeated": 10,
        "cooking_asymmetric": 3,
    }
    assert [found.id for found in scenarios() if not found.upstream] == ["rws_arena_3_documented"]
    assert len({found.id for found in scenarios()}) == len({found.upstream for found in scenarios()}) == 31


def test_twenty_five_play_exact_strategies_four_are_approximate_and_one_is_exact() -> None:
    assert Counter(found.fidelity for found in UPSTREAM) == {EXACT_STRATEGY: 25, "approximate": 4, "exact": 1}
    assert {found.id for found in UPSTREAM if found.fidelity == "approximate"} == {
        "rws_repeated_5",
        "rws_arena_1",
        "cooking_asymmetric_0",
        "cooking_asymmetric_1",
    }
    assert scenario("cooking_asymmetric_2").fidelity == "exact"


def test_a_strategy_is_called_exact_just_where_all_bots_have_one() -> None:
    for found in scenarios():
        assert (found.fidelity == EXACT_STRATEGY) == all(bot(name).strategy for name in found.bots), found.id


def test_every_bot_is_met_somewhere_and_only_bodies_have_no_strategy() -> None:
    met = {name for found in scenarios() for name in found.bots}
    bodies = {bot(name).rule for name in met if bot(name).strategy is None}
    assert len(met) == 45
    assert bodies == {"scout", "skilled", "semi-skilled", "idle"}


def test_bots_of_a_scenario_are_different_ones_of_its_substrate() -> None:
    for found in scenarios():
        assert len(set(found.bots)) == len(found.bots) > 0, found.id  # one listed twice would be drawn twice as often
        assert {bot(name).name.partition("__")[0] for name in found.bots} == {found.substrate}


def test_the_table_has_values_of_the_declared_types() -> None:
    for found in scenarios():
        assert TypeAdapter(Scenario).validate_python(asdict(found)) == found


def test_the_same_name_means_other_margins_in_other_substrates() -> None:
    rocks = [bot(f"{substrate}__rock_margin_0").strategy for substrate in ("rws_repeated", "rws_arena")]
    assert rocks == [specialist(Aim(0, 5)), specialist(Aim(0, 3))]


def test_flips_count_real_interactions_one_fewer_than_upstream_says() -> None:
    assert bot("rws_repeated__flip_r2s_0").strategy == flip(Aim(0, 1), Aim(2, 5), interactions=2)
    assert bot("rws_repeated__flip_r2s_1").strategy == flip(Aim(0, 5), Aim(2, 5), interactions=1)
    assert bot("pd_repeated__flip_0").strategy == flip(Aim(0, 1), Aim(1, 5), interactions=2)


def test_the_third_of_the_arena_never_flips_to_rock_unless_as_documented() -> None:
    def kinds(name: str) -> set[int]:
        strategies = [bot(name).strategy for name in scenario(name).bots]
        return {
            strategy.aims[-1].kind for strategy in strategies if isinstance(strategy, Script) and len(strategy.aims) > 1
        }

    assert (kinds("rws_arena_3"), kinds("rws_arena_3_documented")) == ({2}, {0})


def test_reciprocators_name_cooperation_first() -> None:
    tit_for_tat = TitForTat(Aim(0, 5), Aim(1, 5), 0.15)
    assert bot("pd_repeated__tft_tremble_margin_0").strategy == tit_for_tat
    assert bot("pd_repeated__corrigible_tremble_0").strategy == Corrigible(3, tit_for_tat)
    assert bot("pd_repeated__grim_two_strikes_margin_1").strategy == Grim(Aim(0, 7), Aim(1, 7), 2)


def test_the_counter_to_rock_is_paper_to_paper_scissors_and_to_scissors_rock() -> None:
    assert bot("rws_repeated__resp2prev_margin_0").strategy == CounterPrevious((Aim(1, 5), Aim(2, 5), Aim(0, 5)))


def met(name: str, slots: int, episode: int, seed: int = 5) -> tuple[str, ...]:
    return draw(scenario(name), slots, episode, np.random.default_rng(seed))


def test_the_bots_of_an_episode_are_independent() -> None:
    three = scenario("rws_arena_2")
    episodes = [met("rws_arena_2", 7, 0, seed) for seed in range(1000)]
    first_two = Counter(episode[:2] for episode in episodes)
    assert all(len(episode) == 7 for episode in episodes)
    assert set(first_two) == {(a, b) for a in three.bots for b in three.bots}
    assert all(abs(seen - 1000 / 9) < 4.5 * (1000 / 9 * 8 / 9) ** 0.5 for seen in first_two.values())


@pytest.mark.parametrize(("name", "slots"), [("rws_repeated_3", 1), ("pd_repeated_0", 1), ("rws_arena_0", 7)])
def test_over_episodes_each_slot_has_all_bots_equally_often(name: str, slots: int) -> None:
    bots = scenario(name).bots
    episodes = [met(name, slots, n) for n in range(2 * len(bots))]
    for count in range(1, len(episodes) + 1):
        for slot in zip(*episodes[:count], strict=True):
            often = [slot.count(one) for one in bots]
            assert max(often) - min(often) <= 1
    assert Counter(one for episode in episodes for one in episode) == dict.fromkeys(bots, 2 * slots)
    assert episodes[: len(bots)] != episodes[len(bots) :]


def test_a_seed_fixes_who_is_met() -> None:
    assert met("rws_arena_0", 7, 3, seed=8) == met("rws_arena_0", 7, 3, seed=8) != met("rws_arena_0", 7, 3, seed=9)
    assert all(type(name) is str for name in met("rws_arena_0", 7, 3))


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no scenario `rws_aren_3` \(did you mean rws_arena_3\?\)"):
        scenario("rws_aren_3")
    with pytest.raises(InputError, match=r"no bot `pd_repeated__tft_margin_2` \(did you mean pd_repeated__tft_margin"):
        bot("pd_repeated__tft_margin_2")
    with pytest.raises(InputError, match=r"no bot `!` \(there is rws_repeated__rock_0, .* and \d+ more; "):
        bot("!")


def test_a_scenario_is_found_by_its_id_its_short_name_and_its_name_in_melting_pot() -> None:
    for listed in scenarios():
        names = {listed.id, listed.name, *([listed.upstream] if listed.upstream else [])}
        assert {scenario(name) for name in names} == {listed}
    assert len({listed.name for listed in scenarios()}) == 31


def test_the_name_of_a_bot_is_the_scenario_of_that_bot_alone() -> None:
    alone = scenario("rws_repeated__flip_r2s_0")
    assert (alone.substrate, alone.bots) == ("rws_repeated", ("rws_repeated__flip_r2s_0",))
    assert alone.meaning == "rock with a lead of 1 until 2 interactions, then scissors"
    assert scenario("pd_repeated__grim_one_strike_margin_1").meaning == (
        "cooperates until 1 defections, then defects for ever, with a lead of 7"
    )

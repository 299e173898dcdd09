"""The small Hanabi: rules, conventions and players, against full enumeration of deals with the rules themselves."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from otherminds.testing import check_mind, check_world
from otherminds.worlds.clue_games.small_hanabi import (
    DISCARD,
    HINT_COLOUR,
    HINT_RANK,
    PASS,
    PLAY,
    CardKnowledge,
    HanabiScene,
    SmallHanabi,
    SmallHanabiState,
)
from otherminds.worlds.clue_games.small_hanabi_players import (
    Convention,
    SecondPlayer,
    bayesian,
    believed,
    best,
    conventions,
    earned,
    egocentric,
    informed,
    literal,
    value,
)

SMALL = SmallHanabi(4, copies=(1, 1), tokens=1)
TWO_OF_ONE = SmallHanabi(4, copies=(2, 1), tokens=1)
RNG = np.random.default_rng(0)
PARTNERS = tuple(conventions(SMALL))
States = dict[SmallHanabiState, float]


def deals(world: SmallHanabi) -> States:
    """All states after the deal, equally likely."""
    pile = [card for card, count in enumerate(world.cards) for _ in range(count)]
    states: States = defaultdict(float)
    orders = list(permutations(pile))
    for first, second, *deck in orders:
        states[SmallHanabiState(0, (HanabiScene(world.first_table, first),), second, tuple(deck), None)] += 1 / len(
            orders
        )
    return states


def after_first(world: SmallHanabi, partner: Convention, states: States) -> tuple[float, list[States]]:
    """The expected reward of the partner's turn, and the states after it, by what the second player sees."""
    reward, by_scenes = 0.0, dict[tuple[HanabiScene, ...], States]()
    for state, p in states.items():
        joint = {"first": partner.observe(world.observe(state, "first")).act().mode, "second": PASS}
        after = world.step(state, joint, RNG)
        reward += p * world.reward(state, joint, after)["second"]
        by_scenes.setdefault(after.scenes, {})[after] = p
    return reward, list(by_scenes.values())


def after_second(world: SmallHanabi, states: States, action: int) -> tuple[float, list[States]]:
    """The same for an action of the second player; games that end have no states after it."""
    reward, by_scenes = 0.0, dict[tuple[HanabiScene, ...], States]()
    for state, p in states.items():
        joint = {"first": PASS, "second": action}
        after = world.step(state, joint, RNG)
        reward += p * world.reward(state, joint, after)["second"]
        if after.rounds == state.rounds:
            by_scenes.setdefault(after.scenes, {})[after._replace(last=None)] = p
    return reward, list(by_scenes.values())


def brute_force(world: SmallHanabi, partner: Convention, states: States) -> float:
    """The value of the best response times P(states), over whole states with their decks."""
    reward, groups = after_first(world, partner, states)
    for group in groups:
        options = world.actions(next(iter(group)), "second")
        branches = (after_second(world, group, action) for action in options)
        reward += max(now + sum(brute_force(world, partner, later) for later in rest) for now, rest in branches)
    return reward


def followed(world: SmallHanabi, player: SecondPlayer, partner: Convention, states: States) -> float:
    """What a player earns, over whole states with their decks."""
    reward, groups = after_first(world, partner, states)
    for group in groups:
        view = world.observe(next(iter(group)), "second")
        now, rest = after_second(world, group, player.observe(view).act().mode)
        reward += now + sum(followed(world, player, partner, later) for later in rest)
    return reward


def by_card(world: SmallHanabi) -> list[States]:
    """The deals, by the first player's card."""
    groups: dict[tuple[HanabiScene, ...], States] = defaultdict(dict)
    for state, p in deals(world).items():
        groups[state.scenes][state] = p
    return list(groups.values())


@cache
def optimum(world: SmallHanabi, partner: Convention) -> float:
    return sum(brute_force(world, partner, states) for states in by_card(world))


# Rules


@pytest.mark.parametrize("world", [SMALL, SmallHanabi()])
def test_the_world_keeps_its_promises(world: SmallHanabi) -> None:
    check_world(world)


def test_a_game_by_hand() -> None:
    # cards: 0, 1 red ranks 1, 2; 2, 3 blue ranks 1, 2
    world = SmallHanabi(copies=(1, 1), tokens=1, lives=2)
    state = SmallHanabiState(0, (HanabiScene(world.first_table, 0),), 3, (1, 2), None)
    assert world.actions(state, "first") == (PLAY, DISCARD, HINT_COLOUR, HINT_RANK)
    assert world.actions(state, "second") == (PASS,)
    state = world.step(state, {"first": HINT_COLOUR, "second": PASS}, RNG)
    assert state.scenes[-1].table.told == (CardKnowledge(), CardKnowledge(colour=1, last=HINT_COLOUR))
    assert world.actions(state, "second") == (PLAY, DISCARD)  # no token is left
    joint = {"first": PASS, "second": PLAY}
    after = world.step(state, joint, RNG)
    assert world.reward(state, joint, after) == {"first": 0.0, "second": 0.0}  # blue 2 before blue 1
    assert (after.scenes[-1].table.lives, after.own, after.deck) == (1, 1, (2,))
    assert after.scenes[-1].table.told[1] == CardKnowledge()
    joint = {"first": PLAY, "second": PASS}
    state = world.step(after, joint, RNG)
    assert world.reward(after, joint, state) == {"first": 1.0, "second": 1.0}
    assert (state.scenes[-1].table.heights, state.scenes[-1].card, state.scenes[-1].table.deck) == ((1, 0), 2, 0)
    joint = {"first": PASS, "second": PLAY}
    end = world.step(state, joint, RNG)  # red 2 on red 1, and the deck is empty
    assert world.reward(state, joint, end)["first"] == 1.0
    assert end.rounds == 1
    assert end.last is not None
    assert (end.last.own, end.last.action, end.last.over) == (1, PLAY, True)


def test_the_last_life_costs_everything() -> None:
    world = SmallHanabi(copies=(1, 1), lives=1)
    table = world.first_table._replace(heights=(2, 0), gone=(1, 1, 0, 0), deck=1)
    state = SmallHanabiState(0, (HanabiScene(table, 3),), 2, (), None)
    joint = {"first": PLAY, "second": PASS}
    after = world.step(state, joint, RNG)
    assert world.reward(state, joint, after)["second"] == -2.0
    assert world.actions(after, "second") == (PASS,)
    assert world.step(after, {"first": PASS, "second": PASS}, RNG).rounds == 1


def test_discards_return_tokens_up_to_all_of_them() -> None:
    state = next(iter(deals(SMALL)))
    after = SMALL.step(state, {"first": DISCARD, "second": PASS}, RNG)
    assert after.scenes[-1].table.tokens == 1
    spent = state._replace(scenes=(HanabiScene(SMALL.first_table._replace(tokens=0), state.scenes[0].card),))
    assert SMALL.step(spent, {"first": DISCARD, "second": PASS}, RNG).scenes[-1].table.tokens == 1
    with pytest.raises(ValueError, match="first cannot do 2 now"):
        SMALL.step(spent, {"first": HINT_COLOUR, "second": PASS}, RNG)


def test_nobody_sees_its_own_card() -> None:
    state = next(iter(deals(SMALL)))
    assert SMALL.observe(state, "first") == SMALL.observe(
        state._replace(scenes=(state.scenes[0]._replace(card=9),)), "first"
    )
    assert SMALL.observe(state, "second") == SMALL.observe(state._replace(own=9, deck=()), "second")
    after = SMALL.step(state, {"first": DISCARD, "second": PASS}, RNG)
    after = SMALL.step(after, {"first": PASS, "second": HINT_RANK}, RNG)
    view = SMALL.observe(after, "second")
    assert view.last is not None
    assert view.last.own is None


def test_a_game_needs_cards() -> None:
    for wrong in ({"rounds": 0}, {"copies": (1, 0)}, {"lives": 0}, {"colours": 1, "copies": (1,)}):
        with pytest.raises(ValueError, match="at least 1 round"):
            SmallHanabi(**wrong)


# Conventions


def test_twelve_conventions_that_differ() -> None:
    assert len({partner.name for partner in PARTNERS}) == 12


@pytest.mark.parametrize(
    ("meaning", "own", "told", "action"),
    [
        ("hints play", 0, CardKnowledge(), HINT_COLOUR),  # playable: says so
        ("ranks hint play", 0, CardKnowledge(), HINT_RANK),
        ("colours play", 1, CardKnowledge(), DISCARD),  # not playable, which silence says already
        ("hints save", 1, CardKnowledge(), HINT_COLOUR),  # silence would mean play
        ("hints save", 0, CardKnowledge(), PLAY),
        ("ranks play", 0, CardKnowledge(rank=0, last=HINT_RANK), HINT_RANK),
        ("colours play", 1, CardKnowledge(colour=0, last=HINT_COLOUR), PLAY),
    ],
)
def test_what_conventions_do(meaning: str, own: int, told: CardKnowledge, action: int) -> None:
    partner = Convention(SMALL, meaning, helpful=True)
    table = SMALL.first_table._replace(told=(told, CardKnowledge()))
    assert partner.action(table, own) == action


# Exact values


@pytest.mark.slow
@pytest.mark.parametrize("partner", PARTNERS, ids=lambda partner: partner.name)
def test_the_best_response_by_brute_force(partner: Convention) -> None:
    for states in by_card(SMALL):
        scenes = next(iter(states)).scenes
        worth = brute_force(SMALL, partner, states) / sum(states.values())
        assert value(partner, believed(partner, scenes)[1]) == pytest.approx(worth, abs=1e-9)


@pytest.mark.slow
def test_the_best_response_with_equal_cards_by_brute_force() -> None:
    for partner in list(conventions(TWO_OF_ONE))[::5]:
        assert earned(partner, partner) == pytest.approx(optimum(TWO_OF_ONE, partner), abs=1e-9)


@pytest.mark.slow
def test_what_is_earned_with_another_convention_by_brute_force() -> None:
    for assumed, true in product(PARTNERS[::3], PARTNERS[::2]):
        player = informed(assumed)
        worth = sum(followed(SMALL, player, true, states) for states in by_card(SMALL))
        assert earned(assumed, true) == pytest.approx(worth, abs=1e-9)


@pytest.mark.slow
def test_nobody_beats_a_player_that_knows_the_convention() -> None:
    lost = [[earned(true, true) - earned(assumed, true) for true in PARTNERS] for assumed in PARTNERS]
    assert np.min(lost) >= -1e-9
    assert np.max(lost) > 0.5
    bayes = bayesian(SMALL)
    for true in PARTNERS[::4]:
        worth = sum(followed(SMALL, bayes, true, states) for states in by_card(SMALL))
        assert worth <= optimum(SMALL, true) + 1e-9


# Beliefs


@pytest.mark.slow
def test_beliefs_by_enumeration() -> None:
    """P(own card | everything seen), from whole states, for a player that knows its partner and one that does not."""

    def check(states: dict[Convention, States], depth: int) -> None:
        scenes = next(state.scenes for group in states.values() for state in group)
        view = SMALL.observe(next(state for group in states.values() for state in group), "second")
        total = sum(p for group in states.values() for p in group.values())
        own = [sum(p for g in states.values() for s, p in g.items() if s.own == card) / total for card in range(4)]
        assert bayesian(SMALL).observe(view).predict().map(int).probs == pytest.approx(own, abs=1e-9)
        for partner, group in states.items():
            weight = sum(group.values())
            own = [sum(p for s, p in group.items() if s.own == card) / weight for card in range(4)]
            assert believed(partner, scenes)[1].own == pytest.approx(own, abs=1e-9)
        if not depth:
            return
        if len(scenes) % 2:
            split = {partner: after_first(SMALL, partner, group)[1] for partner, group in states.items()}
        else:
            options = SMALL.moves(view.table)
            action = options[depth % len(options)]
            split = {partner: after_second(SMALL, group, action)[1] for partner, group in states.items()}
        later: dict[tuple[HanabiScene, ...], dict[Convention, States]] = defaultdict(dict)
        for partner, groups in split.items():
            for group in groups:
                later[next(iter(group)).scenes][partner] = group
        for group_of in later.values():
            check(group_of, depth - 1)

    for states in by_card(SMALL):
        check(dict.fromkeys(PARTNERS, states), 4)


def test_surprised_players_take_hints_at_their_word() -> None:
    state = SmallHanabiState(0, (HanabiScene(SMALL.first_table, 0),), 3, (1, 2), None)
    after = SMALL.step(state, {"first": HINT_COLOUR, "second": PASS}, RNG)
    player = informed(PARTNERS[0]).observe(SMALL.observe(after, "second"))  # it would hint a playable card only
    assert believed(PARTNERS[0], after.scenes)[0] == pytest.approx(1 / 3)
    assert player.predict().mode == 2
    after = SMALL.step(after, {"first": PASS, "second": PLAY}, RNG)
    chance, belief = believed(PARTNERS[0], after.scenes)
    assert chance == 0.0
    assert belief.own == pytest.approx((0.0, 0.5, 0.5, 0.0))


def test_literal_players_hear_no_more_than_the_hint() -> None:
    state = SmallHanabiState(0, (HanabiScene(SMALL.first_table, 0),), 2, (1, 3), None)
    after = SMALL.step(state, {"first": HINT_COLOUR, "second": PASS}, RNG)
    view = SMALL.observe(after, "second")
    assert literal(SMALL).observe(view).predict().probs == pytest.approx((0.0, 0.0, 0.5, 0.5))
    assert informed(PARTNERS[0]).observe(view).predict().probs == pytest.approx((0.0, 0.0, 1.0, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("make", [bayesian, egocentric, literal])
def test_players_keep_their_promises(make: object) -> None:
    world = SmallHanabi()
    partner = list(conventions(world))[9]
    check_mind(make(world), world, agent="second", partners={"first": partner})  # type: ignore[operator]
    check_mind(partner, world, agent="first")


def test_the_worth_of_a_pair_is_what_is_left_of_the_game() -> None:
    partner = PARTNERS[4]
    state = next(iter(deals(SMALL)))
    start, total, rounds = believed(partner, state.scenes)[1], 0.0, state.rounds
    while state.rounds == rounds:
        joint = {"first": partner.observe(SMALL.observe(state, "first")).act().mode, "second": PASS}
        state = SMALL.step(state, joint, RNG)
        state = SMALL.step(state, {"first": PASS, "second": SMALL.actions(state, "second")[-1]}, RNG)
        assert state.last is not None
        total += best(partner, state.last)
    assert total == pytest.approx(value(partner, start), abs=1e-9)

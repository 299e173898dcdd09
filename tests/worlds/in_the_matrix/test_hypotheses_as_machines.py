"""Strategies as machines: they play alike after every history, and the game pays what meetings pay."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from otherminds.distribution import Categorical
from otherminds.worlds.in_the_matrix.hypotheses import machine_of, meeting_game, named_strategies, typical_inventory
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.scenarios import bot, scenarios
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    Corrigible,
    CounterPrevious,
    FollowUp,
    Grim,
    Inventory,
    Script,
    Strategy,
    StrategyState,
    TitForTat,
    Whim,
    flip,
    specialist,
)
from otherminds.worlds.repeated_games.machines import Machine, Partner
from otherminds.worlds.repeated_games.rules import Outcome

RWS, PD = in_the_matrix("rws_repeated").rules, in_the_matrix("pd_repeated").rules
RULES = {3: RWS, 2: PD}
ROUNDS, SLIPPING_ROUNDS = 5, 3
ROCK, PAPER, SCISSORS = Aim(0, 5), Aim(1, 3), Aim(2, 7)
C, D = Aim(0, 5), Aim(1, 5)
Weights = Mapping[StrategyState, float]


def bots_of(substrate: str) -> dict[str, Strategy]:
    """The strategies of all bots that are met somewhere in a substrate."""
    names = [name for found in scenarios() if found.substrate == substrate for name in found.bots]
    return {name: strategy for name in names if (strategy := bot(name).strategy) is not None}


def known(rules: Rules) -> dict[str, Strategy]:
    return dict(named_strategies(rules))


@dataclasses.dataclass(frozen=True)
class Faithful:
    """Any of its aims, and that one for ever: what it plays tells all that there is to know."""

    aims: tuple[Aim, ...]

    def start(self) -> Categorical[StrategyState]:
        return Categorical.uniform(StrategyState(aim) for aim in self.aims)

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        return Categorical((state,), (0.0,))


OTHERS: dict[int, dict[str, Strategy]] = {
    3: {
        "whim of two": Whim((ROCK, SCISSORS)),
        "faithful": Faithful((ROCK, PAPER, PAPER)),
        "often rock": Whim((ROCK, ROCK, PAPER)),
        "script": Script((PAPER, ROCK, PAPER, SCISSORS)),
    },
    2: {
        "whim": Whim((C, D)),
        "trembles often": TitForTat(C, D, 0.4),
        "reforms, trembling often": Corrigible(2, TitForTat(C, D, 0.4)),
    },
}
STRATEGIES = [
    pytest.param(kinds, strategy, id=f"{substrate} {name}")
    for substrate, kinds in (("rws_repeated", 3), ("rws_arena", 3), ("pd_repeated", 2))
    for name, strategy in {
        **bots_of(substrate),
        **({} if substrate == "rws_arena" else {**known(RULES[kinds]), **OTHERS[kinds]}),
    }.items()
]


# The oracle: all that a strategy may be in, with plain probabilities and inventories of its own


def share(weights: Weights, kind: int) -> float:
    return sum(p for state, p in weights.items() if state.aim.kind == kind)


def law_of(weights: Weights, kinds: int) -> list[float]:
    """P(next play | history), from the joint probabilities of a state and the history."""
    return [share(weights, kind) / sum(weights.values()) for kind in range(kinds)]


def onward(strategy: Strategy, weights: Weights, own: int, theirs: int, kinds: int) -> dict[StrategyState, float]:
    """A meeting later; who has played what it could not has slipped, and is in the state it was in."""
    mine, other = (tuple(2 + 3 * (k == played) for k in range(kinds)) for played in (own, theirs))
    possible, found = share(weights, own) > 0, dict[StrategyState, float]()
    for state, p in weights.items():
        if state.aim.kind == own or not possible:
            for after, q in strategy.update(state, mine, other):
                found[after] = found.get(after, 0.0) + p * q
    return found


def histories(
    strategy: Strategy, mind: Partner, kinds: int, rounds: int, *, slips: bool
) -> Iterator[tuple[Partner, Weights]]:
    """The machine and the oracle after every history of up to so many meetings, in which it may slip or not."""
    edge: list[tuple[Partner, Weights]] = [(mind, dict(strategy.start()))]
    yield from edge
    for _ in range(rounds):
        ahead: list[tuple[Partner, Weights]] = []
        for mind, weights in edge:
            for own, theirs in product(range(kinds), repeat=2):
                if slips or share(weights, own) > 0:
                    after = onward(strategy, weights, own, theirs, kinds)
                    ahead.append((mind.observe(Outcome(own, theirs, 0.0)), after))
        yield from ahead
        edge = ahead


def as_law(mind: Partner, kinds: int) -> list[float]:
    return [mind.act().prob(kind) for kind in range(kinds)]


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "strategy"), STRATEGIES)
def test_a_machine_plays_as_its_strategy_does_after_every_history(kinds: int, strategy: Strategy) -> None:
    found = machine_of("m", strategy, meeting_game(RULES[kinds]))
    for rounds, slips in ((ROUNDS, False), (SLIPPING_ROUNDS, True)):
        for mind, weights in histories(strategy, found.start, kinds, rounds, slips=slips):
            assert as_law(mind, kinds) == pytest.approx(law_of(weights, kinds), abs=1e-6)


def test_what_was_played_tells_of_a_tremble() -> None:
    """A trembling strategy knows what it chose: the other choice of its start is out of the question after a play."""
    either = Corrigible(1, TitForTat(C, D, 0.25))
    mind = machine_of("m", either, meeting_game(PD)).start.observe(Outcome(1, 1, 0.0))
    assert as_law(mind, 2) == pytest.approx([0.75, 0.25])
    for played in (0, 1):
        assert as_law(mind.observe(Outcome(played, 0, 0.0)), 2) == pytest.approx([0.75, 0.25])
        assert as_law(mind.observe(Outcome(played, 1, 0.0)), 2) == pytest.approx([0.25, 0.75])


# Slips


def plays(found: Machine, *rounds: tuple[int, int]) -> int:
    """What a machine is certain to play after these rounds: what it did, what the other did."""
    mind = found.start
    for own, theirs in rounds:
        mind = mind.observe(Outcome(own, theirs, 0.0))
    (played,) = [kind for kind, p in enumerate(found.outputs[mind.state]) if p == 1.0]
    return played


def test_somebody_who_slips_goes_on_as_if_it_had_not() -> None:
    flipping = machine_of("flip", flip(ROCK, SCISSORS, 2), meeting_game(RWS))
    assert [plays(flipping, *[(1, 0)] * n) for n in range(4)] == [0, 0, 2, 2]
    grim = machine_of("grim", Grim(C, D, 2), meeting_game(PD))
    assert [plays(grim, *[(1, 1)] * n) for n in range(4)] == [0, 0, 1, 1]
    assert plays(machine_of("always", specialist(PAPER), meeting_game(RWS)), (2, 2), (0, 1)) == 1
    copy = machine_of("tft", TitForTat(C, D), meeting_game(PD))
    assert plays(copy, (1, 0)) == 0
    assert plays(copy, (1, 1)) == 1


def test_who_goes_by_its_own_last_play_goes_by_a_slip_too() -> None:
    found = machine_of("cycle", FollowUp(ROCK, (PAPER, SCISSORS, ROCK)), meeting_game(RWS))
    assert [plays(found, (own, 0)) for own in range(3)] == [1, 2, 0]


def test_an_answer_to_the_last_play_starts_anywhere() -> None:
    found = machine_of("counter", CounterPrevious((PAPER, SCISSORS, ROCK)), meeting_game(RWS))
    assert as_law(found.start, 3) == pytest.approx([1 / 3] * 3)
    assert [plays(found, (own, theirs)) for own in range(3) for theirs in range(3)] == [1, 2, 0] * 3


# Sizes: states that are known to be the same are one


@pytest.mark.parametrize(
    ("kinds", "strategy", "states"),
    [
        (3, specialist(ROCK), 1),
        (3, flip(ROCK, PAPER, 3), 4),
        (3, CounterPrevious((PAPER, SCISSORS, ROCK)), 4),
        (3, FollowUp(ROCK, (PAPER, SCISSORS, ROCK)), 3),
        (3, Whim((ROCK, PAPER, SCISSORS)), 1),
        (2, TitForTat(C, D), 2),
        (2, TitForTat(C, D, 0.15), 2),
        (2, Grim(C, D, 2), 3),
        (2, Corrigible(3, TitForTat(C, D, 0.15)), 5),
    ],
)
def test_a_machine_has_no_more_states_than_it_needs(kinds: int, strategy: Strategy, states: int) -> None:
    assert len(machine_of("m", strategy, meeting_game(RULES[kinds])).outputs) == states


def test_margins_do_not_matter_to_a_machine() -> None:
    game = meeting_game(PD)
    near, far = (machine_of("m", Grim(Aim(0, m), Aim(1, m), 2), game) for m in (1, 7))
    assert (near.outputs, near.moves) == (far.outputs, far.moves)


# The game


def one_sided(rules: Rules) -> Rules:
    """Rules by which the players are paid differently."""
    return dataclasses.replace(rules, payoffs=(((1.0, 7.0), (2.0, -3.0)), ((5.0, 0.5), (11.0, -2.0))))


def test_one_holds_one_of_each_and_the_margin_more_of_what_one_plays() -> None:
    assert typical_inventory(1, 3) == (1, 6, 1)
    assert typical_inventory(0, 2, margin=7) == (8, 1)


@pytest.mark.parametrize("margin", [1, 5, 7])
@pytest.mark.parametrize("rules", [*(in_the_matrix(name).rules for name in SUBSTRATES), one_sided(PD)])
def test_the_game_pays_what_a_meeting_pays(rules: Rules, margin: int) -> None:
    game, kinds = meeting_game(rules, margin), range(len(rules.resources))
    for a, b in product(kinds, repeat=2):
        x, y = (tuple(1 + margin if k == played else 1 for k in kinds) for played in (a, b))
        row, column = rules.reward(x, y)
        assert game.payoff()[a, b] == row
        assert game.payoff(1)[b, a] == column
    assert game.actions == (rules.resources, rules.resources)


def test_paper_against_rock_pays_as_is_known() -> None:
    assert meeting_game(RWS).payoff()[1, 0] == pytest.approx(3.90625)
    assert meeting_game(PD).payoff().ravel() == pytest.approx([2.837, 0.592, 4.163, 1.408], abs=5e-4)

"""Posterior sampling: what is drawn, when, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.evaluation.literal_functional import expected_regret, functional_regret, tom_percent
from otherminds.evaluation.tasks import Task, play
from otherminds.worlds.repeated_games.machines import Machine, Partner, constant
from otherminds.worlds.repeated_games.partners import memory_one, single_action, tit_for_tat
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.best_responders import response_to
from otherminds.worlds.repeated_games.players.learners import tabular
from otherminds.worlds.repeated_games.players.partner_hypotheses import reactive_observer
from otherminds.worlds.repeated_games.players.posterior_sampling import PosteriorSampling
from otherminds.worlds.repeated_games.rules import Game, Outcome
from strategies import generator

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
WIDE = Game("wide", ("you", "partner"), (("a", "b"), ("x", "y", "z")), tuple((n * 5 % 6, 0) for n in range(6)))
GAMES = (RPS, IBS, IPD, WIDE)
TINY = 1e-9

Pair = tuple[int, int]


def episode(player: PosteriorSampling, partner: Machine, rounds: int) -> Iterator[tuple[PosteriorSampling, Pair]]:
    """The player before each round, and what it and a partner that leaves nothing to chance then do."""
    mind = partner.start
    for _ in range(rounds):
        own, theirs = player.act().mode, mind.act().mode
        yield player, (own, theirs)
        player, mind = player.observe(Outcome(own, theirs, 0.0)), mind.observe(Outcome(theirs, own, 0.0))


def deeds(player: PosteriorSampling, partner: Machine, rounds: int = 40) -> list[int]:
    return [own for _, (own, _) in episode(player, partner, rounds)]


def held(player: PosteriorSampling) -> Partner:
    assert player.sampled is not None
    return player.sampled


def mean_regret(game: Game, partners: Sequence[Machine], seeds: int, horizon: int = 100) -> float:
    """The mean over partners and seeds, per round."""
    tasks = [Task(game, machine, horizon) for machine in partners]
    players = [PosteriorSampling.of(game, generator(seed), horizon=horizon) for seed in range(seeds)]
    return float(np.mean([expected_regret(task, player) for task in tasks for player in players]))


# Randomness


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_same_seed_gives_the_same_play(game: Game) -> None:
    partner = memory_one(game)[5]
    one, same = (PosteriorSampling.of(game, generator(3)) for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert deeds(one, partner) == deeds(same, partner)


@pytest.mark.slow
def test_seeds_differ() -> None:
    partner = memory_one(RPS)[40]
    assert len({tuple(deeds(PosteriorSampling.of(RPS, generator(seed)), partner)) for seed in range(10)}) > 2


def test_draws_of_different_rounds_differ() -> None:
    """Even if nothing is learned between them, as with a partner that does all by chance."""
    player, names = PosteriorSampling.of(IPD, generator(), noise=1.0, every=1), set()
    for _ in range(20):
        names.add(held(player).machine.name)
        player = player.observe(Outcome(0, 0, 0.0))
    assert len(names) > 5


# What is drawn, and when


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
@pytest.mark.parametrize("every", [1, 3, 1000])
def test_who_is_drawn_would_have_done_all_that_was_seen(game: Game, every: int) -> None:
    """If the partner is not expected to slip, and does not."""
    for number, machine in enumerate(memory_one(game)[::5]):
        player = PosteriorSampling.of(game, generator(number), noise=TINY, every=every)
        seen: list[Pair] = []
        for mind, pair in episode(player, machine, 12):
            retold = held(mind).machine.start
            for own, theirs in seen:
                assert retold.act().mode == theirs
                retold = retold.observe(Outcome(theirs, own, 0.0))
            assert retold == held(mind)
            seen.append(pair)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 99), st.integers(1, 5), st.lists(st.integers(0, 1), min_size=12, max_size=12))
def test_who_is_drawn_stays_for_some_rounds_unless_it_is_refuted(seed: int, every: int, replies: list[int]) -> None:
    player = PosteriorSampling.of(IPD, generator(seed), every=every)
    for t, reply in enumerate(replies, 1):
        before, own = held(player), player.act().mode
        expected = before.act().prob(reply) > 0.5
        player = player.observe(Outcome(own, reply, 0.0))
        assert player.t == t
        if expected and t % every:
            assert held(player) == before.observe(Outcome(reply, own, 0.0))


def redrawn(every: int, rounds: int = 12) -> set[int]:
    """The rounds after which another partner was drawn, in many episodes with one who is never refuted."""
    found = set[int]()
    for seed in range(60):
        player = PosteriorSampling.of(IPD, generator(seed), every=every)
        for t in range(1, rounds + 1):
            before = held(player)
            player = player.observe(Outcome(player.act().mode, before.act().mode, 0.0))
            if held(player).machine != before.machine:
                found.add(t)
    return found


@pytest.mark.parametrize(("every", "rounds"), [(1, {1, 2, 3, 4, 5, 6}), (3, {3, 6}), (4, {4}), (100, set())])
def test_another_one_is_drawn_every_few_rounds(every: int, rounds: set[int]) -> None:
    assert redrawn(every, 6) == rounds


def test_who_is_refuted_is_replaced_at_once() -> None:
    for seed in range(30):
        player = PosteriorSampling.of(IPD, generator(seed), noise=TINY, every=1000)
        for t in range(6):
            unlikely = 1 - held(player).act().mode
            player = player.observe(Outcome(t % 2, unlikely, 0.0))
            first = held(player).machine.start.act().mode
            assert t > 0 or first == unlikely


@pytest.mark.parametrize("kind", ["constant", "reactive", "memory_one"])
def test_partners_are_drawn_from_the_prior_that_is_given(kind: str) -> None:
    sizes = {"constant": 2, "reactive": 8, "memory_one": 32}
    drawn = {held(PosteriorSampling.of(IPD, generator(s), prior={kind: 1.0})).machine.outputs for s in range(300)}
    assert len(drawn) == sizes[kind]


# What is done


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 99), st.lists(st.integers(0, 1), max_size=12), st.integers(1, 10))
def test_it_plays_the_best_response_to_who_is_drawn(seed: int, replies: list[int], horizon: int) -> None:
    player = PosteriorSampling.of(IPD, generator(seed), horizon=horizon)
    for reply in replies:
        player = player.observe(Outcome(player.act().mode, reply, 0.0))
    plan = response_to(IPD, held(player).machine, horizon)
    assert player.act().support == (plan.actions[min(len(replies), horizon - 1), held(player).state],)


def test_it_expects_what_the_posterior_does() -> None:
    player, observer = PosteriorSampling.of(IPD, generator(), noise=0.1), reactive_observer(IPD, noise=0.1)
    for own, theirs in [(0, 1), (1, 1), (0, 0), (0, 1), (1, 0)]:
        assert player.predict() == observer.predict()
        player = player.observe(Outcome(own, theirs, 0.0))
        observer = observer.watch(theirs, Outcome(theirs, own, 0.0))
    assert player.observe(None) == player


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_whatever_the_partner_does_it_goes_on(game: Game) -> None:
    player, rng = PosteriorSampling.of(game, generator(1), horizon=30), generator(2)
    for _ in range(35):
        action = player.act().mode
        assert 0 <= action < game.shape[0]
        player = player.observe(Outcome(action, int(rng.integers(game.shape[1])), 0.0))


# What comes of it


@pytest.mark.slow
@pytest.mark.parametrize(("game", "most"), [(RPS, 0.03), (IBS, 0.16), (IPD, 0.08)], ids=["rps", "ibs", "ipd"])
def test_it_finds_out_who_always_does_the_same(game: Game, most: float) -> None:
    found = mean_regret(game, single_action(game), 8)
    floor = {"rps": 0.01, "ibs": 0.035, "ipd": 0.0}[game.name]
    assert floor <= found < most


@pytest.mark.slow
@pytest.mark.parametrize(("game", "most"), [(RPS, 0.1), (IBS, 0.35), (IPD, 0.33)], ids=["rps", "ibs", "ipd"])
def test_it_finds_out_tit_for_tat(game: Game, most: float) -> None:
    assert mean_regret(game, tit_for_tat(game), 12) < most


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_in_the_end_nothing_is_lost_to_who_always_does_the_same(game: Game) -> None:
    for number, machine in enumerate(single_action(game)):
        task = Task(game, machine)
        rows = list(play(task, PosteriorSampling.of(game, generator(number)), rng=generator()))
        assert sum(row["reward"] for row in rows[-30:]) == pytest.approx(task.best_by_round[-30:].sum())
        assert tom_percent(rows[-30:]) == 100


@pytest.mark.slow
@pytest.mark.parametrize("game", [IBS, IPD], ids=lambda game: game.name)
def test_with_partners_who_tremble_it_loses_less_than_who_is_surprised_once(game: Game) -> None:
    tasks = [Task(game, machine.trembling(0.05)) for machine in (*single_action(game), *tit_for_tat(game))]
    lost = {"sampler": list[float](), "rmax": list[float]()}
    for task in tasks:
        for seed in range(8):
            for name, player in (("sampler", PosteriorSampling.of(game, generator(seed))), ("rmax", tabular(game))):
                rows = list(play(task, player, rng=generator(seed), partner_rng=generator(100 + seed)))
                lost[name].append(functional_regret(task, rows))
    assert np.mean(lost["sampler"]) < np.mean(lost["rmax"])


@pytest.mark.slow
def test_it_is_worth_more_to_find_out_if_more_rounds_are_left() -> None:
    short, long = (mean_regret(IBS, [constant(IBS, 1)], 10, horizon) for horizon in (10, 100))
    assert long < short

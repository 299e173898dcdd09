"""PPO learns what it should from what happened, and nothing else; where PyTorch is missing, that is told."""

from __future__ import annotations

import importlib
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.evidence.ppo_rollouts import Environments, Float, Rollout, Settings, advantages, chosen, lessons_of
from benchmarks.evidence.train_ppo import Progress, keep, main, train
from odd_matrix_worlds import odd
from otherminds.errors import InputError
from otherminds.papers.hypothetical_minds.ppo import Network, read_network
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix

SMALL = Settings(seats=24, length=16, hidden=(8, 8), parts=2, epochs=2, trials=4, between=2)
WORLD = odd(payoffs="payoffs: 1 0.5, 0.1 3", column_payoffs="column payoffs: 0.1 1, 0.5 0.3")


def torch_learner() -> Any:
    pytest.importorskip("torch", reason="needs PyTorch: the extra `train`")
    pytest.importorskip("numba", reason="needs Numba: the extra `fast`")
    return importlib.import_module("benchmarks.evidence.ppo_learner")


class Evenly:
    """Acts at random, and expects the number of a seat's features that are 1."""

    def judge(self, features: Float, /) -> tuple[Float, Float]:
        shape = features.shape[:-1]
        return np.full((*shape, 8), -math.log(8), np.float32), (features == 1).sum(-1).astype(np.float32)


def rollouts(count: int, settings: Settings = SMALL, world: InTheMatrix = WORLD) -> list[Rollout]:
    pytest.importorskip("numba", reason="needs Numba: the extra `fast`")
    rng = np.random.default_rng(0)
    table = Environments(world, settings, rng)
    return [table.play(Evenly(), rng) for _ in range(count)]


# What happened


def test_advantages_are_sums_of_surprises() -> None:
    """Â(t) = Σₖ (γλ)ᵏ δ(t+k) as it is written, up to the end of the episode."""
    rng, discount, trace = np.random.default_rng(1), 0.9, 0.8
    shape = (12, 2, 3)
    goes_on = rng.random(shape) < 0.8
    values, rewards = rng.normal(size=(13, 2, 3)), rng.normal(size=shape)
    blank = np.zeros(shape, np.float32)
    rollout = Rollout(blank, blank.astype(np.int64), blank, values, rewards, goes_on, goes_on, goes_on, goes_on)  # type: ignore[arg-type]
    found = advantages(rollout, discount, trace)
    for t, m, i in np.ndindex(shape):
        expected, weight = 0.0, 1.0
        for k in range(t, 12):
            later = discount * values[k + 1, m, i] if goes_on[k, m, i] else 0.0
            expected += weight * (rewards[k, m, i] + later - values[k, m, i])
            weight *= discount * trace * goes_on[k, m, i]
        assert found[t, m, i] == pytest.approx(expected)


@pytest.mark.slow
def test_episodes_follow_one_another_in_a_rollout() -> None:
    """The step after the last one of an episode begins another: nothing is earned, nothing learnt from it."""
    found = rollouts(3)
    for one in found:
        assert (one.live[1:] == (one.goes_on[:-1] | ~one.live[:-1])).all()
        assert not (one.goes_on & ~one.live).any()
        assert not (one.acting & ~one.live).any()
        assert (one.rewards[~one.live] == 0).all()
        assert one.values.shape == (17, 2, 12)
    assert sum(int((~one.live).sum()) for one in found) > 10


@pytest.mark.slow
def test_seats_keep_to_their_players() -> None:
    """What is paid shows in the features of the same seat one step later, for whoever it died of a meeting."""
    seen = 0
    for one in rollouts(6, replace(SMALL, length=40), odd(ends="ends: 300 100 0 300")):
        paid = (one.rewards[:-1] != 0) & one.live[:-1]
        assert one.features[1:][paid][:, -1] == pytest.approx(one.rewards[:-1][paid])
        seen += int(paid.sum())
    assert seen > 10


class Fixed:
    """The first member never moves, the second always shoots."""

    def judge(self, features: Float, /) -> tuple[Float, Float]:
        log_probs = np.full((*features.shape[:-1], 8), -np.inf, np.float32)
        log_probs[0, :, ACTIONS.index("noop")] = log_probs[1, :, ACTIONS.index("interact")] = 0
        return log_probs, np.zeros(features.shape[:-1], np.float32)


@pytest.mark.slow
def test_everybody_does_what_their_member_decides() -> None:
    pytest.importorskip("numba", reason="needs Numba: the extra `fast`")
    rng = np.random.default_rng(0)
    one = Environments(WORLD, SMALL, rng).play(Fixed(), rng)
    can_shoot = one.features[1:, ..., -6][one.goes_on[:-1]]  # before frozen or not, and what is known of a meeting
    member = np.broadcast_to(np.arange(2)[:, None], one.goes_on[:-1].shape)[one.goes_on[:-1]]
    assert (can_shoot[member == 0] == 1).all()
    assert (can_shoot[member == 1] < 1).mean() > 0.6


def test_one_rollout_goes_on_where_the_last_ended() -> None:
    first, second = rollouts(2)
    assert np.sort(first.values[-1].ravel()).tolist() == np.sort(second.values[0].ravel()).tolist()


def test_actions_are_drawn_by_their_chances() -> None:
    chances = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02, 0.0])
    with np.errstate(divide="ignore"):
        log_probs = np.broadcast_to(np.log(chances), (4, 20_000, 8)).astype(np.float32)
    counts = np.bincount(chosen(log_probs, np.random.default_rng(2)).ravel(), minlength=8) / 80_000
    assert counts == pytest.approx(chances, abs=0.006)
    assert counts[7] == 0


def test_lessons_keep_members_apart() -> None:
    one = rollouts(1)[0]
    features, actions, log_probs, gains, returns, acting, live = lessons_of(one, SMALL)
    assert features.shape == (2, 16 * 12, one.features.shape[-1])
    assert actions[1].tolist() == one.actions[:, 1].ravel().tolist()
    assert log_probs.shape == acting.shape == live.shape == (2, 16 * 12)
    assert (returns - gains)[0] == pytest.approx(one.values[:-1, 0].ravel(), abs=1e-5)


def test_figures_are_for_1200_steps() -> None:
    shape = (10, 1, 6)
    ones, zeros = np.ones(shape, bool), np.zeros(shape, np.float32)
    rewards, met = zeros.copy(), ~ones
    rewards[3, 0, :2], met[0, 0, :3] = 0.5, True
    rollout = Rollout(zeros, zeros.astype(np.int64), zeros, zeros, rewards, ones, ones, ones, met)
    assert rollout.figures(10.0) == pytest.approx({"reward": 0.5 * 2 * 10 * 20, "meetings": 3 * 20})


# What is learnt


def loss_by_hand(lessons: Any, log_probs: Float, values: Float, settings: Settings) -> float:
    """PPO's loss of the only member, sample by sample."""
    rows = range(lessons.actions.shape[1])
    acting = [i for i in rows if lessons.acting[0, i]]
    gains = [float(lessons.advantages[0, i]) for i in acting]
    mean = sum(gains) / len(gains)
    spread = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / len(gains))
    loss = 0.0
    for i, gain in zip(acting, gains, strict=True):
        ratio = math.exp(log_probs[0, i, int(lessons.actions[0, i])] - float(lessons.log_probs[0, i]))
        clipped = min(max(ratio, 1 - settings.clip), 1 + settings.clip)
        better = (gain - mean) / spread
        entropy = -sum(math.exp(lp) * lp for lp in log_probs[0, i].tolist())
        loss -= (min(ratio * better, clipped * better) + settings.entropy * entropy) / len(acting)
    live = [i for i in rows if lessons.live[0, i]]
    errors = [(float(values[0, i]) - float(lessons.returns[0, i])) ** 2 for i in live]
    return loss + settings.value * sum(errors) / len(errors)


def lessons_at_random(learner: Any, width: int, members: int, count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    shape = (members, count)
    arrays = (
        rng.normal(size=(*shape, width)).astype(np.float32),
        rng.integers(8, size=shape),
        np.log(rng.uniform(0.05, 0.3, size=shape)).astype(np.float32),
        *(rng.normal(size=shape).astype(np.float32) for _ in range(2)),
        *((rng.random(shape) < 0.7).astype(np.float32) for _ in range(2)),
    )
    return learner.Lessons(*map(learner.torch.from_numpy, arrays))


@pytest.mark.slow
def test_the_loss_is_that_of_the_paper() -> None:
    learner = torch_learner()
    settings = replace(SMALL, members=1)
    population = learner.Population(5, settings, np.random.default_rng(3))
    population.policy[-1][0].data.mul_(100)  # far from even chances, which all have the same entropy
    lessons = lessons_at_random(learner, 5, 1, 40, 4)
    log_probs, values = population.judge(lessons.features.numpy())
    assert log_probs.std() > 0.3
    loss, entropy = population._loss(lessons)
    assert float(loss.detach()) == pytest.approx(loss_by_hand(lessons, log_probs, values, settings), rel=1e-4)
    acting = lessons.acting[0].bool().numpy()
    assert float(entropy) == pytest.approx(float(-(np.exp(log_probs) * log_probs).sum(-1)[0, acting].mean()), rel=1e-5)


def test_members_share_nothing() -> None:
    """What one lives through changes nothing in another."""
    learner, found = torch_learner(), []
    for seed in (5, 6):
        population = learner.Population(5, SMALL, np.random.default_rng(3))
        lessons, other = (lessons_at_random(learner, 5, 2, 40, s) for s in (4, seed))
        for tensor, another in zip(lessons, other, strict=True):
            tensor[1] = another[1]
        population.improve(lessons, 1.0, np.random.default_rng(7))
        found.append(population.networks())
    assert flat(found[0][0]) == flat(found[1][0])
    assert flat(found[0][1]) != flat(found[1][1])


def flat(network: Network) -> list[float]:
    return [number for layer in network.layers for array in layer for number in array.ravel().tolist()]


def test_a_network_plays_as_its_member_does() -> None:
    learner = torch_learner()
    population = learner.Population(5, replace(SMALL, members=3), np.random.default_rng(3))
    population.improve(lessons_at_random(learner, 5, 3, 40, 4), 1.0, np.random.default_rng(7))
    features = np.random.default_rng(8).normal(size=(3, 6, 5)).astype(np.float32)
    log_probs, _ = population.judge(features)
    for network, seen, expected in zip(population.networks(), features, log_probs, strict=True):
        scores = network.scores(seen)
        assert scores - np.log(np.exp(scores).sum(-1, keepdims=True)) == pytest.approx(expected, abs=1e-5)


def trained(seed: int, steps: int = 600, settings: Settings = SMALL) -> list[Progress]:
    torch_learner()
    return list(train(WORLD, steps, np.random.default_rng(seed), settings))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_networks() -> None:
    one, same, other = (trained(seed) for seed in (1, 1, 2))
    assert [p.figures for p in one] == [p.figures for p in same]
    assert [flat(n) for n in one[-1].networks] == [flat(n) for n in same[-1].networks]
    assert flat(one[-1].networks[0]) != flat(other[-1].networks[0])
    assert flat(one[-1].networks[0]) != flat(one[-1].networks[1])
    assert [p.steps for p in one] == [128, 256, 384, 512, 640]
    assert ["against_random" in p.figures for p in one] == [True, False, True, False, True]


@pytest.mark.slow
def test_it_learns_to_meet_where_meeting_pays() -> None:
    settings = replace(SMALL, seats=96, length=32, hidden=(32,), rate=3e-3, epochs=4)
    found = [p.figures["reward"] for p in trained(3, 20 * 1024, settings)]
    assert np.mean(found[-5:]) > 1.25 * np.mean(found[:5]) > 0


def test_seats_that_do_not_come_out_even_are_refused() -> None:
    with pytest.raises(InputError, match="25 seats are not the same number for all of 3 players and 2 members"):
        trained(0, settings=replace(SMALL, seats=25))


# What is kept


@pytest.mark.slow
def test_what_is_kept_can_be_read_again(tmp_path: Path) -> None:
    files = keep(trained(4), "odd", tmp_path / "made" / "here")
    assert [file.name for file in files] == ["ppo-odd-1.npz", "ppo-odd-2.npz"]
    assert len(read_network(files[0], WORLD).layers) == 3
    rows = [json.loads(line) for line in (tmp_path / "made/here/curve.jsonl").read_text().splitlines()]
    assert [row["steps"] for row in rows] == [128, 256, 384, 512, 640]
    assert {"reward", "meetings", "entropy", "against_random"} < set(rows[0])
    assert "odd, per 1200 steps" in (tmp_path / "made/here/curve.svg").read_text()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: cannot be written"):
        keep([], "odd", tmp_path / "file")


def test_without_pytorch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "benchmarks.evidence.ppo_learner", raising=False)
    with pytest.raises(InputError, match=r"training needs PyTorch: .*pip install -e '\.\[train,fast\]'"):
        train(in_the_matrix("pd_repeated"), 1, np.random.default_rng(0))


@pytest.mark.slow
def test_the_script_writes_networks_and_a_curve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch_learner()
    main(["pd_repeated", "--steps", "1", "--out", str(tmp_path)])
    assert [Path(line).name for line in capsys.readouterr().out.split()] == [
        "ppo-pd_repeated-1.npz",
        "ppo-pd_repeated-2.npz",
        "curve.jsonl",
        "curve.svg",
    ]
    assert len(read_network(tmp_path / "ppo-pd_repeated-2.npz", in_the_matrix("pd_repeated")).layers) == 3


@pytest.mark.parametrize("wrong", [["nowhere"], ["pd_repeated", "--steps", "0"]])
def test_the_script_refuses_what_cannot_be_trained(wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(wrong)

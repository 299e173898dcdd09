"""The verdict of a check is true: agents whose exact loss is known are checked again and again."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.evidence.verdicts import GAMES, LIMIT, Meeting, MemoryAgent, agents, at_loss, expected, judged
from otherminds.papers.functional.verdicts import CheckPlan
from otherminds.worlds.repeated_games.payoff_files import find_game

TASKS = CheckPlan(tuple(map(find_game, GAMES))).tasks()
BY_NAME = {agent.name: agent for agent in agents()}


@pytest.mark.slow
def test_exact_losses_are_the_means_of_samples() -> None:
    rng = np.random.default_rng(0)
    for name in ("mixer 0.6", "careless spells 0.5", "careless episodes 0.4", "constant 1"):
        for task in (TASKS[0], TASKS[3], TASKS[9]):
            meeting = Meeting(BY_NAME[name], task)
            samples = meeting.sampled(2000, rng)
            error = samples.std(ddof=1) / len(samples) ** 0.5
            assert samples.mean() == pytest.approx(meeting.exact, abs=4.0 * error + 1e-9)


@pytest.mark.slow
def test_random_play_loses_one_and_a_mixer_can_be_made_for_any_loss_above_that_of_the_best() -> None:
    assert expected(BY_NAME["mixer 0"], TASKS) == pytest.approx(1.0)
    assert expected(at_loss(0.5, TASKS), TASKS) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixer 0.6", "careless spells 0.5", "careless episodes 0.5", "constant 0"])
def test_intervals_cover_and_verdicts_are_right(name: str) -> None:
    exact, covered, right, wrong, passes = judged(BY_NAME[name], TASKS, 60)
    assert exact > LIMIT
    assert covered >= 0.85
    assert wrong <= 0.1
    assert right >= (0.4 if "episodes" in name else 0.85)
    assert 3.0 <= passes <= 5.0


@pytest.mark.slow
def test_an_agent_close_to_the_limit_is_left_open_and_seldom_misjudged() -> None:
    _, covered, right, wrong, passes = judged(at_loss(0.499, TASKS), TASKS, 60)
    assert covered >= 0.85
    assert right + wrong <= 0.2
    assert wrong <= 0.1
    assert passes > 4.5


@pytest.mark.slow
def test_constant_agents_are_decided_after_three_passes() -> None:
    constant = MemoryAgent("constant 0", (1.0, 1.0), constant=0)
    assert judged(constant, TASKS, 5)[1:] == (1.0, 1.0, 0.0, 3.0)

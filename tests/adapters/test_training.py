"""Training games: exact rewards by brute force, held-out partners, and whatever a model may say."""

from __future__ import annotations

import inspect
from functools import cache
from itertools import islice, product

import numpy as np
import pytest

from otherminds.adapters.training import PartnerGame, curriculum
from otherminds.errors import InputError
from otherminds.evaluation.literal_functional import exact_losses, exact_reward, functional_regret
from otherminds.evaluation.partner_families import FAMILIES, stakes, tasks
from otherminds.evaluation.tasks import Row, Task
from otherminds.worlds.repeated_games.payoff_files import find_game

IPD = find_game("ipd")
EPISODES = [(game, family) for game in ("ipd", "ibs", "ordinal-017") for family in FAMILIES]
EPISODES += [("rps", family) for family in ("memory-one", "slipping", "changing", "learning")]


def begun(**columns: object) -> PartnerGame:
    env = PartnerGame()
    env.reset(**{"seed": 1, "rounds": 10} | columns)  # type: ignore[arg-type]
    return env


def played(env: PartnerGame, rng: np.random.Generator, rounds: int | None = None) -> PartnerGame:
    """The episode after random predictions and choices, up to a number of rounds."""
    while not env.done and len(env.rows) != rounds:
        env.predict(str(rng.choice(env.setting.theirs)))
        env.choose(str(rng.choice(env.setting.own)))
    return env


def by_recursion(task: Task, rows: list[Row]) -> float:
    """The reward in plain Python, from values of all plays of the remaining rounds."""
    own, outputs, moves = range(len(task.game.actions[0])), task.partner.outputs, task.partner.moves
    pay = task.game.payoff().tolist()

    def worths(q: int, rounds: int) -> list[list[float]]:
        """By action: its payoff and then the best, the worst and uniform play's value."""
        onward = {b: [values(moves[q][b][a], rounds - 1) for a in own] for b, p in enumerate(outputs[q]) if p}
        return [[sum(outputs[q][b] * (pay[a][b] + onward[b][a][k]) for b in onward) for k in range(3)] for a in own]

    @cache
    def values(q: int, rounds: int) -> tuple[float, float, float]:
        if not rounds:
            return 0.0, 0.0, 0.0
        best, worst, uniform = zip(*worths(q, rounds), strict=True)
        return max(best), min(worst), sum(uniform) / len(uniform)

    q, lost, rounds = 0, 0.0, task.horizon
    for row in rows:
        lost += values(q, rounds)[0] - worths(q, rounds)[row["action"]][0]
        q, rounds = moves[q][row["observed"]][row["action"]], rounds - 1
    lost += values(q, rounds)[0] - values(q, rounds)[1]
    return 1.0 - lost / (values(0, task.horizon)[0] - values(0, task.horizon)[2])


# Rewards


@pytest.mark.slow
def test_rewards_are_those_of_brute_force_with_220_partners_in_four_games() -> None:
    rng = np.random.default_rng(1)
    for (game, family), seed in product(EPISODES, range(10)):
        env = begun(game=game, family=family, seed=seed)
        rounds = None if seed % 3 else int(rng.integers(10))  # one episode in three ends early
        played(env, rng, rounds)
        assert env.get_reward() == pytest.approx(by_recursion(env.task, env.rows), abs=1e-12, rel=0)


def test_the_optimum_earns_1_and_uniform_play_0_on_average_over_all_histories() -> None:
    for task in islice(tasks("slipping", IPD, "train", 10), 0, None, 9):
        short = Task(IPD, task.partner, 3)
        expected = 0.0
        for actions in product(range(2), repeat=6):
            state, chance, rows = 0, 1.0, list[Row]()
            for own, theirs in zip(actions[::2], actions[1::2], strict=True):
                chance *= 0.5 * short.partner.outputs[state][theirs]
                rows.append({"action": own, "observed": theirs})
                state = short.partner.moves[state][theirs][own]
            expected += chance * exact_reward(short, rows)
        assert expected == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_action_without_loss_in_every_round_earns_1_whatever_the_partner_does(family: str) -> None:
    for seed in range(5):
        env = begun(family=family, seed=seed)
        state = 0
        for t in range(10):
            action = int(env.task.losses(t, state).argmin())
            env.choose(env.setting.own[action])
            state = env.task.partner.moves[state][env.rows[-1]["observed"]][action]
        assert env.get_reward() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("game", "family"), EPISODES)
def test_no_action_is_expected_to_earn_less_than_stopping(game: str, family: str) -> None:
    rng = np.random.default_rng(2)
    for seed in range(3):
        env, state = begun(game=game, family=family, seed=seed), 0
        while not env.done:
            outputs, moves = env.task.partner.outputs[state], env.task.partner.moves[state]
            for action in range(len(env.setting.own)):
                after = [
                    exact_reward(env.task, [*env.rows, {"action": action, "observed": b}]) for b in range(len(moves))
                ]
                assert np.dot(outputs, after) >= env.get_reward() - 1e-12
            played(env, rng, len(env.rows) + 1)
            state = moves[env.rows[-1]["observed"]][env.rows[-1]["action"]]


def test_step_rewards_are_exact_losses_and_sum_to_the_reward() -> None:
    env = played(begun(family="slipping", seed=4), np.random.default_rng(3))
    span = env.task.optimum - env.task.uniform
    assert env.step_rewards == pytest.approx((-exact_losses(env.task, env.rows) / span).tolist(), abs=1e-12)
    assert 1.0 + sum(env.step_rewards) == pytest.approx(env.get_reward(), abs=1e-12)


def test_with_a_partner_that_never_slips_the_reward_is_that_of_the_payoffs() -> None:
    env = played(begun(family="memory-one", seed=3), np.random.default_rng(4))
    regret = 10 * functional_regret(env.task, env.rows)
    assert env.get_reward() == pytest.approx(1.0 - regret / (env.task.optimum - env.task.uniform), abs=1e-12)


def test_accuracy_counts_a_missing_prediction_as_wrong() -> None:
    env = begun(family="memory-one", seed=3)
    assert env.accuracy == 0.0
    for t in range(10):
        if t % 2:
            for action in range(2):  # the last prediction counts
                env.predict(env.setting.theirs[action])
        env.choose(env.setting.own[0])
    observed = [row["observed"] for row in env.rows]
    assert env.accuracy == sum(b == 1 for b in observed[1::2]) / 10


# What a model says


@pytest.mark.parametrize("words", ["", "banana", "J or F", "option", "🙈", "x" * 200_000, "\ud800", "reset()"])
def test_words_that_name_no_option_are_counted_and_told_and_never_a_move(words: str) -> None:
    env = begun()
    for tool in (env.choose, env.predict):
        assert "names no option" in tool(words)
    assert (env.rows, env.unreadable) == ([], 2)
    env.choose(env.setting.own[0])
    assert env.rows[0]["predicted"] is None


def test_an_option_may_be_named_in_a_sentence() -> None:
    env = begun()
    name = env.setting.own[1]
    for words in (name, name.lower(), f"option {name}", f"I choose option {name}."):
        env.choose(words)
    assert ([row["action"] for row in env.rows], env.unreadable) == ([1] * 4, 0)


def test_after_the_last_round_nothing_is_played_or_counted() -> None:
    env = played(begun(), np.random.default_rng(5))
    reward, rows = env.get_reward(), list(env.rows)
    assert env.choose(env.setting.own[0]) == env.predict("banana") == "All 10 rounds are played."
    assert (env.get_reward(), env.rows, env.unreadable) == (reward, rows, 0)


def test_the_model_is_told_the_rules_and_every_round_but_not_the_partner() -> None:
    env = PartnerGame()
    prompt = env.reset(seed=7, names="canonical", family="axelrod")
    assert all(words in prompt for words in ("20 rounds", "Cooperate", "Defect", "`predict`", "`choose`", "10 points"))
    told = [prompt] + [env.choose(env.setting.own[0]) for _ in range(20)]
    assert all(env.task.partner.name not in words for words in told)
    assert told[1].startswith("In round 1, you chose option ")
    assert told[1].endswith("Round 2 of 20 begins.")
    assert told[-1].endswith("That was the last round.")


# The shape that trainers expect


def test_reset_and_get_reward_stand_beside_two_tools_that_describe_their_arguments() -> None:
    functions = {name for name, _ in inspect.getmembers(PartnerGame, inspect.isfunction) if not name.startswith("_")}
    assert functions == {"reset", "get_reward", "predict", "choose"}
    for tool in (PartnerGame.predict, PartnerGame.choose):
        assert tool.__annotations__ == {"option": "str", "return": "str"}
        assert "Args:\n    option: " in (inspect.getdoc(tool) or "")


def test_an_episode_depends_on_its_row_alone_and_other_columns_are_ignored() -> None:
    first, second = (played(begun(seed=9, prompt="hello"), np.random.default_rng(6)) for _ in range(2))
    second.reset(seed=5)
    played(second, np.random.default_rng(0))
    assert second.reset(seed=9, rounds=10) == PartnerGame().reset(seed=9, rounds=10)
    assert played(second, np.random.default_rng(6)).rows == first.rows
    assert len({begun(seed=seed).task.partner.name for seed in range(20)}) > 10
    assert len({begun(seed=seed).setting.own for seed in range(20)}) == 2
    assert len({begun(seed=seed).setting.order for seed in range(20)}) > 2


def test_a_curriculum_has_each_seed_once_and_rising_stakes() -> None:
    rows = curriculum(40, seed=100, family="axelrod", part="held-out", rounds=12)
    members = tasks("axelrod", IPD, "held-out", 12)
    by_name = dict(zip([task.partner.name for task in members], stakes(members), strict=True))
    assert sorted(row["seed"] for row in rows) == list(range(100, 140))
    order = [by_name[begun(**row).task.partner.name] for row in rows]
    assert order == sorted(order)
    assert order[0] < order[-1]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"family": "memory-onne"}, "did you mean memory-one?"),
        ({"part": "test"}, "there is no part `test`"),
        ({"rounds": 9}, "an episode has 10 to 1,000 rounds, not 9"),
        ({"rounds": 10**9}, "not 1000000000"),
        ({"game": "chess"}, "chess"),
        ({"game": "rps", "family": "axelrod"}, "it plays 2 × 2 games"),
        ({"seed": -1}, "from 0 on, not -1"),
        ({"names": "greek"}, "there is no set of names `greek`"),
    ],
)
def test_a_wrong_column_is_refused_in_one_line(columns: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]+$") as error:
        begun(**columns)
    assert words in str(error.value)


def test_nothing_can_be_played_before_an_episode_begins() -> None:
    env = PartnerGame()
    for call in (lambda: env.choose("J"), lambda: env.predict("J"), env.get_reward, lambda: env.done):
        with pytest.raises(InputError, match="call `reset` first"):
            call()

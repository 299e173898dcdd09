"""Every prompting strategy in every cell of the grid, with programs that each show one thing that models do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from otherminds.evaluation.literal_functional import functional_regret, tom_percent
from otherminds.evaluation.tasks import Row, Task, converse
from otherminds.papers.functional.game_prompts import GameSetting
from otherminds.papers.functional.prompting import STRATEGIES, Prompted, Sampling, strategy
from otherminds.papers.functional.scripted_models import BEHAVIOURS, scripted_player
from otherminds.worlds.repeated_games.machines import constant, periodic
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.rules import Game
from talking import IBS, IPD, RPS, Listening, asked, lost_told, model, past_told, play_out

ROUNDS = 8
ATTEMPTS = 3
GAMES = (RPS, IBS, IPD)
SUITES = ("single", "tft")
NAMES = ("neutral", "canonical", "repeated", "nonsense")

WRITTEN = ("write act", "write predict")
REFLECTING = (*WRITTEN, "write reflect")
REWRITING = ("write rewrite act", "write act", "write rewrite predict", "write predict")
CALLS = {
    "lm": ("score act", "score predict"),
    "qa": WRITTEN,
    "cot": WRITTEN,
    "cot3": WRITTEN,
    "plans_insights": WRITTEN,
    "reflexion1": REFLECTING,
    "reflexion2": REFLECTING,
    "reflexion3": REFLECTING,
    "social_qa": WRITTEN,
    "social_lm": ("score predict", "write act"),
    "s2a": REWRITING,
    "s2a_cot": REWRITING,
    "oracle": ("write act",),
    "oracle_max": ("write act",),
    "oracle_max_no_history": ("write act",),
    "oracle_max_no_payoffs": ("write act",),
}
"""What a round takes if every reply can be read; there is nothing to reflect on for, after the last one."""
TRIES = {"stutterer": 2, "format_breaker": ATTEMPTS}


class Cell(NamedTuple):
    """A strategy, a game with a partner, names of actions, whether these are shuffled, and who plays."""

    way: str
    game: Game
    suite: str
    names: str
    shuffled: bool
    manner: str
    number: int

    def __str__(self) -> str:
        return "-".join((self.way, self.game.name, self.suite, self.names, *["shuffled"] * self.shuffled, self.manner))

    @property
    def setting(self) -> GameSetting:
        rng = np.random.default_rng(self.number) if self.shuffled else None
        return GameSetting.of(self.game, ROUNDS, self.names, labels_rng=rng)

    @property
    def task(self) -> Task:
        single = self.suite == "single"
        options = len(self.game.actions[1])
        machine = constant(self.game, self.number % options) if single else partner("tft", self.game)
        return Task(self.game, machine, ROUNDS)

    @property
    def told(self) -> bool:
        """Whether the player is told what the partner does, and is not asked to predict it."""
        return self.way.startswith("oracle")

    @property
    def reads(self) -> list[str]:
        """The questions of a round whose answers are written, and have to be read."""
        return [call for call in CALLS[self.way] if call in WRITTEN]


def cells() -> Iterator[Cell]:
    manners = tuple(BEHAVIOURS)
    for s, way in enumerate(CALLS):
        for k, (game, suite, names) in enumerate(product(GAMES, SUITES, NAMES)):
            yield Cell(way, game, suite, names, (k // 3 + s) % 2 == 1, manners[(k + s) % len(manners)], k)


CELLS = tuple(cells())


class Episode(NamedTuple):
    """What was played, and what was asked for it."""

    task: Task
    rows: list[Row]
    asked: Listening
    setting: GameSetting

    def column(self, name: str) -> list[int | None]:
        return [row[name] for row in self.rows]

    @property
    def unreadable(self) -> list[int]:
        return [sum(not said.readable for said in row["said"]) for row in self.rows]


def episode(cell: Cell, manner: str = "") -> Episode:
    task, setting = cell.task, cell.setting
    speaker = Listening(scripted_player(manner or cell.manner, setting, task.partner))
    player = Prompted(speaker, strategy(cell.way), setting, str(cell), 0, Sampling(attempts=ATTEMPTS, compare=True))
    rows = converse(task, player, rng=np.random.default_rng(0), note=lambda subject: {"said": subject.exchanges})
    return Episode(task, list(rows), speaker, setting)


def test_the_grid_is_complete() -> None:
    assert set(CALLS) == set(STRATEGIES)
    assert len({cell[:4] for cell in CELLS}) == len(CELLS) == 16 * 3 * 2 * 4
    assert {(cell.way, cell.manner) for cell in CELLS} == set(product(CALLS, BEHAVIOURS))
    assert sum(cell.shuffled for cell in CELLS) == len(CELLS) // 2


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_cell(cell: Cell) -> None:
    played = episode(cell)
    assert Counter(f"{call.kind} {call.purpose}" for call in played.asked.calls) == calls_of(cell)
    assert played.unreadable == [unreadable_of(cell)] * ROUNDS
    said = [Counter(said.purpose for said in row["said"]) for row in played.rows]
    assert sum((row.total() for row in said), 0) == len(played.asked.calls)
    assert [row["reflect"] for row in said] == [
        int(t > 0 and "write reflect" in CALLS[cell.way]) for t in range(ROUNDS)
    ]
    assert len({row.total() - row["reflect"] for row in said}) == 1
    lost = cell.manner == "format_breaker" and cell.way != "lm"
    assert {action is None for action in played.column("action")} == {lost}
    if cell.told:
        assert tom_percent(played.rows) == 100.0
    functional_regret(played.task, played.rows)
    CHECKS[cell.manner](cell, played)


def calls_of(cell: Cell) -> Counter[str]:
    """The questions of an episode, by what should be asked."""
    tries, found = TRIES.get(cell.manner, 1), Counter[str]()
    for call in CALLS[cell.way]:
        if call == "write act" and cell.way == "social_qa" and cell.manner == "format_breaker":
            continue  # there is no prediction that it could be told
        found[call] = ROUNDS - 1 if call == "write reflect" else ROUNDS * (tries if call in cell.reads else 1)
    return found


def unreadable_of(cell: Cell) -> int:
    """How many replies of a round cannot be read: of the stutterer each first one, of the format breaker all."""
    if cell.manner == "format_breaker":
        return ATTEMPTS * (1 if cell.way == "social_qa" else len(cell.reads))
    return len(cell.reads) if cell.manner == "stutterer" else 0


def check_perfect(cell: Cell, played: Episode) -> None:
    if cell.way == "oracle_max_no_history":
        assert len(set(played.column("action"))) == 1
    if cell.way != "oracle_max_no_history" or cell.suite == "single":
        assert functional_regret(played.task, played.rows) == pytest.approx(0.0, abs=1e-12)
    assert tom_percent(played.rows) == 100.0


def check_stutterer(cell: Cell, played: Episode) -> None:
    clear = episode(cell, "perfect")
    for column in ("action", "predicted", "observed", "reward"):
        assert played.column(column) == clear.column(column)
    check_perfect(cell, played)


def check_r1_like(cell: Cell, played: Episode) -> None:
    assert played.column("action") == episode(cell, "perfect").column("action")
    if cell.suite == "single" and not cell.told:
        assert all(row["predicted"] not in (None, row["observed"]) for row in played.rows[1:])


def check_format_breaker(cell: Cell, played: Episode) -> None:
    if cell.way == "lm":
        return
    least = float(cell.game.payoff().min())
    assert played.column("reward") == [least] * ROUNDS
    assert functional_regret(played.task, played.rows) == pytest.approx(played.task.optimum / ROUNDS - least)
    assert len(set(played.column("observed"))) == 1
    if cell.way == "social_lm":
        assert None not in played.column("predicted")
    elif not cell.told:
        assert played.column("predicted") == [None] * ROUNDS
        assert tom_percent(played.rows) == 0.0


def check_biased(cell: Cell, played: Episode) -> None:
    own, theirs = played.setting.own, played.setting.theirs
    assert {own[row["action"]] for row in played.rows} == {min(own)}
    if not cell.told:
        assert {theirs[row["predicted"]] for row in played.rows} == {min(theirs)}


def check_echo(cell: Cell, played: Episode) -> None:
    assert len(set(played.column("action"))) == 1
    check_counting(cell, played)


def check_counting(cell: Cell, played: Episode) -> None:
    """A partner who does always the same is found out after the first round."""
    assert None not in played.column("predicted")
    if cell.suite == "single":
        assert played.column("predicted")[1:] == played.column("observed")[1:]


CHECKS = {
    "perfect": check_perfect,
    "nash_mixer": check_counting,
    "echo": check_echo,
    "biased": check_biased,
    "format_breaker": check_format_breaker,
    "stutterer": check_stutterer,
    "r1_like": check_r1_like,
}


class TestLostRounds:
    """A round without a move earns the least there is, and is as if it had not been."""

    LOST = frozenset({2, 3, 6})

    def player(self, game: Game, way: str = "qa", lost: frozenset[int] = LOST, act: str = "J") -> Prompted:
        def reply(kind: str, prompt: str) -> str:
            t = 1 + len(past_told(prompt)) + len(lost_told(prompt))
            return "Hm." if kind == "act" and t in lost else f"Answer: option {act}"

        return asked(way, model(reply), game, rounds=ROUNDS)

    @pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
    def test_they_earn_the_least_and_leave_the_partner_where_it_is(self, game: Game) -> None:
        cycle = periodic("cycle", game, [0, 1, 1])
        task, rows = play_out(self.player(game), cycle)
        assert [row["t"] + 1 for row in rows if row["action"] is None] == sorted(self.LOST)
        actions = iter([0, 1, 1, 0, 1])
        observed, now = list[int](), next(actions)
        for t in range(1, ROUNDS + 1):
            observed.append(now)
            now = now if t in self.LOST else next(actions, 1)
        assert [row["observed"] for row in rows] == observed
        worst = float(game.payoff().min())
        for t, row in enumerate(rows, 1):
            assert row["reward"] == (worst if t in self.LOST else game.payoff()[0, row["observed"]])
        assert not any(row["consistent"] for row in rows if row["action"] is None)
        earned = sum(row["reward"] for row in rows)
        assert functional_regret(task, rows) == pytest.approx((task.optimum - earned) / ROUNDS)

    def test_what_the_partner_would_have_done_is_not_told(self) -> None:
        player = self.player(RPS)
        speaker = player.model
        assert isinstance(speaker, Listening)
        _, rows = play_out(player, periodic("cycle", RPS, [0, 1, 2]))
        for call in speaker.calls:
            now = int(re.findall(r"Now it is round (\d)", call.prompt)[0])
            assert lost_told(call.prompt) == [t for t in sorted(self.LOST) if t < now]
            labels, past = player.setting.labels("predict"), rows[: now - 1]
            names = [labels[row["observed"]] for row in past if row["action"] is not None]
            assert [theirs for _, theirs, _ in past_told(call.prompt).values()] == names

    def test_predictions_of_lost_rounds_count_like_any_other(self) -> None:
        _, rows = play_out(self.player(RPS), constant(RPS, 0))
        assert tom_percent(rows) == 100.0
        _, rows = play_out(self.player(RPS, act="F"), constant(RPS, 0))
        assert tom_percent(rows) == 0.0

    def test_predictions_that_cannot_be_read_are_wrong(self) -> None:
        def reply(kind: str, prompt: str) -> str:
            return "Answer: option Z" if kind == "predict" and len(past_told(prompt)) % 2 else "Answer: option J"

        _, rows = play_out(asked("qa", model(reply), rounds=ROUNDS), constant(RPS, 0))
        assert [row["predicted"] for row in rows] == [0, None] * 4
        assert [(row["p_true"], row["brier"]) for row in rows] == [(1.0, 0.0), (0.0, 2.0)] * 4
        assert tom_percent(rows) == 50.0
        assert [row["consistent"] for row in rows[1::2]] == [False] * 4

    @pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
    def test_what_nobody_can_earn_is_refused(self, game: Game) -> None:
        for lost in (frozenset[int](), self.LOST, frozenset(range(1, ROUNDS + 1))):
            task, rows = play_out(self.player(game, lost=lost), constant(game, 0))
            regret = functional_regret(task, rows)
            assert 0 <= regret <= task.optimum / ROUNDS - game.payoff().min() + 1e-9
            for change in (-1000.0, +1000.0):
                wrong = [*rows[:-1], {**rows[-1], "reward": rows[-1]["reward"] + change}]
                with pytest.raises(ValueError, match="nobody can earn"):
                    functional_regret(task, wrong)
            with pytest.raises(ValueError, match="7 rounds of a task of 8"):
                functional_regret(task, rows[1:])

    def test_a_partner_of_chance_draws_in_every_round(self) -> None:
        """Whether a round is lost does not change what the partner's generator is used for."""
        machine = partner("random", RPS)
        _, clear = play_out(self.player(RPS, lost=frozenset()), machine, seed=3)
        _, with_lost = play_out(self.player(RPS), machine, seed=3)
        assert [row["observed"] for row in clear] == [row["observed"] for row in with_lost]
        assert len({row["observed"] for row in clear}) > 1

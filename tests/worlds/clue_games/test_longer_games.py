"""Taboo, Codenames and the small Hanabi as tasks: rows, scores, words, and what the two scores tell apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from typing import Any, Self

import numpy as np
import pytest

from otherminds.distribution import Categorical
from otherminds.papers.functional.card_and_word_games import GameEpisode, games, plan, rows
from otherminds.worlds.clue_games.clue_game import ClueGame, Reader
from otherminds.worlds.clue_games.games import all_clue_games, clue_games
from otherminds.worlds.clue_games.small_hanabi import PASS as PASSED

Row = dict[str, Any]
TABOO, CODENAMES, HANABI = LONGER = ("taboo/fields", "codenames/boards", "hanabi/conventions")
KEYS = {"t", "predicted", "p_predicted", "p_true", "observed", "action", "reward", "best"}
FLOOR = {
    TABOO: "random",
    CODENAMES: "blind",
    HANABI: "literal",
    "hanabi/signals": "blind",
    "wavelength/dials": "random",
}


@cache
def partners(condition: str) -> list[str]:
    """Every fourth or so partner: enough for means, and quick."""
    names = list(games()[condition].partners)
    return names[1 :: len(names) // 6]


@cache
def played(condition: str) -> tuple[Row, ...]:
    subjects = games()[condition].subjects
    pairs = product(partners(condition), subjects)
    return tuple(row for partner, subject in pairs for row in rows(GameEpisode(condition, partner, subject, 42)))


def mean(found: list[Row], metric: str) -> float:
    return float(np.mean([row[metric] for row in found if metric in row]))


def of(condition: str, subject: str) -> list[Row]:
    return [row for row in played(condition) if row["subject"] == subject]


def test_the_longer_games_are_played_only_on_demand() -> None:
    assert {entry.condition for entry in plan(1)} == set(clue_games())
    assert {entry.condition for entry in plan(1, 1, LONGER)} == set(LONGER)
    assert set(all_clue_games()) == {*clue_games(), *LONGER}


@pytest.mark.slow
@pytest.mark.parametrize("condition", LONGER)
def test_rows_have_the_common_columns(condition: str) -> None:
    entry = GameEpisode(condition, partners(condition)[0], "bayesian", 3)
    found = rows(entry)
    assert all(row.keys() >= KEYS for row in found)
    assert [row["t"] for row in found] == list(range(len(found)))
    assert json.loads(json.dumps(found)) == found
    assert found == rows(entry) != rows(replace(entry, seed=4))
    assert ["functional_regret" in row for row in found] == [False] * (len(found) - 1) + [True]
    regret = sum(row["best"] - row["reward"] for row in found) / games()[condition].world.rounds
    assert found[-1]["functional_regret"] == pytest.approx(regret)


@pytest.mark.slow
@pytest.mark.parametrize("condition", [TABOO, HANABI])
def test_deals_are_alike_for_every_subject(condition: str) -> None:
    """The value of each round before it begins is the same, whatever a subject does in it."""

    def values(subject: str) -> list[tuple[str, float]]:
        totals, total = list[tuple[str, float]](), 0.0
        for row in of(condition, subject):
            total += row["best"]
            if row.get("over", True):
                totals, total = [*totals, (row["episode"], total)], 0.0
        return totals

    informed = values("informed")
    assert len(informed) == len(partners(condition)) * games()[condition].world.rounds
    for subject in games()[condition].uninformed:
        assert [name for name, _ in values(subject)] == [name for name, _ in informed]
        assert [v for _, v in values(subject)] == pytest.approx([v for _, v in informed])


@pytest.mark.slow
def test_boards_are_alike_for_every_subject() -> None:
    informed = [(row["episode"], row["observed"]) for row in of(CODENAMES, "informed")]
    for subject in games()[CODENAMES].uninformed:
        assert [(row["episode"], row["observed"]) for row in of(CODENAMES, subject)] == informed
    # the same hints, but for some random ones
    hints = [[(row["clue"], row["number"]) for row in of(CODENAMES, name)] for name in ("informed", "egocentric")]
    assert np.mean([a == b for a, b in zip(*hints, strict=True)]) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("condition", LONGER)
def test_mindreading_pays(condition: str) -> None:
    regret = {subject: mean(of(condition, subject), "functional_regret") for subject in games()[condition].subjects}
    # a set of own words is rarely right as a whole
    metric, scale = ("p_true", 1.0) if condition == CODENAMES else ("tom_percent", 0.01)
    literal = {subject: scale * mean(of(condition, subject), metric) for subject in games()[condition].subjects}
    assert abs(regret["informed"]) < 0.25
    assert regret["bayesian"] < regret["egocentric"] - 0.2
    assert regret["egocentric"] < regret[FLOOR[condition]] + 0.3
    assert literal["bayesian"] > literal["egocentric"] + 0.03
    assert literal["informed"] > literal[FLOOR[condition]] + 0.08


@pytest.mark.slow
@pytest.mark.parametrize("condition", LONGER)
def test_regret_is_zero_on_average_for_whoever_knows_the_partner(condition: str) -> None:
    regrets = [row["best"] - row["reward"] for row in of(condition, "informed")]
    assert abs(np.mean(regrets)) < 3 * np.std(regrets) / len(regrets) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("condition", LONGER)
def test_it_matters_to_know_the_partner(condition: str) -> None:
    game = games()[condition]
    few = replace(game, partners={name: game.partners[name] for name in partners(condition)[:5:2]})
    assert few.interestingness() > 0.2


@pytest.mark.slow
def test_games_that_the_partner_ends_leave_nothing_to_do() -> None:
    ended = [row for row in played(HANABI) if row["action"] == PASSED]
    assert ended
    assert all(row["over"] for row in ended)


# Who knows and does not use it, and the reverse


@dataclass(frozen=True)
class Split:
    """Predicts as one reader and acts as another."""

    predicts: Reader
    acts: Reader

    def observe(self, view: Any) -> Self:
        return replace(self, predicts=self.predicts.observe(view), acts=self.acts.observe(view))

    def predict(self) -> Categorical[int]:
        return self.predicts.predict()

    def act(self) -> Any:
        return self.acts.act()


@pytest.mark.slow
@pytest.mark.parametrize("condition", [*LONGER, "hanabi/signals", "wavelength/dials"])
def test_the_scores_tell_knowing_from_using(condition: str) -> None:
    game: ClueGame = games()[condition]
    egocentric = game.uninformed["egocentric"]

    def scores(knows: bool, uses: bool) -> tuple[float, float]:
        """Accuracy and regret per round over some partners."""
        right, regret, episodes = list[bool](), 0.0, 0
        for i, name in enumerate(partners(condition)):
            own = game.informed(game.partners[name])
            subject = Split(own if knows else game.uninformed[FLOOR[condition]], own if uses else egocentric)
            seen = replace(game, uninformed={"split": subject})
            streams = {role: np.random.default_rng([7, i, k]) for k, role in enumerate(("deals", "partner", "subject"))}
            found = list(seen.play(name, "split", streams))
            right += [row["predicted"] == row["observed"] for row in found]
            regret += sum(row["best"] - row["reward"] for row in found) / game.world.rounds
            episodes += 1
        return float(np.mean(right)), regret / episodes

    both, knows, uses, neither = (
        scores(*pair) for pair in ((True, True), (True, False), (False, True), (False, False))
    )
    for wise, dull in ((both, uses), (knows, neither)):
        assert wise[0] > dull[0] + 0.04
    for wise, dull in ((both, knows), (uses, neither)):
        assert wise[1] < dull[1] - 0.2


# In words


@pytest.mark.slow
@pytest.mark.parametrize("condition", [*LONGER, "hanabi/signals", "wavelength/dials"])
def test_every_turn_can_be_told(condition: str) -> None:
    game = games()[condition]
    name = partners(condition)[0]
    rng = np.random.default_rng(3)
    state = game.world.start(rng)
    minds: dict[str, Any] = dict.fromkeys(game.world.agents, game.partners[name]) | {
        game.seat: game.uninformed["bayesian"]
    }
    minds = {agent: mind.observe(game.world.observe(state, agent)) for agent, mind in minds.items()}
    told = 0
    for _ in range(40):
        view = game.world.observe(state, game.seat)
        options, answers = game.spoken.options(view), game.spoken.answers(view)
        legal = game.world.actions(state, game.seat)
        assert (set(options) == set(legal)) or (not options and legal == (-1,))
        assert len(set(options.values())) == len(options)
        if answers:
            told += 1
            assert set(minds[game.seat].predict().support) >= set(answers)
            assert len(set(answers.values())) == len(answers)
            impossible = sum(p for x, p in minds[game.seat].predict() if x not in answers)
            assert impossible == pytest.approx(0.0, abs=1e-12)
        assert game.spoken.described(view)
        joint = {agent: mind.act().sample(rng) for agent, mind in minds.items()}
        state = game.world.step(state, joint, rng)
        minds = {agent: mind.observe(game.world.observe(state, agent)) for agent, mind in minds.items()}
        if state.last is not None:
            assert game.spoken.finished(state.last).endswith(".")
    assert told > 10


@pytest.mark.parametrize("condition", LONGER)
def test_shuffled_names_change_the_names_and_nothing_else(condition: str) -> None:
    game = games()[condition]
    view = game.world.observe(game.world.start(np.random.default_rng(1)), game.seat)
    plain = game.spoken
    seeds = [game.shuffled(seed) for seed in range(6)]
    assert game.shuffled(3).rules == seeds[3].rules
    assert len({spoken.described(view) for spoken in seeds}) > 1
    for names in game.names:
        assert all(len(set(names)) == len(names) for names in game.names)
    every = {name for names in game.names for name in names}
    for spoken in seeds:
        for before, after in ((plain.rules, spoken.rules), (plain.described(view), spoken.described(view))):
            changed = [(a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b]
            stripped = [(a.strip("“”.,:"), b.strip("“”.,:")) for a, b in changed]
            assert all({a, b} <= every | {"1", "2", "3"} for a, b in stripped)


def test_rules_are_told_without_the_names_of_clues() -> None:
    for condition in (TABOO, CODENAMES):
        game = games()[condition]
        prose = game.spoken.rules.split("\nThe list:")[0]
        words = {word.strip(".,:;") for word in prose.split()}
        assert not words & {name for names in game.names for name in names}


@pytest.mark.slow
def test_rows_follow_one_another() -> None:
    found = rows(GameEpisode(TABOO, partners(TABOO)[0], "egocentric", 3))
    for before, after in pairwise(found):
        assert before["over"] == (before["target"] == before["guess"] or before["over"])
        assert before["over"] or before["target"] == after["target"]

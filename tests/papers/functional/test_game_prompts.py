"""Repeated games in words: what is told is exactly the game, whatever its actions are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.game_answers import read_answer
from otherminds.papers.functional.game_prompts import (
    Round,
    Setting,
    examples,
    fill,
    history,
    intro,
    known,
    payoffs,
    unfinished,
)
from otherminds.papers.functional.prompting import Prompted, strategy
from otherminds.worlds.repeated_games.rules import Game, ordinal_games
from talking import IBS, IPD, RPS, games, lost_told, past_told, payoffs_of, payoffs_told, played, settings

AHEAD = 10
LEFT_OUT = Game("chicken", ("a", "b"), (("Swerve", "Go"), ("Swerve", "Go")), ((0, 0), (-1, 1), (1, -1), (-9, -9)))
UNEQUAL = Game(
    "unequal", ("a", "b"), (("top", "bottom"), ("left", "middle", "right")), tuple((i, -i) for i in range(6))
)
ORDINAL = tuple(ordinal_games())[::7]


class TestPayoffs:
    @given(settings())
    def test_lines_tell_exactly_the_payoffs(self, setting: Setting) -> None:
        assert payoffs_told(payoffs(setting)) == payoffs_of(setting.game, setting.own, setting.theirs)
        assert len(payoffs(setting).split("\n")) == len(setting.game.payoffs)

    @given(played())
    def test_scores_have_signs_if_and_only_if_something_is_negative(self, case: tuple[Setting, list[Round]]) -> None:
        setting, rounds = case
        negative = min(min(row) for row in setting.game.payoffs) < 0
        text = payoffs(setting) + "\n" + history(setting, rounds)
        lines = [line for line in text.split("\n") if line and not line.startswith("Round ")]
        assert {"score of" in line for line in lines} == {negative}
        assert {" points" in line for line in lines} == {not negative}
        told = re.findall(r" (?:win|wins|won|score of) ([-+]?)(\S+?)(?: |\.\n|\.$)", "\n".join(lines))
        assert len(told) == 2 * len(setting.game.payoffs) + sum(outcome is not None for outcome in rounds)
        for sign, digits in told:
            assert bool(sign) == (negative and float(digits) != 0)

    def test_digits_are_those_of_the_game_file(self) -> None:
        lines = payoffs(Setting.of(IPD, 5)).split("\n")
        assert lines[1] == (
            "If you choose option Cooperate and the other player chooses option Defect, "
            "you win 0 points and the other player wins 10 points."
        )
        assert "you receive a score of -1 and the other player receives a score of +1." in payoffs(Setting.of(RPS, 5))


class TestShuffles:
    @pytest.mark.parametrize("game", [RPS, IBS, IPD, UNEQUAL, LEFT_OUT], ids=lambda game: game.name)
    @pytest.mark.parametrize("names", ["neutral", "canonical", "repeated", "nonsense"])
    def test_shuffled_names_tell_the_same_game_renamed(self, game: Game, names: str) -> None:
        plain = Setting.of(game, 5, names)
        found = set()
        for seed in range(60):
            setting = Setting.of(game, 5, names, labels_rng=np.random.default_rng(seed))
            told = payoffs_told(payoffs(setting))
            fitting = [(own, theirs) for own, theirs in renamings(plain) if payoffs_of(game, own, theirs) == told]
            assert (setting.own, setting.theirs) in fitting
            found.add((setting.own, setting.theirs))
            assert intro(setting) == intro(plain)
        assert found == set(renamings(plain))

    def test_shuffled_lines_are_the_same_lines(self) -> None:
        plain = payoffs(Setting.of(RPS, 5)).split("\n")
        seeds = [payoffs(Setting.of(RPS, 5, payoffs_rng=np.random.default_rng(s))).split("\n") for s in range(20)]
        assert all(sorted(lines) == sorted(plain) for lines in seeds)
        assert len({tuple(lines) for lines in seeds}) > 15

    @given(settings())
    def test_options_are_in_alphabetical_order(self, setting: Setting) -> None:
        told = intro(setting).partition("is choosing: ")[2].partition(". After the round")[0]
        own, theirs = (", ".join(f"option {x}" for x in sorted(names)) for names in (setting.own, setting.theirs))
        assert told == (own if own == theirs else f"you {own}; the other player {theirs}")


def renamings(setting: Setting) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """All ways to name the actions with the same names: the same for both if both have the same ones."""
    for own in permutations(setting.own):
        for theirs in [own] if setting.own == setting.theirs else permutations(setting.theirs):
            yield own, theirs


class TestNames:
    def test_sets(self) -> None:
        assert Setting.of(RPS, 5, "neutral").own == ("J", "F", "B")
        assert Setting.of(RPS, 5, "canonical").own == ("Rock", "Paper", "Scissors")
        assert Setting.of(RPS, 5, "repeated").own == ("J" * 21, "F" * 21, "B" * 21)
        assert Setting.of(RPS, 5, "nonsense").own == ("Pasta", "Rice", "Bread")
        assert Setting.of(RPS, 5, "initials").own == ("R", "P", "S")

    @pytest.mark.parametrize("names", ["neutral", "repeated", "nonsense"])
    def test_there_are_eight_of_each_and_none_is_the_blank_of_the_form(self, names: str) -> None:
        many = Setting.of(wide(8), 5, names).own
        assert len(set(many)) == 8
        assert "X" not in many
        with pytest.raises(InputError, match="more than 8 actions"):
            Setting.of(wide(9), 5, names)

    def test_what_cannot_be_put_into_words_is_refused(self) -> None:
        three = Game("three", ("a", "b", "c"), (("x",), ("y",), ("z",)), ((1, 2, 3),))
        with pytest.raises(InputError, match="not a game of two"):
            Setting.of(three, 5)
        with pytest.raises(InputError, match="no set of names `greek`"):
            Setting.of(RPS, 5, "greek")
        with pytest.raises(InputError, match="same first letter"):
            Setting.of(Game("same", ("a", "b"), (("up", "under"), ("l", "r")), ((1, 1),) * 4), 5, "initials")

    @pytest.mark.parametrize("pair", [("a", "A"), ("a", "a."), ("*", "b"), ("a\nb", "c"), ("straße", "STRASSE")])
    def test_names_that_answers_blur_are_refused(self, pair: tuple[str, str]) -> None:
        with pytest.raises(InputError, match="names that answers blur"):
            Setting.of(Game("blurred", ("a", "b"), (pair, ("l", "r")), ((1, 1),) * 4), 5)

    @given(settings())
    def test_all_others_are_read_as_they_are_told(self, setting: Setting) -> None:
        for labels in (setting.own, setting.theirs):
            assert [read_answer(f"Answer: option {label}", labels) for label in labels] == list(range(len(labels)))


def wide(options: int) -> Game:
    actions = tuple(f"way {i}" for i in range(options))
    return Game("wide", ("a", "b"), (actions, actions), ((1, 1),) * options**2)


class TestHistory:
    @given(played())
    def test_lines_tell_exactly_what_happened(self, case: tuple[Setting, list[Round]]) -> None:
        setting, rounds = case
        text = history(setting, rounds)
        over = {t: outcome for t, outcome in enumerate(rounds, 1) if outcome is not None}
        names = {t: (setting.own[outcome.own], setting.theirs[outcome.theirs]) for t, outcome in over.items()}
        assert past_told(text) == {t: (*names[t], over[t].payoff) for t in over}
        assert lost_told(text) == [t for t, outcome in enumerate(rounds, 1) if outcome is None]
        assert [int(n) for n in re.findall(r"^(?:In r|R)ound (\d+)", text, re.M)] == list(range(1, len(rounds) + 1))

    @given(played())
    def test_each_part_is_there_if_it_is_wanted(self, case: tuple[Setting, list[Round]]) -> None:
        setting, rounds = case
        parts = intro(setting), payoffs(setting), *([history(setting, rounds)] if rounds else [])
        assert known(setting, rounds) == "\n\n".join(parts)
        assert known(setting, rounds, with_payoffs=False) == "\n\n".join([parts[0], *parts[2:]])
        assert known(setting, rounds, with_history=False) == "\n\n".join(parts[:2])

    @given(played(lost=False))
    def test_every_text_begins_with_those_before_it(self, case: tuple[Setting, list[Round]]) -> None:
        setting, rounds = case
        for t, outcome in enumerate(rounds):
            assert outcome is not None
            act, after = (unfinished(setting, rounds[:n], "act") for n in (t, t + 1))
            predict = unfinished(setting, rounds[:t], "agent-first", outcome.own)
            assert act.endswith(f"\nIn round {t + 1}, you chose option")
            assert predict == f"{act} {setting.own[outcome.own]} and the other player chose option"
            assert after.startswith(f"{predict} {setting.theirs[outcome.theirs]}. You ")
            partner_first = unfinished(setting, rounds[:t], "partner-first")
            assert partner_first == f"{act.rpartition(', you')[0]}, the other player chose option"


class TestExamples:
    """Their answers are right: computed here from what they say themselves, and from the payoffs."""

    @pytest.mark.parametrize("names", ["neutral", "canonical", "nonsense"])
    @pytest.mark.parametrize("game", [RPS, IBS, IPD, UNEQUAL, LEFT_OUT, *ORDINAL], ids=lambda game: game.name)
    def test_of_known_games(self, game: Game, names: str) -> None:
        check_examples(Setting.of(game, 5, names, labels_rng=np.random.default_rng(5)))

    @given(games(st.sampled_from(["A", "B", "C", "D", "E"])))
    def test_of_any_game(self, game: Game) -> None:
        check_examples(Setting.of(game, 5))

    def test_in_the_dilemma_the_copier_is_met_with_cooperation(self) -> None:
        assert answers(examples(Setting.of(IPD, 5), "act")) == ["Defect", "Cooperate", "Defect"]


def check_examples(setting: Setting) -> None:
    worth = {pair: mine for pair, (mine, _) in payoffs_of(setting.game, setting.own, setting.theirs).items()}
    act, predict = (examples(setting, question) for question in ("act", "predict"))
    always = found(r"has chosen option (\w+) in each of the last six rounds", act)
    after = {own: theirs for theirs, own in re.findall(r"option (\w+) after option (\w+)", act)}
    last, once = (
        found(r"I chose option (\w+) in the last round", act),
        found(r"which the other player chose option (\w+)", act),
    )
    assert set(after) == set(setting.own)
    assert set(after.values()) <= set(setting.theirs)
    assert answers(predict) == [always, after[last], once]

    repeats, reacts, tries = answers(act)
    assert worth[repeats, always] == max(worth[own, always] for own in setting.own)
    assert float(found(r"which gives me (\S+)\.$", act)) == worth[repeats, always]
    best = value(setting.own, worth, after, after[last], AHEAD)
    tolerance = 1e-9 * max(1.0, *map(abs, worth.values())) * AHEAD
    chosen = worth[reacts, after[last]] + value(setting.own, worth, after, after[reacts], AHEAD - 1)
    assert chosen == pytest.approx(best, abs=tolerance)
    assert (tries == found(r"I have tried option (\w+)", act)) == (len(setting.own) == 1)


def value(
    own: Sequence[str], worth: Mapping[tuple[str, str], float], after: Mapping[str, str], now: str, left: int
) -> float:
    """The most that can be had in so many rounds from a partner who reacts, and does `now` next."""

    @cache
    def best(theirs: str, rounds: int) -> float:
        return max(worth[a, theirs] + best(after[a], rounds - 1) for a in own) if rounds else 0.0

    return best(now, left)


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    assert match, pattern
    return match[1]


def answers(text: str) -> list[str]:
    return re.findall(r"^Answer: option (\w+)$", text, re.MULTILINE)


class TestTemplates:
    def test_every_name_has_to_be_given(self) -> None:
        with pytest.raises(KeyError, match="rounds"):
            fill("game-now", t=1)

    def test_what_is_filled_in_is_taken_as_it_is(self) -> None:
        assert fill("game-expected", expected="$t ${x} $$") == (
            "You expect that the other player will choose option $t ${x} $$ in this round."
        )


def test_what_stands_for_an_option_is_none() -> None:
    game = Game("xy", ("you", "partner"), (("X", "y"), ("X", "y")), ((1.0, 1.0), (0.0, 0.0), (0.0, 0.0), (1.0, 1.0)))
    player = Prompted(Scripted("none", lambda request: text_of(request)), strategy("qa"), Setting.of(game, 3))
    asked = player.moved.said[0].text
    assert asked.endswith("with one of option X, option y in place of Z:\nAnswer: option Z")
    assert player.moved.action is None

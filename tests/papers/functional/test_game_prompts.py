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
from otherminds.language.asking import LONGEST_REPLY, Unreadable
from otherminds.language.choices import read_choice
from otherminds.language.scripted import Scripted, text_of
from otherminds.papers.functional.game_prompts import (
    AnswerWithNotes,
    GameSetting,
    Round,
    examples,
    fill,
    history,
    intro,
    known,
    payoffs,
    read_plans,
    unfinished,
)
from otherminds.papers.functional.prompting import Prompted, strategy
from otherminds.worlds.repeated_games.rules import Game, ordinal_games
from talking import IBS, IPD, NEUTRAL, ODD, RPS, games, lost_told, past_told, payoffs_of, payoffs_told, played, settings

AHEAD = 10
LEFT_OUT = Game("chicken", ("a", "b"), (("Swerve", "Go"), ("Swerve", "Go")), ((0, 0), (-1, 1), (1, -1), (-9, -9)))
UNEQUAL = Game(
    "unequal", ("a", "b"), (("top", "bottom"), ("left", "middle", "right")), tuple((i, -i) for i in range(6))
)
ORDINAL = tuple(ordinal_games())[::7]


class TestPayoffs:
    @pytest.mark.slow
    @given(settings())
    def test_lines_tell_exactly_the_payoffs(self, setting: GameSetting) -> None:
        assert payoffs_told(payoffs(setting)) == payoffs_of(setting.game, setting.own, setting.theirs)
        assert len(payoffs(setting).split("\n")) == len(setting.game.payoffs)

    @pytest.mark.slow
    @given(played())
    def test_scores_have_signs_if_and_only_if_something_is_negative(
        self, case: tuple[GameSetting, list[Round]]
    ) -> None:
        setting, rounds = case
        negative = min(min(row) for row in setting.game.payoffs) < 0
        text = "\n".join([payoffs(setting), *history(setting, rounds)])
        lines = [line for line in text.split("\n") if line and not line.startswith("Round ")]
        assert {"score of" in line for line in lines} == {negative}
        assert {" points" in line for line in lines} == {not negative}
        told = re.findall(r" (?:win|wins|won|score of) ([-+]?)(\S+?)(?: |\.\n|\.$)", "\n".join(lines))
        assert len(told) == 2 * len(setting.game.payoffs) + sum(outcome is not None for outcome in rounds)
        for sign, digits in told:
            assert bool(sign) == (negative and float(digits) != 0)

    def test_digits_are_those_of_the_game_file(self) -> None:
        lines = payoffs(GameSetting.of(IPD, 5)).split("\n")
        assert lines[1] == (
            "If you choose option Cooperate and the other player chooses option Defect, "
            "you win 0 points and the other player wins 10 points."
        )
        assert "you receive a score of -1 and the other player receives a score of +1." in payoffs(
            GameSetting.of(RPS, 5)
        )


class TestShuffles:
    @pytest.mark.parametrize("game", [RPS, IBS, IPD, UNEQUAL, LEFT_OUT], ids=lambda game: game.name)
    @pytest.mark.parametrize("names", ["neutral", "canonical", "repeated", "nonsense"])
    def test_shuffled_names_tell_the_same_game_renamed(self, game: Game, names: str) -> None:
        plain = GameSetting.of(game, 5, names)
        found = set()
        for seed in range(60):
            setting = GameSetting.of(game, 5, names, labels_rng=np.random.default_rng(seed))
            told = payoffs_told(payoffs(setting))
            fitting = [(own, theirs) for own, theirs in renamings(plain) if payoffs_of(game, own, theirs) == told]
            assert (setting.own, setting.theirs) in fitting
            found.add((setting.own, setting.theirs))
            assert intro(setting) == intro(plain)
        assert found == set(renamings(plain))

    def test_shuffled_lines_are_the_same_lines(self) -> None:
        plain = payoffs(GameSetting.of(RPS, 5)).split("\n")
        seeds = [payoffs(GameSetting.of(RPS, 5, payoffs_rng=np.random.default_rng(s))).split("\n") for s in range(20)]
        assert all(sorted(lines) == sorted(plain) for lines in seeds)
        assert len({tuple(lines) for lines in seeds}) > 15

    @pytest.mark.slow
    @given(settings())
    def test_options_are_in_alphabetical_order(self, setting: GameSetting) -> None:
        told = intro(setting).partition("is choosing: ")[2].partition(". After the round")[0]
        own, theirs = (", ".join(f"option {x}" for x in sorted(names)) for names in (setting.own, setting.theirs))
        assert told == (own if own == theirs else f"you {own}; the other player {theirs}")


def renamings(setting: GameSetting) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """All ways to name the actions with the same names: the same for both if both have the same ones."""
    for own in permutations(setting.own):
        for theirs in [own] if setting.own == setting.theirs else permutations(setting.theirs):
            yield own, theirs


class TestNames:
    def test_sets(self) -> None:
        assert GameSetting.of(RPS, 5, "neutral").own == ("J", "F", "B")
        assert GameSetting.of(RPS, 5, "canonical").own == ("Rock", "Paper", "Scissors")
        assert GameSetting.of(RPS, 5, "repeated").own == ("J" * 21, "F" * 21, "B" * 21)
        assert GameSetting.of(RPS, 5, "nonsense").own == ("Pasta", "Rice", "Bread")
        assert GameSetting.of(RPS, 5, "initials").own == ("R", "P", "S")

    @pytest.mark.parametrize("names", ["neutral", "repeated", "nonsense"])
    def test_there_are_eight_of_each_and_none_is_the_blank_of_the_form(self, names: str) -> None:
        many = GameSetting.of(wide(8), 5, names).own
        assert len(set(many)) == 8
        assert "X" not in many
        with pytest.raises(InputError, match="more than 8 actions"):
            GameSetting.of(wide(9), 5, names)

    def test_what_cannot_be_put_into_words_is_refused(self) -> None:
        three = Game("three", ("a", "b", "c"), (("x",), ("y",), ("z",)), ((1, 2, 3),))
        with pytest.raises(InputError, match="not a game of two"):
            GameSetting.of(three, 5)
        with pytest.raises(InputError, match="no set of names `greek`"):
            GameSetting.of(RPS, 5, "greek")
        with pytest.raises(InputError, match="same first letter"):
            GameSetting.of(Game("same", ("a", "b"), (("up", "under"), ("l", "r")), ((1, 1),) * 4), 5, "initials")

    @pytest.mark.parametrize("pair", [("a", "A"), ("a", "a."), ("*", "b"), ("a\nb", "c"), ("straße", "STRASSE")])
    def test_names_that_answers_blur_are_refused(self, pair: tuple[str, str]) -> None:
        with pytest.raises(InputError, match="names that answers blur"):
            GameSetting.of(Game("blurred", ("a", "b"), (pair, ("l", "r")), ((1, 1),) * 4), 5)

    @pytest.mark.slow
    @given(settings())
    def test_all_others_are_read_as_they_are_told(self, setting: GameSetting) -> None:
        for labels in (setting.own, setting.theirs):
            assert [read_choice(f"Answer: option {label}", labels) for label in labels] == list(range(len(labels)))


def wide(options: int) -> Game:
    actions = tuple(f"way {i}" for i in range(options))
    return Game("wide", ("a", "b"), (actions, actions), ((1, 1),) * options**2)


class TestHistory:
    @pytest.mark.slow
    @given(played())
    def test_lines_tell_exactly_what_happened(self, case: tuple[GameSetting, list[Round]]) -> None:
        setting, rounds = case
        text = "\n".join(history(setting, rounds))
        over = {t: outcome for t, outcome in enumerate(rounds, 1) if outcome is not None}
        names = {t: (setting.own[outcome.own], setting.theirs[outcome.theirs]) for t, outcome in over.items()}
        assert past_told(text) == {t: (*names[t], over[t].payoff) for t in over}
        assert lost_told(text) == [t for t, outcome in enumerate(rounds, 1) if outcome is None]
        assert [int(n) for n in re.findall(r"^(?:In r|R)ound (\d+)", text, re.M)] == list(range(1, len(rounds) + 1))

    @pytest.mark.slow
    @given(played())
    def test_each_part_is_there_if_it_is_wanted(self, case: tuple[GameSetting, list[Round]]) -> None:
        setting, rounds = case
        parts = intro(setting), payoffs(setting), *(["\n".join(history(setting, rounds))] if rounds else [])
        assert known(setting, rounds) == "\n\n".join(parts)
        assert known(setting, rounds, with_payoffs=False) == "\n\n".join([parts[0], *parts[2:]])
        assert known(setting, rounds, with_history=False) == "\n\n".join(parts[:2])

    @pytest.mark.slow
    @given(played(lost=False))
    def test_every_text_begins_with_those_before_it(self, case: tuple[GameSetting, list[Round]]) -> None:
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
        check_examples(GameSetting.of(game, 5, names, labels_rng=np.random.default_rng(5)))

    @pytest.mark.slow
    @given(games(st.sampled_from(["A", "B", "C", "D", "E"])))
    def test_of_any_game(self, game: Game) -> None:
        check_examples(GameSetting.of(game, 5))

    def test_in_the_dilemma_the_copier_is_met_with_cooperation(self) -> None:
        assert answers(examples(GameSetting.of(IPD, 5), "act")) == ["Defect", "Cooperate", "Defect"]


def check_examples(setting: GameSetting) -> None:
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
    player = Prompted(Scripted("none", lambda request: text_of(request)), strategy("qa"), GameSetting.of(game, 3))
    asked = player.moved.exchanges[0].text
    assert asked.endswith("with one of option X, option y in place of Z:\nAnswer: option Z")
    assert player.moved.action is None


class TestForms:
    @pytest.mark.parametrize("labels", [NEUTRAL, *ODD], ids=lambda labels: labels[0][:8])
    def test_the_form_asked_for_is_read(self, labels: tuple[str, ...]) -> None:
        for i, label in enumerate(labels):
            for text in (f"Answer: option {label}", f"answer: OPTION {label}\n\n", f"So.\n**Answer:** option {label}."):
                assert read_choice(text, labels) == i
            assert read_plans(f"Plans: p\nInsights: q\nAnswer: option {label}", labels) == AnswerWithNotes(i, "p", "q")

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "is empty"),
            (" \n\t\n", "is empty"),
            ("Answer: option F\nAnswer: option J", "gives two answers"),
            ("Answer: option Z\nAnswer: option J", "gives two answers"),
            ("Answer: option X", "names no option as its answer"),
            ("Answer: option J or F", "names several options as its answer"),
            ("Answer: option J, option F", "names several options as its answer"),
            ("Answer: not option J", "names an option without choosing it"),
            ("Answer: option J\u2028Answer: option F", "gives two answers"),
            ("Answer: option Z\rAnswer: option J", "gives two answers"),
            ("Answer: option", "names no option as its answer"),
            ("Answer: option JJ", "names no option as its answer"),
            ("Answer: option J\nOr option F", "takes its answer back"),
            ("J or F", "names several options as its answer"),
            ("X", "names no option"),
            ("not J", "names an option without choosing it"),
            ("J?", "names an option without choosing it"),
            ("J is one of them", "names an option without choosing it"),
            ("x" * LONGEST_REPLY + "\nAnswer: option J", "is longer than 100,000 characters"),
        ],
    )
    def test_everything_else_is_not(self, text: str, why: str) -> None:
        assert read_choice(text, NEUTRAL) == Unreadable(why, text[:200])

    def test_an_answer_follows_its_heading_or_the_form(self) -> None:
        for text in ("Answer:\nAnswer: option J", "**Answer:**\n\nJ", "Answer: option X\n\nAnswer: option J"):
            assert read_choice(text, NEUTRAL) == 0

    def test_the_same_answer_twice_is_one(self) -> None:
        assert read_choice("Answer: option J\nYes.\nanswer: j", NEUTRAL) == 0

    def test_the_word_alone_is_no_name(self) -> None:
        for text in ("Answer: option", "Answer: option ", "Answer: option **"):
            assert isinstance(read_choice(text, ("option", "choice", "*")), Unreadable)

    def test_labels_that_read_alike_name_nothing(self) -> None:
        assert isinstance(read_choice("Answer: option a", ("a", "A.")), Unreadable)


class TestPlans:
    def test_notes_go_on_until_the_next_one_begins(self) -> None:
        text = "Let me see.\n**Plans:** first\n  then more: and more\nInsights: it copies\n\nAnswer: option F"
        assert read_plans(text, NEUTRAL) == AnswerWithNotes(1, "** first then more: and more", "it copies")

    def test_notes_are_of_limited_length(self) -> None:
        found = read_plans(f"Plans: {'p' * 5000}\nInsights: {'i ' * 5000}\nAnswer: option F", NEUTRAL)
        assert isinstance(found, AnswerWithNotes)
        assert (len(found.plans), len(found.insights)) == (1000, 1000)

    @pytest.mark.parametrize(
        ("text", "plans", "insights"),
        [
            ("Answer: option J", "", ""),
            ("I choose J.", "", ""),
            ("Insights: q\nPlans: p\nAnswer: option J", "p", "q"),
            ("Plans: p\nAnswer: option J", "p", ""),
        ],
    )
    def test_notes_may_be_missing(self, text: str, plans: str, insights: str) -> None:
        assert read_plans(text, NEUTRAL) == AnswerWithNotes(0, plans, insights)

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("Plans: p\nPlans: p\nInsights: q\nAnswer: option J", "gives plans twice"),
            ("Plans: p\nInsights: q\nAnswer: option J\nAnswer: option J", "gives answer twice"),
            ("Plans: p\nInsights: q\nAnswer: option Z", "names no option as its answer"),
            ("Plans: p\nInsights: q\n", "names no option"),
        ],
    )
    def test_what_is_there_twice_or_without_an_answer_is_not_read(self, text: str, why: str) -> None:
        assert read_plans(text, NEUTRAL) == Unreadable(why, text)

"""Repeated games in words: what is told is exactly the game, whatever its actions are called."""

from __future__ import annotations

import json
import random
import re
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import permutations, product

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
from talking import IBS, IPD, RPS, games, lost_told, past_told, payoffs_of, payoffs_told, played, settings

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


NEUTRAL = ("J", "F", "B")
ODD = (
    ("Rock and roll", "Rock", "Answer"),
    ("X", "option", "plans"),
    (r"a.*b", r"(?P<x>", "[a-z]+"),
    ('say "hi"', "it's", "`tick` tock"),
    ("J" * 21, "F" * 21, "B" * 21),
    ("Zürich", "東京", "🂡 ace"),
    ("a: b", "a, b", "Answer: a"),
    ("option J", "J", "j2"),
    ("$own", "\\1", "{0}"),
    ("None", "null", "-1"),
)


# The action of an answer in the form that was asked for, by a pattern: case and marks around do not matter

MARKS = "[ \t\r*_`\"'.]*"
ANSWER = re.compile(rf"{MARKS}answer{MARKS}:{MARKS}(.*?){MARKS}", re.IGNORECASE | re.DOTALL)
OPTION = re.compile(rf"option(?: {MARKS}(.*))?", re.IGNORECASE | re.DOTALL)


def allowed(text: str, labels: Sequence[str]) -> int | None:
    """The option that may be taken from a reply: the last line of its turn names it, and no line names another."""
    text = next((turn for turn in text.split("<|im_end|>") if turn.strip()), "")
    lines = [line for line in text.split("\n") if line.strip()]
    named = [name(match[1]) if (match := ANSWER.fullmatch(line)) else None for line in lines]
    if len(text) > 100_000 or not named or named[-1] is None or len({*named} - {None}) > 1:
        return None
    fitting = [i for i, label in enumerate(labels) if label.strip(" \t\r*_`\"'.").casefold() == named[-1]]
    return fitting[0] if named[-1] and len(fitting) == 1 else None


def is_named(label: str, text: str) -> bool:
    """Whether a text names an option, or has a word that is nearly its name."""
    option, said = (re.sub(r"[*_`()]", "", part).strip(" \"'.").casefold() for part in (label, text))
    return option.strip() in said or bool(get_close_matches(option, re.findall(r"\w+", said), 1, 0.75))


def name(answer: str) -> str:
    match = OPTION.fullmatch(answer)
    return ((match[1] or "") if match else answer).casefold()


# Replies that are right, and what can become of them

PROSE = (
    "I think that the other player repeats option {0}.",
    "Option {1} would be best against that.",
    "Not option {0}!",
    "As a language model I cannot play games.",
    "I'm sorry, but I can't help with that.",
    "Ich wähle Option {1}.",
    "答案是 {0}",
    "الجواب: {1}",
    "Réponse : option {0}",
    "Final answer: option {1}",
    "My answer: {0}",
    "The answer is option {1}.",
    "Answer:",
    "Answer: option",
    "answer = option {0}",
    "{0}",
    "option {1}",
    '{{"answer": "option {0}"}}',
    "# Answer",
    "- Answer: option {0}",
    "1. Answer: option {1}",
    "> Answer: option {0}",
    "| Answer: | option {1} |",
    "None",
    "null",
    "NaN",
    "undefined",
    "",
    "   ",
    "```",
    "```json",
    "</think>",
    "<|im_end|>",
)
MARKED = (
    "{}",
    "**{}**",
    "*{}*",
    "`{}`",
    "  {}  ",
    "{}.",
    '"{}"',
    "{}\r",
    "\t{}",
    "__{}__",
    "({})",
    "{}!",
    "# {}",
    "{},",
)
STRANGE = (
    "\u200b",
    "\u200f",
    "\u202e",
    "\u0301",
    "\u00a0",
    "\ufeff",
    "\u2028",
    "\x00",
    "\x1b[2J",
    "\r",
    "\v",
    "\x85",
    "\ud800",
)


def right(rng: random.Random, labels: Sequence[str]) -> str:
    """An answer in the form asked for, or nearly."""
    label = rng.choice([*labels, *labels, "Z", "J or F", "", "X", "none"])
    word = rng.choice(["Answer", "Answer", "Answer", "answer", "ANSWER", "**Answer**", "Final answer"])
    body = rng.choice(["option {}", "option {}", "{}", "Option {}", "option **{}**", "option  {}", "`{}`"]).format(
        label
    )
    return rng.choice(MARKED[:1] * 5 + MARKED).format(f"{word}: {body}")


def prose(rng: random.Random, labels: Sequence[str]) -> str:
    return rng.choice(PROSE).format(*rng.sample(list(labels), 2))


def plain(rng: random.Random, labels: Sequence[str]) -> str:
    return "\n".join([*(prose(rng, labels) for _ in range(rng.randrange(4))), right(rng, labels)])


def planned(rng: random.Random, labels: Sequence[str]) -> str:
    fields = [f"Plans: {prose(rng, labels)}", f"Insights: {prose(rng, labels)}", right(rng, labels)]
    if rng.random() < 0.2:
        rng.shuffle(fields)
    if rng.random() < 0.2:
        fields.insert(rng.randrange(4), rng.choice([*fields, prose(rng, labels)]))
    return "\n".join(fields)


def doubled(rng: random.Random, labels: Sequence[str]) -> str:
    return "\n".join([right(rng, labels), prose(rng, labels), right(rng, labels)])


def mutated(rng: random.Random, labels: Sequence[str]) -> str:
    """A right answer with letters lost, doubled, swapped or strange."""
    text = list(plain(rng, labels))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        change = rng.randrange(4)
        if change == 0:
            text[at : at + 1] = []
        elif change == 1:
            text[at:at] = rng.choice(STRANGE)
        elif change == 2:
            text[at:at] = text[max(0, at - 3) : at]
        else:
            text[at : at + 2] = text[at : at + 2][::-1]
    return "".join(text)


def structured(rng: random.Random, labels: Sequence[str]) -> str:
    """JSON instead of the form, whole, cut off or in a fence, with a right answer before or after it at times."""
    value = rng.choice(["1" * 5000, "NaN", "1e999", json.dumps(rng.choice(labels)), "[" * 500, '{"a":' * 300, "null"])
    text = f'{{"answer": {value}, "options": {json.dumps(list(labels))}}}'
    text = rng.choice([text, text[: rng.randrange(len(text))], f"```json\n{text}\n```"])
    return rng.choice([text, f"{text}\n{right(rng, labels)}", f"{right(rng, labels)}\n{text}"])


def noise(rng: random.Random, labels: Sequence[str]) -> str:
    pieces = [*STRANGE, *labels, "Answer", ":", "option ", "\n", " ", "*", "Plans:", "Insights:", "é", "ſ", "\u212a"]
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(40)))


KINDS: tuple[Callable[[random.Random, Sequence[str]], str], ...] = (
    plain,
    plain,
    planned,
    planned,
    doubled,
    mutated,
    structured,
    noise,
)


class TestFuzz:
    @pytest.mark.slow
    @pytest.mark.parametrize("part", range(4))
    def test_actions_come_out_of_answers_alone(self, part: int) -> None:
        rng = random.Random(part)
        read: Counter[bool] = Counter()
        for n in range(1250):
            labels = NEUTRAL if n % 2 else rng.choice(ODD)
            text = rng.choice(KINDS)(rng, labels)
            found = read_choice(text, labels)
            expected = allowed(text, labels)
            if not isinstance(found, Unreadable):
                assert is_named(labels[found], text), (text, labels)
                assert expected in (None, found), (text, labels)
            if isinstance(found, Unreadable):
                assert found.why
                assert text.startswith(found.text)
                assert len(found.text) <= 200
            check_plans(text, labels, found)
            read[not isinstance(found, Unreadable)] += 1
        assert min(read.values()) > 200

    def test_most_plans_that_are_right_are_read(self) -> None:
        rng = random.Random(0)
        texts = [planned(rng, NEUTRAL) for _ in range(500)]
        assert sum(isinstance(read_plans(text, NEUTRAL), AnswerWithNotes) for text in texts) > 100


def check_plans(text: str, labels: Sequence[str], expected: int | Unreadable) -> None:
    """Plans come with the action of the answer, and with notes of limited length."""
    found = read_plans(text, labels)
    if isinstance(found, Unreadable):
        return
    assert found.action == expected, (text, labels)
    assert max(len(found.plans), len(found.insights)) <= 1000


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


# Ghost moves: an option that cannot be chosen in the form, and one that can in the prose around it

ILLEGAL = ("Z", "Q", "JF", "J or F", "J and F", "J, F", "neither", "none", "?", "Paper", "J (or F)", "4", "J2")
AROUND = (
    "I would never choose option {0}.",
    "Option {0} is what the other player expects.",
    "I thought about `Answer: option {0}` and rejected it.",
    "Rejected: Answer: option {0}",
    "(Answer: option {0})",
    "Do not read this as Answer: option {0}",
    "{0}",
    "option {0}",
    '{{"answer": "option {0}"}}',
    "The legal options are option B, option F, option J; I want none of them, least of all {0}.",
)
CHOICES = (
    "Answer: option {0}",
    "**Answer:** {0}",
    "Plans: win\nInsights: none\nAnswer: option {0}",
    '{{"answer": "option {0}"}}',
    "```\nAnswer: option {0}\n```",
    "Answer: option {0}\nAnswer: option {0}",
)


def ghosts() -> Iterator[str]:
    for illegal, around, choice, label in product(ILLEGAL, AROUND, CHOICES, NEUTRAL[:2]):
        chosen, said = choice.format(illegal), around.format(label)
        yield f"{said}\n{chosen}"
        yield f"{chosen}\n{said}"
        yield f"{said}\n\n{chosen}\n\n{said}"


@pytest.mark.slow
def test_no_move_comes_out_of_prose_around_an_illegal_one() -> None:
    corpus = set(ghosts())
    assert len(corpus) > 1000
    for text in corpus:
        assert isinstance(read_choice(text, NEUTRAL), Unreadable), text
        assert isinstance(read_plans(text, NEUTRAL), Unreadable), text


@pytest.mark.parametrize("label", NEUTRAL)
def test_no_move_comes_out_of_a_legal_answer_that_takes_back_an_illegal_one(label: str) -> None:
    for illegal in ILLEGAL:
        for text in (f"Answer: option {illegal}\nAnswer: option {label}", f"Answer: {label}\nAnswer: {illegal}"):
            assert isinstance(read_choice(text, NEUTRAL), Unreadable), text


PROMPT = (
    "Write one line and nothing else, in this form, with one of option B, option F in place of X:\nAnswer: option X"
)
ERRORS = (
    '{"error": {"message": "Incorrect API key provided: sk-J", "type": "invalid_request_error", "code": 401}}',
    '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
    '{"error": {"message": "Rate limit reached", "type": "requests", "param": null, "code": "rate_limit_exceeded"}}',
    '{"detail": [{"loc": ["body", "prompt"], "msg": "field required", "type": "value_error.missing"}]}',
    '{"object": "error", "message": "maximum context length is 2048 tokens", "code": 40303}',
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>",
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 20\r\n\r\n",
    "Error: option J is not supported by this model",
    "Internal Server Error",
    "Traceback (most recent call last):\n  File 'server.py', line 1\nValueError: Answer: option J",
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    '{"choices": [{"message": {"content": "Answer: option J"}}]}',
    'data: {"delta": "Answer: option J"}\n\ndata: [DONE]',
    f'{{"error": "cannot parse", "prompt": {json.dumps(PROMPT)}}}',
    PROMPT,
)


@pytest.mark.parametrize("text", ERRORS, ids=lambda text: text[:20])
def test_no_move_comes_out_of_an_error_message(text: str) -> None:
    for reply in (text, f"Plans: p\nInsights: i\n{text}", f"{text}\n"):
        assert isinstance(read_choice(reply, NEUTRAL), Unreadable)
        assert isinstance(read_plans(reply, NEUTRAL), Unreadable)


# Long replies

UNITS = (
    "Answer: option J\n",
    "`",
    "Answer:",
    ":",
    "\n",
    " ",
    "Plans: x\n",
    "\u0301",
    "J ",
    "*_`\"'.",
    "x\n",
    "option ",
)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_long_replies_are_read_or_refused_at_once(unit: str) -> None:
    for length in (LONGEST_REPLY, 1_000_000):
        text = (unit * length)[:length]
        for whole in (text, text[:-17] + "\nAnswer: option J", "Plans: a\nInsights: b\n" + text):
            started = time.process_time()
            read_choice(whole, NEUTRAL)
            read_plans(whole, NEUTRAL)
            assert time.process_time() - started < 10.0  # about a second for the longest, unless it is quadratic


@pytest.mark.slow
def test_long_replies_take_little_memory() -> None:
    texts = [(unit * length)[:length] for unit in UNITS[:5] for length in (LONGEST_REPLY, 1_000_000)]
    tracemalloc.start()
    try:
        for text in texts:
            read_plans(text, NEUTRAL)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()

"""Language models that are programs: they are asked as any other, and each does what it is there to show."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chisquare

from otherminds.errors import InputError
from otherminds.language.asking import Unreadable
from otherminds.language.choices import read_choice
from otherminds.language.model import Continuations, Message, ModelError, Reply, Request, Usage
from otherminds.language.scripted import Scripted, scripted, text_of, words
from otherminds.papers.functional.game_prompts import (
    AnswerWithNotes,
    GameSetting,
    Round,
    known,
    read_plans,
    unfinished,
)
from otherminds.papers.functional.prompting import STRATEGIES, Prompted, Sampling, strategy
from otherminds.papers.functional.scripted_models import BEHAVIOURS, ParsedPrompt, scripted_player
from otherminds.worlds.repeated_games.machines import constant
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.rules import Outcome
from talking import RPS, Listening, asked, play_out, played

TFT = partner("tft", RPS)
NEUTRAL = GameSetting.of(RPS, 8, "neutral")


class TestScripted:
    def test_it_writes_what_the_function_returns(self) -> None:
        asked_with: list[Request] = []

        def write(request: Request) -> str:
            asked_with.append(request)
            return "two words"

        request = Request("a b c", seed=3, draw="x")
        assert Scripted("s", write).complete(request) == Reply("two words", usage=Usage(3, 0, 2))
        assert asked_with == [request]
        assert Scripted("s", write).identity == "scripted:s"

    def test_conversations_are_read_in_one(self) -> None:
        turns = (Message("system", "be brief"), Message("user", "hello"))
        assert text_of(Request(turns)) == "be brief\n\nhello"
        assert text_of(Request("as it stands")) == "as it stands"

    def test_it_scores_every_text(self) -> None:
        model = Scripted("s", lambda _: "", lambda prompt, text: -float(len(prompt) + len(text)))
        scores = model.score(Continuations("a b", (" x", " y z", "")))
        assert scores.log_probs == (-5.0, -7.0, -3.0)
        assert scores.tokens == (1, 2, 1)
        assert scores.usage.prompt == words("a b") == 2

    @pytest.mark.parametrize("value", [0.1, math.nan, math.inf])
    def test_what_is_no_probability_is_an_error(self, value: float) -> None:
        with pytest.raises(ModelError, match="s gave a log-probability above 0"):
            Scripted("s", lambda _: "", lambda _prompt, _text: value).score(Continuations("", ("a",)))

    @pytest.mark.parametrize("value", [None, 3, b"bytes", {"error": "no"}])
    def test_what_is_no_text_is_an_error(self, value: object) -> None:
        with pytest.raises(ModelError, match=f"s answered with {type(value).__name__}, not with text"):
            Scripted("s", lambda _: value).complete(Request("x"))  # type: ignore[arg-type,return-value]

    def test_without_a_function_nothing_is_scored(self) -> None:
        with pytest.raises(ModelError, match="s has no log-probabilities"):
            Scripted("s", lambda _: "").score(Continuations("", ("a",)))

    def test_replies_come_one_after_the_other_and_end(self) -> None:
        model = scripted("s", ["one", "two"])
        assert [model.complete(Request(text)).text for text in "ab"] == ["one", "two"]
        with pytest.raises(ModelError, match="the script has 2 replies, and was asked for one more"):
            model.complete(Request("c"))

    def test_from_several_threads_every_reply_comes_once(self) -> None:
        replies = [str(i) for i in range(500)]
        model = scripted("s", replies)
        with ThreadPoolExecutor(8) as pool:
            found = pool.map(lambda _: model.complete(Request("x")).text, replies)
        assert sorted(found, key=int) == replies


class TestPage:
    """A prompt is read back as what it was made from."""

    @pytest.mark.slow
    @given(played())
    def test_rounds(self, case: tuple[GameSetting, list[Round]]) -> None:
        setting, rounds = case
        joint = tuple((outcome.own, outcome.theirs) for outcome in rounds if outcome is not None)
        page = ParsedPrompt.read(setting, known(setting, rounds))
        assert (page.joint, page.truth) == (joint, None)
        assert ParsedPrompt.read(setting, unfinished(setting, rounds, "act")).joint == joint
        assert ParsedPrompt.read(setting, unfinished(setting, rounds, "agent-first", 0)).joint == joint

    @pytest.mark.slow
    @given(played())
    def test_expectations_follow_counts(self, case: tuple[GameSetting, list[Round]]) -> None:
        """The most frequent after the last joint action, if there was such a one before; else the most frequent."""
        setting, rounds = case
        joint = [(outcome.own, outcome.theirs) for outcome in rounds if outcome is not None]
        after = [joint[i + 1][1] for i in range(len(joint) - 1) if joint[i] == joint[-1]] or [b for _, b in joint]
        likely = ParsedPrompt.read(setting, known(setting, rounds)).likely
        assert after.count(likely) == max(after.count(b) for b in range(len(setting.theirs)))
        assert all(after.count(b) < after.count(likely) for b in range(likely))

    @pytest.mark.parametrize("way", STRATEGIES)
    def test_questions(self, way: str) -> None:
        model = Listening(scripted_player("perfect", NEUTRAL, TFT))
        play_out(asked(way, model, rounds=8), TFT)
        for call in model.calls:
            assert ParsedPrompt.read(NEUTRAL, call.prompt).question == call.purpose.split()[0]

    def test_names_may_have_any_marks(self) -> None:
        odd = ("St. Ives", "a (b+)", "$x. You")
        setting = GameSetting(RPS, 5, odd, odd, NEUTRAL.order)
        rounds = [Outcome(a, b, 0.0) for a in range(3) for b in range(3)]
        assert ParsedPrompt.read(setting, known(setting, rounds)).joint == tuple((r.own, r.theirs) for r in rounds)


class TestManners:
    def test_there_are_seven(self) -> None:
        wanted = {"perfect", "nash_mixer", "echo", "biased", "format_breaker", "stutterer", "r1_like"}
        assert set(BEHAVIOURS) == wanted
        with pytest.raises(InputError, match="there is no scripted player `gpt`"):
            scripted_player("gpt", NEUTRAL, TFT)

    @pytest.mark.slow
    @pytest.mark.parametrize("way", ["lm", "qa"])
    def test_the_mixer_mixes_evenly_and_predicts(self, way: str) -> None:
        counts: Counter[int] = Counter()
        for n in range(20):
            model = scripted_player("nash_mixer", NEUTRAL, constant(RPS, 1))
            player = Prompted(model, strategy(way), NEUTRAL, f"episode {n}", n, Sampling())
            _, rows = play_out(player, constant(RPS, 1))
            counts.update(row["action"] for row in rows)
            assert [row["predicted"] for row in rows[1:]] == [1] * 7
        assert chisquare([counts[a] for a in range(3)]).pvalue > 1e-3

    def test_the_biased_names_what_it_reads_first_whatever_it_means(self) -> None:
        named, meant = set(), set()
        for seed in range(12):
            setting = GameSetting.of(RPS, 8, "nonsense", labels_rng=np.random.default_rng(seed))
            model = scripted_player("biased", setting, TFT)
            reply = model.complete(Request("Which option do you choose in round 1?\nAnswer: option X")).text
            named.add(reply)
            meant.add(setting.own.index("Bread"))
        assert named == {"Answer: option Bread"}
        assert meant == {0, 1, 2}

    @pytest.mark.parametrize("label", ["J", "F", "B"])
    def test_the_format_breaker_names_options_and_none_can_be_read(self, label: str) -> None:
        setting = GameSetting(RPS, 8, (label, "Y", "Z"), (label, "Y", "Z"), NEUTRAL.order)
        model = scripted_player("format_breaker", setting, TFT)
        for attempt in range(9):
            reply = model.complete(Request("Which option do you choose in round 1?", draw=f"x act {attempt}")).text
            assert "option " in reply
            assert isinstance(read_choice(reply, setting.own), Unreadable)
            assert isinstance(read_plans(reply, setting.own), Unreadable)

    @pytest.mark.parametrize("name", [name for name in BEHAVIOURS if name != "format_breaker"])
    @pytest.mark.parametrize("way", ["qa", "cot", "plans_insights"])
    def test_all_others_keep_to_the_form_sooner_or_later(self, name: str, way: str) -> None:
        model = Listening(scripted_player(name, NEUTRAL, TFT))
        player = asked(way, model, rounds=8)
        moves = player.moved, player.expected
        for move in moves:
            assert [said.readable for said in move.exchanges] == [False] * (name == "stutterer") + [True]
            assert move.exchanges[-1].reading == NEUTRAL.own[move.action or 0]
            if way == "plans_insights":
                assert isinstance(read_plans(move.exchanges[-1].text, NEUTRAL.own), AnswerWithNotes)

    def test_the_mixer_finds_all_names_equally_probable(self) -> None:
        model = scripted_player("nash_mixer", NEUTRAL, TFT)
        scores = model.score(Continuations(unfinished(NEUTRAL, (), "act"), (" J", " F", " B")))
        assert scores.log_probs == pytest.approx([-math.log(3)] * 3)

    @pytest.mark.parametrize("name", [name for name in BEHAVIOURS if name != "nash_mixer"])
    def test_one_name_is_far_more_probable(self, name: str) -> None:
        model = scripted_player(name, NEUTRAL, TFT)
        scores = model.score(Continuations(unfinished(NEUTRAL, (), "act"), (" J", " F", " B", " X", "J")))
        assert sorted(np.exp(scores.log_probs)) == pytest.approx([0.005] * 4 + [0.98])
        written = model.complete(Request("Which option do you choose in round 1?", draw="x 1")).text
        if name != "format_breaker":
            assert written == f"Answer: option {NEUTRAL.own[int(np.argmax(scores.log_probs[:3]))]}"

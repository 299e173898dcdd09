"""What each strategy tells a model and keeps from it, and what is made of what the model says."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as config
from hypothesis import strategies as st
from scipy.stats import chisquare

from otherminds.distribution import Categorical
from otherminds.errors import InputError
from otherminds.evaluation.tasks import Row
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores
from otherminds.language.scripted import scripted
from otherminds.papers.functional.game_prompts import GameSetting, Question, examples
from otherminds.papers.functional.prompting import STRATEGIES, Prompted, Sampling, strategy
from otherminds.worlds.repeated_games.rules import Outcome
from talking import (
    IBS,
    IPD,
    RPS,
    Listening,
    answering,
    asked,
    lost_told,
    model,
    past_told,
    payoffs_of,
    payoffs_told,
    play_out,
    purpose,
    settings,
)

ROUNDS = 5
ORACLES = ("oracle", "oracle_max", "oracle_max_no_history", "oracle_max_no_payoffs")
SOCIAL = ("social_qa", "social_lm")
PREDICTING = [way for way in STRATEGIES if way not in ORACLES]
REFLECTING = {"reflexion1": 1, "reflexion2": 2, "reflexion3": 3}

MARKS = {
    "I": "You are playing a game of 5 rounds with another player.",
    "P": "If you choose option ",
    "H": "^In round 1, you chose option .+ and the other player chose option .+\\. You ",
    "Z": "^what matters to rewrite (act|predict)$",
    "W": "^Three examples of good thinking",
    "B": "^Your notes from the round before:",
    "R": "^What you wrote to yourself after earlier rounds:",
    "N": "Now it is round ",
    "E": "^You expect that the other player will choose option ",
    "O": "^You know for certain that the other player chooses option ",
    "M": "^Choose the option that is best for your own total over all rounds",
    "K": " in round [1-5]\\?$",
    "A": "^Write one line and nothing else, in this form",
    "C": "^Think step by step first",
    "L": "^Write three lines in this form",
    "U": "^In round .* option\\Z",
}
"""Introduction, payoffs, history; what was rewritten; worked examples, notes before, reflections; now; expectation,
oracle, maximise; question; answer alone, chain of thought, lines for plans; unfinished: always in this order."""
LATER = {*"HBR"}
"""What there is from the second round on."""

ACT = {
    "lm": "IPHU",
    "qa": "IPHNKA",
    "cot": "IPHNKC",
    "cot3": "IPHNKCW",
    "plans_insights": "IPHNKLB",
    "reflexion1": "IPHNKAR",
    "reflexion2": "IPHNKAR",
    "reflexion3": "IPHNKAR",
    "social_qa": "IPHNKAE",
    "social_lm": "IPHNKAE",
    "s2a": "INKAZ",
    "s2a_cot": "INKCZ",
    "oracle": "IPHNKAO",
    "oracle_max": "IPHNKAOM",
    "oracle_max_no_history": "IPNKAOM",
    "oracle_max_no_payoffs": "IHNKAOM",
}
PREDICT = {way: ACT[way].replace("E", "") for way in PREDICTING} | {"social_lm": "IPHU"}


def blocks(prompt: str) -> set[str]:
    matches = {block: re.search(pattern, prompt, re.MULTILINE) for block, pattern in MARKS.items()}
    places = {block: match.start() for block, match in matches.items() if match}
    assert list(places.values()) == sorted(places.values())
    return set(places)


def expected(letters: str, t: int) -> set[str]:
    return {*letters} - (LATER if t == 1 else set())


def recorded(way: str, *, names: str = "neutral") -> tuple[Listening, list[Row], GameSetting]:
    """An episode of Rock, Paper, Scissors in which the model always plays the first option and expects the second."""
    setting = GameSetting.of(RPS, ROUNDS, names)
    speaker = answering(setting.own[0], setting.theirs[1])
    _, rows = play_out(asked(way, speaker, names=names))
    return speaker, rows, setting


class TestWhatIsTold:
    @pytest.mark.parametrize("way", STRATEGIES)
    def test_every_block_is_where_it_belongs(self, way: str) -> None:
        speaker, _, _ = recorded(way)
        acts, predicts = speaker.prompts("act"), speaker.prompts("predict")
        assert [blocks(prompt) for prompt in acts] == [expected(ACT[way], t) for t in range(1, ROUNDS + 1)]
        wanted = [expected(PREDICT[way], t) for t in range(1, ROUNDS + 1)] if way in PREDICT else []
        assert [blocks(prompt) for prompt in predicts] == wanted

    @pytest.mark.parametrize("told", ["oracle", "oracle_max"])
    @pytest.mark.parametrize("way", PREDICTING)
    def test_whoever_is_told_the_truth_is_told_nothing_else(self, way: str, told: str) -> None:
        speaker, rows, setting = recorded(f"{way}+{told}")
        wanted = ACT[way].replace("E", "") + ("OM" if told == "oracle_max" else "O")
        acts = speaker.prompts("act")
        assert [blocks(prompt) for prompt in acts] == [expected(wanted, t) for t in range(1, ROUNDS + 1)]
        assert [row["predicted"] for row in rows] == [row["observed"] for row in rows]
        for row, prompt in zip(rows, acts, strict=True):
            assert f"certain that the other player chooses option {setting.theirs[row['observed']]} in" in prompt
        for call in speaker.calls:
            assert call.purpose == "act" or not blocks(call.prompt) & {*"OME"}
            assert call.purpose != "predict"

    @pytest.mark.parametrize("names", ["neutral", "canonical", "repeated", "nonsense"])
    @pytest.mark.parametrize("way", STRATEGIES)
    def test_payoffs_and_history_are_true_wherever_they_are_told(self, way: str, names: str) -> None:
        speaker, rows, setting = recorded(way, names=names)
        true = payoffs_of(RPS, setting.own, setting.theirs)
        past = {
            t: (setting.own[row["action"]], setting.theirs[row["observed"]], row["reward"])
            for t, row in enumerate(rows, 1)
        }
        asked_about: Counter[str] = Counter()
        for call in speaker.calls:
            t = asked_about[call.purpose] = asked_about[call.purpose] + 1
            over = t if call.purpose == "reflect" else t - 1
            assert payoffs_told(call.prompt) in ({}, true)
            assert past_told(call.prompt) in ({}, {round_: past[round_] for round_ in range(1, over + 1)})
            if call.kind == "write" and call.purpose in ("act", "predict"):
                assert f"Now it is round {t} of {ROUNDS}." in call.prompt
                options = ", ".join(f"option {label}" for label in sorted(setting.own))
                assert f"with one of {options} in place of X" in call.prompt
                assert call.prompt.endswith("\nAnswer: option X")

    @pytest.mark.parametrize("way", SOCIAL)
    def test_the_social_are_told_their_own_prediction(self, way: str) -> None:
        speaker, rows, setting = recorded(way)
        assert {row["predicted"] for row in rows} == {1}
        line = f"You expect that the other player will choose option {setting.theirs[1]} in this round."
        assert all(line in prompt for prompt in speaker.prompts("act"))

    @pytest.mark.parametrize(("way", "kept"), REFLECTING.items())
    def test_the_last_reflections_are_kept(self, way: str, kept: int) -> None:
        setting = GameSetting.of(RPS, ROUNDS, "neutral")

        def reply(kind: str, prompt: str) -> str:
            ended = re.search(r"told how round (\d) ended", prompt)
            return f"<note {ended[1]}>" if ended else f"Answer: option {setting.own[0]}"

        speaker = model(reply)
        play_out(asked(way, speaker))
        for t, prompts in enumerate(zip(speaker.prompts("act"), speaker.prompts("predict"), strict=True), 1):
            for prompt in prompts:
                assert re.findall(r"^- <note (\d)>$", prompt, re.M) == [str(n) for n in range(1, t)][-kept:]
        reflections = speaker.prompts("reflect")
        assert len(reflections) == ROUNDS - 1
        for t, prompt in enumerate(reflections, 1):
            assert blocks(prompt) == {*"IPH"} | ({"R"} if t > 1 else set())
            assert re.findall(r"^- <note (\d)>$", prompt, re.M) == [str(n) for n in range(1, t)][-kept:]
            assert sorted(past_told(prompt)) == list(range(1, t + 1))
            assert prompt.rpartition("\n\n")[2].startswith(f"You have just been told how round {t} ended.")

    def test_a_reflection_belongs_to_the_round_after(self) -> None:
        player = asked("reflexion1", answering("J", "F"), rounds=2).observe(None)
        outcome = Outcome(0, 1, -1.0)
        found = [
            player.exchanges,
            player.observe(outcome).exchanges,
            player.observe(outcome).observe(outcome).exchanges,
        ]
        assert [[said.purpose for said in said_then] for said_then in found] == [[], ["reflect"], []]

    @pytest.mark.parametrize("question", ["act", "predict"])
    def test_examples_are_of_the_question(self, question: Question) -> None:
        speaker, _, setting = recorded("cot3")
        assert all(f"\n\n{examples(setting, question)}\n\n" in prompt for prompt in speaker.prompts(question))

    def test_plans_are_seen_again_and_those_of_predictions_are_not(self) -> None:
        def reply(kind: str, prompt: str) -> str:
            t = re.findall(r"in round (\d)\?", prompt)[0]
            return f"Plans: {kind} plan {t}\nInsights: {kind} insight {t}\nAnswer: option J"

        speaker = model(reply)
        play_out(asked("plans_insights", speaker))
        for kind in ("act", "predict"):
            for t, prompt in enumerate(speaker.prompts(kind), 1):
                assert "predict plan" not in prompt
                found = re.findall(r"^(?:Plans|Insights): act (\w+) (\d)$", prompt, re.M)
                assert found == ([("plan", str(t - 1)), ("insight", str(t - 1))] if t > 1 else [])

    def test_notes_outlive_a_round_that_was_lost(self) -> None:
        speaker = model(
            lambda kind, prompt: f"Plans: p\nInsights: i\nAnswer: option {'Z' if '1, you' in prompt else 'J'}"
        )
        player = asked("plans_insights", speaker).observe(None).observe(Outcome(0, 0, 0.0))
        assert player.act().mode is None
        assert player.lose().notes == player.notes == ("p", "i")

    def test_rewriting_is_told_everything_and_replaces_it(self) -> None:
        speaker, _, _ = recorded("s2a")
        for kind in ("act", "predict"):
            for t, prompt in enumerate(speaker.prompts(f"rewrite {kind}"), 1):
                assert blocks(prompt) == expected("IPH", t)
            assert all(f"what matters to rewrite {kind}" in prompt for prompt in speaker.prompts(kind))

    def test_lost_rounds_are_told_as_lost(self) -> None:
        unread = {1, 3}
        speaker = model(lambda _, prompt: "?" if len(told_of(prompt)) + 1 in unread else GOOD)
        _, rows = play_out(asked("qa", speaker))
        assert [row["action"] for row in rows] == [None, 0, None, 0, 0]
        last = speaker.prompts("act")[-1]
        assert lost_told(last) == [1, 3]
        assert sorted(past_told(last)) == [2, 4]


def told_of(prompt: str) -> list[int]:
    return sorted([*lost_told(prompt), *past_told(prompt)])


GOOD = "Plans: p\nInsights: i\nAnswer: option J"


class TestWhatIsKept:
    """A question about one thing says nothing of the other."""

    @staticmethod
    def after_two_rounds(way: str, speaker: Listening) -> Prompted:
        player = asked(way, speaker).observe(None)
        for outcome in (Outcome(0, 1, -1.0), Outcome(2, 1, 1.0)):
            player = player.observe(outcome)
        return player.told(2)

    def questions(self, way: str, act: str, predict: str, first: str = "act") -> Listening:
        """All that is asked in the third round by a model that acts and predicts so in it."""

        def reply(kind: str, prompt: str) -> str:
            label = {"act": act, "predict": predict}.get(kind, "J") if "in round 3?" in prompt else "J"
            return f"Plans: p\nInsights: i\nAnswer: option {label}"

        def weigh(prompt: str, text: str) -> float:
            wanted = (act if purpose(prompt) == "act" else predict) if "In round 3" in prompt else "J"
            return -0.1 if text == f" {wanted}" else -9.0

        speaker = model(reply, weigh)
        player = self.after_two_rounds(way, speaker)
        speaker.calls.clear()
        for question in (first, "predict" if first == "act" else "act"):
            getattr(player, question)()
        return speaker

    @pytest.mark.parametrize("way", PREDICTING)
    def test_predictions_are_asked_for_without_the_action(self, way: str) -> None:
        one, other = (self.questions(way, act, "F").prompts("predict") for act in "JB")
        assert len(one) == 1
        if way == "lm":
            assert one[0].endswith("\nIn round 3, you chose option J and the other player chose option")
            assert other[0].endswith("\nIn round 3, you chose option B and the other player chose option")
        else:
            assert one == other

    @pytest.mark.parametrize("way", STRATEGIES)
    def test_actions_are_asked_for_without_the_prediction(self, way: str) -> None:
        one, other = (self.questions(way, "J", predict).prompts("act") for predict in "FB")
        assert len(one) == 1
        assert (one == other) == (way not in SOCIAL)
        if way in SOCIAL:
            assert one[0].replace("choose option F in this", "choose option B in this") == other[0]

    @pytest.mark.parametrize("way", STRATEGIES)
    def test_it_does_not_matter_what_is_asked_first(self, way: str) -> None:
        one, other = (self.questions(way, "J", "F", first) for first in ("act", "predict"))
        assert sorted(call.prompt for call in one.calls) == sorted(call.prompt for call in other.calls)
        assert {call.request for call in one.calls} == {call.request for call in other.calls}

    @pytest.mark.slow
    @config(max_examples=20)
    @given(settings(), st.data())
    def test_unfinished_sentences_grow(self, setting: GameSetting, data: st.DataObject) -> None:
        speaker = answering(setting.own[-1], setting.theirs[0])
        player = replace(asked("lm", speaker), setting=setting).observe(None)
        for _ in range(min(setting.horizon, 4)):
            player.act(), player.predict()
            b = data.draw(st.integers(0, len(setting.theirs) - 1))
            action = player.moved.action
            assert action is not None
            player = player.observe(Outcome(action, b, float(setting.game.payoff()[action, b])))
        prompts = [call.prompt for call in speaker.calls]
        assert all(later.startswith(earlier) for earlier, later in pairwise(prompts))
        assert [call.purpose for call in speaker.calls] == ["act", "predict"] * (len(prompts) // 2)
        assert {call.texts for call in speaker.calls[::2]} == {tuple(f" {label}" for label in setting.own)}


class TestAttempts:
    @pytest.mark.parametrize("attempts", [1, 2, 3, 5])
    def test_what_cannot_be_read_is_asked_for_again_and_then_there_is_no_move(self, attempts: int) -> None:
        for unread in range(attempts + 1):
            speaker = Listening(scripted("slow", ["no"] * unread + ["Answer: option F"] * (unread < attempts)))
            player = asked("qa", speaker, sampling=Sampling(attempts=attempts))
            assert player.act().mode == (1 if unread < attempts else None)
            assert len(speaker.calls) == min(unread + 1, attempts)
            assert [said.readable for said in player.exchanges] == [False] * unread + [True] * (unread < attempts)
            told = '\n\nYour last reply, "no", could not be read: it names no option.'
            assert [call.prompt for call in speaker.calls[1:]] == [speaker.calls[0].prompt + told] * (
                len(speaker.calls) - 1
            )
            requests = [call.request for call in speaker.calls if call.request]
            assert len({request.draw for request in requests}) == len({r.seed for r in requests}) == len(requests)

    @pytest.mark.parametrize("way", STRATEGIES)
    def test_no_two_questions_of_a_run_are_the_same_draw(self, way: str) -> None:
        requests: list[Request] = []
        for draw in ("rps/single always Rock/0", "rps/single always Rock/1"):
            speaker = model(lambda kind, _: "note" if kind not in ("act", "predict") else "no")
            play_out(asked(way, speaker, draw=draw))
            requests += [call.request for call in speaker.calls if call.request]
        assert len({request.draw for request in requests}) == len(requests)
        assert len({request.seed for request in requests}) == len(requests)
        assert all(0 <= request.seed < 2**31 for request in requests)

    @pytest.mark.parametrize(
        ("way", "length"), [("qa", 7), ("oracle", 7), ("s2a", 7), ("cot", 99), ("plans_insights", 99)]
    )
    def test_answers_are_as_long_as_is_allowed(self, way: str, length: int) -> None:
        speaker = answering("J", "F")
        play_out(asked(way, speaker, sampling=Sampling(temperature=0.3, max_tokens=7, max_reasoning=99)))
        for call in speaker.calls:
            assert call.request is not None
            assert call.request.temperature == 0.3
            assert call.request.max_tokens == (length if call.purpose in ("act", "predict") else 99)

    @pytest.mark.parametrize("way", ["qa", "cot", "plans_insights"])
    def test_what_was_cut_off_is_no_answer(self, way: str) -> None:
        speaker = Listening(Cut())
        player = asked(way, speaker)
        assert player.act().mode is None
        assert {(said.reading, said.readable) for said in player.exchanges} == {("was cut off", False)}
        assert len(speaker.calls) == 3

    def test_who_has_no_prediction_has_nothing_to_act_on(self) -> None:
        speaker = model(lambda kind, _prompt: "no" if kind == "predict" else GOOD)
        player = asked("social_qa", speaker)
        assert player.act().mode is None
        assert [call.purpose for call in speaker.calls] == ["predict"] * 3


@dataclass(frozen=True)
class Cut:
    """A model whose every reply is an answer that was stopped by the limit of tokens."""

    name: str = "cut"
    identity: str = "cut"

    def complete(self, _request: Request) -> Reply:
        return Reply(GOOD, cut=True)

    def score(self, request: Continuations) -> Scores:
        raise NotImplementedError


class TestAskingOnce:
    @pytest.mark.parametrize("way", STRATEGIES)
    def test_the_same_player_asks_once(self, way: str) -> None:
        speaker = answering("J", "F")
        player = asked(way, speaker).observe(None).told(1)
        for _ in range(3):
            assert player.act() == Categorical.uniform([0])
            assert player.predict().mode == 1
            assert player.exchanges == player.exchanges
        counted = Counter(call.purpose for call in speaker.calls)
        assert set(counted.values()) == {1}
        later = player.observe(Outcome(0, 1, -1.0))
        assert Counter(call.purpose for call in speaker.calls) - counted == Counter(reflect=way in REFLECTING)
        assert (player.rounds, len(later.rounds), later.truth) == ((), 1, None)

    def test_only_oracles_are_told_the_truth(self) -> None:
        for way in STRATEGIES:
            player = asked(way, answering("J", "F"))
            assert (player.told(1).truth == 1) == (way in ORACLES)

    @pytest.mark.slow
    def test_equal_seeds_play_alike_and_others_do_not(self) -> None:
        def requested(seed: int, draw: str) -> list[int]:
            speaker = answering("J", "F")
            play_out(replace(asked("qa", speaker, draw=draw), seed=seed))
            return [call.request.seed for call in speaker.calls if call.request]

        def actions(seed: int, draw: str) -> list[int | None]:
            speaker = model(lambda _kind, _prompt: "", lambda _prompt, _text: -1.0)
            player = replace(asked("lm", speaker, rounds=30, sampling=Sampling(), draw=draw), seed=seed)
            return [row["action"] for row in play_out(player)[1]]

        for made in (actions, requested):
            assert made(1, "a") == made(1, "a")
            assert len({tuple(made(seed, draw)) for seed in (1, 2, 3) for draw in ("a", "b")}) == 6


@dataclass(frozen=True)
class Weights:
    """A model that gives continuations these log-probabilities, as so many tokens."""

    values: Sequence[float]
    tokens: Sequence[int] = (1, 1, 1)
    name: str = "weights"
    identity: str = "weights"

    def complete(self, _request: Request) -> Reply:
        raise NotImplementedError

    def score(self, request: Continuations) -> Scores:
        n = len(request.texts)
        return Scores(tuple(self.values[:n]), tuple(self.tokens[:n]))


class TestDraws:
    @pytest.mark.slow
    @pytest.mark.parametrize("weights", [(0.5, 0.3, 0.1), (0.05, 0.05, 0.9), (1e-4, 2e-4, 1e-4)])
    def test_actions_are_drawn_by_their_probabilities(self, weights: tuple[float, ...]) -> None:
        speaker = Weights(tuple(map(math.log, weights)))
        one = asked("lm", speaker, sampling=Sampling())
        players = [replace(one, draw=f"episode {n}") for n in range(2000)]
        later = [player.observe(Outcome(0, 0, 0.0)) for player in players[:1000]]
        for drawn in (players, later):
            counts = Counter(player.moved.action for player in drawn)
            shares = np.array(weights) / sum(weights) * len(drawn)
            assert chisquare([counts[i] for i in range(3)], shares).pvalue > 1e-3
        assert players[0].moved.mass == pytest.approx(sum(weights))
        assert players[0].moved.weights == pytest.approx(np.array(weights) / sum(weights))
        both = Counter((a.moved.action, b.moved.action) for a, b in zip(players, later, strict=False))
        assert len(both) > 4

    def test_predictions_are_distributions_with_the_most_probable_first(self) -> None:
        player = asked("lm", Weights(tuple(map(math.log, (0.2, 0.3, 0.1)))), sampling=Sampling())
        assert [player.predict().prob(b) for b in range(3)] == pytest.approx([1 / 3, 1 / 2, 1 / 6])
        assert player.predict().mode == player.expected.action == 1

    def test_comparing_takes_the_most_probable(self) -> None:
        speaker = Weights((-1.2, -1.1, -1.3))
        draws = {asked("lm", speaker, draw=str(n)).moved.action for n in range(20)}
        assert draws == {1}

    def test_per_token_long_names_are_not_behind(self) -> None:
        speaker = Weights((-2.0, -6.0, -3.0), (1, 4, 3))
        whole, mean = (asked("lm", speaker, sampling=Sampling(compare=True, per_token=way)) for way in (False, True))
        assert (whole.moved.action, mean.moved.action) == (0, 2)
        assert np.log(mean.moved.weights) - np.log(mean.moved.weights[2]) == pytest.approx([-1.0, -0.5, 0.0])
        assert whole.moved.mass == mean.moved.mass == pytest.approx(sum(math.exp(v) for v in (-2.0, -6.0, -3.0)))

    def test_very_improbable_names_are_compared_all_the_same(self) -> None:
        player = asked("lm", Weights((-2000.0, -2001.0, -5000.0)), sampling=Sampling(compare=True))
        assert player.moved.weights == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.0])
        assert player.predict().prob(2) == player.moved.mass == 0.0

    def test_what_is_impossible_is_not_chosen(self) -> None:
        for n in range(20):
            player = asked("lm", Weights((-math.inf, -1.0, -math.inf)), sampling=Sampling(), draw=str(n))
            assert player.act().mode == player.predict().mode == 1
            assert player.predict().prob(0) == 0.0

    @pytest.mark.parametrize("values", [(-math.inf,) * 3, (math.nan, -1.0, -1.0)])
    def test_nothing_is_drawn_from_nothing(self, values: tuple[float, ...]) -> None:
        player = asked("lm", Weights(values), sampling=Sampling())
        with pytest.raises(ModelError, match="weights gives none of the options any probability"):
            player.act()


class TestErrors:
    @pytest.mark.parametrize("way", STRATEGIES)
    @pytest.mark.parametrize("broken", ["act", "predict", "reflect", "rewrite act", "rewrite predict"])
    def test_a_model_that_does_not_answer_makes_no_move(self, way: str, broken: str) -> None:
        def reply(kind: str, _prompt: str) -> str:
            if kind == broken:
                raise ModelError("the key is refused")
            return GOOD

        def weigh(prompt: str, _text: str) -> float:
            return -float(len(reply(purpose(prompt), prompt)))

        questions = {call.purpose for call in recorded(way)[0].calls}
        if broken not in questions:
            play_out(asked(way, model(reply, weigh)))
        else:
            with pytest.raises(ModelError, match="the key is refused"):
                play_out(asked(way, model(reply, weigh)))

    def test_it_is_not_taken_for_an_unreadable_reply(self) -> None:
        speaker = Listening(scripted("ends", ["no"]))
        player = asked("qa", speaker)
        for calls in (2, 3):
            with pytest.raises(ModelError, match="has 1 replies"):
                player.act()
            assert len(speaker.calls) == calls
            assert player.exchanges == ()

    @pytest.mark.parametrize(
        "name", ["", "QA", "+oracle", "qa+", "qa+truth", "qa+oracle+oracle", "qa oracle", "lm+maximise"]
    )
    def test_strategies_that_are_not_there(self, name: str) -> None:
        with pytest.raises(InputError, match="there is no prompting strategy"):
            strategy(name)

    def test_in_other_games_too(self) -> None:
        for game in (IBS, IPD):
            speaker = answering("J", "F")
            _, rows = play_out(asked("social_qa", speaker, game))
            assert {(row["action"], row["predicted"]) for row in rows} == {(0, 1)}


# Models that always follow a schema


def obedient(*replies: str) -> Listening:
    """A model within the process, which writes these replies."""
    found = Listening(scripted("obedient", replies))
    found.identity = "embedded:obedient@0"
    return found


def written(speaker: Listening) -> list[Request]:
    return [call.request for call in speaker.calls if call.request is not None]


@pytest.mark.parametrize(
    "way", [way for way, one in STRATEGIES.items() if not (one.score or one.plans or one.reason or one.social == "lm")]
)
def test_an_embedded_model_can_only_name_an_option(way: str) -> None:
    speaker = obedient(*['"Answer: option F"'] * 9)
    player = Prompted(speaker, STRATEGIES[way], GameSetting.of(IPD, ROUNDS, "neutral")).told(0)
    assert player.moved.action == player.setting.labels("act").index("F")
    request = written(speaker)[-1]
    assert json.loads(request.schema) == {"type": "string", "enum": ["Answer: option J", "Answer: option F"]}


@pytest.mark.parametrize("way", ["cot", "cot3", "s2a_cot"])
def test_it_thinks_freely_and_answers_when_it_has(way: str) -> None:
    thought = "I choose option J. No: they defect, so"
    before = ["what matters"] if STRATEGIES[way].rewrite else []
    speaker = obedient(*before, thought, '"Answer: option F"')
    player = Prompted(
        speaker, STRATEGIES[way], GameSetting.of(IPD, ROUNDS, "neutral"), sampling=Sampling(max_reasoning=99)
    )
    assert player.act().mode == player.setting.labels("act").index("F")
    think, answer = written(speaker)[-2:]
    assert (think.schema, think.max_tokens, len(think.prompt)) == ("", 99, 1)
    assert answer.schema
    assert (think.temperature, answer.temperature) == (1.0, 0.0)
    assert [turn.role for turn in answer.prompt[1:] if not isinstance(turn, str)] == ["assistant", "user"]
    assert [one.reading for one in player.exchanges][-2:] == ["", "F"]


@pytest.mark.parametrize("reply", ["F", '"F"', '"Answer: option X"', '"Answer: option F', '["Answer: option F"]', ""])
def test_what_breaks_the_schema_is_no_move(reply: str) -> None:
    player = Prompted(obedient(*[reply] * 3), STRATEGIES["qa"], GameSetting.of(IPD, ROUNDS, "neutral"))
    assert player.act().mode is None
    assert [one.readable for one in player.exchanges] == [False]

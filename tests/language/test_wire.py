from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.language import wire
from otherminds.language.model import Continuations, Message, ModelError, Reply, Request, Usage

Answer = Callable[[wire.Body], Mapping[str, Any]]

RED, BLUE, DARK = math.log(0.5), math.log(0.3), math.log(0.05)
USAGE = {"prompt_tokens": 7, "completion_tokens": 1}


def one(**choice: Any) -> dict[str, Any]:
    return {"choices": [choice], "usage": USAGE}


def always(payload: Any) -> wire.Post:
    return lambda _path, _body: payload


def text_style(tokens: Mapping[str, float]) -> dict[str, Any]:
    first = max(tokens, key=lambda token: tokens[token])
    told = {"tokens": [first], "token_logprobs": [tokens[first]], "top_logprobs": [dict(tokens)], "text_offset": [0]}
    return one(text=first, logprobs=told)


def chat_style(tokens: Mapping[str, float]) -> dict[str, Any]:
    pairs = [{"token": token, "logprob": value} for token, value in tokens.items()]
    first = max(pairs, key=lambda pair: tokens[str(pair["token"])])
    return one(text=first["token"], logprobs={"content": [{**first, "top_logprobs": pairs}]})


def echoing(tokens: list[str], values: list[float | None]) -> dict[str, Any]:
    return one(text="".join(tokens), logprobs={"tokens": tokens, "token_logprobs": values})


def echo_refused() -> NoReturn:
    raise wire.RefusalError("echo is not supported")


class Recorder:
    """A server that answers by a function of the body, and remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[tuple[str, wire.Body]] = []
        self._answer = answer

    def __call__(self, path: str, body: wire.Body) -> Mapping[str, Any]:
        self.asked.append((path, body))
        return self._answer(body)


class TestRequests:
    def test_a_text_is_continued_and_a_conversation_is_answered(self) -> None:
        post = Recorder(lambda _body: one(text="x"))
        wire.complete(post, Request("a b", max_tokens=5, temperature=0.5, seed=3, stop=("\n",), draw="second"))
        wire.complete(post, Request((Message("system", "be brief"), Message("user", "hi"))))
        turns = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
        assert post.asked == [
            ("/completions", {"max_tokens": 5, "temperature": 0.5, "seed": 3, "stop": ["\n"], "prompt": "a b"}),
            ("/chat/completions", {"max_tokens": 256, "temperature": 0.0, "seed": 0, "messages": turns}),
        ]

    def test_a_schema_is_asked_for_strictly(self) -> None:
        post = Recorder(lambda _body: one(text="x"))
        wire.complete(post, Request((Message("user", "hi"),), schema='{"type": "object"}'))
        wanted = {"name": "reply", "schema": {"type": "object"}, "strict": True}
        assert post.asked[0][1]["response_format"] == {"type": "json_schema", "json_schema": wanted}

    def test_a_schema_needs_a_conversation(self) -> None:
        with pytest.raises(ModelError, match="needs a conversation"):
            wire.complete(always(one(text="x")), Request("hi", schema="{}"))

    def test_images_are_data_addresses_after_the_text(self) -> None:
        post = Recorder(lambda _body: one(text="x"))
        wire.complete(post, Request((Message("user", "look", (b"\x89PNG", b"\x00")),)))
        text, *images = post.asked[0][1]["messages"][0]["content"]
        assert text == {"type": "text", "text": "look"}
        links = [image["image_url"]["url"] for image in images]
        assert [base64.b64decode(link.removeprefix("data:image/png;base64,")) for link in links] == [
            b"\x89PNG",
            b"\x00",
        ]


THOUGHT = {"type": "thinking", "thinking": "J pays more."}
CALL = [{"type": "function", "function": {"name": "answer", "arguments": '{"option": "J"}'}}]


class TestReplies:
    @pytest.mark.parametrize(
        ("choice", "reply"),
        [
            ({"text": " a"}, Reply(" a")),
            ({"text": "", "finish_reason": "length"}, Reply("", cut=True)),
            ({"text": "a", "finish_reason": "MAX_TOKENS"}, Reply("a", cut=True)),
            ({"text": None, "finish_reason": "content_filter"}, Reply("", withheld="filtered")),
            ({"finish_reason": "content_filter"}, Reply("", withheld="filtered")),
            ({"message": {"content": "a"}, "finish_reason": "stop"}, Reply("a")),
            ({"message": {"content": None}}, Reply("")),
            ({"message": {"role": "assistant"}, "finish_reason": "length"}, Reply("", cut=True)),
            ({"message": {"content": "half"}, "finish_reason": "SAFETY"}, Reply("half", withheld="filtered")),
            ({"message": {"content": None, "refusal": "I cannot"}}, Reply("I cannot", withheld="refused")),
            ({"message": {"refusal": "I"}, "finish_reason": "length"}, Reply("I", True, withheld="refused")),
            ({"message": {"content": "a", "refusal": ""}}, Reply("a")),
            ({"message": {"content": "", "refusal": [3]}}, Reply("", withheld="refused")),
            ({"message": {"content": ""}, "finish_reason": "refusal"}, Reply("", withheld="refused")),
            ({"message": {"content": None, "tool_calls": CALL}}, Reply("", withheld="tool call")),
            ({"message": {"content": "", "function_call": CALL[0]["function"]}}, Reply("", withheld="tool call")),
            ({"message": {"content": "J", "tool_calls": CALL}, "finish_reason": "tool_calls"}, Reply("J")),
        ],
    )
    def test_the_text_and_why_it_ended(self, choice: dict[str, Any], reply: Reply) -> None:
        assert wire.complete(always(one(**choice)), Request("x")) == replace(reply, usage=Usage(7, 0, 1))

    @pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
    @pytest.mark.parametrize("content", ["J", "", None])
    def test_thoughts_beside_the_text_are_no_part_of_it(self, name: str, content: str | None) -> None:
        for ended, cut in (("stop", False), ("length", True)):
            payload = one(message={"content": content, name: "The answer is F."}, finish_reason=ended)
            reply = wire.complete(always(payload), Request("x"))
            assert (reply.text, reply.cut, reply.thought) == (content or "", cut, True)
        for nothing in ("", None, "\n\n"):
            assert not wire.complete(always(one(message={"content": "J", name: nothing})), Request("x")).thought

    @pytest.mark.parametrize(
        ("content", "text", "thought"),
        [
            ([], "", False),
            ([{"type": "text", "text": "I choose "}, {"type": "output_text", "text": "J"}], "I choose J", False),
            ([THOUGHT, {"type": "text", "text": "F"}], "F", True),
            ([{"type": "thinking", "thinking": [{"type": "text", "text": "J"}]}], "", True),
            ([{"text": "so J", "thought": True}, {"text": "F"}], "F", True),
            (["J", {"type": "image_url", "image_url": {"url": "data:"}}], "J", False),
        ],
    )
    def test_a_content_may_have_parts(self, content: Any, text: str, thought: bool) -> None:
        reply = wire.complete(always(one(message={"content": content})), Request("x"))
        assert (reply.text, reply.thought) == (text, thought)

    def test_a_schema_that_was_sent_is_enforced(self) -> None:
        request = Request((Message("user", "hi"),), schema='{"type": "object"}')
        post = Recorder(lambda _body: one(text="x"))
        assert wire.complete(post, request).constrained
        assert not wire.complete(post, request, constrain=False).constrained
        assert not wire.complete(post, Request((Message("user", "hi"),))).constrained
        assert ["response_format" in body for _, body in post.asked] == [True, False, False]

    def test_half_a_character_is_replaced_so_that_files_can_hold_the_text(self) -> None:
        payload = json.loads('{"choices": [{"text": "a\\ud800b"}]}')
        assert wire.complete(always(payload), Request("x")).text == "a?b"

    @pytest.mark.parametrize(
        "payload",
        [None, [], "text", {}, {"choices": []}, {"choices": [3]}, {"choices": {"a": 1}}, {"choices": [{"message": 3}]}],
    )
    def test_other_answers_are_none_of_such_a_server(self, payload: Any) -> None:
        with pytest.raises(ModelError, match="not one of an OpenAI-compatible server"):
            wire.complete(always(payload), Request("x"))

    @pytest.mark.parametrize(
        "choice",
        [
            *({}, {"text": None}, {"text": 3}, {"text": None, "finish_reason": "stop"}, {"message": {"content": [1]}}),
            *(
                {"message": {"content": content}}
                for content in (3, True, {"type": "text"}, [{"type": "text", "text": 3}])
            ),
        ],
    )
    def test_an_answer_without_text_is_an_error(self, choice: dict[str, Any]) -> None:
        with pytest.raises(ModelError, match="has no text"):
            wire.complete(always({"choices": [choice]}), Request("x"))

    def test_an_error_that_comes_as_an_answer_is_an_error(self) -> None:
        with pytest.raises(ModelError, match="the answer is an error: too many"):
            wire.complete(always({"error": {"message": "too many"}, "choices": [{"text": "x"}]}), Request("x"))
        with pytest.raises(ModelError, match="it does not say which"):
            wire.complete(always({"error": {"code": 3}}), Request("x"))
        with pytest.raises(ModelError, match="the answer is an error: a wrong key"):
            wire.complete(always(one(text="x", error={"message": "a wrong key"})), Request("x"))
        with pytest.raises(ModelError, match="the answer is an error: it does not say which"):
            wire.complete(always(one(text="x", finish_reason="error")), Request("x"))
        with pytest.raises(ModelError, match="not one of an OpenAI-compatible server: too many"):
            wire.complete(always({"object": "error", "message": "too many"}), Request("x"))

    def test_a_word_about_no_error_is_none(self) -> None:
        payload = {"error": None, **one(text="x", error=None, finish_reason="stop")}
        assert wire.complete(always(payload), Request("x")).text == "x"


REASONED = {"completion_tokens_details": {"reasoning_tokens": 5000}}
ANTHROPIC = {"input_tokens": 10, "output_tokens": 3}
USAGE_NAMES = [
    "prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "cache_read_input_tokens",
    "cache_creation_input_tokens", "thoughtsTokenCount",
]  # fmt: skip


class TestUsage:
    @pytest.mark.parametrize(
        ("told", "usage"),
        [
            ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}, (9, 4, 2)),
            ({"prompt_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": None}, (9, 0, 0)),
            ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 10}}, (9, 0, 2)),
            ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": "4"}}, (9, 0, 2)),
            ({"prompt_tokens": 10**9, "completion_tokens": 2}, (10**9, 0, 2)),
            ({"prompt_tokens": 9}, (0, 0, 0)),
            ({"prompt_tokens": 9, "completion_tokens": None}, (0, 0, 0)),
            ({"prompt_tokens": -1, "completion_tokens": 2, "prompt_tokens_details": []}, (0, 0, 0)),
            ({"prompt_tokens": 9, "completion_tokens": "2"}, (0, 0, 0)),
            ({"prompt_tokens": 9, "completion_tokens": True}, (0, 0, 0)),
            ({"prompt_tokens": 9, "completion_tokens": math.nan}, (0, 0, 0)),
            ({"prompt_tokens": 10**400, "completion_tokens": 2}, (0, 0, 0)),
            # reasoning that is billed beside the reply
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 5109}, (100, 0, 5009)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109}, (100, 0, 9)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 0}, (100, 0, 9)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": None}, (100, 0, 9)),
            ({"prompt_tokens": 100, "total_tokens": 5100}, (100, 0, 5000)),
            ({"prompt_tokens": 100, "completion_tokens": 9, **REASONED}, (100, 0, 5009)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "reasoning_tokens": 5000}, (100, 0, 5009)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 6109, **REASONED}, (100, 0, 6009)),
            ({"prompt_tokens": 100, "completion_tokens": 5009, "total_tokens": 5109, **REASONED}, (100, 0, 5009)),
            ({"prompt_tokens": 100, "completion_tokens": 5000, **REASONED}, (100, 0, 5000)),
            ({"promptTokenCount": 100, "candidatesTokenCount": 9, "thoughtsTokenCount": 5}, (100, 0, 14)),
            (
                {
                    "promptTokenCount": 100,
                    "thoughtsTokenCount": 5,
                    "totalTokenCount": 105,
                    "cachedContentTokenCount": 60,
                },
                (100, 60, 5),
            ),
            # and that nobody can read
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 10**10}, (0, 0, 0)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": -1}, (0, 0, 0)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": "5109"}, (0, 0, 0)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": math.inf}, (0, 0, 0)),
            ({"prompt_tokens": 100, "completion_tokens": 9, "reasoning_tokens": -5}, (0, 0, 0)),
            # caches: of Anthropic beside the prompt, of others within it
            ({**ANTHROPIC, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20}, (100, 70, 3)),
            ({**ANTHROPIC, "cache_read_input_tokens": None}, (10, 0, 3)),
            ({**ANTHROPIC, "cache_creation_input_tokens": -1}, (0, 0, 0)),
            ({"prompt_tokens": 100, "completion_tokens": 3, "cache_read_input_tokens": 70}, (100, 70, 3)),
            ({"prompt_tokens": 10, "completion_tokens": 3, "cache_read_input_tokens": 90}, (100, 90, 3)),
            ({"prompt_tokens": 100, "completion_tokens": 3, "prompt_cache_hit_tokens": 64}, (100, 64, 3)),
            (
                {
                    "input_tokens": 100,
                    "input_tokens_details": {"cached_tokens": 64},
                    "output_tokens": 50,
                    "output_tokens_details": {"reasoning_tokens": 40},
                    "total_tokens": 150,
                },
                (100, 64, 50),
            ),
            (None, (0, 0, 0)),
            ([3], (0, 0, 0)),
        ],
    )
    def test_counts_that_are_told_and_are_counts(self, told: Any, usage: tuple[int, int, int]) -> None:
        assert wire.usage_of({"usage": told}) == usage
        assert wire.usage_of({"usage": None, "usageMetadata": told}) == usage

    @given(st.fixed_dictionaries({}, optional=dict.fromkeys(USAGE_NAMES, st.integers(-3, 2_000) | st.none())))
    def test_it_is_never_less_than_what_any_count_says(self, told: dict[str, int | None]) -> None:
        usage = wire.usage_of({"usage": told})
        if usage != Usage():
            assert usage.written >= (told.get("completion_tokens") or 0)
            assert usage.prompt >= (told.get("prompt_tokens") or 0)
            assert usage.prompt + usage.written >= (told.get("total_tokens") or 0)
            assert 0 <= usage.cached <= usage.prompt

    def test_scores_whose_parts_do_not_all_tell_it_do_not_tell_it(self) -> None:
        answers = iter([text_style(TABLE["it is"]), {**text_style(TABLE["it is bl"]), "usage": None}])
        calls = Recorder(lambda body: echo_refused() if body.get("echo") else next(answers))
        assert wire.score(calls, Continuations("it is", (" blue",))).usage == Usage()


class TestComplaints:
    @pytest.mark.parametrize(
        ("told", "line"),
        [
            ({"error": {"message": "no  such\nmodel", "code": 4}}, "no such model"),
            ({"error": "no such model"}, "no such model"),
            ({"object": "error", "message": "too long"}, "too long"),
            ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
            ({"message": {"detail": [{"loc": ["body", "stop", 0], "msg": "no\ntext"}]}}, "stop: 0: no text"),
            ({"error": {"code": 4}}, ""),
            ({"choices": []}, ""),
            ([], ""),
            (None, ""),
        ],
    )
    def test_they_are_found_wherever_servers_put_them(self, told: Any, line: str) -> None:
        assert wire.complaint(told) == line

    def test_they_are_short_and_never_cut_within_a_word(self) -> None:
        for secret in ("sk-proj-0123456789", "sk-" + 100 * "long", "sk-" + 1000 * "long"):
            for before in range(0, 215, 1 if len(secret) < 20 else 50):
                line = wire.complaint({"error": "." * before + " " + secret + " rest"})
                assert len(line) <= wire.SHOWN
                assert secret in line or "sk" not in line


class TestNextTokens:
    @pytest.mark.parametrize("style", [text_style, chat_style])
    def test_both_styles_are_read(self, style: Callable[[Mapping[str, float]], dict[str, Any]]) -> None:
        post = Recorder(lambda _body: style({" red": RED, " blue": BLUE, "": DARK}))
        assert wire.next_tokens(post, "it is", 9) == ({" red": RED, " blue": BLUE}, Usage(7, 0, 1))
        assert post.asked == [("/completions", {"prompt": "it is", "max_tokens": 1, "temperature": 0, "logprobs": 9})]

    def test_the_token_that_was_written_counts_even_if_it_is_not_among_the_top(self) -> None:
        told = {"tokens": ["x"], "token_logprobs": [DARK], "top_logprobs": [{"y": RED}]}
        assert wire.next_tokens(always(one(logprobs=told)), "")[0] == {"y": RED, "x": DARK}

    @pytest.mark.parametrize(("given", "read"), [(1e-6, 0.0), (-0.0, 0.0), (-math.inf, None), (-3, -3.0)])
    def test_rounding_above_0_is_0_and_what_is_impossible_is_left_out(self, given: float, read: float | None) -> None:
        found, _ = wire.next_tokens(always(text_style({"a": given, "b": -9e9})), "")
        assert found.get("a") == read

    @pytest.mark.parametrize("value", [0.5, math.nan, math.inf, None, "high", [], 10**400])
    @pytest.mark.parametrize("style", [text_style, chat_style])
    def test_numbers_that_are_no_log_probabilities_are_refused(
        self, style: Callable[[Mapping[str, Any]], dict[str, Any]], value: Any
    ) -> None:
        payload = style({"b": -1.0})
        told = payload["choices"][0]["logprobs"]
        if style is text_style:
            told["top_logprobs"][0]["a"] = value
        else:
            told["content"][0]["top_logprobs"].append({"token": "a", "logprob": value})
        with pytest.raises(ModelError, match="no log-probabilities"):
            wire.next_tokens(always(payload), "")

    @pytest.mark.parametrize(
        "told", [None, {}, [], "x", {"content": None}, {"content": []}, {"content": ["x"]}, {"tokens": []}]
    )
    def test_servers_without_log_probabilities_are_told_of(self, told: Any) -> None:
        with pytest.raises(ModelError, match=r"no log-probabilities \(use a strategy that reads replies"):
            wire.next_tokens(always(one(text="x", logprobs=told)), "")


TABLE = {
    "it is": {" red": RED, " bl": BLUE, " dark": DARK},
    "it is bl": {"ue": math.log(0.9), "u": math.log(0.1)},
    "it is dark": {" red": math.log(0.25)},
}


def without_echo(body: wire.Body) -> dict[str, Any]:
    """Tells what is next, also when it is asked for an echo."""
    return text_style(TABLE.get(body["prompt"], {"?": -1.0}))


def with_echo(body: wire.Body) -> dict[str, Any]:
    if not body.get("echo"):
        return without_echo(body)
    assert body["max_tokens"] == 0
    ends = {" blue": ([" bl", "ue"], [BLUE, math.log(0.9)]), " red": ([" red"], [RED])}
    tokens, values = ends[body["prompt"].removeprefix("it is")]
    return echoing(["it", " is", *tokens], [None, -2.0, *values])


class TestScores:
    def test_texts_that_are_next_tokens_take_one_question(self) -> None:
        post = Recorder(without_echo)
        scores = wire.score(post, Continuations("it is", (" red", " dark", " red")))
        assert scores.log_probs == (RED, DARK, RED)
        assert (scores.tokens, scores.usage, len(post.asked)) == ((1, 1, 1), Usage(7, 0, 1), 1)

    def test_longer_texts_are_summed_over_the_tokens_of_an_echo(self) -> None:
        post = Recorder(with_echo)
        scores = wire.score(post, Continuations("it is", (" red", " blue")))
        assert scores.log_probs == pytest.approx((RED, BLUE + math.log(0.9)))
        assert (scores.tokens, scores.method, scores.usage) == ((1, 2), "echo", Usage(21, 0, 3))

    def test_without_echo_the_longest_tokens_are_taken_and_nothing_is_asked_twice(self) -> None:
        post = Recorder(without_echo)
        scores = wire.score(post, Continuations("it is", (" blue", " dark red", " red")))
        assert scores.log_probs == pytest.approx((BLUE + math.log(0.9), DARK + math.log(0.25), RED))
        assert (scores.tokens, scores.method) == ((2, 2, 1), "longest")
        assert [body["prompt"] for _, body in post.asked] == ["it is", "it is blue", "it is bl", "it is dark"]
        assert scores.usage == Usage(28, 0, 4)

    def test_a_token_that_is_not_among_the_most_probable_is_named(self) -> None:
        with pytest.raises(ModelError, match="the 1 most probable tokens alone, and `dark green` is not there"):
            wire.score(Recorder(without_echo), Continuations("it is", (" red", " dark green")))

    def test_an_echo_that_is_refused_is_done_without(self) -> None:
        def answer(body: wire.Body) -> dict[str, Any]:
            return echo_refused() if body.get("echo") else without_echo(body)

        assert wire.score(Recorder(answer), Continuations("it is", (" blue",))).method == "longest"

    def test_a_server_that_fails_in_the_echo_is_not_asked_on(self) -> None:
        def answer(body: wire.Body) -> dict[str, Any]:
            if body.get("echo"):
                raise ModelError("no answer")
            return without_echo(body)

        post = Recorder(answer)
        with pytest.raises(ModelError, match="no answer"):
            wire.score(post, Continuations("it is", (" blue",)))
        assert len(post.asked) == 2

    @pytest.mark.parametrize(
        "echo",
        [
            echoing(["it is", " blue"], [-1.0, -2.0]),  # not an echo, as its first token has a log-probability
            echoing(["it is bl", "ue"], [None, -2.0]),  # a token is half of the prompt
            echoing(["it is", " blue", "!"], [None, -2.0, -3.0]),  # there is more after the text
            echoing(["it be", " blue"], [None, -2.0]),
            echoing(["it is", " blue"], [None, None]),
            echoing(["it is", " blue"], [None]),
            echoing(["it is", " blue"], [None, 2.0]),
            echoing(["it is", " blue"], [None, -math.inf]),
            echoing(["so", "so", "it is", " blue"], [None, -1.0, -1.0, -2.0]),
            echoing([], []),
            one(text="", logprobs=None),
            one(text=""),
        ],
    )
    def test_an_echo_that_is_not_exact_is_not_believed(self, echo: dict[str, Any]) -> None:
        scores = wire.score(
            Recorder(lambda body: echo if body.get("echo") else without_echo(body)), Continuations("it is", (" blue",))
        )
        assert scores.log_probs == pytest.approx((BLUE + math.log(0.9),))
        assert scores.method == "longest"

    def test_a_mark_of_the_beginning_may_come_before_the_echo(self) -> None:
        echo = echoing(["<s>", "it is", " blue"], [None, -1.0, -2.0])
        post = Recorder(lambda body: echo if body.get("echo") else without_echo(body))
        scores = wire.score(post, Continuations("it is", (" blue",)))
        assert (scores.log_probs, scores.tokens, scores.method) == ((-2.0,), (1,), "echo")

    def test_the_method_is_the_same_for_all_texts(self) -> None:
        def answer(body: wire.Body) -> dict[str, Any]:
            return without_echo(body) if body["prompt"] == "it is dark red" else with_echo(body)

        scores = wire.score(Recorder(answer), Continuations("it is", (" blue", " dark red")))
        assert scores.log_probs == pytest.approx((BLUE + math.log(0.9), DARK + math.log(0.25)))
        assert scores.method == "longest"

    def test_nothing_is_certain(self) -> None:
        assert wire.score(Recorder(without_echo), Continuations("it is", ("",))).log_probs == (0.0,)
        assert wire.score(Recorder(without_echo), Continuations("it is", ())).log_probs == ()


NUMBERS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["", "a", "x", " b"])
NAMES = [
    "choices", "error", "message", "content", "text", "logprobs", "tokens", "token_logprobs", "top_logprobs", "token",
    "logprob", "usage", "prompt_tokens", "prompt_tokens_details", "finish_reason", "detail", "msg", "refusal", "type",
    "loc", "completion_tokens", "total_tokens", "reasoning_content", "tool_calls", "thought",
]  # fmt: skip
ANY_JSON = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
)
LIKELY = ANY_JSON | st.fixed_dictionaries({"choices": st.tuples(ANY_JSON).map(list), "usage": ANY_JSON})
LOG_PROBS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("content", "tokens", "token_logprobs", "top_logprobs"), ANY_JSON)
)
ODD = LIKELY | LOG_PROBS.map(lambda told: one(text="x", logprobs=told))


class TestWhateverComes:
    @pytest.mark.slow
    @given(ODD)
    def test_a_reply_or_an_error(self, payload: Any) -> None:
        for prompt in ("x", (Message("user", "x"),)):
            try:
                reply = wire.complete(always(payload), Request(prompt))
            except ModelError:
                continue
            assert reply.text.encode()
            assert min(reply.usage) >= 0

    @pytest.mark.slow
    @given(ODD)
    def test_scores_or_an_error(self, payload: Any) -> None:
        try:
            scores = wire.score(always(payload), Continuations("x", ("a", " b")))
        except ModelError:
            return
        assert len(scores.log_probs) == len(scores.tokens) == 2
        assert all(-math.inf < value <= 0.0 for value in scores.log_probs)

    @pytest.mark.slow
    @given(ODD)
    def test_complaints_are_one_line(self, payload: Any) -> None:
        assert len(wire.complaint(payload).splitlines()) <= 1

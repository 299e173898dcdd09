"""No move comes out of a reply that does not choose it, however odd or long the reply is."""

from __future__ import annotations

import json
import random
import re
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from itertools import product

import pytest

from otherminds.language.asking import LONGEST_REPLY, Unreadable
from otherminds.language.choices import read_choice
from otherminds.papers.functional.game_prompts import AnswerWithNotes, read_plans
from talking import NEUTRAL, ODD

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
        for n in range(2500):
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
        assert min(read.values()) > 400

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

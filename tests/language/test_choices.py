"""Reading a choice: phrasings, replies of models that were labelled blind, and hostile texts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.language.asking import Unreadable
from otherminds.language.choices import read_choice
from otherminds.language.scripted import scripted
from otherminds.papers.functional.game_prompts import GameSetting, read_action
from otherminds.papers.functional.prompting import STRATEGIES, Prompted, Sampling
from otherminds.worlds.repeated_games.payoff_files import find_game
from talking import Listening

HERE = Path(__file__).parent
GAME = GameSetting.of(find_game("ipd"), 5, "neutral")  # J and F
MISSED = [  # clear to readers, and not read: conditions, `option X` beside an option, and a last `it depends`
    "I am choosing option F for option X.",
    "For round 1, in a game of 10 rounds with optio",
    "If the other player chooses option J in round ",
    "If the other player chooses option J in round ",
]
DOUBTFUL = [  # nothing to readers, but each of these says that it chooses what is read, among other things
    "I will make the option X my default response t",
    "The other player chooses option F and the othe",
    "You choose option B and the other player choos",
    "I'm not sure what to do in a round 3, so I'll ",
    "Rough draft: You are given the option J and th",
]
WAYS = [way for way, one in STRATEGIES.items() if not one.score and one.social != "lm"]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def label(case: dict[str, Any]) -> str | None:
    """What is read in a reply: a reply that was cut off is never read."""
    if case.get("cut"):
        return None
    theirs = case["question"] == "predict"
    choice = read_choice(case["text"], case["options"], theirs=theirs, round_number=case.get("asked"))
    return None if isinstance(choice, Unreadable) else str(case["options"][choice])


@pytest.mark.parametrize("case", lines("phrasings.jsonl"), ids=lambda case: case["text"][:40])
def test_a_phrasing_is_read_as_a_person_reads_it(case: dict[str, Any]) -> None:
    """Those marked `before` were chosen before the first reader was written."""
    assert label(case) == case["label"]


@pytest.mark.slow
def test_replies_of_models_are_read_as_labelled() -> None:
    """Replies of the embedded models, labelled from their texts by people who did not know the reader.

    Those with `asked` are what two readers were sure of, and agreed on.
    """
    cases = lines("model_replies.jsonl")
    readings = [(label(case), case["label"], case["text"][:46]) for case in cases]
    assert [text for read, wanted, text in readings if read is None and wanted is not None] == MISSED
    assert [text for read, wanted, text in readings if read is not None and wanted is None] == DOUBTFUL
    assert all(read == wanted for read, wanted, _ in readings if read is not None and wanted is not None)
    assert len({(case["model"], case["strategy"], case["game"]) for case in cases}) == 12


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("<think>I choose J", "cut", "was cut off while it thought"),
        ("<|channel|>analysis<|message|>J is best", "cut", "was cut off while it thought"),
        ("I'm sorry, but I can't help with that.", "refused", "declines to choose"),
        ("As an AI, I cannot choose option J for you.", "refused", "declines to choose"),
        ("<think>J</think>", "unreadable", "is empty"),
        ("I choose J. I choose F.", "unreadable", "gives two answers"),
        ("J or F", "unreadable", "names several options as its answer"),
        ("I choose J. Never mind.", "unreadable", "takes its answer back"),
        ("Error: option J is not supported", "unreadable", "is an error message"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, kind: str, why: str) -> None:
    reading = read_choice(text, ("J", "F"))
    assert isinstance(reading, Unreadable)
    assert (reading.kind, reading.why) == (kind, why)


def test_ordinals_follow_the_order_of_the_question() -> None:
    assert read_choice("I choose the first option.", ("J", "F")) == 0
    assert isinstance(read_choice("I choose the third option.", ("J", "F")), Unreadable)
    assert read_action("I choose the first option.", ("J", "F")) == 1  # prompts list options in alphabetical order


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["J", "Option J.", "**J**", "Option J it is!", "My answer is (J), as it pays more."])
def test_every_strategy_reads_an_option_by_itself(way: str, text: str) -> None:
    player = Prompted(Listening(scripted("one", [text] * 20)), STRATEGIES[way], GAME).told(0)
    assert player.act().mode == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["J or F", "I cannot choose.", "not J", "J? F?", "I would avoid J"])
def test_no_strategy_makes_up_a_move(way: str, text: str) -> None:
    player = Prompted(Listening(scripted("none", [text] * 20)), STRATEGIES[way], GAME).told(0)
    assert player.act().mode is None


def test_the_next_attempt_says_what_was_wrong() -> None:
    hostile = 'F or J"\nAnswer: option J\x1b[2J\u202e or F' + "x" * 500
    speaker = Listening(scripted("slow", ["J or F", "", hostile, "F"]))
    player = Prompted(speaker, STRATEGIES["qa"], GAME, sampling=Sampling(attempts=4))
    assert player.act().mode == 1
    first, *others = [call.prompt for call in speaker.calls]
    corrections = [prompt.removeprefix(f"{first}\n\n") for prompt in others]
    assert corrections[0] == 'Your last reply, "J or F", could not be read: it names several options as its answer.'
    assert corrections[1] == "Your last reply could not be read: it is empty."
    assert corrections[2].startswith('Your last reply, "F or J\\" Answer: option J[2J')
    assert corrections[2].isprintable()
    assert len(corrections[2]) < 250
    assert [exchange.readable for exchange in player.exchanges] == [False, False, False, True]


@given(st.text(st.sampled_from("JFA I:not?*.,\n'\"or")), st.booleans())
def test_what_is_read_is_named(text: str, theirs: bool) -> None:
    choice = read_choice(text, ("J", "F", "A"), theirs=theirs)
    assert isinstance(choice, Unreadable) or "jfa"[choice] in text.casefold()


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *("to a, ", "so ", "in round 1 ", "I choose J\n", "J. ", "the best ", "(", "\n", " ", "<think>", "</think>"),
        *(
            '{"answer": "',
            '"a": "',
            "\\boxed{",
            "<a ",
            "'",
            "n't",
            "I ",
            "J or ",
            "J, ",
            "if ",
            "~~",
            "prefer x to ",
            "m*",
            "option X, where X is ",
            "answer: ab",
        ),
    ],
)
def test_hostile_texts_take_no_time(unit: str) -> None:
    for length in (590, 20_000, 100_000):
        started = time.process_time()
        read_choice((unit * length)[:length], ("J", "F", "A"))
        assert time.process_time() - started < 1.0

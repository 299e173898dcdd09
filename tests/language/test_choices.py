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
from otherminds.papers.functional.game_prompts import GameSetting
from otherminds.papers.functional.prompting import STRATEGIES, Prompted, Sampling
from otherminds.worlds.repeated_games.payoff_files import find_game
from talking import Listening

HERE = Path(__file__).parent
GAME = GameSetting.of(find_game("ipd"), 5, "neutral")  # J and F
MISSED = [  # clear to readers, and not read: most choose in a sentence that tells other moves, too
    "For round 1, in a game of 10 rounds with optio",
    "The other player chooses option F, and I chose",
    "I have two choices: either I choose option F a",
    "In this game of 6 rounds, you have to choose b",
    "In this game of 6 rounds, where both players c",
    "After analyzing the pattern of points won in p",
    "To determine which option the other player wil",
    "If I had to choose an answer in a round 4, I w",
    "Roulette wheel: the other player chooses optio",
    "You choose option J and the other player choos",
    "The answer to this problem is the other player",
]
WAYS = [way for way, one in STRATEGIES.items() if not one.score and one.social != "lm"]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def label(case: dict[str, Any]) -> str | None:
    """What is read in a reply: a reply that was cut off is never read."""
    if case.get("cut"):
        return None
    reasons = case.get("reasons", case.get("strategy") == "cot")
    theirs = case["question"] == "predict"
    found = read_choice(case["text"], case["options"], reasons=reasons, theirs=theirs, round_number=case.get("asked"))
    return None if isinstance(found, Unreadable) else str(case["options"][found])


@pytest.mark.parametrize("case", lines("phrasings.jsonl"), ids=lambda case: case["text"][:40])
def test_a_phrasing_is_read_as_a_person_reads_it(case: dict[str, Any]) -> None:
    """Those marked `before` were chosen before the reader was written."""
    assert label(case) == case["label"]


def test_replies_of_models_are_read_as_labelled() -> None:
    """Replies of the embedded models, labelled from their texts by people who did not know the reader.

    Those with `asked` are what two readers were sure of, and agreed on.
    """
    cases = lines("model_replies.jsonl")
    read = [(label(case), case["label"], case["text"]) for case in cases]
    assert [one for one in read if one[0] not in (None, one[1])] == []
    missed = [text for found, wanted, text in read if found is None and wanted is not None]
    assert [text[:46] for text in missed] == MISSED
    assert len({(case["model"], case["strategy"], case["game"]) for case in cases}) == 12


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "text", ["J", "Option J.", "**J**", "I choose option J.", "My answer is (J), as it pays more."]
)
def test_every_strategy_reads_an_option_by_itself(way: str, text: str) -> None:
    player = Prompted(Listening(scripted("one", [text] * 20)), STRATEGIES[way], GAME).told(0)
    assert player.act().mode == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["J or F", "I cannot choose.", "not J", "J? F?", "I would avoid J"])
def test_no_strategy_makes_up_a_move(way: str, text: str) -> None:
    player = Prompted(Listening(scripted("none", [text] * 20)), STRATEGIES[way], GAME).told(0)
    assert player.act().mode is None


def test_the_next_attempt_says_what_was_wrong() -> None:
    hostile = 'F or J"\nAnswer: option J\x1b[2J\u202e' + "x" * 500
    speaker = Listening(scripted("slow", ["J or F", "", hostile, "F"]))
    player = Prompted(speaker, STRATEGIES["qa"], GAME, sampling=Sampling(attempts=4))
    assert player.act().mode == 1
    first, *others = [call.prompt for call in speaker.calls]
    told = [prompt.removeprefix(f"{first}\n\n") for prompt in others]
    assert told[0] == 'Your last reply, "J or F", could not be read: it names several options.'
    assert told[1] == "Your last reply could not be read: it is empty."
    assert told[2].startswith('Your last reply, "F or J\\" Answer: option J[2J')
    assert told[2].isprintable()
    assert len(told[2]) < 250
    assert [said.readable for said in player.exchanges] == [False, False, False, True]


@given(st.text(st.sampled_from("JFA I:not?*.,\n'\"or")), st.booleans(), st.booleans())
def test_what_is_read_is_named(text: str, reasons: bool, theirs: bool) -> None:
    found = read_choice(text, ("J", "F", "A"), reasons=reasons, theirs=theirs)
    assert isinstance(found, Unreadable) or "jfa"[found] in text.casefold()


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["to a, ", "so ", "in round 1 ", "I choose J\n", "J. ", "the best ", "("])
def test_hostile_texts_take_no_time(unit: str) -> None:
    for length in (590, 1990, 100_000):
        for reasons in (False, True):
            started = time.process_time()
            read_choice((unit * length)[:length], ("J", "F", "A"), reasons=reasons)
            assert time.process_time() - started < 1.0

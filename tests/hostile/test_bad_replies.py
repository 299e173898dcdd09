"""Replies of all kinds: nothing crashes, takes long or fills the memory, and no move is made that nobody chose."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trials
from bad_replies import KINDS, Bad, allowed, bad_reply
from otherminds.evaluation.tasks import Task
from otherminds.language.asking import Unreadable
from otherminds.language.scripted import Scripted
from otherminds.papers.functional.model_episodes import ModelGameEntry, rows
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from reply_readers import ReplyReader, reply_readers
from trials import try_reply

COUNT = 500
ROUNDS = 8
READERS = [*reply_readers().values()]
GAMES = ("rps", "ibs", "ipd")


@pytest.mark.slow
def test_replies_of_all_kinds_through_all_readers() -> None:
    rng, read, tried = np.random.default_rng(1), Counter[str](), Counter[str]()
    for number in range(COUNT):
        reader = READERS[number % len(READERS)]
        reply = bad_reply(reader, rng)
        trial = try_reply(reader, reply, measure=number % 4 == 0)
        assert not trial.faults, (reader.name, reply.kind, reply.text[:200])
        tried[reply.kind] += 1
        read[reply.kind] += not trial.refused
    assert tried.keys() == KINDS.keys()
    assert read["as asked for"] > 0.6 * tried["as asked for"]  # so the readers do read


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_what_is_asked_for_is_read_and_what_there_is_not_is_not(reader: ReplyReader) -> None:
    for data in reader.good:
        text = data if isinstance(data, str) else json.dumps(data)
        value = reader.reads(text)
        assert value is not None
        assert allowed(reader, Bad("", text, unreadable=False), value)
    assert reader.reads(reader.illegal if isinstance(reader.illegal, str) else json.dumps(reader.illegal)) is None


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@given(data=st.data())
@settings(max_examples=10)
def test_any_text_is_read_as_it_is_or_unreadable(reader: ReplyReader, data: st.DataObject) -> None:
    good = data.draw(st.sampled_from([one if isinstance(one, str) else json.dumps(one) for one in reader.good]))
    place, gone = data.draw(st.integers(0, len(good))), data.draw(st.integers(0, 20))
    odd = st.text(st.characters(), max_size=20) | st.sampled_from(
        ["\ud800", "NaN", "9" * 5_000, "[" * 9_000, '"', "\n"]
    )
    text = good[:place] + data.draw(odd) + good[place + gone :]
    assert not try_reply(reader, Bad("", text, unreadable=False), measure=False).faults


# In a game


@pytest.mark.slow
@pytest.mark.parametrize("way", ["qa", "cot", "plans_insights", "social_qa"])
@pytest.mark.parametrize("game", GAMES)
def test_no_move_comes_of_what_cannot_be_read(game: str, way: str) -> None:
    """Replies that choose nothing lose the round: they are counted as unreadable, and nothing is played for them."""
    found = find_game(game)
    task = Task(found, partner("tft" if game == "ipd" else "random", found), ROUNDS)
    entry = ModelGameEntry(task, f"{game}/hostile", "ghost", way, 0, 1)
    setting, rng = entry.setting, np.random.default_rng(2)
    template = next(
        one for one in READERS if one.name.startswith("game plans" if way == "plans_insights" else "game answer")
    )
    reader = replace(template, labels=setting.own, legal=setting.own[0], good=[f"Answer: option {setting.own[0]}"])
    hopeless = [kind for kind in KINDS if KINDS[kind](reader, np.random.default_rng(0)).unreadable]

    def write(_request: object) -> str:
        return KINDS[hopeless[int(rng.integers(len(hopeless)))]](reader, rng).text

    told = rows(entry, Scripted("ghost", write))
    assert [row["action"] for row in told] == [None] * ROUNDS
    assert [row["predicted"] for row in told] == [None] * ROUNDS
    assert told[-1]["lost_share"] == 1.0
    assert told[-1]["unreadable_share"] == 1.0
    json.dumps(told, ensure_ascii=False).encode()


# What is behind this


def test_ghost_moves_would_be_seen() -> None:
    """A reader that searches for names in prose is found out."""
    reader, rng = READERS[0], np.random.default_rng(3)

    def lenient(text: str) -> object:
        named = [i for i, label in enumerate(reader.labels) if label in text]
        return named[-1] if named else Unreadable("", text)

    assert any(try_reply(replace(reader, read=lenient), KINDS["ghost moves"](reader, rng)).faults for _ in range(10))
    searching = replace(reply_readers()["facilitator"], read=_searched)
    assert any(try_reply(searching, KINDS[kind](searching, rng)).faults for kind in KINDS for _ in range(10))


def _searched(text: str) -> Any:
    place = text.find('"choice": 2')
    good = reply_readers()["facilitator"]
    return good.read(json.dumps(good.good[0])) if place >= 0 else Unreadable("", text)


@pytest.mark.slow
def test_crashes_and_slowness_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 0.1
    monkeypatch.setattr(trials, "SLOWEST_REPLY", limit)

    def crash(text: str) -> object:
        return json.loads(text)

    def slow(text: str) -> object:
        ends = time.process_time() + 1.2 * limit
        while time.process_time() < ends:
            pass
        return Unreadable("", text)

    refusal = Bad("refusals", "I cannot.", unreadable=True)
    assert "crash: JSONDecodeError" in try_reply(replace(READERS[0], read=crash), refusal).faults[0]
    assert try_reply(replace(READERS[0], read=slow), refusal).faults

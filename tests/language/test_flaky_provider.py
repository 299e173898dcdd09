from __future__ import annotations

import gc
import json
import threading
import tracemalloc
from typing import Any

import pytest

from endpoint_server import Fault, error, in_turn, serve
from otherminds.files.database import Database
from otherminds.language.call_records import SCHEMA
from otherminds.language.connection import LARGEST
from otherminds.language.endpoint import Endpoint
from otherminds.language.ledger import Recorded
from otherminds.language.model import ModelError, Reply, Request, UncertainError
from otherminds.language.prices import Price
from troubles import ECHO, SILENCES, TROUBLES, Flaky, ask_many, check

CALLS = 400


@pytest.mark.slow
def test_hundreds_of_calls_to_a_flaky_provider_end_as_they_have_to() -> None:
    threads, flaky = threading.active_count(), Flaky(seed=48)
    with serve(ECHO, fault=flaky) as server:
        asked = ask_many(server.url, CALLS)
        assert server.most <= 16
    gc.collect()
    assert threading.active_count() == threads
    check(flaky, asked)
    met = {trouble.name for met in flaky.met.values() for trouble in met}
    assert met >= {trouble.name for trouble in (*TROUBLES, *SILENCES)}


@pytest.mark.slow
def test_a_record_knows_of_all_that_is_billed() -> None:
    flaky, price = Flaky(seed=21), Price(1.0, 2.0)
    with serve(ECHO, fault=flaky) as server, Database(None, SCHEMA) as base:
        asked = ask_many(server.url, 100, through=lambda model: Recorded(model, base, price=price))
        check(flaky, asked)
        record = Recorded(Endpoint("tiny", server.url), base)
        assert record.answered.calls + len(record.uncertain) == flaky.billed
        most = sum(call.most for call in record.uncertain)
        assert 0.0 < most < record.spent == pytest.approx(record.answered.dollars + most)


@pytest.mark.slow
def test_a_provider_that_always_fails_is_asked_as_often_as_allowed_however_often_that_is() -> None:
    waits = list[float]()
    with serve(ECHO, fault=lambda _heard: error(503, "later", Retry_After="0")) as server:
        with pytest.raises(ModelError, match="later; attempts: 1200") as caught:
            Endpoint("tiny", server.url, attempts=1200, wait=waits.append).complete(Request("x"))
        assert len(server.heard) == 1200
    assert type(caught.value) is ModelError
    assert waits == [0.0] * 1199


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="flood"),
        Fault(503, kind="flood"),
        Fault(body=b" " * (3 * LARGEST)),
        Fault(body=json.dumps({"choices": [{"text": "x" * (LARGEST - 50)}]}).encode()),
    ],
)
def test_large_answers_take_little_more_room_than_the_largest_that_is_read(fault: Fault) -> None:
    with serve(ECHO, fault=in_turn(fault)) as server:
        model = Endpoint("tiny", server.url, attempts=1)
        tracemalloc.start()
        try:
            for _ in range(2):
                end: Any = None
                try:
                    end = model.complete(Request("x"))
                except ModelError as problem:
                    end = problem
            assert tracemalloc.get_traced_memory()[1] < 5 * LARGEST
        finally:
            tracemalloc.stop()
    assert isinstance(end, Reply | UncertainError)

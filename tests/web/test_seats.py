"""Seats and connections: a seat belongs to its token alone, guesses are limited by address, and so are connections."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from otherminds.web import guard, serving
from otherminds.web import lobby as lobby_module
from otherminds.web.guard import Keys, TokenBuckets, network
from web_lobbies import Page, opened, plan, quick, running
from web_seats import SECRET, Seat, Server, limited
from web_seats import serving as server_in

__all__ = ["quick"]

OTHER = "203.0.113.7"  # an address for documentation (RFC 5737), as a proxy on this machine would name it


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with server_in(tmp_path) as started:
        yield started


def refused(server: Server, path: str, body: object = None, **headers: str) -> tuple[int, str]:
    with pytest.raises(HTTPError) as error:
        server.open(path, body, **headers)
    with error.value:
        return error.value.code, json.load(error.value)["detail"]


# Joining


@pytest.mark.slow
def test_looking_at_an_invitation_uses_no_place(server: Server) -> None:
    study = server.study(pairs=1, keep_labels=True)
    invitation = server.ask(f"/api/studies/{study}")["invitation"]
    before = server.links(study)
    for _ in range(60):
        with server.open(f"{invitation}?pid=somebody") as answer:
            assert b"join.js" in answer.read()
        assert server.status(f"{invitation}?pid=somebody", method="HEAD") in (200, 405)
    assert server.ask(f"/api{invitation}") == {"title": "test", "minutes": 60}
    assert server.links(study) == before
    with Seat(server, server.ask(invitation, {})["link"]) as seat:
        seat.until("lobby")
    assert len(server.links(study)) == len(before) + 1


@pytest.mark.slow
def test_a_label_gives_nothing(server: Server) -> None:
    study = server.study(keep_labels=True)
    invitation = server.ask(f"/api/studies/{study}")["invitation"]
    link = server.ask(f"{invitation}?pid=ana%40example.org", {})["link"]
    before = server.links(study)
    for label in ("ana%40example.org", "ana%40example.org%00", quote("ana@example.org\u200b")):
        status, why = refused(server, f"{invitation}?pid={label}", {}, cookie="")
        assert status == 409
        assert "/p/" not in why
    assert server.links(study) == before
    assert server.ask(f"{link}/alive") == {}
    assert server.status("/p/ana%40example.org/alive") == 404
    server.ask(f"/api/studies/{study}/close", {})
    assert server.status(f"{invitation}?pid=ben", {}) == 404


@pytest.mark.slow
def test_an_address_can_join_only_so_often(server: Server) -> None:
    study = server.study(pairs=20)
    invitation = server.ask(f"/api/studies/{study}")["invitation"]
    joined = [server.status(invitation, {}) for _ in range(70)]
    assert joined[:60] == [200] * 60
    assert set(joined[62:]) == {429}
    assert server.status(invitation, {}, **{"x-forwarded-for": OTHER}) == 200


@pytest.mark.slow
def test_a_new_link_ends_the_old_one(server: Server) -> None:
    study = server.study()
    old = server.links(study)[0]
    path = f"/api/studies/{study}/participants/P01/link"
    assert server.status(path, {}, cookie="") == 401
    with Seat(server, old) as seat:
        seat.until("lobby")
        new = server.ask(path, {})["link"]
        with pytest.raises(ConnectionClosed) as closed:
            seat.until("thanks")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4404
        assert server.links(study)[0] == new != old
        assert server.status(f"{old}/alive") == 404
        with pytest.raises(InvalidStatus):
            seat.connect(take=True)
        server.kill()
        server.start()
        with pytest.raises(InvalidStatus):
            seat.connect(take=True)
    with Seat(server, new) as seat:
        assert seat.until("lobby")
    assert server.status(path.replace("P01", "P99"), {}) == 404


def test_a_new_link_closes_the_page_of_the_old_one(tmp_path: Path) -> None:
    async def renew() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan())
            page = Page(lobby, study.people["P01"])
            old = page.one.token
            lobby.renew(page.one).result(10)
            assert page.ended == [4404]
            assert lobby.seat(old) is None
            assert lobby.seat(page.one.token) is page.one

    running(renew())


def test_links_and_sessions_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def expire() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            one = lobby.create(plan()).people["P01"]
            one.since = time.time() - lobby_module.LINK + 60
            assert lobby.seat(one.token) is one
            one.since -= 120
            assert lobby.seat(one.token) is None
            lobby.renew(one).result(10)
            assert lobby.seat(one.token) is one

    running(expire())
    keys, now = Keys(), time.monotonic()
    session = keys.enter(keys.key)
    monkeypatch.setattr(time, "monotonic", lambda: now + guard.SESSION - 60)
    assert keys.knows(session)
    monkeypatch.setattr(time, "monotonic", lambda: now + guard.SESSION + 60)
    assert not keys.knows(session)
    assert keys.knows(keys.enter(keys.key))


# Guessing


@pytest.mark.slow
def test_wrong_guesses_count_and_lock_nobody_out(server: Server) -> None:
    (link, *_), here = server.links(server.study()), {"x-forwarded-for": OTHER}
    for path, body, wrong in (("/api/enter", {"key": "guess"}, 403), ("/p/guess/alive", None, 404)):
        found = [server.status(path, body, **here) for _ in range(60)]
        assert set(found) <= {wrong, 429}
        assert found[-20:].count(429) > 15
        assert server.status(path, body) == wrong
    for who in ({}, here):
        assert server.status("/api/enter", {"key": SECRET}, **who) == 204
        assert server.status(f"{link}/alive", **who) == 200


def test_right_keys_and_links_do_not_count(server: Server) -> None:
    link = server.links(server.study())[0]
    for _ in range(100):
        assert server.status("/api/enter", {"key": SECRET}) == 204
        assert server.status(f"{link}/alive") == 200
    assert server.status("/p/guess/alive") == 404


def test_an_address_is_a_household() -> None:
    assert network("192.0.2.1") == network("::ffff:192.0.2.1") == "192.0.2.1"
    assert network("2001:db8::1") == network("2001:db8::ffff:1") == network("2001:db8:0:0:9::")
    assert network("2001:db8:0:1::1") != network("2001:db8::1")
    assert network("fe80::1%eth0") == network("fe80::2")
    assert network("nonsense") == "nonsense"
    buckets = TokenBuckets(0.0, 2.0)
    assert [buckets.take(f"2001:db8::{n}") for n in range(4)] == [True, True, False, False]
    assert buckets.take("2001:db8:1::")


# Connections


def half(server: Server, text: bytes = b"GET / HTTP/1.1\r\nHost: ", source: str = "127.0.0.1") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.port), 5.0, (source, 0))
    line.sendall(text)
    return line


def ended(line: socket.socket, seconds: float) -> bool:
    """Whether the server closes a connection within so many seconds."""
    line.settimeout(seconds)
    try:
        while line.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


BODY = b"POST /api/enter HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nContent-Length: 100\r\n\r\n{"


@pytest.mark.slow
def test_half_sent_requests_are_closed(server: Server) -> None:
    with ExitStack() as stack:
        begun = time.monotonic()
        lines = [stack.enter_context(half(server, text)) for text in (b"", b"GET / HTTP", b"GET / HTTP/1.1\r\nA: b")]
        lines.append(stack.enter_context(half(server, BODY % (server.port, server.port))))
        for line in lines:
            assert ended(line, serving.REQUEST + 3)
        assert time.monotonic() - begun > serving.REQUEST - 1
        whole = b"GET /pages/app.css HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port
        second = stack.enter_context(half(server, whole + b"GET / HT"))
        begun = time.monotonic()
        while not ended(second, 1.0):  # a byte now and then gains nothing
            second.sendall(b"x")
            assert time.monotonic() - begun < serving.IDLE + serving.REQUEST + 3


@pytest.mark.slow
def test_a_crowd_of_half_sent_requests_keeps_nobody_out(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with limited(256):
            server = stack.enter_context(server_in(tmp_path))
        link = server.links(server.study())[0]
        seat = stack.enter_context(Seat(server, link))
        seat.until("lobby")
        lines = [stack.enter_context(half(server, source=f"127.0.0.{2 + n % 9}")) for n in range(400)]
        for line in lines[:200]:
            assert ended(line, 2.0)  # there is no room for more than some
        assert not ended(lines[-1], 0.1)
        begun = time.monotonic()
        assert server.status(link) == 200
        assert time.monotonic() - begun < 0.3
        assert server.status(f"{link}/alive") == 200
        assert seat.do("leave")["type"] == "ack"


@pytest.mark.slow
def test_one_address_has_half_of_the_room(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with limited(256):
            server = stack.enter_context(server_in(tmp_path))
        room = 256 - serving.FILES
        first = stack.enter_context(half(server, source="127.0.0.9"))
        lines = [stack.enter_context(half(server, source="127.0.0.2")) for _ in range(room)]
        assert not ended(first, 0.5)
        assert [ended(line, 0.05) for line in (lines[0], lines[room // 2 - 8])] == [True, True]
        assert not ended(lines[room // 2 + 8], 0.1)


def test_connections_leave_files_for_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in ((256, 256 - serving.FILES), (50, 2), (10**6, serving.CONNECTIONS), (-1, serving.CONNECTIONS)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert serving.most_connections() == most

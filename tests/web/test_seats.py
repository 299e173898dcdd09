"""Seats and connections: a seat belongs to its token alone, guesses are limited by address, and so are connections."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from otherminds.web import guard, serving
from otherminds.web import lobby as lobby_module
from otherminds.web.guard import Keys, TokenBuckets, network
from web_lobbies import Page, opened, plan, quick, running
from web_seats import PATIENCE, SECRET, Seat, Server, limited
from web_seats import serving as server_in

__all__ = ["quick"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_in(tmp_path_factory.mktemp("seats")) as started:
        yield started


def household(number: int) -> dict[str, str]:
    """The header by which a proxy on this machine names where a request comes from (RFC 5737)."""
    return {"x-forwarded-for": f"203.0.113.{number}"}


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
    for _ in range(3):
        with server.open(f"{invitation}?pid=somebody") as answer:
            assert b"join.js" in answer.read()
        assert server.status(f"{invitation}?pid=somebody", method="HEAD") in (200, 405)
    assert server.ask(f"/api{invitation}") == {"title": "test", "minutes": 15, "label": "pid"}
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
    joined = [server.status(invitation, {}, **household(1)) for _ in range(25)]
    assert joined[:20] == [200] * 20
    assert 429 in joined[20:]
    assert server.status(invitation, {}, **household(2)) == 200


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
    with Seat(server, new) as seat:
        assert seat.until("lobby")
    assert server.status(path.replace("P01", "P99"), {}) == 404


def test_a_new_link_closes_the_page_of_the_old_one_for_good(tmp_path: Path) -> None:
    async def renew() -> None:
        with opened(tmp_path / "j.sqlite") as lobby:
            study = lobby.create(plan())
            page = Page(lobby, study.people["P01"])
            old = page.one.token
            lobby.renew(page.one).result(10)
            assert page.ended == [4404]
            assert lobby.seat(old) is None
            assert lobby.seat(page.one.token) is page.one
        with opened(tmp_path / "j.sqlite") as lobby:
            assert lobby.seat(old) is None
            assert lobby.seat(page.one.token) is not None

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
    (link, *_), here = server.links(server.study()), household(3)
    for path, body, wrong in (("/api/enter", {"key": "guess"}, 403), ("/p/guess/alive", None, 404)):
        found = [server.status(path, body, **here) for _ in range(50)]
        assert set(found) <= {wrong, 429}
        assert found[-20:].count(429) > 15
        assert server.status(path, body) == wrong
    for who in ({}, here):
        assert server.status("/api/enter", {"key": SECRET}, **who) == 204
        assert server.status(f"{link}/alive", **who) == 200


@pytest.mark.slow
def test_right_keys_and_links_do_not_count(server: Server) -> None:
    link = server.links(server.study())[0]
    for _ in range(35):
        assert server.status("/api/enter", {"key": SECRET}, **household(4)) == 204
        assert server.status(f"{link}/alive", **household(4)) == 200
    assert server.status("/p/guess/alive", **household(4)) == 404


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


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """An app that reads the request, and has nothing to say."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@contextmanager
def listening() -> Iterator[int]:
    """The server of this app in this process; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = serving.Server(answer)
        found.config.lifespan = "off"
        thread = threading.Thread(target=found.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            yield taken.getsockname()[1]
        finally:
            found.stop()
            thread.join()


def half(port: int, text: bytes = b"GET / HTTP/1.1\r\nHost: ", source: str = "127.0.0.1") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), 5.0, (source, 0))
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


def test_half_sent_requests_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST", 0.3)
    monkeypatch.setattr(serving, "IDLE", 0.1)
    body = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    with ExitStack() as stack:
        port = stack.enter_context(listening())
        begun = time.monotonic()
        for text in (b"", b"GET / HTTP", b"GET / HTTP/1.1\r\nA: b", body):
            assert ended(stack.enter_context(half(port, text)), PATIENCE)
        assert time.monotonic() - begun > 4 * serving.REQUEST - 0.1
        second = stack.enter_context(half(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT"))
        begun = time.monotonic()
        while not ended(second, 0.05):  # a byte now and then gains nothing
            second.sendall(b"x")
            assert time.monotonic() - begun < PATIENCE


def test_one_address_has_half_of_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    room = 20
    monkeypatch.setattr(serving, "REQUEST", PATIENCE)
    monkeypatch.setattr(serving, "most_connections", lambda: room)
    with ExitStack() as stack:
        port = stack.enter_context(listening())
        first = stack.enter_context(half(port, source="127.0.0.9"))
        lines = [stack.enter_context(half(port, source="127.0.0.2")) for _ in range(room)]
        assert all(ended(line, PATIENCE) for line in lines[: room // 2])
        assert not any(ended(line, 0.01) for line in (first, *lines[room // 2 :]))


def test_a_crowd_is_closed_from_its_oldest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    room = 20
    monkeypatch.setattr(serving, "REQUEST", PATIENCE)
    monkeypatch.setattr(serving, "most_connections", lambda: room)
    with ExitStack() as stack:
        port = stack.enter_context(listening())
        lines = [stack.enter_context(half(port, source=f"127.0.0.{2 + n % 9}")) for n in range(2 * room)]
        assert all(ended(line, PATIENCE) for line in lines[:room])
        assert not any(ended(line, 0.01) for line in lines[room:])


@pytest.mark.slow
def test_a_crowd_of_half_sent_requests_keeps_nobody_out(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with limited(256):
            server = stack.enter_context(server_in(tmp_path))
        link = server.links(server.study())[0]
        seat = stack.enter_context(Seat(server, link))
        seat.until("lobby")
        for n in range(400):
            stack.enter_context(half(server.port, source=f"127.0.0.{2 + n % 9}"))
        begun = time.monotonic()
        assert server.status(link) == 200
        assert time.monotonic() - begun < serving.REQUEST / 2  # nobody waits until the others are closed
        assert server.status(f"{link}/alive") == 200
        assert seat.do("leave")["type"] == "ack"


def test_connections_leave_files_for_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in ((256, 256 - serving.FILES), (50, 2), (10**6, serving.CONNECTIONS), (-1, serving.CONNECTIONS)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert serving.most_connections() == most

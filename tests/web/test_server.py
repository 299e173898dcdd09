"""The server as the network sees it: who is let in, what is refused, and what a killed one has kept."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from commands import Run, complaint
from otherminds.errors import InputError
from otherminds.web.guard import LOOPBACK, Keys, TokenBucket, origins
from web_seats import Seat, Server, free_port, serving

pytestmark = pytest.mark.slow  # each test starts a server, or uses a browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as started:
        yield started


def solo(server: Server, level: str = "hatch", facilitator: str = "none") -> str:
    wish = {"level": level, "seat": "Ana", "facilitator": facilitator}
    link: str = server.ask("/api/play", wish)["link"]
    return link


# Pages and headers


@pytest.mark.parametrize("path", ["/", "/play", "/watch", "/watch/abc", "/enter", "/studies", "/studies/x", "/p/x"])
def test_pages_come_with_a_strict_policy(path: str, server: Server) -> None:
    with server.open(path) as answer:
        text = answer.read().decode()
        policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<!doctype html>" in text.lower()
    assert "style=" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text


@pytest.mark.parametrize(
    "path", ["/pages/../server.py", "/pages/%2e%2e/server.py", "/pages/nothing.js", "/docs", "/openapi.json"]
)
def test_nothing_else_is_served(path: str, server: Server) -> None:
    assert server.status(path) == 404


# Who is let in


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1.evil.example", ""]
)
def test_foreign_pages_are_refused(origin: str, server: Server) -> None:
    assert server.status("/api/play", {"level": "hatch", "seat": "Ana"}, origin=origin) == 403
    url = server.address.replace("http", "ws") + solo(server) + "/ws?tab=1"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, origin=Origin(origin) if origin else None)
    assert refused.value.response.status_code == 403


def test_foreign_hosts_are_refused(server: Server) -> None:
    assert server.status("/", Host="evil.example") == 421


@pytest.mark.parametrize("token", ["guess", "x" * 32, "%00", "..%2f..", "P01"])
def test_guessed_links_are_refused_before_anything_is_accepted(token: str, server: Server) -> None:
    url = server.address.replace("http", "ws") + f"/p/{token}/ws?tab=1"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, origin=Origin(server.address))
    assert refused.value.response.status_code in (403, 404)
    assert server.status(f"/p/{token}/alive") == server.status(f"/p/{token}/replay") == 404


def test_a_game_is_replayed_only_when_it_is_over(server: Server) -> None:
    assert server.status(solo(server) + "/replay") == 404
    assert server.status(server.links(server.study())[0] + "/replay") == 404


def test_links_cannot_be_guessed(server: Server) -> None:
    links = server.links(server.study(pairs=20))
    assert len({link[:8] for link in links}) == len(links) == 40
    assert all(len(link.removeprefix("/p/")) >= 32 for link in links)


def test_only_researchers_see_studies(server: Server) -> None:
    study = server.study()
    for path in ("/api/studies", f"/api/studies/{study}", f"/api/studies/{study}/export.jsonl", "/api/studies/new"):
        assert server.status(path) == 200
        assert server.status(path, cookie="") == 401
        assert server.status(path, cookie="otherminds=guess") == 401
    assert server.status("/api/enter", {"key": "guess"}) == 403


def test_a_token_opens_one_seat_and_no_study_of_others(server: Server) -> None:
    one, other = server.study(), server.study()
    link = server.links(one)[0]
    token = link.removeprefix("/p/")
    assert server.status(f"/api/studies/{other}/participants/{token}", None, "DELETE") == 404
    assert server.status(f"/join/{token}", {}) == server.status(f"/api/join/{token}") == 404
    assert server.status(f"/api/studies/{other}/rooms/{one}:1:1") == 404


def test_a_second_tab_is_refused_unless_it_takes_over(server: Server) -> None:
    link = solo(server)
    first = Seat(server, link, "one")
    first.until("game")
    second = Seat(server, link, "two")
    with pytest.raises(ConnectionClosed) as closed:
        second.hear()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4409
    frame = first.until(lambda m: m["type"] == "frame")
    assert first.do("act", action="up", t=frame["t"])["type"] == "ack"
    second.connect(take=True)
    second.until("game")
    with pytest.raises(ConnectionClosed) as closed:
        first.until("thanks")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4409
    second.close()


def test_a_reloaded_tab_takes_over_its_own_connection(server: Server) -> None:
    seat = Seat(server, solo(server), "same")
    seat.until("game")
    again = Seat(server, seat.link, "same")
    again.until("game")
    again.close()


# What is too much


def test_oversized_frames_and_bodies_are_refused(server: Server) -> None:
    seat = Seat(server, solo(server))
    seat.until("game")
    assert seat.line is not None
    seat.line.send(json.dumps({"n": 1, "do": "act", "action": "x" * 100_000}))
    with pytest.raises(ConnectionClosed) as closed:
        seat.until("thanks")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    with pytest.raises(OSError):
        server.open("/api/enter", {"key": "x" * 100_000})


def test_floods_are_refused_and_others_play_on(server: Server) -> None:
    flooding, calm = Seat(server, solo(server)), Seat(server, solo(server))
    frame = calm.until(lambda m: m["type"] == "frame")
    with suppress(ConnectionClosed):
        for _ in range(1000):
            flooding.say("act", action="stay", t=-1)
    with pytest.raises(ConnectionClosed) as closed:
        flooding.until("thanks")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4429
    assert calm.do("act", action="up", t=frame["t"])["type"] == "ack"
    calm.close()


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", "1e999", "[" * 3000, '{"n": 1e400}', '{"n": true}', '{"n": -1}', '{"n": 10}']
)
def test_nonsense_is_refused_and_nothing_breaks(text: str, server: Server) -> None:
    seat = Seat(server, solo(server))
    frame = seat.until(lambda m: m["type"] == "frame")
    assert seat.line is not None
    seat.line.send(text)
    assert seat.until(lambda m: m["type"] == "refused")["why"]
    seat.n = 20
    assert seat.do("act", action="stay", t=frame["t"])["type"] == "ack"
    seat.close()


@pytest.mark.parametrize(
    "plan",
    [
        {"levels": ["nowhere"]},
        {"levels": []},
        {"levels": ["hatch"] * 3},
        {"facilitators": ["nobody"]},
        {"pairs": 0},
        {"pairs": 10**9},
        {"seed": -1},
        {"hand_off": "javascript:alert(1)"},
        {"consent": "x" * 30_000},
        {"unknown": 1},
        {"seconds": "soon"},
        {"facilitators": ["none", "protom"]},
    ],
)
def test_plans_that_cannot_be_are_refused_in_one_line(plan: dict[str, object], server: Server) -> None:
    body = {
        "title": "",
        "levels": ["hatch", "upstairs", "far-plate"],
        "facilitators": ["none", "protom", "oracle"],
        **plan,
    }
    assert server.status("/api/studies", body) == 422


# What is kept


def test_a_killed_server_has_lost_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        study = server.study(levels=["hatch"], facilitators=["none"])
        seats = [Seat(server, link) for link in server.links(study)]
        for seat in seats:
            seat.until("ready")
            seat.do("ready")
        for seat in seats:
            seat.frame()
        done: list[tuple[int, int, str]] = []
        for kill in range(2):
            for i in range(5 + kill):
                t = seats[0].last("frame")["t"]
                for k, seat in enumerate(seats):
                    action = ["up", "left", "down", "right", "stay"][(i + k) % 5]
                    assert seat.do("act", action=action, t=t)["type"] == "ack"
                    done.append((k, t, action))
                    if k == 0 and i == 4 + kill:
                        break
                else:
                    for seat in seats:
                        seat.frame(after=t)
            server.kill()
            server.start()
            for seat in seats:
                seat.connect()
                assert seat.until("game")["n"] == 1 + sum(k == seats.index(seat) for k, _, _ in done)
                seat.heard.clear()
                seat.frame()
        with closing(sqlite3.connect(server.store)) as base:
            rows = base.execute("select who, body from events where kind = 'act' order by seq").fetchall()
            joints = base.execute("select body from events where kind = 'step' order by seq").fetchall()
            assert base.execute("pragma integrity_check").fetchone() == ("ok",)
        kept = [(json.loads(body)["t"], json.loads(body)["action"]) for _, body in rows]
        assert sorted(kept) == sorted((t, action) for _, t, action in done)
        assert len(joints) == max(t for _, t, _ in done)


def test_nothing_is_acknowledged_before_it_is_on_disk(server: Server) -> None:
    with Seat(server, solo(server)) as seat, closing(sqlite3.connect(server.store)) as other:
        t = seat.frame()["t"]
        other.execute("begin immediate")  # nobody else can write now
        n = seat.say("act", action="up", t=t)
        with pytest.raises(TimeoutError):
            seat.until(lambda m: m["type"] in ("ack", "frame"), patience=0.3)
        other.rollback()
        assert seat.until(lambda m: m["type"] == "ack")["n"] == n


def test_a_server_that_cannot_write_ends_and_says_why(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        with closing(sqlite3.connect(server.store)) as other:
            other.execute("create trigger full before insert on events begin select raise(abort, 'disk is full'); end")
            other.commit()
        assert server.status("/api/play", {"level": "hatch", "seat": "Ana", "facilitator": "none"}) == 503
        assert server.process is not None
        assert server.process.wait(20) == 2
        assert "cannot be written: disk is full" in server.store.with_suffix(".log").read_text()


# Where it may listen


def test_only_loopback_is_open_without_a_secret() -> None:
    assert "http://localhost:1" in origins("127.0.0.1", 1, (), "")
    with pytest.raises(InputError, match="--allowed-origin"):
        origins("0.0.0.0", 1, (), "x" * 16)
    with pytest.raises(InputError, match="OTHERMINDS_SECRET"):
        origins("0.0.0.0", 1, ["https://a.example"], "short")
    assert origins("0.0.0.0", 1, ["https://a.example"], "x" * 16) == {"https://a.example"}
    for odd in ("a.example", "https://", "https://a.example/path", "ftp://a.example", "*"):
        with pytest.raises(InputError, match="is not an origin"):
            origins("127.0.0.1", 1, [odd], "")
    assert "0.0.0.0" not in LOOPBACK


def test_keys_and_buckets() -> None:
    keys = Keys()
    assert len(keys.key) >= 22
    session = keys.enter(keys.key)
    assert keys.knows(session)
    assert keys.enter("") is None
    assert keys.enter(None) is None
    assert not keys.knows(None)
    bucket = TokenBucket(rate=0.0, burst=3.0)
    assert [bucket.take() for _ in range(5)] == [True, True, True, False, False]


def test_a_port_that_is_taken_is_told(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        complaint(run("serve", "--port", port, "--store", str(tmp_path / "j.sqlite")), "nobody can listen at")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--host", "0.0.0.0"], "0.0.0.0 can be reached by others (--allowed-origin"),
        (["--model", "nonsense"], "`nonsense` names no language model"),
        (["--level", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["--store", "file/j.sqlite"], "file: cannot be written"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(
    options: list[str], told: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    complaint(run("serve", "--port", str(free_port()), *options), f"^otherminds: {re.escape(told)}")

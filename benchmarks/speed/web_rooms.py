"""A load test of the web app: many rooms, each of two people that act in every step.

    python -m benchmarks.speed.web_rooms --rooms 50 --seconds 60 --facilitator protom

starts a server, plays in all rooms, and prints the time from sending an action to its acknowledgement (it is then on
disk), the number of frames, and the number of frames that differ from the event log's record of what their reader saw.

    python -m benchmarks.speed.web_rooms --rooms 10 --seconds 60 --kills 20

also kills the server (SIGKILL) and restarts it as many times, and prints the acknowledged actions that are missing
from the event log or duplicated in it, and how the rooms ended.

    python -m benchmarks.speed.web_rooms --rooms 20 --seconds 60 --step 1

has a step a second, and prints in how many of them the facilitator decided before the next one. `--proxy` puts nginx in
front of the server, with the file of docs/how-to/deploy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import websockets
from websockets.typing import Origin

from benchmarks.keeping import keep, option
from otherminds.cli.lists import bundled
from otherminds.web import stages
from otherminds.web.event_log import EventLog
from otherminds.web.lobby import Lobby
from otherminds.web.thinking import ThinkingProcesses

SECRET = "a secret of benchmarks"
TICK = 1 / 6
ACTIONS = ("up", "down", "left", "right", "stay")


class Server:
    """A server of one's own, which can be killed and started again."""

    def __init__(self, store: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.store, self.address = store, f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "otherminds",
            "serve",
            "--port",
            str(self.port),
            "--store",
            str(self.store),
            "--joins",
            "100000",
        ]
        environment = {**os.environ, "OTHERMINDS_SECRET": SECRET}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        while True:
            try:
                urlopen(self.address, timeout=5).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("the server has ended") from None
                time.sleep(0.05)

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(store: Path, is_proxied: bool = False) -> Iterator[Server]:
    """A server for the duration of the context, perhaps with a proxy in front of it."""
    server = Server(store)
    server.start()
    try:
        if is_proxied:
            with proxied(store.parent, server.port) as server.address:
                yield server
        else:
            yield server
    finally:
        server.process.terminate()
        server.process.wait(20)


@contextmanager
def proxied(folder: Path, port: int) -> Iterator[str]:
    """The address of nginx in front of a server, with the file of the documentation, and with more connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        public = f"127.0.0.1:{free.getsockname()[1]}"
    site = (Path(__file__).parents[2] / "docs" / "how-to" / "deploy" / "nginx.conf").read_text()
    site = site.replace("listen 80", f"listen {public}").replace("study.example.org", "127.0.0.1")
    site = site.replace("127.0.0.1:8642", f"127.0.0.1:{port}").replace("Host $host", f"Host 127.0.0.1:{port}")
    site = site.replace("X-Forwarded-Proto $scheme", f"Origin http://127.0.0.1:{port}")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("proxy", "fastcgi", "uwsgi", "scgi"))
    head = f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{ worker_connections 4096; }}"
    paths = f"access_log off; client_body_temp_path {folder}/body; {temporary}"
    (folder / "nginx.conf").write_text(f"{head} http {{ {paths} {site} }}")
    nginx = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        time.sleep(1.0)
        yield f"http://{public}"
    finally:
        nginx.terminate()
        nginx.wait()


class Researcher:
    """Whoever conducts the study."""

    def __init__(self, address: str) -> None:
        self.address, self.cookie = address, ""
        with self._open("/api/enter", {"key": SECRET}) as answer:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def _open(self, path: str, body: Any = None) -> Any:
        headers = {"origin": self.address, "content-type": "application/json", "cookie": self.cookie}
        data = None if body is None else json.dumps(body).encode()
        return urlopen(Request(self.address + path, data, headers), timeout=60)

    def ask(self, path: str, body: Any = None) -> Any:
        """The answer to a request."""
        with self._open(path, body) as answer:
            return json.load(answer)


@dataclass
class Player:
    """Somebody who acts at every tick, and counts."""

    link: str
    delays: list[float] = field(default_factory=list)
    frames: list[tuple[str, int, str]] = field(default_factory=list)
    acknowledged: dict[int, str] = field(default_factory=dict)
    room: str = ""
    sent: dict[int, tuple[float, str]] = field(default_factory=dict)
    n: int = 0
    is_playing: bool = False

    async def play(self, address: str, until: float, rng: np.random.Generator) -> None:
        """Play until a certain time."""
        while time.time() < until:
            try:
                await self._connected(address, until, rng)
            except (OSError, websockets.WebSocketException):
                await asyncio.sleep(0.1)

    async def _connected(self, address: str, until: float, rng: np.random.Generator) -> None:
        url = address.replace("http", "ws") + self.link + "/ws?tab=1"
        async with websockets.connect(url, origin=Origin(address), compression=None, open_timeout=60) as line:
            acting = asyncio.create_task(self._act(line, rng))
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.time()):
                    async for text in line:
                        await self._hear(line, json.loads(text), time.perf_counter())
            except TimeoutError:
                pass
            finally:
                acting.cancel()

    async def _act(self, line: Any, rng: np.random.Generator) -> None:
        await asyncio.sleep(float(rng.random()) * self.tick)
        while True:
            await asyncio.sleep(self.tick)
            if self.is_playing:
                await self._send(line, {"do": "act", "action": ACTIONS[rng.integers(5)], "t": self.t})

    t = 0
    tick = TICK

    async def _send(self, line: Any, message: dict[str, Any]) -> None:
        self.n += 1
        self.sent[self.n] = time.perf_counter(), str(message.get("action", ""))
        await line.send(json.dumps({"n": self.n, **message}))

    async def _hear(self, line: Any, message: dict[str, Any], now: float) -> None:
        kind = message["type"]
        if kind == "ack" and message["n"] in self.sent:
            began, did = self.sent.pop(message["n"])
            self.delays.append(now - began)
            self.acknowledged[message["n"]] = did
        elif kind == "frame":
            places = [[name, x, y] for name, _, x, y in message["parts"]]
            self.frames.append((self.room, message["t"], json.dumps([message["rows"], places])))
            self.t = message["t"]
        elif kind == "page":
            self.n = max(self.n, message["n"])
            stage, data = message["stage"], message["data"]
            self.is_playing = stage == "game"
            self.room = f"{data['trial']}" if stage == "game" else ""
            if stage == "ready" and not data.get("ready"):
                await self._send(line, {"do": "ready"})
            elif stage == "reveal":
                await self._send(line, {"do": "next"})
            elif stage == "questions":
                points = {aspect["key"]: 5 for aspect in data["aspects"]}
                await self._send(line, {"do": "rate", "ratings": points, "comment": "fine"})


def _plan(rooms: int, facilitator: str, step: float) -> dict[str, Any]:
    return {
        "title": "crowd",
        "levels": ["hatch", "upstairs", "back-kitchen", "two-onions", "store-room", "far-plate"],
        "facilitators": [facilitator],
        "pairs": rooms,
        "consent": "",
        "tutorial": False,
        "practice": False,
        "ratings": True,
        "waits": False,
        "seconds": step,
    }


async def crowd(address: str, links: list[str], seconds: float, step: float) -> list[Player]:
    """Everybody plays for so long."""
    players = [Player(link) for link in links]
    for player in players:
        player.tick = step
    streams = np.random.default_rng(1).spawn(len(players))
    until = time.time() + seconds
    await asyncio.gather(*(p.play(address, until, rng) for p, rng in zip(players, streams, strict=True)))
    return players


def killing(server: Server, kills: int, seconds: float) -> threading.Thread:
    """Something that kills the server again and again, at random moments, and starts it each time."""
    moments = np.sort(np.random.default_rng(2).random(kills)) * (seconds - 5.0) + 2.0
    began = time.time()

    def kill() -> None:
        for moment in moments:
            time.sleep(max(0.0, began + moment - time.time()))
            server.kill()
            server.start()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@dataclass
class Newcomers:
    """Somebody who makes studies and joins them again and again, asking anew until the server answers."""

    server: Server
    researcher: Researcher
    studies: list[str] = field(default_factory=list)
    joined: dict[str, set[str]] = field(default_factory=dict)

    def come(self, until: float) -> None:
        """Come until a certain time; what was answered is kept."""
        rng = np.random.default_rng(3)
        while time.time() < until:
            with suppress(OSError, ValueError):
                study = self.researcher.ask("/api/studies", _plan(3, "none", 1.0))["id"]
                self.studies.append(study)
                invitation = self.researcher.ask(f"/api/studies/{study}")["invitation"]
                for _ in range(5):
                    visit = rng.bytes(12).hex()
                    for _ in range(3):  # as a browser does that was not answered, or one that asks twice
                        with suppress(OSError, ValueError):
                            link = self.researcher.ask(f"{invitation}?visit={visit}", {})["link"]
                            self.joined.setdefault(visit, set()).add(link.removeprefix("/p/"))
            with suppress(OSError):
                self.researcher = Researcher(self.server.address)  # sessions end with the server

    def faults(self, store: Path) -> tuple[int, int]:
        """Acknowledged studies and joins that are not on disk as a whole, and those that are there twice, by number."""
        with closing(sqlite3.connect(store)) as base:
            rows = base.execute("select stream, body from events where kind = 'joined'").fetchall()
        bodies = [(stream, json.loads(body)) for stream, body in rows]
        links = Counter(stream for stream, body in bodies if body["kind"] == "link")
        tokens = {body["token"] for _, body in bodies}
        visits = Counter(body["visit"] for _, body in bodies if "visit" in body)
        lost = sum(links[study] != 6 for study in self.studies)
        lost += sum(not found <= tokens for found in self.joined.values())
        broken = sum(count != 6 for stream, count in links.items() if stream in self.studies)
        twice = sum(count > 1 for count in visits.values()) + sum(len(found) > 1 for found in self.joined.values())
        return lost + broken, twice


def strangers(store: Path, players: list[Player]) -> int:
    """The number of frames that differ from what, by the event log, their reader could see at that step."""
    levels = {level.name: level for found in bundled().values() for level in found}
    lobby = Lobby(EventLog(store), ThinkingProcesses(), levels)
    lobby.read()
    wrong = 0
    for player in players:
        one = lobby.seats[player.link.removeprefix("/p/")]
        pair = one.study.pairs.get(one.pair)
        seen = {}
        for k, name in enumerate(pair.rooms if pair else ()):
            game = lobby.game(name)
            assert game is not None
            agent = stages.seat(game, one)
            for t, state in enumerate(game.states):
                parts = [[p.name, *p.place] for p in game.board.drawn(state, agent) if p.place]
                seen[str(k + 1), t] = json.dumps([game.board.rows(state, agent), parts])
        wrong += sum(seen.get((room, t)) != frame for room, t, frame in player.frames)
    return wrong


def decided(store: Path) -> float:
    """The share of steps about which the facilitator decided before the next one, of all rooms."""
    levels = {level.name: level for found in bundled().values() for level in found}
    lobby = Lobby(EventLog(store), ThinkingProcesses(), levels)
    lobby.read()
    games = [lobby.game(name) for study in lobby.studies.values() for p in study.pairs.values() for name in p.rooms]
    counts = [game.decided for game in games if game is not None]
    return sum(in_time for in_time, _ in counts) / max(sum(steps for _, steps in counts), 1)


def kept(store: Path, players: list[Player]) -> tuple[int, int]:
    """The numbers of acknowledged actions that are missing from the event log, and of actions logged more than once."""
    levels = {level.name: level for found in bundled().values() for level in found}
    lobby = Lobby(EventLog(store), ThinkingProcesses(), levels)
    lobby.read()
    with closing(sqlite3.connect(store)) as base:
        rows = base.execute("select who, n, kind, body from events where who is not null").fetchall()
    found = Counter((who, n, json.loads(body).get("action", "")) for who, n, _, body in rows)
    said = {(lobby.seats[p.link.removeprefix("/p/")].id, n, did) for p in players for n, did in p.acknowledged.items()}
    return len(said - set(found)), sum(count > 1 for count in found.values())


def endings(store: Path) -> Counter[str]:
    """How rooms ended; those that are still played have no ending."""
    with closing(sqlite3.connect(store)) as base:
        rooms = {name for (name,) in base.execute("select stream from events where kind = 'opened' and seq = 1")}
        ended = dict(base.execute("select stream, json_extract(body, '$.reason') from events where kind = 'ended'"))
    return Counter(ended.get(room, "still played") for room in rooms if room in ended or ":" in room)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--facilitator", default="protom")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--step", type=float, default=TICK, help="seconds between two steps")
    parser.add_argument("--proxy", action="store_true", help="nginx in front of the server")
    option(parser)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "crowd.sqlite"
        with serving(store, chosen.proxy) as server:
            researcher = Researcher(server.address)
            study = researcher.ask("/api/studies", _plan(chosen.rooms, chosen.facilitator, chosen.step))["id"]
            links = [one["link"] for one in researcher.ask(f"/api/studies/{study}")["links"]]
            killer = killing(server, chosen.kills, chosen.seconds)
            newcomers = Newcomers(server, Researcher(server.address))
            coming = threading.Thread(target=newcomers.come, args=(time.time() + chosen.seconds,))
            if chosen.kills:
                coming.start()
            players = asyncio.run(crowd(server.address, links, chosen.seconds, chosen.step))
            killer.join()
            if chosen.kills:
                coming.join()
        found = measured(chosen, players, store)
        if chosen.kills:
            lost, twice = newcomers.faults(store)
            many = len(newcomers.studies), len(newcomers.joined)
            print(f"of {many[0]} studies made and {many[1]} people that joined: {lost} lost, {twice} kept twice")
            found |= {"studies": many[0], "joined": many[1], "facts lost": lost, "facts twice": twice}
    rooms = f"{chosen.rooms} rooms" + (f", {chosen.kills} kills" if chosen.kills else "")
    rooms += f", a step every {chosen.step:g} s" if chosen.step != TICK else ""
    rooms += ", proxy" if chosen.proxy else ""
    keep(chosen.json, "web_rooms", {(rooms, what): value for what, value in found.items()})


def measured(chosen: argparse.Namespace, players: list[Player], store: Path) -> dict[str, float]:
    """Print what came of it, and tell the figures."""
    delays = 1e3 * np.array([delay for player in players for delay in player.delays])
    frames = sum(len(player.frames) for player in players)
    middle, most, nearly_all = np.percentile(delays, [50, 95, 99])
    rate, wrong, (lost, twice) = frames / len(players) / chosen.seconds, strangers(store, players), kept(store, players)
    print(f"{chosen.rooms} rooms, {chosen.seconds:g} s, {chosen.facilitator}: {frames} frames, {len(delays)} actions")
    print(f"from action to acknowledgement: median {middle:.0f} ms, 95 % {most:.0f} ms, 99 % {nearly_all:.0f} ms")
    print(f"frames per player and second: {rate:.2f} of at most {1 / chosen.step:.2f}")
    in_time = decided(store)
    print(f"steps that the facilitator decided about in time: {100 * in_time:.1f} %")
    print(f"frames that are not what the event log says: {wrong}")
    print(f"{chosen.kills} kills: {lost} acknowledged actions lost, {twice} kept twice; rooms: {dict(endings(store))}")
    found = {"median, ms": float(middle), "95 %, ms": float(most), "frames a second": rate, "frames": frames}
    found["decided in time"] = in_time
    return found | {"of others": wrong, "acknowledged": len(delays), "lost": lost, "twice": twice}


if __name__ == "__main__":
    main()

"""A crowd for the web app: many rooms of two people each, who act at every tick, and what the server makes of it.

    python benchmarks/web_rooms.py --rooms 50 --seconds 60 --facilitator protom

starts a server of its own, lets everybody play, and prints how long it took from sending an action to hearing that it
is on disk, how many ticks there were, and whether anybody was sent a word that was meant for others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import websockets
from websockets.typing import Origin

SECRET = "a secret of benchmarks"
TICK = 1 / 6
ACTIONS = ("up", "down", "left", "right", "stay")


@contextmanager
def serving(store: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of one's own, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "otherminds", "serve", "--port", str(port), "--store", str(store)]
    process = subprocess.Popen(command, env={**os.environ, "OTHERMINDS_SECRET": SECRET}, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _await(address, process)
        yield address, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        try:
            urlopen(address, timeout=5).close()
            return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("the server has ended") from None
            time.sleep(0.05)
    raise RuntimeError("the server does not answer")


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
    frames: int = 0
    strange: int = 0
    people: frozenset[str] = frozenset()
    sent: dict[int, float] = field(default_factory=dict)
    n: int = 0
    level: str = ""

    async def play(self, address: str, until: float, rng: np.random.Generator) -> None:
        """Play until a certain time."""
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
        await asyncio.sleep(float(rng.random()) * TICK)
        while True:
            await asyncio.sleep(TICK)
            if self.level:
                await self._send(line, {"do": "act", "action": ACTIONS[rng.integers(5)], "t": self.t})

    t = 0

    async def _send(self, line: Any, message: dict[str, Any]) -> None:
        self.n += 1
        self.sent[self.n] = time.perf_counter()
        await line.send(json.dumps({"n": self.n, **message}))

    async def _hear(self, line: Any, message: dict[str, Any], now: float) -> None:
        kind = message["type"]
        if kind == "ack" and message["n"] in self.sent:
            self.delays.append(now - self.sent.pop(message["n"]))
        elif kind == "frame":
            self.frames += 1
            self.t = message["t"]
        elif kind == "page":
            self.n = max(self.n, message["n"])
            stage, data = message["stage"], message["data"]
            self.level = data["level"] if stage == "game" else ""
            if stage == "ready" and not data.get("ready"):
                await self._send(line, {"do": "ready"})
            elif stage == "reveal":
                await self._send(line, {"do": "next"})


def _plan(rooms: int, facilitator: str) -> dict[str, Any]:
    return {
        "title": "crowd",
        "levels": ["hatch", "upstairs", "back-kitchen", "two-onions", "store-room", "far-plate"],
        "facilitators": [facilitator],
        "pairs": rooms,
        "consent": "",
        "tutorial": False,
        "practice": False,
        "ratings": False,
        "waits": False,
        "seconds": TICK,
    }


async def crowd(address: str, links: list[str], seconds: float) -> list[Player]:
    """Everybody plays for so long."""
    players = [Player(link) for link in links]
    streams = np.random.default_rng(1).spawn(len(players))
    until = time.time() + seconds
    await asyncio.gather(*(p.play(address, until, rng) for p, rng in zip(players, streams, strict=True)))
    return players


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--facilitator", default="protom")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "crowd.sqlite") as (address, _):
        somebody = Researcher(address)
        study = somebody.ask("/api/studies", _plan(chosen.rooms, chosen.facilitator))["id"]
        links = [one["link"] for one in somebody.ask(f"/api/studies/{study}")["links"]]
        players = asyncio.run(crowd(address, links, chosen.seconds))
    delays = 1e3 * np.array([delay for player in players for delay in player.delays])
    frames = sum(player.frames for player in players)
    middle, most, nearly_all = np.percentile(delays, [50, 95, 99])
    print(f"{chosen.rooms} rooms, {chosen.seconds:g} s, {chosen.facilitator}: {frames} frames, {len(delays)} actions")
    print(f"from action to acknowledgement: median {middle:.0f} ms, 95 % {most:.0f} ms, 99 % {nearly_all:.0f} ms")
    print(f"frames per player and second: {frames / len(players) / chosen.seconds:.2f} of at most {1 / TICK:.2f}")


if __name__ == "__main__":
    main()

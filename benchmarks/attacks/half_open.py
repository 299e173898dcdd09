"""Half-open connections: what a participant waits for while many others send requests that they never finish.

    python -m benchmarks.attacks.half_open --connections 500 --seconds 60 --files 256

starts a server that may have so many open files, keeps so many connections open that send a byte of a request a second
(each that the server closes is opened again), and prints how long a participant waits for their page, over a new
connection each time, and for the answer to what the page says over a WebSocket that stays open.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import websockets
from websockets.typing import Origin

from benchmarks.speed.web_rooms import Researcher, Server

BEGINNING = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Header: "
PLAN = {"title": "half open", "levels": ["hatch"], "facilitators": ["none"], "pairs": 1, "partner": "simulated"}
Counted = Any  # a number that processes share
PLAIN = {"consent": "", "tutorial": False, "practice": False, "seconds": 0}


async def linger(port: int, source: str, opened: Counted, again: float) -> None:
    """Keep a request half sent, over one connection after the other."""
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            opened.value += 1
            writer.write(BEGINNING)
            closed = asyncio.create_task(reader.read())
            while not closed.done():
                await asyncio.wait([closed], timeout=1.0)
                writer.write(b"x")
            writer.close()
            await closed
        await asyncio.sleep(again)


def attack(port: int, chosen: argparse.Namespace, opened: Counted) -> None:
    """Keep so many requests half sent, in a process of their own."""

    async def all_of_them() -> None:
        sources = [f"127.0.0.{1 + n % chosen.sources}" for n in range(chosen.connections)]
        await asyncio.gather(*(linger(port, source, opened, chosen.again) for source in sources))

    asyncio.run(all_of_them())


async def page_time(server: Server, link: str) -> float:
    """Seconds until a participant has their page, from the connection on; infinite if it fails."""
    begun = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"GET {link} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
        page = await reader.read()
        writer.close()
    except OSError:
        return np.inf
    return time.perf_counter() - begun if page.startswith(b"HTTP/1.1 200") and b"</html>" in page else np.inf


async def measure(server: Server, link: str, seconds: float) -> None:
    """Print the times of a participant."""
    address = server.address.replace("http", "ws") + f"{link}/ws?tab=1"
    pages: list[float] = []
    answers: list[float] = []
    async with websockets.connect(address, origin=Origin(server.address), compression=None) as line:
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds:
            pages.append(await page_time(server, link))
            told = time.perf_counter()
            await line.send(json.dumps({"n": 1 + len(answers), "do": "fly"}))
            while json.loads(await line.recv())["type"] != "refused":
                pass
            answers.append(time.perf_counter() - told)
            await asyncio.sleep(0.2)
    for what, found in (("page, over a new connection", pages), ("answer over the WebSocket", answers)):
        half, most = (1000 * np.quantile(found, q) for q in (0.5, 0.95))
        print(
            f"{what}: {len(found)} times, half within {half:.0f} ms, 95 % within {most:.0f} ms, "
            f"all within {1000 * max(found):.0f} ms"
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--connections", type=int, default=500, help="half-open connections at a time")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--files", type=int, default=0, help="open files of the server; 0: as the system allows")
    parser.add_argument("--sources", type=int, default=1, help="addresses that they come from; 1: the participant's")
    parser.add_argument("--again", type=float, default=1.0, help="seconds until one that was closed is opened again")
    chosen = parser.parse_args()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "events.sqlite")
        if chosen.files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (chosen.files, before[1]))
        server.start()
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        try:
            desk = Researcher(server.address)
            study = desk.ask("/api/studies", {**PLAN, **PLAIN})["id"]
            link = desk.ask(f"/api/studies/{study}")["links"][0]["link"]
            opened: Counted = multiprocessing.Value("i", 0, lock=False)
            attacker = multiprocessing.Process(target=attack, args=(server.port, chosen, opened), daemon=True)
            attacker.start()
            asyncio.run(measure(server, link, chosen.seconds))
            attacker.kill()
            print(f"half-open connections: {chosen.connections} at a time, {opened.value} in all")
        finally:
            server.process.terminate()
            server.process.wait(20)


if __name__ == "__main__":
    main()

"""Frames and requests that no page sends, against a server on which two people play.

    python -m benchmarks.attacks.frames --frames 10000

A third participant's page sends text and binary frames of all kinds: no JSON, huge numbers, wrong types, deep nesting,
real messages with parts changed; requests go to all addresses of the server. Exits with 1 if there is a traceback in
the server's log, if the two hear of anything but their own game, or if the third cannot act afterwards.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from benchmarks.keeping import keep, option
from web_seats import Seat, serving

WORDS: tuple[Any, ...] = (
    *("act", "ready", "leave!", "heard", "rate", "consent", "next", "stay", "up", "\u202e", "", "x" * 500, "\ud800"),
    *(None, True, -1, 0, 1, 2**53, 2**64, 1e308, [], {}, [[[]]], {"a": {"b": 1}}),
)
PATHS = (
    "/api/play",
    "/api/studies",
    "/api/join/x",
    "/p/x/alive",
    "/join/x",
    "/api/watch",
    "/episodes/x",
    "/pages/../x",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=5)
    option(parser)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--joins", "1000") as server:
        study = server.study(levels=["hatch"], facilitators=["none"], pairs=3)
        links = server.links(study)
        with Seat(server, links[0]) as ana, Seat(server, links[1]) as ben:
            for person in (ana, ben):
                person.until("ready")
                person.say("ready")
            for person in (ana, ben):
                person.until("game")
            sent, refused = _attack(server, links[2], chosen.frames, rng)
            disturbed = [message["type"] for person in (ana, ben) for message in _heard(person)]
        with Seat(server, links[2]) as third:
            still = third.until("lobby")["stage"] == "lobby"
        log = server.store.with_suffix(".log").read_text()
    surprises = [kind for kind in disturbed if kind not in ("frame", "chosen", "ack")]
    print(f"{sent} frames and requests: {refused} answered with a refusal, {log.count('Traceback')} tracebacks")
    print(f"the other two heard {len(surprises)} messages that are not of their game; the third can go on: {still}")
    found = {"sent": sent, "tracebacks": log.count("Traceback"), "disturbed": len(surprises)}
    keep(chosen.json, "frames", {("all", what): value for what, value in found.items()})
    sys.exit(found["tracebacks"] > 0 or bool(surprises) or not still)


def _attack(server: Any, link: str, count: int, rng: np.random.Generator) -> tuple[int, int]:
    """Send so many frames and requests; how many were sent, and how many were refused in so many words."""
    sent = refused = 0
    seat = Seat(server, link)
    for frame in _frames(rng, count):
        sent += 1
        if isinstance(frame, tuple):
            path, body = frame
            with suppress(OSError, ValueError):
                refused += server.status(path, body) >= 400
            continue
        try:
            assert seat.line
            seat.line.send(frame)
            if sent % 50 == 0:
                refused += sum(message["type"] == "refused" for message in _heard(seat))
        except (ConnectionClosed, UnicodeEncodeError, OSError):
            seat.close()
            with suppress(OSError, ConnectionClosed):
                seat.connect(take=True)
    seat.close()
    return sent, refused


def _heard(seat: Seat) -> list[dict[str, Any]]:
    """What a page has been sent and not yet heard."""
    messages = []
    with suppress(TimeoutError, ConnectionClosed):
        while True:
            messages.append(seat.hear(0.05))
    return messages


def _frames(rng: np.random.Generator, count: int) -> Iterator[str | bytes | tuple[str, Any]]:
    """Frames (text or bytes) and requests (path and body)."""

    def word() -> Any:
        return WORDS[rng.integers(len(WORDS))]

    for _ in range(count):
        kind = rng.integers(8)
        message = {"n": word(), "do": word(), str(word()): word(), "answers": word(), "ratings": word(), "t": word()}
        if kind == 0:
            yield rng.bytes(int(rng.integers(0, 300)))
        elif kind == 1:
            yield rng.bytes(int(rng.integers(0, 60))).decode("latin-1")
        elif kind == 2:
            yield "[" * int(rng.integers(1, 3000))
        elif kind == 3:
            yield PATHS[rng.integers(len(PATHS))], message
        elif kind == 4:
            text = json.dumps({"n": int(rng.integers(1, 9)), "do": "act", "action": "up", "t": 0})
            at = int(rng.integers(len(text)))
            yield text[:at] + str(word()).encode(errors="replace").decode() + text[at + 1 :]
        else:
            yield json.dumps(message)


if __name__ == "__main__":
    main()

"""A server of one's own, and people who talk to it as their pages would: shared by tests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

SECRET = "a secret that tests know"
PATIENCE = 20.0
Message = dict[str, Any]


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


class Server:
    """`otherminds serve`, as a process that can be killed and started again."""

    def __init__(self, store: Path, *more: str) -> None:
        self.store, self.more, self.port = store, more, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.cookie = ""
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Server:
        """Start it, and wait until it answers; the researcher enters."""
        command = [sys.executable, "-m", "otherminds", "serve", "--port", str(self.port), "--store", str(self.store)]
        environment = {**os.environ, "OTHERMINDS_SECRET": SECRET}
        with self.store.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen([*command, *self.more], env=environment, stdout=log, stderr=log)
        until = time.monotonic() + 3 * PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(self.store.with_suffix(".log").read_text())
            time.sleep(0.05)
        with self.open("/api/enter", {"key": SECRET}) as answer:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self

    def _answers(self) -> bool:
        try:
            urlopen(self.address + "/pages/app.css", timeout=5).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End it at once, as if the power had failed."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def open(self, path: str, body: object = None, method: str | None = None, **headers: str) -> Any:
        """The open answer to a request. Raises HTTPError if it is refused."""
        given = {"origin": self.address, "content-type": "application/json", "cookie": self.cookie} | headers
        data = None if body is None else json.dumps(body).encode()
        return urlopen(Request(self.address + path, data, given, method=method), timeout=PATIENCE)

    def ask(self, path: str, body: object = None, method: str | None = None) -> Any:
        """What is answered."""
        with self.open(path, body, method) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def status(self, path: str, body: object = None, method: str | None = None, **headers: str) -> int:
        """The status of the answer."""
        try:
            with self.open(path, body, method, **headers) as answer:
                code: int = answer.status
        except HTTPError as error:
            code = error.code
            error.close()
        return code

    def study(self, **plan: object) -> str:
        """A new study without formalities, in which whoever has chosen is not kept waiting; returns its name."""
        plain = {"title": "test", "consent": "", "tutorial": False, "practice": False, "seconds": 0, "pairs": 1}
        chosen = {"levels": ["hatch", "upstairs", "far-plate"], "facilitators": ["none", "protom", "oracle"]}
        name: str = self.ask("/api/studies", {**plain, **chosen, **plan})["id"]
        return name

    def links(self, study: str) -> list[str]:
        """The links of its participants."""
        return [one["link"] for one in self.ask(f"/api/studies/{study}")["links"]]


@contextmanager
def limited(files: int) -> Iterator[None]:
    """Let processes that are started meanwhile have only so many open files."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[Server]:
    """A server as long as it is needed."""
    server = Server(folder / "journal.sqlite", *more)
    try:
        yield server.start()
    finally:
        server.kill()


class Seat:
    """The page of a participant, without a browser: it hears everything and says what it is told to say."""

    def __init__(self, server: Server, link: str, tab: str = "tab") -> None:
        self.server, self.link, self.tab = server, link, tab
        self.heard: list[Message] = []
        self.n = 0
        self.line: ClientConnection | None = None
        self._open = ExitStack()
        self.connect()

    def __enter__(self) -> Seat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self, take: bool = False) -> None:
        """Open the page, or open it again."""
        self.close()
        url = self.server.address.replace("http", "ws") + f"{self.link}/ws?tab={self.tab}{'&take=1' if take else ''}"
        self.line = self._open.enter_context(
            connect(url, origin=Origin(self.server.address), compression=None, open_timeout=PATIENCE)
        )

    def hear(self, timeout: float = PATIENCE) -> Message:
        """The next thing that the server says."""
        assert self.line
        message: Message = json.loads(self.line.recv(timeout))
        self.heard.append(message)
        if message["type"] == "page":
            self.n = max(self.n, message["n"])
        return message

    def until(self, wanted: Callable[[Message], bool] | str, patience: float = PATIENCE) -> Message:
        """Hear until there is what is wanted; a string names a stage. Raises TimeoutError if there is silence."""
        fits = wanted if callable(wanted) else lambda m: m["type"] == "page" and m["stage"] == wanted
        while not fits(found := self.hear(patience)):
            pass
        return found

    def say(self, do: str, **more: object) -> int:
        """Ask for something; returns the number of the message."""
        assert self.line
        self.n += 1
        self.line.send(json.dumps({"n": self.n, "do": do, **more}))
        return self.n

    def do(self, what: str, **more: object) -> Message:
        """Ask for something, and hear until it is acknowledged or refused."""
        n = self.say(what, **more)
        return self.until(lambda m: m["type"] in ("ack", "refused") and m["n"] == n)

    def close(self) -> None:
        """Close the page."""
        self._open.close()

    def frame(self, after: int = -1) -> Message:
        """The newest frame, once there is one of a later step."""
        while not any(m["type"] == "frame" and m["t"] > after for m in self.heard):
            self.hear()
        return self.last("frame")

    def last(self, kind: str) -> Message:
        """The newest message of a kind."""
        return next(m for m in reversed(self.heard) if m["type"] == kind)

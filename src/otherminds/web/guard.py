"""Access control: origins, hosts, rates and sizes of requests, checked before anything else; researchers' sessions."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from otherminds.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "otherminds"
SHORTEST = 16  # characters of a secret on a server that others can reach; chosen
BODY = 64 * 1024  # bytes of a request; chosen
ADDRESSES = 10_000  # client addresses whose rates are remembered; chosen
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
REASONS = {
    403: "from another page",
    411: "without a length",
    413: "too large",
    421: "for another host",
    429: "too many",
}


@dataclass
class TokenBucket:
    """A token bucket: at most `burst` events at once, and `rate` a second in the long run."""

    rate: float
    burst: float
    level: float = field(init=False)
    at: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        self.level = self.burst

    def take(self) -> bool:
        """Take a token; False if there is none."""
        now = time.monotonic()
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1.0:
            return False
        self.level -= 1.0
        return True


class TokenBuckets:
    """One token bucket for each address; beyond `ADDRESSES`, the ones least recently used are forgotten."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._found: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, address: str) -> bool:
        """Take a token of this address; False if there is none."""
        bucket = self._found.pop(address, None) or TokenBucket(self._rate, self._burst)
        self._found[address] = bucket
        while len(self._found) > ADDRESSES:
            self._found.popitem(last=False)
        return bucket.take()


def origins(host: str, port: int, allowed: Collection[str], secret: str) -> frozenset[str]:
    """The origins that pages may have.

    Raises InputError for text that is no origin, and for a host that others can reach without an allowed origin or a
    secret of at least `SHORTEST` characters.
    """
    for origin in allowed:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query or parts.fragment:
            raise InputError(f"`{origin}` is not an origin", hint="such as https://study.example.org")
    if host in LOOPBACK:
        return frozenset(allowed) | {f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if not allowed:
        raise InputError(f"{host} can be reached by others", hint="--allowed-origin says from which address")
    if len(secret) < SHORTEST:
        hint = f"set OTHERMINDS_SECRET to {SHORTEST} characters or more"
        raise InputError(f"{host} can be reached by others: a secret is needed", hint=hint)
    return frozenset(allowed)


class Keys:
    """The researchers' key, and the sessions opened with it."""

    def __init__(self, secret: str = "") -> None:
        self.key = secret or secrets.token_urlsafe(18)
        self._sessions: set[str] = set()

    def enter(self, key: object) -> str | None:
        """A new session; None if the key is wrong."""
        if not isinstance(key, str) or not hmac.compare_digest(key.encode(), self.key.encode()):
            return None
        session = secrets.token_urlsafe(24)
        self._sessions.add(session)
        return session

    def knows(self, session: str | None) -> bool:
        """Whether the session was opened with the key."""
        return session in self._sessions


class Guard:
    """ASGI middleware that refuses requests from foreign pages, for foreign hosts, too frequent or too large.

    It adds security headers to all responses.
    """

    def __init__(self, app: Any, origins: frozenset[str], *, rate: float = 200.0, burst: float = 2000.0) -> None:
        self.app, self.origins = app, origins
        self.hosts = {urlsplit(origin).netloc for origin in origins}
        self.buckets = TokenBuckets(rate, burst)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request or connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        status = self._refusal(scope, headers)
        if not status:
            await self.app(scope, receive, partial(_send_with_headers, send) if scope["type"] == "http" else send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            body = f'{{"detail": "refused: {REASONS[status]}"}}'.encode()
            about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": about})
            await send({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Any, headers: dict[str, str]) -> int:
        """The HTTP status with which to refuse a request, or 0 to let it pass."""
        if headers.get("host") not in self.hosts:
            return 421
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if changes and headers.get("origin") not in self.origins:
            return 403
        if not headers.get("content-length", "0").isdecimal() or int(headers.get("content-length", "0")) > BODY:
            return 413
        if "transfer-encoding" in headers:
            return 411
        client = scope.get("client") or ("", 0)
        return 0 if self.buckets.take(client[0]) else 429


async def _send_with_headers(send: Any, message: Any) -> None:
    """Send a message of a response, with the security headers that it lacks."""
    if message["type"] == "http.response.start":
        there = {name.lower() for name, _ in message["headers"]}
        fresh = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in there]
        message = {**message, "headers": [*message["headers"], *fresh]}
    await send(message)

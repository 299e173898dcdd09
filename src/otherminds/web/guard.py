"""Access control: origins, hosts, rates and sizes of requests, checked before anything else; researchers' sessions."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Collection
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.websockets import WebSocketClose

from otherminds.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "otherminds"
SHORTEST = 16  # characters of a secret on a server that others can reach; chosen
BODY = 64 * 1024  # bytes of a request; chosen
ADDRESSES = 10_000  # client addresses whose rates are remembered; chosen
SESSION = 12 * 3600  # seconds for which a researcher's session lasts; chosen
# limits for one address: events a second in the long run, and events at once; chosen
GAMES = 1.0, 60.0  # games and episodes
JOIN = 1 / 30  # participants a second; how many at once is a setting, as a class may come from one address
GUESSES = 1 / 10, 30.0  # wrong keys and tokens
NETWORK = 64  # bits of an IPv6 address that name a household; RFC 6177
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


class TokenBucket:
    """A token bucket: at most `burst` events at once, and `rate` a second in the long run.

    `level` is the number of tokens at the time `at`, by the monotonic clock in seconds.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.level, self.at = rate, burst, burst, time.monotonic()

    def take(self) -> bool:
        """Take a token, after adding those for the time since the last call; False if there is none."""
        now = time.monotonic()
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1.0:
            return False
        self.level -= 1.0
        return True


@lru_cache(maxsize=ADDRESSES)
def network(address: str) -> str:
    """The address as limits count it: of IPv6 the network of a household, as somebody has all addresses of theirs."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if ip.version == 4:
        return address
    return str(ip.ipv4_mapped or ip_network((ip, NETWORK), strict=False))


class TokenBuckets:
    """One token bucket for each address; beyond `ADDRESSES`, the ones least recently used are forgotten."""

    def __init__(self, rate: float, burst: float) -> None:
        self._bucket = lru_cache(ADDRESSES)(lambda _: TokenBucket(rate, burst))

    def take(self, address: str) -> bool:
        """Take a token of this address; False if there is none."""
        return self._bucket(network(address)).take()


class Limits:
    """How often one address may begin games and episodes, join studies, and give a wrong key or token."""

    def __init__(self, joins: int) -> None:
        self.games, self.joins, self.guesses = TokenBuckets(*GAMES), TokenBuckets(JOIN, joins), TokenBuckets(*GUESSES)

    def wrong(self, connection: HTTPConnection, status: int, detail: str) -> HTTPException:
        """The refusal of a wrong key or token, which counts; a right one is never refused for those before it."""
        if self.guesses.take(address_of(connection)):
            return HTTPException(status, detail)
        return HTTPException(429, "too many wrong guesses from here: wait a little")


def address_of(connection: HTTPConnection) -> str:
    """The address that a request or connection comes from."""
    return connection.client.host if connection.client else ""


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
    """The researchers' key, and the sessions opened with it, each of which ends after `SESSION` seconds."""

    def __init__(self, secret: str = "") -> None:
        self.key = secret or secrets.token_urlsafe(18)
        self._ends: dict[str, float] = {}

    def enter(self, key: object) -> str | None:
        """The token of a new session; None if the key is wrong. Sessions that have ended are forgotten."""
        if not isinstance(key, str) or not hmac.compare_digest(key.encode(), self.key.encode()):
            return None
        session, now = secrets.token_urlsafe(24), time.monotonic()
        self._ends = {token: end for token, end in self._ends.items() if end > now} | {session: now + SESSION}
        return session

    def knows(self, session: str | None) -> bool:
        """Whether the session was opened with the key, and has not ended."""
        return self._ends.get(session or "", 0.0) > time.monotonic()


class Guard:
    """ASGI middleware that refuses requests from foreign pages, for foreign hosts, too frequent or too large.

    It adds security headers to all responses.
    """

    def __init__(self, app: Any, origins: frozenset[str], *, rate: float = 200.0, burst: float = 2000.0) -> None:
        self.app, self.origins = app, origins
        self.hosts = {urlsplit(origin).netloc for origin in origins}
        self.buckets = TokenBuckets(rate, burst)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on a request or connection, with security headers on its response, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        status = self._refusal(scope, Headers(scope=scope))
        if not status:
            await self.app(scope, receive, partial(_send_with_headers, send))
        elif scope["type"] == "websocket":
            await WebSocketClose(1008)(scope, receive, send)
        else:
            await JSONResponse({"detail": f"refused: {REASONS[status]}"}, status)(scope, receive, send)

    def _refusal(self, scope: Any, headers: Headers) -> int:
        """The HTTP status with which to refuse a request, or 0 to let it pass."""
        if headers.get("host") not in self.hosts:
            return 421
        can_change = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if can_change and headers.get("origin") not in self.origins:
            return 403
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > BODY:
            return 413
        if "transfer-encoding" in headers:
            return 411
        client = scope.get("client") or ("", 0)
        return 0 if self.buckets.take(client[0]) else 429


async def _send_with_headers(send: Any, message: Any) -> None:
    """Send a message of a response, with the security headers that it lacks."""
    if message["type"] == "http.response.start":
        headers = MutableHeaders(scope=message)
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
    await send(message)

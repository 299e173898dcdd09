"""Providers on this machine: every address leads to a scripted server, or is refused."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from otherminds.files.toml import packaged
from otherminds.language import providers


def no_keys(patch: pytest.MonkeyPatch) -> None:
    """An environment without keys, addresses and proxies."""
    for provider in providers.table().provider:
        for name in (*provider.keys, provider.address_from):
            if name:
                patch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        patch.delenv(name, raising=False)
        patch.delenv(name.upper(), raising=False)


def only_here(patch: pytest.MonkeyPatch, hosts: Mapping[str, str] | None = None, *ports: int) -> None:
    """Let connections reach these ports of this machine alone; all others are refused. `hosts` lead there, too."""
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def looked_up(host: Any, *rest: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        local = (hosts or {}).get(name, name)
        if local not in ("127.0.0.1", "localhost", "::1"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(local, *rest, **named)

    def connected(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[1] not in ports:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        connect(self, address)

    patch.setattr(socket, "getaddrinfo", looked_up)
    patch.setattr(socket.socket, "connect", connected)


@contextmanager
def moved(url: str) -> Iterator[Mapping[str, str]]:
    """Give every provider a host of its own, all of which are the server at `url`; the hosts, for `only_here`."""
    table, port = packaged("otherminds.language", "providers.toml"), urlsplit(url).port
    for provider in table["provider"]:
        provider["address"] = f"http://{provider['name']}.localhost:{port}/v1"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "packaged", lambda *_: table)
        providers.table.cache_clear()
        yield {f"{provider['name']}.localhost": "127.0.0.1" for provider in table["provider"]}
    providers.table.cache_clear()

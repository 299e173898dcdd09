"""Providers of language models, as providers.toml lists them: addresses, names of models, variables of keys.

A key belongs to one provider: `key_variables` names the environment variables whose values may go to an address.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import urlsplit

from pydantic import BaseModel

from otherminds.files.toml import packaged

OPENAI = "openai"


class Provider(BaseModel, extra="forbid", frozen=True):
    """A provider with OpenAI's protocol. providers.toml explains the fields."""

    name: str
    aliases: tuple[str, ...] = ()
    address: str
    address_from: str = ""
    keys: tuple[str, ...]
    begins: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    listing: Mapping[str, str] = {"Authorization": "Bearer KEY"}
    lists_all: bool = False
    local: bool = False
    start: str = ""
    get: str = ""

    @property
    def moved(self) -> str:
        """The address that the environment gives, as it is written there; empty if it gives none."""
        return os.environ.get(self.address_from, "").strip() if self.address_from else ""


class OpenWeights(BaseModel, extra="forbid", frozen=True):
    """Beginnings of the names of models with open weights."""

    begins: tuple[str, ...]


class Table(BaseModel, extra="forbid", frozen=True):
    """The content of providers.toml."""

    provider: tuple[Provider, ...]
    open: OpenWeights
    elsewhere: Mapping[str, str]


@cache
def table() -> Table:
    """The table of providers."""
    return Table.model_validate(packaged("otherminds.language", "providers.toml"))


def provider_called(name: str) -> Provider | None:
    """The provider with this name or alias, in any case; None if there is none."""
    plain = name.lower()
    return next((p for p in table().provider if plain in (p.name, *p.aliases)), None)


def default_provider() -> Provider:
    """OpenAI: the provider of servers that are given by their address alone."""
    return next(p for p in table().provider if p.name == OPENAI)


def provider_of(model: str) -> Provider | None:
    """The provider whose models' names begin like this one; None if no beginning fits, or that of open weights."""
    plain = model.lower()
    begins = {begin: p for p in table().provider for begin in p.begins if plain.startswith(begin)}
    longest = max(begins, key=len, default="")
    return None if is_open(model, longer_than=len(longest)) else begins.get(longest)


def is_open(model: str, longer_than: int = 0) -> bool:
    """Whether a name begins like that of a model with open weights, by a beginning of more than so many characters."""
    return any(model.lower().startswith(begin) for begin in table().open.begins if len(begin) > longer_than)


def provider_at(url: str) -> Provider | None:
    """The provider on the internet to whose host an address leads; None for any other address."""
    host = urlsplit(url).hostname
    return next((p for p in table().provider if not p.local and urlsplit(p.address).hostname == host), None)


def key_variables(url: str, provider: Provider | None = None) -> tuple[str, ...]:
    """The environment variables that may hold the key for an address.

    They are those of the provider that is at the address, else of the given one, else OpenAI's.
    """
    return (provider_at(url) or provider or default_provider()).keys


def key_in(variables: Sequence[str]) -> str:
    """The first key that one of these environment variables holds; empty if none does."""
    return next((key for name in variables if (key := os.environ.get(name, "").strip())), "")

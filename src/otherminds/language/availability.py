"""What a language model lacks to be asked: an extra, a key, a server, a model, or weights; found before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

from otherminds.errors import InputError, install_hint, near
from otherminds.language.endpoint import LONGEST_NAME, SHORTEST_SECRET, Endpoint
from otherminds.language.listing import listing
from otherminds.language.model import ModelError
from otherminds.language.model_names import ModelName, OwnObject, Served, model_named
from otherminds.language.providers import key_in, provider_at, table
from otherminds.language.weights import find_weights

LISTED = 10  # models of a server that an error lists; chosen
EXTRAS = {"openai": ("openai", "httpx2"), "embedded": ("xllamacpp",)}
"""The packages that an extra brings."""


def missing(spec: str) -> list[str]:
    """What a language model lacks to be asked now, each with the line to type; empty if it lacks nothing.

    That is an extra, a key, a server that answers, a model that the server has, or weights. A provider is contacted
    only if its key is there, and only for its list of models; a server on this machine always. Takes 1.5 s at most.
    Raises InputError for a name that means no model.
    """
    return _looked_at(model_named(spec))[1]


def check_model(spec: str, *, asks: bool = True) -> str:
    """The name of a model in full, with the only model of its server filled in.

    Raises InputError for a name that means none and, in one line, with all that is missing; without `asks` (for a
    replay) only if a server has to say which model it has.
    """
    name = model_named(spec)
    if asks or (isinstance(name, Served) and not name.model):
        name, lacks = _looked_at(name)
        if lacks:
            raise ModelError(f"{spec[:LONGEST_NAME]} cannot be asked: {'; '.join(lacks)}")
    return str(name)


def _looked_at(name: ModelName) -> tuple[ModelName, list[str]]:
    """The name with the only model of its server filled in, and what is missing."""
    if isinstance(name, OwnObject):
        return name, []
    lacks = _missing_extra("openai" if isinstance(name, Served) else "embedded")
    if isinstance(name, Served):
        name, lack = _asked_for_models(name)
        return name, [*lacks, *([lack] if lack else [])]
    try:
        find_weights(name.weights)
    except InputError as error:
        lacks.append(str(error))
    return name, lacks


def _asked_for_models(name: Served) -> tuple[Served, str]:
    """The name with the only model of its server filled in, and what is missing there; empty if nothing is."""
    provider, url, variables = name.provider, name.address, " and ".join(name.keys)
    is_local, key = Endpoint(name.model or "any", url).is_local, key_in(name.keys)
    if not (is_local or key):
        return name, f"there is no key for {_place(name)} (export {name.keys[0]}=…)"
    if not key.isascii() or not key.isprintable() or " " in key:
        return name, f"the key has characters that no key has (look at {variables})"
    headers = {header: text.replace("KEY", key or "none") for header, text in provider.listing.items()}
    listed = listing(url, headers, name.model, is_local=is_local)
    # a server may repeat the key wherever it likes
    names = tuple(model for model in listed.names if len(key) < SHORTEST_SECRET or key not in model)
    if listed.unreachable:
        return name, f"no server answers at {url}: {listed.fault} ({_start(name)})"
    if listed.refuses_key:
        return name, f"{_place(name)} refuses the key (look at {variables})"
    if not name.model and len(names) == 1:
        return replace(name, model=names[0]), ""
    if not name.model:
        return name, _which(name, names, listed.fault)
    # no list is taken for complete that is empty, or comes from a server that nobody has described
    is_complete = bool(names) and provider.lists_all and (is_local or provider_at(url) is not None)
    return name, _no_such_model(name, names) if is_complete and not listed.has_model else ""


def _missing_extra(extra: str) -> list[str]:
    present = all(find_spec(package) for package in EXTRAS[extra])
    return [] if present else [f"an extra is not installed ({install_hint(extra)})"]


def _start(name: Served) -> str:
    """How to start the server of a model."""
    usual = next((provider for provider in table().provider if provider.address == name.address), name.provider)
    return usual.start.replace("MODEL", name.model or "MODEL") or "start it, or look at the address"


def _place(name: Served) -> str:
    """A provider by its name, any other server by its address."""
    return name.url or name.provider.name


def _which(name: Served, names: Sequence[str], fault: str) -> str:
    """The question which model of a server is meant, with the names that it lists."""
    if not names:
        return f"{name.address} does not say which models it has: {fault} (name one: MODEL@{name.address})"
    example = replace(name, model=names[0])
    return f"{name.address} has {len(names):,} models: {_shown(names)} (name one: {example})"


def _no_such_model(name: Served, names: Sequence[str]) -> str:
    longer = [candidate for candidate in names if candidate.startswith(name.model)]
    close = [str(replace(name, model=candidate)) for candidate in longer[:2] or near(name.model, names)]
    hint = f"did you mean {' or '.join(close)}?" if close else f"it has {_shown(names)}"
    get = name.provider.get.replace("MODEL", name.model)
    return f"{_place(name)} has no model `{name.model}` ({hint}{'; ' if get else ''}{get})"


def _shown(names: Sequence[str]) -> str:
    """The first names of models, with an ellipsis if there are more."""
    return ", ".join([*names[:LISTED], *(["…"] if len(names) > LISTED else [])])

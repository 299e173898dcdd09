"""Names of language models as people type them: `gpt-4o`, `groq/NAME`, `ollama:NAME`, an address, `embedded`, …

`model_named` says what a name means, without asking or importing anything. The text of its result is the name in full:
every part of the library understands it, and it means the same when a run is resumed elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from otherminds.errors import InputError, near
from otherminds.language.endpoint import ADDRESS, WRITTEN, Endpoint
from otherminds.language.providers import (
    Provider,
    default_provider,
    is_open,
    key_variables,
    provider_at,
    provider_called,
    provider_of,
    table,
)
from otherminds.language.weights import pinned_models

DEFAULT = "smollm2"  # the smallest pinned model
EMBEDDED = "embedded"
WAYS = "gpt-4o, PROVIDER/MODEL, ollama:MODEL, an address, MODEL@URL, embedded, module:object"
NO_SCHEME = "the address of an endpoint begins with http:// or https://"
SHORTEST = 3  # characters of a name's beginning that is completed in a hint; chosen
SHOWN = 80  # characters of a name in an error; chosen
LOCAL = re.compile(r"(localhost|127\.0\.0\.1|0\.0\.0\.0)(:[0-9]{1,5})?(/.*)?", re.DOTALL)
WEB = ("http://", "https://")
EVERYWHERE = re.compile(r"(?<=//)0\.0\.0\.0(?=[:/]|$)")  # where a server listens, and not where it is reached
PATHS = ("/chat/completions", "/completions", "/models")  # ends of addresses of calls, which people copy with the rest


class UnknownModelError(InputError):
    """A name that means no language model, nor anything close to one."""


@dataclass(frozen=True)
class InProcess:
    """A model within this process: pinned weights by their name, or a GGUF file by its path."""

    weights: str

    def __str__(self) -> str:
        return f"{EMBEDDED}:{self.weights}"


@dataclass(frozen=True)
class Served:
    """A model on a server. `model` is empty for the only one there, `url` for the provider's own address."""

    provider: Provider
    model: str
    url: str = ""

    def __str__(self) -> str:
        return f"{self.provider.name}:{self.model}" + (f"@{self.url}" if self.url else "")

    @property
    def address(self) -> str:
        """Where the server is."""
        return self.url or self.provider.address

    @property
    def keys(self) -> tuple[str, ...]:
        """The environment variables whose values may be sent to it as a key."""
        return key_variables(self.address, self.provider)

    def endpoint(self) -> Endpoint:
        """The endpoint to ask. Raises InputError for a name or an address that cannot be one."""
        return Endpoint(self.model, self.address, keys=self.keys)


@dataclass(frozen=True)
class OwnObject:
    """The user's own object, as `module:object`."""

    spec: str

    def __str__(self) -> str:
        return self.spec


ModelName = InProcess | Served | OwnObject


def model_named(spec: str) -> ModelName:
    """What a name means. Raises InputError that says what may have been meant, UnknownModelError if that is open."""
    model, *urls = ADDRESS.split(spec, maxsplit=1)
    if urls:
        head, colon, rest = model.partition(":")
        provider = provider_called(head) if colon else None
        return _at(urls[0], rest if provider else model, provider or default_provider())
    if spec.lower().startswith(WEB):
        return _at(spec, "", default_provider())
    if LOCAL.fullmatch(spec):
        return _at(f"http://{spec}", "", default_provider())
    head, separator, rest = _split(spec)
    if head.lower() == EMBEDDED:
        return _in_process(rest or DEFAULT)
    for name in (head, *([_split(rest)[0]] if separator == "/" else [])):  # Inspect writes openai/azure/NAME
        if remedy := table().elsewhere.get(name.lower().removesuffix("ai")):
            raise InputError(f"{name[:SHOWN]} cannot be asked", hint=remedy)
    if provider := provider_called(head):
        return _of_provider(provider, rest, spec)
    return _alone(spec)


def is_model(spec: str) -> bool:
    """Whether a name means a language model in the process or on a server."""
    try:
        return not isinstance(model_named(spec), OwnObject)
    except InputError:
        return False


def served(spec: str) -> Served | None:
    """The model on a server that a name means; None for any other name."""
    name = model_named(spec) if is_model(spec) else None
    return name if isinstance(name, Served) else None


def well_known() -> dict[str, str]:
    """Names of models and of local servers as people may have meant them, each with the name in full, for hints."""
    pinned = {model.name: f"{EMBEDDED}:{model.name}" for model in pinned_models()}
    providers = table().provider
    hosted = {name: name for provider in providers for name in provider.models}
    return {EMBEDDED: EMBEDDED} | pinned | hosted | {provider.name: provider.name for provider in providers}


def _split(spec: str) -> tuple[str, str, str]:
    """The text before the first colon or slash, that sign, and the rest."""
    head = re.split("[:/]", spec, maxsplit=1)[0]
    return head, spec[len(head) : len(head) + 1], spec[len(head) + 1 :]


def _at(url: str, model: str, provider: Provider) -> Served:
    """A model at an address, which may lack /v1 or end in the path of a call."""
    url = EVERYWHERE.sub("127.0.0.1", url)
    Endpoint(model or "any", url)  # raises InputError for a wrong address, without repeating a password in it
    owner = provider_at(url)
    if not (owner or provider.local or provider == default_provider()):
        hint = f"{provider.name}/MODEL is at {provider.address}; a model of any other server is MODEL@URL"
        raise InputError(f"{provider.name} has an address of its own", hint=hint)
    url = url.rstrip("/")
    for path in PATHS:
        url = url.removesuffix(path).rstrip("/")
    if not urlsplit(url).path:
        url = owner.address if owner else f"{url}/v1"
    provider = owner or provider
    can_be_left_out = bool(model or provider.local) and "@" not in model[1:]
    is_usual = url == provider.address and not provider.moved
    return Served(provider, model, "" if is_usual and can_be_left_out else url)


def _in_process(weights: str) -> InProcess:
    """Pinned weights or a file within the process. Raises InputError for the name of no pinned weights."""
    names = [model.name for model in pinned_models()]
    if weights in names or weights.endswith(".gguf"):
        return InProcess(weights)
    close = near(weights[:SHOWN], names)
    meant = f"did you mean {EMBEDDED}:{close[0]}?" if close else f"there is {', '.join(names)}, or any file in .gguf"
    raise InputError(f"there is no model `{weights[:SHOWN]}`", hint=meant)


def _of_provider(provider: Provider, rest: str, spec: str) -> Served:
    """A model of a provider, or the only one of a server on this machine."""
    if rest.lower().startswith(WEB):
        return _at(rest, "", provider)
    if not rest and not provider.local:
        example = f", such as {provider.name}/{provider.models[0]}" if provider.models else ""
        also = f", or ollama:{spec}" if is_open(f"{spec}:") else ""
        raise InputError(
            f"`{spec[:SHOWN]}` names no language model", hint=f"write {provider.name}/MODEL{example}{also}"
        )
    if "@" in rest[1:]:
        raise InputError(NO_SCHEME, hint=WRITTEN)
    if provider.moved:
        moved = provider.moved if "://" in provider.moved else f"http://{provider.moved}"
        return _at(moved, rest, provider)
    served = Served(provider, rest)
    if rest:
        served.endpoint()
    return served


def _alone(spec: str) -> ModelName:
    """What a name without a provider means: a file, a pinned model, an object, or a model known by its beginning."""
    module, colon, name = spec.partition(":")
    if spec.endswith(".gguf") or spec in (pinned.name for pinned in pinned_models()):
        return InProcess(spec)
    if "@" in spec[1:]:
        raise InputError(NO_SCHEME, hint=WRITTEN)
    if colon and all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        return OwnObject(spec)
    if "/" not in spec and (provider := provider_of(spec)):
        return _of_provider(provider, spec, spec)
    if "/" not in spec and is_open(spec):
        hint = f"say which: ollama:{spec[:SHOWN]}, groq/MODEL, hf/MODEL, openrouter/MODEL, or MODEL@URL of any other"
        raise InputError(f"`{spec[:SHOWN]}` is offered by many servers", hint=hint)
    if colon and name:
        return OwnObject(spec)
    if "/" in spec:
        raise _on_a_hub(spec)
    names = well_known()
    longer = [name for name in names if len(spec) >= SHORTEST and name.startswith(spec.lower())]
    close = [names[name] for name in near(spec[:SHOWN], names) or longer[:2]]
    hint = f"did you mean {' or '.join(close)}?" if close else f"there is {WAYS}"
    raise UnknownModelError(f"`{spec[:SHOWN]}` names no language model", hint=hint)


def _on_a_hub(spec: str) -> InputError:
    """The error for `owner/model` without a provider, or with one that is misspelt."""
    head = spec.partition("/")[0]
    names = [provider.name for provider in table().provider]
    close = [name for name in near(head[:SHOWN], names) if abs(len(name) - len(head)) <= 1]
    rest = spec[len(head) + 1 :][:SHOWN]
    if close:
        hint = f"did you mean {close[0]}/{rest}?"
    else:
        hint = f"say which server has it: hf/{spec[:SHOWN]}, vllm/…, together/…, openrouter/…, or MODEL@URL"
    return InputError(f"{head[:SHOWN]} is no provider of models", hint=hint)

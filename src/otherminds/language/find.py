"""Finding the language model that a specification names: `embedded`, `openai:MODEL@URL` or `module:object`."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import Any

from otherminds.errors import InputError, meant, near
from otherminds.language.embedded import Embedded
from otherminds.language.endpoint import Endpoint
from otherminds.language.model import Continuations, LanguageModel, Reply, Request, Scores
from otherminds.language.scripted import Scripted, text_of
from otherminds.language.weights import find_weights

DEFAULT = "smollm2"  # the smallest pinned model
WAYS = "embedded, embedded:NAME, embedded:FILE.gguf, openai:MODEL@URL or module:object"
LIBRARY = Path(__file__).parents[1]
LONGEST_NAME = 200  # characters of a name, an identity or an error message; chosen


def find_model(spec: str) -> LanguageModel:
    """The language model that a specification names.

    `embedded` runs within the process, by default the smallest pinned model; `openai:` is any OpenAI-compatible
    server; `module:object` is the user's own object, found from the current folder: a language model, or a function
    from text to text. Raises InputError for an unknown specification, ModelError for a model that cannot be used.
    """
    kind, colon, rest = spec.partition(":")
    if kind == "embedded":
        return Embedded(find_weights(rest or DEFAULT))
    if kind == "openai" and rest:
        return Endpoint.parse(rest)
    if not colon or not rest:
        hint = meant(kind, ["embedded"]) if near(kind, ["embedded"]) else WAYS
        raise InputError(f"`{spec[:80]}` names no language model", hint=hint)
    return as_model(load(spec), spec)


def load(spec: str) -> Any:
    """The object that `module:object` names. Raises InputError if it cannot be imported or does not exist."""
    module, _, name = spec.partition(":")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        target: Any = import_module(module)
    except ImportError as error:
        hint = "write module:object, in the folder of module.py"
        raise InputError(f"`{module[:80]}` cannot be imported: {error}", hint=hint) from None
    except (Exception, SystemExit) as error:  # importing runs the module, which may raise anything
        raise _broken(f"`{module[:80]}` cannot be imported", error) from error
    for part in name.split("."):
        if not hasattr(target, part):
            close = ", ".join(near(part, [attribute for attribute in dir(target) if not attribute.startswith("_")]))
            raise InputError(f"`{module[:80]}` has no `{name[:80]}`", hint=close and f"did you mean {close}?")
        target = getattr(target, part)
    return target


def as_model(candidate: Any, name: str) -> LanguageModel:
    """A user's language model, or function from text to text, as a model whose errors are InputErrors of one line.

    Raises InputError for any other object.
    """
    if isclass(candidate):
        raise InputError(f"{name} is a class", hint="name an object of it")
    if all(hasattr(candidate, part) for part in ("name", "identity", "complete", "score")):
        return _Own(_checked(candidate.name, name), _checked(candidate.identity, name), candidate)
    if callable(candidate):
        answer: Callable[[str], str] = candidate
        scripted = Scripted(name, lambda request: answer(text_of(request)))
        return _Own(scripted.name, scripted.identity, scripted)
    raise InputError(f"{name} is neither a language model nor a function from text to text")


def _checked(identifier: object, name: str) -> str:
    if not isinstance(identifier, str) or not identifier.isprintable() or not 0 < len(identifier) <= LONGEST_NAME:
        hint = f"both have 1 to {LONGEST_NAME} printable characters"
        raise InputError(f"{name} is a language model without a name and an identity", hint=hint)
    return identifier


@dataclass(frozen=True)
class _Own:
    """A user's language model, whose errors are reported as such."""

    name: str
    identity: str
    model: LanguageModel

    def complete(self, request: Request) -> Reply:
        with blamed(self.name):
            return self.model.complete(request)

    def score(self, request: Continuations) -> Scores:
        with blamed(self.name):
            return self.model.score(request)


@contextmanager
def blamed(name: str) -> Iterator[None]:
    """Turn any exception from a user's code into an InputError with the place in that code."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise _broken(f"{name} broke", error) from error


def _broken(what: str, error: BaseException) -> InputError:
    """The error for an exception in a user's code, at the last line of that code in the traceback, if any."""
    message = " ".join(str(error).split())[:LONGEST_NAME]
    place: tuple[str | None, int | None] = (None, None)
    for frame in traceback.extract_tb(error.__traceback__):
        file = Path(frame.filename)
        foreign = {Path(os.__file__).parent, LIBRARY} & set(file.parents)  # Python's own files, and this library's
        if file.is_file() and "site-packages" not in file.parts and not foreign:
            place = frame.filename, frame.lineno
    path, line = place
    return InputError(f"{what}: {type(error).__name__}" + (f": {message}" if message else ""), path=path, line=line)

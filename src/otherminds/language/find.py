"""Finding the language model that a name means, and the user's own models."""

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

from otherminds.errors import InputError, near
from otherminds.language.availability import check_model
from otherminds.language.embedded import Embedded
from otherminds.language.model import Continuations, LanguageModel, Reply, Request, Scores
from otherminds.language.model_names import InProcess, OwnObject, Served, is_model, model_named
from otherminds.language.providers import table
from otherminds.language.scripted import Scripted, text_of
from otherminds.language.weights import find_weights

LIBRARY = Path(__file__).parents[1]
LONGEST_NAME = 200  # characters of a name, an identity or an error message; chosen


def find_model(spec: str) -> LanguageModel:
    """The language model that a name means, as docs/use/models.md describes them.

    It is a model of a provider (`gpt-4o`, `groq/NAME`), on a server (`ollama:NAME`, an address, `NAME@URL`), within the
    process (`embedded`), or the user's own object (`module:object`), found from the current folder: a language model,
    or a function from text to text. A server is asked only for its models, and only if the name leaves out which.
    Raises InputError for a name that means none, ModelError for a model that cannot be used.
    """
    name = model_named(spec)
    if isinstance(name, InProcess):
        return Embedded(find_weights(name.weights))
    if isinstance(name, OwnObject):
        return as_model(load(spec), spec)
    complete = name if name.model else model_named(check_model(spec))
    assert isinstance(complete, Served)
    return complete.endpoint()


def load(spec: str) -> Any:
    """The object that `module:object` or `file.py:object` names, or the model if the first part is a provider's name.

    Raises InputError if it cannot be imported or does not exist.
    """
    if is_model(spec):
        return find_model(spec)
    module, _, name = spec.partition(":")
    folder = os.getcwd()
    if module.endswith(".py"):
        folder, module = os.path.dirname(os.path.abspath(module)), Path(module).stem
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        target: Any = import_module(module)
    except ImportError as error:
        providers = near(module[:LONGEST_NAME], [provider.name for provider in table().provider])
        meant = f"; did you mean {providers[0]}:{name[:LONGEST_NAME]}?" if providers else ""
        hint = f"write module:object, in the folder of module.py{meant}"
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

"""Language models by what people type: `embedded`, `openai:MODEL@URL`, `module:object`."""

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
from otherminds.language.weights import find

DEFAULT = "smollm2"
WAYS = "embedded, embedded:NAME, embedded:FILE.gguf, openai:MODEL@URL or module:object"
LIBRARY = Path(__file__).parents[1]
LONGEST_NAME = 200


def find_model(spec: str) -> LanguageModel:
    """The model that a text names.

    `embedded` runs within the process, by default the smallest pinned model; `openai:` is any OpenAI-compatible
    server; `module:object` is an object of one's own, found from the current folder: a language model, or a function
    from text to text. Raises InputError for what names none, ModelError for what cannot be used.
    """
    kind, colon, rest = spec.partition(":")
    if kind == "embedded":
        return Embedded(find(rest or DEFAULT))
    if kind == "openai" and rest:
        return Endpoint.parse(rest)
    if not colon or not rest:
        hint = meant(kind, ["embedded"]) if near(kind, ["embedded"]) else WAYS
        raise InputError(f"`{spec[:80]}` names no language model", hint=hint)
    return as_model(load(spec), spec)


def load(spec: str) -> Any:
    """The object that `module:object` names. Raises InputError if there is none."""
    module, _, name = spec.partition(":")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise InputError(f"`{module[:80]}` cannot be imported: {error}", hint=WAYS) from None
    except (Exception, SystemExit) as error:  # to import is to run, and anything can go wrong there
        raise _broken(f"`{module[:80]}` cannot be imported", error) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"`{module[:80]}` has no `{name[:80]}`", hint=WAYS)
        found = getattr(found, part)
    return found


def as_model(found: Any, name: str) -> LanguageModel:
    """A language model as it is, or a function from text to text as one. Raises InputError for anything else.

    What goes wrong in it is told in one line.
    """
    if isclass(found):
        raise InputError(f"{name} is a class", hint="name an object of it")
    if all(hasattr(found, part) for part in ("name", "identity", "complete", "score")):
        return _Own(_checked(found.name, name), _checked(found.identity, name), found)
    if callable(found):
        answer: Callable[[str], str] = found

        def write(request: Request) -> str:
            return answer(text_of(request))

        written = Scripted(name, write)
        return _Own(written.name, written.identity, written)
    raise InputError(f"{name} is neither a language model nor a function from text to text")


def _checked(found: object, name: str) -> str:
    if not isinstance(found, str) or not found.isprintable() or not 0 < len(found) <= LONGEST_NAME:
        wanted = f"both have 1 to {LONGEST_NAME} printable characters"
        raise InputError(f"{name} is a language model without a name and an identity", hint=wanted)
    return found


@dataclass(frozen=True)
class _Own:
    """A language model of somebody's own."""

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
    """Whatever goes wrong in somebody's own code is an InputError, with the place in that code."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise _broken(f"{name} broke", error) from error


def _broken(what: str, error: BaseException) -> InputError:
    """What went wrong in code that is not the library's, and where in that code it was, if it was there."""
    said = " ".join(str(error).split())[:LONGEST_NAME]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(Path(frame.filename))]
    path, line = (frames[-1].filename, frames[-1].lineno) if frames else (None, None)
    return InputError(f"{what}: {type(error).__name__}" + (f": {said}" if said else ""), path=path, line=line)


def _is_own(path: Path) -> bool:
    """Whether a file is neither Python's, nor this library's, nor an installed one's."""
    others = (Path(os.__file__).parent, LIBRARY)
    return path.is_file() and "site-packages" not in path.parts and not any(p in path.parents for p in others)

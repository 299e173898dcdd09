"""How a reply of a language model is recorded, and the form that a structured reply must have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from otherminds.language.model import NOTHING, Usage
from otherminds.language.replies import Unreadable, read_json, unreadable

M = TypeVar("M", bound=BaseModel)


class Exchange(NamedTuple):
    """One reply: what was asked, what was made of it, and the reply itself; for scores, the probabilities."""

    purpose: str
    reading: str
    text: str
    usage: Usage = NOTHING
    readable: bool = True


@dataclass(frozen=True)
class ReplyForm(Generic[M]):
    """A kind of reply: the JSON schema that it has to follow, and what is wrong with one that does, if anything."""

    schema: str
    kind: type[M]
    fault: Callable[[M], str | None]

    def read(self, text: str) -> M | Unreadable:
        """A reply as a value, if it has the form and its content is about the story."""
        found = read_json(text, self.kind)
        if isinstance(found, Unreadable):
            return found
        fault = self.fault(found)
        return unreadable(fault, text) if fault else found

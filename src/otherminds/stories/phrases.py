"""Noun phrases, verb groups and other small pieces of a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from otherminds.stories.clauses import Clause

NounKind = Literal["agent", "pronoun", "object", "place", "room", "one", "vague"]
WordKind = Literal["prep", "mark", "adverb", "negation", "hedge", "comma", "colon", "unknown"]


@dataclass
class Noun:
    """A noun phrase. `words` are in standard form, without articles; `room` is the one it is said to be in."""

    kind: NounKind
    words: tuple[str, ...]
    start: int
    end: int
    det: str = ""
    owner: str = ""
    room: str = ""
    ordinal: str = ""
    known: bool = True
    clauses: list[Clause] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words as one text."""
        return " ".join(self.words)


@dataclass
class VerbGroup:
    """A verb with its auxiliaries: "had already been opened"."""

    lemma: str
    senses: tuple[str, ...]
    tags: frozenset[str]
    start: int
    end: int
    negated: bool = False
    unreal: bool = False
    perfect: bool = False
    passive: bool = False
    hedged: bool = False
    finite: bool = True
    particle: str = ""
    progressive: bool = False
    wish: bool = False
    about_to: bool = False
    ended: bool = False

    def means(self, *senses: str) -> bool:
        """Whether the verb can have one of the senses."""
        return any(sense in self.senses for sense in senses)


@dataclass
class Word:
    """Any other word or mark."""

    kind: WordKind
    text: str
    start: int
    end: int


@dataclass
class Quote:
    """Direct speech."""

    text: str
    start: int
    end: int


Chunk = Noun | VerbGroup | Word | Quote

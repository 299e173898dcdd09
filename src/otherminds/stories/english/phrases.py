"""What sentences are made of: noun phrases, verb groups, small words, quotes, and clauses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
    wish: bool = False
    about_to: bool = False

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


@dataclass
class Clause:
    """One verb with its subject, objects and prepositional phrases; without a verb it could not be read."""

    start: int
    end: int
    verb: VerbGroup | None = None
    link: str = ""
    subjects: list[Noun] = field(default_factory=list)
    objects: list[Noun] = field(default_factory=list)
    places: list[tuple[str, Noun]] = field(default_factory=list)
    adverbs: list[str] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    content: list[Clause] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    antecedent: Noun | None = None
    hedged: bool = False

    def means(self, *senses: str) -> bool:
        """Whether its verb can have one of the senses."""
        return self.verb is not None and self.verb.means(*senses)


Chunk = Noun | VerbGroup | Word | Quote

"""Looking ahead among the pieces of a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Chunk, Clause, Noun, VerbGroup, Word

FRONTED = wordset("fronted")


class Cursor(ABC):
    """A place among the pieces of a sentence, and what can be seen from it."""

    def __init__(self, pieces: Sequence[Chunk]) -> None:
        self.pieces = pieces
        self.i = 0
        self.out: list[Clause] = []
        self.depth = 0

    @abstractmethod
    def clause(self) -> Clause | None:
        """Reads the next clause."""

    @abstractmethod
    def arguments(self, clause: Clause, *, bare: bool = False) -> None:
        """Reads what follows the verb of a clause."""

    def peek(self, ahead: int = 0) -> Chunk | None:
        """The piece so far ahead, if there is one."""
        place = self.i + ahead
        return self.pieces[place] if place < len(self.pieces) else None

    def at(self, kind: str, *texts: str, ahead: int = 0) -> bool:
        """Whether a word of a kind, and one of these texts if any are given, is so far ahead."""
        piece = self.peek(ahead)
        return isinstance(piece, Word) and piece.kind == kind and (not texts or piece.text in texts)

    def last_noun(self) -> Noun | None:
        """The noun before this place."""
        return next((one for one in reversed(self.pieces[: self.i]) if isinstance(one, Noun)), None)

    def adverbs_from(self, ahead: int) -> list[int]:
        """How far ahead the adverbs are that stand there one after the other."""
        found = []
        while self.at("adverb", ahead=ahead) or self.at("hedge", ahead=ahead):
            found.append(ahead)
            ahead += 1
        return found

    def verb_after(self, ahead: int) -> bool:
        """Whether a verb comes there, perhaps after adverbs."""
        while self.at("adverb", ahead=ahead) or self.at("hedge", ahead=ahead):
            ahead += 1
        if self.at("comma", ahead=ahead) and self.at("mark", "who", ahead=ahead + 1):
            return True
        return isinstance(self.peek(ahead), VerbGroup)

    def listed(self) -> bool:
        """Whether a comma goes on with a list of names: "Ann, Bob and Cid"."""
        ahead = 1
        while isinstance(self.peek(ahead), Noun):
            if self.at("mark", "and", ahead=ahead + 1) and isinstance(self.peek(ahead + 2), Noun):
                return True
            if not self.at("comma", ahead=ahead + 1):
                return False
            ahead += 3 if self.at("mark", "and", ahead=ahead + 2) and isinstance(self.peek(ahead + 3), Noun) else 2
        return False

    def listed_subject(self, ahead: int) -> bool:
        """Whether nouns from here on are the subject of another verb."""
        while isinstance(self.peek(ahead), Noun):
            ahead += 1
            if self.verb_after(ahead):
                return True
            if isinstance(self.peek(ahead), Noun):
                return False
            if self.at("comma", ahead=ahead):
                ahead += 1
            if self.at("mark", "and", ahead=ahead):
                ahead += 1
        return False

    def fronted(self, ahead: int, prep: Word) -> bool:
        """Whether a prepositional phrase belongs to the next subject: ", in the hall Ann opened the box"."""
        after = ahead + 2
        after += self.at("comma", ahead=after)
        return prep.text in FRONTED and isinstance(self.peek(after), Noun) and self.verb_after(after + 1)

    def gap_ahead(self, clause: Clause, ahead: int) -> bool:
        """Whether the verb is to be thought of again: "put the fork on the table and the knife in the drawer"."""
        noun = self.peek(ahead)
        thing = isinstance(noun, Noun) and noun.kind in ("object", "pronoun", "one", "vague")
        places = any(prep not in ("with", "of") for prep, _ in clause.places)
        return thing and places and clause.means("put", "move", "grab") and self.at("prep", ahead=ahead + 1)

    def told_before(self, ahead: int) -> bool:
        """Whether a "where ..." tells of something that happened before: it has "had" or "previously" in it."""
        verb = self.peek(ahead + 1 + len(self.adverbs_from(ahead + 1)))
        if isinstance(verb, VerbGroup) and verb.perfect:
            return True
        for k in range(ahead, ahead + 8):
            piece = self.peek(k)
            if piece is None or (isinstance(piece, Word) and piece.kind in ("comma", "mark") and k > ahead):
                return False
            if isinstance(piece, Word) and piece.text in ("previously", "earlier", "before", "originally"):
                return True
        return False

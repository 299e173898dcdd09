"""Cutting the tokens of a sentence into noun phrases, verb groups and other small pieces."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.nouns import ORDINALS
from otherminds.stories.english.phrases import Chunk, Noun, Quote, VerbGroup, Word, WordKind
from otherminds.stories.english.sentences import Token
from otherminds.stories.english.verbs import Verbs

MARKS = wordset("marks")


class Chunker(Verbs):
    """Cuts one sentence into pieces."""

    def chunks(self) -> list[Chunk]:
        """The pieces in order."""
        out: list[Chunk] = []
        i = 0
        while i < len(self.tokens):
            i = i + 1 if i in self.taken else self._next(i, out)
        return out

    def _next(self, i: int, out: list[Chunk]) -> int:
        token = self.tokens[i]
        if token.quote:
            out.append(Quote(token.text, token.start, token.end))
            return i + 1
        if not token.text[0].isalnum() and token.low not in ("'s", "n't"):
            kinds: dict[str, WordKind] = {",": "comma", "-": "comma", ":": "colon"}
            if token.text in kinds:
                out.append(Word(kinds[token.text], token.text, token.start, token.end))
            return i + 1
        for read in (self._filler, self._preposition, self._verb, self._noun, self._particle):
            end = read(i, out)
            if end > i:
                return end
        kind: WordKind = "adverb" if token.low.endswith("ly") else "unknown"
        self._add(out, kind, i, i + 1)
        return i + 1

    def _add(self, out: list[Chunk], kind: WordKind, i: int, end: int, text: str = "") -> None:
        text = text or " ".join(self.words[i:end])
        out.append(Word(kind, text, self.tokens[i].start, self.tokens[end - 1].end))

    def _filler(self, i: int, out: list[Chunk]) -> int:
        for phrase in self.known.fillers.get(self.word(i), ()):
            if tuple(self.words[i : i + len(phrase)]) == phrase and not self._needs_more(phrase, i + len(phrase)):
                text = "nowhere" if phrase[0] in ("nowhere", "not") else ""
                self._add(out, "adverb", i, i + len(phrase), text)
                return i + len(phrase)
        return i

    def _needs_more(self, phrase: tuple[str, ...], end: int) -> bool:
        """Whether an idiom that ends in a preposition, or in "her", goes on with a noun and is none here."""
        if phrase[-1] in self.known.sets["possessives"]:
            return self._continues(end)
        return phrase[-1] in ("inside", "within", "behind", "after", "this", "that", "there") and self.starts_noun(end)

    def _preposition(self, i: int, out: list[Chunk]) -> int:
        word = self.word(i)
        for phrase, meaning in self.known.long_prepositions:
            end = i + len(phrase)
            if word == phrase[0] and tuple(self.words[i:end]) == phrase and self._governs(end, meaning):
                self._add(out, "prep", i, end, meaning)
                return end
        if word == "to" and self._infinitive(i + 1):
            self._add(out, "mark", i, i + 1)
            return i + 1
        if word in self.known.sets["prepositions"] and self._governs(i + 1, word):
            kind: WordKind = "mark" if word in MARKS else "prep"
            self._add(out, kind, i, i + 1)
            return i + 1
        return i

    def _governs(self, i: int, preposition: str) -> bool:
        """Whether a noun follows, or the -ing form of a verb."""
        if preposition in ("without", "instead"):
            return self.is_ing(i) or self.word(i) == "being" or self.starts_noun(i)
        if preposition in MARKS or preposition == "because":
            return True
        while self.word(i) in ("both", "either", "just", "right", "exactly", "only", "even"):
            i += 1
        word = self.word(i)
        if word in ("where", "what", "which", "there", "here", "inside"):
            return preposition in ("about", "of", "from", "in", "to", "for")
        if word == "not" or (word in self.known.sets["adverbs"] and not self.starts_noun(i)):
            return False
        return bool(word) and (self.starts_noun(i) or self.is_ing(i))

    def _infinitive(self, i: int) -> bool:
        while self.word(i) in self.known.sets["adverbs"] or self.word(i).endswith("ly") or self.word(i) == "not":
            if self.word(i) in ("left", "open"):
                break
            i += 1
        word = self.word(i) if i < len(self.tokens) and self.tokens[i].text not in self.names else ""
        if word in ("be", "have", "do"):
            return True
        verb = self.known.verb_at(self.words, i) if word else None
        return verb is not None and "base" in verb.tags and word not in self.known.common_nouns

    def _verb(self, i: int, out: list[Chunk]) -> int:
        found = self.group(i, out)
        if found is None:
            return i
        group, end = found
        out.append(group)
        return end

    def _noun(self, i: int, out: list[Chunk]) -> int:
        before = out[-1] if out else None
        if i == 0 and self.word(0) in ORDINALS and self.word(1) == ",":
            self._add(out, "adverb", 0, 1)
            return 1
        if self.both_of_them(i) or (self.word(i) == "that" and not self._pointing(i, before)):
            return i
        if self.word(i) in ("which", "what", "first", "no") and self.verb_follows(i + 1):
            return i
        governed = (isinstance(before, Word) and before.kind == "prep") or isinstance(before, VerbGroup)
        if not self.starts_noun(i):
            return i
        found = self.at(i, bare=governed)
        if found is None:
            return i
        noun, end = found
        out.append(noun)
        return end

    def _pointing(self, i: int, before: Chunk | None) -> bool:
        """Whether "that" points at something: "that spoon"."""
        if isinstance(before, (Noun, Quote)) or (
            isinstance(before, VerbGroup) and before.means("say", "see", "think", "ask", "find", "want")
        ):
            return False
        word = self.word(i + 1)
        return bool(word) and word not in self.boundary and self.tokens[i + 1].text not in self.names

    def _particle(self, i: int, out: list[Chunk]) -> int:
        word = self.word(i)
        kinds: tuple[tuple[WordKind, frozenset[str]], ...] = (
            ("mark", MARKS),
            ("negation", self.known.sets["negations"]),
            ("hedge", self.known.sets["hedges"]),
            ("adverb", self.known.sets["adverbs"] | self.known.sets["before_now"]),
            ("adverb", self.known.sets["prepositions"]),
        )
        for kind, words in kinds:
            if word in words:
                self._add(out, kind, i, i + 1)
                return i + 1
        return i


def chunks(found: Sequence[Token], names: Collection[str]) -> list[Chunk]:
    """The pieces of one sentence in order."""
    return Chunker(found, names).chunks()

"""Finding noun phrases in the tokens of a sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from otherminds.stories.english.lexicon import Lexicon, lexicon, wordset
from otherminds.stories.english.sentences import Token

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


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
NUMERALS = dict(zip(("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"), ORDINALS, strict=True))
EMPTY_WORDS = wordset("empty_words")
OF_THEM = wordset("of_them")
PACKAGES = wordset("packages")
NOUN_STARTS = ("determiners", "possessives", "pronouns")
NOT_IN_NOUNS = (
    "determiners", "possessives", "prepositions", "conjunctions", "pronouns", "auxiliaries", "modals", "negations",
    "hedges", "before_now",
)  # fmt: skip
PLACE_PREPOSITIONS = ("in", "inside", "of", "within", "at", "from")


class Nouns:
    """Reads noun phrases from the tokens of one sentence."""

    def __init__(self, found: Sequence[Token], names: Collection[str]) -> None:
        self.tokens = found
        self.names = names
        self.words = [token.low for token in found]
        self.known: Lexicon = lexicon()
        self.boundary = frozenset().union(*(self.known.sets[name] for name in NOT_IN_NOUNS))

    def word(self, i: int) -> str:
        """The word at a place, or nothing."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def adverb(self, i: int) -> bool:
        """Whether an adverb stands here."""
        word = self.word(i)
        if not word or self.tokens[i].text in self.names:
            return False
        return word.endswith("ly") or word in self.known.sets["adverbs"]

    def starts_noun(self, i: int) -> bool:
        """Whether a noun phrase may begin here."""
        word = self.word(i)
        if not word or not word[0].isalnum():
            return False
        if i < len(self.tokens) and self.tokens[i].text in self.names:
            return True
        if any(word in self.known.sets[name] for name in NOUN_STARTS) or word.isdigit():
            return word not in ("there", "here")
        return word not in self.boundary and (word not in self.known.sets["adverbs"] or self._is_noun(i))

    def _is_noun(self, i: int) -> bool:
        return self.word(i) in self.known.rooms or self.word(i) in self.known.kinds

    def at(self, i: int, *, bare: bool) -> tuple[Noun, int] | None:
        """The noun phrase that begins here and where it ends; without an article only if `bare`, or if it is known."""
        if self.tokens[i].text in self.names:
            return self._named(i)
        return self._pronoun(i) or self._described(i, bare=bare)

    def _named(self, i: int) -> tuple[Noun, int]:
        token = self.tokens[i]
        if self.word(i + 1) in ("'s", "'") and self._possessed(i + 2):
            found = self._described(i + 2, bare=True, free=True)
            if found:
                noun, end = found
                noun.owner, noun.det, noun.start = token.text, noun.det or "the", token.start
                return noun, end
        return Noun("agent", (token.text,), token.start, token.end), i + 1

    def _possessed(self, i: int) -> bool:
        word = self.word(i)
        if not word or word in self.boundary or word in self.known.sets["adverbs"] - {"open", "left", "back", "first"}:
            return word in ("own", "other", "second", "first", "third")
        return not word.endswith("ing") or not self.known.is_verb(word)

    def _pronoun(self, i: int) -> tuple[Noun, int] | None:
        word, token = self.word(i), self.tokens[i]
        if word in OF_THEM and self.word(i + 1) == "of" and self.word(i + 2) in ("them", "these", "those"):
            return Noun("pronoun", ("it" if word == "one" else "them",), token.start, self.tokens[i + 2].end), i + 3
        if word == "the" and self.word(i + 1) in ("former", "latter"):
            return Noun("pronoun", (self.word(i + 1),), token.start, self.tokens[i + 1].end), i + 2
        if word not in self.known.sets["pronouns"] or word in ("there", "here"):
            return None
        if word in ("his", "her", "both", "each", "one", "this", "that", "these", "those", "something", "neither"):
            if word in ("this", "that") and self.word(i + 1) in ("one",):
                return Noun("one", ("one",), token.start, self.tokens[i + 1].end, det="the"), i + 2
            if self._continues(i + 1) or (
                self.word(i + 1) == "of" and self.word(i + 2) in ("the", "them", "his", "her")
            ):
                return None
        kind: NounKind = "one" if word in ("one", "ones") else "pronoun"
        if word in ("something", "anything"):
            kind = "vague"
        return Noun(kind, (word,), token.start, token.end), i + 1

    def both_of_them(self, i: int) -> bool:
        """Whether "both" stands beside the people it is about."""
        return self.word(i) == "both" and (
            self._named_at(i + 1) or self._named_at(i - 1) or self.word(i - 1) in ("they", "we")
        )

    def _named_at(self, i: int) -> bool:
        return 0 <= i < len(self.tokens) and self.tokens[i].text in self.names

    def _continues(self, i: int) -> bool:
        """Whether a noun can go on here, after "her" or "both"."""
        word = self.word(i)
        if not word or not word[0].isalnum() or self.tokens[i].text in self.names:
            return False
        if word in self.boundary:
            return word in ("own", "same", "other", "second", "third", "first", "two", "one")
        return word not in self.known.sets["adverbs"] or self._is_noun(i) or word in ("left", "open", "back")

    def _described(self, i: int, *, bare: bool, free: bool = False) -> tuple[Noun, int] | None:
        start, j = i, i
        det = owner = ordinal = ""
        while (
            self.word(j) in self.known.sets["determiners"]
            or self.word(j) in self.known.sets["possessives"]
            or self.word(j).isdigit()
            or self.word(j) in NUMERALS
            or (self.word(j) == "of" and j > i and self._after_of(j + 1))
        ):
            word = NUMERALS.get(self.word(j), self.word(j))
            if word == "of" and self.word(j - 1) == "the":
                break
            owner = word if word in self.known.sets["possessives"] else owner
            ordinal = word if word in ORDINALS else ordinal
            det = _stronger(det, word)
            j += 1
        words, j = self._run(j, free=free or bool(det))
        if not words:
            return self._elliptic(start, j, det)
        noun, end = self._build(words, start, j, det)
        if not det and not noun.known and not (bare and self._plausible(j)):
            return None
        noun.owner, noun.ordinal = owner, ordinal or noun.ordinal
        return self._possessor(noun, end) if self.word(end) == "'s" else (noun, end)

    def _after_of(self, i: int) -> bool:
        return self.word(i) in ("the", "them", "his", "her", "these", "those", "their")

    def _plausible(self, i: int) -> bool:
        """Whether an unknown word without an article may be a noun: no other noun phrase follows at once."""
        return not (self.word(i) in self.known.sets["determiners"] or self.word(i) in self.known.sets["possessives"])

    def _possessor(self, noun: Noun, end: int) -> tuple[Noun, int]:
        found = self._described(end + 1, bare=True) if self._possessed(end + 1) else None
        if not found:
            return noun, end
        inner, after = found
        inner.start, inner.owner, inner.det = noun.start, noun.text, inner.det or "the"
        return inner, after

    def _elliptic(self, start: int, j: int, det: str) -> tuple[Noun, int] | None:
        if det in ("first", "last") and j == start + 1:
            return None
        if det in ("another", "second", "third", "same", "one", "two", "three", "other", "first", "last", "some"):
            end = self.tokens[j - 1].end
            return Noun("one", ("other" if det == "other" else "one",), self.tokens[start].start, end, det=det), j
        return None

    def _run(self, i: int, *, free: bool) -> tuple[list[str], int]:
        """The adjectives and nouns from here on; after an article the first one may be any word."""
        words: list[str] = []
        j = i
        while self._noun_word(j, free=free and not words, first=not words):
            if self.word(j) == "one" and not words and free:
                return ["one"], j + 1
            words.append(self.word(j))
            j += 1
            if self._complete(words, j):
                break
        return words, j

    def _complete(self, words: list[str], j: int) -> bool:
        """Whether the words are a known noun that the next word does not lengthen."""
        return self.known.is_verb(self.word(j)) and not self._lengthens(words, j)

    def _lengthens(self, words: list[str], j: int) -> bool:
        if self.known.canonical([self.word(j)])[-1] in self.known.kinds | self.known.sets["things"]:
            return True
        pair = self.known.canonical([self.word(j), self.word(j + 1)])
        both = self.known.canonical([*words[-1:], self.word(j)])
        return " ".join(pair) in self.known.kinds or " ".join(both) in self.known.kinds | self.known.sets["things"]

    def _noun_word(self, j: int, *, free: bool, first: bool) -> bool:
        word = self.word(j)
        if not word or not word[0].isalnum() or word in self.boundary or self.tokens[j].text in self.names:
            return word == "one" and free
        if free or self._is_noun(j) or (first and f"{word} {self.word(j + 1)}" in self.known.rooms | self.known.kinds):
            return True
        if self.adverb(j):
            return self._leads_on(j)
        return not (first and self.known.is_verb(word))

    def _leads_on(self, j: int) -> bool:
        """Whether an adverb is an adjective here: "left counter", "back yard"."""
        pair = f"{self.word(j)} {self.word(j + 1)}"
        return pair in self.known.rooms or (
            self.word(j) in ("left", "open", "back", "outside") and self._is_noun(j + 1)
        )

    def _build(self, words: list[str], start: int, j: int, det: str) -> tuple[Noun, int]:
        head = self.known.canonical(words)[-1]
        holders = self.known.sets["vessels"] | self.known.sets["parts"] | {"top"}
        if (self.word(j) == "of" and head in holders) or (self.word(j) == "to" and head in ("door", "lid")):
            found = self._described(j + 1, bare=True, free=True)
            if found:
                noun, end = found
                noun.start, noun.det = self.tokens[start].start, det or noun.det
                return noun, end
        noun = self._classified(self._trimmed(words), det)
        if noun.kind == "agent" and j < len(self.tokens) and self.tokens[j].text in self.names:
            return self._named(j)
        noun.start, noun.end = self.tokens[start].start, self.tokens[j - 1].end
        return self._in_room(noun, j)

    def _trimmed(self, words: list[str]) -> tuple[str, ...]:
        """The standard form without words that tell nothing: vessels of drinks, doors of places."""
        kept = [word for word in words if word not in EMPTY_WORDS] or words
        found = self.known.canonical(kept)
        if len(found) > 1 and found[-1] in PACKAGES and found[-2] in self.known.sets["drinks"]:
            found = found[:-1]
        if len(found) > 1 and found[-1] in ("door", "lid", "handle") and self.known.kind_of(found[:-1]):
            found = found[:-1]
        return found

    def _classified(self, words: tuple[str, ...], det: str) -> Noun:
        text, kind = " ".join(words), self.known.kind_of(words)
        sort: NounKind = "object"
        known = text in self.known.sets["things"] or words[-1] in self.known.sets["things"]
        if self.known.room_in(words) or words == ("room",):
            sort = "room"
        elif words[-1] in self.known.sets["persons"]:
            sort = "agent"
        elif kind and (words[-1] not in self.known.sets["things"] or kind in self.known.furniture):
            sort = "place"
        elif words[-1] in self.known.sets["vague"]:
            sort = "vague"
        return Noun(sort, words, 0, 0, det, known=known or sort != "object")

    def _in_room(self, noun: Noun, j: int) -> tuple[Noun, int]:
        """The place with the room it is in, if that follows; and with "from the left"."""
        if [self.word(k) for k in (j, j + 1)] == ["from", "the"] and self.word(j + 2) in ("left", "right"):
            noun.end = self.tokens[j + 2].end
            j += 3
        if noun.kind == "place":
            inner = self._split_room(noun)
            if inner:
                noun.room, noun.words = inner
            k = j + 1 if self.word(j) == "," and self.word(j + 1) in ("in", "inside") else j
            if self.word(k) in PLACE_PREPOSITIONS and self.word(k) != "from":
                found = self.at(k + 1, bare=True) if k + 1 < len(self.tokens) else None
                if found and found[0].kind == "room":
                    if found[0].text == "room":
                        noun.ordinal = "other" if found[0].det in ("another", "other", "different") else noun.ordinal
                    else:
                        noun.room = noun.room or found[0].text
                    return noun, found[1]
        return noun, j

    def _split_room(self, noun: Noun) -> tuple[str, tuple[str, ...]] | None:
        kind = self.known.kind_of(noun.words) or ""
        size = len(kind.split())
        for cut in range(len(noun.words) - size, 0, -1):
            for begin in range(cut):
                room = self.known.room_in(noun.words[begin:cut])
                if room:
                    return room, (*noun.words[:begin], *noun.words[cut:])
        return None


def _stronger(old: str, new: str) -> str:
    """Which determiner says more: "the same" is the same, "the other" another."""
    if new in ("of", "the") and old:
        return old
    if old in ("same", "other", "another", "second", "third"):
        return old
    return new

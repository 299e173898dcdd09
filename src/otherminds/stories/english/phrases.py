"""Phrases: the types that sentences are made of, and the reading of noun phrases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from otherminds.stories.english.lexicon import Lexicon, lexicon, wordset
from otherminds.stories.english.sentences import Token

NounKind = Literal["agent", "pronoun", "object", "place", "room", "one", "vague"]
WordKind = Literal["prep", "mark", "adverb", "negation", "hedge", "comma", "colon", "unknown"]

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
NUMERALS = dict(zip(("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"), ORDINALS, strict=True))
NOUN_STARTS = ("determiners", "possessives", "pronouns")


@dataclass
class Noun:
    """A noun phrase. `words` are in standard form, without articles; `room` is the room that it names as its own."""

    kind: NounKind
    words: tuple[str, ...]
    start: int
    end: int
    det: str = ""
    owner: str = ""
    room: str = ""
    ordinal: str = ""
    is_known: bool = True
    clauses: list[Clause] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words as one text."""
        return " ".join(self.words)


@dataclass
class VerbGroup:
    """A verb with its auxiliaries: "had already been opened". `senses` are the sections of the lexicon it is in.

    `unreal` is set by modal verbs, `wish` by "want to ..." and the like, `about_to` by "was about to ...".
    """

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
    """A verb with its subjects, objects and prepositional phrases; `verb` is None for a fragment.

    `link` is the word that joins it to the clause before, `content` the clauses that tell what is said, seen or
    thought, `unknown` the words that could not be read, `antecedent` the noun that a relative clause describes.
    """

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
        """Whether its verb can have one of the senses; False without a verb."""
        return self.verb is not None and self.verb.means(*senses)

    @property
    def lemma(self) -> str:
        """The base form of its verb; empty without a verb."""
        return self.verb.lemma if self.verb else ""

    @property
    def negated(self) -> bool:
        """Whether it has a verb that is negated."""
        return self.verb is not None and self.verb.negated


Chunk = Noun | VerbGroup | Word | Quote


class NounReader:
    """Reads noun phrases from the tokens of one sentence. Methods return where a phrase ends: the index after it."""

    def __init__(self, tokens: Sequence[Token], names: Collection[str]) -> None:
        """A reader of the noun phrases in a sentence; `names` are the names of people in the story."""
        self.tokens = tokens
        self.names = names
        self.words = [token.low for token in tokens]
        self.lexicon: Lexicon = lexicon()
        self.boundary = wordset("boundary")

    def word(self, i: int) -> str:
        """The word at an index; empty beyond the ends and for a quote."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def is_name(self, i: int) -> bool:
        """Whether somebody's name stands here."""
        return 0 <= i < len(self.tokens) and self.tokens[i].text in self.names

    def is_adverb(self, i: int) -> bool:
        """Whether an adverb stands here."""
        word = self.word(i)
        return not self.is_name(i) and bool(word) and (word.endswith("ly") or word in wordset("adverbs"))

    def starts_noun(self, i: int) -> bool:
        """Whether a noun phrase may begin at word i: with a name, a determiner, a number, a pronoun or a plain noun."""
        word = self.word(i)
        if not word or not word[0].isalnum():
            return False
        if self.is_name(i):
            return True
        if any(word in wordset(name) for name in NOUN_STARTS) or word.isdigit():
            return word not in ("there", "here")
        return word not in self.boundary and (word not in wordset("adverbs") or self._is_place(i))

    def continues_noun(self, i: int) -> bool:
        """Whether a noun can go on here, after "her" or "both"."""
        word = self.word(i)
        if not word or not word[0].isalnum() or self.is_name(i):
            return False
        if word in self.boundary:
            return word in ("own", "same", "very", "other", "second", "third", "first", "two", "one")
        return word not in wordset("adverbs") or self._is_place(i) or word in ("left", "open", "back")

    def both_of_them(self, i: int) -> bool:
        """Whether "both" stands beside the people it is about."""
        beside = self.is_name(i + 1) or self.is_name(i - 1) or self.word(i - 1) in ("they", "we")
        return self.word(i) == "both" and beside

    def noun_at(self, i: int, *, bare: bool) -> tuple[Noun, int] | None:
        """The noun phrase that begins here and its end; without an article only if it is known, or if `bare`."""
        return self._named(i) if self.is_name(i) else self._pronoun(i) or self._described(i, bare=bare)

    def _is_place(self, i: int) -> bool:
        return self.word(i) in wordset("rooms") or self.word(i) in wordset("kinds")

    def _named(self, i: int) -> tuple[Noun, int]:
        """A person, or what the person has: "Ann", "Ann's box"."""
        token = self.tokens[i]
        owns = self.word(i + 1) in ("'s", "'") and self._may_be_owned(i + 2)
        if owns and (owned := self._described(i + 2, bare=True, free=True)):
            owned[0].owner, owned[0].det, owned[0].start = token.text, owned[0].det or "the", token.start
            return owned
        return Noun("agent", (token.text,), token.start, token.end), i + 1

    def _may_be_owned(self, i: int) -> bool:
        """Whether the word after "'s" may begin what somebody has ("Ann's box"), and "'s" is not "is"."""
        word = self.word(i)
        if not word or word in self.boundary or word in wordset("adverbs") - {"open", "left", "back", "first"}:
            return word in ("own", "other", "second", "first", "third")
        return not word.endswith("ing") or word not in self.lexicon.forms

    def _pronoun(self, i: int) -> tuple[Noun, int] | None:
        """A pronoun, "one of them" or "the former"; None if the word goes on with a noun ("her box")."""
        word, token = self.word(i), self.tokens[i]
        if word in wordset("of_them") and self.word(i + 1) == "of" and self.word(i + 2) in ("them", "these", "those"):
            return Noun("pronoun", ("it" if word == "one" else "them",), token.start, self.tokens[i + 2].end), i + 3
        if word == "the" and self.word(i + 1) in ("former", "latter"):
            return Noun("pronoun", (self.word(i + 1),), token.start, self.tokens[i + 1].end), i + 2
        if word not in wordset("pronouns") or word in ("there", "here"):
            return None
        if word in ("this", "that") and self.word(i + 1) == "one":
            return Noun("one", ("one",), token.start, self.tokens[i + 1].end, det="the"), i + 2
        if word in wordset("pronoun_or_determiner"):
            of_the = self.word(i + 1) == "of" and self.word(i + 2) in ("the", "them", "his", "her")
            if of_the or self.continues_noun(i + 1):
                return None
        kind: NounKind = "one" if word in ("one", "ones") else "pronoun"
        return Noun("vague" if word in ("something", "anything") else kind, (word,), token.start, token.end), i + 1

    def _described(self, i: int, *, bare: bool, free: bool = False) -> tuple[Noun, int] | None:
        """A noun phrase of determiners, adjectives and nouns; if `free`, its first word may be any word."""
        j = i
        det = owner = ordinal = ""
        determiners, possessives = wordset("determiners"), wordset("possessives")
        while (
            (word := NUMERALS.get(self.word(j), self.word(j))) in determiners
            or word in possessives
            or word.isdigit()
            or self.word(j) in NUMERALS
            or (word == "of" and j > i and self.word(j + 1) in ("the", "them", "his", "her", "these", "those", "their"))
        ):
            if word == "of" and self.word(j - 1) == "the":
                break
            owner = word if word in possessives else owner
            ordinal = word if word in ORDINALS else ordinal
            if det not in wordset("distinct") and not (det and word in ("of", "the")):
                det = word
            j += 1
        words, j = self._run(j, free=free or bool(det))
        if not words:  # determiners that stand for a noun phrase: "another", "the other"
            if det not in wordset("elliptic") or (det in ("first", "last") and j == i + 1):
                return None
            word = "other" if det == "other" else "one"
            return Noun("one", (word,), self.tokens[i].start, self.tokens[j - 1].end, det=det), j
        noun, end = self._build(words, i, j, det)
        another_follows = self.word(j) in determiners or self.word(j) in possessives
        if not det and not noun.is_known and (not bare or another_follows):
            return None
        noun.owner, noun.ordinal = owner, ordinal or noun.ordinal
        if self.word(end) == "'s" and self._may_be_owned(end + 1) and (owned := self._described(end + 1, bare=True)):
            owned[0].start, owned[0].owner, owned[0].det = noun.start, noun.text, owned[0].det or "the"
            return owned
        return noun, end

    def _run(self, i: int, *, free: bool) -> tuple[list[str], int]:
        """The adjectives and nouns from here on; if `free`, the first one may be any word."""
        words: list[str] = []
        j = i
        while self._in_noun(j, free=free and not words, first=not words):
            if self.word(j) == "one" and not words and free:
                return ["one"], j + 1
            words.append(self.word(j))
            j += 1
            if self.word(j) in self.lexicon.forms:  # a verb ends the noun, unless a longer known noun goes on with it
                word = self.lexicon.canonical([self.word(j)])[-1]
                pair = " ".join(self.lexicon.canonical([self.word(j), self.word(j + 1)]))
                preceding_pair = " ".join(self.lexicon.canonical([words[-1], self.word(j)]))
                if not ({word, preceding_pair} & (wordset("kinds") | wordset("things")) or pair in wordset("kinds")):
                    break
        return words, j

    def _in_noun(self, j: int, *, free: bool, first: bool) -> bool:
        """Whether the word belongs to a noun phrase that is being read."""
        word, pair = self.word(j), f"{self.word(j)} {self.word(j + 1)}"
        if not word or not word[0].isalnum() or word in self.boundary or self.is_name(j):
            return word == "one" and free
        if free or self._is_place(j) or (first and (pair in wordset("rooms") or pair in wordset("kinds"))):
            return True
        if self.is_adverb(j):  # "left counter", "back yard"
            return pair in wordset("rooms") or (word in wordset("adverbs_as_adjectives") and self._is_place(j + 1))
        return not (first and word in self.lexicon.forms)

    def _build(self, words: list[str], start: int, j: int, det: str) -> tuple[Noun, int]:
        """The noun that words mean, and its end, with "of the ..." and "in the <room>" after it."""
        head = self.lexicon.canonical(words)[-1]
        holders = wordset("vessels") | wordset("parts") | {"top"}
        part = (self.word(j) == "of" and head in holders) or (self.word(j) == "to" and head in ("door", "lid"))
        if part and (complement := self._described(j + 1, bare=True, free=True)):
            complement[0].start, complement[0].det = self.tokens[start].start, det or complement[0].det
            return complement
        noun = self._classified(words, det)
        if noun.kind == "agent" and self.is_name(j):
            return self._named(j)
        noun.start, noun.end = self.tokens[start].start, self.tokens[j - 1].end
        if [self.word(k) for k in (j, j + 1)] == ["from", "the"] and self.word(j + 2) in ("left", "right"):
            noun.end = self.tokens[j + 2].end
            j += 3
        return self._in_room(noun, j) if noun.kind == "place" else (noun, j)

    def _classified(self, words: list[str], det: str) -> Noun:
        """The noun in standard form, of the kind that the lexicon gives its words.

        Dropped are words that tell nothing, vessels of drinks ("bottle of beer") and doors of places ("fridge door").
        """
        canonical = self.lexicon.canonical([word for word in words if word not in wordset("empty_words")] or words)
        if len(canonical) > 1 and canonical[-1] in wordset("packages") and canonical[-2] in wordset("drinks"):
            canonical = canonical[:-1]
        if len(canonical) > 1 and canonical[-1] in ("door", "lid", "handle") and self.lexicon.kind_of(canonical[:-1]):
            canonical = canonical[:-1]
        things, kind = wordset("things"), self.lexicon.kind_of(canonical)
        sort: NounKind = "object"
        if self.lexicon.room_in(canonical) or canonical == ("room",):
            sort = "room"
        elif canonical[-1] in wordset("persons"):
            sort = "agent"
        elif kind and (canonical[-1] not in things or kind in wordset("furniture")):
            sort = "place"
        elif canonical[-1] in wordset("vague"):
            sort = "vague"
        is_known = " ".join(canonical) in things or canonical[-1] in things or sort != "object"
        return Noun(sort, canonical, 0, 0, det, is_known=is_known)

    def _in_room(self, noun: Noun, j: int) -> tuple[Noun, int]:
        """A place with its room, which is part of its name ("kitchen table") or follows it ("table in the kitchen")."""
        size = len((self.lexicon.kind_of(noun.words) or "").split())
        cuts = ((begin, cut) for cut in range(len(noun.words) - size, 0, -1) for begin in range(cut))
        for begin, cut in cuts:
            if room := self.lexicon.room_in(noun.words[begin:cut]):
                noun.room, noun.words = room, (*noun.words[:begin], *noun.words[cut:])
                break
        k = j + 1 if self.word(j) == "," and self.word(j + 1) in ("in", "inside") else j
        follows = self.word(k) in wordset("room_prepositions") and k + 1 < len(self.tokens)
        room_phrase = self.noun_at(k + 1, bare=True) if follows else None
        if room_phrase is None or room_phrase[0].kind != "room":
            return noun, j
        if room_phrase[0].text != "room":
            noun.room = noun.room or room_phrase[0].text
        elif room_phrase[0].det in ("another", "other", "different"):
            noun.ordinal = "other"
        return noun, room_phrase[1]

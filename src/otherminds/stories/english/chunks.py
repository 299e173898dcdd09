"""Cutting the tokens of a sentence into noun phrases, verb groups and other small pieces."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from otherminds.stories.english.lexicon import VerbForm, wordset
from otherminds.stories.english.phrases import ORDINALS, Chunk, Noun, Nouns, Quote, VerbGroup, Word, WordKind
from otherminds.stories.english.sentences import Token

BEGINNERS = ("begin", "want", "stop")


class Verbs(Nouns):
    """Reads verb groups from the tokens of one sentence."""

    def __init__(self, found: Sequence[Token], names: Collection[str]) -> None:
        super().__init__(found, names)
        self.taken: set[int] = set()

    def group(self, i: int, out: list[Chunk]) -> tuple[VerbGroup, int] | None:
        """The verb group that begins here, and where it ends."""
        helpers: list[str] = []
        j = i
        flags = {"negated": False, "hedged": False, "about_to": False}
        while (step := self._helper(j, helpers, flags)) > j:
            j = step
        verb = self._main(j, helpers, flags, out)
        if verb is None:
            return self._copula(i, j, helpers, flags)
        group = VerbGroup(
            verb.lemma, verb.senses, verb.tags, self.tokens[i].start, self.tokens[j + verb.length - 1].end
        )
        group.particle = verb.particle
        self._take_particle(verb, j)
        self._shape(group, helpers, flags)
        end = j + verb.length
        return self._chain(group, end) if group.means(*BEGINNERS) else (group, end)

    def _take_particle(self, verb: VerbForm, j: int) -> None:
        """Marks the "up" of "picked it up" as read."""
        if verb.particle:
            self.taken.add(next(k for k in range(j + 1, len(self.words)) if self.words[k] == verb.particle))

    def _helper(self, j: int, helpers: list[str], flags: dict[str, bool]) -> int:
        """Past the auxiliary, negation or adverb that stands here, if one does."""
        word = self.word(j)
        if helpers and (size := self._about_to(j)):
            flags["about_to"] = True
            return j + size
        if size := self._copula_phrase(j):
            helpers.append("was")
            return j + size
        if word in self.known.sets["negations"]:
            flags["negated"] = True
        elif word in self.known.sets["hedges"]:
            flags["hedged"] = True
        elif word in self.known.sets["auxiliaries"] or word in self.known.sets["modals"] or word == "'s":
            if self._own_verb(j):
                return j
            helpers.append("is" if word == "'s" else word)
        elif (helpers or flags["negated"]) and (self.adverb(j) or word in self.known.sets["before_now"]):
            return j + 1 if self.verb_follows(j + 1) and not self._leads_noun(j) else j
        else:
            return j
        return j + 1

    def _copula_phrase(self, j: int) -> int:
        """How many words here mean no more than "was"."""
        found = (len(phrase) for phrase in self.known.copulas if tuple(self.words[j : j + len(phrase)]) == phrase)
        return next(found, 0)

    def _about_to(self, j: int) -> int:
        """How many words here say that somebody is about to do what follows."""
        for phrase in self.known.words["about_to"]:
            size = len(phrase.split())
            if " ".join(self.words[j : j + size]) == phrase and self.verb_follows(j + size):
                return size
        return 0

    def _leads_noun(self, j: int) -> bool:
        return self.word(j) in ("left", "open") and not self.known.is_verb(self.word(j + 1))

    def _own_verb(self, j: int) -> bool:
        """Whether an auxiliary begins a phrase of its own: "had a look", "is equipped with"."""
        verb = self.known.verb_at(self.words, j)
        return verb is not None and verb.length > 1

    def verb_follows(self, j: int) -> bool:
        """Whether a verb comes here, perhaps after adverbs."""
        for k in range(j, min(j + 4, len(self.words))):
            word = self.word(k)
            if (
                self.known.is_verb(word)
                or word in self.known.sets["auxiliaries"]
                or word in self.known.sets["negations"]
            ):
                return True
            if not self.adverb(k):
                return False
        return False

    def _main(self, j: int, helpers: list[str], flags: dict[str, bool], out: list[Chunk]) -> VerbForm | None:
        if j >= len(self.tokens) or self.tokens[j].quote or self.tokens[j].text in self.names:
            return None
        verb = self.known.verb_at(self.words, j)
        if verb is None:
            return None
        if helpers or flags["negated"]:
            return verb if flags["about_to"] or self._agrees(verb, helpers) else None
        before = out[-1] if out else None
        if isinstance(before, Word) and before.kind == "prep":
            return verb if "ing" in verb.tags and not self._only_noun(j, verb) else None
        return None if self._only_noun(j, verb) else verb

    def _agrees(self, verb: VerbForm, helpers: list[str]) -> bool:
        """Whether the form of a verb fits its auxiliary: "was opened", "did open"; not "was water"."""
        last = helpers[-1] if helpers else ""
        if last in ("am", "is", "are", "was", "were", "be", "been", "being"):
            return bool(verb.tags & {"pp", "ing"})
        if last in ("have", "has", "had", "having"):
            return "pp" in verb.tags
        return "base" in verb.tags if last else True

    def _only_noun(self, j: int, verb: VerbForm) -> bool:
        """Whether a word that could be a verb is a noun here: "notes", "drawing"."""
        pair = " ".join(self.known.canonical([self.word(j), self.word(j + 1)]))
        return verb.length == 1 and (pair in self.known.kinds | self.known.rooms or self.word(j) == "including")

    def _copula(self, i: int, j: int, helpers: list[str], flags: dict[str, bool]) -> tuple[VerbGroup, int] | None:
        """ "is", "had" or "did" as a verb of its own."""
        last = next((word for word in reversed(helpers) if word in self.known.sets["auxiliaries"]), None)
        if last is None:
            if any(flags.values()) or helpers:
                return None
            return None
        lemma = "have" if last in ("have", "has", "had", "having") else "do" if last in ("do", "does", "did") else "be"
        tags = frozenset({"ing"} if last in ("being", "having") else {"base"} if last in ("be",) else {"past"})
        group = VerbGroup(lemma, (lemma,), tags, self.tokens[i].start, self.tokens[j - 1].end)
        self._shape(group, [word for word in helpers if word != last], flags)
        group.finite = last not in ("being", "having")
        return group, j

    def _shape(self, group: VerbGroup, helpers: list[str], flags: dict[str, bool]) -> None:
        group.negated, group.hedged, group.about_to = flags["negated"], flags["hedged"], flags["about_to"]
        group.unreal = any(word in self.known.sets["modals"] for word in helpers)
        be = bool({"am", "is", "are", "was", "were", "be", "been", "being"} & set(helpers))
        group.perfect = bool({"had", "has", "have", "having"} & set(helpers))
        group.passive = (
            be
            and "pp" in group.tags
            and "ing" not in group.tags
            and not group.about_to
            and group.lemma not in ("go", "come", "do")
        )
        group.finite = bool(helpers) or group.tags != {"ing"}
        if helpers == ["having"] or helpers == ["being"]:
            group.finite = False

    def _chain(self, group: VerbGroup, end: int) -> tuple[VerbGroup, int]:
        """A verb such as "begin" or "want" with the verb it governs, which is then the verb of the clause."""
        j = end
        while self.word(j) in ("to", "by", "on", "not", "n't", "from") or self.word(j).endswith("ly"):
            group.negated = group.negated or self.word(j) in ("not", "n't", "from")
            j += 1
        verb = self.known.verb_at(self.words, j) if j < len(self.tokens) else None
        governed = self.word(j - 1) in ("to",) or self.is_ing(j)
        if verb is None or not governed or (group.means("stop") and not self.is_ing(j)):
            return group, end
        if group.means("begin", "want") and self.word(j - 1) != "to" and "ing" not in verb.tags:
            return group, end
        inner = VerbGroup(verb.lemma, verb.senses, verb.tags, group.start, self.tokens[j + verb.length - 1].end)
        inner.negated, inner.hedged, inner.finite = group.negated, group.hedged, group.finite
        inner.unreal, inner.perfect, inner.particle = group.unreal, group.perfect, verb.particle
        self._take_particle(verb, j)
        inner.about_to = group.about_to
        inner.wish = group.means("want") and not group.means("begin")
        return inner, j + verb.length

    def is_ing(self, i: int) -> bool:
        """Whether the -ing form of a verb stands here."""
        verb = self.known.verb_at(self.words, i) if self.word(i).endswith("ing") else None
        return verb is not None and "ing" in verb.tags


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

"""Chunks: the tokens of a sentence cut into noun phrases, verb groups and small words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from otherminds.stories.english.lexicon import VerbForm, wordset
from otherminds.stories.english.phrases import ORDINALS, Chunk, Noun, NounReader, Quote, VerbGroup, Word, WordKind
from otherminds.stories.english.sentences import Token

MARKS = wordset("marks")
PUNCTUATION: dict[str, WordKind] = {",": "comma", "-": "comma", ":": "colon"}
BE = frozenset(("am", "is", "are", "was", "were", "be", "been", "being"))
HAVE = frozenset(("have", "has", "had", "having"))
GOVERNING_VERBS = ("begin", "want", "stop")  # senses of verbs that stand in front of another verb
NEED_MORE = frozenset(("inside", "within", "behind", "after", "this", "that", "there"))  # last words of idioms
ADVERBS_BEFORE_VERB = 4  # words in which a verb is looked for (chosen; not tuned)


@dataclass
class Auxiliaries:
    """The words in front of a verb that belong to it: "had not yet"."""

    words: list[str] = field(default_factory=list)
    negated: bool = False
    hedged: bool = False
    about_to: bool = False


class Chunker(NounReader):
    """Cuts one sentence into chunks. Methods append what they read and return its end; where nothing is read, `i`."""

    def __init__(self, found: Sequence[Token], names: Collection[str]) -> None:
        super().__init__(found, names)
        self.taken: set[int] = set()  # particles that belong to a verb before them: the "up" of "picked it up"

    def chunks(self) -> list[Chunk]:
        """The chunks in order."""
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
            if token.text in PUNCTUATION:
                out.append(Word(PUNCTUATION[token.text], token.text, token.start, token.end))
            return i + 1
        for read in (self._filler, self._preposition, self._verb, self._noun):
            end = read(i, out)
            if end > i:
                return end
        word, sets = self.word(i), self.known.sets
        kinds: tuple[tuple[WordKind, bool], ...] = (
            ("mark", word in MARKS),
            ("negation", word in sets["negations"]),
            ("hedge", word in sets["hedges"]),
            ("adverb", word in sets["adverbs"] | sets["before_now"] | sets["prepositions"] or word.endswith("ly")),
        )
        self._add(out, next((kind for kind, fits in kinds if fits), "unknown"), i, i + 1)
        return i + 1

    def _add(self, out: list[Chunk], kind: WordKind, i: int, end: int, text: str = "") -> None:
        text = text or " ".join(self.words[i:end])
        out.append(Word(kind, text, self.tokens[i].start, self.tokens[end - 1].end))

    # small words

    def _filler(self, i: int, out: list[Chunk]) -> int:
        """An idiom that changes nothing, which becomes an adverb."""
        for phrase in self.known.fillers.get(self.word(i), ()):
            end = i + len(phrase)
            if tuple(self.words[i:end]) != phrase:
                continue
            if phrase[-1] in self.known.sets["possessives"]:
                goes_on = self.continues_noun(end)
            else:
                goes_on = phrase[-1] in NEED_MORE and self.starts_noun(end)
            if not goes_on:
                self._add(out, "adverb", i, end, "nowhere" if phrase[0] in ("nowhere", "not") else "")
                return end
        return i

    def _preposition(self, i: int, out: list[Chunk]) -> int:
        """A preposition of one or several words that governs a noun or a verb, or the "to" of an infinitive."""
        word = self.word(i)
        for phrase, meaning in self.known.long_prepositions:
            end = i + len(phrase)
            if word == phrase[0] and tuple(self.words[i:end]) == phrase and self._governs(end, meaning):
                self._add(out, "prep", i, end, meaning)
                return end
        if word == "to":
            j = i + 1
            while self.word(j) in self.known.sets["adverbs"] or self.word(j).endswith("ly") or self.word(j) == "not":
                if self.word(j) in ("left", "open"):
                    break
                j += 1
            verb = self.known.verb_at(self.words, j) if self.word(j) and not self.is_name(j) else None
            base = verb is not None and "base" in verb.tags and self.word(j) not in self.known.common_nouns
            if base or (self.word(j) in ("be", "have", "do") and not self.is_name(j)):
                self._add(out, "mark", i, i + 1)
                return i + 1
        if word in self.known.sets["prepositions"] and self._governs(i + 1, word):
            self._add(out, "mark" if word in MARKS else "prep", i, i + 1)
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

    def _noun(self, i: int, out: list[Chunk]) -> int:
        """A noun phrase; without an article only after a verb or a preposition."""
        before = out[-1] if out else None
        if i == 0 and self.word(0) in ORDINALS and self.word(1) == ",":
            self._add(out, "adverb", 0, 1)
            return 1
        if self.word(i) == "that":  # does it point at something: "that spoon"?
            telling = isinstance(before, VerbGroup) and before.means("say", "see", "think", "ask", "find", "want")
            ends = not self.word(i + 1) or self.word(i + 1) in self.boundary or self.is_name(i + 1)
            if telling or ends or isinstance(before, (Noun, Quote)):
                return i
        if self.both_of_them(i):
            return i
        if self.word(i) in ("which", "what", "first", "no") and self.verb_follows(i + 1):
            return i
        governed = (isinstance(before, Word) and before.kind == "prep") or isinstance(before, VerbGroup)
        found = self.noun_at(i, bare=governed) if self.starts_noun(i) else None
        if found is None:
            return i
        out.append(found[0])
        return found[1]

    # verbs

    def is_ing(self, i: int) -> bool:
        """Whether the -ing form of a verb stands here."""
        verb = self.known.verb_at(self.words, i) if self.word(i).endswith("ing") else None
        return verb is not None and "ing" in verb.tags

    def verb_follows(self, j: int) -> bool:
        """Whether a verb comes here, perhaps after adverbs."""
        sets = self.known.sets
        for k in range(j, min(j + ADVERBS_BEFORE_VERB, len(self.words))):
            word = self.word(k)
            if self.known.is_verb(word) or word in sets["auxiliaries"] or word in sets["negations"]:
                return True
            if not self.is_adverb(k):
                return False
        return False

    def _verb(self, i: int, out: list[Chunk]) -> int:
        """A verb group: auxiliaries, negations and adverbs with the verb they belong to."""
        helpers = Auxiliaries()
        j = i
        while (step := self._auxiliary(j, helpers)) > j:
            j = step
        verb = self._main_verb(j, helpers, out[-1] if out else None)
        if verb is None:
            copula = self._copula(i, j, helpers)
            out += [copula] if copula else []
            return j if copula else i
        end = j + verb.length
        group = VerbGroup(verb.lemma, verb.senses, verb.tags, self.tokens[i].start, self.tokens[end - 1].end)
        group.particle = verb.particle
        self._take_particle(verb, j)
        self._shape(group, helpers)
        if group.means(*GOVERNING_VERBS):
            group, end = self._chain(group, end)
        out.append(group)
        return end

    def _auxiliary(self, j: int, helpers: Auxiliaries) -> int:
        """Notes the auxiliary, negation or adverb that stands here, if any."""
        word, sets = self.word(j), self.known.sets
        for phrase in self.known.words["about_to"] if helpers.words else ():
            end = j + len(phrase.split())
            if " ".join(self.words[j:end]) == phrase and self.verb_follows(end):
                helpers.about_to = True
                return end
        for copula in self.known.copulas:
            if tuple(self.words[j : j + len(copula)]) == copula:
                helpers.words.append("was")
                return j + len(copula)
        if word in sets["negations"]:
            helpers.negated = True
        elif word in sets["hedges"]:
            helpers.hedged = True
        elif word in sets["auxiliaries"] or word in sets["modals"] or word == "'s":
            verb = self.known.verb_at(self.words, j)
            if verb is not None and verb.length > 1:  # a verb of its own: "had a look", "is equipped with"
                return j
            helpers.words.append("is" if word == "'s" else word)
        elif (helpers.words or helpers.negated) and (self.is_adverb(j) or word in sets["before_now"]):
            adjective = word in ("left", "open") and not self.known.is_verb(self.word(j + 1))
            return j + 1 if self.verb_follows(j + 1) and not adjective else j
        else:
            return j
        return j + 1

    def _main_verb(self, j: int, helpers: Auxiliaries, before: Chunk | None) -> VerbForm | None:
        """The verb that stands here; None if its form does not fit its auxiliaries ("was water"), or it is a noun."""
        if not self.word(j) or self.is_name(j):
            return None
        verb = self.known.verb_at(self.words, j)
        if verb is None or helpers.about_to:
            return verb
        last = helpers.words[-1] if helpers.words else ""
        if last in BE:
            return verb if verb.tags & {"pp", "ing"} else None
        if last in HAVE:
            return verb if "pp" in verb.tags else None
        if last:
            return verb if "base" in verb.tags else None
        if helpers.negated:
            return verb
        pair = " ".join(self.known.canonical([self.word(j), self.word(j + 1)]))
        noun = pair in self.known.kinds | self.known.rooms or self.word(j) == "including"
        after_preposition = isinstance(before, Word) and before.kind == "prep"
        if (verb.length == 1 and noun) or (after_preposition and "ing" not in verb.tags):
            return None
        return verb

    def _copula(self, i: int, j: int, helpers: Auxiliaries) -> VerbGroup | None:
        """ "is", "had" or "did" as a verb of its own."""
        last = next((word for word in reversed(helpers.words) if word in self.known.sets["auxiliaries"]), None)
        if last is None:
            return None
        lemma = "have" if last in HAVE else "do" if last in ("do", "does", "did") else "be"
        tags = frozenset({"ing"} if last in ("being", "having") else {"base"} if last == "be" else {"past"})
        group = VerbGroup(lemma, (lemma,), tags, self.tokens[i].start, self.tokens[j - 1].end)
        others = [word for word in helpers.words if word != last]
        self._shape(group, Auxiliaries(others, helpers.negated, helpers.hedged, helpers.about_to))
        group.finite = last not in ("being", "having")
        return group

    def _shape(self, group: VerbGroup, helpers: Auxiliaries) -> None:
        """Sets what the auxiliaries say about a verb."""
        words = set(helpers.words)
        group.negated, group.hedged, group.about_to = helpers.negated, helpers.hedged, helpers.about_to
        group.unreal = bool(words & self.known.sets["modals"])
        group.perfect = bool(words & HAVE)
        participle = "pp" in group.tags and "ing" not in group.tags and group.lemma not in ("go", "come", "do")
        group.passive = bool(words & BE) and participle and not group.about_to
        group.finite = (bool(words) or group.tags != {"ing"}) and helpers.words not in (["having"], ["being"])

    def _take_particle(self, verb: VerbForm, j: int) -> None:
        """Marks the "up" of "picked it up" as read."""
        if verb.particle:
            self.taken.add(next(k for k in range(j + 1, len(self.words)) if self.words[k] == verb.particle))

    def _chain(self, group: VerbGroup, end: int) -> tuple[VerbGroup, int]:
        """A verb such as "begin" or "want" with the verb it governs, which is then the verb of the clause."""
        j = end
        while self.word(j) in ("to", "by", "on", "not", "n't", "from") or self.word(j).endswith("ly"):
            group.negated = group.negated or self.word(j) in ("not", "n't", "from")
            j += 1
        verb = self.known.verb_at(self.words, j) if j < len(self.tokens) else None
        infinitive, ing = self.word(j - 1) == "to", self.is_ing(j)
        if verb is None or not (infinitive or ing) or (group.means("stop") and not ing):
            return group, end
        if group.means("begin", "want") and not infinitive and "ing" not in verb.tags:
            return group, end
        self._take_particle(verb, j)
        inner = replace(group, lemma=verb.lemma, senses=verb.senses, tags=verb.tags, particle=verb.particle)
        inner.end, inner.passive = self.tokens[j + verb.length - 1].end, False
        inner.wish = group.means("want") and not group.means("begin")
        return inner, j + verb.length


def chunks(found: Sequence[Token], names: Collection[str]) -> list[Chunk]:
    """The chunks of one sentence in order."""
    return Chunker(found, names).chunks()

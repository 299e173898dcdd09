"""Chunks: the tokens of a sentence cut into noun phrases, verb groups and small words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from otherminds.stories.english.lexicon import VerbForm, idioms, wordset
from otherminds.stories.english.phrases import ORDINALS, Chunk, Noun, NounReader, Quote, VerbGroup, Word, WordKind
from otherminds.stories.english.sentences import Token

PUNCTUATION: dict[str, WordKind] = {",": "comma", "-": "comma", ":": "colon"}
ADVERBS_BEFORE_VERB = 4  # words in which a verb is looked for (chosen; not tuned)


class Chunker(NounReader):
    """Cuts one sentence into chunks. Methods append what they read and return its end; where nothing is read, `i`."""

    def __init__(self, tokens: Sequence[Token], names: Collection[str]) -> None:
        super().__init__(tokens, names)
        self.taken: set[int] = set()  # particles that belong to a verb before them: the "up" of "picked it up"

    def chunks(self) -> list[Chunk]:
        """The chunks of the sentence in order: noun phrases, verb groups, quotes and single words."""
        out: list[Chunk] = []
        i = 0
        while i < len(self.tokens):
            i = i + 1 if i in self.taken else self._next(i, out)
        return out

    def _next(self, i: int, chunks_so_far: list[Chunk]) -> int:
        """Add to `out` the chunk that begins at token i, and return the index of the token after it."""
        token = self.tokens[i]
        if token.quote:
            chunks_so_far.append(Quote(token.text, token.start, token.end))
            return i + 1
        if not token.text[0].isalnum() and token.low not in ("'s", "n't"):
            if token.text in PUNCTUATION:
                chunks_so_far.append(Word(PUNCTUATION[token.text], token.text, token.start, token.end))
            return i + 1
        for reader in (self._filler, self._preposition, self._verb, self._noun):
            end = reader(i, chunks_so_far)
            if end > i:
                return end
        word, sets = self.word(i), self.lexicon.sets
        fits_by_kind: tuple[tuple[WordKind, bool], ...] = (
            ("mark", word in wordset("marks") and not self._is_late(i)),
            ("negation", word in sets["negations"]),
            ("hedge", word in sets["hedges"]),
            ("adverb", word in sets["adverbs"] | sets["before_now"] | sets["prepositions"] or word.endswith("ly")),
        )
        self._add(chunks_so_far, next((kind for kind, fits in fits_by_kind if fits), "unknown"), i, i + 1)
        return i + 1

    def _is_late(self, i: int) -> bool:
        """Whether "before" ends its clause: "the cup that she had put down before was taken"."""
        return self.word(i) == "before" and (not self.word(i + 1) or self.word(i + 1) in wordset("auxiliaries"))

    def _add(self, out: list[Chunk], kind: WordKind, i: int, end: int, text: str = "") -> None:
        text = text or " ".join(self.words[i:end])
        out.append(Word(kind, text, self.tokens[i].start, self.tokens[end - 1].end))

    # small words

    def _idioms(self, name: str, i: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """The phrases of a set that stand here, the longest first, each with its end."""
        for phrase in idioms(name).get(self.word(i), ()):
            end = i + len(phrase)
            if tuple(self.words[i:end]) == phrase:
                yield phrase, end

    def _filler(self, i: int, out: list[Chunk]) -> int:
        """An idiom that changes nothing, which becomes an adverb."""
        for phrase, end in self._idioms("fillers", i):
            if phrase[-1] in wordset("possessives"):
                goes_on = self.continues_noun(end)
            else:
                goes_on = phrase[-1] in wordset("need_more") and self.starts_noun(end) and not self._is_subject(end)
            if not goes_on:
                self._add(out, "adverb", i, end, "nowhere" if phrase[0] in ("nowhere", "not") else "")
                return end
        return i

    def _is_subject(self, i: int) -> bool:
        """Whether the subject of a verb stands here: a name or "she"."""
        return (self.is_name(i) or self.word(i) in wordset("nominative")) and self.verb_follows(i + 1)

    def _preposition(self, i: int, out: list[Chunk]) -> int:
        """A preposition of one or several words that governs a noun or a verb, or the "to" of an infinitive."""
        word = self.word(i)
        for phrase, end in self._idioms("long_prepositions", i):
            meaning = self.lexicon.prepositions[" ".join(phrase)]
            if self._governs(end, meaning):
                self._add(out, "prep", i, end, meaning)
                return end
        if word == "to":
            j = i + 1
            adverbs = wordset("adverbs") - {"left", "open"} | {"not"}
            while self.word(j) in adverbs or self.word(j).endswith("ly"):
                j += 1
            verb = self.lexicon.verb_at(self.words, j) if self.word(j) and not self.is_name(j) else None
            base = verb is not None and "base" in verb.tags and self.word(j) not in wordset("common_nouns")
            if base or (self.word(j) in ("be", "have", "do") and not self.is_name(j)):
                self._add(out, "mark", i, i + 1)
                return i + 1
        if word in wordset("prepositions") and self._governs(i + 1, word) and not self._is_late(i):
            self._add(out, "mark" if word in wordset("marks") else "prep", i, i + 1)
            return i + 1
        return i

    def _governs(self, i: int, preposition: str) -> bool:
        """Whether a preposition at this place governs what follows: a noun or the -ing form of a verb."""
        if preposition in ("without", "instead"):
            return self.is_ing(i) or self.word(i) == "being" or self.starts_noun(i)
        if preposition in wordset("marks") or preposition == "because":
            return True
        while self.word(i) in ("both", "either", "just", "right", "exactly", "only", "even"):
            i += 1
        word = self.word(i)
        if word in ("which", "whom") and self.starts_noun(i + 1):
            return True
        if word in ("where", "what", "which", "there", "here", "inside"):
            return preposition in ("about", "of", "from", "in", "to", "for")
        if word == "not" or (word in wordset("adverbs") and not self.starts_noun(i)):
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
            if i + 1 in self.taken:  # "picked that up"
                out.append(Noun("pronoun", ("it",), self.tokens[i].start, self.tokens[i].end))
                return i + 1
            pointing = self.word(i + 1) in ("one", "same", "very")
            if not pointing and (telling or ends or isinstance(before, (Noun, Quote))):
                return i
        if self.both_of_them(i):
            return i
        if self.word(i) in ("which", "what", "first", "no") and self.verb_follows(i + 1):
            return i
        is_so = wordset("forms_of_be") & {self.word(i + 1), self.word(i + 2)}
        claimed = self.word(i - 1) == "that" and bool(is_so)  # "that milk is in the box", "that green pepper is"
        governed = claimed or (isinstance(before, Word) and before.kind == "prep") or isinstance(before, VerbGroup)
        phrase = self.noun_at(i, bare=governed) if self.starts_noun(i) else None
        if phrase is None:
            return i
        out.append(phrase[0])
        return phrase[1]

    # verbs

    def is_ing(self, i: int) -> bool:
        """Whether the -ing form of a verb stands here."""
        verb = self.lexicon.verb_at(self.words, i) if self.word(i).endswith("ing") else None
        return verb is not None and "ing" in verb.tags

    def verb_follows(self, j: int) -> bool:
        """Whether a verb or auxiliary comes at word j, perhaps after adverbs or a negation."""
        for k in range(j, min(j + ADVERBS_BEFORE_VERB, len(self.words))):
            word = self.word(k)
            if word in self.lexicon.forms or word in wordset("auxiliaries") | wordset("negations"):
                return True
            if not self.is_adverb(k):
                return False
        return False

    def _verb(self, i: int, out: list[Chunk]) -> int:
        """A verb group: auxiliaries, negations and adverbs with the verb they belong to."""
        group = VerbGroup("", (), frozenset(), self.tokens[i].start, 0)
        helpers: list[str] = []
        j = i
        while (step := self._auxiliary(j, group, helpers)) > j:
            j = step
        verb = self._main_verb(j, group, helpers, out[-1] if out else None)
        if verb is not None:
            group.finite = (bool(helpers) or verb.tags != {"ing"}) and helpers not in (["having"], ["being"])
        else:  # "is", "had" or "did" as a verb of its own
            last = next((word for word in reversed(helpers) if word in wordset("auxiliaries")), None)
            if last is None:
                return i
            lemma = "have" if last in wordset("forms_of_have") else "do" if last in ("do", "does", "did") else "be"
            tag = "ing" if last in ("being", "having") else "base" if last == "be" else "past"
            verb, helpers = (
                VerbForm(lemma, (lemma,), frozenset((tag,)), 0),
                [aux for aux in helpers if aux != last],
            )
            group.finite = tag != "ing"
        end = j + verb.length
        self._become(group, verb, j)
        group.unreal = not wordset("modals").isdisjoint(helpers)
        group.perfect = not wordset("forms_of_have").isdisjoint(helpers)
        participle = "pp" in verb.tags and "ing" not in verb.tags and verb.lemma not in ("go", "come", "do")
        group.passive = not wordset("forms_of_be").isdisjoint(helpers) and participle and not group.about_to
        out.append(group)
        return self._chain(group, end) if group.means(*wordset("governing_senses")) else end

    def _become(self, group: VerbGroup, verb: VerbForm, j: int) -> None:
        """Makes a verb the main verb of a group, and marks its particle, the "up" of "picked it up", as read."""
        group.lemma, group.senses, group.tags, group.particle = verb.lemma, verb.senses, verb.tags, verb.particle
        group.end = self.tokens[j + verb.length - 1].end
        if verb.particle:
            self.taken.add(self.words.index(verb.particle, j + 1))

    def _auxiliary(self, j: int, group: VerbGroup, helpers: list[str]) -> int:
        """Notes the auxiliary, negation or adverb that stands here, if any."""
        word, sets = self.word(j), self.lexicon.sets
        for _, end in self._idioms("about_to", j):
            if helpers and self.verb_follows(end):
                group.about_to = True
                return end
        for _, end in self._idioms("copulas", j):
            helpers.append("was")
            return end
        if word in sets["negations"]:
            group.negated = True
        elif word in sets["hedges"]:
            group.hedged = True
        elif word in sets["auxiliaries"] or word in sets["modals"] or word == "'s":
            verb = self.lexicon.verb_at(self.words, j)
            if verb is not None and verb.length > 1:  # a verb of its own: "had a look", "is equipped with"
                return j
            helpers.append("is" if word == "'s" else word)
        elif (helpers or group.negated) and (self.is_adverb(j) or word in sets["before_now"]):
            adjective = word in ("left", "open") and self.word(j + 1) not in self.lexicon.forms
            return j + 1 if self.verb_follows(j + 1) and not adjective else j
        else:
            return j
        return j + 1

    def _main_verb(self, j: int, group: VerbGroup, helpers: list[str], before: Chunk | None) -> VerbForm | None:
        """The verb that stands here; None if its form does not fit its auxiliaries ("was water"), or it is a noun."""
        if not self.word(j) or self.is_name(j):
            return None
        verb = self.lexicon.verb_at(self.words, j)
        if verb is None or group.about_to:
            return verb
        if helpers:
            after_have = {"pp"} if helpers[-1] in wordset("forms_of_have") else {"base"}
            fitting = {"pp", "ing"} if helpers[-1] in wordset("forms_of_be") else after_have
            return verb if verb.tags & fitting else None
        if group.negated:
            return verb
        pair = " ".join(self.lexicon.canonical([self.word(j), self.word(j + 1)]))
        noun = pair in wordset("kinds") | wordset("rooms") or self.word(j) == "including"
        after_preposition = isinstance(before, Word) and before.kind == "prep"
        unfit = (verb.length == 1 and noun) or (after_preposition and "ing" not in verb.tags)
        return None if unfit else verb

    def _chain(self, group: VerbGroup, end: int) -> int:
        """Goes on from "begin", "want" and the like to the verb they govern, which is then the verb of the clause."""
        j = end
        while self.word(j) in ("to", "by", "on", "not", "n't", "from") or self.word(j).endswith("ly"):
            group.negated = group.negated or self.word(j) in ("not", "n't", "from")
            j += 1
        verb = self.lexicon.verb_at(self.words, j) if j < len(self.tokens) else None
        infinitive, ing, begins = self.word(j - 1) == "to", self.is_ing(j), group.means("begin")
        if verb is None or not (infinitive or ing) or (group.means("stop") and not ing):
            return end
        if group.means("begin", "want") and not infinitive and "ing" not in verb.tags:
            return end
        group.wish, group.passive = group.means("want") and not begins, False
        self._become(group, verb, j)
        return j + verb.length

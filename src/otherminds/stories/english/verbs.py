"""Finding verb groups in the tokens of a sentence."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from otherminds.stories.english.lexicon import VerbForm
from otherminds.stories.english.nouns import Nouns
from otherminds.stories.english.phrases import Chunk, VerbGroup, Word
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

"""Clauses: a verb with its subject, objects and phrases, and how it is joined to the clauses around it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from otherminds.stories.english.sentences import Token
from otherminds.stories.everyday.chunks import TELLING, Chunk, Chunker, Noun, VerbGroup
from otherminds.stories.everyday.words import is_in, vocabulary

SUBJECTS = frozenset(["he", "she", "they", "i", "we", "you"])


@dataclass
class Clause:
    """A clause. `link` joins it ("while", "who", "that", "to", "ing", "wh"); `content` is what it tells of."""

    verb: VerbGroup
    subject: Noun | None = None
    link: str = ""
    asked: str = ""
    objects: list[Noun] = field(default_factory=list)
    places: list[tuple[str, Noun]] = field(default_factory=list)
    setting: list[tuple[str, Noun]] = field(default_factory=list)  # phrases at the front: "at the market, ..."
    adverbs: list[str] = field(default_factory=list)
    content: list[Clause] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    start: int = 0
    end: int = 0
    words: str = ""
    parent: Clause | None = None
    beside: bool = False  # "with Ann looking on"
    forward: bool = False  # whether a subordinate clause belongs to the clause after it: "and as she did so, ..."

    @property
    def lemma(self) -> str:
        """The verb, with a particle that came later ("picked it up")."""
        for adverb in self.adverbs:
            if (phrase := f"{self.verb.lemma}_{adverb}") in vocabulary().senses:
                return phrase
        return self.verb.lemma

    @property
    def nouns(self) -> list[Noun]:
        """All its noun phrases: subject, objects, and those of its prepositional phrases."""
        phrases = (*self.places, *self.setting)
        found = [self.subject] if self.subject is not None else []
        return [one for noun in (*found, *self.objects, *(noun for _, noun in phrases)) for one in noun.all]

    @property
    def feels(self) -> bool:
        """Whether it says that somebody is sure, certain or aware of what its content tells."""
        return self.verb.lemma == "be" and any(is_in(noun.head, "sure", "aware") for noun in self.objects[-1:])

    def means(self, *senses: str) -> bool:
        """Whether the verb is in one of the classes."""
        return bool(vocabulary().senses.get(self.lemma, frozenset()) & set(senses))


def parse(found: Sequence[Token], names: Collection[str]) -> list[Clause]:
    """The clauses of a sentence in order, with those that another clause tells of in its `content`."""
    return _Builder(Chunker(found, names), found).build()


def _joined(one: Noun, other: Noun) -> Noun:
    """Two noun phrases with "and": "Ann and Ben"; "two sisters, Ann and Bea" are Ann and Bea."""
    parts = one.parts or [one, *one.alias]
    if one.alias and not one.parts and not one.name and all(named.name for named in one.alias):
        if one.plural:
            parts = list(one.alias)
            one.alias.clear()
            for part in (*parts, other):
                part.alias.append(one)
        else:
            parts = [one]  # "the cook, Ann, and her aunt"
    return Noun(other.words, f"{one.text} and {other.text}", one.start, other.end, parts=[*parts, other])


def inside(clause: Clause) -> list[Clause]:
    """All clauses that a clause tells of."""
    return [deeper for one in clause.content for deeper in (one, *inside(one))]


class _Builder:
    def __init__(self, chunker: Chunker, found: Sequence[Token]) -> None:
        self.chunker, self.chunks, self.tokens = chunker, chunker.chunks(), found
        self.clauses: list[Clause] = []
        self.cur: Clause | None = None
        self.main: Clause | None = None  # the last main clause
        self.subject: Noun | None = None  # read, its verb is still to come
        self.waiting: list[tuple[Noun | None, Clause | None]] = []  # what a relative clause interrupts
        self.forward = False
        self.without = False  # "without Ann noticing, ..."
        self.beside = False  # "with Ann looking on, ..."
        self.link = self.asked = self.prep = ""
        self.fresh = True  # a clause is about to begin
        self.first: list[tuple[str, Noun]] = []  # phrases before the first clause
        self.adverbs: list[str] = []
        self.quotes: list[str] = []
        self.unknown: list[str] = []

    def build(self) -> list[Clause]:
        for k, chunk in enumerate(self.chunks):
            before = self.chunks[k - 1] if k else None
            match chunk.kind:
                case "verb" if chunk.verb:
                    self._verb(chunk.verb, k, before)
                case "noun" if chunk.noun:
                    self._noun(chunk.noun, k, before)
                case "prep":
                    self.prep = chunk.word
                case "adverb":
                    goes_on = self.cur is not None and not self.fresh and not self.subject and not self._begins(k)
                    (self.cur.adverbs if self.cur and goes_on else self.adverbs).append(chunk.word)
                case "sub" if chunk.word == "where":
                    self._relative(chunk, k)
                    self.link = "where"
                case "sub" | "that" | "wh":
                    self.forward = before is not None and before.kind == "conj"
                    self._begin(chunk.kind, chunk.word)
                case "rel":
                    self._relative(chunk, k)
                case "quote":
                    (self.cur.quotes if self.cur else self.quotes).append(chunk.word)
                case "conj":
                    self.fresh = True if chunk.word in ("but", "so", "yet", "then") else self.fresh
                    self.prep = ""
                case "comma":
                    self.prep = ""
                case _:
                    (self.cur.unknown if self.cur else self.unknown).append(chunk.word)
        return self._closed()

    def _begin(self, kind: str, word: str) -> None:
        if self.subject is not None and self.cur is None:
            self.waiting.append((self.subject, None))  # "his assistant, while tidying up, ..."
        self.link = word if kind == "sub" else kind
        self.asked = word if kind == "wh" else ""
        self.fresh, self.subject, self.prep = True, None if kind != "sub" or not self.cur else self.subject, ""

    def _next(self, k: int) -> Chunk | None:
        """The next chunk that is no adverb."""
        return next((one for one in self.chunks[k + 1 :] if one.kind != "adverb"), None)

    def _verb_follows(self, k: int, *forms: str) -> bool:
        after = self._next(k)
        return after is not None and after.verb is not None and after.verb.form in forms

    def _noun(self, noun: Noun, k: int, before: Chunk | None) -> None:
        if (
            self.prep in ("with", "without")
            and self._verb_follows(k, "ing")
            and (self.cur is None or before is not None)
        ):
            self.without, self.beside = self.prep == "without", self.prep == "with"
            if self.subject is not None:
                self.waiting.append((self.subject, None))  # "the captain, with Ann looking on, ..."
            self.prep, self.link, self.subject, self.fresh = "", "while", noun, True  # "with Ann looking on, ..."
            return
        then = self._next(k)
        timely = bool(noun.det) and noun.owner is None and is_in(noun.head, "times") and not is_in(noun.head, "meals")
        if timely and not self.prep and not (then and then.verb):
            if self.cur is None or self.fresh:
                self.first.append(("during", noun))  # "the next day Ann ..."
                return
            if self.cur.verb.lemma != "be":
                self.cur.setting.append(("during", noun))  # "moved it that night"
                return
        after = self._next(k) if self.prep == "with" else None
        gone = self.chunks[k + 1].word if k + 1 < len(self.chunks) and self.chunks[k + 1].kind == "adverb" else ""
        if after is not None and after.kind == "prep" and self.chunker.word(after.i) == "out":
            gone = "out"
        if self.prep == "with" and is_in(gone, "absent") and (self.cur is None or (before and before.kind == "prep")):
            self.prep = ""
            self._add(VerbGroup("be", "finite", self.chunks[k].i, self.chunks[k].j), noun, "while", None)
            if self.cur:
                self.cur.adverbs.append(gone)  # "with Ann out of the room, ..."
            return
        if self.prep:
            target = self.subject if self.subject else self.cur if self.cur and not self.fresh else None
            place = (self.prep, noun)
            self.prep = ""
            if target is None:
                self.first.append(place)
            else:
                target.places.append(place)
            return
        of_last = (
            before is not None
            and before.noun is not None
            and not is_in(before.noun.head, "sure", "aware")
            and (
                before.noun is self.subject
                or (
                    self.cur
                    and not self.fresh
                    and self.cur.objects[-1:] == [before.noun]
                    and not self.cur.means(*TELLING)
                    and not is_in(self.cur.link, "subordinators")  # "when she had done it she ..."
                )
            )
        )
        if of_last and self._verb_follows(k, "finite") and (noun.pronoun in SUBJECTS or noun.name):
            self._relative(Chunk("rel", 0, 0, "that"), k)  # "the map she is holding"
            self.subject = noun
            return
        titled = before is not None and before.noun is not None and before.noun is self.subject and noun.det == "the"
        if titled and self.subject is not None and self.subject.name and not noun.name:
            self.subject.alias.append(noun)  # "Ann the cook"
            return
        if self.subject is not None and before is not None:
            own = noun.pronoun in ("he", "she", "they", "it", "i", "we")
            if before.kind == "conj" and before.word in ("and", "or") and not own:
                self.subject = _joined(self.subject, noun)
                return
            if before.kind == "comma" and before.word == "," and not self._verb_follows(k, "finite"):
                last = self.subject.parts[-1] if self.subject.parts else self.subject
                if noun.name and last.name and not noun.det:
                    self.subject = _joined(self.subject, noun)  # "Ann, Bea and Cleo"
                    return
                called = noun.name and self.subject.parts and not self.subject.parts[-1].name
                (self.subject.parts[-1] if called else self.subject).alias.append(noun)  # "Ann and her aunt, Bea, ..."
                return
        if (
            self.cur
            and self.cur.subject is None
            and self.cur.quotes
            and self.cur.means("say", "ask", "think")
            and not self.cur.objects
        ):
            self.cur.subject = noun  # "...," said the cook
            return
        cur = None if self.fresh else self.cur
        then = self._next(k)
        if (
            cur is not None
            and cur.lemma == "have"
            and before is not None
            and before.verb is cur.verb
            and then is not None
        ):
            tags = self.chunker.tags(then.verb.start).values() if then.verb is not None else ()
            if then.verb is not None and then.verb.form == "finite" and any("pp" in one for one in tags):
                then.verb.form = "pp"  # "had it brought up"
        seen = cur is not None and cur.means("see") and self._verb_follows(k, "base", "ing")
        helped = cur is not None and cur.lemma in ("help", "let", "make") and self._verb_follows(k, "base")
        if seen or helped:
            self.link, self.subject, self.fresh = "that", noun, True
            return
        starts = self.cur is None or self.fresh or self._verb_follows(k, "finite")
        fronted = before is not None and before.word == "," and self.main is None and self.cur is not None
        if (fronted and is_in(self.cur.link if self.cur else "", "subordinators")) or (
            before and before.kind == "conj"
        ):
            starts = starts or self._acts(k)
        joined = self._next(k)
        if (
            joined is not None
            and joined.kind == "conj"
            and joined.word == "and"
            and before is not None
            and before.kind in ("comma", "conj")
        ):
            second = next((n for n in range(k + 1, len(self.chunks)) if self.chunks[n].kind == "noun"), None)
            starts |= (
                second is not None and self._verb_follows(second, "finite") and self.chunks[second - 1].kind == "conj"
            )
        if (
            joined is not None
            and joined.word == ","
            and before is not None
            and (before.word == "," or before.kind == "conj")
        ):  # "..., Ann, who ..."
            starts |= any(one.kind == "rel" for one in self.chunks[k + 1 : k + 4])
        if starts:
            if (
                self.cur
                and not self.link
                and (self.cur.means("think", "know", "say", "see", "want") or self.cur.feels)
                and before
                and before.kind in ("verb", "noun", "adverb")
            ):
                self.link = "that"
            self.subject, self.fresh = noun, True
        elif self.cur:
            if before is not None and before.kind == "conj" and self.cur.places and not self.cur.objects:
                self.cur.places.append((self.cur.places[-1][0], noun))
            else:
                self.cur.objects.append(noun)

    def _relative(self, chunk: Chunk, k: int) -> None:
        antecedent = self.subject
        if antecedent is None and self.cur:
            last = [*self.cur.objects[-1:], *(noun for _, noun in self.cur.places[-1:])]
            people = [one for one in last if one.name or vocabulary().person(one.head)]
            people += [one for _, one in self.cur.places if one.name or vocabulary().person(one.head)]
            last = people if people and chunk.word in ("who", "whom") else last
            antecedent = max(last, key=lambda one: one.end) if last else self.cur.subject
        self.waiting.append((self.subject, self.cur))
        self.link, self.subject, self.fresh, self.prep = "who", None, True, ""
        self.antecedent = antecedent

    def _verb(self, verb: VerbGroup, k: int, before: Chunk | None) -> None:
        if verb.form == "finite" and self.subject is not None and self.fresh and self._is_aside(verb, k):
            self.waiting.append((self.subject, None))
            return self._add(verb, self.subject, "pp", None)  # "Ann, worried that it would rain, ..."
        verb.negated |= verb.form == "ing" and self.prep in ("instead", "without", "than")  # "instead of moving it"
        if verb.form == "ing" and self.prep in ("about", "of", "from", "against") and self.cur is not None:
            self.prep, after = "", self._next(k)
            if after is None or after.noun is None:
                return None  # "full of washing"
            return self._add(verb, self.cur.subject, "about", None)  # "thought about moving it"
        self.prep = ""
        if verb.form == "inf" and self.cur and (self.subject is None or not self.fresh):
            subject = (
                self.cur.objects[-1] if self.cur.objects and self.cur.means("ask", "say", "want") else self.cur.subject
            )
            return self._add(verb, subject, "to", self.cur)
        if (
            verb.form == "pp"
            and self.cur
            and self.cur.lemma in ("have", "get")
            and self.cur.objects
            and before is not None
            and before.noun is self.cur.objects[-1]
        ):
            self.cur.verb.lemma = verb.lemma  # "had it taken to the shed": somebody else did it
            return None
        if (
            verb.form in ("ing", "pp")
            and self.cur
            and self.cur.lemma in ("leave", "keep", "find", "put")
            and self.cur.objects
            and before is not None
            and before.noun is self.cur.objects[-1]
            and {"put", "lie"} & vocabulary().senses.get(verb.lemma, frozenset())
        ):
            return None  # "left the ladder leaning against the shed"
        if verb.lemma == "know" and verb.form == "base" and self.cur and self.cur.lemma == "let" and self.subject:
            self.cur.verb.lemma = "let_know"  # "let him know"
            self.cur.objects.append(self.subject)
            self.subject, self.link, self.fresh = None, "", False
            return None
        listed = verb.form == "base" and before is not None and before.word == ","  # "saw him take it, open it and ..."
        if verb.form in ("base", "pp") and self.cur and self.subject is None and (listed or self._conjoined(k)):
            cur = self.cur
            if verb.form == "base" and cur.verb.form == "base" and cur.parent is not None:
                return self._add(verb, cur.subject, "that", cur.parent)
            if verb.form == "pp" and (cur.verb.perfect or cur.verb.passive):
                verb.perfect, verb.passive, verb.form = cur.verb.perfect, cur.verb.passive, "finite"
                return self._add(verb, cur.subject, cur.link if cur.parent else "", cur.parent)
        if (
            verb.form == "ing"
            and self.cur
            and self.cur.lemma in ("start", "begin", "keep", "stop", "finish", "go")
            and before
            and before.kind == "verb"
        ):
            return self._add(verb, self.cur.subject, "ing", None)
        if verb.form == "ing" and self.link == "while" and self.subject is not None:
            verb.progressive, verb.negated, self.without = True, verb.negated or self.without, False
            return self._add(verb, self.subject, "while", None)
        if verb.form in ("ing", "pp", "inf") and self.link not in ("that", "who", "wh"):
            if (
                self.subject is not None
                and self.fresh
                and self.cur is not None
                and self._verb_follows(k, "finite") is False
                and not self._finite_ahead(k)
            ):
                subject = self.subject
                self.subject = None
                return self._add(verb, subject, self.link or verb.form, None)
            subject = self.subject or (self.cur.subject if self.cur else None)
            if (
                self.cur
                and verb.form == "ing"
                and self.cur.objects
                and self.cur.means("see", "find")
                and before
                and before.kind == "noun"
            ):
                return self._add(verb, self.cur.objects.pop(), "that", self.cur)
            kept = self.subject
            self._add(
                verb,
                subject,
                self.link if self.link else verb.form,
                self.cur if self.cur and verb.form == "inf" else None,
            )
            if kept is not None:
                self.waiting.append((kept, None))
            self.subject = None
            return None
        subject, link, parent = self.subject, self.link, None
        if (
            subject is None
            and self.cur
            and self.cur.verb.passive
            and not link
            and self._conjoined(k)
            and not (after := self._next(k))
        ) or (
            subject is None
            and self.cur
            and self.cur.verb.passive
            and not link
            and self._conjoined(k)
            and after
            and after.kind != "noun"
        ):
            verb.passive |= any("pp" in tags for tags in self.chunker.tags(verb.start).values())
        if link == "who" and subject is None:
            subject = self.antecedent
        elif link == "who":
            self._add(verb, subject, "who", None)
            if self.antecedent and self.cur:
                self.cur.objects.append(self.antecedent)
            return None
        elif subject is None:
            resumed = self._conjoined(k) and k > 1 and self.chunks[k - 2].kind == "comma"
            resumed |= self._conjoined(k) and self.cur is not None and self.cur.link == "where"
            outer = self.waiting[-1] if self.waiting else (None, None)
            if resumed and outer[0] is None and outer[1] is not None:
                self.waiting.pop()
                subject, link = outer[1].subject, ""
            elif self.waiting and (not self._conjoined(k) or self.waiting[-1][0] is not None):
                subject, self.cur = self.waiting.pop()[0], self.cur
                link = ""
            if subject is None and self.cur is not None:
                subject = self.cur.subject
                back = (
                    self.cur.link in ("while", "when", "as", "after", "because", "before", "since", "once")
                    and self.main
                )
                comma = k > 1 and self.chunks[k - 2].kind == "comma"
                dummy = self.cur.subject is not None and self.cur.subject.pronoun == "it"
                if back and self.main and (comma or dummy or self.cur.verb.progressive or self.cur.lemma == "be"):
                    subject = self.main.subject  # "she woke when he moved it, and watched him"
                if self._conjoined(k) and self.cur.parent is not None and self.cur.link in ("that", "wh"):
                    may_be_bare = any("base" in tags for tags in self.chunker.tags(verb.start).values())
                    if self.cur.verb.form == "finite" or may_be_bare:
                        link, parent = self.cur.link, self.cur.parent
                    else:  # "she saw him go, and waved"
                        subject = self.cur.parent.subject
        if link in ("that", "wh") and parent is None:
            parent = next(
                (
                    one
                    for one in reversed(self.clauses)
                    if one.means("think", "know", "say", "see", "want", "ask", "look")
                    or one.lemma in ("be", "help", "let", "make", "worry", "fear", "dread")
                ),
                None,
            )
        self._add(verb, subject, link, parent)
        return None

    def _begins(self, k: int) -> bool:
        """Whether an adverb after "and" begins a clause: "was reading and never even looked", "and there it stayed"."""
        before = [one.kind for one in self.chunks[:k] if one.kind != "adverb"]
        after = [one.kind for one in self.chunks[k + 1 :] if one.kind != "adverb"]
        return before[-1:] == ["conj"] and (after[:1] == ["verb"] or after[:2] == ["noun", "verb"])

    def _acts(self, k: int) -> bool:
        """Whether a finite verb follows a noun phrase with its phrases and apposition: "her aunt, Bea, took"."""
        rest = [one for one in self.chunks[k + 1 :] if one.kind != "adverb"]
        if [one.kind for one in rest[:3]] == ["comma", "noun", "comma"]:
            rest = rest[3:]
        while [one.kind for one in rest[:2]] == ["prep", "noun"]:
            rest = rest[2:]
        return bool(rest) and rest[0].verb is not None and rest[0].verb.form == "finite"

    def _is_aside(self, verb: VerbGroup, k: int) -> bool:
        """Whether a past form after a subject and a comma is a participle: another comma and verb come later."""
        may_be = verb.end - verb.start == 1 and any("pp" in tags for tags in self.chunker.tags(verb.start).values())
        if not may_be or k < 2 or self.chunks[k - 1].word != "," or self.chunks[k - 2].noun is not self.subject:
            return False
        rest = [one for one in self.chunks[k + 1 :] if one.kind != "adverb"]
        pairs = pairwise(rest)
        return any(one.word == "," and two.verb and two.verb.form == "finite" for one, two in pairs)

    def _finite_ahead(self, k: int) -> bool:
        """Whether a finite verb without a subject of its own comes later."""
        for n in range(k + 1, len(self.chunks)):
            verb = self.chunks[n].verb
            if verb is not None and verb.form == "finite":
                return self.chunks[n - 1].kind != "noun" or self.chunks[n - 2].kind == "prep"
        return False

    def _conjoined(self, k: int) -> bool:
        return any(one.kind == "conj" for one in self.chunks[max(0, k - 2) : k])

    def _add(self, verb: VerbGroup, subject: Noun | None, link: str, parent: Clause | None) -> None:
        if verb.passive and verb.lemma in ("convince", "persuade"):
            verb.lemma, verb.passive = "be_convinced", False
        clause = Clause(verb, subject, link, self.asked if link == "wh" else "", parent=parent)
        clause.forward, self.forward = self.forward, False
        clause.beside, self.beside = self.beside and link == "while", False
        clause.adverbs += [*self.adverbs, *verb.adverbs]
        clause.setting += self.first
        clause.quotes += self.quotes
        clause.unknown += self.unknown
        self.adverbs, self.first, self.quotes, self.unknown = [], [], [], []
        if parent is not None:
            parent.content.append(clause)
        self.clauses.append(clause)
        if not link and parent is None:
            self.main = clause
        self.cur, self.subject, self.link, self.asked, self.fresh = clause, None, "", "", False

    def _closed(self) -> list[Clause]:
        """The clauses with their words, and with subjects for participles that come first."""
        starts = [min([one.verb.start, *self._left(one)]) for one in self.clauses]
        for n, clause in enumerate(self.clauses):
            clause.start = starts[n] if n else 0
            clause.end = starts[n + 1] if n + 1 < len(starts) else len(self.tokens)
            if clause.end <= clause.start:
                clause.end = max(clause.verb.end, clause.start + 1)
            clause.verb.negated |= any(noun.words[-1:] in (("nothing",), ("none",)) for noun in clause.objects)
            clause.verb.negated |= any(noun.text.lower().startswith("none of") for noun in clause.objects)
            clause.verb.negated |= "never" in clause.adverbs  # "never even looked"
            clause.words = " ".join(token.low for token in self.tokens[clause.start : clause.end])
            before = self.clauses[n - 1]
            if n and before.verb.negated and before.words.endswith(" or") and clause.verb.start == clause.start:
                clause.verb.negated = True  # "neither sees or hears it"
            shares = before.words.endswith(" and") and not (before.objects or before.content)
            if n and shares and clause.verb.negated and clause.means("see") and before.means("see"):
                before.verb.negated = True  # "sees and hears nothing"
            if clause.subject is None:
                later = (one.subject for one in self.clauses[n + 1 :] if one.subject and one.parent is None)
                clause.subject = next(later, None)
        if self.clauses:
            self._lost()
        return self.clauses

    def _lost(self) -> None:
        """Noun phrases that belong to no clause are words left over: the sentence was not understood."""
        used = {id(noun) for one in self.clauses for noun in one.nouns}
        for chunk in self.chunks:
            if chunk.noun is None or id(chunk.noun) in used or is_in(chunk.noun.head, "times"):
                continue
            if self.chunker.word(chunk.j) not in ("away", "later", "ago", "earlier", "through", "over"):
                at = next((one for one in reversed(self.clauses) if one.start <= chunk.i), self.clauses[0])
                at.unknown.append(chunk.noun.text)

    def _left(self, clause: Clause) -> list[int]:
        """Where the words of a clause begin before its verb: its subject and what joins it."""
        subject = clause.subject
        if subject is None or clause.link in ("to", "ing", "pp"):
            return []
        at = next((i for i, token in enumerate(self.tokens) if token.start >= subject.start), 0)
        others = [
            one
            for one in self.clauses
            if one is not clause and one.subject is subject and one.verb.start < clause.verb.start
        ]
        if at >= clause.verb.start or others:
            return []
        return [
            at - 1
            if at and (is_in(self.tokens[at - 1].low, "subordinators") or self.tokens[at - 1].low == "that")
            else at
        ]

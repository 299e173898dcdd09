"""Clauses within clauses: what is said or seen, and which thing is meant."""

from __future__ import annotations

from otherminds.stories.english.cursor import Cursor
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Chunk, Clause, Noun, VerbGroup, Word

CONTENT = ("say", "ask", "suggest", "see", "think", "find", "look", "want")
OPENERS = wordset("openers")
ADVISING = frozenset(("suggest", "recommend", "propose", "advise", "mention", "report", "admit", "remember", "recall"))


class InnerClauses(Cursor):
    """Reads the clauses that belong to a verb or to a noun."""

    def content_verb(self, clause: Clause) -> bool:
        """Whether a verb may be followed by what is said, asked, seen or thought."""
        return clause.means(*CONTENT) and not clause.quotes

    def content(self, clause: Clause) -> bool:
        """Reads what is said, asked, seen or thought as clauses of their own."""
        opener = self.peek()
        if self.depth > 8 or not (self.content_verb(clause) or self._clueless(clause)):
            return False
        if self.at("adverb", "there") and isinstance(self.peek(1), VerbGroup) and not clause.content:
            self._inner(clause)
            return True
        if self._advice(clause):
            self._inner(clause)
            return True
        step = 1 if self.at("prep", "about", "of") and self.at("mark", *OPENERS, ahead=1) else 0
        if self.at("mark", *OPENERS, ahead=step):
            if clause.content:
                return False
            self.i += step
        elif not (isinstance(opener, Noun) and self._states(clause)):
            return False
        while True:
            place = self.i
            self._inner(clause)
            if self.i == place or not self._more_content(clause):
                return True

    def _clueless(self, clause: Clause) -> bool:
        """Whether "where it was" tells what somebody has no idea of."""
        nouns = {noun.words[-1] for noun in clause.objects} | set(clause.unknown) | set(clause.adverbs)
        return self.at("mark", *OPENERS) and bool(nouns & {"idea", "clue", "notion", "knowledge", "sure", "certain"})

    def _advice(self, clause: Clause) -> bool:
        """Whether "to look in the stove" or "looking in the stove" is what somebody is told or what is suggested."""
        verb = clause.verb
        if verb is None or clause.content:
            return False
        if verb.means("ask") and self.at("mark", "to") and clause.objects:
            return True
        if not verb.means("say", "suggest"):
            return False
        piece = self.peek()
        if (
            self.at("negation", "not")
            and self.at("mark", "to", ahead=1)
            and isinstance(inner := self.peek(2), VerbGroup)
        ):
            inner.negated = True
            self.i += 1
            return True
        if self.at("mark", "to"):
            return verb.lemma in ("tell", "advise", "urge", "say", "instruct", "remind", "warn", "recommend")
        return isinstance(piece, VerbGroup) and not piece.finite and verb.lemma in ADVISING

    def _states(self, clause: Clause) -> bool:
        """Whether a noun here begins what is said, without a "that" in front."""
        verb = self.peek(1 + sum(1 for _ in self.adverbs_from(1)))
        if not isinstance(verb, VerbGroup) or clause.content:
            return False
        return verb.finite or clause.means("see", "find")

    def _inner(self, clause: Clause) -> None:
        self.depth += 1
        inner, kept = self._nested()
        self.depth -= 1
        for one in (*kept, inner):
            if one is not None:
                clause.content.append(one)
                clause.end = max(clause.end, one.end)

    def _nested(self) -> tuple[Clause | None, list[Clause]]:
        """A clause within a clause, with those set inside it."""
        outer, self.out = self.out, []
        inner = self.clause()
        kept, self.out = self.out, outer
        return inner, kept

    def _more_content(self, clause: Clause) -> bool:
        """Whether what is said goes on after "and" or "but": another "that", or something about a thing."""
        ahead = 0
        while self.at("comma", ahead=ahead) or self.at("mark", "and", "but", "or", ahead=ahead):
            ahead += 1
        if not ahead:
            return False
        if self.at("mark", "that", ahead=ahead):
            return True
        noun, verb = self.peek(ahead), self.peek(ahead + 1)
        thing = isinstance(noun, Noun) and (noun.kind in ("object", "one") or noun.words == ("it",))
        return thing and isinstance(verb, VerbGroup) and verb.lemma == "be"

    def relative(self, noun: Noun) -> None:
        """Attaches to a noun the clause that says which one: "that Tom had placed", "Tom placed", "placed by Tom"."""
        piece = self.peek()
        inner = Clause(noun.start, noun.end, antecedent=noun, link="that")
        ahead = 1 if self.at("mark", "that", "which", "where", "whom") else 0
        subject, verb = self.peek(ahead), None
        if isinstance(subject, Noun):
            after = ahead + 1 + len(self.adverbs_from(ahead + 1))
            verb = self.peek(after)
            if not isinstance(verb, VerbGroup) or not self._describes(subject, noun, ahead, piece):
                return
            inner.subjects.append(subject)
            inner.adverbs += [getattr(self.peek(k), "text", "") for k in self.adverbs_from(ahead + 1)]
            self.i += after + 1
        elif isinstance(subject, VerbGroup) and self._reduced(subject, noun, ahead):
            verb = subject
            self.i += ahead + 1
        else:
            return
        inner.verb = verb
        self.arguments(inner, bare=True)
        noun.clauses.append(inner)

    def _describes(self, subject: Noun, noun: Noun, ahead: int, piece: Chunk | None) -> bool:
        who = subject.kind in ("agent", "pronoun") and subject.words not in (("it",), ("there",))
        if not who or noun.kind in ("agent", "pronoun"):
            return False
        if ahead and isinstance(piece, Word) and piece.text == "where":
            return self.told_before(ahead)
        return True

    def _reduced(self, verb: VerbGroup, noun: Noun, ahead: int) -> bool:
        if noun.kind in ("agent", "pronoun") and not (noun.words[0] in ("it", "them") and False):
            return False
        if ahead:
            return verb.passive or verb.perfect or verb.lemma in ("be", "have")
        return "pp" in verb.tags and not verb.passive and not verb.perfect and self._by_or_where()

    def _by_or_where(self) -> bool:
        """Whether "by Tom", "earlier" or a place follows a participle."""
        ahead = 1 + len(self.adverbs_from(1))
        if self.at("prep", "by", "on", "in", "at", "inside", ahead=ahead):
            return isinstance(self._last_noun_before(), (VerbGroup, Word))
        return ahead > 1 and self.told_before(0)

    def _last_noun_before(self) -> Chunk | None:
        return self.pieces[self.i - 2] if self.i >= 2 else None

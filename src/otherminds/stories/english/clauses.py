"""Clauses: who does what to what and where, with what links it to the clause before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Chunk, Clause, Noun, Quote, VerbGroup, Word

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


JOINERS = frozenset(("and", "or", "including", "nor"))


class Parser(InnerClauses):
    """Reads the clauses of one sentence, one after the other."""

    def clauses(self) -> list[Clause]:
        """All clauses of the sentence in the order of the words."""
        while self.i < len(self.pieces):
            before = self.i
            clause = self.clause()
            if clause is not None:
                self.out.append(clause)
            if self.i == before:
                self._unread(self.pieces[self.i])
                self.i += 1
        return self.out

    def _unread(self, piece: Chunk) -> None:
        clause = Clause(piece.start, piece.end)
        clause.unknown.append(getattr(piece, "text", ""))
        self.out.append(clause)

    def clause(self) -> Clause | None:
        """The next clause, with what comes before its subject."""
        start = self.peek()
        assert start is not None
        clause = Clause(start.start, start.end)
        self._beginning(clause)
        if self.i >= len(self.pieces):
            return self._remains(clause)
        self._subject(clause)
        verb = self.peek()
        if not isinstance(verb, VerbGroup):
            return self._fragment(clause)
        clause.verb, clause.end = verb, verb.end
        self.i += 1
        self.arguments(clause)
        self._swap(clause)
        return clause

    def _remains(self, clause: Clause) -> Clause | None:
        return clause if clause.quotes or clause.places or clause.unknown else None

    def _beginning(self, clause: Clause) -> None:
        """Commas, linking words, adverbs, quotes and prepositional phrases in front of the subject."""
        while (piece := self.peek()) is not None:
            if isinstance(piece, Quote):
                clause.quotes.append(piece)
            elif isinstance(piece, Word) and piece.kind == "prep":
                if not self._phrase(clause, fronted=True):
                    clause.link = piece.text
                    self.i += 1
                continue
            elif isinstance(piece, Word):
                self._link(clause, piece)
            else:
                return
            self.i += 1

    def _link(self, clause: Clause, piece: Word) -> None:
        if piece.kind == "mark":
            if clause.link in ("", *JOINERS) or piece.text not in JOINERS:
                clause.link = piece.text
            if piece.text in ("who", "which", "where", "that"):
                clause.antecedent = self.last_noun()
        elif piece.kind == "adverb":
            clause.adverbs.append(piece.text)
        elif piece.kind == "hedge":
            clause.hedged = True
        elif piece.kind in ("negation", "unknown"):
            clause.unknown.append(piece.text)

    def _subject(self, clause: Clause) -> None:
        """The nouns in front of the verb, with a clause set between them and the verb."""
        while isinstance(noun := self.peek(), Noun):
            clause.subjects.append(noun)
            self.i += 1
            self.relative(noun)
            step = (
                1 if self.at("mark", "and", "or") else 2 if self.at("comma") and self.at("mark", "and", ahead=1) else 0
            )
            step = step or (1 if self.at("comma") and self.listed() else 0)
            if not step or not isinstance(self.peek(step), Noun):
                break
            self.i += step
        if clause.subjects:
            self._set_between(clause)
            self._skip_adverbs(clause)

    def _skip_adverbs(self, clause: Clause) -> None:
        while self.at("adverb") or self.at("hedge"):
            piece = self.peek()
            assert isinstance(piece, Word)
            clause.hedged = clause.hedged or piece.kind == "hedge"
            clause.adverbs += [piece.text] if piece.kind == "adverb" else []
            self.i += 1

    def _set_between(self, clause: Clause) -> None:
        """ "Mary, who was in the kitchen, replied": the clause between the commas comes first."""
        place = self.i
        if self.at("comma"):
            self.i += 1
        elif not self.at("mark", "who"):
            return
        inner = Clause(clause.start, clause.end, subjects=list(clause.subjects), link="who")
        self._skip_adverbs(inner)
        if self.at("mark", "who"):
            self.i += 1
            self._skip_adverbs(inner)
        piece = self.peek()
        if isinstance(piece, VerbGroup) and (not piece.finite or self.at("mark", "who", ahead=-1) or inner.adverbs):
            inner.verb, inner.start, inner.end = piece, piece.start, piece.end
            self.i += 1
            self.arguments(inner)
        else:
            while self.at("prep") and self._phrase(inner):
                pass
        ends = self.at("comma") or isinstance(self.peek(), VerbGroup)
        self.i += self.at("comma")
        self._skip_adverbs(inner)
        if not ends or not isinstance(self.peek(), VerbGroup) or (inner.objects and inner.verb is None):
            self.i = place
            return
        if inner.verb is not None or inner.places:
            self.out.append(inner)

    def arguments(self, clause: Clause, *, bare: bool = False) -> None:
        """What follows a verb; `bare`: of a relative clause, which takes nothing after a comma or an "and"."""
        while (piece := self.peek()) is not None:
            if self.content(clause):
                continue
            if isinstance(piece, Noun):
                if self.opens_clause(clause, 0):
                    return
                clause.objects.append(piece)
                self._take(clause, piece)
                self.relative(piece)
            elif isinstance(piece, Quote):
                clause.quotes.append(piece)
                self._take(clause, piece)
            elif isinstance(piece, VerbGroup) or not self._small(clause, piece, bare=bare):
                return

    def _take(self, clause: Clause, piece: Chunk) -> None:
        clause.end = max(clause.end, piece.end)
        self.i += 1

    def _small(self, clause: Clause, piece: Word, *, bare: bool) -> bool:
        """Takes a preposition, an adverb or a joining word; false if the clause ends here."""
        if piece.kind == "prep":
            return self._phrase(clause)
        if piece.kind in ("adverb", "hedge"):
            clause.adverbs.append(piece.text)
        elif piece.kind in ("unknown", "negation"):
            clause.unknown.append(piece.text)
        elif bare or not self._joined(clause):
            return False
        self._take(clause, piece)
        return True

    def _phrase(self, clause: Clause, *, fronted: bool = False) -> bool:
        """A preposition with its noun."""
        prep, noun = self.peek(), self.peek(1)
        if self.at("adverb", ahead=1) and isinstance(self.peek(2), Noun):
            noun = self.peek(2)
            self.i += 1
        if not isinstance(noun, Noun) or not isinstance(prep, Word):
            return False
        clause.places.append((prep.text, noun))
        self.i += 1
        self._take(clause, noun)
        if not (fronted and isinstance(self.peek(), Noun)):
            self.relative(noun)
        while self.at("mark", "and") and isinstance(more := self.peek(1), Noun) and not self.verb_after(2):
            if self.gap_ahead(clause, 1):
                break
            if more.kind == "agent" and noun.kind != "agent":
                break
            clause.places.append((prep.text, more))
            self.i += 1
            self._take(clause, more)
            self.relative(more)
        return True

    def _joined(self, clause: Clause) -> bool:
        """Whether a comma or "and" goes on with another object or phrase of the same verb."""
        ahead = 0
        while self.at("comma", ahead=ahead) or self.at("mark", *JOINERS, ahead=ahead) or self.at("adverb", ahead=ahead):
            ahead += 1
        ahead += self.at("colon", ahead=ahead) and isinstance(self.peek(ahead + 1), Quote)
        piece = self.peek(ahead)
        if piece is None or isinstance(piece, VerbGroup):
            return piece is None
        if isinstance(piece, Quote):
            return (clause.means("say", "ask") and not clause.quotes) or (
                clause.means("say", "ask", "add") and self.at("comma")
            )
        if isinstance(piece, Word) and piece.kind == "prep":
            return isinstance(self.peek(ahead + 1), Noun) and not self.fronted(ahead, piece)
        if isinstance(piece, Noun) and self.gap_ahead(clause, ahead):
            return False
        if isinstance(piece, Noun):
            return (
                bool(clause.objects or clause.places)
                and not self.verb_after(ahead + 1)
                and not self.listed_subject(ahead)
            )
        return False

    def opens_clause(self, clause: Clause, ahead: int) -> bool:
        """Whether a noun right here is the subject of the next clause, as after a quote."""
        piece = self.peek(ahead - 1)
        return isinstance(piece, (Quote, Word)) and self.verb_after(ahead + 1) and not self.content_verb(clause)

    def _swap(self, clause: Clause) -> None:
        """Puts the speaker of '"...", said Mary' where subjects are."""
        said = clause.quotes and clause.means("say", "ask") and not clause.link
        if said and not clause.subjects and clause.objects and clause.objects[0].kind in ("agent", "pronoun"):
            clause.subjects.append(clause.objects.pop(0))

    def _fragment(self, clause: Clause) -> Clause | None:
        """Nouns, phrases or quotes without a verb."""
        before = self.out[-1] if self.out else None
        if clause.subjects and before and before.verb and before.means("put", "move", "grab") and self.at("prep"):
            clause.verb, clause.objects, clause.subjects = before.verb, clause.subjects, []
            self.arguments(clause)
            return clause
        if clause.subjects:
            clause.end = max(clause.end, clause.subjects[-1].end)
            return clause
        if clause.quotes or clause.unknown or clause.places:
            return clause
        return None


def parse(pieces: Sequence[Chunk]) -> list[Clause]:
    """The clauses of a sentence that was cut into pieces."""
    return Parser(pieces).clauses()

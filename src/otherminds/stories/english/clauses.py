"""Clauses: who does what to what and where, with what links it to the clause before."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.inner_clauses import InnerClauses
from otherminds.stories.english.phrases import Chunk, Clause, Noun, Quote, VerbGroup, Word

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

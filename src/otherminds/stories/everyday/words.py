"""The words of stories about anything: forms and classes of verbs, small words, people. The data are in words.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from otherminds.files.toml import packaged
from otherminds.stories.english.lexicon import lexicon, singular

TAGS = ("s", "past", "pp", "ing")  # the order of the forms of an irregular verb in words.toml
DOUBLED = re.compile(r"[^aeiou][aeiou][bdgklmnprt]$")
PERSON_ENDINGS = (
    "man",
    "woman",
    "ist",
    "ologist",
    "ician",
    "keeper",
    "maker",
    "smith",
    "seller",
    "driver",
    "worker",
    "owner",
    "holder",
    "monger",
    "wright",
    "herd",
    "master",
    "mistress",
    "girl",
    "boy",
)
# Sets of small words that no noun phrase begins with, or goes on across; names of lists in words.toml
BOUNDARIES = (
    "prepositions",
    "modals",
    "negations",
    "subordinators",
    "conjunctions",
    "relatives",
    "questions",
    "pronouns",
    "anybody",
)


@dataclass(frozen=True)
class Vocabulary:
    """The lists of words.toml, as sets and tables."""

    verbs: Mapping[str, str]
    irregular: Mapping[str, str]
    small: Mapping[str, str]
    people: Mapping[str, str]
    cues: Mapping[str, Sequence[str]]
    related: Mapping[str, str]

    @cached_property
    def forms(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """For every written form of a listed verb: its base forms, each with its tags (base, s, past, pp, ing)."""
        found: dict[str, dict[str, set[str]]] = {}

        def add(form: str, lemma: str, tag: str) -> None:
            found.setdefault(form, {}).setdefault(lemma, set()).add(tag)

        irregular = {}
        for entry in self.irregular["forms"].split(";"):
            lemma, *rest = entry.split()
            irregular[lemma] = rest
        lemmas = {phrase.split("_")[0] for words in self.verbs.values() for phrase in words.split()} | set(irregular)
        for lemma in lemmas:
            add(lemma, lemma, "base")
            written = irregular.get(lemma) or regular(lemma)
            for forms, tag in zip(written, TAGS, strict=True):
                for form in forms.split("/"):
                    add(form, lemma, tag)
        return {form: {one: frozenset(tags) for one, tags in lemmas.items()} for form, lemmas in found.items()}

    @cached_property
    def senses(self) -> Mapping[str, frozenset[str]]:
        """The classes of every verb or verb phrase ("pick_up")."""
        found: dict[str, set[str]] = {}
        for sense, words in self.verbs.items():
            for phrase in words.split():
                found.setdefault(phrase, set()).add(sense)
        return {phrase: frozenset(senses) for phrase, senses in found.items()}

    def knows(self, lemma: str) -> bool:
        """Whether a verb is listed here, or in the lexicon of households."""
        one = lemma.split("_")[0]
        known = (
            self.forms.get(one)
            or lexicon().forms.get(one)
            or self.forms.get(one + "e")
            or self.forms.get(one + one[-1:])
        )
        return known is not None or one in ("be", "have", "do")

    @cached_property
    def sets(self) -> Mapping[str, frozenset[str]]:
        """The small words and people by list."""
        tables = (*self.small.items(), *self.people.items())
        return {name: frozenset(word.replace("_", " ") for word in words.split()) for name, words in tables}

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """The words by which a story shows what somebody needs, by the need."""
        return {need: frozenset(words.split()) for need, words in self.related.items()}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The pronoun that usually stands for a name: a hint."""
        known = dict(lexicon().gender)
        for pronoun in ("he", "she"):
            known |= dict.fromkeys(self.people[f"names_{pronoun}"].split(), pronoun)
        return known

    def person(self, word: str) -> str | None:
        """The pronoun of a person of this role or kinship: he, she, or they for either; None if it is no person."""
        one = "child" if word == "children" else singular(word)
        one = one[:-2] + "an" if one.endswith("men") else one
        for name in (one, *one.split("-")[1:][-1:]):  # "ex-husband" is a husband
            for pronoun in ("he", "she"):
                if name in self.sets[f"{pronoun}_roles"]:
                    return pronoun
            if name in self.sets["either"]:
                return "they"
        return "they" if one.endswith(PERSON_ENDINGS) and len(one) > 5 and not is_in(one, "tools") else None


def regular(lemma: str) -> tuple[str, ...]:
    """Third person, past, participle and -ing form of a regular verb, by the rules of spelling."""
    if lemma.endswith("e"):
        past, ing = lemma + "d", (lemma if lemma.endswith(("ee", "oe", "ye")) else lemma[:-1]) + "ing"
    elif lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        past, ing = lemma[:-1] + "ied", lemma + "ing"
        return lemma[:-1] + "ies", past, past, ing
    else:
        stem = lemma + lemma[-1] if DOUBLED.search(lemma) and len(lemma) < 6 else lemma
        past, ing = stem + "ed", stem + "ing"
    third = lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    return third, past, past, ing


@cache
def vocabulary() -> Vocabulary:
    """The words that come with the package."""
    told: dict[str, Any] = packaged("otherminds.stories.everyday", "words.toml")
    people = {f"{name}_roles" if name in ("he", "she") else name: words for name, words in told.pop("people").items()}
    return Vocabulary(people=people, **told)


@cache
def cue(name: str) -> re.Pattern[str]:
    """The pattern of a list of cues, compiled at first use: most stories call for few of them."""
    return re.compile("|".join(vocabulary().cues[name]))


def is_in(word: str, *names: str) -> bool:
    """Whether a word is in one of the small sets."""
    sets = vocabulary().sets
    return any(word in sets[name] for name in names)


def words_of(name: str) -> frozenset[str]:
    """One of the small sets of words."""
    return vocabulary().sets[name]

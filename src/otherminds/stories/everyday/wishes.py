"""What somebody wants: what their words, wishes and deeds in the story aim at, and the option that says the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from otherminds.stories.english.lexicon import singular
from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause, inside
from otherminds.stories.everyday.scene import Read, Scene
from otherminds.stories.everyday.words import cue, is_in, vocabulary, words_of

COMMON = words_of("common") | words_of("idle_words")
AGAINST = re.compile(
    r"\b(?:avoid|not|never|without|escape|stop|keep .{1,24}(?:out|off|away|from)|prevent|no|n't)\b|n't\b"
)
SUFFIX = re.compile(r"(?:ing|ed|ly|er|y|e)$")
NEED = "need of "  # before the name of a need, among the base forms of words
STATED, SHOWN = 2, 1  # weights of a word of a stated wish or a choice, and of another word or deed of theirs (chosen)
LONG = 4  # words of its own of an option that says more than what is wanted (chosen)
MAIN = 0.5  # least share of these that wishes must name (chosen)
LEAD = 2  # least score, and lead, of the option that is the answer (chosen)
SHARE = 0.7  # of the words of a wish that is asked about, which a wish of the story must have (chosen)


MEALS = frozenset(["breakfast", "lunch", "dinner", "supper"])
VOID = ("pronouns", "possessives", "modals", "times")  # sets of words that say nothing of what is wanted
GETTING = ("find", "get", "buy", "have", "take", "own")


@dataclass(frozen=True)
class Aim:
    """Words for what somebody wants or shows that they want, or want not."""

    stems: frozenset[str]
    against: bool | None  # None if the words do not say which
    weight: int


def wished_option(scene: Scene, who: str, text: str, question: Clause, options: Sequence[str]) -> str | None:
    """The option that shares most with what somebody aims at; None if none leads clearly.

    If the question is why they did something, the purposes of that deed count as well: "ran to catch the bus".
    """
    if question.means("say") and not question.means("want"):
        return None  # why somebody says something is seldom told by the words of their wishes
    aims = aims_of(scene, who, "" if question.means("want") else question.lemma)
    known = {stem for stem in _stems(text) if not stem.startswith(NEED)} | {
        word for one in scene.people.values() for word in _names(one.names | one.roles)
    }
    stems = [_stems(option) - known for option in options]
    shared = Counter(stem for one in stems for stem in one)
    # what is stated comes first; what is only shown, and the need that it shows, decide if nothing is
    for least, needs in ((STATED, False), (SHOWN, True)):
        found = [aim for aim in aims if aim.weight >= least]
        scores = []
        for option, words in zip(options, stems, strict=True):
            against = AGAINST.search(option.lower()) is not None
            own = [stem for stem in words if shared[stem] == 1 and not stem.startswith(NEED)]
            others = [aim for aim in found if not aim.stems & {*own}]  # a word and its need count once
            wanting = [stem for stem in words if shared[stem] == 1 and needs and stem.startswith(NEED)]
            score = sum(_score(found, stem, against) for stem in own)
            scores.append(score + sum(_score(others, stem, against) for stem in wanting))
        ranked = sorted(scores, reverse=True)
        if len(ranked) < 2:
            return None
        only = ranked[0] > 0 > ranked[1]  # all others are rejected
        if only or (ranked[0] >= LEAD and ranked[0] - max(ranked[1], 0) >= LEAD):
            best = scores.index(ranked[0])
            own = [stem for stem in stems[best] if shared[stem] == 1 and not stem.startswith(NEED)]
            named = sum(any(stem in aim.stems for aim in found) for stem in own)
            return options[best] if len(own) < LONG or named >= MAIN * len(own) else None
    return None


def wants(scene: Scene, who: str, wish: str) -> bool | None:
    """Whether somebody wants what these words say; None if the story does not say it."""
    known = {word for one in scene.people.values() for word in _names(one.names | one.roles)}
    asked = _stems(wish) - known
    stated = [one for one in aims_of(scene, who) if one.weight >= STATED]
    fits = {one.against for one in stated if asked and len(asked & one.stems) / len(asked) >= SHARE}
    return not fits.pop() if len(fits) == 1 else None


def _score(aims: Sequence[Aim], stem: str, against: bool) -> int:
    """The weight of a word: that of the strongest aim that has it, negative if that is the contrary.

    A need, which no word may name, weighs the more the oftener it shows, up to that of a stated wish.
    """
    fits = [one for one in aims if stem in one.stems]
    contrary = [one.weight for one in fits if one.against not in (None, against)]
    agreeing = [one.weight for one in fits if one.against in (None, against)]
    if contrary:
        return -max(contrary) if STATED not in agreeing else 0
    return min(sum(agreeing), STATED) if stem.startswith(NEED) else max(agreeing, default=0)


def aims_of(scene: Scene, who: str, action: str = "") -> list[Aim]:
    """What somebody aims at, by all that the story says of them."""
    found = list[Aim]()
    for one in scene.read:
        subject = one.clause.subject
        crowd = subject is not None and is_in(subject.head, "groups")
        if (who in one.people and not crowd) or _of_body(scene, one.clause, who):
            beside = [part for part in scene.read if part.sentence == one.sentence and part is not one]
            for text, against, weight in _texts(one, action, beside):
                found.append(Aim(_stems(text), against, weight))
    return found


def _texts(one: Read, action: str, beside: Sequence[Read]) -> Iterable[tuple[str, bool | None, int]]:
    """Texts that say or show what is wanted, whether it is unwanted, and their weight."""
    clause = one.clause
    told = " ".join([*(noun.text for noun in clause.objects), *(part.words for part in inside(clause))])
    whole = " ".join([clause.words, *(part.words for part in inside(clause))])
    for quote in clause.quotes:
        for part in re.split(r"[.!?;]", quote.lower()):
            wish = cue("wish").search(part) is not None
            yield part, AGAINST.search(part) is not None if wish else None, STATED if wish or action else SHOWN
    if clause.means("go", "come") and any(prep == "for" for prep, _ in clause.places):
        yield clause.words.partition(" for ")[2], None, STATED  # "has come for the book"
    done = clause.verb.perfect and not (clause.verb.progressive or clause.verb.negated)
    if clause.link == "if" or done:
        return  # what is done is wanted no more
    if clause.means("ask") and any(part.link == "to" for part in clause.content):
        yield told, None, STATED  # "asked her to stop the mower"
    elif clause.means("want"):
        yield told, clause.verb.negated != bool(AGAINST.search(told)), STATED
    elif clause.lemma in ("be", "feel") and any(stem.startswith(NEED) for stem in _stems(told)):
        dummy = clause.subject is not None and clause.subject.pronoun in ("there", "it")
        yield told, None, SHOWN if clause.verb.negated or dummy else STATED  # "was thirsty"
    elif cue("rejecting").search(whole):
        yield whole, True, STATED
    elif cue("choosing").search(whole):
        yield whole, False, STATED
    else:
        yield whole, None, SHOWN
    if action and clause.lemma == action:
        purposes = [part.words for part in clause.content if part.link == "to"]
        purposes += [part.text for part in beside if part.clause.link in ("so that", "because", "since")]
        for purpose in purposes:
            yield purpose, AGAINST.search(purpose) is not None, STATED


def _of_body(scene: Scene, clause: Clause, who: str) -> bool:
    """Whether a clause tells of a part of somebody's body: "her fingers were numb"."""
    subject = clause.subject
    part = subject is not None and is_in(subject.head, "body_parts")
    return part and subject is not None and subject.owner is not None and scene.may_be(subject.owner) == {who}


def _names(words: Collection[str]) -> set[str]:
    return {stem for word in words for stem in _stems(word)}


def _stems(text: str) -> frozenset[str]:
    """The words that say something, each by its base form where it is known, with those of its kind of need."""
    return frozenset(
        stem
        for word in re.findall(r"[a-z]+", text.lower())
        if len(word) > 2 and word not in COMMON and (word in MEALS or not is_in(word, *VOID))
        for stem in _stem(word)
    )


def _stem(word: str) -> set[str]:
    forms = vocabulary().forms
    base = min(forms[word], key=len) if word in forms else singular(word)
    stem = SUFFIX.sub("", base) if len(base) > 5 else base
    return {stem.removesuffix("e") if len(stem) > 4 else stem} | {
        NEED + need for need, words in vocabulary().needs.items() if {word, base} & words
    }


def _changes_mind(scene: Scene, who: str) -> bool:
    """Whether somebody takes back what they wanted: "changed her mind", "the red one instead"."""
    own = [one.clause for one in scene.read if who in one.people]
    told = [text for one in own for text in (*one.quotes, *(part.words for part in (one, *inside(one))))]
    return cue("reconsiders").search(" ".join(told).lower()) is not None


def wanted_thing(scene: Scene, who: str) -> str | None:
    """The only thing that somebody reaches for, asks for or says they want; None if there is none, or two."""
    found: dict[str, str] = {}
    for one in scene.read:
        clause = one.clause
        if who not in one.people or clause.verb.negated or clause.link == "if":
            continue
        nouns = list[Noun]()
        if cue("pointing").search(clause.words):
            nouns += [noun for prep, noun in clause.places if prep in ("at", "to", "for", "towards", "toward")]
        if clause.means("want"):
            nouns += [
                *clause.objects,
                *(noun for part in inside(clause) if part.lemma in GETTING for noun in part.objects),
            ]
        nouns = [
            noun for noun in nouns if noun.words and not is_in(noun.head, "quantities") and not scene.is_person(noun)
        ]
        found |= {noun.head: noun.text for noun in nouns}
    return next(iter(found.values())) if len(found) == 1 and not _changes_mind(scene, who) else None

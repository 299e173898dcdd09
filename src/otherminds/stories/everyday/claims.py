"""What somebody believes of what others tell them, or of what is in a box with a label."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from otherminds.stories.english.lexicon import singular
from otherminds.stories.english.sentences import plain, tokens
from otherminds.stories.everyday.chunks import Noun
from otherminds.stories.everyday.clauses import Clause, inside, parse
from otherminds.stories.everyday.knowledge import content, quoted, says_same, words_in
from otherminds.stories.everyday.scene import Place, Read, Scene, singulars
from otherminds.stories.everyday.words import cue, is_in
from otherminds.worlds.household.nested_belief import StatementEvent

TIMES = ("when", "before", "after", "while", "as", "if")
DENIED = re.compile(r"\b(?:not|never|no|nobody)\b|n't\b")


def believes_claim(scene: Scene, who: str, said: Clause) -> bool | None:
    """Whether somebody believes what they were told in other words; None if they were not, or it is open.

    Whoever trusts a speaker believes them; whoever saw what happened, or doubts them, does not.
    """
    wanted, claims, asked = content(said), list[bool](), False
    for one in scene.read:
        if who in one.people or (one.hearers and who not in one.hearers):
            asked |= one.clause.means("ask") and any(_tells(inner, said, wanted) for inner in inside(one.clause))
            continue
        if one.clause.means("say") and not one.clause.verb.negated:
            claims += [inner.verb.negated for inner in inside(one.clause) if _tells(inner, said, wanted)]
            claims += [DENIED.search(quote.lower()) is not None for quote in one.clause.quotes if quoted(wanted, quote)]
        if asked and (answer := re.match(r"\W*(yes|no)\b", " ".join(one.clause.quotes).lower())):
            claims.append(answer[1] == "no")  # "yes" to what was asked
    if not claims and _told_else(scene, who, said):
        return False
    if not claims or len({*claims}) > 1:
        return None
    own = [one for one in scene.read if who in one.people]
    trusted = [one.number for one in own if _trusts(one.clause)]
    if trusted and _learns(scene, who, min(trusted)):
        return None  # "he believed it, but then he saw ..."
    trusts = bool(trusted)
    doubts = any(_doubts(one.clause) for one in own)
    saw = any(part.means("see") and not part.verb.negated and _reveals(part, wanted) for part in _of(scene, who))
    if trusts == (doubts or saw):
        return None
    return trusts == (claims[0] == said.verb.negated) if trusts or claims[0] == said.verb.negated else None


def _told_else(scene: Scene, who: str, asked: Clause) -> bool:
    """Whether somebody trusts a speaker who did, or knows, what is asked and told them something else."""
    own = [one for one in scene.read if who in one.people]
    trusted = [one.number for one in own if _trusts(one.clause)]
    done = [one for one in scene.read if who not in one.people and _tells_same(one.clause, asked)]
    said = [
        one
        for one in scene.read
        if one.clause.means("say") and who not in one.people and (who in one.hearers or not one.hearers)
    ]
    speakers = {person for one in said for person in one.people}
    knows = any({*one.people} & speakers for one in done)
    doubts = any(_doubts(one.clause) for one in own)
    return bool(trusted and knows and len(speakers) == 1 and not doubts and not _learns(scene, who, min(trusted)))


def _tells_same(clause: Clause, asked: Clause) -> bool:
    """Whether a clause tells of the deed that is asked about, with a pronoun or the same noun for its thing."""
    same = clause.lemma == asked.lemma and clause.lemma != "be" and not clause.verb.negated and not asked.verb.negated
    pronouns = any(noun.pronoun for noun in (clause.subject, *clause.objects) if noun is not None)
    return same and (pronouns or says_same(content(asked), content(clause)))


def trusted_place(scene: Scene, who: str, thing: str) -> Place | None:
    """Where somebody was told that a thing is, if the story says that they trust it and they learn no more of it."""
    told = [
        one
        for one in scene.log
        if isinstance(one.event, StatementEvent) and one.event.obj == thing and one.actor != who
    ]
    if (
        len(told) != 1
        or not isinstance(event := told[0].event, StatementEvent)
        or who not in event.hearers
        or told[0].place is None
        or thing not in scene.things
    ):
        return None
    own = [one for one in scene.read if who in one.people]
    wanted = scene.things[thing].words[-1:]
    after = [one for one in own if one.number >= told[0].clause]
    trusts = any(_trusts(one.clause) for one in own) or any(one.clause.lemma == "thank" for one in after)
    learns = any(one.clause.means("see", "know", "look", "think", "ask") and not _trusts(one.clause) for one in after)
    heard = any(who in one.hearers and one.number > told[0].clause for one in scene.read)
    saw = any(part.means("see") and not part.verb.negated and _reveals(part, wanted) for part in _of(scene, who))
    doubts = any(_doubts(one.clause) for one in own)
    return told[0].place if trusts and not (learns or heard or saw or doubts) else None


def _learns(scene: Scene, who: str, after: int) -> bool:
    """Whether somebody sees or learns anything after a clause."""
    later = [one.clause for one in scene.read if who in one.people and one.number > after]
    return any(one.means("see", "know") and not one.verb.negated for one in later)


def _trusts(clause: Clause) -> bool:
    words = " ".join(part.words for part in (clause, *inside(clause)))
    past = clause.verb.perfect and clause.means("think") and "had" in clause.words.split()
    if cue("early").search(words) or past:
        return False  # "believed her at first", "had believed her"
    if cue("distrust").search(words):
        return cue("trusted").search(words) is not None
    trusted = cue("believed").search(words) or cue("trusted").search(words)
    return bool(trusted or clause.lemma in ("believe", "trust")) and (bool(trusted) or not clause.verb.negated)


def _doubts(clause: Clause) -> bool:
    words = " ".join(part.words for part in (clause, *inside(clause)))
    doubted = cue("distrust").search(words) and not cue("trusted").search(words)
    denied = cue("unbelieving").search(" ".join(clause.quotes).lower()) is not None
    return bool(doubted) or denied or (clause.lemma in ("believe", "trust") and clause.verb.negated)


def _of(scene: Scene, who: str) -> list[Clause]:
    """All clauses, and those in them, that may have somebody as their subject."""
    parts = [part for one in scene.read for part in (one.clause, *inside(one.clause))]
    parts = [part for part in parts if part.verb.form != "inf"]  # "did not want her to see it"
    return [part for part in parts if part.subject is not None and who in scene.may_be(part.subject)]


def _reveals(clause: Clause, wanted: Collection[str]) -> bool:
    """Whether what is seen has to do with what is asked: a thing or deed in it, or "it all"."""
    whole = any(is_in(noun.pronoun, "whole") for noun in clause.objects if noun.pronoun)
    seen = content(clause).union(*(content(part) for part in inside(clause)))
    return whole or bool({*wanted} & seen)


def _tells(inner: Clause, said: Clause, wanted: Collection[str]) -> bool:
    """Whether a clause says the same as another; "it" and "he" may stand for what the other names."""
    words = content(inner)
    pronoun = inner.subject is not None and inner.subject.pronoun and said.subject is not None
    rest = {*wanted} - (words_in(said.subject) if pronoun and said.subject is not None else set())
    return says_same(wanted, words) or (bool(pronoun and rest) and rest <= words)


def believed_agent(scene: Scene, who: str, done: Clause, options: Sequence[str]) -> str | None:
    """Who somebody believes did something, or has something, by what they were told and trust; None if it is open."""
    said = [one for one in scene.read if who not in one.people and (who in one.hearers or not one.hearers)]
    said = [one for one in said if one.clause.means("say")]
    told = [part for one in said for part in (*inside(one.clause), *_in_quotes(one.clause))]
    agents = [noun for part in told if (noun := _agent(part, done)) is not None]
    own = [one for one in scene.read if who in one.people]
    trusted = [one.number for one in own if _trusts(one.clause)]
    doubts = any(_doubts(one.clause) for one in own)
    if len(agents) != 1 or not trusted or doubts or _learns(scene, who, min(trusted)):
        return None
    head = agents[0].head
    named = [option for option in options if head in singulars(re.findall(r"\w+", option.lower()))]
    return agents[0].text if not options else named[0] if len(named) == 1 else None


def _in_quotes(clause: Clause) -> list[Clause]:
    """The clauses of what is said in a clause."""
    parts = [part for quote in clause.quotes for part in re.split(r"[.!?;]", quote)]
    return [one for part in parts for one in parse(tokens(plain(part)), set(re.findall(r"\b[A-Z][a-z]+", part)))]


def _agent(told: Clause, done: Clause) -> Noun | None:
    """Who did what is asked about, as a clause tells it; None if it tells of something else."""
    if told.verb.negated or told.link in TIMES:
        return None
    if done.lemma == "have" and told.means("hand"):
        return next((noun for prep, noun in told.places if prep == "to"), None)  # "lent it to the plumber"
    same = told.lemma in (done.lemma, "get") or content(done) & content(told)
    it = any(noun.pronoun in ("it", "them") for noun in told.objects)
    subject = told.subject
    return subject if subject is not None and subject.words and (same or it) else None


def believed_contents(scene: Scene, who: str, container: str, options: Sequence[str]) -> str | None:
    """What somebody believes is in a container that they have not looked into: what its name or label says."""
    label, own = set[str](), [one for one in scene.read if who in one.people]
    for one in scene.read:
        shown = cue("label").search(one.text)
        if shown and re.search(rf"\b{container}\b", one.text):
            label |= singulars(re.findall(r"[a-z]+", one.text[shown.end() :]))
        label |= {word for noun in one.clause.nouns if noun.head == container for word in noun.words[:-1]}
    informed = any(who in one.hearers for one in scene.read) or any(_looks_in(one, container) for one in own)
    named = [option for option in options if label & singulars(re.findall(r"[a-z]+", option.lower()))]
    return named[0] if own and not informed and len(named) == 1 else None


def _looks_in(one: Read, container: str) -> bool:
    """Whether somebody looks into a container, handles it, or knows what is in it; to see it closed is too little."""
    clause = one.clause
    if clause.verb.negated:
        return False
    named = any(noun.head == container or noun.pronoun == "it" for noun in clause.nouns if noun is not clause.subject)
    if clause.means("look", "put", "take", "move") and not clause.means("see", "go", "come"):
        return named
    others = [noun for part in (clause, *inside(clause)) for noun in part.nouns if noun is not clause.subject]
    return clause.means("see", "know") and any(noun.head != container for noun in others)


def jokes(scene: Scene, who: str) -> bool:
    """Whether somebody says something with a wink, a grin or the like, or others take it as a joke."""
    for one in scene.read:
        if who in one.people and (one.clause.means("say") or one.clause.quotes):
            near = [part for part in scene.read if part.sentence == one.sentence and who in part.people]
            after = [part for part in scene.read if part.number == one.number + 1 and who not in part.people]
            if any(cue("joke").search(part.text) for part in near) or any(
                part.clause.lemma in ("laugh", "giggle", "chuckle", "burst") for part in after
            ):
                return True
    return False


def lies(scene: Scene, who: str) -> bool | None:
    """Whether somebody says what they know is not so; None if the story does not tell."""
    own = [one for one in scene.read if who in one.people]
    said = [one for one in own if one.clause.quotes or (one.clause.means("say") and one.clause.content)]
    if not said or jokes(scene, who):
        return None
    words = {
        singular(word) for one in said for quote in one.clause.quotes for word in re.findall(r"[a-z]+", quote.lower())
    }
    words = words.union(*(content(part) for one in said for part in inside(one.clause)))
    known = [part for one in own if one.clause.means("know") for part in inside(one.clause) if part.subject is not None]
    spoken = {word for one in said for word in re.findall(r"[a-z]+", " ".join(one.clause.quotes).lower())}
    thought = [part for one in own if one.clause.means("think") for part in inside(one.clause)]
    mistaken = any(words & content(part) or part.words.strip(" .,") in ("it was", "it is") for part in thought)
    told = " ".join(part.words for one in own for part in (one.clause, *inside(one.clause)))
    deceives = cue("deceit").search(told) is not None
    for part in known:  # the same thing, and something else of it
        subject = part.subject.head or part.subject.pronoun if part.subject is not None else ""
        deceives |= bool({subject, "it"} & spoken) and not (content(part) - {subject}) & words
    return True if deceives and not mistaken else False if mistaken and not deceives else None

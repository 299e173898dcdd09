"""Answers to questions about stories about anything: the posterior over the readings that the words leave open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from otherminds.distribution import IMPOSSIBLE
from otherminds.stories import model as stories
from otherminds.stories.english.sentences import plain, tokens
from otherminds.stories.everyday.changes import option_after_change
from otherminds.stories.everyday.chunks import Chunker
from otherminds.stories.everyday.contents import expected_option
from otherminds.stories.everyday.conversations import known_option
from otherminds.stories.everyday.doubts import Doubts
from otherminds.stories.everyday.questions import NO, YES, Judge, Query, read_query
from otherminds.stories.everyday.reading import play, sentences_of
from otherminds.stories.everyday.scene import Fork, Place, Scene, readings, singulars
from otherminds.stories.everyday.witnesses import option_after_move
from otherminds.stories.everyday.words import is_in, words_of
from otherminds.stories.relevance import MARKS, OPEN, UNREAD

UNFORESEEN = (
    0.12  # probability that a story means something that is not among its readings (chosen, see docs/stories.md)
)
ELSEWHERE = "elsewhere"
SURE = 0.86  # least probability of an answer that is given (chosen on the development stories)

RARE = 0.02  # probability of a reading below which it is not searched for doubts, to save time (chosen)
SMALL = words_of("small")

Answered = tuple[stories.Reading, stories.Question | None, stories.Answer]


def answer(text: str, stem: str, options: Sequence[str]) -> Answered:
    """The account of the reading, the question and its answer. Abstains, with a reason, if an unread clause decides."""
    _, names = sentences_of(text)
    query = read_query(stem, options, names)
    if query is None:
        found = play(text, Fork(()), frozenset(), frozenset())
        abstained = stories.abstention(len(options), f"cannot read the question: {stem.strip()}")
        return _reading(text, *found), None, abstained
    _name_topic(text, query)
    weights: dict[str, float] = {}
    first: tuple[Scene, list[stories.ClauseAccount], Judge] | None = None

    def read(fork: Fork) -> tuple[Scene, list[stories.ClauseAccount], str | Place | None, Judge]:
        scene, accounts = play(text, fork, query.minds, query.topics, query.roles, query.names)
        judge = Judge(scene, query)
        return scene, accounts, judge.answer(), judge

    for (scene, accounts, value, judge), weight in readings(read):
        doubtful = False
        if first is None:
            first = scene, accounts, judge
        elif value is not None and not judge.by_signs and weight > RARE:
            doubtful = Doubts(scene, query, judge).first(accounts, sentences_of(text, query.names)[0]) is not None
        label = _label(value, query, scene)
        if label is not None and not doubtful:
            weights[label] = weights.get(label, 0.0) + weight
    assert first is not None
    scene, accounts, judge = first
    reading = _reading(text, scene, accounts)
    unread = None if judge.by_signs else Doubts(scene, query, judge).first(accounts, sentences_of(text, query.names)[0])
    unread = unread or _unexplained(accounts, query, scene, judge)
    labels = query.options or (
        (YES, NO) if query.asked == "" else tuple(dict.fromkeys([*weights, *_places(scene, judge), ELSEWHERE]))
    )
    asked = _question(query, judge, labels, scene)
    told = as_written(unread, text) if unread else ""
    surely = "" if told in reading.unread else " with certainty"
    why = f"{UNREAD}{surely}: {told.strip(MARKS)}" if unread else "the story does not tell"
    if not weights or not labels:
        return reading, asked, stories.abstention(len(labels), why)
    even = UNFORESEEN / len(labels)
    posterior = tuple((1.0 - UNFORESEEN) * weights.get(label, 0.0) + even for label in labels)
    posterior = tuple(p / sum(posterior) for p in posterior)
    best = max(range(len(labels)), key=posterior.__getitem__)
    if unread:
        return reading, asked, stories.abstention(len(labels), why)
    if weights.get(labels[best], 0.0) < SURE:
        return reading, asked, stories.Answer(None, posterior, abstained=OPEN)
    return reading, asked, stories.Answer(best, posterior, _terms(scene, judge, best, len(labels)))


def answer_by_presence(text: str, stem: str, options: Sequence[str]) -> Answered | None:
    """The answer by who perceived a change, a conversation, or what is in a labelled box; None if it is about neither.

    It rests on few things that the story says: these, and who was there or has looked.
    """
    if not options:
        return None
    _, names = sentences_of(text)
    named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", stem)]
    scene, accounts = play(text, Fork(()), frozenset(), frozenset())
    who = named if len(named) < 2 else [name for name in named if name in scene.people]  # "Mount Fuji" is nobody
    found = (
        known_option(text, stem, options)
        or expected_option(text, stem, options)
        or option_after_move(text, stem, options)
    )
    if found is None and len(who) == 1:
        found = option_after_change(text, stem, who, options)
    if found is None:
        return None
    best = options.index(found.option)
    posterior = tuple(SURE if n == best else (1.0 - SURE) / (len(options) - 1) for n in range(len(options)))
    claims = tuple(stories.AnswerOption(()) for _ in options)
    asked = stories.Question("", claims, kind="state", labels=tuple(options))
    return _reading(text, scene, accounts), asked, stories.Answer(best, posterior, passages=found.passages)


def _name_topic(text: str, query: Query) -> None:
    """If a question names no thing, as "What will she do?", take it to be about the thing that its answer rests on."""
    contents = any(f" of {word}" in text or f" of {word}s" in text for word in query.topics)
    if query.topics and not contents:
        return
    scene, _ = play(text, Fork(()), query.minds, query.topics, query.roles, query.names)
    judge = Judge(scene, query)
    judge.answer()
    if judge.thing in scene.things:
        query.topics |= singulars(scene.things[judge.thing].words)


def _label(value: str | Place | None, query: Query, scene: Scene) -> str | None:
    """The option, or else the words, that an answer stands for."""
    if value is None:
        return None
    if not query.options:
        return value if isinstance(value, str) else value.text
    if isinstance(value, str):
        same = [
            option
            for option in query.options
            if option.lower().strip(" .").startswith(value.lower()) or option == value
        ]
        return same[0] if len(same) == 1 else None
    fits = [option for option in query.options if _fits(option, value, query, scene)]
    return fits[0] if len(fits) == 1 else None


def _fits(option: str, value: Place, query: Query, scene: Scene) -> bool:
    found = tokens(plain(option).strip().rstrip("."))
    chunks = Chunker(found, query.names).chunks()
    phrases, prep = [], "in"
    said = False
    for chunk in chunks:
        if chunk.kind == "prep":
            prep, said = chunk.word, True
        elif chunk.noun is not None:
            phrases.append((prep, chunk.noun))
    if not phrases:
        return False
    if scene.is_person(phrases[-1][1]) and value.holder:
        return scene.person(phrases[-1][1], create=False) == value.holder
    place = scene.place(phrases)
    if place is None:
        return False
    return value.fits(place if said else Place("", place.words, place.around, place.text))


def _places(scene: Scene, judge: Judge) -> list[str]:
    """The places where the thing asked about has been, in words."""
    return [one.place.text for one in scene.log if one.event.obj == judge.thing and one.place is not None]


def _unexplained(accounts: Sequence[stories.ClauseAccount], query: Query, scene: Scene, judge: Judge) -> str | None:
    """A clause that names the thing together with a place among the options where, as read, the thing never was."""
    if query.asked != "where":
        return None
    been = [one.place for one in scene.log if one.event.obj == judge.thing and one.place is not None]
    for option in query.options:
        words = [word for word in re.findall(r"[a-z]+", option.lower()) if word not in SMALL]
        if words and any(
            words[-1] in {name.lower() for name in (*one.names, *one.roles)} for one in scene.people.values()
        ):
            continue  # somebody, and no place
        if not words or any(
            words[-1] in {*place.words, *place.around} or _fits(option, place, query, scene) for place in been
        ):
            continue
        for account in accounts:
            if account.outcome == "event" and '"' in account.text:
                continue
            said = set(re.findall(r"[a-z]+", account.text.lower()))
            if words[-1] in said and said & (query.topics | {"it", "them"}) - set(words):
                return account.text
    return None


def as_written(words: str, text: str) -> str:
    """The part of a text that consists of these words, which may have lost their capitals; else the words."""
    found = re.search(r"\W+".join(map(re.escape, re.findall(r"\w+", words))) or r"\Z.", plain(text), re.IGNORECASE)
    return " ".join(text[found.start() : found.end()].split()) if found else words


def _reading(text: str, scene: Scene, accounts: Sequence[stories.ClauseAccount]) -> stories.Reading:
    """The account of a reading, with its people, things and events as an episode."""
    people = tuple(scene.people)
    entities = [stories.Entity(key, "agent") for key in people]
    entities += [stories.Entity(key, "object") for key in scene.things]
    entities += [stories.Entity(key, "place") for key in scene.places if key not in people and key not in scene.things]
    episode = stories.Episode(
        "", people, tuple(entities), (), tuple(_happening(scene, n) for n in range(len(scene.log)))
    )
    unread = tuple(as_written(one.text, text) for one in accounts if one.outcome == "unread")
    share = 1.0 - len(unread) / len(accounts) if accounts else 0.0
    return stories.Reading(episode, (), share, unread, tuple(accounts))


def _happening(scene: Scene, n: int) -> stories.Happening:
    one = scene.log[n]
    words = one.place.text.split() if one.place else []
    while len(words) > 1 and is_in(words[0].lower(), "prepositions", "determiners"):
        words = words[1:]  # reports add the article
    place = " ".join(words) or None
    fact = stories.Fact("at", one.event.obj, place)
    if one.verb == "say":
        return stories.Utterance(n, one.actor, "assert", fact)
    if one.verb == "believe":
        return stories.Observation(n, one.actor, fact)
    return stories.Event(n, one.actor, "put", one.event.obj, place)


def _question(query: Query, judge: Judge, labels: Sequence[str], scene: Scene) -> stories.Question:
    """The question as data: for places, what each option claims."""
    options = []
    for label in labels:
        claims: tuple[stories.Claim, ...] = ()
        if query.asked == "where" and judge.thing is not None:
            content: stories.Fact | stories.Belief = stories.Fact("at", judge.thing, label)
            for who in reversed(judge.chain):
                content = stories.Belief(who, content)
            claims = (content if isinstance(content, stories.Belief) else stories.Holds(content),)
        options.append(stories.AnswerOption(claims))
    return stories.Question("", tuple(options), kind=query.asked or "yes or no", labels=tuple(labels))


def _terms(scene: Scene, judge: Judge, best: int, n: int) -> tuple[stories.Term, ...]:
    """The happenings that the answer rests on: the last one that the minds know of, and the last of all."""
    logs = [IMPOSSIBLE] * n
    logs[best] = 0.0
    about = [k for k, one in enumerate(scene.log) if one.event.obj == judge.thing]
    reached = [k for k in about if not judge.chain or scene.log[k].event.reaches(judge.chain[0])]
    chosen = sorted({*reached[-1:], *about[-1:]})
    return tuple(stories.Term(k, _happening(scene, k), tuple(logs)) for k in chosen)

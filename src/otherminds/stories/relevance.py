"""Unread clauses that could change an answer: their possible readings, and the answer over all of them.

A clause that was not read may still place, move or show a thing, tell somebody something, or concern where somebody is
and what they see. Its words limit what: only the people, things and places that it may be about. The question is
answered under each possible reading. If all agree, that is the answer. If not, the clause may decide: often where
something is or is believed to be, seldom what somebody wants, which all that they do tells. Nothing is answered unless
it is probable enough that no clause decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from otherminds.stories import model as stories
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.sentences import LACKING, is_speech_verb
from otherminds.stories.model import Event, Fact, Happening, Observation, Utterance
from otherminds.stories.social_goals.inference import facts

UNNAMED_THING = frozenset(
    ("it", "them", "these", "those", "something", "everything", "anything", "all", "thing", "things")
)
UNNAMED_PERSON = wordset("pronouns") - {
    "it",
    "itself",
    "something",
    "nothing",
    "everything",
    "this",
    "that",
    "there",
    "here",
}
BECOMING = frozenset(("getting", "growing", "becoming", "turning", "dark", "late", "light", "long"))
ABSENT = frozenset(("there", "here", "gone", "missing", "away", "empty", "inside", "elsewhere"))
PLACES = 3  # of a thing, which an unread clause may name; more would rarely add another answer (chosen; not tuned)
READINGS = 40  # of one clause; bounds the time of an answer (chosen; not tuned)
# probability that a clause that may change the answer does: of those in retold and invented stories in the words of
# nine writers, 30 of 56 did for a place, 10 of 159 for a goal
DECIDES_PLACE = 0.5
DECIDES_GOAL = 0.1
UNDECIDED = 0.75  # least probability that no unread clause decides, for an answer (chosen; not tuned)
UNFORESEEN = 0.05  # probability that an unread clause means something that is not among its readings (chosen)
DAMAGED = 0.1  # probability that a text that lacks words lacks one that matters, such as "not" (chosen; not tuned)
PLACED = frozenset(("in", "on", "at", "to", "into", "onto", "from"))
ARTICLES = frozenset(("the", "a", "an", "no"))
CUT = re.compile(  # "put it on the", a quote without speaker, "did find" for "did not find", "she said, The cup was"
    r'\b(?:the|an?) *$|"\W*(?:said|asked|answered|explained|replied)\W*$|\b(?:does|did) (?:see|find|notice|spot)\b'
    r"|, (?:The|An?|She|He|It|They|There|No|From|Into|In|On|At|Over|Off|Absent)\b"
)
BARE = frozenset(("bed", "home", "school", "house", "table", "floor", "upstairs", "downstairs", "outdoors"))

MARKS = " ,;:"  # that may stand before and after a clause
UNREAD = "could not read"  # begins the reason for no answer if an unread clause decides
OPEN = "the story leaves it open"  # why there is no answer if the readings of a story disagree

Answerer = Callable[[stories.Episode], stories.Answer]


@dataclass(frozen=True)
class _About:
    """What an unread clause may be about."""

    people: tuple[str, ...]
    thing: str | None
    places: tuple[str, ...]
    rooms: tuple[str, ...]
    quoted: bool


def answer_over(reading: stories.Reading, question: stories.Question, answer: Answerer) -> stories.Answer:
    """The answer over the readings of the unread clauses; none, naming a clause, if one of them may well decide.

    A clause under one of whose readings the answer is another decides with probability d; there is an answer if
    Π (1 − d) ≥ `UNDECIDED`. Its posterior is mixed with even odds by d for each of these, and otherwise the mean over
    the readings, mixed with even odds for what was not foreseen: more if the text lacks words, as it may lack others
    without showing it.
    """
    combined = _answer_over(reading, question, answer)
    if combined.option is None or not any(map(lacks_words, reading.clauses)):
        return combined
    return replace(combined, posterior=_mixed(combined.posterior, DAMAGED))


def _mixed(posterior: Sequence[float], share: float) -> tuple[float, ...]:
    """The posterior mixed with even odds."""
    return tuple((1.0 - share) * p + share / len(posterior) for p in posterior)


def lacks_words(clause: stories.ClauseAccount) -> bool:
    """Whether a clause shows that words are missing: a place without article, a noun after another, no verb."""
    if CUT.search(clause.text):
        return True
    words = re.findall(r"[\w'-]+|[^\w\s]", clause.text.lower())
    places = (wordset("kinds") | wordset("rooms")) - BARE
    for first, second, third in zip(words, words[1:], [*words[2:], ""], strict=False):
        if first in PLACED and (second in places or f"{second} {third}" in places):
            return True  # "in kitchen"
    for first, _, third, fourth in zip(words, words[1:], words[2:], words[3:], strict=False):
        if first in ARTICLES and third in ARTICLES and fourth in places:
            return True  # "no apple the stove"
    known_words = lexicon().common | wordset("pronouns") | {name.lower() for name in clause.people}
    words = [word for word in words if word.isalpha()]
    acts = any(word in lexicon().forms or word not in known_words for word in words)
    return clause.outcome == "unread" and len(words) > 1 and not acts  # "she the fridge in the kitchen"


def _answer_over(reading: stories.Reading, question: stories.Question, answer: Answerer) -> stories.Answer:
    """The answer over all readings of the unread clauses, as `answer_over`."""
    combined = answer(reading.episode)
    unread = [clause for clause in reading.clauses if clause.outcome == "unread"]
    if combined.option is None or not unread:
        return combined
    things = things_at_issue(reading.episode, question)
    decides, clear = DECIDES_GOAL if asks_for_goal(question) else DECIDES_PLACE, 1.0
    for clause in unread:
        agreeing = []
        for alternative in _answers(clause, reading.episode, things, question, answer):
            if alternative.option != combined.option:
                first, clear = combined.unless or clause.text.strip(MARKS), clear * (1.0 - decides)
                combined = replace(combined, posterior=_mixed(combined.posterior, decides), unless=first)
                break
            agreeing.append(alternative.posterior)
        else:
            mean = [sum(column) / (len(agreeing) + 1) for column in zip(combined.posterior, *agreeing, strict=True)]
            combined = replace(combined, posterior=_mixed(mean, UNFORESEEN) if agreeing else combined.posterior)
    if clear < UNDECIDED:
        why = f"{UNREAD}: {combined.unless}"
        return replace(combined, option=None, leaning=combined.option, abstained=why, unless=None)
    return combined


def _answers(
    clause: stories.ClauseAccount,
    episode: stories.Episode,
    things: Sequence[str],
    question: stories.Question,
    answer: Answerer,
) -> Iterator[stories.Answer]:
    """The answers under the possible readings of an unread clause, without those that the story excludes."""
    for happenings in islice(possible(clause, episode, things, question), READINGS):
        alternative = answer(inserted(episode, clause.t, happenings))
        if alternative.option is not None or "explain" not in (alternative.abstained or ""):
            yield alternative


def asks_for_goal(question: stories.Question) -> bool:
    """Whether the options tell what somebody wants, or is believed to want."""
    claims = [claim for option in question.options for claim in option.claims]
    contents = [claim.content if isinstance(claim, stories.Belief) else claim for claim in claims]
    return any(isinstance(claim, stories.Goal | stories.SocialGoal) for claim in contents)


def things_at_issue(episode: stories.Episode, question: stories.Question) -> tuple[str, ...]:
    """The things on whose places the answer may depend: those claimed, presumed to be moved, and asked for."""
    claimed = [fact.subject for claim in question.claims for fact in facts(claim)]
    claimed += [
        claim.content.value
        for claim in question.claims
        if isinstance(claim, stories.Goal) and claim.content and claim.content.value
    ]
    moved = [event.obj for event in question.presumes if event.obj]
    sought = [utterance.content.subject for utterance in episode.utterances if utterance.content]
    return tuple(dict.fromkeys((*claimed, *moved, *sought)))


def possible(
    clause: stories.ClauseAccount, episode: stories.Episode, things: Sequence[str], question: stories.Question
) -> Iterator[tuple[Happening, ...]]:
    """What an unread clause may tell that bears on the things at issue."""
    about = _about(clause, episode, things)
    beliefs = all(not isinstance(claim, stories.SocialGoal | stories.Goal) for claim in question.claims)
    topics = [about.thing] if about.thing else list(things[:1]) if about.quoted else []
    for thing, agent in product(topics, about.people or episode.agents):
        for place in about.places[:PLACES] or _candidates(thing, episode, question):
            if about.thing:
                yield from _deeds(agent, thing, place)
            hearers = tuple(hearer for hearer in episode.agents if hearer != agent)
            yield (Utterance(0, agent, "assert", Fact("at", thing, place), hearers),)
        yield (Utterance(0, agent, "ask", Fact("at", thing)),) if about.quoted else (Event(0, agent, "grab", thing),)
    for agent in about.people:
        for place in about.places[:PLACES]:
            yield (Event(0, agent, "look", None, place),)
            yield (Event(0, agent, "walk", None, place),)
        for room in about.rooms[:PLACES]:
            yield (Event(0, agent, "enter", room=room),)
        if beliefs:
            yield from _perceptions(agent, things, episode)


def _deeds(agent: str, thing: str, place: str) -> Iterator[tuple[Happening, ...]]:
    """What somebody may do or see that concerns a thing and a place."""
    yield (Event(0, agent, "put", thing, place),)
    yield (Event(0, agent, "grab", thing, place),)
    yield (Observation(0, agent, Fact("at", thing, place)),)
    yield (Observation(0, agent, Fact("at", thing, place), sees=False),)


def _perceptions(agent: str, things: Sequence[str], episode: stories.Episode) -> Iterator[tuple[Happening, ...]]:
    """Where somebody may go, and what they may see or miss."""
    yield (Event(0, agent, "leave"),)
    for room in episode.named("room")[:PLACES]:
        yield (Event(0, agent, "enter", room=room),)
    for thing in things[:1]:
        yield (Observation(0, agent, Fact("at", thing)),)
        yield (Observation(0, agent, Fact("at", thing), sees=False),)


def _about(clause: stories.ClauseAccount, episode: stories.Episode, things: Sequence[str]) -> _About:
    """The people, the thing at issue, the places and the rooms that the words of a clause may stand for."""
    words = re.findall(r"[a-z]+", clause.text.lower())
    stems = {*words, *(word.removesuffix("s") for word in words), *(word.removesuffix("es") for word in words)}

    def named(kind: stories.EntityKind) -> tuple[str, ...]:
        entities = (entity.id for entity in episode.entities if entity.kind == kind)
        return tuple(entity for entity in entities if entity.lower().split()[-1] in stems)

    thing = next((candidate for candidate in things if candidate.split()[-1] in stems), None)
    nobody = not clause.people and not (UNNAMED_PERSON - wordset("nobody")) & set(words)
    placeless = not (named("place") or named("room"))
    if _only_describes(words) or (thing is None and nobody and placeless and words[-1:] and words[-1] in UNNAMED_THING):
        thing = None  # "neither party disputed it" tells of nobody in the story, and moves it nowhere
    elif thing is None and things and (UNNAMED_THING & set(words) or LACKING.search(clause.text)):
        thing = things[0]  # "puts it on the table", "puts the on the table"
    people = episode.agents if UNNAMED_PERSON & set(words) else clause.people
    quoted = any(mark in clause.text for mark in '"“”«»')
    quoted |= words[-1:] == ["that"] and any(is_speech_verb(words, i) for i in range(len(words)))  # "Ann reported that"
    return _About(tuple(people), thing, named("place"), named("room"), quoted)


def _only_describes(words: Sequence[str]) -> bool:
    """Whether a clause has no verb but "be", and no place: "it was almost noon", "there was a mug" move nothing."""
    vocabulary = lexicon()
    acts = {word for word in words if word in vocabulary.forms or word.endswith("ed")} - vocabulary.sets["auxiliaries"]
    placed = any(word in (wordset("kinds") | wordset("rooms")) - wordset("anywhere") for word in words)
    absent = bool(ABSENT & set(words)) and words[0] not in ("there", "here")
    is_told = bool(wordset("forms_of_be") & set(words))
    return is_told and not acts - BECOMING - wordset("moods") and not placed and not absent


def _candidates(thing: str, episode: stories.Episode, question: stories.Question) -> tuple[str, ...]:
    """Places where a thing may be if the clause names none: those of the options, then those of the story."""
    claimed = [fact.value for claim in question.claims for fact in facts(claim) if fact.subject == thing]
    stated_places = [u.content.value for u in episode.utterances if u.content and u.content.subject == thing]
    been = [event.place for event in episode.events if event.obj == thing]
    return tuple(dict.fromkeys(place for place in (*claimed, *stated_places, *been) if place))[:PLACES]


def inserted(episode: stories.Episode, t: int, happenings: Sequence[Happening]) -> stories.Episode:
    """The episode with some happenings after the first `t` of its text."""
    texts = [place for place, happening in enumerate(episode.timeline) if happening.source == "text"]
    place = texts[t] if t < len(texts) else len(episode.timeline)
    timeline = (*episode.timeline[:place], *happenings, *episode.timeline[place:])
    return replace(episode, timeline=tuple(replace(happening, t=t) for t, happening in enumerate(timeline)))

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
    found = _answer_over(reading, question, answer)
    if found.option is None or not any(map(lacks_words, reading.clauses)):
        return found
    return replace(found, posterior=_mixed(found.posterior, DAMAGED))


def _mixed(posterior: Sequence[float], share: float) -> tuple[float, ...]:
    """The posterior mixed with even odds."""
    return tuple((1.0 - share) * p + share / len(posterior) for p in posterior)


def lacks_words(clause: stories.ClauseAccount) -> bool:
    """Whether a clause shows that words are missing: a place without article, a noun after another, no verb."""
    if CUT.search(clause.text):
        return True
    words = re.findall(r"[\w'-]+|[^\w\s]", clause.text.lower())
    places = (wordset("kinds") | wordset("rooms")) - BARE
    for one, two, three in zip(words, words[1:], [*words[2:], ""], strict=False):
        if one in PLACED and (two in places or f"{two} {three}" in places):
            return True  # "in kitchen"
    for one, _, three, four in zip(words, words[1:], words[2:], words[3:], strict=False):
        if one in ARTICLES and three in ARTICLES and four in places:
            return True  # "no apple the stove"
    known = lexicon().common | wordset("pronouns") | {name.lower() for name in clause.people}
    words = [word for word in words if word.isalpha()]
    acts = any(word in lexicon().forms or word not in known for word in words)
    return clause.outcome == "unread" and len(words) > 1 and not acts  # "she the fridge in the kitchen"


def _answer_over(reading: stories.Reading, question: stories.Question, answer: Answerer) -> stories.Answer:
    """The answer over all readings of the unread clauses, as `answer_over`."""
    found = answer(reading.episode)
    unread = [clause for clause in reading.clauses if clause.outcome == "unread"]
    if found.option is None or not unread:
        return found
    things = things_at_issue(reading.episode, question)
    decides, clear = DECIDES_GOAL if asks_for_goal(question) else DECIDES_PLACE, 1.0
    for clause in unread:
        agreeing = []
        for other in _answers(clause, reading.episode, things, question, answer):
            if other.option != found.option:
                first, clear = found.unless or clause.text.strip(MARKS), clear * (1.0 - decides)
                found = replace(found, posterior=_mixed(found.posterior, decides), unless=first)
                break
            agreeing.append(other.posterior)
        else:
            mean = [sum(column) / (len(agreeing) + 1) for column in zip(found.posterior, *agreeing, strict=True)]
            found = replace(found, posterior=_mixed(mean, UNFORESEEN) if agreeing else found.posterior)
    if clear < UNDECIDED:
        why = f"{UNREAD}: {found.unless}"
        return replace(found, option=None, leaning=found.option, abstained=why, unless=None)
    return found


def _answers(
    clause: stories.ClauseAccount,
    episode: stories.Episode,
    things: Sequence[str],
    question: stories.Question,
    answer: Answerer,
) -> Iterator[stories.Answer]:
    """The answers under the possible readings of an unread clause, without those that the story excludes."""
    for told in islice(possible(clause, episode, things, question), READINGS):
        other = answer(inserted(episode, clause.t, told))
        if other.option is not None or "explain" not in (other.abstained or ""):
            yield other


def asks_for_goal(question: stories.Question) -> bool:
    """Whether the options tell what somebody wants, or is believed to want."""
    claims = [claim for option in question.options for claim in option.claims]
    held = [claim.content if isinstance(claim, stories.Belief) else claim for claim in claims]
    return any(isinstance(claim, stories.Goal | stories.SocialGoal) for claim in held)


def things_at_issue(episode: stories.Episode, question: stories.Question) -> tuple[str, ...]:
    """The things on whose places the answer may depend: those claimed, presumed to be moved, and asked for."""
    claimed = [fact.subject for claim in question.claims for fact in facts(claim)]
    claimed += [
        claim.content.value
        for claim in question.claims
        if isinstance(claim, stories.Goal) and claim.content and claim.content.value
    ]
    moved = [event.obj for event in question.presumes if event.obj]
    asked = [said.content.subject for said in episode.utterances if said.content]
    return tuple(dict.fromkeys((*claimed, *moved, *asked)))


def possible(
    clause: stories.ClauseAccount, episode: stories.Episode, things: Sequence[str], question: stories.Question
) -> Iterator[tuple[Happening, ...]]:
    """What an unread clause may tell that bears on the things at issue."""
    about = _about(clause, episode, things)
    beliefs = all(not isinstance(claim, stories.SocialGoal | stories.Goal) for claim in question.claims)
    told = [about.thing] if about.thing else list(things[:1]) if about.quoted else []
    for thing, who in product(told, about.people or episode.agents):
        for place in about.places[:PLACES] or _candidates(thing, episode, question):
            if about.thing:
                yield from _deeds(who, thing, place)
            others = tuple(other for other in episode.agents if other != who)
            yield (Utterance(0, who, "assert", Fact("at", thing, place), others),)
        yield (Utterance(0, who, "ask", Fact("at", thing)),) if about.quoted else (Event(0, who, "grab", thing),)
    for who in about.people:
        for place in about.places[:PLACES]:
            yield (Event(0, who, "look", None, place),)
            yield (Event(0, who, "walk", None, place),)
        for room in about.rooms[:PLACES]:
            yield (Event(0, who, "enter", room=room),)
        if beliefs:
            yield from _perceptions(who, things, episode)


def _deeds(who: str, thing: str, place: str) -> Iterator[tuple[Happening, ...]]:
    """What somebody may do or see that concerns a thing and a place."""
    yield (Event(0, who, "put", thing, place),)
    yield (Event(0, who, "grab", thing, place),)
    yield (Observation(0, who, Fact("at", thing, place)),)
    yield (Observation(0, who, Fact("at", thing, place), sees=False),)


def _perceptions(who: str, things: Sequence[str], episode: stories.Episode) -> Iterator[tuple[Happening, ...]]:
    """Where somebody may go, and what they may see or miss."""
    yield (Event(0, who, "leave"),)
    for room in episode.named("room")[:PLACES]:
        yield (Event(0, who, "enter", room=room),)
    for thing in things[:1]:
        yield (Observation(0, who, Fact("at", thing)),)
        yield (Observation(0, who, Fact("at", thing), sees=False),)


def _about(clause: stories.ClauseAccount, episode: stories.Episode, things: Sequence[str]) -> _About:
    """The people, the thing at issue, the places and the rooms that the words of a clause may stand for."""
    words = re.findall(r"[a-z]+", clause.text.lower())
    stems = {*words, *(word.removesuffix("s") for word in words), *(word.removesuffix("es") for word in words)}

    def named(kind: stories.EntityKind) -> tuple[str, ...]:
        entities = (entity.id for entity in episode.entities if entity.kind == kind)
        return tuple(entity for entity in entities if entity.lower().split()[-1] in stems)

    thing = next((one for one in things if one.split()[-1] in stems), None)
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
    known = lexicon()
    acts = {word for word in words if word in known.forms or word.endswith("ed")} - known.sets["auxiliaries"]
    placed = any(word in (wordset("kinds") | wordset("rooms")) - wordset("anywhere") for word in words)
    absent = bool(ABSENT & set(words)) and words[0] not in ("there", "here")
    is_told = bool(wordset("forms_of_be") & set(words))
    return is_told and not acts - BECOMING - wordset("moods") and not placed and not absent


def _candidates(thing: str, episode: stories.Episode, question: stories.Question) -> tuple[str, ...]:
    """Places where a thing may be if the clause names none: those of the options, then those of the story."""
    claimed = [fact.value for claim in question.claims for fact in facts(claim) if fact.subject == thing]
    said = [one.content.value for one in episode.utterances if one.content and one.content.subject == thing]
    been = [event.place for event in episode.events if event.obj == thing]
    return tuple(dict.fromkeys(place for place in (*claimed, *said, *been) if place))[:PLACES]


def inserted(episode: stories.Episode, t: int, told: Sequence[Happening]) -> stories.Episode:
    """The episode with some happenings after the first `t` of its text."""
    texts = [place for place, one in enumerate(episode.timeline) if one.source == "text"]
    place = texts[t] if t < len(texts) else len(episode.timeline)
    timeline = (*episode.timeline[:place], *told, *episode.timeline[place:])
    return replace(episode, timeline=tuple(replace(one, t=t) for t, one in enumerate(timeline)))

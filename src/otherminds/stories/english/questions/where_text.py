"""Reading questions where something is, or where somebody thinks it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from otherminds.stories.english.chunks import chunks
from otherminds.stories.english.events.statements import Reader, Unread
from otherminds.stories.english.phrases import Chunk, Noun, VerbGroup, Word
from otherminds.stories.english.questions.places import noun_in, object_of, place_of
from otherminds.stories.english.sentences import LONGEST_SENTENCE, plain, sentences, tokens
from otherminds.stories.english.wording import plainer
from otherminds.stories.model import (
    Belief,
    Claim,
    Episode,
    Event,
    Fact,
    Holds,
    Hypothesis,
    Observation,
    Predicate,
    Utterance,
)

MENTAL = ("think", "say", "look", "see", "want", "ask", "walk", "approach", "open", "return")
ASKING = re.compile(
    r"\bwhere\b|\b(?:which|what) (?:one of the |of the |of these )?(?:\w+ )?"
    r"(?:place|location|container|room|spot|box|piece of furniture|drawer|basket|boxe|hiding place)s?\b"
)
TELLING = re.compile(r"\bwhere (?:did|has|had) \w+ (?:find|found|finally)")
NOT_SOUGHT = ("place", "location", "container", "spot", "room", "question", "story", "beginning", "start", "hiding")


@dataclass(frozen=True)
class Asked:
    """Whose belief about whose belief about which thing is asked for; `somebody`: the thing is a person."""

    agents: tuple[str, ...]
    thing: str
    somebody: bool = False


def read_where(text: str, reader: Reader) -> Asked | None:
    """What a question asks the place of; None if it asks something else. Raises Unread if it cannot be read."""
    low = text.lower()
    if not ASKING.search(low) or "following" in low or TELLING.search(low):
        return None
    found = [token for sentence in sentences(tokens(plainer(text))) for token in sentence]
    if len(found) > LONGEST_SENTENCE:
        raise Unread(text)
    reader.read_names(found)
    pieces = chunks(found, reader.names)
    agents, last = _agents(pieces)
    things = [
        object_of(piece, reader.episode)
        for piece in pieces
        if isinstance(piece, Noun) and piece.kind == "object" and piece.words[-1] not in NOT_SOUGHT
    ]
    if last and not agents and things:
        raise Unread(text)  # somebody does something that is neither thinking nor searching
    if things:
        return Asked(tuple(agents), things[-1])
    return Asked((), last, somebody=True) if last and not agents else None


def _agents(pieces: Sequence[Chunk]) -> tuple[list[str], str | None]:
    """Whose beliefs are asked for, from the outermost to the innermost; and who was named last."""
    found: list[str] = []
    last: str | None = None
    for i, piece in enumerate(pieces):
        if not isinstance(piece, Noun):
            continue
        if piece.kind == "agent":
            last = piece.text
        elif piece.text not in ("he", "she", "they"):
            continue
        if last and _minds(pieces[i + 1 :]) and last not in found[-1:]:
            found.append(last)
    return found, last


def _minds(rest: Sequence[Chunk]) -> bool:
    """Whether the verb that follows is one of thinking or searching."""
    for piece in rest:
        if isinstance(piece, VerbGroup):
            return piece.means(*MENTAL)
        if not (isinstance(piece, Word) and piece.kind in ("adverb", "unknown", "hedge")):
            return False
    return False


def hypotheses(
    asked: Asked, options: Sequence[str], episode: Episode
) -> tuple[tuple[str, ...], tuple[Hypothesis, ...]]:
    """The options, or else all places there are, and what each of them claims. Raises Unread for what is no place."""
    if not any(entity.id == asked.thing for entity in episode.entities):
        raise Unread(f"where is the {asked.thing}")
    labels = tuple(options) or (_rooms(episode) if asked.somebody else _places(episode, asked.thing))
    if not labels:
        raise Unread(asked.thing)
    places = [_place_named(label, episode, asked.thing) for label in labels] if options else labels
    predicate: Predicate = "in_room" if asked.somebody else "at"
    facts = [Fact(predicate, asked.thing, place) for place in places]
    return labels, tuple(Hypothesis((_nested(asked.agents, fact),)) for fact in facts)


def _nested(agents: Sequence[str], fact: Fact) -> Claim:
    if not agents:
        return Holds(fact)
    claim: Belief = Belief(agents[-1], fact)
    for agent in reversed(agents[:-1]):
        claim = Belief(agent, claim)
    return claim


def _rooms(episode: Episode) -> tuple[str, ...]:
    return tuple(entity.id for entity in episode.entities if entity.kind == "room")


def _places(episode: Episode, thing: str) -> tuple[str, ...]:
    """The places where things can be: in or on them, or where the thing once was."""
    facts = [*episode.init, *(one.content for one in episode.timeline if isinstance(one, Utterance) and one.content)]
    facts += [one.fact for one in episode.timeline if isinstance(one, Observation)]
    been = {fact.value for fact in facts if fact.subject == thing}
    been |= {one.place for one in episode.timeline if isinstance(one, Event) and one.obj == thing}
    return tuple(
        e.id
        for e in episode.entities
        if (e.kind == "place" and (e.relation or e.id in been)) or (e.kind == "room" and e.id in been)
    )


def _place_named(text: str, episode: Episode, thing: str) -> str:
    """The place an option names. Raises Unread if it names none."""
    noun = noun_in(re.sub(r"^\s*\(?[A-Za-z1-9][).:]\s+", "", plain(text)), episode.agents)
    if noun is None or noun.kind in ("agent", "pronoun"):
        raise Unread(text.strip())
    return place_of(noun, episode, thing)

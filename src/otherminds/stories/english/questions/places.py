"""Which object or place of an episode a noun phrase of a question stands for."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.nouns import Nouns
from otherminds.stories.english.phrases import Noun
from otherminds.stories.english.sentences import plain, tokens
from otherminds.stories.model import Entity, Episode, Event, Utterance

LONGEST_NAME = 20


def noun_in(text: str, names: Sequence[str] = ()) -> Noun | None:
    """The noun phrase a text consists of: "(in) the kitchen cabinet"."""
    found = [token for token in tokens(plain(text)) if token.text not in ".,;:!?\n" and not token.quote]
    if len(found) > LONGEST_NAME:
        return None
    while found and found[0].low in ("in", "inside", "on", "at", "into", "onto", "under", "it", "is", "'s"):
        found = found[1:]
    reader = Nouns(found, names)
    if not found:
        return None
    result = reader.at(0, bare=True)
    return result[0] if result and result[1] == len(found) else None


def object_of(noun: Noun, episode: Episode) -> str:
    """The object of the episode a noun phrase stands for, or its own words if there is none."""
    objects = [entity.id for entity in episode.entities if entity.kind == "object"]
    text = noun.text
    if text in objects:
        return text
    head, extra = noun.words[-1], set(noun.words[:-1])
    alike = [
        one
        for one in objects
        if one.split()[-1] == head and (set(one.split()[:-1]) <= extra or extra <= set(one.split()))
    ]
    return alike[0] if len(alike) == 1 else text


def place_of(noun: Noun, episode: Episode, obj: str | None = None) -> str:
    """The place (or room) of the episode a noun phrase stands for, or its own words if there is none.

    Without a room it is the only place of that kind, or else the one somebody spoke of, or else the last one handled.
    """
    if noun.kind == "room":
        return noun.text
    places = [entity for entity in episode.entities if entity.kind == "place"]
    name = " ".join([*([noun.ordinal] if noun.ordinal else []), *([noun.room] if noun.room else []), noun.text])
    ids = {entity.id for entity in places}
    if name in ids:
        return name
    kind = lexicon().kind_of(noun.words) or noun.words[-1]
    alike = [entity for entity in places if _fits(entity, noun, kind)]
    other = lexicon().places["like"].get(kind)
    if not alike and other:
        alike = [
            entity
            for entity in places
            if _fits(entity, Noun("place", (*noun.words[: -len(kind.split())], other), 0, 0, room=noun.room), other)
        ]
    if len(alike) > 1:
        alike = _spoken(alike, episode, obj) or _handled(alike, episode) or alike
    return alike[0].id if alike else name


def _fits(entity: Entity, noun: Noun, kind: str) -> bool:
    words = entity.id.split()
    if entity.id != kind and not entity.id.endswith(" " + kind):
        return False
    extra = set(noun.words[: len(noun.words) - len(kind.split())])
    room_fits = not noun.room or entity.room in (None, noun.room) or entity.id.startswith(noun.room + " ")
    return (
        room_fits and extra <= set(words) and (not noun.ordinal or words[0] == noun.ordinal or words[0] not in ORDINALS)
    )


ORDINALS = wordset("ordinals")


def _spoken(alike: Sequence[Entity], episode: Episode, obj: str | None) -> list[Entity]:
    said = [
        one.content.value
        for one in episode.timeline
        if isinstance(one, Utterance)
        and one.content
        and one.act in ("assert", "deny")
        and obj in (None, one.content.subject)
    ]
    said += [
        one.content.value
        for one in episode.timeline
        if isinstance(one, Utterance) and one.content and one.act in ("assert", "deny")
    ]
    return [entity for value in said for entity in alike if entity.id == value]


def _handled(alike: Sequence[Entity], episode: Episode) -> list[Entity]:
    handled = [one.place for one in episode.timeline if isinstance(one, Event)]
    return [entity for value in reversed(handled) for entity in alike if entity.id == value]

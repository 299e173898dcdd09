"""A happening as one plain sentence, to stand below a picture; and what is said in a few words, for a bubble."""

from __future__ import annotations

from collections.abc import Mapping

from otherminds.stories.model import Episode, Event, Fact, Happening, Observation, Utterance

VERBS: Mapping[str, str] = {
    "enter": "enters{place}",
    "leave": "leaves{place}",
    "walk": "walks{place}",
    "open": "opens{place}",
    "close": "closes{place}",
    "grab": "takes {thing}{place}",
    "put": "puts {thing}{place}",
    "move": "moves {thing}{place}",
    "look": "looks{place}",
    "wait": "waits{place}",
}
TO_PLACE = {"walk": " to", "enter": "", "grab": " from", "move": " to", "open": "", "close": "", "leave": ""}
TO_ROOM = {"walk": " into", "enter": "", "leave": "", "put": " down in", "look": " around in"}

ALONE = {"put": " down", "walk": " about", "look": " around", "open": " something", "close": " something"}


def caption(episode: Episode, happening: Happening) -> str:
    """Who does, says or sees what, as a sentence."""
    if isinstance(happening, Utterance):
        return f"{happening.speaker} {_said(episode, happening)}"
    if isinstance(happening, Observation):
        sees = "sees that" if happening.sees else "does not notice whether"
        return f"{happening.agent} {sees} {statement(episode, happening.fact)}."
    thing = f"the {happening.obj}" if happening.obj is not None else "something"
    return f"{happening.agent} {VERBS[happening.verb].format(thing=thing, place=_where(episode, happening))}."


def statement(episode: Episode, fact: Fact, so: bool = True) -> str:
    """A fact as a clause, or (with `so` false) its negation."""
    subject, value = _noun(episode, fact.subject), fact.value
    no = "" if so else "not "
    if fact.predicate == "holds":
        return f"{subject} {'has' if so else 'does not have'} {'something' if value is None else _noun(episode, value)}"
    if value is None:
        return f"{subject} is {no}somewhere"
    return f"{subject} is {no}{value if fact.predicate == 'is' else _at(episode, value)}"


def bubble(happening: Utterance) -> str:
    """What is said, in as few words as can be."""
    said = happening.content
    if said is None or happening.act == "silence":
        return "…"
    value = said.value or "?"
    return {
        "ask": f"{said.subject}?" if said.value is None else f"{said.subject}: {value}?",
        "assert": f"{said.subject} → {value}",
        "deny": f"{said.subject}: not {value}",
        "unsure": f"{said.subject}? No idea",
    }[happening.act]


def _said(episode: Episode, happening: Utterance) -> str:
    hearers = f" to {' and '.join(happening.hearers)}" if happening.hearers else ""
    said = happening.content
    if said is None or happening.act == "silence":
        return f"says nothing{hearers}."
    match happening.act:
        case "ask":
            return f"asks{hearers.removeprefix(' to')}: “{_question(episode, said)}”"
        case "unsure":
            return f"says{hearers}: “I don’t know {_whether(episode, said)}.”"
        case _:
            claim = statement(episode, said, happening.act == "assert")
            return f"says{hearers}: “{claim[:1].upper()}{claim[1:]}.”"


def _question(episode: Episode, fact: Fact) -> str:
    subject = _noun(episode, fact.subject)
    if fact.predicate == "holds":
        return f"Does {subject} have {'something' if fact.value is None else _noun(episode, fact.value)}?"
    if fact.value is None:
        return f"Where is {subject}?"
    return f"Is {subject} {fact.value if fact.predicate == 'is' else _at(episode, fact.value)}?"


def _whether(episode: Episode, fact: Fact) -> str:
    if fact.value is None and fact.predicate != "holds":
        return f"where {_noun(episode, fact.subject)} is"
    return f"whether {statement(episode, fact)}"


def _noun(episode: Episode, name: str) -> str:
    """A name, or the name of a thing or place with its article: the table in the kitchen."""
    if name in episode.agents:
        return name
    room = next((entity.room for entity in episode.entities if entity.id == name and entity.kind == "place"), None)
    kind = name.removeprefix(f"{room} ")
    return f"the {name}" if kind == name else f"the {kind} in the {room}"


def _at(episode: Episode, place: str) -> str:
    """In or on the place; in a room."""
    entity = next((entity for entity in episode.entities if entity.id == place), None)
    if entity is None or entity.kind == "agent":
        return f"at {_noun(episode, place)}"
    return f"{'in' if entity.kind == 'room' else entity.relation or 'at'} {_noun(episode, place)}"


def _where(episode: Episode, event: Event) -> str:
    if event.place is not None:
        if event.verb in TO_PLACE:
            return f"{TO_PLACE[event.verb]} {_noun(episode, event.place)}"
        return f" {_at(episode, event.place)}"
    if event.room is not None:
        return f"{TO_ROOM.get(event.verb, ' in')} the {event.room}"
    return ALONE.get(event.verb, "")

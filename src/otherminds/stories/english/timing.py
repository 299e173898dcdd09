"""The order of what a sentence tells, and what becomes of what was only intended."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from otherminds.stories.english.phrases import Clause
from otherminds.stories.english.scene import Scene
from otherminds.stories.english.spots import Spot
from otherminds.stories.model import Event, Happening, Utterance

NEAR = 20


def in_order(clauses: list[Clause]) -> list[Clause]:
    """The clauses in order of time: what comes "after" something goes behind it, whichever is told first."""
    out = list(clauses)
    for i in range(1, len(out)):
        if out[i].link in ("after", "once", "upon") and out[i].verb and out[i - 1].verb:
            _lead_in(out[i], out[i - 1])
            out[i - 1], out[i] = out[i], out[i - 1]
    if len(out) > 1 and out[0].link in ("before", "until") and out[0].verb and not out[0].subjects:
        out[0].subjects = list(out[1].subjects)
        end = next((i for i in range(2, len(out)) if out[i].link not in ("", "and")), len(out))
        out.insert(end - 1, out.pop(0))
    return out


def _lead_in(first: Clause, main: Clause) -> None:
    """Gives a clause that goes in front of its main clause the subject and the place it takes from that."""
    first.subjects = first.subjects or list(main.subjects)
    place = next((noun for noun in (*main.objects, *(noun for _, noun in main.places)) if noun.kind == "place"), None)
    if place is not None:
        first.places = [(prep, place if noun.words == ("it",) else noun) for prep, noun in first.places]


def unfulfilled(scene: Scene) -> set[int]:
    """The identities of events that were only intended, and of which the rest of the story does not tell."""
    told = {id(one): place for place, (one, _) in enumerate(scene.timeline)}
    handled: dict[tuple[str, str | None], list[tuple[int, str]]] = {}
    for place, (one, _) in enumerate(scene.timeline):
        if isinstance(one, Event) and one.verb in ("grab", "put", "move"):
            handled.setdefault((one.agent, one.obj), []).append((place, one.verb))
    out = set()
    for event in scene.tentative:
        place = told[id(event)]
        happened = _opened(event, scene, place) if event.verb in ("open", "close") else _handled(event, handled, place)
        out |= set() if happened else {id(event)}
    return out


def _handled(event: Event, handled: Mapping[tuple[str, str | None], list[tuple[int, str]]], place: int) -> bool:
    """Whether somebody must have taken a thing, because it was put somewhere later, or put it down, as it was held."""
    deeds = handled.get((event.agent, event.obj), [])
    at = bisect(deeds, (place, "zzz"))
    if event.verb == "grab":
        return at < len(deeds) and deeds[at][1] != "grab"
    if event.verb in ("put", "move"):
        return at == len(deeds) and any(verb == "grab" for _, verb in deeds[: at - 1])
    return event.verb in ("walk", "enter", "leave", "wait")


def _opened(event: Event, scene: Scene, place: int) -> bool:
    """Whether somebody must have opened a place, because something was taken from it, or it was closed, next."""
    spot = scene.timeline[place][1]
    later = islice(scene.timeline, place + 1, place + 1 + NEAR)
    mine = [(one, where) for one, where in later if isinstance(one, Event) and one.agent == event.agent]
    return any(where is spot and one.verb in ("grab", "close", "put") for one, where in mine[:2])


def final(one: Happening, spot: Spot | None, t: int) -> Happening:
    """The happening with its time and, now that its room is known, its place."""
    if isinstance(one, Event):
        return replace(one, t=t, place=spot.id if spot else one.place, room=one.room or (spot.room if spot else None))
    if isinstance(one, Utterance):
        fact = one.content
        return replace(one, t=t, content=replace(fact, value=spot.id) if spot and fact else fact)
    return replace(one, t=t, fact=replace(one.fact, value=spot.id) if spot else one.fact)

"""The order of what a sentence tells, and what becomes of what was only intended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otherminds.stories.model import Event, Happening, Utterance
from otherminds.stories.phrases import Clause
from otherminds.stories.scene import Scene, Spot


def in_order(clauses: list[Clause]) -> list[Clause]:
    """The clauses in order of time: what comes "after" something goes behind it, whichever is told first."""
    out = list(clauses)
    for i in range(1, len(out)):
        if out[i].link in ("after", "once", "upon") and out[i].verb and out[i - 1].verb:
            if not out[i].subjects and not out[i - 1].subjects:
                out[i].subjects = []
            elif not out[i].subjects:
                out[i].subjects = list(out[i - 1].subjects)
            if not out[i - 1].link or out[i - 1].subjects:
                out[i - 1], out[i] = out[i], out[i - 1]
    if len(out) > 1 and out[0].link in ("before", "until") and out[0].verb and not out[0].subjects:
        out[0].subjects = list(out[1].subjects)
        out[0], out[1] = out[1], out[0]
    return out


def unfulfilled(scene: Scene) -> list[Happening]:
    """The events that were only intended, and of which the rest of the story does not tell that they happened."""
    events = [(one, spot) for one, spot in scene.timeline if isinstance(one, Event)]
    out: list[Happening] = []
    for event in scene.tentative:
        place = next(i for i, (one, _) in enumerate(events) if one is event)
        spot = events[place][1]
        assert isinstance(event, Event)
        mine = [(one, where) for one, where in events[place + 1 :] if one.agent == event.agent]
        held = any(
            one.agent == event.agent and one.verb == "grab" and one.obj == event.obj for one, _ in events[:place]
        )
        if not _happened(event, spot, mine, held=held):
            out.append(event)
    return out


def _happened(event: Event, spot: Spot | None, mine: Sequence[tuple[Event, Spot | None]], *, held: bool) -> bool:
    handling = [one for one, _ in mine if one.obj == event.obj and one.verb in ("grab", "put", "move")]
    if event.verb == "grab":
        return bool(handling) and handling[0].verb != "grab"
    if event.verb in ("put", "move"):
        return held and not handling
    if event.verb in ("open", "close"):
        return any(where is spot and one.verb in ("grab", "close", "put") for one, where in mine[:2])
    return event.verb in ("walk", "enter", "leave", "wait")


def final(one: Happening, spot: Spot | None, t: int) -> Happening:
    """The happening with its time and, now that its room is known, its place."""
    if isinstance(one, Event):
        return replace(one, t=t, place=spot.id if spot else one.place, room=one.room or (spot.room if spot else None))
    if isinstance(one, Utterance):
        fact = one.content
        return replace(one, t=t, content=replace(fact, value=spot.id) if spot and fact else fact)
    return replace(one, t=t, fact=replace(one.fact, value=spot.id) if spot else one.fact)

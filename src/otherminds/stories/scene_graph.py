"""Scene graphs of a video as events: what was held, in or on what it lay before, and what stood open, frame by frame.

A scene graph names things and places in one word ("coffeetable"), does not say who holds a thing, and does not tell
two coffee tables apart; what it says is therefore taken as likely, not as certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from otherminds.stories.model import Event, Fact, Happening, Observation

INSIDE, LYING, OPENED, NEAR, UNHELD, OPENING = 0.9, 0.9, 0.6, 0.05, 0.7, 0.4
BEFORE = 3
LIES = re.compile(r"(?:There is )?(?:an? |the )?(\w+)(?: is)? (inside|on) (?:the )?(\w+)", re.IGNORECASE)

Frames = Mapping[str, Mapping[int, tuple[str, ...]]]


def squeezed(name: str) -> str:
    """A name as scene graphs write it: letters alone."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def scene_events(frames: Frames, agent: str, thing: str, places: Mapping[str, str]) -> tuple[Happening, ...]:
    """What the frames show of the agent's search for a thing; t is the number of the frame.

    `places` maps the names of the scene graph to places of the story. A place that opens was opened by the agent or by
    somebody else. The thing was taken, when it is first held, from where it was last seen before or, if it was not,
    from the place that had just been opened; a thing never held lay where it came into sight.
    """
    held = [frame for frame, facts in frames.get("hold", {}).items() if any(_names(fact, thing) for fact in facts)]
    found = list(_found(frames, thing, held, agent, places))
    taken = min((event.t for event in found), default=None)
    opened = [event for event in _openings(frames, agent, places) if taken is None or event.t <= taken]
    return tuple(sorted([*opened, *found], key=lambda happening: happening.t))


def _names(fact: str, thing: str) -> bool:
    return re.search(rf"\b{re.escape(squeezed(thing))}\b", fact.lower()) is not None


def _lying(frames: Frames, thing: str, places: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """(frame, inside or on, place) wherever the thing is seen to lie."""
    for relation in ("inside", "on"):
        for frame, facts in frames.get(relation, {}).items():
            for fact in facts:
                match = LIES.match(fact.strip())
                if match and match[1].lower() == squeezed(thing) and match[3].lower() in places:
                    yield frame, relation, places[match[3].lower()]


def _found(
    frames: Frames, thing: str, held: list[int], agent: str, places: Mapping[str, str]
) -> Iterator[Event | Observation]:
    lying = sorted(_lying(frames, thing, places))
    first = min((frame for frame, _, _ in lying), default=0)
    if not held:
        closed = [(frame, place) for frame, relation, place in lying if relation == "inside"]
        seen = closed or [(frame, place) for frame, _, place in lying if first > 0]
        if seen:
            yield Observation(seen[0][0], "", Fact("at", thing, seen[0][1]), p=UNHELD, source="scene_graph")
        return
    start = held[0]
    inside = [place for frame, relation, place in lying if relation == "inside" and start - BEFORE <= frame <= start]
    upon = [place for frame, relation, place in lying if relation == "on" and start - 2 * BEFORE <= frame < start]
    opened = [places[name] for frame, names in sorted(frames.get("opened", {}).items())
              if start - BEFORE <= frame <= start for name in names if name in places]  # fmt: skip
    for candidates, p in ((inside, INSIDE), (upon if first > 0 else [], LYING), (opened, OPENED)):
        if candidates:
            yield Event(start, agent, "grab", obj=thing, place=candidates[-1], p=p, source="scene_graph")
            return
    for name in frames.get("closeness", {}).get(start, ()):
        if name in places:
            yield Observation(start, "", Fact("at", thing, places[name]), p=NEAR, source="scene_graph")


def _openings(frames: Frames, agent: str, places: Mapping[str, str]) -> Iterator[Event]:
    """A place that stands open and did not a frame before was opened."""
    before: tuple[str, ...] = ()
    for frame, names in sorted(frames.get("opened", {}).items()):
        for name in names:
            if name not in before and name in places:
                yield Event(frame, agent, "open", place=places[name], p=OPENING, source="scene_graph")
        before = names

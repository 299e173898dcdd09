"""Scene graphs of a video as events: what was held, in or on what it lay before, and what stood open, frame by frame.

A scene graph names things and places in one word ("coffeetable"), does not say who holds a thing, and does not tell
two coffee tables apart; what it says is therefore taken as likely, not as certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from otherminds.stories.model import Fact, Observation

INSIDE, LYING, OPENED, NEAR, UNHELD, LEFT = 0.9, 0.9, 0.6, 0.3, 0.7, 0.25
BEFORE = 3
LIES = re.compile(r"(?:There is )?(?:an? |the )?(\w+)(?: is)? (inside|on) (?:the )?(\w+)", re.IGNORECASE)

Frames = Mapping[str, Mapping[int, tuple[str, ...]]]


def squeezed(name: str) -> str:
    """A name as scene graphs write it: letters alone."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def scene_events(frames: Frames, thing: str, places: Mapping[str, str]) -> tuple[Observation, ...]:
    """What the frames show of where a thing was; t is the number of the frame.

    `places` maps the names of the scene graph to places of the story. The thing was taken, when it is first held, from
    where it was last seen before or, if it was not, from the place that had just been opened, or from somewhere near;
    a thing never held lay where it came into sight. A place that was opened before another was had it not, perhaps.
    """
    held = sorted(frame for frame, facts in frames.get("hold", {}).items() if any(_names(f, thing) for f in facts))
    found = list(_found(frames, thing, held, places))
    taken = min((seen.t for seen in found), default=None)
    opened = [(frame, place) for frame, place in _opened(frames, places) if taken is None or frame <= taken]
    left = [(frame, place) for frame, place in opened if place != opened[-1][1]]
    empty = [Observation(frame, "", Fact("at", thing, place), False, LEFT, "scene_graph") for frame, place in left]
    return tuple(sorted([*empty, *found], key=lambda seen: seen.t))


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


def _found(frames: Frames, thing: str, held: list[int], places: Mapping[str, str]) -> Iterator[Observation]:
    lying = sorted(_lying(frames, thing, places))
    first = min((frame for frame, _, _ in lying), default=0)
    if not held:
        closed = [(frame, place) for frame, relation, place in lying if relation == "inside"]
        seen = closed or [(frame, place) for frame, _, place in lying if first > 0]
        if seen:
            yield Observation(seen[0][0], "", Fact("at", thing, seen[0][1]), p=UNHELD, source="scene_graph")
        return
    start = held[0]
    near = [places[name] for name in frames.get("closeness", {}).get(start, ()) if name in places]
    inside = [place for frame, relation, place in lying if relation == "inside" and start - BEFORE <= frame <= start]
    upon = [place for frame, relation, place in lying if relation == "on" and start - 2 * BEFORE <= frame < start]
    opened = [place for frame, place in _opened(frames, places) if start - BEFORE <= frame <= start]
    opened = [place for place in opened if place in near or not near]
    for candidates, p in ((inside, INSIDE), (upon if first > 0 else [], LYING), (opened, OPENED)):
        if candidates:
            yield Observation(start, "", Fact("at", thing, candidates[-1]), p=p, source="scene_graph")
            return
    for place in near:
        yield Observation(start, "", Fact("at", thing, place), p=NEAR, source="scene_graph")


def _opened(frames: Frames, places: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """(frame, place) whenever a place stands open that was not the last to be open."""
    before: tuple[str, ...] = ()
    for frame, names in sorted(frames.get("opened", {}).items()):
        for name in names:
            if name not in before and name in places:
                yield frame, places[name]
        before = names or before

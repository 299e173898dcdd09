"""Fusing a story's text, a video model's account, and the video's scene graph into one reading.

A scene graph names items and places in one word ("coffeetable"), does not say who holds an item, and does not tell two
coffee tables apart; its evidence is therefore uncertain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from otherminds.stories.homes import USUAL, USUAL_PLACES
from otherminds.stories.model import Entity, Event, Fact, Happening, Observation, Reading, Utterance

# Probabilities of where an item was, by what the scene graph shows (set on the development split of MuMA-ToM):
INSIDE = 0.9  # seen inside the place up to `BEFORE` frames before it is held
LYING = 0.9  # seen on the place up to twice as many frames before
OPENED = 0.6  # the place was opened up to `BEFORE` frames before
NEAR = 0.3  # the place is near when the item is first held
UNHELD = 0.7  # never held, but seen in or on the place
LEFT = 0.25  # the place was opened, and left again for another (p that the item is not there)
BEFORE = 3  # frames
UNNAMED = 0.75  # factor on p of events whose item the text does not name; set on the development split of MuMA-ToM
LIES = re.compile(r"(?:There is )?(?:an? |the )?(\w+)(?: is)? (inside|on) (?:the )?(\w+)", re.IGNORECASE)

ANYWHERE = tuple(place.name for place in USUAL_PLACES)  # places that any home has

Frames = Mapping[str, Mapping[int, tuple[str, ...]]]


def squeezed(name: str) -> str:
    """The name as scene graphs write it: in lower case, letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def scene_events(frames: Frames, thing: str, places: Mapping[str, str]) -> tuple[Observation, ...]:
    """The frames' evidence of where an item was, as uncertain observations; their `t` is the frame's number.

    `places` maps the scene graph's names to places of the story. An item that is held was taken from where it was last
    seen, else from the place just opened, else from a place nearby; one never held was where it came into sight. Places
    opened before the last one probably did not contain it.
    """
    name = re.compile(rf"\b{re.escape(squeezed(thing))}\b")
    hold = frames.get("hold", {})
    held_frames = sorted(frame for frame, facts in hold.items() if any(name.search(fact.lower()) for fact in facts))
    sightings = list(_found(frames, thing, held_frames, places))
    start = min((observation.t for observation in sightings), default=None)
    opened = [(frame, place) for frame, place in _opened(frames, places) if start is None or frame <= start]
    earlier = [(frame, place) for frame, place in opened if place != opened[-1][1]]
    empty = [Observation(frame, "", Fact("at", thing, place), False, LEFT, "scene_graph") for frame, place in earlier]
    return tuple(sorted([*empty, *sightings], key=lambda observation: observation.t))


def _lying(frames: Frames, thing: str, places: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """(frame, "inside" or "on", place) for every sight of the item in or on a place."""
    for relation in ("inside", "on"):
        for frame, facts in frames.get(relation, {}).items():
            for fact in facts:
                match = LIES.match(fact.strip())
                if match and match[1].lower() == squeezed(thing) and match[3].lower() in places:
                    yield frame, relation, places[match[3].lower()]


def _found(frames: Frames, thing: str, held_frames: list[int], places: Mapping[str, str]) -> Iterator[Observation]:
    """Observations of where an item lay before it was first held, by the best evidence that the frames give.

    In this order: seen inside a container just before, seen on something, in the place just opened, in a place nearby.
    """
    lying = sorted(_lying(frames, thing, places))
    first = min((frame for frame, _, _ in lying), default=0)
    if not held_frames:
        closed = [(frame, place) for frame, relation, place in lying if relation == "inside"]
        sights = closed or [(frame, place) for frame, _, place in lying if first > 0]
        if sights:
            yield Observation(sights[0][0], "", Fact("at", thing, sights[0][1]), p=UNHELD, source="scene_graph")
        return
    start = held_frames[0]
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
    """(frame, place) for every place that has newly opened."""
    before: tuple[str, ...] = ()
    for frame, names in sorted(frames.get("opened", {}).items()):
        for name in names:
            if name not in before and name in places:
                yield frame, places[name]
        before = names or before


def fuse(text: Reading, video: Reading | None = None, frames: Frames | None = None) -> Reading:
    """One reading from a text, a video model's account of the same people, and a scene graph.

    Utterances come from the text, at the time of the last talk in the video. If the text names two people or more, the
    video's happenings of others are dropped.
    """
    text_timeline, entities = list(text.episode.timeline), list(text.episode.entities)
    question = next((h for h in text_timeline if isinstance(h, Utterance) and h.act == "ask" and h.content), None)
    timeline: list[Happening] = list(text_timeline)
    people = set(text.episode.agents)
    if video is not None:
        people |= set() if len(people) > 1 else set(video.episode.agents)
        # the video's places without a room are the place of that kind in the text, or else in any home
        known_places = [*text.episode.named("place"), *ANYWHERE]
        roomless = {e.id for e in video.episode.entities if e.kind == "place" and e.room is None} - {*known_places}
        fits = {name: [place for place in known_places if place.endswith(f" {name}")] for name in roomless}
        text_place = {name: places[0] for name, places in fits.items() if places}
        theirs = [h for h in video.episode.timeline if (h.speaker if isinstance(h, Utterance) else h.agent) in people]
        video_happenings = [
            replace(h, place=text_place[h.place]) if isinstance(h, Event) and h.place in text_place else h
            for h in theirs
        ]
        text_ids = {entity.id for entity in entities}
        entities += [e for e in video.episode.entities if e.id not in text_ids and e.id not in text_place]
        timeline = (
            _aligned(text_timeline, video_happenings, {e.id for e in text.episode.entities})
            if question
            else [*text_timeline, *video_happenings]
        )
    if frames is not None and question is not None and question.content is not None:
        timeline[:0] = scene_events(frames, question.content.subject, _places(entities, timeline))
    timed = tuple(replace(happening, t=t) for t, happening in enumerate(timeline))
    agents = tuple(dict.fromkeys((*text.episode.agents, *sorted(people))))
    return replace(text, episode=replace(text.episode, agents=agents, entities=tuple(entities), timeline=timed))


def _aligned(text_timeline: Sequence[Happening], video: Sequence[Happening], text_ids: set[str]) -> list[Happening]:
    """The text's happenings, placed at the last talk in the video; first, if the video has none."""
    talk = [i for i, happening in enumerate(video) if isinstance(happening, Utterance)]
    last_talk = talk[-1] if talk else 0
    doubted = [_doubted(h, text_ids) if isinstance(h, Event) else h for h in video]
    halves = [[h for h in part if not isinstance(h, Utterance)] for part in (doubted[:last_talk], doubted[last_talk:])]
    return [*halves[0], *text_timeline, *halves[1]]


def _doubted(event: Event, text_ids: set[str]) -> Event:
    """The event without its item's name if the text does not name that item, and then less probable."""
    if event.obj in text_ids or (event.obj is None and event.verb != "grab"):
        return event
    return replace(event, obj=None, p=event.p * UNNAMED)


def _places(entities: Sequence[Entity], timeline: Sequence[Happening]) -> dict[str, str]:
    """Places of the story by the scene graph's names, which leave out rooms; places spoken of come first."""
    spoken = [h.content.value for h in timeline if isinstance(h, Utterance) and h.content and h.content.value]
    handled = [h.place for h in timeline if isinstance(h, Event) and h.place]
    place_names = [entity.id for entity in entities if entity.kind == "place"]
    places: dict[str, str] = {}
    for name in (*spoken, *handled, *place_names, *ANYWHERE):
        places.setdefault(squeezed(name), name)
        if name not in ("kitchen cabinet", "bathroom cabinet"):
            for room in USUAL:
                places.setdefault(squeezed(name.removeprefix(f"{room} ")), name)
    return places

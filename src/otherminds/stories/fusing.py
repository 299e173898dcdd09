"""What a text tells, a video model saw and a scene graph shows, as one story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from otherminds.stories.model import Entity, Event, Happening, Reading, Utterance
from otherminds.stories.scene_graph import Frames, scene_events, squeezed
from otherminds.stories.social_goals.homes import USUAL, usual_places

UNNAMED = 0.75


def fuse(text: Reading, video: Reading | None = None, frames: Frames | None = None) -> Reading:
    """What a text tells together with what a video model saw and a scene graph shows of the same people.

    What the text tells to be said is taken from there, and happens when the video has something being said. Of people
    whom the text does not name, if it names two, nothing is taken over.
    """
    told, entities = list(text.episode.timeline), list(text.episode.entities)
    asked = next((h for h in told if isinstance(h, Utterance) and h.act == "ask" and h.content), None)
    timeline: list[Happening] = list(told)
    people = set(text.episode.agents)
    if video is not None:
        people |= set() if len(people) > 1 else set(video.episode.agents)
        same = _same_places(entities, video.episode.entities)
        shown = [_renamed(h, same) for h in video.episode.timeline if _agent(h) in people]
        known = {entity.id for entity in entities}
        entities += [e for e in video.episode.entities if e.id not in known and e.id not in same]
        timeline = _aligned(told, shown, {e.id for e in text.episode.entities}) if asked else [*told, *shown]
    if frames is not None and asked is not None and asked.content is not None:
        timeline[:0] = scene_events(frames, asked.content.subject, _places(entities, timeline))
    timed = tuple(replace(happening, t=t) for t, happening in enumerate(timeline))
    agents = tuple(dict.fromkeys((*text.episode.agents, *sorted(people))))
    return replace(text, episode=replace(text.episode, agents=agents, entities=tuple(entities), timeline=timed))


def _agent(happening: Happening) -> str:
    return happening.speaker if isinstance(happening, Utterance) else happening.agent


def _renamed(happening: Happening, places: Mapping[str, str]) -> Happening:
    if isinstance(happening, Event) and happening.place is not None and happening.place in places:
        return replace(happening, place=places[happening.place])
    return happening


def _aligned(told: Sequence[Happening], shown: Sequence[Happening], named: set[str]) -> list[Happening]:
    """What was said goes where the video has the last of the talk; without talk in the video, first."""
    talk = [i for i, happening in enumerate(shown) if isinstance(happening, Utterance)]
    after = talk[-1] if talk else 0
    seen = [_doubted(h, named) if isinstance(h, Event) else h for h in shown]
    kept = [[h for h in part if not isinstance(h, Utterance)] for part in (seen[:after], seen[after:])]
    return [*kept[0], *told, *kept[1]]


def _same_places(text: Sequence[Entity], video: Sequence[Entity]) -> dict[str, str]:
    """Places of which the video does not tell the room: those of the text, or of any home, of the same kind."""
    known = [*(entity.id for entity in text if entity.kind == "place"), *usual_places()]
    roomless = [entity.id for entity in video if entity.kind == "place" and entity.room is None]
    fits = {name: [place for place in known if place.endswith(f" {name}")] for name in roomless if name not in known}
    return {name: places[0] for name, places in fits.items() if places}


def _doubted(event: Event, named: set[str]) -> Event:
    """A thing that a video model names and the text does not is some thing or other; of that it is less sure."""
    if event.obj in named or (event.obj is None and event.verb != "grab"):
        return event
    return replace(event, obj=None, p=event.p * UNNAMED)


def _places(entities: Sequence[Entity], timeline: Sequence[Happening]) -> dict[str, str]:
    """Scene graphs do not tell rooms apart: a name stands for the place spoken of, if it is of that kind."""
    spoken = [h.content.value for h in timeline if isinstance(h, Utterance) and h.content and h.content.value]
    handled = [h.place for h in timeline if isinstance(h, Event) and h.place]
    places: dict[str, str] = {}
    for name in (*spoken, *handled, *(e.id for e in entities if e.kind == "place"), *usual_places()):
        places.setdefault(squeezed(name), name)
        if name not in ("kitchen cabinet", "bathroom cabinet"):
            for room in USUAL:
                places.setdefault(squeezed(name.removeprefix(f"{room} ")), name)
    return places
